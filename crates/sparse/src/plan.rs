//! Plans for the products of a matrix with vectors, chosen by measurement.

use crate::checks::{check_product, product_dtype};
use crate::launch::{are_plain, empty};
use rtcg_array::{CallKey, GpuArray, PythonTuple, cached_call};
use rtcg_hal::{ArrayError, DType, Launch, Result};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::sync::Arc;

/// A format that holds a copy of a matrix's elements and multiplies in its place. It is also a
/// [`crate::LinearOperator`].
pub trait ProductFormat: Debug + Send + Sync {
    /// Rows and columns.
    fn shape(&self) -> [usize; 2];

    /// The dtype of its elements.
    fn dtype(&self) -> DType;

    /// The launches of `y = A x`, or `y += A x`, for vectors that fit, are contiguous and of one dtype.
    ///
    /// # Errors
    /// When the device fails, or the format does not accept such vectors.
    fn product_launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>>;

    /// The arrays that it consists of, and the numbers on which its kernel depends beside them, so that products are
    /// repeated without planning; `None` where a product is several launches.
    fn parts(&self) -> Option<(SmallVec<[&GpuArray; 6]>, [usize; 2])> {
        None
    }

    /// Whether a product consists only of launches and allocates no memory.
    fn is_recordable(&self) -> bool {
        true
    }

    /// Computes `A x` in the common dtype; enqueued.
    ///
    /// # Errors
    /// When `x` does not fit, or the device fails.
    fn multiply(&self, x: &GpuArray) -> Result<GpuArray> {
        let compute = || {
            let y = empty(x.context(), self.shape()[0], product_dtype(self.dtype(), x.dtype())?)?;
            self.multiply_into(x, &y, false)?;
            Ok(y)
        };
        let Some((mut arrays, numbers)) = self.parts() else { return compute() };
        arrays.push(x);
        let call = FormatCall { format: std::any::type_name::<Self>(), shape: self.shape(), numbers };
        cached_call(x.context(), call, &arrays, None, compute)
    }

    /// Computes `y = A x`, or `y += A x`, in the dtype of `y`, which must be contiguous and not share memory with `x`;
    /// enqueued.
    ///
    /// # Errors
    /// As [`ProductFormat::product_launches`], or when the vectors do not fit.
    fn multiply_into(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<()> {
        check_product(self.shape(), self.dtype(), x, y)?;
        let x = x.to_dtype(y.dtype())?.to_contiguous()?;
        Launch::enqueue_all(&self.product_launches(&x, y, accumulate)?, x.context().queue())
    }

    /// The launches of a product, like [`crate::LinearOperator::launches`].
    ///
    /// # Errors
    /// As [`ProductFormat::product_launches`].
    fn launches(&self, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Option<Vec<Launch>>> {
        if are_plain(x, y) { self.product_launches(x, y, accumulate).map(Some) } else { Ok(None) }
    }
}

/// A product of a format with a vector, beside the arrays.
#[derive(Debug, PartialEq)]
struct FormatCall {
    format: &'static str,
    shape: [usize; 2],
    numbers: [usize; 2],
}

impl CallKey for FormatCall {
    fn hash_seed(&self) -> usize {
        self.format.len().wrapping_mul(31) + self.numbers[0]
    }
}

/// A CSR kernel, or the same matrix in another format, which [`From`] converts to a plan. Pass it to
/// [`crate::Csr::with_plan`].
#[derive(Debug, Clone)]
pub enum SpmvPlan {
    /// Each row is handled by this many adjacent lanes: a power of two up to 32.
    Rows {
        /// Lanes of a row.
        lanes: u8,
    },
    /// The merge path kernel.
    MergePath,
    /// Another format: SELL slices, diagonals, dense blocks, or columns sorted by element count.
    Format(Arc<dyn ProductFormat>),
}

impl<F: ProductFormat + 'static> From<F> for SpmvPlan {
    fn from(format: F) -> Self {
        Self::Format(Arc::new(format))
    }
}

impl SpmvPlan {
    /// Whether the plan has a format, rather than a kernel of compressed rows.
    pub(crate) fn has_format(&self) -> bool {
        matches!(self, Self::Format(_))
    }

    /// Whether products of the plan's format, if it has one, are launches alone.
    pub(crate) fn is_recordable_format(&self) -> bool {
        matches!(self, Self::Format(format) if format.is_recordable())
    }

    /// An error where the plan is none for a matrix of this shape.
    pub(crate) fn check(&self, shape: [usize; 2]) -> Result<()> {
        match self {
            Self::Rows { lanes } if !(lanes.is_power_of_two() && *lanes <= 32) => {
                Err(ArrayError::value_error(format!("lanes is {lanes}; expected a power of two up to 32")))
            }
            Self::Format(format) if format.shape() != shape => {
                let (of, expected) = (PythonTuple(&format.shape()).to_string(), PythonTuple(&shape).to_string());
                Err(ArrayError::value_error(format!("the plan has shape {of}; expected {expected}")))
            }
            _ => Ok(()),
        }
    }
}
