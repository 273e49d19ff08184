//! Whole einsums in one kernel, whose blocks contract several elements in shared memory.

use super::direct::{Axis, is_wide, kernel_axis, push_dims};
use super::{Contraction, Term};
use crate::array::GpuArray;
use rtcg_codegen::array::{
    BlockArray, BlockEinsum, BlockStep, EINSUM_ELEMENT_DIM, EinsumTypes, fragment_pitch, matmul_accumulator_bytes,
};
use rtcg_hal::{ArrayContext, DType, DeviceInfo, Result, tunable};
use std::collections::HashSet;

/// The longest inner axis, and the most of them.
const MAX_INNER_LENGTH: usize = 256;
const MAX_INNER_AXES: usize = 8;
/// Multiplications from which on a kernel is written for a sum of products.
const MIN_WORK: usize = 1 << 18;
/// Elements below which blocks would have nothing to share.
const MIN_ELEMENTS: usize = 16;
/// Elements from which on results of searches count for any number of them.
const MAX_COUNTED_ELEMENTS: i64 = 1 << 16;
/// Items of shared memory behind those of an array, for each element.
const SLACK: i64 = 12;

tunable! {
    /// The kernel of an einsum of many small arrays.
    pub(crate) BlockChoice = "einsum.block";
    /// Contractions of inner axes for each of several elements.
    problem BlockProblem {
        /// The dtype of the computation.
        dtype: DType = Exact,
        /// Number of elements, up to as many as keep any device busy: the best choice for more is the same.
        elements: i64 = PowerOfTwo,
        /// Results per element.
        outputs: i64 = Exact,
        /// Multiplications per element.
        products: i64 = Exact,
        /// Number of contractions of two arrays.
        steps: i64 = Exact,
        /// Bytes in shared memory for operands shared by all elements, for the unit that needs more.
        constant_bytes: i64 = Exact,
        /// Bytes in shared memory for operands, per element.
        operand_bytes: i64 = Exact,
        /// Bytes in shared memory for results of all steps but the last, per element.
        intermediate_bytes: i64 = Exact,
        /// Bytes between arrays in shared memory, per element.
        slack_bytes: i64 = Exact,
        /// Whether adjacent results belong to the same element.
        inner_last: bool = Exact,
    }
    parameters {
        /// Elements that a block contracts at once.
        elements_per_block: i64 = [1, 2, 4, 8, 16, 32, 64, 128],
        /// Threads per block.
        threads: i64 = [32, 64, 96, 128, 192, 256],
        /// Rows of a step's result that a thread computes: indices of the operand that all elements share.
        rows: i64 = [1, 2, 4, 5, 6, 8],
        /// Columns of a step's result that a thread computes: indices of the other operand.
        columns: i64 = [1, 2, 4, 8],
        /// Which operands are loaded into shared memory.
        staged: &'static str = ["all", "elements", "none"],
        /// The unit that multiplies: threads, or warps with tensor cores (doubles, 16-bit floats, or singles as three
        /// products of TF32 numbers); `rows` and `columns` then count fragments.
        unit: &'static str = ["simt", "mma"],
        /// What adjacent threads compute: adjacent results, or the same result of adjacent elements.
        lanes: &'static str = ["results", "elements"],
        /// Unroll factor of the sum.
        unroll: i64 = [1, 2, 4, 8],
        /// Maximum blocks per multiprocessor: if there are few, each loads what all elements share once for many
        /// elements.
        blocks_per_sm: i64 = [2, 8, 32],
    }
    device { shared_bytes, compute_capability }
    require {
        unit != "mma" || compute_capability >= 80;
        unit != "mma" || dtype == DType::F64 || dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
        unit != "mma" || rows * columns <= 16;
        // Only steps by threads differ by what adjacent ones have.
        unit != "mma" || steps > 1 || lanes == "results";
        rows * columns <= 32;
        (elements_per_block + 1) * (intermediate_bytes + slack_bytes) <= shared_bytes;
        staged == "none" || (elements_per_block + 1) * (operand_bytes + intermediate_bytes + slack_bytes) <= shared_bytes;
        staged != "all"
            || constant_bytes + (elements_per_block + 1) * (operand_bytes + intermediate_bytes + slack_bytes) <= shared_bytes;
    }
    rule block_rule;
}

/// Shared memory of a block that leaves room for others on the multiprocessor.
const MAX_RULE_BYTES: i64 = 48 << 10;
/// Results that give the threads of a block a tile each.
const RESULTS_PER_BLOCK: i64 = 2048;
/// Of which operands that all elements share take this much at most.
const MAX_RULE_CONSTANT_BYTES: i64 = 24 << 10;

/// Elements whose results of all steps but the last fit in shared memory.
fn room_for_elements(problem: &BlockProblem, device_info: &DeviceInfo) -> i64 {
    let bytes = problem.intermediate_bytes + problem.slack_bytes;
    i64::from(device_info.shared_bytes) / bytes.max(1) - 1
}

/// Products of matrices for each element by tensor cores, where that was measured to be faster: on compute capability 9.0,
/// for one product with sums of 16 terms and more of operands whose items are used several times, and for several of 16-bit
/// floats with sums of so many terms that threads would take ten times as long.
fn fragments_rule(problem: &BlockProblem, device_info: &DeviceInfo) -> Option<BlockChoice> {
    let BlockProblem { dtype, elements, outputs, products, steps, operand_bytes, .. } = *problem;
    let is_product = steps == 1
        && products >= 16 * outputs
        && products * matmul_accumulator_bytes(dtype) as i64 >= 4 * operand_bytes;
    let has_fragments = matches!(dtype, DType::F64 | DType::F16 | DType::BF16) && device_info.compute_capability == 90;
    let is_short = matches!(dtype, DType::F16 | DType::BF16);
    let elements_per_block = room_for_elements(problem, device_info).min(2);
    if steps > 1 && is_short && products >= 64 * outputs && has_fragments && elements_per_block > 0 {
        return Some(BlockChoice {
            elements_per_block,
            threads: 64,
            rows: 8,
            columns: 2,
            staged: "none",
            unit: "mma",
            lanes: "results",
            unroll: 4,
            blocks_per_sm: 32,
        });
    }
    (is_product && has_fragments && !device_info.is_simd_cpu()).then(|| BlockChoice {
        elements_per_block: 1 << (elements / i64::from(device_info.multiprocessors.max(1))).clamp(1, 128).ilog2(),
        threads: 128,
        rows: 5,
        columns: 2,
        staged: "none",
        unit: "mma",
        lanes: "results",
        unroll: 8,
        blocks_per_sm: 32,
    })
}

fn block_rule(problem: &BlockProblem, device_info: &DeviceInfo) -> BlockChoice {
    let BlockProblem { elements, outputs, constant_bytes, operand_bytes, intermediate_bytes, slack_bytes, .. } =
        *problem;
    if let Some(choice) = fragments_rule(problem, device_info) {
        return choice;
    }
    let threads = if device_info.is_simd_cpu() { 64 } else { 128 };
    let staged = if constant_bytes <= MAX_RULE_CONSTANT_BYTES { "all" } else { "elements" };
    let room = MAX_RULE_BYTES.min(device_info.shared_bytes.into());
    let room = if staged == "all" { room - constant_bytes } else { room };
    // Threads have a piece of work each, and no multiprocessor is without a block.
    let wanted = RESULTS_PER_BLOCK / outputs.max(1);
    let fair = elements / i64::from(device_info.multiprocessors.max(1));
    let fitting = room / (operand_bytes + intermediate_bytes + slack_bytes).max(1) - 1;
    let most = wanted.min(fair).min(fitting).clamp(1, 128);
    let elements_per_block = 1 << most.ilog2();
    let staged = if fitting < 1 { "none" } else { staged };
    BlockChoice {
        elements_per_block,
        threads,
        rows: 4,
        columns: 4,
        staged,
        unit: "simt",
        lanes: "results",
        unroll: 4,
        blocks_per_sm: 32,
    }
}

/// A sum of products whose axes are split into those that number elements and inner ones.
struct Program {
    outer: Vec<Axis>,
    inner: Vec<Axis>,
    /// The dimensions of the operands, then of the results of steps.
    dims: Vec<Vec<u8>>,
    steps: Vec<BlockStep>,
}

impl Program {
    fn new(kept: Vec<Axis>, reduced: Vec<Axis>, n_operands: usize, path: &[Vec<usize>]) -> Option<Self> {
        let longest = kept.iter().map(|axis| axis.length).max()?;
        let mut is_first = true;
        let (outer, inner_kept): (Vec<Axis>, Vec<Axis>) = kept.into_iter().partition(|axis| {
            let is_longest = axis.length == longest && std::mem::take(&mut is_first);
            is_longest || axis.length > MAX_INNER_LENGTH
        });
        let n_kept = inner_kept.len();
        let inner: Vec<Axis> = inner_kept.into_iter().chain(reduced).collect();
        // Elements share what does not have them: an operand that has some of their axes only would be read by each.
        let operands_of = |axis: &Axis| axis.strides[1..].iter().map(|stride| *stride != 0).collect::<Vec<_>>();
        outer.windows(2).all(|pair| operands_of(&pair[0]) == operands_of(&pair[1])).then_some(())?;
        let has_operand = |axis: &Axis| axis.strides[1..].iter().any(|stride| *stride != 0);
        let fits = inner.len() <= MAX_INNER_AXES
            && inner.iter().all(|axis| axis.length <= MAX_INNER_LENGTH)
            && inner[n_kept..].iter().all(has_operand);
        fits.then_some(())?;
        let dims_of = |operand: usize| {
            let has_elements = outer.iter().any(|axis| axis.strides[operand] != 0);
            let mut dims: Vec<u8> =
                (0..inner.len() as u8).filter(|&k| inner[usize::from(k)].strides[operand] != 0).collect();
            dims.extend(has_elements.then_some(EINSUM_ELEMENT_DIM));
            let stride = |dim: &u8| match *dim {
                EINSUM_ELEMENT_DIM => outer
                    .iter()
                    .map(|axis| axis.strides[operand].unsigned_abs())
                    .filter(|stride| *stride != 0)
                    .min()
                    .unwrap_or(0),
                axis => inner[usize::from(axis)].strides[operand].unsigned_abs(),
            };
            dims.sort_by_key(|dim| std::cmp::Reverse(stride(dim)));
            dims
        };
        let mut result: Vec<u8> = (0..n_kept as u8).chain([EINSUM_ELEMENT_DIM]).collect();
        let of_result = dims_of(0);
        result.sort_by_key(|dim| of_result.iter().position(|known| known == dim));
        let mut dims: Vec<Vec<u8>> = (1..=n_operands).map(dims_of).collect();
        let (mut left, mut steps) = ((0..n_operands).collect::<Vec<usize>>(), Vec::new());
        for (k, step) in path.iter().enumerate() {
            let [first, second] = step[..] else { return None };
            let (a, b) = (left[first.min(second)], left[first.max(second)]);
            left.retain(|array| *array != a && *array != b);
            let is_needed = |dim: &u8| result.contains(dim) || left.iter().any(|&array| dims[array].contains(dim));
            let mut seen = HashSet::new();
            let both = dims[a].iter().chain(&dims[b]).copied();
            let mut made: Vec<u8> = both.filter(|dim| is_needed(dim) && seen.insert(*dim)).collect();
            // What is the same for all elements is computed once, by a kernel of its own.
            made.contains(&EINSUM_ELEMENT_DIM).then_some(())?;
            if k + 1 == path.len() {
                made.clone_from(&result);
            }
            left.push(dims.len());
            dims.push(made.clone());
            steps.push(BlockStep { a, b: Some(b), kept: made });
        }
        Some(Self { outer, inner, dims, steps })
    }

    fn n_elements(&self) -> usize {
        self.outer.iter().map(|axis| axis.length).product()
    }

    /// Items of an array, or multiplications of a step, for each element.
    fn size(&self, dims: impl IntoIterator<Item = u8>) -> i64 {
        let length = |dim: u8| if dim == EINSUM_ELEMENT_DIM { 1 } else { self.inner[usize::from(dim)].length as i64 };
        dims.into_iter().map(length).product()
    }

    /// Items of an array in shared memory, for each element, where tensor cores have lines of what a step sums.
    fn shared_size(&self, array: usize, itemsize: usize) -> i64 {
        let size = self.size(self.dims[array].iter().copied());
        let reader = self.steps.iter().find(|step| step.a == array || step.b == Some(array));
        let is_summed = |dim: &u8| reader.is_some_and(|step| !step.kept.contains(dim));
        let line = self.size(self.dims[array].iter().copied().filter(is_summed));
        size.max(size / line.max(1) * fragment_pitch(line as usize, itemsize) as i64)
    }

    fn problem(&self, dtype: DType) -> BlockProblem {
        let item = matmul_accumulator_bytes(dtype) as i64;
        let n_operands = self.dims.len() - self.steps.len();
        let bytes = |range: std::ops::Range<usize>, has_elements: bool| {
            let is_one = |array: &usize| self.dims[*array].contains(&EINSUM_ELEMENT_DIM) == has_elements;
            range.filter(is_one).map(|array| self.shared_size(array, item as usize) * item).sum()
        };
        let products = |step: &BlockStep| {
            let of = |array: usize| self.dims[array].iter().copied();
            let all: HashSet<u8> =
                of(step.a).chain(step.b.into_iter().flat_map(of)).chain(step.kept.iter().copied()).collect();
            self.size(all)
        };
        let last = self.dims.len() - 1;
        BlockProblem {
            dtype,
            elements: (self.n_elements() as i64).min(MAX_COUNTED_ELEMENTS),
            outputs: self.size(self.dims[last].iter().copied()),
            products: self.steps.iter().map(products).sum(),
            steps: self.steps.len() as i64,
            constant_bytes: bytes(0..n_operands, false),
            operand_bytes: bytes(0..n_operands, true),
            intermediate_bytes: bytes(n_operands..last, true),
            slack_bytes: SLACK * item * self.dims.len() as i64,
            inner_last: self.dims[last].last() != Some(&EINSUM_ELEMENT_DIM),
        }
    }

    /// Adjacent items of an array that one access brings, wherever the first of them is: of the result (0) or an operand.
    fn pack(&self, array: &GpuArray, operand: usize, device_info: DeviceInfo) -> u8 {
        let dims = operand.checked_sub(1).map_or(self.dims.last(), |operand| self.dims.get(operand));
        let last = dims.and_then(|dims| dims.last()).filter(|dim| **dim != EINSUM_ELEMENT_DIM);
        let Some(last) = last.map(|&dim| usize::from(dim)) else { return 1 };
        let (item, inner) = (array.itemsize(), &self.inner[last]);
        let others =
            self.outer.iter().chain(self.inner.iter().enumerate().filter(|(k, _)| *k != last).map(|(_, axis)| axis));
        let mut numbers: Vec<u64> = others.map(|axis| axis.strides[operand].unsigned_abs() as u64).collect();
        numbers.extend([array.first_element_address(), (inner.length * item) as u64]);
        let fits = |pack: usize| numbers.iter().all(|number| number.is_multiple_of((pack * item) as u64));
        let widest = (device_info.vector_bytes as usize / item).max(1);
        let is_dense = inner.strides[operand] == item as isize;
        (0..=widest.ilog2()).rev().map(|power| 1 << power).find(|&pack| is_dense && fits(pack)).unwrap_or(1) as u8
    }

    fn kernel(&self, types: EinsumTypes, choice: BlockChoice, packs: Vec<u8>, wide: bool) -> BlockEinsum {
        let n_operands = types.operands.len();
        let arrays = self.dims.iter().enumerate().map(|(k, dims)| {
            let is_staged = match choice.staged {
                "all" => true,
                "elements" => dims.contains(&EINSUM_ELEMENT_DIM),
                _ => false,
            };
            let is_shared = if k < n_operands { is_staged } else { k + 1 < self.dims.len() };
            BlockArray { dims: dims.clone(), is_shared }
        });
        BlockEinsum {
            types,
            outer: self.outer.iter().map(|axis| kernel_axis(axis, true)).collect(),
            inner: self.inner.iter().map(|axis| kernel_axis(axis, true)).collect(),
            arrays: arrays.collect(),
            steps: self.steps.clone(),
            packs,
            elements: choice.elements_per_block as u16,
            threads: choice.threads as u16,
            tile: [choice.rows as u8, choice.columns as u8],
            tensor_cores: choice.unit == "mma",
            element_lanes: choice.lanes == "elements",
            unroll: choice.unroll as u8,
            wide,
        }
    }
}

/// Elements below which they are numbered at run time whatever their count.
fn has_work(program: &Program, problem: &BlockProblem) -> bool {
    let work = program.n_elements().saturating_mul(problem.products as usize);
    program.n_elements() >= MIN_ELEMENTS && work >= MIN_WORK
}

impl Contraction<'_> {
    /// The whole sum of products of these operands along a path by one kernel, if that is one for it.
    pub(super) fn contract_in_blocks(&self, terms: &[Term], path: &[Vec<usize>]) -> Result<Option<Term>> {
        let labels = self.kept_labels(terms);
        if terms.len() < 2 || terms.iter().any(|term| term.array.size() == 0) {
            return Ok(None);
        }
        let result = self.result(&terms[0], &labels)?;
        let (kept, reduced) = self.merged_axes(&result, terms);
        if reduced.is_empty() {
            return Ok(None);
        }
        let all: Vec<Axis> = kept.iter().chain(&reduced).cloned().collect();
        let wide = is_wide(&all.iter().collect::<Vec<_>>(), terms.len() + 1);
        let Some(program) = Program::new(kept, reduced, terms.len(), path) else { return Ok(None) };
        let problem = program.problem(self.compute_dtype());
        if !has_work(&program, &problem) {
            return Ok(None);
        }
        self.launch_blocks(&program, &problem, &result, terms, wide)
    }

    fn launch_blocks(
        &self,
        program: &Program,
        problem: &BlockProblem,
        result: &Term,
        terms: &[Term],
        wide: bool,
    ) -> Result<Option<Term>> {
        let ctx: &ArrayContext = result.array.context();
        let choice: BlockChoice = ctx.choose(problem);
        let types = EinsumTypes {
            compute: self.compute_dtype(),
            out: result.array.dtype(),
            operands: terms.iter().map(|term| term.array.dtype()).collect(),
        };
        let arrays: Vec<_> = std::iter::once(result).chain(terms).map(|term| &term.array).collect();
        let pack = |(operand, array): (usize, &&GpuArray)| program.pack(array, operand, ctx.device_info());
        let kernel = program.kernel(types, choice, arrays.iter().enumerate().map(pack).collect(), wide);
        let shared_bytes = kernel.shared_bytes();
        if shared_bytes > ctx.device_info().shared_bytes as usize {
            return Ok(None);
        }
        let axes: Vec<&Axis> = program.outer.iter().chain(&program.inner).collect();
        let mut args = crate::array::array_args(&arrays)?;
        args.push_u64(program.n_elements() as u64);
        push_dims(&mut args, &axes, arrays.len(), wide);
        let blocks = program.n_elements().div_ceil(choice.elements_per_block as usize);
        let resident = ctx.device_info().multiprocessors as usize * choice.blocks_per_sm as usize;
        let blocks = blocks.min(resident.max(1)).min(ctx.device_info().max_blocks as usize) as u32;
        ctx.launch_grid(&kernel, [blocks, 1, 1], [choice.threads as u32, 1, 1], shared_bytes as u32, &args)?;
        Ok(Some(result.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::ExecutionModel;

    const GPU: DeviceInfo = DeviceInfo {
        multiprocessors: 132,
        max_blocks: 4096,
        execution: ExecutionModel::Simt,
        vector_bytes: 16,
        bulk_copy_smem_bytes: 0,
        shared_bytes: 232_448,
        compute_capability: 90,
    };

    #[test]
    fn long_sums_of_several_steps_use_tensor_cores() {
        // `erx,rij,ejf->exif`: 50840 elements of order 8 with 6 fields.
        let problem = BlockProblem {
            dtype: DType::F16,
            elements: 50_840,
            outputs: 2970,
            products: 498_960,
            steps: 2,
            constant_bytes: 340_560,
            operand_bytes: 4176,
            intermediate_bytes: 15_840,
            slack_bytes: 240,
            inner_last: true,
        };
        let rule = |change: &dyn Fn(&mut BlockProblem), device: &DeviceInfo| {
            let mut changed = problem;
            change(&mut changed);
            let choice = block_rule(&changed, device);
            (choice.unit, choice.elements_per_block)
        };
        assert_eq!(rule(&|_| (), &GPU), ("mma", 2));
        // Results of the first step of one element alone fit.
        assert_eq!(rule(&|problem| problem.intermediate_bytes = 100_000, &GPU), ("mma", 1));
        assert_eq!(rule(&|problem| problem.intermediate_bytes = 200_000, &GPU).0, "simt");
        assert_eq!(rule(&|problem| problem.products = 63 * 2970, &GPU).0, "simt");
        assert_eq!(rule(&|problem| problem.dtype = DType::F32, &GPU).0, "simt");
        assert_eq!(rule(&|_| (), &DeviceInfo { compute_capability: 80, ..GPU }).0, "simt");
    }
}
