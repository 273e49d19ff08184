//! What compiled code does beyond the program: checks of the memory it accesses.

use super::runtime::Lanes;
use crate::abi::WarpCtx;

/// Bits of an access' description that hold the bytes of one lane.
pub const BYTES: u32 = 0xffff;
/// It writes (and does not read).
pub const WRITE: u32 = 1 << 16;
/// It reads and writes at once.
pub const ATOMIC: u32 = 1 << 17;

/// Where the states of the window's bytes are: that of address `a` at `base + (a & mask)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States {
    /// First state.
    pub base: u64,
    /// Size of the window less one.
    pub mask: u64,
}

/// Decides about accesses whose states are not good; `info` is made of [`BYTES`], [`WRITE`] and
/// [`ATOMIC`]. Returns when the program may go on.
pub type AccessFn = unsafe extern "C" fn(ctx: *mut WarpCtx, mask: u32, site: u32, info: u32, addresses: *const Lanes);

/// Local memory of a function begins (each lane uses `used` of `pitch` bytes) or ends (`used` is 0).
pub type LocalFn = unsafe extern "C" fn(start: u64, pitch: u32, used: u32);

/// Checks that are compiled into a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Instrument {
    /// Every access is checked against these states.
    pub memory: Option<States>,
    /// States tell what has been written, and stores change them.
    pub init: bool,
    /// See [`AccessFn`].
    pub access: AccessFn,
    /// See [`LocalFn`].
    pub local: LocalFn,
}

impl Instrument {
    /// Nothing is checked.
    pub const NONE: Instrument = Instrument { memory: None, init: false, access: no_access, local: no_local };

    /// Bytes that nobody may access between two variables of a thread, and behind the last one.
    pub(crate) fn gap(&self) -> u32 {
        if self.memory.is_some() { 16 } else { 0 }
    }
}

unsafe extern "C" fn no_access(_: *mut WarpCtx, _: u32, _: u32, _: u32, _: *const Lanes) {}
unsafe extern "C" fn no_local(_: u64, _: u32, _: u32) {}
