from common import *
Q = "q58"
ctx = init()
import threading
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); NOTHING = HOSTFN(lambda d: None)
CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p); CB = CALLBACK(lambda a, b, c: None)
K = build('extern "C" __global__ void k(int *o) { o[0] += 1; }'); IMAGE = compile_cuda('extern "C" __global__ void k(int *o) { o[0] += 1; }')
D = alloc(65536); hp = make("cuMemHostAlloc", 65536, 0); plain = ctypes.create_string_buffer(4096)
done = make("cuEventCreate", 0); ok("cuEventRecord", done, 0); sync()
A = make("cuArray3DCreate_v2", packed("QQQIII4x", 64, 8, 0, 1, 1, 0))
STATUS = {0: "none", 1: "active", 2: "invalidated"}
def status(s):
    v = c_int(-1); r = cu("cuStreamIsCapturing", s, byref(v)); return STATUS.get(v.value, v.value) if not r else err(r)
q, h, sz, n, fl = c_uint64(), c_void_p(), c_size_t(), c_int(), c_float()
COPY2 = ctypes.create_string_buffer(struct.pack("<QQI4xQQQQ", 0, 0, 1, hp.value, 0, 0, 64) + struct.pack("<QQI4xQQQQ", 0, 0, 2, 0, D, 0, 64) + struct.pack("<QQ", 16, 2), 128)
def calls(s):
    other = s2
    return {
 "cuMemAlloc": ("cuMemAlloc_v2", byref(q), 64), "cuMemAllocManaged": ("cuMemAllocManaged", byref(q), 64, 1), "cuMemHostAlloc": ("cuMemHostAlloc", byref(h), 64, 0), "cuMemFree": lambda: cu("cuMemFree_v2", spare.pop()), "cuMemFreeHost(null)": ("cuMemFreeHost", 0), "cuMemcpyHtoD": ("cuMemcpyHtoD_v2", D, plain, 16), "cuMemcpyDtoH": ("cuMemcpyDtoH_v2", plain, D, 16), "cuMemcpyDtoD": ("cuMemcpyDtoD_v2", D, D + 64, 16), "cuMemsetD8": ("cuMemsetD8_v2", D, 0, 16), "cuMemcpyHtoDAsync page-locked, in it": ("cuMemcpyHtoDAsync_v2", D, hp, 16, s), "cuMemcpyHtoDAsync pageable, in it": ("cuMemcpyHtoDAsync_v2", D, plain, 16, s), "cuMemcpyDtoHAsync pageable, in it": ("cuMemcpyDtoHAsync_v2", plain, D, 16, s), "cuMemcpy2DAsync in it": ("cuMemcpy2DAsync_v2", COPY2, s), "cuMemcpyHtoAAsync in it": ("cuMemcpyHtoAAsync_v2", A, 0, hp, 64, s), "cuMemsetD32Async in it": ("cuMemsetD32Async", D, 0, 4, s), "cuMemsetD8Async in the legacy stream": ("cuMemsetD8Async", D, 0, 4, 1), "cuMemsetD8Async in stream 0": ("cuMemsetD8Async", D, 0, 4, 0), "cuMemsetD8Async in the per-thread stream": ("cuMemsetD8Async", D, 0, 4, 2), "cuMemsetD8Async in another stream": ("cuMemsetD8Async", D, 0, 4, other), "cuMemsetD8Async in a blocking stream": ("cuMemsetD8Async", D, 0, 4, blocking),
 "launch in it": lambda: launch_code(K, 1, 1, (D,), 0, s), "launch in stream 0": lambda: launch_code(K, 1, 1, (D,), 0, 0), "launch with a grid of 0 in it": lambda: launch_code(K, 0, 1, (D,), 0, s), "cuCtxSynchronize": sync, "cuStreamSynchronize(it)": ("cuStreamSynchronize", s), "cuStreamSynchronize(other)": ("cuStreamSynchronize", other), "cuStreamSynchronize(0)": ("cuStreamSynchronize", 0), "cuStreamQuery(it)": ("cuStreamQuery", s), "cuStreamQuery(other)": ("cuStreamQuery", other), "cuStreamQuery(0)": ("cuStreamQuery", 0), "cuEventQuery(done)": ("cuEventQuery", done), "cuEventSynchronize(done)": ("cuEventSynchronize", done), "cuEventElapsedTime": ("cuEventElapsedTime_v2", byref(fl), done, done), "cuEventCreate": ("cuEventCreate", byref(h), 0), "cuEventRecord in it": lambda: cu("cuEventRecord", fresh, s), "cuEventRecord in it, then cuEventQuery": lambda: [err(cu("cuEventRecord", fresh, s)), err(cu("cuEventQuery", fresh))], "cuEventRecord in it, then cuEventSynchronize": lambda: [err(cu("cuEventRecord", fresh, s)), err(cu("cuEventSynchronize", fresh))], "cuEventRecord in it, then cuEventElapsedTime": lambda: [err(cu("cuEventRecord", fresh, s)), err(cu("cuEventElapsedTime_v2", byref(fl), fresh, fresh))], "cuEventRecord in it with EXTERNAL": lambda: cu("cuEventRecordWithFlags", fresh, s, 1), "cuEventRecord(done) in stream 0": ("cuEventRecord", done, 0), "cuStreamWaitEvent(it, done)": ("cuStreamWaitEvent", s, done, 0), "cuStreamWaitEvent(it, done, EXTERNAL)": ("cuStreamWaitEvent", s, done, 1), "cuStreamWaitEvent(it, flag 2)": ("cuStreamWaitEvent", s, done, 2), "cuStreamWaitEvent(it, never recorded)": lambda: cu("cuStreamWaitEvent", s, make("cuEventCreate", 0), 0), "cuLaunchHostFunc": ("cuLaunchHostFunc", s, NOTHING, None), "cuStreamAddCallback": ("cuStreamAddCallback", s, CB, None, 0), "cuStreamWriteValue32": ("cuStreamWriteValue32_v2", s, D + 128, 1, 0), "cuStreamWaitValue32 (met)": ("cuStreamWaitValue32_v2", s, D + 256, 0, 0), "cuStreamAttachMemAsync": lambda: cu("cuStreamAttachMemAsync", s, managed, 0, 1), "cuMemPrefetchAsync": lambda: cu("cuMemPrefetchAsync", managed, 4096, 0, s), "cuMemAllocAsync in it": lambda: cu("cuMemAllocAsync", byref(q), 64, s), "cuMemAllocAsync in another": lambda: cu("cuMemAllocAsync", byref(q), 64, other),
 "cuModuleLoadData": ("cuModuleLoadData", byref(h), c_char_p(IMAGE)), "cuModuleGetFunction of a loaded one": lambda: cu("cuModuleGetFunction", byref(h), MOD, b"k"), "cuStreamCreate": ("cuStreamCreate", byref(h), 1), "cuStreamBeginCapture again": ("cuStreamBeginCapture_v2", s, 0), "cuStreamBeginCapture of another": lambda: [err(cu("cuStreamBeginCapture_v2", other, 2)), err(cu("cuStreamEndCapture", other, byref(h)))], "cuStreamBeginCapture of the legacy stream": ("cuStreamBeginCapture_v2", 0, 0), "cuStreamEndCapture of another": ("cuStreamEndCapture", other, byref(h)), "cuGraphLaunch of a ready graph in it": lambda: cu("cuGraphLaunch", EXEC, s), "cuGraphLaunch in another": lambda: cu("cuGraphLaunch", EXEC, other), "cuGraphUpload in it": lambda: cu("cuGraphUpload", EXEC, s), "cuGraphInstantiate": lambda: cu("cuGraphInstantiateWithFlags", byref(h), GRAPH, 0), "cuMemGetInfo": ("cuMemGetInfo_v2", byref(sz), byref(sz)), "cuFuncGetAttribute": ("cuFuncGetAttribute", byref(n), 4, K), "cuFuncSetAttribute": ("cuFuncSetAttribute", K, 9, 50), "cuCtxGetLimit": ("cuCtxGetLimit", byref(sz), 0), "cuCtxSetLimit": ("cuCtxSetLimit", 0, 2048), "cuOccupancyMaxActiveBlocks": ("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(n), K, 32, 0), "cuPointerGetAttribute": ("cuPointerGetAttribute", byref(q), 2, D), "cuArrayCreate": ("cuArray3DCreate_v2", byref(h), packed("QQQIII4x", 64, 8, 0, 1, 1, 0)), "cuStreamGetPriority": ("cuStreamGetPriority", s, byref(n)), "cuStreamSetAttribute sync policy": ("cuStreamSetAttribute", s, 3, packed("I", 1, size=64)), "cuStreamCopyAttributes": ("cuStreamCopyAttributes", other, s), "cuMemPoolTrimTo": lambda: cu("cuMemPoolTrimTo", POOL, 0), "cuDeviceGraphMemTrim": ("cuDeviceGraphMemTrim", 0), "cuCtxSetCurrent(same)": ("cuCtxSetCurrent", ctx)}
GRAPH = make("cuGraphCreate", 0); EXEC = make("cuGraphInstantiateWithFlags", GRAPH, 0)
MOD = load(IMAGE); POOL = make("cuDeviceGetDefaultMemPool", 0); managed = c_uint64(); ok("cuMemAllocManaged", byref(managed), 65536, 1)
MODE = {0: "global", 1: "thread local", 2: "relaxed"}
# a) What each call gives during a capture of mode global, thread local and relaxed, and whether the capture is still valid: status, then
# what cuStreamEndCapture gives. Guess: unsafe calls are 900 in global and thread-local mode and invalidate (901 at the end); legacy
# stream use is 906 with a blocking stream; event queries of captured events 907; merges 902..905. Met by everyone who captures a library's calls.
for mode in MODE:
    s2, blocking, keys = make("cuStreamCreate", 1), make("cuStreamCreate", 0), None
    for key in [k for k, v in calls(s2).items() if v is not None]:
        def main():
            global spare, fresh
            s = make("cuStreamCreate", 1); spare = [c_uint64()]; ok("cuMemAlloc_v2", byref(spare[0]), 64); fresh = make("cuEventCreate", 0)
            call = calls(s)[key]; ok("cuStreamBeginCapture_v2", s, mode)
            r = call() if callable(call) else cu(*call); st = status(s); g = c_void_p(); e = cu("cuStreamEndCapture", s, byref(g)); cnt = c_size_t()
            if g.value: cu("cuGraphGetNodes", g, None, byref(cnt))
            say(Q, f"a {MODE[mode]}: {key}", f"{r if isinstance(r, list) else err(r)}; {st}; end {err(e)}" + (f", {cnt.value} nodes" if g.value else ""))
            if g.value: cu("cuGraphDestroy", g)
            sync(); cu("cuStreamDestroy_v2", s)
        guarded(Q, f"a {MODE[mode]}: {key}", main)
# b) The same unsafe calls by another thread, by mode of the capture, and with a capture-mode exchange in either thread. Guess: a
# global capture forbids them in all threads which have not exchanged to relaxed; thread local only in its own.
# Met by data-loader threads beside a capture.
def in_thread(fn):
    out = []
    def run():
        cu("cuCtxSetCurrent", ctx); out.append(fn())
    t = threading.Thread(target=run); t.start(); t.join(10); return out[0] if out else "nothing"
for mode in MODE:
    for key, fn in {"cuMemAlloc": lambda s: cu("cuMemAlloc_v2", byref(q), 64), "cuMemcpyHtoD": lambda s: cu("cuMemcpyHtoD_v2", D, plain, 16), "cuMemAlloc after exchange to relaxed": lambda s: (cu("cuThreadExchangeStreamCaptureMode", byref(c_int(2))), cu("cuMemAlloc_v2", byref(q), 64))[1], "cuMemAlloc after exchange to thread local": lambda s: (cu("cuThreadExchangeStreamCaptureMode", byref(c_int(1))), cu("cuMemAlloc_v2", byref(q), 64))[1], "cuCtxSynchronize": lambda s: sync(), "launch into it": lambda s: launch_code(K, 1, 1, (D,), 0, s), "end": lambda s: cu("cuStreamEndCapture", s, byref(h)), "status": lambda s: status(s), "cuStreamBeginCapture of its own stream": lambda s: (lambda t: [err(cu("cuStreamBeginCapture_v2", t, 0)), err(cu("cuStreamEndCapture", t, byref(h)))])(make("cuStreamCreate", 1))}.items():
        def main():
            s = make("cuStreamCreate", 1); ok("cuStreamBeginCapture_v2", s, mode); r = in_thread(lambda: fn(s)); st = status(s); g = c_void_p(); e = cu("cuStreamEndCapture", s, byref(g)); say(Q, f"b {MODE[mode]}, other thread: {key}", f"{err(r) if isinstance(r, int) else r}; {st}; end {err(e)}")
        guarded(Q, f"b {MODE[mode]}: {key}", main)
for v in (0, 1, 2, 3, -1):
    m = c_int(v); r = cu("cuThreadExchangeStreamCaptureMode", byref(m)); say(Q, f"b exchange to {v}", f"{err(r)} gives {m.value}")
cu("cuThreadExchangeStreamCaptureMode", byref(c_int(2)))
for mode in MODE:
    s = make("cuStreamCreate", 1); ok("cuStreamBeginCapture_v2", s, mode); r = cu("cuMemAlloc_v2", byref(q), 64); g = c_void_p(); say(Q, f"b cuMemAlloc in a {MODE[mode]} capture after exchange to relaxed", [err(r), err(cu("cuStreamEndCapture", s, byref(g)))])
cu("cuThreadExchangeStreamCaptureMode", byref(c_int(0)))
