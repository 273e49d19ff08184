//! A V-cycle of a multigrid hierarchy, as an operator that consists only of launches, so that graphs can contain it.
//!
//! Levels are built elsewhere. Smoothing is damped Jacobi: `x += m * (b - A x)`, where `m` is the damped inverse of the
//! diagonal. The coarsest system is multiplied by its inverse, which is also given as a matrix.

use crate::checks::check_vector;
use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::launch::prepare_launch;
use crate::operator::LinearOperator;
use crate::solver::vector_prelude;
use rtcg_array::{GpuArray, Order, array_args};
use rtcg_hal::{ArrayError, DType, KernelSpec, Launch, Result};
use std::borrow::Cow;

/// A level above the coarsest: its matrix, its prolongation and restriction, and the damped inverse of the diagonal.
#[derive(Debug)]
pub struct VCycleLevel {
    /// The matrix.
    pub a: Csr,
    /// Takes corrections from the next coarser level to this one.
    pub prolongation: Csr,
    /// Takes residuals from this level to the next coarser one.
    pub restriction: Csr,
    /// The damped inverse of the diagonal.
    pub smoother: GpuArray,
}

/// Vectors of a level.
#[derive(Debug)]
struct Vectors {
    product: GpuArray,
    residual: GpuArray,
    /// The right side and the solution of the next coarser level.
    coarse_right: GpuArray,
    coarse_solution: GpuArray,
}

/// A multigrid V-cycle.
#[derive(Debug)]
pub struct VCycle {
    levels: Vec<(VCycleLevel, Vectors)>,
    coarsest: Csr,
    sweeps: usize,
    shape: [usize; 2],
    dtype: DType,
}

impl VCycle {
    /// Makes a cycle with this many Jacobi sweeps before and after the coarse correction.
    ///
    /// # Errors
    /// When shapes or dtypes do not fit, or the device is out of memory.
    pub fn new(levels: Vec<VCycleLevel>, coarsest: Csr, sweeps: usize) -> Result<Self> {
        let dtype = coarsest.data().dtype();
        let finest = levels.first().map_or(&coarsest, |level| &level.a);
        let (shape, mut made) = (finest.shape(), Vec::new());
        let next = levels.iter().skip(1).map(|level| level.a.shape()).chain([coarsest.shape()]).collect::<Vec<_>>();
        for (level, [coarse, _]) in levels.into_iter().zip(next) {
            let n = level.a.shape()[0];
            let shapes = [level.a.shape(), level.prolongation.shape(), level.restriction.shape()];
            if shapes != [[n, n], [n, coarse], [coarse, n]] || level.smoother.dtype() != dtype {
                let message =
                    format!("levels: a level has matrices of shapes {shapes:?}; the next one has {coarse} rows");
                return Err(ArrayError::value_error(message));
            }
            check_vector("smoother", &level.smoother, n)?;
            let new = |n| GpuArray::empty(level.a.context(), &[n], dtype, Order::C);
            let (product, residual) = (new(n)?, new(n)?);
            let vectors = Vectors { product, residual, coarse_right: new(coarse)?, coarse_solution: new(coarse)? };
            made.push((level, vectors));
        }
        if sweeps == 0 {
            return Err(ArrayError::value_error("sweeps is 0; expected at least 1"));
        }
        Ok(Self { levels: made, coarsest, sweeps, shape, dtype })
    }

    /// The launches of the cycle from a level on: `x` becomes an approximation of the solution of the level's system.
    fn cycle(&self, depth: usize, b: &GpuArray, x: &GpuArray) -> Result<Vec<Launch>> {
        let Some((level, vectors)) = self.levels.get(depth) else {
            return product(&self.coarsest, b, x, false);
        };
        let Vectors { product: q, residual, coarse_right, coarse_solution } = vectors;
        let smooth = || -> Result<Vec<Launch>> {
            let mut launches = product(&level.a, x, q, false)?;
            launches.push(smoother(SmootherStep::Correct, [x, &level.smoother, b, q])?);
            Ok(launches)
        };
        let mut launches = vec![smoother(SmootherStep::Begin, [x, &level.smoother, b, b])?];
        for _ in 1..self.sweeps {
            launches.extend(smooth()?);
        }
        launches.extend(product(&level.a, x, q, false)?);
        launches.push(smoother(SmootherStep::Residual, [residual, &level.smoother, b, q])?);
        launches.extend(product(&level.restriction, residual, coarse_right, false)?);
        launches.extend(self.cycle(depth + 1, coarse_right, coarse_solution)?);
        launches.extend(product(&level.prolongation, coarse_solution, x, true)?);
        for _ in 0..self.sweeps {
            launches.extend(smooth()?);
        }
        Ok(launches)
    }
}

/// The launches of a product of vectors of the cycle, which are contiguous.
fn product(a: &Csr, x: &GpuArray, y: &GpuArray, accumulate: bool) -> Result<Vec<Launch>> {
    let launches = a.prepared_product(x, y, accumulate)?;
    launches.ok_or_else(|| ArrayError::value_error("levels: the format of a matrix multiplies by more than launches"))
}

fn smoother(step: SmootherStep, arrays: [&GpuArray; 4]) -> Result<Launch> {
    let (ctx, n) = (arrays[0].context(), arrays[0].size());
    let blocks = n.div_ceil(THREADS as usize).clamp(1, ctx.device_info().resident_blocks().max(1)) as u32;
    let mut args = array_args(&arrays)?;
    args.push_i64(n as i64);
    prepare_launch(ctx, &SmootherSpec { vector: arrays[0].dtype(), step }, blocks, args)
}

impl LinearOperator for VCycle {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        Launch::enqueue_all(&self.launches(x, y)?.unwrap_or_default(), x.context().queue())
    }

    fn launches(&self, x: &GpuArray, y: &GpuArray) -> Result<Option<Vec<Launch>>> {
        check_vector("x", x, self.shape[1])?;
        check_vector("y", y, self.shape[0])?;
        if [x.dtype(), y.dtype()] != [self.dtype; 2] {
            let message = format!("M: the hierarchy is of dtype {}, the vectors are of {}", self.dtype, x.dtype());
            return Err(ArrayError::type_error(message));
        }
        self.cycle(0, x, y).map(Some)
    }

    fn is_recordable(&self) -> bool {
        let of_level =
            |level: &VCycleLevel| [&level.a, &level.prolongation, &level.restriction].map(Csr::has_row_kernel);
        self.levels.iter().all(|(level, _)| of_level(level) == [true; 3]) && self.coarsest.has_row_kernel()
    }
}

/// Which kernel; parameters `x, m, b, q, n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SmootherStep {
    /// `x = m * b`.
    Begin,
    /// `x = b - q`.
    Residual,
    /// `x += m * (b - q)`.
    Correct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SmootherSpec {
    vector: DType,
    step: SmootherStep,
}

impl KernelSpec for SmootherSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "vcycle_smooth".into()
    }

    fn source(&self) -> String {
        let value = match self.step {
            SmootherStep::Begin => "T_mul(m[i], b[i])",
            SmootherStep::Residual => "T_sub(b[i], q[i])",
            SmootherStep::Correct => "T_mul_add(m[i], T_sub(b[i], q[i]), x[i])",
        };
        let parameters = "RT_GLOBAL T *x, RT_GLOBAL const T *m, RT_GLOBAL const T *b, RT_GLOBAL const T *q";
        format!(
            "{}RT_KERNEL vcycle_smooth({parameters}, unsigned long long n)\n{{\n  FOR_ELEMENTS(i, n) x[i] = {value};\n}}\n",
            vector_prelude(self.vector)
        )
    }
}
