//! Kernels that reduce some axes of an array: each output element comes from a run of input elements.
//!
//! Parameters: the output, `x`, `y` and the mask as far as they are used, then `n_out`, `n_red` and `per_split`
//! (`unsigned long long`), space for the partial results of split runs, their completion counters, the structure of the
//! kept axes, with strides of output, `x`, `y`, mask, and the structure of the reduced ones, with strides of `x`, `y`,
//! mask. The second dimension of the grid splits the runs (see `block_reduce.rs`).

mod accumulator;

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::element_loops::element_access_expression;
use super::element_offsets::IndexSpace;
use super::fused::FusedSteps;
use super::pointwise::{OperandKind, PointwiseOperand};
use crate::block_reduce::{BLOCK_REDUCE_SOURCE, MAX_SERIAL_TERMS, REDUCE_THREADS};
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
    /// Threads per block.
    pub threads: u16,
    /// Threads per output.
    pub threads_per_output: u16,
    /// Whether adjacent threads take adjacent elements of a run, rather than adjacent outputs.
    pub reduce_contiguous: bool,
    /// Whether runs are split over blocks.
    pub split: bool,
    /// [`WorkPartition::gather`](crate::block_reduce::WorkPartition::gather).
    pub gather: bool,
    /// Adjacent elements that a thread loads at once.
    pub pack: u8,
    /// Packs that a thread loads before it combines the first one.
    pub unroll: u8,
    /// Adjacent outputs per thread, whose elements are adjacent too and are loaded at once. More than one requires a
    /// single input `x`, one thread per output, and runs that are not split.
    pub outputs_per_thread: u8,
    /// One bit per array (`x`, `y`, mask; those of an expression), set if its runs have no gaps and begin at addresses
    /// aligned for packs.
    pub packed: u32,
    /// Whether a thread adds its partial sums by levels, so that rounding errors hardly grow with the length of a run.
    pub cascaded: bool,
    /// The kept axes.
    pub kept: IndexSpace,
    /// The reduced axes.
    pub reduced: IndexSpace,
}

/// What is computed where an element would be read.
struct ElementExpression<'a> {
    steps: &'a FusedSteps,
    step: u16,
}

/// How one element is named: its index in the run, and the pack it stands in if it was fetched before.
#[derive(Clone, Copy)]
struct ElementRef<'a> {
    index: &'a str,
    pack: Option<&'a str>,
    indent: &'a str,
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
        threads: REDUCE_THREADS as u16,
        threads_per_output: REDUCE_THREADS as u16,
        reduce_contiguous: true,
        split: false,
        gather: false,
        pack: 1,
        unroll: 4,
        outputs_per_thread: 1,
        packed: 0,
        cascaded: false,
        kept: IndexSpace { ndim: 1, wide: false },
        reduced: IndexSpace { ndim: 1, wide: false },
    };

    fn input_arrays(&self) -> Vec<(&'static str, DType)> {
        let mut names = vec![("x", self.x)];
        names.extend(self.y.map(|y| ("y", y)));
        names.extend(self.masked.then_some(("mask", DType::Bool)));
        names
    }

    /// The arrays that are read.
    fn array_operands(&self, expression: Option<&ElementExpression<'_>>) -> Vec<PointwiseOperand> {
        match expression {
            Some(expression) => expression.steps.array_operands().collect(),
            None => self
                .input_arrays()
                .iter()
                .map(|&(_, dtype)| PointwiseOperand { dtype, access: OperandKind::Element })
                .collect(),
        }
    }

    /// Whether array `at` is read in packs.
    fn is_packed(&self, at: usize) -> bool {
        at < 32 && self.packed >> at & 1 == 1
    }

    /// `acc = combine(acc, element)`
    fn accumulate_statement(&self, expression: Option<&ElementExpression<'_>>, place: ElementRef<'_>) -> String {
        let ElementRef { index, pack, indent } = place;
        let arrays = self.array_operands(expression);
        let in_pack = |at: usize| pack.filter(|_| self.is_packed(at));
        let mut text = match (0..arrays.len()).all(|at| in_pack(at).is_some()) {
            true => String::new(),
            false => self.reduced.offset_statements("reduced", index, arrays.len(), "r", indent),
        };
        let element = |at: usize, operand: &PointwiseOperand| match in_pack(at) {
            Some(pack) => format!("p{at}{pack}"),
            None => element_access_expression(operand.dtype, operand.access, &format!("row{at}"), &format!("r{at}")),
        };
        if let Some(ElementExpression { steps, step }) = expression {
            text.push_str(&steps.step_statements(index, indent, element));
            let _ = writeln!(text, "{indent}acc = combine(acc, map({index}, rt_opaque(v{step}, zeros.at[0])));");
            return text;
        }
        let values = arrays.iter().enumerate().map(|(at, operand)| element(at, operand));
        let (mask, values): (Vec<_>, Vec<_>) =
            values.enumerate().partition(|(at, _)| self.masked && at + 1 == arrays.len());
        let condition = mask.first().map(|(_, mask)| format!("if ({mask}) ")).unwrap_or_default();
        let values: Vec<_> = values.into_iter().map(|(_, value)| value).collect();
        let _ = writeln!(text, "{indent}{condition}acc = combine(acc, map({index}, {}));", values.join(", "));
        text
    }

    /// Elements that the threads of an output take at once.
    fn elements_per_chunk(&self) -> usize {
        usize::from(self.threads_per_output) * usize::from(self.pack) * usize::from(self.unroll)
    }

    /// The blocks of a split run take chunks in turn, so that all of them read near each other; else each has a part of
    /// its own.
    fn interleaves_chunks(&self) -> bool {
        self.split && self.pack > 1
    }

    /// The elements of a run that belong to one thread, in an order that depends on threads per output and pack size.
    /// Whether a whole step lies inside of the run is decided for all threads of an output at once.
    fn accumulation_loop(&self, expression: Option<&ElementExpression<'_>>) -> String {
        let (threads_per_output, pack, unroll) =
            (usize::from(self.threads_per_output), usize::from(self.pack), usize::from(self.unroll));
        let arrays = self.array_operands(expression);
        let packed: Vec<_> = arrays.iter().enumerate().filter(|(at, _)| self.is_packed(*at)).collect();
        let stride = threads_per_output * pack;
        let all = self.elements_per_chunk();
        let step = if self.interleaves_chunks() { format!("gridDim.y * {all}ull") } else { all.to_string() };
        let steps = (MAX_SERIAL_TERMS / (pack * unroll)).max(1);
        let mut text = String::from("    unsigned long long base = begin;\n");
        if self.cascaded {
            let _ = write!(
                text,
                "    rtcg::cascade<A> sums(start());\n    while (base + {all} <= end) {{\n\
                 \x20   unsigned long long stop = base + {before} * ({step}) + {all};\n    if (stop > end) stop = end;\n",
                before = steps - 1
            );
        }
        let stop = if self.cascaded { "stop" } else { "end" };
        let _ = writeln!(text, "    for (; base + {all} <= {stop}; base += {step}) {{");
        for (at, operand) in &packed {
            let _ = writeln!(text, "      rt_pack<{}, {pack}> p{at}[{unroll}];", storage_type(operand.dtype));
        }
        let _ = writeln!(text, "      #pragma unroll\n      for (int u = 0; u < {unroll}; u++) {{");
        for (at, operand) in &packed {
            let _ = writeln!(
                text,
                "        rtcg::load_no_allocate(p{at}[u], (const rt_pack<{}, {pack}> *)row{at} + (base / {pack} + lane + u * {threads_per_output}));",
                storage_type(operand.dtype)
            );
        }
        let _ = write!(
            text,
            "      }}\n      #pragma unroll\n      for (int u = 0; u < {unroll}; u++) {{\n        #pragma unroll\n\
             \x20       for (int e = 0; e < {pack}; e++) {{\n\
             \x20         const unsigned long long i = base + lane * {pack} + u * {stride} + e;\n{}        }}\n      }}\n    }}\n",
            self.accumulate_statement(
                expression,
                ElementRef { index: "i", pack: Some("[u].at[e]"), indent: "          " }
            )
        );
        if self.cascaded {
            text.push_str("    sums.push(acc, start(), combine);\n    acc = start();\n    }\n");
        }
        let tail = match pack {
            1 => {
                format!(
                    "    #pragma unroll 4\n    for (unsigned long long i = base + lane; i < end; i += {threads_per_output}) {{\n"
                )
            }
            _ => format!(
                "    for (unsigned long long j = base + lane * {pack}; j < end; j += {stride})\n\
                 \x20     for (unsigned long long i = j; i < j + {pack} && i < end; i++) {{\n"
            ),
        };
        text.push_str(&tail);
        text.push_str(
            &self.accumulate_statement(expression, ElementRef { index: "i", pack: None, indent: "        " }),
        );
        text.push_str("      }\n");
        if self.cascaded {
            text.push_str("    acc = combine(sums.total(combine), acc);\n");
        }
        text
    }

    fn kernel_body(&self, text: &mut String, expression: Option<&ElementExpression<'_>>) {
        let names: Vec<String> = match expression {
            Some(expression) => (0..expression.steps.array_operands().count()).map(|at| format!("x{at}")).collect(),
            None => self.input_arrays().iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        let values = expression
            .map_or(String::new(), |expression| format!(", {}", expression.steps.value_parameters().join(", ")));
        text.push_str(&self.kept.dims_struct("kept_dims", 1 + names.len()));
        text.push_str(&self.reduced.dims_struct("reduced_dims", names.len()));
        let inputs: Vec<_> = names.iter().map(|name| format!("const char *{name}, ")).collect();
        let out = storage_type(self.out);
        let (begin, end) = match self.interleaves_chunks() {
            true => (format!("blockIdx.y * {}ull", self.elements_per_chunk()), "n_red"),
            false => ("blockIdx.y * per_split".into(), "begin + per_split < n_red ? begin + per_split : n_red"),
        };
        let _ = write!(
            text,
            "extern \"C\" __global__ void __launch_bounds__({threads}) {name}({out} *out, {inputs}unsigned long long n_out, \
             unsigned long long n_red, unsigned long long per_split, A *partials, unsigned int *counters, const kept_dims kept, \
             const reduced_dims reduced{values})\n{{\n\
             \x20 const unsigned long long begin = {begin};\n\
             \x20 const unsigned long long end = {end};\n\
             \x20 auto fold = [&](unsigned long long o, unsigned int lane, A acc) -> A {{\n",
            threads = self.threads,
            name = self.kernel_name(),
            inputs = inputs.concat(),
        );
        text.push_str(&self.kept.offset_statements("kept", "o", 1 + names.len(), "k", "    "));
        for (k, name) in names.iter().enumerate() {
            let _ = writeln!(text, "    const char *const row{k} = {name} + k{};", k + 1);
        }
        let _ = write!(
            text,
            "{fold}    return acc;\n  }};\n  auto store = [&](unsigned long long o, const A &acc) {{\n\
             {offsets}    *({out} *)((char *)out + k0) = finish(acc, n_red);\n  }};\n\
             \x20 rtcg::reduce_outputs<{threads}, {threads_per_output}, {reduce_contiguous}, {split}, {gather}>(n_out, start(), partials, counters, fold, \
             [](const A &a, const A &b) {{ return combine(a, b); }}, store);\n}}\n",
            fold = self.accumulation_loop(expression),
            offsets = self.kept.offset_statements("kept", "o", 1, "k", "    "),
            threads = self.threads,
            threads_per_output = self.threads_per_output,
            reduce_contiguous = self.reduce_contiguous,
            split = self.split,
            gather = self.gather,
        );
    }
}

impl KernelSpec for ReduceSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_reduce".into()
    }

    fn source(&self) -> String {
        let dtypes = [self.x, self.compute, self.out].into_iter().chain(self.y);
        let mut text = helper_preamble(dtypes, true) + BLOCK_REDUCE_SOURCE;
        let _ = writeln!(text, "typedef {} T;", compute_type(self.compute));
        text.push_str(&self.accumulator_source());
        match self.outputs_per_thread {
            1 => self.kernel_body(&mut text, None),
            _ => self.write_multi_output_body(&mut text),
        }
        text
    }
}

/// A [`ReduceSpec`] that reduces the value of an expression in place of `x`, whose dtype it has. The arrays of the
/// expression take the place of `x` in the parameters; its zeros and numbers come last.
///
/// Elements are combined in the same order as by the kernel that reads them from memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FusedReduceSpec {
    /// The reduction.
    pub reduce: ReduceSpec,
    /// The expression.
    pub steps: FusedSteps,
    /// The step whose value is reduced.
    pub step: u16,
}

impl KernelSpec for FusedReduceSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.reduce.kernel_name()
    }

    fn source(&self) -> String {
        let Self { reduce, steps, step } = self;
        let mut text = steps.step_functions(&[reduce.x, reduce.compute, reduce.out]) + BLOCK_REDUCE_SOURCE;
        let _ = writeln!(text, "typedef {} T;", compute_type(reduce.compute));
        text.push_str(&reduce.accumulator_source());
        reduce.kernel_body(&mut text, Some(&ElementExpression { steps, step: *step }));
        text
    }
}

/// Outputs side by side.
impl ReduceSpec {
    /// The kernel whose threads have several adjacent outputs each. Every output's elements are combined in the
    /// order of the kernel that has one output for a thread.
    fn write_multi_output_body(&self, text: &mut String) {
        let (x, out, outputs_per_thread) = (storage_type(self.x), storage_type(self.out), self.outputs_per_thread);
        text.push_str(&self.kept.dims_struct("kept_dims", 2));
        text.push_str(&self.reduced.dims_struct("reduced_dims", 1));
        let _ = write!(
            text,
            "struct rt_row {{ A at[{outputs_per_thread}]; }};\n\
             __device__ __forceinline__ rt_row start_row() {{ rt_row a;\n  #pragma unroll\n\
             \x20 for (int e = 0; e < {outputs_per_thread}; e++) a.at[e] = start();\n  return a;\n}}\n\
             __device__ __forceinline__ rt_row combine_rows(rt_row a, const rt_row &b) {{\n  #pragma unroll\n\
             \x20 for (int e = 0; e < {outputs_per_thread}; e++) a.at[e] = combine(a.at[e], b.at[e]);\n  return a;\n}}\n"
        );
        let (open, stop, close) = match self.cascaded {
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
            threads = self.threads,
            name = self.kernel_name(),
            kept = self.kept.offset_statements("kept", "o", 2, "k", "    "),
            reduced = self.reduced.offset_statements("reduced", "i", 1, "r", "      "),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_sum_spec(pack: u8, packed: u32) -> ReduceSpec {
        ReduceSpec { split: true, pack, packed, ..ReduceSpec::PLAIN_SUM }
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
        let source = ReduceSpec {
            outputs_per_thread: 4,
            reduce_contiguous: false,
            threads_per_output: 1,
            out: DType::F64,
            ..ReduceSpec::PLAIN_SUM
        }
        .source();
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
