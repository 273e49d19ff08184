//! Texture and surface objects: handles that kernels take as arguments.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hidden_captures::between_hidden_captures;
use crate::memory::{Array, MipmappedArray};
use rtcg_cuda_sys::*;
use std::sync::Arc;

/// The memory that a texture reads. The object keeps arrays alive.
#[derive(Clone, Debug)]
pub enum TextureResource {
    /// An array.
    Array(Array),
    /// An array with mip levels.
    Mipmap(MipmappedArray),
    /// Linear memory, for `tex1Dfetch`.
    Linear {
        /// First byte.
        ptr: CUdeviceptr,
        /// Format of a channel.
        format: CUarray_format,
        /// 1, 2 or 4.
        channels: u32,
        /// Size.
        nbytes: usize,
    },
    /// Rows of linear memory.
    Pitch2D {
        /// First byte.
        ptr: CUdeviceptr,
        /// Format of a channel.
        format: CUarray_format,
        /// 1, 2 or 4.
        channels: u32,
        /// Texels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes from a row to the next.
        pitch: usize,
    },
}

impl TextureResource {
    fn resource_desc(&self, call: &'static str) -> Result<CUDA_RESOURCE_DESC> {
        let mut d = CUDA_RESOURCE_DESC::default();
        match self {
            Self::Array(array) => {
                d.resType = CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
                d.res.array = CUDA_RESOURCE_DESC_res_array { hArray: array.handle_if_alive(call)? };
            }
            Self::Mipmap(mipmap) => {
                d.resType = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
                d.res.mipmap = CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray: mipmap.handle_if_alive(call)? };
            }
            &Self::Linear { ptr, format, channels, nbytes } => {
                d.resType = CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
                d.res.linear =
                    CUDA_RESOURCE_DESC_res_linear { devPtr: ptr, format, numChannels: channels, sizeInBytes: nbytes };
            }
            &Self::Pitch2D { ptr, format, channels, width, height, pitch } => {
                d.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
                d.res.pitch2D = CUDA_RESOURCE_DESC_res_pitch2D {
                    devPtr: ptr,
                    format,
                    numChannels: channels,
                    width,
                    height,
                    pitchInBytes: pitch,
                };
            }
        }
        Ok(d)
    }
}

struct TextureInner {
    ctx: Context,
    handle: CUtexObject,
    resource: TextureResource,
}

/// A texture object. Cloning gives another reference to the same object.
#[derive(Clone)]
pub struct TextureObject(Arc<TextureInner>);

impl std::fmt::Debug for TextureObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TextureObject({:#x})", self.0.handle)
    }
}

impl TextureObject {
    /// Creates a texture object in the current context.
    ///
    /// # Safety
    /// Linear memory must be valid for the extent of the resource, as long as kernels use it.
    pub unsafe fn new(resource: TextureResource, texture: &CUDA_TEXTURE_DESC) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let described = resource.resource_desc("cuTexObjectCreate")?;
        let mut handle = 0;
        // SAFETY: one handle is written, two structures are read.
        unsafe {
            call_if_alive!(ctx, cuTexObjectCreate(&raw mut handle, &raw const described, texture, std::ptr::null()))
        }?;
        Ok(Self(Arc::new(TextureInner { ctx, handle, resource })))
    }

    /// The handle that kernels take as `cudaTextureObject_t`.
    pub fn handle(&self) -> CUtexObject {
        self.0.handle
    }

    /// The memory that it reads.
    pub fn resource(&self) -> &TextureResource {
        &self.0.resource
    }
}

impl Drop for TextureInner {
    fn drop(&mut self) {
        // SAFETY: created by this object, and this is the last use: kernels that were launched
        // with it are waited for.
        self.ctx.free_on_drop(|table| unsafe {
            let waited = between_hidden_captures(|| call_driver!(table, cuCtxSynchronize()));
            call_driver!(table, cuTexObjectDestroy(self.handle)).and(waited)
        });
    }
}

struct SurfaceInner {
    ctx: Context,
    handle: CUsurfObject,
    array: Array,
}

/// A surface object. Cloning gives another reference to the same object.
#[derive(Clone)]
pub struct SurfaceObject(Arc<SurfaceInner>);

impl std::fmt::Debug for SurfaceObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SurfaceObject({:#x})", self.0.handle)
    }
}

impl SurfaceObject {
    /// Creates a surface object for an array that was made with `CUDA_ARRAY3D_SURFACE_LDST`.
    pub fn new(array: &Array) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let described = TextureResource::Array(array.clone()).resource_desc("cuSurfObjectCreate")?;
        let mut handle = 0;
        // SAFETY: one handle is written, one structure is read.
        let made = unsafe { call_if_alive!(ctx, cuSurfObjectCreate(&raw mut handle, &raw const described)) };
        made.map_err(|error: Error| match array.descriptor_3d() {
            Ok(d) if d.Flags & CUDA_ARRAY3D_SURFACE_LDST == 0 => {
                error.with_detail("the array was made without the flag SURFACE_LDST")
            }
            _ => error,
        })?;
        Ok(Self(Arc::new(SurfaceInner { ctx, handle, array: array.clone() })))
    }

    /// The handle that kernels take as `cudaSurfaceObject_t`.
    pub fn handle(&self) -> CUsurfObject {
        self.0.handle
    }

    /// The array.
    pub fn array(&self) -> &Array {
        &self.0.array
    }
}

impl Drop for SurfaceInner {
    fn drop(&mut self) {
        // SAFETY: as for textures.
        self.ctx.free_on_drop(|table| unsafe {
            let waited = between_hidden_captures(|| call_driver!(table, cuCtxSynchronize()));
            call_driver!(table, cuSurfObjectDestroy(self.handle)).and(waited)
        });
    }
}
