//! Details of a failed call beyond its code: how much memory was requested and how much there is, and what an address
//! refers to.

use crate::error::{Error, Result};
use rtcg_cuda_sys::*;

/// What was requested, and what there was, where the driver says neither. A context of the table must
/// be current.
#[cold]
pub(crate) fn explain_allocation_error(table: &DriverTable, error: Error, nbytes: usize) -> Error {
    match error.code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            let (mut free, mut total) = (0, 0);
            // SAFETY: writes two sizes.
            let known = unsafe { call_driver!(table, cuMemGetInfo(&raw mut free, &raw mut total)) };
            let known = known.map(|()| format!(", {free} of {total} are free")).unwrap_or_default();
            error.with_detail(format!("{nbytes} bytes were asked for{known}"))
        }
        CUresult::CUDA_ERROR_INVALID_VALUE if nbytes == 0 => {
            error.with_detail("0 bytes were asked for; expected 1 or more")
        }
        _ => error,
    }
}

/// An address that a call was given, under the name that the caller knows it by.
pub(crate) type NamedAddressRange = (&'static str, CUdeviceptr, usize);

/// A call with wrong addresses, with what is wrong with them.
pub(crate) fn explain_address_error(
    table: &DriverTable,
    result: Result<()>,
    given: &[NamedAddressRange],
) -> Result<()> {
    result.map_err(|error| add_address_reasons(table, error, given))
}

#[cold]
fn add_address_reasons(table: &DriverTable, error: Error, given: &[NamedAddressRange]) -> Error {
    if !matches!(error.code, CUresult::CUDA_ERROR_INVALID_VALUE | CUresult::CUDA_ERROR_NOT_FOUND) {
        return error;
    }
    let reasons: Vec<String> = given.iter().filter_map(|given| address_fault_reason(table, *given)).collect();
    if reasons.is_empty() { error } else { error.with_detail(reasons.join("; ")) }
}

/// What is wrong with an address, if it can be seen.
fn address_fault_reason(table: &DriverTable, (name, address, nbytes): NamedAddressRange) -> Option<String> {
    let (mut base, mut size) = (0, 0);
    // SAFETY: writes a pointer and a size; the driver checks the address.
    if unsafe { call_driver!(table, cuMemGetAddressRange(&raw mut base, &raw mut size, address)) }.is_err() {
        // With unified addressing, memory of the host is as good where the driver knows it.
        let mut kind = CUmemorytype::default();
        let attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        // SAFETY: writes one value; the driver checks the address.
        let known = unsafe { call_driver!(table, cuPointerGetAttribute((&raw mut kind).cast(), attribute, address)) };
        return known.is_err().then(|| {
            format!("{name} is {address:#x}, which lies in no allocation; expected an address of {nbytes} bytes of device memory")
        });
    }
    let room = size.saturating_sub((address - base) as usize);
    (nbytes > room).then(|| {
        format!(
            "{name} is {address:#x}, {} bytes into an allocation of {size} bytes at {base:#x}: {nbytes} bytes do not \
             fit into the remaining {room}",
            address - base
        )
    })
}
