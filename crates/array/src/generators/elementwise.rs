//! `ElementwiseKernel`: a C snippet applied to the elements of arrays of any layout.

#![expect(unsafe_code, reason = "declares what callers promise: their snippets are unchecked")]

use super::argument_checks::{check_accessible, check_arguments};
use super::cached_launch::{CachedLaunch, DenseArray, DenseArrays, can_vectorize_at};
use super::dense_copies;
use super::launch_choices::LaunchChoices;
use super::loaded_kernel::LoadedKernel;
use super::operand::{ArrayView, GeneratedKernelArg, argument_error, push_arguments, record_uses};
use super::walk::plan_snippet_walk;
use crate::layout::{PythonTuple, broadcast_shapes};
use crate::walk_plan::PlannedWalk;
use rtcg_codegen::c_declarations::{TypeRegistry, parse_arguments};
use rtcg_codegen::pointwise::{BLOCK_THREADS, ElementwiseSnippet, IndexingMode, SnippetAnalysis};
use rtcg_codegen::snippet::ElementUse;
use rtcg_codegen::snippet_kernel::{SharedSnippet, SnippetKernel};
use rtcg_hal::tuning::LaunchChoice;
use rtcg_hal::{ArrayContext, ArrayError, CompileSettings, Kernel, LaunchArgs, Result};
use std::sync::Arc;

/// The values of `i` for which the snippet is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexRange {
    /// Every element of the arrays.
    All,
    /// Like Python's `range(start, stop, step)`.
    Range {
        /// First index.
        start: i64,
        /// The index before which to end.
        stop: i64,
        /// Distance, not 0.
        step: i64,
    },
}

/// The grid is at most this many times what the device holds at once: blocks are cheaper than loops.
const MAX_WAVES: usize = 1024;

/// An elementwise kernel. Repeated calls are cheap: each form is compiled once per context.
#[derive(Debug)]
pub struct ElementwiseKernel {
    spec: SharedSnippet<ElementwiseSnippet>,
    analysis: SnippetAnalysis,
    choices: LaunchChoices,
}

/// How a call's arrays are addressed.
struct ElementwisePlan {
    n: usize,
    access: IndexingMode,
    /// The walk over arrays that do not all lie without gaps.
    walk: Option<PlannedWalk>,
    /// The arrays by whose addresses it was decided; none where layouts alone decide.
    dense: DenseArrays,
}

impl ElementwisePlan {
    /// `n` times the form for contiguous arrays.
    fn contiguous_plan(n: usize, ranged: bool) -> Self {
        Self { n, access: IndexingMode::Flat { ranged }, walk: None, dense: DenseArrays::new() }
    }
}

impl ElementwiseKernel {
    /// Makes a kernel from C declarations and a snippet.
    ///
    /// # Errors
    /// When a declaration is wrong.
    pub fn parse(arguments: &str, operation: &str) -> Result<Self> {
        let arguments =
            parse_arguments(arguments, &TypeRegistry::new()).map_err(|e| ArrayError::value_error(e.to_string()))?;
        let spec = ElementwiseSnippet {
            name: "kernel".into(),
            arguments,
            operation: operation.into(),
            ..ElementwiseSnippet::default()
        };
        spec.check_parameter_names().map_err(|e| ArrayError::value_error(e.to_string()))?;
        Ok(Self::new(spec, CompileSettings::default()))
    }

    /// Makes a kernel from a description, without compiling it yet.
    pub fn new(spec: ElementwiseSnippet, settings: CompileSettings) -> Self {
        Self { analysis: spec.analyze(), spec: SharedSnippet::new(spec, settings), choices: LaunchChoices::default() }
    }

    /// The description.
    pub fn snippet(&self) -> &ElementwiseSnippet {
        &self.spec
    }

    /// The kernel's source for contiguous arrays or, if `ranged`, for a range.
    pub fn source(&self, ranged: bool) -> String {
        self.spec.source(&IndexingMode::Flat { ranged })
    }

    /// The source that a call with these arguments would run.
    ///
    /// # Errors
    /// As [`ElementwiseKernel::launch`].
    pub fn source_for_call(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        region: IndexRange,
    ) -> Result<String> {
        Ok(self.spec.source(&self.plan_call(ctx, args, region)?.access))
    }

    /// The kernel for contiguous arrays (or a range), with the parameters that [`ElementwiseKernel::source`] shows.
    /// Launch it with blocks of at most 256 threads.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn kernel(&self, ctx: &Arc<ArrayContext>, ranged: bool) -> Result<Arc<dyn Kernel>> {
        ctx.compiled_kernel(&self.kernel_spec(IndexingMode::Flat { ranged }, BLOCK_THREADS)?)
    }

    /// Sets the launch choice for about `n_elements` elements in this context, from the next launch on; the default
    /// choice restores the rule. Existing [`CachedLaunch`]es do not change.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn set_launch_choice(&self, ctx: &Arc<ArrayContext>, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        self.choices.set_choice(ctx, n_elements, choice)
    }

    /// The launch choice in effect for `n_elements` elements.
    pub fn launch_choice(&self, ctx: &Arc<ArrayContext>, n_elements: usize) -> LaunchChoice {
        self.choices.nearest_choice(ctx, n_elements)
    }

    fn kernel_spec(&self, access: IndexingMode, threads: u32) -> Result<SnippetKernel<ElementwiseSnippet>> {
        self.spec.check_names_for(&access).map_err(|e| ArrayError::value_error(e.to_string()))?;
        Ok(self.spec.kernel((access, threads)))
    }

    /// Executes the snippet for each `i` of `region`; enqueues the kernel and does not wait.
    ///
    /// Arrays that the snippet accesses only as `x[i]` are broadcast against each other and may have any strides. If
    /// their shapes do not broadcast, the first array determines the number of elements, and the others must have at
    /// least as many. In a range, and for arrays that are accessed in other ways, `i` counts elements in C order (in
    /// memory order if all arrays are contiguous). For a range, arrays with gaps are copied to contiguous memory, and
    /// those that the snippet may change are copied back.
    ///
    /// # Errors
    /// When an argument does not fit its declaration or the others, or the snippet does not compile.
    ///
    /// # Safety
    /// The snippet is unchecked code: it must stay inside the arrays, which must live until it has run.
    pub unsafe fn launch(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        region: IndexRange,
    ) -> Result<()> {
        self.plan_and_launch(ctx, args, region).map(drop)
    }

    /// Runs [`ElementwiseKernel::launch`] over all elements, and returns the call for repetition with other values and
    /// other arrays of the same layouts; `None` if no kernel had to be launched.
    ///
    /// # Errors
    /// As [`ElementwiseKernel::launch`].
    ///
    /// # Safety
    /// As [`ElementwiseKernel::launch`].
    pub unsafe fn launch_and_cache(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
    ) -> Result<Option<CachedLaunch>> {
        let Some(launched) = self.plan_and_launch(ctx, args, IndexRange::All)? else { return Ok(None) };
        let CompletedLaunch { spec, plan, blocks, args } = launched;
        Ok(Some(CachedLaunch {
            ctx: Arc::downgrade(ctx),
            launch: ctx.prepare_launch(&spec, [blocks, 1, 1], [spec.threads(), 1, 1], args)?,
            is_packed: matches!(plan.access, IndexingMode::Packed { .. }),
            dense: plan.dense,
            pack_size: self.analysis.pack_size,
            allows_aliasing: self.analysis.allows_aliasing,
        }))
    }

    fn plan_and_launch(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        region: IndexRange,
    ) -> Result<Option<CompletedLaunch>> {
        self.choices.read_stored(ctx, || (self.spec.name.clone(), self.source(false)));
        let plan = self.plan_call(ctx, args, region)?;
        if plan.n == 0 {
            return Ok(None);
        }
        check_accessible(ctx, &self.spec.arguments, args)?;
        let has_gaps =
            || args.iter().filter_map(GeneratedKernelArg::as_array).any(|view| !dense_copies::is_dense(view));
        if region != IndexRange::All && has_gaps() {
            let is_written =
                |at: usize| !self.spec.arguments[at].is_const && self.analysis.uses[at] != ElementUse::Read;
            let run = |dense: &[GeneratedKernelArg<'_>]| self.plan_and_launch(ctx, dense, region).map(drop);
            return dense_copies::run_with_dense_copies(ctx, args, is_written, run).map(|()| None);
        }
        let choice = self.choices.nearest_choice(ctx, plan.n);
        let tiles = plan.walk.as_ref().and_then(PlannedWalk::tiles);
        let threads = tiles.map_or(choice.block.unwrap_or(BLOCK_THREADS), |[_, threads]| threads);
        let spec = self.kernel_spec(plan.access.clone(), threads)?;
        let kernel = LoadedKernel::new(ctx, &spec)?;
        let packed = self.pack_arguments(args, region, &plan)?;
        let pack_size = if let IndexingMode::Packed { pack_size } = plan.access { pack_size } else { 1 };
        let waves = choice.waves.map_or(MAX_WAVES, |waves| waves as usize);
        let blocks = match tiles {
            Some([blocks, _]) => blocks,
            None => kernel.blocks_for_items(plan.n.div_ceil(pack_size), waves)?,
        };
        kernel.launch(ctx, [blocks, 1, 1], 0, &packed)?;
        record_uses(args);
        Ok(Some(CompletedLaunch { spec, plan, blocks, args: packed }))
    }

    fn pack_arguments(
        &self,
        args: &[GeneratedKernelArg<'_>],
        region: IndexRange,
        plan: &ElementwisePlan,
    ) -> Result<LaunchArgs> {
        let mut packed = LaunchArgs::new();
        push_arguments(&mut packed, args, &self.spec.arguments)?;
        match (&plan.access, region) {
            (IndexingMode::Flat { ranged: true }, IndexRange::Range { start, stop, step }) => {
                [start, stop, step].iter().for_each(|&x| packed.push_i64(x));
            }
            _ => match &plan.walk {
                Some(walk) => walk.push_size_and_dims(&mut packed),
                None => packed.push_u64(plan.n as u64),
            },
        }
        Ok(packed)
    }

    /// Checks the arguments and decides the form.
    fn plan_call(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        region: IndexRange,
    ) -> Result<ElementwisePlan> {
        check_arguments(&self.spec.name, &self.spec.arguments, &self.analysis.uses, args)?;
        let arrays = || args.iter().zip(&self.analysis.uses).filter_map(|(v, u)| v.as_array().map(|a| (a, *u)));
        let Some((first, _)) = arrays().next() else {
            return Err(ArrayError::value_error(format!("kernel '{}' has no array argument", self.spec.name)));
        };
        if let IndexRange::Range { start, stop, step } = region {
            return Self::plan_range((start, stop, step));
        }
        let same_shape = arrays().all(|(a, _)| a.shape == first.shape);
        let all_contiguous =
            arrays().all(|(a, _)| a.is_c_contiguous()) || (same_shape && arrays().all(|(a, _)| a.is_f_contiguous()));
        if same_shape && all_contiguous {
            return Ok(self.plan_dense(ctx, first.n_elements(), args));
        }
        self.plan_mixed_layouts(ctx, args, first, all_contiguous)
    }

    /// Arrays of one shape that are contiguous. Wide accesses need aligned ones that share no elements, and enough of
    /// them for the device.
    fn plan_dense(&self, ctx: &Arc<ArrayContext>, n: usize, args: &[GeneratedKernelArg<'_>]) -> ElementwisePlan {
        const MIN_PACKED_ELEMENTS: usize = 1 << 15;
        let flat = ElementwisePlan::contiguous_plan(n, false);
        let is_worth_it = || n >= MIN_PACKED_ELEMENTS && !ctx.device_info().is_simd_cpu();
        if self.analysis.pack_size == 1 || !self.choices.nearest_choice(ctx, n).packed.unwrap_or_else(is_worth_it) {
            return flat;
        }
        let dense = self.dense_arrays(args);
        let address = |at: usize| args[at].as_array().map_or(0, |view| view.ptr);
        let access = match can_vectorize_at(&dense, self.analysis.pack_size, self.analysis.allows_aliasing, address) {
            true => IndexingMode::Packed { pack_size: self.analysis.pack_size },
            false => flat.access,
        };
        ElementwisePlan { access, dense, ..flat }
    }

    fn dense_arrays(&self, args: &[GeneratedKernelArg<'_>]) -> DenseArrays {
        let arrays = args.iter().zip(&self.analysis.uses).enumerate();
        let dense = arrays.filter_map(|(at, (value, used))| {
            let view = value.as_array()?;
            let is_written = used.is_written();
            Some(DenseArray {
                at,
                itemsize: view.itemsize,
                nbytes: (view.n_elements() * view.itemsize) as u64,
                is_written,
            })
        });
        dense.collect()
    }

    /// Arrays of different shapes, orders or strides.
    fn plan_mixed_layouts(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        first: &ArrayView<'_>,
        all_contiguous: bool,
    ) -> Result<ElementwisePlan> {
        let named: Vec<_> = args
            .iter()
            .zip(&self.spec.arguments)
            .zip(&self.analysis.uses)
            .filter_map(|((v, a), u)| v.as_array().map(|view| (view, a, *u)))
            .collect();
        let mut written = named.iter().filter(|(.., used)| used.is_written());
        written.try_for_each(|(view, a, _)| view.check_writable(&a.name))?;
        let elementwise = || named.iter().filter(|(.., u)| !matches!(u, ElementUse::Other | ElementUse::Unused));
        let shapes: Vec<_> = elementwise().map(|(view, ..)| view.shape).collect();
        let shape = broadcast_shapes(shapes.into_iter());
        let outputs_fit = |shape: &[usize]| elementwise().all(|(view, _, u)| !u.is_written() || view.shape == shape);
        match shape {
            Some(shape)
                if self.analysis.can_replace_arrays_with_proxies
                    && outputs_fit(&shape)
                    && elementwise().next().is_some() =>
            {
                if all_contiguous && elementwise().all(|(view, ..)| *view.shape == *shape) {
                    return Ok(ElementwisePlan::contiguous_plan(shape.iter().product(), false));
                }
                self.plan_walk(ctx, args, &shape)
            }
            _ if all_contiguous => {
                let n = first.n_elements();
                match elementwise().find(|(view, ..)| view.n_elements() < n) {
                    Some((view, a, _)) => Err(argument_error(
                        &a.name,
                        format_args!(
                            "has shape {}; expected one that fits {}, the shape of the first array",
                            PythonTuple(view.shape),
                            PythonTuple(first.shape)
                        ),
                    )),
                    None => Ok(ElementwisePlan::contiguous_plan(n, false)),
                }
            }
            _ if self.analysis.can_replace_arrays_with_proxies
                && named.iter().all(|(view, ..)| view.shape == first.shape) =>
            {
                self.plan_walk(ctx, args, first.shape)
            }
            _ => {
                let (view, a, _) = named
                    .iter()
                    .find(|(view, ..)| view.shape != first.shape || !view.is_c_contiguous())
                    .unwrap_or(&named[0]);
                Err(argument_error(
                    &a.name,
                    format_args!(
                        "has shape {:?} and strides {:?}, which do not fit the first array of shape {:?} and strides {:?}",
                        view.shape, view.strides, first.shape, first.strides
                    ),
                ))
            }
        }
    }

    fn plan_walk(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        shape: &[usize],
    ) -> Result<ElementwisePlan> {
        let n = shape.iter().product();
        Ok(match plan_snippet_walk(&self.analysis, &self.spec.arguments, args, shape, ctx.device_info())? {
            None => self.plan_dense(ctx, n, args),
            Some((access, walk)) => ElementwisePlan { n, access, walk: Some(walk), dense: DenseArrays::new() },
        })
    }

    fn plan_range((start, stop, step): (i64, i64, i64)) -> Result<ElementwisePlan> {
        if step == 0 {
            return Err(ArrayError::value_error("the step of a range is 0"));
        }
        let count = if step < 0 {
            (start as i128 - stop as i128 - step as i128 - 1) / -(step as i128)
        } else {
            (stop as i128 - start as i128 + step as i128 - 1) / step as i128
        };
        Ok(ElementwisePlan::contiguous_plan(count.max(0) as usize, true))
    }
}

/// A call that was made, and what it was made of.
struct CompletedLaunch {
    spec: SnippetKernel<ElementwiseSnippet>,
    plan: ElementwisePlan,
    blocks: u32,
    args: LaunchArgs,
}
