from collections.abc import Callable, Hashable, Sequence
from typing import Any

from rtcg.tune._report import Report
from rtcg.tune._space import Space

class Part:
    target: Any
    args: tuple[Any, ...]
    key: Hashable
    options: dict[str, Any]
    def __init__(self, target: Any, *args: Any, key: Hashable = None, **options: Any) -> None: ...

class NestedReport(Report):
    parts: dict[str, dict[str, Any]]
    part_reports: dict[str, Report]
    n_part_searches: int
    def __init__(self, report: Report, part_reports: dict[str, Report], n_part_searches: int) -> None: ...

def nested(
    space: Space,
    parts: Callable[..., dict[str, Part]],
    *,
    budget: str | float | None = "60 s",
    part_budget: str | float | None = None,
    combine: Callable[..., float] | None = None,
    run: Callable[..., Any] | None = None,
    verify: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    bytes: int | str | None = None,
    flops: int | str | None = None,
    until: str | float | None = None,
    default: dict[str, Any] | None = None,
    strategy: Any = "auto",
    seed: int = 0,
    observers: Sequence[Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]] = (),
    progress: bool | None = None,
) -> NestedReport: ...
