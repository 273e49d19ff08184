import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CHECKS: tuple[str, ...]
CHECKED: tuple[str, ...]
SMALL_BYTES: int

@dataclasses.dataclass(frozen=True)
class CheckedLaunch:
    name: str
    source: str
    options: tuple[str, ...] | None
    include_dirs: tuple[str | Path, ...]
    no_extern_c: bool
    block: tuple[int, ...]
    grid: tuple[int, ...]
    shared: int = 0
    constants: tuple[tuple[str, np.ndarray[Any, Any]], ...] = ()

class CandidateChecker:
    candidates: str
    def __init__(
        self,
        checks: str,
        arguments: Iterable[Any],
        written: Iterable[int],
        make_launch: Callable[[dict[str, Any]], CheckedLaunch],
        timeout: float,
        candidates: str = "all",
    ) -> None: ...
    def check(self, config: dict[str, Any]) -> None: ...
    def require_clean(self, default: dict[str, Any]) -> None: ...
    def close(self) -> None: ...

class CheckingRunner:
    def __init__(self, arguments: Sequence[Any], written: Iterable[int]) -> None: ...
    def check(self, launch: CheckedLaunch) -> None: ...

def parse_checks(checks: str) -> str: ...
def require_small(arguments: Sequence[Any], names: Sequence[str]) -> None: ...
def with_checks(target: Any, checker: CandidateChecker | None) -> Any: ...
def describe_findings(found: Sequence[dict[str, Any]]) -> str: ...
