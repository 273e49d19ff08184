//! Small Hermitian matrices on the host: the projections of a problem on a basis of a few dozen vectors.
//!
//! A device would need several launches and a wait for these; the host takes microseconds, and needs the numbers
//! anyway. Arithmetic is in double precision, whatever the vectors are.

use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, ArrayError, ArrayErrorKind, DType, Result};
use std::ops::{Add, Mul, Sub};
use std::sync::Arc;

/// Shifts for one eigenvalue after which iterations count as endless; two or three is what they take.
const MAX_QR_STEPS: usize = 60;

/// A real or complex number in double precision.
pub(super) trait RealOrComplex: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    fn from_real(value: f64) -> Self;
    fn from_parts(re: f64, im: f64) -> Self;
    fn parts(self) -> [f64; 2];
    fn conj(self) -> Self;

    fn scaled(self, factor: f64) -> Self {
        let [re, im] = self.parts();
        Self::from_parts(re * factor, im * factor)
    }

    fn abs(self) -> f64 {
        let [re, im] = self.parts();
        re.hypot(im)
    }
}

impl RealOrComplex for f64 {
    fn from_real(value: f64) -> Self {
        value
    }

    fn from_parts(re: f64, _: f64) -> Self {
        re
    }

    fn parts(self) -> [f64; 2] {
        [self, 0.0]
    }

    fn conj(self) -> Self {
        self
    }
}

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex(pub(super) f64, pub(super) f64);

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

impl RealOrComplex for Complex {
    fn from_real(value: f64) -> Self {
        Self(value, 0.0)
    }

    fn from_parts(re: f64, im: f64) -> Self {
        Self(re, im)
    }

    fn parts(self) -> [f64; 2] {
        [self.0, self.1]
    }

    fn conj(self) -> Self {
        Self(self.0, -self.1)
    }
}

/// A matrix by rows.
#[derive(Debug, Clone)]
pub(super) struct HostMatrix<F> {
    pub(super) rows: Vec<Vec<F>>,
}

impl<F: RealOrComplex> HostMatrix<F> {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows: vec![vec![F::from_real(0.0); columns]; rows] }
    }

    pub(super) fn identity(n: usize) -> Self {
        let mut new = Self::zeros(n, n);
        (0..n).for_each(|k| new.rows[k][k] = F::from_real(1.0));
        new
    }

    /// The elements of an array of two axes that were read as bytes.
    pub(super) fn from_bytes(bytes: &[u8], dtype: DType, columns: usize) -> Self {
        let numbers = read_numbers(bytes, dtype.real_part());
        let width = if dtype.is_complex() { 2 } else { 1 };
        let element = |parts: &[f64]| F::from_parts(parts[0], parts.get(1).copied().unwrap_or(0.0));
        let elements: Vec<F> = numbers.chunks_exact(width).map(element).collect();
        Self { rows: elements.chunks_exact(columns.max(1)).map(<[F]>::to_vec).collect() }
    }

    /// The matrix on the device in C order; waits for the copy.
    pub(super) fn upload(&self, ctx: &Arc<ArrayContext>, dtype: DType) -> Result<GpuArray> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let array = GpuArray::empty(ctx, &[self.rows.len(), columns], dtype, Order::C)?;
        let width = if dtype.is_complex() { 2 } else { 1 };
        let mut bytes = Vec::with_capacity(array.nbytes());
        for part in self.rows.iter().flatten().flat_map(|element| element.parts().into_iter().take(width)) {
            match dtype.real_part() {
                DType::F32 => bytes.extend((part as f32).to_ne_bytes()),
                _ => bytes.extend(part.to_ne_bytes()),
            }
        }
        array.write(&bytes, Order::C)?;
        Ok(array)
    }

    /// The product of `self` and the transpose of `other`, without conjugates: rows times rows.
    pub(super) fn times_transpose(&self, other: &Self) -> Self {
        let row = |a: &Vec<F>| other.rows.iter().map(|b| dot(a, b)).collect();
        Self { rows: self.rows.iter().map(row).collect() }
    }

    pub(super) fn transposed(&self) -> Self {
        let columns = self.rows.first().map_or(0, Vec::len);
        Self { rows: (0..columns).map(|j| self.rows.iter().map(|row| row[j]).collect()).collect() }
    }

    pub(super) fn conjugated(&self) -> Self {
        Self { rows: self.rows.iter().map(|row| row.iter().map(|x| x.conj()).collect()).collect() }
    }
}

/// Floats or doubles as doubles.
pub(super) fn read_numbers(bytes: &[u8], real: DType) -> Vec<f64> {
    match real {
        DType::F32 => bytes
            .chunks_exact(4)
            .map(|part| f64::from(f32::from_ne_bytes(part.try_into().unwrap_or_default())))
            .collect(),
        _ => bytes.chunks_exact(8).map(|part| f64::from_ne_bytes(part.try_into().unwrap_or_default())).collect(),
    }
}

fn dot<F: RealOrComplex>(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).fold(F::from_real(0.0), |sum, (&x, &y)| sum + x * y)
}

fn add_scaled<F: RealOrComplex>(target: &mut [F], factor: F, source: &[F]) {
    target.iter_mut().zip(source).for_each(|(t, &s)| *t = *t + factor * s);
}

/// Eigenvalues in ascending order, and eigenvectors of length 1 as rows, of a Hermitian matrix.
///
/// Householder reflections to a tridiagonal matrix, then implicit QR steps with Wilkinson's shift (Golub and Van Loan,
/// Matrix Computations, 8.3).
///
/// # Errors
/// When elements are not finite.
pub(super) fn hermitian_eigen<F: RealOrComplex>(mut a: HostMatrix<F>) -> Result<(Vec<f64>, HostMatrix<F>)> {
    let n = a.rows.len();
    let largest = a.rows.iter().flatten().map(|x| x.abs()).fold(0.0, f64::max);
    if a.rows.iter().flatten().any(|x| !x.abs().is_finite()) {
        return Err(not_finite());
    }
    let scale = if largest > 0.0 { largest } else { 1.0 };
    a.rows.iter_mut().flatten().for_each(|x| *x = x.scaled(1.0 / scale));
    let mut vectors = HostMatrix::identity(n);
    let (mut diagonal, mut beside) = tridiagonalize(&mut a, &mut vectors);
    diagonalize(&mut diagonal, &mut beside, &mut vectors)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
    let values = order.iter().map(|&i| diagonal[i] * scale).collect();
    Ok((values, HostMatrix { rows: order.iter().map(|&i| vectors.rows[i].clone()).collect() }))
}

pub(super) fn not_finite() -> ArrayError {
    linear_algebra_error("the operator maps a vector to one with infinities or NaN")
}

pub(super) fn linear_algebra_error(message: &str) -> ArrayError {
    ArrayError::new(ArrayErrorKind::LinearAlgebra, message)
}

/// The diagonal and the real elements beside it; columns of the unitary matrix become rows of `vectors`.
fn tridiagonalize<F: RealOrComplex>(a: &mut HostMatrix<F>, vectors: &mut HostMatrix<F>) -> (Vec<f64>, Vec<f64>) {
    let n = a.rows.len();
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<F> = (k + 1..n).map(|i| a.rows[i][k]).collect();
        let below = v[1..].iter().map(|x| x.abs().powi(2)).sum::<f64>();
        if below == 0.0 {
            continue;
        }
        let (size, length) = (v[0].abs(), (v[0].abs().powi(2) + below).sqrt());
        let phase = if size == 0.0 { F::from_real(1.0) } else { v[0].scaled(1.0 / size) };
        v[0] = v[0] + phase.scaled(length);
        // The reflection is I - factor v v^H.
        let factor = 1.0 / (length * (length + size));
        let mut p: Vec<F> = (k + 1..n).map(|i| dot(&a.rows[i][k + 1..], &v).scaled(factor)).collect();
        let conj_v: Vec<F> = v.iter().map(|x| x.conj()).collect();
        let half = dot(&conj_v, &p).parts()[0] * factor / 2.0;
        add_scaled(&mut p, F::from_real(-half), &v);
        let conj_p: Vec<F> = p.iter().map(|x| x.conj()).collect();
        for i in k + 1..n {
            let (vi, pi) = (v[i - k - 1].scaled(-1.0), p[i - k - 1].scaled(-1.0));
            add_scaled(&mut a.rows[i][k + 1..], vi, &conj_p);
            add_scaled(&mut a.rows[i][k + 1..], pi, &conj_v);
        }
        a.rows[k + 1][k] = phase.scaled(-length);
        let mut image = vec![F::from_real(0.0); n];
        (k + 1..n).for_each(|j| add_scaled(&mut image, v[j - k - 1], &vectors.rows[j]));
        (k + 1..n).for_each(|j| add_scaled(&mut vectors.rows[j], conj_v[j - k - 1].scaled(-factor), &image));
    }
    let diagonal = (0..n).map(|k| a.rows[k][k].parts()[0]).collect();
    let beside: Vec<f64> = (1..n).map(|k| a.rows[k][k - 1].abs()).collect();
    // Phases that make the elements beside the diagonal positive.
    let mut phase = F::from_real(1.0);
    for k in 1..n {
        if beside[k - 1] > 0.0 {
            phase = phase * a.rows[k][k - 1].scaled(1.0 / beside[k - 1]);
        }
        vectors.rows[k].iter_mut().for_each(|x| *x = *x * phase);
    }
    (diagonal, beside)
}

/// Implicit QR steps until nothing is left beside the diagonal; rows of `vectors` are rotated.
fn diagonalize<F: RealOrComplex>(d: &mut [f64], e: &mut [f64], vectors: &mut HostMatrix<F>) -> Result<()> {
    let mut high = d.len().saturating_sub(1);
    let mut steps = 0;
    while high > 0 {
        for k in 0..high {
            // Elements are at most 1 in size, as the matrix was scaled.
            if e[k].abs() <= f64::EPSILON * (d[k].abs() + d[k + 1].abs()).max(f64::EPSILON) {
                e[k] = 0.0;
            }
        }
        if e[high - 1] == 0.0 {
            (high, steps) = (high - 1, 0);
            continue;
        }
        steps += 1;
        if steps > MAX_QR_STEPS {
            return Err(linear_algebra_error("Eigenvalues of the projected matrix did not converge"));
        }
        let low = (0..high).rev().find(|&k| e[k] == 0.0).map_or(0, |k| k + 1);
        qr_step(d, e, vectors, low, high);
    }
    Ok(())
}

fn qr_step<F: RealOrComplex>(d: &mut [f64], e: &mut [f64], vectors: &mut HostMatrix<F>, low: usize, high: usize) {
    let (half, t) = ((d[high - 1] - d[high]) / 2.0, e[high - 1]);
    let shift = d[high] - t * t / (half + half.hypot(t).copysign(half));
    let (mut x, mut z) = (d[low] - shift, e[low]);
    for k in low..high {
        let r = x.hypot(z);
        let (c, s) = if r == 0.0 { (1.0, 0.0) } else { (x / r, z / r) };
        if k > low {
            e[k - 1] = r;
        }
        let (a, b, f) = (d[k], e[k], d[k + 1]);
        d[k] = c * c * a + 2.0 * c * s * b + s * s * f;
        d[k + 1] = s * s * a - 2.0 * c * s * b + c * c * f;
        e[k] = c * s * (f - a) + (c * c - s * s) * b;
        if k + 1 < high {
            (x, z) = (e[k], s * e[k + 1]);
            e[k + 1] *= c;
        }
        let (first, second) = vectors.rows.split_at_mut(k + 1);
        for (p, q) in first[k].iter_mut().zip(&mut second[0]) {
            (*p, *q) = (p.scaled(c) + q.scaled(s), q.scaled(c) - p.scaled(s));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Hermitian matrix of numbers that follow each other without a pattern.
    fn sample<F: RealOrComplex>(n: usize) -> HostMatrix<F> {
        let number = |k: usize| ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0;
        let mut a = HostMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let im = if i == j { 0.0 } else { number(i + n * j + 5) };
                a.rows[i][j] = F::from_parts(number(i * n + j), im);
                a.rows[j][i] = a.rows[i][j].conj();
            }
        }
        a
    }

    fn check<F: RealOrComplex>(a: &HostMatrix<F>) {
        let n = a.rows.len();
        let (values, vectors) = hermitian_eigen(a.clone()).unwrap();
        assert!(values.is_sorted());
        // Rows of `images` are A x.
        let images = vectors.times_transpose(a);
        for (k, value) in values.iter().enumerate() {
            for i in 0..n {
                let rest = images.rows[k][i] - vectors.rows[k][i].scaled(*value);
                assert!(rest.abs() < 1e-13 * n as f64, "vector {k} of {n}");
            }
        }
        let gram = vectors.conjugated().times_transpose(&vectors);
        for (i, row) in gram.rows.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                assert!((*x - F::from_real(f64::from(u8::from(i == j)))).abs() < 1e-13 * n as f64);
            }
        }
    }

    #[test]
    fn vectors_of_hermitian_matrices_are_mapped_to_multiples() {
        for n in [0, 1, 2, 3, 7, 40] {
            check(&sample::<f64>(n));
            check(&sample::<Complex>(n));
        }
        check(&HostMatrix::<f64>::zeros(5, 5));
        check(&HostMatrix::<Complex>::identity(6));
    }

    #[test]
    fn values_are_those_that_are_known() {
        let n = 30;
        let mut line = HostMatrix::<f64>::zeros(n, n);
        for k in 0..n {
            line.rows[k][k] = 2e200;
            if k > 0 {
                (line.rows[k][k - 1], line.rows[k - 1][k]) = (-1e200, -1e200);
            }
        }
        for (k, value) in hermitian_eigen(line).unwrap().0.into_iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (2 * (n + 1)) as f64;
            assert!((value / 1e200 - 4.0 * angle.sin().powi(2)).abs() < 1e-14);
        }
        let nan = HostMatrix { rows: vec![vec![f64::NAN]] };
        assert!(hermitian_eigen(nan).is_err());
    }
}
