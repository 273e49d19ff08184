//! The interface of all array kernels: each is a small value that can be compared and hashed, and generates its source.
//! The set of kernels is open: any type that implements it can be compiled and cached.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

/// A kernel, described by everything that determines its source. Equal values generate equal sources, so the value is
/// the cache key of the compiled kernel.
pub trait KernelSpec: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The kernel's name in its source.
    fn kernel_name(&self) -> Cow<'static, str>;

    /// The kernel as CUDA C++ source.
    fn source(&self) -> String;
}
