//! Reading, writing, copying, filling and mapping of images.

use super::image::{ImageBody, resolve_image};
use super::map::map_region;
use super::rectangle::{Layout, Region, Side, enqueue_copy, read_triple};
use super::transfer::{HostMemory, check_host_reads, check_host_writes, fill};
use super::{MemBody, resolve_buffer};
use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::StreamCommand;
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::object::{Ref, resolve};
use rtcg_driver::{CUdeviceptr, Stream};
use rtcg_opencl_sys::*;

fn image_of(memory: &Ref<MemBody>) -> &ImageBody {
    memory.image.as_deref().expect("images only are resolved as images")
}

/// The layout of a region of an image.
///
/// # Safety
/// The lists are null or have three numbers.
unsafe fn place(image: &Ref<MemBody>, origin: *const usize, region: *const usize) -> Result<(Layout, Region)> {
    // SAFETY: the caller's promise.
    unsafe { image_of(image).place(read_triple("origin", origin)?, read_triple("region", region)?) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueReadImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_read: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let image = resolve_image(image, &queue.context)?;
        let (layout, region) = place(&image, origin, region)?;
        let on_host = image_of(&image).host_layout(region, row_pitch, slice_pitch)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_reads(&image)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_read);
        let (from, to) = ((Side::Object(image), layout), (Side::Host(HostMemory(ptr.cast())), on_host));
        enqueue_copy(&queue, CL_COMMAND_READ_IMAGE, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueWriteImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_write: cl_bool,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let image = resolve_image(image, &queue.context)?;
        let (layout, region) = place(&image, origin, region)?;
        let on_host = image_of(&image).host_layout(region, input_row_pitch, input_slice_pitch)?;
        if ptr.is_null() {
            return ClError::value("ptr is null");
        }
        check_host_writes(&image)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_write);
        let (from, to) = ((Side::Host(HostMemory(ptr.cast_mut().cast())), on_host), (Side::Object(image), layout));
        enqueue_copy(&queue, CL_COMMAND_WRITE_IMAGE, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueCopyImage(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let (from, to) = (resolve_image(src_image, &queue.context)?, resolve_image(dst_image, &queue.context)?);
        if image_of(&from).format != image_of(&to).format {
            let why = format!("src_image, dst_image: {:?} and {:?}", image_of(&from).format, image_of(&to).format);
            return refuse(CL_IMAGE_FORMAT_MISMATCH, why);
        }
        let ((source, bytes), (target, _)) = (place(&from, src_origin, region)?, place(&to, dst_origin, region)?);
        let (starts, ends) = (read_triple("src_origin", src_origin)?, read_triple("dst_origin", dst_origin)?);
        let region = read_triple("region", region)?;
        if from.is(&to) && (0..3).all(|axis| starts[axis].abs_diff(ends[axis]) < region[axis]) {
            return refuse(CL_MEM_COPY_OVERLAP, "src_origin, dst_origin: the regions overlap");
        }
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let (from, to) = ((Side::Object(from), source), (Side::Object(to), target));
        enqueue_copy(&queue, CL_COMMAND_COPY_IMAGE, from, to, bytes, wanted)
    })
}

/// A dense region in a buffer.
fn in_buffer(buffer: &Ref<MemBody>, name: &str, offset: usize, region: Region) -> Result<Layout> {
    buffer.check_range(name, offset, region.iter().product())?;
    Ok(Layout { offset, row_pitch: region[0], slice_pitch: region[0] * region[1] })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueCopyImageToBuffer(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let (from, to) = (resolve_image(src_image, &queue.context)?, resolve_buffer(dst_buffer, &queue.context)?);
        let (source, region) = place(&from, src_origin, region)?;
        let target = in_buffer(&to, "dst_offset, region", dst_offset, region)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let (from, to) = ((Side::Object(from), source), (Side::Object(to), target));
        enqueue_copy(&queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueCopyBufferToImage(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let (from, to) = (resolve_buffer(src_buffer, &queue.context)?, resolve_image(dst_image, &queue.context)?);
        let (target, region) = place(&to, dst_origin, region)?;
        let source = in_buffer(&from, "src_offset, region", src_offset, region)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let (from, to) = ((Side::Object(from), source), (Side::Object(to), target));
        enqueue_copy(&queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, from, to, region, wanted)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueFillImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let memory = resolve_image(image, &queue.context)?;
        let image = image_of(&memory);
        let (layout, region) = place(&memory, origin, region)?;
        if fill_color.is_null() {
            return ClError::value("fill_color is null");
        }
        let color = if image.format.image_channel_order == CL_DEPTH {
            [fill_color.cast::<u32>().read_unaligned(); 4]
        } else {
            fill_color.cast::<[u32; 4]>().read_unaligned()
        };
        let pixel = image.pixels.pixel(image.format.image_channel_data_type, color);
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let work = move |stream: &Stream| {
            let first = memory.address() + layout.offset as CUdeviceptr;
            // Rows, and slices, that follow each other without gaps are filled at once.
            let [mut width, mut rows, mut slices] = region;
            if width == layout.row_pitch {
                (width, rows) = (width * rows, 1);
                if width == layout.slice_pitch {
                    (width, slices) = (width * slices, 1);
                }
            }
            for slice in 0..slices {
                for row in 0..rows {
                    let to = first + (slice * layout.slice_pitch + row * layout.row_pitch) as CUdeviceptr;
                    fill(to, &pixel, width, stream)?;
                }
            }
            Ok(())
        };
        QueueBody::enqueue(&queue, CL_COMMAND_FILL_IMAGE, wanted, StreamCommand(work))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMapImage(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, std::ptr::null_mut(), || {
            let queue = resolve::<QueueBody>(command_queue)?;
            let image = resolve_image(image, &queue.context)?;
            let (layout, region) = place(&image, origin, region)?;
            let (has_slices, kind) = (image_of(&image).has_slices(), image.kind);
            if image_row_pitch.is_null() || (image_slice_pitch.is_null() && has_slices) {
                return ClError::value("image_row_pitch, image_slice_pitch: one is null");
            }
            let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?.blocking(blocking_map);
            let (pointer, mapped) = map_region(&queue, image, map_flags, layout, region, CL_COMMAND_MAP_IMAGE, wanted)?;
            *image_row_pitch = mapped.row_pitch;
            if !image_slice_pitch.is_null() {
                // Layers of an array of lines are its rows.
                let of_layers = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { mapped.row_pitch } else { mapped.slice_pitch };
                *image_slice_pitch = if has_slices { of_layers } else { 0 };
            }
            Ok(pointer)
        })
    }
}
