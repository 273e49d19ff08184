//! All solvers by name. Their iterations and stopping tests are those of SciPy's solvers of the same names.

use super::method::Method;
use super::{least_squares, nonsymmetric, symmetric};

impl Method {
    /// Conjugate gradients (Hestenes and Stiefel 1952) for Hermitian positive definite matrices.
    pub const CG: Self = symmetric::CG;
    /// Conjugate gradients with a preconditioner that may change between iterations (Notay 2000).
    pub const FLEXIBLE_CG: Self = symmetric::FLEXIBLE_CG;
    /// Pipelined conjugate gradients, with all sums in one kernel (Ghysels and Vanroose 2014).
    pub const PIPELINED_CG: Self = symmetric::PIPELINED_CG;
    /// Minimal residuals (Paige and Saunders 1975) for Hermitian matrices, which may be indefinite.
    pub const MINRES: Self = symmetric::MINRES;
    /// Biconjugate gradients (Fletcher 1976); needs the adjoint.
    pub const BICG: Self = nonsymmetric::BICG;
    /// Stabilised biconjugate gradients (van der Vorst 1992).
    pub const BICGSTAB: Self = nonsymmetric::BICGSTAB;
    /// Conjugate gradients squared (Sonneveld 1989).
    pub const CGS: Self = nonsymmetric::CGS;
    /// Quasi-minimal residuals (Freund and Nachtigal 1994) with a left and a right preconditioner; needs adjoints.
    pub const QMR: Self = nonsymmetric::QMR;
    /// Transpose-free quasi-minimal residuals (Freund 1993), with right preconditioning.
    pub const TFQMR: Self = nonsymmetric::TFQMR;
    /// Generalised minimal residuals (Saad and Schultz 1986) with restarts; the maximum number of iterations counts
    /// cycles.
    pub const GMRES: Self = nonsymmetric::GMRES;
    /// Generalised minimal residuals with a preconditioner that may change (Saad 1993); the maximum counts cycles too.
    pub const FGMRES: Self = nonsymmetric::FGMRES;
    /// Flexible minimal residuals with directions kept from cycle to cycle (Hicken and Zingg 2010).
    pub const GCROTMK: Self = nonsymmetric::GCROTMK;
    /// Least squares by bidiagonalisation (Paige and Saunders 1982); needs the adjoint.
    pub const LSQR: Self = least_squares::LSQR;
    /// Least squares with monotonically decreasing residuals of the normal equations (Fong and Saunders 2011); needs
    /// the adjoint.
    pub const LSMR: Self = least_squares::LSMR;

    /// All solvers.
    pub const ALL: [Self; 14] = [
        Self::CG,
        Self::FLEXIBLE_CG,
        Self::PIPELINED_CG,
        Self::MINRES,
        Self::BICG,
        Self::BICGSTAB,
        Self::CGS,
        Self::QMR,
        Self::TFQMR,
        Self::GMRES,
        Self::FGMRES,
        Self::GCROTMK,
        Self::LSQR,
        Self::LSMR,
    ];

    /// Looks up a solver by name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::Basis;
    use super::super::program::{Statement, parse_parts};
    use super::*;

    #[test]
    fn programs_are_programs_and_have_names_of_their_own() {
        for (k, method) in Method::ALL.iter().enumerate() {
            let vectors: Vec<&str> = method.vectors.split_whitespace().chain(["x", "b"]).collect();
            let is_row_vector = |name: &str| method.row_vectors.split_whitespace().any(|row| row == name);
            for part in [method.begin, method.iteration, method.end] {
                for statement in parse_parts(part).unwrap() {
                    let Statement::Apply { x, y, .. } = statement else { continue };
                    let is_known = |name: &str| vectors.contains(&name) || is_row_vector(name);
                    assert!(is_known(&x) && is_known(&y) && y != "x", "{}: {y} of {x}", method.name);
                }
            }
            assert_eq!(Method::of_name(method.name).map(|found| found.vectors), Some(method.vectors));
            assert!(Method::ALL[..k].iter().all(|other| other.name != method.name));
            // Solvers that keep a basis end cycles themselves, and so do not begin anew.
            assert!(method.basis == Basis::None || !method.end.is_empty());
        }
    }
}
