//! Native parts of `rtcg.cublas`, `rtcg.cufft` and `rtcg.cusolver`. They run with the interpreter released.

use crate::array_calls::{ArrayArg, BoundAny, core_array};
use crate::errors::{generator_error, library_error, shown};
use crate::gpuarray::{PyGpuArray, parse_scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::array::{GpuArray, Scalar};
use rtcg::cublas::{Handle as BlasHandle, Product, Triangular};
use rtcg::cublaslt::{Activation, MatmulChoice, MatmulEpilogue};
use rtcg::cufft::{Embedding, Plan, PlanRequest};
use rtcg::cusolver::{Handle as SolverHandle, JacobiLimits, Uplo};
use rtcg::driver::libraries::Library;
use rtcg::driver::sys::cublas::{self, cublasMath_t};
use rtcg::driver::sys::libraries::{HostNumber, NamedFunctions, ParameterKind, Signature, cudaDataType};
use rtcg::driver::sys::{cufft, cusolver};
use rtcg::driver::{Context, WeakScalar};

fn library(name: &str) -> PyResult<Library> {
    match name {
        "cublas" => Ok(Library::Cublas),
        "cufft" => Ok(Library::Cufft),
        "cusolver" => Ok(Library::Cusolver),
        _ => Err(PyValueError::new_err(format!("library is '{name}'; expected 'cublas', 'cufft' or 'cusolver'"))),
    }
}

fn current_context() -> PyResult<Context> {
    Context::current_or_error().map_err(crate::errors::driver_error)
}

fn raised<T>(py: Python<'_>, result: rtcg::Result<T>) -> PyResult<T> {
    result.map_err(|error| generator_error(py, error))
}

/// A scalar argument.
fn number(name: &str, object: &BoundAny<'_>) -> PyResult<WeakScalar> {
    match parse_scalar(object)? {
        Some(Scalar::Weak(value) | Scalar::Strong(_, value)) => Ok(value),
        None => Err(PyTypeError::new_err(format!("{name} is {}; expected a number", shown(object)))),
    }
}

fn number_object<'py>(py: Python<'py>, value: WeakScalar) -> PyResult<BoundAny<'py>> {
    Ok(match value {
        WeakScalar::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        WeakScalar::Int(value) => value.into_pyobject(py)?.into_any(),
        WeakScalar::Float(value) => value.into_pyobject(py)?.into_any(),
        WeakScalar::Complex(re, im) => pyo3::types::PyComplex::from_doubles(py, re, im).into_any(),
    })
}

/// What a function returns for arrays like `a`.
fn compute<'py, T: Send>(a: ArrayArg<'_, 'py>, body: impl FnOnce(&GpuArray) -> rtcg::Result<T> + Send) -> PyResult<T> {
    let (py, array) = (a.py(), core_array(a));
    raised(py, PyGpuArray::with_allocator_of(a, || py.detach(|| body(&array))))
}

fn compute_one<'py>(
    a: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    body: impl FnOnce(&GpuArray) -> rtcg::Result<GpuArray> + Send,
) -> PyResult<BoundAny<'py>> {
    let made = compute(a, body)?;
    match out {
        Some(out) => Ok(out.clone().into_any()),
        None => PyGpuArray::new_like(a, made),
    }
}

fn compute_tuple<'py, const N: usize>(
    a: ArrayArg<'_, 'py>,
    body: impl FnOnce(&GpuArray) -> rtcg::Result<[GpuArray; N]> + Send,
) -> PyResult<Bound<'py, PyTuple>> {
    let made = compute(a, body)?;
    let objects: Vec<_> = made.into_iter().map(|array| PyGpuArray::new_like(a, array)).collect::<PyResult<_>>()?;
    PyTuple::new(a.py(), objects)
}

/// A handle of cuBLAS for the current context.
///
/// The library is opened by the handle's first call, and the handle destroyed with its last reference. Functions without
/// a handle use one of the calling thread. Work goes to the current stream, in a workspace from the pool of arrays; numbers
/// are passed from host memory, and returned to it unless a function is given an ``out``.
#[pyclass(name = "CublasHandle", module = "rtcg.cublas", frozen)]
struct PyCublasHandle(BlasHandle);

#[pymethods]
impl PyCublasHandle {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(BlasHandle::new_in(&current_context()?)))
    }

    /// The handle of the library as an integer, set to the current stream.
    #[getter]
    fn handle(&self, py: Python<'_>) -> PyResult<usize> {
        raised(py, py.detach(|| self.0.raw()))
    }

    /// The library's version, ``(major, minor)``.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        let version = raised(py, py.detach(|| self.0.version()))?;
        Ok((version / 1000, version % 1000 / 10))
    }

    /// Which arithmetic functions may use that have no `compute`: a value of ``cublasMath_t``.
    #[getter]
    fn get_math_mode(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(raised(py, py.detach(|| self.0.math_mode()))?.0)
    }

    #[setter]
    fn set_math_mode(&self, py: Python<'_>, mode: u32) -> PyResult<()> {
        raised(py, py.detach(|| self.0.set_math_mode(cublasMath_t(mode))))
    }
}

/// A handle of cuSOLVER for the current context: as `rtcg.cublas.Handle`.
#[pyclass(name = "CusolverHandle", module = "rtcg.cusolver", frozen)]
struct PyCusolverHandle(SolverHandle);

#[pymethods]
impl PyCusolverHandle {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(SolverHandle::new_in(&current_context()?)))
    }

    /// The handle of the library as an integer, set to the current stream.
    #[getter]
    fn handle(&self, py: Python<'_>) -> PyResult<usize> {
        raised(py, py.detach(|| self.0.raw()))
    }

    /// The library's version, ``(major, minor)``.
    #[getter]
    fn version(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        let version = raised(py, py.detach(|| self.0.version()))?;
        Ok((version / 1000, version % 1000 / 10))
    }
}

type BlasArg<'a, 'py> = Option<&'a Bound<'py, PyCublasHandle>>;
type SolverArg<'a, 'py> = Option<&'a Bound<'py, PyCusolverHandle>>;

fn blas_handle(handle: BlasArg<'_, '_>, py: Python<'_>) -> PyResult<BlasHandle> {
    match handle {
        Some(handle) => Ok(handle.get().0.clone()),
        None => raised(py, BlasHandle::of_thread(&current_context()?)),
    }
}

fn solver_handle(handle: SolverArg<'_, '_>, py: Python<'_>) -> PyResult<SolverHandle> {
    match handle {
        Some(handle) => Ok(handle.get().0.clone()),
        None => raised(py, SolverHandle::of_thread(&current_context()?)),
    }
}

/// `alpha`, `beta`, `transa`, `transb` and `compute` of a product.
#[derive(FromPyObject)]
struct ProductArgs<'py>(BoundAny<'py>, BoundAny<'py>, String, String, String);

impl ProductArgs<'_> {
    fn parsed(&self, py: Python<'_>) -> PyResult<Product> {
        let Self(alpha, beta, op_a, op_b, compute) = self;
        let named = |name: &str, text: &str| {
            let wrong = |_| PyValueError::new_err(format!("{name} is '{text}'; expected 'n', 't' or 'c'"));
            text.parse().map_err(wrong)
        };
        Ok(Product {
            alpha: number("alpha", alpha)?,
            beta: number("beta", beta)?,
            op_a: named("transa", op_a)?,
            op_b: named("transb", op_b)?,
            compute: raised(py, compute.parse())?,
        })
    }
}

#[pyfunction]
fn cublas_gemm<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    product: ProductArgs<'py>,
    is_batched: bool,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    let (b, target) = (core_array(b), out.map(core_array));
    compute_one(a, out, |a| match is_batched {
        false => handle.gemm(a, &b, target.as_ref(), &product),
        true => handle.gemm_strided_batched(a, &b, target.as_ref(), &product),
    })
}

#[pyfunction]
fn cublas_gemm_batched<'py>(
    a: Vec<Bound<'py, PyGpuArray>>,
    b: Vec<Bound<'py, PyGpuArray>>,
    product: ProductArgs<'py>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let first = a.first().ok_or_else(|| PyValueError::new_err("a is an empty list; expected matrices"))?;
    let (product, handle) = (product.parsed(first.py())?, blas_handle(handle, first.py())?);
    let (a, b): (Vec<_>, Vec<_>) = (a.iter().map(core_array).collect(), b.iter().map(core_array).collect());
    compute_one(first, None, |_| {
        let (a, b): (Vec<&GpuArray>, Vec<&GpuArray>) = (a.iter().collect(), b.iter().collect());
        handle.gemm_batched(&a, &b, &product)
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "cuBLAS's arguments")]
fn cublas_matmul<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    product: ProductArgs<'py>,
    bias: Option<ArrayArg<'_, 'py>>,
    activation: Option<&str>,
    workspace_bytes: usize,
    algorithm: usize,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    let (b, target, bias) = (core_array(b), out.map(core_array), bias.map(core_array));
    let activation = activation_named(a.py(), activation)?;
    let choice = MatmulChoice { workspace_bytes, algorithm };
    compute_one(a, out, |a| {
        let epilogue = MatmulEpilogue { bias: bias.as_ref(), activation };
        handle.matmul(a, &b, target.as_ref(), &product, &epilogue, choice)
    })
}

fn activation_named(py: Python<'_>, name: Option<&str>) -> PyResult<Activation> {
    raised(py, name.map_or(Ok(Activation::Identity), str::parse))
}

/// The proposed algorithms as pairs: bytes of workspace, and waves.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "cuBLAS's arguments")]
fn cublas_matmul_algorithms<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    product: ProductArgs<'py>,
    bias: Option<ArrayArg<'_, 'py>>,
    activation: Option<&str>,
    workspace_bytes: usize,
    handle: BlasArg<'_, 'py>,
) -> PyResult<Vec<(usize, f32)>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    let (b, bias) = (core_array(b), bias.map(core_array));
    let activation = activation_named(a.py(), activation)?;
    let found = compute(a, |a| {
        let epilogue = MatmulEpilogue { bias: bias.as_ref(), activation };
        handle.matmul_algorithms(a, &b, &product, &epilogue, workspace_bytes)
    })?;
    Ok(found.iter().map(|found| (found.workspace_bytes, found.waves)).collect())
}

#[pyfunction]
fn cublas_gemv<'py>(
    a: ArrayArg<'_, 'py>,
    x: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    product: ProductArgs<'py>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    let (x, target) = (core_array(x), out.map(core_array));
    compute_one(a, out, |a| handle.gemv(a, &x, target.as_ref(), product.op_a, product.alpha, product.beta))
}

#[pyfunction]
fn cublas_geam<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    product: ProductArgs<'py>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    let (b, target) = (core_array(b), out.map(core_array));
    compute_one(a, out, |a| handle.geam(a, &b, target.as_ref(), &product))
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "cuBLAS's arguments")]
fn cublas_trsm<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    alpha: &BoundAny<'py>,
    is_right: bool,
    is_lower: bool,
    trans: &str,
    is_unit: bool,
    handle: BlasArg<'_, 'py>,
) -> PyResult<()> {
    let handle = blas_handle(handle, a.py())?;
    let (alpha, b, op) = (number("alpha", alpha)?, core_array(b), raised(a.py(), trans.parse())?);
    compute(a, |a| handle.trsm(a, &b, Triangular { is_right, is_lower, op, is_unit }, alpha))
}

#[pyfunction]
fn cublas_syrk<'py>(
    a: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    product: ProductArgs<'py>,
    is_lower: bool,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (product, handle) = (product.parsed(a.py())?, blas_handle(handle, a.py())?);
    if product.op_a.conjugated {
        return Err(PyValueError::new_err("trans is 'c'; expected 'n' or 't' for a symmetric product"));
    }
    let target = out.map(core_array);
    let (transposed, alpha, beta) = (product.op_a.transposed, product.alpha, product.beta);
    compute_one(a, out, |a| handle.syrk(a, target.as_ref(), transposed, is_lower, alpha, beta))
}

#[pyfunction]
fn cublas_getrf_batched<'py>(a: ArrayArg<'_, 'py>, handle: BlasArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let handle = blas_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.getrf_batched(a))
}

#[pyfunction]
fn cublas_getrs_batched<'py>(
    lu: ArrayArg<'_, 'py>,
    piv: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    trans: &str,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, op) = (blas_handle(handle, b.py())?, raised(b.py(), trans.parse())?);
    let (lu, piv) = (core_array(lu), core_array(piv));
    compute_one(b, None, |b| handle.getrs_batched(&lu, &piv, b, op))
}

#[pyfunction]
fn cublas_axpy<'py>(
    alpha: &BoundAny<'py>,
    x: ArrayArg<'_, 'py>,
    y: ArrayArg<'_, 'py>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<()> {
    let (alpha, handle, y) = (number("alpha", alpha)?, blas_handle(handle, x.py())?, core_array(y));
    compute(x, |x| handle.axpy(alpha, x, &y))
}

#[pyfunction]
fn cublas_scal<'py>(alpha: &BoundAny<'py>, x: ArrayArg<'_, 'py>, handle: BlasArg<'_, 'py>) -> PyResult<()> {
    let (alpha, handle) = (number("alpha", alpha)?, blas_handle(handle, x.py())?);
    compute(x, |x| handle.scal(alpha, x))
}

/// The number, or the array that got it.
fn number_or_out<'py>(
    py: Python<'py>,
    found: Option<WeakScalar>,
    out: Option<ArrayArg<'_, 'py>>,
) -> PyResult<BoundAny<'py>> {
    match (found, out) {
        (Some(value), _) => number_object(py, value),
        (None, out) => Ok(out.map_or_else(|| py.None().into_bound(py), |out| out.clone().into_any())),
    }
}

#[pyfunction]
fn cublas_dot<'py>(
    x: ArrayArg<'_, 'py>,
    y: ArrayArg<'_, 'py>,
    conjugates: bool,
    out: Option<ArrayArg<'_, 'py>>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, y, target) = (blas_handle(handle, x.py())?, core_array(y), out.map(core_array));
    number_or_out(x.py(), compute(x, |x| handle.dot(x, &y, conjugates, target.as_ref()))?, out)
}

#[pyfunction]
fn cublas_nrm2<'py>(
    x: ArrayArg<'_, 'py>,
    out: Option<ArrayArg<'_, 'py>>,
    handle: BlasArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, target) = (blas_handle(handle, x.py())?, out.map(core_array));
    number_or_out(x.py(), compute(x, |x| handle.nrm2(x, target.as_ref()))?, out)
}

#[pyfunction]
fn cublas_amax<'py>(x: ArrayArg<'_, 'py>, handle: BlasArg<'_, 'py>) -> PyResult<usize> {
    let handle = blas_handle(handle, x.py())?;
    compute(x, |x| handle.amax(x))
}

/// A plan of transforms, for arrays of the current context; see `rtcg.cufft`, whose functions make plans.
#[pyclass(name = "CufftPlan", module = "rtcg.cufft", frozen)]
struct PyCufftPlan(Plan);

#[pymethods]
impl PyCufftPlan {
    /// `embeddings` are the lengths, the stride and the distance of the input and of the output.
    #[new]
    #[pyo3(signature = (lengths, kind, batch = 1, embeddings = None))]
    fn new(
        py: Python<'_>,
        lengths: Vec<i64>,
        kind: &str,
        batch: i64,
        embeddings: Option<[(Vec<i64>, i64, i64); 2]>,
    ) -> PyResult<Self> {
        let types = raised(py, kind.parse())?;
        let layout =
            embeddings.map(|sides| sides.map(|(lengths, stride, distance)| Embedding { lengths, stride, distance }));
        let request = PlanRequest { lengths, types, batch, layout };
        let context = current_context()?;
        Ok(Self(raised(py, py.detach(|| Plan::new_in(&context, &request)))?))
    }

    /// The handle of the library as an integer.
    #[getter]
    fn handle(&self) -> i32 {
        self.0.raw()
    }

    /// The bytes of its work area.
    #[getter]
    fn work_bytes(&self) -> usize {
        self.0.work_bytes()
    }

    /// Use the memory of an array as work area from now on; None takes memory of the pool for each transform.
    fn set_work_area(&self, py: Python<'_>, area: Option<ArrayArg<'_, '_>>) -> PyResult<()> {
        raised(py, self.0.set_work_area(area.map(core_array).as_ref()))
    }

    /// Transform an array, without waiting; nothing is divided.
    ///
    /// Parameters
    /// ----------
    /// x : GPUArray
    ///     The input, contiguous in row-major order. A transform from complex to real numbers overwrites it.
    /// out : GPUArray, optional
    ///     The result; may be `x`.
    /// inverse : bool
    ///     The direction, between complex numbers.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     `out`, or a new array of the plan's shape. Complex numbers of 16 bits are pairs in a last axis.
    #[pyo3(signature = (x, out = None, inverse = false))]
    fn execute<'py>(
        &self,
        x: ArrayArg<'_, 'py>,
        out: Option<ArrayArg<'_, 'py>>,
        inverse: bool,
    ) -> PyResult<BoundAny<'py>> {
        let target = out.map(core_array);
        compute_one(x, out, |x| self.0.execute(x, target.as_ref(), inverse))
    }
}

fn uplo(is_lower: bool) -> Uplo {
    if is_lower { Uplo::Lower } else { Uplo::Upper }
}

#[pyfunction]
fn cusolver_potrf<'py>(
    a: ArrayArg<'_, 'py>,
    is_lower: bool,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.potrf(a, uplo(is_lower)))
}

#[pyfunction]
fn cusolver_potrs<'py>(
    c: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    is_lower: bool,
    handle: SolverArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, factor) = (solver_handle(handle, b.py())?, core_array(c));
    compute_one(b, None, |b| handle.potrs(&factor, b, uplo(is_lower)))
}

#[pyfunction]
fn cusolver_getrf<'py>(a: ArrayArg<'_, 'py>, handle: SolverArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.getrf(a))
}

#[pyfunction]
fn cusolver_getrs<'py>(
    lu: ArrayArg<'_, 'py>,
    piv: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    trans: &str,
    handle: SolverArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, op) = (solver_handle(handle, b.py())?, raised(b.py(), trans.parse())?);
    let (lu, piv) = (core_array(lu), core_array(piv));
    compute_one(b, None, |b| handle.getrs(&lu, &piv, b, op))
}

#[pyfunction]
fn cusolver_geqrf<'py>(a: ArrayArg<'_, 'py>, handle: SolverArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.geqrf(a))
}

#[pyfunction]
fn cusolver_ormqr<'py>(
    qr: ArrayArg<'_, 'py>,
    tau: ArrayArg<'_, 'py>,
    c: ArrayArg<'_, 'py>,
    is_right: bool,
    trans: &str,
    handle: SolverArg<'_, 'py>,
) -> PyResult<BoundAny<'py>> {
    let (handle, op) = (solver_handle(handle, c.py())?, raised(c.py(), trans.parse())?);
    let (qr, tau) = (core_array(qr), core_array(tau));
    compute_one(c, None, |c| handle.ormqr(&qr, &tau, c, is_right, op))
}

#[pyfunction]
fn cusolver_gesvd<'py>(
    a: ArrayArg<'_, 'py>,
    full_matrices: bool,
    compute_uv: bool,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.gesvd(a, full_matrices, compute_uv))
}

#[pyfunction]
fn cusolver_gesvdj<'py>(
    a: ArrayArg<'_, 'py>,
    full_matrices: bool,
    tolerance: Option<f64>,
    max_sweeps: Option<i32>,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.gesvdj(a, full_matrices, JacobiLimits { tolerance, max_sweeps }))
}

#[pyfunction]
fn cusolver_syevd<'py>(
    a: ArrayArg<'_, 'py>,
    is_lower: bool,
    compute_v: bool,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.syevd(a, uplo(is_lower), compute_v))
}

#[pyfunction]
fn cusolver_syevj<'py>(
    a: ArrayArg<'_, 'py>,
    is_lower: bool,
    compute_v: bool,
    tolerance: Option<f64>,
    max_sweeps: Option<i32>,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.syevj(a, uplo(is_lower), compute_v, JacobiLimits { tolerance, max_sweeps }))
}

#[pyfunction]
fn cusolver_geev<'py>(
    a: ArrayArg<'_, 'py>,
    compute_v: bool,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let handle = solver_handle(handle, a.py())?;
    compute_tuple(a, |a| handle.geev(a, compute_v))
}

#[pyfunction]
fn cusolver_gesv<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    handle: SolverArg<'_, 'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (handle, b) = (solver_handle(handle, a.py())?, core_array(b));
    compute_tuple(a, |a| handle.gesv(a, &b))
}

fn signatures(library: Library) -> &'static [Signature] {
    match library {
        Library::Cublas => cublas::CublasTable::SIGNATURES,
        Library::Cufft => cufft::CufftTable::SIGNATURES,
        Library::Cusolver => cusolver::CusolverTable::SIGNATURES,
    }
}

/// A kind of parameter as Python knows it: what it is, the type of its numbers, and how many there are.
fn kind_text(kind: ParameterKind) -> (&'static str, &'static str, u8) {
    let number = |number| match number {
        HostNumber::I32 => "int32",
        HostNumber::I64 => "int64",
        HostNumber::Usize => "uintp",
        HostNumber::F32 => "float32",
        HostNumber::F64 => "float64",
        HostNumber::C64 => "complex64",
        HostNumber::C128 => "complex128",
        HostNumber::Pointer => "pointer",
    };
    match kind {
        ParameterKind::Integer(1) => ("integer", "int8", 1),
        ParameterKind::Integer(4) => ("integer", "int32", 1),
        ParameterKind::Integer(_) => ("integer", "int64", 1),
        ParameterKind::Double => ("double", "float64", 1),
        ParameterKind::Handle => ("handle", "pointer", 1),
        ParameterKind::Device => ("device", "pointer", 1),
        ParameterKind::Host => ("host", "pointer", 1),
        ParameterKind::Input(kind) => ("input", number(kind), 1),
        ParameterKind::Output(kind, count) => ("output", number(kind), count),
        ParameterKind::InOut(kind) => ("inout", number(kind), 1),
    }
}

type Parameters = Vec<(&'static str, &'static str, &'static str, u8)>;

/// The declared functions, with their parameters: names, kinds, types of numbers, counts of numbers.
#[pyfunction]
fn library_signatures(name: &str) -> PyResult<Vec<(&'static str, u32, Parameters)>> {
    let parameter = |&(name, _, kind): &(&'static str, &str, ParameterKind)| {
        let (what, number, count) = kind_text(kind);
        (name.trim_end_matches('_'), what, number, count)
    };
    let one = |known: &Signature| (known.name, known.since, known.parameters.iter().map(parameter).collect());
    Ok(signatures(library(name)?).iter().map(one).collect())
}

/// The library of this process, opened now: its file, its version, and the declared functions that it has.
#[pyfunction]
fn library_load(py: Python<'_>, name: &str) -> PyResult<(std::path::PathBuf, u32, Vec<&'static str>)> {
    let library = library(name)?;
    let table: &dyn NamedFunctions = py.detach(|| library.load()).map_err(|error| library_error(py, &error))?;
    Ok((table.path().to_owned(), table.version().unwrap_or_default(), table.resolved_functions()))
}

/// Call a function of C by its name: one 64-bit word for each argument.
#[pyfunction]
fn library_call(py: Python<'_>, name: &str, function: &str, words: Vec<u64>, instead: &str) -> PyResult<()> {
    let library = library(name)?;
    let known = signatures(library).iter().find(|known| known.name == function);
    if known.is_none_or(|known| known.parameters.len() != words.len()) {
        return Err(PyTypeError::new_err(format!("{function} does not take {} arguments", words.len())));
    }
    let context = current_context()?;
    // SAFETY: the arguments have the declared types; addresses are the caller's, as in C.
    let call = || unsafe { rtcg::libraries::call_by_name(library, &context, function, &words, instead) };
    raised(py, py.detach(call))
}

/// The constants of a library, by their C names.
#[pyfunction]
fn library_constants<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let constants = PyDict::new(py);
    macro_rules! add {
        ($($ty:path)*) => {$(
            for (name, value) in <$ty>::NAMED_CONSTANTS.iter().filter(|(name, _)| !name.starts_with("RTCG")) {
                constants.set_item(name, value.0)?;
            }
        )*};
    }
    match library(name)? {
        Library::Cublas => {
            add! {
                cublas::cublasStatus_t cublas::cublasOperation_t cublas::cublasFillMode_t cublas::cublasDiagType_t
                cublas::cublasSideMode_t cublas::cublasPointerMode_t cublas::cublasMath_t cublas::cublasComputeType_t
                cudaDataType
            }
            constants.set_item("CUBLAS_GEMM_DEFAULT", cublas::CUBLAS_GEMM_DEFAULT)?;
        }
        Library::Cufft => {
            add!(cufft::cufftResult cufft::cufftType cudaDataType);
            constants.set_item("CUFFT_FORWARD", cufft::CUFFT_FORWARD)?;
            constants.set_item("CUFFT_INVERSE", cufft::CUFFT_INVERSE)?;
        }
        Library::Cusolver => {
            add! {
                cusolver::cusolverStatus_t cusolver::cusolverEigMode_t cublas::cublasOperation_t cublas::cublasFillMode_t
                cublas::cublasSideMode_t cudaDataType
            }
        }
    }
    Ok(constants)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyCublasHandle, PyCusolverHandle, PyCufftPlan;
        functions cublas_gemm, cublas_gemm_batched, cublas_matmul, cublas_matmul_algorithms, cublas_gemv, cublas_geam,
            cublas_trsm, cublas_syrk, cublas_getrf_batched, cublas_getrs_batched, cublas_axpy, cublas_scal, cublas_dot,
            cublas_nrm2, cublas_amax, cusolver_potrf, cusolver_potrs, cusolver_getrf, cusolver_getrs, cusolver_geqrf,
            cusolver_ormqr, cusolver_gesvd, cusolver_gesvdj, cusolver_syevd, cusolver_syevj, cusolver_geev,
            cusolver_gesv, library_signatures, library_load, library_call, library_constants;
    }
}
