//! Contiguous copies, in C order, of arrays with gaps for kernels that index memory linearly. What the kernel may have
//! written is copied back, all in the order of the queue.

use super::operand::{ArrayView, GeneratedKernelArg};
use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_hal::{ArrayBuffer, ArrayContext, DType, Result};
use std::any::Any;
use std::sync::Arc;

/// Whether a kernel can index the array as it lies.
pub(super) fn is_dense(view: &ArrayView<'_>) -> bool {
    view.is_c_contiguous() || view.is_f_contiguous()
}

/// Memory of somebody who holds it and records its uses.
struct BorrowedBuffer(u64);

impl ArrayBuffer for BorrowedBuffer {
    fn device_ptr(&self) -> u64 {
        self.0
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// A contiguous copy of an array.
struct DenseCopy {
    /// The argument that the array is, perhaps not the only one.
    at: usize,
    original: GpuArray,
    copy: GpuArray,
    address: u64,
    is_written: bool,
}

impl DenseCopy {
    fn new(ctx: &Arc<ArrayContext>, at: usize, view: &ArrayView<'_>) -> Result<Self> {
        let elements = DType::Void(view.itemsize as u32);
        let original = GpuArray::from_buffer(ctx, Some(Arc::new(BorrowedBuffer(view.ptr))), view.layout(), elements);
        let copy = original.copy(Some(Order::C))?;
        let address = copy.buffer().map_or(Ok(0), |buffer| buffer.address_recording_use())?;
        Ok(Self { at, original, copy, address, is_written: false })
    }
}

/// Calls `body` with contiguous arrays in place of those with gaps. Those at which `is_written` holds are copied back.
/// One array that is given twice has one copy.
pub(super) fn run_with_dense_copies(
    ctx: &Arc<ArrayContext>,
    args: &[GeneratedKernelArg<'_>],
    is_written: impl Fn(usize) -> bool,
    body: impl FnOnce(&[GeneratedKernelArg<'_>]) -> Result<()>,
) -> Result<()> {
    let mut copies: Vec<DenseCopy> = Vec::new();
    let mut places = vec![None; args.len()];
    for (at, view) in args.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_array()?))) {
        if is_dense(view) {
            continue;
        }
        let place = copies.iter().position(|copy| args[copy.at].as_array() == Some(view)).unwrap_or(copies.len());
        if place == copies.len() {
            copies.push(DenseCopy::new(ctx, at, view)?);
        }
        copies[place].is_written |= is_written(at);
        places[at] = Some(place);
    }
    let mut dense: Vec<GeneratedKernelArg<'_>> = args.to_vec();
    for (value, place) in dense.iter_mut().zip(&places) {
        let (GeneratedKernelArg::Array(view), Some(place)) = (value, *place) else { continue };
        let DenseCopy { copy, address, .. } = &copies[place];
        (view.ptr, view.strides) = (*address, copy.strides());
        view.owner = copy.buffer().map(From::from).unwrap_or_default();
    }
    body(&dense)?;
    for DenseCopy { at, original, copy, is_written, .. } in &copies {
        if *is_written {
            original.assign(copy)?;
        }
        if let Some(view) = args[*at].as_array() {
            view.record_use();
        }
    }
    Ok(())
}

/// [`run_with_dense_copies`] of one array that is written.
pub(super) fn run_with_dense_output(
    ctx: &Arc<ArrayContext>,
    out: &ArrayView<'_>,
    body: impl FnOnce(&ArrayView<'_>) -> Result<()>,
) -> Result<()> {
    out.check_writable("out")?;
    run_with_dense_copies(
        ctx,
        &[GeneratedKernelArg::Array(*out)],
        |_| true,
        |args| body(args[0].as_array().unwrap_or(out)),
    )
}
