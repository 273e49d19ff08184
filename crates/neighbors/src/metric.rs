//! Metrics, under the names of scikit-learn.

use rtcg_hal::{ArrayError, Result};
use std::str::FromStr;

/// The distance between two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Metric {
    /// The Euclidean length of their difference.
    #[default]
    L2,
    /// The squared Euclidean length of their difference.
    SquaredL2,
    /// The sum of absolute differences.
    L1,
    /// The largest absolute difference.
    Chebyshev,
    /// 1 minus the cosine of their angle; the cosine is 0 for vectors of length 0.
    Cosine,
}

impl FromStr for Metric {
    type Err = ArrayError;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "l2" | "euclidean" => Self::L2,
            "sqeuclidean" => Self::SquaredL2,
            "l1" | "manhattan" | "cityblock" => Self::L1,
            "chebyshev" => Self::Chebyshev,
            "cosine" => Self::Cosine,
            _ => {
                return Err(ArrayError::value_error(format!(
                    "metric is '{name}'; expected 'l2' ('euclidean'), 'sqeuclidean', 'l1' ('manhattan'), 'chebyshev' or \
                     'cosine'"
                )));
            }
        })
    }
}
