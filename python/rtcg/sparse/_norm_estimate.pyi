"""Estimates of norms of operators without access to their elements."""

from typing import Any

def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any: ...
