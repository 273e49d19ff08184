from common import *
Q = "q50"
# Faults, each in a process of its own; the value is what the synchronisation and the next call give.
RAW = 'extern __shared__ __align__(16) char d[]; extern "C" __global__ void k(char *o, unsigned n) { unsigned t = threadIdx.x; unsigned sp = (unsigned)__cvta_generic_to_shared(d); (void)t; (void)sp; BODY }'
FAULTS = {}
# a) Out of bounds: shared memory above the block's, the window's end, negative; local above the window; global null and
# far; a store to constant or code; wild generic addresses. Guess: shared beyond its allocation within the multiprocessor's
# granule is silent, beyond gives 700 (or 719 by generic addresses outside of windows); null is 700.
# Met by off-by-one errors: does the program fail or go on?
FAULTS |= {f"a {k}": v for k, v in {
 "null load": "o[64] = *(volatile char *)(unsigned long long)n;", "null store": "*(volatile char *)(unsigned long long)n = 1;", "load at 2^40": "o[64] = ((volatile char *)(unsigned long long)n)[1ll << 40];", "load at 2^47": "o[64] = ((volatile char *)(unsigned long long)n)[1ll << 47];", "load at 2^49": "o[64] = ((volatile char *)(unsigned long long)n)[1ll << 49];", "load at 2^63": "o[64] = ((volatile char *)(unsigned long long)n)[1ull << 63];", "load at -4": "o[64] = *(volatile int *)((unsigned long long)n - 4);",
 "shared +1024 of 256 (dynamic)": 'unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(sp + n + 1024)); o[64] = 1;', "shared + 64 KiB": 'unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(sp + n + 65536)); o[64] = 1;', "shared + 228 KiB": 'unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(sp + n + 233472)); o[64] = 1;', "shared + 1 MiB store": 'asm volatile("st.shared.u32 [%0], 1;" :: "r"(sp + n + (1 << 20)) : "memory");', "shared + 16 MiB store": 'asm volatile("st.shared.u32 [%0], 1;" :: "r"(sp + n + (1 << 24)) : "memory");', "shared at -4": 'unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(n - 4)); o[64] = 1;', "shared at 0xfffffff0": 'unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(n + 0xfffffff0)); o[64] = 1;', "shared atomic + 1 MiB": 'unsigned v; asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(v) : "r"(sp + n + (1 << 20)) : "memory"); o[64] = 1;',
 "generic shared + 1 MiB": "o[64] = ((volatile char *)d)[n + (1 << 20)];", "generic shared + 16 MiB - 4": "o[64] = ((volatile char *)d)[n + (1 << 24) - 4 - sp];", "local index 1000 of 8": "int l[8]; for (int i = 0; i < 8; i++) l[i] = n + i; o[64] = ((volatile int *)l)[n + 1000];", "local index 2^20": "int l[8]; for (int i = 0; i < 8; i++) l[i] = n + i; o[64] = ((volatile int *)l)[n + (1 << 20)];", "local index 2^22 - 100": "int l[8]; for (int i = 0; i < 8; i++) l[i] = n + i; o[64] = ((volatile int *)l)[n + (1 << 22) - 100];", "local index -100000": "int l[8]; for (int i = 0; i < 8; i++) l[i] = n + i; o[64] = ((volatile int *)l)[(int)n - 100000];",
 "global: 1 byte behind a block of 256": "o[64] = ((volatile char *)o)[n + 256];", "global: 64 MiB behind": "o[64] = ((volatile char *)o)[n + (1ll << 26)];", "global: 64 GiB before": "o[64] = ((volatile char *)o)[-(1ll << 36) + n];", "atomic at null": "atomicAdd((int *)(unsigned long long)n, 1);", "prefetch at null (no fault?)": 'asm volatile("prefetch.global.L2 [%0];" :: "l"((unsigned long long)n)); o[64] = 1;', "ldg at null": "o[64] = __ldg((const int *)(unsigned long long)n);", "predicated off load at null": "if (n) o[64] = *(volatile char *)(unsigned long long)(n - 1); else o[64] = 1;", "call of a wild function": "((void (*)())(unsigned long long)(n + 0x123456780))();",
}.items()}
# b) One process after a fault of another kind of access: reads of memory that was freed, of a pool allocation after its free,
# and of a page-locked and a managed block after their free. Guess: freed device memory stays mapped while its 2 MiB page has
# other blocks, so no fault; freed page-locked memory faults (700). Met by use after free that "works".
FREED = {"cuMemAlloc 256 bytes, neighbour alive": ("cuMemAlloc_v2", "cuMemFree_v2", 256), "cuMemAlloc 64 MiB": ("cuMemAlloc_v2", "cuMemFree_v2", 64 << 20), "managed 4 MiB": ("cuMemAllocManaged", "cuMemFree_v2", 4 << 20), "page-locked 64 KiB": ("cuMemHostAlloc", "cuMemFreeHost", 65536), "pool 1 MiB": ("cuMemAllocAsync", "cuMemFreeAsync", 1 << 20)}
FAULTS |= {f"b load of freed {k}": v for k, v in FREED.items()}
KEYS = list(FAULTS)
if len(sys.argv) > 1:
    init()
    for key in KEYS[int(sys.argv[1]):int(sys.argv[1]) + 1]:
        body = FAULTS[key]
        try:
            if isinstance(body, tuple):
                keep, p = alloc(256), c_uint64()
                ok(body[0], byref(p), body[2], *{"cuMemAllocManaged": (1,), "cuMemHostAlloc": (2,), "cuMemAllocAsync": (0,)}.get(body[0], ()))
                f = build('extern "C" __global__ void k(int *o, volatile int *p) { o[16] = p[0] * 0 + 1; }')
                o = alloc(256); launch(f, 1, 1, (o, p)); ok(body[1], p, *((0,) if "Async" in body[1] else ())); sync()
                r = launch_code(f, 1, 1, (o, p)), sync()
                say(Q, key, f"launch {err(r[0])} sync {err(r[1])}"); os._exit(0)
            o = alloc(256) if "64 MiB" in key or "behind a block" in key or "before" in key else alloc(4096)
            f = build(RAW.replace("BODY", body))
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
