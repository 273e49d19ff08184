//! Where the variables of loaded modules are, so that driver calls can check ranges in them.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::BTreeMap;
use std::sync::RwLock;

/// A variable of a loaded module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GlobalRange {
    /// First address.
    pub(crate) start: u64,
    /// Length in bytes.
    pub(crate) size: u64,
    /// Identifier of the context.
    pub(crate) ctx: u64,
    /// Ordinal of the device.
    pub(crate) device: u32,
    /// Identifies the module.
    pub(crate) module: u64,
    /// `__managed__`
    pub(crate) managed: bool,
}

static GLOBAL_RANGES: RwLock<BTreeMap<u64, GlobalRange>> = RwLock::new(BTreeMap::new());

/// Makes variables known.
pub(crate) fn add_globals(ranges: impl IntoIterator<Item = GlobalRange>) {
    let mut known = GLOBAL_RANGES.write().ignore_poison();
    known.extend(ranges.into_iter().map(|r| (r.start, r)));
}

/// Forgets the variables of a module.
pub(crate) fn remove_module_globals(module: u64) {
    GLOBAL_RANGES.write().ignore_poison().retain(|_, r| r.module != module);
}

/// Forgets the variables of all modules of a context.
pub(crate) fn remove_context_globals(ctx: u64) {
    GLOBAL_RANGES.write().ignore_poison().retain(|_, r| r.ctx != ctx);
}

/// The variable that `address` lies in.
pub(crate) fn find_global(address: u64) -> Option<GlobalRange> {
    let known = GLOBAL_RANGES.read().ignore_poison();
    let (_, range) = known.range(..=address).next_back()?;
    (address - range.start < range.size).then_some(*range)
}
