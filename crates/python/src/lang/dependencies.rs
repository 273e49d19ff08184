//! Whether what a program takes from outside is still what it was.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Something outside a function's text that decided what it means.
pub(super) enum Dependency {
    /// A name among globals, built-in names, or attributes of a module; `None` if there was none of that name.
    Name { names: Py<PyDict>, name: Py<PyString>, value: Option<Py<PyAny>> },
    /// A variable of a function around this one; `None` if it had no value.
    Cell { cell: Py<PyAny>, value: Option<Py<PyAny>> },
    /// The code of a function.
    Code { function: Py<PyAny>, code: Py<PyAny> },
    /// The bytes of an array, whose elements may change.
    Bytes { array: Py<PyAny>, bytes: Vec<u8> },
}

impl Dependency {
    /// The name, and the value that it has now.
    pub(super) fn of_name<'py>(names: &Bound<'py, PyDict>, name: &str) -> PyResult<(Self, Option<Bound<'py, PyAny>>)> {
        // Interned as the keys of the dictionary are, so that a look-up compares addresses.
        let name = PyString::intern(names.py(), name);
        let value = names.get_item(&name)?;
        let known = Dependency::Name {
            names: names.clone().unbind(),
            name: name.unbind(),
            value: value.clone().map(Bound::unbind),
        };
        Ok((known, value))
    }

    /// The variable, and the value that it has now.
    pub(super) fn of_cell<'py>(cell: &Bound<'py, PyAny>) -> (Self, Option<Bound<'py, PyAny>>) {
        let value = contents(cell);
        (Dependency::Cell { cell: cell.clone().unbind(), value: value.clone().map(Bound::unbind) }, value)
    }

    /// Shows the objects that are held to the collector of garbage.
    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Dependency::Name { names, name: _, value } => {
                visit.call(names)?;
                visit.call(value)
            }
            Dependency::Cell { cell, value } => {
                visit.call(cell)?;
                visit.call(value)
            }
            Dependency::Code { function, code } => {
                visit.call(function)?;
                visit.call(code)
            }
            Dependency::Bytes { array, .. } => visit.call(array),
        }
    }

    /// Whether nothing has changed. An error while it is looked at is a change.
    pub(super) fn is_current(&self, py: Python<'_>) -> bool {
        match self {
            Dependency::Name { names, name, value } => {
                names.bind(py).get_item(name).is_ok_and(|now| is_same(now, value.as_ref()))
            }
            Dependency::Cell { cell, value } => is_same(contents(cell.bind(py)), value.as_ref()),
            Dependency::Code { function, code } => {
                function.bind(py).getattr(intern!(py, "__code__")).is_ok_and(|now| now.is(code))
            }
            Dependency::Bytes { array, bytes } => bytes_of(array.bind(py)).is_ok_and(|now| now == *bytes),
        }
    }
}

fn is_same(now: Option<Bound<'_, PyAny>>, then: Option<&Py<PyAny>>) -> bool {
    match (now, then) {
        (Some(now), Some(then)) => now.is(then),
        (None, None) => true,
        _ => false,
    }
}

fn contents<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // A variable without a value raises.
    cell.getattr(intern!(cell.py(), "cell_contents")).ok()
}

/// The bytes of an array of one element.
pub(super) fn bytes_of(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    array.call_method0(intern!(array.py(), "tobytes"))?.extract()
}
