//! Copies of rectangles and boxes between host and device memory.

use rtcg_cuda_sys::*;

use super::copy::CopyQueue;
use super::{Handle, driver_functions};
use crate::context::by_handle;
use crate::driver::ARRAYS;
use crate::error::{Code, Res, ensure};
use crate::graph::{Action, AssertSend, capture};
use crate::memory::copy::{self, Extent, MemoryLocation, PitchedRange, check_device, check_host};

/// One side of a copy, as the C structures describe it.
struct CopySide {
    kind: CUmemorytype,
    host: u64,
    device: u64,
    array: u64,
    origin: [usize; 3],
    pitch: usize,
    height: usize,
}

/// A copy that has been checked.
struct CheckedCopy {
    dst: PitchedRange,
    src: PitchedRange,
    extent: Extent,
    dst_place: MemoryLocation,
    src_place: MemoryLocation,
}

impl CopySide {
    /// The side's first byte and strides, with its whole reach checked.
    fn check(&self, extent: Extent) -> Res<(PitchedRange, MemoryLocation)> {
        let base = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => self.host,
            CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => self.device,
            CUmemorytype::CU_MEMORYTYPE_ARRAY => return self.check_array(extent),
            _ => return Code::INVALID_VALUE.err(),
        };
        let [width, height, depth] = extent;
        let [x, y, z] = self.origin.map(|v| v as u64);
        let row = x.checked_add(width).ok_or(Code::INVALID_VALUE)?;
        // A pitch of zero stands for rows without gaps; a height of zero for slices without gaps.
        let pitch = if self.pitch == 0 { row } else { self.pitch as u64 };
        let rows = if self.height == 0 { y.saturating_add(height) } else { self.height as u64 };
        ensure(pitch >= row && (depth <= 1 || rows >= y.saturating_add(height)), Code::INVALID_VALUE)?;
        let slice = pitch.checked_mul(rows).ok_or(Code::INVALID_VALUE)?;
        let skip = z.checked_mul(slice).zip(y.checked_mul(pitch)).and_then(|(a, b)| a.checked_add(b)?.checked_add(x));
        let start = skip.and_then(|s| s.checked_add(base)).ok_or(Code::INVALID_VALUE)?;
        let side = PitchedRange { start, pitch, slice };
        let reach = side.touched_bytes(extent)?;
        let place = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_DEVICE => check_device(start, reach).map(|()| MemoryLocation::Device)?,
            _ => check_host(start, reach)?,
        };
        Ok((side, place))
    }

    /// The same for an array, which has strides of its own.
    fn check_array(&self, extent: Extent) -> Res<(PitchedRange, MemoryLocation)> {
        let array = ARRAYS.get(self.array)?;
        let origin = self.origin.map(|v| v as u64);
        for d in 0..3 {
            let end = origin[d].checked_add(extent[d]).ok_or(Code::INVALID_VALUE)?;
            ensure(end <= array.extents[d], Code::INVALID_VALUE)?;
        }
        let [pitch, rows, _] = array.extents;
        let skip = (origin[2] * rows + origin[1]) * pitch + origin[0];
        Ok((PitchedRange { start: array.start + skip, pitch, slice: pitch * rows }, MemoryLocation::Device))
    }
}

macro_rules! sides_3d {
    ($c:expr) => {{
        let c = $c;
        let dst = CopySide {
            kind: c.dstMemoryType,
            host: c.dstHost.addr() as u64,
            device: c.dstDevice,
            array: c.dstArray.number(),
            origin: [c.dstXInBytes, c.dstY, c.dstZ],
            pitch: c.dstPitch,
            height: c.dstHeight,
        };
        let src = CopySide {
            kind: c.srcMemoryType,
            host: c.srcHost.addr() as u64,
            device: c.srcDevice,
            array: c.srcArray.number(),
            origin: [c.srcXInBytes, c.srcY, c.srcZ],
            pitch: c.srcPitch,
            height: c.srcHeight,
        };
        ensure(c.srcLOD == 0 && c.dstLOD == 0, Code::INVALID_VALUE)?;
        check(&dst, &src, [c.WidthInBytes, c.Height, c.Depth])
    }};
}

fn check(dst: &CopySide, src: &CopySide, extent: [usize; 3]) -> Res<Option<CheckedCopy>> {
    if extent.contains(&0) {
        return Ok(None);
    }
    let extent = extent.map(|v| v as u64);
    let (dst, dst_place) = dst.check(extent)?;
    let (src, src_place) = src.check(extent)?;
    Ok(Some(CheckedCopy { dst, src, extent, dst_place, src_place }))
}

fn run(lane: &CopyQueue, checked: Option<CheckedCopy>) -> Res {
    let Some(checked) = checked else { return Ok(()) };
    let work = work_of(&checked);
    let CheckedCopy { extent, dst_place, src_place, .. } = checked;
    let only_device = dst_place == MemoryLocation::Device && src_place == MemoryLocation::Device;
    // Without pageable memory a synchronous copy between device addresses need not wait either,
    // but page-locked host memory must be complete when the call returns.
    if lane.is_async && only_device { lane.on_device(extent.iter().product(), work) } else { lane.at_once(work) }
}

/// What does the copy, any number of times.
fn work_of(checked: &CheckedCopy) -> impl Fn() -> Res + Send + Sync + use<> {
    let CheckedCopy { dst, src, extent, .. } = *checked;
    move || {
        let still = |side: PitchedRange| {
            let live = side.touched_bytes(extent).and_then(|reach| check_host(side.start, reach));
            live.map(drop)
                .map_err(|_| Code::ILLEGAL_ADDRESS.because("a copy uses memory that was freed before the copy ran"))
        };
        still(dst)?;
        still(src)?;
        // SAFETY: reaches in the device window were just found live, others are the caller's promise.
        unsafe { copy::copy_box(dst, src, extent) };
        Ok(())
    }
}

/// A copy of a graph, checked: what does it any number of times. `None` when there is nothing to copy.
pub(crate) fn prepare_3d(copy: &CUDA_MEMCPY3D) -> Res<Option<impl Fn() -> Res + Send + Sync + use<>>> {
    let checked = sides_3d!(copy)?;
    Ok(checked.as_ref().map(work_of))
}

/// A copy between two dimensions as one of a graph.
fn as_3d(c: &CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: c.srcXInBytes,
        srcY: c.srcY,
        srcMemoryType: c.srcMemoryType,
        srcHost: c.srcHost,
        srcDevice: c.srcDevice,
        srcArray: c.srcArray,
        srcPitch: c.srcPitch,
        dstXInBytes: c.dstXInBytes,
        dstY: c.dstY,
        dstMemoryType: c.dstMemoryType,
        dstHost: c.dstHost,
        dstDevice: c.dstDevice,
        dstArray: c.dstArray,
        dstPitch: c.dstPitch,
        WidthInBytes: c.WidthInBytes,
        Height: c.Height,
        Depth: 1,
        ..Default::default()
    }
}

fn sides_2d(c: &CUDA_MEMCPY2D) -> (CopySide, CopySide, [usize; 3]) {
    let dst = CopySide {
        kind: c.dstMemoryType,
        host: c.dstHost.addr() as u64,
        device: c.dstDevice,
        array: c.dstArray.number(),
        origin: [c.dstXInBytes, c.dstY, 0],
        pitch: c.dstPitch,
        height: 0,
    };
    let src = CopySide {
        kind: c.srcMemoryType,
        host: c.srcHost.addr() as u64,
        device: c.srcDevice,
        array: c.srcArray.number(),
        origin: [c.srcXInBytes, c.srcY, 0],
        pitch: c.srcPitch,
        height: 0,
    };
    (dst, src, [c.WidthInBytes, c.Height, 1])
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_2d(lane: &CopyQueue, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    if capture::intercept(&lane.stream, || Ok(Action::Copy(AssertSend(as_3d(copy)))))? {
        return Ok(());
    }
    let (dst, src, extent) = sides_2d(copy);
    run(lane, check(&dst, &src, extent)?)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    let checked = sides_3d!(copy)?;
    if capture::intercept(&lane.stream, || Ok(Action::Copy(AssertSend(*copy))))? {
        return Ok(());
    }
    run(lane, checked)
}

/// # Safety
/// `copy` is null or valid.
unsafe fn copy_3d_peer(lane: &CopyQueue, copy: *const CUDA_MEMCPY3D_PEER) -> Res {
    // SAFETY: this function's contract.
    let copy = unsafe { copy.as_ref() }.ok_or(Code::INVALID_VALUE)?;
    for context in [copy.srcContext, copy.dstContext] {
        by_handle(context.number())?.check()?;
    }
    capture::refuse(&lane.stream)?;
    run(lane, sides_3d!(copy)?)
}

driver_functions! {
    fn cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous()?, pCopy)
    }

    fn cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D) {
        copy_2d(&CopyQueue::synchronous()?, pCopy)
    }

    fn cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) {
        copy_2d(&CopyQueue::of(hStream)?, pCopy)
    }

    fn cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D) {
        copy_3d(&CopyQueue::synchronous()?, pCopy)
    }

    fn cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        copy_3d(&CopyQueue::of(hStream)?, pCopy)
    }

    fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) {
        copy_3d_peer(&CopyQueue::synchronous()?, pCopy)
    }

    fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) {
        copy_3d_peer(&CopyQueue::of(hStream)?, pCopy)
    }
}
