from common import *
Q = "q85"
ctx = init()
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
new = lambda flags=1: make("cuStreamCreate", flags)
event = lambda flags=2: make("cuEventCreate", flags)
D = alloc(65536); hp = make("cuMemHostAlloc", 65536, 0); keep = []; plain = ctypes.create_string_buffer(4096)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); NOTHING = HOSTFN(lambda d: None)
M = load(compile_cuda('extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] = v; }')); K = function(M)
A = make("cuArray3DCreate_v2", packed("QQQIII4x", 64, 8, 0, 1, 1, 0))
set_ = lambda s, v=1: cu("cuMemsetD8Async", D, v, 16, s)
TYPE = {0: "kernel", 1: "memcpy", 2: "memset", 3: "host", 4: "child", 5: "empty", 6: "wait", 7: "record", 10: "alloc", 11: "free", 12: "memop", 13: "conditional"}
STATUS = {0: "none", 1: "active", 2: "invalidated"}
def status(s):
    v = c_int(-1); r = cu("cuStreamIsCapturing", s, byref(v)); return STATUS.get(v.value, v.value) if not r else err(r)
def type_of(n):
    t = c_int(-1); r = cu("cuGraphNodeGetType", c_void_p(n) if isinstance(n, int) else n, byref(t)); return TYPE.get(t.value, t.value) if not r else err(r)
def shape(g):
    """Nodes' types in the order of creation, then edges as indices."""
    n, m = c_size_t(), c_size_t(); cu("cuGraphGetNodes", g, None, byref(n)); nodes = (c_void_p * max(1, n.value))(); cu("cuGraphGetNodes", g, nodes, byref(n)); cu("cuGraphGetEdges_v2", g, None, None, None, byref(m)); a, b, d = (c_void_p * max(1, m.value))(), (c_void_p * max(1, m.value))(), ctypes.create_string_buffer(8 * max(1, m.value))
    if m.value: cu("cuGraphGetEdges_v2", g, a, b, d, byref(m))
    at = list(nodes); types = [type_of(x) for x in at[:n.value]];
    return f"{' '.join(types) or 'no nodes'} edges {sorted((types[at.index(x)], types[at.index(y)]) for x, y in zip(a[:m.value], b[:m.value]))}" + (f" ports {sorted(set(d.raw[8 * i:8 * i + 3].hex() for i in range(m.value)))}" if any(d.raw) else "")
def end(s):
    g = c_void_p(); r = cu("cuStreamEndCapture", s, byref(g)); return err(r) + (" " + shape(g) if g.value else " no graph")
def captured(fn, mode=2):
    s = new(); ok("cuStreamBeginCapture_v2", s, mode); r = fn(s); r = E(*r) if isinstance(r, (list, tuple)) else E(r); st = status(s); return r + ([st] if st != "active" else []) + [end(s)]
if len(sys.argv) > 1: T("c end into null", lambda: (lambda s: E(cu("cuStreamBeginCapture_v2", s, 0), set_(s), cu("cuStreamEndCapture", s, None)) + [status(s)])(new())); os._exit(0)
# a) What becomes of each call in a capture: the nodes' types and edges, and what is dropped. Guess: a copy or fill of 0 bytes leaves no node or an empty one; an array copy is one memcpy node; value writes are
# memop nodes; a graph launch is a child; event records give none, external ones a record node; a pageable copy is a memcpy node.
# Met by who reads a captured graph, and by graph caches that compare shapes.
def copy3(w, h=1, d=1):
    return ctypes.create_string_buffer(struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 1, hp.value, 0, 0, 0, 64, 8) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 2, 0, D, 0, 0, 64, 8) + struct.pack("<QQQ", w, h, d), 200)
def launch_ex(s, *attrs):
    buf = ctypes.create_string_buffer(b"".join(struct.pack("<I4x", i) + v.ljust(64, b"\0") for i, v in attrs).ljust(72, b"\0")); a = [c_uint64(D), c_int(3)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a]); keep.extend([buf, a, p]); return cu("cuLaunchKernelEx", packed("7I4xQQI4x", 1, 1, 1, 32, 1, 1, 0, s.value, ctypes.addressof(buf), len(attrs)), K, p, None)
def child_graph(nodes=1):
    g = make("cuGraphCreate", 0)
    for _ in range(nodes): cu("cuGraphAddEmptyNode", byref(c_void_p()), g, None, 0)
    return make("cuGraphInstantiateWithFlags", g, 0)
pool = c_uint64(); man = c_uint64(); ok("cuMemAllocManaged", byref(man), 65536, 1)
for key, fn in {"nothing": lambda s: [], "memset 0 bytes": lambda s: cu("cuMemsetD8Async", D, 1, 0, s), "copy 0 bytes": lambda s: cu("cuMemcpyDtoDAsync_v2", D, D + 64, 0, s), "copy onto itself": lambda s: cu("cuMemcpyDtoDAsync_v2", D, D, 64, s), "host to host": lambda s: cu("cuMemcpyAsync", hp.value, hp.value + 64, 16, s), "pageable to device": lambda s: cu("cuMemcpyHtoDAsync_v2", D, plain, 16, s), "3D copy": lambda s: cu("cuMemcpy3DAsync_v2", copy3(16, 4, 2), s), "3D copy of width 0": lambda s: cu("cuMemcpy3DAsync_v2", copy3(0, 4, 2), s), "3D copy of depth 0": lambda s: cu("cuMemcpy3DAsync_v2", copy3(16, 4, 0), s), "memset 2D": lambda s: cu("cuMemsetD2D16Async", D, 64, 7, 8, 4, s), "memset 2D height 0": lambda s: cu("cuMemsetD2D16Async", D, 64, 7, 8, 0, s), "peer copy within the context": lambda s: cu("cuMemcpyPeerAsync", D, ctx, D + 64, ctx, 16, s), "write value 32": lambda s: cu("cuStreamWriteValue32_v2", s, D, 1, 0), "write value 64": lambda s: cu("cuStreamWriteValue64_v2", s, D, 1, 0), "batch of three": lambda s: cu("cuStreamBatchMemOp_v2", s, 3, ctypes.create_string_buffer(b"".join(struct.pack("<I4xQQI4xQ8x", 2, D + 64 + 4 * i, 1, 0, 0) for i in range(3)), 144), 0), "host function": lambda s: cu("cuLaunchHostFunc", s, NOTHING, 5), "external record, kernel": lambda s: [cu("cuEventRecordWithFlags", event(), s, 1), set_(s)], "record, wait in itself": lambda s: (lambda e: [set_(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", s, e, 0), set_(s)])(event()), "external wait": lambda s: (lambda e: [cu("cuEventRecord", e, new()), cu("cuStreamWaitEvent", s, e, 1), set_(s)])(event()), "graph of one": lambda s: cu("cuGraphLaunch", child_graph(), s), "graph of none": lambda s: cu("cuGraphLaunch", child_graph(0), s), "two graphs and a fill": lambda s: [cu("cuGraphLaunch", child_graph(), s), set_(s), cu("cuGraphLaunch", child_graph(2), s)], "alloc, fill, free": lambda s: [cu("cuMemAllocAsync", byref(pool), 4096, s), cu("cuMemsetD8Async", pool, 1, 16, s), cu("cuMemFreeAsync", pool, s)], "prefetch of managed memory": lambda s: cu("cuMemPrefetchAsync", man, 65536, 0, s), "prefetch v2": lambda s: cu("cuMemPrefetchAsync_v2", man, 65536, c_uint64(1), 0, s), "attach of managed memory": lambda s: cu("cuStreamAttachMemAsync", s, man, 0, 1), "launch with a priority": lambda s: launch_ex(s, (8, struct.pack("<i", -1))), "launch, cooperative": lambda s: launch_ex(s, (2, struct.pack("<i", 1))), "two launches, the second programmatic": lambda s: [launch_ex(s), launch_ex(s, (6, struct.pack("<i", 1)))], "array copy": lambda s: cu("cuMemcpyHtoAAsync_v2", A, 0, hp, 64, s), "refused launch, then a fill": lambda s: [launch_code(K, 0, 32, (D, c_int(1)), 0, s), set_(s)], "refused fill (misaligned), then a fill": lambda s: [cu("cuMemsetD32Async", D + 1, 1, 4, s), set_(s)], "refused copy, then a fill": lambda s: [cu("cuMemcpyDtoDAsync_v2", D, 0, 16, s), set_(s)], "refused event, then a fill": lambda s: [cu("cuEventRecord", 0, s), set_(s)]}.items():
    T("a " + key, lambda: captured(fn))
# b) Forks: shapes of diamonds, empty forks, wait for the same event twice, for an event that was recorded twice, for events in forked streams, order of the nodes' dependencies by cuStreamGetCaptureInfo v2 and v3, update
# of dependencies (set, add, with flags unknown, another graph's nodes), ending with the dependencies changed. Guess: a re-recorded event stands for its last place; a wait replaces nothing but adds; flags 0 adds,
# 1 sets; nodes left unjoined by a change are allowed. Met by libraries that add their own nodes into a capture.
def info(s, v=2):
    st, cid, g, d, ed, n = c_int(-1), c_uint64(), c_void_p(), c_void_p(), c_void_p(), c_size_t(99); r = cu(f"cuStreamGetCaptureInfo_v{v}", s, byref(st), byref(cid), byref(g), byref(d), *([byref(ed)] if v == 3 else []), byref(n)); k = n.value if not r and st.value == 1 else 0
    return r, cid.value, g, [c_void_p(x) for x in (c_void_p * k).from_address(d.value)] if k else [], ed.value
deps = lambda s: (lambda r: [err(r[0])] + [type_of(x) for x in r[3]])(info(s))
def fork(body): return lambda: captured(body, 0)
def diamond(s): t, e, f = new(), event(), event(); return [set_(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), cu("cuMemcpyDtoDAsync_v2", D, D + 64, 16, t), launch_code(K, 1, 32, (D, c_int(1)), 0, s), cu("cuEventRecord", f, t), cu("cuStreamWaitEvent", s, f, 0), *deps(s), cu("cuLaunchHostFunc", s, NOTHING, None)]
def twice(s): t, e, f = new(), event(), event(); return [set_(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), cu("cuStreamWaitEvent", t, e, 0), *deps(t), launch_code(K, 1, 32, (D, c_int(1)), 0, t), cu("cuStreamWaitEvent", t, e, 0), *deps(t), cu("cuEventRecord", f, t), cu("cuStreamWaitEvent", s, f, 0), cu("cuStreamWaitEvent", s, f, 0), *deps(s)]
def rerecord(s): t, e = new(), event(); return [set_(s), cu("cuEventRecord", e, s), launch_code(K, 1, 32, (D, c_int(1)), 0, s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), *deps(t), cu("cuEventRecord", e, t), cu("cuStreamWaitEvent", s, e, 0), *deps(s)]
def roots(s): t, e, f = new(), event(), event(); return [cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), *deps(t), status(t), set_(t), set_(s), cu("cuEventRecord", f, t), cu("cuStreamWaitEvent", s, f, 0), *deps(s)]
def chain(s): t, u, e, f, g = new(), new(), event(), event(), event(); return [set_(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), set_(t), cu("cuEventRecord", f, t), cu("cuStreamWaitEvent", u, f, 0), set_(u), cu("cuEventRecord", g, u), cu("cuStreamWaitEvent", s, g, 0), *deps(s), status(t), info(t)[1] == info(s)[1]]
for key, fn in {"diamond": diamond, "waits twice": twice, "event recorded twice": rerecord, "fork before any node": roots, "chain of three streams joined by the last": chain}.items(): T("b " + key, fork(fn))
def update(flags, which):
    def body(s):
        g = info(s)[2]; a, b = c_void_p(), c_void_p(); out = [set_(s)]; out += [cu("cuGraphAddEmptyNode", byref(a), g, None, 0), cu("cuGraphAddEmptyNode", byref(b), g, (c_void_p * 1)(a.value), 1)]; other = make("cuGraphCreate", 0); x = c_void_p(); cu("cuGraphAddEmptyNode", byref(x), other, None, 0)
        ds = {"one": [b], "two": [a, b], "none": [], "twice the same": [b, b], "another graph's": [x]}[which]; arr = (c_void_p * max(1, len(ds)))(*[d.value for d in ds]); return out + [cu("cuStreamUpdateCaptureDependencies", s, arr if ds else None, len(ds), flags), *deps(s), launch_code(K, 1, 32, (D, c_int(1)), 0, s)]
    return body
for flags in (0, 1, 2, 3):
    for which in ("one", "two", "none", "twice the same", "another graph's"): T(f"b update flags {flags}, {which}", fork(update(flags, which)))
T("b update by v2 with edge data null", fork(lambda s: [set_(s), cu("cuStreamUpdateCaptureDependencies_v2", s, None, None, 0, 1), *deps(s)])); T("b update outside of a capture", lambda: E(cu("cuStreamUpdateCaptureDependencies", new(), None, 0, 1)))
T("b info v3: code, ids of two captures differ, edge data given, forked stream's id", lambda: (lambda s, t: (cu("cuStreamBeginCapture_v2", s, 2), cu("cuStreamBeginCapture_v2", t, 2), set_(s), [err(info(s, 3)[0]), info(s, 3)[1] != info(t, 3)[1], info(s, 3)[4] is not None, len(info(s, 3)[3]), end(s), end(t)])[3])(new(), new()))
T("b info with only the status asked", lambda: (lambda s, v: [err(cu("cuStreamGetCaptureInfo_v2", s, byref(v), None, None, None, None)), v.value])(new(), c_int(-1)))
# c) Capture into an existing graph and to its end states: with dependencies, with another graph's, twice at once, then what the graph holds when the capture is invalidated; begin again after an invalid one, capture
# in one thread ended in another, a graph that is instantiated meanwhile, destroyed event, end into null. Guess: nodes recorded before the failure stay in the graph given; end with null graph pointer is INVALID_VALUE.
# Met by graph builders that mix both ways.
def into():
    def one(key, setup):
        def main():
            g = make("cuGraphCreate", 0); a = c_void_p(); ok("cuGraphAddEmptyNode", byref(a), g, None, 0); return setup(g, a)
        T("c " + key, main)
    begin = lambda s, g, ds=(), n=None, mode=0: cu("cuStreamBeginCaptureToGraph", s, g, (c_void_p * len(ds))(*[d.value for d in ds]) if ds else None, None, len(ds) if n is None else n, mode)
    def fin(s, g): h = c_void_p(); r = cu("cuStreamEndCapture", s, byref(h)); return [err(r), h.value == g.value, shape(g)]
    one("depends upon a node", lambda g, a: (lambda s: E(begin(s, g, (a,)), set_(s)) + fin(s, g))(new()))
    one("depends upon it twice", lambda g, a: (lambda s: E(begin(s, g, (a, a)), set_(s)) + [end(s)])(new()))
    one("no dependencies, nothing captured", lambda g, a: (lambda s: E(begin(s, g)) + fin(s, g))(new()))
    one("mode 7", lambda g, a: E(begin(new(), g, (), None, 7)))
    one("count 1 without an array", lambda g, a: E(begin(new(), g, (), 1)))
    one("in a stream that captures", lambda g, a: (lambda s: E(cu("cuStreamBeginCapture_v2", s, 0), begin(s, g)) + [status(s), end(s)])(new()))
    one("in the legacy stream", lambda g, a: E(begin(0, g)))
    one("two streams at once into it", lambda g, a: (lambda s, t: E(begin(s, g), begin(t, g), set_(s)) + [end(s)] + ([end(t)] if status(t) != "none" else []))(new(), new()))
    one("invalidated by a synchronous copy: what stays", lambda g, a: (lambda s: E(begin(s, g, (a,)), set_(s), cu("cuMemcpyDtoH_v2", plain, D, 16), set_(s)) + [status(s), end(s), shape(g)])(new()))
    one("then begin again in the same stream", lambda g, a: (lambda s: E(begin(s, g, (a,)), cu("cuStreamSynchronize", s)) + [status(s), end(s)] + E(begin(s, g), set_(s)) + fin(s, g))(new()))
    one("add a node to it meanwhile", lambda g, a: (lambda s: E(begin(s, g, (a,)), set_(s), cu("cuGraphAddEmptyNode", byref(c_void_p()), g, None, 0), set_(s)) + fin(s, g))(new()))
    one("instantiate it meanwhile", lambda g, a: (lambda s: E(begin(s, g, (a,)), set_(s), cu("cuGraphInstantiateWithFlags", byref(c_void_p()), g, 0)) + [status(s)] + fin(s, g))(new()))
    one("clone it meanwhile", lambda g, a: (lambda s: E(begin(s, g, (a,)), set_(s), cu("cuGraphClone", byref(c_void_p()), g)) + fin(s, g))(new()))
    T("c invalidated: further calls and info", lambda: (lambda s, t, e: E(cu("cuStreamBeginCapture_v2", s, 0), cu("cuStreamSynchronize", s), set_(s), launch_code(K, 1, 32, (D, c_int(1)), 0, s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), cu("cuGraphLaunch", child_graph_ready, s), cu("cuLaunchHostFunc", s, NOTHING, None), cu("cuStreamQuery", s), info(s)[0]) + [status(s), status(t), end(s), end(s)])(new(), new(), event()))
    T("c begin, end, launch what came, twice", lambda: (lambda s, g, x: E(cu("cuStreamBeginCapture_v2", s, 1), launch_code(K, 1, 32, (D, c_int(77)), 0, s), cu("cuStreamEndCapture", s, byref(g)), cu("cuGraphInstantiateWithFlags", byref(x), g, 0), cu("cuGraphLaunch", x, s), cu("cuGraphLaunch", x, s), cu("cuStreamSynchronize", s)) + u32(get(D, 4)))(new(), c_void_p(), c_void_p()))
child_graph_ready = child_graph()
guarded(Q, "c", into)
child("null")
