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

    /// What kernels of the current context may do with memory of a peer ([`crate::Context::enable_peer_access`]): CUDA
    /// has no flag yet.
    PeerAccessFlags {
        /// Reading and writing.
        DEFAULT = 0;
    }

    /// How memory of another process is opened ([`crate::memory::IpcMemory::open_ipc_handle`]).
    ///
    /// ```
    /// use rtcg_driver::IpcMemoryFlags;
    ///
    /// assert_eq!(IpcMemoryFlags::LAZY_ENABLE_PEER_ACCESS.0, 1);
    /// ```
    IpcMemoryFlags {
        /// Memory of another device becomes accessible as well. CUDA demands this flag.
        LAZY_ENABLE_PEER_ACCESS = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
    }

    /// How memory that exists is page-locked ([`crate::memory::RegisteredHostMemory`]).
    ///
    /// ```
    /// use rtcg_driver::HostRegisterFlags;
    ///
    /// assert_eq!((HostRegisterFlags::PORTABLE | HostRegisterFlags::DEVICE_MAP).0, 3);
    /// ```
    HostRegisterFlags {
        /// For the current context.
        DEFAULT = 0;
        /// For all contexts.
        PORTABLE = CU_MEMHOSTREGISTER_PORTABLE;
        /// With an address on the device, also without unified addressing.
        DEVICE_MAP = CU_MEMHOSTREGISTER_DEVICEMAP;
        /// Memory of a device other than a GPU.
        IO_MEMORY = CU_MEMHOSTREGISTER_IOMEMORY;
        /// The device only reads it.
        READ_ONLY = CU_MEMHOSTREGISTER_READ_ONLY;
    }

    /// How an event is recorded ([`crate::Event::record_with_flags`]).
    EventRecordFlags {
        /// As by [`crate::Event::record`].
        DEFAULT = CU_EVENT_RECORD_DEFAULT.0;
        /// A captured graph records the event at each launch.
        EXTERNAL = CU_EVENT_RECORD_EXTERNAL.0;
    }

    /// How a stream writes a value ([`crate::Stream::write_value32`]).
    WriteValueFlags {
        /// After earlier writes of the stream, for all who see the value.
        DEFAULT = CU_STREAM_WRITE_VALUE_DEFAULT.0;
        /// Earlier writes may become visible later than the value.
        NO_MEMORY_BARRIER = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
    }

    /// What a stream waits for ([`crate::Stream::wait_value32`]): one of the four comparisons of the word in memory with
    /// the value, and perhaps [`WaitValueFlags::FLUSH`].
    ///
    /// ```
    /// use rtcg_driver::WaitValueFlags;
    ///
    /// assert_eq!(WaitValueFlags::default(), WaitValueFlags::GREATER_OR_EQUAL);
    /// assert!((WaitValueFlags::EQUAL | WaitValueFlags::FLUSH).contains(WaitValueFlags::FLUSH));
    /// ```
    WaitValueFlags {
        /// Their difference, read as signed, is not negative: the word may run over.
        GREATER_OR_EQUAL = CU_STREAM_WAIT_VALUE_GEQ.0;
        /// They are equal.
        EQUAL = CU_STREAM_WAIT_VALUE_EQ.0;
        /// They have a bit in common.
        AND = CU_STREAM_WAIT_VALUE_AND.0;
        /// There is a bit that neither has.
        NOR = CU_STREAM_WAIT_VALUE_NOR.0;
        /// Writes of other devices that came before the word are visible afterwards.
        FLUSH = CU_STREAM_WAIT_VALUE_FLUSH.0;
    }

    /// What CUDA will do with an object of OpenGL ([`crate::gl::RegisteredObject`]).
    ///
    /// ```
    /// use rtcg_driver::GraphicsRegisterFlags;
    ///
    /// let flags = GraphicsRegisterFlags::WRITE_DISCARD | GraphicsRegisterFlags::SURFACE_LOAD_STORE;
    /// assert_eq!(flags.0, 6);
    /// ```
    GraphicsRegisterFlags {
        /// Reading and writing.
        NONE = CU_GRAPHICS_REGISTER_FLAGS_NONE.0;
        /// Only reading.
        READ_ONLY = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
        /// Writing all of it: earlier contents are lost.
        WRITE_DISCARD = CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
        /// Binding it to surface references.
        SURFACE_LOAD_STORE = CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
        /// Reading it with `tex2Dgather`.
        TEXTURE_GATHER = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;
    }

    /// What kernels will do with a mapped object of OpenGL ([`crate::gl::RegisteredObject::set_map_flags`]).
    GraphicsMapFlags {
        /// Reading and writing.
        NONE = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE.0;
        /// Only reading.
        READ_ONLY = CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY.0;
        /// Writing all of it: earlier contents are lost.
        WRITE_DISCARD = CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD.0;
    }
}
