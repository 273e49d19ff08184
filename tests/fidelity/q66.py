from common import *
Q = "q66"
import time
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
BODY = {"illegal": "o[1ll << 40] = 1;", "trap": "__trap();", "assert": "assert(o[0] == 99);", "misaligned": "*(int *)((char *)o + 1) = 1;"}
def stream(flags=1): return make("cuStreamCreate", flags)
# a) A fault of a kernel in one stream, seen from others: work queued before and behind it in other streams, events recorded before and behind, waits across
# streams, callbacks behind it, graph launches, a capture that is under way, a pending value wait. Guess: finished work stays; events before the fault keep
# success or give the sticky error; everything asked later gives the fault's code; callbacks run with the status, host functions don't.
# Met by servers with several streams and error recovery.
def streams(kind):
    f = build('extern "C" __global__ void k(int *o) { unsigned long long t0, t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)); do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); while (t - t0 < 100000000ull); ' + BODY[kind] + " }"); good = build('extern "C" __global__ void k(int *o) { o[0] = 7; }')
    hp = make("cuMemHostAlloc", 4096, 2); H = (c_int * 16).from_address(hp.value); o = alloc(64); host = c_uint64(); ok("cuMemHostGetDevicePointer_v2", byref(host), hp, 0)
    s, t, w, cap = stream(), stream(), stream(), stream(); e0, e1, e2 = (make("cuEventCreate", 0) for _ in range(3)); g = make("cuGraphCreate", 0); ge = make("cuGraphInstantiateWithFlags", g, 0); ran = []
    fn = HOSTFN(lambda d: ran.append("host")); cb = CALLBACK(lambda st, r, d: ran.append(f"callback {err(r)}")); ok("cuStreamBeginCapture_v2", cap, 2)
    P = f"a {kind}: "
    r = E(launch_code(good, 1, 1, (host.value,), 0, s), cu("cuEventRecord", e0, s), launch_code(f, 1, 1, (o,), 0, s), cu("cuEventRecord", e1, s), cu("cuStreamWaitEvent", w, e1, 0), launch_code(good, 1, 1, (host.value + 4,), 0, w), cu("cuLaunchHostFunc", w, fn, None), cu("cuStreamAddCallback", w, cb, None, 0), launch_code(good, 1, 1, (host.value + 8,), 0, t), cu("cuEventRecord", e2, t), cu("cuGraphLaunch", ge, s), cu("cuMemsetD8Async", o, 0, 4, cap)); say(Q, P + "queued", r)
    say(Q, P + "synchronise", err(cu("cuStreamSynchronize", s))); time.sleep(0.2)
    say(Q, P + "memory: before the fault, waiting behind it, independent", list(H[:3])); say(Q, P + "host function and callback that waited", ran)
    f2, n = c_float(), c_int(); gg = c_void_p()
    codes(Q, P, [("event before it: query", ("cuEventQuery", e0)), ("event behind it: query", ("cuEventQuery", e1)), ("event of t: query", ("cuEventQuery", e2)), ("event of t: synchronise", ("cuEventSynchronize", e2)), ("elapsed between the good ones", ("cuEventElapsedTime_v2", byref(f2), e0, e2)), ("query s", ("cuStreamQuery", s)), ("query t", ("cuStreamQuery", t)), ("query w", ("cuStreamQuery", w)), ("query stream 0", ("cuStreamQuery", 0)), ("capture status", lambda: [err(cu("cuStreamIsCapturing", cap, byref(n))), n.value]), ("more capture", ("cuMemsetD8Async", o, 0, 4, cap)), ("end capture", ("cuStreamEndCapture", cap, byref(gg))), ("graph create", ("cuGraphCreate", byref(c_void_p()), 0)), ("graph add empty", ("cuGraphAddEmptyNode", byref(c_void_p()), g, None, 0)), ("graph instantiate", ("cuGraphInstantiateWithFlags", byref(c_void_p()), g, 0)), ("graph launch", ("cuGraphLaunch", ge, t)), ("graph destroy", ("cuGraphExecDestroy", ge)), ("launch host function", ("cuLaunchHostFunc", t, fn, None)), ("event record", ("cuEventRecord", e0, t)), ("wait event", ("cuStreamWaitEvent", t, e2, 0)), ("write value", ("cuStreamWriteValue32_v2", t, o, 1, 0)), ("alloc async", ("cuMemAllocAsync", byref(c_uint64()), 64, t)), ("free async", ("cuMemFreeAsync", o, t)), ("prefetch null", ("cuMemPrefetchAsync", 0, 0, 0, t)), ("texture reference create", ("cuTexRefCreate", byref(c_void_p()))), ("array create", ("cuArrayCreate_v2", byref(c_void_p()), packed("QQII", 8, 8, 32, 1))), ("link create", ("cuLinkCreate_v2", 0, None, None, byref(c_void_p()))), ("occupancy", ("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(n), good, 32, 0)), ("set limit", ("cuCtxSetLimit", 1, 1 << 20)), ("push and pop", lambda: E(cu("cuCtxPopCurrent_v2", byref(gg)), cu("cuCtxPushCurrent_v2", gg))), ("error name", ("cuGetErrorName", 1, byref(c_char_p()))), ("device name", ("cuDeviceGetName", ctypes.create_string_buffer(100), 100, 0)), ("host reads of page-locked memory", lambda: [H[0]])])
# b) Errors of calls that are no faults are not sticky: after each refused call, the next good call works and cuCtxSynchronize is OK; and a launch error
# (701, 1, 98) does not stop the stream. Guess: never sticky in the driver API. Met by programs which try, and fall back.
def calls():
    good = build('extern "C" __global__ void k(int *o) { o[0] += 1; }'); o = alloc(64); s = stream()
    for key, call in {"launch with grid 0": lambda: launch_code(good, 0, 1, (o,), 0, s), "launch with block 2000": lambda: launch_code(good, 1, 2000, (o,), 0, s), "copy of null": lambda: cu("cuMemcpyDtoHAsync_v2", ctypes.create_string_buffer(8), 0, 8, s), "memset misaligned": lambda: cu("cuMemsetD32Async", o + 1, 0, 1, s), "alloc too large": lambda: cu("cuMemAlloc_v2", byref(c_uint64()), 1 << 50), "bad PTX": lambda: cu("cuModuleLoadData", byref(c_void_p()), c_char_p(b".version 8.0\n.target sm_80\nfoo")), "unknown name": lambda: cu("cuModuleGetFunction", byref(c_void_p()), load(compile_cuda('extern "C" __global__ void k(int *o) { o[0] += 1; }')), b"zzz"), "free of null + 16": lambda: cu("cuMemFree_v2", 16), "not ready": lambda: cu("cuStreamQuery", s), "elapsed of fresh events": lambda: cu("cuEventElapsedTime_v2", byref(c_float()), make("cuEventCreate", 0), make("cuEventCreate", 0))}.items():
        put(o, bytes(64)); r = E(launch_code(good, 1, 1, (o,), 0, s), call(), launch_code(good, 1, 1, (o,), 0, s), cu("cuStreamSynchronize", s), sync()); say(Q, f"b {key}", r + u32(get(o, 4)))
# c) A fault inside a graph: which call reports it, do independent branches finish, does the executable launch again in a new context; a fault by a memcpy node;
# a graph with a host node behind the fault. Guess: reported at synchronisation with the kernel's code; host nodes behind don't run.
# Met by frameworks which run everything in graphs.
def graphs(kind):
    ctx = c_void_p(); cu("cuCtxGetCurrent", byref(ctx)); bad = build('extern "C" __global__ void k(int *o) { ' + BODY[kind] + " }"); good = build('extern "C" __global__ void k(int *o) { o[0] = 7; }'); hp = make("cuMemHostAlloc", 4096, 2); H = (c_int * 16).from_address(hp.value); o = alloc(64); ran = []; fn = HOSTFN(lambda d: ran.append(1)); keep = []
    def node(g, f, d, ds=()):
        a = c_uint64(d); p = (c_void_p * 1)(ctypes.addressof(a)); keep.extend([a, p]); n = c_void_p(); ok("cuGraphAddKernelNode_v2", byref(n), g, (c_void_p * len(ds))(*[x.value for x in ds]) if ds else None, len(ds), packed("QIIIIIII4xQQQQ", f.value, 1, 1, 1, 1, 1, 1, 0, ctypes.addressof(p), 0, 0, 0, size=72)); return n
    g = make("cuGraphCreate", 0); first = node(g, good, hp.value); b = node(g, bad, o, (first,)); node(g, good, hp.value + 4, (b,)); h = c_void_p(); ok("cuGraphAddHostNode", byref(h), g, (c_void_p * 1)(b.value), 1, packed("QQ", ctypes.cast(fn, c_void_p).value, 0)); e = make("cuGraphInstantiateWithFlags", g, 0); s = stream()
    say(Q, f"c {kind}: launch, synchronise, launch again, upload, exec update", E(cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s), cu("cuGraphLaunch", e, s), cu("cuGraphUpload", e, s), cu("cuGraphExecUpdate_v2", e, g, ctypes.create_string_buffer(24)))); time.sleep(0.1); say(Q, f"c {kind}: before, behind, host node ran", [H[0], H[1], len(ran)]); say(Q, f"c {kind}: node calls", E(cu("cuGraphNodeGetType", b, byref(c_int())), cu("cuGraphAddEmptyNode", byref(c_void_p()), g, None, 0), cu("cuGraphDestroyNode", h), cu("cuGraphExecDestroy", e), cu("cuGraphDestroy", g)))
init()
if len(sys.argv) > 1:
    guarded(Q, sys.argv[2], lambda: {"a": streams, "c": graphs}[sys.argv[1]](sys.argv[2])); os._exit(0)
guarded(Q, "b", calls)
children([("a", k) for k in BODY] + [("c", k) for k in BODY])
