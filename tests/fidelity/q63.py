from common import *
Q = "q63"
init()
from q27 import array, texture
U8, U16, U32, S8, S16, S32, F16, F32 = 1, 2, 3, 8, 9, 10, 16, 32
NAME = {1: "u8", 2: "u16", 3: "u32", 8: "s8", 9: "s16", 10: "s32", 16: "f16", 32: "f32"}; CODE = {1: "B", 2: "H", 3: "I", 8: "b", 9: "h", 10: "i", 16: "e", 32: "f"}
VALUES = {1: [0, 1, 127, 128, 255, 7, 9, 200], 2: [0, 1, 32767, 32768, 65535, 7, 9, 200], 3: [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 7, 9, 2**24 + 1], 8: [0, 1, 127, -128, -127, -1, 9, 100], 9: [0, 1, 32767, -32768, -32767, -1, 9, 100], 10: [0, 1, 2**31 - 1, -2**31, -1, 7, 9, 2**24 + 1], 16: [0, 1, 0.5, -0.0, 65504, float("inf"), -2, 6e-8], 32: [0, 1, 0.5, -0.0, 3e38, float("inf"), -2, 1e-40]}
def fetch(ins, t, coords, ct="unsigned", n=4):
    """4 words for each coordinate."""
    w = len(coords[0]) if isinstance(coords[0], tuple) else 1; flat = [x for c in coords for x in (c if isinstance(c, tuple) else (c,))]
    f = build('extern "C" __global__ void k(unsigned *o, const unsigned *in, unsigned long long t) { int i = threadIdx.x; unsigned r0, r1, r2, r3; ' + f'asm volatile("{ins}" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(t)' + "".join(f', "r"(in[{w} * i + {j}])' for j in range(w)) + "); o[4 * i] = r0; o[4 * i + 1] = r1; o[4 * i + 2] = r2; o[4 * i + 3] = r3; }")
    o = alloc(16 * len(coords)); launch(f, 1, len(coords), (o, device(struct.pack(f"<{len(flat)}I", *flat)), t)); r = u32(get(o, 16 * len(coords))); return [r[4 * i:4 * i + 4] for i in range(len(coords))]
def data(fmt, ch):
    v = VALUES[fmt]; return struct.pack(f"<{8 * ch}{CODE[fmt]}", *[v[(i + c) % 8] for i in range(8) for c in range(ch)])
def surface(kind, i):
    a = array(8, 4 if kind != "1d" else 0, 2 if kind in ("3d", "a2d") else 0, U32, 1, struct.pack(f"<{8 * (1 if kind == '1d' else 4) * (2 if kind in ('3d', 'a2d') else 1)}I", *range(100, 100 + 8 * (1 if kind == "1d" else 4) * (2 if kind in ("3d", "a2d") else 1))), 2 | (1 if kind == "a2d" else 0))
    so = c_uint64(); ok("cuSurfObjectCreate", byref(so), packed("I4xQ", 0, a.value, size=144)); return a, so.value
POINTS = {"1d": [(0,), (28,), (32,), (-4,), (1000,)], "2d": [(0, 0), (28, 3), (32, 0), (-4, 1), (0, 4), (4, -1), (400, 400)], "3d": [(4, 1, 1, 0), (32, 0, 0, 0), (0, 4, 0, 0), (0, 0, 2, 0), (0, 0, -1, 0), (-4, -1, -1, 0)], "a2d": [(1, 4, 1, 0), (2, 0, 0, 0), (0, 32, 0, 0), (0, 0, 4, 0), (-1, 4, 0, 0)]}
def sload(kind, mode, so, pts):
    n = len(POINTS[kind][0]); f = build(f'extern "C" __global__ void k(unsigned *o, const int *c, unsigned long long s, int n) {{ for (int i = 0; i < n; i++) {{ unsigned r; asm volatile("suld.b.{kind}.b32.{mode} %0, [%1, {{{", ".join(f"%{j + 2}" for j in range(n))}}}];" : "=r"(r) : "l"(s)' + "".join(f', "r"(c[{n} * i + {j}])' for j in range(n)) + '); o[i] = r; } }')
    o = alloc(4 * len(pts)); launch(f, 1, 1, (o, device(struct.pack(f"<{n * len(pts)}i", *[x for p in pts for x in p])), so, len(pts))); return u32(get(o, 4 * len(pts)))
def sstore(kind, mode, so, p, v):
    n = len(p); f = build(f'extern "C" __global__ void k(const int *c, unsigned long long s, unsigned v) {{ asm volatile("sust.b.{kind}.b32.{mode} [%0, {{{", ".join(f"%{j + 2}" for j in range(n))}}}], {{%1}};" :: "l"(s), "r"(v)' + "".join(f', "r"(c[{j}])' for j in range(n)) + ' : "memory"); }')
    launch(f, 1, 1, (device(struct.pack(f"<{n}i", *p)), so, v))
ALIGN = [(2,), (1,), (30,), (29,)]
CASES = [("ld", k, i) for k in POINTS for i in range(2, len(POINTS[k]))][:9] + [("st", "2d", 2), ("st", "1d", 3), ("al", "1d", 0), ("al", "1d", 1), ("alz", "1d", 0), ("alz", "1d", 1), ("alz", "1d", 3)]
if len(sys.argv) > 1:
    op, kind, i = sys.argv[1], sys.argv[2], int(sys.argv[3]); a, so = surface(kind, 0); p = ALIGN[i] if op[:2] == "al" else POINTS[kind][i]; mode = "zero" if op == "alz" else "trap"; key = f"c {op} {kind}.{mode} at {p}"
    guarded(Q, key, lambda: say(Q, key, sstore(kind, mode, so, p, 7) if op == "st" else sload(kind, mode, so, [p])))
    os._exit(0)
# a) Every format and channel count read as each destination type (f32, s32, u32) with and without READ_AS_INTEGER, integer and float
# coordinates. Guess: missing channels read 0, 0, 1 (the last as 1.0 or integer 1); u8 as s32 without the flag gives the float's bits; s8 in
# integer mode is sign-extended. Met by wrong template arguments of tex2D.
for fmt in NAME:
    for ch in (1, 2, 4):
        def main():
            a = array(8, 0, 0, fmt, ch, data(fmt, ch))
            for flags in (0, 1):
                if fmt in (F16, F32) and flags: continue
                t = texture(a, (1, 1, 1), 0, flags)
                for dt in ("f32", "s32", "u32"):
                    r = fetch(f"tex.1d.v4.{dt}.s32 {{%0,%1,%2,%3}}, [%4, {{%5}}];", t, list(range(8))); say(Q, f"a {NAME[fmt]} x{ch} flags {flags} tex.1d.{dt}.s32", " ".join(f"{x[0]:x}" for x in r) + f"; all of texel 1: {h8(r[1])}")
        guarded(Q, f"a {NAME[fmt]} x{ch}", main)
# b) Integer coordinates outside; tld4 components; txq; linear memory past its end, negative, with element size 16; f16 results. Guess: integer
# coordinates are not addressed by modes beyond clamp/border: clamp to the edge, or 0 with border; linear memory gives 0 outside; txq gives the
# texels, with 0 height for 1D. Met by stencils which rely on the border.
def outside():
    a = array(8, 4, 0, F32, 1, struct.pack("<32f", *range(1, 33)))
    for mode, mn in ((0, "wrap"), (1, "clamp"), (2, "mirror"), (3, "border")):
        for flags in (0, 2):
            t = texture(a, (mode,) * 3, 0, flags, (9.0, 8.0, 7.0, 6.0)); C = [(0, 0), (7, 3), (8, 0), (0, 4), (-1 & 0xffffffff, 0), (0, -1 & 0xffffffff), (100, 100), (2**31 - 1, 0), (2**31, 0)]
            r = fetch("tex.2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5, %6}];", t, C); say(Q, f"b integer coordinates, {mn}, flags {flags}", " ".join(str(struct.unpack("<f", struct.pack("<I", x[0]))[0]) for x in r) + f"; outside, all: {h8(r[2])}")
    t = texture(a, (1, 1, 1), 0, 0)
    for c in "rgba": r = fetch(f"tld4.{c}.2d.v4.f32.f32 {{%0,%1,%2,%3}}, [%4, {{%5, %6}}];", t, [(bits(x), bits(y)) for x, y in ((1.0, 1.0), (0.5, 0.5), (8.0, 4.0), (0.0, 0.0), (3.499, 1.501))]); say(Q, f"b tld4.{c}", " ".join(h8(x) for x in r))
    for q in ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "filter_mode", "addr_mode_0"):
        try:
            f = build(f'extern "C" __global__ void k(unsigned *o, unsigned long long t) {{ unsigned r; asm volatile("txq.{q}.b32 %0, [%1];" : "=r"(r) : "l"(t)); o[0] = r; }}'); o = alloc(4)
            launch(f, 1, 1, (o, t)); say(Q, f"b txq.{q}", u32(get(o, 4)))
        except LoadError as e:
            say(Q, f"b txq.{q}", "refused " + str(e).split()[1])
        except RuntimeError as e:
            say(Q, f"b txq.{q}", f"error {e}")
guarded(Q, "b", outside)
def linear():
    for fmt, ch in ((F32, 1), (F32, 4), (U8, 1), (U8, 4), (F16, 2), (S16, 4)):
        size = len(data(fmt, ch)); L = device(data(fmt, ch) + b"\x55" * 512); rd = packed("I4xQIIQ", 2, L, fmt, ch, size, size=144); o = c_uint64(); ok("cuTexObjectCreate", byref(o), rd, ctypes.create_string_buffer(104), None)
        r = fetch("tex.1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5}];", o.value, [0, 1, 7, 8, 9, 100, 0xffffffff, 2**31 - 1, 2**27]); say(Q, f"b linear memory {NAME[fmt]} x{ch}", " ".join(h8(x) for x in r[:5]) + "; far: " + " ".join(h8(x) for x in r[5:]))
guarded(Q, "b linear", linear)
# c) Surfaces outside: trap, clamp, zero for loads and stores in 1D, 2D, 3D and layers; formatted stores; byte coordinates not a multiple of the texel.
# Guess: .zero loads give 0 and stores vanish, .clamp the nearest, .trap ends the context (700 or 719); the x of b forms is in bytes and
# misaligned ones trap. Met by stencils without a border test.
def surfaces():
    for kind in POINTS:
        a, so = surface(kind, 0)
        for mode in ("clamp", "zero"):
            guarded(Q, f"c suld.{kind}.{mode}", lambda: say(Q, f"c suld.{kind}.{mode} at {POINTS[kind]}", sload(kind, mode, so, POINTS[kind])))
            for p in POINTS[kind][2:]:
                def main():
                    a, so = surface(kind, 0); every = [(4 * x,) if kind == "1d" else (4 * x, y) if kind == "2d" else (4 * x, y, z, 0) if kind == "3d" else (z, 4 * x, y, 0) for z in range(2 if kind in ("3d", "a2d") else 1) for y in range(1 if kind == "1d" else 4) for x in range(8)]
                    before = sload(kind, "zero", so, every); sstore(kind, mode, so, p, 7); after = sload(kind, "zero", so, every); say(Q, f"c sust.{kind}.{mode} at {p}: changed", [e for e, x, y in zip(every, before, after) if x != y])
                guarded(Q, f"c sust.{kind}.{mode}", main)
    a, so = surface("1d", 0)
    for t in ("b8", "b16", "b64", "v2.b32", "v4.b8"):
        def main():
            n = int(t[1]) if t[0] == "v" else 1; r = {"8": "h", "16": "h", "32": "r", "64": "l"}[t.split("b")[-1]]; c = {"h": "unsigned short", "r": "unsigned", "l": "unsigned long long"}[r]
            f = build(f'extern "C" __global__ void k(unsigned long long *o, unsigned long long s) {{ {c} r[4] = {{0}}; asm volatile("suld.b.1d.{t}.zero ' + ("{" if n > 1 else "") + ", ".join(f"%{i}" for i in range(n)) + ("}" if n > 1 else "") + f', [%{n}, {{%{n + 1}}}];" : ' + ", ".join(f'"={r}"(r[{i}])' for i in range(n)) + ' : "l"(s), "r"((int)o[4])); for (int i = 0; i < 4; i++) o[i] = r[i]; }')
            out = []
            for x in (0, 16, 24, 32, 64): o = alloc(40); put(o + 32, struct.pack("<Q", x)); launch(f, 1, 1, (o, so)); out.append(f"{x}: " + " ".join(f"{v:x}" for v in u64(get(o, 8 * n))))
            say(Q, f"c suld.1d.{t}.zero of a u32 surface at byte", "; ".join(out))
        guarded(Q, f"c suld.1d.{t}", main)
guarded(Q, "c", surfaces)
children(CASES)
