//! Indices of CSR matrices: their width and their order.

use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::kernels::order::OrderSpec;
use crate::launch::read_numbers;
use rtcg_array::{GpuArray, Order, push_arrays};
use rtcg_hal::{DType, LaunchArgs, Result};

/// Kernels step over the end of a row by less than a warp, so that int32 counts no more elements than these.
pub(crate) const MAX_I32_ELEMENTS: i64 = i32::MAX as i64 - 32;

/// The indices that those of two matrices promote to.
pub(crate) fn wider_index(a: &Csr, b: &Csr) -> DType {
    if [a, b].iter().any(|matrix| matrix.indices().dtype() == DType::I64) { DType::I64 } else { DType::I32 }
}

impl Csr {
    /// Whether columns ascend within each row; with `is_strict` also whether none is repeated. Waits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn has_sorted_indices(&self, is_strict: bool) -> Result<bool> {
        let number = GpuArray::empty(self.context(), &[1], DType::I64, Order::C)?;
        number.memset_zero()?;
        self.launch_order(is_strict, number.first_element_address())?;
        Ok(read_numbers(&number)?[0] == 0)
    }

    /// The same matrix with indices of a dtype.
    pub(crate) fn with_index(&self, index: DType) -> Result<Csr> {
        if self.indices().dtype() == index {
            return Ok(self.clone());
        }
        Csr::new(self.shape(), self.data().clone(), self.indices().to_dtype(index)?, self.indptr().to_dtype(index)?)
    }

    /// Adds the number of elements out of order to the one at an address.
    pub(crate) fn launch_order(&self, is_strict: bool, number: u64) -> Result<()> {
        let mut args = LaunchArgs::new();
        args.push_address(number, 0);
        push_arrays(&mut args, &[self.indices(), self.indptr()])?;
        [self.nnz(), self.shape()[0]].iter().for_each(|&n| args.push_i64(n as i64));
        let spec = OrderSpec { index: self.indices().dtype(), is_strict };
        let blocks = self.context().device_info().grid_block_count(self.nnz().max(self.shape()[0]));
        self.context().launch(&spec, blocks, THREADS, &args)
    }
}
