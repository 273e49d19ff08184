"""Divergence, loops, switches, early returns, gotos. Oracle: the same program in Python, thread by thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.elementwise import elementwise, s32, u32
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("control_flow")

SMALL = (random_ints(np.int32, 300, 61) % 100).astype(np.int32)
WORDS = random_ints(np.uint32, 300, 62)


def _int(name: str, body: str, oracle: Callable[[int], int], values: np.ndarray = SMALL, block=None, preamble: str = "") -> None:
    elementwise(SUITE, name, "int a", "int", body, (values,), oracle, scalar=True, block=block, preamble=preamble)


def _collatz(a: int) -> int:
    n = 0
    while a != 1:
        a = 3 * a + 1 if a & 1 else a // 2
        n += 1
    return n


_int("if_else_diverges", "if (a & 1) r = a * 3; else r = a - 7;", lambda a: a * 3 if a & 1 else a - 7)
_int("nested_if_diverges",
     "if (a & 1) { if (a & 2) { if (a & 4) r = 1; else r = 2 * a; } else r = a * a; } else if (a > 50) { r = -a; } else r = 5;",
     lambda a: (1 if a & 4 else 2 * a) if a & 3 == 3 else a * a if a & 1 else -a if a > 50 else 5)
_int("loop_count_differs_by_lane", "r = 0; for (int i = 0; i < a; ++i) r += i * i;", lambda a: sum(i * i for i in range(a)))
_int("collatz_steps", "int n = 0, x = a < 0 ? -a : a; x += 1; while (x != 1) { x = (x & 1) ? 3 * x + 1 : x / 2; ++n; } r = n;",
     lambda a: _collatz(abs(a) + 1))
_int("nested_loops_with_break_and_continue",
     """r = 0;
        for (int i = 0; i < 12; ++i) {
            if ((i + a) % 5 == 0) continue;
            for (int j = 0; j < i; ++j) {
                if (j * 3 > a + 10) break;
                r += i * j + 1;
            }
            if (r > 200 + a) break;
        }""",
     lambda a: _nested(a), np.abs(SMALL))


def _nested(a: int) -> int:
    r = 0
    for i in range(12):
        if (i + a) % 5 == 0:
            continue
        for j in range(i):
            if j * 3 > a + 10:
                break
            r += i * j + 1
        if r > 200 + a:
            break
    return r


_int("do_while_runs_once", "int i = a; r = 0; do { r += i; i -= 13; } while (i > 0);", lambda a: _do_while(a))


def _do_while(a: int) -> int:
    total, i = 0, a
    while True:
        total += i
        i -= 13
        if i <= 0:
            return total


_CASES = [3, -1, 17, 100, 42, 5, 66, -20, 9, 1000, 31, 77]
_int("dense_switch_becomes_jump_table",
     "switch (a % 13) {" + "".join(
         f" case {i}: r = a * {v} ^ {i}; for (int j = 0; j < {i}; ++j) r += j * a; break;" for i, v in enumerate(_CASES)) + " default: r = -1; }",
     lambda a: s32((a * _CASES[a % 13] ^ (a % 13)) + sum(j * a for j in range(a % 13))) if a % 13 < 12 else -1, np.abs(SMALL))
_int("brx_by_volatile_switch",
     """volatile int v = a % 8; int x = v;
        switch (x) { case 0: asm volatile("add.s32 %0, %1, 11;" : "=r"(r) : "r"(a)); break;
          case 1: asm volatile("mul.lo.s32 %0, %1, 7;" : "=r"(r) : "r"(a)); break;
          case 2: asm volatile("sub.s32 %0, 5, %1;" : "=r"(r) : "r"(a)); break;
          case 3: asm volatile("xor.b32 %0, %1, 21;" : "=r"(r) : "r"(a)); break;
          case 4: asm volatile("shl.b32 %0, %1, 3;" : "=r"(r) : "r"(a)); break;
          case 5: asm volatile("neg.s32 %0, %1;" : "=r"(r) : "r"(a)); break;
          case 6: asm volatile("not.b32 %0, %1;" : "=r"(r) : "r"(a)); break;
          default: asm volatile("mov.s32 %0, 99;" : "=r"(r)); }""",
     lambda a: [a + 11, a * 7, 5 - a, a ^ 21, a << 3, -a, ~a, 99][a % 8], np.abs(SMALL))
_int("sparse_switch", "switch (a) { case 3: r = 1; break; case 17: case 18: r = 2; break; case 96: r = 3; break; case 50: r = 4; default: r = 5 + a; }",
     lambda a: {3: 1, 17: 2, 18: 2, 96: 3}.get(a, 5 + a), np.arange(100, dtype=np.int32))
_int("switch_falls_through", "r = 0; switch (a & 7) { case 0: r += 1; case 1: r += 10; case 2: r += 100; break; case 3: r = 7; case 4: r *= 2; default: r -= 3; }",
     lambda a: [111, 110, 100, 11, -3, -3, -3, -3][a & 7])
_int("early_return_from_device_function", "r = f(a);",
     lambda a: -1 if a < 10 else a * 2 if a < 20 else 1000 if a % 7 == 0 else next((i for i in range(a) if i * i > a), 0), np.abs(SMALL),
     preamble="""__device__ int f(int a) {
    if (a < 10) return -1;
    if (a < 20) return a * 2;
    if (a % 7 == 0) return 1000;
    for (int i = 0; i < a; ++i) if (i * i > a) return i;
    return 0;
}""")
_int("goto_state_machine",
     """int s = a, n = 0; r = 0;
    A: r += 1; if (++n > 20) goto end; s = s * 5 + 3; if (s & 4) goto C;
    B: r += 10; if (++n > 20) goto end; s = s * 3 + 1; if (s & 2) goto A;
    C: r += 100; if (++n > 20) goto end; s = s + 7; if (s & 8) goto B; if (s & 1) goto A; goto C;
    end: ;""",
     lambda a: _state_machine(a), np.abs(SMALL))


def _state_machine(a: int) -> int:
    s, n, r, state = a, 0, 0, "A"
    while True:
        r += {"A": 1, "B": 10, "C": 100}[state]
        n += 1
        if n > 20:
            return r
        if state == "A":
            s = s32(s * 5 + 3)
            state = "C" if s & 4 else "B"
        elif state == "B":
            s = s32(s * 3 + 1)
            state = "A" if s & 2 else "C"
        else:
            s = s32(s + 7)
            state = "B" if s & 8 else "A" if s & 1 else "C"


_int("irreducible_loop_with_two_entries",
     """int i = 0; r = 0;
        if (a & 1) goto second;
    first: r += 3 * i + 1; i += 1;
    second: r ^= i + a; i += 2;
        if (i < 20 + (a & 7)) goto first;""",
     lambda a: _two_entries(a))


def _two_entries(a: int) -> int:
    i, r, skip = 0, 0, a & 1
    while True:
        if not skip:
            r += 3 * i + 1
            i += 1
        skip = False
        r ^= i + a
        i += 2
        if i >= 20 + (a & 7):
            return r


_int("short_circuit_has_side_effects", "int c = 0; if ((a > 20 && ++c) || (a % 3 == 0 && (c += 10)) ) c += 100; r = c;",
     lambda a: 101 if a > 20 else 110 if a % 3 == 0 else 0)
_int("loop_carried_swap", "int x = a, y = 1; for (int i = 0; i < 10 + (a & 3); ++i) { int t = x; x = y; y = t + (i & 1 ? y : 2); } r = x * 1000 + y;",
     lambda a: _swap(a))


def _swap(a: int) -> int:
    x, y = a, 1
    for i in range(10 + (a & 3)):
        x, y = y, x + (y if i & 1 else 2)
    return s32(x * 1000 + y)


_int("unrolled_loop_by_pragma", "r = 0;\n#pragma unroll 5\n for (int i = 0; i < 17; ++i) r = r * 3 + (a ^ i);",
     lambda a: _horner(a))


def _horner(a: int) -> int:
    r = 0
    for i in range(17):
        r = s32(r * 3 + (a ^ i))
    return r


elementwise(SUITE, "gcd_by_euclid", "unsigned int a, unsigned int b", "unsigned int", "while (b) { unsigned int t = a % b; a = b; b = t; } r = a;",
            (WORDS, WORDS[::-1].copy()), lambda a, b: np.gcd(a, b))
elementwise(SUITE, "binary_search_diverges", "unsigned int a", "int",
            "int lo = 0, hi = 1000; while (lo < hi) { int mid = (lo + hi) / 2; if ((unsigned)(mid * mid) < a) lo = mid + 1; else hi = mid; } r = lo;",
            (WORDS % np.uint32(999000),), lambda a: np.ceil(np.sqrt(a.astype(np.float64))).astype(np.int32))
elementwise(SUITE, "modular_power", "unsigned int a, unsigned int b", "unsigned int",
            "unsigned long long x = a % 1000003u, y = 1; for (unsigned e = b; e; e >>= 1) { if (e & 1) y = y * x % 1000003u; x = x * x % 1000003u; } r = (unsigned)y;",
            (WORDS, WORDS[::-1].copy()), lambda a, b: pow(a, b, 1000003), scalar=True)
elementwise(SUITE, "xorshift_until_small", "unsigned int a", "int",
            "unsigned int x = a | 1; int n = 0; while (x > 0x10000000u && n < 500) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; ++n; } r = n;",
            (WORDS,), lambda a: _xorshift(a), scalar=True)


def _xorshift(a: int) -> int:
    x, n = a | 1, 0
    while x > 0x10000000 and n < 500:
        x ^= u32(x << 13)
        x ^= x >> 17
        x ^= u32(x << 5)
        n += 1
    return n


# Launch shapes: every thread writes its coordinates where its linear number says.
_COORDINATES = """
__global__ void k(int *out) {
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int i = b * (blockDim.x * blockDim.y * blockDim.z) + t;
    out[4 * i] = blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z;
    out[4 * i + 1] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
    out[4 * i + 2] = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z + warpSize * 1000000;
    out[4 * i + 3] = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z;
}"""


def _coordinates(grid: tuple[int, int, int], block: tuple[int, int, int]) -> np.ndarray:
    def code(d: tuple[int, int, int]) -> np.ndarray:
        z, y, x = np.meshgrid(range(d[2]), range(d[1]), range(d[0]), indexing="ij")
        return (x + 100 * y + 10000 * z).ravel()

    b, t = np.repeat(code(grid), np.prod(block)), np.tile(code(block), np.prod(grid))
    one = np.ones_like(b)
    weights = np.array([1, 100, 10000])
    return np.stack([b, t, one * (int(np.dot(block, weights)) + 32000000), one * int(np.dot(grid, weights))], 1).astype(np.int32)


for _grid, _block in (((1, 1, 1), (1, 1, 1)), ((5, 1, 1), (33, 1, 1)), ((2, 3, 4), (16, 16, 1)), ((1, 7, 2), (4, 5, 6)),
                      ((3, 1, 1), (1, 1, 64)), ((2, 2, 1), (1024, 1, 1)), ((1, 1, 3), (1, 999, 1)), ((40, 30, 1), (2, 3, 1))):
    _name = "launch_" + "x".join(map(str, _grid)) + "_of_" + "x".join(map(str, _block))
    SUITE.add(_name, _COORDINATES, Launch(["out"], _grid, _block), buffers={"out": poisoned((int(np.prod(_grid) * np.prod(_block)), 4), np.int32)},
              expect=lambda _, g=_grid, b=_block: {"out": _coordinates(g, b)})

SUITE.add("grid_stride_loop", """
__global__ void k(int n, const int *a, int *out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 3 * a[i] + i;
}""", Launch([np.int32(5000), "a", "out"], (3,), (96,)), buffers={"a": random_ints(np.int32, 5000, 63), "out": poisoned(5000, np.int32)},
          expect=lambda b: {"out": b["a"] * np.int32(3) + np.arange(5000, dtype=np.int32)})
SUITE.add("early_exit_of_most_threads", """
__global__ void k(int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 3) return;
    out[i] = i * i;
}""", Launch([np.int32(777), "out"], (13,), (64,)), buffers={"out": np.full(832, -1, np.int32)},
          expect=lambda _: {"out": np.where((np.arange(832) < 777) & (np.arange(832) % 3 == 0), np.arange(832) ** 2, -1).astype(np.int32)})
SUITE.add("large_grid_of_small_blocks", "__global__ void k(unsigned int *out) { if (threadIdx.x == 2) out[blockIdx.x] = blockIdx.x * 2654435761u; }",
          Launch(["out"], (70000,), (3,)), buffers={"out": poisoned(70000, np.uint32)},
          expect=lambda _: {"out": (np.arange(70000, dtype=np.uint64) * 2654435761 & 0xFFFFFFFF).astype(np.uint32)})
SUITE.add("empty_kernel_without_arguments", "__global__ void k() {}\n__global__ void after(int *out) { *out = 5; }",
          (Launch([], (3, 3), (8, 8)), Launch(["out"], kernel="after")), buffers={"out": poisoned(1, np.int32)}, expect=lambda _: {"out": np.array([5], np.int32)})
SUITE.add("eight_kinds_of_arguments", """
__global__ void k(signed char a, short b, int c, long long d, float e, double f, bool g, unsigned char h, double *out) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e; out[5] = f; out[6] = g; out[7] = h;
}""", Launch([np.int8(-5), np.int16(-300), np.int32(-70000), np.int64(-(1 << 40)), np.float32(0.25), np.float64(1e-300), np.uint8(1), np.uint8(200), "out"]),
          buffers={"out": poisoned(8, np.float64)}, expect=lambda _: {"out": np.array([-5, -300, -70000, -(1 << 40), 0.25, 1e-300, 1, 200])})
SUITE.add("clock_advances", """
__global__ void k(long long *out, const float *a) {
    long long t0 = clock64(); unsigned int c0 = clock();
    float x = a[threadIdx.x];
    for (int i = 0; i < 2000; ++i) x = x * 1.0001f + 0.5f;
    long long t1 = clock64(); unsigned int c1 = clock();
    out[threadIdx.x] = (t1 > t0) && (c1 != c0) && x > 0;
}""", Launch(["out", "a"], (1,), (64,)), buffers={"out": poisoned(64, np.int64), "a": rng(64).random(64).astype(np.float32)},
          expect=lambda _: {"out": np.ones(64, np.int64)})
SUITE.add("global_timer_and_nanosleep", """
__global__ void k(int *out) {
    unsigned long long a, b;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(a));
    __nanosleep(2000);
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(b));
    out[threadIdx.x] = b >= a;
}""", Launch(["out"], (2,), (32,)), buffers={"out": poisoned(32, np.int32)}, expect=lambda _: {"out": np.ones(32, np.int32)})
SUITE.add("special_registers", """
__global__ void k(unsigned int *out) {
    unsigned int lane, eq, lt, le, gt, ge;
    asm("mov.u32 %0, %laneid;" : "=r"(lane));
    asm("mov.u32 %0, %lanemask_eq;" : "=r"(eq)); asm("mov.u32 %0, %lanemask_lt;" : "=r"(lt)); asm("mov.u32 %0, %lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %lanemask_gt;" : "=r"(gt)); asm("mov.u32 %0, %lanemask_ge;" : "=r"(ge));
    unsigned int *o = out + 6 * threadIdx.x;
    o[0] = lane; o[1] = eq; o[2] = lt; o[3] = le; o[4] = gt; o[5] = ge;
}""", Launch(["out"], (1,), (64,)), buffers={"out": poisoned((64, 6), np.uint32)},
          expect=lambda _: {"out": np.array([[i, 1 << i, (1 << i) - 1, (2 << i) - 1, u32(-(2 << i)), u32(-(1 << i))] for i in [*range(32)] * 2], np.uint32)})
