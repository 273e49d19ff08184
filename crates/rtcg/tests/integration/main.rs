//! All integration tests of the Rust front end, in one binary.
#![allow(unsafe_code, reason = "launches run code that the compiler has not seen")]

#[path = "../../../../tests/support/depth.rs"]
mod test_depth;
#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
#[path = "../../../../tests/support/fake_device.rs"]
mod fake_device;
#[path = "../../../../tests/support/text_files.rs"]
mod text_files;

mod allocation_arguments;
mod architecture;
mod arguments;
mod array_tuning;
mod arrays;
mod cgen;
mod choices;
mod device_memory;
mod einsum;
mod emulation;
mod errors;
mod fourier;
mod fuse;
mod generators;
mod lang;
mod launch;
mod linalg;
mod linalg_choices;
mod linalg_large;
mod matmul_epilogue;
mod packages;
mod segments;
mod simt_kernels;
mod sparse;
mod stream_ordering;
mod textures;
mod tuning;
mod typed_arrays;
