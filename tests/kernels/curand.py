"""cuRAND's device generators through ``curand_kernel.h``.

Oracles: XORWOW after Marsaglia, "Xorshift RNGs" (2003), with its subsequences
2**67 steps apart by powers of the transition matrix over GF(2); Philox4x32-10
after Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011);
Sobol after Bratley and Fox (1988), in Gray code order.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Within
from tests.kernels.elementwise import u32

SUITE = Suite("curand")

_HEAD = "#include <curand_kernel.h>\n"
_WEYL = 362437


class Xorwow:
    """Marsaglia's xorwow; seeded as cuRAND seeds it."""

    def __init__(self, seed: int, subsequence: int = 0, offset: int = 0) -> None:
        # cuRAND mixes the seed's halves into the published start values.
        t0 = u32(1099087573 * (u32(seed) ^ 0xAAD26B49))
        t1 = u32(2591861531 * ((seed >> 32) ^ 0xF7DCEFDD))
        v = [u32(123456789 + t0), 362436069 ^ t0, u32(521288629 + t1), 88675123 ^ t1, u32(5783321 + t0)]
        self.d = u32(6615241 + t1 + t0 + _WEYL * offset)
        self.v = _jump(_jump(v, subsequence << 67), offset)

    def next(self) -> int:
        self.v = _step(self.v)
        self.d = u32(self.d + _WEYL)
        return u32(self.d + self.v[4])


def _step(v: list[int]) -> list[int]:
    t = v[0] ^ (v[0] >> 2)
    return [v[1], v[2], v[3], v[4], u32(v[4] ^ (v[4] << 4)) ^ u32(t ^ (t << 1))]


def _pack(v: list[int]) -> int:
    return sum(x << 32 * i for i, x in enumerate(v))


def _apply(matrix: tuple[int, ...], x: int) -> int:
    """Matrix (as columns) times vector over GF(2)."""
    out = 0
    while x:
        low = x & -x
        out ^= matrix[low.bit_length() - 1]
        x ^= low
    return out


@cache
def _power_of_two_steps(k: int) -> tuple[int, ...]:
    """The matrix of 2**k steps."""
    if k == 0:
        return tuple(_pack(_step([(1 << i >> 32 * j) & 0xFFFFFFFF for j in range(5)])) for i in range(160))
    half = _power_of_two_steps(k - 1)
    return tuple(_apply(half, c) for c in half)


def _jump(v: list[int], steps: int) -> list[int]:
    x, k = _pack(v), 0
    while steps:
        if steps & 1:
            x = _apply(_power_of_two_steps(k), x)
        steps >>= 1
        k += 1
    return [(x >> 32 * j) & 0xFFFFFFFF for j in range(5)]


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox4x32."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], u32(p1), (p0 >> 32) ^ c[3] ^ k[1], u32(p0)]
        k = [u32(k[0] + 0x9E3779B9), u32(k[1] + 0xBB67AE85)]
    return c


def philox_stream(seed: int, subsequence: int, offset: int, count: int) -> list[int]:
    """`count` outputs, as curand() gives them."""
    out: list[int] = []
    for block in range(offset // 4, (offset + count) // 4 + 1):
        out += philox([u32(block), block >> 32, u32(subsequence), subsequence >> 32], [u32(seed), seed >> 32])
    return out[offset % 4 : offset % 4 + count]


SEED = 0x123456789ABCDEF
SUITE.add("xorwow_sequences", _HEAD + """
extern "C" __global__ void k(unsigned long long seed, unsigned int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState s;
    curand_init(seed, i, 3 * i, &s);
    for (int j = 0; j < 8; ++j) out[8 * i + j] = curand(&s);
}""", Launch([np.uint64(SEED), "out"], (2,), (20,)), buffers={"out": poisoned((40, 8), np.uint32)}, no_extern_c=True,
          expect=lambda _: {"out": np.array([[g.next() for _ in range(8)] for g in (Xorwow(SEED, i, 3 * i) for i in range(40))], np.uint32)})
SUITE.add("xorwow_uniform_float_and_double", _HEAD + """
extern "C" __global__ void k(unsigned long long seed, float *f, double *d) {
    int i = threadIdx.x;
    curandStateXORWOW_t s;
    curand_init(seed + i, 0, 0, &s);
    for (int j = 0; j < 4; ++j) { f[4 * i + j] = curand_uniform(&s); d[4 * i + j] = curand_uniform_double(&s); }
}""", Launch([np.uint64(77), "f", "d"], (1,), (64,)), buffers={"f": poisoned((64, 4), np.float32), "d": poisoned((64, 4), np.float64)}, no_extern_c=True,
          expect=lambda _: _uniforms())


def _uniforms() -> dict[str, np.ndarray]:
    f, d = np.empty((64, 4), np.float32), np.empty((64, 4))
    for i in range(64):
        g = Xorwow(77 + i)
        for j in range(4):
            f[i, j] = np.float64(np.float32(g.next())) * 2.0**-32 + 2.0**-33
            z = g.next() ^ (g.next() << 21)
            d[i, j] = z * 2.0**-53 + 2.0**-54
    return {"f": f, "d": d}


SUITE.add("xorwow_normal", _HEAD + """
extern "C" __global__ void k(float *out) {
    int i = threadIdx.x;
    curandState s;
    curand_init(1234, i, 0, &s);
    out[4 * i] = curand_normal(&s); out[4 * i + 1] = curand_normal(&s);
    float2 p = curand_normal2(&s); out[4 * i + 2] = p.x; out[4 * i + 3] = p.y;
}""", Launch(["out"], (1,), (64,)), buffers={"out": poisoned((64, 4), np.float32)}, no_extern_c=True, expect=lambda _: {"out": _normals()},
          compare=Within("__sincosf has an absolute error of 2^-21.19, scaled by sqrt(-2 log u) < 6.7", atol=5e-6))


def _normals() -> np.ndarray:
    out = np.empty((64, 4), np.float32)
    for i in range(64):
        g = Xorwow(1234, i)
        for j in (0, 2):
            u, v = ((np.float64(np.float32(g.next())) * 2.0**-32 + 2.0**-33) for _ in range(2))
            radius = np.sqrt(-2 * np.log(np.float32(u), dtype=np.float64))
            out[i, j], out[i, j + 1] = radius * np.sin(2 * np.pi * v), radius * np.cos(2 * np.pi * v)
    return out


SUITE.add("xorwow_state_kept_in_memory_between_kernels", _HEAD + """
extern "C" __global__ void setup(curandState *states) { curand_init(99, threadIdx.x, 0, &states[threadIdx.x]); }
extern "C" __global__ void k(curandState *states, unsigned int *out) { for (int j = 0; j < 3; ++j) out[3 * threadIdx.x + j] = curand(&states[threadIdx.x]); }""",
          (Launch(["states"], (1,), (32,), "setup"), Launch(["states", "first"], (1,), (32,)), Launch(["states", "second"], (1,), (32,))),
          buffers={"states": poisoned(32 * 48, np.uint8), "first": poisoned((32, 3), np.uint32), "second": poisoned((32, 3), np.uint32)}, no_extern_c=True,
          expect=lambda _: dict(zip(("first", "second"), np.split(np.array([[g.next() for _ in range(6)] for g in (Xorwow(99, i) for i in range(32))], np.uint32), 2, 1))))
SUITE.add("philox_sequences", _HEAD + """
extern "C" __global__ void k(unsigned long long seed, unsigned int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(seed, i, 5 * i, &s);
    for (int j = 0; j < 10; ++j) out[10 * i + j] = curand(&s);
}""", Launch([np.uint64(SEED), "out"], (3,), (33,)), buffers={"out": poisoned((99, 10), np.uint32)}, no_extern_c=True,
          expect=lambda _: {"out": np.array([philox_stream(SEED, i, 5 * i, 10) for i in range(99)], np.uint32)})
SUITE.add("philox_four_at_once", _HEAD + """
extern "C" __global__ void k(uint4 *u, float4 *f) {
    int i = threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(2024, i, 0, &s);
    u[i] = curand4(&s);
    f[i] = curand_uniform4(&s);
}""", Launch(["u", "f"], (1,), (50,)), buffers={"u": poisoned((50, 4), np.uint32), "f": poisoned((50, 4), np.float32)}, no_extern_c=True, expect=lambda _: _fours())


def _fours() -> dict[str, np.ndarray]:
    words = np.array([philox_stream(2024, i, 0, 8) for i in range(50)], np.uint32)
    return {"u": words[:, :4].copy(), "f": (words[:, 4:].astype(np.float32).astype(np.float64) * 2.0**-32 + 2.0**-33).astype(np.float32)}


SUITE.add("philox_monte_carlo_pi", _HEAD + """
extern "C" __global__ void k(int draws, unsigned int *inside) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(7, i, 0, &s);
    unsigned int n = 0;
    for (int j = 0; j < draws; ++j) {
        unsigned int x = curand(&s) >> 16, y = curand(&s) >> 16;
        n += x * x / 4 + y * y / 4 < 0x40000000u;
    }
    atomicAdd(inside, n);
}""", Launch([np.int32(20), "inside"], (2,), (64,)), buffers={"inside": np.zeros(1, np.uint32)}, no_extern_c=True, expect=lambda _: {"inside": np.array([_inside()], np.uint32)})


def _inside() -> int:
    hits = 0
    for i in range(128):
        w = [v >> 16 for v in philox_stream(7, i, 0, 40)]
        hits += sum(x * x // 4 + y * y // 4 < 0x40000000 for x, y in zip(w[::2], w[1::2]))
    return hits


_DIRECTIONS = np.array([1 << (31 - i) for i in range(32)], np.uint32) | (np.array([0xB504F333 >> i for i in range(32)], np.uint64) & 0x7FFFFFFF >> np.arange(32, dtype=np.uint64)).astype(np.uint32)
SUITE.add("sobol32_in_gray_code_order", _HEAD + """
extern "C" __global__ void k(unsigned int *directions, unsigned int *out) {
    curandStateSobol32_t s;
    curand_init(directions, 10 * threadIdx.x, &s);
    for (int j = 0; j < 10; ++j) out[10 * threadIdx.x + j] = curand(&s);
}""", Launch(["directions", "out"], (1,), (16,)), buffers={"directions": _DIRECTIONS, "out": poisoned(160, np.uint32)}, no_extern_c=True,
          expect=lambda b: {"out": np.array([_sobol(b["directions"], n) for n in range(160)], np.uint32)})


def _sobol(directions: np.ndarray, n: int) -> int:
    gray, x = n ^ (n >> 1), 0
    for i in range(32):
        if gray >> i & 1:
            x ^= int(directions[i])
    return x
