from common import *
Q = "q61"
init()
E = lambda *c: [err(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in c]
def T(key, fn):
    try:
        say(Q, key, fn())
    except LoadError as e:
        say(Q, key, "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, key, "error " + " ".join(str(e).split())[:150])
HEAD = PTX_HEAD.format("8.0", "sm_80")
def glob(m, name):
    p, n = c_uint64(), c_size_t(); r = cu("cuModuleGetGlobal_v2", byref(p), byref(n), m, name.encode()); return r, p.value, n.value
if len(sys.argv) > 1:
    h, b = c_void_p(), ctypes.create_string_buffer(200)
    if sys.argv[1] == "elf":
        T("c load ELF magic, then zeros", lambda: err(cu("cuModuleLoadData", byref(h), c_char_p(b"\x7fELF" + bytes(1000)))))
    else:
        key, k, v = {"size": ("log size without a buffer", 6, 100), "buffer": ("log buffer without a size", 5, ctypes.addressof(b))}[sys.argv[1]]
        T(f"c option {key}", lambda: err(cu("cuModuleLoadDataEx", byref(h), c_char_p((HEAD + ".visible .entry k() { ret; }").encode()), 1, (c_int * 1)(k), (c_uint64 * 1)(v))))
    os._exit(0)
# a) cuModuleGetGlobal: sizes and alignment of variables of odd sizes, of zero-size arrays, static, extern, unused, constant, shared and
# managed ones; null outputs. Guess: exact sizes; unused static ones are gone (500 NOT_FOUND) while .visible stay; shared is NOT_FOUND.
# Met by bindings which set globals by name.
def globals_():
    decl = {"u8": ".visible .global .u8 v0;", "u8[3]": ".visible .global .align 1 .b8 v1[3];", "u16[5]": ".visible .global .align 2 .u16 v2[5];", "f64": ".visible .global .f64 v3;", "b8[1000] align 128": ".visible .global .align 128 .b8 v4[1000];", "not visible, unused": ".global .u32 v5;", "not visible, used": ".global .u32 v6;", "weak": ".weak .global .u32 v7;", "const u32": ".visible .const .u32 v8;", "const b8[5]": ".visible .const .align 1 .b8 v9[5];", "const not visible, unused": ".const .u32 v10;", "shared": ".visible .shared .u32 v11;", "2-dimensional": ".visible .global .u32 v12[3][4];", "initialised u32[2] = {1}": ".visible .global .u32 v13[2] = {1};", "managed": ".visible .global .attribute(.managed) .u32 v14;", "v4.f32": ".visible .global .v4 .f32 v15;", "4 MiB": ".visible .global .align 4 .b8 v16[4194304];", "common": ".common .global .u32 v17;"}
    m = load((HEAD + "\n".join(decl.values()) + "\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, [v6]; add.u32 r, r, 1; st.global.u32 [v6], r; ret; }\n").encode())
    for i, key in enumerate(decl):
        r, p, n = glob(m, f"v{i}"); say(Q, f"a {key}", err(r) if r else f"{n} bytes, aligned to 4 {not p & 3} to 128 {not p & 127} to 256 {not p & 255}; first words {u32(get(p, min(8, n // 4 * 4))) if n >= 4 else list(get(p, n))}")
    p, n = c_uint64(), c_size_t(); codes(Q, "a ", [("only the size asked", ("cuModuleGetGlobal_v2", None, byref(n), m, b"v3")), ("only the pointer asked", ("cuModuleGetGlobal_v2", byref(p), None, m, b"v3")), ("neither", ("cuModuleGetGlobal_v2", None, None, m, b"v3")), ("empty name", ("cuModuleGetGlobal_v2", byref(p), byref(n), m, b"")), ("a kernel's name", ("cuModuleGetGlobal_v2", byref(p), byref(n), m, b"k")), ("function by a variable's name", ("cuModuleGetFunction", byref(c_void_p()), m, b"v0")), ("function by an empty name", ("cuModuleGetFunction", byref(c_void_p()), m, b""))])
T("a", lambda: (globals_(), "done")[1])
T("a C names: mangled, static, extern C, in a namespace, template", lambda: (lambda m: [err(glob(m, n)[0]) for n in ("a", "b", "_ZL1b", "c", "_ZN1n1dE", "d", "e", "_Z1eIiE")])(load(compile_cuda('__device__ int a; static __device__ int b; extern "C" __device__ int c; namespace n { __device__ int d; } template <class T> __device__ T e; extern "C" __global__ void k(int *o) { o[0] = a + b + c + n::d + e<int>; }'))))
# b) Constant memory: 64 KiB and above in one module, per kernel, in several modules; parameters of 4096 and more bytes. Guess: ptxas refuses
# above 65536 bytes; 32764 bytes of parameters are allowed from PTX 8.1 on sm_70; else 4352. Met by look-up tables and large argument structures.
for n in (65536, 65537, 65540, 32768, 131072): T(f"b one constant of {n} bytes", lambda: (load((HEAD + f".visible .const .align 4 .b8 c[{n}];\n.visible .entry k(.param .u64 o) {{ .reg .u32 r; .reg .u64 p; ld.param.u64 p, [o]; ld.const.u32 r, [c+4]; st.global.u32 [p], r; ret; }}\n").encode()), "loaded")[1])
T("b two constants of 40000 bytes in one module", lambda: (load((HEAD + ".visible .const .align 4 .b8 c[40000];\n.visible .const .align 4 .b8 d[40000];\n.visible .entry k(.param .u64 o) { .reg .u32 r; .reg .u64 p; ld.param.u64 p, [o]; ld.const.u32 r, [c+4]; st.global.u32 [p], r; ret; }\n.visible .entry j(.param .u64 o) { .reg .u32 r; .reg .u64 p; ld.param.u64 p, [o]; ld.const.u32 r, [d+4]; st.global.u32 [p], r; ret; }\n").encode()), "loaded")[1])
T("b three modules of 64 KiB of constants", lambda: [(load((HEAD + f".visible .const .align 4 .b8 c{i}[65536];\n.visible .entry k() {{ ret; }}\n").encode()), "loaded")[1] for i in range(3)])
for n in (4096, 4348, 4352, 4356, 32764, 32768):
    for v, t in (("8.0", "sm_80"), ("8.1", "sm_80")): T(f"b parameters of {n} bytes, PTX {v}", lambda: (load((PTX_HEAD.format(v, t) + f".visible .entry k(.param .align 4 .b8 p[{n}]) {{ .reg .u32 r; ld.param.u32 r, [p+{n - 4}]; ret; }}\n").encode()), "loaded")[1])
# c) Loading and linking: results for wrong images, targets and versions; log sizes and fill; options. Guess: NO_BINARY_FOR_GPU 209 for targets above
# the device, UNSUPPORTED_PTX_VERSION 222 for newer versions, INVALID_PTX 218 for bad text, INVALID_IMAGE 200 for garbage; log sizes come
# back as bytes written. Met by programs that compile at run time and show the log.
KERNEL = ".visible .entry k() { ret; }\n"
def image(key, data):
    h = c_void_p(); say(Q, f"c load {key}", err(cu("cuModuleLoadData", byref(h), c_char_p(data)) if data is not None else cu("cuModuleLoadData", byref(h), None)))
for key, data in {"good": HEAD + KERNEL, "empty text": "", "spaces": "   \n", "garbage": "hello world", "only a comment": "// nothing\n", "no entry": HEAD, "no version": ".target sm_80\n.address_size 64\n" + KERNEL, "no target": ".version 8.0\n.address_size 64\n" + KERNEL, "address size 32": ".version 8.0\n.target sm_80\n.address_size 32\n" + KERNEL, "no address size": ".version 8.0\n.target sm_80\n" + KERNEL, "version 99.0": PTX_HEAD.format("99.0", "sm_80") + KERNEL, "version 1.0": PTX_HEAD.format("1.0", "sm_80") + KERNEL, "version 3.0 with sm_80": PTX_HEAD.format("3.0", "sm_80") + KERNEL, "target sm_20": PTX_HEAD.format("8.0", "sm_20") + KERNEL, "target sm_50": PTX_HEAD.format("8.0", "sm_50") + KERNEL, "target sm_999": PTX_HEAD.format("8.0", "sm_999") + KERNEL, "target sm_100": PTX_HEAD.format("8.6", "sm_100") + KERNEL, "target sm_90a": PTX_HEAD.format("8.0", "sm_90a") + KERNEL, "target debug": PTX_HEAD.format("8.0", "sm_80, debug") + KERNEL, "syntax error": HEAD + ".visible .entry k() { foo; }", "unknown instruction": HEAD + ".visible .entry k() { frob.u32 a, b; ret; }", "undefined register": HEAD + ".visible .entry k() { add.u32 a, b, 1; ret; }", "unclosed brace": HEAD + ".visible .entry k() { ret;", "two kernels of one name": HEAD + KERNEL + KERNEL, "extern function unresolved": HEAD + ".extern .func f();\n.visible .entry k() { call f; ret; }", "extern variable unresolved": HEAD + ".extern .global .u32 v;\n.visible .entry k() { .reg .u32 r; ld.global.u32 r, [v]; st.global.u32 [v], r; ret; }", "windows newlines": (HEAD + KERNEL).replace("\n", "\r\n"), "text behind": HEAD + KERNEL + "\nfoo"}.items():
    image(key, data.encode())
image("null", None)
def options(key, opts, src=HEAD + KERNEL, show=lambda v: ""):
    keys, vals = (c_int * max(1, len(opts)))(*[k for k, _ in opts]), (c_uint64 * max(1, len(opts)))(*[v for _, v in opts]); h = c_void_p(); r = cu("cuModuleLoadDataEx", byref(h), c_char_p(src.encode()), len(opts), keys, vals); say(Q, f"c option {key}", f"{err(r)} {show(list(vals))}".strip())
buf = ctypes.create_string_buffer(2000); A = ctypes.addressof(buf)
bad = HEAD + ".visible .entry k() { foo; }"
for size in (0, 1, 10, 50, 2000): ctypes.memset(A, 0x5a, 2000); options(f"error log of {size} bytes for bad text: terminated within, written is at most the size", [(5, A), (6, size)], bad, lambda v: [size == 0 or 0 in buf.raw[:size], (v[1] & 0xffffffff) <= size, buf.raw[size] == 0x5a if size < 2000 else True])
options("error log for good text: bytes", [(5, A), (6, 2000)], show=lambda v: [v[1] & 0xffffffff, buf.raw[:1]])
options("info log for good text: empty without verbose", [(3, A), (4, 2000)], show=lambda v: v[1] & 0xffffffff)
options("info log with verbose: not empty", [(3, A), (4, 2000), (12, 1)], show=lambda v: (v[1] & 0xffffffff) > 0)
for key, opts in {"max registers 0": [(0, 0)], "max registers 1000": [(0, 1000)], "max registers -1": [(0, 2**32 - 1)], "threads per block 2000": [(1, 2000)], "wall time": [(2, 0)], "optimization 0": [(7, 0)], "optimization 4": [(7, 4)], "optimization 5": [(7, 5)], "optimization -1": [(7, 2**32 - 1)], "target from context": [(8, 0)], "target 80": [(9, 80)], "target 70": [(9, 70)], "target 120": [(9, 120)], "target 999": [(9, 999)], "fallback 0": [(10, 0)], "fallback 1": [(10, 1)], "fallback 2": [(10, 2)], "debug info 1": [(11, 1)], "debug info 2": [(11, 2)], "line info": [(13, 1)], "cache mode 0": [(14, 0)], "cache mode 2": [(14, 2)], "cache mode 3": [(14, 3)], "option 15 (cache mode removed?)": [(15, 1)], "fast compile": [(17, 1)], "option 30": [(30, 1)], "option 31": [(31, 1)], "option 99": [(99, 1)], "option -1": [(-1, 1)], "the same twice": [(7, 0), (7, 4)]}.items(): options(key, opts)
def link():
    st, cubin, size = c_void_p(), c_void_p(), c_size_t(); F = (HEAD + ".visible .func f() { ret; }\n").encode(); U = (HEAD + ".extern .func f();\n.visible .entry k() { call f; ret; }\n").encode(); G = (HEAD + KERNEL).encode()
    def run(*parts):
        st = c_void_p(); out = [err(cu("cuLinkCreate_v2", 0, None, None, byref(st)))]
        for t, d in parts: out.append(err(cu("cuLinkAddData_v2", st, t, c_char_p(d), len(d) + 1, b"part", 0, None, None)))
        r = cu("cuLinkComplete", st, byref(cubin), byref(size)); out.append(err(r)); h = c_void_p()
        if not r: out += [size.value > 0, err(cu("cuModuleLoadData", byref(h), cubin)), err(cu("cuModuleGetFunction", byref(c_void_p()), h, b"k"))]
        return out + [err(cu("cuLinkDestroy", st))]
    for key, parts in {"nothing": (), "one with a kernel": ((1, G),), "function and user": ((1, F), (1, U)), "user first": ((1, U), (1, F)), "user only": ((1, U),), "the same twice": ((1, G), (1, G)), "bad text": ((1, bad.encode()),), "text as a cubin": ((0, G),), "text as a fatbinary": ((2, G),), "text as an object": ((3, G),), "text as a library": ((4, G),), "type 5 (NVVM)": ((5, G),), "type 99": ((99, G),)}.items(): T(f"c link {key}", lambda: run(*parts))
    st = c_void_p(); cu("cuLinkCreate_v2", 0, None, None, byref(st)); say(Q, "c link: a file that is missing", err(cu("cuLinkAddFile_v2", st, 1, b"/nonexistent.ptx", 0, None, None))); cu("cuLinkAddData_v2", st, 1, c_char_p(G), len(G) + 1, b"p", 0, None, None); say(Q, "c link: complete, add after it", E(cu("cuLinkComplete", st, byref(cubin), byref(size)), cu("cuLinkAddData_v2", st, 1, c_char_p(F), len(F) + 1, b"p", 0, None, None)))
    say(Q, "c load a missing file; a directory", E(cu("cuModuleLoad", byref(c_void_p()), b"/nonexistent.ptx"), cu("cuModuleLoad", byref(c_void_p()), b"/")))
    m = load(G); n = c_uint(); say(Q, "c function count; enumerate; names; loading mode; is loaded", [err(cu("cuModuleGetFunctionCount", byref(n), m)), n.value, err(cu("cuModuleGetLoadingMode", byref(c_int()))), (lambda v: (err(cu("cuFuncIsLoaded", byref(v), function(m))), v.value))(c_int(-1)), (lambda p: (err(cu("cuFuncGetName", byref(p), function(m))), p.value))(c_char_p())])
link()
# what might end a process
for what in ("elf", "size", "buffer"):
    child(what)
