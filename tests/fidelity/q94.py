from common import *
from texels import *
Q = "q94"
init()
def T(key, fn):
    try: say(Q, key, fn())
    except LoadError as e: say(Q, key, "refused " + str(e).split()[1])
    except Exception as e: say(Q, key, "error " + " ".join(str(e).split())[:150])
firsts = lambda rows: " ".join(f"{x[0]:08x}" for x in rows)
alls = lambda rows: " ".join(h8(x) for x in rows)
V = "{r0, r1, r2, r3}"
INF, NAN = float("inf"), float("nan")
MODES = {0: "wrap", 1: "clamp", 2: "mirror", 3: "border"}
# a) Levels of detail in other shapes than 2D: layered 1D and 2D, cube, layered cube and 3D mipmapped arrays, by tex.level (tex.base where none), point and linear between levels, layers and levels out of range, clamps, and gradients of 1D, 3D and layered textures.
# Guess: layers clamp and are rounded to nearest for none (they are integers), all faces share a level, the depth of a 3D array halves with its level, a layer count does not; linear in levels mixes two levels of one layer.
# Met by shadow and reflection maps, texture atlases and volumes with levels.
def volume_levels(w, h, d, n):
    m = make("cuMipmappedArrayCreate", packed("QQQIII4x", w, h, d, F32, 1, 0), n)
    for l in range(n):
        a, x, y, z = c_void_p(), max(1, w >> l), max(1, h >> l), max(1, d >> l); ok("cuMipmappedArrayGetLevel", byref(a), m, l)
        fill(a, 4 * x, y, z, struct.pack(f"<{x * y * z}f", *[100 * l + (k * y + j) * x + i for k in range(z) for j in range(y) for i in range(x)]))
    return m
def levels():
    lod = [-1.0, 0.0, 0.49, 0.5, 1.0, 1.25, 2.0, 2.75, 9.0]
    lay2, lay1, cube, acube, vol = mipmapped(8, 4, 4, 1, 3), mipmapped(8, 0, 4, 1, 3), mipmapped(4, 4, 3, 4, 6), mipmapped(4, 4, 3, 5, 12), volume_levels(8, 4, 4, 3)
    for mf in (0, 1):
        for filt in (0, 1):
            t = lambda m: texture(m, filt=filt, flags=2, mip=(mf, 0.0, 0.0, 9.0)); k = f"levels {'linear' if mf else 'point'} filter {filt}"
            T(f"a 2D layer 1, {k}", lambda: firsts(sample(f"tex.level.a2d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}], c3", t(lay2), [(1, 0.3, 0.6, x) for x in lod])))
            T(f"a 1D layer 2, {k}", lambda: firsts(sample(f"tex.level.a1d.v4.f32.f32 {V}, [t, {{c0, c1}}], c2", t(lay1), [(2, 0.4, x) for x in lod])))
            T(f"a cube -z, {k}", lambda: firsts(sample(f"tex.level.cube.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}], c3", t(cube), [(0.2, -0.3, -0.9, x) for x in lod])))
            T(f"a layered cube 1 +y, {k}", lambda: firsts(sample(f"tex.level.acube.v4.f32.f32 {V}, [t, {{c0, c1, c2, c3}}], c4", t(acube), [(1, 0.1, 0.8, -0.2, x) for x in lod])))
            T(f"a 3D, {k}", lambda: firsts(sample(f"tex.level.3d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}], c3", t(vol), [(0.3, 0.6, 0.7, x) for x in lod])))
    T("a layers -1, 0, 2, 3, 1000 at level 1", lambda: firsts(sample(f"tex.level.a2d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}], c3", texture(lay2, flags=2, mip=(0, 0.0, 0.0, 9.0)), [(i & 0xffffffff, 0.3, 0.6, 1.0) for i in (-1, 0, 2, 3, 1000)])))
    T("a cube layers 0, 1, 2, 50 at level 1", lambda: firsts(sample(f"tex.level.acube.v4.f32.f32 {V}, [t, {{c0, c1, c2, c3}}], c4", texture(acube, flags=2, mip=(0, 0.0, 0.0, 9.0)), [(i, 0.1, 0.8, -0.2, 1.0) for i in (0, 1, 2, 50)])))
    for mode in MODES: T(f"a 2D layer 1, {MODES[mode]}, levels 0, 1, 1.5 outside", lambda: firsts(sample(f"tex.level.a2d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}], c3", texture(lay2, (mode, mode, mode), 1, 2, (1, 0.0, 0.0, 9.0)), [(1, x, 0.55, l) for x in (-0.1, 1.05, 2.3) for l in (0.0, 1.0, 1.5)])))
    for name, g, m in (("1D layered", f"tex.grad.a1d.v4.f32.f32 {V}, [t, {{c0, c1}}], {{c2}}, {{c3}}", lay1), ("2D layered", f"tex.grad.a2d.v4.f32.f32 {V}, [t, {{c0, c1, c1, c1}}], {{c2, c3}}, {{c3, c2}}", lay2), ("3D", f"tex.grad.3d.v4.f32.f32 {V}, [t, {{c1, c1, c1, c1}}], {{c2, c3, c3, c3}}, {{c3, c2, c3, c3}}", vol)):
        T(f"a gradients of {name}: 0, 1/8, 1/4, 1/2, 1", lambda: firsts(sample(g, texture(m, flags=2, mip=(0, 0.0, 0.0, 9.0)), [(1, 0.3, x, 0.0) for x in (0.0, 0.125, 0.25, 0.5, 1.0)])))
guarded(Q, "a", levels)
# b) Newer formats of arrays as textures: UNORM and SNORM of 8 and 16 bits with 1, 2, 4 channels, 10:10:10:2, block compressed BC1 to BC7, each by point and linear filter, as float and as integer, with sRGB; also half and integer formats through layered and cube arrays.
# Guess: UNORM reads 0..1 whatever the flags; SNORM's -128 gives -1; BC1 with c0 <= c1 has black transparent; BC4 interpolates by 8 bits; reading integers of them gives the float's bits. Met by game assets and video.
def new_array(w, h, fmt, ch, data, row, rows, d=0, flags=0):
    a = make("cuArray3DCreate_v2", packed("QQQIII4x", w, h, d, fmt, ch, flags)); return fill(a, row, rows, d, data)
def formats():
    for name, base, size, values in (("UNORM8", 0xc0, 1, (0, 1, 127, 128, 254, 255, 51, 204)), ("UNORM16", 0xc3, 2, (0, 1, 32767, 32768, 65534, 65535, 13107, 256)), ("SNORM8", 0xc6, 1, (0, 1, 127, 128, 129, 255, 64, 192)), ("SNORM16", 0xc9, 2, (0, 1, 32767, 32768, 32769, 65535, 16384, 49152))):
        for i, ch in enumerate((1, 2, 4)):
            data = struct.pack(f"<{8}{'B' if size == 1 else 'H'}", *values); w = 8 // ch
            for flags in (0, 1): T(f"b {name}x{ch} flags {flags}: texels", lambda: alls(sample(f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(w, 1, base + i, ch, data, 8 * size, 1), flags=flags), [(j + 0.5, 0.5) for j in range(min(w, 3))])))
            if ch == 1: T(f"b {name}x1 linear", lambda: firsts(sample(f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(w, 1, base + i, ch, data, 8 * size, 1), filt=1), [(x, 0.5) for x in (0.5, 1.0, 1.25, 3.5, 4.3, 5.0, 7.9)]))); T(f"b {name}x1 as u32", lambda: firsts(sample(f"tex.2d.v4.u32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(w, 1, base + i, ch, data, 8 * size, 1)), [(j + 0.5, 0.5) for j in range(8)])))
    T("b UNORM8x4 sRGB", lambda: alls(sample(f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(2, 1, 0xc2, 4, bytes((0, 1, 127, 128, 254, 255, 51, 204)), 8, 1), flags=0x10), [(0.5, 0.5), (1.5, 0.5)])))
    T("b 10:10:10:2", lambda: alls(sample(f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(4, 1, 0x50, 4, struct.pack("<4I", 0, 0xffffffff, 1 | 512 << 10 | 1023 << 20 | 1 << 30, 0x80200802), 16, 1)), [(j + 0.5, 0.5) for j in range(4)])))
    blk8 = struct.pack("<HHI", 0xf81f, 0x07e0, 0x1be4e41b); low8 = struct.pack("<HHI", 0x07e0, 0xf81f, 0x1be4e41b); a8 = bytes((200, 40)) + (0x053977fac688 & 2**48 - 1).to_bytes(6, "little"); s8 = bytes((100, 200)) + (0x053977fac688 & 2**48 - 1).to_bytes(6, "little")
    for name, fmt, ch, blk in (("BC1 opaque", 0x91, 4, blk8), ("BC1 with transparency", 0x91, 4, low8), ("BC1 sRGB", 0x92, 4, blk8), ("BC2", 0x93, 4, bytes(range(0x10, 0x18)) + blk8), ("BC3", 0x95, 4, a8 + blk8), ("BC4", 0x97, 1, a8), ("BC4 signed", 0x98, 1, s8), ("BC5", 0x99, 2, a8 + a8[::-1][:2] + a8[2:]), ("BC7", 0x9d, 4, bytes((0x40,)) + bytes((i * 29 + 7) & 255 for i in range(15)))):
        for filt in (1,): T(f"b {name} filter {filt}", lambda: alls(sample(f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]", texture(new_array(4, 4, fmt, ch, blk, len(blk), 1), filt=filt), [(0.5, 0.5), (1.75, 0.5), (2.5, 1.5), (3.5, 2.75)])))
    for fmt, name, code, vals in ((F16, "f16", "e", (0.1, -2.0, 65504.0, 6e-8)), (S16, "s16", "h", (-32768, -1, 1, 32767)), (U8, "u8", "B", (0, 1, 128, 255))):
        a = array(2, 2, 6, fmt, 2, struct.pack("<48" + code, *[vals[(i * 7 + i // 8) % 4] for i in range(48)]), 4); b = array(2, 2, 3, fmt, 2, struct.pack("<24" + code, *[vals[(i * 5 + 1) % 4] for i in range(24)]), 1)
        for filt in (0, 1):
            T(f"b cube of {name}x2 filter {filt}: six directions", lambda: " ".join(h8(x[:2]) for x in sample(f"tex.cube.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}]", texture(a, filt=filt, flags=2), [(1.0, 0.3, 0.2), (-1.0, 0.3, 0.2), (0.2, 1.0, 0.3), (0.2, -1.0, 0.3), (0.2, 0.3, 1.0), (0.2, 0.3, -1.0)])))
            T(f"b layers of {name}x2 filter {filt}, mirror: layers 0, 2", lambda: " ".join(h8(x[:2]) for x in sample(f"tex.a2d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}]", texture(b, (2, 2, 2), filt, 2), [(0, -0.2, 0.6), (2, 1.3, 1.9), (2, 0.5, 0.5)])))
guarded(Q, "b", formats)
# c) What is written by surfaces and read by textures, and the reverse: levels of mipmapped arrays as surfaces, layers and cube faces, 3D; b stores of other widths than the texel, v2 and v4, coordinates in bytes; reads in a later launch through normalised and sRGB textures; copies of
# parts of arrays (array to array, to pitched memory) between. Guess: the x of sust.b is in bytes, a store of 4 bytes into u8x4 sets one texel; cube faces count as layers 6 n + f; a texture sees it in the next launch. Met by filters that write images and by mipmap builders.
def run_surface(ins, s, args, regs=""):
    """`ins` by a thread for each tuple of words c0..; what r0..r3 hold."""
    n = len(args[0]); key = ("surface", ins, n)
    if key not in KERNELS: KERNELS[key] = function(load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n.reg .b64 %o, %i, t, d<4>; .reg .b16 h<4>; .reg .b32 %t, r<4>, c<16>;\nmov.u32 %t, %tid.x; ld.param.u64 %o, [p0]; ld.param.u64 %i, [p1]; ld.param.u64 t, [p2]; mov.u32 r0, 0; mov.u32 r1, 0; mov.u32 r2, 0; mov.u32 r3, 0;\n" + f"mad.wide.u32 %o, %t, 16, %o; mad.wide.u32 %i, %t, {4 * n}, %i;\n" + "".join(f"ld.global.b32 c{j}, [%i+{4 * j}];\n" for j in range(n)) + ins + f";\nst.global.v4.b32 [%o], {V};\nret; }}\n").encode()))
    o = alloc(16 * len(args)); launch(KERNELS[key], 1, len(args), (o, device(b"".join(struct.pack("<I", x & 0xffffffff) for c in args for x in c)), s)); r = u32(get(o, 16 * len(args))); return [r[4 * i:4 * i + 4] for i in range(len(args))]
def surface(a): s = c_uint64(); ok("cuSurfObjectCreate", byref(s), packed("I4xQ", 0, a.value, size=144)); return s.value
def surfaces():
    S = 2 # CUDA_ARRAY3D_SURFACE_LDST
    a = array(4, 2, 0, U8, 4, bytes(range(32)), S); s = surface(a); t1 = f"tex.2d.v4.f32.f32 {V}, [t, {{c0, c1}}]"; centres = [(x + 0.5, y + 0.5) for y in range(2) for x in range(4)]
    T("c b32 store at byte 4 of row 0, read by texture normalised", lambda: (run_surface("sust.b.2d.b32.trap [t, {c0, c1}], {c2}", s, [(4, 0, 0xff8040c0)]), alls(sample(t1, texture(a), centres[:3])))[1])
    T("c b8, b16, b64 stores at bytes 0, 6, 8 of row 1, read as b32", lambda: (run_surface("cvt.u16.u32 h0, c2; sust.b.2d.b8.trap [t, {c0, c1}], {h0}", s, [(0, 1, 0xab)]), run_surface("cvt.u16.u32 h0, c2; sust.b.2d.b16.trap [t, {c0, c1}], {h0}", s, [(6, 1, 0xbeef)]), run_surface("mov.b64 d0, {c2, c3}; sust.b.2d.b64.trap [t, {c0, c1}], {d0}", s, [(8, 1, 0x11223344, 0x55667788)]), firsts(run_surface("suld.b.2d.b32.trap {r0}, [t, {c0, c1}]", s, [(4 * i, 1) for i in range(4)])))[3])
    T("c v2.b32 and v4.b16 loads at 0, 8", lambda: [alls(run_surface("suld.b.2d.v2.b32.trap {r0, r1}, [t, {c0, c1}]", s, [(0, 0), (8, 1)])), alls(run_surface("suld.b.2d.v4.b16.trap {h0, h1, h2, h3}, [t, {c0, c1}]; mov.b32 r0, {h0, h1}; mov.b32 r1, {h2, h3}", s, [(0, 0), (8, 1)]))])
    T("c the same array by sRGB texture and by integers", lambda: [alls(sample(t1, texture(a, flags=0x10), centres[:2])), alls(sample(f"tex.2d.v4.u32.s32 {V}, [t, {{c0, c1}}]", texture(a, flags=1), [(1, 0), (2, 1)]))])
    m = make("cuMipmappedArrayCreate", packed("QQQIII4x", 8, 8, 0, F32, 1, S), 3)
    def levels():
        for l in range(3): h = c_void_p(); ok("cuMipmappedArrayGetLevel", byref(h), m, l); n = 8 >> l; run_surface("sust.b.2d.b32.trap [t, {c0, c1}], {c2}", surface(h), [(4 * i, j, bits(100 * l + 10 * j + i)) for j in range(n) for i in range(n)])
        return firsts(sample(f"tex.level.2d.v4.f32.f32 {V}, [t, {{c0, c1}}], c2", texture(m, filt=1, flags=2, mip=(1, 0.0, 0.0, 2.0)), [(0.3, 0.6, x) for x in (0.0, 0.5, 1.0, 1.75, 2.0)]))
    T("c levels 0 to 2 written as surfaces, read linear", levels)
    for name, flags, d, geom in (("layers", 1 | S, 3, "a2d"), ("cube faces", 4 | S, 6, "a2d")):
        def main():
            b = array(2, 2, d, U32, 1, bytes(16 * d), flags); q = surface(b); run_surface(f"sust.b.{geom}.b32.trap [t, {{c0, c1, c2, c2}}], {{c3}}", q, [(f, 4 * x, y, 100 * f + 10 * y + x + 1) for f in range(d) for y in range(2) for x in range(2)])
            out = [compact([r[0] for r in run_surface(f"suld.b.{geom}.b32.trap {{r0}}, [t, {{c0, c1, c2, c2}}]", q, [(f, 4, 1) for f in range(d)])])]
            out.append(firsts(sample(f"tex.a2d.v4.u32.s32 {V}, [t, {{c0, c1, c2, c2}}]", texture(b, flags=1), [(f, 0, 1) for f in range(d)]) if d == 3 else sample(f"tex.cube.v4.u32.f32 {V}, [t, {{c0, c1, c2, c2}}]", texture(b, flags=3), [(1.0, 0.5, 0.5), (-1.0, 0.5, 0.5), (0.5, 1.0, 0.5), (0.5, -1.0, 0.5), (0.5, 0.5, 1.0), (0.5, 0.5, -1.0)]))); return out
        T(f"c {name} written, read by surface, by texture", main)
    def volume():
        b = array(4, 2, 3, S16, 2, bytes(96), S); q = surface(b); run_surface("sust.b.3d.b32.trap [t, {c0, c1, c2, c2}], {c3}", q, [(4 * x, y, z, (z * 100 + y * 10 + x) | (-x - 1) << 16) for z in range(3) for y in range(2) for x in range(4)])
        out = ctypes.create_string_buffer(64); ok("cuMemcpyAtoH_v2", out, array(4, 1, 0, S16, 2, bytes(16)), 0, 16)
        return [alls(sample(f"tex.3d.v4.s32.s32 {V}, [t, {{c0, c1, c2, c2}}]", texture(b, flags=1), [(3, 1, 2), (0, 0, 0), (4, 1, 1), (-1 & 0xffffffff, 0, 1)])), firsts(sample(f"tex.3d.v4.f32.f32 {V}, [t, {{c0, c1, c2, c2}}]", texture(b, filt=1), [(1.5, 1.0, 2.0), (2.2, 0.5, 0.5)]))]
    T("c 3D of s16x2 written, read as integers and linear", volume)
    def copied():
        c = array(4, 4, 0, F32, 1, bytes(64)); d = alloc(1024); src = array(4, 4, 0, F32, 1, struct.pack("<16f", *range(16)))
        P = lambda sk, sa, sx, sy, dk, da, dx, dy, w, h, dp=0: packed("QQI4xQQQQ", sx, sy, sk, 0, 0, sa if sk == 3 else 0, 0) .raw + packed("QQI4xQQQQQQ", dx, dy, dk, 0, da if dk == 2 else 0, da if dk == 3 else 0, dp, w, h).raw
        out = [err(cu("cuMemcpy2D_v2", ctypes.create_string_buffer(P(3, src.value, 4, 1, 3, c.value, 8, 2, 8, 2), 160))), err(cu("cuMemcpy2D_v2", ctypes.create_string_buffer(P(3, src.value, 0, 1, 2, d, 4, 1, 12, 3, 32), 160)))]
        return out + [firsts(sample(t1, texture(c), [(x + 0.5, y + 0.5) for y in (2, 3) for x in range(4)])), [struct.unpack("<32f", get(d, 128))[i] for i in (9, 10, 11, 17, 25, 27, 28)]]
    T("c array to array, array to pitched memory", copied)
    for ins, name in (("sust.p.2d.b32.trap [t, {c0, c1}], {c2}", "one word"), ("sust.p.2d.v4.b32.trap [t, {c0, c1}], {c2, c3, c4, c5}", "four words")):
        for fmt, ch, w in ((U8, 4, 4), (F16, 4, 8), (S16, 1, 2)): T(f"c formatted store of {name} into format {fmt} x{ch}", lambda: (lambda b: (run_surface(ins, surface(b), [(1, 0, bits(0.5), bits(-1.0), bits(2.0), bits(300.7)), (0, 0, 70000, 5, 0x80000000, 0x7f800000)]), alls(sample(f"tex.2d.v4.u32.s32 {V}, [t, {{c0, c1}}]", texture(b, flags=1), [(0, 0), (1, 0)])))[1])(array(2, 1, 0, fmt, ch, bytes(2 * w), S)))
guarded(Q, "c", surfaces)
