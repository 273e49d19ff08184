//! Which Rust helper executes an instruction: complete, if slow, coverage of PTX arithmetic.
//!
//! Numbers a helper needs besides its operands travel in [`FloatMode::extra`]: bits 0-7 the operand's
//! size or format, bit 8 its signedness, bits 16-31 the operation's own code; a conversion has the
//! destination's in bits 9-15 and flags above.

use rtcg_ptx::ast::{BinaryOp, CmpOp, FpMods, Inst, PrmtMode, Rounding, TernaryOp, Type, UnaryOp};

mod helper_list;

use super::helper_calls::SoftHelper;
use rtcg_vgpu_softmath::approx::{self, ApproxFunction};
use rtcg_vgpu_softmath::arith::{self, FloatOp, FloatTest};
use rtcg_vgpu_softmath::float::FloatFormat;
use rtcg_vgpu_softmath::{FloatMode, convert, int, video};

pub(super) use helper_list::all_helpers;

/// What a mask lane looks like to a helper.
fn lane_mask_word(x: bool) -> u64 {
    if x { u64::from(u32::MAX) } else { 0 }
}

/// The helper for `inst`, when it is one that helpers execute and its form is supported.
pub(super) fn helper_for_inst(inst: &Inst) -> Option<SoftHelper> {
    match inst {
        Inst::Unary { op, ty, mods, .. } => unary_helper(*op, *ty, mods),
        Inst::Binary { op, ty, mods, .. } => binary_helper(*op, *ty, mods),
        Inst::Ternary { op, ty, mods, .. } => ternary_helper(*op, *ty, mods),
        Inst::Bfi { ty, .. } => Some(bfi_helper(*ty)),
        Inst::Cvt { dty, sty, mods, .. } => cvt_helper(*dty, *sty, mods),
        Inst::CvtPack { dty, sty, mods, .. } => cvt_pack_helper(*dty, *sty, mods),
        Inst::CvtIntPack { bits, signed, .. } => Some(pack_integers_helper(*bits, *signed)),
        Inst::Video { .. } => Some(video_helper()),
        _ => None,
    }
}

fn bfi_helper(ty: Type) -> SoftHelper {
    SoftHelper::new(int_mode(ty, FloatMode::default(), 0), |m, [a, b, p, l]| {
        int::bfi(mode_operand_bits(m), a, b, p as u32, l as u32)
    })
}

fn pack_integers_helper(size: u8, sign: bool) -> SoftHelper {
    let m = FloatMode::default().with_instruction_bits(u32::from(size) | u32::from(sign) << 8);
    SoftHelper::from_ternary_fn(m, |m, a: u32, b, c| {
        convert::pack_integers(mode_operand_bits(m), mode_is_signed(m), a, b, c)
    })
}

fn video_helper() -> SoftHelper {
    SoftHelper::new(FloatMode::default(), |_, [a, b, c, code]| {
        video::execute_video(&video::decode_video(code), a as u32, b as u32, c as u32).into()
    })
}

fn mode_operand_bits(m: FloatMode) -> u32 {
    m.extra & 0xff
}
fn mode_is_signed(m: FloatMode) -> bool {
    m.extra >> 8 & 1 != 0
}
fn mode_operation_code(m: FloatMode) -> u32 {
    m.extra >> 16
}

/// `extra` for an integer type and an operation's code.
fn int_mode(ty: Type, m: FloatMode, code: u32) -> FloatMode {
    m.with_instruction_bits(ty.bits() | u32::from(ty.is_signed()) << 8 | code << 16)
}

const FLOAT_FORMATS: [FloatFormat; 5] =
    [FloatFormat::F16, FloatFormat::BF16, FloatFormat::F32, FloatFormat::F64, FloatFormat::TF32];

fn format_index(f: FloatFormat) -> u32 {
    FLOAT_FORMATS.iter().position(|&g| g == f).unwrap_or(0) as u32
}
fn mode_format(m: FloatMode) -> FloatFormat {
    FLOAT_FORMATS[((m.extra & 0xff) as usize).min(4)]
}

/// Whether `ty` is two halves of 16 bits.
fn is_half_pair(ty: Type) -> bool {
    matches!(ty, Type::F16x2 | Type::BF16x2 | Type::U16x2 | Type::S16x2)
}

/// `m` for a float type: its format and the operation's code; `None` if `ty` is no such type.
fn float_mode(ty: Type, m: FloatMode, code: u32) -> Option<FloatMode> {
    Some(m.with_instruction_bits(format_index(convert::float_format(ty)?) | code << 16))
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

fn float_op_helper(op: FloatOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = float_mode(ty, FloatMode::from(mods), op as u32)?;
    if is_half_pair(ty) {
        return Some(SoftHelper::new(m, |m, [a, b, c, _]| {
            let op = FLOAT_OPS[mode_operation_code(m).min(10) as usize];
            arith::map_halves(
                |a, b, c| arith::execute_float_op(op, mode_format(m), m, a, b, c),
                a as u32,
                b as u32,
                c as u32,
            )
            .into()
        }));
    }
    Some(SoftHelper::new(m, |m, [a, b, c, _]| {
        arith::execute_float_op(FLOAT_OPS[mode_operation_code(m).min(10) as usize], mode_format(m), m, a, b, c)
    }))
}

const APPROX_FUNCTIONS: [ApproxFunction; 8] = [
    ApproxFunction::Sin,
    ApproxFunction::Cos,
    ApproxFunction::Lg2,
    ApproxFunction::Ex2,
    ApproxFunction::Tanh,
    ApproxFunction::Rsqrt,
    ApproxFunction::Rcp,
    ApproxFunction::Sqrt,
];

fn approx_helper(function: ApproxFunction, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = float_mode(ty, FloatMode::from(mods), function as u32)?;
    if ty == Type::F64 {
        if function == ApproxFunction::Rsqrt && !mods.ftz {
            return Some(SoftHelper::new(m, |_, [a, ..]| approx::rsqrt_approx_f64(a)));
        }
        let ok = matches!(function, ApproxFunction::Rcp | ApproxFunction::Rsqrt);
        return ok.then(|| {
            SoftHelper::new(m, |m, [a, ..]| {
                approx::approx_f64_upper_word(APPROX_FUNCTIONS[(mode_operation_code(m) & 7) as usize], a)
            })
        });
    }
    if is_half_pair(ty) {
        return Some(SoftHelper::new(m, |m, [a, ..]| {
            let function = APPROX_FUNCTIONS[(mode_operation_code(m) & 7) as usize];
            arith::map_halves(|a, _, _| approx::execute_approx(function, mode_format(m), m, a), a as u32, 0, 0).into()
        }));
    }
    Some(SoftHelper::new(m, |m, [a, ..]| {
        approx::execute_approx(APPROX_FUNCTIONS[(mode_operation_code(m) & 7) as usize], mode_format(m), m, a)
    }))
}

fn unary_helper(op: UnaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let float = ty.is_float();
    let im = int_mode(ty, FloatMode::from(mods), 0);
    Some(match op {
        UnaryOp::Abs if float => return float_op_helper(FloatOp::Abs, ty, mods),
        UnaryOp::Neg if float => return float_op_helper(FloatOp::Neg, ty, mods),
        UnaryOp::Sqrt if !mods.approx => return float_op_helper(FloatOp::Sqrt, ty, mods),
        UnaryOp::Rcp if !mods.approx => return float_op_helper(FloatOp::Rcp, ty, mods),
        UnaryOp::Sqrt => return approx_helper(ApproxFunction::Sqrt, ty, mods),
        UnaryOp::Rcp => return approx_helper(ApproxFunction::Rcp, ty, mods),
        UnaryOp::Rsqrt => return approx_helper(ApproxFunction::Rsqrt, ty, mods),
        UnaryOp::Sin => return approx_helper(ApproxFunction::Sin, ty, mods),
        UnaryOp::Cos => return approx_helper(ApproxFunction::Cos, ty, mods),
        UnaryOp::Lg2 => return approx_helper(ApproxFunction::Lg2, ty, mods),
        UnaryOp::Ex2 => return approx_helper(ApproxFunction::Ex2, ty, mods),
        UnaryOp::Tanh => return approx_helper(ApproxFunction::Tanh, ty, mods),
        UnaryOp::Abs => SoftHelper::new(im, |m, [a, ..]| {
            int::extend_bits(mode_operand_bits(m), true, a).unsigned_abs() as u64
                & int::truncate_bits(mode_operand_bits(m), u64::MAX)
        }),
        UnaryOp::Neg => SoftHelper::new(im, |m, [a, ..]| int::truncate_bits(mode_operand_bits(m), a.wrapping_neg())),
        UnaryOp::Not => SoftHelper::new(im, |m, [a, ..]| int::truncate_bits(mode_operand_bits(m).max(16), !a)),
        UnaryOp::Cnot => SoftHelper::new(im, |_, [a, ..]| u64::from(a == 0)),
        UnaryOp::Popc => SoftHelper::new(im, |_, [a, ..]| a.count_ones().into()),
        UnaryOp::Clz => SoftHelper::new(im, |m, [a, ..]| u64::from(a.leading_zeros() + mode_operand_bits(m) - 64)),
        UnaryOp::Brev => SoftHelper::new(im, |m, [a, ..]| a.reverse_bits() >> (64 - mode_operand_bits(m))),
        UnaryOp::Bfind { shiftamt: false } => {
            SoftHelper::new(im, |m, [a, ..]| int::bfind(mode_operand_bits(m), mode_is_signed(m), false, a).into())
        }
        UnaryOp::Bfind { shiftamt: true } => {
            SoftHelper::new(im, |m, [a, ..]| int::bfind(mode_operand_bits(m), mode_is_signed(m), true, a).into())
        }
        UnaryOp::PendingCount => SoftHelper::new(im, |_, [a, ..]| rtcg_vgpu_abi::mbarrier::pending_count(a).into()),
        UnaryOp::TestFinite => return testp_helper(FloatTest::Finite, ty),
        UnaryOp::TestInfinite => return testp_helper(FloatTest::Infinite, ty),
        UnaryOp::TestNumber => return testp_helper(FloatTest::Number, ty),
        UnaryOp::TestNotANumber => return testp_helper(FloatTest::NotANumber, ty),
        UnaryOp::TestNormal => return testp_helper(FloatTest::Normal, ty),
        UnaryOp::TestSubnormal => return testp_helper(FloatTest::Subnormal, ty),
    })
}

const FLOAT_TESTS: [FloatTest; 6] = [
    FloatTest::Finite,
    FloatTest::Infinite,
    FloatTest::Number,
    FloatTest::NotANumber,
    FloatTest::Normal,
    FloatTest::Subnormal,
];

fn testp_helper(test: FloatTest, ty: Type) -> Option<SoftHelper> {
    let m = float_mode(ty, FloatMode::default(), test as u32)?;
    Some(SoftHelper::new(m, |m, [a, ..]| {
        lane_mask_word(arith::execute_testp(mode_format(m), FLOAT_TESTS[mode_operation_code(m).min(5) as usize], a))
    }))
}

fn binary_helper(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    if ty.is_float() {
        return float_binary_helper(op, ty, mods);
    }
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        return packed_binary_helper(op, ty, mods);
    }
    int_binary_helper(op, ty, mods)
}

fn float_binary_helper(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    match op {
        BinaryOp::Add => float_op_helper(FloatOp::Add, ty, mods),
        BinaryOp::Sub => float_op_helper(FloatOp::Sub, ty, mods),
        BinaryOp::Mul => float_op_helper(FloatOp::Mul, ty, mods),
        BinaryOp::Div if mods.approx || mods.full => {
            let m = float_mode(ty, FloatMode::from(mods), 0)?;
            Some(if mods.full {
                SoftHelper::new(m, |m, [a, b, ..]| approx::div_full(m, a, b))
            } else {
                SoftHelper::new(m, |m, [a, b, ..]| approx::div_approx(m, a, b))
            })
        }
        BinaryOp::Div => float_op_helper(FloatOp::Div, ty, mods),
        BinaryOp::Min => float_op_helper(FloatOp::Min, ty, mods),
        BinaryOp::Max => float_op_helper(FloatOp::Max, ty, mods),
        BinaryOp::CopySign => {
            let m = float_mode(ty, FloatMode::default(), 0)?;
            Some(SoftHelper::new(m, |m, [a, b, ..]| arith::copysign_bits(mode_format(m), a, b)))
        }
        _ => None,
    }
}

fn int_binary_helper(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = int_mode(ty, FloatMode::from(mods), 0);
    Some(match op {
        BinaryOp::Div => return Some(div_helper(ty, m)),
        BinaryOp::Rem => return Some(rem_helper(ty, m)),
        BinaryOp::Add => {
            SoftHelper::new(m, |m, [a, b, ..]| wrap_or_clamp(m, widen_by_mode(m, a) + widen_by_mode(m, b)))
        }
        BinaryOp::Sub => {
            SoftHelper::new(m, |m, [a, b, ..]| wrap_or_clamp(m, widen_by_mode(m, a) - widen_by_mode(m, b)))
        }
        BinaryOp::Mul => {
            SoftHelper::new(m, |m, [a, b, ..]| int::truncate_bits(mode_operand_bits(m), a.wrapping_mul(b)))
        }
        BinaryOp::MulHi => SoftHelper::new(m, |m, [a, b, ..]| {
            int::truncate_bits(mode_operand_bits(m), int::mul_hi(mode_operand_bits(m), mode_is_signed(m), a, b) as u64)
        }),
        BinaryOp::MulWide => SoftHelper::new(m, |m, [a, b, ..]| (widen_by_mode(m, a) * widen_by_mode(m, b)) as u64),
        BinaryOp::Mul24Lo => SoftHelper::new(m, |m, [a, b, ..]| int::mul24(mode_is_signed(m), false, a, b) as u64),
        BinaryOp::Mul24Hi => SoftHelper::new(m, |m, [a, b, ..]| int::mul24(mode_is_signed(m), true, a, b) as u64),
        BinaryOp::Min => SoftHelper::new(m, |m, [a, b, ..]| int_relu(m, widen_by_mode(m, a).min(widen_by_mode(m, b)))),
        BinaryOp::Max => SoftHelper::new(m, |m, [a, b, ..]| int_relu(m, widen_by_mode(m, a).max(widen_by_mode(m, b)))),
        BinaryOp::And => SoftHelper::new(m, |_, [a, b, ..]| a & b),
        BinaryOp::Or => SoftHelper::new(m, |_, [a, b, ..]| a | b),
        BinaryOp::Xor => SoftHelper::new(m, |_, [a, b, ..]| a ^ b),
        BinaryOp::Shl => SoftHelper::new(m, |m, [a, b, ..]| int::shl_clamped(mode_operand_bits(m), a, b as u32)),
        BinaryOp::Shr => {
            SoftHelper::new(m, |m, [a, b, ..]| int::shr_clamped(mode_operand_bits(m), mode_is_signed(m), a, b as u32))
        }
        BinaryOp::BmskClamp => SoftHelper::new(m, |_, [a, b, ..]| int::bmsk(false, a as u32, b as u32).into()),
        BinaryOp::BmskWrap => SoftHelper::new(m, |_, [a, b, ..]| int::bmsk(true, a as u32, b as u32).into()),
        BinaryOp::SzextClamp => {
            SoftHelper::new(m, |m, [a, b, ..]| int::szext(false, mode_is_signed(m), a as u32, b as u32).into())
        }
        BinaryOp::SzextWrap => {
            SoftHelper::new(m, |m, [a, b, ..]| int::szext(true, mode_is_signed(m), a as u32, b as u32).into())
        }
        BinaryOp::CopySign => return None,
    })
}

fn widen_by_mode(m: FloatMode, a: u64) -> i128 {
    int::extend_bits(mode_operand_bits(m), mode_is_signed(m), a)
}

fn wrap_or_clamp(m: FloatMode, x: i128) -> u64 {
    if m.sat {
        int::clamp_to_width(mode_operand_bits(m), mode_is_signed(m), x)
    } else {
        int::truncate_bits(mode_operand_bits(m), x as u64)
    }
}

fn int_relu(m: FloatMode, x: i128) -> u64 {
    int::truncate_bits(mode_operand_bits(m), if m.relu { x.max(0) } else { x } as u64)
}

fn div_helper(ty: Type, m: FloatMode) -> SoftHelper {
    match (ty.bits(), ty.is_signed()) {
        (32, false) => SoftHelper::from_binary_fn(m, |_, a: u32, b: u32| a.checked_div(b).unwrap_or(u32::MAX)),
        (32, true) => {
            SoftHelper::from_binary_fn(
                m,
                |_, a: u32, b: u32| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 },
            )
        }
        (64, false) => SoftHelper::from_binary_fn(m, |_, a: u64, b: u64| a.checked_div(b).unwrap_or(u64::MAX)),
        (64, true) => {
            SoftHelper::from_binary_fn(
                m,
                |_, a: u64, b: u64| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 },
            )
        }
        _ => SoftHelper::new(m, |m, [a, b, ..]| int::div_bits(mode_operand_bits(m), mode_is_signed(m), a, b)),
    }
}

fn rem_helper(ty: Type, m: FloatMode) -> SoftHelper {
    match (ty.bits(), ty.is_signed()) {
        (32, false) => SoftHelper::from_binary_fn(m, |_, a: u32, b: u32| a.checked_rem(b).unwrap_or(u32::MAX)),
        (32, true) => {
            SoftHelper::from_binary_fn(
                m,
                |_, a: u32, b: u32| if b == 0 { u32::MAX } else { (a as i32).wrapping_rem(b as i32) as u32 },
            )
        }
        (64, false) => SoftHelper::from_binary_fn(m, |_, a: u64, b: u64| a.checked_rem(b).unwrap_or(u64::MAX)),
        (64, true) => {
            SoftHelper::from_binary_fn(
                m,
                |_, a: u64, b: u64| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 },
            )
        }
        _ => SoftHelper::new(m, |m, [a, b, ..]| int::rem_bits(mode_operand_bits(m), mode_is_signed(m), a, b)),
    }
}

/// `add`, `min`, `max` of `.u16x2` and `.s16x2`.
fn packed_binary_helper(op: BinaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = FloatMode::from(mods).with_instruction_bits(16 | u32::from(ty.is_signed()) << 8);
    Some(match op {
        BinaryOp::Add => packed_helper(m, |m, a, b| wrap_or_clamp(m, widen_by_mode(m, a) + widen_by_mode(m, b))),
        BinaryOp::Sub => packed_helper(m, |m, a, b| wrap_or_clamp(m, widen_by_mode(m, a) - widen_by_mode(m, b))),
        BinaryOp::Min => packed_helper(m, |m, a, b| int_relu(m, widen_by_mode(m, a).min(widen_by_mode(m, b)))),
        BinaryOp::Max => packed_helper(m, |m, a, b| int_relu(m, widen_by_mode(m, a).max(widen_by_mode(m, b)))),
        _ => return None,
    })
}

fn packed_helper<F: Fn(FloatMode, u64, u64) -> u64 + Copy>(m: FloatMode, f: F) -> SoftHelper {
    SoftHelper::new(m, move |m, [a, b, ..]| arith::map_halves(|a, b, _| f(m, a, b), a as u32, b as u32, 0).into())
}

fn ternary_helper(op: TernaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = int_mode(ty, FloatMode::from(mods), 0);
    Some(match op {
        TernaryOp::Fma | TernaryOp::MadLo if ty.is_float() => return float_op_helper(FloatOp::Fma, ty, mods),
        TernaryOp::Min3 | TernaryOp::Max3 if ty.is_float() => return three_input_min_max_helper(op, ty, mods),
        TernaryOp::MadLo | TernaryOp::Fma => SoftHelper::new(m, |m, [a, b, c, _]| {
            int::truncate_bits(mode_operand_bits(m), a.wrapping_mul(b).wrapping_add(c))
        }),
        TernaryOp::MadHi => SoftHelper::new(m, |m, [a, b, c, _]| {
            let hi = int::truncate_bits(
                mode_operand_bits(m),
                int::mul_hi(mode_operand_bits(m), mode_is_signed(m), a, b) as u64,
            );
            wrap_or_clamp(m, widen_by_mode(m, hi) + widen_by_mode(m, c))
        }),
        TernaryOp::MadWide => {
            SoftHelper::new(m, |m, [a, b, c, _]| ((widen_by_mode(m, a) * widen_by_mode(m, b)) as u64).wrapping_add(c))
        }
        TernaryOp::Mad24Lo => {
            SoftHelper::new(m, |m, [a, b, c, _]| (int::mul24(mode_is_signed(m), false, a, b) as u64).wrapping_add(c))
        }
        TernaryOp::Mad24Hi => SoftHelper::new(m, |m, [a, b, c, _]| {
            wrap_or_clamp(m, widen_by_mode(m, int::mul24(mode_is_signed(m), true, a, b) as u64) + widen_by_mode(m, c))
        }),
        TernaryOp::Sad => {
            SoftHelper::new(m, |m, [a, b, c, _]| int::sad(mode_operand_bits(m), mode_is_signed(m), a, b, c))
        }
        TernaryOp::Bfe => SoftHelper::new(m, |m, [a, p, l, _]| {
            int::bfe(mode_operand_bits(m), mode_is_signed(m), a, p as u32, l as u32)
        }),
        TernaryOp::Lop3(table) => {
            SoftHelper::from_ternary_fn(m.with_instruction_bits(table.into()), |m, a: u32, b, c| {
                int::lop3(m.extra as u8, a, b, c)
            })
        }
        TernaryOp::ShfLClamp => SoftHelper::from_ternary_fn(m, |_, a: u32, b, c| int::shf(true, false, a, b, c)),
        TernaryOp::ShfLWrap => SoftHelper::from_ternary_fn(m, |_, a: u32, b, c| int::shf(true, true, a, b, c)),
        TernaryOp::ShfRClamp => SoftHelper::from_ternary_fn(m, |_, a: u32, b, c| int::shf(false, false, a, b, c)),
        TernaryOp::ShfRWrap => SoftHelper::from_ternary_fn(m, |_, a: u32, b, c| int::shf(false, true, a, b, c)),
        TernaryOp::Prmt(mode) => {
            SoftHelper::from_ternary_fn(m.with_instruction_bits(mode as u32), |m, a: u32, b, c| {
                int::prmt(PRMT_MODES[(m.extra % 7) as usize], a, b, c)
            })
        }
        TernaryOp::Dp4a { a_signed, b_signed } => {
            SoftHelper::from_ternary_fn(mode_with_flags(m, a_signed, b_signed, false), |m, a: u32, b, c| {
                int::dp4a(m.extra & 1 != 0, m.extra & 2 != 0, a, b, c)
            })
        }
        TernaryOp::Dp2a { a_signed, b_signed, hi } => {
            SoftHelper::from_ternary_fn(mode_with_flags(m, a_signed, b_signed, hi), |m, a: u32, b, c| {
                int::dp2a(m.extra & 1 != 0, m.extra & 2 != 0, m.extra & 4 != 0, a, b, c)
            })
        }
        TernaryOp::Fns => SoftHelper::from_ternary_fn(m, |_, a: u32, b, c| int::find_nth_set(a, b, c as i32)),
        TernaryOp::ClmadLo => SoftHelper::from_ternary_fn(m, |_, a: u64, b, c| int::clmad(false, a, b, c)),
        TernaryOp::ClmadHi => SoftHelper::from_ternary_fn(m, |_, a: u64, b, c| int::clmad(true, a, b, c)),
        TernaryOp::AbsDiff4 { sum } => {
            SoftHelper::from_ternary_fn(m.with_instruction_bits(sum.into()), |m, a: u32, b, c| {
                int::abs_diff4(m.extra != 0, a, b, c)
            })
        }
        TernaryOp::Min3 | TernaryOp::Max3 => return None,
    })
}

const PRMT_MODES: [PrmtMode; 7] =
    [PrmtMode::Index, PrmtMode::F4e, PrmtMode::B4e, PrmtMode::Rc8, PrmtMode::Ecl, PrmtMode::Ecr, PrmtMode::Rc16];

fn mode_with_flags(m: FloatMode, a: bool, b: bool, hi: bool) -> FloatMode {
    m.with_instruction_bits(u32::from(a) | u32::from(b) << 1 | u32::from(hi) << 2)
}

/// Three-input `min` and `max`: the two-input one twice.
fn three_input_min_max_helper(op: TernaryOp, ty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let op = if op == TernaryOp::Min3 { FloatOp::Min } else { FloatOp::Max };
    let m = float_mode(ty, FloatMode::from(mods), op as u32)?;
    Some(SoftHelper::new(m, |m, [a, b, c, _]| {
        let op = FLOAT_OPS[mode_operation_code(m).min(10) as usize];
        let ab = arith::execute_float_op(op, mode_format(m), m, a, b, 0);
        arith::execute_float_op(op, mode_format(m), m, ab, c, 0)
    }))
}

/// The helper that compares two operands of type `ty`: its result is a mask. Pairs are compared
/// half by half elsewhere.
pub(super) fn compare_helper(cmp: CmpOp, ty: Type, ftz: bool) -> Option<SoftHelper> {
    let m = FloatMode { ftz, ..FloatMode::default() };
    if ty.is_float() {
        let m = float_mode(ty, m, cmp as u32)?;
        return Some(SoftHelper::new(m, |m, [a, b, ..]| {
            lane_mask_word(arith::compare_floats(mode_format(m), m, mode_cmp_op(m), a, b))
        }));
    }
    let m = int_mode(ty, m, cmp as u32);
    Some(SoftHelper::new(m, |m, [a, b, ..]| {
        lane_mask_word(int::compare_ints(mode_operand_bits(m), mode_is_signed(m), mode_cmp_op(m), a, b))
    }))
}

const CMP_OPS: [CmpOp; 18] = {
    use CmpOp::*;
    [Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan]
};

fn mode_cmp_op(m: FloatMode) -> CmpOp {
    CMP_OPS[mode_operation_code(m).min(17) as usize]
}

/// Whether the rounding asks for an integral value.
fn is_integral_rounding(r: Rounding) -> bool {
    matches!(r, Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
}

fn mode_destination_code(m: FloatMode) -> u32 {
    m.extra >> 9 & 0x7f
}

fn cvt_helper(dty: Type, sty: Type, mods: &FpMods) -> Option<SoftHelper> {
    use Type::{E4M3x2, E5M2x2, F16x2};
    match (dty, sty) {
        (F16x2, E4M3x2) => {
            return Some(SoftHelper::new(mode_with_relu(mods), |m, [a, ..]| {
                convert_packed_8_to_16(m, convert::e4m3_to_f16, a)
            }));
        }
        (F16x2, E5M2x2) => {
            return Some(SoftHelper::new(mode_with_relu(mods), |m, [a, ..]| {
                convert_packed_8_to_16(m, convert::e5m2_to_f16, a)
            }));
        }
        (E4M3x2, F16x2) => {
            return Some(SoftHelper::new(mode_with_relu(mods), |m, [a, ..]| {
                pack_two_8_bit(m, convert::to_e4m3, FloatFormat::F16, a >> 16, a & 0xffff)
            }));
        }
        (E5M2x2, F16x2) => {
            return Some(SoftHelper::new(mode_with_relu(mods), |m, [a, ..]| {
                pack_two_8_bit(m, convert::to_e5m2, FloatFormat::F16, a >> 16, a & 0xffff)
            }));
        }
        _ => {}
    }
    if is_half_pair(dty) || is_half_pair(sty) {
        return None;
    }
    scalar_cvt_helper(dty, sty, mods)
}

fn mode_with_relu(mods: &FpMods) -> FloatMode {
    FloatMode { relu: mods.relu, ..FloatMode::default() }
}

fn convert_packed_8_to_16(m: FloatMode, convert: impl Fn(u32) -> u32, a: u64) -> u64 {
    let half = |code: u32| arith::apply_result_modifiers(FloatFormat::F16, m, convert(code).into());
    half(a as u32 & 0xff) | half(a as u32 >> 8 & 0xff) << 16
}

fn pack_two_8_bit(
    m: FloatMode,
    convert: impl Fn(FloatFormat, FloatMode, u64) -> u32,
    f: FloatFormat,
    high: u64,
    low: u64,
) -> u64 {
    u64::from(convert(f, m, low) | convert(f, m, high) << 8)
}

fn scalar_cvt_helper(dty: Type, sty: Type, mods: &FpMods) -> Option<SoftHelper> {
    let m = FloatMode::from(mods);
    let int_code = |ty: Type| ty.bits() | u32::from(ty.is_signed()) << 8;
    Some(match (convert::float_format(dty), convert::float_format(sty)) {
        (Some(d), Some(s)) => {
            let flags = (u32::from(is_integral_rounding(mods.rnd)) * convert::ROUND_TO_INTEGRAL_FLAG)
                | (u32::from(mods.satfinite) * convert::SATFINITE_FLAG);
            let m = m.with_instruction_bits(format_index(s) | format_index(d) << 9 | flags << 16);
            SoftHelper::new(m, |m, [a, ..]| {
                let to = FLOAT_FORMATS[(mode_destination_code(m) as usize).min(4)];
                convert::float_to_float(to, mode_format(m), m.with_instruction_bits(mode_operation_code(m)), a)
            })
        }
        (None, Some(s)) if !dty.is_float() => {
            // An integral rounding is what this conversion always does; toward zero when none is written.
            let m = m.with_instruction_bits(format_index(s) | int_code(dty) << 16);
            SoftHelper::new(m, |m, [a, ..]| {
                let to = (mode_operation_code(m) & 0xff, mode_operation_code(m) >> 8 & 1 != 0);
                sign_extend_8_bit_result(to, convert::float_to_int(mode_format(m), m, to.0, to.1, a))
            })
        }
        (Some(d), None) if !sty.is_float() => {
            let m = m.with_instruction_bits(int_code(sty) | format_index(d) << 9);
            SoftHelper::new(m, |m, [a, ..]| {
                let to = FLOAT_FORMATS[(mode_destination_code(m) as usize).min(4)];
                convert::int_to_float(to, m, mode_operand_bits(m), mode_is_signed(m), a)
            })
        }
        (None, None) if !dty.is_float() && !sty.is_float() => {
            let m = m.with_instruction_bits(int_code(sty) | int_code(dty) << 16);
            SoftHelper::new(m, |m, [a, ..]| {
                let to = (mode_operation_code(m) & 0xff, mode_operation_code(m) >> 8 & 1 != 0);
                sign_extend_8_bit_result(to, convert::int_to_int(m, to, (mode_operand_bits(m), mode_is_signed(m)), a))
            })
        }
        _ => return None,
    })
}

/// A signed 8-bit result fills the 16-bit register with its sign.
fn sign_extend_8_bit_result(to: (u32, bool), r: u64) -> u64 {
    if to == (8, true) { int::truncate_bits(16, int::extend_bits(8, true, r) as u64) } else { r }
}

/// `cvt d, a, b`: `a` goes to the high half.
fn cvt_pack_helper(dty: Type, sty: Type, mods: &FpMods) -> Option<SoftHelper> {
    if sty != Type::F32 {
        return None;
    }
    let m = FloatMode::from(mods).with_instruction_bits(u32::from(mods.satfinite) * convert::SATFINITE_FLAG);
    let m8 = FloatMode { relu: m.relu, ..FloatMode::default() };
    Some(match dty {
        Type::F16x2 => SoftHelper::new(m, |m, [a, b, ..]| pack_two_16_bit(m, FloatFormat::F16, a, b)),
        Type::BF16x2 => SoftHelper::new(m, |m, [a, b, ..]| pack_two_16_bit(m, FloatFormat::BF16, a, b)),
        Type::E4M3x2 => {
            SoftHelper::new(m8, |m, [a, b, ..]| pack_two_8_bit(m, convert::to_e4m3, FloatFormat::F32, a, b))
        }
        Type::E5M2x2 => {
            SoftHelper::new(m8, |m, [a, b, ..]| pack_two_8_bit(m, convert::to_e5m2, FloatFormat::F32, a, b))
        }
        _ => return None,
    })
}

fn pack_two_16_bit(m: FloatMode, f: FloatFormat, a: u64, b: u64) -> u64 {
    convert::float_to_float(f, FloatFormat::F32, m, b) | convert::float_to_float(f, FloatFormat::F32, m, a) << 16
}
