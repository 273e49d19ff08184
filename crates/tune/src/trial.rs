//! A trial of one configuration: the resources it needs, how it was timed, and what was observed.

use crate::configurations::Config;
use crate::outcome::Outcome;
use serde::{Deserialize, Serialize};

/// The device resources of a loaded candidate; unknown ones are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers per thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registers: Option<u32>,
    /// Bytes of spilled registers per thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spill_bytes: Option<u64>,
    /// Shared memory per block in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shared_bytes: Option<u64>,
    /// Resident threads of a multiprocessor divided by the maximum, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub occupancy: Option<f64>,
}

/// How the launches of a window are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WindowKind {
    /// Back to back, between two events.
    Launches,
    /// As nodes of a graph, between two events: for kernels that are shorter than their launch overhead.
    Graph,
    /// Each between two events of its own, after flushing the caches.
    Cold,
}

impl WindowKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launches => "launches",
            Self::Graph => "graph",
            Self::Cold => "cold",
        }
    }

    /// Finds the kind with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Launches, Self::Graph, Self::Cold].into_iter().find(|kind| kind.name() == name)
    }
}

/// A configuration that was tried, with its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialReport {
    /// Its row among the configurations.
    pub row: u32,
    /// The configuration.
    pub config: Config,
    /// Its score by the objective (lower is better), or its failure.
    pub outcome: Outcome,
    /// The measured windows, in seconds per launch.
    pub samples: Vec<f64>,
    /// How the windows were timed.
    pub window: Option<WindowKind>,
    /// Readings of sensors and observers, by column name.
    pub observed: Vec<(String, f64)>,
    /// The resources that it needs, if it was loaded.
    pub resources: Option<Resources>,
    /// Compile time in seconds, on one of the threads.
    pub compile_seconds: f64,
    /// Time for loading, verifying and timing in seconds.
    pub measure_seconds: f64,
    /// Seconds since the start of the search.
    pub at_seconds: f64,
}

impl TrialReport {
    /// The reading of a sensor or an observer.
    pub fn observation(&self, name: &str) -> Option<f64> {
        self.observed.iter().find_map(|(known, value)| (known == name).then_some(*value))
    }

    /// The number in a column: `score`, `registers`, `spill_bytes`, `shared_bytes`, `occupancy`, `compile_seconds`,
    /// `measure_seconds`, an observation, or a parameter.
    pub fn number(&self, column: &str) -> Option<f64> {
        let resources = self.resources.as_ref();
        match column {
            "score" => match self.outcome {
                Outcome::Score(score) => Some(score),
                Outcome::Failed(_) => None,
            },
            "registers" => resources?.registers.map(f64::from),
            "spill_bytes" => resources?.spill_bytes.map(|n_bytes| n_bytes as f64),
            "shared_bytes" => resources?.shared_bytes.map(|n_bytes| n_bytes as f64),
            "occupancy" => resources?.occupancy,
            "compile_seconds" => Some(self.compile_seconds),
            "measure_seconds" => Some(self.measure_seconds),
            _ => self.observation(column).or_else(|| self.config.get(column)?.as_f64()),
        }
    }
}
