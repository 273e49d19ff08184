//! Checks of result arrays that callers pass: shapes and dtypes.

use crate::array::GpuArray;
use crate::layout::PythonTuple;
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};

/// NumPy's casting rule `same_kind`: whether the conversion keeps the kind.
pub fn can_cast_same_kind(from: DType, to: DType) -> bool {
    match (from.kind(), to.kind()) {
        (DTypeKind::Record, _) | (_, DTypeKind::Record) => from == to,
        (a, b) => a <= b,
    }
}

impl GpuArray {
    /// Writes these elements to `out` if [`check_out`] allows it. Does not wait.
    ///
    /// # Errors
    /// Those of [`check_out`].
    pub fn store_in(&self, out: &GpuArray) -> Result<()> {
        check_out(out, self.shape(), self.dtype())?;
        out.assign(self)
    }
}

impl GpuArray {
    /// Checks that no elements share an address, as in a view by `broadcast_to`: what is written to them would depend
    /// on the order of writes.
    ///
    /// # Errors
    /// When elements share an address.
    #[inline]
    pub fn check_writable(&self) -> Result<()> {
        match self.layout().repeated_axis() {
            None => Ok(()),
            Some(axis) => Err(repeated_output_error(self, axis)),
        }
    }
}

#[cold]
fn repeated_output_error(out: &GpuArray, axis: usize) -> ArrayError {
    ArrayError::value_error(format!(
        "an array of shape {} and strides {} cannot be written to: its elements along axis {axis} lie at one place, as \
         in a view by broadcast_to; expected a place for each, as in a copy",
        PythonTuple(out.shape()),
        PythonTuple(out.strides())
    ))
}

/// Checks that `out` can take a result of `shape` and `dtype`: it must have the same shape, and a dtype to which
/// NumPy's casting rule `same_kind` allows a conversion.
///
/// # Errors
/// When it cannot.
pub fn check_out(out: &GpuArray, shape: &[usize], dtype: DType) -> Result<()> {
    if out.shape() != shape {
        let (given, expected) = (PythonTuple(out.shape()), PythonTuple(shape));
        return Err(ArrayError::value_error(format!(
            "output array has wrong shape: out has shape {given}; expected {expected}"
        )));
    }
    out.check_writable()?;
    if !can_cast_same_kind(dtype, out.dtype()) {
        return Err(ArrayError::type_error(format!(
            "out is of dtype {}; expected {dtype}, or one that it is cast to by NumPy's rule 'same_kind'",
            out.dtype()
        )));
    }
    Ok(())
}

/// Refuses an array for what a reduction writes, of `shape`: as NumPy's, reductions convert to any dtype but records.
/// `wrong_shape` formats the error of the shape from the one given and the one expected.
pub(crate) fn check_reduction_out<'a>(
    name: &str,
    out: &'a GpuArray,
    shape: &[usize],
    wrong_shape: impl FnOnce(PythonTuple<'_, usize>, PythonTuple<'_, usize>) -> String,
) -> Result<&'a GpuArray> {
    match out.dtype().kind() {
        DTypeKind::Record => Err(ArrayError::type_error(format!("reduction '{name}' cannot write to records"))),
        _ => check_ufunc_out(name, out, shape, out.dtype(), wrong_shape),
    }
}

/// [`check_out`] in the words that NumPy has for its functions: `wrong_shape` formats the error of the
/// shape from the one given and the one expected, `name` is the function.
pub(crate) fn check_ufunc_out<'a>(
    name: &str,
    out: &'a GpuArray,
    shape: &[usize],
    dtype: DType,
    wrong_shape: impl FnOnce(PythonTuple<'_, usize>, PythonTuple<'_, usize>) -> String,
) -> Result<&'a GpuArray> {
    if out.shape() != shape {
        return Err(ArrayError::value_error(wrong_shape(PythonTuple(out.shape()), PythonTuple(shape))));
    }
    out.check_writable()?;
    if !can_cast_same_kind(dtype, out.dtype()) {
        return Err(ArrayError::type_error(format!(
            "Cannot cast ufunc '{name}' output from {dtype} to {} with casting rule 'same_kind'",
            out.dtype()
        )));
    }
    Ok(out)
}
