//! Address spaces: where memory begins and how it is rounded.

measured! {
    /// The first bytes of a block's shared memory belong to the system: static shared memory begins behind them.
    RESERVED_SHARED_BYTES: u32 = 1024, from "q02";
    /// The end of what the system uses of them (`%reserved_smem_offset_end`), which begins at 0.
    RESERVED_SHARED_END: u32 = 288, from "q91";
    /// `%total_smem_size` is rounded up to a multiple of this; `%aggr_smem_size` is not, and has the reserved bytes too.
    SHARED_GRANULARITY: u32 = 128, from "q01";
    /// `%nwarpid` is the number of warp slots of a multiprocessor and not that of the block.
    WARP_SLOTS: u32 = 64, from "q01";
    /// Free memory falls and rises by blocks of this many bytes.
    MEMORY_BLOCK_BYTES: u64 = 2 << 20, from "q29";
    /// Allocations of up to this many bytes share blocks; a larger one has blocks of its own.
    MAX_SHARED_ALLOCATION_BYTES: u64 = 1 << 20, from "q29";
    /// A memory pool takes memory from its device in pieces of this many bytes.
    POOL_RESERVATION_BYTES: u64 = 32 << 20, from "q29";
    /// Memory of pools belongs to no context.
    POOL_MEMORY_HAS_CONTEXT: bool = false, from "q54";
    /// Copies of managed memory are said to be synchronous (`CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`).
    MANAGED_COPIES_ARE_SYNCHRONOUS: bool = true, from "q54";
    /// Whether a pool that was imported can be asked, trimmed, changed or destroyed: it only takes pointers.
    IMPORTED_POOLS_CAN_BE_CHANGED: bool = false, from "q87";
    /// The range that pointer attributes tell of mapped memory is the reservation of addresses that it lies in.
    MAPPED_RANGE_IS_RESERVATION: bool = true, from "q87";
    /// Whether the first form of a batch of copies of boxes names the copy that failed.
    BOX_BATCHES_NAME_FAILED_COPY: bool = false, from "q87";
    /// Attributes of copies of a batch have flags up to this.
    MAX_BATCH_COPY_FLAGS: u32 = 1, from "q87";
    /// Handles that pools can be made for: none, file descriptors and fabric handles.
    POOL_HANDLE_TYPES: [u32; 3] = [0, 1, 8], from "q56";
    /// Advice about managed memory and its prefetches are noted for all pages of so many bytes that a range touches.
    HINT_PAGE_BYTES: u64 = 4096, from "q55";
    /// A wait for a value that also flushes writes of other devices is not supported.
    CAN_FLUSH_REMOTE_WRITES: bool = false, from "q30";
}
