from common import *
Q = "q67"
import threading, time
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p); keep = []
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
ctx = init()
def host(fn): f = HOSTFN(fn); keep.append(f); return f
def callback(fn): f = CALLBACK(fn); keep.append(f); return f
new = lambda flags=1: make("cuStreamCreate", flags)
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
SRC = 'extern "C" __global__ void k(int n) { printf("k%d ", n); } extern "C" __global__ void b(int n) { if (threadIdx.x == 0) { printf("b%d.%d ", n, blockIdx.x); } }'
def printed(which):
    m = load(compile_cuda(SRC)); k, b = function(m), function(m, "b"); libc = ctypes.CDLL(None)
    if which == "one": s = new(); [launch_code(k, 1, 1, (c_int(i),), 0, s) for i in range(5)]; sync()
    if which == "event":
        s, t, e = new(), new(), make("cuEventCreate", 2); launch_code(k, 1, 1, (c_int(0),), 0, s); cu("cuEventRecord", e, s); cu("cuStreamWaitEvent", t, e, 0); launch_code(k, 1, 1, (c_int(1),), 0, t); cu("cuEventRecord", e, t); cu("cuStreamWaitEvent", s, e, 0); launch_code(k, 1, 1, (c_int(2),), 0, s); sync()
    if which == "host": [(launch_code(k, 1, 1, (c_int(i),)), sync(), libc.fflush(None), os.write(1, b"h%d " % i)) for i in range(3)]
    if which == "graph":
        s = new(); ok("cuStreamBeginCapture_v2", s, 0); [launch_code(k, 1, 1, (c_int(i),), 0, s) for i in range(3)]; g = c_void_p(); ok("cuStreamEndCapture", s, byref(g)); e = make("cuGraphInstantiateWithFlags", g, 0); [cu("cuGraphLaunch", e, s) for _ in range(2)]; sync()
    if which == "hostfunc": s = new(); [(launch_code(k, 1, 1, (c_int(i),), 0, s), cu("cuLaunchHostFunc", s, host(lambda d, i=i: (libc.fflush(None), os.write(1, b"h%d " % i))), None)) for i in range(3)]; sync()
    if which == "blocks": launch_code(b, 4, 64, (c_int(1),)); sync(); launch_code(b, 1, 1, (c_int(2),)); sync()
    if which == "contexts":
        c = make("cuCtxCreate_v2", 0, 0); k2 = function(load(compile_cuda(SRC))); launch_code(k2, 1, 1, (c_int(1),)); cu("cuCtxSetCurrent", ctx); launch_code(k, 1, 1, (c_int(0),)); sync(); cu("cuCtxSetCurrent", c); sync()
    if which == "unload": launch_code(k, 1, 1, (c_int(0),)); cu("cuModuleUnload", m); sync()
    if which == "destroy": c = make("cuCtxCreate_v2", 0, 0); k2 = function(load(compile_cuda(SRC))); launch_code(k2, 1, 1, (c_int(1),)); cu("cuCtxDestroy_v2", c)
    if which == "nothing": launch_code(k, 1, 1, (c_int(0),)); time.sleep(0.3)
    libc.fflush(None); os._exit(0)
if sys.argv[1:] == ["null"]:
    T("a host function null, then synchronise", lambda: (lambda s: E(cu("cuLaunchHostFunc", s, None, None), cu("cuStreamSynchronize", s)))(new())); os._exit(0)
if len(sys.argv) > 1:
    printed(sys.argv[1])
# a) Host functions: order among streams, threads they run in, order with copies and kernels, in captures and graphs, nested launches, many of them.
# Guess: one thread for all of a context, in order within a stream; a host function blocks only its stream (and other host functions, as they share the
# thread); in graphs they run once a launch. Met by completion queues.
def order():
    out, ids = [], set(); s, t = new(), new()
    for i in range(4): ok("cuLaunchHostFunc", s, host(lambda d, i=i: (out.append(f"s{i}"), ids.add(threading.get_ident()))), None)
    r = E(cu("cuStreamSynchronize", s)); return r + [out, len(ids), threading.get_ident() in ids]
T("a four in one stream: order, threads, is the caller's thread among them", order)
def two_streams():
    ids = set(); go = threading.Event(); seen = []; s, t = new(), new(); ok("cuLaunchHostFunc", s, host(lambda d: (ids.add(threading.get_ident()), go.wait(0.5), seen.append("s"))), None); ok("cuLaunchHostFunc", t, host(lambda d: (ids.add(threading.get_ident()), seen.append("t"), go.set())), None); r = E(cu("cuStreamSynchronize", t), cu("cuStreamSynchronize", s)); return r + [seen, len(ids)]
T("a one waits for the one of another stream (0.5 s at most): order, threads", two_streams)
def data():
    d = alloc(64); b = make("cuMemHostAlloc", 64, 0); A = (c_int * 4).from_address(b.value); s = new(); out = []
    for i in range(3): A[0] = -1; ok("cuMemsetD32Async", d, i + 5, 1, s); ok("cuMemcpyDtoHAsync_v2", b, d, 4, s); ok("cuLaunchHostFunc", s, host(lambda dd: (out.append(A[0]), A.__setitem__(0, A[0] * 10))), None); ok("cuMemcpyHtoDAsync_v2", d, b, 4, s); ok("cuStreamSynchronize", s)
    return [out, u32(get(d, 4))]
T("a between copies: values seen, then on the device", data)
def userdata():
    s = new(); out = []; [ok("cuLaunchHostFunc", s, host(lambda d: out.append(d)), c_void_p(x)) for x in (1, 2**64 - 1)]; ok("cuLaunchHostFunc", s, host(lambda d: out.append(d)), None); cu("cuStreamSynchronize", s); return out
T("a user data as given: 1, -1, null", userdata)
T("a callback without a function, with flags 1", lambda: E(cu("cuStreamAddCallback", new(), None, None, 0), cu("cuStreamAddCallback", new(), callback(lambda a, b, c: None), None, 1)))
child("null")
def legacy():
    out = []; s = new(0); nb = new(1); go = threading.Event(); ok("cuLaunchHostFunc", s, host(lambda d: (time.sleep(0.15), out.append("blocking"))), None); ok("cuLaunchHostFunc", 0, host(lambda d: out.append("stream 0")), None); ok("cuLaunchHostFunc", s, host(lambda d: out.append("blocking 2")), None); r = E(cu("cuStreamQuery", nb), cu("cuStreamQuery", s)); return r + E(sync()) + [out]
T("a blocking stream, stream 0, blocking stream: non-blocking query, query, order", legacy)
def captured():
    out = []; s = new(); ok("cuStreamBeginCapture_v2", s, 0); r = E(cu("cuLaunchHostFunc", s, host(lambda d: out.append(d)), c_void_p(5)), cu("cuStreamAddCallback", s, callback(lambda a, b, c: None), None, 0)); g = c_void_p(); r += E(cu("cuStreamEndCapture", s, byref(g))); return r + [out]
T("a in a capture: host function, callback, end", captured)
def graph():
    out = []; s = new(); ok("cuStreamBeginCapture_v2", s, 0); ok("cuLaunchHostFunc", s, host(lambda d: out.append(d)), c_void_p(5)); ok("cuLaunchHostFunc", s, host(lambda d: out.append("second")), None); g = c_void_p(); ok("cuStreamEndCapture", s, byref(g)); before = len(out); e = make("cuGraphInstantiateWithFlags", g, 0); [ok("cuGraphLaunch", e, s) for _ in range(2)]; r = E(cu("cuStreamSynchronize", s)); a = list(out); nodes, n = (c_void_p * 4)(), c_size_t(4); ok("cuGraphGetNodes", g, nodes, byref(n)); p = ctypes.create_string_buffer(16); r += E(cu("cuGraphHostNodeGetParams", c_void_p(nodes[0]), p)); v = struct.unpack("<QQ", p.raw)[1]; out.clear(); r += E(cu("cuGraphExecHostNodeSetParams", e, c_void_p(nodes[0]), packed("QQ", struct.unpack("<QQ", p.raw)[0], 6)), cu("cuGraphLaunch", e, s), cu("cuStreamSynchronize", s)); return [before, a, v] + r + [out]
T("a in a graph: calls before, after two launches, data, set data 6, after", graph)
def parallel_nodes():
    out = []; g = make("cuGraphCreate", 0); bar = threading.Barrier(2)
    def meet(d):
        try: bar.wait(0.4); out.append("met")
        except threading.BrokenBarrierError: out.append("alone")
    for _ in range(2): n = c_void_p(); ok("cuGraphAddHostNode", byref(n), g, None, 0, packed("QQ", ctypes.cast(host(meet), c_void_p).value, 0))
    e = make("cuGraphInstantiateWithFlags", g, 0); s = new(); ok("cuGraphLaunch", e, s); cu("cuStreamSynchronize", s); return sorted(out)
T("a two independent host nodes of a graph: do they run at the same time", parallel_nodes)
def status(): out = []; s = new(); ok("cuStreamAddCallback", s, callback(lambda st, r, d: out.append((st == s.value, r, d))), c_void_p(9), 0); cu("cuStreamSynchronize", s); return out
T("a callback: its stream, status, data", status)
# b) Order of printed text: kernels of one stream, of two streams joined by an event, of a graph's chain, with text of the host between, in a kernel
# launched from two contexts. Guess: text comes in order of kernels' ends; the host's own text between two synchronisations stays between if flushed.
# Met by logs of mixed host and device text.
KINDS = ("one", "event", "host", "graph", "hostfunc", "blocks", "contexts", "unload", "destroy", "nothing")
for kind in KINDS:
    out, code = child(kind, capture=True); text = out.decode(errors="replace").split(); say(Q, f"b {kind}", (" ".join(sorted(text)) + " (sorted)" if kind == "blocks" else " ".join(text)) + f"; exit {code}")
