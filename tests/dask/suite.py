"""Dask's own tests of CuPy arrays with arrays of rtcg: ``python -m tests.dask.suite``, or ``make dask-suite``.

The tests are those of the Dask that is installed (``dask/array/tests/test_cupy_*.py``); ``stand_in`` has the module
``cupy`` that they import. They run with the schedulers ``sync`` and ``threads``. The exit status is 1 if a test fails
that ``known_failures.json`` does not list, or if one of those passes. Options are passed on to pytest (``-k WORD``,
``--one-in 10``).
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 1800


def files():
    """The tests of the installed Dask."""
    found = importlib.util.find_spec("dask")
    folder = Path(found.submodule_search_locations[0]) / "array/tests" if found else Path("no Dask is installed")
    tests = sorted(folder.glob("test_cupy_*.py"))
    if not tests:
        sys.exit(f"there is no test_cupy_*.py in {folder}")
    return tests


def run(scheduler, options=(), **keywords):
    """Runs pytest on them with one of Dask's schedulers: a finished process."""
    # `rtcg` is where this program found it; the stand-in is for children of the tests too.
    paths = [str(Path(__file__).parent / "stand_in"), str(ROOT), *filter(None, sys.path)]
    env = os.environ | {"DASK_SCHEDULER": scheduler, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.dask.plugin"]
    # Without the settings of this project.
    command += ["-c", os.devnull, "--rootdir", str(files()[0].parent), *map(str, files()), *options]
    return subprocess.run(command, cwd=ROOT, env=env, timeout=LIMIT_S, **keywords)


def main():
    statuses = []
    for scheduler in ("sync", "threads"):
        print(f"scheduler {scheduler}", flush=True)
        statuses.append(run(scheduler, sys.argv[1:]).returncode)
    sys.exit(any(statuses))


if __name__ == "__main__":
    main()
