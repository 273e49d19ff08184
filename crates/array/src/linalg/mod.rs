//! Linear algebra on stacks of matrices, with kernels of this project: cuBLAS and cuSOLVER are not needed.
//!
//! Matrices are the last two axes of arrays of float32, float64 and their complex types; integers are converted to
//! float64. All are copied to stacks of three axes in C order and modified in place there. A block of threads processes
//! a matrix, or a part of one.
//!
//! - LU, Cholesky, QR and triangular solves work by panels (`panels`, `lu`, `factorizations`, `householder`, `trsm`);
//!   matrix products update the trailing matrix (`gemm_update`).
//! - Matrices are scaled by powers of two before eigenvalues or singular values are computed (`scaling`).
//! - Hermitian eigenproblems: Jacobi rotations (`jacobi`), or tridiagonal form (`tridiagonal`) and divide and conquer
//!   (`divide_and_conquer`). General ones: QR iterations (`schur`). Singular values: rotations of columns
//!   (`one_sided_jacobi`).
//!
//! Kernels report failures in a word on the device. Iterations read it now and then to see whether any matrices remain.

mod compact_wy;
mod divide_and_conquer;
mod eig;
mod eigh;
mod factorizations;
mod gemm_update;
mod householder;
mod iteration_limits;
mod jacobi;
mod launch;
mod least_squares;
mod lu;
mod matrix_helpers;
mod norms;
mod one_sided_jacobi;
mod panels;
mod scaling;
mod schur;
mod solve;
mod svd;
mod tridiagonal;
mod trsm;

pub(crate) use compact_wy::ReflectorChoice;
pub(crate) use divide_and_conquer::DivideChoice;
pub(crate) use eigh::EighMethod;
pub use factorizations::Triangle;
pub(crate) use gemm_update::UpdateChoice;
pub use iteration_limits::IterationLimits;
pub use least_squares::{LeastSquares, Tolerance};
pub use norms::MatrixNorm;
pub(crate) use one_sided_jacobi::RotationChoice;
pub(crate) use panels::{PanelKernel, PanelWidth};
pub(crate) use schur::{HessenbergChoice, SchurChoice};
pub use solve::{SlogDet, Transposition, TriangularSystem};
pub use svd::Svd;
pub(crate) use tridiagonal::{BisectChoice, TridiagonalChoice};
pub(crate) use trsm::TriangularChoice;
