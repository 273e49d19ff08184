"""What the questions of textures and surfaces (q81 to q83) share."""
from common import *
U8, U16, U32, S8, S16, S32, F16, F32 = 1, 2, 3, 8, 9, 10, 16, 32
SIZE = {1: 1, 2: 2, 3: 4, 8: 1, 9: 2, 10: 4, 16: 2, 32: 4}
def fill(a, w, h, d, data):
    src = ctypes.create_string_buffer(bytes(data), len(data))
    ok("cuMemcpy3D_v2", ctypes.create_string_buffer(struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 1, ctypes.addressof(src), 0, 0, 0, w, max(h, 1)) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 3, 0, 0, a.value, 0, 0, 0) + struct.pack("<QQQ", w, max(h, 1), max(d, 1)), 200)); return a
def array(w, h, d, fmt, ch, data, flags=0):
    return fill(make("cuArray3DCreate_v2", packed("QQQIII4x", w, h, d, fmt, ch, flags)), w * SIZE[fmt] * ch, h, d, data)
def mipmapped(w, h, levels, flags=0, layers=0):
    """Texel x, y of level l (and layer z) is 1000 z + 100 l + w y + x."""
    m = make("cuMipmappedArrayCreate", packed("QQQIII4x", w, h, layers, F32, 1, flags), levels)
    for l in range(levels):
        a, x, y = c_void_p(), max(1, w >> l), max(1, h >> l) if h else 0; ok("cuMipmappedArrayGetLevel", byref(a), m, l)
        fill(a, 4 * x, y, layers, struct.pack(f"<{x * max(y, 1) * max(layers, 1)}f", *[1000 * z + 100 * l + x * j + i for z in range(max(layers, 1)) for j in range(max(y, 1)) for i in range(x)]))
    return m
def texture(a, modes=(1, 1, 1), filt=0, flags=0, mip=None, aniso=0, view=None):
    t = c_uint64(); mf, bias, lo, hi = mip or (0, 0.0, 0.0, 0.0)
    v = packed("I4xQQQIIII", *view, size=112) if view else None
    r = cu("cuTexObjectCreate", byref(t), packed("I4xQ", 1 if mip else 0, a.value, size=144), packed("3IIIIIfff", *modes, filt, flags, aniso, mf, bias, lo, hi, size=104), v)
    if r: raise RuntimeError("cuTexObjectCreate " + err(r))
    return t.value
KERNELS = {}
def sample(ins, t, coords):
    """`ins` on registers c0.. for each coordinate (floats as their bits): 4 words each."""
    n = len(coords[0])
    if (ins, n) not in KERNELS:
        KERNELS[ins, n] = function(load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n.reg .b64 %o, %i, t; .reg .b32 %t, r<4>, c<16>;\nmov.u32 %t, %tid.x; ld.param.u64 %o, [p0]; ld.param.u64 %i, [p1]; ld.param.u64 t, [p2];\n" + f"mad.wide.u32 %o, %t, 16, %o; mad.wide.u32 %i, %t, {4 * n}, %i;\n" + "".join(f"ld.global.b32 c{j}, [%i+{4 * j}];\n" for j in range(n)) + ins + ";\nst.global.v4.b32 [%o], {r0, r1, r2, r3};\nret; }\n").encode()))
    o = alloc(16 * len(coords)); launch(KERNELS[ins, n], 1, len(coords), (o, device(b"".join(struct.pack("<f", x) if isinstance(x, float) else struct.pack("<I", x & 0xffffffff) for c in coords for x in c)), t)); r = u32(get(o, 16 * len(coords))); return [r[4 * i:4 * i + 4] for i in range(len(coords))]
