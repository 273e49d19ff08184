from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rtcg.tune._kernel import Kernel
from rtcg.tune._report import Report
from rtcg.tune._space import Space

class T1Benchmark:
    kernel: Kernel
    space: Space
    arguments: list[Any]
    values: dict[str, int]
    constants: dict[str, np.ndarray[Any, Any]]
    budget: str | float | None
    strategy: str
    def __init__(
        self,
        kernel: Kernel,
        arguments: list[Any],
        values: dict[str, int],
        constants: dict[str, np.ndarray[Any, Any]],
        budget: str | float | None,
        strategy: str,
    ) -> None: ...
    def tune(self, **options: Any) -> Report: ...
    def __call__(self) -> None: ...

def from_t1(
    path: str | Path,
    *,
    problem_size: Sequence[int] | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    **options: Any,
) -> T1Benchmark: ...
