//! Flags of calls as types: each combines with `|` and is made from the number that C has for it.

use rtcg_cuda_sys::*;

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident { $($(#[$flag_doc:meta])* $flag:ident = $value:expr;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$flag_doc])* pub const $flag: Self = Self($value);)*

            /// Whether all of `flags` are among these.
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl From<u32> for $name {
            fn from(flags: u32) -> Self {
                Self(flags)
            }
        }
    )*};
}

flags! {
    /// How a [`crate::Stream`] relates to the default stream.
    ///
    /// ```
    /// use rtcg_driver::StreamFlags;
    ///
    /// assert!(StreamFlags::NON_BLOCKING.contains(StreamFlags::DEFAULT));
    /// assert_eq!(StreamFlags::from(1), StreamFlags::NON_BLOCKING);
    /// ```
    StreamFlags {
        /// It waits for work in the legacy default stream, and that for its own.
        DEFAULT = CU_STREAM_DEFAULT.0;
        /// It runs beside the default stream.
        NON_BLOCKING = CU_STREAM_NON_BLOCKING.0;
    }

    /// What an [`crate::Event`] is for.
    ///
    /// ```
    /// use rtcg_driver::EventFlags;
    ///
    /// let shared = EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING;
    /// assert!(shared.contains(EventFlags::DISABLE_TIMING));
    /// ```
    EventFlags {
        /// It measures time, and waiting for it spins.
        DEFAULT = CU_EVENT_DEFAULT.0;
        /// Waiting for it sleeps.
        BLOCKING_SYNC = CU_EVENT_BLOCKING_SYNC.0;
        /// It only orders work, which is cheaper.
        DISABLE_TIMING = CU_EVENT_DISABLE_TIMING.0;
        /// Other processes may open it; needs [`EventFlags::DISABLE_TIMING`].
        INTERPROCESS = CU_EVENT_INTERPROCESS.0;
    }

    /// How page-locked memory is allocated ([`crate::HostAllocation`]).
    ///
    /// ```
    /// use rtcg_driver::HostAllocFlags;
    ///
    /// assert_eq!((HostAllocFlags::PORTABLE | HostAllocFlags::DEVICE_MAP).0, 3);
    /// ```
    HostAllocFlags {
        /// As the driver likes.
        DEFAULT = 0;
        /// Page-locked for all contexts.
        PORTABLE = CU_MEMHOSTALLOC_PORTABLE;
        /// With an address on the device, also without unified addressing.
        DEVICE_MAP = CU_MEMHOSTALLOC_DEVICEMAP;
        /// Not cached by the host: fast to write and to copy from, slow to read.
        WRITE_COMBINED = CU_MEMHOSTALLOC_WRITECOMBINED;
    }

    /// Who uses a [`crate::ManagedAllocation`].
    ///
    /// ```
    /// use rtcg_driver::MemAttachFlags;
    ///
    /// assert_ne!(MemAttachFlags::GLOBAL, MemAttachFlags::HOST);
    /// ```
    MemAttachFlags {
        /// Any stream of any device.
        GLOBAL = CU_MEM_ATTACH_GLOBAL.0;
        /// The host, until it is attached to a stream.
        HOST = CU_MEM_ATTACH_HOST.0;
        /// One stream.
        SINGLE = CU_MEM_ATTACH_SINGLE.0;
    }

    /// How the host waits for a context, and what the context prepares for.
    ///
    /// ```
    /// use rtcg_driver::ContextFlags;
    ///
    /// assert_eq!(ContextFlags::default(), ContextFlags::SCHED_AUTO);
    /// ```
    ContextFlags {
        /// Spinning or yielding, as the driver thinks best.
        SCHED_AUTO = CU_CTX_SCHED_AUTO.0;
        /// Spinning: lowest latency.
        SCHED_SPIN = CU_CTX_SCHED_SPIN.0;
        /// Yielding to other threads.
        SCHED_YIELD = CU_CTX_SCHED_YIELD.0;
        /// Sleeping.
        SCHED_BLOCKING_SYNC = CU_CTX_SCHED_BLOCKING_SYNC.0;
        /// With page-locked memory on the device, also without unified addressing.
        MAP_HOST = CU_CTX_MAP_HOST.0;
    }
}
