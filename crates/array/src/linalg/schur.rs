//! Schur forms of general matrices: reduction to Hessenberg form, and QR iterations.
//!
//! One block of threads per matrix works near the diagonal. Many blocks apply its reflectors to the rest of the matrix.
//! All matrices are stacks in C order, modified in place.

use super::launch::LinalgKernel;
use super::matrix_helpers::{empty_like, identity_matrices, matrix_transpose, read_first_i32, zeros_like};
use super::scaling::KernelStatusFlags;
use crate::array::GpuArray;
use crate::layout::Order;
use crate::scalar::Scalar;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_ITERATION_STATE_LEN, LinalgSpec, LinalgStep};
use rtcg_hal::{DType, DeviceInfo, Result, WeakScalar, tunable};

tunable! {
    /// The kernels that reduce general matrices to Hessenberg form.
    pub(crate) HessenbergChoice = "linalg.hessenberg";
    /// Square matrices of `n` rows.
    problem HessenbergProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
        /// Whether the product of the reflections is needed.
        vectors: bool = Exact,
    }
    parameters {
        /// Threads per block that computes the reflection of a column.
        column_threads: i64 = [32, 64, 128, 256, 512],
        /// Threads per block that applies a reflection from the left; a warp has some rows of 32 columns.
        left_threads: i64 = [32, 64, 128, 256, 512],
        /// Warps per block that applies a reflection from the right; one row each.
        right_warps: i64 = [1, 2, 4, 8, 16],
    }
    device {}
    require {}
    rule hessenberg_rule;
}

fn hessenberg_rule(problem: &HessenbergProblem, device_info: &DeviceInfo) -> HessenbergChoice {
    let column_threads = if problem.n > 64 { 256 } else { 64 };
    // A SIMD CPU runs the warps of a block one after the other.
    let left_threads = match problem.n {
        0..=32 => 32,
        _ if device_info.is_simd_cpu() => 32,
        33..=128 => 128,
        _ => 512,
    };
    HessenbergChoice { column_threads, left_threads, right_warps: 4 }
}

tunable! {
    /// The kernels of QR iterations.
    pub(crate) SchurChoice = "linalg.schur";
    /// Hessenberg matrices of `n` rows.
    problem SchurProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
        /// Whether Schur vectors are computed.
        vectors: bool = Exact,
    }
    parameters {
        /// Bulges of a chain; as many iterations are run before their reflectors are applied beside a window.
        bulges: i64 = [4, 8, 16],
        /// Rows from which on chains of bulges are used.
        chained_rows: i64 = [33, 49, 65, 97],
        /// Rows of a window that a chain moves through.
        window: i64 = [48, 64, 96],
        /// Threads that reflect a row or column of the rest of a matrix: one, or as many as there are bulges.
        group: i64 = [1, 4, 8, 16],
        /// Threads per block that iterates if there are chains; a warp moves a bulge.
        threads: i64 = [32, 64, 128, 256, 512],
        /// Threads per block that applies reflectors to the rest of a matrix.
        apply_threads: i64 = [32, 64, 128, 256],
        /// Windows between checks for unfinished matrices.
        rounds: i64 = [1, 2, 4, 8, 16, 32, 64],
    }
    device { shared_bytes }
    require {
        chained_rows > 2 * bulges && window >= 3 * bulges + 2;
        group == 1 || group == bulges;
        (window * (window + 1) + 10 * bulges) * itemsize <= shared_bytes;
        (3 * bulges * (window + 3 * bulges) + apply_threads / group * (window + 1)) * itemsize <= shared_bytes;
    }
    rule schur_rule;
}

fn schur_rule(problem: &SchurProblem, device_info: &DeviceInfo) -> SchurChoice {
    if device_info.is_simd_cpu() {
        // More bulges need more iterations, and a warp after the other has them.
        let rounds = if problem.n <= 96 { 1 } else { 16 };
        let choice =
            SchurChoice { bulges: 4, group: 1, chained_rows: 97, window: 96, threads: 32, apply_threads: 32, rounds };
        return choice;
    }
    let shared_bytes = i64::from(device_info.shared_bytes);
    let (window, many) = match shared_bytes / problem.itemsize {
        10240.. => (96, 16),
        6144.. => (64, 16),
        _ => (48, 8),
    };
    // Lists of the reflectors of small matrices would be much longer than those are.
    let bulges = match problem.n {
        0..=8 => 4,
        9..=32 => 8,
        _ => many,
    };
    let rounds = if problem.n <= 48 { 2 } else { 16 };
    SchurChoice { bulges, group: bulges, chained_rows: 49, window, threads: 32 * bulges, apply_threads: 128, rounds }
}

impl SchurChoice {
    /// Shared memory of the kernel that iterates in a window: that, the reflectors of a step, shifts and eigenvalues.
    fn window_bytes(&self, window: usize, itemsize: usize) -> usize {
        (window * (window | 1) + 10 * self.bulges as usize) * itemsize
    }

    /// Shared memory of the kernel that applies reflectors: lists of them, and rows or columns.
    fn list_bytes(&self, window: usize, itemsize: usize) -> usize {
        let [bulges, group, threads] = [self.bulges, self.group, self.apply_threads].map(|number| number as usize);
        let elements = 3 * bulges * (window + 3 * bulges) + threads / group * (window | 1);
        if group == 1 { 0 } else { elements * itemsize }
    }
}

/// What is left of matrices in their Schur form beside that form itself.
pub(super) struct SchurFactors {
    /// Real and imaginary parts of the eigenvalues.
    pub reals: GpuArray,
    pub imags: GpuArray,
    /// Schur vectors as rows.
    pub vectors: Option<GpuArray>,
}

/// Householder reflections (Golub and Van Loan, Matrix Computations, 7.4.2) in place, and their product.
fn reduce_to_hessenberg(a: &GpuArray, products: Option<&GpuArray>) -> Result<()> {
    let (ctx, dtype, count, n) = (a.context(), a.dtype(), a.shape()[0], a.shape()[2]);
    let vectors = empty_like(a, &[count, n + 1], dtype)?;
    let rows = if products.is_some() { 2 * n } else { n };
    let [itemsize, batches, of_n] = [a.itemsize(), count, n].map(|number| number as i64);
    let problem = HessenbergProblem { itemsize, batches, n: of_n, vectors: products.is_some() };
    let choice: HessenbergChoice = ctx.choose(&problem);
    let [column_threads, left_threads, right_warps] =
        [choice.column_threads, choice.left_threads, choice.right_warps].map(|number| number as usize);
    let column = LinalgSpec::new(dtype, LinalgStep::HessenbergColumn);
    let column = LinalgKernel::compile_kernel(ctx, LinalgSpec { threads: column_threads as u16, ..column })?;
    let left = LinalgSpec::new(dtype, LinalgStep::HessenbergLeft);
    let left = LinalgKernel::compile_kernel(ctx, LinalgSpec { threads: left_threads as u16, ..left })?;
    let right = LinalgKernel::new(ctx, dtype, LinalgStep::HessenbergRight)?;
    for k in 0..n.saturating_sub(2) {
        let own = [a.into(), n.into(), k.into(), (&vectors).into()];
        column.launch_2d([count, 1], [column_threads, 1], &own)?;
        left.launch_2d([count, (n - 1 - k).div_ceil(32)], [left_threads, 1], &own)?;
        let [matrices, length, k, vectors] = own;
        right.launch_2d(
            [count, rows.div_ceil(right_warps)],
            [32, right_warps],
            &[matrices, length, k, vectors, products.into()],
        )?;
    }
    Ok(())
}

/// Makes Schur forms of scaled matrices in place.
///
/// QR iterations with two shifts (Golub and Van Loan, Matrix Computations, 7.5; Wilkinson and Reinsch, Handbook for
/// Automatic Computation II, 1971, hqr2); the forms of real matrices keep blocks of two rows for pairs of complex
/// eigenvalues. Larger matrices have chains of bulges, with the eigenvalues of the last rows as shifts (Braman, Byers and
/// Mathias, The multishift QR algorithm I, SIAM J. Matrix Anal. Appl. 23, 2002). Without vectors only the eigenvalues are
/// found. Reads whether iterations are left every few of them.
pub(super) fn reduce_to_schur(
    a: &GpuArray,
    report: &KernelStatusFlags,
    iterations: usize,
    has_vectors: bool,
) -> Result<SchurFactors> {
    let (ctx, dtype, count, n) = (a.context(), a.dtype(), a.shape()[0], a.shape()[2]);
    let parts = || zeros_like(a, &[count, n], dtype.real_part());
    let (reals, imags) = (parts()?, parts()?);
    let products = if has_vectors { Some(identity_matrices(ctx, a.shape(), dtype)?) } else { None };
    if a.size() == 0 {
        return Ok(SchurFactors { reals, imags, vectors: products });
    }
    reduce_to_hessenberg(a, products.as_ref())?;
    let vectors = products.map(|products| matrix_transpose(&products)?.copy(Some(Order::C))).transpose()?;
    let states = zeros_like(a, &[count, LINALG_ITERATION_STATE_LEN], DType::I32)?;
    states.index(&[Index::Ellipsis, Index::At(0)])?.fill(Scalar::Weak(WeakScalar::Int(n as i128 - 1)))?;
    let [itemsize, batches, of_n] = [a.itemsize(), count, n].map(|number| number as i64);
    let choice: SchurChoice = ctx.choose(&SchurProblem { itemsize, batches, n: of_n, vectors: has_vectors });
    let numbers =
        [choice.bulges, choice.group, choice.chained_rows - 1, choice.window, choice.threads, choice.apply_threads];
    let [bulges, group, max_finished, window, threads, apply_threads] = numbers.map(|number| number as usize);
    let has_chains = n > max_finished;
    let (window, threads) = if has_chains { (window.max(max_finished), threads) } else { (n, 32) };
    // A chain steps through its window, and then out of the matrix.
    let steps = window + 3 * bulges;
    let lists = empty_like(a, &[count, if has_chains || has_vectors { 3 * bulges * steps } else { 1 }], dtype)?;
    let (shifts, left) = (empty_like(a, &[count, 3 * bulges], dtype)?, empty_like(a, &[1], DType::I32)?);
    let kernel = |step| LinalgSpec { pairs: bulges as u16, ..LinalgSpec::new(dtype, step) };
    let iterate = LinalgKernel::compile_kernel(ctx, kernel(LinalgStep::SchurIterate))?;
    let apply = kernel(LinalgStep::SchurApply);
    let apply = LinalgSpec { group: group as u16, threads: apply_threads as u16, ..apply };
    let apply = LinalgKernel::compile_kernel(ctx, apply)?;
    let arguments = [
        a.into(),
        n.into(),
        window.into(),
        max_finished.into(),
        iterations.into(),
        has_vectors.into(),
        (&states).into(),
        (&lists).into(),
        (&shifts).into(),
        (&reals).into(),
        (&imags).into(),
        (&report.0).into(),
        (&left).into(),
    ];
    let applied =
        [a.into(), n.into(), window.into(), steps.into(), (&states).into(), (&lists).into(), vectors.as_ref().into()];
    // Columns and rows beside windows, and those of Schur vectors: lines, of which a block has some.
    let lines = apply_threads / group;
    let blocks = n.div_ceil(lines) + 1 + if has_vectors { n.div_ceil(lines) } else { 0 };
    let (window_bytes, apply_bytes) =
        (choice.window_bytes(window, a.itemsize()), choice.list_bytes(window, a.itemsize()));
    let rounds = if has_chains || has_vectors { choice.rounds } else { 1 };
    loop {
        for round in 0..rounds {
            if round + 1 == rounds {
                left.memset_zero()?;
            }
            iterate.launch_with_shared_bytes([count, 1], [threads, 1], window_bytes, &arguments)?;
            if has_chains || has_vectors {
                apply.launch_with_shared_bytes([count, blocks], [apply_threads, 1], apply_bytes, &applied)?;
            }
        }
        if read_first_i32(&left)? == 0 {
            return Ok(SchurFactors { reals, imags, vectors });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::ExecutionModel;

    #[test]
    fn windows_and_lists_fit_in_shared_memory() {
        for shared_kib in [48, 64, 99, 163, 227] {
            for execution in [ExecutionModel::Simt, ExecutionModel::SimdCpu] {
                let is_cpu = execution == ExecutionModel::SimdCpu;
                let device_info = DeviceInfo {
                    multiprocessors: 132,
                    max_blocks: 4096,
                    execution,
                    vector_bytes: 16,
                    bulk_copy_smem_bytes: 0,
                    shared_bytes: if is_cpu { 163 << 10 } else { shared_kib << 10 },
                    compute_capability: 80,
                };
                for (n, itemsize) in [(4, 16), (30, 8), (100, 4), (100, 8), (1000, 16)] {
                    let problem = SchurProblem { itemsize, batches: 1, n, vectors: true };
                    let choice = schur_rule(&problem, &device_info);
                    let window = choice.window.max(choice.chained_rows - 1) as usize;
                    let most = device_info.shared_bytes as usize;
                    assert!(choice.window_bytes(window, itemsize as usize) <= most, "{choice:?}");
                    assert!(choice.list_bytes(window, itemsize as usize) <= most, "{choice:?}");
                    assert!(choice.chained_rows > 2 * choice.bulges && choice.window >= 3 * choice.bulges + 2);
                }
            }
        }
    }
}
