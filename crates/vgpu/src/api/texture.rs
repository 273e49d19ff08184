//! Texture and surface objects.

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions, write_out};
use crate::context::{Context, current, current_alive_context};
use crate::driver::ARRAYS;
use crate::error::{Res, ResultCode, ensure};
use crate::graph::capture;
use crate::texture::registry::{self, TEX_AND_SURF_OBJECTS, TexOrSurfEntry};
use crate::texture::{TexOrSurfObject, Texture, descriptor, format};
use std::sync::Arc;

/// Makes a texture object; also what a texture reference stands for.
pub(crate) fn make_texture(
    context: &Context,
    resource: &CUDA_RESOURCE_DESC,
    texture: &CUDA_TEXTURE_DESC,
    view: Option<&CUDA_RESOURCE_VIEW_DESC>,
) -> Res<u64> {
    format::init_srgb_table();
    let sampler = descriptor::sampler_from_desc(texture)?;
    let mut seen = descriptor::resource_from_desc(resource, texture.flags)?;
    if let Some(view) = view {
        seen = descriptor::apply_resource_view(seen, view, texture.flags)?;
    }
    let entry = TexOrSurfEntry {
        ctx_id: context.id,
        object: TexOrSurfObject::Texture(Texture { resource: seen, sampler }),
        resource: *resource,
        texture: Some(*texture),
        view: view.copied(),
    };
    Ok(TEX_AND_SURF_OBJECTS.insert_with(|_| Arc::new(entry))?.0)
}

/// Makes a surface object over an array that was made for it.
pub(crate) fn make_surface(resource: &CUDA_RESOURCE_DESC) -> Res<u64> {
    let context = current()?;
    ensure(resource.resType == CUresourcetype::CU_RESOURCE_TYPE_ARRAY, ResultCode::INVALID_VALUE)?;
    // SAFETY: the type says that this member was written; all of them are plain numbers.
    let array = ARRAYS.get_object(unsafe { resource.res.array.hArray }.handle_number())?;
    ensure(array.description.Flags & CUDA_ARRAY3D_SURFACE_LDST != 0, ResultCode::INVALID_VALUE)?;
    let seen = descriptor::resource_from_desc(resource, CU_TRSF_READ_AS_INTEGER)?;
    let entry = TexOrSurfEntry {
        ctx_id: context.id,
        object: TexOrSurfObject::Surface(seen),
        resource: *resource,
        texture: None,
        view: None,
    };
    Ok(TEX_AND_SURF_OBJECTS.insert_with(|_| Arc::new(entry))?.0)
}

/// The entry of an object of one kind.
fn object_entry(handle: u64, is_texture: bool) -> Res<Arc<TexOrSurfEntry>> {
    let entry = TEX_AND_SURF_OBJECTS.get_object_or(handle, ResultCode::INVALID_VALUE)?;
    ensure(matches!(entry.object, TexOrSurfObject::Texture(_)) == is_texture, ResultCode::INVALID_VALUE)?;
    Ok(entry)
}

/// The entry of an object of one kind for a question, which wants a current context.
fn queried_object_entry(handle: u64, is_texture: bool) -> Res<Arc<TexOrSurfEntry>> {
    current_alive_context()?;
    object_entry(handle, is_texture)
}

/// Destroys an object for the program; there is none behind null.
fn destroy_object_of_current_context(handle: u64, is_texture: bool) -> Res {
    current_alive_context()?;
    capture::refuse_call_unsafe_in_capture()?;
    if handle == 0 { Ok(()) } else { destroy_object(handle, is_texture) }
}

/// Destroys an object. Kernels that still use it fault.
pub(crate) fn destroy_object(handle: u64, is_texture: bool) -> Res {
    object_entry(handle, is_texture)?;
    TEX_AND_SURF_OBJECTS.remove_object_or(handle, ResultCode::INVALID_VALUE)?;
    registry::invalidate_thread_caches();
    Ok(())
}

driver_functions! {
    fn cuTexObjectCreate(pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC) {
        ensure(!pTexObject.is_null(), ResultCode::INVALID_VALUE)?;
        let resource = pResDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let texture = pTexDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        let context = current()?;
        capture::refuse_call_unsafe_in_capture()?;
        write_out(pTexObject, make_texture(&context, resource, texture, pResViewDesc.as_ref())?)
    }

    fn cuTexObjectDestroy(texObject: CUtexObject) {
        destroy_object_of_current_context(texObject, true)
    }

    fn cuTexObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject) {
        write_out(pResDesc, queried_object_entry(texObject, true)?.resource)
    }

    fn cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject) {
        write_out(pTexDesc, queried_object_entry(texObject, true)?.texture.ok_or(ResultCode::INVALID_VALUE)?)
    }

    fn cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject) {
        write_out(pResViewDesc, queried_object_entry(texObject, true)?.view.ok_or(ResultCode::INVALID_VALUE)?)
    }

    fn cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC) {
        ensure(!pSurfObject.is_null(), ResultCode::INVALID_VALUE)?;
        capture::refuse_call_unsafe_in_capture()?;
        write_out(pSurfObject, make_surface(pResDesc.as_ref().ok_or(ResultCode::INVALID_VALUE)?)?)
    }

    fn cuSurfObjectDestroy(surfObject: CUsurfObject) {
        destroy_object_of_current_context(surfObject, false)
    }

    fn cuSurfObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject) {
        write_out(pResDesc, queried_object_entry(surfObject, false)?.resource)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements: *mut usize, format: CUarray_format, numChannels: c_uint, dev: CUdevice) {
        crate::device::device_by_ordinal(dev)?;
        let is_known = descriptor::channel_bytes(format).is_ok();
        ensure(is_known && matches!(numChannels, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
        write_out(maxWidthInElements, 1 << 28)
    }
}
