from common import *
Q = "q47"
init()
# a) isspacep for pointers of all kinds, also null, small integers, host memory, managed, one past the end, parameters.
# Guess: shared and local are windows of the generic space; null is "global" (it is in no window); kernel parameters are
# .const or their own; isspacep.param::entry exists from PTX 7.7. Met by __isGlobal() assertions.
def spaces():
    hp = c_void_p(); ok("cuMemHostAlloc", byref(hp), 4096, 2); hd = c_uint64(); ok("cuMemHostGetDevicePointer_v2", byref(hd), hp, 0)
    mp = c_uint64(); ok("cuMemAllocManaged", byref(mp), 4096, 1)
    src = '__device__ int g; __constant__ int c = 5; struct P { int v[10]; }; extern "C" __global__ void k(unsigned *o, const void *host, const void *managed, unsigned *in, const __grid_constant__ P p) { __shared__ int s[4]; int l[4]; for (int i = 0; i < 4; i++) l[i] = in[i], s[i] = i; const void *q[] = {o, &g, &c, s, l, host, managed, 0, (void *)1, (void *)0x1000, (void *)~0ull, s + 4, (char *)s + (1 << 24), l + 4, (char *)l - (1 << 24), &p, (void *)(1ull << 47), (void *)(1ull << 49), (char *)s - 65536}; for (int i = 0; i < sizeof(q) / 8; i++) { const void *x = q[in[20] + i]; o[i] = __isGlobal(x) | __isShared(x) << 1 | __isLocal(x) << 2 | __isConstant(x) << 3 | __isGridConstant(x) << 4; } o[30] = l[in[1] + 2]; }'
    names = ["cuMemAlloc", "__device__", "__constant__", "__shared__", "local array", "page-locked host", "managed", "null", "1", "0x1000", "~0", "end of shared array", "shared + 16 MiB", "end of local array", "local - 16 MiB", "parameter", "2^47", "2^49", "shared - 64 KiB"]
    o = alloc(256); f = build(src)
    p = packed("10I", *range(10)); launch(f, 1, 1, (o, hd, mp, device(bytes(128)), p))
    for n, v in zip(names, u32(get(o, 4 * len(names)))):
        say(Q, f"a isspacep of {n}", [s for i, s in enumerate(("global", "shared", "local", "const", "grid constant")) if v >> i & 1])
guarded(Q, "a", spaces)
# b) cvta there and back: each space's 0, a pointer past the window, and addresses of one variable in two ways; loads by
# generic pointers into shared and local memory with offsets over the end. Guess: cvta of null is the window's start and
# not null (both ways without a test); to.shared of a global pointer is the low 32 bits minus the window's base.
# Met by hand-written PTX and by generic containers.
rows = {"cvta.shared of 0 is null": "cvta.shared.u64 %d, 0; setp.eq.u64 p, %d, 0; selp.u64 %d, 1, 0, p", "cvta.local of 0 is null": "mov.u64 %e, 0; cvta.local.u64 %d, %e; setp.eq.u64 p, %d, 0; selp.u64 %d, 1, 0, p", "cvta.global of 0": "mov.u64 %e, 0; cvta.global.u64 %d, %e", "cvta.const of 0 is null": "mov.u64 %e, 0; cvta.const.u64 %d, %e; setp.eq.u64 p, %d, 0; selp.u64 %d, 1, 0, p", "cvta.to.global of 12345": "mov.u64 %e, 12345; cvta.to.global.u64 %d, %e", "cvta.to.shared(cvta.shared 100)": "mov.u64 %e, 100; cvta.shared.u64 %d, %e; cvta.to.shared.u64 %d, %d", "cvta.to.local(cvta.local 100)": "mov.u64 %e, 100; cvta.local.u64 %d, %e; cvta.to.local.u64 %d, %d", "cvta.to.const(cvta.const 100)": "mov.u64 %e, 100; cvta.const.u64 %d, %e; cvta.to.const.u64 %d, %d", "cvta.shared is linear": "mov.u64 %e, 100; cvta.shared.u64 %d, %e; mov.u64 %e, 50; cvta.shared.u64 %e, %e; sub.u64 %d, %d, %e", "cvta.local - cvta.shared is a multiple of 2^24": "mov.u64 %e, 0; cvta.shared.u64 %d, %e; cvta.local.u64 %e, %e; sub.u64 %d, %d, %e; and.b64 %d, %d, 0xffffff", "cvta.to.shared of null's low word": "mov.u64 %e, 0; cvta.to.shared.u64 %d, %e; cvt.u32.u64 %w, %d; and.b32 %w, %w, 0xffffff; cvt.u64.u32 %d, %w", "cvta.shared.u64 of 2^24": "mov.u64 %e, 0x1000000; cvta.shared.u64 %d, %e; mov.u64 %e, 0; cvta.shared.u64 %e, %e; sub.u64 %d, %d, %e", "cvta.shared.u64 of 2^32": "mov.u64 %e, 0x100000000; cvta.shared.u64 %d, %e; mov.u64 %e, 0; cvta.shared.u64 %e, %e; sub.u64 %d, %d, %e", "mov of a shared variable's address, mod 16": "mov.u64 %d, sv; and.b64 %d, %d, 15", "generic address of it minus cvta.shared 0, compared with mov": "mov.u64 %d, sv; cvta.shared.u64 %e, %d; mov.u64 %f, 0; cvta.shared.u64 %f, %f; sub.u64 %e, %e, %f; sub.u64 %d, %d, %e", "shared variable read through a generic address": "mov.u32 %w, 77; st.shared.u32 [sv+4], %w; mov.u64 %d, sv; cvta.shared.u64 %d, %d; ld.u32 %w, [%d+4]; cvt.u64.u32 %d, %w", "local variable read through a generic address": "mov.u32 %w, 78; st.local.u32 [lv+4], %w; mov.u64 %d, lv; cvta.local.u64 %d, %d; ld.u32 %w, [%d+4]; cvt.u64.u32 %d, %w", "constant read through a generic address": "mov.u64 %d, cv; cvta.const.u64 %d, %d; ld.u32 %w, [%d+4]; cvt.u64.u32 %d, %w", "generic() of a constant in an initialiser": "ld.global.u64 %d, [gp]; ld.u32 %w, [%d]; cvt.u64.u32 %d, %w"}
for key, ins in rows.items():
    def main():
        f = function(load((PTX_HEAD.format("8.0", "sm_80") + f".const .align 4 .u32 cv[2] = {{41, 42}}; .global .align 8 .u64 gp = generic(cv);\n.visible .entry k(.param .u64 out) {{ .reg .b64 %d, %e, %f, %o; .reg .b32 %w; .reg .pred p; .shared .align 16 .b8 sv[32]; .local .align 16 .b8 lv[32]; ld.param.u64 %o, [out]; {ins}; st.global.u64 [%o], %d; ret; }}").encode()))
        o = alloc(8); launch(f, 1, 1, (o,)); say(Q, "b " + key, f"{u64(get(o, 8))[0]:x}")
    try:
        main()
    except LoadError as e:
        say(Q, "b " + key, "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, "b " + key, "error " + str(e)[:100])
# c) alloca, stacksave/stackrestore: alignment, direction, distance of two, reuse after restore, alloca of 0. Guess: the
# stack grows downwards, alloca rounds to 8 or 16; a loop without restore uses more each round. Met in NVRTC's alloca().
rows = {"alloca 16 twice: first above second": "alloca.u64 %d, 16; alloca.u64 %e, 16; setp.gt.u64 p, %d, %e; selp.u64 %d, 1, 0, p", "distance of alloca 1 and 1": "alloca.u64 %d, 1; alloca.u64 %e, 1; sub.u64 %d, %d, %e", "distance of alloca 20 and 20": "alloca.u64 %d, 20; alloca.u64 %e, 20; sub.u64 %d, %d, %e", "distance with alignment 64": "alloca.u64 %d, 4, 64; alloca.u64 %e, 4, 64; sub.u64 %d, %d, %e", "address mod 8": "alloca.u64 %d, 3; and.b64 %d, %d, 7", "address mod 128 with alignment 128": "alloca.u64 %d, 3, 128; and.b64 %d, %d, 127", "alloca 0 differs from the next": "alloca.u64 %d, 0; alloca.u64 %e, 8; sub.u64 %d, %d, %e", "restore gives the same address again": "stacksave.u64 %f; alloca.u64 %d, 64; stackrestore.u64 %f; alloca.u64 %e, 64; sub.u64 %d, %d, %e", "value survives": "alloca.u64 %d, 16; mov.u32 %w, 9; st.local.u32 [%d+8], %w; alloca.u64 %e, 16; st.local.u32 [%e+8], 5; ld.local.u32 %w, [%d+8]; cvt.u64.u32 %d, %w", "the address is a local one": "alloca.u64 %d, 16; cvta.local.u64 %d, %d; isspacep.local p, %d; selp.u64 %d, 1, 0, p", "32-bit form": "alloca.u32 %w, 16; cvt.u64.u32 %d, %w; and.b64 %d, %d, 7", "alignment 3": "alloca.u64 %d, 4, 3"}
for key, ins in rows.items():
    def main():
        f = function(load((PTX_HEAD.format("8.0", "sm_80") + f".visible .entry k(.param .u64 out) {{ .reg .b64 %d, %e, %f, %o; .reg .b32 %w; .reg .pred p; ld.param.u64 %o, [out]; {ins}; st.global.u64 [%o], %d; ret; }}").encode()))
        o = alloc(8); launch(f, 1, 1, (o,)); say(Q, "c " + key, f"{u64(get(o, 8))[0]:x}")
    try:
        main()
    except LoadError as e:
        say(Q, "c " + key, "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, "c " + key, "error " + str(e)[:100])
