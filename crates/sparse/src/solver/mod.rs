//! Iterative solvers whose scalars stay on the device.
//!
//! A solver (`method.rs`, and `methods.rs` for all of them) is a program (`program.rs`): what it computes at the start,
//! in an iteration and at the end. The program is fused into as few kernels as its sums allow (`fusion.rs`), whose
//! source is generated for the dtype of vectors (`kernel.rs`). Kernels do nothing once one of them has found that the
//! residual is small enough, so iterations can be enqueued before the host knows of it: the host polls the state, and
//! does not wait in the loop (`drive.rs`). Several right-hand sides are block rows of the same kernels' grids, each of
//! which does nothing once its own iterations have stopped. A result that is in doubt because numbers are far from 1 is
//! recomputed in other units (`rescale.rs`).

mod drive;
mod expression;
mod fusion;
mod gmres;
mod gmres_kernels;
mod kernel;
mod launches;
mod least_squares;
mod method;
mod methods;
mod modes;
mod nonsymmetric;
mod persistent;
mod program;
mod refine;
mod rescale;
mod state_reader;
mod symmetric;
mod system;

pub(crate) use gmres_kernels::{GmresSpec, GmresStep, StatePlaces};
pub(crate) use kernel::prelude as vector_prelude;
use launches::Launches;
use method::Basis;
pub use method::Method;
pub use refine::solve_refined;
use rtcg_array::{GpuArray, PythonTuple};
use rtcg_hal::{ArrayError, DType, Result};
use std::collections::BTreeMap;
pub use system::{Preconditioner, System};

/// The most residuals that are kept: those of the first iterations.
pub(crate) const MAX_HISTORY: usize = 1 << 20;

/// The state after an iteration, or a cycle of iterations.
#[derive(Debug)]
pub struct SolveProgress<'a> {
    /// The current solution, which further iterations change; for several right-hand sides, one column each.
    pub x: &'a GpuArray,
    /// Iterations so far; for several right-hand sides, the maximum.
    pub iterations: usize,
    /// The norm of the solver's residual for each right-hand side. Solvers that keep a basis give the norms of all
    /// iterations since the last call if there is a history (for the first 2^20 iterations), otherwise the last norm.
    pub residuals: Vec<f64>,
    /// The norm of each right-hand side.
    pub right_norms: Vec<f64>,
}

/// Called after each iteration that changed the solution; for solvers that keep a basis, after each cycle.
pub type SolveCallback<'a> = &'a mut dyn FnMut(&SolveProgress<'_>) -> Result<()>;

/// How iterations are launched on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverMode {
    /// The mode that is expected to be fastest among those possible; see [`SolveReport::mode_reason`].
    Auto,
    /// Kernels are launched one by one.
    Stream,
    /// Groups of iterations are launched as a graph.
    Graph,
    /// All iterations are one graph with a loop, which the device ends by itself.
    Device,
    /// All iterations are one kernel, whose blocks wait for each other.
    Persistent,
}

/// Options of [`solve`].
#[derive(Debug, Clone)]
pub struct SolveOptions {
    /// Relative tolerance: the residual norm must be below this times the norm of the right-hand side; 1e-5 by default.
    pub rtol: f64,
    /// Absolute tolerance: the residual norm must be below this or below the bound of `rtol`; 0 by default.
    pub atol: f64,
    /// The maximum number of iterations; 10,000 by default.
    pub max_iterations: usize,
    /// Iterations between two polls of the state; 1 with a callback, otherwise 20 by default.
    pub check_every: usize,
    /// Basis vectors of GMRES before a restart; 20 by default.
    pub restart: usize,
    /// Directions that GCROT(m, k) keeps from cycle to cycle.
    pub kept_directions: usize,
    /// How iterations are launched on the device.
    pub mode: SolverMode,
    /// Whether to keep the residuals of iterations, of the first 2^20 at most.
    pub history: bool,
    /// Parameters of some solvers: `shift`, `damp`, `btol`, `conlim`, which are 0 by default, and `maxinner`, the
    /// maximum number of iterations for a solver whose `max_iterations` counts cycles.
    pub numbers: BTreeMap<String, f64>,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            rtol: 1e-5,
            atol: 0.0,
            max_iterations: 10_000,
            check_every: 20,
            restart: 20,
            kept_directions: 20,
            mode: SolverMode::Auto,
            history: false,
            numbers: BTreeMap::new(),
        }
    }
}

impl SolveOptions {
    /// The parameters of programs by their names.
    fn numbers(&self, vector: DType) -> BTreeMap<String, f64> {
        let is_single = matches!(vector, DType::F32 | DType::C64);
        let eps = if is_single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let max = if is_single { f64::from(f32::MAX) } else { f64::MAX };
        let common = [
            ("rtol", self.rtol),
            ("atol", self.atol),
            ("maxiter", self.max_iterations as f64),
            ("eps", eps),
            ("largest", max),
            ("maxinner", max),
        ];
        let optional = ["shift", "damp", "btol", "conlim"].map(|name| (name, 0.0));
        let mut numbers: BTreeMap<_, _> = common.into_iter().chain(optional).map(|(k, v)| (k.to_owned(), v)).collect();
        numbers.extend(self.numbers.clone());
        numbers
    }
}

/// Why the iterations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The residual is small enough; if the solver tests residuals, the one computed from the solution is.
    Converged,
    /// The maximum number of iterations was reached.
    MaxIterations,
    /// The recurrence says that the residual is small enough, but the residual computed from the solution is not, and
    /// restarting does not reduce it: the solution is as accurate as rounding permits.
    Stagnated,
    /// A divisor was 0 or not finite, or the residual was not finite. The code is SciPy's.
    Breakdown(i32),
}

/// The solution, and how it was computed.
#[derive(Debug)]
pub struct SolveReport {
    /// The solution.
    pub x: GpuArray,
    /// Why the iterations ended.
    pub reason: StopReason,
    /// Number of iterations that changed the solution.
    pub iterations: usize,
    /// Number of iterations enqueued after these, which did nothing.
    pub wasted_iterations: usize,
    /// Number of restarts from a residual computed from the solution.
    pub restarts: usize,
    /// Number of times the host waited for the device in the loop: 0 if the device supports asynchronous reads.
    pub waits_in_loop: usize,
    /// Number of times the host waited at the end.
    pub waits_at_end: usize,
    /// The norm of the residual, computed from the solution.
    pub residual: f64,
    /// The final norm of the residual according to the recurrence.
    pub recurrence_residual: f64,
    /// The bound on the residual norm.
    pub threshold: f64,
    /// How iterations were launched on the device.
    pub mode: SolverMode,
    /// Why that mode was chosen, and what others lacked.
    pub mode_reason: String,
    /// Norms of residuals: the initial one, and one per iteration.
    pub history: Option<Vec<f64>>,
    /// Real scalars of the solver at the end, by their names in its program.
    pub scalars: BTreeMap<String, f64>,
}

/// Solves `A x = b`, starting from `x0` or 0. The vectors have the dtype of `b`.
///
/// # Errors
/// When shapes or dtypes do not fit, the device fails, or a mode is not supported.
pub fn solve(
    method: &Method,
    system: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    callback: Option<SolveCallback<'_>>,
) -> Result<SolveReport> {
    if b.ndim() != 1 {
        let shape = PythonTuple(b.shape());
        return Err(ArrayError::value_error(format!("b has shape {shape}; expected a vector, or solve_columns")));
    }
    let (_, mut reports) = solve_all(method, system, b, x0, options, callback)?;
    reports.pop().ok_or_else(|| ArrayError::value_error("a solver has no report"))
}

/// Solves `A X = B` for all columns of `b` at once, starting from the columns of `x0` or 0: products are those of a
/// matrix with several vectors, and a column's iterations do nothing once it has converged. Returns the solution, and a
/// report for each column, whose [`SolveReport::x`] is that column.
///
/// # Errors
/// As [`solve`]; also for solvers that keep a basis, and for least squares.
pub fn solve_columns(
    method: &Method,
    system: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    callback: Option<SolveCallback<'_>>,
) -> Result<(GpuArray, Vec<SolveReport>)> {
    let shape = PythonTuple(b.shape());
    if b.ndim() != 2 || b.shape()[1] == 0 {
        return Err(ArrayError::value_error(format!("b has shape {shape}; expected a matrix of at least one column")));
    }
    if method.basis != Basis::None || !method.row_vectors.is_empty() {
        return Err(ArrayError::value_error(format!("b has shape {shape}; {} takes one right side", method.name())));
    }
    solve_all(method, system, b, x0, options, callback)
}

fn solve_all(
    method: &Method,
    system: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    callback: Option<SolveCallback<'_>>,
) -> Result<(GpuArray, Vec<SolveReport>)> {
    system::check(system, b, method.row_vectors.is_empty(), options.check_every)?;
    // Looks at the state are for iterations, of which there are no more.
    let check_every = options.check_every.min(options.max_iterations.max(1));
    let options = &SolveOptions { check_every, ..options.clone() };
    let mut callback = callback;
    let call = callback.as_mut().map(|call| &mut **call as SolveCallback<'_>);
    let found = solve_once(method, system, b, x0, options, call)?;
    rescale::resolve(method, system, b, x0, options, callback, found)
}

fn solve_once(
    method: &Method,
    system: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    callback: Option<SolveCallback<'_>>,
) -> Result<(GpuArray, Vec<SolveReport>)> {
    let runs_many_iterations = method.basis != Basis::None;
    let launches = if runs_many_iterations {
        gmres::launches(method, system, b, x0, options)?
    } else {
        Launches::new(method, system, b, x0, options)?
    };
    let check_every = if runs_many_iterations { 1 } else { options.check_every };
    let options = &SolveOptions { check_every, ..options.clone() };
    let reports = drive::Driver { launches: &launches, options }.solve(x0.is_some(), callback)?;
    Ok((launches.x.transpose(None)?, reports))
}
