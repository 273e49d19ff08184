"""What upstream keeps in its native module."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pycuda._enums import *  # noqa: F403
from pycuda._rtcg import *  # noqa: F403
from pycuda._rtcg import Error

class CompileError(Error):
    msg: str
    command_line: Sequence[str]
    stdout: str | None
    stderr: str | None
    source: str | None
    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None: ...

def get_curand_version() -> tuple[int, int, int]: ...
def _get_direction_vectors(set: int, dst: NDArray[np.uint32] | NDArray[np.uint64], count: int) -> None: ...
def _get_scramble_constants32(dst: NDArray[np.uint32], count: int) -> None: ...
def _get_scramble_constants64(dst: NDArray[np.uint64], count: int) -> None: ...
