"""Programs of data-parallel Python beside CUDA by hand and other libraries (as far as they are installed), in one run.

``python benches/copperhead.py [program ...]`` measures each program of ``examples/copperhead`` and the CUDA beside it
(``examples/copperhead/cuda``) in turns, on arrays of the device: the wall time of a call between two waits, over calls that
fill the queue, median of the rounds. Results are compared with each other. The ratio is the time by hand over ours: more
is better. First calls are those of new processes, with empty caches and with what the first process has left on disk. The
last table says what a call costs on the host.

On the virtual GPU sizes are small by default (``--scale small``); its times say little about a GPU.
"""

import argparse
import csv
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import attempt, per_call_us
from copperhead_cases import CASES, axpy_program, f32, launch, put, randoms

import rtcg.numpy as xp
from rtcg import driver
from rtcg.copperhead import places, to_numpy

# -- measuring --------------------------------------------------------------------------------


def turn_ms(call, wait, calls):
    """Milliseconds of one of `calls` calls, with one wait."""
    wait()
    begun = time.perf_counter()
    for _ in range(calls):
        call()
    wait()
    return (time.perf_counter() - begun) / calls * 1e3


def in_turns(loops, rounds, round_ms):
    """`{name: milliseconds}` of calls, each with its wait: medians of rounds in which all take turns."""
    calls = {}
    for name, (call, wait) in loops.items():
        call()
        once = min(turn_ms(call, wait, 1), turn_ms(call, wait, 1))
        calls[name] = max(1, min(200, int(round_ms / once)))
    times = {name: [] for name in loops}
    for _ in range(rounds):
        for name, (call, wait) in loops.items():
            times[name].append(turn_ms(call, wait, calls[name]))
    return {name: statistics.median(found) for name, found in times.items()}


def leaves(value):
    """The arrays of a result, on the host."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    for fetch in ("get", "copy_to_host", "cpu", "numpy"):
        if hasattr(value, fetch):
            return [np.asarray(getattr(value, fetch)())]
    return [np.asarray(to_numpy(value))]


def difference(found, expected, case):
    """How results differ beyond the tolerance of a case: an empty text where they agree."""
    for at, (found, expected) in enumerate(zip(leaves(found), leaves(expected), strict=False)):  # noqa: B020
        if found.size != expected.size or found.dtype != expected.dtype:
            return f"result {at}: {found.dtype}{found.shape} and by hand {expected.dtype}{expected.shape}"
        found, expected = found.ravel(), expected.ravel()
        error = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        scale = np.abs(expected.astype(np.float64)).max(initial=0.0)
        # Equal infinite values differ by NaN.
        beyond = (found != expected) & ~(error <= case.tolerance * scale)
        if beyond.sum() > case.exceptions * found.size:
            return f"result {at}: {beyond.sum()} of {found.size} differ by up to {error.max() / max(scale, 1e-300):.1e}"
    return ""


def disagreement(case):
    """How ours and the result by hand differ."""
    ours, hand = case.ours(), case.shown(case.hand())
    if len(leaves(ours)) != len(leaves(hand)):
        return f"{len(leaves(ours))} results and by hand {len(leaves(hand))}"
    return difference(ours, hand, case)


def peer_or_reason(name, make, case, expected):
    """The call and the wait of a peer, or why there is no figure: it is missing, fails, or computes something else."""
    found = attempt(name, make)
    if isinstance(found, str):
        return found

    def check():
        call, wait = found
        result = call()
        wait()
        return difference(result, expected, case) if "alone" not in name else ""

    return attempt(name, check) or found


def measure(name, scale, rounds, round_ms, with_peers):
    """One row of the table, as a dictionary."""
    make, goal = CASES[name]
    case = make(scale)
    row = {"program": name, "size": case.size, "goal": goal, "disagreement": disagreement(case)}
    wait = driver.Context.synchronize
    loops, reasons = {"ours": (case.ours, wait), "hand": (case.hand, wait)}, {}
    expected = case.shown(case.hand()) if with_peers else None
    for peer, make_peer in case.peers.items() if with_peers else ():
        found = peer_or_reason(peer, make_peer, case, expected)
        (reasons if isinstance(found, str) else loops)[peer] = found
    times = in_turns(loops, rounds, round_ms)
    row |= {"ours_ms": times.pop("ours"), "hand_ms": times.pop("hand")}
    row |= {"ratio": row["hand_ms"] / row["ours_ms"], "hand_gb_per_s": case.nbytes / row["hand_ms"] / 1e6}
    return row | {"peers": times | reasons}


# -- first calls ------------------------------------------------------------------------------


def first_call(name, scale):
    """Prints the milliseconds of the first call of this process, whose arguments are on the device already."""
    call = CASES[name][0](scale).ours
    driver.Context.synchronize()
    begun = time.perf_counter()
    call()
    driver.Context.synchronize()
    print((time.perf_counter() - begun) * 1e3)


def first_calls(name):
    """`(empty, warm)`: milliseconds of the first call of a process, with empty caches and with those of the one before.

    Sizes are small, so that what is computed takes no time.
    """
    command = [sys.executable, __file__, name, "--first-call", "--scale", "small"]
    with tempfile.TemporaryDirectory(prefix="rtcg-bench-cache-") as cache:
        env = {**os.environ, "PYCUDA_CACHE_DIR": cache}
        times = []
        for _ in range(2):
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
            if done.returncode:
                lines = done.stderr.strip().splitlines()
                return (lines[-1] if lines else f"ends with {done.returncode}",) * 2
            times.append(float(done.stdout.split()[-1]))
    return tuple(times)


# -- calls ------------------------------------------------------------------------------------


def call_rows():
    """(name, microseconds) of the host for calls of few elements."""
    a, x, y = f32(2), *put(*randoms(2, 32))
    z, n, wait = xp.empty_like(x), np.int32(32), driver.Context.synchronize
    kernel = launch.get_kernel("axpy", "axpy")
    size = {"block": (256, 1, 1), "grid": (1, 1)}
    calls = {
        "axpy, ours": lambda: axpy_program.axpy(a, x, y),
        "axpy by hand: allocation and launch": lambda: launch.axpy(a, x, y),
        "its launch alone": lambda: kernel(a, x, y, z, n, **size),
    }
    return [(name, per_call_us(call, wait, calls=200, rounds=9)) for name, call in calls.items()]


# -- output -----------------------------------------------------------------------------------


def show(rows):
    print(
        f"\n{'program':16}{'size':26}{'ours ms':>10}{'hand ms':>10}{'hand/ours':>11}{'goal':>6}{'hand GB/s':>11}"
        f"{'first ms':>10}{'warm ms':>9}  results"
    )
    number = lambda value, width, digits: (  # noqa: E731
        f"{value:{width}.{digits}f}" if isinstance(value, float) and math.isfinite(value) else f"{'-':>{width}}"
    )
    for row in rows:
        if "error" in row:
            print(f"{row['program']:16}{row['error']}")
            continue
        empty, warm = row.get("first_calls", (math.nan, math.nan))
        print(
            f"{row['program']:16}{row['size']:26}{row['ours_ms']:10.3f}{row['hand_ms']:10.3f}{row['ratio']:11.2f}"
            f"{row['goal']:6.2f}{number(row['hand_gb_per_s'], 11, 0)}{number(empty, 10, 0)}{number(warm, 9, 1)}"
            f"  {row['disagreement'] or 'agree'}"
        )
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        print(f"{'median':62}{statistics.median(ratios):11.2f}\n{'least':62}{min(ratios):11.2f}")
    peers = [(row["program"], peer, found, row) for row in rows for peer, found in row.get("peers", {}).items()]
    if peers:
        print(f"\n{'program':16}{'peer':22}{'ms':>10}{'peer/ours':>11}")
    for program, peer, found, row in peers:
        if isinstance(found, float):
            print(f"{program:16}{peer:22}{found:10.3f}{found / row['ours_ms']:11.2f}")
        else:
            print(f"{program:16}{peer:22}  {found}")


def write(path, rows, calls):
    """The table as JSON or CSV, by the name of the file."""
    if path.suffix == ".json":
        path.write_text(
            json.dumps({"device": driver.Device(0).name(), "programs": rows, "calls_us": dict(calls)}, indent=1)
        )
        return
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(
            {key: json.dumps(value) if isinstance(value, (dict, tuple)) else value for key, value in row.items()}
            for row in rows
        )


def main(arguments=None):
    is_virtual = places.gpu0.device.is_virtual
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--scale", choices=("full", "small"), default="small" if is_virtual else "full")
    parser.add_argument("--rounds", type=int, default=3 if is_virtual else 9)
    parser.add_argument("--no-first-calls", action="store_true", help="start no other processes")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--output", type=Path, help="also write the tables to this file, .json or .csv")
    parser.add_argument("--first-call", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.programs if name not in CASES]
    if unknown:
        parser.error(f"no program is named {unknown[0]!r}; expected some of {', '.join(map(repr, CASES))}")
    if chosen.output and chosen.output.suffix not in (".json", ".csv"):
        parser.error(f"--output is {chosen.output}; expected a name that ends in .json or .csv")
    names = chosen.programs or list(CASES)
    with places.gpu0, places.gpu0.scope():
        if chosen.first_call:
            first_call(names[0], chosen.scale)
            return 0
        print(f"{places.gpu0.device.name()}, sizes: {chosen.scale}", flush=True)
        rows = []
        for name in names:
            run = functools.partial(
                measure, name, chosen.scale, chosen.rounds, 10 if is_virtual else 50, not chosen.no_peers
            )
            row = attempt(name, run)
            rows.append({"program": name, "error": row} if isinstance(row, str) else row)
            if not chosen.no_first_calls and not isinstance(row, str):
                row["first_calls"] = first_calls(name)
            print(f"{name} measured", file=sys.stderr, flush=True)
        calls = call_rows()
        show(rows)
        print("\nhost us a call, 32 float32")
        for name, figure in calls:
            print(f"  {name:40}{figure:8.2f}")
        print(f"  {'ours over the launch alone':40}{calls[0][1] - calls[-1][1]:8.2f}")
        if chosen.output:
            write(chosen.output, rows, calls)
    return int(any(row.get("disagreement") or "error" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
