from common import *
Q = "q36"
init()
X = [0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x40000000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc12345]
P = [(a, b) for i, a in enumerate(X) for b in X[i % 3::3]]
# a) div.full, div.approx, rcp, sqrt, rsqrt, with and without .ftz. Guess: div.approx gives 0 for divisors above 2^126,
# and NaN for an infinity over one; div.full scales and does not; subnormals are flushed by .ftz only; sqrt(-0) = -0,
# rsqrt(-0) = -inf, and results that are exact powers of two are exact. Met with -use_fast_math.
asm(Q, [(f"div.{m}{z}.f32 d, a, b", "r=rr", P) for m in ("full", "approx", "rn", "rz", "rp") for z in ("", ".ftz")], prefix="a ", chunk=8)
asm(Q, [(f"{o}.{m}{z}.f32 d, a", "r=r", X) for o in ("rcp", "sqrt") for m in ("approx", "rn", "rz", "rm", "rp") for z in ("", ".ftz")] + [(f"rsqrt.approx{z}.f32 d, a", "r=r", X) for z in ("", ".ftz")] + [(f"{o}.rn.f64 d, a", "l=l", [0, 1 << 63, 1, 2**52 - 1, 0x7fe << 52, (0x7ff << 52) - 1, 0x7ff << 52, 0xfff << 52, (0x7ff << 52) + 1, 0xfff8000000012345, 0x3ff << 52, 0x3ff5555555555555]) for o in ("rcp", "sqrt")], prefix="a ", chunk=8)
# b) sin, cos, lg2, ex2, tanh approximations at huge, tiny and special arguments. Guess: sin(inf) = NaN 0x7fffffff;
# sin(-0) = -0; huge arguments give some value in [-1, 1], as reduction is by a product with 1/2pi: sin of 2^30 may be 0;
# lg2(0) = -inf also for subnormals with ftz; ex2 of -inf = +0; cos of tiny is exactly 1. Met with __sinf on angles.
Y = X + [0x40490fdb, 0x3fc90fdb, 0x40c90fdb, 0x42c80000, 0x447a0000, 0x461c4000, 0x47c35000, 0x49742400, 0x4b800000, 0x4cbebc20, 0x4e800000, 0x501502f9, 0x5a0e1bca, 0x70000000, 0xc6000001, 0x3a83126f, 0x33d6bf95, 0xc2fc0000, 0xc3150000, 0xc3160000, 0x42ffffff, 0x43000000, 0x3eaaaaab, 0xc2fd0001]
asm(Q, [(f"{o}.approx{z}.f32 d, a", "r=r", Y) for o in ("sin", "cos", "lg2", "ex2") for z in ("", ".ftz")] + [("tanh.approx.f32 d, a", "r=r", Y)], prefix="b ", chunk=8)
def libm():
    fns = ["sinf", "cosf", "tanf", "__sinf", "__cosf", "__tanf", "sinpif", "cospif"]
    body = " ".join(f"o[8 * t + {i}] = __float_as_uint({f}(x));" for i, f in enumerate(fns))
    o = alloc(32 * len(Y)); launch(build(f'extern "C" __global__ void k(unsigned *o, const float *a) {{ int t = threadIdx.x; float x = a[t]; {body} }}'), 1, len(Y), (o, device(struct.pack(f"<{len(Y)}I", *Y))))
    r = u32(get(o, 32 * len(Y)))
    for i, f in enumerate(fns):
        for at in range(0, len(Y), 10):
            say(Q, f"b {f} #{at // 10}", " ".join(f"{Y[j]:08x}>{r[8 * j + i]:08x}" for j in range(at, min(at + 10, len(Y)))))
    big = [2.0**30, 1e22, 1e300, 1.5707963267948966, 3.141592653589793, -1e15, float("inf"), 2.0**-1074, 6.283185307179586 * 1e10]
    g = ["sin", "cos", "tan", "sinpi", "cospi", "exp", "log", "atan"]
    o = alloc(64 * len(big)); launch(build('extern "C" __global__ void k(unsigned long long *o, const double *a) { int t = threadIdx.x; double x = a[t]; ' + " ".join(f"o[8 * t + {i}] = __double_as_longlong({f}(x));" for i, f in enumerate(g)) + " }"), 1, len(big), (o, device(struct.pack(f"<{len(big)}d", *big))))
    r = u64(get(o, 64 * len(big)))
    for i, f in enumerate(g):
        say(Q, f"b double {f}", " ".join(f"{x!r}>{r[8 * j + i]:016x}" for j, x in enumerate(big)))
guarded(Q, "b libm", libm)
# c) Seeds of doubles: rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use the upper words. Guess: the lower word of the
# result is 0, subnormals count as 0 and give infinity, 1.0 gives exactly 1.0, and results that would be subnormal are
# 0. Met inside every double division; visible in hand-written Newton steps.
D = [0, 1 << 63, 1, 2**52 - 1, 1 << 52, 0x3ff << 52, 0x3ff0000100000000, 0x3ff00001ffffffff, 0x3ff8000000000000, 0x3fffffff00000000, 0x4000000000000000, 0x4008000000000000, 0xc008000000000000, 0x7fd0000000000000, 0x7fe0000000000000, 0x7fefffffffffffff, 0x7ff << 52, 0xfff << 52, (0x7ff << 52) + 1, 0xfff8000012345678, 0x3fe5555555555555, 0x4024000000000000]
asm(Q, [(f"{o}.approx.ftz.f64 d, a", "l=l", D) for o in ("rcp", "rsqrt")] + [("rsqrt.approx.f64 d, a", "l=l", D)] + [(f"{o}.f64 d, a, b", "l=ll", [(a, b) for i, a in enumerate(D) for b in D[i % 5::5]]) for o in ("add.rn", "mul.rn", "mul.rz", "div.rn", "min", "max", "sub.rm")] + [(f"fma.{m}.f64 d, a, b, c", "l=lll", [(a, b, c) for i, a in enumerate(D) for b, c in zip(D[i % 7::7], D[::-1])]) for m in ("rn", "rp")] + [("neg.f64 d, a", "l=l", D), ("abs.f64 d, a", "l=l", D)], prefix="c ", chunk=8)
