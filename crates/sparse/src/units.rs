//! Units of operators and vectors: powers of two that bring numbers close to 1, where squares neither overflow nor
//! underflow.
//!
//! Multiplying by a power of two does not round. What is solved in such units is therefore the same problem, and its
//! solution has the same bits wherever the first one has not lost any.

use crate::operator::LinearOperator;
use rtcg_array::{GpuArray, Op, Order, ReduceOptions, ReductionOp};
use rtcg_hal::{ArrayContext, DType, Result};
use std::sync::Arc;

/// What a dtype of vectors has room for, in powers of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// Numbers within so many powers of 1 have squares, and products of a few of them, in the range of the dtype.
    pub(crate) moderate: i32,
    /// Numbers outside so many powers of 1 have squares that may be 0 or infinite.
    pub(crate) extreme: i32,
    /// Factors of at most so many powers are numbers of the dtype.
    step: i32,
}

impl Range {
    pub(crate) const fn from_dtype(vector: DType) -> Self {
        match vector {
            DType::F32 | DType::C64 => Self { moderate: 30, extreme: 50, step: 60 },
            _ => Self { moderate: 200, extreme: 330, step: 500 },
        }
    }

    /// Whether a norm is so far from 1 that what was computed with its square is in doubt.
    pub(crate) fn is_extreme(self, norm: f64) -> bool {
        !norm.is_finite() || exponent(norm).abs() > self.extreme || norm == 0.0
    }
}

/// The power of two below a number; 0 for 0 and for what is not finite.
pub(crate) fn exponent(number: f64) -> i32 {
    if number == 0.0 || !number.is_finite() { 0 } else { number.abs().log2().floor() as i32 }
}

/// `number * 2^power`, for any power.
pub(crate) fn times_power(mut number: f64, mut power: i32) -> f64 {
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        number *= 2f64.powi(step);
        power -= step;
    }
    number
}

/// `array *= 2^power`, for any power.
pub(crate) fn multiply_by_power(array: &GpuArray, mut power: i32) -> Result<()> {
    let most = Range::from_dtype(array.dtype()).step;
    while power != 0 {
        let step = power.clamp(-most, most);
        array.binary_in_place(Op::Multiply, 2f64.powi(step))?;
        power -= step;
    }
    Ok(())
}

/// `array * 2^power` in memory of its own.
pub(crate) fn times_power_of(array: &GpuArray, power: i32) -> Result<GpuArray> {
    let copy = array.copy(None)?;
    multiply_by_power(&copy, power)?;
    Ok(copy)
}

/// The largest size of an element; waits.
pub(crate) fn largest(array: &GpuArray) -> Result<f64> {
    if array.size() == 0 {
        return Ok(0.0);
    }
    let most = array.unary(Op::Absolute)?.reduce(ReductionOp::Maximum, ReduceOptions::default())?;
    let mut bytes = [0; 8];
    most.to_dtype(DType::F64)?.read(&mut bytes, Order::C)?;
    Ok(f64::from_ne_bytes(bytes))
}

/// A column of numbers between 1/2 and 1 times `2^power` without a pattern: no sums of them are 0 by chance.
fn generic_column(ctx: &Arc<ArrayContext>, n: usize, dtype: DType, power: i32) -> Result<GpuArray> {
    let column = GpuArray::empty(ctx, &[n, 1], dtype, Order::C)?;
    let mut bytes = Vec::with_capacity(column.nbytes());
    for k in 0..n {
        let fraction = (k as f64 * 0.618_033_988_749_894_9).fract();
        let number = times_power(0.5 + 0.5 * fraction, power);
        let parts = [number, 0.0];
        for part in &parts[..if dtype.is_complex() { 2 } else { 1 }] {
            match dtype.real_part() {
                DType::F32 => bytes.extend((*part as f32).to_ne_bytes()),
                _ => bytes.extend(part.to_ne_bytes()),
            }
        }
    }
    column.write(&bytes, Order::C)?;
    Ok(column)
}

/// The largest element of the image of a vector of elements near 1, as `(fraction, power)` of `fraction * 2^power`; waits.
/// That image is 0 where the operator is.
pub(crate) fn operator_size(
    ctx: &Arc<ArrayContext>,
    operator: &dyn LinearOperator,
    dtype: DType,
    takes_blocks: bool,
) -> Result<(f64, i32)> {
    let [rows, columns] = operator.shape();
    let step = Range::from_dtype(dtype).step;
    let image = |power: i32| {
        let x = generic_column(ctx, columns, dtype, power)?;
        if takes_blocks {
            return largest(&operator.apply_block(&x)?);
        }
        let y = GpuArray::empty(ctx, &[rows], dtype, Order::C)?;
        operator.apply(&x.reshape(&[columns as isize], Order::C)?, &y)?;
        largest(&y)
    };
    let mut power = 0;
    let mut size = image(0)?;
    let is_small = |size: f64| size == 0.0 || exponent(size) < -2 * step;
    if !size.is_finite() || is_small(size) {
        power = if size.is_finite() { step } else { -step };
        size = image(power)?;
    }
    Ok((size, -power))
}

/// The power of two of [`operator_size`]; 0 for an operator of zeros, and for one that maps to what is not finite.
pub(crate) fn operator_exponent(
    ctx: &Arc<ArrayContext>,
    operator: &dyn LinearOperator,
    dtype: DType,
    takes_blocks: bool,
) -> Result<i32> {
    let (size, power) = operator_size(ctx, operator, dtype, takes_blocks)?;
    Ok(if size == 0.0 || !size.is_finite() { 0 } else { exponent(size) + power })
}

/// An operator times a power of two. One half of the power is applied before, and one behind.
pub(crate) struct Scaled<'a> {
    pub(crate) inner: &'a dyn LinearOperator,
    pub(crate) power: i32,
}

impl LinearOperator for Scaled<'_> {
    fn shape(&self) -> [usize; 2] {
        self.inner.shape()
    }

    fn dtype(&self) -> DType {
        self.inner.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        let before = self.power / 2;
        self.inner.apply(&times_power_of(x, before)?, y)?;
        multiply_by_power(y, self.power - before)
    }

    fn apply_block(&self, x: &GpuArray) -> Result<GpuArray> {
        let before = self.power / 2;
        let y = self.inner.apply_block(&times_power_of(x, before)?)?;
        multiply_by_power(&y, self.power - before)?;
        Ok(y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_beyond_those_of_a_number_are_applied_in_steps() {
        assert_eq!(exponent(1.0), 0);
        assert_eq!(exponent(-0.75), -1);
        assert_eq!(exponent(f64::MIN_POSITIVE / 4.0), -1024);
        assert_eq!([exponent(0.0), exponent(f64::NAN), exponent(f64::INFINITY)], [0; 3]);
        assert_eq!(times_power(times_power(3.0, -1070), 1070), 3.0);
        assert_eq!(times_power(f64::MIN_POSITIVE, 2044), 2f64.powi(1022));
        assert!(Range::from_dtype(DType::F64).is_extreme(1e-170) && !Range::from_dtype(DType::F64).is_extreme(1e90));
        assert!(Range::from_dtype(DType::F32).is_extreme(1e-20) && Range::from_dtype(DType::C128).is_extreme(f64::NAN));
    }
}
