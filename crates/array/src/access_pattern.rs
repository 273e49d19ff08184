//! Decides whether operands that are contiguous along different axes go through tiles in shared memory.

use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use rtcg_codegen::array::{AccessPattern, MAX_TRANSPOSE_TILE_ITEMSIZE, TRANSPOSE_TILE_SIDE, TransposeTile};
use rtcg_hal::DeviceInfo;
use smallvec::SmallVec;

/// Elements below which tiles are not worth their barriers.
const MIN_TILED_ELEMENTS: usize = 1 << 12;

/// Shared memory that every device has for a block.
const SHARED_BYTES: usize = 48 << 10;
/// Operands that may be marked as transposed.
const MAX_OPERANDS: usize = 8;

/// How a kernel walks over arrays that do not lie one after the other: through tiles where operands run
/// along different axes, else through strides. `itemsizes` are those of the output and then of the operands, as in the
/// plan; `None` for an array whose addresses are not aligned for its type.
pub(crate) fn choose_access_pattern<const N: usize>(
    device: DeviceInfo,
    plan: &IterationPlan<N>,
    itemsizes: impl Iterator<Item = Option<usize>>,
) -> AccessPattern {
    let space = plan.index_space();
    let itemsizes: SmallVec<[usize; 8]> = itemsizes.map(|itemsize| itemsize.unwrap_or(usize::MAX)).collect();
    let fits = |itemsize: &usize| *itemsize <= MAX_TRANSPOSE_TILE_ITEMSIZE;
    if itemsizes.len() > 1 + MAX_OPERANDS || plan.n_elements() < MIN_TILED_ELEMENTS || !itemsizes.iter().all(fits) {
        return AccessPattern::Strided(space);
    }
    // Places of the plan without an array are those of the output.
    let item = |k: usize| itemsizes.get(k).or(itemsizes.first()).map_or(1, |&itemsize| itemsize);
    let Some((axis, transposed)) = plan.transposed_operands(std::array::from_fn(item)) else {
        return AccessPattern::Strided(space);
    };
    let side = usize::from(TRANSPOSE_TILE_SIDE);
    let bytes: usize = (1..itemsizes.len()).filter(|k| transposed >> (k - 1) & 1 == 1).map(item).sum();
    // A processor's caches hold the lines that strides come back to: there tiles save no reads, except of many elements
    // in a line.
    let is_worth_it = !device.is_simd_cpu() || bytes < 2;
    match is_worth_it && bytes * side * (side + 1) <= SHARED_BYTES {
        true => AccessPattern::Tiled(space, TransposeTile { axis, transposed, side: TRANSPOSE_TILE_SIDE }),
        false => AccessPattern::Strided(space),
    }
}

/// The size of an array's elements, for [`choose_access_pattern`].
pub(crate) fn aligned_itemsize(array: &GpuArray) -> Option<usize> {
    array.is_aligned().then(|| array.itemsize())
}
