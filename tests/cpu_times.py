"""What the tests cost: CPU seconds of each subsystem beside its budget in docs/contributing/tests.md.

``python tests/cpu_times.py run PROGRAM ...`` runs a test binary and adds its time (cargo calls it as a runner);
`tests/python/conftest.py` adds that of the tests in Python; ``python tests/cpu_times.py table`` prints the table.
A subsystem over its budget is marked and no failure: machines differ.

``python tests/cpu_times.py step NAME COMMAND ...`` runs a step of `make check` and notes its minutes, which the table
lists before the subsystems; ``python tests/cpu_times.py steps`` prints them alone.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "target" / "test-times"
#: The steps of `make check`; which begins by removing the file.
STEPS = ROOT / "target" / "check-steps.jsonl"

# Files of tests/python, by how their names begin, and crates; the first row that fits takes the time.
ROWS = {
    "arrays": ("test_array", "test_gpuarray", "test_large", "test_fft", "test_linalg", "test_cumath",
               "test_fuse", "test_curandom", "test_random", "test_reduction", "test_elementwise", "test_neighbors",
               "test_algorithm", "test_einsum", "test_cublas", "test_cufft", "test_cusolver",
               "test_library", "test_ndimage", "test_matmul", "test_generators", "test_specialize",
               "rtcg", "array", "neighbors", "ndimage"),
    "tuning": ("test_tune", "tune"),
    "sparse": ("test_sparse", "sparse"),
    "OpenCL": ("test_opencl", "opencl", "libopencl"),
    "engines": ("test_mpi", "test_dask", "test_multiprocessing", "test_joblib", "test_ray", "test_nccl",
                "test_dg_ranks", "vnccl", "libnccl"),
    "applications": ("test_apps", "test_dg"),
    "examples": ("test_readme", "test_examples"),
    "documentation": ("test_docs", "documentation"),
    "core": ("",),
}  # fmt: skip


def cpu_seconds(who=resource.RUSAGE_CHILDREN):
    """User and system time of this process' children, or of itself."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def add(name, seconds):
    """Notes that tests of this name (a crate, or a file) took so many CPU seconds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{os.getpid()}.jsonl", "a") as file:
        file.write(json.dumps([name, seconds]) + "\n")


def run(command):
    """Runs a test binary of the crate whose folder is the current one."""
    code = subprocess.call(command)
    add(Path.cwd().name, cpu_seconds())
    return code


def step(name, command):
    """Runs a step of `make check` and notes how long it took."""
    begun = time.monotonic()
    # The step that prints the table is not at its end then, and is listed from its beginning.
    code = subprocess.call(command, env=os.environ | {"CHECK_STEP": f"{name} {time.time():.0f}"})
    STEPS.parent.mkdir(exist_ok=True)
    with open(STEPS, "a") as file:
        file.write(json.dumps([name, time.monotonic() - begun, cpu_seconds()]) + "\n")
    return code


def print_steps():
    """Where the minutes of `make check` went: of the one that runs, or of the last one."""
    if not STEPS.exists():
        return
    rows = [json.loads(line) for line in STEPS.read_text().splitlines()]
    if "CHECK_STEP" in os.environ:
        name, begun = os.environ["CHECK_STEP"].rsplit(" ", 1)
        rows.append([name, time.time() - int(begun), cpu_seconds() + cpu_seconds(resource.RUSAGE_SELF)])
    print(f"\n{'step of make check':24} {'minutes':>8} {'CPU min':>8}")
    for name, wall, cpu in [*rows, ["sum", sum(row[1] for row in rows), sum(row[2] for row in rows)]]:
        print(f"{name:24} {wall / 60:8.1f} {cpu / 60:8.1f}")


def budgets():
    """CPU seconds of each subsystem, as docs/contributing/tests.md has them."""
    text = (ROOT / "docs/contributing/tests.md").read_text()
    return {name: int(seconds) for name, seconds in re.findall(r"^\| (\w[\w ]*) \| (\d+) \|", text, re.M)}


def table():
    """Prints what each subsystem took in the last `make test`, which clears the times when it begins."""
    if "CHECK_STEP" in os.environ:
        print_steps()
    taken = dict.fromkeys(ROWS, 0.0)
    for path in FOLDER.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            name, seconds = json.loads(line)
            taken[next(row for row, begins in ROWS.items() if name.startswith(begins))] += seconds
    allowed = budgets()
    print(f"\n{'subsystem':14} {'CPU s':>8} {'budget':>8}")
    for row in sorted(taken):
        budget = allowed.get(row, 0)
        print(f"{row:14} {taken[row]:8.0f} {budget:8} {'OVER BUDGET' if taken[row] > budget else ''}".rstrip())
    print(f"{'sum':14} {sum(taken.values()):8.0f} {sum(allowed.values()):8}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        sys.exit(run(sys.argv[2:]))
    elif sys.argv[1:2] == ["step"]:
        sys.exit(step(sys.argv[2], sys.argv[3:]))
    elif sys.argv[1:] == ["steps"]:
        print_steps()
    elif sys.argv[1:] == ["table"]:
        table()
    else:
        sys.exit(__doc__)
