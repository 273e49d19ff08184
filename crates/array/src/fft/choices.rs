//! What transforms leave open: the lengths of passes, the butterflies, and the work per block.

use super::block_plan::{BlockPlan, plan_block};
use super::plan::{
    BlockLimits, MAX_GPU_PRIME_RADIX, MAX_PRIME_RADIX, MAX_STRIDED_PASS_LENGTH, ThreadBudget, is_smooth,
    plan_pass_lengths,
};
use rtcg_hal::{DeviceInfo, tunable};
use std::sync::Arc;

/// Most passes, whose indices of transforms kernels have room for.
const MAX_PASSES: usize = 3;

tunable! {
    /// The passes of a transform, whose lengths multiply to its length.
    pub(crate) FftLengths = "fft.lengths";
    /// A transform whose length has no large prime factor.
    problem FftLengthsProblem {
        /// Bytes per complex number.
        itemsize: i64 = Exact,
        /// The length.
        n: i64 = Exact,
        /// Whether elements of one transform are closer to each other than to those of other transforms.
        contiguous: bool = Exact,
    }
    parameters {
        /// Whether a block does the whole transform if it fits and its elements are contiguous.
        whole: bool = [false, true],
        /// Maximum length of a pass, if there are several.
        max_pass: i64 = [64, 128, 256, 512, 1024, 2048, 4096],
    }
    device {}
    require {}
    rule fft_lengths_rule;
    also check_lengths;
}

/// The longest pass that reads columns: twice as long as others where a block has room for 64 adjacent bytes of each
/// of its rows, for then two passes do what takes three else.
fn fft_lengths_rule(_: &FftLengthsProblem, device_info: &DeviceInfo) -> FftLengths {
    let is_wide = !device_info.is_simd_cpu() && shared_bytes(device_info) >= 2 * MAX_STRIDED_PASS_LENGTH * 64 * 9 / 8;
    let max_pass = if is_wide { 2 * MAX_STRIDED_PASS_LENGTH } else { MAX_STRIDED_PASS_LENGTH };
    FftLengths { whole: true, max_pass: max_pass as i64 }
}

fn check_lengths(choice: &FftLengths, problem: &FftLengthsProblem, device_info: &DeviceInfo) -> Option<&'static str> {
    let passes = |choice: &FftLengths| choice.lengths(problem, device_info).map_or(0, |lengths| lengths.len());
    let most = passes(&fft_lengths_rule(problem, device_info)).max(MAX_PASSES);
    let is_possible = (1..=most).contains(&passes(choice));
    (!is_possible).then_some("the length is a product of too many passes of at most max_pass")
}

impl FftLengths {
    /// The lengths of the passes; `None` where the length has a large prime factor.
    pub(super) fn lengths(&self, problem: &FftLengthsProblem, device_info: &DeviceInfo) -> Option<Vec<usize>> {
        if !is_smooth(problem.n as usize, largest_prime_radix(device_info)) {
            return None;
        }
        let fits_block = self.whole && problem.contiguous && fits_block(problem, device_info);
        plan_pass_lengths(problem.n as usize, fits_block, self.max_pass as usize)
    }
}

/// Whether a block has room for a whole transform.
fn fits_block(problem: &FftLengthsProblem, device_info: &DeviceInfo) -> bool {
    let (length, itemsize) = (problem.n, problem.itemsize);
    if device_info.is_simd_cpu() {
        let (shared_bytes, budget) = (shared_bytes(device_info), ThreadBudget::SIMD_BUDGET);
        return BlockLimits { shared_bytes, itemsize: itemsize as usize, budget }.fits_block(length as usize);
    }
    let whole = FftPassProblem {
        itemsize,
        length,
        transforms: 1,
        convolves: false,
        loads_columns: false,
        stores_columns: false,
        loads_rows: false,
        stores_rows: false,
    };
    length * itemsize <= shared_bytes(device_info) as i64
        && fft_pass_rule(&whole, device_info).plan(&whole, device_info).is_some()
}

tunable! {
    /// The butterflies of a pass, and the transforms per block.
    pub(crate) FftPassChoice = "fft.pass";
    /// Transforms of `length` elements.
    problem FftPassProblem {
        /// Bytes per complex number.
        itemsize: i64 = Exact,
        /// Elements per transform.
        length: i64 = Exact,
        /// Number of adjacent transforms.
        transforms: i64 = PowerOfTwo,
        /// Whether they are computed by convolutions of at least twice the length.
        convolves: bool = Exact,
        /// Whether adjacent threads read the same element of adjacent transforms.
        loads_columns: bool = Exact,
        /// Whether adjacent threads write the same element of adjacent transforms.
        stores_columns: bool = Exact,
        /// Whether transforms that are read follow each other in memory.
        loads_rows: bool = Exact,
        /// Whether transforms that are written follow each other in memory.
        stores_rows: bool = Exact,
    }
    parameters {
        /// Maximum radix of a butterfly; primes above it are used only if unavoidable.
        max_radix: i64 = [8, 10, 16, 25, 32],
        /// Maximum elements per thread.
        thread_elements: i64 = [8, 16, 25, 32],
        /// Maximum elements per block, if it has several transforms.
        block_elements: i64 = [512, 1024, 2048, 4096, 8192],
        /// Maximum threads per block, if it has several transforms.
        block_threads: i64 = [64, 128, 256, 512],
        /// Whether shared memory is padded, so that adjacent threads conflict in fewer banks.
        padded: bool = [false, true],
        /// Whether most twiddles are products of two that are read, which takes fewer reads.
        multiplies_twiddles: bool = [false, true],
    }
    device {}
    require {}
    rule fft_pass_rule;
    also check_pass;
}

/// Threads of a GPU have room for long butterflies, and blocks should be small, so that a multiprocessor has several.
/// A SIMD CPU has no banks of shared memory, and compiles long code slowly.
fn fft_pass_rule(problem: &FftPassProblem, device_info: &DeviceInfo) -> FftPassChoice {
    if device_info.is_simd_cpu() {
        let ThreadBudget { max_radix, elements } = ThreadBudget::SIMD_BUDGET;
        return FftPassChoice {
            max_radix: max_radix as i64,
            thread_elements: elements as i64,
            block_elements: (32 << 10) / problem.itemsize,
            block_threads: 256,
            padded: false,
            multiplies_twiddles: false,
        };
    }
    let most = if problem.itemsize == 8 { 32 } else { 25 };
    FftPassChoice {
        max_radix: most,
        thread_elements: most,
        block_elements: (64 << 10) / problem.itemsize,
        block_threads: 512,
        padded: true,
        multiplies_twiddles: true,
    }
}

fn check_pass(choice: &FftPassChoice, problem: &FftPassProblem, device_info: &DeviceInfo) -> Option<&'static str> {
    choice.plan(problem, device_info).is_none().then_some("no block has room for such a transform")
}

impl FftPassChoice {
    /// What a block does; `None` where none has room for it.
    pub(super) fn plan(&self, problem: &FftPassProblem, device_info: &DeviceInfo) -> Option<Arc<BlockPlan>> {
        plan_block(problem, self, device_info, shared_bytes(device_info))
    }
}

/// The largest prime that there are butterflies for.
pub(super) fn largest_prime_radix(device_info: &DeviceInfo) -> usize {
    if device_info.is_simd_cpu() { MAX_PRIME_RADIX } else { MAX_GPU_PRIME_RADIX }
}

/// The shared memory of a block; of a processor, what is near it.
fn shared_bytes(device_info: &DeviceInfo) -> usize {
    if device_info.is_simd_cpu() { 48 << 10 } else { device_info.shared_bytes as usize }
}
