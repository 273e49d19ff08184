from common import *
Q = "q71"
init()
# a) shfl.sync where lane operand and clamp/segment operand differ from lane to lane, all four modes, with results and
# predicates. Guess: each lane uses its own b and c: bound = (lane & seg) | (clamp & ~seg), index out of bounds keeps the
# own value and clears p; b counts modulo 32; bits of c beyond 0x1f1f are ignored. Met by code that builds c by hand for
# ragged segments.
MODES = ("up", "down", "bfly", "idx")
SRC = 'extern "C" __global__ void k(unsigned *o, const unsigned *in, unsigned first, unsigned n) { unsigned l = threadIdx.x; if (l < first || l >= n) return; unsigned b = in[l], c = in[32 + l], v = 1000 + l, d, p;\n' + "\n".join(
    f'asm volatile("{{ .reg .pred q; shfl.sync.{m}.b32 %0|q, %2, %3, %4, %5; selp.u32 %1, 1, 0, q; }}" : "=r"(d), "=r"(p) : "r"(v), "r"(b), "r"(c), "r"((n == 32 ? 0xffffffffu : (1u << n) - 1) & ~((1u << first) - 1))); o[{64 * i} + l] = d; o[{64 * i + 32} + l] = p;' for i, m in enumerate(MODES)) + " }"
LANES = {
    "b = lane, c = 0x1f": (lambda l: l, lambda l: 0x1F),
    "b = 1, segments by lane: 8, 16, 4 wide": (lambda l: 1, lambda l: (0x181F, 0x101F, 0x1C1F)[l % 3]),
    "b = 33, c = 0x1f": (lambda l: 33, lambda l: 0x1F),
    "b = 3, clamp 5 in segments of 8": (lambda l: 3, lambda l: 0x1805),
    "b = 5 * lane, c = 0xffffe0ff": (lambda l: 5 * l, lambda l: 0xFFFFE0FF),
    "b = 2, segment mask with holes 0x0a1f": (lambda l: 2, lambda l: 0x0A1F),
}
def shuffles():
    f = build(SRC)
    for key, (b, c) in LANES.items():
        for first, n in ((0, 32), (3, 21)):
            o = alloc(1024); launch(f, 1, 32, (o, device(struct.pack("<64I", *[b(l) for l in range(32)], *[c(l) for l in range(32)])), c_uint(first), c_uint(n))); r = u32(get(o, 1024))
            for i, m in enumerate(MODES):
                # -1: a source that has exited gave something else than a lane's number.
                v, p = r[64 * i:64 * i + 32], r[64 * i + 32:64 * i + 64]
                say(Q, f"a {m} {key}, lanes {first}..{n - 1}", compact([v[l] - 1000 if v[l] >= 1000 else -1 for l in range(first, n)]) + f" p {sum(x << l for l, x in enumerate(p)):08x}")
guarded(Q, "a", shuffles)
# b) Votes, reductions and shuffles of many groups in one converged instruction (masks from match_any). Guess: the hardware
# runs group after group, each as if alone; results are the group's. s32 min of INT_MIN, u32 max wraps as C does. Met in
# aggregated atomics by key without cooperative groups.
KEYS = ("l % 5", "l * l % 7", "l < 30")
OPS = {"ballot(l & 2)": "__ballot_sync(m, l & 2)", "any(l == 17)": "__any_sync(m, l == 17)", "all(l < 25)": "__all_sync(m, l < 25)", "add edges": "__reduce_add_sync(m, v)", "min signed": "(unsigned)__reduce_min_sync(m, (int)v)", "max signed": "(unsigned)__reduce_max_sync(m, (int)v)", "min unsigned": "__reduce_min_sync(m, v)", "max unsigned": "__reduce_max_sync(m, v)", "and": "__reduce_and_sync(m, v | 5)", "or": "__reduce_or_sync(m, v & 0xf0f0f0f0)", "xor": "__reduce_xor_sync(m, v)", "shfl from the group's last": "__shfl_sync(m, l, 31 - __clz(m))", "shfl_xor 1 in the group": "__shfl_sync(m, l, __fns(m, 0, 1))", "match_all of l & 1": "__match_all_sync(m, l & 1, &p)", "match_any of v within": "__match_any_sync(m, v)", "activemask of the group": "__popc(__activemask() & m)"}
def groups():
    src = "".join(f'extern "C" __global__ void k{i}(unsigned *o, const unsigned *in) {{ unsigned l = threadIdx.x, v = in[l & 7]; int p = 0; (void)v; (void)p; unsigned m = __match_any_sync(~0u, {key}); ' + " ".join(f"o[{32 * j} + l] = {ex};" for j, ex in enumerate(OPS.values())) + " }\n" for i, key in enumerate(KEYS))
    m = load(compile_cuda(src)); inp = device(struct.pack("<8I", 0x80000000, 0x7fffffff, 0xffffffff, 0, 1, 0xfffffffe, 0x80000001, 0xdeadbeef))
    for i, key in enumerate(KEYS):
        o = alloc(128 * len(OPS)); launch(function(m, f"k{i}"), 1, 32, (o, inp)); r = u32(get(o, 128 * len(OPS)))
        for j, name in enumerate(OPS):
            say(Q, f"b groups of {key}: {name}", compact([f"{v:x}" for v in r[32 * j:32 * j + 32]]))
guarded(Q, "b", groups)
# c) Lanes that leave a loop while the others go on with masks from ballot; a block whose last warp is short. Guess: a short
# warp's absent lanes count as exited: ballot(~0) leaves their bits 0, reduce over ~0 ignores them, shfl_down past the end
# gives the own value or 0. Met at the ragged end of an array.
def loops():
    src = 'extern "C" __global__ void k(unsigned *o, const unsigned *in) { unsigned l = threadIdx.x & 31, w = threadIdx.x / 32, m = __ballot_sync(~0u, 1), s = 0, n = 0; o[threadIdx.x] = m; while (true) { unsigned stay = __ballot_sync(m, (l * 7 + n) % 11 != 3 && n < in[0]); s = s * 31 + __reduce_add_sync(m, l + n) + __popc(m); bool go = stay >> l & 1; if (!go) break; m = stay; n++; } o[64 + threadIdx.x] = s; o[128 + threadIdx.x] = n; o[192 + threadIdx.x] = m; __syncwarp(); o[256 + threadIdx.x] = __reduce_max_sync(~0u, l + w); o[320 + threadIdx.x] = __reduce_min_sync(~0u, l | 32); o[384 + threadIdx.x] = __any_sync(~0u, l > 20); o[448 + threadIdx.x] = __match_any_sync(~0u, l & 3); }'
    f = build(src)
    for block in (45, 33):
        o = alloc(2048); launch(f, 1, block, (o, device(struct.pack("<I", 6)))); r = u32(get(o, 2048))
        for i, name in enumerate(("ballot(1)", "hash of sums", "rounds", "last mask", "reduce_max(~0)", "reduce_min(~0)", "any(~0, l > 20)", "match_any(~0, l & 3)")):
            say(Q, f"c block {block}: {name}", compact([f"{v:x}" for v in r[64 * i:64 * i + block]]))
guarded(Q, "c", loops)
