//! Fuses a reduction with the expression it reduces, whose elements are computed where they are combined.
//!
//! Elements are combined in the same order as in a reduction of the stored expression, so the result is the same: the
//! plan is made for the layout of that array, and the arrays of the expression follow it.

use super::graph::FusionGraph;
use super::launch::FusedSubgraph;
use super::scope::FusionScope;
use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use crate::layout::{Layout, Order};
use crate::reduction_plan::{PackCandidate, ReductionPlan, shape_after_reduction, split_reduced_axes};
use rtcg_codegen::array::{FusedReduceSpec, ReduceSpec, ReductionOp};
use rtcg_hal::{DType, LaunchArgs, Result};
use smallvec::SmallVec;

/// A reduction that can be computed together with the expression whose elements it reduces.
pub(crate) struct FusableReduction<'a> {
    pub(crate) reduction: ReductionOp,
    pub(crate) axes: &'a [usize],
    pub(crate) compute: DType,
    pub(crate) result: DType,
    pub(crate) keepdims: bool,
}

/// The reduction of a result that was deferred; `None` if `x` is none or something has to be stored first.
pub(crate) fn reduce_deferred(x: &GpuArray, wish: &FusableReduction<'_>) -> Result<Option<GpuArray>> {
    if wish.compute.is_complex() && wish.reduction == ReductionOp::Product {
        // A product of complex numbers is contracted by what stands around it.
        return Ok(None);
    }
    let reduce = |graph: &FusionGraph, node: u16| {
        let part = FusedSubgraph::new(graph, std::iter::once(node));
        let step = part.step_index(node);
        let job = ReductionJob { x, wish, part, step };
        match job.part.arrays.len() {
            0..=2 => job.plan_and_launch::<4>(),
            3..=6 => job.plan_and_launch::<8>(),
            7..=14 => job.plan_and_launch::<16>(),
            _ => job.plan_and_launch::<256>(),
        }
    };
    FusionScope::with_graph_node(x, reduce).transpose()
}

struct ReductionJob<'a> {
    x: &'a GpuArray,
    wish: &'a FusableReduction<'a>,
    part: FusedSubgraph<'a>,
    step: u16,
}

impl ReductionJob<'_> {
    fn plan_and_launch<const N: usize>(&self) -> Result<GpuArray> {
        let (x, wish) = (self.x, self.wish);
        let kept: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, true);
        let shape: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, wish.keepdims);
        let out = GpuArray::empty(x.context(), &shape, wish.result, Order::C)?;
        let (out_kept, _) = split_reduced_axes(&Layout::contiguous(&kept, out.itemsize(), Order::C), wish.axes);
        let mut layouts: SmallVec<[(Layout, Layout); 8]> = SmallVec::new();
        layouts.push(split_reduced_axes(x.layout(), wish.axes));
        for array in &self.part.arrays {
            let layout = array.layout().broadcast_to(x.shape())?;
            let (mut kept, reduced) = split_reduced_axes(&layout, wish.axes);
            kept.offset = layout.offset;
            layouts.push((kept, reduced));
        }
        // Places that are left repeat the first one.
        let kept = IterationPlan::<N>::new(std::array::from_fn(|k| match k {
            0 => &out_kept,
            _ => layouts.get(k - 1).map_or(&out_kept, |layout| &layout.0),
        }));
        let of_reduced = std::array::from_fn(|k| &layouts.get(k).unwrap_or(&layouts[0]).1);
        let reduced = match wish.reduction.is_arg_reduction() {
            true => IterationPlan::<N>::keeping_axis_order(of_reduced),
            false => IterationPlan::<N>::new(of_reduced),
        };
        if out.size() > 0 {
            self.launch_planned(&kept, &reduced, &out)?;
        }
        Ok(out)
    }

    fn launch_planned<const N: usize>(
        &self,
        kept: &IterationPlan<N>,
        reduced: &IterationPlan<N>,
        out: &GpuArray,
    ) -> Result<()> {
        let (ctx, arrays) = (self.x.context(), &self.part.arrays);
        let address = |k: usize| arrays[k].address(kept.offsets[k + 2]).wrapping_add(reduced.offsets[k + 1] as u64);
        let plan = ReductionPlan::new(ctx, self.x.itemsize(), kept, reduced);
        let packable = arrays.iter().enumerate().map(|(k, array)| PackCandidate {
            itemsize: array.itemsize(),
            address: address(k),
            kept: kept.axes.iter().map(|axis| axis.1[k + 2]).collect(),
            reduced: reduced.single_stride(k + 1, 0).unwrap_or(0),
        });
        let kernel = plan.specialize_kernel(ReduceSpec {
            reduction: self.wish.reduction,
            x: self.x.dtype(),
            compute: self.wish.compute,
            out: self.wish.result,
            packed: plan.packable_array_mask(packable),
            kept: kept.index_space(),
            reduced: reduced.index_space(),
            ..ReduceSpec::PLAIN_SUM
        });
        let mut args = LaunchArgs::new();
        args.push_address(out.first_element_address(), 0);
        (0..arrays.len()).for_each(|k| args.push_address(address(k), 0));
        plan.push_lengths_and_workspace(ctx, &kernel, &mut args)?;
        let in_kept: SmallVec<[usize; 8]> = std::iter::once(0).chain((0..arrays.len()).map(|k| k + 2)).collect();
        let in_reduced: SmallVec<[usize; 8]> = (0..arrays.len()).map(|k| k + 1).collect();
        kept.push_dims(kernel.kept, &in_kept, &mut args);
        reduced.push_dims(kernel.reduced, &in_reduced, &mut args);
        self.part.push_scalar_args(&mut args);
        let fused = FusedReduceSpec { reduce: kernel, steps: self.part.steps.clone(), step: self.step };
        let compiled = ctx.compiled_kernel(&fused)?;
        plan.launch_kernel(ctx.queue(), &compiled, &args)
    }
}
