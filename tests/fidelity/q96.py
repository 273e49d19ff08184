from common import *
Q = "q96"
import threading
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
ctx = init()
new = lambda flags=1: make("cuStreamCreate", flags)
event = lambda flags=2: make("cuEventCreate", flags)
graph = lambda: make("cuGraphCreate", 0)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)
seen, keep = [], []
NOTE = HOSTFN(lambda d: seen.append(d or 0))
D = alloc(65536); S = new()
M = load(compile_cuda('extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] = o[threadIdx.x] * 10 + v; }\nextern "C" __global__ void j(int *o, int v, long long w) { o[threadIdx.x] = v + (int)w; }\nextern "C" __global__ void copy_(int *o, const int *p) { o[0] = p[0]; }'))
K, J, C = function(M), function(M, "j"), function(M, "copy_")
deps = lambda ds: ((c_void_p * max(1, len(ds)))(*[d.value for d in ds]) if ds else None, len(ds))
def kparams(v=1, f=None, at=0, grid=1, block=1, third=None):
    a = [c_uint64(D + at), c_int(v)] + ([ctypes.c_longlong(third)] if third is not None else []); p = (c_void_p * len(a))(*[ctypes.addressof(x) for x in a]); keep.extend([a, p])
    return packed("Q7I4xQQQQ", (f or K).value, grid, 1, 1, block, 1, 1, 0, ctypes.addressof(p), 0, 0, 0)
def kernel(g, ds=(), **kw): n = c_void_p(); ok("cuGraphAddKernelNode_v2", byref(n), g, *deps(ds), kparams(**kw)); return n
mparams = lambda v=1, at=0, es=4, w=1, h=1, pitch=0: packed("QQIIQQ", D + at, pitch, v, es, w, h)
def memset(g, ds=(), **kw): n = c_void_p(); ok("cuGraphAddMemsetNode", byref(n), g, *deps(ds), mparams(**kw), ctx); return n
def cparams(dst, src, n, dk=2, sk=2): return ctypes.create_string_buffer(struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, sk, src if sk == 1 else 0, src if sk != 1 else 0, 0, 0, 0, 0) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, dk, dst if dk == 1 else 0, dst if dk != 1 else 0, 0, 0, 0, 0) + struct.pack("<QQQ", n, 1, 1), 200)
def memcpy(g, dst, src, n=4, ds=(), **kw): x = c_void_p(); ok("cuGraphAddMemcpyNode", byref(x), g, *deps(ds), cparams(dst, src, n, **kw), ctx); return x
hparams = lambda v=7: packed("QQ", ctypes.cast(NOTE, c_void_p).value, v)
def host(g, ds=(), v=7): n = c_void_p(); ok("cuGraphAddHostNode", byref(n), g, *deps(ds), hparams(v)); return n
inst = lambda g, flags=0: (lambda e: (cu("cuGraphInstantiateWithFlags", byref(e), g, flags), e))(c_void_p())
def go(e, times=1, s=None):
    r = 0
    for _ in range(times): r = r or cu("cuGraphLaunch", e, s or S)
    return r or cu("cuStreamSynchronize", s or S)
def c_ubyte_at(p, v): ctypes.c_ubyte.from_address(p).value = v
word = lambda at=0: struct.unpack("<i", get(D + at, 4))[0]
clear = lambda: (ok("cuMemsetD8_v2", D, 0, 4096), seen.clear())
# a) Executables changed by the calls for one kind of node, and what memory holds after each launch: kernels (value, function, grid, parameters), fills (value, width, rows, place), copies (direction, length), host functions, children, batches of memory operations, disabled nodes;
# the change while a launch is queued, on the node behind the executable, dependents and roots. Guess: a change holds for later launches only; the graph's own nodes are untouched; copies may not change kinds of memory; a 1D fill may not become 2D; children must have the same shape.
# Met by inference engines that patch pointers between launches.
def changes():
    g = graph(); a = memset(g, v=5); b = kernel(g, (a,), v=1); c = kernel(g, (b,), v=2); d = memcpy(g, D + 64, D, 4, (c,)); h = host(g, (d,), 3); _, e = inst(g); X = lambda name, n, p, *more: cu(f"cuGraphExec{name}NodeSetParams" + ("_v2" if name == "Kernel" else ""), e, n, p, *more)
    def step(key, *calls): T("a " + key, lambda: E(*[f() for f in calls]) + (clear(), E(go(e)))[1] + [word(), word(64), seen[:]])
    step("as built")
    step("kernel's value", lambda: X("Kernel", b, kparams(v=9)))
    step("kernel's function and a third parameter", lambda: X("Kernel", c, kparams(v=4, f=J, third=100)))
    step("back, elsewhere and with two threads", lambda: X("Kernel", c, kparams(v=4, at=32, block=2)))
    step("grid 0", lambda: X("Kernel", c, kparams(grid=0)))
    step("block 1025", lambda: X("Kernel", c, kparams(block=1025)))
    step("fill: value, bytes, wider", lambda: X("Memset", a, mparams(v=6), ctx), lambda: X("Memset", a, mparams(v=1, es=1, w=2), ctx), lambda: X("Memset", a, mparams(v=7, w=4), ctx))
    step("fill of two rows", lambda: X("Memset", a, mparams(v=7, w=1, h=2, pitch=16), ctx))
    step("fill of no width", lambda: X("Memset", a, mparams(w=0), ctx))
    step("copy longer, to elsewhere, the other way", lambda: X("Memcpy", d, cparams(D + 64, D, 8), ctx), lambda: X("Memcpy", d, cparams(D + 64, D + 32, 4), ctx))
    hp = make("cuMemHostAlloc", 64, 0); step("copy from pinned memory as host, as unified", lambda: X("Memcpy", d, cparams(D + 64, hp.value, 4, sk=1), ctx), lambda: X("Memcpy", d, cparams(D + 64, hp.value, 4, sk=4), ctx))
    step("host function's data", lambda: X("Host", h, hparams(11)))
    step("kernel call on a fill, fill call on a kernel", lambda: X("Kernel", a, kparams()), lambda: X("Memset", b, mparams(), ctx))
    step("first kernel disabled", lambda: cu("cuGraphNodeSetEnabled", e, b, 0)); step("fill and copy disabled too", lambda: cu("cuGraphNodeSetEnabled", e, a, 0), lambda: cu("cuGraphNodeSetEnabled", e, d, 0)); step("host disabled", lambda: cu("cuGraphNodeSetEnabled", e, h, 0))
    step("changed while disabled, then enabled", lambda: X("Kernel", b, kparams(v=8)), *[lambda n=n: cu("cuGraphNodeSetEnabled", e, n, 1) for n in (a, b, d)])
    T("a node's own parameters are as built; after a change of the node the executable is as before", lambda: (lambda p, q: E(cu("cuGraphMemsetNodeGetParams", a, p)) + list(struct.unpack_from("<II", p, 16)) + E(cu("cuGraphMemsetNodeSetParams", a, mparams(v=50)), cu("cuGraphHostNodeSetParams", h, hparams(99)), cu("cuGraphHostNodeGetParams", h, q)) + [struct.unpack("<QQ", q)[1]] + (clear(), E(go(e)))[1] + [word(), seen[:]])(ctypes.create_string_buffer(48), ctypes.create_string_buffer(16)))
    T("a instantiated anew: the node's changes", lambda: (lambda e2: (clear(), E(go(e2, 2)) + [word(), word(64), seen[:]])[1])(inst(g)[1]))
    def queued():
        clear(); p = make("cuMemHostAlloc", 8, 0); w = c_uint.from_address(p.value); w.value = 0; t = threading.Timer(2, lambda: setattr(w, "value", 1)); t.start(); g2 = graph(); n = kernel(g2, v=3); _, e2 = inst(g2)
        r = E(cu("cuStreamWaitValue32_v2", S, p.value, 1, 1), cu("cuGraphLaunch", e2, S), cu("cuGraphExecKernelNodeSetParams_v2", e2, n, kparams(v=6)), cu("cuGraphLaunch", e2, S)); w.value = 1; t.cancel(); return r + E(cu("cuStreamSynchronize", S)) + [word()]
    T("a changed between two queued launches behind a held stream", queued)
    def child_():
        def sub(v, n=1): x = graph(); p = (); 
        def chain(vs):
            x, p = graph(), ()
            for v in vs: p = (kernel(x, p, v=v),)
            return x
        g3 = graph(); n = c_void_p(); ok("cuGraphAddChildGraphNode", byref(n), g3, None, 0, chain((1, 2))); _, e3 = inst(g3); clear(); out = E(go(e3)) + [word()]
        for vs in ((5, 6), (7,), (1, 2, 3)): clear(); out += E(cu("cuGraphExecChildGraphNodeSetParams", e3, n, chain(vs)), go(e3)) + [word()]
        x = c_void_p(); k = c_size_t(); out += E(cu("cuGraphChildGraphNodeGetGraph", n, byref(x)), cu("cuGraphGetNodes", x, None, byref(k))) + [k.value]; kernel(x, v=9); clear(); out += E(go(e3)) + [word()] + E(go((inst(g3))[1])); return out
    T("a child: run; replaced by 5 6, by one node, by three; its graph's nodes; one added to it: the executable, a new one", child_)
    def batch():
        ops = lambda v: ctypes.create_string_buffer(struct.pack("<I4xQQI4xQ8x", 2, D + 128, v, 0, 0) + struct.pack("<I4xQQI4xQ8x", 2, D + 132, v + 1, 0, 0), 96); par = lambda o, n=2, f=0: packed("QI4xQI4x", ctx.value, n, ctypes.addressof(o), f); n = c_void_p(); g4 = graph(); o, o2 = ops(40), ops(60); keep.extend([o, o2]); clear(); t = c_int()
        out = E(cu("cuGraphAddBatchMemOpNode", byref(n), g4, None, 0, par(o)), cu("cuGraphNodeGetType", n, byref(t))) + [t.value]; _, e4 = inst(g4); out += E(go(e4)) + [word(128), word(132)] + E(cu("cuGraphExecBatchMemOpNodeSetParams", e4, n, par(o2)), go(e4)) + [word(128), word(132)]
        q = ctypes.create_string_buffer(32); return out + E(cu("cuGraphBatchMemOpNodeGetParams", n, q)) + [struct.unpack_from("<I", q, 8)[0]] + E(cu("cuGraphExecBatchMemOpNodeSetParams", e4, n, par(o2, 1)), cu("cuGraphAddBatchMemOpNode", byref(n), g4, None, 0, par(o, 0)), cu("cuGraphAddBatchMemOpNode", byref(n), g4, None, 0, par(o, 2, 1)))
    T("a batch of two writes: add, type, run, changed, run; parameters; count 1; none; flags 1", batch)
    k = c_size_t(5); arr = (c_void_p * 5)(); T("a dependents of the fill, of the last; dependencies of the copy; roots; with room for 5", lambda: E(cu("cuGraphNodeGetDependentNodes", a, None, byref(k))) + [k.value] + E(cu("cuGraphNodeGetDependentNodes", h, None, byref(k))) + [k.value] + (setattr(k, "value", 5), E(cu("cuGraphNodeGetDependencies", d, arr, byref(k))))[1] + [k.value, arr[0] == c.value, arr[1]] + E(cu("cuGraphGetRootNodes", g, None, byref(k))) + [k.value])
guarded(Q, "a", changes)
# b) Memory of graphs across graphs and streams: allocated in one graph and freed in the next, by the stream, by cuMemFree; captured allocations used behind the graph; two graphs with allocations at once; freeing on launch; order of alloc, fill, copy and free nodes with values; what a second launch gives; statistics' zero.
# Guess: a block of graph A may be freed by graph B's free node; a second launch of A before that is INVALID_VALUE; with AUTO_FREE_ON_LAUNCH it passes; cuMemFree of it works. Met by captures of training steps that allocate.
def memory():
    def alloc_node(g, n=4096, ds=()): p = packed("IIII8xQH", 1, 0, 1, 0, 0, 0, size=120); struct.pack_into("<Q", p, 104, n); x = c_void_p(); ok("cuGraphAddMemAllocNode", byref(x), g, *deps(ds), p); return x, struct.unpack_from("<Q", p, 112)[0]
    def free_node(g, d, ds=()): x = c_void_p(); return cu("cuGraphAddMemFreeNode", byref(x), g, *deps(ds), d), x
    def fill(g, d, v, ds): n = c_void_p(); ok("cuGraphAddMemsetNode", byref(n), g, *deps(ds), packed("QQIIQQ", d, 0, v, 4, 4, 1), ctx); return n
    def pair(flags=0):
        g = graph(); n, d = alloc_node(g); f = fill(g, d, 0x11, (n,)); memcpy(g, D, d, 16, (f,)); r, e = inst(g, flags); return r, e, d
    T("b alloc, fill, copy; launch; copy by the host; again; freed by the stream; launch; freed by cuMemFree; launch", lambda: (lambda r, e, d: (clear(), E(r, go(e)) + [word(), u32(get(d, 4))[0]] + E(cu("cuGraphLaunch", e, S), cu("cuMemFreeAsync", d, S), go(e), cu("cuMemFree_v2", d), go(e), cu("cuMemFree_v2", d), cu("cuMemFree_v2", d)))[1])(*pair()))
    T("b freeing on launch: three launches; free; a free more", lambda: (lambda r, e, d: E(r, go(e), go(e, 2), cu("cuMemFreeAsync", d, S), cu("cuMemFreeAsync", d, S), go(e)))(*pair(1)))
    def across():
        r, e, d = pair(); g2 = graph(); fl = fill(g2, d, 0x22, ()); cp = memcpy(g2, D + 64, d, 16, (fl,)); rf, f = free_node(g2, d, (cp,)); r2, e2 = inst(g2); clear(); return E(r, rf, r2, cu("cuGraphLaunch", e, S), go(e2)) + [word(), word(64)] + E(go(e, 1), go(e2, 1), go(e, 1), cu("cuMemFreeAsync", d, S))
    T("b allocated by one graph, filled and freed by another; both again", across)
    def captured():
        s = new(); p, g = c_uint64(), c_void_p(); out = E(cu("cuStreamBeginCapture_v2", s, 2), cu("cuMemAllocAsync", byref(p), 1 << 20, s), cu("cuMemsetD32Async", p, 77, 4, s), cu("cuStreamEndCapture", s, byref(g))); r, e = inst(g); clear(); return out + E(r, cu("cuGraphLaunch", e, s), cu("cuMemcpyDtoDAsync_v2", D, p, 16, s), cu("cuMemFreeAsync", p, s), cu("cuStreamSynchronize", s)) + [word()] + E(cu("cuGraphLaunch", e, s), cu("cuMemFreeAsync", p, s), cu("cuStreamSynchronize", s), cu("cuGraphExecDestroy", e), cu("cuGraphDestroy", g))
    T("b captured allocation, used and freed behind the graph, twice", captured)
    def inside():
        s = new(); p, q, g = c_uint64(), c_uint64(), c_void_p(); cu("cuStreamBeginCapture_v2", s, 2); out = E(cu("cuMemAllocAsync", byref(p), 4096, s), cu("cuMemsetD32Async", p, 5, 4, s), cu("cuMemAllocAsync", byref(q), 8192, s), cu("cuMemcpyDtoDAsync_v2", q, p, 16, s), cu("cuMemFreeAsync", p, s), cu("cuMemsetD32Async", q.value + 4, 6, 1, s), cu("cuMemcpyDtoDAsync_v2", D, q, 16, s), cu("cuMemFreeAsync", q, s), cu("cuStreamEndCapture", s, byref(g))); r, e = inst(g); clear(); return out + E(r, go(e, 3)) + [h8(u32(get(D, 16)))] + E(inst(g)[0], cu("cuGraphClone", byref(c_void_p()), g))
    T("b two blocks within a capture: three launches; instantiated twice; cloned", inside)
    def kinds():
        g = graph(); n, d = alloc_node(g, 100); n2, d2 = alloc_node(g, 100, (n,)); rf, f = free_node(g, d, (n2,)); n3, d3 = alloc_node(g, 100, (f,)); rr, _ = free_node(g, d, (n3,)); m = c_size_t(); ok("cuGraphGetNodes", g, None, byref(m)); p = c_uint64(); return E(rf, rr) + [m.value, d != d2, d % 512] + E(cu("cuGraphMemFreeNodeGetParams", f, byref(p))) + [p.value == d] + E(cu("cuGraphDestroyNode", n2), cu("cuGraphRemoveDependencies", g, (c_void_p * 1)(n.value), (c_void_p * 1)(n2.value), 1), cu("cuGraphAddDependencies", g, (c_void_p * 1)(n.value), (c_void_p * 1)(n3.value), 1))
    T("b rules: free, second free; nodes; addresses differ, alignment to 512; free's parameter; destroy an alloc; remove an edge of it; add an edge", kinds)
    T("b statistics after a trim: used, reserved; high set to 0", lambda: E(sync(), cu("cuDeviceGraphMemTrim", 0)) + [[(lambda v: (cu("cuDeviceGetGraphMemAttribute", 0, i, byref(v)), v.value)[1])(c_uint64(9)) for i in (0, 2)]] + E(cu("cuDeviceSetGraphMemAttribute", 0, 1, byref(c_uint64(0))), cu("cuDeviceSetGraphMemAttribute", 0, 1, byref(c_uint64(5))), cu("cuDeviceSetGraphMemAttribute", 0, 0, byref(c_uint64(0)))))
guarded(Q, "b", memory)
# c) Order and results of what streams hold: host functions, callbacks and events of several streams joined in rings, events recorded by graph launches and waited for outside, value writes between kernels, graph launches in two streams, timing events across graphs, captures ended in another order, thread modes, per-thread streams in captures.
# Guess: work is in order within a stream and joined by events; one executable launched in two streams runs one after the other; elapsed times are not negative; host functions of a stream never overlap. Met by every pipelined program.
def order():
    s, t, u = new(), new(), new(); e = [event() for _ in range(6)]; F = lambda st, n: cu("cuLaunchHostFunc", st, NOTE, n)
    T("c ring of three streams by events: order of host functions", lambda: (clear(), E(F(s, 1), cu("cuEventRecord", e[0], s), cu("cuStreamWaitEvent", t, e[0], 0), F(t, 2), cu("cuEventRecord", e[1], t), cu("cuStreamWaitEvent", u, e[1], 0), F(u, 3), cu("cuEventRecord", e[2], u), cu("cuStreamWaitEvent", s, e[2], 0), F(s, 4), cu("cuStreamSynchronize", s)) + seen)[1])
    T("c an event recorded again between wait and use: order", lambda: (clear(), E(F(s, 1), cu("cuEventRecord", e[0], s), cu("cuStreamWaitEvent", t, e[0], 0), cu("cuEventRecord", e[0], u), F(t, 2), cu("cuStreamSynchronize", t), cu("cuStreamSynchronize", s)) + seen)[1])
    cb = CALLBACK(lambda st, r, d: seen.append((st == s.value, r, d))); T("c callbacks, host functions and kernels alternate", lambda: (clear(), E(cu("cuStreamAddCallback", s, cb, 1, 0), launch_code(K, 1, 1, (D, c_int(1)), 0, s), F(s, 2), launch_code(K, 1, 1, (D, c_int(2)), 0, s), cu("cuStreamAddCallback", s, cb, 3, 0), cu("cuStreamSynchronize", s)) + [seen[:], word()])[1])
    T("c value writes between kernels", lambda: (clear(), E(launch_code(K, 1, 1, (D, c_int(4)), 0, s), cu("cuStreamWriteValue32_v2", s, D, 2, 0), launch_code(K, 1, 1, (D, c_int(5)), 0, s), cu("cuStreamWriteValue64_v2", s, D + 8, 2**40 + 3, 0), cu("cuStreamSynchronize", s)) + [word(), word(8), word(12)])[1])
    T("c wait for a value that another stream writes later", lambda: (clear(), E(cu("cuStreamWriteValue32_v2", t, D + 16, 0, 0), cu("cuStreamSynchronize", t), cu("cuStreamWriteValue32_v2", t, D + 16, 5, 0), cu("cuStreamWaitValue32_v2", s, D + 16, 5, 0), cu("cuStreamWaitValue32_v2", s, D + 16, 4, 2), launch_code(K, 1, 1, (D, c_int(3)), 0, s), cu("cuStreamSynchronize", s)) + [word()])[1])
    def both(): g = graph(); host(g, (kernel(g, v=1),), 5); _, x = inst(g); clear(); return E(cu("cuGraphLaunch", x, s), cu("cuGraphLaunch", x, t), cu("cuGraphLaunch", x, s), cu("cuStreamSynchronize", s), cu("cuStreamSynchronize", t)) + [word(), seen[:]]
    T("c one executable in two streams: value, host functions", both)
    def timed():
        a, b = event(0), event(0); g = graph(); n1, n2 = c_void_p(), c_void_p(); ok("cuGraphAddEventRecordNode", byref(n1), g, None, 0, a); k = kernel(g, (n1,)); ok("cuGraphAddEventRecordNode", byref(n2), g, *deps((k,)), b); _, x = inst(g); f = c_float(-1); out = E(cu("cuEventQuery", a), cu("cuEventElapsedTime_v2", byref(f), a, b), go(x), cu("cuEventQuery", b), cu("cuEventElapsedTime_v2", byref(f), a, b)) + [f.value >= 0]; out += E(cu("cuEventElapsedTime_v2", byref(f), b, a)) + [f.value <= 0] + E(cu("cuEventElapsedTime_v2", byref(f), a, a)) + [f.value]; c = event(0); return out + E(cu("cuEventRecord", c, S), cu("cuStreamSynchronize", S), cu("cuEventElapsedTime_v2", byref(f), b, c)) + [f.value >= 0] + E(cu("cuStreamWaitEvent", t, b, 0), go(x))
    T("c events recorded by a graph: before, after, elapsed forwards, backwards, itself, to a stream's; waited for; launched again", timed)
    def nested(): s1, s2, g1, g2 = new(), new(), c_void_p(), c_void_p(); n = c_size_t(); return E(cu("cuStreamBeginCapture_v2", s1, 1), cu("cuStreamBeginCapture_v2", s2, 2), launch_code(K, 1, 1, (D, c_int(1)), 0, s1), launch_code(K, 1, 1, (D, c_int(2)), 0, s2), launch_code(K, 1, 1, (D, c_int(3)), 0, s1), cu("cuStreamEndCapture", s1, byref(g1)), cu("cuMemsetD8Async", D, 0, 4, s2), cu("cuStreamEndCapture", s2, byref(g2)), cu("cuGraphGetNodes", g1, None, byref(n))) + [n.value] + E(cu("cuGraphGetNodes", g2, None, byref(n))) + [n.value]
    T("c two captures at once, the first ended first", nested)
    T("c capture in the per-thread stream: begin, kernel, query of it, legacy capture, end, nodes", lambda: (lambda g, n: E(cu("cuStreamBeginCapture_v2", 2, 2), launch_code(K, 1, 1, (D, c_int(1)), 0, 2), cu("cuStreamIsCapturing", 2, byref(n)), cu("cuStreamBeginCapture_v2", 1, 2), cu("cuStreamEndCapture", 2, byref(g)), cu("cuGraphGetNodes", g, None, byref(c_size_t()))) + [n.value])(c_void_p(), c_int(9)))
    def modes():
        out = []
        for m in (0, 1, 2):
            v = c_int(m); r = cu("cuThreadExchangeStreamCaptureMode", byref(v)); w = c_int(0); cu("cuThreadExchangeStreamCaptureMode", byref(w)); out += [err(r), v.value, w.value]
        return out + E(cu("cuThreadExchangeStreamCaptureMode", byref(c_int(3))))
    T("c exchanged modes", modes)
    def priorities(): lo, hi, v = c_int(), c_int(), c_int(); cu("cuCtxGetStreamPriorityRange", byref(lo), byref(hi)); out = []; return [[(lambda h: [err(cu("cuStreamCreateWithPriority", byref(h), f, p)), (cu("cuStreamGetPriority", h, byref(v)), v.value)[1], (cu("cuStreamGetFlags", h, byref(v)), v.value)[1]])(c_void_p()) for p, f in ((0, 0), (-1, 1), (-3, 0), (5, 1), (-100, 0))]]
    T("c priorities 0, -1, -3, 5, -100 and flags", priorities)
    T("c event flags 0, 1, 3, 4, 6, 7, 8: create", lambda: E(*[cu("cuEventCreate", byref(c_void_p()), f) for f in (0, 1, 3, 4, 6, 7, 8)]))
    T("c record flags 0, 1, 2 outside of a capture; wait flags 0, 1, 2; synchronise, query of never recorded", lambda: E(*[cu("cuEventRecordWithFlags", e[3], s, f) for f in (0, 1, 2)], *[cu("cuStreamWaitEvent", s, e[3], f) for f in (0, 1, 2)], cu("cuEventSynchronize", e[4]), cu("cuEventQuery", e[4])))
    def thread_launch():
        out = []
        def run(): cu("cuCtxSetCurrent", ctx); out.extend(E(launch_code(K, 1, 1, (D, c_int(6)), 0, s), F(s, 8), cu("cuEventRecord", e[5], s)))
        clear(); x = threading.Thread(target=run); x.start(); x.join(); return out + E(cu("cuEventSynchronize", e[5])) + [word(), seen[:]]
    hp = make("cuMemHostAlloc", 256, 0).value; plain = ctypes.create_string_buffer(bytes(range(1, 65)), 64); two = lambda kind_s, src, sp, kind_d, dst, dp, w, h: ctypes.create_string_buffer(struct.pack("<QQI4xQQQQ", 0, 0, kind_s, src if kind_s == 1 else 0, src if kind_s == 2 else 0, 0, sp) + struct.pack("<QQI4xQQQQQQ", 0, 0, kind_d, dst if kind_d == 1 else 0, dst if kind_d == 2 else 0, 0, dp, w, h), 160); held = c_int(5)
    def kernel_by(s): a = [c_uint64(D), held]; return cu("cuLaunchKernel", K, 1, 1, 1, 1, 1, 1, 0, s, (c_void_p * 2)(*[ctypes.addressof(x) for x in a]), None, None)
    def change(): ctypes.memset(plain, 0x44, 64); ctypes.memset(hp, 0x55, 64); held.value = 9
    for key, fn in {"fill of two rows of 3 words": lambda s: [cu("cuMemsetD2D32Async", D, 16, 7, 3, 2, s)], "fill of rows of halves": lambda s: [cu("cuMemsetD2D16Async", D + 2, 8, 0xabcd, 2, 3, s)], "2D copy from pinned memory": lambda s: [cu("cuMemcpy2DAsync_v2", two(1, hp, 8, 2, D, 12, 5, 3), s)], "2D copy from pageable memory": lambda s: [cu("cuMemcpy2DAsync_v2", two(1, ctypes.addressof(plain), 8, 2, D, 12, 5, 3), s)], "copy from pageable memory": lambda s: [cu("cuMemcpyHtoDAsync_v2", D, plain, 16, s)], "copy from pinned memory": lambda s: [cu("cuMemcpyHtoDAsync_v2", D, hp, 16, s)], "kernel whose argument is changed behind the capture": lambda s: [kernel_by(s)], "copy to pinned memory and back elsewhere": lambda s: [cu("cuMemsetD32Async", D + 32, 3, 1, s), cu("cuMemcpyDtoHAsync_v2", hp + 128, D + 32, 4, s), cu("cuMemcpyHtoDAsync_v2", D, hp + 128, 4, s)], "fill, kernel, write value, kernel": lambda s: [cu("cuMemsetD32Async", D, 3, 1, s), kernel_by(s), cu("cuStreamWriteValue32_v2", s, D + 4, 6, 0), launch_code(K, 1, 2, (D, c_int(1)), 0, s)], "two streams which fill and copy": lambda s: (lambda t, x, y: [cu("cuMemsetD32Async", D, 8, 1, s), cu("cuEventRecord", x, s), cu("cuStreamWaitEvent", t, x, 0), cu("cuMemcpyDtoDAsync_v2", D + 8, D, 4, t), cu("cuMemsetD32Async", D + 4, 9, 1, s), cu("cuEventRecord", y, t), cu("cuStreamWaitEvent", s, y, 0), launch_code(K, 1, 3, (D, c_int(2)), 0, s)])(new(), event(), event())}.items():
        def main():
            for i in range(64): c_ubyte_at(hp + i, i); 
            ctypes.memmove(plain, bytes(range(1, 65)), 64); held.value = 5; clear(); x, g = new(), c_void_p(); out = E(cu("cuStreamBeginCapture_v2", x, 2), *fn(x), cu("cuStreamEndCapture", x, byref(g))); change(); r, ex = inst(g); out += E(r, go(ex)) + [h8(u32(get(D, 36)))]; return out + E(go(ex)) + [h8(u32(get(D, 20)))]
        T("c captured, sources changed, launched twice: " + key, main)
    T("c launched by another thread, waited for here", thread_launch)
guarded(Q, "c", order)
