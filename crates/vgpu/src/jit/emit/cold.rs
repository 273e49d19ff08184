//! What cold places of compiled code ask the compiler's Rust functions for.
//!
//! A cold place stores the values that matter in the frame's dummy area, which nobody reads then,
//! and calls one function with the number of a request that says what to do with them. So it is a
//! handful of instructions, and no value has to be in a certain register: the function between
//! ([`arch::ask`]) keeps all registers, so that a check that may fail costs nothing beside its test.
//! The requests belong to the code.
#![allow(unsafe_code)]

use super::generate::{Gen, trusted};
use super::host::Host;
use super::links::{self, Link};
use super::slow::SlowEnv;
use super::spread::{self, Piece};
use super::values::CHUNK_LANES;
use crate::abi::WarpCtx;
use crate::arch;
use crate::jit::lanes::plan::header;
use crate::jit::runtime::Lanes;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;

/// 64-bit values that fit into the dummy area.
pub(crate) const AT_ONCE: usize = 128;

/// Behind the values of a spread: bits of lanes.
pub(crate) const BITS: usize = AT_ONCE;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Request {
    /// Judges accesses, one after the other.
    Checks(Vec<Check>),
    /// Copies lanes side by side between memory and the first values.
    Move(Move),
    /// Stores each value to the lanes of its piece, and sets the lanes' program counters.
    Spread(Vec<Piece>, Counters),
    /// Makes the first word 1 if the lanes of every piece follow its stride, else 0.
    Steady(Vec<Piece>),
}

/// How the program counters of all lanes are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counters {
    /// Not at all.
    Kept,
    /// All to this one.
    Same(u32),
    /// To the first where a mask has been stored in their place, else to the second.
    Either(u32, u32),
    /// To the first for the lanes whose bits are set in value [`BITS`], else to the second.
    Bits(u32, u32),
}

/// An access of some lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    pub(crate) site: u32,
    /// Bytes of one lane's access, and how the bytes are accessed if their states are judged.
    pub(crate) info: u32,
    /// The states of the bytes are judged rather than the addresses.
    pub(crate) states: bool,
    /// The lanes concerned.
    pub(crate) lanes: u32,
    /// The value with which the mask of these eight lanes begins: the others take no part.
    pub(crate) mask: Option<usize>,
    pub(crate) addresses: Addresses,
}

/// Where the lanes' addresses come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Addresses {
    /// A value and a distance are lane 0's, each further lane's is a stride more.
    Line { value: usize, offset: i64, stride: i64 },
    /// Eight values from this one on are those of the chunk's lanes.
    Each { value: usize, chunk: usize },
}

/// Lanes of a chunk that lie side by side in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
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

impl Move {
    /// The value that holds the pointer.
    pub(crate) const POINTER: usize = 8;
    /// The first value of the chunk's mask.
    pub(crate) const MASK: usize = 10;
}

/// Bit of the numbers of masked code's requests.
pub(crate) const MASKED: u32 = 1 << 31;

/// Does what a request asks for.
///
/// # Safety
/// Compiled code passes its own context and frame, and the number of a request whose values it has stored.
pub(crate) unsafe extern "C" fn run(ctx: *mut WarpCtx, frame: *mut u8, number: u32) {
    // SAFETY: by contract; the host lives as long as the code.
    unsafe {
        let host = Host::of(ctx);
        let Some(request) = host.request(number) else { return };
        let values = frame.add(header::DUMMY as usize).cast::<u64>();
        match request {
            Request::Checks(list) => list.iter().for_each(|c| check(&host.env, ctx, values, c)),
            Request::Move(m) => move_lanes(&host.env, ctx, values, m),
            Request::Spread(pieces, counters) => {
                spread::spread(frame, pieces);
                set_counters(frame, *counters);
            }
            Request::Steady(pieces) => {
                let good = spread::steady(frame, pieces);
                values.cast::<u32>().write(u32::from(good));
            }
        }
    }
}

/// The lanes, as bits from `chunk` on, of the mask that begins at `at`.
///
/// # Safety
/// Eight 32-bit words must lie there.
unsafe fn mask_bits(at: *const u64, chunk: usize) -> u32 {
    // SAFETY: by contract.
    let words = unsafe { &*at.cast::<[u32; CHUNK_LANES]>() };
    let bits = (0..CHUNK_LANES).fold(0, |bits, l| bits | u32::from(words[l] != 0) << l);
    bits << (chunk * CHUNK_LANES)
}

/// # Safety
/// As [`run`].
unsafe fn check(env: &SlowEnv, ctx: *mut WarpCtx, values: *const u64, c: &Check) {
    // SAFETY: by contract.
    unsafe {
        let addresses = match c.addresses {
            Addresses::Line { value, offset, stride } => {
                line(values.add(value).read().wrapping_add_signed(offset), stride)
            }
            Addresses::Each { value, chunk } => {
                let mut all: Lanes = [0; 32];
                let list = &*values.add(value).cast::<[u64; CHUNK_LANES]>();
                all[chunk * CHUNK_LANES..][..CHUNK_LANES].copy_from_slice(list);
                all
            }
        };
        let chunk = c.lanes.trailing_zeros() as usize / CHUNK_LANES;
        let lanes = c.mask.map_or(c.lanes, |at| mask_bits(values.add(at), chunk));
        if c.states {
            env.judge_states(ctx, lanes, c.site, c.info, &addresses);
        } else {
            env.judge(ctx, lanes, c.site, c.info, &addresses);
        }
    }
}

/// The addresses of lanes a stride apart.
fn line(first: u64, stride: i64) -> Lanes {
    std::array::from_fn(|l| first.wrapping_add_signed(stride.wrapping_mul(l as i64)))
}

/// # Safety
/// As [`run`].
unsafe fn move_lanes(env: &SlowEnv, ctx: *mut WarpCtx, values: *mut u64, m: &Move) {
    // SAFETY: by contract; the lanes' addresses are judged before they are accessed.
    unsafe {
        let lanes = mask_bits(values.add(Move::MASK), m.chunk);
        if lanes == 0 {
            return;
        }
        let (stride, chunk_bytes) = (i64::from(m.bytes), u64::from(m.bytes) * CHUNK_LANES as u64);
        let lane_0 = values.add(Move::POINTER).read().wrapping_add_signed(m.offset);
        let first = lane_0.wrapping_add(chunk_bytes * m.chunk as u64);
        let good = env.holds(first)
            && env.holds(first.wrapping_add(chunk_bytes - 1))
            && first.is_multiple_of(u64::from(m.bytes));
        if !(m.checked || good) {
            env.judge(ctx, lanes, m.site, m.bytes, &line(lane_0, stride));
        }
        let elements = values.cast::<u8>();
        (env.runtime.move_lanes)(ctx, lanes, m.site, m.bytes, u32::from(m.store), lane_0, elements);
    }
}

/// # Safety
/// As [`run`].
unsafe fn set_counters(frame: *mut u8, how: Counters) {
    // SAFETY: the frame begins with the counters; the dummy area lies behind them.
    let counters = unsafe { &mut *frame.add(header::PC as usize).cast::<[u32; 32]>() };
    match how {
        Counters::Kept => {}
        Counters::Same(to) => *counters = [to; 32],
        Counters::Either(one, other) => *counters = counters.map(|mask| if mask != 0 { one } else { other }),
        Counters::Bits(one, other) => {
            // SAFETY: compiled code has stored the bits.
            let bits = unsafe { frame.add(header::DUMMY as usize + 8 * BITS).cast::<u32>().read() };
            *counters = std::array::from_fn(|lane| if bits >> lane & 1 != 0 { one } else { other });
        }
    }
}

impl Gen<'_, '_> {
    /// Stores a value of a cold place.
    pub(crate) fn put(&mut self, value: Value, number: usize) {
        self.b.ins().store(trusted(), value, self.frame, header::DUMMY + 8 * number as i32);
    }

    /// Stores vectors from value `number` on.
    pub(crate) fn put_vectors(&mut self, vectors: &[Value], number: usize) {
        for (i, &v) in vectors.iter().enumerate() {
            self.put(v, number + 2 * i);
        }
    }

    /// Asks for something; all registers keep their values.
    pub(crate) fn ask(&mut self, request: Request) {
        let mut requests = self.env.requests.borrow_mut();
        let number = requests.len() as u32 | if self.is_masked() { MASKED } else { 0 };
        requests.push(request);
        drop(requests);
        let number = self.iconst32(i64::from(number));
        let stub = Link::rust(arch::ask as *const () as usize);
        let mut signature = Signature::new(CallConv::PreserveAll);
        signature.params = [types::I64, types::I64, types::I32].map(AbiParam::new).to_vec();
        links::call_as(&mut self.b, stub, signature, &[self.ctx, self.frame, number]);
    }
}
