//! What the engine asks of whoever owns device memory.

use std::fmt::Debug;
use std::sync::OnceLock;

/// The memory that kernels of one context may use.
pub trait AddressSpace: Debug + Send + Sync {
    /// Ordinal of its own device.
    fn device(&self) -> u32;
    /// The device whose memory lies at `address`, when kernels of this context may not use it, and what would allow it.
    fn device_without_peer_access(&self, address: u64) -> Option<(u32, &'static str)>;
}

/// Says in words what some bytes at an address have to do with memory that is or was allocated.
type AddressDescriber = fn(u64, u32) -> Option<String>;

static ADDRESS_DESCRIBER: OnceLock<AddressDescriber> = OnceLock::new();

/// Sets who knows what lies where, for reports of faults.
pub fn set_address_describer(describe: AddressDescriber) {
    let _ = ADDRESS_DESCRIBER.set(describe);
}

/// What `size` bytes at `address` have to do with allocated memory; `None` when nothing is near.
pub(crate) fn describe_address(address: u64, size: u32) -> Option<String> {
    ADDRESS_DESCRIBER.get()?(address, size)
}
