//! Memory that programs map themselves: reserved addresses, physical memory, and which of it is
//! where (`cuMemAddressReserve`, `cuMemCreate`, `cuMemMap`, `cuMemSetAccess`).
//!
//! Establishes: physical memory is an anonymous file that cannot shrink, so the same bytes can be
//! mapped at several addresses, outlive their mappings, and be handed to other processes. Reserved
//! addresses are cut out of the heap's range; what is not mapped or has no access faults.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::device;
use crate::memory::{anonymous_file, synchronous_copies};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};
use rtcg_vgpu_exec::check::shadow;
use rtcg_vgpu_exec::window;

/// Sizes, addresses and offsets are multiples of this, as on a GPU.
pub(crate) const ALLOCATION_GRANULARITY: u64 = 2 << 20;
/// What the files of physical memory promise: they never become smaller or larger.
const FILE_SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// The handles of physical memory.
pub(crate) static PHYSICAL_MEMORY: HandleTable<PhysicalMemory> = HandleTable::new(0x2b);

/// Physical memory; lives as long as a handle or a mapping of it.
#[derive(Debug)]
pub(crate) struct PhysicalMemory {
    file: OwnedFd,
    pub(crate) bytes: u64,
    /// Ordinal of its device; 0 for memory of the host.
    pub(crate) device: u32,
    /// Type and number of its location, as requested.
    pub(crate) location: (u32, i32),
    /// What the device was charged for it.
    charged: u64,
    /// Kinds of handles that it was made for; none for memory that was imported, which can be exported again all the same.
    pub(crate) handle_types: u32,
    /// Whether it came by a handle.
    pub(crate) is_imported: bool,
    /// The handle and how often it must be released; 0 for none.
    handle_refs: Mutex<(u64, u32)>,
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if let Ok(device) = device::device_by_ordinal(self.device as i32) {
            device.uncharge_memory(self.charged);
            device.report().remove_allocation(self.charged);
        }
    }
}

/// A part of physical memory at an address.
#[derive(Debug)]
struct Mapping {
    len: u64,
    memory: Arc<PhysicalMemory>,
    /// The devices that may read it, and whether they may write it.
    allowed: Vec<(i32, bool)>,
}

/// What a device may do with mapped memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    None,
    Read,
    ReadWrite,
}

impl Access {
    /// `CUmemAccess_flags`
    pub(crate) fn flags(self) -> u32 {
        match self {
            Access::None => 0,
            Access::Read => 1,
            Access::ReadWrite => 3,
        }
    }
}

impl Mapping {
    fn is_writable(&self) -> bool {
        self.allowed.iter().any(|&(_, writes)| writes)
    }
}

/// What is known about an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MappedRange {
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) device: u32,
    /// Address and length of the reservation.
    pub(crate) reservation: (u64, u64),
    /// Kinds of handles that the memory can be exported by.
    pub(crate) handle_types: u32,
    /// Whether some device may use it.
    pub(crate) is_accessible: bool,
}

#[derive(Debug, Default)]
struct MappingSpace {
    /// Reserved ranges: their lengths by address.
    reserved: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Mapping>,
}

static MAPPING_SPACE: RwLock<MappingSpace> =
    RwLock::new(MappingSpace { reserved: BTreeMap::new(), mapped: BTreeMap::new() });

fn read_mapping_space() -> RwLockReadGuard<'static, MappingSpace> {
    MAPPING_SPACE.read().ignore_poison()
}

fn write_mapping_space() -> RwLockWriteGuard<'static, MappingSpace> {
    MAPPING_SPACE.write().ignore_poison()
}

fn check_granularity(value: u64) -> Res {
    ensure(value.is_multiple_of(ALLOCATION_GRANULARITY), ResultCode::INVALID_VALUE)
}

impl PhysicalMemory {
    /// New memory of a device or of the host, zero-filled.
    pub(crate) fn create_physical(
        bytes: u64,
        device: Option<&'static device::Device>,
        location: (u32, i32),
        handle_types: u32,
    ) -> Res<u64> {
        ensure(bytes > 0, ResultCode::INVALID_VALUE)?;
        check_granularity(bytes)?;
        let file = match device {
            Some(device) => {
                device.charge_memory(bytes)?;
                let file = new_file(bytes).inspect_err(|_| device.uncharge_memory(bytes))?;
                device.report().add_allocation(bytes);
                file
            }
            None => new_file(bytes)?,
        };
        PhysicalMemory {
            file,
            bytes,
            device: device.map_or(0, |d| d.ordinal),
            location,
            charged: device.map_or(0, |_| bytes),
            handle_types,
            is_imported: false,
            handle_refs: Mutex::default(),
        }
        .into_handle()
    }

    /// The memory behind a file descriptor that [`PhysicalMemory::export_fd`] made, here or elsewhere. The
    /// descriptor stays the caller's.
    pub(crate) fn import_fd(fd: RawFd, device: u32) -> Res<u64> {
        // SAFETY: a wrong number is an error of the call.
        let file = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        ensure(file >= 0, ResultCode::UNKNOWN)?;
        // SAFETY: the descriptor was just made.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        // SAFETY: asks about a descriptor.
        let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
        ensure(seals >= 0 && seals & FILE_SEALS == FILE_SEALS, ResultCode::INVALID_VALUE)?;
        // SAFETY: all fields of the structure are numbers, and the call fills it.
        let bytes = unsafe {
            let mut about: libc::stat = std::mem::zeroed();
            ensure(libc::fstat(fd, &raw mut about) == 0, ResultCode::INVALID_VALUE)?;
            about.st_size as u64
        };
        ensure(bytes > 0, ResultCode::INVALID_VALUE)?;
        check_granularity(bytes)?;
        let location = (1, device as i32);
        PhysicalMemory {
            file,
            bytes,
            device,
            location,
            charged: 0,
            handle_types: 0,
            is_imported: true,
            handle_refs: Mutex::default(),
        }
        .into_handle()
    }

    fn into_handle(self) -> Res<u64> {
        let memory = Arc::new(self);
        memory.retain_handle()
    }

    fn lock_handle_refs(&self) -> MutexGuard<'_, (u64, u32)> {
        self.handle_refs.lock().ignore_poison()
    }

    /// The handle, which must be released once more.
    fn retain_handle(self: &Arc<Self>) -> Res<u64> {
        let mut held = self.lock_handle_refs();
        if held.1 == 0 {
            held.0 = PHYSICAL_MEMORY.insert_with(|_| self.clone())?.0;
        }
        held.1 += 1;
        Ok(held.0)
    }

    /// A descriptor for other processes, which the caller closes.
    pub(crate) fn export_fd(&self) -> Res<RawFd> {
        // SAFETY: duplicates a descriptor that is open as long as the value lives.
        let fd = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 0) };
        ensure(fd >= 0, ResultCode::OPERATING_SYSTEM)?;
        Ok(fd)
    }
}

/// A file in memory of a fixed size.
fn new_file(bytes: u64) -> Res<OwnedFd> {
    let file = anonymous_file::create_memfd(c"rtcg device memory", libc::MFD_ALLOW_SEALING)
        .ok_or(ResultCode::OUT_OF_MEMORY)?;
    let fd = file.as_raw_fd();
    // SAFETY: calls on that descriptor.
    let ready =
        unsafe { libc::ftruncate(fd, bytes as i64) == 0 && libc::fcntl(fd, libc::F_ADD_SEALS, FILE_SEALS) == 0 };
    ensure(ready, ResultCode::OUT_OF_MEMORY)?;
    Ok(file.into())
}

/// Gives back a handle once; the memory goes with the last handle and the last mapping.
pub(crate) fn release_handle(handle: u64) -> Res {
    let memory = PHYSICAL_MEMORY.get_object_or(handle, ResultCode::INVALID_VALUE)?;
    let mut held = memory.lock_handle_refs();
    held.1 = held.1.saturating_sub(1);
    if held.1 == 0 {
        PHYSICAL_MEMORY.remove_object_or(handle, ResultCode::INVALID_VALUE)?;
    }
    Ok(())
}

/// The handle of the memory that is mapped at an address, held once more.
pub(crate) fn retain_mapped_handle(address: u64) -> Res<u64> {
    let memory = read_mapping_space().mapping_at(address).map(|(_, m)| m.memory.clone());
    memory.ok_or(ResultCode::INVALID_VALUE)?.retain_handle()
}

/// Addresses for later use.
pub(crate) fn reserve_addresses(len: u64, alignment: u64) -> Res<u64> {
    ensure(len > 0, ResultCode::INVALID_VALUE)?;
    check_granularity(len)?;
    ensure(alignment == 0 || alignment.is_power_of_two(), ResultCode::INVALID_VALUE)?;
    let start = crate::memory::account::device_heap()?
        .reserve_addresses(len, alignment.max(ALLOCATION_GRANULARITY))
        .ok_or(ResultCode::OUT_OF_MEMORY)?;
    write_mapping_space().reserved.insert(start, len);
    Ok(start)
}

/// Gives back what [`reserve_addresses`] gave, as a whole; nothing may be mapped in it.
pub(crate) fn unreserve_addresses(start: u64, len: u64) -> Res {
    let mut space = write_mapping_space();
    ensure(space.reserved.get(&start) == Some(&len), ResultCode::INVALID_VALUE)?;
    ensure(space.mapped.range(start..start + len).next().is_none(), ResultCode::INVALID_VALUE)?;
    space.reserved.remove(&start);
    crate::memory::account::device_heap()?.unreserve_addresses(start, len);
    Ok(())
}

/// Puts physical memory at reserved addresses, at first without access.
pub(crate) fn map_memory(start: u64, len: u64, offset: u64, handle: u64) -> Res {
    let memory = PHYSICAL_MEMORY.get_object_or(handle, ResultCode::INVALID_VALUE)?;
    ensure(len > 0, ResultCode::INVALID_VALUE)?;
    check_granularity(start)?;
    // The device maps only the whole.
    ensure((offset, len) == (0, memory.bytes), ResultCode::NOT_SUPPORTED)?;
    let mut space = write_mapping_space();
    ensure(
        space.is_reserved(start, len) && space.mapped.range(start..start + len).next().is_none(),
        ResultCode::INVALID_VALUE,
    )?;
    ensure(space.mapping_at(start).is_none(), ResultCode::INVALID_VALUE)?;
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let fd = memory.file.as_raw_fd();
    // SAFETY: the addresses are reserved for this purpose and nothing is mapped there; the file has
    // the bytes for as long as it is mapped.
    let p = unsafe { libc::mmap(start as *mut _, len as usize, libc::PROT_NONE, flags, fd, 0) };
    ensure(p != libc::MAP_FAILED, ResultCode::OUT_OF_MEMORY)?;
    space.mapped.insert(start, Mapping { len, memory, allowed: Vec::new() });
    Ok(())
}

/// Takes whole mappings away; parts of the reservation without one stay as they are.
pub(crate) fn unmap_memory(start: u64, len: u64) -> Res {
    let mut space = write_mapping_space();
    ensure(len > 0 && space.is_reserved(start, len), ResultCode::INVALID_VALUE)?;
    [start, len].into_iter().try_for_each(check_granularity)?;
    let places = space.mappings_within_range(start, len)?;
    let window = window::device_window().map_err(|_| ResultCode::OUT_OF_MEMORY)?;
    // SAFETY: the range consists of mappings of this file, which no Rust reference points into.
    unsafe { window.decommit_pages(start as usize, len as usize) }
        .map_err(|e| ResultCode::OUT_OF_MEMORY.with_detail(e.to_string()))?;
    shadow::mark_freed(start as usize, len as usize);
    for place in places {
        space.mapped.remove(&place);
        synchronous_copies::forget(place, place);
    }
    Ok(())
}

/// Lets a device read, or read and write, whole mappings, or no longer. The virtual devices share one memory:
/// access is there as long as one of them has it.
pub(crate) fn set_access(start: u64, len: u64, device: i32, access: Access) -> Res {
    let mut space = write_mapping_space();
    for place in space.mappings_covering_range(start, len)? {
        let Some(mapping) = space.mapped.get_mut(&place) else { continue };
        mapping.allowed.retain(|&(d, _)| d != device);
        if access != Access::None {
            mapping.allowed.push((device, access == Access::ReadWrite));
        }
        let open = !mapping.allowed.is_empty();
        let protection = match (open, mapping.is_writable()) {
            (_, true) => libc::PROT_READ | libc::PROT_WRITE,
            (true, false) => libc::PROT_READ,
            (false, false) => libc::PROT_NONE,
        };
        // SAFETY: a mapping of this file, which no Rust reference points into.
        let rc = unsafe { libc::mprotect(place as *mut _, mapping.len as usize, protection) };
        ensure(rc == 0, ResultCode::OUT_OF_MEMORY)?;
        if open {
            shadow::mark_allocated(place as usize, mapping.len as usize, true);
        } else {
            shadow::mark_freed(place as usize, mapping.len as usize);
        }
    }
    Ok(())
}

/// What a device, or without one any of them, may do with the memory at an address; `None` where nothing is mapped.
pub(crate) fn access_of_device(address: u64, device: Option<i32>) -> Option<Access> {
    let space = read_mapping_space();
    let (_, mapping) = space.mapping_at(address)?;
    let allowed = mapping.allowed.iter().filter(|(d, _)| device.is_none_or(|device| *d == device));
    Some(match allowed.map(|&(_, writes)| writes).max() {
        None => Access::None,
        Some(false) => Access::Read,
        Some(true) => Access::ReadWrite,
    })
}

/// Whether a part of a range is mapped for reading only.
pub(crate) fn is_any_read_only(address: u64, len: u64) -> bool {
    let space = read_mapping_space();
    let mappings = space.mapped.range(..address.saturating_add(len)).rev();
    mappings.take_while(|(at, m)| *at + m.len > address).any(|(_, m)| !m.allowed.is_empty() && !m.is_writable())
}

/// Whether all of a range is mapped and some device may use it.
pub(crate) fn is_range_accessible(address: u64, len: u64) -> bool {
    let space = read_mapping_space();
    let Some(end) = address.checked_add(len) else { return false };
    let mut at = address;
    while at < end {
        match space.mapping_at(at) {
            Some((start, m)) if !m.allowed.is_empty() => at = start + m.len,
            _ => return false,
        }
    }
    true
}

/// The mapping that an address lies in.
pub(crate) fn find_mapping(address: u64) -> Option<MappedRange> {
    let space = read_mapping_space();
    let (start, m) = space.mapping_at(address)?;
    let reservation = space.reserved.range(..=address).next_back().map_or((start, m.len), |(&at, &len)| (at, len));
    Some(MappedRange {
        start,
        len: m.len,
        device: m.memory.device,
        reservation,
        handle_types: m.memory.handle_types,
        is_accessible: !m.allowed.is_empty(),
    })
}

impl MappingSpace {
    fn mapping_at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (&start, mapping) = self.mapped.range(..=address).next_back()?;
        (address - start < mapping.len).then_some((start, mapping))
    }

    fn is_reserved(&self, start: u64, len: u64) -> bool {
        let reservation = self.reserved.range(..=start).next_back();
        reservation.is_some_and(|(&at, &n)| start - at <= n && len <= n - (start - at))
    }

    /// The starts of the mappings in a range, without a part of one.
    fn mappings_within_range(&self, start: u64, len: u64) -> Res<Vec<u64>> {
        let end = start.checked_add(len).ok_or(ResultCode::INVALID_VALUE)?;
        let begins_inside = self.mapping_at(start).is_some_and(|(at, _)| at < start);
        let ends_inside = self.mapping_at(end - 1).is_some_and(|(at, m)| at + m.len > end);
        ensure(!begins_inside && !ends_inside, ResultCode::INVALID_VALUE)?;
        Ok(self.mapped.range(start..end).map(|(&at, _)| at).collect())
    }

    /// The starts of the mappings that a range consists of, without a part of one or a gap.
    fn mappings_covering_range(&self, start: u64, len: u64) -> Res<Vec<u64>> {
        let end = start.checked_add(len).filter(|&e| e > start).ok_or(ResultCode::INVALID_VALUE)?;
        let (mut at, mut places) = (start, Vec::new());
        while at < end {
            let mapping = self.mapped.get(&at).ok_or(ResultCode::INVALID_VALUE)?;
            places.push(at);
            at += mapping.len;
        }
        ensure(at == end, ResultCode::INVALID_VALUE)?;
        Ok(places)
    }
}
