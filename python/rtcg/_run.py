"""Run a program as ``python program.py`` or ``python -m module`` would."""

from __future__ import annotations

import os
import runpy
import sys

from rtcg._messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run_python_program(arguments: Sequence[str], first: Sequence[str] = ()) -> None:
    """Run a program in this process, as ``__main__``.

    Parameters
    ----------
    arguments : sequence of str
        The path of a script, or ``-m`` and the name of a module, followed by the program's own arguments.
    first : sequence of paths, optional
        The folders to search for modules before all others.
    """
    arguments = list(arguments)
    as_module = arguments[:1] == ["-m"]
    if as_module:
        del arguments[0]
    if not arguments:
        raise SystemExit("no program was named")
    program = arguments[0]
    if program == "-c":
        raise SystemExit("-c is not supported; expected the path of a program, or -m and a module")
    if not as_module and not os.path.exists(program):
        raise SystemExit(f"cannot open the program {shown(program)}: no such file")
    sys.argv[:] = arguments
    # `python -m` has put the current folder in front, in the place of the program's.
    if sys.path[:1] == [os.getcwd()]:
        del sys.path[0]
    sys.path.insert(0, os.getcwd() if as_module else os.path.dirname(os.path.abspath(program)))
    sys.path[:0] = first
    if as_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")
