//! The interface to the virtual GPU: its driver table, and details beyond result codes. The only module that depends on
//! the feature `vgpu`; without it there is no table, and there are no such details.

#[cfg(feature = "vgpu")]
pub use rtcg_vgpu::{check, finish_or_cancel_work, schedule, set_interrupt_check};
#[cfg(feature = "vgpu")]
pub(crate) use rtcg_vgpu::{memory_limit_notice, validate_settings};

use rtcg_cuda_sys::DriverTable;

/// What an error says where the virtual GPU would have helped.
pub(crate) const BUILT_WITHOUT: &str = "this program was built without the virtual GPU (the feature `vgpu` of rtcg)";

/// The virtual GPU's driver table, whether or not its devices are in use; `None` without the feature `vgpu`. It caches
/// machine code on disk.
#[cfg(feature = "vgpu")]
pub fn virtual_gpu_table() -> Option<&'static DriverTable> {
    rtcg_vgpu::code_cache::enable_code_cache();
    Some(rtcg_vgpu::virtual_driver_table())
}

/// Whether the state of every byte of device memory is tracked, to find accesses outside of allocations or
/// uninitialised reads.
#[cfg(feature = "vgpu")]
pub(crate) fn is_memory_checked(table: &DriverTable) -> bool {
    let checks = || check::enabled_checks();
    is_virtual_table(table) && (checks().memory || checks().init)
}

/// Whether nothing of the virtual GPU waits for other ranks.
#[cfg(feature = "vgpu")]
pub(crate) use rtcg_vgpu::is_all_external_work_done;

/// Whether kernels are checked in any way while they run.
#[cfg(feature = "vgpu")]
pub(crate) fn is_checked(table: &DriverTable) -> bool {
    is_virtual_table(table) && check::enabled_checks() != check::CheckSet::NO_CHECKS
}

/// Keeps the finding of an export that nothing orders, where races are looked for.
#[cfg(feature = "vgpu")]
pub(crate) fn record_pending_export(
    table: &DriverTable,
    kernel: Option<String>,
    address: u64,
    nbytes: u64,
    source: impl FnOnce() -> Option<(String, u32)>,
) {
    if is_virtual_table(table) && check::enabled_checks().race {
        check::record_pending_export(kernel, address, nbytes, source());
    }
}

/// Whether checks were asked for, which only the virtual GPU has.
#[cfg(feature = "vgpu")]
pub(crate) fn are_checks_requested() -> bool {
    check::requested_checks() != check::CheckSet::NO_CHECKS
}

/// The reason of the calling thread's last failed call itself, when it went to the virtual GPU.
#[cfg(feature = "vgpu")]
pub(crate) fn last_call_error_detail(table: &DriverTable) -> Option<String> {
    if is_virtual_table(table) { rtcg_vgpu::last_error_detail() } else { None }
}

/// What spoilt the virtual GPU's current context.
#[cfg(feature = "vgpu")]
pub(crate) fn fault_report(table: &DriverTable) -> Option<String> {
    if is_virtual_table(table) { rtcg_vgpu::last_fault_report(rtcg_cuda_sys::CUcontext::null()) } else { None }
}

/// The virtual NCCL for the devices of a virtual GPU: ours, or that of a library in place of NVIDIA's driver. The first
/// one that is asked for is that of the process.
#[cfg(feature = "vgpu")]
pub(crate) fn nccl_table(table: &'static DriverTable) -> Option<&'static rtcg_cuda_sys::NcclTable> {
    let own = is_virtual_table(table).then(rtcg_vgpu::external_work);
    rtcg_vnccl::set_driver(table, own.or_else(rtcg_cuda_sys::external_work_of_libcuda)?);
    Some(rtcg_vnccl::virtual_nccl_table())
}

/// What a communicator of a virtual device waits for.
#[cfg(feature = "vgpu")]
pub(crate) use rtcg_vnccl::awaited;

#[cfg(feature = "vgpu")]
fn is_virtual_table(table: &DriverTable) -> bool {
    virtual_gpu_table() == Some(table)
}

/// The answers of the functions above where there is no virtual GPU.
#[cfg(not(feature = "vgpu"))]
mod absent {
    use super::DriverTable;

    /// The virtual GPU's driver table: `None`, because the feature `vgpu` is off.
    pub fn virtual_gpu_table() -> Option<&'static DriverTable> {
        None
    }

    pub(crate) fn validate_settings() -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn are_checks_requested() -> bool {
        false
    }

    pub(crate) fn record_pending_export(
        _table: &DriverTable,
        _kernel: Option<String>,
        _address: u64,
        _nbytes: u64,
        _source: impl FnOnce() -> Option<(String, u32)>,
    ) {
    }

    pub(crate) fn memory_limit_notice() -> Option<String> {
        None
    }

    pub(crate) fn is_memory_checked(_table: &DriverTable) -> bool {
        false
    }

    pub(crate) fn is_all_external_work_done() -> bool {
        true
    }

    pub(crate) fn is_checked(_table: &DriverTable) -> bool {
        false
    }

    pub(crate) fn last_call_error_detail(_table: &DriverTable) -> Option<String> {
        None
    }

    pub(crate) fn fault_report(_table: &DriverTable) -> Option<String> {
        None
    }

    pub(crate) fn awaited(_comm: rtcg_cuda_sys::nccl::ncclComm_t) -> Option<String> {
        None
    }

    pub(crate) fn nccl_table(_table: &'static DriverTable) -> Option<&'static rtcg_cuda_sys::NcclTable> {
        None
    }
}

#[cfg(not(feature = "vgpu"))]
pub use absent::virtual_gpu_table;
#[cfg(not(feature = "vgpu"))]
pub(crate) use absent::{
    are_checks_requested, awaited, fault_report, is_all_external_work_done, is_checked, is_memory_checked,
    last_call_error_detail, memory_limit_notice, nccl_table, record_pending_export, validate_settings,
};
