//! Host memory that Python objects lend: NumPy arrays and anything with the buffer protocol.
//!
//! Establishes: what is lent holds no references to Python objects, which only the interpreter may read or write.
//!
//! The buffer protocol is not in the stable ABI of Python 3.10, so buffers other than arrays are
//! viewed through `numpy.frombuffer`; but for `as_bytes`, so that code can be loaded without NumPy.

use crate::errors::shown;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, npyffi};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// A contiguous range of host memory and the object that keeps it alive.
pub(crate) enum HostBuffer<'py> {
    Array(Bound<'py, PyUntypedArray>),
    Bytes(Bound<'py, PyBytes>),
}

impl<'py> HostBuffer<'py> {
    /// The memory of `object`, which must be contiguous in C or Fortran order.
    pub(crate) fn from_object(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        // Asking whether it is an array would import NumPy.
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        let array = match object.cast::<PyUntypedArray>() {
            Ok(array) => array.clone(),
            Err(_) => view_as_array(object, name)?,
        };
        refuse_object_dtype(&array.dtype(), name)?;
        if !array.is_contiguous() {
            return Err(PyValueError::new_err(format!(
                "{name} is not contiguous in memory; expected C or Fortran order, as numpy.ascontiguousarray(...) copies to"
            )));
        }
        Ok(Self::Array(array))
    }

    /// As [`HostBuffer::from_object`], for memory to be written.
    pub(crate) fn from_writable(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        let buffer = Self::from_object(object, name)?;
        if !buffer.is_writable() {
            return Err(PyTypeError::new_err(format!("{name} is read-only; expected a writable buffer")));
        }
        Ok(buffer)
    }

    fn is_writable(&self) -> bool {
        match self {
            // SAFETY: the array is alive.
            Self::Array(array) => unsafe { (*array.as_array_ptr()).fields.flags & npyffi::NPY_ARRAY_WRITEABLE != 0 },
            Self::Bytes(_) => false,
        }
    }

    /// The first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        match self {
            // SAFETY: the array is alive.
            Self::Array(array) => unsafe { (*array.as_array_ptr()).fields.data.cast() },
            Self::Bytes(bytes) => bytes.as_bytes().as_ptr().cast_mut(),
        }
    }

    /// The length in bytes.
    pub(crate) fn nbytes(&self) -> usize {
        match self {
            Self::Array(array) => array.len() * array.dtype().itemsize(),
            Self::Bytes(bytes) => bytes.as_bytes().len(),
        }
    }

    /// The bytes.
    ///
    /// # Safety
    /// Nobody may write them while the slice is used. Python code in other threads could; it
    /// would then see what a race between two copies gives, as in NumPy itself.
    pub(crate) unsafe fn as_bytes(&self) -> &'static [u8] {
        if self.nbytes() == 0 {
            return &[];
        }
        // SAFETY: the memory is contiguous; callers hold its owner for as long as they use the slice.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.nbytes()) }
    }

    /// The bytes, to be overwritten.
    ///
    /// # Safety
    /// As [`HostBuffer::as_bytes`], and the memory must be writable.
    pub(crate) unsafe fn bytes_mut(&self) -> &'static mut [u8] {
        if self.nbytes() == 0 {
            return &mut [];
        }
        // SAFETY: as in `as_bytes`.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.nbytes()) }
    }

    /// The object that keeps the memory alive.
    pub(crate) fn owner_object(&self) -> Py<PyAny> {
        match self {
            Self::Array(array) => array.clone().into_any().unbind(),
            Self::Bytes(bytes) => bytes.clone().into_any().unbind(),
        }
    }
}

/// An error for elements that are references to Python objects, also for those of a field.
pub(crate) fn refuse_object_dtype(dtype: &Bound<'_, PyArrayDescr>, name: &str) -> PyResult<()> {
    if dtype.has_object() { Err(object_elements_error(name, &format!("dtype {}", shown(dtype)))) } else { Ok(()) }
}

#[cold]
fn object_elements_error(name: &str, elements: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} has {elements}, which holds Python objects; expected numbers or bytes"))
}

/// Whether a format of the buffer protocol has references to Python objects. Names of fields stand between colons.
fn format_has_objects(format: &str) -> bool {
    format.split(':').step_by(2).any(|types| types.contains('O'))
}

/// A buffer as an array: of bytes where it lies in C order, else of what its format says.
fn view_as_array<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    let view = PyMemoryView::from(object).map_err(|error| no_buffer_error(object, name, &error))?;
    let format: String = view.getattr("format")?.extract()?;
    if format_has_objects(&format) {
        return Err(object_elements_error(name, &format!("elements of format {}", shown(&view.getattr("format")?))));
    }
    let numpy = py.import("numpy")?;
    let array = if view.getattr("nbytes")?.extract::<usize>()? == 0 {
        numpy.call_method1("empty", (0, "u1"))?
    } else if view.getattr("c_contiguous")?.is_truthy()? {
        numpy.call_method1("frombuffer", (view, "u1"))?
    } else {
        // What is contiguous in no order is refused by the caller, who knows the word for it.
        numpy.call_method1("asarray", (view,))?
    };
    Ok(array.cast_into::<PyUntypedArray>()?)
}

#[cold]
fn no_buffer_error(object: &Bound<'_, PyAny>, name: &str, error: &PyErr) -> PyErr {
    if error.is_instance_of::<PyBufferError>(object.py()) {
        return PyValueError::new_err(format!("{name} lends no memory ({error})"));
    }
    let kind = object.get_type().name().map_or_else(|_| "?".to_string(), |name| name.to_string());
    if object.hasattr("__cuda_array_interface__").unwrap_or(false) {
        return PyTypeError::new_err(format!(
            "{name} is a {kind}, which is in device memory; expected an array in host memory (a kernel takes a device \
             array as it is, without In, Out or InOut)"
        ));
    }
    PyTypeError::new_err(format!("{name} is a {kind}; expected an array or another contiguous buffer ({error})"))
}

/// An array over memory that `base` owns.
///
/// # Safety
/// The memory must have room for the array and live as long as `base`.
pub(crate) unsafe fn numpy_array_over<'py>(
    base: Bound<'py, PyAny>,
    data: *mut u8,
    dtype: &Bound<'py, PyArrayDescr>,
    shape: &[usize],
    fortran: bool,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_object_dtype(dtype, "the array")?;
    let py = base.py();
    let mut dims: Vec<npyffi::npy_intp> = shape.iter().map(|&n| n as npyffi::npy_intp).collect();
    let order = if fortran { npyffi::NPY_ARRAY_F_CONTIGUOUS } else { npyffi::NPY_ARRAY_C_CONTIGUOUS };
    // SAFETY: the descriptor's reference is given away, as the function wants; the flags make it
    // compute strides in the order asked for; then the array takes a reference to `base`.
    unsafe {
        let api = &npyffi::PY_ARRAY_API;
        let descr = dtype.clone().into_ptr().cast();
        let subtype = npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type);
        let array = api.PyArray_NewFromDescr(
            py,
            subtype,
            descr,
            dims.len() as i32,
            dims.as_mut_ptr(),
            std::ptr::null_mut(),
            data.cast(),
            order | npyffi::NPY_ARRAY_WRITEABLE,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        if api.PyArray_SetBaseObject(py, array.as_ptr().cast(), base.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}
