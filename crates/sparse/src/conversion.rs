//! Conversions of CSR matrices to diagonals and dense blocks, on the device.

use crate::csr::Csr;
use crate::features::{mark_diagonals, read_integers};
use crate::kernels::THREADS;
use crate::kernels::conversion::{ConversionSpec, ConversionStage};
use crate::kernels::features::MAX_MARKED;
use crate::launch::full_grid;
use crate::{Bsr, Dia};
use rtcg_array::{GpuArray, Index, Order, ScanOp, array_args};
use rtcg_hal::{ArrayError, DType, Result};

/// Elements of 16 bits are stored as their bits, which are not added.
fn check_is_added(csr: &Csr) -> Result<()> {
    match csr.data().dtype() {
        dtype @ (DType::F16 | DType::BF16) => {
            Err(ArrayError::value_error(format!("elements are {dtype}; expected at least 4 bytes of each")))
        }
        _ => Ok(()),
    }
}

fn launch(csr: &Csr, stage: ConversionStage, arrays: &[&GpuArray], numbers: &[usize], threads: usize) -> Result<()> {
    let mut args = array_args(arrays)?;
    numbers.iter().for_each(|&n| args.push_i64(n as i64));
    let spec = ConversionSpec { value: csr.data().dtype(), index: csr.indices().dtype(), stage };
    csr.context().launch(&spec, full_grid(csr.context(), threads), THREADS, &args)
}

/// The last number of a running sum; waits.
fn read_last(sums: &GpuArray) -> Result<usize> {
    let mut bytes = [0; 8];
    sums.index(&[Index::At(-1)])?.read(&mut bytes, Order::C)?;
    Ok(i64::from_ne_bytes(bytes) as usize)
}

impl Dia {
    /// Converts a CSR matrix to diagonals, or returns `None` if it has more than `max_diagonals` diagonals or a row of
    /// more than 256 elements. Waits for the number of diagonals.
    ///
    /// # Errors
    /// When elements have 16 bits, or the device fails.
    pub fn from_csr(csr: &Csr, max_diagonals: usize) -> Result<Option<Self>> {
        check_is_added(csr)?;
        let (ctx, [rows, columns]) = (csr.context(), csr.shape());
        if csr.nnz() == 0 {
            return Ok(None);
        }
        let (numbers, is_there) = mark_diagonals(csr)?;
        // Of longer rows only the first elements were looked at.
        let longest_row = read_integers(&numbers)?.into_iter().step_by(4).max().unwrap_or(0);
        if longest_row > MAX_MARKED as i64 {
            return Ok(None);
        }
        let slots = is_there.cumulative(ScanOp::Sum, 0, Some(DType::I64))?;
        let diagonals = read_last(&slots)?;
        if diagonals > max_diagonals {
            return Ok(None);
        }
        let data = GpuArray::empty(ctx, &[diagonals, columns], csr.data().dtype(), Order::C)?;
        let offsets = GpuArray::empty(ctx, &[diagonals], DType::I64, Order::C)?;
        data.memset_zero()?;
        let arrays = [&data, &offsets, csr.data(), csr.indices(), csr.indptr(), &slots, &is_there];
        launch(csr, ConversionStage::Diagonals, &arrays, &[rows, columns], rows)?;
        Ok(Some(Self::new(csr.shape(), data, offsets)?))
    }
}

impl Bsr {
    /// Converts a CSR matrix to blocks of `size` rows and columns (up to 6), or returns `None` if these store more than
    /// `max_fill` times as many elements. Waits for the number of blocks.
    ///
    /// # Errors
    /// When the size does not divide the shape, elements have 16 bits, or the device fails.
    pub fn from_csr(csr: &Csr, size: usize, max_fill: f64) -> Result<Option<Self>> {
        check_is_added(csr)?;
        let (ctx, [rows, columns], index) = (csr.context(), csr.shape(), csr.indices().dtype());
        if !(1..=6).contains(&size) || !rows.is_multiple_of(size) || !columns.is_multiple_of(size) || csr.nnz() == 0 {
            return Err(ArrayError::value_error(format!(
                "no blocks of size {size} divide {rows} rows, {columns} columns"
            )));
        }
        let block_rows = rows / size;
        let counts = GpuArray::empty(ctx, &[block_rows + 1], DType::I64, Order::C)?;
        let arrays = [&counts, csr.indices(), csr.indptr()];
        launch(csr, ConversionStage::CountBlocks(size as u8), &arrays, &[block_rows], block_rows)?;
        let starts = counts.cumulative(ScanOp::Sum, 0, Some(DType::I64))?;
        let blocks = read_last(&starts)?;
        if (blocks * size * size) as f64 > max_fill * csr.nnz() as f64 {
            return Ok(None);
        }
        let data = GpuArray::empty(ctx, &[blocks, size, size], csr.data().dtype(), Order::C)?;
        let block_columns = GpuArray::empty(ctx, &[blocks], index, Order::C)?;
        data.memset_zero()?;
        let arrays = [&data, &block_columns, csr.data(), csr.indices(), csr.indptr(), &starts];
        launch(csr, ConversionStage::FillBlocks(size as u8), &arrays, &[block_rows], block_rows)?;
        Ok(Some(Self::new(csr.shape(), data, block_columns, starts.to_dtype(index)?)?))
    }
}
