//! Calls as the interpreter makes them: a row of borrowed references, no tuple, no dictionary.
//!
//! PyO3 gives such calls only to methods with a fixed number of arguments. Here are the few others:
//! the call of a kernel (`tp_vectorcall`) and the prepared calls (`METH_FASTCALL`).
//!
//! Establishes: a panic becomes a Python exception; references are borrowed for the call only.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Positional arguments.
#[derive(Clone, Copy)]
pub(crate) struct PositionalArgs<'a, 'py> {
    py: Python<'py>,
    items: &'a [*mut PyObject],
}

impl<'a, 'py> PositionalArgs<'a, 'py> {
    /// # Safety
    /// Each item must be an object that lives for `'a`.
    pub(crate) unsafe fn new(py: Python<'py>, items: &'a [*mut PyObject]) -> Self {
        Self { py, items }
    }

    #[inline]
    pub(crate) fn py(self) -> Python<'py> {
        self.py
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.items.len()
    }

    /// The arguments in order.
    #[inline]
    pub(crate) fn iter_args(self) -> impl Iterator<Item = Borrowed<'a, 'py, PyAny>> {
        // SAFETY: the contract of `new`.
        self.items.iter().map(move |item| unsafe { Borrowed::from_ptr(self.py, *item) })
    }

    #[inline]
    pub(crate) fn get_arg(self, index: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        // SAFETY: the contract of `new`.
        self.items.get(index).map(|item| unsafe { Borrowed::from_ptr(self.py, *item) })
    }

    /// The first `n`, and the others.
    #[inline]
    fn split_at(self, n: usize) -> (Self, Self) {
        let (first, others) = self.items.split_at(n.min(self.items.len()));
        (Self { items: first, ..self }, Self { items: others, ..self })
    }

    /// Without the first `n`.
    #[inline]
    pub(crate) fn skip_args(self, n: usize) -> Self {
        self.split_at(n).1
    }

    pub(crate) fn to_tuple(self) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(self.py, self.iter_args().map(|item| item.to_owned()).collect::<Vec<_>>())
    }
}

/// The objects of a tuple, which must outlive the use of the pointers.
pub(crate) fn object_pointers(tuple: &Bound<'_, PyTuple>) -> Vec<*mut PyObject> {
    tuple.iter_borrowed().map(|item| item.as_ptr()).collect()
}

/// Keyword arguments: names, and as many values.
pub(crate) struct KeywordArgs<'a, 'py> {
    pub(crate) names: Option<Borrowed<'a, 'py, PyTuple>>,
    pub(crate) values: PositionalArgs<'a, 'py>,
}

impl<'py> KeywordArgs<'_, 'py> {
    /// Calls `body` with each name and value.
    #[inline]
    pub(crate) fn for_each_keyword(
        &self,
        mut body: impl FnMut(Borrowed<'_, 'py, PyAny>, Borrowed<'_, 'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        let Some(names) = &self.names else { return Ok(()) };
        names.iter_borrowed().zip(self.values.iter_args()).try_for_each(|(name, value)| body(name, value))
    }
}

/// A row of arguments as the interpreter gives it: positional ones, then a value for each name.
#[derive(Clone, Copy)]
pub(crate) struct RawArguments {
    items: *const *mut PyObject,
    pub(crate) n_positional: usize,
    /// Null without keywords.
    pub(crate) names: *mut PyObject,
}

impl RawArguments {
    #[inline(always)]
    pub(crate) fn new(items: *const *mut PyObject, n_positional: usize, names: *mut PyObject) -> Self {
        Self { items, n_positional, names }
    }

    /// # Safety
    /// The row must be that of the present call, and have such an item.
    #[inline(always)]
    pub(crate) unsafe fn item<'a, 'py>(self, py: Python<'py>, at: usize) -> Borrowed<'a, 'py, PyAny> {
        // SAFETY: the caller's promise.
        unsafe { Borrowed::from_ptr(py, *self.items.add(at)) }
    }

    /// The first `n_items` objects of the row.
    ///
    /// # Safety
    /// The row must be that of the present call, and not be shorter.
    #[inline(always)]
    pub(crate) unsafe fn first_items<'a, 'py>(self, py: Python<'py>, n_items: usize) -> PositionalArgs<'a, 'py> {
        // SAFETY: the caller's promise. A row without items may be null.
        unsafe {
            PositionalArgs::new(py, if n_items == 0 { &[] } else { std::slice::from_raw_parts(self.items, n_items) })
        }
    }
}

/// What stands behind a call: the object, its arguments, its keywords.
pub(crate) type MethodBody =
    for<'a, 'py> fn(&Bound<'py, PyAny>, PositionalArgs<'a, 'py>, KeywordArgs<'a, 'py>) -> PyResult<Bound<'py, PyAny>>;

/// Calls `body` with what the interpreter gives.
///
/// # Safety
/// Only for the interpreter: it is attached, and the objects live for the call.
pub(crate) unsafe fn call_method_body(body: MethodBody, slf: *mut PyObject, row: RawArguments) -> *mut PyObject {
    // SAFETY: this function's contract.
    let py = unsafe { Python::assume_attached() };
    let call = || {
        // SAFETY: the interpreter passes a value for each name behind the positional arguments.
        let (slf, names, items) = unsafe {
            let names = Borrowed::from_ptr_or_opt(py, row.names).map(|names| names.cast_unchecked::<PyTuple>());
            let n_items = row.n_positional + names.as_ref().map_or(0, |names| names.len());
            (Borrowed::from_ptr(py, slf), names, row.first_items(py, n_items))
        };
        let (args, values) = items.split_at(row.n_positional);
        body(&slf, args, KeywordArgs { names, values })
    };
    let result = catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(PyRuntimeError::new_err("internal error: a call of a kernel panicked")));
    raw_result(py, result)
}

/// What the interpreter expects of a call: an object, or null and an exception.
#[inline(always)]
pub(crate) fn raw_result(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> *mut PyObject {
    result.map_or_else(|error| raise(py, error), Bound::into_ptr)
}

#[cold]
fn raise(py: Python<'_>, error: PyErr) -> *mut PyObject {
    error.restore(py);
    std::ptr::null_mut()
}

/// A method to be added to a class.
pub(crate) struct FastcallMethod {
    pub(crate) name: &'static CStr,
    pub(crate) call: ffi::PyCFunctionFastWithKeywords,
    /// Beginning with the signature, as `inspect` reads it.
    pub(crate) doc: &'static CStr,
}

/// Adds methods to a class.
pub(crate) fn add_methods(class: &Bound<'_, PyType>, methods: &[FastcallMethod]) -> PyResult<()> {
    for method in methods {
        // The definition must live as long as the class, which is for ever.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: method.name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: method.call },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: method.doc.as_ptr(),
        }));
        // SAFETY: the class and the definition live on; the new object is owned.
        let descriptor = unsafe {
            Bound::from_owned_ptr_or_err(class.py(), ffi::PyDescr_NewMethod(class.as_type_ptr(), definition))?
        };
        class.setattr(&*method.name.to_string_lossy(), descriptor)?;
    }
    Ok(())
}

/// Adds read-only attributes whose values `get` makes of a number of `enumeration`. What the class has under such a
/// name stays.
pub(crate) fn add_getters<'a>(
    class: &Bound<'_, PyType>,
    get: ffi::getter,
    enumeration: &str,
    attributes: impl Iterator<Item = (String, u32)> + 'a,
) -> PyResult<()> {
    for (name, number) in attributes {
        if class.hasattr(&*name)? {
            continue;
        }
        let c_name = CString::new(name.clone())?;
        let doc = CString::new(format!("The value of ``{enumeration}.{}``.", name.to_uppercase()))?;
        let definition = Box::leak(Box::new(ffi::PyGetSetDef {
            name: c_name.into_raw(),
            get: Some(get),
            set: None,
            doc: doc.into_raw(),
            closure: std::ptr::without_provenance_mut(number as usize),
        }));
        // SAFETY: as in `add_methods`.
        let descriptor = unsafe {
            Bound::from_owned_ptr_or_err(class.py(), ffi::PyDescr_NewGetSet(class.as_type_ptr(), definition))?
        };
        class.setattr(PyString::new(class.py(), &name), descriptor)?;
    }
    Ok(())
}

/// A subclass whose objects are called through a pointer that lies behind the base's data.
pub(crate) struct CallableType {
    class: Py<PyType>,
    offset: usize,
    call: ffi::vectorcallfunc,
}

/// `Py_TPFLAGS_HAVE_VECTORCALL`, the same number since Python 3.8, though a name of the stable ABI
/// only since 3.12.
const HAVE_VECTORCALL: std::ffi::c_ulong = 1 << 11;
const POINTER_BYTES: usize = size_of::<*mut c_void>();

impl CallableType {
    /// Makes the class, documented as its base is. `name` has the module before it.
    pub(crate) fn new(base: &Bound<'_, PyType>, name: &'static CStr, call: ffi::vectorcallfunc) -> PyResult<Self> {
        let py = base.py();
        let doc = CString::new(base.getattr("__doc__")?.extract::<String>()?)?;
        let base_size: usize = base.getattr("__basicsize__")?.extract()?;
        let offset = base_size.next_multiple_of(POINTER_BYTES);
        // The interpreter copies the members and the slots.
        let mut members = [ffi::PyMemberDef::default(); 2];
        members[0].name = c"__vectorcalloffset__".as_ptr();
        members[0].type_code = ffi::Py_T_PYSSIZET;
        members[0].offset = offset as ffi::Py_ssize_t;
        members[0].flags = ffi::Py_READONLY;
        let mut slots = [
            ffi::PyType_Slot { slot: ffi::Py_tp_members, pfunc: members.as_mut_ptr().cast() },
            ffi::PyType_Slot { slot: ffi::Py_tp_doc, pfunc: doc.as_ptr().cast_mut().cast() },
            ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() },
        ];
        let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | HAVE_VECTORCALL;
        let mut spec = ffi::PyType_Spec {
            name: name.as_ptr().cast::<c_char>(),
            basicsize: (offset + POINTER_BYTES) as c_int,
            itemsize: 0,
            flags: flags as u32,
            slots: slots.as_mut_ptr(),
        };
        let bases = PyTuple::new(py, [base])?;
        // SAFETY: the description is complete and lives until the call returns.
        let class =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr()))? };
        Ok(Self { class: class.cast_into::<PyType>()?.unbind(), offset, call })
    }

    pub(crate) fn python_class<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.class.bind(py)
    }

    /// Makes an object by calling the class.
    pub(crate) fn new_instance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.class.bind(py).call0()?;
        self.make_callable(&object)?;
        Ok(object)
    }

    /// Lets an object of the class or of a subclass be called.
    pub(crate) fn make_callable(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if !object.is_instance(self.class.bind(object.py()))? {
            return Err(PyTypeError::new_err("the object has no room for the pointer of its call"));
        }
        // SAFETY: the class has room for a pointer at this offset, and so have its subclasses.
        unsafe { object.as_ptr().byte_add(self.offset).cast::<ffi::vectorcallfunc>().write(self.call) };
        Ok(())
    }
}
