//! A cached launch of an elementwise kernel, repeated with other arrays and values.
//!
//! Most of a call's host time is spent on selecting a form of the kernel. The form depends on the arrays' layouts,
//! which the caller compares, and for many elements also on the alignment of addresses, which is checked here.

use rtcg_hal::{ArrayContext, Launch, Result};
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// An array of a call whose arrays are all contiguous, as far as wide accesses depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DenseArray {
    /// The number of the argument.
    pub(super) at: usize,
    pub(super) itemsize: usize,
    pub(super) nbytes: u64,
    pub(super) is_written: bool,
}

/// The arrays whose addresses decide whether accesses are wide.
pub(super) type DenseArrays = SmallVec<[DenseArray; 8]>;

/// Whether the addresses of contiguous arrays allow wide accesses.
pub(super) fn can_vectorize_at(
    arrays: &[DenseArray],
    pack_size: usize,
    allows_aliasing: bool,
    address: impl Fn(usize) -> u64,
) -> bool {
    let is_apart = |a: &DenseArray, b: &DenseArray| {
        let (start, other) = (address(a.at), address(b.at));
        start + a.nbytes <= other
            || other + b.nbytes <= start
            || (allows_aliasing && start == other && a.itemsize == b.itemsize)
    };
    let is_aligned = |a: &DenseArray| address(a.at).is_multiple_of((pack_size * a.itemsize).min(16) as u64);
    arrays.iter().all(|a| is_aligned(a) && (!a.is_written || arrays.iter().all(|b| a.at == b.at || is_apart(a, b))))
}

/// A call that can be repeated with other addresses and values; see [`super::ElementwiseKernel::launch_and_cache`].
#[derive(Debug)]
pub struct CachedLaunch {
    pub(super) ctx: Weak<ArrayContext>,
    /// The arguments of the call come first among those of the launch.
    pub(super) launch: Launch,
    /// Those whose addresses decide about the form.
    pub(super) dense: DenseArrays,
    pub(super) pack_size: usize,
    pub(super) allows_aliasing: bool,
    pub(super) is_packed: bool,
}

impl CachedLaunch {
    /// Whether it was launched in this context.
    pub fn is_for(&self, ctx: &Arc<ArrayContext>) -> bool {
        std::ptr::eq(self.ctx.as_ptr(), Arc::as_ptr(ctx))
    }

    /// The packed arguments of the call, for the next call's to overwrite.
    #[inline]
    pub fn packed_arguments(&self) -> SmallVec<[u8; 256]> {
        SmallVec::from_slice(self.launch.args.packed_bytes())
    }

    /// Where the bytes of argument `index` are among them.
    #[inline]
    pub fn argument_offset(&self, index: usize) -> usize {
        self.launch.args.offset_of(index)
    }

    /// Whether a call with the addresses in `packed` has the same form as this call.
    #[inline]
    pub fn fits_alignment(&self, packed: &[u8]) -> bool {
        let address = |at: usize| {
            let bytes = packed[self.argument_offset(at)..].first_chunk().copied();
            bytes.map_or(0, u64::from_ne_bytes)
        };
        self.dense.is_empty()
            || can_vectorize_at(&self.dense, self.pack_size, self.allows_aliasing, address) == self.is_packed
    }

    /// Enqueues the kernel with packed arguments; `None`, with nothing done, where the context is gone. Waits only where
    /// the queue is full.
    ///
    /// # Errors
    /// When the device refuses the launch.
    ///
    /// # Safety
    /// As [`super::ElementwiseKernel::launch`]; the arguments may differ from the cached call's only in addresses and
    /// values.
    #[expect(unsafe_code, reason = "declares what callers promise")]
    pub unsafe fn launch(&self, packed: &[u8]) -> Option<Result<()>> {
        Some(self.launch.enqueue_packed(self.ctx.upgrade()?.queue(), packed))
    }

    /// [`CachedLaunch::launch`]; `None`, with nothing done, where another context is the current one, too.
    ///
    /// # Errors
    /// As [`CachedLaunch::launch`].
    ///
    /// # Safety
    /// As [`CachedLaunch::launch`].
    #[inline]
    #[expect(unsafe_code, reason = "declares what callers promise")]
    pub unsafe fn launch_if_current(&self, packed: &[u8]) -> Option<Result<()>> {
        let ctx = self.ctx.upgrade().filter(|ctx| ctx.device().is_current())?;
        Some(self.launch.enqueue_packed(ctx.queue(), packed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_need_aligned_arrays_that_share_nothing() {
        let dense = |at, is_written| DenseArray { at, itemsize: 4, nbytes: 400, is_written };
        let arrays = [dense(0, false), dense(1, false), dense(2, true)];
        let allowed =
            |allows_aliasing, addresses: [u64; 3]| can_vectorize_at(&arrays, 4, allows_aliasing, |at| addresses[at]);
        assert!(allowed(false, [4096, 4096, 8192]), "what is only read may be shared");
        assert!(!allowed(false, [4096, 4100, 8192]));
        assert!(!allowed(false, [4096, 4096, 4096 + 384]));
        assert!(allowed(false, [4096, 4096, 4096 + 400]));
        assert!(!allowed(false, [4096, 8192, 4096]));
        assert!(allowed(true, [4096, 8192, 4096]), "each element is read before it is written");
    }
}
