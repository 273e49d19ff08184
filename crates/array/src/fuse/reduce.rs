//! Fuses a reduction with the expression it reduces, whose elements are computed where they are combined.
//!
//! Elements are combined in the same order as in a reduction of the stored expression, so the result is the same: the
//! plan is made for the layout of that array, and the arrays of the expression follow it.

use super::graph::FusionGraph;
use super::launch::FusedSubgraph;
use super::scope::FusionScope;
use crate::array::GpuArray;
use crate::layout::{Layout, Order};
use crate::reduction_plan::{ReducedArray, ReductionOfArrays, shape_after_reduction};
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
        job.plan_and_launch()
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
    fn plan_and_launch(&self) -> Result<GpuArray> {
        let (x, wish, ctx) = (self.x, self.wish, self.x.context());
        let kept: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, true);
        let shape: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, wish.keepdims);
        let out = GpuArray::empty(ctx, &shape, wish.result, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        let read = |array: &&GpuArray| {
            let layout = array.layout().broadcast_to(x.shape())?;
            Ok(ReducedArray { itemsize: array.itemsize(), address: array.first_element_address(), layout })
        };
        let reduce = ReduceSpec {
            reduction: wish.reduction,
            x: x.dtype(),
            compute: wish.compute,
            out: wish.result,
            ..ReduceSpec::PLAIN_SUM
        };
        let planned = ReductionOfArrays {
            out: &Layout::contiguous(&kept, out.itemsize(), Order::C),
            stored: x.layout(),
            stored_itemsize: x.itemsize(),
            arrays: &self.part.arrays.iter().map(read).collect::<Result<SmallVec<[_; 4]>>>()?,
            has_index: false,
            axes: wish.axes,
            keeps_order: wish.reduction.is_arg_reduction(),
            is_rounded: reduce.is_rounded_sum(),
        }
        .plan(ctx);
        let reduce = ReduceSpec { shape: planned.shape, ..reduce };
        let mut args = LaunchArgs::new();
        args.push_address(out.first_element_address(), 0);
        planned.addresses.iter().for_each(|&address| args.push_address(address, 0));
        planned.push(ctx, reduce.partial_result_bytes(), &mut args)?;
        self.part.push_scalar_args(&mut args);
        let fused = FusedReduceSpec { reduce, steps: self.part.steps.clone(), step: self.step };
        let compiled = ctx.compiled_kernel(&fused)?;
        planned.plan.launch_kernel(ctx.queue(), &compiled, &args)?;
        Ok(out)
    }
}
