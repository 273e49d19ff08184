from common import *
Q = "q44"
init()
# a) Layout: which row and column each lane's registers get from ldmatrix (x1, x2, x4, .trans) and movmatrix. Guess: lane
# l has row l/4, columns 2(l%4) and +1; .trans swaps; addresses of x1 come from lanes 0-7; movmatrix transposes one 8x8.
# Met by everyone who writes mma by hand.
def matrices():
    for n in (1, 2, 4):
        for tr in ("", ".trans"):
            r = run32('extern "C" __global__ void k(unsigned *o) { __shared__ __align__(128) unsigned short s[256]; unsigned l = threadIdx.x; for (int i = l; i < 256; i += 32) s[i] = i; __syncwarp(); unsigned a = (unsigned)__cvta_generic_to_shared(s + 8 * l), d[4] = {0}; ' + f'asm volatile("ldmatrix.sync.aligned.m8n8.x{n}{tr}.shared.b16 {{' + ", ".join(f"%{i}" for i in range(n)) + f'}}, [%{n}];" : ' + ", ".join(f'"=r"(d[{i}])' for i in range(n)) + ' : "r"(a)); for (int i = 0; i < 4; i++) o[4 * l + i] = d[i]; }', 128)
            for i in range(n):
                say(Q, f"a ldmatrix.x{n}{tr} register {i}: elements", " ".join(f"{r[4 * l + i] & 65535},{r[4 * l + i] >> 16}" for l in range(32)))
    r = run32('extern "C" __global__ void k(unsigned *o) { unsigned l = threadIdx.x, d; asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(2 * l | (2 * l + 1) << 16)); o[l] = d; }', 32)
    say(Q, "a movmatrix.trans: elements", " ".join(f"{v & 65535},{v >> 16}" for v in r))
    for key, rows in (("all lanes the same row", "s"), ("rows backwards", "s + 8 * (31 - l)"), ("rows 2 apart", "s + 8 * (2 * l % 32)"), ("each row for two lanes", "s + 8 * (l / 2)")):
        r = run32('extern "C" __global__ void k(unsigned *o) { __shared__ __align__(128) unsigned short s[256]; unsigned l = threadIdx.x; for (int i = l; i < 256; i += 32) s[i] = i; __syncwarp(); unsigned a = (unsigned)__cvta_generic_to_shared(' + rows + '), d[2]; asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(a)); o[l] = d[0]; o[32 + l] = d[1]; }', 64)
        say(Q, f"a ldmatrix.x2 {key}", compact([v & 65535 for v in r]))
guarded(Q, "a", matrices)
# b) mma for integers and bits: fragments by position, saturation, overflow, sign mix, xor and and popcounts. Guess:
# s32 accumulators wrap without .satfinite; with it they clamp at each instruction's end, not for each product; bytes
# lie in the register in order of k. Met in int8 inference.
SHAPES = {"m8n8k16.s8": (1, 1, 2, "s8.s8", 8, 16), "m8n8k16.u8s8": (1, 1, 2, "u8.s8", 8, 16), "m16n8k16.s8": (2, 1, 4, "s8.s8", 8, 16), "m16n8k32.s8": (4, 2, 4, "s8.s8", 8, 32), "m16n8k32.u8": (4, 2, 4, "u8.u8", 8, 32), "m8n8k32.s4": (1, 1, 2, "s4.s4", 4, 32), "m16n8k32.u4s4": (2, 1, 4, "u4.s4", 4, 32), "m16n8k64.s4": (4, 2, 4, "s4.s4", 4, 64)}
def mma(shape, types, na, nb, nc, sat, a, b, c, bop=""):
    lst = lambda first, n: "{" + ", ".join(f"%{first + i}" for i in range(n)) + "}"
    body = "".join(f"unsigned a{i} = in[{i} * 32 + l]; " for i in range(na)) + "".join(f"unsigned b{i} = in[{na + i} * 32 + l]; " for i in range(nb)) + "".join(f"unsigned c{i} = in[{na + nb + i} * 32 + l], d{i}; " for i in range(nc))
    ins = f'asm volatile("mma.sync.aligned.{shape}.row.col{sat}.s32.{types}.s32{bop} {lst(0, nc)}, {lst(nc, na)}, {lst(nc + na, nb)}, {lst(nc + na + nb, nc)};" : ' + ", ".join(f'"=r"(d{i})' for i in range(nc)) + " : " + ", ".join(f'"r"({x}{i})' for x, n in (("a", na), ("b", nb), ("c", nc)) for i in range(n)) + ");"
    src = 'extern "C" __global__ void k(unsigned *o, const unsigned *in) { unsigned l = threadIdx.x; ' + body + ins + "".join(f" o[{i} * 32 + l] = d{i};" for i in range(nc)) + " }"
    return run32(src, 32 * nc, args=(device(struct.pack(f"<{32 * (na + nb + nc)}I", *a, *b, *c)),))
def ints():
    for name, (na, nb, nc, types, w, k) in SHAPES.items():
        shape = name.split(".")[0]
        zero = [0] * 32 * nc
        rnd = lambda seed, n: [(seed * 2654435761 + i * 0x9E3779B1 ^ i * i * 40503) & 0xffffffff for i in range(n)]
        for sat in ("", ".satfinite"):
            def main():
                r = mma(shape, types, na, nb, nc, sat, rnd(1, 32 * na), rnd(2, 32 * nb), rnd(3, 32 * nc))
                say(Q, f"b {name}{sat} pseudo-random", f"sum {sum(r) & 0xffffffff:08x} xor {__import__('functools').reduce(lambda x, y: x * 31 + y & 0xffffffff, r):08x}; lane 0 and 13: {' '.join(f'{r[32 * i]:08x} {r[32 * i + 13]:08x}' for i in range(nc))}")
                big = int(("7" + "f" if w == 8 else "77") * 4, 16)
                r = mma(shape, types, na, nb, nc, sat, [big] * 32 * na, [big] * 32 * nb, [0x7fffffff - 100] * 32 * nc)
                say(Q, f"b {name}{sat} near the largest sum", compact([f"{v:08x}" for v in r]))
                r = mma(shape, types, na, nb, nc, sat, [big] * 32 * na, [int(("81" if w == 8 else "99") * 4, 16)] * 32 * nb, [0x80000005] * 32 * nc)
                say(Q, f"b {name}{sat} near the smallest sum", compact([f"{v:08x}" for v in r]))
            guarded(Q, f"b {name}{sat}", main)
        def where():
            for reg in range(na):
                r = mma(shape, types, na, nb, nc, "", [1 if i == 32 * reg + 5 else 0 for i in range(32 * na)], [0x01010101 if w == 8 else 0x11111111] * 32 * nb, zero)
                say(Q, f"b {name} A register {reg} of lane 5 reaches (register: lanes)", "; ".join(f"{i}: {compact([l for l in range(32) if r[32 * i + l]])}" for i in range(nc)))
            for reg in range(nb):
                r = mma(shape, types, na, nb, nc, "", [0x01010101 if w == 8 else 0x11111111] * 32 * na, [1 if i == 32 * reg + 6 else 0 for i in range(32 * nb)], zero)
                say(Q, f"b {name} B register {reg} of lane 6 reaches", "; ".join(f"{i}: {compact([l for l in range(32) if r[32 * i + l]])}" for i in range(nc)))
        guarded(Q, f"b {name} positions", where)
    for shape, na, nb, nc in (("m8n8k128", 1, 1, 2), ("m16n8k128", 2, 1, 4), ("m16n8k256", 4, 2, 4)):
        for op in ("xor", "and"):
            def main():
                r = mma(shape, "b1.b1", na, nb, nc, "", [0xf0f00ff1 + i for i in range(32 * na)], [0x12345678 ^ i * 77 for i in range(32 * nb)], [i for i in range(32 * nc)], f".{op}.popc")
                say(Q, f"b {shape}.b1.{op}.popc", compact(r))
            guarded(Q, f"b {shape}.b1.{op}", main)
guarded(Q, "b", ints)
# c) redux.sync by type and mask, and its float forms. Guess: s32 min/max signed; add wraps; and/or/xor on lanes of the
# mask; the f32 forms are refused below sm_100a. Met in argmax reductions.
for t, ops in (("u32", ("add", "min", "max")), ("s32", ("add", "min", "max")), ("b32", ("and", "or", "xor")), ("f32", ("min", "max"))):
    for op in ops:
        for mask in (0xffffffff, 0x0000ffff, 0xaaaaaaaa, 0x80000001):
            def main():
                r = run32(f'extern "C" __global__ void k(unsigned *o, const unsigned *in, unsigned m) {{ unsigned l = threadIdx.x, d = 0xdead; if (m >> l & 1) asm volatile("redux.sync.{op}.{t} %0, %1, %2;" : "=r"(d) : "r"(in[l]), "r"(m)); o[l] = d; }}', 32, args=(device(struct.pack("<32I", *[(0x80000000 >> i % 5) ^ i * 0x01234567 & 0xffffffff for i in range(32)])), mask))
                say(Q, f"c redux.sync.{op}.{t} mask {mask:08x}", compact([f"{v:x}" for v in r]))
            try:
                main()
            except LoadError as e:
                say(Q, f"c redux.sync.{op}.{t} mask {mask:08x}", "refused " + str(e).split()[1])
