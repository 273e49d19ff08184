from common import *
Q = "q49"
# a) assert: the text on stderr, its format, how many threads report, code, and what a second kernel gives; __assertfail with
# odd arguments; stdout or stderr. Guess: "exam.cu:1: void k(int *): block: [0,0,0], thread: [3,0,0] Assertion `x` failed."
# on stderr for each thread; the kernel's name is the mangled or signature form. Met by log scrapers.
ASSERTS = {
 "in an extern C kernel, threads 3 and 5": 'extern "C" __global__ void k(int *o) { assert(threadIdx.x != 3 && threadIdx.x != 5); }',
 "in a template kernel's device function": 'template <class T> __device__ void check(T x) { assert(x < 3 && "too large"); } extern "C" __global__ void k(int *o) { check<float>(threadIdx.x); }',
 "block and thread of three dimensions": 'extern "C" __global__ void k(int *o) { assert(!(threadIdx.y == 1 && blockIdx.z == 1)); }',
 "with a percent sign and quotes": 'extern "C" __global__ void k(int *o) { assert(threadIdx.x % 7 != 2 && "100%d \\"quoted\\""); }',
 "with #line": '#line 77 "dir/file name.h"\nextern "C" __global__ void k(int *o) { assert(0); }',
 "in a namespace": 'namespace n { struct S { __device__ bool operator()(int x) const { assert(x != 1); return 1; } }; } extern "C" __global__ void k(int *o) { n::S()(threadIdx.x); }',
 "after printf": 'extern "C" __global__ void k(int *o) { printf("before\\n"); assert(threadIdx.x < 2); printf("after\\n"); }',
 "with NDEBUG": '#define NDEBUG\n#undef assert\n#define assert(x) ((void)0)\nextern "C" __global__ void k(int *o) { assert(0); }',
 "__assertfail by hand": 'extern "C" __device__ void __assertfail(const char *m, const char *f, unsigned l, const char *fn, size_t s) __attribute__((noreturn)); extern "C" __global__ void k(int *o) { if (threadIdx.x == 1) __assertfail("message", "file", 4000000000u, "function", 1); }',
 "__assertfail with empty strings": 'extern "C" __device__ void __assertfail(const char *m, const char *f, unsigned l, const char *fn, size_t s) __attribute__((noreturn)); extern "C" __global__ void k(int *o) { if (threadIdx.x == 1) __assertfail("", "", 0, "", 1); }',
}
# b) printf by types: promoted types, vectors' components, long formats, widths, wrong counts, order of warps' and blocks'
# lines. Guess: arguments are stored in 8-byte slots; float is promoted; too few arguments print what lies behind; a block's
# lines are in order of lanes within one call. Met in debugging output.
P = {
 "float, double, half2float": 'printf("%f %g %e %.3f %10.2f|%-10.2f|%+f\\n", 1.5f, 1e-5, 123456.789, 2.0f / 3, 3.14159, 3.14159, 1.0);',
 "special floats": 'printf("%f %f %f %e %g %5.1f %F %G\\n", __int_as_float(0x7f800000), __int_as_float(0xff800000), __int_as_float(0x7fffffff), __int_as_float(0xffffffff), -0.0, __int_as_float(0x7fc00000), __int_as_float(0x7f800000), __int_as_float(0x7f800001));',
 "small integers": 'signed char a = -3; unsigned char b = 250; short c = -300; unsigned short d = 65000; bool e = true; printf("%d %u %d %u %d %x %o %c%c\\n", a, b, c, d, e, a, b, 65, (char)66);',
 "64-bit": 'printf("%lld %llu %llx %ld %lu %lx %lli\\n", -5ll, ~0ull, 0x123456789abcdefull, -7l, ~0ul, 0x7fffffffffffffffl, 1ll << 62);',
 "64-bit by %d": 'printf("%d %d %x\\n", 0x1ffffffffll, 7, 0xabcdef0123456789ull);',
 "32-bit by %lld": 'printf("%lld %lld\\n", (int)-5, 7u);',
 "int by %f, float by %d": 'printf("%d %d\\n", 1.5f, 2.0); printf("%f\\n", 3);',
 "vector components": 'float4 v = make_float4(1, 2.5f, -3, 1e10f); int2 w = make_int2(-1, 2); uchar4 u = make_uchar4(1, 2, 3, 255); printf("(%g, %g, %g, %g) (%d, %d) %d %d %d %d\\n", v.x, v.y, v.z, v.w, w.x, w.y, u.x, u.y, u.z, u.w);',
 "strings": 'const char *s = o[0] ? "a" : "bc"; printf("%s %s|%5s|%-5s|%s\\n", s, "literal", "r", "l", "");',
 "a string of 300 characters": 'printf("%s\\n", "' + "0123456789" * 30 + '");', "a format of 600 characters": 'printf("' + "abcdefghij" * 60 + '%d\\n", 5);', "a string of 2000 characters": 'printf("%s\\n", "' + "0123456789" * 200 + '");',
 "widths": 'printf("|%5d|%-5d|%05d|%+d|% d|%#x|%#o|%5x|%-8X|%08x|\\n", 42, 42, 42, 42, 42, 255, 8, 255, 255, 255);', "precision": 'printf("|%.0f|%.1f|%.10f|%8.3e|%.3g|%#.3g|%.0e|%5.0f|%.20f|\\n", 2.5, 0.05, 1.0 / 3, 12345.678, 0.00012345, 1.0, 5.5, 1e6, 0.1);', "integer precision": 'printf("|%.5d|%8.3d|%-8.3d|%.0d|%.10x|%+.3d|\\n", 42, 7, 7, 0, 255, 5);',
 "percent": 'printf("100%% %d%%\\n", 5);', "no newline": 'printf("a"); printf("b"); printf("\\n");', "tabs and control characters": 'printf("a\\tb\\rc\\x01\\x7f\\xc3\\xa9\\n");', "too few arguments": 'printf("%d %d\\n", 1);', "too many arguments": 'printf("%d\\n", 1, 2, 3);', "a zero inside the format": 'printf("ab\\0cd\\n");', "%c of 0 and 10": 'printf("[%c][%c]\\n", 0, 10);', "pointer": 'printf("%p %p\\n", (void *)0x1000, (void *)0);', "%i %u of negative": 'printf("%i %u\\n", -1, -1);', "long double": 'printf("%Lf\\n", 1.5);', "hex floats": 'printf("%a %A %.2a\\n", 1.0, 0.1, 3.0);', "star width": 'printf("%*d|%-*d|%.*f\\n", 6, 1, 6, 2, 2, 3.14159);', "%hd %hhd %hu": 'printf("%hd %hu %hx\\n", 70000, 70000, 70000);',
 "returned values": 'int a = printf("x"), b = printf("%d%d", 1, 2), c = printf("%s", "abc"), d = printf("%%"), e = printf(""); printf("\\n%d %d %d %d %d\\n", a, b, c, d, e);',
}
# c) Order: lanes of one warp, divergent lanes, warps of a block (sorted counts only), blocks by order of launch, two kernels
# in one stream, kernels in two streams joined by an event, host text between by fflush. Guess: within one call lanes ascend.
# Met by tests which compare printed text.
ORDER = {
 "8 lanes, two calls": ('extern "C" __global__ void k(int *o) { printf("a%d ", threadIdx.x); printf("b%d ", threadIdx.x); }', 1, 8), "odd lanes first branch": ('extern "C" __global__ void k(int *o) { if (threadIdx.x & 1) printf("o%d ", threadIdx.x); else printf("e%d ", threadIdx.x); }', 1, 8), "loop of 3 per lane": ('extern "C" __global__ void k(int *o) { for (int i = 0; i < 3; i++) printf("%d.%d ", threadIdx.x, i); }', 1, 4), "loop, trips by lane": ('extern "C" __global__ void k(int *o) { for (int i = 0; i <= threadIdx.x + o[0]; i++) printf("%d.%d ", threadIdx.x, i); }', 1, 4),
 "divergent arguments count": ('extern "C" __global__ void k(int *o) { if (threadIdx.x < 2) printf("%d ", 1); else printf("%d,%d ", 2, 3); printf("end%d ", threadIdx.x); }', 1, 5), "32 lanes": ('extern "C" __global__ void k(int *o) { printf("%d ", threadIdx.x); }', 1, 32), "warps one after the other by barriers": ('extern "C" __global__ void k(int *o) { for (int w = 0; w < 4; w++) { if (threadIdx.x / 32 == 3 - w && threadIdx.x % 32 == 0) printf("w%d ", threadIdx.x / 32); __syncthreads(); } }', 1, 128),
}
ALL = [("a " + k, v) for k, v in ASSERTS.items()] + [("b " + k, v) for k, v in P.items()] + [("c " + k, v) for k, v in ORDER.items()]
MARK = b"\x1e"
shown = lambda b: repr(b.decode("latin-1"))[1:-1].replace("|", "\\x7c")
def ask(key, v):
    """Runs the kernel; its text goes out before the codes."""
    try:
        src, grid, block = v if isinstance(v, tuple) else (v, (1, 1, 2) if "three" in key else 1, (2, 2, 1) if "three" in key else 6) if key[0] == "a" else ('extern "C" __global__ void k(int *o) { ' + v + " }", 1, 1)
        f = build(src); r = launch_code(f, grid, block, (alloc(64),)), sync()
        p = c_uint64(); note = f"{err(r[0])} {err(r[1])} then {err(cu('cuMemAlloc_v2', byref(p), 16))}"
    except Exception as e:
        note = "error " + " ".join(str(e).split())[:200]
    ctypes.CDLL(None).fflush(None)
    os.write(1, MARK + note.encode() + MARK)
def texts(args):
    """(text, note) for each kernel, fd 2 and the exit code of a process that runs these."""
    r = subprocess.run([sys.executable, sys.argv[0], *map(str, args)], capture_output=True, timeout=20)
    parts = r.stdout.split(MARK)
    return list(zip(parts[::2], parts[1::2])), r.stderr, r.returncode
if len(sys.argv) > 1:
    init()
    for i in sys.argv[1:]:
        ask(*ALL[int(i)])
    os._exit(0)
import concurrent.futures
init()
n = len(ASSERTS)
with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
    results = list(pool.map(texts, [[i] for i in range(n)] + [range(n, len(ALL))]))
for (key, v), (found, errors, code) in zip(ALL, results[:n]):
    out, note = found[0] if found else (b"", b"nothing")
    lines = [x for x in shown(errors).split("\\n") if x]
    say(Q, f"{key}: stdout, codes", f"{shown(out)} ## {note.decode()} exit {code}")
    say(Q, f"{key}: stderr", f"{len(lines)} lines; first {lines[:1]} second {lines[1:2]}")
for (key, v), (out, note) in zip(ALL[n:], results[n][0]):
    out = shown(out)
    say(Q, key, (out if len(out) < 700 else f"{len(out)} characters, ends {out[-20:]}") + ("" if note.startswith(b"OK OK") else " ## " + note.decode()))
