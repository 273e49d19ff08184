//! Thick-restart Lanczos (Wu and Simon 2000) with full reorthogonalisation.
//!
//! Between restarts `A V = V T + beta v e^T`, where `T` consists of a diagonal, an arrow beside it, and a tridiagonal
//! part. `T` is real, so the host decomposes a real matrix, whatever the vectors are.

use super::basis::{Basis, machine_epsilon};
use super::projected::{HostMatrix, hermitian_eigen, not_finite, read_numbers};
use super::vector_dtype;
use crate::checks::check_vector;
use crate::operator::LinearOperator;
use crate::units::{Range, Scaled, operator_exponent, times_power};
use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, ArrayError, DType, Result, check_interrupt};
use std::sync::Arc;

/// Which eigenvalues to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichEigenvalues {
    /// Those of largest magnitude.
    LargestMagnitude,
    /// Those of smallest magnitude.
    SmallestMagnitude,
    /// The largest (algebraically).
    Largest,
    /// The smallest (algebraically).
    Smallest,
    /// Half of them from each end; the high end gets the odd one.
    BothEnds,
}

impl WhichEigenvalues {
    /// Looks up SciPy's names: LM, SM, LA, SA, BE.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "LM" => Self::LargestMagnitude,
            "SM" => Self::SmallestMagnitude,
            "LA" => Self::Largest,
            "SA" => Self::Smallest,
            "BE" => Self::BothEnds,
            _ => return None,
        })
    }

    /// Places of ascending values, those that are wanted most first.
    fn order(self, values: &[f64]) -> Vec<usize> {
        let n = values.len();
        let mut places: Vec<usize> = (0..n).collect();
        match self {
            Self::Smallest => {}
            Self::Largest => places.reverse(),
            Self::SmallestMagnitude => places.sort_by(|&i, &j| values[i].abs().total_cmp(&values[j].abs())),
            Self::LargestMagnitude => places.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs())),
            Self::BothEnds => places = (0..n).map(|k| if k % 2 == 0 { n - 1 - k / 2 } else { k / 2 }).collect(),
        }
        places
    }
}

/// Options of [`eigsh`].
#[derive(Debug, Clone, Copy)]
pub struct EigshOptions {
    /// The number of eigenvalues.
    pub count: usize,
    /// Which eigenvalues of the operator to compute, before [`EigshOptions::shift`] is applied.
    pub which: WhichEigenvalues,
    /// The number of basis vectors, more than `count` and at most the number of rows; by default twice `count` plus
    /// one, but at least 20.
    pub basis_size: Option<usize>,
    /// The maximum number of restarts; ten per row by default.
    pub max_restarts: Option<usize>,
    /// The estimated error relative to an eigenvalue; 0 means the machine epsilon.
    pub tol: f64,
    /// If set, the operator is the inverse of `A - shift`, and the results are eigenvalues of `A`.
    pub shift: Option<f64>,
    /// The seed of the start vector, if none is given.
    pub seed: u64,
}

impl Default for EigshOptions {
    fn default() -> Self {
        Self {
            count: 6,
            which: WhichEigenvalues::LargestMagnitude,
            basis_size: None,
            max_restarts: None,
            tol: 0.0,
            shift: None,
            seed: 0,
        }
    }
}

/// Eigenvalues, and how they were found.
#[derive(Debug, Clone)]
pub struct EigshResult {
    /// Eigenvalues in ascending order: all requested ones, or those that converged.
    pub values: Vec<f64>,
    /// The unit eigenvectors, as columns.
    pub vectors: GpuArray,
    /// Whether all eigenvalues converged.
    pub is_converged: bool,
    /// Number of restarts.
    pub restarts: usize,
    /// Number of products with the operator.
    pub products: usize,
    /// Number of times the host waited for the device in the loop: once per restart, and once per invariant subspace.
    pub waits: usize,
    /// The largest Ritz value of the operator in size, before [`EigshOptions::shift`].
    pub(super) size: f64,
}

/// Computes eigenvalues of a Hermitian operator, and their eigenvectors; waits once per restart.
///
/// An eigenvalue converges when its estimated error is at most `tol` times its magnitude. A new cycle then begins with
/// a random vector that is orthogonal to what was found: the Krylov space of a single vector contains only one
/// eigenvector of a multiple eigenvalue, and this way more are found.
///
/// # Errors
/// When the operator is not square or produces infinities or NaN, `start` does not fit or is 0, `count` or `basis_size`
/// are out of range, or the device fails.
pub fn eigsh(
    ctx: &Arc<ArrayContext>,
    a: &dyn LinearOperator,
    start: Option<&GpuArray>,
    options: &EigshOptions,
) -> Result<EigshResult> {
    let [n, columns] = a.shape();
    if n != columns {
        return Err(ArrayError::value_error(format!("expected square matrix (shape=({n}, {columns}))")));
    }
    let count = options.count;
    if count == 0 || count >= n {
        return Err(ArrayError::value_error(format!("k is {count}; expected at least 1, and less than {n} rows")));
    }
    let size = options.basis_size.unwrap_or_else(|| n.min((2 * count + 1).max(20)));
    if size <= count || size > n {
        return Err(ArrayError::value_error(format!("ncv must be k<ncv<=n, ncv={size}")));
    }
    if options.tol.is_nan() || options.tol < 0.0 {
        return Err(ArrayError::value_error(format!("tol is {}; expected at least 0", options.tol)));
    }
    let dtype = vector_dtype(a.dtype());
    let found = run(ctx, a, start, options, [size, n], 0);
    let range = Range::from_dtype(dtype);
    if found.as_ref().is_ok_and(|found| !range.is_extreme(found.size)) {
        return found;
    }
    // Squares may have been 0 or infinite: in other units they are not.
    let power = operator_exponent(ctx, a, dtype, false)?;
    if power.abs() <= range.moderate {
        return found;
    }
    run(ctx, &Scaled { inner: a, power: -power }, start, options, [size, n], power)
}

/// Eigenvalues of an operator in a unit, `2^power`.
fn run(
    ctx: &Arc<ArrayContext>,
    a: &dyn LinearOperator,
    start: Option<&GpuArray>,
    options: &EigshOptions,
    [size, n]: [usize; 2],
    power: i32,
) -> Result<EigshResult> {
    let basis = Basis::new(ctx, size, n, vector_dtype(a.dtype()))?;
    if let Some(start) = start {
        check_vector("v0", start, n)?;
        basis.candidate.assign(start)?;
    }
    basis.begin(0, start.is_none().then_some(options.seed))?;
    let (diagonal, beside, arrow) = (vec![0.0; size], vec![0.0; size], Vec::new());
    let lanczos = Lanczos { a, options, basis, diagonal, beside, arrow, power };
    lanczos.run(options.max_restarts.unwrap_or(10 * n))
}

struct Lanczos<'a> {
    a: &'a dyn LinearOperator,
    options: &'a EigshOptions,
    basis: Basis,
    /// The diagonal of the projected matrix.
    diagonal: Vec<f64>,
    /// What is beside it, behind the arrow; the last number is the length of the residual.
    beside: Vec<f64>,
    /// What the vectors that a restart has kept have in common with the one behind them.
    arrow: Vec<f64>,
    /// Eigenvalues are those of the operator times `2^power`.
    power: i32,
}

/// A decomposition of the projected matrix.
struct Ritz {
    values: Vec<f64>,
    /// As rows.
    vectors: HostMatrix<f64>,
    /// Those that are wanted most come first.
    order: Vec<usize>,
}

impl Lanczos<'_> {
    fn run(mut self, max_restarts: usize) -> Result<EigshResult> {
        let (count, size) = (self.options.count, self.basis.size);
        let (mut restarts, mut products, mut waits) = (0, 0, 0);
        let mut is_confirming = false;
        loop {
            let [made, waited] = self.extend(waits == 0)?;
            products += made;
            waits += waited;
            let ritz = self.decompose()?;
            let n_found = (0..count).filter(|&k| self.is_found(&ritz, ritz.order[k])).count();
            if n_found == count && (self.is_whole(&ritz) || is_confirming && self.has_found_nothing(&ritz)) {
                return self.result(&ritz, true, [restarts, products, waits]);
            }
            if restarts >= max_restarts {
                return self.result(&ritz, n_found == count, [restarts, products, waits]);
            }
            restarts += 1;
            is_confirming = n_found == count;
            if is_confirming {
                self.keep(&ritz, count)?;
                self.arrow.fill(0.0);
                self.basis.begin(count, Some(self.options.seed.wrapping_add(restarts as u64)))?;
            } else {
                let kept = (count + (size - count) / 3 + n_found / 2).min(size - 1);
                let residual = self.basis.row(size)?;
                self.keep(&ritz, kept)?;
                self.basis.row(kept)?.assign(&residual)?;
            }
        }
    }

    /// Whether there is nothing that a random vector could find: the basis is the whole space, or eigenvalues within the
    /// spectrum are wanted, where Ritz values come and go.
    fn is_whole(&self, ritz: &Ritz) -> bool {
        let is_interior = self.options.which == WhichEigenvalues::SmallestMagnitude
            && ritz.values.first().is_some_and(|&low| low < 0.0)
            && ritz.values.last().is_some_and(|&high| high > 0.0);
        self.basis.size == self.a.shape()[0] || is_interior
    }

    /// Whether the random vector behind those that the last restart has kept has found no other values: the vectors that
    /// are wanted most are those that were kept, or have the same values. A further copy of a value is as good as the
    /// one that was kept.
    fn has_found_nothing(&self, ritz: &Ritz) -> bool {
        let count = self.options.count;
        let rounding = 100.0 * machine_epsilon(self.basis.dtype) * ritz.size();
        let is_same = |(&place, &kept): (&usize, &f64)| (ritz.values[place] - kept).abs() <= rounding;
        has_only_kept(ritz, count) || ritz.order[..count].iter().zip(&self.diagonal).all(is_same)
    }

    /// Lanczos steps until the basis is full: products that were made, and how often the host has waited.
    fn extend(&mut self, is_first: bool) -> Result<[usize; 2]> {
        let (size, kept) = (self.basis.size, self.arrow.len());
        let (mut begin, mut products, mut waits) = (kept, 0, 0);
        loop {
            check_interrupt()?;
            for k in begin..size {
                self.a.apply(&self.basis.row(k)?, &self.basis.candidate)?;
                self.basis.append(k)?;
            }
            products += size - begin;
            waits += 1;
            let scalars = self.read_scalars()?;
            if is_first && waits == 1 && scalars[size][1] == 0.0 {
                return Err(ArrayError::value_error("v0 is 0; expected a vector with a direction"));
            }
            for (k, &pair) in scalars[..size].iter().enumerate().skip(begin) {
                [self.diagonal[k], self.beside[k]] = pair;
            }
            // Where a step leaves nothing, vectors so far span an invariant subspace: another one begins.
            let Some(end) = (begin..size - 1).find(|&k| self.beside[k] == 0.0) else { return Ok([products, waits]) };
            let seed = self.options.seed ^ (((end + 1) as u64) << 32);
            self.basis.begin(end + 1, Some(seed))?;
            begin = end + 1;
        }
    }

    fn read_scalars(&self) -> Result<Vec<[f64; 2]>> {
        let mut bytes = vec![0; self.basis.scalars.nbytes()];
        self.basis.scalars.read(&mut bytes, Order::C)?;
        let numbers = read_numbers(&bytes, DType::F64);
        let size = self.basis.size;
        let used = numbers[2 * self.arrow.len()..2 * size].iter();
        if used.chain(&numbers[2 * size + 1..]).any(|number| !number.is_finite()) {
            return Err(not_finite());
        }
        Ok(numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    }

    fn decompose(&self) -> Result<Ritz> {
        let (size, kept) = (self.basis.size, self.arrow.len());
        let mut t = HostMatrix::zeros(size, size);
        for k in 0..size {
            t.rows[k][k] = self.diagonal[k];
        }
        for (k, &arrow) in self.arrow.iter().enumerate() {
            (t.rows[k][kept], t.rows[kept][k]) = (arrow, arrow);
        }
        for k in kept..size - 1 {
            (t.rows[k][k + 1], t.rows[k + 1][k]) = (self.beside[k], self.beside[k]);
        }
        let (values, vectors) = hermitian_eigen(t)?;
        let order = self.options.which.order(&values);
        Ok(Ritz { values, vectors, order })
    }

    /// What a Ritz vector has in common with the residual.
    fn coupling(&self, ritz: &Ritz, place: usize) -> f64 {
        let size = self.basis.size;
        self.beside[size - 1] * ritz.vectors.rows[place][size - 1]
    }

    /// ARPACK's condition, with values that are small beside the largest one in the place of values that are small.
    fn is_found(&self, ritz: &Ritz, place: usize) -> bool {
        let eps = machine_epsilon(self.basis.dtype);
        let tol = if self.options.tol == 0.0 { eps } else { self.options.tol };
        self.coupling(ritz, place).abs() <= tol * ritz.values[place].abs().max(eps.powf(2.0 / 3.0) * ritz.size())
    }

    /// Replaces the basis by the Ritz vectors that are wanted most.
    fn keep(&mut self, ritz: &Ritz, kept: usize) -> Result<()> {
        let places = &ritz.order[..kept];
        self.basis.rows(kept)?.assign(&self.ritz_vectors(ritz, places)?)?;
        self.arrow = places.iter().map(|&place| self.coupling(ritz, place)).collect();
        places.iter().enumerate().for_each(|(k, &place)| self.diagonal[k] = ritz.values[place]);
        Ok(())
    }

    /// Ritz vectors as rows.
    fn ritz_vectors(&self, ritz: &Ritz, places: &[usize]) -> Result<GpuArray> {
        let chosen = HostMatrix { rows: places.iter().map(|&place| ritz.vectors.rows[place].clone()).collect() };
        chosen.upload(&self.basis.ctx, self.basis.dtype)?.matmul(&self.basis.rows(self.basis.size)?)
    }

    fn result(&self, ritz: &Ritz, is_converged: bool, counts: [usize; 3]) -> Result<EigshResult> {
        let value = |place: usize| match self.options.shift {
            Some(shift) => shift + times_power(1.0 / ritz.values[place], -self.power),
            None => times_power(ritz.values[place], self.power),
        };
        let wanted = ritz.order[..self.options.count].iter().copied();
        let mut places: Vec<usize> = wanted.filter(|&place| is_converged || self.is_found(ritz, place)).collect();
        places.sort_by(|&i, &j| value(i).total_cmp(&value(j)));
        let vectors = match places.is_empty() {
            true => GpuArray::empty(&self.basis.ctx, &[0, self.a.shape()[0]], self.basis.dtype, Order::C)?,
            false => self.ritz_vectors(ritz, &places)?,
        };
        let [restarts, products, waits] = counts;
        Ok(EigshResult {
            values: places.into_iter().map(value).collect(),
            vectors: vectors.transpose(None)?,
            is_converged,
            restarts,
            products,
            waits,
            size: times_power(ritz.size(), self.power),
        })
    }
}

impl Ritz {
    /// The largest value in size.
    fn size(&self) -> f64 {
        self.values.iter().fold(0.0, |size, value| value.abs().max(size))
    }
}

/// Whether the vectors that are wanted most are those that the last restart has kept: the random vector behind them has
/// found no other.
fn has_only_kept(ritz: &Ritz, count: usize) -> bool {
    let is_kept = |&place: &usize| ritz.vectors.rows[place][..count].iter().map(|x| x * x).sum::<f64>() > 0.5;
    ritz.order[..count].iter().all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_comes_first() {
        let values = [-5.0, -1.0, 0.5, 2.0, 4.0];
        assert_eq!(WhichEigenvalues::LargestMagnitude.order(&values), [0, 4, 3, 1, 2]);
        assert_eq!(WhichEigenvalues::SmallestMagnitude.order(&values), [2, 1, 3, 4, 0]);
        assert_eq!(WhichEigenvalues::Largest.order(&values), [4, 3, 2, 1, 0]);
        assert_eq!(WhichEigenvalues::Smallest.order(&values), [0, 1, 2, 3, 4]);
        assert_eq!(WhichEigenvalues::BothEnds.order(&values), [4, 0, 3, 1, 2]);
    }
}
