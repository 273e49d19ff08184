from common import *
Q = "q55"
init()
p = c_uint64(); ok("cuMemAllocManaged", byref(p), 1 << 20, 1); p = p.value
d = alloc(1 << 20); h = make("cuMemHostAlloc", 65536, 0); s = make("cuStreamCreate", 1)
CPU, BAD = 0xffffffff, 7
def ranged(a, size=4, at=p, n=1 << 20):
    b = ctypes.create_string_buffer(b"\x77" * size, size); r = cu("cuMemRangeGetAttribute", b, size, a, at, n); return err(r) if r else list(struct.unpack(f"<{size // 4}i", b.raw))
# a) Managed memory: advice by device or CPU, on parts and on other kinds of memory, and what the range attributes say then.
# Guess: -1 is the CPU, other devices are INVALID_DEVICE; advice on device memory is INVALID_VALUE; mixed ranges report -2 (invalid
# device) for locations and 0 for read-mostly. Met in code tuned by cudaMemAdvise.
say(Q, "a concurrent managed access, pageable access, host page tables, direct from host", [attribute(x) for x in (89, 88, 100, 101)])
for a in range(1, 9):
    say(Q, f"a fresh: attribute {a}", ranged(a))
say(Q, "a fresh: attribute 3, four entries", ranged(3, 16))
for a, size in ((1, 8), (1, 0), (1, 2), (3, 0), (3, 6), (2, 8), (0, 4), (9, 4), (99, 4)):
    say(Q, f"a attribute {a} of size {size}", ranged(a, size) if size % 4 == 0 and size else (lambda b: err(cu("cuMemRangeGetAttribute", b, size, a, p, 1 << 20)))(ctypes.create_string_buffer(64)))
for key, at, n in (("size 0", p, 0), ("a part", p + 100, 10), ("over the end", p, (1 << 20) + 1), ("device memory", d, 4096), ("page-locked", h.value, 4096), ("null", 0, 4096)):
    say(Q, f"a read-mostly of {key}", ranged(1, 4, at, n))
for advice, name in ((1, "SET_READ_MOSTLY"), (3, "SET_PREFERRED_LOCATION"), (5, "SET_ACCESSED_BY"), (2, "UNSET_READ_MOSTLY"), (4, "UNSET_PREFERRED_LOCATION"), (6, "UNSET_ACCESSED_BY"), (0, "0"), (7, "7"), (99, "99")):
    for dev, dn in ((0, "device 0"), (CPU, "CPU"), (BAD, "device 7"), (0xfffffffe, "-2")):
        r = cu("cuMemAdvise", p, 1 << 20, advice, dev)
        say(Q, f"a cuMemAdvise {name} {dn}", f"{err(r)}; read-mostly {ranged(1)} preferred {ranged(2)} accessed by {ranged(3, 8)}")
for key, at, n in (("a part of 65536", p + 65536, 65536), ("a part of 100 bytes at 5", p + 5, 100), ("0 bytes", p, 0), ("over the end", p + (1 << 19), 1 << 20), ("device memory", d, 4096), ("page-locked", h.value, 4096), ("null", 0, 4096)):
    say(Q, f"a SET_READ_MOSTLY of {key}", f"{err(cu('cuMemAdvise', at, n, 1, 0))}; whole {ranged(1)}, first page {ranged(1, 4, p, 4096)}, at 65536 {ranged(1, 4, p + 65536, 4096)}")
cu("cuMemAdvise", p, 1 << 20, 2, 0)
for ty in range(0, 6):
    for i in (0, 1, 7):
        say(Q, f"a cuMemAdvise_v2 SET_PREFERRED_LOCATION type {ty} id {i}", f"{err(cu('cuMemAdvise_v2', p, 1 << 20, 3, c_uint64(ty | i << 32)))}; type {ranged(5)} id {ranged(6)} old {ranged(2)}")
# b) Prefetch: to device, CPU, invalid, parts, other kinds, with flags; what LAST_PREFETCH_LOCATION says. Guess: rounds out to pages;
# device memory is INVALID_VALUE; invalid device INVALID_DEVICE. Met by out-of-core programs.
for key, at, n, dev in (("whole to device 0", p, 1 << 20, 0), ("whole to the CPU", p, 1 << 20, CPU), ("a part to device 0", p + 4096, 4096, 0), ("1 byte to the CPU", p + 9, 1, CPU), ("0 bytes", p, 0, 0), ("over the end", p, 2 << 20, 0), ("to device 7", p, 4096, BAD), ("to -2", p, 4096, 0xfffffffe), ("device memory", d, 4096, 0), ("page-locked", h.value, 4096, 0), ("null", 0, 4096, 0)):
    say(Q, f"b cuMemPrefetchAsync {key}", f"{err(cu('cuMemPrefetchAsync', at, n, dev, s))} {err(cu('cuStreamSynchronize', s))}; last of the whole {ranged(4)}, of the first page {ranged(4, 4, p, 4096)}, second {ranged(4, 4, p + 4096, 4096)}")
for ty in range(0, 6):
    for flags in (0, 1):
        say(Q, f"b cuMemPrefetchAsync_v2 type {ty} flags {flags}", f"{err(cu('cuMemPrefetchAsync_v2', p, 1 << 20, c_uint64(ty), flags, s))} {err(cu('cuStreamSynchronize', s))}; type {ranged(7)} id {ranged(8)} old {ranged(4)}")
# c) Attaching to streams: flags, lengths, other memory, null stream; then host access. Guess: length must be 0 or the whole;
# GLOBAL, HOST, SINGLE are 1, 2, 4; SINGLE on the null stream is INVALID_VALUE. Met by programs for devices without concurrent access.
for st, sn in ((s, "stream"), (0, "null")):
    for flag in (1, 2, 4):
        say(Q, f"c cuStreamAttachMemAsync {sn} flag {flag}", [err(cu("cuStreamAttachMemAsync", st, p, 0, flag)), err(sync())])
for key, at, n in (("whole length", p, 1 << 20), ("half", p, 1 << 19), ("4096", p, 4096), ("inside, 0", p + 4096, 0), ("device memory", d, 0), ("page-locked", h.value, 0), ("null", 0, 0)):
    say(Q, f"c cuStreamAttachMemAsync {key}", [err(cu("cuStreamAttachMemAsync", s, at, n, 4)), err(sync())])
cu("cuStreamAttachMemAsync", s, p, 0, 1); sync()
f = build('extern "C" __global__ void k(int *o) { o[threadIdx.x] += 1; }'); ctypes.memset(p, 0, 256); launch(f, 1, 32, (p,)); say(Q, "c host reads what a kernel wrote", list(ctypes.string_at(p, 16)))
launch_code(f, 1, 32, (p,)); cu("cuStreamSynchronize", 0); say(Q, "c and after cuStreamSynchronize", list(ctypes.string_at(p, 16)))
