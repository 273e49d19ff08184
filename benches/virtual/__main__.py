"""The virtual GPU beside PoCL, gcc and NumPy on the same cores, in one run.

Run it with `make bench`, which gives a table for 1, 2, ... threads. Every way computes the same
rows from the same input, must agree with NumPy, and is timed in turn; the figure is its best round.
A peer that is missing or fails is shown with its reason. `benches/requirements.txt` tells how to get
a PoCL that knows the processor.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("PYCUDA_CACHE_DIR", tempfile.mkdtemp(prefix="rtcg-bench-cache-"))
os.environ.setdefault("RTCG_VIRTUAL_DEVICES", "1")
# The table is about compiling, so machine code is not taken from what was kept.
os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
# Steady speed: a row is over before code of the first tier would be replaced (benches/first_calls.py has first calls).
os.environ.setdefault("RTCG_JIT_TIER", "optimized")

import numpy as np  # noqa: E402

from virtual import latencies  # noqa: E402
from virtual.backends import BACKENDS  # noqa: E402
from virtual.rows import rows  # noqa: E402

ROUNDS = 9


def seconds(action):
    """Wall time of one call; short actions are repeated."""
    start = time.perf_counter()
    action()
    once = time.perf_counter() - start
    repeats = max(1, min(50, int(2e-3 / max(once, 1e-7))))
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - start) / repeats


def measure_row(row, backends):
    """Rates of all backends, or why there is none."""
    expected = np.copy(row.numpy())
    actions, cells = {}, {}
    for name, way in backends.items():
        try:
            if isinstance(way, str):
                raise LookupError(way)
            action, fetch = way.prepare(row)
            action()
            if fetch is not None:
                np.testing.assert_allclose(row.finish(fetch()), expected, rtol=row.rtol)
            actions[name] = action, fetch  # The buffers live as long as both.
        except Exception as error:  # a peer may fail in any way; the table says how
            cells[name] = (str(error).strip().splitlines() or [type(error).__name__])[0][:100]
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(ROUNDS):
        for name, (action, _) in actions.items():
            best[name] = min(best[name], seconds(action))
    return cells | {name: row.work / s / 1e9 for name, s in best.items()}


def make_backends():
    """The backends by name; a missing one is the reason as a string."""
    backends = {}
    for way in BACKENDS:
        try:
            backends[way.name] = way()
        except Exception as error:
            backends[way.name] = f"{type(error).__name__}: {error}"[:100]
    return backends


def measure_in_child(threads, words):
    """`measure_row` of each chosen row, in a new process that may use so many threads."""
    limits = ("RTCG_WORKERS", "POCL_MAX_PTHREAD_COUNT", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    env = os.environ | dict.fromkeys(limits, str(threads))
    # Threads of a peer that spin after their work would take the processors of the next way.
    env |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "OPENBLAS_THREAD_TIMEOUT": "4"}
    command = [sys.executable, str(Path(__file__).resolve().parent), "--child", *words]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as child:
        yield from map(json.loads, child.stdout)
    if child.returncode != 0:
        sys.exit(f"the measurement ended with status {child.returncode}")


def cell(value):
    """A rate to three digits, or the reason why there is none."""
    return f"{value:10.3f}" if isinstance(value, float) else f"{value[:10]:>10}"


def print_table(threads, words):
    """Ours, the peers, and ours over each peer; a line as soon as it is known."""
    names = [way.name for way in BACKENDS]
    print(f"\n{threads} thread{'s' if threads > 1 else ''}")
    ratios = " ".join(f"{'/' + name:>7}" for name in names[1:])
    print(f"{'kernel':<34} {'unit':<6} " + " ".join(f"{name:>10}" for name in names) + "  " + ratios)
    reasons = {}
    for title, unit, line in measure_in_child(threads, words):
        reasons |= {value: name for name, value in line.items() if isinstance(value, str) and len(value) > 10}
        ours = line[names[0]]
        rated = [line[n] for n in names[1:]]
        ratio = [f"{ours / r:7.2f}" if isinstance(ours, float) and isinstance(r, float) else f"{'-':>7}" for r in rated]
        print(f"{title:<34} {unit:<6} " + " ".join(cell(line[n]) for n in names) + "  " + " ".join(ratio))
    for reason, name in reasons.items():
        print(f"{name}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--threads", help="numbers of threads, separated by commas")
    parser.add_argument("--no-latencies", action="store_true", help="measure the kernels only")
    parser.add_argument("rows", nargs="*", help="words of the rows to measure; all when none is given")
    options = parser.parse_args()
    if options.child:
        backends = make_backends()
        for row in rows():
            if not options.rows or any(word in row.title for word in options.rows):
                print(json.dumps([row.title, row.unit, measure_row(row, backends)]), flush=True)
        return
    if not options.no_latencies:
        latencies.show_all()
    cores = len(os.sched_getaffinity(0))
    powers = [n for n in (1, 2, 4, 8, 16, 32, 64) if n < cores] + [cores]
    for threads in [int(t) for t in options.threads.split(",")] if options.threads else powers:
        print_table(threads, options.rows)


if __name__ == "__main__":
    main()
