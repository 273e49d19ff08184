from common import *
Q = "q33"
init()
H = [0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe23]
B = [0, 0x8000, 1, 0x8001, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc3]
pairs = lambda v: [(a | b << 16, b | a << 16) for i, a in enumerate(v) for b in v[i::3]]
one = lambda v: [(a, b) for i, a in enumerate(v) for b in v[i::3]]
both = lambda v: [a | b << 16 for a, b in zip(v, v[1:] + v[:1])]
# a) min and max of halves with NaN, -0, .NaN, .xorsign.abs, .ftz. Guess: max(NaN, x) = x, two NaN give 0x7fff, .NaN
# gives 0x7fff whatever the payload, -0 < +0; .ftz flushes the result to a signed zero. Met in ReLU and pooling.
asm(Q, [(f"{o}{z}{n}.{t} d, a, b", "h=hh" if "x2" not in t else "r=rr", (pairs if "x2" in t else one)(B if "bf" in t else H)) for t in ("f16", "f16x2", "bf16", "bf16x2") for o in ("min", "max") for z in (("", ".ftz") if t[0] == "f" else ("",)) for n in ("", ".NaN")], prefix="a ", chunk=9)
asm_by_target(Q, [(f"{o}{z}{n}.xorsign.abs.{t} d, a, b", "h=hh" if "x2" not in t else "r=rr", (pairs if "x2" in t else one)(B if "bf" in t else H)) for t in ("f16", "f16x2", "bf16", "bf16x2") for o in ("min", "max") for z in (("", ".ftz") if t[0] == "f" else ("",)) for n in ("", ".NaN")], "a ", chunk=14)
# b) fma with .relu, .sat, .ftz, .oob of halves. Guess: fma.relu(NaN) is 0x7fff, -0 becomes +0; .sat of NaN is +0; an
# infinity times 0 is 0x7fff and not 0xfe00. Met in fused bias+ReLU epilogues.
T3 = lambda v: [(a, b, c) for a, b in ((0, 8), (4, 4), (5, 4), (6, 6), (2, 4), (3, 4), (10, 4), (11, 10), (8, 4), (5, 5)) for c in (0, 1, 9, 3)]
def triples(t):
    v = B if "bf" in t else H
    return [tuple(v[i] | v[(i + 1) % 12] << 16 if "x2" in t else v[i] for i in c) for c in T3(v)]
asm(Q, [(f"fma.rn{s}.{t} d, a, b, c", "r=rrr" if "x2" in t else "h=hhh", triples(t)) for t in ("f16", "f16x2", "bf16", "bf16x2") for s in (("", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu") if t[0] == "f" else ("", ".relu"))], prefix="b ", chunk=10)
# c) The rest of half arithmetic: add/sub/mul, neg/abs of NaN, ex2, tanh, set/setp/testp-like forms. Guess: neg and abs
# only touch the sign bit; tanh.approx.f16 of a NaN 0x7fff; ex2.approx.ftz.f16 absent (only ex2.approx.f16), set gives
# 1.0 as 0x3c00. Met in half versions of activation functions.
ops = [(f"{o}{r}{s}.{t} d, a, b", "r=rr" if "x2" in t else "h=hh", (pairs if "x2" in t else one)(B if "bf" in t else H)[::2]) for t in ("f16", "f16x2") for o in ("add", "sub", "mul") for r in ("", ".rn") for s in (("", ".ftz", ".sat") if t[0] == "f" else ("",))]
ops += [(f"{o}.{t} d, a", "r=r" if "x2" in t else "h=h", (both if "x2" in t else list)(B if "bf" in t else H)) for t in ("f16", "f16x2", "bf16", "bf16x2") for o in ("neg", "abs", "ex2.approx", "tanh.approx") if "bf" not in t or "approx" not in o]
ops += [(f"set.{c}.{d}.f16 d, a, b", f"{g}=hh", one(H)[::2]) for c in ("eq", "ltu", "num", "nan", "gt") for d, g in (("f16", "h"), ("u32", "r"))] + [(f"set.{c}.f16x2.f16x2 d, a, b", "r=rr", pairs(H)[::2]) for c in ("eq", "neu", "le")]
ops += [(f"setp.{c}.f16 d, a, b", "p=hh", one(H)) for c in ("lt", "equ", "num")] + [(f"setp.{c}.f16x2 d|e, a, b", "pp=rr", pairs(H)[::2]) for c in ("lt", "geu")]
asm(Q, ops, prefix="c ", chunk=12)
asm_by_target(Q, [(f"{o}{r}.{t} d, a, b", "r=rr" if "x2" in t else "h=hh", (pairs if "x2" in t else one)(B)[::2]) for t in ("bf16", "bf16x2") for o in ("add", "sub", "mul") for r in ("", ".rn")] + [(f"{o}.{t} d, a", "r=r" if "x2" in t else "h=h", (both if "x2" in t else list)(B)) for t in ("bf16", "bf16x2") for o in ("ex2.approx.ftz", "tanh.approx")] + [(f"setp.{c}.bf16 d, a, b", "p=hh", one(B)[::2]) for c in ("lt", "geu")] + [("set.lt.f32.bf16 d, a, b", "r=hh", one(B)[::2]), ("set.gt.bf16x2.bf16x2 d, a, b", "r=rr", pairs(B)[::2])] + [(f"fma.rn.oob{r}.{t} d, a, b, c", "r=rrr" if "x2" in t else "h=hhh", triples(t)[::3]) for t in ("f16", "bf16x2") for r in ("", ".relu")], "c ", chunk=12, version="8.1")
