//! Texture and surface references: settings that become an object's handle in a module variable.
//!
//! A GPU takes the settings when a kernel is launched. Here every change makes a new object, and
//! first waits for launches that may still use the old one.

use rtcg_vgpu_abi::IgnorePoison;
use std::ffi::c_char;
use std::sync::{Arc, Mutex};

use rtcg_cuda_sys::*;
use rtcg_ptx::ast::OpaqueType;

use super::{Handle, driver_functions, str_from_c, write_out};
use crate::memory::array::{ARRAYS, MIPMAPS};
use crate::resource::module::MODULES;
use crate::resource::texture_descriptor as descriptor;
use crate::resource::texture_object::{destroy_object, make_surface};
use crate::resource::texture_ref::{SURFREFS, SurfaceRef, TEXREFS, TexRefState, TextureRef, store_handle_in_module};
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// The state of a reference that is only read.
fn with_texref_state<R>(handle: CUtexref, f: impl FnOnce(&TexRefState) -> Res<R>) -> Res<R> {
    let reference = TEXREFS.get_object(handle.handle_number())?;
    let state = reference.state.lock().ignore_poison();
    f(&state)
}

fn change_texref(handle: CUtexref, f: impl FnOnce(&mut TexRefState) -> Res) -> Res {
    TEXREFS.get_object(handle.handle_number())?.change_settings(f)
}

fn bind_array(state: &mut TexRefState, array: CUarray) -> Res {
    let d = ARRAYS.get_object(array.handle_number())?.description;
    (state.format, state.channels) = (d.Format, d.NumChannels);
    let mut resource = CUDA_RESOURCE_DESC { resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY, ..Default::default() };
    resource.res.array = CUDA_RESOURCE_DESC_res_array { hArray: array };
    state.resource = Some(resource);
    Ok(())
}

fn bind_mipmap(state: &mut TexRefState, mipmap: CUmipmappedArray) -> Res {
    let d = MIPMAPS.get_object(mipmap.handle_number())?.description;
    (state.format, state.channels) = (d.Format, d.NumChannels);
    let kind = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    let mut resource = CUDA_RESOURCE_DESC { resType: kind, ..Default::default() };
    resource.res.mipmap = CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray: mipmap };
    state.resource = Some(resource);
    Ok(())
}

/// The bound resource, when it is of this type.
fn bound_resource(state: &TexRefState, kind: CUresourcetype) -> Res<CUDA_RESOURCE_DESC> {
    state.resource.filter(|r| r.resType == kind).ok_or(ResultCode::INVALID_VALUE.into())
}

fn find_module_reference(module: CUmodule, name: &str, ty: OpaqueType) -> Res<(u64, (u64, u64))> {
    let module = MODULES.get_object(module.handle_number())?;
    let address = module.loaded.texref_address(name, ty).ok_or(ResultCode::NOT_FOUND)?;
    Ok((module.ctx_id, (module.handle, address)))
}

/// A filter of a reference: an unknown one takes the nearest texel.
fn known_filter(mode: CUfilter_mode) -> CUfilter_mode {
    descriptor::is_linear_filter(mode).map_or(CUfilter_mode::CU_TR_FILTER_MODE_POINT, |_| mode)
}

/// An axis of an address mode.
fn address_mode_axis(dim: c_int) -> Res<usize> {
    usize::try_from(dim).ok().filter(|&d| d < 3).ok_or(ResultCode::INVALID_VALUE.into())
}

driver_functions! {
    fn cuModuleGetTexRef(pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char) {
        ensure(!pTexRef.is_null(), ResultCode::INVALID_VALUE)?;
        let (ctx_id, place) = find_module_reference(hmod, str_from_c(name)?, OpaqueType::Texture)?;
        let known = TEXREFS.find_handle(|r| r.place == Some(place));
        let handle = match known {
            Some(handle) => handle,
            None => {
                let made = TextureRef { ctx_id, place: Some(place), state: Mutex::new(TexRefState::new()) };
                TEXREFS.insert_with(|_| Arc::new(made))?.0
            }
        };
        write_out(pTexRef, CUtexref::from_handle_number(handle))
    }

    fn cuModuleGetSurfRef(pSurfRef: *mut CUsurfref, hmod: CUmodule, name: *const c_char) {
        ensure(!pSurfRef.is_null(), ResultCode::INVALID_VALUE)?;
        let (ctx_id, place) = find_module_reference(hmod, str_from_c(name)?, OpaqueType::Surface)?;
        let known = SURFREFS.find_handle(|r| r.place == place);
        let handle = match known {
            Some(handle) => handle,
            None => SURFREFS.insert_with(|_| Arc::new(SurfaceRef { ctx_id, place, bound: Mutex::new(None) }))?.0,
        };
        write_out(pSurfRef, CUsurfref::from_handle_number(handle))
    }

    fn cuTexRefCreate(pTexRef: *mut CUtexref) {
        ensure(!pTexRef.is_null(), ResultCode::INVALID_VALUE)?;
        let made = TextureRef { ctx_id: current()?.id, place: None, state: Mutex::new(TexRefState::new()) };
        write_out(pTexRef, CUtexref::from_handle_number(TEXREFS.insert_with(|_| Arc::new(made))?.0))
    }

    fn cuTexRefDestroy(hTexRef: CUtexref) {
        let reference = TEXREFS.get_object(hTexRef.handle_number())?;
        ensure(reference.place.is_none(), ResultCode::INVALID_VALUE)?;
        TEXREFS.remove_object(hTexRef.handle_number())?;
        let object = reference.state.lock().ignore_poison().object;
        object.map_or(Ok(()), |object| destroy_object(object, true))
    }

    fn cuTexRefSetArray(hTexRef: CUtexref, hArray: CUarray, Flags: c_uint) {
        ensure(Flags & !CU_TRSA_OVERRIDE_FORMAT == 0, ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| bind_array(state, hArray))
    }

    fn cuTexRefSetMipmappedArray(hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: c_uint) {
        ensure(Flags & !CU_TRSA_OVERRIDE_FORMAT == 0, ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| bind_mipmap(state, hMipmappedArray))
    }

    fn cuTexRefSetAddress(ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize) {
        let offset = dptr % 512;
        ensure(offset == 0 || !ByteOffset.is_null(), ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| {
            let kind = CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
            let mut resource = CUDA_RESOURCE_DESC { resType: kind, ..Default::default() };
            resource.res.linear = CUDA_RESOURCE_DESC_res_linear {
                devPtr: dptr - offset,
                sizeInBytes: bytes + offset as usize,
                ..Default::default()
            };
            state.resource = Some(resource);
            Ok(())
        })?;
        super::write_out_if_not_null(ByteOffset, offset as usize);
        Ok(())
    }

    fn cuTexRefSetAddress2D(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize) {
        let d = desc.as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| {
            (state.format, state.channels) = (d.Format, d.NumChannels);
            let kind = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
            let mut resource = CUDA_RESOURCE_DESC { resType: kind, ..Default::default() };
            resource.res.pitch2D = CUDA_RESOURCE_DESC_res_pitch2D {
                devPtr: dptr,
                format: d.Format,
                numChannels: d.NumChannels,
                width: d.Width,
                height: d.Height,
                pitchInBytes: Pitch,
            };
            state.resource = Some(resource);
            Ok(())
        })
    }

    fn cuTexRefSetFormat(hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: c_int) {
        ensure(matches!(NumPackedComponents, 1 | 2 | 4), ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| {
            (state.format, state.channels) = (fmt, NumPackedComponents as u32);
            Ok(())
        })
    }

    fn cuTexRefSetAddressMode(hTexRef: CUtexref, dim: c_int, am: CUaddress_mode) {
        let dim = address_mode_axis(dim)?;
        change_texref(hTexRef, |state| {
            state.texture.addressMode[dim] = am;
            // An unknown mode is clamping.
            state.texture = descriptor::with_known_address_modes(&state.texture);
            Ok(())
        })
    }

    fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) {
        change_texref(hTexRef, |state| {
            state.texture.filterMode = known_filter(fm);
            Ok(())
        })
    }

    fn cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) {
        change_texref(hTexRef, |state| {
            state.texture.mipmapFilterMode = known_filter(fm);
            Ok(())
        })
    }

    fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32) {
        change_texref(hTexRef, |state| {
            state.texture.mipmapLevelBias = bias;
            Ok(())
        })
    }

    fn cuTexRefSetMipmapLevelClamp(hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32) {
        change_texref(hTexRef, |state| {
            state.texture.minMipmapLevelClamp = minMipmapLevelClamp;
            state.texture.maxMipmapLevelClamp = maxMipmapLevelClamp;
            Ok(())
        })
    }

    fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint) {
        change_texref(hTexRef, |state| {
            state.texture.maxAnisotropy = maxAniso;
            Ok(())
        })
    }

    fn cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32) {
        let colour = pBorderColor.cast::<[f32; 4]>().as_ref().ok_or(ResultCode::INVALID_VALUE)?;
        change_texref(hTexRef, |state| {
            state.texture.borderColor = *colour;
            Ok(())
        })
    }

    fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint) {
        change_texref(hTexRef, |state| {
            let changed = CUDA_TEXTURE_DESC { flags: Flags, ..state.texture };
            descriptor::sampler_from_desc(&changed, 3, true)?;
            state.texture = changed;
            Ok(())
        })
    }

    fn cuTexRefGetAddress(pdptr: *mut CUdeviceptr, hTexRef: CUtexref) {
        let address = with_texref_state(hTexRef, |state| match state.resource {
            Some(r) if r.resType == CUresourcetype::CU_RESOURCE_TYPE_LINEAR => Ok(r.res.linear.devPtr),
            Some(r) if r.resType == CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => Ok(r.res.pitch2D.devPtr),
            _ => ResultCode::INVALID_VALUE.err(),
        })?;
        write_out(pdptr, address)
    }

    fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref) {
        write_out(phArray, with_texref_state(hTexRef, |s| bound_resource(s, CUresourcetype::CU_RESOURCE_TYPE_ARRAY))?.res.array.hArray)
    }

    fn cuTexRefGetMipmappedArray(phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref) {
        let resource = with_texref_state(hTexRef, |s| bound_resource(s, CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))?;
        write_out(phMipmappedArray, resource.res.mipmap.hMipmappedArray)
    }

    fn cuTexRefGetAddressMode(pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: c_int) {
        let dim = address_mode_axis(dim)?;
        write_out(pam, with_texref_state(hTexRef, |state| Ok(state.texture.addressMode[dim]))?)
    }

    fn cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref) {
        write_out(pfm, with_texref_state(hTexRef, |state| Ok(state.texture.filterMode))?)
    }

    fn cuTexRefGetFormat(pFormat: *mut CUarray_format, pNumChannels: *mut c_int, hTexRef: CUtexref) {
        let (format, channels) = with_texref_state(hTexRef, |state| Ok((state.format, state.channels)))?;
        super::write_out_if_not_null(pFormat, format);
        super::write_out_if_not_null(pNumChannels, channels as c_int);
        Ok(())
    }

    fn cuTexRefGetMipmapFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref) {
        write_out(pfm, with_texref_state(hTexRef, |state| Ok(state.texture.mipmapFilterMode))?)
    }

    fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref) {
        write_out(pbias, with_texref_state(hTexRef, |state| Ok(state.texture.mipmapLevelBias))?)
    }

    fn cuTexRefGetMipmapLevelClamp(pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref) {
        let texture = with_texref_state(hTexRef, |state| Ok(state.texture))?;
        write_out(pminMipmapLevelClamp, texture.minMipmapLevelClamp)?;
        write_out(pmaxMipmapLevelClamp, texture.maxMipmapLevelClamp)
    }

    fn cuTexRefGetMaxAnisotropy(pmaxAniso: *mut c_int, hTexRef: CUtexref) {
        write_out(pmaxAniso, with_texref_state(hTexRef, |state| Ok(state.texture.maxAnisotropy as c_int))?)
    }

    fn cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref) {
        write_out(pBorderColor.cast(), with_texref_state(hTexRef, |state| Ok(state.texture.borderColor))?)
    }

    fn cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref) {
        write_out(pFlags, with_texref_state(hTexRef, |state| Ok(state.texture.flags))?)
    }

    fn cuSurfRefSetArray(hSurfRef: CUsurfref, hArray: CUarray, Flags: c_uint) {
        ensure(Flags == 0, ResultCode::INVALID_VALUE)?;
        let reference = SURFREFS.get_object(hSurfRef.handle_number())?;
        let context = current()?;
        let array = ARRAYS.get_object(hArray.handle_number())?;
        ensure(array.description.Flags & CUDA_ARRAY3D_SURFACE_LDST != 0, ResultCode::INVALID_VALUE)?;
        let kind = CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
        let mut resource = CUDA_RESOURCE_DESC { resType: kind, ..Default::default() };
        resource.res.array = CUDA_RESOURCE_DESC_res_array { hArray };
        let object = make_surface(&resource)?;
        let old = reference.bound.lock().ignore_poison().replace((hArray, object));
        let (module, address) = reference.place;
        store_handle_in_module(&context, module, address, object)?;
        old.map_or(Ok(()), |(_, old)| destroy_object(old, false))
    }

    fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref) {
        let reference = SURFREFS.get_object(hSurfRef.handle_number())?;
        let bound = reference.bound.lock().ignore_poison().map(|(array, _)| array);
        write_out(phArray, bound.ok_or(ResultCode::INVALID_VALUE)?)
    }

    fn cuParamSetTexRef(hfunc: CUfunction, texunit: c_int, hTexRef: CUtexref) {
        // Every reference of a module is available to its kernels anyway.
        ensure(texunit == CU_PARAM_TR_DEFAULT, ResultCode::INVALID_VALUE)?;
        crate::resource::function::FUNCTIONS.get_object(hfunc.handle_number())?;
        TEXREFS.get_object(hTexRef.handle_number()).map(drop)
    }
}
