//! Transforms with expressions of CUDA C that are applied to elements as they are read and written.

use super::FftKind;
use crate::array::{GpuArray, push_arrays};
use crate::matmul::bind_operands;
use rtcg_codegen::array::{FFT_EXPRESSION_NAMES, FftExpressions};
use rtcg_hal::{ArrayError, LaunchArgs, Result};
use std::sync::Arc;

/// Expressions of [`GpuArray::fft_with`], of CUDA C.
///
/// They may use the element `x`, its index `i` along the axis, the number `row` of its transform (transforms are numbered
/// in C order of the other axes), and operands by name.
#[derive(Debug, Clone, Copy, Default)]
pub struct FftFusion<'a> {
    load: Option<&'a str>,
    store: Option<&'a str>,
    operands: &'a [(&'a str, &'a GpuArray)],
}

impl<'a> FftFusion<'a> {
    /// No expressions.
    pub fn new() -> Self {
        Self::default()
    }

    /// What takes the place of an element `x` that is read, after conversion to the precision of the transform. It may
    /// be complex, for real input too. Zeros that pad a short axis are not read.
    #[must_use]
    pub fn load(mut self, expression: &'a str) -> Self {
        self.load = Some(expression);
        self
    }

    /// What takes the place of an element `x` that is written, after the scale; the dtype of the result stays.
    #[must_use]
    pub fn store(mut self, expression: &'a str) -> Self {
        self.store = Some(expression);
        self
    }

    /// Arrays by name. Expressions index them flat in C order (`window[i]`); those without axes are values.
    #[must_use]
    pub fn operands(mut self, operands: &'a [(&'a str, &'a GpuArray)]) -> Self {
        self.operands = operands;
        self
    }

    fn is_empty(&self) -> bool {
        self.load.is_none() && self.store.is_none()
    }
}

/// Expressions with their operands on the device.
pub(super) struct BoundFusion {
    pub(super) source: Arc<FftExpressions>,
    arrays: Vec<GpuArray>,
}

impl BoundFusion {
    fn new(fusion: &FftFusion<'_>, like: &GpuArray) -> Result<Self> {
        for (name, expression) in [("load", fusion.load), ("store", fusion.store)] {
            if expression.is_some_and(|expression| expression.trim().is_empty()) {
                return Err(ArrayError::value_error(format!(
                    "{name} is empty; expected an expression of the element `x`"
                )));
            }
        }
        let (operands, arrays) = bind_operands(fusion.operands, &FFT_EXPRESSION_NAMES, like, false)?;
        let [load, store] = [fusion.load, fusion.store].map(|expression| expression.map(str::to_owned));
        Ok(Self { source: Arc::new(FftExpressions { load, store, operands }), arrays })
    }

    pub(super) fn push_args(&self, args: &mut LaunchArgs) -> Result<()> {
        if self.arrays.is_empty() {
            args.push_u64(0);
        }
        self.arrays.iter().try_for_each(|array| push_arrays(args, &[array]))
    }
}

impl GpuArray {
    /// [`GpuArray::fft`] with expressions that the kernels apply to elements as they read and write them, which saves
    /// passes over memory; does not wait. Real transforms of even length are then computed as those of odd length are,
    /// with twice the work.
    ///
    /// # Errors
    /// As [`GpuArray::fft`]; when an expression is empty or does not compile, when an operand has no name for a
    /// variable, has records or no elements, or is in another context, when there are operands without expressions, and
    /// when the axis has no elements.
    pub fn fft_with(
        &self,
        kind: FftKind,
        axis: usize,
        n: usize,
        scale: f64,
        fusion: &FftFusion<'_>,
    ) -> Result<GpuArray> {
        if fusion.is_empty() {
            if let Some((name, _)) = fusion.operands.first() {
                return Err(ArrayError::value_error(format!(
                    "operand '{name}' is given without load and store; expected an expression that reads it"
                )));
            }
            return self.fft(kind, axis, n, scale);
        }
        let fusion = BoundFusion::new(fusion, self)?;
        self.fft_fused(kind, axis, n, scale, Some(&fusion))
    }
}
