//! What measuring a configuration gave.

use serde::{Deserialize, Serialize};

/// What became of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran, its result was right, and this is its score: the lower the better. Seconds, where the objective is time.
    Score(f64),
    /// It has no score.
    Failed(Failure),
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
