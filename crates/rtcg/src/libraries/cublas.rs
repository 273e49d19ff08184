//! cuBLAS for arrays: products of matrices, triangular systems, and operations of vectors.
//!
//! ```no_run
//! use rtcg::cublas::{Handle, Product};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let arrays = ArrayFactory::new(&ctx)?;
//! let a = arrays.from_slice(&[1.0f32, 2.0, 3.0, 4.0])?.reshape(&[2, 2])?;
//! let handle = Handle::new(&ctx);
//! let squared = handle.gemm(a.as_dyn(), a.as_dyn(), None, &Product::default())?;
//! assert_eq!(squared.shape(), [2, 2]);
//! # Ok(())
//! # }
//! ```

use super::{
    HostScalar, Op, ReadMatrix, Storage, ThreadHandles, blas_type, c_size, call_library, check_apart, check_contexts,
    check_dtype, check_ndim, check_shape, copy_in_order, current_stream_handle, data_type, is_zero, pointers,
    pointers_to, workspace, written_storage,
};
use crate::{Error, Result};
use rtcg_array::{GpuArray, Order, Scalar};
use rtcg_driver::libraries::{Library, LibraryError, ReleaseInContext};
use rtcg_driver::sys::cublas::{
    CUBLAS_GEMM_DEFAULT, CublasTable, cublasComputeType_t, cublasDiagType_t, cublasFillMode_t, cublasHandle_t,
    cublasMath_t, cublasPointerMode_t, cublasSideMode_t,
};
use rtcg_driver::sys::libraries::cudaDataType;
use rtcg_driver::sys::{CUstream, c_int};
use rtcg_driver::{Context, WeakScalar, lock_ignoring_poison};
use rtcg_hal::DType;
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

const LIBRARY: Library = Library::Cublas;

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

/// A handle of cuBLAS for the arrays of one context. Cloning gives another reference; the last one destroys it.
///
/// The library is opened, and the handle made, by its first call. Calls of several threads take turns. Each enqueues its
/// work in the calling thread's current stream, with a workspace from the pool of arrays.
#[derive(Clone, Debug)]
pub struct Handle(Arc<HandleInner>);

#[derive(Debug)]
struct HandleInner {
    ctx: Context,
    opened: OnceLock<Opened>,
    state: Mutex<HandleState>,
}

#[derive(Debug)]
struct Opened {
    table: &'static CublasTable,
    raw: cublasHandle_t,
    _release: Option<ReleaseInContext>,
}

#[derive(Debug, Default)]
pub(super) struct HandleState {
    /// Of the last call, with its workspace.
    stream: Option<CUstream>,
    workspace: Option<GpuArray>,
    /// What cuBLASLt keeps in it.
    pub(super) lt: Option<Box<dyn Any + Send>>,
}

/// How a product is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Product {
    /// The factor of the product.
    pub alpha: WeakScalar,
    /// The factor of what `out` held before, which is not read if it is 0.
    pub beta: WeakScalar,
    /// What is done with `a` first.
    pub op_a: Op,
    /// What is done with `b` first.
    pub op_b: Op,
    /// The arithmetic.
    pub compute: Compute,
}

impl Default for Product {
    fn default() -> Self {
        let (alpha, beta) = (WeakScalar::Int(1), WeakScalar::Int(0));
        Self { alpha, beta, op_a: Op::NONE, op_b: Op::NONE, compute: Compute::Default }
    }
}

/// The arithmetic of a product.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Compute {
    /// That of the dtype; sums of 16-bit numbers are float32.
    #[default]
    Default,
    /// As the default, in the order of a plain loop where the library can.
    Pedantic,
    /// Of float32 with factors rounded to TF32.
    Tf32,
    /// Of float32 with factors rounded to float16.
    Fast16F,
    /// Of float32 with factors rounded to bfloat16.
    Fast16BF,
    /// Sums of float16 in float16.
    Half,
}

impl std::str::FromStr for Compute {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "default" => Self::Default,
            "pedantic" => Self::Pedantic,
            "tf32" => Self::Tf32,
            "fast_16f" => Self::Fast16F,
            "fast_16bf" => Self::Fast16BF,
            "16f" => Self::Half,
            _ => {
                return Err(Error::value_error(format!(
                    "compute is '{name}'; expected 'default', 'pedantic', 'tf32', 'fast_16f', 'fast_16bf' or '16f'"
                )));
            }
        })
    }
}

/// Types of a product's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProductTypes {
    pub(super) operand: cudaDataType,
    pub(super) out: cudaDataType,
    pub(super) out_dtype: DType,
    pub(super) compute: cublasComputeType_t,
    /// Of `alpha` and `beta`.
    pub(super) scale: DType,
}

impl ProductTypes {
    fn new(operand: DType, out: Option<DType>, compute: Compute) -> Result<Self> {
        use cublasComputeType_t as C;
        let (normal, scale) = match operand {
            DType::F16 | DType::BF16 | DType::F32 => (C::CUBLAS_COMPUTE_32F, DType::F32),
            DType::C64 => (C::CUBLAS_COMPUTE_32F, DType::C64),
            DType::F64 | DType::C128 => (C::CUBLAS_COMPUTE_64F, operand),
            DType::I8 => (C::CUBLAS_COMPUTE_32I, DType::I32),
            _ => {
                return Err(Error::type_error(format!(
                    "a has dtype {operand}; expected float16, bfloat16, float32, float64, complex64, complex128 or int8"
                )));
            }
        };
        let is_single = matches!(operand, DType::F32 | DType::C64);
        let chosen = match compute {
            Compute::Default => Some((normal, scale)),
            // The codes of the pedantic forms follow those of the others.
            Compute::Pedantic => Some((cublasComputeType_t(normal.0 + 1), scale)),
            Compute::Tf32 => is_single.then_some((C::CUBLAS_COMPUTE_32F_FAST_TF32, scale)),
            Compute::Fast16F => is_single.then_some((C::CUBLAS_COMPUTE_32F_FAST_16F, scale)),
            Compute::Fast16BF => is_single.then_some((C::CUBLAS_COMPUTE_32F_FAST_16BF, scale)),
            Compute::Half => (operand == DType::F16).then_some((C::CUBLAS_COMPUTE_16F, DType::F16)),
        };
        let (compute, scale) = chosen.ok_or_else(|| {
            let wanted = if compute == Compute::Half { "float16" } else { "float32 or complex64" };
            Error::type_error(format!("compute is for {wanted}; a has dtype {operand}"))
        })?;
        let usual = if operand == DType::I8 { DType::I32 } else { operand };
        let out_dtype = out.unwrap_or(usual);
        let is_widened = matches!(operand, DType::F16 | DType::BF16) && out_dtype == DType::F32;
        if out_dtype != usual && !(is_widened && scale == DType::F32) {
            return Err(Error::type_error(format!(
                "out has dtype {out_dtype}; expected {usual} for a product of {operand}"
            )));
        }
        let code = |dtype| data_type(dtype).unwrap_or_default();
        Ok(Self { operand: code(operand), out: code(out_dtype), out_dtype, compute, scale })
    }
}

/// A product as a library in column-major order sees it: that of the transposes where `out` is in row-major order.
pub(super) struct PlacedProduct {
    pub(super) types: ProductTypes,
    pub(super) first: ReadMatrix,
    pub(super) second: ReadMatrix,
    pub(super) out: GpuArray,
    pub(super) out_storage: Storage,
    /// Rows and columns of the result, and the length of its sums.
    pub(super) sizes: [usize; 3],
    /// The number of products, and the elements between their matrices.
    pub(super) batch: Option<(usize, [i64; 3])>,
    pub(super) alpha: HostScalar,
    pub(super) beta: HostScalar,
}

impl PlacedProduct {
    /// Checks the operands of a product of matrices (`ndim` 2) or of stacks of them (3), and makes `out` if there is none.
    pub(super) fn new(
        a: &GpuArray,
        b: &GpuArray,
        out: Option<&GpuArray>,
        product: &Product,
        ndim: usize,
    ) -> Result<Self> {
        check_ndim("a", a, ndim)?;
        check_ndim("b", b, ndim)?;
        check_dtype("b", b, a.dtype())?;
        let types = ProductTypes::new(a.dtype(), out.map(GpuArray::dtype), product.compute)?;
        let alpha = HostScalar::new("alpha", product.alpha, types.scale)?;
        let beta = HostScalar::new("beta", product.beta, types.scale)?;
        let size =
            |array: &GpuArray, op: Op, axis: usize| array.shape()[ndim - 2 + (axis ^ usize::from(op.transposed))];
        let (m, k) = (size(a, product.op_a, 0), size(a, product.op_a, 1));
        let (rows, n) = (size(b, product.op_b, 0), size(b, product.op_b, 1));
        let is_same_batch = a.shape()[..ndim - 2] == b.shape()[..ndim - 2];
        if rows != k || !is_same_batch {
            let (a, b) = (a.shape(), b.shape());
            let what = if is_same_batch { "op(a) has as many columns as op(b) rows" } else { "stacks have one length" };
            return Err(Error::value_error(format!("a has shape {a:?} and b has shape {b:?}; expected that {what}")));
        }
        let shape = [&a.shape()[..ndim - 2], &[m, n]].concat();
        let out = match out {
            Some(out) => {
                check_shape("out", out, &shape)?;
                check_apart("out", out, &[("a", a), ("b", b)])?;
                out.clone()
            }
            None => {
                if !is_zero(product.beta) {
                    return Err(Error::value_error(format!("beta is {}, which needs out", product.beta)));
                }
                GpuArray::empty(a.context(), &shape, types.out_dtype, Order::C)?
            }
        };
        let out_storage = written_storage("out", &out)?;
        let flips = out_storage.is_transposed;
        let (op_a, op_b) = (product.op_a.then_transposed(flips), product.op_b.then_transposed(flips));
        let (a, b) = (ReadMatrix::new(a, op_a)?, ReadMatrix::new(b, op_b)?);
        let (first, second, sizes) = if flips { (b, a, [n, m, k]) } else { (a, b, [m, n, k]) };
        let batch = if ndim == 3 {
            let stride = |array| Storage::batch_stride(array).unwrap_or_default();
            Some((shape[0], [stride(&first.array), stride(&second.array), stride(&out)]))
        } else {
            None
        };
        if let Some((count, [.., stride])) = batch
            && count > 1
            && stride < (m * n) as i64
        {
            return Err(Error::value_error(format!(
                "out has strides {:?}; expected matrices that are apart",
                out.strides()
            )));
        }
        Ok(Self { types, first, second, out, out_storage, sizes, batch, alpha, beta })
    }

    fn operands(&self) -> [(&'static str, &GpuArray); 3] {
        [("out", &self.out), ("a", &self.first.array), ("b", &self.second.array)]
    }
}

static IDLE_HANDLES: Mutex<Vec<(u64, Handle)>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD_HANDLES: ThreadHandles<Handle> = const { ThreadHandles::new(&IDLE_HANDLES) };
}

/// Bytes of workspace: what cuBLAS's documentation recommends for the architecture.
fn workspace_bytes(ctx: &Context) -> usize {
    let is_large = ctx.device().compute_capability().is_ok_and(|(major, _)| major >= 9);
    if is_large { 32 << 20 } else { 4 << 20 }
}

/// Handles, and their settings.
impl Handle {
    /// A handle of its own.
    pub fn new(ctx: &crate::Context) -> Self {
        Self::new_in(ctx.driver_context())
    }

    /// [`Handle::new`] for a context of the driver.
    pub fn new_in(ctx: &Context) -> Self {
        let (opened, state) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(HandleInner { ctx: ctx.clone(), opened, state }))
    }

    /// The calling thread's handle for a context.
    ///
    /// # Errors
    /// None so far: the library is opened later.
    pub fn of_thread(ctx: &Context) -> Result<Self> {
        THREAD_HANDLES
            .with(|handles| handles.get_or_make(ctx, |handle: &Self| handle.0.ctx.is_alive(), || Ok(Self::new_in(ctx))))
    }

    #[cfg(test)]
    pub(super) fn with_table(ctx: &Context, table: &'static CublasTable) -> Self {
        let handle = Self::new_in(ctx);
        let opened = Opened { table, raw: cublasHandle_t::null(), _release: None };
        handle.0.opened.set(opened).expect("a new handle is not opened");
        handle
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
        let table = CublasTable::load().map_err(|error| LibraryError::not_loaded(LIBRARY, &error))?;
        let mut raw = cublasHandle_t::null();
        ctx.with_current(|| Result::Ok(call_library!(LIBRARY, table, cublasCreate_v2(&raw mut raw))?))?;
        let destroy = move || {
            // SAFETY: the last use of the handle.
            let _ = unsafe { table.cublasDestroy_v2(raw) };
        };
        let release = Some(ReleaseInContext::new(ctx, destroy));
        Ok(self.0.opened.get_or_init(|| Opened { table, raw, _release: release }))
    }

    /// The handle of the library, in the calling thread's current stream: for functions that are called by name.
    ///
    /// # Errors
    /// For virtual devices, and when the library is missing.
    pub fn raw(&self) -> Result<usize> {
        self.run("Handle", "rtcg.linalg", &[], |_, raw| Ok(raw.0.expose_provenance()))
    }

    /// The version of the library, `1000 * major + 10 * minor`.
    ///
    /// # Errors
    /// As [`Handle::raw`].
    pub fn version(&self) -> Result<u32> {
        use rtcg_driver::sys::libraries::NamedFunctions;
        Ok(self.opened("version", "rtcg.linalg")?.table.version().unwrap_or_default())
    }

    /// Which arithmetic functions may use that are not told.
    ///
    /// # Errors
    /// As [`Handle::raw`].
    pub fn math_mode(&self) -> Result<cublasMath_t> {
        let mut mode = cublasMath_t::default();
        self.run("math_mode", "rtcg.linalg", &[], |table, raw| {
            Ok(call_library!(LIBRARY, table, cublasGetMathMode(raw, &raw mut mode))?)
        })?;
        Ok(mode)
    }

    /// Sets what [`Handle::math_mode`] returns.
    ///
    /// # Errors
    /// As [`Handle::raw`], and when the library refuses it.
    pub fn set_math_mode(&self, mode: cublasMath_t) -> Result<()> {
        self.run("math_mode", "rtcg.linalg", &[], |table, raw| {
            Ok(call_library!(LIBRARY, table, cublasSetMathMode(raw, mode))?)
        })
    }

    /// Runs `body` with the handle in the current stream.
    fn run<T>(
        &self,
        function: &str,
        instead: &str,
        operands: &[(&str, &GpuArray)],
        body: impl FnOnce(&'static CublasTable, cublasHandle_t) -> Result<T>,
    ) -> Result<T> {
        self.run_with_state(function, instead, operands, |table, raw, _| body(table, raw))
    }

    pub(super) fn run_with_state<T>(
        &self,
        function: &str,
        instead: &str,
        operands: &[(&str, &GpuArray)],
        body: impl FnOnce(&'static CublasTable, cublasHandle_t, &mut HandleState) -> Result<T>,
    ) -> Result<T> {
        let ctx = &self.0.ctx;
        check_contexts(ctx, operands)?;
        let &Opened { table, raw, .. } = self.opened(function, instead)?;
        let stream = current_stream_handle(ctx)?;
        let mut state = lock_ignoring_poison(&self.0.state);
        ctx.with_current(|| {
            if state.stream != Some(stream) {
                // What runs in the former stream keeps its memory until it is done.
                state.workspace = None;
                call_library!(LIBRARY, table, cublasSetStream_v2(raw, stream))?;
                state.stream = Some(stream);
            }
            if state.workspace.is_none()
                && let Some((_, like)) = operands.first()
            {
                let nbytes = workspace_bytes(ctx);
                let memory = workspace(like, nbytes)?;
                let address = memory.first_element_address();
                // Older libraries have memory of their own.
                if table.has_function("cublasSetWorkspace_v2") {
                    call_library!(LIBRARY, table, cublasSetWorkspace_v2(raw, address, nbytes))?;
                }
                state.workspace = Some(memory);
            }
            // Each call is a use of the memory.
            let _ = state.workspace.as_ref().map(GpuArray::first_element_address);
            body(table, raw, &mut state)
        })
    }
}

/// Products of matrices.
impl Handle {
    /// `out = alpha op(a) op(b) + beta out`, for matrices; a new `out` is in row-major order. Does not wait.
    ///
    /// dtypes: float16, bfloat16 (also with a float32 `out`), float32, float64, complex64, complex128, and int8 with an
    /// int32 `out`.
    ///
    /// # Errors
    /// When operands do not fit, for virtual devices, and those of the library.
    pub fn gemm(&self, a: &GpuArray, b: &GpuArray, out: Option<&GpuArray>, product: &Product) -> Result<GpuArray> {
        self.multiply("gemm", PlacedProduct::new(a, b, out, product, 2)?)
    }

    /// [`Handle::gemm`] of each pair of matrices of two stacks.
    ///
    /// # Errors
    /// As there.
    pub fn gemm_strided_batched(
        &self,
        a: &GpuArray,
        b: &GpuArray,
        out: Option<&GpuArray>,
        product: &Product,
    ) -> Result<GpuArray> {
        self.multiply("gemm_strided_batched", PlacedProduct::new(a, b, out, product, 3)?)
    }

    fn multiply(&self, function: &str, placed: PlacedProduct) -> Result<GpuArray> {
        let PlacedProduct { types, first, second, out, out_storage, batch, alpha, beta, .. } = &placed;
        let size = |name, size| c_size(LIBRARY, name, size);
        let [m, n, k] = [size("m", placed.sizes[0])?, size("n", placed.sizes[1])?, size("k", placed.sizes[2])?];
        let ld_a = size("the leading dimension of a", first.storage.leading)?;
        let ld_b = size("the leading dimension of b", second.storage.leading)?;
        let ld_out = size("the leading dimension of out", out_storage.leading)?;
        if out.size() == 0 {
            return Ok(out.clone());
        }
        self.run(function, "rtcg.numpy.matmul", &placed.operands(), |table, raw| {
            let (op_a, op_b, a, b) = (first.op, second.op, first.address(), second.address());
            let (alpha, beta, c) = (alpha.as_ptr(), beta.as_ptr(), out.first_element_address());
            let ProductTypes { operand, out: kind, compute, .. } = *types;
            match *batch {
                None => call_library!(
                    LIBRARY,
                    table,
                    cublasGemmEx(
                        raw,
                        op_a,
                        op_b,
                        m,
                        n,
                        k,
                        alpha,
                        a,
                        operand,
                        ld_a,
                        b,
                        operand,
                        ld_b,
                        beta,
                        c,
                        kind,
                        ld_out,
                        compute,
                        CUBLAS_GEMM_DEFAULT
                    )
                )?,
                Some((count, [stride_a, stride_b, stride_c])) => {
                    let count = size("the length of the stacks", count)?;
                    call_library!(
                        LIBRARY,
                        table,
                        cublasGemmStridedBatchedEx(
                            raw,
                            op_a,
                            op_b,
                            m,
                            n,
                            k,
                            alpha,
                            a,
                            operand,
                            ld_a,
                            stride_a,
                            b,
                            operand,
                            ld_b,
                            stride_b,
                            beta,
                            c,
                            kind,
                            ld_out,
                            stride_c,
                            count,
                            compute,
                            CUBLAS_GEMM_DEFAULT
                        )
                    )?;
                }
            }
            Ok(())
        })?;
        Ok(placed.out)
    }

    /// [`Handle::gemm`] of each pair of matrices of two lists, which have one shape and one layout each; the results are
    /// a stack.
    ///
    /// # Errors
    /// As there.
    pub fn gemm_batched(&self, a: &[&GpuArray], b: &[&GpuArray], product: &Product) -> Result<GpuArray> {
        let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else {
            return Err(Error::value_error("a and b are empty lists; expected matrices"));
        };
        if a.len() != b.len() {
            return Err(Error::value_error(format!("a has {} matrices and b has {}", a.len(), b.len())));
        }
        fn is_like(one: &GpuArray, other: &GpuArray) -> bool {
            one.shape() == other.shape() && one.strides() == other.strides() && one.dtype() == other.dtype()
        }
        for (name, list, first) in [("a", a, first_a), ("b", b, first_b)] {
            if let Some(at) = list.iter().position(|matrix| !is_like(matrix, first)) {
                let (shape, strides) = (list[at].shape(), list[at].strides());
                let message = format!(
                    "{name}[{at}] has shape {shape:?}, strides {strides:?} and dtype {}; expected those of {name}[0]: \
                     {:?}, {:?} and {}",
                    list[at].dtype(),
                    first.shape(),
                    first.strides(),
                    first.dtype()
                );
                return Err(Error::value_error(message));
            }
        }
        let one = PlacedProduct::new(first_a, first_b, None, product, 2)?;
        let flips = one.out_storage.is_transposed;
        let shape = [&[a.len()], one.out.shape()].concat();
        let out = GpuArray::empty(first_a.context(), &shape, one.types.out_dtype, Order::C)?;
        if out.size() == 0 {
            return Ok(out);
        }
        // Each operand is placed as the first of its list, or all are copied as that is.
        let place = |list: &[&GpuArray], op: Op| -> Result<Vec<ReadMatrix>> {
            list.iter().map(|matrix| ReadMatrix::new(matrix, op.then_transposed(flips))).collect()
        };
        let (placed_a, placed_b) = (place(a, product.op_a)?, place(b, product.op_b)?);
        let (first, second) = if flips { (placed_b, placed_a) } else { (placed_a, placed_b) };
        let size = |name, size| c_size(LIBRARY, name, size);
        let [m, n, k] = [size("m", one.sizes[0])?, size("n", one.sizes[1])?, size("k", one.sizes[2])?];
        let ld = [first[0].storage.leading, second[0].storage.leading, one.out_storage.leading];
        let [ld_a, ld_b, ld_c] = [size("lda", ld[0])?, size("ldb", ld[1])?, size("ldc", ld[2])?];
        let count = size("the number of matrices", a.len())?;
        let operands: Vec<(&str, &GpuArray)> = std::iter::once(("out", &out))
            .chain(a.iter().map(|a| ("a", *a)))
            .chain(b.iter().map(|b| ("b", *b)))
            .collect();
        self.run("gemm_batched", "rtcg.numpy.matmul of stacks", &operands, |table, raw| {
            let addresses = |list: &[ReadMatrix]| list.iter().flat_map(|m| m.address().to_le_bytes()).collect();
            let table_a = pointers_to(&out, addresses(&first))?;
            let table_b = pointers_to(&out, addresses(&second))?;
            let table_c = pointers(&out)?;
            let [at_a, at_b, at_c] = [&table_a, &table_b, &table_c].map(GpuArray::first_element_address);
            let (alpha, beta) = (one.alpha.as_ptr(), one.beta.as_ptr());
            let ProductTypes { operand, out: kind, compute, .. } = one.types;
            Ok(call_library!(
                LIBRARY,
                table,
                cublasGemmBatchedEx(
                    raw,
                    first[0].op,
                    second[0].op,
                    m,
                    n,
                    k,
                    alpha,
                    at_a,
                    operand,
                    ld_a,
                    at_b,
                    operand,
                    ld_b,
                    beta,
                    at_c,
                    kind,
                    ld_c,
                    count,
                    compute,
                    CUBLAS_GEMM_DEFAULT
                )
            )?)
        })?;
        Ok(out)
    }

    /// `out = alpha op(a) x + beta out`, for a matrix and a vector of float32, float64, complex64 or complex128.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn gemv(
        &self,
        a: &GpuArray,
        x: &GpuArray,
        out: Option<&GpuArray>,
        op: Op,
        alpha: WeakScalar,
        beta: WeakScalar,
    ) -> Result<GpuArray> {
        check_ndim("a", a, 2)?;
        check_ndim("x", x, 1)?;
        let kind = blas_type("a", a)?;
        check_dtype("x", x, a.dtype())?;
        let [rows, columns] = if op.transposed { [a.shape()[1], a.shape()[0]] } else { [a.shape()[0], a.shape()[1]] };
        check_shape("x", x, &[columns])?;
        let is_new = out.is_none();
        let out = output_like(a, out, &[rows], &[("a", a), ("x", x)], beta)?;
        let (alpha, factor) = (HostScalar::new("alpha", alpha, a.dtype())?, HostScalar::new("beta", beta, a.dtype())?);
        let placed = ReadMatrix::new(a, op)?;
        let (x, y) = (Vector::new("x", x)?, Vector::new("out", &out)?);
        // Sizes of the matrix in memory.
        let [m, n] =
            if placed.storage.is_transposed { [a.shape()[1], a.shape()[0]] } else { [a.shape()[0], a.shape()[1]] };
        let [m, n] = [c_size(LIBRARY, "m", m)?, c_size(LIBRARY, "n", n)?];
        let lda = c_size(LIBRARY, "the leading dimension of a", placed.storage.leading)?;
        if out.size() == 0 {
            return Ok(out);
        }
        if columns == 0 {
            // The library leaves the result as it is.
            return scale_in_place(out, is_new, beta);
        }
        self.run("gemv", "rtcg.numpy.matmul", &[("out", &out), ("a", a), ("x", x.array)], |table, raw| {
            Ok(call_typed!(kind, table, [cublasSgemv_v2 cublasDgemv_v2 cublasCgemv_v2 cublasZgemv_v2](
                raw, placed.op, m, n, alpha.as_ptr(), placed.address(), lda, x.address(), x.step, factor.as_ptr(),
                y.address(), y.step
            ))?)
        })?;
        Ok(out)
    }

    /// Solves `op(a) x = alpha b` (or `x op(a) = alpha b` if `is_right`) for a triangular matrix `a`, of which one
    /// triangle is read; `b` becomes the solution.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn trsm(&self, a: &GpuArray, b: &GpuArray, system: Triangular, alpha: WeakScalar) -> Result<()> {
        check_ndim("a", a, 2)?;
        check_ndim("b", b, 2)?;
        let kind = blas_type("a", a)?;
        check_dtype("b", b, a.dtype())?;
        let n = b.shape()[usize::from(system.is_right)];
        check_shape("a", a, &[n, n])?;
        check_apart("b", b, &[("a", a)])?;
        let alpha = HostScalar::new("alpha", alpha, a.dtype())?;
        let storage = written_storage("b", b)?;
        let flips = storage.is_transposed;
        let placed = ReadMatrix::new(a, system.op.then_transposed(flips))?;
        let side = cublasSideMode_t(u32::from(system.is_right != flips));
        let fill = cublasFillMode_t(u32::from(system.is_lower == placed.storage.is_transposed));
        let diag = cublasDiagType_t(u32::from(system.is_unit));
        let [m, n] = if flips { [b.shape()[1], b.shape()[0]] } else { [b.shape()[0], b.shape()[1]] };
        let [m, n] = [c_size(LIBRARY, "m", m)?, c_size(LIBRARY, "n", n)?];
        let lda = c_size(LIBRARY, "the leading dimension of a", placed.storage.leading)?;
        let ldb = c_size(LIBRARY, "the leading dimension of b", storage.leading)?;
        if b.size() == 0 {
            return Ok(());
        }
        self.run("trsm", "rtcg.linalg.solve_triangular", &[("b", b), ("a", a)], |table, raw| {
            Ok(call_typed!(kind, table, [cublasStrsm_v2 cublasDtrsm_v2 cublasCtrsm_v2 cublasZtrsm_v2](
                raw, side, fill, placed.op, diag, m, n, alpha.as_ptr(), placed.address(), lda,
                b.first_element_address(), ldb
            ))?)
        })
    }

    /// `out = alpha op(a) op(a)^T + beta out`, of which one triangle is written; `op` does not conjugate. A new `out`
    /// has zeros in the other one.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn syrk(
        &self,
        a: &GpuArray,
        out: Option<&GpuArray>,
        is_transposed: bool,
        is_lower: bool,
        alpha: WeakScalar,
        beta: WeakScalar,
    ) -> Result<GpuArray> {
        check_ndim("a", a, 2)?;
        let kind = blas_type("a", a)?;
        let [n, k] = if is_transposed { [a.shape()[1], a.shape()[0]] } else { [a.shape()[0], a.shape()[1]] };
        let given = out.is_some();
        let out = output_like(a, out, &[n, n], &[("a", a)], beta)?;
        if !given {
            out.memset_zero()?;
        }
        let (alpha, beta) = (HostScalar::new("alpha", alpha, a.dtype())?, HostScalar::new("beta", beta, a.dtype())?);
        let storage = written_storage("out", &out)?;
        let placed = ReadMatrix::new(a, if is_transposed { Op::TRANSPOSE } else { Op::NONE })?;
        let fill = cublasFillMode_t(u32::from(is_lower == storage.is_transposed));
        let [n, k] = [c_size(LIBRARY, "n", n)?, c_size(LIBRARY, "k", k)?];
        let lda = c_size(LIBRARY, "the leading dimension of a", placed.storage.leading)?;
        let ldc = c_size(LIBRARY, "the leading dimension of out", storage.leading)?;
        if out.size() == 0 {
            return Ok(out);
        }
        self.run("syrk", "rtcg.numpy.matmul", &[("out", &out), ("a", a)], |table, raw| {
            Ok(call_typed!(kind, table, [cublasSsyrk_v2 cublasDsyrk_v2 cublasCsyrk_v2 cublasZsyrk_v2](
                raw, fill, placed.op, n, k, alpha.as_ptr(), placed.address(), lda, beta.as_ptr(),
                out.first_element_address(), ldc
            ))?)
        })?;
        Ok(out)
    }

    /// `out = alpha op(a) + beta op(b)`.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn geam(&self, a: &GpuArray, b: &GpuArray, out: Option<&GpuArray>, product: &Product) -> Result<GpuArray> {
        check_ndim("a", a, 2)?;
        check_ndim("b", b, 2)?;
        let kind = blas_type("a", a)?;
        check_dtype("b", b, a.dtype())?;
        let shape = |array: &GpuArray, op: Op| {
            let (rows, columns) = (array.shape()[0], array.shape()[1]);
            if op.transposed { [columns, rows] } else { [rows, columns] }
        };
        let [rows, columns] = shape(a, product.op_a);
        if shape(b, product.op_b) != [rows, columns] {
            let (a, b) = (a.shape(), b.shape());
            return Err(Error::value_error(format!("op(a) and op(b) of shapes {a:?} and {b:?} have different shapes")));
        }
        let out = output_like(a, out, &[rows, columns], &[("a", a), ("b", b)], WeakScalar::Int(0))?;
        let alpha = HostScalar::new("alpha", product.alpha, a.dtype())?;
        let beta = HostScalar::new("beta", product.beta, a.dtype())?;
        let storage = written_storage("out", &out)?;
        let flips = storage.is_transposed;
        let first = ReadMatrix::new(a, product.op_a.then_transposed(flips))?;
        let second = ReadMatrix::new(b, product.op_b.then_transposed(flips))?;
        let [m, n] = if flips { [columns, rows] } else { [rows, columns] };
        let [m, n] = [c_size(LIBRARY, "m", m)?, c_size(LIBRARY, "n", n)?];
        let lda = c_size(LIBRARY, "the leading dimension of a", first.storage.leading)?;
        let ldb = c_size(LIBRARY, "the leading dimension of b", second.storage.leading)?;
        let ldc = c_size(LIBRARY, "the leading dimension of out", storage.leading)?;
        if out.size() == 0 {
            return Ok(out);
        }
        self.run("geam", "alpha * a + beta * b", &[("out", &out), ("a", a), ("b", b)], |table, raw| {
            Ok(call_typed!(kind, table, [cublasSgeam cublasDgeam cublasCgeam cublasZgeam](
                raw, first.op, second.op, m, n, alpha.as_ptr(), first.address(), lda, beta.as_ptr(),
                second.address(), ldb, out.first_element_address(), ldc
            ))?)
        })?;
        Ok(out)
    }

    /// Factors of the matrices of a stack, `P a = L U` as LAPACK stores them: the factors, the pivots (int32, from 1,
    /// of shape (count, n)), and for each matrix 0 or the place of the first zero pivot.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn getrf_batched(&self, a: &GpuArray) -> Result<[GpuArray; 3]> {
        check_ndim("a", a, 3)?;
        let kind = blas_type("a", a)?;
        let (count, n) = (a.shape()[0], a.shape()[1]);
        check_shape("a", a, &[count, n, n])?;
        let factors = copy_in_order(a, false)?;
        let pivots = GpuArray::zeros(a.context(), &[count, n], DType::I32, Order::C)?;
        let info = GpuArray::zeros(a.context(), &[count], DType::I32, Order::C)?;
        if factors.size() == 0 {
            return Ok([factors, pivots, info]);
        }
        let [size, batch] = [c_size(LIBRARY, "n", n)?, c_size(LIBRARY, "the number of matrices", count)?];
        self.run("getrf_batched", "rtcg.linalg.lu_factor", &[("a", &factors)], |table, raw| {
            let at = pointers(&factors)?;
            let [at, pivots, info] = [&at, &pivots, &info].map(GpuArray::first_element_address);
            Ok(call_typed!(
                kind,
                table,
                [cublasSgetrfBatched cublasDgetrfBatched cublasCgetrfBatched cublasZgetrfBatched](
                    raw, size, at, size, pivots, info, batch
                )
            )?)
        })?;
        Ok([factors, pivots, info])
    }

    /// Solutions of `op(a) x = b` for each matrix of a stack, from what [`Handle::getrf_batched`] returned.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn getrs_batched(&self, factors: &GpuArray, pivots: &GpuArray, b: &GpuArray, op: Op) -> Result<GpuArray> {
        check_ndim("lu", factors, 3)?;
        check_ndim("b", b, 3)?;
        let kind = blas_type("lu", factors)?;
        check_dtype("b", b, factors.dtype())?;
        check_dtype("piv", pivots, DType::I32)?;
        let (count, n, columns) = (factors.shape()[0], factors.shape()[1], b.shape()[2]);
        check_shape("lu", factors, &[count, n, n])?;
        check_shape("piv", pivots, &[count, n])?;
        check_shape("b", b, &[count, n, columns])?;
        let x = copy_in_order(b, false)?;
        if x.size() == 0 {
            return Ok(x);
        }
        // The factors were made in column-major order, and are copied if they came by another way.
        let factors = ReadMatrix::new(factors, Op::NONE)?;
        let factors = if factors.storage.is_transposed { copy_in_order(&factors.array, false)? } else { factors.array };
        let lda = c_size(LIBRARY, "n", Storage::of(&factors).map_or(n, |storage| storage.leading))?;
        let pivots = pivots.to_contiguous()?;
        let [size, nrhs, batch] =
            [c_size(LIBRARY, "n", n)?, c_size(LIBRARY, "nrhs", columns)?, c_size(LIBRARY, "count", count)?];
        let op = Op { conjugated: op.conjugated && x.dtype().is_complex(), ..op };
        let code = op.code().unwrap_or_default();
        let operands = [("b", &x), ("lu", &factors), ("piv", &pivots)];
        self.run("getrs_batched", "rtcg.linalg.lu_solve", &operands, |table, raw| {
            let (a, at) = (pointers(&factors)?, pointers(&x)?);
            let [a, at, pivots] = [&a, &at, &pivots].map(GpuArray::first_element_address);
            let mut info: c_int = 0;
            Ok(call_typed!(
                kind,
                table,
                [cublasSgetrsBatched cublasDgetrsBatched cublasCgetrsBatched cublasZgetrsBatched](
                    raw, code, size, nrhs, a, lda, pivots, at, size, &raw mut info, batch
                )
            )?)
        })?;
        Ok(x)
    }
}

/// Checks an `out` of the dtype of `like`, or makes one.
fn output_like(
    like: &GpuArray,
    out: Option<&GpuArray>,
    shape: &[usize],
    read: &[(&str, &GpuArray)],
    beta: WeakScalar,
) -> Result<GpuArray> {
    let Some(out) = out else {
        if !is_zero(beta) {
            return Err(Error::value_error(format!("beta is {beta}, which needs out")));
        }
        return Ok(GpuArray::empty(like.context(), shape, like.dtype(), Order::C)?);
    };
    check_dtype("out", out, like.dtype())?;
    check_shape("out", out, shape)?;
    check_apart("out", out, read)?;
    Ok(out.clone())
}

/// What a product without terms makes of its result.
fn scale_in_place(out: GpuArray, is_new: bool, beta: WeakScalar) -> Result<GpuArray> {
    if is_new || is_zero(beta) {
        out.fill(Scalar::Weak(WeakScalar::Int(0)))?;
    } else {
        out.assign(&out.binary(rtcg_array::Op::Multiply, Scalar::Weak(beta))?)?;
    }
    Ok(out)
}

/// A triangular system.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Triangular {
    /// Whether the matrix stands to the right of the unknowns.
    pub is_right: bool,
    /// Whether its lower triangle is read.
    pub is_lower: bool,
    /// What is done with it first.
    pub op: Op,
    /// Whether its diagonal is taken as ones.
    pub is_unit: bool,
}

/// A vector as BLAS describes it.
struct Vector<'a> {
    array: &'a GpuArray,
    n: c_int,
    step: c_int,
}

impl<'a> Vector<'a> {
    fn new(name: &str, array: &'a GpuArray) -> Result<Self> {
        check_ndim(name, array, 1)?;
        let (n, item, stride) = (array.size(), array.itemsize() as isize, array.strides()[0]);
        let n = c_size(LIBRARY, &format!("the length of {name}"), n)?;
        if n <= 1 {
            return Ok(Self { array, n, step: 1 });
        }
        let step = if stride % item == 0 { c_int::try_from(stride / item).ok() } else { None };
        let step = step.filter(|step| *step != 0).ok_or_else(|| {
            Error::value_error(format!(
                "{name} has strides {:?}; expected a multiple of {item} bytes, not 0",
                array.strides()
            ))
        })?;
        Ok(Self { array, n, step })
    }

    /// Where its memory begins, from which BLAS counts also with negative steps.
    fn address(&self) -> u64 {
        let first = self.array.first_element_address();
        let back = i64::from(self.n - 1).max(0) * i64::from(self.step.min(0)) * self.array.itemsize() as i64;
        first.wrapping_add_signed(back)
    }
}

/// Where a number goes that a function computes.
enum NumberTarget {
    /// To the caller, who waits for it.
    Host(HostScalar),
    /// To an array of one element.
    Device(GpuArray),
}

/// Operations of vectors: of one axis, with any stride. float16 and bfloat16 too, except [`Handle::amax`].
impl Handle {
    /// `y += alpha x`.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn axpy(&self, alpha: WeakScalar, x: &GpuArray, y: &GpuArray) -> Result<()> {
        let (kind, compute) = vector_types("x", x)?;
        check_dtype("y", y, x.dtype())?;
        let (from, to) = (Vector::new("x", x)?, Vector::new("y", y)?);
        check_shape("y", y, x.shape())?;
        check_apart("y", y, &[("x", x)])?;
        let alpha = HostScalar::new("alpha", alpha, compute)?;
        let execution = data_type(compute).unwrap_or_default();
        self.run("axpy", "y += alpha * x", &[("y", y), ("x", x)], |table, raw| {
            Ok(call_library!(
                LIBRARY,
                table,
                cublasAxpyEx(
                    raw,
                    from.n,
                    alpha.as_ptr(),
                    execution,
                    from.address(),
                    kind,
                    from.step,
                    to.address(),
                    kind,
                    to.step,
                    execution
                )
            )?)
        })
    }

    /// `x *= alpha`.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn scal(&self, alpha: WeakScalar, x: &GpuArray) -> Result<()> {
        let (kind, compute) = vector_types("x", x)?;
        let vector = Vector::new("x", x)?;
        let alpha = HostScalar::new("alpha", alpha, compute)?;
        let execution = data_type(compute).unwrap_or_default();
        self.run("scal", "x *= alpha", &[("x", x)], |table, raw| {
            Ok(call_library!(
                LIBRARY,
                table,
                cublasScalEx(
                    raw,
                    vector.n,
                    alpha.as_ptr(),
                    execution,
                    vector.address(),
                    kind,
                    vector.step.abs(),
                    execution
                )
            )?)
        })
    }

    /// The sum of the products of the elements, of the conjugates of those of `x` if `conjugates`. Waits for it, unless it
    /// goes to `out`, an array of one element; then the result is `None`.
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn dot(
        &self,
        x: &GpuArray,
        y: &GpuArray,
        conjugates: bool,
        out: Option<&GpuArray>,
    ) -> Result<Option<WeakScalar>> {
        let (kind, compute) = vector_types("x", x)?;
        check_dtype("y", y, x.dtype())?;
        let (a, b) = (Vector::new("x", x)?, Vector::new("y", y)?);
        check_shape("y", y, x.shape())?;
        let execution = data_type(compute).unwrap_or_default();
        self.number("dot", "rtcg.numpy.dot", x.dtype(), &[("x", x), ("y", y)], out, |table, raw, result| {
            let result = result.cast();
            let (n, x, y) = (a.n, a.address(), b.address());
            Ok(if conjugates {
                call_library!(
                    LIBRARY,
                    table,
                    cublasDotcEx(raw, n, x, kind, a.step, y, kind, b.step, result, kind, execution)
                )
            } else {
                call_library!(
                    LIBRARY,
                    table,
                    cublasDotEx(raw, n, x, kind, a.step, y, kind, b.step, result, kind, execution)
                )
            }?)
        })
    }

    /// The Euclidean norm, of the real dtype: as [`Handle::dot`].
    ///
    /// # Errors
    /// As [`Handle::gemm`].
    pub fn nrm2(&self, x: &GpuArray, out: Option<&GpuArray>) -> Result<Option<WeakScalar>> {
        let (kind, compute) = vector_types("x", x)?;
        let vector = Vector::new("x", x)?;
        let real = x.dtype().real_part();
        let (result_kind, execution) =
            (data_type(real).unwrap_or_default(), data_type(compute.real_part()).unwrap_or_default());
        self.number("nrm2", "rtcg.linalg.norm", real, &[("x", x)], out, |table, raw, result| {
            let result = result.cast();
            Ok(call_library!(
                LIBRARY,
                table,
                cublasNrm2Ex(raw, vector.n, vector.address(), kind, vector.step.abs(), result, result_kind, execution)
            )?)
        })
    }

    /// The index of the first element whose absolute real and imaginary parts have the largest sum. Waits for it.
    ///
    /// # Errors
    /// As [`Handle::gemm`], and for an empty vector.
    pub fn amax(&self, x: &GpuArray) -> Result<usize> {
        let kind = blas_type("x", x)?;
        check_ndim("x", x, 1)?;
        if x.size() == 0 {
            return Err(Error::value_error("x is empty; expected at least one element"));
        }
        // A vector that runs backwards has its first element last in memory.
        let x = if x.strides()[0] < 0 { x.copy(Some(Order::C))? } else { x.clone() };
        let (vector, mut index) = (Vector::new("x", &x)?, 0);
        self.run("amax", "rtcg.numpy.argmax(abs(x))", &[("x", &x)], |table, raw| {
            Ok(call_typed!(kind, table, [cublasIsamax_v2 cublasIdamax_v2 cublasIcamax_v2 cublasIzamax_v2](
                raw, vector.n, vector.address(), vector.step, &raw mut index
            ))?)
        })?;
        // The library counts from 1.
        Ok((index.max(1) - 1) as usize)
    }

    fn number(
        &self,
        function: &str,
        instead: &str,
        dtype: DType,
        operands: &[(&str, &GpuArray)],
        out: Option<&GpuArray>,
        body: impl FnOnce(&'static CublasTable, cublasHandle_t, *mut u8) -> Result<()>,
    ) -> Result<Option<WeakScalar>> {
        let mut target = match out {
            None => NumberTarget::Host(HostScalar::zero()),
            Some(out) => {
                check_dtype("out", out, dtype)?;
                if out.size() != 1 {
                    return Err(Error::value_error(format!("out has shape {:?}; expected one element", out.shape())));
                }
                check_apart("out", out, operands)?;
                check_contexts(&self.0.ctx, &[("out", out)])?;
                NumberTarget::Device(out.clone())
            }
        };
        self.run(function, instead, operands, |table, raw| match &mut target {
            NumberTarget::Host(number) => body(table, raw, number.as_mut_ptr()),
            NumberTarget::Device(out) => {
                let mode = |mode| call_library!(LIBRARY, table, cublasSetPointerMode_v2(raw, mode));
                mode(cublasPointerMode_t::CUBLAS_POINTER_MODE_DEVICE)?;
                let address = std::ptr::with_exposed_provenance_mut(out.first_element_address() as usize);
                let outcome = body(table, raw, address);
                mode(cublasPointerMode_t::CUBLAS_POINTER_MODE_HOST)?;
                outcome
            }
        })?;
        Ok(match target {
            NumberTarget::Host(number) => Some(number.value(dtype)),
            NumberTarget::Device(_) => None,
        })
    }
}

/// The type of a vector's elements, and that in which they are computed.
fn vector_types(name: &str, array: &GpuArray) -> Result<(cudaDataType, DType)> {
    let dtype = array.dtype();
    let compute = match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => dtype,
        other => {
            return Err(Error::type_error(format!(
                "{name} has dtype {other}; expected float16, bfloat16, float32, float64, complex64 or complex128"
            )));
        }
    };
    Ok((data_type(dtype).unwrap_or_default(), compute))
}
