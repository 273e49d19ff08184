from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtcg._native import TuningObjective

class Report:
    trials: list[dict[str, Any]]
    speedup: tuple[float, float, float] | None
    unconfirmed: tuple[dict[str, Any], float] | None
    stopped_by: str
    limit: tuple[float, str] | None
    seconds: float
    objective: str
    unit: str
    is_time: bool
    clock_change: float | None
    best_trial: dict[str, Any] | None
    default_trial: dict[str, Any] | None
    launch: dict[str, tuple[int, ...]] | None
    promised: float | None
    searched: bool
    def __init__(self, found: dict[str, Any], objective: TuningObjective) -> None: ...
    @property
    def best(self) -> dict[str, Any] | None: ...
    @property
    def best_score(self) -> float | None: ...
    @property
    def best_value(self) -> float | None: ...
    @property
    def failures(self) -> dict[str, list[tuple[dict[str, Any], str]]]: ...
    @property
    def fraction_of_limit(self) -> float | None: ...
    def best_so_far(self) -> list[tuple[int, float, float]]: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def to_dataframe(self) -> Any: ...
    def pareto(self, *columns: str, maximize: str | Sequence[str] = ()) -> list[dict[str, Any]]: ...
    def plot(
        self,
        path: str | Path | None = None,
        pareto: tuple[str, str] | None = None,
        maximize: str | Sequence[str] = (),
    ) -> Any: ...
