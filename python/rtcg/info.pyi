"""``python -m rtcg.info``: a report of this installation; the first thing to run when something fails."""

from collections.abc import Sequence

__all__ = ["main", "report"]

def report(*, attributes: bool = False, functions: bool = False, unset_settings: bool = False) -> str: ...
def main(arguments: Sequence[str] | None = None) -> None: ...
