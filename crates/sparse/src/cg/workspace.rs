//! The vectors of conjugate gradients, and what the blocks of kernels leave for those of the next.

use super::{CgOptions, Preconditioner};
use crate::csr::check_vector;
use crate::kernels::THREADS;
use crate::kernels::cg::{PreconditionerKind, STATE_LEN};
use crate::kernels::elements::sum_dtype;
use crate::kernels::spmv::{CsrSpmvSpec, SpmvEpilogue};
use crate::operator::LinearOperator;
use crate::{ArrayContext, ArrayError, GpuArray, Result};
use rtcg_array::{DType, Order};
use std::sync::Arc;

/// The most residuals that are kept: a kernel writes them without a look at the length.
const MAX_HISTORY: usize = 1 << 20;

/// Arrays on the device.
pub(super) struct Workspace {
    pub(super) ctx: Arc<ArrayContext>,
    /// The dtype of vectors.
    pub(super) vector: DType,
    pub(super) b: GpuArray,
    pub(super) x: GpuArray,
    pub(super) r: GpuArray,
    pub(super) d: GpuArray,
    pub(super) q: GpuArray,
    /// The diagonal of a preconditioner.
    pub(super) m: Option<GpuArray>,
    /// The preconditioned residual, where no kernel of ours computes it.
    pub(super) z: Option<GpuArray>,
    pub(super) state: GpuArray,
    pub(super) history: Option<GpuArray>,
    /// Parts of `r . z`, `r . r` and `d . q` by blocks.
    pub(super) deltas: GpuArray,
    pub(super) norms: GpuArray,
    pub(super) products: GpuArray,
    pub(super) preconditioner: PreconditionerKind,
    /// Blocks of kernels over vectors.
    pub(super) blocks: u32,
    /// Blocks of the product, and its kernel where the operator is a matrix.
    pub(super) product_blocks: u32,
    pub(super) product: Option<CsrSpmvSpec>,
}

impl Workspace {
    /// Checks the operands of a solver, and allocates.
    pub(super) fn new(
        a: &dyn LinearOperator,
        b: &GpuArray,
        x0: Option<&GpuArray>,
        preconditioner: &Preconditioner<'_>,
        options: &CgOptions,
    ) -> Result<Self> {
        let n = check_system(a, b, options)?;
        let (ctx, vector) = (b.context().clone(), b.dtype());
        let new = |length: usize, dtype| GpuArray::empty(&ctx, &[length], dtype, Order::C);
        let (preconditioner, m) = checked_preconditioner(preconditioner, n, vector)?;
        let is_external = preconditioner == PreconditionerKind::External;
        let max_blocks = ctx.device_info().resident_blocks().max(1);
        let blocks = n.div_ceil(THREADS as usize).clamp(1, max_blocks) as u32;
        let csr = a.as_csr().filter(|csr| n > 0 && csr.has_row_kernel());
        let product = csr.map(|csr| csr.row_spec(vector, SpmvEpilogue::StoreAndDot));
        let product_blocks = match (csr, &product) {
            (Some(csr), Some(spec)) => csr.row_blocks(spec.lanes).min(max_blocks as u32),
            _ => blocks,
        };
        let is_kept = options.history && options.max_iterations <= MAX_HISTORY;
        Ok(Self {
            vector,
            b: b.to_contiguous()?,
            x: initial_solution(b, x0)?,
            r: new(n, vector)?,
            d: new(n, vector)?,
            q: new(n, vector)?,
            m,
            z: is_external.then(|| new(n, vector)).transpose()?,
            state: GpuArray::zeros(&ctx, &[STATE_LEN], DType::F64, Order::C)?,
            history: is_kept.then(|| new(options.max_iterations + 1, DType::F64)).transpose()?,
            deltas: new(blocks as usize, sum_dtype(vector))?,
            norms: new(2 * blocks as usize, DType::F64)?,
            products: new(product_blocks as usize, sum_dtype(vector))?,
            preconditioner,
            blocks,
            product_blocks,
            product,
            ctx,
        })
    }
}

/// The number of rows of a system that can be solved.
fn check_system(a: &dyn LinearOperator, b: &GpuArray, options: &CgOptions) -> Result<usize> {
    let [rows, columns] = a.shape();
    if rows != columns {
        return Err(ArrayError::value_error(format!("expected square matrix, but got shape=({rows}, {columns})")));
    }
    check_vector("b", b, rows)?;
    let dtype = b.dtype();
    if !matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
        let message = format!("b is of dtype {dtype}; expected float32, float64, complex64 or complex128");
        return Err(ArrayError::type_error(message));
    }
    if options.check_every == 0 {
        return Err(ArrayError::value_error("check_every is 0; expected at least 1"));
    }
    Ok(rows)
}

/// A copy of `x0`, or zeros.
fn initial_solution(b: &GpuArray, x0: Option<&GpuArray>) -> Result<GpuArray> {
    let Some(x0) = x0 else { return GpuArray::zeros(b.context(), b.shape(), b.dtype(), Order::C) };
    check_vector("x0", x0, b.size())?;
    let x = GpuArray::empty(b.context(), b.shape(), b.dtype(), Order::C)?;
    x.assign(x0)?;
    Ok(x)
}

/// The kind of a preconditioner, and its diagonal in the dtype of vectors.
fn checked_preconditioner(
    preconditioner: &Preconditioner<'_>,
    n: usize,
    vector: DType,
) -> Result<(PreconditionerKind, Option<GpuArray>)> {
    match preconditioner {
        Preconditioner::Identity => Ok((PreconditionerKind::Identity, None)),
        Preconditioner::Diagonal(m) => {
            check_vector("M", m, n)?;
            Ok((PreconditionerKind::Diagonal, Some(m.to_dtype(vector)?.to_contiguous()?)))
        }
        Preconditioner::Operator(m) if m.shape() != [n, n] => {
            let message = format!("matrix and preconditioner have different shapes: M is {:?}", m.shape());
            Err(ArrayError::value_error(message))
        }
        Preconditioner::Operator(_) => Ok((PreconditionerKind::External, None)),
    }
}
