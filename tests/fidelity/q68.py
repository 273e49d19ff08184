from common import *
Q = "q68"
init()
F32 = [0, 0x80000000, 0x3f800000, 0xbf800000, 0x43e00000, 0x43e80000, 0x43e7ffff, 0x43f00000, 0x47600000, 0x47680000, 0x47700000, 0x3a800000, 0x3b000000, 0x3ac00000, 0x37800000, 0x37000001, 0x37c00000, 0x3d700000, 0x3f880000, 0x3f980000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 1]
P = list(zip(F32, F32[1:] + F32[:1]))
H = [0, 0x8000, 0x3c00, 0x5f00, 0x5f40, 0x5f3f, 0x7b00, 0x7b40, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 1, 0x1400, 0x0c00, 0x1801, 0x3c40, 0x3cc0, 0xbc40]
HH = [a | b << 16 for a, b in zip(H, H[1:] + H[:1])]
# a) 8-bit floats: two singles or a half2 to e4m3x2/e5m2x2, with .relu, and back. Guess: satfinite clamps to 448 (0x7e) and 57344 (0x7b), infinity too;
# NaN is 0x7f for both; first operand in the upper byte; round to even at ties; subnormals of e4m3 down to 2^-9. Met in fp8 training.
asm(Q, [(f"cvt.rn.satfinite{r}.{t}x2.f32 d, a, b", "h=rr", P) for t in ("e4m3", "e5m2") for r in ("", ".relu")] + [(f"cvt.rn.satfinite{r}.{t}x2.f16x2 d, a", "h=r", HH) for t in ("e4m3", "e5m2") for r in ("", ".relu")], target="sm_90", version="8.1", prefix="a ", chunk=13)
asm(Q, [(f"cvt.rn{r}.f16x2.{t}x2 d, a", "r=h", [i | (255 - i) << 8 for i in range(256)]) for t in ("e4m3", "e5m2") for r in ("", ".relu")], target="sm_90", version="8.1", prefix="a ", chunk=32)
# b) Which target takes them. Guess: sm_89 from PTX 8.1, sm_90 from 7.8; sm_80 refused; unsaturated forms are refused.
# Met by one source for several devices.
for target in ("sm_80", "sm_86", "sm_89", "sm_90"):
    for version in ("7.8", "8.0", "8.1"):
        asm(Q, [(f"cvt.rn{s}.e4m3x2.f32 d, a, b", "h=rr", P[2:3]) for s in (".satfinite", "")], target=target, version=version, prefix=f"b {target} PTX {version} ")
# the types of the Blackwell generation
asm(Q, [("cvt.rn.satfinite.e2m1x2.f32 d, a, b", "h=rr", P[:1]), ("cvt.rn.satfinite.e2m3x2.f32 d, a, b", "h=rr", P[:1]), ("cvt.rz.satfinite.ue8m0x2.f32 d, a, b", "h=rr", P[:1]), ("cvt.rs.f16x2.f32 d, a, b, c", "r=rrr", [(1, 2, 3)])], target="sm_90", version="8.6", prefix="b ")
# c) The C functions: __nv_cvt_*_to_fp8 with and without saturation, and back, also where a device converts by software. Guess: without saturation
# e4m3 overflow is NaN and e5m2 infinity; the same bits as the instructions. Met by quantisation code tested on older devices.
def c_functions():
    src = '#include <cuda_fp8.h>\nextern "C" __global__ void k(unsigned *o, const float *in, int n) { for (int i = 0; i < n; i++) { float x = in[i]; o[8*i] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); o[8*i+1] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3); o[8*i+2] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); o[8*i+3] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2); o[8*i+4] = __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E4M3); o[8*i+5] = (unsigned short)__nv_cvt_fp8_to_halfraw(i * 5, __NV_E4M3).x; o[8*i+6] = (unsigned short)__nv_cvt_fp8_to_halfraw(i * 5, __NV_E5M2).x; __nv_fp8_e4m3 v(x); o[8*i+7] = __float_as_uint((float)v); } }'
    for arch in ("compute_80", "compute_90"):
        o = alloc(32 * len(F32)); launch(build(src, arch), 1, 1, (o, device(struct.pack(f"<{len(F32)}I", *F32)), c_int(len(F32)))); r = u32(get(o, 32 * len(F32)))
        for i, x in enumerate(F32):
            say(Q, f"c {arch} {x:08x}", " ".join(f"{v:x}" for v in r[8 * i:8 * i + 8]))
guarded(Q, "c", c_functions)
