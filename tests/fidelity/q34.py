from common import *
Q = "q34"
init()
W = [0, 1, 0x7f, 0x80, 0x7fff7fff, 0x80008000, 0x7f807f80, 0xffffffff, 0x80000000, 0x7fffffff, 0x01ff80fe]
T3 = [(a, b, c) for a, b in ((0x12f38091, 0x7f80ff01), (0x80808080, 0x7f7f7f7f), (0xffffffff, 1), (0x7fffffff, 0xffffffff), (0x80000000, 0x80000000), (0x00ff00ff, 0xff00ff00), (0xdeadbeef, 33)) for c in (0, 0x80000000, 0x7fffffff)]
# a) Video instructions: vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad, with selectors, .sat and a second
# operation; vadd2/vadd4. Guess: on newer devices they are emulated bit for bit, .sat clamps the 34-bit intermediate,
# vshl.clamp limits to 32. Met in ported video codecs and Smith-Waterman codes.
rows = []
for t, u, v in (("s32", "s32", "s32"), ("u32", "u32", "u32"), ("s32", "u32", "s32"), ("u32", "s32", "u32")):
    for s in ("", ".sat"):
        for o in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
            rows += [(f"{o}.{t}.{u}.{v}{s} d, a, b", "r=rr", [c[:2] for c in T3[::3]]), (f"{o}.{t}.{u}.{v}{s} d, a.b3, b.h0", "r=rr", [c[:2] for c in T3[::3]]), (f"{o}.{t}.{u}.{v}{s}.add d, a.b0, b.b1, c", "r=rrr", T3[::2]), (f"{o}.{t}.{u}.{v}{s} d.h1, a.b2, b.b3, c", "r=rrr", T3[::3])]
rows += [(f"{o}.{t}.{t}.u32{m} d, a, b", "r=rr", [(a, b) for a in (0x80000001, 0x7fffffff) for b in (0, 1, 31, 32, 33, 0xffffffff)]) for o in ("vshl", "vshr") for t in ("s32", "u32") for m in (".clamp", ".wrap", ".sat.clamp")]
rows += [(f"vset.{t}.{t}.{c} d, a, b", "r=rr", [c_[:2] for c_ in T3[::3]]) for t in ("s32", "u32") for c in ("lt", "ge", "eq")] + [(f"vmad.{t}.{t}.{t}{s}{k} d, a.{x}, b.{y}, c", "r=rrr", T3[::2]) for t in ("s32", "u32") for s in ("", ".sat") for k in ("", ".shr7", ".shr15") for x, y in (("h0", "h1"), ("b3", "b0"))]
rows += [(f"{o}{n}.{t}.{t}.{t}{s} d, a, b, c", "r=rrr", T3[::2]) for o in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax") for n in (2, 4) for t in ("s32", "u32") for s in ("", ".sat", ".add")] + [(f"vset{n}.u32.u32.{c} d, a, b, c", "r=rrr", T3[::3]) for n in (2, 4) for c in ("lt", "ne")]
asm(Q, rows, prefix="a ", chunk=12)
# b) dp4a, dp2a, prmt in all modes with selectors beyond 15, lop3, shf, bmsk, szext, bfi. Guess: prmt's selector bit 3
# copies the sign, higher bits of the selector are ignored; szext with 32 or more gives the value, wrap takes 5 bits;
# bfi with a position of 256 uses the low byte. Met in byte-shuffling decoders.
D3 = [(0x01020304, 0x80ff7f01, 10), (0xffffffff, 0xffffffff, 0), (0x80808080, 0x80808080, 0x7fffffff), (0x7f7f7f7f, 0x80808080, 0x80000000), (0xff00ff00, 0x12345678, 0xffffffff)]
S = [0, 0x3210, 0x7654, 0x89ab, 0xfedc, 0x11111, 0x80000000, 0xffffffff, 4, 5]
B2 = [0, 1, 5, 31, 32, 33, 63, 64, 255, 256, 257, 0xffffffff]
rows = [(f"dp4a.{x}.{y} d, a, b, c", "r=rrr", D3) for x in ("u32", "s32") for y in ("u32", "s32")] + [(f"dp2a.{h}.{x}.{y} d, a, b, c", "r=rrr", D3) for h in ("lo", "hi") for x in ("u32", "s32") for y in ("u32", "s32")]
rows += [(f"prmt.b32{m} d, a, b, c", "r=rrr", [(0x83828180, 0x07860504, s) for s in S]) for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")] + [(f"lop3.b32 d, a, b, c, {i}", "r=rrr", [(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa)]) for i in (0, 1, 0x17, 0x80, 0x96, 0xca, 0xe8, 0xfe, 0xff)] + [(f"lop3.{b}.b32 d|e, a, b, c, 0x96, 0", "rp=rrr", [(1, 1, 0), (0, 0, 1)]) for b in ("or", "and")]
rows += [(f"shf.{d}.{m}.b32 d, a, b, c", "r=rrr", [(0x89abcdef, 0x01234567, s) for s in B2]) for d in ("l", "r") for m in ("clamp", "wrap")] + [(f"bmsk.{m}.b32 d, a, b", "r=rr", [(a, b) for a in (0, 4, 31, 32, 0xffffffff) for b in (0, 1, 28, 32, 33, 0xffffffff)]) for m in ("clamp", "wrap")]
rows += [(f"szext.{m}.{t} d, a, b", "r=rr", [(v, s) for v in (0x89abcdef, 0x7fffffff) for s in B2]) for m in ("clamp", "wrap") for t in ("s32", "u32")] + [(f"bfe.{t} d, a, b, c", f"{g}={g}rr", [(v, p, n) for p in (0, 4, 31, 32, 63, 64, 255, 256) for n in (0, 1, 32, 33, 64, 255, 256)]) for t, g, v in (("u32", "r", 0x89abcdef), ("s32", "r", 0x89abcdef), ("u64", "l", 0x89abcdef01234567), ("s64", "l", 0x89abcdef01234567))]
rows += [(f"bfi.b{n} d, a, b, c, f", f"{g}={g}{g}rr", [(2**n - 1, 0x5 << n - 8, p, k) for p in (0, 4, 31, 32, 63, 64, 255, 256) for k in (0, 1, 32, 64, 255, 256)]) for n, g in ((32, "r"), (64, "l"))]
asm(Q, rows, prefix="b ", chunk=14)
# c) Carries and products: add.cc chains, subc, mad.hi.cc, mul24, mad24, sad, mul.wide at the edges. Guess: subc's
# borrow is inverted inside but invisible; mul24.hi takes bits 16 to 47; sad of s32 extremes wraps. Met in big-integer
# code and old mul24 index computations.
E = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00800000, 0xff7fffff]
P = [(a, b) for a in E for b in E[::2]]
P3 = [(a, b, c) for a, b in P[::2] for c in (0, 0xffffffff)]
L = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**32, 0x123456789abcdef0]
rows = [(f"add.cc.{t} d, a, b; addc.{t} e, 0, 0", f"{g}{g}={g}{g}", v) for t, g, v in (("u32", "r", P), ("s32", "r", P), ("u64", "l", [(a, b) for a in L for b in L[::2]]))] + [(f"sub.cc.{t} d, a, b; subc.{t} e, 0, 0", f"{g}{g}={g}{g}", v) for t, g, v in (("u32", "r", P), ("u64", "l", [(a, b) for a in L for b in L[::2]]))]
rows += [("add.cc.u32 d, a, b; addc.cc.u32 d, d, c; addc.u32 e, d, d", "rr=rrr", P3), ("sub.cc.u32 d, a, b; addc.u32 e, c, 0", "rr=rrr", P3), ("add.cc.u32 d, a, b; subc.u32 e, c, 0", "rr=rrr", P3)] + [(f"mad.{h}.cc.{t} d, a, b, c; addc.u32 e, 0, 0", "rr=rrr", P3) for h in ("lo", "hi") for t in ("u32", "s32")] + [("mad.lo.cc.u32 d, a, b, c; madc.hi.cc.u32 d, a, b, c; addc.u32 e, 0, 0", "rr=rrr", P3)]
rows += [(f"{o}.{h}.{t} d, a, b" + (", c" if o == "mad24" else ""), "r=rr" + ("r" if o == "mad24" else ""), P3 if o == "mad24" else P) for o in ("mul24", "mad24") for h in ("lo", "hi") for t in ("u32", "s32")] + [("mad24.hi.sat.s32 d, a, b, c", "r=rrr", P3), ("mad.hi.sat.s32 d, a, b, c", "r=rrr", P3)]
rows += [(f"sad.{t} d, a, b, c", f"{g}={g}{g}{g}", v) for t, g, v in (("u32", "r", P3), ("s32", "r", P3), ("s16", "h", [(0x7fff, 0x8000, 1), (0, 0x8000, 0), (0xffff, 1, 0xffff)]), ("u16", "h", [(0x7fff, 0x8000, 1), (0, 0xffff, 2)]), ("u64", "l", [(0, 2**64 - 1, 2)]), ("s64", "l", [(2**63 - 1, 2**63, 1)]))] + [(f"mul.wide.{t} d, a, b", "l=rr", P[::2]) for t in ("u32", "s32")] + [(f"mul.hi.{t} d, a, b", "l=ll", [(a, b) for a in L for b in L[::2]]) for t in ("u64", "s64")] + [(f"{o}.sat.s32 d, a, b", "r=rr", P) for o in ("add", "sub")]
asm(Q, rows, prefix="c ", chunk=14)
