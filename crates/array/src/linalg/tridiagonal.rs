//! Eigenvalues of Hermitian matrices of many rows: by way of tridiagonal ones.

use super::launch::{BLOCK, Step, Value};
use super::matrices::{empty, first_number, identities, part, zeros};
use super::reflections::{Applied, apply_reflections};
use super::scaling::{Report, Scaling, placed};
use crate::array::GpuArray;
use crate::error::Result;
use crate::views::Index;
use rtcg_codegen::DType;
use rtcg_codegen::array::{LINALG_STATE, LINALG_TURNS, LinalgStep};

/// Threads of a warp, and warps of a block that has rows.
const WARPS: [usize; 2] = [32, 8];
/// Rows of a list of rotations, in lengths of the matrix.
const ROOM: usize = 32;
/// Lists before it is asked whether rotations are left.
const LISTS: usize = 4;

/// T = Q^H A Q.
struct Tridiagonal {
    diagonals: GpuArray,
    /// Subdiagonals, and a zero.
    beside: GpuArray,
    /// The factors of the reflections of which Q is the product; their vectors are left in A.
    taus: GpuArray,
}

/// Householder's method (Golub and Van Loan, Matrix Computations, 8.3.1).
fn reduce(a: &GpuArray) -> Result<Tridiagonal> {
    let (ctx, dtype, count, n) = (a.context(), a.dtype(), a.shape()[0], a.shape()[2]);
    let diagonals = zeros(a, &[count, n], dtype.real_part())?;
    let beside = zeros(a, &[count, n], dtype.real_part())?;
    let taus = zeros(a, &[count, n], dtype)?;
    let pairs = empty(a, &[count, 2, n], dtype)?;
    let column = Step::new(ctx, dtype, LinalgStep::TridiagonalColumn)?;
    let product = Step::new(ctx, dtype, LinalgStep::TridiagonalProduct)?;
    let correct = Step::new(ctx, dtype, LinalgStep::TridiagonalCorrect)?;
    let update = Step::new(ctx, dtype, LinalgStep::TridiagonalUpdate)?;
    let (all, length) = (a.into(), n.into());
    for k in 0..n - 1 {
        let (parts, k) = ([count, (n - 1 - k).div_ceil(WARPS[1])], k.into());
        let arguments = [all, length, k, (&taus).into(), (&diagonals).into(), (&beside).into(), (&pairs).into()];
        column.launch([count, 1], BLOCK, &arguments)?;
        product.launch(parts, WARPS, &[all, length, k, (&taus).into(), (&pairs).into()])?;
        correct.launch([count, 1], BLOCK, &[length, k, (&taus).into(), (&pairs).into()])?;
        update.launch(parts, WARPS, &[all, length, k, (&pairs).into()])?;
    }
    let last = Index::At(n as isize - 1);
    diagonals.index(&[Index::Ellipsis, last])?.assign(&a.real().index(&[Index::Ellipsis, last, last])?)?;
    Ok(Tridiagonal { diagonals, beside, taus })
}

impl Tridiagonal {
    /// Puts eigenvalues in the place of diagonals; eigenvectors as rows.
    ///
    /// Implicit QL iterations (Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971, imtql2), whose
    /// rotations are listed by one thread of a matrix and applied by many. Reads whether some are left every few lists.
    fn rotate(&self, report: &Report, iterations: usize) -> Result<GpuArray> {
        let d = &self.diagonals;
        let (count, n, dtype) = (d.shape()[0], d.shape()[1], d.dtype());
        let room = ROOM * n;
        let rows = identities(d.context(), &[count, n, n], dtype)?;
        let states = zeros(d, &[count, LINALG_STATE], DType::I32)?;
        let turns = empty(d, &[count, 3 * LINALG_TURNS], DType::I32)?;
        let lists = empty(d, &[count, 2 * room], dtype)?;
        let ql = Step::new(d.context(), dtype, LinalgStep::TridiagonalQl)?;
        let rotate = Step::new(d.context(), dtype, LinalgStep::TridiagonalRotate)?;
        let (length, space) = (n.into(), room.into());
        let [states, turns, lists] = [&states, &turns, &lists].map(Value::Array);
        let left = zeros(d, &[1], DType::I32)?;
        loop {
            for _ in 0..LISTS {
                left.clear()?;
                let arguments = [
                    d.into(),
                    (&self.beside).into(),
                    length,
                    space,
                    states,
                    lists,
                    turns,
                    iterations.into(),
                    (&report.0).into(),
                    (&left).into(),
                ];
                ql.launch([count, 1], [32, 1], &arguments)?;
                let arguments = [length, space, states, lists, turns, (&rows).into()];
                rotate.launch([count, n.div_ceil(64)], [64, 1], &arguments)?;
            }
            if first_number(&left)? == 0 {
                return Ok(rows);
            }
        }
    }

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
    let rows = reduced.rotate(&scaling.report, iterations)?;
    let (values, places) = scaling.ordered(&reduced.diagonals, a.dtype(), false)?;
    let vectors = placed(&rows, &places, n)?.to_dtype(a.dtype())?;
    if n > 1 {
        // The vectors begin one row below the diagonal.
        let (below, moved) = (part(a, 1..n, 0..n - 1)?, part(&vectors, 1..n, 0..n)?);
        apply_reflections(&below, &reduced.taus, n as isize, &moved, Applied::Product)?;
    }
    Ok((values, Some(vectors)))
}
