from common import *
Q = "q40"
init()
# One kernel for all: mode, b and c come from memory; each lane stores value and predicate.
def shuffle_kernel(modes):
    return "".join(f".visible .entry k_{m}_{w}(.param .u64 in, .param .u64 out, .param .u32 mask, .param .u32 go) {{\n.reg .b32 %l, %b, %c, %v, %q, %m, %g; .reg .b64 %i, %o; .reg .pred p, g;\n"
        f"mov.u32 %l, %laneid; ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u32 %m, [mask]; ld.param.u32 %g, [go]; mad.wide.u32 %o, %l, 8, %o; mad.wide.u32 %i, %l, 8, %i;\n"
        f"ld.global.u32 %b, [%i]; ld.global.u32 %c, [%i+4]; add.u32 %v, %l, 100; shr.u32 %g, %g, %l; and.b32 %g, %g, 1; setp.eq.u32 g, %g, 0;\n"
        + ("@g ret;\n" if w == "exit" else "@g bra END;\n") + f"shfl.sync.{m}.b32 %v|p, %v, %b, %c, %m; selp.u32 %q, 1, 0, p; st.global.v2.u32 [%o], {{%v, %q}};\nEND: ret; }}\n" for m in modes for w in ("skip", "exit"))
M = load((PTX_HEAD.format("8.0", "sm_80") + shuffle_kernel(("up", "down", "bfly", "idx"))).encode())
def ask(key, mode, b, c, mask=0xffffffff, go=0xffffffff, how="skip"):
    b, c = [b] * 32 if isinstance(b, int) else b, [c] * 32 if isinstance(c, int) else c
    o = alloc(256)
    launch(function(M, f"k_{mode}_{how}"), 1, 32, (device(struct.pack("<64I", *[x & 0xffffffff for p in zip(b, c) for x in p])), o, mask, go))
    r = u32(get(o, 256))
    say(Q, key, compact([r[2 * i] - 100 if r[2 * i] >= 100 else (f"value {r[2 * i]}" if go >> i & 1 else "-") for i in range(32)]) + "; p " + f"{sum(r[2 * i + 1] << i for i in range(32)):08x}")
# a) All modes with each segment size and clamp, offsets 0 to beyond 31. Guess: b takes 5 bits; up compares with the
# segment's start (c's clamp bits count, usually 0), others with clamp | segment; out of range keeps the own value, p false.
# Met through __shfl_*_sync's width argument, and by codes which pass widths that are no power of two.
for mode in ("up", "down", "bfly", "idx"):
    for width in (32, 16, 8, 4, 2, 1):
        for b in (0, 1, 3, 5, 16, 31, 32, 33, 0xffffffff):
            c = (32 - width) << 8 | (0 if mode == "up" else 31)
            guarded(Q, mode, lambda: ask(f"a {mode} width {width} b {b:x}", mode, b, c))
    for c in (0x0007, 0x1800, 0x0f0f, 0x1f1f, 0x1c03, 0x0a1f, 0x141f, 0xe01f, 0xffffffff, 5, 0x0810):
        guarded(Q, mode, lambda: ask(f"a {mode} c {c:x} b 3", mode, 3, c))
    guarded(Q, mode, lambda: ask(f"a {mode} b is 31 - lane", mode, [31 - i for i in range(32)], 0x1f))
    guarded(Q, mode, lambda: ask(f"a {mode} c differs by lane, b 2", mode, 2, [((32 - (1 << i % 6)) << 8) | 31 for i in range(32)]))
# b) Sources that are not active: lanes which branched around, lanes that have exited, and lanes outside the mask.
# Guess: undefined by the guide; own value or whatever the lane's register has (here its 100 + lane) for skipped lanes; 0
# for exited ones. Met in reductions over 20 of 32 lanes.
for mode, b in (("down", 4), ("up", 4), ("bfly", 8), ("idx", 17), ("idx", 3)):
    for width in (32, 16, 8, 4):
        for mask, go in ((0x000fffff, 0x000fffff), (0x55555555, 0x55555555), (0xfff0fff0, 0xfff0fff0)):
            for how in ("skip", "exit"):
                guarded(Q, mode, lambda: ask(f"b {mode} {b} width {width} mask {mask:08x} others {how}", mode, b, (32 - width) << 8 | (0 if mode == "up" else 31), mask, go, how))
    guarded(Q, mode, lambda: ask(f"b {mode} {b} mask ffffffff, lanes from 20 exited", mode, b, 0 if mode == "up" else 31, 0xffffffff, 0xfffff, "exit"))
# c) Votes and matches at partial masks, in two groups of one warp at a time. Guess: results only count lanes of the
# mask; ballot has zero bits elsewhere; match_all of a partial mask gives that mask; activemask inside is the group. Met by warp-level key grouping.
EX = {"ballot": "__ballot_sync(m, l & 4)", "all": "__all_sync(m, l < 64)", "any(none)": "__any_sync(m, l > 99)", "uni": "__uni_sync(m, l & 1)", "match_any(l/3)": "__match_any_sync(m, l / 3)", "match_any 64": "__match_any_sync(m, (unsigned long long)(l & 6) << 40)", "match_all": "__match_all_sync(m, 7, &p)", "match_all differ": "__match_all_sync(m, l, &p)", "match_any NaN": "__match_any_sync(m, __int_as_float(0x7fc00000 + (l & 1)))", "match_any -0": "__match_any_sync(m, l & 1 ? -0.0f : 0.0f)", "match_any f64": "__match_any_sync(m, (double)(l & 3))", "activemask": "(__syncwarp(m), __activemask())"}
for key, ex in EX.items():
    for cond in ("l & 1", "l < 20", "l % 3 == 0", "l == 31"):
        def main():
            r = run32(f'extern "C" __global__ void k(unsigned *o, unsigned *in) {{ unsigned l = threadIdx.x; int p = 5; unsigned all = __ballot_sync(~0u, in[l] + ({cond})); if ({cond}) {{ unsigned m = all; o[l] = {ex}; }} else {{ unsigned m = ~all; o[l] = {ex}; }} o[32 + l] = p; }}', 64, args=(alloc(128),))
            say(Q, f"c {key} in groups by {cond}", compact([f"{v:x}" for v in r[:32]]) + (" ; p " + compact(r[32:]) if "match_all" in key else ""))
        guarded(Q, f"c {key}", main)
