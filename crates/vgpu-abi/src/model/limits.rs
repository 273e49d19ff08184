//! The limits of a context (`cuCtxSetLimit`): what they are at first, and how values are rounded.

measured! {
    /// Bytes of stack of a thread.
    DEFAULT_STACK_BYTES: usize = 1 << 10, from "q23";
    /// The stack is a multiple of this many bytes.
    STACK_GRANULARITY: usize = 16, from "q23";
    /// A stack of this many bytes and more is refused.
    REFUSED_STACK_BYTES: usize = 512 << 10, from "q23";
    /// Bytes for text that kernels have printed.
    DEFAULT_PRINTF_FIFO_BYTES: usize = 8_650_752, from "q20";
    /// The buffer for printed text has at least this many bytes.
    MIN_PRINTF_FIFO_BYTES: usize = 512 << 10, from "q20";
    /// The buffer for printed text has at most this many bytes; more is accepted and gives this.
    MAX_PRINTF_FIFO_BYTES: usize = 2 << 30, from "q20";
    /// The buffer for printed text is a multiple of this many bytes.
    PRINTF_FIFO_GRANULARITY: usize = 256, from "q20";
    /// Bytes of the heap of device-side `malloc`.
    DEFAULT_MALLOC_HEAP_BYTES: usize = 8 << 20, from "q22";
    /// The heap has at least this many bytes.
    MIN_MALLOC_HEAP_BYTES: usize = 4 << 20, from "q22";
    /// The heap is a multiple of this many bytes.
    MALLOC_HEAP_GRANULARITY: usize = 64 << 10, from "q22";
    /// Launches of the device runtime that may wait.
    DEFAULT_PENDING_LAUNCHES: usize = 2048, from "q23";
    /// At least this many launches of the device runtime may wait.
    MIN_PENDING_LAUNCHES: usize = 32, from "q23";
    /// Bytes that the second-level cache fetches at once.
    DEFAULT_FETCH_GRANULARITY: usize = 64, from "q23";
    /// More bytes at once are refused.
    MAX_FETCH_GRANULARITY: usize = 128, from "q23";
    /// Bytes of the second-level cache that are kept for persisting accesses.
    DEFAULT_PERSISTING_CACHE_BYTES: usize = 11_796_480, from "q23";
    /// The part of the cache that is kept is a multiple of this many bytes, a sixteenth of the cache.
    PERSISTING_CACHE_GRANULARITY: usize = 3_932_160, from "q23";
    /// The depth to which the device runtime synchronises is no limit any more: it is neither told nor set.
    HAS_SYNC_DEPTH_LIMIT: bool = false, from "q23";
    /// The fallback for shared memory of work beside graphics is no limit of a context without graphics.
    HAS_GRAPHICS_FALLBACK_LIMIT: bool = false, from "q90";
}
