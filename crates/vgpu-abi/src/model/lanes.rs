//! What the lanes of a warp do in which order.

measured! {
    /// Lanes of a warp that store to one place by one instruction are served in groups of this many bytes, and the lowest
    /// lane of the last group stays: of the warp up to 4 bytes a lane, of a half at 8, of a quarter at 16.
    STORE_GROUP_BYTES: u32 = 128, from "q05";
    /// A shuffle from a lane that has exited gives this value.
    SHUFFLE_FROM_EXITED_LANE: u32 = 0, from "q06";
}
