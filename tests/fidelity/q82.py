from common import *
from texels import *
Q = "q82"
init()
def T(key, fn):
    try: say(Q, key, fn())
    except LoadError as e: say(Q, key, "refused " + str(e).split()[1])
    except Exception as e: say(Q, key, "error " + " ".join(str(e).split())[:150])
firsts = lambda rows: " ".join(f"{x[0]:08x}" for x in rows)
INF, NAN = float("inf"), float("nan")
MODES = {0: "wrap", 1: "clamp", 2: "mirror", 3: "border"}
def memory(kind, *fields, modes=(1, 1, 1), filt=0, flags=0, border=(0, 0, 0, 0)):
    t = c_uint64(); td = packed("3IIIIIfff4f", *modes, filt, flags, 0, 0, 0.0, 0.0, 0.0, *border, size=104); r = cu("cuTexObjectCreate", byref(t), packed("I4xQIIQ" if kind == 2 else "I4xQIIQQQ", kind, *fields, size=144), td, None)
    if r: raise RuntimeError("cuTexObjectCreate " + err(r))
    return t.value
# a) Pitched linear memory as a 2D texture: address modes, filters, normalised or not, a pitch larger than the row, bytes behind the row and below the last; every
# format's texels at the corner; a height of 1. Guess: as arrays, padding is never read; wrap and mirror act only on normalised coordinates, else as clamp;
# border gives the border colour. Met by OpenCV-like code.
def pitched():
    W, H, P = 5, 3, 64; rows = b"".join(struct.pack("<5f", *[10 * y + x + 1 for x in range(W)]).ljust(P, b"\x42") for y in range(H)) + b"\x42" * 512; d = device(rows); X = [-INF, -6.0, -0.75, -0.0, 0.25, 0.5, 1.0, 2.75, 4.5, 4.999, 5.0, 5.5, 9.25, INF, NAN]
    for mode in MODES:
        for flags in (0, 2):
            for filt in (0, 1):
                t = memory(3, d, F32, 1, W, H, P, modes=(mode,) * 3, filt=filt, flags=flags, border=(7.0, 8.0, 9.0, 10.0)); s = 5.0 if flags else 1.0
                T(f"a {MODES[mode]} flags {flags} filter {filt}: x", lambda: firsts(sample("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", t, [(x / s, 0.5 if flags else 1.5) for x in X])))
        T(f"a {MODES[mode]}: y below and above, filter 1, unnormalised", lambda: firsts(sample("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", memory(3, d, F32, 1, W, H, P, modes=(mode,) * 3, filt=1), [(2.5, y) for y in (-1.0, 0.0, 0.25, 2.75, 3.0, 3.25, 10.0)])))
    for fmt, ch in ((U8, 1), (U8, 4), (S8, 2), (U16, 1), (S16, 4), (F16, 1), (F16, 4), (U32, 2), (S32, 1), (F32, 4)):
        n = SIZE[fmt] * ch; e = device(bytes((i * 37 + 200) & 255 if fmt not in (F16, F32) else (0, 0, 0x3c, 0x40)[i & 3] for i in range(2048)))
        T(f"a format {fmt} x{ch}: texels 0 0, 1 0, 0 1", lambda: " ".join(h8(x) for x in sample("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", memory(3, e, fmt, ch, 4, 2, 512), [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5)])))
    T("a height 1: y -1, 0.5, 2", lambda: firsts(sample("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", memory(3, d, F32, 1, W, 1, P), [(2.5, y) for y in (-1.0, 0.5, 2.0)])))
    for c in "rgba": T(f"a gather {c} of pitched u8x4", lambda: " ".join(h8(x) for x in sample(f"tld4.{c}.2d.v4.f32.f32 {{r0, r1, r2, r3}}, [t, {{c0, c1}}]", memory(3, device(bytes(range(1, 129))), U8, 4, 4, 2, 64), [(1.0, 1.0), (2.0, 1.0)])))
guarded(Q, "a", pitched)
# b) Linear memory by tex1Dfetch: a view of a middle part, each format's first texel as float, signed and unsigned, read as integer; sizes that are no multiple of
# a texel; indices by s32 and by f32 coordinates. Guess: size is rounded down to whole texels; outside is 0 with 0 in missing channels too (or 1 in alpha?); the f32 form floors.
# Met by sparse matrices which read x through textures.
def linear():
    for fmt, ch in ((U8, 1), (U8, 2), (S8, 4), (U16, 1), (U16, 4), (S16, 2), (U32, 1), (S32, 4), (F16, 2), (F32, 2)):
        d = device(bytes((i * 91 + 129) & 255 if fmt not in (F16, F32) else (0, 0x80, 0x3c, 0x40)[i & 3] for i in range(1024))); n = SIZE[fmt] * ch
        for flags in (0, 1):
            if flags and fmt in (F16, F32): continue
            T(f"b format {fmt} x{ch} flags {flags}: texels -1, 0, 1, last, behind; as u32", lambda: " ".join(h8(x) for x in sample("tex.1d.v4.u32.s32 {r0, r1, r2, r3}, [t, {c0}]", memory(2, d + 512, fmt, ch, 4 * n, flags=flags), [(i,) for i in (-1, 0, 1, 3, 4)])))
    d = device(struct.pack("<128f", *range(1, 129)))
    for n in (4, 6, 7, 8, 30, 32): T(f"b f32 in {n} bytes: texels 0, 1, 2, 7", lambda: firsts(sample("tex.1d.v4.f32.s32 {r0, r1, r2, r3}, [t, {c0}]", memory(2, d, F32, 1, n), [(i,) for i in (0, 1, 2, 7)])))
    for x, name in ((0.0, "0"), (0.99, "0.99"), (1.0, "1"), (31.5, "31.5"), (32.0, "32"), (-0.5, "-0.5"), (NAN, "NaN"), (INF, "infinite")): T(f"b f32 coordinate {name}", lambda: firsts(sample("tex.1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0}]", memory(2, d, F32, 1, 128), [(x,)])))
    for m in (0, 2, 3): T(f"b mode {MODES[m]} with a border of 5: -1, 0, 32", lambda: " ".join(h8(x) for x in sample("tex.1d.v4.f32.s32 {r0, r1, r2, r3}, [t, {c0}]", memory(2, d, F32, 1, 128, modes=(m,) * 3, border=(5.0, 5.0, 5.0, 5.0)), [(-1,), (0,), (32,)])))
guarded(Q, "b", linear)
# c) Layers and faces out of range, cube edges with both filters, 3D with different modes in each direction, gather with modes and from integer formats, 1D arrays of
# half floats with the linear filter. Guess: layers clamp; cube maps filter across faces; a gather takes the four texels in the order of OpenGL, with the address mode
# for each; f16 is filtered in f32 with 8-bit weights. Met by renderers.
def shapes():
    lay = array(3, 0, 4, F32, 1, struct.pack("<12f", *range(12)), 1); T("c 1D layers -1, 0, 3, 4, 100, 2^31 at 0.5", lambda: firsts(sample("tex.a1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", texture(lay), [(i & 0xffffffff, 0.5) for i in (-1, 0, 3, 4, 100, 2**31)])))
    lay2 = array(2, 2, 3, F32, 1, struct.pack("<12f", *range(12)), 1); T("c 2D layers -1, 0, 2, 3, 2^31 - 1 at 1.5, 0.5", lambda: firsts(sample("tex.a2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1, c2, c3}]", texture(lay2), [(i & 0xffffffff, 1.5, 0.5, 0.0) for i in (-1, 0, 2, 3, 2**31 - 1)])))
    cube = array(2, 2, 6, F32, 1, struct.pack("<24f", *[10 * f + i for f in range(6) for i in range(4)]), 4); D = {"+x": (1.0, 0.1, 0.2), "-x": (-1.0, 0.1, 0.2), "+y": (0.1, 1.0, 0.2), "-y": (0.1, -1.0, 0.2), "+z": (0.1, 0.2, 1.0), "-z": (0.1, 0.2, -1.0), "edge +x+y": (1.0, 1.0, 0.3), "edge +x-z": (1.0, 0.3, -1.0), "corner": (1.0, 1.0, 1.0), "corner -": (-1.0, -1.0, -1.0), "near an edge": (1.0, 0.99, 0.0), "large": (3e38, 1e38, 0.0), "tiny": (1e-40, 0.0, 0.0)}
    for filt in (0, 1):
        for k, v in D.items(): T(f"c cube filter {filt} {k}", lambda: firsts(sample("tex.cube.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1, c2, c3}]", texture(cube, filt=filt, flags=2), [(*v, 0.0)])))
    vol = array(3, 2, 2, F32, 1, struct.pack("<12f", *range(1, 13))); C = [(x, y, z, 0.0) for x, y, z in ((-0.2, 0.3, 0.4), (1.2, 0.3, 0.4), (0.4, -0.3, 0.4), (0.4, 1.4, 0.4), (0.4, 0.3, -0.6), (0.4, 0.3, 1.7), (2.3, 2.3, 2.3))]
    for modes in ((0, 1, 2), (2, 3, 0), (3, 0, 1)):
        for filt in (0, 1): T(f"c 3D modes {modes} filter {filt}", lambda: firsts(sample("tex.3d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1, c2, c3}]", texture(vol, modes, filt, 2), C)))
    for mode in MODES:
        for flags in (0, 2): T(f"c gather g of f32x2, {MODES[mode]} flags {flags}", lambda: "; ".join(h8(x) for x in sample("tld4.g.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", texture(array(4, 4, 0, F32, 2, struct.pack("<32f", *range(32)), 8), (mode,) * 3, 0, flags), [(x / (4 if flags else 1), y / (4 if flags else 1)) for x, y in ((0.0, 0.0), (4.0, 2.0), (1.3, 1.7), (-1.0, 5.0))])))
    for fmt, name in ((U8, "u8"), (S16, "s16"), (U32, "u32")): T(f"c gather r of {name}x4 read as integer", lambda: "; ".join(h8(x) for x in sample(f"tld4.r.2d.v4.{'s' if fmt == S16 else 'u'}32.f32 {{r0, r1, r2, r3}}, [t, {{c0, c1}}]", texture(array(2, 2, 0, fmt, 4, bytes((i * 53 + 7) & 255 for i in range(16 * SIZE[fmt])), 8), flags=1), [(1.0, 1.0), (0.0, 2.0)])))
    half = array(4, 0, 0, F16, 1, struct.pack("<4e", 0.0, 1.0, 65504.0, 6e-8)); T("c f16 with the linear filter at 0.5, 0.75, 1.25, 1.501953125, 2.0, 3.2", lambda: firsts(sample("tex.1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0}]", texture(half, filt=1), [(x,) for x in (0.5, 0.75, 1.25, 1.501953125, 2.0, 3.2)])))
    for fmt, v in ((U8, (0, 255, 128, 1)), (S8, (128, 127, 0, 1)), (U16, (0, 65535, 32768, 1)), (S16, (32768, 32767, 0, 1))): T(f"c format {fmt} with the linear filter, quarter steps", lambda: firsts(sample("tex.1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0}]", texture(array(4, 0, 0, fmt, 1, struct.pack("<4" + ("B" if SIZE[fmt] == 1 else "H"), *v)), filt=1), [(0.5 + i / 4,) for i in range(13)])))
guarded(Q, "c", shapes)
