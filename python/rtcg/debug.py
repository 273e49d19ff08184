"""``python -m rtcg.debug [-m] SCRIPT ARGUMENTS``: run a program with kernels compiled for a debugger.

Kernels are compiled with debug information and without optimisation, the cache is not used, and every source is kept in
a file, whose path the debugger finds in the program::

    cuda-gdb --args python -m rtcg.debug script.py arguments

cuda-gdb requires a GPU. Without one, the checked mode of the virtual GPU reports invalid accesses, uninitialised values
and races with block, thread and source line: ``RTCG_CHECK=1 python -m rtcg.debug script.py``, see docs/debugging.md.
"""

from __future__ import annotations

import sys

from rtcg._run import run_python_program
from rtcg.driver import set_debugging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = "usage: python -m rtcg.debug [-m] SCRIPT ARGUMENTS..."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a program for debugging.

    Parameters
    ----------
    arguments : sequence of str, optional
        As on the command line: the script or ``-m`` and a module, then the program's own arguments.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments in ([], ["-m"]):
        raise SystemExit(f"{_USAGE}\nno program was named")
    if arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__}")
        return
    set_debugging()
    run_python_program(arguments)


if __name__ == "__main__":
    main()
