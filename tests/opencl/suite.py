"""Upstream's tests of PyOpenCL on our platform, with no other OpenCL installed: ``python -m tests.opencl.suite``.

``make opencl-suite`` fetches the source distribution and runs its whole suite twice, with empty caches (cold) and with
those that this has filled (warm). The exit status is 1 if an outcome is not the one that ``expected_suite.json`` lists,
in either direction. Names of tests after the command choose some of them (as pytest's ``-k``).
"""

import argparse
import collections
import fnmatch
import json
import shutil
import sys

from tests.opencl.environments import HERE, PYOPENCL, WORK, environment, run_pytest, source, venv

LIMIT_S = 1800
#: By outcome, patterns of those tests that do not pass, and why.
EXPECTED = json.loads((HERE / "expected_suite.json").read_text())


def expected_outcome(test):
    """``passed``, ``failed`` or ``skipped`` of ``file::name[parameters]``."""
    name = test.partition("::")[2]
    for outcome, patterns in EXPECTED.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return outcome
    return "passed"


def not_expected(outcomes, is_whole=True):
    """Lines about tests that did not end as listed, and about lists that name no test."""
    lines = []
    for test, got in outcomes.items():
        if got.outcome != (expected := expected_outcome(test)):
            lines.append(f"{test}: {got.outcome}, expected {expected} {got.reason}")
    names = {test.partition("::")[2] for test in outcomes}
    for pattern in [pattern for patterns in EXPECTED.values() for pattern in patterns]:
        if is_whole and not fnmatch.filter(names, pattern):
            lines.append(f"{pattern}: listed, but no test has that name")
    return lines


def summary(run):
    """`302 passed, 2 failed, 4 skipped of 308`, and the times."""
    counts = collections.Counter(got.outcome for got in run.outcomes.values())
    words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
    return f"{words} of {len(run.outcomes)}; {run.wall_s:.0f} s, of the processors {run.cpu_s():.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--cold-only", action="store_true", help="leave the second run out")
    parser.add_argument("--clang", help="the clang to use (RTCG_CLANG); else the one that is found")
    parser.add_argument("--slowest", type=int, default=10, help="how many tests to name (10)")
    parser.add_argument("chosen", nargs="*", help="words of the tests to run; all when none is given")
    arguments = parser.parse_args()
    python, tests = venv("suite", "requirements.txt"), source("pyopencl", PYOPENCL) / "test"
    cache = WORK / "cache-suite"
    shutil.rmtree(cache, ignore_errors=True)
    variables = environment("rtcg", python, cache) | ({"RTCG_CLANG": arguments.clang} if arguments.clang else {})
    chosen = ["-k", " or ".join(arguments.chosen)] if arguments.chosen else []
    wrong = []
    for times in ["cold"] if arguments.cold_only else ["cold", "warm"]:
        run = run_pytest(python, [*chosen, str(tests)], tests, variables, times, LIMIT_S)
        print(f"{times}: {summary(run)}", flush=True)
        slowest = sorted(run.outcomes.items(), key=lambda item: -item[1].seconds)[: arguments.slowest]
        for test, got in slowest:
            print(f"  {got.seconds:6.1f} s  {test.partition('[')[0]}")
        wrong += not_expected(run.outcomes, not arguments.chosen)
        if not run.outcomes:
            wrong.append(f"{times}: no test has run\n{run.said}")
    print("\n".join(wrong) or "all as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
