//! Compiles CUDA C++ source to binaries.
//!
//! [`Compiler::compile`] takes a [`CompileRequest`] (source, nvcc-style options, target) and returns an [`Artifact`]
//! (cubin, PTX, fatbin or LTO-IR). NVRTC or clang does the work unless the user names an nvcc or uses an option that only
//! nvcc supports. This crate supplies headers that NVRTC lacks, so ordinary kernel sources compile without a CUDA toolkit.
//! Results are cached on disk; a cache hit needs no compiler at all.
//!
//! Assumes nothing about devices: the caller says which architecture and which kind of result it wants.
//!
//! | folder, file | contents |
//! |---|---|
//! | `compiler.rs` | from request to artifact |
//! | `options.rs` | option translation |
//! | `includes.rs`, `headers/` | the search for included headers, and headers that NVRTC lacks |
//! | `nvrtc.rs`, `nvcc.rs`, `lto.rs`, `clang/` | the compilers: NVRTC, nvcc, nvJitLink, and clang for OpenCL C and CUDA C++ |
//! | `backend.rs` | the choice between NVRTC and clang for CUDA C++ |
//! | `clang/cuda/` | the headers of CUDA C++ for clang; OpenCL's library has the mathematics in them, too |
//! | `cache/`, `prebuilt.rs` | the cache of compiled programs, and prebuilt programs |
//! | `in_flight.rs` | one compilation if several threads request the same program at once |

mod arch;
mod attempts;
mod backend;
mod cache;
pub mod clang;
mod compiler;
mod declaration_tokens;
mod error;
mod excerpt;
mod exit_handler;
mod hash;
mod header_shims;
mod host_code;
mod implicit_includes;
mod in_flight;
mod includes;
mod layout_attributes;
mod lto;
mod nvcc;
mod nvrtc;
mod options;
mod prebuilt;
mod request;
mod signals;
mod signature;
mod source_tokens;
mod texture_uses;

pub use arch::Arch;
pub use cache::{CacheStatus, cache_directory, cache_status, clear_memory_cache};
pub use compiler::{Compiler, CompilerInfo, set_line_printer, wrap_source};
pub use declaration_tokens::expanded_identifiers;
pub use error::{CompileError, ErrorKind};
pub use header_shims::shim_names as provided_headers;
pub use options::lto_options;
pub use prebuilt::{prebuilt_file, start_recording, use_prebuilt_programs, write_recording};
pub use request::{Artifact, BinaryKind, CachePolicy, CompileRequest, Target, default_options};
pub use signals::set_interrupt_check;
pub use signature::{KernelDeclarations, KernelParameter};
