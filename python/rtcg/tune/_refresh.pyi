from typing import Any

from rtcg.tune._kernel import Kernel
from rtcg.tune._report import Report

def refresh(
    kernel: Kernel, *args: Any, at_least: float = 0.9, budget: str | float | None = "30 s", **options: Any
) -> Report: ...
