//! Elementwise functions, reductions, scans, sorting and products.

use super::element::{Arithmetic, ArrayElement, Float, Inexact, Ordered};
use super::gpu_array::GpuArray;
use rtcg_array::{Op, ReduceOptions, ReductionOp, ScanOp, Statistic, normalize_axis};
use rtcg_cuda::Result;

macro_rules! impl_unary_functions {
    ($($bound:ident { $($name:ident $op:ident $doc:literal;)*})*) => {$(
        impl<T: $bound> GpuArray<T> {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// When the device is out of memory.
            pub fn $name(&self) -> Result<GpuArray<T>> {
                self.typed_result(self.as_dyn().unary(Op::$op)?)
            }
        )*}
    )*};
}

impl_unary_functions! {
    Inexact {
        sqrt Sqrt "The square root of each element.";
        exp Exp "The exponential of each element.";
        ln Log "The natural logarithm of each element.";
        sin Sin "The sine of each element.";
        cos Cos "The cosine of each element.";
        tan Tan "The tangent of each element.";
        asin Arcsin "The arcsine of each element.";
        acos Arccos "The arccosine of each element.";
        atan Arctan "The arctangent of each element.";
        sinh Sinh "The hyperbolic sine of each element.";
        cosh Cosh "The hyperbolic cosine of each element.";
        tanh Tanh "The hyperbolic tangent of each element.";
    }
    Float {
        floor Floor "Each element rounded down.";
        ceil Ceil "Each element rounded up.";
        trunc Trunc "Each element rounded towards 0.";
        round Rint "Each element rounded to the nearest integer, halves to even.";
        abs Absolute "The absolute value of each element.";
        exp_m1 Expm1 "The exponential of each element, minus 1.";
        ln_1p Log1p "The natural logarithm of 1 plus each element.";
    }
}

fn reduce_options(axes: Option<&[isize]>) -> ReduceOptions<'_> {
    ReduceOptions { axes, ..Default::default() }
}

/// Reductions to one value, which wait, and over axes, which do not.
macro_rules! impl_reductions {
    ($($bound:ident { $($name:ident $axes:ident $reduction:ident $result:ty, $doc:literal;)*})*) => {$(
        impl<T: $bound> GpuArray<T> {$(
            #[doc = concat!($doc, ", over all elements; waits.")]
            ///
            /// # Errors
            /// When there is no element and the result needs one, or a kernel failed before.
            pub fn $name(&self) -> Result<$result> {
                self.typed_result::<$result>(self.as_dyn().reduce(ReductionOp::$reduction, reduce_options(None))?)?.item()
            }

            #[doc = concat!($doc, ", over axes, which the result does not have.")]
            ///
            /// # Errors
            /// When an axis does not exist or is named twice, or has no element and the result needs one.
            pub fn $axes(&self, axes: &[isize]) -> Result<GpuArray<$result>> {
                self.typed_result(self.as_dyn().reduce(ReductionOp::$reduction, reduce_options(Some(axes)))?)
            }
        )*}
    )*};
}

impl_reductions! {
    ArrayElement {
        sum sum_axes Sum T::SumElement, "The sum";
        product product_axes Product T::SumElement, "The product";
        any any_axes Any bool, "Whether any element is nonzero";
        all all_axes All bool, "Whether all elements are nonzero";
    }
    Ordered {
        min min_axes Minimum T, "The smallest element, NaN if any is NaN";
        max max_axes Maximum T, "The greatest element, NaN if any is NaN";
    }
}

impl<T: ArrayElement> GpuArray<T> {
    /// Computes the mean of all elements; waits.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn mean(&self) -> Result<T::MeanElement> {
        self.typed_result::<T::MeanElement>(self.as_dyn().reduce_statistic(
            Statistic::Mean,
            0.0,
            reduce_options(None),
        )?)?
        .item()
    }

    /// Computes the mean over axes, which the result does not have.
    ///
    /// # Errors
    /// When an axis does not exist or is named twice.
    pub fn mean_axes(&self, axes: &[isize]) -> Result<GpuArray<T::MeanElement>> {
        self.typed_result(self.as_dyn().reduce_statistic(Statistic::Mean, 0.0, reduce_options(Some(axes)))?)
    }
}

impl<T: Float> GpuArray<T> {
    /// Computes the variance of all elements: the sum of squared deviations from the mean, divided by the number of
    /// elements less `ddof`; waits.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn variance(&self, ddof: f64) -> Result<T> {
        self.typed_result::<T>(self.as_dyn().reduce_statistic(Statistic::Variance, ddof, reduce_options(None))?)?.item()
    }

    /// Computes the standard deviation of all elements, the square root of [`GpuArray::variance`]; waits.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn std_dev(&self, ddof: f64) -> Result<T> {
        self.typed_result::<T>(self.as_dyn().reduce_statistic(
            Statistic::StandardDeviation,
            ddof,
            reduce_options(None),
        )?)?
        .item()
    }
}

impl<T: Ordered> GpuArray<T> {
    /// Returns the index of the first smallest element, counted in C order; waits.
    ///
    /// # Errors
    /// When there is no element.
    pub fn argmin(&self) -> Result<usize> {
        let place = self.as_dyn().reduce(ReductionOp::ArgMinimum, reduce_options(None))?;
        Ok(self.typed_result::<i64>(place)?.item()? as usize)
    }

    /// Returns the index of the first greatest element, counted in C order; waits.
    ///
    /// # Errors
    /// When there is no element.
    pub fn argmax(&self) -> Result<usize> {
        let place = self.as_dyn().reduce(ReductionOp::ArgMaximum, reduce_options(None))?;
        Ok(self.typed_result::<i64>(place)?.item()? as usize)
    }

    /// Returns a copy sorted along `axis`, NaN last.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn sorted(&self, axis: isize) -> Result<GpuArray<T>> {
        let axis = normalize_axis(axis, self.ndim())?;
        self.typed_result(self.as_dyn().sorted(axis, false)?)
    }

    /// Returns the indices that sort along `axis`; equal elements keep their order.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn argsort(&self, axis: isize) -> Result<GpuArray<i64>> {
        let axis = normalize_axis(axis, self.ndim())?;
        self.typed_result(self.as_dyn().argsort(axis, false)?)
    }
}

impl<T: Arithmetic> GpuArray<T> {
    /// Computes cumulative sums along `axis`.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn cumulative_sum(&self, axis: isize) -> Result<GpuArray<T::SumElement>> {
        let axis = normalize_axis(axis, self.ndim())?;
        self.typed_result(self.as_dyn().cumulative(ScanOp::Sum, axis, None)?)
    }

    /// Computes the inner product with an array of the same shape; waits.
    ///
    /// # Errors
    /// When the shapes differ.
    pub fn dot(&self, other: &GpuArray<T>) -> Result<T> {
        self.typed_result::<T>(self.as_dyn().dot_flat(other.as_dyn(), None)?)?.item()
    }

    /// Computes the matrix product, with NumPy's rules for operands of one axis and for stacks of matrices.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, other: &GpuArray<T>) -> Result<GpuArray<T>> {
        self.typed_result(self.as_dyn().matmul(other.as_dyn())?)
    }
}

/// Computes the sum of products that `subscripts` describe, with NumPy's rules: `ij,jk->ik`, `ii`, `...ij->...ji`. Does
/// not wait. The kernels are written for small axes; more than two operands are contracted in an order that keeps
/// intermediate results small. [`rtcg_array::einsum`] has options for other orders, a dtype and memory for the result.
///
/// ```
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = ArrayFactory::new(&Context::new()?)?;
/// let derive = arrays.from_slice(&[-1.0f32, 1.0, -1.0, 1.0])?.reshape(&[2, 2])?;
/// let fields = arrays.from_slice(&[1.0f32, 5.0, 2.0, 2.0])?.reshape(&[2, 2])?;
/// let slopes = rtcg::einsum("ij,ej->ei", &[&derive, &fields])?;
/// assert_eq!(slopes.to_vec()?, [4.0, 4.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When subscripts and shapes do not fit, or the device fails.
pub fn einsum<T: ArrayElement>(subscripts: &str, operands: &[&GpuArray<T>]) -> Result<GpuArray<T>> {
    let dynamic: Vec<_> = operands.iter().map(|operand| operand.as_dyn()).collect();
    let result = rtcg_array::einsum(subscripts, &dynamic, rtcg_array::EinsumOptions::default())?;
    operands[0].typed_result(result)
}
