"""Reductions and histograms: trees, shuffles, atomics, several passes, by key. Sums of whole numbers are exact."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("reductions")

# ---- the steps of the well known optimisation of a sum ----
_STEPS = """
template <typename T> struct Sum { static __device__ T none() { return T(0); } static __device__ T op(T a, T b) { return a + b; } };
template <typename T> struct Max { static __device__ T none() { return T(-1000000); } static __device__ T op(T a, T b) { return a > b ? a : b; } };
template <typename T> struct Min { static __device__ T none() { return T(1000000); } static __device__ T op(T a, T b) { return b < a ? b : a; } };
typedef $OP<$T> Op;
extern __shared__ __align__(16) unsigned char raw[];

extern "C" __global__ void interleaved(const $T *in, $T *out, int n) {
    $T *s = ($T *)raw;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : Op::none();
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] = Op::op(s[t], s[t + d]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void strided_index(const $T *in, $T *out, int n) {
    $T *s = ($T *)raw;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : Op::none();
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned k = 2 * d * t;
        if (k < blockDim.x) s[k] = Op::op(s[k], s[k + d]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void sequential_first_add(const $T *in, $T *out, int n) {
    $T *s = ($T *)raw;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    $T v = i < n ? in[i] : Op::none();
    if (i + blockDim.x < n) v = Op::op(v, in[i + blockDim.x]);
    s[t] = v;
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d > 32; d >>= 1) {
        if (t < d) s[t] = v = Op::op(v, s[t + d]);
        __syncthreads();
    }
    if (t < 32) {
        if (blockDim.x >= 64) v = Op::op(v, s[t + 32]);
        for (int d = 16; d; d >>= 1) v = Op::op(v, __shfl_down_sync(0xffffffffu, v, d));
    }
    if (t == 0) out[blockIdx.x] = v;
}
template <unsigned B> __device__ void unrolled(const $T *in, $T *out, unsigned n) {
    __shared__ $T s[B];
    unsigned t = threadIdx.x;
    $T v = Op::none();
    for (unsigned i = blockIdx.x * B * 2 + t; i < n; i += gridDim.x * B * 2) { v = Op::op(v, in[i]); if (i + B < n) v = Op::op(v, in[i + B]); }
    s[t] = v;
    __syncthreads();
    if (B >= 512) { if (t < 256) s[t] = v = Op::op(v, s[t + 256]); __syncthreads(); }
    if (B >= 256) { if (t < 128) s[t] = v = Op::op(v, s[t + 128]); __syncthreads(); }
    if (B >= 128) { if (t < 64) s[t] = v = Op::op(v, s[t + 64]); __syncthreads(); }
    if (t < 32) {
        if (B >= 64) v = Op::op(v, s[t + 32]);
        for (int d = 16; d; d >>= 1) v = Op::op(v, __shfl_xor_sync(0xffffffffu, v, d));
        if (t == 0) out[blockIdx.x] = v;
    }
}
extern "C" __global__ void grid_stride_unrolled(const $T *in, $T *out, unsigned n) { unrolled<$B>(in, out, n); }
extern "C" __global__ void block_by_warps(const $T *in, $T *out, int n) {
    __shared__ $T part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    $T v = Op::none();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v = Op::op(v, in[i]);
    for (int d = 16; d; d /= 2) v = Op::op(v, __shfl_down_sync(0xffffffffu, v, d));
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? part[lane] : Op::none();
    if (warp == 0) for (int d = 16; d; d /= 2) v = Op::op(v, __shfl_down_sync(0xffffffffu, v, d));
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
__device__ unsigned arrived = 0;
extern "C" __global__ void single_pass(const $T *in, volatile $T *partial, $T *out, int n) {
    __shared__ $T s[$B];
    __shared__ bool last;
    int t = threadIdx.x;
    $T v = Op::none();
    for (int i = blockIdx.x * $B + t; i < n; i += gridDim.x * $B) v = Op::op(v, in[i]);
    s[t] = v;
    for (int d = $B / 2; d; d /= 2) { __syncthreads(); if (t < d) s[t] = Op::op(s[t], s[t + d]); }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        $T r = Op::none();
        for (int i = 0; i < gridDim.x; ++i) r = Op::op(r, partial[i]);
        *out = r;
    }
}
extern "C" __global__ void rows($T *out, const $T *in, int w) {
    const $T *row = in + blockIdx.x * w;
    $T v = Op::none();
    for (int i = threadIdx.x; i < w; i += 32) v = Op::op(v, row[i]);
#pragma unroll
    for (int d = 1; d < 32; d *= 2) v = Op::op(v, __shfl_xor_sync(~0u, v, d));
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
extern "C" __global__ void columns($T *out, const $T *in, int w, int h) {
    __shared__ $T s[8][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    $T v = Op::none();
    if (x < w) for (int y = threadIdx.y; y < h; y += 8) v = Op::op(v, in[y * w + x]);
    s[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.y == 0 && x < w) { for (int j = 1; j < 8; ++j) v = Op::op(v, s[j][threadIdx.x]); out[x] = v; }
}"""


def _blocks(a, size, f, count=None):
    """`f` of what each block sees: `size` elements in turn, block by block."""
    if count is None:
        return [f(a[i:i + size]) for i in range(0, len(a), size)]
    owner = np.arange(len(a)) // size % count
    return [f(a[owner == g]) for g in range(count)]


for _t, _op, _f, _n, _b in (("int", "Sum", np.sum, 3000, 128), ("float", "Sum", np.sum, 1777, 64), ("double", "Sum", np.sum, 2049, 256), ("float", "Max", np.max, 2500, 128), ("int", "Min", np.min, 999, 64),
                            ("long long", "Max", np.max, 4000, 512), ("double", "Min", np.min, 1300, 256)):
    _d = NUMPY[_t]
    _g = np.dtype(_d).itemsize
    F.run(f"steps_{_op.lower()}_{_t.replace(' ', '_')}", _STEPS,
          [L("interleaved", cdiv(_n, _b), _b, "a", "o1", _n, shared=_b * _g), L("strided_index", cdiv(_n, _b), _b, "a", "o2", _n, shared=_b * _g), L("sequential_first_add", cdiv(_n, 2 * _b), _b, "a", "o3", _n, shared=_b * _g),
           L("grid_stride_unrolled", 3, _b, "a", "o4", _n), L("block_by_warps", 4, _b, "a", "o5", _n), L("single_pass", 6, _b, "a", "partial", "o6", _n), L("single_pass", 6, _b, "a", "partial", "o6b", _n - 100),
           L("rows", 11, 32, "o7", "m", 75), L("columns", 3, (32, 8), "o8", "m", 75, 11)],
          lambda b, n=_n, s=_b, f=_f: {"o1": _blocks(b.a, s, f), "o2": _blocks(b.a, s, f), "o3": _blocks(b.a, 2 * s, f), "o4": _blocks(b.a, 2 * s, f, 3), "o5": _blocks(b.a, s, f, 4), "o6": [f(b.a)], "o6b": [f(b.a[:-100])],
                                       "o7": f(b.m, axis=1), "o8": f(b.m, axis=0)},
          given={"T": _t, "OP": _op, "B": _b}, a=ints(1, _n, -900, 900, _d), o1=out(cdiv(_n, _b), _d), o2=out(cdiv(_n, _b), _d), o3=out(cdiv(_n, 2 * _b), _d), o4=out(3, _d), o5=out(4, _d), partial=out(6, _d), o6=out(1, _d), o6b=out(1, _d),
          m=ints(2, (11, 75), -900, 900, _d), o7=out(11, _d), o8=out(75, _d))

# ---- atomics ----
_ATOMIC = """
__global__ void sum_atomic(int n, const $T *a, $T *r) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(r, a[i]); }
__global__ void sum_warp_then_atomic(int n, const $T *a, $T *r) {
    $T v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += a[i];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(r, v);
}
__global__ void sum_by_key(int n, const int *key, const $T *a, $T *r) {
    __shared__ $T bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[key[i]], a[i]);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&r[threadIdx.x], bins[threadIdx.x]);
}
__device__ $T max_by_cas($T *p, $T v) {
    $W *q = ($W *)p, old = *q, seen;
    do { seen = old; if ($FROM(seen) >= v) break; old = atomicCAS(q, seen, $TO(v)); } while (old != seen);
    return $FROM(old);
}
__global__ void max_cas(int n, const $T *a, $T *r) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) max_by_cas(r, a[i]); }
__global__ void segments(int n, int count, const int *start, const $T *a, $T *r) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    $T v = 0;
    for (int i = start[s]; i < start[s + 1]; ++i) v += a[i];
    r[s] = v;
}
__global__ void segmented_in_warp(int n, const int *key, const $T *a, $T *r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int k = i < n ? key[i] : -1;
    $T v = i < n ? a[i] : ($T)0;
    for (int d = 1; d < 32; d *= 2) {
        $T u = __shfl_up_sync(~0u, v, d);
        int j = __shfl_up_sync(~0u, k, d);
        if (lane >= d && j == k) v += u;
    }
    int next = __shfl_down_sync(~0u, k, 1);
    if (k >= 0 && (lane == 31 || next != k)) atomicAdd(r + k, v);
}"""


def _by_key(key, a, n):
    return np.bincount(key, weights=a.astype(np.float64), minlength=n)


for _t, _w, _from, _to in (("int", "int", "", ""), ("float", "int", "__int_as_float", "__float_as_int"), ("double", "unsigned long long", "__longlong_as_double", "__double_as_longlong"),
                           ("unsigned", "unsigned", "", "")):
    _d, _n = NUMPY[_t], 2000 + 37 * len(_t)
    _low = 0 if _t == "unsigned" else -500
    F.run(f"atomic_{_t}", _ATOMIC, [L("sum_atomic", 5, 100, _n, "a", "r1"), L("sum_warp_then_atomic", 3, 96, _n, "a", "r2"), L("sum_by_key", cdiv(_n, 128), 128, _n, "key", "a", "r3"), L("max_cas", cdiv(_n, 256), 256, _n, "a", "r4"),
          L("segments", 2, 32, _n, 60, "start", "a", "r5"), L("segmented_in_warp", cdiv(_n, 64), 64, _n, "sorted", "a", "r6")],
          lambda b: {"r1": [b.a.sum(dtype=np.int64 if b.a.dtype.kind in "iu" else np.float64)], "r2": [b.a.sum(dtype=np.int64 if b.a.dtype.kind in "iu" else np.float64)], "r3": _by_key(b.key, b.a, 16), "r4": [b.a.max()],
                     "r5": [b.a[s:e].sum(dtype=np.float64) for s, e in zip(b.start, b.start[1:])], "r6": _by_key(b.sorted, b.a, 40)},
          given={"T": _t, "W": _w, "FROM": _from, "TO": _to}, a=ints(3, _n, _low, 500, _d), r1=zeros(1, _d), r2=zeros(1, _d), key=ints(4, _n, 0, 16), r3=zeros(16, _d), r4=zeros(1, _d), r5=out(60, _d),
          start=np.sort(ints(5, 61, 0, _n)), sorted=np.sort(ints(6, _n, 0, 40)), r6=zeros(40, _d))

# ---- statistics ----
def _ordered(x):
    u = int(np.float32(x).view(np.uint32))
    return (~u & 0xFFFFFFFF) if u >> 31 else u | 1 << 31


def _summary(f):
    """Rows of two floats and two doubles; multiples of 1/64 keep the doubles exact."""
    parts = [f[np.arange(len(f)) // 64 % 3 == g] for g in range(3)]
    rows = [np.concatenate([np.float32([p.min(), p.max()]), np.float64([p.sum(dtype=np.float64), (p.astype(np.float64) ** 2).sum()]).view(np.float32)]) for p in parts]
    return np.stack(rows)


F.run("statistics", """
__global__ void welford(int n, const double *x, double *mean, double *m2, int *count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    double m = 0, q = 0; int c = 0;
    for (int i = t; i < n; i += step) { ++c; double d = x[i] - m; m += d / c; q += d * (x[i] - m); }
    mean[t] = m; m2[t] = q; count[t] = c;
}
__global__ void welford_merge(int n, double *mean, double *m2, int *count, double *result) {
    int t = threadIdx.x;
    for (int d = n / 2; d; d /= 2) {
        __syncthreads();
        if (t < d) {
            double a = count[t], b = count[t + d], delta = mean[t + d] - mean[t];
            mean[t] += delta * b / (a + b);
            m2[t] += m2[t + d] + delta * delta * a * b / (a + b);
            count[t] += count[t + d];
        }
    }
    if (t == 0) { result[0] = mean[0]; result[1] = m2[0] / (count[0] - 1); }
}
struct Stats { float low, high; double sum, squares; };
__device__ Stats join(Stats a, Stats b) { Stats r; r.low = fminf(a.low, b.low); r.high = fmaxf(a.high, b.high); r.sum = a.sum + b.sum; r.squares = a.squares + b.squares; return r; }
__global__ void summary(int n, const float *x, Stats *out) {
    __shared__ Stats s[64];
    int t = threadIdx.x;
    Stats v = {3.4e38f, -3.4e38f, 0, 0};
    for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) { float u = x[i]; Stats w = {u, u, u, (double)u * u}; v = join(v, w); }
    s[t] = v;
    for (int d = 32; d; d >>= 1) { __syncthreads(); if (t < d) s[t] = join(s[t], s[t + d]); }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void covariance(int n, int d, const float *x, const float *mean, float *c) {
    int i = threadIdx.x, j = threadIdx.y;
    float s = 0;
    for (int r = 0; r < n; ++r) s += (x[r * d + i] - mean[i]) * (x[r * d + j] - mean[j]);
    c[i * d + j] = s / (n - 1);
}
__global__ void argmin_by_key(int n, const float *x, unsigned long long *best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = __float_as_uint(x[i]);
    u = u & 0x80000000u ? ~u : u | 0x80000000u;
    atomicMin(best, (unsigned long long)u << 32 | i);
}
__global__ void float3_bounds(int n, const float3 *p, int *low, int *high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 v = p[i];
    atomicMin(low, __float2int_rd(v.x)); atomicMin(low + 1, __float2int_rd(v.y)); atomicMin(low + 2, __float2int_rd(v.z));
    atomicMax(high, __float2int_ru(v.x)); atomicMax(high + 1, __float2int_ru(v.y)); atomicMax(high + 2, __float2int_ru(v.z));
}""", [L("welford", 2, 32, 1500, "x", "mean", "m2", "count"), L("welford_merge", 1, 32, 64, "mean", "m2", "count", "moments"), L("summary", 3, 64, 1000, "f", "stats"),
       L("covariance", 1, (7, 7), 60, 7, "rows", "rmean", "cov"), L("argmin_by_key", 8, 128, 1000, "f", "best"), L("float3_bounds", 4, 96, 333, "f", "low", "high")],
      lambda b: {"moments": [b.x.mean(), b.x.var(ddof=1)], "stats": _summary(b.f), "cov": (b.rows - b.rmean.astype(np.float64)).T @ (b.rows - b.rmean.astype(np.float64)) / 59,
                 "best": np.array([int(_ordered(b.f.min())) << 32 | int(b.f.argmin())], np.uint64), "low": np.floor(b.f[:999].reshape(333, 3).min(0)), "high": np.ceil(b.f[:999].reshape(333, 3).max(0))},
      compare={"moments": Within("1500 terms in double, merged pairwise", rtol=1e-11, atol=1e-13), "cov": Within("60 products of order 1 in float", rtol=1e-5, atol=1e-5)},
      x=normal(7, 1500, np.float64), mean=out(64, np.float64), m2=out(64, np.float64), count=out(64, np.int32), moments=out(2, np.float64), f=np.round(normal(8, 1000) * 320) / np.float32(64), stats=out((3, 6), np.float32), rows=normal(9, (60, 7)),
      rmean=uniform(10, 7), cov=out((7, 7)), best=np.full(1, 2**64 - 1, np.uint64), low=np.full(3, 99, np.int32), high=np.full(3, -99, np.int32))

# ---- histograms ----
_HISTOGRAM = """
#define BINS $BINS
__device__ int bin($T v) { return (int)($BIN); }
__global__ void global_atomics(int n, const $T *a, unsigned *h) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(h + bin(a[i]), 1u); }
__global__ void shared_atomics(int n, const $T *a, unsigned *h) {
    __shared__ unsigned s[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(s + bin(a[i]), 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) if (s[i]) atomicAdd(h + i, s[i]);
}
__global__ void per_warp(int n, const $T *a, unsigned *partial) {
    __shared__ unsigned s[2][BINS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = lane; i < BINS; i += 32) s[warp][i] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) atomicAdd(&s[warp][bin(a[i])], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += 64) partial[blockIdx.x * BINS + i] = s[0][i] + s[1][i];
}
__global__ void merge(int blocks, const unsigned *partial, unsigned *h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BINS) return;
    unsigned s = 0;
    for (int g = 0; g < blocks; ++g) s += partial[g * BINS + i];
    h[i] = s;
}
__global__ void match_aggregated(int n, const $T *a, unsigned *h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int b = i < n ? bin(a[i]) : -1;
    unsigned peers = __match_any_sync(~0u, b);
    if (b >= 0 && (threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(h + b, (unsigned)__popc(peers));
}
__global__ void one_bin_per_thread(int n, const $T *a, unsigned *h) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = 0;
    for (int i = 0; i < n; ++i) c += bin(a[i]) == b;
    if (b < BINS) h[b] = c;
}
__global__ void cumulative(const unsigned *h, unsigned *c) {
    __shared__ unsigned s[2][BINS];
    int t = threadIdx.x, in = 0;
    for (int i = t; i < BINS; i += blockDim.x) s[0][i] = h[i];
    for (int d = 1; d < BINS; d *= 2, in ^= 1) {
        __syncthreads();
        for (int i = t; i < BINS; i += blockDim.x) s[in ^ 1][i] = s[in][i] + (i >= d ? s[in][i - d] : 0);
    }
    __syncthreads();
    for (int i = t; i < BINS; i += blockDim.x) c[i] = s[in][i];
}"""
for _name, _t, _bins, _bin, _a, _oracle in (
    ("bytes", "unsigned char", 256, "v", ints(11, 1500, 0, 256, np.uint8), lambda a: a),
    ("floats", "float", 50, "v * 50.0f", np.minimum(uniform(12, 1201), np.float32(0.99)), lambda a: (a * np.float32(50)).astype(int)),
    ("words", "unsigned", 64, "v >> 26", ints(13, 999, 0, 2**32, np.uint32), lambda a: a >> 26),
    ("shorts", "short", 100, "(v % 100 + 100) % 100", ints(14, 1111, -3000, 3000, np.int16), lambda a: a % 100),
    ("octaves", "double", 33, "min(32, max(0, ilogb(v) + 16))", np.exp(normal(15, 800, np.float64) * 6), lambda a: np.clip(np.floor(np.log2(a)) + 16, 0, 32).astype(int)),
):
    _n = len(_a)
    F.run(f"histogram_{_name}", _HISTOGRAM, [L("global_atomics", 4, 64, _n, "a", "h1"), L("shared_atomics", 3, 128, _n, "a", "h2"), L("per_warp", 5, 64, _n, "a", "partial"), L("merge", cdiv(_bins, 64), 64, 5, "partial", "h3"),
          L("match_aggregated", cdiv(_n, 128), 128, _n, "a", "h4"), L("one_bin_per_thread", cdiv(_bins, 64), 64, _n, "a", "h5"), L("cumulative", 1, 96, "h5", "c")],
          lambda b, n=_bins, f=_oracle: {k: np.bincount(f(b.a), minlength=n) for k in ("h1", "h2", "h3", "h4", "h5")} | {"c": np.cumsum(np.bincount(f(b.a), minlength=n))},
          given={"T": _t, "BINS": _bins, "BIN": _bin}, a=_a, h1=zeros(_bins, np.uint32), h2=zeros(_bins, np.uint32), partial=out((5, _bins), np.uint32), h3=out(_bins, np.uint32), h4=zeros(_bins, np.uint32),
          h5=out(_bins, np.uint32), c=out(_bins, np.uint32))

# ---- cooperative groups, half precision, masks ----
F.run("groups_and_masks", """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
template <int N> __device__ void tiles(int n, const int *a, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<N>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = cg::reduce(tile, i < n ? a[i] : 0, cg::plus<int>());
    if (tile.thread_rank() == 0) out[i / N] = s;
}
extern "C" __global__ void tiles_of_8(int n, const int *a, int *out) { tiles<8>(n, a, out); }
extern "C" __global__ void tiles_of_16(int n, const int *a, int *out) { tiles<16>(n, a, out); }
extern "C" __global__ void tiles_of_32(int n, const int *a, int *out) { tiles<32>(n, a, out); }
extern "C" __global__ void coalesced_count(int n, const int *a, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(count, (int)active.size());
    }
}
extern "C" __global__ void half_sum(int n, const __half2 *a, float *r) {
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) { __half2 v = a[i]; s += __low2float(v) + __high2float(v); }
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) *r = s;
}
extern "C" __global__ void half_max(int n, const __half *a, __half *r) {
    __half m = a[threadIdx.x];
    for (int i = threadIdx.x; i < n; i += 32) m = __hmax(m, a[i]);
    for (int d = 16; d; d >>= 1) m = __hmax(m, __shfl_down_sync(~0u, m, d));
    if (threadIdx.x == 0) *r = m;
}
extern "C" __global__ void redux(int n, const unsigned *a, unsigned *r) {
    unsigned i = blockIdx.x * 32 + threadIdx.x, v = a[i];
    unsigned s = __reduce_add_sync(~0u, v), x = __reduce_max_sync(~0u, v), m = __reduce_min_sync(~0u, v), o = __reduce_or_sync(~0u, v), d = __reduce_and_sync(~0u, v), e = __reduce_xor_sync(~0u, v);
    if (threadIdx.x == 0) { unsigned *q = r + blockIdx.x * 6; q[0] = s; q[1] = x; q[2] = m; q[3] = o; q[4] = d; q[5] = e; }
}
extern "C" __global__ void count_if_any_all(int n, const int *a, int *r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool p = i < n && a[i] > 0;
    int c = __syncthreads_count(p), any = __syncthreads_or(i < n && a[i] == 9), all = __syncthreads_and(i >= n || a[i] >= -9);
    if (threadIdx.x == 0) { r[3 * blockIdx.x] = c; r[3 * blockIdx.x + 1] = any != 0; r[3 * blockIdx.x + 2] = all != 0; }
}
extern "C" __global__ void all_equal_runs(int n, const int *a, int *runs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool head = i < n && (i == 0 || a[i] != a[i - 1]);
    unsigned m = __ballot_sync(~0u, head);
    if ((threadIdx.x & 31) == 0) atomicAdd(runs, __popc(m));
}""", [L("tiles_of_8", 4, 128, 500, "a", "o8"), L("tiles_of_16", 8, 64, 500, "a", "o16"), L("tiles_of_32", 2, 256, 500, "a", "o32"), L("coalesced_count", 8, 64, 500, "a", "pos"), L("half_sum", 1, 32, 250, "h", "hs"),
       L("half_max", 1, 32, 500, "h", "hm"), L("redux", 6, 32, 192, "u", "ur"), L("count_if_any_all", 5, 100, 500, "a", "flags"), L("all_equal_runs", 8, 64, 500, "s", "runs")],
      lambda b: {"o8": np.pad(b.a, (0, 12)).reshape(-1, 8).sum(1), "o16": np.pad(b.a, (0, 12)).reshape(-1, 16).sum(1), "o32": np.pad(b.a, (0, 12)).reshape(-1, 32).sum(1), "pos": [(b.a > 0).sum()],
                 "hs": [b.h.astype(np.float64).sum()], "hm": [b.h.max()], "ur": np.stack([f.reduce(b.u.reshape(6, 32), axis=1, dtype=np.uint32) for f in (np.add, np.maximum, np.minimum, np.bitwise_or, np.bitwise_and, np.bitwise_xor)], 1),
                 "flags": np.stack([(b.a > 0).reshape(5, 100).sum(1), (b.a == 9).reshape(5, 100).any(1), np.ones(5)], 1), "runs": [1 + (np.diff(b.s) != 0).sum()]},
      a=ints(16, 500), o8=out(64, np.int32), o16=out(32, np.int32), o32=out(16, np.int32), pos=zeros(1, np.int32), h=ints(17, 500, -30, 30, np.float16), hs=out(1), hm=out(1, np.float16), u=ints(18, 192, 0, 2**32, np.uint32),
      ur=out((6, 6), np.uint32), flags=out((5, 3), np.int32), s=np.sort(ints(19, 500, 0, 90)), runs=zeros(1, np.int32))
