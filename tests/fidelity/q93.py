from common import *
Q = "q93"
init()
HEAD = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cuda/barrier>\n#include <cuda/semaphore>\n#include <cuda/latch>\n#include <cuda/pipeline>\nnamespace cg = cooperative_groups;\n"
def batch(rows, head=HEAD):
    """Rows (key, body, words, block): all in one module; `t` thread, `l` lane, `z` is 0."""
    m = load(compile_cuda(head + "".join(f'extern "C" __global__ void k{i}(unsigned *o, unsigned *in) {{ unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, l = t & 31, z = in[0]; (void)l; (void)z; {r[1]} }}\n' for i, r in enumerate(rows)), options=("--disable-warnings",)))
    for i, (key, body, n, block) in enumerate(rows):
        def main():
            o = alloc(4 * n); launch(function(m, f"k{i}"), 1, block, (o, device(bytes(4096)))); r = u32(get(o, 4 * n))
            say(Q, key, compact([f"{v:x}" if v > 999999 else v for v in r])[:700])
        guarded(Q, key, main)
# a) Barriers with reduction and synchronisation objects after threads have exited, in blocks of two dimensions and of odd sizes; cuda::barrier with arrive_and_drop, expected counts and completion functions, latches, semaphores, pipelines;
# split arrive and wait of a block; votes, matches and reductions of what is left of a warp, with 64-bit values. Guess: counts only include threads that are still there; a completion function runs once a phase; arrive_and_drop
# lowers all later phases; match works by bits, so -0.0 and 0.0 differ. Met by producer/consumer kernels and by libraries with early returns.
batch([
 ("a __syncthreads_count after lanes 20.. of each warp have exited, 80 threads", "if (l >= 20) return; o[t] = 1 + __syncthreads_count(t & 1); o[96 + t] = __syncthreads_or(t == 19 + z) * 10 + __syncthreads_and(l < 20);", 192, 80),
 ("a __syncthreads_count of 7 x 5 with a predicate by y", "o[t] = __syncthreads_count(threadIdx.y < 2 + z);", 35, (7, 5)),
 ("a __syncthreads_and after the second warp has gone", "if (t >= 32 && t < 64) return; o[t] = __syncthreads_and(t < 32 || t > 63) * 100 + __syncthreads_count(1);", 96, 96),
 ("a __syncthreads_or in a loop of two rounds, values by round", "for (int i = 0; i < 3; i++) o[3 * t + i] = __syncthreads_or((int)t == 40 * i + (int)z) + 10 * __syncthreads_count((int)t > 20 * i);", 192, 64),
 ("a reductions of a warp of which lanes 5, 6, 31 have exited: add, min, xor by a full mask of the others", "if (l == 5 || l == 6 || l == 31) return; unsigned m = __activemask(); o[l] = __reduce_add_sync(m, l + z); o[32 + l] = __reduce_min_sync(m, 100 - l); o[64 + l] = __reduce_xor_sync(m, 1u << l); o[96 + l] = m == 0x7fffff9f;", 128, 32),
 ("a match_any of doubles 0.0, -0.0, NaN with two payloads", "double d = l % 4 == 0 ? 0.0 : l % 4 == 1 ? -0.0 : __longlong_as_double(0x7ff8000000000000ll + (l & 1)); if (z) d = 1; o[l] = __match_any_sync(~0u, d);", 32, 32),
 ("a match_any of 64-bit values which differ in the upper half, lanes 0 to 19", "if (l < 20 + z) o[l] = __match_any_sync(0xfffff, ((long long)(l / 7) << 40) + 3);", 32, 32),
 ("a match_all of floats, of long longs, its predicate", "int p = 9, q = 9; o[l] = __match_all_sync(~0u, 1.5f + z, &p); o[32 + l] = __match_all_sync(~0u, (long long)(l == 31) << 35, &q); o[64 + l] = p * 10 + q;", 96, 32),
 ("a shuffles of long long and double, width 8, after lanes 24.. exited", "if (l >= 24 + z) return; o[l] = (unsigned)(__shfl_down_sync(0xffffff, (long long)l << 32, 3, 8) >> 32); o[32 + l] = (int)(__shfl_xor_sync(0xffffff, l * 0.5, 5, 8) * 2); o[64 + l] = __shfl_up_sync(0xffffff, l, 9, 16);", 96, 32),
 ("a ballot and any in a loop that lanes leave one by one", "unsigned c = 0, s = 0; for (unsigned i = 0; i <= l + z; i++) { unsigned m = __activemask(); c += __popc(__ballot_sync(m, i & 1)); s += __any_sync(m, l == 31); __syncwarp(m); } o[l] = s;", 32, 32),
 ("a ballot by a full mask, lanes at two places of the code", "unsigned r; if (l & 1) r = __ballot_sync(0xaaaaaaaa, l > 8 + z); else r = __ballot_sync(0x55555555, l > 20 + z); o[l] = r;", 32, 32),
 ("a barrier of 40 by cuda::barrier: completion function counts", "struct F { unsigned *c; __device__ void operator()() noexcept { ++*c; } }; __shared__ unsigned n; using B = cuda::barrier<cuda::thread_scope_block, F>; __shared__ alignas(B) char mem[sizeof(B)]; B *b = (B *)mem; if (t == 0) { n = 0; new (b) B(40, F{&n}); } __syncthreads(); if (t < 40) for (int i = 0; i < 3; i++) b->arrive_and_wait(); __syncthreads(); o[t] = n;", 64, 64),
 ("a arrive_and_drop in the first phase by the second warp", "using B = cuda::barrier<cuda::thread_scope_block>; __shared__ alignas(B) char mem[sizeof(B)]; B *b = (B *)mem; if (t == 0) init(b, 64); __syncthreads(); if (t >= 32) { b->arrive_and_drop(); return; } b->arrive_and_wait(); b->arrive_and_wait(); o[t] = 5;", 64, 64),
 ("a arrive(2) by half of the threads, wait by all", "using B = cuda::barrier<cuda::thread_scope_block>; __shared__ alignas(B) char mem[sizeof(B)]; B *b = (B *)mem; __shared__ unsigned s[64]; if (t == 0) init(b, 64); s[t] = 0; __syncthreads(); s[t] = t; if (t & 1) { auto k = b->arrive(2); b->wait(cuda::std::move(k)); o[t] = s[t ^ 3] + 1; } else o[t] = 7;", 64, 64),
 ("a barrier_arrive and barrier_wait of the block, work between", "auto g = cg::this_thread_block(); __shared__ unsigned s[96]; s[t] = t * 3; auto k = g.barrier_arrive(); unsigned own = t + z; g.barrier_wait(cuda::std::move(k)); o[t] = s[(t + 33) % 96] + own;", 96, 96),
 ("a latch of 64, counted down by 2", "using L = cuda::latch<cuda::thread_scope_block>; __shared__ alignas(L) char mem[sizeof(L)]; L *b = (L *)mem; __shared__ unsigned s; if (t == 0) { new (b) L(64); s = 0; } __syncthreads(); if (t >= 32) { atomicAdd(&s, t); __threadfence_block(); b->count_down(2); } else { b->wait(); o[t] = s * 10 + b->try_wait(); }", 64, 64),
 ("a counting semaphore of 3 among 4 warps: never more inside", "using S = cuda::counting_semaphore<cuda::thread_scope_block, 8>; __shared__ alignas(S) char mem[sizeof(S)]; S *b = (S *)mem; __shared__ unsigned in_, most, sum; if (t == 0) { new (b) S(3); in_ = most = sum = 0; } __syncthreads(); if (l == 0) { b->acquire(); unsigned n = atomicAdd(&in_, 1) + 1; atomicMax(&most, n); atomicAdd(&sum, 1); atomicSub(&in_, 1); b->release(); } __syncthreads(); o[t] = (most <= 3) * 100 + sum * 10 + in_;", 128, 128),
 ("a pipeline of two stages by each thread", "__shared__ unsigned s[2][64]; auto p = cuda::make_pipeline(); unsigned sum = 0; for (int i = 0; i < 2; i++) { p.producer_acquire(); cuda::memcpy_async(&s[i][t], in + 16 + ((t + i) & 63), cuda::aligned_size_t<4>(4), p); p.producer_commit(); } cuda::pipeline_consumer_wait_prior<1>(p); sum += s[0][t] + 1; p.consumer_release(); cuda::pipeline_consumer_wait_prior<0>(p); sum += s[1][t] + 10; p.consumer_release(); o[t] = sum;", 64, 64),
 ("a coalesced group in nested branches: size of the outer one, then of the inner", "if ((l + z) % 3 != 1) { auto a = cg::coalesced_threads(); o[l] = a.size(); if (l > 10) { auto b = cg::coalesced_threads(); o[32 + l] = b.size() * 100 + b.thread_rank(); o[64 + l] = cg::reduce(b, l, cg::less<unsigned>()); } }", 96, 32),
 ("a tile<16> after lanes 16.. of the second warp have exited: sum, any", "if (t >= 48) return; auto g = cg::tiled_partition<16>(cg::this_thread_block()); o[t] = cg::reduce(g, t, cg::plus<unsigned>()) * 10 + g.any(t == 33 + z);", 64, 64),
 ("a coalesced shfl_up, shfl_down past the ends, 11 lanes", "if (l % 3 == 0 || z) { auto g = cg::coalesced_threads(); o[l] = g.shfl_up(l, 2); o[32 + l] = g.shfl_down(l, 4); o[64 + l] = g.match_any(l / 9); }", 96, 32),
])
# b) Local arrays and shared structures: dynamic indices into vectors, nested structures and unions, arrays that live across calls and recursion, pointers to local memory handed to other lanes, several extern arrays, alignments, and zeroing. Guess: a
# local pointer of another lane reads one's own memory (the window is per thread); all extern arrays start at the same address; alignas is kept; distances are multiples of the alignment. Met by parsers, stacks in ray
# tracers and kernels that carve dynamic shared memory.
HEADB = "struct V { char c; double d; short s[3]; }; union W { float f[4]; unsigned u[4]; unsigned long long l[2]; };\nextern __shared__ char xa[]; extern __shared__ double xb[]; extern __shared__ __align__(16) int4 xc[];\n__device__ __noinline__ unsigned rec(unsigned n, unsigned *up) { unsigned a[4] = {n, n + 1, n + 2, n + 3}; if (n == 0) return *up; unsigned r = rec(n - 1, a + (n & 3)); return r * 3 + a[r & 3] + *up; }\n__device__ __noinline__ int fill(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { p[i] = i * i; s += p[(i * 7) % (i + 1)]; } return s; }\n__device__ __noinline__ double many(char a, double b, short c, V v, W w, int4 x) { return a + b + c + v.d + v.s[2] + w.f[3] + x.w; }\n"
batch([
 ("b pointer to lane 3's local variable, read by all: own values", "unsigned v[4] = {t, t + 100, t + 200, t + 300}; v[z] += 1; unsigned long long p = (unsigned long long)&v[1]; p = __shfl_sync(~0u, p, 3); o[t] = *(volatile unsigned *)p; o[32 + t] = p == (unsigned long long)&v[1];", 64, 32),
 ("b structure: size, offsets, array distance in local memory", "V v[3]; v[z].d = 1; v[z + 1].c = 2; v[z + 2].s[z] = 3; o[0] = sizeof(V); o[1] = (char *)&v[1] - (char *)&v[0]; o[2] = (char *)&v[0].s - (char *)&v[0]; o[3] = ((unsigned long long)&v[0] & 7); o[4] = v[z].d + v[z + 1].c + v[z + 2].s[z];", 8, 1),
 ("b union: floats by dynamic index, read as bits and as pairs", "W w; for (unsigned i = 0; i < 4; i++) w.f[(i + z) & 3] = i * 1.5f - 2; o[4 * t] = w.u[t & 3]; o[4 * t + 1] = (unsigned)(w.l[t & 1] >> 32); w.u[(t + 1) & 3] ^= 0x80000000; o[4 * t + 2] = __float_as_uint(w.f[0] + w.f[1] + w.f[2] + w.f[3]); o[4 * t + 3] = (unsigned)w.l[1];", 16, 4),
 ("b recursion with arrays of the caller, depth by lane", "unsigned s[2] = {5 + z, 6}; o[t] = rec(t % 7, s + (t & 1));", 32, 32),
 ("b vector components by a pointer", "float4 f = make_float4(t, t + 0.5f, -1.0f, z); o[t] = __float_as_uint(((float *)&f)[(t + z) & 3]); ((float *)&f)[(t + z) & 3] = 9; o[32 + t] = f.x + f.y + f.z + f.w + 100;", 64, 32),
 ("b array filled by a function, two sizes, and sum", "int a[50], b[7]; int r = fill(a, 50 - (int)z) * 10 + fill(b, 7); o[t] = r; o[8 + t] = a[(t * 13 + z) % 50] + b[t % 7];", 16, 8),
 ("b parameters of mixed sizes by value", "V v; v.d = 0.25; v.s[2] = -7; v.s[z] = 0; W w; w.f[3] = 2; o[t] = __float_as_uint((float)many((char)t, t * 0.5, -1, v, w, make_int4(0, 0, 0, 11)));", 8, 8),
 ("b an array of 8 bytes shifted by a dynamic index", "unsigned char a[16]; for (int i = 0; i < 16; i++) a[i] = i + t; for (int i = 0; i < 8; i++) a[(i + t + z) & 15] = a[(i * 3 + z) & 15]; unsigned x = 0; for (int i = 0; i < 16; i++) x = x * 31 + a[i]; o[t] = x;", 8, 8),
 ("b static shared: distances' low bits, alignments", "__shared__ char a; __shared__ double d; __shared__ __align__(128) int e[3]; __shared__ char c[5]; a = 1; d = 2; e[z] = 3; c[z] = 4; __syncthreads(); unsigned long long b = __cvta_generic_to_shared(&d), f = __cvta_generic_to_shared(e); o[0] = b & 7; o[1] = f & 127; o[2] = a + (int)d + e[z] + c[z];", 4, 1),
 ("b a structure in shared memory, copied and compared by bytes", "__shared__ V s[4]; V v; memset(&v, 0x55, sizeof v); v.c = t; v.d = t; v.s[0] = t; if (t < 4) s[t] = v; __syncthreads(); V w = s[(t + 1 + z) & 3]; o[2 * t] = (unsigned)w.c * 100 + (unsigned)w.d * 10 + w.s[0]; o[2 * t + 1] = (w.s[1] == v.s[1] && w.s[2] == 0x5555);", 8, 4),
 ("b two-dimensional array, a column by lane, transposed", "__shared__ float s[8][9]; s[t / 8][t % 8] = t; __syncthreads(); o[t] = s[t % 8][t / 8 + z];", 64, (8, 8)),
 ("b bit fields in local and shared memory", "struct B { unsigned a : 5, b : 11; signed c : 7; unsigned long long d : 41; }; __shared__ B s; B v; v.a = t + 30; v.b = 2047 + t; v.c = 60 + t; v.d = (1ull << 40) + t; if (t == 5) s = v; __syncthreads(); o[t] = v.a * 1000 + v.b; o[8 + t] = s.c + 1000; o[16 + t] = sizeof(B) + (unsigned)(v.d >> 33);", 24, 8),
], HEADB)
def dynamic():
    f = build(HEADB + 'extern "C" __global__ void k(unsigned *o, unsigned z) { unsigned t = threadIdx.x; __shared__ char st[3]; st[z] = t; o[0] = (char *)xb - xa; o[1] = (char *)xc - xa; o[2] = __cvta_generic_to_shared(xa) & 15; asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(o[3])); ((volatile char *)xa)[t] = t; __syncthreads(); o[4 + t] = ((volatile unsigned char *)xc)[t ^ 1]; }')
    for n in (32, 33, 1000, 40000): p = alloc(512); launch(f, 1, 32, (p, c_uint(0)), n); say(Q, f"b three extern arrays, {n} bytes", compact(u32(get(p, 144))))
guarded(Q, "b extern", dynamic)
# c) Text of printf for types that existing code passes: strings that lie in global, constant, shared and local memory, characters of all kinds, widths by argument with negative numbers, pointers that are null or small, enumerations, booleans, size_t and
# differences, halves and bfloat16 through float, hexadecimal floats, percent signs, return values, arguments evaluated by exited lanes, several kernels and order among lanes. Guess: %s takes any address space; %p of null is (nil) as glibc
# prints; the value returned is the number of arguments; '%c' of 0 writes a zero byte. Met by everyone who debugs with printf.
TEXT = {
 "string with precision and width by argument": 'printf("%.3s|%*s|%-*s|\\n", "abcdef", 8, "right", 7, "left");',
 "negative width and precision by argument": 'printf("%*d|%.*d|%-*d|%0*d|\\n", -6, 42, -3, 43, -5, 44, 5, 45);',
 "null, small and all-ones pointers": 'printf("%p %p %p\\n", (void *)(unsigned long long)z, (void *)0x10, (void *)~0ull);',
 "pointer with width": 'printf("[%20p] [%-20p]\\n", (void *)0xabc, (void *)0xabc);',
 "enumeration, bool, wchar_t, character constants": 'enum E { A = -2, B = 7 }; enum class C : unsigned char { X = 200 }; printf("%d %d %d %d %d %c %c\\n", A, B, (int)C::X, true, L\'x\', \'y\', 321);',
 "size_t, ptrdiff_t, intmax_t": 'int a[3]; printf("%zu %zx %td %jd %ju\\n", sizeof(a), (size_t)-1, &a[2] - &a[z], (long long)-5, ~0ull);',
 "h and hh": 'printf("%hd %hu %hhd %hhu %hx %hhX\\n", 70000, 70000, 300, 300, -1, -1);',
 "hexadecimal floats": 'printf("%a %A %.2a %a %a\\n", 1.0, 0.1, 3.14159, 0.0, 5e-324);',
 "halves through float": '__half h = __float2half(0.1f); __nv_bfloat16 b = __float2bfloat16(0.1f); printf("%f %.10f %g\\n", (float)h, (double)(float)b, __half2float(h) * 3);',
 "e, g, # and zero flags": 'printf("%#x %#o %#.0f %#g %e %G %010.3f %+.1e % d\\n", 255, 8, 3.0, 2.0, 12345.678, 1e-10, -3.14159, 1e100, 42);',
 "large and tiny with many digits": 'printf("%.0f %.20g %.30f\\n", 1e22, 0.1, 1.0 / 3);',
 "percent signs": 'printf("100%% %d%%|%%d|%5%|\\n", 7);',
 "no newline at the end, twice": 'printf("one"); printf("two\\n");',
 "tabs, returns, unicode": 'printf("a\\tb\\rc \\xc3\\xa9 \\xe2\\x82\\xac\\n");',
 "a zero byte by %c in the middle": 'printf("x%cy\\n", 0);',
 "value returned: 0, 1, 3 arguments": 'int a = printf("a\\n"), b = printf("%d\\n", 5), c = printf("%d %s %f\\n", 1, "s", 2.0); printf("%d %d %d\\n", a, b, c);',
 "20 arguments of three kinds": 'printf("%d %f %s %d %f %s %d %f %s %d %f %s %d %f %s %d %f %s %d %f\\n", 1, 2.0, "a", 3, 4.0, "b", 5, 6.0, "c", 7, 8.0, "d", 9, 10.0, "e", 11, 12.0, "f", 13, 14.0);',
 "format chosen at run time": 'printf(fm[z], 5, 6); printf(fm[z + 1], 5, 6);',
 "unsigned char and short variables, negative": 'unsigned char c = 200 + z; short s = -5; signed char d = 200; printf("%u %d %d %x %x\\n", c, s, d, s, d);',
 "long formats of doubles and integers": 'printf("%lf %Lf %ld %li %lo %llX\\n", 1.25, 2.5, -3l, 4l, 64l, 0xabcdefabcdefull);',
}
ORDER = {"lanes 9 to 11 after the others exited": (1, 32, 'if (t < 9 || t > 11) return; printf("%d\\n", t);'), "even, then odd lanes of a branch": (1, 6, 'if (t & 1) printf("odd %d\\n", t); else printf("even %d\\n", t); printf("all %d\\n", t);'), "a loop of two rounds in 3 lanes": (1, 3, 'for (int i = 0; i < 2; i++) printf("%d.%d\\n", i, t);'), "strings in global, constant, shared, local memory": (1, 1, '__shared__ char s[8]; char q[6] = {108, 111, 99, 97, 108, 0}; q[z] = 76; s[0] = 115; s[1] = 104; s[2] = 0; __syncwarp(); printf("%s|%s|%s|%s|%s\\n", gs, cs, (const char *)s, (const char *)q, gp[z]);')}
if len(sys.argv) > 1:
    m = load(compile_cuda("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + '__device__ char gs[] = "global"; __constant__ char cs[] = "const"; __device__ const char *gp[] = {"by pointer", "x"}; __device__ const char *fm[] = {"%d-%d\\n", "%x %o\\n"};\n' + "".join(f'extern "C" __global__ void k{i}(unsigned z) {{ unsigned t = threadIdx.x; (void)t; {b} }}\n' for i, b in enumerate([*TEXT.values(), *(x[2] for x in ORDER.values())]))))
    shapes = [(1, 1)] * len(TEXT) + [x[:2] for x in ORDER.values()]
    for i, (g, b) in enumerate(shapes): print(f"\x01{i}", flush=True); launch(function(m, f"k{i}"), g, b, (c_uint(0),)); sys.stdout.flush()
    os._exit(0)
out, code = child("print", capture=True); got = {p.split(b"\n", 1)[0]: p.split(b"\n", 1)[1] for p in out.split(b"\x01")[1:]}
say(Q, "c exit", code)
for i, name in enumerate([*TEXT, *ORDER]): say(Q, "c " + name, repr(got.get(str(i).encode(), b"nothing"))[1:])
