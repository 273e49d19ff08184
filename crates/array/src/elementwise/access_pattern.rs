//! Decides whether operands that are contiguous along different axes go through tiles in shared memory.

use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use rtcg_codegen::array::{AccessPattern, MAX_TRANSPOSE_TILE_ITEMSIZE, TRANSPOSE_TILE_SIDE, TransposeTile};
use smallvec::SmallVec;

/// Elements below which tiles are not worth their barriers.
const MIN_TILED_ELEMENTS: usize = 1 << 12;

/// How a kernel walks over arrays that do not lie one after the other: through tiles where operands run
/// along different axes, else through strides. `operands` are those of the plan after the output.
pub(super) fn choose_access_pattern<const N: usize>(
    plan: &IterationPlan<N>,
    out: &GpuArray,
    operands: &[Option<&GpuArray>],
) -> AccessPattern {
    let space = plan.index_space();
    let arrays: SmallVec<[&GpuArray; 5]> = std::iter::once(out).chain(operands.iter().flatten().copied()).collect();
    let fits = |array: &&GpuArray| array.is_aligned() && array.itemsize() <= MAX_TRANSPOSE_TILE_ITEMSIZE;
    match plan.transposed_operands(std::array::from_fn(|k| arrays[k].itemsize())) {
        Some((axis, transposed)) if plan.n_elements() >= MIN_TILED_ELEMENTS && arrays.iter().all(fits) => {
            AccessPattern::Tiled(space, TransposeTile { axis, transposed, side: TRANSPOSE_TILE_SIDE })
        }
        _ => AccessPattern::Strided(space),
    }
}
