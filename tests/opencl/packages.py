"""Tests of packages that use OpenCL, on our platform and on PoCL: ``python -m tests.opencl.packages [NAME ...]``.

The packages come from the package index with their own tests; nothing of them is a part of this project. Outcomes are
kept in ``dist/opencl-judges/packages.json``, so that one platform or package can be run at a time; ``--table`` writes
them to ``docs/opencl-packages.md``. The exit status is 1 if a package passes less than 90 % of the tests that pass on
PoCL, or skips one for want of a device.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

from tests.opencl.environments import ROOT, WORK, Outcome, environment, run_pytest, source, venv

OUTCOMES = WORK / "packages.json"
PAGE = ROOT / "docs" / "opencl-packages.md"
LIMIT_S = 3000
SHARE = 0.9


class Package(NamedTuple):
    """A package whose tests run: where they are in its source distribution, and how pytest is called."""

    version: str
    about: str
    tests: str = "test"
    options: tuple = ()
    #: Tests of other things than OpenCL, or that run for hours: what is left out, and why it is.
    left_out: str = ""


PACKAGES = {
    "reikna": Package("0.9.0", "Fourier transforms, reductions, random numbers", options=("--api", "ocl")),
    "PyRQA": Package(
        "8.1.0",
        "recurrence analysis (its tests of recurrence plots)",
        "pyrqa/variants/rp",
        ("-o", "python_files=test.py"),
    ),
    "gputools": Package("0.3.1", "image processing, with images and samplers", "tests"),
    "pyvkfft": Package("2025.1.1", "Fourier transforms with VkFFT, a library in C", "pyvkfft/test"),
    "loopy": Package("2025.2", "a generator of loops"),
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


def outcomes_by_test(outcomes):
    """Outcomes with the names of devices taken out of those of tests, so that platforms can be compared."""
    merged = {}
    for test, got in outcomes.items():
        merged[re.sub(r"<context factory for <[^>]*>>", "ctx", test)] = got
    return merged


def run_package(name, platform):
    """Outcomes, and the seconds of the processors."""
    package = PACKAGES[name]
    python, loader = interpreter()
    cache = WORK / f"cache-{name}-{platform}"
    shutil.rmtree(cache, ignore_errors=True)
    folder = source(name, package.version) / package.tests
    arguments = ["--timeout=900", *package.options, str(folder)]
    env = environment(platform, python, cache)
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [env.get("LD_LIBRARY_PATH"), str(loader)]))
    run = run_pytest(python, arguments, folder, env, f"{name}-{platform}", LIMIT_S)
    counts = collections.Counter(got.outcome for got in run.outcomes.values())
    print(f"{name} on {platform}: {dict(counts)}, {run.wall_s:.0f} s, of the processors {run.cpu_s:.0f} s", flush=True)
    if not run.outcomes:
        print(run.said)
    return {"outcomes": outcomes_by_test(run.outcomes), "cpu_s": round(run.cpu_s)}


class Comparison(NamedTuple):
    """Our outcomes beside PoCL's."""

    passed_there: int
    passed_of_these: int
    passed: int
    #: Tests that pass on PoCL and not here, with what they say.
    missed: dict
    #: Tests that are skipped here and pass there.
    skipped: list


def compare(ours, peer):
    """`Comparison` of two tables of outcomes."""
    there = [test for test, got in peer.items() if got.outcome == "passed"]
    missed = {test: ours.get(test, Outcome("missing")) for test in there}
    missed = {test: got for test, got in missed.items() if got.outcome != "passed"}
    skipped = [test for test, got in missed.items() if got.outcome == "skipped"]
    passed = sum(got.outcome == "passed" for got in ours.values())
    return Comparison(len(there), len(there) - len(missed), passed, missed, skipped)


def load():
    """What was run, by package and platform."""
    kept = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    for platforms in kept.values():
        for run in platforms.values():
            run["outcomes"] = {test: Outcome(*got) for test, got in run["outcomes"].items()}
    return kept


def table(kept):
    """The page's table."""
    lines = [
        "| package | it does | pass on PoCL | of these here | all that pass here | CPU seconds, PoCL | here |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, package in PACKAGES.items():
        runs = kept.get(name, {})
        if {"rtcg", "pocl"} <= set(runs):
            got = compare(runs["rtcg"]["outcomes"], runs["pocl"]["outcomes"])
            share = 100 * got.passed_of_these / max(got.passed_there, 1)
            lines.append(
                f"| {name} {package.version} | {package.about} | {got.passed_there} | {got.passed_of_these} "
                f"({share:.1f} %) | {got.passed} | {runs['pocl']['cpu_s']} | {runs['rtcg']['cpu_s']} |"
            )
    return "\n".join(lines)


def write_page(kept):
    """Puts the table in place of the one that the page has."""
    before, _, rest = PAGE.read_text().partition("| package |")
    after = rest.partition("\n\n")[2]
    PAGE.write_text(before + table(kept) + "\n" + (f"\n{after}" if after else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--platform", choices=["rtcg", "pocl"], action="append", help="only on this one")
    parser.add_argument("--table", action="store_true", help="write the page's table")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PACKAGES)}")
    arguments = parser.parse_args()
    kept = load()
    for name in [] if arguments.table else arguments.names or PACKAGES:
        for platform in arguments.platform or ["pocl", "rtcg"]:
            run = run_package(name, platform)
            # Another run may have added to the file in the meantime.
            kept = load()
            kept.setdefault(name, {})[platform] = run
            OUTCOMES.write_text(json.dumps(kept, indent=1))
    print(table(kept))
    is_short = False
    for name, runs in kept.items():
        if {"rtcg", "pocl"} <= set(runs):
            got = compare(runs["rtcg"]["outcomes"], runs["pocl"]["outcomes"])
            for test, outcome in got.missed.items():
                print(f"{name}: {test}: {outcome.outcome} {outcome.reason[:200]}")
            is_short |= got.passed_of_these < SHARE * got.passed_there or bool(got.skipped)
    if arguments.table:
        write_page(kept)
    sys.exit(is_short)


if __name__ == "__main__":
    main()
