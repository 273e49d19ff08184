//! Kernels that reduce some axes of an array, each output element from a run of input elements.
//!
//! Parameters: the output (or the partial results), `x`, `y` and the mask as far as they are used,
//! then `n_out`, `n_red` and `per_split` (`unsigned long long`), the structure of the kept axes, with
//! strides of output, `x`, `y`, mask, and the structure of the reduced ones, with strides of `x`, `y`,
//! mask. The second dimension of the grid splits the run; with more than one split each block writes a
//! partial result, which a kernel of the stage `Last` combines.

use super::fused::{Steps, element_at};
use super::offsets::Space;
use super::types::{computed, preamble, storage};
use crate::{DType, Kind};
use std::fmt::Write;

/// What a run of elements is reduced to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reduction {
    Sum,
    Product,
    Minimum,
    Maximum,
    Any,
    All,
    ArgMinimum,
    ArgMaximum,
    /// The number of elements that are not 0.
    CountNonzero,
    /// The sum of the products of `x` and `y`.
    Dot,
    /// The sum of the squared distances of `x` from `y`.
    Deviation,
}

impl Reduction {
    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "add",
            Reduction::Product => "multiply",
            Reduction::Minimum => "minimum",
            Reduction::Maximum => "maximum",
            Reduction::Any => "logical_or",
            Reduction::All => "logical_and",
            Reduction::ArgMinimum => "argmin",
            Reduction::ArgMaximum => "argmax",
            Reduction::CountNonzero => "count_nonzero",
            Reduction::Dot => "dot",
            Reduction::Deviation => "var",
        }
    }

    /// Whether the result is the place of an element.
    pub fn is_arg(self) -> bool {
        matches!(self, Reduction::ArgMinimum | Reduction::ArgMaximum)
    }

    /// Whether there is a result for no elements.
    pub fn has_identity(self) -> bool {
        !self.is_arg() && !matches!(self, Reduction::Minimum | Reduction::Maximum)
    }
}

/// Which part of the work a kernel does, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A block for each run, whose neighbours are read by neighbouring threads.
    Rows,
    /// A thread for each run; neighbouring threads read neighbouring runs.
    Columns,
    /// Combines the partial results of the splits.
    Last,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// What is computed.
    pub reduction: Reduction,
    /// The dtype of `x`.
    pub x: DType,
    /// The dtype of `y`, if there is one.
    pub y: Option<DType>,
    /// Whether a mask says which elements count.
    pub masked: bool,
    /// What is computed in.
    pub compute: DType,
    /// The output's dtype.
    pub out: DType,
    /// Which part of the work.
    pub stage: Stage,
    /// Whether partial results are written.
    pub split: bool,
    /// The kept axes.
    pub kept: Space,
    /// The reduced axes.
    pub reduced: Space,
}

/// What is computed where an element would be read.
struct Expression<'a> {
    steps: &'a Steps,
    step: u16,
}

impl Expression<'_> {
    fn step(&self, space: Space, indent: &str) -> String {
        let mut text = space.offsets("reduced", "j", self.steps.arrays().count(), "r", indent);
        text.push_str(
            &self
                .steps
                .statements("j", indent, |at, operand| element_at(operand, &format!("x{at}_row"), &format!("r{at}"))),
        );
        let _ = writeln!(text, "{indent}acc = combine(acc, map(j, rt_opaque(v{}, zeros.at[0])));", self.step);
        text
    }
}

/// Threads of a block, which combine their results in shared memory.
pub const REDUCE_THREADS: u32 = 256;

impl Reduce {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        match self.stage {
            Stage::Last => "array_reduce_last",
            _ => "array_reduce",
        }
    }

    /// Bytes of a partial result.
    pub fn partial_bytes(&self) -> usize {
        let value = match self.compute {
            DType::F16 | DType::BF16 => 4,
            other => other.itemsize(),
        };
        if self.reduction.is_arg() { value.next_multiple_of(8) + 8 } else { value }
    }

    fn names(&self) -> Vec<(&'static str, DType)> {
        let mut names = vec![("x", self.x)];
        names.extend(self.y.map(|y| ("y", y)));
        names.extend(self.masked.then_some(("mask", DType::Bool)));
        names
    }

    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        let dtypes = [self.x, self.compute, self.out].into_iter().chain(self.y);
        let mut text = preamble(dtypes, true);
        let _ = writeln!(text, "typedef {} T;", computed(self.compute));
        text.push_str(&self.accumulator());
        match self.stage {
            Stage::Last => self.last(&mut text),
            _ => self.run(&mut text, None),
        }
        text
    }

    /// The kernel with the value `step` of an expression for `x`, whose dtype it has. In place of `x`
    /// stand the arrays of the expression; its zeros and numbers end the parameters.
    ///
    /// The elements are combined in the order of the kernel that reads them from memory.
    pub fn source_of(&self, steps: &Steps, step: u16) -> String {
        let mut text = steps.functions(&[self.x, self.compute, self.out]);
        let _ = writeln!(text, "typedef {} T;", computed(self.compute));
        text.push_str(&self.accumulator());
        self.run(&mut text, Some(&Expression { steps, step }));
        text
    }

    /// The value that leaves every other one as it is.
    fn neutral(&self) -> String {
        let integer_limits = |lowest: bool| {
            let bits = 8 * self.compute.itemsize();
            match (self.compute.kind(), lowest) {
                (Kind::Bool, _) => (if lowest { "false" } else { "true" }).to_owned(),
                (Kind::Unsigned, true) => "T(0)".to_owned(),
                (Kind::Unsigned, false) => "T(~0ull)".to_owned(),
                (_, true) => format!("T(1ull << {})", bits - 1),
                (_, false) => format!("T((1ull << {}) - 1)", bits - 1),
            }
        };
        let limit = |lowest: bool| {
            let infinity = if lowest { "-__int_as_float(0x7f800000)" } else { "__int_as_float(0x7f800000)" };
            match self.compute.kind() {
                Kind::Float => format!("T({infinity})"),
                Kind::Complex => format!("T({infinity}, {infinity})"),
                _ => integer_limits(lowest),
            }
        };
        match self.reduction {
            Reduction::Product => "T(1)".into(),
            Reduction::All => "true".into(),
            Reduction::Minimum | Reduction::ArgMinimum => limit(false),
            Reduction::Maximum | Reduction::ArgMaximum => limit(true),
            _ => "T(0)".into(),
        }
    }

    /// What is accumulated, where it starts, how two are combined, and what is stored.
    fn accumulator(&self) -> String {
        let neutral = self.neutral();
        if self.reduction.is_arg() {
            return self.arg_accumulator(&neutral);
        }
        let combined = match self.reduction {
            Reduction::Product if self.compute == DType::Bool => "a && b",
            Reduction::Sum if self.compute == DType::Bool => "a || b",
            Reduction::Product => "a * b",
            Reduction::Minimum => "rt_min(a, b)",
            Reduction::Maximum => "rt_max(a, b)",
            Reduction::Any => "a || b",
            Reduction::All => "a && b",
            _ => "a + b",
        };
        let mapped = match self.reduction {
            Reduction::Any | Reduction::All | Reduction::CountNonzero => "T(rt_true(rt_load(x)))",
            Reduction::Dot if self.compute == DType::Bool => "rt_cast<T>(rt_load(x)) && rt_cast<T>(rt_load(y))",
            Reduction::Dot => "rt_cast<T>(rt_load(x)) * rt_cast<T>(rt_load(y))",
            Reduction::Deviation if self.x.is_complex() => "T(pycuda::norm(rt_load(x) - rt_load(y)))",
            Reduction::Deviation => {
                "(rt_cast<T>(rt_load(x)) - rt_cast<T>(rt_load(y))) * (rt_cast<T>(rt_load(x)) - rt_cast<T>(rt_load(y)))"
            }
            _ => "rt_cast<T>(rt_load(x))",
        };
        let y = self.y.map(|y| format!(", {} y", storage(y))).unwrap_or_default();
        format!(
            "typedef T A;\n\
             __device__ __forceinline__ A start() {{ return {neutral}; }}\n\
             __device__ __forceinline__ A combine(A a, A b) {{ return A({combined}); }}\n\
             __device__ __forceinline__ A map(unsigned long long, {x} x{y}) {{ return A({mapped}); }}\n\
             __device__ __forceinline__ {out} finish(A a) {{ return rt_cast<{out}>(a); }}\n",
            x = storage(self.x),
            out = storage(self.out)
        )
    }

    /// The first of the extreme elements; the first NaN before all others.
    fn arg_accumulator(&self, neutral: &str) -> String {
        let complex = self.compute.is_complex();
        let less = if complex { "rt_less(a, b)" } else { "a < b" };
        let is_nan = if complex { "rt_isnan(a)" } else { "a != a" };
        let better = match self.reduction {
            Reduction::ArgMinimum => "beats(a.value, b.value)",
            _ => "beats(b.value, a.value)",
        };
        let better_back = match self.reduction {
            Reduction::ArgMinimum => "beats(b.value, a.value)",
            _ => "beats(a.value, b.value)",
        };
        format!(
            "struct A {{ T value; long long at; }};\n\
             __device__ __forceinline__ bool is_nan(T a) {{ return {is_nan}; }}\n\
             __device__ __forceinline__ bool beats(T a, T b) {{ return {less}; }}\n\
             __device__ __forceinline__ A start() {{ return A{{{neutral}, -1}}; }}\n\
             __device__ __forceinline__ A combine(A a, A b) {{\n\
             \x20 if (a.at < 0) return b;\n  if (b.at < 0) return a;\n\
             \x20 const bool first = a.at < b.at;\n\
             \x20 if (is_nan(a.value) || is_nan(b.value)) return is_nan(a.value) && (!is_nan(b.value) || first) ? a : b;\n\
             \x20 return {better} ? a : {better_back} ? b : first ? a : b;\n}}\n\
             __device__ __forceinline__ A map(unsigned long long at, {x} x) {{ return A{{rt_cast<T>(rt_load(x)), (long long)at}}; }}\n\
             __device__ __forceinline__ {out} finish(A a) {{ return ({out})a.at; }}\n",
            x = storage(self.x),
            out = storage(self.out)
        )
    }

    /// `acc = combine(acc, element j)`
    fn step(&self, expression: Option<&Expression<'_>>, indent: &str) -> String {
        if let Some(expression) = expression {
            return expression.step(self.reduced, indent);
        }
        let names = self.names();
        let mut text = self.reduced.offsets("reduced", "j", names.len(), "r", indent);
        let mut arguments = String::new();
        for (k, (name, dtype)) in names.iter().enumerate() {
            if *name != "mask" {
                let _ = write!(arguments, ", *(const {} *)({name}_row + r{k})", storage(*dtype));
            }
        }
        let condition = if self.masked { format!("if (mask_row[r{}]) ", names.len() - 1) } else { String::new() };
        let _ = writeln!(text, "{indent}{condition}acc = combine(acc, map(j{arguments}));");
        text
    }

    fn run(&self, text: &mut String, expression: Option<&Expression<'_>>) {
        let names: Vec<String> = match expression {
            Some(expression) => (0..expression.steps.arrays().count()).map(|at| format!("x{at}")).collect(),
            None => self.names().iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        let values = expression
            .map_or(String::new(), |expression| format!(", {}", expression.steps.value_parameters().join(", ")));
        text.push_str(&self.kept.structure("kept_dims", 1 + names.len()));
        text.push_str(&self.reduced.structure("reduced_dims", names.len()));
        let target = if self.split { "A *out".to_owned() } else { format!("{} *out", storage(self.out)) };
        let inputs: Vec<_> = names.iter().map(|name| format!("const char *{name}, ")).collect();
        let rows = self.stage == Stage::Rows;
        let (first, stride, thread) = if rows {
            ("blockIdx.x", "gridDim.x", "threadIdx.x")
        } else {
            (
                "blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x",
                "gridDim.x * (unsigned long long)blockDim.x",
                "0",
            )
        };
        let _ = write!(
            text,
            "extern \"C\" __global__ void {name}({target}, {inputs}unsigned long long n_out, unsigned long long n_red, \
             unsigned long long per_split, const kept_dims kept, const reduced_dims reduced{values})\n{{\n\
             \x20 const unsigned long long begin = blockIdx.y * per_split;\n\
             \x20 const unsigned long long end = begin + per_split < n_red ? begin + per_split : n_red;\n\
             \x20 for (unsigned long long o = {first}; o < n_out; o += {stride}) {{\n",
            name = self.name(),
            inputs = inputs.concat(),
        );
        text.push_str(&self.kept.offsets("kept", "o", 1 + names.len(), "k", "    "));
        for (k, name) in names.iter().enumerate() {
            let _ = writeln!(text, "    const char *{name}_row = {name} + k{};", k + 1);
        }
        let step = if rows { "blockDim.x" } else { "1" };
        let _ = write!(
            text,
            "    A acc = start();\n    #pragma unroll 4\n\
             \x20   for (unsigned long long j = begin + {thread}; j < end; j += {step}) {{\n{}    }}\n",
            self.step(expression, "      ")
        );
        let store = if self.split {
            "out[blockIdx.y * n_out + o] = acc;".to_owned()
        } else {
            format!("*({} *)((char *)out + k0) = finish(acc);", storage(self.out))
        };
        if rows {
            let _ = write!(
                text,
                "    __shared__ alignas(16) unsigned char shared[{REDUCE_THREADS} * sizeof(A)];\n\
                 \x20   A *all = (A *)shared;\n    all[threadIdx.x] = acc;\n    __syncthreads();\n\
                 \x20   for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {{\n\
                 \x20     if (threadIdx.x < half) all[threadIdx.x] = acc = combine(acc, all[threadIdx.x + half]);\n\
                 \x20     __syncthreads();\n    }}\n\
                 \x20   if (threadIdx.x == 0) {{ {store} }}\n    __syncthreads();\n"
            );
        } else {
            let _ = writeln!(text, "    {store}");
        }
        text.push_str("  }\n}\n");
    }

    fn last(&self, text: &mut String) {
        text.push_str(&self.kept.structure("kept_dims", 1));
        let _ = write!(
            text,
            "extern \"C\" __global__ void {name}({out} *out, const A *partial, unsigned long long n_out, \
             unsigned long long n_splits, const kept_dims kept)\n{{\n\
             \x20 const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;\n\
             \x20 for (unsigned long long o = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; o < n_out; o += step) {{\n\
             \x20   A acc = start();\n\
             \x20   for (unsigned long long s = 0; s < n_splits; s++) acc = combine(acc, partial[s * n_out + o]);\n\
             {offsets}    *({out} *)((char *)out + k0) = finish(acc);\n  }}\n}}\n",
            name = self.name(),
            out = storage(self.out),
            offsets = self.kept.offsets("kept", "o", 1, "k", "    ")
        );
    }
}
