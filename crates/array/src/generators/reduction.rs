//! `ReductionKernel`: reduces all elements to one value, or over some axes to one value per remaining index.

#![expect(unsafe_code, reason = "declares what callers promise: their snippets are unchecked")]

use super::argument_checks::{check_accessible, check_arguments, check_array_accessible};
use super::launch_choices::LaunchChoices;
use super::loaded_kernel::LoadedKernel;
use super::operand::{ArrayView, GeneratedKernelArg, push_arguments, record_uses};
use super::walk::{plan_snippet_walk, walked_arrays, walked_layouts};
use crate::layout::{Layout, Order, PythonTuple, Shape, Strides, broadcast_shapes};
use crate::reduction_plan::ReductionOfArrays;
use crate::walk_plan::{PlannedWalk, WalkedArray};
use rtcg_codegen::block_reduce::{COMPLETION_COUNTERS, REDUCE_THREADS};
use rtcg_codegen::pointwise::{IndexingMode, SnippetAnalysis};
use rtcg_codegen::reduction::ReductionSnippet;
use rtcg_codegen::snippet::ElementUse;
use rtcg_codegen::snippet_kernel::{ReductionForm, SharedSnippet};
use rtcg_hal::tuning::LaunchChoice;
use rtcg_hal::{ArrayContext, ArrayError, CompileSettings, LaunchArgs, Result};
use std::sync::Arc;

/// A reduction, compiled on first use.
#[derive(Debug)]
pub struct ReductionKernel {
    spec: SharedSnippet<ReductionSnippet>,
    analysis: SnippetAnalysis,
    choices: LaunchChoices,
}

/// How the arrays of a call are walked.
struct ReductionPlan {
    n: usize,
    access: IndexingMode,
    walk: Option<PlannedWalk>,
}

impl ReductionKernel {
    /// Makes a reduction from a description, without compiling it yet.
    ///
    /// # Errors
    /// When there is no array argument, or an argument's name is taken.
    pub fn new(spec: ReductionSnippet, settings: CompileSettings) -> Result<Self> {
        spec.check_parameter_names().map_err(|e| ArrayError::value_error(e.to_string()))?;
        if !spec.arguments.iter().any(|a| a.is_vector) {
            return Err(ArrayError::value_error(format!("reduction '{}' has no array argument", spec.name)));
        }
        Ok(Self {
            analysis: spec.map_as_elementwise().analyze(),
            spec: SharedSnippet::new(spec, settings),
            choices: LaunchChoices::default(),
        })
    }

    /// The description.
    pub fn snippet(&self) -> &ReductionSnippet {
        &self.spec
    }

    /// The source for contiguous arrays.
    pub fn source(&self) -> String {
        self.spec.full_reduction_source(&IndexingMode::Flat { ranged: false }, true, REDUCE_THREADS)
    }

    /// Sets the launch choice for full reductions of about `n_elements` elements in this context; the default choice
    /// restores the rule. Reductions over axes always follow the rule.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn set_launch_choice(&self, ctx: &Arc<ArrayContext>, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        self.choices.set_choice(ctx, n_elements, choice)
    }

    /// The launch choice in effect for a full reduction of `n_elements` elements.
    pub fn launch_choice(&self, ctx: &Arc<ArrayContext>, n_elements: usize) -> LaunchChoice {
        self.choices.nearest_choice(ctx, n_elements)
    }

    /// The shape of the result of a reduction over `axes` of the arrays' common shape.
    ///
    /// # Errors
    /// When the arrays do not fit each other, or an axis does not exist or is repeated.
    pub fn result_shape(&self, args: &[GeneratedKernelArg<'_>], axes: &[isize], keepdims: bool) -> Result<Vec<usize>> {
        let shape = self.common_shape(args)?;
        let axes = normalised_axes(axes, shape.len())?;
        let length = |axis: usize| if axes.contains(&axis) { 1 } else { shape[axis] };
        Ok((0..shape.len()).filter(|axis| keepdims || !axes.contains(axis)).map(length).collect())
    }

    /// Reduces all elements to the single element of `out`, which may have any number of axes; enqueues one kernel and
    /// does not wait. With no elements the result is the neutral element.
    ///
    /// # Errors
    /// When an argument does not fit its declaration or the others, `out` does not have exactly one element, or the
    /// source does not compile.
    ///
    /// # Safety
    /// The snippets are unchecked code: they must stay inside the arrays, which must live until the kernel has run, as
    /// must the memory of `out`.
    pub unsafe fn launch(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        out: &ArrayView<'_>,
    ) -> Result<()> {
        self.choices.read_stored(ctx, || (self.spec.name.clone(), self.source()));
        let plan = self.plan_call(ctx, args)?;
        self.check_output_itemsize(out)?;
        if out.n_elements() != 1 {
            let shape = PythonTuple(out.shape);
            return Err(ArrayError::value_error(format!("out has shape {shape}; expected (), or 1 along each axis")));
        }
        check_accessible(ctx, &self.spec.arguments, args)?;
        check_array_accessible(ctx, "out", out)?;
        let pack_size = if let IndexingMode::Packed { pack_size } = plan.access { pack_size } else { 1 };
        // A block is worth its ticket when each of its threads has a few elements.
        const PACKS_PER_THREAD: u32 = 4;
        let choice = self.choices.nearest_choice(ctx, plan.n);
        let tiles = plan.walk.as_ref().and_then(PlannedWalk::tiles);
        let block = tiles.map_or(choice.block.unwrap_or(REDUCE_THREADS), |[_, threads]| threads);
        let threads = plan.n.div_ceil(pack_size * choice.items.unwrap_or(PACKS_PER_THREAD) as usize);
        let device = ctx.device_info();
        let fills = threads.div_ceil(block as usize) >= device.resident_blocks_of(block);
        let gather = !device.is_simd_cpu() && !fills;
        let form = ReductionForm::Full { access: plan.access.clone(), gather, threads: block };
        let kernel = LoadedKernel::new(ctx, &self.spec.kernel(form))?;
        let waves = choice.waves.unwrap_or(1) as usize;
        let blocks = kernel.blocks_for_items(threads, waves)?.min(COMPLETION_COUNTERS as u32);
        let itemsize = self.spec.out.itemsize.next_multiple_of(16);
        let (ticket, partials) = ctx.queue().reduction_workspace(blocks as usize * itemsize)?;
        let mut packed = LaunchArgs::new();
        packed.push_address(out.ptr, 0);
        push_arguments(&mut packed, args, &self.spec.arguments)?;
        match &plan.walk {
            Some(walk) => walk.push_size_and_dims(&mut packed),
            None => packed.push_u64(plan.n as u64),
        }
        packed.push_address(partials, 0);
        packed.push_address(ticket, 0);
        kernel.launch(ctx, [blocks, 1, 1], 0, &packed)?;
        record_uses(args);
        out.record_use();
        Ok(())
    }

    fn array_arguments<'a, 'v>(
        &'a self,
        args: &'a [GeneratedKernelArg<'v>],
    ) -> impl Iterator<Item = (&'a ArrayView<'v>, ElementUse, &'a str)> + 'a {
        let named = self.spec.arguments.iter().zip(&self.analysis.uses);
        args.iter().zip(named).filter_map(|(v, (a, u))| v.as_array().map(|view| (view, *u, &a.name[..])))
    }

    /// The shape of the arrays that are read as `x[i]`, or of the first one.
    fn common_shape(&self, args: &[GeneratedKernelArg<'_>]) -> Result<Vec<usize>> {
        check_arguments(&self.spec.name, &self.spec.arguments, &self.analysis.uses, args)?;
        let elementwise =
            || self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read).map(|(view, ..)| view.shape);
        if elementwise().next().is_none() {
            return Ok(self.array_arguments(args).next().map_or_else(Vec::new, |(view, ..)| view.shape.to_vec()));
        }
        let shapes: Vec<_> = elementwise().collect();
        broadcast_shapes(shapes.into_iter()).map(|shape| shape.to_vec()).ok_or_else(|| {
            let read = self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read);
            let shapes: Vec<_> = read.map(|(view, _, name)| format!("'{name}' {}", PythonTuple(view.shape))).collect();
            ArrayError::value_error(format!("the shapes do not broadcast together: {}", shapes.join(", ")))
        })
    }

    fn plan_call(&self, ctx: &Arc<ArrayContext>, args: &[GeneratedKernelArg<'_>]) -> Result<ReductionPlan> {
        check_arguments(&self.spec.name, &self.spec.arguments, &self.analysis.uses, args)?;
        let Some((first, ..)) = self.array_arguments(args).next() else {
            return Err(ArrayError::value_error("there is no array argument"));
        };
        let flat = |n| ReductionPlan { n, access: IndexingMode::Flat { ranged: false }, walk: None };
        let contiguous = self.array_arguments(args).all(|(a, ..)| a.is_c_contiguous());
        let read = || self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read);
        let n = first.n_elements();
        let same_shape = self.array_arguments(args).all(|(a, ..)| a.shape == first.shape);
        let in_one_order = same_shape && self.array_arguments(args).all(|(a, ..)| a.is_f_contiguous());
        let alike = read().all(|(a, ..)| a.shape == first.shape);
        if (contiguous && alike) || in_one_order || (contiguous && !self.analysis.can_replace_arrays_with_proxies) {
            return Ok(self.plan_dense(ctx, n, args));
        }
        match self.common_shape(args) {
            // As upstream: the first array decides, when the others are as long at least.
            Err(_) if contiguous && read().all(|(a, ..)| a.n_elements() >= n) => Ok(flat(n)),
            Err(error) => Err(error),
            Ok(shape) if self.analysis.can_replace_arrays_with_proxies => self.plan_walk(ctx, args, &shape),
            Ok(_) => Err(ArrayError::value_error(format!(
                "map_expr '{}' of reduction '{}' needs contiguous arrays",
                self.spec.map_expr, self.spec.name
            ))),
        }
    }

    fn can_vectorize(&self, ctx: &Arc<ArrayContext>, n: usize, args: &[GeneratedKernelArg<'_>]) -> bool {
        const MIN_PACKED_ELEMENTS: usize = 1 << 15;
        let aligned = |a: &ArrayView<'_>| a.ptr.is_multiple_of((self.analysis.pack_size * a.itemsize).min(16) as u64);
        let is_worth_it = || n >= MIN_PACKED_ELEMENTS && !ctx.device_info().is_simd_cpu();
        self.analysis.pack_size > 1
            && self.choices.nearest_choice(ctx, n).packed.unwrap_or_else(is_worth_it)
            && self.array_arguments(args).all(|(a, u, _)| u == ElementUse::Unused || aligned(a))
    }

    /// Arrays of one shape that lie without gaps, in one order.
    fn plan_dense(&self, ctx: &Arc<ArrayContext>, n: usize, args: &[GeneratedKernelArg<'_>]) -> ReductionPlan {
        let access = match self.can_vectorize(ctx, n, args) {
            true => IndexingMode::Packed { pack_size: self.analysis.pack_size },
            false => IndexingMode::Flat { ranged: false },
        };
        ReductionPlan { n, access, walk: None }
    }

    fn plan_walk(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        shape: &[usize],
    ) -> Result<ReductionPlan> {
        let n = shape.iter().product();
        Ok(match plan_snippet_walk(&self.analysis, &self.spec.arguments, args, shape, ctx.device_info())? {
            None => self.plan_dense(ctx, n, args),
            Some((access, walk)) => ReductionPlan { n, access, walk: Some(walk) },
        })
    }

    /// Reduces over `axes` (negative ones count from the end) into `out`, which must have the shape that
    /// [`ReductionKernel::result_shape`] gives and may have any strides. In `map_expr`, `i` counts the elements of the
    /// common shape in C order. Enqueues one kernel and does not wait.
    ///
    /// # Errors
    /// As [`ReductionKernel::launch`], and for wrong axes or shapes.
    ///
    /// # Safety
    /// As [`ReductionKernel::launch`].
    pub unsafe fn launch_axis(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        axes: &[isize],
        out: &ArrayView<'_>,
    ) -> Result<()> {
        let shape = self.common_shape(args)?;
        check_accessible(ctx, &self.spec.arguments, args)?;
        check_array_accessible(ctx, "out", out)?;
        let reduced = normalised_axes(axes, shape.len())?;
        let stored_out = self.output_layout(out, &shape, &reduced)?;
        if !self.analysis.can_replace_arrays_with_proxies
            || self.analysis.uses.contains(&ElementUse::Other)
                && self.array_arguments(args).any(|(a, u, _)| u == ElementUse::Other && !a.is_c_contiguous())
        {
            return Err(ArrayError::value_error(
                "a reduction over axes needs arrays that map_expr names as x[i], or contiguous ones",
            ));
        }
        if stored_out.layout.shape.contains(&0) {
            return Ok(());
        }
        let layouts = walked_layouts(&self.spec.arguments, &self.analysis.uses, args, &shape)?;
        let places: Vec<_> = layouts.iter().map(|(at, _)| *at).collect();
        let arrays: Vec<_> = walked_arrays(layouts, &self.spec.arguments, &self.analysis.uses, args).collect();
        let counting = Layout::contiguous(&shape, 1, Order::C);
        let planned = ReductionOfArrays {
            out: &stored_out,
            stored: arrays.first().map_or(&counting, |array| &array.layout),
            stored_itemsize: arrays.first().map_or(1, |array| array.itemsize),
            arrays: &arrays,
            has_index: self.analysis.counts_elements,
            axes: &reduced,
            keeps_order: false,
            is_rounded: self.spec.is_cascaded(),
            allows_adjacent_outputs: false,
        }
        .plan(ctx);
        let walked: Vec<_> = (0..args.len()).map(|at| places.contains(&at)).collect();
        let kernel = LoadedKernel::new(ctx, &self.spec.kernel(ReductionForm::Axes { shape: planned.shape, walked }))?;
        let mut packed = LaunchArgs::new();
        packed.push_address(out.ptr, planned.out_offset);
        let mut args_at = args.to_vec();
        for (&at, &offset) in places.iter().zip(&planned.offsets) {
            if let GeneratedKernelArg::Array(view) = &mut args_at[at] {
                view.ptr = view.ptr.wrapping_add(offset as u64);
            }
        }
        push_arguments(&mut packed, &args_at, &self.spec.arguments)?;
        planned.push(ctx, self.spec.out.itemsize, &mut packed)?;
        kernel.launch(ctx, planned.plan.launch_grid(), 0, &packed)?;
        record_uses(args);
        out.record_use();
        Ok(())
    }

    /// The layout of `out` with axes of length 1 where axes are reduced.
    fn output_layout(&self, out: &ArrayView<'_>, shape: &[usize], reduced: &[usize]) -> Result<WalkedArray> {
        self.check_output_itemsize(out)?;
        out.check_writable("out")?;
        let kept = || (0..shape.len()).filter(|axis| !reduced.contains(axis));
        let plain: Vec<_> = kept().map(|axis| shape[axis]).collect();
        let with_ones: Shape =
            (0..shape.len()).map(|axis| if reduced.contains(&axis) { 1 } else { shape[axis] }).collect();
        let strides = if out.shape == plain {
            let mut strides = Strides::from_elem(0, shape.len());
            kept().zip(out.strides).for_each(|(axis, &stride)| strides[axis] = stride);
            strides
        } else if out.shape == &*with_ones {
            out.strides.into()
        } else {
            let (given, plain) = (PythonTuple(out.shape), PythonTuple(&plain));
            return Err(ArrayError::value_error(format!("out has shape {given}; expected {plain}")));
        };
        let layout = Layout { shape: with_ones, strides, offset: 0 };
        Ok(WalkedArray { layout, itemsize: out.itemsize, address: out.ptr, is_aligned: true, is_written: true })
    }

    fn check_output_itemsize(&self, out: &ArrayView<'_>) -> Result<()> {
        if out.itemsize == self.spec.out.itemsize {
            return Ok(());
        }
        Err(ArrayError::type_error(format!(
            "out has elements of {} bytes; the result has {}",
            out.itemsize, self.spec.out.itemsize
        )))
    }
}

/// Axes counted from the front, in order.
fn normalised_axes(axes: &[isize], ndim: usize) -> Result<Vec<usize>> {
    let mut result = Vec::new();
    for &axis in axes {
        let from_front = if axis < 0 { axis + ndim as isize } else { axis };
        let in_range = usize::try_from(from_front).ok().filter(|axis| *axis < ndim);
        let axis = in_range.ok_or_else(|| {
            ArrayError::value_error(format!("axis {axis} is out of bounds for array of dimension {ndim}"))
        })?;
        if result.contains(&axis) {
            return Err(ArrayError::value_error("duplicate value in 'axis'"));
        }
        result.push(axis);
    }
    result.sort_unstable();
    Ok(result)
}
