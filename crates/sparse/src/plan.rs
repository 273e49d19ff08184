//! How products of one matrix with vectors are computed, where that was measured.

use crate::bsr::Bsr;
use crate::dia::Dia;
use crate::operator::LinearOperator;
use crate::sell::Sell;
use crate::{ArrayError, GpuArray, Result};
use rtcg_array::PythonTuple;

/// A kernel of compressed rows, or the same matrix in a format of its own. Given to [`crate::Csr::with_plan`].
#[derive(Debug, Clone)]
pub enum SpmvPlan {
    /// Groups of so many adjacent lanes have rows: a power of two up to 32.
    Rows {
        /// Lanes of a row.
        lanes: u8,
    },
    /// The merge path.
    MergePath,
    /// Slices of rows.
    Sell(Sell),
    /// Diagonals.
    Dia(Dia),
    /// Dense blocks.
    Bsr(Bsr),
}

impl SpmvPlan {
    /// The format that has copies of the elements, if it is one.
    fn operator(&self) -> Option<&dyn LinearOperator> {
        match self {
            Self::Rows { .. } | Self::MergePath => None,
            Self::Sell(sell) => Some(sell),
            Self::Dia(dia) => Some(dia),
            Self::Bsr(bsr) => Some(bsr),
        }
    }

    /// Whether the plan has a format, rather than a kernel of compressed rows.
    pub(crate) fn has_format(&self) -> bool {
        self.operator().is_some()
    }

    /// An error where the plan is none for a matrix of this shape.
    pub(crate) fn check(&self, shape: [usize; 2]) -> Result<()> {
        if let Self::Rows { lanes } = self
            && !(lanes.is_power_of_two() && *lanes <= 32)
        {
            let message = format!("lanes is {lanes}; expected a power of two up to 32");
            return Err(ArrayError::value_error(message));
        }
        match self.operator() {
            Some(operator) if operator.shape() != shape => {
                let (of, expected) = (PythonTuple(&operator.shape()).to_string(), PythonTuple(&shape).to_string());
                Err(ArrayError::value_error(format!("the plan has shape {of}; expected {expected}")))
            }
            _ => Ok(()),
        }
    }

    /// The product in the plan's format, for contiguous vectors that share no memory; whether it has one.
    pub(crate) fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<bool> {
        match self {
            Self::Rows { .. } | Self::MergePath => return Ok(false),
            Self::Sell(sell) => sell.multiply_into(x, y, accumulate)?,
            Self::Dia(dia) => dia.multiply_into(x, y, accumulate)?,
            Self::Bsr(bsr) => bsr.multiply_into(x, y, accumulate)?,
        }
        Ok(true)
    }
}
