//! The work of a block of a pass: butterflies, threads, transforms, and where shared memory has elements between stages.
//!
//! On a GPU, the plan is the one of least estimated time. The estimate is a fit to the times of 1700 plans of 66 lengths,
//! of 16 to 16807 elements, on an H200 (within a length, it chooses plans that take 1.5 % more time than the best one
//! measured). By it, these keep transforms from the speed of memory: too few bytes under way, few blocks that a
//! multiprocessor has at once, which then read, compute and write at the same times, accesses to less than 128 adjacent
//! bytes, and instructions, that is, the number of stages and threads of warps without work.
//! Where a thread has most of a short transform, accesses are to adjacent elements only if these are staged in shared
//! memory. A convolution is short of shared memory's wavefronts instead.
//! A SIMD CPU has none of these limits, and short code is what matters there.

use super::bank_conflicts::BlockShape;
use super::choices::{FftPassChoice, FftPassProblem};
use super::plan::{
    BlockBudget, MAX_GPU_PRIME_RADIX, MAX_PRIME_RADIX, ThreadBudget, factor_into_radices, is_smooth, next_fast_len,
    threads_per_transform, transforms_per_block,
};
use rtcg_codegen::array::{FFT_STAGES, FftExchange, MAX_FFT_RADIX};
use rtcg_hal::{DeviceInfo, lock_ignoring_poison};
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// Threads of a block, at most.
const MAX_BLOCK_THREADS: usize = 1024;
/// Threads that run together.
const WARP_THREADS: usize = 32;
/// Registers, threads and blocks of a multiprocessor.
const REGISTERS: usize = 65536;
const RESIDENT_THREADS: usize = 2048;
const RESIDENT_BLOCKS: usize = 32;
/// Bytes that a multiprocessor should have under way.
const BYTES_IN_FLIGHT: f64 = 65536.0;
/// Candidates whose orders of butterflies are compared by bank conflicts.
const COMPARED_CANDIDATES: usize = 4;
/// Orders of the butterflies of one candidate that are compared.
const COMPARED_ORDERS: usize = 12;

/// What a block does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockPlan {
    pub radices: Vec<usize>,
    /// Threads per transform.
    pub threads: usize,
    /// Transforms.
    pub columns: usize,
    /// Between the stages; of a convolution, those of its second transform follow.
    pub exchanges: Vec<FftExchange>,
    /// Between global memory and the first stage, if threads read adjacent elements.
    pub staged_load: Option<FftExchange>,
    /// Between the last stage and global memory, if threads write adjacent elements.
    pub staged_store: Option<FftExchange>,
}

/// Everything that a plan follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct BlockTask {
    /// Of what a block transforms: of a convolution, what it reads and writes until its length is chosen.
    length: usize,
    /// Elements of a transform that are read and written.
    used: usize,
    convolves: bool,
    itemsize: usize,
    transforms: usize,
    loads_columns: bool,
    stores_columns: bool,
    loads_rows: bool,
    stores_rows: bool,
    max_radix: usize,
    thread_elements: usize,
    block_elements: usize,
    block_threads: usize,
    is_padded: bool,
    /// Of a block.
    shared_bytes: usize,
    is_simd_cpu: bool,
}

/// Butterflies in any order, for so many threads and transforms.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    radices: Vec<usize>,
    threads: usize,
    columns: usize,
    /// Whether threads access adjacent elements of global memory, where transforms follow each other.
    is_staged: bool,
    /// Estimated time above that of reading and writing memory, as a share of it.
    cost: f64,
}

/// The plan of a pass. `None` where no block has room for it.
pub(super) fn plan_block(
    problem: &FftPassProblem,
    choice: &FftPassChoice,
    device_info: &DeviceInfo,
    shared_bytes: usize,
) -> Option<Arc<BlockPlan>> {
    static PLANS: LazyLock<Mutex<FxHashMap<BlockTask, Option<Arc<BlockPlan>>>>> = LazyLock::new(Mutex::default);
    /// Plans beyond so many are made anew, so that programs of many lengths do not grow.
    const MAX_PLANS: usize = 1 << 14;
    let task = BlockTask {
        length: problem.length as usize,
        used: problem.length as usize,
        convolves: problem.convolves,
        itemsize: problem.itemsize as usize,
        // More make no difference.
        transforms: problem.transforms.clamp(1, 64) as usize,
        loads_columns: problem.loads_columns,
        stores_columns: problem.stores_columns,
        loads_rows: problem.loads_rows,
        stores_rows: problem.stores_rows,
        max_radix: choice.max_radix as usize,
        thread_elements: choice.thread_elements as usize,
        block_elements: choice.block_elements as usize,
        block_threads: choice.block_threads as usize,
        is_padded: choice.padded,
        shared_bytes,
        is_simd_cpu: device_info.is_simd_cpu(),
    };
    if let Some(known) = lock_ignoring_poison(&PLANS).get(&task) {
        return known.clone();
    }
    let plan = if task.is_simd_cpu { task.plan_for_simd_cpu() } else { task.plan_for_gpu() }.map(Arc::new);
    let mut plans = lock_ignoring_poison(&PLANS);
    if plans.len() >= MAX_PLANS {
        plans.clear();
    }
    plans.insert(task, plan.clone());
    plan
}

impl BlockTask {
    fn by_columns(&self) -> bool {
        self.loads_columns || self.stores_columns
    }

    fn block_shape<'a>(&self, radices: &'a [usize], threads: usize, columns: usize) -> BlockShape<'a> {
        let BlockTask { itemsize, loads_columns, stores_columns, .. } = *self;
        BlockShape { radices, threads, columns, itemsize, loads_columns, stores_columns }
    }

    /// Elements one after the other, those of columns side by side.
    fn plain_exchange(&self, columns: usize) -> FftExchange {
        let (element_stride, column_stride) = if self.by_columns() { (columns, 1) } else { (1, self.length) };
        FftExchange {
            element_stride: element_stride as u16,
            column_stride: column_stride as u32,
            interval: 1,
            padding: 0,
        }
    }

    /// The stages of a block, which convolves by the same butterflies forth and back.
    fn stages_of(&self, radices: &[usize]) -> usize {
        if self.convolves { 2 * radices.len() - 1 } else { radices.len() }
    }

    fn plan_for_simd_cpu(&self) -> Option<BlockPlan> {
        if self.convolves && self.used == self.length {
            return BlockTask { length: next_fast_len(2 * self.used - 1), ..*self }.plan_for_simd_cpu();
        }
        let budget = ThreadBudget { max_radix: self.max_radix, elements: self.thread_elements };
        let radices = factor_into_radices(self.length, budget)?;
        let threads = threads_per_transform(&radices, budget);
        // With padding, which is short beside the elements.
        let elements = self.block_elements.min(self.shared_bytes / self.itemsize * 3 / 4);
        let block = BlockBudget { elements, threads: self.block_threads };
        let columns = transforms_per_block(self.length, threads, self.itemsize, self.transforms, block);
        let stages = self.stages_of(&radices);
        let exchanges = vec![self.plain_exchange(columns); stages - 1];
        let is_possible = stages <= FFT_STAGES
            && threads * columns <= MAX_BLOCK_THREADS
            && self.length * columns * self.itemsize <= self.shared_bytes;
        is_possible.then_some(BlockPlan { radices, threads, columns, exchanges, staged_load: None, staged_store: None })
    }

    fn plan_for_gpu(&self) -> Option<BlockPlan> {
        if self.length == 1 {
            let columns = WARP_THREADS;
            let (radices, exchanges) = (vec![1], Vec::new());
            return Some(BlockPlan { radices, threads: 1, columns, exchanges, staged_load: None, staged_store: None });
        }
        let mut candidates = if self.convolves { self.convolution_candidates() } else { self.candidates() };
        candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let mut best: Option<(f64, BlockPlan)> = None;
        let mut compared = 0;
        for candidate in candidates {
            if compared == COMPARED_CANDIDATES * (1 + usize::from(self.convolves))
                || best.as_ref().is_some_and(|(least, _)| candidate.cost > *least)
            {
                break;
            }
            let planned = self.plan_orders(&candidate);
            compared += usize::from(planned.is_some());
            best = best.into_iter().chain(planned).min_by(|a, b| a.0.total_cmp(&b.0));
        }
        best.map(|(_, plan)| plan)
    }

    /// The order of a candidate's butterflies with the fewest bank conflicts and reads of twiddles.
    fn plan_orders(&self, candidate: &Candidate) -> Option<(f64, BlockPlan)> {
        let Candidate { threads, columns, is_staged, cost, .. } = *candidate;
        let task = BlockTask { length: candidate.radices.iter().product(), ..*self };
        let mut first = candidate.radices.clone();
        if first.len() > 2 {
            // Among equal orders the first one is taken, and long butterflies are better late.
            first.reverse();
        }
        let plans = orders_of(&first).into_iter().take(COMPARED_ORDERS).filter_map(|radices| {
            let shape = task.block_shape(&radices, threads, columns);
            let (mut exchanges, mut ratio) = task.plan_exchanges(shape)?;
            let mut back = radices.clone();
            back.reverse();
            let shape_back = BlockShape { radices: &back, loads_columns: self.stores_columns, ..shape };
            let stages = radices.len() - 1;
            if self.convolves {
                let (others, ratio_back) = task.plan_exchanges(shape_back)?;
                exchanges.extend(others);
                ratio = (ratio + ratio_back) / 2.0;
            }
            let staged_load = (is_staged && self.loads_rows).then(|| shape.plan_staging(0, self.used));
            let last = if self.convolves { shape_back } else { shape };
            let staged_store = (is_staged && self.stores_rows).then(|| last.plan_staging(stages, self.used));
            let conflicts = task.exchange_cost() * (ratio - 1.0) * exchanges.len() as f64;
            let cost = cost + conflicts + task.twiddle_cost(&radices);
            Some((cost, BlockPlan { radices, threads, columns, exchanges, staged_load, staged_store }))
        });
        plans.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// What wavefronts of an exchange take: shared memory is what a convolution is short of.
    fn exchange_cost(&self) -> f64 {
        if self.convolves { 0.14 * self.length as f64 / self.used as f64 } else { 0.03 }
    }

    /// The exchanges of a transform, and how many wavefronts they take for each that they would without conflicts.
    fn plan_exchanges(&self, shape: BlockShape<'_>) -> Option<(Vec<FftExchange>, f64)> {
        if self.is_padded {
            return shape.plan_exchanges(self.shared_bytes);
        }
        let fits = self.length * shape.columns * self.itemsize <= self.shared_bytes;
        fits.then(|| (vec![self.plain_exchange(shape.columns); shape.radices.len() - 1], 1.0))
    }

    /// The twiddles of the last stage are the most, and do not stay in the cache of a multiprocessor: of a long butterfly
    /// fewer are read for each element, as most are products of others. Of two stages this was not seen.
    fn twiddle_cost(&self, radices: &[usize]) -> f64 {
        let Some(&last) = radices.last().filter(|_| radices.len() > 2) else { return 0.0 };
        let read = (last - 1).min(3) + (last - 1) / 4;
        let table_bytes = self.length * self.itemsize;
        0.01 * read as f64 / last as f64 * (table_bytes as f64 / 4096.0).log2().max(0.0)
    }

    /// Whatever fits the budget. Very long butterflies take many registers, and are for what has no other plan.
    fn candidates(&self) -> Vec<Candidate> {
        let found = self.candidates_with(&|radix| self.is_known_radix(radix));
        if !found.is_empty() || self.thread_elements < 25 {
            return found;
        }
        self.candidates_with(&|radix| radix == 49 || self.is_known_radix(radix))
    }

    /// Those of all lengths that may be quick to transform, and are long enough.
    fn convolution_candidates(&self) -> Vec<Candidate> {
        let least = 2 * self.used - 1;
        // Many lengths are long enough, but the search should be short.
        let multiple = if least < 512 { 1 } else { 8 };
        let close = (least..=least + least / 8 + 4).filter(|&length| length % multiple == 0 && is_smooth(length, 7));
        // Powers of two have no bank conflicts.
        let power =
            Some(least.next_power_of_two()).filter(|&power| (least + least / 8 + 4..least * 3 / 2).contains(&power));
        let of_length = |length| {
            let mut candidates = BlockTask { length, ..*self }.candidates();
            candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            candidates.into_iter().take(2)
        };
        close.chain(power).flat_map(of_length).collect()
    }

    fn candidates_with(&self, is_known: &dyn Fn(usize) -> bool) -> Vec<Candidate> {
        let mut found = Vec::new();
        let radices: Vec<usize> = (2..=MAX_FFT_RADIX).rev().filter(|&radix| is_known(radix)).collect();
        let mut fewest = FFT_STAGES;
        let most_stages = if self.convolves { FFT_STAGES.div_ceil(2) } else { FFT_STAGES };
        for stages in 1..=most_stages {
            if stages > fewest + 1 {
                break;
            }
            let before = found.len();
            for radices in factorizations(self.length, stages, &radices) {
                self.candidates_of(&radices, &mut found);
            }
            if found.len() > before {
                fewest = fewest.min(stages);
            }
        }
        found
    }

    fn is_known_radix(&self, radix: usize) -> bool {
        let is_small = radix <= self.max_radix && is_smooth(radix, MAX_PRIME_RADIX);
        is_small || [11, 13].contains(&radix) || (radix <= MAX_GPU_PRIME_RADIX && is_large_prime(radix))
    }

    fn candidates_of(&self, radices: &[usize], found: &mut Vec<Candidate>) {
        let mut counts: Vec<usize> = radices
            .iter()
            .map(|radix| self.length / radix)
            .flat_map(|butterflies| {
                (1..=4).filter(move |n| butterflies.is_multiple_of(*n)).map(move |n| butterflies / n)
            })
            .collect();
        counts.sort_unstable();
        counts.dedup();
        for threads in counts {
            let most = radices.iter().map(|radix| (self.length / radix).div_ceil(threads) * radix).max().unwrap_or(1);
            // Beside a large prime, a few more leave fewer threads idle.
            let allowed = if is_large_prime(radices[0]) { radices[0] + 2 } else { radices[0] };
            if threads > MAX_BLOCK_THREADS || most > self.thread_elements.max(allowed) {
                continue;
            }
            let columns = self.column_counts(threads);
            // Of long transforms, threads read adjacent elements anyway.
            let is_short = self.used <= 64 || self.convolves || is_large_prime(radices[0]);
            let may_stage = is_short && (self.loads_rows || self.stores_rows);
            for is_staged in [false, true].into_iter().take(1 + usize::from(may_stage)) {
                let candidates = columns.iter().filter_map(|&columns| {
                    let cost = self.estimate_cost(radices, threads, columns, most, is_staged)?;
                    Some(Candidate { radices: radices.to_vec(), threads, columns, is_staged, cost })
                });
                // The best two, of which bank conflicts may favour either.
                let mut candidates: Vec<Candidate> = candidates.collect();
                candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                found.extend(candidates.into_iter().take(2));
            }
        }
    }

    /// Numbers of transforms of a block: one at least, and of columns what fills a line of the cache if it fits.
    fn column_counts(&self, threads: usize) -> Vec<usize> {
        let most = (self.block_elements / self.length).min(self.block_threads / threads).min(self.transforms);
        if !self.by_columns() {
            let least = self.transforms.min(2 * WARP_THREADS / threads).clamp(1, most.max(1));
            return (least..=most.max(1)).collect();
        }
        let fits = |columns: usize| {
            columns * self.length * self.itemsize <= self.shared_bytes && columns * threads <= MAX_BLOCK_THREADS
        };
        let wanted = [32, 16, 8, 4, 2].map(|columns| columns.min(self.transforms.next_power_of_two()));
        let mut counts: Vec<usize> = wanted.into_iter().filter(|&columns| fits(columns)).collect();
        counts.dedup();
        if counts.is_empty() { vec![1] } else { counts }
    }

    /// `None` where a block of this kind is impossible.
    fn estimate_cost(
        &self,
        radices: &[usize],
        threads: usize,
        columns: usize,
        most: usize,
        is_staged: bool,
    ) -> Option<f64> {
        let block_threads = (threads * columns).next_multiple_of(WARP_THREADS);
        let words = self.itemsize / 8;
        // What the compiler was seen to need.
        let large = radices.iter().copied().filter(|&radix| is_large_prime(radix)).max().unwrap_or(0);
        let needed = (words * (13 + 5 * most) / 2).max(words * large * 13 / 4);
        // Of the largest primes in double precision, a few are spilled.
        let needed = if large > 0 { needed.min(244) } else { needed };
        let registers = (4 + needed).next_multiple_of(8).max(32);
        let block_bytes = self.length * columns * self.itemsize * usize::from(radices.len() > 1 || is_staged);
        if block_threads > MAX_BLOCK_THREADS
            || registers * block_threads > REGISTERS
            || registers > 255
            || block_bytes > self.shared_bytes
        {
            return None;
        }
        let blocks = (REGISTERS / (block_threads * registers))
            .min(self.shared_bytes.max(1) / (block_bytes * 17 / 16 + 1024))
            .min(RESIDENT_THREADS / block_threads)
            .clamp(1, RESIDENT_BLOCKS);
        let staged = [self.loads_rows, self.stores_rows].map(|rows| is_staged && rows);
        let stages = self.stages_of(radices) as f64;
        // Products for each element, if all threads of a warp are at work.
        let of_large =
            (large * threads * self.length.div_ceil(large.max(1) * threads) * large) as f64 / self.length as f64;
        let work = self.length as f64 / self.used as f64;
        let waste = block_threads as f64 / (threads * columns) as f64 - 1.0;
        let in_flight = (blocks * self.used * columns * self.itemsize) as f64 / BYTES_IN_FLIGHT;
        let run = |by_columns, is_staged| match is_staged {
            true => 128.0,
            false => (if by_columns { columns } else { threads } * self.itemsize) as f64,
        };
        let adjacent = run(self.loads_columns, staged[0]).min(run(self.stores_columns, staged[1]));
        let scattered = (1.0 - adjacent / 128.0).max(0.0) + 3.0 * (32.0 / adjacent - 1.0).max(0.0);
        let held = (most * self.itemsize) as f64 / 128.0;
        // Columns that share lines are not read by the same warp soon after.
        let [of_scattered, of_held] = match (self.by_columns(), staged[0]) {
            (true, _) => [0.45, 0.07],
            (false, false) => [0.08, 0.024],
            // Copies to shared memory take no registers.
            (false, true) => [0.08, 0.006],
        };
        let of_stages = work * (0.027 * stages + 0.067 * waste * stages + of_held * held + 0.0007 * of_large);
        let unaligned = usize::from(!(self.used * columns * self.itemsize).is_multiple_of(128)) as f64;
        let of_staging = staged.map(|staged| if staged { 0.015 + 0.01 * unaligned } else { 0.0 });
        // Few threads with many registers do not have enough loads under way.
        let of_loads = if large > 0 && !staged[0] { 0.01 * large as f64 } else { 0.0 };
        let of_exchanges = if self.convolves { self.exchange_cost() * (stages - 1.0) } else { 0.0 };
        let shares = of_stages + of_exchanges + of_scattered * scattered + of_staging[0] + of_staging[1] + of_loads;
        let residence = 0.08 / blocks as f64 + 0.015 * (block_threads as f64 / 256.0).log2().max(0.0);
        Some(shares + residence + 0.77 * (1.0 - in_flight).max(0.0))
    }
}

/// Whether a thread of a GPU has registers for butterflies of this prime, and others have no butterflies for it.
fn is_large_prime(radix: usize) -> bool {
    radix > MAX_PRIME_RADIX && (2..radix).all(|divisor| !radix.is_multiple_of(divisor))
}

/// Products of `count` of `known` factors that are `m`; factors and `known` fall.
fn factorizations(m: usize, count: usize, known: &[usize]) -> Vec<Vec<usize>> {
    if count == 1 {
        return if known.contains(&m) { vec![vec![m]] } else { Vec::new() };
    }
    let mut found = Vec::new();
    for (at, &radix) in known.iter().enumerate().filter(|(_, radix)| m.is_multiple_of(**radix)) {
        for mut rest in factorizations(m / radix, count - 1, &known[at..]) {
            rest.insert(0, radix);
            found.push(rest);
        }
    }
    found
}

/// The different orders of factors.
fn orders_of(factors: &[usize]) -> Vec<Vec<usize>> {
    if factors.len() <= 1 {
        return vec![factors.to_vec()];
    }
    let mut found = Vec::new();
    for (at, &factor) in factors.iter().enumerate() {
        if factors[..at].contains(&factor) {
            continue;
        }
        let others = [&factors[..at], &factors[at + 1..]].concat();
        for mut rest in orders_of(&others) {
            rest.insert(0, factor);
            found.push(rest);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_task(length: usize, itemsize: usize) -> BlockTask {
        BlockTask {
            length,
            used: length,
            convolves: false,
            itemsize,
            transforms: 65536,
            loads_columns: false,
            stores_columns: false,
            loads_rows: false,
            stores_rows: false,
            max_radix: if itemsize == 8 { 32 } else { 25 },
            thread_elements: if itemsize == 8 { 32 } else { 25 },
            block_elements: (56 << 10) / itemsize,
            block_threads: 512,
            is_padded: true,
            shared_bytes: 227 << 10,
            is_simd_cpu: false,
        }
    }

    #[test]
    fn plans_multiply_to_the_length_and_fit_a_block() {
        for n in (2..400).chain([729, 1000, 1024, 2000, 4096, 5000, 6561, 8192, 10000, 16807]) {
            for itemsize in [8, 16] {
                if !is_smooth(n, MAX_GPU_PRIME_RADIX) || n * itemsize > 200 << 10 {
                    continue;
                }
                for by_columns in [false, true] {
                    let task = BlockTask { loads_columns: by_columns && n <= 1024, ..block_task(n, itemsize) };
                    let plan = task.plan_for_gpu().unwrap_or_else(|| panic!("no plan for {n}"));
                    assert_eq!(plan.radices.iter().product::<usize>(), n);
                    assert!(plan.threads * plan.columns <= MAX_BLOCK_THREADS, "{n} {plan:?}");
                    let allocated =
                        plan.exchanges.iter().map(|exchange| exchange.allocated(n, plan.columns) * itemsize);
                    assert!(
                        allocated.max().unwrap_or(0) <= 227 << 10 && plan.exchanges.len() + 1 == plan.radices.len()
                    );
                }
            }
        }
    }

    #[test]
    fn short_transforms_and_large_primes_are_staged() {
        let rows = |n, itemsize| BlockTask { loads_rows: true, stores_rows: true, ..block_task(n, itemsize) };
        for (n, radices) in [(7, &[7][..]), (31, &[31]), (47, &[47]), (62, &[31, 2])] {
            for itemsize in [8, 16] {
                let plan = rows(n, itemsize).plan_for_gpu().expect("a plan");
                assert_eq!((&plan.radices[..], plan.threads), (radices, n / radices[0]));
                let staged = plan.staged_load.zip(plan.staged_store).expect("staging");
                // Threads of a warp are at the same element of transforms an odd number of elements apart.
                assert!(n % 2 == 0 || (staged.0.column_stride, staged.1.column_stride) == (n as u32, n as u32));
            }
        }
        let plan = rows(1024, 8).plan_for_gpu().expect("a plan");
        assert_eq!((plan.staged_load, plan.staged_store), (None, None));
        assert_eq!(block_task(7, 8).plan_for_gpu().expect("a plan").staged_load, None);
    }

    #[test]
    fn convolutions_in_a_block_are_long_enough() {
        for n in [53, 127, 509, 1009, 4093] {
            for itemsize in [8, 16] {
                let plan = BlockTask { convolves: true, ..block_task(n, itemsize) }.plan_for_gpu().expect("a plan");
                let length: usize = plan.radices.iter().product();
                assert!((2 * n - 1..3 * n).contains(&length), "{n} {plan:?}");
                assert_eq!(plan.exchanges.len(), 2 * (plan.radices.len() - 1));
                let allocated = plan.exchanges.iter().map(|exchange| exchange.allocated(length, plan.columns));
                assert!(allocated.max().unwrap_or(0) * itemsize <= 227 << 10, "{n} {plan:?}");
            }
        }
        assert_eq!(BlockTask { convolves: true, ..block_task(20011, 8) }.plan_for_gpu(), None);
        let cpu = BlockTask {
            convolves: true,
            is_simd_cpu: true,
            max_radix: 8,
            thread_elements: 8,
            block_elements: 2048,
            block_threads: 256,
            shared_bytes: 48 << 10,
            ..block_task(101, 16)
        };
        let plan = cpu.plan_for_simd_cpu().expect("a plan");
        assert_eq!((plan.radices.iter().product::<usize>(), plan.staged_load), (224, None));
        assert_eq!(BlockTask { length: 3001, used: 3001, ..cpu }.plan_for_simd_cpu(), None);
    }

    #[test]
    fn multiprocessors_have_several_blocks_and_threads_work() {
        for n in [729, 1000, 1024, 2000, 3000, 4096] {
            let plan = block_task(n, 8).plan_for_gpu().expect("a plan");
            assert!((48..=320).contains(&(plan.threads * plan.columns)), "{n} {plan:?}");
        }
        assert_eq!(orders_of(&[10, 10, 5]).len(), 3);
        assert_eq!(factorizations(64, 2, &[32, 16, 8, 4, 2]), [vec![32, 2], vec![16, 4], vec![8, 8]]);
    }
}
