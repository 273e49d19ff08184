from common import *
from texels import *
Q = "q81"
init()
def T(key, fn):
    try: say(Q, key, fn())
    except LoadError as e: say(Q, key, "refused " + str(e).split()[1])
    except Exception as e: say(Q, key, "error " + " ".join(str(e).split())[:150])
firsts = lambda rows: " ".join(f"{x[0]:08x}" for x in rows)
INF, NAN = float("inf"), float("nan")
# a) tex.level on a mipmapped array of 8 x 8 with 4 levels: how the level is rounded by the point filter, its fraction in the linear one, levels outside, NaN, bias
# and clamps with each, with tex (no level), with mip level sizes that aren't squares. Guess: point rounds half down or up at .5, fraction has 8 bits, bias is
# added also for tex.level, clamps come after the bias, NaN is level 0. Met by texture streaming and ray tracers with cones.
LODS = [-INF, -1.0, -0.0, 0.001953125, 0.00390625, 0.25, 0.498046875, 0.5, 0.50390625, 0.75, 0.998046875, 1.0, 1.5, 2.5, 2.999, 3.0, 3.5, 100.0, INF, NAN]
def levels():
    m = mipmapped(8, 8, 4); L = "tex.level.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}], c2"
    for mf, name in ((0, "point"), (1, "linear")):
        for filt in (0, 1):
            for bias, lo, hi in ((0.0, 0.0, 3.0), (0.5, 0.0, 3.0), (-1.0, 0.0, 3.0), (0.25, 0.5, 1.75), (0.0, 2.0, 2.0), (0.0, -1.0, 100.0), (16.0, 0.0, 3.0), (0.0, 0.3, 0.30078125)):
                T(f"a {name} of levels, filter {filt}, bias {bias}, clamp {lo}..{hi}", lambda: firsts(sample(L, texture(m, filt=filt, flags=2, mip=(mf, bias, lo, hi)), [(0.40625, 0.65625, x) for x in LODS])))
        T(f"a {name}: tex without a level, clamps 0..3, 1.5..3, bias 2", lambda: [firsts(sample("tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}]", texture(m, flags=2, mip=(mf, b, lo, 3.0)), [(0.4, 0.65), (0.9, 0.1)])) for b, lo in ((0.0, 0.0), (0.0, 1.5), (2.0, 0.0))])
    for w, h, n in ((8, 2, 4), (5, 3, 3), (1, 8, 4), (7, 7, 3)):
        m2 = mipmapped(w, h, n); T(f"a {w} x {h}: levels' texels at 0.3, 0.6", lambda: firsts(sample(L, texture(m2, flags=2, mip=(0, 0.0, 0.0, 9.0)), [(0.3, 0.6, float(i)) for i in range(n + 1)])))
        T(f"a {w} x {h}: linear in both at 0.3, 0.6", lambda: firsts(sample(L, texture(m2, filt=1, flags=2, mip=(1, 0.0, 0.0, 9.0)), [(0.3, 0.6, i / 4) for i in range(4 * n)])))
    m3 = mipmapped(8, 0, 4); T("a 1D, levels 0..3, linear", lambda: firsts(sample("tex.level.1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0}], c1", texture(m3, filt=1, flags=2, mip=(1, 0.0, 0.0, 3.0)), [(0.4, i / 3) for i in range(10)])))
    T("a array that isn't mipmapped: levels -1, 0, 1, 5", lambda: firsts(sample(L, texture(array(4, 4, 0, F32, 1, struct.pack("<16f", *range(16))), flags=2), [(0.4, 0.6, x) for x in (-1.0, 0.0, 1.0, 5.0)])))
guarded(Q, "a", levels)
# b) tex.grad: which level a gradient gives (the longer axis?), zero and infinite gradients, the anisotropic filter's choice, gradients in unscaled texels. Guess:
# level is log2 of the longer gradient in texels, computed roughly (8 fraction bits); zero gives level 0; anisotropy takes the shorter axis within the ratio.
# Met by renderers which compute derivatives themselves.
def gradients():
    m = mipmapped(64, 64, 7); G = "tex.grad.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}], {c2, c3}, {c4, c5}"; S = 1 / 64
    cases = {"zero": (0.0, 0.0, 0.0, 0.0), "one texel x": (S, 0.0, 0.0, 0.0), "one texel each": (S, 0.0, 0.0, S), "two texels y": (0.0, 0.0, 0.0, 2 * S), "4 and 1": (4 * S, 0.0, 0.0, S), "1 and 4": (S, 0.0, 0.0, 4 * S), "-4": (-4 * S, 0.0, 0.0, 0.0), "3": (3 * S, 0.0, 0.0, 0.0), "1.5": (1.5 * S, 0.0, 0.0, 1.5 * S), "diagonal 2, 2": (2 * S, 2 * S, 0.0, 0.0), "shear": (2 * S, S, S, 2 * S), "half": (S / 2, 0.0, 0.0, S / 2), "64": (1.0, 0.0, 0.0, 1.0), "1000": (1000.0, 0.0, 0.0, 0.0), "infinite": (INF, 0.0, 0.0, 0.0), "NaN": (NAN, 0.0, 0.0, 0.0), "16 and 1": (16 * S, 0.0, 0.0, S)}
    for mf in (0, 1):
        t = texture(m, flags=2, mip=(mf, 0.0, 0.0, 6.0)); T(f"b levels {'linear' if mf else 'point'}: " + ", ".join(cases), lambda: firsts(sample(G, t, [(0.01, 0.01, *c) for c in cases.values()])))
    for k in ("one texel each", "3", "1.5", "diagonal 2, 2", "shear"): T(f"b linear in levels and texels: {k}", lambda: [firsts(sample(G, texture(m, filt=1, flags=2, mip=(1, b, 0.0, 6.0)), [(0.5, 0.5, *cases[k]), (0.37, 0.61, *cases[k])])) for b in (0.0, 0.5)])
    for an in (1, 2, 16): T(f"b anisotropy {an}, point: 4 and 1, 1 and 4, 16 and 1", lambda: firsts(sample(G, texture(m, flags=2, mip=(0, 0.0, 0.0, 6.0), aniso=an), [(0.01, 0.01, *cases[k]) for k in ("4 and 1", "1 and 4", "16 and 1")])))
    for k in range(8): T(f"b level of a gradient of {1 + k / 8} texels", lambda: firsts(sample(G, texture(m, flags=2, mip=(1, 0.0, 0.0, 6.0)), [(0.01, 0.01, (1 + k / 8) * S, 0.0, 0.0, 0.0)])))
guarded(Q, "b", gradients)
# c) Resource views: the same bits as another format, ranges of levels and of layers. Guess: a view of other channel count is refused, else bits are reinterpreted and
# normalised by the view's format; a view of levels 1..2 counts from its first; layers too, and clamp within the range. Met by code which shares one array.
def views():
    bits4 = bytes([0, 127, 128, 255, 1, 2, 254, 129]); words = struct.pack("<4I", 0x3f800000, 0x80000000, 0x00007e00, 0xff7f3f01)
    for key, a, fmts in (("u8x4", array(2, 1, 0, U8, 4, bits4), (3, 6, 0x0d, 2, 9)), ("s8x4", array(2, 1, 0, S8, 4, bits4), (3, 6)), ("u16x2", array(2, 1, 0, U16, 2, bits4), (8, 0xb, 0x14, 7, 3)), ("u32", array(4, 1, 0, U32, 1, words), (0xd, 0x10, 0x16, 3, 0x14)), ("f32", array(4, 1, 0, F32, 1, words), (0xd, 0x10, 0x16)), ("s16x4", array(1, 1, 0, S16, 4, bits4), (9, 0xc, 0x15, 0xe))):
        w = {"u32": 4, "f32": 4, "s16x4": 1}.get(key, 2)
        for f in fmts:
            for flags in (0, 1): T(f"c {key} viewed as {f:#x}, flags {flags}", lambda: " ".join(h8(x) for x in sample("tex.2d.v4.u32.s32 {r0, r1, r2, r3}, [t, {c0, c1}]", texture(a, flags=flags, view=(f, w, 1, 0, 0, 0, 0, 0)), [(i, 0) for i in range(w)])))
    m = mipmapped(8, 8, 4); L = "tex.level.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {c0, c1}], c2"
    for l0, l1, w in ((0, 3, 8), (1, 2, 4), (2, 2, 2), (1, 3, 8), (1, 2, 8)): T(f"c levels {l0}..{l1} as {w} x {w}: levels 0..3 of the view", lambda: firsts(sample(L, texture(m, flags=2, mip=(0, 0.0, 0.0, 9.0), view=(0x16, w, w, 0, l0, l1, 0, 0)), [(0.4, 0.6, float(i)) for i in range(4)])))
    lay = array(2, 2, 4, F32, 1, struct.pack("<16f", *range(16)), 1); A = "tex.a2d.v4.f32.s32 {r0, r1, r2, r3}, [t, {c0, c1, c2, c3}]"
    for y0, y1, d in ((0, 3, 4), (1, 2, 2), (2, 2, 1), (3, 3, 1), (1, 2, 4), (2, 1, 2)): T(f"c layers {y0}..{y1}, depth {d}: layers 0..3 of the view", lambda: firsts(sample(A, texture(lay, view=(0x16, 2, 2, d, 0, 0, y0, y1)), [(i, 1, 0, 0) for i in range(4)])))
guarded(Q, "c", views)
