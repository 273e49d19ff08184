from common import *
Q = "q78"
init()
d64 = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
def table(prefix, rows, head, load_, code, result):
    """Rows (expression, tuples of operand bits): bits of results; one module."""
    def main():
        w = struct.calcsize(code); ctype = {8: "unsigned long long", 4: "unsigned", 2: "unsigned short"}[w]
        src = head + "".join(f'extern "C" __global__ void k{n}(unsigned long long *o, const {ctype} *in) {{ unsigned t = threadIdx.x; int i = (int)in[3 * t + 2], q = 0; (void)i; (void)q; {load_} unsigned long long z = 0; auto res = {e}; memcpy(&z, &res, sizeof(res)); o[t] = z; }}\n' for n, (e, _) in enumerate(rows))
        m = load(compile_cuda(src))
        for n, (e, c) in enumerate(rows):
            c = [(x if isinstance(x, tuple) else (x,)) + (0,) * (3 - (len(x) if isinstance(x, tuple) else 1)) for x in c]; mask = 2 ** (8 * w) - 1
            o = alloc(8 * len(c)); launch(function(m, f"k{n}"), 1, len(c), (o, device(b"".join(struct.pack(f"<3{code}", *[v & mask for v in x]) for x in c)))); r = u64(get(o, 8 * len(c)))
            used = [j for j, name in enumerate("xyi") if __import__("re").search(rf"\b{name}\b", e)]
            say(Q, f"{prefix} {e}".replace("|", "/"), " ".join(",".join(f"{x[j] & mask:x}" for j in used) + f">{v:x}" for x, v in zip(c, r)))
    guarded(Q, prefix, main)
# a) Double functions at edges and ordinary numbers. Guess: as C99; results of the compiled library code are the same on any
# device that computes fma exactly and has the seeds of rcp, rsqrt right. Met in science codes that compare checksums.
E = [0, 1 << 63, 1, 1 << 63 | 1, 0x3ff << 52, 0xbff << 52, 0x7fefffffffffffff, 0x7ff << 52, 0xfff << 52, 0x7ff8000000000000, 0xfff0000000012345]
O = [d64(v) for v in (0.1, 0.7, 1.5, 3.1, 12.3, 87.5, 300.25, -0.4, -2.5, -6.2, -33.1)]
POS = [d64(v) for v in (1e-300, 0.01, 0.5, 0.999999, 1.000001, 2.7, 55.5, 1e10, 1e200)]
U = [d64(v) for v in (1e-10, 0.1, 0.25, 0.5, 0.77, 0.999, 1.2, 1.999)]
A2 = [(d64(a), d64(b)) for a, b in ((5.3, 2), (-5.3, 2), (1e300, 3), (1e200, 1e-200), (0.1, 0.03), (-1e-310, 3e-311), (6, 4), (10, 4), (2.5, 1), (-8, 1 / 3), (2, 0.5), (10, -3), (1.0000001, 1e7))] + [(1 << 63, d64(-3)), (d64(1), 0), (0x7ff << 52, d64(2)), (d64(2), 0xfff << 52), (0x7ff8 << 48, 0), (0xfff << 52, d64(3)), (d64(-1), 0x7ff << 52), (1, 0x7fefffffffffffff), (0x7fefffffffffffff, 1)]
LI = [(v, 0, i) for v in (0x3ff << 52, 0x400921fb54442d18, 1 << 63 | 1, 0x7fefffffffffffff) for i in (0, -1, 1024, -1022, -1073, -1074, -1075, 3000, -2**31)]
rows = [(f"{f}(x)", E + O) for f in ("exp", "exp10", "exp2", "expm1", "tgamma", "lgamma", "erf", "erfc", "erfcx", "normcdf", "j0", "j1", "cyl_bessel_i0", "cyl_bessel_i1", "sinpi", "cospi", "sin", "tan", "tanh", "asinh", "cosh", "rint", "logb", "ilogb", "llrint", "nearbyint")]
rows += [(f"{f}(x)", E + POS) for f in ("log", "log2", "log10", "log1p", "y0", "y1", "sqrt", "acosh")] + [(f"{f}(x)", E + U) for f in ("erfinv", "erfcinv", "normcdfinv", "asin", "atanh")]
rows += [(f"{f}(x, y)", A2) for f in ("pow", "fmod", "remainder", "fdim", "fmax", "hypot", "rhypot", "atan2", "nextafter")] + [("remquo(x, y, &q)", A2), ("(remquo(x, y, &q), q)", A2), ("norm4d(x, y, 0.5, x)", A2), ("rnorm3d(x, y, 2.0)", A2), ("ldexp(x, i)", LI), ("(frexp(x, &q), q)", E), ("jn(i, x)", [(d64(v), 0, i) for v in (0.5, 20.5) for i in (2, 5)]), ("yn(i, x)", [(d64(v), 0, i) for v in (0.5, 20.5) for i in (2, 5)]), ("pow(x, i)", [(d64(v), 0, i) for v in (1.1, -3, 0) for i in (-9, 2, 13)]), ("x / y", A2), ("__dsqrt_ru(x)", E + POS), ("__drcp_rd(x)", E + POS), ("__ddiv_rz(x, y)", A2), ("__fma_rd(x, y, -1.0)", A2)]
table("a", rows, "", "double x = __longlong_as_double(in[3 * t]), y = __longlong_as_double(in[3 * t + 1]); (void)x; (void)y;", "Q", None)
# b) Half intrinsics: functions (through float approximations with corrections for some arguments), division, comparisons, min
# and max with NaN, relu fma, saturation, pairs. Guess: hsin etc. have fix-up tables; hrcp of subnormals overflows to inf;
# __hmin_nan gives 0x7fff; h2div is right to one ulp or correctly rounded; comparisons of NaN false except the u ones. Met in half-precision activations.
H = [0, 0x8000, 1, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x3555, 0x4248, 0xc500, 0x4900, 0x5640, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe12, 0x2e66, 0xb8cd]
HP = [(a, b) for i, a in enumerate(H) for b in H[i % 6::6]]
one = ("hexp", "hexp2", "hexp10", "hlog", "hlog2", "hlog10", "hsin", "hcos", "htanh", "htanh_approx", "hrcp", "hsqrt", "hrsqrt", "__hneg", "__habs", "__hisnan", "__hisinf", "hrint", "hfloor")
two = ("__hadd", "__hadd_sat", "__hsub_sat", "__hmul", "__hmul_sat", "__hdiv", "__hmin", "__hmax", "__hmin_nan", "__hmax_nan", "__heq", "__hneu", "__hlt", "__hgeu", "__hadd_rn", "__hmul_rn")
rows = [(f"{f}(x)", H) for f in one] + [(f"{f}(x, y)", HP) for f in two] + [("__hfma(x, y, x)", HP[::2]), ("__hfma_sat(x, y, y)", HP[::2]), ("__hfma_relu(x, y, x)", HP[::2])]
rows += [(f, HP[::3]) for f in ("__h2div(__halves2half2(x, y), __halves2half2(y, x))", "h2exp2(__halves2half2(x, y))", "h2rcp(__halves2half2(x, y))", "__hfma2_relu(__halves2half2(x, y), __halves2half2(y, y), __halves2half2(x, x))", "__hcmadd(__halves2half2(x, y), __halves2half2(y, x), __halves2half2(x, x))", "__heq2(__halves2half2(x, y), __halves2half2(y, y))", "__heq2_mask(__halves2half2(x, y), __halves2half2(y, y))", "__hbgtu2(__halves2half2(x, y), __halves2half2(y, x))", "__hmax2_nan(__halves2half2(x, y), __halves2half2(y, x))", "__lows2half2(__halves2half2(x, y), __halves2half2(y, x))", "x / y", "x + y", "-x", "x > y")]
table("b", rows, "#include <cuda_fp16.h>\n", "__half x = __ushort_as_half(in[3 * t]), y = __ushort_as_half(in[3 * t + 1]); (void)x; (void)y;", "H", None)
# c) The same of bfloat16 for a card without bf16 add or mul (fma with -0 or 1). Guess: __hadd(-0, -0) = -0 as the fma adds with
# 1.0 times; sat by max/min; hexp2 through float. NaN 0x7fff. Met in bf16 training on Ampere.
Bf = [0, 0x8000, 1, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f00, 0x3eab, 0x4049, 0xc0a0, 0x4120, 0x42c8, 0x4780, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc1, 0x3dcd, 0xbf1a]
BP = [(a, b) for i, a in enumerate(Bf) for b in Bf[i % 6::6]]
rows = [(f"{f}(x)", Bf) for f in one if f != "htanh_approx" or True] + [(f"{f}(x, y)", BP) for f in two] + [("__hfma(x, y, x)", BP[::2]), ("__hfma_relu(x, y, x)", BP[::2]), ("__hfma_sat(x, y, y)", BP[::2])]
rows += [(f, BP[::3]) for f in ("__h2div(__halves2bfloat162(x, y), __halves2bfloat162(y, x))", "h2log2(__halves2bfloat162(x, y))", "__hfma2_relu(__halves2bfloat162(x, y), __halves2bfloat162(y, y), __halves2bfloat162(x, x))", "__hlt2(__halves2bfloat162(x, y), __halves2bfloat162(y, x))", "__hmin2_nan(__halves2bfloat162(x, y), __halves2bfloat162(y, x))", "x - y", "x / y", "x <= y")]
table("c", rows, "#include <cuda_bf16.h>\n", "__nv_bfloat16 x = __ushort_as_bfloat16(in[3 * t]), y = __ushort_as_bfloat16(in[3 * t + 1]); (void)x; (void)y;", "H", None)
