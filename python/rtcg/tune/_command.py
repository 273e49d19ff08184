"""``python -m rtcg tune``: show, move and prune the results of searches."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._builtin_workloads import FAMILIES
from rtcg.tune._store import Store, store as default_store

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def main(arguments: Sequence[str]) -> None:
    """The command line: ``show``, ``export``, ``import``, ``merge``, ``prune``, ``builtin``, ``demo``."""
    parser = argparse.ArgumentParser(prog="python -m rtcg tune", description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="the folder of results; by default the user's")
    parsers = parser.add_subparsers(dest="command", required=True)
    # Said after the command, it must not be overwritten by the default of the same option before it.
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--folder", default=argparse.SUPPRESS, help="as before the command")

    def add_parser(name: str, help: str) -> ArgumentParser:
        return parsers.add_parser(name, help=help, parents=[folder])

    show = add_parser("show", help="the best result of each kernel, device and problem")
    show.add_argument("kernel", nargs="?", help="a kernel's name or hash; all, if none is given")
    show.add_argument("--all", action="store_true", help="every result")
    add_parser("export", help="write all results into one file").add_argument("file")
    add_parser("import", help="add the results of an exported file").add_argument("file")
    add_parser("merge", help="add the results of another folder").add_argument("other")
    prune = add_parser("prune", help="keep the best results only")
    prune.add_argument("--keep", type=int, default=10, help="of each kernel, device and problem (default: 10)")
    builtin = add_parser("builtin", help="tune the kernels behind arrays for this device")
    builtin.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; by default all")
    builtin.add_argument("--budget", default="10 s", help="of each decision of each call (default: 10 s)")
    builtin.add_argument("--only", action="append", help="decisions whose names begin like this")
    builtin.add_argument("--matching", help="calls whose names have this part")
    builtin.add_argument("--list", action="store_true", help="print what is decided, and the candidates")
    builtin.add_argument("--publish", metavar="FOLDER", help="write the best results of the store there instead")
    demo = add_parser("demo", help="tune a matrix product, with a picture of the search")
    demo.add_argument("--budget", default="20 s")
    demo.add_argument("--size", type=int, default=256, help="rows and columns (default: 256)")
    demo.add_argument("--picture", default="tuning.png", help="where to save it (default: tuning.png)")
    options = parser.parse_args(arguments)
    store = Store(options.folder) if options.folder else default_store()
    try:
        _run(store, options)
    except (OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog} {options.command}: {error}\n")


def _run(store: Store, options: Namespace) -> None:
    if options.command == "show":
        _show(store, options.kernel, options.all)
    elif options.command == "export":
        print(f"{store.export(options.file)} results written to {options.file}")
    elif options.command == "import":
        print(f"{store.import_(options.file)} results added to {store.folder}")
    elif options.command == "merge":
        if not os.path.exists(options.other):
            raise ValueError(f"the folder is {options.other!r}, which does not exist")
        print(f"{store.merge(Store(options.other))} results added to {store.folder}")
    elif options.command == "prune":
        print(f"{store.prune(options.keep)} results dropped")
    elif options.command == "builtin":
        _builtin(store, options)
    else:
        from rtcg.tune._demo import main as demo

        demo(options.size, options.budget, options.picture)


def _builtin(store: Store, options: Namespace) -> None:
    from rtcg.tune import _builtin

    families = options.families or FAMILIES
    unknown = [family for family in families if family not in FAMILIES]
    if unknown:
        raise ValueError(f"family is {shown(unknown[0])}; expected of {', '.join(FAMILIES)}")
    if options.list:
        _builtin.list_decisions(families, options.only)
    elif options.publish:
        print(f"{_builtin.publish(store, options.publish, 1)} files written to {options.publish}")
    else:
        _builtin.tune_families(families, options.budget, options.only, options.matching, store)


def _show(store: Store, kernel: str | None, shows_all: bool) -> None:
    results = store.results(kernel)
    if not results:
        print(f"no results in {store.folder}" + (f" for {kernel}" if kernel else ""))
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in results:
        groups.setdefault((row["kernel"], row["hash"], row["device"], row["problem"]), []).append(row)
    for (name, digest, device, problem), rows in groups.items():
        failed = sum(row["failure"] is not None for row in rows)
        counts = f"{len(rows)} measurements, {failed} failures"
        print(f"{name} ({digest[:8]}) on {device}, {problem or 'any problem'}: {counts}")
        scored = sorted((row for row in rows if row["score"] is not None), key=lambda row: row["score"])
        chosen = [row for row in rows if row["chosen"]][-1:]
        for row in scored if shows_all else chosen or scored[:1]:
            config = ", ".join(f"{key}={value!r}" for key, value in row["config"].items())
            score = _native.TuningObjective.of_stored(row["objective"]).format(row["score"])
            print(f"  {score}  {config}{'  chosen' if row['chosen'] else ''}")
    sys.stdout.flush()
