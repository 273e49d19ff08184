//! Which memory programs want to be copied synchronously (`CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`).

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was set, by an allocation's number and first address.
static WISHES: Mutex<BTreeMap<(u64, u64), bool>> = Mutex::new(BTreeMap::new());
/// Whether any was set, so that most programs' copies ask no further.
static ANY_WISH: AtomicBool = AtomicBool::new(false);
/// Numbers of allocations are not used again, so what was freed only takes room.
const MAX_WISHES: usize = 1 << 16;

/// Notes what the program wants for an allocation.
pub(crate) fn set(id: u64, start: u64, synchronous: bool) {
    let mut wishes = WISHES.lock().ignore_poison();
    if wishes.len() >= MAX_WISHES {
        wishes.clear();
    }
    wishes.insert((id, start), synchronous);
    ANY_WISH.store(true, Ordering::Release);
}

/// What the program has set for an allocation.
pub(crate) fn get(id: u64, start: u64) -> Option<bool> {
    if !is_any_set() {
        return None;
    }
    WISHES.lock().ignore_poison().get(&(id, start)).copied()
}

/// Whether anything was ever set.
pub(crate) fn is_any_set() -> bool {
    ANY_WISH.load(Ordering::Acquire)
}

/// Ends what was set for memory whose number will be used again.
pub(crate) fn forget(id: u64, start: u64) {
    if is_any_set() {
        WISHES.lock().ignore_poison().remove(&(id, start));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn wishes_are_of_one_allocation_and_end_with_it() {
        super::set(7, 100, true);
        super::set(8, 100, false);
        assert_eq!([7, 8, 9].map(|id| super::get(id, 100)), [Some(true), Some(false), None]);
        super::forget(7, 100);
        assert_eq!(super::get(7, 100), None);
    }
}
