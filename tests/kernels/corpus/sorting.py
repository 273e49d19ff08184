"""Sorting, merging, searching and selecting."""

from __future__ import annotations

import numpy as np

from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, zeros

SUITE = F = Family("sorting")

_SORTS = """
template <typename T> __device__ void order(T &a, T &b, bool up) { if ((a > b) == up) { T t = a; a = b; b = t; } }
extern "C" __global__ void bitonic($T *a, int n) {
    __shared__ $T s[$N];
    a += blockIdx.x * $N;
    for (int i = threadIdx.x; i < $N; i += blockDim.x) s[i] = a[i];
    for (int size = 2; size <= $N; size <<= 1)
        for (int step = size >> 1; step > 0; step >>= 1) {
            __syncthreads();
            for (int p = threadIdx.x; p < $N / 2; p += blockDim.x) { int i = 2 * p - (p & (step - 1)); order(s[i], s[i + step], (i & size) == 0); }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < $N; i += blockDim.x) a[i] = s[i];
}
extern "C" __global__ void odd_even_merge($T *a) {
    __shared__ $T s[$N];
    int t = threadIdx.x;
    s[t] = a[t]; s[t + $N / 2] = a[t + $N / 2];
    for (int size = 2; size <= $N; size <<= 1) {
        int step = size / 2, offset = t & (step - 1);
        __syncthreads();
        { int p = 2 * t - (t & (step - 1)); order(s[p], s[p + step], true); step >>= 1; }
        for (; step > 0; step >>= 1) {
            __syncthreads();
            int p = 2 * t - (t & (step - 1));
            if (offset >= step) order(s[p - step], s[p], true);
        }
    }
    __syncthreads();
    a[t] = s[t]; a[t + $N / 2] = s[t + $N / 2];
}
extern "C" __global__ void odd_even_transposition($T *a, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    $T *s = ($T *)raw;
    int t = threadIdx.x;
    s[t] = a[t];
    for (int round = 0; round < n; ++round) {
        __syncthreads();
        int i = t + 1;
        if ((t & 1) == (round & 1) && i < n) order(s[t], s[i], true);
    }
    __syncthreads();
    a[t] = s[t];
}
extern "C" __global__ void rank_sort(int n, const $T *a, $T *o) {
    __shared__ $T tile[64];
    int i = blockIdx.x * 64 + threadIdx.x, rank = 0;
    $T v = i < n ? a[i] : ($T)0;
    for (int base = 0; base < n; base += 64) {
        if (base + threadIdx.x < n) tile[threadIdx.x] = a[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64 && base + j < n; ++j) rank += tile[j] < v || (tile[j] == v && base + j < i);
        __syncthreads();
    }
    if (i < n) o[rank] = v;
}
extern "C" __global__ void warp_bitonic(const $T *a, $T *o) {
    int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    $T v = a[i];
    for (int size = 2; size <= 32; size <<= 1)
        for (int step = size >> 1; step; step >>= 1) {
            $T u = __shfl_xor_sync(~0u, v, step);
            bool low = (lane & step) == 0, up = (lane & size) == 0;
            v = low == up ? (v < u ? v : u) : (v < u ? u : v);
        }
    o[i] = v;
}
extern "C" __global__ void insertion_per_thread($T *a, int n) {
    a += (blockIdx.x * blockDim.x + threadIdx.x) * n;
    for (int i = 1; i < n; ++i) { $T v = a[i]; int j = i; while (j > 0 && a[j - 1] > v) { a[j] = a[j - 1]; --j; } a[j] = v; }
}
extern "C" __global__ void shell_per_thread($T *a, int n) {
    a += (blockIdx.x * blockDim.x + threadIdx.x) * n;
    const int gaps[4] = {10, 4, 3, 1};
    for (int g = 0; g < 4; ++g)
        for (int i = gaps[g]; i < n; ++i) { $T v = a[i]; int j = i; for (; j >= gaps[g] && a[j - gaps[g]] > v; j -= gaps[g]) a[j] = a[j - gaps[g]]; a[j] = v; }
}
extern "C" __global__ void heap_per_thread($T *all, int n) {
    $T *a = all + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    for (int end = n, root = n / 2; end > 1;) {
        if (root > 0) --root; else { --end; $T t = a[0]; a[0] = a[end]; a[end] = t; }
        for (int p = root; ;) {
            int c = 2 * p + 1;
            if (c >= end) break;
            if (c + 1 < end && a[c + 1] > a[c]) ++c;
            if (!(a[c] > a[p])) break;
            $T t = a[c]; a[c] = a[p]; a[p] = t; p = c;
        }
    }
}
extern "C" __global__ void quick_per_thread($T *all, int n) {
    $T *a = all + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    int stack[32], top = 0;
    stack[top++] = 0; stack[top++] = n - 1;
    while (top) {
        int hi = stack[--top], lo = stack[--top], i = lo, j = hi;
        $T p = a[(lo + hi) / 2];
        while (i <= j) { while (a[i] < p) ++i; while (p < a[j]) --j; if (i <= j) { $T t = a[i]; a[i] = a[j]; a[j] = t; ++i; --j; } }
        if (lo < j && top < 30) { stack[top++] = lo; stack[top++] = j; }
        if (i < hi && top < 30) { stack[top++] = i; stack[top++] = hi; }
    }
}
extern "C" __global__ void merge_pass(const $T *a, $T *o, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lo = i * 2 * width;
    if (lo >= n) return;
    int mid = min(lo + width, n), hi = min(lo + 2 * width, n), p = lo, q = mid;
    for (int k = lo; k < hi; ++k) o[k] = p < mid && (q >= hi || !(a[q] < a[p])) ? a[p++] : a[q++];
}
// Each thread of the output finds its part of both inputs on a diagonal.
extern "C" __global__ void merge_path(const $T *a, int na, const $T *b, int nb, $T *o, int each) {
    int d = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    if (d >= na + nb) return;
    int lo = max(0, d - nb), hi = min(d, na);
    while (lo < hi) { int mid = (lo + hi) / 2; if (a[mid] <= b[d - 1 - mid]) lo = mid + 1; else hi = mid; }
    for (int i = lo, j = d - lo, k = d; k < min(d + each, na + nb); ++k) o[k] = i < na && (j >= nb || a[i] <= b[j]) ? a[i++] : b[j++];
}
extern "C" __global__ void lower_bound(int n, const $T *a, int m, const $T *x, int *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int first = 0, count = n;
    while (count > 0) { int step = count / 2; if (a[first + step] < x[i]) { first += step + 1; count -= step + 1; } else count = step; }
    o[i] = first;
}
extern "C" __global__ void largest_four(int n, const $T *a, $T *o) {
    __shared__ $T best[64][4];
    int t = threadIdx.x;
    $T b[4]; for (int k = 0; k < 4; ++k) b[k] = a[k * 64 + t];
    for (int k = 1; k < 4; ++k) for (int j = k; j > 0 && b[j] > b[j - 1]; --j) { $T u = b[j]; b[j] = b[j - 1]; b[j - 1] = u; }
    for (int i = 256 + t; i < n; i += 64) { $T v = a[i]; if (v > b[3]) { int j = 3; for (; j > 0 && v > b[j - 1]; --j) b[j] = b[j - 1]; b[j] = v; } }
    for (int k = 0; k < 4; ++k) best[t][k] = b[k];
    for (int d = 32; d; d /= 2) {
        __syncthreads();
        if (t < d) { $T m[4]; int p = 0, q = 0; for (int k = 0; k < 4; ++k) m[k] = best[t][p] >= best[t + d][q] ? best[t][p++] : best[t + d][q++]; for (int k = 0; k < 4; ++k) best[t][k] = m[k]; }
    }
    __syncthreads();
    if (t < 4) o[t] = best[0][t];
}"""
for _t, _n in (("int", 256), ("float", 128), ("double", 64), ("unsigned short", 512), ("long long", 128)):
    _d = NUMPY[_t]
    _low = 0 if _t.startswith("unsigned") else -1000
    _s = np.dtype(_d).itemsize
    F.run(f"comparison_{_t.replace(' ', '_')}", _SORTS, [L("bitonic", 2, 64, "a1", _n), L("odd_even_merge", 1, _n // 2, "a2"), L("odd_even_transposition", 1, 75, "a3", 75, shared=75 * _s), L("rank_sort", 5, 64, 300, "a4", "o4"),
          L("warp_bitonic", 2, 64, "a4", "o5"), L("insertion_per_thread", 2, 8, "a6", 20), L("shell_per_thread", 1, 16, "a7", 20), L("heap_per_thread", 4, 4, "a8", 20), L("quick_per_thread", 1, 16, "a9", 20),
          *(L("merge_pass", cdiv(300, 2 * w * 32), 32, p, q, 300, w) for w, p, q in ((1, "m0", "m1"), (2, "m1", "m2"), (4, "m2", "m1"), (8, "m1", "m2"), (16, "m2", "m1"), (32, "m1", "m2"), (64, "m2", "m1"), (128, "m1", "m2"), (256, "m2", "m1"))),
          L("merge_path", 1, 64, "s1", 120, "s2", 99, "o10", 4), L("lower_bound", 2, 100, 120, "s1", 150, "a4", "o11"), L("largest_four", 1, 64, 300, "a4", "o12")],
          lambda b, n=_n: {"a1": np.sort(b.a1.reshape(2, n), 1), "a2": np.sort(b.a2), "a3": np.sort(b.a3), "o4": np.sort(b.a4), "o5": np.sort(b.a4[:128].reshape(4, 32), 1), "a6": np.sort(b.a6, 1), "a7": np.sort(b.a7, 1),
                           "a8": np.sort(b.a8, 1), "a9": np.sort(b.a9, 1), "m1": np.sort(b.m0), "o10": np.sort(np.concatenate([b.s1, b.s2])), "o11": np.searchsorted(b.s1, b.a4[:150]), "o12": np.sort(b.a4)[::-1][:4]},
          given={"T": _t, "N": _n}, a1=ints(1, 2 * _n, _low, 1000, _d), a2=ints(2, _n, _low, 1000, _d), a3=ints(3, 75, _low, 1000, _d), a4=ints(4, 300, _low, 1000, _d), o4=out(300, _d), o5=out((4, 32), _d), a6=ints(5, (16, 20), _low, 1000, _d),
          a7=ints(6, (16, 20), _low, 1000, _d), a8=ints(7, (16, 20), _low, 1000, _d), a9=ints(8, (16, 20), _low, 1000, _d), m0=ints(9, 300, _low, 1000, _d), m1=out(300, _d), m2=out(300, _d), s1=np.sort(ints(10, 120, _low, 1000, _d)),
          s2=np.sort(ints(11, 99, _low, 1000, _d)), o10=out(219, _d), o11=out(150, np.int32), o12=out(4, _d))

_RADIX = """
#define BITS $BITS
#define DIGITS (1 << BITS)
__global__ void histogram(int n, const unsigned *keys, int shift, int *counts) {
    __shared__ int s[DIGITS];
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x) s[d] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x) counts[d * gridDim.x + blockIdx.x] = s[d];
}
__global__ void scan_counts(int n, int *counts) {
    __shared__ int s[128];
    int t = threadIdx.x, carry = 0;
    for (int base = 0; base < n; base += 128) {
        int v = base + t < n ? counts[base + t] : 0;
        s[t] = v;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) { int u = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += u; __syncthreads(); }
        if (base + t < n) counts[base + t] = carry + s[t] - v;
        carry += s[127];
        __syncthreads();
    }
}
__global__ void scatter(int n, const unsigned *keys, const unsigned *values, int shift, const int *starts, unsigned *out_keys, unsigned *out_values) {
    __shared__ unsigned char digits[$B];
    int i = blockIdx.x * $B + threadIdx.x;
    int d = i < n ? keys[i] >> shift & (DIGITS - 1) : 0xff;
    digits[threadIdx.x] = (unsigned char)d;
    __syncthreads();
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < threadIdx.x; ++j) rank += digits[j] == d;
    int to = starts[d * gridDim.x + blockIdx.x] + rank;
    out_keys[to] = keys[i]; out_values[to] = values[i];
}
__global__ void float_to_key(int n, unsigned *k) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned u = k[i]; k[i] = u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u); } }
__global__ void key_to_float(int n, unsigned *k) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned u = k[i]; k[i] = u ^ ((u >> 31) ? 0x80000000u : 0xffffffffu); } }
__global__ void iota(int n, unsigned *v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) v[i] = i; }"""
for _bits, _b, _n in ((4, 128, 700), (2, 64, 333), (6, 256, 1000)):
    _grid = cdiv(_n, _b)
    _launches = [L("iota", cdiv(_n, 64), 64, _n, "v"), L("float_to_key", cdiv(_n, 64), 64, _n, "k")]
    _from, _to = ("k", "v"), ("k2", "v2")
    _passes = cdiv(32, _bits)
    for _p in range(_passes + _passes % 2):
        _shift = min(_p * _bits, 31) if _p < _passes else 31
        _launches += [L("histogram", _grid, _b, _n, _from[0], _shift, "counts"), L("scan_counts", 1, 128, _grid << _bits, "counts"), L("scatter", _grid, _b, _n, *_from, _shift, "counts", *_to)]
        _from, _to = _to, _from
    _launches.append(L("key_to_float", cdiv(_n, 64), 64, _n, "k"))
    F.run(f"radix_pairs_{_bits}_bits", _RADIX, _launches, lambda b: {"k": np.sort(b.k), "v": np.argsort(b.k, kind="stable")}, given={"BITS": _bits, "B": _b}, k=np.round(normal(12, _n), 1) + np.float32(0.05), v=out(_n, np.uint32),
          k2=out(_n, np.float32), v2=out(_n, np.uint32), counts=out(_grid << _bits, np.int32))

F.run("counting_bucket_sample_and_topology", """
__global__ void count_keys(int n, const unsigned char *a, int *c) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(c + a[i], 1); }
__global__ void starts(int *c) { if (threadIdx.x == 0) for (int i = 0, s = 0; i < 64; ++i) { int v = c[i]; c[i] = s; s += v; } }
__global__ void write_counted(int n, const int *c, unsigned char *o) {
    int d = threadIdx.x, end = d == 63 ? n : c[d + 1];
    for (int i = c[d]; i < end; ++i) o[i] = (unsigned char)d;
}
__global__ void assign_buckets(int n, const float *a, const float *splitters, int *bucket, int *size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = 0;
    for (int k = 0; k < 7; ++k) b += a[i] >= splitters[k];
    bucket[i] = b;
    atomicAdd(size + b, 1);
}
__global__ void sort_buckets(int n, const float *a, const int *bucket, const int *size, float *o) {
    __shared__ float s[512];
    __shared__ int count;
    int t = threadIdx.x, begin = 0;
    if (t == 0) count = 0;
    for (int i = t; i < 512; i += blockDim.x) s[i] = 3.4e38f;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) if (bucket[i] == blockIdx.x) s[atomicAdd(&count, 1)] = a[i];
    for (int b = 0; b < blockIdx.x; ++b) begin += size[b];
    for (int k = 2; k <= 512; k *= 2) for (int j = k / 2; j; j /= 2) {
        __syncthreads();
        for (int i = t; i < 512; i += blockDim.x) { int p = i ^ j; if (p > i && (s[i] > s[p]) == ((i & k) == 0)) { float v = s[i]; s[i] = s[p]; s[p] = v; } }
    }
    __syncthreads();
    for (int i = t; i < size[blockIdx.x]; i += blockDim.x) o[begin + i] = s[i];
}
__global__ void select_kth(int n, const unsigned *a, int k, unsigned *o) {
    __shared__ int c[16];
    unsigned prefix = 0, mask = 0;
    for (int shift = 28; shift >= 0; shift -= 4) {
        if (threadIdx.x < 16) c[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) if ((a[i] & mask) == prefix) atomicAdd(&c[a[i] >> shift & 15], 1);
        __syncthreads();
        int d = 0;
        while (k >= c[d]) k -= c[d++];
        prefix |= (unsigned)d << shift; mask |= 15u << shift;
        __syncthreads();
    }
    if (threadIdx.x == 0) *o = prefix;
}
__global__ void unique_sorted(int n, const int *a, int *o, int *count) {
    __shared__ int s[256];
    int t = threadIdx.x, keep = t < n && (t == 0 || a[t] != a[t - 1]);
    s[t] = keep;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); }
    if (keep) o[s[t] - 1] = a[t];
    if (t == 255) *count = s[t];
}
__global__ void set_intersection(int n, const int *a, int m, const int *b, int *flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lo = 0, hi = m;
    while (lo < hi) { int mid = (lo + hi) / 2; if (b[mid] < a[i]) lo = mid + 1; else hi = mid; }
    flag[i] = lo < m && b[lo] == a[i];
}
__global__ void is_sorted(int n, const int *a, int *answer) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i + 1 < n && a[i] > a[i + 1]) *answer = 0; }
__global__ void inversions(int n, const int *a, unsigned long long *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = 0;
    if (i < n) for (int j = i + 1; j < n; ++j) c += a[j] < a[i];
    for (int d = 16; d; d >>= 1) c += __shfl_down_sync(~0u, c, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(count, (unsigned long long)c);
}""", [L("count_keys", 8, 128, 1000, "bytes", "c"), L("starts", 1, 32, "c"), L("write_counted", 1, 64, 1000, "c", "bo"), L("assign_buckets", 8, 128, 1000, "f", "splitters", "bucket", "size"),
       L("sort_buckets", 8, 128, 1000, "f", "bucket", "size", "fo"), L("select_kth", 1, 96, 800, "u", 321, "kth"), L("unique_sorted", 1, 256, 250, "sorted", "unique", "count"), L("set_intersection", 4, 64, 250, "sorted", 60, "other", "flag"),
       L("is_sorted", 2, 128, 250, "sorted", "yes"), L("is_sorted", 2, 128, 200, "mixed", "no"), L("inversions", 4, 64, 200, "mixed", "pairs")],
      lambda b: {"bo": np.sort(b.bytes), "fo": np.sort(b.f), "kth": [np.sort(b.u)[321]], "unique": np.concatenate([np.unique(b.sorted), np.zeros(250 - len(np.unique(b.sorted)))]), "count": [len(np.unique(b.sorted))],
                 "flag": np.isin(b.sorted, b.other), "yes": [1], "no": [0], "pairs": [sum((b.mixed[i + 1:] < b.mixed[i]).sum() for i in range(200))]},
      bytes=ints(13, 1000, 0, 64, np.uint8), c=zeros(64, np.int32), bo=out(1000, np.uint8), f=normal(14, 1000), splitters=np.linspace(-1.2, 1.2, 7, dtype=np.float32), bucket=out(1000, np.int32), size=zeros(8, np.int32), fo=out(1000),
      u=ints(15, 800, 0, 2**32, np.uint32), kth=out(1, np.uint32), sorted=np.sort(ints(16, 250, 0, 300)), unique=zeros(250, np.int32), count=out(1, np.int32), other=np.unique(ints(17, 200, 0, 300))[:60], flag=out(250, np.int32),
      yes=np.ones(1, np.int32), no=np.ones(1, np.int32), mixed=ints(18, 200, 0, 99), pairs=zeros(1, np.uint64))
