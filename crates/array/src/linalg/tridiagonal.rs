//! Eigenvalues of Hermitian matrices of many rows: by way of tridiagonal ones.

use super::divide;
use super::launch::{BLOCK, Step};
use super::matrices::{copied, empty, part, transposed, zeros};
use super::reflections::{Applied, apply_reflections};
use super::scaling::Scaling;
use crate::array::GpuArray;
use crate::error::Result;
use rtcg_codegen::array::{LINALG_PAIRS, LinalgStep, Op};

/// Threads of a warp, and warps of a block that has products of rows.
const WARPS: [usize; 2] = [32, 8];
/// Rows of a block that has a part of a column.
const ROWS: usize = 32;

/// T = Q^H A Q.
pub(super) struct Tridiagonal {
    pub diagonals: GpuArray,
    /// Subdiagonals, and a zero.
    pub beside: GpuArray,
    /// The factors of the reflections of which Q is the product; their vectors are left in A.
    taus: GpuArray,
}

/// A panel of reflections from both sides: A - left^T right is the matrix after them. See Dongarra, Sorensen and
/// Hammarling, Block reduction of matrices to condensed forms for eigenvalue computations, J. Comput. Appl. Math. 27, 1989.
struct Reduction<'a> {
    matrices: &'a GpuArray,
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
    steps: [Step; 2],
}

impl<'a> Reduction<'a> {
    fn new(a: &'a GpuArray) -> Result<Self> {
        let (count, n, dtype) = (a.shape()[0], a.shape()[2], a.dtype());
        let (real, two) = (dtype.real_part(), 2 * LINALG_PAIRS);
        let result = Tridiagonal {
            diagonals: zeros(a, &[count, n], real)?,
            beside: zeros(a, &[count, n], real)?,
            taus: zeros(a, &[count, n], dtype)?,
        };
        Ok(Self {
            matrices: a,
            result,
            left: empty(a, &[count, two, n], dtype)?,
            right: empty(a, &[count, two, n], dtype)?,
            inner: empty(a, &[count, two], dtype)?,
            products: empty(a, &[count, n], dtype)?,
            parts: empty(a, &[count, (n + two).div_ceil(WARPS[1])], real)?,
            column: empty(a, &[count, n], dtype)?,
            squares: empty(a, &[count, n.div_ceil(ROWS)], real)?,
            steps: [
                Step::new(a.context(), dtype, LinalgStep::TridiagonalColumn)?,
                Step::new(a.context(), dtype, LinalgStep::TridiagonalProduct)?,
            ],
        })
    }

    /// Column k as the first `i` reflections of the panel leave it, or only the second vector of the last of them.
    fn make_column(&self, k: usize, i: usize, is_only_vector: bool) -> Result<()> {
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
            (n - k + 2 * i.saturating_sub(1)).div_ceil(WARPS[1]).into(),
            (&self.column).into(),
            (&self.squares).into(),
        ];
        self.steps[0].launch([count, (n - k).div_ceil(ROWS)], BLOCK, &arguments)
    }

    /// The reflection of that column, and the products of its vector.
    fn reflect(&self, k: usize, i: usize) -> Result<()> {
        let (count, n) = (self.matrices.shape()[0], self.matrices.shape()[2]);
        let arguments = [
            self.matrices.into(),
            n.into(),
            k.into(),
            i.into(),
            (&self.result.taus).into(),
            (&self.result.beside).into(),
            (&self.left).into(),
            (&self.right).into(),
            (&self.inner).into(),
            (&self.products).into(),
            (&self.parts).into(),
            (&self.column).into(),
            (&self.squares).into(),
            (n - k).div_ceil(ROWS).into(),
        ];
        self.steps[1].launch([count, (n - k - 1 + 2 * i).div_ceil(WARPS[1])], WARPS, &arguments)
    }

    /// The columns from `start` on, as many as a panel has, and the update of what is right of and below them.
    fn reduce_panel(&self, start: usize) -> Result<()> {
        let n = self.matrices.shape()[2];
        let end = (start + LINALG_PAIRS).min(n);
        for k in start..end {
            self.make_column(k, k - start, false)?;
            if k < n - 1 {
                self.reflect(k, k - start)?;
            }
        }
        if end == n {
            return Ok(());
        }
        self.make_column(end, end - start, true)?;
        let [left, right] = [&self.left, &self.right].map(|rows| part(rows, 0..2 * LINALG_PAIRS, end..n));
        let change = transposed(&left?)?.matmul(&right?)?;
        part(self.matrices, end..n, end..n)?.binary_in_place(Op::Subtract, &change)
    }
}

/// Householder's method (Golub and Van Loan, Matrix Computations, 8.3.1), by panels.
fn reduce(a: &GpuArray) -> Result<Tridiagonal> {
    let reduction = Reduction::new(a)?;
    (0..a.shape()[2]).step_by(LINALG_PAIRS).try_for_each(|start| reduction.reduce_panel(start))?;
    Ok(reduction.result)
}

impl Tridiagonal {
    /// Eigenvalues by bisection.
    fn bisect(&self) -> Result<GpuArray> {
        let d = &self.diagonals;
        let (count, n) = (d.shape()[0], d.shape()[1]);
        let values = empty(d, &[count, n], d.dtype())?;
        let step = Step::new(d.context(), d.dtype(), LinalgStep::TridiagonalBisect)?;
        let arguments = [d.into(), (&self.beside).into(), n.into(), (&values).into()];
        step.launch([count, n.div_ceil(32)], [32, 1], &arguments)?;
        Ok(values)
    }
}

/// Eigenvalues in ascending order of scaled Hermitian matrices, scaled back; eigenvectors as columns.
pub(super) fn eigenvalues(
    a: &GpuArray,
    scaling: &Scaling,
    iterations: usize,
    has_vectors: bool,
) -> Result<(GpuArray, Option<GpuArray>)> {
    let n = a.shape()[2];
    let reduced = reduce(a)?;
    if !has_vectors {
        return Ok((scaling.ordered(&reduced.bisect()?, a.dtype(), false)?.0, None));
    }
    let (values, vectors) = divide::eigenvectors(&reduced, &scaling.report, iterations)?;
    let (values, _) = scaling.ordered(&values, a.dtype(), false)?;
    let vectors = copied(&vectors, a.dtype())?;
    if n > 1 {
        // The vectors begin one row below the diagonal.
        let (below, moved) = (part(a, 1..n, 0..n - 1)?, part(&vectors, 1..n, 0..n)?);
        apply_reflections(&below, &reduced.taus, n as isize, &moved, Applied::Product)?;
    }
    Ok((values, Some(vectors)))
}
