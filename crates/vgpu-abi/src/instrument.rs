//! What compiled code does beyond the program: checks of the memory it accesses, random choices.
#![allow(unsafe_code, reason = "functions of compiled code's types, which do nothing")]

use crate::LaneValues;
use crate::WarpCtx;

/// Bits of an access' description that hold the bytes of one lane.
pub const BYTES_MASK: u32 = 0xffff;
/// It writes (and does not read).
pub const WRITE_BIT: u32 = 1 << 16;
/// It reads and writes at once.
pub const ATOMIC_BIT: u32 = 1 << 17;

/// The values that are stored come with it.
pub const HAS_VALUES_BIT: u32 = 1 << 18;
/// It is volatile.
pub const VOLATILE_BIT: u32 = 1 << 19;

/// The lanes of a warp have synchronised.
pub const WARP_SYNC: u32 = 0;
/// A fence that other blocks can rely on.
pub const SYNC_FENCE: u32 = 1;
/// An access that may have learnt of what other blocks have published.
pub const SYNC_ACQUIRE: u32 = 2;
/// An access that publishes too.
pub const SYNC_RELEASE: u32 = 3;

/// Eight lanes of an access.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy)]
pub struct ChunkAccess {
    /// Absolute addresses.
    pub address: [u64; 8],
    /// What is stored: lanes of 64 bits, or the first half as lanes of 32.
    values: [u8; 64],
}

impl ChunkAccess {
    /// The first `bytes` bytes (up to 8) of what a lane stores.
    #[inline]
    pub fn stored_value(&self, lane: usize, bytes: usize) -> u64 {
        let at = lane * if bytes == 8 { 8 } else { 4 };
        let mut word = [0; 8];
        let n = bytes.min(8);
        word[..n].copy_from_slice(&self.values[at..at + n]);
        u64::from_le_bytes(word)
    }
}

/// Notified of an access of eight lanes that takes place next.
pub type RaceAccessFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, chunk: u32, site: u32, info: u32, lanes: *const ChunkAccess);

/// Notified of synchronisation.
pub type RaceSyncFn = unsafe extern "C" fn(ctx: *mut WarpCtx, what: u32);

/// Where accesses and synchronisation are reported.
#[derive(Debug, Clone, Copy)]
pub struct RaceCalls {
    /// See [`RaceAccessFn`].
    pub access: RaceAccessFn,
    /// See [`RaceSyncFn`].
    pub sync: RaceSyncFn,
}

/// Where the states of the window's bytes are: that of address `a` at `base + (a & mask)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowStates {
    /// First state.
    pub base: u64,
    /// Size of the window less one.
    pub mask: u64,
}

/// Decides about accesses whose states are not good; `info` is made of [`BYTES_MASK`], [`WRITE_BIT`] and
/// [`ATOMIC_BIT`]. Returns when the program may go on.
pub type ShadowCheckFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, site: u32, info: u32, addresses: *const LaneValues);

/// Local memory of a function begins (each lane uses `used` of `pitch` bytes) or ends (`used` is 0).
pub type LocalMemoryFn = unsafe extern "C" fn(start: u64, pitch: u32, used: u32);

/// Local memory of an `alloca` begins, which counts as written; its end is not told, for `stackrestore` may give it
/// back in pieces.
pub type AllocaFn = fn(start: u64, bytes: u64);

/// Lanes of a warp that wait at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct LanesAtBarrier {
    /// Their bits.
    pub lanes: u32,
    /// The barrier's site.
    pub site: u32,
}

/// Notified that the lanes of `here` arrive at barrier `id` while those of `elsewhere` wait at other places, of which the
/// site is that of the first lane.
pub type BarrierDivergenceFn =
    unsafe extern "C" fn(ctx: *mut WarpCtx, id: u32, here: LanesAtBarrier, elsewhere: LanesAtBarrier);

/// A random word; other warps may run meanwhile.
pub type RandomFn = unsafe extern "C" fn(ctx: *mut WarpCtx) -> u64;

/// Checks that are compiled into a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Instrumentation {
    /// Every access is checked against these states.
    pub memory: Option<ShadowStates>,
    /// The bit that states have where kernels of this device need no peer access; 0 when the process
    /// has one device.
    pub device_bit: u8,
    /// States tell what has been written, and stores change them.
    pub init: bool,
    /// See [`ShadowCheckFn`].
    pub access: ShadowCheckFn,
    /// See [`LocalMemoryFn`].
    pub local: LocalMemoryFn,
    /// See [`AllocaFn`].
    pub alloca: AllocaFn,
    /// Aligned barriers that not all threads of a warp reach together are reported.
    pub diverged: Option<BarrierDivergenceFn>,
    /// Accesses and synchronisation are reported.
    pub race: Option<RaceCalls>,
    /// Lanes are scheduled at random, between all accesses of memory that others can see.
    pub random: Option<RandomFn>,
}

impl Instrumentation {
    /// Nothing is checked.
    pub const NO_INSTRUMENTATION: Instrumentation = Instrumentation {
        memory: None,
        device_bit: 0,
        init: false,
        access: ignore_access,
        local: ignore_local_memory,
        alloca: |_, _| {},
        diverged: None,
        race: None,
        random: None,
    };

    /// Whether anything is checked, or the order of execution is chosen.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.memory.is_some() || self.init || self.diverged.is_some() || self.race.is_some() || self.random.is_some()
    }

    /// Bytes of the red zone between two variables of a thread, and behind the last one.
    #[inline]
    pub fn red_zone_bytes(&self) -> u32 {
        if self.memory.is_some() { 16 } else { 0 }
    }
}

unsafe extern "C" fn ignore_access(_: *mut WarpCtx, _: u32, _: u32, _: u32, _: *const LaneValues) {}
unsafe extern "C" fn ignore_local_memory(_: u64, _: u32, _: u32) {}
