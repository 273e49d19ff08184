//! Elementwise operations: result types, broadcasting, and NumPy's special cases.

mod launch;
mod methods;

use crate::array::{Arg, GpuArray, OPERANDS_IN_DIFFERENT_CONTEXTS, OperandSource};
use crate::call_cache::{ArrayCall, CachedCall, insert_call, is_cacheable, lookup_and_launch};
use crate::fuse;
use crate::layout::{Layout, Order, PythonTuple, Shape, broadcast_shapes};
use crate::out_argument::check_ufunc_out;
use crate::scalar::Scalar;
use launch::compute_and_prepare_launch;
pub(crate) use launch::compute_into;
use rtcg_codegen::array::{Op, OperandRole};
use rtcg_hal::{ArrayContext, ArrayError, DType, DTypeKind, OperandType, Result, WeakScalar, promote_operands};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::Arc;

/// Options of a call besides its operands.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpOptions<'a> {
    /// The array for the result.
    pub out: Option<&'a GpuArray>,
    /// The dtype of the result, instead of NumPy's.
    pub dtype: Option<DType>,
}

/// NumPy's result type for arrays and scalars; Python scalars adapt to the other operands.
pub fn result_type(args: &[Arg<'_>]) -> DType {
    promote_operands(args.iter().map(Arg::operand_type))
}

/// Computes `op` elementwise.
///
/// # Errors
/// When the shapes do not fit, the dtypes do not allow `op`, a Python integer does not fit, or the
/// result cannot be stored in `out`.
#[inline]
pub fn apply_elementwise(
    ctx: &Arc<ArrayContext>,
    op: Op,
    args: &[Arg<'_>],
    options: OpOptions<'_>,
) -> Result<GpuArray> {
    let what = ArrayCall::Pointwise(op, options.dtype);
    let is_cacheable = !fuse::is_active() && is_cacheable(op, args);
    if is_cacheable && let Some(result) = lookup_and_launch(ctx, &what, args, options.out)? {
        return Ok(result);
    }
    apply_uncached(ctx, op, args, options, is_cacheable.then_some(what))
}

/// [`apply_elementwise`] without a plan of an earlier call; remembered as `what` for later ones.
#[inline(never)]
fn apply_uncached(
    ctx: &Arc<ArrayContext>,
    op: Op,
    args: &[Arg<'_>],
    options: OpOptions<'_>,
    what: Option<ArrayCall>,
) -> Result<GpuArray> {
    if args.len() != op.arity() {
        return Err(ArrayError::type_error(format!("{} takes {} operands, got {}", op.name(), op.arity(), args.len())));
    }
    let operand_types: SmallVec<[OperandType; 4]> = args.iter().map(Arg::operand_type).collect();
    let (common, types) = op.resolve_operand_types(&operand_types, options.dtype)?;
    if op == Op::Power {
        check_exponent(common, args)?;
    }
    if let Some(constant) = out_of_range_comparison_result(op, common, args) {
        return fill_comparison_result(ctx, args, constant, options.out);
    }
    let shape = broadcast_shapes(args.iter().map(Arg::shape)).ok_or_else(|| broadcast_error(args))?;
    if let Some(out) = options.out {
        check_ufunc_out(op.name(), out, &shape, types.out, |given, expected| {
            format!("non-broadcastable output operand with shape {given} doesn't match the broadcast shape {expected}")
        })?;
    }
    let mut operands: SmallVec<[OperandSource<'_>; 4]> = SmallVec::new();
    for (at, arg) in args.iter().enumerate() {
        operands.push(match arg {
            Arg::Array(array) => OperandSource::Array(array),
            Arg::Scalar(scalar) => {
                let dtype = if op.operand_role(at) == OperandRole::Compute {
                    scalar_compute_dtype(types.compute, common)
                } else {
                    scalar.dtype()
                };
                OperandSource::Value(scalar.to_element(dtype)?, dtype)
            }
        });
    }
    let layout = || result_layout(args, shape, types.out.itemsize());
    if fuse::is_active() {
        for array in operands.iter().filter_map(OperandSource::as_array) {
            if !Arc::ptr_eq(array.context(), ctx) {
                return Err(ArrayError::value_error(OPERANDS_IN_DIFFERENT_CONTEXTS));
            }
        }
        if let Some(deferred) = fuse::defer_operation(ctx, op, types, &operands, options.out, layout.clone())? {
            return Ok(deferred);
        }
    }
    let out = match options.out {
        Some(out) => out.clone(),
        None => GpuArray::empty_with_layout(ctx, layout(), types.out)?,
    };
    let epoch = ctx.choices_epoch();
    let prepared = compute_and_prepare_launch(op, types.compute, &out, &operands)?;
    if let (Some(what), Some(prepared)) = (what, prepared) {
        insert_call(ctx, args, CachedCall::new(what, epoch, args, options.out, &out, prepared));
    }
    Ok(out)
}

/// The type a scalar is rounded to before the operation.
fn scalar_compute_dtype(compute: DType, common: DType) -> DType {
    // Functions of integers are computed in floats; the scalar's own value goes there directly.
    if common.kind() == compute.kind() { common } else { compute }
}

fn broadcast_error(args: &[Arg<'_>]) -> ArrayError {
    let shapes: Vec<_> = args.iter().map(|arg| PythonTuple(arg.shape()).to_string()).collect();
    ArrayError::value_error(format!("operands could not be broadcast together with shapes {}", shapes.join(" ")))
}

fn check_exponent(common: DType, args: &[Arg<'_>]) -> Result<()> {
    match args[1] {
        Arg::Scalar(scalar) if common.kind() == DTypeKind::Signed && args[0].has_elements() => match scalar.value() {
            WeakScalar::Int(exponent) if exponent < 0 => {
                Err(ArrayError::value_error("Integers to negative integer powers are not allowed."))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The result of comparing integers with a Python integer that lies outside their type.
fn out_of_range_comparison_result(op: Op, common: DType, args: &[Arg<'_>]) -> Option<bool> {
    if !op.is_comparison() {
        return None;
    }
    let side = |arg: &Arg<'_>| match arg {
        Arg::Scalar(scalar) => scalar.compare_to_integer_range(common),
        Arg::Array(_) => Ordering::Equal,
    };
    let order = match (side(&args[0]), side(&args[1])) {
        (Ordering::Equal, Ordering::Equal) => return None,
        (Ordering::Equal, right) => right.reverse(),
        (left, _) => left,
    };
    Some(match op {
        Op::Equal => false,
        Op::NotEqual => true,
        Op::Less | Op::LessEqual => order == Ordering::Less,
        _ => order == Ordering::Greater,
    })
}

fn fill_comparison_result(
    ctx: &Arc<ArrayContext>,
    args: &[Arg<'_>],
    value: bool,
    out: Option<&GpuArray>,
) -> Result<GpuArray> {
    let shape = broadcast_shapes(args.iter().map(Arg::shape)).ok_or_else(|| broadcast_error(args))?;
    let out = match out {
        Some(out) => out.clone(),
        None => GpuArray::empty(ctx, &shape, DType::Bool, Order::C)?,
    };
    out.fill(Scalar::Weak(WeakScalar::Bool(value)))?;
    Ok(out)
}

/// The memory order of the inputs if they agree, else C.
fn result_layout(args: &[Arg<'_>], shape: Shape, itemsize: usize) -> Layout {
    let mut full = args.iter().filter_map(|arg| match arg {
        Arg::Array(array) if array.shape() == shape.as_slice() => Some(array.layout()),
        _ => None,
    });
    match full.next() {
        Some(first) if shape.len() > 1 && !first.has_descending_strides() => Layout::dense_like(first, itemsize),
        _ => Layout::contiguous(&shape, itemsize, Order::C),
    }
}

impl Layout {
    /// Whether strides fall from the first axis to the last.
    fn has_descending_strides(&self) -> bool {
        self.strides.windows(2).all(|pair| pair[0].unsigned_abs() >= pair[1].unsigned_abs())
    }
}

/// Computes a binary operation, with NumPy's shortcuts for powers with common exponents.
///
/// # Errors
/// As [`apply_elementwise`].
pub fn binary_with_power_shortcuts(
    ctx: &Arc<ArrayContext>,
    op: Op,
    x: Arg<'_>,
    y: Arg<'_>,
    out: Option<&GpuArray>,
) -> Result<GpuArray> {
    let options = OpOptions { out, dtype: None };
    if let (Op::Power, Arg::Array(base), Arg::Scalar(Scalar::Weak(WeakScalar::Int(2)))) = (op, x, y)
        && base.dtype() == DType::Bool
        && base.ndim() > 0
    {
        // The one place where NumPy's short cut shows: int8 rather than int64.
        return apply_elementwise(ctx, Op::Square, &[x], options);
    }
    if let (Op::Power, Arg::Array(base), Arg::Scalar(exponent)) = (op, x, y)
        && base.dtype().kind() > DTypeKind::Signed
        && result_type(&[x, y]) == base.dtype()
        && let Some(short) = power_shortcut(exponent)
    {
        return apply_elementwise(ctx, short, &[x], options);
    }
    apply_elementwise(ctx, op, &[x, y], options)
}

fn power_shortcut(exponent: Scalar) -> Option<Op> {
    let value = match exponent.value() {
        WeakScalar::Int(value) => value as f64,
        WeakScalar::Float(value) => value,
        _ => return None,
    };
    [(2.0, Op::Square), (1.0, Op::Positive), (0.5, Op::Sqrt), (-1.0, Op::Reciprocal)]
        .into_iter()
        .find(|(short, _)| *short == value)
        .map(|(_, op)| op)
}
