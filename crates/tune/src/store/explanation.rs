//! Which configuration a device and a problem get, and why.

use super::device::{DeviceKey, Relation};
use super::problem::Problem;
use crate::configurations::Config;
use crate::objective::format_seconds;
use crate::strict_json::printable;
use std::fmt;

/// How close the device and problem of a result are to those requested; closer ones compare as less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// This device, this problem.
    Exact,
    /// This device, the nearest problem.
    SameDevice,
    /// Another device of this compute capability.
    SameComputeCapability,
    /// Another device of this generation (the same major compute capability).
    SameGeneration,
}

impl Closeness {
    pub(super) fn new(relation: Relation, is_same_problem: bool) -> Self {
        match relation {
            Relation::Same if is_same_problem => Self::Exact,
            Relation::Same => Self::SameDevice,
            Relation::SameComputeCapability => Self::SameComputeCapability,
            Relation::SameGeneration => Self::SameGeneration,
        }
    }
}

/// A result that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its configuration.
    pub config: Config,
    /// How close it is.
    pub closeness: Closeness,
    /// Whether driver and compiler had the present versions, as far as known.
    pub is_same_toolchain: bool,
    /// The device that it was measured on.
    pub device: DeviceKey,
    /// The problem that it was measured for.
    pub problem: Problem,
    /// Its score in seconds.
    pub score: f64,
    /// Whether a search chose it; otherwise it was the fastest of those that were measured.
    pub is_chosen: bool,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.closeness {
            Closeness::Exact => "measured on this device for this problem",
            Closeness::SameDevice => "measured on this device, for the nearest problem",
            Closeness::SameComputeCapability => "measured on another device of this compute capability",
            Closeness::SameGeneration => "measured on another device of this generation",
        };
        let with = if self.is_same_toolchain { "" } else { ", with another driver or compiler" };
        let (device, problem) = (self.device.to_string(), self.problem.to_string());
        let (device, problem, score) = (printable(&device), printable(&problem), format_seconds(self.score));
        write!(f, "{}: {why}{with} ({device}; {problem}; {score})", printable(&self.config.to_string()))
    }
}

/// The configuration to use, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The configuration: that of the result found, or the default.
    pub config: Config,
    /// The result, if one applies.
    pub found: Option<Found>,
    /// The number of closer results that were refused because the space does not declare their configurations.
    pub n_refused: usize,
    /// The number of the kernel's results that have a score.
    pub n_results: usize,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.found, self.n_results) {
            (Some(found), _) => write!(f, "{found}")?,
            (None, 0) => write!(f, "{}: the default, since nothing is stored for this kernel", self.config)?,
            (None, n) => write!(
                f,
                "{}: the default, since none of {n} results is for a device or problem like this",
                self.config
            )?,
        }
        match self.n_refused {
            0 => Ok(()),
            n => write!(f, "; {n} nearer results are left out, since the space does not have their configurations"),
        }
    }
}
