from common import *
Q = "q86"
ctx = init()
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
M = load(compile_cuda('extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] = v; } extern "C" __global__ void j(int *o, int v) { o[threadIdx.x] = v + 100; } extern "C" __global__ void three(int *o, int v, int w) { o[0] = v * w; }')); K, J, THREE = function(M), function(M, "j"), function(M, "three")
D, D2 = alloc(4096), alloc(4096); hp = make("cuMemHostAlloc", 4096, 0); keep = []; s = make("cuStreamCreate", 1)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); seen = []; RECORD = HOSTFN(lambda d: seen.append(d)); OTHER = HOSTFN(lambda d: seen.append(-(d or 0))); fp = lambda f: ctypes.cast(f, c_void_p).value
graph = lambda: make("cuGraphCreate", 0)
RES = {0: "SUCCESS", 1: "ERROR", 2: "TOPOLOGY", 3: "NODE_TYPE", 4: "FUNCTION", 5: "PARAMETERS", 6: "NOT_SUPPORTED", 7: "UNSUPPORTED_FUNCTION", 8: "ATTRIBUTES"}
# the union of CUgraphNodeParams, 256 bytes, by type
def params(kind, body=b""): return ctypes.create_string_buffer((struct.pack("<i12x", kind) + body).ljust(256, b"\0"), 256)
def kernel(v=1, f=None, d=None, grid=1, block=32, shared=0, kern=0, c=0, n=2):
    a = [c_uint64(d or D), c_int(v), c_int(3)][:n]; p = (c_void_p * n)(*[ctypes.addressof(x) for x in a]); keep.extend([a, p]); return params(0, struct.pack("<QIIIIIII4xQQQQ", 0 if kern else (f or K).value, grid, 1, 1, block, 1, 1, shared, ctypes.addressof(p), 0, kern, c))
def memcpy(n=64, flags=0, reserved=0, c=None): return params(1, struct.pack("<iiQ", flags, reserved, ctx.value if c is None else c) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 1, hp.value, 0, 0, 0, 64, 1) + struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 2, 0, D2, 0, 0, 64, 1) + struct.pack("<QQQ", n, 1, 1))
def memset(v=1, es=4, w=8, h=1, pitch=0, c=None, d=None): return params(2, struct.pack("<QQIIQQQ", d or D, pitch, v, es, w, h, ctx.value if c is None else c))
def host(d=5, f=RECORD): return params(3, struct.pack("<QQ", fp(f), d))
child_ = lambda g, own=0: params(4, struct.pack("<Qi", g.value, own))
empty = lambda: params(5)
event = lambda kind, e: params(kind, struct.pack("<Q", e.value))
def alloc_(n=4096, dev=0): return params(10, struct.pack("<IIIIQQH54x", 1, 0, 1, dev, 0, 0, 0) + struct.pack("<QQQQ", 0, 0, n, 0))
free_ = lambda d: params(11, struct.pack("<Q", d))
deps = lambda ds: (((c_void_p * len(ds))(*[x.value for x in ds]) if ds else None), len(ds))
def add(g, p, ds=(), v2=False):
    n = c_void_p(); a, k = deps(ds); return (cu("cuGraphAddNode_v2", byref(n), g, a, None, k, p) if v2 else cu("cuGraphAddNode", byref(n), g, a, k, p)), n
def inst(g, flags=0): e = c_void_p(); return cu("cuGraphInstantiateWithFlags", byref(e), g, flags), e
run = lambda e: cu("cuGraphLaunch", e, s) or cu("cuStreamSynchronize", s)
# a) The generic calls cuGraphAddNode, cuGraphNodeSetParams, cuGraphExecNodeSetParams for each type of node, with reserved bytes set, wrong types, other contexts null, and what the typed getters then say. Guess: reserved
# bytes must be 0; a changed type is INVALID_VALUE; allocations can't be set; a kernel by CUkernel works; the child graph of the same shape may be changed in the executable. Met by bindings
# that only know the generic calls.
ev, ev2 = make("cuEventCreate", 2), make("cuEventCreate", 2)
def shape(k=1):
    g = graph()
    for i in range(k): add(g, memset(i + 1))
    return g
def fields(n, kind):
    b = ctypes.create_string_buffer(256)
    if kind == 0: r = cu("cuGraphKernelNodeGetParams_v2", n, b); f, *x = struct.unpack_from("<QIIIIIII4xQQQQ", b); return [err(r), {K.value: "k", J.value: "j", THREE.value: "three", 0: "null"}.get(f, "other"), x[:7], "params" if x[7] else "none", "extra" if x[8] else "none", "kern" if x[9] else "none", x[10] == ctx.value]
    if kind == 1: r = cu("cuGraphMemcpyNodeGetParams", n, b); return [err(r), struct.unpack_from("<QQQ", b, 176)]
    if kind == 2: r = cu("cuGraphMemsetNodeGetParams", n, b); x = struct.unpack_from("<QQIIQQ", b); return [err(r), x[0] == D, *x[1:]]
    if kind == 3: r = cu("cuGraphHostNodeGetParams", n, b); x = struct.unpack_from("<QQ", b); return [err(r), x[0] == fp(RECORD), x[1]]
    return []
SETS = {"kernel": (kernel, {"other value": dict(v=9), "other function": dict(f=J), "more parameters": dict(f=THREE, n=3), "grid 0": dict(grid=0), "context given": dict(c=ctx.value), "block 64": dict(block=64)}), "memcpy": (memcpy, {"32 bytes": dict(n=32), "flags 1": dict(flags=1), "reserved 1": dict(reserved=1), "no context": dict(c=0)}), "memset": (memset, {"value 7": dict(v=7), "bytes": dict(es=1), "2 rows": dict(h=2, pitch=64), "no context": dict(c=0), "other memory": dict(d=D2)}), "host": (host, {"data 6": dict(d=6), "other function": dict(f=OTHER)})}
def generic():
    for kind, (maker, cases) in SETS.items():
        number = list(SETS).index(kind)
        for key, kw in {"plain": {}, **cases}.items():
            def main():
                seen.clear(); g = graph(); r, n = add(g, maker(**kw), (), True); out = [f"add {err(r)}", fields(n, number) if not r else "-"]; g = graph(); r, n = add(g, maker()); r2, e = inst(g); out.append(f"exec set {err(cu('cuGraphExecNodeSetParams', e, n, maker(**kw)))} run {err(run(e))}"); out.append(f"node set {err(cu('cuGraphNodeSetParams', n, maker(**kw)))}"); out.append(fields(n, number)); return out + [list(seen)]
            T(f"a {kind}: {key}", main)
    def bad(p, at, value): struct.pack_into("<I", p, at, value); return p
    for key, p in {"reserved0 set": bad(memset(), 4, 1), "reserved2 set": bad(memset(), 248, 1), "behind the memset's fields set": bad(memset(), 16 + 48, 1), "type 14": params(14), "type 99": params(99), "type -1": params(-1), "empty with data": bad(params(5), 16, 1), "child of an empty graph": child_(graph()), "child, ownership 2": child_(graph(), 2), "child, ownership 1 (moved)": child_(shape(), 1), "record": event(7, ev), "wait": event(6, ev), "alloc": alloc_(), "alloc 0 bytes": alloc_(0), "alloc on device 7": alloc_(64, 7), "free of cuMemAlloc memory": free_(D)}.items(): T(f"a add {key}", lambda: E(add(graph(), p)[0], add(graph(), p, (), True)[0] if "moved" not in key else "-"))
    def cross(key, p, q): T(f"a set {key}", lambda: (lambda g: (lambda n, e: E(cu("cuGraphNodeSetParams", n, q), cu("cuGraphExecNodeSetParams", e, n, q), run(e)))(add(g, p)[1], inst(g)[1]))(graph()))
    cross("a memset's parameters on a memcpy", memcpy(), memset()); cross("a record as a wait", event(7, ev), event(6, ev)); cross("a record's event", event(7, ev), event(7, ev2)); cross("empty on empty", empty(), empty()); cross("a child of one memset: same shape", child_(shape()), child_(shape())); cross("a child: two memsets", child_(shape()), child_(shape(2))); cross("reserved on a memset", memset(), bad(memset(), 8, 1))
    g = graph(); p = alloc_(); r, n = add(g, p); d = struct.unpack_from("<Q", p, 16 + 88 + 24)[0]; T("a alloc and free by the generic call: address given, run, set of alloc, of free", lambda: (lambda m: E(r) + [d != 0] + E(m[0], inst(g)[0], cu("cuGraphNodeSetParams", n, alloc_(8192)), cu("cuGraphNodeSetParams", m[1], free_(d))))(add(g, free_(d), (n,))))
guarded(Q, "a", generic) if len(sys.argv) == 1 else None
# b) cuGraphExecUpdate: which changes it takes, what its result and error nodes say, for every kind of change and for unsupported nodes. Guess: topology (edges or count), node type, function with another context, parameters (memcpy
# kinds, memset dimensions), attributes; error node is a node of the new graph; the order of addition matters. Met by programs that capture each step anew and update.
def build_graph(parts, edges=()):
    g = graph(); ns = [add(g, p)[1] for p in parts]
    if edges: a = (c_void_p * len(edges))(*[ns[i].value for i, _ in edges]); b = (c_void_p * len(edges))(*[ns[j].value for _, j in edges]); cu("cuGraphAddDependencies", g, a, b, len(edges))
    return g, ns
def update(key, first, second, before=None, after=None):
    if len(sys.argv) > 1: return
    def main():
        g, ns = build_graph(*first()); r, e = inst(g); g2, ns2 = build_graph(*second()); after and after(ns2); i = ctypes.create_string_buffer(24); r2 = cu("cuGraphExecUpdate_v2", e, g2, i); res, n1, n2 = struct.unpack("<i4xQQ", i.raw); where = lambda n: "null" if not n else f"new {[x.value for x in ns2].index(n)}" if n in [x.value for x in ns2] else f"old {[x.value for x in ns].index(n)}" if n in [x.value for x in ns] else "other"
        seen.clear(); n3, v = c_void_p(), c_int(-1); r3 = cu("cuGraphExecUpdate", e, g2, byref(n3), byref(v)); return [err(r), err(r2), RES.get(res, res), where(n1), where(n2), "old call:", err(r3), RES.get(v.value, v.value), "run", err(run(e)), list(seen)]
    T("b " + key, main)
two = lambda a, b, e=((0, 1),): ([a, b], e)
def attr(n, a, v): return cu("cuGraphKernelNodeSetAttribute", n, a, v)
for key, first, second, kw in [("same", lambda: two(kernel(), memset()), lambda: two(kernel(5), memset(9)), {}), ("added in another order", lambda: two(kernel(), memset()), lambda: two(memset(), kernel(), ((1, 0),)), {}), ("without the edge", lambda: two(kernel(), memset()), lambda: two(kernel(), memset(), ()), {}), ("edge reversed", lambda: two(kernel(), kernel()), lambda: two(kernel(), kernel(), ((1, 0),)), {}), ("a node more", lambda: two(kernel(), memset()), lambda: ([kernel(), memset(), empty()], ((0, 1),)), {}), ("a node fewer", lambda: two(kernel(), memset()), lambda: ([kernel()],), {}), ("empty graphs", lambda: ([],), lambda: ([],), {}), ("kernel becomes memset", lambda: two(kernel(), memset()), lambda: two(memset(), memset()), {}), ("other function", lambda: ([kernel()],), lambda: ([kernel(f=J)],), {}), ("function of 3 parameters", lambda: ([kernel()],), lambda: ([kernel(f=THREE, n=3)],), {}), ("grid and block", lambda: ([kernel()],), lambda: ([kernel(grid=3, block=64, shared=1024)],), {}), ("kernel's attribute: priority", lambda: ([kernel()],), lambda: ([kernel()],), dict(after=lambda ns: attr(ns[0], 8, packed("i", -1, size=64)))), ("kernel's attribute: cooperative", lambda: ([kernel()],), lambda: ([kernel()],), dict(after=lambda ns: attr(ns[0], 2, packed("i", 1, size=64)))), ("memset of bytes", lambda: ([memset()],), lambda: ([memset(es=1)],), {}), ("memset wider", lambda: ([memset()],), lambda: ([memset(w=100)],), {}), ("memset of 2 rows", lambda: ([memset()],), lambda: ([memset(h=2, pitch=64)],), {}), ("2 rows to 3 rows", lambda: ([memset(h=2, pitch=64)],), lambda: ([memset(h=3, pitch=64)],), {}), ("memset elsewhere", lambda: ([memset()],), lambda: ([memset(d=D2)],), {}), ("memcpy shorter", lambda: ([memcpy()],), lambda: ([memcpy(16)],), {}), ("host data", lambda: ([host()],), lambda: ([host(8)],), {}), ("host function", lambda: ([host()],), lambda: ([host(8, OTHER)],), {}), ("record of another event", lambda: ([event(7, ev)],), lambda: ([event(7, ev2)],), {}), ("record to wait", lambda: ([event(7, ev)],), lambda: ([event(6, ev)],), {}), ("child of the same shape", lambda: ([child_(shape(2))],), lambda: ([child_(shape(2))],), {}), ("child of another count", lambda: ([child_(shape(2))],), lambda: ([child_(shape(3))],), {}), ("alloc", lambda: ([alloc_()],), lambda: ([alloc_()],), {}), ("from empty to one node", lambda: ([],), lambda: ([empty()],), {})]:
    update(key, first, second, **kw)
# c) Conditional handles and nodes that are refused, graph queries, clones and dot files: handle flags and values, sizes, types; clone of a clone, destroyed original, find in clone; dot output's shape; instantiation flags
# by cuGraphInstantiateWithParams and its result fields. Guess: an IF has 1 or 2 bodies, WHILE 1, SWITCH any; a handle belongs to its graph; clone keeps node order. Met by while loops in graphs.
def handles():
    cond = lambda h: params(13, struct.pack("<QiIQQ", h, 0, 1, 0, ctx.value))
    def handle(g): h = c_uint64(); ok("cuGraphConditionalHandleCreate", byref(h), g, ctx, 0, 1); return h.value
    g, x = graph(), graph(); hh = handle(g); say(Q, f"c a handle: {sys.argv[1]}", {"another graph's": lambda: E(add(g, cond(handle(x)))[0]), "used twice": lambda: E(add(g, cond(hh))[0], add(g, cond(hh))[0]), "zero": lambda: E(add(g, cond(0))[0])}[sys.argv[1]]())
if len(sys.argv) > 1: handles(); os._exit(0)
def more():
    g = graph(); h = c_uint64()
    codes(Q, "c handle ", [(f"default {v} flags {f}", ("cuGraphConditionalHandleCreate", byref(h), g, ctx, v, f)) for v, f in ((0, 0), (1, 0), (1, 1), (0, 2), (0xffffffff, 1))] + [("no context", ("cuGraphConditionalHandleCreate", byref(h), g, 0, 0, 0))])
    cond = lambda g, h, t, n, c=None: params(13, struct.pack("<QiIQQ", h, t, n, 0, ctx.value if c is None else c))
    def handle(g): h = c_uint64(); ok("cuGraphConditionalHandleCreate", byref(h), g, ctx, 0, 1); return h.value
    for t, name in ((0, "IF"), (1, "WHILE"), (2, "SWITCH"), (3, "type 3")):
        for n in (0, 1, 2, 3): T(f"c {name} of size {n}: add, bodies given, instantiate, run", lambda: (lambda g: (lambda p: (lambda r: [err(r[0])] + ([] if r[0] else [bool(struct.unpack_from("<Q", p, 32)[0])] + (lambda i: E(i[0], run(i[1]) if not i[0] else "-"))(inst(g))))(add(g, p)))(cond(g, handle(g), t, n)))(graph()))
    def body():
        g = graph(); p = cond(g, handle(g), 0, 1); r, n = add(g, p); b = c_void_p.from_address(struct.unpack_from("<Q", p, 32)[0]); c = c_void_p(); t = c_int(); return E(r, add(b, memset())[0], add(b, host())[0], add(b, event(7, ev))[0], add(b, alloc_())[0], cu("cuGraphNodeGetType", n, byref(t))) + [t.value] + E(cu("cuGraphClone", byref(c), g), add(graph(), child_(g))[0])
    T("c body: add memset, host, record, alloc; type; clone; as a child", body)
    def clones():
        g, ns = build_graph([kernel(), memset(), host()], ((0, 1), (1, 2))); c = make("cuGraphClone", g); cc = make("cuGraphClone", c); f, f2 = c_void_p(), c_void_p(); n = c_size_t(); out = E(cu("cuGraphNodeFindInClone", byref(f), ns[1], c), cu("cuGraphNodeFindInClone", byref(f2), ns[1], cc), cu("cuGraphNodeFindInClone", byref(f2), f, cc), cu("cuGraphMemsetNodeSetParams", ns[1], ctypes.create_string_buffer(memset(77).raw[16:64], 48))); x = fields(f, 2); cu("cuGraphDestroyNode", ns[0]); cu("cuGraphGetNodes", c, None, byref(n)); out += [x, n.value]; out += E(cu("cuGraphDestroyNode", f), cu("cuGraphNodeFindInClone", byref(f2), ns[1], c), cu("cuGraphDestroy", g), inst(c)[0], cu("cuGraphGetNodes", cc, None, byref(n))) + [n.value]; return out
    T("c clone: find, in a clone's clone, by the clone's node; set in the original leaves it; counts; destroyed", clones)
    def dot():
        g, ns = build_graph([kernel(), memset(), memcpy(), host(), empty(), event(7, ev), child_(shape())], ((0, 1), (1, 2), (2, 3))); out = []
        with tempfile.TemporaryDirectory() as folder:
            for flags in (0, 1, 4, 16, 1 << 10, 1 << 14, 1 << 15, 1 << 16, 0x80000000):
                path = os.path.join(folder, f"{flags}.dot"); r = cu("cuGraphDebugDotPrint", g, path.encode(), flags); text = open(path).read() if os.path.exists(path) else ""; out.append((f"{flags:x}", err(r), text.count("->"), text.lstrip().startswith("digraph"), text.count("subgraph")))
            out.append(err(cu("cuGraphDebugDotPrint", g, os.path.join(folder, "no/such/x.dot").encode(), 0)))
        return out
    T("c dot: flags, code, arrows, digraph, subgraphs; a folder that is missing", dot)
    def with_params(g, flags=0, stream=None): p = packed("QQQiI", flags, (stream or s).value, 0, -1, 0, size=40); e = c_void_p(); r = cu("cuGraphInstantiateWithParams", byref(e), g, p); x = struct.unpack_from("<QQQi", p); fl = c_uint64(99); return [err(r), "node" if x[2] else "no node", x[3]] + ([] if r else E(cu("cuGraphExecGetFlags", e, byref(fl))) + [fl.value, err(run(e))])
    for flags in (0, 1, 2, 4, 8, 3, 5, 10, 16): T(f"c instantiate with params, flags {flags}: kernel and memset", lambda: with_params(build_graph([kernel(), memset()], ((0, 1),))[0], flags))
    T("c with params: device launch of a host node; a record; two frees of one", lambda: [with_params(build_graph([host()])[0], 4), with_params(build_graph([event(7, ev)])[0], 4), with_params(build_graph([free_(D)])[0], 0)])
guarded(Q, "c", more)
children([("another graph's",), ("used twice",), ("zero",)])
