//! The iteration plan of several operands: axes are dropped, reversed, sorted and merged until as few as possible
//! remain (as in NumPy's `nditer`).

use crate::layout::Layout;
use rtcg_codegen::array::{AccessPattern, IndexSpace, TRANSPOSE_TILE_THREADS, division_multiplier_and_shift};
use rtcg_hal::{BLOCK_THREADS, DeviceInfo};
use smallvec::SmallVec;

/// Numbers below this can be divided with 32-bit multiplications, and offsets fit an `int`.
const INDEX_32_BIT_LIMIT: u64 = 1 << 31;

/// One axis: its length and every operand's stride in bytes.
type PlanAxis<const N: usize> = (usize, [isize; N]);

/// The walk over `N` operands of one shape. Operand 0 is the one that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IterationPlan<const N: usize> {
    /// The axes, the fastest last. None for a single element.
    pub(crate) axes: SmallVec<[PlanAxis<N>; 4]>,
    /// The offset of the first element of each operand, in bytes.
    pub(crate) offsets: [usize; N],
}

impl<const N: usize> IterationPlan<N> {
    /// Plans the walk over layouts that have one shape (which [`Layout::broadcast_to`] gives them).
    pub(crate) fn new(layouts: [&Layout; N]) -> Self {
        Self::new_with_reordering(layouts, true, true)
    }

    /// [`IterationPlan::new`] that keeps the direction of the axes, so that the operands begin where they did.
    pub(crate) fn keeping_directions(layouts: [&Layout; N]) -> Self {
        Self::new_with_reordering(layouts, true, false)
    }

    /// [`IterationPlan::new`] that keeps the order and the direction of the axes, so that flat indices count
    /// elements in C order.
    pub(crate) fn keeping_axis_order(layouts: [&Layout; N]) -> Self {
        Self::new_with_reordering(layouts, false, false)
    }

    fn new_with_reordering(layouts: [&Layout; N], sorts: bool, reverses: bool) -> Self {
        let mut axes: SmallVec<[PlanAxis<N>; 4]> = SmallVec::new();
        let mut offsets = layouts.map(|layout| layout.offset);
        for (axis, &length) in layouts[0].shape.iter().enumerate() {
            let mut strides = layouts.map(|layout| layout.strides[axis]);
            if length == 1 {
                continue;
            }
            if reverses && strides.iter().all(|&stride| stride <= 0) && strides.iter().any(|&stride| stride < 0) {
                for (offset, stride) in offsets.iter_mut().zip(&mut strides) {
                    *offset = (*offset as isize).wrapping_add(*stride * (length as isize - 1)) as usize;
                    *stride = -*stride;
                }
            }
            axes.push((length, strides));
        }
        if sorts {
            Self::sort_axes(&mut axes);
        }
        Self { axes: merge_axes(axes), offsets }
    }

    /// The written operand's axes from the widest stride to the narrowest, so that adjacent
    /// threads write adjacent elements.
    fn sort_axes(axes: &mut [PlanAxis<N>]) {
        for end in 1..axes.len() {
            let mut at = end;
            while at > 0 && Self::has_larger_strides(&axes[at], &axes[at - 1]) {
                axes.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    fn has_larger_strides(a: &PlanAxis<N>, b: &PlanAxis<N>) -> bool {
        // Ties, as between strides of 0, are broken by the operands that are read.
        for (a, b) in a.1.iter().zip(&b.1) {
            if a.unsigned_abs() != b.unsigned_abs() {
                return a.unsigned_abs() > b.unsigned_abs();
            }
        }
        false
    }

    /// The number of elements.
    pub(crate) fn n_elements(&self) -> usize {
        self.axes.iter().map(|axis| axis.0).product()
    }

    /// The only stride of operand `k`, when there is one axis at most; `item` for a single element.
    pub(crate) fn single_stride(&self, k: usize, item: isize) -> Option<isize> {
        match self.axes.as_slice() {
            [] => Some(item),
            [axis] => Some(axis.1[k]),
            _ => None,
        }
    }

    /// The axis along which the adjacent elements of some operands lie while those of the output lie along the
    /// last one, and a bit for each of these operands (the first one after the output has the lowest).
    /// None where the strides suffice, or tiles would be mostly empty. `items` are the elements' sizes.
    pub(crate) fn transposed_operands(&self, items: [usize; N]) -> Option<(u8, u8)> {
        const MIN_TILED_LENGTH: usize = 16;
        let (last, outer) = self.axes.split_last()?;
        if last.1[0].unsigned_abs() != items[0] || last.0 < MIN_TILED_LENGTH {
            return None;
        }
        let (mut axis, mut bits) = (None, 0);
        for k in (1..N).filter(|&k| last.1[k].unsigned_abs() > 2 * items[k]) {
            let Some(along) = outer.iter().position(|outer| outer.1[k].unsigned_abs() == items[k]) else { continue };
            if axis.is_some_and(|axis| axis != along) || outer[along].0 < MIN_TILED_LENGTH {
                return None;
            }
            axis = Some(along);
            bits |= 1 << (k - 1);
        }
        axis.map(|axis| (axis as u8, bits))
    }

    /// The blocks of a kernel that walks so, and their threads.
    pub(crate) fn geometry(&self, device: DeviceInfo, pattern: AccessPattern) -> [u32; 2] {
        let work = match pattern {
            AccessPattern::Flat(elements_per_access) => self.n_elements().div_ceil(usize::from(elements_per_access)),
            AccessPattern::Strided(_) => self.n_elements(),
            AccessPattern::Tiled(_, tile) => {
                let lengths: SmallVec<[usize; 4]> = self.axes.iter().map(|axis| axis.0).collect();
                return [tile.n_tiles(&lengths).min(i32::MAX as usize) as u32, TRANSPOSE_TILE_THREADS];
            }
        };
        [device.grid_block_count(work), BLOCK_THREADS]
    }

    /// Number of axes and index width for a kernel.
    pub(crate) fn index_space(&self) -> IndexSpace {
        let reach = |k: usize| {
            self.axes.iter().fold(0u64, |total, axis| {
                total.saturating_add((axis.1[k].unsigned_abs() as u64).saturating_mul(axis.0 as u64))
            })
        };
        let wide = self.n_elements() as u64 >= INDEX_32_BIT_LIMIT || (0..N).any(|k| reach(k) >= INDEX_32_BIT_LIMIT);
        IndexSpace { ndim: self.axes.len().max(1) as u8, wide }
    }

    /// Appends the structure that a strided kernel reads: lengths, numbers for division, strides.
    pub(crate) fn push_dims(&self, space: IndexSpace, operands: &[usize], args: &mut rtcg_hal::LaunchArgs) {
        let ndim = usize::from(space.ndim);
        let length = |axis: usize| self.axes.get(axis).map_or(1, |axis| axis.0);
        let stride = |axis: usize, k: usize| self.axes.get(axis).map_or(0, |axis| axis.1[k]);
        if space.wide {
            (0..ndim).for_each(|axis| args.push(&(length(axis) as u64).to_ne_bytes(), 8));
            for &k in operands {
                (0..ndim).for_each(|axis| args.push(&(stride(axis, k) as i64).to_ne_bytes(), 8));
            }
            return;
        }
        let mut put = |value: u32| args.push(&value.to_ne_bytes(), 4);
        (0..ndim).for_each(|axis| put(length(axis) as u32));
        (0..ndim).for_each(|axis| put(division_multiplier_and_shift(length(axis) as u32).0));
        (0..ndim).for_each(|axis| put(division_multiplier_and_shift(length(axis) as u32).1));
        for &k in operands {
            (0..ndim).for_each(|axis| put(stride(axis, k) as i32 as u32));
        }
    }
}

/// Merges adjacent axes that every operand walks as one.
fn merge_axes<S: AsRef<[isize]>>(axes: impl IntoIterator<Item = (usize, S)>) -> SmallVec<[(usize, S); 4]> {
    let mut merged: SmallVec<[(usize, S); 4]> = SmallVec::new();
    for (length, strides) in axes {
        let steps = strides.as_ref().iter().map(|stride| stride.wrapping_mul(length as isize));
        match merged.last_mut() {
            Some(outer) if outer.1.as_ref().iter().copied().eq(steps) => *outer = (outer.0 * length, strides),
            _ => merged.push((length, strides)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Order;

    #[test]
    fn contiguous_operands_become_one_axis() {
        for order in [Order::C, Order::F] {
            let layout = Layout::contiguous(&[2, 3, 4], 4, order);
            let plan = IterationPlan::new([&layout, &layout]);
            assert_eq!(plan.axes[..], [(24, [4, 4])]);
        }
        let point = Layout::contiguous(&[], 4, Order::C).broadcast_to(&[2, 3]).unwrap();
        let dense = Layout::contiguous(&[2, 3], 4, Order::C);
        assert_eq!(IterationPlan::new([&dense, &point]).axes[..], [(6, [4, 0])]);
    }

    #[test]
    fn rows_that_are_repeated_keep_two_axes() {
        let dense = Layout::contiguous(&[5, 3], 4, Order::C);
        let row = Layout::contiguous(&[3], 8, Order::C).broadcast_to(&[5, 3]).unwrap();
        assert_eq!(IterationPlan::new([&dense, &row]).axes[..], [(5, [12, 0]), (3, [4, 8])]);
    }

    #[test]
    fn operands_that_run_along_another_axis_are_found() {
        let plain = Layout::contiguous(&[40, 50], 4, Order::C);
        let turned = Layout::contiguous(&[40, 50], 4, Order::F);
        assert_eq!(IterationPlan::new([&plain, &plain, &turned]).transposed_operands([4, 4, 4]), Some((0, 2)));
        assert_eq!(IterationPlan::new([&turned, &turned, &plain]).transposed_operands([4, 4, 4]), Some((0, 2)));
        assert_eq!(IterationPlan::new([&turned, &turned]).transposed_operands([4, 4]), None);
        let narrow = [Order::C, Order::F].map(|order| Layout::contiguous(&[40, 5], 4, order));
        assert_eq!(IterationPlan::new([&narrow[0], &narrow[1]]).transposed_operands([4, 4]), None);
    }

    #[test]
    fn axes_that_all_run_backwards_are_reversed() {
        let back = Layout::contiguous(&[6], 4, Order::C).flip(None).unwrap();
        let plan = IterationPlan::new([&back, &back]);
        assert_eq!(plan.axes[..], [(6, [4, 4])]);
        assert_eq!(plan.offsets, [0, 0]);
        let ahead = Layout::contiguous(&[6], 4, Order::C);
        assert_eq!(IterationPlan::new([&ahead, &back]).axes[..], [(6, [4, -4])]);
    }
}
