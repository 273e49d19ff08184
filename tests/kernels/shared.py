"""Shared memory, static and dynamic, and the block's barriers."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("shared")

SUITE.add("reverse_a_block", """
__global__ void k(const int *a, int *out) {
    __shared__ int s[257];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = a[blockIdx.x * n + t];
    __syncthreads();
    out[blockIdx.x * n + t] = s[n - 1 - t];
}""", Launch(["a", "out"], (3,), (257,)), buffers={"a": random_ints(np.int32, 771, 181), "out": poisoned(771, np.int32)},
          expect=lambda b: {"out": b["a"].reshape(3, 257)[:, ::-1].ravel()})
for _block in (1, 33, 64, 128, 1000, 1024):
    SUITE.add(f"tree_sum_of_{_block}", """
__global__ void k(const float *a, float *out) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int n = blockDim.x; n > 1;) {
        int half = (n + 1) / 2;
        if (t < n / 2) s[t] += s[t + half];
        n = half;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}""", Launch(["a", "out"], (5,), (_block,), shared=4 * _block), buffers={"a": rng(182).integers(-1000, 1000, 5 * _block).astype(np.float32), "out": poisoned(5, np.float32)},
              expect=lambda b: {"out": b["a"].reshape(5, -1).sum(1)})
SUITE.add("barrier_in_a_loop_of_uniform_length", """
__global__ void k(int rounds, int *a) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 128 + t];
    for (int r = 0; r < rounds; ++r) {
        __syncthreads();
        int v = s[(t + r) % 128];
        __syncthreads();
        s[t] = v * 3 + r;
    }
    a[blockIdx.x * 128 + t] = s[t];
}""", Launch([np.int32(9), "a"], (2,), (128,)), buffers={"a": random_ints(np.int32, 256, 183)}, expect=lambda b: {"a": _rounds(b["a"], 9)})


def _rounds(a: np.ndarray, rounds: int) -> np.ndarray:
    s = a.reshape(2, 128)
    for r in range(rounds):
        s = np.roll(s, -r, 1) * np.int32(3) + np.int32(r)
    return s.ravel()


SUITE.add("barrier_after_early_exit_of_whole_warps", """
__global__ void k(int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t * 7;
    __syncthreads();
    if (t >= 128) return;
    int v = s[255 - t];
    __syncthreads();
    s[t] = v;
    __syncthreads();
    out[t] = s[127 - t];
}""", Launch(["out"], (2,), (256,)), buffers={"out": poisoned(128, np.int32)}, expect=lambda _: {"out": ((128 + np.arange(128)) * 7).astype(np.int32)})
SUITE.add("barrier_at_different_places_of_a_uniform_branch", """
__global__ void k(const int *mode, int *out) {
    __shared__ int s[96];
    int t = threadIdx.x, m = mode[blockIdx.x];
    s[t] = t + m;
    if (m == 0) { __syncthreads(); out[blockIdx.x * 96 + t] = s[95 - t]; }
    else if (m == 1) { __syncthreads(); int v = s[(t + 1) % 96]; __syncthreads(); s[t] = v * 2; __syncthreads(); out[blockIdx.x * 96 + t] = s[(t + 1) % 96]; }
    else { for (int i = 0; i < m; ++i) { __syncthreads(); int v = s[(t + 5) % 96]; __syncthreads(); s[t] = v; } out[blockIdx.x * 96 + t] = s[t]; }
}""", Launch(["mode", "out"], (4,), (96,)), buffers={"mode": np.array([0, 1, 2, 3], np.int32), "out": poisoned(384, np.int32)},
          expect=lambda _: {"out": _modes()})


def _modes() -> np.ndarray:
    t = np.arange(96)
    return np.concatenate([95 - t, (np.roll(t, -2) + 1) * 2, np.roll(t, -10) + 2, np.roll(t, -15) + 3]).astype(np.int32)


SUITE.add("syncthreads_count_and_or", """
__global__ void k(const int *a, int *out) {
    int t = threadIdx.x, v = a[blockIdx.x * blockDim.x + t];
    int c = __syncthreads_count(v > 0), all = __syncthreads_and(v > -90), any = __syncthreads_or(v > 95);
    int *o = out + 3 * (blockIdx.x * blockDim.x + t);
    o[0] = c; o[1] = all != 0; o[2] = any != 0;
}""", Launch(["a", "out"], (6,), (100,)), buffers={"a": rng(184).integers(-92, 98, 600).astype(np.int32), "out": poisoned((600, 3), np.int32)},
          expect=lambda b: {"out": np.repeat(np.stack([(r := b["a"].reshape(6, 100)) .__gt__(0).sum(1), (r > -90).all(1), (r > 95).any(1)], 1), 100, 0).astype(np.int32)})
SUITE.add("two_dimensional_tile_with_padding", """
__global__ void k(const int *a, int *out) {
    __shared__ int tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = a[(blockIdx.y * 16 + y) * 48 + blockIdx.x * 16 + x];
    __syncthreads();
    out[(blockIdx.x * 16 + y) * 32 + blockIdx.y * 16 + x] = tile[x][y];
}""", Launch(["a", "out"], (3, 2), (16, 16)), buffers={"a": random_ints(np.int32, 32 * 48, 185).reshape(32, 48), "out": poisoned((48, 32), np.int32)}, expect=lambda b: {"out": b["a"].T.copy()})
SUITE.add("several_shared_arrays_of_different_types", """
__global__ void k(double *out) {
    __shared__ char c[3];
    __shared__ double d[32];
    __shared__ short s[5];
    __shared__ struct { int a; float b; } r[7];
    int t = threadIdx.x;
    if (t < 3) c[t] = (char)(t - 1);
    d[t] = t * 0.5;
    if (t < 5) s[t] = (short)(t * 1000);
    if (t < 7) { r[t].a = t * t; r[t].b = t * 0.25f; }
    __syncthreads();
    out[t] = c[t % 3] + d[31 - t] + s[t % 5] + r[t % 7].a * r[(t + 1) % 7].b;
}""", Launch(["out"], (1,), (32,)), buffers={"out": poisoned(32, np.float64)},
          expect=lambda _: {"out": np.array([(t % 3 - 1) + (31 - t) * 0.5 + t % 5 * 1000 + (t % 7) ** 2 * ((t + 1) % 7) * 0.25 for t in range(32)])})
SUITE.add("dynamic_shared_memory_split_by_hand", """
__global__ void k(int n, const float *a, double *out) {
    extern __shared__ __align__(16) unsigned char raw[];
    double *d = (double *)raw;
    float *f = (float *)(raw + n * sizeof(double));
    short *h = (short *)(raw + n * (sizeof(double) + sizeof(float)));
    int t = threadIdx.x;
    f[t] = a[t]; d[t] = a[n - 1 - t] * 2.0; h[t] = (short)t;
    __syncthreads();
    int u = (t + 1) % n;
    out[t] = d[u] + f[u] + h[u];
}""", Launch([np.int32(75), "a", "out"], (1,), (75,), shared=75 * 14), buffers={"a": rng(186).integers(-9, 9, 75).astype(np.float32), "out": poisoned(75, np.float64)},
          expect=lambda b: {"out": np.roll(b["a"][::-1] * 2.0 + b["a"] + np.arange(75), -1)})
SUITE.add("dynamic_and_static_shared_memory_together", """
__global__ void k(int *out) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    int t = threadIdx.x;
    dynamic[t] = t; fixed[t] = 100 * t;
    __syncthreads();
    out[blockIdx.x * 64 + t] = dynamic[63 - t] + fixed[(t + 1) & 63] + (dynamic == fixed);
}""", Launch(["out"], (2,), (64,), shared=256), buffers={"out": poisoned(128, np.int32)}, expect=lambda _: {"out": np.tile(63 - np.arange(64) + np.roll(np.arange(64) * 100, -1), 2).astype(np.int32)})
SUITE.add("dynamic_shared_memory_of_48_kib", """
__global__ void k(int *out) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x) s[i] = i * 3;
    __syncthreads();
    int v = 0;
    for (int i = threadIdx.x; i < 12288; i += blockDim.x) v += s[12287 - i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}""", Launch(["out"], (3,), (256,), shared=49152), buffers={"out": poisoned(768, np.int32)},
          expect=lambda _: {"out": np.tile(((12287 - np.arange(12288)) * 3).reshape(48, 256).sum(0), 3).astype(np.int32)})
SUITE.add("dynamic_shared_memory_of_96_kib_by_attribute", """
__global__ void k(int *out) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < 24576; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) { int v = 0; for (int i = 0; i < 24576; i += 64) v += s[24575 - i]; out[blockIdx.x] = v; }
}""", Launch(["out"], (2,), (512,), shared=98304), buffers={"out": poisoned(2, np.int32)},
          expect=lambda _: {"out": np.full(2, (24575 - np.arange(0, 24576, 64)).sum(), np.int32)})
SUITE.add("blocks_do_not_share", """
__global__ void k(int *out) {
    __shared__ int s[32];
    s[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    for (int i = 0; i < 50; ++i) { __syncthreads(); s[(threadIdx.x * 5 + i) & 31] += 1; }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}""", Launch(["out"], (100,), (32,)), buffers={"out": poisoned(3200, np.int32)}, expect=lambda _: {"out": (np.arange(100)[:, None] * 1000 + np.arange(32) + 50).ravel().astype(np.int32)})
SUITE.add("named_barriers_pair_warps", """
__global__ void k(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, pair = t / 64, id = pair + 1;
    s[t] = t * 11;
    asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory");
    int v = s[pair * 64 + (t + 32) % 64];
    asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory");
    if (pair) s[t] = v + 1;
    asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory");
    out[t] = s[pair * 64 + 63 - t % 64];
}""", Launch(["out"], (1,), (128,)), buffers={"out": poisoned(128, np.int32)},
          expect=lambda _: {"out": np.array([(63 - t) * 11 if t < 64 else (64 + (127 - t + 32) % 64) * 11 + 1 for t in range(128)], np.int32)})
SUITE.add("producer_and_consumer_warps_by_arrive", """
__global__ void k(const int *a, int *out) {
    __shared__ int s[32];
    int lane = threadIdx.x & 31;
    for (int i = 0; i < 8; ++i) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            s[lane] = a[i * 32 + lane] * 2;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[i * 32 + lane] = s[31 - lane];
        }
    }
}""", Launch(["a", "out"], (1,), (64,)), buffers={"a": random_ints(np.int32, 256, 187), "out": poisoned(256, np.int32)},
          expect=lambda b: {"out": (b["a"].reshape(8, 32)[:, ::-1] * np.int32(2)).ravel()})
SUITE.add("barrier_reached_by_warps_in_different_branches", """
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) { s[t] = t + 1; __syncthreads(); out[t] = s[t + 32]; }
    else { s[t] = t * 2; __syncthreads(); out[t] = s[t - 32]; }
}""", Launch(["out"], (1,), (64,)), buffers={"out": poisoned(64, np.int32)}, expect=lambda _: {"out": np.concatenate([np.arange(32, 64) * 2, np.arange(1, 33)]).astype(np.int32)})
SUITE.add("shared_histogram_with_private_rows", """
__global__ void k(int n, const unsigned char *a, int *out) {
    __shared__ unsigned short rows[64][17];
    int t = threadIdx.x;
    for (int b = 0; b < 17; ++b) rows[t][b] = 0;
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) ++rows[t][a[i] % 17];
    __syncthreads();
    if (t < 17) { int s = 0; for (int r = 0; r < 64; ++r) s += rows[r][t]; out[blockIdx.x * 17 + t] = s; }
}""", Launch([np.int32(5000), "a", "out"], (2,), (64,)), buffers={"a": random_ints(np.uint8, 5000, 188), "out": poisoned((2, 17), np.int32)},
          expect=lambda b: {"out": np.stack([np.bincount(b["a"][(np.arange(5000) // 64) % 2 == g] % 17, minlength=17) for g in range(2)]).astype(np.int32)})
SUITE.add("cp_async_to_shared", """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4 *a, float *out) {
    __shared__ float4 s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &a[blockIdx.x * 64 + threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float4 v = s[63 - threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = v.x + 2 * v.y + 4 * v.z + 8 * v.w;
}""", Launch(["a", "out"], (2,), (64,)), buffers={"a": rng(189).integers(-9, 9, (128, 4)).astype(np.float32), "out": poisoned(128, np.float32)},
          expect=lambda b: {"out": (b["a"].reshape(2, 64, 4)[:, ::-1] @ np.array([1, 2, 4, 8], np.float32)).ravel()}, no_extern_c=True)
