//! Reading and writing single values of memory in stream order.

use std::ffi::c_uint;

use rtcg_cuda_sys::CUstreamBatchMemOpType as T;
use rtcg_cuda_sys::*;

use super::{Handle, driver_functions};
use crate::driver::stream_and_context;
use crate::graph::{AssertSend, NodeAction, capture};
use crate::stream::context::Context;
use crate::stream::memory_op::{MemOp, new_flush_op, new_wait_op, new_write_op};
use crate::stream::{OperationWork, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use std::sync::Arc;

fn submit_mem_ops(stream: CUstream, given: &[CUstreamBatchMemOpParams]) -> Res {
    let operations = mem_ops_from_params(given)?;
    let (ctx, stream) = stream_and_context(stream.handle_number())?;
    if capture::capture_operation(&stream, || mem_ops_action(given))? {
        return Ok(());
    }
    let context: Arc<Context> = ctx.clone();
    let generation = ctx.cancel.interrupt_generation();
    let work = move || operations.iter().try_for_each(|op| op.execute_mem_op(&context, generation));
    stream.submit_operation(&ctx, StreamPoints::new(), OperationWork::Device(Box::new(work)));
    Ok(())
}

/// One write or wait as an element of a batch, in which both have the same fields.
fn word_params(operation: T, address: CUdeviceptr, value: u64, flags: c_uint) -> CUstreamBatchMemOpParams {
    let anon0 = CUstreamBatchMemOpParams_writeValue_anon0 { value64: value };
    let word = CUstreamBatchMemOpParams_writeValue { operation, address, anon0, flags, alias: 0 };
    CUstreamBatchMemOpParams { writeValue: word }
}

driver_functions! {
    fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit_mem_ops(stream, &[word_params(T::CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, u64::from(value), flags)])
    }

    fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit_mem_ops(stream, &[word_params(T::CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags)])
    }

    fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: c_uint) {
        submit_mem_ops(stream, &[word_params(T::CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, u64::from(value), flags)])
    }

    fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: c_uint) {
        submit_mem_ops(stream, &[word_params(T::CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags)])
    }

    fn cuStreamBatchMemOp(stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint) {
        ensure(flags == 0, ResultCode::INVALID_VALUE)?;
        if count == 0 {
            return stream_and_context(stream.handle_number()).map(drop);
        }
        submit_mem_ops(stream, &mem_op_params(paramArray, count)?)
    }
}

/// The elements of an array.
///
/// # Safety
/// `array` is null or has `count` elements.
pub(crate) unsafe fn mem_op_params(
    array: *const CUstreamBatchMemOpParams,
    count: c_uint,
) -> Res<Vec<CUstreamBatchMemOpParams>> {
    ensure(count <= 256 && (count == 0 || !array.is_null()), ResultCode::INVALID_VALUE)?;
    // SAFETY: `i < count`.
    Ok((0..count as usize).map(|i| unsafe { array.add(i).read_unaligned() }).collect())
}

/// What a node of these operations does.
pub(crate) fn mem_ops_action(given: &[CUstreamBatchMemOpParams]) -> Res<NodeAction> {
    let operations = mem_ops_from_params(given)?;
    Ok(NodeAction::MemOps(operations.into(), given.iter().copied().map(AssertSend).collect()))
}

fn mem_ops_from_params(given: &[CUstreamBatchMemOpParams]) -> Res<Vec<MemOp>> {
    let one = |given: &CUstreamBatchMemOpParams| {
        // SAFETY: the operation says which member of the union is set; all are numbers.
        unsafe {
            let (w, r) = (given.writeValue, given.waitValue);
            match given.operation {
                T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => new_write_op(w.address, u64::from(w.anon0.value), false, w.flags),
                T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => new_write_op(w.address, w.anon0.value64, true, w.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => new_wait_op(r.address, u64::from(r.anon0.value), false, r.flags),
                T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => new_wait_op(r.address, r.anon0.value64, true, r.flags),
                T::CU_STREAM_MEM_OP_BARRIER => Ok(MemOp::Nothing),
                T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => new_flush_op(),
                _ => ResultCode::INVALID_VALUE.err(),
            }
        }
    };
    given.iter().map(one).collect()
}
