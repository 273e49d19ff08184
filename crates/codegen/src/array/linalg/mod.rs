//! Linear algebra kernels: factorisations of stacks of matrices, triangular systems, eigenvalues and singular values.
//!
//! A block of threads processes a matrix, a panel of one, or part of an update; `blockIdx.x` is the matrix. Matrices
//! are stacks in C order, modified in place. Each kernel is a file of this folder, written with `elements.cuh` for real
//! and complex elements alike, after the files that it depends on.

use rtcg_hal::{DType, DTypeKind, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Default number of threads per block.
pub const LINALG_THREADS: u32 = 256;
/// Reflectors that are applied at a time, one per lane of a warp.
pub const LINALG_WY_BLOCK_COLUMNS: usize = 32;
/// Numbers of state that iterations keep per matrix.
pub const LINALG_ITERATION_STATE_LEN: usize = 9;
/// A report bit: a matrix has infinities or NaN.
pub const LINALG_NOT_FINITE: i32 = 1;
/// A report bit: an iteration did not converge.
pub const LINALG_NOT_CONVERGED: i32 = 2;
/// A report bit: a column was negligible compared with its matrix.
pub const LINALG_RANK_DEFICIENT: i32 = 4;

macro_rules! define_linalg_steps {
    ($($step:ident $name:literal [$($part:literal)*] $doc:literal;)*) => {
        /// The task of a kernel.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum LinalgStep { $(#[doc = $doc] $step),* }

        impl LinalgStep {
            fn step_kernel_name(self) -> &'static str {
                match self {
                    $(LinalgStep::$step => concat!("array_", $name),)*
                }
            }

            /// The kernel's file, behind those of what it is made with.
            fn step_source(self) -> &'static str {
                match self {
                    $(LinalgStep::$step => concat!(
                        $(include_str!(concat!($part, ".cuh")), "\n",)*
                        include_str!(concat!($name, ".cuh")),
                    ),)*
                }
            }

            #[cfg(test)]
            const ALL_STEPS: &[LinalgStep] = &[$(LinalgStep::$step),*];
        }
    };
}

define_linalg_steps! {
    LuPanel "lu_panel" [] "Computes LU factors of a panel, with partial pivoting.";
    LuRegisterPanel "lu_register_panel" ["shuffles" "division" "clusters" "register_panels" "pivots"] "Computes LU factors of a strip of a panel, in registers.";
    SwapRows "swap_rows" [] "Exchanges rows by the pivots of a panel.";
    SwapRowsTrsm "swap_rows_trsm" ["shuffles" "division" "warp_trsm"] "Exchanges rows like `SwapRows`, then solves unit triangular systems.";
    GemmUpdate "gemm_update" ["shuffles"] "Subtracts products from matrices.";
    UnitLower "unit_lower" [] "Copies lower triangles with ones on the diagonal.";
    Cholesky "cholesky" [] "Computes Cholesky factors of lower triangles.";
    CholeskyPanel "cholesky_panel" ["shuffles" "division"] "Computes Cholesky factors of panels, in registers.";
    Trsm "trsm" [] "Solves triangular systems for several right-hand sides.";
    TrsmWarps "trsm_warps" ["shuffles" "division" "warp_trsm"] "Solves triangular systems like `Trsm`, with right-hand sides in registers.";
    QrPanel "qr_panel" ["block_reduce" "householder" "apply_reflector"] "Computes Householder reflections that make panels upper triangular.";
    QrRegisterPanel "qr_register_panel" ["shuffles" "division" "householder" "clusters" "register_panels"] "Computes reflections like `QrPanel`, for strips in registers.";
    ApplyReflectors "apply_reflectors" ["apply_reflector"] "Applies reflections to columns.";
    MaxNorms "max_norms" ["triangle"] "Finds the largest real or imaginary part in each matrix, infinity if one is not finite.";
    ScaleMatrices "scale_matrices" ["triangle"] "Scales matrices by powers of two.";
    WyFactors "wy_factors" ["shuffles" "wy_vectors"] "Computes the triangular factors of products of reflections.";
    WyProducts "wy_products" ["shuffles" "wy_vectors"] "Computes partial products of reflection vectors and columns.";
    WyCombine "wy_combine" ["shuffles" "wy_vectors"] "Adds up the partial products and multiplies them by triangular factors.";
    SortValues "sort_values" [] "Sorts values and scales them back.";
    PermuteVectors "permute_vectors" [] "Writes rows as columns in the order of their values.";
    Jacobi "jacobi" ["rotations"] "Computes eigenvalues of small Hermitian matrices.";
    TridiagonalColumn "tridiagonal_column" ["warp_reduce"] "Applies earlier reflections to a column.";
    TridiagonalProduct "tridiagonal_product" ["warp_reduce"] "Computes the reflection of a column, and its product with the matrix.";
    TridiagonalPanel "tridiagonal_panel" ["warp_reduce" "shuffles" "grid_barrier"] "Reduces a panel of columns by a cooperative launch.";
    TridiagonalUpdate "tridiagonal_update" [] "Applies a panel of reflections to a matrix from both sides.";
    DivideLeaves "divide_leaves" [] "Computes eigenvectors of the leaves of tridiagonal matrices.";
    DivideDeflate "divide_deflate" ["block_reduce"] "Deflates the merge of two parts.";
    DivideRoots "divide_roots" ["warp_reduce"] "Finds the roots of secular equations.";
    DivideWeights "divide_weights" ["warp_reduce"] "Computes the vectors that belong to the roots.";
    DivideNorms "divide_norms" ["warp_reduce"] "Computes lengths and positions of eigenvectors.";
    DivideVectors "divide_vectors" [] "Computes eigenvectors of diagonal matrices plus a rank-1 matrix.";
    DivideRotate "divide_rotate" [] "Undoes the rotations of close values.";
    TridiagonalBisect "tridiagonal_bisect" [] "Computes eigenvalues by bisection.";
    Balance "balance" ["block_reduce"] "Balances the norms of rows and columns.";
    UnscaleEigenvalues "unscale_eigenvalues" [] "Scales the parts of eigenvalues back.";
    SubstituteEigenvectors "substitute_eigenvectors" ["vectors"] "Computes eigenvectors of Schur forms by substitution.";
    FinishEigenvectors "finish_eigenvectors" ["vectors"] "Undoes the balancing of eigenvectors and normalises them.";
    HessenbergColumn "hessenberg_column" ["block_reduce" "householder"] "Computes the reflection of a column.";
    HessenbergLeft "hessenberg_left" ["shuffles"] "Applies the reflection from the left.";
    HessenbergRight "hessenberg_right" [] "Applies the reflection from the right.";
    SchurIterate "schur_iterate" ["reflectors_3" "qr_iteration"] "Runs QR iterations in windows and lists their reflectors.";
    SchurApply "schur_apply" ["shuffles" "reflectors_3"] "Applies listed reflectors to the rest of the matrix.";
    OneSidedJacobi "one_sided_jacobi" ["rotations" "jacobi_columns"] "Orthogonalises columns of small matrices.";
    OneSidedJacobiRound "one_sided_jacobi_round" ["rotations" "jacobi_columns"] "Runs one round of orthogonalisation for long columns.";
    NormalizeColumns "normalize_columns" ["rotations" "jacobi_columns"] "Computes the lengths of columns and normalises them.";
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinalgSpec {
    /// `F32`, `F64`, `C64` or `C128`: the elements of matrices.
    pub dtype: DType,
    /// Its task.
    pub step: LinalgStep,
    /// Threads per pair of columns, per reflected column, or per row of one; rows per thread of a register panel;
    /// otherwise 1.
    pub group: u16,
    /// Whether eigenvectors of real matrices are complex.
    pub is_wide: bool,
    /// Maximum threads per block, for kernels that need to know.
    pub threads: u16,
    /// Maximum rows of a triangular system.
    pub panel: u16,
    /// Right-hand sides of triangular systems that a block handles at a time.
    pub sides: u16,
    /// Columns per register panel: a power of two.
    pub width: u16,
    /// Blocks of the cluster that has a register panel.
    pub cluster: u16,
    /// Reflectors per panel that are stored as pairs of vectors before a Hermitian matrix is updated; bulges of a chain
    /// of QR iterations, and pairs of their shifts.
    pub pairs: u16,
    /// Rows, or columns, of a tile per thread; each direction has 16 threads.
    pub part: u16,
    /// Elements along `k` that are loaded into shared memory at once.
    pub depth: u16,
}

impl LinalgSpec {
    /// Makes a kernel with default choices.
    pub fn new(dtype: DType, step: LinalgStep) -> Self {
        Self {
            dtype,
            step,
            group: 1,
            is_wide: false,
            threads: LINALG_THREADS as u16,
            panel: 64,
            sides: 8,
            width: 1,
            cluster: 1,
            pairs: 8,
            part: 4,
            depth: 16,
        }
    }
}

impl KernelSpec for LinalgSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.step.step_kernel_name().into()
    }

    fn source(&self) -> String {
        let mut text = String::new();
        let is_complex = self.dtype.kind() == DTypeKind::Complex;
        if is_complex || self.is_wide {
            text.push_str("#include <pycuda-complex.hpp>\n");
        }
        let real = self.dtype.real_part();
        let (eps, tiny) = epsilon_and_min_normal(real);
        let _ = write!(
            text,
            "typedef {} T;\ntypedef {} R;\n\
             #define EPS ((R){eps:e})  // The distance from 1 to the next number.\n\
             #define TINY ((R){tiny:e})  // The least normal number.\n",
            self.dtype.c_type(),
            real.c_type()
        );
        let numbers: [(&str, i64); 15] = [
            ("IS_COMPLEX", is_complex.into()),
            ("IS_WIDE", self.is_wide.into()),
            ("GROUP", self.group.into()),
            ("THREADS", self.threads.into()),
            ("PANEL", self.panel.into()),
            ("SIDES", self.sides.into()),
            ("WIDTH", self.width.into()),
            ("CLUSTER", self.cluster.into()),
            ("PAIRS", self.pairs.into()),
            ("PART", self.part.into()),
            ("DEPTH", self.depth.into()),
            ("STATE", LINALG_ITERATION_STATE_LEN as i64),
            ("NOT_FINITE", LINALG_NOT_FINITE.into()),
            ("NOT_CONVERGED", LINALG_NOT_CONVERGED.into()),
            ("RANK_DEFICIENT", LINALG_RANK_DEFICIENT.into()),
        ];
        for (name, number) in numbers {
            let _ = writeln!(text, "#define {name} {number}");
        }
        text.push_str(include_str!("elements.cuh"));
        text.push('\n');
        text.push_str(self.step.step_source());
        text
    }
}

/// The distance from 1 to the next number and the least normal number of a real type.
fn epsilon_and_min_normal(real: DType) -> (f64, f64) {
    match real {
        DType::F32 => (f32::EPSILON.into(), f32::MIN_POSITIVE.into()),
        _ => (f64::EPSILON, f64::MIN_POSITIVE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_named_in_its_source() {
        for &step in LinalgStep::ALL_STEPS {
            let kernel = LinalgSpec::new(DType::C64, step);
            let source = kernel.source();
            let head = source.rsplit_once("__global__ void ").map_or("", |(_, head)| head);
            assert!(head.contains(&format!("{}(", kernel.kernel_name())), "{}", kernel.kernel_name());
        }
    }

    #[test]
    fn only_complex_numbers_need_their_header() {
        let kernel = LinalgSpec::new(DType::F32, LinalgStep::SubstituteEigenvectors);
        assert!(!kernel.source().contains("pycuda-complex"));
        assert!(LinalgSpec { is_wide: true, ..kernel }.source().contains("pycuda-complex"));
        assert!(kernel.source().contains("#define EPS ((R)1.1920928955078125e-7)"));
    }
}
