//! Eigenvalues of large Hermitian matrices, by reduction to tridiagonal form.

use super::divide_and_conquer;
use super::householder::{ApplyQ, apply_q};
use super::launch::LinalgKernel;
use super::matrix_helpers::{copy_to_stack, empty_like, matrix_transpose, submatrix, zeros_like};
use super::scaling::MatrixScaling;
use crate::array::GpuArray;
use rtcg_codegen::array::{LinalgSpec, LinalgStep, Op};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};
use std::ops::RangeInclusive;

tunable! {
    /// The kernels that reduce Hermitian matrices to tridiagonal form.
    pub(crate) TridiagonalChoice = "linalg.tridiagonal";
    /// Hermitian matrices of `n` rows.
    problem TridiagonalProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
    }
    parameters {
        /// Reflectors per panel, after which the rest of the matrix is updated.
        pairs: i64 = [8, 16, 32, 64],
        /// Warps per block; with 1, each thread handles a row, otherwise each warp.
        warps: i64 = [1, 2, 4, 8, 16],
        /// Whether a special kernel updates the matrix, rather than a matrix product.
        fused: bool = [false, true],
        /// Rows that a thread of that kernel updates.
        part: i64 = [1, 2, 4, 8],
        /// Whether a cooperative launch reduces a panel, rather than two launches per column, where that is possible.
        cooperative: bool = [false, true],
    }
    device {}
    require {
        2 * pairs * itemsize <= 512 * warps;
        !cooperative || batches == 1 && pairs == 32;
    }
    rule tridiagonal_rule;
}

/// Matrix products suit tensor cores; the other kernel suits products of few terms.
fn tridiagonal_rule(problem: &TridiagonalProblem, device_info: &DeviceInfo) -> TridiagonalChoice {
    let cooperative = problem.batches == 1 && COOPERATIVE_BLOCKS.contains(&(device_info.multiprocessors as usize));
    match device_info.is_simd_cpu() {
        true => TridiagonalChoice { pairs: 8, warps: 1, fused: true, part: 4, cooperative: false },
        false => TridiagonalChoice { pairs: 32, warps: 8, fused: false, part: 4, cooperative },
    }
}

tunable! {
    /// The kernel that finds eigenvalues of tridiagonal matrices by bisection.
    pub(crate) BisectChoice = "linalg.bisect";
    /// Tridiagonal matrices of `n` rows.
    problem BisectProblem {
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        n: i64 = PowerOfTwo,
    }
    parameters {
        /// Threads per block; one eigenvalue each.
        threads: i64 = [32, 64, 128, 256],
    }
    device {}
    require {}
    rule bisect_rule;
}

fn bisect_rule(_: &BisectProblem, _: &DeviceInfo) -> BisectChoice {
    BisectChoice { threads: 32 }
}

/// Warps of a block that updates a matrix.
const UPDATE_WARPS: usize = 8;
/// Rows of a block that has a part of a column.
const ROWS_PER_BLOCK: usize = 32;

/// Reflectors of a panel that a cooperative launch reduces: as many as a warp has lanes.
const COOPERATIVE_PAIRS: usize = 32;
/// Threads of a block of a cooperative launch, and the rows that it has at most.
const COOPERATIVE_THREADS: usize = 544;
const MAX_COOPERATIVE_ROWS: usize = 31;
/// Blocks of one, at least, as each has a product with one of the vectors of a panel, and at most.
const COOPERATIVE_BLOCKS: RangeInclusive<usize> = 64..=256;
/// Elements in the shared memory that it declares, and other bytes there.
const COOPERATIVE_STATIC_ELEMENTS: usize = 1024;
const COOPERATIVE_STATIC_BYTES: usize = 512;
/// Blocks of which barriers are still fast, and rows up to which they have more rows rather than be more.
const PREFERRED_COOPERATIVE_BLOCKS: usize = 96;
const PREFERRED_COOPERATIVE_ROWS: usize = 12;

/// T = Q^H A Q.
pub(super) struct Tridiagonal {
    pub diagonals: GpuArray,
    /// Subdiagonals, and a zero.
    pub subdiagonals: GpuArray,
    /// The scalar factors (tau) of the reflectors whose product is Q; their vectors are left in A.
    taus: GpuArray,
}

/// The blocks of a cooperative launch.
#[derive(Debug, PartialEq, Eq)]
struct CooperativeGeometry {
    blocks: usize,
    /// Rows of a block, those of them that are in shared memory, and the bytes of that beside what is declared.
    rows: usize,
    cached: usize,
    shared_bytes: usize,
}

impl CooperativeGeometry {
    /// For what is left of a matrix, `size` rows; none if it does not fit the device.
    fn new(size: usize, itemsize: usize, device_info: &DeviceInfo) -> Option<Self> {
        let row_bytes = (size | 1) * itemsize;
        let static_bytes = COOPERATIVE_STATIC_ELEMENTS * itemsize + COOPERATIVE_STATIC_BYTES;
        let free = (device_info.shared_bytes as usize).checked_sub(static_bytes + 2 * row_bytes)?;
        // A row, and its parts of the vectors of a panel.
        let most_cached = free / (row_bytes + 2 * COOPERATIVE_PAIRS * itemsize);
        let preferred = size.div_ceil(PREFERRED_COOPERATIVE_BLOCKS).min(PREFERRED_COOPERATIVE_ROWS).min(most_cached);
        let rows = size.div_ceil(device_info.multiprocessors as usize).max(preferred);
        let vectors = 2 * COOPERATIVE_PAIRS * rows * itemsize;
        let cached = rows.min(free.checked_sub(vectors)? / row_bytes);
        let blocks = size.div_ceil(rows).max(*COOPERATIVE_BLOCKS.start());
        let geometry = Self { blocks, rows, cached, shared_bytes: (2 + cached) * row_bytes + vectors };
        (rows <= MAX_COOPERATIVE_ROWS).then_some(geometry)
    }
}

/// What reduces panels by cooperative launches.
struct CooperativePanel {
    kernel: LinalgKernel,
    /// What blocks tell each other.
    published: GpuArray,
    /// Arrivals at the barriers of each panel.
    arrived: GpuArray,
}

impl CooperativePanel {
    fn new(a: &GpuArray, kernel: LinalgSpec) -> Result<Self> {
        let kernel = LinalgSpec { threads: COOPERATIVE_THREADS as u16, ..kernel };
        let published = 4 * COOPERATIVE_PAIRS + 1 + COOPERATIVE_BLOCKS.end();
        Ok(Self {
            kernel: LinalgKernel::compile_kernel(a.context(), kernel)?,
            published: empty_like(a, &[published], a.dtype())?,
            arrived: zeros_like(a, &[a.shape()[2].div_ceil(kernel.pairs.into())], DType::U32)?,
        })
    }
}

/// A panel of reflectors applied from both sides: A - left^T right is the matrix after them. See Dongarra, Sorensen and
/// Hammarling, Block reduction of matrices to condensed forms for eigenvalue computations, J. Comput. Appl. Math. 27, 1989.
struct TridiagonalPanel<'a> {
    matrices: &'a GpuArray,
    /// Reflectors of a panel.
    pairs: usize,
    /// Warps of a block, and the rows that it has products of.
    warps: usize,
    rows: usize,
    choice: TridiagonalChoice,
    result: Tridiagonal,
    /// Vectors v, and then w, as rows.
    left: GpuArray,
    /// Conjugated vectors w, and then v.
    right: GpuArray,
    /// Products of `right` and A with the last v, and the parts of v^H A v that blocks have.
    inner: GpuArray,
    products: GpuArray,
    parts: GpuArray,
    /// The column, and the sums of squares of blocks.
    column: GpuArray,
    squares: GpuArray,
    steps: [LinalgKernel; 3],
    cooperative: Option<CooperativePanel>,
}

impl<'a> TridiagonalPanel<'a> {
    fn new(a: &'a GpuArray) -> Result<Self> {
        let (count, n, dtype) = (a.shape()[0], a.shape()[2], a.dtype());
        let [itemsize, batches, of_n] = [a.itemsize(), count, n].map(|number| number as i64);
        let choice: TridiagonalChoice = a.context().choose(&TridiagonalProblem { itemsize, batches, n: of_n });
        let [pairs, warps] = [choice.pairs, choice.warps].map(|number| number as usize);
        let rows = if warps == 1 { 32 } else { warps };
        let kernel = |step| LinalgSpec {
            group: warps as u16,
            pairs: pairs as u16,
            part: if step == LinalgStep::TridiagonalUpdate { choice.part as u16 } else { 1 },
            ..LinalgSpec::new(dtype, step)
        };
        let [column, product, update] =
            [LinalgStep::TridiagonalColumn, LinalgStep::TridiagonalProduct, LinalgStep::TridiagonalUpdate].map(kernel);
        let cooperative = choice.cooperative.then(|| CooperativePanel::new(a, kernel(LinalgStep::TridiagonalPanel)));
        let real = dtype.real_part();
        let two = 2 * pairs;
        let result = Tridiagonal {
            diagonals: zeros_like(a, &[count, n], real)?,
            subdiagonals: zeros_like(a, &[count, n], real)?,
            taus: zeros_like(a, &[count, n], dtype)?,
        };
        Ok(Self {
            matrices: a,
            pairs,
            warps,
            rows,
            choice,
            result,
            left: empty_like(a, &[count, two, n], dtype)?,
            right: empty_like(a, &[count, two, n], dtype)?,
            inner: empty_like(a, &[count, two], dtype)?,
            products: empty_like(a, &[count, n], dtype)?,
            parts: empty_like(a, &[count, n.div_ceil(rows)], real)?,
            column: empty_like(a, &[count, n], dtype)?,
            squares: empty_like(a, &[count, n.div_ceil(ROWS_PER_BLOCK)], real)?,
            steps: [
                LinalgKernel::compile_kernel(a.context(), column)?,
                LinalgKernel::compile_kernel(a.context(), product)?,
                LinalgKernel::compile_kernel(a.context(), update)?,
            ],
            cooperative: cooperative.transpose()?,
        })
    }

    /// Column k after the first `i` reflectors of the panel, or only the second vector of the last of them.
    fn update_panel_column(&self, k: usize, i: usize, is_only_vector: bool) -> Result<()> {
        let (count, n) = (self.matrices.shape()[0], self.matrices.shape()[2]);
        let arguments = [
            self.matrices.into(),
            n.into(),
            k.into(),
            i.into(),
            is_only_vector.into(),
            (&self.result.taus).into(),
            (&self.result.diagonals).into(),
            (&self.left).into(),
            (&self.right).into(),
            (&self.inner).into(),
            (&self.products).into(),
            (&self.parts).into(),
            (n - k).div_ceil(self.rows).into(),
            (&self.column).into(),
            (&self.squares).into(),
        ];
        self.steps[0].launch_2d([count, (n - k).div_ceil(ROWS_PER_BLOCK)], [ROWS_PER_BLOCK * self.warps, 1], &arguments)
    }

    /// The reflector of that column, and the products of its vector.
    fn form_reflector_and_products(&self, k: usize, i: usize) -> Result<()> {
        let (count, n) = (self.matrices.shape()[0], self.matrices.shape()[2]);
        let arguments = [
            self.matrices.into(),
            n.into(),
            k.into(),
            i.into(),
            (&self.result.taus).into(),
            (&self.result.subdiagonals).into(),
            (&self.left).into(),
            (&self.right).into(),
            (&self.inner).into(),
            (&self.products).into(),
            (&self.parts).into(),
            (&self.column).into(),
            (&self.squares).into(),
            (n - k).div_ceil(ROWS_PER_BLOCK).into(),
        ];
        let strips = (n - k - 1).div_ceil(self.rows) + (2 * i).div_ceil(self.rows);
        self.steps[1].launch_2d([count, strips], [32, self.warps], &arguments)
    }

    /// The columns from `start` on, as many as a panel has, and the update of what is right of and below them.
    fn reduce_panel(&self, start: usize) -> Result<()> {
        let n = self.matrices.shape()[2];
        let end = (start + self.pairs).min(n);
        if !self.reduce_columns_cooperatively(start, end)? {
            self.reduce_columns(start, end)?;
        }
        if end == n {
            return Ok(());
        }
        if self.choice.fused {
            return self.update_trailing_matrix(end);
        }
        let [left, right] = [&self.left, &self.right].map(|rows| submatrix(rows, 0..2 * self.pairs, end..n));
        let change = matrix_transpose(&left?)?.matmul(&right?)?;
        submatrix(self.matrices, end..n, end..n)?.binary_in_place(Op::Subtract, &change)
    }

    /// The columns of a panel by one cooperative launch; false if that is not possible.
    fn reduce_columns_cooperatively(&self, start: usize, end: usize) -> Result<bool> {
        let Some(CooperativePanel { kernel, published, arrived }) = &self.cooperative else { return Ok(false) };
        let (a, n) = (self.matrices, self.matrices.shape()[2]);
        let geometry = CooperativeGeometry::new(n - start, a.itemsize(), &a.context().device_info());
        let Some(CooperativeGeometry { blocks, rows, cached, shared_bytes }) = geometry else { return Ok(false) };
        if kernel.cooperative_blocks(COOPERATIVE_THREADS)? < blocks {
            return Ok(false);
        }
        let arrived = arrived.index(&[((start / self.pairs) as isize..arrived.size() as isize).into()])?;
        let arguments = [
            a.into(),
            n.into(),
            start.into(),
            (end - start).into(),
            rows.into(),
            cached.into(),
            (&self.result.taus).into(),
            (&self.result.diagonals).into(),
            (&self.result.subdiagonals).into(),
            (&self.left).into(),
            (&self.right).into(),
            published.into(),
            (&self.column).into(),
            (&arrived).into(),
        ];
        kernel.launch_cooperatively(blocks, COOPERATIVE_THREADS, shared_bytes, &arguments)?;
        Ok(true)
    }

    /// The columns of a panel by two launches per column.
    fn reduce_columns(&self, start: usize, end: usize) -> Result<()> {
        let n = self.matrices.shape()[2];
        for k in start..end {
            self.update_panel_column(k, k - start, false)?;
            if k < n - 1 {
                self.form_reflector_and_products(k, k - start)?;
            }
        }
        if end < n {
            self.update_panel_column(end, end - start, true)?;
        }
        Ok(())
    }

    /// The update of the trailing matrix by a panel's reflectors, by one kernel.
    fn update_trailing_matrix(&self, k: usize) -> Result<()> {
        let (count, n) = (self.matrices.shape()[0], self.matrices.shape()[2]);
        let tiles =
            [(n - k).div_ceil(self.choice.part as usize * UPDATE_WARPS).min(65535), (n - k).div_ceil(32).min(65535)];
        let arguments = [self.matrices.into(), n.into(), k.into(), (&self.left).into(), (&self.right).into()];
        self.steps[2].launch_3d([count, tiles[0], tiles[1]], [32, UPDATE_WARPS], &arguments)
    }
}

/// Householder's method (Golub and Van Loan, Matrix Computations, 8.3.1), by panels.
fn reduce_to_tridiagonal(a: &GpuArray) -> Result<Tridiagonal> {
    let reduction = TridiagonalPanel::new(a)?;
    (0..a.shape()[2]).step_by(reduction.pairs).try_for_each(|start| reduction.reduce_panel(start))?;
    Ok(reduction.result)
}

impl Tridiagonal {
    /// Eigenvalues by bisection.
    fn bisect_eigenvalues(&self) -> Result<GpuArray> {
        let d = &self.diagonals;
        let (count, n) = (d.shape()[0], d.shape()[1]);
        let values = empty_like(d, &[count, n], d.dtype())?;
        let step = LinalgKernel::new(d.context(), d.dtype(), LinalgStep::TridiagonalBisect)?;
        let arguments = [d.into(), (&self.subdiagonals).into(), n.into(), (&values).into()];
        let numbers = [d.itemsize(), count, n].map(|number| number as i64);
        let [itemsize, batches, rows] = numbers;
        let threads =
            d.context().choose::<BisectChoice>(&BisectProblem { itemsize, batches, n: rows }).threads as usize;
        step.launch_2d([count, n.div_ceil(threads)], [threads, 1], &arguments)?;
        Ok(values)
    }
}

/// Eigenvalues in ascending order of scaled Hermitian matrices, scaled back; eigenvectors as columns.
pub(super) fn hermitian_eigenvalues(
    a: &GpuArray,
    scaling: &MatrixScaling,
    iterations: usize,
    has_vectors: bool,
) -> Result<(GpuArray, Option<GpuArray>)> {
    let n = a.shape()[2];
    let reduced = reduce_to_tridiagonal(a)?;
    if !has_vectors {
        return Ok((scaling.sort_and_unscale_values(&reduced.bisect_eigenvalues()?, a.dtype(), false)?.0, None));
    }
    let (values, vectors) = divide_and_conquer::tridiagonal_eigenvectors(&reduced, &scaling.report, iterations)?;
    let (values, _) = scaling.sort_and_unscale_values(&values, a.dtype(), false)?;
    let vectors = copy_to_stack(&vectors, a.dtype())?;
    if n > 1 {
        // The vectors begin one row below the diagonal.
        let (below, moved) = (submatrix(a, 1..n, 0..n - 1)?, submatrix(&vectors, 1..n, 0..n)?);
        apply_q(&below, &reduced.taus, n as isize, &moved, ApplyQ::Product)?;
    }
    Ok((values, Some(vectors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::ExecutionModel;

    #[test]
    fn blocks_of_a_cooperative_launch_have_all_rows_and_fit() {
        let device_info = DeviceInfo {
            multiprocessors: 132,
            max_blocks: 4096,
            execution: ExecutionModel::Simt,
            vector_bytes: 16,
            bulk_copy_smem_bytes: 0,
            shared_bytes: 227 << 10,
            compute_capability: 90,
        };
        for size in 1..4092 {
            for itemsize in [4, 8, 16] {
                let Some(geometry) = CooperativeGeometry::new(size, itemsize, &device_info) else {
                    panic!("{size} rows of {itemsize} bytes per element");
                };
                let CooperativeGeometry { blocks, rows, cached, shared_bytes } = geometry;
                assert!(blocks * rows >= size && COOPERATIVE_BLOCKS.contains(&blocks) && blocks <= 132, "{geometry:?}");
                let all_bytes = shared_bytes + COOPERATIVE_STATIC_ELEMENTS * itemsize + COOPERATIVE_STATIC_BYTES;
                assert!(cached <= rows && all_bytes <= 227 << 10, "{geometry:?}");
            }
        }
        let rule = |size, itemsize| {
            CooperativeGeometry::new(size, itemsize, &device_info).map(|own| (own.blocks, own.rows, own.cached))
        };
        assert_eq!(rule(100, 8), Some((64, 2, 2)));
        assert_eq!(rule(1000, 8), Some((91, 11, 11)));
        assert_eq!(rule(2000, 8), Some((125, 16, 11)));
        assert_eq!(rule(5000, 8), None);
    }
}
