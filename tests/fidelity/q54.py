from common import *
Q = "q54"
init()
# a) Pointer attributes of every kind of memory. Guess: unregistered host pointers give INVALID_VALUE for most attributes but
# 0/none for some (MEMORY_TYPE fails); managed has MEMORY_TYPE unified or device (2) and IS_MANAGED 1; a pointer into the middle
# has the same range start. Met in libraries which ask where a pointer lives (MPI).
pool = c_uint64(); ok("cuMemAllocAsync", byref(pool), 4096, 0); sync()
managed = c_uint64(); ok("cuMemAllocManaged", byref(managed), 4096, 1); managed_host = c_uint64(); ok("cuMemAllocManaged", byref(managed_host), 4096, 2)
locked, mapped, wc = (make("cuMemHostAlloc", 4096, f) for f in (0, 2, 4)); old_locked = make("cuMemAllocHost_v2", 4096)
raw = ctypes.create_string_buffer(3 * 65536); page = (ctypes.addressof(raw) + 65535) & ~65535
r_registered = cu("cuMemHostRegister_v2", page, 4096, 0)
plain = ctypes.create_string_buffer(100)
m = load(compile_cuda('__device__ int g[100]; __constant__ int c[10]; extern "C" __global__ void k(int *o) { o[0] = g[o[1]] + c[o[1]]; }'))
def symbol(n):
    p, s = c_uint64(), c_size_t(); ok("cuModuleGetGlobal_v2", byref(p), byref(s), m, n.encode()); return p.value
pitch = c_uint64(); ok("cuMemAllocPitch_v2", byref(pitch), byref(c_size_t()), 100, 10, 4)
dev = alloc(1000)
host_device = c_uint64(); ok("cuMemHostGetDevicePointer_v2", byref(host_device), mapped, 0)
P = {"cuMemAlloc": dev, "cuMemAlloc + 500": dev + 500, "pitch": pitch.value, "managed": managed.value, "managed + 4095": managed.value + 4095, "managed host-attached": managed_host.value, "pool": pool.value, "host portable 0": locked.value, "host mapped": mapped.value, "host write-combined": wc.value, "host by cuMemAllocHost": old_locked.value, "device pointer of mapped": host_device.value, "registered": page, "registered + 100": page + 100, "plain host": ctypes.addressof(plain), "__device__": symbol("g"), "__constant__": symbol("c"), "null": 0, "1": 1, "2^45 + 5": 2**45 + 5, "-1": 2**64 - 1}
A = {1: ("context", "ptr"), 2: ("memory type", "int"), 3: ("device pointer", "ptr"), 4: ("host pointer", "ptr"), 6: ("sync memops", "int"), 8: ("is managed", "int"), 9: ("ordinal", "int"), 10: ("IPC capable", "int"), 11: ("range start", "ptr"), 12: ("range size", "u64"), 13: ("mapped", "int"), 14: ("handle types", "u64"), 16: ("access flags", "int"), 17: ("pool", "ptr"), 18: ("mapping size", "u64"), 19: ("mapping base", "ptr"), 0: ("0", "u64"), 22: ("22", "u64"), 99: ("99", "u64")}
current = c_uint64(); cu("cuCtxGetCurrent", byref(current))
def shown(v, kind, p, ctx=current.value):
    if kind == "ptr":
        return "null" if not v else "the context" if v == ctx else "itself" if v == p else "lower" if v < p else "other"
    return v & 0xffffffff if kind == "int" else v
for name, p in P.items():
    for a, (an, kind) in A.items():
        v = c_uint64(0); r = cu("cuPointerGetAttribute", byref(v), a, p)
        say(Q, f"a {name}: {an}", err(r) if r else shown(v.value, kind, p))
    base, size = c_uint64(), c_size_t(); r = cu("cuMemGetAddressRange_v2", byref(base), byref(size), p); say(Q, f"a {name}: cuMemGetAddressRange", err(r) if r else f"{'itself' if base.value == p else f'-{p - base.value}'} {size.value}")
    if p > 4096:
        fl = c_uint(77); r = cu("cuMemHostGetFlags", byref(fl), p); say(Q, f"a {name}: cuMemHostGetFlags", err(r) if r else fl.value)
    # several at once: failing attributes don't fail the call
    vals = [c_uint64(7) for _ in range(4)]; ids = (c_int * 4)(2, 8, 9, 13); r = cu("cuPointerGetAttributes", 4, ids, (c_void_p * 4)(*[ctypes.addressof(x) for x in vals]), p); say(Q, f"a {name}: cuPointerGetAttributes type, managed, ordinal, mapped", f"{err(r)} {[x.value & 0xffffffff for x in vals]}")
# b) Registration and host allocation flags: twice, overlapping, zero, odd sizes, wrong flags, unregister inside. Guess: twice
# is 712 HOST_MEMORY_ALREADY_REGISTERED, unregister of nothing 713; size 0 INVALID_VALUE; unknown flags INVALID_VALUE.
# Met by pools of page-locked buffers.
two = page + 65536
codes(Q, "b ", [("register page again", ("cuMemHostRegister_v2", page, 4096, 0)), ("overlapping from below", ("cuMemHostRegister_v2", page, 8192, 0)), ("register 0 bytes", ("cuMemHostRegister_v2", two, 0, 0)), ("register null", ("cuMemHostRegister_v2", 0, 4096, 0)), ("register odd address and size", ("cuMemHostRegister_v2", two + 3, 100, 0)), ("the same page beside it", ("cuMemHostRegister_v2", two + 200, 100, 0)), ("unregister inside", ("cuMemHostUnregister", two + 4)), ("unregister", ("cuMemHostUnregister", two + 3)), ("unregister again", ("cuMemHostUnregister", two + 3)), ("flags 1", ("cuMemHostRegister_v2", two, 4096, 1)), ("unregister 1", ("cuMemHostUnregister", two)), ("flags 2", ("cuMemHostRegister_v2", two, 4096, 2)), ("unregister 2", ("cuMemHostUnregister", two)), ("flags 8 (read only)", ("cuMemHostRegister_v2", two, 4096, 8)), ("unregister 8", ("cuMemHostUnregister", two)), ("flags 16", ("cuMemHostRegister_v2", two, 4096, 16)), ("register page-locked memory", ("cuMemHostRegister_v2", locked, 4096, 0)), ("unregister page-locked", ("cuMemHostUnregister", locked)), ("register device memory", ("cuMemHostRegister_v2", dev, 512, 0)), ("register managed memory", ("cuMemHostRegister_v2", managed, 4096, 0)), ("cuMemFreeHost of registered", ("cuMemFreeHost", page))])
for size, flags in ((0, 0), (1, 0), (4096, 1), (4096, 2), (4096, 3), (4096, 4), (4096, 7), (4096, 8), (4096, 16), (4096, 0xffffffff), (1 << 50, 0)):
    h = c_void_p(); r = cu("cuMemHostAlloc", byref(h), size, flags); f = c_uint(99)
    say(Q, f"b cuMemHostAlloc {size} flags {flags:x}", f"{err(r)}" + ("" if r else f" alignment at least 512 {not (h.value or 1) & 511}; flags {(cu('cuMemHostGetFlags', byref(f), h), f.value)[1]}; free {err(cu('cuMemFreeHost', h))}"))
# c) Frees and allocations at edges: inside pointers, wrong kind, sizes 0, too large, pitch arguments. Guess: free of an inside
# pointer is INVALID_VALUE; free of null OK; cuMemFree of pool memory works; sizes over memory are OUT_OF_MEMORY.
# Met by empty arrays and by destructors that run twice.
q, pt = c_uint64(), c_size_t()
codes(Q, "c ", [("cuMemFree null", ("cuMemFree_v2", 0)), ("cuMemFree inside", ("cuMemFree_v2", dev + 4)), ("cuMemFree of page-locked", ("cuMemFree_v2", locked)), ("cuMemFree of __device__", ("cuMemFree_v2", symbol("g"))), ("cuMemFree 2^45", ("cuMemFree_v2", 2**45)), ("cuMemFreeHost of device memory", ("cuMemFreeHost", dev)), ("cuMemFreeHost null", ("cuMemFreeHost", 0)), ("cuMemFree of managed", ("cuMemFree_v2", managed)), ("again", ("cuMemFree_v2", managed)), ("cuMemFree of pool memory", ("cuMemFree_v2", pool)), ("again ", ("cuMemFree_v2", pool)), ("cuMemFree", ("cuMemFree_v2", dev)), ("twice", ("cuMemFree_v2", dev)), ("cuMemAlloc 0", ("cuMemAlloc_v2", byref(q), 0)), ("cuMemAlloc 2^45", ("cuMemAlloc_v2", byref(q), 2**45)), ("cuMemAlloc 2^64 - 1", ("cuMemAlloc_v2", byref(q), 2**64 - 1)), ("cuMemAlloc 2^64 - 4096", ("cuMemAlloc_v2", byref(q), 2**64 - 4096))]
    + [(f"cuMemAllocPitch {w} x {h}, elements of {e}", ("cuMemAllocPitch_v2", byref(q), byref(pt), w, h, e)) for w, h, e in ((0, 1, 4), (1, 0, 4), (1, 1, 0), (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 1, 8), (1, 1, 16), (1, 1, 32), (2**31, 1, 4), (1 << 40, 1 << 10, 4))]
    + [(f"cuMemAllocManaged {s}, flags {f}", ("cuMemAllocManaged", byref(q), s, f)) for s, f in ((0, 1), (16, 0), (16, 1), (16, 2), (16, 3), (16, 4), (16, 7), (2**60, 1))])
