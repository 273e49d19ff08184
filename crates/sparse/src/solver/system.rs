//! Systems of equations: operators, and vectors that are checked with SciPy's messages.

use super::fusion::Application;
use super::kernel::DIAGONAL_SUFFIX;
use crate::checks::check_vector;
use crate::operator::LinearOperator;
use rtcg_array::{GpuArray, Order, PythonTuple};
use rtcg_hal::{ArrayError, DType, Result};
use std::collections::HashMap;
use std::fmt;

/// A preconditioner, which is applied to residuals.
#[derive(Clone)]
pub enum Preconditioner<'a> {
    /// No preconditioner.
    Identity,
    /// The elementwise product with a vector.
    Diagonal(GpuArray),
    /// An operator.
    Operator(&'a dyn LinearOperator),
}

impl<'a> Preconditioner<'a> {
    fn operator(&self) -> Option<&'a dyn LinearOperator> {
        match self {
            Self::Operator(operator) => Some(*operator),
            Self::Identity | Self::Diagonal(_) => None,
        }
    }
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

/// What preconditioners are, by their names in programs.
type Applications = HashMap<String, Application>;

/// The operators of a system.
pub struct System<'a> {
    /// The matrix.
    pub a: &'a dyn LinearOperator,
    /// Its adjoint, for solvers that need one.
    pub adjoint: Option<&'a dyn LinearOperator>,
    /// The preconditioner, or the left one of two.
    pub m: Preconditioner<'a>,
    /// The adjoint of `m`, if that is an operator.
    pub m_adjoint: Option<&'a dyn LinearOperator>,
    /// The right one of two preconditioners.
    pub m2: Preconditioner<'a>,
    /// The adjoint of `m2`, if that is an operator.
    pub m2_adjoint: Option<&'a dyn LinearOperator>,
}

impl fmt::Debug for System<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("System").field("shape", &self.a.shape()).finish_non_exhaustive()
    }
}

/// The system without preconditioners.
impl<'a> From<&'a dyn LinearOperator> for System<'a> {
    fn from(a: &'a dyn LinearOperator) -> Self {
        let none = Preconditioner::Identity;
        Self { a, adjoint: None, m: none.clone(), m_adjoint: None, m2: none, m2_adjoint: None }
    }
}

impl System<'_> {
    /// The operator of a name in programs.
    pub(super) fn operator(&self, name: &str) -> Result<&dyn LinearOperator> {
        let found = match name {
            "A" => Some(self.a),
            "AH" => self.adjoint,
            "M" | "M1" => self.m.operator(),
            "MH" | "M1H" => self.m_adjoint,
            "M2" => self.m2.operator(),
            _ => self.m2_adjoint,
        };
        found.ok_or_else(|| missing(name))
    }

    /// What the preconditioners' applications are, and the diagonals among them in the dtype of vectors.
    pub(super) fn applications(&self, vector: DType) -> Result<(Applications, Vec<(String, GpuArray)>)> {
        let (mut applications, mut diagonals) = (HashMap::new(), Vec::new());
        let n = self.a.shape()[1];
        for (names, preconditioner) in [(["M", "MH"], &self.m), (["M1", "M1H"], &self.m), (["M2", "M2H"], &self.m2)] {
            let [plain, adjoint] = match preconditioner {
                Preconditioner::Identity => [Application::Identity, Application::Identity],
                Preconditioner::Operator(m) if m.shape() != [n, n] => {
                    let message = format!("matrix and preconditioner have different shapes: M is {:?}", m.shape());
                    return Err(ArrayError::value_error(message));
                }
                Preconditioner::Operator(_) => [Application::External, Application::External],
                Preconditioner::Diagonal(m) => {
                    check_vector("M", m, n)?;
                    let name = format!("{}{DIAGONAL_SUFFIX}", names[0]);
                    diagonals.push((name.clone(), m.to_dtype(vector)?.to_contiguous()?));
                    [false, true].map(|is_adjoint| Application::Diagonal(name.clone(), is_adjoint))
                }
            };
            applications.insert(names[0].to_owned(), plain);
            applications.insert(names[1].to_owned(), adjoint);
        }
        Ok((applications, diagonals))
    }
}

fn missing(name: &str) -> ArrayError {
    let message = match name {
        "AH" => "A: the solver needs the adjoint of A; expected an operator with rmatvec",
        _ => "M: the solver needs the adjoint of the preconditioner; expected an operator with rmatvec",
    };
    ArrayError::value_error(message)
}

/// Checks the matrix and the right side.
pub(super) fn check(system: &System<'_>, b: &GpuArray, must_be_square: bool, check_every: usize) -> Result<()> {
    let [rows, columns] = system.a.shape();
    if must_be_square && rows != columns {
        return Err(ArrayError::value_error(format!("expected square matrix, but got shape=({rows}, {columns})")));
    }
    let length = b.shape().first().copied().unwrap_or(0);
    if b.ndim() != 2 || length != rows {
        check_vector("b", b, rows)?;
    }
    let dtype = b.dtype();
    if !matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        let message = format!("b is of dtype {dtype}; expected float32, float64, complex64 or complex128");
        return Err(ArrayError::type_error(message));
    }
    if check_every == 0 {
        return Err(ArrayError::value_error("check_every is 0; expected at least 1"));
    }
    Ok(())
}

/// A copy of `x0`, or zeros: a vector, or one in each row for several right sides.
pub(super) fn initial_solution(b: &GpuArray, n: usize, x0: Option<&GpuArray>) -> Result<GpuArray> {
    let shape: Vec<usize> = b.shape().iter().skip(1).copied().chain([n]).collect();
    let Some(x0) = x0 else { return GpuArray::zeros(b.context(), &shape, b.dtype(), Order::C) };
    let x = GpuArray::empty(b.context(), &shape, b.dtype(), Order::C)?;
    if shape.len() == 1 {
        check_vector("x0", x0, n)?;
    } else if x0.shape() != [n, shape[0]] {
        let (found, expected) = (PythonTuple(x0.shape()), PythonTuple(&[n, shape[0]]).to_string());
        return Err(ArrayError::value_error(format!("x0 has shape {found}; expected {expected}")));
    }
    x.assign(&x0.transpose(None)?)?;
    Ok(x)
}
