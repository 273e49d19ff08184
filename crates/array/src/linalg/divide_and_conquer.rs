//! Eigenvectors of real symmetric tridiagonal matrices by divide and conquer.
//!
//! Matrices are split into leaves of equal length (Cuppen, A divide and conquer method for the symmetric tridiagonal
//! eigenproblem, Numer. Math. 36, 1981), padded with decoupled infinite values. Two parts are merged by the
//! eigenvectors of a diagonal matrix plus a rank-1 matrix, and all merges of a level share the same launches, the last
//! of which is a matrix product. Columns that need no product are unit vectors in it, so the device decides how many
//! there are and the host does not wait. See Gu and Eisenstat, A divide-and-conquer algorithm for the symmetric
//! tridiagonal eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995.

use super::launch::{KernelArg, LinalgKernel, batched_grid_dim};
use super::matrix_helpers::{empty_like, submatrix};
use super::scaling::KernelStatusFlags;
use super::tridiagonal::Tridiagonal;
use crate::array::GpuArray;
use crate::layout::Order;
use crate::views::Index;
use rtcg_codegen::array::{LINALG_THREADS, LinalgSpec, LinalgStep};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

tunable! {
    /// How tridiagonal matrices are divided, and the blocks that merge their parts.
    pub(crate) DivideChoice = "linalg.divide";
    /// Tridiagonal matrices of `n` rows.
    problem DivideProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
    }
    parameters {
        /// Maximum rows of a leaf; each lane of a warp handles one.
        leaf_rows: i64 = [8, 16, 32],
        /// Warps per block; each handles one eigenvalue.
        warps: i64 = [2, 4, 8, 16],
        /// Threads per block that deflates a pair of parts.
        deflate_threads: i64 = [64, 128, 256, 512],
        /// Threads per block that rotates columns.
        rotate_threads: i64 = [32, 64, 128, 256],
    }
    device {}
    require {}
    rule divide_rule;
}

fn divide_rule(_: &DivideProblem, _: &DeviceInfo) -> DivideChoice {
    DivideChoice { leaf_rows: 32, warps: 8, deflate_threads: LINALG_THREADS.into(), rotate_threads: 64 }
}

impl DivideChoice {
    fn of_matrices(t: &Tridiagonal) -> Self {
        let d = &t.diagonals;
        let [itemsize, batches, n] = [d.itemsize(), d.shape()[0], d.shape()[1]].map(|number| number as i64);
        d.context().choose(&DivideProblem { itemsize, batches, n })
    }

    /// Blocks of warps.
    fn block_dim(self) -> [usize; 2] {
        [32, self.warps as usize]
    }

    /// How often matrices of `n` rows are halved, and the length of what they are torn into.
    fn split_depth_and_leaf_rows(self, n: usize) -> (u32, usize) {
        let levels = n.div_ceil(self.leaf_rows as usize).next_power_of_two().trailing_zeros();
        (levels, n.div_ceil(1 << levels))
    }
}

/// The parts of matrices at a level.
struct SubproblemLevel {
    /// Matrices times the parts of each.
    count: usize,
    choice: DivideChoice,
    /// Parts of a matrix.
    nodes: usize,
    length: usize,
    /// In ascending order.
    values: GpuArray,
    /// As columns.
    vectors: GpuArray,
}

/// What a merge is computed with. A slot is a value of a pair of parts: those that are still to be found come first.
struct MergeWorkspace {
    /// The values of pairs in order, and z.
    sorted: GpuArray,
    sorted_rows: GpuArray,
    poles: GpuArray,
    weights: GpuArray,
    /// z, as it belongs to the values that were found.
    exact_z: GpuArray,
    /// What values were found in slots, their distances from poles, and the slots of these.
    eigenvalues: GpuArray,
    distances: GpuArray,
    origins: GpuArray,
    /// The inverse lengths of eigenvectors.
    inverse_norms: GpuArray,
    /// The rows and columns of slots.
    rows: GpuArray,
    columns: GpuArray,
    /// Pairs of rows that are rotated, and by which angles.
    rotation_rows: GpuArray,
    rotations: GpuArray,
}

impl MergeWorkspace {
    fn new(like: &GpuArray, size: usize) -> Result<Self> {
        let reals = |size: usize| empty_like(like, &[size], like.dtype());
        let numbers = |size: usize| empty_like(like, &[size], DType::I32);
        Ok(Self {
            sorted: reals(2 * size)?,
            sorted_rows: numbers(size)?,
            poles: reals(size)?,
            weights: reals(size)?,
            exact_z: reals(size)?,
            eigenvalues: reals(size)?,
            distances: reals(size)?,
            origins: numbers(size)?,
            inverse_norms: reals(size)?,
            rows: numbers(size)?,
            columns: numbers(size)?,
            rotation_rows: numbers(2 * size)?,
            rotations: reals(2 * size)?,
        })
    }
}

impl SubproblemLevel {
    /// The leaves of matrices with their eigenvectors.
    fn leaf_subproblems(t: &Tridiagonal, report: &KernelStatusFlags, iterations: usize) -> Result<Self> {
        let d = &t.diagonals;
        let (matrices, n) = (d.shape()[0], d.shape()[1]);
        let choice = DivideChoice::of_matrices(t);
        let (levels, length) = choice.split_depth_and_leaf_rows(n);
        let nodes = 1 << levels;
        let count = matrices * nodes;
        let values = empty_like(d, &[count, length], d.dtype())?;
        let vectors = empty_like(d, &[count, length, length], d.dtype())?;
        let arguments = [
            d.into(),
            (&t.subdiagonals).into(),
            n.into(),
            length.into(),
            nodes.into(),
            iterations.into(),
            (&values).into(),
            (&vectors).into(),
            (&report.0).into(),
        ];
        LinalgKernel::new(d.context(), d.dtype(), LinalgStep::DivideLeaves)?.launch_2d(
            [count, 1],
            [32, 1],
            &arguments,
        )?;
        Ok(Self { count, choice, nodes, length, values, vectors })
    }

    /// Merges pairs of parts.
    fn merge_pairs(self, t: &Tridiagonal, workspace: &MergeWorkspace, report: &KernelStatusFlags) -> Result<Self> {
        let (count, length) = (self.count / 2, self.length * 2);
        let counts = empty_like(&self.values, &[2 * count], DType::I32)?;
        let factors = empty_like(&self.values, &[count], self.values.dtype())?;
        self.launch_deflation(t, workspace, &counts, &factors)?;
        let values = empty_like(&self.values, &[count, length], self.values.dtype())?;
        let inner = self.solve_secular_equations(workspace, &counts, &factors, &values, report)?;
        let vectors = self.vectors.matmul(&inner.reshape_to(&[self.count, self.length, length], Order::C)?)?;
        let vectors = vectors.reshape_to(&[count, length, length], Order::C)?;
        Ok(Self { count, choice: self.choice, nodes: self.nodes / 2, length, values, vectors })
    }

    /// Puts what is to be found of pairs into slots.
    fn launch_deflation(
        &self,
        t: &Tridiagonal,
        workspace: &MergeWorkspace,
        counts: &GpuArray,
        factors: &GpuArray,
    ) -> Result<()> {
        let arguments = [
            (&self.values).into(),
            (&self.vectors).into(),
            (&t.subdiagonals).into(),
            t.diagonals.shape()[1].into(),
            self.length.into(),
            (self.nodes / 2).into(),
            (&workspace.sorted).into(),
            (&workspace.sorted_rows).into(),
            (&workspace.poles).into(),
            (&workspace.weights).into(),
            (&workspace.eigenvalues).into(),
            (&workspace.rows).into(),
            counts.into(),
            factors.into(),
            (&workspace.rotation_rows).into(),
            (&workspace.rotations).into(),
        ];
        let threads = self.choice.deflate_threads as u16;
        let kernel = LinalgSpec { threads, ..LinalgSpec::new(self.values.dtype(), LinalgStep::DivideDeflate) };
        let kernel = LinalgKernel::compile_kernel(self.values.context(), kernel)?;
        kernel.launch_2d([self.count / 2, 1], [threads.into(), 1], &arguments)
    }

    /// Eigenvectors, in terms of those of the parts, of pairs; their values go to `values`.
    fn solve_secular_equations(
        &self,
        workspace: &MergeWorkspace,
        counts: &GpuArray,
        factors: &GpuArray,
        values: &GpuArray,
        report: &KernelStatusFlags,
    ) -> Result<GpuArray> {
        let (pairs, length) = (self.count / 2, self.length * 2);
        let vectors = empty_like(values, &[pairs, length, length], values.dtype())?;
        let (block, rotate_threads) = (self.choice.block_dim(), self.choice.rotate_threads as usize);
        let grid = [pairs, length.div_ceil(block[1])];
        let [size, counts] = [length.into(), counts.into()];
        let [poles, weights, exact_z, eigenvalues] =
            [&workspace.poles, &workspace.weights, &workspace.exact_z, &workspace.eigenvalues].map(KernelArg::Array);
        let [distances, origins, inverse_norms, columns] =
            [&workspace.distances, &workspace.origins, &workspace.inverse_norms, &workspace.columns]
                .map(KernelArg::Array);
        let roots = [poles, weights, size, counts, factors.into(), distances, origins, eigenvalues, (&report.0).into()];
        self.merge_step_kernel(LinalgStep::DivideRoots)?.launch_2d(grid, block, &roots)?;
        let own = [poles, weights, size, counts, distances, origins, exact_z];
        self.merge_step_kernel(LinalgStep::DivideWeights)?.launch_2d(grid, block, &own)?;
        let lengths =
            [poles, exact_z, size, counts, distances, origins, eigenvalues, inverse_norms, columns, values.into()];
        self.merge_step_kernel(LinalgStep::DivideNorms)?.launch_2d(grid, block, &lengths)?;
        let all = (&vectors).into();
        let zero_padded =
            [poles, exact_z, size, counts, distances, origins, inverse_norms, columns, (&workspace.rows).into(), all];
        self.merge_step_kernel(LinalgStep::DivideVectors)?.launch_2d(
            batched_grid_dim(pairs, length, block[1]),
            block,
            &zero_padded,
        )?;
        let rotations_args = [size, counts, (&workspace.rotation_rows).into(), (&workspace.rotations).into(), all];
        self.merge_step_kernel(LinalgStep::DivideRotate)?.launch_2d(
            [pairs, length.div_ceil(rotate_threads)],
            [rotate_threads, 1],
            &rotations_args,
        )?;
        Ok(vectors)
    }

    fn merge_step_kernel(&self, step: LinalgStep) -> Result<LinalgKernel> {
        LinalgKernel::new(self.values.context(), self.values.dtype(), step)
    }
}

/// Eigenvalues in ascending order, and eigenvectors as columns. What did not converge is reported.
pub(super) fn tridiagonal_eigenvectors(
    t: &Tridiagonal,
    report: &KernelStatusFlags,
    iterations: usize,
) -> Result<(GpuArray, GpuArray)> {
    let (matrices, n) = (t.diagonals.shape()[0], t.diagonals.shape()[1]);
    let mut all = SubproblemLevel::leaf_subproblems(t, report, iterations)?;
    let workspace = MergeWorkspace::new(&t.diagonals, all.count * all.length)?;
    while all.count > matrices {
        all = all.merge_pairs(t, &workspace, report)?;
    }
    let values = all.values.index(&[Index::Ellipsis, Index::from(0..n as isize)])?;
    Ok((values.copy(Some(Order::C))?, submatrix(&all.vectors, 0..n, 0..n)?))
}
