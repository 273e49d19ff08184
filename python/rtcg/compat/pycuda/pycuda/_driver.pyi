"""The contents of PyCUDA's native module."""

import numpy as np
from numpy.typing import NDArray

from pycuda.driver import *  # noqa: F403
from pycuda.driver import get_curand_version as get_curand_version

def _get_direction_vectors(set: int, dst: NDArray[np.uint32] | NDArray[np.uint64], count: int) -> None: ...
def _get_scramble_constants32(dst: NDArray[np.uint32], count: int) -> None: ...
def _get_scramble_constants64(dst: NDArray[np.uint64], count: int) -> None: ...
