//! Ordinary host memory that was made known to the device (`cuMemHostRegister`).
//!
//! Registered memory keeps its address; it lies outside the device window, so compiled code finds
//! it through the slow path of its address check.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

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

/// Makes `[start, start + len)` accessible to kernels.
pub fn register_host(start: u64, len: u64, flags: u32, ctx: u64) -> Res {
    ensure(start != 0 && len > 0, ResultCode::INVALID_VALUE)?;
    let end = start.checked_add(len).ok_or(ResultCode::INVALID_VALUE)?;
    let mut ranges = REGISTRATIONS.write().unwrap_or_else(PoisonError::into_inner);
    let overlaps = ranges.range(..end).next_back().is_some_and(|(_, r)| r.start + r.len > start);
    ensure(!overlaps, ResultCode::HOST_MEMORY_ALREADY_REGISTERED)?;
    ranges.insert(start, HostRegistration { start, len, flags, ctx });
    REGISTRATION_COUNT.store(ranges.len(), Ordering::Release);
    Ok(())
}

/// Takes back the registration that starts at `start`.
pub fn unregister_host(start: u64) -> Res<HostRegistration> {
    let mut ranges = REGISTRATIONS.write().unwrap_or_else(PoisonError::into_inner);
    let found = ranges.remove(&start).ok_or(ResultCode::HOST_MEMORY_NOT_REGISTERED)?;
    REGISTRATION_COUNT.store(ranges.len(), Ordering::Release);
    Ok(found)
}

/// Takes back everything that context `ctx` registered.
pub fn unregister_context_ranges(ctx: u64) {
    let mut ranges = REGISTRATIONS.write().unwrap_or_else(PoisonError::into_inner);
    ranges.retain(|_, r| r.ctx != ctx);
    REGISTRATION_COUNT.store(ranges.len(), Ordering::Release);
}

/// The registration that `address` lies in.
pub fn find_registration(address: u64) -> Option<HostRegistration> {
    if REGISTRATION_COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    let ranges = REGISTRATIONS.read().unwrap_or_else(PoisonError::into_inner);
    let (_, range) = ranges.range(..=address).next_back()?;
    (address - range.start < range.len).then_some(*range)
}

/// The registrations on either side of an address, or that it lies in.
pub fn neighbor_registrations(address: u64) -> Vec<HostRegistration> {
    let ranges = REGISTRATIONS.read().unwrap_or_else(PoisonError::into_inner);
    let below = ranges.range(..=address).next_back();
    below.into_iter().chain(ranges.range(address..).next()).map(|(_, r)| *r).collect()
}

/// Whether all of `[address, address + len)` is registered host memory.
pub fn is_registered(address: u64, len: u64) -> bool {
    find_registration(address).is_some_and(|r| len <= r.len - (address - r.start))
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
        assert_eq!(unregister_host(base + 1).unwrap_err().code, ResultCode::HOST_MEMORY_NOT_REGISTERED);
        unregister_host(base).unwrap();
        assert!(!is_registered(base, 1));
    }
}
