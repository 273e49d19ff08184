from common import *
Q = "q72"
init()
F = [0, 0x80000000, 1, 0x80000001, 0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc12345]
D = [0, 1 << 63, 1, 1 << 63 | 1, 0x0010000000000000, 0x3ff << 52, 0xbff << 52, 0x7fefffffffffffff, 0x7ff << 52, 0xfff << 52, 0x7ff0000000000001, 0xfff8000012345678]
H = [0, 0x8000, 1, 0x8001, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0xfe12]
pairs = lambda v, s=5: [(a, b) for i, a in enumerate(v) for b in v[i % s::s]]
G = "atom.global.{} d, [%i], b; ld.global.{} e, [%i]"
S = ".shared .align 8 .b64 s[64]; .reg .b32 %x; mov.u32 %x, s; mad.lo.u32 %x, %t, 8, %x; st.shared.{1} [%x], a; atom.shared.{0} d, [%x], b; ld.shared.{1} e, [%x]"
# a) Each operation on edge values, one lane an address: what is returned and what is stored, in global and shared memory.
# Guess: f32 add flushes subnormals in global memory and keeps them in shared memory (a CAS loop there); NaN results are
# 0x7fffffff; f64 keeps subnormals; inc gives 0 from the bound on, dec of 0 gives the bound; f16x2 halves are independent.
# Met in histograms, sums of losses, ring buffers.
rows = []
for form in (G, S):
    rows += [(form.format(o, "b32"), "rr=rr", v) for o, v in (("add.f32", pairs(F)), ("add.noftz.f16x2", [(a | c << 16, b | d << 16) for (a, b), (c, d) in zip(pairs(H), pairs(H)[7:])]), ("inc.u32", [(a, b) for b in (0, 1, 7, 0xffffffff) for a in (0, 1, 6, 7, 8, 0xfffffffe, 0xffffffff)]), ("dec.u32", [(a, b) for b in (0, 1, 7, 0xffffffff) for a in (0, 1, 6, 7, 8, 0xfffffffe, 0xffffffff)]), ("min.s32", [(0x80000000, 0x7fffffff), (0xffffffff, 0)]), ("max.u32", [(0x80000000, 0x7fffffff), (0xffffffff, 0)]))]
    rows += [(form.format(o, "b64"), "ll=ll", v) for o, v in (("add.f64", pairs(D)), ("min.s64", [(1 << 63, 2**63 - 1), (2**64 - 1, 0)]), ("max.u64", [(1 << 63, 2**63 - 1), (2**64 - 1, 0)]), ("exch.b64", [(1, 2**64 - 1)]), ("add.u64", [(2**64 - 1, 1), (2**63, 2**63)]), ("and.b64", [(0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0)]), ("xor.b64", [(0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0)]))]
    rows += [(form.format("add.noftz.f16", "b16"), "hh=hh", pairs(H)), (form.replace("b; ", "b, c; ").format("cas.b16", "b16"), "hh=hhh", [(5, 5, 9), (5, 6, 9), (0x8000, 0, 1), (0xffff, 0xffff, 0)]), (form.replace("b; ", "b, c; ").format("cas.b32", "b32"), "rr=rrr", [(5, 5, 9), (5, 6, 9), (0x80000000, 0, 1), (0x7fc00000, 0x7fc00000, 0)]), (form.replace("b; ", "b, c; ").format("cas.b64", "b64"), "ll=lll", [(5, 5, 9), (5, 5 + 2**32, 9), (2**64 - 1, 2**64 - 1, 0)])]
asm(Q, rows, prefix="a ", chunk=24)
# b) Many lanes on one address: final value and the set of returned values, by red and atom, partial masks, and several warps.
# Guess: integer results are exact whatever the order; f32 sums of one warp come in lane order; exch returns a chain in which
# every value appears once. Met everywhere.
ONE = {"inc bound 6": ("atomicInc(p, 6)", 0), "dec bound 6": ("atomicDec(p, 6)", 3), "inc bound 0": ("atomicInc(p, 0)", 9), "exch lane": ("atomicExch(p, l)", 777), "sub": ("atomicSub(p, l + 1)", 5), "min signed": ("(unsigned)atomicMin((int *)p, (int)(l * 0x10000000u))", 5), "max signed": ("(unsigned)atomicMax((int *)p, (int)(l * 0x10000000u))", 5), "or": ("atomicOr(p, 1u << l)", 0), "and": ("atomicAnd(p, ~(1u << l))", 0xffffffff), "xor": ("atomicXor(p, 0x11u << l)", 0), "cas from lane to lane + 1": ("atomicCAS(p, l, l + 1)", 0), "add 0": ("atomicAdd(p, 0)", 12), "add_block": ("atomicAdd_block(p, 2)", 1), "add_system": ("atomicAdd_system(p, 2)", 1), "max_block": ("atomicMax_block(p, l)", 1)}
def contended():
    src = "".join(f'extern "C" __global__ void k{2 * i + s}(unsigned *o, unsigned *g, unsigned mask, unsigned start) {{ unsigned l = threadIdx.x & 31; __shared__ unsigned sh; unsigned *p = {"&sh" if s else "g"}; if (threadIdx.x == 0) *p = start; __syncthreads(); if (mask >> l & 1) o[1 + threadIdx.x] = {ex}; __syncthreads(); if (threadIdx.x == 0) o[0] = *p; }}\n' for i, (ex, _) in enumerate(ONE.values()) for s in (0, 1))
    m = load(compile_cuda(src))
    for i, (name, (_, start)) in enumerate(ONE.items()):
        for s in (0, 1):
            for mask in (0xffffffff, 0x0f0f1248):
                o = alloc(512); launch(function(m, f"k{2 * i + s}"), 1, 32, (o, alloc(64), c_uint(mask), c_uint(start))); r = u32(get(o, 132))
                got = [r[1 + l] for l in range(32) if mask >> l & 1]
                say(Q, f"b {name} {'shared' if s else 'global'} mask {mask:08x}", f"final {r[0]:x} returned " + (compact(sorted(got))[:200] if "cas" not in name and "exch" not in name else f"{len(set(got + [r[0]]))} different"))
guarded(Q, "b", contended)
# c) libcu++ atomic_ref and bf16/half atomicAdd of the headers at the edges (CAS loops below 9.0). Guess: fetch_max(NaN) keeps
# the number as fmaxf does, or never stores as x > NaN is false; -0 against +0 is left; bf16x2 rounds to nearest even. Met in
# portable C++ code.
CC = {"float fetch_max": ("cuda::atomic_ref<float> r(*(float *)p); float f = r.fetch_max(__uint_as_float(b)); d = __float_as_uint(f);", F), "float fetch_min": ("cuda::atomic_ref<float> r(*(float *)p); float f = r.fetch_min(__uint_as_float(b)); d = __float_as_uint(f);", F), "float fetch_add": ("cuda::atomic_ref<float, cuda::thread_scope_block> r(*(float *)p); float f = r.fetch_add(__uint_as_float(b)); d = __float_as_uint(f);", F), "float fetch_sub": ("cuda::atomic_ref<float> r(*(float *)p); float f = r.fetch_sub(__uint_as_float(b)); d = __float_as_uint(f);", F), "atomicAdd bf162": ("__nv_bfloat162 v = *(__nv_bfloat162 *)&b, x = atomicAdd((__nv_bfloat162 *)p, v); d = *(unsigned *)&x;", [f >> 16 | (f ^ 0x8000) & 0xffff0000 for f in F]), "atomicAdd bf16 (low half)": ("unsigned short u = b; __nv_bfloat16 x = atomicAdd((__nv_bfloat16 *)p, *(__nv_bfloat16 *)&u); d = *(unsigned short *)&x;", [f >> 16 | 0x12340000 for f in F]), "atomicAdd half2": ("__half2 v = *(__half2 *)&b, x = atomicAdd((__half2 *)p, v); d = *(unsigned *)&x;", [h | (h ^ 0x3c00) << 16 for h in H]), "atomicAdd half at offset 2": ("unsigned short u = b; __half x = atomicAdd((__half *)p + 1, *(__half *)&u); d = *(unsigned short *)&x;", [h | h << 16 for h in H]), "compare_exchange short": ("short e = (short)b; cuda::atomic_ref<short> r(*(short *)p); d = r.compare_exchange_strong(e, (short)77) ? 1 : 0x100000 | (unsigned short)e;", F), "fetch_add char": ("cuda::atomic_ref<signed char> r(*((signed char *)p + 1)); d = (unsigned)(int)r.fetch_add((signed char)(b + 100));", F)}
def cpp():
    src = "#include <cuda/atomic>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n" + "".join(f'extern "C" __global__ void k{i}(unsigned *o, const unsigned *in) {{ unsigned t = threadIdx.x, b = in[2 * t + 1], d = 0; unsigned *p = o + 2 * t; *p = in[2 * t]; __threadfence(); {body} o[2 * t + 1] = d; }}\n' for i, (body, _) in enumerate(CC.values()))
    m = load(compile_cuda(src))
    for i, (name, (_, v)) in enumerate(CC.items()):
        c = pairs(v); o = alloc(8 * len(c)); launch(function(m, f"k{i}"), 1, len(c), (o, device(b"".join(struct.pack("<2I", *x) for x in c)))); r = u32(get(o, 8 * len(c)))
        say(Q, f"c {name}", " ".join(f"{a:08x},{b:08x}>{r[2 * j + 1]:x},{r[2 * j]:08x}" for j, (a, b) in enumerate(c)))
guarded(Q, "c", cpp)
