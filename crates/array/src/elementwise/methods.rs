//! Array methods that are single elementwise operations: operators, fills, conversions and copies.

use super::{OpOptions, apply_elementwise, binary_with_power_shortcuts, compute_into};
use crate::array::{Arg, GpuArray, OperandSource};
use crate::fuse;
use crate::layout::{Layout, Order, PythonTuple};
use crate::scalar::{Scalar, ScalarElement};
use rtcg_codegen::array::{Op, OpTypes};
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};

impl GpuArray {
    /// Applies `op` to this array.
    ///
    /// # Errors
    /// When the dtype does not allow it.
    pub fn unary(&self, op: Op) -> Result<GpuArray> {
        apply_elementwise(self.context(), op, &[self.into()], OpOptions::default())
    }

    /// Applies `op` to this array and another operand.
    ///
    /// # Errors
    /// As [`apply_elementwise`].
    pub fn binary<'a>(&'a self, op: Op, other: impl Into<Arg<'a>>) -> Result<GpuArray> {
        binary_with_power_shortcuts(self.context(), op, self.into(), other.into(), None)
    }

    /// Applies `op` in place: `self op= other`.
    ///
    /// # Errors
    /// As [`apply_elementwise`], and when the result's kind cannot be stored in this dtype.
    pub fn binary_in_place<'a>(&'a self, op: Op, other: impl Into<Arg<'a>>) -> Result<()> {
        binary_with_power_shortcuts(self.context(), op, self.into(), other.into(), Some(self)).map(drop)
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// Overflow if a Python integer does not fit the dtype.
    pub fn fill(&self, value: Scalar) -> Result<()> {
        self.fill_element(value.to_element(self.dtype())?)
    }

    /// Sets every element to a value that was converted to this dtype before.
    ///
    /// # Errors
    /// When the device fails.
    pub fn fill_element(&self, value: ScalarElement) -> Result<()> {
        compute_into(Op::Copy, self.dtype(), self, &[OperandSource::Value(value, self.dtype())])
    }

    /// Copies the array, converted to `dtype` as C converts.
    ///
    /// # Errors
    /// When one of the dtypes is a record and the other is not.
    pub fn astype(&self, dtype: DType) -> Result<GpuArray> {
        let types = OpTypes { compute: self.dtype(), out: dtype };
        let layout = || Layout::dense_like(self.layout(), dtype.itemsize());
        if dtype.kind() != DTypeKind::Record
            && let Some(deferred) =
                fuse::defer_operation(self.context(), Op::Copy, types, &[OperandSource::Array(self)], None, layout)?
        {
            return Ok(deferred);
        }
        let new = self.empty_like(dtype)?;
        new.assign(self)?;
        Ok(new)
    }

    /// Returns the array itself if it has this dtype, otherwise a converted copy.
    ///
    /// # Errors
    /// As [`GpuArray::astype`].
    pub fn to_dtype(&self, dtype: DType) -> Result<GpuArray> {
        if self.dtype() == dtype { Ok(self.clone()) } else { self.astype(dtype) }
    }

    /// Whether the copy of a result that was deferred was deferred, too.
    pub(crate) fn assign_deferred(&self, source: &GpuArray) -> Result<bool> {
        let fits = || source.layout().broadcast_to(self.shape()).is_ok();
        if !fuse::is_active() || !fuse::is_deferred(source) || self.dtype().kind() == DTypeKind::Record || !fits() {
            return Ok(false);
        }
        let types = OpTypes { compute: source.dtype(), out: self.dtype() };
        let layout = || self.layout().clone();
        fuse::defer_operation(self.context(), Op::Copy, types, &[OperandSource::Array(source)], Some(self), layout)
            .map(|deferred| deferred.is_some())
    }

    /// Without axes of length 1 in front, as far as there are more than `ndim`: values that are assigned may have them.
    pub(crate) fn without_leading_ones(&self, ndim: usize) -> Self {
        let more = self.ndim().saturating_sub(ndim);
        if more == 0 || self.shape()[..more].iter().any(|&length| length != 1) {
            return self.clone();
        }
        let Layout { shape, strides, offset } = self.layout();
        self.view_with_layout(Layout { shape: shape[more..].into(), strides: strides[more..].into(), offset: *offset })
    }

    pub(crate) fn assign_pointwise(&self, source: &GpuArray) -> Result<()> {
        let (from, to) = (source.dtype(), self.dtype());
        if from != to && (from.kind() == DTypeKind::Record || to.kind() == DTypeKind::Record) {
            return Err(ArrayError::type_error(format!("cannot convert elements of type {from} to {to}")));
        }
        if source.layout().broadcast_to(self.shape()).is_err() {
            return Err(ArrayError::value_error(format!(
                "could not broadcast input array from shape {} into shape {}",
                PythonTuple(source.shape()),
                PythonTuple(self.shape())
            )));
        }
        compute_into(Op::Copy, from, self, &[OperandSource::Array(source)])
    }

    /// Fills this one-dimensional array with the numbers `start + i * step`.
    ///
    /// # Errors
    /// When a number does not fit the dtype.
    pub fn fill_range(&self, start: Scalar, step: Scalar) -> Result<()> {
        let dtype = self.dtype();
        let types = Op::Index.resolve_types(dtype)?;
        let contiguous = if self.is_contiguous(Order::C) { self.clone() } else { self.empty_like(dtype)? };
        // Steps of 16-bit floats are differences that these do not hold.
        let number = if dtype.kind() == DTypeKind::Float && dtype.itemsize() == 2 { DType::F32 } else { dtype };
        let values = [start.to_element(number)?, step.to_element(number)?];
        compute_into(Op::Index, types.compute, &contiguous, &values.map(|value| OperandSource::Value(value, number)))?;
        if self.is_contiguous(Order::C) { Ok(()) } else { self.assign(&contiguous) }
    }
}
