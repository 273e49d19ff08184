//! What the crates of the virtual GPU share: compiler and engine the interface of compiled code with the runtime, so
//! that neither knows the other; engine and driver result codes, the schedule, handles and settings.
//!
//! The structures here are read from both sides, by `#[repr(C)]` offset from compiled code and by field from Rust.
//!
//! A kernel is compiled to `extern "C" fn(*mut WarpCtx)` and runs *one warp of 32 lanes* from
//! start to end. It always runs on a fiber (a stack of its own), so a barrier, a grid
//! synchronisation, a yield or a fatal fault is an ordinary call into the runtime that switches
//! stacks; the JIT never saves or restores anything for it.
//!
//! | folder, file | contents |
//! |---|---|
//! | `runtime.rs`, `instrument.rs` | what compiled code uses: structures, and functions of the engine |
//! | `texture_request.rs`, `mbarrier.rs` | texture instructions as calls, and the bits of an `mbarrier` |
//! | `fault.rs`, `error.rs` | faults, and result codes |
//! | `schedule.rs`, `handle_table.rs`, `env.rs`, `ignore_poison.rs` | the schedule, handle tables, settings, locks |
//! | `model/` | the model of a real device: measured facts, as data |

pub mod env;
pub mod error;
pub mod fault;
pub mod handle_table;
mod ignore_poison;
pub mod instrument;
pub mod mbarrier;
pub mod model;
pub mod runtime;
pub mod schedule;
pub mod texture_request;

pub use ignore_poison::IgnorePoison;
use std::sync::atomic::AtomicU32;

/// Lanes in a warp. Part of the CUDA model; never anything else.
pub const WARP_LANES: usize = 32;

/// One value per lane; narrower values are zero-extended.
pub type LaneValues = [u64; WARP_LANES];

/// Bytes before and behind the device window that are never committed. Compiled code checks a pointer where
/// it accesses what is nearer to it than this: three steps of a signed 32-bit number of doubles, say.
pub const GUARD_BYTES: usize = 50 << 30;

/// A compiled kernel.
pub type KernelEntry = unsafe extern "C" fn(*mut WarpCtx);

/// Lane-indexed `%tid.{x,y,z}` of one warp.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub struct TidTable {
    /// `%tid.x` of each lane.
    pub x: [u32; WARP_LANES],
    /// `%tid.y` of each lane.
    pub y: [u32; WARP_LANES],
    /// `%tid.z` of each lane.
    pub z: [u32; WARP_LANES],
}

/// Everything a running warp can see. One per warp; lives as long as the warp's fiber runs.
// What is used most comes first, to lie in one line of the cache.
#[repr(C)]
#[derive(Debug)]
pub struct WarpCtx {
    /// Packed kernel parameters, laid out as PTX lays them out. Inside the device window.
    pub params: *const u8,
    /// First byte of the block's shared memory. Inside the device window; 4 GiB of address space
    /// from here belong to this block, so any 32-bit offset is either its memory or a guard page.
    pub shared: *mut u8,
    /// `%tid` of the lanes of this warp.
    pub tid: *const TidTable,
    /// Non-zero when the launch is to stop (another warp faulted, or the launch was cancelled) or
    /// its caller is to ask whether it is;
    /// polled at loop back edges, which then call `rt_cancelled`.
    pub cancel: *const AtomicU32,
    /// Runtime data of the block; opaque to the JIT.
    pub block: *mut std::ffi::c_void,
    /// Lanes that exist: all ones but in the last warp of a block whose size is no multiple of 32.
    pub live: u32,
    /// Lanes that have exited so far; the JIT keeps it (read by warp synchronisation).
    pub exited: u32,
    /// Linear thread index of lane 0 within the block.
    pub first_thread: u32,
    /// Index of this warp within the block.
    pub warp_id: u32,
    /// Next free byte of this warp's local memory (grows upwards, inside the device window).
    /// A function reserves `32 * pitch` bytes on entry and gives them back on return.
    pub local_sp: *mut u8,
    /// End of this warp's local memory.
    pub local_end: *mut u8,
    /// Frames of callers under a mask, the innermost first; each names the next. Their other lanes
    /// may be parked at barriers. The JIT keeps it.
    pub outer_frames: *mut std::ffi::c_void,
    /// What belongs to the kernel's machine code on the side of the JIT (`JitKernel::host`).
    pub host: *const std::ffi::c_void,
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// `%ntid`
    pub ntid: [u32; 3],
    /// `%nctaid`
    pub nctaid: [u32; 3],
    /// Offset of dynamic shared memory (`extern __shared__`) from `shared`.
    pub dynamic_shared_offset: u32,
    /// `%dynamic_smem_size`
    pub dynamic_shared_size: u32,
    /// Static plus dynamic shared memory, bytes.
    pub total_shared_size: u32,
    /// `%smid` and `%nsmid`.
    pub smid: u32,
    /// See `smid`.
    pub nsmid: u32,
    /// `%gridid`
    pub grid_id: u64,
    /// Address of the grid's zero-initialised synchronisation words in the device window when the
    /// launch is cooperative, else 0. `%envreg1` is its high half and `%envreg2` its low half:
    /// that is where cooperative groups look for the counter of `grid.sync()`.
    pub grid_workspace: u64,
    /// Which eight lanes a loop over chunks is at; 0 outside of one. Code in such a loop speaks of lanes 0 to 7.
    pub chunk: u32,
    /// The site of the barrier that the warp arrived at last; kept only by code that reports divergent barriers, else
    /// [`NO_SITE`].
    pub barrier_site: u32,
}

/// A site number that names no instruction.
pub const NO_SITE: u32 = u32::MAX;

/// Why a warp stopped for good. Passed to `rt_trap` by JIT code and filled by the fault handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum TrapKind {
    /// `trap` instruction: CUDA_ERROR_LAUNCH_FAILED.
    Trap = 1,
    /// An access outside device memory: CUDA_ERROR_ILLEGAL_ADDRESS.
    IllegalAddress = 2,
    /// An access that is not aligned to its size: CUDA_ERROR_MISALIGNED_ADDRESS.
    MisalignedAddress = 3,
    /// `__assertfail`: CUDA_ERROR_ASSERT.
    Assert = 4,
    /// The stack or the local memory of a thread is exhausted (runaway recursion).
    StackOverflow = 5,
    /// A call through a pointer that is no function: CUDA_ERROR_ILLEGAL_ADDRESS.
    InvalidPc = 6,
    /// `brkpt` outside a debugger.
    Breakpoint = 7,
    /// A matrix instruction that not all 32 lanes of the warp execute: CUDA_ERROR_ILLEGAL_INSTRUCTION.
    PartialWarp = 8,
    /// A `trap` that NVVM put where it proved an access invalid: CUDA_ERROR_LAUNCH_FAILED.
    ProvedInvalid = 9,
    /// A barrier for a number of threads that is no multiple of the warp size: CUDA_ERROR_ILLEGAL_INSTRUCTION.
    BarrierCount = 10,
}

/// Which lanes of an instruction some machine code stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneSet {
    /// A single lane.
    Lane(u32),
    /// Eight lanes from this one on.
    Chunk(u32),
    /// All lanes at once (a uniform or contiguous access).
    Warp,
}

impl LaneSet {
    /// What code of a loop over chunks, which speaks of the first eight lanes, stands for.
    pub fn move_to_chunk(self, chunk: u32) -> LaneSet {
        match self {
            LaneSet::Lane(lane) => LaneSet::Lane(lane + 8 * chunk),
            LaneSet::Chunk(first) => LaneSet::Chunk(first + 8 * chunk),
            LaneSet::Warp => LaneSet::Warp,
        }
    }
}
