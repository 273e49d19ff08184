//! Checks of the operands of products, and the dtype of their results, shared by all formats.

use rtcg_array::{GpuArray, Order, PythonTuple};
use rtcg_hal::{ArrayError, DType, Result};

pub(crate) fn check_is_vector(name: &str, array: &GpuArray) -> Result<()> {
    if array.ndim() == 1 && array.is_contiguous(Order::C) {
        return Ok(());
    }
    let shape = PythonTuple(array.shape());
    Err(ArrayError::value_error(format!("{name} has shape {shape}; expected a contiguous vector")))
}

/// Index arrays for so many rows and entries of `data`, by their shapes and dtypes alone.
pub(crate) fn check_structure_arrays(rows: usize, entries: usize, indices: &GpuArray, indptr: &GpuArray) -> Result<()> {
    check_is_vector("indices", indices)?;
    check_is_vector("indptr", indptr)?;
    let (index, other) = (indices.dtype(), indptr.dtype());
    if !matches!(index, DType::I32 | DType::I64) || other != index {
        let message = format!("indices are of dtype {index} and indptr of {other}; expected int32 or int64 for both");
        return Err(ArrayError::type_error(message));
    }
    if indptr.size() != rows + 1 {
        return Err(ArrayError::value_error(format!("index pointer size {} should be {}", indptr.size(), rows + 1)));
    }
    if indices.size() != entries {
        let message = format!("indices and data should have the same size: {} and {entries}", indices.size());
        return Err(ArrayError::value_error(message));
    }
    Ok(())
}

/// An error for elements that a matrix cannot store. Those of 16 bits are stored, and computed with in 32.
pub(crate) fn check_stored_dtype(dtype: DType) -> Result<()> {
    if matches!(dtype, DType::F16 | DType::BF16) { Ok(()) } else { check_value_dtype(dtype) }
}

/// The dtype of products of stored elements and those of a vector: what both promote to, and float32 at least for
/// floating-point numbers.
pub(crate) fn product_dtype(value: DType, vector: DType) -> Result<DType> {
    let dtype = match value.promote(vector) {
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    };
    check_value_dtype(dtype)?;
    Ok(dtype)
}

/// An error for elements that kernels do not compute with.
pub(crate) fn check_value_dtype(dtype: DType) -> Result<()> {
    if matches!(dtype, DType::F16 | DType::BF16 | DType::Void(_)) {
        return Err(ArrayError::type_error(format!("a sparse matrix of dtype {dtype} is not supported")));
    }
    Ok(())
}

/// An error for results that products of elements and those of a vector cannot be computed in.
pub(crate) fn check_result_dtype(value: DType, vector: DType, result: DType) -> Result<()> {
    check_value_dtype(result)?;
    if (value.is_complex() || vector.is_complex()) && !result.is_complex() {
        return Err(ArrayError::type_error(format!(
            "y is of dtype {result}, and products of {value} and {vector} are complex; expected complex64 or complex128"
        )));
    }
    Ok(())
}

/// A vector of `n` elements, or an error in SciPy's words.
pub(crate) fn check_vector(name: &str, vector: &GpuArray, n: usize) -> Result<()> {
    if vector.shape() == [n] {
        return Ok(());
    }
    let shape = PythonTuple(vector.shape());
    Err(ArrayError::value_error(format!("dimension mismatch: {name} has shape {shape}; expected ({n},)")))
}

/// What `y = A x` is given: vectors of the lengths that the matrix has, `y` contiguous and without memory of `x`, and not
/// real where products are complex.
pub(crate) fn check_product(shape: [usize; 2], value: DType, x: &GpuArray, y: &GpuArray) -> Result<()> {
    check_vector("x", x, shape[1])?;
    check_vector("y", y, shape[0])?;
    check_result_dtype(value, x.dtype(), y.dtype())?;
    if !y.is_contiguous(Order::C) || y.overlaps(x) {
        return Err(ArrayError::value_error("y is not contiguous, or shares memory with x"));
    }
    Ok(())
}
