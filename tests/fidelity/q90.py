from common import *
Q = "q90"
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
IMAGE = compile_cuda('extern "C" __global__ void k(int *o) { if (o) o[0] += 1; }')
COOP = 'extern "C" __global__ void k(int *o) { if (o) o[0] = 1; }'
LIMITS = {0: "stack", 1: "printf", 2: "heap", 3: "sync depth", 4: "pending launches", 5: "L2 fetch", 6: "persisting L2", 7: "7", 8: "8", 9: "9"}
def limit(i): v = c_size_t(); r = cu("cuCtxGetLimit", byref(v), i); return err(r) if r else v.value
# a) Contexts side by side: limits, cache configurations and flags of one seen from another; what a reset of the primary context does to its flags, limits, count and handles; creation with parameters (v3, v4); ids; attach and detach; module and heap
# settings after printing. Guess: limits are per context and come back to defaults after a reset; a reset leaves retain counts; detach of a context with one use destroys it; ids grow. Met by libraries living with others in one process.
def contexts():
    state = lambda: (lambda a, b: [err(cu("cuDevicePrimaryCtxGetState", 0, byref(a), byref(b))), a.value, b.value])(c_uint(99), c_int(99)); cid = lambda c: (lambda v: v.value if not cu("cuCtxGetId", c, byref(v)) else -1)(c_uint64()); ver = lambda c: (lambda v: [err(cu("cuCtxGetApiVersion", c, byref(v))), v.value])(c_uint())
    ok("cuInit", 0); P, Z = c_void_p(), c_void_p(); ok("cuDevicePrimaryCtxRetain", byref(P), 0); ok("cuCtxSetCurrent", P); before = [limit(i) for i in range(6)]
    T("a limits at first of " + ", ".join(LIMITS[i] for i in (0, 1, 2, 3, 4, 8, 9)), lambda: [limit(i) for i in (0, 1, 2, 3, 4, 8, 9)])
    r = E(cu("cuCtxSetLimit", 0, 2000), cu("cuCtxSetLimit", 1, 3 << 20), cu("cuCtxSetLimit", 2, 16 << 20), cu("cuCtxSetLimit", 3, 4), cu("cuCtxSetLimit", 4, 100), cu("cuCtxSetLimit", 5, 32), cu("cuCtxSetCacheConfig", 2)); mine = [limit(i) for i in range(5)]; A = make("cuCtxCreate_v2", 1, 0)
    say(Q, "a set in the primary: stack, printf, heap, depth, launches, fetch, cache", r); say(Q, "a then there", mine); say(Q, "a in a new context", [limit(i) for i in range(5)] + [(lambda v: (cu("cuCtxGetCacheConfig", byref(v)), v.value)[1])(c_int(9)), (lambda v: (cu("cuCtxGetFlags", byref(v)), v.value)[1])(c_uint(99))])
    say(Q, "a set stack there, back in the primary", [err(cu("cuCtxSetLimit", 0, 5000)), limit(0), (cu("cuCtxSetCurrent", P), limit(0))[1]])
    T("a ids: of null is the current's, A's is greater, same twice", lambda: [cid(0) == cid(P), cid(A) > cid(P), cid(A) == cid(A)]); T("a versions of primary, A, null", lambda: [ver(P), ver(A), ver(0)])
    for key, fn in {"v3 without parameters": lambda h: cu("cuCtxCreate_v3", byref(h), None, 0, 0, 0), "v3, flags 4": lambda h: cu("cuCtxCreate_v3", byref(h), None, 0, 4, 0), "v3, flags 3": lambda h: cu("cuCtxCreate_v3", byref(h), None, 0, 3, 0), "v3, affinity of type 5": lambda h: cu("cuCtxCreate_v3", byref(h), packed("II", 5, 1, size=16), 1, 0, 0), "v3, affinity to 0": lambda h: cu("cuCtxCreate_v3", byref(h), packed("II", 0, 0, size=16), 1, 0, 0), "v4 without parameters": lambda h: cu("cuCtxCreate_v4", byref(h), None, 0, 0), "v4, empty parameters": lambda h: cu("cuCtxCreate_v4", byref(h), packed("QiQ", 0, 0, 0, size=24), 0, 0), "v4, device 7": lambda h: cu("cuCtxCreate_v4", byref(h), None, 0, 7)}.items():
        def main():
            h = c_void_p(); r = fn(h); out = E(r)
            if not r: out += [ver(h)[1], (lambda v: (cu("cuCtxGetFlags", byref(v)), v.value)[1])(c_uint(99))] + E(cu("cuCtxGetExecAffinity", packed("II", 0, 0, size=16), 0), cu("cuCtxGetExecAffinity", packed("II", 0, 0, size=16), 5), cu("cuCtxDestroy_v2", h))
            cu("cuCtxSetCurrent", P); return out
        T("a create " + key, main)
    def attach():
        h, x = c_void_p(), c_void_p(); ok("cuCtxSetCurrent", A); out = E(cu("cuCtxAttach", byref(h), 0)) + [h.value == A.value] + E(cu("cuCtxAttach", byref(h), 1), cu("cuCtxDetach", A)) ; cu("cuCtxGetCurrent", byref(x)); out += [x.value == A.value]; cu("cuCtxSetCurrent", P); return out
    T("a attach, attach flags 1, detach; still current", attach); T("a destroy A", lambda: E(cu("cuCtxDestroy_v2", A)))
    T("a retain twice, release, state; flags 4 while active", lambda: E(cu("cuDevicePrimaryCtxRetain", byref(Z), 0), cu("cuDevicePrimaryCtxRetain", byref(Z), 0)) + [Z.value == P.value] + E(cu("cuDevicePrimaryCtxRelease_v2", 0)) + [state()] + E(cu("cuDevicePrimaryCtxSetFlags_v2", 0, 4)) + [state()] + [(lambda v: (cu("cuCtxGetFlags", byref(v)), v.value)[1])(c_uint(99))])
    T("a reset; state; limits; current is it", lambda: E(cu("cuDevicePrimaryCtxReset_v2", 0)) + [state()] + [[limit(i) for i in range(5)]] + (lambda x: E(cu("cuCtxGetCurrent", byref(x))) + [x.value == P.value])(c_void_p()))
    T("a retain again: same handle, limits as at first, flags; releases until refused", lambda: E(cu("cuDevicePrimaryCtxRetain", byref(Z), 0), cu("cuCtxSetCurrent", Z)) + [Z.value == P.value, [limit(i) for i in range(6)] == before, state()] + E(cu("cuDevicePrimaryCtxRelease_v2", 0)) + [state()] + E(cu("cuDevicePrimaryCtxRelease_v2", 0)) + [state()] + E(cu("cuDevicePrimaryCtxRelease_v2", 0), cu("cuDevicePrimaryCtxRelease_v2", 0)) + [state()])
if sys.argv[1:] == ["contexts"]: contexts(); os._exit(0)
if sys.argv[1:2] == ["external"]:
    init(); i = int(sys.argv[2]); mem = lambda t, fd=-1, n=4096, f=0: packed("i4xi12xQI", t, fd, n, f, size=104); sem = lambda t, fd=-1, f=0: packed("i4xi12xI", t, fd, f, size=96)
    cases = [(f"memory type {t} fd {fd} size {n} flags {f}", lambda t=t, fd=fd, n=n, f=f: cu("cuImportExternalMemory", byref(c_void_p()), mem(t, fd, n, f))) for t, fd, n, f in ((0, -1, 4096, 0), (1, -1, 4096, 0), (1, -1, 0, 0), (1, -1, 4096, 2), (99, -1, 4096, 0), (9, -1, 4096, 0))] + [(f"semaphore type {t} fd {fd} flags {f}", lambda t=t, fd=fd, f=f: cu("cuImportExternalSemaphore", byref(c_void_p()), sem(t, fd, f))) for t, fd, f in ((0, -1, 0), (1, -1, 0), (9, -1, 0), (1, -1, 1), (99, -1, 0))]
    if i < len(cases): codes(Q, "c external ", [cases[i]])
    os._exit(0)
if sys.argv[1:2] == ["null"]:
    init(); i = int(sys.argv[2]); f = function(load(IMAGE)); a = c_uint64(0); p = (c_void_p * 1)(ctypes.addressof(a)); at = ctypes.create_string_buffer(struct.pack("<I4x", (7, 12)[i & 1]) + bytes(64), 72); c = packed("7I4xQQI4x", 1, 1, 1, 32, 1, 1, 0, 0, ctypes.addressof(at) if i < 2 else 0, 1 if i < 2 else 0)
    say(Q, ("b attribute programmatic event, null", "b attribute launch completion event, null", "b null function by Ex", "b null function", "b null function, cooperative")[i], E(cu("cuLaunchKernelEx", c, f if i < 2 else 0, p, None) if i < 3 else cu("cuLaunchKernel", 0, 1, 1, 1, 1, 1, 1, 0, 0, p, None) if i == 3 else cu("cuLaunchCooperativeKernel", 0, 1, 1, 1, 1, 1, 1, 0, 0, p), sync())); os._exit(0)
child("contexts")
ctx = init(); D = alloc(4096); s = make("cuStreamCreate", 1); lo_hi = c_int()
K = function(load(IMAGE)); C = build(COOP); SM = attribute(16)
# b) Launches: cooperative ones as large as fits and one more, by both calls, with shared memory and in streams; launch attributes one by one with the value read back from a captured node; parameters by the extra buffer in cuLaunchKernelEx; grids of three dimensions
# and their product; functions of another context. Guess: one block more is COOPERATIVE_LAUNCH_TOO_LARGE 720; a grid's product may be above 2^31; attributes are kept in the node. Met by grid-wide barriers.
def launches():
    n = c_int(); cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(n), C, 1024, 0); most = n.value * SM; a = c_uint64(D); p = (c_void_p * 1)(ctypes.addressof(a)); coop = lambda g, b=1024, sh=0, st=0, f=None: E(cu("cuLaunchCooperativeKernel", f or C, *g, *((b, 1, 1) if isinstance(b, int) else b), sh, st, p), sync())
    codes(Q, "b cooperative ", [("as many as fit", lambda: coop((most, 1, 1))), ("one more", lambda: coop((most + 1, 1, 1))), ("as many, in y", lambda: coop((1, most, 1))), ("one more, in z", lambda: coop((1, 1, most + 1))), ("grid 0", lambda: coop((0, 1, 1))), ("block 0", lambda: coop((1, 1, 1), 0)), ("block 1025", lambda: coop((1, 1, 1), 1025)), ("48 KiB + 1 of shared memory", lambda: coop((1, 1, 1), 32, 49153)), ("shared memory that fits but once, 2 a multiprocessor", lambda: (cu("cuFuncSetAttribute", C, 8, 100000), coop((3 * SM, 1, 1), 32, 100000))[1]), ("per-thread stream", lambda: coop((1, 1, 1), 32, 0, 2)), ("in a capture", lambda: (lambda g: E(cu("cuStreamBeginCapture_v2", s, 2), cu("cuLaunchCooperativeKernel", C, 1, 1, 1, 32, 1, 1, 0, s, p), cu("cuStreamEndCapture", s, byref(g))))(c_void_p())), ("in a capture, too large", lambda: (lambda g: E(cu("cuStreamBeginCapture_v2", s, 2), cu("cuLaunchCooperativeKernel", C, 40 * SM, 1, 1, 1024, 1, 1, 0, s, p), cu("cuStreamEndCapture", s, byref(g))))(c_void_p()))])
    def ex(attrs=(), extra=None, params=p, f=None, grid=(1, 1, 1), block=(32, 1, 1), st=0, num=None): buf = ctypes.create_string_buffer(b"".join(struct.pack("<I4x", i) + v.ljust(64, b"\0") for i, v in attrs).ljust(72, b"\0")); return cu("cuLaunchKernelEx", packed("7I4xQQI4x", *grid, *block, 0, st, ctypes.addressof(buf), len(attrs) if num is None else num), f or K, params, extra)
    I = lambda *v: struct.pack(f"<{len(v)}i", *v)
    for key, at in {"priority -1": (8, I(-1)), "priority 5": (8, I(5)), "cooperative": (2, I(1)), "carveout 30": (14, I(30)), "sync domain 1": (10, I(1)), "domain map 0 1": (9, struct.pack("<BB", 0, 1)), "device updatable 0": (13, I(0)), "scheduling policy (5) 1": (5, I(1)), "id 16": (16, I(1)), "window": (1, struct.pack("<QQfII", D, 256, 0.5, 1, 2))}.items():
        def main():
            g, nodes, k, o = c_void_p(), (c_void_p * 4)(), c_size_t(4), ctypes.create_string_buffer(64); ok("cuStreamBeginCapture_v2", s, 2); r = ex((at,), st=s.value); r2 = cu("cuStreamEndCapture", s, byref(g)); out = E(r, r2)
            if g.value and not cu("cuGraphGetNodes", g, nodes, byref(k)) and k.value: r3 = cu("cuGraphKernelNodeGetAttribute", c_void_p(nodes[0]), at[0], o); out += [k.value] + E(r3) + ([o.raw[:4].hex()] if not r3 and at[0] not in (1, 7, 12) else [])
            return out + E(ex((at,)), sync())
        T("b attribute " + key + ": captured, nodes, read back; launched", main)
    def by_extra():
        b = ctypes.create_string_buffer(struct.pack("<Q", D)); z = c_size_t(8); x = (c_void_p * 5)(1, ctypes.addressof(b), 2, ctypes.addressof(z), 0); put(D, bytes(8)); return E(ex((), x, None), sync(), ex((), x, p), sync()) + u32(get(D, 4))
    T("b Ex with an extra buffer; with both", by_extra); T("b Ex with 0 attributes and a pointer; grid 0; block 2000", lambda: E(ex(num=0), sync(), ex(grid=(0, 1, 1)), ex(block=(2000, 1, 1)), sync()))
    for grid in ((65536, 1, 1), (1, 65535, 2), (1, 2, 65535), (2**31 - 1, 65536, 1), (1, 65536, 1)): T(f"b empty kernel, grid {grid}" if grid[0] < 2**30 else f"b refused grid {grid}", lambda: E(launch_code(K, grid, 1, (c_uint64(0),)), sync()))
    def other(): c2 = make("cuCtxCreate_v2", 0, 0); r = E(launch_code(K, 1, 1, (c_uint64(0),)), ex(), cu("cuLaunchCooperativeKernel", C, 1, 1, 1, 32, 1, 1, 0, 0, p), cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(n), K, 32, 0), cu("cuFuncSetAttribute", K, 8, 1024), sync()); cu("cuCtxDestroy_v2", c2); cu("cuCtxSetCurrent", ctx); return r + E(launch_code(K, 1, 1, (c_uint64(0),)), sync())
    T("b in another context: launch, Ex, cooperative, occupancy, set attribute; then at home", other)
guarded(Q, "b", launches)
# c) The rest: which error codes have names (all numbers from -1 to 1100), odd attributes of the device by number, versions of entry points, profiler calls, user objects' counts and flags in graphs, external memory and semaphores that are refused, coredump attributes left out.
# Guess: names exist for the documented codes only; profiler calls are OK without a tool; a user object needs flags 1 (no destructor sync); imports of fd -1 are INVALID_VALUE or OPERATING_SYSTEM. Met by bindings at import and by interoperation code.
def rest():
    named, text = [], hashlib.sha1()
    for c in range(-1, 1101):
        p, q = c_char_p(), c_char_p(); r, r2 = cu("cuGetErrorName", c & 0xffffffff, byref(p)), cu("cuGetErrorString", c & 0xffffffff, byref(q))
        if not r: named.append(c); text.update(f"{c} {p.value.decode()} {q.value.decode()} {r2}\n".encode())
        elif r != 1 or r2 != 1 or p.value or q.value: say(Q, f"c error {c}", E(r, r2) + [p.value, q.value])
    say(Q, "c codes that have names", compact(named)); say(Q, "c how many; digest of names and texts", [len(named), text.hexdigest()[:12]])
    for lo in range(0, 1000, 100): cs = [c for c in named if lo <= c < lo + 100]; cs and say(Q, f"c digest of {lo}..{lo + 99}", hashlib.sha1("".join((lambda p, q: (cu("cuGetErrorName", c, byref(p)), cu("cuGetErrorString", c, byref(q)), f"{p.value.decode()} {q.value.decode()}\n")[2])(c_char_p(), c_char_p()) for c in cs).encode()).hexdigest()[:12])
    for some in ((15, 18, 19, 20), (31, 35, 41, 78), (79, 80, 83, 84), (90, 91), (92, 93, 94), (95, 96), (98, 99), (102, 103, 104, 105), (107, 110, 112), (113, 114), (115, 119), (121, 122, 123), (125, 129, 133)): say(Q, f"c device attributes {some}", [attribute(a) for a in some])
    say(Q, "c attribute numbers that are refused", compact([a for a in range(0, 160) if cu("cuDeviceGetAttribute", byref(c_int()), a, 0)]))
    codes(Q, "c ", [("profiler start", ("cuProfilerStart",)), ("start again", ("cuProfilerStart",)), ("stop", ("cuProfilerStop",)), ("stop again", ("cuProfilerStop",)), ("initialise", ("cuProfilerInitialize", b"/nonexistent", b"/tmp/none", 1)), ("P2P atomics with itself", ("cuDeviceGetP2PAttribute", byref(c_int()), 3, 0, 0)), ("flush of remote writes", ("cuFlushGPUDirectRDMAWrites", 100, 100)), ("flush, target 0", ("cuFlushGPUDirectRDMAWrites", 0, 100)), ("unmap of no graphics resources", ("cuGraphicsUnmapResources", 0, None, 0))])
    HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); freed = []; fn = HOSTFN(lambda d: freed.append(d)); fp = ctypes.cast(fn, c_void_p); import time
    def user(key, setup):
        def main(): freed.clear(); g = make("cuGraphCreate", 0); cu("cuGraphAddEmptyNode", byref(c_void_p()), g, None, 0); h = c_void_p(); r = cu("cuUserObjectCreate", byref(h), 5, fp, 2, 1); out = E(r) + setup(g, h); time.sleep(0.2); return out + [list(freed)]
        T("c user object: " + key, main)
    inst = lambda g: (lambda e: (cu("cuGraphInstantiateWithFlags", byref(e), g, 0), e)[1])(c_void_p()); wait = lambda: (sync(), time.sleep(0.1))[0]
    user("retain 3, release 2, 3", lambda g, h: E(cu("cuUserObjectRetain", h, 3), cu("cuUserObjectRelease", h, 2)) + [list(freed)] + E(cu("cuUserObjectRelease", h, 3)))
    user("retain 0", lambda g, h: E(cu("cuUserObjectRetain", h, 0), cu("cuUserObjectRelease", h, 2)))
    user("graph retains 1 (copied), graph releases it, host releases 2", lambda g, h: E(cu("cuGraphRetainUserObject", g, h, 1, 0), cu("cuGraphReleaseUserObject", g, h, 1), cu("cuGraphReleaseUserObject", g, h, 1)) + [list(freed)] + E(cu("cuUserObjectRelease", h, 2)))
    user("graph retains 2 moved, clone, both destroyed", lambda g, h: (lambda c: E(cu("cuGraphRetainUserObject", g, h, 2, 1), cu("cuGraphClone", byref(c), g), cu("cuGraphDestroy", g)) + [list(freed)] + E(cu("cuGraphDestroy", c)))(c_void_p()))
    user("moved, executable launched and destroyed after the graph", lambda g, h: (lambda e: E(cu("cuGraphRetainUserObject", g, h, 2, 1), cu("cuGraphDestroy", inst_keep(g, e))) + [list(freed)] + E(cu("cuGraphLaunch", e, s), wait(), cu("cuGraphExecDestroy", e), wait()))(c_void_p()))
    user("as a child graph's, both destroyed", lambda g, h: (lambda p, n: E(cu("cuGraphRetainUserObject", g, h, 2, 1), cu("cuGraphAddChildGraphNode", byref(n), p, None, 0, g), cu("cuGraphDestroy", g)) + [list(freed)] + E(cu("cuGraphDestroy", p)))(make("cuGraphCreate", 0), c_void_p()))
    user("graph retain flags 2, count 0, then host releases", lambda g, h: E(cu("cuGraphRetainUserObject", g, h, 1, 2), cu("cuGraphRetainUserObject", g, h, 0, 0), cu("cuUserObjectRelease", h, 2)))
def inst_keep(g, e): ok("cuGraphInstantiateWithFlags", byref(e), g, 0); return g
guarded(Q, "c", rest)
def proc():
    def one(name, version, flags=0): p, st = c_void_p(), c_int(-9); r = cu("cuGetProcAddress_v2", name.encode(), byref(p), version, flags, byref(st)); known = [n for n in (name, name + "_v2", name + "_v3", name + "_v4", name + "_ptsz", name + "_v2_ptsz", name + "_v3_ptsz", name + "_v2_ptds", name + "_ptds") if hasattr(lib, n) and ctypes.cast(getattr(lib, n), c_void_p).value == p.value]; return [err(r), known[:1] or ("null" if not p.value else "other"), st.value]
    for name, vs in {"cuCtxCreate": (2000, 3020, 11040, 12050, 13000), "cuStreamGetCaptureInfo": (10010, 11030, 12030, 13000), "cuGraphKernelNodeSetParams": (10000, 12000), "cuEventElapsedTime": (2000, 12080), "cuMemcpy2D": (2000, 3020), "cuStreamBatchMemOp": (8000, 11070), "cuGraphExecUpdate": (10020, 12000), "cuMemPrefetchAsync": (8000, 12020, 13000)}.items():
        T(f"c entry points of {name}: {vs}", lambda: [one(name, v) for v in vs]); T(f"c per-thread {name} of {vs[-1]}", lambda: one(name, vs[-1], 2))
guarded(Q, "c entry", proc)
children([("null", i) for i in range(5)] + [("external", i) for i in range(11)])
