//! Methods shared by pools of every kind of memory and their allocations, which forward to the core.

/// The methods of a pool, whose only field is its core.
macro_rules! pool_methods {
    ($(#[$allocate_doc:meta])* $pool:ident of $allocation:ident) => {
        impl std::fmt::Debug for $pool {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($pool), "({:?})"), self.statistics())
            }
        }

        impl $pool {
            $(#[$allocate_doc])*
            pub fn allocate(
                &self,
                nbytes: usize,
                stream: Option<&$crate::stream::Stream>,
            ) -> $crate::error::Result<$allocation> {
                self.0.lease_block(nbytes, stream).map($allocation)
            }

            #[doc = concat!("[`", stringify!($pool), "::allocate`] without the driver: `None` if no unused block fits.")]
            #[inline]
            pub fn allocate_if_held(
                &self,
                nbytes: usize,
                stream: Option<&$crate::stream::Stream>,
            ) -> Option<$allocation> {
                self.0.lease_held_block(nbytes, stream).map($allocation)
            }

            #[doc = concat!("[`", stringify!($pool), "::allocate_if_held`] in `ctx`, whatever context is current.")]
            #[inline]
            pub fn allocate_if_held_in_context(
                &self,
                ctx: &$crate::context::Context,
                nbytes: usize,
                stream: Option<&$crate::stream::Stream>,
            ) -> Option<$allocation> {
                self.0.lease_held_block_of_context(ctx, nbytes, stream).map($allocation)
            }

            /// Statistics of the pool.
            pub fn statistics(&self) -> $crate::pool::PoolStatistics {
                self.0.statistics()
            }

            /// The bin of a size in bytes; all sizes in a bin share blocks.
            pub fn bin_number(nbytes: usize) -> usize {
                $crate::pool::bins::bin_number(nbytes)
            }

            /// The size in bytes of a bin's blocks.
            pub fn alloc_size(bin: usize) -> $crate::error::Result<usize> {
                $crate::pool::bins::checked_alloc_size(bin)
            }

            /// Returns all unused blocks to the driver.
            pub fn free_held(&self) {
                self.0.free_held();
            }

            /// Returns all unused blocks to the driver, now and in future as soon as they are freed.
            pub fn stop_holding(&self) {
                self.0.stop_holding();
            }
        }
    };
}

/// The methods of a pool's allocation, whose only field is its lease. `$free` is the name of freeing in errors.
macro_rules! allocation_methods {
    ($allocation:ident, free = $free:literal) => {
        impl $allocation {
            /// The size in bytes, as requested.
            #[inline]
            pub fn nbytes(&self) -> usize {
                self.0.nbytes()
            }

            /// Whether freeing it may wait for the device, because its pool no longer holds blocks.
            pub fn free_may_wait(&self) -> bool {
                self.0.free_may_wait()
            }

            #[doc = concat!("Whether [`", stringify!($allocation), "::free`] was called.")]
            #[inline]
            pub fn is_freed(&self) -> bool {
                self.0.is_freed()
            }

            /// Records that work in another stream than the allocation's own uses this memory (`None` is the default
            /// stream). Once freed, the memory is reused only after that stream has finished the work it contains at
            /// that time.
            pub fn used_in(&self, stream: Option<&$crate::stream::Stream>) {
                self.0.used_in(stream);
            }

            /// Returns the memory to the pool now. A second call is an error.
            pub fn free(&self) -> $crate::error::Result<()> {
                self.0.free_block($free)
            }
        }
    };
}

pub(super) use {allocation_methods, pool_methods};
