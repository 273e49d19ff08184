//! The CUDA result codes that the engine and the module loader give (`CUresult` of the driver API).
#![allow(missing_docs, reason = "CUDA's names; `ResultCode` has their texts")]

pub const SUCCESS: i32 = 0;
pub const INVALID_VALUE: i32 = 1;
pub const OUT_OF_MEMORY: i32 = 2;
pub const INVALID_IMAGE: i32 = 200;
pub const NO_BINARY_FOR_GPU: i32 = 209;
pub const INVALID_PTX: i32 = 218;
pub const UNSUPPORTED_PTX_VERSION: i32 = 222;
pub const NOT_FOUND: i32 = 500;
pub const ILLEGAL_ADDRESS: i32 = 700;
pub const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
pub const LAUNCH_TIMEOUT: i32 = 702;
pub const ASSERT: i32 = 710;
pub const HARDWARE_STACK_ERROR: i32 = 714;
pub const ILLEGAL_INSTRUCTION: i32 = 715;
pub const MISALIGNED_ADDRESS: i32 = 716;
pub const INVALID_ADDRESS_SPACE: i32 = 717;
pub const INVALID_PC: i32 = 718;
pub const LAUNCH_FAILED: i32 = 719;
pub const COOPERATIVE_LAUNCH_TOO_LARGE: i32 = 720;
pub const NOT_SUPPORTED: i32 = 801;
pub const UNKNOWN: i32 = 999;
