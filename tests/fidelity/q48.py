from common import *
Q = "q48"
# Faults, each in a process of its own; the value is what the synchronisation and the next call give.
RAW = 'extern __shared__ __align__(16) char d[]; extern "C" __global__ void k(char *o, unsigned n) { unsigned t = threadIdx.x; unsigned sp = (unsigned)__cvta_generic_to_shared(d); (void)t; (void)sp; BODY }'
LD = {"u16": ("unsigned short", "h"), "u32": ("unsigned", "r"), "u64": ("unsigned long long", "l")}
FAULTS = {}
# a) Misaligned accesses by width and space, stores, vectors, atomics. Guess: 716 in all spaces; for shared memory too; a
# v4 at 8 bytes is misaligned; constants by ldc give 716 or read rounded-down addresses; local memory wraps. Met by casts
# of packed structures.
for space, base, con in (("global", "o", "l"), ("shared", "sp", "r")):
    for t, (c, r) in LD.items():
        for off in (1, 2, 4):
            if off == int(t[1:]) // 16:
                FAULTS[f"a ld.{space}.{t} at +{off}"] = f'{c} v; asm volatile("ld.{space}.{t} %0, [%1];" : "={r}"(v) : "{con}"({base} + n + {off}) : "memory"); o[64] = (char)v;'
    for vec, off in (("v4.u32", 8), ("v2.u64", 8), ("v4.u8", 2)):
        k = int(vec[1]); e = int(vec.split("u")[1]); r = {8: "r", 16: "h", 32: "r", 64: "l"}[e]; c = {8: "unsigned", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}[e]
        FAULTS[f"a st.{space}.{vec} at +{off}"] = f'{c} v = {e}; asm volatile("st.{space}.{vec} [%0], {{' + ", ".join(["%1"] * k) + f'}};" :: "{con}"({base} + n + {off}), "{r}"(v) : "memory");'
    FAULTS[f"a atom.{space}.add.u32 at +2"] = f'unsigned v; asm volatile("atom.{space}.add.u32 %0, [%1], 1;" : "=r"(v) : "{con}"({base} + n + 2) : "memory"); o[64] = v;'
    FAULTS[f"a atom.{space}.add.u64 at +4"] = f'unsigned long long v; asm volatile("atom.{space}.add.u64 %0, [%1], 1;" : "=l"(v) : "{con}"({base} + n + 4) : "memory"); o[64] = v;'
    if space == "global":
        FAULTS[f"a red.{space}.add.f32 at +1"] = f'asm volatile("red.{space}.add.f32 [%0], 0f3F800000;" :: "{con}"({base} + n + 1) : "memory");'
FAULTS["a local u32 at +1"] = "int l[8]; for (int i = 0; i < 8; i++) l[i] = n + i; o[64] = *(volatile int *)((char *)l + n + 1);"
FAULTS["a generic u32 at +2 of shared"] = "o[64] = *(volatile int *)(d + n + 2);"
FAULTS["a lane 5 only is misaligned"] = "o[64] = *(volatile int *)(o + 4 * t + (t == 5));"
FAULTS["a cp.async 16 at +4"] = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" :: "r"(sp), "l"(o + n + 4) : "memory");'
FAULTS["a cp.async 16 to shared +8"] = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" :: "r"(sp + n + 8), "l"(o) : "memory");'
FAULTS["a ldmatrix at +8"] = 'unsigned v; asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(sp + n + 8)); o[64] = v;'
# b) Trap, brkpt, exit in loops, endless recursion, an assert and printf before. Guess: trap 719? (a real answer was 719), brkpt
# without a debugger 719 or ignored; recursion overflows the stack to 700 or 719; exit in a divergent loop is fine.
# Met by every debugging session; the code decides what a test reports.
FAULTS |= {f"b {k}": v for k, v in {
 "trap": "__trap();", "brkpt": "__brkpt();", "trap by lane 7 only after stores": "o[64] = 3; __threadfence_system(); if (t == 7) __trap();", "assert": "assert(n);", "exit within a loop by lane": 'for (unsigned i = 0; i < 40; i++) { if (i == t) asm volatile("exit;"); o[128 + t] = i; } o[64] = 1;', "exit in a branch, then shuffle of the rest": 'if (t & 1) asm volatile("exit;"); o[128 + t] = __shfl_sync(0x55555555, t, 2);', "__nv_ unreachable: divide by zero": "o[64] = 5 / n;", "exit before a barrier": 'if (t < 16) asm volatile("exit;"); __syncthreads(); o[64] = 1;'}.items()}
REC = '__device__ __noinline__ int r(int n, volatile int *q) { int a[50]; for (int i = 0; i < 50; i++) a[i] = q[i & 3] + n; return n > 1000000 ? a[n & 31] : r(n + 1, q) + a[n % 50]; } extern "C" __global__ void k(int *o, unsigned n) { o[0] = r(n, o); }'
FAULTS["b endless recursion"] = REC
KEYS = list(FAULTS)
if len(sys.argv) > 1:
    init()
    for key in KEYS[int(sys.argv[1]):int(sys.argv[1]) + 1]:
        body = FAULTS[key]
        try:
            o = alloc(256) if "64 MiB" in key or "behind a block" in key or "before" in key else alloc(4096)
            f = build(body if "__global__" in body else RAW.replace("BODY", body))
            if body is REC:
                cu("cuCtxSetLimit", 0, 4096)
            r = launch_code(f, 1, 32, (o, c_uint(0)), 256), sync()
            out = ctypes.create_string_buffer(256)
            copy = cu("cuMemcpyDtoH_v2", out, o, 256)
            say(Q, key, f"launch {err(r[0])} sync {err(r[1])} copy {err(copy)}" + (f" byte 64: {out.raw[64]}" + (f" bytes 128..159: {compact(list(out.raw[128:160]))}" if "exit" in key else "") if not copy and any(s in key for s in ("exit", "lane 7", "prefetch", "predicated", "atomic +")) else ""))
        except LoadError as e:
            say(Q, key, "refused " + str(e).split()[1])
        except Exception as e:
            say(Q, key, "error " + str(e)[:100])
    os._exit(0)
init()
children([(i,) for i in range(len(KEYS))])
