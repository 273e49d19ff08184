"""``python -m rtcg.debug [-m] SCRIPT ARGUMENTS``: run a program with kernels compiled for a debugger."""

from collections.abc import Sequence

def main(arguments: Sequence[str] | None = None) -> None: ...
