//! Skinny matrix products, with few rows or columns: the choice of kernel, and how its blocks share the work.

use super::tiles::supports_tiles;
use super::{MatmulTarget, batch_layout, batch_offsets};
use crate::array::GpuArray;
use crate::iteration_plan::IterationPlan;
use rtcg_codegen::array::{SKINNY_THREADS, SkinnyMatmul, matmul_accumulator_bytes};
use rtcg_codegen::block_reduce::COMPLETION_COUNTERS;
use rtcg_hal::{ArrayContext, DType, DeviceInfo, LaunchArgs, Result, tunable};

/// Columns beyond which a product is not skinny, and where tensor cores have the dtype.
const MAX_SKINNY_N: i64 = 16;
const MAX_SKINNY_N_TENSOR_CORE: i64 = 4;
/// Bytes of operand B that a block has in shared memory at most.
const MAX_SMEM_BYTES: usize = 32 << 10;
/// Bytes of sums that pass through shared memory where threads have several rows.
const SUM_SMEM_BYTES: usize = 16 << 10;
/// Groups of threads that share terms, where they take adjacent rows: the lanes of a warp.
const MAX_COLUMN_MAJOR_GROUPS: usize = 32;

tunable! {
    /// How skinny products share the work. Operand A is the larger one.
    pub(crate) SkinnyChoice = "matmul.skinny";
    /// A stack of products of matrices of `rows` x `k` and `k` x `columns` elements.
    problem SkinnyShape {
        /// The dtype of operands and result.
        dtype: DType = Exact,
        /// Four-byte words per sum.
        sum_words: i64 = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of operand A.
        rows: i64 = PowerOfTwo,
        /// Columns of operand B.
        columns: i64 = PowerOfTwo,
        /// Inner length of the product.
        k: i64 = PowerOfTwo,
        /// Whether adjacent threads take adjacent elements of A along `k`, rather than adjacent rows.
        row_major: bool = Exact,
        /// Whether blocks load operand B into shared memory.
        staged: bool = Exact,
    }
    parameters {
        /// Words of the sums of a row, which bound the columns per block.
        column_words: i64 = [8, 16, 32],
        /// Words of the sums of a thread.
        thread_words: i64 = [8, 16, 32, 64],
        /// Rows per thread, if adjacent threads take adjacent elements along `k`.
        max_rows: i64 = [1, 2, 4, 8],
        /// Packs that a thread loads at once.
        packs_in_flight: i64 = [4, 8, 16, 32],
        /// Packs of one row that a thread loads at once.
        max_unroll: i64 = [1, 2, 4, 8],
        /// Minimum threads that split `k` for a sum, if `k` is long enough.
        min_team: i64 = [4, 8, 16, 32, 64, 128, 256],
        /// Bytes of operand B in shared memory.
        staged_bytes: i64 = [4096, 8192, 16384, 32768],
        /// Whether the elements of A for a step are loaded before those of the previous step are used.
        prefetched: bool = [false, true],
        /// Blocks per multiprocessor up to which blocks split `k`; 0 disables this.
        blocks_per_sm: i64 = [0, 1, 2, 4, 8],
    }
    device {}
    require {
        column_words >= sum_words;
        thread_words >= sum_words;
        row_major || min_team >= 8 && thread_words <= 4 * min_team;
    }
    rule skinny_rule;
}

fn skinny_rule(problem: &SkinnyShape, device_info: &DeviceInfo) -> SkinnyChoice {
    let SkinnyShape { sum_words, columns, row_major, staged, .. } = *problem;
    let (column_words, is_simd) = (32, device_info.is_simd_cpu());
    let width = columns_per_block(columns as usize, column_words, sum_words);
    SkinnyChoice {
        column_words,
        thread_words: if row_major { 64 } else { 32 },
        max_rows: 4,
        packs_in_flight: 16,
        max_unroll: match (row_major, width, is_simd) {
            (true, 1, false) => 4,
            (true, ..) => 1,
            (false, _, true) => 4,
            // Registers for four blocks of a multiprocessor do for so many.
            (false, 1, false) => 8,
            (false, ..) => 2,
        },
        // Long teams make many blocks of few rows. These would bring operand B to shared memory again and again.
        min_team: match (row_major, is_simd, staged) {
            (false, ..) => 8,
            (true, false, true) => 16,
            (true, ..) => 32,
        },
        staged_bytes: 16 << 10,
        prefetched: row_major && width > 1 && !is_simd,
        blocks_per_sm: if row_major == (width >= 4) { 2 } else { 4 },
    }
}

/// Columns of a block.
fn columns_per_block(columns: usize, column_words: i64, sum_words: i64) -> usize {
    columns.next_power_of_two().min((column_words / sum_words) as usize)
}

/// Blocks for each multiprocessor that are worth having without shared terms.
const BLOCKS_PER_SM_UNSPLIT: usize = 8;

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

/// What the threads that share terms have.
struct SkinnyTeam {
    row_major: bool,
    width: usize,
    rows: usize,
    pack: usize,
    unroll: usize,
    threads_per_sum: usize,
}

/// Computes a product by reading the larger operand once.
pub(super) fn launch_skinny_product(
    target: MatmulTarget<'_>,
    a: &GpuArray,
    b: &GpuArray,
    batch: &[usize],
    lengths: [usize; 3],
) -> Result<()> {
    let ([m, n, k], dtype, out) = (lengths, a.dtype(), target.out);
    let aligned = |array: &GpuArray| if array.is_aligned() { Ok(array.clone()) } else { array.copy(None) };
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
    let launch_plan = product.plan_launch(out.context(), offsets.is_some());
    product.launch_skinny(MatmulTarget { is_transposed, ..target }, &launch_plan, offsets.as_ref())
}

/// The most rows or columns of a product that is skinny.
pub(super) fn max_skinny_n(device_info: DeviceInfo, dtype: DType) -> i64 {
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

    fn plan_launch(&self, ctx: &ArrayContext, has_offsets: bool) -> SkinnyLaunch {
        let device_info = ctx.device_info();
        let [stack, row, term] = self.a.strides;
        let stack = if has_offsets { 1 } else { stack };
        let itemsize = self.dtype.itemsize();
        let row_major = self.rows == 1 || term.unsigned_abs() <= row.unsigned_abs();
        let pack = match row_major {
            true => self.a.pack_width(itemsize, device_info, term, [row, stack]),
            false => self.a.pack_width(itemsize, device_info, row, [term, stack]),
        };
        let staged = self.is_b_staged(if row_major { pack } else { 1 }, row_major);
        let [batches, rows, columns, k] = [self.batches, self.rows, self.columns, self.k].map(|length| length as i64);
        let sum_words = self.accumulator_words() as i64;
        let problem = SkinnyShape { dtype: self.dtype, sum_words, batches, rows, columns, k, row_major, staged };
        let choice: SkinnyChoice = ctx.choose(&problem);
        let kernel = match row_major {
            true => self.row_major_kernel(device_info, choice, pack, staged),
            false => self.column_major_kernel(choice, pack, staged),
        };
        self.plan_split_k(device_info, kernel, choice)
    }

    fn is_b_staged(&self, pack: usize, row_major: bool) -> bool {
        let [stack, term, _] = self.b.strides;
        let itemsize = self.dtype.itemsize() as i64;
        let is_whole = |bytes: i64| bytes.unsigned_abs().is_multiple_of((pack * itemsize as usize) as u64);
        let is_pack = pack == 1 || (term == itemsize && is_whole(self.b.start as i64) && is_whole(stack));
        self.columns > 1 || (row_major && !is_pack)
    }

    fn row_major_kernel(
        &self,
        device_info: DeviceInfo,
        choice: SkinnyChoice,
        pack: usize,
        is_staged: bool,
    ) -> SkinnyMatmul {
        let width = columns_per_block(self.columns, choice.column_words, self.accumulator_words() as i64);
        let rows = (choice.thread_words as usize / (width * self.accumulator_words()))
            .clamp(1, choice.max_rows as usize)
            .min(self.rows.next_power_of_two());
        // A team has to have work for each of its threads, and its terms a place in shared memory.
        let steps = (self.k / pack).max(1).next_power_of_two();
        let unroll =
            (choice.packs_in_flight as usize / rows).clamp(1, choice.max_unroll as usize).min((steps / 8).max(1));
        let longest = match is_staged {
            true => MAX_SMEM_BYTES / (pack * unroll * width * self.accumulator_words() * 4),
            false => usize::MAX,
        };
        let most = (steps / unroll).min(longest).clamp(1, SKINNY_THREADS as usize);
        let groups = self.rows.div_ceil(rows);
        let min_team = choice.min_team as usize;
        let wanted = match device_info.is_simd_cpu() || is_staged {
            true => min_team,
            false => {
                let threads = device_info.multiprocessors as usize * BLOCKS_PER_SM_UNSPLIT * SKINNY_THREADS as usize;
                (threads / (groups * self.batches)).max(min_team)
            }
        };
        // Few rows are spread over all threads of a block.
        let threads_per_sum =
            wanted.max(SKINNY_THREADS as usize / groups.next_power_of_two().min(SKINNY_THREADS as usize));
        let threads_per_sum = threads_per_sum.next_power_of_two().min(most);
        // What a block stores passes through shared memory.
        let sum_bytes = SKINNY_THREADS as usize / threads_per_sum * width * self.accumulator_words() * 4;
        let rows = rows.min((SUM_SMEM_BYTES / sum_bytes).max(1));
        let team = SkinnyTeam { row_major: true, width, rows, pack, unroll, threads_per_sum };
        self.skinny_kernel_spec(choice, team, is_staged)
    }

    fn column_major_kernel(&self, choice: SkinnyChoice, pack: usize, is_staged: bool) -> SkinnyMatmul {
        let width = columns_per_block(self.columns, choice.column_words, self.accumulator_words() as i64);
        let mut pack = pack.min((choice.thread_words as usize / (width * self.accumulator_words())).max(1));
        while !self.rows.is_multiple_of(pack) {
            pack /= 2;
        }
        let most_groups = (SKINNY_THREADS as usize / choice.min_team as usize).min(MAX_COLUMN_MAJOR_GROUPS);
        let groups = (self.rows / pack).next_power_of_two().min(most_groups);
        let threads_per_sum = SKINNY_THREADS as usize / groups;
        let longest = MAX_SMEM_BYTES / (threads_per_sum * width * self.accumulator_words() * 4);
        let most = choice.max_unroll as usize;
        let unroll = (self.k / threads_per_sum).next_power_of_two().min(most).min(longest).max(1);
        let team = SkinnyTeam { row_major: false, width, rows: pack, pack, unroll, threads_per_sum };
        self.skinny_kernel_spec(choice, team, is_staged)
    }

    fn skinny_kernel_spec(&self, choice: SkinnyChoice, team: SkinnyTeam, is_staged: bool) -> SkinnyMatmul {
        let SkinnyTeam { row_major, width, rows, pack, unroll, threads_per_sum } = team;
        let step = threads_per_sum * unroll * if row_major { pack } else { 1 };
        let staged_k = (choice.staged_bytes as usize / (width * self.accumulator_words() * 4)).max(step);
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
            is_prefetched: choice.prefetched,
            is_split_k: false,
        }
    }

    /// The kernel for as many blocks as the device is filled by, which share terms if there are few rows.
    fn plan_split_k(&self, device_info: DeviceInfo, kernel: SkinnyMatmul, choice: SkinnyChoice) -> SkinnyLaunch {
        let rows = kernel.outputs_per_block() / usize::from(kernel.width);
        let blocks = self.rows.div_ceil(rows);
        let all = blocks * self.batches * self.columns.div_ceil(kernel.width.into());
        let step = usize::from(kernel.threads_per_sum)
            * usize::from(kernel.unroll)
            * if kernel.row_major { usize::from(kernel.pack) } else { 1 };
        let wanted = device_info.multiprocessors as usize * choice.blocks_per_sm as usize / all;
        let splits = if all > COMPLETION_COUNTERS { 1 } else { wanted.min(self.k / (2 * step)).max(1) };
        let k_per_split = self.k.div_ceil(splits).next_multiple_of(step);
        let is_split_k = k_per_split < self.k;
        SkinnyLaunch { kernel: SkinnyMatmul { is_split_k, ..kernel }, blocks, k_per_split }
    }

    fn launch_skinny(
        &self,
        target: MatmulTarget<'_>,
        launch_plan: &SkinnyLaunch,
        offsets: Option<&GpuArray>,
    ) -> Result<()> {
        let ctx = target.out.context();
        let parts = self.columns.div_ceil(launch_plan.kernel.width.into());
        let splits = self.k.div_ceil(launch_plan.k_per_split);
        let layers = (self.batches * parts).min(65535);
        let (counters, partials) = match launch_plan.kernel.is_split_k {
            true => {
                let values = launch_plan.blocks * layers * splits * launch_plan.kernel.outputs_per_block();
                ctx.queue().reduction_workspace(values * matmul_accumulator_bytes(self.dtype))?
            }
            false => (0, 0),
        };
        let mut args = LaunchArgs::new();
        [self.out.start, self.a.start, self.b.start].iter().for_each(|&start| args.push_address(start, 0));
        let lengths = [self.rows, self.k, launch_plan.k_per_split, self.batches, self.columns, parts];
        lengths.iter().for_each(|&n| args.push_u64(n as u64));
        let [a, b, result] = [self.a.strides, self.b.strides, self.out.strides];
        let steps = [a[1], a[2], a[0], b[1], b[2], b[0], result[1], result[2], result[0]];
        steps.iter().for_each(|&step| args.push_i64(step));
        let offsets =
            offsets.map_or([0; 2], |offsets| [offsets.first_element_address(), offsets.first_element_address() + 8]);
        let [a, b] = if self.is_transposed { [offsets[1], offsets[0]] } else { offsets };
        [a, b, partials, counters].iter().for_each(|&start| args.push_address(start, 0));
        let compiled = target.compiled_kernel(ctx, launch_plan.kernel, &mut args, 0)?;
        ctx.queue().launch(
            &compiled,
            [launch_plan.blocks as u32, splits as u32, layers as u32],
            [SKINNY_THREADS, 1, 1],
            0,
            args.view(),
        )
    }
}
