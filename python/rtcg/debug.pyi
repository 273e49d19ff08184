"""``python -m rtcg.debug [-m] SCRIPT ARGUMENTS``: run a program with kernels that a debugger understands."""

from collections.abc import Sequence

def main(arguments: Sequence[str] | None = None) -> None: ...
