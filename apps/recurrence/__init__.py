"""Recurrence plots of time series and their quantification."""
