"""Matrices as tensor cores see them: bits of elements, fragments of `mma`, and what a sum of products is.

`planes` spreads a matrix over the registers of 32 lanes as the PTX ISA draws it; `product` gives
the result of a product: exact for integers, bits and doubles (a chain of fused multiply-adds),
for other floats the published model of the hardware, whose parameters are arguments.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

BITS = {"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32,
        "s32": 32, "f64": 64}
#: Bits of exponent and fraction; of `.tf32` in the upper 19 of 32 bits.
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "f32": (8, 23)}


def encode(ty: str, values: np.ndarray) -> np.ndarray:
    """Values (integers or floats) to the bits of elements, rounded to nearest."""
    if ty == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    if ty == "f64":
        return values.astype(np.float64).view(np.uint64)
    if ty in ("f32", "tf32", "bf16"):
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        drop = {"f32": 0, "tf32": 13, "bf16": 16}[ty]
        if drop:
            bits = bits + (1 << (drop - 1)) - 1 + (bits >> drop & 1) >> drop
        return bits << 13 if ty == "tf32" else bits
    return values.astype(np.int64).view(np.uint64) & np.uint64((1 << BITS[ty]) - 1)


def take_apart(ty: str, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Significand with sign and the exponent of its unit: the value of finite bits is s * 2**e."""
    exp_bits, frac_bits = FLOATS[ty]
    if ty == "tf32":
        bits = bits >> 13
    bits = bits.astype(np.int64)
    field, frac = bits >> frac_bits & ((1 << exp_bits) - 1), bits & ((1 << frac_bits) - 1)
    sig = np.where(field > 0, frac | 1 << frac_bits, frac)
    exp = np.maximum(field, 1) - ((1 << (exp_bits - 1)) - 1)
    return np.where(bits >> (exp_bits + frac_bits) & 1, -sig, sig), exp


def values(ty: str, bits: np.ndarray) -> np.ndarray:
    """The numbers that bits stand for: float64, or int64 for integers."""
    if ty == "f64":
        return bits.astype(np.uint64).view(np.float64)
    if ty in FLOATS:
        sig, exp = take_apart(ty, bits)
        return np.ldexp(sig.astype(np.float64), (exp - FLOATS[ty][1]).astype(np.int32))
    signed, n = ty[0] == "s", BITS[ty]
    out = bits.astype(np.int64)
    return np.where(out >> (n - 1) & 1, out - (1 << n), out) if signed else out


def place(role: str, shape: tuple[int, int, int], ty: str) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of every element: arrays by lane and element number."""
    m, n, k = shape
    lanes, count = np.arange(32)[:, None], {"a": m * k, "b": k * n}.get(role, m * n) // 32
    i, group, thread = np.arange(count)[None, :], lanes // 4, lanes % 4
    per = max(32 // BITS[ty], 1)
    if role == "a":
        halves = m // 8
        return group + 8 * (i // per % halves), thread * per + i % per + i // per // halves * 4 * per
    if role == "b":
        return thread * per + i % per + i // per * 4 * per, group + 0 * i
    return group + 8 * (i // 2), thread * 2 + i % 2


def planes(role: str, shape: tuple[int, int, int], ty: str, bits: np.ndarray) -> np.ndarray:
    """Matrices (..., rows, columns) of bits to registers (..., registers, 32)."""
    rows, cols = place(role, shape, ty)
    spread, width = bits[..., rows, cols].astype(np.uint64), BITS[ty]
    per = max(32 // width, 1)
    parts = spread.reshape(*spread.shape[:-1], -1, per)
    words = (parts << (np.arange(per, dtype=np.uint64) * np.uint64(width))).sum(-1, dtype=np.uint64)
    return np.swapaxes(words, -1, -2)


def from_planes(role: str, shape: tuple[int, int, int], ty: str, words: np.ndarray) -> np.ndarray:
    """The inverse of `planes`."""
    rows, cols = place(role, shape, ty)
    per = max(32 // BITS[ty], 1)
    words = np.swapaxes(words, -1, -2).astype(np.uint64)[..., None]
    parts = words >> (np.arange(per, dtype=np.uint64) * np.uint64(BITS[ty])) & np.uint64((1 << BITS[ty]) - 1)
    m, n, k = shape
    out = np.zeros((*words.shape[:-3], *{"a": (m, k), "b": (k, n)}.get(role, (m, n))), np.uint64)
    out[..., rows, cols] = parts.reshape(*parts.shape[:-2], -1)
    return out


def chunk_of(ty: str) -> int:
    """Elements of a row of which half are stored in a sparse `a`."""
    return {"tf32": 2, "s4": 8, "u4": 8}.get(ty, 4)


def sparse(ty: str, stored: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """The dense rows of a sparse `a`: `choice` has four bits per chunk."""
    chunk = chunk_of(ty)
    kept = stored.reshape(*choice.shape, chunk // 2)
    out = np.zeros((*choice.shape, chunk), stored.dtype)
    for i in range(chunk // 2):
        at = {2: choice >> 1 & 1, 4: choice >> (2 * i) & 3, 8: (choice >> (i // 2 * 2) & 3) * 2 + i % 2}[chunk]
        np.put_along_axis(out, at[..., None], kept[..., i : i + 1], -1)
    return out.reshape(*stored.shape[:-1], -1)


def choices(ty: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random metadata that means something: two different places in order, or one of two."""
    legal = [0b0100, 0b1110] if ty == "tf32" else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110]
    return rng.choice(np.array(legal), shape)


def metadata(ty: str, k: int, choice: np.ndarray, selector: int) -> np.ndarray:
    """The metadata of each lane for 16 rows of chunks (..., 16, chunks)."""
    out = np.zeros((*choice.shape[:-2], 32), np.uint64)
    for row in range(16):
        for c in range(choice.shape[-1]):
            if BITS[ty] >= 16:
                lane = selector * 2 + c // 4 if k * BITS[ty] == 512 else selector
                bit = row // 8 * 16 + c % 4 * 4
            else:
                lane, bit = selector * 2 + c // 8 * 2 + row // 8, c % 8 * 4
            out[..., row % 8 * 4 + lane] |= choice[..., row, c].astype(np.uint64) << np.uint64(bit)
    return out


def _cut(v: np.ndarray) -> np.ndarray:
    """Doubles to single precision, towards zero; beyond its range infinite."""
    single = (v.view(np.uint64) & ~np.uint64((1 << 29) - 1)).view(np.float64)
    small = np.abs(v) < 2.0**-126
    with np.errstate(over="ignore"):
        return np.where(small, np.trunc(v * 2.0**149) * 2.0**-149, single).astype(np.float32)


def float_product(a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str, str], *, bits: int = 25,
                  step: int = 16) -> np.ndarray:
    """Bits of sums of products of finite floats, types being those of `a`, `b` and the sums.

    Of each `step` products and the sum so far, terms are cut to multiples of 2**(e - bits), e being
    the largest exponent, and added; the sum is cut (`f32`) or rounded to nearest (`f16`). Zero is +0.
    """
    (sa, ea), (sb, eb) = take_apart(types[0], a), take_apart(types[1], b)
    frac = FLOATS[types[0]][1] + FLOATS[types[1]][1]
    total = c
    for first in range(0, a.shape[-1], step):
        part = slice(first, first + step)
        sig = sa[..., :, part, None] * sb[..., None, part, :]
        exp = ea[..., :, part, None] + eb[..., None, part, :]
        sc, ec = take_apart(types[2], total)
        aligned = np.where(sig != 0, exp, -126).max(-2)
        top = np.maximum(np.maximum(aligned, np.where(sc != 0, ec, -126)), -126)
        shift = (exp - top[..., None, :] - frac + bits).astype(np.int32)
        terms = np.trunc(np.ldexp(sig.astype(np.float64), shift)).sum(-2)
        terms += np.trunc(np.ldexp(sc.astype(np.float64), (ec - top - FLOATS[types[2]][1] + bits).astype(np.int32)))
        result = np.ldexp(terms + 0.0, (top - bits).astype(np.int32))
        if types[2] == "f16":
            with np.errstate(over="ignore"):
                half = result.astype(np.float16)
            total = np.where(half == 0, np.float16(0), half).view(np.uint16).astype(np.uint64)
        else:
            total = _cut(result).view(np.uint32).astype(np.uint64)
    return total


def _fma(x: float, y: float, z: float) -> float:
    total = Fraction(x) * Fraction(y) + Fraction(z)
    return float(total) if total else x * y + z


def double_product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Bits of chains of fused multiply-adds, k ascending."""
    x, y, out = values("f64", a), values("f64", b), values("f64", c).copy()
    for at in np.ndindex(out.shape):
        row, column = x[at[:-1]], y[at[:-2]][:, at[-1]]
        for left, right in zip(row, column, strict=True):
            out[at] = _fma(left, right, out[at])
    return out.view(np.uint64)


def integer_product(a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str], op: str = "") -> np.ndarray:
    """Bits of sums of products of integers (or of bits, counted); `op` holds the modifiers."""
    x, y, z = values(types[0], a), values(types[1], b), values("s32", c)
    total = np.matmul(x, y)
    if "xor" in op:
        total = x.sum(-1)[..., :, None] + y.sum(-2)[..., None, :] - 2 * total
    total += z
    if "satfinite" in op:
        total = np.clip(total, -(2**31), 2**31 - 1)
    return total.view(np.uint64) & np.uint64(0xFFFFFFFF)
