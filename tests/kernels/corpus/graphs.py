"""Graphs: traversal, paths, ranks, components, matchings; queues and hash tables that such programs use."""

from __future__ import annotations

import heapq

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, out, rng, zeros

SUITE = F = Family("graphs")


def random_graph(seed, n, edges, symmetric=True):
    """Offsets, targets and weights of a graph without loops and double edges."""
    g = rng(seed)
    a, b = g.integers(0, n, edges), g.integers(0, n, edges)
    pairs = {(int(x), int(y)) for x, y in zip(a, b) if x != y}
    if symmetric:
        pairs |= {(y, x) for x, y in pairs}
    pairs = sorted(pairs)
    source = np.array([p[0] for p in pairs])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))]).astype(np.int32)
    weight = np.array([1 + (min(x, y) * 7 + max(x, y) * 13) % 20 for x, y in pairs], np.int32)
    return offsets, np.array([p[1] for p in pairs], np.int32), weight


def neighbours(b, v):
    """Targets and weights of the edges of a vertex."""
    s = slice(b.offsets[v], b.offsets[v + 1])
    return zip(b.targets[s].tolist(), b.weights[s].tolist())


def levels(b, n, start=0):
    dist, frontier = np.full(n, -1, np.int32), [start]
    dist[start] = 0
    while frontier:
        later = []
        for v in frontier:
            for t, _ in neighbours(b, v):
                if dist[t] < 0:
                    dist[t] = dist[v] + 1
                    later.append(t)
        frontier = later
    return dist


def shortest(b, n, start=0):
    dist, heap = np.full(n, 10**9), [(0, start)]
    dist[start] = 0
    while heap:
        d, v = heapq.heappop(heap)
        if d == dist[v]:
            for t, w in neighbours(b, v):
                if d + w < dist[t]:
                    dist[t] = d + w
                    heapq.heappush(heap, (d + w, t))
    return dist


def components(b, n):
    label = np.arange(n)
    for v in range(n):
        if label[v] == v:
            stack = [v]
            while stack:
                u = stack.pop()
                for t, _ in neighbours(b, u):
                    if label[t] > v:
                        label[t] = v
                        stack.append(t)
    return label


_TRAVERSAL = """
#define INF 1000000000
__global__ void bfs_by_level(int n, const int *offsets, const int *targets, int *dist, int level, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || dist[v] != level) return;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) if (atomicCAS(&dist[targets[e]], -1, level + 1) == -1) *changed = 1;
}
__global__ void bfs_frontier(const int *offsets, const int *targets, int *dist, int level, const int *in, const int *in_size, int *out, int *out_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *in_size) return;
    int v = in[i];
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
        int t = targets[e];
        if (atomicCAS(&dist[t], -1, level + 1) == -1) out[atomicAdd(out_size, 1)] = t;
    }
}
__global__ void bfs_warp_per_vertex(int n, const int *offsets, const int *targets, int *dist, int level) {
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n || dist[v] != level) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) { int t = targets[e]; if (dist[t] == -1) atomicExch(&dist[t], level + 1); }
}
__global__ void bfs_bottom_up(int n, const int *offsets, const int *targets, const int *dist, int *next, int level) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int d = dist[v];
    if (d == -1) for (int e = offsets[v]; e < offsets[v + 1]; ++e) if (dist[targets[e]] == level) { d = level + 1; break; }
    next[v] = d;
}
__global__ void bfs_one_block(int n, const int *offsets, const int *targets, int *dist, int start) {
    extern __shared__ int queue[];
    __shared__ int begin, end, reserved;
    for (int i = threadIdx.x; i < n; i += blockDim.x) dist[i] = i == start ? 0 : -1;
    if (threadIdx.x == 0) { queue[0] = start; begin = 0; end = reserved = 1; }
    __syncthreads();
    while (begin < end) {
        int stop = end;
        for (int q = begin + threadIdx.x; q < stop; q += blockDim.x) {
            int v = queue[q], d = dist[v] + 1;
            for (int e = offsets[v]; e < offsets[v + 1]; ++e) { int t = targets[e]; if (atomicCAS(&dist[t], -1, d) == -1) queue[atomicAdd(&reserved, 1)] = t; }
        }
        __syncthreads();
        if (threadIdx.x == 0) { begin = stop; end = reserved; }
        __syncthreads();
    }
}
__global__ void bfs_bits(int n, const int *offsets, const int *targets, const unsigned long long *seen, unsigned long long *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    unsigned long long m = seen[v];
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) m |= seen[targets[e]];
    next[v] = m;
}
__global__ void bellman_ford(int n, const int *offsets, const int *targets, const int *weights, int *dist) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int d = atomicAdd(&dist[v], 0);
    if (d < INF) for (int e = offsets[v]; e < offsets[v + 1]; ++e) atomicMin(&dist[targets[e]], d + weights[e]);
}
__global__ void relax_edges(int m, const int *from, const int *to, const int *weights, const int *dist, int *next) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m && dist[from[e]] < INF) atomicMin(&next[to[e]], dist[from[e]] + weights[e]);
}
__global__ void sources(int n, const int *offsets, int *from) { int v = blockIdx.x * blockDim.x + threadIdx.x; if (v < n) for (int e = offsets[v]; e < offsets[v + 1]; ++e) from[e] = v; }
__global__ void delta_bucket(int n, const int *offsets, const int *targets, const int *weights, int *dist, int low, int high) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int d = atomicAdd(&dist[v], 0);
    if (d >= low && d < high) for (int e = offsets[v]; e < offsets[v + 1]; ++e) if (weights[e] <= 20) atomicMin(&dist[targets[e]], d + weights[e]);
}"""

for _n, _edges, _block in ((150, 300, 64), (400, 700, 128), (64, 500, 32)):
    _o, _t, _w = random_graph(1 + _n, _n, _edges)
    _m, _g = len(_t), cdiv(_n, _block)
    _start = np.full(_n, -1, np.int32)
    _start[0] = 0
    _far = np.where(_start == 0, 0, 10**9).astype(np.int32)
    _deep = 24
    _cycle = lambda i: (f"q{i % 2}", f"c{i}")
    F.run(f"traversal_{_n}", _TRAVERSAL, [*(L("bfs_by_level", _g, _block, _n, "offsets", "targets", "d1", i, "changed") for i in range(_deep)),
          *(L("bfs_frontier", _g, _block, "offsets", "targets", "d2", i, *_cycle(i), *_cycle(i + 1)) for i in range(_deep)), *(L("bfs_warp_per_vertex", cdiv(_n, 4), 128, _n, "offsets", "targets", "d3", i) for i in range(_deep)),
          *(L("bfs_bottom_up", _g, _block, _n, "offsets", "targets", *(("d4", "d4b") if i % 2 == 0 else ("d4b", "d4")), i) for i in range(_deep)), L("bfs_one_block", 1, 96, _n, "offsets", "targets", "d5", 3, shared=4 * _n),
          L("bfs_bits", _g, _block, _n, "offsets", "targets", "bits", "bits2"), L("bfs_bits", _g, _block, _n, "offsets", "targets", "bits2", "bits"), *(L("bellman_ford", _g, _block, _n, "offsets", "targets", "weights", "d6") for _ in range(_deep + 6)),
          L("sources", _g, _block, _n, "offsets", "from"), L("relax_edges", cdiv(_m, 128), 128, _m, "from", "targets", "weights", "near", "d7"),
          *(L("delta_bucket", _g, _block, _n, "offsets", "targets", "weights", "d8", 10 * i, 10 * i + 10) for i in range(14) for _ in range(10))],
          lambda b, n=_n: {**{k: levels(b, n) for k in ("d1", "d2", "d3", "d4")}, "d5": levels(b, n, 3), "bits": _two_steps(b, n), "d6": shortest(b, n), "d7": [min([b.d7[v]] + [b.near[t] + w for t, w in neighbours(b, v)]) for v in range(n)], "d8": shortest(b, n)},
          offsets=_o, targets=_t, weights=_w, changed=zeros(1, np.int32), d1=_start, d2=_start, d3=_start, d4=_start, d4b=out(_n, np.int32), d5=out(_n, np.int32), q0=zeros(_n, np.int32), q1=zeros(_n, np.int32), c0=np.ones(1, np.int32),
          **{f"c{i}": zeros(1, np.int32) for i in range(1, _deep + 1)}, bits=(np.uint64(1) << (np.arange(_n, dtype=np.uint64) % np.uint64(64))), bits2=out(_n, np.uint64), d6=_far, **{"from": out(_m, np.int32)}, near=ints(3, _n, 0, 99), d7=ints(4, _n, 0, 99), d8=_far)


def _two_steps(b, n):
    m = b.bits
    for _ in range(2):
        m = np.array([np.bitwise_or.reduce([m[v]] + [m[t] for t, _ in neighbours(b, v)]) for v in range(n)])
    return m


_ANALYSIS = """
__global__ void pagerank_push(int n, const int *offsets, const int *targets, const $T *rank, $T *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int degree = offsets[v + 1] - offsets[v];
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) atomicAdd(&next[targets[e]], rank[v] / degree);
}
__global__ void pagerank_pull(int n, $T damping, const int *offsets, const int *targets, const $T *rank, $T *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    $T s = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) { int u = targets[e]; s += rank[u] / (offsets[u + 1] - offsets[u]); }
    next[v] = (1 - damping) / n + damping * s;
}
__global__ void label_propagation(int n, const int *offsets, const int *targets, int *label) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int m = atomicAdd(&label[v], 0);
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) m = min(m, atomicAdd(&label[targets[e]], 0));
    atomicMin(&label[v], m);
}
__device__ int root(volatile int *parent, int v) { while (parent[v] != v) v = parent[v]; return v; }
__global__ void union_edges(int n, const int *offsets, const int *targets, int *parent) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
        int a = v, b = targets[e];
        for (;;) {
            a = root(parent, a); b = root(parent, b);
            if (a == b) break;
            int hi = max(a, b), lo = min(a, b);
            if (atomicCAS(&parent[hi], hi, lo) == hi) break;
        }
    }
}
__global__ void flatten(int n, int *parent) { int v = blockIdx.x * blockDim.x + threadIdx.x; if (v < n) { int r = root(parent, v); atomicExch(&parent[v], r); } }
__global__ void iota(int n, int *a) { int v = blockIdx.x * blockDim.x + threadIdx.x; if (v < n) a[v] = v; }
__global__ void triangles(int n, const int *offsets, const int *targets, unsigned long long *count) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = 0;
    if (v < n) for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
        int u = targets[e];
        if (u <= v) continue;
        int i = offsets[v], j = offsets[u];
        while (i < offsets[v + 1] && j < offsets[u + 1]) { int a = targets[i], b = targets[j]; if (a == b) { c += a > u; ++i; ++j; } else if (a < b) ++i; else ++j; }
    }
    for (int d = 16; d; d >>= 1) c += __shfl_down_sync(~0u, c, d);
    if ((threadIdx.x & 31) == 0 && c) atomicAdd(count, (unsigned long long)c);
}
__device__ unsigned hash(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
// Of the open vertices those join that come before all their open neighbours.
__global__ void mis_choose(int n, const int *offsets, const int *targets, const int *state, int *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int s = state[v];
    if (s == 0) {
        s = 1;
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) { int u = targets[e]; if (state[u] == 0 && (hash(u) < hash(v) || (hash(u) == hash(v) && u < v))) s = 0; }
    }
    next[v] = s;
}
__global__ void mis_exclude(int n, const int *offsets, const int *targets, const int *state, int *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int s = state[v];
    if (s == 0) for (int e = offsets[v]; e < offsets[v + 1]; ++e) if (state[targets[e]] == 1) s = 2;
    next[v] = s;
}
__global__ void greedy_colour(int n, const int *offsets, const int *targets, const int *in, int *colour) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int c = in[v];
    if (c < 0) {
        bool first = true;
        unsigned long long used = 0;
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) { int u = targets[e]; if (in[u] < 0) first &= v < u; else used |= 1ull << in[u]; }
        if (first) c = __ffsll(~used) - 1;
    }
    colour[v] = c;
}
__global__ void k_core_step(int n, int k, const int *offsets, const int *targets, const unsigned char *alive, unsigned char *next) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int d = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) d += alive[targets[e]];
    next[v] = alive[v] && d >= k;
}
__global__ void floyd_step(int n, int k, int *d) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n && i != k && j != k) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void floyd_one_block(int n, int *d) {
    for (int k = 0; k < n; ++k) {
        for (int e = threadIdx.x; e < n * n; e += blockDim.x) { int i = e / n, j = e % n; if (i != k && j != k) d[e] = min(d[e], d[i * n + k] + d[k * n + j]); }
        __syncthreads();
    }
}
__global__ void transitive_closure(int n, int k, unsigned *rows) {
    int i = blockIdx.x, words = (n + 31) / 32;
    if (i != k && (rows[i * words + k / 32] >> k % 32 & 1)) { __syncwarp(); for (int w = threadIdx.x; w < words; w += 32) rows[i * words + w] |= rows[k * words + w]; }
}
__global__ void list_ranking(int n, const int *next, const int *rank, int *next2, int *rank2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = next[i];
    rank2[i] = s == i ? rank[i] : rank[i] + rank[s];
    next2[i] = next[s];
}
__global__ void degrees_and_density(int n, const int *offsets, int *histogram, int *largest) {
    int v = blockIdx.x * blockDim.x + threadIdx.x, d = v < n ? offsets[v + 1] - offsets[v] : 0;
    if (v < n) atomicAdd(&histogram[min(d, 31)], 1);
    int m = __reduce_max_sync(~0u, d);
    if ((threadIdx.x & 31) == 0) atomicMax(largest, m);
}"""


def _mix(x):
    m = 0xFFFFFFFF
    x = (x ^ x >> 16) * 0x7FEB352D & m
    x = (x ^ x >> 15) * 0x846CA68B & m
    return x ^ x >> 16


def _mis(b, n):
    state = [0] * n
    for v in sorted(range(n), key=lambda v: (_mix(v), v)):
        if state[v] == 0:
            state[v] = 1
            for t, _ in neighbours(b, v):
                state[t] = state[t] or 2
    return state


def _greedy(b, n):
    colour = {}
    for v in range(n):
        used = {colour.get(t) for t, _ in neighbours(b, v)}
        colour[v] = next(c for c in range(n) if c not in used)
    return [colour[v] for v in range(n)]


def _core(b, n, k):
    alive = np.ones(n, bool)
    while True:
        later = np.array([alive[v] and sum(alive[t] for t, _ in neighbours(b, v)) >= k for v in range(n)])
        if (later == alive).all():
            return alive
        alive = later


def _floyd(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1])
    return d


def _closure(rows, n):
    a = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little").astype(bool)
    for k in range(n):
        a |= np.outer(a[:, k], a[k])
    return np.packbits(a, axis=1, bitorder="little").view(np.uint32)


def _adjacency(b, n):
    a = np.zeros((n, n))
    for v in range(n):
        for t, _ in neighbours(b, v):
            a[v, t] = 1
    return a


def _ranks(b, n, steps):
    a = _adjacency(b, n)
    degree = np.maximum(a.sum(1), 1)
    r = b.r0.astype(np.float64)
    for _ in range(steps):
        r = (1 - 0.85) / n + 0.85 * (a.T @ (r / degree))
    return r


for _ty, _n, _edges in (("float", 200, 500), ("double", 333, 1500)):
    _o, _t, _w = random_graph(50 + _n, _n, _edges)
    _g, _d, _core_k = cdiv(_n, 64), NUMPY[_ty], 3 if _ty == "float" else 6
    _perm = rng(7).permutation(_n)
    _succ = np.empty(_n, np.int32)
    _succ[_perm[:-1]], _succ[_perm[-1]] = _perm[1:], _perm[-1]
    _ends = (np.arange(_n) != _perm[-1]).astype(np.int32)
    _square = np.where(ints(8, (40, 40), 0, 5) == 0, ints(9, (40, 40), 1, 99), 10**6).astype(np.int32)
    np.fill_diagonal(_square, 0)
    _bits = np.packbits(np.pad(rng(10).random((70, 70)) < 0.02, ((0, 0), (0, 26))), axis=1, bitorder="little").view(np.uint32)
    _graph = (_n, "offsets", "targets")
    _flip = lambda kernel, a, z, rounds, *extra, g=_g, graph=_graph: [L(kernel, g, 64, graph[0], *extra, *graph[1:], *((a, z) if i % 2 == 0 else (z, a))) for i in range(rounds)]
    F.run(f"analysis_{_ty}", _ANALYSIS, [L("pagerank_push", _g, 64, *_graph, "r0", "pushed"), *(L("pagerank_pull", _g, 64, _n, _d(0.85), "offsets", "targets", *(("r0", "r1") if i % 2 == 0 else ("r1", "r0"))) for i in range(6)),
          *(L("label_propagation", _g, 64, *_graph, "label") for _ in range(25)), L("iota", _g, 64, _n, "parent"), L("union_edges", _g, 64, *_graph, "parent"), L("flatten", _g, 64, _n, "parent"), L("triangles", _g, 64, *_graph, "count"),
          *(step for _ in range(15) for step in (L("mis_choose", _g, 64, *_graph, "s0", "s1"), L("mis_exclude", _g, 64, *_graph, "s1", "s0"))), *_flip("greedy_colour", "c0", "c1", 40), *_flip("k_core_step", "k0", "k1", 40, _core_k),
          *(L("floyd_step", (3, 5), (16, 8), 40, k, "w1") for k in range(40)), L("floyd_one_block", 1, 256, 40, "w2"), *(L("transitive_closure", 70, 32, 70, k, "reach") for k in range(70)),
          *(L("list_ranking", _g, 64, _n, *(("n0", "k_0", "n1", "k_1") if i % 2 == 0 else ("n1", "k_1", "n0", "k_0"))) for i in range(10)), L("degrees_and_density", _g, 64, _n, "offsets", "hist", "most")],
          lambda b, n=_n, perm=_perm, k=_core_k: {"pushed": _adjacency(b, n).T @ (b.r0 / np.maximum(_adjacency(b, n).sum(1), 1)), "r0": _ranks(b, n, 6), "label": components(b, n), "parent": components(b, n), "count": [np.trace(np.linalg.matrix_power(_adjacency(b, n), 3)) / 6],
                                       "s0": _mis(b, n), "c0": _greedy(b, n), "k0": _core(b, n, k), "w1": _floyd(b.w1), "w2": _floyd(b.w1), "reach": _closure(b.reach, 70), "k_0": n - 1 - np.argsort(perm),
                                       "hist": np.bincount(np.minimum(np.diff(b.offsets), 31), minlength=32), "most": [np.diff(b.offsets).max()]},
          compare={"pushed": Within("fewer than 40 positive terms", rtol=1e-5 if _ty == "float" else 1e-13), "r0": Within("six rounds of fewer than 40 positive terms", rtol=2e-5 if _ty == "float" else 1e-13)}, given={"T": _ty}, offsets=_o, targets=_t, weights=_w,
          r0=np.full(_n, 1 / _n, _d) * (1 + np.arange(_n) % 3).astype(_d), r1=out(_n, _d), pushed=zeros(_n, _d), label=np.arange(_n, dtype=np.int32), parent=out(_n, np.int32), count=zeros(1, np.uint64), s0=zeros(_n, np.int32), s1=out(_n, np.int32),
          c0=np.full(_n, -1, np.int32), c1=out(_n, np.int32), k0=np.ones(_n, np.uint8), k1=out(_n, np.uint8), w1=_square, w2=_square, reach=_bits, n0=_succ, n1=out(_n, np.int32), k_0=_ends, k_1=out(_n, np.int32), hist=zeros(32, np.int32), most=zeros(1, np.int32))

# ---- hash tables, queues, stacks, locks ----
_TABLES = """
#define EMPTY (($K)-1)
#define SLOTS $SLOTS
__device__ unsigned slot($K k) { unsigned long long h = (unsigned long long)k * 0x9E3779B97F4A7C15ull; return (unsigned)(h >> 40) % SLOTS; }
__global__ void insert(int n, const $K *keys, $K *table, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $K k = keys[i];
    for (unsigned s = slot(k);; s = (s + 1) % SLOTS) {
        $K old = atomicCAS(&table[s], EMPTY, k);
        if (old == EMPTY || old == k) { atomicAdd(&counts[s], 1); return; }
    }
}
__global__ void find(int n, const $K *keys, const $K *table, const int *counts, int *found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $K k = keys[i];
    int c = 0;
    for (unsigned s = slot(k); table[s] != EMPTY; s = (s + 1) % SLOTS) if (table[s] == k) { c = counts[s]; break; }
    found[i] = c;
}
__global__ void occupied(const $K *table, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = __syncthreads_count(i < SLOTS && table[i] != EMPTY);
    if (threadIdx.x == 0) atomicAdd(count, c);
}
// Chains through an arena of nodes.
__global__ void chain_insert(int n, const $K *keys, int *heads, int *next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    next[i] = atomicExch(&heads[slot(keys[i])], i);
}
__global__ void chain_count(int n, const $K *queries, const $K *keys, const int *heads, const int *next, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = 0;
    for (int j = heads[slot(queries[i])]; j >= 0; j = next[j]) c += keys[j] == queries[i];
    count[i] = c;
}
__global__ void bloom_insert(int n, const $K *keys, unsigned *bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int h = 1; h <= 3; ++h) { unsigned b = (unsigned)((unsigned long long)keys[i] * (2 * h + 1) * 2654435761ull >> 13) % 4096; atomicOr(&bits[b / 32], 1u << b % 32); }
}
__global__ void bloom_query(int n, const $K *keys, const unsigned *bits, unsigned char *maybe) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool all = true;
    for (int h = 1; h <= 3; ++h) { unsigned b = (unsigned)((unsigned long long)keys[i] * (2 * h + 1) * 2654435761ull >> 13) % 4096; all &= bits[b / 32] >> b % 32 & 1; }
    maybe[i] = all;
}
__global__ void work_queue(int total, int *head, const $K *items, unsigned long long *sum, int *taken) {
    for (;;) {
        int i = atomicAdd(head, 1);
        if (i >= total) return;
        atomicAdd(sum, (unsigned long long)items[i] * i);
        atomicAdd(&taken[i], 1);
    }
}
__global__ void locked_increment(int *lock, $K *value, $K *squares) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile $K *v = value, *q = squares;
            *v = *v + 1; *q = *q + *v * *v;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
__global__ void ring_buffer(int rounds, $K *ring, $K *out) {
    __shared__ $K s[32];
    int lane = threadIdx.x;
    $K v = ring[lane];
    for (int r = 0; r < rounds; ++r) { s[(lane + 1) & 31] = v; __syncwarp(); v = s[lane] + (($K)r & 1); __syncwarp(); }
    out[lane] = v;
}"""


def _tables(b, n):
    values, counts = np.unique(b.keys, return_counts=True)
    table = dict(zip(values.tolist(), counts.tolist()))
    found = [table.get(int(q), 0) for q in b.queries]
    bit = lambda k, h: ((int(k) * (2 * h + 1) * 2654435761 & 0xFFFFFFFFFFFFFFFF) >> 13 & 0xFFFFFFFF) % 4096
    bits = {bit(k, h) for k in b.keys for h in (1, 2, 3)}
    ring = b.ring.astype(np.int64)
    for r in range(20):
        ring = np.roll(ring, 1) + (r & 1)
    steps = np.arange(1, 161)
    return {"found": found, "used": [len(values)], "chained": found, "maybe": [all(bit(q, h) in bits for h in (1, 2, 3)) for q in b.queries], "sum": [int((b.keys.astype(object) * np.arange(n)).sum())], "taken": np.ones(n), "value": [160],
            "squares": [(steps**2).sum()], "ring_out": ring}


for _t, _n, _slots in (("unsigned", 700, 1024), ("unsigned long long", 500, 701)):
    _d = NUMPY[_t]
    F.run(f"tables_{_t.split()[-1]}", _TABLES, [L("insert", cdiv(_n, 128), 128, _n, "keys", "table", "counts"), L("find", 4, 100, 400, "queries", "table", "counts", "found"), L("occupied", cdiv(_slots, 96), 96, "table", "used"), L("chain_insert", cdiv(_n, 64), 64, _n, "keys", "heads", "next"),
          L("chain_count", 4, 100, 400, "queries", "keys", "heads", "next", "chained"), L("bloom_insert", cdiv(_n, 64), 64, _n, "keys", "bits"), L("bloom_query", 4, 100, 400, "queries", "bits", "maybe"),
          L("work_queue", 3, 64, _n, "head", "keys", "sum", "taken"), L("locked_increment", 5, 32, "lock", "value", "squares"), L("ring_buffer", 1, 32, 20, "ring", "ring_out")], lambda b, n=_n: _tables(b, n), given={"K": _t, "SLOTS": _slots},
          keys=ints(21, _n, 0, 450, _d), queries=ints(22, 400, 0, 900, _d), table=np.full(_slots, np.iinfo(_d).max, _d), counts=zeros(_slots, np.int32), found=out(400, np.int32), used=zeros(1, np.int32), heads=np.full(_slots, -1, np.int32), next=out(_n, np.int32),
          chained=out(400, np.int32), bits=zeros(128, np.uint32), maybe=out(400, np.uint8), head=zeros(1, np.int32), sum=zeros(1, np.uint64), taken=zeros(_n, np.int32), lock=zeros(1, np.int32), value=zeros(1, _d), squares=zeros(1, _d), ring=ints(23, 32, 0, 99, _d),
          ring_out=out(32, _d))
