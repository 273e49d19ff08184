//! Which kernel a context launched last: what to say of a fault that comes to light later.
//!
//! A launch stores one number, beside those that it counts anyway; what it means is looked up once a fault is
//! reported. Establishes: the name is found also after the kernel's last reference has gone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of the kernels that there are, by [`KernelId`].
static NAMES: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());

/// The number of a kernel that exists; it may be another's afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KernelId(usize);

impl KernelId {
    /// The number of a kernel: the address of its only object.
    #[inline(always)]
    pub(crate) fn of<T>(kernel: &T) -> Self {
        Self(std::ptr::from_ref(kernel).addr())
    }

    /// Says what the kernel is called.
    pub(crate) fn register(self, name: &str) {
        locked(&NAMES).insert(self.0, name.to_owned());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No kernel that exists.
const GONE: usize = 0;

/// The last launch of a context.
#[derive(Debug, Default)]
pub(crate) struct LastLaunch {
    id: AtomicUsize,
    /// The name, where the kernel no longer exists.
    gone: Mutex<Option<String>>,
}

impl LastLaunch {
    #[inline(always)]
    pub(crate) fn set(&self, id: KernelId) {
        self.id.store(id.0, Ordering::Relaxed);
    }

    /// Records that a kernel was destroyed.
    pub(crate) fn forget(&self, id: KernelId) {
        let name = locked(&NAMES).remove(&id.0);
        if self.id.compare_exchange(id.0, GONE, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            *locked(&self.gone) = name;
        }
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> Option<String> {
        match self.id.load(Ordering::Relaxed) {
            GONE => locked(&self.gone).clone(),
            id => locked(&NAMES).get(&id).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outlive_kernels() {
        let (last, kernels) = (LastLaunch::default(), [0u8; 2]);
        let [one, two] = [KernelId::of(&kernels[0]), KernelId::of(&kernels[1])];
        one.register("one");
        two.register("two");
        assert_eq!(last.name(), None);
        last.set(one);
        last.forget(two);
        assert_eq!(last.name().as_deref(), Some("one"));
        last.forget(one);
        assert_eq!(last.name().as_deref(), Some("one"));
    }
}
