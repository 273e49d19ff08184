from common import *
Q = "q46"
init()
# a) Special registers by thread and block shape: lane masks, warps of odd block shapes, %envreg, %ctaid of 3D grids,
# %clock monotonic, predefined constants. Guess: %envreg are 0; lanes number x first, then y, z; %clock differences are
# positive and above 0; %pm registers 0 without a profiler; %lanemask_* as named. Met by linear index code.
NAMES = ["laneid", "warpid", "nwarpid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"] + [f"envreg{i}" for i in (0, 1, 5, 31)] + ["pm0", "pm7"] + [f"{r}.{d}" for r in ("tid", "ntid", "ctaid", "nctaid") for d in "xyz"]
def special():
    body = "".join(f"mov.u32 %v, %{n}; st.global.u32 [%o+{4 * i}], %v;\n" for i, n in enumerate(NAMES))
    head = f".visible .entry k(.param .u64 out) {{ .reg .b32 %t, %v, %a, %b, %c; .reg .b64 %o; ld.param.u64 %o, [out]; mov.u32 %t, %tid.z; mov.u32 %a, %ntid.y; mov.u32 %b, %tid.y; mad.lo.u32 %t, %t, %a, %b; mov.u32 %a, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %t, %t, %a, %b; mad.wide.u32 %o, %t, {4 * len(NAMES)}, %o; mov.u32 %c, %ctaid.x; setp.ne.u32 p, %c, 0; @p ret;\n"
    f = function(load((PTX_HEAD.format("8.0", "sm_80") + head.replace(".reg .b64 %o;", ".reg .b64 %o; .reg .pred p;") + body + "ret; }").encode()))
    for block, grid in (((33, 1, 1), (1, 1, 1)), ((5, 7, 3), (1, 1, 1)), ((1, 1, 64), (1, 3, 2)), ((16, 4, 2), (2, 1, 1)), ((3, 1, 1), (1, 1, 1))):
        n = block[0] * block[1] * block[2]; o = alloc(4 * len(NAMES) * n)
        launch(f, grid, block, (o,)); r = u32(get(o, 4 * len(NAMES) * n))
        for i, name in enumerate(NAMES):
            if name not in ("warpid", "nwarpid") and not (name.startswith("ctaid") and grid != (1, 1, 1)):
                v = [r[len(NAMES) * t + i] for t in range(n)]
                say(Q, f"a block {block} grid {grid} %{name}", compact([f"{x:x}" if "mask" in name else x for x in v])[:400])
guarded(Q, "a", special)
EX = {"clock grows by": "unsigned a, b; asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(a)); asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(b)); o[0] = b - a > 0 && b - a < 100000; ", "clock64 and clock agree in the low word": "unsigned a; unsigned long long b; asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(a)); asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(b)); o[0] = (unsigned)b - a < 100000;", "clock_hi is the upper half of clock64": "unsigned a; unsigned long long b; asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(b)); asm volatile(\"mov.u32 %0, %%clock_hi;\" : \"=r\"(a)); o[0] = a == (unsigned)(b >> 32);", "globaltimer_lo/hi agree": "unsigned a, h; unsigned long long b; asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(b)); asm volatile(\"mov.u32 %0, %%globaltimer_lo;\" : \"=r\"(a)); asm volatile(\"mov.u32 %0, %%globaltimer_hi;\" : \"=r\"(h)); o[0] = a - (unsigned)b < 100000000u; o[1] = h - (unsigned)(b >> 32) < 2;", "clock64 never goes back in 10000 reads": "long long a = clock64(); unsigned bad = 0, same = 0; for (int i = 0; i < 10000; i++) { long long b = clock64(); bad += b < a; same += b == a; a = b; } o[0] = bad; o[1] = same;", "nanosleep 0, 1000, 100000, 0xffffffff(1 ms at most): at least 0, below 2x + 1 ms": "unsigned ns[3] = {0, 1000, 100000}; for (int i = 0; i < 3; i++) { unsigned long long a, b; asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(a)); __nanosleep(ns[i]); asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(b)); o[i] = b - a <= 2ull * ns[i] + 1000000; } unsigned long long a, b; asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(a)); __nanosleep(0xffffffffu); asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(b)); o[3] = b - a <= 10000000ull;"}
# b) Clocks and sleep. Guess: a pair of %clock reads differs by some tens of cycles and never by 0; nanosleep(t) sleeps
# between 0 and 2t, at most 1 ms, as documented. Met in spin locks with backoff.
for key, ex in EX.items():
    guarded(Q, "b " + key, lambda: say(Q, "b " + key, run32('extern "C" __global__ void k(unsigned *o) { ' + ex + " }", 4, 1)))
def placement():
    f = build('extern "C" __global__ void k(unsigned *o, unsigned n) { unsigned s, w; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); asm volatile("mov.u32 %0, %%nsmid;" : "=r"(w)); long long c = clock64(); while (clock64() - c < n); if (threadIdx.x == 0) o[blockIdx.x] = s; if (threadIdx.x == 0 && blockIdx.x == 0) o[4095] = w; }')
    sms = attribute(16)
    for blocks in (1, 2, sms, 2 * sms):
        o = alloc(16384); launch(f, blocks, 32, (o, 100000)); r = u32(get(o, 16384))
        say(Q, f"b blocks {'1' if blocks == 1 else '2' if blocks == 2 else str(blocks // sms) + ' for each multiprocessor'}: different %smid as a share of what is possible", len(set(r[:blocks])) / min(blocks, sms))
guarded(Q, "b placement", placement)
# c) Dynamic shared memory registers after cuFuncSetAttribute, and with static memory of several sizes and alignments.
# Guess: %dynamic_smem_size is the launch's bytes, not the attribute; %total rounds up to 128 or 256. Met by kernels that
# size their arrays with it.
def dynamic():
    src = 'extern __shared__ char d[]; extern "C" __global__ void k(unsigned *o) { STATIC unsigned a, b, c; asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(a)); asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(b)); c = (unsigned)__cvta_generic_to_shared(d); if (o[4]) d[o[5]] = 1; o[0] = a; o[1] = b; o[2] = c & 15; }'
    for st in ("", "__shared__ char s[1]; s[o[6]] = 1; o[7] = s[o[8]];", "__shared__ double s[100]; s[o[6]] = 1; o[7] = s[o[8]];", "__shared__ __align__(128) char s[129]; s[o[6]] = 1; o[7] = s[o[8]];"):
        f = build(src.replace("STATIC", st))
        for attr, dyn in ((None, 0), (None, 1), (None, 1000), (65536, 1000), (65536, 65536), (0, 1000), (100, 100)):
            r = cu("cuFuncSetAttribute", f, 8, attr) if attr is not None else 0
            o = alloc(64); lr = launch_code(f, 1, 1, (o,), dyn); s = sync(); v = u32(get(o, 12))
            say(Q, f"c static '{st[:34].split(';')[0]}' attribute {attr} launch {dyn}", f"{err(r)} {err(lr)} {err(s)}: dynamic {v[0]} total {v[1]} start mod 16 {v[2]}")
guarded(Q, "c", dynamic)
