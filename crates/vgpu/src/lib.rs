//! The virtual GPU: the CUDA driver API executed on CPU cores.
#![allow(unsafe_code)]

pub mod abi;
pub mod exec;
pub mod jit;
pub mod memory;
pub mod module;
pub mod softmath;
