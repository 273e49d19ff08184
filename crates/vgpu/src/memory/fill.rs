//! Fills of memory, checked before they are made.

use super::copy::{self, FillValue, PitchedRange, check_device_range, check_writable};
use rtcg_cuda_sys::CUDA_MEMSET_NODE_PARAMS;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// A memset of a graph, checked: what does it any number of times.
pub(crate) fn prepare_memset_node(p: &CUDA_MEMSET_NODE_PARAMS) -> Res<impl Fn() -> Res + Send + Sync + use<>> {
    let element = match p.elementSize {
        1 => FillValue::D8(p.value as u8),
        2 => FillValue::D16(p.value as u16),
        4 => FillValue::D32(p.value),
        _ => return ResultCode::INVALID_VALUE.err(),
    };
    ensure(p.width > 0 && p.height > 0, ResultCode::INVALID_VALUE)?;
    let bytes = (p.width as u64).checked_mul(element.element_bytes()).ok_or(ResultCode::INVALID_VALUE)?;
    let pitch = if p.height == 1 { bytes } else { p.pitch as u64 };
    let aligned = p.dst.is_multiple_of(element.element_bytes()) && pitch.is_multiple_of(element.element_bytes());
    ensure(aligned && pitch >= bytes, ResultCode::INVALID_VALUE)?;
    let side = PitchedRange { start: p.dst, pitch, slice: 0 };
    let reach = side.touched_bytes([bytes, p.height as u64, 1])?;
    check_device_range(p.dst, reach)?;
    Ok(memset_task(side, reach, element, p.width, p.height))
}

pub(crate) fn memset_task(
    side: PitchedRange,
    reach: u64,
    element: FillValue,
    width: usize,
    height: usize,
) -> impl Fn() -> Res + Send + Sync + 'static {
    let start = side.start;
    move || {
        check_device_range(start, reach).map_err(|_| {
            ResultCode::ILLEGAL_ADDRESS.with_detail("a memset uses memory that was freed before it ran")
        })?;
        check_writable(start, reach)?;
        // SAFETY: the reach was just found live, alignment was checked above.
        unsafe { copy::fill_rows(side, element, width as u64, height as u64) };
        Ok(())
    }
}
