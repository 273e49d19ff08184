//! Filter kernels. The sizes of filters, and everything else about a filter bank, are literals in the source. For
//! layers on small images they are arguments instead.

mod large_bank;
mod tiled_correlation;

use crate::Mode;
pub(crate) use large_bank::{BankShape, LargeBankSpec, LargeTile};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;
pub(crate) use tiled_correlation::TiledCorrelation;

/// Threads of a block of kernels without another number.
pub(crate) const THREADS: u32 = 256;

/// The dtype that sums are computed in: integers need float64, so that what is cut off is what NumPy cuts off.
pub(crate) fn arithmetic(input: DType, output: DType) -> DType {
    let is_single = |dtype| matches!(dtype, DType::F16 | DType::BF16 | DType::F32);
    if is_single(input) && is_single(output) { DType::F32 } else { DType::F64 }
}

fn stored_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "rt_half",
        DType::BF16 => "rt_bfloat",
        dtype => dtype.c_type(),
    }
}

/// Types and how elements are read and written.
fn preamble(input: DType, output: DType) -> String {
    let mut text = String::new();
    for (name, dtype) in [("I", input), ("O", output), ("A", arithmetic(input, output))] {
        if stored_type(dtype).starts_with("rt_") {
            let _ = writeln!(text, "struct {};", stored_type(dtype));
        }
        let _ = writeln!(text, "typedef {} {name};", stored_type(dtype));
    }
    text + include_str!("common.cuh")
}

/// A filter along one axis of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FilterAxis {
    pub(crate) taps: usize,
    /// The tap that lies on the pixel of the result.
    pub(crate) center: usize,
    pub(crate) mode: Mode,
}

/// Correlation with weights. Parameters: the result, the input, weights in the dtype of sums (or null: all are 1), the value
/// beyond borders, the divisor of sums, and the length of each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CorrelateSpec {
    pub(crate) input: DType,
    pub(crate) output: DType,
    pub(crate) axes: Vec<FilterAxis>,
    pub(crate) is_weighted: bool,
    /// Weights are in reverse order.
    pub(crate) is_reversed: bool,
    /// Flat indices fit in 32 bits.
    pub(crate) is_small: bool,
}

impl KernelSpec for CorrelateSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_correlate".into()
    }

    fn source(&self) -> String {
        let mut text = preamble(self.input, self.output);
        let index = if self.is_small { "unsigned int" } else { "unsigned long long" };
        let _ = writeln!(text, "typedef {index} rt_index;\nenum {{ THREADS = {THREADS} }};");
        text.push_str(include_str!("border.cuh"));
        let axes = 0..self.axes.len();
        let list =
            |item: &dyn Fn(usize) -> String, between: &str| axes.clone().map(item).collect::<Vec<_>>().join(between);
        let lengths = list(&|i| format!(", long long n{i}"), "");
        let _ = writeln!(
            text,
            "extern \"C\" __global__ void __launch_bounds__(THREADS) ndimage_correlate(O *out, const I *in, const A *weights, double beyond, double divisor{lengths})\n{{"
        );
        let _ = writeln!(text, "  const rt_index total = {};", list(&|i| format!("(rt_index)n{i}"), " * "));
        text.push_str("  for (rt_index flat = blockIdx.x * (rt_index)THREADS + threadIdx.x; flat < total; flat += gridDim.x * (rt_index)THREADS) {\n    rt_index rest = flat;\n");
        for (i, axis) in self.axes.iter().enumerate().rev() {
            let _ = writeln!(
                text,
                "    const long long p{i} = (long long)(rest % (rt_index)n{i}) - {};\n    rest /= (rt_index)n{i};",
                axis.center
            );
        }
        let inside = |(i, axis): (usize, &FilterAxis)| format!("p{i} >= 0 && p{i} + {} <= n{i}", axis.taps);
        let inside = self.axes.iter().enumerate().map(inside).collect::<Vec<_>>().join(" && ");
        let _ = writeln!(text, "    const bool is_inside = {inside};\n    A sum = 0;\n    int tap = 0;");
        for (is_inside, head) in [(true, "    if (is_inside) {\n"), (false, "    } else {\n")] {
            text.push_str(head);
            self.write_loops(&mut text, is_inside);
        }
        text.push_str("    }\n    out[flat] = rt_stored<O>::from(sum / (A)divisor);\n  }\n}\n");
        text
    }
}

impl CorrelateSpec {
    /// The loops over taps: of pixels inside, or of those whose taps may lie beyond a border.
    fn write_loops(&self, text: &mut String, is_inside: bool) {
        for (i, axis) in self.axes.iter().enumerate() {
            let before = if i == 0 { "0".to_owned() } else { format!("o{}", i - 1) };
            let mode = axis.mode.name();
            let at = if is_inside { format!("p{i} + i{i}") } else { format!("rt_{mode}(p{i} + i{i}, n{i})") };
            let _ = writeln!(
                text,
                "      for (int i{i} = 0; i{i} < {}; i{i}++) {{ const long long q{i} = {at}, o{i} = {before} * n{i} + q{i};",
                axis.taps
            );
        }
        let last = self.axes.len() - 1;
        let outside = |(i, axis): (usize, &FilterAxis)| (axis.mode == Mode::Constant).then(|| format!("q{i} < 0"));
        let outside: Vec<String> = self.axes.iter().enumerate().filter_map(outside).collect();
        let load = format!("rt_load(in + o{last})");
        let value = match is_inside || outside.is_empty() {
            true => load,
            false => format!("{} ? (A)beyond : {load}", outside.join(" || ")),
        };
        let taps: usize = self.axes.iter().map(|axis| axis.taps).product();
        let weighted = match (self.is_weighted, self.is_reversed) {
            (true, true) => format!("weights[{} - tap++] * value", taps - 1),
            (true, false) => "weights[tap++] * value".to_owned(),
            (false, _) => "value".to_owned(),
        };
        let _ = writeln!(
            text,
            "        const A value = {value};\n        sum += {weighted};\n      {}",
            "}".repeat(last + 1)
        );
    }
}

/// What threads of the kernel of filter banks compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BankTile {
    /// Threads along columns and rows.
    pub(crate) block: [u32; 2],
    /// Columns and rows of the result that a thread has.
    pub(crate) pixels: [u32; 2],
    /// Filters that it has.
    pub(crate) filters: u32,
    /// Channels in shared memory.
    pub(crate) channels: u32,
    /// Taps in shared memory, rows and columns.
    pub(crate) piece: [u32; 2],
}

/// A filter bank: correlation of images (rows, columns, channels) with filters where they fit. Parameters: the result, the
/// input, filters in its dtype, the number of images, rows, columns, channels, rows of filters, filters. Sizes that are 0 in
/// the specification are those of the parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FilterBankSpec {
    /// Of images, filters and result.
    pub(crate) dtype: DType,
    /// Rows, columns, channels.
    pub(crate) image: [usize; 3],
    /// Rows, columns.
    pub(crate) taps: [usize; 2],
    pub(crate) filters: usize,
    /// A C expression of `acc` and `f`.
    pub(crate) activation: Arc<str>,
    pub(crate) tile: BankTile,
}

/// Functions that an activation may use.
const ACTIVATIONS: &str = "\
__device__ __forceinline__ A clip(A x, A low, A high) { return x < low ? low : x > high ? high : x; }
__device__ __forceinline__ A relu(A x) { return x < A(0) ? A(0) : x; }
";

/// The preamble of a filter bank, and its activation as a function.
fn activation_text(dtype: DType, activation: &str) -> String {
    let function = format!(
        "__device__ __forceinline__ A rt_activation(A acc, int f)\n{{\n  return (A)(\n#line 1 \"activation\"\n{activation}\n);\n}}\n"
    );
    preamble(dtype, dtype) + ACTIVATIONS + &function
}

impl KernelSpec for FilterBankSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_filter_bank".into()
    }

    fn source(&self) -> String {
        let mut text = activation_text(self.dtype, &self.activation);
        let BankTile { block, pixels, filters, channels, piece } = self.tile;
        let sizes = [("ROWS", self.image[0]), ("COLUMNS", self.image[1]), ("DEPTH", self.image[2])];
        let sizes = sizes.into_iter().chain([("HEIGHT", self.taps[0]), ("FW", self.taps[1]), ("BANK", self.filters)]);
        let tile = [
            ("BX", block[0]),
            ("BY", block[1]),
            ("PX", pixels[0]),
            ("PY", pixels[1]),
            ("FILTERS", filters),
            ("CHANNELS", channels),
            ("PIECE_H", piece[0]),
            ("PIECE_W", piece[1]),
            ("STEP", 8),
        ];
        for (name, number) in sizes.chain(tile.into_iter().map(|(name, number)| (name, number as usize))) {
            let _ = writeln!(text, "enum {{ {name} = {number} }};");
        }
        text + include_str!("taps.cuh") + include_str!("filter_bank.cuh")
    }
}

/// What a pool takes of each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PoolKind {
    /// The largest element.
    Max,
    /// The largest absolute value.
    LargestMagnitude,
    /// The root of the sum of powers of absolute values; the bits of the exponent.
    Norm(u64),
}

/// Norms of windows of images. Parameters: the result, the input, rows and columns of windows and of strides, numbers of
/// images, rows, columns, channels. Sizes and strides that are 0 in the specification are those of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PoolSpec {
    pub(crate) dtype: DType,
    pub(crate) size: [usize; 2],
    pub(crate) strides: [usize; 2],
    pub(crate) kind: PoolKind,
}

impl KernelSpec for PoolSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_pool".into()
    }

    fn source(&self) -> String {
        let exponent = if let PoolKind::Norm(bits) = self.kind { f64::from_bits(bits) } else { 1.0 };
        let mut text = preamble(self.dtype, self.dtype);
        let _ = writeln!(
            text,
            "enum {{ THREADS = {THREADS}, SIZE_H = {}, SIZE_W = {}, STRIDE_H = {}, STRIDE_W = {}, IS_MAX = {}, IS_LARGEST = {}, IS_SUM = {} }};\n\
             #define INFINITY __int_as_float(0x7f800000)\n#define EXPONENT {exponent:e}",
            self.size[0],
            self.size[1],
            self.strides[0],
            self.strides[1],
            i32::from(self.kind == PoolKind::Max),
            i32::from(self.kind == PoolKind::LargestMagnitude),
            i32::from(matches!(self.kind, PoolKind::Norm(_)) && exponent == 1.0),
        );
        text + include_str!("pool.cuh")
    }
}

/// Local contrast normalisation. Parameters: the result, the input, stretch, threshold, rows and columns of the window,
/// numbers of images, rows, columns, channels. A size of 0 in the specification is that of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LocalNormSpec {
    pub(crate) dtype: DType,
    pub(crate) size: [usize; 2],
    pub(crate) is_centered: bool,
}

impl KernelSpec for LocalNormSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "ndimage_local_norm".into()
    }

    fn source(&self) -> String {
        let mut text = preamble(self.dtype, self.dtype);
        let [height, width] = self.size;
        let _ = writeln!(
            text,
            "enum {{ THREADS = {THREADS}, SIZE_H = {height}, SIZE_W = {width}, IS_CENTERED = {} }};",
            i32::from(self.is_centered)
        );
        text + include_str!("local_norm.cuh")
    }
}
