//! Commands that read, write, copy, fill and map.

use super::{BIG, E, KB, N, Rows, World};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

fn memory(world: &World, flags: cl_mem_flags) -> cl_mem {
    let mut code = 1;
    let buffer = cl!(clCreateBuffer(world.setup.context, flags, KB, null_mut(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    buffer
}

pub(super) fn buffers(rows: &mut Rows, world: &World) {
    let World { buffer, part, image, foreign, failed, .. } = world;
    let (b, p, q, host) = (*buffer, *part, world.setup.queue, world.pointer());
    let other_queue = world.other.queue;
    let no = cl_mem::NULL;
    let hidden = memory(world, CL_MEM_HOST_NO_ACCESS);
    let written = memory(world, CL_MEM_HOST_WRITE_ONLY);
    let read = memory(world, CL_MEM_HOST_READ_ONLY);
    row!(rows, "no buffer", CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(q, no, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "an image", CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(q, *image, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueReadBuffer(q, *foreign, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueReadBuffer(other_queue, b, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "too long", CL_INVALID_VALUE, clEnqueueReadBuffer(q, b, CL_TRUE, 8, KB, host, 0, N, E));
    row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueReadBuffer(q, b, CL_TRUE, 8, BIG - 7, host, 0, N, E));
    row!(rows, "longer than a part", CL_INVALID_VALUE, clEnqueueReadBuffer(q, p, CL_TRUE, 0, 257, host, 0, N, E));
    row!(rows, "null", CL_INVALID_VALUE, clEnqueueReadBuffer(q, b, CL_TRUE, 0, 8, null_mut(), 0, N, E));
    row!(rows, "access", CL_INVALID_OPERATION, clEnqueueReadBuffer(q, hidden, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "access", CL_INVALID_OPERATION, clEnqueueReadBuffer(q, written, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "wait list", CL_INVALID_EVENT_WAIT_LIST, clEnqueueReadBuffer(q, b, CL_TRUE, 0, 8, host, 1, N, E));
    let after = &raw const *failed;
    row!(
        rows,
        "a failure",
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        clEnqueueReadBuffer(q, b, CL_TRUE, 0, 8, host, 1, after, E)
    );
    // A command that is not waited for is enqueued all the same; its event has the failure.
    row!(rows, "a failure", CL_SUCCESS, clEnqueueReadBuffer(q, b, CL_FALSE, 0, 8, host, 1, after, E));
    row!(rows, "too long", CL_INVALID_VALUE, clEnqueueWriteBuffer(q, b, CL_TRUE, 8, KB, host, 0, N, E));
    row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueWriteBuffer(q, b, CL_TRUE, BIG, 8, host, 0, N, E));
    row!(rows, "null", CL_INVALID_VALUE, clEnqueueWriteBuffer(q, b, CL_TRUE, 0, 8, null(), 0, N, E));
    row!(rows, "access", CL_INVALID_OPERATION, clEnqueueWriteBuffer(q, hidden, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "access", CL_INVALID_OPERATION, clEnqueueWriteBuffer(q, read, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueWriteBuffer(q, *foreign, CL_TRUE, 0, 8, host, 0, N, E));
    row!(rows, "no source", CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(q, no, b, 0, 0, 8, 0, N, E));
    row!(rows, "no target", CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(q, b, no, 0, 0, 8, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueCopyBuffer(q, b, *foreign, 0, 0, 8, 0, N, E));
    row!(rows, "source", CL_INVALID_VALUE, clEnqueueCopyBuffer(q, b, p, KB, 0, 1, 0, N, E));
    row!(rows, "target", CL_INVALID_VALUE, clEnqueueCopyBuffer(q, b, p, 0, 250, 8, 0, N, E));
    row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueCopyBuffer(q, b, p, 1, 0, BIG, 0, N, E));
    row!(rows, "overlap", CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(q, b, b, 0, 8, 16, 0, N, E));
    row!(rows, "overlap with a part", CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(q, b, p, 120, 0, 16, 0, N, E));
    row!(rows, "no pattern", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, null(), 4, 0, 8, 0, N, E));
    row!(rows, "pattern", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 3, 0, 9, 0, N, E));
    row!(rows, "pattern", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 0, 0, 8, 0, N, E));
    row!(rows, "pattern", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 256, 0, 256, 0, N, E));
    row!(rows, "offset", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 4, 2, 8, 0, N, E));
    row!(rows, "size", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 4, 0, 6, 0, N, E));
    row!(rows, "too long", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 4, 0, KB + 4, 0, N, E));
    row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueFillBuffer(q, b, host, 4, 8, BIG - 7, 0, N, E));
    let all = [b, *foreign];
    row!(rows, "none", CL_INVALID_VALUE, clEnqueueMigrateMemObjects(q, 0, all.as_ptr(), 0, 0, N, E));
    row!(rows, "no list", CL_INVALID_VALUE, clEnqueueMigrateMemObjects(q, 1, null(), 0, 0, N, E));
    row!(rows, "flags", CL_INVALID_VALUE, clEnqueueMigrateMemObjects(q, 1, all.as_ptr(), 4, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueMigrateMemObjects(q, 2, all.as_ptr(), 0, 0, N, E));
    row!(rows, "no object", CL_INVALID_MEM_OBJECT, clEnqueueMigrateMemObjects(q, 1, &raw const no, 0, 0, N, E));
    let (r, w) = (CL_MAP_READ, CL_MAP_WRITE);
    object_row!(rows, "no size", CL_INVALID_VALUE, clEnqueueMapBuffer(q, b, CL_TRUE, r, 0, 0, 0, N, E));
    object_row!(rows, "too long", CL_INVALID_VALUE, clEnqueueMapBuffer(q, b, CL_TRUE, r, 8, KB, 0, N, E));
    object_row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueMapBuffer(q, b, CL_TRUE, r, 8, BIG, 0, N, E));
    object_row!(rows, "flags", CL_INVALID_VALUE, clEnqueueMapBuffer(q, b, CL_TRUE, 8, 0, 8, 0, N, E));
    let both = w | CL_MAP_WRITE_INVALIDATE_REGION;
    object_row!(rows, "flags", CL_INVALID_VALUE, clEnqueueMapBuffer(q, b, CL_TRUE, both, 0, 8, 0, N, E));
    object_row!(rows, "access", CL_INVALID_OPERATION, clEnqueueMapBuffer(q, hidden, CL_TRUE, r, 0, 8, 0, N, E));
    object_row!(rows, "access", CL_INVALID_OPERATION, clEnqueueMapBuffer(q, read, CL_TRUE, w, 0, 8, 0, N, E));
    object_row!(rows, "access", CL_INVALID_OPERATION, clEnqueueMapBuffer(q, written, CL_TRUE, r, 0, 8, 0, N, E));
    object_row!(rows, "no buffer", CL_INVALID_MEM_OBJECT, clEnqueueMapBuffer(q, no, CL_TRUE, r, 0, 8, 0, N, E));
    object_row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueMapBuffer(q, *foreign, CL_TRUE, r, 0, 8, 0, N, E));
    let mut count = 9;
    object_row!(
        rows,
        "a failure",
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        clEnqueueMapBuffer(q, b, CL_TRUE, r, 0, 8, 1, after, E)
    );
    let at = (&raw mut count).cast();
    assert_eq!(cl!(clGetMemObjectInfo(b, CL_MEM_MAP_COUNT, 4, at, null_mut())), CL_SUCCESS);
    assert_eq!(count, 0u32, "a map that failed is none");
    row!(rows, "not mapped", CL_INVALID_VALUE, clEnqueueUnmapMemObject(q, b, host, 0, N, E));
    row!(rows, "no object", CL_INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(q, no, host, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueUnmapMemObject(q, *foreign, host, 0, N, E));
    for buffer in [hidden, written, read] {
        assert_eq!(cl!(clReleaseMemObject(buffer)), CL_SUCCESS);
    }
}

pub(super) fn rectangles(rows: &mut Rows, world: &World) {
    let World { buffer, part, foreign, .. } = world;
    let (b, p, q, host) = (*buffer, *part, world.setup.queue, world.pointer());
    let list = |x: usize, y: usize, z: usize| [x, y, z];
    let (o, r, empty, wide) = (list(0, 0, 0), list(8, 4, 2), list(8, 0, 1), list(2048, 1, 1));
    let (far, high, huge) = (list(BIG, 0, 0), list(0, BIG, 0), list(8, BIG / 4, 1));
    let (o, r, empty, wide) = (o.as_ptr(), r.as_ptr(), empty.as_ptr(), wide.as_ptr());
    let (far, high, huge) = (far.as_ptr(), high.as_ptr(), huge.as_ptr());
    macro_rules! both {
        ($what:literal, $expected:ident, $($arg:expr),*) => {
            row!(rows, $what, $expected, clEnqueueReadBufferRect(q, $($arg),*, 0, N, E));
            row!(rows, $what, $expected, clEnqueueWriteBufferRect(q, $($arg),*, 0, N, E));
        };
    }
    both!("no origin", CL_INVALID_VALUE, b, CL_TRUE, null(), o, r, 0, 0, 0, 0, host);
    both!("no host origin", CL_INVALID_VALUE, b, CL_TRUE, o, null(), r, 0, 0, 0, 0, host);
    both!("no region", CL_INVALID_VALUE, b, CL_TRUE, o, o, null(), 0, 0, 0, 0, host);
    both!("no rows", CL_INVALID_VALUE, b, CL_TRUE, o, o, empty, 0, 0, 0, 0, host);
    both!("too wide", CL_INVALID_VALUE, b, CL_TRUE, o, o, wide, 0, 0, 0, 0, host);
    both!("a short row pitch", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 7, 0, 0, 0, host);
    both!("a short host row pitch", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 0, 0, 7, 0, host);
    both!("a short slice pitch", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 8, 24, 0, 0, host);
    both!("an uneven slice pitch", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 8, 36, 0, 0, host);
    both!("an uneven host slice pitch", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 0, 0, 8, 36, host);
    both!("null", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 0, 0, 0, 0, null_mut());
    both!("context", CL_INVALID_CONTEXT, *foreign, CL_TRUE, o, o, r, 0, 0, 0, 0, host);
    both!("an origin beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, far, o, r, 0, 0, 0, 0, host);
    both!("an origin of rows beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, high, o, r, 0, 0, 0, 0, host);
    both!("a host origin beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, o, far, r, 0, 0, 0, 0, host);
    both!("rows beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, o, o, huge, 0, 0, 0, 0, host);
    both!("pitches beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, BIG / 2, 0, 0, 0, host);
    both!("host pitches beyond size_t", CL_INVALID_VALUE, b, CL_TRUE, o, o, r, 0, 0, 0, BIG & !7, host);
    let (next, slices) = (list(4, 1, 0), list(8, 4, 1));
    let (next, one) = (next.as_ptr(), slices.as_ptr());
    row!(rows, "overlap", CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(q, b, b, o, next, one, 16, 0, 16, 0, 0, N, E));
    let before_part = list(124, 0, 0);
    let at = before_part.as_ptr();
    for pitch in [16, 32] {
        row!(
            rows,
            "overlap with a part",
            CL_MEM_COPY_OVERLAP,
            clEnqueueCopyBufferRect(q, b, p, at, o, one, 16, 0, pitch, 0, 0, N, E)
        );
    }
    row!(rows, "pitches", CL_INVALID_VALUE, clEnqueueCopyBufferRect(q, b, b, o, next, one, 16, 0, 32, 0, 0, N, E));
    row!(rows, "source", CL_INVALID_VALUE, clEnqueueCopyBufferRect(q, b, b, far, o, one, 16, 0, 16, 0, 0, N, E));
    row!(rows, "target", CL_INVALID_VALUE, clEnqueueCopyBufferRect(q, b, b, o, high, one, 16, 0, 16, 0, 0, N, E));
    row!(rows, "no region", CL_INVALID_VALUE, clEnqueueCopyBufferRect(q, b, b, o, o, null(), 0, 0, 0, 0, 0, N, E));
    row!(rows, "context", CL_INVALID_CONTEXT, clEnqueueCopyBufferRect(q, b, *foreign, o, o, one, 0, 0, 0, 0, 0, N, E));
}

pub(super) fn image_transfers(rows: &mut Rows, world: &World) {
    let World { buffer, image, .. } = world;
    let (b, i, q, host) = (*buffer, *image, world.setup.queue, world.pointer());
    let list = |x: usize, y: usize, z: usize| [x, y, z];
    let (o, r, far, empty) = (list(0, 0, 0), list(8, 8, 1), list(BIG, 0, 0), list(8, 0, 1));
    let (o, r, far, empty) = (o.as_ptr(), r.as_ptr(), far.as_ptr(), empty.as_ptr());
    let deep = list(8, 8, 2);
    let deep = deep.as_ptr();
    macro_rules! both {
        ($what:literal, $expected:ident, $($arg:expr),*) => {
            row!(rows, $what, $expected, clEnqueueReadImage(q, $($arg),*, 0, N, E));
            row!(rows, $what, $expected, clEnqueueWriteImage(q, $($arg),*, 0, N, E));
        };
    }
    both!("a buffer", CL_INVALID_MEM_OBJECT, b, CL_TRUE, o, r, 0, 0, host);
    both!("no origin", CL_INVALID_VALUE, i, CL_TRUE, null(), r, 0, 0, host);
    both!("no region", CL_INVALID_VALUE, i, CL_TRUE, o, null(), 0, 0, host);
    both!("no rows", CL_INVALID_VALUE, i, CL_TRUE, o, empty, 0, 0, host);
    both!("slices", CL_INVALID_VALUE, i, CL_TRUE, o, deep, 0, 0, host);
    both!("beyond size_t", CL_INVALID_VALUE, i, CL_TRUE, far, r, 0, 0, host);
    both!("null", CL_INVALID_VALUE, i, CL_TRUE, o, r, 0, 0, null_mut());
    both!("a short pitch", CL_INVALID_VALUE, i, CL_TRUE, o, r, 31, 0, host);
    both!("a slice pitch", CL_INVALID_VALUE, i, CL_TRUE, o, r, 32, 256, host);
    both!("a pitch beyond size_t", CL_INVALID_VALUE, i, CL_TRUE, o, r, BIG / 2, 0, host);
    row!(rows, "a buffer", CL_INVALID_MEM_OBJECT, clEnqueueCopyImage(q, b, i, o, o, r, 0, N, E));
    row!(rows, "overlap", CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(q, i, i, o, o, r, 0, N, E));
    row!(rows, "outside", CL_INVALID_VALUE, clEnqueueCopyImage(q, i, i, far, o, r, 0, N, E));
    let format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_FLOAT };
    let context = world.setup.context;
    let other = cl!(clCreateImage2D(context, 0, &raw const format, 8, 8, 0, null_mut(), null_mut()));
    row!(rows, "formats", CL_IMAGE_FORMAT_MISMATCH, clEnqueueCopyImage(q, i, other, o, o, r, 0, N, E));
    assert_eq!(cl!(clReleaseMemObject(other)), CL_SUCCESS);
    row!(rows, "an image", CL_INVALID_MEM_OBJECT, clEnqueueCopyImageToBuffer(q, i, i, o, r, 0, 0, N, E));
    row!(rows, "too long", CL_INVALID_VALUE, clEnqueueCopyImageToBuffer(q, i, b, o, r, KB - 255, 0, N, E));
    row!(rows, "beyond size_t", CL_INVALID_VALUE, clEnqueueCopyImageToBuffer(q, i, b, o, r, BIG, 0, N, E));
    row!(rows, "an image", CL_INVALID_MEM_OBJECT, clEnqueueCopyBufferToImage(q, i, i, 0, o, r, 0, N, E));
    row!(rows, "too long", CL_INVALID_VALUE, clEnqueueCopyBufferToImage(q, b, i, KB - 255, o, r, 0, N, E));
    row!(rows, "outside", CL_INVALID_VALUE, clEnqueueCopyBufferToImage(q, b, i, 0, far, r, 0, N, E));
    row!(rows, "no colour", CL_INVALID_VALUE, clEnqueueFillImage(q, i, null(), o, r, 0, N, E));
    row!(rows, "a buffer", CL_INVALID_MEM_OBJECT, clEnqueueFillImage(q, b, host, o, r, 0, N, E));
    row!(rows, "outside", CL_INVALID_VALUE, clEnqueueFillImage(q, i, host, far, r, 0, N, E));
    let mut pitch = 0usize;
    let (p, none) = (&raw mut pitch, null_mut());
    let read = CL_MAP_READ;
    object_row!(rows, "no pitch", CL_INVALID_VALUE, clEnqueueMapImage(q, i, CL_TRUE, read, o, r, none, none, 0, N, E));
    object_row!(rows, "outside", CL_INVALID_VALUE, clEnqueueMapImage(q, i, CL_TRUE, read, far, r, p, none, 0, N, E));
    object_row!(rows, "flags", CL_INVALID_VALUE, clEnqueueMapImage(q, i, CL_TRUE, 8, o, r, p, none, 0, N, E));
    object_row!(rows, "buffer", CL_INVALID_MEM_OBJECT, clEnqueueMapImage(q, b, CL_TRUE, read, o, r, p, none, 0, N, E));
}

pub(super) fn shared_memory(rows: &mut Rows, world: &World) {
    let (q, host) = (world.setup.queue, world.pointer());
    let memory = cl!(clSVMAlloc(world.setup.context, CL_MEM_READ_WRITE, KB, 0));
    let (mut list, none) = ([memory], null_mut());
    let list = list.as_mut_ptr();
    row!(rows, "no list", CL_INVALID_VALUE, clEnqueueSVMFree(q, 1, null_mut(), None, none, 0, N, E));
    row!(rows, "no pointers", CL_INVALID_VALUE, clEnqueueSVMFree(q, 0, list, None, none, 0, N, E));
    row!(rows, "no target", CL_INVALID_VALUE, clEnqueueSVMMemcpy(q, CL_TRUE, none, memory, 8, 0, N, E));
    row!(rows, "no source", CL_INVALID_VALUE, clEnqueueSVMMemcpy(q, CL_TRUE, memory, none, 8, 0, N, E));
    let next = memory.wrapping_byte_add(8);
    row!(rows, "overlap", CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(q, CL_TRUE, memory, next, 16, 0, N, E));
    row!(rows, "null", CL_INVALID_VALUE, clEnqueueSVMMemFill(q, none, host, 4, 8, 0, N, E));
    row!(rows, "no pattern", CL_INVALID_VALUE, clEnqueueSVMMemFill(q, memory, null(), 4, 8, 0, N, E));
    row!(rows, "pattern", CL_INVALID_VALUE, clEnqueueSVMMemFill(q, memory, host, 3, 9, 0, N, E));
    row!(rows, "size", CL_INVALID_VALUE, clEnqueueSVMMemFill(q, memory, host, 4, 9, 0, N, E));
    row!(rows, "alignment", CL_INVALID_VALUE, clEnqueueSVMMemFill(q, next, host, 16, 16, 0, N, E));
    row!(rows, "null", CL_INVALID_VALUE, clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, none, 8, 0, N, E));
    row!(rows, "no size", CL_INVALID_VALUE, clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, memory, 0, 0, N, E));
    row!(rows, "flags", CL_INVALID_VALUE, clEnqueueSVMMap(q, CL_TRUE, 8, memory, 8, 0, N, E));
    row!(rows, "null", CL_INVALID_VALUE, clEnqueueSVMUnmap(q, none, 0, N, E));
    let list = list.cast();
    row!(rows, "none", CL_INVALID_VALUE, clEnqueueSVMMigrateMem(q, 0, list, null(), 0, 0, N, E));
    row!(rows, "flags", CL_INVALID_VALUE, clEnqueueSVMMigrateMem(q, 1, list, null(), 4, 0, N, E));
    let size = KB + 1;
    row!(rows, "size", CL_INVALID_VALUE, clEnqueueSVMMigrateMem(q, 1, list, &raw const size, 0, 0, N, E));
    let mut own: *const c_void = host;
    row!(rows, "not allocated", CL_INVALID_VALUE, clEnqueueSVMMigrateMem(q, 1, &raw mut own, null(), 0, 0, N, E));
    cl!(clSVMFree(world.setup.context, memory));
}
