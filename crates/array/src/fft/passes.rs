//! The launches of one complex transform along an axis: passes, or a convolution with a chirp.

use super::plan::{Block, LONGEST_OF_PASSES, Room, passes_of, quick_length, radices_of, threads_of};
use super::tables::Table;
use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::{Args, BLOCK_THREADS};
use crate::layout::Order;
use crate::runtime::{ArrayContext, Buffer};
use rtcg_codegen::DType;
use rtcg_codegen::array::{
    ArrayKernel, FFT_STAGES, Fft, FftLoad, FftResult, FftSource, FftStep, FftStepKernel, FftStore,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// Threads that run together.
const WARP: usize = 32;

/// Where the elements of all transforms lie: steps in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
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

impl Place {
    /// Elements one after the other in (outer, `n`, inner).
    pub(super) fn dense(start: u64, n: usize, inner: usize, itemsize: usize) -> Self {
        let [item, inner, n] = [itemsize, inner, n].map(|n| n as isize);
        Self { start, outer: n * inner * item, step: inner * item, inner: item, half: 0 }
    }
}

/// Transforms of length `n` for all outer and inner indices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub dtype: DType,
    pub n: usize,
    pub outer: usize,
    pub inner: usize,
    pub from: Place,
    pub source: FftSource,
    /// How many elements there are to be read; real ones of pairs.
    pub in_limit: Option<usize>,
    pub to: Place,
    pub result: FftResult,
    /// How many elements are written.
    pub out_limit: Option<usize>,
    pub is_inverse: bool,
    pub scale: f64,
}

/// What is done beside a transform, to its elements as they are read and written.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    swap_in: bool,
    /// Elements before this one are multiplied by factors, others are zero.
    in_factors: Option<(u64, usize)>,
    swap_out: bool,
    out_factors: Option<u64>,
    swap_last: bool,
}

/// An index of transforms: strides in bytes, weights in the index of an element.
#[derive(Debug, Clone, Copy)]
struct Dim {
    size: usize,
    from: isize,
    to: isize,
    at: usize,
    place: usize,
}

impl Job {
    /// Enqueues all launches.
    pub(super) fn run(&self, ctx: &Arc<ArrayContext>) -> Result<()> {
        match self.passes(ctx, self.n) {
            Some(lengths) => {
                let beside = Beside { swap_in: self.is_inverse, swap_last: self.is_inverse, ..Beside::default() };
                self.run_passes(ctx, &lengths, beside)
            }
            None => self.convolve(ctx),
        }
    }

    fn passes(&self, ctx: &ArrayContext, n: usize) -> Option<Vec<usize>> {
        let strides_first = self.inner > 1 || (self.outer > 1 && self.from.outer.abs() < self.from.step.abs());
        let (room, shared_bytes) = room_of(ctx);
        let block = Block { shared_bytes, itemsize: self.dtype.itemsize(), room };
        passes_of(n, (!strides_first).then_some(block))
    }

    /// After L. I. Bluestein (1970): with j k = (j^2 + k^2 - (k - j)^2) / 2 the transform becomes a convolution, which
    /// is done by transforms of a length that can be cut.
    fn convolve(&self, ctx: &Arc<ArrayContext>) -> Result<()> {
        let (n, itemsize) = (self.n, self.dtype.itemsize());
        let m = quick_length(2 * n - 1);
        let too_long = || ArrayError::value(format!("a transform of length {n} is too long"));
        let lengths = self.passes(ctx, m).ok_or_else(too_long)?;
        let chirp = ctx.fft_table(self.dtype, Table::Chirp(n), n * itemsize, |start| {
            self.launch_step(ctx, FftStep::Chirp, n, &[start, n as u64])
        })?;
        let spectrum = self.spectrum(ctx, n, m)?;
        let (batches, dtype) = (self.outer * self.inner, self.dtype);
        let between = GpuArray::empty(ctx, &[batches, m], dtype, Order::C)?;
        let between_place = Place::dense(between.start(), m, self.inner, itemsize);
        let forth = Job { n: m, to: between_place, result: FftResult::Complex, out_limit: None, scale: 1.0, ..*self };
        let chirp_start = chirp.device_ptr();
        forth.run_passes(
            ctx,
            &lengths,
            Beside {
                swap_in: self.is_inverse,
                in_factors: Some((chirp_start, n)),
                out_factors: Some(spectrum.device_ptr()),
                swap_last: true,
                ..Beside::default()
            },
        )?;
        let out_limit = Some(self.out_limit.unwrap_or(n));
        let source = FftSource::Complex;
        // The length of the convolution is divided by as well.
        let scale = self.scale / m as f64;
        let back = Job { n: m, from: between_place, source, in_limit: None, out_limit, scale, ..*self };
        let out_factors = Some(chirp_start);
        let beside = Beside { swap_out: true, out_factors, swap_last: self.is_inverse, ..Beside::default() };
        back.run_passes(ctx, &lengths, beside)
    }

    /// The transform of the chirp that is convolved with.
    fn spectrum(&self, ctx: &Arc<ArrayContext>, n: usize, m: usize) -> Result<Arc<dyn Buffer>> {
        let itemsize = self.dtype.itemsize();
        ctx.fft_table(self.dtype, Table::Spectrum(n, m), m * itemsize, |start| {
            let around = GpuArray::empty(ctx, &[m], self.dtype, Order::C)?;
            self.launch_step(ctx, FftStep::ChirpAround, m, &[around.start(), n as u64, m as u64])?;
            let [from, to] = [around.start(), start].map(|start| Place::dense(start, m, 1, itemsize));
            let (source, result) = (FftSource::Complex, FftResult::Complex);
            let whole = Job {
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
            };
            whole.run(ctx)
        })
    }

    /// Launches the kernel of a step with arguments of 8 bytes.
    pub(super) fn launch_step(&self, ctx: &ArrayContext, step: FftStep, work: usize, arguments: &[u64]) -> Result<()> {
        launch_step(ctx, FftStepKernel { dtype: self.dtype, step }, work, arguments)
    }

    fn run_passes(&self, ctx: &Arc<ArrayContext>, lengths: &[usize], beside: Beside) -> Result<()> {
        let itemsize = self.dtype.itemsize();
        let between = match lengths.len() {
            1 => None,
            _ => Some(GpuArray::empty(ctx, &[self.outer, self.n, self.inner], self.dtype, Order::C)?),
        };
        let turns = match lengths.len() {
            1 => None,
            _ => Some(turn_table(ctx, self.dtype, self.n)?),
        };
        let between_place = between.as_ref().map(|between| Place::dense(between.start(), self.n, self.inner, itemsize));
        for index in 0..lengths.len() {
            let is_last = index + 1 == lengths.len();
            let pass = Pass {
                job: self,
                lengths,
                index,
                from: if index == 0 { self.from } else { between_place.unwrap_or(self.from) },
                to: if is_last { self.to } else { between_place.unwrap_or(self.to) },
                is_first: index == 0,
                is_last,
            };
            pass.launch(ctx, beside, turns.as_ref())?;
        }
        Ok(())
    }
}

/// Launches the kernel of a step with arguments of 8 bytes.
pub(super) fn launch_step(ctx: &ArrayContext, kernel: FftStepKernel, work: usize, arguments: &[u64]) -> Result<()> {
    let mut args = Args::new();
    arguments.iter().for_each(|&argument| args.push_u64(argument));
    let compiled = ctx.kernel(&ArrayKernel::FftStepKernel(kernel))?;
    compiled.launch([ctx.facts().blocks_for(work), 1, 1], [BLOCK_THREADS, 1, 1], 0, args.bytes())
}

/// Twiddles of a transform of length `n`, and how many bits of an exponent are its low part.
pub(super) fn turn_table(ctx: &ArrayContext, dtype: DType, n: usize) -> Result<(Arc<dyn Buffer>, u32)> {
    let bits = (usize::BITS - n.leading_zeros()).div_ceil(2);
    let entries = (1 << bits) + ((n - 1) >> bits) + 1;
    let table = ctx.fft_table(dtype, Table::Turns(n), entries * dtype.itemsize(), |start| {
        let kernel = FftStepKernel { dtype, step: FftStep::TurnTable };
        launch_step(ctx, kernel, entries, &[start, n as u64, bits.into()])
    })?;
    Ok((table, bits))
}

/// Twiddles between the stages of a pass.
fn stage_table(ctx: &ArrayContext, dtype: DType, radices: &[usize], key: [u8; FFT_STAGES]) -> Result<Arc<dyn Buffer>> {
    let length: usize = radices.iter().product();
    ctx.fft_table(dtype, Table::Stages(key), length * dtype.itemsize(), |start| {
        let (mut before, mut start) = (radices[0], start);
        for &radix in &radices[1..] {
            let entries = before * (radix - 1);
            let kernel = FftStepKernel { dtype, step: FftStep::StageTable };
            launch_step(ctx, kernel, entries, &[start, before as u64, radix as u64])?;
            start += (entries * dtype.itemsize()) as u64;
            before *= radix;
        }
        Ok(())
    })
}

/// One pass of a job: transforms of one of the lengths.
struct Pass<'a> {
    job: &'a Job,
    lengths: &'a [usize],
    index: usize,
    from: Place,
    to: Place,
    is_first: bool,
    is_last: bool,
}

impl Pass<'_> {
    fn length(&self) -> usize {
        self.lengths[self.index]
    }

    /// The product of the lengths of earlier passes.
    fn done(&self) -> usize {
        self.lengths[..self.index].iter().product()
    }

    /// The product of the lengths of later passes.
    fn rest(&self) -> usize {
        self.lengths[self.index + 1..].iter().product()
    }

    /// The indices of transforms, the one along which a block has several first.
    fn dims(&self) -> SmallVec<[Dim; 4]> {
        let (from, to, done, rest) = (self.from, self.to, self.done(), self.rest());
        let mut dims = SmallVec::new();
        if self.job.inner > 1 {
            dims.push(Dim { size: self.job.inner, from: from.inner, to: to.inner, at: 0, place: 0 });
        }
        if !self.is_last {
            dims.push(Dim { size: rest, from: from.step, to: to.step, at: done, place: 0 });
        }
        if !self.is_first && !self.is_last {
            let apart = (self.length() * rest) as isize;
            dims.push(Dim { size: done, from: apart * from.step, to: apart * to.step, at: 0, place: 0 });
        }
        if !self.is_first && self.is_last {
            for earlier in 0..self.index {
                let place = self.lengths[..earlier].iter().product::<usize>();
                let apart = self.lengths[earlier + 1..].iter().product::<usize>() as isize;
                let size = self.lengths[earlier];
                dims.push(Dim { size, from: apart * from.step, to: place as isize * to.step, at: 0, place });
            }
        }
        dims.push(Dim { size: self.job.outer, from: from.outer, to: to.outer, at: 0, place: 0 });
        dims
    }

    fn kernel(&self, ctx: &ArrayContext, beside: Beside, dims: &[Dim], radices: &[usize], threads: usize) -> Fft {
        // Where lanes are those of a processor's vectors, shared memory has no banks.
        let (has_banks, (_, shared_bytes)) = (has_registers(ctx), room_of(ctx));
        let job = self.job;
        let mut all = [0; FFT_STAGES];
        radices.iter().zip(&mut all).for_each(|(&radix, place)| *place = radix as u8);
        let (in_step, out_step) = self.steps();
        let is_many = dims[0].size > 1;
        let load = FftLoad {
            source: if self.is_first { job.source } else { FftSource::Complex },
            is_limited: self.is_first && job.in_limit.is_some(),
            is_swapped: self.is_first && beside.swap_in,
            has_factors: self.is_first && beside.in_factors.is_some(),
            by_columns: is_many && dims[0].from.abs() < in_step.abs(),
        };
        let store = FftStore {
            is_turned: !self.is_last,
            is_swapped: self.is_last && beside.swap_out,
            has_factors: self.is_last && beside.out_factors.is_some(),
            is_scaled: self.is_last && job.scale != 1.0,
            is_swapped_last: self.is_last && beside.swap_last,
            result: if self.is_last { job.result } else { FftResult::Complex },
            is_limited: self.is_last && job.out_limit.is_some(),
            by_columns: is_many && dims[0].to.abs() < out_step.abs(),
        };
        let room = match (has_banks, load.by_columns, store.by_columns) {
            (true, true, _) => BlockRoom { elements: 4096, threads: 512 },
            (true, false, true) => BlockRoom { elements: 2048, threads: 512 },
            _ => BlockRoom { elements: (32 << 10) / job.dtype.itemsize(), threads: 256 },
        };
        // With the gaps, which are few beside the elements.
        let most = shared_bytes / job.dtype.itemsize() * 3 / 4;
        let room = BlockRoom { elements: room.elements.min(most), ..room };
        let columns = columns_of(self.length(), threads, job.dtype.itemsize(), dims[0].size, room);
        let gap = if has_banks { gap_of(radices, columns, load, store) } else { 0 };
        Fft {
            dtype: job.dtype,
            radices: all,
            threads: threads as u16,
            columns: columns as u16,
            gap: gap as u16,
            load,
            store,
        }
    }

    /// Bytes between the elements of a transform of the pass.
    fn steps(&self) -> (isize, isize) {
        let rest = self.rest() as isize;
        (self.from.step * rest, self.to.step * if self.is_last { self.done() as isize } else { rest })
    }

    fn launch(&self, ctx: &ArrayContext, beside: Beside, turns: Option<&(Arc<dyn Buffer>, u32)>) -> Result<()> {
        let job = self.job;
        let mut dims = self.dims();
        let too_many = || ArrayError::value(format!("transforms of length {} are too many or too long", job.n));
        if dims.len() > 4 {
            return Err(too_many());
        }
        let room = room_of(ctx).0;
        let radices = radices_of(self.length(), room).ok_or_else(too_many)?;
        let threads = threads_of(&radices, room);
        let kernel = self.kernel(ctx, beside, &dims, &radices, threads);
        let stages =
            if radices.len() > 1 { Some(stage_table(ctx, job.dtype, &radices, kernel.radices)?) } else { None };
        dims.resize(4, Dim { size: 1, from: 0, to: 0, at: 0, place: 0 });
        let mut args = Args::new();
        let in_factors = beside.in_factors.map_or(0, |factors| factors.0);
        let turns_start = turns.map_or(0, |turns| turns.0.device_ptr());
        let stages_start = stages.as_ref().map_or(0, |stages| stages.device_ptr());
        [self.from.start, self.to.start, stages_start, in_factors, beside.out_factors.unwrap_or(0), turns_start]
            .iter()
            .for_each(|&start| args.push_u64(start));
        dims.iter().for_each(|dim| args.push_u64(dim.size as u64));
        dims.iter().for_each(|dim| args.push_i64(dim.from as i64));
        dims.iter().for_each(|dim| args.push_i64(dim.to as i64));
        dims.iter().for_each(|dim| args.push_u64(dim.at as u64));
        dims.iter().for_each(|dim| args.push_u64(dim.place as u64));
        let (in_step, out_step) = self.steps();
        let length = beside.in_factors.map_or(job.n, |factors| factors.1);
        [in_step, out_step].iter().for_each(|&step| args.push_i64(step as i64));
        [self.rest(), self.done()].iter().for_each(|&step| args.push_u64(step as u64));
        [self.from.half, self.to.half, self.from.step].iter().for_each(|&step| args.push_i64(step as i64));
        [job.in_limit.unwrap_or(0), job.out_limit.unwrap_or(0), length].iter().for_each(|&n| args.push_u64(n as u64));
        args.push(&job.scale.to_ne_bytes(), 8);
        args.push_u64(turns.map_or(0, |turns| turns.1.into()));
        let tiles = dims[0].size.div_ceil(kernel.columns.into());
        let blocks = dims[1..].iter().try_fold(tiles, |blocks, dim| blocks.checked_mul(dim.size));
        let blocks = blocks.and_then(|blocks| u32::try_from(blocks).ok()).filter(|&blocks| blocks <= i32::MAX as u32);
        let compiled = ctx.kernel(&ArrayKernel::Fft(kernel))?;
        compiled.launch(
            [blocks.ok_or_else(too_many)?, 1, 1],
            [kernel.block_threads(), 1, 1],
            kernel.dynamic_bytes(),
            args.bytes(),
        )
    }
}

/// Whether threads are those of a GPU, not lanes of a processor's vectors.
fn has_registers(ctx: &ArrayContext) -> bool {
    !ctx.facts().are_lanes()
}

/// What a thread has room for, and the shared memory of a block; of a processor, what is near it.
fn room_of(ctx: &ArrayContext) -> (Room, usize) {
    match has_registers(ctx) {
        true => (Room::OF_REGISTERS, ctx.facts().shared_bytes as usize),
        false => (Room::OF_LANES, 48 << 10),
    }
}

/// What the transforms of a block may take. Those of columns are best wide where they are read, for whole lines of the
/// cache, and less so where they are written only.
#[derive(Debug, Clone, Copy)]
struct BlockRoom {
    elements: usize,
    threads: usize,
}

/// Transforms of a block: as many as there is room for, but enough for columns to fill a sector of 32 bytes, and for
/// whole warps if there is room; a power of two, so that there are few kernels.
fn columns_of(length: usize, threads: usize, itemsize: usize, count: usize, room: BlockRoom) -> usize {
    let sector = if length <= LONGEST_OF_PASSES { 32 / itemsize } else { 1 };
    let most = (room.elements / length).min(room.threads / threads).clamp(1, 128);
    let most = 1 << most.ilog2();
    let wanted = most.max(sector).min(count.next_power_of_two());
    let whole = WARP >> threads.trailing_zeros().min(WARP.trailing_zeros());
    let fits = whole * threads <= 512 && whole * length <= room.elements;
    if fits { wanted.max(whole) } else { wanted }
}

/// Elements of shared memory between gaps of one. What neighbouring threads write first is as far apart as the first
/// butterfly is long, times the columns if only those of later stages are neighbours. A gap for each of these steps keeps
/// them off the same banks; steps that are no multiples of 4 are often better off without when there are more stages.
fn gap_of(radices: &[usize], columns: usize, load: FftLoad, store: FftStore) -> usize {
    match radices[0] {
        radix if store.by_columns && !load.by_columns => radix * columns,
        8 | 16 => 16,
        radix if radix.is_multiple_of(4) || (radix.is_multiple_of(2) && radices.len() == 2) => radix,
        _ => 0,
    }
}
