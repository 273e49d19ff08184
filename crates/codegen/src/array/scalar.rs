//! Operations of single numbers, for generators whose kernels compute more than one operation: the types, the helpers and
//! one device function for each operation, which computes what a kernel of its own would.

use super::c_types::{helper_preamble, storage_type};
use super::fused::contraction_free_expression;
use super::op::Op;
use super::pointwise::{AccessPattern, OperandKind, PointwiseOperand, PointwiseSpec};
use rtcg_hal::DType;
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
