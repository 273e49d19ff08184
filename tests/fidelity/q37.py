from common import *
Q = "q37"
init()
X = [0, 0x80000000, 1, 0x807fffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc12345]
P = [(a, b) for i, a in enumerate(X) for b in X[i % 2::2]]
T = [(a, b, c) for i, (a, b) in enumerate(P[::2]) for c in X[i % 4::4]]
D = [0, 1 << 63, 1, 0x3ff << 52, 0xbff << 52, (0x7ff << 52) - 1, 0x7ff << 52, 0xfff << 52, (0x7ff << 52) + 1, 0x7ff8 << 48, 0xfff8000012345678]
PD = [(a, b) for i, a in enumerate(D) for b in D[i % 2::2]]
# a) fma, add, mul with .sat and NaN; .ftz on operands and result. Guess: .sat of NaN is +0, -0 becomes +0; fma(inf, 0,
# NaN) is the canonical NaN 0x7fffffff; .ftz flushes operands keeping the sign. Met in __saturatef colour arithmetic.
asm(Q, [(f"fma.{m}{z}{s}.f32 d, a, b, c", "r=rrr", T) for m in ("rn", "rz", "rm") for z in ("", ".ftz") for s in ("", ".sat")] + [(f"{o}.{m}{z}{s}.f32 d, a, b", "r=rr", P) for o in ("add", "sub", "mul") for m in ("rn", "rp") for z in ("", ".ftz") for s in ("", ".sat")] + [(f"mad{z}.f32 d, a, b, c".replace("mad", "mad.rn"), "r=rrr", T[::3]) for z in ("", ".ftz", ".sat")], prefix="a ", chunk=28)
# b) min/max (NaN, xorsign.abs, 3 operands), set, setp, selp, slct with NaN. Guess: max(NaN, 1) = 1, max(NaN, NaN) =
# 0x7fffffff, slct of -0 counts as >= 0 and NaN selects b; set gives 0xffffffff or 1.0f. Met in argmax over NaN data.
C = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
asm(Q, [(f"{o}{z}{n}.f32 d, a, b", "r=rr", P) for o in ("min", "max") for z in ("", ".ftz") for n in ("", ".NaN")] + [(f"{o}.f64 d, a, b", "l=ll", PD) for o in ("min", "max")]
    + [(f"set.{c}.u32.f32 d, a, b", "r=rr", P) for c in C] + [(f"set.{c}.ftz.f32.f32 d, a, b", "r=rr", P[::2]) for c in C[:4]] + [(f"set.{c}.s32.f64 d, a, b", "r=ll", PD) for c in C[::3]]
    + [(f"setp.{c}.{b}.f32 d|e, a, b, c", "pp=rrp", [(x, y, q) for x, y in P[::3] for q in (0, 1)]) for c in ("lt", "nan", "geu") for b in ("and", "or", "xor")] + [(f"slct{z}.{t}.f32 d, a, b, c", f"{g}={g}{g}r", [(1, 2, x) for x in X]) for z in ("", ".ftz") for t, g in (("b32", "r"), ("u64", "l"), ("s16", "h"), ("f32", "r"))] + [("slct.f64.s32 d, a, b, c", "l=llr", [(1, 2, x) for x in (0, 1, 0x80000000, 0xffffffff)])], prefix="b ", chunk=28)
asm_by_target(Q, [(f"{o}{z}{n}.xorsign.abs.f32 d, a, b", "r=rr", P) for o in ("min", "max") for z in ("", ".ftz") for n in ("", ".NaN")], "b ", chunk=28)
# c) testp classes, copysign, abs/neg of NaN. Guess: abs and neg keep the payload of a NaN when not .ftz, and flush with
# .ftz; testp.normal of 0 is false; copysign(a, b) takes the sign of a. Met in isnan() by bits.
asm(Q, [(f"testp.{c}.f32 d, a", "p=r", X) for c in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")] + [(f"testp.{c}.f64 d, a", "p=l", D) for c in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")] + [("copysign.f32 d, a, b", "r=rr", P), ("copysign.f64 d, a, b", "l=ll", PD)] + [(f"{o}{z}.f32 d, a", "r=r", X) for o in ("abs", "neg") for z in ("", ".ftz")], prefix="c ", chunk=28)
