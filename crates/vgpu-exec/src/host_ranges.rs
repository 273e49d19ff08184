//! Ordinary host memory that was made known to the device (`cuMemHostRegister`).
//!
//! Registered memory keeps its address; it lies outside the device window, so compiled code finds
//! it through the slow path of its address check.

use rtcg_vgpu_abi::IgnorePoison;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// A registered range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRegistration {
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
    /// Flags of `cuMemHostRegister`.
    pub flags: u32,
    /// Identifier of the context that registered it.
    pub ctx: u64,
}

static REGISTRATIONS: RwLock<BTreeMap<u64, HostRegistration>> = RwLock::new(BTreeMap::new());
/// Lets the common case, nothing registered, be answered without a lock.
static REGISTRATION_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Changes with the registrations.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Ranges that a thread has found of late, in the generation that they belong to.
#[derive(Debug, Clone, Copy)]
struct RecentRanges {
    generation: u64,
    next: usize,
    ranges: [HostRange; 4],
}

thread_local! {
    static RECENT_RANGES: Cell<RecentRanges> =
        const { Cell::new(RecentRanges { generation: 0, next: 0, ranges: [HostRange::EMPTY; 4] }) };
}

/// Registered memory, as accesses are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRange {
    start: u64,
    len: u64,
}

impl HostRange {
    /// Contains no access.
    pub const EMPTY: HostRange = HostRange { start: 0, len: 0 };

    /// Whether all of `[address, address + len)` lies in it.
    pub fn contains(self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.len && len <= self.len - offset
    }
}

/// Makes `[start, start + len)` accessible to kernels.
pub fn register_host(start: u64, len: u64, flags: u32, ctx: u64) -> Res {
    ensure(start != 0 && len > 0, ResultCode::INVALID_VALUE)?;
    let end = start.checked_add(len).ok_or(ResultCode::INVALID_VALUE)?;
    let mut ranges = REGISTRATIONS.write().ignore_poison();
    let overlaps = ranges.range(..end).next_back().is_some_and(|(_, r)| r.start + r.len > start);
    ensure(!overlaps, ResultCode::HOST_MEMORY_ALREADY_REGISTERED)?;
    ranges.insert(start, HostRegistration { start, len, flags, ctx });
    publish_change(&ranges);
    Ok(())
}

/// Takes back the registration that starts at `start`.
pub fn unregister_host(start: u64) -> Res<HostRegistration> {
    let mut ranges = REGISTRATIONS.write().ignore_poison();
    let found = ranges.remove(&start).ok_or(ResultCode::HOST_MEMORY_NOT_REGISTERED)?;
    publish_change(&ranges);
    Ok(found)
}

/// Takes back everything that context `ctx` registered.
pub fn unregister_context_ranges(ctx: u64) {
    let mut ranges = REGISTRATIONS.write().ignore_poison();
    ranges.retain(|_, r| r.ctx != ctx);
    publish_change(&ranges);
}

/// The registration that `address` lies in.
pub fn find_registration(address: u64) -> Option<HostRegistration> {
    if REGISTRATION_COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    let ranges = REGISTRATIONS.read().ignore_poison();
    let (_, range) = ranges.range(..=address).next_back()?;
    (address - range.start < range.len).then_some(*range)
}

/// The registrations on either side of an address, or that it lies in.
pub fn neighbor_registrations(address: u64) -> Vec<HostRegistration> {
    let ranges = REGISTRATIONS.read().ignore_poison();
    let below = ranges.range(..=address).next_back();
    below.into_iter().chain(ranges.range(address..).next()).map(|(_, r)| *r).collect()
}

/// Whether all of `[address, address + len)` is registered host memory.
pub fn is_registered(address: u64, len: u64) -> bool {
    registered_range(address, len).is_some()
}

/// The registered range that all of `[address, address + len)` lies in. What a thread has found before it finds without a
/// lock.
pub fn registered_range(address: u64, len: u64) -> Option<HostRange> {
    let generation = GENERATION.load(Ordering::Acquire);
    let mut recent = RECENT_RANGES.get();
    if recent.generation != generation {
        recent = RecentRanges { generation, next: 0, ranges: [HostRange::EMPTY; 4] };
    }
    let known = recent.ranges.into_iter().find(|range| range.contains(address, len));
    known.or_else(|| {
        let found = find_registration(address)?;
        let range = HostRange { start: found.start, len: found.len };
        recent.ranges[recent.next] = range;
        recent.next = (recent.next + 1) % recent.ranges.len();
        RECENT_RANGES.set(recent);
        range.contains(address, len).then_some(range)
    })
}

/// Notes that the registrations have changed; the lock is held.
fn publish_change(ranges: &BTreeMap<u64, HostRegistration>) {
    REGISTRATION_COUNT.store(ranges.len(), Ordering::Release);
    GENERATION.fetch_add(1, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap() {
        let base = 0x7000_0000;
        register_host(base, 100, 0, 99).unwrap();
        assert_eq!(register_host(base + 50, 100, 0, 99).unwrap_err().code, ResultCode::HOST_MEMORY_ALREADY_REGISTERED);
        assert_eq!(register_host(base - 50, 51, 0, 99).unwrap_err().code, ResultCode::HOST_MEMORY_ALREADY_REGISTERED);
        assert!(is_registered(base + 96, 4));
        assert!(!is_registered(base + 97, 4));
        assert!(!is_registered(base - 1, 4) && !is_registered(u64::MAX, 4) && !is_registered(base + 100, 1));
        assert_eq!(unregister_host(base + 1).unwrap_err().code, ResultCode::HOST_MEMORY_NOT_REGISTERED);
        unregister_host(base).unwrap();
        assert!(!is_registered(base, 1), "what a thread remembers ends with the registration");
        register_host(base, 8, 0, 99).unwrap();
        assert!(is_registered(base, 8) && !is_registered(base + 8, 4));
        unregister_host(base).unwrap();
    }
}
