//! Locally optimal block preconditioned conjugate gradients (Knyazev 2001).
//!
//! An iteration takes the best approximations in the space of current approximations, preconditioned residuals and
//! previous directions. The host orthonormalises the basis of that space by the eigenvalues of its scaled Gram matrix
//! (Stathopoulos and Wu 2002): directions that are numerically dependent are dropped, so that no factorisation fails.

use super::basis::machine_epsilon;
use super::projected::{
    Complex, HostMatrix, RealOrComplex, hermitian_eigen, linear_algebra_error, not_finite, read_numbers,
};
use super::svds::adjoint_of;
use super::vector_dtype;
use crate::operator::LinearOperator;
use crate::units::{Range, Scaled, exponent, multiply_by_power, operator_size, times_power};
use rtcg_array::{GpuArray, Index, Op, Order, PythonTuple};
use rtcg_hal::{ArrayContext, ArrayError, DType, Result, check_interrupt};
use std::fmt;
use std::sync::Arc;

/// Iterations after which products with the operators are computed anew, and not from former ones.
const ITERATIONS_PER_PRODUCT: usize = 20;

/// Columns of a block of a Gram matrix: so few that their product is a skinny one.
const GRAM_COLUMNS: usize = 8;

/// The generalised eigenproblem `A x = lambda B x`.
#[derive(Clone, Copy)]
pub struct BlockProblem<'a> {
    /// The matrix `A`, Hermitian.
    pub a: &'a dyn LinearOperator,
    /// The matrix `B`, Hermitian positive definite; the identity by default.
    pub b: Option<&'a dyn LinearOperator>,
    /// A preconditioner: an approximate inverse of `a`.
    pub m: Option<&'a dyn LinearOperator>,
    /// Columns to which the eigenvectors must be orthogonal, in the inner product of `b`.
    pub constraints: Option<&'a GpuArray>,
}

impl fmt::Debug for BlockProblem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockProblem").field("shape", &self.a.shape()).finish_non_exhaustive()
    }
}

/// Options of [`lobpcg`].
#[derive(Debug, Clone, Copy)]
pub struct LobpcgOptions {
    /// The bound on residual norms; by default the square root of the machine epsilon times the number of rows, times
    /// the magnitude of the problem if that is less than 1.
    pub tol: Option<f64>,
    /// The maximum number of iterations.
    pub max_iterations: usize,
    /// Whether to compute the largest eigenvalues, rather than the smallest.
    pub is_largest: bool,
}

impl Default for LobpcgOptions {
    fn default() -> Self {
        Self { tol: None, max_iterations: 20, is_largest: true }
    }
}

/// Eigenvalues, and how they were found.
#[derive(Debug, Clone)]
pub struct LobpcgResult {
    /// Eigenvalues, the most extreme one first.
    pub values: Vec<f64>,
    /// The eigenvectors, as columns.
    pub vectors: GpuArray,
    /// The norms of the residuals.
    pub residuals: Vec<f64>,
    /// Whether all residuals are small enough; if not, the results are those of the iteration with the smallest
    /// residuals.
    pub is_converged: bool,
    /// The bound on residual norms.
    pub tolerance: f64,
    /// Number of iterations that changed the vectors.
    pub iterations: usize,
    /// Eigenvalues before each iteration and after the last one.
    pub value_history: Vec<Vec<f64>>,
    /// Norms of residuals before each iteration and after the last one.
    pub residual_history: Vec<Vec<f64>>,
}

/// Computes eigenvalues at one end of the spectrum of `problem`, and their eigenvectors, starting from the columns of
/// `x`; waits once per iteration. With fewer than five rows per column, the whole space is decomposed without
/// iterations.
///
/// # Errors
/// When shapes do not fit, columns of `x` are linearly dependent, operators produce infinities or NaN, or the device
/// fails.
pub fn lobpcg(
    ctx: &Arc<ArrayContext>,
    problem: &BlockProblem<'_>,
    x: &GpuArray,
    options: &LobpcgOptions,
) -> Result<LobpcgResult> {
    let [n, columns] = problem.a.shape();
    if n != columns {
        return Err(ArrayError::value_error(format!("expected square matrix (shape=({n}, {columns}))")));
    }
    let mut shapes =
        [("B", problem.b), ("M", problem.m)].into_iter().filter_map(|(name, op)| Some((name, op?.shape())));
    if let Some((name, [rows, columns])) = shapes.find(|(_, shape)| *shape != [n, n]) {
        return Err(ArrayError::value_error(format!("{name} has shape ({rows}, {columns}); expected ({n}, {n})")));
    }
    let n_constraints = problem.constraints.map_or(Ok(0), |y| block_columns("Y", y, n))?;
    let width = block_columns("X", x, n)?;
    if width == 0 || width + n_constraints > n {
        let message = format!("X has {width} columns; expected at least 1, and at most {}", n - n_constraints.min(n));
        return Err(ArrayError::value_error(message));
    }
    let dtype = vector_dtype(problem.a.dtype().promote(x.dtype()));
    let units = Units::from_problem(ctx, problem, dtype)?;
    let options = LobpcgOptions { tol: Some(units.tolerance(options, n, dtype)), ..*options };
    units.solve(problem, dtype, &options, |problem, options| solve(ctx, problem, x, options, dtype, n_constraints))
}

/// Sizes of operators, as powers of two.
struct Units {
    a: i32,
    /// Even, as vectors have half of it.
    b: i32,
    m: i32,
    /// The size of `A x - lambda B x` for vectors of length 1 in the product of `B`.
    size: f64,
}

impl Units {
    fn from_problem(ctx: &Arc<ArrayContext>, problem: &BlockProblem<'_>, dtype: DType) -> Result<Self> {
        let of_operator = |operator: Option<&dyn LinearOperator>| match operator {
            None => Ok((1.0, 0)),
            Some(operator) => operator_size(ctx, operator, dtype, true),
        };
        let [a, b, m] = [Some(problem.a), problem.b, problem.m].map(of_operator);
        let ((fraction, power), b, m) = (a?, b?, m?);
        let unit = |(size, power): (f64, i32)| if size > 0.0 { exponent(size) + power } else { power };
        let b = unit(b).div_euclid(2) * 2;
        Ok(Self { a: unit((fraction, power)), b, m: unit(m), size: times_power(fraction, power - b / 2) })
    }

    fn tolerance(&self, options: &LobpcgOptions, n: usize, dtype: DType) -> f64 {
        let eps = machine_epsilon(dtype);
        let smallest = n as f64 * (eps.sqrt() * self.size.min(1.0)).max(10.0 * eps * self.size);
        options.tol.filter(|&tol| tol > 0.0).unwrap_or(smallest)
    }

    /// What `solve` finds for the problem, or for the problem in these units where squares need it.
    fn solve(
        &self,
        problem: &BlockProblem<'_>,
        dtype: DType,
        options: &LobpcgOptions,
        solve: impl Fn(&BlockProblem<'_>, &LobpcgOptions) -> Result<LobpcgResult>,
    ) -> Result<LobpcgResult> {
        let range = Range::from_dtype(dtype);
        if [self.a, self.b, self.m].iter().all(|power| power.abs() <= range.moderate) {
            return solve(problem, options);
        }
        let scaled = |inner, power| Scaled { inner, power };
        let a = scaled(problem.a, -self.a);
        let b = problem.b.map(|b| scaled(b, -self.b));
        let m = problem.m.map(|m| scaled(m, -self.m));
        let problem = BlockProblem {
            a: &a,
            b: b.as_ref().map(|b| b as &dyn LinearOperator),
            m: m.as_ref().map(|m| m as &dyn LinearOperator),
            constraints: problem.constraints,
        };
        let (of_values, of_residuals) = (self.a - self.b, self.a - self.b / 2);
        let tol = options.tol.map(|tol| times_power(tol, -of_residuals));
        let mut found = solve(&problem, &LobpcgOptions { tol, ..*options })?;
        let rescale = |numbers: &mut Vec<f64>, power| numbers.iter_mut().for_each(|x| *x = times_power(*x, power));
        rescale(&mut found.values, of_values);
        rescale(&mut found.residuals, of_residuals);
        found.value_history.iter_mut().for_each(|numbers| rescale(numbers, of_values));
        found.residual_history.iter_mut().for_each(|numbers| rescale(numbers, of_residuals));
        found.tolerance = times_power(found.tolerance, of_residuals);
        multiply_by_power(&found.vectors, -self.b / 2)?;
        Ok(found)
    }
}

fn solve(
    ctx: &Arc<ArrayContext>,
    problem: &BlockProblem<'_>,
    x: &GpuArray,
    options: &LobpcgOptions,
    dtype: DType,
    n_constraints: usize,
) -> Result<LobpcgResult> {
    let &[n, width] = x.shape() else { return Err(ArrayError::value_error("X has no two axes")) };
    let block = Block::new(ctx, problem, [n, width], dtype)?;
    if n - n_constraints < 5 * width {
        let identity = HostMatrix::<f64>::identity(n).upload(ctx, dtype)?;
        return Block::new(ctx, problem, [n, n], dtype)?.run(
            &identity,
            width,
            &LobpcgOptions { max_iterations: 0, ..*options },
        );
    }
    block.run(&x.to_dtype(dtype)?, width, options)
}

fn block_columns(name: &str, block: &GpuArray, n: usize) -> Result<usize> {
    match *block.shape() {
        [rows, columns] if rows == n => Ok(columns),
        _ => {
            let shape = PythonTuple(block.shape());
            Err(ArrayError::value_error(format!("{name} has shape {shape}; expected {n} rows and two axes")))
        }
    }
}

/// Columns of a basis with their products: approximations, residuals, directions.
struct Block<'a> {
    ctx: Arc<ArrayContext>,
    problem: &'a BlockProblem<'a>,
    width: usize,
    dtype: DType,
    basis: GpuArray,
    /// `A` times the basis.
    image: GpuArray,
    /// `B` times the basis; the basis itself without `B`.
    metric: GpuArray,
    constraints: Option<Constraints>,
}

/// What takes the parts in the space of constraints `Y` out of vectors: `Y (Y^H B Y)^-1` and `(B Y)^H`.
struct Constraints {
    expand: GpuArray,
    project: GpuArray,
}

/// What an iteration reads.
struct Gram {
    norms: Vec<f64>,
    a: HostMatrix<Complex>,
    b: HostMatrix<Complex>,
}

impl<'a> Block<'a> {
    fn new(
        ctx: &Arc<ArrayContext>,
        problem: &'a BlockProblem<'a>,
        [n, width]: [usize; 2],
        dtype: DType,
    ) -> Result<Self> {
        let new = || GpuArray::empty(ctx, &[n, 3 * width], dtype, Order::C);
        let basis = new()?;
        let metric = if problem.b.is_some() { new()? } else { basis.clone() };
        let constraints = match problem.constraints {
            Some(y) if y.size() > 0 => Some(Constraints::new(ctx, problem, &y.to_dtype(dtype)?.to_contiguous()?)?),
            _ => None,
        };
        Ok(Self { ctx: ctx.clone(), problem, width, dtype, basis, image: new()?, metric, constraints })
    }

    /// Iterations from the columns of `x`; results are the first `count` columns.
    fn run(&self, x: &GpuArray, count: usize, options: &LobpcgOptions) -> Result<LobpcgResult> {
        let k = self.width;
        let eps = machine_epsilon(self.dtype);
        let tol = options.tol.unwrap_or(0.0);
        self.set(0, &self.constrained(x.to_contiguous()?)?)?;
        let gram = self.gram(k, None)?;
        let least = if count < k { count } else { k };
        let dependent = || ArrayError::value_error("Linearly dependent initial approximations");
        let (mut values, coefficients) = rayleigh_ritz(&gram, eps, options.is_largest, k)?
            .filter(|found| found.0.len() >= least)
            .ok_or_else(dependent)?;
        let (mut vectors, mut lambda) = self.update(k, &values, &coefficients)?;
        let mut found = LobpcgResult {
            values: Vec::new(),
            vectors: vectors.clone(),
            residuals: Vec::new(),
            is_converged: false,
            tolerance: tol,
            iterations: 0,
            value_history: Vec::new(),
            residual_history: Vec::new(),
        };
        let mut best = f64::INFINITY;
        for iteration in 0.. {
            check_interrupt()?;
            if iteration % ITERATIONS_PER_PRODUCT == ITERATIONS_PER_PRODUCT - 1 {
                self.set(0, &self.columns(&self.basis, 0, k)?.to_contiguous()?)?;
            }
            let residual = self.residual(&lambda)?;
            let norms = residual.vector_norm(2.0, Some(&[0]), false)?;
            let is_last = iteration >= options.max_iterations;
            let used = if iteration == 0 { 2 * k } else { 3 * k };
            if !is_last {
                self.set(k, &self.search_directions(residual)?)?;
            }
            let gram = self.gram(if is_last { 0 } else { used }, Some(&norms))?;
            let norms = gram.norms[..count].to_vec();
            let largest = norms.iter().copied().fold(0.0, f64::max);
            if norms.iter().any(|norm| !norm.is_finite()) {
                return Err(not_finite());
            }
            found.value_history.push(values[..count].to_vec());
            found.residual_history.push(norms.clone());
            found.iterations = iteration;
            if largest < best {
                best = largest;
                (found.values, found.vectors, found.residuals) = (values[..count].to_vec(), vectors.clone(), norms);
                found.is_converged = largest <= tol;
            }
            if is_last || found.is_converged {
                break;
            }
            let lost = || linear_algebra_error("lobpcg has lost its vectors; expected B to be positive definite");
            let next = rayleigh_ritz(&gram, eps, options.is_largest, k)?.filter(|next| next.0.len() == k);
            let coefficients;
            (values, coefficients) = next.ok_or_else(lost)?;
            (vectors, lambda) = self.update(used, &values, &coefficients)?;
        }
        found.vectors = self.columns(&found.vectors, 0, count)?.to_contiguous()?;
        Ok(found)
    }

    fn columns(&self, array: &GpuArray, begin: usize, count: usize) -> Result<GpuArray> {
        let [begin, end] = [begin, begin + count].map(|place| Some(place as isize));
        array.index(&[Index::from(..), Index::Slice(begin, end, None)])
    }

    /// Makes columns from `begin` on those of `block`, and their products.
    fn set(&self, begin: usize, block: &GpuArray) -> Result<()> {
        let width = block.shape()[1];
        self.columns(&self.basis, begin, width)?.assign(block)?;
        self.columns(&self.image, begin, width)?.assign(&self.problem.a.apply_block(block)?)?;
        match self.problem.b {
            Some(b) => self.columns(&self.metric, begin, width)?.assign(&b.apply_block(block)?),
            None => Ok(()),
        }
    }

    /// `A X - B X Lambda`, without what only the constraints hold: that never goes, and hides what is left to do.
    fn residual(&self, lambda: &GpuArray) -> Result<GpuArray> {
        let width = lambda.size();
        let scaled = self.columns(&self.metric, 0, width)?.binary(Op::Multiply, lambda)?;
        let residual = self.columns(&self.image, 0, width)?.binary(Op::Subtract, &scaled)?;
        match &self.constraints {
            None => Ok(residual),
            Some(Constraints { expand, project }) => {
                let held = adjoint_of(project)?.matmul(&adjoint_of(expand)?.matmul(&residual)?)?;
                residual.binary(Op::Subtract, &held)
            }
        }
    }

    /// Preconditioned residuals that are orthogonal to constraints and approximations.
    fn search_directions(&self, residual: GpuArray) -> Result<GpuArray> {
        let w = match self.problem.m {
            Some(m) => m.apply_block(&residual)?,
            None => residual,
        };
        let w = self.constrained(w)?;
        let along = adjoint_of(&self.columns(&self.metric, 0, self.width)?)?.matmul(&w)?;
        w.binary(Op::Subtract, &self.columns(&self.basis, 0, self.width)?.matmul(&along)?)
    }

    fn constrained(&self, x: GpuArray) -> Result<GpuArray> {
        match &self.constraints {
            None => Ok(x),
            Some(Constraints { expand, project }) => x.binary(Op::Subtract, &expand.matmul(&project.matmul(&x)?)?),
        }
    }

    /// The Gram matrices of the first `used` columns, and norms, in one read; waits.
    fn gram(&self, used: usize, norms: Option<&GpuArray>) -> Result<Gram> {
        let n_norms = norms.map_or(0, GpuArray::size);
        let packet = GpuArray::empty(&self.ctx, &[2 * used * used + n_norms], self.dtype, Order::C)?;
        let place = |begin: usize, count: usize| {
            packet.index(&[Index::Slice(Some(begin as isize), Some((begin + count) as isize), None)])
        };
        for (k, image) in [&self.image, &self.metric].into_iter().enumerate() {
            let gram = place(k * used * used, used * used)?.reshape(&[used as isize; 2], Order::C)?;
            self.assign_upper_blocks(&gram, image, used)?;
        }
        if let Some(norms) = norms {
            place(2 * used * used, n_norms)?.assign(norms)?;
        }
        let mut bytes = vec![0; packet.nbytes()];
        packet.read(&mut bytes, Order::C)?;
        let (matrices, norms) = bytes.split_at(2 * used * used * self.dtype.itemsize());
        let (a, b) = matrices.split_at(matrices.len() / 2);
        let width = if self.dtype.is_complex() { 2 } else { 1 };
        Ok(Gram {
            norms: read_numbers(norms, self.dtype.real_part()).into_iter().step_by(width).collect(),
            a: mirrored(HostMatrix::from_bytes(a, self.dtype, used)),
            b: mirrored(HostMatrix::from_bytes(b, self.dtype, used)),
        })
    }

    /// Writes products of columns, the latter behind the former, to `gram`: in blocks, because skinny products read the
    /// rows of many threads at once, and those of all columns are few tiles.
    fn assign_upper_blocks(&self, gram: &GpuArray, image: &GpuArray, used: usize) -> Result<()> {
        let range = |begin: usize| {
            let end = (begin + GRAM_COLUMNS).min(used);
            Index::Slice(Some(begin as isize), Some(end as isize), None)
        };
        for row in (0..used).step_by(GRAM_COLUMNS) {
            let adjoint = adjoint_of(&self.basis.index(&[Index::from(..), range(row)])?)?;
            for column in (row..used).step_by(GRAM_COLUMNS) {
                let product = adjoint.matmul(&image.index(&[Index::from(..), range(column)])?)?;
                gram.index(&[range(row), range(column)])?.assign(&product)?;
            }
        }
        Ok(())
    }

    /// Makes approximations of the first `used` columns, and directions of those among them that are no approximations;
    /// `coefficients` are rows. The approximations in memory of their own, and `values`: one copy brings all numbers to
    /// the device, before anything is enqueued.
    fn update(&self, used: usize, values: &[f64], coefficients: &HostMatrix<Complex>) -> Result<(GpuArray, GpuArray)> {
        let (k, made) = (self.width, values.len());
        let mut rows = coefficients.rows.clone();
        if used > k {
            for row in &coefficients.rows {
                rows.push([vec![Complex(0.0, 0.0); k].as_slice(), &row[k..]].concat());
            }
        }
        for (row, value) in rows.iter_mut().zip(values.iter().chain(values)) {
            row.push(Complex(*value, 0.0));
        }
        let numbers = HostMatrix { rows }.transposed().upload(&self.ctx, self.dtype)?;
        let factor = numbers.index(&[Index::Slice(None, Some(used as isize), None)])?;
        let lambda = numbers.index(&[Index::At(used as isize), Index::Slice(None, Some(made as isize), None)])?;
        let mut arrays = vec![&self.basis, &self.image];
        arrays.extend(self.problem.b.map(|_| &self.metric));
        let mut vectors = None;
        for array in arrays {
            let product = self.columns(array, 0, used)?.matmul(&factor)?;
            self.columns(array, 0, made)?.assign(&self.columns(&product, 0, made)?)?;
            if used > k {
                self.columns(array, 2 * k, made)?.assign(&self.columns(&product, made, made)?)?;
            }
            vectors.get_or_insert(product);
        }
        let vectors = vectors.unwrap_or_else(|| self.basis.clone());
        Ok((self.columns(&vectors, 0, made)?, lambda))
    }
}

impl Constraints {
    fn new(ctx: &Arc<ArrayContext>, problem: &BlockProblem<'_>, y: &GpuArray) -> Result<Self> {
        let project = match problem.b {
            Some(b) => adjoint_of(&b.apply_block(y)?)?.to_contiguous()?,
            None => adjoint_of(y)?.to_contiguous()?,
        };
        let gram = project.matmul(y)?;
        let mut bytes = vec![0; gram.nbytes()];
        gram.read(&mut bytes, Order::C)?;
        let (values, vectors) = hermitian_eigen(HostMatrix::<Complex>::from_bytes(&bytes, y.dtype(), y.shape()[1]))?;
        let most = values.last().copied().unwrap_or(0.0);
        if values[0] <= machine_epsilon(y.dtype()) * most {
            return Err(ArrayError::value_error("Linearly dependent constraints"));
        }
        // The inverse is the sum of x x^H / value.
        let mut scaled = vectors.clone();
        for (row, value) in scaled.rows.iter_mut().zip(&values) {
            row.iter_mut().for_each(|x| *x = x.scaled(1.0 / value));
        }
        let inverse = scaled.transposed().times_transpose(&vectors.conjugated().transposed());
        Ok(Self { expand: y.matmul(&inverse.upload(ctx, y.dtype())?)?, project })
    }
}

/// Up to `count` extreme values of the projected problem and rows of coefficients; less where columns are dependent.
/// `None` where no column has a length.
fn rayleigh_ritz(
    gram: &Gram,
    eps: f64,
    is_largest: bool,
    count: usize,
) -> Result<Option<(Vec<f64>, HostMatrix<Complex>)>> {
    let n = gram.b.rows.len();
    let lengths: Vec<f64> = (0..n).map(|k| gram.b.rows[k][k].0).collect();
    let scales: Vec<f64> = lengths.iter().map(|&x| if x > 0.0 { 1.0 / x.sqrt() } else { 0.0 }).collect();
    let mut scaled = gram.b.clone();
    for (row, &scale) in scaled.rows.iter_mut().zip(&scales) {
        row.iter_mut().zip(&scales).for_each(|(x, &other)| *x = x.scaled(scale * other));
    }
    let (sizes, mut directions) = hermitian_eigen(scaled)?;
    let least = sizes.last().copied().unwrap_or(0.0) * 10.0 * n as f64 * eps;
    let n_dropped = sizes.iter().filter(|&&size| size <= least).count();
    directions.rows.drain(..n_dropped);
    for (row, size) in directions.rows.iter_mut().zip(&sizes[n_dropped..]) {
        row.iter_mut().zip(&scales).for_each(|(x, &scale)| *x = x.scaled(scale / size.sqrt()));
    }
    if directions.rows.is_empty() {
        return Ok(None);
    }
    let images = directions.times_transpose(&gram.a);
    let projected = directions.conjugated().times_transpose(&images);
    let (mut values, mut vectors) = hermitian_eigen(mirrored(projected))?;
    if is_largest {
        values.reverse();
        vectors.rows.reverse();
    }
    values.truncate(count);
    vectors.rows.truncate(count);
    let coefficients = vectors.times_transpose(&directions.transposed());
    Ok(Some((values, coefficients)))
}

/// The Hermitian matrix that has the part above the diagonal.
fn mirrored(mut a: HostMatrix<Complex>) -> HostMatrix<Complex> {
    for i in 0..a.rows.len() {
        a.rows[i][i].1 = 0.0;
        for j in 0..i {
            a.rows[i][j] = a.rows[j][i].conj();
        }
    }
    a
}
