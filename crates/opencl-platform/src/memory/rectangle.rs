//! Rectangular regions: of buffers, and between buffers and host memory.

use super::transfer::{HostMemory, check_host_reads, check_host_writes};
use super::{MemBody, resolve_buffer};
use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::error::{ClError, Result, code_of, refuse};
use crate::object::{Ref, resolve};
use rtcg_driver::memory::memcpy_3d_async;
use rtcg_driver::sys::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_MEMCPY3D};
use rtcg_driver::{CUdeviceptr, Stream};
use rtcg_opencl_sys::*;
use std::sync::Arc;

/// Where a region lies in a linear memory: its first byte, and the bytes from row to row and from slice to slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) offset: usize,
    pub(crate) row_pitch: usize,
    pub(crate) slice_pitch: usize,
}

/// Width in bytes, rows, slices.
pub(crate) type Region = [usize; 3];

/// One side of a copy: an object of the context, which the command retains, or memory of the program's.
pub(crate) enum Side {
    Object(Ref<MemBody>),
    Host(HostMemory),
}

/// Three numbers of the user's.
///
/// # Safety
/// `list` is null or has three numbers.
pub(crate) unsafe fn read_triple(name: &str, list: *const usize) -> Result<[usize; 3]> {
    if list.is_null() {
        return ClError::value(format!("{name} is null"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { *list.cast() })
}

impl Layout {
    /// Pitches of 0 are those of a dense region.
    pub(crate) fn new(
        name: &str,
        origin: [usize; 3],
        region: Region,
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Result<Self> {
        if region.contains(&0) {
            return ClError::value(format!("region: {region:?}, expected no 0"));
        }
        let row = if row_pitch == 0 { region[0] } else { row_pitch };
        // Beyond size_t nothing is held.
        let plane = row.checked_mul(region[1]);
        let slice = if slice_pitch == 0 { plane.unwrap_or(0) } else { slice_pitch };
        if row < region[0] || plane.is_none_or(|plane| slice < plane) || !slice.is_multiple_of(row) {
            let why =
                format!("{name}_row_pitch, {name}_slice_pitch: {row_pitch}, {slice_pitch} do not hold {region:?}");
            return ClError::value(why);
        }
        let offset = linear(origin, row, slice);
        let layout = offset.map(|offset| Self { offset, row_pitch: row, slice_pitch: slice });
        match layout.filter(|layout| layout.end(region).is_some()) {
            Some(layout) => Ok(layout),
            None => ClError::value(format!("{name}_origin, region: {region:?} at {origin:?} ends beyond size_t")),
        }
    }

    /// The end of a region, unless it is beyond `size_t`.
    pub(crate) fn end(&self, region: Region) -> Option<usize> {
        linear([region[0], region[1] - 1, region[2] - 1], self.row_pitch, self.slice_pitch)?.checked_add(self.offset)
    }
}

/// Whether two regions of one memory have a byte in common: rows of one that meet a row of the other.
fn overlap(a: Layout, b: Layout, region: Region) -> bool {
    let [width, rows, slices] = region;
    let ends = [a, b].map(|layout| layout.end(region).unwrap_or(usize::MAX));
    if ends[0] <= b.offset || ends[1] <= a.offset {
        return false;
    }
    // The row of b that begins last before an address, or at it, and the next one.
    let meets = |address: usize| {
        let before = address.saturating_sub(b.offset);
        let near = |at: usize, pitch: usize, count: usize| (at / pitch).min(count - 1)..(at / pitch + 2).min(count);
        near(before, b.slice_pitch, slices).any(|slice| {
            let in_slice = before.saturating_sub(slice * b.slice_pitch);
            near(in_slice, b.row_pitch, rows)
                .any(|row| (b.offset + slice * b.slice_pitch + row * b.row_pitch).abs_diff(address) < width)
        })
    };
    (0..slices).any(|slice| (0..rows).any(|row| meets(a.offset + slice * a.slice_pitch + row * a.row_pitch)))
}

/// Bytes before a place; the first number counts bytes.
fn linear(place: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Option<usize> {
    let [of_rows, of_slices] = [place[1].checked_mul(row_pitch)?, place[2].checked_mul(slice_pitch)?];
    place[0].checked_add(of_rows)?.checked_add(of_slices)
}

/// Copies a region.
///
/// # Safety
/// Both sides have the region until the stream has come so far.
pub(crate) unsafe fn copy_region(
    (from, source): (&Side, Layout),
    (to, target): (&Side, Layout),
    region: Region,
    stream: &Stream,
) -> Result<()> {
    let is_whole = |layout: Layout| layout.slice_pitch.is_multiple_of(layout.row_pitch);
    if region[2] > 1 && !(is_whole(source) && is_whole(target)) {
        // The driver counts slices in rows.
        for slice in 0..region[2] {
            let at = |layout: Layout| Layout { offset: layout.offset + slice * layout.slice_pitch, ..layout };
            // SAFETY: the caller's promise.
            unsafe { copy_region((from, at(source)), (to, at(target)), [region[0], region[1], 1], stream) }?;
        }
        return Ok(());
    }
    // SAFETY: all-zero is a valid description.
    let mut copy: CUDA_MEMCPY3D = unsafe { std::mem::zeroed() };
    copy.WidthInBytes = region[0];
    copy.Height = region[1];
    copy.Depth = region[2];
    copy.srcPitch = source.row_pitch;
    copy.srcHeight = (source.slice_pitch / source.row_pitch).max(region[1]);
    copy.dstPitch = target.row_pitch;
    copy.dstHeight = (target.slice_pitch / target.row_pitch).max(region[1]);
    match from {
        Side::Object(memory) => {
            copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = memory.address() + source.offset as CUdeviceptr;
        }
        Side::Host(memory) => {
            copy.srcMemoryType = CU_MEMORYTYPE_HOST;
            copy.srcHost = memory.address().wrapping_add(source.offset).cast();
        }
    }
    match to {
        Side::Object(memory) => {
            copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
            copy.dstDevice = memory.address() + target.offset as CUdeviceptr;
        }
        Side::Host(memory) => {
            copy.dstMemoryType = CU_MEMORYTYPE_HOST;
            copy.dstHost = memory.address().wrapping_add(target.offset).cast();
        }
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { memcpy_3d_async(&copy, Some(stream)) }?)
}

/// Enqueues the copy of a region.
///
/// # Safety
/// Both sides have the region until the command has ended, and `wanted` is of a call whose event may be written.
pub(crate) unsafe fn enqueue_copy(
    queue: &Ref<QueueBody>,
    command: cl_command_type,
    (from, source): (Side, Layout),
    (to, target): (Side, Layout),
    region: Region,
    wanted: Wanted,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let work = move |stream: &Stream| unsafe { copy_region((&from, source), (&to, target), region, stream) };
    // SAFETY: the caller's promise.
    unsafe { QueueBody::enqueue(queue, command, wanted, StreamCommand(work)) }
}

fn check_inside(name: &str, buffer: &Ref<MemBody>, layout: Layout, region: Region) -> Result<()> {
    let end = layout.end(region).unwrap_or(usize::MAX);
    buffer.check_range(name, layout.offset, end - layout.offset)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueReadBufferRect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let buffer = resolve_buffer(buffer, &queue.context)?;
        let region = read_triple("region", region)?;
        let on_device = Layout::new(
            "buffer",
            read_triple("buffer_origin", buffer_origin)?,
            region,
            buffer_row_pitch,
            buffer_slice_pitch,
        )?;
        let on_host =
            Layout::new("host", read_triple("host_origin", host_origin)?, region, host_row_pitch, host_slice_pitch)?;
        check_inside("buffer_origin, region", &buffer, on_device, region)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_reads(&buffer)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_read);
        let (from, to) = ((Side::Object(buffer), on_device), (Side::Host(HostMemory(ptr.cast())), on_host));
        enqueue_copy(&queue, CL_COMMAND_READ_BUFFER_RECT, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueWriteBufferRect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let buffer = resolve_buffer(buffer, &queue.context)?;
        let region = read_triple("region", region)?;
        let on_device = Layout::new(
            "buffer",
            read_triple("buffer_origin", buffer_origin)?,
            region,
            buffer_row_pitch,
            buffer_slice_pitch,
        )?;
        let on_host =
            Layout::new("host", read_triple("host_origin", host_origin)?, region, host_row_pitch, host_slice_pitch)?;
        check_inside("buffer_origin, region", &buffer, on_device, region)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_writes(&buffer)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_write);
        let (from, to) = ((Side::Host(HostMemory(ptr.cast_mut().cast())), on_host), (Side::Object(buffer), on_device));
        enqueue_copy(&queue, CL_COMMAND_WRITE_BUFFER_RECT, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueCopyBufferRect(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let (from, to) = (resolve_buffer(src_buffer, &queue.context)?, resolve_buffer(dst_buffer, &queue.context)?);
        let region = read_triple("region", region)?;
        let (src_origin, dst_origin) = (read_triple("src_origin", src_origin)?, read_triple("dst_origin", dst_origin)?);
        let source = Layout::new("src", src_origin, region, src_row_pitch, src_slice_pitch)?;
        let target = Layout::new("dst", dst_origin, region, dst_row_pitch, dst_slice_pitch)?;
        check_inside("src_origin, region", &from, source, region)?;
        check_inside("dst_origin, region", &to, target, region)?;
        if from.is(&to) && (source.row_pitch, source.slice_pitch) != (target.row_pitch, target.slice_pitch) {
            return ClError::value("src_row_pitch, dst_row_pitch: within one buffer the pitches are the same");
        }
        let within = |memory: &MemBody, layout: Layout| Layout { offset: memory.origin + layout.offset, ..layout };
        if Arc::ptr_eq(&from.storage, &to.storage) && overlap(within(&from, source), within(&to, target), region) {
            return refuse(CL_MEM_COPY_OVERLAP, "src_origin, dst_origin: the regions overlap");
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let (from, to) = ((Side::Object(from), source), (Side::Object(to), target));
        enqueue_copy(&queue, CL_COMMAND_COPY_BUFFER_RECT, from, to, region, wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(layout: Layout, [width, rows, slices]: Region) -> Vec<usize> {
        let starts = (0..slices).flat_map(|z| (0..rows).map(move |y| (y, z)));
        starts
            .flat_map(|(y, z)| {
                (0..width).map(move |x| layout.offset + x + y * layout.row_pitch + z * layout.slice_pitch)
            })
            .collect()
    }

    #[test]
    fn regions_overlap_where_they_share_bytes() {
        let mut state = 1u32;
        let mut below = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % n) as usize
        };
        let mut found = [0; 2];
        for _ in 0..20_000 {
            let region = [1 + below(4), 1 + below(4), 1 + below(3)];
            let mut layout = || {
                let row_pitch = region[0] + below(4);
                let slice_pitch = row_pitch * (region[1] + below(3));
                Layout { offset: below(60), row_pitch, slice_pitch }
            };
            let (a, b) = (layout(), layout());
            let of_b = bytes(b, region);
            let expected = bytes(a, region).iter().any(|byte| of_b.contains(byte));
            assert_eq!(overlap(a, b, region), expected, "{a:?} {b:?} {region:?}");
            found[usize::from(expected)] += 1;
        }
        assert!(found.iter().all(|count| *count > 2000), "{found:?}");
    }
}
