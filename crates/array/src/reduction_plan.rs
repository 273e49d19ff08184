//! The plan of a reduction: which threads combine which elements, in what order, with which memory. Arrays and fused
//! expressions share the plan, so that their results agree.

use crate::iteration_plan::IterationPlan;
use crate::layout::{Layout, Order};
use crate::walk_plan::WalkedArray;
use rtcg_codegen::array::{IndexSpace, ReduceShape};
use rtcg_codegen::block_reduce::{MAX_SERIAL_TERMS, ReduceChoice, ReduceProblem, WorkPartition};
use rtcg_hal::{ArrayContext, DeviceInfo, Kernel, LaunchArgs, Queue, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// The memory in which the parts of split runs are combined ([`rtcg_hal::Device::reduction_workspace`]), which may move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReductionWorkspace {
    /// Bytes beside the completion counters.
    pub(crate) nbytes: usize,
    /// Which argument the address of these bytes is; that of the counters follows.
    pub(crate) at: usize,
}

pub(crate) fn shape_after_reduction(shape: &[usize], axes: &[usize], keepdims: bool) -> SmallVec<[usize; 4]> {
    let kept = shape.iter().enumerate().filter_map(|(axis, &length)| match axes.contains(&axis) {
        true => keepdims.then_some(1),
        false => Some(length),
    });
    kept.collect()
}

/// The parts of a layout that belong to kept and to reduced axes.
fn split_reduced_axes(layout: &Layout, axes: &[usize]) -> (Layout, Layout) {
    let pick = |reduced: bool| {
        let chosen = (0..layout.ndim()).filter(|axis| axes.contains(axis) == reduced);
        Layout {
            shape: chosen.clone().map(|axis| layout.shape[axis]).collect(),
            strides: chosen.map(|axis| layout.strides[axis]).collect(),
            offset: 0,
        }
    };
    (pick(false), pick(true))
}

/// How a reduction uses the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReductionPlan {
    partition: WorkPartition,
    reduce_contiguous: bool,
    pack: usize,
    n_out: usize,
    n_red: usize,
    per_split: usize,
    blocks: u32,
    /// Packs, or elements, that a thread fetches before it combines the first of them.
    unroll: usize,
    /// Adjacent outputs of a thread.
    outputs_per_thread: usize,
    /// There may be more than one.
    has_adjacent_outputs: bool,
}

impl ReductionPlan {
    /// For an array whose strides come after those of the output in `kept`, and first in `reduced`.
    /// An expression that is reduced has the plan of the array that it would have been stored in.
    fn new<const K: usize, const R: usize>(
        ctx: &ArrayContext,
        itemsize: usize,
        kept: &IterationPlan<K>,
        reduced: &IterationPlan<R>,
    ) -> Self {
        let (n_out, n_red) = (kept.n_elements(), reduced.n_elements());
        let innermost = |stride: Option<isize>| stride.map_or(usize::MAX, isize::unsigned_abs);
        let red_stride = innermost(reduced.axes.last().map(|axis| axis.1[0]));
        let kept_stride = innermost(kept.axes.last().map(|axis| axis.1[1]));
        let reduce_contiguous = n_red >= 8 && (red_stride <= kept_stride || n_out < 8);
        let device_info = ctx.device_info();
        let (outputs, length) = (n_out as i64, n_red as i64);
        let problem = ReduceProblem { outputs, length, contiguous: reduce_contiguous, itemsize: itemsize as i64 };
        let (choice, resident) = (ctx.choose::<ReduceChoice>(&problem), device_info.resident_blocks());
        let partition = WorkPartition::chosen(&choice, n_out, n_red, reduce_contiguous, resident);
        // Only the array itself decides: other operands of an expression may keep axes apart.
        let dense = reduced.axes.iter().rev().try_fold(itemsize as isize, |expected, axis| {
            (axis.1[0] == expected).then_some(expected * axis.0 as isize)
        });
        let pack = match reduce_contiguous && dense.is_some() {
            true => (device_info.vector_bytes as usize / itemsize.max(1)).clamp(1, 16),
            false => 1,
        };
        let pack = if pack.is_power_of_two() { pack } else { 1 };
        // Arrays that are not aligned are cut as others are, so that sums do not depend on it.
        let unroll = match pack {
            1 => choice.unroll as usize,
            _ => (choice.in_flight_bytes as usize / (pack * itemsize.max(1))).clamp(1, 8),
        };
        let splits = match pack {
            1 => partition.splits,
            _ => partition.splits.min(n_red / (pack * partition.threads_per_output as usize * unroll)).max(1),
        };
        let per_split = n_red.div_ceil(splits).max(1);
        let splits = n_red.div_ceil(per_split).max(1);
        let partition = partition.with_splits(splits, n_out, resident, choice.gather);
        let blocks = n_out.div_ceil(partition.outputs_per_block()).min(device_info.max_blocks as usize) as u32;
        let has_adjacent_outputs = choice.adjacent_outputs;
        Self {
            partition,
            reduce_contiguous,
            pack,
            n_out,
            n_red,
            per_split,
            blocks,
            unroll,
            outputs_per_thread: 1,
            has_adjacent_outputs,
        }
    }

    /// The plan whose threads have adjacent outputs, where the elements of these are adjacent too and lie at
    /// addresses that packs may be read from and written to; else the same. Nothing but `x` is read.
    fn with_outputs_per_thread<const K: usize, const R: usize>(
        self,
        device_info: DeviceInfo,
        out: &VectorOperand,
        x: &VectorOperand,
        kept: &IterationPlan<K>,
        reduced: &IterationPlan<R>,
    ) -> Self {
        let outputs_per_thread = (device_info.vector_bytes as usize / out.itemsize.max(x.itemsize).max(1)).clamp(1, 16);
        let Some((row, outer)) = kept.axes.split_last() else { return self };
        let is_row = row.1[0] == out.itemsize as isize && row.1[1] == x.itemsize as isize;
        let fits = |bytes: isize, operand: &VectorOperand| {
            (bytes as i64 as u64).is_multiple_of((outputs_per_thread * operand.itemsize) as u64)
        };
        let is_placed = fits(out.address as isize, out)
            && fits(x.address as isize, x)
            && outer.iter().all(|axis| fits(axis.1[0], out) && fits(axis.1[1], x))
            && reduced.axes.iter().all(|axis| fits(axis.1[0], x));
        let is_alone = self.partition.threads_per_output == 1 && self.partition.splits == 1;
        if !self.has_adjacent_outputs
            || !is_alone
            || !is_row
            || !is_placed
            || !outputs_per_thread.is_power_of_two()
            || !row.0.is_multiple_of(outputs_per_thread)
        {
            return self;
        }
        let blocks = (self.n_out / outputs_per_thread)
            .div_ceil(self.partition.threads as usize)
            .clamp(1, device_info.max_blocks as usize) as u32;
        Self { outputs_per_thread, blocks, ..self }
    }

    /// A bit for each of the arrays whose packs lie one after the other at addresses that packs may be
    /// read from: dtype, first address, strides of the kept axes and of the reduced ones.
    fn packable_array_mask(&self, arrays: impl Iterator<Item = PackCandidate>) -> u32 {
        let is_packed = |array: &PackCandidate| {
            let bytes = (self.pack * array.itemsize) as u64;
            let is_placed = array.address.is_multiple_of(bytes)
                && array.kept.iter().all(|&stride| (stride as i64 as u64).is_multiple_of(bytes));
            bytes <= 64 && array.itemsize.is_power_of_two() && is_placed && array.reduced == array.itemsize as isize
        };
        let bits = arrays.take(32).enumerate().filter(|(_, array)| is_packed(array)).map(|(at, _)| 1 << at);
        if self.reduce_contiguous { bits.sum() } else { 0 }
    }

    /// The part of the kernel's key that is decided here. `is_rounded` says whether results depend on the order of
    /// additions.
    fn kernel_shape(
        &self,
        is_rounded: bool,
        [packed, shared]: [u32; 2],
        kept: IndexSpace,
        reduced: IndexSpace,
    ) -> ReduceShape {
        let terms = self.per_split.div_ceil(self.partition.threads_per_output as usize);
        ReduceShape {
            cascaded: is_rounded && terms > MAX_SERIAL_TERMS,
            threads: self.partition.threads as u16,
            threads_per_output: self.partition.threads_per_output as u16,
            reduce_contiguous: self.reduce_contiguous,
            split: self.partition.splits > 1,
            gather: self.partition.gather,
            outputs_per_thread: self.outputs_per_thread as u8,
            pack: self.pack as u8,
            unroll: self.unroll as u8,
            packed,
            shared,
            kept,
            reduced,
        }
    }

    /// Appends lengths, and where split runs are combined; returns what the latter is found again by.
    fn push_lengths_and_workspace(
        &self,
        ctx: &ArrayContext,
        partial_bytes: usize,
        args: &mut LaunchArgs,
    ) -> Result<Option<ReductionWorkspace>> {
        [self.n_out, self.n_red, self.per_split].iter().for_each(|&n| args.push_u64(n as u64));
        let nbytes = self.partition.splits * self.n_out * partial_bytes;
        let place = (self.partition.splits > 1).then_some(ReductionWorkspace { nbytes, at: args.count() });
        let (counters, partials) = match place {
            Some(_) => ctx.queue().reduction_workspace(nbytes)?,
            None => (0, 0),
        };
        args.push_address(partials, 0);
        args.push_address(counters, 0);
        Ok(place)
    }

    /// The blocks of the launch: groups of runs, and splits of each run.
    pub(crate) fn launch_grid(&self) -> [u32; 3] {
        [self.blocks, self.partition.splits as u32, 1]
    }

    pub(crate) fn block_dim(&self) -> [u32; 3] {
        [self.partition.threads, 1, 1]
    }

    /// Launches the kernel with packed arguments.
    pub(crate) fn launch_kernel(&self, queue: &dyn Queue, kernel: &Arc<dyn Kernel>, args: &LaunchArgs) -> Result<()> {
        queue.launch(kernel, self.launch_grid(), self.block_dim(), 0, args.view())
    }
}

/// An array whose adjacent elements belong to adjacent outputs.
struct VectorOperand {
    itemsize: usize,
    address: u64,
}

/// What decides whether an array can be read in packs.
struct PackCandidate {
    itemsize: usize,
    address: u64,
    kept: SmallVec<[isize; 4]>,
    reduced: isize,
}

/// A reduction of values that are computed from any number of arrays.
pub(crate) struct ReductionOfArrays<'a> {
    /// The output, with axes of length 1 where axes are reduced.
    pub(crate) out: &'a WalkedArray,
    /// The array that the values would be stored in, which decides the plan.
    pub(crate) stored: &'a Layout,
    pub(crate) stored_itemsize: usize,
    pub(crate) arrays: &'a [WalkedArray],
    /// Whether the index of an element in C order is an operand, behind the arrays.
    pub(crate) has_index: bool,
    pub(crate) axes: &'a [usize],
    /// Whether elements are combined in C order.
    pub(crate) keeps_order: bool,
    /// Whether results depend on the order of additions.
    pub(crate) is_rounded: bool,
    /// Whether a thread may have adjacent outputs of the only array.
    pub(crate) allows_adjacent_outputs: bool,
}

/// What a launch needs of its plan.
pub(crate) struct PlannedReduction {
    pub(crate) plan: ReductionPlan,
    pub(crate) shape: ReduceShape,
    /// Where the walk over each array begins, in bytes after its first element.
    pub(crate) offsets: SmallVec<[usize; 8]>,
    /// Where that over the output begins.
    pub(crate) out_offset: usize,
    dims: [(SmallVec<[u8; 64]>, usize); 2],
}

impl PlannedReduction {
    /// Appends lengths, the memory of split runs, and the axes.
    pub(crate) fn push(
        &self,
        ctx: &ArrayContext,
        partial_bytes: usize,
        args: &mut LaunchArgs,
    ) -> Result<Option<ReductionWorkspace>> {
        let workspace = self.plan.push_lengths_and_workspace(ctx, partial_bytes, args)?;
        self.dims.iter().for_each(|(bytes, align)| args.push(bytes, *align));
        Ok(workspace)
    }
}

impl ReductionOfArrays<'_> {
    pub(crate) fn plan(&self, ctx: &ArrayContext) -> PlannedReduction {
        match self.arrays.len() + usize::from(self.has_index) {
            0..=2 => self.plan_for::<4>(ctx),
            3..=6 => self.plan_for::<8>(ctx),
            7..=14 => self.plan_for::<16>(ctx),
            _ => self.plan_for::<256>(ctx),
        }
    }

    fn plan_for<const N: usize>(&self, ctx: &ArrayContext) -> PlannedReduction {
        let (out, _) = split_reduced_axes(&self.out.layout, self.axes);
        let counting = Layout::contiguous(&self.stored.shape, 1, Order::C);
        let walked = self.arrays.iter().map(|array| &array.layout).chain(self.has_index.then_some(&counting));
        // First what would be stored; places that are left repeat it.
        let layouts: SmallVec<[(Layout, Layout); 8]> =
            std::iter::once(self.stored).chain(walked).map(|layout| split_reduced_axes(layout, self.axes)).collect();
        let kept = IterationPlan::<N>::new(std::array::from_fn(|k| match k {
            0 => &out,
            _ => layouts.get(k - 1).map_or(&out, |layout| &layout.0),
        }));
        let of_reduced = std::array::from_fn(|k| &layouts.get(k).unwrap_or(&layouts[0]).1);
        let reduced = match self.keeps_order {
            true => IterationPlan::<N>::keeping_axis_order(of_reduced),
            false => IterationPlan::<N>::new(of_reduced),
        };
        let offset = |k: usize| kept.offsets[k + 2].wrapping_add(reduced.offsets[k + 1]);
        let offsets: SmallVec<[usize; 8]> = (0..self.arrays.len()).map(offset).collect();
        let address = |k: usize| self.arrays[k].address.wrapping_add(offsets[k] as u64);
        let mut plan = ReductionPlan::new(ctx, self.stored_itemsize, &kept, &reduced);
        if self.allows_adjacent_outputs && self.arrays.len() == 1 {
            let out = self.out.address.wrapping_add(kept.offsets[0] as u64);
            let operand = |itemsize, address| VectorOperand { itemsize, address };
            let (out, x) = (operand(self.out.itemsize, out), operand(self.arrays[0].itemsize, address(0)));
            plan = plan.with_outputs_per_thread(ctx.device_info(), &out, &x, &kept, &reduced);
        }
        let packable = self.arrays.iter().enumerate().map(|(k, array)| PackCandidate {
            itemsize: array.itemsize,
            address: address(k),
            kept: kept.axes.iter().map(|axis| axis.1[k + 2]).collect(),
            reduced: reduced.single_stride(k + 1, 0).unwrap_or(0),
        });
        let packed = plan.packable_array_mask(packable);
        let is_shared = |k: &usize| plan.n_out > 1 && kept.axes.iter().all(|axis| axis.1[k + 2] == 0);
        let shared: u32 = (0..self.arrays.len().min(32)).filter(is_shared).map(|k| 1 << k).sum();
        let masks = [packed, packed & shared];
        let shape = plan.kernel_shape(self.is_rounded, masks, kept.index_space(), reduced.index_space());
        let dims = |walk: &IterationPlan<N>, space: IndexSpace, operands: SmallVec<[usize; 8]>| {
            let mut args = LaunchArgs::new();
            walk.push_dims(space, &operands, &mut args);
            (SmallVec::from_slice(args.packed_bytes()), if space.wide { 8 } else { 4 })
        };
        let n = layouts.len() - 1;
        let in_kept = std::iter::once(0).chain((0..n).map(|k| k + 2)).collect();
        let dims = [dims(&kept, shape.kept, in_kept), dims(&reduced, shape.reduced, (1..=n).collect())];
        PlannedReduction { plan, shape, offsets, out_offset: kept.offsets[0], dims }
    }
}
