"""Dense linear algebra in the manner of BLAS, in three levels. Inputs are whole numbers, so sums are exact."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("blas")

# ---- vectors ----
_LEVEL1 = """
__global__ void axpy(int n, $T a, const $T *__restrict__ x, $T *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void scal_strided(int n, $T a, $T *x, int inc) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i * inc] *= a;
}
__global__ void swap(int n, $T *x, $T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { $T t = x[i]; x[i] = y[i]; y[i] = t; }
}
__global__ void waxpby(int n, $T a, const $T *x, $T b, const $T *y, $T *w) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll
    for (int j = 0; j < 2; ++j) if (i + j < n) w[i + j] = a * x[i + j] + b * y[i + j];
}
__global__ void dot(int n, const $T *x, const $T *y, $T *result) {
    __shared__ $T part[128];
    $T s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i] * y[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) result[blockIdx.x] = part[0];
}
__global__ void asum(int n, const $T *x, $T *result) {
    $T s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += x[i] < 0 ? -x[i] : x[i];
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (threadIdx.x == 0) *result = s;
}
__global__ void iamax(int n, const $T *x, int *result) {
    __shared__ $T best[256];
    __shared__ int where[256];
    int t = threadIdx.x;
    $T b = -1; int w = 0;
    for (int i = t; i < n; i += 256) { $T v = x[i] < 0 ? -x[i] : x[i]; if (v > b) { b = v; w = i; } }
    best[t] = b; where[t] = w;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d && (best[t + d] > best[t] || (best[t + d] == best[t] && where[t + d] < where[t]))) { best[t] = best[t + d]; where[t] = where[t + d]; }
        __syncthreads();
    }
    if (t == 0) *result = where[0];
}
__global__ void rot(int n, $T *x, $T *y, $T c, $T s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $T u = x[i], v = y[i];
    x[i] = c * u + s * v; y[i] = c * v - s * u;
}"""


def _level1(n, dt):
    def oracle(b):
        parts = [(b.x * b.y)[(np.arange(n) // 128) % 5 == g].sum(dtype=np.float64) for g in range(5)]
        strided = b.strided.copy()
        strided[: 3 * n : 3] *= 7
        return {"y": 3 * b.x + b.y, "strided": strided, "s1": b.s2, "s2": b.s1, "w": 2 * b.x - 5 * b.s3, "parts": parts, "total": [np.abs(b.x).sum(dtype=np.float64)],
                "at": [np.argmax(np.abs(b.x))], "r1": 3 * b.r1 + 4 * b.r2, "r2": 3 * b.r2 - 4 * b.r1}
    return oracle


for _t, _n, _block in (("float", 1000, 128), ("double", 777, 64), ("int", 1025, 256)):
    _d, _c = NUMPY[_t], NUMPY[_t]
    F.run(f"level1_{_t}", _LEVEL1, [L("axpy", cdiv(_n, _block), _block, _n, _c(3), "x", "y0"), L("scal_strided", 3, _block, _n, _c(7), "strided", 3), L("swap", cdiv(_n, _block), _block, _n, "s1", "s2"),
          L("waxpby", cdiv(_n, 2 * _block), _block, _n, _c(2), "x", _c(-5), "s3", "w"), L("dot", 5, 128, _n, "x", "y", "parts"), L("asum", 1, 32, _n, "x", "total"), L("iamax", 1, 256, _n, "x", "at"),
          L("rot", cdiv(_n, _block), _block, _n, "r1", "r2", _c(3), _c(4))],
          lambda b, f=_level1(_n, _d): {("y0" if k == "y" else k): v for k, v in f(b).items()} | {"y0": 3 * b.x + b.y0}, given={"T": _t},
          x=ints(1, _n, -50, 50, _d), y=ints(2, _n, -50, 50, _d), y0=ints(3, _n, -50, 50, _d), strided=ints(4, 3 * _n + 2, dtype=_d), s1=ints(5, _n, dtype=_d), s2=ints(6, _n, dtype=_d), s3=ints(7, _n, dtype=_d),
          w=out(_n, _d), parts=out(5, _d), total=out(1, _d), at=out(1, np.int32), r1=ints(8, _n, dtype=_d), r2=ints(9, _n, dtype=_d))

F.run("complex_vectors", """
#include <cuComplex.h>
extern "C" __global__ void caxpy(int n, cuFloatComplex a, const cuFloatComplex *x, cuFloatComplex *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = cuCaddf(cuCmulf(a, x[i]), y[i]);
}
extern "C" __global__ void zdotc(int n, const cuDoubleComplex *x, const cuDoubleComplex *y, cuDoubleComplex *r) {
    __shared__ double re[64], im[64];
    int t = threadIdx.x;
    cuDoubleComplex s = make_cuDoubleComplex(0, 0);
    for (int i = t; i < n; i += 64) s = cuCfma(cuConj(x[i]), y[i], s);
    re[t] = s.x; im[t] = s.y;
    for (int d = 32; d; d >>= 1) { __syncthreads(); if (t < d) { re[t] += re[t + d]; im[t] += im[t + d]; } }
    if (t == 0) *r = make_cuDoubleComplex(re[0], im[0]);
}
extern "C" __global__ void cgemv(int n, const float2 *a, const float2 *x, float2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 s = make_float2(0, 0);
    for (int j = 0; j < n; ++j) { float2 u = a[i * n + j], v = x[j]; s.x += u.x * v.x - u.y * v.y; s.y += u.x * v.y + u.y * v.x; }
    y[i] = s;
}""", [L("caxpy", 4, 64, 201, np.complex64(2 - 3j), "x", "y"), L("zdotc", 1, 64, 201, "u", "v", "r"), L("cgemv", 2, 32, 41, "a", "p", "q")],
      lambda b: {"y": (2 - 3j) * b.x + b.y, "r": [np.vdot(b.u, b.v)], "q": b.a @ b.p},
      x=(ints(10, 201) + 1j * ints(11, 201)).astype(np.complex64), y=(ints(12, 201) + 1j * ints(13, 201)).astype(np.complex64), u=ints(14, 201) + 1j * ints(15, 201), v=ints(16, 201) + 1j * ints(17, 201),
      r=out(1, np.complex128), a=(ints(18, (41, 41)) + 1j * ints(19, (41, 41))).astype(np.complex64), p=(ints(20, 41) + 1j * ints(21, 41)).astype(np.complex64), q=out(41, np.complex64))

# ---- matrix and vector ----
_LEVEL2 = """
__global__ void gemv_row_per_thread(int m, int n, const $T *a, const $T *x, $T *y) {
    __shared__ $T tile[$B];
    int r = blockIdx.x * $B + threadIdx.x;
    $T s = 0;
    for (int c0 = 0; c0 < n; c0 += $B) {
        tile[threadIdx.x] = c0 + threadIdx.x < n ? x[c0 + threadIdx.x] : ($T)0;
        __syncthreads();
        int stop = min($B, n - c0);
        if (r < m) for (int c = 0; c < stop; ++c) s += a[r * n + c0 + c] * tile[c];
        __syncthreads();
    }
    if (r < m) y[r] = s;
}
__global__ void gemv_warp_per_row(int m, int n, $T alpha, const $T *a, const $T *x, $T beta, $T *y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= m) return;
    $T s = 0;
    for (int c = lane; c < n; c += 32) s += a[r * n + c] * x[c];
#pragma unroll
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) y[r] = alpha * s + beta * y[r];
}
__global__ void gemv_transposed(int m, int n, const $T *a, const $T *x, $T *y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    $T s = 0;
    for (int r = 0; r < m; ++r) s += a[r * n + c] * x[r];
    y[c] = s;
}
__global__ void ger(int m, int n, $T alpha, const $T *x, const $T *y, $T *a) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < m && c < n) a[r * n + c] += alpha * x[r] * y[c];
}
__global__ void symv_lower(int n, const $T *a, const $T *x, $T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $T s = 0;
    for (int j = 0; j < n; ++j) s += (j <= i ? a[i * n + j] : a[j * n + i]) * x[j];
    y[i] = s;
}
__global__ void trsv_unit_lower(int n, const $T *a, $T *x) {
    extern __shared__ unsigned char raw[];
    $T *s = ($T *)raw;
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    for (int j = 0; j < n; ++j) {
        if (t > j && t < n) s[t] -= a[t * n + j] * s[j];
        __syncthreads();
    }
    if (t < n) x[t] = s[t];
}
__global__ void gbmv(int n, int kl, int ku, const $T *band, const $T *x, $T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $T s = 0;
    for (int j = max(0, i - kl); j <= min(n - 1, i + ku); ++j) s += band[(ku + i - j) * n + j] * x[j];
    y[i] = s;
}"""


def _banded(b, n, kl, ku):
    a = np.zeros((n, n))
    for i in range(n):
        for j in range(max(0, i - kl), min(n, i + ku + 1)):
            a[i, j] = b[ku + i - j, j]
    return a


def _solve_lower(a, x):
    x = x.astype(np.float64)
    for j in range(len(x)):
        x[j + 1:] -= a[j + 1:, j] * x[j]
    return x


for _t, _m, _n, _b in (("float", 70, 45, 32), ("double", 33, 100, 64), ("int", 129, 31, 48)):
    _d = _c = NUMPY[_t]
    F.run(f"level2_{_t}", _LEVEL2, [L("gemv_row_per_thread", cdiv(_m, _b), _b, _m, _n, "a", "x", "y1"), L("gemv_warp_per_row", cdiv(_m, 4), 128, _m, _n, _c(2), "a", "x", _c(-3), "y2"),
          L("gemv_transposed", cdiv(_n, _b), _b, _m, _n, "a", "xm", "y3"), L("ger", (cdiv(_n, 16), cdiv(_m, 8)), (16, 8), _m, _n, _c(3), "xm", "x", "g"), L("symv_lower", cdiv(_n, _b), _b, _n, "sq", "x", "y4"),
          L("trsv_unit_lower", 1, 128, 24, "tri", "y5", shared=24 * 8), L("gbmv", cdiv(_n, _b), _b, _n, 3, 2, "band", "x", "y6")],
          lambda b, n=_n: {"y1": b.a @ b.x, "y2": 2 * (b.a @ b.x) - 3 * b.y2, "y3": b.xm @ b.a, "g": b.g + 3 * np.outer(b.xm, b.x), "y4": (np.tril(b.sq) + np.tril(b.sq, -1).T) @ b.x,
                           "y5": _solve_lower(b.tri, b.y5), "y6": _banded(b.band, n, 3, 2) @ b.x},
          given={"T": _t, "B": _b}, a=ints(31, (_m, _n), dtype=_d), x=ints(32, _n, dtype=_d), xm=ints(33, _m, dtype=_d), y1=out(_m, _d), y2=ints(34, _m, dtype=_d), y3=out(_n, _d), g=ints(35, (_m, _n), dtype=_d),
          sq=ints(36, (_n, _n), dtype=_d), y4=out(_n, _d), tri=(ints(37, (24, 24), 0, 20) == 0).astype(_d), y5=ints(38, 24, dtype=_d), band=ints(39, (6, _n), dtype=_d), y6=out(_n, _d))

# ---- matrix products ----
_GEMM = """
template <typename T, int TILE>
__device__ void tiled(int m, int n, int k, T alpha, const T *__restrict__ a, const T *__restrict__ b, T beta, T *c) {
    __shared__ T as[TILE][TILE + 1], bs[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    T s = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        as[threadIdx.y][threadIdx.x] = row < m && k0 + threadIdx.x < k ? a[row * k + k0 + threadIdx.x] : T(0);
        bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < k && col < n ? b[(k0 + threadIdx.y) * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) s += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = alpha * s + beta * c[row * n + col];
}
// A block of BM x BN results, each thread TM x TN of them in registers.
template <typename T, int BM, int BN, int BK, int TM, int TN>
__device__ void register_blocked(int m, int n, int k, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c) {
    __shared__ T as[BK][BM], bs[BK][BN];
    const int threads = (BM / TM) * (BN / TN), t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
    T acc[TM][TN] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int i = t; i < BM * BK; i += threads) { int r = blockIdx.y * BM + i / BK, q = k0 + i % BK; as[i % BK][i / BK] = r < m && q < k ? a[r * k + q] : T(0); }
        for (int i = t; i < BK * BN; i += threads) { int q = k0 + i / BN, s = blockIdx.x * BN + i % BN; bs[i / BN][i % BN] = q < k && s < n ? b[q * n + s] : T(0); }
        __syncthreads();
        for (int q = 0; q < BK; ++q) {
            T ra[TM], rb[TN];
            for (int i = 0; i < TM; ++i) ra[i] = as[q][ty * TM + i];
            for (int j = 0; j < TN; ++j) rb[j] = bs[q][tx * TN + j];
            for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) {
        int r = blockIdx.y * BM + ty * TM + i, s = blockIdx.x * BN + tx * TN + j;
        if (r < m && s < n) c[r * n + s] = acc[i][j];
    }
}
extern "C" {
__global__ void gemm(int m, int n, int k, $T alpha, const $T *a, const $T *b, $T beta, $T *c) { tiled<$T, $TILE>(m, n, k, alpha, a, b, beta, c); }
__global__ void gemm_registers(int m, int n, int k, const $T *a, const $T *b, $T *c) { register_blocked<$T, 32, 32, 8, $TM, $TN>(m, n, k, a, b, c); }
__global__ void gemm_nt(int m, int n, int k, const $T *a, const $T *b, $T *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    $T s = 0;
    for (int i = 0; i < k; ++i) s += a[row * k + i] * b[col * k + i];
    c[row * n + col] = s;
}
__global__ void gemm_batched(int n, const $T *const *a, const $T *const *b, $T *const *c) {
    const $T *p = a[blockIdx.x], *q = b[blockIdx.x];
    $T *r = c[blockIdx.x];
    for (int e = threadIdx.x; e < n * n; e += blockDim.x) { $T s = 0; for (int i = 0; i < n; ++i) s += p[e / n * n + i] * q[i * n + e % n]; r[e] = s; }
}
__global__ void pointers(int n, $T *base, $T **table) { if (threadIdx.x < 6) table[threadIdx.x] = base + threadIdx.x * n * n; }
__global__ void syrk_lower(int n, int k, const $T *a, $T *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col > row) return;
    $T s = 0;
    for (int i = 0; i < k; ++i) s += a[row * k + i] * a[col * k + i];
    c[row * n + col] = s;
}
}"""
for _t, _m, _n, _k, _tile, _tm, _tn in (("float", 50, 37, 41, 16, 4, 4), ("double", 33, 65, 20, 8, 2, 4), ("int", 64, 64, 64, 32, 8, 1), ("long long", 19, 40, 70, 16, 2, 2)):
    _d = _c = NUMPY[_t]
    F.run(f"level3_{_t.replace(' ', '_')}", _GEMM, [L("gemm", (cdiv(_n, _tile), cdiv(_m, _tile)), (_tile, _tile), _m, _n, _k, _c(2), "a", "b", _c(-1), "c1"),
          L("gemm_registers", (cdiv(_n, 32), cdiv(_m, 32)), 1024 // (_tm * _tn), _m, _n, _k, "a", "b", "c2"), L("gemm_nt", (cdiv(_n, 16), cdiv(_m, 4)), (16, 4), _m, _n, _k, "a", "bt", "c3"),
          L("pointers", 1, 32, 9, "p", "pt"), L("pointers", 1, 32, 9, "q", "qt"), L("pointers", 1, 32, 9, "r", "rt"), L("gemm_batched", 6, 50, 9, "pt", "qt", "rt"), L("syrk_lower", (cdiv(_m, 8), cdiv(_m, 8)), (8, 8), _m, _k, "a", "c4")],
          lambda b: {"c1": 2 * (b.a @ b.b) - b.c1, "c2": b.a @ b.b, "c3": b.a @ b.bt.T, "r": b.p @ b.q, "c4": np.tril(b.a @ b.a.T)},
          given={"T": _t, "TILE": _tile, "TM": _tm, "TN": _tn}, a=ints(41, (_m, _k), dtype=_d), b=ints(42, (_k, _n), dtype=_d), c1=ints(43, (_m, _n), dtype=_d), c2=out((_m, _n), _d), bt=ints(44, (_n, _k), dtype=_d),
          c3=out((_m, _n), _d), p=ints(45, (6, 9, 9), dtype=_d), q=ints(46, (6, 9, 9), dtype=_d), r=out((6, 9, 9), _d), pt=zeros(6, np.uint64), qt=zeros(6, np.uint64), rt=zeros(6, np.uint64), c4=zeros((_m, _m), _d))

F.run("half_gemv_and_norms", """
#include <cuda_fp16.h>
extern "C" __global__ void hgemv(int m, int n, const __half *a, const __half *x, float *y) {
    int r = blockIdx.x, lane = threadIdx.x;
    const __half2 *a2 = (const __half2 *)(a + r * n), *x2 = (const __half2 *)x;
    float s = 0;
    for (int c = lane; c < n / 2; c += 32) { float2 u = __half22float2(a2[c]), v = __half22float2(x2[c]); s += u.x * v.x + u.y * v.y; }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) y[r] = s;
}
extern "C" __global__ void haxpy2(int n, __half2 a, const __half2 *x, __half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}
extern "C" __global__ void nrm2_scaled(int n, const double *x, double *result) {
    __shared__ double s[128];
    double big = 0;
    int t = threadIdx.x;
    for (int i = t; i < n; i += 128) big = fmax(big, fabs(x[i]));
    s[t] = big;
    for (int d = 64; d; d >>= 1) { __syncthreads(); if (t < d) s[t] = fmax(s[t], s[t + d]); }
    __syncthreads();
    double scale = s[0], q = 0;
    __syncthreads();
    for (int i = t; i < n; i += 128) { double v = x[i] / scale; q += v * v; }
    s[t] = q;
    for (int d = 64; d; d >>= 1) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
    if (t == 0) *result = scale * sqrt(s[0]);
}
extern "C" __global__ void kahan_dot(int n, const float *x, const float *y, float *result) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    float s = 0, c = 0;
    for (int i = t; i < n; i += step) { float v = __fmul_rn(x[i], y[i]) - c, u = __fadd_rn(s, v); c = __fsub_rn(__fsub_rn(u, s), v); s = u; }
    result[t] = s;
}""", [L("hgemv", 19, 32, 19, 50, "a", "x", "y"), L("haxpy2", 2, 64, 90, np.array([2, -3], np.float16).view(np.uint32)[0], "u", "v"), L("nrm2_scaled", 1, 128, 300, "big", "norm"), L("kahan_dot", 1, 8, 4000, "p", "q", "dots")],
      lambda b: {"y": b.a.astype(np.float64) @ b.x.astype(np.float64), "v": b.u.astype(np.float64) * np.tile([2, -3], 90) + b.v.astype(np.float64), "norm": [np.sqrt(((b.big / 1e200) ** 2).sum()) * 1e200],
                 "dots": (b.p.astype(np.float64) * b.q).reshape(-1, 8).sum(0)},
      compare={"norm": Within("300 terms, one rounding each", rtol=1e-13), "dots": Within("500 products, each rounded once (2**-24 of less than 1); the compensated sum adds two roundings", atol=500 * 2.0**-25, rtol=2.0**-22)},
      a=ints(47, (19, 50), dtype=np.float16), x=ints(48, 50, dtype=np.float16), y=out(19), u=ints(49, 180, dtype=np.float16), v=ints(50, 180, dtype=np.float16), big=normal(51, 300, np.float64) * 1e200, norm=out(1, np.float64),
      p=uniform(52, 4000), q=uniform(53, 4000), dots=out(8))

_TRANSPOSE = """
template <typename T, int ROWS>
__device__ void move(T *out, const T *in, int w, int h, T (*tile)[33]) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += ROWS) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += ROWS) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose($T *out, const $T *in, int w, int h) { __shared__ $T tile[32][33]; move<$T, $ROWS>(out, in, w, h, tile); }
extern "C" __global__ void transpose_in_place($T *a, int n) {
    __shared__ $T p[8][9], q[8][9];
    int bx = blockIdx.x, by = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    if (bx > by) return;
    int i = (by * 8 + y) * n + bx * 8 + x, j = (bx * 8 + y) * n + by * 8 + x;
    p[y][x] = a[i];
    q[y][x] = a[j];
    __syncthreads();
    a[i] = q[x][y];
    if (bx != by) a[j] = p[x][y];
}
extern "C" __global__ void rotate_quarter($T *out, const $T *in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + (h - 1 - y)] = in[y * w + x];
}"""
for _t, _rows in (("unsigned char", 8), ("short", 4), ("float", 16), ("double", 8), ("long long", 32)):
    _d = NUMPY[_t]
    F.run(f"transpose_{_t.replace(' ', '_')}", _TRANSPOSE, [L("transpose", (3, 2), (32, _rows), "t", "a", 71, 45), L("transpose_in_place", (4, 4), (8, 8), "sq", 32), L("rotate_quarter", (5, 6), (16, 8), "r", "a", 71, 45)],
          lambda b: {"t": b.a.T, "sq": b.sq.T, "r": np.rot90(b.a, -1)}, given={"T": _t, "ROWS": _rows}, a=ints(54, (45, 71), 0, 100, _d), t=out((71, 45), _d), sq=ints(55, (32, 32), 0, 100, _d), r=out((71, 45), _d))
