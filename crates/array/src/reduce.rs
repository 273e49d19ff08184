//! Reductions over axes: which kernel, how the work is split, and NumPy's result types.

use crate::array::GpuArray;
use crate::call_cache::{CachedCall, CallKey, PreparedLaunch, ReductionWorkspace};
use crate::elementwise::{Arg, OpOptions, apply_elementwise, can_cast_same_kind};
use crate::error::{ArrayError, Result};
use crate::fuse;
use crate::iteration_plan::IterationPlan;
use crate::launch::PackedKernelArgs;
use crate::layout::{Layout, Order, PythonTuple};
use crate::runtime::{ArrayContext, LaunchableKernel};
use crate::scalar::Scalar;
use crate::views::normalize_axes;
use rtcg_codegen::DeviceInfo;
use rtcg_codegen::array::{Op, ReduceSpec, ReductionOp};
use rtcg_codegen::block_reduce::{ReduceChoice, ReduceProblem, WorkPartition};
use rtcg_codegen::{DType, WeakScalar};
use smallvec::SmallVec;

/// The axes of a reduction; all of them without a list.
pub type ReducedAxes<'a> = Option<&'a [isize]>;

/// Options of a reduction.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReduceOptions<'a> {
    /// The axes that go; all without a list.
    pub axes: ReducedAxes<'a>,
    /// Keep them with length 1.
    pub keepdims: bool,
    /// The result's type, in which is computed.
    pub dtype: Option<DType>,
    /// Where the result goes.
    pub out: Option<&'a GpuArray>,
    /// Only elements where this array is true count; it is broadcast.
    pub mask: Option<&'a GpuArray>,
    /// Takes part as a further element.
    pub initial: Option<Scalar>,
}

/// Computation and result type of a reduction of elements of `dtype`.
fn reduction_dtypes(reduction: ReductionOp, dtype: DType, wish: Option<DType>) -> Result<(DType, DType)> {
    use rtcg_codegen::DTypeKind;
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

/// A reduction that can be computed together with the expression whose elements it reduces.
pub(crate) struct FusableReduction<'a> {
    pub(crate) reduction: ReductionOp,
    pub(crate) axes: &'a [usize],
    pub(crate) compute: DType,
    pub(crate) result: DType,
    pub(crate) keepdims: bool,
}

impl GpuArray {
    /// Reduces axes.
    ///
    /// # Errors
    /// When an axis does not exist, a run without elements has no result, or `out` does not fit.
    pub fn reduce(&self, reduction: ReductionOp, options: ReduceOptions<'_>) -> Result<GpuArray> {
        reduce_cached(reduction, self, None, options)
    }

    /// The sum of the products with an array of this shape, over all elements.
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
    if let Some(result) = x.context().lookup_and_launch(what, &args, None)? {
        return Ok(result);
    }
    let epoch = x.context().choices_epoch();
    let (result, prepared) = reduce_and_prepare_launch(reduction, x, y, options)?;
    if let Some(prepared) = prepared {
        x.context().insert_call(&args, CachedCall::new(what, epoch, &args, None, &result, prepared));
    }
    Ok(result)
}

/// What is requested, if calls like this one end in the same launch.
fn call_key(reduction: ReductionOp, x: &GpuArray, options: &ReduceOptions<'_>) -> Option<CallKey> {
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
    (ndim < 64).then_some(CallKey::Reduce { reduction, dtype: options.dtype, axes, keepdims: options.keepdims })
}

/// Of a minimum or maximum that begins with a value, the dtype of `out`, where that holds all elements: as in NumPy
/// the value need not be one of the elements' dtype then, and is the result where there are none.
fn dtype_for_initial(reduction: ReductionOp, x: &GpuArray, options: &ReduceOptions<'_>) -> Option<DType> {
    let is_extreme = matches!(reduction, ReductionOp::Minimum | ReductionOp::Maximum);
    let out = options.out.filter(|_| is_extreme && options.initial.is_some())?.dtype();
    (x.dtype().promote(out) == out).then_some(out)
}

/// The result, and the launch for calls that are like this one where it took but one.
fn reduce_and_prepare_launch(
    reduction: ReductionOp,
    x: &GpuArray,
    y: Option<&GpuArray>,
    options: ReduceOptions<'_>,
) -> Result<(GpuArray, Option<PreparedLaunch>)> {
    let axes: SmallVec<[usize; 4]> = match options.axes {
        Some(axes) => normalize_axes(axes, x.ndim())?,
        None => (0..x.ndim()).collect(),
    };
    let wish = options.dtype.or_else(|| dtype_for_initial(reduction, x, &options));
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

pub(crate) fn shape_after_reduction(shape: &[usize], axes: &[usize], keepdims: bool) -> SmallVec<[usize; 4]> {
    let kept = shape.iter().enumerate().filter_map(|(axis, &length)| match axes.contains(&axis) {
        true => keepdims.then_some(1),
        false => Some(length),
    });
    kept.collect()
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
    if out.shape() != shape {
        return Err(ArrayError::value_error(format!(
            "output parameter for reduction operation {} has shape {}; expected {}",
            reduction.numpy_name(),
            PythonTuple(out.shape()),
            PythonTuple(shape)
        )));
    }
    if !can_cast_same_kind(dtype, out.dtype()) {
        return Err(ArrayError::type_error(format!(
            "Cannot cast ufunc '{}' output from {dtype} to {} with casting rule 'same_kind'",
            reduction.numpy_name(),
            out.dtype()
        )));
    }
    Ok(out)
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

/// The parts of a layout that belong to kept and to reduced axes.
pub(crate) fn split_reduced_axes(layout: &Layout, axes: &[usize]) -> (Layout, Layout) {
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

fn zero_stride_layout(like: &Layout) -> Layout {
    Layout { shape: like.shape.clone(), strides: SmallVec::from_elem(0, like.ndim()), offset: 0 }
}

fn plan_and_launch(job: &ReductionJob<'_>) -> Result<Option<PreparedLaunch>> {
    if job.out.size() == 0 {
        return Ok(None);
    }
    [Some(job.x), job.y, job.mask].into_iter().flatten().try_for_each(GpuArray::check_memory)?;
    let arrays = [Some(job.x), job.y, job.mask];
    let (out_kept, _) = split_reduced_axes(job.out.layout(), job.axes);
    let layouts: [(Layout, Layout); 3] = std::array::from_fn(|k| match arrays[k] {
        Some(array) => split_reduced_axes(array.layout(), job.axes),
        None => {
            let (kept, reduced) = split_reduced_axes(job.x.layout(), job.axes);
            (zero_stride_layout(&kept), zero_stride_layout(&reduced))
        }
    });
    let kept = IterationPlan::new([&out_kept, &layouts[0].0, &layouts[1].0, &layouts[2].0]);
    let reduced = match job.reduction.is_arg_reduction() {
        true => IterationPlan::keeping_axis_order([&layouts[0].1, &layouts[1].1, &layouts[2].1]),
        false => IterationPlan::new([&layouts[0].1, &layouts[1].1, &layouts[2].1]),
    };
    launch_planned(job, &kept, &reduced)
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
    pub(crate) fn new<const K: usize, const R: usize>(
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
    fn with_outputs_per_thread(
        self,
        device_info: DeviceInfo,
        out: &VectorOperand,
        x: &VectorOperand,
        kept: &IterationPlan<4>,
        reduced: &IterationPlan<3>,
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
    pub(crate) fn packable_array_mask(&self, arrays: impl Iterator<Item = PackCandidate>) -> u32 {
        let is_packed = |array: &PackCandidate| {
            let bytes = (self.pack * array.itemsize) as u64;
            let is_placed = array.address.is_multiple_of(bytes)
                && array.kept.iter().all(|&stride| (stride as i64 as u64).is_multiple_of(bytes));
            bytes <= 64 && is_placed && array.reduced == array.itemsize as isize
        };
        let bits = arrays.take(32).enumerate().filter(|(_, array)| is_packed(array)).map(|(at, _)| 1 << at);
        if self.reduce_contiguous { bits.sum() } else { 0 }
    }

    /// The part of the kernel's key that is decided here.
    pub(crate) fn specialize_kernel(&self, kernel: ReduceSpec) -> ReduceSpec {
        ReduceSpec {
            threads: self.partition.threads as u16,
            threads_per_output: self.partition.threads_per_output as u16,
            reduce_contiguous: self.reduce_contiguous,
            split: self.partition.splits > 1,
            gather: self.partition.gather,
            outputs_per_thread: self.outputs_per_thread as u8,
            pack: self.pack as u8,
            unroll: self.unroll as u8,
            ..kernel
        }
    }

    /// Appends lengths, and where split runs are combined; returns what the latter is found again by.
    pub(crate) fn push_lengths_and_workspace(
        &self,
        ctx: &ArrayContext,
        kernel: &ReduceSpec,
        args: &mut PackedKernelArgs,
    ) -> Result<Option<ReductionWorkspace>> {
        [self.n_out, self.n_red, self.per_split].iter().for_each(|&n| args.push_u64(n as u64));
        let nbytes = self.partition.splits * self.n_out * kernel.partial_result_bytes();
        let place = kernel.split.then_some(ReductionWorkspace { nbytes, at: args.packed_bytes().len() });
        let (counters, partials) = match place {
            Some(_) => ctx.device_runtime().reduction_workspace(nbytes)?,
            None => (0, 0),
        };
        args.push_u64(partials);
        args.push_u64(counters);
        Ok(place)
    }

    /// The blocks of the launch: groups of runs, and splits of each run.
    fn launch_grid(&self) -> [u32; 3] {
        [self.blocks, self.partition.splits as u32, 1]
    }

    fn block_dim(&self) -> [u32; 3] {
        [self.partition.threads, 1, 1]
    }

    /// Launches the kernel with packed arguments.
    pub(crate) fn launch_kernel(&self, kernel: &dyn LaunchableKernel, args: &PackedKernelArgs) -> Result<()> {
        kernel.launch(self.launch_grid(), self.block_dim(), 0, args.packed_bytes())
    }
}

/// An array whose adjacent elements belong to adjacent outputs.
struct VectorOperand {
    itemsize: usize,
    address: u64,
}

/// What decides whether an array can be read in packs.
pub(crate) struct PackCandidate {
    pub(crate) itemsize: usize,
    pub(crate) address: u64,
    pub(crate) kept: SmallVec<[isize; 4]>,
    pub(crate) reduced: isize,
}

fn launch_planned(
    job: &ReductionJob<'_>,
    kept: &IterationPlan<4>,
    reduced: &IterationPlan<3>,
) -> Result<Option<PreparedLaunch>> {
    let ctx = job.x.context();
    let used = [Some(job.x), job.y, job.mask];
    let present: SmallVec<[usize; 3]> = (0..3).filter(|&k| used[k].is_some()).collect();
    let address = |k: usize| {
        let start = used[k].map_or(0, GpuArray::first_element_address);
        start.wrapping_add(kept.offsets[k + 1] as u64).wrapping_add(reduced.offsets[k] as u64)
    };
    let plan = ReductionPlan::new(ctx, job.x.itemsize(), kept, reduced);
    let out = job.out.first_element_address().wrapping_add(kept.offsets[0] as u64);
    let plan = match present.len() {
        1 => {
            let operand = |itemsize, address| VectorOperand { itemsize, address };
            let (out, x) = (operand(job.out.itemsize(), out), operand(job.x.itemsize(), address(0)));
            plan.with_outputs_per_thread(ctx.device_info(), &out, &x, kept, reduced)
        }
        _ => plan,
    };
    let packable = present.iter().map(|&k| PackCandidate {
        itemsize: used[k].map_or(1, GpuArray::itemsize),
        address: address(k),
        kept: kept.axes.iter().map(|axis| axis.1[k + 1]).collect(),
        reduced: reduced.single_stride(k, 0).unwrap_or(0),
    });
    let kernel = plan.specialize_kernel(ReduceSpec {
        reduction: job.reduction,
        x: job.x.dtype(),
        y: job.y.map(GpuArray::dtype),
        masked: job.mask.is_some(),
        compute: job.compute,
        out: job.out.dtype(),
        packed: plan.packable_array_mask(packable),
        kept: kept.index_space(),
        reduced: reduced.index_space(),
        ..ReduceSpec::PLAIN_SUM
    });
    let mut args = PackedKernelArgs::new();
    args.push_u64(out);
    present.iter().for_each(|&k| args.push_u64(address(k)));
    let workspace = plan.push_lengths_and_workspace(ctx, &kernel, &mut args)?;
    let kept_operands: SmallVec<[usize; 4]> = std::iter::once(0).chain(present.iter().map(|k| k + 1)).collect();
    kept.push_dims(kernel.kept, &kept_operands, &mut args);
    reduced.push_dims(kernel.reduced, &present, &mut args);
    let compiled = ctx.compiled_kernel(&kernel)?;
    plan.launch_kernel(&*compiled, &args)?;
    // Without elements there is no address to fill in.
    if job.mask.is_some() || job.x.size() == 0 {
        return Ok(None);
    }
    let shift = |k: usize| kept.offsets[k + 1].wrapping_add(reduced.offsets[k]);
    Ok(Some(PreparedLaunch {
        kernel: compiled,
        grid: plan.launch_grid(),
        block: plan.block_dim(),
        packed: SmallVec::from_slice(args.packed_bytes()),
        address_offsets: std::iter::once(kept.offsets[0]).chain(present.iter().map(|&k| shift(k))).collect(),
        values: SmallVec::new(),
        workspace,
    }))
}

/// What is computed from sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The mean squared distance from the mean, with this many degrees of freedom less.
    Variance,
    /// The square root of the variance.
    StandardDeviation,
}

impl GpuArray {
    /// Mean, variance or standard deviation over axes; `ddof` degrees of freedom are subtracted.
    ///
    /// # Errors
    /// As [`GpuArray::reduce`].
    pub fn reduce_statistic(&self, what: Statistic, ddof: f64, options: ReduceOptions<'_>) -> Result<GpuArray> {
        let axes: SmallVec<[usize; 4]> = match options.axes {
            Some(axes) => normalize_axes(axes, self.ndim())?,
            None => (0..self.ndim()).collect(),
        };
        let result = options.dtype.unwrap_or(if self.dtype().is_integral() { DType::F64 } else { self.dtype() });
        // 16-bit floats are summed, and divided, in 32 bits.
        let compute = if result.itemsize() == 2 { DType::F32 } else { result };
        let mask = options.mask;
        let n = self.element_counts(&axes, mask)?;
        let keep = ReduceOptions { keepdims: true, dtype: Some(compute), out: None, initial: None, ..options };
        let total = self.reduce(ReductionOp::Sum, keep)?;
        let mean = n.divide_by_count(&total, 0.0, compute)?;
        let value = match what {
            Statistic::Mean => mean,
            _ => {
                let keep = ReduceOptions { dtype: Some(compute.real_part()), ..keep };
                let own = self.to_dtype(compute)?;
                let (squares, _) =
                    reduce_and_prepare_launch(ReductionOp::SumSquaredDeviations, &own, Some(&mean), keep)?;
                let variance = n.divide_by_count(&squares, ddof, compute.real_part())?;
                if what == Statistic::Variance { variance } else { variance.unary(Op::Sqrt)? }
            }
        };
        let dtype = if what == Statistic::Mean { result } else { result.real_part() };
        let shape = shape_after_reduction(self.shape(), &axes, options.keepdims);
        let value = value.reshape_to(&shape, Order::C)?;
        match options.out {
            Some(out) => {
                check_out_argument(ReductionOp::Sum, out, &shape, dtype)?.assign(&value)?;
                Ok(out.clone())
            }
            None => value.to_dtype(dtype),
        }
    }

    fn element_counts(&self, axes: &[usize], mask: Option<&GpuArray>) -> Result<ElementCounts> {
        let Some(mask) = mask else {
            return Ok(ElementCounts::Same(axes.iter().map(|&axis| self.shape()[axis]).product()));
        };
        let axes: SmallVec<[isize; 4]> = axes.iter().map(|&axis| axis as isize).collect();
        let options = ReduceOptions { axes: Some(&axes), keepdims: true, ..Default::default() };
        mask.broadcast_to(self.shape())?.reduce(ReductionOp::CountNonzero, options).map(ElementCounts::Each)
    }
}

/// How many elements each run has.
enum ElementCounts {
    Same(usize),
    Each(GpuArray),
}

impl ElementCounts {
    /// `total / (n - ddof)` in `dtype`; fewer elements than degrees of freedom give NaN, as in NumPy.
    fn divide_by_count(&self, total: &GpuArray, ddof: f64, dtype: DType) -> Result<GpuArray> {
        let options = OpOptions { out: None, dtype: Some(dtype) };
        match self {
            ElementCounts::Same(n) => {
                let n = WeakScalar::Float((*n as f64 - ddof).max(0.0));
                apply_elementwise(total.context(), Op::TrueDivide, &[total.into(), Scalar::Weak(n).into()], options)
            }
            ElementCounts::Each(n) => {
                let n = n.to_dtype(dtype.real_part())?.binary(Op::Subtract, ddof)?.binary(Op::Maximum, 0.0)?;
                apply_elementwise(total.context(), Op::TrueDivide, &[total.into(), (&n).into()], options)
            }
        }
    }
}
