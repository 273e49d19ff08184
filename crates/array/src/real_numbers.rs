//! Functions of real numbers alone: which dtypes they take, and the floats in which they compute.

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use rtcg_codegen::{DType, DTypeKind};

/// Whether elements are bool, integers or floats.
pub fn is_real(dtype: DType) -> bool {
    !matches!(dtype.kind(), DTypeKind::Complex | DTypeKind::Record)
}

impl GpuArray {
    /// Refuses complex numbers and records; `name` is that of the argument.
    ///
    /// # Errors
    /// When elements are not real numbers.
    pub fn require_real(&self, name: &str) -> Result<()> {
        if is_real(self.dtype()) {
            return Ok(());
        }
        Err(ArrayError::type_error(format!("{name} is of dtype {}; expected real numbers", self.dtype())))
    }

    /// The float that has all elements: float16 for itself, float32 for bfloat16, bool and integers of 8 and 16 bits, else
    /// float64, which lacks some integers of 64 bits.
    ///
    /// # Errors
    /// As [`Self::require_real`].
    pub fn real_float_dtype(&self, name: &str) -> Result<DType> {
        self.require_real(name)?;
        Ok(match self.dtype() {
            DType::F16 => DType::F16,
            DType::F32 | DType::BF16 => DType::F32,
            dtype if dtype.itemsize() <= 2 => DType::F32,
            _ => DType::F64,
        })
    }
}
