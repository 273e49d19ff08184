//! Texture and surface objects, made and destroyed.

use super::texture_descriptor as descriptor;
use crate::stream::context::{Context, current};
use rtcg_cuda_sys::*;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::texture::registry::{self, TEX_AND_SURF_OBJECTS, TexOrSurfEntry};
use rtcg_vgpu_exec::texture::{TexOrSurfObject, Texture};
use std::sync::Arc;

/// A texture or surface object as the program described it.
#[derive(Clone, Copy)]
pub(crate) struct ObjectDescription {
    pub(crate) resource: CUDA_RESOURCE_DESC,
    /// Not for surfaces.
    pub(crate) texture: Option<CUDA_TEXTURE_DESC>,
    /// Where the program gave one.
    pub(crate) view: Option<CUDA_RESOURCE_VIEW_DESC>,
}

// SAFETY: the descriptions hold handles and device addresses, which are numbers to everybody.
unsafe impl Send for ObjectDescription {}
// SAFETY: the handles and addresses are numbers to everybody, and nothing here changes.
unsafe impl Sync for ObjectDescription {}

/// Makes a texture object; also what a texture reference stands for.
pub(crate) fn make_texture(
    context: &Context,
    resource: &CUDA_RESOURCE_DESC,
    texture: &CUDA_TEXTURE_DESC,
    view: Option<&CUDA_RESOURCE_VIEW_DESC>,
) -> Res<u64> {
    let mut seen = descriptor::resource_from_desc(resource, texture.flags)?;
    let sampler = descriptor::sampler_from_desc(texture, seen.dimensions, seen.cube)?;
    if let Some(view) = view {
        seen = descriptor::apply_resource_view(seen, view, texture.flags)?;
    }
    let description = ObjectDescription {
        resource: *resource,
        texture: Some(descriptor::with_known_address_modes(texture)),
        view: view.copied(),
    };
    add_object(context, TexOrSurfObject::Texture(Texture::new(seen, sampler)), description)
}

/// Makes a surface object over an array, also over one without the flag for surfaces.
pub(crate) fn make_surface(resource: &CUDA_RESOURCE_DESC) -> Res<u64> {
    let context = current()?;
    ensure(resource.resType == CUresourcetype::CU_RESOURCE_TYPE_ARRAY, ResultCode::INVALID_VALUE)?;
    let seen = descriptor::resource_from_desc(resource, CU_TRSF_READ_AS_INTEGER)?;
    let description = ObjectDescription { resource: *resource, texture: None, view: None };
    add_object(&context, TexOrSurfObject::Surface(seen), description)
}

fn add_object(context: &Context, object: TexOrSurfObject, description: ObjectDescription) -> Res<u64> {
    let entry = TexOrSurfEntry { ctx_id: context.id, object, description: Box::new(description) };
    Ok(TEX_AND_SURF_OBJECTS.insert_with(|_| Arc::new(entry))?.0)
}

/// The description of an object of one kind.
pub(crate) fn object_description(handle: u64, is_texture: bool) -> Res<ObjectDescription> {
    let entry = TEX_AND_SURF_OBJECTS.get_object_or(handle, ResultCode::INVALID_VALUE)?;
    ensure(matches!(entry.object, TexOrSurfObject::Texture(_)) == is_texture, ResultCode::INVALID_VALUE)?;
    entry.description.downcast_ref().copied().ok_or(ResultCode::INVALID_VALUE.into())
}

/// Destroys an object. Kernels that still use it fault.
pub(crate) fn destroy_object(handle: u64, is_texture: bool) -> Res {
    object_description(handle, is_texture)?;
    TEX_AND_SURF_OBJECTS.remove_object_or(handle, ResultCode::INVALID_VALUE)?;
    registry::invalidate_thread_caches();
    Ok(())
}
