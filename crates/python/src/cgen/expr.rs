//! `Expr` and `Var`: Python's operators on expressions of C.

#![expect(unsafe_op_in_unsafe_fn, reason = "the methods that macros give PyO3 are unsafe functions with unsafe bodies")]

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};
use rtcg::cgen::dtype::Dtype;
use rtcg::cgen::expr::{Binary, Expr, Number, Unary};

use super::dtype_of;
use crate::driver::launch::arguments::numpy_generic;

/// Printing and dropping go down by recursion, on the stack of whatever thread it is.
const DEEPEST: usize = 2000;

/// An expression of C, printed with as few parentheses as C needs.
#[pyclass(name = "Expr", module = "rtcg.cgen", subclass, frozen)]
pub(crate) struct PyExpr(pub(crate) Expr);

/// A variable; for a pointer or an array, `dtype` is the type of the elements.
#[pyclass(name = "Var", module = "rtcg.cgen", extends = PyExpr, frozen)]
pub(crate) struct PyVar;

#[pymethods]
impl PyVar {
    #[new]
    #[pyo3(signature = (name, dtype=None))]
    fn new(name: &str, dtype: Option<Bound<'_, PyAny>>) -> PyResult<PyClassInitializer<Self>> {
        if !name.split("::").all(rtcg::cgen::names::is_identifier) {
            return Err(PyValueError::new_err(format!(
                "name is {name:?}, expected an identifier; other text is Expr({name:?})"
            )));
        }
        let base = PyExpr(Expr::var(name, optional_dtype(dtype)?));
        Ok(PyClassInitializer::from(base).add_subclass(Self))
    }
}

fn optional_dtype(dtype: Option<Bound<'_, PyAny>>) -> PyResult<Option<Dtype>> {
    dtype.map(|dtype| dtype_of(&dtype)).transpose()
}

/// A Python or NumPy number; NumPy's have a type of their own.
fn number_of(object: &Bound<'_, PyAny>) -> PyResult<Option<(Number, Option<Dtype>)>> {
    let number = |object: &Bound<'_, PyAny>| -> PyResult<Option<Number>> {
        if object.is_instance_of::<PyBool>() {
            return Ok(Some(Number::Bool(object.extract()?)));
        }
        if object.is_instance_of::<PyInt>() {
            let wide = |_| PyOverflowError::new_err(format!("{object} does not fit into 64 bits"));
            return Ok(Some(Number::Int(
                object
                    .extract::<i64>()
                    .map(i128::from)
                    .or_else(|_| object.extract::<u64>().map(i128::from).map_err(wide))?,
            )));
        }
        Ok(object.cast::<PyFloat>().ok().map(|value| Number::Float(value.value())))
    };
    if numpy_generic(object.py())?.is_some_and(|class| object.is_instance(class).unwrap_or(false)) {
        let item = object.call_method0("item")?;
        let dtype = dtype_of(&object.getattr("dtype")?)?;
        return Ok(number(&item)?.map(|number| (number, Some(dtype))));
    }
    Ok(number(object)?.map(|number| (number, None)))
}

/// An expression of an operand: expressions as they are, numbers as literals of `beside`'s type, text raw.
pub(crate) fn operand(object: &Bound<'_, PyAny>, beside: Option<Dtype>) -> PyResult<Option<Expr>> {
    if let Ok(expr) = object.cast::<PyExpr>() {
        return Ok(Some(expr.get().0.clone()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(Expr::raw(text.to_str()?)));
    }
    let Some((number, own)) = number_of(object)? else { return Ok(None) };
    let literal = match own {
        Some(dtype) => Expr::literal(number, dtype).map_err(PyValueError::new_err)?,
        None => Expr::number_beside(number, beside),
    };
    Ok(Some(literal))
}

pub(crate) fn required(object: &Bound<'_, PyAny>, beside: Option<Dtype>) -> PyResult<Expr> {
    operand(object, beside)?.ok_or_else(|| {
        let class = object.get_type();
        PyTypeError::new_err(format!("expected an Expr, a number or text, got {object} of {class}"))
    })
}

fn made(expr: Expr) -> PyResult<PyExpr> {
    if expr.depth() > DEEPEST {
        return Err(PyRecursionError::new_err(format!(
            "an expression of more than {DEEPEST} operators within one another; assign a part of it to a variable"
        )));
    }
    Ok(PyExpr(expr))
}

impl PyExpr {
    fn binary(&self, operator: Binary, right: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = right.py();
        match operand(right, self.0.dtype())? {
            Some(right) => Ok(made(Expr::binary(operator, &self.0, right))?.into_pyobject(py)?.into_any().unbind()),
            None => Ok(py.NotImplemented()),
        }
    }

    fn reflected(&self, operator: Binary, left: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = left.py();
        match operand(left, self.0.dtype())? {
            Some(left) => Ok(made(Expr::binary(operator, left, &self.0))?.into_pyobject(py)?.into_any().unbind()),
            None => Ok(py.NotImplemented()),
        }
    }

    fn method(&self, operator: Binary, right: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(Expr::binary(operator, &self.0, required(right, self.0.dtype())?))
    }

    fn unary(&self, operator: Unary) -> PyResult<Self> {
        made(Expr::unary(operator, &self.0))
    }
}

macro_rules! binary_operators {
    ($($name:ident $reflected:ident $operator:ident),*) => {$(
        #[pymethods]
        impl PyExpr {
            fn $name(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.binary(Binary::$operator, other)
            }

            fn $reflected(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                self.reflected(Binary::$operator, other)
            }
        }
    )*};
}
binary_operators!(
    __add__ __radd__ Add, __sub__ __rsub__ Subtract, __mul__ __rmul__ Multiply, __truediv__ __rtruediv__ Divide,
    __mod__ __rmod__ Remainder, __lshift__ __rlshift__ ShiftLeft, __rshift__ __rrshift__ ShiftRight,
    __and__ __rand__ BitAnd, __or__ __ror__ BitOr, __xor__ __rxor__ BitXor
);

macro_rules! binary_methods {
    ($($name:ident $operator:ident $c:literal),*) => {$(
        #[pymethods]
        impl PyExpr {
            #[doc = concat!($c, " in C, an expression.")]
            #[pyo3(signature = (other, /))]
            fn $name(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
                self.method(Binary::$operator, other)
            }
        }
    )*};
}
binary_methods!(
    and_ And "``self && other``",
    or_ Or "``self || other``",
    assign Assign "``self = other``",
    add_assign AddAssign "``self += other``",
    sub_assign SubtractAssign "``self -= other``",
    mul_assign MultiplyAssign "``self *= other``",
    div_assign DivideAssign "``self /= other``"
);

macro_rules! unary_methods {
    ($($name:ident $operator:ident $c:literal),*) => {$(
        #[pymethods]
        impl PyExpr {
            #[doc = concat!($c, " in C, an expression.")]
            fn $name(&self) -> PyResult<Self> {
                self.unary(Unary::$operator)
            }
        }
    )*};
}
unary_methods!(
    __neg__ Negate "``-self``",
    __invert__ Complement "``~self``",
    not_ Not "``!self``",
    dereference Dereference "``*self``",
    address AddressOf "``&self``",
    increment PreIncrement "``++self``",
    decrement PreDecrement "``--self``",
    post_increment PostIncrement "``self++``",
    post_decrement PostDecrement "``self--``"
);

#[pymethods]
impl PyExpr {
    #[new]
    #[pyo3(signature = (value, dtype=None))]
    fn new(value: &Bound<'_, PyAny>, dtype: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let dtype = optional_dtype(dtype)?;
        if let (Some(t), Some((number, _))) = (dtype, number_of(value)?) {
            return Ok(Self(Expr::literal(number, t).map_err(PyValueError::new_err)?));
        }
        let expr = required(value, dtype)?;
        let dtype = dtype.or(expr.dtype());
        Ok(Self(expr.with_dtype(dtype)))
    }

    /// NumPy's type of the value, or None.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(dtype) = self.0.dtype() else { return Ok(None) };
        let name = format!("{dtype:?}").to_lowercase();
        py.import("numpy")?.getattr("dtype")?.call1((name,)).map(Some)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Expr {}>", self.0)
    }

    /// Identity: `==` builds an expression, so that equality cannot be asked of hashes.
    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        slf.as_ptr().addr()
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Err(PyTypeError::new_err(format!(
            "the value of '{}' is not known before the program runs; use and_, or_, not_, where or rtcg.cgen.If",
            slf.get().0
        )))
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Py<PyAny>> {
        let operator = match operator {
            CompareOp::Lt => Binary::Less,
            CompareOp::Le => Binary::LessEqual,
            CompareOp::Eq => Binary::Equal,
            CompareOp::Ne => Binary::NotEqual,
            CompareOp::Gt => Binary::Greater,
            CompareOp::Ge => Binary::GreaterEqual,
        };
        self.binary(operator, other)
    }

    fn __pos__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        let indices = index.cast::<PyTuple>().map_or_else(|_| vec![index.clone()], |t| t.iter().collect());
        let expr = indices.iter().try_fold(self.0.clone(), |e, i| Ok::<_, PyErr>(e.index(required(i, None)?)))?;
        made(expr)
    }

    /// A sequence protocol made of `__getitem__` alone would never end.
    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!("'{}' has no length and cannot be iterated over", slf.get().0)))
    }

    #[pyo3(signature = (*arguments))]
    fn __call__(&self, arguments: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let arguments: PyResult<Vec<_>> = arguments.iter().map(|a| required(&a, None)).collect();
        made(self.0.clone().call(arguments?))
    }

    /// ``self.name`` in C.
    #[pyo3(signature = (name, /))]
    fn member(&self, name: &str) -> PyResult<Self> {
        made(self.0.clone().member(name))
    }

    /// ``self->name`` in C.
    #[pyo3(signature = (name, /))]
    fn arrow(&self, name: &str) -> PyResult<Self> {
        made(self.0.clone().arrow(name))
    }

    /// Cast the value to another type, given by its name in C or as a NumPy dtype.
    #[pyo3(signature = (to, /))]
    fn cast(&self, to: &Bound<'_, PyAny>) -> PyResult<Self> {
        match to.cast::<PyString>() {
            Ok(name) => made(self.0.clone().cast(name.to_str()?)),
            Err(_) => made(self.0.clone().cast_to(dtype_of(to)?)),
        }
    }

    /// `self ? yes : no`; two numbers become literals of this expression's type.
    #[pyo3(name = "where", signature = (yes, no, /))]
    fn conditional(&self, yes: &Bound<'_, PyAny>, no: &Bound<'_, PyAny>) -> PyResult<Self> {
        let typed = |object: &Bound<'_, PyAny>| object.cast::<PyExpr>().ok().and_then(|e| e.get().0.dtype());
        let beside = typed(yes).or(typed(no));
        made(self.0.clone().conditional(required(yes, beside)?, required(no, beside)?))
    }

    /// This expression with every occurrence of a variable replaced.
    #[pyo3(signature = (name, value, /))]
    fn substitute(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(self.0.substitute(name, &required(value, None)?))
    }
}
