"""Normalisation of axis arguments."""

from __future__ import annotations

import numpy as np


def normalize_axis(axis: int, ndim: int) -> int:
    """`axis` counted from 0; raises NumPy's `AxisError` if an array with `ndim` axes does not have it."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim
