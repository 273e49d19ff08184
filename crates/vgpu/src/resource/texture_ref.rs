//! Texture and surface references: settings that become an object's handle in a module variable.
//!
//! A GPU takes the settings when a kernel is launched. Here every change makes a new object, and
//! first waits for launches that may still use the old one.

use super::module::MODULES;
use super::texture_object::{destroy_object, make_texture};
use crate::stream::context::{Context, current_or_owner_context};
use rtcg_cuda_sys::*;
use rtcg_vgpu_abi::handle_table::HandleTable;
use rtcg_vgpu_abi::{IgnorePoison, error::Res};
use std::sync::{Arc, Mutex};

/// Texture references.
pub(crate) static TEXREFS: HandleTable<TextureRef> = HandleTable::new(0x32);
/// Surface references.
pub(crate) static SURFREFS: HandleTable<SurfaceRef> = HandleTable::new(0x33);

/// `CUtexref`
#[derive(Debug)]
pub(crate) struct TextureRef {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Handle of its module and the address where kernels look; not of one that was created.
    pub(crate) place: Option<(u64, u64)>,
    pub(crate) state: Mutex<TexRefState>,
}

/// `CUsurfref`
#[derive(Debug)]
pub(crate) struct SurfaceRef {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    pub(crate) place: (u64, u64),
    /// The array and the object over it.
    pub(crate) bound: Mutex<Option<(CUarray, u64)>>,
}

#[derive(Debug)]
pub(crate) struct TexRefState {
    pub(crate) resource: Option<CUDA_RESOURCE_DESC>,
    pub(crate) texture: CUDA_TEXTURE_DESC,
    pub(crate) format: CUarray_format,
    pub(crate) channels: u32,
    pub(crate) object: Option<u64>,
}

// SAFETY: handles and device addresses are numbers to everybody.
unsafe impl Send for TexRefState {}

impl TexRefState {
    pub(crate) fn new() -> TexRefState {
        let texture = CUDA_TEXTURE_DESC {
            addressMode: [CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3],
            maxMipmapLevelClamp: f32::MAX,
            ..CUDA_TEXTURE_DESC::default()
        };
        TexRefState { resource: None, texture, format: CUarray_format::CU_AD_FORMAT_FLOAT, channels: 1, object: None }
    }

    /// The resource with the reference's own format, which linear memory is read with.
    pub(crate) fn effective_resource(&self) -> Option<CUDA_RESOURCE_DESC> {
        let mut resource = self.resource?;
        if resource.resType == CUresourcetype::CU_RESOURCE_TYPE_LINEAR {
            // SAFETY: the type says that this member was written.
            let mut linear = unsafe { resource.res.linear };
            (linear.format, linear.numChannels) = (self.format, self.channels);
            resource.res.linear = linear;
        }
        Some(resource)
    }
}

impl TextureRef {
    /// Changes the settings and, when something is bound, the object that kernels see.
    pub(crate) fn change_settings(&self, f: impl FnOnce(&mut TexRefState) -> Res) -> Res {
        let context = self.usable_context()?;
        let mut state = self.state.lock().ignore_poison();
        f(&mut state)?;
        let Some(resource) = state.effective_resource() else { return Ok(()) };
        let made = make_texture(&context, &resource, &state.texture, None);
        // Linear memory may be none, or of an unknown format: nothing is bound then.
        let is_linear = resource.resType == CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
        let object = if is_linear { made.ok() } else { Some(made?) };
        let old = std::mem::replace(&mut state.object, object);
        drop(state);
        self.publish_texture_handle(&context, object.unwrap_or(0))?;
        old.map_or(Ok(()), |old| destroy_object(old, true))
    }

    pub(crate) fn usable_context(&self) -> Res<Arc<Context>> {
        if let Some((module, _)) = self.place {
            MODULES.get_object(module)?;
        }
        let context = current_or_owner_context(self.ctx_id)?;
        context.check_usable().map(|()| context)
    }

    pub(crate) fn publish_texture_handle(&self, context: &Context, object: u64) -> Res {
        match self.place {
            Some((module, address)) => store_handle_in_module(context, module, address, object),
            None => Ok(()),
        }
    }
}

/// Puts a handle where the kernels of a module look.
pub(crate) fn store_handle_in_module(context: &Context, module: u64, address: u64, object: u64) -> Res {
    let outcome = context.synchronize();
    let _module = MODULES.get_object(module)?;
    // SAFETY: the module is loaded, so its variables are mapped; the loader placed this one.
    unsafe { (address as *mut u64).write(object) };
    outcome
}

/// Forgets the references of a module that goes away, with their objects.
pub(crate) fn remove_module_references(module: u64) {
    while let Some(handle) = TEXREFS.find_handle(|r| r.place.is_some_and(|(m, _)| m == module)) {
        let Ok(dead) = TEXREFS.remove_object(handle) else { continue };
        if let Some(object) = dead.state.lock().ignore_poison().object {
            // It may have gone with its context.
            let _ = destroy_object(object, true);
        }
    }
    while let Some(handle) = SURFREFS.find_handle(|r| r.place.0 == module) {
        let Ok(dead) = SURFREFS.remove_object(handle) else { continue };
        if let Some((_, object)) = *dead.bound.lock().ignore_poison() {
            // As above.
            let _ = destroy_object(object, false);
        }
    }
}
