//! Scans: one implementation of `InclusiveScanKernel`, `ExclusiveScanKernel` and the generic scan.

#![expect(unsafe_code, reason = "declares what callers promise: their snippets are unchecked")]

use super::argument_checks::{check_accessible, check_arguments};
use super::dense_copies;
use super::loaded_kernel::LoadedKernel;
use super::operand::{GeneratedKernelArg, push_arguments, record_uses};
use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_codegen::scan::{ScanKernelConfig, ScanPipeline, ScanSnippet, ScanTiling, scan_state_bytes};
use rtcg_codegen::snippet::ElementUse;
use rtcg_codegen::snippet_kernel::SharedSnippet;
use rtcg_hal::{ArrayContext, ArrayError, CompileSettings, DType, DeviceInfo, LaunchArgs, Result};
use std::sync::Arc;

/// Tiles of a block from which on it stays.
const MIN_TILES: usize = 4;

/// A scan, compiled on first use.
#[derive(Debug)]
pub struct ScanKernel {
    spec: SharedSnippet<ScanSnippet>,
}

impl ScanKernel {
    /// Makes a scan from a description, without compiling it yet.
    ///
    /// # Errors
    /// When there is no array argument, an argument's name is taken, `prev_item` is used without a neutral element, or a
    /// fetched array is not an argument.
    pub fn new(spec: ScanSnippet, settings: CompileSettings) -> Result<Self> {
        spec.check_parameter_names().map_err(|e| ArrayError::value_error(e.to_string()))?;
        let name = &spec.name;
        if !spec.arguments.iter().any(|a| a.is_vector) {
            return Err(ArrayError::value_error(format!("scan '{name}' has no array argument")));
        }
        if spec.neutral.is_none() && rtcg_codegen::snippet::mentions_name(&spec.output_statement, "prev_item") {
            return Err(ArrayError::value_error(format!("scan '{name}': neutral is required when prev_item is used")));
        }
        for fetch in &spec.fetches {
            if !spec.arguments.iter().any(|a| a.is_vector && a.name == fetch.array) {
                return Err(ArrayError::value_error(format!(
                    "scan '{name}' fetches from '{}', which is no array argument",
                    fetch.array
                )));
            }
        }
        Ok(Self { spec: SharedSnippet::new(spec, settings) })
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
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        size: Option<usize>,
    ) -> Result<()> {
        self.check_and_launch(ctx, args, size)
    }

    fn check_and_launch(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[GeneratedKernelArg<'_>],
        size: Option<usize>,
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
            return dense_copies::run_with_dense_copies(ctx, args, is_written, |dense| {
                self.check_and_launch(ctx, dense, size)
            });
        }
        let n = size.or_else(|| arrays().next().map(|(view, _)| view.n_elements())).unwrap_or(0);
        if n == 0 {
            return Ok(());
        }
        self.launch_dense(ctx, args, n)
    }

    /// [`ScanKernel::launch`] of `n` places, which are not none, of arrays without gaps.
    fn launch_dense(&self, ctx: &Arc<ArrayContext>, args: &[GeneratedKernelArg<'_>], n: usize) -> Result<()> {
        let (spec, device) = (&self.spec, ctx.device_info());
        let is_gpu = !device.is_simd_cpu();
        let pack_size = if is_gpu { self.pack_size(args) } else { 1 };
        let shape = ScanTiling::new(spec.item_bytes(), pack_size, is_gpu);
        let tiles = n.div_ceil(shape.tile_items());
        let blocks = u32::try_from(tiles).ok().filter(|&b| b <= i32::MAX as u32);
        let blocks = blocks.ok_or_else(|| ArrayError::value_error(format!("{n} elements are too many for a scan")))?;
        let persistent_blocks = self.persistent_blocks(device, shape, tiles, args);
        let (blocks, shared_bytes) =
            persistent_blocks.map_or((blocks, 0), |(blocks, pipeline)| (blocks, pipeline.shared_bytes()));
        let pipeline = persistent_blocks.map(|(_, pipeline)| pipeline);
        let (cleared, total) = scan_state_bytes(spec.item_bytes(), tiles);
        let state = GpuArray::empty(ctx, &[total], DType::U8, Order::C)?;
        let address = state.buffer().map_or(Ok(0), |buffer| buffer.address_recording_use())?;
        let passes: &[bool] = if spec.needs_total() { &[true, false] } else { &[false] };
        for (pass, &reduces_only) in passes.iter().enumerate() {
            let kernel = LoadedKernel::new(ctx, &spec.kernel(ScanKernelConfig { shape, pipeline, reduces_only }))?;
            // Nobody waits for a single tile.
            if tiles > 1 {
                self.clear_scan_state(ctx, address, cleared, pass)?;
            }
            let mut packed = LaunchArgs::new();
            push_arguments(&mut packed, args, &spec.arguments)?;
            packed.push_u64(n as u64);
            packed.push_address(address, 0);
            kernel.launch(ctx, [blocks, 1, 1], shared_bytes, &packed)?;
        }
        record_uses(args);
        Ok(())
    }

    /// Clears the first `nbytes` bytes of the state for a pass. The second pass keeps the last item that the first one
    /// found.
    fn clear_scan_state(&self, ctx: &ArrayContext, state: u64, nbytes: usize, pass: usize) -> Result<()> {
        let clear = |part: std::ops::Range<usize>| ctx.queue().fill_zero(state + part.start as u64, part.len());
        if pass == 0 {
            return clear(0..nbytes);
        }
        clear(0..64)?;
        clear(self.spec.state_header_bytes()..nbytes)
    }

    /// Blocks that stay and how their warps share the work, where the device and the arrays allow that.
    fn persistent_blocks(
        &self,
        device: DeviceInfo,
        shape: ScanTiling,
        tiles: usize,
        args: &[GeneratedKernelArg<'_>],
    ) -> Option<(u32, ScanPipeline)> {
        let is_placed = |v: &GeneratedKernelArg<'_>| v.as_array().is_none_or(|view| view.ptr.is_multiple_of(16));
        if shape.pack_size == 1 || !args.iter().all(is_placed) {
            return None;
        }
        ScanPipeline::pipeline_block_count(tiles, device.multiprocessors, MIN_TILES)
            .zip(self.spec.tile_pipeline(shape, device.bulk_copy_smem_bytes))
    }

    /// Elements that a thread may read and write at once.
    fn pack_size(&self, args: &[GeneratedKernelArg<'_>]) -> usize {
        let pack_size = self.spec.pack_size();
        let aligned = |v: &GeneratedKernelArg<'_>| {
            v.as_array().is_none_or(|view| view.ptr.is_multiple_of((pack_size * view.itemsize).min(16) as u64))
        };
        if args.iter().all(aligned) { pack_size } else { 1 }
    }
}
