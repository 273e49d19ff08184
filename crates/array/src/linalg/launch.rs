//! Launches of the linear algebra kernels.

use crate::array::GpuArray;
use rtcg_codegen::array::{LINALG_THREADS, LinalgSpec, LinalgStep};
use rtcg_hal::{ArrayContext, ArrayError, DType, Kernel, LaunchArgs, Result};
use std::sync::Arc;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) enum KernelArg<'a> {
    Array(&'a GpuArray),
    /// No array where one may be.
    Null,
    Int(i32),
    Long(isize),
    /// A number of a real dtype.
    Real(DType, f64),
}

impl<'a> From<&'a GpuArray> for KernelArg<'a> {
    fn from(array: &'a GpuArray) -> Self {
        KernelArg::Array(array)
    }
}

impl<'a> From<Option<&'a GpuArray>> for KernelArg<'a> {
    fn from(array: Option<&'a GpuArray>) -> Self {
        array.map_or(KernelArg::Null, KernelArg::Array)
    }
}

/// Lengths are `int` in kernels; longer matrices were refused.
impl From<usize> for KernelArg<'_> {
    fn from(length: usize) -> Self {
        KernelArg::Int(length as i32)
    }
}

impl From<isize> for KernelArg<'_> {
    fn from(step: isize) -> Self {
        KernelArg::Long(step)
    }
}

impl From<bool> for KernelArg<'_> {
    fn from(flag: bool) -> Self {
        KernelArg::Int(flag.into())
    }
}

impl KernelArg<'_> {
    fn push_arg(self, args: &mut LaunchArgs) {
        match self {
            KernelArg::Array(array) => args.push_address(array.first_element_address(), 0),
            KernelArg::Null => args.push_address(0, 0),
            KernelArg::Int(number) => args.push_u32(number as u32),
            KernelArg::Long(number) => args.push_i64(number as i64),
            KernelArg::Real(DType::F32, number) => args.push(&(number as f32).to_ne_bytes(), 4),
            KernelArg::Real(_, number) => args.push(&number.to_ne_bytes(), 8),
        }
    }
}

/// A kernel that is about to be launched, perhaps many times.
pub(super) struct LinalgKernel {
    ctx: Arc<ArrayContext>,
    kernel: Arc<dyn Kernel>,
}

impl LinalgKernel {
    /// A kernel without further choices for matrices of `dtype`.
    pub(super) fn new(ctx: &Arc<ArrayContext>, dtype: DType, step: LinalgStep) -> Result<Self> {
        Self::compile_kernel(ctx, LinalgSpec::new(dtype, step))
    }

    pub(super) fn compile_kernel(ctx: &Arc<ArrayContext>, kernel: LinalgSpec) -> Result<Self> {
        Ok(Self { ctx: ctx.clone(), kernel: ctx.compiled_kernel(&kernel)? })
    }

    /// Enqueues it for `grid` blocks: matrices, and parts of them.
    pub(super) fn launch_2d(&self, grid: [usize; 2], block: [usize; 2], values: &[KernelArg<'_>]) -> Result<()> {
        self.launch_with_shared_bytes(grid, block, 0, values)
    }

    /// [`LinalgKernel::launch_2d`] with shared memory beside what the kernel declares.
    pub(super) fn launch_with_shared_bytes(
        &self,
        [matrices, parts]: [usize; 2],
        block: [usize; 2],
        shared_bytes: usize,
        values: &[KernelArg<'_>],
    ) -> Result<()> {
        self.pack_args_and_launch([matrices, parts, 1], block, shared_bytes, values)
    }

    /// [`LinalgKernel::launch_2d`] for parts of two axes.
    pub(super) fn launch_3d(&self, grid: [usize; 3], block: [usize; 2], values: &[KernelArg<'_>]) -> Result<()> {
        self.pack_args_and_launch(grid, block, 0, values)
    }

    /// Blocks that a cooperative launch may have, of so many threads and little shared memory; 0 if there are none.
    pub(super) fn cooperative_blocks(&self, threads: usize) -> Result<usize> {
        match self.ctx.device().cooperative() {
            Some(_) => Ok(self.kernel.resident_blocks(threads as u32, 0)? as usize),
            None => Ok(0),
        }
    }

    /// Enqueues it for blocks that wait for each other, at most [`LinalgKernel::cooperative_blocks`].
    pub(super) fn launch_cooperatively(
        &self,
        blocks: usize,
        threads: usize,
        shared_bytes: usize,
        values: &[KernelArg<'_>],
    ) -> Result<()> {
        let Some(cooperative) = self.ctx.device().cooperative() else {
            return Err(ArrayError::value_error("the device has no cooperative launches"));
        };
        let mut args = LaunchArgs::new();
        values.iter().for_each(|value| value.push_arg(&mut args));
        let [grid, block] = [blocks, threads].map(|length| [length as u32, 1, 1]);
        cooperative.launch(&*self.kernel, grid, block, shared_bytes as u32, false, args.view())
    }

    fn pack_args_and_launch(
        &self,
        grid: [usize; 3],
        block: [usize; 2],
        shared_bytes: usize,
        values: &[KernelArg<'_>],
    ) -> Result<()> {
        let mut args = LaunchArgs::new();
        values.iter().for_each(|value| value.push_arg(&mut args));
        if grid[0] > i32::MAX as usize {
            return Err(ArrayError::value_error(format!(
                "{} matrices are too many; expected at most {}",
                grid[0],
                i32::MAX
            )));
        }
        let [width, height] = block.map(|length| length as u32);
        let (grid, block) = (grid.map(|length| length as u32), [width, height, 1]);
        self.ctx.queue().launch(&self.kernel, grid, block, shared_bytes as u32, args.view())
    }
}

/// The usual block.
pub(super) const DEFAULT_BLOCK_DIM: [usize; 2] = [LINALG_THREADS as usize, 1];

/// Blocks for parts of `width` columns of `count` matrices; kernels go on from part to part if they are too few.
pub(super) fn batched_grid_dim(count: usize, columns: usize, width: usize) -> [usize; 2] {
    [count, columns.div_ceil(width).min(65535)]
}
