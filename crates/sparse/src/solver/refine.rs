//! Iterative refinement: double-precision systems solved by single-precision iterations.
//!
//! The residual is computed in double precision; a single-precision solver solves for the correction, which is added to
//! the solution. Each pass reduces the residual by what single precision permits, so that the result has double
//! precision at half the memory traffic (Wilkinson 1963; Higham and Mary 2022 for a survey). To the outer program the
//! inner solver is a preconditioner.

use super::method::{Basis, Method, TEST};
use super::system::{Preconditioner, System};
use super::{SolveCallback, SolveOptions, SolveProgress, SolveReport, SolverMode, StopReason, solve};
use crate::operator::LinearOperator;
use rtcg_array::GpuArray;
use rtcg_hal::{ArrayError, DType, Result};
use std::cell::Cell;

const REFINEMENT: Method = Method {
    name: "refinement",
    vectors: "q r s z",
    row_vectors: "",
    begin: &[REFINED_RESIDUAL, "bb = norm2(b)", TEST, NEXT_RIGHT_SIDE],
    iteration: &[
        "\
        z = M s
        x = x + size * z
        before = size",
        REFINED_RESIDUAL,
        "\
        check sqrt(rr)
        stop if 2 * sqrt(rr) > before",
        NEXT_RIGHT_SIDE,
    ],
    end: &[],
    basis: Basis::None,
};

const REFINED_RESIDUAL: &str = "\
    q = A x
    r = b - q + shift * x
    rr = norm2(r)";

/// Scaled, so that single precision has its range.
const NEXT_RIGHT_SIDE: &str = "\
    size = sqrt(rr)
    s = r / size";

/// What a pass leaves of the residual, at least and at most.
const PASS_TOLERANCE: [f64; 2] = [1e-5, 1e-1];

/// The inner solver. Its recurrence decides when it ends: what single precision makes of that is for the next pass.
struct InnerSolve<'a> {
    method: Method,
    system: &'a System<'a>,
    options: &'a SolveOptions,
    dtype: DType,
    /// What the residual has to be of what it is, and what was done.
    needed: Cell<f64>,
    iterations: Cell<usize>,
    wasted: Cell<usize>,
    waits: Cell<[usize; 2]>,
    negative: Cell<f64>,
    /// Why the last pass ended.
    reason: Cell<StopReason>,
    mode: Cell<SolverMode>,
}

impl LinearOperator for InnerSolve<'_> {
    fn shape(&self) -> [usize; 2] {
        self.system.a.shape()
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        let left = self.options.max_iterations.saturating_sub(self.iterations.get());
        if left == 0 {
            self.reason.set(StopReason::MaxIterations);
            return y.memset_zero();
        }
        let [least, most] = PASS_TOLERANCE;
        // MINRES compares residuals with the norms of matrix and solution: that a residual is small beside these says
        // nothing of how far it fell.
        let is_of_right_side = self.method.name != Method::MINRES.name;
        let rtol = if is_of_right_side { (self.needed.get() / 2.0).clamp(least, most) } else { least };
        let (atol, max_iterations, history) = (0.0, left, false);
        let options = SolveOptions { rtol, atol, max_iterations, history, ..self.options.clone() };
        let report = solve(&self.method, self.system, &x.to_dtype(self.dtype)?, None, &options, None)?;
        self.iterations.set(self.iterations.get() + report.iterations);
        self.wasted.set(self.wasted.get() + report.wasted_iterations);
        let [in_loop, at_end] = self.waits.get();
        self.waits.set([in_loop + report.waits_in_loop, at_end + report.waits_at_end]);
        self.negative.set(self.negative.get() + report.scalars.get("negative").copied().unwrap_or(0.0));
        self.reason.set(report.reason);
        self.mode.set(report.mode);
        y.assign(&report.x)
    }
}

/// Solves `A x = b` in double precision by single-precision iterations. `single` is the same system for
/// single-precision vectors, including its preconditioners. The maximum number of iterations applies to all passes
/// together; a history has the norm before the first pass and after each pass, and the callback is called after each
/// pass. `restarts` counts the passes after the first. The host waits at the end of each pass.
///
/// # Errors
/// As [`solve`], and when `b` is not double precision, or the method does not solve square systems.
pub fn solve_refined(
    method: &Method,
    system: &System<'_>,
    single: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    callback: Option<SolveCallback<'_>>,
) -> Result<SolveReport> {
    let dtype = match b.dtype() {
        DType::F64 => DType::F32,
        DType::C128 => DType::C64,
        dtype => {
            let message = format!("refine: b is of dtype {dtype}; expected float64 or complex128");
            return Err(ArrayError::type_error(message));
        }
    };
    if !method.row_vectors.is_empty() {
        return Err(ArrayError::value_error(format!("refine: {} solves least squares", method.name())));
    }
    let end = if method.end.is_empty() { INNER_END } else { method.end };
    let inner = InnerSolve {
        method: Method { end, ..*method },
        system: single,
        options,
        dtype,
        needed: Cell::new(options.rtol),
        iterations: Cell::new(0),
        wasted: Cell::new(0),
        waits: Cell::new([0, 0]),
        negative: Cell::new(0.0),
        reason: Cell::new(StopReason::Converged),
        mode: Cell::new(SolverMode::Stream),
    };
    let outer = System { m: Preconditioner::Operator(&inner), ..System::from(system.a) };
    let (max_iterations, check_every, mode) = (options.max_iterations, 1, SolverMode::Stream);
    let outer_options = SolveOptions { max_iterations, check_every, mode, ..options.clone() };
    // A callback has the host look at each pass before it begins the next one.
    let mut callback = callback;
    let mut after_pass = |progress: &SolveProgress<'_>| {
        let threshold = options.atol.max(options.rtol * progress.right_norms[0]);
        inner.needed.set(threshold / progress.residuals[0]);
        callback.as_mut().map_or(Ok(()), |callback| callback(progress))
    };
    let mut report = solve(&REFINEMENT, &outer, b, x0, &outer_options, Some(&mut after_pass))?;
    if report.reason != StopReason::Converged && inner.reason.get() != StopReason::Converged {
        report.reason = inner.reason.get();
    }
    report.restarts = report.iterations.saturating_sub(1);
    report.iterations = inner.iterations.get();
    report.wasted_iterations = inner.wasted.get();
    let [in_loop, at_end] = inner.waits.get();
    (report.waits_in_loop, report.waits_at_end) = (in_loop, report.waits_at_end + at_end);
    report.scalars.insert("negative".to_owned(), inner.negative.get());
    report.mode = inner.mode.get();
    Ok(report)
}

/// Lines at the end take the place of a verdict by the residual.
const INNER_END: &[&str] = &["rr = norm2(r)"];
