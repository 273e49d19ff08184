//! cuSOLVER for arrays: factorizations, eigenvalues and singular values.
//!
//! Functions are those of LAPACK by name and result: factors as LAPACK stores them, pivots from 1, and an array `info`
//! on the device, 0 where the function succeeded. Inputs are copied, results are in column-major order; nothing waits,
//! except where the library does.
//!
//! ```no_run
//! use rtcg::cusolver::{Handle, Uplo};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let a = ArrayFactory::new(&ctx)?.from_slice(&[4.0f64, 2.0, 2.0, 3.0])?.reshape(&[2, 2])?;
//! let [factor, _info] = Handle::new(&ctx).potrf(a.as_dyn(), Uplo::Lower)?;
//! assert_eq!(factor.shape(), [2, 2]);
//! # Ok(())
//! # }
//! ```

use super::{
    Op, ThreadHandles, blas_type, c_size, call_library, check_contexts, check_dtype, check_ndim, check_shape,
    copy_in_order, current_stream_handle, pointers, workspace,
};
use crate::{Error, Result};
use rtcg_array::{GpuArray, Order, Scalar};
use rtcg_driver::libraries::{Library, LibraryError, ReleaseInContext};
use rtcg_driver::sys::cublas::{cublasFillMode_t, cublasSideMode_t};
use rtcg_driver::sys::cusolver::{
    CusolverTable, cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, gesvdjInfo_t, syevjInfo_t,
};
use rtcg_driver::sys::libraries::cudaDataType;
use rtcg_driver::sys::{CUstream, c_int, c_schar, c_void};
use rtcg_driver::{Context, WeakScalar, lock_ignoring_poison};
use rtcg_hal::DType;
use std::sync::{Arc, Mutex, OnceLock};

const LIBRARY: Library = Library::Cusolver;

/// Calls the function of a routine for a type of elements.
macro_rules! call_typed {
    ($data_type:expr, $table:expr, [$s:ident $d:ident $c:ident $z:ident] $args:tt) => {
        match $data_type {
            cudaDataType::CUDA_R_32F => call_library!(LIBRARY, $table, $s $args),
            cudaDataType::CUDA_R_64F => call_library!(LIBRARY, $table, $d $args),
            cudaDataType::CUDA_C_32F => call_library!(LIBRARY, $table, $c $args),
            _ => call_library!(LIBRARY, $table, $z $args),
        }
    };
}

/// Calls a function of the 64-bit interface in the workspaces on the device and in host memory that another one asks for,
/// with the same arguments or with others before them. Waits only if there is host memory.
macro_rules! call_in_space {
    ($handle:ident, $table:ident, $like:expr, $info:expr, [$measure:ident $compute:ident]($($arg:expr),*)) => {
        call_in_space!($handle, $table, $like, $info, $measure($($arg),*), $compute($($arg),*))
    };
    (
        $handle:ident, $table:ident, $like:expr, $info:expr,
        $measure:ident($($measured:expr),*), $compute:ident($($computed:expr),*)
    ) => {{
        let (mut on_device, mut on_host) = (0, 0);
        call_library!(LIBRARY, $table, $measure($($measured,)* &raw mut on_device, &raw mut on_host))?;
        let (space, mut host) = (workspace($like, on_device)?, HostSpace::new(on_host));
        let at = space.first_element_address();
        call_library!(LIBRARY, $table, $compute($($computed,)* at, on_device, host.as_ptr(), on_host, $info))?;
        host.wait(&$handle.0.ctx)
    }};
}

/// The triangle of a matrix that is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uplo {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

impl Uplo {
    fn code(self) -> cublasFillMode_t {
        match self {
            Self::Lower => cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
            Self::Upper => cublasFillMode_t::CUBLAS_FILL_MODE_UPPER,
        }
    }
}

/// When a method of Jacobi stops.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct JacobiLimits {
    /// The residual; 0 or less is the library's own.
    pub tolerance: Option<f64>,
    /// The most sweeps.
    pub max_sweeps: Option<i32>,
}

/// A handle of cuSOLVER's dense functions for the arrays of one context: as [`cublas::Handle`](super::cublas::Handle) is for cuBLAS.
#[derive(Clone, Debug)]
pub struct Handle(Arc<HandleInner>);

#[derive(Debug)]
struct HandleInner {
    ctx: Context,
    opened: OnceLock<Opened>,
    /// The stream of the last call.
    stream: Mutex<Option<CUstream>>,
}

#[derive(Debug)]
struct Opened {
    table: &'static CusolverTable,
    raw: cusolverDnHandle_t,
    params: cusolverDnParams_t,
    _release: ReleaseInContext,
}

/// What a call has.
#[derive(Clone, Copy)]
struct Call {
    table: &'static CusolverTable,
    raw: cusolverDnHandle_t,
    params: cusolverDnParams_t,
}

static IDLE_HANDLES: Mutex<Vec<(u64, Handle)>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD_HANDLES: ThreadHandles<Handle> = const { ThreadHandles::new(&IDLE_HANDLES) };
}

/// A new array in column-major order.
fn column_major(like: &GpuArray, shape: &[usize], dtype: DType) -> Result<GpuArray> {
    if shape.len() < 3 {
        return Ok(GpuArray::empty(like.context(), shape, dtype, Order::F)?);
    }
    let turned = GpuArray::empty(like.context(), &[shape[0], shape[2], shape[1]], dtype, Order::C)?;
    Ok(turned.swapaxes(1, 2)?)
}

/// A new array of codes: 0, as functions leave it where they have nothing to do.
fn new_info(like: &GpuArray, shape: &[usize]) -> Result<GpuArray> {
    Ok(GpuArray::zeros(like.context(), shape, DType::I32, Order::C)?)
}

/// A matrix, or a stack of them where `stacks` is set, whose matrices are square if `is_square`; returns its sizes.
fn check_matrix(name: &str, a: &GpuArray, is_square: bool, stacks: bool) -> Result<(cudaDataType, usize, usize)> {
    if !(stacks && a.ndim() == 3) {
        check_ndim(name, a, 2)?;
    }
    let kind = blas_type(name, a)?;
    let (rows, columns) = (a.shape()[a.ndim() - 2], a.shape()[a.ndim() - 1]);
    if is_square && rows != columns {
        return Err(Error::value_error(format!("{name} has shape {:?}; expected a square matrix", a.shape())));
    }
    Ok((kind, rows, columns))
}

fn as_c_int(name: &str, size: usize) -> Result<c_int> {
    c_size(LIBRARY, name, size)
}

/// Elements from one column to the next of an array that was made here.
fn leading(rows: usize) -> i64 {
    rows.max(1) as i64
}

impl Handle {
    /// A handle of its own.
    pub fn new(ctx: &crate::Context) -> Self {
        Self::new_in(ctx.driver_context())
    }

    /// [`Handle::new`] for a context of the driver.
    pub fn new_in(ctx: &Context) -> Self {
        Self(Arc::new(HandleInner { ctx: ctx.clone(), opened: OnceLock::new(), stream: Mutex::default() }))
    }

    /// The calling thread's handle for a context.
    ///
    /// # Errors
    /// None so far: the library is opened later.
    pub fn of_thread(ctx: &Context) -> Result<Self> {
        THREAD_HANDLES
            .with(|handles| handles.get_or_make(ctx, |handle: &Self| handle.0.ctx.is_alive(), || Ok(Self::new_in(ctx))))
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    fn opened(&self, function: &str, instead: &str) -> Result<&Opened> {
        if let Some(opened) = self.0.opened.get() {
            return Ok(opened);
        }
        let ctx = &self.0.ctx;
        LIBRARY.check_device(ctx, function, instead)?;
        let table = CusolverTable::load().map_err(|error| LibraryError::not_loaded(LIBRARY, &error))?;
        let (mut raw, mut params) = (cusolverDnHandle_t::null(), cusolverDnParams_t::null());
        ctx.with_current(|| {
            call_library!(LIBRARY, table, cusolverDnCreate(&raw mut raw))?;
            call_library!(LIBRARY, table, cusolverDnCreateParams(&raw mut params)).inspect_err(|_| {
                // SAFETY: nobody else has it.
                let _ = unsafe { table.cusolverDnDestroy(raw) };
            })?;
            Result::Ok(())
        })?;
        let destroy = move || {
            // SAFETY: the last use of both.
            let _ = unsafe { (table.cusolverDnDestroyParams(params), table.cusolverDnDestroy(raw)) };
        };
        let release = ReleaseInContext::new(ctx, destroy);
        Ok(self.0.opened.get_or_init(|| Opened { table, raw, params, _release: release }))
    }

    /// The handle of the library, in the calling thread's current stream: for functions that are called by name.
    ///
    /// # Errors
    /// For virtual devices, and when the library is missing.
    pub fn raw(&self) -> Result<usize> {
        self.run("Handle", "rtcg.linalg", &[], |call| Ok(call.raw.0.expose_provenance()))
    }

    /// The version of the library, `1000 * major + 10 * minor`.
    ///
    /// # Errors
    /// As [`Handle::raw`].
    pub fn version(&self) -> Result<u32> {
        use rtcg_driver::sys::libraries::NamedFunctions;
        Ok(self.opened("version", "rtcg.linalg")?.table.version().unwrap_or_default())
    }

    /// Runs `body` with the handle in the current stream.
    fn run<T>(
        &self,
        function: &str,
        instead: &str,
        operands: &[(&str, &GpuArray)],
        body: impl FnOnce(Call) -> Result<T>,
    ) -> Result<T> {
        let ctx = &self.0.ctx;
        check_contexts(ctx, operands)?;
        let &Opened { table, raw, params, .. } = self.opened(function, instead)?;
        let stream = current_stream_handle(ctx)?;
        let mut last = lock_ignoring_poison(&self.0.stream);
        ctx.with_current(|| {
            if *last != Some(stream) {
                call_library!(LIBRARY, table, cusolverDnSetStream(raw, stream))?;
                *last = Some(stream);
            }
            body(Call { table, raw, params })
        })
    }

    /// Cholesky factors: of a matrix, or of each of a stack. The factor is in the triangle `uplo` and the other one is as
    /// it was; `info` has the order of the first minor that is not positive definite.
    ///
    /// # Errors
    /// When the array does not fit, for virtual devices, and those of the library.
    pub fn potrf(&self, a: &GpuArray, uplo: Uplo) -> Result<[GpuArray; 2]> {
        let (kind, n, _) = check_matrix("a", a, true, true)?;
        let factor = copy_in_order(a, false)?;
        let info = new_info(a, &a.shape()[..a.ndim() - 2])?;
        if factor.size() == 0 {
            return Ok([factor, info]);
        }
        let (uplo, ld) = (uplo.code(), leading(n));
        let [count, size] = [as_c_int("the number of matrices", a.shape()[0])?, as_c_int("n", n)?];
        self.run("potrf", "rtcg.linalg.cholesky", &[("a", &factor)], |call| {
            let Call { table, raw, params } = call;
            let status = info.first_element_address();
            if factor.ndim() == 3 {
                let at = pointers(&factor)?;
                let at = at.first_element_address();
                return Ok(call_typed!(
                    kind,
                    table,
                    [cusolverDnSpotrfBatched cusolverDnDpotrfBatched cusolverDnCpotrfBatched cusolverDnZpotrfBatched](
                        raw, uplo, size, at, size, status, count
                    )
                )?);
            }
            let at = factor.first_element_address();
            let n = n as i64;
            call_in_space!(self, table, &factor, status, [cusolverDnXpotrf_bufferSize cusolverDnXpotrf](raw, params, uplo, n, kind, at, ld, kind))
        })?;
        Ok([factor, info])
    }

    /// Solutions of `a x = b` from the Cholesky factor of `a`; of a stack, with one column in each matrix of `b`.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn potrs(&self, factor: &GpuArray, b: &GpuArray, uplo: Uplo) -> Result<GpuArray> {
        let (kind, n, _) = check_matrix("c", factor, true, true)?;
        check_dtype("b", b, factor.dtype())?;
        check_ndim("b", b, factor.ndim())?;
        let columns = b.shape()[b.ndim() - 1];
        check_shape("b", b, &[&factor.shape()[..factor.ndim() - 1], &[columns]].concat())?;
        if factor.ndim() == 3 && columns != 1 {
            let shape = b.shape();
            return Err(Error::value_error(format!("b has shape {shape:?}; stacks of b have one column for cuSOLVER")));
        }
        let (factor, x) = (copy_in_order(factor, false)?, copy_in_order(b, false)?);
        if x.size() == 0 {
            return Ok(x);
        }
        let info = new_info(&x, &[])?;
        let (uplo, ld) = (uplo.code(), leading(n));
        let [count, size] = [as_c_int("the number of matrices", x.shape()[0])?, as_c_int("n", n)?];
        self.run("potrs", "rtcg.linalg.solve", &[("c", &factor), ("b", &x)], |call| {
            let Call { table, raw, params } = call;
            let status = info.first_element_address();
            if factor.ndim() == 3 {
                let (a, at) = (pointers(&factor)?, pointers(&x)?);
                let (a, at) = (a.first_element_address(), at.first_element_address());
                return Ok(call_typed!(
                    kind,
                    table,
                    [cusolverDnSpotrsBatched cusolverDnDpotrsBatched cusolverDnCpotrsBatched cusolverDnZpotrsBatched](
                        raw, uplo, size, 1, a, size, at, size, status, count
                    )
                )?);
            }
            let (a, at) = (factor.first_element_address(), x.first_element_address());
            let (n, columns) = (n as i64, columns as i64);
            Ok(call_library!(
                LIBRARY,
                table,
                cusolverDnXpotrs(raw, params, uplo, n, columns, kind, a, ld, kind, at, ld, status)
            )?)
        })?;
        Ok(x)
    }

    /// Factors `P a = L U`: the factors, the pivots (int64, from 1), and `info`, the place of the first zero pivot.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn getrf(&self, a: &GpuArray) -> Result<[GpuArray; 3]> {
        let (kind, m, n) = check_matrix("a", a, false, false)?;
        let factors = copy_in_order(a, false)?;
        let pivots = GpuArray::zeros(a.context(), &[m.min(n)], DType::I64, Order::C)?;
        let info = new_info(a, &[])?;
        if factors.size() == 0 {
            return Ok([factors, pivots, info]);
        }
        self.run("getrf", "rtcg.linalg.lu_factor", &[("a", &factors)], |Call { table, raw, params }| {
            let [at, piv, status] = [&factors, &pivots, &info].map(GpuArray::first_element_address);
            let (ld, m, n) = (leading(m), m as i64, n as i64);
            call_in_space!(
                self,
                table,
                &factors,
                status,
                cusolverDnXgetrf_bufferSize(raw, params, m, n, kind, at, ld, kind),
                cusolverDnXgetrf(raw, params, m, n, kind, at, ld, piv, kind)
            )
        })?;
        Ok([factors, pivots, info])
    }

    /// Solutions of `op(a) x = b` from what [`Handle::getrf`] returned.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn getrs(&self, factors: &GpuArray, pivots: &GpuArray, b: &GpuArray, op: Op) -> Result<GpuArray> {
        let (kind, n, _) = check_matrix("lu", factors, true, false)?;
        check_dtype("piv", pivots, DType::I64)?;
        check_shape("piv", pivots, &[n])?;
        check_dtype("b", b, factors.dtype())?;
        check_ndim("b", b, 2)?;
        let columns = b.shape()[1];
        check_shape("b", b, &[n, columns])?;
        let (factors, pivots, x) = (copy_in_order(factors, false)?, pivots.to_contiguous()?, copy_in_order(b, false)?);
        if x.size() == 0 {
            return Ok(x);
        }
        let info = new_info(&x, &[])?;
        let op = Op { conjugated: op.conjugated && x.dtype().is_complex(), ..op }.code().unwrap_or_default();
        let operands = [("lu", &factors), ("piv", &pivots), ("b", &x)];
        self.run("getrs", "rtcg.linalg.lu_solve", &operands, |Call { table, raw, params }| {
            let [a, piv, at, status] = [&factors, &pivots, &x, &info].map(GpuArray::first_element_address);
            let (ld, n, columns) = (leading(n), n as i64, columns as i64);
            Ok(call_library!(
                LIBRARY,
                table,
                cusolverDnXgetrs(raw, params, op, n, columns, kind, a, ld, piv, kind, at, ld, status)
            )?)
        })?;
        Ok(x)
    }

    /// Factors `a = Q R` as LAPACK stores them: `R` in the upper triangle, the vectors of Householder reflections below
    /// it, their factors, and `info`.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn geqrf(&self, a: &GpuArray) -> Result<[GpuArray; 3]> {
        let (kind, m, n) = check_matrix("a", a, false, false)?;
        let factors = copy_in_order(a, false)?;
        let tau = GpuArray::zeros(a.context(), &[m.min(n)], a.dtype(), Order::C)?;
        let info = new_info(a, &[])?;
        if factors.size() == 0 {
            return Ok([factors, tau, info]);
        }
        self.run("geqrf", "rtcg.linalg.qr", &[("a", &factors)], |Call { table, raw, params }| {
            let [at, to, status] = [&factors, &tau, &info].map(GpuArray::first_element_address);
            let (ld, m, n) = (leading(m), m as i64, n as i64);
            call_in_space!(self, table, &factors, status, [cusolverDnXgeqrf_bufferSize cusolverDnXgeqrf](raw, params, m, n, kind, at, ld, kind, to, kind))
        })?;
        Ok([factors, tau, info])
    }

    /// `op(Q) c`, or `c op(Q)` if `is_right`, for the `Q` of [`Handle::geqrf`]; `op` is none or the adjoint.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn ormqr(&self, factors: &GpuArray, tau: &GpuArray, c: &GpuArray, is_right: bool, op: Op) -> Result<GpuArray> {
        let (kind, rows, columns) = check_matrix("qr", factors, false, false)?;
        check_dtype("tau", tau, factors.dtype())?;
        check_ndim("tau", tau, 1)?;
        check_dtype("c", c, factors.dtype())?;
        check_ndim("c", c, 2)?;
        let k = tau.size();
        let (m, n) = (c.shape()[0], c.shape()[1]);
        if k > rows.min(columns) || rows != if is_right { n } else { m } {
            let (qr, tau, c) = (factors.shape(), tau.shape(), c.shape());
            return Err(Error::value_error(format!("qr, tau and c of shapes {qr:?}, {tau:?} and {c:?} do not fit")));
        }
        let op = if kind == cudaDataType::CUDA_R_32F || kind == cudaDataType::CUDA_R_64F {
            Op { conjugated: false, ..op }
        } else if op == Op::TRANSPOSE {
            return Err(Error::value_error("trans is 't'; expected 'n' or 'c' for complex numbers"));
        } else {
            op
        };
        let (factors, tau, result) = (copy_in_order(factors, false)?, tau.to_contiguous()?, copy_in_order(c, false)?);
        if result.size() == 0 || k == 0 {
            return Ok(result);
        }
        let info = new_info(&result, &[])?;
        let side = cublasSideMode_t(u32::from(is_right));
        let (lda, ldc) = (as_c_int("rows of qr", rows)?, as_c_int("m", m)?);
        let [m, n, k] = [as_c_int("m", m)?, as_c_int("n", n)?, as_c_int("k", k)?];
        let operands = [("qr", &factors), ("tau", &tau), ("c", &result)];
        self.run("ormqr", "rtcg.linalg.qr", &operands, |Call { table, raw, .. }| {
            let code = op.code().unwrap_or_default();
            let [a, t, at, status] = [&factors, &tau, &result, &info].map(GpuArray::first_element_address);
            let mut elements: c_int = 0;
            call_typed!(
                kind,
                table,
                [cusolverDnSormqr_bufferSize cusolverDnDormqr_bufferSize cusolverDnCunmqr_bufferSize
                 cusolverDnZunmqr_bufferSize](raw, side, code, m, n, k, a, lda, t, at, ldc, &raw mut elements)
            )?;
            let space = workspace(&result, elements as usize * result.itemsize())?;
            let space = space.first_element_address();
            Ok(call_typed!(
                kind,
                table,
                [cusolverDnSormqr cusolverDnDormqr cusolverDnCunmqr cusolverDnZunmqr](
                    raw, side, code, m, n, k, a, lda, t, at, ldc, space, elements, status
                )
            )?)
        })?;
        Ok(result)
    }

    /// Singular values by QR iterations: `u`, `s`, `vh` and `info`, of full or reduced size; without vectors only `s` and
    /// `info` have elements.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn gesvd(&self, a: &GpuArray, full_matrices: bool, compute_uv: bool) -> Result<[GpuArray; 4]> {
        let (kind, m, n) = check_matrix("a", a, false, false)?;
        if m < n {
            // The library takes tall matrices. a^T = U S V^H has the factors conj(V) and U^T of a.
            let [u, s, vh, info] = self.gesvd(&a.transpose(None)?, full_matrices, compute_uv)?;
            return Ok([vh.transpose(None)?, s, u.transpose(None)?, info]);
        }
        let real = a.dtype().real_part();
        let work = copy_in_order(a, false)?;
        let s = GpuArray::zeros(a.context(), &[n], real, Order::C)?;
        let columns = if full_matrices { m } else { n };
        let [u_shape, vh_shape] = if compute_uv { [[m, columns], [n, n]] } else { [[0, 0]; 2] };
        let (u, vh) = (column_major(a, &u_shape, a.dtype())?, column_major(a, &vh_shape, a.dtype())?);
        let info = new_info(a, &[])?;
        if work.size() == 0 {
            [&u, &vh].into_iter().try_for_each(make_identities)?;
            return Ok([u, s, vh, info]);
        }
        let job = match (compute_uv, full_matrices) {
            (false, _) => b'N',
            (true, true) => b'A',
            (true, false) => b'S',
        } as c_schar;
        let real_kind = super::data_type(real).unwrap_or_default();
        self.run("gesvd", "rtcg.linalg.svd", &[("a", &work)], |Call { table, raw, params }| {
            let [at, s, u, vh, status] = [&work, &s, &u, &vh, &info].map(GpuArray::first_element_address);
            let (lda, ldv, m, n) = (leading(m), leading(n), m as i64, n as i64);
            call_in_space!(self, table, &work, status, [cusolverDnXgesvd_bufferSize cusolverDnXgesvd](raw, params, job, job, m, n, kind, at, lda, real_kind, s, kind, u, lda, kind, vh, ldv, kind))
        })?;
        Ok([u, s, vh, info])
    }

    /// Singular values by Jacobi's method: `u`, `s`, `v` (not its adjoint) and `info`, where n + 1 says that the sweeps
    /// were not enough. A stack may have matrices of up to 32 by 32.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn gesvdj(&self, a: &GpuArray, full_matrices: bool, limits: JacobiLimits) -> Result<[GpuArray; 4]> {
        let (kind, m, n) = check_matrix("a", a, false, true)?;
        let least = m.min(n);
        let stack = &a.shape()[..a.ndim() - 2];
        let is_stack = !stack.is_empty();
        if is_stack && m.max(n) > 32 {
            return Err(Error::value_error(format!(
                "a has shape {:?}; stacks have matrices of up to 32 by 32",
                a.shape()
            )));
        }
        let full_matrices = full_matrices || is_stack;
        let [columns_u, columns_v] = if full_matrices { [m, n] } else { [least, least] };
        let work = copy_in_order(a, false)?;
        let s = GpuArray::zeros(a.context(), &[stack, &[least]].concat(), a.dtype().real_part(), Order::C)?;
        let u = column_major(a, &[stack, &[m, columns_u]].concat(), a.dtype())?;
        let v = column_major(a, &[stack, &[n, columns_v]].concat(), a.dtype())?;
        let info = new_info(a, stack)?;
        if work.size() == 0 {
            [&u, &v].into_iter().try_for_each(make_identities)?;
            return Ok([u, s, v, info]);
        }
        let count = as_c_int("the number of matrices", stack.first().copied().unwrap_or(1))?;
        let (vectors, economic) = (cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR, c_int::from(!full_matrices));
        let [m, n] = [as_c_int("m", m)?, as_c_int("n", n)?];
        self.run("gesvdj", "rtcg.linalg.svd", &[("a", &work)], |Call { table, raw, .. }| {
            let settings = Jacobi::for_singular_values(table, limits)?;
            let params = settings.handle;
            let [at, s, u, v, status] = [&work, &s, &u, &v, &info].map(GpuArray::first_element_address);
            let mut elements: c_int = 0;
            if is_stack {
                call_typed!(
                    kind,
                    table,
                    [cusolverDnSgesvdjBatched_bufferSize cusolverDnDgesvdjBatched_bufferSize
                     cusolverDnCgesvdjBatched_bufferSize cusolverDnZgesvdjBatched_bufferSize](
                        raw, vectors, m, n, at, m, s, u, m, v, n, &raw mut elements, params, count
                    )
                )?;
            } else {
                call_typed!(
                    kind,
                    table,
                    [cusolverDnSgesvdj_bufferSize cusolverDnDgesvdj_bufferSize cusolverDnCgesvdj_bufferSize
                     cusolverDnZgesvdj_bufferSize](
                        raw, vectors, economic, m, n, at, m, s, u, m, v, n, &raw mut elements, params
                    )
                )?;
            }
            let space = workspace(&work, elements as usize * work.itemsize())?;
            let space = space.first_element_address();
            Ok(if is_stack {
                call_typed!(
                    kind,
                    table,
                    [cusolverDnSgesvdjBatched cusolverDnDgesvdjBatched cusolverDnCgesvdjBatched
                     cusolverDnZgesvdjBatched](
                        raw, vectors, m, n, at, m, s, u, m, v, n, space, elements, status, params, count
                    )
                )
            } else {
                call_typed!(
                    kind,
                    table,
                    [cusolverDnSgesvdj cusolverDnDgesvdj cusolverDnCgesvdj cusolverDnZgesvdj](
                        raw, vectors, economic, m, n, at, m, s, u, m, v, n, space, elements, status, params
                    )
                )
            }?)
        })?;
        Ok([u, s, v, info])
    }

    /// Eigenvalues of a symmetric or Hermitian matrix, of which one triangle is read, ascending, by divide and conquer:
    /// the values, the vectors in columns (without elements if they are not computed), and `info`.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn syevd(&self, a: &GpuArray, uplo: Uplo, compute_v: bool) -> Result<[GpuArray; 3]> {
        let (kind, n, _) = check_matrix("a", a, true, false)?;
        let real = a.dtype().real_part();
        let vectors = copy_in_order(a, false)?;
        let values = GpuArray::zeros(a.context(), &[n], real, Order::C)?;
        let info = new_info(a, &[])?;
        if n > 0 {
            let (mode, real_kind) = (eig_mode(compute_v), super::data_type(real).unwrap_or_default());
            let uplo = uplo.code();
            self.run("syevd", "rtcg.linalg.eigh", &[("a", &vectors)], |Call { table, raw, params }| {
                let [at, w, status] = [&vectors, &values, &info].map(GpuArray::first_element_address);
                let (ld, n) = (leading(n), n as i64);
                call_in_space!(self, table, &vectors, status, [cusolverDnXsyevd_bufferSize cusolverDnXsyevd](raw, params, mode, uplo, n, kind, at, ld, real_kind, w, kind))
            })?;
        }
        let vectors = if compute_v { vectors } else { column_major(a, &[0, 0], a.dtype())? };
        Ok([values, vectors, info])
    }

    /// As [`Handle::syevd`], by Jacobi's method, of a matrix or of each of a stack; `info` n + 1 says that the sweeps were
    /// not enough.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn syevj(&self, a: &GpuArray, uplo: Uplo, compute_v: bool, limits: JacobiLimits) -> Result<[GpuArray; 3]> {
        let (kind, n, _) = check_matrix("a", a, true, true)?;
        let stack = &a.shape()[..a.ndim() - 2];
        let is_stack = !stack.is_empty();
        let vectors = copy_in_order(a, false)?;
        let values = GpuArray::zeros(a.context(), &[stack, &[n]].concat(), a.dtype().real_part(), Order::C)?;
        let info = new_info(a, stack)?;
        if vectors.size() > 0 {
            let (mode, uplo) = (eig_mode(compute_v), uplo.code());
            let count = as_c_int("the number of matrices", stack.first().copied().unwrap_or(1))?;
            let n = as_c_int("n", n)?;
            self.run("syevj", "rtcg.linalg.eigh", &[("a", &vectors)], |Call { table, raw, .. }| {
                let settings = Jacobi::for_eigenvalues(table, limits)?;
                let params = settings.handle;
                let [at, w, status] = [&vectors, &values, &info].map(GpuArray::first_element_address);
                let mut elements: c_int = 0;
                if is_stack {
                    call_typed!(
                        kind,
                        table,
                        [cusolverDnSsyevjBatched_bufferSize cusolverDnDsyevjBatched_bufferSize
                         cusolverDnCheevjBatched_bufferSize cusolverDnZheevjBatched_bufferSize](
                            raw, mode, uplo, n, at, n, w, &raw mut elements, params, count
                        )
                    )?;
                } else {
                    call_typed!(
                        kind,
                        table,
                        [cusolverDnSsyevj_bufferSize cusolverDnDsyevj_bufferSize cusolverDnCheevj_bufferSize
                         cusolverDnZheevj_bufferSize](raw, mode, uplo, n, at, n, w, &raw mut elements, params)
                    )?;
                }
                let space = workspace(&vectors, elements as usize * vectors.itemsize())?;
                let space = space.first_element_address();
                Ok(if is_stack {
                    call_typed!(
                        kind,
                        table,
                        [cusolverDnSsyevjBatched cusolverDnDsyevjBatched cusolverDnCheevjBatched
                         cusolverDnZheevjBatched](
                            raw, mode, uplo, n, at, n, w, space, elements, status, params, count
                        )
                    )
                } else {
                    call_typed!(
                        kind,
                        table,
                        [cusolverDnSsyevj cusolverDnDsyevj cusolverDnCheevj cusolverDnZheevj](
                            raw, mode, uplo, n, at, n, w, space, elements, status, params
                        )
                    )
                }?)
            })?;
        }
        let vectors = if compute_v { vectors } else { column_major(a, &[0, 0], a.dtype())? };
        Ok([values, vectors, info])
    }

    /// Eigenvalues of a general matrix (CUDA 12.8 or newer): the values, which are complex; the right eigenvectors in
    /// columns, of the dtype of `a` (of a real matrix a conjugate pair of values has the real and the imaginary part of
    /// the first one's vector in two columns, as in LAPACK), without elements if they are not computed; and `info`.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn geev(&self, a: &GpuArray, compute_v: bool) -> Result<[GpuArray; 3]> {
        let (kind, n, _) = check_matrix("a", a, true, false)?;
        let complex = a.dtype().complex_of_parts().unwrap_or(a.dtype());
        let work = copy_in_order(a, false)?;
        let values = GpuArray::zeros(a.context(), &[n], complex, Order::C)?;
        let n_vectors = if compute_v { n } else { 0 };
        let vectors = column_major(a, &[n_vectors, n_vectors], a.dtype())?;
        let info = new_info(a, &[])?;
        if n == 0 {
            return Ok([values, vectors, info]);
        }
        let (right, none) = (eig_mode(compute_v), eig_mode(false));
        let complex_kind = super::data_type(complex).unwrap_or_default();
        self.run("geev", "rtcg.linalg.eig", &[("a", &work)], |Call { table, raw, params }| {
            let [at, w, v, status] = [&work, &values, &vectors, &info].map(GpuArray::first_element_address);
            let (ld, n) = (leading(n), n as i64);
            call_in_space!(self, table, &work, status, [cusolverDnXgeev_bufferSize cusolverDnXgeev](raw, params, none, right, n, kind, at, ld, complex_kind, w, kind, 0, ld, kind, v, ld, kind))
        })?;
        Ok([values, vectors, info])
    }

    /// Solves `a x = b` by [`Handle::getrf`] and [`Handle::getrs`]; `info` is that of the factorization.
    ///
    /// # Errors
    /// As [`Handle::potrf`].
    pub fn gesv(&self, a: &GpuArray, b: &GpuArray) -> Result<[GpuArray; 2]> {
        let [factors, pivots, info] = self.getrf(a)?;
        Ok([self.getrs(&factors, &pivots, b, Op::NONE)?, info])
    }
}

fn eig_mode(with_vectors: bool) -> cusolverEigMode_t {
    if with_vectors {
        cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR
    } else {
        cusolverEigMode_t::CUSOLVER_EIG_MODE_NOVECTOR
    }
}

/// Host memory that a function works in, perhaps still after it has returned.
struct HostSpace(Vec<u64>);

impl HostSpace {
    fn new(nbytes: usize) -> Self {
        Self(vec![0; nbytes.div_ceil(8)])
    }

    fn as_ptr(&mut self) -> *mut c_void {
        if self.0.is_empty() { std::ptr::null_mut() } else { self.0.as_mut_ptr().cast() }
    }

    /// Waits until it is not used any more.
    fn wait(&self, ctx: &Context) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        match crate::current_stream() {
            Some(stream) => stream.synchronize()?,
            None => ctx.with_current(Context::synchronize)?,
        }
        Ok(())
    }
}

/// Settings of a method of Jacobi, in host memory.
struct Jacobi<H: Copy> {
    handle: H,
    table: &'static CusolverTable,
    destroy: fn(&CusolverTable, H),
}

impl<H: Copy> Drop for Jacobi<H> {
    fn drop(&mut self) {
        (self.destroy)(self.table, self.handle);
    }
}

impl Jacobi<syevjInfo_t> {
    fn for_eigenvalues(table: &'static CusolverTable, limits: JacobiLimits) -> Result<Self> {
        let mut handle = syevjInfo_t::null();
        call_library!(LIBRARY, table, cusolverDnCreateSyevjInfo(&raw mut handle))?;
        let destroy = |table: &CusolverTable, handle| {
            // SAFETY: the last use of the settings.
            let _ = unsafe { table.cusolverDnDestroySyevjInfo(handle) };
        };
        let made = Self { handle, table, destroy };
        if let Some(tolerance) = limits.tolerance {
            call_library!(LIBRARY, table, cusolverDnXsyevjSetTolerance(handle, tolerance))?;
        }
        if let Some(sweeps) = limits.max_sweeps {
            call_library!(LIBRARY, table, cusolverDnXsyevjSetMaxSweeps(handle, sweeps))?;
        }
        Ok(made)
    }
}

impl Jacobi<gesvdjInfo_t> {
    fn for_singular_values(table: &'static CusolverTable, limits: JacobiLimits) -> Result<Self> {
        let mut handle = gesvdjInfo_t::null();
        call_library!(LIBRARY, table, cusolverDnCreateGesvdjInfo(&raw mut handle))?;
        let destroy = |table: &CusolverTable, handle| {
            // SAFETY: the last use of the settings.
            let _ = unsafe { table.cusolverDnDestroyGesvdjInfo(handle) };
        };
        let made = Self { handle, table, destroy };
        if let Some(tolerance) = limits.tolerance {
            call_library!(LIBRARY, table, cusolverDnXgesvdjSetTolerance(handle, tolerance))?;
        }
        if let Some(sweeps) = limits.max_sweeps {
            call_library!(LIBRARY, table, cusolverDnXgesvdjSetMaxSweeps(handle, sweeps))?;
        }
        Ok(made)
    }
}

/// Singular vectors of matrices without elements.
fn make_identities(vectors: &GpuArray) -> Result<()> {
    vectors.fill(Scalar::Weak(WeakScalar::Int(0)))?;
    let ndim = vectors.ndim() as isize;
    Ok(vectors.diagonal(0, ndim - 2, ndim - 1)?.fill(Scalar::Weak(WeakScalar::Int(1)))?)
}
