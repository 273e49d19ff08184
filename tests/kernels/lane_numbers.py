"""Numbers of lanes and warps made of thread numbers, as ``lane = tid & 31`` and ``warp = tid / 32``.

Each kernel runs in blocks of many shapes: rows that are multiples of a warp,
rows that are parts of one, and rows that are neither. The oracles divide the
threads' numbers as Python does.
"""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Buffers, Launch, Suite, poisoned
from tests.kernels.inputs import random_ints

SUITE = Suite("lane_numbers")

SHAPES = (
    (1,),
    (17,),
    (31,),
    (32,),
    (33,),
    (48,),
    (64,),
    (96,),
    (8, 4),
    (16, 2),
    (16, 16),
    (48, 2),
    (32, 3),
    (64, 2, 2),
)

_IN = random_ints(np.int32, 4096, 81)
_BLOCKS = 3

#: How a kernel numbers its threads, and the same for arrays of indices.
_NUMBERS = {
    "row": ("threadIdx.x", lambda b, z, y, x, shape: x),
    "block": ("threadIdx.y * blockDim.x + threadIdx.x", lambda b, z, y, x, shape: y * shape[0] + x),
    "grid": ("blockIdx.x * blockDim.x + threadIdx.x", lambda b, z, y, x, shape: b * shape[0] + x),
    "before": ("(int)(blockIdx.x * blockDim.x + threadIdx.x) - 64", lambda b, z, y, x, shape: b * shape[0] + x - 64),
}

_OWN = """    int own = ((blockIdx.x * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
"""


def _quotient(t: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Quotient and remainder as C has them, rounded toward zero."""
    q = np.where(t < 0, -(-t // n), t // n)
    return q, t - q * n


def _add(name: str, number: str, shape: tuple[int, ...], body: str, expect: object) -> None:
    code, values = _NUMBERS[number]
    full = (*shape, 1, 1)[:3]
    b, z, y, x = np.indices((_BLOCKS, full[2], full[1], full[0]))
    t = values(b, z, y, x, full).ravel()
    n = len(t)
    source = f"__global__ void k(const int *a, int *out) {{\n{_OWN}    int t = {code};\n{body}\n}}"

    def want(buffers: Buffers) -> Buffers:
        return {"out": expect(t, buffers["a"]).astype(np.int32)}

    SUITE.add(
        f"{name}_{number}_{'x'.join(map(str, shape))}",
        source,
        Launch(["a", "out"], (_BLOCKS,), shape),
        buffers={"a": _IN, "out": poisoned(n, np.int32)},
        expect=want,
    )


def _rows(t: np.ndarray, a: np.ndarray) -> np.ndarray:
    """What ``lane = t % 32, warp = t / 32`` reads of rows of 37."""
    q, r = _quotient(t, 32)
    return a[(q + 8) * 37 + r + 31] ^ a[((t >> 5) + 8) * 64 + (t & 31)]


def _parts(t: np.ndarray, a: np.ndarray) -> np.ndarray:
    u = t.astype(np.uint32)
    return (a[(u & 15) + 5] ^ a[u % 8 + (u >> 3) % 16 * 8] ^ a[(u & 3) * 7] ^ a[u >> 4 & 63]) + (u % 64).astype(
        np.int32
    )


def _ways(t: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Each warp goes its own way; the loop of the others begins at the lane's number."""
    out = []
    for n in t.tolist():
        warp, lane = n >> 5, n & 31
        if warp == 0:
            out.append(a[lane] * np.int64(3))
        elif warp == 1:
            out.append(a[lane + 100] - np.int64(lane))
        else:
            out.append(a[lane:200:32].astype(np.int64).sum() + warp)
    return np.array(out).astype(np.uint64).astype(np.uint32)


for _shape in SHAPES:
    _add(
        "rows",
        "row",
        _shape,
        """    int lane = t % 32, warp = t / 32;
    out[own] = a[(warp + 8) * 37 + lane + 31] ^ a[((t >> 5) + 8) * 64 + (t & 31)];""",
        _rows,
    )
    for _number in ("block", "before"):
        _add(
            "rows",
            _number,
            _shape,
            """    int lane = t % 32, warp = t / 32;
    out[own] = a[(warp + 8) * 37 + lane + 31] ^ a[((t >> 5) + 8) * 64 + (t & 31)];""",
            _rows,
        )
    _add(
        "parts",
        "block",
        _shape,
        """    unsigned u = t;
    out[own] = (a[(u & 15) + 5] ^ a[u % 8 + (u >> 3) % 16 * 8] ^ a[(u & 3) * 7] ^ a[u >> 4 & 63]) + (int)(u % 64);""",
        _parts,
    )
    _add(
        "ways",
        "grid",
        _shape,
        """    int warp = t >> 5, lane = t & 31;
    unsigned s = 0;
    if (warp == 0) s = a[lane] * 3u;
    else if (warp == 1) s = a[lane + 100] - lane;
    else { for (int i = lane; i < 200; i += 32) s += a[i]; s += warp; }
    out[own] = s;""",
        _ways,
    )

SUITE.add(
    "sums_of_rows",
    """
__global__ void k(const int *a, int *out) {
    __shared__ int part[8];
    int t = threadIdx.y * blockDim.x + threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x * blockDim.y >> 5, s = 0;
    for (int i = (blockIdx.x * warps + warp) * 32 + lane; i < 4096; i += gridDim.x * warps * 32) s += a[i] >> 12;
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) part[warp] = s;
    __syncthreads();
    if (warp == 0) {
        s = lane < warps ? part[lane] : 0;
        for (int d = 4; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
        if (lane == 0) atomicAdd(out, s);
    }
}""",
    [Launch(["a", "out"], (3,), shape) for shape in ((256,), (32, 4), (16, 16), (8, 8), (48, 2))],
    buffers={"a": _IN, "out": np.zeros(1, np.int32)},
    expect=lambda b: {"out": np.array([5 * (b["a"] >> 12).sum()], np.int32)},
)
SUITE.add(
    "tile_turned",
    """
__global__ void k(const int *a, int *out) {
    __shared__ int tile[32][33];
    int t = threadIdx.y * blockDim.x + threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x * blockDim.y / 32;
    for (int j = warp; j < 32; j += warps) tile[j][lane] = a[(blockIdx.y * 32 + j) * 64 + blockIdx.x * 32 + lane];
    __syncthreads();
    for (int j = warp; j < 32; j += warps) out[(blockIdx.x * 32 + j) * 64 + blockIdx.y * 32 + lane] = tile[lane][j];
}""",
    [Launch(["a", "out"], (2, 2), shape) for shape in ((128,), (32, 8), (16, 8), (48, 2), (8, 4))],
    buffers={"a": _IN, "out": poisoned(4096, np.int32)},
    expect=lambda b: {"out": b["a"].reshape(64, 64).T.copy().ravel()},
)
