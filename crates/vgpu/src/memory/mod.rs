//! Memory of the virtual GPU: the device window and what is allocated in it.

pub(crate) mod account;
pub(crate) mod allocation_report;
pub(crate) mod anonymous_file;
pub(crate) mod array;
pub(crate) mod box_copy;
pub(crate) mod copy;
pub(crate) mod fill;
pub(crate) mod globals;
pub(crate) mod heap;
pub(crate) mod hints;
pub(crate) mod ipc;
pub(crate) mod leaks;
pub(crate) mod mapping;
mod pages;
pub(crate) mod peer_access;
pub(crate) mod pool;
pub(crate) mod synchronous_copies;
