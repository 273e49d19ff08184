//! Checks of index arrays on the device, with one kernel and one wait for a few numbers.

use crate::kernels::THREADS;
use crate::kernels::structure::StructureSpec;
use rtcg_array::{GpuArray, Order, PythonTuple, push_arrays};
use rtcg_hal::{ArrayError, DType, LaunchArgs, Result};

/// The extremes of index arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexExtremes {
    /// The smallest and the largest index; `None` without indices.
    pub indices: Option<[i64; 2]>,
    /// The smallest and the largest number of elements in a row; the smallest is negative if `indptr` descends. 0
    /// without rows.
    pub row_lengths: [i64; 2],
    /// The first and the last element of `indptr`; 0 without rows.
    pub ends: [i64; 2],
}

/// Computes the extremes of `indices`, and of `indptr` if given; both must be contiguous vectors of int32 or int64.
/// Waits.
///
/// # Errors
/// When the arrays are not such vectors, or the device fails.
pub fn index_extremes(indices: &GpuArray, indptr: Option<&GpuArray>) -> Result<IndexExtremes> {
    for array in [Some(indices), indptr].into_iter().flatten() {
        let is_index = matches!(array.dtype(), DType::I32 | DType::I64) && array.dtype() == indices.dtype();
        if array.ndim() != 1 || !array.is_contiguous(Order::C) || !is_index {
            let (shape, dtype) = (PythonTuple(array.shape()), array.dtype());
            return Err(ArrayError::value_error(format!(
                "an index array has shape {shape} and dtype {dtype}; expected contiguous vectors of int32 or int64"
            )));
        }
    }
    if indices.size() == 0 && indptr.is_none_or(|indptr| indptr.size() < 2) {
        return Ok(IndexExtremes { indices: None, row_lengths: [0; 2], ends: [0; 2] });
    }
    let ctx = indices.context();
    let rows = indptr.map_or(0, |indptr| indptr.size().saturating_sub(1));
    let blocks = ctx.device_info().grid_block_count(indices.size().max(rows)).min(256);
    let numbers = GpuArray::empty(ctx, &[4 * blocks as usize + 2], DType::I64, Order::C)?;
    let mut args = LaunchArgs::new();
    // The kernel reads nothing of an array without elements, which has no address.
    let given = if indices.size() > 0 { indices } else { indptr.unwrap_or(indices) };
    push_arrays(&mut args, &[&numbers, given, indptr.unwrap_or(given)])?;
    [indices.size(), rows].iter().for_each(|&n| args.push_i64(n as i64));
    ctx.launch(&StructureSpec { index: indices.dtype() }, blocks, THREADS, &args)?;
    let mut bytes = vec![0; numbers.nbytes()];
    numbers.read(&mut bytes, Order::C)?;
    let numbers: Vec<i64> = bytes.as_chunks().0.iter().map(|&chunk| i64::from_ne_bytes(chunk)).collect();
    let extreme = |which: usize| {
        let found = numbers[..4 * blocks as usize].iter().skip(which).step_by(4).copied();
        if which.is_multiple_of(2) { found.min() } else { found.max() }.unwrap_or(0)
    };
    let of_rows = if rows > 0 { [numbers[4 * blocks as usize], numbers[4 * blocks as usize + 1]] } else { [0, 0] };
    let row_lengths = if rows > 0 { [extreme(2), extreme(3)] } else { [0, 0] };
    let of_indices = (indices.size() > 0).then(|| [extreme(0), extreme(1)]);
    Ok(IndexExtremes { indices: of_indices, row_lengths, ends: of_rows })
}

/// Checks arrays on the device as [`crate::check_structure`] checks those on the host, and reports the wrong value;
/// waits once. Returns the number of elements, and that of the longest row.
///
/// # Errors
/// When they do not form a matrix of this shape, or the device fails.
pub fn check_device_structure(shape: [usize; 2], indices: &GpuArray, indptr: &GpuArray) -> Result<[usize; 2]> {
    let error = |message: String| Err(ArrayError::value_error(message));
    let [rows, columns] = shape;
    if indptr.size() != rows + 1 {
        return error(format!("index pointer size {} should be {}", indptr.size(), rows + 1));
    }
    if rows == 0 {
        return Ok([0, 0]);
    }
    let found = index_extremes(indices, Some(indptr))?;
    let [first, last] = found.ends;
    if first != 0 {
        return error(format!("index pointer should start with 0; it starts with {first}"));
    }
    if last > indices.size() as i64 {
        return error(format!(
            "Last value of index pointer should be less than the size of index and data arrays: {last}, of {}",
            indices.size()
        ));
    }
    // Kernels step over the end of a row by what a warp has under way.
    if indices.dtype() == DType::I32 && last > i64::from(i32::MAX) - 256 {
        return error(format!("{last} elements need int64 indices"));
    }
    if found.row_lengths[0] < 0 {
        return error(format!("indptr must be a non-decreasing sequence; it falls by {}", -found.row_lengths[0]));
    }
    if let Some([least, largest]) = found.indices {
        if largest >= columns as i64 {
            return error(format!("indices must be < {columns}; one is {largest}"));
        }
        if least < 0 {
            return error(format!("indices must be >= 0; one is {least}"));
        }
    }
    Ok([last as usize, found.row_lengths[1] as usize])
}
