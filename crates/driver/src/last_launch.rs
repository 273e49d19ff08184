//! The kernel that a context launched last, to name it when a fault is reported later.
//!
//! A launch stores one number, beside those that it counts anyway; its meaning is looked up when a fault is reported.
//! Establishes: the name can be found even after the kernel's last reference was dropped.

use rtcg_hal::lock_ignoring_poison;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The names of the kernels that there are, by [`KernelId`].
static KERNEL_NAMES: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());

/// The number of a kernel that exists; it may be another's afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KernelId(usize);

impl KernelId {
    /// The number of a kernel: the address of its only object.
    #[inline(always)]
    pub(crate) fn from_kernel_address<T>(kernel: &T) -> Self {
        Self(std::ptr::from_ref(kernel).addr())
    }

    /// Says what the kernel is called.
    pub(crate) fn register_name(self, name: &str) {
        lock_ignoring_poison(&KERNEL_NAMES).insert(self.0, name.to_owned());
    }
}

/// No kernel that exists.
const NO_KERNEL: usize = 0;

/// The last launch of a context.
#[derive(Debug, Default)]
pub(crate) struct LastLaunch {
    id: AtomicUsize,
    /// The name, where the kernel no longer exists.
    gone: Mutex<Option<String>>,
}

impl LastLaunch {
    #[inline(always)]
    pub(crate) fn set_kernel(&self, id: KernelId) {
        self.id.store(id.0, Ordering::Relaxed);
    }

    /// Records that a kernel was destroyed.
    pub(crate) fn on_kernel_destroyed(&self, id: KernelId) {
        let name = lock_ignoring_poison(&KERNEL_NAMES).remove(&id.0);
        if self.id.compare_exchange(id.0, NO_KERNEL, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            *lock_ignoring_poison(&self.gone) = name;
        }
    }

    /// The kernel's name.
    pub(crate) fn kernel_name(&self) -> Option<String> {
        match self.id.load(Ordering::Relaxed) {
            NO_KERNEL => lock_ignoring_poison(&self.gone).clone(),
            id => lock_ignoring_poison(&KERNEL_NAMES).get(&id).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outlive_kernels() {
        let (last, kernels) = (LastLaunch::default(), [0u8; 2]);
        let [one, two] = [KernelId::from_kernel_address(&kernels[0]), KernelId::from_kernel_address(&kernels[1])];
        one.register_name("one");
        two.register_name("two");
        assert_eq!(last.kernel_name(), None);
        last.set_kernel(one);
        last.on_kernel_destroyed(two);
        assert_eq!(last.kernel_name().as_deref(), Some("one"));
        last.on_kernel_destroyed(one);
        assert_eq!(last.kernel_name().as_deref(), Some("one"));
    }
}
