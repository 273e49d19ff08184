"""The instruction forms of the recorded table.

A form is one or a few PTX instructions over fixed registers: ``%p %h %r %d`` are registers of 1, 16,
32 and 64 bits; sources are numbered 1 to 6 in the order of the form's operand kinds, results are 0, 7,
8 and 9, numbers from 10 on are temporaries. ``%x6`` holds the address of eight bytes in global memory
that belong to the thread, ``%y5`` that of eight bytes in shared memory.

Products of modifiers are written out freely: what the assembler of the GPU refuses is listed as
refused and is not part of the table. So it does no harm to add forms that may not exist.
"""

from itertools import product

INTS = ["u16", "s16", "u32", "s32", "u64", "s64"]
RND = ["rn", "rz", "rm", "rp"]
FLOAT_CMP = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
BITS = {"pred": 1, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "tf32": 32, "bf16": 16, "f16": 16}
BITS |= {"e4m3x2": 16, "e5m2x2": 16, "u8": 16, "s8": 16, "b8": 16}


def bits(ty):
    """Width of the register that holds a value of this type."""
    return BITS[ty] if ty in BITS else int(ty[1:])


def reg(ty, n):
    """Register ``n`` of the class that holds this type."""
    return "%" + {1: "p", 16: "h", 32: "r", 64: "d"}[bits(ty)] + str(n)


def kind(ty):
    """The kind of operand values to try for a type; `operands.py` knows them."""
    if ty[0] in "usb" and ty[1:].isdigit():
        return f"i{bits(ty)}"
    return {"u16x2": "i16x2", "s16x2": "i16x2", "pred": "pred"}.get(ty, ty)


def same(op, ty, n):
    """`op` with one result and `n` operands of one type."""
    operands = ", ".join(reg(ty, i) for i in range(n + 1))
    return f"{op}.{ty} {operands};", " ".join([kind(ty)] * n)


def flags(*choices):
    """All combinations of optional modifiers, in the order given."""
    return ["".join(c) for c in product(*[["", "." + w] if isinstance(w, str) else w for w in choices])]


def integers():
    """Arithmetic of whole numbers."""
    for ty in INTS:
        for op in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"]:
            yield same(op, ty, 2)
        for op in ["mad.lo", "mad.hi", "sad"]:
            yield same(op, ty, 3)
        if "64" not in ty:
            k, wide = kind(ty), f"i{2 * bits(ty)}"
            d = reg(f"u{2 * bits(ty)}", 0)
            yield f"mul.wide.{ty} {d}, {reg(ty, 1)}, {reg(ty, 2)};", f"{k} {k}"
            yield f"mad.wide.{ty} {d}, {reg(ty, 1)}, {reg(ty, 2)}, {d[:-1]}3;", f"{k} {k} {wide}"
    for ty in ["s16", "s32", "s64"]:
        yield same("abs", ty, 1)
        yield same("neg", ty, 1)
    for op in ["add.sat", "sub.sat", "min.relu", "max.relu"]:
        yield same(op, "s32", 2)
    for part, ty in product(["lo", "hi"], ["u32", "s32"]):
        yield same(f"mul24.{part}", ty, 2)
        yield same(f"mad24.{part}", ty, 3)
    yield same("mad.hi.sat", "s32", 3)
    yield same("mad24.hi.sat", "s32", 3)
    for a, b in product(["u32", "s32"], repeat=2):
        for op in ["dp4a", "dp2a.lo", "dp2a.hi"]:
            yield f"{op}.{a}.{b} %r0, %r1, %r2, %r3;", "bytes bytes i32"
    for op, ty in product(["add", "sub", "min", "max", "min.relu", "max.relu"], ["u16x2", "s16x2"]):
        yield same(op, ty, 2)


def carries():
    """Chains through the carry flag; each ends with the flag as a number."""
    for ty in ["u32", "s32", "u64", "s64"]:
        k = kind(ty)
        r = [reg(ty, i) for i in range(10)]
        end = f"addc.{ty} {r[8]}, 0, 0;"
        pair = f"{r[0]}, {r[1]}, {r[2]}; {{}}.cc.{ty} {r[7]}, {r[3]}, {r[4]}; "
        yield f"add.cc.{ty} " + pair.format("addc") + end, f"{k} {k} {k} {k}"
        yield f"sub.cc.{ty} " + pair.format("subc") + f"subc.{ty} {r[8]}, 0, 0;", f"{k} {k} {k} {k}"
        for op in ["mad.lo", "mad.hi"]:
            first = f"{op}.cc.{ty} {r[0]}, {r[1]}, {r[2]}, {r[3]}; "
            yield first + f"addc.{ty} {r[7]}, {r[1]}, {r[3]};", f"{k} {k} {k}"
            yield first + f"madc{op[3:]}.cc.{ty} {r[7]}, {r[2]}, {r[3]}, {r[1]}; " + end, f"{k} {k} {k}"
        for op in ["madc.lo", "madc.hi"]:
            first = f"add.cc.{ty} {r[0]}, {r[1]}, {r[3]}; "
            yield first + f"{op}.{ty} {r[7]}, {r[1]}, {r[2]}, {r[3]};", f"{k} {k} {k}"


def bit_fields():
    """Logic, shifts, counts, fields, permutations."""
    for ty in ["pred", "b16", "b32", "b64"]:
        for op in ["and", "or", "xor"]:
            yield same(op, ty, 2)
        yield same("not", ty, 1)
    for ty in ["b16", "b32", "b64"]:
        yield same("cnot", ty, 1)
    for table in range(256):
        yield f"lop3.b32 %r0, %r1, %r2, %r3, {table};", "i32 i32 i32 @48"
    for op, table in product(["or", "and"], [0x00, 0x80, 0x96, 0xE8, 0xFE]):
        yield f"lop3.{op}.b32 %r0|%p7, %r1, %r2, %r3, {table}, %p4;", "i32 i32 i32 pred @400"
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"]:
        yield f"prmt.b32{mode} %r0, %r1, %r2, %r3;", "i32 i32 i32"
    for selector in [0x3340, 0x5410, 0x7632, 0x0123, 0x8910, 0xFFFF, 0x7531, 0xBA98, 0x4440, 0x3210]:
        yield f"prmt.b32 %r0, %r1, %r2, {selector};", "i32 i32 @400"
    for ty in ["b32", "b64"]:
        for op in ["popc", "clz"]:
            yield f"{op}.{ty} %r0, {reg(ty, 1)};", kind(ty)
        yield same("brev", ty, 1)
    for ty in ["u32", "s32", "u64", "s64"]:
        for op in ["bfind", "bfind.shiftamt"]:
            yield f"{op}.{ty} %r0, {reg(ty, 1)};", kind(ty)
        b = f"bfe.{ty} {reg(ty, 0)}, {reg(ty, 1)}, "
        yield b + "%r2, %r3;", f"{kind(ty)} place place"
        for pos, length in [(0, 8), (8, 8), (24, 8), (24, 16), (0, 32), (31, 1), (5, 0), (7, 255), (60, 10), (0, 64)]:
            if pos < bits(ty):
                yield b + f"{pos}, {length};", f"{kind(ty)} @600"
    for ty in ["b32", "b64"]:
        b = f"bfi.{ty} {reg(ty, 0)}, {reg(ty, 1)}, {reg(ty, 2)}, "
        yield b + "%r3, %r4;", f"{kind(ty)} {kind(ty)} place place"
        for pos, length in [(8, 12), (0, 32), (31, 4), (0, 0), (16, 255)]:
            yield b + f"{pos}, {length};", f"{kind(ty)} {kind(ty)} @600"
    for mode, ty in product(["clamp", "wrap"], ["u32", "s32"]):
        yield f"szext.{mode}.{ty} %r0, %r1, %r2;", "i32 amount"
    for mode in ["clamp", "wrap"]:
        yield f"bmsk.{mode}.b32 %r0, %r1, %r2;", "amount amount"
    yield "fns.b32 %r0, %r1, %r2, %r3;", "i32 lane offset"
    for ty in ["b16", "b32", "b64", *INTS]:
        for op in ["shl", "shr"] if ty[0] == "b" else ["shr"]:
            b = f"{op}.{ty} {reg(ty, 0)}, {reg(ty, 1)}, "
            yield b + "%r2;", f"{kind(ty)} amount"
            for n in [0, 1, 7, 15, 16, 31, 32, 40, 63, 64, 100]:
                yield b + f"{n};", f"{kind(ty)} @600"
    for d, mode in product("lr", ["clamp", "wrap"]):
        yield f"shf.{d}.{mode}.b32 %r0, %r1, %r2, %r3;", "i32 i32 amount"
        for n in [0, 1, 13, 31, 32, 33, 40]:
            yield f"shf.{d}.{mode}.b32 %r0, %r1, %r2, {n};", "i32 i32 @600"


def video():
    """Scalar and SIMD video instructions."""
    yield "vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;", "i32 i32 i32"
    yield "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", "i32 i32 i32"
    pool = "i32 i32 i32 @400"
    types = ["u32", "s32"]
    for op, d, a, b, sat in product(["vadd", "vsub", "vabsdiff", "vmin", "vmax"], types, types, types, ["", ".sat"]):
        yield f"{op}.{d}.{a}.{b}{sat} %r0, %r1, %r2;", "i32 i32 @400"
        yield f"{op}.{d}.{a}.{b}{sat} %r0, %r1.b1, %r2.h1;", "i32 i32 @400"
        if sat:
            yield f"{op}.{d}.{a}.{b}{sat}.add %r0, %r1, %r2.b3, %r3;", pool
            yield f"{op}.{d}.{a}.{b}{sat} %r0.b2, %r1, %r2, %r3;", pool
    for op, d, a, mode, sat in product(["vshl", "vshr"], types, types, ["clamp", "wrap"], ["", ".sat"]):
        yield f"{op}.{d}.{a}.u32{sat}.{mode} %r0, %r1, %r2;", "i32 amount @400"
    for d, a, b, sat, scale in product(types, types, types, ["", ".sat"], ["", ".shr7", ".shr15"]):
        yield f"vmad.{d}.{a}.{b}{sat}{scale} %r0, %r1, %r2, %r3;", pool
        yield f"vmad.{d}.{a}.{b}{sat}{scale} %r0, %r1.h0, %r2.b3, %r3;", pool
    for a, b, cmp in product(types, types, ["eq", "ne", "lt", "le", "gt", "ge"]):
        yield f"vset.{a}.{b}.{cmp} %r0, %r1, %r2;", "i32 i32 @400"
    for n, op in product("24", ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"]):
        for (d, a, b), end in product(product(types, repeat=3), ["", ".sat", ".add"]):
            form = f"{op}{n}.{d}.{a}.{b}{end} %r0, %r1, %r2, %r3;"
            if form != "vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;" and (end != ".add" or d == a == b):
                yield form, pool
    for n, a, b, cmp in product("24", types, types, ["eq", "lt", "ge"]):
        yield f"vset{n}.{a}.{b}.{cmp} %r0, %r1, %r2, %r3;", pool


def floats():
    """Single and double precision that is exact."""
    for op, n in [("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3)]:
        roundings = ["", ".rn", ".rz", ".rm", ".rp"] if n == 2 else [".rn", ".rz", ".rm", ".rp"]
        for rnd, f in product(roundings[: 1 if op == "mad" else None], flags("ftz", "sat")):
            yield same(f"{op}{rnd}{f}", "f32", n)
        for rnd in roundings[: 1 if op == "mad" else None]:
            yield same(f"{op}{rnd}", "f64", n)
    for rnd, ftz in product(RND, ["", ".ftz"]):
        yield same(f"div.{rnd}{ftz}", "f32", 2)
        yield same(f"rcp.{rnd}{ftz}", "f32", 1)
        yield same(f"sqrt.{rnd}{ftz}", "f32", 1)
    for rnd in RND:
        yield same(f"div.{rnd}", "f64", 2)
        yield same(f"rcp.{rnd}", "f64", 1)
        yield same(f"sqrt.{rnd}", "f64", 1)
    for op, f in product(["min", "max"], flags("ftz", "NaN", "xorsign.abs")):
        yield same(op + f, "f32", 2)
        if f == "":
            yield same(op, "f64", 2)
    for op, ty in product(["abs", "neg"], ["f32", "f64"]):
        yield same(op, ty, 1)
        if ty == "f32":
            yield same(op + ".ftz", ty, 1)
    for ty in ["f32", "f64"]:
        yield same("copysign", ty, 2)
        for test in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
            yield f"testp.{test}.{ty} %p0, {reg(ty, 1)};", kind(ty)


def halves():
    """Half precision and bfloat16, single and in pairs."""
    for ty in ["f16", "f16x2", "bf16", "bf16x2"]:
        for op, rnd, f in product(["add", "sub", "mul"], ["", ".rn"], flags("ftz", "sat")):
            yield same(op + rnd + f, ty, 2)
        for f in flags("ftz", ["", ".sat", ".relu"]) + [".oob", ".oob.relu"]:
            yield same("fma.rn" + f, ty, 3)
        for op, f in product(["abs", "neg"], ["", ".ftz"]):
            yield same(op + f, ty, 1)
        for op, f in product(["min", "max"], flags("ftz", "NaN", "xorsign.abs")):
            yield same(op + f, ty, 2)


def comparisons():
    """`setp`, `set`, `slct`, `selp`."""
    for ty in ["b16", "b32", "b64", *INTS]:
        ops = ["eq", "ne"] + ([] if ty[0] == "b" else ["lt", "le", "gt", "ge"])
        for op in ops + (["lo", "ls", "hi", "hs"] if ty[0] == "u" else []):
            yield f"setp.{op}.{ty} %p0, {reg(ty, 1)}, {reg(ty, 2)};", f"{kind(ty)} {kind(ty)}"
        for op, d in product(ops, ["u32", "s32", "f32"]):
            yield f"set.{op}.{d}.{ty} %r0, {reg(ty, 1)}, {reg(ty, 2)};", f"{kind(ty)} {kind(ty)} @900"
    for op, ty in product(FLOAT_CMP, ["f32", "f64", "f16", "bf16"]):
        for ftz in ["", ".ftz"] if ty in ("f32", "f16") else [""]:
            k = f"{kind(ty)} {kind(ty)}"
            operands = f"{reg(ty, 1)}, {reg(ty, 2)};"
            yield f"setp.{op}{ftz}.{ty} %p0, {operands}", k
            for d in ["u32", "s32", "f32", "u16", "s16", "f16", "bf16"]:
                yield f"set.{op}{ftz}.{d}.{ty} {reg(d, 0)}, {operands}", k + " @900"
    for op, ty in product(FLOAT_CMP, ["f16x2", "bf16x2"]):
        for ftz in ["", ".ftz"] if ty == "f16x2" else [""]:
            yield f"setp.{op}{ftz}.{ty} %p0|%p7, %r1, %r2;", f"{ty} {ty}"
            for d in [ty, "u32", "s32"]:
                yield f"set.{op}{ftz}.{d}.{ty} %r0, %r1, %r2;", f"{ty} {ty} @900"
    for op, ty, negate in product(["and", "or", "xor"], ["s32", "u64", "f32", "f64", "f16", "bf16"], ["", "!"]):
        k = f"{kind(ty)} {kind(ty)} pred @900"
        operands = f"{reg(ty, 1)}, {reg(ty, 2)}, {negate}%p3;"
        # Halves write one predicate only.
        yield f"setp.lt.{op}.{ty} {'%p0' if ty.endswith('f16') else '%p0|%p7'}, {operands}", k
        yield f"set.ge.{op}.u32.{ty} %r0, {operands}", k
        yield f"set.ge.{op}.f32.{ty} %r0, {operands}", k
    for op, ty in product(["and", "or", "xor"], ["f16x2", "bf16x2"]):
        yield f"setp.gt.{op}.{ty} %p0|%p7, %r1, %r2, %p3;", f"{ty} {ty} pred @900"
        yield f"set.gt.{op}.{ty}.{ty} %r0, %r1, %r2, %p3;", f"{ty} {ty} pred @900"
    for ty in ["b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64"]:
        a = f"{reg(ty, 0)}, {reg(ty, 1)}, {reg(ty, 2)}, "
        k = f"i{bits(ty)} i{bits(ty)} "
        yield f"slct.{ty}.s32 {a}%r3;", k + "i32 @900"
        yield f"slct.{ty}.f32 {a}%r3;", k + "f32 @900"
        yield f"slct.ftz.{ty}.f32 {a}%r3;", k + "f32 @900"
        yield f"selp.{ty} {a}%p3;", k + "pred @900"


def conversions():
    """`cvt` between scalars."""
    whole = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
    real = ["f16", "bf16", "f32", "f64"]
    for d, s in product(whole, whole):
        for sat in ["", ".sat"]:
            yield f"cvt{sat}.{d}.{s} {reg(d, 0)}, {reg(s, 1)};", kind(s)
    for ty in whole:
        # Registers wider than the type: the low part is read, the result is extended.
        yield f"cvt.{ty}.s32 %d0, %d1;", "i64"
        yield f"cvt.s32.{ty} %r0, %d1;", "i64"
        yield f"cvt.u64.{ty} %d0, %d1;", "i64"
    for d, s in product(whole, real):
        for rnd, f in product(["rni", "rzi", "rmi", "rpi"], flags("ftz", "sat")):
            if "ftz" not in f or s == "f32":
                yield f"cvt.{rnd}{f}.{d}.{s} {reg(d, 0)}, {reg(s, 1)};", kind(s)
    for d, s in product(real, whole):
        for rnd, f in product(RND, flags("ftz", "sat")):
            if "ftz" not in f or d == "f32":
                yield f"cvt.{rnd}{f}.{d}.{s} {reg(d, 0)}, {reg(s, 1)};", kind(s)
    for d, s in product(real, real):
        roundings = ["", ".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"]
        for rnd, f in product(roundings, flags("ftz", ["", ".sat", ".relu", ".satfinite", ".relu.satfinite"])):
            if f == "" or "f32" in (d, s) or "ftz" not in f:
                yield f"cvt{rnd}{f}.{d}.{s} {reg(d, 0)}, {reg(s, 1)};", kind(s)


def packed_conversions():
    """`cvt` to and from packed formats, to tf32, `cvt.pack`."""
    for d, rnd, f in product(["f16x2", "bf16x2"], ["rn", "rz"], flags("relu", "satfinite")):
        yield f"cvt.{rnd}{f}.{d}.f32 %r0, %r1, %r2;", "f32 f32"
    for rnd, f in product(["rna", "rn", "rz"], flags("relu", "satfinite") + [".satfinite.relu"]):
        yield f"cvt.{rnd}{f}.tf32.f32 %r0, %r1;", "f32"
    for d, f in product(["e4m3x2", "e5m2x2"], ["", ".relu"]):
        yield f"cvt.rn.satfinite{f}.{d}.f32 %h0, %r1, %r2;", "f32 f32"
        yield f"cvt.rn.satfinite{f}.{d}.f16x2 %h0, %r1;", "f16x2"
        yield f"cvt.rn{f}.f16x2.{d} %r0, %h1;", "i16"
    for d in ["u16", "s16"]:
        yield f"cvt.pack.sat.{d}.s32 %r0, %r1, %r2;", "i32 i32"
    for d in ["u8", "s8", "u4", "s4", "u2", "s2"]:
        yield f"cvt.pack.sat.{d}.s32.b32 %r0, %r1, %r2, %r3;", "i32 i32 i32"


def moves():
    """Packing and unpacking."""
    yield "mov.b64 %d0, {%r1, %r2};", "i32 i32 @200"
    yield "mov.b64 %d0, {%h1, %h2, %h3, %h4};", "i16 i16 i16 i16 @200"
    yield "mov.b32 %r0, {%h1, %h2};", "i16 i16 @200"
    yield "mov.b64 {%r0, %r7}, %d1;", "i64 @200"
    yield "mov.b64 {_, %r0}, %d1;", "i64 @200"
    yield "mov.b32 {%h0, %h7}, %r1;", "i32 @200"
    yield "mov.b64 {%h0, %h7, %h8, %h9}, %d1;", "i64 @200"


def approximations():
    """Instructions that CUDA bounds but does not define."""
    for op in ["sin", "cos", "lg2", "ex2", "rcp", "sqrt", "rsqrt"]:
        for ftz in ["", ".ftz"]:
            yield f"{op}.approx{ftz}.f32 %r0, %r1;", "f32 @9000"
    yield "tanh.approx.f32 %r0, %r1;", "f32 @9000"
    for op in ["div.approx", "div.full", "div.approx.ftz", "div.full.ftz"]:
        yield same(op, "f32", 2)
    for op in ["rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"]:
        yield same(op, "f64", 1)
    for ty in ["f16", "f16x2", "bf16", "bf16x2"]:
        yield same("ex2.approx", ty, 1)
        yield same("ex2.approx.ftz", ty, 1)
        yield same("tanh.approx", ty, 1)


def contractions():
    """Products and sums without a rounding, which assemblers fuse; with one, they must not."""
    for ty in ["f32", "f64", "f16", "f16x2", "bf16", "bf16x2"]:
        d, a, b, c, e = (reg(ty, i) for i in range(5))
        f, s, t = (reg(ty, i) for i in (7, 10, 11))
        three, four = " ".join([ty] * 3), " ".join([ty] * 4)
        product_ = f"mul.{ty} {s}, {a}, {b}; "
        ends = [f"add.{ty} {d}, {s}, {c};", f"add.{ty} {d}, {c}, {s};", f"sub.{ty} {d}, {s}, {c};"]
        ends += [f"sub.{ty} {d}, {c}, {s};", f"add.rn.{ty} {d}, {s}, {c};"]
        ends += [
            f"add.{ty} {d}, {s}, {c}; sub.{ty} {f}, {c}, {s};",
            f"add.{ty} {d}, {s}, {c}; mov.b{bits(ty)} {f}, {s};",
        ]
        ends += [f"neg.{ty} {t}, {s}; add.{ty} {d}, {t}, {c};", f"abs.{ty} {t}, {s}; add.{ty} {d}, {t}, {c};"]
        ends += [f"neg.{ty} {t}, {c}; add.{ty} {d}, {s}, {t};", f"add.{ty} {t}, {s}, {c}; add.{ty} {d}, {t}, {s};"]
        yield product_ + f"add.{ty} {d}, {s}, {s};", f"{ty} {ty}"
        for end in ends:
            yield product_ + end, three
        yield f"mul.rn.{ty} {s}, {a}, {b}; add.{ty} {d}, {s}, {c};", three
        yield f"mul.rn.{ty} {s}, {a}, {b}; add.rn.{ty} {d}, {s}, {c};", three
        for op in ["add", "sub"]:
            yield product_ + f"mul.{ty} {t}, {c}, {e}; {op}.{ty} {d}, {s}, {t};", four
            yield f"mul.{ty} {t}, {c}, {e}; " + product_ + f"{op}.{ty} {d}, {s}, {t};", four
            yield product_ + f"mul.rn.{ty} {t}, {c}, {e}; {op}.{ty} {d}, {t}, {s};", four
        yield product_ + f"add.{ty} {t}, {s}, {c}; mul.{ty} {s}, {t}, {e}; add.{ty} {d}, {s}, {a};", four
    for first, second in product(flags("ftz", "sat"), repeat=2):
        yield f"mul{first}.f32 %r10, %r1, %r2; add{second}.f32 %r0, %r10, %r3;", "f32 f32 f32"
        yield f"mul{first}.f16 %h10, %h1, %h2; add{second}.f16 %h0, %h10, %h3;", "f16 f16 f16"


def atomics():
    """The arithmetic of atomic operations, whose rounding and flushing differ from `add`'s."""
    types = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "u32", "s32", "u64", "s64", "b32", "b64"]
    ops = {
        "u32": ["add", "min", "max", "inc", "dec"],
        "s32": ["add", "min", "max"],
        "b32": ["and", "or", "xor", "exch"],
    }
    ops |= {"u64": ["add", "min", "max"], "s64": ["min", "max"], "b64": ["and", "or", "xor", "exch"]}
    for ty, (space, address) in product(types, [("global", "%x6"), ("shared", "%y5")]):
        k = f"{kind(ty)} {kind(ty)} @900"
        for op in ops.get(ty, ["add.noftz" if bits(ty) == 16 or "x2" in ty else "add"]):
            b = f"b{bits(ty)}"
            load = f"ld.{space}.{b} {reg(ty, 7)}, [{address}];"
            store = f"st.{space}.{b} [{address}], {reg(ty, 1)}; "
            yield store + f"atom.{space}.{op}.{ty} {reg(ty, 0)}, [{address}], {reg(ty, 2)}; " + load, k
            if op != "exch":
                yield store + f"red.{space}.{op}.{ty} [{address}], {reg(ty, 2)}; " + load, k


def all_forms():
    """(text, operand kinds, "exact" or "approx") of every form, each text once."""
    exact = [integers, carries, bit_fields, video, floats, halves, comparisons]
    exact += [conversions, packed_conversions, moves, contractions, atomics]
    seen = set()
    for tag, makers in [("exact", exact), ("approx", [approximations])]:
        for text, kinds in (form for maker in makers for form in maker()):
            if text not in seen:
                seen.add(text)
                yield text, kinds, tag
