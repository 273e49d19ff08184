//! Conjugate gradients (Hestenes and Stiefel 1952) whose scalars stay on the device.
//!
//! An iteration is three kernels where the operator is a matrix of this crate: `q = A d` with parts of `d . q`; the
//! update of solution and residual with parts of `r . z`; the next direction. Kernels do nothing once one of them has
//! found that the residual is small enough, so that iterations may be enqueued before anybody knows of it: the host
//! polls for the state, and does not wait in the loop.

mod launches;
mod solve;
mod state_reader;
mod workspace;

use crate::operator::LinearOperator;
use crate::{GpuArray, Result};
use launches::Launches;
use std::fmt;
use workspace::Workspace;

/// What is called after each iteration with the solution so far.
pub type CgCallback<'a> = &'a mut dyn FnMut(&GpuArray) -> Result<()>;

/// How iterations reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverMode {
    /// `Graph` where the device has graphs and nothing has to be called on the host, else `Stream`.
    Auto,
    /// Kernels are launched one by one.
    Stream,
    /// Groups of iterations are launched as a graph.
    Graph,
    /// All iterations are one graph with a loop, which the device leaves by itself.
    Device,
}

/// What conjugate gradients are asked for.
#[derive(Debug, Clone, Copy)]
pub struct CgOptions {
    /// The residual has to be smaller than this part of the right side.
    pub rtol: f64,
    /// The residual has to be smaller than this, or than what `rtol` says.
    pub atol: f64,
    /// The most iterations.
    pub max_iterations: usize,
    /// Iterations between two looks at the state.
    pub check_every: usize,
    /// How iterations reach the device.
    pub mode: SolverMode,
    /// Residuals of all iterations are kept.
    pub history: bool,
}

/// What is applied to residuals.
pub enum Preconditioner<'a> {
    /// Nothing.
    Identity,
    /// The product with a vector, element by element.
    Diagonal(GpuArray),
    /// An operator.
    Operator(&'a dyn LinearOperator),
}

impl fmt::Debug for Preconditioner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "Identity",
            Self::Diagonal(_) => "Diagonal",
            Self::Operator(_) => "Operator",
        })
    }
}

/// Why iterations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The residual, computed from the solution, is small enough.
    Converged,
    /// As many iterations as were allowed.
    MaxIterations,
    /// The recurrence says that the residual is small enough, the residual computed from the solution is not, and
    /// beginning anew makes it no smaller: the solution is as good as rounding lets it be.
    Stagnated,
    /// `d . A d` was 0 or not finite, or the residual was not finite.
    Breakdown,
}

/// What was computed, and how.
#[derive(Debug)]
pub struct CgReport {
    /// The solution.
    pub x: GpuArray,
    /// Why iterations ended.
    pub reason: StopReason,
    /// Iterations that changed the solution.
    pub iterations: usize,
    /// Iterations that were enqueued behind them, and did nothing.
    pub wasted_iterations: usize,
    /// How often iterations began anew, from a residual computed from the solution.
    pub restarts: usize,
    /// How often the host waited for the device in the loop: 0 where it has reads that do not wait.
    pub waits_in_loop: usize,
    /// How often the host waited at the end.
    pub waits_at_end: usize,
    /// The norm of the residual, computed from the solution.
    pub residual: f64,
    /// The norm of the residual as the recurrence had it at the end.
    pub recurrence_residual: f64,
    /// What the residual had to be less than.
    pub threshold: f64,
    /// Directions with `d . A d < 0`: the operator is not positive definite.
    pub negative_curvature: usize,
    /// How iterations reached the device.
    pub mode: SolverMode,
    /// Norms of residuals, one for each iteration and the one at the beginning.
    pub history: Option<Vec<f64>>,
}

/// Solves `A x = b` for a Hermitian positive definite `A`, beginning at `x0` or at 0. The vectors have the dtype of `b`.
///
/// # Errors
/// When shapes or dtypes do not fit, the device fails, or a mode needs what it does not have.
pub fn cg(
    a: &dyn LinearOperator,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    preconditioner: &Preconditioner<'_>,
    options: &CgOptions,
    callback: Option<CgCallback<'_>>,
) -> Result<CgReport> {
    let workspace = Workspace::new(a, b, x0, preconditioner, options)?;
    let launches = Launches::new(&workspace, a, preconditioner, options)?;
    solve::Solver { workspace: &workspace, launches: &launches, options }.solve(x0.is_some(), callback)
}
