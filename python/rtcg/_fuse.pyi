"""`rtcg.fuse`: a chain of array operations becomes one kernel."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from rtcg._native import FusionError as FusionError

__all__ = ["FusionError", "fuse"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

class fuse:  # noqa: N801
    """Compute array operations together, as one kernel instead of one each."""

    @overload
    def __new__(cls, function: Callable[_P, _R]) -> Callable[_P, _R]: ...  # type: ignore[misc]
    @overload
    def __new__(cls, function: None = None) -> fuse: ...
    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]: ...
    def __enter__(self) -> fuse: ...
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool: ...
    @staticmethod
    def flush() -> None: ...
