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
    **options: Any,
) -> Report: ...
