//! Thread flags: whether the calling thread is inside a fused block, an entered stream or an allocator.
//!
//! Every call reads the flag, and a thread-local variable costs more to read than a global counter. So the threads
//! inside are counted, and the thread-local is not read while the count is zero, which is nearly always. Establishes:
//! the thread-local is read in a function of its own, since compilers would otherwise read it before the counter.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::LocalKey;

/// A flag that is true for threads inside of a scope, with a count of these threads.
///
/// A thread that ends inside remains counted, which only costs the others time.
#[derive(Debug)]
pub struct ThreadFlag {
    flag: &'static LocalKey<Cell<bool>>,
    n_threads: AtomicUsize,
}

impl ThreadFlag {
    /// Makes the flag with no thread inside; `flag` must be false in each.
    pub const fn new(flag: &'static LocalKey<Cell<bool>>) -> Self {
        Self { flag, n_threads: AtomicUsize::new(0) }
    }

    /// Whether the calling thread is inside.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.n_threads.load(Ordering::Relaxed) != 0 && self.read_flag()
    }

    #[cold]
    #[inline(never)]
    fn read_flag(&self) -> bool {
        self.flag.try_with(Cell::get).unwrap_or(false)
    }

    /// Sets whether the calling thread is inside from now on. Does nothing in a thread that has ended.
    pub fn set_for_thread(&self, is_inside: bool) {
        match (self.flag.try_with(|here| here.replace(is_inside)), is_inside) {
            (Ok(false), true) => drop(self.n_threads.fetch_add(1, Ordering::Relaxed)),
            (Ok(true), false) => drop(self.n_threads.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static TEST_FLAG: Cell<bool> = const { Cell::new(false) };
    }
    static TEST_THREAD_FLAG: ThreadFlag = ThreadFlag::new(&TEST_FLAG);

    #[test]
    fn flag_is_set_for_each_thread_separately() {
        let n_threads = || TEST_THREAD_FLAG.n_threads.load(Ordering::Relaxed);
        assert!(!TEST_THREAD_FLAG.is_set());
        [true, true].into_iter().for_each(|is_inside| TEST_THREAD_FLAG.set_for_thread(is_inside));
        assert!(TEST_THREAD_FLAG.is_set());
        assert_eq!(n_threads(), 1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let before = TEST_THREAD_FLAG.is_set();
                TEST_THREAD_FLAG.set_for_thread(true);
                (before, TEST_THREAD_FLAG.is_set(), n_threads(), TEST_THREAD_FLAG.set_for_thread(false))
            });
            assert_eq!(other.join().unwrap(), (false, true, 2, ()));
        });
        [false, false].into_iter().for_each(|is_inside| TEST_THREAD_FLAG.set_for_thread(is_inside));
        assert!(!TEST_THREAD_FLAG.is_set());
        assert_eq!(n_threads(), 0);
    }
}
