//! Compiles the kernels of plans in advance.

use crate::checks::product_dtype;
use crate::csr::Csr;
use crate::kernels::bsr::BsrSpec;
use crate::kernels::conversion::{ConversionSpec, ConversionStage};
use crate::kernels::dia::DiaSpmvSpec;
use crate::kernels::gpu_elements_ahead;
use crate::kernels::hot_columns::{HotColumnsSpec, HotColumnsStage};
use crate::kernels::merge::{MergeSpmvSpec, MergeStage, TILE};
use crate::kernels::sell::{SellSpec, SellStage};
use crate::kernels::spmv::{CsrSpmvSpec, SpmvEpilogue};
use rtcg_hal::{DType, Result};

/// Compiles the kernels that products with a vector may use for matrices with the dtypes of `csr`, including GPU
/// kernels if there is no GPU, and launches nothing.
///
/// # Errors
/// When a kernel does not compile.
pub fn compile_plan_kernels(csr: &Csr) -> Result<()> {
    let (ctx, value, index) = (csr.context(), csr.data().dtype(), csr.indices().dtype());
    let vector = product_dtype(value, value)?;
    let store = SpmvEpilogue::Store;
    for stage in [MergeStage::Starts, MergeStage::Tiles, MergeStage::Carries] {
        ctx.compiled_kernel(&MergeSpmvSpec { value, vector, index, epilogue: store, tile: TILE, stage })?;
    }
    let (epilogue, stage) = (SpmvEpilogue::StoreAndDot, MergeStage::Tiles);
    ctx.compiled_kernel(&MergeSpmvSpec { value, vector, index, epilogue, tile: TILE, stage })?;
    for stage in [
        HotColumnsStage::Counts,
        HotColumnsStage::Keys,
        HotColumnsStage::Inverse,
        HotColumnsStage::Renumber,
        HotColumnsStage::Permute,
        HotColumnsStage::Tiles,
    ] {
        ctx.compiled_kernel(&HotColumnsSpec { value, vector, index, accumulate: false, stage })?;
    }
    for side in 2..=6 {
        let (block, lanes, parts) = ([side; 2], 32, 1);
        for stage in [ConversionStage::CountBlocks, ConversionStage::FillBlocks] {
            ctx.compiled_kernel(&ConversionSpec { value, index, stage: stage(side as u8) })?;
        }
        ctx.compiled_kernel(&BsrSpec {
            value,
            vector,
            index,
            block,
            lanes,
            parts,
            accumulate: false,
            is_dense: false,
        })?;
    }
    for ahead in [1, gpu_elements_ahead(vector)] {
        for (lanes, epilogue) in
            (0..6).flat_map(|k| [store, SpmvEpilogue::StoreAndDot].map(|epilogue| (1 << k, epilogue)))
        {
            ctx.compiled_kernel(&CsrSpmvSpec { value, vector, index, lanes, ahead, epilogue })?;
        }
        ctx.compiled_kernel(&DiaSpmvSpec { value, vector, epilogue: store, ahead })?;
        for (column, permutation) in
            [DType::U16, index].into_iter().flat_map(|column| [None, Some(DType::I32)].map(|order| (column, order)))
        {
            let stage = SellStage::Product(store, ahead);
            ctx.compiled_kernel(&SellSpec { value, vector, index, column, permutation, stage })?;
        }
    }
    Ok(())
}
