//! Solver methods: programs (`program.rs`) for the start, an iteration and the end.

/// An iterative solver.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub(super) name: &'static str,
    /// Vectors as long as the solution beside `x`, and as long as the right side beside `b`.
    pub(super) vectors: &'static str,
    pub(super) row_vectors: &'static str,
    /// Programs in parts, because those of several solvers have parts in common.
    pub(super) begin: &'static [&'static str],
    pub(super) iteration: &'static [&'static str],
    /// What is computed at the end; where there is nothing, the beginning is computed once more, and decides.
    pub(super) end: &'static [&'static str],
    pub(super) basis: Basis,
}

/// Whether a solver keeps a basis of its Krylov space, so that what is enqueued at once is a cycle (`gmres.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Short recurrences.
    None,
    /// Of `M A`: the preconditioner is applied from the left.
    Left,
    /// Of `A`, with the preconditioned vectors kept too, so that the preconditioner may change.
    Flexible,
    /// As `Flexible`, and orthogonal to the images of directions that are kept from cycle to cycle.
    Recycling,
}

impl Method {
    /// Its name, which is SciPy's if SciPy has the solver.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// The residual, its norm, and that of the right side; for programs with the vectors `q` and `r`.
pub(super) const RESIDUAL: &str = "\
    q = A x
    r = b - q
    bb = norm2(b)
    rr = norm2(r)";

/// What the norm of the residual has to be less than, and whether it is already.
pub(super) const TEST: &str = "\
    threshold = max(atol, rtol * sqrt(bb))
    begin sqrt(rr)
    stop if bb == 0";
