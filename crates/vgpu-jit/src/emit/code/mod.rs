//! Machine code once Cranelift has made it. [`image`] is code that can be put anywhere, and [`relocations`] are the
//! places in it that name something, such as one of the [`host_functions`]; [`image_serialization`] turns images into
//! bytes, which are stored under a [`cache_key`]. [`loaded_code`] is a kernel in memory, with the [`host_state`] that
//! its code points to.

pub mod cache_key;
mod host_functions;
pub(super) mod host_state;
pub(super) mod image;
pub(super) mod image_serialization;
mod libcalls;
pub(crate) mod loaded_code;
pub(super) mod relocations;
pub(super) mod serialization;
