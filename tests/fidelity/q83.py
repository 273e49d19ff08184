from common import *
from texels import *
Q = "q83"
init()
def T(key, fn):
    try: say(Q, key, fn())
    except LoadError as e: say(Q, key, "refused " + str(e).split()[1])
    except Exception as e: say(Q, key, "error " + " ".join(str(e).split())[:150])
def surface(a):
    s = c_uint64(); ok("cuSurfObjectCreate", byref(s), packed("I4xQ", 0, a.value, size=144)); return s.value
def content(a, w, h, d):
    """The bytes of an array whose rows have w bytes."""
    n = w * max(h, 1) * max(d, 1); out = ctypes.create_string_buffer(n)
    ok("cuMemcpy3D_v2", ctypes.create_string_buffer(struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 3, 0, 0, a.value, 0, 0, 0) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 1, ctypes.addressof(out), 0, 0, 0, w, max(h, 1)) + struct.pack("<QQQ", w, max(h, 1), max(d, 1)), 200)); return out.raw
def access(ins, s, words):
    """One thread does `ins` on registers c0.. (32 bits), h0.. (16 bits: their low halves), d0.. (pairs as 64 bits); r0..r3, g0..g3 (16), e0, e1 (64) come back."""
    n = len(words); f = function(load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n.reg .b64 %o, %i, s, e<2>, d<4>; .reg .b32 r<4>, c<12>, %w; .reg .b16 g<4>, h<12>, %z;\nld.param.u64 %o, [p0]; ld.param.u64 %i, [p1]; ld.param.u64 s, [p2];\n" + "".join(f"mov.b32 r{i}, 0; mov.b16 g{i}, 0;\n" for i in range(4)) + "mov.b64 e0, 0; mov.b64 e1, 0;\n" + "".join(f"ld.global.b32 c{j}, [%i+{4 * j}]; mov.b32 {{h{j}, %z}}, c{j};\n" for j in range(n)) + "".join(f"mov.b64 d{j}, {{c{2 * j}, c{2 * j + 1}}};\n" for j in range(n // 2)) + ins + ";\nst.global.v4.b32 [%o], {r0, r1, r2, r3}; st.global.v4.b16 [%o+16], {g0, g1, g2, g3}; st.global.v2.b64 [%o+32], {e0, e1};\nret; }\n").encode()))
    o = alloc(48); launch(f, 1, 1, (o, device(struct.pack(f"<{n}I", *[w & 0xffffffff for w in words])), s)); return get(o, 48)
TRAPS = [("suld.b.a2d.b32.trap {r0}, [s, {c0, c1, c2, c3}]", (3, 0, 0, 0)), ("suld.b.2d.b32.trap {r0}, [s, {c0, c1}]", (16, 0)), ("sust.p.2d.b32.trap [s, {c0, c1}], {c2}", (-1, 0, 5)), ("suld.b.2d.b32.trap {r0}, [s, {c0, c1}]", (2, 0)), ("sust.b.2d.v2.b32.trap [s, {c0, c1}], {c2, c3}", (4, 0, 1, 2)), ("suld.b.2d.b32.trap {r0}, [s, {c0, c1}]", (12, 3)), ("sust.b.1d.b8.trap [s, {c0}], h1", (16, 1))]
if len(sys.argv) > 1:
    i = int(sys.argv[1]); ins, words = TRAPS[i]; lay = "a2d" in ins; one = ".1d." in ins; a = array(4, 0 if one else 4, 3 if lay else 0, U32, 1, struct.pack(f"<{(1 if one else 4) * 4 * (3 if lay else 1)}I", *range((1 if one else 4) * 4 * (3 if lay else 1))), 2 | (1 if lay else 0))
    T(f"c {ins} of 4 x 4 at {words}", lambda: access(ins, surface(a), words)[:4].hex()); os._exit(0)
# a) Stores: the same data by sust.b of every width and by formatted sust.p into arrays of every format; which bytes change. Guess: sust.b writes bytes as they are,
# x in bytes; sust.p takes x in texels and converts 32-bit registers to the format (integers are cut or saturated? floats are rounded), extra channels are dropped.
# Met by image code written for surfaces.
def stores():
    for fmt, ch in ((U8, 1), (U8, 2), (U8, 4), (S8, 4), (U16, 1), (U16, 2), (S16, 4), (U32, 1), (S32, 2), (F16, 2), (F16, 4), (F32, 1), (F32, 4)):
        n = SIZE[fmt] * ch; V = [0x11223344, 0x3f800000, 0x80000001, 0xc7c35000] if fmt not in (F16, F32) else [0x3f801001, 0x477ff000, 0xc0490fdb, 0x00000001]
        for width, regs in (("b32", "{c1}"), ("v2.b32", "{c1, c2}"), ("v4.b32", "{c1, c2, c3, c4}")):
            def main():
                a = array(4, 0, 0, fmt, ch, b"\x5a" * (4 * n), 2); access(f"sust.p.1d.{width}.zero [s, {{c0}}], {regs}", surface(a), (1, *V)); return content(a, 4 * n, 0, 0).hex()
            T(f"a sust.p.{width} into format {fmt} x{ch} at texel 1", main)
    for width, regs in (("b8", "h1"), ("b16", "h1"), ("b32", "c1"), ("b64", "d1"), ("v2.b8", "{h1, h2}"), ("v4.b8", "{h1, h2, h3, h4}"), ("v2.b16", "{h1, h2}"), ("v4.b16", "{h1, h2, h3, h4}"), ("v2.b32", "{c1, c2}"), ("v4.b32", "{c1, c2, c3, c4}"), ("v2.b64", "{d1, d2}")):
        for fmt, ch in ((U8, 1), (U16, 2), (F32, 4)):
            def main():
                n = SIZE[fmt] * ch; a = array(32 // n, 0, 0, fmt, ch, b"\x5a" * 32, 2); access(f"sust.b.1d.{width}.zero [s, {{c0}}], {regs}", surface(a), (16, 0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00, 0x1234)); return content(a, 32, 0, 0)[12:].hex()
            T(f"a sust.b.{width} into format {fmt} x{ch} at byte 16: bytes from 12", main)
guarded(Q, "a", stores)
# b) Loads of every width, boundaries per direction for layers and cubes' faces with clamp and zero, stores that reach over the row's end, surfaces of mip levels, what a texture of the
# same array sees afterwards. Guess: clamp holds each coordinate to the last whole element; layers clamp too; an access that begins inside and reaches out is outside as a whole.
# Met by filters near borders.
def loads():
    D = bytes((7 * i + 1) & 255 for i in range(128)); a = array(8, 4, 0, U32, 1, D, 2); s = surface(a)
    for width, regs, at in (("b8", "g0", 16), ("b16", "g0", 16), ("b32", "r0", 0), ("b64", "e0", 32), ("v2.b16", "{g0, g1}", 16), ("v4.b8", "{g0, g1, g2, g3}", 16), ("v2.b32", "{r0, r1}", 0), ("v4.b32", "{r0, r1, r2, r3}", 0), ("v2.b64", "{e0, e1}", 32)):
        for mode in ("zero", "clamp"):
            T(f"b suld.b.2d.{width}.{mode} at (0, 1), (16, 1), (32, 2), (-16, 5), (16, -1)", lambda: [access(f"suld.b.2d.{width}.{mode} {regs}, [s, {{c0, c1}}]", s, p)[at:at + 16].hex().rstrip("0") or "0" for p in ((0, 1), (16, 1), (32, 2), (-16, 5), (16, -1))])
    lay = array(2, 2, 3, U32, 1, struct.pack("<12I", *range(1, 13)), 3); cube = array(2, 2, 6, U32, 1, struct.pack("<24I", *range(1, 25)), 6)
    for mode in ("zero", "clamp"):
        T(f"b layers -1, 0, 2, 3, 1000 with {mode}", lambda: [u32(access(f"suld.b.a2d.b32.{mode} {{r0}}, [s, {{c0, c1, c2, c3}}]", surface(lay), (l, 4, 1, 0))[:4])[0] for l in (-1, 0, 2, 3, 1000)])
        T(f"b faces of a cube as layers 0, 5, 6 with {mode}", lambda: [u32(access(f"suld.b.a2d.b32.{mode} {{r0}}, [s, {{c0, c1, c2, c3}}]", surface(cube), (l, 4, 1, 0))[:4])[0] for l in (0, 5, 6)])
        for y in (-1, 4):
            def main():
                b = array(4, 4, 0, U32, 1, bytes(64), 2); access(f"sust.b.2d.v2.b32.{mode} [s, {{c0, c1}}], {{c2, c3}}", surface(b), (8, y, 0xaa, 0xbb)); return [i for i, v in enumerate(u32(content(b, 16, 4, 0))) if v]
            T(f"b sust.b.2d.v2 at byte 8, row {y} with {mode}: words changed", main)
        for x in (-16, 16, 2**31 - 16):
            def main():
                b = array(4, 4, 0, U32, 1, bytes(64), 2); access(f"sust.b.2d.v2.b32.{mode} [s, {{c0, c1}}], {{c2, c3}}", surface(b), (x, 1, 0xaa, 0xbb)); return [(i, v) for i, v in enumerate(u32(content(b, 16, 4, 0))) if v]
            T(f"b sust.b.2d.v2 at byte {x} with {mode}: words changed", main)
        T(f"b sust.p.2d beyond x with {mode}: words changed", lambda: (lambda b: (access(f"sust.p.2d.b32.{mode} [s, {{c0, c1}}], {{c2}}", surface(b), (9, 2, 0xaa)), [(i, v) for i, v in enumerate(u32(content(b, 16, 4, 0))) if v])[1])(array(4, 4, 0, U32, 1, bytes(64), 2)))
    m = make("cuMipmappedArrayCreate", packed("QQQIII4x", 4, 4, 0, F32, 1, 2), 3)
    for l in range(3): v = c_void_p(); ok("cuMipmappedArrayGetLevel", byref(v), m, l); w = 4 >> l; fill(v, 4 * w, w, 0, struct.pack(f"<{w * w}f", *range(w * w))); access("sust.p.2d.b32.zero [s, {c0, c1}], {c2}", surface(v), (0, 0, bits(100.0 + l)))
    T("b levels' first texel after stores by their surfaces, seen by tex.level", lambda: " ".join(f"{x[0]:08x}" for x in sample("tex.level.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}], c2", texture(m, flags=2, mip=(0, 0.0, 0.0, 2.0)), [(0.1, 0.1, float(i)) for i in range(3)])))
    T("b one thread's store, then its texture load in the same kernel, then the next kernel's", lambda: (lambda b: (lambda t: [access("sust.b.2d.b32.zero [s, {c0, c1}], {c2}", surface(b), (0, 0, bits(5.0)))[:0].hex(), f"{sample('tex.2d.v4.f32.s32 {r0, r1, r2, r3}, [t, {c0, c1}]', t, [(0, 0)])[0][0]:08x}"])(texture(b)))(array(4, 4, 0, F32, 1, bytes(64), 2)))
guarded(Q, "b", loads)
# c) Queries of textures and surfaces of each shape (txq, suq), and traps in processes of their own. Guess: layered depth query gives layers (array_size), cube gives 6 layers or 1; suq in texels; a
# trap ends the context with ILLEGAL_ADDRESS or LAUNCH_FAILED. Met by generic kernels.
def queries():
    SH = {"1D": array(5, 0, 0, U16, 2, bytes(20), 2), "2D": array(5, 3, 0, U8, 4, bytes(60), 2), "3D": array(5, 3, 2, F32, 1, bytes(120), 2), "2D layered": array(5, 3, 2, F32, 1, bytes(120), 3), "cube": array(4, 4, 6, F32, 2, bytes(768), 6)}
    for k, a in SH.items():
        for q in ("width", "height", "depth", "channel_data_type", "channel_order"): T(f"c txq.{q} of {k}", lambda: u32(access(f"txq.{q}.b32 r0, [s]", texture(a), (0,))[:4])[0])
        for q in ("width", "height", "depth", "array_size", "memory_layout", "channel_data_type", "channel_order"): T(f"c suq.{q} of {k}", lambda: u32(access(f"suq.{q}.b32 r0, [s]", surface(a), (0,))[:4])[0])
    mt = texture(mipmapped(8, 4, 3), flags=2, mip=(0, 0.0, 0.0, 2.0))
    for q in ("num_mipmap_levels", "array_size", "num_samples"): T(f"c txq.{q} of a mipmapped 8 x 4 with 3 levels", lambda: u32(access(f"txq.{q}.b32 r0, [s]", mt, (0,))[:4])[0])
    for l in (0, 1, 2): T(f"c txq.level width, height of level {l}", lambda: [u32(access(f"txq.level.{q}.b32 r0, [s], c0", mt, (l,))[:4])[0] for q in ("width", "height")])
    for q in ("normalized_coords", "filter_mode", "addr_mode_0", "force_unnormalized_coords"): T(f"c txq.{q}", lambda: u32(access(f"txq.{q}.b32 r0, [s]", mt, (0,))[:4])[0])
guarded(Q, "c", queries)
children([(i,) for i in range(len(TRAPS))])
