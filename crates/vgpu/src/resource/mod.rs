//! What handles of programs, kernels, textures and surfaces stand for.

pub(crate) mod array_shape;
pub(crate) mod function;
pub(crate) mod library;
pub(crate) mod linker;
pub(crate) mod module;
pub(crate) mod texture_descriptor;
pub(crate) mod texture_object;
pub(crate) mod texture_ref;
