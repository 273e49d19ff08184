//! The one plan of kernels that have a thread for every element of some arrays: in which order they walk over the
//! axes, how each array is read, whether several elements are moved at once, or arrays that are contiguous along
//! different axes go through tiles in shared memory.

use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use crate::layout::Layout;
use rtcg_codegen::array::{
    AccessPattern, MAX_TRANSPOSE_TILE_ITEMSIZE, OperandKind, TRANSPOSE_TILE_SIDE, TransposeTile,
};
use rtcg_hal::{DeviceInfo, LaunchArgs, Result};
use smallvec::SmallVec;

/// Elements below which tiles are not worth their barriers.
const MIN_TILED_ELEMENTS: usize = 1 << 12;
/// Shared memory that every device has for a block.
const SHARED_BYTES: usize = 48 << 10;
/// Operands that may be marked as transposed.
const MAX_OPERANDS: usize = 8;

/// An array of a walk, in the shape that all of them have.
#[derive(Debug)]
pub(crate) struct WalkedArray {
    /// Its strides in this shape; the offset counts from the first element.
    pub(crate) layout: Layout,
    pub(crate) itemsize: usize,
    /// Where the first element lies.
    pub(crate) address: u64,
    /// Whether its elements have addresses that are aligned for their type.
    pub(crate) is_aligned: bool,
    pub(crate) is_written: bool,
}

impl WalkedArray {
    /// An array in its own shape.
    pub(crate) fn of(array: &GpuArray, is_written: bool) -> Self {
        Self {
            layout: Layout { offset: 0, ..array.layout().clone() },
            itemsize: array.itemsize(),
            address: array.first_element_address(),
            is_aligned: array.is_aligned(),
            is_written,
        }
    }

    /// An array, broadcast.
    pub(crate) fn broadcast(array: &GpuArray, shape: &[usize], is_written: bool) -> Result<Self> {
        let layout = array.layout().broadcast_to(shape)?;
        Ok(Self { layout: Layout { offset: 0, ..layout }, ..Self::of(array, is_written) })
    }
}

/// What a kernel leaves open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkRules {
    /// Whether the axes may be sorted, because the kernel does not count elements.
    pub(crate) sorts_axes: bool,
    /// Whether axes that all arrays walk along backwards may be reversed, so that arrays begin elsewhere.
    pub(crate) reverses_axes: bool,
    /// Whether an array of one element may be passed to a kernel for arrays without gaps.
    pub(crate) repeats_elements: bool,
    /// Whether every thread of a block reaches the end of each step, as tiles need.
    pub(crate) allows_tiles: bool,
}

impl WalkRules {
    /// Those of kernels of arrays' own.
    pub(crate) const FREE: Self =
        Self { sorts_axes: true, reverses_axes: true, repeats_elements: true, allows_tiles: true };
}

/// The plan, without the arrays.
#[derive(Debug)]
pub(crate) struct PlannedWalk {
    pub(crate) n_elements: usize,
    pub(crate) pattern: AccessPattern,
    /// How each array is passed.
    pub(crate) kinds: SmallVec<[OperandKind; 8]>,
    /// Where the walk over each array begins, in bytes after its first element.
    pub(crate) offsets: SmallVec<[usize; 8]>,
    /// Blocks, and threads of each.
    pub(crate) geometry: [u32; 2],
    dims: SmallVec<[u8; 128]>,
}

impl PlannedWalk {
    /// The blocks and threads of a walk through tiles, which no others will do for.
    pub(crate) fn tiles(&self) -> Option<[u32; 2]> {
        matches!(self.pattern, AccessPattern::Tiled(..)).then_some(self.geometry)
    }

    /// Appends the number of elements and, for patterns that read it, the structure of lengths and strides.
    pub(crate) fn push_size_and_dims(&self, args: &mut LaunchArgs) {
        args.push_u64(self.n_elements as u64);
        if let AccessPattern::Strided(space) | AccessPattern::Tiled(space, _) = self.pattern {
            args.push(&self.dims, if space.wide { 8 } else { 4 });
        }
    }
}

/// Plans the walk over arrays; tiles are written along the last axis of the first one.
pub(crate) fn plan_walk(device: DeviceInfo, arrays: &[WalkedArray], rules: WalkRules) -> PlannedWalk {
    match arrays.len() {
        0..=2 => plan_walk_of::<2>(device, arrays, rules),
        3 => plan_walk_of::<3>(device, arrays, rules),
        4..=5 => plan_walk_of::<5>(device, arrays, rules),
        6..=8 => plan_walk_of::<8>(device, arrays, rules),
        9..=16 => plan_walk_of::<16>(device, arrays, rules),
        17..=32 => plan_walk_of::<32>(device, arrays, rules),
        // More do not fit among the arguments of a kernel.
        _ => plan_walk_of::<256>(device, arrays, rules),
    }
}

fn plan_walk_of<const N: usize>(device: DeviceInfo, arrays: &[WalkedArray], rules: WalkRules) -> PlannedWalk {
    // Places that are left repeat the first array.
    let layouts = std::array::from_fn(|k| &arrays[if k < arrays.len() { k } else { 0 }].layout);
    let plan = match (rules.sorts_axes, rules.reverses_axes) {
        (false, _) => IterationPlan::<N>::keeping_axis_order(layouts),
        (true, false) => IterationPlan::<N>::keeping_directions(layouts),
        (true, true) => IterationPlan::<N>::new(layouts),
    };
    let (kinds, pattern) = match flat_kinds(&plan, arrays, rules) {
        Some(kinds) => {
            let pattern = AccessPattern::Flat(elements_per_access(device, &plan, arrays, &kinds));
            (kinds, pattern)
        }
        None => {
            let kind = |array: &WalkedArray| match array.is_aligned {
                true => OperandKind::Element,
                false => OperandKind::Unaligned,
            };
            (arrays.iter().map(kind).collect(), strided_pattern(device, &plan, arrays, rules))
        }
    };
    let mut dims = LaunchArgs::new();
    if let AccessPattern::Strided(space) | AccessPattern::Tiled(space, _) = pattern {
        plan.push_dims(space, &(0..arrays.len()).collect::<SmallVec<[usize; 8]>>(), &mut dims);
    }
    PlannedWalk {
        n_elements: plan.n_elements(),
        pattern,
        kinds,
        offsets: plan.offsets[..arrays.len().min(N)].into(),
        geometry: plan.geometry(device, pattern),
        dims: SmallVec::from_slice(dims.packed_bytes()),
    }
}

/// How each array is passed if every one lies without gaps or, where it is only read, is a single element.
fn flat_kinds<const N: usize>(
    plan: &IterationPlan<N>,
    arrays: &[WalkedArray],
    rules: WalkRules,
) -> Option<SmallVec<[OperandKind; 8]>> {
    let kind = |(k, array): (usize, &WalkedArray)| {
        let item = array.itemsize as isize;
        match plan.single_stride(k, item)? {
            _ if !array.is_aligned => None,
            stride if stride == item => Some(OperandKind::Element),
            0 if !array.is_written && rules.repeats_elements => Some(OperandKind::Broadcast),
            _ => None,
        }
    };
    arrays.iter().enumerate().map(kind).collect()
}

/// How many adjacent elements a thread takes at once, if addresses allow it.
fn elements_per_access<const N: usize>(
    device: DeviceInfo,
    plan: &IterationPlan<N>,
    arrays: &[WalkedArray],
    kinds: &[OperandKind],
) -> u8 {
    let moving = || arrays.iter().enumerate().filter(|(k, _)| kinds[*k] == OperandKind::Element);
    let widest = moving().map(|(_, array)| array.itemsize).max().unwrap_or(1);
    let count = device.vector_bytes as usize / widest;
    let is_aligned = |(k, array): (usize, &WalkedArray)| {
        array.address.wrapping_add(plan.offsets[k] as u64).is_multiple_of((count * array.itemsize) as u64)
    };
    if count >= 2 && count.is_power_of_two() && moving().all(is_aligned) { count as u8 } else { 1 }
}

/// The walk over arrays that do not lie one after the other: through tiles where operands run along different axes, else
/// through strides.
fn strided_pattern<const N: usize>(
    device: DeviceInfo,
    plan: &IterationPlan<N>,
    arrays: &[WalkedArray],
    rules: WalkRules,
) -> AccessPattern {
    let space = plan.index_space();
    let strided = AccessPattern::Strided(space);
    let fits = |array: &WalkedArray| array.is_aligned && array.itemsize <= MAX_TRANSPOSE_TILE_ITEMSIZE;
    if !rules.sorts_axes
        || !rules.allows_tiles
        || arrays.len() > 1 + MAX_OPERANDS
        || plan.n_elements() < MIN_TILED_ELEMENTS
        || !arrays.iter().all(fits)
    {
        return strided;
    }
    let item = |k: usize| arrays.get(k).unwrap_or(&arrays[0]).itemsize;
    let Some((axis, transposed)) = plan.transposed_operands(std::array::from_fn(item)) else { return strided };
    let is_transposed = |k: &usize| transposed >> (k - 1) & 1 == 1;
    let side = usize::from(TRANSPOSE_TILE_SIDE);
    let bytes: usize = (1..arrays.len()).filter(is_transposed).map(item).sum();
    // A processor's caches hold the lines that strides come back to: there tiles save no reads, except of many elements
    // in a line.
    let is_worth_it = !device.is_simd_cpu() || bytes < 2;
    let writes_transposed = (1..arrays.len()).filter(is_transposed).any(|k| arrays[k].is_written);
    match is_worth_it && !writes_transposed && bytes * side * (side + 1) <= SHARED_BYTES {
        true => AccessPattern::Tiled(space, TransposeTile { axis, transposed, side: TRANSPOSE_TILE_SIDE }),
        false => strided,
    }
}
