//! Scans: one implementation of `InclusiveScanKernel`, `ExclusiveScanKernel` and the generic scan.

#![allow(unsafe_code, reason = "launching runs the user's snippets")]

use crate::context::Context;
use crate::generators::argument_checks::{check_accessible, check_arguments};
use crate::generators::compiled_kernel::{CompileSettings, CompiledKernel, PerContextCache};
use crate::generators::dense_copies;
use crate::generators::operand::{GeneratedKernelArg, record_uses};
use rtcg_codegen::scan::{ScanKernelConfig, ScanPipeline, ScanSnippet, ScanTiling, scan_state_bytes};
use rtcg_codegen::snippet::ElementUse;
use rtcg_cuda::{Error, Result, WorkspaceUse, bulk_copy_smem_bytes, enqueue_lock, reduction_workspace};
use rtcg_driver::sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use rtcg_driver::{Stream, memory};

/// Tiles of a block from which on it stays.
const MIN_TILES: usize = 4;

/// A scan, compiled on first use.
#[derive(Debug)]
pub struct ScanKernel {
    spec: ScanSnippet,
    settings: CompileSettings,
    forms: PerContextCache<ScanKernelConfig, CompiledKernel>,
}

impl ScanKernel {
    /// Makes a scan from a description, without compiling it yet.
    ///
    /// # Errors
    /// When there is no array argument, an argument's name is taken, `prev_item` is used without a neutral element, or a
    /// fetched array is not an argument.
    pub fn new(spec: ScanSnippet, settings: CompileSettings) -> Result<Self> {
        spec.check_parameter_names().map_err(|e| Error::value_error(e.to_string()))?;
        let name = &spec.name;
        if !spec.arguments.iter().any(|a| a.is_vector) {
            return Err(Error::value_error(format!("scan '{name}' has no array argument")));
        }
        if spec.neutral.is_none() && rtcg_codegen::snippet::mentions_name(&spec.output_statement, "prev_item") {
            return Err(Error::value_error(format!("scan '{name}': neutral is required when prev_item is used")));
        }
        for fetch in &spec.fetches {
            if !spec.arguments.iter().any(|a| a.is_vector && a.name == fetch.array) {
                return Err(Error::value_error(format!(
                    "scan '{name}' fetches from '{}', which is no array argument",
                    fetch.array
                )));
            }
        }
        Ok(Self { spec, settings, forms: PerContextCache::default() })
    }

    /// The description.
    pub fn snippet(&self) -> &ScanSnippet {
        &self.spec
    }

    /// The kernel's source.
    pub fn source(&self) -> String {
        let shape = ScanTiling::new(self.spec.item_bytes(), 1, true);
        self.spec.source(&ScanKernelConfig { shape, pipeline: None, reduces_only: false })
    }

    /// Scans the first `size` elements (by default as many as the first array has); enqueues and does not wait.
    /// Contiguous arrays are indexed in memory order; arrays with gaps in C order, through contiguous copies.
    ///
    /// # Errors
    /// When an argument does not fit its declaration, or the source does not compile.
    ///
    /// # Safety
    /// The snippets are unchecked code: they must stay inside the arrays, which must live until the kernel has run.
    pub unsafe fn launch(
        &self,
        ctx: &Context,
        args: &[GeneratedKernelArg<'_>],
        size: Option<usize>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let spec = &self.spec;
        let uses = vec![ElementUse::Read; spec.arguments.len()];
        check_arguments(&spec.name, &spec.arguments, &uses, args)?;
        check_accessible(ctx, &spec.arguments, args)?;
        let arrays = || args.iter().zip(&spec.arguments).filter_map(|(v, a)| v.as_array().map(|view| (view, a)));
        if arrays().any(|(view, _)| !dense_copies::is_dense(view)) {
            let is_written = |at: usize| {
                let a = &spec.arguments[at];
                !a.is_const && rtcg_codegen::snippet::mentions_name(&spec.output_statement, &a.name)
            };
            for (_, (value, a)) in args.iter().zip(&spec.arguments).enumerate().filter(|(at, _)| is_written(*at)) {
                value.as_array().map_or(Ok(()), |view| view.check_writable(&a.name))?;
            }
            // SAFETY: the caller's promise, of copies of the same shapes.
            return dense_copies::run_with_dense_copies(ctx, args, is_written, stream, |dense| unsafe {
                self.launch(ctx, dense, size, stream)
            });
        }
        let n = size.or_else(|| arrays().next().map(|(view, _)| view.n_elements())).unwrap_or(0);
        if n == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.launch_dense(ctx, args, n, stream) }
    }

    /// [`ScanKernel::launch`] of `n` places, which are not none, of arrays without gaps.
    ///
    /// # Safety
    /// As there.
    unsafe fn launch_dense(
        &self,
        ctx: &Context,
        args: &[GeneratedKernelArg<'_>],
        n: usize,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let spec = &self.spec;
        let gpu = ctx.device().can_load_cubins();
        let pack_size = if gpu { self.pack_size(args) } else { 1 };
        let shape = ScanTiling::new(spec.item_bytes(), pack_size, gpu);
        let tiles = n.div_ceil(shape.tile_items());
        let blocks = u32::try_from(tiles).ok().filter(|&b| b <= i32::MAX as u32);
        let blocks = blocks.ok_or_else(|| Error::value_error(format!("{n} elements are too many for a scan")))?;
        let persistent_blocks = self.persistent_blocks(ctx, shape, tiles, args)?;
        let (blocks, shared_bytes) =
            persistent_blocks.map_or((blocks, 0), |(blocks, pipeline)| (blocks, pipeline.shared_bytes()));
        let passes: &[bool] = if spec.needs_total() { &[true, false] } else { &[false] };
        let form = |&totals_only: &bool| {
            let form = ScanKernelConfig {
                shape,
                pipeline: persistent_blocks.map(|(_, pipeline)| pipeline),
                reduces_only: totals_only,
            };
            self.forms.get_or_create(ctx, &form, || self.compile_scan_kernel(ctx, &form))
        };
        let kernels = passes.iter().map(form).collect::<Result<Vec<_>>>()?;
        // Another thread must not clear the state between our clearing and our kernel.
        let _alone = enqueue_lock();
        let (cleared, total) = scan_state_bytes(spec.item_bytes(), tiles);
        let (_, state) = reduction_workspace(ctx.driver_context(), stream, WorkspaceUse::Scan, total)?;
        for (pass, kernel) in kernels.iter().enumerate() {
            // Nobody waits for a single tile.
            if tiles > 1 {
                self.clear_scan_state(ctx, state, cleared, pass, stream)?;
            }
            let mut packer = kernel.function.arg_packer();
            for (value, argument) in args.iter().zip(&spec.arguments) {
                value.push_argument(&mut packer, argument)?;
            }
            packer.push(&(n as u64).to_ne_bytes(), 8)?;
            packer.push(&state.to_ne_bytes(), 8)?;
            let packed = packer.into_packed_args()?;
            // SAFETY: the state has room for all tiles; the rest is the caller's promise.
            unsafe { kernel.launch_grid(ctx, [blocks, 1, 1], shared_bytes, &packed, stream)? };
        }
        record_uses(args, stream);
        Ok(())
    }

    /// Clears the first `nbytes` bytes of the scratch at `state` for a pass. The second pass keeps the last item
    /// that the first one found.
    fn clear_scan_state(
        &self,
        ctx: &Context,
        state: u64,
        nbytes: usize,
        pass: usize,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let clear = |part: std::ops::Range<usize>| {
            // SAFETY: the scratch is as long.
            ctx.enter(|| unsafe { memory::memset_d8_async(state + part.start as u64, 0, part.len(), stream) })
        };
        if pass == 0 {
            return clear(0..nbytes);
        }
        clear(0..64)?;
        clear(self.spec.state_header_bytes()..nbytes)
    }

    /// Blocks that stay and how their warps share the work, where the device and the arrays allow that.
    fn persistent_blocks(
        &self,
        ctx: &Context,
        shape: ScanTiling,
        tiles: usize,
        args: &[GeneratedKernelArg<'_>],
    ) -> Result<Option<(u32, ScanPipeline)>> {
        let is_placed = |v: &GeneratedKernelArg<'_>| v.as_array().is_none_or(|view| view.ptr.is_multiple_of(16));
        if shape.pack_size == 1
            || ScanPipeline::pipeline_block_count(tiles, 1, MIN_TILES).is_none()
            || !args.iter().all(is_placed)
        {
            return Ok(None);
        }
        let multiprocessors = ctx.device().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32;
        let room = bulk_copy_smem_bytes(ctx.driver_context())?;
        Ok(ScanPipeline::pipeline_block_count(tiles, multiprocessors, MIN_TILES)
            .zip(self.spec.tile_pipeline(shape, room)))
    }

    /// Elements that a thread may read and write at once.
    fn pack_size(&self, args: &[GeneratedKernelArg<'_>]) -> usize {
        let pack_size = self.spec.pack_size();
        let aligned = |v: &GeneratedKernelArg<'_>| {
            v.as_array().is_none_or(|view| view.ptr.is_multiple_of((pack_size * view.itemsize).min(16) as u64))
        };
        if args.iter().all(aligned) { pack_size } else { 1 }
    }

    fn compile_scan_kernel(&self, ctx: &Context, form: &ScanKernelConfig) -> Result<CompiledKernel> {
        let spec = &self.spec;
        let snippets = [
            ("input_expr", &spec.input_expr[..]),
            ("scan_expr", &spec.scan_expr),
            ("output_statement", &spec.output_statement),
            ("neutral", spec.neutral.as_deref().unwrap_or("")),
            ("is_segment_start_expr", spec.segment_start.as_deref().unwrap_or("")),
            ("preamble", &spec.preamble),
        ];
        let module = self.settings.compile_and_load(ctx, &spec.source(form), &snippets)?;
        let threads = form.pipeline.map_or(form.shape.threads, |pipeline| pipeline.threads_per_block(form.shape));
        CompiledKernel::new(ctx, &module, &spec.name, threads)
    }
}
