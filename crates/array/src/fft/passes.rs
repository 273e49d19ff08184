//! The launches of one complex transform along an axis: passes, or a convolution with a chirp.

use super::block_plan::BlockPlan;
use super::choices::{FftLengths, FftLengthsProblem, FftPassChoice, FftPassProblem};
use super::expressions::BoundFusion;
use super::plan::next_fast_len;
use super::tables::{TableKind, fft_table};
use crate::array::GpuArray;
use crate::layout::Order;
use rtcg_codegen::array::{
    FFT_STAGES, FftExchange, FftExpressions, FftHelper, FftHelperKernel, FftLoad, FftPassSpec, FftResult, FftSource,
    FftStore, FusedFftPass,
};
use rtcg_hal::{ArrayBuffer, ArrayContext, ArrayError, BLOCK_THREADS, DType, LaunchArgs, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where the elements of all transforms lie: steps in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchLayout {
    pub start: u64,
    /// From one outer index to the next.
    pub outer: isize,
    /// From one element of a transform to the next.
    pub step: isize,
    /// From one inner index to the next.
    pub inner: isize,
    /// From the first to the second number of a pair.
    pub half: isize,
}

impl BatchLayout {
    /// Elements one after the other in (outer, `n`, inner).
    pub(super) fn contiguous_batch(start: u64, n: usize, inner: usize, itemsize: usize) -> Self {
        let [item, inner, n] = [itemsize, inner, n].map(|n| n as isize);
        Self { start, outer: n * inner * item, step: inner * item, inner: item, half: 0 }
    }
}

/// Transforms of length `n` for all outer and inner indices.
#[derive(Clone, Copy)]
pub(super) struct BatchedFft<'a> {
    pub dtype: DType,
    pub n: usize,
    pub outer: usize,
    pub inner: usize,
    pub from: BatchLayout,
    pub source: FftSource,
    /// How many elements there are to be read; real ones of pairs.
    pub in_limit: Option<usize>,
    pub to: BatchLayout,
    pub result: FftResult,
    /// How many elements are written.
    pub out_limit: Option<usize>,
    pub is_inverse: bool,
    pub scale: f64,
    /// Expressions that are applied to what is read first and written last.
    pub fusion: Option<&'a BoundFusion>,
}

/// What is done beside a transform, to its elements as they are read and written.
#[derive(Debug, Clone, Copy, Default)]
struct PrologueEpilogue {
    swap_in: bool,
    /// Elements before this one are multiplied by factors, others are zero.
    in_factors: Option<(u64, usize)>,
    swap_out: bool,
    out_factors: Option<u64>,
    swap_last: bool,
    /// Whether what is read, or written, is between two transforms of a convolution.
    reads_between: bool,
    writes_between: bool,
}

/// An index of transforms: strides in bytes, weights in the index of an element.
#[derive(Debug, Clone, Copy)]
struct TransformDim {
    size: usize,
    from: isize,
    to: isize,
    at: usize,
    store_weight: usize,
    /// Weight in the number of a transform.
    row: usize,
}

impl BatchedFft<'_> {
    /// Enqueues all launches.
    pub(super) fn enqueue_launches(&self, ctx: &Arc<ArrayContext>) -> Result<()> {
        match self.pass_lengths(ctx, self.n) {
            Some(lengths) => {
                let fused = PrologueEpilogue {
                    swap_in: self.is_inverse,
                    swap_last: self.is_inverse,
                    ..PrologueEpilogue::default()
                };
                self.run_passes(ctx, &lengths, fused)
            }
            None => self.bluestein_convolve(ctx),
        }
    }

    fn pass_lengths(&self, ctx: &ArrayContext, n: usize) -> Option<Vec<usize>> {
        let strides_first = self.inner > 1 || (self.outer > 1 && self.from.outer.abs() < self.from.step.abs());
        let (itemsize, of_n) = (self.dtype.itemsize() as i64, n as i64);
        let problem = FftLengthsProblem { itemsize, n: of_n, contiguous: !strides_first };
        ctx.choose::<FftLengths>(&problem).lengths(&problem, &ctx.device_info())
    }

    /// After L. I. Bluestein (1970): with j k = (j^2 + k^2 - (k - j)^2) / 2 the transform becomes a convolution, which
    /// is done by transforms of a length that can be cut, in one block if it has room.
    fn bluestein_convolve(&self, ctx: &Arc<ArrayContext>) -> Result<()> {
        let (n, itemsize) = (self.n, self.dtype.itemsize());
        let chirp = fft_table(ctx, self.dtype, TableKind::Chirp(n), n * itemsize, |start| {
            self.launch_helper(ctx, FftHelper::Chirp, n, &[start], &[n as u64])
        })?;
        if let Some(m) = FftPass::whole(self, &[n], true).convolution_length(ctx) {
            let spectrum = self.chirp_spectrum(ctx, n, m)?;
            let chirp_start = chirp.device_ptr();
            // The length of the convolution is divided by as well.
            let fft = BatchedFft { scale: self.scale / m as f64, ..*self };
            let fused = PrologueEpilogue {
                swap_in: self.is_inverse,
                in_factors: Some((chirp_start, n)),
                swap_out: true,
                out_factors: Some(chirp_start),
                swap_last: self.is_inverse,
                ..PrologueEpilogue::default()
            };
            return FftPass::whole(&fft, &[n], true).launch_pass(ctx, fused, Some(&(spectrum, 0)));
        }
        let m = next_fast_len(2 * n - 1);
        let too_long = || ArrayError::value_error(format!("a transform of length {n} is too long"));
        let lengths = self.pass_lengths(ctx, m).ok_or_else(too_long)?;
        let spectrum = self.chirp_spectrum(ctx, n, m)?;
        let (batches, dtype) = (self.outer * self.inner, self.dtype);
        let between = GpuArray::empty(ctx, &[batches, m], dtype, Order::C)?;
        let between_place = BatchLayout::contiguous_batch(between.first_element_address(), m, self.inner, itemsize);
        let forth =
            BatchedFft { n: m, to: between_place, result: FftResult::Complex, out_limit: None, scale: 1.0, ..*self };
        let chirp_start = chirp.device_ptr();
        forth.run_passes(
            ctx,
            &lengths,
            PrologueEpilogue {
                swap_in: self.is_inverse,
                in_factors: Some((chirp_start, n)),
                out_factors: Some(spectrum.device_ptr()),
                swap_last: true,
                writes_between: true,
                ..PrologueEpilogue::default()
            },
        )?;
        let out_limit = Some(self.out_limit.unwrap_or(n));
        let source = FftSource::Complex;
        let scale = self.scale / m as f64;
        let back = BatchedFft { n: m, from: between_place, source, in_limit: None, out_limit, scale, ..*self };
        let out_factors = Some(chirp_start);
        let fused = PrologueEpilogue {
            swap_out: true,
            out_factors,
            swap_last: self.is_inverse,
            reads_between: true,
            ..PrologueEpilogue::default()
        };
        back.run_passes(ctx, &lengths, fused)
    }

    /// The transform of the chirp that is convolved with.
    fn chirp_spectrum(&self, ctx: &Arc<ArrayContext>, n: usize, m: usize) -> Result<Arc<dyn ArrayBuffer>> {
        let itemsize = self.dtype.itemsize();
        fft_table(ctx, self.dtype, TableKind::Spectrum(n, m), m * itemsize, |start| {
            let around = GpuArray::empty(ctx, &[m], self.dtype, Order::C)?;
            self.launch_helper(
                ctx,
                FftHelper::ChirpFilter,
                m,
                &[around.first_element_address()],
                &[n as u64, m as u64],
            )?;
            let [from, to] = [around.first_element_address(), start]
                .map(|start| BatchLayout::contiguous_batch(start, m, 1, itemsize));
            let (source, result) = (FftSource::Complex, FftResult::Complex);
            let whole = BatchedFft {
                dtype: self.dtype,
                n: m,
                outer: 1,
                inner: 1,
                from,
                source,
                in_limit: None,
                to,
                result,
                out_limit: None,
                is_inverse: false,
                scale: 1.0,
                fusion: None,
            };
            whole.enqueue_launches(ctx)
        })
    }

    /// Launches the kernel of a step with addresses and numbers of 8 bytes.
    pub(super) fn launch_helper(
        &self,
        ctx: &ArrayContext,
        step: FftHelper,
        work: usize,
        addresses: &[u64],
        numbers: &[u64],
    ) -> Result<()> {
        launch_helper_kernel(ctx, FftHelperKernel { dtype: self.dtype, step }, work, addresses, numbers)
    }

    fn run_passes(&self, ctx: &Arc<ArrayContext>, lengths: &[usize], fused: PrologueEpilogue) -> Result<()> {
        let itemsize = self.dtype.itemsize();
        let between = match lengths.len() {
            1 => None,
            _ => Some(GpuArray::empty(ctx, &[self.outer, self.n, self.inner], self.dtype, Order::C)?),
        };
        let twiddles = match lengths.len() {
            1 => None,
            _ => Some(twiddle_table(ctx, self.dtype, self.n)?),
        };
        let between_place = between.as_ref().map(|between| {
            BatchLayout::contiguous_batch(between.first_element_address(), self.n, self.inner, itemsize)
        });
        for index in 0..lengths.len() {
            let is_last = index + 1 == lengths.len();
            let pass = FftPass {
                index,
                from: if index == 0 { self.from } else { between_place.unwrap_or(self.from) },
                to: if is_last { self.to } else { between_place.unwrap_or(self.to) },
                is_first: index == 0,
                is_last,
                ..FftPass::whole(self, lengths, false)
            };
            pass.launch_pass(ctx, fused, twiddles.as_ref())?;
        }
        Ok(())
    }
}

/// Launches the kernel of a step with addresses and numbers of 8 bytes.
pub(super) fn launch_helper_kernel(
    ctx: &ArrayContext,
    kernel: FftHelperKernel,
    work: usize,
    addresses: &[u64],
    numbers: &[u64],
) -> Result<()> {
    let mut args = LaunchArgs::new();
    addresses.iter().for_each(|&address| args.push_address(address, 0));
    numbers.iter().for_each(|&number| args.push_u64(number));
    ctx.launch(&kernel, ctx.device_info().grid_block_count(work), BLOCK_THREADS, &args)
}

/// Twiddles of a transform of length `n`, and how many bits of an exponent are its low part.
pub(super) fn twiddle_table(ctx: &ArrayContext, dtype: DType, n: usize) -> Result<(Arc<dyn ArrayBuffer>, u32)> {
    let bits = (usize::BITS - n.leading_zeros()).div_ceil(2);
    let entries = (1 << bits) + ((n - 1) >> bits) + 1;
    let table = fft_table(ctx, dtype, TableKind::Twiddles(n), entries * dtype.itemsize(), |start| {
        let kernel = FftHelperKernel { dtype, step: FftHelper::TwiddleTable };
        launch_helper_kernel(ctx, kernel, entries, &[start], &[n as u64, bits.into()])
    })?;
    Ok((table, bits))
}

/// Twiddles between the stages of a pass; `None` if it has no others than the first.
fn stage_twiddles(ctx: &ArrayContext, pass: &FftPassSpec) -> Result<Option<Arc<dyn ArrayBuffer>>> {
    let (dtype, stages) = (pass.dtype, pass.twiddled_stages());
    let entries: usize = stages.iter().map(|(before, radix)| before * (radix - 1)).sum();
    if entries == 0 {
        return Ok(None);
    }
    let kind = TableKind::StageTwiddles(pass.radices, pass.convolved > 0);
    let table = fft_table(ctx, dtype, kind, entries * dtype.itemsize(), |mut start| {
        for (before, radix) in stages {
            let entries = before * (radix - 1);
            let kernel = FftHelperKernel { dtype, step: FftHelper::StageTwiddles };
            launch_helper_kernel(ctx, kernel, entries, &[start], &[before as u64, radix as u64])?;
            start += (entries * dtype.itemsize()) as u64;
        }
        Ok(())
    })?;
    Ok(Some(table))
}

/// One pass of a job: transforms of one of the lengths.
struct FftPass<'a> {
    fft: &'a BatchedFft<'a>,
    lengths: &'a [usize],
    index: usize,
    from: BatchLayout,
    to: BatchLayout,
    is_first: bool,
    is_last: bool,
    /// Whether a block convolves.
    convolves: bool,
}

impl<'a> FftPass<'a> {
    /// The first of the passes, from what is read to what is written.
    fn whole(fft: &'a BatchedFft<'a>, lengths: &'a [usize], convolves: bool) -> Self {
        FftPass { fft, lengths, index: 0, from: fft.from, to: fft.to, is_first: true, is_last: true, convolves }
    }

    /// The length of what a block transforms forth and back; `None` where none has room for it.
    fn convolution_length(&self, ctx: &ArrayContext) -> Option<usize> {
        let problem = self.pass_problem(&self.transform_dims());
        let choice: FftPassChoice = ctx.choose(&problem);
        choice.plan(&problem, &ctx.device_info()).map(|plan| plan.radices.iter().product())
    }

    fn transform_length(&self) -> usize {
        self.lengths[self.index]
    }

    /// The product of the lengths of earlier passes.
    fn earlier_lengths_product(&self) -> usize {
        self.lengths[..self.index].iter().product()
    }

    /// The product of the lengths of later passes.
    fn later_lengths_product(&self) -> usize {
        self.lengths[self.index + 1..].iter().product()
    }

    /// The indices of transforms, the one along which a block has several first.
    fn transform_dims(&self) -> SmallVec<[TransformDim; 4]> {
        let (from, to, earlier_lengths_product, rest) =
            (self.from, self.to, self.earlier_lengths_product(), self.later_lengths_product());
        let mut dims: SmallVec<[TransformDim; 4]> = SmallVec::new();
        if self.fft.inner > 1 {
            dims.push(TransformDim {
                size: self.fft.inner,
                from: from.inner,
                to: to.inner,
                at: 0,
                store_weight: 0,
                row: 1,
            });
        }
        if !self.is_last {
            dims.push(TransformDim {
                size: rest,
                from: from.step,
                to: to.step,
                at: earlier_lengths_product,
                store_weight: 0,
                row: 0,
            });
        }
        if !self.is_first && !self.is_last {
            let apart = (self.transform_length() * rest) as isize;
            dims.push(TransformDim {
                size: earlier_lengths_product,
                from: apart * from.step,
                to: apart * to.step,
                at: 0,
                store_weight: 0,
                row: 0,
            });
        }
        if !self.is_first && self.is_last {
            for earlier in 0..self.index {
                let store_weight = self.lengths[..earlier].iter().product::<usize>();
                let apart = self.lengths[earlier + 1..].iter().product::<usize>() as isize;
                let size = self.lengths[earlier];
                dims.push(TransformDim {
                    size,
                    from: apart * from.step,
                    to: store_weight as isize * to.step,
                    at: 0,
                    store_weight,
                    row: 0,
                });
            }
        }
        dims.push(TransformDim {
            size: self.fft.outer,
            from: from.outer,
            to: to.outer,
            at: 0,
            store_weight: 0,
            row: self.fft.inner,
        });
        // Kernels have code for each index.
        let first = dims[0];
        let others = dims[1..].iter().filter(|dim| dim.size > 1).copied();
        std::iter::once(first).chain(others).collect()
    }

    fn pass_problem(&self, dims: &[TransformDim]) -> FftPassProblem {
        let ((in_step, out_step), is_many) = (self.element_strides(), dims[0].size > 1);
        let is_row = |apart: isize, step: isize, is_whole: bool| {
            is_many && is_whole && step > 0 && apart == step * self.transform_length() as isize
        };
        let reads = self.fft.source != FftSource::Hermitian && self.fft.source != FftSource::Pair;
        let reads_whole = !self.is_first || (reads && self.fft.in_limit.is_none());
        let writes = self.fft.result != FftResult::Pair && self.fft.out_limit.is_none();
        FftPassProblem {
            itemsize: self.fft.dtype.itemsize() as i64,
            length: self.transform_length() as i64,
            transforms: dims[0].size as i64,
            loads_columns: is_many && dims[0].from.abs() < in_step.abs(),
            stores_columns: is_many && dims[0].to.abs() < out_step.abs(),
            convolves: self.convolves,
            loads_rows: is_row(dims[0].from, in_step, reads_whole),
            stores_rows: is_row(dims[0].to, out_step, !self.is_last || writes),
        }
    }

    fn pass_kernel(
        &self,
        fused: PrologueEpilogue,
        choice: &FftPassChoice,
        problem: &FftPassProblem,
        plan: &BlockPlan,
        (dims, is_simd_cpu): (&[TransformDim], bool),
    ) -> FftPassSpec {
        let fft = self.fft;
        let mut all = [0; FFT_STAGES];
        plan.radices.iter().zip(&mut all).for_each(|(&radix, stage)| *stage = radix as u8);
        let mut exchanges = [FftExchange::default(); FFT_STAGES - 1];
        plan.exchanges.iter().zip(&mut exchanges).for_each(|(&planned, exchange)| *exchange = planned);
        let (in_step, out_step) = self.element_strides();
        let load_bytes = |source| fft.dtype.itemsize() / if source == FftSource::Real { 2 } else { 1 };
        let store_bytes = |result| fft.dtype.itemsize() / if result == FftResult::Real { 2 } else { 1 };
        let load = FftLoad {
            source: if self.is_first { fft.source } else { FftSource::Complex },
            is_limited: self.is_first && fft.in_limit.is_some(),
            is_swapped: self.is_first && fused.swap_in,
            has_factors: self.is_first && fused.in_factors.is_some(),
            by_columns: problem.loads_columns,
            is_dense: false,
        };
        let load = FftLoad {
            is_dense: matches!(load.source, FftSource::Complex | FftSource::Real)
                && in_step == load_bytes(load.source) as isize,
            ..load
        };
        let store = FftStore {
            applies_twiddles: !self.is_last,
            is_swapped: self.is_last && fused.swap_out,
            has_factors: self.is_last && fused.out_factors.is_some(),
            is_scaled: self.is_last && fft.scale != 1.0,
            is_swapped_last: self.is_last && fused.swap_last,
            result: if self.is_last { fft.result } else { FftResult::Complex },
            is_limited: self.is_last && fft.out_limit.is_some(),
            by_columns: problem.stores_columns,
            is_dense: false,
        };
        let store = FftStore {
            is_dense: store.result != FftResult::Pair && out_step == store_bytes(store.result) as isize,
            ..store
        };
        FftPassSpec {
            dtype: fft.dtype,
            radices: all,
            threads: plan.threads as u16,
            columns: plan.columns as u16,
            dims: dims.len() as u8,
            resident_blocks: 0,
            reads_first: !is_simd_cpu && dims.len() > 1,
            multiplies_twiddles: choice.multiplies_twiddles,
            convolved: if problem.convolves { problem.length as u16 } else { 0 },
            exchanges,
            staged_load: plan.staged_load,
            staged_store: plan.staged_store,
            load,
            store,
        }
    }

    /// Bytes between the elements of a transform of the pass.
    fn element_strides(&self) -> (isize, isize) {
        let rest = self.later_lengths_product() as isize;
        (
            self.from.step * rest,
            self.to.step * if self.is_last { self.earlier_lengths_product() as isize } else { rest },
        )
    }

    fn launch_pass(
        &self,
        ctx: &ArrayContext,
        fused: PrologueEpilogue,
        twiddles: Option<&(Arc<dyn ArrayBuffer>, u32)>,
    ) -> Result<()> {
        let fft = self.fft;
        let mut dims = self.transform_dims();
        let too_many = || ArrayError::value_error(format!("transforms of length {} are too many or too long", fft.n));
        if dims.len() > 4 {
            return Err(too_many());
        }
        let problem = self.pass_problem(&dims);
        let choice: FftPassChoice = ctx.choose(&problem);
        let device_info = ctx.device_info();
        let plan = choice.plan(&problem, &device_info).ok_or_else(too_many)?;
        let kernel = self.pass_kernel(fused, &choice, &problem, &plan, (&dims, device_info.is_simd_cpu()));
        let stages = stage_twiddles(ctx, &kernel)?;
        dims.resize(4, TransformDim { size: 1, from: 0, to: 0, at: 0, store_weight: 0, row: 0 });
        let mut args = LaunchArgs::new();
        let in_factors = fused.in_factors.map_or(0, |factors| factors.0);
        let twiddles_start = twiddles.map_or(0, |twiddles| twiddles.0.device_ptr());
        let stages_start = stages.as_ref().map_or(0, |stages| stages.device_ptr());
        [self.from.start, self.to.start, stages_start, in_factors, fused.out_factors.unwrap_or(0), twiddles_start]
            .iter()
            .for_each(|&start| args.push_address(start, 0));
        dims.iter().for_each(|dim| args.push_u64(dim.size as u64));
        dims.iter().for_each(|dim| args.push_i64(dim.from as i64));
        dims.iter().for_each(|dim| args.push_i64(dim.to as i64));
        dims.iter().for_each(|dim| args.push_u64(dim.at as u64));
        dims.iter().for_each(|dim| args.push_u64(dim.store_weight as u64));
        dims.iter().for_each(|dim| args.push_u64(dim.row as u64));
        let (in_step, out_step) = self.element_strides();
        let length = fused.in_factors.map_or(fft.n, |factors| factors.1);
        [in_step, out_step].iter().for_each(|&step| args.push_i64(step as i64));
        [self.later_lengths_product(), self.earlier_lengths_product()]
            .iter()
            .for_each(|&step| args.push_u64(step as u64));
        [self.from.half, self.to.half, self.from.step].iter().for_each(|&step| args.push_i64(step as i64));
        [fft.in_limit.unwrap_or(0), fft.out_limit.unwrap_or(0), length].iter().for_each(|&n| args.push_u64(n as u64));
        args.push(&fft.scale.to_ne_bytes(), 8);
        args.push_u64(twiddles.map_or(0, |twiddles| twiddles.1.into()));
        let tiles = dims[0].size.div_ceil(kernel.columns.into());
        let blocks = dims[1..].iter().try_fold(tiles, |blocks, dim| blocks.checked_mul(dim.size));
        let blocks = blocks.and_then(|blocks| u32::try_from(blocks).ok()).filter(|&blocks| blocks <= i32::MAX as u32);
        let grid = [blocks.ok_or_else(too_many)?, 1, 1];
        let (block, shared_bytes) = ([kernel.block_threads(), 1, 1], kernel.dynamic_smem_bytes());
        let has = |of: fn(&FftExpressions) -> bool| fft.fusion.is_some_and(|fusion| of(&fusion.source));
        let loads = self.is_first && !fused.reads_between && has(|source| source.load.is_some());
        let stores = self.is_last && !fused.writes_between && has(|source| source.store.is_some());
        match fft.fusion.filter(|_| loads || stores) {
            None => ctx.launch_grid(&kernel, grid, block, shared_bytes, &args),
            Some(fusion) => {
                fusion.push_args(&mut args)?;
                let kernel = FusedFftPass { pass: kernel, expressions: fusion.source.clone(), loads, stores };
                ctx.launch_grid(&kernel, grid, block, shared_bytes, &args)
            }
        }
    }
}
