//! Copies of rectangles and boxes, checked before they are made.

use super::array::ARRAYS;
use super::copy::{
    self, CopyExtent, MemoryLocation, PitchedRange, check_device_range, check_host_range, check_writable,
};
use crate::c_handles::Handle;
use rtcg_cuda_sys::*;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// One side of a copy, as the C structures describe it.
pub(crate) struct CopyEndpoint {
    pub(crate) kind: CUmemorytype,
    pub(crate) host: u64,
    pub(crate) device: u64,
    pub(crate) array: u64,
    pub(crate) origin: [usize; 3],
    pub(crate) pitch: usize,
    pub(crate) height: usize,
    /// The level of detail, which only arrays have.
    pub(crate) level: usize,
}

/// A copy that has been checked.
pub(crate) struct CheckedCopy {
    pub(crate) dst: PitchedRange,
    pub(crate) src: PitchedRange,
    pub(crate) extent: CopyExtent,
    pub(crate) dst_place: MemoryLocation,
    pub(crate) src_place: MemoryLocation,
}

impl CopyEndpoint {
    /// The side's first byte and strides, with its whole reach checked.
    fn check_endpoint(&self, extent: CopyExtent) -> Res<(PitchedRange, MemoryLocation)> {
        let base = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => self.host,
            CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => self.device,
            CUmemorytype::CU_MEMORYTYPE_ARRAY => return self.check_array(extent),
            _ => return ResultCode::INVALID_VALUE.err(),
        };
        let [width, height, _] = extent;
        let [x, y, z] = self.origin.map(|v| v as u64);
        let row = x.checked_add(width).ok_or(ResultCode::INVALID_VALUE)?;
        // A pitch of zero stands for rows without gaps; a height of zero for slices without gaps.
        let pitch = if self.pitch == 0 { row } else { self.pitch as u64 };
        let rows = if self.height == 0 { y.saturating_add(height) } else { self.height as u64 };
        ensure(pitch >= row && rows >= y.saturating_add(height), ResultCode::INVALID_VALUE)?;
        let slice = pitch.checked_mul(rows).ok_or(ResultCode::INVALID_VALUE)?;
        let skip = z.checked_mul(slice).zip(y.checked_mul(pitch)).and_then(|(a, b)| a.checked_add(b)?.checked_add(x));
        let start = skip.and_then(|s| s.checked_add(base)).ok_or(ResultCode::INVALID_VALUE)?;
        let side = PitchedRange { start, pitch, slice };
        let reach = side.touched_bytes(extent)?;
        let place = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_DEVICE => check_device_range(start, reach).map(|()| MemoryLocation::Device)?,
            _ => check_host_range(start, reach)?,
        };
        Ok((side, place))
    }

    /// The same for an array, which has strides of its own.
    fn check_array(&self, extent: CopyExtent) -> Res<(PitchedRange, MemoryLocation)> {
        ensure(self.level == 0, ResultCode::INVALID_VALUE)?;
        let array = ARRAYS.get_object(self.array)?;
        let origin = self.origin.map(|v| v as u64);
        for d in 0..3 {
            let end = origin[d].checked_add(extent[d]).ok_or(ResultCode::INVALID_VALUE)?;
            ensure(end <= array.extents[d], ResultCode::INVALID_VALUE)?;
        }
        let [pitch, rows, _] = array.extents;
        let skip = (origin[2] * rows + origin[1]) * pitch + origin[0];
        Ok((PitchedRange { start: array.start + skip, pitch, slice: pitch * rows }, MemoryLocation::Device))
    }
}

/// Checks both sides of a copy of a box.
macro_rules! check_memcpy_3d {
    ($c:expr) => {{
        let c = $c;
        let dst = $crate::memory::box_copy::CopyEndpoint {
            kind: c.dstMemoryType,
            host: c.dstHost.addr() as u64,
            device: c.dstDevice,
            array: c.dstArray.handle_number(),
            origin: [c.dstXInBytes, c.dstY, c.dstZ],
            pitch: c.dstPitch,
            height: c.dstHeight,
            level: c.dstLOD,
        };
        let src = $crate::memory::box_copy::CopyEndpoint {
            kind: c.srcMemoryType,
            host: c.srcHost.addr() as u64,
            device: c.srcDevice,
            array: c.srcArray.handle_number(),
            origin: [c.srcXInBytes, c.srcY, c.srcZ],
            pitch: c.srcPitch,
            height: c.srcHeight,
            level: c.srcLOD,
        };
        $crate::memory::box_copy::check_copy(&dst, &src, [c.WidthInBytes, c.Height, c.Depth])
    }};
}

pub(crate) use check_memcpy_3d;

pub(crate) fn check_copy(dst: &CopyEndpoint, src: &CopyEndpoint, extent: [usize; 3]) -> Res<Option<CheckedCopy>> {
    if extent.contains(&0) {
        return Ok(None);
    }
    let extent = extent.map(|v| v as u64);
    let (dst, dst_place) = dst.check_endpoint(extent)?;
    let (src, src_place) = src.check_endpoint(extent)?;
    Ok(Some(CheckedCopy { dst, src, extent, dst_place, src_place }))
}

/// What does the copy, any number of times.
pub(crate) fn memcpy_task(checked: &CheckedCopy) -> impl Fn() -> Res + Send + Sync + use<> {
    let CheckedCopy { dst, src, extent, .. } = *checked;
    move || {
        let still = |side: PitchedRange| {
            let live = side.touched_bytes(extent).and_then(|reach| check_host_range(side.start, reach));
            live.map(drop).map_err(|_| {
                ResultCode::ILLEGAL_ADDRESS.with_detail("a copy uses memory that was freed before the copy ran")
            })
        };
        still(dst)?;
        still(src)?;
        check_writable(dst.start, dst.touched_bytes(extent)?)?;
        // SAFETY: reaches in the device window were just found live, others are the caller's promise.
        unsafe { copy::copy_pitched_bytes(dst, src, extent) };
        Ok(())
    }
}

/// A copy of a graph, checked: what does it any number of times. `None` when there is nothing to copy.
pub(crate) fn prepare_memcpy_3d(copy: &CUDA_MEMCPY3D) -> Res<Option<impl Fn() -> Res + Send + Sync + use<>>> {
    let checked = check_memcpy_3d!(copy)?;
    Ok(checked.as_ref().map(memcpy_task))
}
