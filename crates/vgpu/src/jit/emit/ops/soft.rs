//! Which Rust helper executes an instruction: complete, if slow, coverage of PTX arithmetic.
//!
//! Numbers a helper needs besides its operands travel in [`Mode::extra`]: bits 0-7 the operand's
//! size or format, bit 8 its signedness, bits 16-31 the operation's own code; a conversion has the
//! destination's in bits 9-15 and flags above.

use rtcg_ptx::ast::{BinaryOp, CmpOp, FpMods, Inst, PrmtMode, Rounding, TernaryOp, Type, UnaryOp};

mod list;

use super::helper::Helper;
use crate::softmath::approx::{self, Function};
use crate::softmath::arith::{self, FloatOp, Test};
use crate::softmath::float::Format;
use crate::softmath::{Mode, convert, int, video};

pub(super) use list::every;

/// What a mask lane looks like to a helper.
fn mask(x: bool) -> u64 {
    if x { u64::from(u32::MAX) } else { 0 }
}

/// The helper for `inst`, when it is one that helpers execute and its form is supported.
pub(super) fn select(inst: &Inst) -> Option<Helper> {
    match inst {
        Inst::Unary { op, ty, mods, .. } => unary(*op, *ty, mods),
        Inst::Binary { op, ty, mods, .. } => binary(*op, *ty, mods),
        Inst::Ternary { op, ty, mods, .. } => ternary(*op, *ty, mods),
        Inst::Bfi { ty, .. } => Some(bfi(*ty)),
        Inst::Cvt { dty, sty, mods, .. } => cvt(*dty, *sty, mods),
        Inst::CvtPack { dty, sty, mods, .. } => cvt_pack(*dty, *sty, mods),
        Inst::CvtIntPack { bits, signed, .. } => Some(pack_integers(*bits, *signed)),
        Inst::Video { .. } => Some(video()),
        _ => None,
    }
}

fn bfi(ty: Type) -> Helper {
    Helper::new(int_mode(ty, Mode::default(), 0), |m, [a, b, p, l]| int::bfi(bits(m), a, b, p as u32, l as u32))
}

fn pack_integers(size: u8, sign: bool) -> Helper {
    let m = Mode::default().with(u32::from(size) | u32::from(sign) << 8);
    Helper::ternary(m, |m, a: u32, b, c| convert::pack_integers(bits(m), signed(m), a, b, c))
}

fn video() -> Helper {
    Helper::new(Mode::default(), |_, [a, b, c, code]| {
        video::execute(&video::decode(code), a as u32, b as u32, c as u32).into()
    })
}

fn bits(m: Mode) -> u32 {
    m.extra & 0xff
}
fn signed(m: Mode) -> bool {
    m.extra >> 8 & 1 != 0
}
fn code(m: Mode) -> u32 {
    m.extra >> 16
}

/// `extra` for an integer type and an operation's code.
fn int_mode(ty: Type, m: Mode, code: u32) -> Mode {
    m.with(ty.bits() | u32::from(ty.is_signed()) << 8 | code << 16)
}

const FORMATS: [Format; 5] = [Format::F16, Format::BF16, Format::F32, Format::F64, Format::TF32];

fn format_index(f: Format) -> u32 {
    FORMATS.iter().position(|&g| g == f).unwrap_or(0) as u32
}
fn format(m: Mode) -> Format {
    FORMATS[((m.extra & 0xff) as usize).min(4)]
}

/// Whether `ty` is two halves of 16 bits.
fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::F16x2 | Type::BF16x2 | Type::U16x2 | Type::S16x2)
}

/// `m` for a float type: its format and the operation's code; `None` if `ty` is no such type.
fn float_mode(ty: Type, m: Mode, code: u32) -> Option<Mode> {
    Some(m.with(format_index(convert::format(ty)?) | code << 16))
}

const FLOAT_OPS: [FloatOp; 11] = [
    FloatOp::Add,
    FloatOp::Sub,
    FloatOp::Mul,
    FloatOp::Fma,
    FloatOp::Div,
    FloatOp::Sqrt,
    FloatOp::Rcp,
    FloatOp::Min,
    FloatOp::Max,
    FloatOp::Abs,
    FloatOp::Neg,
];

fn float_op(op: FloatOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let m = float_mode(ty, Mode::from(mods), op as u32)?;
    if is_pair(ty) {
        return Some(Helper::new(m, |m, [a, b, c, _]| {
            let op = FLOAT_OPS[code(m).min(10) as usize];
            arith::halves(|a, b, c| arith::execute(op, format(m), m, a, b, c), a as u32, b as u32, c as u32).into()
        }));
    }
    Some(Helper::new(m, |m, [a, b, c, _]| arith::execute(FLOAT_OPS[code(m).min(10) as usize], format(m), m, a, b, c)))
}

const FUNCTIONS: [Function; 8] = [
    Function::Sin,
    Function::Cos,
    Function::Lg2,
    Function::Ex2,
    Function::Tanh,
    Function::Rsqrt,
    Function::Rcp,
    Function::Sqrt,
];

fn function(function: Function, ty: Type, mods: &FpMods) -> Option<Helper> {
    let m = float_mode(ty, Mode::from(mods), function as u32)?;
    if ty == Type::F64 {
        if function == Function::Rsqrt && !mods.ftz {
            return Some(Helper::new(m, |_, [a, ..]| approx::reciprocal_root(a)));
        }
        let ok = matches!(function, Function::Rcp | Function::Rsqrt);
        return ok.then(|| Helper::new(m, |m, [a, ..]| approx::upper_word(FUNCTIONS[(code(m) & 7) as usize], a)));
    }
    if is_pair(ty) {
        return Some(Helper::new(m, |m, [a, ..]| {
            let function = FUNCTIONS[(code(m) & 7) as usize];
            arith::halves(|a, _, _| approx::execute(function, format(m), m, a), a as u32, 0, 0).into()
        }));
    }
    Some(Helper::new(m, |m, [a, ..]| approx::execute(FUNCTIONS[(code(m) & 7) as usize], format(m), m, a)))
}

fn unary(op: UnaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let float = ty.is_float();
    let im = int_mode(ty, Mode::from(mods), 0);
    Some(match op {
        UnaryOp::Abs if float => return float_op(FloatOp::Abs, ty, mods),
        UnaryOp::Neg if float => return float_op(FloatOp::Neg, ty, mods),
        UnaryOp::Sqrt if !mods.approx => return float_op(FloatOp::Sqrt, ty, mods),
        UnaryOp::Rcp if !mods.approx => return float_op(FloatOp::Rcp, ty, mods),
        UnaryOp::Sqrt => return function(Function::Sqrt, ty, mods),
        UnaryOp::Rcp => return function(Function::Rcp, ty, mods),
        UnaryOp::Rsqrt => return function(Function::Rsqrt, ty, mods),
        UnaryOp::Sin => return function(Function::Sin, ty, mods),
        UnaryOp::Cos => return function(Function::Cos, ty, mods),
        UnaryOp::Lg2 => return function(Function::Lg2, ty, mods),
        UnaryOp::Ex2 => return function(Function::Ex2, ty, mods),
        UnaryOp::Tanh => return function(Function::Tanh, ty, mods),
        UnaryOp::Abs => Helper::new(im, |m, [a, ..]| {
            int::read(bits(m), true, a).unsigned_abs() as u64 & int::truncate_bits(bits(m), u64::MAX)
        }),
        UnaryOp::Neg => Helper::new(im, |m, [a, ..]| int::truncate_bits(bits(m), a.wrapping_neg())),
        UnaryOp::Not => Helper::new(im, |m, [a, ..]| int::truncate_bits(bits(m).max(16), !a)),
        UnaryOp::Cnot => Helper::new(im, |_, [a, ..]| u64::from(a == 0)),
        UnaryOp::Popc => Helper::new(im, |_, [a, ..]| a.count_ones().into()),
        UnaryOp::Clz => Helper::new(im, |m, [a, ..]| u64::from(a.leading_zeros() + bits(m) - 64)),
        UnaryOp::Brev => Helper::new(im, |m, [a, ..]| a.reverse_bits() >> (64 - bits(m))),
        UnaryOp::Bfind { shiftamt: false } => {
            Helper::new(im, |m, [a, ..]| int::bfind(bits(m), signed(m), false, a).into())
        }
        UnaryOp::Bfind { shiftamt: true } => {
            Helper::new(im, |m, [a, ..]| int::bfind(bits(m), signed(m), true, a).into())
        }
        UnaryOp::PendingCount => Helper::new(im, |_, [a, ..]| crate::exec::mbarrier::pending(a).into()),
        UnaryOp::TestFinite => return testp(Test::Finite, ty),
        UnaryOp::TestInfinite => return testp(Test::Infinite, ty),
        UnaryOp::TestNumber => return testp(Test::Number, ty),
        UnaryOp::TestNotANumber => return testp(Test::NotANumber, ty),
        UnaryOp::TestNormal => return testp(Test::Normal, ty),
        UnaryOp::TestSubnormal => return testp(Test::Subnormal, ty),
    })
}

const TESTS: [Test; 6] = [Test::Finite, Test::Infinite, Test::Number, Test::NotANumber, Test::Normal, Test::Subnormal];

fn testp(test: Test, ty: Type) -> Option<Helper> {
    let m = float_mode(ty, Mode::default(), test as u32)?;
    Some(Helper::new(m, |m, [a, ..]| mask(arith::test(format(m), TESTS[code(m).min(5) as usize], a))))
}

fn binary(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    if ty.is_float() {
        return float_binary(op, ty, mods);
    }
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        return packed_binary(op, ty, mods);
    }
    int_binary(op, ty, mods)
}

fn float_binary(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    match op {
        BinaryOp::Add => float_op(FloatOp::Add, ty, mods),
        BinaryOp::Sub => float_op(FloatOp::Sub, ty, mods),
        BinaryOp::Mul => float_op(FloatOp::Mul, ty, mods),
        BinaryOp::Div if mods.approx => {
            let m = float_mode(ty, Mode::from(mods), 0)?;
            Some(Helper::new(m, |m, [a, b, ..]| arith::div_approx(format(m), m, a, b)))
        }
        BinaryOp::Div => float_op(FloatOp::Div, ty, mods),
        BinaryOp::Min => float_op(FloatOp::Min, ty, mods),
        BinaryOp::Max => float_op(FloatOp::Max, ty, mods),
        BinaryOp::CopySign => {
            let m = float_mode(ty, Mode::default(), 0)?;
            Some(Helper::new(m, |m, [a, b, ..]| arith::copysign(format(m), a, b)))
        }
        _ => None,
    }
}

fn int_binary(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let m = int_mode(ty, Mode::from(mods), 0);
    Some(match op {
        BinaryOp::Div => return Some(div(ty, m)),
        BinaryOp::Rem => return Some(rem(ty, m)),
        BinaryOp::Add => Helper::new(m, |m, [a, b, ..]| wrap_or_clamp(m, wide(m, a) + wide(m, b))),
        BinaryOp::Sub => Helper::new(m, |m, [a, b, ..]| wrap_or_clamp(m, wide(m, a) - wide(m, b))),
        BinaryOp::Mul => Helper::new(m, |m, [a, b, ..]| int::truncate_bits(bits(m), a.wrapping_mul(b))),
        BinaryOp::MulHi => {
            Helper::new(m, |m, [a, b, ..]| int::truncate_bits(bits(m), int::mul_hi(bits(m), signed(m), a, b) as u64))
        }
        BinaryOp::MulWide => Helper::new(m, |m, [a, b, ..]| (wide(m, a) * wide(m, b)) as u64),
        BinaryOp::Mul24Lo => Helper::new(m, |m, [a, b, ..]| int::mul24(signed(m), false, a, b) as u64),
        BinaryOp::Mul24Hi => Helper::new(m, |m, [a, b, ..]| int::mul24(signed(m), true, a, b) as u64),
        BinaryOp::Min => Helper::new(m, |m, [a, b, ..]| int_relu(m, wide(m, a).min(wide(m, b)))),
        BinaryOp::Max => Helper::new(m, |m, [a, b, ..]| int_relu(m, wide(m, a).max(wide(m, b)))),
        BinaryOp::And => Helper::new(m, |_, [a, b, ..]| a & b),
        BinaryOp::Or => Helper::new(m, |_, [a, b, ..]| a | b),
        BinaryOp::Xor => Helper::new(m, |_, [a, b, ..]| a ^ b),
        BinaryOp::Shl => Helper::new(m, |m, [a, b, ..]| int::shl(bits(m), a, b as u32)),
        BinaryOp::Shr => Helper::new(m, |m, [a, b, ..]| int::shr(bits(m), signed(m), a, b as u32)),
        BinaryOp::BmskClamp => Helper::new(m, |_, [a, b, ..]| int::bmsk(false, a as u32, b as u32).into()),
        BinaryOp::BmskWrap => Helper::new(m, |_, [a, b, ..]| int::bmsk(true, a as u32, b as u32).into()),
        BinaryOp::SzextClamp => Helper::new(m, |m, [a, b, ..]| int::szext(false, signed(m), a as u32, b as u32).into()),
        BinaryOp::SzextWrap => Helper::new(m, |m, [a, b, ..]| int::szext(true, signed(m), a as u32, b as u32).into()),
        BinaryOp::CopySign => return None,
    })
}

fn wide(m: Mode, a: u64) -> i128 {
    int::read(bits(m), signed(m), a)
}

fn wrap_or_clamp(m: Mode, x: i128) -> u64 {
    if m.sat { int::clamp(bits(m), signed(m), x) } else { int::truncate_bits(bits(m), x as u64) }
}

fn int_relu(m: Mode, x: i128) -> u64 {
    int::truncate_bits(bits(m), if m.relu { x.max(0) } else { x } as u64)
}

fn div(ty: Type, m: Mode) -> Helper {
    match (ty.bits(), ty.is_signed()) {
        (32, false) => Helper::binary(m, |_, a: u32, b: u32| a.checked_div(b).unwrap_or(u32::MAX)),
        (32, true) => Helper::binary(
            m,
            |_, a: u32, b: u32| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 },
        ),
        (64, false) => Helper::binary(m, |_, a: u64, b: u64| a.checked_div(b).unwrap_or(u64::MAX)),
        (64, true) => Helper::binary(
            m,
            |_, a: u64, b: u64| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 },
        ),
        _ => Helper::new(m, |m, [a, b, ..]| int::div(bits(m), signed(m), a, b)),
    }
}

fn rem(ty: Type, m: Mode) -> Helper {
    match (ty.bits(), ty.is_signed()) {
        (32, false) => Helper::binary(m, |_, a: u32, b: u32| a.checked_rem(b).unwrap_or(u32::MAX)),
        (32, true) => Helper::binary(
            m,
            |_, a: u32, b: u32| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 },
        ),
        (64, false) => Helper::binary(m, |_, a: u64, b: u64| a.checked_rem(b).unwrap_or(u64::MAX)),
        (64, true) => Helper::binary(
            m,
            |_, a: u64, b: u64| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 },
        ),
        _ => Helper::new(m, |m, [a, b, ..]| int::rem(bits(m), signed(m), a, b)),
    }
}

/// `add`, `min`, `max` of `.u16x2` and `.s16x2`.
fn packed_binary(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let m = Mode::from(mods).with(16 | u32::from(ty.is_signed()) << 8);
    Some(match op {
        BinaryOp::Add => packed(m, |m, a, b| wrap_or_clamp(m, wide(m, a) + wide(m, b))),
        BinaryOp::Sub => packed(m, |m, a, b| wrap_or_clamp(m, wide(m, a) - wide(m, b))),
        BinaryOp::Min => packed(m, |m, a, b| int_relu(m, wide(m, a).min(wide(m, b)))),
        BinaryOp::Max => packed(m, |m, a, b| int_relu(m, wide(m, a).max(wide(m, b)))),
        _ => return None,
    })
}

fn packed<F: Fn(Mode, u64, u64) -> u64 + Copy>(m: Mode, f: F) -> Helper {
    Helper::new(m, move |m, [a, b, ..]| arith::halves(|a, b, _| f(m, a, b), a as u32, b as u32, 0).into())
}

fn ternary(op: TernaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let m = int_mode(ty, Mode::from(mods), 0);
    Some(match op {
        TernaryOp::Fma | TernaryOp::MadLo if ty.is_float() => return float_op(FloatOp::Fma, ty, mods),
        TernaryOp::Min3 | TernaryOp::Max3 if ty.is_float() => return three(op, ty, mods),
        TernaryOp::MadLo | TernaryOp::Fma => {
            Helper::new(m, |m, [a, b, c, _]| int::truncate_bits(bits(m), a.wrapping_mul(b).wrapping_add(c)))
        }
        TernaryOp::MadHi => Helper::new(m, |m, [a, b, c, _]| {
            let hi = int::truncate_bits(bits(m), int::mul_hi(bits(m), signed(m), a, b) as u64);
            wrap_or_clamp(m, wide(m, hi) + wide(m, c))
        }),
        TernaryOp::MadWide => Helper::new(m, |m, [a, b, c, _]| ((wide(m, a) * wide(m, b)) as u64).wrapping_add(c)),
        TernaryOp::Mad24Lo => {
            Helper::new(m, |m, [a, b, c, _]| (int::mul24(signed(m), false, a, b) as u64).wrapping_add(c))
        }
        TernaryOp::Mad24Hi => Helper::new(m, |m, [a, b, c, _]| {
            wrap_or_clamp(m, wide(m, int::mul24(signed(m), true, a, b) as u64) + wide(m, c))
        }),
        TernaryOp::Sad => Helper::new(m, |m, [a, b, c, _]| int::sad(bits(m), signed(m), a, b, c)),
        TernaryOp::Bfe => Helper::new(m, |m, [a, p, l, _]| int::bfe(bits(m), signed(m), a, p as u32, l as u32)),
        TernaryOp::Lop3(table) => {
            Helper::ternary(m.with(table.into()), |m, a: u32, b, c| int::lop3(m.extra as u8, a, b, c))
        }
        TernaryOp::ShfLClamp => Helper::ternary(m, |_, a: u32, b, c| int::shf(true, false, a, b, c)),
        TernaryOp::ShfLWrap => Helper::ternary(m, |_, a: u32, b, c| int::shf(true, true, a, b, c)),
        TernaryOp::ShfRClamp => Helper::ternary(m, |_, a: u32, b, c| int::shf(false, false, a, b, c)),
        TernaryOp::ShfRWrap => Helper::ternary(m, |_, a: u32, b, c| int::shf(false, true, a, b, c)),
        TernaryOp::Prmt(mode) => Helper::ternary(m.with(mode as u32), |m, a: u32, b, c| {
            int::prmt(PRMT_MODES[(m.extra % 7) as usize], a, b, c)
        }),
        TernaryOp::Dp4a { a_signed, b_signed } => {
            Helper::ternary(flags(m, a_signed, b_signed, false), |m, a: u32, b, c| {
                int::dp4a(m.extra & 1 != 0, m.extra & 2 != 0, a, b, c)
            })
        }
        TernaryOp::Dp2a { a_signed, b_signed, hi } => {
            Helper::ternary(flags(m, a_signed, b_signed, hi), |m, a: u32, b, c| {
                int::dp2a(m.extra & 1 != 0, m.extra & 2 != 0, m.extra & 4 != 0, a, b, c)
            })
        }
        TernaryOp::Fns => Helper::ternary(m, |_, a: u32, b, c| int::find_nth_set(a, b, c as i32)),
        TernaryOp::AbsDiff4 { sum } => {
            Helper::ternary(m.with(sum.into()), |m, a: u32, b, c| int::abs_diff4(m.extra != 0, a, b, c))
        }
        TernaryOp::Min3 | TernaryOp::Max3 => return None,
    })
}

const PRMT_MODES: [PrmtMode; 7] =
    [PrmtMode::Index, PrmtMode::F4e, PrmtMode::B4e, PrmtMode::Rc8, PrmtMode::Ecl, PrmtMode::Ecr, PrmtMode::Rc16];

fn flags(m: Mode, a: bool, b: bool, hi: bool) -> Mode {
    m.with(u32::from(a) | u32::from(b) << 1 | u32::from(hi) << 2)
}

/// Three-input `min` and `max`: the two-input one twice.
fn three(op: TernaryOp, ty: Type, mods: &FpMods) -> Option<Helper> {
    let op = if op == TernaryOp::Min3 { FloatOp::Min } else { FloatOp::Max };
    let m = float_mode(ty, Mode::from(mods), op as u32)?;
    Some(Helper::new(m, |m, [a, b, c, _]| {
        let op = FLOAT_OPS[code(m).min(10) as usize];
        let ab = arith::execute(op, format(m), m, a, b, 0);
        arith::execute(op, format(m), m, ab, c, 0)
    }))
}

/// The helper that compares two operands of type `ty`: its result is a mask. Pairs are compared
/// half by half elsewhere.
pub(super) fn compare(cmp: CmpOp, ty: Type, ftz: bool) -> Option<Helper> {
    let m = Mode { ftz, ..Mode::default() };
    if ty.is_float() {
        let m = float_mode(ty, m, cmp as u32)?;
        return Some(Helper::new(m, |m, [a, b, ..]| mask(arith::compare(format(m), m, cmp_op(m), a, b))));
    }
    let m = int_mode(ty, m, cmp as u32);
    Some(Helper::new(m, |m, [a, b, ..]| mask(int::compare(bits(m), signed(m), cmp_op(m), a, b))))
}

const CMP_OPS: [CmpOp; 18] = {
    use CmpOp::*;
    [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan]
};

fn cmp_op(m: Mode) -> CmpOp {
    CMP_OPS[code(m).min(17) as usize]
}

/// Whether the rounding asks for an integral value.
fn integral(r: Rounding) -> bool {
    matches!(r, Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
}

fn dst_code(m: Mode) -> u32 {
    m.extra >> 9 & 0x7f
}

fn cvt(dty: Type, sty: Type, mods: &FpMods) -> Option<Helper> {
    use Type::{E4M3x2, E5M2x2, F16x2};
    match (dty, sty) {
        (F16x2, E4M3x2) => return Some(Helper::new(relu_mode(mods), |m, [a, ..]| unpack8(m, convert::e4m3_to_f16, a))),
        (F16x2, E5M2x2) => return Some(Helper::new(relu_mode(mods), |m, [a, ..]| unpack8(m, convert::e5m2_to_f16, a))),
        (E4M3x2, F16x2) => {
            return Some(Helper::new(relu_mode(mods), |m, [a, ..]| {
                pack8(m, convert::to_e4m3, Format::F16, a >> 16, a & 0xffff)
            }));
        }
        (E5M2x2, F16x2) => {
            return Some(Helper::new(relu_mode(mods), |m, [a, ..]| {
                pack8(m, convert::to_e5m2, Format::F16, a >> 16, a & 0xffff)
            }));
        }
        _ => {}
    }
    if is_pair(dty) || is_pair(sty) {
        return None;
    }
    scalar_cvt(dty, sty, mods)
}

fn relu_mode(mods: &FpMods) -> Mode {
    Mode { relu: mods.relu, ..Mode::default() }
}

fn unpack8(m: Mode, convert: impl Fn(u32) -> u32, a: u64) -> u64 {
    let half = |code: u32| arith::output(Format::F16, m, convert(code).into());
    half(a as u32 & 0xff) | half(a as u32 >> 8 & 0xff) << 16
}

fn pack8(m: Mode, convert: impl Fn(Format, Mode, u64) -> u32, f: Format, high: u64, low: u64) -> u64 {
    u64::from(convert(f, m, low) | convert(f, m, high) << 8)
}

fn scalar_cvt(dty: Type, sty: Type, mods: &FpMods) -> Option<Helper> {
    let m = Mode::from(mods);
    let int_code = |ty: Type| ty.bits() | u32::from(ty.is_signed()) << 8;
    Some(match (convert::format(dty), convert::format(sty)) {
        (Some(d), Some(s)) => {
            let flags =
                (u32::from(integral(mods.rnd)) * convert::INTEGRAL) | (u32::from(mods.satfinite) * convert::SATFINITE);
            let m = m.with(format_index(s) | format_index(d) << 9 | flags << 16);
            Helper::new(m, |m, [a, ..]| {
                let to = FORMATS[(dst_code(m) as usize).min(4)];
                convert::float_to_float(to, format(m), m.with(code(m)), a)
            })
        }
        (None, Some(s)) if !dty.is_float() => {
            // An integral rounding is what this conversion always does; toward zero when none is written.
            let m = m.with(format_index(s) | int_code(dty) << 16);
            Helper::new(m, |m, [a, ..]| {
                let to = (code(m) & 0xff, code(m) >> 8 & 1 != 0);
                in_register(to, convert::float_to_int(format(m), m, to.0, to.1, a))
            })
        }
        (Some(d), None) if !sty.is_float() => {
            let m = m.with(int_code(sty) | format_index(d) << 9);
            Helper::new(m, |m, [a, ..]| {
                let to = FORMATS[(dst_code(m) as usize).min(4)];
                convert::int_to_float(to, m, bits(m), signed(m), a)
            })
        }
        (None, None) if !dty.is_float() && !sty.is_float() => {
            let m = m.with(int_code(sty) | int_code(dty) << 16);
            Helper::new(m, |m, [a, ..]| {
                let to = (code(m) & 0xff, code(m) >> 8 & 1 != 0);
                in_register(to, convert::int_to_int(m, to, (bits(m), signed(m)), a))
            })
        }
        _ => return None,
    })
}

/// A signed 8-bit result fills the 16-bit register with its sign.
fn in_register(to: (u32, bool), r: u64) -> u64 {
    if to == (8, true) { int::truncate_bits(16, int::read(8, true, r) as u64) } else { r }
}

/// `cvt d, a, b`: `a` goes to the high half.
fn cvt_pack(dty: Type, sty: Type, mods: &FpMods) -> Option<Helper> {
    if sty != Type::F32 {
        return None;
    }
    let m = Mode::from(mods).with(u32::from(mods.satfinite) * convert::SATFINITE);
    let m8 = Mode { relu: m.relu, ..Mode::default() };
    Some(match dty {
        Type::F16x2 => Helper::new(m, |m, [a, b, ..]| pack16(m, Format::F16, a, b)),
        Type::BF16x2 => Helper::new(m, |m, [a, b, ..]| pack16(m, Format::BF16, a, b)),
        Type::E4M3x2 => Helper::new(m8, |m, [a, b, ..]| pack8(m, convert::to_e4m3, Format::F32, a, b)),
        Type::E5M2x2 => Helper::new(m8, |m, [a, b, ..]| pack8(m, convert::to_e5m2, Format::F32, a, b)),
        _ => return None,
    })
}

fn pack16(m: Mode, f: Format, a: u64, b: u64) -> u64 {
    convert::float_to_float(f, Format::F32, m, b) | convert::float_to_float(f, Format::F32, m, a) << 16
}
