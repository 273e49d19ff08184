"""Compiles kernels over stacks of matrices once for a context and an element type, and launches them."""

from typing import Any

import numpy as np

THREADS: int
NOT_FINITE: int
NOT_CONVERGED: int
NOT_OF_FULL_RANK: int

def launch(
    source: str,
    dtype: np.dtype[Any],
    name: str,
    grid: tuple[int, ...],
    threads: int | tuple[int, int, int],
    *args: Any,
    shared: int = 0,
) -> None:
    """Launches a kernel of `source` for elements of `dtype`; integers among its arguments are NumPy's.

    `threads` is how many a block has, or its three lengths.
    """
