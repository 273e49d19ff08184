from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtcg.tune._report import Report

def plot_report(
    report: Report,
    path: str | Path | None = None,
    pareto: tuple[str, str] | None = None,
    maximize: str | Sequence[str] = (),
) -> Any: ...
