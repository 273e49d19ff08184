//! Linear algebra of stacks of matrices, by kernels of this project: no cuBLAS or cuSOLVER is needed.
//!
//! Matrices are the last two axes of arrays of float32, float64 and their complex types; integers are taken as float64.
//! All are copied to stacks of three axes in C order and changed there. A block of threads has a matrix, or a part of
//! one: LU, Cholesky and triangular systems are cut into panels (`lu`, `factorizations`, `triangles`), and what lies
//! beside a panel is updated by matrix products. Eigenvalues and singular values are those of matrices scaled by powers
//! of two (`scaling`): of Hermitian ones by Jacobi rotations (`jacobi`) or by way of tridiagonal ones (`tridiagonal`),
//! which are divided and conquered (`divide`), of general ones by QR iterations (`schur`), singular values by rotations
//! of columns (`hestenes`). Kernels report in a word on the device what they cannot do; iterations read now and then
//! whether some are left.

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
mod matrices;
mod norms;
mod one_sided_jacobi;
mod scaling;
mod schur;
mod solve;
mod svd;
mod tridiagonal;
mod trsm;

pub use factorizations::Triangle;
pub use iteration_limits::IterationLimits;
pub use least_squares::{LeastSquares, Tolerance};
pub use norms::MatrixNorm;
pub use solve::SlogDet;
pub use svd::Svd;
