//! Kernels that compute a whole expression: each step is the operation that a separate kernel would compute, with the
//! same intermediate types and rounding.
//!
//! The compiler must not contract a step with another, nor change it depending on its surroundings: what it may do
//! within one operation (contract a product and a sum to one rounding, share subexpressions) would, across two, give
//! results that differ from those of separate kernels. Products of real numbers are therefore written such that they
//! are never contracted, and the arguments and results of every operation with several roundings pass through an
//! exclusive-or with a zero that only the launch knows.
//!
//! Parameters: a pointer for each output and each array, the number of elements (`unsigned long long`), for strided
//! kernels the structure of `offsets` (outputs first), the zeros, then the values.

use super::c_types::{helper_preamble, storage_type};
use super::element_loops::{ElementLoops, LoopArray};
use super::op::Op;
use super::pointwise::{AccessPattern, OperandKind, PointwiseOperand, PointwiseSpec};
use rtcg_hal::{DType, DTypeKind, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Number of zeros in the arguments; adjacent uses take different ones.
pub const FUSED_ZERO_ARG_COUNT: usize = 8;

/// No input.
pub const NO_INPUT_STEP: u16 = u16::MAX;

/// One value of the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FusedStep {
    /// The element of an array; arrays are numbered in order of appearance.
    Array(PointwiseOperand),
    /// A number in the arguments; numbers are numbered in order of appearance.
    Value(DType),
    /// An operation on earlier steps.
    Op {
        /// What is computed.
        op: Op,
        /// What it is computed in.
        compute: DType,
        /// What the result is stored as.
        out: DType,
        /// The operands' steps, [`NO_INPUT_STEP`] after the last one.
        inputs: [u16; 4],
    },
}

impl FusedStep {
    /// The type of the value.
    pub fn dtype(&self) -> DType {
        match *self {
            FusedStep::Array(operand) => operand.dtype,
            FusedStep::Value(dtype) => dtype,
            FusedStep::Op { out, .. } => out,
        }
    }
}

/// An output for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FusedOutput {
    /// The step that computes the value.
    pub step: u16,
    /// Whether its addresses may be unaligned for its type.
    pub unaligned: bool,
}

/// The steps of an expression, each after those it depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FusedSteps(pub Vec<FusedStep>);

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FusedSpec {
    /// The steps.
    pub steps: FusedSteps,
    /// The values that are stored.
    pub outputs: Vec<FusedOutput>,
    /// How indices become addresses.
    pub pattern: AccessPattern,
}

/// Whether an operation may be part of an expression. Functions of complex numbers may not: they are sums of products,
/// which a compiler contracts depending on their surroundings.
pub fn is_fusable(op: Op, compute: DType) -> bool {
    match compute.kind() {
        DTypeKind::Record => false,
        DTypeKind::Complex => has_explicit_rounding(op, compute),
        _ => op != Op::Index,
    }
}

/// Whether each rounding of an operation is spelled out, so that its surroundings cannot change it.
fn has_explicit_rounding(op: Op, compute: DType) -> bool {
    match compute.kind() {
        DTypeKind::Float => {
            matches!(
                op,
                Op::Add
                    | Op::Subtract
                    | Op::Multiply
                    | Op::TrueDivide
                    | Op::Square
                    | Op::Reciprocal
                    | Op::Sqrt
                    | Op::Deg2rad
                    | Op::Rad2deg
                    | Op::Maximum
                    | Op::Minimum
                    | Op::Fmax
                    | Op::Fmin
                    | Op::Clip
                    | Op::Where
                    | Op::IfPositive
                    | Op::Copysign
                    | Op::Heaviside
                    | Op::Positive
                    | Op::Negative
                    | Op::Absolute
                    | Op::Fabs
                    | Op::Sign
                    | Op::Floor
                    | Op::Ceil
                    | Op::Trunc
                    | Op::Rint
                    | Op::Isnan
                    | Op::Isinf
                    | Op::Isfinite
                    | Op::Signbit
                    | Op::Conjugate
                    | Op::Angle
                    | Op::Real
                    | Op::Imag
                    | Op::Copy
                    | Op::LogicalAnd
                    | Op::LogicalOr
                    | Op::LogicalXor
                    | Op::LogicalNot
            ) || op.is_comparison()
        }
        DTypeKind::Complex => {
            matches!(
                op,
                Op::Add
                    | Op::Subtract
                    | Op::Multiply
                    | Op::Square
                    | Op::Positive
                    | Op::Negative
                    | Op::Conjugate
                    | Op::Real
                    | Op::Imag
                    | Op::Copy
                    | Op::Where
                    | Op::Isnan
                    | Op::Isinf
                    | Op::Isfinite
                    | Op::LogicalAnd
                    | Op::LogicalOr
                    | Op::LogicalXor
                    | Op::LogicalNot
                    | Op::Maximum
                    | Op::Minimum
                    | Op::Fmax
                    | Op::Fmin
                    | Op::Clip
                    | Op::IfPositive
            ) || op.is_comparison()
        }
        _ => true,
    }
}

/// The operation's expression with products that nothing contracts.
pub(super) fn contraction_free_expression(kernel: &PointwiseSpec) -> String {
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

impl FusedSteps {
    /// The operation of step `at` as a kernel of its own would have it.
    fn step_as_pointwise(&self, op: Op, compute: DType, out: DType, inputs: [u16; 4]) -> PointwiseSpec {
        let operands = inputs.map(|input| match self.0.get(usize::from(input)) {
            Some(step) => PointwiseOperand { dtype: step.dtype(), access: OperandKind::Element },
            None => PointwiseOperand::UNUSED_OPERAND,
        });
        PointwiseSpec { op, compute, out, is_out_unaligned: false, operands, pattern: AccessPattern::Flat(1) }
    }

    /// The arrays, in order.
    pub(super) fn array_operands(&self) -> impl Iterator<Item = PointwiseOperand> + Clone {
        self.0.iter().filter_map(|step| match step {
            FusedStep::Array(operand) => Some(*operand),
            _ => None,
        })
    }

    /// The types of the numbers in the arguments, in order.
    fn value_dtypes(&self) -> impl Iterator<Item = DType> + Clone {
        self.0.iter().filter_map(|step| match step {
            FusedStep::Value(dtype) => Some(*dtype),
            _ => None,
        })
    }

    /// The helpers and one device function for each operation.
    pub(super) fn step_functions(&self, further: &[DType]) -> String {
        let mut dtypes: Vec<DType> = further.to_vec();
        for step in &self.0 {
            dtypes.push(step.dtype());
            if let FusedStep::Op { compute, .. } = step {
                dtypes.push(*compute);
            }
        }
        let mut text = helper_preamble(dtypes.iter().copied(), true);
        text.push_str(&optimization_barrier_source(&dtypes));
        for (at, step) in self.0.iter().enumerate() {
            if let FusedStep::Op { op, compute, out, inputs } = *step {
                let kernel = self.step_as_pointwise(op, compute, out, inputs);
                text.push_str(
                    &kernel.device_function_source(&format!("step_{at}"), &contraction_free_expression(&kernel)),
                );
            }
        }
        text
    }

    /// Parameters for the zeros and the numbers, which come last.
    pub(super) fn value_parameters(&self) -> Vec<String> {
        let mut params = vec!["const rt_zeros zeros".to_owned()];
        params.extend(self.value_dtypes().enumerate().map(|(at, dtype)| format!("{} s{at}", storage_type(dtype))));
        params
    }

    /// Statements that declare `v0`, `v1`, ... from the elements that `element` writes, at index `index`.
    pub(super) fn step_statements(
        &self,
        index: &str,
        indent: &str,
        element: impl Fn(usize, &PointwiseOperand) -> String,
    ) -> String {
        let (mut text, mut arrays, mut values, mut zeros) = (String::new(), 0, 0, 0);
        for (at, step) in self.0.iter().enumerate() {
            let value = match *step {
                FusedStep::Array(operand) => {
                    arrays += 1;
                    element(arrays - 1, &operand)
                }
                FusedStep::Value(_) => {
                    values += 1;
                    format!("s{}", values - 1)
                }
                FusedStep::Op { op, compute, inputs, .. } => {
                    let exact = has_explicit_rounding(op, compute);
                    let mut hidden = |value: String| {
                        zeros += 1;
                        if exact {
                            value
                        } else {
                            format!("rt_opaque({value}, zeros.at[{}])", zeros % FUSED_ZERO_ARG_COUNT)
                        }
                    };
                    let mut call = format!("step_{at}({index}");
                    for input in inputs.iter().filter(|input| **input != NO_INPUT_STEP) {
                        let _ = write!(call, ", {}", hidden(format!("v{input}")));
                    }
                    hidden(call + ")")
                }
            };
            let _ = writeln!(text, "{indent}const {} v{at} = {value};", storage_type(step.dtype()));
        }
        text
    }
}

/// `rt_opaque`: the same bits, of which a compiler knows nothing.
fn optimization_barrier_source(dtypes: &[DType]) -> String {
    let mut text = format!(
        "struct rt_zeros {{ unsigned long long at[{FUSED_ZERO_ARG_COUNT}]; }};\n\
         template <class T> __device__ __forceinline__ T rt_opaque(T x, unsigned long long) {{ return x; }}\n\
         __device__ __forceinline__ float rt_opaque(float x, unsigned long long zero) {{\n\
         \x20 return __uint_as_float(__float_as_uint(x) ^ (unsigned int)zero);\n}}\n\
         __device__ __forceinline__ double rt_opaque(double x, unsigned long long zero) {{\n\
         \x20 return __longlong_as_double(__double_as_longlong(x) ^ (long long)zero);\n}}\n"
    );
    if dtypes.iter().any(|dtype| matches!(dtype, DType::F16 | DType::BF16)) {
        for ty in ["rt_half", "rt_bfloat"] {
            let _ = writeln!(
                text,
                "__device__ __forceinline__ {ty} rt_opaque({ty} x, unsigned long long zero) {{\n\
                 \x20 x.bits ^= (unsigned short)zero;\n  return x;\n}}"
            );
        }
    }
    if dtypes.iter().any(|dtype| dtype.is_complex()) {
        text.push_str(
            "template <class R> __device__ __forceinline__ pycuda::complex<R> rt_opaque(pycuda::complex<R> x, \
             unsigned long long zero) {\n\
             \x20 return pycuda::complex<R>(rt_opaque(x.real(), zero), rt_opaque(x.imag(), zero));\n}\n",
        );
    }
    text
}

impl FusedSpec {
    fn output_dtype(&self, at: usize) -> DType {
        self.steps.0.get(usize::from(self.outputs[at].step)).map_or(DType::Bool, FusedStep::dtype)
    }

    fn loops(&self) -> ElementLoops {
        let result = |(at, output): (usize, &FusedOutput)| {
            LoopArray::result(format!("out{at}"), self.output_dtype(at), output.unaligned)
        };
        let read = self.steps.array_operands().enumerate();
        let read = read.map(|(at, operand)| LoopArray::read(format!("x{at}"), operand.dtype, operand.access));
        ElementLoops::of_numbers(self.outputs.iter().enumerate().map(result).collect(), read)
    }
}

impl KernelSpec for FusedSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_fused".into()
    }

    fn source(&self) -> String {
        let mut text = self.steps.step_functions(&[]);
        let loops = self.loops();
        if let Some(space) = self.pattern.index_space() {
            text.push_str(&loops.dims_struct(space, "array_dims"));
        }
        let mut params = loops.parameters();
        params.push("unsigned long long n".into());
        if self.pattern.index_space().is_some() {
            params.push("const array_dims dims".into());
        }
        params.extend(self.steps.value_parameters());
        let _ = write!(text, "extern \"C\" __global__ void {}({})\n{{\n", self.kernel_name(), params.join(", "));
        let leaf = |index: &str, indent: &str, element: &dyn Fn(usize) -> String| {
            let statements = self.steps.step_statements(index, indent, |at, _| element(loops.n_results + at));
            (statements, self.outputs.iter().map(|output| format!("v{}", output.step)).collect())
        };
        text.push_str(&loops.body(self.pattern, &leaf));
        text.push_str("}\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_operation_spec(second: Op) -> FusedSpec {
        let x = FusedStep::Array(PointwiseOperand { dtype: DType::F32, access: OperandKind::Element });
        let op = |op, inputs| FusedStep::Op { op, compute: DType::F32, out: DType::F32, inputs };
        let steps = vec![
            x,
            FusedStep::Value(DType::F32),
            op(Op::Multiply, [0, 1, NO_INPUT_STEP, NO_INPUT_STEP]),
            op(second, [2, NO_INPUT_STEP, NO_INPUT_STEP, NO_INPUT_STEP]),
        ];
        let outputs = vec![FusedOutput { step: 3, unaligned: false }];
        FusedSpec { steps: FusedSteps(steps), outputs, pattern: AccessPattern::Flat(4) }
    }

    #[test]
    fn products_are_never_contracted() {
        let source = two_operation_spec(Op::Negative).source();
        assert!(source.contains("rt_product(x, y)"), "{source}");
        assert!(source.contains("const float v2 = step_2(i, v0, v1);"), "{source}");
        assert!(source.contains("out0p.at[k] = v3;"), "{source}");
    }

    #[test]
    fn operations_of_several_roundings_are_kept_apart() {
        let source = two_operation_spec(Op::Exp).source();
        assert!(source.contains("v3 = rt_opaque(step_3(i, rt_opaque(v2, zeros.at[4])), zeros.at[5]);"), "{source}");
    }
}
