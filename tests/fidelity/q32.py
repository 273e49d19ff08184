from common import *
Q = "q32"
init()
F32 = [0, 0x80000000, 1, 0x807fffff, 0x33000000, 0x33000001, 0x38800000, 0x387fe000, 0x387ff000, 0x477fefff, 0x477ff000, 0xc7800000, 0x7f7fffff, 0x7f7f8000, 0x3f801000, 0x3f808000, 0x3f818000, 0x7f800000, 0xff800000, 0x7f800001, 0xffc12345]
F64 = [1, 1 << 63, 0x36a0000000000000, 0x36a0000000000001, 0x380fffffffffffff, 0x3810000000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x47efffffefffffff, 0x47effffff0000000, 0x7fefffffffffffff, 0xfff << 52, 0x7ff0000000000001, 0xfff8000012345678, 0x7ff0000020000000]
F16 = [0, 0x8000, 1, 0x83ff, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0xfe23]
# a) Floats to floats: four roundings, .ftz, .sat, and rounding to integers that stays a float. Guess: NaN payloads are
# replaced by 0x7fff (half) and 0x7fffffff (single), kept from half to single or not; .sat of NaN is +0; -0 with .sat
# is +0. Met by mixed-precision code that stores flags in NaNs.
R = ("rn", "rz", "rm", "rp")
asm(Q, [(f"cvt.{m}{z}{s}.f16.f32 d, a", "h=r", F32) for m in R for z in ("", ".ftz") for s in ("", ".sat")] + [(f"cvt.{m}{z}.f32.f64 d, a", "r=l", F64) for m in R for z in ("", ".ftz")] + [(f"cvt.{m}.f16.f64 d, a", "h=l", F64) for m in R]
    + [(f"cvt{s}.{t}.f16 d, a", f"{g}=h", F16) for s in ("", ".sat") for t, g in (("f32", "r"), ("f64", "l"))] + [(f"cvt{z}{s}.f64.f32 d, a", "l=r", F32) for z in ("", ".ftz") for s in ("", ".sat")]
    + [(f"cvt.{m}{z}{s}.f32.f32 d, a", "r=r", F32) for m in ("rni", "rzi", "rmi", "rpi") for z in ("", ".ftz") for s in ("", ".sat")] + [(f"cvt.{m}.f64.f64 d, a", "l=l", F64) for m in ("rni", "rmi")] + [(f"cvt.{m}.f16.f16 d, a", "h=h", F16) for m in ("rni", "rpi")]
    + [(f"cvt{z}.sat.f32.f32 d, a", "r=r", F32) for z in ("", ".ftz")] + [("cvt.sat.f64.f64 d, a", "l=l", F64), ("cvt.sat.f16.f16 d, a", "h=h", F16), ("cvt.ftz.f32.f32 d, a", "r=r", F32)], prefix="a ", chunk=7)
# b) bf16, tf32 and packed pairs: which operand is the upper half, relu of NaN and -0. Guess: the first operand goes to
# the upper half; relu of NaN is canonical NaN, of -0 is +0; tf32 rna rounds half away and leaves 13 zero bits. Met
# where float2 is turned to half2 by hand.
P = list(zip(F32, F32[1:] + F32[:1]))
asm(Q, [(f"cvt.{m}{r}.bf16.f32 d, a", "h=r", F32) for m in ("rn", "rz") for r in ("", ".relu")] + [(f"cvt.{m}{r}.{t}.f32 d, a, b", "r=rr", P) for t in ("f16x2", "bf16x2") for m in ("rn", "rz") for r in ("", ".relu")] + [(f"cvt.{m}.relu.f16.f32 d, a", "h=r", F32) for m in ("rn", "rz")]
    + [("cvt.rna.tf32.f32 d, a", "r=r", F32)], prefix="b ", chunk=7)
BF = [1, 0x8001, 0x3f80, 0xbfc0, 0x7f7f, 0x7f80, 0x7f81, 0xffc1]
asm_by_target(Q, [(f"cvt.{m}{r}.tf32.f32 d, a", "r=r", F32) for m in ("rn", "rz") for r in ("", ".relu")] + [("cvt.rna.satfinite.tf32.f32 d, a", "r=r", F32), ("cvt.f32.bf16 d, a", "r=h", BF), ("cvt.rn.bf16.f16 d, a", "h=h", F16), ("cvt.rn.f16.bf16 d, a", "h=h", BF), ("cvt.rni.s32.bf16 d, a", "r=h", BF), ("cvt.rzi.u8.bf16 d, a", "r=h", BF), ("cvt.rn.bf16.s32 d, a", "h=r", [1, 257, 0xffffff00, 0x7fffffff]), ("cvt.rz.bf16.u64 d, a", "h=l", [1, 2**64 - 1])], "b ", chunk=8)
# c) cvt.pack: two s32 to bytes and words with saturation. Guess: a is the upper of the two, c's low half is shifted up
# (c << 16 for bytes). Met in integer quantisation of neural networks.
V3 = [(0x7fffffff, 0x80000000, 0x12345678), (200, 100, 0x89abcdef), (-1, -200, 0), (40000, -40000, 1), (7, 8, 0xffffffff), (-8, -9, 2)]
asm(Q, [(f"cvt.pack.sat.{t}.s32 d, a, b", "r=rr", [c[:2] for c in V3]) for t in ("s16", "u16")] + [(f"cvt.pack.sat.{t}.s32.b32 d, a, b, c", "r=rrr", V3) for t in ("s8", "u8", "s4", "u4", "s2", "u2")], prefix="c ")
