from common import *
Q = "q70"
init()
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn): guarded(Q, key, lambda: say(Q, key, fn()))
SRC = '__device__ int g[3] = {1, 2, 3}; __constant__ int c = 5; extern "C" __global__ void k(int *o, int v) { o[0] = g[o[1]] + c + v; } extern "C" __global__ void j() { }'
IMAGE = compile_cuda(SRC)
# a) Libraries: loading, kernels, functions of the current context, globals, counts, enumeration, attributes by device, launch by kernel handle, unload. Guess: a
# library works without a context; cuKernelGetFunction needs one; a CUkernel may be launched as a CUfunction; globals in two contexts differ.
# Met by runtimes that load code lazily.
def library():
    l, k, f, m, n, p, z, h = c_void_p(), c_void_p(), c_void_p(), c_void_p(), c_uint(), c_uint64(), c_size_t(), c_void_p()
    codes(Q, "a ", [("load", ("cuLibraryLoadData", byref(l), c_char_p(IMAGE), None, None, 0, None, None, 0)), ("load garbage", ("cuLibraryLoadData", byref(h), c_char_p(b"garbage"), None, None, 0, None, None, 0)), ("load a missing file", ("cuLibraryLoadFromFile", byref(h), b"/nonexistent", None, None, 0, None, None, 0)), ("kernel k", lambda: cu("cuLibraryGetKernel", byref(k), l, b"k")), ("kernel of no such name", lambda: cu("cuLibraryGetKernel", byref(h), l, b"zz")), ("count", lambda: [err(cu("cuLibraryGetKernelCount", byref(n), l)), n.value]), ("enumerate with room for 1", lambda: (lambda a: [err(cu("cuLibraryEnumerateKernels", a, 1, l)), bool(a[0]), bool(a[1])])((c_void_p * 3)())), ("enumerate with room for 3", lambda: (lambda a: [err(cu("cuLibraryEnumerateKernels", a, 3, l)), [bool(x) for x in a]])((c_void_p * 3)())), ("module", lambda: cu("cuLibraryGetModule", byref(m), l)), ("its function", lambda: cu("cuModuleGetFunction", byref(h), m, b"k")), ("function of the kernel", lambda: cu("cuKernelGetFunction", byref(f), k)), ("global g", lambda: [err(cu("cuLibraryGetGlobal", byref(p), byref(z), l, b"g")), z.value]), ("global c", lambda: [err(cu("cuLibraryGetGlobal", byref(p), byref(z), l, b"c")), z.value]), ("global of no such name", lambda: cu("cuLibraryGetGlobal", byref(p), byref(z), l, b"zz")), ("managed g", lambda: cu("cuLibraryGetManaged", byref(p), byref(z), l, b"g")), ("unified function k", lambda: cu("cuLibraryGetUnifiedFunction", byref(h), l, b"k")), ("kernel's name", lambda: (lambda s: [err(cu("cuKernelGetName", byref(s), k)), s.value])(c_char_p())), ("kernel's library is it", lambda: [err(cu("cuKernelGetLibrary", byref(h), k)), h.value == l.value]), ("parameter 0, 1, 2", lambda: [(err(cu("cuKernelGetParamInfo", k, i, byref(z), byref(h))), z.value if i < 2 else "-") for i in range(3)]), ("attribute MAX_THREADS on device 0", lambda: (lambda v: [err(cu("cuKernelGetAttribute", byref(v), 0, k, 0)), v.value])(c_int())), ("attribute on device 7", lambda: cu("cuKernelGetAttribute", byref(c_int()), 0, k, 7)), ("set MAX_DYNAMIC_SHARED 65536", lambda: cu("cuKernelSetAttribute", 8, 65536, k, 0)), ("read by the function", lambda: (lambda v: [err(cu("cuFuncGetAttribute", byref(v), 8, f)), v.value])(c_int())), ("set NUM_REGS", lambda: cu("cuKernelSetAttribute", 4, 10, k, 0)), ("cache config", lambda: cu("cuKernelSetCacheConfig", k, 1, 0)), ("cache config 9", lambda: cu("cuKernelSetCacheConfig", k, 9, 0))])
    o = alloc(64)
    def by(handle): put(o, bytes(64)); r = launch_code(handle, 1, 1, (o, c_int(10))); s = sync(); return E(r, s) + [u32(get(o, 4))[0]]
    say(Q, "a launch by the function, by the kernel handle", [by(f), by(k)])
    c = make("cuCtxCreate_v2", 0, 0); f2, p2 = c_void_p(), c_uint64(); r = E(cu("cuKernelGetFunction", byref(f2), k), cu("cuLibraryGetGlobal", byref(p2), byref(z), l, b"g")); cu("cuMemsetD32_v2", p2, 100, 3); o = alloc(64); say(Q, "a in a second context: function and global differ; launch sees its own global", r + [f2.value != f.value, by(k)]); cu("cuCtxDestroy_v2", c); o = alloc(64); say(Q, "a back in the first: its global is as before", by(k)); say(Q, "a unload", err(cu("cuLibraryUnload", l)))
T("a", lambda: (library(), "done")[1])
# b) cuGetProcAddress: versions, flags, symbols that are missing, names with suffixes. Guess: 0 version INVALID_VALUE; names have no _v2; a missing symbol gives OK with
# null and status 1 (SYMBOL_NOT_FOUND) or 2 (VERSION_NOT_SUFFICIENT) with NOT_FOUND as the code; per-thread flag 2 is another pointer.
# Met by loaders and bindings.
def proc(name, version, flags=0):
    p, s = c_void_p(0x55), c_int(-9); r = cu("cuGetProcAddress_v2", byref(p), version, flags, byref(s)) if name is None else cu("cuGetProcAddress_v2", name, byref(p), version, flags, byref(s)); return p.value, [err(r), "null" if not p.value else "given" if p.value != 0x55 else "untouched", s.value]
for name, version, flags in [(b"cuInit", 2000, 0), (b"cuInit", 13000, 0), (b"cuInit", 0, 0), (b"cuInit", 1999, 0), (b"cuInit", 99000, 0), (b"cuMemAlloc", 2000, 0), (b"cuMemAlloc", 3020, 0), (b"cuMemAlloc_v2", 12000, 0), (b"cuMemAllocAsync", 11010, 0), (b"cuMemAllocAsync", 11020, 0), (b"cuLibraryLoadData", 11080, 0), (b"cuLibraryLoadData", 12000, 0), (b"cuGraphAddNode", 12010, 0), (b"cuGraphAddNode", 12020, 0), (b"cuLaunchKernel", 4000, 1), (b"cuLaunchKernel", 7000, 2), (b"cuLaunchKernel", 4000, 2), (b"cuLaunchKernel", 7000, 3), (b"cuLaunchKernel", 7000, 4), (b"cuNoSuchThing", 12000, 0), (b"cudaMalloc", 12000, 0), (b"", 12000, 0), (b"cuStreamSynchronize_ptsz", 12000, 0), (b"cuGetProcAddress", 12000, 0), (b"cuGetProcAddress", 11030, 0), (b"cuCtxCreate", 13000, 0), (b"cuCtxCreate", 12000, 0), (b"cuMemAdvise", 13000, 0), (b"cuGetExportTable", 12000, 0)]:
    T(f"b {name.decode() or 'empty'} {version} flags {flags}", lambda: proc(name, version, flags)[1])
T("b cuMemAlloc of 3020 is the exported cuMemAlloc_v2; of 2000 is the old", lambda: [proc(b"cuMemAlloc", v)[0] == ctypes.cast(getattr(lib, n), c_void_p).value for v, n in ((3020, "cuMemAlloc_v2"), (2000, "cuMemAlloc"))])
T("b per-thread launch differs from the legacy one", lambda: proc(b"cuLaunchKernel", 7000, 2)[0] != proc(b"cuLaunchKernel", 7000, 1)[0])
T("b a null status", lambda: E(cu("cuGetProcAddress_v2", b"cuInit", byref(c_void_p()), 12000, 0, None), cu("cuGetProcAddress_v2", b"cuNoSuchThing", byref(c_void_p()), 12000, 0, None)))
# c) Launch resources: registers by maxnreg and block sizes (701 or refused), minimum blocks, cluster kernels refused by target, huge static stacks in many threads. Guess:
# maxnreg 255 with 1024 threads is 701 LAUNCH_OUT_OF_RESOURCES; ptxas caps by maxntid; .minnctapersm only hints.
# Met as 'too many resources requested for launch'.
MODULES = {}
def kernel(directive):
    body = "".join(f"ld.volatile.global.u32 r{i}, [p+{4 * i}];\n" for i in range(200)) + "".join(f"add.u32 r0, r0, r{i}; st.volatile.global.u32 [p+{4 * i}], r{i};\n" for i in range(1, 200)) + "st.volatile.global.u32 [p], r0;\n"
    return function(load((PTX_HEAD.format("8.0", "sm_80") + f".visible .entry k(.param .u64 a) {directive} {{ .reg .u32 r<200>; .reg .u64 p; ld.param.u64 p, [a];\n{body} ret; }}\n").encode()))
def regs(directive, block):
    f = MODULES.get(directive) or MODULES.setdefault(directive, kernel(directive)); v = c_int(); cu("cuFuncGetAttribute", byref(v), 0, f); w = c_int(); cu("cuFuncGetAttribute", byref(w), 3, f)
    r = launch_code(f, 1, block, (buffer,)); return [f"MAX_THREADS {v.value}", "spills" if w.value else "no spills", err(r), err(sync())]
buffer = alloc(4096)
for directive in ("", ".maxnreg 32", ".maxnreg 64", ".maxnreg 255", ".maxntid 1024", ".maxntid 512", ".maxntid 256", ".maxntid 128", ".maxntid 256 .minnctapersm 4", ".maxntid 1024 .minnctapersm 2", ".maxntid 1024 .maxnreg 255", ".maxnreg 8", ".maxnreg 256", ".maxnreg 0"):
    for block in (128, 256, 512, 1024):
        try: say(Q, f"c 200 live values {directive or 'plain'}, block {block}", regs(directive, block))
        except LoadError as e: say(Q, f"c 200 live values {directive or 'plain'}, block {block}", "refused " + str(e).split()[1])
        except Exception as e: say(Q, f"c 200 live values {directive or 'plain'}, block {block}", "error " + str(e)[:100])
