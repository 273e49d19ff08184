from common import *
Q = "q73"
init()
# a) One store instruction of which several lanes hit the same element, in patterns of several groups: who stays, by width,
# vector and space. Guess: the highest lane of each group stays, for vectors too, in shared memory as well; for 16-byte
# stores, which the hardware runs in quarters, also. Met by scatter without atomics.
WIDTHS = {"u8": ("r", "l + 1", 1, 1), "u16": ("h", "(short)(l + 1)", 2, 1), "u32": ("r", "l + 1", 4, 1), "u64": ("l", "(unsigned long long)(l + 1)", 8, 1), "v2.u8": ("r", "l + 1 + 40 * J", 1, 2), "v4.u8": ("r", "l + 1 + 40 * J", 1, 4), "v2.u16": ("h", "(short)(l + 1 + 100 * J)", 2, 2), "v4.u16": ("h", "(short)(l + 1 + 100 * J)", 2, 4), "v2.u32": ("r", "l + 1 + 100 * J", 4, 2), "v4.u32": ("r", "l + 1 + 100 * J", 4, 4), "v2.u64": ("l", "(unsigned long long)(l + 1 + 100 * J)", 8, 2), "v2.f64": ("d", "(double)(l + 1 + 100 * J)", 8, 2)}
PATTERNS = {"l % 3": lambda l: l % 3, "l * 7 % 5": lambda l: l * 7 % 5, "l / 8": lambda l: l // 8, "(31 - l) % 4": lambda l: (31 - l) % 4, "l ^ 5 & 6": lambda l: l ^ 5 & 6, "bit pairs": lambda l: (l >> 1 & 1) * 3 + (l >> 4)}
def collide():
    src = ""
    for i, (ty, (con, val, size, n)) in enumerate(WIDTHS.items()):
        for s, space in enumerate(("global", "shared", "generic shared")):
            addr = "(unsigned)__cvta_generic_to_shared(sh) + a" if space == "shared" else "(char *)g + a" if space == "global" else "(char *)sh + a"
            regs = ", ".join(f"%{1 + j}" for j in range(n))
            ins = f'asm volatile("st{"." + space if " " not in space else ""}.{ty} [%0], {"{" + regs + "}" if n > 1 else regs};" :: "{"r" if space == "shared" else "l"}"({addr}), ' + ", ".join(f'"{con}"({val.replace("J", str(j))})' for j in range(n)) + ' : "memory");'
            src += f'extern "C" __global__ void k{3 * i + s}(unsigned *g, const unsigned *in, unsigned mask) {{ __shared__ __align__(16) unsigned sh[128]; unsigned l = threadIdx.x, a = {size * n} * in[l]; for (int j = l; j < 128; j += 32) sh[j] = 0; __syncwarp(); if (mask >> l & 1) {ins} __syncwarp(); {"for (int j = l; j < 128; j += 32) g[j] = sh[j];" if s else ""} }}\n'
    m = load(compile_cuda(src))
    for i, (ty, (con, val, size, n)) in enumerate(WIDTHS.items()):
        for s, space in enumerate(("global", "shared", "generic shared")):
            out = []
            for pat, mask in zip(PATTERNS, (0xffffffff, 0xffffffff, 0x7ffffffe, 0x0ff0ff0f, 0xffffffff, 0x1fffffff)):
                g = alloc(512); launch(function(m, f"k{3 * i + s}"), 1, 32, (g, device(struct.pack("<32I", *[PATTERNS[pat](l) for l in range(32)])), c_uint(mask))); raw = get(g, 512)
                top = 1 + max(PATTERNS[pat](l) for l in range(32)); el = [int.from_bytes(raw[size * j:size * j + size], "little") for j in range(n * top)]
                if ty == "v2.f64": el = [int(x) for x in struct.unpack(f"<{2 * top}d", raw[:16 * top])]
                out.append(f"{pat}: " + " ".join("/".join(map(str, el[n * j:n * j + n])) for j in range(top)))
            say(Q, f"a st.{space}.{ty}", "; ".join(out))
guarded(Q, "a", collide)
# b) A thread's own mixed widths in local, shared and global memory: narrow stores into wide data, loads with sign extension to
# wider registers, vectors across. Guess: plain little-endian bytes everywhere; ld.s8 into 64 bits extends to all of them;
# ld.u16 leaves the upper part 0; ld.b8 in a 32-bit register extends with zeros. Met by unions and packed records.
V = [(0x8182838485868788, 0xfff1f2f3f4f5f6f7), (0x0102030405060708, 0x7f80ff0080808080)]
rows = []
for space, decl in (("local", ".local .align 16 .b8 m[32];"), ("shared", ".shared .align 16 .b8 n[1024]; .reg .b32 m; mov.u32 m, n; mad.lo.u32 m, %t, 32, m;")):
    pre = f"{decl} st.{space}.v2.b64 [m], {{a, b}}; "
    for ins in ("st.S.u8 [m+3], b; ld.S.u64 d, [m]", "st.S.u16 [m+6], b; st.S.u32 [m+8], a; ld.S.v2.u64 {d, e}, [m]", "ld.S.s8 d, [m+9]; ld.S.s8 e, [m+12]", "ld.S.s16 d, [m+2]; ld.S.s32 e, [m+4]", "ld.S.u16 d, [m+14]; ld.S.b8 e, [m+15]", "ld.S.v2.s16 {d, e}, [m+4]", "ld.S.v2.s8 {d, e}, [m+6]", "ld.S.v2.u32 {d, e}, [m+8]", "st.S.v2.u16 [m+4], {b, a}; ld.S.u64 d, [m]", "st.S.v4.u8 [m+12], {a, b, a, b}; ld.S.v2.s32 {d, e}, [m+8]", "st.S.v2.f32 [m+8], {%f1, %f2}; ld.S.u64 d, [m+8]"):
        if "%f" in ins:
            ins = ".reg .f32 %f1, %f2; mov.f32 %f1, 0f80000000; mov.f32 %f2, 0f7FC12345; " + ins
        rows.append((pre + ins.replace(".S.", f".{space}."), "ll=ll" if " e," in ins or ", e}" in ins else "l=ll", V))
asm(Q, rows, prefix="b ", chunk=4)
# c) Structures in C: bit fields, packed by memcpy, arrays of 3-byte elements, unions, volatile, copies of overlapping parts
# in registers or local memory, memset of parts. Guess: as on the host; bit fields signed when declared so and truncated on
# store; sizes as the host compiler has them. Met when a host structure is passed by value.
CBODY = {"bit fields": "struct B { int a : 3; unsigned b : 7; int c : 22; } x; x.a = in[0] + 5; x.b = in[0] + 200; x.c = in[1]; o[0] = x.a; o[1] = x.b; o[2] = x.c; o[3] = *(int *)&x;",
 "bit fields of long long": "struct B { long long a : 40; unsigned long long b : 24; } x; x.a = (1ll << 39) + in[0]; x.b = in[1]; o[0] = (int)(x.a >> 32); o[1] = (int)x.b; o[2] = sizeof(x); o[3] = x.a < 0;",
 "array of 3-byte structures": "struct T { unsigned char x, y, z; }; T t[9]; for (int i = 0; i < 9; i++) { t[i].x = i + in[0]; t[i].y = 2 * i; t[i].z = ~i; } memcpy(o, t + (in[0] & 1), 24);",
 "memcpy at odd offsets": "unsigned char b[64]; for (int i = 0; i < 64; i++) b[i] = i * 5 + in[0]; memcpy(b + 3 + in[0], b + 16, 13); memcpy(o, b, 32);",
 "memmove that overlaps upwards": "unsigned char b[40]; for (int i = 0; i < 40; i++) b[i] = i + in[0]; for (int i = 20; i-- > 0;) b[5 + i] = b[2 + i]; memcpy(o, b, 32);",
 "memset of the middle": "int b[8] = {1, 2, 3, 4, 5, 6, 7, 8}; b[in[0]] = 9; memset((char *)b + 5 + in[0], 0xab, 14); memcpy(o, b, 32);",
 "union of double and words": "union { double d; unsigned u[2]; unsigned char c[8]; } x; x.d = -1.5 + in[0]; x.c[6 + in[0]] = 0x11; o[0] = x.u[0]; o[1] = x.u[1]; x.u[1] = in[1]; memcpy(o + 2, &x.d, 8);",
 "sizes": "o[0] = sizeof(float3); o[1] = sizeof(char3); o[2] = sizeof(longlong3); o[3] = alignof(float4); o[4] = alignof(float3); o[5] = alignof(short4); o[6] = sizeof(long); o[7] = sizeof(wchar_t);",
 "offsets": "struct S { char a; double b; short c; float3 d; char e; int4 f; }; o[0] = OFF(b); o[1] = OFF(c); o[2] = OFF(d); o[3] = OFF(e); o[4] = OFF(f); o[5] = sizeof(S); o[6] = alignof(S);",
 "indexed by runtime values": "short s[4][5]; for (int i = 0; i < 20; i++) s[i / 5][i % 5] = i * 1000 + in[0]; for (int i = 0; i < 8; i++) o[i] = s[(i + in[0]) % 4][(i * 3) % 5];",
 "char arithmetic": "signed char c = in[1]; unsigned char u = in[1]; char d = in[1]; o[0] = c; o[1] = u; o[2] = d; c = c * 3; u = u * 3; o[3] = c; o[4] = u; o[5] = (c >> 1); o[6] = u << 3; o[7] = (short)(in[1] * 77);",
 "volatile and restrict": "volatile short *v = (volatile short *)o; v[0] = in[1]; v[1] = v[0] + 1; v[2] = v[1] >> 4; v[5] = v[0] ^ v[2];",
 "bool stores": "bool *b = (bool *)o; b[0] = in[1]; b[1] = in[0]; b[2] = in[1] & 0x100; b[3] = !in[1]; o[1] = b[0] + b[1] + b[2];"}
def records():
    m = load(compile_cuda("#define OFF(x) (int)(size_t)&((S *)0)->x\n" + "".join(f'extern "C" __global__ void k{i}(int *o, const int *in) {{ {b} }}\n' for i, b in enumerate(CBODY.values()))))
    for i, key in enumerate(CBODY):
        for second in (-1234567, 0xfed):
            o = alloc(64); launch(function(m, f"k{i}"), 1, 1, (o, device(struct.pack("<2i", 0, second)))); say(Q, f"c {key}, {second}", h8(u32(get(o, 32))))
guarded(Q, "c", records)
