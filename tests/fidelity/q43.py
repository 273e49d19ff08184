from common import *
Q = "q43"
# Warp 7 (or the last) ends the kernel by a trap when not all threads counted in `need` get on within 2^29 cycles, so that nothing hangs.
def kernel(body, before=""):
    return 'extern "C" __global__ void k(unsigned *o, unsigned *in) { unsigned t = threadIdx.x, w = t / 32, l = t & 31; __shared__ volatile unsigned done, x[64]; if (t < 64) x[t] = 0; if (t == 0) done = 0; __syncthreads(); (void)l; ' + before + ' if (w == 7) { long long c = clock64(); while (done < in[0]) if (clock64() - c > (1ll << 29)) __trap(); o[t] = 5; return; } ' + body + ' atomicAdd((unsigned *)&done, 1); }'
BAR = lambda ins, *ops: f'asm volatile("{ins}" :: {", ".join(ops)} : "memory");' if ops else f'asm volatile("{ins}" ::: "memory");'
# a) bar.sync with a number and a count, arrive and sync in pairs, several barriers at once; warps that have exited.
# Guess: producers arrive and go on, the count is in threads and rounds to warps; an exited warp counts for barrier 0
# without a count only; bar.arrive of all is not enough to release. Met by warp-specialised producer/consumer kernels.
A = {
 "pairs of warps on barriers 1..3": (192, 'if (w > 5) return; asm volatile("bar.sync %0, 64;" :: "r"(1 + w / 2) : "memory"); o[t] = 1;'),
 "arrive by warps 0-2, sync by 3": (128, "if (w > 3) return; if (w < 3) { x[w] = w + 1; __threadfence_block(); " + BAR("bar.arrive 1, 128;") + " o[t] = 1; } else { " + BAR("bar.sync 1, 128;") + " o[t] = x[0] + 10 * x[1] + 100 * x[2]; }"),
 "barrier 15, all 224 threads of 7 warps": (224, BAR("bar.sync 15, 224;") + " o[t] = 1;"),
 "bar.sync 1 twice with 96": (96, "if (w > 2) return; " + BAR("bar.sync 1, 96;") + " x[w] = 1; " + BAR("bar.sync 1, 96;") + " o[t] = x[0] + x[1] + x[2];"),
 "barrier.sync (not aligned) by halves of a warp with 64": (32, "if (w > 0) return; if (l < 16) { " + BAR("barrier.sync 2, 64;") + " o[t] = 1; } else { " + BAR("barrier.sync 2, 64;") + " o[t] = 2; }"),
 "barrier.sync in two branches of different code, 32": (32, "if (w > 0) return; if (l & 1) { " + BAR("barrier.sync 2, 32;") + " o[t] = 1; } else { " + BAR("barrier.sync 2, 32;") + " o[t] = 2; }"),
 "count given in a register": (64, 'if (w > 1) return; asm volatile("bar.sync %0, %1;" :: "r"(in[1] + 3), "r"(in[1] + 64) : "memory"); o[t] = 1;'),
 "bar.sync 1 by warps 0 and 1, odd lanes gone": (32, "if (w > 1 || l & 1) return; " + BAR("bar.sync 1, 64;") + " o[t] = 1;"),
 "bar.sync 1, 96 where warp 2 has exited": (64, "if (w > 1) return; " + BAR("bar.sync 1, 96;") + " o[t] = 1;"),
 "bar.sync 1 without a count, where warps 2-6 have exited and warp 7 spins": (64, "if (w > 1) return; " + BAR("bar.sync 1;") + " o[t] = 1;"),
 "bar.arrive 1, 64 by both, nobody syncs": (64, "if (w > 1) return; " + BAR("bar.arrive 1, 64;") + " o[t] = 1;"),
 "bar.red.popc 1, 64": (64, 'if (w > 1) return; unsigned n; asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 20; bar.red.popc.u32 %0, 1, 64, p; }" : "=r"(n) : "r"(l) : "memory"); o[t] = n;'),
 "bar.red.and/or 1, 64": (64, 'if (w > 1) return; unsigned n; asm volatile("{ .reg .pred p, q, r; setp.lt.u32 p, %1, 20; bar.red.and.pred q, 1, 64, p; bar.red.or.pred r, 1, 64, p; selp.u32 %0, 1, 0, q; @r add.u32 %0, %0, 2; }" : "=r"(n) : "r"(l) : "memory"); o[t] = n;'),
 "!p as the operand of bar.red.popc": (64, 'if (w > 1) return; unsigned n; asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 20; bar.red.popc.u32 %0, 1, 64, !p; }" : "=r"(n) : "r"(l) : "memory"); o[t] = n;'),
}
# b) What is refused, and when: counts that are no multiple of 32, 0, larger than the block; barrier 16. Guess: ptxas refuses
# constants; in registers they give an illegal instruction (715) or hang (then the trap, 719). Met by wrong macros.
B = {
 "constant count 33": (32, "if (w > 0) return; " + BAR("bar.sync 1, 33;") + " o[t] = 1;"), "constant count 0": (32, "if (w > 0) return; " + BAR("bar.sync 1, 0;") + " o[t] = 1;"), "constant barrier 16": (32, "if (w > 0) return; " + BAR("bar.sync 16, 32;") + " o[t] = 1;"), "constant count 4096": (32, "if (w > 0) return; " + BAR("bar.sync 1, 4096;") + " o[t] = 1;"), "arrive without a count": (32, BAR("bar.arrive 1;")),
 "register count 33": (64, 'if (w > 1) return; asm volatile("bar.sync 1, %0;" :: "r"(in[1] + 33) : "memory"); o[t] = 1;'), "register count 48 by one warp": (32, 'if (w > 0) return; asm volatile("bar.sync 1, %0;" :: "r"(in[1] + 48) : "memory"); o[t] = 1;'), "register barrier 16": (32, 'if (w > 0) return; asm volatile("bar.sync %0, 32;" :: "r"(in[1] + 16) : "memory"); o[t] = 1;'), "register barrier -1": (32, 'if (w > 0) return; asm volatile("bar.sync %0, 32;" :: "r"(in[1] - 1) : "memory"); o[t] = 1;'), "register count 512 in a block of 256": (32, 'if (w > 0) return; asm volatile("bar.sync 1, %0;" :: "r"(in[1] + 512) : "memory"); o[t] = 1;'), "register barriers differ within a warp": (32, 'if (w > 0) return; asm volatile("barrier.sync %0, 32;" :: "r"(in[1] + 1 + (l & 1)) : "memory"); o[t] = 1;'),
}
# c) __syncwarp with partial masks, in loops and after exits, and __syncthreads in a loop with another count of rounds per
# warp after exits. Guess: lanes of other masks are independent; a mask with exited lanes does not wait for them.
# Met by warp-synchronous code written before Volta.
C = {
 "syncwarp by halves": (32, "if (w > 0) return; if (l < 16) { x[l] = l + 1; __syncwarp(0xffff); o[t] = x[15 - l]; } else { x[l] = l + 1; __syncwarp(0xffff0000); o[t] = x[47 - l]; }"),
 "syncwarp full mask, odd lanes exited": (16, "if (w > 0 || l & 1) return; __syncwarp(); o[t] = 1;"),
 "syncwarp in different places, one mask": (32, "if (w > 0) return; if (l < 9) { x[l] = 1; __syncwarp(); o[t] = 1 + x[20]; } else { x[l] = 1; __syncwarp(); o[t] = 2 + x[0]; }"),
 "syncwarp in a loop with trips by lane, masks shrink": (32, "if (w > 0) return; unsigned m = ~0u; for (unsigned i = 0; i < 4; i++) { m = __ballot_sync(m, l % 4 >= i); if (l % 4 < i) break; __syncwarp(m); o[t] = i + 1; }"),
 "syncthreads_count while warps leave one by one": (224, "for (unsigned i = 0; i < 7; i++) { if (i == w) { o[t] = i + 100; break; } asm volatile(\"bar.sync 1, %0;\" :: \"r\"(32 * (6 - i)) : \"memory\"); }"),
}
PARTS = {"a": A, "b": B, "c": C}
if len(sys.argv) > 1:
    init()
    part, i = sys.argv[1], int(sys.argv[2])
    key = list(PARTS[part])[i]
    need, body = PARTS[part][key]
    def main():
        try:
            r = run32(kernel(body), 256, 256, args=(device(struct.pack("<16I", need, *[0] * 15)),))
            say(Q, f"{part} {key}", compact(r))
        except LoadError as e:
            say(Q, f"{part} {key}", "refused " + str(e).split()[1])
        except RuntimeError as e:
            say(Q, f"{part} {key}", f"ended: {e}")
    guarded(Q, f"{part} {key}", main)
    os._exit(0)
init()
children([(p, i) for p in PARTS for i in range(len(PARTS[p]))])
