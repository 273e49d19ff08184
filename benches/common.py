"""Timing and tables that the benchmarks share."""

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def per_call_us(call, synchronize, calls=2000, rounds=7):
    """Median over `rounds` of the host time of one `call()`, in microseconds.

    `calls` calls run between two synchronisations, so the device keeps up in the background.
    """
    times = []
    for _ in range(rounds):
        synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        elapsed = time.perf_counter() - start
        synchronize()
        times.append(elapsed / calls * 1e6)
    return statistics.median(times)


def interleaved_us(loops, synchronize, calls=200, rounds=41, summary=statistics.median):
    """Host time of one call for each of `loops` in microseconds, the median of the rounds.

    A loop takes a number of calls, makes them and returns the seconds they took, or is a text that
    says why it cannot. All loops take turns, so that a change of the processor's or the driver's
    pace meets them alike, and the calls of one turn fit into a GPU's launch queue: with more of
    them the host would wait for the device.
    """
    times = {name: [] for name, loop in loops.items() if callable(loop)}
    for _ in range(rounds):
        for name in times:
            synchronize()
            times[name].append(loops[name](calls) / calls * 1e6)
    synchronize()
    return [(name, summary(times[name]) if name in times else loops[name], "us") for name in loops]


def python_loop(call):
    """A loop for `interleaved_us` over a Python callable."""

    def loop(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start

    return loop


def median_ms(action, rounds=5):
    """Median wall time of `action(round_number)` in milliseconds."""
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        action(number)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def in_new_process(script, rounds=5, env=None):
    """Median of the number that `script` prints last, run in a fresh interpreter each time."""
    figures = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
        if done.returncode != 0:
            return f"failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
        figures.append(float(done.stdout.split()[-1]))
    return statistics.median(figures)


def build_c(source, *flags):
    """Compiles C source to a shared library and returns its path, or None without a compiler."""
    folder = Path(tempfile.mkdtemp(prefix="rtcg-bench-"))
    (folder / "bench.c").write_text(source)
    library = folder / "bench.so"
    command = ["cc", "-O3", "-shared", "-fPIC", *flags, "-o", str(library), str(folder / "bench.c"), "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library


#: The kernel whose launches are timed.
LAUNCHED_SOURCE = (
    "__global__ void add(float *z, const float *x, int n) { int i = threadIdx.x; if (i < n) z[i] += x[i]; }"
)

LAUNCH_LOOP = """
#include <time.h>
typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
double launch_loop(launch_t launch, void *func, void **params, int n) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < n; i++) launch(func, 1, 1, 1, 32, 1, 1, 0, 0, params, 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n / 1e3;
}
/* The same with packed arguments, as PyCUDA and rtcg hand them over. */
double packed_loop(launch_t launch, void *func, void *packed, unsigned long size, int n) {
    void *extra[] = {(void *)1, packed, (void *)2, &size, (void *)0};
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < n; i++) launch(func, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n / 1e3;
}
typedef int (*two_t)(void *, void *);
double two_loop(two_t call, void *first, void *second, int n) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < n; i++) call(first, second);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n / 1e3;
}
"""


def c_loops():
    """Loops in C over functions of the driver, which return microseconds per call."""
    library = ctypes.CDLL(str(build_c(LAUNCH_LOOP)))
    for loop in (library.launch_loop, library.packed_loop, library.two_loop):
        loop.restype = ctypes.c_double
    return library


#: Small calls by name: the statement, which speaks of `small_objects`.
SMALL_CALLS = {
    "event.record": "record()",
    "event.record, stream": "record(stream)",
    "event.query": "query()",
    "stream.is_done": "is_done()",
    "Device": "Device(0)",
    "Context.get_current": "get_current()",
    "Context.get_device": "get_device()",
    "device.warp_size": "device.warp_size",
    "device.compute_capability": "compute_capability()",
    "function.num_regs": "function.num_regs",
    "stream.handle": "stream.handle",
}


def small_objects(function):
    """What `SMALL_CALLS` speak of, in the current context."""
    import pycuda.driver as drv

    event, stream, device = drv.Event(), drv.Stream(), drv.Device(0)
    return {
        "function": function, "event": event, "stream": stream, "device": device, "Device": drv.Device,
        "record": event.record, "query": event.query, "is_done": stream.is_done,
        "get_current": drv.Context.get_current, "get_device": drv.Context.get_device,
        "compute_capability": device.compute_capability,
    }  # fmt: skip


def attempt(label, measure):
    """The figure of a peer, or why there is none: a missing peer is shown, never skipped."""
    try:
        return measure()
    except Exception as error:  # a peer may fail in any way; the table says how
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        # Compilers' first line tells the command; what went wrong stands where "error" does.
        line = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
        return f"{type(error).__name__}: {line}"[:160]


def show(title, rows):
    """Prints a table of (name, figure, unit)."""
    print(f"\n{title}")
    width = max(len(name) for name, _, _ in rows)
    for name, figure, unit in rows:
        text = f"{figure:10.3f} {unit}" if isinstance(figure, (int, float)) else f"    {figure}"
        print(f"  {name:<{width}}  {text}")
