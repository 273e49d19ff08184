"""Several streams: copies and kernels of different streams may overlap, those of one stream stay in order."""

import sys
import time

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void iterate(float *x, int n, int rounds, float a, float b)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        for (int r = 0; r < rounds; ++r)
            v = __fadd_rn(__fmul_rn(v, a), b);
        x[i] = v;
    }
}
"""

STREAMS = 4
N = 1 << 18
ROUNDS = 40
A, B = np.float32(0.75), np.float32(0.125)


def iterated(x):
    """What the kernel computes, by NumPy."""
    for _ in range(ROUNDS):
        x = x * A + B
    return x


def run(kernel, host, streams):
    """Copy in, iterate and copy out each array on its stream; milliseconds per stream and in all."""
    device = [cuda.mem_alloc(h.nbytes) for h in host]
    marks = [(cuda.Event(), cuda.Event()) for _ in host]
    began = time.perf_counter()
    for h, d, stream, (start, end) in zip(host, device, streams, marks, strict=True):
        start.record(stream)
        cuda.memcpy_htod_async(d, h, stream)
        kernel.prepared_async_call((64, 1), (256, 1, 1), stream, d, N, ROUNDS, A, B)
        cuda.memcpy_dtoh_async(h, d, stream)
        end.record(stream)
    enqueued_ms = 1e3 * (time.perf_counter() - began)
    for stream in streams:
        stream.synchronize()
    total_ms = 1e3 * (time.perf_counter() - began)
    return [start.time_till(end) for start, end in marks], enqueued_ms, total_ms


def wait_across_streams(kernel, h):
    """One stream's kernel waits for another stream's copy through an event."""
    copying, computing = cuda.Stream(), cuda.Stream()
    d = cuda.mem_alloc(h.nbytes)
    copied = cuda.Event()
    cuda.memcpy_htod_async(d, h, copying)
    copied.record(copying)
    computing.wait_for_event(copied)
    kernel.prepared_async_call((64, 1), (256, 1, 1), computing, d, N, ROUNDS, A, B)
    out = np.empty_like(h)
    computing.synchronize()
    cuda.memcpy_dtoh(out, d)
    return out


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    kernel = SourceModule(SOURCE).get_function("iterate").prepare("Piiff")
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(N).astype(np.float32) for _ in range(STREAMS)]
    expected = [iterated(x) for x in inputs]

    failed = False
    for label, streams in (
        ("one stream", [cuda.Stream()] * STREAMS),
        (f"{STREAMS} streams", [cuda.Stream() for _ in range(STREAMS)]),
    ):
        # Asynchronous copies need page-locked memory.
        host = [cuda.pagelocked_empty(N, np.float32) for _ in inputs]
        for h, x in zip(host, inputs, strict=True):
            h[:] = x
        times_ms, enqueued_ms, total_ms = run(kernel, host, streams)
        right = all(np.array_equal(h, e) for h, e in zip(host, expected, strict=True))
        failed |= not right
        each = " ".join(f"{t:.2f}" for t in times_ms)
        print(
            f"{label:>10}: {'equal to NumPy' if right else 'WRONG'}, enqueued in {enqueued_ms:.2f} ms, "
            f"done after {total_ms:.2f} ms; each [ms]: {each}"
        )

    right = np.array_equal(wait_across_streams(kernel, inputs[0]), expected[0])
    failed |= not right
    print(f"wait for another stream's event: {'equal to NumPy' if right else 'WRONG'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
