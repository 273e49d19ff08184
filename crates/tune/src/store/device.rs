//! The device that results were measured on.

use super::error::printable_name;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A device and its toolchain. Results of one back end are never offered to another: the virtual GPU also reports a
/// compute capability, but its times are those of a CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceKey {
    /// `cuda`, `virtual` or the like.
    pub backend: String,
    /// The device's name.
    pub name: String,
    /// Compute capability, as ten times the major number plus the minor number; 0 if there is none.
    pub compute_capability: u32,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// The peak clock of its memory, in kHz, which distinguishes cards of the same name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory_clock_khz: Option<u32>,
    /// The driver version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver: Option<String>,
    /// The compiler and its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub compiler: Option<String>,
}

/// How near a device is to another; nearer ones are less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    Same,
    SameComputeCapability,
    SameGeneration,
}

impl DeviceKey {
    /// Whether this is the same kind of device, whatever the driver and compiler versions. An unknown clock matches
    /// any.
    pub fn is_same_device(&self, other: &Self) -> bool {
        let identity = |key: &Self| (key.compute_capability, key.multiprocessors);
        let is_same_clock = match (self.memory_clock_khz, other.memory_clock_khz) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        (&self.backend, &self.name) == (&other.backend, &other.name)
            && identity(self) == identity(other)
            && is_same_clock
    }

    /// Whether driver and compiler have the same versions, as far as known.
    pub fn is_same_toolchain(&self, other: &Self) -> bool {
        let agree =
            |ours: &Option<String>, theirs: &Option<String>| ours.is_none() || theirs.is_none() || ours == theirs;
        agree(&self.driver, &other.driver) && agree(&self.compiler, &other.compiler)
    }

    /// `None` where results of one mean nothing for the other.
    pub(super) fn relation(&self, other: &Self) -> Option<Relation> {
        if self.backend != other.backend {
            return None;
        }
        if self.is_same_device(other) {
            return Some(Relation::Same);
        }
        match (self.compute_capability, other.compute_capability) {
            (0, _) | (_, 0) => None,
            (ours, theirs) if ours == theirs => Some(Relation::SameComputeCapability),
            (ours, theirs) if ours / 10 == theirs / 10 => Some(Relation::SameGeneration),
            _ => None,
        }
    }

    /// How much larger one is than the other, among devices of one relation: by the logarithms of the ratios of
    /// multiprocessors and memory clocks.
    pub(super) fn size_distance(&self, other: &Self) -> f64 {
        let ratio = |ours: u32, theirs: u32| (f64::from(ours.max(1)) / f64::from(theirs.max(1))).log2().abs();
        let clocks = self.memory_clock_khz.zip(other.memory_clock_khz);
        ratio(self.multiprocessors, other.multiprocessors) + clocks.map_or(0.0, |(ours, theirs)| ratio(ours, theirs))
    }

    /// Refuses what no device of ours is called.
    pub(super) fn check(&self) -> Result<(), String> {
        let texts = [Some(&self.backend), Some(&self.name), self.driver.as_ref(), self.compiler.as_ref()];
        for text in texts.into_iter().flatten() {
            if text.len() > 256 || text.chars().any(char::is_control) {
                return Err(format!("device: {} is no name of at most 256 printable bytes", printable_name(text)));
            }
        }
        if self.backend.is_empty() { Err("device: its back end has no name".into()) } else { Ok(()) }
    }
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.backend)
    }
}
