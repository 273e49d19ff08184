//! Tensor cores: how many products they add up at once, and what is not theirs.

measured! {
    /// Products of `.f16` and `.bf16` that are added up in one step.
    HALF_STEP: usize = 16, from "q16";
    /// Products of `.tf32` in `mma` that are added up in one step.
    TF32_STEP: usize = 8, from "q15";
    /// Products of `.tf32` in `wmma`, which the device's compiler makes of `mma.m16n8k4`, that are added up in one step.
    WMMA_TF32_STEP: usize = 4, from "q17";
    /// `wmma` with 8 rows and this many columns computes the transposed product: its fragments are those of the product with as many rows and 8 columns.
    TRANSPOSED_COLUMNS: u32 = 32, from "q17";
}
