from common import *
Q = "q77"
init()
def table(prefix, rows, options=()):
    """Rows (expression of x, y, i; tuples of their bits): the result's bits in 32 bits, one module for all."""
    def main():
        src = '__device__ unsigned raw(float v) { return __float_as_uint(v); } __device__ unsigned raw(int v) { return v; } __device__ unsigned raw(long v) { return (unsigned)v ^ (unsigned)((unsigned long)v >> 32) * 3; } __device__ unsigned raw(long long v) { return raw((long)v); } __device__ unsigned raw(bool v) { return v; } __device__ unsigned two(float a, float b) { return __float_as_uint(a) * 31 ^ __float_as_uint(b); }\n'
        src += "".join(f'extern "C" __global__ void k{n}(unsigned *o, const unsigned *in) {{ unsigned t = threadIdx.x; float x = __uint_as_float(in[3 * t]), y = __uint_as_float(in[3 * t + 1]); int i = in[3 * t + 2]; float u = 0, v = 0; int q = 0; (void)x; (void)y; (void)i; (void)u; (void)v; (void)q; o[t] = {e if "raw(" in e or "two(" in e else f"raw({e})"}; }}\n' for n, (e, _) in enumerate(rows))
        m = load(compile_cuda(src, options=options))
        for n, (e, c) in enumerate(rows):
            c = [(x if isinstance(x, tuple) else (x,)) + (0,) * (3 - (len(x) if isinstance(x, tuple) else 1)) for x in c]
            o = alloc(4 * len(c)); launch(function(m, f"k{n}"), 1, len(c), (o, device(b"".join(struct.pack("<3I", *[v & 0xffffffff for v in x]) for x in c)))); r = u32(get(o, 4 * len(c)))
            used = [j for j, name in enumerate("xyi") if __import__("re").search(rf"\b{name}\b", e)]
            say(Q, f"{prefix} {e}".replace("|", "/"), " ".join(",".join(f"{x[j] & 0xffffffff:x}" for j in used) + f">{v:x}" for x, v in zip(c, r)))
    guarded(Q, prefix, main)
fb = lambda *v: [bits(x) for x in v]
E = [0, 0x80000000, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xff812345]
O = fb(0.1, 0.3, 0.7, 1.5, 2.25, 3.1, 7.7, 12.3, 33.3, 87.5, -0.4, -1.3, -2.5, -6.2, 123.456)
POS = fb(0.01, 0.1, 0.5, 0.99, 1.01, 2.7, 10.5, 55.5, 1234.5, 3e10, 1e-20)
U = fb(0.001, 0.1, 0.25, 0.5, 0.77, 0.999, 1.0, 1.2, 1.9, 1.999, 2.0)
# a) Functions of one argument at the edges and at ordinary numbers. Guess: exact cases are exact (rint, trunc, ilogb), special
# functions follow C99 (tgamma(-1) NaN, tgamma(-0) = -inf, lgamma of poles = inf); the rest agree when the same
# compiled code runs, as approximations of the hardware (ex2, lg2, rsq) are the only inner parts. Met everywhere.
one = [(f"{f}(x)", E + O) for f in ("expf", "exp10f", "exp2f", "expm1f", "tgammaf", "lgammaf", "erff", "erfcf", "erfcxf", "normcdff", "j0f", "j1f", "cyl_bessel_i0f", "cyl_bessel_i1f", "sinpif", "cospif", "tanpif" if False else "tanf", "atanf", "asinhf", "sinhf", "coshf", "cbrtf", "rcbrtf", "rintf", "logbf", "ilogbf")]
one += [(f"{f}(x)", E + POS) for f in ("logf", "log2f", "log10f", "log1pf", "y0f", "y1f", "rsqrtf", "acoshf")] + [(f"{f}(x)", E + U) for f in ("erfinvf", "erfcinvf", "normcdfinvf", "asinf", "acosf", "atanhf")]
one += [("lrintf(x)", E + O), ("llroundf(x)", E + O), ("isfinite(x) + 2 * isnan(x) + 4 * isinf(x) + 8 * (signbit(x) != 0)", E)]
table("a", one)
# b) Functions of two and three arguments and with pointers. Guess: pow follows C99's list (pow(-1, inf) = 1, pow(x, 0) = 1 for
# NaN, pow(-0, -3) = -inf); fmod exact for any ratio; remquo's quotient has 3 bits or more with the sign; hypot(inf, NaN) =
# inf; nextafter steps through zero; ldexp goes through subnormals rounding once. Met in financial and geometry code.
P2 = [(bits(a), bits(b)) for a, b in ((2, 0.5), (10, 3), (10, -3), (0.1, 7), (1.0001, 10000), (-2, 3), (-2, 2), (-8, 1 / 3), (3, 80), (3, 81), (1e-10, 4.5), (0.999, -50000), (7, 0.25), (5.5, 11.25))] + [(0x80000000, bits(-3)), (0x80000000, bits(-2)), (0, bits(-1)), (bits(-1), 0x7f800000), (0x7fc00000, 0), (0x3f800000, 0x7fc00000), (0xff800000, bits(3)), (0xff800000, bits(-3)), (1, bits(0.5)), (bits(0.5), 0x7f800000)]
A2 = [(bits(a), bits(b)) for a, b in ((5.3, 2), (-5.3, 2), (5.3, -2), (1e30, 3), (1e38, 1.5e-38), (7, 7), (0.1, 0.03), (-1e-40, 3e-41), (6, 4), (10, 4), (2.5, 1), (3.5, 1))] + [(0x80000000, bits(2)), (bits(1), 0), (0x7f800000, bits(2)), (bits(2), 0xff800000), (0x7fc00000, bits(1)), (1, 0x7f7fffff), (0x7f7fffff, 1)]
LI = [(v, 0, i) for v in (0x3f800000, 0x40490fdb, 0x80000001, 0x7f7fffff, 0x7f800000, 0x807fffff) for i in (0, 1, -1, 127, 128, -126, -148, -149, -150, 300, -300, 2**31 - 1)]
two = [("powf(x, y)", P2), ("powif(x, i)" if False else "powf(x, (float)i)", [(bits(v), 0, i) for v in (1.1, -3, 0.5) for i in (-9, 2, 13, 31)]), ("fmodf(x, y)", A2), ("remainderf(x, y)", A2), ("remquof(x, y, &q)", A2), ("raw((remquof(x, y, &q), q))", A2), ("fdimf(x, y)", A2), ("fmaxf(x, y)", A2), ("fminf(y, x)", A2), ("hypotf(x, y)", A2), ("rhypotf(x, y)", A2), ("atan2f(x, y)", A2), ("copysignf(x, y)", A2), ("nextafterf(x, y)", A2), ("norm3df(x, y, 2.0f)", A2), ("norm4df(x, y, 0.5f, x)", A2), ("rnorm3df(x, y, 2.0f)", A2), ("rnorm4df(x, y, 0.5f, 3.0f)", A2), ("fmaf(x, y, -1.0f)", A2), ("x / y", A2), ("ldexpf(x, i)", LI[::2]), ("scalbnf(x, i)", LI[1::2]), ("scalblnf(x, (long)i * 65536)", LI[::5]), ("frexpf(x, &i)", [(v,) for v in E]), ("raw((frexpf(x, &q), q))", [(v,) for v in E]), ("modff(x, &u)", E + O), ("raw((modff(x, &u), u))", E + O), ("raw((sincosf(x, &u, &v), two(u, v)) == 1 ? 0.0f : u)", O), ("raw((sincospif(x, &u, &v), v))", E + O), ("jnf(i, x)", [(bits(v), 0, i) for v in (0.5, 3.3, 20.5, -2) for i in (0, 1, 2, 5, -1)]), ("ynf(i, x)", [(bits(v), 0, i) for v in (0.5, 3.3, 20.5) for i in (0, 1, 2, 5, -1)]), ("normf(2, &x)", E), ("rnormf(1, &x)", E), ("__fmaf_rd(x, y, -1.0f)", A2), ("__fdiv_ru(x, y)", A2), ("__fsqrt_rd(x)", E + POS), ("__frcp_rz(x)", E + POS), ("__frsqrt_rn(x)", E + POS), ("__saturatef(x)", E + O), ("max(x, y)", A2)]
table("b", two)
# c) The same under --use_fast_math, and the fast intrinsics. Guess: powf becomes exp2(y * lg2 x), so powf(-2, 2) is NaN or 4 by
# the sign handling; division by more than 2^126 gives 0; subnormals flushed; sqrt approximate; sincosf as two approximations. Met with the flag in every build.
fast = [(f"{f}(x)", E + O) for f in ("expf", "exp10f", "exp2f", "tanhf", "sinf", "cosf", "tanf", "rintf", "erff", "sinhf")] + [(f"{f}(x)", E + POS) for f in ("logf", "log2f", "log10f", "log1pf", "rsqrtf", "sqrtf", "lgammaf")] + [("powf(x, y)", P2), ("x / y", A2), ("1.0f / x", E + POS), ("fmodf(x, y)", A2), ("hypotf(x, y)", A2), ("atan2f(x, y)", A2), ("norm4df(x, y, 0.5f, x)", A2), ("fmaxf(x, y)", A2), ("(int)x", E + O), ("(x + y) * 0x1p-126f", A2), ("x < y ? x : y", A2), ("raw((sincosf(x, &u, &v), u))", E + O)]
table("c fast", fast, ("--use_fast_math",))
table("c", [("__powf(x, y)", P2), ("__expf(x)", E + O), ("__exp10f(x)", E + O), ("__logf(x)", E + POS), ("__tanf(x)", E + O), ("__fdividef(x, y)", A2), ("raw((__sincosf(x, &u, &v), v))", E + O), ("__tanhf(x)", E + O)])
