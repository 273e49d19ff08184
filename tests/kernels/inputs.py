"""Input values with the edges in: shared by the feature modules."""

from __future__ import annotations

from itertools import product

import numpy as np

I32 = np.array(
    [0, 1, -1, 2, -2, 3, 5, -7, 10, 31, 32, 33, 100, -100, 255, 256, 65535, 65536, -65536,
     0x7FFFFFFF, 0x7FFFFFFE, -0x80000000, -0x7FFFFFFF, 0x55555555, -0x55555556, 0x12345678, -0x12345678],
    dtype=np.int32,
)
U32 = I32.view(np.uint32)
I64 = np.array(
    [0, 1, -1, 2, -3, 7, 10, 63, 64, 65, -1000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, -0x80000000,
     -0x80000001, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000, -0x7FFFFFFFFFFFFFFF, 0x123456789ABCDEF0, -0x123456789ABCDEF0],
    dtype=np.int64,
)
U64 = I64.view(np.uint64)
I16 = np.array([0, 1, -1, 7, -7, 127, 128, -128, 255, 256, 1000, -1000, 32767, -32768, 12345, -12345], dtype=np.int16)
U16 = I16.view(np.uint16)
I8 = np.array([0, 1, -1, 2, -2, 7, -7, 64, -64, 85, -86, 100, -100, 126, 127, -128, -127], dtype=np.int8)
U8 = I8.view(np.uint8)

F32 = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -0.1, 1 / 3, 7.25, -123.456, 1e10, -1e-10,
     16777216.0, 16777217.0, 8388607.5, 2147483648.0, -2147483648.0, 4294967296.0, 9.223372e18, 1.8446744e19,
     3.4028235e38, -3.4028235e38, 1.1754944e-38, -1.1754944e-38, 1.1754942e-38, 1e-45, -1e-45, 5.9e-39,
     1.0000001, 0.99999994, np.inf, -np.inf, np.nan],
    dtype=np.float32,
)
F64 = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -0.1, 1 / 3, 7.25, -123.456, 1e100, -1e-100,
     9007199254740992.0, 9007199254740991.0, 4503599627370495.5, 2147483648.0, -2147483649.0, 4294967296.0,
     9.223372036854775e18, 9.223372036854775807e18, 1.8446744073709552e19, 1.7976931348623157e308,
     -1.7976931348623157e308, 2.2250738585072014e-308, 2.225073858507201e-308, 5e-324, -5e-324, 1e-310,
     1.0000000000000002, 0.9999999999999999, np.inf, -np.inf, np.nan],
    dtype=np.float64,
)
F16_BITS = np.array(
    [0x0000, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0x4100, 0xC100, 0x2E66, 0x3555, 0x7BFF, 0xFBFF, 0x0400, 0x8400,
     0x03FF, 0x0001, 0x8001, 0x3C01, 0x3BFF, 0x6400, 0x6801, 0x7C00, 0xFC00, 0x7E00],
    dtype=np.uint16,
)
BF16_BITS = np.array(
    [0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x3FC0, 0x4020, 0xC020, 0x3DCD, 0x3EAB, 0x7F7F, 0xFF7F, 0x0080, 0x8080,
     0x007F, 0x0001, 0x8001, 0x3F81, 0x3F7F, 0x4B00, 0x4380, 0x7F80, 0xFF80, 0x7FC0],
    dtype=np.uint16,
)


def pairs(a: np.ndarray, b: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Every combination of two sets of values."""
    b = a if b is None else b
    return np.repeat(a, len(b)), np.tile(b, len(a))


def triples(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every combination of three values of `a`."""
    x, y, z = zip(*product(range(len(a)), repeat=3))
    return a[list(x)], a[list(y)], a[list(z)]


def rng(seed: int) -> np.random.Generator:
    """The generator of a case; a seed of its own keeps cases independent."""
    return np.random.default_rng(seed)


def random_bits_f32(count: int, seed: int) -> np.ndarray:
    """Floats with random bit patterns, so of every magnitude."""
    return rng(seed).integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)


def random_bits_f64(count: int, seed: int) -> np.ndarray:
    """Doubles with random bit patterns."""
    return rng(seed).integers(0, 1 << 64, count, dtype=np.uint64).view(np.float64)


def random_ints(dtype: type, count: int, seed: int) -> np.ndarray:
    """Integers over the whole range of `dtype`."""
    info = np.iinfo(dtype)
    return rng(seed).integers(info.min, info.max, count, dtype=dtype, endpoint=True)
