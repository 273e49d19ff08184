//! All integration tests of the virtual GPU, in one binary.
#![allow(unsafe_code, reason = "calls the driver's table, as programs in C do, and runs machine code")]
#![allow(unreachable_pub, clippy::result_large_err, reason = "what files of tests share; they look into faults")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
#[macro_use]
mod api_common;

mod api_batches;
mod api_cancel;
mod api_compiler_bug;
mod api_context;
mod api_devices;
mod api_exit;
mod api_faults;
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
mod constant_offsets;
#[path = "../../../../tests/support/depth.rs"]
mod depth;
mod exec_barriers;
mod exec_module;
mod exec_ptx;
mod fatbins;
mod fuzz_kernels;
mod fuzz_support;
mod jit_basic;
mod jit_calls;
mod jit_lock_step;
mod jit_parameters;
mod jit_simt;
mod jit_special;
mod jit_support;
mod jit_warp;
mod launch_limits;
mod matrix;
mod ptx_forms;
mod ptx_operands;
mod recorded;
mod recorded_support;
mod schedule;
#[path = "../../../vgpu-exec/tests/integration/window_memory.rs"]
mod window_memory;
