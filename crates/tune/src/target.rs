//! What is tuned: something that compiles, loads, verifies and times candidates.

use crate::configurations::Config;
use crate::outcome::Failure;
use crate::trial::{Resources, TrialReport, WindowKind};
use std::sync::Arc;

/// Compiles a candidate; called on several threads at once, without a context.
pub type Compiler<C> = Arc<dyn Fn(&Config) -> Result<C, Failure> + Send + Sync>;

/// A kernel or anything else whose candidates are measured. All methods but the compiler's run on the thread of the
/// tuner.
pub trait Target {
    /// A compiled candidate.
    type Compiled: Send;

    /// Compiles ahead of measuring.
    fn compiler(&self) -> Compiler<Self::Compiled>;

    /// Makes a candidate the one that is verified and timed next.
    ///
    /// # Errors
    /// When it cannot run on the device.
    fn load(&mut self, config: &Config, compiled: &Self::Compiled) -> Result<Resources, Failure>;

    /// Runs the loaded candidate once and compares what it computed.
    ///
    /// # Errors
    /// When it fails, or its result is wrong.
    fn verify(&mut self) -> Result<(), Failure>;

    /// Seconds of one launch of the loaded candidate, as the mean over a window of `launches`. Or the score of whatever
    /// is minimised.
    ///
    /// # Errors
    /// When it fails.
    fn time(&mut self, launches: u32) -> Result<f64, Failure>;

    /// Checks a candidate that may be chosen, at the end of a search, by what is too slow for all of them.
    ///
    /// # Errors
    /// When the candidate must not be chosen.
    fn check(&mut self, config: &Config) -> Result<(), Failure> {
        let _ = config;
        Ok(())
    }

    /// As [`Target::time`], without restoring anything before: launches that are repeated for their energy, which
    /// restoring would add to.
    ///
    /// # Errors
    /// When it fails.
    fn repeat(&mut self, launches: u32) -> Result<f64, Failure> {
        self.time(launches)
    }

    /// How the last windows were timed, where that is known.
    fn window_kind(&self) -> Option<WindowKind> {
        None
    }

    /// More numbers about the trial that was just timed, by the names of their columns. Its score is that of the
    /// objective, or seconds where the objective is one of these columns.
    ///
    /// # Errors
    /// When the candidate is to count as a failure.
    fn observe(&mut self, _trial: &TrialReport) -> Result<Vec<(String, f64)>, Failure> {
        Ok(Vec::new())
    }

    /// The resolution of the clock that times windows.
    fn tick_seconds(&self) -> f64 {
        1e-6
    }

    /// Whether several windows say more than one; not so where scores are exact.
    fn is_noisy(&self) -> bool {
        true
    }

    /// Whether the caller has ended the search in the middle of what the target was asked to do.
    fn is_interrupted(&self) -> bool {
        false
    }
}
