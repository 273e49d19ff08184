//! Programs with kernels of their own, found by pattern: [`stencil`].

pub mod stencil;
