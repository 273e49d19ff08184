//! Reductions over axes: NumPy's result types and checks, and the launch. Fused expressions share the plan
//! (`reduction_plan.rs`).

mod statistics;

use crate::array::{Arg, GpuArray};
use crate::call_cache::{ArrayCall, CachedCall, PlannedLaunch, insert_call, lookup_and_launch};
use crate::elementwise::{OpOptions, apply_elementwise};
use crate::fuse::{self, FusableReduction};
use crate::layout::{Order, PythonTuple};
use crate::out_argument::check_reduction_out;
use crate::reduction_plan::{ReductionOfArrays, shape_after_reduction};
use crate::scalar::Scalar;
use crate::views::normalize_axes;
use crate::walk_plan::WalkedArray;
use rtcg_codegen::array::{Op, ReduceSpec, ReductionOp};
use rtcg_hal::{ArrayError, DType, LaunchArgs, Result, WeakScalar};
use smallvec::SmallVec;
pub use statistics::Statistic;

/// The axes of a reduction; `None` means all.
pub type ReducedAxes<'a> = Option<&'a [isize]>;

/// Options of a reduction.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReduceOptions<'a> {
    /// The axes to reduce; `None` means all.
    pub axes: ReducedAxes<'a>,
    /// Whether to keep them with length 1.
    pub keepdims: bool,
    /// The dtype of the result and the computation.
    pub dtype: Option<DType>,
    /// The array for the result.
    pub out: Option<&'a GpuArray>,
    /// A mask, which is broadcast: only elements where it is true take part.
    pub mask: Option<&'a GpuArray>,
    /// A further element that takes part.
    pub initial: Option<Scalar>,
}

/// Computation and result type of a reduction of elements of `dtype`.
fn reduction_dtypes(reduction: ReductionOp, dtype: DType, wish: Option<DType>) -> Result<(DType, DType)> {
    use rtcg_hal::DTypeKind;
    if dtype.kind() == DTypeKind::Record {
        return Err(ArrayError::type_error(format!(
            "cannot perform reduction '{}' of records",
            reduction.numpy_name()
        )));
    }
    let widened = match dtype.kind() {
        DTypeKind::Bool | DTypeKind::Signed => DType::I64,
        DTypeKind::Unsigned => DType::U64,
        _ => dtype,
    };
    Ok(match reduction {
        ReductionOp::Sum | ReductionOp::Product => {
            let result = wish.unwrap_or(widened);
            (result, result)
        }
        ReductionOp::Any | ReductionOp::All => (DType::Bool, wish.unwrap_or(DType::Bool)),
        ReductionOp::ArgMinimum | ReductionOp::ArgMaximum => (dtype, DType::I64),
        ReductionOp::CountNonzero => (DType::I64, wish.unwrap_or(DType::I64)),
        ReductionOp::Minimum | ReductionOp::Maximum | ReductionOp::Dot | ReductionOp::SumSquaredDeviations => {
            let result = wish.unwrap_or(dtype);
            (result, result)
        }
    })
}

/// One reduction that is about to be launched.
struct ReductionJob<'a> {
    reduction: ReductionOp,
    x: &'a GpuArray,
    y: Option<&'a GpuArray>,
    mask: Option<&'a GpuArray>,
    compute: DType,
    out: &'a GpuArray,
    axes: &'a [usize],
}

impl GpuArray {
    /// Reduces over axes.
    ///
    /// # Errors
    /// When an axis does not exist, there are no elements to reduce and the operation needs one, or `out` does not fit.
    pub fn reduce(&self, reduction: ReductionOp, options: ReduceOptions<'_>) -> Result<GpuArray> {
        reduce_cached(reduction, self, None, options)
    }

    /// Computes the sum of the products with an array of the same shape, over all elements.
    ///
    /// # Errors
    /// When the shapes differ.
    pub fn dot_flat(&self, other: &GpuArray, dtype: Option<DType>) -> Result<GpuArray> {
        if self.shape() != other.shape() {
            let (a, b) = (PythonTuple(self.shape()), PythonTuple(other.shape()));
            return Err(ArrayError::value_error(format!(
                "dot: operands have shapes {a} and {b}; expected equal shapes"
            )));
        }
        let dtype = dtype.unwrap_or_else(|| self.dtype().promote(other.dtype()));
        let options = ReduceOptions { dtype: Some(dtype), ..Default::default() };
        reduce_cached(ReductionOp::Dot, self, Some(other), options)
    }
}

/// A reduction, by the plan of one like it if there was one.
fn reduce_cached(
    reduction: ReductionOp,
    x: &GpuArray,
    y: Option<&GpuArray>,
    options: ReduceOptions<'_>,
) -> Result<GpuArray> {
    let Some(what) = call_key(reduction, x, &options) else {
        return reduce_and_prepare_launch(reduction, x, y, options).map(|(result, _)| result);
    };
    let args: SmallVec<[Arg<'_>; 2]> = [Some(x), y].into_iter().flatten().map(Arg::Array).collect();
    if let Some(result) = lookup_and_launch(x.context(), &what, &args, None)? {
        return Ok(result);
    }
    let epoch = x.context().choices_epoch();
    let (result, prepared) = reduce_and_prepare_launch(reduction, x, y, options)?;
    if let Some(prepared) = prepared {
        insert_call(x.context(), &args, CachedCall::new(what, epoch, &args, None, &result, prepared));
    }
    Ok(result)
}

/// What is requested, if calls like this one end in the same launch.
fn call_key(reduction: ReductionOp, x: &GpuArray, options: &ReduceOptions<'_>) -> Option<ArrayCall> {
    if fuse::is_active() || options.out.is_some() || options.mask.is_some() || options.initial.is_some() {
        return None;
    }
    let ndim = x.ndim();
    let axes = match options.axes {
        None => (1u64 << ndim.min(63)) - 1,
        Some(axes) => axes.iter().try_fold(0u64, |bits, &axis| {
            let axis = if axis < 0 { axis + ndim as isize } else { axis };
            let bit = 1u64.checked_shl(u32::try_from(axis).ok()?)?;
            ((axis as usize) < ndim && bits & bit == 0).then_some(bits | bit)
        })?,
    };
    (ndim < 64).then_some(ArrayCall::Reduce { reduction, dtype: options.dtype, axes, keepdims: options.keepdims })
}

/// The dtype of `out` where that holds all elements and decides how is computed, as in NumPy: of sums and products of
/// floats; of a minimum or maximum that begins with a value, which need not be one of the elements' dtype then.
fn dtype_by_out(reduction: ReductionOp, x: &GpuArray, options: &ReduceOptions<'_>) -> Option<DType> {
    let decides = match reduction {
        ReductionOp::Minimum | ReductionOp::Maximum => options.initial.is_some(),
        ReductionOp::Sum | ReductionOp::Product => !x.dtype().is_integral(),
        _ => false,
    };
    let out = options.out.filter(|_| decides)?.dtype();
    (x.dtype().promote(out) == out).then_some(out)
}

/// The result, and the launch for calls that are like this one where it took but one.
fn reduce_and_prepare_launch(
    reduction: ReductionOp,
    x: &GpuArray,
    y: Option<&GpuArray>,
    options: ReduceOptions<'_>,
) -> Result<(GpuArray, Option<PlannedLaunch>)> {
    let axes: SmallVec<[usize; 4]> = match options.axes {
        Some(axes) => normalize_axes(axes, x.ndim())?,
        None => (0..x.ndim()).collect(),
    };
    let wish = options.dtype.or_else(|| dtype_by_out(reduction, x, &options));
    let (compute, result) = reduction_dtypes(reduction, x.dtype(), wish)?;
    check_identity(reduction, x, &axes, &options)?;
    if y.is_none() && options.mask.is_none() && options.out.is_none() {
        let wish = FusableReduction { reduction, axes: &axes, compute, result, keepdims: options.keepdims };
        if let Some(out) = fuse::reduce_deferred(x, &wish)? {
            let out = match options.initial {
                Some(initial) => combine_with_initial(reduction, &out, initial)?,
                None => out,
            };
            return Ok((out, None));
        }
    }
    let kept: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), &axes, true);
    let shape: SmallVec<[usize; 4]> = shape_after_reduction(x.shape(), &axes, options.keepdims);
    let out = match options.out {
        Some(out) => check_out_argument(reduction, out, &shape, result)?.clone(),
        None => GpuArray::empty(x.context(), &shape, result, Order::C)?,
    };
    let mask = options.mask.map(|mask| mask.to_dtype(DType::Bool)?.broadcast_to(x.shape())).transpose()?;
    let y = y.map(|y| y.broadcast_to(x.shape())).transpose()?;
    let overlapping = [Some(x), y.as_ref(), mask.as_ref()].into_iter().flatten().any(|array| array.overlaps(&out));
    let target = if overlapping { GpuArray::empty(x.context(), &shape, out.dtype(), Order::C)? } else { out.clone() };
    let with_axes = target.reshape_to(&kept, Order::C).ok().filter(|view| is_same_memory(view, &target));
    let plan = match with_axes {
        Some(view) => view,
        None => expand_reduced_axes(&target, &axes, options.keepdims)?,
    };
    let job = ReductionJob { reduction, x, y: y.as_ref(), mask: mask.as_ref(), compute, out: &plan, axes: &axes };
    let prepared = plan_and_launch(&job)?;
    if overlapping {
        out.assign(&target)?;
    }
    match options.initial {
        Some(initial) => Ok((combine_with_initial(reduction, &out, initial)?, None)),
        None => Ok((out, prepared)),
    }
}

fn is_same_memory(a: &GpuArray, b: &GpuArray) -> bool {
    a.device_ptr() == b.device_ptr()
}

fn expand_reduced_axes(out: &GpuArray, axes: &[usize], keepdims: bool) -> Result<GpuArray> {
    if keepdims {
        return Ok(out.clone());
    }
    let axes: SmallVec<[isize; 4]> = axes.iter().map(|&axis| axis as isize).collect();
    out.expand_dims(&axes)
}

fn check_identity(reduction: ReductionOp, x: &GpuArray, axes: &[usize], options: &ReduceOptions<'_>) -> Result<()> {
    let count: usize = axes.iter().map(|&axis| x.shape()[axis]).product();
    if reduction.is_arg_reduction() && count == 0 {
        return Err(ArrayError::value_error(format!("attempt to get {} of an empty sequence", reduction.numpy_name())));
    }
    if reduction.has_identity() || options.initial.is_some() {
        return Ok(());
    }
    if count == 0 {
        return Err(ArrayError::value_error(format!(
            "zero-size array to reduction operation {} which has no identity",
            reduction.numpy_name()
        )));
    }
    match options.mask {
        Some(_) => Err(ArrayError::value_error(format!(
            "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
            reduction.numpy_name()
        ))),
        None => Ok(()),
    }
}

fn check_out_argument<'a>(
    reduction: ReductionOp,
    out: &'a GpuArray,
    shape: &[usize],
    dtype: DType,
) -> Result<&'a GpuArray> {
    let name = reduction.numpy_name();
    let wrong_shape = |given: PythonTuple<'_, usize>, expected: PythonTuple<'_, usize>| {
        format!("output parameter for reduction operation {name} has shape {given}; expected {expected}")
    };
    // NumPy writes indices to what int64 holds.
    let holds_more = out.dtype().promote(dtype) != dtype;
    match reduction.is_arg_reduction() && holds_more {
        true => Err(ArrayError::type_error(format!(
            "out of '{name}' is of dtype {}; expected one that {dtype} holds",
            out.dtype()
        ))),
        false => check_reduction_out(name, out, shape, wrong_shape),
    }
}

fn combine_with_initial(reduction: ReductionOp, out: &GpuArray, initial: Scalar) -> Result<GpuArray> {
    let op = match reduction {
        ReductionOp::Product => Op::Multiply,
        ReductionOp::Minimum => Op::Minimum,
        ReductionOp::Maximum => Op::Maximum,
        ReductionOp::Any => Op::LogicalOr,
        ReductionOp::All => Op::LogicalAnd,
        _ => Op::Add,
    };
    // NumPy takes any number for the truth value that a reduction to bool begins with.
    let initial = match out.dtype() {
        DType::Bool => Scalar::Weak(WeakScalar::Bool(initial.to_element(DType::Bool)?.bytes()[0] != 0)),
        _ => initial,
    };
    apply_elementwise(
        out.context(),
        op,
        &[Arg::Array(out), Arg::Scalar(initial)],
        OpOptions { out: Some(out), dtype: None },
    )
}

fn plan_and_launch(job: &ReductionJob<'_>) -> Result<Option<PlannedLaunch>> {
    if job.out.size() == 0 {
        return Ok(None);
    }
    let read = || [Some(job.x), job.y, job.mask].into_iter().flatten();
    read().try_for_each(GpuArray::check_memory)?;
    let ctx = job.x.context();
    let arrays: SmallVec<[WalkedArray; 3]> = read().map(|array| WalkedArray::of(array, false)).collect();
    let mut kernel = ReduceSpec {
        reduction: job.reduction,
        x: job.x.dtype(),
        y: job.y.map(GpuArray::dtype),
        masked: job.mask.is_some(),
        compute: job.compute,
        out: job.out.dtype(),
        ..ReduceSpec::PLAIN_SUM
    };
    let planned = ReductionOfArrays {
        out: &WalkedArray::of(job.out, true),
        stored: job.x.layout(),
        stored_itemsize: job.x.itemsize(),
        arrays: &arrays,
        has_index: false,
        axes: job.axes,
        keeps_order: job.reduction.is_arg_reduction(),
        is_rounded: kernel.is_rounded_sum(),
        allows_adjacent_outputs: true,
    }
    .plan(ctx);
    kernel.shape = planned.shape;
    let mut args = LaunchArgs::new();
    args.push_address(job.out.first_element_address(), planned.out_offset);
    arrays.iter().zip(&planned.offsets).for_each(|(array, offset)| args.push_address(array.address, *offset));
    let workspace = planned.push(ctx, kernel.partial_result_bytes(), &mut args)?;
    let launch = ctx.prepare_launch(&kernel, planned.plan.launch_grid(), planned.plan.block_dim(), args)?;
    launch.enqueue(ctx.queue())?;
    // Without elements there is no address to fill in.
    let is_repeatable = job.mask.is_none() && job.x.size() != 0;
    Ok(is_repeatable.then(|| PlannedLaunch { launch, addresses: None, values: SmallVec::new(), workspace }))
}
