//! The seam to the virtual GPU: its table, and what it knows beyond a result code.

use rtcg_cuda_sys::{CUcontext, DriverTable};

pub use rtcg_vgpu::{check, end_work, schedule, set_interrupt_check};

/// The virtual GPU's table, whether or not its devices are in use.
pub fn table() -> &'static DriverTable {
    rtcg_vgpu::table()
}

/// More about the calling thread's last failed call, when it went to the virtual GPU: the reason
/// of the call itself, else the report of the fault that spoilt the context.
pub(crate) fn failure_detail(table: &DriverTable) -> Option<String> {
    if table != self::table() {
        return None;
    }
    rtcg_vgpu::last_error_detail().or_else(|| rtcg_vgpu::last_fault_report(CUcontext::null()))
}
