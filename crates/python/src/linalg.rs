//! Native parts of `rtcg.linalg`. They run with the interpreter released: most wait for the device.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_array_tuple, compute_detached, core_array};
use crate::gpuarray::{PyGpuArray, parse_dtype};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{
    Arg, Epilogue, GpuArray, IterationLimits, MatmulOptions, MatrixNorm, Precision, Tolerance, Transposition, Triangle,
    TriangularSystem,
};

/// The product, perhaps by integers, with an expression applied to each element before it is stored.
#[pyfunction]
fn linalg_matmul<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    expression: Option<&str>,
    operands: Vec<(String, Bound<'py, PyGpuArray>)>,
    dtype: Option<&BoundAny<'py>>,
    is_emulated: bool,
) -> PyResult<BoundAny<'py>> {
    let of_name = |(name, array): &'_ (String, Bound<'py, PyGpuArray>)| (name.clone(), core_array(array));
    let owned: Vec<(String, GpuArray)> = operands.iter().map(of_name).collect();
    let operands: Vec<(&str, &GpuArray)> = owned.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let dtype = dtype.map(|dtype| parse_dtype(a.py(), dtype)).transpose()?;
    let epilogue = expression.map(|expression| Epilogue { expression, operands: &operands, dtype });
    let precision = if is_emulated { Precision::Emulated } else { Precision::Native };
    let (y, options) = (core_array(b), MatmulOptions { epilogue: epilogue.as_ref(), precision });
    compute_array(a, |x| x.matmul_with(&y, &options))
}

#[pyfunction]
fn linalg_solve<'py>(a: ArrayArg<'_, 'py>, b: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    let matrices = &a.get().current_state().array;
    compute_array(b, |b| matrices.solve(b))
}

/// Whether the matrix (0), its transpose (1) or its adjoint (2) is meant.
fn transposition(trans: u8) -> Transposition {
    match trans {
        0 => Transposition::None,
        1 => Transposition::Transpose,
        _ => Transposition::Adjoint,
    }
}

#[pyfunction]
fn linalg_solve_triangular<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    trans: u8,
    lower: bool,
    is_unit: bool,
) -> PyResult<BoundAny<'py>> {
    let matrices = &a.get().current_state().array;
    let form = TriangularSystem { triangle: triangle_from_upper_flag(!lower), form: transposition(trans), is_unit };
    compute_array(b, |b| matrices.solve_triangular(b, form))
}

#[pyfunction]
fn linalg_lu_factor<'py>(a: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(a, |a| a.lu_factor().map(Into::into))
}

#[pyfunction]
fn linalg_lu_solve<'py>(
    lu: ArrayArg<'_, 'py>,
    piv: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    trans: u8,
) -> PyResult<BoundAny<'py>> {
    let (factors, pivots) = (&lu.get().current_state().array, &piv.get().current_state().array);
    compute_array(b, |b| factors.lu_solve(pivots, b, transposition(trans)))
}

#[pyfunction]
fn linalg_inv<'py>(a: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    compute_array(a, GpuArray::inv)
}

#[pyfunction]
fn linalg_det<'py>(a: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    compute_array(a, GpuArray::det)
}

#[pyfunction]
fn linalg_slogdet<'py>(a: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(a, |a| a.slogdet().map(|found| [found.sign, found.log]))
}

#[pyfunction]
fn linalg_cholesky<'py>(a: ArrayArg<'_, 'py>, upper: bool) -> PyResult<BoundAny<'py>> {
    compute_array(a, |a| a.cholesky(triangle_from_upper_flag(upper)))
}

/// Two arrays, or one for mode "r".
#[pyfunction]
fn linalg_qr<'py>(a: ArrayArg<'_, 'py>, mode: &str) -> PyResult<Bound<'py, PyTuple>> {
    match mode {
        "reduced" | "complete" => compute_array_tuple(a, |a| a.qr(mode == "complete").map(Into::into)),
        "r" => compute_array_tuple(a, |a| Ok([a.qr_r()?])),
        "raw" => compute_array_tuple(a, |a| a.qr_raw().map(Into::into)),
        _ => Err(PyValueError::new_err(format!(
            "Unrecognized mode '{mode}'; expected 'reduced', 'complete', 'r' or 'raw'"
        ))),
    }
}

fn triangle_from_upper_flag(upper: bool) -> Triangle {
    if upper { Triangle::Upper } else { Triangle::Lower }
}

#[pyfunction]
fn linalg_eigh<'py>(a: ArrayArg<'_, 'py>, upper: bool) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(a, |a| a.eigh(triangle_from_upper_flag(upper), IterationLimits::default()).map(Into::into))
}

#[pyfunction]
fn linalg_eigvalsh<'py>(a: ArrayArg<'_, 'py>, upper: bool) -> PyResult<BoundAny<'py>> {
    compute_array(a, |a| a.eigvalsh(triangle_from_upper_flag(upper), IterationLimits::default()))
}

#[pyfunction]
fn linalg_eig<'py>(a: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(a, |a| a.eig(IterationLimits::default()).map(Into::into))
}

#[pyfunction]
fn linalg_eigvals<'py>(a: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    compute_array(a, |a| a.eigvals(IterationLimits::default()))
}

#[pyfunction]
fn linalg_svd<'py>(a: ArrayArg<'_, 'py>, full: bool, hermitian: bool) -> PyResult<Bound<'py, PyTuple>> {
    compute_array_tuple(a, |a| {
        let limits = IterationLimits::default();
        let found = if hermitian { a.svd_of_hermitian(limits)? } else { a.svd(full, limits)? };
        Ok([found.u, found.s, found.vh])
    })
}

#[pyfunction]
fn linalg_svdvals<'py>(a: ArrayArg<'_, 'py>, hermitian: bool) -> PyResult<BoundAny<'py>> {
    let limits = IterationLimits::default();
    compute_array(a, |a| if hermitian { a.svdvals_of_hermitian(limits) } else { a.svdvals(limits) })
}

/// An array with a tolerance of each matrix, or a number for all.
enum RcondArg {
    Array(GpuArray),
    Number(f64),
}

impl<'a, 'py> FromPyObject<'a, 'py> for RcondArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyGpuArray>() {
            Ok(array) => Ok(Self::Array(array.get().current_state().array.clone())),
            Err(_) => object.extract().map(Self::Number),
        }
    }
}

impl RcondArg {
    fn as_operand(&self) -> Arg<'_> {
        match self {
            RcondArg::Array(array) => array.into(),
            RcondArg::Number(number) => (*number).into(),
        }
    }
}

#[pyfunction]
#[pyo3(signature = (a, ratio, hermitian))]
fn linalg_pinv<'py>(a: ArrayArg<'_, 'py>, ratio: Option<RcondArg>, hermitian: bool) -> PyResult<BoundAny<'py>> {
    let tolerance = ratio.as_ref().map_or(Tolerance::Epsilon, |ratio| Tolerance::Relative(ratio.as_operand()));
    compute_array(a, |a| a.pinv(tolerance, hermitian, IterationLimits::default()))
}

#[pyfunction]
#[pyo3(signature = (a, size, ratio, hermitian))]
fn linalg_matrix_rank<'py>(
    a: ArrayArg<'_, 'py>,
    size: Option<RcondArg>,
    ratio: Option<RcondArg>,
    hermitian: bool,
) -> PyResult<BoundAny<'py>> {
    let tolerance = match (&size, &ratio) {
        (Some(size), _) => Tolerance::Absolute(size.as_operand()),
        (None, Some(ratio)) => Tolerance::Relative(ratio.as_operand()),
        (None, None) => Tolerance::Epsilon,
    };
    compute_array(a, |a| a.matrix_rank(tolerance, hermitian, IterationLimits::default()))
}

/// Solutions, residuals, the rank, and singular values.
#[pyfunction]
#[pyo3(signature = (a, b, ratio))]
fn linalg_lstsq<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    ratio: Option<f64>,
) -> PyResult<(BoundAny<'py>, BoundAny<'py>, usize, BoundAny<'py>)> {
    let right = &b.get().current_state().array;
    let found = compute_detached(a, |a| a.lstsq(right, ratio, IterationLimits::default()))?;
    let like = |array| PyGpuArray::new_like(a, array);
    Ok((like(found.solution)?, like(found.residuals)?, found.rank, like(found.singular_values)?))
}

fn parse_matrix_norm(name: &str) -> PyResult<MatrixNorm> {
    Ok(match name {
        "fro" => MatrixNorm::Frobenius,
        "nuc" => MatrixNorm::Nuclear,
        "2" => MatrixNorm::MaxSingularValue,
        "-2" => MatrixNorm::MinSingularValue,
        "1" => MatrixNorm::MaxColumnSum,
        "-1" => MatrixNorm::MinColumnSum,
        "inf" => MatrixNorm::MaxRowSum,
        "-inf" => MatrixNorm::MinRowSum,
        _ => return Err(PyValueError::new_err(format!("'{name}' is no norm of matrices"))),
    })
}

#[pyfunction]
#[pyo3(signature = (a, order, axes, keepdims))]
fn linalg_vector_norm<'py>(
    a: ArrayArg<'_, 'py>,
    order: f64,
    axes: Option<Vec<isize>>,
    keepdims: bool,
) -> PyResult<BoundAny<'py>> {
    compute_array(a, |a| a.vector_norm(order, axes.as_deref(), keepdims))
}

#[pyfunction]
fn linalg_matrix_norm<'py>(a: ArrayArg<'_, 'py>, name: &str) -> PyResult<BoundAny<'py>> {
    let norm = parse_matrix_norm(name)?;
    compute_array(a, |a| a.matrix_norm(norm, IterationLimits::default()))
}

#[pyfunction]
fn linalg_cond<'py>(a: ArrayArg<'_, 'py>, name: &str) -> PyResult<BoundAny<'py>> {
    let norm = parse_matrix_norm(name)?;
    compute_array(a, |a| a.cond(norm, IterationLimits::default()))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions linalg_matmul, linalg_solve, linalg_solve_triangular, linalg_lu_factor, linalg_lu_solve, linalg_inv, linalg_det, linalg_slogdet, linalg_cholesky,
            linalg_qr, linalg_eigh, linalg_eigvalsh, linalg_eig, linalg_eigvals, linalg_svd, linalg_svdvals,
            linalg_pinv, linalg_matrix_rank, linalg_lstsq, linalg_vector_norm, linalg_matrix_norm, linalg_cond;
    }
}
