//! Kernels that compute each output element from the corresponding elements of the operands.
//!
//! Parameters: a pointer for the output and for each operand that is not a value, the number of
//! elements (`unsigned long long`), for strided kernels the structure of `offsets`, then the values.
//! Any one-dimensional grid covers all elements.

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::element_loops::{ElementLoops, LoopArray};
use super::element_offsets::IndexSpace;
use super::op::{Op, OperandRole};
use super::transpose_tile::TransposeTile;
use rtcg_hal::{DType, DTypeKind, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// How an operand is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// Not used.
    Unused,
    /// A separate element for every index.
    Element,
    /// Like `Element`, but at addresses that may be unaligned for its type; only for strided access patterns.
    Unaligned,
    /// One element for every index, in device memory.
    Broadcast,
    /// One value for every index, in the arguments.
    Value,
}

/// The dtype of an operand and how it is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointwiseOperand {
    /// Element type.
    pub dtype: DType,
    /// How it is passed.
    pub access: OperandKind,
}

impl PointwiseOperand {
    /// The placeholder for an unused operand.
    pub const UNUSED_OPERAND: PointwiseOperand = PointwiseOperand { dtype: DType::Bool, access: OperandKind::Unused };
}

/// How indices map to addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessPattern {
    /// All arrays are contiguous; each thread takes this many adjacent elements at once.
    Flat(u8),
    /// By strides.
    Strided(IndexSpace),
    /// By strides, with operands that are contiguous along another axis than the output.
    Tiled(IndexSpace, TransposeTile),
}

impl AccessPattern {
    /// The axes, unless all elements lie one after the other.
    pub(crate) fn index_space(self) -> Option<IndexSpace> {
        match self {
            AccessPattern::Flat(_) => None,
            AccessPattern::Strided(space) | AccessPattern::Tiled(space, _) => Some(space),
        }
    }
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointwiseSpec {
    /// The operation.
    pub op: Op,
    /// The dtype of the computation.
    pub compute: DType,
    /// The output's dtype.
    pub out: DType,
    /// Whether the output's addresses may be unaligned for its type.
    pub is_out_unaligned: bool,
    /// The operands.
    pub operands: [PointwiseOperand; 4],
    /// How indices map to addresses.
    pub pattern: AccessPattern,
}

const OPERAND_NAMES: [&str; 4] = ["x", "y", "z", "w"];

impl PointwiseSpec {
    fn used_operands(&self) -> impl Iterator<Item = (usize, &PointwiseOperand)> + Clone {
        self.operands.iter().enumerate().filter(|(_, operand)| operand.access != OperandKind::Unused)
    }

    /// Comparison of a signed integer with a 64-bit unsigned one, which have no common integer type.
    fn is_mixed_comparison(&self) -> bool {
        let [x, y, ..] = self.operands.map(|operand| operand.dtype);
        let mixed = |a: DType, b: DType| a.kind() == DTypeKind::Signed && b == DType::U64;
        self.op.is_comparison() && (mixed(x, y) || mixed(y, x))
    }

    pub(super) fn op_expression(&self) -> String {
        if !self.is_mixed_comparison() {
            return self.op.expression(self.compute).to_owned();
        }
        self.op.expression(DType::I64).replace("x ", "rt_order(x, y) ").replace(" y", " 0").replace("(x, 0)", "(x, y)")
    }

    /// The operation as a device function of stored operands, with an expression that may differ in form.
    pub(super) fn device_function_source(&self, function: &str, expression: &str) -> String {
        let mixed = self.is_mixed_comparison();
        let mut text = String::new();
        let params: Vec<_> = self
            .used_operands()
            .map(|(at, operand)| format!("{} {}_", storage_type(operand.dtype), OPERAND_NAMES[at]))
            .collect();
        let params = params.join(", ");
        let out = storage_type(self.out);
        let _ = write!(
            text,
            "__device__ __forceinline__ {out} {function}(unsigned long long i{}{params})\n{{\n\
             \x20 typedef {} T;\n  typedef {} R;\n",
            if params.is_empty() { "" } else { ", " },
            compute_type(self.compute),
            compute_type(self.compute.real_part())
        );
        for (at, operand) in self.used_operands() {
            let name = OPERAND_NAMES[at];
            let _ = match self.op.operand_role(at) {
                OperandRole::Truth => writeln!(text, "  const bool {name} = rt_true(rt_load({name}_));"),
                OperandRole::Compute if mixed => {
                    let wide = if operand.dtype == DType::U64 { "unsigned long long" } else { "long long" };
                    writeln!(text, "  const {wide} {name} = {name}_;")
                }
                OperandRole::Compute => writeln!(text, "  const T {name} = rt_cast<T>(rt_load({name}_));"),
                OperandRole::NoCast => writeln!(text, "  const auto {name} = rt_load({name}_);"),
            };
        }
        let result = compute_type(self.op.expression_dtype(self.compute));
        let _ = write!(text, "  return rt_cast<{out}>(({result})({expression}));\n}}\n");
        text
    }

    fn loops(&self) -> ElementLoops {
        let result = LoopArray::result("out".into(), self.out, self.is_out_unaligned);
        let read = self.used_operands().filter(|(_, operand)| operand.access != OperandKind::Value);
        let read = read.map(|(at, operand)| LoopArray::read(OPERAND_NAMES[at].into(), operand.dtype, operand.access));
        ElementLoops::of_numbers(vec![result], read)
    }

    /// The call of the operation, where `element` says how an element of an array is written.
    fn op_call(&self, index: &str, element: &dyn Fn(usize) -> String) -> String {
        let (mut text, mut arrays) = (format!("array_op({index}"), 1..);
        for (at, operand) in self.used_operands() {
            let argument = match operand.access {
                OperandKind::Value => OPERAND_NAMES[at].to_owned(),
                _ => arrays.next().map_or_else(String::new, element),
            };
            let _ = write!(text, ", {argument}");
        }
        text + ")"
    }
}

impl KernelSpec for PointwiseSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        format!("array_{}", self.op.name()).into()
    }

    fn source(&self) -> String {
        let dtypes = [self.compute, self.out].into_iter().chain(self.used_operands().map(|(_, operand)| operand.dtype));
        let mut text = helper_preamble(dtypes, self.op_expression().contains("rt_"));
        text.push_str(&self.device_function_source("array_op", &self.op_expression()));
        let values = self.used_operands().filter(|(_, operand)| operand.access == OperandKind::Value);
        let values: Vec<_> =
            values.map(|(at, operand)| format!("{} {}", storage_type(operand.dtype), OPERAND_NAMES[at])).collect();
        let leaf = |index: &str, _: &str, element: &dyn Fn(usize) -> String| {
            (String::new(), vec![self.op_call(index, element)])
        };
        text + &self.loops().kernel(&self.kernel_name(), self.pattern, &values, &leaf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element_operand(dtype: DType) -> PointwiseOperand {
        PointwiseOperand { dtype, access: OperandKind::Element }
    }

    fn binary_op_spec(op: Op, x: PointwiseOperand, y: PointwiseOperand, pattern: AccessPattern) -> PointwiseSpec {
        let types = op.resolve_types(x.dtype.promote(y.dtype)).unwrap();
        let operands = [x, y, PointwiseOperand::UNUSED_OPERAND, PointwiseOperand::UNUSED_OPERAND];
        PointwiseSpec { op, compute: types.compute, out: types.out, is_out_unaligned: false, operands, pattern }
    }

    #[test]
    fn operands_are_converted_before_the_operation_and_rounded_once_after_it() {
        let half = element_operand(DType::F16);
        let source = binary_op_spec(Op::Multiply, half, half, AccessPattern::Flat(1)).source();
        assert!(source.contains("typedef float T;"), "{source}");
        assert!(source.contains("return rt_cast<rt_half>((float)(x * y));"), "{source}");
        assert!(source.contains("out[i] = array_op(i, x[i], y[i]);"), "{source}");
    }

    #[test]
    fn values_come_last_and_are_not_indexed() {
        let value = PointwiseOperand { dtype: DType::F32, access: OperandKind::Value };
        let source = binary_op_spec(Op::Add, value, element_operand(DType::F32), AccessPattern::Flat(4)).source();
        assert!(source.contains("array_add(float *out, const float *y, unsigned long long n, float x)"), "{source}");
        assert!(source.contains("outp.at[k] = array_op(p * 4 + k, x, yp.at[k]);"), "{source}");
    }

    #[test]
    fn signed_and_unsigned_are_compared_exactly() {
        let source = binary_op_spec(
            Op::LessEqual,
            element_operand(DType::I8),
            element_operand(DType::U64),
            AccessPattern::Flat(1),
        )
        .source();
        assert!(source.contains("(rt_order(x, y) <= 0)"), "{source}");
        let space = IndexSpace { ndim: 2, wide: false };
        let source = binary_op_spec(
            Op::Equal,
            element_operand(DType::U64),
            element_operand(DType::I64),
            AccessPattern::Strided(space),
        )
        .source();
        assert!(source.contains("(rt_order(x, y) == 0)"), "{source}");
        assert!(source.contains("const array_dims dims"), "{source}");
    }
}
