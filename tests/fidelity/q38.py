from common import *
Q = "q38"
init()
# a) 64-bit atomics of a warp on one address: which old values the lanes get, in global and in shared memory. Guess: in
# order of lanes as with 32 bits; shared 64-bit CAS loops let the lanes pass in order, too; f64 add in shared memory
# is a CAS loop and may go in another order. Met by order-dependent 64-bit keys (argmin packed with an index).
SRC = r'''extern "C" __global__ void k(unsigned long long *o, unsigned long long *g, unsigned mask, unsigned long long init) {
  unsigned lane = threadIdx.x; __shared__ unsigned long long s[4]; unsigned sp = (unsigned)__cvta_generic_to_shared(s); unsigned long long first = 0, end = 0; int same = 1;
  for (int r = 0; r < 200; r++) {
    if (lane == 0) { *(volatile unsigned long long *)g = init; *(volatile unsigned long long *)s = init; } __threadfence(); __syncwarp();
    unsigned long long d = 0, v = VALUE, w = init + lane + 1; (void)w; (void)sp;
    if (mask >> lane & 1) asm volatile("OP" : "=l"(d) : "POINTER"(PTR), "l"(v), "l"(w) : "memory");
    __threadfence(); __syncwarp(); unsigned long long e = *(volatile unsigned long long *)MEM;
    if (r == 0) first = d, end = e; else if (first != d || end != e) same = 0; __syncwarp(); }
  o[lane] = first; unsigned all = __all_sync(~0u, same); if (lane == 0) o[32] = end, o[33] = all; }'''
OPS = {"add.u64": "lane + 1", "min.u64": "100 - lane", "min.s64": "(long long)lane - 40", "max.u64": "1000 + (lane ^ 5)", "max.s64": "lane * 3 % 32", "and.b64": "~(1ull << lane)", "or.b64": "1ull << (2 * lane)", "xor.b64": "1ull << lane", "exch.b64": "lane + 1000", "cas.b64": "init + lane", "add.f64": "0x3ff0000000000000ull + (1ull << 52) * lane"}
for space, mem, ptr, con in (("global", "g", "g", "l"), ("shared", "s", "sp", "r")):
    for op, value in OPS.items():
        for mask in (0xffffffff, 0xa5a5f00f):
            def main():
                ins = f"atom.{space}.{op} %0, [%1], %2" + (", %3;" if op.startswith("cas") else ";")
                o, g = alloc(8 * 34), alloc(64)
                launch(build(SRC.replace("VALUE", value).replace("OP", ins).replace("POINTER", con).replace("PTR", ptr).replace("MEM", mem)), 1, 32, (o, g, mask, 0 if op != "and.b64" else 2**64 - 1))
                r = u64(get(o, 8 * 34))
                say(Q, f"a {space} {op} mask {mask:08x}", f"old {' '.join(f'{v:x}' if mask >> i & 1 else '-' for i, v in enumerate(r[:32]))}; memory {r[32]:x}; the same in 200 rounds {bool(r[33])}")
            guarded(Q, f"a {space} {op}", main)
# b) Atomics of one thread at edge operands: inc/dec wrap, signed and unsigned min/max, and exchange; old and new value.
# Guess: inc wraps when old >= b, also for b = 0; dec of 0 or of old > b gives b; inc and dec exist for 32 bits only.
# Met by hash tables and ring-buffer indices.
E = [0, 1, 5, 2**31 - 1, 2**31, 2**32 - 1]
E8 = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**32]
def single(space, op, g, cases, key, version="8.0"):
    size = {"r": 4, "l": 8, "h": 2}[g]; t = f"b{8 * size}"
    tail = ", b, c" if ".cas" in op else ", b"
    where, decl, store = ("[%m]", "", "%m") if space == "global" else ("[sm]", f".shared .align 16 .b8 sm[16];", "sm")
    ins = f"{decl} .reg .b64 %m; ld.param.u64 %m, [mem]; st.{space}.{t} [{store}], a; {op} d, {where}{tail}; ld.{space}.{t} e, [{store}]"
    e = ptx_entry("k", ins, f"{g}{g}={g}{g}" + (g if ".cas" in op else "")).replace(".param .u64 out)", ".param .u64 out, .param .u64 mem)")
    try:
        f = function(load((PTX_HEAD.format(version, "sm_80") + e).encode()))
    except LoadError as x:
        return say(Q, key, "refused " + str(x).split()[1])
    out, m, line = alloc(16), alloc(64), []
    for c in cases:
        launch(f, 1, 1, (device(b"".join(struct.pack("<Q", v) for v in c)), out, m))
        r = u64(get(out, 16)); line.append(",".join(f"{v:x}" for v in c) + f">{r[0]:x},{r[1]:x}")
    say(Q, key, " ".join(line))
for space in ("global", "shared"):
    for op in ("inc.u32", "dec.u32", "min.s32", "max.u32", "add.s32"):
        single(space, f"atom.{space}.{op}", "r", [(a, b) for a in E for b in E], f"b atom.{space}.{op}")
    for op in ("min.s64", "min.u64", "max.s64", "max.u64", "add.u64", "inc.u64", "dec.u64"):
        single(space, f"atom.{space}.{op}", "l", [(a, b) for a in E8 for b in E8], f"b atom.{space}.{op}")
    for op, g, c in (("cas.b16", "h", [(1, 1, 2), (0x8000, 0, 5), (0xffff, 0xffff, 0), (2, 1, 9)]), ("cas.b32", "r", [(1, 1, 2), (2, 1, 3)]), ("cas.b64", "l", [(1, 1, 2**40), (2**32, 0, 3)]), ("exch.b64", "l", [(1, 2**63)]), ("exch.b32", "r", [(1, 7)])):
        single(space, f"atom.{space}.{op}", g, c, f"b atom.{space}.{op}")
# c) f64 add with NaN, -0, subnormals and overflow, in both spaces; scopes and semantics as qualifiers. Guess: IEEE, no
# flush, NaN payload of the operand kept quieted or canonical 0x7fff...; .acquire/.release/.acq_rel, .cta/.gpu/.sys all
# give the same. Met in reductions with missing values.
F = [(0, 1 << 63), (1 << 63, 1 << 63), (1, 1), (1 << 52, (1 << 63) + 1), (0x7fe << 52, 0x7fe << 52), (0x7ff << 52, 0xfff << 52), ((0x7ff << 52) + 1, 0), (0, 0xfff8000012345678), ((0x7ff << 52) + 1, 0xfff8000012345678), (0x3ff << 52, 0x3ca << 52)]
for space in ("global", "shared"):
    single(space, f"atom.{space}.add.f64", "l", F, f"c atom.{space}.add.f64")
    for sem in ("relaxed", "acquire", "release", "acq_rel"):
        for sc in ("cta", "gpu", "sys"):
            single(space, f"atom.{sem}.{sc}.{space}.add.f64", "l", F[-3:], f"c atom.{sem}.{sc}.{space}.add.f64")
