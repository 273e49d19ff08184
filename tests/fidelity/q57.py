from common import *
Q = "q57"
ctx = init()
K = build('extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] += v; }')
s = make("cuStreamCreate", 1); D = alloc(4096); keep = []
def node_params(size, loc=1, dev=0, alloc_type=1, handles=0, access=()):
    acc = b"".join(struct.pack("<III", *a) for a in access); b = ctypes.create_string_buffer(acc.ljust(16, b"\0")); keep.append(b)
    return packed("IIIIQQH54xQQQQ", alloc_type, handles, loc, dev, 0, 0, 0, ctypes.addressof(b) if access else 0, len(access), size, 0, size=120)
def deps(ds):
    return ((c_void_p * len(ds))(*[x.value for x in ds]) if ds else None), len(ds)
def graph():
    return make("cuGraphCreate", 0)
def add_alloc(g, size=4096, ds=(), **kw):
    p = node_params(size, **kw); n = c_void_p(); ok("cuGraphAddMemAllocNode", byref(n), g, *deps(ds), p); return n, struct.unpack_from("<Q", p, 112)[0]
def add_free(g, d, ds=()):
    n = c_void_p(); ok("cuGraphAddMemFreeNode", byref(n), g, *deps(ds), d); return n
def add_kernel(g, d, ds=(), v=1):
    a = [c_uint64(d), c_int(v)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a]); keep.extend([a, p])
    b = packed("QIIIIIII4xQQQQ", K.value, 1, 1, 1, 32, 1, 1, 0, ctypes.addressof(p), 0, 0, 0, size=72); n = c_void_p(); ok("cuGraphAddKernelNode_v2", byref(n), g, *deps(ds), b); return n
def add_memset(g, d, ds=(), value=3, w=128):
    n = c_void_p(); ok("cuGraphAddMemsetNode", byref(n), g, *deps(ds), packed("QQIIQQ", d, 0, value, 4, w // 4, 1), ctx); return n
def inst(g, flags=0):
    h = c_void_p(); return cu("cuGraphInstantiateWithFlags", byref(h), g, flags), h
def status(a):
    v = c_uint64(); r = cu("cuDeviceGetGraphMemAttribute", 0, a, byref(v)); return err(r) if r else v.value
# a) Allocation nodes: parameters which are refused, addresses (alignment, distance, the same after free in the graph?),
# attributes of graph memory before instantiation, after upload, launch, free, trim. Guess: addresses are fixed at creation;
# only device-pinned and no handle types; reserved grows at launch in 2 MiB or 32 MiB steps; trim gives it back.
# Met by graphs captured from array packages.
g = graph()
for key, kw in {"plain": {}, "size 0": dict(size=0), "size 2^40": dict(size=2**40), "size 2^64 - 1": dict(size=2**64 - 1), "location 0": dict(loc=0), "host": dict(loc=2), "device 7": dict(dev=7), "type 0": dict(alloc_type=0), "type 2": dict(alloc_type=2), "handle type 1": dict(handles=1), "access own device RW": dict(access=((1, 0, 3),)), "access own device read": dict(access=((1, 0, 1),)), "access device 7": dict(access=((1, 7, 3),)), "access flags 0": dict(access=((1, 0, 0),))}.items():
    kw = dict(kw); p = node_params(kw.pop("size", 4096), **kw); n = c_void_p(); r = cu("cuGraphAddMemAllocNode", byref(n), g, None, 0, p); v = struct.unpack_from("<Q", p, 112)[0]
    say(Q, f"a add {key}", err(r) + ("" if r else f" address {'given' if v else '0'}, mod 512 {v & 511}"))
for a in range(0, 5):
    say(Q, f"a graph memory attribute {a} at first", status(a))
for a in range(0, 5):
    for v in (0, 1):
        say(Q, f"a set graph memory attribute {a} to {v}", err(cu("cuDeviceSetGraphMemAttribute", 0, a, byref(c_uint64(v)))))
def life():
    g = graph(); n, d = add_alloc(g, 1 << 20); k = add_memset(g, d, (n,)); f = add_free(g, d, (k,)); n2, d2 = add_alloc(g, 1 << 20, (f,)); m2 = add_memset(g, d2, (n2,)); f2 = add_free(g, d2, (m2,)); n3, d3 = add_alloc(g, 1 << 20); m3 = add_memset(g, d3, (n3,)); add_free(g, d3, (m3,))
    say(Q, "a second block after a free has the address of the first; a parallel one has", [d2 == d, d3 == d])
    r, e = inst(g); say(Q, "a instantiate", err(r)); say(Q, "a used, reserved after it", [status(0), status(2)])
    say(Q, "a upload", err(cu("cuGraphUpload", e, s))); cu("cuStreamSynchronize", s); say(Q, "a used, reserved after upload", [status(0), status(2)])
    say(Q, "a launch twice", [err(cu("cuGraphLaunch", e, s)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s))]); say(Q, "a used, used high, reserved > 0 after", [status(0), status(1) > 0 if isinstance(status(1), int) else status(1), status(2) > 0])
    say(Q, "a trim while the executable lives", [err(cu("cuDeviceGraphMemTrim", 0)), status(2)]); say(Q, "a destroy, trim", [err(cu("cuGraphExecDestroy", e)), err(cu("cuGraphDestroy", g)), err(cu("cuDeviceGraphMemTrim", 0)), status(2)])
guarded(Q, "a life", life)
# b) Rules: a graph with allocations instantiates once; can't be cloned, be a child, be changed; free nodes of other pointers,
# twice; launch again without a free; auto free on launch; free outside by stream; access before and after. Guess: NOT_SUPPORTED for
# clone and child; INVALID_VALUE for double frees; second launch without free INVALID_VALUE. Met when such a graph is launched again.
def where(d):
    v, b, z = c_uint64(), c_uint64(), c_size_t(); r = cu("cuPointerGetAttribute", byref(v), 13, d); r2 = cu("cuMemGetAddressRange_v2", byref(b), byref(z), d)
    return [err(r) if r else v.value & 255, err(r2) if r2 else z.value]
def rules():
    g = graph(); n, d = add_alloc(g); add_memset(g, d, (n,)); r, e = inst(g)
    say(Q, "b instantiate twice", [err(r), err(inst(g)[0])])
    c = c_void_p(); say(Q, "b clone", err(cu("cuGraphClone", byref(c), g)))
    parent = graph(); say(Q, "b as a child", err(cu("cuGraphAddChildGraphNode", byref(c), parent, None, 0, g)))
    say(Q, "b add a node after instantiation", [err(cu("cuGraphAddEmptyNode", byref(c), g, None, 0))])
    say(Q, "b destroy the allocation's node", err(cu("cuGraphDestroyNode", n)))
    say(Q, "b address before any launch: mapped, range", where(d))
    say(Q, "b launch; memset outside; launch again without free", [err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s)), err(cu("cuMemsetD8_v2", d, 1, 16)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s))])
    say(Q, "b pointer attributes: type, managed, range", [(lambda v: err(cu("cuPointerGetAttribute", byref(v), 2, d)) + f" {v.value & 255}")(c_uint64()), (lambda b, z: (err(cu("cuMemGetAddressRange_v2", byref(b), byref(z), d)), b.value == d, z.value))(c_uint64(), c_size_t())])
    say(Q, "b free by stream, free twice, launch again, free by cuMemFree", [err(cu("cuMemFreeAsync", d, s)), err(cu("cuMemFreeAsync", d, s)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s)), err(cu("cuMemFree_v2", d)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s))])
    say(Q, "b destroy the executable with the block alive; where is it; free it", [err(cu("cuGraphExecDestroy", e)), *where(d), err(cu("cuMemFreeAsync", d, s)), err(cu("cuStreamSynchronize", s))])
guarded(Q, "b rules", rules)
def auto():
    g = graph(); n, d = add_alloc(g); k = add_memset(g, d, (n,), 0); add_kernel(g, d, (k,), 5); r, e = inst(g, 1)
    say(Q, "b AUTO_FREE_ON_LAUNCH: instantiate, three launches", [err(r)] + [err(cu("cuGraphLaunch", e, s)) for _ in range(3)] + [err(cu("cuStreamSynchronize", s)), u32(get(d, 8))])
    say(Q, "b then destroy; where is the block", [err(cu("cuGraphExecDestroy", e)), *where(d)])
    for flags in (2, 4, 8, 3, 16, 0x80000000):
        g = graph(); n, d = add_alloc(g); add_free(g, d, (n,)); r, e = inst(g, flags); v = c_uint64(99); say(Q, f"b instantiate with flags {flags:x}", [err(r)] + ([] if r else [err(cu("cuGraphExecGetFlags", e, byref(v))), v.value]))
guarded(Q, "b auto", auto)
def frees():
    g = graph(); n, d = add_alloc(g); c = c_void_p()
    say(Q, "b free node without a dependency on the allocation", err(cu("cuGraphAddMemFreeNode", byref(c), g, None, 0, d)))
    say(Q, "b a second free node", err(cu("cuGraphAddMemFreeNode", byref(c), g, None, 0, d)))
    say(Q, "b instantiate that", err(inst(g)[0]))
    g = graph(); say(Q, "b free node of cuMemAlloc memory", err(cu("cuGraphAddMemFreeNode", byref(c), g, None, 0, D))); say(Q, "b instantiate that ", err(inst(g)[0]))
    g = graph(); say(Q, "b free node of null, of 2^45", [err(cu("cuGraphAddMemFreeNode", byref(c), g, None, 0, 0)), err(cu("cuGraphAddMemFreeNode", byref(c), g, None, 0, 2**45))])
    g1, g2 = graph(), graph(); n, d = add_alloc(g1); f = add_free(g2, d); r1, e1 = inst(g1); r2, e2 = inst(g2)
    say(Q, "b freed by another graph: codes, second round", [err(r1), err(r2)] + [err(cu("cuGraphLaunch", x, s)) for x in (e1, e2, e1, e2)] + [err(cu("cuStreamSynchronize", s))])
    say(Q, "b freed by the graph without being allocated", [err(cu("cuGraphLaunch", e2, s)), err(cu("cuStreamSynchronize", s))])
    p = ctypes.create_string_buffer(120); r = cu("cuGraphMemAllocNodeGetParams", n, p); say(Q, "b GetParams: size, address is the same", [err(r), struct.unpack_from("<Q", p, 104)[0], struct.unpack_from("<Q", p, 112)[0] == d])
    v = c_uint64(); r = cu("cuGraphMemFreeNodeGetParams", f, byref(v)); say(Q, "b free's GetParams", [err(r), v.value == d]); t = c_int(); say(Q, "b types", [(cu("cuGraphNodeGetType", x, byref(t)), t.value)[1] for x in (n, f)])
guarded(Q, "b frees", frees)
# c) Captured allocations: cuMemAllocAsync in a capture, its free there or outside, from a pool with a limit, two launches, use outside
# before the launch. Guess: becomes alloc/free nodes; the pool's properties are kept; unfreed block stays after the launch.
# Met by capturing code that allocates.
def captured():
    p = c_uint64(); pools = make("cuMemPoolCreate", packed("IIIIQQH", 1, 0, 1, 0, 0, 0, 0, size=88))
    for key, free_in in (("freed inside", True), ("freed outside", False)):
        ok("cuStreamBeginCapture_v2", s, 2); r = [err(cu("cuMemAllocAsync", byref(p), 4096, s)), err(cu("cuMemsetD32Async", p, 7, 32, s))]
        if free_in: r.append(err(cu("cuMemFreeAsync", p, s)))
        g = c_void_p(); r.append(err(cu("cuStreamEndCapture", s, byref(g)))); nodes, n = (c_void_p * 9)(), c_size_t(9); cu("cuGraphGetNodes", g, nodes, byref(n)); t = c_int(); types = [(cu("cuGraphNodeGetType", c_void_p(x), byref(t)), t.value)[1] for x in nodes[:n.value]]
        rr, e = inst(g); say(Q, f"c {key}: codes, node types, instantiate, launch, launch", [r, types, err(rr), err(cu("cuGraphLaunch", e, s)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s))])
        if not free_in: say(Q, f"c {key}: value, free outside, launch", [u32(get(p.value, 4)), err(cu("cuMemFreeAsync", p, s)), err(cu("cuGraphLaunch", e, s)), err(cu("cuStreamSynchronize", s))])
    ok("cuStreamBeginCapture_v2", s, 2); r = [err(cu("cuMemAllocFromPoolAsync", byref(p), 4096, pools, s)), err(cu("cuMemFreeAsync", D, s)), err(cu("cuMemFreeAsync", p, s)), err(cu("cuMemFreeAsync", p, s))]; g = c_void_p(); say(Q, "c from a pool; free of cuMemAlloc memory, of the block, again; end", r + [err(cu("cuStreamEndCapture", s, byref(g)))])
guarded(Q, "c", captured)
