//! The decision at the end of a search: the best candidates are checked, and one replaces the default only if the
//! interleaved rounds show that it is faster with confidence.

use super::{Event, Tuning};
use crate::outcome::{FailureKind, Outcome};
use crate::report::Finalist;
use crate::statistics::{Confidence, is_lower, median, paired_ratio};
use crate::target::Target;
use crate::trial::TrialReport;

/// Ratios below this are no reason to take more registers.
const NEGLIGIBLE_RATIO: f64 = 1.01;

impl<C: Send> Tuning<'_, C> {
    /// Checks the default and the best candidates, until `count` have passed. One that fails is a failed trial from
    /// then on, and the next best takes its place.
    pub(super) fn check_finalists<T: Target<Compiled = C>>(&mut self, target: &mut T, count: usize) {
        let mut ranked: Vec<(usize, f64)> =
            self.trials.iter().enumerate().filter_map(|(place, trial)| Some((place, trial.outcome.score()?))).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let mut passed = 0;
        for (place, _) in ranked {
            let trial = &mut self.trials[place];
            if passed >= count && Some(trial.row) != self.default {
                continue;
            }
            let Err(failure) = target.check(&trial.config) else {
                passed += 1;
                continue;
            };
            if failure.kind == FailureKind::Skipped {
                // The caller ended it, which says nothing about the candidate.
                return;
            }
            trial.outcome = Outcome::Failed(failure);
            self.search.tell(trial.row, trial.outcome.clone());
            self.kept.remove(&trial.row);
            let best = self.search.history().best().map(|(_, score)| score);
            // The search has ended; what is left is to keep what was found.
            let _ = (self.on_event)(Event::Tried(trial, best));
        }
    }
}

/// Medians that differ by more are no noise: rounds go on until the difference is confirmed.
const LARGE_RATIO: f64 = 1.05;

/// The finalist with the best median.
fn fastest(finalists: &[Finalist]) -> Option<&Finalist> {
    finalists.iter().min_by(|a, b| median(&a.samples).total_cmp(&median(&b.samples)))
}

/// Whether a finalist is surely faster than the default. The best of several is compared: the chance that any of them is
/// taken for faster is what the confidence limits (Bonferroni).
fn beats(finalist: &Finalist, default: &Finalist, finalists: &[Finalist]) -> bool {
    is_lower(&default.samples, &finalist.samples, Confidence::shared_by(finalists.len() - 1))
}

/// The finalist whose median is far below that of the default without being surely faster, and the ratio of the medians.
pub(super) fn unconfirmed_winner(finalists: &[Finalist], default: Option<u32>) -> Option<(u32, f64)> {
    let best = fastest(finalists)?;
    let slow = finalists.iter().find(|finalist| Some(finalist.row) == default)?;
    let ratio = median(&slow.samples) / median(&best.samples);
    (ratio > LARGE_RATIO && !beats(best, slow, finalists)).then_some((best.row, ratio))
}

/// The finalist with the best median, if it is surely faster than the default; otherwise the default. Of finalists that
/// are as good as the best, the one that needs the fewest registers.
pub(super) fn choose_winner(finalists: &[Finalist], default: Option<u32>, trials: &[TrialReport]) -> Option<u32> {
    let best = fastest(finalists)?;
    let slow = finalists.iter().find(|finalist| Some(finalist.row) == default);
    let beats_default = |finalist: &Finalist| slow.is_none_or(|slow| beats(finalist, slow, finalists));
    if let Some(slow) = slow.filter(|_| !beats_default(best)) {
        return Some(slow.row);
    }
    let is_as_good = |finalist: &&Finalist| {
        finalist.row == best.row
            || beats_default(finalist)
                && paired_ratio(&finalist.samples, &best.samples)
                    .is_some_and(|ratio| ratio.low <= 1.0 && ratio.value < NEGLIGIBLE_RATIO)
    };
    let registers = |row: u32| {
        let trial = trials.iter().find(|trial| trial.row == row);
        trial.and_then(|trial| trial.resources.as_ref()?.registers).unwrap_or(u32::MAX)
    };
    let order = |finalist: &&Finalist| (registers(finalist.row), finalist.row != best.row, finalist.row);
    finalists.iter().filter(is_as_good).min_by_key(order).map(|finalist| finalist.row)
}

#[cfg(test)]
mod tests {
    use super::super::FINAL_ROUNDS;
    use super::*;
    use crate::Random;

    fn finalist(row: u32, samples: impl IntoIterator<Item = f64>) -> Finalist {
        Finalist { samples: samples.into_iter().collect(), ..Finalist::new(row) }
    }

    #[test]
    fn a_faster_median_within_the_noise_is_no_reason_to_leave_the_default() {
        // 3 % faster in the median, slower in three of eight rounds.
        let slow = finalist(0, [1.00, 1.10, 0.95, 1.04, 0.98, 1.06, 1.03, 1.04]);
        let fast = finalist(1, [1.02, 1.00, 0.97, 0.99, 1.01, 0.96, 0.98, 0.99]);
        assert!(median(&fast.samples) < 0.97 * median(&slow.samples));
        assert_eq!(choose_winner(&[fast, slow], Some(0), &[]), Some(0));
    }

    #[test]
    fn what_is_surely_faster_wins() {
        let slow = finalist(0, [1.00, 1.02, 0.99, 1.01, 1.00, 1.01, 0.99]);
        let fast = finalist(1, [0.97, 0.98, 0.96, 0.97, 0.97, 0.98, 0.96]);
        assert_eq!(choose_winner(&[slow, fast.clone()], Some(0), &[]), Some(1));
        let unpaired = finalist(0, [2.0]);
        assert_eq!(choose_winner(&[fast.clone(), unpaired], Some(0), &[]), Some(0), "one round says nothing");
        assert_eq!(choose_winner(&[fast], Some(0), &[]), Some(1), "the default failed");
    }

    #[test]
    fn one_disturbed_round_hides_no_difference() {
        let slow = finalist(0, [1.00, 1.02, 5.00, 1.01, 1.00, 1.01, 0.99, 1.00]);
        let fast = finalist(1, [0.80, 0.81, 0.80, 0.80, 0.81, 0.80, 0.79, 0.80]);
        assert!(paired_ratio(&slow.samples, &fast.samples).unwrap().low < 1.0);
        assert_eq!(choose_winner(&[slow, fast], Some(0), &[]), Some(1));
    }

    #[test]
    fn of_equal_candidates_the_default_wins_in_nineteen_of_twenty_searches() {
        let mut random = Random::new(11);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut losses = 0;
        for _ in 0..2000 {
            let finalists: Vec<_> = (0..6)
                .map(|row| finalist(row, (0..FINAL_ROUNDS).map(|_| 1.0 + 0.02 * normal()).collect::<Vec<_>>()))
                .collect();
            losses += usize::from(choose_winner(&finalists, Some(0), &[]) != Some(0));
        }
        // Compared one by one at 95 %, it would lose in about 200.
        assert!((10..=100).contains(&losses), "{losses} of 2000");
    }
}
