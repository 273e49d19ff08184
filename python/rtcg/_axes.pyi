"""Axes as callers name them."""

def normalize_axis(axis: int, ndim: int) -> int:
    """`axis` counted from 0; NumPy's `AxisError` where an array of `ndim` axes has none such."""
