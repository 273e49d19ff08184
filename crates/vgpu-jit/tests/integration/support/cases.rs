//! Every form of pure PTX instruction that is tested, as text over bit-typed registers.
//!
//! `%p %h %r %d` are registers of 1, 16, 32 and 64 bits; number 0 (and 7) is written, others read.

/// How close results have to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Equal bits.
    Exact,
    /// A single-precision function within this many units in the last place (of ours), or this
    /// absolute error, whichever is larger.
    Single { ulps: u32, absolute: f64 },
    /// Sine and cosine: an absolute error within two turns, beyond them nothing is promised.
    Circular,
    /// The same for 16-bit formats: units in the last place.
    Half { ulps: u32 },
    /// Upper words of doubles within this many units of the upper word.
    UpperWord { units: u64 },
}

/// An instruction and how close its results have to be.
#[derive(Debug, Clone)]
pub struct InstructionText {
    pub text: String,
    pub tolerance: Tolerance,
}

fn reg_name(bits: u32, n: u32) -> String {
    let class = match bits {
        1 => 'p',
        8 | 16 => 'h',
        32 => 'r',
        _ => 'd',
    };
    format!("%{class}{n}")
}

fn type_bits(ty: &str) -> u32 {
    match ty {
        "pred" => 1,
        "f16x2" | "bf16x2" | "u16x2" | "s16x2" | "tf32" => 32,
        "e4m3x2" | "e5m2x2" | "bf16" | "f16" => 16,
        _ => ty[1..].parse().unwrap_or(32),
    }
}

/// `op` with one destination and `n` sources, all of type `ty`.
fn same_type_text(op: &str, ty: &str, n: u32) -> String {
    let operands: Vec<String> = (0..=n).map(|i| reg_name(type_bits(ty), i)).collect();
    format!("{op}.{ty} {};", operands.join(", "))
}

/// All cases.
pub fn all_instructions() -> Vec<InstructionText> {
    let mut list = Vec::new();
    add_integer_cases(&mut list);
    add_shift_and_field_cases(&mut list);
    add_float_cases(&mut list);
    add_half_cases(&mut list);
    add_comparison_cases(&mut list);
    add_conversion_cases(&mut list);
    add_move_cases(&mut list);
    add_approximation_cases(&mut list);
    list
}

fn push_exact_case(list: &mut Vec<InstructionText>, text: String) {
    list.push(InstructionText { text, tolerance: Tolerance::Exact });
}

const INTEGER_TYPES: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];

fn add_integer_cases(list: &mut Vec<InstructionText>) {
    for ty in INTEGER_TYPES {
        for op in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"] {
            push_exact_case(list, same_type_text(op, ty, 2));
        }
        for op in ["mad.lo", "mad.hi", "sad"] {
            push_exact_case(list, same_type_text(op, ty, 3));
        }
        if !ty.ends_with("64") {
            let b = type_bits(ty);
            push_exact_case(
                list,
                format!("mul.wide.{ty} {}, {}, {};", reg_name(2 * b, 0), reg_name(b, 1), reg_name(b, 2)),
            );
            push_exact_case(
                list,
                format!(
                    "mad.wide.{ty} {}, {}, {}, {};",
                    reg_name(2 * b, 0),
                    reg_name(b, 1),
                    reg_name(b, 2),
                    reg_name(2 * b, 3)
                ),
            );
        }
    }
    for ty in ["s16", "s32", "s64"] {
        push_exact_case(list, same_type_text("abs", ty, 1));
        push_exact_case(list, same_type_text("neg", ty, 1));
    }
    for op in [
        "add.sat.s32",
        "sub.sat.s32",
        "min.relu.s32",
        "max.relu.s32",
        "mul24.lo.u32",
        "mul24.lo.s32",
        "mul24.hi.u32",
        "mul24.hi.s32",
    ] {
        push_exact_case(list, format!("{op} %r0, %r1, %r2;"));
    }
    for op in [
        "mad.hi.sat.s32",
        "mad24.lo.u32",
        "mad24.lo.s32",
        "mad24.hi.u32",
        "mad24.hi.s32",
        "mad24.hi.sat.s32",
        "dp4a.u32.u32",
        "dp4a.u32.s32",
        "dp4a.s32.u32",
        "dp4a.s32.s32",
        "dp2a.lo.u32.u32",
        "dp2a.hi.u32.s32",
        "dp2a.lo.s32.u32",
        "dp2a.hi.s32.s32",
        "prmt.b32",
        "prmt.b32.f4e",
        "prmt.b32.b4e",
        "prmt.b32.rc8",
        "prmt.b32.ecl",
        "prmt.b32.ecr",
        "prmt.b32.rc16",
    ] {
        push_exact_case(list, format!("{op} %r0, %r1, %r2, %r3;"));
    }
    for op in [
        "add.u16x2",
        "add.s16x2",
        "min.u16x2",
        "max.s16x2",
        "min.relu.s16x2",
        "max.relu.s16x2",
        "min.s16x2",
        "max.u16x2",
    ] {
        push_exact_case(list, format!("{op} %r0, %r1, %r2;"));
    }
    for ty in ["pred", "b16", "b32", "b64"] {
        for op in ["and", "or", "xor"] {
            push_exact_case(list, same_type_text(op, ty, 2));
        }
        push_exact_case(list, same_type_text("not", ty, 1));
    }
    for ty in ["b16", "b32", "b64"] {
        push_exact_case(list, same_type_text("cnot", ty, 1));
    }
    for table in [0x00, 0xff, 0x96, 0xe8, 0xca, 0x1e, 0xf8, 0x80, 0xfe, 0x3c, 0x40, 0x02, 0xd7, 0xac, 0x55, 0x27] {
        push_exact_case(list, format!("lop3.b32 %r0, %r1, %r2, %r3, {table};"));
    }
    for selector in ["0x3340", "0x5410", "0x7632", "0x0123", "0x8910", "0xffff"] {
        push_exact_case(list, format!("prmt.b32 %r0, %r1, %r2, {selector};"));
    }
    for ty in ["b32", "b64"] {
        for op in ["popc", "clz"] {
            push_exact_case(list, format!("{op}.{ty} %r0, {};", reg_name(type_bits(ty), 1)));
        }
        push_exact_case(list, same_type_text("brev", ty, 1));
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        for op in ["bfind", "bfind.shiftamt"] {
            push_exact_case(list, format!("{op}.{ty} %r0, {};", reg_name(type_bits(ty), 1)));
        }
    }
}

fn add_shift_and_field_cases(list: &mut Vec<InstructionText>) {
    for ty in ["b16", "b32", "b64"] {
        push_exact_case(list, format!("shl.{ty} {}, {}, %r2;", reg_name(type_bits(ty), 0), reg_name(type_bits(ty), 1)));
    }
    for ty in ["b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64"] {
        push_exact_case(list, format!("shr.{ty} {}, {}, %r2;", reg_name(type_bits(ty), 0), reg_name(type_bits(ty), 1)));
    }
    for n in [0, 1, 5, 15, 16, 31, 32, 40, 63, 64, 100] {
        for ty in ["b16", "b32", "b64"] {
            push_exact_case(
                list,
                format!("shl.{ty} {}, {}, {n};", reg_name(type_bits(ty), 0), reg_name(type_bits(ty), 1)),
            );
        }
        for ty in ["u16", "s16", "u32", "s32", "u64", "s64"] {
            push_exact_case(
                list,
                format!("shr.{ty} {}, {}, {n};", reg_name(type_bits(ty), 0), reg_name(type_bits(ty), 1)),
            );
        }
    }
    for op in ["shf.l.clamp", "shf.l.wrap", "shf.r.clamp", "shf.r.wrap"] {
        push_exact_case(list, format!("{op}.b32 %r0, %r1, %r2, %r3;"));
        for n in [0, 1, 13, 31, 32, 33, 40] {
            push_exact_case(list, format!("{op}.b32 %r0, %r1, %r2, {n};"));
        }
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        let b = type_bits(ty);
        push_exact_case(list, format!("bfe.{ty} {}, {}, %r2, %r3;", reg_name(b, 0), reg_name(b, 1)));
        // Positions beyond the operand are left out: assemblers fold them in their own ways.
        for (pos, len) in [
            (0, 8),
            (8, 8),
            (24, 8),
            (24, 16),
            (0, 32),
            (31, 1),
            (32, 4),
            (5, 0),
            (40, 20),
            (60, 10),
            (0, 64),
            (7, 255),
        ] {
            if pos >= b {
                continue;
            }
            push_exact_case(list, format!("bfe.{ty} {}, {}, {pos}, {len};", reg_name(b, 0), reg_name(b, 1)));
        }
    }
    for ty in ["b32", "b64"] {
        let b = type_bits(ty);
        push_exact_case(
            list,
            format!("bfi.{ty} {}, {}, {}, %r3, %r4;", reg_name(b, 0), reg_name(b, 1), reg_name(b, 2)),
        );
        push_exact_case(list, format!("bfi.{ty} {}, {}, {}, 8, 12;", reg_name(b, 0), reg_name(b, 1), reg_name(b, 2)));
    }
    for op in
        ["bmsk.clamp.b32", "bmsk.wrap.b32", "szext.clamp.u32", "szext.clamp.s32", "szext.wrap.u32", "szext.wrap.s32"]
    {
        push_exact_case(list, format!("{op} %r0, %r1, %r2;"));
    }
}

const ROUNDING_MODIFIERS: [&str; 4] = ["rn", "rz", "rm", "rp"];

fn add_float_cases(list: &mut Vec<InstructionText>) {
    for rnd in ROUNDING_MODIFIERS {
        for flags in ["", ".ftz", ".sat", ".ftz.sat"] {
            for op in ["add", "sub", "mul"] {
                push_exact_case(list, same_type_text(&format!("{op}.{rnd}{flags}"), "f32", 2));
            }
            push_exact_case(list, same_type_text(&format!("fma.{rnd}{flags}"), "f32", 3));
        }
        for op in ["add", "sub", "mul", "div"] {
            push_exact_case(list, same_type_text(&format!("{op}.{rnd}"), "f64", 2));
        }
        push_exact_case(list, same_type_text(&format!("fma.{rnd}"), "f64", 3));
        for flags in ["", ".ftz"] {
            push_exact_case(list, same_type_text(&format!("div.{rnd}{flags}"), "f32", 2));
            for op in ["rcp", "sqrt"] {
                push_exact_case(list, same_type_text(&format!("{op}.{rnd}{flags}"), "f32", 1));
            }
        }
        for op in ["rcp", "sqrt"] {
            push_exact_case(list, same_type_text(&format!("{op}.{rnd}"), "f64", 1));
        }
    }
    for op in ["add", "sub", "mul", "mad.rn"] {
        push_exact_case(list, same_type_text(op, "f32", if op == "mad.rn" { 3 } else { 2 }));
    }
    for op in ["min", "max"] {
        for flags in ["", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs", ".ftz.NaN.xorsign.abs"] {
            push_exact_case(list, same_type_text(&format!("{op}{flags}"), "f32", 2));
        }
        push_exact_case(list, same_type_text(op, "f64", 2));
    }
    for op in ["abs", "neg", "abs.ftz", "neg.ftz"] {
        push_exact_case(list, same_type_text(op, "f32", 1));
    }
    for ty in ["f32", "f64"] {
        push_exact_case(list, same_type_text("abs", ty, 1));
        push_exact_case(list, same_type_text("neg", ty, 1));
        push_exact_case(list, same_type_text("copysign", ty, 2));
        for test in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
            push_exact_case(list, format!("testp.{test}.{ty} %p0, {};", reg_name(type_bits(ty), 1)));
        }
    }
}

fn add_half_cases(list: &mut Vec<InstructionText>) {
    for ty in ["f16", "f16x2"] {
        for op in ["add", "sub", "mul", "add.rn", "add.ftz", "add.sat", "mul.ftz.sat", "sub.sat"] {
            push_exact_case(list, same_type_text(op, ty, 2));
        }
        for op in ["fma.rn", "fma.rn.ftz", "fma.rn.sat", "fma.rn.ftz.sat", "fma.rn.relu", "fma.rn.ftz.relu"] {
            push_exact_case(list, same_type_text(op, ty, 3));
        }
        for op in ["abs", "neg", "abs.ftz", "neg.ftz"] {
            push_exact_case(list, same_type_text(op, ty, 1));
        }
        for op in ["min", "max", "min.ftz", "max.NaN", "min.ftz.NaN", "min.xorsign.abs", "max.NaN.xorsign.abs"] {
            push_exact_case(list, same_type_text(op, ty, 2));
        }
    }
    for ty in ["bf16", "bf16x2"] {
        for op in ["add", "sub", "mul", "min", "max", "min.NaN", "max.NaN", "min.xorsign.abs", "max.NaN.xorsign.abs"] {
            push_exact_case(list, same_type_text(op, ty, 2));
        }
        for op in ["fma.rn", "fma.rn.relu"] {
            push_exact_case(list, same_type_text(op, ty, 3));
        }
        for op in ["abs", "neg"] {
            push_exact_case(list, same_type_text(op, ty, 1));
        }
    }
}

fn add_comparison_cases(list: &mut Vec<InstructionText>) {
    for ty in ["b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64"] {
        let b = type_bits(ty);
        let mut ops = vec!["eq", "ne"];
        if !ty.starts_with('b') {
            ops.extend(["lt", "le", "gt", "ge"]);
        }
        if ty.starts_with('u') {
            ops.extend(["lo", "ls", "hi", "hs"]);
        }
        for op in ops {
            push_exact_case(list, format!("setp.{op}.{ty} %p0, {}, {};", reg_name(b, 1), reg_name(b, 2)));
        }
        push_exact_case(list, format!("set.ne.u32.{ty} %r0, {}, {};", reg_name(b, 1), reg_name(b, 2)));
    }
    let float_ops = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
    for op in float_ops {
        for ty in ["f32", "f64", "f16", "bf16"] {
            let b = type_bits(ty);
            push_exact_case(list, format!("setp.{op}.{ty} %p0, {}, {};", reg_name(b, 1), reg_name(b, 2)));
        }
        push_exact_case(list, format!("setp.{op}.ftz.f32 %p0, %r1, %r2;"));
        push_exact_case(list, format!("setp.{op}.ftz.f16 %p0, %h1, %h2;"));
        push_exact_case(list, format!("setp.{op}.f16x2 %p0|%p7, %r1, %r2;"));
        push_exact_case(list, format!("set.{op}.f32.f32 %r0, %r1, %r2;"));
        push_exact_case(list, format!("set.{op}.u32.f64 %r0, %d1, %d2;"));
        push_exact_case(list, format!("set.{op}.f16x2.f16x2 %r0, %r1, %r2;"));
    }
    for combine in ["and", "or", "xor"] {
        push_exact_case(list, format!("setp.lt.{combine}.s32 %p0|%p7, %r1, %r2, %p3;"));
        push_exact_case(list, format!("setp.lt.{combine}.s64 %p0|%p7, %d1, %d2, !%p3;"));
        push_exact_case(list, format!("setp.lt.{combine}.f32 %p0|%p7, %r1, %r2, !%p3;"));
        push_exact_case(list, format!("set.ge.{combine}.s32.f32 %r0, %r1, %r2, %p3;"));
        push_exact_case(list, format!("setp.gt.{combine}.bf16x2 %p0|%p7, %r1, %r2, %p3;"));
    }
    for text in [
        "set.lt.f16.f16 %h0, %h1, %h2;",
        "set.lt.u32.f16 %r0, %h1, %h2;",
        "set.lt.u16.f16 %h0, %h1, %h2;",
        "set.lt.bf16.bf16 %h0, %h1, %h2;",
        "set.lt.bf16x2.bf16x2 %r0, %r1, %r2;",
        "set.lt.u32.f16x2 %r0, %r1, %r2;",
        "set.lt.s32.s64 %r0, %d1, %d2;",
        "set.lt.f32.u16 %r0, %h1, %h2;",
        "slct.b32.s32 %r0, %r1, %r2, %r3;",
        "slct.f64.f32 %d0, %d1, %d2, %r3;",
        "slct.ftz.b16.f32 %h0, %h1, %h2, %r3;",
        "slct.u64.s32 %d0, %d1, %d2, %r3;",
        "selp.b16 %h0, %h1, %h2, %p3;",
        "selp.b32 %r0, %r1, %r2, %p3;",
        "selp.b64 %d0, %d1, %d2, %p3;",
    ] {
        push_exact_case(list, text.to_string());
    }
}

fn add_conversion_cases(list: &mut Vec<InstructionText>) {
    let ints = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let floats = ["f16", "bf16", "f32", "f64"];
    for d in ints {
        for s in ints {
            // `.sat` is refused by assemblers where it cannot matter.
            let may_clamp = type_bits(d) < type_bits(s)
                || (type_bits(d) == type_bits(s) && d != s)
                || d.starts_with('u') && s.starts_with('s');
            for sat in if may_clamp { &["", ".sat"][..] } else { &[""] } {
                push_exact_case(
                    list,
                    format!("cvt{sat}.{d}.{s} {}, {};", reg_name(type_bits(d), 0), reg_name(type_bits(s), 1)),
                );
            }
        }
        // Wider registers: the low part is read, the result is extended.
        push_exact_case(list, format!("cvt.{d}.s32 %d0, %d1;"));
        push_exact_case(list, format!("cvt.s32.{d} %r0, %d1;"));
        for s in floats {
            if s == "bf16" && type_bits(d) == 8 {
                continue;
            }
            for rnd in ["rni", "rzi", "rmi", "rpi"] {
                push_exact_case(
                    list,
                    format!("cvt.{rnd}.{d}.{s} {}, {};", reg_name(type_bits(d), 0), reg_name(type_bits(s), 1)),
                );
            }
            if s == "bf16" {
                continue;
            }
            push_exact_case(
                list,
                format!("cvt.rzi.sat.{d}.{s} {}, {};", reg_name(type_bits(d), 0), reg_name(type_bits(s), 1)),
            );
        }
        push_exact_case(list, format!("cvt.rni.ftz.{d}.f32 {}, %r1;", reg_name(type_bits(d), 0)));
        push_exact_case(list, format!("cvt.rpi.ftz.{d}.f32 {}, %r1;", reg_name(type_bits(d), 0)));
        for f in floats {
            if f == "bf16" && type_bits(d) == 8 {
                continue;
            }
            for rnd in ROUNDING_MODIFIERS {
                push_exact_case(
                    list,
                    format!("cvt.{rnd}.{f}.{d} {}, {};", reg_name(type_bits(f), 0), reg_name(type_bits(d), 1)),
                );
            }
            if f == "bf16" {
                continue;
            }
            push_exact_case(
                list,
                format!("cvt.rn.sat.{f}.{d} {}, {};", reg_name(type_bits(f), 0), reg_name(type_bits(d), 1)),
            );
        }
    }
    for rnd in ROUNDING_MODIFIERS {
        for text in [
            format!("cvt.{rnd}.f32.f64 %r0, %d1;"),
            format!("cvt.{rnd}.ftz.f32.f64 %r0, %d1;"),
            format!("cvt.{rnd}.sat.f32.f64 %r0, %d1;"),
            format!("cvt.{rnd}.f16.f32 %h0, %r1;"),
            format!("cvt.{rnd}.ftz.f16.f32 %h0, %r1;"),
            format!("cvt.{rnd}.sat.f16.f32 %h0, %r1;"),
            format!("cvt.{rnd}.f16.f64 %h0, %d1;"),
            format!("cvt.{rnd}.bf16.f32 %h0, %r1;"),
            format!("cvt.{rnd}.bf16.f16 %h0, %h1;"),
            format!("cvt.{rnd}.bf16.f64 %h0, %d1;"),
        ] {
            push_exact_case(list, text);
        }
    }
    for rnd in ["", ".rni", ".rzi", ".rmi", ".rpi"] {
        for flags in ["", ".ftz", ".sat", ".ftz.sat"] {
            push_exact_case(list, format!("cvt{rnd}{flags}.f32.f32 %r0, %r1;"));
        }
        push_exact_case(list, format!("cvt{rnd}.f64.f64 %d0, %d1;"));
        push_exact_case(list, format!("cvt{rnd}.sat.f64.f64 %d0, %d1;"));
        push_exact_case(list, format!("cvt{rnd}.f16.f16 %h0, %h1;"));
    }
    for text in [
        "cvt.rn.ftz.bf16.f32 %h0, %r1;",
        "cvt.ftz.f32.bf16 %r0, %h1;",
        "cvt.f64.f32 %d0, %r1;",
        "cvt.ftz.f64.f32 %d0, %r1;",
        "cvt.sat.f64.f32 %d0, %r1;",
        "cvt.f32.f16 %r0, %h1;",
        "cvt.f64.f16 %d0, %h1;",
        "cvt.ftz.f32.f16 %r0, %h1;",
        "cvt.sat.f32.f16 %r0, %h1;",
        "cvt.f32.bf16 %r0, %h1;",
        "cvt.f64.bf16 %d0, %h1;",
        "cvt.rn.relu.f16.f32 %h0, %r1;",
        "cvt.rz.relu.bf16.f32 %h0, %r1;",
        "cvt.rn.f16x2.f32 %r0, %r1, %r2;",
        "cvt.rz.f16x2.f32 %r0, %r1, %r2;",
        "cvt.rn.bf16x2.f32 %r0, %r1, %r2;",
        "cvt.rz.bf16x2.f32 %r0, %r1, %r2;",
        "cvt.rn.relu.f16x2.f32 %r0, %r1, %r2;",
        "cvt.rn.relu.bf16x2.f32 %r0, %r1, %r2;",
        "cvt.rna.tf32.f32 %r0, %r1;",
        "cvt.rn.tf32.f32 %r0, %r1;",
        "cvt.rz.tf32.f32 %r0, %r1;",
        "cvt.rn.relu.tf32.f32 %r0, %r1;",
        "cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;",
        "cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;",
        "cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %r1, %r2;",
        "cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %r1, %r2;",
        "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;",
        "cvt.rn.satfinite.e5m2x2.f16x2 %h0, %r1;",
        "cvt.rn.f16x2.e4m3x2 %r0, %h1;",
        "cvt.rn.f16x2.e5m2x2 %r0, %h1;",
        "cvt.rn.relu.f16x2.e5m2x2 %r0, %h1;",
        "cvt.rn.relu.f16x2.e4m3x2 %r0, %h1;",
    ] {
        push_exact_case(list, text.to_string());
    }
}

fn add_move_cases(list: &mut Vec<InstructionText>) {
    for text in [
        "mov.b16 %h0, %h1;",
        "mov.b32 %r0, %r1;",
        "mov.b64 %d0, %d1;",
        "mov.pred %p0, %p1;",
        "mov.f32 %r0, 0f40490FDB;",
        "mov.f64 %d0, 0d400921FB54442D18;",
        "mov.b64 %d0, {%r1, %r2};",
        "mov.b64 %d0, {%h1, %h2, %h3, %h4};",
        "mov.b32 %r0, {%h1, %h2};",
        "mov.b64 {%r0, %r7}, %d1;",
        "mov.b64 {_, %r0}, %d1;",
        "mov.b32 {%h0, %h7}, %r1;",
        "mov.b64 {%h0, %h5, %h6, %h7}, %d1;",
    ] {
        push_exact_case(list, text.to_string());
    }
}

fn add_approximation_cases(list: &mut Vec<InstructionText>) {
    // Bounds: CUDA's "PTX ISA", sections of the instructions, with room for the GPU's own error.
    let single = |ulps, absolute| Tolerance::Single { ulps, absolute };
    let cases = [
        ("sin.approx", Tolerance::Circular),
        ("cos.approx", Tolerance::Circular),
        ("lg2.approx", single(3, 1.7e-7)),
        ("ex2.approx", single(2, 0.0)),
        ("rcp.approx", single(1, 0.0)),
        ("sqrt.approx", single(2, 0.0)),
        ("rsqrt.approx", single(2, 0.0)),
    ];
    for (op, tolerance) in cases {
        for ftz in ["", ".ftz"] {
            list.push(InstructionText { text: same_type_text(&format!("{op}{ftz}"), "f32", 1), tolerance });
        }
    }
    list.push(InstructionText { text: same_type_text("tanh.approx", "f32", 1), tolerance: single(8400, 0.0) });
    for ftz in ["", ".ftz"] {
        list.push(InstructionText {
            text: same_type_text(&format!("div.approx{ftz}"), "f32", 2),
            tolerance: single(2, 0.0),
        });
        list.push(InstructionText {
            text: same_type_text(&format!("div.full{ftz}"), "f32", 2),
            tolerance: single(2, 0.0),
        });
    }
    for op in ["ex2.approx.f16", "tanh.approx.f16", "tanh.approx.bf16", "ex2.approx.ftz.bf16"] {
        list.push(InstructionText { text: format!("{op} %h0, %h1;"), tolerance: Tolerance::Half { ulps: 2 } });
    }
    for op in ["ex2.approx.f16x2", "tanh.approx.f16x2", "tanh.approx.bf16x2", "ex2.approx.ftz.bf16x2"] {
        list.push(InstructionText { text: format!("{op} %r0, %r1;"), tolerance: Tolerance::Half { ulps: 2 } });
    }
    for op in ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"] {
        list.push(InstructionText { text: format!("{op} %d0, %d1;"), tolerance: Tolerance::UpperWord { units: 0 } });
    }
}
