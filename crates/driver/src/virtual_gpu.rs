//! The seam to the virtual GPU: its table, and what it knows beyond a result code.

use rtcg_cuda_sys::{DriverTable, TableKind};

/// The virtual GPU's table.
pub(crate) fn table() -> Option<&'static DriverTable> {
    None
}

/// More about the calling thread's last failed call, when it went to the virtual GPU.
pub(crate) fn failure_detail(table: &DriverTable) -> Option<String> {
    if table.kind() != TableKind::Virtual {
        return None;
    }
    None
}
