//! Rescales systems whose squares overflow or underflow, and solves them again.
//!
//! A solver adds up squares: those of a right-hand side of 1e-170 are 0. So a result that is in doubt is examined: if
//! the right-hand side, the matrix or a preconditioner are far from 1, the system is solved in units (powers of two) in
//! which they are close to 1. Ordinary systems pay nothing for this.

use super::method::Method;
use super::system::{Preconditioner, System};
use super::{SolveCallback, SolveOptions, SolveProgress, SolveReport, SolverMode, StopReason, solve_once};
use crate::operator::LinearOperator;
use crate::units::{
    Range, Scaled, exponent, largest, multiply_by_power, operator_exponent, times_power, times_power_of,
};
use rtcg_array::{GpuArray, Index, Op, Order};
use rtcg_hal::{ArrayError, DType, Result};

/// Powers of two: the unit of the right side, of the matrix, and of preconditioners.
#[derive(Debug, Clone, Copy)]
struct Units {
    b: i32,
    a: i32,
    m: [i32; 2],
    takes_x0: bool,
}

/// Solves anew the right sides of `reports` that are in doubt, where other units may help.
pub(super) fn resolve(
    method: &Method,
    system: &System<'_>,
    b: &GpuArray,
    x0: Option<&GpuArray>,
    options: &SolveOptions,
    mut callback: Option<SolveCallback<'_>>,
    (x, mut reports): (GpuArray, Vec<SolveReport>),
) -> Result<(GpuArray, Vec<SolveReport>)> {
    let range = Range::from_dtype(b.dtype());
    for (k, report) in reports.iter_mut().enumerate() {
        if !is_in_doubt(report, range) {
            continue;
        }
        let column = |array: &GpuArray| match array.ndim() {
            1 => Ok(array.clone()),
            _ => array.index(&[Index::from(..), Index::At(k as isize)]),
        };
        let (b, x0) = (column(b)?.to_contiguous()?, x0.map(column).transpose()?);
        let Some(units) = Units::from_system(method, system, &b, x0.as_ref(), options)? else { continue };
        let callback = callback.as_mut().filter(|_| x.ndim() == 1);
        let call = callback.map(|call| &mut **call as SolveCallback<'_>);
        let again = units.solve(method, system, &b, x0.as_ref(), options, call)?;
        column(&x)?.assign(&again.x)?;
        *report = SolveReport { x: report.x.clone(), ..again };
    }
    Ok((x, reports))
}

/// Whether squares may have been 0 or infinite: nothing was found, nothing was done, or norms say so.
fn is_in_doubt(report: &SolveReport, range: Range) -> bool {
    let number = |name| report.scalars.get(name).copied();
    report.reason != StopReason::Converged
        || report.iterations == 0
        || number("bb").is_some_and(|bb| range.is_extreme(bb.sqrt()))
        || number("norma").is_some_and(|norm| range.is_extreme(norm))
}

impl Units {
    /// The units of a system; `None` where there is nothing to gain. Waits.
    fn from_system(
        method: &Method,
        system: &System<'_>,
        b: &GpuArray,
        x0: Option<&GpuArray>,
        options: &SolveOptions,
    ) -> Result<Option<Self>> {
        let (ctx, dtype) = (b.context(), b.dtype());
        let range = Range::from_dtype(dtype);
        let is_square = method.row_vectors.is_empty();
        let numbers = ["shift", "damp"].map(|name| options.numbers.get(name).copied().unwrap_or(0.0));
        let mut size = largest(b)?;
        if !size.is_finite() || (size == 0.0 && (is_square || numbers[1] == 0.0)) {
            return Ok(None);
        }
        let mut takes_x0 = x0.is_some();
        if let Some(x0) = x0 {
            let image = GpuArray::empty(ctx, &[system.a.shape()[0]], dtype, Order::C)?;
            system.a.apply(&x0.to_dtype(dtype)?.to_contiguous()?, &image)?;
            let left = largest(&b.binary(Op::Subtract, &image)?)?;
            // Beside such a residual the right side is lost: zeros are a better beginning.
            takes_x0 = !is_square || (left.is_finite() && exponent(left) - exponent(size) <= range.moderate);
            if !is_square && left.is_finite() {
                size = size.max(left);
            }
        }
        let of_operator = |operator: &dyn LinearOperator| operator_exponent(ctx, operator, dtype, false);
        let of_number = |unit: i32, number: f64| if number == 0.0 { unit } else { unit.max(exponent(number)) };
        let a = numbers.into_iter().fold(of_operator(system.a)?, of_number);
        let of_preconditioner = |m: &Preconditioner<'_>| match m {
            Preconditioner::Identity => Ok(0),
            Preconditioner::Diagonal(m) => largest(m).map(exponent),
            Preconditioner::Operator(m) => of_operator(*m),
        };
        let m = [of_preconditioner(&system.m)?, of_preconditioner(&system.m2)?];
        let units = Self { b: exponent(size), a, m, takes_x0 };
        let is_far = [units.b, a, m[0], m[1]].into_iter().any(|power| power.abs() > range.moderate);
        Ok((is_far || takes_x0 != x0.is_some()).then_some(units))
    }

    /// The solution in these units, in the caller's ones.
    fn solve(
        self,
        method: &Method,
        system: &System<'_>,
        b: &GpuArray,
        x0: Option<&GpuArray>,
        options: &SolveOptions,
        callback: Option<SolveCallback<'_>>,
    ) -> Result<SolveReport> {
        let scaled = |inner, power| Scaled { inner, power };
        let a = scaled(system.a, -self.a);
        let adjoint = system.adjoint.map(|inner| scaled(inner, -self.a));
        let [m, m2] = [(&system.m, self.m[0]), (&system.m2, self.m[1])].map(|(m, unit)| ScaledM::new(m, -unit));
        let (m, m2) = (m?, m2?);
        let m_adjoint = system.m_adjoint.map(|inner| scaled(inner, -self.m[0]));
        let m2_adjoint = system.m2_adjoint.map(|inner| scaled(inner, -self.m[1]));
        let system = System {
            a: &a,
            adjoint: as_operator(adjoint.as_ref()),
            m: m.preconditioner(),
            m_adjoint: as_operator(m_adjoint.as_ref()),
            m2: m2.preconditioner(),
            m2_adjoint: as_operator(m2_adjoint.as_ref()),
        };
        let mut options = SolveOptions { mode: SolverMode::Stream, ..options.clone() };
        if method.row_vectors.is_empty() {
            options.atol = times_power(options.atol, -self.b);
        }
        for name in ["shift", "damp"] {
            options.numbers.entry(name.to_owned()).and_modify(|number| *number = times_power(*number, -self.a));
        }
        let x0 = x0.filter(|_| self.takes_x0).map(|x0| times_power_of(x0, self.a - self.b)).transpose()?;
        let b = times_power_of(b, -self.b)?;
        let has_callback = callback.is_some();
        let mut callback = callback;
        let mut call = |progress: &SolveProgress<'_>| {
            callback.as_mut().map_or(Ok(()), |callback| self.call_back(&mut **callback, progress))
        };
        let call: Option<SolveCallback<'_>> = if has_callback { Some(&mut call) } else { None };
        let (_, mut reports) = solve_once(method, &system, &b, x0.as_ref(), &options, call)?;
        let report = reports.pop().ok_or_else(|| ArrayError::value_error("a solver has no report"))?;
        self.report(report)
    }

    fn call_back(self, callback: SolveCallback<'_>, progress: &SolveProgress<'_>) -> Result<()> {
        let norms = |norms: &[f64]| norms.iter().map(|&norm| times_power(norm, self.b)).collect();
        callback(&SolveProgress {
            x: &times_power_of(progress.x, self.b - self.a)?,
            iterations: progress.iterations,
            residuals: norms(&progress.residuals),
            right_norms: norms(&progress.right_norms),
        })
    }

    /// The report in the caller's units. A solution that has no such numbers is none.
    fn report(self, mut report: SolveReport) -> Result<SolveReport> {
        let size = largest(&report.x)?;
        multiply_by_power(&report.x, self.b - self.a)?;
        let found = largest(&report.x)?;
        let limits = match report.x.dtype() {
            DType::F32 | DType::C64 => [f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)],
            _ => [f64::MIN_POSITIVE, f64::MAX],
        };
        if size != 0.0 && !(limits[0]..=limits[1]).contains(&found) {
            report.reason = StopReason::Breakdown(-1);
        }
        for norm in [&mut report.residual, &mut report.recurrence_residual, &mut report.threshold] {
            *norm = times_power(*norm, self.b);
        }
        report.history.iter_mut().flatten().for_each(|norm| *norm = times_power(*norm, self.b));
        let powers = [
            ("normr", self.b),
            ("misfit", self.b),
            ("norma", self.a),
            ("normar", self.a + self.b),
            ("normx", self.b - self.a),
        ];
        for (name, power) in powers {
            report.scalars.entry(name.to_owned()).and_modify(|number| *number = times_power(*number, power));
        }
        report.mode_reason = "numbers are so far from 1 that other units were needed".to_owned();
        Ok(report)
    }
}

fn as_operator<'a>(scaled: Option<&'a Scaled<'_>>) -> Option<&'a dyn LinearOperator> {
    scaled.map(|scaled| scaled as &dyn LinearOperator)
}

/// A preconditioner times a power of two.
enum ScaledM<'a> {
    Diagonal(GpuArray),
    Operator(Scaled<'a>),
    Identity,
}

impl<'a> ScaledM<'a> {
    fn new(m: &Preconditioner<'a>, power: i32) -> Result<Self> {
        Ok(match m {
            Preconditioner::Identity => Self::Identity,
            Preconditioner::Diagonal(m) => Self::Diagonal(times_power_of(m, power)?),
            Preconditioner::Operator(inner) => Self::Operator(Scaled { inner: *inner, power }),
        })
    }

    fn preconditioner(&self) -> Preconditioner<'_> {
        match self {
            Self::Identity => Preconditioner::Identity,
            Self::Diagonal(m) => Preconditioner::Diagonal(m.clone()),
            Self::Operator(m) => Preconditioner::Operator(m),
        }
    }
}
