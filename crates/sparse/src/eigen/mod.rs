//! A few eigenvalues or singular values of operators, with their vectors.
//!
//! - [`eigsh`]: thick-restart Lanczos (`lanczos.rs`), one vector at a time;
//! - [`svds`]: the same for `A^H A` (`svds.rs`);
//! - [`lobpcg`]: blocks of vectors, with a preconditioner (`lobpcg.rs`).
//!
//! Vectors stay on the device. The host solves the projected problems, of a few dozen rows (`projected.rs`). It waits
//! once per restart, or once per block iteration, because the next step depends on the numbers.

mod basis;
mod lanczos;
mod lobpcg;
mod projected;
mod svds;

pub use lanczos::{EigshOptions, EigshResult, WhichEigenvalues, eigsh};
pub use lobpcg::{BlockProblem, LobpcgOptions, LobpcgResult, lobpcg};
use rtcg_hal::{DType, DTypeKind};
pub use svds::{SvdsResult, svds};

/// The dtype of vectors for an operator of a dtype.
pub(crate) fn vector_dtype(operator: DType) -> DType {
    match operator {
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => operator,
        DType::F16 | DType::BF16 => DType::F32,
        other if other.kind() == DTypeKind::Complex => DType::C128,
        _ => DType::F64,
    }
}
