//! Where a pool's blocks come from.

use crate::context::Context;
use crate::error::Result;
use crate::memory::{HostAllocation, explain_allocation_error};

/// Device memory, or page-locked host memory with flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockSource {
    Device,
    Host(u32),
}

impl BlockSource {
    /// A block of `nbytes` bytes in a context.
    pub(super) fn allocate_block(self, ctx: &Context, nbytes: usize) -> Result<u64> {
        ctx.with_current_locked(|| {
            let table = ctx.driver_table();
            match self {
                Self::Device => {
                    let mut ptr = 0;
                    // SAFETY: writes one pointer.
                    unsafe { call_driver!(table, cuMemAlloc(&raw mut ptr, nbytes)) }
                        .map_err(|error| explain_allocation_error(table, error, nbytes))?;
                    Ok(ptr)
                }
                Self::Host(flags) => {
                    HostAllocation::allocate_page_locked(table, nbytes, flags).map(|ptr| ptr.expose_provenance() as u64)
                }
            }
        })
    }

    /// Gives a block back; does nothing when its context was destroyed.
    pub(super) fn free_block(self, ctx: &Context, ptr: u64) -> Result<()> {
        ctx.free_in_context(|table| {
            // SAFETY: the block is the pool's, which has just forgotten it.
            unsafe {
                match self {
                    Self::Device => call_driver!(table, cuMemFree(ptr)),
                    Self::Host(_) => {
                        call_driver!(table, cuMemFreeHost(std::ptr::with_exposed_provenance_mut(ptr as usize)))
                    }
                }
            }
        })
    }
}
