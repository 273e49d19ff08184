//! Typed flags of driver calls: each type combines with `|` and converts from the number used in C.

use rtcg_cuda_sys::*;

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident { $($(#[$flag_doc:meta])* $flag:ident = $value:expr;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$flag_doc])* pub const $flag: Self = Self($value);)*

            /// Whether all of `flags` are set.
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
        /// Synchronises with the legacy default stream: each waits for the other's earlier work.
        DEFAULT = CU_STREAM_DEFAULT.0;
        /// Runs concurrently with the default stream.
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
        /// Records time; waiting for the event spins.
        DEFAULT = CU_EVENT_DEFAULT.0;
        /// Waiting for the event sleeps.
        BLOCKING_SYNC = CU_EVENT_BLOCKING_SYNC.0;
        /// Only orders work, which is cheaper.
        DISABLE_TIMING = CU_EVENT_DISABLE_TIMING.0;
        /// Other processes may open the event; needs [`EventFlags::DISABLE_TIMING`].
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
        /// The driver's default.
        DEFAULT = 0;
        /// Page-locked for all contexts.
        PORTABLE = CU_MEMHOSTALLOC_PORTABLE;
        /// Mapped to a device address, even without unified addressing.
        DEVICE_MAP = CU_MEMHOSTALLOC_DEVICEMAP;
        /// Not cached by the host: fast to write and to copy from, slow to read.
        WRITE_COMBINED = CU_MEMHOSTALLOC_WRITECOMBINED;
    }

    /// Which streams may access a [`crate::ManagedAllocation`].
    ///
    /// ```
    /// use rtcg_driver::MemAttachFlags;
    ///
    /// assert_ne!(MemAttachFlags::GLOBAL, MemAttachFlags::HOST);
    /// ```
    MemAttachFlags {
        /// Any stream of any device.
        GLOBAL = CU_MEM_ATTACH_GLOBAL.0;
        /// The host only, until it is attached to a stream.
        HOST = CU_MEM_ATTACH_HOST.0;
        /// One stream.
        SINGLE = CU_MEM_ATTACH_SINGLE.0;
    }

    /// How the host waits for a context, and which features the context prepares.
    ///
    /// ```
    /// use rtcg_driver::ContextFlags;
    ///
    /// assert_eq!(ContextFlags::default(), ContextFlags::SCHED_AUTO);
    /// ```
    ContextFlags {
        /// Spinning or yielding, at the driver's choice.
        SCHED_AUTO = CU_CTX_SCHED_AUTO.0;
        /// Spinning: lowest latency.
        SCHED_SPIN = CU_CTX_SCHED_SPIN.0;
        /// Yielding to other threads.
        SCHED_YIELD = CU_CTX_SCHED_YIELD.0;
        /// Sleeping.
        SCHED_BLOCKING_SYNC = CU_CTX_SCHED_BLOCKING_SYNC.0;
        /// Support for mapping page-locked memory to the device, even without unified addressing.
        MAP_HOST = CU_CTX_MAP_HOST.0;
    }

    /// How kernels of the current context may access memory of a peer ([`crate::Context::enable_peer_access`]). CUDA
    /// defines no flags yet.
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
        /// Enables peer access if the memory is on another device. CUDA requires this flag.
        LAZY_ENABLE_PEER_ACCESS = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
    }

    /// How existing memory is page-locked ([`crate::memory::RegisteredHostMemory`]).
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
        /// Mapped to a device address, even without unified addressing.
        DEVICE_MAP = CU_MEMHOSTREGISTER_DEVICEMAP;
        /// Memory of a device other than a GPU.
        IO_MEMORY = CU_MEMHOSTREGISTER_IOMEMORY;
        /// The device only reads it.
        READ_ONLY = CU_MEMHOSTREGISTER_READ_ONLY;
    }

    /// How an event is recorded ([`crate::Event::record_with_flags`]).
    EventRecordFlags {
        /// Same as [`crate::Event::record`].
        DEFAULT = CU_EVENT_RECORD_DEFAULT.0;
        /// A captured graph records the event at each launch.
        EXTERNAL = CU_EVENT_RECORD_EXTERNAL.0;
    }

    /// How a stream writes a value ([`crate::Stream::write_value32`]).
    WriteValueFlags {
        /// Earlier writes of the stream are visible before the value is.
        DEFAULT = CU_STREAM_WRITE_VALUE_DEFAULT.0;
        /// Earlier writes may become visible later than the value.
        NO_MEMORY_BARRIER = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
    }

    /// The condition a stream waits for ([`crate::Stream::wait_value32`]): one of four comparisons of the word in
    /// memory with the value, optionally with [`WaitValueFlags::FLUSH`].
    ///
    /// ```
    /// use rtcg_driver::WaitValueFlags;
    ///
    /// assert_eq!(WaitValueFlags::default(), WaitValueFlags::GREATER_OR_EQUAL);
    /// assert!((WaitValueFlags::EQUAL | WaitValueFlags::FLUSH).contains(WaitValueFlags::FLUSH));
    /// ```
    WaitValueFlags {
        /// Word minus value, as a signed number, is not negative, so the word may wrap around.
        GREATER_OR_EQUAL = CU_STREAM_WAIT_VALUE_GEQ.0;
        /// They are equal.
        EQUAL = CU_STREAM_WAIT_VALUE_EQ.0;
        /// They have a set bit in common.
        AND = CU_STREAM_WAIT_VALUE_AND.0;
        /// Some bit is set in neither.
        NOR = CU_STREAM_WAIT_VALUE_NOR.0;
        /// Remote writes made before the word was written are visible afterwards.
        FLUSH = CU_STREAM_WAIT_VALUE_FLUSH.0;
    }

    /// How CUDA will use an OpenGL object ([`crate::gl::RegisteredObject`]).
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
        /// Overwriting all of it: earlier contents are lost.
        WRITE_DISCARD = CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
        /// Binding it to surface references.
        SURFACE_LOAD_STORE = CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
        /// Reading it with `tex2Dgather`.
        TEXTURE_GATHER = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;
    }

    /// How kernels will use a mapped OpenGL object ([`crate::gl::RegisteredObject::set_map_flags`]).
    GraphicsMapFlags {
        /// Reading and writing.
        NONE = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE.0;
        /// Only reading.
        READ_ONLY = CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY.0;
        /// Overwriting all of it: earlier contents are lost.
        WRITE_DISCARD = CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD.0;
    }
}
