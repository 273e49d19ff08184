//! A launch: what to run on which grid, and what CUDA has to say against it.

use super::Kernel;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::launch::{MAX_BLOCK_DIM, MAX_GRID_DIM, MAX_THREADS_PER_BLOCK};
use rtcg_vgpu_exec::{CancelFlag, Fault, LaunchConfig, memory_slots, worker};
use std::sync::Arc;

/// A kernel on a grid.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The kernel; keeps its module alive.
    pub function: Arc<Kernel>,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of `extern __shared__` memory.
    pub dynamic_shared: u32,
    /// Parameters packed as PTX lays them out (`Kernel::kernel_params` has the offsets).
    pub params: Vec<u8>,
    /// `cuLaunchCooperativeKernel`: all blocks must be resident at once.
    pub cooperative: bool,
}

impl Launch {
    /// Blocks of the whole grid.
    pub(crate) fn n_blocks(&self) -> u64 {
        self.grid.iter().map(|&g| u64::from(g)).product()
    }
}

/// What the driver says about a launch before it starts: an error has its result code.
///
/// # Errors
/// `INVALID_VALUE` for a grid or block outside the device's limits or against the kernel's
/// `reqntid`/`maxntid`, for too few parameter bytes, and for too much dynamic shared or local memory;
/// `LAUNCH_OUT_OF_RESOURCES` for a block whose threads surely need more registers than a multiprocessor has;
/// `COOPERATIVE_LAUNCH_TOO_LARGE` when the blocks of a cooperative launch cannot all be resident.
pub fn validate_launch(launch: &Launch) -> Res {
    let fits = launch.grid.iter().zip(MAX_GRID_DIM).all(|(size, most)| (1..=most).contains(size));
    ensure(fits, ResultCode::INVALID_VALUE)?;
    let threads = check_block_shape(launch.block)?;
    let k = &*launch.function;
    if let Some(required) = k.launch_bounds().req_ntid {
        // A block of one thread passes for any shape.
        ensure(launch.block == required || threads == 1, ResultCode::INVALID_VALUE)?;
    }
    ensure(threads <= k.bound_of_threads(), ResultCode::INVALID_VALUE)?;
    ensure(k.has_registers_for(threads), ResultCode::LAUNCH_OUT_OF_RESOURCES)?;
    ensure(k.has_local_memory(), ResultCode::INVALID_VALUE)?;
    if launch.cooperative {
        // A block with too much shared memory is one of which none can be resident.
        let resident = u64::from(max_resident_blocks(k, threads, launch.dynamic_shared));
        ensure(launch.n_blocks() <= resident, ResultCode::COOPERATIVE_LAUNCH_TOO_LARGE)?;
    }
    ensure(launch.dynamic_shared <= k.max_dynamic_shared(), ResultCode::INVALID_VALUE)?;
    ensure(launch.params.len() >= k.param_bytes(), ResultCode::INVALID_VALUE)
}

/// The threads of a block, which must have a shape that the device allows.
///
/// # Errors
/// `INVALID_VALUE` for one that it does not.
pub(crate) fn check_block_shape(block: [u32; 3]) -> Res<u32> {
    let fits = block.iter().zip(MAX_BLOCK_DIM).all(|(size, most)| (1..=most).contains(size));
    ensure(fits, ResultCode::INVALID_VALUE)?;
    let threads: u32 = block.iter().product();
    ensure(threads <= MAX_THREADS_PER_BLOCK, ResultCode::INVALID_VALUE)?;
    Ok(threads)
}

/// How many blocks of this shape are resident on the whole device at once: blocks that may wait
/// for each other. 0 when not even one block can run.
pub fn max_resident_blocks(kernel: &Kernel, threads: u32, dynamic_shared: u32) -> u32 {
    let fits = (1..=kernel.bound_of_threads()).contains(&threads)
        && kernel.has_registers_for(threads)
        && dynamic_shared <= kernel.max_dynamic_shared();
    if fits { memory_slots::resident_block_limit() as u32 } else { 0 }
}

/// Runs a validated launch and returns when its last block has ended.
///
/// # Errors
/// The first fault; the other warps have been stopped by then.
pub fn run_launch(launch: &Launch, cancel: &CancelFlag) -> Result<(), Fault> {
    run_launch_in_generation(launch, cancel, cancel.interrupt_generation())
}

/// [`run_launch`] for a launch that the program asked for when the flag was in generation `interrupt_generation`.
///
/// # Errors
/// As [`run_launch`]; a [cancelled](rtcg_vgpu_exec::FaultKind::Cancelled) launch if the flag was interrupted since then.
pub fn run_launch_in_generation(launch: &Launch, cancel: &CancelFlag, generation: u64) -> Result<(), Fault> {
    let program = launch.function.compiled_program(launch.block)?;
    let shape = LaunchConfig {
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.dynamic_shared,
        cooperative: launch.cooperative,
    };
    let outcome = worker::run_program_in_generation(&program, shape, &launch.params, cancel, generation);
    rtcg_vgpu_exec::check::print_new_findings();
    outcome
}
