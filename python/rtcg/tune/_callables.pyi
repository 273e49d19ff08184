from collections.abc import Callable
from typing import Any

from rtcg.tune._report import Report
from rtcg.tune._space import Space

def search(space: Space, measure: Callable[..., float], **options: Any) -> Report: ...
def tune_callable(
    function: Callable[..., Any],
    space: Space,
    *,
    verify: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    cold: bool = False,
    **options: Any,
) -> Report: ...
def as_expected(verify: Any) -> list[Any]: ...
def require_alike(expected: list[Any], results: list[Any]) -> None: ...

class CallableTarget:
    def __init__(
        self,
        function: Callable[..., Any],
        verify: Any,
        rtol: float | None,
        atol: float | None,
        default: dict[str, Any] | None,
        cold: bool = False,
    ) -> None: ...
    def compile(self, config: dict[str, Any]) -> None: ...
    def load(self, config: dict[str, Any], compiled: None) -> None: ...
    def verify(self) -> None: ...
    def time(self, launches: int) -> float: ...
    def window_kind(self) -> str: ...
