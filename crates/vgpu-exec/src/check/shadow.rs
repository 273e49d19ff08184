//! One byte of state for each byte of the device window.
//!
//! Establishes: the state of window address `a` lies at `base + (a & (2^bits - 1))`, in a mapping
//! whose pages exist only where they were written. State 0, that of untouched pages, means that
//! the byte is not allocated. Compiled code reads and writes states without any lock: two threads
//! that write the same state byte write the same value or race in the program itself.

use crate::window::{DeviceWindow, WindowArea, WindowError, device_window, page_size};
use std::sync::OnceLock;

/// The byte may be written.
pub(crate) const WRITABLE_BIT: u8 = 1;
/// The byte may be read: it is constant, or has been written.
pub(crate) const READABLE_BIT: u8 = 2;
/// Kernels of all devices may access the byte, as far as peer access goes; one bit for each.
const ALL_DEVICE_BITS: u8 = !(WRITABLE_BIT | READABLE_BIT);
/// Bits for devices; those that share one are not told apart.
const N_DEVICE_BITS: u32 = 6;
/// All of it.
pub(crate) const FULLY_ACCESSIBLE: u8 = WRITABLE_BIT | READABLE_BIT | ALL_DEVICE_BITS;
/// Bytes from the window's start whose state is [`FULLY_ACCESSIBLE`] although nobody can access them: stands
/// for the lanes that take no part.
const ALWAYS_ACCESSIBLE_BYTES: usize = 64;
/// From this size on states are dropped by giving their pages back.
const DROP_PAGES_MIN_BYTES: usize = 256 << 10;
/// Compiled code may read the states of a whole chunk from an address at the very end on.
const OVERREAD_TAIL_BYTES: usize = 64 << 10;

/// The bit of states that says that kernels of `device` need no peer access.
pub(crate) fn device_bit(device: u32) -> u8 {
    4 << (device % N_DEVICE_BITS)
}

/// Where the states are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShadowMemory {
    pub(crate) base: usize,
    pub(crate) mask: usize,
    window: &'static DeviceWindow,
}

/// The states, when this process checks accesses and the system has room for them.
pub(crate) fn shadow_memory() -> Option<&'static ShadowMemory> {
    static SHADOW: OnceLock<Option<ShadowMemory>> = OnceLock::new();
    SHADOW
        .get_or_init(|| {
            if !super::enabled_checks().uses_shadow_memory() {
                return None;
            }
            let made = ShadowMemory::new();
            if let Err(e) = &made {
                eprintln!("rtcg: RTCG_CHECK: accesses are not checked: {e}");
            }
            made.ok()
        })
        .as_ref()
}

impl ShadowMemory {
    fn new() -> Result<ShadowMemory, WindowError> {
        let window = device_window()?;
        let base = super::shadow::reserve_zeroed(window.size_bytes() + OVERREAD_TAIL_BYTES)?;
        let shadow = ShadowMemory { base, mask: window.size_bytes() - 1, window };
        shadow.set_state(window.base_address(), ALWAYS_ACCESSIBLE_BYTES, FULLY_ACCESSIBLE);
        Ok(shadow)
    }

    /// The state bytes of a range, if all of it is in the window.
    fn state_bytes(&self, start: usize, len: usize) -> Option<*mut u8> {
        let inside = self.window.contains(start) && (len == 0 || self.window.contains(start + (len - 1)));
        inside.then_some((self.base + (start & self.mask)) as *mut u8)
    }

    /// Gives all bytes of a range a state. Ranges outside the window have none.
    pub(crate) fn set_state(&self, start: usize, len: usize, state: u8) {
        let Some(p) = self.state_bytes(start, len) else { return };
        let page = page_size();
        let (first, end) = ((p as usize).next_multiple_of(page), (p as usize + len) & !(page - 1));
        if state == 0 && len >= DROP_PAGES_MIN_BYTES && first < end {
            // SAFETY: the ends are states of the range, and so are the whole pages between them,
            // which read as zero again after the call.
            unsafe {
                p.write_bytes(0, first - p as usize);
                (end as *mut u8).write_bytes(0, p as usize + len - end);
                if libc::madvise(first as *mut _, end - first, libc::MADV_DONTNEED) != 0 {
                    (first as *mut u8).write_bytes(0, end - first);
                }
            }
            return;
        }
        // SAFETY: the mapping has a state byte for each byte of the window.
        unsafe { p.write_bytes(state, len) };
    }

    /// The state of a byte of the window.
    pub(crate) fn state_at(&self, address: usize) -> u8 {
        // SAFETY: the mapping has a state byte for each byte of the window.
        self.state_bytes(address, 1).map_or(0, |p| unsafe { p.read_volatile() })
    }

    /// Adds `bits` to the states of bytes that may be written.
    pub(crate) fn mark_written(&self, start: usize, len: usize) {
        for a in start..start + len {
            if let Some(p) = self.state_bytes(a, 1) {
                // SAFETY: the mapping has a state byte for each byte of the window.
                unsafe { p.write_volatile(p.read_volatile() | READABLE_BIT) };
            }
        }
    }

    /// Marks all bytes of a range as written; whose they are stays.
    fn mark_readable(&self, start: usize, len: usize) {
        let Some(p) = self.state_bytes(start, len) else { return };
        for i in 0..len {
            // SAFETY: the mapping has a state byte for each byte of the window.
            unsafe { p.add(i).write(p.add(i).read() | WRITABLE_BIT | READABLE_BIT) };
        }
    }

    /// What may be read at `src` may be read at `dst`; whose the bytes are stays.
    fn copy_states(&self, dst: usize, src: usize, len: usize) {
        let (Some(d), Some(s)) = (self.state_bytes(dst, len), self.state_bytes(src, len)) else { return };
        let one = |i: usize| {
            // SAFETY: both ranges have states.
            unsafe { d.add(i).write(d.add(i).read() & ALL_DEVICE_BITS | s.add(i).read() & !ALL_DEVICE_BITS) };
        };
        if dst <= src { (0..len).for_each(one) } else { (0..len).rev().for_each(one) }
    }
}

/// Memory that reads as zero and takes no room until it is written.
pub(super) fn reserve_zeroed(len: usize) -> Result<usize, WindowError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(WindowError { what: format!("reserve {len} bytes for the state of memory"), errno });
    }
    // SAFETY: advice about the mapping just made; large pages would make sparse states expensive.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(p, len, libc::MADV_NOHUGEPAGE);
        libc::madvise(p, len, libc::MADV_DONTDUMP);
    }
    Ok(p as usize)
}

/// Memory of `len` bytes begins to exist; `mark_written` when its contents count as written.
pub fn mark_allocated(start: usize, len: usize, written: bool) {
    if let Some(s) = shadow_memory() {
        let written = written || !super::enabled_checks().init;
        s.set_state(start, len, ALL_DEVICE_BITS | if written { WRITABLE_BIT | READABLE_BIT } else { WRITABLE_BIT });
    }
}

/// Memory of a device begins to exist, which kernels of others reach as its peers only.
pub fn mark_allocated_on_device(device: u32, start: usize, len: usize) {
    if let Some(s) = shadow_memory() {
        let read = if super::enabled_checks().init { 0 } else { READABLE_BIT };
        s.set_state(start, len, WRITABLE_BIT | read | device_bit(device));
    }
}

/// Constant memory begins to exist.
pub fn mark_constant(start: usize, len: usize) {
    if let Some(s) = shadow_memory() {
        s.set_state(start, len, READABLE_BIT | ALL_DEVICE_BITS);
    }
}

/// Memory ceases to exist.
pub fn mark_freed(start: usize, len: usize) {
    if let Some(s) = shadow_memory() {
        s.set_state(start, len, 0);
    }
}

/// The host (or an operation of the driver) has written to memory of the heap.
pub fn mark_host_written(start: usize, len: usize) {
    if super::enabled_checks().init
        && let Some(s) = shadow_memory()
        && s.window.heap_area().contains(start)
    {
        s.mark_readable(start, len);
    }
}

/// The driver has copied memory: uninitialised bytes stay uninitialised.
pub fn propagate_states_of_copy(dst: usize, src: usize, len: usize) {
    if !super::enabled_checks().init || len == 0 {
        return;
    }
    let Some(s) = shadow_memory() else { return };
    let heap: WindowArea = s.window.heap_area();
    if heap.contains(dst) && heap.contains(src) {
        s.copy_states(dst, src, len);
    } else {
        mark_host_written(dst, len);
    }
}

/// A block with `total` bytes of shared memory begins; all `committed` bytes of its slot are known.
pub(crate) fn mark_shared_memory(shared: usize, total: usize) {
    if total > 0 {
        mark_allocated(shared, total, false);
    }
}
