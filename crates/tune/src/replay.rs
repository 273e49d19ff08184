//! A recorded search in place of a device: every configuration's outcome and samples are known.

use crate::configurations::Configurations;
use crate::formats::kernel_tuner::KernelTunerCache;
use crate::outcome::Outcome;
use crate::random::Random;
use std::sync::Arc;

/// Recorded outcomes of all configurations of a space.
#[derive(Debug, Clone)]
pub struct Replay {
    space: Arc<Configurations>,
    outcomes: Vec<Outcome>,
    samples: Vec<Vec<f64>>,
}

impl Replay {
    /// The measurements of a cache file.
    pub fn new(cache: &KernelTunerCache) -> Self {
        let (space, entries) = cache.configurations();
        Self {
            space: space.into(),
            outcomes: entries.iter().map(|entry| entry.outcome.clone()).collect(),
            samples: entries.iter().map(|entry| entry.samples.clone()).collect(),
        }
    }

    /// The configurations.
    pub fn space(&self) -> &Arc<Configurations> {
        &self.space
    }

    /// What was recorded of a row.
    pub fn outcome(&self, row: u32) -> &Outcome {
        &self.outcomes[row as usize]
    }

    /// What one measurement may give: one of the recorded samples.
    pub fn noisy_outcome(&self, row: u32, random: &mut Random) -> Outcome {
        match (self.outcome(row), &self.samples[row as usize][..]) {
            (Outcome::Score(_), samples @ [_, ..]) => Outcome::Score(*random.choose(samples)),
            (outcome, _) => outcome.clone(),
        }
    }

    /// The lowest score of all.
    pub fn optimum(&self) -> Option<f64> {
        let score = |outcome: &Outcome| if let Outcome::Score(score) = outcome { Some(*score) } else { None };
        self.outcomes.iter().filter_map(score).min_by(f64::total_cmp)
    }
}
