//! The interface of a tuning target, which compiles, loads, verifies and times candidates.

use crate::configurations::Config;
use crate::outcome::Failure;
use crate::trial::{Resources, TrialReport, WindowKind};
use std::sync::Arc;

/// Compiles a candidate; called on several threads at once, without a current context.
pub type Compiler<C> = Arc<dyn Fn(&Config) -> Result<C, Failure> + Send + Sync>;

/// A kernel, or anything else whose candidates can be measured. All methods run on the tuner's thread, except for the
/// compiler.
pub trait Target {
    /// A compiled candidate.
    type Compiled: Send;

    /// Returns a function that compiles candidates ahead of their measurement.
    fn compiler(&self) -> Compiler<Self::Compiled>;

    /// Loads a candidate, which is verified and timed next.
    ///
    /// # Errors
    /// When it cannot run on the device.
    fn load(&mut self, config: &Config, compiled: &Self::Compiled) -> Result<Resources, Failure>;

    /// Runs the loaded candidate once and checks its result.
    ///
    /// # Errors
    /// When it fails, or its result is wrong.
    fn verify(&mut self) -> Result<(), Failure>;

    /// Times the loaded candidate: seconds per launch, averaged over a window of `launches`. Or another score to
    /// minimise.
    ///
    /// # Errors
    /// When it fails.
    fn time(&mut self, launches: u32) -> Result<f64, Failure>;

    /// Checks a candidate that may be chosen, at the end of a search, by checks that are too slow for all candidates.
    ///
    /// # Errors
    /// When the candidate must not be chosen.
    fn check(&mut self, config: &Config) -> Result<(), Failure> {
        let _ = config;
        Ok(())
    }

    /// Like [`Target::time`], but without restoring anything before: these launches are repeated to measure energy, to
    /// which restoring would add.
    ///
    /// # Errors
    /// When it fails.
    fn repeat(&mut self, launches: u32) -> Result<f64, Failure> {
        self.time(launches)
    }

    /// How the last windows were timed, if known.
    fn window_kind(&self) -> Option<WindowKind> {
        None
    }

    /// Further numbers about the trial that was just timed, by column name. The trial's score is that of the objective,
    /// or seconds if the objective is one of these columns.
    ///
    /// # Errors
    /// When the candidate should count as failed.
    fn observe(&mut self, _trial: &TrialReport) -> Result<Vec<(String, f64)>, Failure> {
        Ok(Vec::new())
    }

    /// The resolution of the clock that times windows.
    fn tick_seconds(&self) -> f64 {
        1e-6
    }

    /// Whether several windows tell more than one; false if scores are exact.
    fn is_noisy(&self) -> bool {
        true
    }

    /// Whether the caller has ended the search during a call of the target.
    fn is_interrupted(&self) -> bool {
        false
    }
}
