//! What measuring a configuration gave.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran, its result was right, and this is its score: the lower the better. Seconds, where the objective is time.
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

/// The stage at which a configuration failed. The words are those of the T4 format for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FailureKind {
    /// The device cannot run it: too many threads, registers, bytes of shared memory.
    Constraints,
    /// It does not compile.
    Compile,
    /// It does not launch, or it stopped with an error.
    Runtime,
    /// It ran longer than it may.
    Timeout,
    /// Its result is wrong.
    Correctness,
    /// It was not measured, since it could not have been the best.
    Skipped,
}

impl FailureKind {
    /// All kinds, with the words for them.
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
    /// A failure at a stage.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
