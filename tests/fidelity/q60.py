from common import *
Q = "q60"
ctx = init()
SRC = 'extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] = v; } extern "C" __global__ void j(int *o, int v) { o[threadIdx.x] = v + 100; } extern "C" __global__ void one(int *o) { o[0] = 9; }'
M = load(compile_cuda(SRC)); K, J, ONE = function(M), function(M, "j"), function(M, "one")
D, D2 = alloc(4096), alloc(4096); hp = make("cuMemHostAlloc", 4096, 0); keep = []; s = make("cuStreamCreate", 1)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); NOTHING = HOSTFN(lambda d: None)
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn):
    guarded(Q, key, lambda: say(Q, key, fn()))
graph = lambda: make("cuGraphCreate", 0)
deps = lambda ds: (((c_void_p * len(ds))(*[x.value for x in ds]) if ds else None), len(ds))
def kp(fn=None, v=1, grid=1, block=32, shared=0, params=True, extra=0, d=None):
    a = [c_uint64(d or D), c_int(v)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a]); keep.extend([a, p]); return packed("QIIIIIII4xQQQQ", (fn or K).value, grid, 1, 1, block, 1, 1, shared, ctypes.addressof(p) if params else 0, extra, 0, 0, size=72)
def add(kind, g, ds=(), p=None):
    n = c_void_p(); return cu(f"cuGraphAdd{kind}", byref(n), g, *deps(ds), *([p] if p is not None else []), *([ctx] if kind in ("MemcpyNode", "MemsetNode") else [])), n
def memset_p(dst=None, pitch=0, value=1, es=4, w=4, h=1):
    return packed("QQIIQQ", D if dst is None else dst, pitch, value, es, w, h)
def memcpy_p(src=("h", 0), dst=("d", 0), w=64, h=1, d=1, spitch=64, dpitch=64):
    side = lambda k, x, pitch: struct.pack("<QQQQI4xQQQQQQ", x, 0, 0, 0, {"h": 1, "d": 2, "e": 2}.get(k, k if isinstance(k, int) else 0), hp.value if k == "h" else 0, D if k == "d" else D2 if k == "e" else 0, 0, 0, pitch, 1); return ctypes.create_string_buffer(side(*src, spitch) + side(*dst, dpitch) + struct.pack("<QQQ", w, h, d), 200)
if sys.argv[1:] == ["none"]:
    T("a kernel: neither params nor extra", lambda: E(add("KernelNode_v2", graph(), (), kp(params=False))[0])); os._exit(0)
# a) Node parameters: which are refused when added, when set on the node, and on the executable. Guess: as in launches, grid 0 is
# INVALID_VALUE at once; memset element sizes 1, 2, 4 only; memcpy of 0 bytes INVALID_VALUE or fine; an exec's kernel may change function
# since 12; memcpy may not change memory types. Met by programs which patch graphs.
KP = {"plain": {}, "grid 0": dict(grid=0), "block 0": dict(block=0), "block 1025": dict(block=1025), "shared 48 KiB + 1": dict(shared=49153), "other function": dict(fn=J), "function with fewer parameters": dict(fn=ONE)}
MS = {"plain": {}, "element size 3": dict(es=3), "element size 8": dict(es=8), "element size 0": dict(es=0), "width 0": dict(w=0), "height 0": dict(h=0), "two rows, pitch 8": dict(h=2, pitch=8), "two rows, pitch 16": dict(h=2, pitch=16), "two rows, pitch 18": dict(h=2, pitch=18), "odd address": dict(dst=D + 2), "null": dict(dst=0), "value above the element": dict(es=1, value=0x1ff), "page-locked": dict(dst=hp.value), "over the end by 1 MiB": dict(w=1 << 20)}
MC = {"plain": {}, "0 bytes": dict(w=0), "height 0": dict(h=0), "depth 0": dict(d=0), "2 rows, pitch 32 < 64": dict(h=2, spitch=32), "device to device": dict(src=("e", 0)), "device to host": dict(src=("d", 0), dst=("h", 0)), "host to host": dict(dst=("h", 64)), "unknown type": dict(src=(7, 0))}
for what, kind, table, maker in (("kernel", "KernelNode_v2", KP, kp), ("memset", "MemsetNode", MS, memset_p), ("memcpy", "MemcpyNode", MC, memcpy_p)):
    base = {"kernel": kp, "memset": memset_p, "memcpy": memcpy_p}[what]
    for key, kw in table.items():
        def main():
            g = graph(); r, n = add(kind, g, (), maker(**kw)); out = [f"add {err(r)}"]
            if not r: e = c_void_p(); r = cu("cuGraphInstantiateWithFlags", byref(e), g, 0); out.append(f"instantiate {err(r)}"); out.append("launch " + (err(cu("cuGraphLaunch", e, s) or cu("cuStreamSynchronize", s)) if not r else "-"))
            g = graph(); ok_, n = add(kind, g, (), base()); e = c_void_p(); ok("cuGraphInstantiateWithFlags", byref(e), g, 0)
            a = maker(**kw); extra = () if what == "kernel" else (ctx,); suffix = "_v2" if what == "kernel" else ""; name = {"kernel": "Kernel", "memset": "Memset", "memcpy": "Memcpy"}[what]
            out.append("exec set " + err(cu(f"cuGraphExec{name}NodeSetParams{suffix}", e, n, a, *extra))); out.append("node set " + err(cu(f"cuGraph{name}NodeSetParams{suffix}", n, a))); out.append("launch " + err(cu("cuGraphLaunch", e, s) or cu("cuStreamSynchronize", s))); return out
        T(f"a {what}: {key}", main)
# b) Structure: cycles, self edges, duplicate edges, edges of other graphs, removal, clones, children, roots, counts with small buffers,
# enabled flags by type, destroyed nodes, launch of an empty graph. Guess: self edge INVALID_VALUE, duplicates INVALID_VALUE (or ignored), a
# cycle is found at instantiation; enabling works for kernel, memset, memcpy only. Met by graph builders.
def structure():
    g, g2 = graph(), graph(); _, a = add("EmptyNode", g); _, b = add("EmptyNode", g); _, c = add("EmptyNode", g); _, x = add("EmptyNode", g2)
    P = lambda *v: (c_void_p * len(v))(*[i.value for i in v]); edge = lambda p, q, n=1: cu("cuGraphAddDependencies_v2", g, p, q, None, n); rem = lambda p, q, n=1: cu("cuGraphRemoveDependencies_v2", g, p, q, None, n)
    codes(Q, "b ", [("edge a>b", lambda: edge(P(a), P(b))), ("again", lambda: edge(P(a), P(b))), ("self", lambda: edge(P(a), P(a))), ("b>c, c>a (cycle)", lambda: E(edge(P(b), P(c)), edge(P(c), P(a)))), ("instantiate", lambda: cu("cuGraphInstantiateWithFlags", byref(c_void_p()), g, 0)), ("remove c>a", lambda: rem(P(c), P(a))), ("remove it again", lambda: rem(P(c), P(a))), ("remove a>c, never there", lambda: rem(P(a), P(c))), ("edge to another graph's node", lambda: edge(P(a), P(x))), ("0 edges", lambda: edge(None, None, 0)), ("two at once, the second bad", lambda: edge(P(a, a), P(c, a), 2))])
    n, m = c_size_t(), c_size_t(); cu("cuGraphGetEdges_v2", g, None, None, None, byref(m)); say(Q, "b edges now", m.value)
    for size in (0, 1, 2, 5):
        buf, k = (c_void_p * 5)(), c_size_t(size); r = cu("cuGraphGetNodes", g, buf, byref(k)); say(Q, f"b GetNodes with room for {size}", [err(r), k.value, sum(bool(v) for v in buf)])
        buf, k = (c_void_p * 5)(), c_size_t(size); r = cu("cuGraphGetRootNodes", g, buf, byref(k)); say(Q, f"b GetRootNodes with room for {size}", [err(r), k.value, sum(bool(v) for v in buf)])
        buf, k = (c_void_p * 5)(), c_size_t(size); r = cu("cuGraphNodeGetDependencies_v2", c, buf, None, byref(k)); say(Q, f"b GetDependencies with room for {size}", [err(r), k.value, sum(bool(v) for v in buf)])
    say(Q, "b add a node which depends on another graph's", err(add("EmptyNode", g, (x,))[0])); say(Q, "b add a node with a dependency twice", err(add("EmptyNode", g, (a, a))[0]))
    cl = make("cuGraphClone", g); f = c_void_p(); say(Q, "b find in the clone: a; another graph's; in the original; of the clone", E(cu("cuGraphNodeFindInClone", byref(f), a, cl), cu("cuGraphNodeFindInClone", byref(c_void_p()), x, cl), cu("cuGraphNodeFindInClone", byref(c_void_p()), a, g), cu("cuGraphNodeFindInClone", byref(c_void_p()), f, cl)))
    say(Q, "b destroy node b, edges then", E(cu("cuGraphDestroyNode", b)) + [(cu("cuGraphGetEdges_v2", g, None, None, None, byref(m)), m.value)[1]])
    r, ch = add("ChildGraphNode", g2, (), g); inner = c_void_p(); say(Q, "b child: its graph is a copy", E(r, cu("cuGraphChildGraphNodeGetGraph", ch, byref(inner))) + [inner.value != g.value] if not r else E(r))
    e = c_void_p(); g3 = graph(); say(Q, "b empty graph: instantiate, launch", E(cu("cuGraphInstantiateWithFlags", byref(e), g3, 0), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s)))
    for flags in (0, 1, 2, 0x10): say(Q, f"b cuGraphCreate flags {flags}", err(cu("cuGraphCreate", byref(c_void_p()), flags)))
guarded(Q, "b", structure)
def enabled():
    for what, kind, p in (("kernel", "KernelNode_v2", kp()), ("memset", "MemsetNode", memset_p()), ("memcpy", "MemcpyNode", memcpy_p()), ("empty", "EmptyNode", None), ("host", "HostNode", packed("QQ", ctypes.cast(NOTHING, c_void_p).value, 0))):
        g = graph(); r, n = add(kind, g, (), p); e = c_void_p(); r2 = cu("cuGraphInstantiateWithFlags", byref(e), g, 0); v = c_uint(9); t = c_int(); cu("cuGraphNodeGetType", n, byref(t))
        say(Q, f"b {what} type {t.value}: get enabled, disable, get, enable 2, launch", E(r, r2, cu("cuGraphNodeGetEnabled", e, n, byref(v))) + [v.value] + E(cu("cuGraphNodeSetEnabled", e, n, 0), cu("cuGraphNodeGetEnabled", e, n, byref(v))) + [v.value] + E(cu("cuGraphNodeSetEnabled", e, n, 2), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s)))
guarded(Q, "b enabled", enabled)
# c) Events in graphs: record and wait nodes, re-set events, elapsed time between nodes, in which graphs; kernel node attributes; user objects.
# Guess: an event recorded by a graph can be timed; a wait node for a never recorded event passes; user objects are released when the
# last executable is destroyed. Met by timing inside graphs.
def events():
    a, b, nt = make("cuEventCreate", 0), make("cuEventCreate", 0), make("cuEventCreate", 2); g = graph(); r1, n1 = add("EventRecordNode", g, (), a); r2, n2 = add("KernelNode_v2", g, (n1,), kp()); r3, n3 = add("EventRecordNode", g, (n2,), b); e = c_void_p(); f = c_float(-1)
    say(Q, "c record, kernel, record", E(r1, r2, r3, cu("cuGraphInstantiateWithFlags", byref(e), g, 0), cu("cuEventQuery", a), cu("cuEventElapsedTime_v2", byref(f), a, b), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s), cu("cuEventQuery", b), cu("cuEventElapsedTime_v2", byref(f), a, b)) + [f.value >= 0])
    out = c_void_p(); say(Q, "c GetEvent, SetEvent, exec SetEvent without timing, launch, elapsed", E(cu("cuGraphEventRecordNodeGetEvent", n1, byref(out))) + [out.value == a.value] + E(cu("cuGraphEventRecordNodeSetEvent", n1, nt), cu("cuGraphExecEventRecordNodeSetEvent", e, n3, nt), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s), cu("cuEventQuery", nt), cu("cuEventElapsedTime_v2", byref(f), a, nt)))
    g = graph(); fresh = make("cuEventCreate", 0); r1, n1 = add("EventWaitNode", g, (), fresh); e = c_void_p(); say(Q, "c wait node for a fresh event", E(r1, cu("cuGraphInstantiateWithFlags", byref(e), g, 0), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s), cu("cuEventQuery", fresh)))
    say(Q, "c set a wait node's event as a record's; as its own", E(cu("cuGraphEventRecordNodeSetEvent", n1, a), cu("cuGraphEventWaitNodeSetEvent", n1, a), cu("cuGraphExecEventWaitNodeSetEvent", e, n1, a), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s)))
guarded(Q, "c", events)
def attributes():
    g = graph(); r, n = add("KernelNode_v2", g, (), kp()); r, n2 = add("KernelNode_v2", g, (), kp()); r, m = add("MemsetNode", g, (), memset_p())
    for a, v in ((1, packed("QQfII", D, 64, 1.0, 1, 2, size=64)), (2, packed("I", 1, size=64)), (4, packed("III", 1, 1, 1, size=64)), (8, packed("i", -2, size=64)), (8, packed("i", 77, size=64)), (3, packed("I", 1, size=64)), (10, packed("I", 1, size=64)), (14, packed("I", 50, size=64)), (0, packed("I", 0, size=64)), (99, packed("I", 0, size=64))):
        o = ctypes.create_string_buffer(64); say(Q, f"c kernel node attribute {a} {v.raw[:4].hex() if a != 1 else ''}: set, get, value; on a memset", E(cu("cuGraphKernelNodeSetAttribute", n, a, v), cu("cuGraphKernelNodeGetAttribute", n, a, o)) + [o.raw[:4].hex() if a != 1 else "-"] + E(cu("cuGraphKernelNodeGetAttribute", m, a, o)))
    say(Q, "c copy attributes; from a memset", E(cu("cuGraphKernelNodeCopyAttributes", n2, n), cu("cuGraphKernelNodeCopyAttributes", n2, m)))
guarded(Q, "c attributes", attributes)
def user():
    freed = []; fn = HOSTFN(lambda d: freed.append(d)); keep.append(fn); fp = ctypes.cast(fn, c_void_p)
    import time
    def obj(count=1, flags=1): h = c_void_p(); r = cu("cuUserObjectCreate", byref(h), 5, fp, count, flags); return r, h
    say(Q, "c user object: count 0, flags 0, flags 2", E(obj(0)[0], obj(1, 0)[0], obj(1, 2)[0]))
    r, h = obj(2); g = graph(); e = c_void_p(); add("EmptyNode", g); out = E(r, cu("cuGraphRetainUserObject", g, h, 1, 1), cu("cuGraphInstantiateWithFlags", byref(e), g, 0), cu("cuUserObjectRelease", h, 1), cu("cuGraphDestroy", g)); time.sleep(0.1); out.append(len(freed)); out += E(cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s), cu("cuGraphExecDestroy", e)); time.sleep(0.2); out.append(len(freed)); say(Q, "c user object moved to a graph: freed after graph's destroy, after the executable's", out)
    freed.clear(); r, h = obj(3); say(Q, "c release 0, 2, 1; freed", E(cu("cuUserObjectRelease", h, 0), cu("cuUserObjectRelease", h, 2), cu("cuUserObjectRelease", h, 1)) + [(time.sleep(0.2), len(freed))[1]])
guarded(Q, "c user", user)
child("none")
