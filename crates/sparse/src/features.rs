//! Features of a matrix that a plan examines before it measures, to exclude kernels and formats that cannot be fast.

use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::kernels::features::{FeatureSpec, MAX_BLOCK, SAMPLED};
use rtcg_array::{GpuArray, Order, ReduceOptions, ReductionOp, array_args};
use rtcg_hal::{DType, Result};

/// Features of a CSR matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixFeatures {
    /// Number of elements in the longest row.
    pub longest_row: usize,
    /// The sum of the squared row lengths.
    pub squared_lengths: f64,
    /// The maximum distance of a row's first or last element from the diagonal.
    pub bandwidth: usize,
    /// Number of elements that slices of 32 rows would store.
    pub slice_elements: usize,
    /// Number of nonempty diagonals; in rows with more than 256 elements only the first ones count.
    pub diagonals: usize,
    /// The fraction of blocks of 2 to 6 rows and columns that elements fill, in the middle of the matrix. Assumes that
    /// columns ascend within rows; otherwise the fraction is underestimated.
    pub block_fill: [f64; MAX_BLOCK - 1],
}

impl MatrixFeatures {
    /// Computes the features with two kernels and a sum. Waits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn from_csr(csr: &Csr) -> Result<Self> {
        let (ctx, [rows, columns], index) = (csr.context(), csr.shape(), csr.indices().dtype());
        if csr.nnz() == 0 {
            let [longest_row, bandwidth, slice_elements, diagonals] = [0; 4];
            let block_fill = [0.0; MAX_BLOCK - 1];
            return Ok(Self { longest_row, squared_lengths: 0.0, bandwidth, slice_elements, diagonals, block_fill });
        }
        let (numbers, is_there) = mark_diagonals(csr)?;
        let options = ReduceOptions { dtype: Some(DType::I64), ..ReduceOptions::default() };
        let diagonals = is_there.reduce(ReductionOp::Sum, options)?;

        let counts = GpuArray::empty(ctx, &[2 * (MAX_BLOCK - 1) * SAMPLED], DType::I32, Order::C)?;
        // Blocks of all sizes begin in every 60th row.
        let first_row = rows.saturating_sub(MAX_BLOCK * SAMPLED) / 2 / 60 * 60;
        let mut args = array_args(&[&counts, csr.indices(), csr.indptr()])?;
        [first_row, rows].iter().for_each(|&n| args.push_i64(n as i64));
        let spec = FeatureSpec { index, counts_blocks: true };
        ctx.launch(&spec, (SAMPLED / THREADS as usize) as u32, THREADS, &args)?;

        let numbers = read_integers(&numbers)?;
        let of = |which: usize| numbers.iter().skip(which).step_by(4).copied();
        let counts = read_integers(&counts)?;
        let sums: Vec<i64> = counts.chunks(SAMPLED).map(|part| part.iter().sum()).collect();
        let fill = |size: usize| {
            let [blocks, elements] = [sums[2 * (size - 2)], sums[2 * (size - 2) + 1]];
            let divides = rows.is_multiple_of(size) && columns.is_multiple_of(size);
            if divides && blocks > 0 { elements as f64 / (blocks as usize * size * size) as f64 } else { 0.0 }
        };
        Ok(Self {
            longest_row: of(0).max().unwrap_or(0) as usize,
            squared_lengths: of(1).map(|n| n as f64).sum(),
            bandwidth: of(2).max().unwrap_or(0) as usize,
            slice_elements: of(3).sum::<i64>() as usize,
            diagonals: read_integers(&diagonals)?[0] as usize,
            block_fill: std::array::from_fn(|k| fill(k + 2)),
        })
    }
}

/// The four numbers that each block leaves, and a byte for each diagonal: whether it has elements. Enqueued.
pub(crate) fn mark_diagonals(csr: &Csr) -> Result<(GpuArray, GpuArray)> {
    let (ctx, [rows, columns]) = (csr.context(), csr.shape());
    let blocks = ctx.device_info().grid_block_count(rows);
    let numbers = GpuArray::empty(ctx, &[4 * blocks as usize], DType::I64, Order::C)?;
    let is_there = GpuArray::empty(ctx, &[rows + columns - 1], DType::U8, Order::C)?;
    is_there.memset_zero()?;
    let mut args = array_args(&[&numbers, &is_there, csr.indices(), csr.indptr()])?;
    args.push_i64(rows as i64);
    let spec = FeatureSpec { index: csr.indices().dtype(), counts_blocks: false };
    ctx.launch(&spec, blocks, THREADS, &args)?;
    Ok((numbers, is_there))
}

/// The elements of an array of int32 or int64; waits.
pub(crate) fn read_integers(array: &GpuArray) -> Result<Vec<i64>> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C)?;
    Ok(match array.dtype() {
        DType::I32 => bytes.as_chunks().0.iter().map(|&chunk| i32::from_ne_bytes(chunk).into()).collect(),
        _ => bytes.as_chunks().0.iter().map(|&chunk| i64::from_ne_bytes(chunk)).collect(),
    })
}
