//! Reading and writing single values of memory in stream order.

use std::ffi::c_uint;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rtcg_cuda_sys::*;

use super::{Handle, driver_functions};
use crate::context::Context;
use crate::driver::stream_and_context;
use crate::error::{Code, Res, ensure};
use crate::exec;
use crate::graph::{Action, capture};
use crate::memory::copy::check_device;
use crate::stream::{StreamPoints, Work, is_dropped};
use std::sync::Arc;

/// One operation of `cuStreamBatchMemOp`, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Write { address: u64, value: u64, wide: bool },
    Wait { address: u64, value: u64, wide: bool, how: u32 },
    Nothing,
}

fn check(address: u64, wide: bool) -> Res {
    let bytes = if wide { 8 } else { 4 };
    ensure(address.is_multiple_of(bytes), Code::INVALID_VALUE)?;
    check_device(address, bytes)
}

fn write(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<Operation> {
    ensure(flags & !1 == 0, Code::INVALID_VALUE)?;
    check(address, wide)?;
    Ok(Operation::Write { address, value, wide })
}

fn wait(address: u64, value: u64, wide: bool, flags: c_uint) -> Res<Operation> {
    // The lowest bits say how to compare; bit 30 asks to flush remote writes, which is nothing here.
    ensure(flags & !(3 | 1 << 30) == 0, Code::INVALID_VALUE)?;
    check(address, wide)?;
    Ok(Operation::Wait { address, value, wide, how: flags & 3 })
}

impl Operation {
    pub(crate) fn run(self, ctx: &Context, generation: u64) -> Res {
        match self {
            Operation::Nothing => {}
            Operation::Write { address, value, wide } => store(address, value, wide)?,
            Operation::Wait { address, value, wide, how } => {
                while !holds(load(address, wide)?, value, wide, how) {
                    if ctx.is_poisoned() || is_dropped(ctx, generation) {
                        return Ok(());
                    }
                    if exec::is_requested() {
                        ctx.interrupt();
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
        }
        Ok(())
    }
}

fn holds(seen: u64, value: u64, wide: bool, how: u32) -> bool {
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

fn still_live(address: u64, wide: bool) -> Res {
    check(address, wide)
        .map_err(|_| Code::ILLEGAL_ADDRESS.because("a stream memory operation uses memory that was freed"))
}

fn load(address: u64, wide: bool) -> Res<u64> {
    still_live(address, wide)?;
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

fn store(address: u64, value: u64, wide: bool) -> Res {
    still_live(address, wide)?;
    // SAFETY: as for `load`.
    unsafe {
        if wide {
            AtomicU64::from_ptr(address as *mut u64).store(value, Ordering::Release);
        } else {
            AtomicU32::from_ptr(address as *mut u32).store(value as u32, Ordering::Release);
        }
    }
    Ok(())
}

fn submit(stream: CUstream, operations: Vec<Operation>) -> Res {
    let (ctx, stream) = stream_and_context(stream.number())?;
    if capture::intercept(&stream, || Ok(Action::MemOps(operations.clone().into(), Arc::new([]))))? {
        return Ok(());
    }
    let context: Arc<Context> = ctx.clone();
    let generation = ctx.cancel.generation();
    let work = move || operations.iter().try_for_each(|op| op.run(&context, generation));
    stream.submit(&ctx, StreamPoints::new(), Work::Device(Box::new(work)));
    Ok(())
}

driver_functions! {
    fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit(stream, vec![write(addr, u64::from(value), false, flags)?])
    }

    fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit(stream, vec![write(addr, value, true, flags)?])
    }

    fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit(stream, vec![wait(addr, u64::from(value), false, flags)?])
    }

    fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit(stream, vec![wait(addr, value, true, flags)?])
    }

    fn cuStreamBatchMemOp(stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) {
        ensure(flags == 0 && count > 0 && count <= 256 && !paramArray.is_null(), Code::INVALID_VALUE)?;
        submit(stream, operations_of(paramArray, count)?)
    }
}

/// The operations of an array.
///
/// # Safety
/// `array` has `count` elements.
pub(crate) unsafe fn operations_of(array: *const CUstreamBatchMemOpParams, count: c_uint) -> Res<Vec<Operation>> {
    ensure(count > 0 && count <= 256 && !array.is_null(), Code::INVALID_VALUE)?;
    let one = |i: usize| {
        // SAFETY: `i < count`, and the operation says which member of the union is set; all are numbers.
        unsafe {
            let given = array.add(i).read_unaligned();
            use CUstreamBatchMemOpType as T;
            let (w, r) = (given.writeValue, given.waitValue);
            match given.operation {
                T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => write(w.address, u64::from(w.anon0.value), false, w.flags),
                T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => write(w.address, w.anon0.value64, true, w.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => wait(r.address, u64::from(r.anon0.value), false, r.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => wait(r.address, r.anon0.value64, true, r.flags),
                T::CU_STREAM_MEM_OP_BARRIER | T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => Ok(Operation::Nothing),
                _ => Code::INVALID_VALUE.err(),
            }
        }
    };
    (0..count as usize).map(one).collect()
}
