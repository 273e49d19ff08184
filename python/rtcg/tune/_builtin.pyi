from collections.abc import Callable, Sequence
from typing import Any

from rtcg._native import ArrayDecision
from rtcg.tune._report import Report
from rtcg.tune._store import Store

def builtin(
    function: Callable[[], Any],
    *,
    budget: str | float | None = "30 s",
    only: str | Sequence[str] | None = None,
    verify: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    store: Store | None = None,
    threads: int = 1,
    **options: Any,
) -> dict[str, Report]: ...
def describe(decision: ArrayDecision) -> str: ...
def tune_families(
    families: Sequence[str],
    budget: str | float,
    only: Sequence[str] | None = None,
    matching: str | None = None,
    store: Store | None = None,
) -> None: ...
def list_decisions(families: Sequence[str], only: Sequence[str] | None = None) -> None: ...
def publish(store: Store, folder: Any, version: int, keep: int = 10) -> int: ...
