//! Einsums whose results are each computed by one thread that reads the operands in place. Any number of operands and
//! axes.
//!
//! Parameters: the result, the operands, the number `n` of work items, and the structure of lengths and strides, first
//! of the kept axes, the fastest last, then of the summed ones.

use super::{AxisNames, EinsumAxis, EinsumStride, EinsumTypes};
use rtcg_hal::KernelSpec;
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DirectEinsum {
    /// The dtypes.
    pub types: EinsumTypes,
    /// Axes of the result.
    pub kept: Vec<EinsumAxis>,
    /// Axes that are summed over.
    pub reduced: Vec<EinsumAxis>,
    /// The axis of the result along which a thread computes several elements.
    pub row_axis: Option<u8>,
    /// The number of these elements.
    pub rows: u8,
    /// Unroll factor of the sum.
    pub unroll: u8,
    /// 64-bit indices and offsets.
    pub wide: bool,
}

impl DirectEinsum {
    /// Elements of the row axis that a thread has.
    fn rows(&self) -> u8 {
        if self.row_axis.is_some() { self.rows } else { 1 }
    }

    fn is_row(&self, axis: usize) -> bool {
        self.row_axis.map(usize::from) == Some(axis)
    }

    /// Whether an operand is another for each element of a thread.
    fn has_rows(&self, operand: usize) -> bool {
        self.row_axis.is_some_and(|axis| self.kept[usize::from(axis)].strides[operand] != EinsumStride::Zero)
    }

    /// Declares the offsets `at0`, `at1`, .. of a thread's first element, and `row`, its index along the row axis.
    fn thread_offsets(&self, names: &AxisNames<'_>) -> String {
        let ([index, offset], n) = (names.types(), self.types.operands.len());
        let mut text = format!("    {offset} at0 = 0");
        text.extend((1..=n).map(|k| format!(", at{k} = 0")));
        let _ = writeln!(text, ";\n    {index} rest = i, row = 0; (void)row;");
        for axis in (0..self.kept.len()).rev() {
            let length = match self.is_row(axis) {
                true => format!("(({} + {}u) / {}u)", names.length(axis), self.rows() - 1, self.rows()),
                false => names.length(axis),
            };
            let at = if axis == 0 { "rest".into() } else { format!("rest - rest / {length} * {length}") };
            let _ = write!(text, "    {{ {index} at = {at};");
            if axis > 0 {
                let _ = write!(text, " rest /= {length};");
            }
            if self.is_row(axis) {
                let _ = write!(text, " row = at = at * {}u;", self.rows());
            }
            let steps = (0..=n).filter_map(|k| Some(format!(" at{k} += {};", names.offset("at", axis, k)?)));
            text.extend(steps);
            text.push_str(" }\n");
        }
        text
    }

    /// The loops over terms, around the sums of products.
    fn reduction(&self, names: &AxisNames<'_>) -> String {
        let ([index, offset], n, first) = (names.types(), self.types.operands.len(), self.kept.len());
        let mut text = String::new();
        for (depth, _) in self.reduced.iter().enumerate() {
            let axis = first + depth;
            let unroll = if depth + 1 == self.reduced.len() { self.unroll } else { 1 };
            let length = names.length(axis);
            let _ = writeln!(
                text,
                "    #pragma unroll {unroll}\n    for ({index} r{axis} = 0; r{axis} < {length}; r{axis}++) {{"
            );
            let outer = |k: usize| if depth == 0 { format!("at{k}") } else { format!("b{}_{k}", axis - 1) };
            for k in 1..=n {
                let step =
                    names.offset(&format!("r{axis}"), axis, k).map_or(String::new(), |step| format!(" + {step}"));
                let _ = writeln!(text, "    const {offset} b{axis}_{k} = {}{step};", outer(k));
            }
        }
        let last = |k: usize| match self.reduced.len() {
            0 => format!("at{k}"),
            count => format!("b{}_{k}", first + count - 1),
        };
        for k in (1..=n).filter(|k| !self.has_rows(*k)) {
            let _ = writeln!(text, "    const T x{k} = load{}(x_{k} + {});", k - 1, last(k));
        }
        text.push_str("    #pragma unroll\n    for (int t = 0; t < ROWS; t++) {\n");
        let factors: Vec<String> = (1..=n)
            .map(|k| match self.has_rows(k) {
                true => format!("load{}(x_{k} + {} + row_at{k}[t])", k - 1, last(k)),
                false => format!("x{k}"),
            })
            .collect();
        let _ = writeln!(text, "      {}\n    }}", self.types.accumulate("sum[t]", &factors));
        self.reduced.iter().for_each(|_| text.push_str("    }\n"));
        text
    }

    /// Declares the offsets of a thread's elements along the row axis. Those past the end are the last one again.
    fn row_offsets(&self, names: &AxisNames<'_>) -> String {
        let [index, offset] = names.types();
        let Some(axis) = self.row_axis.map(usize::from) else { return String::new() };
        let length = names.length(axis);
        let operands: Vec<usize> = (1..=self.types.operands.len()).filter(|k| self.has_rows(*k)).collect();
        let mut text = String::new();
        text.extend(operands.iter().map(|k| format!("    {offset} row_at{k}[ROWS];\n")));
        let _ = write!(
            text,
            "    #pragma unroll\n    for (int t = 0; t < ROWS; t++) {{ const {index} last = {length} - 1u - row, at = t < last ? t : last;"
        );
        for k in operands {
            let step = names.offset("at", axis, k).unwrap_or_default();
            let _ = write!(text, " row_at{k}[t] = {step};");
        }
        text.push_str(" }\n");
        text
    }
}

impl KernelSpec for DirectEinsum {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_einsum".into()
    }

    fn source(&self) -> String {
        let n = self.types.operands.len();
        let names = AxisNames::new(self.kept.iter().chain(&self.reduced).collect(), n, self.wide);
        let [index, _] = names.types();
        let mut text = self.types.preamble();
        text.push_str(&names.dims_struct());
        let _ = writeln!(text, "enum {{ ROWS = {} }};", self.rows());
        let operands: String = (1..=n).map(|k| format!("const char *x_{k}, ")).collect();
        let _ = write!(
            text,
            "extern \"C\" __global__ void array_einsum(char *out, {operands}unsigned long long n, const einsum_dims dims)\n{{\n\
             \x20 const {index} step = gridDim.x * ({index})blockDim.x;\n\
             \x20 for ({index} i = blockIdx.x * ({index})blockDim.x + threadIdx.x; i < ({index})n; i += step) {{\n"
        );
        text.push_str(&self.thread_offsets(&names));
        text.push_str(&self.row_offsets(&names));
        text.push_str("    T sum[ROWS];\n    #pragma unroll\n    for (int t = 0; t < ROWS; t++) sum[t] = T(0);\n");
        text.push_str(&self.reduction(&names));
        let (guard, step) = match self.row_axis.map(usize::from) {
            Some(axis) => {
                let step = names.offset("t", axis, 0).map_or(String::new(), |step| format!(" + {step}"));
                (format!("if (row + t < {}) ", names.length(axis)), step)
            }
            None => (String::new(), String::new()),
        };
        let _ = write!(
            text,
            "    #pragma unroll\n    for (int t = 0; t < ROWS; t++) {guard}store(out + at0{step}, sum[t]);\n  }}\n}}\n"
        );

        text
    }
}
