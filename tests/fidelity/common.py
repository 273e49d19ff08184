"""What the questions share: the driver API by ctypes, PTX that was compiled before, printing of answers."""
import ctypes, glob, hashlib, os, struct, subprocess, sys, tempfile, zipfile
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("GPUEXAM_ROOT", os.getcwd())  # the project's root, where `make libcuda` put its library
VIRTUAL_PATH = os.path.join(ROOT, "dist/libcuda/libcuda.so.1")
ARCHIVES = [zipfile.ZipFile(path) for path in sorted(glob.glob(os.path.join(HERE, "ptx*.zip")))]
PACKED = {name: archive for archive in ARCHIVES for name in archive.namelist()}
sys.stdout.reconfigure(line_buffering=True)


def _load():
    for path in [os.environ.get("GPUEXAM_LIBCUDA"), "libcuda.so.1", VIRTUAL_PATH]:
        if path:
            try:
                return ctypes.CDLL(path)
            except OSError:
                pass
    raise SystemExit("no libcuda")


lib = _load()
VIRTUAL = hasattr(lib, "rtcg_virtual_gpu")
NAMES = {0: "OK"}


def err(code):
    if code not in NAMES:
        p = c_char_p()
        NAMES[code] = p.value.decode().replace("CUDA_ERROR_", "") if lib.cuGetErrorName(code, byref(p)) == 0 else "?"
    return f"{code}:{NAMES[code]}" if code else "OK"


def cu(name, *args):
    """The result code; plain ints are passed as 64 bits, which the callee may narrow."""
    try:
        f = getattr(lib, name)
    except AttributeError:
        return -1
    return f(*[c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args])


def ok(name, *args):
    r = cu(name, *args)
    if r:
        raise RuntimeError(f"{name}: {err(r)}")


def say(q, key, value):
    print(f"{q}|{key}|{value}", flush=True)


def init():
    ok("cuInit", 0)
    dev, ctx = c_int(), c_void_p()
    ok("cuDeviceGet", byref(dev), 0)
    ok("cuDevicePrimaryCtxRetain", byref(ctx), dev)
    ok("cuCtxSetCurrent", ctx)
    return ctx


def attribute(a):
    v = c_int()
    return v.value if not cu("cuDeviceGetAttribute", byref(v), a, 0) else None


def _nvrtc():
    names = [os.path.join(p, "nvidia/cu13/lib/libnvrtc.so.13") for p in sys.path] \
        + glob.glob(ROOT + "/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so.13") + ["libnvrtc.so.13"]
    for n in names:
        try:
            for b in glob.glob(os.path.join(os.path.dirname(n), "libnvrtc-builtins.so.13.*")):
                ctypes.CDLL(b)
            return ctypes.CDLL(n), os.path.join(os.path.dirname(n), "../include")
        except OSError:
            pass
    raise RuntimeError("no NVRTC and no cached PTX")


def compile_cuda(source, arch="compute_80", options=()):
    """PTX (compute_*) or machine code (sm_*); the same text for both devices, from `ptx.zip` or the folder `ptx`."""
    key = hashlib.sha1(("\0".join([source, arch, *options])).encode()).hexdigest()[:16]
    path = os.path.join(HERE, "ptx", key + (".ptx" if arch.startswith("compute") else ".cubin"))
    if os.path.basename(path) in PACKED:
        return PACKED[os.path.basename(path)].read(os.path.basename(path))
    if os.path.exists(path):
        return open(path, "rb").read()
    n, include = _nvrtc()
    opts = [f"--gpu-architecture={arch}", f"--include-path={include}", f"--include-path={include}/cccl", *options]
    prog = c_void_p()
    n.nvrtcCreateProgram(byref(prog), source.encode(), b"exam.cu", 0, None, None)
    r = n.nvrtcCompileProgram(prog, len(opts), (c_char_p * len(opts))(*[o.encode() for o in opts]))
    size = c_size_t()
    if r:
        n.nvrtcGetProgramLogSize(prog, byref(size))
        log = ctypes.create_string_buffer(size.value)
        n.nvrtcGetProgramLog(prog, log)
        raise RuntimeError("nvrtc: " + " ".join(log.value.decode().split())[:300])
    kind = "PTX" if arch.startswith("compute") else "CUBIN"
    getattr(n, f"nvrtcGet{kind}Size")(prog, byref(size))
    out = ctypes.create_string_buffer(size.value)
    getattr(n, f"nvrtcGet{kind}")(prog, out)
    data = out.raw[: size.value]
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    except OSError:
        pass
    return data


class LoadError(RuntimeError):
    pass


def load(image, options=()):
    """A module; `options` are (number, integer) pairs, returned values are in `load.values`."""
    log = ctypes.create_string_buffer(4096)
    keys, values = [5, 6], [ctypes.addressof(log), 4096]
    for k, v in options:
        keys.append(k), values.append(v)
    ka, va = (c_int * len(keys))(*keys), (c_uint64 * len(keys))(*values)
    m = c_void_p()
    r = cu("cuModuleLoadDataEx", byref(m), c_char_p(image), len(keys), ka, va)
    load.values = list(va)[2:]
    if r:
        raise LoadError(f"load {err(r)} " + " ".join(log.value.decode(errors="replace").split())[:200])
    return m


def function(module, name="k"):
    f = c_void_p()
    ok("cuModuleGetFunction", byref(f), module, name.encode())
    return f


def build(source, arch="compute_80", options=(), name="k"):
    return function(load(compile_cuda(source, arch, options)), name)


def launch_code(f, grid, block, args=(), shared=0, stream=0):
    g = tuple(grid) + (1,) * (3 - len(grid)) if isinstance(grid, tuple) else (grid, 1, 1)
    b = tuple(block) + (1,) * (3 - len(block)) if isinstance(block, tuple) else (block, 1, 1)
    held = [c_uint64(a) if isinstance(a, int) else a for a in args]
    pointers = (c_void_p * max(1, len(held)))(*[ctypes.addressof(h) for h in held])
    return cu("cuLaunchKernel", f, *g, *b, shared, stream, pointers if held else None, None)


def sync():
    return cu("cuCtxSynchronize")


def launch(f, grid, block, args=(), shared=0):
    r = launch_code(f, grid, block, args, shared)
    if r:
        raise RuntimeError("cuLaunchKernel: " + err(r))
    r = sync()
    if r:
        raise RuntimeError("cuCtxSynchronize: " + err(r))


def alloc(n):
    p = c_uint64()
    ok("cuMemAlloc_v2", byref(p), n)
    ok("cuMemsetD8_v2", p, 0, n)
    return p.value


def put(p, data):
    ok("cuMemcpyHtoD_v2", p, c_char_p(bytes(data)), len(data))


def device(data):
    p = alloc(len(data))
    put(p, data)
    return p


def get(p, n):
    out = ctypes.create_string_buffer(n)
    ok("cuMemcpyDtoH_v2", out, p, n)
    return out.raw


def u32(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def u64(data):
    return list(struct.unpack(f"<{len(data) // 8}Q", data))


def run32(source, count, block=32, grid=1, args=(), arch="compute_80", options=(), shared=0, name="k"):
    """Kernel `k(unsigned *o, ...)`: what it has stored."""
    f = build(source, arch, options, name)
    p = alloc(4 * count)
    launch(f, grid, block, (p, *args), shared)
    return u32(get(p, 4 * count))


def h8(values):
    return " ".join(f"{v:08x}" for v in values)


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def guarded(q, key, fn):
    """Call it; a failure becomes a line."""
    try:
        fn()
    except Exception as e:
        say(q, key, "error " + " ".join(str(e).split())[:260])


def child(*args, timeout=15, capture=False):
    """This file again as `FILE args`, in a process of its own. With `capture`: (bytes of fd 1, exit code), else its lines go on to ours."""
    r = None
    try:
        r = subprocess.run([sys.executable, sys.argv[0], *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout)
        out, code = r.stdout, r.returncode
    except subprocess.TimeoutExpired as e:
        out, code = e.stdout or b"", "timeout"
    if capture:
        return out, code
    sys.stdout.write(out.decode(errors="replace"))
    sys.stdout.flush()
    if code != 0:
        print(f"{os.path.basename(sys.argv[0])[:3]}|child {' '.join(map(str, args))}|exit {code}")


def children(calls, workers=4):
    """`child` for each tuple of arguments, some at a time; lines in order."""
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(min(workers, os.cpu_count() or 1)) as pool:
        for args, (out, code) in zip(calls, pool.map(lambda a: child(*a, capture=True), calls)):
            sys.stdout.write(out.decode(errors="replace"))
            sys.stdout.flush()
            if code != 0:
                print(f"{os.path.basename(sys.argv[0])[:3]}|child {' '.join(map(str, args))}|exit {code}", flush=True)


class Results:
    """An archive in the folder `$OUT` for raw results, up to a size."""

    LIMIT = 14 << 20

    def __init__(self, name):
        self.path, self.archive = os.path.join(os.environ.get("OUT", "."), name), None

    def write(self, name, data):
        """Adds a file; tells whether there was room."""
        self.archive = self.archive or zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)
        if sum(i.compress_size for i in self.archive.infolist()) + len(data) > self.LIMIT:
            return False
        self.archive.writestr(name, data)
        return True

    def close(self):
        if self.archive:
            self.archive.close()


def compact(values):
    """A list in short: runs `v*n`, and `a..b` for steps of 1."""
    out, i = [], 0
    while i < len(values):
        j = i
        while j + 1 < len(values) and values[j + 1] == values[i]:
            j += 1
        if j > i:
            out.append(f"{values[i]}*{j - i + 1}")
            i = j + 1
            continue
        while j + 1 < len(values) and isinstance(values[i], int) and values[j + 1] == values[j] + 1:
            j += 1
        out.append(f"{values[i]}..{values[j]}" if j > i + 1 else f"{values[i]}")
        i = j + 1 if j > i + 1 else i + 1
    return " ".join(map(str, out))


def make(name, *args):
    """The handle that `name(&handle, ...)` gives."""
    h = c_void_p()
    ok(name, byref(h), *args)
    return h


def packed(fmt, *values, size=0):
    """A C structure as a buffer of at least `size` zeroed bytes."""
    data = struct.pack("<" + fmt, *values)
    return ctypes.create_string_buffer(data.ljust(size, b"\0"), max(len(data), size))


def codes(q, prefix, calls):
    """A line for each call: its result code. `calls` are (key, (name, arguments...) or a function that gives a code)."""
    for key, call in calls:
        try:
            r = err(cu(*call)) if isinstance(call, tuple) else call()
            say(q, f"{prefix}{key}", err(r) if isinstance(r, int) and not isinstance(r, bool) else r)
        except Exception as e:
            say(q, f"{prefix}{key}", "error " + " ".join(str(e).split())[:200])


PTX_HEAD = ".version {}\n.target {}\n.address_size 64\n"
BITS = {"h": 16, "r": 32, "l": 64}


def ptx_entry(name, ins, types):
    """An entry that does `ins` on operands from memory, a thread for each case. `types` is as "d=abc" with h r l p."""
    outs, ins_ = types.split("=")
    regs = [(n, t) for n, t in zip("de", outs)] + [(n, t) for n, t in zip("abcf", ins_)]
    body = [f".reg .{'pred' if t == 'p' else f'b{BITS[t]}'} {n};" for n, t in regs]
    for i, (n, t) in enumerate(regs[len(outs) :]):
        body.append(f"ld.global.b32 %u, [%i+{8 * i}]; setp.ne.u32 {n}, %u, 0;" if t == "p" else f"ld.global.b{BITS[t]} {n}, [%i+{8 * i}];")
    body.append(ins + ";")
    for i, (n, t) in enumerate(regs[: len(outs)]):
        body.append(f"selp.u32 %u, 1, 0, {n}; st.global.b32 [%o+{8 * i}], %u;" if t == "p" else f"st.global.b{BITS[t]} [%o+{8 * i}], {n};")
    return (
        f".visible .entry {name}(.param .u64 in, .param .u64 out) {{\n.reg .b32 %t, %u; .reg .b64 %i, %o;\n"
        f"mov.u32 %t, %tid.x; ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mad.wide.u32 %i, %t, {8 * max(1, len(ins_))}, %i; "
        f"mad.wide.u32 %o, %t, {8 * len(outs)}, %o;\n" + "\n".join(body) + "\nret; }\n"
    )


def asm(q, rows, target="sm_80", version="8.0", chunk=6, prefix=""):
    """Rows (instruction, types, cases) of PTX on register operands; lines `instruction #n|operands>results ...`."""
    head = PTX_HEAD.format(version, target)
    found = {}

    def compile_rows(at, end):
        """One module for all, else halves, down to single rows that are refused."""
        try:
            m = load((head + "".join(ptx_entry(f"k{i}", *rows[i][:2]) for i in range(at, end))).encode())
            found.update((i, function(m, f"k{i}")) for i in range(at, end))
        except LoadError as e:
            if end - at == 1:
                found[at] = str(e).split()[1]
                return
            compile_rows(at, (at + end) // 2)
            compile_rows((at + end) // 2, end)

    compile_rows(0, len(rows))
    for i, (ins, types, cases) in enumerate(rows):
        key, f = (prefix + ins).replace("|", "/"), found[i]
        if isinstance(f, str):
            say(q, key, "refused " + f)
            continue
        outs, ins_ = types.split("=")
        cases = [c if isinstance(c, tuple) else (c,) for c in cases]
        o = alloc(8 * len(outs) * len(cases))
        try:
            launch(f, 1, len(cases), (device(b"".join(struct.pack("<Q", v & (2**64 - 1)) for c in cases for v in (c or (0,)))), o))
        except RuntimeError as e:
            say(q, key, str(e))
            continue
        r = u64(get(o, 8 * len(outs) * len(cases)))
        shown = lambda v, t: f"{v & 1}" if t == "p" else f"{v & (2 ** BITS[t] - 1):0{BITS[t] // 4}x}"
        for at in range(0, len(cases), chunk):
            parts = []
            for j in range(at, min(at + chunk, len(cases))):
                res = ",".join(shown(v, t) for v, t in zip(r[j * len(outs) :], outs))
                parts.append(",".join(shown(v, t) for v, t in zip(cases[j], ins_)) + ">" + res)
            say(q, key + (f" #{at // chunk}" if len(cases) > chunk else ""), " ".join(parts))


def asm_by_target(q, rows, prefix, **kw):
    """`asm` for instructions that may need a newer target: is it taken for sm_80, and its results for sm_90."""
    asm(q, [(ins, types, cases[:1]) for ins, types, cases in rows], prefix=prefix + "sm_80 ", **kw)
    asm(q, rows, target="sm_90", prefix=prefix + "sm_90 ", **kw)
