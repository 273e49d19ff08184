//! The Rust definitions of the instructions against a second method: the processor's arithmetic,
//! the `half` crate, exact integers, and values written down from the PTX ISA.

use crate::support::{CompileMode, InstructionCase, Random, compile_case, operand_tuples, parse_case, random_operand};
use half::{bf16, f16};
use rtcg_ptx::ast::{Inst, PrmtMode, Type};
use rtcg_vgpu_jit::ops::{EmitShape, RegWidth};
use rtcg_vgpu_softmath::arith::{self, FloatOp};
use rtcg_vgpu_softmath::{FloatFormat, FloatMode, RoundMode, convert, int};

fn random_f32(random: &mut Random) -> f32 {
    f32::from_bits(random_operand(random, RegWidth::W32, Some(Type::F32)) as u32)
}
fn random_f64(random: &mut Random) -> f64 {
    f64::from_bits(random_operand(random, RegWidth::W64, Some(Type::F64)))
}
fn equals_f32(a: u64, b: f32) -> bool {
    a == u64::from(if b.is_nan() { 0x7fff_ffff } else { b.to_bits() })
}
fn equals_f64(a: u64, b: f64) -> bool {
    a == b.to_bits() || b.is_nan() && f64::from_bits(a).is_nan()
}

#[test]
fn rounding_to_nearest_is_the_processors() {
    let mut random = Random(1);
    let m = FloatMode::default();
    for _ in 0..200_000 {
        let (a, b, c) = (random_f32(&mut random), random_f32(&mut random), random_f32(&mut random));
        let run = |op| {
            arith::execute_float_op(op, FloatFormat::F32, m, a.to_bits().into(), b.to_bits().into(), c.to_bits().into())
        };
        assert!(equals_f32(run(FloatOp::Add), a + b), "{a:e} + {b:e}");
        assert!(equals_f32(run(FloatOp::Sub), a - b), "{a:e} - {b:e}");
        assert!(equals_f32(run(FloatOp::Mul), a * b), "{a:e} * {b:e}");
        assert!(equals_f32(run(FloatOp::Div), a / b), "{a:e} / {b:e}");
        assert!(equals_f32(run(FloatOp::Sqrt), a.sqrt()), "sqrt {a:e}");
        assert!(equals_f32(run(FloatOp::Fma), a.mul_add(b, c)), "{a:e} * {b:e} + {c:e}");
        let (a, b, c) = (random_f64(&mut random), random_f64(&mut random), random_f64(&mut random));
        let run = |op| arith::execute_float_op(op, FloatFormat::F64, m, a.to_bits(), b.to_bits(), c.to_bits());
        assert!(equals_f64(run(FloatOp::Add), a + b), "{a:e} + {b:e}");
        assert!(equals_f64(run(FloatOp::Sub), a - b), "{a:e} - {b:e}");
        assert!(equals_f64(run(FloatOp::Mul), a * b), "{a:e} * {b:e}");
        assert!(equals_f64(run(FloatOp::Div), a / b), "{a:e} / {b:e}");
        assert!(equals_f64(run(FloatOp::Sqrt), a.sqrt()), "sqrt {a:e}");
        assert!(equals_f64(run(FloatOp::Fma), a.mul_add(b, c)), "{a:e} * {b:e} + {c:e}");
    }
}

/// Directed results enclose the nearest one, and are next to each other when they differ.
#[test]
fn directed_roundings_enclose_the_result() {
    let mut random = Random(2);
    let mode = |rnd| FloatMode { rnd, ..FloatMode::default() };
    for _ in 0..100_000 {
        let (a, b, c) = (random_f64(&mut random), random_f64(&mut random), random_f64(&mut random));
        for op in [FloatOp::Add, FloatOp::Mul, FloatOp::Div, FloatOp::Sqrt, FloatOp::Fma] {
            let run = |rnd| {
                f64::from_bits(arith::execute_float_op(
                    op,
                    FloatFormat::F64,
                    mode(rnd),
                    a.to_bits(),
                    b.to_bits(),
                    c.to_bits(),
                ))
            };
            let (down, near, up, zero) =
                (run(RoundMode::Down), run(RoundMode::Nearest), run(RoundMode::Up), run(RoundMode::Zero));
            if near.is_nan() {
                assert!(down.is_nan() && up.is_nan() && zero.is_nan());
                continue;
            }
            assert!(down <= near && near <= up, "{op:?} {a:e} {b:e} {c:e}");
            assert!(down == up || down.next_up() == up, "{op:?} {a:e} {b:e} {c:e}: {down:e} {up:e}");
            assert_eq!(zero.abs(), down.abs().min(up.abs()), "{op:?} {a:e} {b:e} {c:e}");
        }
    }
}

/// The side on which the exact result lies, known from an error that is computed without rounding.
#[test]
fn directed_single_precision_follows_the_exact_result() {
    let mut random = Random(3);
    for _ in 0..200_000 {
        let (a, b) = (random_f32(&mut random), random_f32(&mut random));
        let exact = f64::from(a) * f64::from(b);
        if exact.is_nan() || exact.is_infinite() {
            continue;
        }
        let run = |rnd| {
            f32::from_bits(arith::execute_float_op(
                FloatOp::Mul,
                FloatFormat::F32,
                FloatMode { rnd, ..FloatMode::default() },
                a.to_bits().into(),
                b.to_bits().into(),
                0,
            ) as u32)
        };
        let (down, up) = (run(RoundMode::Down), run(RoundMode::Up));
        assert!(f64::from(down) <= exact && exact <= f64::from(up), "{a:e} * {b:e}");
        assert!(f64::from(down.next_up()) > exact || down == up, "{a:e} * {b:e}");
        assert!(f64::from(up.next_down()) < exact || down == up, "{a:e} * {b:e}");
    }
}

#[test]
fn half_precision_is_that_of_the_half_crate() {
    let mut random = Random(4);
    let m = FloatMode::default();
    for bits in 0..=u16::MAX {
        let x = f16::from_bits(bits);
        let wide = convert::float_to_float(FloatFormat::F32, FloatFormat::F16, m, bits.into());
        assert!(equals_f32(wide, x.to_f32()));
        let y = bf16::from_bits(bits);
        let wide = convert::float_to_float(FloatFormat::F32, FloatFormat::BF16, m, bits.into());
        assert!(y.is_nan() || equals_f32(wide, y.to_f32()));
    }
    for _ in 0..200_000 {
        let x = random_f32(&mut random);
        if x.is_nan() {
            continue;
        }
        let got = convert::float_to_float(FloatFormat::F16, FloatFormat::F32, m, x.to_bits().into());
        assert_eq!(got, u64::from(f16::from_f32(x).to_bits()), "{x:e}");
        let got = convert::float_to_float(FloatFormat::BF16, FloatFormat::F32, m, x.to_bits().into());
        assert_eq!(got, u64::from(bf16::from_f32(x).to_bits()), "{x:e}");
        let (a, b) = (random.next() & 0xffff, random.next() & 0xffff);
        let sum = f16::from_bits(a as u16).to_f64() + f16::from_bits(b as u16).to_f64();
        if !sum.is_nan() {
            let got = arith::execute_float_op(FloatOp::Add, FloatFormat::F16, m, a, b, 0);
            // A sum of half-precision numbers is exact in double precision, as is a product.
            assert_eq!(got, u64::from(f16::from_f64(sum).to_bits()), "{a:x} + {b:x}");
        }
    }
}

/// A fused multiply-add of half precision is exact in 128-bit integers of 2^-48.
#[test]
fn half_fma_rounds_the_exact_value_once() {
    let mut random = Random(5);
    let units = |x: u64| {
        let x = f16::from_bits(x as u16).to_f64();
        (x * 16777216.0) as i128
    };
    for _ in 0..200_000 {
        let [a, b, c] = [(); 3].map(|()| random_operand(&mut random, RegWidth::W16, None));
        let finite = |x: u64| x & 0x7c00 != 0x7c00;
        if !(finite(a) && finite(b) && finite(c)) {
            continue;
        }
        let exact = units(a) * units(b) + (units(c) << 24);
        let got = arith::execute_float_op(FloatOp::Fma, FloatFormat::F16, FloatMode::default(), a, b, c);
        if exact == 0 {
            assert_eq!(got & 0x7fff, 0);
            continue;
        }
        let value = units(got) << 24;
        let (below, above) = (units(adjacent_float(got, -1)) << 24, units(adjacent_float(got, 1)) << 24);
        if got & 0x7fff == 0x7c00 {
            assert!(exact.unsigned_abs() >= 65520u128 << 48, "{a:x} {b:x} {c:x}");
        } else {
            let error = (exact - value).unsigned_abs();
            assert!(
                error <= (exact - below).unsigned_abs() && error <= (exact - above).unsigned_abs(),
                "{a:x} {b:x} {c:x}"
            );
        }
    }
}

/// The half-precision number next to a finite one, toward plus or minus infinity.
fn adjacent_float(x: u64, direction: i64) -> u64 {
    let negative = x & 0x8000 != 0;
    match (x & 0x7fff, negative, direction) {
        (0, _, 1) => 1,
        (0, _, _) => 0x8001,
        (0x7bff, false, 1) | (0x7bff, true, -1) => x,
        (_, false, d) => x.wrapping_add_signed(d),
        (_, true, d) => x.wrapping_add_signed(-d),
    }
}

#[test]
fn integers_become_the_nearest_floats() {
    let mut random = Random(6);
    let m = FloatMode::default();
    for _ in 0..200_000 {
        let x = random_operand(&mut random, RegWidth::W64, None);
        assert_eq!(convert::int_to_float(FloatFormat::F32, m, 64, false, x), u64::from((x as f32).to_bits()));
        assert_eq!(convert::int_to_float(FloatFormat::F64, m, 64, false, x), (x as f64).to_bits());
        assert_eq!(convert::int_to_float(FloatFormat::F32, m, 64, true, x), u64::from((x as i64 as f32).to_bits()));
        assert_eq!(
            convert::int_to_float(FloatFormat::F32, m, 32, true, x & 0xffff_ffff),
            u64::from((x as i32 as f32).to_bits())
        );
    }
}

/// Rust's casts truncate and saturate as PTX does; only NaN differs.
#[test]
fn floats_become_integers_as_casts_do() {
    let mut random = Random(7);
    let m = |rnd| FloatMode { rnd, ..FloatMode::default() };
    for _ in 0..200_000 {
        let (x, y) = (random_f32(&mut random), random_f64(&mut random));
        let (xb, yb) = (u64::from(x.to_bits()), y.to_bits());
        if !x.is_nan() {
            assert_eq!(
                convert::float_to_int(FloatFormat::F32, m(RoundMode::Zero), 32, true, xb) as u32,
                x as i32 as u32,
                "{x:e}"
            );
            assert_eq!(
                convert::float_to_int(FloatFormat::F32, m(RoundMode::Nearest), 64, false, xb),
                x.round_ties_even() as u64,
                "{x:e}"
            );
            assert_eq!(
                convert::float_to_int(FloatFormat::F32, m(RoundMode::Down), 8, true, xb) as u8,
                x.floor() as i8 as u8,
                "{x:e}"
            );
        }
        if !y.is_nan() {
            assert_eq!(
                convert::float_to_int(FloatFormat::F64, m(RoundMode::Up), 64, true, yb) as i64,
                y.ceil() as i64,
                "{y:e}"
            );
            assert_eq!(
                convert::float_to_int(FloatFormat::F64, m(RoundMode::Zero), 16, false, yb) as u16,
                y as u16,
                "{y:e}"
            );
        }
    }
    let nan = 0x7fc0_0000;
    assert_eq!(convert::float_to_int(FloatFormat::F32, FloatMode::default(), 32, true, nan), 0);
    assert_eq!(convert::float_to_int(FloatFormat::F32, FloatMode::default(), 64, true, nan), 1 << 63);
    assert_eq!(convert::float_to_int(FloatFormat::F64, FloatMode::default(), 32, false, f64::NAN.to_bits()), 1 << 31);
}

/// Every `.e4m3` value goes to half precision and back; between two, the nearer is taken.
#[test]
fn eight_bit_floats() {
    let m = FloatMode::default();
    for code in 0..=255u32 {
        if code & 0x7f != 0x7f {
            assert_eq!(convert::to_e4m3(FloatFormat::F16, m, convert::e4m3_to_f16(code).into()), code);
        }
        if code & 0x7f < 0x7c {
            assert_eq!(convert::to_e5m2(FloatFormat::F16, m, convert::e5m2_to_f16(code).into()), code);
        }
    }
    let e4m3 = |x: f32| convert::to_e4m3(FloatFormat::F32, m, x.to_bits().into());
    assert_eq!(
        [e4m3(448.0), e4m3(1e9), e4m3(-500.0), e4m3(1.0), e4m3(0.001), e4m3(f32::NAN)],
        [0x7e, 0x7e, 0xfe, 0x38, 0x01, 0x7f]
    );
    // Ties go to the even code: 17 lies between 16 (0x58) and 18 (0x59), 2^-10 between 0 and 2^-9.
    assert_eq!([e4m3(17.0), e4m3(19.0), e4m3(2f32.powi(-10)), e4m3(2f32.powi(-10) * 1.001)], [0x58, 0x5a, 0, 1]);
}

#[test]
fn bit_instructions_from_the_isa() {
    assert_eq!(int::prmt(PrmtMode::Index, 0x3322_1100, 0x7766_5544, 0x0000_7531), 0x7755_3311);
    assert_eq!(int::prmt(PrmtMode::Index, 0x0000_0080, 0, 0x0000_0008), 0x8080_80ff);
    assert_eq!(int::prmt(PrmtMode::F4e, 0x3322_1100, 0x7766_5544, 1), 0x4433_2211);
    assert_eq!(int::prmt(PrmtMode::B4e, 0x3322_1100, 0x7766_5544, 1), 0x6677_0011);
    assert_eq!(int::bfe(32, false, 0xabcd_ef01, 8, 12), 0xdef);
    assert_eq!(int::bfe(32, true, 0x8000_0000, 28, 8), 0xffff_fff8);
    assert_eq!(int::bfi(32, 0xff, 0, 28, 8), 0xf000_0000);
    assert_eq!(int::bmsk(false, 4, 8), 0xff0);
    assert_eq!(int::lop3(0xca, 0b1100, 0b1010, 0b0110) & 0xf, 0b1010 & 0b1100 | 0b0110 & !0b1100 & 0xf);
    assert_eq!(int::dp4a(true, true, 0xff01_0203, 0x0102_0304, 10), 10u32.wrapping_add(12 + 6 + 2).wrapping_sub(1));
    assert_eq!(int::shf(true, false, 0x8000_0001, 0x1234_5678, 4), 0x2345_6788);
    assert_eq!(int::bfind(32, true, false, 0xffff_0000), 15);
    assert_eq!(int::sad(32, true, 0xffff_fffe, 3, 10), 15);
    assert_eq!(
        [
            int::div_bits(32, false, 7, 0),
            int::div_bits(32, true, 1 << 31, 0xffff_ffff),
            int::rem_bits(32, true, 1 << 31, 0xffff_ffff)
        ],
        [0xffff_ffff, 1 << 31, 0]
    );
}

/// The pseudocode of the PTX ISA for `bfe` and `bfi`, bit by bit.
#[test]
fn bit_fields_follow_the_pseudocode() {
    let mut random = Random(8);
    for _ in 0..100_000 {
        let (a, b) = (random_operand(&mut random, RegWidth::W64, None), random.next());
        let (pos, len) = ((random.next() % 80) as u32, (random.next() % 80) as u32);
        for bits in [32u32, 64] {
            let (a, b, msb) = (int::truncate_bits(bits, a), int::truncate_bits(bits, b), bits - 1);
            for signed in [false, true] {
                let fill = if signed && len > 0 { a >> (pos + len - 1).min(msb) & 1 } else { 0 };
                let want = (0..bits)
                    .fold(0, |d, i| d | if i < len && pos + i <= msb { a >> (pos + i) & 1 } else { fill } << i);
                assert_eq!(int::bfe(bits, signed, a, pos, len), want, "{a:x} {pos} {len}");
            }
            let want = (0..bits)
                .fold(0, |d, i| d | (if i >= pos && i < pos + len { a >> (i - pos) } else { b >> i } & 1) << i);
            assert_eq!(int::bfi(bits, a, b, pos, len), want, "{a:x} {b:x} {pos} {len}");
        }
    }
}

/// Runs an instruction in both shapes and compares every result with `want`.
fn check_instruction(text: &str, want: impl Fn(&InstructionCase, &[u64]) -> Vec<u64>) {
    let case = parse_case(text);
    let tuples = operand_tuples(&case, 2000);
    for shape in [EmitShape::Scalar, EmitShape::Chunk] {
        let results = compile_case(&case, shape, CompileMode::Direct, "none").run_tuples(&tuples);
        for (tuple, got) in tuples.iter().zip(&results) {
            assert_eq!(*got, want(&case, tuple), "{text} of {tuple:x?} ({shape:?})");
        }
    }
}

/// The sum, with its carry, of numbers of `bits` bits; a subtraction adds the complement.
fn add_with_carry(bits: u32, subtract: bool, x: u64, y: u64, carry: u64) -> Vec<u64> {
    let (x, y, c) = (i128::from(x), i128::from(y), i128::from(carry));
    let sum = if subtract { x + ((1 << bits) - 1 - y) + c } else { x + y + c };
    vec![int::truncate_bits(bits, sum as u64), u64::from(sum >> bits != 0)]
}

#[test]
fn carries_go_from_instruction_to_instruction() {
    for (bits, ty, r) in [(32, "u32", "r"), (64, "u64", "d"), (32, "s32", "r")] {
        let signed = ty.starts_with('s');
        check_instruction(&format!("add.cc.{ty} %{r}0, %{r}1, %{r}2;"), |_, t| {
            add_with_carry(bits, false, t[0], t[1], 0)
        });
        check_instruction(&format!("addc.cc.{ty} %{r}0, %{r}1, %{r}2;"), |_, t| {
            add_with_carry(bits, false, t[0], t[1], t[2])
        });
        check_instruction(&format!("addc.{ty} %{r}0, %{r}1, %{r}2;"), |_, t| {
            add_with_carry(bits, false, t[0], t[1], t[2])[..1].to_vec()
        });
        check_instruction(&format!("sub.cc.{ty} %{r}0, %{r}1, %{r}2;"), |_, t| {
            add_with_carry(bits, true, t[0], t[1], 1)
        });
        check_instruction(&format!("subc.cc.{ty} %{r}0, %{r}1, %{r}2;"), |_, t| {
            add_with_carry(bits, true, t[0], t[1], t[2])
        });
        let low = |t: &[u64]| int::truncate_bits(bits, t[0].wrapping_mul(t[1]));
        let high = |t: &[u64]| int::truncate_bits(bits, int::mul_hi(bits, signed, t[0], t[1]) as u64);
        check_instruction(&format!("mad.lo.cc.{ty} %{r}0, %{r}1, %{r}2, %{r}3;"), |_, t| {
            add_with_carry(bits, false, low(t), t[2], 0)
        });
        check_instruction(&format!("madc.lo.cc.{ty} %{r}0, %{r}1, %{r}2, %{r}3;"), |_, t| {
            add_with_carry(bits, false, low(t), t[2], t[3])
        });
        check_instruction(&format!("madc.hi.cc.{ty} %{r}0, %{r}1, %{r}2, %{r}3;"), |_, t| {
            add_with_carry(bits, false, high(t), t[2], t[3])
        });
        check_instruction(&format!("madc.hi.{ty} %{r}0, %{r}1, %{r}2, %{r}3;"), |_, t| {
            add_with_carry(bits, false, high(t), t[2], t[3])[..1].to_vec()
        });
    }
}

#[test]
fn comparisons_combine_with_predicates() {
    let compared = |case: &InstructionCase, t: &[u64]| match &case.inst {
        Inst::Setp { cmp, ty, ftz, .. } => match convert::float_format(*ty) {
            Some(f) => arith::compare_floats(f, FloatMode { ftz: *ftz, ..FloatMode::default() }, *cmp, t[0], t[1]),
            None => int::compare_ints(ty.bits(), ty.is_signed(), *cmp, t[0], t[1]),
        },
        other => panic!("{other:?}"),
    };
    for (ty, r) in [
        ("u16", "h"),
        ("u32", "r"),
        ("u64", "d"),
        ("s16", "h"),
        ("s32", "r"),
        ("s64", "d"),
        ("f16", "h"),
        ("bf16", "h"),
        ("f32", "r"),
        ("f64", "d"),
        ("ftz.f32", "r"),
    ] {
        let mut ops = vec!["eq", "ne", "lt", "le", "gt", "ge"];
        if ty.contains('f') {
            ops.extend(["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]);
        } else if ty.starts_with('u') {
            ops.extend(["lo", "ls", "hi", "hs"]);
        }
        for op in ops {
            check_instruction(&format!("setp.{op}.{ty} %p0, %{r}1, %{r}2;"), |case, t| vec![compared(case, t).into()]);
        }
        let and = ty.replace("ftz.", "and.ftz.");
        let and = if and == ty { format!("and.{ty}") } else { and };
        // Comparisons of halves have one result.
        let half = ty.ends_with("f16");
        let results = if half { "%p0" } else { "%p0|%p7" };
        check_instruction(&format!("setp.lt.{and} {results}, %{r}1, %{r}2, !%p3;"), |case, t| {
            let (p, q) = (compared(case, t), t[2] == 0);
            if half { vec![(p && q).into()] } else { vec![(p && q).into(), (!p && q).into()] }
        });
    }
}

#[test]
fn selections_and_packing() {
    check_instruction("selp.b32 %r0, %r1, %r2, %p3;", |_, t| vec![if t[2] != 0 { t[0] } else { t[1] }]);
    check_instruction("selp.b64 %d0, %d1, %d2, %p3;", |_, t| vec![if t[2] != 0 { t[0] } else { t[1] }]);
    check_instruction("slct.b64.s32 %d0, %d1, %d2, %r3;", |_, t| vec![if t[2] as i32 >= 0 { t[0] } else { t[1] }]);
    check_instruction("slct.b32.f32 %r0, %r1, %r2, %r3;", |_, t| {
        vec![if f32::from_bits(t[2] as u32) >= 0.0 { t[0] } else { t[1] }]
    });
    check_instruction("mov.b64 %d0, {%r1, %r2};", |_, t| vec![t[0] | t[1] << 32]);
    check_instruction("mov.b64 %d0, {%h1, %h2, %h3, %h4};", |_, t| vec![t[0] | t[1] << 16 | t[2] << 32 | t[3] << 48]);
    check_instruction("mov.b64 {%r0, %r7}, %d1;", |_, t| vec![t[0] & 0xffff_ffff, t[0] >> 32]);
    check_instruction("mov.b32 {%h0, %h7}, %r1;", |_, t| vec![t[0] & 0xffff, t[0] >> 16]);
    check_instruction("set.lt.f32.s32 %r0, %r1, %r2;", |_, t| {
        vec![if (t[0] as i32) < t[1] as i32 { 0x3f80_0000 } else { 0 }]
    });
    check_instruction("set.lt.u32.f64 %r0, %d1, %d2;", |_, t| {
        vec![if f64::from_bits(t[0]) < f64::from_bits(t[1]) { 0xffff_ffff } else { 0 }]
    });
}
