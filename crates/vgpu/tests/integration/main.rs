//! All integration tests of the virtual GPU, in one binary.
#![allow(unsafe_code, reason = "calls the driver's table, as programs in C do, and runs machine code")]
#![allow(unreachable_pub, clippy::result_large_err, reason = "what files of tests share; they look into faults")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
#[macro_use]
mod api_common;

mod api_cancel;
mod api_compiler_bug;
mod api_context;
mod api_devices;
mod api_exit;
mod api_fork;
mod api_graph;
mod api_ipc;
mod api_kernels;
mod api_memory;
mod api_occupancy;
mod api_out_of_memory;
mod api_peers;
mod api_primary;
mod api_resources;
mod api_streams;
mod api_textures;
mod checked_mode;
mod code_cache;
#[path = "../../../ptx/tests/integration/common/mod.rs"]
mod common;
#[path = "../../../../tests/support/depth.rs"]
mod depth;
mod exec_atomics;
mod exec_barriers;
mod exec_module;
mod exec_native;
mod exec_output;
mod exec_ptx;
mod exec_support;
mod exec_window;
mod fuzz_kernels;
mod fuzz_support;
mod jit_basic;
mod jit_calls;
mod jit_parameters;
mod jit_simt;
mod jit_special;
mod jit_support;
mod jit_warp;
mod matrix;
mod ops_approx;
mod ops_direct;
mod ops_gpu;
mod ops_reference;
mod ops_speed;
mod ops_support;
mod ptx_forms;
mod recorded;
mod recorded_support;
mod schedule;
mod window_memory;
