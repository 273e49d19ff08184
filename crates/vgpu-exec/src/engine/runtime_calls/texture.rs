//! Texture and surface instructions: finds the object of each lane and traps what it refuses.
//!
//! A handle is an object's, or the address of a `.texref` or `.surfref` of a module, where the
//! driver has put the handle of an object.

use super::super::fiber::Warp;
use super::{check_lane_access, ensure_stack, lane_indices, raise_fault, warp_of_ctx, with_fault_site};
use crate::check;
use crate::texture::surface::{self, AccessError};
use crate::texture::{TexOrSurfObject, query, registry, sample};
use crate::window::device_window;
use rtcg_ptx::ast::OpaqueType;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::instrument::{ATOMIC_BIT, WRITE_BIT};
use rtcg_vgpu_abi::texture_request::{TextureLanes, TextureOp, TextureRequest};

/// What an instruction came to.
type TextureResult = Result<(), (u32, FaultKind, &'static str)>;

pub(super) unsafe extern "C" fn run_texture(
    ctx: *mut WarpCtx,
    request: u64,
    mask: u32,
    site: u32,
    lanes: *mut TextureLanes,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and operands, which live on the fiber's stack.
    unsafe {
        ensure_stack(warp, site);
        let lanes = &mut *lanes;
        let Some(request) = TextureRequest::decode_request(request) else {
            raise_fault(warp, FaultKind::Trap, "internal error: unknown texture operation", u32::MAX, site, 0)
        };
        let mut rest = mask;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let given = lanes.handle[if request.uniform { 0 } else { first as usize }];
            let group = if request.uniform { rest } else { lanes_with_handle(&lanes.handle, given, rest) };
            rest &= !group;
            let handle = resolve_texref(warp, given, first, site);
            (*warp).access_lane = first;
            if check::enabled_checks().instruments_accesses() {
                check_lane_accesses(warp, handle, &request, group, site, lanes);
            }
            let outcome = registry::with_tex_or_surf_object(handle, |object| {
                with_fault_site(warp, site, || run_texture_op(object, &request, group, lanes))
            });
            if let Err((lane, kind, what)) = outcome {
                let lane = if lane == u32::MAX { first } else { lane };
                raise_fault(warp, kind, what, lane, site, given);
            }
        }
    }
}

/// The lanes of `mask` with this handle.
fn lanes_with_handle(handles: &[u64; 32], handle: u64, mask: u32) -> u32 {
    lane_indices(mask).filter(|&l| handles[l] == handle).fold(0, |all, l| all | 1 << l)
}

/// The handle that a reference holds, or the handle itself.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn resolve_texref(warp: *mut Warp, handle: u64, lane: u32, site: u32) -> u64 {
    if !device_window().is_ok_and(|w| w.contains(handle as usize)) || !handle.is_multiple_of(8) {
        return handle;
    }
    // SAFETY: passed on; the address was checked, and a signal is the fault of `site`.
    unsafe {
        check_lane_access(warp, lane as usize, site, handle, 8);
        with_fault_site(warp, site, || (handle as *const u64).read())
    }
}

/// Checks what the lanes of `mask` are about to access: of a surface, all of it; of a texture, the
/// texel nearest to the coordinates.
///
/// # Safety
/// As [`raise_fault`].
unsafe fn check_lane_accesses(
    warp: *mut Warp,
    handle: u64,
    request: &TextureRequest,
    mask: u32,
    site: u32,
    lanes: &TextureLanes,
) {
    let info = match request.op {
        TextureOp::Query(_) | TextureOp::IsType(_) => return,
        TextureOp::Store => WRITE_BIT,
        TextureOp::Reduce(_) => ATOMIC_BIT,
        TextureOp::Sample | TextureOp::Gather(_) | TextureOp::Load => 0,
    };
    // SAFETY: passed on; `lane_access_range` does not leave the fiber.
    unsafe {
        let mut at = [0_u64; 32];
        let (mut found, mut bytes) = (0_u32, 0);
        registry::with_tex_or_surf_object(handle, |object| {
            let Some(object) = object else { return };
            for lane in lane_indices(mask) {
                if let Some((address, n)) = lane_access_range(object, request, lanes, lane) {
                    (at[lane], bytes) = (address, n);
                    found |= 1 << lane;
                }
            }
        });
        if check::enabled_checks().uses_shadow_memory() && found != 0 {
            super::checked_mode::check_lane_accesses(warp.cast(), found, site, bytes | info, &at);
        }
        for lane in lane_indices(found) {
            super::race::record_lane_access(warp, lane, site, at[lane], u64::from(bytes), info);
        }
    }
}

/// Address and bytes of a lane's access; `None` when it makes none, or one that will be refused.
fn lane_access_range(
    object: &TexOrSurfObject,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> Option<(u64, u32)> {
    let is_surface = matches!(request.op, TextureOp::Load | TextureOp::Store | TextureOp::Reduce(_));
    match object {
        TexOrSurfObject::Surface(resource) if is_surface => {
            surface::lane_access_address(resource, request, lanes, lane)
        }
        TexOrSurfObject::Texture(texture) if !is_surface => {
            sample::nearest_texel_address(texture, request, lanes, lane)
        }
        _ => None,
    }
}

/// # Safety
/// Runs within [`with_fault_site`].
unsafe fn run_texture_op(
    object: Option<&TexOrSurfObject>,
    request: &TextureRequest,
    mask: u32,
    lanes: &mut TextureLanes,
) -> TextureResult {
    if let TextureOp::IsType(ty) = request.op {
        let is = match object {
            Some(TexOrSurfObject::Texture(_)) => ty == OpaqueType::Texture,
            Some(TexOrSurfObject::Surface(_)) => ty == OpaqueType::Surface,
            None => false,
        };
        lane_indices(mask).for_each(|l| lanes.flag[l] = u32::from(is));
        return Ok(());
    }
    if let TextureOp::Query(what) = request.op {
        let (resource, sampler) = match object {
            Some(TexOrSurfObject::Texture(t)) => (&t.resource, Some(&t.sampler)),
            Some(TexOrSurfObject::Surface(s)) => (s, None),
            None => return Err(wrong_object_kind("this is neither a texture nor a surface")),
        };
        for l in lane_indices(mask) {
            lanes.results[0][l] = query::query_value(resource, sampler, what, lanes.words[0][l]);
        }
        return Ok(());
    }
    let surface = matches!(request.op, TextureOp::Load | TextureOp::Store | TextureOp::Reduce(_));
    match object {
        Some(TexOrSurfObject::Texture(texture)) if !surface => {
            // SAFETY: reads fault as the caller expects; nothing is owned.
            unsafe { sample::sample_lanes(texture, request, mask, lanes) };
            Ok(())
        }
        Some(TexOrSurfObject::Surface(resource)) if surface => {
            // SAFETY: accesses fault as the caller expects; nothing is owned.
            unsafe { surface::access_surface(resource, request, mask, lanes) }.map_err(|(lane, why)| match why {
                AccessError::Outside => (lane, FaultKind::IllegalAddress, "surface access out of bounds"),
                AccessError::Misaligned => (lane, FaultKind::MisalignedAddress, "misaligned surface access"),
                AccessError::Format => (lane, FaultKind::Trap, "this surface has no such access"),
            })
        }
        _ if surface => Err(wrong_object_kind("this is no surface object")),
        _ => Err(wrong_object_kind("this is no texture object")),
    }
}

fn wrong_object_kind(what: &'static str) -> (u32, FaultKind, &'static str) {
    (u32::MAX, FaultKind::IllegalAddress, what)
}
