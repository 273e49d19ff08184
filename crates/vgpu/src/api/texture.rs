//! Texture and surface objects.

use rtcg_cuda_sys::*;

use super::{driver_functions, write_out};
use crate::graph::capture;
use crate::resource::texture_descriptor as descriptor;
use crate::resource::texture_object::{
    ObjectDescription, destroy_object, make_surface, make_texture, object_description,
};
use crate::stream::context::{current, current_alive_context};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::texture::MAX_LINEAR_BYTES;

/// The description of an object of one kind for a question, which wants a current context.
fn queried_description(handle: u64, is_texture: bool) -> Res<ObjectDescription> {
    current_alive_context()?;
    object_description(handle, is_texture)
}

/// Destroys an object for the program; there is none behind null.
fn destroy_object_of_current_context(handle: u64, is_texture: bool) -> Res {
    current_alive_context()?;
    capture::refuse_call_unsafe_in_capture()?;
    if handle == 0 { Ok(()) } else { destroy_object(handle, is_texture) }
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
        write_out(pResDesc, queried_description(texObject, true)?.resource)
    }

    fn cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject) {
        write_out(pTexDesc, queried_description(texObject, true)?.texture.ok_or(ResultCode::INVALID_VALUE)?)
    }

    fn cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject) {
        write_out(pResViewDesc, queried_description(texObject, true)?.view.ok_or(ResultCode::INVALID_VALUE)?)
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
        write_out(pResDesc, queried_description(surfObject, false)?.resource)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements: *mut usize, format: CUarray_format, numChannels: c_uint, dev: CUdevice) {
        crate::device::device_by_ordinal(dev)?;
        let is_known = descriptor::channel_bytes(format).is_ok();
        ensure(is_known && matches!(numChannels, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
        let bytes = descriptor::channel_bytes(format)? as u64 * u64::from(numChannels);
        write_out(maxWidthInElements, (MAX_LINEAR_BYTES / bytes) as usize)
    }
}
