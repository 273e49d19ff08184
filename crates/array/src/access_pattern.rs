//! Decides whether operands that are contiguous along different axes go through tiles in shared memory.

use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use rtcg_codegen::array::{AccessPattern, MAX_TRANSPOSE_TILE_ITEMSIZE, TRANSPOSE_TILE_SIDE, TransposeTile};

/// Elements below which tiles are not worth their barriers.
const MIN_TILED_ELEMENTS: usize = 1 << 12;

/// Shared memory that every device has for a block.
const SHARED_BYTES: usize = 48 << 10;
/// Operands that may be marked as transposed.
const MAX_OPERANDS: usize = 8;

/// How a kernel walks over arrays that do not lie one after the other: through tiles where operands run
/// along different axes, else through strides. `arrays` are the output and then the operands, as in the plan.
pub(crate) fn choose_access_pattern<const N: usize>(plan: &IterationPlan<N>, arrays: &[&GpuArray]) -> AccessPattern {
    let space = plan.index_space();
    let fits = |array: &&GpuArray| array.is_aligned() && array.itemsize() <= MAX_TRANSPOSE_TILE_ITEMSIZE;
    if arrays.len() > 1 + MAX_OPERANDS || plan.n_elements() < MIN_TILED_ELEMENTS || !arrays.iter().all(fits) {
        return AccessPattern::Strided(space);
    }
    // Places of the plan without an array are those of the output.
    let item = |k: usize| arrays.get(k).unwrap_or(&arrays[0]).itemsize();
    let Some((axis, transposed)) = plan.transposed_operands(std::array::from_fn(item)) else {
        return AccessPattern::Strided(space);
    };
    let side = usize::from(TRANSPOSE_TILE_SIDE);
    let bytes: usize = (1..arrays.len()).filter(|k| transposed >> (k - 1) & 1 == 1).map(item).sum();
    match bytes * side * (side + 1) <= SHARED_BYTES {
        true => AccessPattern::Tiled(space, TransposeTile { axis, transposed, side: TRANSPOSE_TILE_SIDE }),
        false => AccessPattern::Strided(space),
    }
}
