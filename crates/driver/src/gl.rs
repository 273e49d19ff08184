//! OpenGL interoperability: OpenGL buffer objects and images as device memory and arrays.
//!
//! The OpenGL context must be current on the thread that registers, maps and unmaps; this module does not create one.
//! On the virtual GPU, buffer objects are copied and images are refused.

use crate::context::Context;
use crate::context::Device;
use crate::context::loaded_drivers;
use crate::error::{Error, Result};
use crate::flags::{GraphicsMapFlags, GraphicsRegisterFlags};
use crate::memory::Array;
use crate::stream::{Stream, checked_stream_handle};
use rtcg_cuda_sys::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process can use OpenGL with CUDA: a driver in use has the functions, and the machine has an OpenGL
/// library.
pub fn is_available() -> bool {
    let tables = loaded_drivers::drivers_if_initialized().map(|d| d.tables.clone()).unwrap_or_default();
    tables.iter().any(|table| table.has_function(DriverFn::cuGraphicsGLRegisterBuffer))
        && installations::can_load_opengl()
}

/// The devices that drive the OpenGL context of the calling thread.
pub fn devices() -> Result<Vec<Device>> {
    let mut last = None;
    for table in loaded_drivers::initialized_drivers("cuGLGetDevices")?.tables.clone() {
        let (mut count, mut handles) = (0, [0; 64]);
        // SAFETY: at most as many handles are written as there is room for.
        let found = unsafe {
            let out = (&raw mut count, handles.as_mut_ptr());
            call_driver!(table, cuGLGetDevices(out.0, out.1, 64, CU_GL_DEVICE_LIST_ALL))
        };
        match found {
            Ok(()) => return handles[..count as usize].iter().map(|&h| Device::from_handle(table, h)).collect(),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| Error::new("cuGLGetDevices", CUresult::CUDA_ERROR_NO_DEVICE, "")))
}

struct RegisteredObjectInner {
    ctx: Context,
    handle: CUgraphicsResource,
    name: u32,
    gone: AtomicBool,
}

/// A registered buffer object or image. Cloning gives another reference to it; dropping the last one unregisters it.
#[derive(Clone)]
pub struct RegisteredObject(Arc<RegisteredObjectInner>);

impl std::fmt::Debug for RegisteredObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegisteredObject(OpenGL {})", self.0.name)
    }
}

impl RegisteredObject {
    fn register_gl_object(
        call: &'static str,
        name: u32,
        ask: impl FnOnce(&DriverTable, *mut CUgraphicsResource) -> CUresult,
    ) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let mut handle = CUgraphicsResource::null();
        ctx.with_current_locked(|| match ask(ctx.driver_table(), &raw mut handle) {
            code if code.is_success() => Ok(()),
            code => Err(Error::from_failed_call(ctx.driver_table(), call, code)),
        })?;
        Ok(Self(Arc::new(RegisteredObjectInner { ctx, handle, name, gone: AtomicBool::new(false) })))
    }

    /// Registers a buffer object; `flags` say how CUDA will use it.
    pub fn register_buffer(buffer: u32, flags: impl Into<GraphicsRegisterFlags>) -> Result<Self> {
        let GraphicsRegisterFlags(flags) = flags.into();
        // SAFETY: one handle is written; the driver checks the name.
        Self::register_gl_object("cuGraphicsGLRegisterBuffer", buffer, |table, out| unsafe {
            table.cuGraphicsGLRegisterBuffer(out, buffer, flags)
        })
    }

    /// Registers a texture or renderbuffer; `target` is its OpenGL target.
    pub fn register_image(image: u32, target: u32, flags: impl Into<GraphicsRegisterFlags>) -> Result<Self> {
        let GraphicsRegisterFlags(flags) = flags.into();
        // SAFETY: one handle is written; the driver checks the name.
        Self::register_gl_object("cuGraphicsGLRegisterImage", image, |table, out| unsafe {
            table.cuGraphicsGLRegisterImage(out, image, target, flags)
        })
    }

    /// The OpenGL name of the object.
    pub fn gl_handle(&self) -> u32 {
        self.0.name
    }

    fn handle_if_alive(&self, call: &'static str) -> Result<CUgraphicsResource> {
        if self.0.gone.load(Ordering::Acquire) {
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "the object was unregistered"));
        }
        Ok(self.0.handle)
    }

    /// Sets how kernels will use the memory.
    pub fn set_map_flags(&self, flags: impl Into<GraphicsMapFlags>) -> Result<()> {
        let GraphicsMapFlags(flags) = flags.into();
        let handle = self.handle_if_alive("cuGraphicsResourceSetMapFlags")?;
        // SAFETY: the resource is registered.
        unsafe { call_if_alive!(self.0.ctx, cuGraphicsResourceSetMapFlags(handle, flags)) }
    }

    /// Maps the object for CUDA. Work submitted to `stream` afterwards may use it.
    pub fn map(&self, stream: Option<&Stream>) -> Result<RegisteredMapping> {
        let mut handle = self.handle_if_alive("cuGraphicsMapResources")?;
        let queue = checked_stream_handle("cuGraphicsMapResources", self.0.ctx.driver_table(), stream)?;
        // SAFETY: the resource is registered, the stream belongs to the same driver.
        unsafe { call_if_alive!(self.0.ctx, cuGraphicsMapResources(1, &raw mut handle, queue)) }?;
        Ok(RegisteredMapping { object: self.clone(), stream: stream.cloned(), is_mapped: AtomicBool::new(true) })
    }

    /// Unregisters the object, once; OpenGL keeps the object itself.
    pub fn unregister(&self) -> Result<()> {
        let handle = self.handle_if_alive("cuGraphicsUnregisterResource")?;
        self.0.gone.store(true, Ordering::Release);
        // SAFETY: registered, and by the flag never used again.
        self.0.ctx.free_in_context(|table| unsafe { call_driver!(table, cuGraphicsUnregisterResource(handle)) })
    }
}

impl Drop for RegisteredObjectInner {
    fn drop(&mut self) {
        if !self.gone.load(Ordering::Acquire) {
            // SAFETY: registered, and this is the last use.
            self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuGraphicsUnregisterResource(self.handle)) });
        }
    }
}

/// A mapped object. Dropping it returns the object to OpenGL.
#[derive(Debug)]
pub struct RegisteredMapping {
    object: RegisteredObject,
    stream: Option<Stream>,
    is_mapped: AtomicBool,
}

impl RegisteredMapping {
    fn handle_if_alive(&self, call: &'static str) -> Result<CUgraphicsResource> {
        if !self.is_mapped.load(Ordering::Acquire) {
            return Err(Error::new(call, CUresult::CUDA_ERROR_NOT_MAPPED, "it was unmapped"));
        }
        self.object.handle_if_alive(call)
    }

    /// Address and size in bytes of a buffer object.
    pub fn device_ptr_and_size(&self) -> Result<(CUdeviceptr, usize)> {
        let handle = self.handle_if_alive("cuGraphicsResourceGetMappedPointer")?;
        let (mut ptr, mut nbytes) = (0, 0);
        let out = (&raw mut ptr, &raw mut nbytes);
        // SAFETY: the resource is mapped; a pointer and a size are written.
        unsafe { call_if_alive!(self.object.0.ctx, cuGraphicsResourceGetMappedPointer(out.0, out.1, handle)) }?;
        Ok((ptr, nbytes))
    }

    /// The array of a layer or face and a mip level of an image.
    ///
    /// # Safety
    /// The array must not be used after the mapping has ended.
    pub unsafe fn mapped_array(&self, index: u32, level: u32) -> Result<Array> {
        let handle = self.handle_if_alive("cuGraphicsSubResourceGetMappedArray")?;
        let mut array = CUarray::null();
        let out = &raw mut array;
        // SAFETY: the resource is mapped; one handle is written.
        unsafe { call_if_alive!(self.object.0.ctx, cuGraphicsSubResourceGetMappedArray(out, handle, index, level)) }?;
        // SAFETY: this function's contract; the array belongs to the resource's context.
        self.object.0.ctx.with_current(|| unsafe { Array::from_external(array) })
    }

    /// Returns the object to OpenGL after the work of `stream`, by default the stream of the mapping.
    pub fn unmap(&self, stream: Option<&Stream>) -> Result<()> {
        let mut handle = self.handle_if_alive("cuGraphicsUnmapResources")?;
        let ctx = &self.object.0.ctx;
        let queue =
            checked_stream_handle("cuGraphicsUnmapResources", ctx.driver_table(), stream.or(self.stream.as_ref()))?;
        // SAFETY: the resource is mapped, the stream belongs to the same driver.
        unsafe { call_if_alive!(ctx, cuGraphicsUnmapResources(1, &raw mut handle, queue)) }?;
        self.is_mapped.store(false, Ordering::Release);
        Ok(())
    }
}

impl Drop for RegisteredMapping {
    fn drop(&mut self) {
        let Ok(mut handle) = self.handle_if_alive("cuGraphicsUnmapResources") else { return };
        let ctx = &self.object.0.ctx;
        let queue = checked_stream_handle("cuGraphicsUnmapResources", ctx.driver_table(), self.stream.as_ref())
            .unwrap_or_default();
        // SAFETY: the resource is mapped, and this is the last use of the mapping.
        ctx.free_on_drop(|table| unsafe { call_driver!(table, cuGraphicsUnmapResources(1, &raw mut handle, queue)) });
    }
}
