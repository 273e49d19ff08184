//! Sparse matrices with a static element type, and iterative solvers, built on [`crate::typed_arrays`].
//!
//! ```
//! use rtcg::prelude::*;
//! use rtcg::sparse::{Csr, Sell, SolverOptions};
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! // [[4, 1], [1, 3]]
//! let a = Csr::from_triples(&arrays, [2, 2], &[4.0f64, 1.0, 1.0, 3.0], &[0, 0, 1, 1], &[0, 1, 0, 1])?;
//! let b = arrays.from_slice(&[1.0, 2.0])?;
//! assert_eq!(a.multiply(&b)?.to_vec()?, [6.0, 7.0]);
//! // In slices of 32 rows, sorted by length.
//! let sell = Sell::from_csr(a.as_dyn(), 2, 16.0)?.expect("slices have less than 16 times as many elements");
//! let a = a.with_plan(sell)?;
//! assert_eq!(a.multiply(&b)?.to_vec()?, [6.0, 7.0]);
//! let square = a.multiply_sparse(&a)?;
//! assert_eq!(square.multiply(&arrays.from_slice(&[1.0, 0.0])?)?.to_vec()?, [17.0, 7.0]);
//! let (x, report) = a.cg(&b, &SolverOptions { rtol: 1e-12, ..SolverOptions::default() })?;
//! assert_eq!((report.iterations, report.waits_in_loop), (2, 0));
//! assert!((x.to_vec()?[0] - 1.0 / 11.0).abs() < 1e-12);
//!
//! // Incomplete factors as a preconditioner, and one of them alone.
//! use rtcg::sparse::{LinearOperator, Method, Preconditioner, SolveOptions, System};
//! use rtcg::sparse::{Triangle, Triangular, TriangularFactors, solve};
//! let factors = TriangularFactors::ilu0(a.as_dyn())?.expect("columns ascend");
//! let operator: &dyn LinearOperator = a.as_dyn();
//! let system = System { m: Preconditioner::Operator(&factors), ..System::from(operator) };
//! let report = solve(&Method::CG, &system, b.as_dyn(), None, &SolveOptions::default(), None)?;
//! assert_eq!(report.iterations, 1); // Without fill, these are the factors.
//! let lower = Triangular::analyse(a.as_dyn().clone(), Triangle::Lower, false)?.expect("columns ascend");
//! assert_eq!(arrays.typed_from_dyn::<f64>(lower.solve(b.as_dyn())?)?.to_vec()?, [0.25, 1.75 / 3.0]);
//! assert_eq!(lower.levels(), 2);
//! # Ok(())
//! # }
//! ```

use crate::typed_arrays::{ArrayElement, ArrayFactory, GpuArray, MatrixElement};
pub use rtcg_array::Triangle;
use rtcg_cuda::Result;
use rtcg_hal::{ArrayError, DType};
pub use rtcg_sparse::{
    BlockProblem, Bsr, Csr as CsrDyn, Dia, EigshOptions, EigshResult, ElementOp, HostPackets, HostStructure,
    HotColumns, IndexElement, IndexExtremes, LinearOperator, LobpcgOptions, LobpcgResult, MatrixFeatures, Method,
    PacketPartition, Packets, Preconditioner, ProductFormat, SddmmScale, Sell, SolveCallback, SolveOptions,
    SolveProgress, SolveReport, SolverMode, SpmvPlan, StopReason, SvdsResult, System, Triangular, TriangularFactors,
    VCycle, VCycleLevel, WhichEigenvalues, breadth_first_order, check_device_structure, check_structure, colours,
    compile_plan_kernels, eigsh, gallery, index_extremes, lobpcg, order_by_row, reverse_cuthill_mckee, solve,
    solve_columns, solve_refined, strong_components, svds, transposed,
};
use std::marker::PhantomData;

/// A sparse matrix in compressed sparse row (CSR) format on a device.
#[derive(Debug, Clone)]
pub struct Csr<T> {
    dynamic: CsrDyn,
    arrays: ArrayFactory,
    element: PhantomData<T>,
}

/// Options of [`Csr::cg`] and [`Csr::solve`]. (The function [`solve`] takes [`SolveOptions`], which has more.)
#[derive(Debug, Clone, Copy)]
pub struct SolverOptions {
    /// Relative tolerance: the residual must be below this times the norm of the right-hand side; 1e-5 by default.
    pub rtol: f64,
    /// Absolute tolerance: the residual must be below this or below the bound of `rtol`; 0 by default.
    pub atol: f64,
    /// The maximum number of iterations; ten per row by default.
    pub max_iterations: Option<usize>,
    /// How iterations are launched on the device; [`SolverMode::Auto`] by default.
    pub mode: SolverMode,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self { rtol: 1e-5, atol: 0.0, max_iterations: None, mode: SolverMode::Auto }
    }
}

impl<T: ArrayElement> Csr<T> {
    /// Makes a matrix from its CSR arrays: row `i` holds `data[indptr[i]..indptr[i + 1]]`, in the columns `indices` of
    /// the same range.
    ///
    /// ```
    /// use rtcg::prelude::*;
    /// use rtcg::sparse::{Csr, SolverOptions, gallery};
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let arrays = ArrayFactory::new(&Context::new()?)?;
    /// let host = gallery::poisson(&[20, 20]);
    /// let a = Csr::from_parts(&arrays, host.shape, &host.data, &host.indices, &host.indptr)?;
    /// let b = arrays.full(&[400], 1.0)?;
    /// let (x, report) = a.cg(&b, &SolverOptions { rtol: 1e-8, ..SolverOptions::default() })?;
    /// assert!(report.residual <= 1e-8 * 20.0);
    /// assert!((&a.multiply(&x)? - &b).abs()?.max()? < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When these do not form a matrix of that shape, or the device is out of memory.
    pub fn from_parts<I: ArrayElement + IndexElement>(
        arrays: &ArrayFactory,
        shape: [usize; 2],
        data: &[T],
        indices: &[I],
        indptr: &[I],
    ) -> Result<Self> {
        check_structure(shape, indices, indptr)?;
        let longest_row = indptr.windows(2).map(|pair| pair[1].to_i64() - pair[0].to_i64()).max().unwrap_or(0);
        let (data, indices, indptr) =
            (arrays.from_slice(data)?, arrays.from_slice(indices)?, arrays.from_slice(indptr)?);
        let dynamic = CsrDyn::new(shape, data.into(), indices.into(), indptr.into())?;
        let dynamic = dynamic.with_longest_row(longest_row.cast_unsigned() as usize);
        Ok(Self { dynamic, arrays: arrays.clone(), element: PhantomData })
    }

    /// Makes a matrix from triples (COO format): `data[k]` in row `rows[k]` and column `columns[k]`. Duplicates are
    /// stored separately and count as their sum.
    ///
    /// # Errors
    /// As [`Csr::from_parts`].
    pub fn from_triples(
        arrays: &ArrayFactory,
        shape: [usize; 2],
        data: &[T],
        rows: &[i32],
        columns: &[i32],
    ) -> Result<Self> {
        if data.len() != rows.len() || rows.len() != columns.len() {
            let message = "row, column, and data arrays must all be the same length";
            return Err(ArrayError::value_error(message).into());
        }
        let (starts, order) = order_by_row(shape[0], rows)?;
        let data: Vec<T> = order.iter().map(|&k| data[k]).collect();
        let columns = order.iter().map(|&k| columns[k]);
        // As `check_structure` has it: int32 for as many elements as kernels can count with it.
        if data.len() <= i32::MAX as usize - 32 {
            let indptr: Vec<i32> = starts.iter().map(|&start| start as i32).collect();
            return Self::from_parts(arrays, shape, &data, &columns.collect::<Vec<_>>(), &indptr);
        }
        let indptr: Vec<i64> = starts.iter().map(|&start| start as i64).collect();
        Self::from_parts(arrays, shape, &data, &columns.map(i64::from).collect::<Vec<_>>(), &indptr)
    }

    /// The matrix with an element type that is known only at run time.
    pub fn as_dyn(&self) -> &CsrDyn {
        &self.dynamic
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.dynamic.shape()
    }

    /// Stored elements.
    pub fn nnz(&self) -> usize {
        self.dynamic.nnz()
    }

    /// Returns the matrix with `plan` for its products; see [`CsrDyn::with_plan`].
    ///
    /// # Errors
    /// When the plan was made for another shape.
    pub fn with_plan(self, plan: impl Into<SpmvPlan>) -> Result<Self> {
        Ok(Self { dynamic: self.dynamic.with_plan(plan)?, ..self })
    }

    /// Computes `A x`; does not wait.
    ///
    /// # Errors
    /// When the length of `x` is not the number of columns, or the device fails.
    pub fn multiply(&self, x: &GpuArray<T>) -> Result<GpuArray<T>> {
        self.arrays.typed_from_dyn(self.dynamic.multiply(x.as_dyn())?)
    }

    /// Computes `A B`; see [`CsrDyn::multiply_sparse`]. Waits for element counts.
    ///
    /// # Errors
    /// When `other` does not have as many rows as this matrix has columns, or the device fails.
    pub fn multiply_sparse(&self, other: &Self) -> Result<Self> {
        Ok(self.with_dynamic(self.dynamic.multiply_sparse(&other.dynamic)?))
    }

    /// Combines the elements of two matrices by a function and drops zeros; see [`CsrDyn::combine`]. Waits for the
    /// number of elements.
    ///
    /// # Errors
    /// When the shapes differ, the function returns truth values, or the device fails.
    pub fn combine(&self, other: &Self, op: ElementOp) -> Result<Self> {
        if matches!(op, ElementOp::NotEqual | ElementOp::Less | ElementOp::Greater) {
            let message = format!("{op:?} gives truth values; expected a function that gives elements");
            return Err(ArrayError::type_error(message).into());
        }
        Ok(self.with_dynamic(self.dynamic.combine(&other.dynamic, op)?))
    }

    /// Computes the product of two dense matrices at the stored positions of this one (SDDMM); see
    /// [`CsrDyn::sampled_matmul`]. Does not wait.
    ///
    /// # Errors
    /// When the shapes do not fit, or the device fails.
    pub fn sampled_matmul(&self, x: &GpuArray<T>, y: &GpuArray<T>, scale: SddmmScale) -> Result<Self> {
        let dynamic = &self.dynamic;
        let data = dynamic.sampled_matmul(x.as_dyn(), y.as_dyn(), scale)?;
        Ok(self.with_dynamic(CsrDyn::new(dynamic.shape(), data, dynamic.indices().clone(), dynamic.indptr().clone())?))
    }

    fn with_dynamic(&self, dynamic: CsrDyn) -> Self {
        Self { dynamic, arrays: self.arrays.clone(), element: PhantomData }
    }
}

impl<T: MatrixElement> Csr<T> {
    /// Solves `A x = b` for a Hermitian positive definite matrix by conjugate gradients, and reports how it went; waits
    /// only at the end.
    ///
    /// # Errors
    /// When the matrix is not square, `b` does not fit, or the device fails.
    pub fn cg(&self, b: &GpuArray<T>, options: &SolverOptions) -> Result<(GpuArray<T>, SolveReport)> {
        self.solve(&Method::CG, b, options)
    }

    /// Solves `A x = b` by any method that needs no adjoint, and reports how it went; see [`solve`] for
    /// preconditioners, initial guesses and callbacks.
    ///
    /// # Errors
    /// As [`Csr::cg`], and when the method needs the adjoint.
    pub fn solve(
        &self,
        method: &Method,
        b: &GpuArray<T>,
        options: &SolverOptions,
    ) -> Result<(GpuArray<T>, SolveReport)> {
        let operator: &dyn LinearOperator = &self.dynamic;
        let report = solve(method, &System::from(operator), b.as_dyn(), None, &self.options(options), None)?;
        Ok((self.arrays.typed_from_dyn(report.x.clone())?, report))
    }

    /// Solves for all columns of `b`, of shape (n, k), at once, and reports how each went; see [`solve_columns`].
    ///
    /// # Errors
    /// As [`Csr::solve`], and when the method takes only one right-hand side.
    pub fn solve_columns(
        &self,
        method: &Method,
        b: &GpuArray<T>,
        options: &SolverOptions,
    ) -> Result<(GpuArray<T>, Vec<SolveReport>)> {
        let operator: &dyn LinearOperator = &self.dynamic;
        let (x, reports) =
            solve_columns(method, &System::from(operator), b.as_dyn(), None, &self.options(options), None)?;
        Ok((self.arrays.typed_from_dyn(x)?, reports))
    }

    /// Solves a double-precision system by single-precision iterations with iterative refinement, and reports how it
    /// went; see [`solve_refined`].
    ///
    /// # Errors
    /// As [`Csr::solve`], and when `T` is not double precision.
    pub fn solve_refined(
        &self,
        method: &Method,
        b: &GpuArray<T>,
        options: &SolverOptions,
    ) -> Result<(GpuArray<T>, SolveReport)> {
        let dtype = if b.as_dyn().dtype().is_complex() { DType::C64 } else { DType::F32 };
        let single = self.dynamic.to_dtype(dtype)?;
        let [double, single]: [&dyn LinearOperator; 2] = [&self.dynamic, &single];
        let (double, single) = (System::from(double), System::from(single));
        let report = solve_refined(method, &double, &single, b.as_dyn(), None, &self.options(options), None)?;
        Ok((self.arrays.typed_from_dyn(report.x.clone())?, report))
    }

    fn options(&self, options: &SolverOptions) -> SolveOptions {
        SolveOptions {
            rtol: options.rtol,
            atol: options.atol,
            max_iterations: options.max_iterations.unwrap_or(10 * self.shape()[0]),
            mode: options.mode,
            ..SolveOptions::default()
        }
    }

    /// Computes a few eigenvalues of a Hermitian matrix and their eigenvectors, as columns; waits once per restart. See
    /// [`eigsh`] for other operators, and [`lobpcg`] for preconditioners.
    ///
    /// # Errors
    /// When the matrix is not square, options are out of range, or the device fails.
    pub fn eigsh(&self, options: &EigshOptions) -> Result<(GpuArray<T>, EigshResult)> {
        let found = eigsh(self.dynamic.context(), &self.dynamic, None, options)?;
        Ok((self.arrays.typed_from_dyn(found.vectors.clone())?, found))
    }
}

/// A typed matrix as one of dynamic element type.
impl<T> From<Csr<T>> for CsrDyn {
    fn from(matrix: Csr<T>) -> Self {
        matrix.dynamic
    }
}
