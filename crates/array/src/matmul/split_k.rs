//! Split-k products, for products with too few tiles to fill the device: `k` is split into parts, which are multiplied
//! as a stack, and a reduction adds up the partial sums, in the same order in every run.

use super::{MatmulTarget, launch_without_split_k, simple_kernel, tiles};
use crate::array::GpuArray;
use crate::layout::{Layout, Order, Shape};
use crate::reduce::ReduceOptions;
use crate::views::Index;
use rtcg_codegen::array::ReductionOp;
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

/// Parts begin at multiples of so many terms, so that what is aligned stays so.
const K_ALIGNMENT: usize = 64;

tunable! {
    /// When matrix products split `k` over blocks.
    pub(crate) SplitK = "matmul.split_k";
    /// A stack of products of matrices of `m` x `k` and `k` x `n` elements, computed by tiles.
    problem SplitKProblem {
        /// The dtype of operands and result.
        dtype: DType = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of the result.
        m: i64 = PowerOfTwo,
        /// Columns of the result.
        n: i64 = PowerOfTwo,
        /// Inner length of the product.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// Blocks per multiprocessor that splitting `k` aims for. `k` is split only if this times the number of blocks
        /// without splitting is at most the number of multiprocessors; 0 disables it.
        waves: i64 = [0, 1, 2, 3, 4, 6, 8],
        /// Minimum length of `k` per part.
        min_k: i64 = [128, 256, 512, 1024, 2048, 4096],
    }
    device {}
    require {}
    rule split_k_rule;
}

/// Products of 16-bit floats take less time.
fn split_k_rule(problem: &SplitKProblem, _: &DeviceInfo) -> SplitK {
    SplitK { waves: 2, min_k: if matches!(problem.dtype, DType::F16 | DType::BF16) { 1024 } else { 256 } }
}

impl SplitK {
    /// How many parts are best for so many blocks, each of which has all `k` terms.
    fn n_splits(self, device_info: DeviceInfo, blocks: usize, k: usize) -> usize {
        let (waves, multiprocessors) = (self.waves as usize, device_info.multiprocessors as usize);
        if waves * blocks > multiprocessors {
            1
        } else {
            (waves * multiprocessors / blocks).min(k / self.min_k as usize)
        }
    }
}

/// Multiplies in parts if that fills the device better; whether it did.
pub(super) fn try_launch_split_k(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    lengths: [usize; 3],
    has_tiles: bool,
) -> Result<bool> {
    let ([m, n, k], ctx, dtype, out) = (lengths, a.context(), a.dtype(), target.out);
    let batches: usize = batch.iter().product();
    let blocks = if has_tiles { tiles::n_blocks(ctx, dtype, batches, lengths) } else { None };
    let simple = || {
        let side = simple_kernel(ctx, dtype, batches, lengths).tile_side();
        m.div_ceil(side) * n.div_ceil(side) * batches
    };
    let [of_batches, of_m, of_n, of_k] = [batches, m, n, k].map(|length| length as i64);
    let choice: SplitK = ctx.choose(&SplitKProblem { dtype, batches: of_batches, m: of_m, n: of_n, k: of_k });
    let parts = choice.n_splits(ctx.device_info(), blocks.unwrap_or_else(simple), k);
    if parts < 2 {
        return Ok(false);
    }
    let part = k.div_ceil(parts).next_multiple_of(K_ALIGNMENT);
    let (equal, rest) = (k / part, k % part);
    let mut shape = Shape::from_slice(&[equal + usize::from(rest > 0)]);
    shape.extend_from_slice(batch);
    shape.extend_from_slice(&[m, n]);
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    let dtype = if is_half { DType::F32 } else { dtype };
    // Tiles leave sums of 16-bit floats unrounded; other kernels are given the longer ones.
    let operand = |array: &GpuArray| if blocks.is_some() { Ok(array.clone()) } else { array.to_dtype(dtype) };
    let (a, b) = (operand(a)?, operand(b)?);
    let sums = GpuArray::empty(out.context(), &shape, dtype, Order::C)?;
    shape[0] = equal;
    let stack = &shape[..shape.len() - 2];
    let first = sums.index(&[Index::from(0..equal as isize)])?;
    launch_without_split_k(
        MatmulTarget::new(&first),
        &as_k_slices(&a, 1, stack, part),
        &as_k_slices(&b, 2, stack, part),
        stack,
        [m, n, part],
        has_tiles,
    )?;
    if rest > 0 {
        let terms = Index::from((k - rest) as isize..k as isize);
        let last = sums.index(&[Index::At(equal as isize)])?;
        let (a, b) =
            (a.index(&[Index::Ellipsis, terms])?, b.index(&[Index::Ellipsis, terms, Index::Slice(None, None, None)])?);
        launch_without_split_k(MatmulTarget::new(&last), &a, &b, batch, [m, n, rest], has_tiles)?;
    }
    let total = target.epilogue.map(|epilogue| epilogue.sums_like(out)).transpose()?;
    let into = total.as_ref().unwrap_or(out);
    let options = ReduceOptions { axes: Some(&[0]), dtype: Some(dtype), out: Some(into), ..Default::default() };
    sums.reduce(ReductionOp::Sum, options)?;
    if let (Some(epilogue), Some(total)) = (target.epilogue, &total) {
        epilogue.apply(out, total, target.is_transposed)?;
    }
    Ok(true)
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
