"""Cooperative groups within a block. Oracle: NumPy."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("cooperative_groups")

_HEAD = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
_REDUCE = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;\n"


def _group(name: str, body: str, launch: Launch | list[Launch], buffers, expect, head: str = _HEAD) -> None:
    SUITE.add(name, head + body, launch, buffers=buffers, expect=expect, no_extern_c=True)


INTS = random_ints(np.int32, 256, 211)

_group("thread_block_rank_size_sync", """
extern "C" __global__ void k(int *out) {
    __shared__ int s[120];
    cg::thread_block b = cg::this_thread_block();
    s[b.thread_rank()] = b.thread_rank() * 2 + b.group_index().x * 1000;
    b.sync();
    out[blockIdx.x * 120 + b.thread_rank()] = s[b.size() - 1 - b.thread_rank()] + b.thread_index().y;
}""", Launch(["out"], (2,), (12, 10)), {"out": poisoned(240, np.int32)},
       lambda _: {"out": np.concatenate([(119 - np.arange(120)) * 2 + g * 1000 + np.arange(120) // 12 for g in range(2)]).astype(np.int32)})
_SIZES = (2, 4, 8, 16, 32)
# All sizes in one program, as the headers take longer than the rest.
_group("tiled_partitions", "".join(f"""
extern "C" __global__ void of_{size}(const int *a, int *out) {{
    auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_xor(v, d);
    out[i] = v + tile.shfl(tile.thread_rank(), 1) * 3 + tile.meta_group_rank();
}}""" for size in _SIZES), [Launch(["a", f"of_{size}"], (2,), (128,), kernel=f"of_{size}") for size in _SIZES],
       {"a": INTS, **{f"of_{size}": poisoned(256, np.int32) for size in _SIZES}},
       lambda b: {f"of_{s}": (np.repeat(b["a"].reshape(-1, s).sum(1, dtype=np.int32), s) + 3 + np.tile(np.arange(128) // s, 2)).astype(np.int32) for s in _SIZES})
_group("tile_votes_and_matches", """
extern "C" __global__ void k(const int *a, unsigned int *out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = threadIdx.x, v = a[i] & 3;
    unsigned int *o = out + 4 * i;
    o[0] = tile.ballot(v == 1); o[1] = tile.any(v == 2); o[2] = tile.all(v < 4); o[3] = tile.match_any(v);
}""", Launch(["a", "out"], (1,), (64,)), {"a": INTS[:64], "out": poisoned((64, 4), np.uint32)}, lambda b: {"out": _votes(b["a"] & 3)})


def _votes(v: np.ndarray) -> np.ndarray:
    out = []
    for row in v.reshape(4, 16):
        mask = lambda hit: int(sum(1 << i for i in range(16) if hit[i]))  # noqa: E731
        out += [[mask(row == 1), int((row == 2).any()), 1, mask(row == x)] for x in row]
    return np.array(out, np.uint32)


_group("coalesced_group_in_a_branch", """
extern "C" __global__ void k(const int *a, int *out) {
    int i = threadIdx.x, v = a[i];
    out[i] = -1;
    if (v & 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        out[i] = g.shfl(v, 0) + (g.thread_rank() < g.size()) + 2 * (int)(g.ballot(1) != 0);
    }
}""", Launch(["a", "out"], (1,), (32,)), {"a": INTS[:32], "out": poisoned(32, np.int32)},
       lambda b: {"out": np.where(b["a"] & 1, b["a"][(b["a"] & 1) != 0][0] + np.int32(3), -1).astype(np.int32)})
_group("warp_aggregated_atomic_by_coalesced_group", """
__device__ int claim(int *counter) {
    auto g = cg::coalesced_threads();
    int base;
    if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
    return g.shfl(base, 0) + g.thread_rank();
}
extern "C" __global__ void k(const int *a, int *counter, int *out) {
    int v = a[blockIdx.x * blockDim.x + threadIdx.x];
    if (v > 0) out[claim(counter)] = 1;
}""", Launch(["a", "counter", "out"], (2,), (128,)), {"a": INTS, "counter": np.zeros(1, np.int32), "out": np.zeros(256, np.int32)},
       lambda b: {"counter": np.array([(b["a"] > 0).sum()], np.int32), "out": (np.arange(256) < (b["a"] > 0).sum()).astype(np.int32)})
_group("reduce_and_scan", """
extern "C" __global__ void k(const int *a, int *out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = threadIdx.x, v = a[i] >> 8;
    out[3 * i] = cg::reduce(tile, v, cg::plus<int>());
    out[3 * i + 1] = cg::reduce(tile, v, cg::greater<int>());
    out[3 * i + 2] = cg::inclusive_scan(tile, v);
}""", Launch(["a", "out"], (1,), (128,)), {"a": INTS[:128], "out": poisoned((128, 3), np.int32)}, lambda b: {"out": _reduced(b["a"] >> 8)}, _REDUCE)


def _reduced(v: np.ndarray) -> np.ndarray:
    rows = v.reshape(4, 32)
    return np.stack([np.repeat(rows.sum(1), 32), np.repeat(rows.max(1), 32), np.cumsum(rows, 1).ravel()], 1).astype(np.int32)


_group("reduce_of_floats", """
extern "C" __global__ void k(const float *a, float *out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(tile, a[threadIdx.x], cg::plus<float>());
}""", Launch(["a", "out"], (1,), (64,)), {"a": rng(212).integers(-50, 50, 64).astype(np.float32), "out": poisoned(64, np.float32)},
       lambda b: {"out": np.repeat(b["a"].reshape(8, 8).sum(1), 8)}, _REDUCE)
_group("group_passed_to_function", """
template <typename G> __device__ int sum(G g, int *scratch, int v) {
    int r = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        scratch[r] = v;
        g.sync();
        if (r < i) v += scratch[r + i];
        g.sync();
    }
    return v;
}
extern "C" __global__ void k(const int *a, int *out) {
    __shared__ int s[128];
    auto b = cg::this_thread_block();
    int whole = sum(b, s, a[threadIdx.x]);
    b.sync();
    auto t = cg::tiled_partition<32>(b);
    int part = sum(t, s + 32 * (threadIdx.x / 32), a[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = whole;
    if (t.thread_rank() == 0) out[1 + threadIdx.x / 32] = part;
}""", Launch(["a", "out"], (1,), (128,)), {"a": INTS[:128], "out": poisoned(5, np.int32)},
       lambda b: {"out": np.concatenate([[b["a"].sum(dtype=np.int32)], b["a"].reshape(4, 32).sum(1, dtype=np.int32)]).astype(np.int32)})
_group("labeled_partition", """
extern "C" __global__ void k(const int *a, int *out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int label = a[threadIdx.x] & 3;
    auto g = cg::labeled_partition(tile, label);
    out[threadIdx.x] = g.size() * 100 + g.thread_rank();
}""", Launch(["a", "out"], (1,), (64,)), {"a": INTS[:64], "out": poisoned(64, np.int32)}, lambda b: {"out": _labels(b["a"] & 3)})


def _labels(v: np.ndarray) -> np.ndarray:
    out = []
    for row in v.reshape(-1, 32):
        out += [int((row == x).sum()) * 100 + int((row[:i] == x).sum()) for i, x in enumerate(row)]
    return np.array(out, np.int32)
