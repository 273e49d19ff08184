"""Shuffles, votes, matches, warp reductions, masks of partial warps. Oracle: NumPy over rows of 32 lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("warp_ops")

LANES = np.arange(32)


def _warps(name: str, body: str, oracle: Callable[[np.ndarray], np.ndarray], ctype: str = "int", dtype: type = np.int32,
           values: np.ndarray | None = None, result: str | None = None, out: type | None = None) -> None:
    """Blocks of two warps; `body` sets r from v and the lane number; the oracle gets rows of 32."""
    values = random_ints(dtype, 192, 191) if values is None else values
    result, out = result or ctype, out or dtype
    SUITE.add(name, f"""
__global__ void k(const {ctype} *a, {result} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    {ctype} v = a[i];
    {result} r;
    {body}
    out[i] = r;
    (void)lane;
}}""", Launch(["a", "out"], (3,), (64,)), buffers={"a": values, "out": poisoned(192, out)},
              expect=lambda b: {"out": np.ascontiguousarray(oracle(b["a"].reshape(6, 32)).astype(out)).ravel()})


FULL = "0xffffffffu"
_warps("shfl_broadcast", f"r = __shfl_sync({FULL}, v, 5);", lambda a: np.repeat(a[:, 5:6], 32, 1))
_warps("shfl_indexed_by_data", f"r = __shfl_sync({FULL}, v, v & 63);", lambda a: np.take_along_axis(a, a & 31, 1))
_warps("shfl_up", f"r = __shfl_up_sync({FULL}, v, 3);", lambda a: a[:, np.where(LANES >= 3, LANES - 3, LANES)])
_warps("shfl_down", f"r = __shfl_down_sync({FULL}, v, 7);", lambda a: a[:, np.where(LANES < 25, LANES + 7, LANES)])
_warps("shfl_xor", f"r = __shfl_xor_sync({FULL}, v, 21);", lambda a: a[:, LANES ^ 21])
for _width in (2, 4, 8, 16):
    _base = LANES & -_width
    _warps(f"shfl_width_{_width}", f"r = __shfl_sync({FULL}, v, lane * 3 + 1, {_width});", lambda a, b=_base, w=_width: a[:, b + (LANES * 3 + 1) % w])
_warps("shfl_up_width_8", f"r = __shfl_up_sync({FULL}, v, 3, 8);", lambda a: a[:, np.where(LANES % 8 >= 3, LANES - 3, LANES)])
_warps("shfl_down_width_16", f"r = __shfl_down_sync({FULL}, v, 5, 16);", lambda a: a[:, np.where(LANES % 16 + 5 < 16, LANES + 5, LANES)])
_warps("shfl_xor_width_8_keeps_lanes_below_its_segment_end", f"r = __shfl_xor_sync({FULL}, v, 12, 8);",
       lambda a: a[:, np.where((LANES ^ 12) <= (LANES & 24 | 7), LANES ^ 12, LANES)])
_warps("shfl_float", f"r = v + __shfl_xor_sync({FULL}, v, 1);", lambda a: a + a[:, LANES ^ 1], "float", np.float32, rng(192).normal(size=192).astype(np.float32))
_warps("shfl_double", f"r = __shfl_down_sync({FULL}, v, 1) - v;", lambda a: a[:, np.minimum(LANES + 1, 31)] - a, "double", np.float64, rng(193).normal(size=192))
_warps("shfl_longlong", f"r = __shfl_up_sync({FULL}, v, 16) ^ v;", lambda a: a[:, np.where(LANES >= 16, LANES - 16, LANES)] ^ a, "long long", np.int64)
_warps("shfl_predicate_ptx", """unsigned int x; int ok;
    asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 4, 31, 0xffffffff; selp.s32 %1, 1, 0, p; }" : "=r"(x), "=r"(ok) : "r"((unsigned)v));
    r = ok ? (int)x : -7;""", lambda a: np.where(LANES < 28, a[:, np.minimum(LANES + 4, 31)], -7))
_warps("butterfly_sum", f"r = v; for (int d = 16; d; d >>= 1) r += __shfl_xor_sync({FULL}, r, d);", lambda a: np.repeat(a.sum(1, dtype=np.int32)[:, None], 32, 1))
_warps("inclusive_scan", f"r = v; for (int d = 1; d < 32; d <<= 1) {{ int u = __shfl_up_sync({FULL}, r, d); if (lane >= d) r += u; }}",
       lambda a: np.cumsum(a, 1, dtype=np.int32))
_warps("segmented_max", f"r = v; for (int d = 1; d < 8; d <<= 1) r = max(r, __shfl_xor_sync({FULL}, r, d, 8));", lambda a: np.repeat(a.reshape(-1, 8).max(1), 8).reshape(-1, 32))
_warps("bitonic_sort_in_a_warp", f"""r = v;
    for (int k = 2; k <= 32; k <<= 1) for (int j = k >> 1; j; j >>= 1) {{
        int u = __shfl_xor_sync({FULL}, r, j);
        bool up = (lane & k) == 0, low = (lane & j) == 0;
        r = (up == low) ? min(r, u) : max(r, u);
    }}""", lambda a: np.sort(a, 1))
_warps("argmax_of_a_warp", f"""int best = v, who = lane;
    for (int d = 16; d; d >>= 1) {{ int b = __shfl_down_sync({FULL}, best, d), w = __shfl_down_sync({FULL}, who, d); if (b > best) {{ best = b; who = w; }} }}
    r = __shfl_sync({FULL}, who, 0);""", lambda a: np.repeat(a.argmax(1)[:, None], 32, 1))


def _ballot(a: np.ndarray) -> np.ndarray:
    """Rows of booleans to 32-bit masks."""
    return (a.astype(np.uint64) << LANES.astype(np.uint64)).sum(1).astype(np.uint32)


def _every(column: np.ndarray) -> np.ndarray:
    return np.repeat(column[:, None], 32, 1)


_SMALL = rng(194).integers(0, 5, 192).astype(np.int32)
_SMALL[32:64] = 3
_SMALL[64:96] = 0
_warps("ballot", f"r = __ballot_sync({FULL}, v & 1);", lambda a: _every(_ballot(a & 1 != 0)), result="unsigned int", out=np.uint32)
_warps("vote_all_any", f"r = (__all_sync({FULL}, v > 0) != 0) + 2 * (__any_sync({FULL}, v > 2) != 0) + 4 * (__all_sync({FULL}, v == 3) != 0);",
       lambda a: _every((a > 0).all(1) * 1 + (a > 2).any(1) * 2 + (a == 3).all(1) * 4), values=_SMALL)
_warps("vote_uniform_ptx", """asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 1; vote.sync.uni.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(v));""",
       lambda a: _every(((a > 1).all(1) | (a <= 1).all(1)) * 1), values=_SMALL)
_warps("match_any", f"r = __match_any_sync({FULL}, v);", lambda a: np.stack([_ballot(a == a[:, i : i + 1]) for i in range(32)], 1), values=_SMALL,
       result="unsigned int", out=np.uint32)
_warps("match_any_64", f"r = __match_any_sync({FULL}, (long long)v << 33);", lambda a: np.stack([_ballot(a == a[:, i : i + 1]) for i in range(32)], 1), values=_SMALL,
       result="unsigned int", out=np.uint32)
_warps("match_all", f"int p; unsigned int m = __match_all_sync({FULL}, v, &p); r = p ? (int)m : (m == 0 ? 5 : 6);",
       lambda a: _every(np.where((a == a[:, :1]).all(1), -1, 5)), values=_SMALL)
for _name, _op in {"add": lambda a: a.sum(1, dtype=np.uint32), "min": lambda a: a.min(1), "max": lambda a: a.max(1), "and": lambda a: np.bitwise_and.reduce(a | 0x100, 1),
                   "or": lambda a: np.bitwise_or.reduce(a, 1), "xor": lambda a: np.bitwise_xor.reduce(a, 1)}.items():
    _warps(f"reduce_{_name}_unsigned", f"r = __reduce_{_name}_sync({FULL}, v{' | 0x100u' if _name == 'and' else ''});", lambda a, f=_op: _every(f(a)), "unsigned int", np.uint32)
_warps("reduce_min_max_signed", f"r = __reduce_min_sync({FULL}, v) ^ __reduce_max_sync({FULL}, v);", lambda a: _every(a.min(1) ^ a.max(1)))
_warps("lane_mask_rank", f"unsigned int m = __ballot_sync({FULL}, v & 2); r = (v & 2) ? __popc(m & ((1u << lane) - 1)) : -1;",
       lambda a: np.where(a & 2, np.cumsum(a & 2 != 0, 1) - 1, -1))
_warps("syncwarp_orders_shared_memory", "__shared__ int s[64]; s[threadIdx.x] = v; __syncwarp(); r = s[threadIdx.x ^ 9]; __syncwarp(); s[threadIdx.x] = r; __syncwarp(); r = s[threadIdx.x ^ 1];",
       lambda a: a[:, LANES ^ 1 ^ 9])

# Masks of fewer lanes, divergent callers.
_warps("shfl_in_one_branch", "r = -1; if (lane < 16) r = __shfl_xor_sync(0x0000ffffu, v, 8); else r = __shfl_down_sync(0xffff0000u, v, 2) + 1;",
       lambda a: np.where(LANES < 16, a[:, LANES ^ 8], a[:, np.minimum(LANES + 2, 31)] * (LANES < 30) + a * (LANES >= 30) + 1))
_warps("ballot_of_even_lanes", "r = 0; if (lane % 2 == 0) r = __ballot_sync(0x55555555u, v > 0);", lambda a: np.where(LANES % 2 == 0, _every(_ballot((a > 0) & (LANES % 2 == 0))), 0),
       result="unsigned int", out=np.uint32)
_warps("activemask_in_uniform_code", "r = __activemask();", lambda a: np.full(a.shape, 0xFFFFFFFF), result="unsigned int", out=np.uint32)
_warps("activemask_has_the_own_lane_and_only_the_branch",
       "r = 0; if (v & 1) { unsigned int m = __activemask(); r = ((m >> lane) & 1u) + 2 * ((m & ~b) == 0); }".replace("b)", "odd)").replace("r = 0;", f"unsigned int odd = __ballot_sync({FULL}, v & 1); r = 0;"),
       lambda a: np.where(a & 1, 3, 0), result="unsigned int", out=np.uint32)
_warps("loop_with_shrinking_mask", f"""unsigned int m = {FULL}; int n = v & 7; r = 0;
    for (int i = 0; ; ++i) {{
        m = __ballot_sync(m, i < n);
        if (i >= n) break;
        r += __popc(m);
    }}""", lambda a: _shrinking(a & 7))


def _shrinking(n: np.ndarray) -> np.ndarray:
    counts = np.stack([(n > i).sum(1) for i in range(8)], 1)
    return np.stack([np.where(n > i, counts[:, i : i + 1], 0) for i in range(8)]).sum(0)


_warps("warp_aggregated_counter", f"""__shared__ int total; if (threadIdx.x == 0) total = 0; __syncthreads();
    unsigned int m = __ballot_sync({FULL}, v & 1); int base = 0, leader = __ffs(m) - 1;
    if (lane == leader) base = atomicAdd(&total, __popc(m));
    if (m) base = __shfl_sync({FULL}, base, leader);
    __syncthreads(); r = (v & 1) ? (base + __popc(m & ((1u << lane) - 1)) < total) : total;""",
       lambda a: np.where(a & 1, 1, np.repeat((a & 1).reshape(3, 64).sum(1), 2)[:, None]))

SUITE.add("partial_last_warp_shuffle", """
__global__ void k(const int *a, int *out) {
    int t = threadIdx.x;
    unsigned int mask = t < 32 ? 0xffffffffu : 0x1ffu;
    int v = a[t], s = v;
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(mask, s, d); if ((t & 31) >= d) s += u; }
    out[t] = s;
}""", Launch(["a", "out"], (1,), (41,)), buffers={"a": random_ints(np.int32, 41, 195), "out": poisoned(41, np.int32)},
          expect=lambda b: {"out": np.concatenate([np.cumsum(b["a"][:32], dtype=np.int32), np.cumsum(b["a"][32:], dtype=np.int32)])})
SUITE.add("activemask_of_a_partial_warp", "__global__ void k(unsigned int *out) { out[threadIdx.x] = __activemask(); }",
          Launch(["out"], (1,), (37,)), buffers={"out": poisoned(37, np.uint32)}, expect=lambda _: {"out": np.where(np.arange(37) < 32, 0xFFFFFFFF, 0x1F).astype(np.uint32)})
SUITE.add("warps_of_a_two_dimensional_block", """
__global__ void k(int *out) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    out[t] = __shfl_sync(0xffffffffu, (int)(threadIdx.x + 100 * threadIdx.y), 13);
}""", Launch(["out"], (1,), (8, 16)), buffers={"out": poisoned(128, np.int32)},
          expect=lambda _: {"out": np.array([(13 % 8) + 100 * (w * 4 + 1) for w in range(4) for _ in range(32)], np.int32)})
SUITE.add("block_reduction_by_shuffles", """
__global__ void k(int n, const double *a, double *out) {
    __shared__ double part[32];
    double s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i];
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0;
        for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
        if (threadIdx.x == 0) out[blockIdx.x] = s;
    }
}""", Launch([np.int32(10000), "a", "out"], (4,), (256,)), buffers={"a": rng(196).integers(-999, 999, 10000).astype(np.float64), "out": poisoned(4, np.float64)},
          expect=lambda b: {"out": np.array([b["a"][(np.arange(10000) // 256) % 4 == g].sum() for g in range(4)])})
