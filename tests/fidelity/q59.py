from common import *
Q = "q59"
ctx = init()
K = build('extern "C" __global__ void k(int *o) { o[0] += 1; }'); D = alloc(4096)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); NOTHING = HOSTFN(lambda d: None)
STATUS = {0: "none", 1: "active", 2: "invalidated"}
def status(s):
    v = c_int(-1); r = cu("cuStreamIsCapturing", s, byref(v)); return STATUS.get(v.value, v.value) if not r else err(r)
new = lambda flags=1: make("cuStreamCreate", flags)
event = lambda flags=0: make("cuEventCreate", flags)
launch_in = lambda s: cu("cuMemsetD8Async", D, 0, 4, s)
def end(s):
    g = c_void_p(); r = cu("cuStreamEndCapture", s, byref(g))
    if not g.value: return err(r)
    n, m = c_size_t(), c_size_t(); cu("cuGraphGetNodes", g, None, byref(n)); cu("cuGraphGetEdges_v2", g, None, None, None, byref(m)); return f"{err(r)} {n.value} nodes {m.value} edges"
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn):
    if len(sys.argv) == 1 or "finished capture" in key or "destroying" in key:
        guarded(Q, key, lambda: say(Q, key, fn()))
# a) Forks and joins in captures: unjoined, unmatched, merges of two captures, dependencies on other captures, waits twice,
# events of a finished capture, blocking streams and the legacy stream. Guess: 904 unjoined, 903 unmatched (end of a forked stream),
# 902 merge, 905 isolation, 906 implicit for the legacy stream beside a blocking stream. Met in overlapping-copy graphs.
def fork(join=True, work=True):
    s, t, e, f = new(), new(), event(2), event(2); r = E(cu("cuStreamBeginCapture_v2", s, 0), launch_in(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0)); st = [status(t)]
    if work: r += E(launch_in(t))
    if join: r += E(cu("cuEventRecord", f, t), cu("cuStreamWaitEvent", s, f, 0))
    r += [end(s)] + st + [status(t)]; return r
T("a fork and join", fork); T("a fork without join", lambda: fork(False)); T("a fork without work or join", lambda: fork(False, False)); T("a fork without work, joined", lambda: fork(True, False))
def end_forked():
    s, t, e = new(), new(), event(2); r = E(cu("cuStreamBeginCapture_v2", s, 0), launch_in(s), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0), launch_in(t)); return r + [end(t), status(s), status(t), end(s), status(t)]
T("a end in the forked stream", end_forked)
def merge():
    s, t, e = new(), new(), event(2); r = E(cu("cuStreamBeginCapture_v2", s, 0), cu("cuStreamBeginCapture_v2", t, 0), launch_in(s), launch_in(t), cu("cuEventRecord", e, s), cu("cuStreamWaitEvent", t, e, 0)); return r + [status(s), status(t), end(s), end(t)]
T("a merge of two captures", merge)
def uncaptured_wait():
    s, t, e = new(), new(), event(2); r = E(launch_in(t), cu("cuEventRecord", e, t), cu("cuStreamBeginCapture_v2", s, 0), cu("cuStreamWaitEvent", s, e, 0)); return r + [status(s), end(s)]
T("a wait for an event recorded outside", uncaptured_wait)
def after_end():
    s, t, e = new(), new(), event(2); r = E(cu("cuStreamBeginCapture_v2", s, 0), launch_in(s), cu("cuEventRecord", e, s)) + [end(s)]; return r + E(cu("cuStreamWaitEvent", t, e, 0), cu("cuEventQuery", e), cu("cuEventSynchronize", e), cu("cuEventRecord", e, t), cu("cuEventSynchronize", e)) + [status(t)]
def destroy_captured():
    s = new(); r = E(cu("cuStreamBeginCapture_v2", s, 0), launch_in(s), cu("cuStreamDestroy_v2", s)); t = new(); return r + E(cu("cuStreamBeginCapture_v2", t, 0)) + [end(t), err(cu("cuMemAlloc_v2", byref(c_uint64()), 16))]
# these two may leave a capture behind
if len(sys.argv) > 1:
    T(*{"event": ("a an event of a finished capture: wait, query, synchronise, record anew", after_end), "destroy": ("a destroying the capturing stream, then others go on", destroy_captured)}[sys.argv[1]])
    os._exit(0)
child("event"); child("destroy")
for kind, other in (("blocking stream captured, legacy used", 1), ("blocking captured, stream 0 used", 0), ("blocking captured, per-thread used", 2)):
    def main():
        s = new(0); r = E(cu("cuStreamBeginCapture_v2", s, 0), launch_in(other)); return r + [status(s), end(s)]
    T(f"a {kind}", main)
for key, call in (("cuMemcpyDtoD", lambda: cu("cuMemcpyDtoD_v2", D, D + 64, 16)), ("launch in stream 0", lambda: launch_code(K, 1, 1, (D,), 0, 0)), ("cuStreamQuery(0)", lambda: cu("cuStreamQuery", 0)), ("cuEventRecord in stream 0", lambda: cu("cuEventRecord", event(), 0)), ("cuStreamWaitEvent in stream 0", lambda: cu("cuStreamWaitEvent", 0, event(), 0)), ("work in another blocking stream", lambda: launch_in(other_blocking)), ("cuMemAlloc", lambda: cu("cuMemAlloc_v2", byref(c_uint64()), 16)), ("cuStreamCreate blocking", lambda: cu("cuStreamCreate", byref(c_void_p()), 0)), ("cuLaunchHostFunc in stream 0", lambda: cu("cuLaunchHostFunc", 0, NOTHING, None))):
    for mode in (0, 1, 2):
        def main():
            global other_blocking
            other_blocking = new(0); s = new(0); r = E(cu("cuStreamBeginCapture_v2", s, mode), call()); return r + [status(s), end(s)]
        T(f"a blocking stream captured, mode {mode}: {key}", main)
def per_thread():
    r = E(cu("cuStreamBeginCapture_v2", 2, 0), launch_in(2)); return r + [status(2), end(2)]
T("a capture of the per-thread stream", per_thread)
for mode in (3, 99, -1): T(f"a capture with mode {mode}", lambda: E(cu("cuStreamBeginCapture_v2", new(), mode)))
T("a end without begin; of the legacy stream", lambda: [end(new()), end(0)])
def info():
    s, st, cid, g, d, n, ed = new(), c_int(-1), c_uint64(), c_void_p(), c_void_p(), c_size_t(99), c_void_p()
    out = E(cu("cuStreamGetCaptureInfo_v2", s, byref(st), byref(cid), byref(g), byref(d), byref(n))) + [st.value, g.value is None]
    ok("cuStreamBeginCapture_v2", s, 0); out += E(cu("cuStreamGetCaptureInfo_v2", s, byref(st), byref(cid), byref(g), byref(d), byref(n))) + [st.value, cid.value > 0, n.value]; launch_in(s); launch_in(s); out += E(cu("cuStreamGetCaptureInfo_v2", s, byref(st), byref(cid), byref(g), byref(d), byref(n))) + [n.value]
    out += E(cu("cuStreamUpdateCaptureDependencies", s, None, 0, 1)); cu("cuStreamGetCaptureInfo_v2", s, byref(st), byref(cid), byref(g), byref(d), byref(n)); out += [n.value]; launch_in(s); return out + [end(s)]
T("a capture info: before, begun, two nodes, dependencies cleared; end", info)
def to_graph():
    g = make("cuGraphCreate", 0); s = new(); r = E(cu("cuStreamBeginCaptureToGraph", s, g, None, None, 0, 0), launch_in(s)); h = c_void_p(); r += E(cu("cuStreamEndCapture", s, byref(h))) + [h.value == g.value]; n = c_size_t(); cu("cuGraphGetNodes", g, None, byref(n)); r.append(n.value); r += E(cu("cuStreamBeginCaptureToGraph", s, g, None, None, 0, 0), launch_in(s)); r += E(cu("cuStreamEndCapture", s, byref(h))); cu("cuGraphGetNodes", g, None, byref(n)); return r + [n.value]
T("a capture into a graph, twice", to_graph)
# b) Streams and events outside of captures: flags, priorities, waits for events never recorded, elapsed times of wrong events, blocking
# flags, destroying while busy. Guess: priorities clamp to the range; elapsed with disabled timing INVALID_HANDLE, not recorded INVALID_HANDLE,
# not finished 600; unknown flags INVALID_VALUE; interprocess needs no timing. Met by profilers and schedulers.
lo, hi = c_int(), c_int(); cu("cuCtxGetStreamPriorityRange", byref(lo), byref(hi)); say(Q, "b priority range", [lo.value, hi.value])
for p in (0, 1, 100, -1, -2, -3, -5, -6, -100, 2**31 - 1, -2**31):
    for fl in (0, 1):
        h, v, f = c_void_p(), c_int(-99), c_uint(99); r = cu("cuStreamCreateWithPriority", byref(h), fl, p); say(Q, f"b priority {p} flags {fl}", err(r) if r else [(cu("cuStreamGetPriority", h, byref(v)), v.value)[1], (cu("cuStreamGetFlags", h, byref(f)), f.value)[1]])
for fl in (0, 1, 2, 3, 4, 0x80000000): h = c_void_p(); say(Q, f"b cuStreamCreate flags {fl:x}", err(cu("cuStreamCreate", byref(h), fl)))
for st in (0, 1, 2):
    v, f, i, c = c_int(-99), c_uint(99), c_uint64(), c_void_p(); say(Q, f"b stream {st}: priority, flags, id not 0, context, query", [(cu("cuStreamGetPriority", st, byref(v)), v.value)[1], (cu("cuStreamGetFlags", st, byref(f)), f.value)[1], (err(cu("cuStreamGetId", st, byref(i))), i.value > 0), (err(cu("cuStreamGetCtx", st, byref(c))), c.value == ctx.value), err(cu("cuStreamQuery", st))])
for fl in list(range(0, 9)) + [16, 0x80000000]: h = c_void_p(); say(Q, f"b cuEventCreate flags {fl:x}", err(cu("cuEventCreate", byref(h), fl)))
def times():
    a, b, nt, nr = event(), event(), event(2), event(); f = c_float(-5); s = new(); x = lambda p, q: err(cu("cuEventElapsedTime_v2", byref(f), p, q)); y = lambda p, q: err(cu("cuEventElapsedTime", byref(f), p, q))
    out = [x(a, b)]; cu("cuEventRecord", a, s); cu("cuEventRecord", nt, s); sync(); out += [x(a, nr), x(nr, a), x(a, nt), x(nt, a), x(a, a), f.value, y(a, nr), y(a, nt)]; cu("cuEventRecord", b, s); sync(); out += [x(a, b), f.value >= 0, x(b, a), f.value <= 0]; return out
T("b elapsed: both fresh; one fresh; fresh first; no timing; no timing first; itself; ...; reversed", times)
T("b fresh event: query, synchronise, wait in a stream, then query the stream", lambda: (lambda e, s: E(cu("cuEventQuery", e), cu("cuEventSynchronize", e), cu("cuStreamWaitEvent", s, e, 0), cu("cuStreamSynchronize", s), cu("cuStreamQuery", s)))(event(), new()))
for fl in (0, 1, 2, 3): T(f"b cuStreamWaitEvent flags {fl} outside of a capture", lambda: E(cu("cuStreamWaitEvent", new(), event(), fl)))
for fl in (0, 1, 2, 3): T(f"b cuEventRecordWithFlags {fl} outside of a capture", lambda: E(cu("cuEventRecordWithFlags", event(), new(), fl)))
def busy():
    import time; s, e = new(), event(); p = alloc(8); cu("cuStreamWaitValue32_v2", s, p, 1, 1); cu("cuEventRecord", e, s); out = E(cu("cuStreamQuery", s), cu("cuEventQuery", e), cu("cuEventElapsedTime_v2", byref(c_float()), e, e)); w = new(); out += E(cu("cuStreamWaitEvent", w, e, 0), cu("cuStreamQuery", w)); cu("cuEventRecord", e, new()); out += E(cu("cuEventSynchronize", e), cu("cuEventQuery", e), cu("cuStreamQuery", w), cu("cuEventDestroy_v2", e)); t = new(); out += E(cu("cuStreamWriteValue32_v2", t, p, 1, 0), cu("cuStreamSynchronize", t), cu("cuStreamSynchronize", s), cu("cuStreamSynchronize", w)); return out
T("b busy stream: query, event, elapsed; a waiter; re-recorded event leaves the waiter; all end", busy)
for a, v in ((1, packed("QQfII", D, 64, 1.0, 1, 2, size=64)), (3, packed("I", 1, size=64)), (3, packed("I", 4, size=64)), (3, packed("I", 9, size=64)), (8, packed("i", -3, size=64)), (8, packed("i", 50, size=64)), (9, packed("BB", 0, 1, size=64)), (10, packed("I", 1, size=64)), (2, packed("I", 1, size=64)), (0, packed("I", 0, size=64)), (99, packed("I", 0, size=64))):
    T(f"b cuStreamSetAttribute {a} {v.raw[:4].hex() if a != 1 else ''}", lambda: (lambda s, o: E(cu("cuStreamSetAttribute", s, a, v), cu("cuStreamGetAttribute", s, a, o)) + ([] if a == 1 else [o.raw[:4].hex()]))(new(), ctypes.create_string_buffer(64)))
# c) Value waits and writes, batch operations: alignment, null, flags, 64-bit, counts. Guess: misaligned INVALID_VALUE; flags above INVALID_VALUE;
# an empty batch INVALID_VALUE; host memory by its pointer works. Met by synchronisation with network cards and other processes.
s = new(); hp = make("cuMemHostAlloc", 4096, 0)
codes(Q, "c ", [(f"{n}{w} +{o} value {v} flags {f:x}", (f"cuStream{n}Value{w}_v2", s, D + 1024 + o, v, f)) for n, w, o, v, f in (("Write", 32, 0, 5, 0), ("Write", 32, 2, 5, 0), ("Write", 32, 1, 5, 0), ("Write", 32, 0, 5, 1), ("Write", 32, 0, 5, 2), ("Write", 64, 8, 5, 0), ("Write", 64, 4, 5, 0), ("Write", 64, 8, 5, 1), ("Wait", 32, 0, 5, 1), ("Wait", 32, 2, 0, 1), ("Wait", 32, 0, 5, 0), ("Wait", 32, 0, 5, 4), ("Wait", 32, 0, 5, 8), ("Wait", 64, 8, 5, 1), ("Wait", 64, 4, 0, 0))] + [("Write32 null", ("cuStreamWriteValue32_v2", s, 0, 1, 0)), ("Write32 page-locked", ("cuStreamWriteValue32_v2", s, hp, 1, 0)), ("Write32 2^45", ("cuStreamWriteValue32_v2", s, 2**45, 1, 0)), ("Write32 in stream 0", ("cuStreamWriteValue32_v2", 0, D, 1, 0)), ("synchronise", sync)])
def batch(ops, count=None, flags=0):
    b = ctypes.create_string_buffer(b"".join(struct.pack("<I4xQQI4xQ8x", *o).ljust(48, b"\0") for o in ops).ljust(48, b"\0")); return E(cu("cuStreamBatchMemOp_v2", s, len(ops) if count is None else count, b, flags), cu("cuStreamSynchronize", s))
for key, ops, kw in (("write 32 and 64", [(2, D + 1040, 1, 0, 0), (5, D + 1048, 2, 0, 0)], {}), ("write, wait for it", [(2, D + 1040, 7, 0, 0), (1, D + 1040, 7, 1, 0)], {}), ("0 operations", [], {}), ("257 writes", [(2, D + 1040, 1, 0, 0)] * 257, {}), ("flags 1", [(2, D + 1040, 1, 0, 0)], dict(flags=1)), ("operation 0", [(0, D + 1040, 1, 0, 0)], {}), ("operation 3 (flush)", [(3, 0, 0, 0, 0)], {}), ("operation 6 (barrier)", [(6, 0, 0, 0, 0)], {}), ("operation 99", [(99, D + 1040, 1, 0, 0)], {}), ("second is misaligned", [(2, D + 1044, 1, 0, 0), (2, D + 1042, 1, 0, 0)], {})):
    T(f"c batch: {key}", lambda: batch(ops, **kw))
say(Q, "c memory after", u32(get(D + 1024, 28)))
