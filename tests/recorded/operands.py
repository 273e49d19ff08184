"""Operand tuples of the recorded table: special values first, then random ones of several styles.

Forms with the same operand kinds share one pool of tuples, so that the table holds each pool once.
"""

import zlib

import numpy as np

F32 = """00000000 80000000 3f800000 bf800000 7f800000 ff800000 7fc00000 00000001 80000001 007fffff 00800000 7f7fffff
ff7fffff 807fffff 80800000 7f800001 ffc12345 3f800001 3f7fffff 3f000000 3fc00000 40200000 bf000000 4b000000
4b000001 4f000000 cf000000 5f000000 4b7fffff 7fffffff ffffffff 00800001 4effffff 4f7fffff 4f800000 cf000001 df000000
5f800000 477fe000 477ff000 47800000 38800000 387fe000 33800000 33000000 33000001 43e00000 43e80000 43e80001 47600000
47700000 3e800000 c0200000 42fe0000 42ff0000 437f0000 437f8000 c3000000 46fffe00 477fff00 c7000000 00400000 00000002
34000000 bf7fffff 3fffffff 7f000000 7e800000 01000000 0c800000 7fa00001 ff800001 7fbfffff 3c800000 3b000000 3a800000
37800000 37000000 3f490fdb 40490fdb 3fc90fdb 42fc0000 43000000 c2fc0000 c3150000 c3160000""".split()

F64 = """0000000000000000 8000000000000000 3ff0000000000000 bff0000000000000 7ff0000000000000 fff0000000000000
7ff8000000000000 0000000000000001 8000000000000001 000fffffffffffff 0010000000000000 7fefffffffffffff ffefffffffffffff
800fffffffffffff 8010000000000000 7ff0000000000001 fff8123456789abc 3ff0000000000001 3fefffffffffffff 3fe0000000000000
3ff8000000000000 4004000000000000 bfe0000000000000 4330000000000000 4330000000000001 41dfffffffc00000 41e0000000000000
41efffffffe00000 7fffffffffffffff ffffffffffffffff 41f0000000000000 c1e0000000000000 c1e0000000200000 43e0000000000000
c3e0000000000000 43f0000000000000 43dfffffffffffff 43efffffffffffff 47efffffe0000000 47effffff0000000 47efffffefffffff
47f0000000000000 36a0000000000000 3690000000000000 3690000000000001 380fffffffffffff 3810000000000000 380fffffe0000000
40efffc000000000 40effe0000000000 40f0000000000000 3f10000000000000 3e70000000000000 3e60000000000000 3e60000000000001
405fc00000000000 405fe00000000000 406fe00000000000 406ff00000000000 c060000000000000 40dfffc000000000 40efffe000000000
7ff4000000000001 fff0000000000001 0008000000000000 3ca0000000000000 7fe0000000000000 0020000000000000 3cb0000000000000
c004000000000000 3fd0000000000000 43300000000000ff 3810000008000000 47e0000010000000""".split()

F16 = """0000 8000 3c00 bc00 7c00 fc00 7e00 0001 8001 03ff 0400 7bff fbff 83ff 8400 7c01 fe01 3c01 3bff 3800 3e00 4100
b800 6400 6401 7fff ffff 7800 0002 0800 5640 d640 5bf8 1400 0c00 4248 2e66 4bff""".split()

BF16 = """0000 8000 3f80 bf80 7f80 ff80 7fc0 0001 8001 007f 0080 7f7f ff7f 807f 8080 7f81 ffc1 3f81 3f7f 3f00 3fc0 4020
bf00 4b00 7fff ffff 4300 4f00 5f00 0002 0100 0040 42fe 437f c300 4049 2080 5f80""".split()

I16 = "0 1 ffff 8000 7fff 2 fffe 8001 7ffe 1f 20 f 10 ff 80 7f 100 ff80 ff7f aaaa 5555 3 a 64".split()

I32 = """0 1 ffffffff 80000000 7fffffff 2 fffffffe 80000001 7ffffffe ffff 10000 8000 7fff ff 80808080 1f 20 7fffff
800000 ffffff 3 a 80 ffffff80 ffff8000 aaaaaaaa 55555555 7f 100 ffff7fff 1000000 1000001 1000003 ff7fffff 01020408
33333333 7fffffbf 7fffffc0 ffffff7f 21 40 3f 8000ffff f0f0f0f0 12345678 aaaaaaab cccccccc""".split()

I64 = """0 1 ffffffffffffffff 8000000000000000 7fffffffffffffff 2 fffffffffffffffe 8000000000000001 7ffffffffffffffe
ffffffff 100000000 80000000 7fffffff ffffffff80000000 3f 40 ffffffff7fffffff 1fffffffffffff 20000000000000
20000000000001 20000000000003 3 a ffff 10000 80 ff 8000 ffffffff00000000 aaaaaaaaaaaaaaaa 5555555555555555
7ffffffffffffdff 7ffffffffffffe00 7ffffffffffffc00 fffffffffffff400 fffffffffffffbff 41 7f 123456789abcdef0
ffffffffffffff80 ffffffffffff8000 ffffff7fffffffff""".split()


def _values(words):
    return np.array([int(w, 16) for w in words], np.uint64)


SPECIAL = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16, "i16": I16, "i32": I32, "i64": I64}
SPECIAL = {k: _values(v) for k, v in SPECIAL.items()}
SPECIAL["pred"] = np.array([0, 1], np.uint64)
SPECIAL["amount"] = np.array([0, 1, 31, 32, 33, 63, 64, 65, 15, 16, 17, 0xFFFFFFFF, 255, 256, 0x80000000], np.uint64)
SPECIAL["place"] = np.array([0, 1, 31, 32, 8, 63, 64, 33, 255, 24, 5, 128], np.uint64)
SPECIAL["lane"] = np.array([0, 1, 31, 16], np.uint64)
SPECIAL["offset"] = np.array([0, 1, 0xFFFFFFFF, 2, 0xFFFFFFFE, 32, 0x80000000], np.uint64)
SPECIAL["bytes"] = _values(["0", "ffffffff", "80808080", "7f7f7f7f", "80008000", "7fff7fff", "1020304", "ff01ff80"])

for _name, _base in [("f16x2", "f16"), ("bf16x2", "bf16"), ("i16x2", "i16")]:
    _s = SPECIAL[_base]
    SPECIAL[_name] = _s | np.roll(_s, 5) << np.uint64(16)

WIDTH = {"pred": 1, "i16": 16, "f16": 16, "bf16": 16, "i64": 64, "f64": 64}

# kind: (fraction bits, exponent bits)
FORMATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


def width(kind):
    """Bits of the register an operand of this kind comes in."""
    return WIDTH.get(kind, 32)


def _bits(rng, n, width_):
    return rng.integers(0, 1 << 64, n, np.uint64, endpoint=False) >> np.uint64(64 - width_)


def _pick(rng, styles):
    """Of several columns of equal length, a random one in each row."""
    which = rng.integers(0, len(styles), len(styles[0]))
    return np.choose(which, styles).astype(np.uint64)


def _random_int(rng, n, w):
    """Random bits; numbers of every length; small numbers of both signs; powers of two and neighbours."""
    u = np.uint64
    mask = u((1 << w) - 1)
    length = rng.integers(0, w, n).astype(u)
    some = _bits(rng, n, w) >> length
    small = _bits(rng, n, 7)
    power = (u(1) << rng.integers(0, w, n).astype(u)) + rng.integers(-1, 2, n).astype(np.int64).astype(u)
    # A number with a fixed count of leading ones and a run of zeros: ties of conversions to floats.
    tie = (_bits(rng, n, 12) | u(0x800)) << u(3) | rng.choice(np.array([3, 4, 5, 1, 7], u), n)
    tie = tie << (rng.integers(0, max(w - 15, 1), n).astype(u)) & mask
    all_styles = [_bits(rng, n, w), some, (u(0) - some) & mask, small, (u(0) - small) & mask, power & mask, tie]
    return _pick(rng, all_styles)


def _random_float(rng, n, kind):
    """Random bits; numbers about 1; with short fractions; about ties of narrower formats; whole and half numbers."""
    u = np.uint64
    frac, exp = FORMATS[kind]
    w = frac + exp + 1
    sign = _bits(rng, n, 1) << u(w - 1)
    bias = (1 << (exp - 1)) - 1
    fraction = _bits(rng, n, frac)

    def number(exponent, f):
        return sign | exponent.astype(u) << u(frac) | f

    near = number(rng.integers(bias - 3, bias + 4, n), fraction)
    wide = number(rng.integers(max(bias - 40, 0), min(bias + 40, 2 * bias + 1), n), fraction)
    kept = rng.integers(1, min(frac, 12) + 1, n).astype(u)
    short = number(
        rng.integers(max(bias - 20, 0), min(bias + 20, 2 * bias), n), fraction >> (u(frac) - kept) << (u(frac) - kept)
    )
    low = number(rng.integers(0, 3, n), fraction)
    high = number(rng.integers(2 * bias - 2, 2 * bias + 1, n), fraction)
    cut = rng.choice(np.array([c for c in (frac - 2, frac - 7, frac - 10, frac - 23) if c > 0], u), n)
    about = rng.integers(-1, 2, n).astype(np.int64).astype(u)
    rest = (fraction >> cut << cut) + (u(1) << (cut - u(1))) + about & u((1 << frac) - 1)
    tie = number(rng.integers(max(bias - 28, 0), min(bias + 18, 2 * bias), n), rest)
    if kind in ("f32", "f64"):
        dtype, view = (np.float32, np.uint32) if kind == "f32" else (np.float64, np.uint64)
        whole = (rng.integers(-70000, 70000, n) / 2).astype(dtype).view(view).astype(u)
        pow2 = np.ldexp(rng.integers(-600, 600, n) / 256, rng.integers(-30, 40, n)).astype(dtype).view(view).astype(u)
        return _pick(rng, [_bits(rng, n, w), near, wide, short, low, high, tie, whole, pow2 + about & u((1 << w) - 1)])
    return _pick(rng, [_bits(rng, n, w), _bits(rng, n, w), near, wide, short, low, high, tie])


def _random(rng, n, kind):
    u = np.uint64
    if kind in FORMATS:
        return _random_float(rng, n, kind)
    if kind in ("f16x2", "bf16x2"):
        return _random_float(rng, n, kind[:-2]) | _random_float(rng, n, kind[:-2]) << u(16)
    if kind == "i16x2":
        return _random_int(rng, n, 16) | _random_int(rng, n, 16) << u(16)
    if kind == "bytes":
        return _bits(rng, n, 32)
    if kind == "pred":
        return _bits(rng, n, 1)
    if kind == "amount":
        return _pick(rng, [rng.integers(0, 33, n), rng.integers(0, 70, n), _bits(rng, n, 32).astype(np.int64)])
    if kind == "place":
        return _pick(rng, [rng.integers(0, 33, n), rng.integers(0, 70, n), rng.integers(0, 256, n)])
    if kind == "lane":
        return _bits(rng, n, 5)
    if kind == "offset":
        return rng.integers(-33, 34, n).astype(np.int64).astype(np.uint64) & u(0xFFFFFFFF)
    return _random_int(rng, n, width(kind))


def _relate(rng, kinds, rows, start):
    """Makes some random float tuples interesting together: sums that cancel, results about the smallest normal."""
    kind = kinds[0]
    if kind not in FORMATS or len(kinds) < 2 or kinds[1] != kind:
        return
    frac, exp = FORMATS[kind]
    u, n = np.uint64, len(rows) - start
    mask = u((1 << (frac + exp + 1)) - 1)
    a, b = rows[start:, 0], rows[start:, 1]
    close = (a ^ u(1 << (frac + exp))) + rng.integers(-3, 4, n).astype(np.int64).astype(u) & mask
    chosen = rng.integers(0, 6, n) == 0
    rows[start:, 1] = np.where(chosen, close, b)
    if kind not in ("f32", "f64"):
        return
    dtype, view = (np.float32, np.uint32) if kind == "f32" else (np.float64, np.uint64)
    smallest = np.finfo(dtype).smallest_normal
    with np.errstate(all="ignore"):
        x = (1 + rng.random(n)).astype(dtype)
        power = dtype(2) ** rng.integers(0, 20, n).astype(dtype)
        target = (smallest * (1 + rng.integers(-4, 5, n) * 2.0 ** -(frac + 3))).astype(dtype)
        products = [(target / x * power, x / power), (target * x * power, x * power)]
        for first, second in products:
            chosen = rng.integers(0, 10, n) == 0
            rows[start:, 0] = np.where(chosen, first.astype(dtype).view(view), rows[start:, 0])
            rows[start:, 1] = np.where(chosen, second.astype(dtype).view(view), rows[start:, 1])
        if len(kinds) == 3 and kinds[2] == kind:
            p = rows[start:, 0].astype(view).view(dtype) * rows[start:, 1].astype(view).view(dtype)
            near = (-p).astype(dtype).view(view).astype(u) + rng.integers(-1, 2, n).astype(np.int64).astype(u) & mask
            chosen = rng.integers(0, 3, n) == 0
            rows[start:, 2] = np.where(chosen, near, rows[start:, 2])


def _spread(rng, kind):
    """Additional single operands: every exponent, and the ranges where approximate functions are bounded."""
    u = np.uint64
    frac, exp = FORMATS[kind]
    exponents = np.arange(1 << exp, dtype=np.uint64)
    if kind == "f64":
        exponents = exponents[::8]
    parts = [s << u(frac + exp) | exponents << u(frac) | _bits(rng, len(exponents), frac) for s in (u(0), u(1))]
    dtype, view = (np.float32, np.uint32) if kind == "f32" else (np.float64, np.uint64)
    for low, high, n in [
        (-4, 4, 600),
        (-128, 130, 400),
        (0.5, 2, 400),
        (0.97, 1.03, 200),
        (-150, -125, 100),
        (-300, 300, 200),
    ]:
        parts.append(rng.uniform(low, high, n).astype(dtype).view(view).astype(u))
    return np.concatenate(parts)


ROWS = {1: 3000, 2: 1800, 3: 2000, 4: 1200}


def pool(name):
    """The operand tuples of a pool, as an array of shape (rows, operands) of 64-bit words.

    The name is the kinds, and ``@N`` for another number of tuples. One 16-bit operand is tried exhaustively.
    """
    *kinds, size = name.split() if "@" in name else [*name.split(), ""]
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    if len(kinds) == 1 and width(kinds[0]) == 16 and not size:
        return np.arange(65536, dtype=np.uint64)[:, None]
    n = int(size[1:]) if size else ROWS[len(kinds)]
    share = 0.5 if len(kinds) < 3 else 0.6
    each = max(int((n * share) ** (1 / len(kinds)) + 1e-9), 2)
    grids = np.meshgrid(*[SPECIAL[k][: each if len(kinds) > 1 else None] for k in kinds], indexing="ij")
    special = np.stack([g.ravel() for g in grids], 1)[:n]
    parts = [special]
    if kinds in (["f32"], ["f64"]) and n >= ROWS[1]:
        parts.append(_spread(rng, kinds[0])[:, None])
    have = sum(map(len, parts))
    more = max(n - have, 0)
    parts.append(np.stack([_random(rng, more, k) for k in kinds], 1))
    rows = np.concatenate(parts)
    _relate(rng, kinds, rows, have)
    return rows
