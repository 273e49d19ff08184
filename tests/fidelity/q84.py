from common import *
Q = "q84"
ctx = init()
import threading
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
stream = lambda flags=1: make("cuStreamCreate", flags)
event = lambda flags=0: make("cuEventCreate", flags)
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)
D = alloc(4096); K = build('extern "C" __global__ void k(int *o) { o[0] += 1; }')
launch(K, 1, 1, (D,)); cu("cuMemsetD8Async", D, 0, 4, 0); cu("cuMemcpyDtoDAsync_v2", D, D + 64, 16, 0); sync()
# a) Handles 0, 1 and 2 (default, legacy, per-thread) in calls beside launches: ids, attributes, contexts, devices, priorities, waits upon events, value writes, callbacks, destroying them,
# copies of attributes, and the same with the calls of the per-thread default stream (_ptsz, _ptds). Guess: 0 and 1 are one stream with one id, the per-thread stream's id differs by thread;
# destroying a default stream is INVALID_HANDLE or INVALID_RESOURCE; a callback gets the handle that was given. Met by code built with --default-stream per-thread.
def sid(s, name="cuStreamGetId"):
    v = c_uint64(); r = cu(name, s, byref(v)); return err(r) if r else v.value
def in_thread(fn):
    out = []
    def run(): cu("cuCtxSetCurrent", ctx); out.append(fn())
    t = threading.Thread(target=run); t.start(); t.join(10); return out[0]
def defaults():
    T("a ids: 0 = 1, 0 = 2, 0 by _ptsz = 2, 2 in another thread = 2 here, a new stream's differs, of another = itself", lambda: (lambda s: [sid(0) == sid(1), sid(0) == sid(2), sid(0, "cuStreamGetId_ptsz") == sid(2), in_thread(lambda: sid(2)) == sid(2), sid(s) not in (sid(0), sid(1), sid(2)), sid(s) == sid(s)])(stream()))
    for s in (0, 1, 2):
        seen = []; cb = CALLBACK(lambda st, r, d: seen.append((st or 0, r, d))); fn = HOSTFN(lambda d: seen.append(d)); e, n, f, h, o = event(), c_int(-9), c_uint(99), c_void_p(), ctypes.create_string_buffer(64)
        codes(Q, f"a stream {s}: ", [("device", lambda: [err(cu("cuStreamGetDevice", s, byref(n))), n.value]), ("context v2", lambda: (lambda g: E(cu("cuStreamGetCtx_v2", s, byref(h), byref(g))) + [h.value == ctx.value, g.value])(c_void_p())), ("record", ("cuEventRecord", e, s)), ("wait", ("cuStreamWaitEvent", s, e, 0)), ("callback, its handle, status, data", lambda: [err(cu("cuStreamAddCallback", s, cb, 7, 0)), err(cu("cuStreamSynchronize", s)), seen[:]]), ("callback flags 1", ("cuStreamAddCallback", s, cb, None, 1)), ("host function, its data", lambda: (seen.clear(), [err(cu("cuLaunchHostFunc", s, fn, 9)), err(cu("cuStreamSynchronize", s)), seen[:]])[1]), ("get attribute 3", lambda: [err(cu("cuStreamGetAttribute", s, 3, o)), o.raw[:4].hex()]), ("set attribute 3", ("cuStreamSetAttribute", s, 3, packed("I", 1, size=64))), ("get priority attribute 8", lambda: [err(cu("cuStreamGetAttribute", s, 8, o)), o.raw[:4].hex()]), ("write value", ("cuStreamWriteValue32_v2", s, D, 1, 0)), ("batch of one write", ("cuStreamBatchMemOp_v2", s, 1, packed("I4xQQI4xQ8x", 2, D, 1, 0, 0), 0)), ("begin capture", lambda: E(cu("cuStreamBeginCapture_v2", s, 2)) + ([] if s != 2 else E(cu("cuStreamEndCapture", s, byref(h))))), ("capture info", lambda: [err(cu("cuStreamIsCapturing", s, byref(n))), n.value]), ("flags by _ptsz", lambda: [err(cu("cuStreamGetFlags_ptsz", s, byref(f))), f.value]), ("set the default attribute back", ("cuStreamSetAttribute", s, 3, packed("I", 1, size=64))), ("alloc async, free async", lambda: (lambda p: E(cu("cuMemAllocAsync", byref(p), 64, s), cu("cuMemFreeAsync", p, s), cu("cuStreamSynchronize", s)))(c_uint64())), ("attach nothing", ("cuStreamAttachMemAsync", s, 0, 0, 1)), ("copy attributes to a new one", lambda: cu("cuStreamCopyAttributes", stream(), s)), ("copy attributes from a new one", lambda: cu("cuStreamCopyAttributes", s, stream()))])
if len(sys.argv) == 1: guarded(Q, "a", defaults)
def destroys():
    if len(sys.argv) > 1: say(Q, f"a destroy stream {sys.argv[1]}, then use it", E(cu("cuStreamDestroy_v2", int(sys.argv[1])), cu("cuMemsetD8Async", D, 0, 4, int(sys.argv[1])), sync()))
# b) What a stream's work sees of another: default stream against blocking and non-blocking streams by queries while a value wait holds one of them, per-thread streams, events re-recorded, and
# destroying a stream or event in use, all released at the end. Guess: the legacy stream waits for blocking streams, so its query is 600 while one is held; a non-blocking one isn't involved;
# the per-thread stream is blocking. Met by overlapping code which seems to serialise.
# The value is in host memory and a timer sets it without the driver: a call that waits for the held stream, or keeps other threads out of the driver, ends after 5 seconds.
def held(key, holder, then, asked):
    p = make("cuMemHostAlloc", 8, 0); word = c_uint.from_address(p.value); word.value = 0; h, out = holder(), []
    def release(): word.value = 1
    timer = threading.Timer(5, release); timer.start(); r = cu("cuStreamWaitValue32_v2", h, p.value, 1, 1); out.append(err(r))
    try: out += E(*then(h)); out += E(*[cu("cuStreamQuery", s) for s in asked()])
    finally: release(); timer.cancel()
    out.append(err(sync())); say(Q, "b " + key, out)
def relations():
    set_ = lambda s: cu("cuMemsetD8Async", D + 64, 0, 4, s); A, B, N = stream(0), stream(0), stream(1); e = event(2)
    for key, holder, then in [("held: legacy; queries of 0, a blocking, a non-blocking, 2", lambda: 1, lambda h: []), ("held: blocking; the same", lambda: stream(0), lambda h: []), ("held: non-blocking; the same", lambda: stream(1), lambda h: []), ("held: per-thread; the same", lambda: 2, lambda h: [])]:
        guarded(Q, "b", lambda: held(key, holder, then, lambda: (0, A, N, 2)))
    for key, holder, s in [("held blocking, work in 0", lambda: stream(0), 0), ("held blocking, work in 2", lambda: stream(0), 2), ("held non-blocking, work in 0", lambda: stream(1), 0), ("held 2, work in 0", lambda: 2, 0), ("held legacy, work in blocking", lambda: 1, A), ("held legacy, work in non-blocking", lambda: 1, N), ("held legacy, work in 2", lambda: 1, 2)]:
        guarded(Q, "b", lambda: held(key + ": code; queries of it, of a blocking, a non-blocking", holder, lambda h: [set_(s)], lambda: (s, B, N)))
    guarded(Q, "b", lambda: held("held blocking, event in it, a non-blocking one waits for it, event recorded again elsewhere; queries of the waiter, a blocking", lambda: stream(0), lambda h: [cu("cuEventRecord", e, h), cu("cuStreamWaitEvent", N, e, 0), cu("cuEventQuery", e), cu("cuEventRecord", e, B), cu("cuEventQuery", e)], lambda: (N, B)))
    guarded(Q, "b", lambda: held("event destroyed while a stream waits for it", lambda: stream(1), lambda h: (lambda x: [cu("cuEventRecord", x, h), cu("cuStreamWaitEvent", N, x, 0), cu("cuEventDestroy_v2", x)])(event(2)), lambda: (N,)))
    guarded(Q, "b", lambda: held("stream destroyed while it is held (it is not asked again)", lambda: stream(1), lambda h: [cu("cuStreamDestroy_v2", h)], lambda: (N,)))
    guarded(Q, "b", lambda: held("non-blocking held, 0 asked by _ptsz and by legacy", lambda: stream(1), lambda h: [cu("cuStreamQuery_ptsz", 0), cu("cuStreamQuery", 0)], lambda: ()))
    children([("held", 0), ("held", 1)])
# In processes of their own: the first has hung on a card.
def alone(which):
    N = stream(1)
    if which == 0: held("per-thread held: query of 2 in another thread", lambda: 2, lambda h: [in_thread(lambda: cu("cuStreamQuery", 2)), in_thread(lambda: cu("cuMemsetD8Async", D, 0, 4, 2)), in_thread(lambda: cu("cuStreamSynchronize", 2))], lambda: (2,))
    else: held("behind a held stream: copy, fill of 0 bytes, launch, allocation; query of another", lambda: stream(1), lambda h: [cu("cuMemcpyDtoDAsync_v2", D, D + 64, 16, h), cu("cuMemsetD8Async", D, 0, 0, h), launch_code(K, 1, 1, (D,), 0, h), cu("cuMemAllocAsync", byref(c_uint64()), 512, h)], lambda: (N,))
guarded(Q, "b", relations) if len(sys.argv) == 1 else None
# c) Context-wide calls on streams and events: cuCtxRecordEvent, cuCtxWaitEvent, cuCtxResetPersistingL2Cache, event flags against elapsed, IPC handles of events, attributes, create with flags in a second context,
# priorities kept by per-thread creation, cuStreamGetCtx of a destroyed context's stream is left out. Guess: cuCtxRecordEvent works with the primary context; blocking sync does not forbid timing;
# interprocess without DISABLE_TIMING is INVALID_VALUE. Met by progress engines.
def whole():
    e, nt, f, h64 = event(), event(2), c_float(-1), ctypes.create_string_buffer(64)
    codes(Q, "c ", [("cuCtxRecordEvent", ("cuCtxRecordEvent", ctx, e)), ("then query after synchronise", lambda: E(sync(), cu("cuEventQuery", e))), ("cuCtxRecordEvent of null context", ("cuCtxRecordEvent", 0, e)), ("cuCtxWaitEvent", ("cuCtxWaitEvent", ctx, e)), ("cuCtxWaitEvent never recorded", ("cuCtxWaitEvent", ctx, event())), ("synchronise", sync), ("elapsed of it against a stream's", lambda: (lambda x: E(cu("cuEventRecord", x, 0), sync(), cu("cuEventElapsedTime_v2", byref(f), e, x)))(event())), ("reset of persisting L2", ("cuCtxResetPersistingL2Cache",)), ("IPC handle of plain", ("cuIpcGetEventHandle", h64, e)), ("IPC handle of 4", lambda: cu("cuEventCreate", byref(c_void_p()), 4)), ("IPC handle of 6, twice the same", lambda: (lambda x, b: E(cu("cuIpcGetEventHandle", h64, x), cu("cuIpcGetEventHandle", b, x)) + [h64.raw == b.raw])(event(6), ctypes.create_string_buffer(64))), ("IPC handle of 7", lambda: cu("cuIpcGetEventHandle", h64, event(7))), ("elapsed with 6", lambda: (lambda x: E(cu("cuEventRecord", x, 0), sync(), cu("cuEventElapsedTime_v2", byref(f), x, e)))(event(6))), ("elapsed with blocking sync", lambda: (lambda x: E(cu("cuEventRecord", x, 0), cu("cuEventSynchronize", x), cu("cuEventElapsedTime_v2", byref(f), x, x)) + [f.value])(event(1))), ("record with flags 1 in a stream that doesn't capture", ("cuEventRecordWithFlags", e, stream(), 1)), ("wait with flags 1 there", ("cuStreamWaitEvent", stream(), e, 1)), ("only the least asked", lambda: (lambda v: [err(cu("cuCtxGetStreamPriorityRange", byref(v), None)), v.value])(c_int(-9)))])
    other = make("cuCtxCreate_v2", 0, 0); s2, e2 = stream(), event(); lo, hi = c_int(), c_int(); cu("cuCtxGetStreamPriorityRange", byref(lo), byref(hi)); r = E(cu("cuCtxRecordEvent", other, e2), cu("cuCtxRecordEvent", ctx, e2), cu("cuCtxRecordEvent", other, e), cu("cuCtxWaitEvent", other, e), cu("cuCtxWaitEvent", ctx, e2), cu("cuStreamWaitEvent", s2, e, 0), cu("cuEventElapsedTime_v2", byref(f), e, e2), sync()); h = c_void_p()
    say(Q, "c second context: record its event in it, in the first, the first's in it, wait each way, elapsed across", r); say(Q, "c second context: its stream's context, default stream's, priority range", [(cu("cuStreamGetCtx", s2, byref(h)), h.value == other.value)[1], (cu("cuStreamGetCtx", 0, byref(h)), h.value == other.value)[1], lo.value, hi.value]); say(Q, "c destroyed; the first goes on", E(cu("cuCtxDestroy_v2", other), sync(), cu("cuEventQuery", e)))
    for s in (0, 1, 2): child(s)
NULLS = [("record of null event", ("cuEventRecord", 0, 0)), ("query of null event", ("cuEventQuery", 0)), ("destroy of null event", ("cuEventDestroy_v2", 0)), ("synchronise of null event", ("cuEventSynchronize", 0)), ("wait for null event", ("cuStreamWaitEvent", 0, 0, 0)), ("elapsed of null events", ("cuEventElapsedTime_v2", byref(c_float()), 0, 0)), ("create into nothing", ("cuEventCreate", 0, 0)), ("stream into nothing", ("cuStreamCreate", 0, 0)), ("priority into nothing", ("cuStreamGetPriority", 0, None)), ("priority range into nothing", ("cuCtxGetStreamPriorityRange", None, None))]
if sys.argv[1:2] == ["held"]: guarded(Q, "b", lambda: alone(int(sys.argv[2]))); os._exit(0)
if len(sys.argv) > 2: codes(Q, "c ", [NULLS[int(sys.argv[2])]]); os._exit(0)
if len(sys.argv) > 1: destroys(); os._exit(0)
guarded(Q, "c", whole)
children([("null", i) for i in range(len(NULLS))])
