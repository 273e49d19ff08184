"""Code that relies on the lock step of a warp without ``__syncwarp``, as kernels of PyCUDA's first decade do.

Since Volta, CUDA asks for ``__syncwarp`` here, but converged warps still
execute these kernels in step, and old programs depend on it.
"""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("warp_synchronous")

_TAIL = "".join(f"        s[t] = s[t] {{op}} s[t + {k}];\n" for k in (32, 16, 8, 4, 2, 1))


def _reduction(name: str, ctype: str, dtype: type, values: np.ndarray, block: int, op: str = "+") -> None:
    """The tail that PyCUDA's reduction kernels had: the last warp goes on alone over volatile shared memory."""
    steps = "".join(f"    if ({n} >= {2 * k}) {{ if (t < {k}) s[t] += s[t + {k}]; __syncthreads(); }}\n"
                    for n, k in ((block, 512), (block, 256), (block, 128), (block, 64)))
    source = f"""
__global__ void k(const {ctype} *a, {ctype} *out) {{
    __shared__ volatile {ctype} s[{max(block, 64)} + 32];
    unsigned int t = threadIdx.x;
    s[t] = a[blockIdx.x * {block} + t];
    __syncthreads();
{steps}    if (t < 32) {{
{_TAIL.replace("{op}", op)}    }}
    if (t == 0) out[blockIdx.x] = s[0];
}}"""
    blocks = len(values) // block
    SUITE.add(name, source, Launch(["a", "out"], (blocks,), (block,)), buffers={"a": values, "out": poisoned(blocks, dtype)},
              expect=lambda b: {"out": b["a"].reshape(blocks, block).sum(1, dtype=dtype)})


_reduction("volatile_tail_int_64", "int", np.int32, random_ints(np.int32, 64 * 7, 71), 64)
_reduction("volatile_tail_int_256", "int", np.int32, random_ints(np.int32, 256 * 5, 72), 256)
_reduction("volatile_tail_int_1024", "int", np.int32, random_ints(np.int32, 1024 * 3, 73), 1024)
_reduction("volatile_tail_float_128", "float", np.float32, rng(74).integers(-1000, 1000, 128 * 4).astype(np.float32), 128)
_reduction("volatile_tail_double_512", "double", np.float64, rng(75).integers(-10**6, 10**6, 512 * 2).astype(np.float64), 512)
_reduction("volatile_tail_longlong_64", "long long", np.int64, random_ints(np.int64, 64 * 3, 76), 64)

SUITE.add("volatile_warp_scan", """
__global__ void k(const int *a, int *out) {
    __shared__ volatile int s[32 + 16 + 32];
    int t = threadIdx.x;
    s[t] = 0;
    volatile int *p = s + 32;
    p[t] = a[blockIdx.x * 32 + t];
    p[t] += p[t - 1];
    p[t] += p[t - 2];
    p[t] += p[t - 4];
    p[t] += p[t - 8];
    p[t] += p[t - 16];
    out[blockIdx.x * 32 + t] = p[t];
}""", Launch(["a", "out"], (9,), (32,)), buffers={"a": random_ints(np.int32, 288, 77), "out": poisoned(288, np.int32)},
          expect=lambda b: {"out": np.cumsum(b["a"].reshape(9, 32), 1, dtype=np.int32).ravel()})
SUITE.add("volatile_neighbour_exchange", """
__global__ void k(const int *a, int *out) {
    __shared__ volatile int s[128];
    int t = threadIdx.x, lane = t & 31, w = t & ~31;
    int x = a[blockIdx.x * blockDim.x + t];
    for (int round = 1; round < 32; round <<= 1) {
        s[t] = x;
        x += 3 * s[w + (lane ^ round)];
    }
    out[blockIdx.x * blockDim.x + t] = x;
}""", Launch(["a", "out"], (3,), (128,)), buffers={"a": random_ints(np.int32, 384, 78), "out": poisoned(384, np.int32)},
          expect=lambda b: {"out": _butterfly(b["a"])})


def _butterfly(a: np.ndarray) -> np.ndarray:
    x = a.reshape(-1, 32).copy()
    for distance in (1, 2, 4, 8, 16):
        x = x + np.int32(3) * x[:, np.arange(32) ^ distance]
    return x.ravel()


SUITE.add("volatile_odd_even_sort", """
__global__ void k(const int *a, int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[2 * t] = a[blockIdx.x * 64 + 2 * t];
    s[2 * t + 1] = a[blockIdx.x * 64 + 2 * t + 1];
    for (int round = 0; round < 64; ++round) {
        int i = 2 * t + (round & 1);
        if (i < 63) {
            int x = s[i], y = s[i + 1];
            s[i] = min(x, y);
            s[i + 1] = max(x, y);
        }
    }
    out[blockIdx.x * 64 + 2 * t] = s[2 * t];
    out[blockIdx.x * 64 + 2 * t + 1] = s[2 * t + 1];
}""", Launch(["a", "out"], (4,), (32,)), buffers={"a": random_ints(np.int32, 256, 79), "out": poisoned(256, np.int32)},
          expect=lambda b: {"out": np.sort(b["a"].reshape(4, 64), 1).ravel()})
SUITE.add("volatile_tail_of_a_two_dimensional_block", """
__global__ void k(const float *a, float *out) {
    __shared__ volatile float s[256 + 32];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1]; }
    if (t == 0) out[blockIdx.x] = s[0];
}""", Launch(["a", "out"], (3,), (16, 16)), buffers={"a": rng(80).integers(-99, 99, 768).astype(np.float32), "out": poisoned(3, np.float32)},
          expect=lambda b: {"out": b["a"].reshape(3, 256).sum(1)})
SUITE.add("volatile_flag_set_by_one_lane", """
__global__ void k(int *out) {
    __shared__ volatile int flag[4];
    int w = threadIdx.x / 32, lane = threadIdx.x & 31;
    flag[w] = -1;
    if (lane == 5 + w) flag[w] = threadIdx.x * 10;
    out[threadIdx.x] = flag[w];
}""", Launch(["out"], (1,), (128,)), buffers={"out": poisoned(128, np.int32)},
          expect=lambda _: {"out": np.array([(t // 32 * 33 + 5) * 10 for t in range(128)], np.int32)})
