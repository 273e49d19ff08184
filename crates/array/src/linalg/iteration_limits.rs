//! Limits on the number of iterations.

/// The iterations after which eigenvalues and singular values count as not converged. The defaults are several times
/// what any tested matrix needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IterationLimits {
    /// Sweeps of Jacobi rotations over all pairs of rows or columns.
    pub sweeps: usize,
    /// QL iterations per row of the parts into which a tridiagonal matrix is split.
    pub ql_iterations: usize,
    /// QR iterations for each eigenvalue, or pair of eigenvalues, of a general matrix.
    pub qr_iterations: usize,
}

impl Default for IterationLimits {
    fn default() -> Self {
        Self { sweeps: 60, ql_iterations: 60, qr_iterations: 90 }
    }
}
