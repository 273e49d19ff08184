//! Pairs of triangular factors as an operator, from direct and incomplete factorisations, and incomplete factorisations
//! without fill-in on the device.

use crate::checks::check_vector;
use crate::csr::Csr;
use crate::kernels::incomplete::IncompleteSpec;
use crate::kernels::triangular::{DiagonalCheck, SINGULAR_ROW};
use crate::operator::LinearOperator;
use crate::triangular::{Levels, Triangular, fault, launch_tickets, read_state, shared_state, transposed};
use rtcg_array::{GpuArray, Order, Triangle, push_arrays};
use rtcg_hal::{ArrayError, ArrayErrorKind, DType, LaunchArgs, Result};

/// The inverse of a product of two triangular matrices: solves the first system, then the second. It consists only of
/// launches, so that graphs can contain it.
#[derive(Debug)]
pub struct TriangularFactors {
    first: Triangular,
    second: Triangular,
    between: GpuArray,
}

impl TriangularFactors {
    /// Combines the system to solve first with the one to solve second.
    ///
    /// # Errors
    /// When shapes or dtypes differ, or the device is out of memory.
    pub fn new(first: Triangular, second: Triangular) -> Result<Self> {
        let (n, dtype) = (first.shape()[0], first.dtype());
        if (second.shape()[0], second.dtype()) != (n, dtype) {
            let (rows, other) = (second.shape()[0], second.dtype());
            let message = format!("factors of {n} rows of {dtype} and {rows} rows of {other}; expected the same");
            return Err(ArrayError::value_error(message));
        }
        let between = GpuArray::empty(first.matrix().context(), &[n], dtype, Order::C)?;
        Ok(Self { first, second, between })
    }

    /// Computes incomplete factors L and U with the sparsity of a matrix: ILU(0) (Saad, Iterative Methods for Sparse
    /// Linear Systems, 10.3). L has a unit diagonal. Returns `None` if the columns of a row do not ascend. Waits.
    ///
    /// # Errors
    /// When the matrix is not square, a diagonal element is not stored or becomes 0 (the error names its row), or the
    /// device fails.
    pub fn ilu0(matrix: &Csr) -> Result<Option<Self>> {
        let Some((factors, levels)) = factor(matrix, false)? else { return Ok(None) };
        let first = Triangular::of_levels(factors.clone(), Triangle::Lower, true, levels)?;
        let second = analysed(factors, Triangle::Upper, false)?;
        Self::new(first, second).map(Some)
    }

    /// Computes an incomplete factor L with the sparsity of a matrix's lower triangle, such that `L L*` approximates
    /// the matrix: IC(0) (Meijerink and van der Vorst, 1977). `lower` is that triangle only, and its columns must
    /// ascend in each row; returns `None` if they do not. Waits.
    ///
    /// # Errors
    /// When the matrix is not square, a diagonal element is not stored or does not become a positive number (the error
    /// names its row), or the device fails.
    pub fn ic0(lower: &Csr) -> Result<Option<Self>> {
        let Some((factor, levels)) = factor(lower, true)? else { return Ok(None) };
        let second = analysed(transposed(&factor, true)?, Triangle::Upper, false)?;
        let first = Triangular::of_levels(factor, Triangle::Lower, false, levels)?;
        Self::new(first, second).map(Some)
    }

    /// The system that is solved first, and the one solved second.
    pub fn factors(&self) -> [&Triangular; 2] {
        [&self.first, &self.second]
    }

    /// The factors of the transpose, or of the adjoint; waits.
    ///
    /// # Errors
    /// When the device is out of memory or fails.
    pub fn transposed(&self, conjugated: bool) -> Result<Self> {
        Self::new(self.second.transposed(conjugated)?, self.first.transposed(conjugated)?)
    }

    /// Solves for a vector, or for each column of a matrix; see [`Triangular::solve`].
    ///
    /// # Errors
    /// When `b` has another dtype or number of rows, or the device fails.
    pub fn solve(&self, b: &GpuArray) -> Result<GpuArray> {
        self.second.solve(&self.first.solve(b)?)
    }
}

impl LinearOperator for TriangularFactors {
    fn shape(&self) -> [usize; 2] {
        self.first.shape()
    }

    fn dtype(&self) -> DType {
        self.first.dtype()
    }

    fn apply(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        check_vector("y", y, self.shape()[0])?;
        self.first.apply(x, &self.between)?;
        self.second.apply(&self.between, y)
    }

    fn is_recordable(&self) -> bool {
        true
    }
}

fn analysed(matrix: Csr, triangle: Triangle, is_unit: bool) -> Result<Triangular> {
    let analysed = Triangular::analyse(matrix, triangle, is_unit)?;
    analysed.ok_or_else(|| ArrayError::value_error("a factor has columns that do not ascend"))
}

/// The factors in place of a copy of the elements, and the levels of the lower one.
fn factor(matrix: &Csr, is_cholesky: bool) -> Result<Option<(Csr, Levels)>> {
    let Some(levels) = Levels::find(matrix, Triangle::Lower, DiagonalCheck::Stored)? else { return Ok(None) };
    let (ctx, rows) = (matrix.context(), matrix.shape()[0]);
    let (value, index) = (matrix.data().dtype(), matrix.indices().dtype());
    let data = matrix.data().copy(Some(Order::C))?;
    let factors = Csr::new(matrix.shape(), data, matrix.indices().clone(), matrix.indptr().clone())?;
    if rows == 0 {
        return Ok(Some((factors, levels)));
    }
    let state = shared_state(ctx, factors.data().nbytes())?;
    state.memset_zero()?;
    let mut args = LaunchArgs::new();
    let structure = [factors.indices(), factors.indptr(), &levels.split, &levels.order];
    push_arrays(&mut args, &[factors.data(), &state])?;
    push_arrays(&mut args, &structure)?;
    args.push_i64(rows as i64);
    let spec = IncompleteSpec { value, index, is_cholesky };
    launch_tickets(ctx, &spec, args, [rows, levels.rows_of_one()])?;
    if let Some(row) = fault(&read_state(&state)?, SINGULAR_ROW, rows) {
        let message = match is_cholesky {
            true => format!("the pivot of row {row} is not positive; IC(0) of A does not exist."),
            false => format!("the pivot of row {row} is 0; ILU(0) of A does not exist."),
        };
        return Err(ArrayError::new(ArrayErrorKind::LinearAlgebra, message));
    }
    Ok(Some((factors, levels)))
}
