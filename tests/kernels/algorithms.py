"""Whole algorithms, each against a plain computation on the host."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Within
from tests.kernels.elementwise import u32
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("algorithms")

# Matrices.
_TILED = """
#define T %(tile)d
__global__ void k(int n, const %(type)s *a, const %(type)s *b, %(type)s *c) {
    __shared__ %(type)s as[T][T], bs[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    %(type)s s = 0;
    for (int m = 0; m < (n + T - 1) / T; ++m) {
        int ka = m * T + threadIdx.x, kb = m * T + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = y < n && ka < n ? a[y * n + ka] : 0;
        bs[threadIdx.y][threadIdx.x] = kb < n && x < n ? b[kb * n + x] : 0;
        __syncthreads();
        for (int i = 0; i < T; ++i) s += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (y < n && x < n) c[y * n + x] = s;
}"""
for _type, _dtype, _n, _tile in (("float", np.float32, 64, 16), ("float", np.float32, 77, 16), ("double", np.float64, 96, 32), ("int", np.int32, 40, 8)):
    SUITE.add(f"tiled_matrix_product_{_type}_{_n}", _TILED % {"tile": _tile, "type": _type}, Launch([np.int32(_n), "a", "b", "c"], (-(-_n // _tile),) * 2, (_tile, _tile)),
              buffers={"a": rng(231).integers(-30, 30, (_n, _n)).astype(_dtype), "b": rng(232).integers(-30, 30, (_n, _n)).astype(_dtype), "c": poisoned((_n, _n), _dtype)},
              expect=lambda b: {"c": (b["a"].astype(np.int64) @ b["b"].astype(np.int64)).astype(b["a"].dtype)})
SUITE.add("naive_matrix_product_with_register_tile", """
__global__ void k(int n, const float *a, const float *b, float *c) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) { float v = a[y * n + i]; for (int j = 0; j < 4; ++j) s[j] += v * b[i * n + x + j]; }
    for (int j = 0; j < 4; ++j) c[y * n + x + j] = s[j];
}""", Launch([np.int32(64), "a", "b", "c"], (2, 8), (8, 8)),
          buffers={"a": rng(233).integers(-9, 9, (64, 64)).astype(np.float32), "b": rng(234).integers(-9, 9, (64, 64)).astype(np.float32), "c": poisoned((64, 64), np.float32)},
          expect=lambda b: {"c": b["a"] @ b["b"]})
SUITE.add("transpose_naive_of_a_rectangle", """
__global__ void k(float *out, const float *in, int w, int h) {
    unsigned int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < w && y < h) out[y + h * x] = in[x + w * y];
}""", Launch(["out", "in", np.int32(71), np.int32(45)], (5, 3), (16, 16)), buffers={"in": rng(235).normal(size=(45, 71)).astype(np.float32), "out": poisoned((71, 45), np.float32)},
          expect=lambda b: {"out": b["in"].T.copy()})
SUITE.add("transpose_through_shared_memory_8_rows", """
__global__ void k(double *out, const double *in, int w, int h) {
    __shared__ double tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}""", Launch(["out", "in", np.int32(100), np.int32(70)], (4, 3), (32, 8)), buffers={"in": rng(236).normal(size=(70, 100)), "out": poisoned((100, 70), np.float64)}, expect=lambda b: {"out": b["in"].T.copy()})
SUITE.add("sparse_matrix_vector_csr", """
__global__ void k(int rows, const int *start, const int *column, const double *value, const double *x, double *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double s = 0;
    for (int i = start[r]; i < start[r + 1]; ++i) s += value[i] * x[column[i]];
    y[r] = s;
}""", Launch([np.int32(300), "start", "column", "value", "x", "y"], (5,), (64,)),
          buffers={"start": np.concatenate([[0], np.cumsum(np.arange(300) % 13)]).astype(np.int32), "column": rng(237).integers(0, 200, 2000).astype(np.int32),
                   "value": rng(238).integers(-9, 9, 2000).astype(np.float64), "x": rng(239).integers(-9, 9, 200).astype(np.float64), "y": poisoned(300, np.float64)},
          expect=lambda b: {"y": np.array([(b["value"][s:e] * b["x"][b["column"][s:e]]).sum() for s, e in zip(b["start"], b["start"][1:])])})
SUITE.add("sparse_matrix_vector_warp_per_row", """
__global__ void k(int rows, const int *start, const int *column, const float *value, const float *x, float *y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    float s = 0;
    for (int i = start[r] + lane; i < start[r + 1]; i += 32) s += value[i] * x[column[i]];
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) y[r] = s;
}""", Launch([np.int32(50), "start", "column", "value", "x", "y"], (13,), (128,)),
          buffers={"start": np.concatenate([[0], np.cumsum(np.arange(50) * 2 % 77)]).astype(np.int32), "column": rng(240).integers(0, 200, 2000).astype(np.int32),
                   "value": rng(241).integers(-9, 9, 2000).astype(np.float32), "x": rng(242).integers(-9, 9, 200).astype(np.float32), "y": poisoned(50, np.float32)},
          expect=lambda b: {"y": np.array([(b["value"][s:e] * b["x"][b["column"][s:e]]).sum() for s, e in zip(b["start"], b["start"][1:])], np.float32)})
SUITE.add("gaussian_elimination_in_shared_memory", """
__global__ void k(const double *a, double *x) {
    __shared__ double m[16][18];
    int j = threadIdx.x, i = threadIdx.y;
    m[i][j] = a[(blockIdx.x * 16 + i) * 17 + j];
    __syncthreads();
    for (int p = 0; p < 16; ++p) {
        double f = m[i][p] / m[p][p], v = m[p][j];
        __syncthreads();
        if (i != p) m[i][j] -= f * v;
        __syncthreads();
    }
    if (j == 16) x[blockIdx.x * 16 + i] = m[i][16] / m[i][i];
}""", Launch(["a", "x"], (5,), (17, 16)), buffers={"a": rng(243).normal(size=(5, 16, 17)) + 10 * np.eye(16, 17), "x": poisoned((5, 16), np.float64)},
          expect=lambda b: {"x": np.linalg.solve(b["a"][:, :, :16], b["a"][:, :, 16:])[:, :, 0]}, compare=Within("a well conditioned system of 16 unknowns", rtol=1e-11, atol=1e-12))

# Scans, sorts, histograms.
SUITE.add("blelloch_exclusive_scan", """
__global__ void k(const int *a, int *out) {
    __shared__ int s[512];
    int t = threadIdx.x, n = 512, offset = 1;
    const int *in = a + blockIdx.x * 512;
    s[2 * t] = in[2 * t]; s[2 * t + 1] = in[2 * t + 1];
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) { int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1; s[j] += s[i]; }
        offset *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) { int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1, v = s[i]; s[i] = s[j]; s[j] += v; }
    }
    __syncthreads();
    out[blockIdx.x * 512 + 2 * t] = s[2 * t]; out[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
}""", Launch(["a", "out"], (3,), (256,)), buffers={"a": random_ints(np.int32, 1536, 244), "out": poisoned(1536, np.int32)},
          expect=lambda b: {"out": (np.cumsum(b["a"].reshape(3, 512), 1, dtype=np.int32) - b["a"].reshape(3, 512)).ravel()})
SUITE.add("hillis_steele_scan_double_buffered", """
__global__ void k(const float *a, float *out) {
    extern __shared__ float s[];
    int t = threadIdx.x, n = blockDim.x, now = 0;
    s[t] = a[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        s[(1 - now) * n + t] = t >= d ? s[now * n + t] + s[now * n + t - d] : s[now * n + t];
        now = 1 - now;
        __syncthreads();
    }
    out[t] = s[now * n + t];
}""", Launch(["a", "out"], (1,), (777,), shared=2 * 777 * 4), buffers={"a": rng(245).integers(-99, 99, 777).astype(np.float32), "out": poisoned(777, np.float32)}, expect=lambda b: {"out": np.cumsum(b["a"])})
SUITE.add("device_wide_scan_in_three_kernels", """
__global__ void local(int n, const int *a, int *out, int *sums) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); }
    if (i < n) out[i] = s[t];
    if (t == 127) sums[blockIdx.x] = s[127];
}
__global__ void top(int n, int *sums) { if (threadIdx.x == 0) { int r = 0; for (int i = 0; i < n; ++i) { int v = sums[i]; sums[i] = r; r += v; } } }
__global__ void finish(int n, int *out, const int *sums) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) out[i] += sums[blockIdx.x]; }""",
          (Launch([np.int32(3000), "a", "out", "sums"], (24,), (128,), "local"), Launch([np.int32(24), "sums"], (1,), (32,), "top"), Launch([np.int32(3000), "out", "sums"], (24,), (128,), "finish")),
          buffers={"a": random_ints(np.int32, 3000, 246), "out": poisoned(3000, np.int32), "sums": poisoned(24, np.int32)}, expect=lambda b: {"out": np.cumsum(b["a"], dtype=np.int32)})
SUITE.add("decoupled_look_back_scan", """
__device__ unsigned int ticket = 0;
__device__ volatile unsigned int state[32];
__device__ volatile int aggregate[32], inclusive[32];
__global__ void k(const int *a, int *out) {
    __shared__ int s[64];
    __shared__ unsigned int tile;
    __shared__ int before;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(&ticket, 1u);
    __syncthreads();
    s[t] = a[tile * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); }
    if (t == 0) {
        int total = s[63], sum = 0;
        aggregate[tile] = total; __threadfence(); state[tile] = 1;
        for (int p = (int)tile - 1; p >= 0; --p) {
            unsigned int f;
            while ((f = state[p]) == 0) ;
            __threadfence();
            if (f == 2) { sum += inclusive[p]; break; }
            sum += aggregate[p];
        }
        inclusive[tile] = sum + total; __threadfence(); state[tile] = 2;
        before = sum;
    }
    __syncthreads();
    out[tile * 64 + t] = before + s[t];
}""", Launch(["a", "out"], (32,), (64,)), spins=True, buffers={"a": random_ints(np.int32, 2048, 247), "out": poisoned(2048, np.int32)}, expect=lambda b: {"out": np.cumsum(b["a"], dtype=np.int32)})
SUITE.add("bitonic_sort_in_shared_memory", """
__global__ void k(unsigned int *a) {
    __shared__ unsigned int s[1024];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int k = 2; k <= 1024; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int p = t ^ j;
            if (p > t) { unsigned int x = s[t], y = s[p]; if ((x > y) == ((t & k) == 0)) { s[t] = y; s[p] = x; } }
            __syncthreads();
        }
    a[blockIdx.x * 1024 + t] = s[t];
}""", Launch(["a"], (2,), (1024,)), buffers={"a": random_ints(np.uint32, 2048, 248)}, expect=lambda b: {"a": np.sort(b["a"].reshape(2, 1024), 1).ravel()})
SUITE.add("bitonic_sort_in_global_memory", """
__global__ void k(float *a, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, p = i ^ j;
    if (p > i) { float x = a[i], y = a[p]; if ((x > y) == ((i & k) == 0)) { a[i] = y; a[p] = x; } }
}""", tuple(Launch(["a", np.int32(j), np.int32(k)], (8,), (64,)) for k in (2 << s for s in range(9)) for j in (k >> r for r in range(1, k.bit_length()))),
          buffers={"a": rng(249).normal(size=512).astype(np.float32)}, expect=lambda b: {"a": np.sort(b["a"])})
SUITE.add("radix_sort_one_block_all_passes", """
__global__ void k(unsigned int *a, unsigned int *b) {
    __shared__ int zeros[256];
    int t = threadIdx.x;
    for (int bit = 0; bit < 32; ++bit) {
        unsigned int v = a[t];
        int z = !((v >> bit) & 1);
        zeros[t] = z;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) { int u = t >= d ? zeros[t - d] : 0; __syncthreads(); zeros[t] += u; __syncthreads(); }
        int total = zeros[255], rank = zeros[t] - z;
        b[z ? rank : total + t - rank] = v;
        __syncthreads();
        unsigned int *swap = a; a = b; b = swap;
    }
}""", Launch(["a", "b"], (1,), (256,)), buffers={"a": random_ints(np.uint32, 256, 250), "b": poisoned(256, np.uint32)}, expect=lambda b: {"a": np.sort(b["a"])})
SUITE.add("radix_digit_ranks_by_match", """
__global__ void k(const unsigned int *a, int *out) {
    __shared__ int count[16];
    int t = threadIdx.x;
    if (t < 16) count[t] = 0;
    __syncwarp();
    for (int i = t; i < 256; i += 32) {
        int digit = a[i] & 15;
        unsigned int peers = __match_any_sync(0xffffffffu, digit);
        int before = __popc(peers & ((1u << t) - 1)), leader = __ffs(peers) - 1, base = 0;
        if (t == leader) { base = count[digit]; count[digit] = base + __popc(peers); }
        base = __shfl_sync(0xffffffffu, base, leader);
        out[i] = base + before;
        __syncwarp();
    }
}""", Launch(["a", "out"], (1,), (32,)), buffers={"a": random_ints(np.uint32, 256, 251), "out": poisoned(256, np.int32)},
          expect=lambda b: {"out": np.array([(b["a"][:i] & 15 == v & 15).sum() for i, v in enumerate(b["a"])], np.int32)})
SUITE.add("merge_by_binary_search", """
__global__ void k(int n, int m, const int *a, const int *b, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n + m) return;
    int v = i < n ? a[i] : b[i - n];
    const int *other = i < n ? b : a;
    int lo = 0, hi = i < n ? m : n;
    while (lo < hi) { int mid = (lo + hi) / 2; if (i < n ? other[mid] < v : other[mid] <= v) lo = mid + 1; else hi = mid; }
    out[(i < n ? i : i - n) + lo] = v;
}""", Launch([np.int32(300), np.int32(211), "a", "b", "out"], (4,), (128,)),
          buffers={"a": np.sort(random_ints(np.int32, 300, 252) % 500), "b": np.sort(random_ints(np.int32, 211, 253) % 500), "out": poisoned(511, np.int32)},
          expect=lambda b: {"out": np.sort(np.concatenate([b["a"], b["b"]]))})
SUITE.add("histogram_by_global_atomics", "__global__ void k(int n, const unsigned char *a, unsigned int *h) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(h + a[i], 1u); }",
          Launch([np.int32(10000), "a", "h"], (10,), (100,)), buffers={"a": random_ints(np.uint8, 10000, 254), "h": np.zeros(256, np.uint32)}, expect=lambda b: {"h": np.bincount(b["a"], minlength=256).astype(np.uint32)})
SUITE.add("stream_compaction", """
__global__ void k(int n, const int *a, int *out, int *count) {
    __shared__ int offsets[8], base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    bool keep = i < n && a[i] % 3 == 0;
    unsigned int m = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) offsets[w] = __popc(m);
    __syncthreads();
    if (threadIdx.x == 0) { int s = 0; for (int j = 0; j < 8; ++j) { int v = offsets[j]; offsets[j] = s; s += v; } base = atomicAdd(count, s); }
    __syncthreads();
    if (keep) out[base + offsets[w] + __popc(m & ((1u << lane) - 1))] = a[i];
}""", Launch([np.int32(250), "a", "out", "count"], (1,), (256,)), buffers={"a": np.abs(random_ints(np.int32, 250, 255) // 2), "out": np.full(250, -1, np.int32), "count": np.zeros(1, np.int32)},
          expect=lambda b: {"out": _compacted(b["a"]), "count": np.array([(b["a"] % 3 == 0).sum()], np.int32)})


def _compacted(a: np.ndarray) -> np.ndarray:
    kept = a[a % 3 == 0]
    return np.concatenate([kept, np.full(len(a) - len(kept), -1)]).astype(np.int32)


# Grids and physics.
SUITE.add("five_point_stencil_with_halo", """
__global__ void k(int w, int h, const float *a, float *out) {
    __shared__ float s[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    auto at = [=](int i, int j) { return i >= 0 && i < w && j >= 0 && j < h ? a[j * w + i] : 0.0f; };
    s[ty][tx] = at(x, y);
    if (tx == 1) s[ty][0] = at(x - 1, y);
    if (tx == 16) s[ty][17] = at(x + 1, y);
    if (ty == 1) s[0][tx] = at(x, y - 1);
    if (ty == 16) s[17][tx] = at(x, y + 1);
    __syncthreads();
    if (x < w && y < h) out[y * w + x] = 4 * s[ty][tx] - s[ty][tx - 1] - s[ty][tx + 1] - s[ty - 1][tx] - s[ty + 1][tx];
}""", Launch([np.int32(50), np.int32(37), "a", "out"], (4, 3), (16, 16)), buffers={"a": rng(256).integers(-50, 50, (37, 50)).astype(np.float32), "out": poisoned((37, 50), np.float32)},
          expect=lambda b: {"out": _laplacian(b["a"])})


def _laplacian(a: np.ndarray) -> np.ndarray:
    p = np.pad(a, 1)
    return 4 * a - p[1:-1, :-2] - p[1:-1, 2:] - p[:-2, 1:-1] - p[2:, 1:-1]


SUITE.add("jacobi_iterations_ping_pong", """
__global__ void k(int n, const double *a, double *b) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) b[y * n + x] = a[y * n + x];
    else b[y * n + x] = 0.25 * (((a[y * n + x - 1] + a[y * n + x + 1]) + a[(y - 1) * n + x]) + a[(y + 1) * n + x]);
}""", tuple(Launch([np.int32(33), *(("a", "b") if i % 2 == 0 else ("b", "a"))], (3, 5), (16, 8)) for i in range(10)), buffers={"a": rng(257).normal(size=(33, 33)), "b": poisoned((33, 33), np.float64)},
          expect=lambda b: {"a": _jacobi(b["a"], 10)})


def _jacobi(a: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        n = a.copy()
        n[1:-1, 1:-1] = 0.25 * (((a[1:-1, :-2] + a[1:-1, 2:]) + a[:-2, 1:-1]) + a[2:, 1:-1])
        a = n
    return a


SUITE.add("game_of_life", """
__global__ void k(int w, int h, const unsigned char *a, unsigned char *b) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int n = 0;
    for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) if (dx || dy) n += a[(y + dy + h) % h * w + (x + dx + w) % w];
    b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
}""", tuple(Launch([np.int32(61), np.int32(43), *(("a", "b") if i % 2 == 0 else ("b", "a"))], (4, 6), (16, 8)) for i in range(6)),
          buffers={"a": rng(258).integers(0, 2, (43, 61)).astype(np.uint8), "b": poisoned((43, 61), np.uint8)}, expect=lambda b: {"a": _life(b["a"], 6)})


def _life(a: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        n = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        a = ((n == 3) | ((n == 2) & (a == 1))).astype(np.uint8)
    return a


SUITE.add("mandelbrot", """
__global__ void k(int w, int h, int most, int *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    double cr = -2.0 + 3.0 * x / w, ci = -1.5 + 3.0 * y / h, zr = 0, zi = 0;
    int i = 0;
    while (i < most && __dadd_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)) < 4.0) {
        double t = __dadd_rn(__dadd_rn(__dmul_rn(zr, zr), -__dmul_rn(zi, zi)), cr);
        zi = __dadd_rn(__dmul_rn(2.0 * zr, zi), ci);
        zr = t;
        ++i;
    }
    out[y * w + x] = i;
}""", Launch([np.int32(70), np.int32(50), np.int32(100), "out"], (9, 7), (8, 8)), buffers={"out": poisoned((50, 70), np.int32)}, expect=lambda _: {"out": _mandelbrot(70, 50, 100)}, options=("-fmad=false",))


def _mandelbrot(w: int, h: int, most: int) -> np.ndarray:
    cr = np.tile(-2.0 + 3.0 * np.arange(w) / w, (h, 1))
    ci = np.tile((-1.5 + 3.0 * np.arange(h) / h)[:, None], (1, w))
    zr, zi, out = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    for _ in range(most):
        go = zr * zr + zi * zi < 4.0
        zr, zi = np.where(go, zr * zr - zi * zi + cr, zr), np.where(go, 2.0 * zr * zi + ci, zi)
        out += go
    return out


SUITE.add("n_body_step_through_shared_tiles", """
__global__ void k(int n, const float4 *p, float4 *out) {
    __shared__ float4 s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += 64) {
        s[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = s[j].w * r * r * r;
            ax += f * dx; ay += f * dy; az += f * dz;
        }
        __syncthreads();
    }
    out[i] = make_float4(ax, ay, az, me.w);
}""", Launch([np.int32(192), "p", "out"], (3,), (64,)), buffers={"p": np.abs(rng(259).normal(size=(192, 4))).astype(np.float32), "out": poisoned((192, 4), np.float32)},
          expect=lambda b: {"out": _forces(b["p"])}, compare=Within("192 terms of float32, with cancellation", rtol=1e-4, atol=2e-2))


def _forces(p: np.ndarray) -> np.ndarray:
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    f = q[None, :, 3] * ((d * d).sum(2) + 0.01) ** -1.5
    return np.concatenate([(f[:, :, None] * d).sum(1), q[:, 3:]], 1).astype(np.float32)


SUITE.add("convolution_with_constant_weights", """
__constant__ float weight[9];
__global__ void k(int n, const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int j = -4; j <= 4; ++j) { int p = min(max(i + j, 0), n - 1); s += weight[j + 4] * a[p]; }
    out[i] = s;
}""", Launch([np.int32(500), "a", "out"], (4,), (128,)), buffers={"a": rng(260).integers(-9, 9, 500).astype(np.float32), "out": poisoned(500, np.float32)},
          globals_in={"weight": np.arange(-3, 6, dtype=np.float32)},
          expect=lambda b: {"out": sum(np.float32(j + 1) * b["a"][np.clip(np.arange(500) + j, 0, 499)] for j in range(-4, 5)).astype(np.float32)})
SUITE.add("fft_of_64_points_in_shared_memory", """
__global__ void k(const float2 *a, float2 *out) {
    __shared__ float2 s[64];
    int t = threadIdx.x;
    int r = __brev(t) >> 26;
    s[r] = a[blockIdx.x * 64 + t];
    __syncthreads();
    for (int m = 2; m <= 64; m *= 2) {
        if (t < 32) {
            int j = t % (m / 2), lo = t / (m / 2) * m + j, hi = lo + m / 2;
            float c, d;
            sincospif(-2.0f * j / m, &d, &c);
            float2 u = s[lo], v = s[hi];
            float2 w = make_float2(v.x * c - v.y * d, v.x * d + v.y * c);
            s[lo] = make_float2(u.x + w.x, u.y + w.y);
            s[hi] = make_float2(u.x - w.x, u.y - w.y);
        }
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[t];
}""", Launch(["a", "out"], (3,), (64,)), buffers={"a": rng(261).normal(size=(3, 64, 2)).astype(np.float32), "out": poisoned((3, 64, 2), np.float32)},
          expect=lambda b: {"out": (lambda f: np.stack([f.real, f.imag], 2).astype(np.float32))(np.fft.fft(b["a"][..., 0] + 1j * b["a"][..., 1].astype(np.float64), axis=1))},
          compare=Within("six stages of float32", rtol=1e-5, atol=2e-5))
SUITE.add("edit_distance_by_wavefronts", """
__global__ void k(int n, int m, const char *a, const char *b, int *out) {
    __shared__ int d[3][65];
    int i = threadIdx.x;
    for (int s = 0; s <= n + m; ++s) {
        int j = s - i, *now = d[s % 3], *one = d[(s + 2) % 3], *two = d[(s + 1) % 3];
        if (i <= n && j >= 0 && j <= m) {
            int v;
            if (i == 0) v = j;
            else if (j == 0) v = i;
            else v = min(min(one[i], one[i - 1]) + 1, two[i - 1] + (a[i - 1] != b[j - 1]));
            now[i] = v;
            if (i == n && j == m) *out = v;
        }
        __syncthreads();
    }
}""", Launch([np.int32(60), np.int32(45), "a", "b", "out"], (1,), (64,)),
          buffers={"a": rng(262).integers(97, 101, 60).astype(np.int8), "b": rng(263).integers(97, 101, 45).astype(np.int8), "out": poisoned(1, np.int32)},
          expect=lambda b: {"out": np.array([_edit_distance(b["a"].tolist(), b["b"].tolist())], np.int32)})


def _edit_distance(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y)))
    return row[-1]


SUITE.add("breadth_first_search_by_levels", """
__device__ int changed;
__global__ void k(int n, int level, const int *start, const int *edge, int *depth) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || depth[v] != level) return;
    for (int e = start[v]; e < start[v + 1]; ++e) if (atomicCAS(&depth[edge[e]], -1, level + 1) == -1) changed = 1;
}""", tuple(Launch([np.int32(200), np.int32(level), "start", "edge", "depth"], (4,), (64,)) for level in range(12)),
          buffers={"start": (np.arange(201) * 3).astype(np.int32), "edge": rng(264).integers(0, 200, 600).astype(np.int32), "depth": np.where(np.arange(200) == 0, 0, -1).astype(np.int32)},
          expect=lambda b: {"depth": _depths(b["edge"].reshape(200, 3), 12)})


def _depths(edges: np.ndarray, levels: int) -> np.ndarray:
    depth = np.full(200, -1, np.int32)
    depth[0] = 0
    for level in range(levels):
        for v in np.flatnonzero(depth == level):
            for w in edges[v]:
                if depth[w] == -1:
                    depth[w] = level + 1
    return depth


SUITE.add("eight_queens_by_local_stack", """
__global__ void k(int n, int *out) {
    int first = blockIdx.x, second = threadIdx.x, count = 0;
    int row[12];
    row[0] = first; row[1] = second;
    if (second != first && abs(second - first) != 1) {
        int depth = 2;
        row[2] = -1;
        while (depth >= 2) {
            int c = ++row[depth];
            if (c >= n) { --depth; continue; }
            bool ok = true;
            for (int i = 0; i < depth && ok; ++i) ok = row[i] != c && abs(row[i] - c) != depth - i;
            if (!ok) continue;
            if (depth == n - 1) ++count;
            else row[++depth] = -1;
        }
    }
    atomicAdd(out, count);
}""", Launch([np.int32(8), "out"], (8,), (8,)), buffers={"out": np.zeros(1, np.int32)}, expect=lambda _: {"out": np.array([92], np.int32)})
SUITE.add("crc32_of_many_strings", """
__global__ void k(int n, const unsigned char *a, unsigned int *out) {
    __shared__ unsigned int table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) { unsigned int c = i; for (int j = 0; j < 8; ++j) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1; table[i] = c; }
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int c = 0xffffffffu;
    for (int i = 0; i < n + t % 5; ++i) c = table[(c ^ a[t * 64 + i]) & 255] ^ (c >> 8);
    out[t] = ~c;
}""", Launch([np.int32(59), "a", "out"], (2,), (48,)), buffers={"a": random_ints(np.uint8, 96 * 64, 265), "out": poisoned(96, np.uint32)}, expect=lambda b: {"out": _crcs(b["a"].reshape(96, 64))})


def _crcs(rows: np.ndarray) -> np.ndarray:
    from zlib import crc32

    return np.array([crc32(r[: 59 + t % 5].tobytes()) for t, r in enumerate(rows)], np.uint32)


SUITE.add("sha256_of_one_block_each", """
__constant__ unsigned int K[64];
__device__ unsigned int rotr(unsigned int x, int n) { return (x >> n) | (x << (32 - n)); }
__global__ void k(const unsigned char *a, unsigned int *out) {
    int t = threadIdx.x;
    unsigned int w[64], h[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u}, s[8];
    for (int i = 0; i < 16; ++i) { w[i] = 0; for (int j = 0; j < 4; ++j) { int p = 4 * i + j; unsigned int b = p < 40 ? a[40 * t + p] : p == 40 ? 0x80u : 0u; w[i] = w[i] << 8 | b; } }
    w[15] = 320;
    for (int i = 16; i < 64; ++i) {
        unsigned int x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ (x >> 3)) + w[i - 7] + (rotr(y, 17) ^ rotr(y, 19) ^ (y >> 10));
    }
    for (int i = 0; i < 8; ++i) s[i] = h[i];
    for (int i = 0; i < 64; ++i) {
        unsigned int t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
        unsigned int t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; --j) s[j] = s[j - 1];
        s[4] += t1; s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) out[8 * t + i] = h[i] + s[i];
}""", Launch(["a", "out"], (1,), (40,)), buffers={"a": random_ints(np.uint8, 1600, 266), "out": poisoned((40, 8), np.uint32)},
          globals_in={"K": np.array([u32(int(np.floor((np.longdouble(p) ** (np.longdouble(1) / 3) % 1) * 2**32))) for p in range(2, 312) if all(p % d for d in range(2, p))], np.uint32)},
          expect=lambda b: {"out": _digests(b["a"].reshape(40, 40))})


def _digests(rows: np.ndarray) -> np.ndarray:
    from hashlib import sha256

    return np.array([np.frombuffer(sha256(r.tobytes()).digest(), ">u4") for r in rows], np.uint32)


SUITE.add("black_scholes", """
__device__ float cnd(float d) { return 0.5f * erfcf(-d * 0.70710678f); }
__global__ void k(int n, const float *s, const float *x, const float *t, float *call, float *put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float r = 0.02f, v = 0.3f;
    float q = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * q), d2 = d1 - v * q, e = expf(-r * t[i]);
    call[i] = s[i] * cnd(d1) - x[i] * e * cnd(d2);
    put[i] = x[i] * e * cnd(-d2) - s[i] * cnd(-d1);
}""", Launch([np.int32(400), "s", "x", "t", "call", "put"], (4,), (100,)),
          buffers={"s": rng(267).uniform(5, 30, 400).astype(np.float32), "x": rng(268).uniform(5, 30, 400).astype(np.float32), "t": rng(269).uniform(0.25, 10, 400).astype(np.float32),
                   "call": poisoned(400, np.float32), "put": poisoned(400, np.float32)},
          expect=lambda b: _black_scholes(*(b[v].astype(np.float64) for v in "sxt")), compare=Within("float32 with cancellation of prices up to 30", atol=3e-5, rtol=1e-5))


def _black_scholes(s: np.ndarray, x: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    from math import erfc

    cnd = np.vectorize(lambda d: 0.5 * erfc(-d / 2**0.5))
    d1 = (np.log(s / x) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    d2, e = d1 - 0.3 * np.sqrt(t), np.exp(-0.02 * t)
    return {"call": (s * cnd(d1) - x * e * cnd(d2)).astype(np.float32), "put": (x * e * cnd(-d2) - s * cnd(-d1)).astype(np.float32)}


SUITE.add("prime_sieve", """
__global__ void k(int n, unsigned char *composite) {
    int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (p * p >= n) return;
    for (int d = 2; d * d <= p; ++d) if (p % d == 0) return;
    for (int m = p * p; m < n; m += p) composite[m] = 1;
}""", Launch([np.int32(5000), "composite"], (3,), (32,)), buffers={"composite": np.zeros(5000, np.uint8)},
          expect=lambda _: {"composite": np.array([n >= 2 and any(n % d == 0 for d in range(2, int(n**0.5) + 1)) for n in range(5000)], np.uint8)})
SUITE.add("tensor_core_matrix_product", """
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void k(const __half *a, const __half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.5f);
    for (int i = 0; i < 2; ++i) { wmma::load_matrix_sync(fa, a + 16 * i, 32); wmma::load_matrix_sync(fb, b + 16 * i, 32); wmma::mma_sync(fc, fa, fb, fc); }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}""", Launch(["a", "b", "c"], (1,), (32,)),
          buffers={"a": rng(270).integers(-8, 8, (16, 32)).astype(np.float16), "b": rng(271).integers(-8, 8, (16, 32)).astype(np.float16), "c": poisoned((16, 16), np.float32)},
          expect=lambda b: {"c": b["a"].astype(np.float32) @ b["b"].astype(np.float32).T + np.float32(0.5)}, no_extern_c=True)
