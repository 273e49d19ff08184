//! Reading and writing single values of memory in stream order.

use std::ffi::c_uint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions};
use crate::context::Context;
use crate::driver::stream_and_context;
use crate::error::{Res, ResultCode, ensure};
use crate::exec;
use crate::graph::{NodeAction, capture};
use crate::memory::copy::check_device_range;
use crate::stream::{OperationWork, StreamPoints, is_interrupted_generation};
use std::sync::Arc;

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

fn new_write_op(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<MemOp> {
    ensure(flags & !1 == 0, ResultCode::INVALID_VALUE)?;
    check_word_address(address, wide)?;
    Ok(MemOp::Write { address, value, wide })
}

fn new_wait_op(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<MemOp> {
    // The lowest bits say how to compare; bit 30 asks to flush remote writes, which is nothing here.
    ensure(flags & !(3 | 1 << 30) == 0, ResultCode::INVALID_VALUE)?;
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

fn submit_mem_ops(stream: CUstream, operations: Vec<MemOp>) -> Res {
    let (ctx, stream) = stream_and_context(stream.handle_number())?;
    if capture::capture_operation(&stream, || Ok(NodeAction::MemOps(operations.clone().into(), Arc::new([]))))? {
        return Ok(());
    }
    let context: Arc<Context> = ctx.clone();
    let generation = ctx.cancel.interrupt_generation();
    let work = move || operations.iter().try_for_each(|op| op.execute_mem_op(&context, generation));
    stream.submit_operation(&ctx, StreamPoints::new(), OperationWork::Device(Box::new(work)));
    Ok(())
}

driver_functions! {
    fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit_mem_ops(stream, vec![new_write_op(addr, u64::from(value), false, flags)?])
    }

    fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit_mem_ops(stream, vec![new_write_op(addr, value, true, flags)?])
    }

    fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit_mem_ops(stream, vec![new_wait_op(addr, u64::from(value), false, flags)?])
    }

    fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit_mem_ops(stream, vec![new_wait_op(addr, value, true, flags)?])
    }

    fn cuStreamBatchMemOp(stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) {
        ensure(flags == 0 && count > 0 && count <= 256 && !paramArray.is_null(), ResultCode::INVALID_VALUE)?;
        submit_mem_ops(stream, mem_ops_from_params(paramArray, count)?)
    }
}

/// The operations of an array.
///
/// # Safety
/// `array` has `count` elements.
pub(crate) unsafe fn mem_ops_from_params(array: *const CUstreamBatchMemOpParams, count: c_uint) -> Res<Vec<MemOp>> {
    ensure(count > 0 && count <= 256 && !array.is_null(), ResultCode::INVALID_VALUE)?;
    let one = |i: usize| {
        // SAFETY: `i < count`, and the operation says which member of the union is set; all are numbers.
        unsafe {
            let given = array.add(i).read_unaligned();
            use CUstreamBatchMemOpType as T;
            let (w, r) = (given.writeValue, given.waitValue);
            match given.operation {
                T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => new_write_op(w.address, u64::from(w.anon0.value), false, w.flags),
                T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => new_write_op(w.address, w.anon0.value64, true, w.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => new_wait_op(r.address, u64::from(r.anon0.value), false, r.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => new_wait_op(r.address, r.anon0.value64, true, r.flags),
                T::CU_STREAM_MEM_OP_BARRIER | T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => Ok(MemOp::Nothing),
                _ => ResultCode::INVALID_VALUE.err(),
            }
        }
    };
    (0..count as usize).map(one).collect()
}
