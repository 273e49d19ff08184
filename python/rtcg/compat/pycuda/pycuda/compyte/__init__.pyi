"""Helpers for arrays and dtypes that PyCUDA shares with PyOpenCL, under their names there."""
