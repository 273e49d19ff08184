//! Solver programs: what an iteration computes, line by line, independently of kernels.
//!
//! ```text
//! q = A d                          an operator: A, AH (adjoint), M, MH, M1, M1H, M2, M2H
//! x = x + alpha * d                vectors, element by element
//! alpha = rho / dot(d, q)          scalars, which may contain dot(u, v) = conj(u) . v and norm2(u)
//! fail -10 if abs(rho) < eps       ends iterations as a breakdown with a code
//! stop if test < rtol              ends iterations as converged
//! check sqrt(rr)                   an iteration is over, and the norm of its residual is known
//! begin sqrt(rr)                   the same at the beginning, where no iteration is over
//! note phibar                      an iteration is over, and has this residual; says nothing of an end
//! start beta                       the same at the beginning
//! limit                            ends iterations where there are as many as may be
//! ```
//!
//! Without a preconditioner, `z = M r` makes `z` another name for `r`; with a diagonal one, another name for a product.
//! So nothing else assigns to `z`, and `r` does not change between this line and the last use of `z`.

use super::expression::Expr;
use rtcg_hal::{ArrayError, Result};

/// A line.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    /// `y = operator x`.
    Apply { operator: String, x: String, y: String },
    /// `target = value`, of a vector or of a scalar.
    Assign { target: String, value: Expr },
    /// A note of the residual in the history.
    Record,
}

/// What ends iterations, as it stands in the state; less than 0 is a breakdown.
pub(crate) const STOP_CONVERGED: f64 = 1.0;
pub(crate) const STOP_LIMIT: f64 = 3.0;
/// Breakdown as numbers that are not finite.
pub(crate) const STOP_NOT_FINITE: f64 = -1.0;

/// An iteration that broke down did nothing to the solution, and does not count.
const COUNTED: &str = "select(stop == 0, iterations + 1, iterations)";

fn known_residual(residual: &str) -> String {
    format!("select(stop == 0, {residual}, residual)")
}

const OPERATORS: [&str; 8] = ["A", "AH", "M", "MH", "M1", "M1H", "M2", "M2H"];

/// Lines of a program in parts.
pub(crate) fn parse_parts(parts: &[&str]) -> Result<Vec<Statement>> {
    parse(&parts.join("\n"))
}

/// Lines of a text.
pub(crate) fn parse(text: &str) -> Result<Vec<Statement>> {
    let mut statements = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        parse_line(line, &mut statements)?;
    }
    Ok(statements)
}

fn parse_line(line: &str, statements: &mut Vec<Statement>) -> Result<()> {
    let assign = |target: &str, value: &str| -> Result<Statement> {
        Ok(Statement::Assign { target: target.to_owned(), value: Expr::parse(value)? })
    };
    if let Some((code, condition)) = line.strip_prefix("fail ").and_then(|rest| rest.split_once(" if ")) {
        statements.push(assign("stop", &format!("select(stop == 0 && ({condition}), {code}, stop)"))?);
    } else if let Some(condition) = line.strip_prefix("stop if ") {
        statements.push(assign("stop", &format!("select(stop == 0 && ({condition}), {STOP_CONVERGED}, stop)"))?);
    } else if let Some(residual) = line.strip_prefix("check ") {
        statements.push(assign("iterations", COUNTED)?);
        check(residual, statements)?;
    } else if let Some(residual) = line.strip_prefix("begin ") {
        check(residual, statements)?;
    } else if let Some(residual) = line.strip_prefix("note ") {
        let residual = known_residual(residual);
        statements.extend([assign("iterations", COUNTED)?, assign("residual", &residual)?, Statement::Record]);
    } else if let Some(residual) = line.strip_prefix("start ") {
        statements.extend([assign("residual", residual)?, Statement::Record]);
    } else if line == "limit" {
        statements.push(assign("stop", &format!("select(stop == 0 && iterations >= maxiter, {STOP_LIMIT}, stop)"))?);
    } else if let Some((target, value)) = line.split_once(" = ") {
        let words: Vec<&str> = value.split_whitespace().collect();
        match words.as_slice() {
            [operator, x] if OPERATORS.contains(operator) => {
                let [operator, x, y] = [*operator, *x, target].map(str::to_owned);
                statements.push(Statement::Apply { operator, x, y });
            }
            _ => statements.push(assign(target, value)?),
        }
    } else {
        return Err(ArrayError::value_error(format!("a solver's program has the line '{line}'")));
    }
    Ok(())
}

/// Whether the residual is small enough, and is a number at all; whether there may be more iterations.
fn check(residual: &str, statements: &mut Vec<Statement>) -> Result<()> {
    let stop = format!(
        "select(stop != 0, stop, select(residual < threshold || residual == 0, {STOP_CONVERGED}, \
         select(!finite(residual), {STOP_NOT_FINITE}, select(iterations >= maxiter, {STOP_LIMIT}, 0))))"
    );
    for (target, value) in [("residual", known_residual(residual)), ("stop", stop)] {
        statements.push(Statement::Assign { target: target.to_owned(), value: Expr::parse(&value)? });
    }
    statements.push(Statement::Record);
    Ok(())
}
