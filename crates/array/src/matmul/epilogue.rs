//! Matrix products with an epilogue: an expression that is applied to each sum before it is stored.

use super::MatmulTarget;
use crate::array::{GpuArray, array_args, push_arrays};
use crate::layout::{Order, PythonTuple};
use rtcg_codegen::array::{
    EPILOGUE_NAMES, EPILOGUE_THREADS, EpilogueKernel, EpilogueOperand, FusedMatmul, MatmulEpilogue, MatmulKernel,
};
use rtcg_hal::{ArrayContext, ArrayError, DType, Kernel, LaunchArgs, Result};
use std::sync::Arc;

/// The epilogue of [`GpuArray::matmul_epilogue`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Epilogue<'a> {
    /// A CUDA C expression of the sum `acc` (float for 16-bit floats), its row `i` and column `j`, the index `batch` of
    /// the matrix in a stack, the lengths `m`, `n`, `k`, and operands by name.
    pub expression: &'a str,
    /// Arrays by name. The expression indexes them flat in C order (`bias[j]`, `other[i * n + j]`); those without axes
    /// are values.
    pub operands: &'a [(&'a str, &'a GpuArray)],
    /// The dtype of the result; by default that of the product.
    pub dtype: Option<DType>,
}

/// An epilogue with its operands on the device, for products of one shape.
pub(super) struct BoundEpilogue {
    source: MatmulEpilogue,
    /// The address and the pitch of the result, if it takes the place of what is read.
    target: Option<(u64, usize)>,
    arrays: Vec<GpuArray>,
    lengths: [usize; 3],
}

impl BoundEpilogue {
    pub(super) fn new(epilogue: &Epilogue<'_>, dtype: DType, lengths: [usize; 3], like: &GpuArray) -> Result<Self> {
        if epilogue.expression.trim().is_empty() {
            return Err(ArrayError::value_error("epilogue is empty; expected an expression of the sum `acc`"));
        }
        let result = epilogue.dtype.unwrap_or(dtype);
        if matches!(result, DType::Void(_)) {
            return Err(ArrayError::type_error(format!("dtype is {result}; expected one of numbers")));
        }
        let may_be_empty = lengths[0] * lengths[1] == 0;
        let (operands, arrays) = bind_operands(epilogue.operands, &EPILOGUE_NAMES, like, may_be_empty)?;
        let expression = epilogue.expression.to_owned();
        let source = MatmulEpilogue { dtype, result, expression, operands, is_transposed: false, is_in_place: false };
        Ok(Self { source, target: None, arrays, lengths })
    }

    /// That a product is subtracted from a matrix, in its place.
    pub(super) fn subtraction(matrix: &GpuArray, lengths: [usize; 3]) -> Self {
        let dtype = matrix.dtype();
        let (expression, operands) = ("old - acc".to_owned(), Vec::new());
        let source =
            MatmulEpilogue { dtype, result: dtype, expression, operands, is_transposed: false, is_in_place: true };
        let pitch = matrix.strides()[0] as usize / matrix.itemsize();
        Self { source, target: Some((matrix.first_element_address(), pitch)), arrays: Vec::new(), lengths }
    }

    /// Whether the result takes the place of what the expression reads.
    pub(super) fn is_in_place(&self) -> bool {
        self.source.is_in_place
    }

    /// The dtype of the result.
    pub(super) fn result(&self) -> DType {
        self.source.result
    }

    fn source(&self, is_transposed: bool) -> Arc<MatmulEpilogue> {
        Arc::new(MatmulEpilogue { is_transposed, ..self.source.clone() })
    }

    fn push_args(&self, args: &mut LaunchArgs, first_batch: usize) -> Result<()> {
        let [m, n, k] = self.lengths;
        [m, n, k, first_batch].iter().for_each(|&n| args.push_i64(n as i64));
        if let Some((address, pitch)) = self.target {
            args.push_address(address, 0);
            args.push_i64(pitch as i64);
        }
        self.arrays.iter().try_for_each(|array| push_arrays(args, &[array]))
    }

    /// Memory for sums of the shape of `out`, to which [`BoundEpilogue::apply`] is applied.
    pub(super) fn sums_like(&self, out: &GpuArray) -> Result<GpuArray> {
        GpuArray::empty(out.context(), out.shape(), self.source.sums_dtype(), Order::C)
    }

    /// Stores what the expression makes of sums in memory, of the product or of the transposed one.
    pub(super) fn apply(&self, out: &GpuArray, sums: &GpuArray, is_transposed: bool) -> Result<()> {
        let ctx = out.context();
        let mut args = array_args(&[out, sums])?;
        args.push_u64(out.size() as u64);
        self.push_args(&mut args, 0)?;
        let blocks = out.size().div_ceil(EPILOGUE_THREADS as usize).min(ctx.device_info().max_blocks as usize) as u32;
        ctx.launch(&EpilogueKernel(self.source(is_transposed)), blocks, EPILOGUE_THREADS, &args)
    }
}

/// The operands of an expression, by name, and their elements in C order.
pub(crate) fn bind_operands(
    named: &[(&str, &GpuArray)],
    reserved: &[&str],
    like: &GpuArray,
    may_be_empty: bool,
) -> Result<(Vec<EpilogueOperand>, Vec<GpuArray>)> {
    let (mut operands, mut arrays) = (Vec::new(), Vec::new());
    for (name, array) in named {
        check_operand_name(name, reserved, &operands)?;
        if matches!(array.dtype(), DType::Void(_)) {
            return Err(ArrayError::type_error(format!("operand {name} has records; expected numbers")));
        }
        like.check_context(array)?;
        if array.size() == 0 && !may_be_empty {
            let shape = PythonTuple(array.shape());
            return Err(ArrayError::value_error(format!("operand {name} has shape {shape}; expected elements")));
        }
        let (name, dtype) = ((*name).to_owned(), array.dtype());
        operands.push(EpilogueOperand { name, dtype, is_scalar: array.ndim() == 0 });
        arrays.push(array.to_contiguous()?);
    }
    Ok((operands, arrays))
}

/// Checks that an operand's name is one of a variable, and neither `reserved` nor one of `others`.
fn check_operand_name(name: &str, reserved: &[&str], others: &[EpilogueOperand]) -> Result<()> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_identifier = name.chars().all(is_word) && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    if !is_identifier || reserved.contains(&name) || name.starts_with("rt_") {
        return Err(ArrayError::value_error(format!(
            "operand '{name}' has no name for a variable; expected an identifier of C other than {}, and not rt_...",
            reserved.join(", ")
        )));
    }
    if others.iter().any(|other| other.name == name) {
        return Err(ArrayError::value_error(format!("operand '{name}' is given twice")));
    }
    Ok(())
}

impl MatmulTarget<'_> {
    /// The kernel with the epilogue, if there is one, whose arguments are appended, for batches from `first_batch` on.
    pub(super) fn compiled_kernel<K: MatmulKernel>(
        &self,
        ctx: &ArrayContext,
        kernel: K,
        args: &mut LaunchArgs,
        first_batch: usize,
    ) -> Result<Arc<dyn Kernel>> {
        let Some(epilogue) = self.epilogue else { return ctx.compiled_kernel(&kernel) };
        epilogue.push_args(args, first_batch)?;
        ctx.compiled_kernel(&FusedMatmul { kernel, epilogue: epilogue.source(self.is_transposed) })
    }
}
