from common import *
Q = "q39"
init()
SRC = r'''extern "C" __global__ void k(unsigned *o, unsigned char *g, unsigned mask) {
  unsigned lane = threadIdx.x; __shared__ __align__(128) unsigned char s[512]; unsigned sp = (unsigned)__cvta_generic_to_shared(s); (void)sp; unsigned f[16], same = 1;
  for (int r = 0; r < 300; r++) {
    for (int i = lane; i < 128; i += 32) ((volatile unsigned *)g)[i] = 0xeeeeeeee, ((volatile unsigned *)s)[i] = 0xeeeeeeee; __threadfence(); __syncwarp();
    if (mask >> lane & 1) { OP } __threadfence(); __syncwarp();
    for (int i = 0; i < 16; i++) { unsigned v = ((volatile unsigned *)MEM)[i]; if (r == 0) f[i] = v; else if (f[i] != v) same = 0; } __syncwarp(); }
  if (lane == 0) { for (int i = 0; i < 16; i++) o[i] = f[i]; o[16] = same; } }'''
def winner(key, op, mem, words=4):
    def main():
        f = build(SRC.replace("OP", op).replace("MEM", mem))
        for mask in (0xffffffff, 0x00ff0ff0, 0xfffffff0):
            o, g = alloc(72), alloc(512)
            launch(f, 1, 32, (o, g, mask)); r = u32(get(o, 68))
            say(Q, f"{key} mask {mask:08x}", f"{h8(r[:words])} constant {r[16]}")
    guarded(Q, key, main)
def st(t, n, addr, space, qual=""):
    """A store of lane numbers: type, elements, address in lanes."""
    vec = f".v{n}" if n > 1 else ""
    con, val = {"8": ("r", "lane + {}"), "16": ("h", "(short)(lane + {})"), "32": ("r", "lane + {}"), "64": ("l", "(unsigned long long)(lane + {})")}[t[1:]]
    vals = ", ".join(f'"{con}"({val.format(hex(0x40 * i))})' for i in range(n))
    return f'asm volatile("st{qual}.{space}{vec}.{t} [%0], ' + ("{" if n > 1 else "") + ", ".join(f"%{i + 1}" for i in range(n)) + ("}" if n > 1 else "") + f';" :: ' + (f'"l"(g + ({addr}))' if space == "global" else f'"r"(sp + ({addr}))') + f', {vals} : "memory");'
# a) All lanes store to one address: vectors of small elements, 64-bit floats, local copies, volatile and release stores.
# Guess: by bytes per lane, as u32 for up to 4 bytes (lowest lane stays), u64 for 8 (lane 16), 16 bytes (lane 24).
# Met by flags and packed pixels written by all threads.
for space, mem in (("global", "g"), ("shared", "s")):
    for t, n in (("u32", 2), ("u16", 2), ("u8", 4), ("u8", 2), ("u16", 4), ("u16", 1), ("b64", 1), ("b64", 2)):
        winner(f"a st.{space}.v{n}.{t}", st(t, n, "0", space), mem)
    for q in (".volatile", ".relaxed.gpu", ".release.gpu", ".wt"):
        winner(f"a st{q}.{space}.u32", st("u32", 1, "0", space, q), mem, 1)
winner("a st.global.f64 by C", "((double *)g)[0] = lane;", "g", 2)
winner("a st generic float4 by C", "*(float4 *)(lane < 40 ? (unsigned char *)s : g) = make_float4(lane, lane, lane, lane);", "s")
# b) Lanes overlap in part: strides below the width, several addresses, widths that differ within the warp. Guess: the
# rule for one address holds byte for byte: each byte comes from the lane that a single address would choose. Met in
# racy scatter of small structures.
for space, mem in (("global", "g"), ("shared", "s")):
    for key, t, n, addr in (("u32 lanes at 4*(lane/4)", "u32", 1, "4 * (lane / 4)"), ("u32 at 4*(lane%4)", "u32", 1, "4 * (lane % 4)"), ("u16 at 2*(lane/8)", "u16", 1, "2 * (lane / 8)"), ("u8 at lane%3", "u8", 1, "lane % 3"), ("u8 at lane/2", "u8", 1, "lane / 2"), ("v2.u32 at 8*(lane%2)", "u32", 2, "8 * (lane % 2)"), ("v2.u32 at 8*(lane/16)", "u32", 2, "8 * (lane / 16)"), ("v4.u32 at 16*(lane%2)", "u32", 4, "16 * (lane % 2)"), ("v4.u32 at 16*(lane/8)", "u32", 4, "16 * (lane / 8)"), ("u64 at 8*(lane%3)", "b64", 1, "8 * (lane % 3)"), ("v2.u16 at 4*(lane%5)", "u16", 2, "4 * (lane % 5)"), ("u32 at 4*(31-lane)/8*8", "u32", 1, "(31 - lane) / 2 * 4 % 64"), ("v2.u64 at 16*(lane%3)", "b64", 2, "16 * (lane % 3)")):
        winner(f"b {space} {key}", st(t, n, addr, space), mem, 16)
    for key, op in (("u32, then u16 by all at +2", st("u32", 1, "0", space) + st("u16", 1, "2", space)), ("odd lanes u8 at +1, even u32", "if (lane & 1) { " + st("u8", 1, "1", space) + " } else { " + st("u32", 1, "0", space) + " }"), ("half v2 at 0, half u32 at 4", "if (lane < 16) { " + st("u32", 2, "0", space) + " } else { " + st("u32", 1, "4", space) + " }"), ("lanes 0-7 v4, 8-31 u64 at 8", "if (lane < 8) { " + st("u32", 4, "0", space) + " } else { " + st("b64", 1, "8", space) + " }")):
        winner(f"b {space} {key}", op, mem, 4)
# c) A reduction and a store, exchange and plain store at one address in one divergent branch, and a store followed by
# each lane's own load. Guess: the branch of lane 0 goes first, so the other branch's value stays; own loads after the
# store give the winner's value in shared memory. Met by mixed atomic and plain writes to counters.
for space, mem in (("global", "g"), ("shared", "s")):
    p = '"l"(g)' if space == "global" else '"r"(sp)'
    for key, op in (("odd red.add, even st", f'if (lane & 1) asm volatile("red.{space}.add.u32 [%0], %1;" :: {p}, "r"(0x100) : "memory"); else ' + st("u32", 1, "0", space)), ("even red.add, odd st", f'if (!(lane & 1)) asm volatile("red.{space}.add.u32 [%0], %1;" :: {p}, "r"(0x100) : "memory"); else ' + st("u32", 1, "0", space)), ("exch by all", f'unsigned d; asm volatile("atom.{space}.exch.b32 %0, [%1], %2;" : "=r"(d) : {p}, "r"(lane) : "memory");'), ("red.max by all", f'asm volatile("red.{space}.max.u32 [%0], %1;" :: {p}, "r"(lane) : "memory");'), ("store, load, store of the loaded + 0x100", st("u32", 1, "0", space) + f' unsigned d; asm volatile("ld.{space}.u32 %0, [%1];" : "=r"(d) : {p} : "memory"); asm volatile("st.{space}.u32 [%0+4], %1;" :: {p}, "r"(d + 0x100 * lane) : "memory");'), ("store, then load within quads", st("u32", 1, "4 * (lane / 4 % 4)", space))):
        winner(f"c {space} {key}", op, mem, 4)
