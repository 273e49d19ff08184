//! One configuration that was tried: what it needs of the device, how it was timed, what was seen.

use crate::configurations::Config;
use crate::outcome::Outcome;
use serde::{Deserialize, Serialize};

/// What a loaded candidate needs of the device; unknown things are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers of a thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registers: Option<u32>,
    /// Bytes of registers that were spilled to memory, per thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spill_bytes: Option<u64>,
    /// Bytes of shared memory of a block.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shared_bytes: Option<u64>,
    /// Resident threads of a multiprocessor over those it can hold, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub occupancy: Option<f64>,
}

/// How the launches of a window are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WindowKind {
    /// One after the other, between two events.
    Launches,
    /// As nodes of a graph, between two events: for kernels that take less time than their launch.
    Graph,
    /// Each between two events of its own, after the caches were flushed.
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

    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Launches, Self::Graph, Self::Cold].into_iter().find(|kind| kind.name() == name)
    }
}

/// One configuration that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialReport {
    /// Its row among the configurations.
    pub row: u32,
    /// The configuration.
    pub config: Config,
    /// Its score by the objective, the lower the better, or its failure.
    pub outcome: Outcome,
    /// The windows that were measured: seconds of a launch each.
    pub samples: Vec<f64>,
    /// How the windows were timed.
    pub window: Option<WindowKind>,
    /// What sensors and observers said, by the names of columns.
    pub observed: Vec<(String, f64)>,
    /// What it needs of the device, where it was loaded.
    pub resources: Option<Resources>,
    /// Seconds of compiling, on one of the threads.
    pub compile_seconds: f64,
    /// Seconds of loading, verifying and timing.
    pub measure_seconds: f64,
    /// Seconds since the search began.
    pub at_seconds: f64,
}

impl TrialReport {
    /// What a sensor or an observer said.
    pub fn observation(&self, name: &str) -> Option<f64> {
        self.observed.iter().find_map(|(known, value)| (known == name).then_some(*value))
    }

    /// The number in a column: `score`, `registers`, `spill_bytes`, `shared_bytes`, `occupancy`, `compile_seconds`,
    /// `measure_seconds`, what was observed, or a parameter.
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
