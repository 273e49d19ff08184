//! Statistics of samples: medians, confidence intervals, and when to stop measuring.
//!
//! The first launch of a candidate is cold and never counts. Windows of launches are repeated until two agree, then
//! until the median is known precisely enough, or until the candidate can no longer be the best (racing).

use crate::outcome::Failure;

/// The median; the mean of the two middle values if their number is even. NaN without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The median absolute deviation from the median.
pub fn median_deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
}

/// The mean of the middle half of the values: for many readings of a coarse clock, it excludes delayed ones. NaN
/// without values.
pub fn interquartile_mean(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = &sorted[sorted.len() / 4..sorted.len() - sorted.len() / 4];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// An estimate with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The confidence of an interval, as the probability that the true value lies above it, or below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    tail: f64,
}

impl Confidence {
    /// 95 %: a tail of 2.5 % on either side.
    pub const P95: Self = Self { tail: 0.025 };

    /// Whether a chance this small says enough.
    fn excludes(self, chance: f64) -> bool {
        chance < self.tail
    }

    /// A joint confidence of 95 % for `count` comparisons (Bonferroni).
    pub fn shared_by(count: usize) -> Self {
        Self { tail: Self::P95.tail / count.max(1) as f64 }
    }
}

/// The geometric mean of the ratios of pairs, with its 95 % interval by Student's t; `None` for fewer than two pairs.
pub fn paired_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Interval> {
    paired_ratio_at(numerators, denominators, Confidence::P95)
}

/// [`paired_ratio`] with an interval of another confidence.
pub fn paired_ratio_at(numerators: &[f64], denominators: &[f64], confidence: Confidence) -> Option<Interval> {
    let logs: Vec<f64> = numerators.iter().zip(denominators).map(|(a, b)| (a / b).ln()).collect();
    if logs.len() < 2 {
        return None;
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_t_quantile(logs.len() - 1, 1.0 - confidence.tail) * (variance / n).sqrt();
    Some(Interval { value: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() })
}

/// Whether the second of two paired samples is lower, at this confidence: by Student's interval of their ratio, or by
/// the number of pairs in which it is lower (sign test), which a few disturbed samples hardly change.
pub fn is_lower(numerators: &[f64], denominators: &[f64], confidence: Confidence) -> bool {
    let pairs = numerators.iter().zip(denominators).filter(|(a, b)| a != b);
    let (mut count, mut wins) = (0, 0);
    for (a, b) in pairs {
        count += 1;
        wins += usize::from(b < a);
    }
    confidence.excludes(upper_binomial_tail(count, wins))
        || paired_ratio_at(numerators, denominators, confidence).is_some_and(|ratio| ratio.low > 1.0)
}

/// The chance of at least `wins` heads in `count` throws of a coin.
fn upper_binomial_tail(count: usize, wins: usize) -> f64 {
    let mut term = 0.5_f64.powi(count as i32);
    let mut tail = if wins == 0 { term } else { 0.0 };
    for k in 1..=count {
        term *= (count - k + 1) as f64 / k as f64;
        tail += if k >= wins { term } else { 0.0 };
    }
    tail
}

/// A quantile above the median of Student's t, by bisection of the distribution.
fn student_t_quantile(degrees: usize, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_t_distribution(degrees, high) < probability {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if student_t_distribution(degrees, middle) < probability { low = middle } else { high = middle }
    }
    high
}

/// The probability of values below `t`: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn student_t_distribution(degrees: usize, t: f64) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cosine, 0.0) } else { (1.0, 0.0) };
    // Terms with the powers of the cosine up to `degrees - 2`.
    for power in (usize::from(is_odd)..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
    }
    let within = if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    f64::midpoint(1.0, within)
}

/// How many windows are measured, and how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowPlan {
    /// Maximum number of windows.
    pub max_windows: usize,
    /// Minimum duration of a window in seconds.
    pub window_seconds: f64,
    /// Relative precision of the median at which measuring stops.
    pub precision: f64,
    /// A candidate is abandoned once it is certainly slower than the best by this fraction.
    pub racing: f64,
}

impl Default for WindowPlan {
    fn default() -> Self {
        Self { max_windows: 7, window_seconds: 2e-4, precision: 5e-3, racing: 0.05 }
    }
}

const MAX_LAUNCHES: f64 = 10_000.0;
const MAX_WARM_UP_WINDOWS: usize = 5;
/// Two windows agree when they differ by less.
const AGREEMENT: f64 = 0.02;

/// Measures windows of a candidate, in seconds per launch. `best` is the score to beat.
///
/// # Errors
/// The candidate's failure.
pub fn measure_windows(
    plan: &WindowPlan,
    tick_seconds: f64,
    best: Option<f64>,
    time: &mut dyn FnMut(u32) -> Result<f64, Failure>,
) -> Result<Vec<f64>, Failure> {
    // Cold: code is loaded, caches are empty, clocks are low.
    time(1)?;
    let mut once = time(1)?;
    let is_far_behind = |once: f64| best.is_some_and(|best| once > 3.0 * best) && once > 100.0 * tick_seconds;
    if is_far_behind(once) {
        // Something else may have had the device.
        once = once.min(time(1)?);
    }
    if is_far_behind(once) {
        return Ok(vec![once]);
    }
    let least = plan.window_seconds.max(100.0 * tick_seconds);
    let launches_of = |seconds: f64| (least / seconds.max(1e-9)).ceil().clamp(1.0, MAX_LAUNCHES) as u32;
    let mut launches = launches_of(once);
    let mut previous = time(launches)?;
    // One launch by itself can take much longer than one of many.
    if 2.0 * previous < once && launches_of(previous) > launches {
        launches = launches_of(previous);
        previous = time(launches)?;
    }
    for _ in 0..MAX_WARM_UP_WINDOWS {
        let next = time(launches)?;
        let agrees = (next / previous - 1.0).abs() < AGREEMENT;
        previous = next;
        if agrees {
            break;
        }
    }
    let mut windows = vec![previous];
    while windows.len() < plan.max_windows.max(1) {
        windows.push(time(launches)?);
        if windows.len() >= 3 && is_decided(plan, &windows, best) {
            break;
        }
    }
    Ok(windows)
}

/// Whether more windows would change nothing.
fn is_decided(plan: &WindowPlan, windows: &[f64], best: Option<f64>) -> bool {
    let middle = median(windows);
    let error = 1.4826 * median_deviation(windows) / (windows.len() as f64).sqrt();
    let is_behind = best.is_some_and(|best| middle - 2.0 * error > best * (1.0 + plan.racing));
    is_behind || 2.0 * error < plan.precision * middle && windows.len() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// A clock that is slow at first, has noise, and counts its launches.
    fn noisy_clock(seconds: f64, noise: f64, launches: &mut u64) -> impl FnMut(u32) -> Result<f64, Failure> {
        let mut random = Random::new(7);
        let mut calls = 0;
        move |n| {
            *launches += u64::from(n);
            calls += 1;
            let cold = if calls == 1 {
                20.0
            } else if calls == 2 {
                1.3
            } else {
                1.0
            };
            Ok(seconds * cold * (1.0 + noise * random.unit()))
        }
    }

    #[test]
    fn the_cold_launch_never_counts() {
        let mut launches = 0;
        let windows =
            measure_windows(&WindowPlan::default(), 1e-6, None, &mut noisy_clock(1e-5, 0.01, &mut launches)).unwrap();
        assert!(windows.iter().all(|window| (1e-5..1.02e-5).contains(window)), "{windows:?}");
        assert!((16 * 4..16 * 14).contains(&launches), "windows of 200 us: {launches}");
    }

    #[test]
    fn windows_are_made_longer_where_single_launches_mislead() {
        let mut counts = Vec::new();
        let mut clock = |n: u32| {
            counts.push(n);
            Ok(if n == 1 { 1e-5 } else { 1e-6 })
        };
        measure_windows(&WindowPlan::default(), 1e-6, None, &mut clock).unwrap();
        assert_eq!(counts[..3], [1, 1, 20]);
        assert!(counts[3..].iter().all(|&n| (200..=201).contains(&n)), "{counts:?}");
    }

    #[test]
    fn candidates_that_are_behind_are_given_up() {
        let count = |best| {
            let mut launches = 0;
            let mut clock = noisy_clock(1e-2, 0.2, &mut launches);
            let windows = measure_windows(&WindowPlan::default(), 1e-6, best, &mut clock).unwrap();
            windows.len()
        };
        assert_eq!(count(Some(1e-3)), 1, "one launch says enough");
        assert_eq!(count(Some(7e-3)), 3, "racing");
        assert_eq!(count(Some(1e-2)), 7);
    }

    #[test]
    fn disturbed_samples_do_not_hide_what_is_lower() {
        let slow = [2.3; 16];
        let mut fast = [1.0; 16];
        (fast[3], fast[11]) = (5.0, 50.0);
        assert!(paired_ratio(&slow, &fast).unwrap().low < 1.0);
        assert!(is_lower(&slow, &fast, Confidence::shared_by(5)) && !is_lower(&fast, &slow, Confidence::P95));
        assert!(!is_lower(&slow[..8], &fast[..8], Confidence::shared_by(5)), "eight rounds are too few");
        assert!(!is_lower(&slow, &slow, Confidence::P95));
        assert_eq!(upper_binomial_tail(8, 8), 1.0 / 256.0);
        assert_eq!(upper_binomial_tail(8, 7), 9.0 / 256.0);
        assert_eq!(upper_binomial_tail(3, 0), 1.0);
    }

    #[test]
    fn a_launch_that_something_delayed_is_made_again() {
        let mut calls = 0;
        let mut clock = |_| {
            calls += 1;
            Ok(if calls == 2 { 1e-2 } else { 1e-3 })
        };
        let windows = measure_windows(&WindowPlan::default(), 1e-6, Some(2e-3), &mut clock).unwrap();
        assert!(windows.len() >= 3 && median(&windows) == 1e-3, "{windows:?}");
    }

    #[test]
    fn ratios_have_intervals() {
        let ratio = paired_ratio(&[2.0, 4.2, 8.0, 3.9], &[1.0, 2.0, 4.0, 2.0]).unwrap();
        assert!(ratio.low < 2.0 && 2.0 < ratio.high && ratio.high < 2.15, "{ratio:?}");
        assert_eq!(paired_ratio(&[1.0], &[1.0]), None);
        let wide = paired_ratio_at(&[2.0, 4.2, 8.0, 3.9], &[1.0, 2.0, 4.0, 2.0], Confidence::shared_by(5)).unwrap();
        assert!(wide.low < ratio.low && wide.value == ratio.value && wide.high > ratio.high, "{wide:?}");
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
        assert_eq!(median_deviation(&[1.0, 2.0, 30.0]), 1.0);
        assert_eq!(interquartile_mean(&[1.0, 2.0, 4.0, 90.0]), 3.0);
        assert_eq!(interquartile_mean(&[7.0]), 7.0);
    }

    #[test]
    fn quantiles_of_student_are_those_of_the_tables() {
        let table = [(1, 0.975, 12.706), (2, 0.975, 4.303), (6, 0.975, 2.447), (6, 0.995, 3.707), (30, 0.975, 2.042)];
        for (degrees, probability, expected) in table {
            let quantile = student_t_quantile(degrees, probability);
            assert!((quantile - expected).abs() < 6e-4, "{degrees} {probability}: {quantile}");
        }
    }
}
