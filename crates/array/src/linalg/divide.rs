//! Eigenvectors of real symmetric tridiagonal matrices by divide and conquer.
//!
//! Matrices are torn into leaves of equal lengths (Cuppen, A divide and conquer method for the symmetric tridiagonal
//! eigenproblem, Numer. Math. 36, 1981), behind whose last rows come values of infinity that nothing mixes with. Two
//! parts are merged by the eigenvectors of a diagonal matrix plus one of rank 1, and all merges of a level are the same
//! launches, the last of which is a matrix product. Columns that need no product are unit vectors in it, so the device
//! decides how many there are and nobody waits. See Gu and Eisenstat, A divide-and-conquer algorithm for the symmetric
//! tridiagonal eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995.

use super::launch::{BLOCK, Step, Value, parts};
use super::matrices::{empty, part};
use super::scaling::Report;
use super::tridiagonal::Tridiagonal;
use crate::array::GpuArray;
use crate::error::Result;
use crate::layout::Order;
use crate::views::Index;
use rtcg_codegen::DType;
use rtcg_codegen::array::LinalgStep;

/// Most rows of a leaf, which the lanes of a warp have.
const LEAF: usize = 32;
/// Blocks of warps, each of which has a value.
const WARPS: [usize; 2] = [32, 8];
/// Threads that turn columns.
const TURNERS: usize = 64;

/// The parts of matrices at a level.
struct Parts {
    /// Matrices times the parts of each.
    count: usize,
    /// Parts of a matrix.
    nodes: usize,
    length: usize,
    /// In ascending order.
    values: GpuArray,
    /// As columns.
    vectors: GpuArray,
}

/// What a merge is computed with. A slot is a value of a pair of parts: those that are still to be found come first.
struct Room {
    /// The values of pairs in order, and z.
    sorted: GpuArray,
    sorted_rows: GpuArray,
    poles: GpuArray,
    weights: GpuArray,
    /// z, as it belongs to the values that were found.
    exact: GpuArray,
    /// What values were found in slots, their distances from poles, and the slots of these.
    found: GpuArray,
    distances: GpuArray,
    origins: GpuArray,
    /// The inverse lengths of eigenvectors.
    inverses: GpuArray,
    /// The rows and columns of slots.
    rows: GpuArray,
    columns: GpuArray,
    /// Pairs of rows that are rotated, and by which angles.
    turns: GpuArray,
    angles: GpuArray,
}

impl Room {
    fn new(like: &GpuArray, size: usize) -> Result<Self> {
        let reals = |size: usize| empty(like, &[size], like.dtype());
        let numbers = |size: usize| empty(like, &[size], DType::I32);
        Ok(Self {
            sorted: reals(2 * size)?,
            sorted_rows: numbers(size)?,
            poles: reals(size)?,
            weights: reals(size)?,
            exact: reals(size)?,
            found: reals(size)?,
            distances: reals(size)?,
            origins: numbers(size)?,
            inverses: reals(size)?,
            rows: numbers(size)?,
            columns: numbers(size)?,
            turns: numbers(2 * size)?,
            angles: reals(2 * size)?,
        })
    }
}

/// How often matrices of `n` rows are halved, and the length of what they are torn into.
fn halvings(n: usize) -> (u32, usize) {
    let levels = n.div_ceil(LEAF).next_power_of_two().trailing_zeros();
    (levels, n.div_ceil(1 << levels))
}

impl Parts {
    /// The leaves of matrices with their eigenvectors.
    fn leaves(t: &Tridiagonal, report: &Report, iterations: usize) -> Result<Self> {
        let d = &t.diagonals;
        let (matrices, n) = (d.shape()[0], d.shape()[1]);
        let (levels, length) = halvings(n);
        let nodes = 1 << levels;
        let count = matrices * nodes;
        let values = empty(d, &[count, length], d.dtype())?;
        let vectors = empty(d, &[count, length, length], d.dtype())?;
        let arguments = [
            d.into(),
            (&t.beside).into(),
            n.into(),
            length.into(),
            nodes.into(),
            iterations.into(),
            (&values).into(),
            (&vectors).into(),
            (&report.0).into(),
        ];
        Step::new(d.context(), d.dtype(), LinalgStep::DivideLeaves)?.launch([count, 1], [32, 1], &arguments)?;
        Ok(Self { count, nodes, length, values, vectors })
    }

    /// Merges pairs of parts.
    fn merged(self, t: &Tridiagonal, room: &Room, report: &Report) -> Result<Self> {
        let (count, length) = (self.count / 2, self.length * 2);
        let counts = empty(&self.values, &[2 * count], DType::I32)?;
        let factors = empty(&self.values, &[count], self.values.dtype())?;
        self.deflate(t, room, &counts, &factors)?;
        let values = empty(&self.values, &[count, length], self.values.dtype())?;
        let inner = self.inner_vectors(room, &counts, &factors, &values, report)?;
        let vectors = self.vectors.matmul(&inner.reshape_to(&[self.count, self.length, length], Order::C)?)?;
        let vectors = vectors.reshape_to(&[count, length, length], Order::C)?;
        Ok(Self { count, nodes: self.nodes / 2, length, values, vectors })
    }

    /// Puts what is to be found of pairs into slots.
    fn deflate(&self, t: &Tridiagonal, room: &Room, counts: &GpuArray, factors: &GpuArray) -> Result<()> {
        let arguments = [
            (&self.values).into(),
            (&self.vectors).into(),
            (&t.beside).into(),
            t.diagonals.shape()[1].into(),
            self.length.into(),
            (self.nodes / 2).into(),
            (&room.sorted).into(),
            (&room.sorted_rows).into(),
            (&room.poles).into(),
            (&room.weights).into(),
            (&room.found).into(),
            (&room.rows).into(),
            counts.into(),
            factors.into(),
            (&room.turns).into(),
            (&room.angles).into(),
        ];
        self.step(LinalgStep::DivideDeflate)?.launch([self.count / 2, 1], BLOCK, &arguments)
    }

    /// Eigenvectors, in terms of those of the parts, of pairs; their values go to `values`.
    fn inner_vectors(
        &self,
        room: &Room,
        counts: &GpuArray,
        factors: &GpuArray,
        values: &GpuArray,
        report: &Report,
    ) -> Result<GpuArray> {
        let (pairs, length) = (self.count / 2, self.length * 2);
        let vectors = empty(values, &[pairs, length, length], values.dtype())?;
        let grid = [pairs, length.div_ceil(WARPS[1])];
        let [size, counts] = [length.into(), counts.into()];
        let [poles, weights, exact, found] = [&room.poles, &room.weights, &room.exact, &room.found].map(Value::Array);
        let [distances, origins, inverses, columns] =
            [&room.distances, &room.origins, &room.inverses, &room.columns].map(Value::Array);
        let roots = [poles, weights, size, counts, factors.into(), distances, origins, found, (&report.0).into()];
        self.step(LinalgStep::DivideRoots)?.launch(grid, WARPS, &roots)?;
        let own = [poles, weights, size, counts, distances, origins, exact];
        self.step(LinalgStep::DivideWeights)?.launch(grid, WARPS, &own)?;
        let lengths = [poles, exact, size, counts, distances, origins, found, inverses, columns, values.into()];
        self.step(LinalgStep::DivideLengths)?.launch(grid, WARPS, &lengths)?;
        let all = (&vectors).into();
        let filled = [poles, exact, size, counts, distances, origins, inverses, columns, (&room.rows).into(), all];
        self.step(LinalgStep::DivideVectors)?.launch(parts(pairs, length, WARPS[1]), WARPS, &filled)?;
        let turned = [size, counts, (&room.turns).into(), (&room.angles).into(), all];
        self.step(LinalgStep::DivideRotate)?.launch([pairs, length.div_ceil(TURNERS)], [TURNERS, 1], &turned)?;
        Ok(vectors)
    }

    fn step(&self, step: LinalgStep) -> Result<Step> {
        Step::new(self.values.context(), self.values.dtype(), step)
    }
}

/// Eigenvalues in ascending order, and eigenvectors as columns. What did not converge is reported.
pub(super) fn eigenvectors(t: &Tridiagonal, report: &Report, iterations: usize) -> Result<(GpuArray, GpuArray)> {
    let (matrices, n) = (t.diagonals.shape()[0], t.diagonals.shape()[1]);
    let mut all = Parts::leaves(t, report, iterations)?;
    let room = Room::new(&t.diagonals, all.count * all.length)?;
    while all.count > matrices {
        all = all.merged(t, &room, report)?;
    }
    let values = all.values.index(&[Index::Ellipsis, Index::from(0..n as isize)])?;
    Ok((values.copy(Some(Order::C))?, part(&all.vectors, 0..n, 0..n)?))
}
