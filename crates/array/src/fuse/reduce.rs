//! Fuses a reduction with the expression it reduces, whose elements are computed where they are combined.
//!
//! Elements are combined in the same order as in a reduction of the stored expression, so the result is the same: the
//! plan is made for the layout of that array, and the arrays of the expression follow it.

use super::graph::FusionGraph;
use super::kernel::FusedReduceSpec;
use super::launch::FusedSubgraph;
use super::scope::FusionScope;
use crate::array::GpuArray;
use crate::layout::{Layout, Order};
use crate::reduction_plan::{ReductionOfArrays, shape_after_reduction};
use crate::walk_plan::WalkedArray;
use rtcg_codegen::array::{ReduceSpec, ReductionOp};
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
    let reduce =
        |graph: &FusionGraph, node: u16| reduce_node(x, wish, FusedSubgraph::new(graph, std::iter::once(node)));
    FusionScope::with_graph_node(x, reduce).transpose()
}

/// Plans a reduction of `x`, which is the value of the last node, and launches it.
fn reduce_node(x: &GpuArray, wish: &FusableReduction<'_>, part: FusedSubgraph<'_>) -> Result<GpuArray> {
    let ctx = x.context();
    let kept: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, true);
    let shape: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), wish.axes, wish.keepdims);
    let out = GpuArray::empty(ctx, &shape, wish.result, Order::C)?;
    if out.size() == 0 {
        return Ok(out);
    }
    let read = |array: &&GpuArray| WalkedArray::broadcast(array, x.shape(), false);
    let arrays: SmallVec<[_; 4]> = part.arrays.iter().map(read).collect::<Result<_>>()?;
    let out_layout = Layout::contiguous(&kept, out.itemsize(), Order::C);
    let reduce = ReduceSpec {
        reduction: wish.reduction,
        x: x.dtype(),
        compute: wish.compute,
        out: wish.result,
        ..ReduceSpec::PLAIN_SUM
    };
    let planned = ReductionOfArrays {
        out: &WalkedArray { layout: out_layout, ..WalkedArray::of(&out, true) },
        stored: x.layout(),
        stored_itemsize: x.itemsize(),
        arrays: &arrays,
        has_index: false,
        axes: wish.axes,
        keeps_order: wish.reduction.is_arg_reduction(),
        is_rounded: reduce.is_rounded_sum(),
        allows_adjacent_outputs: false,
    }
    .plan(ctx);
    let reduce = ReduceSpec { shape: planned.shape, ..reduce };
    let mut args = LaunchArgs::new();
    args.push_address(out.first_element_address(), 0);
    arrays.iter().zip(&planned.offsets).for_each(|(array, offset)| args.push_address(array.address, *offset));
    planned.push(ctx, reduce.partial_result_bytes(), &mut args)?;
    part.push_scalar_args(&mut args);
    let fused = FusedReduceSpec { reduce, expression: part.expression };
    let compiled = ctx.compiled_kernel(&fused)?;
    planned.plan.launch_kernel(ctx.queue(), &compiled, &args)?;
    Ok(out)
}
