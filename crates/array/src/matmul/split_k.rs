//! Products whose tiles are too few for the device: the terms are split into parts, which are multiplied as a stack, and
//! the sums of the parts are added up by a reduction, in the same order at every run.

use super::{launch_without_split_k, tiles};
use crate::array::GpuArray;
use crate::error::Result;
use crate::layout::{Layout, Order, Shape};
use crate::reduce::ReduceOptions;
use crate::runtime::DeviceInfo;
use crate::views::Index;
use rtcg_codegen::DType;
use rtcg_codegen::array::{MATMUL_TILE_SIDE, ReductionOp};

/// Parts begin at multiples of so many terms, so that what is aligned stays so.
const K_ALIGNMENT: usize = 64;
/// Terms that are worth a part, and those of 16-bit floats, whose products take less time.
const MIN_K: usize = 256;
const MIN_K_HALF: usize = 1024;

/// Multiplies in parts if that fills the device better; whether it did.
pub(super) fn try_launch_split_k(
    out: &GpuArray,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    lengths: [usize; 3],
) -> Result<bool> {
    let [m, n, k] = lengths;
    let device_info = out.context().device_info();
    let blocks = tiles::n_blocks(device_info, out.dtype(), batch.iter().product(), lengths);
    let simple = || m.div_ceil(MATMUL_TILE_SIDE) * n.div_ceil(MATMUL_TILE_SIDE) * batch.iter().product::<usize>();
    let parts = n_splits(device_info, out.dtype(), blocks.unwrap_or_else(simple), k);
    if parts < 2 {
        return Ok(false);
    }
    let part = k.div_ceil(parts).next_multiple_of(K_ALIGNMENT);
    let (equal, rest) = (k / part, k % part);
    let mut shape = Shape::from_slice(&[equal + usize::from(rest > 0)]);
    shape.extend_from_slice(batch);
    shape.extend_from_slice(&[m, n]);
    let is_half = matches!(out.dtype(), DType::F16 | DType::BF16);
    let dtype = if is_half { DType::F32 } else { out.dtype() };
    // Tiles leave sums of 16-bit floats unrounded; other kernels are given the longer ones.
    let operand = |array: &GpuArray| if blocks.is_some() { Ok(array.clone()) } else { array.to_dtype(dtype) };
    let (a, b) = (operand(a)?, operand(b)?);
    let sums = GpuArray::empty(out.context(), &shape, dtype, Order::C)?;
    shape[0] = equal;
    let stack = &shape[..shape.len() - 2];
    let first = sums.index(&[Index::from(0..equal as isize)])?;
    launch_without_split_k(
        &first,
        &as_k_slices(&a, 1, stack, part),
        &as_k_slices(&b, 2, stack, part),
        stack,
        [m, n, part],
    )?;
    if rest > 0 {
        let terms = Index::from((k - rest) as isize..k as isize);
        let last = sums.index(&[Index::At(equal as isize)])?;
        let (a, b) =
            (a.index(&[Index::Ellipsis, terms])?, b.index(&[Index::Ellipsis, terms, Index::Slice(None, None, None)])?);
        launch_without_split_k(&last, &a, &b, batch, [m, n, rest])?;
    }
    let options = ReduceOptions { axes: Some(&[0]), dtype: Some(dtype), out: Some(out), ..Default::default() };
    sums.reduce(ReductionOp::Sum, options)?;
    Ok(true)
}

/// How many parts are best for so many blocks, each of which has all `k` terms.
fn n_splits(device_info: DeviceInfo, dtype: DType, blocks: usize, k: usize) -> usize {
    let least = if matches!(dtype, DType::F16 | DType::BF16) { MIN_K_HALF } else { MIN_K };
    let multiprocessors = device_info.multiprocessors as usize;
    if 2 * blocks > multiprocessors { 1 } else { (2 * multiprocessors / blocks).min(k / least) }
}

/// The parts of the terms, which lie along axis `from_end`, counted from the last one as 1, as the first axis of `stack`.
fn as_k_slices(array: &GpuArray, from_end: usize, stack: &[usize], part: usize) -> GpuArray {
    let Layout { shape, strides, offset } = array.layout();
    let (mut shape, mut strides) = (shape.clone(), strides.clone());
    let axis = shape.len() - from_end;
    let step = strides[axis] * part as isize;
    shape[axis] = part;
    while shape.len() < stack.len() + 1 {
        shape.insert(0, 1);
        strides.insert(0, 0);
    }
    shape.insert(0, stack[0]);
    strides.insert(0, step);
    array.view_with_layout(Layout { shape, strides, offset: *offset })
}
