"""Arrays on a real GPU beside CuPy and PyTorch (as far as they are installed), in one run.

Host times are for many calls between two waits, medians of several rounds; bandwidths are of device events over the
bytes that an operation must move. Run it with ``python benches/arrays.py``.
"""

import statistics
import time

import numpy as np
import pycuda.autoprimaryctx  # which the peers use too
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from common import per_call_us

ROUNDS = 7


def peers():
    """(name, module-like maker, wait) of each library that is there."""
    found = [("rtcg", gpuarray.to_gpu, pycuda.autoprimaryctx.context.synchronize)]
    try:
        import cupy

        found.append(("cupy", cupy.asarray, cupy.cuda.Device().synchronize))
    except ImportError:
        pass
    try:
        import torch

        found.append(("torch", lambda a: torch.as_tensor(a).cuda(), torch.cuda.synchronize))
    except ImportError:
        pass
    return found


def device_ms(call, wait):
    """Milliseconds of one call on the device, by the clock over many calls that fill the queue."""
    call()
    rounds = []
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        for _ in range(20):
            call()
        wait()
        rounds.append((time.perf_counter() - start) / 20 * 1e3)
    return statistics.median(rounds)


SMALL = {
    "a + b, 1024": lambda a, b: a + b,
    "a * 2.0, 1024": lambda a, b: a * 2.0,
    "sum(a), 1024": lambda a, b: a.sum(),
    "a > b, 1024": lambda a, b: a > b,
    "a[::2]": lambda a, b: a[::2],
}
# The operation and the times that its operands cross the memory.
LARGE = {
    "a + b": (lambda a, b: a + b, 3),
    "a + b[::-1]": (lambda a, b: a + b.flip(0) if hasattr(b, "flip") and not hasattr(b, "gpudata") else a + b[::-1], 3),
    "a.T + b.T": (lambda a, b: a.T + b.T, 3),
    "a + b.T": (lambda a, b: a + b.T, 3),
    "a + b[0]": (lambda a, b: a + b[0], 2),
    "a[:, ::2] * 2": (lambda a, b: a[:, ::2] * 2, 1.5),
    "sum(a)": (lambda a, b: a.sum(), 1),
    "sum(a, 0)": (lambda a, b: a.sum(0), 1),
    "sum(a, 1)": (lambda a, b: a.sum(1), 1),
    "a == b": (lambda a, b: a == b, 2.25),
}


def main():
    """Prints both tables."""
    print(f"{cuda.Device(0).name()}, host microseconds a call")
    for name, call in SMALL.items():
        row = []
        for library, make, wait in peers():
            a, b = make(np.ones(1024, np.float32)), make(np.ones(1024, np.float32))
            row.append(f"{library} {per_call_us(lambda: call(a, b), wait):7.2f}")  # noqa: B023 (called at once)
        print(f"{name:20}", "  ".join(row))
    for dtype in (np.float32, np.float16, np.complex64):
        print(f"\n8192 x 8192 {np.dtype(dtype)}, TB/s")
        for name, (call, passes) in LARGE.items():
            row = []
            for library, make, wait in peers():
                a, b = make(np.ones((8192, 8192), dtype)), make(np.ones((8192, 8192), dtype))
                nbytes = 8192 * 8192 * np.dtype(dtype).itemsize * passes
                try:
                    row.append(f"{library} {nbytes / device_ms(lambda: call(a, b), wait) / 1e9:6.2f}")  # noqa: B023
                except (TypeError, ValueError, RuntimeError) as error:
                    row.append(f"{library} {type(error).__name__}")
            print(f"{name:20}", "  ".join(row))


if __name__ == "__main__":
    main()
