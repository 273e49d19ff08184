//! Memory of the virtual GPU: the device window and what is allocated in it.

pub(crate) mod copy;
pub(crate) mod globals;
pub(crate) mod heap;
pub(crate) mod hints;
pub mod host;
pub(crate) mod mapping;
pub mod window;
