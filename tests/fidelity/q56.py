from common import *
Q = "q56"
init()
def pool_props(alloc_type=1, handles=0, loc=1, dev=0, max_size=0, usage=0):
    return packed("IIIIQQH", alloc_type, handles, loc, dev, 0, max_size, usage, size=88)
NAMES = {1: "FOLLOW_EVENT", 2: "OPPORTUNISTIC", 3: "INTERNAL", 4: "RELEASE_THRESHOLD", 5: "RESERVED_CURRENT", 6: "RESERVED_HIGH", 7: "USED_CURRENT", 8: "USED_HIGH"}
def attr(pool, a):
    v = c_uint64(0); r = cu("cuMemPoolGetAttribute", pool, a, byref(v)); return err(r) if r else v.value
s, s2 = make("cuStreamCreate", 1), make("cuStreamCreate", 1)
default = make("cuDeviceGetDefaultMemPool", 0)
# a) Pools: properties which are refused, attributes' defaults, setting each, trimming, destroying with blocks alive. Guess:
# only PINNED device pools are supported (host ones since 12.x); high-water marks may only be set to 0; the current ones are
# INVALID_VALUE; the default pool can't be destroyed. Met by frameworks which make their own pool.
say(Q, "a current pool is the default one", make("cuDeviceGetMemPool", 0).value == default.value)
for a in range(0, 11):
    say(Q, f"a default pool {NAMES.get(a, a)}", attr(default, a))
for key, args in {"plain": {}, "type 0": dict(alloc_type=0), "type 2 (managed)": dict(alloc_type=2), "type 99": dict(alloc_type=99), "handles 1 (fd)": dict(handles=1), "handles 2 (win32)": dict(handles=2), "handles 8 (fabric)": dict(handles=8), "handles 99": dict(handles=99), "location 0": dict(loc=0), "location host": dict(loc=2), "location host NUMA 0": dict(loc=3), "location 5": dict(loc=5), "device 7": dict(dev=7), "device -1": dict(dev=0xffffffff), "max 1 MiB": dict(max_size=1 << 20), "max 100": dict(max_size=100), "usage 1": dict(usage=1), "usage 2": dict(usage=2), "usage 99": dict(usage=99)}.items():
    h = c_void_p(); r = cu("cuMemPoolCreate", byref(h), pool_props(**args)); say(Q, f"a create {key}", err(r) + ("" if r else f" destroy {err(cu('cuMemPoolDestroy', h))}"))
pool = make("cuMemPoolCreate", pool_props())
for a in range(0, 10):
    for v in (0, 1, 5, 1 << 40, 2**64 - 1):
        say(Q, f"a set {NAMES.get(a, a)} {v:x}", f"{err(cu('cuMemPoolSetAttribute', pool, a, byref(c_uint64(v))))} then {attr(pool, a)}")
limited = make("cuMemPoolCreate", pool_props(max_size=1 << 20))
q = c_uint64()
for n in (1, 1 << 19, 1 << 20, (1 << 20) + 1, 32 << 20, 64 << 20):
    r = cu("cuMemAllocFromPoolAsync", byref(q), n, limited, s); say(Q, f"a pool of at most 1 MiB: alloc {n}", err(r)); r or cu("cuMemFreeAsync", q, s)
cu("cuStreamSynchronize", s)
say(Q, "a destroy the default pool", err(cu("cuMemPoolDestroy", default)))
other = make("cuMemPoolCreate", pool_props()); ok("cuMemAllocFromPoolAsync", byref(q), 4096, other, s); cu("cuStreamSynchronize", s)
for loc, dev in ((1, 0), (1, 7), (2, 0), (0, 0)):
    for fl in (0, 1, 3, 2):
        say(Q, f"a SetAccess location {loc} {dev} flags {fl}", f"{err(cu('cuMemPoolSetAccess', pool, packed('III', loc, dev, fl), 1))} then {(lambda v: (err(cu('cuMemPoolGetAccess', byref(v), pool, packed('II', loc, dev))), v.value))(c_int(-9))}")
mine = make("cuMemPoolCreate", pool_props())
say(Q, "a set as the device's pool, is current, reset", [err(cu("cuDeviceSetMemPool", 0, mine)), make("cuDeviceGetMemPool", 0).value == mine.value, err(cu("cuDeviceSetMemPool", 0, default)), make("cuDeviceGetMemPool", 0).value == default.value])
# b) cuMemAllocAsync and FreeAsync: errors and order. Guess: size 0 is INVALID_VALUE; twice freed INVALID_VALUE; free of
# cuMemAlloc memory by FreeAsync is allowed; used counts the exact bytes rounded to 512; free in another stream is allowed.
# Met by array packages' allocators.
D = alloc(4096); managed = c_uint64(); ok("cuMemAllocManaged", byref(managed), 4096, 1); hp = make("cuMemHostAlloc", 4096, 0)
a1, a2 = c_uint64(), c_uint64()
codes(Q, "b ", [("alloc 0", ("cuMemAllocAsync", byref(q), 0, s)), ("alloc 2^50", ("cuMemAllocAsync", byref(q), 2**50, s)), ("free null", ("cuMemFreeAsync", 0, s)), ("alloc", ("cuMemAllocAsync", byref(a1), 1000, s)), ("free", lambda: cu("cuMemFreeAsync", a1, s)), ("synchronise", ("cuStreamSynchronize", s)), ("alloc on the legacy stream", ("cuMemAllocAsync", byref(a2), 1000, 0)), ("free in another stream", lambda: cu("cuMemFreeAsync", a2, s2)), ("alloc per-thread stream", ("cuMemAllocAsync", byref(a2), 1000, 2)), ("cuMemFree of it", lambda: cu("cuMemFree_v2", a2))])
sync()
p3 = make("cuMemPoolCreate", pool_props())
def sizes(n):
    v = c_uint64(); before = attr(p3, 7); ok("cuMemAllocFromPoolAsync", byref(v), n, p3, s); used = attr(p3, 7) - before; base, size = c_uint64(), c_size_t(); cu("cuMemGetAddressRange_v2", byref(base), byref(size), v); cu("cuMemFreeAsync", v, s); return used, size.value, v.value & 511, v.value & 255
for n in (1, 255, 256, 257, 512, 513, 4096, 65536, 65537, 1 << 20, (1 << 20) + 1, (2 << 20) + 1):
    guarded(Q, "b", lambda: say(Q, f"b block of {n}: used grows by, range, address mod 512, 256", sizes(n)))
cu("cuStreamSynchronize", s); say(Q, "b used, high, reserved after all (in MiB for reserved)", [attr(p3, 7), attr(p3, 8), attr(p3, 5) >> 20])
say(Q, "b reset the high mark", [err(cu("cuMemPoolSetAttribute", p3, 8, byref(c_uint64(0)))), attr(p3, 8)])
# c) Reuse: the same address when? Within one stream after free; in another stream with and without an event, by attribute; and
# after a trim. Guess: one stream yes; event yes if FOLLOW_EVENT; otherwise only when the free has certainly finished (OPPORTUNISTIC).
# Met by programs which check for reuse of memory.
for key, setting, mode in [("one stream", {}, "same"), ("other stream, event", {}, "event"), ("other stream, event, FOLLOW_EVENT 0, OPPORTUNISTIC 0, INTERNAL 0", {1: 0, 2: 0, 3: 0}, "event"), ("other stream, nothing, all 0", {1: 0, 2: 0, 3: 0}, "none"), ("other stream, host synchronised", {1: 0, 3: 0}, "sync"), ("other stream, host synchronised, all 0", {1: 0, 2: 0, 3: 0}, "sync"), ("other stream, INTERNAL only", {1: 0, 2: 0}, "none")]:
    def main():
        pl = make("cuMemPoolCreate", pool_props()); ok("cuMemPoolSetAttribute", pl, 4, byref(c_uint64(2**64 - 1)))
        for k, v in setting.items(): ok("cuMemPoolSetAttribute", pl, k, byref(c_uint64(v)))
        x, y, e = c_uint64(), c_uint64(), make("cuEventCreate", 2); ok("cuMemAllocFromPoolAsync", byref(x), 1 << 20, pl, s); ok("cuMemFreeAsync", x, s)
        if mode == "event": ok("cuEventRecord", e, s); ok("cuStreamWaitEvent", s2, e, 0)
        if mode == "sync": ok("cuStreamSynchronize", s)
        r = cu("cuMemAllocFromPoolAsync", byref(y), 1 << 20, pl, s if mode == "same" else s2); say(Q, f"c {key}", f"{err(r)} {'the same address' if x.value == y.value else 'another'}")
        cu("cuMemFreeAsync", y, s2); sync(); r0 = attr(pl, 5); t = [err(cu("cuMemPoolTrimTo", pl, k)) for k in (1 << 30, 1 << 20, 0)]; say(Q, f"c {key}: trim to 1 GiB, 1 MiB, 0, then reserved", t + [attr(pl, 5), r0 > 0]); cu("cuMemPoolDestroy", pl)
    guarded(Q, f"c {key}", main)
