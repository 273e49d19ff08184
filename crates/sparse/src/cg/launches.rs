//! The launches of an iteration, made once and repeated.

use super::workspace::Workspace;
use super::{CgOptions, Preconditioner, SolverMode};
use crate::kernels::cg::{CgSpec, CgStep, STOP_FLAG};
use crate::launch::{PreparedLaunch, push_arrays};
use crate::operator::LinearOperator;
use crate::{ArrayError, GpuArray, Result};
use rtcg_array::{LaunchableGraph, PackedKernelArgs};

/// Launches over the arrays of a workspace.
pub(super) struct Launches<'a> {
    workspace: &'a Workspace,
    a: &'a dyn LinearOperator,
    preconditioner: &'a Preconditioner<'a>,
    /// `q = A d` with a dot product in one kernel.
    product: Option<PreparedLaunch>,
    /// The dot product behind any other operator.
    product_dot: PreparedLaunch,
    /// The residual of a solution of zeros, and of any other.
    residual: [PreparedLaunch; 2],
    begin: PreparedLaunch,
    update: PreparedLaunch,
    preconditioner_dot: Option<PreparedLaunch>,
    direction: PreparedLaunch,
}

impl<'a> Launches<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        a: &'a dyn LinearOperator,
        preconditioner: &'a Preconditioner<'a>,
        options: &CgOptions,
    ) -> Result<Self> {
        let w = workspace;
        let product = match (a.as_csr(), &w.product) {
            (Some(csr), Some(spec)) => {
                Some(csr.prepare(spec, &w.d, &w.q, Some([&w.products, &w.state]), w.product_blocks)?)
            }
            _ => None,
        };
        let limit = options.max_iterations as f64;
        Ok(Self {
            workspace,
            a,
            preconditioner,
            product,
            product_dot: dot(w, &w.products, &w.d, &w.q)?,
            residual: [residual(w, None)?, residual(w, Some(&w.q))?],
            begin: new_direction(w, CgStep::Begin, &[options.rtol, options.atol, limit])?,
            update: update(w)?,
            preconditioner_dot: w.z.as_ref().map(|z| dot(w, &w.deltas, &w.r, z)).transpose()?,
            direction: new_direction(w, CgStep::Direction, &[limit])?,
        })
    }

    /// Enqueues the residual computed from the solution, and the state and direction that follow from it.
    pub(super) fn enqueue_begin(&self, is_zero: bool) -> Result<()> {
        let w = self.workspace;
        w.ctx.device_runtime().memset_zero(stop_address(w), 8)?;
        if !is_zero {
            self.a.apply(&w.x, &w.q)?;
        }
        self.residual[usize::from(!is_zero)].launch()?;
        self.enqueue_preconditioner()?;
        self.begin.launch()
    }

    /// Enqueues an iteration, which does nothing where the state says that iterations have stopped.
    pub(super) fn enqueue_iteration(&self) -> Result<()> {
        match &self.product {
            Some(product) => product.launch()?,
            None => {
                self.a.apply(&self.workspace.d, &self.workspace.q)?;
                self.product_dot.launch()?;
            }
        }
        self.update.launch()?;
        self.enqueue_preconditioner()?;
        self.direction.launch()
    }

    fn enqueue_preconditioner(&self) -> Result<()> {
        let w = self.workspace;
        if let (Preconditioner::Operator(m), Some(z), Some(dot)) = (self.preconditioner, &w.z, &self.preconditioner_dot)
        {
            m.apply(&w.r, z)?;
            dot.launch()?;
        }
        Ok(())
    }

    /// Whether an iteration is made of launches alone, so that it can be recorded.
    pub(super) fn is_recordable(&self) -> bool {
        (self.product.is_some() || self.a.is_recordable()) && self.workspace.z.is_none()
    }

    /// The graph of iterations that a mode launches.
    pub(super) fn record(&self, mode: SolverMode, check_every: usize) -> Result<Option<Box<dyn LaunchableGraph>>> {
        if mode == SolverMode::Stream {
            return Ok(None);
        }
        let error =
            |message: &str| Err(ArrayError::value_error(format!("mode: {message}; expected 'stream' or 'auto'")));
        let Some(graphs) = self.workspace.ctx.device_runtime().graphs() else {
            return error("the device has no graphs");
        };
        if !self.is_recordable() {
            return error("graphs need a csr_array or a dia_array, and no preconditioner but a diagonal one");
        }
        if mode == SolverMode::Device {
            return graphs.record_until(stop_address(self.workspace), &mut || self.enqueue_iteration()).map(Some);
        }
        graphs.record(&mut || (0..check_every).try_for_each(|_| self.enqueue_iteration())).map(Some)
    }
}

/// The address of the number that says whether iterations have stopped.
fn stop_address(w: &Workspace) -> u64 {
    w.state.first_element_address() + 8 * STOP_FLAG as u64
}

fn prepare(w: &Workspace, step: CgStep, args: ArgumentList) -> Result<PreparedLaunch> {
    let spec = CgSpec { vector: w.vector, preconditioner: w.preconditioner, step };
    PreparedLaunch::new(&w.ctx, &spec, w.blocks, args.0)
}

fn dot(w: &Workspace, partials: &GpuArray, u: &GpuArray, v: &GpuArray) -> Result<PreparedLaunch> {
    let args = ArgumentList::default().arrays(&[partials, u, v])?.length(w).arrays(&[&w.state])?;
    prepare(w, CgStep::Dot, args)
}

fn residual(w: &Workspace, q: Option<&GpuArray>) -> Result<PreparedLaunch> {
    let args = ArgumentList::default().arrays(&[&w.r, &w.b])?.optional(q)?.optional(w.m.as_ref())?;
    prepare(w, CgStep::Residual, args.arrays(&[&w.deltas, &w.norms])?.length(w))
}

fn update(w: &Workspace) -> Result<PreparedLaunch> {
    let args = ArgumentList::default().arrays(&[&w.x, &w.r, &w.d, &w.q])?.optional(w.m.as_ref())?;
    let args = args.arrays(&[&w.products])?.count(w.product_blocks).arrays(&[&w.deltas, &w.norms])?;
    prepare(w, CgStep::Update, args.length(w).arrays(&[&w.state])?)
}

/// The kernels that make a direction from the parts of a residual; `numbers` stand behind the state.
fn new_direction(w: &Workspace, step: CgStep, numbers: &[f64]) -> Result<PreparedLaunch> {
    let args = ArgumentList::default().arrays(&[&w.d, &w.r])?.optional(w.m.as_ref())?.optional(w.z.as_ref())?;
    let args = args.arrays(&[&w.deltas, &w.norms])?.count(w.blocks).length(w).arrays(&[&w.state])?;
    prepare(w, step, args.doubles(numbers).optional(w.history.as_ref())?)
}

/// Arguments of a kernel in their order.
#[derive(Default)]
struct ArgumentList(PackedKernelArgs);

impl ArgumentList {
    fn arrays(mut self, arrays: &[&GpuArray]) -> Result<Self> {
        push_arrays(&mut self.0, arrays)?;
        Ok(self)
    }

    /// An address that may be null.
    fn optional(mut self, array: Option<&GpuArray>) -> Result<Self> {
        let Some(array) = array else {
            self.0.push_u64(0);
            return Ok(self);
        };
        self.arrays(&[array])
    }

    fn length(mut self, w: &Workspace) -> Self {
        self.0.push_i64(w.b.size() as i64);
        self
    }

    fn count(mut self, count: u32) -> Self {
        self.0.push_u32(count);
        self
    }

    fn doubles(mut self, numbers: &[f64]) -> Self {
        numbers.iter().for_each(|number| self.0.push(&number.to_ne_bytes(), 8));
        self
    }
}
