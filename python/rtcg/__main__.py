"""``python -m rtcg``: reports on this installation, programs with rtcg's modules, metadata for other packages."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from rtcg import _compat

if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = """python -m rtcg                               what this installation has (as python -m rtcg.info)
       python -m rtcg --as NAME PROGRAM ARGUMENTS   run a program (or -m MODULE) whose `import NAME` finds rtcg's
       python -m rtcg provide NAME                  let pip know the distribution NAME as installed, for packages that
                                                    require it; `pip uninstall NAME` takes it back
       python -m rtcg tune COMMAND                  results of tuning: show, export, import, merge, prune, builtin, demo
       python -m rtcg prepare [GROUP ...]           fill the caches with what array programs compile first"""


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m rtcg", usage=_USAGE, description=f"NAME is {' or '.join(_compat.package_names())}."
    )
    if arguments[:1] == ["--as"]:
        if len(arguments) < 3:
            parser.error("--as needs a name and a program")
        _run_with_package(parser, arguments[1], arguments[2:])
    elif arguments[:1] == ["provide"]:
        if len(arguments) != 2:
            parser.error("provide needs one name")
        _provide_distribution(parser, arguments[1])
    elif arguments[:1] == ["tune"]:
        from rtcg.tune import _command

        _command.main(arguments[1:])
    elif arguments[:1] == ["prepare"]:
        from rtcg import _prepare

        _prepare.main(parser, arguments[1:])
    else:
        from rtcg import info

        known = ("-h", "--help", "--attributes", "--functions", "--all")
        strangers = [argument for argument in arguments if argument not in known]
        if strangers or "-h" in arguments or "--help" in arguments:
            parser.print_help() if not strangers else parser.error(f"unknown argument {strangers[0]!r}")
            return
        info.main(arguments)


def _run_with_package(parser: argparse.ArgumentParser, name: str, program: list[str]) -> None:
    from rtcg._run import run_python_program

    try:
        folders = _compat.search_path(name)
    except _compat.ProvideError as error:
        parser.error(str(error))
    # Python processes that the program starts find the same modules.
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, inherited] if inherited else folders)
    run_python_program(program, folders)


def _provide_distribution(parser: argparse.ArgumentParser, name: str) -> None:
    try:
        written = _compat.provide_distribution(name)
    except _compat.ProvideError as error:
        parser.exit(1, f"{parser.prog} provide {name}: {error}\n")
    upstream = _compat.upstream_distribution(name)
    print(f"pip knows {upstream} as installed now ({written}); `pip uninstall {upstream}` takes it back")


if __name__ == "__main__":
    main()
