//! Integers as arguments: an error says what was given and what was expected.
//!
//! The name of the argument stands in the note that PyO3 adds to what extraction raises.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

/// The integers of Rust that arguments are.
pub(crate) trait PyInteger<'py>: for<'a> FromPyObject<'a, 'py, Error = PyErr> {
    const VALUE_RANGE: (i128, i128);
}

macro_rules! impl_py_integer {
    ($($ty:ty)*) => {
        $(impl PyInteger<'_> for $ty {
            const VALUE_RANGE: (i128, i128) = (<$ty>::MIN as i128, <$ty>::MAX as i128);
        })*
    };
}

impl_py_integer! { u8 u16 u32 u64 usize isize i32 i64 }

/// An integer of any class that has `__index__`, as `from_py_with` wants it.
#[inline]
pub(crate) fn int<'py, T: PyInteger<'py>>(object: &Bound<'py, PyAny>) -> PyResult<T> {
    object.extract().map_err(|error| out_of_range_error(object, "", error, T::VALUE_RANGE))
}

/// [`int`], or None.
pub(crate) fn optional_int<'py, T: PyInteger<'py>>(object: &Bound<'py, PyAny>) -> PyResult<Option<T>> {
    if object.is_none() { Ok(None) } else { int(object).map(Some) }
}

/// [`int`] of what is no argument, such as the value that an attribute is given.
pub(crate) fn extract_named_int<'py, T: PyInteger<'py>>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
    object.extract().map_err(|error| out_of_range_error(object, &format!("{name} = "), error, T::VALUE_RANGE))
}

#[cold]
fn out_of_range_error(object: &Bound<'_, PyAny>, name: &str, error: PyErr, (least, greatest): (i128, i128)) -> PyErr {
    let py = object.py();
    let shown = crate::errors::shown(object);
    let expected = format!("expected an integer from {least} to {greatest}");
    if error.is_instance_of::<PyOverflowError>(py) {
        PyOverflowError::new_err(format!("{name}{shown} is out of range; {expected}"))
    } else if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(format!("{name}{shown} is no integer; {expected}"))
    } else {
        error
    }
}
