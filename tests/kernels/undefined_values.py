"""Idioms whose values the language leaves open and that programs rely on: what NVRTC and the device make of them.

A variable that only a warp's leader writes before a shuffle, an inactive lane's register, floats out of an integer's
range, memory read as another type, masks of any bytes as `bool`, a loop that waits for memory, a function that ends without a value, an access by
a null pointer. Oracles: what the leader wrote; `cvt` to 32 or 64 bits, of which the lowest are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.kernels.case import ExpectedError, Launch, RawPtr, Suite, poisoned
from tests.kernels.elementwise import DTYPES, elementwise, wrap
from tests.kernels.inputs import F32, random_bits_f32, random_ints

SUITE = Suite("undefined_values")

THREADS = 96
T = np.arange(THREADS, dtype=np.int32)
LANE, WARP = T % 32, T // 32
START = np.array([1000, 2000, 3000], np.int32)
A = (random_ints(np.int32, THREADS, 501) % 100).astype(np.int32)


def _rank(chosen: np.ndarray) -> np.ndarray:
    """How many of the warp's chosen lanes are below each lane."""
    by_warp = chosen.reshape(-1, 32).astype(np.int32)
    return (np.cumsum(by_warp, 1) - by_warp).ravel()


def _count(chosen: np.ndarray) -> np.ndarray:
    """How many lanes of a warp are chosen, for each of its lanes."""
    return np.repeat(chosen.reshape(-1, 32).sum(1), 32).astype(np.int32)


def _warps(name: str, body: str, out: Callable[[], np.ndarray], cells: Callable[[], np.ndarray] | None = None, preamble: str = "") -> None:
    """A case of three warps: `c` is a counter for each of them, `out` and `cells` what is written."""
    source = f"{preamble}\n__global__ void k(int *c, const int *a, int *o) {{ int lane = threadIdx.x % 32; c += threadIdx.x / 32; a += threadIdx.x; o += threadIdx.x;\n{body}\n}}"
    SUITE.add(name, source, Launch(["c", "a", "o"], (1,), (THREADS,)), buffers={"c": START, "a": A, "o": poisoned(THREADS, np.int32)},
              expect=lambda _: {"o": out().astype(np.int32), "c": (cells() if cells else START).astype(np.int32)})


def _start(add: int | np.ndarray = 0) -> np.ndarray:
    return START[WARP] + add


_warps("leader_without_initialiser", "int b; if (lane == 0) b = atomicAdd(c, 32); b = __shfl_sync(~0u, b, 0); *o = b + lane;",
       lambda: _start(LANE), lambda: START + 32)
_warps("leader_with_initialiser", "int b = -1; if (lane == 5) b = atomicAdd(c, 7); *o = __shfl_sync(~0u, b, 5) * 2 + (b == -1);",
       lambda: _start() * 2 + (LANE != 5), lambda: START + 7)
_warps("leader_changes_in_a_loop", "int s = 0; for (int i = 0; i < 5; ++i) { int b; if (lane == 6 * i) b = atomicAdd(c, i + 1); b = __shfl_sync(~0u, b, 6 * i); s += b * (i + 1); } *o = s;",
       lambda: 15 * _start() + 2 + 9 + 24 + 50, lambda: START + 15)
_warps("leader_of_a_loop_keeps_the_variable", "int b, s = 0; for (int i = 0; i < 4; ++i) { if (lane == i) b = atomicAdd(c, 3); s += __shfl_sync(~0u, b, i); } *o = s;",
       lambda: 4 * _start() + 18, lambda: START + 12)
_warps("leader_by_reference", "int b; get(b, c, lane); *o = __shfl_sync(~0u, b, 1);", lambda: _start(), lambda: START + 2,
       "__device__ void get(int &b, int *c, int lane) { if (lane == 1) b = atomicAdd(c, 2); }")
_warps("leader_by_reference_to_a_call", "int b; get(b, c, lane); *o = __shfl_sync(~0u, b, 1);", lambda: _start(), lambda: START + 2,
       "__device__ __noinline__ void get(int &b, int *c, int lane) { if (lane == 1) b = atomicAdd(c, 2); }")
_warps("leader_in_a_struct", "struct { int x; short y; } s; if (lane == 3) { s.x = atomicAdd(c, 5); s.y = 7; } *o = __shfl_sync(~0u, s.x, 3) * 10 + __shfl_sync(~0u, (int)s.y, 3);",
       lambda: _start() * 10 + 7, lambda: START + 5)
_warps("leader_in_an_array", "int b[2]; int i = a[0] > 1000; if (lane == 0) b[i] = atomicAdd(c, 1) + 100; *o = __shfl_sync(~0u, b[i], 0);",
       lambda: _start(100), lambda: START + 1)
_warps("leader_in_a_lambda", "int b; auto f = [&] { if (lane == 0) b = atomicAdd(c, 9) + 1; }; f(); *o = __shfl_sync(~0u, b, 0);",
       lambda: _start(1), lambda: START + 9)
_warps("leader_in_a_switch", "int b; switch (lane) { case 4: b = atomicAdd(c, 9) + 1; break; case 9: b = 77; } *o = __shfl_sync(~0u, b, 4) + __shfl_sync(~0u, b, 9);",
       lambda: _start(78), lambda: START + 9)
_warps("leader_by_ternary", "int b, n; b = lane == 31 ? atomicAdd(c, 4) : n; *o = __shfl_sync(~0u, b, 31);", lambda: _start(), lambda: START + 4)
_warps("leader_by_ballot", "unsigned m = __ballot_sync(~0u, *a % 3 == 0); int l = __ffs(m) - 1, b; if (lane == l) b = atomicAdd(c, __popc(m)); if (m) b = __shfl_sync(~0u, b, l); *o = m ? b : -1;",
       lambda: np.where(_count(A % 3 == 0) > 0, _start(), -1), lambda: START + _count(A % 3 == 0)[::32])
_warps("leader_of_each_half_warp", "int b; if (lane % 16 == 0) b = c[0] + lane * 5; *o = __shfl_sync(lane < 16 ? 0xffffu : 0xffff0000u, b, 0, 16) + lane;",
       lambda: _start(LANE // 16 * 80 + LANE))
_warps("leader_aggregates_a_branch", "if (*a % 3 == 0) { unsigned m = __activemask(); int l = __ffs(m) - 1, b; if (lane == l) b = atomicAdd(c, __popc(m)); b = __shfl_sync(m, b, l); *o = b + __popc(m & ((1u << lane) - 1)); } else *o = -1;",
       lambda: np.where(A % 3 == 0, _start(_rank(A % 3 == 0)), -1), lambda: START + _count(A % 3 == 0)[::32])
_warps("leader_has_a_64_bit_number", "long long b; if (lane == 2) b = atomicAdd(c, 1) * 5000000000ll; b = __shfl_sync(~0u, b, 2); *o = (int)(b / 5000000000ll);",
       lambda: _start(), lambda: START + 1)
_warps("leader_has_a_pointer", "int *p; if (lane == 0) p = c; p = (int *)__shfl_sync(~0u, (unsigned long long)p, 0); *o = *p;", lambda: _start())

_warps("inactive_lane_is_read_and_ignored", "int v; if (lane < 20) v = *a; int w = __shfl_down_sync(~0u, v, 1); *o = lane + 1 < 20 ? w : -5;",
       lambda: np.where(LANE < 19, np.roll(A, -1), -5))
_warps("inactive_flag_is_read_and_ignored", "bool p; if (lane < 5) p = *a > 2; *o = __popc(__ballot_sync(~0u, lane < 5 && p));",
       lambda: _count((LANE < 5) & (A > 2)))
_warps("unset_values_are_chosen_away", "int x; if (lane & 1) x = *a; int y = lane & 1 ? x : 3; *o = y;", lambda: np.where(LANE & 1, A, 3))
_warps("unset_values_are_masked_away", "int x; if (lane & 1) x = *a; *o = x & -(lane & 1);", lambda: np.where(LANE & 1, A, 0))
_warps("unset_values_in_a_reduction", "int s; if (lane >= 8) s = *a; if (lane < 8) s = 0; for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d); *o = s;",
       lambda: np.repeat(np.where(LANE >= 8, A, 0).reshape(-1, 32).sum(1), 32))
_warps("unset_part_of_a_struct_is_copied", "struct S { int x, y; }; S s, t; s.x = *a; t = s; *o = t.x;", lambda: A)

# Conversions out of range.
_FLOATS = np.concatenate([F32, random_bits_f32(200, 502), np.array(
    [255, 256, 260, 300, -129, -130, -1.5, 32768, 65535, 65536, 70000, -40000, 1e9, 3e9, 5e9, -3e9, 1e20, -1e20, 2**31, 2**32, 2**63, 2**64], np.float32)])
_DOUBLES = np.concatenate([_FLOATS.astype(np.float64), [2147483647.5, -2147483648.5, -2147483649, 4294967295.5, 4294967296, 1e300, -1e300]])
_TYPES = {"i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i32": "int", "u32": "unsigned int", "i64": "long long", "u64": "unsigned long long"}


def _converted(value: float, source: str, to: str) -> int:
    """`cvt.rzi` to 32 or 64 bits, of which those of the type are kept."""
    bits, signed = int(to[1:]), to[0] == "i"
    wide = max(bits, 32)
    low, high = (-(1 << (wide - 1)), (1 << (wide - 1)) - 1) if signed else (0, (1 << wide) - 1)
    if value != value:
        return wrap(0 if source == "float" and wide == 32 else 1 << (wide - 1), bits, signed)
    number = high if value > high else low if value < low else int(value)
    return wrap(number, bits, signed)


def _conversions(source: str, to: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.array([_converted(float(v), source, to) for v in values], DTYPES[_TYPES[to]])


for _source, _values in (("float", _FLOATS), ("double", _DOUBLES)):
    for _to, _ctype in _TYPES.items():
        elementwise(SUITE, f"{_source}_out_of_range_to_{_to}", f"{_source} a", _ctype, f"({_ctype})a", (_values,), _conversions(_source, _to))

_LITERALS = ["1e20", "-1e20", "3e9", "-3e9", "300.0", "-1.5", "70000.0", "9.3e18", "1.9e19", "4294967296.0", "-2147483649.0"]


def _constants(name: str, expression: str, preamble: str = "", holds: bool = False) -> None:
    """A case of all literals to all types; with `holds` of whether the number is above 5."""
    for source, suffix in (("float", "f"), ("double", "")):
        lines: list[str] = []
        wanted: list[int] = []
        for to, ctype in _TYPES.items():
            for text in _LITERALS:
                value = expression.replace("T", ctype).replace("F", source).replace("X", text + suffix)
                lines.append(f"    o[{len(lines)}] = {value};" if not holds else f"    if ({value} > 5) o[{len(lines)}] = 1; else o[{len(lines)}] = 2;")
                number = _converted(float(np.float32(text) if source == "float" else text), source, to)
                wanted.append((1 if number > 5 else 2) if holds else wrap(number, 64, True))
        SUITE.add(f"{source}_{name}", preamble + '\nextern "C" __global__ void k(long long *o) {\n' + "\n".join(lines) + "\n}", Launch(["o"]), no_extern_c=True,
                  buffers={"o": poisoned(len(lines), np.int64)}, expect=lambda _, w=wanted: {"o": np.array(w, np.int64)})


_constants("constant_out_of_range", "(T)X")
_constants("constant_out_of_range_decides_a_branch", "(T)X", holds=True)
_constants("constant_out_of_range_after_inlining", "to<T>((F)X)", "template <class T, class F> __device__ T to(F x) { return (T)x; }")

# Memory as another type.
WORDS = random_ints(np.int32, 64, 503)


def _punned(name: str, body: str, oracle: Callable[[np.ndarray], np.ndarray], preamble: str = "") -> None:
    elementwise(SUITE, name, "int a", "int", body, (WORDS,), oracle, preamble=preamble)


_punned("store_as_int_read_as_float", "float v = 3; *(int *)&v = a & 0x3fffffff; r = __float_as_int(v);", lambda a: a & 0x3FFFFFFF)
_punned("store_by_two_types_of_pointers", "float v; r = __float_as_int(f(&v, (int *)&v));", lambda a: np.full_like(a, 2),
        "__device__ __noinline__ float f(float *x, int *y) { *x = 1; *y = 2; return *x; }")
_punned("stores_of_two_types_stay_in_order", "float v[2]; int *p = (int *)v; for (int i = 0; i < 2; ++i) { v[i] = 1.5f; p[i] = a + i; v[1 - i] = 2.5f; } r = p[1];",
        lambda a: (a.astype(np.int64) + 1).astype(np.int32))
_punned("halves_of_a_word_by_pointer", "short *h = (short *)&a; short t = h[0]; h[0] = h[1]; h[1] = t; r = a;",
        lambda a: a.view(np.int16).reshape(-1, 2)[:, ::-1].copy().view(np.int32).ravel())
_punned("bytes_of_a_struct_by_long_pointer", "struct { int x, y; } s = {a, 7}; long long *p = (long long *)&s; *p += 1ll << 32; r = s.x ^ s.y;", lambda a: a ^ 8)
_punned("union_of_array_and_vector", "union { int4 v; int w[4]; short h[8]; } u; u.v = make_int4(1, 2, a, 4); u.h[4] ^= 1; r = u.w[2] + u.v.w;", lambda a: (a ^ 1) + np.int32(4))
_punned("union_member_that_was_not_written", "union { float f; unsigned char b[4]; } u; u.f = __int_as_float(a); r = u.b[0] | u.b[3] << 8;",
        lambda a: (a & 255) | (a >> 24 & 255) << 8)
_punned("enumeration_beyond_its_names", "enum E { A, B }; E e = (E)(a & 7); r = e > 1 ? 5 : 6;", lambda a: np.where(a & 7 > 1, 5, 6).astype(np.int32))
SUITE.add("shared_bytes_as_int_and_float", "__global__ void k(const int *a, int *o) { __shared__ __align__(4) char buffer[256]; ((int *)buffer)[threadIdx.x] = a[threadIdx.x] & 0x3fffffff; __syncthreads();"
          " o[threadIdx.x] = __float_as_int(((float *)buffer)[63 - threadIdx.x]); }", Launch(["a", "o"], (1,), (64,)),
          buffers={"a": WORDS, "o": poisoned(64, np.int32)}, expect=lambda b: {"o": b["a"][::-1] & 0x3FFFFFFF})

# Masks of bytes that are not only 0 and 1, read as `bool`.
_MASK = np.array([0, 1, 2, 3, 127, 128, 254, 255] * 8, np.uint8)
for _name, _body, _true, _false in [
    ("chosen", "o[i] = m[i] ? 5 : 7;", 5, 7),
    ("branch", "if (m[i]) o[i] = 1; else o[i] = 2;", 1, 2),
    ("inverted", "o[i] = !m[i];", 0, 1),
    ("both", "bool b = m[i]; if (b && m[i]) o[i] = 3; else o[i] = 4;", 3, 4),
    ("in_shared_memory", "__shared__ bool s[64]; ((unsigned char *)s)[i] = ((const unsigned char *)m)[i]; __syncthreads(); o[i] = s[i] ? 8 : 9;", 8, 9),
    ("in_a_struct", "struct S { bool first, second; }; o[i] = ((const S *)(m + i / 2 * 2))->first ? 1 : 0; if (i & 1) o[i] = m[i] ? 1 : 0;", 1, 0),
]:
    def _of_mask(buffers: dict[str, np.ndarray], t: int = _true, f: int = _false) -> dict[str, np.ndarray]:
        return {"o": np.where(buffers["m"] != 0, t, f).astype(np.int32)}
    SUITE.add(f"mask_of_bytes_is_read_as_bool_{_name}", f"__global__ void k(const bool *m, int *o) {{ int i = threadIdx.x; {_body} }}", Launch(["m", "o"], (1,), (64,)),
              buffers={"m": _MASK, "o": poisoned(64, np.int32)}, expect=_of_mask)

# Loops without an effect, functions without a value.
SUITE.add("loop_waits_for_memory", "__device__ volatile int flag; __global__ void k(int *o) { if (threadIdx.x == 63) flag = 1; if (threadIdx.x < 32) while (!flag) {} o[threadIdx.x] = 3 + flag; }",
          Launch(["o"], (1,), (64,)), buffers={"o": poisoned(64, np.int32)}, expect=lambda _: {"o": np.full(64, 4, np.int32)}, spins=True)
SUITE.add("loop_waits_for_an_atomic", "__device__ int turn; __global__ void k(int *o) { int w = threadIdx.x / 32; if (threadIdx.x % 32 == 0) { while (atomicAdd(&turn, 0) != w); __threadfence(); o[w] = w ? o[w - 1] + 10 : 5; __threadfence(); atomicExch(&turn, w + 1); } }",
          Launch(["o"], (1,), (256,)), buffers={"o": poisoned(8, np.int32)}, expect=lambda _: {"o": 5 + 10 * np.arange(8, dtype=np.int32)}, spins=True)
SUITE.add("loop_waits_for_another_block", "__device__ volatile int ready; __global__ void k(int *o) { if (blockIdx.x == 1) { o[1] = 7; __threadfence(); ready = 1; } else { while (ready == 0); __threadfence(); o[0] = ((volatile int *)o)[1] + 1; } }",
          Launch(["o"], (2,)), buffers={"o": poisoned(2, np.int32)}, expect=lambda _: {"o": np.array([8, 7], np.int32)}, spins=True)
for _attribute in ("", "__noinline__ "):
    _name = "function_ends_without_a_value" + ("_not_inlined" if _attribute else "")
    elementwise(SUITE, _name, "int a", "int", "int v = f(a); r = a > 3 ? v : 1;", (WORDS,), lambda a: np.where(a > 3, a, 1), preamble=f"__device__ {_attribute}int f(int x) {{ if (x > 3) return x; }}")
elementwise(SUITE, "function_without_a_value_has_effects", "int a", "int", "r = 0; f(a, r);", (WORDS,), lambda a: a ^ 5,
            preamble="__device__ int f(int x, int &r) { r = x ^ 5; }")
elementwise(SUITE, "switch_without_a_case_ends_a_function", "int a", "int", "int v = f(a & 3); r = a & 2 ? 9 : v;", (WORDS,), lambda a: np.where(a & 2, 9, (a & 1) * 10 + 10).astype(np.int32),
            preamble="__device__ __noinline__ int f(int x) { switch (x) { case 0: return 10; case 1: return 20; } }")

# Null pointers: an illegal address, or a trap where the compiler saw it.
FAULT = ExpectedError(("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_INSTRUCTION"),
                      ("illegal memory access", "unspecified launch failure", "illegal instruction"), ("LogicError", "LaunchError"))
for _name, _body in {"null_is_written": "int *p = nullptr; *p = 3; o[0] = 1;", "null_is_read": "int *p = nullptr; o[0] = *p;", "null_is_read_and_compared": "o[0] = a ? *a : 2; o[1] = *a; if (!a) o[0] = 9;",
                     "null_is_written_by_one_lane": "if (threadIdx.x == 7) *(volatile int *)0 = 1; o[threadIdx.x] = 2;", "null_member_is_written": "struct S { int x[5]; }; ((S *)a)->x[3] = o[0];"}.items():
    SUITE.add(_name, f"__global__ void k(int *a, int *o) {{ {_body} }}", Launch([RawPtr(0), "o"], (1,), (32,)), buffers={"o": poisoned(32, np.int32)}, error=FAULT, faulting=True)
SUITE.add("null_is_compared_only", "__global__ void k(const int *a, int *o) { const int *p = a + threadIdx.x % 2 * 0; o[threadIdx.x] = p ? 1 : 2; }", Launch([RawPtr(0), "o"], (1,), (32,)),
          buffers={"o": poisoned(32, np.int32)}, expect=lambda _: {"o": np.full(32, 2, np.int32)})
