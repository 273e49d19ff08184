"""Axes as callers name them."""

import numpy as np


def normalize_axis(axis, ndim):
    """`axis` counted from 0; NumPy's `AxisError` where an array of `ndim` axes has none such."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim
