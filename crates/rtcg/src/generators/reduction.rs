//! `ReductionKernel`: reduces all elements to one value, or over some axes to one value per remaining index.

#![allow(unsafe_code, reason = "launching runs the user's snippets")]

use crate::context::Context;
use crate::generators::argument_checks::{check_accessible, check_arguments, check_array_accessible};
use crate::generators::compiled_kernel::{CompileSettings, CompiledKernel, PerContextCache};
use crate::generators::launch_choices::{LaunchChoice, LaunchChoices, launch_key};
use crate::generators::operand::{
    ArrayView, GeneratedKernelArg, argument_error, broadcast_shape, join_axes, record_uses,
};
use rtcg_array::PythonTuple;
use rtcg_codegen::block_reduce::{COMPLETION_COUNTERS, REDUCE_THREADS, WorkPartition};
use rtcg_codegen::pointwise::{self, IndexingMode};
use rtcg_codegen::reduction::{self, AxisReductionShape, ReductionSnippet};
use rtcg_codegen::snippet::ElementUse;
use rtcg_cuda::{Error, Result, WorkspaceUse, reduction_workspace};
use rtcg_driver::{ArgPacker, Stream, sys};
use std::sync::Arc;

/// A reduction, compiled on first use.
#[derive(Debug)]
pub struct ReductionKernel {
    spec: ReductionSnippet,
    settings: CompileSettings,
    uses: Vec<ElementUse>,
    pack_size: usize,
    can_replace_arrays_with_proxies: bool,
    full: PerContextCache<(IndexingMode, bool, u32), CompiledKernel>,
    axis: PerContextCache<AxisReductionShape, CompiledKernel>,
    choices: LaunchChoices,
}

/// How the arrays of a call are walked.
struct ReductionPlan {
    n: usize,
    access: IndexingMode,
    layout: Vec<u8>,
}

impl ReductionKernel {
    /// Makes a reduction from a description, without compiling it yet.
    ///
    /// # Errors
    /// When there is no array argument, or an argument's name is taken.
    pub fn new(spec: ReductionSnippet, settings: CompileSettings) -> Result<Self> {
        spec.check_parameter_names().map_err(|e| Error::value_error(e.to_string()))?;
        if !spec.arguments.iter().any(|a| a.is_vector) {
            return Err(Error::value_error(format!("reduction '{}' has no array argument", spec.name)));
        }
        let map = spec.map_as_elementwise();
        let (uses, pack_size, can_replace_arrays_with_proxies) =
            (map.element_uses(), map.pack_size(), map.can_replace_arrays_with_proxies());
        Ok(Self {
            uses,
            pack_size,
            can_replace_arrays_with_proxies,
            spec,
            settings,
            full: PerContextCache::default(),
            axis: PerContextCache::default(),
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
    pub fn set_launch_choice(&self, ctx: &Context, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        self.choices.set_choice(ctx, n_elements, choice)
    }

    /// The launch choice in effect for a full reduction of `n_elements` elements.
    pub fn launch_choice(&self, ctx: &Context, n_elements: usize) -> LaunchChoice {
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
        ctx: &Context,
        args: &[GeneratedKernelArg<'_>],
        out: &ArrayView<'_>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        self.choices.read_stored(ctx, || launch_key(&self.spec.name, &self.source()));
        let plan = self.plan_call(ctx, args)?;
        self.check_output_itemsize(out)?;
        if out.n_elements() != 1 {
            let shape = PythonTuple(out.shape);
            return Err(Error::value_error(format!("out has shape {shape}; expected (), or 1 along each axis")));
        }
        check_accessible(ctx, &self.spec.arguments, args)?;
        check_array_accessible(ctx, "out", out)?;
        let pack_size = if let IndexingMode::Packed { pack_size } = plan.access { pack_size } else { 1 };
        // A block is worth its ticket when each of its threads has a few elements.
        const PACKS_PER_THREAD: u32 = 4;
        let choice = self.choices.nearest_choice(ctx, plan.n);
        let block = choice.block.unwrap_or(REDUCE_THREADS);
        let threads = plan.n.div_ceil(pack_size * choice.items.unwrap_or(PACKS_PER_THREAD) as usize);
        let fills = threads.div_ceil(block as usize) >= resident_block_count(ctx, block)?;
        let gather = ctx.device().can_load_cubins() && !fills;
        let kernel = self.full_reduction_kernel(ctx, plan.access.clone(), gather, block)?;
        let waves = choice.waves.unwrap_or(1) as usize;
        let blocks = kernel.blocks_for_items(threads, waves).min(COMPLETION_COUNTERS as u32);
        let itemsize = self.spec.out.itemsize.next_multiple_of(16);
        let (ticket, partials) =
            reduction_workspace(ctx.driver_context(), stream, WorkspaceUse::Reduction, blocks as usize * itemsize)?;
        let mut packer = kernel.function.arg_packer();
        packer.push(&out.ptr.to_ne_bytes(), 8)?;
        self.push_arguments(&mut packer, args)?;
        match plan.access {
            IndexingMode::Strided { .. } => packer.push(&plan.layout, 8)?,
            _ => packer.push(&(plan.n as u64).to_ne_bytes(), 8)?,
        }
        packer.push(&partials.to_ne_bytes(), 8)?;
        packer.push(&ticket.to_ne_bytes(), 8)?;
        let packed = packer.into_packed_args()?;
        // SAFETY: the scratch has room for a value of each block; the rest is the caller's promise.
        unsafe { kernel.launch(ctx, blocks, &packed, stream) }?;
        record_uses(args, stream);
        out.used_in(stream);
        Ok(())
    }

    fn full_reduction_kernel(
        &self,
        ctx: &Context,
        access: IndexingMode,
        gather: bool,
        block: u32,
    ) -> Result<Arc<CompiledKernel>> {
        let form = (access, gather, block);
        self.full.get_or_create(ctx, &form, || {
            self.compile_kernel(ctx, &self.spec.full_reduction_source(&form.0, gather, block), block)
        })
    }

    fn compile_kernel(&self, ctx: &Context, source: &str, block: u32) -> Result<CompiledKernel> {
        let spec = &self.spec;
        let snippets = [
            ("map_expr", &spec.map_expr[..]),
            ("reduce_expr", &spec.reduce_expr),
            ("neutral", &spec.neutral),
            ("preamble", &spec.preamble),
        ];
        let module = self.settings.compile_and_load(ctx, source, &snippets)?;
        CompiledKernel::new(ctx, &module, &spec.name, block)
    }

    fn push_arguments(&self, packer: &mut ArgPacker<'_>, args: &[GeneratedKernelArg<'_>]) -> Result<()> {
        for (value, argument) in args.iter().zip(&self.spec.arguments) {
            value.push_argument(packer, argument)?;
        }
        Ok(())
    }

    fn array_arguments<'a, 'v>(
        &'a self,
        args: &'a [GeneratedKernelArg<'v>],
    ) -> impl Iterator<Item = (&'a ArrayView<'v>, ElementUse, &'a str)> + 'a {
        let named = self.spec.arguments.iter().zip(&self.uses);
        args.iter().zip(named).filter_map(|(v, (a, u))| v.as_array().map(|view| (view, *u, &a.name[..])))
    }

    /// The shape of the arrays that are read as `x[i]`, or of the first one.
    fn common_shape(&self, args: &[GeneratedKernelArg<'_>]) -> Result<Vec<usize>> {
        check_arguments(&self.spec.name, &self.spec.arguments, &self.uses, args)?;
        let elementwise =
            || self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read).map(|(view, ..)| view.shape);
        if elementwise().next().is_none() {
            return Ok(self.array_arguments(args).next().map_or_else(Vec::new, |(view, ..)| view.shape.to_vec()));
        }
        broadcast_shape(elementwise()).ok_or_else(|| {
            let read = self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read);
            let shapes: Vec<_> = read.map(|(view, _, name)| format!("'{name}' {}", PythonTuple(view.shape))).collect();
            Error::value_error(format!("the shapes do not broadcast together: {}", shapes.join(", ")))
        })
    }

    fn plan_call(&self, ctx: &Context, args: &[GeneratedKernelArg<'_>]) -> Result<ReductionPlan> {
        check_arguments(&self.spec.name, &self.spec.arguments, &self.uses, args)?;
        let Some((first, ..)) = self.array_arguments(args).next() else {
            return Err(Error::value_error("there is no array argument"));
        };
        let flat = |n| ReductionPlan { n, access: IndexingMode::Flat { ranged: false }, layout: Vec::new() };
        let contiguous = self.array_arguments(args).all(|(a, ..)| a.is_c_contiguous());
        let read = || self.array_arguments(args).filter(|(_, u, _)| *u == ElementUse::Read);
        let n = first.n_elements();
        let same_shape = self.array_arguments(args).all(|(a, ..)| a.shape == first.shape);
        let in_one_order = same_shape && self.array_arguments(args).all(|(a, ..)| a.is_f_contiguous());
        let alike = read().all(|(a, ..)| a.shape == first.shape);
        if (contiguous && alike) || in_one_order || (contiguous && !self.can_replace_arrays_with_proxies) {
            return Ok(if self.can_vectorize(ctx, n, args) {
                ReductionPlan { access: IndexingMode::Packed { pack_size: self.pack_size }, ..flat(n) }
            } else {
                flat(n)
            });
        }
        match self.common_shape(args) {
            // As upstream: the first array decides, when the others are as long at least.
            Err(_) if contiguous && read().all(|(a, ..)| a.n_elements() >= n) => Ok(flat(n)),
            Err(error) => Err(error),
            Ok(shape) if self.can_replace_arrays_with_proxies => self.plan_strided(args, &shape),
            Ok(_) => Err(Error::value_error(format!(
                "map_expr '{}' of reduction '{}' needs contiguous arrays",
                self.spec.map_expr, self.spec.name
            ))),
        }
    }

    fn can_vectorize(&self, ctx: &Context, n: usize, args: &[GeneratedKernelArg<'_>]) -> bool {
        const MIN_PACKED_ELEMENTS: usize = 1 << 15;
        let aligned = |a: &ArrayView<'_>| a.ptr.is_multiple_of((self.pack_size * a.itemsize).min(16) as u64);
        let is_worth_it = || n >= MIN_PACKED_ELEMENTS && ctx.device().can_load_cubins();
        self.pack_size > 1
            && self.choices.nearest_choice(ctx, n).packed.unwrap_or_else(is_worth_it)
            && self.array_arguments(args).all(|(a, u, _)| u == ElementUse::Unused || aligned(a))
    }

    /// Strides of each array in `shape`; those that are indexed freely stay contiguous pointers.
    fn operand_strides(
        &self,
        args: &[GeneratedKernelArg<'_>],
        shape: &[usize],
    ) -> Result<(Vec<Vec<isize>>, Vec<bool>)> {
        let (mut rows, mut parts) = (Vec::new(), Vec::new());
        for (view, used, name) in self.array_arguments(args) {
            let row = view.broadcast_strides(shape);
            if used == ElementUse::Other && !view.is_c_contiguous() && (row.is_none() || view.shape != shape) {
                return Err(argument_error(
                    name,
                    format_args!("has strides {:?}; expected contiguous memory", view.strides),
                ));
            }
            parts.push(used != ElementUse::Other || !view.is_c_contiguous());
            rows.push(row.unwrap_or_else(|| vec![0; shape.len()]));
        }
        Ok((rows, parts))
    }

    fn plan_strided(&self, args: &[GeneratedKernelArg<'_>], shape: &[usize]) -> Result<ReductionPlan> {
        let n: usize = shape.iter().product();
        let (rows, parts) = self.operand_strides(args, shape)?;
        let (shape, strides) = join_axes(shape, &rows);
        let mut parts = parts.into_iter();
        let strided = self.spec.arguments.iter().map(|a| a.is_vector && parts.next().unwrap_or(false)).collect();
        let access = IndexingMode::Strided { ndim: shape.len(), strided, small: n <= u32::MAX as usize };
        Ok(ReductionPlan { n, access, layout: pointwise::strided_layout_bytes(n, &shape, &strides) })
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
        ctx: &Context,
        args: &[GeneratedKernelArg<'_>],
        axes: &[isize],
        out: &ArrayView<'_>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let shape = self.common_shape(args)?;
        check_accessible(ctx, &self.spec.arguments, args)?;
        check_array_accessible(ctx, "out", out)?;
        let reduced = normalised_axes(axes, shape.len())?;
        let kept: Vec<_> = (0..shape.len()).filter(|axis| !reduced.contains(axis)).collect();
        let out_strides = self.output_strides(out, &shape, &reduced, &kept)?;
        if !self.can_replace_arrays_with_proxies
            || self.uses.contains(&ElementUse::Other)
                && self.array_arguments(args).any(|(a, u, _)| u == ElementUse::Other && !a.is_c_contiguous())
        {
            return Err(Error::value_error(
                "a reduction over axes needs arrays that map_expr names as x[i], or contiguous ones",
            ));
        }
        let (mut rows, _) = self.operand_strides(args, &shape)?;
        let flat = rtcg_array::Layout::contiguous(&shape, 1, rtcg_array::Order::C).strides;
        rows.push(flat.into_vec());
        let pick = |axes: &[usize], row: &Vec<isize>| axes.iter().map(|&axis| row[axis]).collect::<Vec<_>>();
        let lengths = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>();
        let mut kept_rows: Vec<_> = rows.iter().map(|row| pick(&kept, row)).collect();
        let mut reduced_rows: Vec<_> = rows.iter().map(|row| pick(&reduced, row)).collect();
        kept_rows.push(out_strides);
        reduced_rows.push(vec![0; reduced.len()]);
        let (kept, kept_rows) = join_axes(&lengths(&kept), &kept_rows);
        let (reduced, reduced_rows) = join_axes(&lengths(&reduced), &reduced_rows);
        let outputs: usize = kept.iter().product();
        if outputs == 0 {
            return Ok(());
        }
        let length: usize = reduced.iter().product();
        let step = |rows: &[Vec<isize>]| rows[0].last().map_or(0, |s| s.unsigned_abs());
        let reduce_contiguous = outputs == 1 || step(&reduced_rows) <= step(&kept_rows) || step(&kept_rows) == 0;
        let share = WorkPartition::new(
            outputs,
            length,
            reduce_contiguous,
            resident_block_count(ctx, REDUCE_THREADS)?,
            ctx.device().can_load_cubins(),
        );
        let (threads_per_output, split) = (share.threads_per_output, share.splits > 1);
        let shape = AxisReductionShape {
            kept: kept.len(),
            reduced: reduced.len(),
            threads_per_output,
            reduce_contiguous,
            split,
            gather: share.gather,
        };
        let kernel = self.axis.get_or_create(ctx, &shape, || {
            self.compile_kernel(ctx, &self.spec.axis_reduction_source(&shape), REDUCE_THREADS)
        })?;
        let mut packer = kernel.function.arg_packer();
        packer.push(&out.ptr.to_ne_bytes(), 8)?;
        self.push_arguments(&mut packer, args)?;
        packer.push(&reduction::axis_reduction_layout_bytes(&kept, &reduced, &kept_rows, &reduced_rows), 8)?;
        let (counters, partials) = match split {
            true => reduction_workspace(
                ctx.driver_context(),
                stream,
                WorkspaceUse::Reduction,
                share.splits * outputs * self.spec.out.itemsize,
            )?,
            false => (0, 0),
        };
        packer.push(&partials.to_ne_bytes(), 8)?;
        packer.push(&counters.to_ne_bytes(), 8)?;
        let packed = packer.into_packed_args()?;
        let blocks = kernel.blocks_for_items(outputs.saturating_mul(shape.threads_per_output as usize), 8);
        // SAFETY: shapes and strides were checked; the rest is the caller's promise.
        unsafe { kernel.launch_grid(ctx, [blocks, share.splits as u32, 1], 0, &packed, stream) }?;
        record_uses(args, stream);
        out.used_in(stream);
        Ok(())
    }

    /// The strides of `out` along the kept axes.
    fn output_strides(
        &self,
        out: &ArrayView<'_>,
        shape: &[usize],
        reduced: &[usize],
        kept: &[usize],
    ) -> Result<Vec<isize>> {
        let plain: Vec<_> = kept.iter().map(|&axis| shape[axis]).collect();
        let with_ones: Vec<_> =
            (0..shape.len()).map(|axis| if reduced.contains(&axis) { 1 } else { shape[axis] }).collect();
        self.check_output_itemsize(out)?;
        out.check_writable("out")?;
        if out.shape == plain {
            Ok(out.strides.to_vec())
        } else if out.shape == with_ones {
            Ok(kept.iter().map(|&axis| out.strides[axis]).collect())
        } else {
            let (given, plain) = (PythonTuple(out.shape), PythonTuple(&plain));
            Err(Error::value_error(format!("out has shape {given}; expected {plain}")))
        }
    }

    fn check_output_itemsize(&self, out: &ArrayView<'_>) -> Result<()> {
        if out.itemsize == self.spec.out.itemsize {
            return Ok(());
        }
        Err(Error::type_error(format!(
            "out has elements of {} bytes; the result has {}",
            out.itemsize, self.spec.out.itemsize
        )))
    }
}

/// Blocks of so many threads that fit on the device at once, whatever a kernel needs.
fn resident_block_count(ctx: &Context, block: u32) -> Result<usize> {
    let attribute = |which| ctx.device().attribute(which).map(|value| value.max(1) as usize);
    let threads = attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
    let multiprocessors = attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    Ok(multiprocessors * (threads / block as usize).max(1))
}

/// Axes counted from the front, in order.
fn normalised_axes(axes: &[isize], ndim: usize) -> Result<Vec<usize>> {
    let mut result = Vec::new();
    for &axis in axes {
        let from_front = if axis < 0 { axis + ndim as isize } else { axis };
        let in_range = usize::try_from(from_front).ok().filter(|axis| *axis < ndim);
        let axis = in_range
            .ok_or_else(|| Error::value_error(format!("axis {axis} is out of bounds for array of dimension {ndim}")))?;
        if result.contains(&axis) {
            return Err(Error::value_error("duplicate value in 'axis'"));
        }
        result.push(axis);
    }
    result.sort_unstable();
    Ok(result)
}
