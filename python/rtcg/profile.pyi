from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TextIO

import numpy as np

class Profile:
    rows: list[dict[str, Any]]
    def __init__(self, text: str, rows: list[tuple[str, str, int, float, float, float, int]]) -> None: ...

class Timings:
    name: str
    cpu_times: np.ndarray[Any, np.dtype[np.float64]]
    gpu_times: np.ndarray[Any, np.dtype[np.float64]]
    def __init__(self, name: str, cpu_times: Sequence[float], gpu_times: Sequence[float]) -> None: ...

def profile() -> AbstractContextManager[list[Profile]]: ...
def region(name: str = "region", file: TextIO | None = None) -> AbstractContextManager[None]: ...
def benchmark(
    function: Callable[..., Any],
    *args: Any,
    n_repeat: int = 1000,
    n_warmup: int = 10,
    max_duration: float = 1.0,
    name: str | None = None,
    **keywords: Any,
) -> Timings: ...
def main(arguments: Sequence[str] | None = None) -> None: ...
