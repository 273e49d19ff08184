//! Products with few rows or columns: which kernel, and how its blocks share the work.

use super::tiles::has_tiles;
use super::{batch_offsets, outer};
use crate::array::GpuArray;
use crate::elementwise::is_aligned;
use crate::error::Result;
use crate::launch::Args;
use crate::plan::Plan;
use crate::runtime::Facts;
use rtcg_codegen::DType;
use rtcg_codegen::array::{ArrayKernel, Matmul, SLENDER_THREADS, SlenderMatmul, matmul_sum_bytes};
use rtcg_codegen::combine::TICKETS;

/// Columns beyond which a product is not slender, and where tensor cores have the dtype.
const WIDEST: usize = 16;
const WIDEST_OF_TENSORS: usize = 4;
/// Blocks for each multiprocessor that are worth having without splits, and with splits of one column or of several, in
/// rows whose terms are neighbours and in others.
const WHOLE_BLOCKS: usize = 8;
const SPLIT_BLOCKS: [[usize; 2]; 2] = [[4, 2], [2, 4]];
/// Packs that a thread reads at once.
const PACKS: usize = 16;
/// Words of sums that a thread keeps where it takes neighbouring terms, and where it takes neighbouring rows.
const SUM_WORDS: [usize; 2] = [64, 32];
/// Bytes of the thin operand that a block has in shared memory.
const STAGED_BYTES: usize = 16 << 10;
const MOST_STAGED_BYTES: usize = 32 << 10;
/// Threads of a warp.
const WARP: usize = 32;

/// A stack of matrices as a kernel sees it.
#[derive(Debug, Clone, Copy)]
struct Stack {
    start: u64,
    /// Bytes from one to the next: matrices, rows, columns.
    steps: [i64; 3],
}

impl Stack {
    fn transposed(self) -> Self {
        let [stack, row, column] = self.steps;
        Self { steps: [stack, column, row], ..self }
    }

    /// Elements that can be read at once from where a step of `step` bytes is one to the next, and the others are
    /// `others`.
    fn pack(&self, itemsize: usize, facts: Facts, step: i64, others: [i64; 2]) -> usize {
        let pack = (facts.access_bytes as usize / itemsize).max(1);
        let is_whole = |bytes: i64| bytes.unsigned_abs().is_multiple_of(facts.access_bytes.into());
        let is_placed = is_whole(self.start as i64) && others.into_iter().all(is_whole);
        if step == itemsize as i64 && is_placed && pack.is_power_of_two() { pack } else { 1 }
    }
}

/// A product whose first operand is the big one.
struct Product {
    dtype: DType,
    batches: usize,
    rows: usize,
    columns: usize,
    terms: usize,
    big: Stack,
    thin: Stack,
    out: Stack,
    /// It is the transpose of what was asked for.
    is_transposed: bool,
}

/// A kernel and how often it is launched.
struct Spread {
    kernel: SlenderMatmul,
    blocks: usize,
    terms_of_split: usize,
}

/// Computes the product if it is slender; whether it is.
pub(super) fn launch(out: &GpuArray, a: &GpuArray, b: &GpuArray, batch: &[usize], lengths: [usize; 3]) -> Result<bool> {
    let [m, n, terms] = lengths;
    let (facts, dtype) = (out.context().facts(), out.dtype());
    if m.min(n) > widest(facts, dtype) {
        return Ok(false);
    }
    let aligned = |array: &GpuArray| if is_aligned(array) { Ok(array.clone()) } else { array.copy(None) };
    let (a, b) = (&aligned(a)?, &aligned(b)?);
    let batches = batch.iter().product();
    let steps = batch_steps(a, b, batch)?;
    let offsets = match steps {
        Some(_) => None,
        None => Some(batch_offsets(out, a, b, batch, batches)?),
    };
    let [a_step, b_step] = steps.unwrap_or_default();
    let matrix = (m * n * out.itemsize()) as i64;
    let (big, thin, result) = (stack(a, a_step), stack(b, b_step), stack(out, matrix));
    let is_transposed = n > m;
    let product = match is_transposed {
        false => Product { dtype, batches, rows: m, columns: n, terms, big, thin, out: result, is_transposed },
        true => {
            let [big, thin, out] = [thin, big, result].map(Stack::transposed);
            Product { dtype, batches, rows: n, columns: m, terms, big, thin, out, is_transposed }
        }
    };
    let spread = product.spread(facts, offsets.is_some());
    product.run(out, &spread, offsets.as_ref())?;
    Ok(true)
}

fn widest(facts: Facts, dtype: DType) -> usize {
    let has_tensors = matches!(dtype, DType::F16 | DType::BF16 | DType::F64 | DType::C128);
    if has_tensors && has_tiles(facts) { WIDEST_OF_TENSORS } else { WIDEST }
}

fn stack(array: &GpuArray, step: i64) -> Stack {
    let (strides, last) = (array.strides(), array.ndim() - 1);
    Stack { start: array.start(), steps: [step, strides[last - 1] as i64, strides[last] as i64] }
}

/// The bytes from one matrix of `a` and of `b` to the next; `None` where these are not always the same.
fn batch_steps(a: &GpuArray, b: &GpuArray, batch: &[usize]) -> Result<Option<[i64; 2]>> {
    let plan = Plan::in_order([&outer(a, batch)?, &outer(b, batch)?]);
    Ok(plan.single_stride(0, 0).zip(plan.single_stride(1, 0)).map(|(a, b)| [a as i64, b as i64]))
}

impl Product {
    fn sum_words(&self) -> usize {
        matmul_sum_bytes(self.dtype) / 4
    }

    /// Columns of a block.
    fn width(&self) -> usize {
        self.columns.next_power_of_two().min(SUM_WORDS[1] / self.sum_words())
    }

    fn spread(&self, facts: Facts, has_offsets: bool) -> Spread {
        let [stack, row, term] = self.big.steps;
        let stack = if has_offsets { 1 } else { stack };
        let itemsize = self.dtype.itemsize();
        let along = self.rows == 1 || term.unsigned_abs() <= row.unsigned_abs();
        let kernel = match along {
            true => self.along(facts, self.big.pack(itemsize, facts, term, [row, stack])),
            false => self.across(facts, self.big.pack(itemsize, facts, row, [term, stack])),
        };
        self.split(facts, kernel)
    }

    fn is_staged(&self, pack: usize, along: bool) -> bool {
        let [stack, term, _] = self.thin.steps;
        let itemsize = self.dtype.itemsize() as i64;
        let is_whole = |bytes: i64| bytes.unsigned_abs().is_multiple_of((pack * itemsize as usize) as u64);
        let is_pack = pack == 1 || (term == itemsize && is_whole(self.thin.start as i64) && is_whole(stack));
        self.columns > 1 || (along && !is_pack)
    }

    fn along(&self, facts: Facts, pack: usize) -> SlenderMatmul {
        let (width, is_lane) = (self.width(), facts.are_lanes());
        let rows = (SUM_WORDS[0] / (width * self.sum_words())).clamp(1, 4).min(self.rows.next_power_of_two());
        let is_staged = self.is_staged(pack, true);
        // A team has to have work for each of its threads, and its terms a place in shared memory.
        let steps = (self.terms / pack).max(1).next_power_of_two();
        let unroll = (PACKS / rows).clamp(1, if width > 1 || is_lane { 1 } else { 4 }).min((steps / 8).max(1));
        let longest = match is_staged {
            true => MOST_STAGED_BYTES / (pack * unroll * width * self.sum_words() * 4),
            false => usize::MAX,
        };
        let most = (steps / unroll).min(longest).clamp(1, SLENDER_THREADS as usize);
        let groups = self.rows.div_ceil(rows);
        // Long teams make many blocks of few rows. These would bring the thin operand to shared memory again and again.
        let wanted = match (is_lane, is_staged) {
            (true, _) => WARP,
            (false, true) => WARP / 2,
            (false, false) => {
                let threads = facts.processors as usize * WHOLE_BLOCKS * SLENDER_THREADS as usize;
                (threads / (groups * self.batches)).max(WARP)
            }
        };
        // Few rows are spread over all threads of a block.
        let team = wanted.max(SLENDER_THREADS as usize / groups.next_power_of_two().min(SLENDER_THREADS as usize));
        let team = team.next_power_of_two().min(most);
        // What a block stores passes through shared memory.
        let rows = rows.min((STAGED_BYTES / (SLENDER_THREADS as usize / team * width * self.sum_words() * 4)).max(1));
        self.kernel(facts, true, width, rows, pack, unroll, team, is_staged)
    }

    fn across(&self, facts: Facts, pack: usize) -> SlenderMatmul {
        let width = self.width();
        let mut pack = pack.min(SUM_WORDS[1] / (width * self.sum_words()));
        while !self.rows.is_multiple_of(pack) {
            pack /= 2;
        }
        let groups = (self.rows / pack).next_power_of_two().min(WARP);
        let team = SLENDER_THREADS as usize / groups;
        let longest = MOST_STAGED_BYTES / (team * width * self.sum_words() * 4);
        // Registers for four blocks of a multiprocessor do for so many.
        let most = match (facts.are_lanes(), width) {
            (true, _) => 4,
            (_, 1) => 8,
            _ => 2,
        };
        let unroll = (self.terms / team).next_power_of_two().min(most).min(longest).max(1);
        self.kernel(facts, false, width, pack, pack, unroll, team, self.is_staged(1, false))
    }

    #[allow(clippy::too_many_arguments)]
    fn kernel(
        &self,
        facts: Facts,
        along: bool,
        width: usize,
        rows: usize,
        pack: usize,
        unroll: usize,
        team: usize,
        is_staged: bool,
    ) -> SlenderMatmul {
        let step = team * unroll * if along { pack } else { 1 };
        let is_lane = facts.are_lanes();
        let chunk = (STAGED_BYTES / (width * self.sum_words() * 4)).max(step);
        SlenderMatmul {
            dtype: self.dtype,
            along,
            width: width as u8,
            rows: rows as u8,
            pack: pack as u8,
            unroll: unroll as u8,
            team: team as u16,
            chunk: if is_staged { chunk as u16 } else { 0 },
            is_dense: self.big.steps[if along { 2 } else { 1 }] == self.dtype.itemsize() as i64,
            is_thin_dense: self.thin.steps[1] == self.dtype.itemsize() as i64,
            is_ahead: along && width > 1 && !is_lane,
            is_split: false,
        }
    }

    /// The kernel for as many blocks as the device is filled by, which share terms if there are few rows.
    fn split(&self, facts: Facts, kernel: SlenderMatmul) -> Spread {
        let rows = kernel.outputs() / usize::from(kernel.width);
        let blocks = self.rows.div_ceil(rows);
        let all = blocks * self.batches * self.columns.div_ceil(kernel.width.into());
        let step = usize::from(kernel.team)
            * usize::from(kernel.unroll)
            * if kernel.along { usize::from(kernel.pack) } else { 1 };
        let wanted =
            facts.processors as usize * SPLIT_BLOCKS[usize::from(!kernel.along)][usize::from(kernel.width >= 4)] / all;
        let splits = if all > TICKETS { 1 } else { wanted.min(self.terms / (2 * step)).max(1) };
        let terms_of_split = self.terms.div_ceil(splits).next_multiple_of(step);
        let is_split = terms_of_split < self.terms;
        Spread { kernel: SlenderMatmul { is_split, ..kernel }, blocks, terms_of_split }
    }

    fn run(&self, out: &GpuArray, spread: &Spread, offsets: Option<&GpuArray>) -> Result<()> {
        let ctx = out.context();
        let parts = self.columns.div_ceil(spread.kernel.width.into());
        let splits = self.terms.div_ceil(spread.terms_of_split);
        let layers = (self.batches * parts).min(65535);
        let (tickets, room) = match spread.kernel.is_split {
            true => {
                let values = spread.blocks * layers * splits * spread.kernel.outputs();
                ctx.runtime().tickets(values * matmul_sum_bytes(self.dtype))?
            }
            false => (0, 0),
        };
        let mut args = Args::new();
        [self.out.start, self.big.start, self.thin.start].iter().for_each(|&n| args.push_u64(n));
        let lengths = [self.rows, self.terms, spread.terms_of_split, self.batches, self.columns, parts];
        lengths.iter().for_each(|&n| args.push_u64(n as u64));
        let [big, thin, result] = [self.big.steps, self.thin.steps, self.out.steps];
        let steps = [big[1], big[2], big[0], thin[1], thin[2], thin[0], result[1], result[2], result[0]];
        steps.iter().for_each(|&step| args.push_i64(step));
        let offsets = offsets.map_or([0; 2], |offsets| [offsets.start(), offsets.start() + 8]);
        let [big, thin] = if self.is_transposed { [offsets[1], offsets[0]] } else { offsets };
        [big, thin, room, tickets].iter().for_each(|&n| args.push_u64(n));
        let compiled = ctx.kernel(&ArrayKernel::Matmul(Matmul::Slender(spread.kernel)))?;
        compiled.launch([spread.blocks as u32, splits as u32, layers as u32], [SLENDER_THREADS, 1, 1], 0, args.bytes())
    }
}
