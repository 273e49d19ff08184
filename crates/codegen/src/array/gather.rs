//! Kernels that read or write elements selected by index arrays.
//!
//! Element `i` of the index space is copied between `dense`, which has the shape of that space, and `source` at the
//! positions given by the index arrays. Parameters: `dense`, `source`, the index arrays, `n`, the structure of
//! `offsets` with strides of `dense`, `source` and each index array, then for each index array the length and the
//! stride in bytes of the axis that it indexes, and the address of the word that is set when an index is out of bounds.

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::element_offsets::IndexSpace;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// The direction of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatherDirection {
    /// From `source` to `dense`.
    Get,
    /// From `dense` to `source`, which is then the target.
    Set,
}

/// How indices out of bounds are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundsMode {
    /// Negative ones count from the end; others are clamped, and reported as an error.
    Raise,
    /// Wrapped, modulo the length.
    Wrap,
    /// Clamped to the nearest valid index.
    Clip,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatherSpec {
    /// The direction of the copy.
    pub direction: GatherDirection,
    /// The dtype of `dense`.
    pub dense: DType,
    /// The dtype of `source`.
    pub source: DType,
    /// The dtypes of the index arrays, the first `n_indices` of which are used.
    pub indices: [DType; 8],
    /// The number of index arrays.
    pub n_indices: u8,
    /// How indices out of bounds are treated.
    pub bounds: BoundsMode,
    /// Axes of the index space.
    pub space: IndexSpace,
}

impl GatherSpec {
    fn bounds_checked_index(&self, k: usize) -> String {
        match self.bounds {
            BoundsMode::Raise => format!(
                "      if (j < 0) j += length{k};\n\
                 \x20     if (j < 0 || j >= length{k}) {{ *outside = 1; j = j < 0 ? 0 : length{k} - 1; }}\n"
            ),
            BoundsMode::Wrap => format!("      j %= length{k}; if (j < 0) j += length{k};\n"),
            BoundsMode::Clip => format!("      j = j < 0 ? 0 : j >= length{k} ? length{k} - 1 : j;\n"),
        }
    }
}

impl KernelSpec for GatherSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.direction {
            GatherDirection::Get => "array_take",
            GatherDirection::Set => "array_put",
        }
        .into()
    }

    fn source(&self) -> String {
        let n = usize::from(self.n_indices);
        let mut text = helper_preamble([self.dense, self.source].into_iter(), false);
        text.push_str(&self.space.dims_struct("array_dims", 2 + n));
        let (dense, source) = (storage_type(self.dense), storage_type(self.source));
        let mut params = vec!["char *dense".to_owned(), "char *source".to_owned()];
        params.extend((0..n).map(|k| format!("const char *index{k}")));
        params.extend(["unsigned long long n".to_owned(), "const array_dims dims".to_owned()]);
        params.extend((0..n).map(|k| format!("long long length{k}, long long stride{k}")));
        params.push("int *outside".to_owned());
        let index = self.space.index_type();
        let _ = write!(
            text,
            "extern \"C\" __global__ void {name}({params})\n{{\n\
             \x20 const {index} step = gridDim.x * ({index})blockDim.x;\n\
             \x20 for ({index} i = blockIdx.x * ({index})blockDim.x + threadIdx.x; i < ({index})n; i += step) {{\n",
            name = self.kernel_name(),
            params = params.join(", "),
        );
        text.push_str(&self.space.offset_statements("dims", "i", 2 + n, "at", "    "));
        text.push_str("    char *place = source + at1;\n");
        for k in 0..n {
            let ty = storage_type(self.indices[k]);
            let _ = writeln!(text, "    {{ long long j = (long long)*(const {ty} *)(index{k} + at{});", k + 2);
            text.push_str(&self.bounds_checked_index(k));
            let _ = writeln!(text, "      place += j * stride{k}; }}");
        }
        let through = compute_type(self.dense);
        let _ = match self.direction {
            GatherDirection::Get => {
                writeln!(text, "    *({dense} *)(dense + at0) = rt_cast<{dense}>(rt_load(*(const {source} *)place));")
            }
            GatherDirection::Set => writeln!(
                text,
                "    *({source} *)place = rt_cast<{source}>(({through})rt_load(*(const {dense} *)(dense + at0)));"
            ),
        };
        text.push_str("  }\n}\n");
        text
    }
}
