from common import *
Q = "q92"
init()
PRE = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
HELP = 'template <class T> __device__ unsigned long long raw(T v) { static_assert(sizeof(T) <= 8, "size"); unsigned long long x = 0; memcpy(&x, &v, sizeof(T)); return x; }\n'
def table(part, rows, setup, args, head=PRE, options=(), width=8):
    """Rows (name, expression): its bits for each of `args` (two words of 64 bits, `p` and `q`)."""
    def main():
        src = head + HELP + "".join(f'extern "C" __global__ void k{i}(unsigned long long *o, const unsigned long long *in) {{ unsigned t = threadIdx.x; unsigned long long p = in[2 * t], q = in[2 * t + 1]; {setup} o[t] = raw({e}); }}\n' for i, (_, e) in enumerate(rows))
        m = load(compile_cuda(src, options=options)); d = device(b"".join(struct.pack("<2Q", *[v & 2**64 - 1 for v in a]) for a in args)); o = alloc(8 * len(args))
        for i, (name, _) in enumerate(rows):
            launch(function(m, f"k{i}"), 1, len(args), (o, d)); say(Q, f"{part} {name}", " ".join(f"{v:x}" for v in u64(get(o, 8 * len(args)))))
    guarded(Q, part, main)
# a) Packed halves and bfloat16 by the headers' operators: comparisons as masks and as booleans, minima with NaN, complex multiply-add, saturating forms, division and
# increments, swaps of halves, and mixed orders. Guess: *_mask gives ffff for true; hbeq2 needs both halves; unordered forms are true with NaN; hmax_nan gives 7fff; bf16 division goes
# through float and rounds once; hcmadd is four fused steps; operator++ adds 1.0. Met by mixed-precision kernels written against cuda_fp16.h.
HH = [0x3c003c00, 0x80000000, 0x7c00fc00, 0x7e013c00, 0x00013555, 0x7bff4248, 0xc5003801, 0x3c01bbff]
H2 = [(HH[i], HH[(i * 3 + j) % 8]) for i in range(8) for j in (0, 1, 5)]
OPS = [("heq2_mask", "__heq2_mask(x, y)"), ("hltu2_mask", "__hltu2_mask(x, y)"), ("hneu2_mask", "__hneu2_mask(x, y)"), ("hge2", "__hge2(x, y)"), ("hgtu2", "__hgtu2(x, y)"), ("hbeq2, hbneu2, hblt2, hbgeu2", "(int)__hbeq2(x, y) + 2 * (int)__hbneu2(x, y) + 4 * (int)__hblt2(x, y) + 8 * (int)__hbgeu2(x, y)"), ("hmin2", "__hmin2(x, y)"), ("hmax2_nan", "__hmax2_nan(x, y)"), ("hcmadd", "__hcmadd(x, y, x)"), ("hfma2_relu", "__hfma2_relu(x, y, x)"), ("h2div", "__h2div(x, y)"), ("lows2", "__lows2{n}(x, y)"), ("highs lows", "__halves2{h}(__high2{h}(x), __low2{h}(y))"), ("lowhigh swap", "__lowhigh2highlow(x)"), ("operator /= then ++", "(z = x, z /= y, ++z, z)"), ("hneg2 habs2 chain", "__hsub2(__hneg2(x), __habs2(y))"), ("hisnan2", "__hisnan2(x)"), ("h2exp2 of the low", "h2exp2(x)"), ("hmul2_sat", "__hmul2_sat(x, y)"), ("hfma2_sat", "__hfma2_sat(x, y, y)")]
for name, ty, one, conv in (("half2", "__half2", "", "half2"), ("bfloat162", "__nv_bfloat162", "", "bfloat162")):
    fill = {"{n}": "" if name == "half2" else "", "{h}": "half" if name == "half2" else "bfloat16"}
    rows = []
    for k, e in OPS[::1 if name == "half2" else 2]:
        e = e.replace("__lows2{n}", "__lows2half2" if name == "half2" else "__lows2bfloat162").replace("__halves2{h}", "__halves2half2" if name == "half2" else "__halves2bfloat162").replace("__high2{h}", "__high2half" if name == "half2" else "__high2bfloat16").replace("__low2{h}", "__low2half" if name == "half2" else "__low2bfloat16")
        rows.append((f"{name} {k}", e))
    table("a", rows, f"unsigned pa = p, qa = q; {ty} x = *({ty} *)&pa, y = *({ty} *)&qa, z; (void)z;", H2)
# b) 64-bit atomics in shapes beside one lane or one address: eight addresses for a warp, shared by a generic pointer, half of the lanes at a time, host memory that is mapped, managed memory, a CAS loop that adds doubles or
# keeps a pair, system scope; sum of what was returned and the final words. Guess: integer results are independent of order; a float sum of small integers is exact; managed and mapped memory behave
# as device memory; a CAS loop by all lanes ends. Met by hash tables, argmin with an index and reference counts.
AT = {
 "add to 8 addresses by lane % 8": "if (t < 32) o[t] = atomicAdd(g + (l & 7), (U)l << 33);",
 "max of keys with an index, by two warps": "atomicMax(g, (U)(l * 37 % 32) << 32 | t); __syncthreads(); o[t] = g[0];",
 "min of signed keys": "atomicMin((long long *)g, (long long)(l * 11 % 32) - 16); __syncthreads(); o[t] = g[0];",
 "or of one bit each, returned bits counted": "U r = atomicOr(g, 1ull << t); o[t] = __popcll(r);",
 "and, each clears its bit": "U r = atomicAnd(g + 9, ~(1ull << t)); o[t] = 64 - __popcll(r);",
 "xor by two warps with the same bits": "atomicXor(g, 5ull << l); __syncthreads(); o[t] = g[0];",
 "exchange: a chain, xor of all returned": "U r = atomicExch(g, (U)t + 1); o[t] = r; __syncthreads(); if (t == 0) { U x = 0; for (int i = 0; i < 64; i++) x ^= o[i]; x ^= g[0]; for (int i = 1; i < 64; i++) o[i] = x; o[0] = x; }",
 "cas loop adds doubles": "U a = g[1], b; do { b = a; a = atomicCAS(g + 1, b, (U)__double_as_longlong(__longlong_as_double(b) + l + 1)); } while (a != b); __syncthreads(); o[t] = g[1];",
 "cas loop keeps the smallest pair": "U k = (U)((t * 29 + 7) % 64) << 32 | t, a = g[9], b; while (k < a) { b = a; a = atomicCAS(g + 9, b, k); if (a == b) break; } __syncthreads(); o[t] = g[9];",
 "atomicAdd of doubles to 4 addresses, system scope": "atomicAdd_system((double *)g + (l & 3), (double)(l + 1)); __syncthreads(); o[t] = g[t & 3];",
 "shared by a generic pointer chosen at run time": "__shared__ U s[2]; U *p = n ? s : g; if (t < 2) s[t] = 100; __syncthreads(); atomicAdd(p + (t & 1), (U)t << 32); __syncthreads(); o[t] = s[t & 1];",
 "shared: odd lanes add, even lanes subtract": "__shared__ U s; if (t == 0) s = 1ull << 40; __syncthreads(); if (l & 1) atomicAdd(&s, (U)l); else atomicAdd(&s, (U)0 - l); __syncthreads(); o[t] = s;",
 "shared: signed maximum of negatives": "__shared__ long long s; if (t == 0) s = -1ll << 62; __syncthreads(); atomicMax(&s, (long long)t - 1000); __syncthreads(); o[t] = s;",
 "shared: double sum by block scope": "__shared__ double s; if (t == 0) s = 0.5; __syncthreads(); atomicAdd_block(&s, (double)t); __syncthreads(); o[t] = __double_as_longlong(s);",
 "unsigned long long at an address of 8 in a structure": "struct S { int a; int b; U c; }; S *p = (S *)g; atomicAdd(&p->c, 3ull); atomicAdd(&p->b, 1); __syncthreads(); o[t] = p->c + ((U)p->b << 32);",
 "release add, acquire load": "U r; asm volatile(\"atom.release.gpu.global.add.u64 %0, [%1], %2;\" : \"=l\"(r) : \"l\"(g), \"l\"((U)2) : \"memory\"); __syncthreads(); asm volatile(\"ld.acquire.gpu.global.u64 %0, [%1];\" : \"=l\"(r) : \"l\"(g) : \"memory\"); o[t] = r;",
}
def atomics():
    m = load(compile_cuda("typedef unsigned long long U;\n" + "".join(f'extern "C" __global__ void k{i}(U *o, U *g, int n) {{ unsigned t = threadIdx.x, l = t & 31; (void)l; {b} }}\n' for i, b in enumerate(AT.values()))))
    hp, man = make("cuMemHostAlloc", 4096, 2), c_uint64(); ok("cuMemAllocManaged", byref(man), 4096, 1)
    start = struct.pack("<16Q", *[0 if i != 9 else 2**64 - 1 for i in range(16)])
    for i, name in enumerate(AT):
        for where, p in (("device", alloc(128)), ("mapped", hp.value), ("managed", man.value)):
            if where != "device" and (name.startswith("shared") or i % 5): continue
            if where == "device": put(p, start)
            else: ctypes.memmove(p, start, 128)
            o = alloc(512); launch(function(m, f"k{i}"), 1, 64, (o, p, c_int(1))); r = u64(get(o, 512)); end = u64(get(p, 80))
            shown = f"{len(set(r))} different, sum {sum(r) & 2**64 - 1:x}" if len(set(r)) > 1 else f"all {r[0]:x}"
            say(Q, f"b {where} {name}", shown + " memory " + " ".join(f"{v:x}" for v in end if v))
guarded(Q, "b", atomics)
# c) The standard library on the device, and options of compilation beside fast math: complex products and quotients with infinities, powers and roots of complex numbers, numeric helpers (midpoint, lerp, gcd, bit operations), and
# divisions, roots and fused products with -ftz, -prec-div=false, -prec-sqrt=false, -fmad=false one at a time. Guess: complex operators follow C's Annex G; midpoint does not overflow; -prec-div=false is div.full; -fmad=false
# separates the roundings; ftz flushes operands and results. Met by signal processing with cuda::std::complex and by builds with single flags.
F = lambda a, b=0.0: (bits(a), bits(b)); INF, NAN = float("inf"), float("nan")
CX = [(bits(a) | bits(b) << 32, bits(c) | bits(d) << 32) for a, b, c, d in ((1.5, -2.25, 3.0, 0.7), (INF, 1.0, 0.0, 2.0), (INF, NAN, 1.0, 1.0), (NAN, NAN, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0), (3e38, 3e38, 3e38, -1e38), (-0.0, -0.0, 1.0, -1.0), (1e-40, 2e-40, 1e-3, 1e2))]
table("c", [(k, e) for k, e in {"complex product": "a * b", "complex quotient": "a / b", "complex sqrt": "cuda::std::sqrt(a)", "complex exp": "cuda::std::exp(a)", "complex log": "cuda::std::log(a)", "complex abs, arg": "cuda::std::complex<float>(cuda::std::abs(a), cuda::std::arg(a))", "complex norm, equality": "cuda::std::complex<float>(cuda::std::norm(a), a == b ? 1.0f : 0.0f)", "complex proj, conj": "cuda::std::proj(cuda::std::conj(a))", "complex pow": "cuda::std::pow(a, b)", "complex tanh": "cuda::std::tanh(b)"}.items()], "cuda::std::complex<float> a(__uint_as_float((unsigned)p), __uint_as_float((unsigned)(p >> 32))), b(__uint_as_float((unsigned)q), __uint_as_float((unsigned)(q >> 32)));", CX, "#include <cuda/std/complex>\n")
NI = [(0, 0), (12, 18), (2**64 - 1, 2**63), (2**63, 2**63 + 2), (0x0123456789abcdef, 13), (2**31, 2**31 - 1), (2**63 - 1, 2**64 - 3), (48, 2**64 - 36)]
table("c", [(k, e) for k, e in {"midpoint of signed, of unsigned int": "(long long)cuda::std::midpoint((long long)p, (long long)q) ^ cuda::std::midpoint((unsigned)p, (unsigned)q)", "gcd of unsigned": "cuda::std::gcd(p, q)", "lcm of short": "cuda::std::lcm((unsigned)(p & 255), (unsigned)(q & 255))", "countl_zero, countr_one, bit_width": "cuda::std::countl_zero(p) * 10000 + cuda::std::countr_one(p) * 100 + cuda::std::bit_width(p)", "rotl by q": "cuda::std::rotl(p, (int)q % 100)", "rotr of 16 bits": "cuda::std::rotr((unsigned short)p, (int)(q & 63))", "bit_floor, has_single_bit": "cuda::std::bit_floor(p) + cuda::std::has_single_bit(q)", "popcount of 8 bits": "cuda::std::popcount((unsigned char)p)", "byte_perm of both": "__byte_perm((unsigned)p, (unsigned)q, 0x7362)", "mul64hi, umul64hi": "(unsigned long long)__mul64hi(p, q) ^ __umul64hi(p, q)", "hadd, rhadd, uhadd": "(unsigned)__hadd((int)p, (int)q) + ((unsigned long long)(unsigned)__rhadd((int)p, (int)q) << 32) + __uhadd((unsigned)p, (unsigned)q)", "sad, usad": "__sad((int)p, (int)q, 5u) ^ __usad((unsigned)p, (unsigned)q, 7u)", "llabs, llmin": "llabs((long long)p) ^ llmin((long long)p, (long long)q)", "funnelshift lc by q": "__funnelshift_lc((unsigned)p, (unsigned)(p >> 32), (unsigned)q)", "128-bit product": "(unsigned long long)(((unsigned __int128)p * q) >> 64)", "128-bit quotient": "(unsigned long long)((((unsigned __int128)q << 64) | p) / (p % 1000 + 3))", "128-bit to double": "(double)(((__int128)q << 40) + p)"}.items()], "", NI, "#include <cuda/std/bit>\n#include <cuda/std/numeric>\n", ("--device-int128",))
FL = [F(a, b) for a, b in ((1.0, 3.0), (1e-39, 3e-3), (2e38, 7e-1), (1e-30, 1e-12), (5.0, 3e38), (INF, 2.0), (0.7, -1e-41), (3.3333333, 1.1111111), (2.0, 1.7e38), (-1.0, 0.3))]
for flag in ("--ftz=true", "--prec-div=false", "--prec-sqrt=false", "--fmad=false", ""):
    table("c", [(f"{flag or 'no flag'}: {k}", e) for k, e in {"a / b": "a / b", "1 / a": "1.0f / a", "sqrt": "sqrtf(fabsf(a))", "a * b + a": "a * b + a", "double b / a": "(double)b / a", "a * a - b * b": "a * a - b * b"}.items()], "float a = __uint_as_float((unsigned)p), b = __uint_as_float((unsigned)q);", FL, "", (flag,) if flag else ())
