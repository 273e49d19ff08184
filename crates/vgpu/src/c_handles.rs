//! The handle types of the C interface, as the numbers that tables of handles know.

use rtcg_cuda_sys::*;

/// A handle type of the C interface.
pub(crate) trait Handle: Sized {
    /// The handle as the core knows it.
    fn handle_number(self) -> u64;
    /// The handle as C knows it.
    fn from_handle_number(number: u64) -> Self;
}

macro_rules! impl_handle {
    ($($ty:ident)*) => {
        $(impl Handle for $ty {
            fn handle_number(self) -> u64 {
                self.addr() as u64
            }
            fn from_handle_number(number: u64) -> Self {
                $ty(std::ptr::without_provenance_mut(number as usize))
            }
        })*
    };
}
impl_handle!(CUarray CUcontext CUstream CUevent CUmodule CUfunction CUmemoryPool CUlinkState CUlibrary CUkernel);
impl_handle!(CUmipmappedArray CUtexref CUsurfref);
impl_handle!(CUgraph CUgraphNode CUgraphExec CUuserObject CUgraphicsResource);
