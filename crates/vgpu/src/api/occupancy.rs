//! Occupancy: how many blocks of a kernel are resident on a multiprocessor at once.
//!
//! The answer is the smaller of what the limits of compute capability 8.0 allow and of what this
//! device really keeps resident, so that a cooperative launch of that many blocks per
//! multiprocessor is possible.

use std::ffi::{c_int, c_uint};

use rtcg_cuda_sys::*;

use super::function::function_in_context;
use super::{driver_functions, write_out};
use crate::device::{
    BLOCKS_PER_MULTIPROCESSOR, SHARED_BYTES_PER_MULTIPROCESSOR, THREADS_PER_MULTIPROCESSOR, n_multiprocessors,
};
use crate::module::max_resident_blocks;
use crate::module::{Kernel, Launch};
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::launch::max_warps_by_registers;
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;

/// Shared memory is given to blocks in units of this.
const SHARED_ALLOCATION_UNIT: u32 = 128;

fn blocks_per_multiprocessor(kernel: &Kernel, threads: u32, dynamic_shared: u32) -> u32 {
    let resident = max_resident_blocks(kernel, threads, dynamic_shared);
    if resident == 0 {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let by_threads = THREADS_PER_MULTIPROCESSOR / (warps * 32);
    let shared = kernel.static_shared() + dynamic_shared + RESERVED_SHARED_BYTES;
    let by_shared = SHARED_BYTES_PER_MULTIPROCESSOR / shared.next_multiple_of(SHARED_ALLOCATION_UNIT);
    let by_registers = max_warps_by_registers(kernel.n_regs()) / warps;
    // There are never more multiprocessors than resident blocks.
    let by_device = resident / n_multiprocessors();
    // The number of registers may be an estimate: a block that has not been refused runs whatever it is.
    by_threads.min(by_shared).min(by_registers.max(1)).min(BLOCKS_PER_MULTIPROCESSOR).min(by_device)
}

/// Dynamic shared memory as the driver reads it: the lower half of the number that is given.
fn dynamic_shared_bytes(given: usize) -> u32 {
    given as u32
}

/// Refuses a cooperative launch of more blocks than are resident by the device's own account, even if this device could
/// run them all (question 41 of `tests/fidelity`).
pub(crate) fn check_cooperative_size(launch: &Launch) -> Res {
    if !launch.cooperative {
        return Ok(());
    }
    let threads = launch.block.iter().product();
    let resident = blocks_per_multiprocessor(&launch.function, threads, launch.dynamic_shared) * n_multiprocessors();
    ensure(launch.n_blocks() <= u64::from(resident), ResultCode::COOPERATIVE_LAUNCH_TOO_LARGE)
}

fn max_active_blocks(func: CUfunction, block_size: c_int, dynamic_shared: usize) -> Res<c_int> {
    let function = function_in_context(&*current()?, func)?;
    let threads = u32::try_from(block_size).ok().filter(|&n| n > 0).ok_or(ResultCode::INVALID_VALUE)?;
    Ok(blocks_per_multiprocessor(&function.kernel, threads, dynamic_shared_bytes(dynamic_shared)) as c_int)
}

/// Dynamic shared memory that each of so many blocks of a multiprocessor can have: an equal part of what there is, up
/// to the kernel's limit. The part for the system is not taken off, as on a card.
fn available_dynamic_shared(kernel: &Kernel, blocks: u32, threads: u32) -> Res<u32> {
    let warps = threads.div_ceil(32);
    let most = (THREADS_PER_MULTIPROCESSOR / 32).min(max_warps_by_registers(kernel.n_regs()).max(warps)) / warps;
    let fits = threads <= kernel.max_threads_per_block() && blocks <= most.min(BLOCKS_PER_MULTIPROCESSOR);
    ensure(fits, ResultCode::INVALID_VALUE)?;
    let share = SHARED_BYTES_PER_MULTIPROCESSOR / blocks / SHARED_ALLOCATION_UNIT * SHARED_ALLOCATION_UNIT;
    Ok(share.saturating_sub(kernel.static_shared()).min(kernel.max_dynamic_shared()))
}

/// The block size with the most resident threads, and among equals the largest: the search begins with the largest and
/// ends where a multiprocessor is full. Both numbers are 0 where no block can run.
fn best_block_size(
    func: CUfunction,
    shared_for: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Res<(c_int, c_int)> {
    let function = function_in_context(&*current()?, func)?;
    let kernel = &function.kernel;
    let largest = match u32::try_from(limit).map_err(|_| ResultCode::INVALID_VALUE)? {
        0 => kernel.max_threads_per_block(),
        limit => limit.min(kernel.max_threads_per_block()),
    };
    let (mut best, mut best_threads) = ((0, 0), 0);
    for warps in (1..=largest.div_ceil(32)).rev() {
        let threads = (warps * 32).min(largest);
        // SAFETY: the program gave this function to be called with a block size.
        let dynamic = shared_for.map_or(shared, |f| unsafe { f(threads as c_int) });
        let blocks = blocks_per_multiprocessor(kernel, threads, dynamic_shared_bytes(dynamic));
        if blocks * threads > best_threads {
            best_threads = blocks * threads;
            best = ((blocks * n_multiprocessors()) as c_int, threads as c_int);
        }
        if best_threads == THREADS_PER_MULTIPROCESSOR {
            break;
        }
    }
    Ok(best)
}

driver_functions! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize) {
        write_out(numBlocks, max_active_blocks(func, blockSize, dynamicSMemSize)?)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint) {
        ensure(flags <= 1, ResultCode::INVALID_VALUE)?;
        write_out(numBlocks, max_active_blocks(func, blockSize, dynamicSMemSize)?)
    }

    fn cuOccupancyMaxPotentialBlockSize(minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int) {
        let (grid, block) = best_block_size(func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)?;
        write_out(minGridSize, grid)?;
        write_out(blockSize, block)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int, flags: c_uint) {
        ensure(flags <= 1, ResultCode::INVALID_VALUE)?;
        let (grid, block) = best_block_size(func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)?;
        write_out(minGridSize, grid)?;
        write_out(blockSize, block)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int) {
        let function = function_in_context(&*current()?, func)?;
        let blocks = u32::try_from(numBlocks).ok().filter(|&n| n > 0).ok_or(ResultCode::INVALID_VALUE)?;
        let threads = u32::try_from(blockSize).ok().filter(|&n| n > 0).ok_or(ResultCode::INVALID_VALUE)?;
        write_out(dynamicSmemSize, available_dynamic_shared(&function.kernel, blocks, threads)? as usize)
    }
}
