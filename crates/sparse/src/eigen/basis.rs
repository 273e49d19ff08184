//! An orthonormal basis on the device that grows by one vector at a time.
//!
//! A new vector is orthogonalised against all others by two passes of classical Gram-Schmidt, each of which is one
//! product with the whole basis (the kernels of GMRES), with sums in double precision. The host enqueues and does not
//! wait.

use crate::kernels::THREADS;
use crate::kernels::elements::sum_dtype;
use crate::launch::prepare_launch;
use crate::solver::{GmresSpec, GmresStep, StatePlaces, vector_prelude};
use rtcg_array::{GpuArray, Index, Order, array_args, push_optional};
use rtcg_hal::{ArrayContext, DType, KernelSpec, Launch, LaunchArgs, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// Vectors of one length, and what projections leave.
pub(super) struct Basis {
    pub(super) ctx: Arc<ArrayContext>,
    pub(super) dtype: DType,
    /// So many vectors, and one more, as rows.
    pub(super) size: usize,
    pub(super) vectors: GpuArray,
    /// The vector that is made orthogonal.
    pub(super) candidate: GpuArray,
    /// For each vector: its part in the direction of the last one, and the length of what was left.
    pub(super) scalars: GpuArray,
    length: usize,
    blocks: u32,
    /// GMRES's kernels begin with a state, which says here that iterations go on.
    state: GpuArray,
    parts: GpuArray,
    passes: [GpuArray; 2],
    norms: [GpuArray; 2],
    /// The launches that append vector `k + 1`, once they were made.
    steps: Vec<Vec<Launch>>,
}

impl Basis {
    pub(super) fn new(ctx: &Arc<ArrayContext>, size: usize, length: usize, dtype: DType) -> Result<Self> {
        let most = ctx.device_info().resident_blocks().max(1);
        let blocks = length.div_ceil(THREADS as usize).clamp(1, most);
        let new = |shape: &[usize], dtype| GpuArray::empty(ctx, shape, dtype, Order::C);
        let sum = sum_dtype(dtype);
        let state = GpuArray::zeros(ctx, &[2], DType::F64, Order::C)?;
        Ok(Self {
            ctx: ctx.clone(),
            dtype,
            size,
            vectors: new(&[size + 1, length], dtype)?,
            candidate: new(&[length], dtype)?,
            scalars: GpuArray::zeros(ctx, &[size + 1, 2], DType::F64, Order::C)?,
            length,
            blocks: blocks as u32,
            state,
            parts: new(&[size + 1, blocks], sum)?,
            passes: [new(&[size + 1], sum)?, new(&[size + 1], sum)?],
            norms: [new(&[blocks], DType::F64)?, new(&[blocks], DType::F64)?],
            steps: Vec::new(),
        })
    }

    /// A vector of the basis.
    pub(super) fn row(&self, k: usize) -> Result<GpuArray> {
        self.vectors.index(&[Index::At(k as isize)])
    }

    /// The first `count` vectors.
    pub(super) fn rows(&self, count: usize) -> Result<GpuArray> {
        self.vectors.index(&[Index::Slice(None, Some(count as isize), None)])
    }

    /// Appends the candidate to vectors `0..=k`; scalars go to row `k`.
    pub(super) fn append(&mut self, k: usize) -> Result<()> {
        while self.steps.len() <= k {
            let next = self.steps.len();
            self.steps.push(self.launches(next + 1, next)?);
        }
        Launch::enqueue_all(&self.steps[k], self.ctx.queue())
    }

    /// Makes vector `k` of the candidate, or of random numbers, orthogonal to vectors `0..k`; the last row of scalars has
    /// its length.
    pub(super) fn begin(&self, k: usize, random_seed: Option<u64>) -> Result<()> {
        if let Some(seed) = random_seed {
            let mut args = array_args(&[&self.candidate])?;
            args.push_i64(self.length as i64);
            args.push_u64(seed);
            let spec = BasisSpec { vector: self.dtype, step: BasisStep::Random };
            self.ctx.launch(&spec, self.blocks, THREADS, &args)?;
        }
        Launch::enqueue_all(&self.launches(k, self.size)?, self.ctx.queue())
    }

    /// Projects on so many vectors, twice, and makes the next one of what is left.
    fn launches(&self, columns: usize, scalar_row: usize) -> Result<Vec<Launch>> {
        let [first, second] = &self.passes;
        let [before, after] = &self.norms;
        let mut launches = Vec::new();
        // Without coefficients there is nothing to subtract, and without parts nothing to project on.
        for (h, parts, norms, sums) in [
            (None, Some(&self.parts), Some(before), Some(first)),
            (Some(first), Some(&self.parts), None, Some(second)),
            (Some(second), None, Some(after), None),
        ] {
            let mut args = array_args(&[&self.state, &self.candidate, &self.vectors])?;
            for array in [h, parts, norms] {
                push_optional(&mut args, array)?;
            }
            args.push_i64(self.length as i64);
            args.push_u32(columns as u32);
            launches.push(self.gmres_launch(GmresStep::Project, self.blocks, args)?);
            let Some(sums) = sums.filter(|_| columns > 0) else { continue };
            let mut args = array_args(&[&self.state, sums, &self.parts])?;
            args.push_u32(self.blocks);
            launches.push(self.gmres_launch(GmresStep::Sum, columns as u32, args)?);
        }
        let scalars = self.scalars.index(&[Index::At(scalar_row as isize)])?;
        let mut args = array_args(&[&self.candidate, &self.row(columns)?, first, second, before, after, &scalars])?;
        args.push_u32(self.blocks);
        args.push_u32(columns as u32);
        args.push_i64(self.length as i64);
        args.push(&(10.0 * machine_epsilon(self.dtype)).to_ne_bytes(), 8);
        let spec = BasisSpec { vector: self.dtype, step: BasisStep::Normalize };
        launches.push(prepare_launch(&self.ctx, &spec, self.blocks, args)?);
        Ok(launches)
    }

    fn gmres_launch(&self, step: GmresStep, blocks: u32, args: LaunchArgs) -> Result<Launch> {
        let places = StatePlaces { len: 2, inner: 1, ..StatePlaces::default() };
        prepare_launch(&self.ctx, &GmresSpec { vector: self.dtype, step, places }, blocks, args)
    }
}

/// The distance from 1 to the next number.
pub(super) fn machine_epsilon(dtype: DType) -> f64 {
    if dtype.real_part() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum BasisStep {
    /// `next = w / |w|`, or 0 where projections left nothing of `w`.
    Normalize,
    /// Numbers between -1 and 1 that `seed` decides.
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct BasisSpec {
    vector: DType,
    step: BasisStep,
}

impl KernelSpec for BasisSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.step {
            BasisStep::Normalize => "basis_normalize",
            BasisStep::Random => "basis_random",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = vector_prelude(self.vector);
        match self.step {
            BasisStep::Normalize => text.push_str(NORMALIZE),
            BasisStep::Random => {
                let number = match self.vector {
                    DType::C64 => {
                        "RT_PAIR_float((float)random_number(2 * i, seed), (float)random_number(2 * i + 1, seed))"
                    }
                    DType::C128 => "RT_PAIR_double(random_number(2 * i, seed), random_number(2 * i + 1, seed))",
                    _ => "(T)random_number(i, seed)",
                };
                text.push_str(&RANDOM.replace("NUMBER", number));
            }
        }
        text
    }
}

const NORMALIZE: &str = "\
RT_KERNEL basis_normalize(RT_GLOBAL const T *w, RT_GLOBAL T *next, RT_GLOBAL const D *first, RT_GLOBAL const D *second, RT_GLOBAL const double *before, RT_GLOBAL const double *after, RT_GLOBAL double *scalars, unsigned count, unsigned columns, unsigned long long n, double eps)
{
  const double length = sqrt(R_sum_of_parts(before, count)), rest = sqrt(R_sum_of_parts(after, count));
  const bool is_whole = rest <= eps * length;
  const T scale = T_from_R(is_whole ? 0 : 1 / rest);
  FOR_ELEMENTS(i, n) next[i] = T_mul(scale, w[i]);
  if (!IS_FIRST) return;
  scalars[0] = columns > 0 ? D_real(first[columns - 1]) + D_real(second[columns - 1]) : 0;
  scalars[1] = is_whole ? 0 : rest;
}
";

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
const RANDOM: &str = "\
RT_FUNCTION double random_number(unsigned long long i, unsigned long long seed)
{
  unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return (double)(z >> 11) * (2.0 / 9007199254740992.0) - 1;
}
RT_KERNEL basis_random(RT_GLOBAL T *w, unsigned long long n, unsigned long long seed)
{
  FOR_ELEMENTS(i, n) w[i] = NUMBER;
}
";
