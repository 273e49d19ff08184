//! Operations computed in bool and in integers: exactly, then wrapped to the dtype.

use super::cast::wrap;
use super::operation::compare;
use crate::ir::Number;
use rtcg_codegen::array::Op;
use rtcg_hal::{DType, DTypeKind};

/// An operation of truth values.
pub(super) fn bool_operation(op: Op, operands: &[Number]) -> Number {
    let at = |index: usize| matches!(operands.get(index), Some(Number::Bool(true)));
    let (x, y, z, w) = (at(0), at(1), at(2), at(3));
    Number::Bool(match op {
        Op::Add | Op::BitOr | Op::LogicalOr | Op::Maximum | Op::Fmax => x || y,
        Op::Multiply | Op::BitAnd | Op::LogicalAnd | Op::Minimum | Op::Fmin => x && y,
        Op::BitXor | Op::LogicalXor => x != y,
        Op::Invert | Op::LogicalNot => !x,
        Op::Axpby => x && y || z && w,
        Op::Absolute | Op::Floor | Op::Ceil | Op::Trunc | Op::Real => x,
        Op::Imag | Op::Isnan | Op::Isinf => false,
        Op::Isfinite => true,
        _ => compare(op, x.cmp(&y)),
    })
}

/// An operation of integers of a dtype.
pub(super) fn integer_operation(op: Op, dtype: DType, operands: &[Number]) -> Number {
    let at = |index: usize| match operands.get(index) {
        Some(Number::Int(value)) => *value,
        _ => 0,
    };
    let (x, y, z, w) = (at(0), at(1), at(2), at(3));
    let bits = 8 * dtype.itemsize() as i128;
    let is_signed = dtype.kind() == DTypeKind::Signed;
    let truth = match op {
        Op::LogicalAnd => Some(x != 0 && y != 0),
        Op::LogicalOr => Some(x != 0 || y != 0),
        Op::LogicalXor => Some((x != 0) != (y != 0)),
        Op::LogicalNot => Some(x == 0),
        Op::Isnan | Op::Isinf => Some(false),
        Op::Isfinite => Some(true),
        _ if op.is_comparison() => Some(compare(op, x.cmp(&y))),
        _ => None,
    };
    if let Some(truth) = truth {
        return Number::Bool(truth);
    }
    let exact = match op {
        Op::Add => x + y,
        Op::Subtract => x - y,
        // Of integers of 64 bits the product may not fit; its lower bits do.
        Op::Multiply => x.wrapping_mul(y),
        Op::Square => x.wrapping_mul(x),
        Op::Axpby => x.wrapping_mul(y).wrapping_add(z.wrapping_mul(w)),
        Op::FloorDivide | Op::Remainder | Op::Fmod if y == 0 => 0,
        Op::FloorDivide => floor_divide(x, y),
        Op::Remainder => x - y * floor_divide(x, y),
        Op::Fmod => x % y,
        Op::Power => power(x, y),
        Op::BitAnd => x & y,
        Op::BitOr => x | y,
        Op::BitXor => x ^ y,
        Op::Invert => !x,
        Op::LeftShift => {
            if (0..bits).contains(&y) {
                x << y
            } else {
                0
            }
        }
        Op::RightShift => {
            if (0..bits).contains(&y) {
                x >> y
            } else {
                -i128::from(x < 0)
            }
        }
        Op::Maximum | Op::Fmax => x.max(y),
        Op::Minimum | Op::Fmin => x.min(y),
        Op::Clip => x.max(y).min(z),
        Op::Gcd => gcd(x.abs(), y.abs()),
        Op::Lcm => match gcd(x.abs(), y.abs()) {
            0 => 0,
            divisor => (x.abs() / divisor).wrapping_mul(y.abs()),
        },
        Op::Negative => -x,
        Op::Absolute => x.abs(),
        Op::Sign => x.signum(),
        // Of 0, what x86 converts the infinite quotient to.
        Op::Reciprocal if x == 0 && is_signed && bits >= 32 => 1 << (bits - 1),
        Op::Reciprocal => {
            if x.abs() == 1 {
                x
            } else {
                0
            }
        }
        Op::BitCount => return Number::Int(x.abs().count_ones().into()),
        Op::Imag => 0,
        // Positive, Floor, Ceil, Trunc, Conjugate, Real.
        _ => x,
    };
    Number::Int(wrap(exact, dtype))
}

fn floor_divide(x: i128, y: i128) -> i128 {
    x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)
}

/// Wraps to 64 bits; a negative exponent gives the integer part of the quotient.
fn power(x: i128, y: i128) -> i128 {
    match (x, y) {
        (1, ..0) => 1,
        (-1, ..0) => {
            if y % 2 == 0 {
                1
            } else {
                -1
            }
        }
        (_, ..0) => 0,
        _ => wrapping_power(x as u64, y as u64).into(),
    }
}

/// As `wrapping_pow`, for exponents of 64 bits.
fn wrapping_power(x: u64, exponent: u64) -> u64 {
    let bits = (0..64).rev().map(|bit| exponent >> bit & 1 == 1);
    bits.fold(1, |power: u64, bit| {
        let square = power.wrapping_mul(power);
        if bit { square.wrapping_mul(x) } else { square }
    })
}

fn gcd(x: i128, y: i128) -> i128 {
    if y == 0 { x } else { gcd(y, x % y) }
}
