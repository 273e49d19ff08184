//! Interoperation with OpenGL: buffer objects as device memory.
//!
//! A registered buffer has device memory of its own. Mapping copies the buffer's contents there,
//! unmapping copies them back, unless the flags say that one of the two is not wanted. Both need
//! the OpenGL context on the calling thread, as with a real device. Images are not supported.

use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::Mutex;

use rtcg_cuda_sys::*;

use super::memory::free_after_pending_work;
use super::{Handle, driver_functions, unsupported_feature, write_out, write_out_if_not_null};
use crate::driver::stream_and_context;
use crate::memory::heap::MemoryKind;
use crate::opengl;
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};

static GRAPHICS_RESOURCES: HandleTable<GraphicsResource> = HandleTable::new(0x34);

const READ_ONLY: c_uint = 1;
const WRITE_DISCARD: c_uint = 2;

/// A registered buffer object.
struct GraphicsResource {
    buffer: c_uint,
    memory: u64,
    size: usize,
    state: Mutex<MappingState>,
}

struct MappingState {
    flags: c_uint,
    is_mapped: bool,
}

impl GraphicsResource {
    fn register_gl_buffer(buffer: c_uint, flags: c_uint) -> Res<GraphicsResource> {
        ensure(flags <= READ_ONLY | WRITE_DISCARD, ResultCode::INVALID_VALUE)?;
        let size = opengl::buffer_size(buffer)?;
        // A buffer without memory still has an address.
        let memory = current()?.alloc_with_retry(size.max(1), MemoryKind::Device, 0, 0)?.start;
        Ok(GraphicsResource { buffer, memory, size, state: Mutex::new(MappingState { flags, is_mapped: false }) })
    }

    fn map(&self) -> Res {
        let mut state = self.state.lock().ignore_poison();
        ensure(!state.is_mapped, ResultCode::ALREADY_MAPPED)?;
        let now = opengl::buffer_size(self.buffer)?;
        if now != self.size {
            let text = format!("the buffer object had {} bytes when it was registered and now has {now}", self.size);
            return Err(ResultCode::INVALID_VALUE.with_detail(text));
        }
        if state.flags & WRITE_DISCARD == 0 && self.size > 0 {
            // SAFETY: the memory has the buffer's size, and nobody uses it while it is not mapped.
            unsafe { opengl::read_buffer(self.buffer, self.memory as *mut u8, self.size)? };
        }
        state.is_mapped = true;
        Ok(())
    }

    fn unmap(&self) -> Res {
        let mut state = self.state.lock().ignore_poison();
        ensure(state.is_mapped, ResultCode::NOT_MAPPED)?;
        if state.flags & READ_ONLY == 0 && self.size > 0 {
            // SAFETY: as for `map`; the work that used the memory has ended.
            unsafe { opengl::write_buffer(self.buffer, self.memory as *const u8, self.size)? };
        }
        state.is_mapped = false;
        Ok(())
    }
}

/// The resources of a list.
///
/// # Safety
/// `list` is null or has `count` elements.
unsafe fn resources_from_list(count: c_uint, list: *const CUgraphicsResource) -> Res<Vec<Arc<GraphicsResource>>> {
    ensure(count > 0 && !list.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    (0..count as usize).map(|i| GRAPHICS_RESOURCES.get_object(unsafe { *list.add(i) }.handle_number())).collect()
}

fn mapped_resource(resource: CUgraphicsResource) -> Res<Arc<GraphicsResource>> {
    let found = GRAPHICS_RESOURCES.get_object(resource.handle_number())?;
    ensure(found.state.lock().ignore_poison().is_mapped, ResultCode::NOT_MAPPED)?;
    Ok(found)
}

driver_functions! {
    fn cuGLInit() {
        opengl::check_gl_context_is_current()
    }

    fn cuGLGetDevices(pCudaDeviceCount: *mut c_uint, pCudaDevices: *mut CUdevice, cudaDeviceCount: c_uint, deviceList: CUGLDeviceList) {
        let _ = deviceList;
        opengl::check_gl_context_is_current()?;
        // Every virtual device reaches what the processor draws.
        let count = crate::device::virtual_devices().len().min(cudaDeviceCount as usize);
        for i in 0..count {
            write_out(pCudaDevices.wrapping_add(i), i as CUdevice)?;
        }
        write_out_if_not_null(pCudaDeviceCount, count as c_uint);
        Ok(())
    }

    fn cuGraphicsGLRegisterBuffer(pCudaResource: *mut CUgraphicsResource, buffer: GLuint, Flags: c_uint) {
        ensure(!pCudaResource.is_null(), ResultCode::INVALID_VALUE)?;
        let resource = Arc::new(GraphicsResource::register_gl_buffer(buffer, Flags)?);
        let (handle, _) = GRAPHICS_RESOURCES.insert_with(|_| resource)?;
        write_out(pCudaResource, CUgraphicsResource::from_handle_number(handle))
    }

    fn cuGraphicsGLRegisterImage(pCudaResource: *mut CUgraphicsResource, image: GLuint, target: GLenum, Flags: c_uint) {
        let _ = (pCudaResource, image, target, Flags);
        Err(unsupported_feature("OpenGL images (textures and renderbuffers)"))
    }

    fn cuGraphicsUnregisterResource(resource: CUgraphicsResource) {
        let resource = GRAPHICS_RESOURCES.remove_object(resource.handle_number())?;
        free_after_pending_work(resource.memory, &[MemoryKind::Device])
    }

    fn cuGraphicsResourceSetMapFlags(resource: CUgraphicsResource, flags: c_uint) {
        ensure(flags <= READ_ONLY | WRITE_DISCARD, ResultCode::INVALID_VALUE)?;
        let resource = GRAPHICS_RESOURCES.get_object(resource.handle_number())?;
        let mut state = resource.state.lock().ignore_poison();
        ensure(!state.is_mapped, ResultCode::ALREADY_MAPPED)?;
        state.flags = flags;
        Ok(())
    }

    fn cuGraphicsMapResources(count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream) {
        stream_and_context(hStream.handle_number())?;
        self::resources_from_list(count, resources)?.iter().try_for_each(|resource| resource.map())
    }

    fn cuGraphicsUnmapResources(count: c_uint, resources: *mut CUgraphicsResource, hStream: CUstream) {
        let (context, stream) = stream_and_context(hStream.handle_number())?;
        // What the stream still does with the memory comes before the copy back.
        context.wait_for_all_streams([stream.last_submitted_point()])?;
        self::resources_from_list(count, resources)?.iter().try_for_each(|resource| resource.unmap())
    }

    fn cuGraphicsResourceGetMappedPointer(pDevPtr: *mut CUdeviceptr, pSize: *mut usize, resource: CUgraphicsResource) {
        let resource = mapped_resource(resource)?;
        write_out_if_not_null(pSize, resource.size);
        write_out(pDevPtr, resource.memory)
    }

    fn cuGraphicsSubResourceGetMappedArray(pArray: *mut CUarray, resource: CUgraphicsResource, arrayIndex: c_uint, mipLevel: c_uint) {
        let _ = (pArray, arrayIndex, mipLevel);
        mapped_resource(resource)?;
        ResultCode::NOT_MAPPED_AS_ARRAY.err()
    }
}
