//! Clocks.

measured! {
    /// `%globaltimer`, and the times of events, are multiples of this many nanoseconds.
    CLOCK_STEP_NS: u64 = 32, from "q30";
}
