//! The device window: one reserved range of addresses that holds everything a kernel may access.
//!
//! Establishes: [`device_window`] is reserved once per process, aligned to its size, without access and
//! without cost until a part is committed. A device pointer is a host address inside it, so
//! compiled code tests `(address ^ base) >> bits == 0` and leaves the rest to the page tables.
//!
//! Where a limit on the address space (`ulimit -v`) is too small even for the smallest window, its addresses
//! are not reserved: only what is committed is mapped, far from where the system places mappings of
//! its own choice. Everything else is as in a reserved window, and accesses to what is not committed fault.
//!
//! Assumes: a Unix `mmap`. The window is divided into fixed areas, in this order; all of them but
//! the parameters scale with the window's size (here for 2^43 bytes, the largest):
//!
//! | area | bytes | what |
//! |---|---|---|
//! | guard | 50 GiB, before the base | never committed: what lies near an address of the window, but outside, faults |
//! | guard | 64 KiB | never committed: small offsets from the base fault |
//! | params | 256 MiB | packed parameters of running launches |
//! | data | 512 GiB less the above | module globals and constants |
//! | local | 512 GiB | local memory of running warps |
//! | malloc | 512 GiB | device-side `malloc_area` |
//! | shared | 1024 spans of 4 GiB | shared memory, a span per resident block |
//! | heap | 2.5 TiB | `cuMemAlloc`, page-locked host memory |
//! | guard | 50 GiB, behind the window | as before the base |

use rtcg_vgpu_abi::GUARD_BYTES;
use std::fmt;
use std::sync::OnceLock;

/// Addresses that belong to one resident block's shared memory: any 32-bit offset stays inside.
pub const SHARED_SPAN_BYTES: usize = 1 << 32;
/// The largest window that is requested; smaller ones are tried when the system refuses.
const MAX_WINDOW_BITS: u32 = 43;
/// A window that is not reserved costs nothing, but lies where other libraries may ask for addresses.
const UNRESERVED_WINDOW_BITS: u32 = 40;
/// Below this there is no room for a useful number of shared spans.
const MIN_WINDOW_BITS: u32 = 36;
/// Bytes at the window's beginning that are never committed.
const UNCOMMITTED_PREFIX_BYTES: usize = 64 << 10;
const PARAMS_AREA_BYTES: usize = (256 << 20) - UNCOMMITTED_PREFIX_BYTES;

/// A range of addresses of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowArea {
    /// First address.
    pub start: usize,
    /// Length in bytes.
    pub len: usize,
}

impl WindowArea {
    /// One past the last address.
    pub fn end(self) -> usize {
        self.start + self.len
    }
    /// Whether `address` lies in the area.
    pub fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.len
    }
}

/// The system refused a mapping operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowError {
    /// What was tried.
    pub what: String,
    /// `errno` of the failed call.
    pub errno: i32,
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = std::io::Error::from_raw_os_error(self.errno);
        write!(f, "device memory of the virtual GPU: {}: {cause}", self.what)
    }
}

impl std::error::Error for WindowError {}

/// The reserved range and its division into areas.
#[derive(Debug)]
pub struct DeviceWindow {
    base: usize,
    bits: u32,
    /// What is not committed is mapped without access, rather than not at all.
    reserved: bool,
}

/// The window of this process, reserved at the first call.
///
/// # Errors
/// The system has no room for the smallest useful window (a limit on virtual memory is the usual reason).
pub fn device_window() -> Result<&'static DeviceWindow, WindowError> {
    static DEVICE_WINDOW: OnceLock<Result<DeviceWindow, WindowError>> = OnceLock::new();
    DEVICE_WINDOW.get_or_init(DeviceWindow::reserve_window).as_ref().map_err(Clone::clone)
}

impl DeviceWindow {
    fn reserve_window() -> Result<DeviceWindow, WindowError> {
        let mut last = None;
        for bits in (MIN_WINDOW_BITS..=MAX_WINDOW_BITS).rev() {
            match reserve_aligned(1 << bits) {
                Ok(base) => return Ok(DeviceWindow { base, bits, reserved: true }),
                Err(e) => last = Some(e),
            }
        }
        if let Some(base) = unreserved_base(1 << UNRESERVED_WINDOW_BITS) {
            return Ok(DeviceWindow { base, bits: UNRESERVED_WINDOW_BITS, reserved: false });
        }
        Err(last.unwrap_or(WindowError { what: "no size to try".into(), errno: 0 }))
    }

    /// First address; a multiple of the window's size.
    pub fn base_address(&self) -> usize {
        self.base
    }
    /// Base-2 logarithm of the size.
    pub fn size_log2(&self) -> u32 {
        self.bits
    }
    /// Size in bytes.
    pub fn size_bytes(&self) -> usize {
        1 << self.bits
    }
    /// Whether `address` lies in the window (committed or not).
    pub fn contains(&self, address: usize) -> bool {
        (address ^ self.base) >> self.bits == 0
    }

    /// Whether what is not committed is mapped without access, rather than not at all.
    pub(crate) fn is_reserved(&self) -> bool {
        self.reserved
    }

    fn area_in_sixteenths(&self, first: usize, n: usize) -> WindowArea {
        let sixteenth = self.size_bytes() / 16;
        WindowArea { start: self.base + first * sixteenth, len: n * sixteenth }
    }
    /// Packed parameters of running launches.
    pub fn params_area(&self) -> WindowArea {
        WindowArea { start: self.base + UNCOMMITTED_PREFIX_BYTES, len: PARAMS_AREA_BYTES }
    }
    /// Module globals and constants.
    pub fn globals_area(&self) -> WindowArea {
        let start = self.params_area().end();
        WindowArea { start, len: self.area_in_sixteenths(1, 0).start - start }
    }
    /// Local memory of running warps.
    pub fn local_area(&self) -> WindowArea {
        self.area_in_sixteenths(1, 1)
    }
    /// Device-side `malloc_area`.
    pub fn malloc_area(&self) -> WindowArea {
        self.area_in_sixteenths(2, 1)
    }
    /// Shared memory of all resident blocks.
    pub fn shared_area(&self) -> WindowArea {
        self.area_in_sixteenths(3, 8)
    }
    /// `cuMemAlloc` and page-locked host memory.
    pub fn heap_area(&self) -> WindowArea {
        self.area_in_sixteenths(11, 5)
    }
    /// How many blocks can be resident at once.
    pub fn n_shared_spans(&self) -> usize {
        self.shared_area().len / SHARED_SPAN_BYTES
    }
    /// The shared memory addresses of resident block number `index`.
    ///
    /// # Panics
    /// If `index` is not below [`DeviceWindow::n_shared_spans`].
    pub fn shared_span(&self, index: usize) -> WindowArea {
        assert!(index < self.n_shared_spans(), "shared span {index} does not exist");
        WindowArea { start: self.shared_area().start + index * SHARED_SPAN_BYTES, len: SHARED_SPAN_BYTES }
    }

    /// Makes `[start, start + len)` readable and writable, zero-filled when it was not committed.
    /// The range is widened to whole pages.
    ///
    /// # Errors
    /// Outside the window, or the system refuses.
    pub fn commit_pages(&self, start: usize, len: usize) -> Result<(), WindowError> {
        let (start, len) = self.page_range(start, len, "commit")?;
        if mprotect_read_write(start, len) || (!self.reserved && map_missing_pages(start, len)) {
            return Ok(());
        }
        Err(os_window_error(format!("commit {len} bytes")))
    }

    /// Gives the memory of `[start, start + len)` back to the system; later accesses fault.
    /// Only whole pages inside the range are affected.
    ///
    /// # Safety
    /// Nothing may hold a Rust reference into the range, and no other user may own part of it.
    ///
    /// # Errors
    /// Outside the window, or the system refuses.
    pub unsafe fn decommit_pages(&self, start: usize, len: usize) -> Result<(), WindowError> {
        let page = page_size();
        let first = start.next_multiple_of(page);
        let end = (start + len) & !(page - 1);
        if end <= first {
            return Ok(());
        }
        let (start, len) = self.page_range(first, end - first, "decommit")?;
        if !self.reserved {
            // SAFETY: the range lies in the window and the caller says that nobody uses it.
            let rc = unsafe { libc::munmap(start as *mut _, len) };
            return if rc == 0 { Ok(()) } else { Err(os_window_error(format!("decommit {len} bytes"))) };
        }
        // A fresh mapping over the old one drops the pages and the access in one step, and the
        // kernel merges it with adjacent mappings, so that fragmentation does not use up mappings.
        // SAFETY: the range lies in the window and the caller says that nobody uses it.
        let p = unsafe { map_without_access(start as *mut _, len, libc::MAP_FIXED) };
        if p == libc::MAP_FAILED { Err(os_window_error(format!("decommit {len} bytes"))) } else { Ok(()) }
    }

    /// Widens a range to whole pages and checks that it lies in the window.
    fn page_range(&self, start: usize, len: usize, what: &str) -> Result<(usize, usize), WindowError> {
        let page = page_size();
        let first = start & !(page - 1);
        let end = start.checked_add(len).and_then(|e| e.checked_next_multiple_of(page));
        match end {
            Some(end) if len > 0 && first >= self.base && end <= self.base + self.size_bytes() => {
                Ok((first, end - first))
            }
            _ => Err(WindowError {
                what: format!("{what} {len} bytes at {start:#x}: outside the window"),
                errno: libc::EINVAL,
            }),
        }
    }
}

/// Gives access to pages of the window that are mapped; false when some are not.
fn mprotect_read_write(start: usize, len: usize) -> bool {
    // SAFETY: the callers have checked that the range lies in the window, whose addresses are the virtual GPU's;
    // giving access to pages invalidates no reference.
    unsafe { libc::mprotect(start as *mut _, len, libc::PROT_READ | libc::PROT_WRITE) == 0 }
}

/// Maps those pages of a range of an unreserved window that are not mapped, and gives access to all.
#[cfg(target_os = "linux")]
fn map_missing_pages(start: usize, len: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a mapping that replaces nothing.
    let p = unsafe { libc::mmap(start as *mut _, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EEXIST) {
            return false;
        }
        if len <= page_size() {
            return mprotect_read_write(start, len);
        }
        let half = (len / 2).next_multiple_of(page_size());
        return map_missing_pages(start, half) && map_missing_pages(start + half, len - half);
    }
    if p as usize != start {
        // A kernel before 4.17 takes the address for a hint.
        // SAFETY: the mapping was just made and nobody knows its address.
        unsafe { libc::munmap(p, len) };
    }
    p as usize == start
}

#[cfg(not(target_os = "linux"))]
fn map_missing_pages(_: usize, _: usize) -> bool {
    false
}

/// Gives access to pages of the heap or of a range that is reserved in another way.
pub fn grant_access(start: u64, len: u64) -> bool {
    let (start, len) = (start as usize, len as usize);
    mprotect_read_write(start, len) || (!is_reserved() && map_missing_pages(start, len))
}

/// Whether the window's addresses are reserved, or there is none.
pub fn is_reserved() -> bool {
    device_window().map_or(true, DeviceWindow::is_reserved)
}

/// A base for a window that is not reserved: a multiple of its size at which nothing is mapped.
fn unreserved_base(size: usize) -> Option<usize> {
    (1..=8).map(|n| 0x1000_0000_0000_usize + n * size).find(|&base| {
        let free = map_missing_pages(base, page_size());
        // SAFETY: the page was just mapped and nobody uses it.
        free && unsafe { libc::munmap(base as *mut _, page_size()) == 0 }
    })
}

/// Bytes of a page of the system.
pub fn page_size() -> usize {
    static PAGE_BYTES: OnceLock<usize> = OnceLock::new();
    *PAGE_BYTES.get_or_init(|| {
        // SAFETY: sysconf has no preconditions.
        let n = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(n).unwrap_or(4096)
    })
}

fn os_window_error(what: String) -> WindowError {
    WindowError { what, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(0) }
}

/// # Safety
/// With `MAP_FIXED` in `flags` the range is replaced: it must belong to the caller.
unsafe fn map_without_access(hint: *mut libc::c_void, len: usize, flags: i32) -> *mut libc::c_void {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping without access; the caller answers for `MAP_FIXED`.
    unsafe { libc::mmap(hint, len, libc::PROT_NONE, flags, -1, 0) }
}

/// Reserves `size_bytes` bytes at a multiple of `size_bytes`, and a guard on either side.
fn reserve_aligned(size: usize) -> Result<usize, WindowError> {
    let total = size + 2 * GUARD_BYTES;
    // A hint that is aligned and usually free avoids reserving twice the size for a moment.
    for n in 1..=8_usize {
        let hint = (0x1000_0000_0000_usize.wrapping_add(n * size) - GUARD_BYTES) as *mut libc::c_void;
        // SAFETY: without MAP_FIXED the hint replaces nothing.
        let p = unsafe { map_without_access(hint, total, 0) };
        if p == libc::MAP_FAILED {
            break;
        }
        if (p as usize + GUARD_BYTES).is_multiple_of(size) {
            return Ok(p as usize + GUARD_BYTES);
        }
        // SAFETY: the mapping was just made and nobody knows its address.
        unsafe { libc::munmap(p, total) };
    }
    reserve_and_trim(size)
}

fn reserve_and_trim(size: usize) -> Result<usize, WindowError> {
    let total = 2 * size + 2 * GUARD_BYTES;
    // SAFETY: no hint, no MAP_FIXED.
    let p = unsafe { map_without_access(std::ptr::null_mut(), total, 0) };
    if p == libc::MAP_FAILED {
        return Err(os_window_error(format!("reserve 2^{} bytes of addresses", size.trailing_zeros())));
    }
    let start = p as usize;
    let base = (start + GUARD_BYTES).next_multiple_of(size);
    let (head, tail) = (base - GUARD_BYTES, base + size + GUARD_BYTES);
    // SAFETY: both ranges are parts of the mapping just made that lie outside the window and its guards.
    unsafe {
        if head > start {
            libc::munmap(p, head - start);
        }
        if start + total > tail {
            libc::munmap(tail as *mut _, start + total - tail);
        }
    }
    Ok(base)
}
