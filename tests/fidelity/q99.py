from common import *
Q = "q99"
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
ctx = init(); KEEP = []
new = lambda flags=1: make("cuStreamCreate", flags)
event = lambda flags=0: make("cuEventCreate", flags)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p)
def hostfn(fn): KEEP.append(HOSTFN(fn)); return KEEP[-1]
def fattr(f, a): v = c_int(-7); r = cu("cuFuncGetAttribute", byref(v), a, f); return err(r) if r else v.value
# a) Sequences of streams, events, captures and graphs: work after a refused call, events of other flags in waits and in captures, host functions between copies, what a broken capture leaves in its stream and its events, allocation and free nodes in orders
# that are refused, updates after changes of size. Guess: a refused call leaves the stream usable; elapsed with a non-timing event INVALID_HANDLE; a query in a global capture breaks it (900, then 901 at the end); a graph that allocates can't be cloned nor instantiated
# twice (INVALID_VALUE, NOT_SUPPORTED); updates of such a graph take equal sizes only. Met by frameworks that capture steps.
SRC = 'extern "C" __global__ void k(int *o, int v) { o[threadIdx.x] = o[threadIdx.x] * 3 + v; }'
def streams():
    s, s2, p = new(), new(), alloc(4096); f = build(SRC); t, t2, n = event(), event(), event(2); ms = c_float(-5.0); host = make("cuMemHostAlloc", 4096, 0).value; st = c_int(-1); one = lambda v: launch_code(f, 1, 4, (p, c_int(v)), 0, s)
    T("a launches: good, grid 0, block 2000, shared 1 GiB, good: codes, values", lambda: E(one(1), launch_code(f, 0, 4, (p, c_int(1)), 0, s), launch_code(f, 1, 2000, (p, c_int(1)), 0, s), launch_code(f, 1, 4, (p, c_int(1)), 1 << 30, s), one(2), cu("cuStreamSynchronize", s)) + u32(get(p, 8)))
    T("a elapsed: neither recorded, one recorded, both, reversed is not positive, with a non-timing one, same twice", lambda: E(cu("cuEventElapsedTime_v2", byref(ms), t, t2), cu("cuEventRecord", t, s), cu("cuEventElapsedTime_v2", byref(ms), t, t2), cu("cuEventRecord", t2, s), cu("cuStreamSynchronize", s), cu("cuEventElapsedTime_v2", byref(ms), t2, t)) + [ms.value <= 0] + E(cu("cuEventRecord", n, s), cu("cuStreamSynchronize", s), cu("cuEventElapsedTime_v2", byref(ms), n, t), cu("cuEventElapsedTime_v2", byref(ms), t, t)) + [ms.value])
    T("a event flags 3, 4 alone, 6, 8, blocking", lambda: [(lambda e: err(cu("cuEventCreate", byref(e), x)))(c_void_p()) for x in (3, 4, 6, 8, 1)])
    T("a stream flags 0, 1, 2, 3; priorities 5, 0, -1, -99: codes and priorities", lambda: [(lambda h: err(cu("cuStreamCreate", byref(h), x)))(c_void_p()) for x in (0, 1, 2, 3)] + [(lambda h, v: E(cu("cuStreamCreateWithPriority", byref(h), 1, x), cu("cuStreamGetPriority", h, byref(v))) + [v.value])(c_void_p(), c_int()) for x in (5, 0, -1, -99)])
    def between():
        seen = []; ctypes.memset(host, 0, 64); g = hostfn(lambda d: (seen.append(c_uint.from_address(host).value), ctypes.memmove(host + 8, b"\x09\0\0\0", 4))[0])
        return E(cu("cuMemsetD32Async", p, 5, 16, s), cu("cuMemcpyDtoHAsync_v2", host, p, 4, s), cu("cuLaunchHostFunc", s, g, None), cu("cuMemcpyHtoDAsync_v2", p + 4, host + 8, 4, s), one(1), cu("cuStreamSynchronize", s)) + [seen, u32(get(p, 12))]
    T("a host function between two copies", between)
    def broken(key, call, mode=0):
        def main():
            x, e, g = new(), event(), c_void_p(); out = E(cu("cuStreamBeginCapture_v2", x, mode), cu("cuMemsetD32Async", p, 7, 4, x), cu("cuEventRecord", e, x), call(x, e), cu("cuStreamIsCapturing", x, byref(st))) + [st.value]; out += E(cu("cuMemsetD32Async", p, 8, 4, x), cu("cuEventQuery", e), cu("cuStreamEndCapture", x, byref(g))) + [g.value is None]; return out + E(cu("cuEventQuery", e), cu("cuMemsetD32Async", p, 9, 4, x), cu("cuStreamSynchronize", x))
        T(f"a capture, {key}: codes, state; fill, event's query, end, no graph, query, fill, synchronise", main)
    for mode in (0, 1, 2): broken(f"mode {mode}, cuMemAlloc", lambda x, e: cu("cuMemAlloc_v2", byref(c_uint64()), 64), mode)
    broken("mode 2, cuMemcpyDtoH of another kind", lambda x, e: cu("cuMemcpyDtoH_v2", ctypes.create_string_buffer(64), p, 16), 2); broken("wait of another stream that never joins", lambda x, e: cu("cuStreamWaitEvent", s2, e, 0), 2)
    broken("launch with a bad grid", lambda x, e: launch_code(f, 0, 1, (p, c_int(1)), 0, x), 2); broken("fill of 0 bytes", lambda x, e: cu("cuMemsetD8Async", p, 1, 0, x), 2); broken("copy to a pageable buffer", lambda x, e: cu("cuMemcpyDtoHAsync_v2", KEEP_BUF, p, 16, x), 2)
    broken("free of plain memory by cuMemFreeAsync", lambda x, e: cu("cuMemFreeAsync", alloc_before, x), 2); broken("record of a second event twice", lambda x, e: cu("cuEventRecord", t, x) or cu("cuEventRecord", t, x), 2); broken("stream's attributes, priority, id", lambda x, e: cu("cuStreamGetPriority", x, byref(c_int())) or cu("cuStreamGetFlags", x, byref(c_uint())) or cu("cuStreamGetId", x, byref(c_uint64())), 0)
    def memory_nodes():
        x, g, d, e, e2, c = new(), c_void_p(), c_uint64(), c_void_p(), c_void_p(), c_void_p(); out = E(cu("cuStreamBeginCapture_v2", x, 2), cu("cuMemAllocAsync", byref(d), 4096, x), cu("cuMemsetD32Async", d, 77, 8, x), cu("cuMemcpyDtoDAsync_v2", p, d, 32, x), cu("cuMemFreeAsync", d, x), cu("cuMemFreeAsync", d, x), cu("cuStreamEndCapture", x, byref(g)))
        return out + (E(cu("cuGraphInstantiateWithFlags", byref(e), g, 0), cu("cuGraphInstantiateWithFlags", byref(e2), g, 0), cu("cuGraphClone", byref(c), g), cu("cuGraphLaunch", e, x), cu("cuGraphLaunch", e, x), cu("cuStreamSynchronize", x)) + u32(get(p, 8)) if g.value else ["no graph"])
    T("a allocation, use, free and free again in a capture; end; instantiate twice, clone, launch twice", memory_nodes)
    def keeps():
        x, g, d, e, e2, c = new(), c_void_p(), c_uint64(), c_void_p(), c_void_p(), c_void_p(); out = E(cu("cuStreamBeginCapture_v2", x, 2), cu("cuMemAllocAsync", byref(d), 4096, x), cu("cuMemsetD32Async", d, 77, 8, x), cu("cuStreamEndCapture", x, byref(g)), cu("cuGraphInstantiateWithFlags", byref(e), g, 0), cu("cuGraphInstantiateWithFlags", byref(e2), g, 0), cu("cuGraphClone", byref(c), g), cu("cuGraphLaunch", e, x), cu("cuGraphLaunch", e, x), cu("cuStreamSynchronize", x))
        return out + u32(get(d.value, 4)) + E(cu("cuMemFreeAsync", d, x), cu("cuGraphLaunch", e, x), cu("cuStreamSynchronize", x), cu("cuMemFree_v2", d), cu("cuGraphExecDestroy", e), cu("cuGraphDestroy", g))
    T("a allocation without free: end, instantiate twice, clone, launch twice; value; free, launch, free by cuMemFree, destroy", keeps)
    def captured(calls):
        x, g = new(), c_void_p(); ok("cuStreamBeginCapture_v2", x, 2); [fn(x) for fn in calls]; ok("cuStreamEndCapture", x, byref(g)); return g
    fill = lambda v, n=4, at=0: lambda x: cu("cuMemsetD32Async", p + at, v, n, x); kern = lambda v, b=4: lambda x: launch_code(f, 1, b, (p, c_int(v)), 0, x); cp = lambda n, at=64: lambda x: cu("cuMemcpyDtoDAsync_v2", p + at, p, n, x); hf = lambda i: lambda x: cu("cuLaunchHostFunc", x, hostfn(lambda d: None), None)
    for key, new_calls in {"same": [fill(1), kern(2), cp(16)], "fill longer": [fill(1, 8), kern(2), cp(16)], "block 2": [fill(1), kern(2, 2), cp(16)], "copy elsewhere": [fill(1), kern(2), cp(16, 128)], "copy of 8 bytes": [fill(1), kern(2), cp(8)], "swapped": [kern(2), fill(1), cp(16)], "one more": [fill(1), kern(2), cp(16), fill(3)], "host function for copy": [fill(1), kern(2), hf(0)]}.items():
        def main(): x, e = new(), c_void_p(); g, h = captured([fill(5), kern(6), cp(16)]), captured(new_calls); info = (c_uint64 * 8)(); ok("cuGraphInstantiateWithFlags", byref(e), g, 0); ok("cuMemsetD8_v2", p, 0, 256); return E(cu("cuGraphExecUpdate_v2", e, h, info)) + [info[0] & 0xffffffff] + E(cu("cuGraphLaunch", e, x), cu("cuStreamSynchronize", x)) + [compact(u32(get(p, 160)))]
        T(f"a update with {key}: code, result, launch, words", main)
KEEP_BUF = ctypes.create_string_buffer(256); alloc_before = alloc(64)
# b) Pools, copies, fills, host memory, limits, modules, functions and contexts in sequences with a refused call in the middle. Guess: copies from or to null INVALID_VALUE unless of 0 bytes; fills at odd addresses of wider elements
# INVALID_VALUE; page-locked memory of the driver is refused registration; a module's function stays known when another module of the same image is unloaded; an attribute out of range INVALID_VALUE and leaves the old; a popped context leaves the one below. Met by bindings and test suites.
def calls():
    p = alloc(4096); s = new(); b = ctypes.create_string_buffer(8192)
    pairs = {"DtoH from null": ("cuMemcpyDtoH_v2", b, 0, 4), "DtoD to null": ("cuMemcpyDtoD_v2", 0, p, 4), "DtoD of 0 bytes to null": ("cuMemcpyDtoD_v2", 0, p, 0), "HtoD from null host, 0 bytes": ("cuMemcpyHtoD_v2", p, 0, 0), "fill D16 at odd": ("cuMemsetD16_v2", p + 1, 5, 4), "fill D32 at 2": ("cuMemsetD32_v2", p + 2, 5, 4), "fill D32 async at 2": ("cuMemsetD32Async", p + 2, 5, 4, s), "fill of null": ("cuMemsetD8_v2", 0, 1, 4), "fill of 0 at null": ("cuMemsetD8_v2", 0, 1, 0), "2D fill, pitch below width": ("cuMemsetD2D32_v2", p, 8, 1, 4, 3), "2D fill, one row, pitch 0": ("cuMemsetD2D32_v2", p, 0, 1, 4, 1), "2D fill, pitch 6": ("cuMemsetD2D32_v2", p, 6, 1, 1, 2)}
    for i in range(0, len(pairs), 2): two = list(pairs.items())[i:i + 2]; T("b " + "; ".join(k for k, c in two), lambda: E(*[cu(*c) for k, c in two], sync()))
    h = make("cuMemHostAlloc", 8192, 0).value; v = c_size_t(); hp = c_uint64()
    T("b page-locked: register again, unregister, free of its middle, free by cuMemFree, free, flags 8, size 0", lambda: E(cu("cuMemHostRegister_v2", h, 4096, 0), cu("cuMemHostUnregister", h), cu("cuMemFreeHost", h + 64), cu("cuMemFree_v2", h), cu("cuMemFreeHost", h), cu("cuMemHostAlloc", byref(hp), 64, 8), cu("cuMemHostAlloc", byref(hp), 0, 0)))
    T("b limits 0..7 and 99: codes of get; set of 99", lambda: E(*[cu("cuCtxGetLimit", byref(v), i) for i in (*range(8), 99)], cu("cuCtxSetLimit", 99, 1)))
    SRC2 = '__device__ int count = 5; __constant__ float c[3]; extern "C" __global__ void k(int *o) { extern __shared__ int e[]; __shared__ int s[10]; s[threadIdx.x % 10] = 1; e[0] = count++; o[0] = e[0] + (int)c[1] + s[0]; } extern "C" __global__ void __launch_bounds__(77) j(int *o) { o[1] = 1; }'
    image = compile_cuda(SRC2); m, m2 = load(image), load(image); f, j = function(m), function(m2, "j"); g, n, w = c_uint64(), c_size_t(), c_void_p()
    T("b functions: names that miss, empty, globals that miss, of a kernel's name, null name's size only", lambda: E(cu("cuModuleGetFunction", byref(w), m, b"K"), cu("cuModuleGetFunction", byref(w), m, b""), cu("cuModuleGetFunction", byref(w), m, b"count"), cu("cuModuleGetGlobal_v2", byref(g), byref(n), m, b"k"), cu("cuModuleGetGlobal_v2", None, byref(n), m, b"count")) + [n.value] + E(cu("cuModuleGetGlobal_v2", byref(g), None, m, b"c"), cu("cuModuleGetGlobal_v2", None, None, m, b"c")))
    T("b attributes of k, j: shared, constant, local, largest block of j, cache mode, dynamic default", lambda: [fattr(f, i) for i in (1, 2, 3, 7, 8)] + [fattr(j, i) for i in (0, 1, 2, 3)])
    T("b set attributes: dynamic 100, -1, 1 GiB, then; carve-out 101, -1, -2, then; 0, 4, 99", lambda: E(*[cu("cuFuncSetAttribute", f, 8, c_int(x)) for x in (100, -1, 1 << 30)]) + [fattr(f, 8)] + E(*[cu("cuFuncSetAttribute", f, 9, c_int(x)) for x in (101, 40, -1, -2)]) + [fattr(f, 9)] + E(*[cu("cuFuncSetAttribute", f, x, c_int(1)) for x in (0, 4, 99)]))
    T("b launches with 100, 101, 48 KiB dynamic; unload the other module, launch; value", lambda: E(*[launch_code(f, 1, 1, (p,), x) for x in (100, 101, 48 << 10)], sync(), cu("cuModuleUnload", m2), launch_code(f, 1, 1, (p,), 4), sync()) + u32(get(p, 4)))
    for key, img in {"empty text": b"", "no PTX": b"hello", "version 99": b".version 99.0\n.target sm_80\n.address_size 64\n", "target sm_999": b".version 8.0\n.target sm_999\n.address_size 64\n", "no target": b".version 8.0\n", "head only": PTX_HEAD.format("8.0", "sm_80").encode(), "unknown symbol": (PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k() { call nothing; ret; }").encode(), "extern that misses": (PTX_HEAD.format("8.0", "sm_80") + ".extern .func nothing;\n.visible .entry k() { call nothing; ret; }").encode()}.items(): T(f"b load of {key}", lambda: E(cu("cuModuleLoadData", byref(w), c_char_p(img))))
    def contexts():
        a, b_, cur = c_void_p(), c_void_p(), c_void_p(); out = E(cu("cuCtxCreate_v2", byref(a), 0, 0), cu("cuCtxCreate_v2", byref(b_), 4, 0), cu("cuCtxGetCurrent", byref(cur))) + [cur.value == b_.value]; q = c_uint64(); out += E(cu("cuMemAlloc_v2", byref(q), 64), cu("cuCtxPopCurrent_v2", byref(cur)), cu("cuMemsetD8_v2", q, 3, 64), cu("cuMemcpyDtoD_v2", p, q, 4), launch_code(f, 1, 1, (p,), 4), cu("cuEventRecord", event(), s)); out += E(cu("cuCtxDestroy_v2", b_), cu("cuMemsetD8_v2", q, 3, 64), cu("cuCtxGetCurrent", byref(cur))) + [cur.value == a.value]; return out + E(cu("cuCtxDestroy_v2", a), cu("cuCtxGetCurrent", byref(cur))) + [cur.value == ctx.value, err(cu("cuCtxSetCurrent", ctx))]
    T("b two contexts: memory of the second from the first, launch of a function and record in a stream of the primary, destroy, use, which is current", contexts)
    pool = make("cuMemPoolCreate", packed("IIII8xQH", 1, 0, 1, 0, 0, 0, size=88)); d = c_uint64()
    T("b pool: 0 bytes, 1 EiB, 100 bytes, fill, free in the null stream, free twice, use attribute 5 and 7 set to 1, attribute 99", lambda: E(cu("cuMemAllocFromPoolAsync", byref(d), 0, pool, s), cu("cuMemAllocFromPoolAsync", byref(d), 1 << 60, pool, s), cu("cuMemAllocFromPoolAsync", byref(d), 100, pool, s), cu("cuMemsetD8Async", d, 1, 100, s), cu("cuMemFreeAsync", d, 0), cu("cuMemFreeAsync", d, 0), sync(), *[cu("cuMemPoolSetAttribute", pool, i, byref(c_uint64(1))) for i in (5, 7, 99)]))
# c) Textures: each format read as float, normalised, integer, by point and linear filter at a border and between texels, with the other component count; then faults in processes of their own and the first calls after them. Guess: components that miss are 0, 0, 1 (integer 1);
# linear filter of integers without normalising is refused; NaN coordinates give texel 0; faults are told by the first call that waits, and then by nearly all. Met by image filters and error handling.
TEX = 'extern "C" __global__ void k(unsigned *o, unsigned long long t, float x, float y) { float4 f = tex2D<float4>(t, x, y); o[0] = __float_as_uint(f.x); o[1] = __float_as_uint(f.y); o[2] = __float_as_uint(f.z); o[3] = __float_as_uint(f.w); uint4 u = tex2D<uint4>(t, x, y); o[4] = u.x; o[5] = u.y; o[6] = u.z; o[7] = u.w; }'
def textures():
    f = build(TEX); o = alloc(64); raw = bytes((i * 37 + 11) & 0x7b for i in range(256)) ; v = c_uint64()
    def tex(fmt, ch, size, filt=0, flags=0, mode=1, border=0.0):
        a = make("cuArray3DCreate_v2", packed("QQQIII4x", 4, 4, 0, fmt, ch, 0)); w = 4 * size * ch; data = ctypes.create_string_buffer(raw, 512); KEEP.append(data)
        ok("cuMemcpy2D_v2", packed("QQI4xQQQQQQI4xQQQQQQ", 0, 0, 1, ctypes.addressof(data), 0, 0, w, 0, 0, 3, 0, 0, a.value, 0, w, 4))
        r = cu("cuTexObjectCreate", byref(v), packed("I4xQ", 0, a.value, size=144), packed("IIIIIIIfff4f", mode, mode, mode, filt, flags, 0, 0, 0, 0, 0, border, 2.0, 3.0, 4.0, size=104), None); return r, v.value
    for name, fmt, size in (("u8", 1, 1), ("u16", 2, 2), ("u32", 3, 4), ("s8", 8, 1), ("s16", 9, 2), ("half", 0x10, 2), ("float", 0x20, 4)):
        for ch in ((1, 4) if size > 1 else (1, 2, 4)):
            def main():
                out = []
                for filt, flags in ((0, 0), (0, 1), (1, 0)):
                    r, t = tex(fmt, ch, size, filt, flags)
                    if r: out.append(err(r)); continue
                    launch(f, 1, 1, (o, t, c_float(1.75), c_float(2.0))); out.append(h8(u32(get(o, 32))[(4 if flags else 0):(8 if flags else 4)])); cu("cuTexObjectDestroy", t)
                return out
            T(f"c {name} x {ch} at 1.75, 2: normalised or float, integer, linear", main)
    for key, kw, x, y in (("border mode outside", dict(mode=3, border=1.5), -1.0, 0.0), ("linear over the border", dict(filt=1, mode=3, border=1.5), 0.0, 1.5), ("clamp at NaN", {}, float("nan"), 1.5), ("mirror without normalised coordinates", dict(mode=2), 5.0, 1.0), ("wrap without normalised coordinates", dict(mode=0), 5.0, 1.0), ("wrap normalised", dict(mode=0, flags=2), -0.3, 1.6), ("mirror normalised, linear", dict(mode=2, flags=2, filt=1), -0.3, 1.6)):
        def main(): r, t = tex(1, 4, 1, **kw); return err(r) if r else (launch(f, 1, 1, (o, t, c_float(x), c_float(y))), h8(u32(get(o, 16))))[1]
        T("c u8 x 4, " + key, main)
FAULTS = {"trap, first cuEventQuery": ("asm volatile(\"trap;\");", "event"), "null write, first cuMemAlloc": ("*(volatile int *)(unsigned long long)z = 1;", "alloc"), "assert, first cuStreamQuery": ("if (!z) __assertfail(\"z\", \"exam.cu\", 1, \"k\", 1);", "stream"), "misaligned write, first cuMemcpyDtoH": ("*(volatile int *)((char *)o + 2) = 1;", "copy"), "trap in a graph, first cuGraphLaunch again": ("if (threadIdx.x == 3) __trap();", "graph")}
def fault(kind):
    import time
    body, first = FAULTS[kind]; f = build('extern "C" __global__ void k(int *o, int z) { ' + body + ' }'); p, s, e = alloc(256), new(), event(2); d, g, x = c_uint64(), c_void_p(), c_void_p(); buf = ctypes.create_string_buffer(64); out = []
    if first == "event": ok("cuEventRecord", e, s)
    if first == "graph": ok("cuStreamBeginCapture_v2", s, 2)
    r = launch_code(f, 1, 32, (p, c_int(0)), 0, s)
    if first == "graph": ok("cuStreamEndCapture", s, byref(g)); ok("cuGraphInstantiateWithFlags", byref(x), g, 0); r = cu("cuGraphLaunch", x, s)
    out += E(r); time.sleep(0.7)
    out += E({"event": lambda: cu("cuEventQuery", e), "alloc": lambda: cu("cuMemAlloc_v2", byref(d), 64), "stream": lambda: cu("cuStreamQuery", s), "copy": lambda: cu("cuMemcpyDtoH_v2", buf, p, 4), "graph": lambda: cu("cuGraphLaunch", x, s)}[first](), sync(), cu("cuStreamQuery", s), cu("cuEventQuery", e), cu("cuMemGetInfo_v2", byref(c_size_t()), byref(c_size_t())), cu("cuCtxSetLimit", 1, 1 << 20), cu("cuCtxGetDevice", byref(c_int())), cu("cuMemFree_v2", p), cu("cuEventDestroy_v2", e))
    say(Q, f"c {kind}: launch, first after 0.7 s, synchronise, stream's query, event's, memory info, limit, device, free, destroy event", out)
if len(sys.argv) > 1: guarded(Q, "c " + sys.argv[1], lambda: fault(sys.argv[1])); os._exit(0)
guarded(Q, "a", streams); guarded(Q, "b", calls); guarded(Q, "c", textures)
children([(k,) for k in FAULTS], workers=2)
