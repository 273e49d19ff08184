//! Sampled dense-dense matrix multiplication (SDDMM).

use crate::checks::{check_value_dtype, product_dtype};
use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::kernels::sddmm::SddmmSpec;
use rtcg_array::{GpuArray, Order, PythonTuple, array_args};
use rtcg_hal::{ArrayError, Result};

/// How the products at the stored positions of a matrix are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SddmmScale {
    /// They are multiplied by the matrix's elements.
    Elements,
    /// `alpha` times the products plus `beta` times the elements, with complex numbers `[alpha, beta]`. What is scaled
    /// by 0 is not read.
    Sum([[f64; 2]; 2]),
}

impl Csr {
    /// Computes the product `X Y` of dense matrices at the stored positions of this matrix, in the common dtype, and
    /// returns the elements of a matrix of the same structure. Sums do not depend on scheduling; enqueued.
    /// # Errors
    /// When shapes do not fit, or the device fails.
    pub fn sampled_matmul(&self, x: &GpuArray, y: &GpuArray, scale: SddmmScale) -> Result<GpuArray> {
        let [rows, columns] = self.shape();
        let (&[x_rows, length], &[y_rows, y_columns]) = (x.shape(), y.shape()) else {
            let (x, y) = (PythonTuple(x.shape()), PythonTuple(y.shape()));
            return Err(ArrayError::value_error(format!("x has shape {x} and y {y}; expected two axes each")));
        };
        if [x_rows, y_rows, y_columns] != [rows, length, columns] {
            let (x, y) = (PythonTuple(x.shape()), PythonTuple(y.shape()));
            return Err(ArrayError::value_error(format!(
                "dimension mismatch: x has shape {x} and y {y}; expected ({rows}, k) and (k, {columns})"
            )));
        }
        let vector = product_dtype(product_dtype(self.data().dtype(), x.dtype())?, y.dtype())?;
        check_value_dtype(vector)?;
        let [x, y] = [strided(&x.to_dtype(vector)?)?, strided(&y.to_dtype(vector)?)?];
        let result = GpuArray::empty(self.context(), &[self.nnz()], vector, Order::C)?;
        if self.nnz() == 0 {
            return Ok(result);
        }
        let scalars = if let SddmmScale::Sum(scalars) = scale { scalars } else { [[1.0, 0.0], [0.0; 2]] };
        // Products that are scaled by 0 have no terms.
        let length = if scalars[0] == [0.0; 2] { 0 } else { length };
        let lanes = self.sddmm_lanes(length);
        let (value, index) = (self.data().dtype(), self.indices().dtype());
        let spec = SddmmSpec { value, vector, index, lanes, is_sum: scale != SddmmScale::Elements };
        let mut args = array_args(&[&result, self.data(), self.indices(), self.indptr(), &x, &y])?;
        [rows, self.nnz(), length].iter().for_each(|&n| args.push_i64(n as i64));
        for array in [&x, &y] {
            array.strides().iter().for_each(|stride| args.push_i64((stride / array.itemsize() as isize) as i64));
        }
        scalars.as_flattened().iter().for_each(|&part| args.push_u64(part.to_bits()));
        let device_info = self.context().device_info();
        let most = if device_info.is_simd_cpu() { device_info.max_blocks as usize } else { i32::MAX as usize };
        let blocks = self.nnz().div_ceil(THREADS as usize / usize::from(lanes)).min(most);
        self.context().launch(&spec, blocks as u32, THREADS, &args)?;
        Ok(result)
    }

    /// A lane for each 4 products; a SIMD CPU gathers for every lane.
    fn sddmm_lanes(&self, length: usize) -> u8 {
        let is_simd_cpu = self.context().device_info().is_simd_cpu();
        if is_simd_cpu { 1 } else { length.div_ceil(4).next_power_of_two().clamp(1, 32) as u8 }
    }
}

/// An array whose strides are numbers of elements.
fn strided(array: &GpuArray) -> Result<GpuArray> {
    let is_whole = array.strides().iter().all(|stride| stride % array.itemsize() as isize == 0);
    if is_whole { Ok(array.clone()) } else { array.copy(Some(Order::C)) }
}
