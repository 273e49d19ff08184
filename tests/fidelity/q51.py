from common import *
Q = "q51"
init()
F = build('extern "C" __global__ void k(int *o) { if (o) o[0] = 1; }')
G = build('extern "C" __global__ void k() { }')
D = build('extern "C" __global__ void __launch_bounds__(128) k(int *o) { if (o) o[0] = 1; }')
S = build('extern "C" __global__ void k(int *o) { __shared__ int s[12288]; s[o[0]] = 1; o[1] = s[o[2]]; }')
M = function(load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k() .maxntid 64, 2, 1 { ret; }\n.visible .entry r() .reqntid 32, 4, 1 { ret; }").encode()))
R = function(load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry r() .reqntid 32, 4, 1 { ret; }").encode()), "r")
o = alloc(64)
if sys.argv[1:] == ["none"]:
    say(Q, "b neither params nor extra, for a kernel with parameters", [err(cu("cuLaunchKernel", F, 1, 1, 1, 1, 1, 1, 0, 0, None, None)), err(sync())]); os._exit(0)
if len(sys.argv) > 1:
    codes(Q, "b old interface: ", [("cuFuncSetBlockShape 32", ("cuFuncSetBlockShape", F, 32, 1, 1)), ("cuFuncSetBlockShape 0", ("cuFuncSetBlockShape", F, 0, 1, 1)), ("cuFuncSetBlockShape 1025", ("cuFuncSetBlockShape", F, 1025, 1, 1)), ("cuFuncSetBlockShape 32 again", ("cuFuncSetBlockShape", F, 32, 1, 1)), ("cuParamSetSize 8", ("cuParamSetSize", F, 8)), ("cuParamSetSize 100000", ("cuParamSetSize", F, 100000)), ("cuParamSetv", ("cuParamSetv", F, 0, byref(c_uint64(o)), 8)), ("cuFuncSetSharedSize", ("cuFuncSetSharedSize", F, 100)), ("cuLaunchGrid 1 1", ("cuLaunchGrid", F, 1, 1)), ("cuLaunchGrid 0 1", ("cuLaunchGrid", F, 0, 1)), ("cuLaunch", ("cuLaunch", F)), ("synchronise", sync)])
    os._exit(0)
def both(r):
    return [err(r), err(sync())]
# a) Launch limits: which code for zero and too large dimensions, product of the block, shared memory, launch bounds.
# Guess: INVALID_VALUE for all, but 701 where .maxntid is exceeded (launch_bounds) and INVALID_VALUE for a wrong .reqntid.
# Met by every launch with a computed grid of 0 for empty data.
for key, f, grid, block, shared in [("grid 0", F, (0, 1, 1), (1, 1, 1), 0), ("grid y 0", F, (1, 0, 1), (1, 1, 1), 0), ("block 0", F, (1, 1, 1), (0, 1, 1), 0), ("block z 0", F, (1, 1, 1), (1, 1, 0), 0), ("grid y 65535, empty kernel", G, (1, 65535, 1), (1, 1, 1), 0), ("grid y 65536", F, (1, 65536, 1), (1, 1, 1), 0), ("grid z 65536", F, (1, 1, 65536), (1, 1, 1), 0), ("grid x 2^31", F, (2**31, 1, 1), (1, 1, 1), 0), ("grid x 2^32 - 1", F, (2**32 - 1, 1, 1), (1, 1, 1), 0), ("block x 1024", F, (1, 1, 1), (1024, 1, 1), 0), ("block x 1025", F, (1, 1, 1), (1025, 1, 1), 0), ("block y 1025", F, (1, 1, 1), (1, 1025, 1), 0), ("block z 64", F, (1, 1, 1), (1, 1, 64), 0), ("block z 65", F, (1, 1, 1), (1, 1, 65), 0), ("block 32 x 33", F, (1, 1, 1), (32, 33, 1), 0), ("block 16 x 16 x 4", F, (1, 1, 1), (16, 16, 4), 0), ("block 16 x 16 x 5", F, (1, 1, 1), (16, 16, 5), 0), ("block 2^32 - 1", F, (1, 1, 1), (2**32 - 1, 1, 1), 0),
                                    ("shared 48 KiB", F, (1, 1, 1), (1, 1, 1), 49152), ("shared 48 KiB + 1", F, (1, 1, 1), (1, 1, 1), 49153), ("shared 2^32 - 1", F, (1, 1, 1), (1, 1, 1), 2**32 - 1), ("static 48 KiB and 1 dynamic", S, (1, 1, 1), (1, 1, 1), 1), ("static 48 KiB", S, (1, 1, 1), (1, 1, 1), 0), ("launch_bounds 128, block 128", D, (1, 1, 1), (128, 1, 1), 0), ("launch_bounds 128, block 129", D, (1, 1, 1), (129, 1, 1), 0), ("launch_bounds 128, block 1024", D, (1, 1, 1), (1024, 1, 1), 0), ("launch_bounds 128, block 1025", D, (1, 1, 1), (1025, 1, 1), 0), ("maxntid 64, 2: block 64 x 2", M, (1, 1, 1), (64, 2, 1), 0), ("maxntid 64, 2: block 128", M, (1, 1, 1), (128, 1, 1), 0), ("maxntid 64, 2: block 2 x 64", M, (1, 1, 1), (2, 64, 1), 0), ("maxntid 64, 2: block 1 x 1 x 2", M, (1, 1, 1), (1, 1, 2), 0), ("maxntid 64, 2: block 129", M, (1, 1, 1), (129, 1, 1), 0),
                                    ("reqntid 32, 4: block 32 x 4", R, (1, 1, 1), (32, 4, 1), 0), ("reqntid 32, 4: block 128", R, (1, 1, 1), (128, 1, 1), 0), ("reqntid 32, 4: block 32", R, (1, 1, 1), (32, 1, 1), 0), ("two faults: grid 0, block 1025", F, (0, 1, 1), (1025, 1, 1), 0), ("two faults: block 129 of 128, shared too large", D, (1, 1, 1), (129, 1, 1), 60000)]:
    guarded(Q, "a " + key, lambda: say(Q, "a " + key, both(launch_code(f, grid, block, () if f in (G, M, R) else (o,), shared))))
# b) Arguments: neither params nor extra, both, the buffer form with sizes too small and too large, odd keys; what is loaded.
# Guess: both is INVALID_VALUE; a buffer smaller than the parameters is INVALID_VALUE or 701, a larger one is accepted;
# none for a kernel with a parameter is INVALID_VALUE. Met by language bindings, which pack arguments themselves.
K = build('extern "C" __global__ void k(unsigned long long *o, int a, char b, double c, short d) { o[0] = a; o[1] = b; o[2] = (unsigned long long)c; o[3] = d; }')
def extra(buf, size, keys=(1, 2, 0), params=None):
    b = ctypes.create_string_buffer(bytes(buf), max(1, len(buf))); n = c_size_t(size)
    x = (c_void_p * 6)(); i = 0
    for k in keys:
        x[i] = k; i += 1
        if k == 1: x[i] = ctypes.addressof(b); i += 1
        elif k == 2: x[i] = ctypes.addressof(n); i += 1
    r = cu("cuLaunchKernel", K, 1, 1, 1, 1, 1, 1, 0, 0, params, x); s = sync()
    return [err(r), err(s)]
B = struct.pack("<QiB3xdH6x", o, -5, 7, 9.0, 11)
for key, buf, size, keys in [("exact 34 bytes", B, 34, (1, 2, 0)), ("40 bytes", B, 40, (1, 2, 0)), ("48 bytes", B + bytes(8), 48, (1, 2, 0)), ("4096 bytes", B + bytes(4056), 4096, (1, 2, 0)), ("5000 bytes", B + bytes(4960), 5000, (1, 2, 0)), ("33 bytes", B, 33, (1, 2, 0)), ("32 bytes", B, 32, (1, 2, 0)), ("0 bytes", B, 0, (1, 2, 0)), ("size before pointer", B, 34, (2, 1, 0)), ("no size", B, 34, (1, 0)), ("no pointer", B, 34, (2, 0)), ("only the end", B, 34, (0,)), ("key 3", B, 34, (3, 0))]:
    def main():
        put(o, bytes(64)); r = extra(buf, size, keys); say(Q, "b buffer: " + key, f"{r} loaded {[v - 2**64 if v >> 63 else v for v in u64(get(o, 32))]}")
    guarded(Q, "b buffer: " + key, main)
a = [c_uint64(o), c_int(1), c_int(2), c_double(3), c_int(4)]; P = (c_void_p * 5)(*[ctypes.addressof(x) for x in a])
say(Q, "b both params and extra", extra(B, 34, params=P))
say(Q, "b params for a kernel without", both(cu("cuLaunchKernel", G, 1, 1, 1, 1, 1, 1, 0, 0, P, None)))
for name in ("cuFuncGetParamInfo",):
    for i in range(6):
        off, size = c_size_t(99), c_size_t(99); r = cu(name, K, i, byref(off), byref(size)); say(Q, f"b {name} {i}", f"{err(r)} {off.value} {size.value}")
# c) cuLaunchKernelEx: attributes with odd ids and values. Guess: unknown ids are INVALID_VALUE, IGNORE is skipped; a cluster
# on kernels of compute_80 works on Hopper if it divides the grid (else INVALID_CLUSTER_SIZE 912); priority clamps.
# Met by launchers that set attributes for all devices alike.
def ex(*attrs, grid=4, f=None):
    buf = ctypes.create_string_buffer(b"".join(struct.pack("<I4x", i) + v.ljust(64, b"\0") for i, v in attrs).ljust(72, b"\0"))
    c = packed("7I4xQQI4x", grid, 1, 1, 32, 1, 1, 0, 0, ctypes.addressof(buf) if attrs else 0, len(attrs))
    p = (c_void_p * 1)(ctypes.addressof(held)); r = cu("cuLaunchKernelEx", c, f or F, p, None)
    return both(r)
held = c_uint64(o); I = lambda *v: struct.pack(f"<{len(v)}i", *v)
for key, at in {"none": [], "IGNORE": [(0, b"")], "cooperative 1": [(2, I(1))], "cooperative 0": [(2, I(0))], "cooperative 2": [(2, I(2))], "cooperative twice": [(2, I(1)), (2, I(0))], "priority 0": [(8, I(0))], "priority -100": [(8, I(-100))], "priority 100": [(8, I(100))], "programmatic serialization 1": [(6, I(1))], "synchronization policy (a stream's)": [(3, I(1))], "sync domain 0": [(10, I(0))], "sync domain 1": [(10, I(1))], "sync domain 7": [(10, I(7))], "carveout 50": [(14, I(50))], "carveout 101": [(14, I(101))], "carveout -1": [(14, I(-1))], "carveout -2": [(14, I(-2))], "id 15": [(15, I(0))], "id 17": [(17, I(0))], "id 99": [(99, I(0))], "id 2^31": [(2**31, I(0))], "access policy window, null, 0 bytes": [(1, struct.pack("<QQfII", 0, 0, 0.0, 0, 0))], "access policy window, ratio 2": [(1, struct.pack("<QQfII", o, 64, 2.0, 2, 1))], "access policy window, hit property 9": [(1, struct.pack("<QQfII", o, 64, 1.0, 9, 1))], "access policy window": [(1, struct.pack("<QQfII", o, 64, 1.0, 2, 1))]}.items():
    guarded(Q, "c " + key, lambda: say(Q, "c " + key, ex(*at)))
for shape in ((1, 1, 1), (0, 0, 0), (2, 1, 1), (3, 1, 1), (16, 1, 1)):
    guarded(Q, "c cluster", lambda: say(Q, f"c cluster {shape}, grid 4 (refused on 8.0)", ex((4, I(*shape)))))
# b) again: the interface before cuLaunchKernel, in a process of its own. Guess: works still, 201 or INVALID_VALUE at worst. Met by old programs.
child("old"); child("none")
