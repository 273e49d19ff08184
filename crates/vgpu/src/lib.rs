//! The virtual GPU: the CUDA driver API executed on CPU cores.

pub mod abi;
pub mod jit;
