import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rtcg.driver import Module

class CandidateError(Exception):
    kind: str
    message: str
    def __init__(self, kind: str, message: str) -> None: ...

@dataclasses.dataclass(frozen=True)
class Candidate:
    binary: bytes
    name: str
    source: str
    options: tuple[str, ...]
    block: tuple[int, ...]
    grid: tuple[int, ...]
    shared: int = 0
    constants: tuple[tuple[str, np.ndarray[Any, Any]], ...] = ()

class KernelRunner:
    def __init__(self, arguments: Sequence[Any], written: Iterable[int], cold: bool = False) -> None: ...
    def expect(
        self, expected: Sequence[np.ndarray[Any, Any] | None], rtol: float | None = None, atol: float | None = None
    ) -> None: ...
    def load(self, candidate: Candidate) -> dict[str, Any]: ...
    def run(self) -> list[np.ndarray[Any, Any]]: ...
    def verify(self) -> None: ...
    def time(self, launches: int) -> float: ...
    def repeat(self, launches: int) -> float: ...
    def window_kind(self) -> str: ...

def set_constants(module: Module, constants: Iterable[tuple[str, np.ndarray[Any, Any]]]) -> None: ...
def tolerances(dtype: Any, rtol: float | None = None, atol: float | None = None) -> tuple[float, float]: ...
def compare_results(
    what: str,
    array: np.ndarray[Any, Any],
    expected: np.ndarray[Any, Any],
    rtol: float | None = None,
    atol: float | None = None,
) -> None: ...
