//! Indexing: basic indices are views; assignment broadcasts.

use super::operands::{element_bytes_from_value, require_array};
use crate::array_object::{ArrayState, PyGpuArray};
use crate::errors::array_error;
use crate::resource_lifetime::{Ready, filled_object};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyList, PySlice, PyString, PyTuple};
use rtcg::array::{GpuArray, Index, ScalarElement};

/// The start, stop and step of a slice, clipped to what an axis can have.
fn slice_to_index(slice: &Bound<'_, PySlice>) -> PyResult<Index> {
    let (mut start, mut stop, mut step) = (0isize, 0isize, 0isize);
    // SAFETY: writes three numbers; the object is a slice.
    let code = unsafe { pyo3::ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) };
    if code < 0 {
        let error = PyErr::fetch(slice.py());
        // A step of 0 is refused together with all else that can be wrong with an index.
        let zero_step = error.is_instance_of::<pyo3::exceptions::PyValueError>(slice.py());
        return if zero_step { Ok(Index::Slice(None, None, Some(0))) } else { Err(error) };
    }
    Ok(Index::Slice(Some(start), Some(stop), Some(step)))
}

/// One item of a basic index; `None` for arrays, lists and truth values.
fn parse_basic_index_item(item: &Bound<'_, PyAny>) -> PyResult<Option<Index>> {
    if let Ok(slice) = item.cast::<PySlice>() {
        return slice_to_index(slice).map(Some);
    }
    if item.is_none() {
        return Ok(Some(Index::NewAxis));
    }
    if item.is_exact_instance_of::<PyEllipsis>() {
        return Ok(Some(Index::Ellipsis));
    }
    let advanced = item.is_instance_of::<PyBool>()
        || item.is_instance_of::<PyList>()
        || item.is_instance_of::<PyTuple>()
        || item.is_instance_of::<PyGpuArray>()
        || item.hasattr("__array__")? && item.getattr("ndim")?.extract::<usize>()? > 0
        || item.get_type().name()?.to_str()? == "bool";
    if advanced {
        return Ok(None);
    }
    item.extract::<isize>().map(|index| Some(Index::At(index))).map_err(|_| {
        PyIndexError::new_err(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are \
             valid indices",
        )
    })
}

/// All items of an index, if it is a basic one.
pub(super) fn parse_basic_index(index: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Index>>> {
    match index.cast::<PyTuple>() {
        Ok(items) => {
            let mut basic = Vec::with_capacity(items.len());
            for item in items.iter_borrowed() {
                match parse_basic_index_item(&item)? {
                    Some(item) => basic.push(item),
                    None => return Ok(None),
                }
            }
            Ok(Some(basic))
        }
        Err(_) => Ok(parse_basic_index_item(index)?.map(|item| vec![item])),
    }
}

/// `array[name]`, `array[[names]]` of records.
fn get_record_field<'py>(slf: &Bound<'py, PyGpuArray>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let fields = slf.get().array_descr(py)?.getattr("fields")?;
    if fields.is_none() {
        return Err(PyIndexError::new_err(format!(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are \
             valid indices, got '{name}'"
        )));
    }
    let Some(found) = fields.call_method1("get", (name,))?.extract::<Option<Bound<'_, PyTuple>>>()? else {
        return Err(PyValueError::new_err(format!("no field of name {name}")));
    };
    let (descr, offset) = (found.get_item(0)?, found.get_item(1)?.extract::<usize>()?);
    // A field that is itself an array of numbers gets its shape behind the array's.
    let (base, inner): (Bound<'_, PyAny>, Vec<usize>) = (descr.getattr("base")?, descr.getattr("shape")?.extract()?);
    let base = super::dtypes::parse_numpy_dtype(py, &base)?;
    let dtype = super::dtypes::dtype_of_descr(&base)?;
    let view = slf.get().current_state().array.field_view(dtype, offset).map_err(|error| array_error(py, error))?;
    let view = append_axes(view, &inner);
    PyGpuArray::view_of(slf, view, Some(base))
}

/// A view with further C-ordered axes inside each element.
fn append_axes(view: GpuArray, inner: &[usize]) -> GpuArray {
    if inner.is_empty() {
        return view;
    }
    let mut layout = view.layout().clone();
    let own = rtcg::array::Layout::contiguous(inner, view.itemsize(), rtcg::array::Order::C);
    layout.shape.extend_from_slice(&own.shape);
    layout.strides.extend_from_slice(&own.strides);
    GpuArray::from_buffer(view.context(), view.buffer().cloned(), layout, view.dtype())
}

#[pymethods]
impl PyGpuArray {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        filled_object(slf)?;
        if index.is_instance_of::<PyString>() {
            return get_record_field(slf, index);
        }
        let Some(basic) = parse_basic_index(index)? else {
            return super::fancy_indexing::fancy_getitem(slf, index);
        };
        let view = slf.get().current_state().array.index(&basic).map_err(|error| array_error(slf.py(), error))?;
        Self::view_of(slf, view, None)
    }

    fn __setitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        filled_object(slf)?;
        let py = slf.py();
        if index.is_instance_of::<PyString>() {
            let field = get_record_field(slf, index)?;
            return assign_elements(field.cast::<Self>()?, value);
        }
        match parse_basic_index(index)? {
            Some(basic) => {
                let view = slf.get().current_state().array.index(&basic).map_err(|error| array_error(py, error))?;
                let record = slf.get().current_state().record_descr_for(py, view.dtype());
                let view = Bound::new(py, Self::from(ArrayState { record, ..ArrayState::from_array(view) }))?;
                assign_elements(&view, value)
            }
            None => super::fancy_indexing::fancy_setitem(slf, index, value),
        }
    }

    fn __len__(slf: Ready<'_, Self>) -> PyResult<usize> {
        let length = slf.current_state().array.shape().first().copied();
        length.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("len() of unsized object"))
    }
}

/// `target[...] = value`, which is broadcast and converted.
pub(super) fn assign_elements(target: &Bound<'_, PyGpuArray>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = target.py();
    let array = &target.get().current_state().array;
    if let Some(bytes) = element_bytes_from_value(target.get(), value)? {
        return match ScalarElement::from_bytes(&bytes, array.dtype()) {
            Some(element) => array.fill_element(element).map_err(|error| array_error(py, error)),
            None => fill_with_element_bytes(array, &bytes).map_err(|error| array_error(py, error)),
        };
    }
    let source = if array.dtype() != rtcg::array::DType::BF16 && value.is_instance_of::<PyList>() {
        let host = py.import("numpy")?.call_method1("asarray", (value, target.get().array_descr(py)?))?;
        require_array(array.context(), &host)?
    } else {
        require_array(array.context(), value)?
    };
    array.assign(&source).map_err(|error| array_error(py, error))
}

/// Every element from one too large to be passed by value.
fn fill_with_element_bytes(array: &GpuArray, bytes: &[u8]) -> rtcg::array::Result<()> {
    let one = GpuArray::empty(array.context(), &[], array.dtype(), rtcg::array::Order::C)?;
    one.write(bytes, rtcg::array::Order::C)?;
    array.assign(&one)
}
