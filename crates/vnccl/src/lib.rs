//! A virtual NCCL: NVIDIA's library of collectives for devices of the virtual GPU, in one process and across the
//! processes of a machine.
//!
//! Each of these files imports only those that are listed before it.
//!
//! | file | contents |
//! |---|---|
//! | `elements.rs` | how elements are combined |
//! | `call.rs` | what a rank asks for, and what data that moves |
//! | `clique.rs` | where the ranks meet |
//! | `unique_id.rs`, `remote.rs` | ranks of other processes |
//! | `communicator.rs` | a rank: its streams, and its way to the clique |
//! | `group.rs` | calls between `ncclGroupStart` and `ncclGroupEnd` |
//! | `api.rs` | the functions under their C names |
//!
//! Results are combined in the order of ranks and are the same in every run. Ranks that disagree, and ranks that leave
//! or die while others wait, are errors that every rank gets, and which name the ranks; the real library hangs. A
//! collective that waits for other ranks holds no thread ([`ExternalWork`]).
#![allow(unsafe_code, reason = "an implementation of a C interface, and memory that is addressed by numbers")]

mod api;
mod call;
mod clique;
mod communicator;
mod elements;
mod group;
mod remote;
mod unique_id;

pub use api::{awaited, resolve_function};

use rtcg_cuda_sys::{DriverTable, ExternalWork, NcclTable};
use std::sync::OnceLock;

/// The driver whose streams and memory are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driver {
    pub(crate) table: &'static DriverTable,
    pub(crate) work: &'static ExternalWork,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

/// Sets the virtual GPU whose devices are the ranks, before the first call. Later calls change nothing.
pub fn set_driver(table: &'static DriverTable, work: &'static ExternalWork) {
    let _ = DRIVER.set(Driver { table, work });
}

/// The functions as a table.
pub fn virtual_nccl_table() -> &'static NcclTable {
    static TABLE: OnceLock<NcclTable> = OnceLock::new();
    TABLE.get_or_init(|| NcclTable::from_functions(resolve_function))
}
