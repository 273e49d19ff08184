//! Address spaces: where memory begins and how it is rounded.

measured! {
    /// The first bytes of a block's shared memory belong to the system: static shared memory begins behind them.
    RESERVED_SHARED_BYTES: u32 = 1024, from "q02";
    /// `%total_smem_size` is rounded up to a multiple of this; `%aggr_smem_size` is not, and has the reserved bytes too.
    SHARED_GRANULARITY: u32 = 128, from "q01";
    /// `%nwarpid` is the number of warp slots of a multiprocessor and not that of the block.
    WARP_SLOTS: u32 = 64, from "q01";
}
