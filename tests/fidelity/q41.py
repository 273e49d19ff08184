from common import *
Q = "q41"
init()
HEAD = '#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;\n'
def cgk(key, body, n=64, block=32, grid=1, args=(), per=32):
    def main():
        r = run32(HEAD + 'extern "C" __global__ void k(unsigned *o, unsigned *in) { unsigned t = threadIdx.x, l = t & 31; auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); (void)w; ' + body + " }", n, block, grid, args=(device(bytes(256)), *args))
        for i in range(0, n, per):
            say(Q, key + (f" #{i // per}" if n > per else ""), compact(r[i:i + per]))
    guarded(Q, key, main)
# a) Coalesced groups and partitions: ranks, sizes, shuffles past the end, inclusive scans, labelled and binary partitions
# and what meta_group_rank is. Guess: ranks by lane; labelled groups' meta_group_rank follows the label's order of lowest
# lanes, not the label; shfl with a rank beyond the size gives rank modulo. Met in aggregated atomics.
cgk("a coalesced_threads of lanes % 3 == 1: rank, size", "if ((l + in[0]) % 3 == 1) { auto g = cg::coalesced_threads(); o[l] = g.thread_rank() + 1; o[32 + l] = g.size(); }")
for ex in ("shfl(l + 100, 3)", "shfl(l + 100, 50)", "shfl_up(l + 100, 2)", "shfl_down(l + 100, 2)", "shfl_down(l + 100, 40)", "ballot(l & 2)", "any(l > 28)", "all(l < 29)", "match_any(l / 4)"):
    cgk(f"a coalesced.{ex}", f"if ((l + in[0]) % 3 == 1) {{ auto g = cg::coalesced_threads(); o[l] = g.{ex}; }}", 32)
for ex in ("l % 3", "31 - l / 8", "(l * 7) % 5", "l == 9", "in[l]", "l & 16 ? -5 : 1000000"):
    cgk(f"a labeled_partition({ex}): meta rank, size, rank", f"auto g = cg::labeled_partition(cg::coalesced_threads(), (int)({ex})); o[l] = g.meta_group_rank(); o[32 + l] = g.size(); o[64 + l] = g.thread_rank(); o[96 + l] = g.meta_group_size();", 128)
    cgk(f"a binary_partition({ex}): meta rank, size, rank", f"auto g = cg::binary_partition(cg::coalesced_threads(), ({ex}) != 0); o[l] = g.meta_group_rank(); o[32 + l] = g.size(); o[64 + l] = g.thread_rank();", 96)
# b) Tiles: shuffles when some lanes of a tile have exited or take no part, tiles of tiles, meta ranks, and reduce/scan.
# Guess: a source that has exited gives 0 (hardware) as for the raw shuffle; tiles compute their mask by size and rank.
# Met by sub-warp reductions with ragged ends.
for n in (4, 8, 16, 32):
    for ex in ("shfl(l + 100, 2)", "shfl_xor(l + 100, 1)", "shfl_down(l + 100, 1)", "shfl_up(l + 100, 1)", f"shfl(l + 100, {n + 1})", "ballot(1)"):
        cgk(f"b tile<{n}>.{ex}, lanes 5, 6, 30 exited", f"if (in[0] + l == 5 || l == 6 || l == 30) return; auto g = cg::tiled_partition<{n}>(b); o[l] = g.{ex};", 32)
    cgk(f"b tile<{n}>: meta rank, meta size", f"auto g = cg::tiled_partition<{n}>(b); o[t] = g.meta_group_rank(); o[96 + t] = g.meta_group_size();", 192, 96, per=96)
    cgk(f"b tile<{n}> reduce plus, less, scans", f"auto g = cg::tiled_partition<{n}>(b); o[l] = cg::reduce(g, l + in[0], cg::plus<unsigned>()); o[32 + l] = cg::reduce(g, l ^ 5, cg::less<unsigned>()); o[64 + l] = cg::inclusive_scan(g, l + in[0]); o[96 + l] = cg::exclusive_scan(g, l, cg::plus<unsigned>());", 128)
cgk("b coalesced reduce and scans of odd lanes", "if (in[0] + l & 1) { auto g = cg::coalesced_threads(); o[l] = cg::reduce(g, l, cg::plus<unsigned>()); o[32 + l] = cg::inclusive_scan(g, l); o[64 + l] = cg::exclusive_scan(g, l); o[96 + l] = cg::reduce(g, l, cg::bit_xor<unsigned>()); }", 128)
cgk("b float reduce: bits", "auto g = cg::tiled_partition<32>(b); o[l] = __float_as_uint(cg::reduce(g, 1.0f / (l + 1 + in[0]), cg::plus<float>())); o[32 + l] = __float_as_uint(cg::reduce(g, l == 3 ? __int_as_float(0x7fc00000) : (float)l, cg::greater<float>())); o[64 + l] = __float_as_uint(cg::inclusive_scan(g, 1.0f / (l + 1)));", 96)
cgk("b dynamic tiles: size, rank, group index", "auto g = cg::tiled_partition(b, 8); o[t] = g.size(); o[64 + t] = g.thread_rank(); o[128 + t] = b.group_index().x; ", 192, 64, per=64)
# c) Grid groups: grid.sync under a cooperative launch, is_valid under an ordinary one, ranks, and the largest grid.
# Guess: is_valid() is false in an ordinary launch; a grid one block above the occupancy limit gives 720; the limit is
# blocks per multiprocessor times multiprocessors. Met by persistent kernels.
SRC = HEAD + 'extern "C" __global__ void k(unsigned *o, unsigned n) { auto g = cg::this_grid(); unsigned i = g.thread_rank(); for (unsigned r = 0; r < n; r++) { o[(r & 1 ? 4096 : 0) + i] = r == 0 ? i : o[(r & 1 ? 0 : 4096) + (i + 33) % g.size()] + 1; g.sync(); } if (i == 0) { o[8192] = g.size(); o[8193] = g.num_blocks(); o[8194] = g.is_valid(); o[8195] = g.group_dim().x; } } extern "C" __global__ void v(unsigned *o) { o[0] = cg::this_grid().is_valid(); }'
def grid():
    m = load(compile_cuda(SRC)); f, v = function(m), function(m, "v")
    for blocks, rounds in ((1, 3), (8, 10), (16, 7)):
        o = alloc(4 * 8200); a = [c_uint64(o), c_uint(rounds)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a])
        r = cu("cuLaunchCooperativeKernel", f, blocks, 1, 1, 64, 1, 1, 0, 0, p); s = sync(); w = u32(get(o, 4 * 8200)); n = 64 * blocks; last = w[4096 if rounds % 2 == 0 else 0:][:n]
        say(Q, f"c {blocks} blocks, {rounds} rounds", f"{err(r)} {err(s)} right {all(last[i] == (i + 33 * (rounds - 1)) % n + rounds - 1 for i in range(n))} size {w[8192:8196]}")
    o = alloc(64); launch(v, 2, 32, (o,)); say(Q, "c is_valid in an ordinary launch", u32(get(o, 4)))
    per = c_int(); ok("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(per), f, 64, 0)
    big = alloc(4 * 8200); a = [c_uint64(big), c_uint(0)]; p = (c_void_p * 2)(*[ctypes.addressof(x) for x in a])
    limit = per.value * attribute(16)
    for key, g, b, sh in (("at the limit", limit, 64, 0), ("one above", limit + 1, 64, 0), ("grid 2^31 - 1", 2**31 - 1, 64, 0), ("block 1025", 1, 1025, 0), ("shared 48 KiB + 1", 1, 64, 49153), ("grid 0", 0, 64, 0)):
        say(Q, f"c cuLaunchCooperativeKernel {key}", [err(cu("cuLaunchCooperativeKernel", f, g, 1, 1, b, 1, 1, sh, 0, p)), err(sync())])
    say(Q, "c on the legacy, per-thread and an unknown-flag stream", [err(cu("cuLaunchCooperativeKernel", f, 1, 1, 1, 64, 1, 1, 0, s, p)) for s in (1, 2)]); sync()
guarded(Q, "c", grid)
