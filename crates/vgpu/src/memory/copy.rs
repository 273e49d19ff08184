//! Copying and filling, and the checks that make them safe to ask for.
//!
//! Establishes: an operation on device memory is only started when its whole range lies in one
//! live allocation, one module variable or one registration; host memory outside the device
//! window is the caller's promise, as it is with a real driver.

use crate::memory::{globals, mapping};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::check::shadow;
use rtcg_vgpu_exec::host_ranges;
use rtcg_vgpu_exec::window;

/// From this size on a copy is shared between threads: a cold destination takes page faults, and
/// one core does not saturate the memory.
const MIN_PARALLEL_COPY_BYTES: usize = 16 << 20;
const MAX_COPY_THREADS: usize = 4;

/// Where an address range lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLocation {
    /// Device memory, or host memory that the device can reach.
    Device,
    /// Host memory that the device cannot reach.
    Pageable,
}

/// Checks that a range is memory of the device (or memory it may access).
pub(crate) fn check_device_range(address: u64, len: u64) -> Res {
    if len == 0 || crate::memory::account::device_heap()?.find_range(address, len).is_some() {
        return Ok(());
    }
    let in_global = globals::find_global(address).is_some_and(|g| len <= g.size - (address - g.start));
    let known = in_global || host_ranges::is_registered(address, len) || mapping::is_range_accessible(address, len);
    ensure(known, ResultCode::INVALID_VALUE)
}

/// Checks, when memory is about to be written, that no mapping in the range is only for reading.
pub(crate) fn check_writable(address: u64, len: u64) -> Res {
    ensure(!mapping::is_any_read_only(address, len), ResultCode::ILLEGAL_ADDRESS)
}

/// Checks a host range: addresses in the device window must be live, others are trusted.
pub(crate) fn check_host_range(address: u64, len: u64) -> Res<MemoryLocation> {
    if len == 0 {
        return Ok(MemoryLocation::Device);
    }
    ensure(address != 0, ResultCode::INVALID_VALUE)?;
    let end = address.checked_add(len).ok_or(ResultCode::INVALID_VALUE)?;
    let touches_window = window::device_window().is_ok_and(|w| {
        let base = w.base_address() as u64;
        address < base + w.size_bytes() as u64 && end > base
    });
    if touches_window {
        check_device_range(address, len)?;
        return Ok(MemoryLocation::Device);
    }
    if host_ranges::is_registered(address, len) {
        return Ok(MemoryLocation::Device);
    }
    // What begins in registered memory must end in it: a neighbour's registration is another one.
    ensure(host_ranges::find_registration(address).is_none(), ResultCode::INVALID_VALUE)?;
    Ok(MemoryLocation::Pageable)
}

/// One side of a strided copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PitchedRange {
    /// Address of the first byte that is copied.
    pub(crate) start: u64,
    /// Bytes from a row to the next.
    pub(crate) pitch: u64,
    /// Bytes from a slice to the next.
    pub(crate) slice: u64,
}

/// Width in bytes, height in rows, depth in slices.
pub(crate) type CopyExtent = [u64; 3];

impl PitchedRange {
    /// Bytes from the first to one past the last byte touched.
    pub(crate) fn touched_bytes(&self, extent: CopyExtent) -> Res<u64> {
        let [width, height, depth] = extent;
        let rows = (height - 1).checked_mul(self.pitch);
        let slices = (depth - 1).checked_mul(self.slice);
        let sum = rows.zip(slices).and_then(|(r, s)| r.checked_add(s)?.checked_add(width));
        sum.ok_or(ResultCode::INVALID_VALUE.into())
    }
}

/// Copies `len` bytes; the ranges may overlap.
///
/// # Safety
/// Both ranges are mapped memory.
pub(crate) unsafe fn copy_bytes(dst: u64, src: u64, len: u64) {
    let len = len as usize;
    shadow::propagate_states_of_copy(dst as usize, src as usize, len);
    let disjoint = dst.abs_diff(src) >= len as u64;
    if len < MIN_PARALLEL_COPY_BYTES || !disjoint {
        // SAFETY: the caller answers for both ranges; `ptr::copy_bytes` allows overlap.
        unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, len) };
        return;
    }
    // SAFETY: the caller answers for both ranges, which are disjoint, and so are the pieces of each.
    run_in_parallel_chunks(len, |at, n| unsafe {
        std::ptr::copy_nonoverlapping((src as usize + at) as *const u8, (dst as usize + at) as *mut u8, n)
    });
}

fn run_in_parallel_chunks(len: usize, work: impl Fn(usize, usize) + Sync) {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_COPY_THREADS);
    let piece = len.div_ceil(n_threads).next_multiple_of(window::page_size());
    std::thread::scope(|scope| {
        let work = &work;
        let mut at = piece.min(len);
        while at < len {
            let n = piece.min(len - at);
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || work(at, n));
            if spawned.is_err() {
                work(at, n);
            }
            at += n;
        }
        work(0, piece.min(len));
    });
}

/// Copies a box of bytes.
///
/// # Safety
/// Both sides' reaches are mapped memory.
pub(crate) unsafe fn copy_pitched_bytes(dst: PitchedRange, src: PitchedRange, extent: CopyExtent) {
    let [width, height, depth] = extent;
    let packed = |side: &PitchedRange| side.pitch == width && (depth <= 1 || side.slice == width * height);
    if packed(&dst) && packed(&src) {
        // SAFETY: packed sides reach exactly the product of the extents.
        return unsafe { copy_bytes(dst.start, src.start, width * height * depth) };
    }
    for z in 0..depth {
        for y in 0..height {
            let offset = |side: &PitchedRange| side.start + z * side.slice + y * side.pitch;
            // SAFETY: every row lies within its side's reach.
            unsafe { copy_bytes(offset(&dst), offset(&src), width) };
        }
    }
}

/// Fills rows with an element of 1, 2 or 4 bytes.
///
/// # Safety
/// The reach of `dst` is mapped memory; `start` and `pitch` are multiples of the element's size.
pub(crate) unsafe fn fill_rows(dst: PitchedRange, element: FillValue, width: u64, height: u64) {
    let packed = dst.pitch == width * element.element_bytes();
    let (rows, per_row) = if packed { (1, width * height) } else { (height, width) };
    for row in 0..rows {
        let start = dst.start + row * dst.pitch;
        // SAFETY: each row lies within the reach of `dst`.
        unsafe { fill_row(start, element, per_row as usize) };
    }
}

/// What memory is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FillValue {
    /// One byte.
    D8(u8),
    /// Two bytes.
    D16(u16),
    /// Four bytes.
    D32(u32),
}

impl FillValue {
    /// Size in bytes.
    pub(crate) fn element_bytes(self) -> u64 {
        match self {
            FillValue::D8(_) => 1,
            FillValue::D16(_) => 2,
            FillValue::D32(_) => 4,
        }
    }

    /// The element as a number.
    pub(crate) fn element_value(self) -> u32 {
        match self {
            FillValue::D8(v) => u32::from(v),
            FillValue::D16(v) => u32::from(v),
            FillValue::D32(v) => v,
        }
    }

    /// The byte that the element repeats, if it is made of equal bytes.
    fn as_repeated_byte(self) -> Option<u8> {
        match self {
            FillValue::D8(b) => Some(b),
            FillValue::D16(v) => (v.to_le_bytes()[0] == v.to_le_bytes()[1]).then_some(v as u8),
            FillValue::D32(v) => (v == u32::from(v as u8) * 0x0101_0101).then_some(v as u8),
        }
    }
}

/// # Safety
/// `n` elements at `start` are mapped memory, aligned for the element.
unsafe fn fill_row(start: u64, element: FillValue, n: usize) {
    let bytes = n * element.element_bytes() as usize;
    shadow::mark_host_written(start as usize, bytes);
    if let Some(byte) = element.as_repeated_byte() {
        let put = |at: usize, len: usize| {
            // SAFETY: `[at, at + len)` is part of the row.
            unsafe { std::ptr::write_bytes((start as usize + at) as *mut u8, byte, len) }
        };
        return if bytes < MIN_PARALLEL_COPY_BYTES { put(0, bytes) } else { run_in_parallel_chunks(bytes, put) };
    }
    match element {
        // Bytes always repeat themselves.
        FillValue::D8(_) => {}
        // SAFETY: the caller answers for the row and its alignment.
        FillValue::D16(value) => unsafe { std::slice::from_raw_parts_mut(start as *mut u16, n).fill(value) },
        // SAFETY: the caller answers for the row and its alignment.
        FillValue::D32(value) => unsafe { std::slice::from_raw_parts_mut(start as *mut u32, n).fill(value) },
    }
}
