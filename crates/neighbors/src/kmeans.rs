//! k-means by Lloyd's algorithm.
//!
//! Rows are assigned by products with centres, of which only the nearest centre is kept (`kmeans/assign.rs`); means are
//! reductions by label. Steps, stopping and clusters that become empty are those of scikit-learn, so that a start leads
//! to the same result, up to rounding. All sums have an order that depends on sizes alone.

mod assign;
mod seeding;

use crate::kernels::{KMeansSpec, KMeansStep, NEAREST_TILE, THREADS};
use crate::topk::topk;
pub(crate) use assign::AssignChoice;
use rtcg_array::{
    GpuArray, Index, Op, Order, PythonTuple, ReduceOptions, ReductionOp, Scalar, Statistic, array_args, category_sums,
    push_arrays, push_optional,
};
use rtcg_hal::{ArrayContext, ArrayError, DType, LaunchArgs, Result, WeakScalar};
use std::sync::Arc;

/// Where [`kmeans`] begins.
#[derive(Debug, Clone, Copy)]
pub enum KMeansInit<'a> {
    /// Rows that are far from each other: greedy k-means++ (Arthur and Vassilvitskii, 2007), with 2 + ln k candidates for
    /// each centre.
    PlusPlus,
    /// Rows at random, with probabilities by weight.
    Random,
    /// These centres, of shape (k, d).
    Centers(&'a GpuArray),
}

/// Options of [`kmeans`].
#[derive(Debug, Clone, Copy)]
pub struct KMeansOptions<'a> {
    /// The first centres.
    pub init: KMeansInit<'a>,
    /// The number of starts, of which the best result is returned.
    pub n_init: usize,
    /// The most iterations of a start.
    pub max_iter: usize,
    /// A start ends when the sum of the squared shifts of centres is at most this times the mean variance of columns.
    pub tol: f64,
    /// The dtype of rows: float16, float32 or float64. By default the narrowest that has the elements exactly, or float64.
    pub dtype: Option<DType>,
    /// Weights of rows, not negative.
    pub weights: Option<&'a GpuArray>,
    /// Determines random choices.
    pub seed: u64,
}

impl Default for KMeansOptions<'_> {
    fn default() -> Self {
        Self { init: KMeansInit::PlusPlus, n_init: 1, max_iter: 300, tol: 1e-4, dtype: None, weights: None, seed: 0 }
    }
}

/// Rows of a block that sums squared deviations, at least, and these blocks, at most.
const MIN_SPREAD_ROWS: usize = 256;
const MAX_SPREAD_BLOCKS: usize = 1024;

/// What [`kmeans`] returns.
#[derive(Debug, Clone)]
pub struct KMeans {
    /// Shape (k, d); float64 for rows of float64, else float32.
    pub centers: GpuArray,
    /// The nearest centre of each row, int32.
    pub labels: GpuArray,
    /// The sum of the squared distances of rows from their centres, times their weights.
    pub inertia: f64,
    /// Iterations of the start that was best.
    pub n_iter: usize,
}

/// Rows as kernels take them.
struct Problem {
    /// Of float16 they are padded to multiples of eight columns.
    rows: GpuArray,
    /// What was subtracted from columns so that products are not much larger than distances.
    origin: Option<GpuArray>,
    weights: Option<GpuArray>,
    k: usize,
    /// Columns without padding.
    d: usize,
    /// Shifts at which a start ends.
    min_shift: f64,
    /// How rows are assigned.
    kernel: &'static str,
}

/// Centres, and what is made of them for products.
struct Centers {
    centers: GpuArray,
    bias: GpuArray,
    operand: GpuArray,
}

/// Divides rows into `k` clusters with centres near them. Waits, once each iteration.
///
/// # Errors
/// When `x` is no matrix of at least `k` rows of finite real numbers, or options do not fit.
pub fn kmeans(x: &GpuArray, k: usize, options: &KMeansOptions<'_>) -> Result<KMeans> {
    let problem = Problem::new(x, k, options)?;
    let mut random = seeding::Random(options.seed);
    let mut best: Option<KMeans> = None;
    for _ in 0..options.n_init {
        let start = match options.init {
            KMeansInit::PlusPlus => problem.plus_plus(&mut random)?,
            KMeansInit::Random => problem.random_rows(&mut random)?,
            KMeansInit::Centers(centers) => problem.given_centers(centers)?,
        };
        let found = problem.iterate(start, options.max_iter)?;
        if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
            best = Some(found);
        }
    }
    let best = best.ok_or_else(|| ArrayError::value_error("n_init is 0; expected at least 1"))?;
    Ok(KMeans { centers: problem.result_centers(&best.centers)?, ..best })
}

fn columns(first: usize, end: usize) -> [Index; 2] {
    [Index::Ellipsis, Index::Slice(Some(first as isize), Some(end as isize), None)]
}

fn read_f64(array: &GpuArray) -> Result<Vec<f64>> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C)?;
    Ok(bytes.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect())
}

/// Checks the weights of rows, and returns them in a dtype. Waits.
fn checked_weights(weights: &GpuArray, n: usize, dtype: DType) -> Result<GpuArray> {
    weights.require_real("weights")?;
    if weights.shape() != [n] {
        let shape = PythonTuple(weights.shape());
        return Err(ArrayError::value_error(format!("weights has shape {shape}; expected ({n},)")));
    }
    let wide = weights.to_dtype(DType::F64)?;
    let number = |op| wide.reduce(op, ReduceOptions::default()).and_then(|found| read_f64(&found));
    let (least, total) = (number(ReductionOp::Minimum)?[0], number(ReductionOp::Sum)?[0]);
    if !(least >= 0.0 && total > 0.0 && total.is_finite()) {
        return Err(ArrayError::value_error(format!(
            "weights have a minimum of {least} and a sum of {total}; expected finite numbers of at least 0, and a sum above 0"
        )));
    }
    weights.to_dtype(dtype)?.to_contiguous()
}

impl Problem {
    fn new(x: &GpuArray, k: usize, options: &KMeansOptions<'_>) -> Result<Self> {
        let dtype = match options.dtype {
            Some(dtype) if !matches!(dtype, DType::F16 | DType::F32 | DType::F64) => {
                return Err(ArrayError::type_error(format!("dtype is {dtype}; expected float16, float32 or float64")));
            }
            Some(dtype) => {
                x.require_real("x")?;
                dtype
            }
            None => x.real_float_dtype("x")?,
        };
        let &[n, d] = x.shape() else {
            let shape = PythonTuple(x.shape());
            return Err(ArrayError::value_error(format!(
                "x has shape {shape}; expected two axes, a vector in each row"
            )));
        };
        if d == 0 || k == 0 || k > n || k > i32::MAX as usize {
            return Err(ArrayError::value_error(format!(
                "k is {k} for x of shape ({n}, {d}); expected at least one column, and from 1 to as many clusters as rows"
            )));
        }
        if options.tol.is_nan() || options.tol < 0.0 {
            return Err(ArrayError::value_error(format!("tol is {}; expected at least 0", options.tol)));
        }
        let computed = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let weights = options.weights.map(|weights| checked_weights(weights, n, computed)).transpose()?;
        let rows = x.to_dtype(dtype)?.to_contiguous()?;
        let by_column = ReduceOptions { axes: Some(&[0]), dtype: Some(DType::F64), ..ReduceOptions::default() };
        let mean = rows.reduce_statistic(Statistic::Mean, 0.0, by_column)?;
        let variance = variances(&rows, &mean)?;
        let means = read_f64(&mean)?;
        if let Some(column) = means.iter().zip(&variance).position(|(m, v)| !m.is_finite() || !v.is_finite()) {
            return Err(ArrayError::value_error(format!(
                "x[:, {column}] has NaN or infinity as {dtype}, or numbers whose squares overflow; expected finite numbers"
            )));
        }
        let spread: f64 = variance.iter().sum();
        // Products of rows far from 0 lose what distinguishes their distances. Float16 is exact in products.
        let is_far = means.iter().map(|m| m * m).sum::<f64>() > spread / 16.0;
        let origin = (is_far && dtype != DType::F16).then(|| mean.to_dtype(dtype)).transpose()?;
        let rows = match &origin {
            Some(origin) => rows.binary(Op::Subtract, origin)?,
            None => rows,
        };
        let rows = if dtype == DType::F16 { padded(&rows, d.next_multiple_of(8))? } else { rows };
        let kernel = assign::choose_kernel(&rows, k);
        Ok(Self { rows, origin, weights, k, d, min_shift: options.tol * spread / d as f64, kernel })
    }

    fn ctx(&self) -> &Arc<ArrayContext> {
        self.rows.context()
    }

    fn n(&self) -> usize {
        self.rows.shape()[0]
    }

    /// Columns with padding.
    fn width(&self) -> usize {
        self.rows.shape()[1]
    }

    /// The dtype of centres.
    fn computed(&self) -> DType {
        if self.rows.dtype() == DType::F64 { DType::F64 } else { DType::F32 }
    }

    fn empty(&self, shape: &[usize], dtype: DType) -> Result<GpuArray> {
        GpuArray::empty(self.ctx(), shape, dtype, Order::C)
    }

    fn spec(&self, step: KMeansStep) -> KMeansSpec {
        KMeansSpec { dtype: self.rows.dtype(), dimensions: self.width(), step }
    }

    fn launch(&self, step: KMeansStep, work: usize, args: &LaunchArgs) -> Result<()> {
        let blocks = self.ctx().device_info().grid_block_count(work);
        self.ctx().launch(&self.spec(step), blocks, THREADS, args)
    }

    fn given_centers(&self, centers: &GpuArray) -> Result<GpuArray> {
        if centers.shape() != [self.k, self.d] {
            let shape = PythonTuple(centers.shape());
            return Err(ArrayError::value_error(format!("init has shape {shape}; expected ({}, {})", self.k, self.d)));
        }
        centers.require_real("init")?;
        self.rows.check_context(centers)?;
        let wide = centers.to_dtype(DType::F64)?;
        let sum = read_f64(&wide.reduce(ReductionOp::Sum, ReduceOptions::default())?)?[0];
        if !sum.is_finite() {
            return Err(ArrayError::value_error("init has NaN or infinity; expected finite numbers"));
        }
        let wide = match &self.origin {
            Some(origin) => wide.binary(Op::Subtract, origin)?,
            None => wide,
        };
        padded(&wide.to_dtype(self.computed())?.to_contiguous()?, self.width())
    }

    fn result_centers(&self, centers: &GpuArray) -> Result<GpuArray> {
        let centers = centers.index(&columns(0, self.d))?;
        match &self.origin {
            Some(origin) => centers.binary(Op::Add, origin),
            None => centers.to_contiguous(),
        }
    }

    /// Lloyd's iterations.
    fn iterate(&self, start: GpuArray, max_iter: usize) -> Result<KMeans> {
        let labels = self.empty(&[self.n()], DType::I32)?;
        labels.fill(Scalar::Weak(WeakScalar::Int(-1)))?;
        let changed = self.empty(&[1], DType::U32)?;
        let (mut now, _) = self.centers(&start, None, &changed)?;
        let (mut is_done, mut n_iter) = (false, 0);
        while n_iter < max_iter {
            n_iter += 1;
            self.assign(&now, &labels, &changed)?;
            let (next, state) = self.update(&now, &labels, &changed)?;
            now = next;
            is_done = state[2 * self.k] == 0.0;
            if is_done || state[..self.k].iter().sum::<f64>() <= self.min_shift {
                break;
            }
        }
        if !is_done {
            self.assign(&now, &labels, &changed)?;
        }
        let inertia = self.inertia(&now, &labels)?;
        Ok(KMeans { centers: now.centers, labels, inertia, n_iter })
    }

    /// The means of clusters, and the state of the iteration. Waits.
    fn update(&self, now: &Centers, labels: &GpuArray, changed: &GpuArray) -> Result<(Centers, Vec<f64>)> {
        let [sums, weights] = category_sums(&self.rows, labels, self.k, self.computed(), self.weights.as_ref())?;
        let found = self.centers(&now.centers, Some([&sums, &weights]), changed)?;
        let state = read_f64(&found.1)?;
        let empty: Vec<i64> = (0..self.k).filter(|&j| state[self.k + j] == 0.0).map(|j| j as i64).collect();
        if empty.is_empty() || !self.relocate(&empty, now, labels, [&sums, &weights])? {
            return Ok((found.0, state));
        }
        let (found, state) = self.centers(&now.centers, Some([&sums, &weights]), changed)?;
        let state = read_f64(&state)?;
        Ok((found, state))
    }

    /// Centres from sums and weights, or the given ones, in the forms that products take, with their state.
    fn centers(&self, old: &GpuArray, sums: Option<[&GpuArray; 2]>, changed: &GpuArray) -> Result<(Centers, GpuArray)> {
        let shape = [self.k, self.width()];
        let is_tensor = assign::is_tensor(self.kernel);
        let spec = self.spec(KMeansStep::Centers { has_sums: sums.is_some(), is_tensor });
        let padded = if is_tensor { self.k.next_multiple_of(NEAREST_TILE) } else { self.k };
        let operand = match self.rows.dtype() {
            DType::F16 if !is_tensor => self.empty(&shape, DType::F16)?,
            _ if is_tensor => self.empty(&[padded, spec.nearest_columns()[1]], DType::U16)?,
            _ => self.empty(&[shape[1], shape[0]], self.computed())?,
        };
        let found = Centers {
            centers: self.empty(&shape, self.computed())?,
            bias: self.empty(&[padded], self.computed())?,
            operand,
        };
        let state = self.empty(&[2 * self.k + 1], DType::F64)?;
        let mut args = array_args(&[&found.centers, &found.bias, &found.operand, &state])?;
        for place in 0..2 {
            push_optional(&mut args, sums.map(|sums| sums[place]))?;
        }
        push_arrays(&mut args, &[old, changed])?;
        args.push_u32(self.k as u32);
        self.ctx().launch(&spec, padded as u32, THREADS, &args)?;
        Ok((found, state))
    }

    /// Moves the rows that are farthest from their centres into clusters without rows; whether there are such rows. Waits.
    fn relocate(&self, empty: &[i64], now: &Centers, labels: &GpuArray, sums: [&GpuArray; 2]) -> Result<bool> {
        let distances = self.distances(&now.centers, labels, false)?;
        let [farthest, far] = topk(&distances, empty.len(), true)?;
        let farthest = read_f64(&farthest.index(&[Index::Slice(None, Some(1), None)])?.to_dtype(DType::F64)?)?;
        if farthest[0] == 0.0 {
            return Ok(false);
        }
        let targets = self.empty(&[empty.len()], DType::I64)?;
        targets.write(&empty.iter().flat_map(|j| j.to_ne_bytes()).collect::<Vec<_>>(), Order::C)?;
        let mut args = array_args(&[sums[0], sums[1], &self.rows])?;
        push_optional(&mut args, self.weights.as_ref())?;
        push_arrays(&mut args, &[labels, &far, &targets])?;
        args.push_u32(empty.len() as u32);
        self.ctx().launch(&self.spec(KMeansStep::Relocate), 1, THREADS, &args)?;
        Ok(true)
    }

    fn inertia(&self, now: &Centers, labels: &GpuArray) -> Result<f64> {
        let distances = self.distances(&now.centers, labels, true)?;
        let distances = match &self.weights {
            Some(weights) => distances.binary(Op::Multiply, &weights.to_dtype(DType::F64)?)?,
            None => distances,
        };
        Ok(read_f64(&distances.reduce(ReductionOp::Sum, ReduceOptions::default())?)?[0])
    }

    /// The squared distance of each row from its centre.
    fn distances(&self, centers: &GpuArray, labels: &GpuArray, is_double: bool) -> Result<GpuArray> {
        let out = self.empty(&[self.n()], if is_double { DType::F64 } else { self.computed() })?;
        let mut args = array_args(&[&out, &self.rows, centers, labels])?;
        push_optional(&mut args, None)?;
        args.push_u32(1);
        push_optional(&mut args, None)?;
        args.push_u64(self.n() as u64);
        self.launch(KMeansStep::Distances { is_double }, self.n() * self.width().min(32), &args)?;
        Ok(out)
    }
}

/// The variances of columns with these means. Waits.
fn variances(rows: &GpuArray, means: &GpuArray) -> Result<Vec<f64>> {
    let (ctx, [n, d]) = (rows.context(), [rows.shape()[0], rows.shape()[1]]);
    // A number that does not depend on the device.
    let blocks = n.div_ceil(MIN_SPREAD_ROWS).min(MAX_SPREAD_BLOCKS);
    let sums = GpuArray::empty(ctx, &[blocks, d], DType::F64, Order::C)?;
    let mut args = array_args(&[&sums, rows, means])?;
    args.push_u64(n as u64);
    let spec = KMeansSpec { dtype: rows.dtype(), dimensions: d, step: KMeansStep::Spread };
    ctx.launch(&spec, blocks as u32, THREADS, &args)?;
    let total = sums.reduce(ReductionOp::Sum, ReduceOptions { axes: Some(&[0]), ..ReduceOptions::default() })?;
    Ok(read_f64(&total)?.iter().map(|sum| sum / n as f64).collect())
}

/// A copy of rows with columns of zeros behind them, or the rows themselves if there are none.
fn padded(rows: &GpuArray, width: usize) -> Result<GpuArray> {
    let &[n, d] = rows.shape() else { return Ok(rows.clone()) };
    if d == width {
        return Ok(rows.clone());
    }
    let all = GpuArray::zeros(rows.context(), &[n, width], rows.dtype(), Order::C)?;
    all.index(&columns(0, d))?.assign(rows)?;
    Ok(all)
}
