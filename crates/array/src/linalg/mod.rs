//! Linear algebra of stacks of matrices, by kernels of this project: no cuBLAS or cuSOLVER is needed.
//!
//! Matrices are the last two axes of arrays of float32, float64 and their complex types; integers are taken as float64.
//! All are copied to stacks of three axes in C order and changed there. A block of threads has a matrix, or a part of
//! one: LU, Cholesky and triangular systems are cut into panels (`lu`, `factorizations`, `triangles`), and what lies
//! beside a panel is updated by matrix products.

mod equations;
mod factorizations;
mod launch;
mod lu;
mod matrices;
mod triangles;

pub use equations::SignAndLog;
pub use factorizations::Triangle;
