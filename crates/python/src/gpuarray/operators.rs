//! Operators: arithmetic, comparisons, in-place forms.

#![expect(unsafe_op_in_unsafe_fn, reason = "the methods that macros give PyO3 are unsafe functions with unsafe bodies")]

use super::PyGpuArray;
use super::operands::{PyOperand, parse_operand};
use crate::errors::array_error;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyRange, PyTuple};
use rtcg::array::{self, Arg, Op};

/// `slf op other`, or `other op slf` when `reflected`; `NotImplemented` for what arrays do not combine with.
fn binary_operator<'py>(
    slf: &Bound<'py, PyGpuArray>,
    op: Op,
    other: &Bound<'py, PyAny>,
    reflected: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let own = &slf.get().current_state().array;
    // As upstream, a result looks like the operand that has axes.
    let like = if own.ndim() == 0 { other.cast::<PyGpuArray>().unwrap_or(slf) } else { slf };
    let Some(other) = parse_operand(own.context(), other)? else { return Ok(py.NotImplemented().into_bound(py)) };
    let compute = || {
        let (x, y) =
            if reflected { (other.as_core_arg(), Arg::Array(own)) } else { (Arg::Array(own), other.as_core_arg()) };
        array::binary_with_power_shortcuts(own.context(), op, x, y, None)
    };
    // Enqueueing is too short to let the interpreter go for.
    PyGpuArray::compute_elementwise(like, compute)
}

/// `slf op= other`. Returns to Python the array itself.
fn in_place_operator(slf: &Bound<'_, PyGpuArray>, op: Op, other: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = slf.py();
    let own = &slf.get().current_state().array;
    let Some(other) = parse_operand(own.context(), other)? else {
        let symbol = in_place_symbol(op);
        return Err(operand_type_error(&format!("unsupported operand type(s) for {symbol}:"), other));
    };
    array::binary_with_power_shortcuts(own.context(), op, Arg::Array(own), other.as_core_arg(), Some(own))
        .map(drop)
        .map_err(|error| array_error(py, error))
}

fn in_place_symbol(op: Op) -> &'static str {
    match op {
        Op::Add => "+=",
        Op::Subtract => "-=",
        Op::Multiply => "*=",
        Op::TrueDivide => "/=",
        Op::FloorDivide => "//=",
        Op::Remainder => "%=",
        Op::Power => "**=",
        Op::BitAnd => "&=",
        Op::BitOr => "|=",
        Op::BitXor => "^=",
        Op::LeftShift => "<<=",
        Op::RightShift => ">>=",
        _ => op.name(),
    }
}

/// The error of an operator for an object that arrays do not combine with, in Python's words; says what lists may become.
#[cold]
fn operand_type_error(what: &str, other: &Bound<'_, PyAny>) -> PyErr {
    let kind = other.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    let hint = if is_sequence(other) { "; make it an array with rtcg.numpy.asarray" } else { "" };
    PyTypeError::new_err(format!("{what} 'GPUArray' and '{kind}'{hint}"))
}

/// Whether an object is a list, tuple or range, which NumPy would take for an array.
fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyRange>()
}

fn unary_operator<'py>(slf: &Bound<'py, PyGpuArray>, op: Op) -> PyResult<Bound<'py, PyAny>> {
    PyGpuArray::compute_elementwise(slf, || slf.get().current_state().array.unary(op))
}

/// Both halves of `divmod_operator`.
fn divmod_operator<'py>(
    slf: &Bound<'py, PyGpuArray>,
    other: &Bound<'py, PyAny>,
    reflected: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let quotient = binary_operator(slf, Op::FloorDivide, other, reflected)?;
    if quotient.is(slf.py().NotImplemented()) {
        return Ok(quotient);
    }
    let rest = binary_operator(slf, Op::Remainder, other, reflected)?;
    Ok(PyTuple::new(slf.py(), [quotient, rest])?.into_any())
}

type BoundAny<'py> = Bound<'py, PyAny>;
type SelfArray<'a, 'py> = &'a Bound<'py, PyGpuArray>;

macro_rules! operator_methods {
    ($($forward:ident $reflected:ident $in_place_operator:ident $op:ident;)*) => {
        #[pymethods]
        impl PyGpuArray {
            $(
                fn $forward<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<BoundAny<'py>> {
                    binary_operator(slf, Op::$op, other, false)
                }

                fn $reflected<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<BoundAny<'py>> {
                    binary_operator(slf, Op::$op, other, true)
                }

                fn $in_place_operator(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    in_place_operator(slf, Op::$op, other)
                }
            )*
        }
    };
}

operator_methods! {
    __add__ __radd__ __iadd__ Add;
    __sub__ __rsub__ __isub__ Subtract;
    __mul__ __rmul__ __imul__ Multiply;
    __truediv__ __rtruediv__ __itruediv__ TrueDivide;
    __floordiv__ __rfloordiv__ __ifloordiv__ FloorDivide;
    __mod__ __rmod__ __imod__ Remainder;
    __and__ __rand__ __iand__ BitAnd;
    __or__ __ror__ __ior__ BitOr;
    __xor__ __rxor__ __ixor__ BitXor;
    __lshift__ __rlshift__ __ilshift__ LeftShift;
    __rshift__ __rrshift__ __irshift__ RightShift;
}

#[pymethods]
impl PyGpuArray {
    fn __pow__<'py>(slf: SelfArray<'_, 'py>, other: &BoundAny<'py>, modulo: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        if !modulo.is_none() {
            return Err(PyTypeError::new_err("pow() of a GPUArray takes no third argument"));
        }
        binary_operator(slf, Op::Power, other, false)
    }

    fn __rpow__<'py>(
        slf: SelfArray<'_, 'py>,
        other: &BoundAny<'py>,
        modulo: &BoundAny<'py>,
    ) -> PyResult<BoundAny<'py>> {
        let _ = modulo;
        binary_operator(slf, Op::Power, other, true)
    }

    fn __ipow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = modulo;
        in_place_operator(slf, Op::Power, other)
    }

    fn __divmod__<'py>(slf: SelfArray<'_, 'py>, other: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        divmod_operator(slf, other, false)
    }

    fn __rdivmod__<'py>(slf: SelfArray<'_, 'py>, other: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        divmod_operator(slf, other, true)
    }

    fn __neg__<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        unary_operator(slf, Op::Negative)
    }

    fn __pos__<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        unary_operator(slf, Op::Positive)
    }

    fn __invert__<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        unary_operator(slf, Op::Invert)
    }

    fn __abs__<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        unary_operator(slf, Op::Absolute)
    }

    fn __richcmp__<'py>(slf: SelfArray<'_, 'py>, other: &BoundAny<'py>, op: CompareOp) -> PyResult<BoundAny<'py>> {
        let (op, symbol) = match op {
            CompareOp::Lt => (Op::Less, "<"),
            CompareOp::Le => (Op::LessEqual, "<="),
            CompareOp::Eq => (Op::Equal, "=="),
            CompareOp::Ne => (Op::NotEqual, "!="),
            CompareOp::Gt => (Op::Greater, ">"),
            CompareOp::Ge => (Op::GreaterEqual, ">="),
        };
        let result = binary_operator(slf, op, other, false)?;
        // Python would call an array and a list unequal without looking at their elements.
        if is_sequence(other) && result.is(slf.py().NotImplemented()) {
            let what = format!("'{symbol}' not supported between instances of");
            return Err(operand_type_error(&what, other));
        }
        Ok(result)
    }

    /// The only element's; waits.
    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        match slf.get().current_state().array.size() {
            1 => slf.get().item_object(slf.py())?.is_truthy(),
            0 => Err(PyValueError::new_err("The truth value of an empty array is ambiguous")),
            _ => Err(PyValueError::new_err(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
            )),
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        Err(PyTypeError::new_err("unhashable type: 'GPUArray'"))
    }
}

/// Apply `op`, a name of NumPy's, to arrays, scalars, host arrays and sequences; for functions and
/// `__array_ufunc__`.
#[pyfunction]
#[pyo3(signature = (name, args, out = None, dtype = None))]
pub(super) fn ufunc<'py>(
    py: Python<'py>,
    name: &str,
    args: Vec<Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyGpuArray>>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let op = Op::from_name(name).ok_or_else(|| {
        let why = "to compute it on the host pass a.get()";
        let is_of_numpy = py.import("numpy").and_then(|numpy| numpy.hasattr(name)).unwrap_or(true);
        let module = if is_of_numpy { "numpy." } else { "the ufunc " };
        PyTypeError::new_err(format!("rtcg.numpy has no implementation of {module}{name}; {why}"))
    })?;
    let like = args.iter().find_map(|arg| arg.cast::<PyGpuArray>().ok());
    let ctx = match like {
        Some(array) => array.get().current_state().array.context().clone(),
        None => super::context::array_context()?,
    };
    let dtype = super::operands::parse_optional_dtype(py, dtype)?;
    let operands =
        args.iter().map(|arg| super::operands::require_operand(&ctx, arg)).collect::<PyResult<Vec<PyOperand<'_>>>>()?;
    let core: Vec<Arg<'_>> = operands.iter().map(PyOperand::as_core_arg).collect();
    let target = out.map(|out| out.get().current_state());
    let options = array::OpOptions { out: target.as_deref().map(|target| &target.array), dtype };
    let compute = || match core.as_slice() {
        [x, y] if dtype.is_none() => array::binary_with_power_shortcuts(&ctx, op, *x, *y, options.out),
        _ => array::apply_elementwise(&ctx, op, &core, options),
    };
    let result = like.map_or_else(compute, |like| PyGpuArray::with_allocator_of(like, compute));
    let result = result.map_err(|error| array_error(py, error))?;
    match (out, like) {
        (Some(out), _) => Ok(out.clone().into_any()),
        (None, Some(like)) => PyGpuArray::elementwise_result(like, result),
        (None, None) => Ok(Bound::new(py, PyGpuArray::from_array(result))?.into_any()),
    }
}
