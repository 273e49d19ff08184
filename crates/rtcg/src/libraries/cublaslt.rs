//! Products by cuBLASLt: algorithms by its heuristics, and a bias and an activation in the same kernel.
//!
//! A handle of cuBLAS keeps the descriptions of products that it has computed, by everything that describes them, so that a
//! repeated one asks for no algorithm again.

use super::cublas::{Handle, HandleState, PlacedProduct, Product, ProductTypes};
use super::{check_dtype, check_shape, current_stream_handle, workspace};
use crate::{Error, Result};
use rtcg_array::GpuArray;
use rtcg_driver::Context;
use rtcg_driver::libraries::{Library, LibraryError, ReleaseInContext};
use rtcg_driver::sys::c_int;
use rtcg_driver::sys::cublas::cublasStatus_t;
use rtcg_driver::sys::cublaslt::*;
use rtcg_driver::sys::libraries::cudaDataType;
use std::collections::HashMap;
use std::sync::Arc;

/// Calls a function of cuBLASLt.
macro_rules! call_lt {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: the arguments are objects of this library, and memory as large as they say.
        let status = unsafe { $table.$name($($arg),*) };
        check_status($table, stringify!($name), status)
    }};
}

fn check_status(table: &CublasLtTable, call: &str, status: cublasStatus_t) -> Result<()> {
    if status == cublasStatus_t::CUBLAS_STATUS_SUCCESS {
        return Ok(());
    }
    let text = match status.name() {
        _ if status == cublasStatus_t::RTCG_CUBLAS_FUNCTION_MISSING => format!(
            "the cuBLASLt in use ({}) does not have it: `pip install -U nvidia-cublas` (or nvidia-cublas-cu12) installs a \
             newer one",
            table.library_path().display()
        ),
        Some(name) => name.to_owned(),
        None => format!("status {}", status.0),
    };
    let error = LibraryError::refused(Library::Cublas, call, text);
    Err(LibraryError { status: Some(status.0), status_name: status.name(), ..error }.into())
}

/// What follows a product before it is stored.
#[derive(Clone, Copy, Default, Debug)]
pub struct MatmulEpilogue<'a> {
    /// A vector that is added to each row.
    pub bias: Option<&'a GpuArray>,
    /// A function of each element, after that.
    pub activation: Activation,
}

/// A function of each element of a product.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Activation {
    /// None.
    #[default]
    Identity,
    /// max(x, 0).
    Relu,
    /// x times the normal distribution at x, by its approximation with tanh.
    Gelu,
}

impl std::str::FromStr for Activation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "relu" => Ok(Self::Relu),
            "gelu" => Ok(Self::Gelu),
            _ => Err(Error::value_error(format!("activation is '{name}'; expected None, 'relu' or 'gelu'"))),
        }
    }
}

impl MatmulEpilogue<'_> {
    fn code(&self) -> cublasLtEpilogue_t {
        match (self.activation, self.bias.is_some()) {
            (Activation::Identity, false) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_DEFAULT,
            (Activation::Identity, true) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS,
            (Activation::Relu, false) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_RELU,
            (Activation::Relu, true) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_RELU_BIAS,
            (Activation::Gelu, false) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_GELU,
            (Activation::Gelu, true) => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_GELU_BIAS,
        }
    }
}

/// Which of the algorithms that the heuristics propose is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatmulChoice {
    /// The most bytes of workspace.
    pub workspace_bytes: usize,
    /// The place of the algorithm in the list of [`Handle::matmul_algorithms`].
    pub algorithm: usize,
}

impl Default for MatmulChoice {
    /// The first one that needs at most 32 MiB.
    fn default() -> Self {
        Self { workspace_bytes: 32 << 20, algorithm: 0 }
    }
}

/// An algorithm for a product.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatmulAlgorithm {
    /// The workspace that it needs.
    pub workspace_bytes: usize,
    /// How often the grid fills the device.
    pub waves: f32,
}

/// cuBLASLt's part of a handle.
#[derive(Debug)]
struct LtState {
    table: &'static CublasLtTable,
    raw: cublasLtHandle_t,
    plans: HashMap<Vec<u64>, Arc<LtPlan>>,
    _release: ReleaseInContext,
}

/// The most descriptions of products that a handle keeps.
const MAX_PLANS: usize = 256;
/// The most algorithms that are asked for.
const MAX_ALGORITHMS: usize = 16;

/// An object of the library in host memory, destroyed with its owner.
#[derive(Debug)]
struct LtObject<T: Copy> {
    raw: T,
    table: &'static CublasLtTable,
    destroy: fn(&CublasLtTable, T),
}

impl<T: Copy> Drop for LtObject<T> {
    fn drop(&mut self) {
        (self.destroy)(self.table, self.raw);
    }
}

/// A described product, with its algorithms.
#[derive(Debug)]
struct LtPlan {
    product: LtObject<cublasLtMatmulDesc_t>,
    /// Of the two operands and the result.
    layouts: [LtObject<cublasLtMatrixLayout_t>; 3],
    algorithms: Vec<cublasLtMatmulHeuristicResult_t>,
}

/// Bytes of an attribute.
fn bytes_of<T>(value: &T) -> (*const std::ffi::c_void, usize) {
    (std::ptr::from_ref(value).cast(), size_of::<T>())
}

impl LtState {
    fn open(ctx: &Context) -> Result<Self> {
        let table = CublasLtTable::load().map_err(|error| LibraryError::not_loaded(Library::Cublas, &error))?;
        let mut raw = cublasLtHandle_t::null();
        call_lt!(table, cublasLtCreate(&raw mut raw))?;
        let destroy = move || {
            // SAFETY: the last use of the handle.
            let _ = unsafe { table.cublasLtDestroy(raw) };
        };
        Ok(Self { table, raw, plans: HashMap::new(), _release: ReleaseInContext::new(ctx, destroy) })
    }

    fn describe_product(
        &self,
        placed: &PlacedProduct,
        epilogue: &MatmulEpilogue<'_>,
    ) -> Result<LtObject<cublasLtMatmulDesc_t>> {
        let table = self.table;
        let mut raw = cublasLtMatmulDesc_t::null();
        let scale = super::data_type(placed.types.scale).unwrap_or_default();
        call_lt!(table, cublasLtMatmulDescCreate(&raw mut raw, placed.types.compute, scale))?;
        let destroy = |table: &CublasLtTable, raw| {
            // SAFETY: the last use of the description.
            let _ = unsafe { table.cublasLtMatmulDescDestroy(raw) };
        };
        let made = LtObject { raw, table, destroy };
        let codes = [
            (CUBLASLT_MATMUL_DESC_TRANSA, placed.first.op.0),
            (CUBLASLT_MATMUL_DESC_TRANSB, placed.second.op.0),
            (CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.code().0),
        ];
        for (attribute, code) in codes {
            let (bytes, size) = bytes_of(&code);
            call_lt!(table, cublasLtMatmulDescSetAttribute(raw, attribute, bytes, size))?;
        }
        Ok(made)
    }

    fn describe_matrix(
        &self,
        kind: cudaDataType,
        [rows, columns, leading]: [usize; 3],
        batch: Option<(usize, i64)>,
    ) -> Result<LtObject<cublasLtMatrixLayout_t>> {
        let table = self.table;
        let mut raw = cublasLtMatrixLayout_t::null();
        let (rows, columns, leading) = (rows as u64, columns as u64, leading as i64);
        call_lt!(table, cublasLtMatrixLayoutCreate(&raw mut raw, kind, rows, columns, leading))?;
        let destroy = |table: &CublasLtTable, raw| {
            // SAFETY: the last use of the description.
            let _ = unsafe { table.cublasLtMatrixLayoutDestroy(raw) };
        };
        let made = LtObject { raw, table, destroy };
        if let Some((count, stride)) = batch {
            let count = c_int::try_from(count)
                .map_err(|_| Error::value_error(format!("stacks have the length {count}; expected less than 2^31")))?;
            let set = |attribute, (bytes, size)| {
                call_lt!(table, cublasLtMatrixLayoutSetAttribute(raw, attribute, bytes, size))
            };
            set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, bytes_of(&count))?;
            set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, bytes_of(&stride))?;
        }
        Ok(made)
    }

    /// The algorithms for a product; `alignments` are those of the operands and of the result.
    fn ask_for_algorithms(
        &self,
        product: cublasLtMatmulDesc_t,
        [a, b, c]: [cublasLtMatrixLayout_t; 3],
        workspace_bytes: usize,
        alignments: [u32; 3],
    ) -> Result<Vec<cublasLtMatmulHeuristicResult_t>> {
        let table = self.table;
        let mut raw = cublasLtMatmulPreference_t::null();
        call_lt!(table, cublasLtMatmulPreferenceCreate(&raw mut raw))?;
        let destroy = |table: &CublasLtTable, raw| {
            // SAFETY: the last use of the preference.
            let _ = unsafe { table.cublasLtMatmulPreferenceDestroy(raw) };
        };
        let _preference = LtObject { raw, table, destroy };
        let set = |attribute, (bytes, size)| {
            call_lt!(table, cublasLtMatmulPreferenceSetAttribute(raw, attribute, bytes, size))
        };
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes_of(&(workspace_bytes as u64)))?;
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, bytes_of(&alignments[0]))?;
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, bytes_of(&alignments[1]))?;
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, bytes_of(&alignments[2]))?;
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, bytes_of(&alignments[2]))?;
        let mut found = vec![cublasLtMatmulHeuristicResult_t::default(); MAX_ALGORITHMS];
        let (mut n, most, handle) = (0, MAX_ALGORITHMS as c_int, self.raw);
        call_lt!(
            table,
            cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, c, c, raw, most, found.as_mut_ptr(), &raw mut n)
        )?;
        found.truncate(n.max(0) as usize);
        found.retain(|found| found.state == 0);
        Ok(found)
    }

    fn plan(
        &mut self,
        placed: &PlacedProduct,
        epilogue: &MatmulEpilogue<'_>,
        workspace_bytes: usize,
    ) -> Result<Arc<LtPlan>> {
        let ProductTypes { operand, out, compute, scale, .. } = placed.types;
        let addresses = [placed.first.address(), placed.second.address(), placed.out.first_element_address()];
        // 256 bytes is the most that the heuristics distinguish.
        let alignments = addresses.map(|address| 1u32 << address.trailing_zeros().min(8));
        let (count, strides) = placed.batch.unwrap_or((0, [0; 3]));
        let codes = [
            operand.0,
            out.0,
            compute.0,
            scale.table_index(),
            placed.first.op.0,
            placed.second.op.0,
            epilogue.code().0,
        ];
        let leading = [placed.first.storage.leading, placed.second.storage.leading, placed.out_storage.leading];
        let mut key: Vec<u64> = codes.iter().chain(&alignments).map(|code| u64::from(*code)).collect();
        key.extend(placed.sizes.iter().chain(&leading).chain(&[count, workspace_bytes]).map(|n| *n as u64));
        key.extend(strides.map(|stride| stride as u64));
        if let Some(plan) = self.plans.get(&key) {
            return Ok(plan.clone());
        }
        let product = self.describe_product(placed, epilogue)?;
        self.set_bias(product.raw, epilogue)?;
        let [m, n, k] = placed.sizes;
        let size = |op: rtcg_driver::sys::cublas::cublasOperation_t, rows, columns| match op.0 {
            0 => [rows, columns],
            _ => [columns, rows],
        };
        let matrix = |at: usize, kind, [rows, columns]: [usize; 2]| {
            let batch = placed.batch.map(|(count, strides)| (count, strides[at]));
            self.describe_matrix(kind, [rows, columns, leading[at]], batch)
        };
        let layouts = [
            matrix(0, operand, size(placed.first.op, m, k))?,
            matrix(1, operand, size(placed.second.op, k, n))?,
            matrix(2, out, [m, n])?,
        ];
        let raw = std::array::from_fn(|i| layouts[i].raw);
        let algorithms = self.ask_for_algorithms(product.raw, raw, workspace_bytes, alignments)?;
        let plan = Arc::new(LtPlan { product, layouts, algorithms });
        if self.plans.len() >= MAX_PLANS {
            self.plans.clear();
        }
        self.plans.insert(key, plan.clone());
        Ok(plan)
    }

    fn set_bias(&self, product: cublasLtMatmulDesc_t, epilogue: &MatmulEpilogue<'_>) -> Result<()> {
        let Some(bias) = epilogue.bias else { return Ok(()) };
        let (table, address) = (self.table, bias.first_element_address());
        let (bytes, size) = bytes_of(&address);
        call_lt!(table, cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bytes, size))
    }
}

/// cuBLASLt's part of the state of a handle, made when it is first needed.
fn lt_state<'a>(state: &'a mut HandleState, ctx: &Context) -> Result<&'a mut LtState> {
    let lt = match &mut state.lt {
        Some(lt) => lt,
        none => none.insert(Box::new(LtState::open(ctx)?)),
    };
    let missing = || LibraryError::refused(Library::Cublas, "matmul", "the handle has no state of cuBLASLt");
    Ok(lt.downcast_mut::<LtState>().ok_or_else(missing)?)
}

/// A product for cuBLASLt: of matrices, or of stacks.
fn place(
    a: &GpuArray,
    b: &GpuArray,
    out: Option<&GpuArray>,
    product: &Product,
    epilogue: &MatmulEpilogue<'_>,
) -> Result<PlacedProduct> {
    let placed = PlacedProduct::new(a, b, out, product, if a.ndim() == 3 { 3 } else { 2 })?;
    if let Some(bias) = epilogue.bias {
        check_dtype("bias", bias, placed.types.out_dtype)?;
        let (out, ndim) = (&placed.out, placed.out.ndim());
        check_shape("bias", bias, &out.shape()[ndim - 1..])?;
        if bias.strides()[0] != bias.itemsize() as isize && bias.size() > 1 {
            return Err(Error::value_error(format!(
                "bias has strides {:?}; expected adjacent elements",
                bias.strides()
            )));
        }
        if !placed.out_storage.is_transposed {
            return Err(Error::value_error("out is in column-major order; with a bias it is in row-major order"));
        }
    }
    Ok(placed)
}

/// Products by cuBLASLt.
impl Handle {
    /// `out = activation(alpha op(a) op(b) + beta out + bias)`, for matrices or stacks of them; dtypes are those of
    /// [`Handle::gemm`]. Does not wait.
    ///
    /// # Errors
    /// As [`Handle::gemm`]; when no algorithm was found, or not as many as `choice` asks for.
    pub fn matmul(
        &self,
        a: &GpuArray,
        b: &GpuArray,
        out: Option<&GpuArray>,
        product: &Product,
        epilogue: &MatmulEpilogue<'_>,
        choice: MatmulChoice,
    ) -> Result<GpuArray> {
        let placed = place(a, b, out, product, epilogue)?;
        if placed.out.size() == 0 {
            return Ok(placed.out);
        }
        let ctx = self.context().clone();
        let bias = epilogue.bias.unwrap_or(&placed.out);
        let operands = [("out", &placed.out), ("a", &placed.first.array), ("b", &placed.second.array), ("bias", bias)];
        self.run_with_state("matmul", "rtcg.numpy.matmul", &operands, |_, _, state| {
            let lt = lt_state(state, &ctx)?;
            let plan = lt.plan(&placed, epilogue, choice.workspace_bytes)?;
            let chosen = plan.algorithms.get(choice.algorithm).ok_or_else(|| {
                let n = plan.algorithms.len();
                Error::value_error(format!("algorithm is {}; cuBLASLt proposes {n} for this product", choice.algorithm))
            })?;
            lt.set_bias(plan.product.raw, epilogue)?;
            let memory = workspace(&placed.out, chosen.workspaceSize)?;
            let [desc_a, desc_b, desc_c] = [0, 1, 2].map(|i: usize| plan.layouts[i].raw);
            let (alpha, beta) = (placed.alpha.as_ptr(), placed.beta.as_ptr());
            let (a, b, c) = (placed.first.address(), placed.second.address(), placed.out.first_element_address());
            let (space, nbytes, stream) =
                (memory.first_element_address(), chosen.workspaceSize, current_stream_handle(&ctx)?);
            let (table, handle, algorithm) = (lt.table, lt.raw, &raw const chosen.algo);
            call_lt!(
                table,
                cublasLtMatmul(
                    handle,
                    plan.product.raw,
                    alpha,
                    a,
                    desc_a,
                    b,
                    desc_b,
                    beta,
                    c,
                    desc_c,
                    c,
                    desc_c,
                    algorithm,
                    space,
                    nbytes,
                    stream
                )
            )
        })?;
        Ok(placed.out)
    }

    /// The algorithms that cuBLASLt's heuristics propose for [`Handle::matmul`], the fastest first by its estimate.
    ///
    /// # Errors
    /// As [`Handle::matmul`].
    pub fn matmul_algorithms(
        &self,
        a: &GpuArray,
        b: &GpuArray,
        product: &Product,
        epilogue: &MatmulEpilogue<'_>,
        workspace_bytes: usize,
    ) -> Result<Vec<MatmulAlgorithm>> {
        let placed = place(a, b, None, product, epilogue)?;
        let ctx = self.context().clone();
        let operands = [("out", &placed.out), ("a", &placed.first.array), ("b", &placed.second.array)];
        self.run_with_state("matmul_algorithms", "rtcg.numpy.matmul", &operands, |_, _, state| {
            let plan = lt_state(state, &ctx)?.plan(&placed, epilogue, workspace_bytes)?;
            let algorithm = |found: &cublasLtMatmulHeuristicResult_t| MatmulAlgorithm {
                workspace_bytes: found.workspaceSize,
                waves: found.wavesCount,
            };
            Ok(plan.algorithms.iter().map(algorithm).collect())
        })
    }
}
