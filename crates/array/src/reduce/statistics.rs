//! Means, variances and standard deviations, from sums.

use super::{ReduceOptions, check_out_argument, reduce_and_prepare_launch};
use crate::array::GpuArray;
use crate::elementwise::{OpOptions, apply_elementwise};
use crate::layout::Order;
use crate::out_argument::check_out;
use crate::reduction_plan::shape_after_reduction;
use crate::scalar::Scalar;
use crate::views::normalize_axes;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{DType, Result, WeakScalar};
use smallvec::SmallVec;

/// A statistic that is computed from sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The variance: the sum of squared deviations from the mean, divided by the number of elements less `ddof`.
    Variance,
    /// The square root of the variance.
    StandardDeviation,
}

impl GpuArray {
    /// Computes the mean, variance or standard deviation over axes; `ddof` is subtracted from the number of elements.
    ///
    /// # Errors
    /// As [`GpuArray::reduce`].
    pub fn reduce_statistic(&self, what: Statistic, ddof: f64, options: ReduceOptions<'_>) -> Result<GpuArray> {
        let axes: SmallVec<[usize; 4]> = match options.axes {
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => (0..self.ndim()).collect(),
        };
        let result = options.dtype.unwrap_or(if self.dtype().is_integral() { DType::F64 } else { self.dtype() });
        // 16-bit floats are summed, and divided, in 32 bits.
        let compute = if result.itemsize() == 2 { DType::F32 } else { result };
        let mask = options.mask;
        let n = self.element_counts(&axes, mask)?;
        let keep = ReduceOptions { keepdims: true, dtype: Some(compute), out: None, initial: None, ..options };
        let total = self.reduce(ReductionOp::Sum, keep)?;
        let mean = n.divide_by_count(&total, 0.0, compute)?;
        let value = match what {
            Statistic::Mean => mean,
            _ => {
                let keep = ReduceOptions { dtype: Some(compute.real_part()), ..keep };
                let own = self.to_dtype(compute)?;
                let (squares, _) =
                    reduce_and_prepare_launch(ReductionOp::SumSquaredDeviations, &own, Some(&mean), keep)?;
                let variance = n.divide_by_count(&squares, ddof, compute.real_part())?;
                if what == Statistic::Variance { variance } else { variance.unary(Op::Sqrt)? }
            }
        };
        let dtype = if what == Statistic::Mean { result } else { result.real_part() };
        let shape = shape_after_reduction(self.shape(), &axes, options.keepdims);
        let value = value.reshape_to(&shape, Order::C)?;
        match options.out {
            Some(out) => {
                if what == Statistic::StandardDeviation {
                    // The square root is an operation like others, which round no number to an integer.
                    check_out(out, &shape, dtype)?;
                }
                check_out_argument(ReductionOp::Sum, out, &shape, dtype)?.assign(&value)?;
                Ok(out.clone())
            }
            None => value.to_dtype(dtype),
        }
    }

    fn element_counts(&self, axes: &[usize], mask: Option<&GpuArray>) -> Result<ElementCounts> {
        let Some(mask) = mask else {
            return Ok(ElementCounts::Same(axes.iter().map(|&axis| self.shape()[axis]).product()));
        };
        let axes: SmallVec<[isize; 4]> = axes.iter().map(|&axis| axis as isize).collect();
        let options = ReduceOptions { axes: Some(&axes), keepdims: true, ..Default::default() };
        mask.broadcast_to(self.shape())?.reduce(ReductionOp::CountNonzero, options).map(ElementCounts::Each)
    }
}

/// How many elements each run has.
enum ElementCounts {
    Same(usize),
    Each(GpuArray),
}

impl ElementCounts {
    /// `total / (n - ddof)` in `dtype`; fewer elements than degrees of freedom give NaN, as in NumPy.
    fn divide_by_count(&self, total: &GpuArray, ddof: f64, dtype: DType) -> Result<GpuArray> {
        let options = OpOptions { out: None, dtype: Some(dtype.true_divide_dtype()) };
        match self {
            ElementCounts::Same(n) => {
                let n = WeakScalar::Float((*n as f64 - ddof).max(0.0));
                apply_elementwise(total.context(), Op::TrueDivide, &[total.into(), Scalar::Weak(n).into()], options)
            }
            ElementCounts::Each(n) => {
                let n = n.to_dtype(dtype.real_part())?.binary(Op::Subtract, ddof)?.binary(Op::Maximum, 0.0)?;
                apply_elementwise(total.context(), Op::TrueDivide, &[total.into(), (&n).into()], options)
            }
        }
    }
}
