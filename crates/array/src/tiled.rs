//! Whether operands that run along different axes go through tiles in shared memory.

use crate::array::GpuArray;
use crate::elementwise::is_aligned;
use crate::plan::Plan;
use rtcg_codegen::array::{TILE_ITEMSIZE, TILE_SIDE, Tile, Walk};
use smallvec::SmallVec;

/// Elements below which tiles are not worth their barriers.
const ENOUGH: usize = 1 << 12;

/// How a kernel walks over arrays that do not lie one after the other: through tiles where operands run
/// along different axes, else through strides. `operands` are those of the plan after the output.
pub(crate) fn walk<const N: usize>(plan: &Plan<N>, out: &GpuArray, operands: &[Option<&GpuArray>]) -> Walk {
    let space = plan.space();
    let arrays: SmallVec<[&GpuArray; 5]> = std::iter::once(out).chain(operands.iter().flatten().copied()).collect();
    let fits = |array: &&GpuArray| is_aligned(array) && array.itemsize() <= TILE_ITEMSIZE;
    match plan.turned(std::array::from_fn(|k| arrays[k].itemsize())) {
        Some((axis, turned)) if plan.size() >= ENOUGH && arrays.iter().all(fits) => {
            Walk::Tiled(space, Tile { axis, turned, side: TILE_SIDE })
        }
        _ => Walk::Strided(space),
    }
}
