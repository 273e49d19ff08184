//! Launches of the kernels of linear algebra.

use crate::array::GpuArray;
use crate::error::{ArrayError, Result};
use crate::launch::Args;
use crate::runtime::{ArrayContext, Kernel};
use rtcg_codegen::DType;
use rtcg_codegen::array::{ArrayKernel, LINALG_STRIP_THREADS, LINALG_THREADS, Linalg, LinalgStep};
use std::sync::Arc;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Array(&'a GpuArray),
    /// No array where one may be.
    Nothing,
    Int(i32),
    Long(isize),
    /// A number of a real dtype.
    Real(DType, f64),
}

impl<'a> From<&'a GpuArray> for Value<'a> {
    fn from(array: &'a GpuArray) -> Self {
        Value::Array(array)
    }
}

impl<'a> From<Option<&'a GpuArray>> for Value<'a> {
    fn from(array: Option<&'a GpuArray>) -> Self {
        array.map_or(Value::Nothing, Value::Array)
    }
}

/// Lengths are `int` in kernels; longer matrices were refused.
impl From<usize> for Value<'_> {
    fn from(length: usize) -> Self {
        Value::Int(length as i32)
    }
}

impl From<isize> for Value<'_> {
    fn from(step: isize) -> Self {
        Value::Long(step)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Int(flag.into())
    }
}

impl Value<'_> {
    fn push(self, args: &mut Args) {
        match self {
            Value::Array(array) => args.push_u64(array.start()),
            Value::Nothing => args.push_u64(0),
            Value::Int(number) => args.push_u32(number as u32),
            Value::Long(number) => args.push_i64(number as i64),
            Value::Real(DType::F32, number) => args.push(&(number as f32).to_ne_bytes(), 4),
            Value::Real(_, number) => args.push(&number.to_ne_bytes(), 8),
        }
    }
}

/// A kernel that is about to be launched, perhaps many times.
pub(super) struct Step(Arc<dyn Kernel>);

impl Step {
    /// A kernel without further choices for matrices of `dtype`.
    pub(super) fn new(ctx: &ArrayContext, dtype: DType, step: LinalgStep) -> Result<Self> {
        Self::of(ctx, Linalg::new(dtype, step))
    }

    pub(super) fn of(ctx: &ArrayContext, kernel: Linalg) -> Result<Self> {
        ctx.kernel(&ArrayKernel::Linalg(kernel)).map(Self)
    }

    /// Enqueues it for `grid` blocks: matrices, and parts of them.
    pub(super) fn launch(&self, grid: [usize; 2], block: [usize; 2], values: &[Value<'_>]) -> Result<()> {
        self.launch_with(grid, block, 0, values)
    }

    /// [`Step::launch`] with shared memory beside what the kernel declares.
    pub(super) fn launch_with(
        &self,
        [matrices, parts]: [usize; 2],
        block: [usize; 2],
        shared_bytes: usize,
        values: &[Value<'_>],
    ) -> Result<()> {
        self.launch_all([matrices, parts, 1], block, shared_bytes, values)
    }

    /// [`Step::launch`] for parts of two axes.
    pub(super) fn launch_tiles(&self, grid: [usize; 3], block: [usize; 2], values: &[Value<'_>]) -> Result<()> {
        self.launch_all(grid, block, 0, values)
    }

    fn launch_all(&self, grid: [usize; 3], block: [usize; 2], shared_bytes: usize, values: &[Value<'_>]) -> Result<()> {
        let mut args = Args::new();
        values.iter().for_each(|value| value.push(&mut args));
        if grid[0] > i32::MAX as usize {
            return Err(ArrayError::value(format!("{} matrices are too many; expected at most {}", grid[0], i32::MAX)));
        }
        let [width, height] = block.map(|length| length as u32);
        self.0.launch(grid.map(|length| length as u32), [width, height, 1], shared_bytes as u32, args.bytes())
    }
}

/// Whether threads are lanes of a processor's vectors, which run best without shuffles and with few registers.
pub(super) fn are_lanes(a: &GpuArray) -> bool {
    a.context().facts().are_lanes()
}

/// How panels are cut into strips of columns, which threads hold in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strips {
    pub threads: usize,
    /// Rows of a thread.
    pub rows: usize,
    pub width: usize,
}

impl Strips {
    /// For panels of `m` rows; none if those are too many, or threads are lanes of vectors.
    pub(super) fn new(a: &GpuArray, m: usize) -> Option<Self> {
        if are_lanes(a) {
            return None;
        }
        let threads = m.next_power_of_two().clamp(32, LINALG_STRIP_THREADS);
        let rows = m.div_ceil(threads).next_power_of_two();
        let width = Linalg::strip_width(a.dtype(), rows);
        (width > 0).then_some(Self { threads, rows, width })
    }

    /// The kernel that does a step for strips.
    pub(super) fn step(self, a: &GpuArray, step: LinalgStep) -> Result<Step> {
        Step::of(a.context(), Linalg { group: self.rows as u16, ..Linalg::new(a.dtype(), step) })
    }
}

/// The usual block.
pub(super) const BLOCK: [usize; 2] = [LINALG_THREADS as usize, 1];

/// Blocks for parts of `width` columns of `count` matrices; kernels go on from part to part if they are too few.
pub(super) fn parts(count: usize, columns: usize, width: usize) -> [usize; 2] {
    [count, columns.div_ceil(width).min(65535)]
}
