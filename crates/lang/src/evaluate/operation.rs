//! Elementwise operations on numbers, with the results of the expressions of `rtcg_codegen::array::Op`.
//!
//! An operation converts its operands to the dtype that it is computed in (float16 and bfloat16 are computed in float32),
//! computes, and rounds its result once. Sums, products and the like have the bits that kernels give; functions such as
//! the sine are those of the host, which kernels match up to some units in the last place.

use super::cast::{cast, is_true};
use super::complex::complex_operation;
use super::integer::{bool_operation, integer_operation};
use super::real::{nextafter_16_bit, real_operation};
use crate::ir::Number;
use rtcg_codegen::array::{Op, OperandRole};
use rtcg_hal::{DType, DTypeKind};
use std::cmp::Ordering;

/// The result of an operation; its dtype is that of `op.resolve_types(compute)`.
///
/// Operands have their dtypes beside them. The operation must accept `compute`, and there must be as many operands as it
/// has.
pub fn operate(op: Op, compute: DType, args: &[(Number, DType)]) -> Number {
    if let Some(order) = order_of_mixed_integers(op, args) {
        return Number::Bool(compare(op, order));
    }
    let computed_in = if matches!(compute, DType::F16 | DType::BF16) { DType::F32 } else { compute };
    let operands: Vec<Number> = (args.iter().enumerate())
        .map(|(at, (number, dtype))| match op.operand_role(at) {
            OperandRole::Compute => cast(*number, *dtype, computed_in),
            OperandRole::Truth => Number::Bool(is_true(*number)),
            OperandRole::NoCast => *number,
        })
        .collect();
    let result = match op {
        Op::Where => {
            if is_true(operands[0]) {
                operands[1]
            } else {
                operands[2]
            }
        }
        Op::IfPositive => {
            if is_positive(operands[0]) {
                operands[1]
            } else {
                operands[2]
            }
        }
        Op::Copy => operands[0],
        Op::Nextafter if computed_in != compute => nextafter_16_bit(operands[0], operands[1], compute),
        _ => compute_in(op, computed_in, &operands),
    };
    match op.resolve_types(compute) {
        Ok(types) if types.out.kind() == DTypeKind::Float => cast(result, computed_in.real_part(), types.out),
        _ => result,
    }
}

fn compute_in(op: Op, dtype: DType, operands: &[Number]) -> Number {
    match dtype {
        DType::Bool => bool_operation(op, operands),
        DType::F32 => real_operation::<f32>(op, operands),
        DType::F64 => real_operation::<f64>(op, operands),
        DType::C64 => complex_operation::<f32>(op, operands),
        DType::C128 => complex_operation::<f64>(op, operands),
        integer => integer_operation(op, integer, operands),
    }
}

fn is_positive(number: Number) -> bool {
    match number {
        Number::Bool(value) => value,
        Number::Int(value) => value > 0,
        Number::Float(value) | Number::Complex(value, _) => value > 0.0,
    }
}

/// Signed integers and those of uint64 have no common integer dtype; they are compared exactly.
fn order_of_mixed_integers(op: Op, args: &[(Number, DType)]) -> Option<Ordering> {
    match *args {
        [(Number::Int(x), x_dtype), (Number::Int(y), y_dtype)] if op.is_comparison() => {
            let kinds = (x_dtype.kind(), y_dtype.kind());
            let is_mixed = (kinds.0 == DTypeKind::Signed && y_dtype == DType::U64)
                || (x_dtype == DType::U64 && kinds.1 == DTypeKind::Signed);
            is_mixed.then(|| x.cmp(&y))
        }
        _ => None,
    }
}

/// A comparison of two values with an order.
pub(super) fn compare(op: Op, order: Ordering) -> bool {
    match op {
        Op::Equal => order.is_eq(),
        Op::NotEqual => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}
