"""Records launches on PoCL and replays them on our platform: ``python -m tests.opencl.record own|upstream``.

``own`` records the kernels of ``recorded_kernels.py`` into ``recorded.xz``, which is a part of this project.
``upstream`` (``make opencl-record``) records PyOpenCL's own tests and examples, and those of other packages, into
``dist/opencl-judges/launches``, and replays all of them; words after it choose some (``tests``, ``examples``, names of
packages). ``--every 10`` records one of ten tests.
"""

import argparse
import os
import shutil
import subprocess
import sys

from tests.opencl.environments import HERE, PYOPENCL, ROOT, WORK, environment, peer_library, run_pytest, source, venv
from tests.opencl.packages import PACKAGES, interpreter, pytest_call

RECORDER = WORK / "recorder.so"


def build_recorder():
    """The library that is loaded before others."""
    WORK.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", str(RECORDER), str(HERE / "recorder.c")]
    subprocess.run(command, check=True)


def recording(name, python):
    """A new folder for what is launched under that name, and the variables with which Python records it on PoCL."""
    to = WORK / "launches" / name
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    cache = WORK / "cache-record"
    shutil.rmtree(cache, ignore_errors=True)
    return to, environment("pocl", python, cache) | {"LD_PRELOAD": str(RECORDER), "RTCG_RECORD": str(to)}


def record(name, python, arguments, folder, limit_s=1800, **more):
    """Runs Python on PoCL in `folder`; what it launches goes to a folder of that name, which is returned."""
    to, env = recording(name, python)
    with open(to.with_suffix(".log"), "w") as log:
        try:
            subprocess.run(
                [str(python), *arguments], cwd=folder, env=env | more, stdout=log, stderr=log, timeout=limit_s
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: no end after {limit_s} s")
    print(f"{name}: {sum(1 for _ in to.iterdir())} launches", flush=True)
    return to


def record_tests(name, python, folder, options, arguments, every):
    """The same for tests: one of `every`, or of ``--every``."""
    to, env = recording(name, python)
    every = arguments.every or every
    run = run_pytest(python, options, folder, env, f"record-{name}", arguments.limit_s, every)
    print(f"{name}: {len(run.outcomes)} of {run.of} tests, {sum(1 for _ in to.iterdir())} launches", flush=True)
    return to


def record_own():
    """Our kernels, packed."""
    # It needs NumPy, which the interpreter that runs the judges may lack.
    from tests.opencl.replay import pack

    python = venv("suite", "requirements.txt")
    folder = record("own", python, ["-m", "tests.opencl.recorded_kernels"], ROOT)
    pack(sorted(folder.glob("*.launch")), HERE / "recorded.xz")


def record_upstream(arguments):
    """Upstream's tests and examples, and tests of other packages: all, or those that are named."""
    python, sources, parts = interpreter()[0], source("pyopencl", PYOPENCL), arguments.parts
    if "tests" in parts or not parts:
        tests = sources / "test"
        yield record_tests("pyopencl-tests", python, tests, [str(tests)], arguments, 1)
    for example in sorted((sources / "examples").glob("*.py")) if "examples" in parts or not parts else []:
        yield record(
            f"example-{example.stem}", python, [str(example)], example.parent, 120, RTCG_RECORD_BYTES="0x1000000"
        )
    for name, package in PACKAGES.items():
        if name in parts or not parts:
            yield record_tests(name, python, *pytest_call(name), arguments, package.every)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("what", choices=["own", "upstream"])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"tests, examples, {', '.join(PACKAGES)}; all")
    parser.add_argument("--every", type=int, help="record one of so many tests, always the same ones")
    parser.add_argument("--limit-s", type=float, default=1800, help="seconds for the tests of a part (1800)")
    arguments = parser.parse_args()
    print(f"recorded on {peer_library('pocl')}")
    build_recorder()
    if arguments.what == "own":
        record_own()
        return
    python = venv("suite", "requirements.txt")
    env = environment("rtcg", python, WORK / "cache-replay")
    folders = [folder for folder in record_upstream(arguments) if any(folder.iterdir())]
    wrong = False
    for folder in folders:
        command = [str(python), "-m", "tests.opencl.replay", str(folder)]
        said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        print(f"{folder.name}\n{said.stdout}{said.stderr[-2000:] if said.returncode not in (0, 1) else ''}", flush=True)
        wrong |= said.returncode != 0
    sys.exit(wrong)


if __name__ == "__main__":
    main()
