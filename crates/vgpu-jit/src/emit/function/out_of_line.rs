//! Out-of-line stubs of compiled code, and the slow-path requests that they make of Rust functions.
//!
//! An out-of-line stub stores the values it needs in the frame's dummy area, which is not read at that time,
//! and calls one function with the number of a request that says what to do with them. So it is a handful of
//! instructions, and no value has to be in a fixed register. The function in between
//! ([`arch::save_registers_and_call`]) preserves all registers, so that a check that may fail costs nothing but its
//! test. The requests belong to the code.
#![allow(unsafe_code, reason = "called by compiled code, with pointers to its frame")]

use super::emitter::{FunctionEmitter, trusted_mem_flags};
use super::register_values::CHUNK_LANES;
use super::scalar_spill::{self, StridedLanes};
use super::slow_paths::SlowPathEnv;
use crate::emit::code::host_state::KernelHostState;
use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::instructions::warp_rendezvous::{self, WarpOpSite};
use crate::isa as arch;
use crate::simt::function_plan::frame_header;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::WarpCtx;

/// 64-bit values that fit into the dummy area.
pub(crate) const MAX_STUB_VALUES: usize = 128;

/// Behind the values of a spread: bits of lanes.
pub(crate) const LANE_BITS_INDEX: usize = MAX_STUB_VALUES;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum SlowPathRequest {
    /// Checks accesses, one after the other.
    Checks(Vec<AddressCheck>),
    /// Copies lanes side by side between memory and the first values.
    ActiveLaneCopy(ActiveLaneCopy),
    /// Stores each value to the lanes of its piece, and sets the lanes' program counters.
    SpillScalars(Vec<StridedLanes>, PcUpdate),
    /// Makes the first word 1 if the lanes of every piece follow its stride, else 0.
    CheckStrides(Vec<StridedLanes>),
    /// Sets the first bytes of the registers' slots to 0.
    ZeroRegisters(u32),
    /// Parks the active lanes at a warp operation.
    ParkAtWarpOp(WarpOpSite),
    /// Goes on with those active lanes for which the warp operation has been executed.
    TakeWarpOpResults,
}

/// How the program counters of all lanes are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PcUpdate {
    /// Not at all.
    Unchanged,
    /// All to this one.
    All(u32),
    /// To the first where a mask has been stored in their place, else to the second.
    ByStoredMask(u32, u32),
    /// To the first for the lanes whose bits are set in value [`LANE_BITS_INDEX`], else to the second.
    ByLaneBits(u32, u32),
}

/// An access of some lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddressCheck {
    pub(crate) site: u32,
    /// Bytes of one lane's access, and how the bytes are accessed if their states are checked.
    pub(crate) info: u32,
    /// The states of the bytes are checked rather than the addresses.
    pub(crate) states: bool,
    /// The lanes concerned.
    pub(crate) lanes: u32,
    /// The value with which the mask of these eight lanes begins: the others take no part.
    pub(crate) mask: Option<usize>,
    pub(crate) addresses: LaneAddresses,
}

/// Where the lanes' addresses come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LaneAddresses {
    /// A value and a distance are lane 0's, each further lane's is a stride more.
    Strided { value: usize, offset: i64, stride: i64 },
    /// Eight values from this one on are those of the chunk's lanes.
    PerLane { value: usize, chunk: usize },
}

/// Lanes of a chunk that lie side by side in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveLaneCopy {
    pub(crate) site: u32,
    /// Bytes of a lane's element: 1, 2, 4 or 8.
    pub(crate) bytes: u32,
    pub(crate) chunk: usize,
    /// From the pointer to lane 0's element.
    pub(crate) offset: i64,
    /// To memory rather than from it.
    pub(crate) store: bool,
    /// The addresses need no check.
    pub(crate) checked: bool,
}

impl ActiveLaneCopy {
    /// The value that holds the pointer.
    pub(crate) const POINTER_INDEX: usize = 8;
    /// The first value of the chunk's mask.
    pub(crate) const MASK_INDEX: usize = 10;
}

/// Bit of the numbers of masked code's requests.
pub(crate) const MASKED_CODE_REQUEST_BIT: u32 = 1 << 31;

/// Does what a request asks for.
///
/// # Safety
/// Compiled code passes its own context and frame, and the number of a request whose values it has stored.
pub(crate) unsafe extern "C" fn run_slow_path(ctx: *mut WarpCtx, frame: *mut u8, number: u32) {
    // SAFETY: by contract; the host lives as long as the code.
    unsafe {
        let host = KernelHostState::from_warp_ctx(ctx);
        let Some(request) = host.slow_path_request(number) else { return };
        let values = frame.add(frame_header::INACTIVE_ACCESS_OFFSET as usize).cast::<u64>();
        match request {
            SlowPathRequest::Checks(list) => list.iter().for_each(|c| check_lane_addresses(&host.env, ctx, values, c)),
            SlowPathRequest::ActiveLaneCopy(m) => copy_active_lanes(&host.env, ctx, values, m),
            SlowPathRequest::SpillScalars(pieces, counters) => {
                scalar_spill::store_scalars_to_lanes(frame, pieces);
                set_lane_pcs(frame, *counters);
            }
            SlowPathRequest::CheckStrides(pieces) => {
                let good = scalar_spill::lanes_follow_strides(frame, pieces);
                values.cast::<u32>().write(u32::from(good));
            }
            SlowPathRequest::ZeroRegisters(bytes) => {
                frame.add(frame_header::FRAME_HEADER_BYTES as usize).write_bytes(0, *bytes as usize);
            }
            SlowPathRequest::ParkAtWarpOp(site) => warp_rendezvous::park_at_warp_op(ctx, frame, number, site),
            SlowPathRequest::TakeWarpOpResults => warp_rendezvous::take_warp_op_results(frame),
        }
    }
}

/// The lanes, as bits from `chunk` on, of the mask that begins at `at`.
///
/// # Safety
/// Eight 32-bit words must lie there.
unsafe fn lane_mask_bits(at: *const u64, chunk: usize) -> u32 {
    // SAFETY: by contract.
    let words = unsafe { &*at.cast::<[u32; CHUNK_LANES]>() };
    let bits = (0..CHUNK_LANES).fold(0, |bits, l| bits | u32::from(words[l] != 0) << l);
    bits << (chunk * CHUNK_LANES)
}

/// # Safety
/// As [`run_slow_path`].
unsafe fn check_lane_addresses(env: &SlowPathEnv, ctx: *mut WarpCtx, values: *const u64, c: &AddressCheck) {
    // SAFETY: by contract.
    unsafe {
        let addresses = match c.addresses {
            LaneAddresses::Strided { value, offset, stride } => {
                let lane_0 = values.add(value).read().wrapping_add_signed(offset);
                let (first, end) = (c.lanes.trailing_zeros(), 32 - c.lanes.leading_zeros());
                let at = lane_0.wrapping_add_signed(stride.wrapping_mul(first.into()));
                if !c.states && end > first && env.are_strided_addresses_good(at, stride, end - first, c.info) {
                    return;
                }
                strided_addresses(lane_0, stride)
            }
            LaneAddresses::PerLane { value, chunk } => {
                let mut all: LaneValues = [0; 32];
                let list = &*values.add(value).cast::<[u64; CHUNK_LANES]>();
                all[chunk * CHUNK_LANES..][..CHUNK_LANES].copy_from_slice(list);
                all
            }
        };
        let chunk = c.lanes.trailing_zeros() as usize / CHUNK_LANES;
        let lanes = c.mask.map_or(c.lanes, |at| lane_mask_bits(values.add(at), chunk));
        let (lanes, addresses) = move_to_chunk(lanes, addresses, (*ctx).chunk as usize);
        if c.states {
            env.check_shadow_states(ctx, lanes, c.site, c.info, &addresses);
        } else {
            env.check_addresses(ctx, lanes, c.site, c.info, &addresses);
        }
    }
}

/// What a loop over chunks says of lanes 0 to 7, for those of the chunk.
fn move_to_chunk(lanes: u32, mut addresses: LaneValues, chunk: usize) -> (u32, LaneValues) {
    if chunk == 0 {
        return (lanes, addresses);
    }
    addresses.rotate_right(chunk * CHUNK_LANES);
    (lanes << (chunk * CHUNK_LANES), addresses)
}

/// The addresses of lanes a stride apart.
fn strided_addresses(first: u64, stride: i64) -> LaneValues {
    std::array::from_fn(|l| first.wrapping_add_signed(stride.wrapping_mul(l as i64)))
}

/// # Safety
/// As [`run_slow_path`].
unsafe fn copy_active_lanes(env: &SlowPathEnv, ctx: *mut WarpCtx, values: *mut u64, m: &ActiveLaneCopy) {
    // SAFETY: by contract; the lanes' addresses are checked before they are accessed.
    unsafe {
        let lanes = lane_mask_bits(values.add(ActiveLaneCopy::MASK_INDEX), m.chunk);
        if lanes == 0 {
            return;
        }
        let (stride, chunk_bytes) = (i64::from(m.bytes), u64::from(m.bytes) * CHUNK_LANES as u64);
        let lane_0 = values.add(ActiveLaneCopy::POINTER_INDEX).read().wrapping_add_signed(m.offset);
        let first = lane_0.wrapping_add(chunk_bytes * m.chunk as u64);
        let good = env.is_in_window(first)
            && env.is_in_window(first.wrapping_add(chunk_bytes - 1))
            && first.is_multiple_of(u64::from(m.bytes));
        if !(m.checked || good) {
            env.check_addresses(ctx, lanes, m.site, m.bytes, &strided_addresses(lane_0, stride));
        }
        let elements = values.cast::<u8>();
        (env.runtime.copy_active_lanes)(ctx, lanes, m.site, m.bytes, u32::from(m.store), lane_0, elements);
    }
}

/// # Safety
/// As [`run_slow_path`].
unsafe fn set_lane_pcs(frame: *mut u8, how: PcUpdate) {
    // SAFETY: the frame begins with the counters; the dummy area lies behind them.
    let counters = unsafe { &mut *frame.add(frame_header::PC_OFFSET as usize).cast::<[u32; 32]>() };
    match how {
        PcUpdate::Unchanged => {}
        PcUpdate::All(to) => *counters = [to; 32],
        PcUpdate::ByStoredMask(one, other) => *counters = counters.map(|mask| if mask != 0 { one } else { other }),
        PcUpdate::ByLaneBits(one, other) => {
            // SAFETY: compiled code has stored the bits.
            let bits = unsafe {
                frame.add(frame_header::INACTIVE_ACCESS_OFFSET as usize + 8 * LANE_BITS_INDEX).cast::<u32>().read()
            };
            *counters = std::array::from_fn(|lane| if bits >> lane & 1 != 0 { one } else { other });
        }
    }
}

impl FunctionEmitter<'_, '_> {
    /// Stores a value of an out-of-line stub.
    pub(crate) fn store_stub_value(&mut self, value: Value, number: usize) {
        self.b.ins().store(
            trusted_mem_flags(),
            value,
            self.abi.frame,
            frame_header::INACTIVE_ACCESS_OFFSET + 8 * number as i32,
        );
    }

    /// Stores vectors from value `number` on.
    pub(crate) fn store_stub_vectors(&mut self, vectors: &[Value], number: usize) {
        for (i, &v) in vectors.iter().enumerate() {
            self.store_stub_value(v, number + 2 * i);
        }
    }

    /// Asks for something; all registers keep their values.
    pub(crate) fn emit_slow_path_call(&mut self, request: SlowPathRequest) {
        let mut requests = self.env.requests.borrow_mut();
        let number = requests.len() as u32 | if self.is_masked() { MASKED_CODE_REQUEST_BIT } else { 0 };
        requests.push(request);
        drop(requests);
        let number = self.iconst32(i64::from(number));
        let stub = RelocTarget::rust_function_target(arch::save_registers_and_call as *const () as usize);
        let mut signature = Signature::new(CallConv::PreserveAll);
        signature.params = [types::I64, types::I64, types::I32].map(AbiParam::new).to_vec();
        relocations::call_target_with_signature(&mut self.b, stub, signature, &[self.abi.ctx, self.abi.frame, number]);
    }
}
