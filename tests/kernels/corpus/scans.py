"""Prefix sums and what is built on them: compaction, split, expansion, runs, segments."""

from __future__ import annotations

import numpy as np

from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, out, uniform, zeros

SUITE = F = Family("scans")

_SCANS = """
extern __shared__ __align__(16) unsigned char raw[];
__global__ void hillis_steele(int n, const $T *a, $T *o) {
    $T *s = ($T *)raw;
    int t = threadIdx.x;
    s[t] = t < n ? a[t] : ($T)0;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        $T v = t >= d ? s[t - d] : ($T)0;
        __syncthreads();
        s[t] += v;
    }
    if (t < n) o[t] = s[t];
}
#define PAD(i) ((i) + ((i) >> 5))
__global__ void blelloch_no_conflicts(const $T *a, $T *o) {
    $T *s = ($T *)raw;
    int t = threadIdx.x, n = 2 * blockDim.x, offset = 1;
    a += blockIdx.x * n; o += blockIdx.x * n;
    s[PAD(t)] = a[t]; s[PAD(t + n / 2)] = a[t + n / 2];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) { int i = PAD(offset * (2 * t + 1) - 1), j = PAD(offset * (2 * t + 2) - 1); s[j] += s[i]; }
        offset <<= 1;
    }
    if (t == 0) s[PAD(n - 1)] = 0;
    for (int d = 1; d < n; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) { int i = PAD(offset * (2 * t + 1) - 1), j = PAD(offset * (2 * t + 2) - 1); $T v = s[i]; s[i] = s[j]; s[j] += v; }
    }
    __syncthreads();
    o[t] = s[PAD(t)]; o[t + n / 2] = s[PAD(t + n / 2)];
}
__device__ $T warp_scan($T v) {
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) { $T u = __shfl_up_sync(0xffffffffu, v, d); if (lane >= d) v += u; }
    return v;
}
__device__ $T block_scan($T v, $T *sums) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_scan(v);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) { $T u = lane < (blockDim.x >> 5) ? sums[lane] : ($T)0; u = warp_scan(u); sums[lane] = u; }
    __syncthreads();
    return warp ? v + sums[warp - 1] : v;
}
__global__ void scan_warps(const $T *a, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = warp_scan(a[i]); }
__global__ void scan_blocks(int n, const $T *a, $T *o, $T *totals) {
    __shared__ $T sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    $T v = block_scan(i < n ? a[i] : ($T)0, sums);
    if (i < n) o[i] = v;
    if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = v;
}
__global__ void add_totals(int n, $T *o, const $T *totals) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && blockIdx.x) o[i] += totals[blockIdx.x - 1]; }
// Each thread takes $K in turn, so that the block scans blockDim.x * $K at a time and carries on.
__global__ void one_block_serial_chunks(int n, const $T *a, $T *o) {
    __shared__ $T sums[32];
    __shared__ $T carry;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x * $K) {
        $T v[$K], s = 0;
        int first = base + threadIdx.x * $K;
#pragma unroll
        for (int k = 0; k < $K; ++k) { v[k] = first + k < n ? a[first + k] : ($T)0; s += v[k]; }
        $T end = block_scan(s, sums), before = carry + end - s;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) carry += end;
#pragma unroll
        for (int k = 0; k < $K; ++k) { before += v[k]; if (first + k < n) o[first + k] = before; }
        __syncthreads();
    }
}
__global__ void running_maximum(const $T *a, $T *o) {
    $T *s = ($T *)raw;
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        $T v = s[t];
        if (t >= d && s[t - d] > v) v = s[t - d];
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    o[blockIdx.x * blockDim.x + t] = s[t];
}
__global__ void segmented(const $T *a, const int *head, $T *o) {
    $T *s = ($T *)raw;
    int *f = (int *)(s + blockDim.x), t = threadIdx.x;
    s[t] = a[t]; f[t] = head[t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        $T v = s[t]; int g = f[t];
        if (t >= d) { if (!g) v = s[t - d] + v; g |= f[t - d]; }
        __syncthreads();
        s[t] = v; f[t] = g;
        __syncthreads();
    }
    o[t] = s[t];
}
__global__ void integral_of_rows(int w, const $T *a, $T *o) {
    int y = blockIdx.x;
    $T before = 0;
    for (int x0 = 0; x0 < w; x0 += 32) {
        int x = x0 + threadIdx.x;
        $T v = warp_scan(x < w ? a[y * w + x] : ($T)0);
        if (x < w) o[y * w + x] = before + v;
        before += __shfl_sync(~0u, v, 31);
    }
}
__global__ void suffix_sum(int n, const $T *a, $T *o) {
    int lane = threadIdx.x;
    $T after = 0;
    for (int base = (n - 1) / 32 * 32; base >= 0; base -= 32) {
        $T v = base + lane < n ? a[base + lane] : ($T)0;
        for (int d = 1; d < 32; d *= 2) { $T u = __shfl_down_sync(~0u, v, d); if (lane + d < 32) v += u; }
        if (base + lane < n) o[base + lane] = v + after;
        after += __shfl_sync(~0u, v, 0);
    }
}"""


def _segments(a, head):
    s, o = 0, []
    for v, h in zip(a.tolist(), head):
        s = v if h else s + v
        o.append(s)
    return o


for _t, _n, _b, _k in (("int", 1000, 128, 4), ("float", 777, 64, 3), ("double", 1300, 256, 5), ("unsigned", 2000, 512, 1), ("long long", 513, 96, 2)):
    _d = NUMPY[_t]
    _s = np.dtype(_d).itemsize
    _low = 0 if _t == "unsigned" else -90
    F.run(f"sums_{_t.replace(' ', '_')}", _SCANS, [L("hillis_steele", 1, _b, _b - 5, "a", "o1", shared=_b * _s), L("blelloch_no_conflicts", 3, 64, "e", "o2", shared=140 * _s), L("scan_warps", 2, 96, "e", "o3"),
          L("scan_blocks", cdiv(_n, _b), _b, _n, "a", "o4", "t1"), L("scan_blocks", 1, 32, cdiv(_n, _b), "t1", "t2", "dump"), L("add_totals", cdiv(_n, _b), _b, _n, "o4", "t2"), L("one_block_serial_chunks", 1, 64, _n, "a", "o5"),
          L("running_maximum", 2, 150, "e", "o6", shared=150 * _s), L("segmented", 1, 160, "e", "head", "o7", shared=160 * (_s + 4)), L("integral_of_rows", 4, 32, 77, "e", "o8"), L("suffix_sum", 1, 32, _n, "a", "o9")],
          lambda b, m=_b - 5: {"o1": np.cumsum(b.a[:m]), "o2": np.cumsum(b.e.reshape(3, 128), 1) - b.e.reshape(3, 128), "o3": np.cumsum(b.e[:192].reshape(-1, 32), 1), "o4": np.cumsum(b.a), "o5": np.cumsum(b.a),
                               "o6": np.maximum.accumulate(b.e[:300].reshape(2, 150), 1), "o7": _segments(b.e[:160], b.head), "o8": np.cumsum(b.e[:308].reshape(4, 77), 1), "o9": np.cumsum(b.a[::-1])[::-1]},
          given={"T": _t, "K": _k}, a=ints(1, _n, _low, 99, _d), o1=out(_b - 5, _d), e=ints(2, 384, _low, 99, _d), o2=out(384, _d), o3=out(192, _d), o4=out(_n, _d), t1=out(cdiv(_n, _b), _d), t2=out(cdiv(_n, _b), _d), dump=out(1, _d),
          o5=out(_n, _d), o6=out(300, _d), head=(ints(3, 160, 0, 9) == 0).astype(np.int32), o7=out(160, _d), o8=out(308, _d), o9=out(_n, _d))

# ---- compaction and other users of scans ----
_COMPACT = """
__device__ bool keep($T v) { return $KEEP; }
__device__ int place(bool k, int *warps, int *total) {
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    unsigned m = __ballot_sync(~0u, k);
    if (lane == 0) warps[w] = __popc(m);
    __syncthreads();
    int before = 0, all = 0;
    for (int i = 0; i < blockDim.x / 32; ++i) { if (i < w) before += warps[i]; all += warps[i]; }
    *total = all;
    __syncthreads();
    return before + __popc(m & ((1u << lane) - 1));
}
__global__ void count(int n, const $T *a, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = __syncthreads_count(i < n && keep(a[i]));
    if (threadIdx.x == 0) counts[blockIdx.x] = c;
}
__global__ void exclusive_small(int n, int *counts, int *total) {
    int lane = threadIdx.x, v = lane < n ? counts[lane] : 0, s = v;
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(~0u, s, d); if (lane >= d) s += u; }
    if (lane < n) counts[lane] = s - v;
    if (lane == 31) *total = s;
}
__global__ void compact_stable(int n, const $T *a, const int *starts, $T *o) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, all;
    bool k = i < n && keep(a[i]);
    int p = place(k, warps, &all);
    if (k) o[starts[blockIdx.x] + p] = a[i];
}
__global__ void partition_one_block(int n, const $T *a, $T *o, int *count) {
    __shared__ int warps[32];
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int rejected = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x, all;
        bool k = i < n && keep(a[i]);
        int p = place(k, warps, &all), at = kept + p, inside = min((int)blockDim.x, n - base);
        if (i < n) o[k ? at : n - 1 - (rejected + (int)threadIdx.x - p)] = a[i];
        rejected += inside - all;
        __syncthreads();
        if (threadIdx.x == 0) kept += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = kept;
}
__global__ void compact_unordered(int n, const $T *a, $T *o, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool k = i < n && keep(a[i]);
    unsigned m = __ballot_sync(~0u, k);
    if (!k) return;
    int lane = threadIdx.x & 31, leader = __ffs(m) - 1, at = 0;
    if (lane == leader) at = atomicAdd(count, __popc(m));
    at = __shfl_sync(m, at, leader);
    o[at + __popc(m & ((1u << lane) - 1))] = a[i];
}
__global__ void scatter_if(int n, const $T *a, const int *map, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && keep(a[i])) o[map[i]] = a[i]; }
__global__ void gather(int n, const $T *a, const int *map, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = a[map[i]]; }
__global__ void adjacent_difference(int n, const $T *a, $T *o) {
    __shared__ $T s[65];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) s[threadIdx.x + 1] = a[i];
    if (threadIdx.x == 0) s[0] = i ? a[i - 1] : ($T)0;
    __syncthreads();
    if (i < n) o[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}"""


def _mask(a):
    return a % 3 == 0 if a.dtype.kind in "iu" else a > 0.25


for _t, _keep, _a in (("int", "v % 3 == 0", ints(4, 1000, 0, 999)), ("float", "v > 0.25f", uniform(5, 801, -1)), ("double", "v > 0.25", uniform(6, 650, -1, 1, np.float64)), ("unsigned short", "v % 3 == 0", ints(7, 1024, 0, 999, np.uint16))):
    _n, _d = len(_a), NUMPY[_t]
    _b = 96 if _n % 2 else 128
    _map = np.random.default_rng(8).permutation(_n).astype(np.int32)
    F.run(f"compaction_{_t.replace(' ', '_')}", _COMPACT, [L("count", cdiv(_n, _b), _b, _n, "a", "counts"), L("exclusive_small", 1, 32, cdiv(_n, _b), "counts", "total"), L("compact_stable", cdiv(_n, _b), _b, _n, "a", "counts", "o1"),
          L("partition_one_block", 1, 64, _n, "a", "o2", "kept"), L("compact_unordered", 1, 32, 30, "a", "o3", "found"), L("scatter_if", cdiv(_n, 64), 64, _n, "a", "map", "o4"), L("gather", cdiv(_n, 64), 64, _n, "a", "map", "o5"),
          L("adjacent_difference", cdiv(_n, 64), 64, _n, "a", "o6")],
          lambda b, n=_n: {"o1": np.concatenate([b.a[_mask(b.a)], b.o1[_mask(b.a).sum():]]), "o2": np.concatenate([b.a[_mask(b.a)], b.a[~_mask(b.a)][::-1]]), "kept": [_mask(b.a).sum()], "total": [_mask(b.a).sum()],
                           "o3": np.concatenate([b.a[:30][_mask(b.a[:30])], b.o3[_mask(b.a[:30]).sum():]]), "found": [_mask(b.a[:30]).sum()], "o4": np.where(_mask(b.a[np.argsort(b.map)]), b.a[np.argsort(b.map)], 0),
                           "o5": b.a[b.map], "o6": np.concatenate([b.a[:1], b.a[1:] - b.a[:-1]])},
          given={"T": _t, "KEEP": _keep}, a=_a, counts=out(cdiv(_n, _b), np.int32), total=out(1, np.int32), o1=zeros(_n, _d), o2=out(_n, _d), kept=out(1, np.int32), o3=zeros(30, _d), found=zeros(1, np.int32), map=_map,
          o4=zeros(_n, _d), o5=out(_n, _d), o6=out(_n, _d))

F.run("expansion_and_runs", """
__global__ void expand_by_search(int n, int total, const int *start, int *owner, int *rank) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int lo = 0, hi = n;
    while (hi - lo > 1) { int mid = (lo + hi) >> 1; if (start[mid] <= i) lo = mid; else hi = mid; }
    owner[i] = lo; rank[i] = i - start[lo];
}
__global__ void run_heads(int n, const int *a, int *flag) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) flag[i] = i == 0 || a[i] != a[i - 1]; }
__global__ void scan_one_block(int n, const int *flag, int *index) {
    __shared__ int s[256];
    int t = threadIdx.x, carry = 0;
    for (int base = 0; base < n; base += 256) {
        s[t] = base + t < n ? flag[base + t] : 0;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; __syncthreads(); }
        if (base + t < n) index[base + t] = carry + s[t];
        carry += s[255];
        __syncthreads();
    }
}
__global__ void write_runs(int n, const int *a, const int *flag, const int *index, int *value, int *begin) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flag[i]) { value[index[i] - 1] = a[i]; begin[index[i] - 1] = i; }
}
__global__ void run_lengths(int n, const int *index, const int *begin, int *length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, runs = index[n - 1];
    if (r < runs) length[r] = (r + 1 < runs ? begin[r + 1] : n) - begin[r];
}
__global__ void reduce_by_key(int n, const int *index, const int *value, int *sum) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(sum + index[i] - 1, value[i]); }
struct Affine { unsigned a, b; };
__global__ void linear_recurrence(int n, const int *a, const int *b, int *x) {
    __shared__ Affine s[256];
    int t = threadIdx.x;
    Affine v = {(unsigned)a[t], (unsigned)b[t]};
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        Affine u = t >= d ? s[t - d] : Affine{1, 0};
        __syncthreads();
        s[t].b = s[t].a * u.b + s[t].b; s[t].a *= u.a;
        __syncthreads();
    }
    x[t] = (int)(s[t].a * 5 + s[t].b);
}
__global__ void parenthesis_depth(int n, const char *text, int *depth) {
    int lane = threadIdx.x, before = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        char c = i < n ? text[i] : 'x';
        unsigned open = __ballot_sync(~0u, c == '('), close = __ballot_sync(~0u, c == ')'), upto = lane == 31 ? ~0u : (2u << lane) - 1;
        if (i < n) depth[i] = before + __popc(open & upto) - __popc(close & upto);
        before += __popc(open) - __popc(close);
    }
}""", [L("expand_by_search", 7, 128, 40, 800, "start", "owner", "rank"), L("run_heads", 6, 128, 700, "a", "flag"), L("scan_one_block", 1, 256, 700, "flag", "index"), L("write_runs", 6, 128, 700, "a", "flag", "index", "value", "begin"),
       L("run_lengths", 6, 128, 700, "index", "begin", "length"), L("reduce_by_key", 6, 128, 700, "index", "a", "sum"), L("linear_recurrence", 1, 256, 256, "ra", "rb", "rx"), L("parenthesis_depth", 1, 32, 333, "text", "depth")],
      lambda b: {"owner": np.searchsorted(b.start, np.arange(800), "right") - 1, "rank": np.arange(800) - b.start[np.searchsorted(b.start, np.arange(800), "right") - 1], **_runs(b.a), "rx": _recur(b.ra, b.rb),
                 "depth": np.cumsum((b.text == 40).astype(int) - (b.text == 41))},
      start=np.concatenate([[0], np.sort(ints(9, 39, 1, 800))]).astype(np.int32), owner=out(800, np.int32), rank=out(800, np.int32), a=np.repeat(ints(10, 350, 0, 4), 2), flag=out(700, np.int32), index=out(700, np.int32),
      value=zeros(700, np.int32), begin=zeros(700, np.int32), length=zeros(700, np.int32), sum=zeros(700, np.int32), ra=ints(11, 256, -3, 4), rb=ints(12, 256), rx=out(256, np.int32), text=ints(13, 333, 40, 43, np.int8), depth=out(333, np.int32))


def _runs(a):
    begin = np.flatnonzero(np.concatenate([[True], a[1:] != a[:-1]]))
    length = np.diff(np.append(begin, len(a)))
    pad = lambda v: np.pad(v, (0, len(a) - len(v)))
    return {"value": pad(a[begin]), "begin": pad(begin), "length": pad(length), "sum": pad(a[begin] * length)}


def _recur(a, b):
    x, o = 5, []
    for p, q in zip(a.tolist(), b.tolist()):
        x = p * x + q & 0xFFFFFFFF
        o.append(x)
    return np.array(o, np.uint32).view(np.int32)
