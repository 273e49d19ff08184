"""``cuda::barrier``, ``cuda::pipeline``, asynchronous copies, named barriers, 128-bit atomics. Oracle: NumPy."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.inputs import random_ints

SUITE = Suite("barriers")

_HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
"""
INTS = random_ints(np.int32, 1024, 401)


def _add(name: str, body: str, launch: Launch, buffers, expect, head: str = _HEAD, **rest) -> None:
    SUITE.add(name, head + body, launch, buffers=buffers, expect=expect, no_extern_c=True, options=("-std=c++17",), **rest)


_add("barrier_of_a_block_round_after_round", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ char place[sizeof(block_barrier)]; __shared__ int s[96];
    block_barrier &b = *(block_barrier *)place;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    int v = in[blockIdx.x * 96 + threadIdx.x];
    for (int i = 0; i < 5; i++) {
        s[threadIdx.x] = v;
        b.arrive_and_wait();
        v = s[(threadIdx.x + 7) % 96] + i;
        b.wait(b.arrive());
    }
    out[blockIdx.x * 96 + threadIdx.x] = v;
}""", Launch(["in", "out"], (4,), (96,)), {"in": INTS[:384] >> 4, "out": poisoned(384, np.int32)},
     lambda b: {"out": np.roll(b["in"].reshape(4, 96), -35, axis=1).ravel() + np.int32(10)})

_add("barriers_between_producer_and_consumer_warps", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ char place[4 * sizeof(block_barrier)]; __shared__ int buffer[2][32];
    block_barrier *ready = (block_barrier *)place, *filled = ready + 2;
    if (threadIdx.x < 4) init(ready + threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 32)
        for (int i = 0; i < 9; i++) {
            ready[i % 2].arrive_and_wait();
            buffer[i % 2][threadIdx.x] = in[32 * i + threadIdx.x];
            auto t = filled[i % 2].arrive(); (void)t;
        }
    else {
        auto t0 = ready[0].arrive(), t1 = ready[1].arrive(); (void)t0; (void)t1;
        for (int i = 0; i < 9; i++) {
            filled[i % 2].arrive_and_wait();
            out[32 * i + threadIdx.x - 32] = 2 * (buffer[i % 2][threadIdx.x - 32] >> 3);
            auto t = ready[i % 2].arrive(); (void)t;
        }
    }
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:288], "out": poisoned(288, np.int32)},
     lambda b: {"out": 2 * (b["in"] >> 3)}, spins=True)

_add("threads_that_drop_out_of_a_barrier", """
extern "C" __global__ void k(int *out) {
    __shared__ char place[sizeof(block_barrier)]; __shared__ int sum;
    block_barrier &b = *(block_barrier *)place;
    if (threadIdx.x == 0) { init(&b, blockDim.x); sum = 0; }
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        atomicAdd(&sum, 1);
        if (threadIdx.x % 4 == i && i < 3) { b.arrive_and_drop(); return; }
        b.arrive_and_wait();
        if (i == 3) out[threadIdx.x] = sum;
    }
}""", Launch(["out"], (1,), (128,)), {"out": np.zeros(128, np.int32)},
     lambda _: {"out": np.where(np.arange(128) % 4 == 3, 128 + 96 + 64 + 32, 0).astype(np.int32)}, spins=True)

_add("copies_that_a_barrier_counts", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ char place[sizeof(block_barrier)]; __shared__ alignas(16) int s[256]; __shared__ int t[64];
    block_barrier &b = *(block_barrier *)place;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    auto block = cg::this_thread_block();
    cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(sizeof s), b);
    cuda::memcpy_async(t + threadIdx.x, in + 300 + threadIdx.x, sizeof(int), b);
    b.arrive_and_wait();
    for (int i = 0; i < 4; i++) out[64 * i + threadIdx.x] = s[255 - (64 * i + threadIdx.x)] ^ t[63 - threadIdx.x];
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:512], "out": poisoned(256, np.int32)},
     lambda b: {"out": b["in"][:256][::-1] ^ np.tile(b["in"][300:364][::-1], 4)})

_add("pipeline_of_a_block", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; __shared__ int s[2][64];
    auto block = cg::this_thread_block(); auto p = cuda::make_pipeline(block, &state);
    for (int i = 0; i <= 8; i++) {
        if (i < 8) {
            p.producer_acquire();
            cuda::memcpy_async(block, s[i & 1], in + 64 * i, cuda::aligned_size_t<4>(256), p);
            p.producer_commit();
        }
        if (i) {
            p.consumer_wait();
            out[64 * (i - 1) + threadIdx.x] = s[(i - 1) & 1][63 - threadIdx.x];
            p.consumer_release();
        }
    }
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:512], "out": poisoned(512, np.int32)},
     lambda b: {"out": b["in"].reshape(8, 64)[:, ::-1].ravel()}, spins=True)

_add("pipeline_with_roles", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; __shared__ int s[2][32];
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state, threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int i = 0; i < 7; i++)
        if (threadIdx.x < 32) {
            p.producer_acquire();
            cuda::memcpy_async(&s[i & 1][threadIdx.x], in + 32 * i + threadIdx.x, sizeof(int), p);
            p.producer_commit();
        } else {
            p.consumer_wait();
            out[32 * i + threadIdx.x - 32] = s[i & 1][(threadIdx.x + 5) % 32];
            p.consumer_release();
        }
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:224], "out": poisoned(224, np.int32)},
     lambda b: {"out": np.roll(b["in"].reshape(7, 32), -5, axis=1).ravel()}, spins=True)

_add("pipeline_of_a_thread", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int s[4][64]; auto p = cuda::make_pipeline();
    for (int i = 0; i < 4; i++) {
        p.producer_acquire();
        cuda::memcpy_async(&s[i][threadIdx.x], in + 64 * i + threadIdx.x, sizeof(int), p);
        p.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(p);
    __syncthreads();
    out[threadIdx.x] = s[0][63 - threadIdx.x] ^ s[2][threadIdx.x];
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:256], "out": poisoned(64, np.int32)},
     lambda b: {"out": b["in"][:64][::-1] ^ b["in"][128:192]})

_add("copies_of_part_of_their_bytes", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ __mbarrier_t b; __shared__ int s[64]; __shared__ alignas(16) int r[64 * 4]; __shared__ long long l[64];
    if (threadIdx.x == 0) __mbarrier_init(&b, blockDim.x);
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x], in + threadIdx.x, 4, 2);
    __pipeline_memcpy_async(&l[threadIdx.x], in + 2 * threadIdx.x, 8);
    __pipeline_memcpy_async(&r[threadIdx.x * 4], in + 4 * threadIdx.x, 16, 4);
    __pipeline_commit(); __pipeline_arrive_on(&b);
    auto t = __mbarrier_arrive(&b);
    while (!__mbarrier_test_wait(&b, t));
    __pipeline_wait_prior(0);
    int i = 63 - threadIdx.x, sum = s[i];
    sum ^= (int)(l[i] >> 32);
    for (int j = 0; j < 4; j++) sum ^= r[4 * i + j];
    out[threadIdx.x] = sum;
}""", Launch(["in", "out"], (1,), (64,)), {"in": INTS[:256], "out": poisoned(64, np.int32)},
     lambda b: {"out": _partial(b["in"])[::-1].copy()}, spins=True)


def _partial(v: np.ndarray) -> np.ndarray:
    rows = v.reshape(64, 4).copy()
    rows[:, 3] = 0
    return (v[:64] & 0xFFFF) ^ v[1:128:2] ^ np.bitwise_xor.reduce(rows, axis=1)


_add("copies_by_a_group", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int s[256]; auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(block);
    cg::memcpy_async(block, s, in, sizeof(int) * 256);
    cg::wait(block);
    int v = s[255 - threadIdx.x];
    block.sync();
    cg::memcpy_async(tile, s + 32 * tile.meta_group_rank(), in + 7 + 32 * tile.meta_group_rank(), sizeof(int) * 32);
    cg::wait(tile);
    out[threadIdx.x] = v ^ s[threadIdx.x ^ 31];
}""", Launch(["in", "out"], (1,), (256,)), {"in": INTS[:300], "out": poisoned(256, np.int32)},
     lambda b: {"out": b["in"][:256][::-1] ^ b["in"][7:263].reshape(8, 32)[:, ::-1].ravel()})

_add("named_barriers", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int s[256];
    int warp = threadIdx.x / 32, pair = warp / 2;
    for (int round = 0; round < 3; round++) {
        if (warp % 2 == 0) {
            asm volatile("bar.sync %0, 64;" :: "r"(8 + pair) : "memory");
            s[threadIdx.x] = in[threadIdx.x + 100 * round] >> 8;
            asm volatile("bar.arrive %0, 64;" :: "r"(1 + pair) : "memory");
        } else {
            asm volatile("bar.arrive %0, 64;" :: "r"(8 + pair) : "memory");
            asm volatile("bar.sync %0, 64;" :: "r"(1 + pair) : "memory");
            out[128 * round + 32 * pair + threadIdx.x % 32] = s[threadIdx.x - 32] + pair;
        }
    }
}""", Launch(["in", "out"], (1,), (256,)), {"in": INTS, "out": poisoned(384, np.int32)},
     lambda b: {"out": np.concatenate([(b["in"][100 * r + 64 * p:][:32] >> 8) + np.int32(p) for r in range(3) for p in range(4)])}, head="")

_add("grid_barrier_of_libcu", """
extern "C" __global__ void k(cuda::barrier<cuda::thread_scope_device> *b, int *seen, int *out) {
    if (threadIdx.x == 0) {
        atomicAdd(seen, blockIdx.x + 1);
        b->arrive_and_wait();
        out[blockIdx.x] = *(volatile int *)seen;
    }
}
extern "C" __global__ void make(cuda::barrier<cuda::thread_scope_device> *b) { init(b, 6); }
""", [Launch(["b"], kernel="make"), Launch(["b", "seen", "out"], (6,), (32,))],  # type: ignore[arg-type]
     {"b": np.zeros(64, np.uint8), "seen": np.zeros(1, np.int32), "out": poisoned(6, np.int32)},
     lambda _: {"seen": np.array([21], np.int32), "out": np.full(6, 21, np.int32)}, spins=True)

# Instructions of compute capability 9.0, as inline assembly.
_add("atomics_of_several_elements", """
extern "C" __global__ void k(float *f, unsigned *h) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, one = 0x3c00bc00;
    float v = i % 8, w = 0.5f;
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %1, %2};" :: "l"(f + 4 * (i % 3)), "f"(v), "f"(w) : "memory");
    asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};" :: "l"(h + 2 * (i % 2)), "r"(one) : "memory");
    asm volatile("{ .reg .b32 a, b; atom.global.add.v2.f32 {a, b}, [%0], {%1, %1}; }" :: "l"(f + 12), "f"(v) : "memory");
}""", Launch(["f", "h"], (2,), (48,)), {"f": np.zeros(14, np.float32), "h": np.zeros(4, np.uint32)},
     lambda _: {"f": _vector_sums(), "h": np.full(4, 0x5200D200, np.uint32)}, head="", arch="compute_90")


def _vector_sums() -> np.ndarray:
    i = np.arange(96)
    rows = [[(i[i % 3 == r] % 8).sum(), 16, (i[i % 3 == r] % 8).sum(), 16] for r in range(3)]
    return np.array([*np.ravel(rows), (i % 8).sum(), (i % 8).sum()], np.float32)


_add("compare_and_swap_of_128_bits", """
extern "C" __global__ void k(ulonglong2 *word) {
    unsigned long long low = 0, high = 0, l, h;
    for (;;) {
        asm volatile("{ .reg .b128 a, b, c; mov.b128 a, {%2, %3}; mov.b128 b, {%4, %5}; atom.global.cas.b128 c, [%6], a, b; mov.b128 {%0, %1}, c; }"
                     : "=l"(l), "=l"(h) : "l"(low), "l"(high), "l"(low + 1), "l"(high + low), "l"(word) : "memory");
        if (l == low && h == high) break;
        low = l; high = h;
    }
}""", Launch(["word"], (5,), (64,)), {"word": np.zeros(2, np.uint64)}, lambda _: {"word": np.array([320, 320 * 319 // 2], np.uint64)}, head="", arch="compute_90", spins=True)

def _fp8_inputs() -> np.ndarray:
    exponents = np.ldexp(1.0, np.arange(-20, 18))
    steps = np.concatenate([exponents * (1 + k / 16) for k in range(16)])
    values = np.concatenate([steps, -steps, [0.0, -0.0, np.inf, -np.inf, np.nan, 448.0, 464.0, 480.0, 57344.0, 61440.0, 65536.0]])
    values = np.concatenate([values, values * (1 + 2.0**-20)])
    return np.resize(values, 2048).astype(np.float32)


_add("conversions_to_8_bit_floats_and_back", """
extern "C" __global__ void k(const float *in, unsigned short *out, unsigned *back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out[4 * i]) : "f"(in[2 * i]), "f"(in[2 * i + 1]));
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 1]) : "f"(in[2 * i]), "f"(in[2 * i + 1]));
    asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 2]) : "f"(in[2 * i]), "f"(in[2 * i + 1]));
    asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 3]) : "f"(in[2 * i]), "f"(in[2 * i + 1]));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(back[2 * i]) : "h"(out[4 * i]));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(back[2 * i + 1]) : "h"(out[4 * i + 1]));
}""", Launch(["in", "out", "back"], (8,), (128,)), {"in": _fp8_inputs(), "out": poisoned((1024, 4), np.uint16), "back": poisoned((1024, 2), np.uint32)},
     lambda b: _eight_bits(b["in"]), head="", arch="compute_90")


def _eight_bits(x: np.ndarray) -> dict[str, np.ndarray]:
    codes = np.arange(128)
    e4m3 = np.where(codes < 8, codes * 2.0**-9, (8 + codes % 8) * 2.0 ** (codes // 8 - 10.0))[:127]
    e5m2 = np.where(codes < 4, codes * 2.0**-16, (4 + codes % 4) * 2.0 ** (codes // 4 - 17.0))[:124]

    def nearest(table: np.ndarray, v: float, relu: bool) -> int:
        if np.isnan(v):
            return 0x7F
        if relu and np.signbit(v):
            return 0
        distance = np.abs(table - min(abs(v), table[-1]))
        best = np.flatnonzero(distance == distance.min())
        return int(best[best % 2 == 0][0] if len(best) > 1 else best[0]) | int(np.signbit(v)) << 7

    out = np.zeros((1024, 4), np.uint16)
    back = np.zeros((1024, 2), np.uint32)
    pairs = x.astype(np.float64).reshape(-1, 2)
    for i, (high, low) in enumerate(pairs):
        for j, (table, relu) in enumerate([(e4m3, False), (e5m2, False), (e4m3, True), (e5m2, True)]):
            out[i, j] = nearest(table, high, relu) << 8 | nearest(table, low, relu)
        for j, table in enumerate([e4m3, e5m2]):
            halves = []
            for code in (int(out[i, j]) & 0xFF, int(out[i, j]) >> 8):
                magnitude = code & 0x7F
                value = 0x7FFF if magnitude == 0x7F else int(np.float16(table[magnitude]).view(np.uint16)) | (code & 0x80) << 8
                halves.append(value)
            back[i, j] = halves[0] | halves[1] << 16
    return {"out": out, "back": back}


_add("video_instructions", """
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = in[threadIdx.x + 256], c = in[threadIdx.x + 512], *o = out + 16 * threadIdx.x;
#define OP(n, text) asm(text : "=r"(o[n]) : "r"(a), "r"(b), "r"(c))
    OP(0, "vadd.s32.s32.u32.sat.add %0, %1.h1, %2.b3, %3;"); OP(1, "vsub.u32.u32.s32.sat %0.b2, %1, %2.h0, %3;");
    OP(2, "vabsdiff.s32.s32.s32.sat.max %0, %1, %2, %3;"); OP(3, "vmin.s32.u32.s32.min %0, %1.b1, %2, %3;");
    OP(4, "vshl.u32.s32.u32.clamp %0, %1, %2;"); OP(5, "vshr.s32.s32.u32.wrap %0, %1, %2;");
    OP(6, "vmad.s32.s32.u32.sat.shr7 %0, %1.h0, -%2.b1, %3;"); OP(7, "vmad.u32.u32.u32.po.sat.shr15 %0, %1, %2, %3;");
    OP(8, "vset.s32.u32.lt.add %0, %1.h1, %2, %3;"); OP(9, "vadd2.s32.s32.u32.sat %0.h1, %1.h13, %2.h02, %3;");
    OP(10, "vsub2.s32.s32.s32.add %0, %1, %2, %3;"); OP(11, "vavrg4.s32.s32.s32 %0, %1, %2, %3;");
    OP(12, "vabsdiff4.u32.u32.u32.sat %0.b20, %1.b7310, %2, %3;"); OP(13, "vset4.s32.u32.ge.add %0, %1, %2, %3;");
    OP(14, "vmax2.u32.s32.u32.sat %0, %1, %2, %3;"); OP(15, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;");
}""", Launch(["in", "out"], (1,), (256,)), {"in": INTS[:768].view(np.uint32), "out": poisoned((256, 16), np.uint32)},
     lambda b: {"out": _video(*(b["in"][256 * i:][:256] for i in range(3)))}, head="")


def _video(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The PTX ISA's definitions, on Python integers."""
    return np.array([[r & 0xFFFFFFFF for r in _video_row(int(x), int(y), int(z))] for x, y, z in zip(a, b, c)], np.uint32)


def _part(word: int, at: int, bits: int, signed: bool) -> int:
    v = word >> at & ((1 << bits) - 1)
    return v - (1 << bits) if signed and v >> (bits - 1) else v


def _clamp(v: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return max(low, min(high, v))


def _insert(word: int, at: int, bits: int, v: int) -> int:
    mask = ((1 << bits) - 1) << at
    return word & ~mask | v << at & mask


def _video_row(a: int, b: int, c: int) -> list[int]:
    s = lambda v: _part(v, 0, 32, True)  # noqa: E731
    both = a | b << 32
    half = lambda i, signed: _part(both, 16 * i, 16, signed)  # noqa: E731
    byte = lambda i, signed: _part(both, 8 * i, 8, signed)  # noqa: E731
    rows = [_clamp(_part(a, 16, 16, True) + (b >> 24), 32, True) + c]
    rows.append(_insert(c, 16, 8, _clamp(a - _part(b, 0, 16, True), 8, False)))
    rows.append(max(_clamp(abs(s(a) - s(b)), 32, True), s(c)))
    rows.append(min(min(a >> 8 & 255, s(b)), s(c)))
    rows.append(s(a) << min(b, 32))
    rows.append(s(a) >> (b & 31))
    rows.append(_clamp((-(_part(a, 0, 16, True) * (b >> 8 & 255)) + s(c)) >> 7, 32, True))
    rows.append(_clamp((a * b + c + 1) >> 15, 32, False))
    rows.append(int(_part(a, 16, 16, True) < b) + c)
    rows.append(_insert(c, 16, 16, _clamp(half(1, True) + half(0, False), 16, True)))
    rows.append(c + sum(half(i, True) - half(2 + i, True) for i in range(2)))
    average = lambda t: (t + 1) >> 1 if t >= 0 else t >> 1  # noqa: E731
    rows.append(sum((average(byte(i, True) + byte(4 + i, True)) & 255) << 8 * i for i in range(4)))
    word = c
    for i, j in ((0, 0), (2, 3)):
        word = _insert(word, 8 * i, 8, _clamp(abs(byte(j, False) - byte(4 + i, False)), 8, False))
    rows.append(word)
    rows.append(c + sum(byte(i, True) >= byte(4 + i, False) for i in range(4)))
    rows.append(sum(_clamp(max(half(i, True), half(2 + i, False)), 16, False) << 16 * i for i in range(2)))
    rows.append((_clamp(s(b), 8, True) & 255) | (_clamp(s(a), 8, True) & 255) << 8 | (c & 0xFFFF) << 16)
    return rows


_add("warps_that_poll_between_named_barriers", """
extern "C" __global__ void k(int *out) {
    __shared__ volatile int flag; __shared__ int seen;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 64) {
        do {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (threadIdx.x == 0) seen = flag;
            asm volatile("bar.sync 1, 64;" ::: "memory");
        } while (*(volatile int *)&seen < 3);
    } else if (threadIdx.x == 64)
        for (int i = 1; i <= 3; i++) flag = i;
    out[96 * blockIdx.x + threadIdx.x] = threadIdx.x < 64 ? seen : 3;
}""", Launch(["out"], (2,), (96,)), {"out": poisoned(192, np.int32)}, lambda b: {"out": np.full(192, 3, np.int32)}, spins=True)


def _percentile(threads: int) -> None:
    rows = np.random.default_rng(threads).permuted(np.tile(np.arange(512, dtype=np.int32), (6, 1)) * 3, axis=1)
    _add(f"percentile_by_bisection_of_{threads}_threads", """
extern "C" __global__ void k(const int *in, int *out) {
    __shared__ int row[512], counts[1024], lo, hi;
    for (int i = threadIdx.x; i < 512; i += blockDim.x) row[i] = in[blockIdx.x * 512 + i];
    if (threadIdx.x == 0) { lo = 0; hi = 2048; }
    __syncthreads();
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2, below = 0;
        for (int i = threadIdx.x; i < 512; i += blockDim.x) below += row[i] < mid;
        counts[threadIdx.x] = below;
        __syncthreads();
        for (int s = blockDim.x / 2; s > 0; s >>= 1) {
            if (threadIdx.x < s) counts[threadIdx.x] += counts[threadIdx.x + s];
            __syncthreads();
        }
        if (threadIdx.x == 0) { if (counts[0] <= 128 * (blockIdx.x % 4)) lo = mid; else hi = mid; }
        __syncthreads();
    }
    if (threadIdx.x == blockDim.x - 1) out[blockIdx.x] = lo;
}""", Launch(["in", "out"], (6,), (threads,)), {"in": rows.ravel(), "out": poisoned(6, np.int32)},
         lambda b: {"out": np.sort(b["in"].reshape(6, 512), axis=1)[np.arange(6), 128 * (np.arange(6) % 4)]})


for _threads in (32, 64, 256, 1024):
    _percentile(_threads)
