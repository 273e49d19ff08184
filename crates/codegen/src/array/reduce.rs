//! Kernels that reduce some axes of an array: each output element comes from a run of input elements.
//!
//! The arrays are `x`, `y` and the mask as far as they are used; see `reduce_loops.rs`.

mod accumulator;

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::element_loops::LoopArray;
use super::expression::{ExpressionSource, read_arrays};
use super::pointwise::{OperandKind, PointwiseOperand};
use super::reduce_loops::{ReduceLoops, ReduceShape};
use crate::block_reduce::{BLOCK_REDUCE_SOURCE, MAX_SERIAL_TERMS};
pub(super) use accumulator::{combining_expression, identity_value};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The operation that reduces a run of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReductionOp {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smallest element.
    Minimum,
    /// The largest element.
    Maximum,
    /// Whether any element is nonzero.
    Any,
    /// Whether all elements are nonzero.
    All,
    /// The index of the first smallest element.
    ArgMinimum,
    /// The index of the first largest element.
    ArgMaximum,
    /// The number of nonzero elements.
    CountNonzero,
    /// The sum of the products of `x` and `y`.
    Dot,
    /// The sum of squared deviations of `x` from its mean, given `y` close to the mean: the sum of the deviations
    /// compensates for the rounding of `y`.
    SumSquaredDeviations,
}

impl ReductionOp {
    /// NumPy's name.
    pub fn numpy_name(self) -> &'static str {
        match self {
            ReductionOp::Sum => "add",
            ReductionOp::Product => "multiply",
            ReductionOp::Minimum => "minimum",
            ReductionOp::Maximum => "maximum",
            ReductionOp::Any => "logical_or",
            ReductionOp::All => "logical_and",
            ReductionOp::ArgMinimum => "argmin",
            ReductionOp::ArgMaximum => "argmax",
            ReductionOp::CountNonzero => "count_nonzero",
            ReductionOp::Dot => "dot",
            ReductionOp::SumSquaredDeviations => "var",
        }
    }

    /// Whether the result is the index of an element.
    pub fn is_arg_reduction(self) -> bool {
        matches!(self, ReductionOp::ArgMinimum | ReductionOp::ArgMaximum)
    }

    /// Whether reducing no elements has a result.
    pub fn has_identity(self) -> bool {
        !self.is_arg_reduction() && !matches!(self, ReductionOp::Minimum | ReductionOp::Maximum)
    }
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReduceSpec {
    /// The operation.
    pub reduction: ReductionOp,
    /// The dtype of `x`.
    pub x: DType,
    /// The dtype of `y`, if there is one.
    pub y: Option<DType>,
    /// Whether a mask selects the elements that take part.
    pub masked: bool,
    /// The dtype of the computation.
    pub compute: DType,
    /// The output's dtype.
    pub out: DType,
    /// How threads share the work.
    pub shape: ReduceShape,
}

impl ReduceSpec {
    /// A plain single-precision sum without splits or packs, as a basis for other kernels.
    pub const PLAIN_SUM: ReduceSpec = ReduceSpec {
        reduction: ReductionOp::Sum,
        x: DType::F32,
        y: None,
        masked: false,
        compute: DType::F32,
        out: DType::F32,
        shape: ReduceShape::PLAIN,
    };

    fn input_arrays(&self) -> Vec<(&'static str, DType)> {
        let mut names = vec![("x", self.x)];
        names.extend(self.y.map(|y| ("y", y)));
        names.extend(self.masked.then_some(("mask", DType::Bool)));
        names
    }

    /// The kernel that reduces the value of an expression of `arrays` in place of `x`, whose dtype it has. The arrays
    /// take the place of `x` in the parameters, and those of the expression come last.
    ///
    /// Elements are combined in the same order as by the kernel that reads them from memory.
    pub fn expression_source(&self, arrays: &[PointwiseOperand], expression: &ExpressionSource) -> String {
        let mut text = self.functions(expression.preamble.clone());
        self.write_kernel(&mut text, Some((arrays, expression)));
        text
    }

    /// What stands before the kernel, after helpers.
    fn functions(&self, helpers: String) -> String {
        let mut text = helpers + BLOCK_REDUCE_SOURCE;
        let _ = writeln!(text, "typedef {} T;", compute_type(self.compute));
        text + &self.accumulator_source()
    }

    /// The kernel, of an expression or of the elements themselves.
    fn write_kernel(&self, text: &mut String, expression: Option<(&[PointwiseOperand], &ExpressionSource)>) {
        let arrays: Vec<_> = match expression {
            Some((arrays, _)) => read_arrays(arrays).collect(),
            None => {
                let inputs = self.input_arrays().into_iter();
                inputs.map(|(name, dtype)| LoopArray::read(name.into(), dtype, OperandKind::Element)).collect()
            }
        };
        let n_arrays = arrays.len();
        let loops = ReduceLoops {
            shape: &self.shape,
            arrays,
            has_index: false,
            out: &storage_type(self.out),
            combiner: "[](const A &a, const A &b) { return combine(a, b); }",
            prefix: "",
            pack: "rt_pack",
        };
        let leaf = |index: &str, indent: &str, element: &dyn Fn(usize) -> String| match expression {
            Some((_, expression)) => {
                let value = &expression.values[0];
                expression.element_statements(indent, &loops.arrays, element)
                    + &format!("{indent}acc = combine(acc, map({index}, {value}));\n")
            }
            None => {
                let n_values = n_arrays - usize::from(self.masked);
                let condition = if self.masked { format!("if ({}) ", element(n_values)) } else { String::new() };
                let values: Vec<_> = (0..n_values).map(element).collect();
                format!("{indent}{condition}acc = combine(acc, map({index}, {}));\n", values.join(", "))
            }
        };
        let inputs: String = loops.arrays.iter().map(|array| format!("const char *{}, ", array.name)).collect();
        let values: String =
            expression.iter().flat_map(|(_, text)| &text.parameters).map(|value| format!(", {value}")).collect();
        text.push_str(&loops.dims_structs());
        let _ = write!(
            text,
            "extern \"C\" __global__ void __launch_bounds__({threads}) {name}({parameters}{values})\n{{\n{body}",
            threads = self.shape.threads,
            name = self.kernel_name(),
            parameters = loops.parameters(&inputs),
            body = loops.body(&leaf),
        );
    }
}

impl KernelSpec for ReduceSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_reduce".into()
    }

    fn source(&self) -> String {
        let dtypes = [self.x, self.compute, self.out].into_iter().chain(self.y);
        let mut text = self.functions(helper_preamble(dtypes, true));
        match self.shape.outputs_per_thread {
            1 => self.write_kernel(&mut text, None),
            _ => self.write_multi_output_body(&mut text),
        }
        text
    }
}

/// Outputs side by side.
impl ReduceSpec {
    /// The kernel whose threads have several adjacent outputs each. Every output's elements are combined in the
    /// order of the kernel that has one output for a thread.
    fn write_multi_output_body(&self, text: &mut String) {
        let (x, out, outputs_per_thread) =
            (storage_type(self.x), storage_type(self.out), self.shape.outputs_per_thread);
        text.push_str(&self.shape.kept.dims_struct("kept_dims", 2));
        text.push_str(&self.shape.reduced.dims_struct("reduced_dims", 1));
        let _ = write!(
            text,
            "struct rt_row {{ A at[{outputs_per_thread}]; }};\n\
             __device__ __forceinline__ rt_row start_row() {{ rt_row a;\n  #pragma unroll\n\
             \x20 for (int e = 0; e < {outputs_per_thread}; e++) a.at[e] = start();\n  return a;\n}}\n\
             __device__ __forceinline__ rt_row combine_rows(rt_row a, const rt_row &b) {{\n  #pragma unroll\n\
             \x20 for (int e = 0; e < {outputs_per_thread}; e++) a.at[e] = combine(a.at[e], b.at[e]);\n  return a;\n}}\n"
        );
        let (open, stop, close) = match self.shape.cascaded {
            true => (
                format!(
                    "    rtcg::cascade<rt_row> sums(start_row());\n    while (i < n_red) {{\n    acc = start_row();\n\
                     \x20   const unsigned long long stop = n_red - i < {MAX_SERIAL_TERMS} ? n_red : i + {MAX_SERIAL_TERMS};\n"
                ),
                "stop",
                "    sums.push(acc, start_row(), combine_rows);\n    }\n    acc = sums.total(combine_rows);\n",
            ),
            false => (String::new(), "n_red", ""),
        };
        let _ = write!(
            text,
            "extern \"C\" __global__ void __launch_bounds__({threads}) {name}({out} *out, const char *x, unsigned long long n_out, \
             unsigned long long n_red, unsigned long long, A *, unsigned int *, const kept_dims kept, const reduced_dims reduced)\n{{\n\
             \x20 const unsigned long long groups = n_out / {outputs_per_thread}, threads = gridDim.x * {threads}ull;\n\
             \x20 for (unsigned long long group = blockIdx.x * {threads}ull + threadIdx.x; group < groups; group += threads) {{\n\
             \x20   const unsigned long long o = group * {outputs_per_thread};\n{kept}\
             \x20   rt_row acc = start_row();\n    unsigned long long i = 0;\n{open}\
             \x20   #pragma unroll 4\n    for (; i < {stop}; i++) {{\n{reduced}\
             \x20     rt_pack<{x}, {outputs_per_thread}> pack;\n\
             \x20     rtcg::load_no_allocate(pack, (const rt_pack<{x}, {outputs_per_thread}> *)(x + k1 + r0));\n\
             \x20     #pragma unroll\n\
             \x20     for (int e = 0; e < {outputs_per_thread}; e++) acc.at[e] = combine(acc.at[e], map(i, pack.at[e]));\n    }}\n{close}\
             \x20   rt_pack<{out}, {outputs_per_thread}> results;\n\
             \x20   #pragma unroll\n    for (int e = 0; e < {outputs_per_thread}; e++) results.at[e] = finish(acc.at[e], n_red);\n\
             \x20   *(rt_pack<{out}, {outputs_per_thread}> *)((char *)out + k0) = results;\n  }}\n}}\n",
            threads = self.shape.threads,
            name = self.kernel_name(),
            kept = self.shape.kept.offset_statements("kept", "o", 2, "k", "    "),
            reduced = self.shape.reduced.offset_statements("reduced", "i", 1, "r", "      "),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_sum_spec(pack: u8, packed: u32) -> ReduceSpec {
        ReduceSpec { shape: ReduceShape { split: true, pack, packed, ..ReduceShape::PLAIN }, ..ReduceSpec::PLAIN_SUM }
    }

    #[test]
    fn adjacent_elements_are_read_at_once_and_the_tail_one_by_one() {
        let source = split_sum_spec(4, 1).source();
        assert!(
            source.contains(
                "rtcg::load_no_allocate(p0[u], (const rt_pack<float, 4> *)row0 + (base / 4 + lane + u * 256));"
            ),
            "{source}"
        );
        assert!(source.contains("for (; base + 4096 <= end; base += gridDim.y * 4096ull)"), "{source}");
        assert!(source.contains("acc = combine(acc, map(i, *(const float *)((const char *)row0 + r0)));"), "{source}");
    }

    #[test]
    fn adjacent_outputs_are_read_and_written_at_once() {
        let shape = ReduceShape {
            outputs_per_thread: 4,
            reduce_contiguous: false,
            threads_per_output: 1,
            ..ReduceShape::PLAIN
        };
        let source = ReduceSpec { shape, out: DType::F64, ..ReduceSpec::PLAIN_SUM }.source();
        assert!(source.contains("rtcg::load_no_allocate(pack, (const rt_pack<float, 4> *)(x + k1 + r0));"), "{source}");
        assert!(source.contains("*(rt_pack<double, 4> *)((char *)out + k0) = results;"), "{source}");
    }

    #[test]
    fn arrays_that_are_not_aligned_keep_the_order_of_packs() {
        let source = split_sum_spec(4, 0).source();
        assert!(!source.contains("rt_pack<float, 4>"), "{source}");
        assert!(source.contains("for (; base + 4096 <= end; base += gridDim.y * 4096ull)"), "{source}");
    }
}
