//! Finds out which device owns an address, and whether a context's kernels can access it. Errors can then say so before
//! a launch or copy fails; addresses that the driver does not know are never refused.

use crate::context::Context;
use crate::context::Device;
use crate::error::{Error, Result};
use rtcg_cuda_sys::*;

/// The device whose memory lies at `ptr`; `None` for memory of the host, for managed memory, which belongs to no
/// device, and for addresses that the driver does not know.
fn device_owning_address(table: &'static DriverTable, ptr: CUdeviceptr) -> Option<Device> {
    let mut kind = CUmemorytype::default();
    let (mut is_managed, mut ordinal): (c_uint, c_int) = (0, -1);
    let mut attributes =
        [CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut values = [(&raw mut kind).cast(), (&raw mut is_managed).cast(), (&raw mut ordinal).cast()];
    let (count, attributes, values) = (attributes.len() as c_uint, attributes.as_mut_ptr(), values.as_mut_ptr());
    // SAFETY: there is a place of the right type for each attribute; the driver checks the address.
    unsafe { call_driver!(table, cuPointerGetAttributes(count, attributes, values, ptr)) }.ok()?;
    let is_devices = kind == CUmemorytype::CU_MEMORYTYPE_DEVICE && is_managed == 0 && ordinal >= 0;
    is_devices.then(|| Device::from_handle(table, ordinal).ok())?
}

/// The device that owns the memory at `ptr`, if kernels of `ctx` certainly cannot access it: it is another device's,
/// and neither peer access nor the access rights of a pool or mapping permit it. Calls the driver several times.
pub fn inaccessible_owner_device(ctx: &Context, ptr: CUdeviceptr) -> Option<Device> {
    let table = ctx.driver_table();
    let owner = device_owning_address(table, ptr).filter(|owner| *owner != ctx.device())?;
    let is_reached: Result<bool> = ctx.with_current(|| {
        let (mut rights, mut context) = (0u64, CUcontext::null());
        let (may, of) = ((&raw mut rights).cast(), (&raw mut context).cast());
        // SAFETY: each writes one value of at most eight bytes; the driver checks the address.
        unsafe {
            let has_context = call_driver!(table, cuPointerGetAttribute(of, CU_POINTER_ATTRIBUTE_CONTEXT, ptr)).is_ok();
            if has_context && !context.is_null() {
                return Ok(has_peer_access(table, context));
            }
            Ok(call_driver!(table, cuPointerGetAttribute(may, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, ptr)).is_ok()
                && rights != 0)
        }
    });
    (!is_reached.unwrap_or(true)).then_some(owner)
}

/// Whether the current context has access to memory of `peer`. Drivers with unified addresses give an address for
/// memory that kernels cannot reach, so only granting access tells: it is refused where it was granted before, by
/// whomever, and otherwise taken back.
fn has_peer_access(table: &'static DriverTable, peer: CUcontext) -> bool {
    // SAFETY: the driver has just named the context.
    match unsafe { call_driver!(table, cuCtxEnablePeerAccess(peer, 0)) } {
        Ok(()) => {
            // SAFETY: access to the same context has just been enabled.
            let _ = unsafe { call_driver!(table, cuCtxDisablePeerAccess(peer)) };
            false
        }
        Err(error) => error.code != CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    }
}

/// Checks that the memory at `ptr`, which the caller calls `name`, belongs to the device of `ctx`, since a copy between
/// contexts looks there. In such a copy, contexts of one device see each other's memory.
///
/// # Errors
/// When it belongs to another device.
pub fn check_accessible(call: &'static str, name: &str, ptr: CUdeviceptr, ctx: &Context) -> Result<()> {
    let table = ctx.driver_table_if_alive(call)?;
    match device_owning_address(table, ptr).filter(|owner| *owner != ctx.device()) {
        None => Ok(()),
        Some(owner) => {
            let (owner, named) = (owner.describe(), ctx.device().describe());
            let detail = format!(
                "{name} is {ptr:#x}, memory of {owner}, but {name}_context is of {named}; expected a context of the \
                 device whose memory it is"
            );
            Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail))
        }
    }
}
