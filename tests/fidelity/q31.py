from common import *
Q = "q31"
init()
F32 = [0x80000000, 0x3f000000, 0xbf000000, 0x3fc00000, 0xc0200000, 0x42ff0000, 0x437f8000, 0x477fff80, 0x4effffff, 0x4f000000, 0x4f800000, 0xcf000001, 0x5f000000, 0x5f800000, 0xdf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 1]
F64 = [1 << 63, 0x3fe0000000000000, 0xbfe0000000000000, 0xc004000000000000, 0x405fe00000000000, 0x406ff00000000000, 0x41dfffffffe00000, 0x41e0000000000000, 0x41efffffffffffff, 0xc1e0000000100000, 0x43e0000000000000, 0x43efffffffffffff, 0x43f0000000000000, 0xc3e0000000000000, 0x7ff << 52, 0xfff << 52, 0x7ff8000000000000, 0xfff8000000012345, 1, 0xbff0000000000001]
F16 = [0x8000, 0x3800, 0xb800, 0x3e00, 0xc100, 0x57f8, 0x5bfc, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 1]
INT = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
reg = lambda t: {"8": "r", "16": "h", "32": "r", "64": "l"}[t[1:]]
# a) Floats to integers of every width. Guess: out of range clamps, NaN gives 0 for 8 to 32 bits and for f32/f64 to 64
# bits the most negative number (0x8000...); .u8 of a negative is 0. Met by every (unsigned char)x of image code.
asm(Q, [(f"cvt.{m}.{t}.{f} d, a", f"{reg(t)}={g}", v) for f, g, v in (("f16", "h", F16), ("f32", "r", F32), ("f64", "l", F64)) for m in ("rni", "rzi", "rmi", "rpi") for t in INT], prefix="a ", chunk=10)
# b) Integers to floats in four roundings; f16 of a large number. Guess: rn overflows to infinity from 65520, rz stays
# at 65504; 8-bit sources take the low bits of a wider register. Met by sums of counters kept in half.
VI = {8: [0, 0x7f, 0x80, 0xff, 0x1234], 16: [0, 0x7fff, 0x8000, 0xffff, 0xfff0, 0x801], 32: [0x7fffffff, 0x80000000, 0xffffffff, 0x1000001, 0x1000003, 0xfff0, 0xffef, 0x10010], 64: [2**63 - 1, 2**63, 2**64 - 1, 2**53 + 1, 2**53 + 3, 2**24 + 1, 0x8000004000000001, 0xffffff7fffffffff]}
asm(Q, [(f"cvt.{m}.{f}.{t} d, a", f"{g}={reg(t)}", VI[int(t[1:])]) for f, g in (("f16", "h"), ("f32", "r"), ("f64", "l")) for m in ("rn", "rz", "rm", "rp") for t in INT], prefix="b ", chunk=8)
# c) Integers to integers, with .sat. Guess: .sat clamps to the destination's range as seen from the source's sign;
# without it the low bits, extended by the *destination's* sign in a wider register. Met in saturating pixel code.
VC = {8: [0x7f, 0x80, 0xff], 16: [0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xff7f, 0xffff], 32: [0xff, 0x100, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffff7f, 0xffffffff], 64: [0xff, 0xffff, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 129, 2**64 - 1]}
rows = [(f"cvt{s}.{t}.{u} d, a", f"{reg(t)}={reg(u)}", VC[int(u[1:])]) for s in ("", ".sat") for t in INT for u in INT]
def holds(t, u):
    """Whether t has all values of u, so that nothing can be clamped."""
    low = lambda x: -(2 ** (int(x[1:]) - 1)) if x[0] == "s" else 0
    high = lambda x: 2 ** (int(x[1:]) - (x[0] == "s")) - 1
    return low(t) <= low(u) and high(u) <= high(t)
plain = [r for r in rows if ".sat" not in r[0] or not holds(*r[0].split()[0].split(".")[2:])]
asm(Q, plain, prefix="c ", chunk=8)
asm(Q, [r for r in rows if r not in plain], prefix="c nothing to clamp: ", chunk=8)
