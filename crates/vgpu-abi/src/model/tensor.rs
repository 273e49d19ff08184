//! Tensor cores: how many products they add up at once, and what is not theirs.

measured! {
    /// Products of `.f16` and `.bf16` that are added up in one step.
    HALF_STEP: usize = 16, from "q16";
    /// Products of `.tf32` in `mma` that are added up in one step.
    TF32_STEP: usize = 8, from "q15";
    /// Products of `.tf32` in `wmma`, which the device's compiler makes of `mma.m16n8k4`, that are added up in one step.
    WMMA_TF32_STEP: usize = 4, from "q17";
    /// Bits after the binary point of a term whose exponent is the largest of a sum.
    SUM_FRACTION_BITS: i32 = 25, from "gpu_tiles";
    /// Exponents of terms below this one count as it.
    MIN_EXPONENT: i32 = -126, from "gpu_tiles";
    /// What a sum of `.f16` is that is zero or rounds to zero, negative ones included.
    ZERO_OF_HALF_SUMS: u64 = 0, from "gpu_tiles";
    /// Bits of the sum of a product whose `c` and `d` have different types: `c` is converted before, `d` afterwards.
    MIXED_SUM_BITS: u32 = 32, from "gpu_tiles";
    /// The operands `a`, `b`, `c` (0, 1, 2) in the order in which a step in double precision looks for the NaN to keep.
    DOUBLE_NAN_ORDER: [usize; 3] = [1, 2, 0], from "gpu_tiles";
    /// Whether `mma.sp` multiplies elements of `b` with the zeros that `a` does not store.
    MULTIPLIES_UNSTORED_ZEROS: bool = false, from "gpu_tiles";
    /// `wmma` with 8 rows and this many columns computes the transposed product: its fragments are those of the product with as many rows and 8 columns.
    TRANSPOSED_COLUMNS: u32 = 32, from "q17";
}
