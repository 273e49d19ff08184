//! The largest or smallest elements of rows, in order.

use crate::kernels::{THREADS, TopkSpec};
use rtcg_array::{GpuArray, Index, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayError, DType, Result};

/// Elements beyond which rows are sorted.
const MAX_LISTED: usize = 64;

/// Returns the `k` largest (or smallest) elements along the last axis in order, and their indices (int64); among equal
/// elements lower indices come first. NaN is larger than every number. Does not wait.
///
/// # Errors
/// When there is no axis, there are fewer than `k` elements along it, or elements have no order.
pub fn topk(values: &GpuArray, k: usize, is_largest: bool) -> Result<[GpuArray; 2]> {
    let Some((&length, outer)) = values.shape().split_last() else {
        return Err(ArrayError::value_error("values has shape (); expected at least one axis"));
    };
    if k > length {
        let shape = PythonTuple(values.shape());
        return Err(ArrayError::value_error(format!(
            "k is {k}; expected at most {length}, for values of shape {shape}"
        )));
    }
    values.require_real("values")?;
    if k > MAX_LISTED {
        let axis = values.ndim() - 1;
        let first = [Index::Ellipsis, Index::Slice(None, Some(k as isize), None)];
        let sorted = [values.sorted(axis, is_largest)?, values.argsort(axis, is_largest)?];
        let [values, indices] = sorted.map(|array| array.index(&first)?.to_contiguous());
        return Ok([values?, indices?]);
    }
    let ctx = values.context();
    let source = values.to_contiguous()?;
    let mut shape = outer.to_vec();
    shape.push(k);
    let found = [values.dtype(), DType::I64].map(|dtype| GpuArray::empty(ctx, &shape, dtype, Order::C));
    let [found, indices] = found;
    let (found, indices) = (found?, indices?);
    if indices.size() == 0 {
        return Ok([found, indices]);
    }
    let rows = values.size() / length;
    let mut args = array_args(&[&found, &indices, &source])?;
    [rows, length].iter().for_each(|&n| args.push_i64(n as i64));
    let blocks = rows.min(ctx.device_info().max_blocks as usize) as u32;
    ctx.launch(&TopkSpec { dtype: values.dtype(), k: k as u32, is_largest }, blocks, THREADS, &args)?;
    Ok([found, indices])
}
