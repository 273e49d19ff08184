//! Checks of matrix arguments, and small operations on stacks of matrices.

use crate::array::{Arg, GpuArray};
use crate::elementwise::{OpOptions, apply_elementwise};
use crate::layout::{Order, PythonTuple, Shape};
use crate::reduce::ReduceOptions;
use crate::scalar::Scalar;
use crate::views::Index;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{ArrayContext, ArrayError, DType, DTypeKind, Result, WeakScalar};
use std::ops::Range;
use std::sync::Arc;

/// Most rows and columns of a matrix: kernels count them with `int`, some of them to the next multiple of a block.
const MAX_EXTENT: usize = i32::MAX as usize - (1 << 16);

/// The dtype that factorizations of such elements have.
pub(super) fn float_dtype(dtypes: &[DType]) -> Result<DType> {
    let common = dtypes.iter().copied().reduce(DType::promote).unwrap_or(DType::F64);
    let is_mixed = dtypes.iter().any(|dtype| dtype.is_integral());
    match common {
        _ if common.is_integral() => Ok(DType::F64),
        DType::F32 | DType::F64 | DType::C64 | DType::C128 if is_mixed => Ok(common.promote(DType::F64)),
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => Ok(common),
        _ => Err(ArrayError::type_error(format!(
            "array type {common} is unsupported in linalg; expected float32, float64, complex64, complex128, integers or bool"
        ))),
    }
}

/// The complex dtype whose parts elements have.
pub(super) fn complex_dtype_of(dtype: DType) -> DType {
    dtype.promote(DType::C64)
}

/// The distance from 1 to the next number of a dtype of matrices.
pub(super) fn machine_epsilon(dtype: DType) -> f64 {
    if dtype.real_part() == DType::F32 { f32::EPSILON.into() } else { f64::EPSILON }
}

/// Rows and columns.
///
/// # Errors
/// When there are less than two axes.
pub(super) fn rows_and_columns(a: &GpuArray) -> Result<[usize; 2]> {
    match a.shape() {
        [.., rows, columns] if rows.max(columns) <= &MAX_EXTENT => Ok([*rows, *columns]),
        [.., _, _] => Err(ArrayError::value_error(format!(
            "matrices of shape {} are too long for linear algebra; expected at most {MAX_EXTENT} rows and columns",
            PythonTuple(a.shape())
        ))),
        _ => Err(ArrayError::linear_algebra_error(format!(
            "{}-dimensional array given. Array must be at least two-dimensional; its shape is {}",
            a.ndim(),
            PythonTuple(a.shape())
        ))),
    }
}

/// The length of square matrices.
///
/// # Errors
/// When there are less than two axes, or the last two have different lengths.
pub(super) fn square_extent(a: &GpuArray) -> Result<usize> {
    match rows_and_columns(a)? {
        [rows, columns] if rows == columns => Ok(rows),
        _ => Err(ArrayError::linear_algebra_error(format!(
            "Last 2 dimensions of the array must be square; its shape is {}",
            PythonTuple(a.shape())
        ))),
    }
}

/// The axes before those of the matrices.
pub(super) fn stack_axes(a: &GpuArray) -> &[usize] {
    &a.shape()[..a.ndim() - 2]
}

/// `stack` with further axes.
pub(super) fn stack_shape(stack: &[usize], axes: &[usize]) -> Shape {
    stack.iter().chain(axes).copied().collect()
}

/// An array with the axes of a stack in place of its first one.
pub(super) fn unstack_axes(array: &GpuArray, stack: &[usize]) -> Result<GpuArray> {
    array.reshape_to(&stack_shape(stack, &array.shape()[1..]), Order::C)
}

/// A copy of three axes in C order, to be changed in place.
pub(super) fn copy_to_stack(a: &GpuArray, dtype: DType) -> Result<GpuArray> {
    let copy = GpuArray::empty(a.context(), a.shape(), dtype, Order::C)?;
    copy.assign(a)?;
    let count = stack_axes(a).iter().product();
    copy.reshape_to(&stack_shape(&[count], &rows_and_columns(a)?), Order::C)
}

/// New arrays in C order.
pub(super) fn empty_like(like: &GpuArray, shape: &[usize], dtype: DType) -> Result<GpuArray> {
    GpuArray::empty(like.context(), shape, dtype, Order::C)
}

pub(super) fn zeros_like(like: &GpuArray, shape: &[usize], dtype: DType) -> Result<GpuArray> {
    GpuArray::zeros(like.context(), shape, dtype, Order::C)
}

/// Matrices with ones on the diagonal and zeros elsewhere.
pub(super) fn identity_matrices(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> Result<GpuArray> {
    let identities = GpuArray::zeros(ctx, shape, dtype, Order::C)?;
    identities.diagonal(0, -2, -1)?.fill(Scalar::Weak(WeakScalar::Int(1)))?;
    Ok(identities)
}

/// A part of each matrix, as a view.
pub(super) fn submatrix(a: &GpuArray, rows: Range<usize>, columns: Range<usize>) -> Result<GpuArray> {
    let slice = |range: Range<usize>| Index::from(range.start as isize..range.end as isize);
    a.index(&[Index::Ellipsis, slice(rows), slice(columns)])
}

/// The matrices transposed.
pub(super) fn matrix_transpose(a: &GpuArray) -> Result<GpuArray> {
    a.swapaxes(-2, -1)
}

/// Complex conjugates; real arrays as they are.
pub(super) fn conjugate(a: &GpuArray) -> Result<GpuArray> {
    if a.dtype().is_complex() { a.unary(Op::Conjugate) } else { Ok(a.clone()) }
}

/// The matrices transposed and conjugated.
pub(super) fn conjugate_transpose(a: &GpuArray) -> Result<GpuArray> {
    conjugate(&matrix_transpose(a)?)
}

/// Elements from one index to the next along each of three axes.
pub(super) fn element_strides(a: &GpuArray) -> [isize; 3] {
    let item = a.itemsize() as isize;
    [0, 1, 2].map(|axis| a.strides()[axis] / item)
}

/// `x` where a condition holds, else `y`.
pub(super) fn where_select<'a>(condition: &GpuArray, x: impl Into<Arg<'a>>, y: impl Into<Arg<'a>>) -> Result<GpuArray> {
    apply_elementwise(condition.context(), Op::Where, &[condition.into(), x.into(), y.into()], OpOptions::default())
}

/// A number of a dtype as an operand.
pub(super) fn scalar_arg(dtype: DType, value: f64) -> Arg<'static> {
    Arg::Scalar(Scalar::Strong(dtype, WeakScalar::Float(value)))
}

/// A reduction of the last axis, or of the one before; products and sums in the dtype of the elements.
pub(super) fn reduce_axis(a: &GpuArray, reduction: ReductionOp, axis: isize, keepdims: bool) -> Result<GpuArray> {
    let dtype = (a.dtype().kind() >= DTypeKind::Float && matches!(reduction, ReductionOp::Sum | ReductionOp::Product))
        .then_some(a.dtype());
    a.reduce(reduction, ReduceOptions { axes: Some(&[axis]), keepdims, dtype, ..Default::default() })
}

/// Whether a truth value is true; waits.
pub(super) fn any_true(truths: &GpuArray) -> Result<bool> {
    let mut byte = [0];
    truths.reduce(ReductionOp::Any, ReduceOptions::default())?.read(&mut byte, Order::C)?;
    Ok(byte != [0])
}

/// The first of an array of 32-bit numbers; waits.
pub(super) fn read_first_i32(numbers: &GpuArray) -> Result<i32> {
    let mut bytes = [0; 4];
    numbers.index(&[Index::At(0)])?.read(&mut bytes, Order::C)?;
    Ok(i32::from_le_bytes(bytes))
}
