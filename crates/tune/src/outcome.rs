//! Outcomes of measuring a configuration.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran with a correct result and has this score; lower is better. Seconds if the objective is time.
    Score(f64),
    /// It has no score.
    Failed(Failure),
}

impl Outcome {
    /// The score, if there is one.
    pub fn score(&self) -> Option<f64> {
        if let Self::Score(score) = self { Some(*score) } else { None }
    }
}

/// Why a configuration has no score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The stage that failed.
    pub kind: FailureKind,
    /// The error, for the user.
    pub message: String,
}

/// The stage at which a configuration failed, in the words of the T4 format for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FailureKind {
    /// The device cannot run it: too many threads or registers, or too much shared memory.
    Constraints,
    /// It does not compile.
    Compile,
    /// It did not launch, or stopped with an error.
    Runtime,
    /// It ran longer than allowed.
    Timeout,
    /// Its result is wrong.
    Correctness,
    /// It was not measured, because it could not have been the best.
    Skipped,
}

impl FailureKind {
    /// All kinds, with their names.
    pub const NAMES: &[(&str, FailureKind)] = &[
        ("constraints", FailureKind::Constraints),
        ("compile", FailureKind::Compile),
        ("runtime", FailureKind::Runtime),
        ("timeout", FailureKind::Timeout),
        ("correctness", FailureKind::Correctness),
        ("skipped", FailureKind::Skipped),
    ];
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::NAMES.iter().find(|(_, kind)| kind == self);
        f.write_str(known.map_or("unknown", |(name, _)| name))
    }
}

impl Failure {
    /// Makes a failure at a stage.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
