//! Host memory outside the device window that kernels may touch (`cuMemHostRegister`).

use std::sync::{PoisonError, RwLock};

/// Sorted by start, not overlapping.
static REGISTERED_RANGES: RwLock<Vec<(usize, usize)>> = RwLock::new(Vec::new());

/// Allows kernels to access `[start, start + len)`. False when it overlaps a registered range.
pub fn register_range(start: usize, len: usize) -> bool {
    let Some(end) = start.checked_add(len) else { return false };
    let mut ranges = REGISTERED_RANGES.write().unwrap_or_else(PoisonError::into_inner);
    let i = ranges.partition_point(|r| r.0 < start);
    let free = (i == 0 || ranges[i - 1].1 <= start) && ranges.get(i).is_none_or(|r| r.0 >= end);
    if free && len > 0 {
        ranges.insert(i, (start, end));
    }
    free && len > 0
}

/// Forbids it again: the range that begins at `start`. False when there is none.
pub fn unregister_range(start: usize) -> bool {
    let mut ranges = REGISTERED_RANGES.write().unwrap_or_else(PoisonError::into_inner);
    let found = ranges.iter().position(|r| r.0 == start);
    found.map(|i| ranges.remove(i)).is_some()
}

/// Whether all of `[address, address + len)` lies in one registered range.
pub fn is_registered_range(address: usize, len: usize) -> bool {
    let Some(end) = address.checked_add(len) else { return false };
    let ranges = REGISTERED_RANGES.read().unwrap_or_else(PoisonError::into_inner);
    let i = ranges.partition_point(|r| r.0 <= address);
    i > 0 && end <= ranges[i - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_ranges_are_refused_and_bounds_are_exact() {
        let a = 0x7000_0000_0000;
        assert!(
            register_range(a, 100)
                && !register_range(a + 50, 100)
                && !register_range(a - 10, 11)
                && register_range(a + 100, 10)
        );
        assert!(
            is_registered_range(a, 100)
                && is_registered_range(a + 99, 1)
                && !is_registered_range(a + 99, 2)
                && !is_registered_range(a - 1, 1)
        );
        assert!(
            unregister_range(a)
                && !unregister_range(a)
                && !is_registered_range(a, 1)
                && is_registered_range(a + 100, 10)
        );
        assert!(unregister_range(a + 100) && !is_registered_range(usize::MAX - 1, 16));
    }
}
