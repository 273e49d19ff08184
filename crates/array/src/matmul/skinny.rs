//! Products with few rows or columns: which kernel, and how its blocks share the work.

use super::tiles::supports_tiles;
use super::{batch_layout, batch_offsets};
use crate::array::GpuArray;
use crate::elementwise::is_aligned;
use crate::error::Result;
use crate::iteration_plan::IterationPlan;
use crate::launch::PackedKernelArgs;
use crate::runtime::DeviceInfo;
use rtcg_codegen::DType;
use rtcg_codegen::array::{SKINNY_THREADS, SkinnyMatmul, matmul_accumulator_bytes};
use rtcg_codegen::block_reduce::COMPLETION_COUNTERS;

/// Columns beyond which a product is not skinny, and where tensor cores have the dtype.
const MAX_SKINNY_N: usize = 16;
const MAX_SKINNY_N_TENSOR_CORE: usize = 4;
/// Blocks for each multiprocessor that are worth having without splits, and with splits of one column or of several, in
/// rows whose terms are adjacent and in others.
const BLOCKS_PER_SM_UNSPLIT: usize = 8;
const BLOCKS_PER_SM_SPLIT_K: [[usize; 2]; 2] = [[4, 2], [2, 4]];
/// Packs that a thread reads at once.
const MAX_PACKS_IN_FLIGHT: usize = 16;
/// Words of sums that a thread keeps where it takes adjacent terms, and where it takes adjacent rows.
const MAX_ACCUMULATOR_WORDS: [usize; 2] = [64, 32];
/// Bytes of operand B that a block has in shared memory.
const SMEM_BYTES: usize = 16 << 10;
const MAX_SMEM_BYTES: usize = 32 << 10;
/// Threads of a warp.
const WARP_THREADS: usize = 32;

/// A stack of matrices as a kernel sees it.
#[derive(Debug, Clone, Copy)]
struct MatrixBatch {
    start: u64,
    /// Bytes from one to the next: matrices, rows, columns.
    strides: [i64; 3],
}

impl MatrixBatch {
    fn transposed(self) -> Self {
        let [stack, row, column] = self.strides;
        Self { strides: [stack, column, row], ..self }
    }

    /// Elements that can be read at once from where a step of `step` bytes is one to the next, and the others are
    /// `others`.
    fn pack_width(&self, itemsize: usize, device_info: DeviceInfo, step: i64, others: [i64; 2]) -> usize {
        let pack = (device_info.vector_bytes as usize / itemsize).max(1);
        let is_whole = |bytes: i64| bytes.unsigned_abs().is_multiple_of(device_info.vector_bytes.into());
        let is_placed = is_whole(self.start as i64) && others.into_iter().all(is_whole);
        if step == itemsize as i64 && is_placed && pack.is_power_of_two() { pack } else { 1 }
    }
}

/// A product whose operand A is the larger one.
struct SkinnyProblem {
    dtype: DType,
    batches: usize,
    rows: usize,
    columns: usize,
    k: usize,
    a: MatrixBatch,
    b: MatrixBatch,
    out: MatrixBatch,
    /// It is the transpose of what was requested.
    is_transposed: bool,
}

/// A kernel and how often it is launched.
struct SkinnyLaunch {
    kernel: SkinnyMatmul,
    blocks: usize,
    k_per_split: usize,
}

/// Computes the product if it is skinny; whether it is.
pub(super) fn try_launch_skinny(
    out: &GpuArray,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    lengths: [usize; 3],
) -> Result<bool> {
    let [m, n, k] = lengths;
    let (device_info, dtype) = (out.context().device_info(), out.dtype());
    if m.min(n) > max_skinny_n(device_info, dtype) {
        return Ok(false);
    }
    let aligned = |array: &GpuArray| if is_aligned(array) { Ok(array.clone()) } else { array.copy(None) };
    let (a, b) = (&aligned(a)?, &aligned(b)?);
    let batches = batch.iter().product();
    let steps = batch_strides(a, b, batch)?;
    let offsets = match steps {
        Some(_) => None,
        None => Some(batch_offsets(out, a, b, batch, batches)?),
    };
    let [a_step, b_step] = steps.unwrap_or_default();
    let matrix = (m * n * out.itemsize()) as i64;
    let (a, b, result) = (matrix_batch_of(a, a_step), matrix_batch_of(b, b_step), matrix_batch_of(out, matrix));
    let is_transposed = n > m;
    let product = match is_transposed {
        false => SkinnyProblem { dtype, batches, rows: m, columns: n, k, a, b, out: result, is_transposed },
        true => {
            let [a, b, out] = [b, a, result].map(MatrixBatch::transposed);
            SkinnyProblem { dtype, batches, rows: n, columns: m, k, a, b, out, is_transposed }
        }
    };
    let launch_plan = product.plan_launch(device_info, offsets.is_some());
    product.launch_skinny(out, &launch_plan, offsets.as_ref())?;
    Ok(true)
}

fn max_skinny_n(device_info: DeviceInfo, dtype: DType) -> usize {
    let has_tensors = matches!(dtype, DType::F16 | DType::BF16 | DType::F64 | DType::C128);
    if has_tensors && supports_tiles(device_info) { MAX_SKINNY_N_TENSOR_CORE } else { MAX_SKINNY_N }
}

fn matrix_batch_of(array: &GpuArray, step: i64) -> MatrixBatch {
    let (strides, last) = (array.strides(), array.ndim() - 1);
    MatrixBatch {
        start: array.first_element_address(),
        strides: [step, strides[last - 1] as i64, strides[last] as i64],
    }
}

/// The bytes from one matrix of `a` and of `b` to the next; `None` where these are not always the same.
fn batch_strides(a: &GpuArray, b: &GpuArray, batch: &[usize]) -> Result<Option<[i64; 2]>> {
    let plan = IterationPlan::keeping_axis_order([&batch_layout(a, batch)?, &batch_layout(b, batch)?]);
    Ok(plan.single_stride(0, 0).zip(plan.single_stride(1, 0)).map(|(a, b)| [a as i64, b as i64]))
}

impl SkinnyProblem {
    fn accumulator_words(&self) -> usize {
        matmul_accumulator_bytes(self.dtype) / 4
    }

    /// Columns of a block.
    fn columns_per_block(&self) -> usize {
        self.columns.next_power_of_two().min(MAX_ACCUMULATOR_WORDS[1] / self.accumulator_words())
    }

    fn plan_launch(&self, device_info: DeviceInfo, has_offsets: bool) -> SkinnyLaunch {
        let [stack, row, term] = self.a.strides;
        let stack = if has_offsets { 1 } else { stack };
        let itemsize = self.dtype.itemsize();
        let row_major = self.rows == 1 || term.unsigned_abs() <= row.unsigned_abs();
        let kernel = match row_major {
            true => self.row_major_kernel(device_info, self.a.pack_width(itemsize, device_info, term, [row, stack])),
            false => {
                self.column_major_kernel(device_info, self.a.pack_width(itemsize, device_info, row, [term, stack]))
            }
        };
        self.plan_split_k(device_info, kernel)
    }

    fn is_b_staged(&self, pack: usize, row_major: bool) -> bool {
        let [stack, term, _] = self.b.strides;
        let itemsize = self.dtype.itemsize() as i64;
        let is_whole = |bytes: i64| bytes.unsigned_abs().is_multiple_of((pack * itemsize as usize) as u64);
        let is_pack = pack == 1 || (term == itemsize && is_whole(self.b.start as i64) && is_whole(stack));
        self.columns > 1 || (row_major && !is_pack)
    }

    fn row_major_kernel(&self, device_info: DeviceInfo, pack: usize) -> SkinnyMatmul {
        let (width, is_simd) = (self.columns_per_block(), device_info.is_simd_cpu());
        let rows = (MAX_ACCUMULATOR_WORDS[0] / (width * self.accumulator_words()))
            .clamp(1, 4)
            .min(self.rows.next_power_of_two());
        let is_staged = self.is_b_staged(pack, true);
        // A team has to have work for each of its threads, and its terms a place in shared memory.
        let steps = (self.k / pack).max(1).next_power_of_two();
        let unroll =
            (MAX_PACKS_IN_FLIGHT / rows).clamp(1, if width > 1 || is_simd { 1 } else { 4 }).min((steps / 8).max(1));
        let longest = match is_staged {
            true => MAX_SMEM_BYTES / (pack * unroll * width * self.accumulator_words() * 4),
            false => usize::MAX,
        };
        let most = (steps / unroll).min(longest).clamp(1, SKINNY_THREADS as usize);
        let groups = self.rows.div_ceil(rows);
        // Long teams make many blocks of few rows. These would bring operand B to shared memory again and again.
        let wanted = match (is_simd, is_staged) {
            (true, _) => WARP_THREADS,
            (false, true) => WARP_THREADS / 2,
            (false, false) => {
                let threads = device_info.multiprocessors as usize * BLOCKS_PER_SM_UNSPLIT * SKINNY_THREADS as usize;
                (threads / (groups * self.batches)).max(WARP_THREADS)
            }
        };
        // Few rows are spread over all threads of a block.
        let threads_per_sum =
            wanted.max(SKINNY_THREADS as usize / groups.next_power_of_two().min(SKINNY_THREADS as usize));
        let threads_per_sum = threads_per_sum.next_power_of_two().min(most);
        // What a block stores passes through shared memory.
        let rows = rows.min(
            (SMEM_BYTES / (SKINNY_THREADS as usize / threads_per_sum * width * self.accumulator_words() * 4)).max(1),
        );
        self.skinny_kernel_spec(device_info, true, width, rows, pack, unroll, threads_per_sum, is_staged)
    }

    fn column_major_kernel(&self, device_info: DeviceInfo, pack: usize) -> SkinnyMatmul {
        let width = self.columns_per_block();
        let mut pack = pack.min(MAX_ACCUMULATOR_WORDS[1] / (width * self.accumulator_words()));
        while !self.rows.is_multiple_of(pack) {
            pack /= 2;
        }
        let groups = (self.rows / pack).next_power_of_two().min(WARP_THREADS);
        let threads_per_sum = SKINNY_THREADS as usize / groups;
        let longest = MAX_SMEM_BYTES / (threads_per_sum * width * self.accumulator_words() * 4);
        // Registers for four blocks of a multiprocessor do for so many.
        let most = match (device_info.is_simd_cpu(), width) {
            (true, _) => 4,
            (_, 1) => 8,
            _ => 2,
        };
        let unroll = (self.k / threads_per_sum).next_power_of_two().min(most).min(longest).max(1);
        self.skinny_kernel_spec(
            device_info,
            false,
            width,
            pack,
            pack,
            unroll,
            threads_per_sum,
            self.is_b_staged(1, false),
        )
    }

    #[allow(clippy::too_many_arguments)]
    fn skinny_kernel_spec(
        &self,
        device_info: DeviceInfo,
        row_major: bool,
        width: usize,
        rows: usize,
        pack: usize,
        unroll: usize,
        threads_per_sum: usize,
        is_staged: bool,
    ) -> SkinnyMatmul {
        let step = threads_per_sum * unroll * if row_major { pack } else { 1 };
        let is_simd = device_info.is_simd_cpu();
        let staged_k = (SMEM_BYTES / (width * self.accumulator_words() * 4)).max(step);
        SkinnyMatmul {
            dtype: self.dtype,
            row_major,
            width: width as u8,
            rows: rows as u8,
            pack: pack as u8,
            unroll: unroll as u8,
            threads_per_sum: threads_per_sum as u16,
            staged_k: if is_staged { staged_k as u16 } else { 0 },
            is_a_dense: self.a.strides[if row_major { 2 } else { 1 }] == self.dtype.itemsize() as i64,
            is_b_dense: self.b.strides[1] == self.dtype.itemsize() as i64,
            is_prefetched: row_major && width > 1 && !is_simd,
            is_split_k: false,
        }
    }

    /// The kernel for as many blocks as the device is filled by, which share terms if there are few rows.
    fn plan_split_k(&self, device_info: DeviceInfo, kernel: SkinnyMatmul) -> SkinnyLaunch {
        let rows = kernel.outputs_per_block() / usize::from(kernel.width);
        let blocks = self.rows.div_ceil(rows);
        let all = blocks * self.batches * self.columns.div_ceil(kernel.width.into());
        let step = usize::from(kernel.threads_per_sum)
            * usize::from(kernel.unroll)
            * if kernel.row_major { usize::from(kernel.pack) } else { 1 };
        let wanted = device_info.multiprocessors as usize
            * BLOCKS_PER_SM_SPLIT_K[usize::from(!kernel.row_major)][usize::from(kernel.width >= 4)]
            / all;
        let splits = if all > COMPLETION_COUNTERS { 1 } else { wanted.min(self.k / (2 * step)).max(1) };
        let k_per_split = self.k.div_ceil(splits).next_multiple_of(step);
        let is_split_k = k_per_split < self.k;
        SkinnyLaunch { kernel: SkinnyMatmul { is_split_k, ..kernel }, blocks, k_per_split }
    }

    fn launch_skinny(&self, out: &GpuArray, launch_plan: &SkinnyLaunch, offsets: Option<&GpuArray>) -> Result<()> {
        let ctx = out.context();
        let parts = self.columns.div_ceil(launch_plan.kernel.width.into());
        let splits = self.k.div_ceil(launch_plan.k_per_split);
        let layers = (self.batches * parts).min(65535);
        let (counters, partials) = match launch_plan.kernel.is_split_k {
            true => {
                let values = launch_plan.blocks * layers * splits * launch_plan.kernel.outputs_per_block();
                ctx.device_runtime().reduction_workspace(values * matmul_accumulator_bytes(self.dtype))?
            }
            false => (0, 0),
        };
        let mut args = PackedKernelArgs::new();
        [self.out.start, self.a.start, self.b.start].iter().for_each(|&n| args.push_u64(n));
        let lengths = [self.rows, self.k, launch_plan.k_per_split, self.batches, self.columns, parts];
        lengths.iter().for_each(|&n| args.push_u64(n as u64));
        let [a, b, result] = [self.a.strides, self.b.strides, self.out.strides];
        let steps = [a[1], a[2], a[0], b[1], b[2], b[0], result[1], result[2], result[0]];
        steps.iter().for_each(|&step| args.push_i64(step));
        let offsets =
            offsets.map_or([0; 2], |offsets| [offsets.first_element_address(), offsets.first_element_address() + 8]);
        let [a, b] = if self.is_transposed { [offsets[1], offsets[0]] } else { offsets };
        [a, b, partials, counters].iter().for_each(|&n| args.push_u64(n));
        let compiled = ctx.compiled_kernel(&launch_plan.kernel)?;
        compiled.launch(
            [launch_plan.blocks as u32, splits as u32, layers as u32],
            [SKINNY_THREADS, 1, 1],
            0,
            args.packed_bytes(),
        )
    }
}
