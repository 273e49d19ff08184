//! Matrix products.

mod skinny;
mod split_k;
mod tiles;

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::PackedKernelArgs;
use crate::layout::{Layout, Order, PythonTuple, Shape, broadcast_shapes};
use rtcg_codegen::DType;
use rtcg_codegen::array::{MATMUL_BLOCK_SIDE, MATMUL_TILE_SIDE, SimpleMatmul};

/// Rows that fill so little of a tall tile that the transposed product takes less time.
const MAX_ROWS_TO_TRANSPOSE: usize = 16;

impl GpuArray {
    /// The matrix product by NumPy's rules: the last two axes are matrices, earlier ones are
    /// broadcast, and an operand of one axis is a row or a column that does not stay.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn matmul(&self, other: &GpuArray) -> Result<GpuArray> {
        if self.ndim() == 0 || other.ndim() == 0 {
            return Err(ArrayError::value_error(format!(
                "matmul: operands of shapes {} and {} were given; expected at least one axis each; use multiply for scalars",
                PythonTuple(self.shape()),
                PythonTuple(other.shape())
            )));
        }
        let (row, column) = (self.ndim() == 1, other.ndim() == 1);
        let a = if row { self.expand_dims(&[0])? } else { self.clone() };
        let b = if column { other.expand_dims(&[1])? } else { other.clone() };
        let product = matmul_matrices(self, other, &a, &b)?;
        let mut shape: Shape = product.shape().into();
        if column {
            shape.pop();
        }
        if row {
            shape.remove(shape.len() - if column { 1 } else { 2 });
        }
        product.reshape_to(&shape, Order::C)
    }
}

fn matmul_matrices(x: &GpuArray, y: &GpuArray, a: &GpuArray, b: &GpuArray) -> Result<GpuArray> {
    x.check_context(y)?;
    [x, y].into_iter().try_for_each(GpuArray::check_memory)?;
    let mismatch = || {
        ArrayError::value_error(format!(
            "matmul: operands of shapes {} and {} do not fit: the last axis of the first must be as long as the last \
             but one of the second, and the others must broadcast",
            PythonTuple(x.shape()),
            PythonTuple(y.shape())
        ))
    };
    let ([.., m, k], [.., k2, n]) = (a.shape(), b.shape()) else { return Err(mismatch()) };
    let (m, n, k) = (*m, *n, *k);
    let (a_batch, b_batch) = (&a.shape()[..a.ndim() - 2], &b.shape()[..b.ndim() - 2]);
    let batch = broadcast_shapes([a_batch, b_batch].into_iter()).filter(|_| k == *k2).ok_or_else(mismatch)?;
    let dtype = x.dtype().promote(y.dtype());
    if matches!(dtype, DType::Void(_)) {
        return Err(ArrayError::type_error("matmul of records is not supported"));
    }
    let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
    let mut shape = batch.clone();
    shape.extend_from_slice(&[m, n]);
    let out = GpuArray::empty(x.context(), &shape, dtype, Order::C)?;
    if out.size() == 0 {
        return Ok(out);
    }
    if k == 0 {
        out.memset_zero()?;
        return Ok(out);
    }
    launch_matmul(&out, &a, &b, &batch, [m, n, k])?;
    Ok(out)
}

fn launch_matmul(out: &GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], [m, n, k]: [usize; 3]) -> Result<()> {
    if skinny::try_launch_skinny(out, a, b, batch, [m, n, k])? {
        return Ok(());
    }
    if tiles::prefers_tall_tiles(out.context().device_info(), out.dtype())
        && m <= MAX_ROWS_TO_TRANSPOSE
        && n > MAX_ROWS_TO_TRANSPOSE
    {
        let mut shape = Shape::from_slice(batch);
        shape.extend_from_slice(&[n, m]);
        let transposed = GpuArray::empty(out.context(), &shape, out.dtype(), Order::C)?;
        launch_matmul(&transposed, &b.swapaxes(-1, -2)?, &a.swapaxes(-1, -2)?, batch, [n, m, k])?;
        return out.assign(&transposed.swapaxes(-1, -2)?);
    }
    if split_k::try_launch_split_k(out, a, b, batch, [m, n, k])? {
        return Ok(());
    }
    launch_without_split_k(out, a, b, batch, [m, n, k])
}

/// The product by tiles, each of which has all terms.
fn launch_without_split_k(
    out: &GpuArray,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    [m, n, k]: [usize; 3],
) -> Result<()> {
    if tiles::try_launch_tiled(out, a, b, batch, [m, n, k])? {
        return Ok(());
    }
    let ctx = out.context();
    let batches: usize = batch.iter().product();
    let offsets = if batches > 1 { Some(batch_offsets(out, a, b, batch, batches)?) } else { None };
    let strides = |array: &GpuArray| {
        let last = array.ndim() - 1;
        [array.strides()[last - 1] as i64, array.strides()[last] as i64]
    };
    let mut args = PackedKernelArgs::new();
    [out.first_element_address(), a.first_element_address(), b.first_element_address(), m as u64, n as u64, k as u64]
        .iter()
        .for_each(|&n| args.push_u64(n));
    strides(a).iter().chain(&strides(b)).for_each(|&stride| args.push_i64(stride));
    args.push_u64(batches as u64);
    args.push_u64(offsets.as_ref().map_or(0, GpuArray::first_element_address));
    let tiles = |length: usize| length.div_ceil(MATMUL_TILE_SIDE).min(65535) as u32;
    if m.div_ceil(MATMUL_TILE_SIDE) > 65535 {
        return Err(ArrayError::value_error(format!(
            "matmul: {m} rows are more than the {} that are supported",
            65535 * MATMUL_TILE_SIDE
        )));
    }
    let kernel = SimpleMatmul { dtype: out.dtype(), unroll: ctx.device_info().vector_bytes as u8 };
    let compiled = ctx.compiled_kernel(&kernel)?;
    let columns = n.div_ceil(MATMUL_TILE_SIDE) as u32;
    compiled.launch(
        [columns, tiles(m), batches.min(65535) as u32],
        [MATMUL_BLOCK_SIDE, MATMUL_BLOCK_SIDE, 1],
        0,
        args.packed_bytes(),
    )
}

/// The axes before those of the matrices, broadcast.
fn batch_layout(array: &GpuArray, batch: &[usize]) -> Result<Layout> {
    let kept = array.ndim() - 2;
    let layout = Layout { shape: array.shape()[..kept].into(), strides: array.strides()[..kept].into(), offset: 0 };
    layout.broadcast_to(batch)
}

/// The byte offsets of both operands' matrices for every batch.
fn batch_offsets(out: &GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], batches: usize) -> Result<GpuArray> {
    let layouts = [batch_layout(a, batch)?, batch_layout(b, batch)?];
    let mut bytes = Vec::with_capacity(batches * 16);
    for flat in 0..batches {
        for layout in &layouts {
            let (mut rest, mut offset) = (flat, 0i64);
            for axis in (0..batch.len()).rev() {
                offset += (rest % batch[axis]) as i64 * layout.strides[axis] as i64;
                rest /= batch[axis];
            }
            bytes.extend_from_slice(&offset.to_ne_bytes());
        }
    }
    let offsets = GpuArray::empty(out.context(), &[batches, 2], DType::I64, Order::C)?;
    offsets.write(&bytes, Order::C)?;
    Ok(offsets)
}
