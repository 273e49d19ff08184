//! Memory of the virtual GPU: the device window and what is allocated in it.

mod anonymous_file;
pub(crate) mod copy;
pub(crate) mod globals;
pub(crate) mod heap;
pub(crate) mod hints;
pub mod host;
pub(crate) mod ipc;
pub(crate) mod mapping;
pub(crate) mod move_pages;
mod pages;
pub mod window;
