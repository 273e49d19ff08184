from common import *
Q = "q45"
init()
# a) cp.async by size, cache operator, source size, prefetch hint; several groups in flight and which are seen after
# wait_group n. Guess: .cg needs 16 bytes; a source size above the copy's is refused as a constant and undefined in a
# register; wait_group 1 of 3 groups makes the first two visible. Met in double-buffered kernels.
def cp(key, ins, words=4):
    def main():
        src = f'extern "C" __global__ void k(unsigned *o, const unsigned char *g, unsigned n) {{ __shared__ __align__(16) unsigned s[8]; for (int i = 0; i < 8; i++) s[i] = 0xeeeeeeee; __threadfence_block(); unsigned a = (unsigned)__cvta_generic_to_shared(s); asm volatile("{ins}" :: "r"(a), "l"(g), "r"(n) : "memory"); asm volatile("cp.async.wait_all;" ::: "memory"); for (int i = 0; i < 8; i++) o[i] = s[i]; }}'
        for n in ((0, 1, 3, 4, 7, 8, 15, 16) if "%2" in ins else (0,)):
            m = load(compile_cuda(src)); o = alloc(32); launch(function(m), 1, 1, (o, device(bytes(range(1, 65))), n))
            say(Q, f"a {ins.replace('%0', 's').replace('%1', 'g').replace('%2', 'n')} n {n}", h8(u32(get(o, 32))[:words]))
    try:
        main()
    except LoadError as e:
        say(Q, f"a {ins}", "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, f"a {ins}", "error " + str(e)[:100])
PARENT = len(sys.argv) == 1
for size in (4, 8, 16) if PARENT else ():
    for x in ("ca.shared.global", "ca.shared.global.L2::128B", "ca.shared.global.L2::256B", "cg.shared.global", "cg.shared.global.L2::64B"):
        cp("", f"cp.async.{x} [%0], [%1], {size};")
    cp("", f"cp.async.ca.shared.global [%0], [%1], {size}, {size // 2};")
for size in (4, 8, 16) if PARENT else ():
    src = 'extern "C" __global__ void k(unsigned *o, const unsigned char *g, const unsigned *ns) { __shared__ __align__(16) unsigned s[8]; unsigned a = (unsigned)__cvta_generic_to_shared(s); for (int j = 0; j < 17; j++) { for (int i = 0; i < 8; i++) s[i] = 0xeeeeeeee; asm volatile("cp.async.ca.shared.global [%0], [%1], SIZE, %2;" :: "r"(a), "l"(g), "r"(ns[j]) : "memory"); asm volatile("cp.async.wait_all;" ::: "memory"); for (int i = 0; i < 8; i++) o[8 * j + i] = s[i]; } }'
    def main():
        o = alloc(32 * 17); launch(build(src.replace("SIZE", str(size))), 1, 1, (o, device(bytes(range(1, 65))), device(struct.pack("<17I", *[min(i, size) for i in range(17)]))))
        r = u32(get(o, 32 * 17))
        for j in range(size + 1):
            say(Q, f"a cp.async.ca size {size}, source size {j}", h8(r[8 * j:8 * j + size // 4 + 1]))
    guarded(Q, f"a source sizes of {size}", main)
for form in ("cg.shared.global [%0], [%1], 16, 17;", "ca.shared.global [%0], [%1], 12;", "ca.shared.global [%0], [%1+4], 4;", "ca.shared.global [%0+8], [%1+8], 8;") if PARENT else ():
    cp("", "cp.async." + form)
GROUPS = 'extern "C" __global__ void k(unsigned *o, const unsigned *g) { __shared__ __align__(16) unsigned s[128]; unsigned l = threadIdx.x; for (int i = l; i < 128; i += 32) s[i] = 0; __syncwarp(); for (int i = 0; i < 4; i++) { unsigned a = (unsigned)__cvta_generic_to_shared(s + 32 * i + l); asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(g + 32 * i + l) : "memory"); asm volatile("cp.async.commit_group;" ::: "memory"); } WAIT __syncwarp(); for (int i = 0; i < 4; i++) o[32 * i + l] = s[32 * i + l]; asm volatile("cp.async.wait_all;" ::: "memory"); }'
for key, wait, sure in () if not PARENT else (("wait_group 0", 'asm volatile("cp.async.wait_group 0;" ::: "memory");', 4), ("wait_group 1", 'asm volatile("cp.async.wait_group 1;" ::: "memory");', 3), ("wait_group 3", 'asm volatile("cp.async.wait_group 3;" ::: "memory");', 1), ("wait_all", 'asm volatile("cp.async.wait_all;" ::: "memory");', 4)):
    guarded(Q, f"a {key}", lambda: say(Q, f"a four groups, {key}: those that must be there are", run32(GROUPS.replace("WAIT", wait), 128, args=(device(struct.pack("<128I", *range(1, 129))),))[:32 * sure] == list(range(1, 32 * sure + 1))))
# b) mbarrier: the opaque state, pending counts, phases, drop, noComplete, test_wait with a parity. Guess: pending_count of
# the state is what was pending before the arrival; arrive.drop lowers the next phase's count; a fresh barrier's phase is 0,
# so that test_wait.parity 1 is true. Met in pipelines by cuda::barrier.
def mb(key, body, n=8):
    def main():
        r = run32('extern "C" __global__ void k(unsigned *o) { __shared__ __align__(8) unsigned long long b; unsigned m = (unsigned)__cvta_generic_to_shared(&b); unsigned long long st = 0, s2 = 0; unsigned p = 0; (void)st; (void)s2; (void)p; ' + body + ' }', n, 1)
        say(Q, "b " + key, compact(r))
    try:
        main()
    except LoadError as e:
        say(Q, "b " + key, "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, "b " + key, "error " + str(e)[:100])
INIT = lambda n: f'asm volatile("mbarrier.init.shared.b64 [%0], {n};" :: "r"(m) : "memory");'
ARR = 'asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(st) : "r"(m) : "memory");'
COUNT = 'asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(st));'
TEST = lambda par: f'asm volatile("{{ .reg .pred q; mbarrier.test_wait.parity.shared.b64 q, [%1], {par}; selp.u32 %0, 1, 0, q; }}" : "=r"(p) : "r"(m) : "memory");'
if len(sys.argv) > 1:
    mb(f"init {sys.argv[2]}", INIT(sys.argv[2]) + ARR + COUNT + "o[0] = p;")
    os._exit(0)
mb("init 4, pending counts of four arrivals", INIT(4) + "for (int i = 0; i < 4; i++) { " + ARR + COUNT + " o[i] = p; }")
mb("test_wait.parity 0 and 1 on a fresh barrier, after half, after all", INIT(2) + TEST(0) + "o[0] = p;" + TEST(1) + "o[1] = p;" + ARR + TEST(0) + "o[2] = p;" + TEST(1) + "o[3] = p;" + ARR + TEST(0) + "o[4] = p;" + TEST(1) + "o[5] = p;")
mb("states: test_wait of the first arrival's state before and after", INIT(2) + ARR + ' s2 = st; asm volatile("{ .reg .pred q; mbarrier.test_wait.shared.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(m), "l"(s2) : "memory"); o[0] = p;' + ARR + 'asm volatile("{ .reg .pred q; mbarrier.test_wait.shared.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(m), "l"(s2) : "memory"); o[1] = p;')
mb("arrive_drop of one of 3, then counts of the next phase", INIT(3) + 'asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(st) : "r"(m) : "memory");' + COUNT + "o[0] = p;" + ARR + COUNT + "o[1] = p;" + ARR + COUNT + "o[2] = p;" + ARR + COUNT + "o[3] = p;" + ARR + COUNT + "o[4] = p;")
mb("arrive.noComplete 2 of 5", INIT(5) + 'asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(st) : "r"(m) : "memory");' + COUNT + "o[0] = p;" + ARR + COUNT + "o[1] = p;")
for n in (1, 2**20 - 1):
    mb(f"init {n}", INIT(n) + ARR + COUNT + "o[0] = p;")
mb("arrive with a count (sm_90)", INIT(5) + 'asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;" : "=l"(st) : "r"(m) : "memory");' + COUNT + "o[0] = p;")
mb("barrier object's bits after init 1, 2, 3: lower words", "".join(INIT(i + 1) + f"o[{2 * i}] = (unsigned)*(volatile unsigned long long *)&b; o[{2 * i + 1}] = (unsigned)(*(volatile unsigned long long *)&b >> 32);" for i in range(3)))
mb("its bits after each of two arrivals of 2", INIT(2) + ARR + "o[0] = (unsigned)*(volatile unsigned long long *)&b; o[1] = (unsigned)(*(volatile unsigned long long *)&b >> 32); o[2] = (unsigned)st; o[3] = (unsigned)(st >> 32);" + ARR + "o[4] = (unsigned)*(volatile unsigned long long *)&b; o[5] = (unsigned)(*(volatile unsigned long long *)&b >> 32); o[6] = (unsigned)st; o[7] = (unsigned)(st >> 32);")
mb("cp.async.mbarrier.arrive adds to the pending count", INIT(1) + ' asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(m) : "memory");' + ARR + COUNT + "o[0] = p;" + TEST(0) + " o[1] = p;")
mb("cp.async.mbarrier.arrive.noinc then one arrival of 2", INIT(2) + ' asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(m) : "memory"); asm volatile("cp.async.wait_all;" ::: "memory");' + ARR + TEST(0) + " o[1] = p;")
child("init", 2**20)
