//! Sparse matrices and iterative solvers on device arrays.
//!
//! The crate needs no driver: matrices consist of [`rtcg_array::GpuArray`]s, kernels are [`rtcg_hal::KernelSpec`]s, and
//! optional device features (asynchronous reads, graphs) are capabilities of its [`rtcg_hal::Device`]. Results
//! do not depend on scheduling: every run gives the same bits.
//!
//! | folder, file | contents |
//! |---|---|
//! | `csr.rs`, `sell.rs`, `bsr.rs`, `dia.rs`, `hot_columns.rs`, `packets.rs` | formats |
//! | `plan.rs`, `features.rs` | choosing a format by measurement |
//! | `spgemm.rs`, `elementwise.rs`, `sddmm.rs` | operations on two matrices, and sampled products of dense ones |
//! | `triangular.rs`, `factors.rs` | triangular systems and incomplete factors |
//! | `solver/`, `vcycle.rs`, `eigen/` | iterative solvers, multigrid, eigenvalues |
//! | `graph.rs` | graphs |
//! | `units.rs` | scaling by powers of two if squares would underflow or overflow |
//! | `kernels/` | kernels, generated for their dtypes without C++ templates |
#![forbid(unsafe_code)]

mod bsr;
mod checks;
mod conversion;
mod csr;
mod device_structure;
mod dia;
mod eigen;
mod elementwise;
mod factors;
mod features;
pub mod gallery;
mod graph;
mod hot_columns;
mod indices;
mod kernels;
mod launch;
mod operator;
mod packets;
mod plan;
mod prebuilt;
mod sddmm;
mod sell;
mod solver;
mod spgemm;
mod structure;
mod triangular;
mod units;
mod vcycle;

pub use bsr::Bsr;
pub use csr::{Csr, decisions};
pub use device_structure::{IndexExtremes, check_device_structure, index_extremes};
pub use dia::Dia;
pub use eigen::{
    BlockProblem, EigshOptions, EigshResult, LobpcgOptions, LobpcgResult, SvdsResult, WhichEigenvalues, eigsh, lobpcg,
    svds,
};
pub use elementwise::ElementOp;
pub use factors::TriangularFactors;
pub use features::MatrixFeatures;
pub use graph::{breadth_first_order, reverse_cuthill_mckee, strong_components};
pub use hot_columns::HotColumns;
pub use operator::LinearOperator;
pub use packets::{HostPackets, HostStructure, PacketPartition, Packets};
pub use plan::{ProductFormat, SpmvPlan};
pub use prebuilt::compile_plan_kernels;
pub use sddmm::SddmmScale;
pub use sell::Sell;
pub use solver::{
    Method, Preconditioner, SolveCallback, SolveOptions, SolveProgress, SolveReport, SolverMode, StopReason, System,
    solve, solve_columns, solve_refined,
};
pub use structure::{IndexElement, check_structure, order_by_row};
pub use triangular::{Triangular, colours, transposed};
pub use vcycle::{VCycle, VCycleLevel};
