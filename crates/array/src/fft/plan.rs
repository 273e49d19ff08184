//! The plan of a transform: passes whose lengths fit a block of threads, each made of several butterflies. Lengths that
//! cannot be factorised this way are computed by convolution with a chirp (Bluestein).

use rtcg_codegen::array::FFT_STAGES;

/// The longest transform of a pass that reads or writes columns: four of them, which fill a sector of 32 bytes, fit
/// in shared memory.
pub(super) const MAX_STRIDED_PASS_LENGTH: usize = 1024;
/// What fits in the registers of a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadBudget {
    /// Maximum radix of a butterfly; larger prime radices are used only if unavoidable.
    pub max_radix: usize,
    /// Maximum elements that it may hold to balance the work.
    pub elements: usize,
}

impl ThreadBudget {
    /// A thread of a SIMD CPU, where long code takes long to compile and is not faster.
    pub(super) const SIMD_BUDGET: ThreadBudget = ThreadBudget { max_radix: 8, elements: 8 };
}

/// Threads that run together.
const WARP_THREADS: usize = 32;
/// The longest butterfly there is.
const MAX_RADIX: usize = 16;
/// The largest prime that there are butterflies for.
pub(super) const MAX_PRIME_RADIX: usize = 13;
/// The same of a GPU, whose threads have more registers.
pub(super) const MAX_GPU_PRIME_RADIX: usize = 47;

/// What fits in a block that does a whole transform.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockLimits {
    /// Bytes of shared memory.
    pub shared_bytes: usize,
    /// Bytes of an element.
    pub itemsize: usize,
    /// What each of its threads has.
    pub budget: ThreadBudget,
}

impl BlockLimits {
    /// Bytes of the elements that threads have in registers, for a share of one each: beyond that they have too few.
    const MAX_REGISTER_BYTES: usize = 8 << 10;

    /// Whether it does a transform of length `n`: shared memory has padding, at most one element behind 8.
    pub(super) fn fits_block(self, n: usize) -> bool {
        factor_into_radices(n, self.budget).is_some_and(|radices| {
            (n + n / 8) * self.itemsize <= self.shared_bytes
                && threads_per_transform(&radices, self.budget) * self.itemsize <= Self::MAX_REGISTER_BYTES
        })
    }
}

/// Whether `n` has no prime factor above `largest`.
pub(super) fn is_smooth(mut n: usize, largest: usize) -> bool {
    for p in 2..=largest {
        while n > 1 && n.is_multiple_of(p) {
            n /= p;
        }
    }
    n == 1
}

/// Lengths of passes whose product is `n`: one if `fits_block`, else all at most `most`. `n` has no prime factor without
/// a butterfly.
pub(super) fn plan_pass_lengths(n: usize, fits_block: bool, most: usize) -> Option<Vec<usize>> {
    if fits_block {
        return Some(vec![n]);
    }
    (1..=8).find_map(|count| split_length(n, count, most))
}

/// `count` lengths of at most `most` whose product is `n`, as equal as can be found.
fn split_length(n: usize, count: usize, most: usize) -> Option<Vec<usize>> {
    if count == 1 {
        return (n <= most).then(|| vec![n]);
    }
    if most.checked_pow(count as u32).is_some_and(|product| product < n) {
        return None;
    }
    let equal = (n as f64).powf(1.0 / count as f64);
    let mut divisors: Vec<usize> = (2..=most.min(n)).filter(|d| n.is_multiple_of(*d)).collect();
    divisors.sort_by(|a, b| {
        let distance = |d: usize| (d as f64 / equal).ln().abs();
        distance(*a).total_cmp(&distance(*b))
    });
    divisors.into_iter().find_map(|first| {
        let mut lengths = split_length(n / first, count - 1, most)?;
        lengths.insert(0, first);
        Some(lengths)
    })
}

/// Butterflies whose product is `m`: as few as possible, of which threads get equal shares if possible, then as short as
/// possible, the longest first. `None` where they are more than a kernel has room for.
pub(super) fn factor_into_radices(m: usize, budget: ThreadBudget) -> Option<Vec<usize>> {
    if m == 1 {
        return Some(vec![1]);
    }
    let is_known = |r: usize| r <= budget.max_radix || [11, 13].contains(&r);
    let known: Vec<usize> = (2..=MAX_RADIX).rev().filter(|&r| is_known(r)).collect();
    (1..=FFT_STAGES).find_map(|count| choose_radices(m, count, &known, budget))
}

fn choose_radices(m: usize, count: usize, known: &[usize], budget: ThreadBudget) -> Option<Vec<usize>> {
    if count == 1 {
        return known.contains(&m).then(|| vec![m]);
    }
    let found = known.iter().enumerate().filter(|(_, r)| m.is_multiple_of(**r)).filter_map(|(at, &r)| {
        let mut rest = choose_radices(m / r, count - 1, &known[at..], budget)?;
        rest.insert(0, r);
        Some(rest)
    });
    found.min_by_key(|radices| (least_common_multiple(radices) > budget.elements, radices.iter().sum::<usize>()))
}

/// Elements of a thread that has as many of every butterfly.
fn least_common_multiple(radices: &[usize]) -> usize {
    fn greatest_common_divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { greatest_common_divisor(b, a % b) }
    }
    radices.iter().fold(1, |all, &r| all / greatest_common_divisor(all, r) * r)
}

/// A length of at least `least` that is quick to transform, for convolutions.
pub(super) fn next_fast_len(least: usize) -> usize {
    let multiples = [1, 3, 5, 7, 9, 15].map(|odd| odd * least.div_ceil(odd).next_power_of_two());
    multiples.into_iter().min().unwrap_or(least)
}

/// Threads of a transform of these butterflies: such that all have equal shares, unless they are large; then such that
/// each has one butterfly if these are about as long as each other, else one of the longest.
pub(super) fn threads_per_transform(radices: &[usize], budget: ThreadBudget) -> usize {
    let length: usize = radices.iter().product();
    let share = least_common_multiple(radices);
    if share <= budget.elements {
        return length / share;
    }
    let (shortest, longest) = radices.iter().fold((usize::MAX, 1), |(low, high), &r| (low.min(r), high.max(r)));
    length / if 2 * shortest > longest { shortest } else { longest }
}

/// What the transforms of a block may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockBudget {
    /// Elements of all of them.
    pub elements: usize,
    /// Threads of all of them.
    pub threads: usize,
}

/// Transforms of a block: as many as there is room for, but enough for columns to fill a sector of 32 bytes, and for
/// whole warps if there is room; a power of two, so that there are few kernels.
pub(super) fn transforms_per_block(
    length: usize,
    threads: usize,
    itemsize: usize,
    count: usize,
    budget: BlockBudget,
) -> usize {
    let sector = if length <= MAX_STRIDED_PASS_LENGTH { 32 / itemsize } else { 1 };
    let most = (budget.elements / length).min(budget.threads / threads).clamp(1, 128);
    let most = 1 << most.ilog2();
    let wanted = most.max(sector).min(count.next_power_of_two());
    let whole = WARP_THREADS >> threads.trailing_zeros().min(WARP_THREADS.trailing_zeros());
    let fits = whole * threads <= 512 && whole * length <= budget.elements;
    if fits { wanted.max(whole) } else { wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE_BUDGET: ThreadBudget = ThreadBudget { max_radix: 16, elements: 24 };

    fn fits(n: usize, itemsize: usize) -> bool {
        BlockLimits { shared_bytes: 48 << 10, itemsize, budget: ThreadBudget::SIMD_BUDGET }.fits_block(n)
    }

    #[test]
    fn passes_and_butterflies_multiply_to_the_length() {
        for n in (1..3000).chain([44100, 1 << 20, 1 << 22, 3 * 5 * 7 * 11 * 13, 13usize.pow(6), 1 << 33]) {
            if !is_smooth(n, MAX_PRIME_RADIX) {
                continue;
            }
            let passes = plan_pass_lengths(n, fits(n, 8), MAX_STRIDED_PASS_LENGTH).expect("passes");
            assert_eq!(passes.iter().product::<usize>(), n);
            for &m in &passes {
                for budget in [WIDE_BUDGET, ThreadBudget::SIMD_BUDGET] {
                    let radices = factor_into_radices(m, budget).expect("butterflies");
                    assert_eq!(radices.iter().product::<usize>(), m);
                    assert!(
                        radices.iter().all(|r| *r <= budget.max_radix.max(13)) && radices.is_sorted_by(|a, b| a >= b)
                    );
                    let threads = threads_per_transform(&radices, budget);
                    assert!(threads <= 1024 && m.is_multiple_of(threads));
                }
            }
        }
    }

    #[test]
    fn long_transforms_take_few_passes() {
        let lengths = |n, itemsize| plan_pass_lengths(n, fits(n, itemsize), MAX_STRIDED_PASS_LENGTH);
        assert_eq!(lengths(1 << 20, 8), Some(vec![1024, 1024]));
        assert_eq!(lengths(1 << 12, 8), Some(vec![4096]));
        assert_eq!(lengths(1 << 12, 16), Some(vec![64, 64]));
        assert_eq!(plan_pass_lengths(1 << 10, false, MAX_STRIDED_PASS_LENGTH), Some(vec![1024]));
        assert_eq!(plan_pass_lengths(1 << 12, false, MAX_STRIDED_PASS_LENGTH), Some(vec![64, 64]));
        assert_eq!(lengths(1 << 24, 8), Some(vec![256, 256, 256]));
        assert_eq!(factor_into_radices(1024, WIDE_BUDGET), Some(vec![16, 8, 8]));
        assert_eq!(factor_into_radices(1024, ThreadBudget::SIMD_BUDGET), Some(vec![8, 8, 4, 4]));
        assert_eq!(factor_into_radices(1000, WIDE_BUDGET), Some(vec![10, 10, 10]));
        assert_eq!(factor_into_radices(96, ThreadBudget::SIMD_BUDGET), Some(vec![6, 4, 4]));
        let threads = |budget| {
            [vec![16, 8, 8], vec![6, 4, 4], vec![15, 14]].map(|radices| threads_per_transform(&radices, budget))
        };
        assert_eq!(threads(WIDE_BUDGET), [64, 8, 15]);
        assert_eq!(threads(ThreadBudget::SIMD_BUDGET), [64, 24, 15]);
        assert!(!is_smooth(2 * 17, MAX_PRIME_RADIX) && is_smooth(2 * 17, 17));
    }

    #[test]
    fn next_fast_len_is_smooth_and_large_enough() {
        for n in 1..5000 {
            let m = next_fast_len(2 * n - 1);
            assert!((2 * n - 1..4 * n).contains(&m) && is_smooth(m, 7), "{n} {m}");
        }
    }
}
