from common import *
Q = "q69"
init()
import threading, time
HOSTFN = ctypes.CFUNCTYPE(None, c_void_p); keep = []
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
new = lambda flags=1: make("cuStreamCreate", flags)
# A kernel that waits until the host writes 1 to mapped memory, two seconds at most; then it stores 5.
WAIT = build('extern "C" __global__ void k(volatile int *flag, int *o) { unsigned long long t0, t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)); do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); while (!*flag && t - t0 < 2000000000ull); o[0] = *flag ? 5 : 6; }')
hp = make("cuMemHostAlloc", 4096, 2); H = (c_int * 64).from_address(hp.value); hd = c_uint64(); ok("cuMemHostGetDevicePointer_v2", byref(hd), hp, 0); hd = hd.value
SET = build('extern "C" __global__ void k(int *o, int v) { o[0] = v; }')
def blocked(fn, s):
    """fn(...) while stream s waits for the host; whether it returned before the stream was released."""
    H[0] = 0; o = alloc(64); r = launch_code(WAIT, 1, 1, (hd, o), 0, s); done = []
    ctx = c_void_p(); cu("cuCtxGetCurrent", byref(ctx))
    def run(): cu("cuCtxSetCurrent", ctx); done.append(fn())
    t = threading.Thread(target=run); t.start(); t.join(0.1); early = bool(done); H[0] = 1; t.join(5); cu("cuStreamSynchronize", s); return [("returns at once" if early else "waits"), done[0] if isinstance(done[0], str) else err(done[0]), u32(get(o, 4))[0]]
D = alloc(4096); plain = ctypes.create_string_buffer(4096); big = ctypes.create_string_buffer(1 << 20); B = alloc(1 << 20); locked = make("cuMemHostAlloc", 1 << 20, 0); q = c_uint64()
# a) What waits for a busy stream: every kind of call beside a blocking stream, a non-blocking one, and in the busy stream itself. Guess: legacy-stream copies wait
# for blocking streams only; cuMemAlloc doesn't wait, cuMemFree does; pageable asynchronous copies in the stream return when staged (HtoD of 64 KiB at once,
# larger waits), DtoH waits; module loading and cuMemHostAlloc may wait. Met when overlap does not happen.
CALLS = {"cuMemcpyHtoD": lambda s: cu("cuMemcpyHtoD_v2", D, plain, 16), "cuMemcpyDtoH": lambda s: cu("cuMemcpyDtoH_v2", plain, D, 16), "cuMemcpyDtoD": lambda s: cu("cuMemcpyDtoD_v2", D, D + 64, 16), "cuMemsetD8": lambda s: cu("cuMemsetD8_v2", D, 0, 16), "cuMemcpyHtoDAsync pageable 16 bytes in it": lambda s: cu("cuMemcpyHtoDAsync_v2", D, plain, 16, s), "cuMemcpyHtoDAsync pageable 1 MiB in it": lambda s: cu("cuMemcpyHtoDAsync_v2", B, big, 1 << 20, s), "cuMemcpyHtoDAsync page-locked 1 MiB in it": lambda s: cu("cuMemcpyHtoDAsync_v2", B, locked, 1 << 20, s), "cuMemcpyDtoHAsync pageable in it": lambda s: cu("cuMemcpyDtoHAsync_v2", plain, D, 16, s), "cuMemcpyDtoHAsync page-locked in it": lambda s: cu("cuMemcpyDtoHAsync_v2", locked, D, 16, s), "cuMemcpyDtoDAsync in it": lambda s: cu("cuMemcpyDtoDAsync_v2", D, D + 64, 16, s), "cuMemcpyHtoDAsync pageable in another stream": lambda s: cu("cuMemcpyHtoDAsync_v2", D, plain, 16, other), "cuMemcpyDtoHAsync pageable in another stream": lambda s: cu("cuMemcpyDtoHAsync_v2", plain, D, 16, other), "cuMemsetD8Async in stream 0": lambda s: cu("cuMemsetD8Async", D, 0, 16, 0), "launch in stream 0": lambda s: launch_code(SET, 1, 1, (D, c_int(1)), 0, 0), "cuStreamSynchronize(other)": lambda s: cu("cuStreamSynchronize", other), "cuStreamSynchronize(0)": lambda s: cu("cuStreamSynchronize", 0), "cuStreamSynchronize(per-thread)": lambda s: cu("cuStreamSynchronize", 2), "cuCtxSynchronize": lambda s: sync(), "cuMemAlloc": lambda s: cu("cuMemAlloc_v2", byref(q), 64), "cuMemFree": lambda s: cu("cuMemFree_v2", spare.pop()), "cuMemFree(null)": lambda s: cu("cuMemFree_v2", 0), "cuMemFreeAsync in another": lambda s: cu("cuMemFreeAsync", spare.pop(), other), "cuMemAllocAsync in another": lambda s: cu("cuMemAllocAsync", byref(q), 64, other), "cuMemHostAlloc": lambda s: cu("cuMemHostAlloc", byref(c_void_p()), 64, 0), "cuMemFreeHost": lambda s: cu("cuMemFreeHost", hosts.pop()), "cuMemAllocManaged": lambda s: cu("cuMemAllocManaged", byref(q), 64, 1), "cuModuleUnload": lambda s: cu("cuModuleUnload", mods.pop()), "cuEventDestroy": lambda s: cu("cuEventDestroy_v2", make("cuEventCreate", 0)), "cuStreamDestroy(other)": lambda s: cu("cuStreamDestroy_v2", new()), "cuStreamDestroy(it)": None, "cuArrayCreate": lambda s: cu("cuArrayCreate_v2", byref(c_void_p()), packed("QQII", 8, 8, 32, 1)), "cuCtxSetLimit heap": lambda s: cu("cuCtxSetLimit", 2, 16 << 20), "cuMemGetInfo": lambda s: cu("cuMemGetInfo_v2", byref(c_size_t()), byref(c_size_t())), "cuPointerGetAttribute": lambda s: cu("cuPointerGetAttribute", byref(q), 2, D), "cuMemcpy2D DtoD": lambda s: cu("cuMemcpy2D_v2", ctypes.create_string_buffer(struct.pack("<QQI4xQQQQ", 0, 0, 2, 0, D, 0, 64) + struct.pack("<QQI4xQQQQ", 0, 0, 2, 0, D + 2048, 0, 64) + struct.pack("<QQ", 16, 2), 128))}
del CALLS["cuStreamDestroy(it)"]
launch(SET, 1, 1, (D, c_int(0)))  # loaded before a stream is busy
for flags, name in ((0, "blocking"), (1, "non-blocking")):
    for key, fn in CALLS.items():
        def main():
            global other, spare, hosts, mods
            s, other = new(flags), new(); spare = [c_uint64()]; hosts = [make("cuMemHostAlloc", 64, 0)]; ok("cuMemAlloc_v2", byref(spare[0]), 64); mods = [load((PTX_HEAD.format("8.0", "sm_80") + ".visible .entry k() { ret; }\n").encode())]
            return blocked(lambda: fn(s), s)
        T(f"a beside a busy {name} stream: {key}", main)
# b) Who sees what in memory shared with the host: a kernel's stores to mapped memory while it runs, with and without __threadfence_system; the host's stores seen
# by a running kernel; a copy's data visible after cuEventSynchronize. Guess: seen within the kernel's run; volatile suffices in practice.
# Met by persistent kernels with a host mailbox.
def visible(fence):
    f = build('extern "C" __global__ void k(volatile int *h) { h[8] = 11; ' + fence + ' h[1] = 1; unsigned long long t0, t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)); do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); while (!h[2] && t - t0 < 2000000000ull); h[3] = h[2] ? 7 : 8; }')
    H[1] = H[2] = H[3] = H[8] = 0; s = new(); r = launch_code(f, 1, 1, (hd,), 0, s); t = time.time()
    while not H[1] and time.time() - t < 1.5: cu("cuStreamQuery", s)
    seen = H[1], H[8]; H[2] = 1; return [err(r), "flag seen while it runs" if seen[0] else "not seen", seen[1], err(cu("cuStreamSynchronize", s)), H[3]]
for fence in ("", "__threadfence();", "__threadfence_system();"): T(f"b handshake of host and kernel with '{fence}'", lambda: visible(fence))
def litmus(order, scope):
    """Message passing between two blocks, 1000 rounds; rounds in which the flag was seen and the data was not."""
    f = build('extern "C" __global__ void k(int *d, int *flag, unsigned *o) { unsigned bad = 0, lost = 0; for (int r = 1; r <= 1000; r++) { if (blockIdx.x == 0) { asm volatile("st.relaxed.gpu.u32 [%0], %1;" :: "l"(d), "r"(r) : "memory"); asm volatile("st.' + order[0] + '.u32 [%0], %1;" :: "l"(flag), "r"(r) : "memory"); int a; long long c = clock64(); do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(a) : "l"(flag + 32) : "memory"); while (a < r && clock64() - c < 2000000000); if (a < r) break; } else { int v, x; long long c = clock64(); do asm volatile("ld.' + order[1] + '.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); while (v < r && clock64() - c < 2000000000); asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(x) : "l"(d) : "memory"); if (v < r) lost++; else if (x < r) bad++; asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(flag + 32), "r"(r) : "memory"); if (lost) break; } } if (blockIdx.x == 1) { o[0] = bad; o[1] = lost; } }')
    o = alloc(64); launch(f, 2, 1, (alloc(512), alloc(512), o)); return u32(get(o, 8))
for key, order in {"release/acquire gpu": ("release.gpu", "acquire.gpu"), "release/acquire sys": ("release.sys", "acquire.sys"), "volatile both": ("volatile", "volatile")}.items(): T(f"b message passing by {key}: stale reads, lost rounds", lambda: litmus(order, None))
