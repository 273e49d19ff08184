//! Operations of single numbers, for generators whose kernels compute more than one operation: the types, the helpers and
//! one device function for each operation, which computes what a kernel of its own would.

use super::c_types::{helper_preamble, storage_type};
use super::op::Op;
use super::pointwise::{AccessPattern, OperandKind, PointwiseOperand, PointwiseSpec};
use rtcg_hal::{DType, DTypeKind};
use std::borrow::Cow;

/// The C type of a number.
pub fn scalar_type(dtype: DType) -> Cow<'static, str> {
    storage_type(dtype)
}

/// What source that computes with numbers of these dtypes begins with.
pub fn scalar_helpers(dtypes: impl Iterator<Item = DType> + Clone) -> String {
    helper_preamble(dtypes, true)
}

/// A device function of an operation; its first parameter is an index that no operation here uses. Products are never
/// contracted with sums.
pub fn scalar_function(name: &str, op: Op, compute: DType, out: DType, operands: &[DType]) -> String {
    let mut all = [PointwiseOperand::UNUSED_OPERAND; 4];
    for (place, dtype) in all.iter_mut().zip(operands) {
        *place = PointwiseOperand { dtype: *dtype, access: OperandKind::Element };
    }
    let spec =
        PointwiseSpec { op, compute, out, is_out_unaligned: false, operands: all, pattern: AccessPattern::Flat(1) };
    spec.device_function_source(name, &contraction_free_expression(&spec))
}

/// The operation's expression with products that nothing contracts.
fn contraction_free_expression(kernel: &PointwiseSpec) -> String {
    let product = match kernel.op {
        _ if kernel.compute.kind() != DTypeKind::Float => None,
        Op::Multiply => Some("rt_product(x, y)"),
        Op::Square => Some("rt_product(x, x)"),
        Op::Deg2rad => Some("rt_product(x, R(0.0174532925199432957692))"),
        Op::Rad2deg => Some("rt_product(x, R(57.2957795130823208768))"),
        _ => None,
    };
    product.map_or_else(|| kernel.op_expression(), str::to_owned)
}
