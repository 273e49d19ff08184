from common import *
Q = "q35"
init()
# a) Integer division and remainder by zero and of the most negative number, each width. Guess: x / 0 = all ones
# (unsigned), -1 with the sign quirk for signed; x % 0 = x; INT_MIN / -1 = INT_MIN, rest 0; 64-bit division by zero
# gives all ones as a software routine would, rest = x. Met when a block has no elements and a mean is taken.
def cases(n):
    v = [0, 1, 5, 2 ** (n - 1) - 1, 2 ** (n - 1), 2 ** (n - 1) + 1, 2**n - 5, 2**n - 1]
    return [(a, b) for b in (0, 1, 2**n - 1, 2 ** (n - 1), 3, 2 ** (n - 1) - 1) for a in v]
asm(Q, [(f"{o}.{s}{n} d, a, b", f"{g}={g}{g}", cases(n)) for n, g in ((16, "h"), (32, "r"), (64, "l")) for s in "us" for o in ("div", "rem")], prefix="a ", chunk=8)
# the same with the divisor as an immediate, which a compiler may fold or refuse
asm(Q, [(f"{o}.{s}{n} d, a, {i}", f"{g}={g}", [c[0] for c in cases(n)[:8]]) for n, g in ((16, "h"), (32, "r"), (64, "l")) for s in "us" for o in ("div", "rem") for i in (0, 1, -1)], prefix="a immediate ", chunk=8)
def c_types():
    T = [("signed char", 8), ("unsigned char", 8), ("short", 16), ("unsigned short", 16), ("int", 32), ("unsigned", 32), ("long long", 64), ("unsigned long long", 64)]
    src = "".join(f'extern "C" __global__ void k{i}(long long *o, const long long *a, const long long *b) {{ int t = threadIdx.x; {t} x = a[t], y = b[t]; o[2 * t] = x / y; o[2 * t + 1] = x % y; }}\n' for i, (t, n) in enumerate(T))
    m = load(compile_cuda(src))
    for i, (t, n) in enumerate(T):
        v = [(1, 0), (0, 0), (-1, 0), (-(2 ** (n - 1)), 0), (-(2 ** (n - 1)), -1), (7, -2), (-7, 2), (2**n - 1 - (n == 64) * 2**64, 2)]
        o = alloc(16 * len(v)); launch(function(m, f"k{i}"), 1, len(v), (o, device(struct.pack("<8q", *[x[0] for x in v])), device(struct.pack("<8q", *[x[1] for x in v]))))
        r = struct.unpack("<16q", get(o, 128))
        say(Q, f"a C {t}: quotient and rest", " ".join(f"{x}/{y}:{r[2 * j]},{r[2 * j + 1]}" for j, (x, y) in enumerate(v)))
guarded(Q, "a C", c_types)
# b) Shifts beyond the width, as PTX and as C (register and constant counts). Guess: PTX clamps: shl and unsigned shr give
# 0, signed shr the sign; in C nvcc emits the same instructions, so 1 << 32 is 0 and not 1 as on x86. Met constantly.
N = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xffffffff]
asm(Q, [(f"{o} d, a, b", f"{g}={g}r", [(v, n) for n in N]) for w, g, v in ((16, "h", 0x8421), (32, "r", 0x84210f0f), (64, "l", 0x84210f0f12345679)) for o in (f"shl.b{w}", f"shr.b{w}", f"shr.u{w}", f"shr.s{w}")], prefix="b ", chunk=15)
def c_shifts():
    src = 'extern "C" __global__ void k(unsigned long long *o, const unsigned *n, unsigned a, int b, unsigned long long c, long long d, short e) { int t = threadIdx.x; unsigned s = n[t]; o[8*t] = a << s; o[8*t+1] = a >> s; o[8*t+2] = (unsigned)(b >> s); o[8*t+3] = c << s; o[8*t+4] = c >> s; o[8*t+5] = d >> s; o[8*t+6] = (unsigned)(e << s); o[8*t+7] = __funnelshift_l(a, b, s) ^ (unsigned long long)__funnelshift_rc(a, b, s) << 32; }'
    o = alloc(64 * len(N)); launch(build(src), 1, len(N), (o, device(struct.pack(f"<{len(N)}I", *N)), c_uint(0x84210f0f), c_int(-0x7bdef0f1), 0x84210f0f12345679, -0x7bdef0f0edcba987, ctypes.c_short(-2)))
    r = u64(get(o, 64 * len(N)))
    for j, n in enumerate(N):
        say(Q, f"b C count {n:x}", " ".join(f"{v:x}" for v in r[8 * j:8 * j + 8]))
guarded(Q, "b C", c_shifts)
# c) Bits: bfind (.shiftamt), clz, brev, popc, ffs, fns, of 32 and 64 bits at 0, -1 and the edges. Guess: bfind of 0 and
# of s32 -1 is 0xffffffff; shiftamt of those too; clz(0) = width; fns of a missing bit is 0xffffffff. Met in tree codes.
asm(Q, [(f"{o}.{t} d, a", f"{'l' if 'brev' in o and '64' in t else 'r'}={g}", [0, 1, 2, 2 ** (w - 1), 2 ** (w - 1) - 1, 2**w - 1, 2**w - 2, 2**w - 2 ** (w // 2), 0x00f0 << w // 2, 0x5555555555555555 & (2**w - 1)]) for w, g in ((32, "r"), (64, "l")) for o, ts in (("bfind", (f"u{w}", f"s{w}")), ("bfind.shiftamt", (f"u{w}", f"s{w}")), ("clz", (f"b{w}",)), ("popc", (f"b{w}",)), ("brev", (f"b{w}",))) for t in ts], prefix="c ", chunk=10)
asm(Q, [("fns.b32 d, a, b, c", "r=rrr", [(m, b, n) for m in (0, 0xffffffff, 0x80000001, 0xaaaaaaaa) for b in (0, 15, 31, 32) for n in (0, 1, -1, 3, -3, 32)])], prefix="c ", chunk=12)
asm(Q, [(f"{o}.s{n} d, a", f"{g}={g}", [0, 1, 2 ** (n - 1), 2**n - 1]) for o in ("abs", "neg") for n, g in ((16, "h"), (32, "r"), (64, "l"))] + [(f"cnot.b{n} d, a", f"{g}={g}", [0, 1, 2**n - 1]) for n, g in ((16, "h"), (32, "r"), (64, "l"))] + [(f"{o}.{t} d, a, b", "r=rr", [(0, 0x80000000), (0xffffffff, 0), (0x7fffffff, 0x80000000)]) for o in ("min", "max") for t in ("s32", "u32")], prefix="c ")
asm_by_target(Q, [(f"{o}{r}.{t} d, a, b", "r=rr", [(0xffffffff, 0x80000000), (0x80007fff, 0x7fff8000), (5, 0xfffffffb)]) for o in ("min", "max") for t, rs in (("s32", ("", ".relu")), ("s16x2", ("", ".relu")), ("u16x2", ("",))) for r in rs if (r, t) != ("", "s32")], "c ")
