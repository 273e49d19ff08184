//! How long iterations go on.

/// Iterations after which eigenvalues and singular values count as not found. The usual ones are several times what
/// any matrix was seen to need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IterationLimits {
    /// Sweeps of Jacobi rotations over all pairs of rows or columns.
    pub sweeps: usize,
    /// QL iterations of a row of the parts that a tridiagonal matrix is torn into.
    pub ql_iterations: usize,
    /// QR iterations for one or two eigenvalues of a general matrix.
    pub qr_iterations: usize,
}

impl Default for IterationLimits {
    fn default() -> Self {
        Self { sweeps: 60, ql_iterations: 60, qr_iterations: 90 }
    }
}
