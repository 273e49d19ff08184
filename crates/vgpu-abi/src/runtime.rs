//! What compiled code calls in the runtime: the exact C signatures, handed to the compiler as
//! addresses so that tests can supply their own.
//!
//! Assumes that every function is called on the warp's fiber with that warp's [`WarpCtx`]. Lane
//! arrays have 32 entries; entries of lanes outside `mask` hold garbage and must not be read. A
//! `site` is an opaque number that `JitKernel::site_by_number` turns into an instruction.

use crate::texture_request::TextureLanes;
use crate::{LaneValues, WarpCtx};
use rtcg_ptx::ast::{AtomOp, MatrixLayout, MatrixRole, MatrixShape, MatrixType, MbarrierOp, Type};

/// Ends the launch with a fault: `kind` is a [`crate::TrapKind`] as `u32`. `address` is the
/// bad address or the bad function pointer, 0 when the kind has none.
pub type TrapFn = unsafe extern "C" fn(ctx: *mut WarpCtx, kind: u32, lane: u32, site: u32, address: u64) -> !;

/// Called because `*ctx.cancel` is not zero: leaves the warp for good when the launch is to stop,
/// else does what else is to be done and returns.
pub type CancelledFn = unsafe extern "C" fn(ctx: *mut WarpCtx);

/// Ends the launch because code that it needs could not be made, for the reason that the text (bytes
/// of UTF-8) gives.
pub type CompileFailedFn = unsafe extern "C" fn(ctx: *mut WarpCtx, why: *const u8, len: usize) -> !;

/// Lets the other warps of the block (and other blocks) run: a back edge of a spinning loop.
pub type YieldFn = unsafe extern "C" fn(ctx: *mut WarpCtx);

/// `kind` of [`BarrierFn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum BarrierKind {
    /// `bar.sync`: wait; the result is ignored.
    Sync = 0,
    /// `bar.red.popc`: the number of threads whose predicate is true.
    RedPopc = 1,
    /// `bar.red.and`: 1 when it is true in all threads that took part.
    RedAnd = 2,
    /// `bar.red.or`: 1 when it is true in one of them.
    RedOr = 3,
    /// `bar.arrive`: counts in without waiting.
    Arrive = 4,
}

/// Arrives at barrier `id` with `arriving` threads of this warp, of which `trues` have a true
/// predicate, and waits for the others. `count` is the number of threads the barrier is for, 0
/// for all threads of the block that have not exited (`ctx.exited`).
pub type BarrierFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, kind: u32, id: u32, count: u32, arriving: u32, trues: u32) -> u32;

/// `bar.sync` at barrier `id` for all threads of the block, at which all lanes arrive that have not exited.
/// For compiled code alone: the function need not keep the registers that this convention wants kept.
pub type BarrierAllFn = unsafe extern "C" fn(ctx: *mut WarpCtx, id: u32);

/// The operands of one atomic instruction. Like all that compiled code keeps on its stack it asks for
/// no more than the 16 bytes that Cranelift aligns stacks to.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct AtomicLaneOperands {
    /// Absolute addresses (already offset for shared memory).
    pub address: LaneValues,
    /// Second operand (the comparand of `cas`).
    pub b: LaneValues,
    /// Third operand (the new value of `cas`).
    pub c: LaneValues,
    /// Old values, written by the runtime for the lanes of the mask.
    pub result: LaneValues,
}

/// The operands of one 128-bit atomic, which begin like [`AtomicLaneOperands`]; low and high halves.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct Atomic128LaneOperands {
    /// Absolute addresses.
    pub address: LaneValues,
    /// Second operand (the comparand of `cas`).
    pub b: [LaneValues; 2],
    /// Third operand (the new value of `cas`).
    pub c: [LaneValues; 2],
    /// Old values.
    pub result: [LaneValues; 2],
}

/// Performs `atom.exch.b128` (`exchange` is 1) or `atom.cas.b128`, as [`AtomicFn`].
pub type Atomic128Fn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, exchange: u32, mask: u32, site: u32, lanes: *mut Atomic128LaneOperands);

/// Performs an [`MbarrierCode`] for the lanes of `mask` in ascending order: `address` is that of the
/// object, `b` the operand of the operation, `c` the time limit of a wait in nanoseconds; `result`
/// becomes the state, or whether the phase has ended.
pub type MbarrierFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, code: u32, mask: u32, site: u32, lanes: *mut AtomicLaneOperands);

/// Copies `c` bytes from `b` to `address` for each lane of `mask`; `result` is the address of the
/// `mbarrier` that counts them. `code` is a [`BulkCopyCode`].
pub type BulkCopyFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, code: u32, mask: u32, site: u32, lanes: *mut AtomicLaneOperands);

/// An operation on an `mbarrier` in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MbarrierCode {
    /// The operation.
    pub op: MbarrierOp,
    /// A wait has a time limit.
    pub limited: bool,
}

const MBARRIER_OPS: [MbarrierOp; 16] = {
    use MbarrierOp::*;
    [
        Init,
        Inval,
        ExpectTx,
        CompleteTx,
        Arrive { drop: false, no_complete: false },
        Arrive { drop: false, no_complete: true },
        Arrive { drop: true, no_complete: false },
        Arrive { drop: true, no_complete: true },
        ArriveExpectTx { drop: false },
        ArriveExpectTx { drop: true },
        Wait { may_block: false, parity: false },
        Wait { may_block: false, parity: true },
        Wait { may_block: true, parity: false },
        Wait { may_block: true, parity: true },
        CopiesArrive { noinc: false },
        CopiesArrive { noinc: true },
    ]
};

impl MbarrierCode {
    /// The word.
    #[inline]
    pub fn encode_mbarrier_code(self) -> u32 {
        let op = MBARRIER_OPS.iter().position(|&o| o == self.op).unwrap_or(0) as u32;
        op | u32::from(self.limited) << 8
    }
    /// The inverse of [`MbarrierCode::encode_mbarrier_code`].
    #[inline]
    pub fn decode_mbarrier_code(word: u32) -> MbarrierCode {
        MbarrierCode { op: MBARRIER_OPS[(word & 15) as usize], limited: word >> 8 & 1 != 0 }
    }
}

/// A bulk copy in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkCopyCode {
    /// The destination is shared memory.
    pub to_shared: bool,
    /// An `mbarrier` counts the bytes.
    pub signals: bool,
    /// Elements are combined with those at the destination.
    pub reduce: Option<(AtomOp, Type)>,
}

impl BulkCopyCode {
    /// The word; `None` for a type that no atomic has.
    #[inline]
    pub fn encode_bulk_copy_code(self) -> Option<u32> {
        let reduce = match self.reduce {
            Some((op, ty)) => {
                1 + AtomicCode { op, ty, shared: self.to_shared, returns: false, elements: 0 }.encode_atomic_code()?
            }
            None => 0,
        };
        Some(reduce << 2 | u32::from(self.signals) << 1 | u32::from(self.to_shared))
    }
    /// The inverse of [`BulkCopyCode::encode_bulk_copy_code`].
    #[inline]
    pub fn decode_bulk_copy_code(word: u32) -> BulkCopyCode {
        let reduce = (word >> 2).checked_sub(1).and_then(AtomicCode::decode_atomic_code).map(|c| (c.op, c.ty));
        BulkCopyCode { to_shared: word & 1 != 0, signals: word >> 1 & 1 != 0, reduce }
    }
}

/// Performs an atomic for the lanes of `mask` in ascending order. `code` is an [`AtomicCode`].
/// Checks alignment and the address (as [`CheckAddressesFn`]) and traps itself.
pub type AtomicFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, code: u32, mask: u32, site: u32, lanes: *mut AtomicLaneOperands);

/// Operation, type and space of an atomic in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicCode {
    /// The operation.
    pub op: AtomOp,
    /// The type as written (`F32`, `S32`, `B64`, `F16x2`, ...).
    pub ty: Type,
    /// The address is known to lie in the block's shared memory (no other block can see it).
    pub shared: bool,
    /// The result is wanted (`atom`, not `red`).
    pub returns: bool,
    /// How many elements the whole instruction accesses from the address on, for its alignment.
    pub elements: u32,
}

const ATOMIC_OPS: [AtomOp; 10] = [
    AtomOp::Add,
    AtomOp::Min,
    AtomOp::Max,
    AtomOp::And,
    AtomOp::Or,
    AtomOp::Xor,
    AtomOp::Exch,
    AtomOp::Inc,
    AtomOp::Dec,
    AtomOp::Cas,
];
const ATOMIC_TYPES: [Type; 18] = [
    Type::B16,
    Type::B32,
    Type::B64,
    Type::B128,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::F16x2,
    Type::BF16,
    Type::BF16x2,
    Type::F32,
    Type::F64,
    Type::B8,
    Type::U8,
];

impl AtomicCode {
    /// The word; `None` for a type that no atomic has.
    #[inline]
    pub fn encode_atomic_code(self) -> Option<u32> {
        let op = ATOMIC_OPS.iter().position(|&o| o == self.op)? as u32;
        let ty = ATOMIC_TYPES.iter().position(|&t| t == self.ty)? as u32;
        Some(op | ty << 8 | u32::from(self.shared) << 16 | u32::from(self.returns) << 17 | self.elements << 18)
    }
    /// The inverse of [`AtomicCode::encode_atomic_code`].
    #[inline]
    pub fn decode_atomic_code(word: u32) -> Option<AtomicCode> {
        Some(AtomicCode {
            op: *ATOMIC_OPS.get((word & 0xff) as usize)?,
            ty: *ATOMIC_TYPES.get((word >> 8 & 0xff) as usize)?,
            shared: word >> 16 & 1 != 0,
            returns: word >> 17 & 1 != 0,
            elements: (word >> 18).max(1),
        })
    }
}

/// `rt_is_host_range(address, bytes)`: 1 if the bytes lie in ordinary memory that was made known to the device, in one piece.
pub type IsHostRangeFn = unsafe extern "C" fn(u64, u64) -> u32;

/// Decides about addresses outside the device window (at least one of the lanes of `mask` has
/// one): returns when every access `[address, address + bytes)` outside the window is registered
/// host memory, else traps with `IllegalAddress`. `bytes` is the size of one lane's access.
pub type CheckAddressesFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, site: u32, bytes: u32, addresses: *const LaneValues);

/// Copies an element of `bytes` bytes (1, 2, 4 or 8) of each lane of `mask` between device memory, where
/// lane 0's is at `memory` and the others follow it, and `elements`, which begin with those of the
/// eight lanes that the mask lies in. To memory if `store` is not 0. The addresses have been checked.
pub type CopyActiveLanesFn = unsafe extern "C" fn(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    bytes: u32,
    store: u32,
    memory: u64,
    elements: *mut u8,
);

/// `vprintf(format, arguments)` of the lanes of `mask`, in ascending order; writes each lane's return value.
pub type PrintfFn = unsafe extern "C" fn(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    format: *const LaneValues,
    arguments: *const LaneValues,
    result: *mut LaneValues,
);

/// Device-side `malloc`: one address (or 0) per lane of `mask`.
pub type MallocFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, site: u32, bytes: *const LaneValues, result: *mut LaneValues);

/// Device-side `free`.
pub type FreeFn = unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, site: u32, addresses: *const LaneValues);

/// `cudaGraphSetConditional(handle, value)` of the lanes of `mask`; the values' upper halves mean nothing.
pub type SetConditionalFn = unsafe extern "C" fn(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    handles: *const LaneValues,
    values: *const LaneValues,
);

/// Arguments of `__assertfail`, by lane.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AssertArgs {
    /// `const char *` in device memory.
    pub messages: *const LaneValues,
    /// `const char *` in device memory.
    pub files: *const LaneValues,
    /// `const char *` in device memory.
    pub functions: *const LaneValues,
    /// Source lines; the upper halves mean nothing.
    pub lines: *const LaneValues,
    /// The lanes that failed, at least one.
    pub mask: u32,
}

/// Reports the failed assertion of each lane and ends the launch.
pub type AssertFn = unsafe extern "C" fn(ctx: *mut WarpCtx, site: u32, args: *const AssertArgs) -> !;

/// A texture or surface instruction for the lanes of `mask`; `request` is a
/// [`crate::texture_request::TextureRequest`] as a word. Finds the objects and traps itself.
pub type TextureFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, request: u64, mask: u32, site: u32, lanes: *mut TextureLanes);

/// A clock: `%clock64` (cycles) or `%globaltimer` (nanoseconds).
pub type ClockFn = unsafe extern "C" fn(ctx: *mut WarpCtx) -> u64;

/// `nanosleep`: lets others run for about that long.
pub type SleepFn = unsafe extern "C" fn(ctx: *mut WarpCtx, nanoseconds: u32);

/// A matrix to load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixTransfer {
    /// `wmma.load` and `wmma.store`: lane 0's address is the matrix's.
    Wmma {
        /// Which matrix of a product.
        role: MatrixRole,
        /// Order in memory.
        layout: MatrixLayout,
        /// Sizes of the product.
        shape: MatrixShape,
        /// Type of the elements.
        ty: MatrixType,
        /// Whether memory is written.
        store: bool,
    },
    /// `ldmatrix` and `stmatrix`
    Tiles {
        /// Number of 8x8 matrices.
        count: usize,
        /// Whether they are transposed.
        trans: bool,
        /// Whether memory is written.
        store: bool,
    },
}

/// Bytes before the planes in the frame of a [`MatrixFn`]: an absolute address per lane.
pub const TRANSFER_HEADER_BYTES: usize = size_of::<LaneValues>();

/// Loads or stores a matrix for the whole warp: `frame` holds the addresses and then the planes
/// (see `matrix` of `rtcg-vgpu-softmath`). `stride` is that of a `wmma` in elements, `u64::MAX` where
/// none is written. Checks the addresses and traps itself.
pub type MatrixFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, form: *const MatrixTransfer, site: u32, stride: u64, frame: *mut u8);

/// The runtime's entry points. Compiled code names them by their offsets.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is documented at its type")]
pub struct RuntimeCalls {
    pub trap: TrapFn,
    pub cancelled: CancelledFn,
    pub compile_failed: CompileFailedFn,
    pub yield_now: YieldFn,
    pub barrier: BarrierFn,
    pub barrier_all: BarrierAllFn,
    pub atomic: AtomicFn,
    pub atomic_128: Atomic128Fn,
    pub mbarrier: MbarrierFn,
    pub bulk_copy: BulkCopyFn,
    pub check_addresses: CheckAddressesFn,
    pub is_host_range: IsHostRangeFn,
    pub copy_active_lanes: CopyActiveLanesFn,
    pub vprintf: PrintfFn,
    pub malloc: MallocFn,
    pub free: FreeFn,
    pub set_conditional: SetConditionalFn,
    pub assertfail: AssertFn,
    pub clock64: ClockFn,
    pub globaltimer: ClockFn,
    pub nanosleep: SleepFn,
    pub texture: TextureFn,
    pub matrix: MatrixFn,
}
