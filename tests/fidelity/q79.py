from common import *
Q = "q79"
# Text of printf goes to fd 1: kernels that print run in processes of their own, between marks.
# a) Windows and addresses as facts: which spaces generic addresses belong to, alignment and distance of shared arrays, dynamic
# shared memory behind static, local arrays of different frames, constant and parameter memory, cvta round trips. Guess: static
# shared arrays lie by decreasing alignment or order of declaration, dynamic behind them with its alignment; isspacep is true
# for one space; kernel parameters are in constant memory (isspacep.const false for a copy in local). Met by allocators inside kernels.
HEAD = '''#define IS(space, p) ([](const void *q_) { unsigned r_; asm("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r_) : "l"(q_)); return r_; }(p))
#define ALL(p) (IS("global", p) | IS("shared", p) << 1 | IS("local", p) << 2 | IS("const", p) << 3)
__device__ int g[4] = {7, -8, 9, 10}; __constant__ int c[5] = {1, 2, 3, 4, 5}; __device__ const double dc = 2.5; struct V { int x; float y; }; __device__ V gv = {3, 4.5f}; __device__ int *gp = &g[2]; __constant__ int *const cp = &g[1]; __device__ char text[] = "hello"; __device__ const char *words[3] = {"one", "two", text}; __device__ unsigned short us[3][2] = {{1, 2}, {3}, {5}};
struct S0 { char a; int b; }; extern __shared__ __align__(16) unsigned char dyn[];
struct Base { int n; __device__ Base(int n) : n(n) {} __device__ virtual int f(int x) const { return x + n; } __device__ virtual ~Base() {} }; struct D1 : Base { __device__ D1(int n) : Base(n) {} __device__ int f(int x) const override { return x * n; } }; struct D2 : D1 { int m; __device__ D2(int n, int m) : D1(n), m(m) {} __device__ int f(int x) const override { return D1::f(x) - m; } };
struct A1 { int p; __device__ virtual int g1() { return p; } }; struct A2 { int q; __device__ virtual int g2() { return q * 2; } }; struct M : A1, A2 { int r; __device__ int g1() override { return r + 1; } __device__ int g2() override { return r + 2; } };
__device__ __noinline__ int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); } __device__ __noinline__ int sum_digits(const int *a, int n) { int b[6]; for (int i = 0; i < 6; i++) b[i] = a[i] + i * n; return n == 0 ? b[3] : sum_digits(b, n - 1) + b[n % 6]; }
__device__ int add1(int x) { return x + 1; } __device__ int twice(int x) { return 2 * x; } __device__ int neg(int x) { return -x; } typedef int (*F)(int); __device__ F table[3] = {add1, twice, neg}; __constant__ F ctable[2] = {neg, twice}; template <class T> __device__ T poly(T x) { return x * x + T(1); } __device__ int counter;
'''
A = {
 "isspacep of global, constant, shared, dynamic shared, local, parameter copy, null": "__shared__ int s[4]; int l[4]; l[in[0]] = 1; s[0] = 1; const void *p[8] = {g, c, s, dyn, l, &in, 0, text}; for (int i = 0; i < 8; i++) o[i] = ALL(p[i]); o[8] = l[in[1] & 3] + s[0];",
 "distances of shared arrays": "__shared__ char a[3]; __shared__ double b[2]; __shared__ short e[5]; __shared__ __align__(64) int f[1]; a[0] = 1; b[0] = 1; e[0] = 1; f[0] = 1; unsigned x[5]; x[0] = (unsigned)__cvta_generic_to_shared(a); x[1] = (unsigned)__cvta_generic_to_shared(b); x[2] = (unsigned)__cvta_generic_to_shared(e); x[3] = (unsigned)__cvta_generic_to_shared(f); x[4] = (unsigned)__cvta_generic_to_shared(dyn); for (int i = 0; i < 5; i++) o[i] = x[i]; for (int i = 0; i < 4; i++) o[5 + i] = (int)(x[i] - x[4]);",
 "alignment of local arrays of char, int4, double": "char a[5]; int4 b[2]; double d[3]; a[in[0]] = 3; b[in[0]].x = 4; d[in[0]] = 5; o[0] = (size_t)b & 15; o[1] = (size_t)d & 7; o[2] = a[in[1] & 3] + b[in[1] & 1].y; o[3] = __isLocal(a) + 2 * __isGlobal(b) + 4 * __isLocal(b);",
 "cvta there and back, and of an address in the other window": "__shared__ int s[4]; s[1] = in[0] + 5; unsigned a = (unsigned)__cvta_generic_to_shared(s + 1); o[0] = *(int *)__cvta_shared_to_generic(a); o[1] = (int *)__cvta_shared_to_generic(a) - s; o[2] = (unsigned)__cvta_generic_to_shared((char *)s + 7) - a; o[3] = __isShared(__cvta_shared_to_generic(0x3000)); o[4] = __isShared(__cvta_shared_to_generic(0xffffff)); o[5] = __isShared(__cvta_shared_to_generic(0x1000000)); int l[2]; l[in[0]] = 9; size_t la = __cvta_generic_to_local(l); o[6] = *(int *)__cvta_local_to_generic(la); o[7] = la < (1u << 24); o[8] = __isConstant(c) + 2 * __isConstant(g) + 4 * __isGridConstant(&in); o[9] = *(int *)__cvta_constant_to_generic(__cvta_generic_to_constant(c + 2)); o[10] = (size_t)__cvta_generic_to_global(g) == (size_t)g;",
 "local addresses of all threads: the same window address": "int l[3]; l[in[0]] = threadIdx.x; __shared__ size_t s[32]; s[threadIdx.x] = (size_t)l; __syncthreads(); o[threadIdx.x] = s[0] == s[threadIdx.x]; o[32] = l[in[1] & 1] > 100;",
 "distance of a callee's local array below the caller's": "int l[8]; l[in[0]] = 1; o[0] = ack(2, in[0] + 1); o[1] = sum_digits(l, 0) + l[in[1] & 3];",
 "reading another thread's local memory through a pointer in shared memory": "int l[3]; l[in[0]] = 100 + threadIdx.x; __shared__ int *s; if (threadIdx.x == 5) s = l; __syncthreads(); o[threadIdx.x] = s[in[0]];",
 "static initialisers": "o[0] = g[1]; o[1] = c[4]; o[2] = (int)(dc * 4); o[3] = gv.x * 10 + (int)gv.y; o[4] = *gp; o[5] = *cp; o[6] = text[4]; o[7] = words[1][2]; o[8] = words[2] == text; o[9] = us[1][0] * 10 + us[1][1]; o[10] = us[2][0]; o[11] = sizeof(text);",
 "static variable in a function, per launch and thread": "static __device__ int n = 5; o[threadIdx.x] = threadIdx.x == 0 ? n : 0; __syncthreads(); if (threadIdx.x == 0) n += 3; __syncthreads(); o[32] = n;",
 "dynamic shared memory: size and what lies behind the static": "__shared__ int s[3]; s[0] = 1; unsigned t, d; asm(\"mov.u32 %0, %%total_smem_size;\" : \"=r\"(t)); asm(\"mov.u32 %0, %%dynamic_smem_size;\" : \"=r\"(d)); o[0] = t; o[1] = d; dyn[127] = 9; o[2] = dyn[127] + s[0]; o[3] = (unsigned)__cvta_generic_to_shared(dyn) & 15;",
 # b) below: allocation, calls
}
# b) Device-side malloc, new, free, alloca, virtual calls with several bases, function pointers of two tables, recursion, lambdas,
# placement new. Guess: malloc(0) gives null or a block; blocks are 16-byte aligned; free(0) is fine; each lane calls its own
# target; virtual tables work for objects made on the device only; alloca's block is aligned by 8 or 16 and dies with the call. Met by ported host code.
B = {
 "malloc: alignment, zero size, larger than the heap": "char *p = (char *)malloc(24), *q = (char *)malloc(1), *z = (char *)malloc(0), *h = (char *)malloc(1ull << 40); o[0] = (size_t)p % 16; o[1] = (size_t)q % 16; o[2] = z != 0; o[3] = h != 0; o[4] = p != q; o[5] = ALL(p); free(p); free(q); free(z); free(h); free(0); int *v = new int[5]{1, 2, 3}; o[6] = v[2] * 10 + v[4]; delete[] v;",
 "malloc per lane: distinct, kept over a divergent use": "int *p = (int *)malloc(40); for (int i = 0; i < 10; i++) p[i] = threadIdx.x * 10 + i; __shared__ int *s[32]; s[threadIdx.x] = p; __syncwarp(); o[threadIdx.x] = s[threadIdx.x ^ 7][3]; int same = 0; for (int i = 0; i < 32; i++) same += s[i] == p; o[32 + threadIdx.x] = same; __syncwarp(); if (threadIdx.x & 1) free(p); __syncwarp(); if (!(threadIdx.x & 1)) free(s[threadIdx.x]);",
 "virtual calls by lane": "Base b(3); D1 d(4); D2 e(5, in[0] + 6); Base *p = threadIdx.x % 3 == 0 ? &b : threadIdx.x % 3 == 1 ? (Base *)&d : &e; o[threadIdx.x] = p->f(threadIdx.x + in[0]);",
 "several bases: pointers adjusted": "M m; m.p = 1; m.q = 2; m.r = in[0] + 50; A1 *a = &m; A2 *b = &m; o[0] = a->g1(); o[1] = b->g2(); o[2] = (char *)b - (char *)&m; o[3] = sizeof(M); o[4] = static_cast<M *>(b)->r;",
 "new of virtual objects, delete through the base": "Base *p = threadIdx.x & 1 ? (Base *)new D2(2, threadIdx.x) : new Base(threadIdx.x); o[threadIdx.x] = p->f(10); delete p;",
 "function pointers by lane from two tables": "F f = threadIdx.x % 5 < 3 ? table[(threadIdx.x + in[0]) % 3] : ctable[threadIdx.x & 1]; o[threadIdx.x] = f(threadIdx.x + 1); o[32] = table[2] == ctable[0]; o[33] = table[0] != ctable[0];",
 "pointer to member, lambda, template by pointer": "int (Base::*pm)(int) const = &Base::f; D1 d(in[0] + 9); o[0] = (d.*pm)(3); auto l = [=](int x) { return x + in[1]; }; o[1] = l(4); float (*pf)(float) = poly<float>; int (*pi)(int) = poly<int>; o[2] = (int)pf(2.5f); o[3] = pi(-4 + in[0]);",
 "recursion of different depth by lane": "o[threadIdx.x] = ack(threadIdx.x % 3, threadIdx.x % 4 + in[0]); int a[6] = {1, 2, 3, 4, 5, (int)threadIdx.x}; o[32 + threadIdx.x] = sum_digits(a, threadIdx.x % 9);",
 "alloca.u64: alignment 16, sizes by lane, in a loop": "int s = 0; for (int r = 1; r < 4; r++) { int *p; asm volatile(\"{ .reg .u64 q; alloca.u64 q, %1, 16; cvta.local.u64 %0, q; }\" : \"=l\"(p) : \"l\"((size_t)(4 * (in[0] + 3 * r + threadIdx.x % 4)))); o[r] = (size_t)p % 16; p[3 * r + threadIdx.x % 4 - 1] = 7; for (int i = 0; i < 3 * r; i++) p[i] = i * r; for (int i = 0; i < 3 * r; i++) s += p[i]; } o[4 + threadIdx.x] = s;",
 "placement new in shared memory, destructor order": "struct T { int *o; int n; __device__ T(int *o, int n) : o(o), n(n) { o[0] = o[0] * 10 + n; } __device__ ~T() { o[0] = o[0] * 10 + n + 4; } }; { T a(o, 1); T b(o, 2); if (in[0]) return; T c(o, 3); } o[1] = 1;",
 "operator new[] of classes with destructors": "struct T { int n; __device__ T() { n = counter++; } __device__ ~T() { counter += 100; } }; T *t = new T[3]; o[0] = t[2].n; delete[] t; o[1] = counter;",
}
# c) printf and assert in more forms: structure members, %c of 0 and 200, %s of device strings and null-free tables, %%, widths
# and precisions by *, long long, size_t, pointers equal, floats in all forms with inf and NaN, return values, escapes; text of
# assertions with long conditions, macros, in templates. Guess: as C's printf; the return value is the number of arguments. Met in every debug session.
P = ['"[%c%c%c]\\n", 65, 200, 48', '"[%5c|%-5c]\\n", 65, 66', '"[%s|%10s|%-10s|%.2s|%6.3s]\\n", "abc", "abc", "abc", "abc", "abcdef"', '"%s %s %s\\n", words[0], words[2], text', '"100%% %d%%\\n", 5', '"[%*d|%-*d|%.*f]\\n", 6, 42, 6, 42, 3, 3.14159', '"[%*d]\\n", -7, 5', '"[%+.3e|%G|%g|%g|%a]\\n", 12345.678, 1e-10, 1e15, 100000.0, 1.5', '"[%f|%F|%e|%g|%5.1f|%-8f|%08f]\\n", zero + 1 / zero, -1 / zero, zero / zero, -zero, 1 / zero, 1 / zero, 1 / zero', '"%#g %#.0f %#x %#o %+d % d\\n", 1.0, 2.0, 255, 8, 3, 4', '"%lld %llu %llx %ld %zu %hd %hhd\\n", -1ll << 62, ~0ull, 1ull << 63, -5l, sizeof(int4), 0x18000, 0x1ff', '"%d %d %f\\n", gv.x, g[1], gv.y', '"%u %x %o %X\\n", -1, -1, -1, 0xabc', '"%10.4d|%-10.4d|%010d|%+5u\\n", 42, 42, -42, 7', '"%.0f %.0f %.0f %.0f %.1f %.2f\\n", 0.5, 1.5, 2.5, -0.5, 0.25, 1.005', '"%.15g %.17g %.20f\\n", 0.1, 0.1, 0.1', '"%.3d|%.0d|%5.0d|\\n", 5, 0, 0', '"tab\\tback\\\\slash \\x41 \\101\\n"', '"%f %d %f %d\\n", 1.0f, (short)-3, (float)2, (char)\'x\'', '"%i %5i %-5i|\\n", 1, 2, 3', '"%e %E\\n", 5e-324, 1.7976931348623157e308', '"%g %g %g\\n", 1e-5, 1e-4, 123456789.0', '"%c%c%c\\n", 0x141, \'\\t\', 37', '"%5%|%-5%|\\n"', '"%p %d\\n", (void *)0xabcdef0, words[0] != words[1]', '"%.10s|%.0s|%s\\n", "long text here", "x", ""', '"%lf %Lf\\n", 1.5, 2.5', '"%llX %#llx %#llo\\n", 0xabcdefull, 0xabcdefull, 8ull', '"%+.0e %#.0e\\n", 15.0, 15.0', '"a\\0b%d\\n", 5']
ASSERT = {"macro and template": ("#define LIMIT 3\ntemplate <int N> __device__ void check(int x) { assert(x < N && \"too large\"); }\n", "check<LIMIT>(threadIdx.x + 1);", (1, 4)), "a condition over lines, with strings": ("", "const char *s = \"q\"; assert((s[0] == 'x' ||\n   in[0] == 77));", (1, 1)), "in a lambda, only lane 3 of block 1": ("", "auto l = [&](int v) { assert(v != 35); }; l(threadIdx.x + 32 * blockIdx.x);", (2, 32)), "in a namespace's method": ("namespace n { struct K { __device__ int m(int v) const { assert(v == 0); return v; } }; }\n", "n::K q; o[0] = q.m(in[0] + 1);", (1, 1)), "never false": ("", "assert(in[0] == 0);", (2, 8))}
def module(bodies):
    return load(compile_cuda(HEAD + "".join(f'extern "C" __global__ void k{i}(int *o, const int *in) {{ {b} }}\n' for i, b in enumerate(bodies)), options=("--device-as-default-execution-space",)))
def part(name, rows):
    m = module(list(rows.values()))
    for i, key in enumerate(rows):
        def main():
            for again in range(2 if "per launch" in key else 1):
                o = alloc(512); launch(function(m, f"k{i}"), 1, 32 if "threadIdx" in rows[key] else 1, (o, device(bytes(64))), 128)
                say(Q, f"{name} {key}" + (" (again)" if again else ""), compact(list(struct.unpack("<66i", get(o, 264))))[:600])
        guarded(Q, f"{name} {key}", main)
if len(sys.argv) > 1:
    init(); flush = ctypes.CDLL(None).fflush
    if sys.argv[1] == "print":
        m = load(compile_cuda(HEAD + "".join(f'extern "C" __global__ void k{i}(int *o, double zero) {{ o[0] = printf({p}); }}\n' for i, p in enumerate(P))))
        for i in range(len(P)):
            o = alloc(8); r = launch_code(function(m, f"k{i}"), 1, 1, (o, c_double(0.0))); s = sync(); flush(None)
            os.write(1, b"\x1e" + f"{err(r)} {err(s)} returns {struct.unpack('<i', get(o, 4))[0] if not s else '-'}".encode() + b"\x1e")
    else:
        head, body, (grid, block) = list(ASSERT.values())[int(sys.argv[2])]
        f = build(head + 'extern "C" __global__ void k(int *o, const int *in) { ' + body + " }"); r = launch_code(f, grid, block, (alloc(64), device(bytes(64)))); s = sync()
        print(f"{err(r)} {err(s)}", flush=True)
    os._exit(0)
init()
guarded(Q, "a", lambda: part("a", A))
guarded(Q, "b", lambda: part("b", B))
def printing():
    r = subprocess.run([sys.executable, sys.argv[0], "print"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=25); parts = r.stdout.split(b"\x1e")
    for p, text, note in zip(P, parts[::2], parts[1::2]):
        say(Q, f"c printf({p})"[:150].replace("|", "/"), f"{text.decode('latin-1')!r} {note.decode()}".replace("|", "\\x7c"))
guarded(Q, "c printf", printing)
for i, key in enumerate(ASSERT):
    r = subprocess.run([sys.executable, sys.argv[0], "assert", str(i)], capture_output=True, timeout=25)
    for j, line in enumerate(sorted((r.stderr + b"\n" + r.stdout).decode("latin-1").splitlines())):
        if line.strip():
            say(Q, f"c assert {key} #{j}", line.replace("|", "\\x7c")[:300])
