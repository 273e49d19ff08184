"""Tests of packages that use OpenCL, on our platform and on PoCL: ``python -m tests.opencl.packages [NAME ...]``.

The packages come from the package index with their own tests; nothing of them is a part of this project. Outcomes are
kept in ``dist/opencl-judges/reports``, so that one platform or package can be run at a time, and a run that was stopped
can go on (``--go-on``). Of packages with very many tests every n-th one runs (``--all`` runs all of them). ``--table``
writes the table of ``docs/opencl-packages.md``. The exit status is 1 if a package passes less than 90 % of the tests
that pass on PoCL, or skips one for want of a device.
"""

import argparse
import collections
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from tests.opencl.environments import HERE, ROOT, WORK, environment, read_outcomes, run_pytest, source, venv

PAGE = ROOT / "docs" / "opencl-packages.md"
PLATFORMS = ("pocl", "rtcg")
SHARE = 0.9
#: How many tests that are slower here are named.
SLOWEST = 10


class Package(NamedTuple):
    """A package whose tests run: where they are, and how pytest is called."""

    version: str
    about: str
    #: A folder or file of its source distribution, a module that it installs, or a file of ``clients/`` here.
    tests: str = "test"
    options: tuple = ()
    #: One of how many of its tests runs.
    every: int = 1


#: Tests of ours do not take the settings of this project.
OURS = ("-c", str(WORK / "pytest.ini"))

#: Of boxtree only the tests of trees: in others it writes `np.float64(...)` into kernels with NumPy 2. Its newer
#: versions and sumpy need an arraycontext that the package index does not have.
PACKAGES = {
    "reikna": Package("0.9.0", "Fourier transforms, reductions, random numbers", "test", ("--api", "ocl"), 20),
    "PyRQA": Package("8.1.0", "recurrence analysis", "pyrqa/variants/rp", ("-o", "python_files=test.py"), 8),
    "gputools": Package("0.3.1", "image processing with OpenCL images and samplers", "tests"),
    # What is left out transforms thousands of sizes, each with kernels of its own.
    "pyvkfft": Package(
        "2025.1.1",
        "Fourier transforms with VkFFT, a library in C",
        "pyvkfft.test",
        ("-k", "TestFFT and not c2c and not r2c and not dct and not dst and not systematic"),
    ),
    "loopy": Package("2025.2", "a code generator for loop nests", every=16),
    "boxtree": Package("2021.1", "quadtrees and octrees", "test/test_tree.py", every=2),
    # Those that no source distribution brings along, as pytest finds them.
    "sasmodels": Package("1.1.0", "models of small-angle scattering", "clients/test_sasmodels.py", OURS),
    "OpenMM": Package("8.6.1", "molecular dynamics", "clients/test_openmm.py", OURS),
}


def interpreter():
    """The environment of the packages, and where its loader of OpenCL is, with which pyvkfft is built and runs."""
    python = venv("packages", "requirements.txt", "requirements-packages.txt")
    parts = next(python.parents[1].glob("lib/python*/site-packages/nvidia/cu*"))
    if not (parts / "lib" / "libOpenCL.so").exists():
        (parts / "lib" / "libOpenCL.so").symlink_to("libOpenCL.so.1")
        env = {**os.environ, "CPATH": str(parts / "include"), "LIBRARY_PATH": str(parts / "lib")}
        wanted = f"pyvkfft=={PACKAGES['pyvkfft'].version}"
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", wanted], check=True, env=env)
    return python, parts / "lib"


def pytest_call(name):
    """The folder in which pytest runs a package's tests, and its arguments."""
    package = PACKAGES[name]
    of_ours = HERE / package.tests
    tests = of_ours if of_ours.is_file() else source(name, package.version) / package.tests
    where = [str(tests)] if tests.exists() else ["--pyargs", package.tests]
    folder = next((path for path in (tests, tests.parent) if path.is_dir()), WORK)
    return folder, [*package.options, *where]


def run_package(name, platform, arguments):
    """Runs a package's tests on a platform, and says how they ended."""
    package = PACKAGES[name]
    python, loader = interpreter()
    cache = WORK / f"cache-{name}-{platform}"
    if not arguments.go_on:
        shutil.rmtree(cache, ignore_errors=True)
    folder, options = pytest_call(name)
    env = environment(platform, python, cache)
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [env.get("LD_LIBRARY_PATH"), str(loader)]))
    every = 1 if arguments.all else package.every
    run = run_pytest(
        python, options, folder, env, f"{name}-{platform}", arguments.limit_s, every=every, goes_on=arguments.go_on
    )
    counts = dict(collections.Counter(got.outcome for got in run.outcomes.values()))
    part = f"{len(run.outcomes)} of {run.total} (of {run.of})"
    print(f"{name} on {platform}: {part}: {counts}, {run.wall_s:.0f} s, CPU {run.cpu_s():.0f} s", flush=True)
    if not run.outcomes:
        print(run.said)


class Comparison(NamedTuple):
    """Our outcomes beside PoCL's, of the tests that have run on both."""

    ran: int
    passed_there: int
    passed_of_these: int
    #: CPU seconds of the tests that pass on both.
    cpu_there_s: float
    cpu_s: float
    #: Tests that pass on PoCL and not here, with what they say.
    missed: dict
    #: The slowest tests beside PoCL: CPU seconds here, there, name.
    slow: list


def compare(name):
    """`Comparison` of what was run of a package on both platforms; false where nothing was."""
    ours, peer = (read_outcomes(WORK / "reports" / f"{name}-{platform}.jsonl")[0] for platform in PLATFORMS[::-1])
    there = [test for test, got in peer.items() if got.outcome == "passed" and test in ours]
    missed = {test: ours[test] for test in there if ours[test].outcome != "passed"}
    both = [test for test in there if test not in missed]
    slow = sorted(((ours[test].seconds, peer[test].seconds, test) for test in both), key=lambda row: row[1] - row[0])
    return ours.keys() & peer.keys() and Comparison(
        len(ours.keys() & peer.keys()),
        len(there),
        len(both),
        sum(peer[test].seconds for test in both),
        sum(ours[test].seconds for test in both),
        missed,
        [row for row in slow if row[0] > row[1] + 1][:SLOWEST],
    )


def table():
    """The page's table."""
    lines = [
        "| package | tests that ran on both | pass on PoCL | of those, pass on rtcg | CPU time on PoCL (s) "
        "| CPU time on rtcg (s) |",
        "|---|---|---|---|---|---|",
    ]
    for name, package in PACKAGES.items():
        if got := compare(name):
            share = 100 * got.passed_of_these / max(got.passed_there, 1)
            lines.append(
                f"| {name} {package.version}: {package.about} | {got.ran} | {got.passed_there} | {got.passed_of_these} "
                f"({share:.1f} %) | {got.cpu_there_s:.0f} | {got.cpu_s:.0f} |"
            )
    return "\n".join(lines)


def write_page():
    """Puts the table in place of the one that the page has."""
    before, _, rest = PAGE.read_text().partition("| package |")
    after = rest.partition("\n\n")[2]
    PAGE.write_text(before + table() + "\n" + (f"\n{after}" if after else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--platform", choices=PLATFORMS, action="append", help="only on this one")
    parser.add_argument("--table", action="store_true", help="run nothing, write the page's table")
    parser.add_argument("--go-on", action="store_true", help="run the tests that have no outcome yet")
    parser.add_argument("--all", action="store_true", help="run all tests of packages with very many")
    parser.add_argument("--limit-s", type=float, default=3000, help="seconds for a package on a platform (3000)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PACKAGES)}")
    arguments = parser.parse_args()
    for name in [] if arguments.table else arguments.names or PACKAGES:
        for platform in arguments.platform or PLATFORMS:
            run_package(name, platform, arguments)
    print(table())
    is_short = False
    for name, got in ((name, got) for name in arguments.names or PACKAGES if (got := compare(name))):
        for test, outcome in got.missed.items():
            print(f"{name}: {test}: {outcome.outcome} {outcome.reason[:200]}")
        for seconds, there, test in got.slow:
            print(f"{name}: slow: {seconds:.1f} s, on PoCL {there:.1f} s: {test}")
        is_skipped = any(outcome.outcome == "skipped" for outcome in got.missed.values())
        is_short |= got.passed_of_these < SHARE * got.passed_there or is_skipped
    if arguments.table:
        write_page()
    sys.exit(is_short)


if __name__ == "__main__":
    main()
