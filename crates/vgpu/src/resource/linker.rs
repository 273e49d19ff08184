//! Linkers: programs on their way to one module.

use crate::module::link_log::JitLogs;
use rtcg_vgpu_abi::error::{Error, ResultCode};
use rtcg_vgpu_abi::handle_table::HandleTable;
use rtcg_vgpu_abi::model::calls::{LINK_CODE_WITH_LOG, LINK_CODE_WITHOUT_LOG};
use std::sync::Mutex;

/// Linkers.
pub(crate) static LINKERS: HandleTable<DriverLinker> = HandleTable::new(0x17);

/// `CUlinkState`: PTX texts on their way to one module.
#[derive(Debug)]
pub(crate) struct DriverLinker {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Inputs with their names, and the result.
    pub(crate) state: Mutex<LinkState>,
}

/// What a linker has so far.
#[derive(Debug, Default)]
pub(crate) struct LinkState {
    /// PTX texts with the names that messages use.
    pub(crate) inputs: Vec<(String, Vec<u8>)>,
    /// What was wrong with an input after which the linker takes no more, nor completes.
    pub(crate) failed: Option<Error>,
    /// Whether CUDA's device runtime library was added.
    pub(crate) device_runtime: bool,
    /// `CU_JIT_MAX_REGISTERS`.
    pub(crate) max_registers: Option<u32>,
    /// `CU_JIT_TARGET`.
    pub(crate) target: Option<u32>,
    /// The linked image; lives as long as the linker.
    pub(crate) output: Option<Vec<u8>>,
    /// Where the caller wants messages.
    pub(crate) logs: JitLogs,
}

impl LinkState {
    /// The code for inputs that do not fit together, or need what none of them has.
    pub(crate) fn code_of_misfits(&self) -> ResultCode {
        let has_log = self.logs.error.start != 0 && self.logs.error.size > 0;
        if has_log { LINK_CODE_WITH_LOG } else { LINK_CODE_WITHOUT_LOG }
    }
}
