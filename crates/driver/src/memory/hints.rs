//! Pointer attributes, and advice on managed memory.

use crate::context::Device;
use crate::error::{Error, Result};
use crate::memory::diagnosis::explain_address_error;
use crate::stream::{Stream, current_table_and_stream_handle};
use rtcg_cuda_sys::*;

/// Queries a pointer attribute of at most 8 bytes, zero-extended.
pub fn pointer_attribute_u64(attribute: CUpointer_attribute, ptr: CUdeviceptr) -> Result<u64> {
    if attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS {
        let detail = "the value of this attribute is larger than 8 bytes";
        let code = CUresult::CUDA_ERROR_INVALID_VALUE;
        return Err(Error::new("cuPointerGetAttribute", code, detail));
    }
    // 16 bytes, because an attribute of a future driver may be larger than those known today.
    let mut value = [0u64; 2];
    let table = crate::context::current_driver_table("cuPointerGetAttribute")?;
    // SAFETY: the value has room for every scalar attribute; the driver checks `ptr`.
    let result =
        unsafe { retry_if_context_displaced!(table, cuPointerGetAttribute(value.as_mut_ptr().cast(), attribute, ptr)) };
    explain_address_error(table, result, &[("ptr", ptr, 1)])?;
    Ok(value[0])
}

/// The number that stands for a device, or for the host.
fn device_or_host_id(call: &'static str, table: &DriverTable, device: Option<&Device>) -> Result<CUdevice> {
    match device {
        None => Ok(CU_DEVICE_CPU),
        Some(device) if device.driver_table() == table => Ok(device.handle()),
        Some(_) => {
            let detail = "the device belongs to another driver than the current context";
            Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_DEVICE, detail))
        }
    }
}

/// Advises how a range of managed memory will be used. `device` is the device that the advice is about; `None` is the
/// host. Advice does not change the results of programs.
pub fn mem_advise(ptr: CUdeviceptr, nbytes: usize, advice: CUmem_advise, device: Option<&Device>) -> Result<()> {
    let table = crate::context::current_driver_table("cuMemAdvise")?;
    let device = device_or_host_id("cuMemAdvise", table, device)?;
    // The form of CUDA 8, which every driver has, knows all that is needed here.
    // SAFETY: plain values; the driver checks the range.
    let result = unsafe { retry_if_context_displaced!(table, cuMemAdvise_v1(ptr, nbytes, advice, device)) };
    explain_address_error(table, result.map_err(|e| Error { call: "cuMemAdvise", ..e }), &[("ptr", ptr, nbytes)])
}

/// Migrates a range of managed memory to a device (`None`: to the host) in stream order.
pub fn mem_prefetch_async(
    ptr: CUdeviceptr,
    nbytes: usize,
    device: Option<&Device>,
    stream: Option<&Stream>,
) -> Result<()> {
    let (table, stream) = current_table_and_stream_handle("cuMemPrefetchAsync", stream)?;
    let device = device_or_host_id("cuMemPrefetchAsync", table, device)?;
    // SAFETY: plain values; the driver checks the range.
    let result = unsafe { retry_if_context_displaced!(table, cuMemPrefetchAsync_v1(ptr, nbytes, device, stream)) };
    explain_address_error(table, result.map_err(|e| Error { call: "cuMemPrefetchAsync", ..e }), &[("ptr", ptr, nbytes)])
}

/// Queries the advice on a range of managed memory, as a number; -1 means the host, and -2 no device or different ones.
pub fn mem_range_attribute(attribute: CUmem_range_attribute, ptr: CUdeviceptr, nbytes: usize) -> Result<i32> {
    let mut value: c_int = 0;
    let table = crate::context::current_driver_table("cuMemRangeGetAttribute")?;
    let (data, size) = ((&raw mut value).cast(), size_of::<c_int>());
    // SAFETY: writes one int, as its size says; the driver checks the range.
    let result =
        unsafe { retry_if_context_displaced!(table, cuMemRangeGetAttribute(data, size, attribute, ptr, nbytes)) };
    explain_address_error(table, result, &[("ptr", ptr, nbytes)])?;
    Ok(value)
}
