from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from rtcg._native import TunedCall
from rtcg.tune._report import Report
from rtcg.tune._run import _Objective, _Observer
from rtcg.tune._runner import Candidate
from rtcg.tune._space import Space
from rtcg.tune._store import Store

def auto(**options: Any) -> AbstractContextManager[None]: ...

class Kernel(TunedCall):
    name: str
    space: Space
    problem_names: tuple[str, ...]
    default: dict[str, Any]
    def __init__(
        self,
        source: object,
        name: str,
        space: Space,
        *,
        block: int | str | Sequence[int | str],
        grid: int | str | Sequence[int | str],
        shared: int | str = 0,
        problem: Sequence[str] | dict[str, Any] = (),
        bucket: dict[str, Callable[[Any], Any]] | None = None,
        default: dict[str, Any] | None = None,
        mutates: Sequence[str] | None = None,
        options: Sequence[str] | None = None,
        include_dirs: Sequence[str | Path] = (),
        no_extern_c: bool = False,
        constants: dict[str, np.ndarray[Any, Any]] | None = None,
        wisdom: str | Path | Sequence[str | Path] = (),
        store: Store | None = None,
        identity: str | None = None,
    ) -> None: ...
    def source(self, config: dict[str, Any] | None = None) -> tuple[object, Sequence[str] | None]: ...
    def compile(self, config: dict[str, Any]) -> tuple[bytes, str, tuple[str, ...]]: ...
    def candidate(self, config: dict[str, Any], values: dict[str, Any]) -> Candidate: ...
    def geometry(
        self, config: dict[str, Any], values: dict[str, Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...], int]: ...
    def explain(self, *args: Any, **values: Any) -> str: ...
    def variant(self, **config: Any) -> Callable[..., None]: ...
    def tune(
        self,
        *args: Any,
        budget: str | float | None = "30 s",
        verify: Any = None,
        rtol: float | None = None,
        atol: float | None = None,
        strategy: Any = "auto",
        seed: int = 0,
        bytes: int | str | None = None,
        flops: int | str | None = None,
        until: str | float | None = None,
        isolate: bool | None = None,
        timeout: float = 10.0,
        observers: Sequence[_Observer] = (),
        progress: bool | None = None,
        occupancy_slack: float | None = None,
        threads: int | None = None,
        check: str | None = None,
        check_candidates: str = "all",
        check_arguments: Sequence[Any] | dict[str, Any] | None = None,
        cold: bool = False,
        objective: _Objective = "time",
        maximize: bool = False,
        **values: Any,
    ) -> Report: ...
    def refresh(
        self, *args: Any, at_least: float = 0.9, budget: str | float | None = "30 s", **options: Any
    ) -> Report: ...
