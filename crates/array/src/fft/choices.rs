//! What transforms leave open: the lengths of passes, the butterflies, and the work per block.

use super::plan::{
    BlockBudget, BlockLimits, MAX_STRIDED_PASS_LENGTH, ThreadBudget, factor_into_radices, plan_pass_lengths,
    threads_per_transform, transforms_per_block,
};
use rtcg_hal::{DeviceInfo, tunable};

/// Threads of a block, at most.
const MAX_BLOCK_THREADS: usize = 1024;
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
        max_pass: i64 = [64, 128, 256, 512, 1024],
    }
    device {}
    require {}
    rule fft_lengths_rule;
    also check_lengths;
}

fn fft_lengths_rule(_: &FftLengthsProblem, _: &DeviceInfo) -> FftLengths {
    FftLengths { whole: true, max_pass: MAX_STRIDED_PASS_LENGTH as i64 }
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
        let (budget, shared_bytes) = (thread_budget(device_info), shared_bytes(device_info));
        let block = BlockLimits { shared_bytes, itemsize: problem.itemsize as usize, budget };
        let block = (self.whole && problem.contiguous).then_some(block);
        plan_pass_lengths(problem.n as usize, block, self.max_pass as usize)
    }
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
        /// Whether adjacent threads read the same element of adjacent transforms.
        loads_columns: bool = Exact,
        /// Whether adjacent threads write the same element of adjacent transforms.
        stores_columns: bool = Exact,
    }
    parameters {
        /// Maximum radix of a butterfly; 11 and 13 are used only if unavoidable.
        max_radix: i64 = [8, 9, 10, 12, 15, 16],
        /// Maximum elements per thread to balance the work.
        thread_elements: i64 = [4, 8, 16, 24, 32],
        /// Elements per block.
        block_elements: i64 = [512, 1024, 2048, 4096, 8192],
        /// Threads per block.
        block_threads: i64 = [64, 128, 256, 512],
        /// Whether shared memory is padded, so that adjacent threads conflict in fewer banks.
        padded: bool = [false, true],
    }
    device {}
    require {}
    rule fft_pass_rule;
    also check_pass;
}

/// Transforms of columns are best wide where they are read, for whole lines of the cache, and less so where they are
/// written only.
fn fft_pass_rule(problem: &FftPassProblem, device_info: &DeviceInfo) -> FftPassChoice {
    let budget = thread_budget(device_info);
    // On a SIMD CPU shared memory has no banks.
    let has_banks = !device_info.is_simd_cpu();
    let (block_elements, block_threads) = match (has_banks, problem.loads_columns, problem.stores_columns) {
        (true, true, _) => (4096, 512),
        (true, false, true) => (2048, 512),
        _ => ((32 << 10) / problem.itemsize, 256),
    };
    FftPassChoice {
        max_radix: budget.max_radix as i64,
        thread_elements: budget.elements as i64,
        block_elements,
        block_threads,
        padded: has_banks,
    }
}

fn check_pass(choice: &FftPassChoice, problem: &FftPassProblem, device_info: &DeviceInfo) -> Option<&'static str> {
    let Some(radices) = factor_into_radices(problem.length as usize, choice.thread_budget()) else {
        return Some("the length is a product of too many butterflies of at most max_radix");
    };
    let threads = threads_per_transform(&radices, choice.thread_budget());
    let columns = choice.columns(problem, threads, device_info);
    if threads * columns > MAX_BLOCK_THREADS {
        return Some("a block has more than 1024 threads");
    }
    // Gaps are at most one behind 8 elements, or behind what the first butterfly writes.
    let elements = problem.length as usize * columns;
    let nbytes = (elements + elements / radices[0].clamp(2, 8)) * problem.itemsize as usize;
    (nbytes > shared_bytes(device_info)).then_some("a block has more elements than shared memory")
}

impl FftPassChoice {
    pub(super) fn thread_budget(&self) -> ThreadBudget {
        ThreadBudget { max_radix: self.max_radix as usize, elements: self.thread_elements as usize }
    }

    /// Transforms of a block, each of which has so many threads.
    pub(super) fn columns(&self, problem: &FftPassProblem, threads: usize, device_info: &DeviceInfo) -> usize {
        let itemsize = problem.itemsize as usize;
        // With the gaps, which are few beside the elements.
        let most = shared_bytes(device_info) / itemsize * 3 / 4;
        let elements = (self.block_elements as usize).min(most);
        let budget = BlockBudget { elements, threads: self.block_threads as usize };
        transforms_per_block(problem.length as usize, threads, itemsize, problem.transforms as usize, budget)
    }
}

/// What a thread has room for.
fn thread_budget(device_info: &DeviceInfo) -> ThreadBudget {
    if device_info.is_simd_cpu() { ThreadBudget::SIMD_BUDGET } else { ThreadBudget::SIMT_BUDGET }
}

/// The shared memory of a block; of a processor, what is near it.
fn shared_bytes(device_info: &DeviceInfo) -> usize {
    if device_info.is_simd_cpu() { 48 << 10 } else { device_info.shared_bytes as usize }
}
