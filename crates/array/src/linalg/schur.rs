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
        /// Threads per block that applies a reflection from the left; one column each.
        left_threads: i64 = [32, 64, 128, 256],
        /// Warps per block that applies a reflection from the right; one row each.
        right_warps: i64 = [1, 2, 4, 8, 16],
    }
    device {}
    require {}
    rule hessenberg_rule;
}

fn hessenberg_rule(problem: &HessenbergProblem, _: &DeviceInfo) -> HessenbergChoice {
    let column_threads = if problem.n > 64 { 256 } else { 64 };
    HessenbergChoice { column_threads, left_threads: 64, right_warps: 4 }
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
        /// Threads per block that iterates.
        threads: i64 = [32, 64, 128, 256],
        /// Threads per block that applies reflections to the rest of a matrix; one row or column each.
        apply_threads: i64 = [32, 64, 128, 256],
        /// Iterations between checks for unfinished matrices, if Schur vectors are computed.
        rounds: i64 = [4, 8, 16, 32, 64],
    }
    device {}
    require {}
    rule schur_rule;
}

fn schur_rule(problem: &SchurProblem, _: &DeviceInfo) -> SchurChoice {
    let threads = match problem.n {
        0..=16 => 32,
        17..=256 => 64,
        _ => 128,
    };
    SchurChoice { threads, apply_threads: 64, rounds: 16 }
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
    let left = LinalgKernel::new(ctx, dtype, LinalgStep::HessenbergLeft)?;
    let right = LinalgKernel::new(ctx, dtype, LinalgStep::HessenbergRight)?;
    for k in 0..n.saturating_sub(2) {
        let own = [a.into(), n.into(), k.into(), (&vectors).into()];
        column.launch_2d([count, 1], [column_threads, 1], &own)?;
        left.launch_2d([count, (n - 1 - k).div_ceil(left_threads)], [left_threads, 1], &own)?;
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
/// QR iterations with Francis's double shift for real matrices, whose forms keep blocks of two rows for pairs of complex
/// eigenvalues, and with Wilkinson's shift for complex ones (Golub and Van Loan, Matrix Computations, 7.5; Wilkinson and
/// Reinsch, Handbook for Automatic Computation II, 1971, hqr2 and comqr). Without vectors only the eigenvalues are
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
    let (lists, left) = (empty_like(a, &[count, 3 * n], dtype)?, empty_like(a, &[1], DType::I32)?);
    let [itemsize, batches, of_n] = [a.itemsize(), count, n].map(|number| number as i64);
    let choice: SchurChoice = ctx.choose(&SchurProblem { itemsize, batches, n: of_n, vectors: has_vectors });
    let [threads, apply_threads, rounds] =
        [choice.threads, choice.apply_threads, choice.rounds].map(|number| number as usize);
    let iterate = LinalgKernel::new(ctx, dtype, LinalgStep::SchurIterate)?;
    let apply = LinalgKernel::new(ctx, dtype, LinalgStep::SchurApply)?;
    let (rounds, sweeps) = if has_vectors { (rounds, 1) } else { (1, 4 * n) };
    let arguments = [
        a.into(),
        n.into(),
        sweeps.into(),
        iterations.into(),
        has_vectors.into(),
        (&states).into(),
        (&lists).into(),
        (&reals).into(),
        (&imags).into(),
        (&report.0).into(),
        (&left).into(),
    ];
    loop {
        for round in 0..rounds {
            if round + 1 == rounds {
                left.memset_zero()?;
            }
            iterate.launch_2d([count, 1], [threads, 1], &arguments)?;
            if let Some(vectors) = &vectors {
                let lists = [a.into(), n.into(), (&states).into(), (&lists).into(), vectors.into()];
                apply.launch_2d([count, (2 * n).div_ceil(apply_threads)], [apply_threads, 1], &lists)?;
            }
        }
        if read_first_i32(&left)? == 0 {
            return Ok(SchurFactors { reals, imags, vectors });
        }
    }
}
