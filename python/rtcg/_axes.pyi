"""Normalisation of axis arguments."""

def normalize_axis(axis: int, ndim: int) -> int:
    """`axis` counted from 0; raises NumPy's `AxisError` if an array with `ndim` axes does not have it."""
