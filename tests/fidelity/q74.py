from common import *
Q = "q74"
init()
HEAD = '#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n#include <cooperative_groups/memcpy_async.h>\nnamespace cg = cooperative_groups;\nstruct P { int a; short b; char c; };\n'
def batch(rows, args="unsigned *o, unsigned *in"):
    """Rows (key, body, words, block, grid): all in one module; `t` thread, `l` lane."""
    m = load(compile_cuda(HEAD + "".join(f'extern "C" __global__ void k{i}({args}) {{ unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, l = t & 31; auto b = cg::this_thread_block(); (void)b; (void)l; (void)in; {r[1]} }}\n' for i, r in enumerate(rows))))
    for i, (key, body, n, block) in enumerate(rows):
        def main():
            o = alloc(4 * n); launch(function(m, f"k{i}"), 1, block, (o, device(bytes(256)))); r = u32(get(o, 4 * n))
            say(Q, key, compact([f"{v:x}" if v > 999999 else v for v in r])[:900])
        guarded(Q, key, main)
# a) Cooperative groups off the beaten path: tiles of 1 and 2, tiles of several warps, groups of groups, invoke_one, structures
# in shuffles and reductions, scans with a start value and other operators. Guess: invoke_one takes the elected (lowest)
# lane; invoke_one_broadcast hands its value to all; a tile of 1 gives its own values; reductions by a lambda fold by halves.
rows = [
 ("a tile<1>: size, rank, meta rank, reduce, shfl", "auto g = cg::tiled_partition<1>(b); o[l] = g.size() + 10 * g.thread_rank() + 100 * g.meta_group_rank(); o[32 + l] = cg::reduce(g, l + 5, cg::plus<unsigned>()); o[64 + l] = g.shfl(l * 3, 0) + g.ballot(1);", 96, 32),
 ("a tile<2>: shfl_xor, any, ballot, scan", "auto g = cg::tiled_partition<2>(b); o[l] = g.shfl_xor(l, 1); o[32 + l] = g.ballot(l % 3 == 0); o[64 + l] = cg::inclusive_scan(g, l + in[0], cg::plus<unsigned>());", 96, 32),
 ("a tile<64> in shared memory: ranks, reduce, any", "__shared__ cg::block_tile_memory<256> mem; auto bb = cg::this_thread_block(mem); auto g = cg::tiled_partition<64>(bb); o[t] = g.thread_rank() + 1000 * g.meta_group_rank(); o[256 + t] = cg::reduce(g, t, cg::plus<unsigned>()); o[512 + t] = g.any(t == 77);", 768, 256),
 ("a tile<128>: shfl, exclusive scan, ballot-like all", "__shared__ cg::block_tile_memory<256> mem; auto bb = cg::this_thread_block(mem); auto g = cg::tiled_partition<128>(bb); o[t] = g.shfl(t * 2, 99); o[256 + t] = cg::exclusive_scan(g, 1u + (t & 1)); o[512 + t] = g.all(t != 130);", 768, 256),
 ("a tile<8> of a coalesced group of odd lanes", "if ((l + in[0]) & 1) { auto c = cg::coalesced_threads(); auto g = cg::tiled_partition(c, 8); o[l] = g.size() * 100 + g.thread_rank(); o[32 + l] = g.meta_group_rank(); o[64 + l] = cg::reduce(g, l, cg::plus<unsigned>()); }", 96, 32),
 ("a tile<4> of a coalesced group of 22 lanes", "if (l + in[0] >= 10) { auto c = cg::coalesced_threads(); auto g = cg::tiled_partition(c, 4); o[l] = g.size() * 100 + g.thread_rank(); o[32 + l] = g.shfl(l, 0); }", 64, 32),
 ("a invoke_one of a tile<8>: who", "auto g = cg::tiled_partition<8>(b); cg::invoke_one(g, [&] { o[t] = 1 + g.thread_rank(); });", 32, 32),
 ("a invoke_one_broadcast of tile<16>", "auto g = cg::tiled_partition<16>(b); o[t] = cg::invoke_one_broadcast(g, [&] { return t + 100; });", 32, 32),
 ("a invoke_one of coalesced lanes 5.. and of the block", "if (l + in[0] > 4) { auto g = cg::coalesced_threads(); cg::invoke_one(g, [&] { o[t] = 1; }); o[64 + t] = cg::invoke_one_broadcast(g, [&] { return t; }); } cg::invoke_one(b, [&] { o[128] = t + 1; });", 129, 64),
 ("a labeled_partition within tile<16> by l % 3", "auto g = cg::labeled_partition(cg::tiled_partition<16>(b), (int)(l + in[0]) % 3); o[l] = g.size() * 100 + g.thread_rank(); o[32 + l] = g.meta_group_rank() * 10 + g.meta_group_size(); o[64 + l] = cg::reduce(g, l, cg::greater<unsigned>());", 96, 32),
 ("a binary_partition of a binary_partition", "auto g = cg::binary_partition(cg::binary_partition(cg::coalesced_threads(), (l + in[0]) & 1), l < 12); o[l] = g.size() * 100 + g.thread_rank(); o[32 + l] = cg::exclusive_scan(g, l);", 64, 32),
 ("a shfl of a structure, of a double, of a long long", "auto g = cg::tiled_partition<32>(b); P p = {(int)l * 7, (short)-l, (char)(l + 65)}; P q = g.shfl(p, (l + 1) % 32); o[l] = q.a * 1000 + q.c; o[32 + l] = (int)g.shfl_down((double)l / 2, 3) * 10; o[64 + l] = g.shfl_up(((long long)l << 32) + 5, 4) >> 30;", 96, 32),
 ("a reduce with a lambda (not commutative)", "auto g = cg::tiled_partition<8>(b); o[l] = cg::reduce(g, l + in[0] + 1, [](unsigned x, unsigned y) { return x * 3 + y; });", 32, 32),
 ("a reduce of a coalesced group with a lambda", "if ((l + in[0]) % 3) { auto g = cg::coalesced_threads(); o[l] = cg::reduce(g, l + 1, [](unsigned x, unsigned y) { return x * 3 + y; }); }", 32, 32),
 ("a inclusive and exclusive scans with max, xor, or", "auto g = cg::tiled_partition<32>(b); o[l] = cg::inclusive_scan(g, l * 37 % 32, cg::greater<unsigned>()); o[32 + l] = cg::exclusive_scan(g, l * 5 + 1, cg::bit_xor<unsigned>()); o[64 + l] = cg::exclusive_scan(g, 1u << (l & 7), cg::bit_or<unsigned>()); o[96 + l] = cg::exclusive_scan(g, (int)l - 9, cg::less<int>());", 128, 32),
 ("a inclusive_scan with a lambda", "auto g = cg::tiled_partition<16>(b); o[l] = cg::inclusive_scan(g, l + 1 + in[0], [](unsigned x, unsigned y) { return x * 3 + y; });", 32, 32),
 ("a reduce of doubles: bits", "auto g = cg::tiled_partition<32>(b); double d = cg::reduce(g, 1.0 / (l + 3 + in[0]), cg::plus<double>()); o[2 * l] = __double2loint(d); o[2 * l + 1] = __double2hiint(d);", 64, 32),
 ("a reduce of floats in tile<16> and by scan: bits", "auto g = cg::tiled_partition<16>(b); o[l] = __float_as_uint(cg::reduce(g, 1.0f / (l + 3 + in[0]), cg::plus<float>())); o[32 + l] = __float_as_uint(cg::exclusive_scan(g, 1.0f / (l + 3 + in[0]), cg::plus<float>()));", 64, 32),
 ("a match_any, match_all, num_threads of tile<8>", "auto g = cg::tiled_partition<8>(b); int p = 7; o[l] = g.match_any(l / 3); o[32 + l] = g.match_all((l + in[0]) / 8 < 2 ? 1u : l, p); o[64 + l] = p; o[96 + l] = g.num_threads();", 128, 32),
 ("a block of 5x4x3: ranks and indices", "o[t] = b.thread_rank() * 1000 + b.thread_index().x * 100 + b.thread_index().y * 10 + b.thread_index().z; auto g = cg::tiled_partition<4>(b); o[60 + t] = g.meta_group_rank() * 10 + g.thread_rank();", 120, (5, 4, 3)),
 ("a memcpy_async of 100 bytes by a tile and by the block", "__shared__ unsigned s[64]; s[t & 63] = 7; b.sync(); in[t & 63] = t * 3; b.sync(); cg::memcpy_async(b, s, in, 100); cg::wait(b); o[t & 63] = s[t & 63]; b.sync(); auto g = cg::tiled_partition<16>(b); if (g.meta_group_rank() == 0) { cg::memcpy_async(g, s + 32, in + 8, sizeof(unsigned) * 12); cg::wait(g); } b.sync(); o[64 + (t & 63)] = s[t & 63];", 128, 64),
 ("a memcpy_async with counts of elements, dst shorter", "__shared__ unsigned s[64]; s[t & 63] = 7; in[t & 63] = t + 5; b.sync(); cg::memcpy_async(b, s, 10, in, 20); cg::wait_prior<0>(b); o[t & 63] = s[t & 63];", 64, 64),
]
# tiles of several warps use memory that the system reserves: each in a process of its own
if len(sys.argv) == 2:
    guarded(Q, "a", lambda: batch([rows[int(sys.argv[1])]]))
    os._exit(0)
many = [i for i, r in enumerate(rows) if "in shared memory" in r[0] or "tile<128>" in r[0]]
if len(sys.argv) == 1:
    guarded(Q, "a", lambda: batch([r for i, r in enumerate(rows) if i not in many]))
    children([(i,) for i in many])
# b) Block barriers that reduce, in blocks of three dimensions, warps or lanes gone, several in a row; bar.red by number with
# predicates that only some warps of the count give. Guess: exited threads count neither in popc nor in and/or; the warp
# order is x, y, z; results are the same for all waiting threads. Met by convergence checks of iterative solvers.
R = lambda op, n, c, p: f'asm volatile("{{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.{op}.{"u32" if op == "popc" else "pred"} {"%0" if op == "popc" else "q"}, {n}, {c}, p; {"" if op == "popc" else "selp.u32 %0, 1, 0, q;"} }}" : "=r"(n) : "r"((unsigned)({p})) : "memory");'
rows = []
for block in ((5, 7, 3), (33, 2, 1), (8, 8, 2)):
    total = block[0] * block[1] * block[2]
    for gone in ("false", "t / 32 == 1", "t % 5 == 2", "threadIdx.y == 1 && threadIdx.z == 0"):
        rows.append((f"b block {block}, gone if {gone}: count, and, or", f"if ({gone}) return; o[3 * t] = 1 + __syncthreads_count((t + in[0]) % 3 == 0); o[3 * t + 1] = 1 + (__syncthreads_and(t != {total - 1}) != 0); o[3 * t + 2] = 1 + (__syncthreads_or(threadIdx.x == 4) != 0);", 3 * total, block))
for op in ("popc", "and", "or"):
    rows.append((f"b bar.red.{op} of warps 0-1 on 1, warps 2-3 on 2, then all on 3", "unsigned n = 0; if (t < 64) { " + R(op, 1, 64, "t > 5 + in[0]") + " } else { " + R(op, 2, 64, "l < 3") + " } o[t] = n; " + R(op, 3, 128, "t & 1") + " o[128 + t] = n;", 256, 128))
rows += [("b bar.red.popc with arrivals that bring no predicate", "unsigned n = 77; if (t < 32) { asm volatile(\"bar.arrive 4, 96;\" ::: \"memory\"); } else { " + R("popc", 4, 96, "l < 10 + in[0]") + " } o[t] = n;", 96, 96),
 ("b bar.red.and with arrivals that bring no predicate", "unsigned n = 77; if (t < 32) { asm volatile(\"bar.arrive 4, 96;\" ::: \"memory\"); } else { " + R("and", 4, 96, "l < 99 + in[0]") + " } o[t] = n;", 96, 96),
 ("b __syncthreads_count of another integer than 0 and 1", "o[t] = __syncthreads_count((int)(t * 0x10000 + in[0])); o[64 + t] = __syncthreads_and(t + 256) * 10 + __syncthreads_or(0);", 128, 64)]
# by number and hand-written, which may be an illegal instruction: each in a process of its own
if len(sys.argv) > 1:
    guarded(Q, "b", lambda: batch([rows[int(sys.argv[2])]]))
    os._exit(0)
many = [i for i, r in enumerate(rows) if r[0].startswith("b bar.red")]
guarded(Q, "b", lambda: batch([r for i, r in enumerate(rows) if i not in many]))
children([("b", i) for i in many])
# c) Producer and consumer warps over named barriers in rounds, consumers that leave early, and barrier 0 with a count. Guess:
# with the right counts every round's data is seen; the barrier can be used again at once, and by another count later.
rows = [("c two buffers, 6 rounds, producer warp 0, consumer warps 1-2", "__shared__ volatile unsigned s[2]; unsigned sum = 0; for (unsigned r = 0; r < 6; r++) { unsigned f = 1 + (r & 1), e = 3 + (r & 1); if (t < 32) { if (r > 1) asm volatile(\"bar.sync %0, 96;\" :: \"r\"(e) : \"memory\"); s[r & 1] = r * r + 1; __threadfence_block(); asm volatile(\"bar.arrive %0, 96;\" :: \"r\"(f) : \"memory\"); } else { asm volatile(\"bar.sync %0, 96;\" :: \"r\"(f) : \"memory\"); sum = sum * 10 + s[r & 1]; if (r < 4) asm volatile(\"bar.arrive %0, 96;\" :: \"r\"(e) : \"memory\"); } } o[t] = sum;", 96, 96),
 ("c barrier 0 with the count 64, then all", "__shared__ volatile unsigned s[4]; if (t < 64) { if (l == 0) s[t / 32] = t + 1; asm volatile(\"bar.sync 0, 64;\" ::: \"memory\"); o[t] = s[0] + s[1]; } __syncthreads(); o[128 + t] = 1;", 256, 128),
 ("c barrier 5 with 64, then 96, then 128", "__shared__ volatile unsigned s; if (t == 0) s = 0; __syncthreads(); for (unsigned n = 64; n <= 128; n += 32) { if (t < n) { if (t == n - 1) s = s * 3 + n; asm volatile(\"bar.sync 5, %0;\" :: \"r\"(n) : \"memory\"); o[t] = o[t] * 7 + s; } __syncthreads(); }", 128, 128),
 ("c warps leave round by round, the others reduce on", "for (unsigned r = 0; r < 4; r++) { if (t / 32 == r) { o[t] = 900 + r; return; } o[t] = o[t] * 1000 + __syncthreads_count(l < 5); }", 128, 128)]
guarded(Q, "c", lambda: batch(rows))
