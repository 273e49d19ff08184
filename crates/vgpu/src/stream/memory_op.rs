//! Reads and writes of single values in stream order.

use super::is_interrupted_generation;
use crate::memory::copy::{check_device_range, check_writable};
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::memory::CAN_FLUSH_REMOTE_WRITES;
use rtcg_vgpu_exec as exec;
use std::ffi::c_uint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// `CU_STREAM_WAIT_VALUE_FLUSH`
const FLUSH_FLAG: c_uint = 1 << 30;

/// One operation of `cuStreamBatchMemOp`, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemOp {
    Write { address: u64, value: u64, wide: bool },
    Wait { address: u64, value: u64, wide: bool, how: u32 },
    Nothing,
}

fn check_word_address(address: u64, wide: bool) -> Res {
    let bytes = if wide { 8 } else { 4 };
    ensure(address.is_multiple_of(bytes), ResultCode::INVALID_VALUE)?;
    check_device_range(address, bytes)
}

/// `CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES`
pub(crate) fn new_flush_op() -> Res<MemOp> {
    ensure(CAN_FLUSH_REMOTE_WRITES, ResultCode::NOT_SUPPORTED)?;
    Ok(MemOp::Nothing)
}

pub(crate) fn new_write_op(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<MemOp> {
    ensure(flags == 0, ResultCode::INVALID_VALUE)?;
    check_word_address(address, wide)?;
    Ok(MemOp::Write { address, value, wide })
}

pub(crate) fn new_wait_op(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<MemOp> {
    // The lowest bits say how to compare.
    ensure(flags & !(3 | FLUSH_FLAG) == 0, ResultCode::INVALID_VALUE)?;
    ensure(flags & FLUSH_FLAG == 0 || CAN_FLUSH_REMOTE_WRITES, ResultCode::NOT_SUPPORTED)?;
    check_word_address(address, wide)?;
    Ok(MemOp::Wait { address, value, wide, how: flags & 3 })
}

impl MemOp {
    pub(crate) fn execute_mem_op(self, ctx: &Context, generation: u64) -> Res {
        match self {
            MemOp::Nothing => {}
            MemOp::Write { address, value, wide } => store_word(address, value, wide)?,
            MemOp::Wait { address, value, wide, how } => {
                while !wait_condition_holds(load_word(address, wide)?, value, wide, how) {
                    if ctx.is_poisoned() || is_interrupted_generation(ctx, generation) {
                        return Ok(());
                    }
                    if exec::is_interrupt_requested() {
                        ctx.interrupt();
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
        }
        Ok(())
    }
}

fn wait_condition_holds(seen: u64, value: u64, wide: bool, how: u32) -> bool {
    match (how, wide) {
        // "Greater or equal" is cyclic: the difference is not negative.
        (0, false) => (seen as u32).wrapping_sub(value as u32) as i32 >= 0,
        (0, true) => seen.wrapping_sub(value) as i64 >= 0,
        (1, _) => seen == value,
        (2, _) => seen & value != 0,
        (_, false) => !(seen as u32 | value as u32) != 0,
        (_, true) => !(seen | value) != 0,
    }
}

fn check_word_still_live(address: u64, wide: bool) -> Res {
    check_word_address(address, wide)
        .map_err(|_| ResultCode::ILLEGAL_ADDRESS.with_detail("a stream memory operation uses memory that was freed"))
}

fn load_word(address: u64, wide: bool) -> Res<u64> {
    check_word_still_live(address, wide)?;
    // SAFETY: aligned and in live device memory, which is always mapped; kernels and host may
    // write to it, hence atomically.
    Ok(unsafe {
        if wide {
            AtomicU64::from_ptr(address as *mut u64).load(Ordering::Acquire)
        } else {
            u64::from(AtomicU32::from_ptr(address as *mut u32).load(Ordering::Acquire))
        }
    })
}

fn store_word(address: u64, value: u64, wide: bool) -> Res {
    check_word_still_live(address, wide)?;
    check_writable(address, if wide { 8 } else { 4 })?;
    // SAFETY: as for `load_word`.
    unsafe {
        if wide {
            AtomicU64::from_ptr(address as *mut u64).store(value, Ordering::Release);
        } else {
            AtomicU32::from_ptr(address as *mut u32).store(value as u32, Ordering::Release);
        }
    }
    Ok(())
}
