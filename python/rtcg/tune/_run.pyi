from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from rtcg._native import TuningDevice, TuningKernelKey, TuningObjective, TuningPromise
from rtcg.tune._report import Report
from rtcg.tune._space import Space
from rtcg.tune._store import Store
from rtcg.tune.observers import Sensor

_Observer: TypeAlias = Sensor | str | Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]
_Objective: TypeAlias = str | Callable[[dict[str, Any], dict[str, Any]], float]

class Budget(NamedTuple):
    seconds: float | None = None
    evaluations: int | None = None

def run_search(
    target: Any,
    space: Space,
    *,
    budget: str | float | None = "30 s",
    strategy: Any = "auto",
    seed: int = 0,
    threads: int | None = None,
    finalists: int = 5,
    windows: int = 7,
    occupancy_slack: float | None = None,
    limit: tuple[float, str] | None = None,
    until: str | float | None = None,
    lower_bound: Callable[[dict[str, Any]], float] | None = None,
    default: dict[str, Any] | None = None,
    incumbents: Iterable[dict[str, Any]] = (),
    observers: Sequence[_Observer] = (),
    progress: bool | None = None,
    stored: Any = None,
    tick_seconds: float = 1e-6,
    is_noisy: bool = True,
    objective: _Objective = "time",
    maximize: bool = False,
    bytes: float | None = None,
    flops: float | None = None,
) -> Report: ...
def refuse_cold_energy(cold: object, objective: object) -> None: ...
def as_work(name: str, value: float | None) -> float | None: ...
def parse_budget(budget: str | float | Budget | None) -> Budget: ...
def parse_fraction(until: str | float | None) -> float | None: ...

class StoredProblem:
    store: Store
    kernel: TuningKernelKey
    device: TuningDevice
    problem: dict[str, Any]
    def __init__(self, store: Store, kernel: TuningKernelKey, problem: dict[str, Any]) -> None: ...
    def append(self, trial: dict[str, Any], is_chosen: bool) -> None: ...
    def close(self) -> None: ...
    def for_objective(self, objective: TuningObjective) -> StoredProblem: ...
    def incumbents(self, space: Space) -> list[dict[str, Any]]: ...
    def promise(self, space: Space, default: dict[str, Any]) -> TuningPromise | None: ...
    def is_known(self, space: Space) -> bool: ...
    def look_up(self, space: Space) -> tuple[dict[str, Any], float, str, str] | None: ...

def acceptor(space: Space) -> Callable[[dict[str, Any]], bool]: ...
