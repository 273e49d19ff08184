"""Products with the exponential of a matrix, without forming it."""

from typing import Any

from rtcg.numpy import GPUArray

def expm_multiply(
    A: Any,
    B: Any,
    start: float | None = None,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,
) -> GPUArray: ...
