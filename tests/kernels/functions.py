"""Device functions: calls, recursion, pointers, by-value structures, templates, classes. Oracle: Python."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.elementwise import elementwise, s32, u32
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("functions")

SMALL = (np.arange(200) % 23).astype(np.int32)
ANY = random_ints(np.int32, 200, 161)


def _int(name: str, preamble: str, body: str, oracle, values: np.ndarray = SMALL, block=None) -> None:
    elementwise(SUITE, name, "int a", "int", body, (values,), oracle, preamble=preamble, scalar=True, block=block)


_int("noinline_call", "__device__ __noinline__ int f(int x, int y) { return x * 31 + y; }", "r = f(a, f(a + 1, 7));", lambda a: a * 31 + (a + 1) * 31 + 7)
_int("noinline_call_under_divergence", "__device__ __noinline__ int f(int x) { int s = 0; for (int i = 0; i < x; ++i) s += i ^ x; return s; }",
     "if (a % 3 == 0) r = f(a); else if (a % 3 == 1) r = f(a + 5) - 1; else r = -a;",
     lambda a: _xor_sum(a) if a % 3 == 0 else _xor_sum(a + 5) - 1 if a % 3 == 1 else -a)


def _xor_sum(x: int) -> int:
    return sum(i ^ x for i in range(x))


_int("recursion_factorial", "__device__ int f(int n) { return n <= 1 ? 1 : n * f(n - 1); }", "r = f(a % 13);", lambda a: math.factorial(a % 13))
_int("recursion_fibonacci", "__device__ int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }", "r = f(a % 16);", lambda a: _fib(a % 16))


@cache
def _fib(n: int) -> int:
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


_int("recursion_ackermann", "__device__ int f(int m, int n) { return m == 0 ? n + 1 : n == 0 ? f(m - 1, 1) : f(m - 1, f(m, n - 1)); }", "r = f(a % 3, a % 5);",
     lambda a: [a % 5 + 1, a % 5 + 2, 2 * (a % 5) + 3][a % 3])
_int("mutual_recursion", "__device__ int odd(int n);\n__device__ int even(int n) { return n == 0 ? 100 : odd(n - 1); }\n__device__ int odd(int n) { return n == 0 ? 200 : even(n - 1); }",
     "r = even(a);", lambda a: 200 if a & 1 else 100)
_int("recursion_with_local_array", """__device__ int f(int n, int *seen) {
    int mine[4] = {n, n + 1, n + 2, n + 3};
    seen[n & 7] += mine[n & 3];
    return n == 0 ? seen[0] + 3 * seen[5] : f(n - 1, seen) + mine[(n + 1) & 3];
}""", "int seen[8] = {0, 0, 0, 0, 0, 0, 0, 0}; r = f(a % 7, seen);", lambda a: _seen(a % 7))


def _seen(a: int) -> int:
    seen = [0] * 8

    def f(n: int) -> int:
        seen[n & 7] += n + (n & 3)
        return seen[0] + 3 * seen[5] if n == 0 else f(n - 1) + n + ((n + 1) & 3)

    return f(a)


_int("function_pointer_from_table", """typedef int (*op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int most(int a, int b) { return a > b ? a : b; }
__device__ op table[4] = {add, sub, mul, most};""", "r = table[a & 3](a, 9);", lambda a: [a + 9, a - 9, a * 9, max(a, 9)][a & 3])
_int("function_pointer_in_local_array", """typedef int (*op)(int);
__device__ __noinline__ int twice(int a) { return 2 * a; }
__device__ __noinline__ int square(int a) { return a * a; }
__device__ __noinline__ int negate(int a) { return -a; }""", "op ops[3] = {twice, square, negate}; r = a; for (int i = 0; i < 4; ++i) r = ops[(a + i) % 3](r) + 1;",
     lambda a: _composed(a))


def _composed(a: int) -> int:
    r = a
    for i in range(4):
        r = s32([lambda v: 2 * v, lambda v: v * v, lambda v: -v][(a + i) % 3](r) + 1)
    return r


_int("function_pointer_as_argument", """__device__ __noinline__ int cube(int x) { return x * x * x; }
__device__ __noinline__ int half(int x) { return x / 2; }
__device__ __noinline__ int sum(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; ++i) s += f(i); return s; }""",
     "r = sum(a & 1 ? cube : half, a);", lambda a: sum(i**3 if a & 1 else i // 2 for i in range(a)))
_int("virtual_methods", """struct Shape { __device__ virtual int area() const = 0; __device__ virtual int sides() const { return 0; } };
struct Square : Shape { int s; __device__ Square(int s) : s(s) {} __device__ int area() const override { return s * s; } __device__ int sides() const override { return 4; } };
struct Circle : Shape { int r; __device__ Circle(int r) : r(r) {} __device__ int area() const override { return 3 * r * r; } };
__device__ __noinline__ int measure(const Shape &s) { return s.area() * 10 + s.sides(); }""",
     "Square q(a); Circle c(a + 1); const Shape *s = (a & 1) ? (const Shape *)&q : (const Shape *)&c; r = measure(*s);",
     lambda a: a * a * 10 + 4 if a & 1 else 3 * (a + 1) ** 2 * 10)
_int("structure_argument_and_result", """struct Big { int v[6]; double d; };
__device__ __noinline__ Big rotate(Big b, int n) { Big r; for (int i = 0; i < 6; ++i) r.v[i] = b.v[(i + n) % 6]; r.d = b.d * n; return r; }""",
     "Big b; for (int i = 0; i < 6; ++i) b.v[i] = a * i; b.d = 1.5; b = rotate(rotate(b, 2), a % 4); r = b.v[1] * 100 + (int)b.d;",
     lambda a: a * ((1 + 2 + a % 4) % 6) * 100 + int(1.5 * 2 * (a % 4)))
_int("reference_and_pointer_parameters", """__device__ __noinline__ void divide(int a, int b, int &q, int *m) { q = a / b; *m = a % b; }""",
     "int q, m; divide(a * 7, 4, q, &m); r = q * 10 + m;", lambda a: a * 7 // 4 * 10 + a * 7 % 4)
_int("narrow_arguments_and_results", "__device__ __noinline__ signed char f(unsigned char x, short y, bool z) { return (signed char)(x + y + (z ? 1 : 0)); }",
     "r = f((unsigned char)a, (short)(a >> 8), a < 0);", lambda a: ((a & 255) + _s16(a >> 8) + (a < 0) + 128) % 256 - 128, ANY)


def _s16(v: int) -> int:
    return (v + 32768) % 65536 - 32768


_int("eleven_arguments", "__device__ __noinline__ double f(int a, float b, double c, long long d, short e, char g, int *h, unsigned i, float j, double k, int l) "
     "{ return a + b + c + d + e + g + *h + i + j + k + l; }", "int x = a * 2; r = (int)f(a, 1.5f, 2.25, 1ll << 20, -3, 4, &x, 5u, 6.0f, 7.25, a) ;",
     lambda a: int(a + 1.5 + 2.25 + 2**20 - 3 + 4 + 2 * a + 5 + 6 + 7.25 + a))
_int("templates", """template <int N, typename T> struct Power { __device__ static T of(T x) { return x * Power<N - 1, T>::of(x); } };
template <typename T> struct Power<0, T> { __device__ static T of(T) { return T(1); } };
template <typename T> __device__ T clamp_to(T x, T lo, T hi) { return x < lo ? lo : x > hi ? hi : x; }""",
     "r = Power<5, int>::of(a) + (int)clamp_to<float>(a * 0.5f, 2.0f, 7.0f) + clamp_to(a, 3, 11);",
     lambda a: s32(a**5 + int(min(max(a * 0.5, 2), 7)) + min(max(a, 3), 11)))
_int("lambdas", "template <typename F> __device__ int apply(F f, int n) { int s = 0; for (int i = 0; i < n; ++i) s += f(i); return s; }",
     "int base = a * 2; r = apply([base](int i) { return i * base + 1; }, a) + apply([&](int i) { base += i; return base; }, 4);",
     lambda a: sum(i * 2 * a + 1 for i in range(a)) + sum(2 * a + i * (i + 1) // 2 for i in range(4)))
_int("operator_overloading_and_constructors", """struct V2 { int x, y; __device__ V2(int x = 1, int y = 2) : x(x), y(y) {} __device__ V2 operator+(V2 o) const { return V2(x + o.x, y + o.y); }
    __device__ V2 &operator*=(int s) { x *= s; y *= s; return *this; } __device__ int operator[](int i) const { return i ? y : x; } };""",
     "V2 v = V2(a, 3) + V2(); v *= 4; r = v[0] * 1000 + v[1];", lambda a: (a + 1) * 4000 + 20)
_int("static_and_constexpr", """constexpr int triangular(int n) { return n == 0 ? 0 : n + triangular(n - 1); }
__device__ int pick(int i) { static const int t[5] = {triangular(1), triangular(2), triangular(10), triangular(20), triangular(100)}; return t[i]; }""",
     "r = pick(a % 5);", lambda a: [1, 3, 55, 210, 5050][a % 5])
_int("namespaces_enums_and_default_arguments", "namespace geo { enum Kind { flat = 3, round = 7 }; enum class Side : short { left = -1, right = 1 };\n"
     "__device__ int code(int x, Kind k = round, Side s = Side::left) { return x * k * (int)s; } }", "r = geo::code(a) + geo::code(a, geo::flat, geo::Side::right);",
     lambda a: -7 * a + 3 * a)
_int("call_returns_from_nested_loops", "__device__ __noinline__ int find(int target) { for (int i = 0; i < 30; ++i) for (int j = 0; j <= i; ++j) if (i * j == target) return i * 100 + j; return -1; }",
     "r = find(a);", lambda a: next((i * 100 + j for i in range(30) for j in range(i + 1) if i * j == a), -1))
SUITE.add("barrier_in_noinline_function", """
__shared__ int box[192];
__device__ __noinline__ int exchange(int v) {
    int t = threadIdx.x, n = blockDim.x;
    box[t] = v;
    __syncthreads();
    int r = box[(t + 1) % n];
    __syncthreads();
    return r;
}
__global__ void k(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = a[i];
    for (int j = 0; j < 3; ++j) v = exchange(v) + j;
    out[i] = v;
}""", Launch(["a", "out"], (3,), (192,)), buffers={"a": random_ints(np.int32, 576, 162) >> 3, "out": poisoned(576, np.int32)},
          expect=lambda b: {"out": (np.roll(b["a"].reshape(3, 192), -3, 1) + 3).ravel().astype(np.int32)})
SUITE.add("barriers_in_calls_on_both_sides_of_a_branch", """
__shared__ int box[96];
__device__ __noinline__ int odd(int v) {
    box[threadIdx.x] = v + 1;
    asm volatile("barrier.sync 0;" ::: "memory");
    return box[threadIdx.x ^ 1];
}
__device__ __noinline__ int even(int v) {
    box[threadIdx.x] = v * 3;
    asm volatile("barrier.sync 0;" ::: "memory");
    return box[threadIdx.x ^ 1] - 7;
}
__global__ void k(const int *a, int *out) {
    int i = blockIdx.x * 96 + threadIdx.x;
    out[i] = threadIdx.x & 1 ? odd(a[i]) : even(a[i]);
}""", Launch(["a", "out"], (3,), (96,)), buffers={"a": random_ints(np.int32, 288, 165) >> 3, "out": poisoned(288, np.int32)},
          expect=lambda b: {"out": np.stack([b["a"][1::2] + 1 - 7, b["a"][::2] * 3], 1).ravel().astype(np.int32)})
SUITE.add("lock_taken_in_a_call_by_lanes_of_one_warp", """
__device__ __noinline__ void lock(int *mutex) { while (atomicCAS(mutex, 0, 1) != 0) {} __threadfence(); }
__device__ __noinline__ void unlock(int *mutex) { __threadfence(); atomicExch(mutex, 0); }
__global__ void k(int *mutex, volatile int *sum) {
    lock(mutex);
    *sum = *sum + threadIdx.x;
    unlock(mutex);
}""", Launch(["mutex", "sum"], (2,), (80,)), buffers={"mutex": np.zeros(1, np.int32), "sum": np.zeros(1, np.int32)},
          expect=lambda b: {"mutex": np.zeros(1, np.int32), "sum": np.full(1, 2 * sum(range(80)), np.int32)})
SUITE.add("lanes_wait_for_each_other_in_two_calls", """
__device__ __noinline__ int wait(volatile int *flag) { int v; while ((v = *flag) == 0) {} return v; }
__device__ __noinline__ void tell(volatile int *flag, int v) { *flag = v; }
__global__ void k(int *flags, int *out) {
    int t = threadIdx.x, *own = flags + t, *other = flags + (t ^ 1);
    int v;
    if (t & 1) { tell(other, t + 100); v = wait(own); }
    else { v = wait(own); tell(other, v + 1); }
    out[t] = v;
}""", Launch(["flags", "out"], (1,), (64,)), buffers={"flags": np.zeros(64, np.int32), "out": poisoned(64, np.int32)},
          expect=lambda b: {"out": (np.arange(64, dtype=np.int32) | 1) + np.where(np.arange(64) & 1, 101, 100).astype(np.int32)})
SUITE.add("loop_asks_a_function", """
__device__ __noinline__ int look(volatile int *flag) { return *flag; }
__global__ void k(int *flags, int *out) {
    if (threadIdx.x < 64) { int v; do v = look(flags + blockIdx.x); while (v == 0); out[blockIdx.x * 64 + threadIdx.x] = v; }
    else if (threadIdx.x == 95) *(volatile int *)(flags + (blockIdx.x ^ 1)) = blockIdx.x + 5;
}""", Launch(["flags", "out"], (2,), (96,)), buffers={"flags": np.zeros(2, np.int32), "out": poisoned(128, np.int32)},
          expect=lambda b: {"out": np.repeat(np.array([6, 5], np.int32), 64)})
SUITE.add("functions_with_any_number_of_arguments", """
#include <stdarg.h>
__device__ __noinline__ double sum(const char *types, ...) {
    va_list list;
    va_start(list, types);
    double s = 0;
    for (; *types; ++types) {
        if (*types == 'i') s += va_arg(list, int);
        else if (*types == 'd') s += va_arg(list, double);
        else s += va_arg(list, long long);
    }
    va_end(list);
    return s;
}
__device__ __noinline__ double twice(int n, ...) {
    va_list a, b;
    va_start(a, n);
    va_copy(b, a);
    double s = va_arg(a, int) + 10 * va_arg(b, int) + n;
    va_end(a);
    va_end(b);
    return s;
}
typedef double (*variadic)(int, ...);
__device__ variadic table[2] = {twice, twice};
__global__ void k(const char *types, double *out) {
    int t = threadIdx.x;
    out[t] = sum(types, t, 2.5, 1ll << 33, 7) + sum("") + table[t & 1](1, 3 * t);
}""", Launch(["types", "out"], (1,), (40,)), buffers={"types": np.frombuffer(b"idli\0", np.int8).copy(), "out": poisoned(40, np.float64)},
          expect=lambda _: {"out": np.arange(40) + 2.5 + 2.0**33 + 7 + 33 * np.arange(40) + 1})
SUITE.add("shuffle_in_recursive_function", """
__device__ int reduce(int v, int distance) { return distance == 0 ? v : reduce(v + __shfl_xor_sync(0xffffffffu, v, distance), distance / 2); }
__global__ void k(const int *a, int *out) { out[blockIdx.x * 64 + threadIdx.x] = reduce(a[blockIdx.x * 64 + threadIdx.x], 16); }""",
          Launch(["a", "out"], (4,), (64,)), buffers={"a": random_ints(np.int32, 256, 163), "out": poisoned(256, np.int32)},
          expect=lambda b: {"out": np.repeat(b["a"].reshape(8, 32).sum(1, dtype=np.int32), 32)})
SUITE.add("quicksort_by_recursion", """
__device__ void sort(int *v, int lo, int hi) {
    if (lo >= hi) return;
    int p = v[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
        while (v[i] < p) ++i;
        while (v[j] > p) --j;
        if (i <= j) { int t = v[i]; v[i++] = v[j]; v[j--] = t; }
    }
    sort(v, lo, j);
    sort(v, i, hi);
}
__global__ void k(int *a) { sort(a + 50 * (blockIdx.x * blockDim.x + threadIdx.x), 0, 49); }""",
          Launch(["a"], (2,), (20,)), buffers={"a": random_ints(np.int32, 2000, 164)}, expect=lambda b: {"a": np.sort(b["a"].reshape(40, 50), 1).ravel()})
SUITE.add("hanoi_by_recursion", """
__device__ void hanoi(int n, int from, int to, unsigned int *hash, int *moves) {
    if (n == 0) return;
    hanoi(n - 1, from, 3 - from - to, hash, moves);
    *hash = *hash * 31u + (unsigned)(from * 3 + to);
    ++*moves;
    hanoi(n - 1, 3 - from - to, to, hash, moves);
}
__global__ void k(unsigned int *out) {
    unsigned int hash = 7; int moves = 0;
    hanoi(threadIdx.x % 7, 0, 2, &hash, &moves);
    out[2 * threadIdx.x] = hash; out[2 * threadIdx.x + 1] = moves;
}""", Launch(["out"], (1,), (40,)), buffers={"out": poisoned((40, 2), np.uint32)}, expect=lambda _: {"out": np.array([_hanoi(t % 7) for t in range(40)], np.uint32)})


@cache
def _hanoi(disks: int) -> tuple[int, int]:
    moves: list[int] = []

    def go(n: int, source: int, target: int) -> None:
        if n:
            go(n - 1, source, 3 - source - target)
            moves.append(source * 3 + target)
            go(n - 1, 3 - source - target, target)

    go(disks, 0, 2)
    value = 7
    for m in moves:
        value = u32(value * 31 + m)
    return value, len(moves)


SUITE.add("several_kernels_share_device_code", """
__device__ int calls = 0;
__device__ __noinline__ int step(int x) { atomicAdd(&calls, 1); return x * 3 + 1; }
__global__ void first(int *a) { a[threadIdx.x] = step(a[threadIdx.x]); }
__global__ void second(int *a) { a[threadIdx.x] = step(step(a[threadIdx.x])); }""",
          (Launch(["a"], (1,), (40,), "first"), Launch(["a"], (1,), (40,), "second"), Launch(["a"], (1,), (40,), "first")),
          buffers={"a": np.arange(40, dtype=np.int32)}, expect=lambda _: {"a": (81 * np.arange(40) + 40).astype(np.int32)},
          globals_out=lambda _: {"calls": np.array([160], np.int32)})
SUITE.add("template_kernels_by_explicit_name", """
template <typename T> __device__ void scale(T *a, T f) { a[threadIdx.x] = a[threadIdx.x] * f; }
extern "C" __global__ void scale_float(float *a, float f) { scale(a, f); }
extern "C" __global__ void scale_long(long long *a, long long f) { scale(a, f); }""",
          (Launch(["x", np.float32(1.5)], (1,), (32,), "scale_float"), Launch(["y", np.int64(-(2**35))], (1,), (32,), "scale_long")),
          buffers={"x": rng(165).integers(-50, 50, 32).astype(np.float32), "y": np.arange(32, dtype=np.int64)},
          expect=lambda b: {"x": b["x"] * np.float32(1.5), "y": b["y"] * -(2**35)}, no_extern_c=True)
SUITE.add("mangled_kernel_name", "__global__ void k(int *a, float f) { a[threadIdx.x] = (int)(f * threadIdx.x); }",
          Launch(["a", np.float32(2.5)], (1,), (9,), "_Z1kPif"), buffers={"a": poisoned(9, np.int32)},
          expect=lambda _: {"a": (2.5 * np.arange(9)).astype(np.int32)}, no_extern_c=True)
