from common import *
Q = "q80"
init()
# a) Divergence and where lanes meet: activemask and elect after loops of different trips, breaks out of nested loops, switches
# in loops, short-circuit conditions, ternaries with calls, early return of inlined and called functions. Guess: lanes meet
# at the immediate post-dominator, so behind a loop the mask is full; sides run in the order of the compiler's fall-through;
# lanes that returned are missing. Met by opportunistic warp code (atomics aggregated by activemask).
HEAD = '''#define MARK(i) do { unsigned m_ = __activemask(); if (__ffs(m_) - 1 == l) { unsigned n_ = atomicAdd(&cnt, 1); if (n_ < 60) { w[n_] = (i); a[n_] = m_; } } } while (0)
__device__ unsigned cnt; __device__ volatile unsigned w[64], a[64]; __device__ __noinline__ unsigned work(unsigned n) { unsigned x = n; for (int i = 0; i < 12; i++) x = x * 1664525u + 1013904223u; return x; }
__device__ __noinline__ unsigned early(unsigned l, unsigned z) { for (unsigned i = 0; i < 5; i++) { if ((l + z) % 6 == i) return i * 3; MARK(i); } MARK(9); return 77; }
__device__ __forceinline__ unsigned find(unsigned l, unsigned z) { unsigned i = 0; while (true) { if (work(i + l + z) % 4 == 0) return i; if (i++ > 5) return 99; } }
'''
D = {
 "loop with trips by popcount, then mark": "for (int i = 0; i < __popc(l + z); i++) s += work(i); MARK(1); s ^= 1; MARK(2);",
 "break out of two loops by goto": "for (unsigned i = 0; i < 4; i++) for (unsigned j = 0; j < 4; j++) { if (i * 4 + j == (l + z) % 9) goto out; s += work(j); } MARK(1); out: MARK(2);",
 "switch in a loop with continue and break": "for (unsigned i = 0; i < 3; i++) { switch ((l + z + i) % 4) { case 0: continue; case 1: s += work(1); MARK(10 + i); break; case 2: if (l & 8) break; s += work(2); MARK(20 + i); default: s += work(3); MARK(30 + i); } MARK(40 + i); } MARK(50);",
 "while with a state machine": "unsigned st = (l + z) % 3; for (int n = 0; n < 5 && st != 9; n++) { if (st == 0) { s += work(n); MARK(10 + n); st = 1; } else if (st == 1) { s += work(n + 1); MARK(20 + n); st = l & 4 ? 2 : 9; } else { MARK(30 + n); st = 0; } } MARK(50);",
 "ternary with calls": "s = (l + z) & 1 ? work(l) : (l & 2 ? work(l + 1) + 1 : l); MARK(1); s += (l + z < 9 && work(s) & 1) || (l > 25 && work(s + 1) & 1); MARK(2);",
 "a called function with returns in a loop": "s = early(l, z); MARK(50);",
 "an inlined search": "s = find(l, z); MARK(50); if (s == 99) return; MARK(51);",
 "lanes return one third at a time, marks between": "for (unsigned i = 0; i < 3; i++) { if ((l + z) % 3 == i) { s += work(i); MARK(10 + i); q[l] = s; return; } MARK(i); } MARK(50);",
 "nested ifs without else, empty joins": "if (l + z > 3) { if (l & 1) { s += work(1); MARK(1); if (l > 20) { s += work(2); MARK(2); } } MARK(3); } MARK(4);",
 "do-while that half of the lanes enter twice": "unsigned n = 0; do { s += work(n); MARK(n); n++; } while (n < 1 + ((l + z) & 1) && s != 12345); MARK(50);",
 "loop with an inner loop of lane trips and syncwarp behind": "for (unsigned i = 0; i < 2; i++) { for (unsigned j = 0; j < ((l + z) & 3); j++) { s += work(j); MARK(10 * i + j); } __syncwarp(); MARK(40 + i); }",
 "two breaks with different code behind": "unsigned i = 0; for (; i < 6; i++) { s += work(i); if ((l + z) % 7 == i) { MARK(10 + i); break; } if ((l * 3 + z) % 8 == i) { s += work(9); break; } } MARK(50); if (i == 6) MARK(51);",
}
def divergence():
    m = load(compile_cuda(HEAD + "".join(f'extern "C" __global__ void k{i}(volatile unsigned *in, unsigned *q) {{ unsigned l = threadIdx.x & 31, z = in[l], s = 0; {b} q[l] = s; }}\n' for i, b in enumerate(D.values())) + 'extern "C" __global__ void take(unsigned *o) { o[0] = cnt; for (int i = 0; i < 60; i++) o[1 + i] = w[i], o[61 + i] = a[i]; cnt = 0; }'))
    for i, key in enumerate(D):
        for block in (32, 21):
            q, o = alloc(128), alloc(512); launch(function(m, f"k{i}"), 1, block, (alloc(128), q)); launch(function(m, "take"), 1, 1, (o,)); r = u32(get(o, 484)); n = min(r[0], 60)
            say(Q, f"a {key}, {block} threads", f"{n} marks: " + " ".join(f"{x}:{y:x}" for x, y in zip(r[1:1 + n], r[61:61 + n])) + f" sum {sum(u32(get(q, 128))) & 0xffffffff:08x}")
guarded(Q, "a", divergence)
# b) Special registers and facts of time in ordinary, cooperative and graph launches with grids of three dimensions; nanosleep,
# fences, prefetch, discard, cache policies. Guess: %gridid 64 bits wide and growing; %nctaid as launched; clusters of one
# (%cluster_nctaid is 1) only for sm_90; nanosleep(1000) takes less than 2 us times two; discard keeps or zeroes nothing that
# was written after it. Met by profiling code in kernels.
REGS = ["tid.x", "tid.y", "tid.z", "ntid.x", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "lanemask_lt", "dynamic_smem_size", "total_smem_size", "aggr_smem_size"]
def special():
    for name in ("aggr_smem_size",):
        try:
            load((PTX_HEAD.format("8.1", "sm_80") + f".visible .entry k() {{ .reg .b32 %v; mov.u32 %v, %{name}; ret; }}").encode())
        except LoadError as e:
            say(Q, f"b %{name} for sm_80", "refused " + str(e).split()[1]); REGS.remove(name)
    body = "".join(f"mov.u32 %v, %{n}; st.global.u32 [%o+{4 * i}], %v;\n" for i, n in enumerate(REGS))
    n = len(REGS)
    ptx = PTX_HEAD.format("8.1", "sm_80") + f""".visible .entry k(.param .u64 out, .param .u32 odd) {{ .reg .b32 %v, %i, %a, %b, %c; .reg .b64 %o; .reg .pred p; ld.param.u64 %o, [out];
mov.u32 %i, %ctaid.z; mov.u32 %a, %nctaid.y; mov.u32 %b, %ctaid.y; mad.lo.u32 %i, %i, %a, %b; mov.u32 %a, %nctaid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %i, %i, %a, %b;
mov.u32 %a, %ntid.z; mov.u32 %b, %tid.z; mad.lo.u32 %i, %i, %a, %b; mov.u32 %a, %ntid.y; mov.u32 %b, %tid.y; mad.lo.u32 %i, %i, %a, %b; mov.u32 %a, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %i, %i, %a, %b;
mad.wide.u32 %o, %i, {4 * n}, %o; and.b32 %c, %i, 3; ld.param.u32 %v, [odd]; setp.eq.u32 p, %c, %v; @p bra other;
{body} bra done; other: {body} done: ret; }}"""
    f = function(load(ptx.encode()))
    for grid, block, sh in (((2, 3, 2), (3, 2, 2), 100), ((1, 1, 3), (17, 1, 3), 0)):
        t = 1
        for v in grid + block: t *= v
        seen = {}
        for way in ("launch", "cooperative", "graph"):
            o = alloc(4 * n * t); a = [c_uint64(o), c_uint(2)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a])
            if way == "launch": r = cu("cuLaunchKernel", f, *grid, *block, sh, 0, p, None)
            elif way == "cooperative": r = cu("cuLaunchCooperativeKernel", f, *grid, *block, sh, 0, p)
            else:
                s = make("cuStreamCreate", 1); ok("cuStreamBeginCapture_v2", s, 0); r = cu("cuLaunchKernel", f, *grid, *block, sh, s, p, None); g = c_void_p(); ok("cuStreamEndCapture", s, byref(g)); e = make("cuGraphInstantiateWithFlags", g, 0); ok("cuGraphLaunch", e, s)
            say(Q, f"b grid {grid} block {block} {way}", [err(r), err(sync())]); seen[way] = u32(get(o, 4 * n * t))
        for i, name in enumerate(REGS):
            v = [seen["launch"][n * j + i] for j in range(t)]
            say(Q, f"b grid {grid} block {block} %{name}", compact(v)[:300] + ("" if all([seen[w][n * j + i] for j in range(t)] == v for w in seen) else " differs in a graph or cooperatively"))
guarded(Q, "b registers", special)
T = {
 "nanosleep of 1000 and 0: the timer does not fall, below 50 ms": 'unsigned long long a, b; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(a)); __nanosleep(1000); __nanosleep(0); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(b)); o[0] = b >= a; o[1] = b - a < 50000000;',
 "clock64 grows within a thread, in a loop": "long long p = clock64(); int bad = 0; for (int i = 0; i < 100; i++) { long long n = clock64(); bad += n <= p; p = n; } o[0] = bad;",
 "globaltimer does not fall, lanes of a warp read the same": 'unsigned long long a; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(a)); o[threadIdx.x] = __all_sync(~0u, a == __shfl_sync(~0u, a, 0)); unsigned lo; asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(lo)); o[32 + threadIdx.x] = lo - (unsigned)(a >> 32) <= 1;',
 "clock is the same for all lanes": "unsigned c = clock(); o[threadIdx.x] = __all_sync(~0u, c == __shfl_sync(~0u, c, 3));",
 "prefetch forms": 'asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2 [%0+128]; prefetch.global.L2::evict_last [%0]; prefetch.global.L2::evict_normal [%0]; prefetch.L1 [%0]; prefetchu.L1 [%0]; applypriority.global.L2::evict_normal [%0], 128;" :: "l"((size_t)(o + 64) & ~127ull) : "memory"); o[0] = 1;',
 "discard.L2 of a line, then a store and a load": 'size_t p = (size_t)(o + 128) & ~127ull; asm volatile("discard.global.L2 [%0], 128; st.global.u32 [%0], %1;" :: "l"(p), "r"(42) : "memory"); o[0] = *(unsigned *)p;',
 "createpolicy forms, loads and stores with them": 'unsigned long long p, q, r; asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5; createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %1; createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %2, [%3], 128, 256;" : "=l"(p), "=l"(q), "=l"(r) : "l"(o + 32)); asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2; st.global.L2::cache_hint.v4.u32 [%0+16], {%1, %1, %1, %1}, %3;" :: "l"(o), "r"(7), "l"(p), "l"(q) : "memory"); unsigned v; asm volatile("ld.global.L2::cache_hint.L2::128B.u32 %0, [%1], %2;" : "=r"(v) : "l"(o), "l"(r) : "memory"); asm volatile("red.global.add.L2::cache_hint.u32 [%0+4], %1, %2;" :: "l"(o), "r"(v), "l"(q) : "memory");',
 "fences and cached loads of all kinds": 'unsigned v, s = 0; asm volatile("st.global.wt.u32 [%0], 5; membar.cta; membar.gl; membar.sys; fence.acq_rel.cta; fence.sc.gpu; fence.acq_rel.sys; st.release.gpu.global.u32 [%0+4], 6; st.relaxed.sys.global.u32 [%0+8], 7; st.global.cs.u32 [%0+12], 8; st.global.cg.u32 [%0+16], 9;" :: "l"(o) : "memory"); ' + " ".join(f'asm volatile("ld.{k}.u32 %0, [%1+{4 * j}];" : "=r"(v) : "l"(o) : "memory"); s = s * 10 + v;' for j, k in enumerate(("acquire.gpu.global", "relaxed.cta.global", "global.cv", "global.lu", "global.cs"))) + " o[5] = s;",
 "ld.global.nc with eviction, ldu, pragma nounroll": 'unsigned v, s; asm volatile("ld.global.nc.L1::evict_last.u32 %0, [%1]; ldu.global.u32 %2, [%1+4];" : "=r"(v), "+l"(in), "=r"(s)); o[0] = v + s * 10; unsigned n = 0;\n#pragma unroll 1\nfor (int i = 0; i < 9; i++) n = n * 3 + i;\no[1] = n;',
 "cp.async with ignore-src by lane, zero fill of 16": '__shared__ __align__(16) unsigned s[128]; unsigned l = threadIdx.x; for (int i = 0; i < 4; i++) s[4 * l + i] = 0xee; __syncwarp(); unsigned a = (unsigned)__cvta_generic_to_shared(s + 4 * l); asm volatile("{ .reg .pred p; setp.lt.u32 p, %2, 3; cp.async.cg.shared.global [%0], [%1], 16, p; }" :: "r"(a), "l"(in), "r"(l % 5) : "memory"); asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory"); __syncwarp(); o[l] = s[4 * l + 1]; asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(a + 8), "l"(in), "r"(l % 9) : "memory"); asm volatile("cp.async.wait_all;" ::: "memory"); o[32 + l] = s[4 * l + 3];',
 "cp.async of all lanes to one place, in two groups": '__shared__ __align__(16) unsigned s[8]; unsigned l = threadIdx.x; unsigned a = (unsigned)__cvta_generic_to_shared(s); asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(in + (l & 3)) : "memory"); asm volatile("cp.async.commit_group;" ::: "memory"); asm volatile("cp.async.wait_group 0;" ::: "memory"); __syncwarp(); o[l] = (s[0] >= 11 && s[0] <= 14);',
}
def times():
    for key, b in T.items():
        def main():
            f = build('extern "C" __global__ void k(unsigned *o, const unsigned *in) { ' + b + ' }'); o = alloc(1024); launch(f, 1, 32 if "threadIdx" in b else 1, (o, device(struct.pack("<64I", *range(11, 75))))); say(Q, f"b {key}", compact(u32(get(o, 256)))[:500])
        guarded(Q, f"b {key}", main)
guarded(Q, "b times", times)
# c) Tensor cores on special values, by hand-placed fragments: one NaN or infinity in A, B or C, products that cancel or overflow,
# subnormals, -0, for m16n8k16 f16 and bf16, m16n8k8 tf32 and m8n8k4 f64. Guess: NaN results are
# 0x7fff (f16) and 0x7fffffff (f32); infinity times zero is NaN in its row or column only; f16 accumulators round once at
# the end; tf32 ignores the low 13 bits; f64 is fma by fma in order of k. Met in mixed-precision training with overflow.
MMA = {"m16n8k16.f32.f16": ("f32.f16.f16.f32", "m16n8k16", 4, 2, 4), "m16n8k16.f16.f16": ("f16.f16.f16.f16", "m16n8k16", 4, 2, 2), "m16n8k16.f32.bf16": ("f32.bf16.bf16.f32", "m16n8k16", 4, 2, 4), "m16n8k8.f32.tf32": ("f32.tf32.tf32.f32", "m16n8k8", 4, 2, 4)}
FMT = {"f16": dict(one=0x3c003c00, nan=0x3c007c01, inf=0x3c007c00, zero=0x3c000000, big=0x7bff7bff, tiny=0x00010001, minus=0xbc00bc00, nz=0x80008000), "bf16": dict(one=0x3f803f80, nan=0x3f807f81, inf=0x3f807f80, zero=0x3f800000, big=0x7f7f7f7f, tiny=0x00010001, minus=0xbf80bf80, nz=0x80008000), "tf32": dict(one=0x3f800000, nan=0x7f800001, inf=0x7f800000, zero=0, big=0x7f7fffff, tiny=0x00002000, minus=0xbf800000, nz=0x80000000)}
def mma():
    lst = lambda first, n: "{" + ", ".join(f"%{first + i}" for i in range(n)) + "}"
    src = ""
    for i, (types, shape, na, nb, nc) in enumerate(MMA.values()):
        src += f'extern "C" __global__ void k{i}(unsigned *o, const unsigned *in) {{ unsigned l = threadIdx.x; ' + "".join(f"unsigned {x}{j} = in[{at + j} * 32 + l]; " for x, n, at in (("a", na, 0), ("b", nb, na), ("c", nc, na + nb)) for j in range(n)) + "".join(f"unsigned d{j}; " for j in range(nc)) + f'asm volatile("mma.sync.aligned.{shape}.row.col.{types} {lst(0, nc)}, {lst(nc, na)}, {lst(nc + na, nb)}, {lst(nc + na + nb, nc)};" : ' + ", ".join((f'"=r"(d{j})' for j in range(nc))) + " : " + ", ".join(f'"r"({x}{j})' for x, n in (("a", na), ("b", nb), ("c", nc)) for j in range(n)) + ");" + "".join(f" o[{j} * 32 + l] = d{j};" for j in range(nc)) + " }\n"
    src = "".join(src).replace('"=r"(d', '"=C"(d') if False else src
    # f32 accumulators need "f" operands
    import re
    out = []
    for i, k in enumerate(src.strip().split("\n")):
        if list(MMA.values())[i][0].startswith("f32"):
            k = re.sub(r"unsigned d(\d);", r"float d\1;", k); k = re.sub(r"unsigned c(\d) = (in\[[^]]*\]);", r"float c\1 = __uint_as_float(\2);", k); k = re.sub(r'"=r"\(d(\d)\)', r'"=f"(d\1)', k); k = re.sub(r'"r"\(c(\d)\)', r'"f"(c\1)', k); k = re.sub(r"\+ l\] = d(\d);", r"+ l] = __float_as_uint(d\1);", k)
        out.append(k)
    m = load(compile_cuda("\n".join(out)))
    for i, (name, (types, shape, na, nb, nc)) in enumerate(MMA.items()):
        v = FMT[types.split(".")[1]]; f = function(m, f"k{i}"); c32 = types.startswith("f32")
        def ask(key, a, b, c, at=None):
            A, B = [v[a]] * 32 * na, [v[b]] * 32 * nb
            for j, x in (at or {}).items():
                (A if j[0] == "A" else B)[int(j[1:])] = v[x]
            o = alloc(128 * nc); launch(f, 1, 32, (o, device(struct.pack(f"<{32 * (na + nb + nc)}I", *A, *B, *[c] * 32 * nc)))); r = u32(get(o, 128 * nc)); say(Q, f"c {name} {key}", compact([f"{x:x}" for x in r])[:500])
        ask("one NaN in A", "one", "one", 0, {"A37": "nan"}); ask("an infinity in A against a zero in B", "one", "one", 0, {"A37": "inf", "B9": "zero"}); ask("infinities in A and B", "one", "one", 0, {"A5": "inf", "B14": "inf"})
        ask("C NaN with payload", "one", "one", 0x7f812345 if c32 else 0x3c00fc01); ask("big times one plus big", "big", "one", 0x7f7fffff if c32 else 0x7bff7bff); ask("big times big", "big", "big", 0); ask("subnormal times one, C -0", "tiny", "one", 0x80000000 if c32 else 0x80008000); ask("-0 times one, C -0", "nz", "one", 0x80000000 if c32 else 0x80008000); ask("ones against minus ones, C cancels", "one", "minus", (bits(float(shape.split("k")[1])) if c32 else 0x4c004c00))
guarded(Q, "c mma", mma)
def f64():
    r = build('extern "C" __global__ void k(unsigned long long *o, const double *in) { unsigned l = threadIdx.x; double a = in[l], b = in[32 + l], c = in[64 + 2 * l], e = in[65 + 2 * l], d0, d1; asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};" : "=d"(d0), "=d"(d1) : "d"(a), "d"(b), "d"(c), "d"(e)); o[2 * l] = __double_as_longlong(d0); o[2 * l + 1] = __double_as_longlong(d1); }')
    for key, a, b, c in (("1e16, 1, -1e16, 1 along k", lambda l: (1e16, 1.0, -1e16, 1.0)[l % 4], lambda l: 1.0, 0.25), ("NaN in lane 6 of A", lambda l: float("nan") if l == 6 else 1.0, lambda l: 2.0, 0.0), ("thirds", lambda l: 1 / 3 + l, lambda l: 1 / 7 - l, -0.0), ("subnormals", lambda l: 1e-310 * (l + 1), lambda l: 0.5, 5e-324), ("overflow and back", lambda l: (1e308, -1e308)[l & 1], lambda l: 10.0, 1e300)):
        o = alloc(512); launch(r, 1, 32, (o, device(struct.pack("<128d", *[a(l) for l in range(32)], *[b(l) for l in range(32)], *[c] * 64)))); say(Q, f"c m8n8k4.f64 {key}", compact([f"{x:x}" for x in u64(get(o, 512))])[:600])
guarded(Q, "c f64", f64)
