from common import *
Q = "q53"
init()
W, H = 64, 8
hp = c_void_p(); ok("cuMemHostAlloc", byref(hp), 65536, 0)
d, e = alloc(65536), alloc(65536)
def array(w, h, depth=0, fmt=1, ch=1, flags=0):
    return make("cuArray3DCreate_v2", packed("QQQIII4x", w, h, depth, fmt, ch, flags))
A, V = array(W, H), array(16, 8, 4)
one = array(32, 0)
def side(kind, x=0, y=0, pitch=W):
    return struct.pack("<QQI4xQQQQ", x, y, {"h": 1, "d": 2, "a": 3, "u": 4, "a1": 3}.get(kind, kind if isinstance(kind, int) else 0), hp.value if kind == "h" else 0, d if kind in ("d", "u") else 0, A.value if kind == "a" else one.value if kind == "a1" else 0, pitch)
def copy2(src, dst, width=16, height=4, name="cuMemcpy2D_v2"):
    b = ctypes.create_string_buffer(side(*src) + side(*dst) + struct.pack("<QQ", width, height), 128); return cu(name, b)
# a) cuMemcpy2D: pitch below the width, zero sizes, array bounds, unknown types, alignment, overlap, unaligned variant; codes.
# Guess: INVALID_VALUE for a pitch below x + width, for array overruns and unknown types; zero width or height is OK; pitch
# above the device's maximum (2^31 - 1) is INVALID_VALUE for cuMemcpy2D and not for 2DUnaligned. Met by image code.
for name in ("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2"):
    C = [("h to d", ("h",), ("d",), 16, 4), ("pitch = width", ("h", 0, 0, 16), ("d", 0, 0, 16), 16, 4), ("source pitch 15 < width", ("h", 0, 0, 15), ("d",), 16, 4), ("destination pitch 15", ("h",), ("d", 0, 0, 15), 16, 4), ("pitch 15, height 1", ("h", 0, 0, 15), ("d", 0, 0, 15), 16, 1), ("pitch 0, height 1", ("h", 0, 0, 0), ("d", 0, 0, 0), 16, 1), ("pitch 0, height 2", ("h", 0, 0, 0), ("d", 0, 0, 0), 16, 2), ("x + width > pitch", ("h", 60), ("d",), 16, 4), ("width 0", ("h",), ("d",), 0, 4), ("height 0", ("h",), ("d",), 16, 0), ("width 0, pitch 0", ("h", 0, 0, 0), ("d", 0, 0, 0), 0, 0), ("d to a", ("d",), ("a",), 16, 4), ("a to h, whole", ("a",), ("h",), 64, 8), ("a width 65", ("a",), ("h", 0, 0, 128), 65, 1), ("a height 9", ("a",), ("h",), 64, 9), ("a x 60 + 16", ("a", 60), ("h",), 16, 1), ("a y 8", ("a", 0, 8), ("h",), 16, 1), ("a y 7 + 2", ("a", 0, 7), ("h",), 16, 2), ("a to a shifted", ("a", 0, 0), ("a", 32, 4), 16, 4), ("a to a overlapping", ("a", 0, 0), ("a", 8, 1), 16, 4), ("1D array", ("a1",), ("h",), 32, 1), ("1D array, height 2", ("a1",), ("h",), 32, 2), ("1D array, height 0", ("a1",), ("h",), 32, 0), ("memory type 0", (0,), ("d",), 16, 4), ("memory type 5", (5,), ("d",), 16, 4), ("unified to h", ("u",), ("h",), 16, 4), ("d to d, pitch 2^31", ("d", 0, 0, 2**31), ("h",), 16, 1), ("odd x and pitch", ("d", 3, 0, 37), ("h", 1, 0, 21), 5, 3)]
    for key, s, t, w, h in C:
        guarded(Q, "a", lambda: say(Q, f"a {name[2:-3]} {key}", err(copy2(s, t, w, h, name))))
def roundtrip():
    put(d, bytes(i * 7 & 255 for i in range(4096))); ctypes.memset(hp, 0, 4096)
    for key, s, t, w, h in [("odd x, y, pitch", ("d", 3, 2, 37), ("h", 1, 1, 21), 5, 3), ("overlapping rows d to d by unified", ("u", 0, 0, 16), ("h", 0, 0, 16), 16, 3)]:
        ctypes.memset(hp, 0, 256); r = copy2(s, t, w, h); say(Q, f"a data: {key}", f"{err(r)} {hashlib.sha1(ctypes.string_at(hp, 256)).hexdigest()[:12]} {list(ctypes.string_at(hp, 32))}")
guarded(Q, "a data", roundtrip)
# b) cuMemcpy3D: heights, depths, arrays with depth, layered, LOD. Guess: srcHeight 0 is allowed if depth is 1; a height
# below y + Height is INVALID_VALUE; LOD must be 0. Met by volume code and bindings which fill the structure.
def side3(kind, x=0, y=0, z=0, pitch=16, height=8, lod=0):
    return struct.pack("<QQQQI4xQQQQQQ", x, y, z, lod, {"h": 1, "d": 2, "v": 3, "a": 3, "a1": 3}[kind], hp.value if kind == "h" else 0, d if kind == "d" else 0, {"v": V, "a": A, "a1": one}[kind].value if kind[0] in "va" else 0, 0, pitch, height)
for key, s, t, w, h, depth in [("h to v, whole", ("h",), ("v",), 16, 8, 4), ("v to d", ("v",), ("d",), 16, 8, 4), ("depth 5 of 4", ("h",), ("v",), 16, 8, 5), ("z 4", ("v", 0, 0, 4), ("h",), 16, 8, 1), ("z 3 + 2", ("v", 0, 0, 3), ("h",), 16, 8, 2), ("depth 0", ("h",), ("v",), 16, 8, 0), ("height 0", ("h",), ("v",), 16, 0, 4), ("width 0", ("h",), ("v",), 0, 8, 4), ("source height 0, depth 1", ("h", 0, 0, 0, 16, 0), ("v",), 16, 8, 1), ("source height 0, depth 2", ("h", 0, 0, 0, 16, 0), ("v",), 16, 8, 2), ("source height 4 < 8, depth 1", ("h", 0, 0, 0, 16, 4), ("v",), 16, 8, 1), ("source height 4 < 8, depth 2", ("h", 0, 0, 0, 16, 4), ("v",), 16, 8, 2), ("pitch 15 < 16", ("h", 0, 0, 0, 15), ("v",), 16, 8, 2), ("pitch 0, one row", ("h", 0, 0, 0, 0, 0), ("v",), 16, 1, 1), ("LOD 1", ("h", 0, 0, 0, 16, 8, 1), ("v",), 16, 8, 1), ("array LOD 1", ("v", 0, 0, 0, 0, 0, 1), ("h",), 16, 8, 1), ("2D array with depth 1", ("a",), ("h", 0, 0, 0, 64, 8), 64, 8, 1), ("2D array with depth 2", ("a",), ("h", 0, 0, 0, 64, 8), 64, 8, 2), ("1D array", ("a1",), ("h", 0, 0, 0, 32, 1), 32, 1, 1), ("1D array y 1", ("a1", 0, 1), ("h", 0, 0, 0, 32, 1), 32, 1, 1), ("x 8 + 16", ("v", 8), ("h",), 16, 1, 1), ("y 8", ("v", 0, 8), ("h",), 16, 1, 1)]:
    guarded(Q, "b", lambda: say(Q, f"b cuMemcpy3D {key}", err(cu("cuMemcpy3D_v2", ctypes.create_string_buffer(side3(*s) + side3(*t) + struct.pack("<QQQ", w, h, depth), 200)))))
# c) Plain copies at edges, and cuMemset widths, alignment, pitches, zero sizes, sizes past the end. Guess: a misaligned
# D16/D32 destination is INVALID_VALUE; N = 0 is OK (even for null); past the allocation's end INVALID_VALUE; D2D pitch below
# the width INVALID_VALUE, height 1 ignores it. Met by empty arrays and sub-arrays at odd offsets.
big = alloc(1 << 22); small = alloc(100)
calls = [("D8 odd", ("cuMemsetD8_v2", d + 1, 5, 7)), ("D16 odd", ("cuMemsetD16_v2", d + 1, 5, 7)), ("D32 + 2", ("cuMemsetD32_v2", d + 2, 5, 7)), ("D32 + 1", ("cuMemsetD32_v2", d + 1, 5, 7)), ("D32 aligned", ("cuMemsetD32_v2", d + 4, 5, 7)), ("D8 N 0", ("cuMemsetD8_v2", d, 5, 0)), ("D8 null N 0", ("cuMemsetD8_v2", 0, 5, 0)), ("D8 null N 1", ("cuMemsetD8_v2", 0, 5, 1)), ("D32 null + 2 N 0", ("cuMemsetD32_v2", 2, 5, 0)), ("D8 value 0x1ff", ("cuMemsetD8_v2", d, 0x1ff, 4))]
calls += [(f"D2D{w} +{o} pitch {p} width {n} height {h}", (f"cuMemsetD2D{w}_v2", d + o, p, 7, n, h)) for w in (8, 16, 32) for o, p, n, h in ((0, 64, 16, 4), (0, 15, 16, 4), (0, 15, 16, 1), (0, 0, 16, 1), (0, 0, 16, 2), (0, 64, 0, 4), (0, 64, 16, 0), (0, 63, 15, 2), (1, 64, 8, 2), (2, 64, 8, 2), (0, 66, 16, 2), (0, 64, 17, 1), (0, 64, 65, 1), (0, 64, 64, 2))]
calls += [("copy HtoD 0 bytes, null", ("cuMemcpyHtoD_v2", 0, None, 0)), ("copy DtoD 0 bytes, null", ("cuMemcpyDtoD_v2", 0, 0, 0)), ("copy DtoD null", ("cuMemcpyDtoD_v2", d, 0, 4)), ("copy DtoD overlapping", ("cuMemcpyDtoD_v2", d + 1, d, 100)), ("copy DtoD onto itself", ("cuMemcpyDtoD_v2", d, d, 100)), ("copy HtoD to a host pointer", ("cuMemcpyHtoD_v2", hp, c_char_p(b"abcd"), 4)), ("copy cuMemcpy host to host", ("cuMemcpy", hp.value + 64, hp.value, 16)), ("copy AtoH over the end", ("cuMemcpyAtoH_v2", hp, one, 30, 8)), ("copy HtoA of a 2D array", ("cuMemcpyHtoA_v2", A, 0, hp, 64)), ("copy HtoA of a 2D array, two rows", ("cuMemcpyHtoA_v2", A, 0, hp, 128)), ("copy AtoA", ("cuMemcpyAtoA_v2", one, 0, one, 16, 16)), ("copy HtoA 0 bytes", ("cuMemcpyHtoA_v2", one, 32, hp, 0))]
codes(Q, "c ", calls)
put(d, bytes(64)); cu("cuMemsetD2D16_v2", d, 16, 0xabcd, 3, 2); say(Q, "c bytes after D2D16 pitch 16 width 3 height 2", get(d, 32).hex())
put(d, bytes(64)); cu("cuMemsetD8_v2", d, 0x1ff, 4); say(Q, "c bytes after D8 with 0x1ff", get(d, 8).hex())
put(d, bytes(range(64))); cu("cuMemcpyDtoD_v2", d + 1, d, 32); say(Q, "c bytes after an overlapping copy by 1", get(d, 40).hex())
# what reaches far beyond a block, at last, as it may end the context
codes(Q, "c ", [("D8 64 KiB + 64 MiB", ("cuMemsetD8_v2", d, 5, 64 << 20)), ("D8 wraps", ("cuMemsetD8_v2", d, 5, 2**64 - 1)), ("D32 N 2^62", ("cuMemsetD32_v2", d, 5, 2**62)), ("copy DtoD over the end by 64 MiB", ("cuMemcpyDtoD_v2", small, big, 64 << 20)), ("copy DtoD over the end by 28 bytes", ("cuMemcpyDtoD_v2", small, big, 128)), ("synchronise", sync)])
