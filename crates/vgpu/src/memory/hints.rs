//! What programs have advised about managed memory, so that they can ask for it
//! (`cuMemRangeGetAttribute`). Nothing is done about it: there is one memory.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

/// Ranges of an allocation that were given a value: by the start, the end and the value. They do
/// not overlap.
#[derive(Debug, Default)]
struct HintRanges(BTreeMap<u64, (u64, i32)>);

/// What was advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HintKind {
    /// 1 where memory is mostly read.
    ReadMostly,
    /// The number of a device, or `CU_DEVICE_CPU`.
    PreferredLocation,
    /// 1 where this device uses the memory.
    AccessedBy(i32),
    /// The number of a device, or `CU_DEVICE_CPU`.
    LastPrefetch,
    /// The kind of location that the last prefetch named (`CUmemLocationType`).
    LastPrefetchKind,
}

/// By allocation: its number and first address.
type AllocationHints = HashMap<(u64, u64), HashMap<HintKind, HintRanges>>;

static ADVISE_HINTS: Mutex<Option<AllocationHints>> = Mutex::new(None);

fn lock_hints() -> MutexGuard<'static, Option<AllocationHints>> {
    ADVISE_HINTS.lock().ignore_poison()
}

/// Notes a value, or that there is none any more, for a part of an allocation.
pub(crate) fn set_hint(allocation: (u64, u64), subject: HintKind, start: u64, len: u64, value: Option<i32>) {
    let mut hints = lock_hints();
    let of_all = hints.get_or_insert_default();
    // Numbers of allocations are not used again, so what was freed only takes room.
    if of_all.len() >= 4096 && !of_all.contains_key(&allocation) {
        of_all.clear();
    }
    of_all.entry(allocation).or_default().entry(subject).or_default().set_range_hint(start, start + len, value);
}

/// The value that all of a range has.
pub(crate) fn get_hint(allocation: (u64, u64), subject: HintKind, start: u64, len: u64) -> Option<i32> {
    lock_hints().as_ref()?.get(&allocation)?.get(&subject)?.get_range_hint(start, start + len)
}

impl HintRanges {
    fn set_range_hint(&mut self, start: u64, end: u64, value: Option<i32>) {
        let touched: Vec<_> = self.0.range(..end).filter(|(_, r)| r.0 > start).map(|(&s, &r)| (s, r)).collect();
        for (s, (e, v)) in touched {
            self.0.remove(&s);
            if s < start {
                self.0.insert(s, (start, v));
            }
            if e > end {
                self.0.insert(end, (e, v));
            }
        }
        if let Some(value) = value {
            self.0.insert(start, (end, value));
        }
    }

    fn get_range_hint(&self, start: u64, end: u64) -> Option<i32> {
        let (mut at, mut all) = (start, None);
        while at < end {
            let (_, &(e, v)) = self.0.range(..=at).next_back().filter(|(_, r)| r.0 > at)?;
            (*all.get_or_insert(v) == v).then_some(())?;
            at = e;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::HintRanges;

    #[test]
    fn later_values_replace_parts_of_earlier_ones() {
        let mut r = HintRanges::default();
        r.set_range_hint(10, 100, Some(1));
        assert_eq!(
            (r.get_range_hint(10, 100), r.get_range_hint(9, 20), r.get_range_hint(50, 101)),
            (Some(1), None, None)
        );
        r.set_range_hint(40, 60, Some(2));
        assert_eq!(
            (r.get_range_hint(10, 40), r.get_range_hint(40, 60), r.get_range_hint(60, 100)),
            (Some(1), Some(2), Some(1))
        );
        assert_eq!((r.get_range_hint(10, 100), r.get_range_hint(39, 41)), (None, None));
        r.set_range_hint(50, 70, None);
        assert_eq!(
            (r.get_range_hint(40, 50), r.get_range_hint(40, 51), r.get_range_hint(70, 100)),
            (Some(2), None, Some(1))
        );
        r.set_range_hint(0, 200, Some(3));
        assert_eq!(r.get_range_hint(0, 200), Some(3));
    }
}
