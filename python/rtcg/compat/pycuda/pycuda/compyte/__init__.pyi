"""Helpers of arrays and dtypes that PyCUDA shares with PyOpenCL, under the names they have there."""
