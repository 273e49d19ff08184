//! What the kernels of arrays have in common: each is a small value that can be compared and hashed, and makes its
//! source. The set of kernels is open: whoever has such a value can have it compiled and cached.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

/// A kernel, as everything that decides its source. Equal values make equal sources, so that the value is the key by
/// which the compiled kernel is found again.
pub trait KernelSpec: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The kernel's name in its source.
    fn kernel_name(&self) -> Cow<'static, str>;

    /// The kernel as CUDA C++ source.
    fn source(&self) -> String;
}
