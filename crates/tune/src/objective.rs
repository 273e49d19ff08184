//! What a search minimises, and how its scores are displayed.
//!
//! A search minimises a score. If the objective is maximised, its score is the negative value; for bandwidth and FLOP/s
//! the score is the time, which orders configurations in the same way.

use crate::outcome::{Failure, FailureKind};
use crate::trial::TrialReport;

/// The name under which a stored problem records an objective whose scores are not times, so that they are never
/// mistaken for times. It is not a valid parameter name.
pub const OBJECTIVE_NAME: &str = "@objective";

/// The objective of a search.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum Objective {
    /// Seconds per launch.
    #[default]
    Time,
    /// A score that the target measures instead of seconds.
    Score {
        /// Whether more is better.
        maximize: bool,
    },
    /// Joules per launch, from the device's sensors.
    Energy,
    /// Bandwidth of a launch that must move this many bytes.
    Bandwidth {
        /// Bytes.
        bytes: f64,
    },
    /// Rate of a launch that does this many floating-point operations.
    Flops {
        /// Operations.
        flops: f64,
    },
    /// A column of the trials, filled by an observer.
    Column {
        /// Its name.
        name: String,
        /// Whether more is better.
        maximize: bool,
    },
}

impl Objective {
    /// Finds an objective by name: `time`, `score`, `energy`, `bandwidth` (which needs `bytes`), `flops` (which needs
    /// `flops`), or a column. Only scores and columns can be maximised.
    ///
    /// ```
    /// use rtcg_tune::Objective;
    ///
    /// let bandwidth = Objective::by_name("bandwidth", false, Some(8e6), None)?;
    /// assert_eq!(bandwidth.format(2e-6), "4000 GB/s");
    /// assert!(Objective::by_name("time", true, None, None).is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// When the arguments are invalid; the message says why.
    pub fn by_name(name: &str, maximize: bool, bytes: Option<f64>, flops: Option<f64>) -> Result<Self, String> {
        let amount = |given: Option<f64>, what: &str| {
            let positive = given.filter(|given| *given > 0.0 && given.is_finite());
            positive.ok_or_else(|| format!("objective is \"{name}\"; expected {what}= with the {what} of a launch"))
        };
        let objective = match name {
            "time" => Self::Time,
            "energy" => Self::Energy,
            "bandwidth" => Self::Bandwidth { bytes: amount(bytes, "bytes")? },
            "flops" => Self::Flops { flops: amount(flops, "flops")? },
            "score" => return Ok(Self::Score { maximize }),
            "" => return Err("objective is \"\"; expected time, energy, bandwidth, flops, or a column".to_owned()),
            _ => return Ok(Self::Column { name: name.to_owned(), maximize }),
        };
        if maximize {
            return Err(format!("maximize is true; objective \"{name}\" has its direction"));
        }
        Ok(objective)
    }

    /// Its name, which is also the column of its values.
    pub fn name(&self) -> &str {
        match self {
            Self::Time => "time",
            Self::Score { .. } => "score",
            Self::Energy => "energy",
            Self::Bandwidth { .. } => "bandwidth",
            Self::Flops { .. } => "flops",
            Self::Column { name, .. } => name,
        }
    }

    /// The value that a stored problem has for [`OBJECTIVE_NAME`]; `None` if scores are seconds.
    /// [`Objective::of_stored`] reads it.
    pub fn stored_name(&self) -> Option<String> {
        let direction = if self.is_maximized() { "maximize " } else { "" };
        (!self.is_time()).then(|| format!("{direction}{}", self.name()))
    }

    /// Converts the value from [`Objective::stored_name`] back.
    pub fn of_stored(name: &str) -> Self {
        match name.strip_prefix("maximize ") {
            Some(name) => Self::Column { name: name.to_owned(), maximize: true },
            None if name == "energy" => Self::Energy,
            None if name == "time" => Self::Time,
            None => Self::Column { name: name.to_owned(), maximize: false },
        }
    }

    /// The unit of its values; empty if unknown.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Energy => "J",
            Self::Bandwidth { .. } => "GB/s",
            Self::Flops { .. } => "GFLOP/s",
            Self::Score { .. } | Self::Column { .. } => "",
        }
    }

    /// Whether scores are seconds.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Time | Self::Bandwidth { .. } | Self::Flops { .. })
    }

    /// Whether higher values are better.
    pub fn is_maximized(&self) -> bool {
        match self {
            Self::Time | Self::Energy => false,
            Self::Bandwidth { .. } | Self::Flops { .. } => true,
            Self::Score { maximize } | Self::Column { maximize, .. } => *maximize,
        }
    }

    /// The score of a trial whose launch took `measured` seconds, or what its target measured.
    ///
    /// # Errors
    /// When the trial has no number in the column.
    pub(crate) fn score(&self, measured: f64, trial: &TrialReport) -> Result<f64, Failure> {
        let value = match self {
            Self::Energy => trial.observation("energy"),
            Self::Column { name, .. } => trial.number(name),
            _ => Some(measured),
        };
        let is_negated = matches!(self, Self::Score { maximize: true } | Self::Column { maximize: true, .. });
        value.map(|value| if is_negated { -value } else { value }).ok_or_else(|| {
            let message = format!("the objective is {:?}, and no observer gave a number for it", self.name());
            Failure::new(FailureKind::Runtime, message)
        })
    }

    /// Converts a score to a value in [`Objective::unit`].
    pub fn value(&self, score: f64) -> f64 {
        match self {
            Self::Bandwidth { bytes: work } | Self::Flops { flops: work } => work / score * 1e-9,
            Self::Score { maximize: true } | Self::Column { maximize: true, .. } => -score,
            _ => score,
        }
    }

    /// Formats a score as a value with its unit.
    pub fn format(&self, score: f64) -> String {
        let value = self.value(score);
        match self {
            Self::Time => format_seconds(score),
            Self::Energy if value < 1e-3 => format!("{:.3} uJ", value * 1e6),
            Self::Energy if value < 1.0 => format!("{:.3} mJ", value * 1e3),
            _ => format!("{} {}", significant(value), self.unit()).trim_end().to_owned(),
        }
    }
}

/// A number with four digits that count.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats seconds with a suitable unit.
pub fn format_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units() {
        let format = |name: &str, maximize, score| {
            Objective::by_name(name, maximize, Some(4e9), Some(2e9)).unwrap().format(score)
        };
        assert_eq!(format("time", false, 2e-3), "2.000 ms");
        assert_eq!(format("energy", false, 2e-3), "2.000 mJ");
        assert_eq!(format("energy", false, 2.5), "2.5 J");
        assert_eq!(format("bandwidth", false, 2e-3), "2000 GB/s");
        assert_eq!(format("flops", false, 3e-3), "666.7 GFLOP/s");
        assert_eq!(format("images", true, -12.0), "12");
        assert_eq!(format("score", false, 1.25e-9), "1.250e-9");
    }

    #[test]
    fn stored_scores_are_shown_as_they_were() {
        for (name, maximize) in [("energy", false), ("images", true), ("images", false)] {
            let objective = Objective::by_name(name, maximize, None, None).unwrap();
            assert_eq!(Objective::of_stored(&objective.stored_name().unwrap()), objective);
        }
        assert_eq!(Objective::by_name("bandwidth", false, Some(1.0), None).unwrap().stored_name(), None);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |name, maximize| Objective::by_name(name, maximize, None, None).unwrap_err();
        assert!(error("bandwidth", false).contains("expected bytes="));
        assert!(error("flops", false).contains("expected flops="));
        assert!(error("energy", true).contains("maximize is true"));
        assert!(error("", false).contains("expected time, energy"));
    }
}
