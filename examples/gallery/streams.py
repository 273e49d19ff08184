"""What two streams do at a time

Each stream copies in, computes and copies out; the two go on without waiting for each other. A trace notes when each
kernel ran and each copy was called. The picture is drawn from it.
"""

import json
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.driver as cuda
from rtcg import tracing
from rtcg.compiler import SourceModule

N, PIECES = 1 << 17, 8

SOURCE = """
__global__ void iterate(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    for (int k = 0; k < 200; ++k) x = 0.5f * x + 1;
    a[i] = x;
}
"""


def work(iterate, pieces, streams):
    """Copy, compute and copy back all pieces, in turn on each stream."""
    memory = [cuda.mem_alloc(pieces[0].nbytes) for _ in streams]
    for k, piece in enumerate(pieces):
        stream, device = streams[k % len(streams)], memory[k % len(streams)]
        cuda.memcpy_htod_async(device, piece, stream)
        iterate(device, N, block=(256, 1, 1), grid=(N // 256, 1), stream=stream)
        cuda.memcpy_dtoh_async(piece, device, stream)
    for stream in streams:
        stream.synchronize()


def main(picture):
    """Trace the work, check the results and draw the spans of the kernels and the calls."""
    iterate = SourceModule(SOURCE).get_function("iterate")
    pieces = [cuda.pagelocked_empty(N, np.float32) for _ in range(PIECES)]
    for piece in pieces:
        piece[:] = np.arange(N) % 1000
    work(iterate, pieces[:2], [cuda.Stream()])  # the first launch loads the kernel
    with tempfile.TemporaryDirectory() as folder:
        with tracing.trace(Path(folder, "trace.json")):
            work(iterate, pieces, [cuda.Stream(), cuda.Stream()])
        events = json.loads(Path(folder, "trace.json").read_text())
    # The fixed point of x / 2 + 1.
    assert all(np.allclose(piece, 2) for piece in pieces)
    spans = [event for event in events if event.get("ph") == "X"]
    kernels = [span for span in spans if span["name"] == "iterate"]
    assert len(kernels) == PIECES and len({span["tid"] for span in kernels}) == 2
    copies = [span for span in spans if "Memcpy" in span["name"]]
    assert len(copies) == 2 * PIECES
    start = min(span["ts"] for span in spans)
    figure, axes = plt.subplots(figsize=(8, 2.4))
    rows = {tid: row for row, tid in enumerate(sorted({span["tid"] for span in kernels}))}
    for span in kernels:
        axes.barh(rows[span["tid"]], span["dur"], left=span["ts"] - start, height=0.6, edgecolor="black")
    axes.plot([span["ts"] - start for span in copies], [2] * len(copies), "k|", ms=14)
    axes.set_yticks(range(3), ["stream 1", "stream 2", "calls of copies"])
    axes.set(xlabel="us")
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "streams.png")
