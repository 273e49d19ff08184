//! The interface to the virtual GPU: its table, and what it knows beyond a result code.

use rtcg_cuda_sys::{CUcontext, DriverTable};

pub(crate) use rtcg_vgpu::memory_limit_notice;
pub use rtcg_vgpu::{check, finish_or_cancel_work, schedule, set_interrupt_check};

/// The virtual GPU's table, whether or not its devices are in use. It keeps machine code on disk.
pub fn virtual_gpu_table() -> &'static DriverTable {
    rtcg_vgpu::code_cache::enable_code_cache();
    rtcg_vgpu::virtual_driver_table()
}

/// Whether the state of every byte of device memory is tracked, to find accesses outside of allocations or
/// uninitialised reads.
pub(crate) fn is_memory_checked(table: &DriverTable) -> bool {
    let checks = || check::enabled_checks();
    table == self::virtual_gpu_table() && (checks().memory || checks().init)
}

/// The reason of the calling thread's last failed call itself, when it went to the virtual GPU.
pub(crate) fn last_call_error_detail(table: &DriverTable) -> Option<String> {
    if table == self::virtual_gpu_table() { rtcg_vgpu::last_error_detail() } else { None }
}

/// What spoilt the virtual GPU's current context.
pub(crate) fn fault_report(table: &DriverTable) -> Option<String> {
    if table == self::virtual_gpu_table() { rtcg_vgpu::last_fault_report(CUcontext::null()) } else { None }
}
