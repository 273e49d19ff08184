//! Functions of real numbers only: the dtypes they accept, and the floats in which they compute.

use crate::array::GpuArray;
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};

/// Whether elements are booleans, integers or floats.
pub fn is_real(dtype: DType) -> bool {
    !matches!(dtype.kind(), DTypeKind::Complex | DTypeKind::Record)
}

impl GpuArray {
    /// Refuses complex numbers and records; `name` is the argument's name.
    ///
    /// # Errors
    /// When elements are not real numbers.
    pub fn require_real(&self, name: &str) -> Result<()> {
        if is_real(self.dtype()) {
            return Ok(());
        }
        Err(ArrayError::type_error(format!("{name} is of dtype {}; expected real numbers", self.dtype())))
    }

    /// The float type for these elements: float16 for float16; float32 for float32, bfloat16, bool and integers of 8
    /// and 16 bits; otherwise float64, which cannot represent all 64-bit integers.
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
