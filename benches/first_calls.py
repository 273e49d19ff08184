"""What first calls cost on the virtual GPU: with empty caches, in a second process, and again in the same process.

Each figure is the median of new processes. The shares of NVRTC and of the JIT are from a trace of one more process.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# What is computed, with the arrays that it needs.
CALLS = {
    "2 * a + a, 1000": ("a = array(1000)", "(2 * a + a).get()"),
    "sum, 100 k": ("a = array(100_000)", "a.sum().get()"),
    "a @ a, 256": ("a = array((256, 256))", "(a @ a).get()"),
    "sort, 100 k": ("a = array(100_000)", "xp.sort(a).get()"),
    "fft, 1000": ("a = array(1000)", "fft.fft(a).get()"),
    "fft, 1024": ("a = array(1024)", "fft.fft(a).get()"),
    "solve, 100": ("a = array((100, 100), np.float64); b = a[0].copy()", "linalg.solve(a, b).get()"),
    "eigh, 100": ("a = array((100, 100), np.float64); a = a + a.T", "linalg.eigh(a)[0].get()"),
    "svd, 50": ("a = array((50, 50), np.float64)", "linalg.svd(a)[1].get()"),
}

PROGRAM = """
import sys, time
import numpy as np
import rtcg.autoinit
import rtcg.numpy as xp
from rtcg import driver, fft, linalg

def array(shape, dtype=np.float32):
    return xp.asarray(np.random.default_rng(1).random(shape).astype(dtype))

{setup}
driver.Context.synchronize()
for _ in range(2):
    begun = time.perf_counter()
    {call}
    print((time.perf_counter() - begun) * 1e3)
if len(sys.argv) > 1:
    # Until its kernels are optimised.
    ends = time.perf_counter() + 3
    while time.perf_counter() < ends:
        begun = time.perf_counter()
        {call}
        last = (time.perf_counter() - begun) * 1e3
    print(last)
"""

# A kernel as users write them: 300 lines that each depend on the one before.
LINES = "".join(f"    x = x * 1.5f + a[(i + {k}) % n]; if (x > {k}.f) x -= sqrtf(x);\n" for k in range(300))
SOURCE_MODULE = (
    """
import time
import numpy as np
import rtcg.autoinit
import rtcg.numpy as xp
from rtcg.compiler import SourceModule
a, out = xp.ones(1024, np.float32), xp.zeros(1024, np.float32)
begun = time.perf_counter()
f = SourceModule('''
__global__ void f(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
"""
    + LINES
    + """    out[i] = x;
}''').get_function("f")
compiled = time.perf_counter()
f(a, out, np.int32(1024), block=(128, 1, 1), grid=(8, 1))
out.get()
print((compiled - begun) * 1e3, (time.perf_counter() - compiled) * 1e3)
"""
)


def run(program, cache, *arguments, **environment):
    env = {**os.environ, "RTCG_VIRTUAL_DEVICES": "1", "PYCUDA_CACHE_DIR": cache, **environment}
    command = [sys.executable, "-c", program, *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
    return [float(word) for word in output.split()]


def shares(program):
    """Milliseconds that NVRTC and the JIT took in the threads that waited for them."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        run(program, folder + "/cache", RTCG_TRACE=str(trace))
        spans = [event for event in json.loads(trace.read_text()) if event.get("ph") == "X"]
    compiled = [span for span in spans if span["name"].startswith("compile ")]
    nvrtc = sum(span["dur"] for span in compiled if span["cat"] == "compiler")
    jit = sum(span["dur"] for span in compiled if span["cat"] == "jit" and "optimized" not in span["name"])
    return nvrtc / 1e3, jit / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=5, help="processes per figure")
    processes = parser.parse_args().processes
    print(f"{'ms':18}{'empty cache':>12}{'NVRTC':>9}{'JIT':>9}{'2nd process':>13}{'again':>9}{'later':>9}", flush=True)
    for name, (setup, call) in CALLS.items():
        program = PROGRAM.format(setup=setup, call=call)
        rows = []
        for _ in range(processes):
            with tempfile.TemporaryDirectory() as cache:
                cold, again = run(program, cache)
                later = run(program, cache, "later")[-1]
                warm = run(program, cache)[0]
            rows.append((cold, warm, again, later))
        cold, warm, again, later = map(statistics.median, zip(*rows, strict=True))
        nvrtc, jit = shares(program)
        print(f"{name:18}{cold:12.1f}{nvrtc:9.1f}{jit:9.1f}{warm:13.1f}{again:9.2f}{later:9.2f}", flush=True)
    launches = []
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as cache:
            launches.append(run(SOURCE_MODULE, cache))
    compiled, launched = map(statistics.median, zip(*launches, strict=True))
    print(f"SourceModule of 300 lines: {compiled:.1f} ms, its first launch: {launched:.1f} ms")


if __name__ == "__main__":
    main()
