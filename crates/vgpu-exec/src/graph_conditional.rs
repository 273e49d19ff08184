//! Conditions of graphs, which kernels set.
//!
//! Kernels name a condition by the number that `cuGraphConditionalHandleCreate` gave; it lives as
//! long as its graph, and as long as executable graphs and nodes that ask it.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// A condition.
#[derive(Debug)]
pub struct GraphConditional {
    number: u64,
    value: AtomicU32,
    /// What it is at the start of each launch, if that was said.
    default: Option<u32>,
    /// Whether a node asks it; a second one may not.
    is_claimed_by_node: AtomicBool,
}

/// Conditions by number; the first is 1.
static CONDITIONS: Mutex<BTreeMap<u64, Weak<GraphConditional>>> = Mutex::new(BTreeMap::new());

impl GraphConditional {
    /// A new condition and its number.
    pub fn create(default: Option<u32>) -> (u64, Arc<GraphConditional>) {
        static NEXT_CONDITION_NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NEXT_CONDITION_NUMBER.fetch_add(1, Ordering::Relaxed);
        let condition = Arc::new(GraphConditional {
            number,
            value: AtomicU32::new(default.unwrap_or(0)),
            default,
            is_claimed_by_node: AtomicBool::new(false),
        });
        let mut all = CONDITIONS.lock().ignore_poison();
        all.insert(number, Arc::downgrade(&condition));
        (number, condition)
    }

    /// The condition of a number.
    pub fn find(number: u64) -> Option<Arc<GraphConditional>> {
        let all = CONDITIONS.lock().ignore_poison();
        all.get(&number)?.upgrade()
    }

    /// Its value.
    pub fn value(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    /// Sets the value.
    pub(crate) fn set_value(&self, value: u32) {
        self.value.store(value, Ordering::Release);
    }

    /// Takes it for a node; whether no other node asks it.
    pub fn claim_for_node(&self) -> bool {
        !self.is_claimed_by_node.swap(true, Ordering::AcqRel)
    }

    /// No node asks it any more.
    pub fn release_from_node(&self) {
        self.is_claimed_by_node.store(false, Ordering::Release);
    }

    /// Whether a node asks it.
    pub fn is_claimed_by_node(&self) -> bool {
        self.is_claimed_by_node.load(Ordering::Acquire)
    }

    /// A launch begins.
    pub fn reset_to_default(&self) {
        if let Some(value) = self.default {
            self.set_value(value);
        }
    }
}

impl Drop for GraphConditional {
    fn drop(&mut self) {
        CONDITIONS.lock().ignore_poison().remove(&self.number);
    }
}
