//! Indexing with integer and boolean arrays. Host indices are checked before they are copied over.

use super::operands::{element_bytes_from_value, require_array, upload_host_array};
use super::{PyGpuArray, to_py_result};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::array::{ArrayContext, FancyIndex, GpuArray, Index};
use std::sync::Arc;

/// An index array that came from the host, with the range of its values.
struct HostIndexArray<'py> {
    array: Bound<'py, PyUntypedArray>,
}

enum IndexItem<'py> {
    Basic(Index),
    Device(GpuArray),
    Host(HostIndexArray<'py>),
}

fn parse_index_item<'py>(object: &Bound<'py, PyAny>) -> PyResult<IndexItem<'py>> {
    if let Ok(array) = object.cast::<PyGpuArray>() {
        let array = array.get().current_state().array.clone();
        // One integer is an index like any other.
        return Ok(IndexItem::Device(array));
    }
    if let Some(mut basic) = super::indexing::parse_basic_index(&PyTuple::new(object.py(), [object])?.into_any())?
        && let Some(item) = basic.pop()
    {
        return Ok(IndexItem::Basic(item));
    }
    let numpy = object.py().import("numpy")?;
    let mut array = numpy.call_method1("asarray", (object,))?.cast_into::<PyUntypedArray>()?;
    if array.len() == 0 && array.dtype().kind() == b'f' {
        // An empty list has no dtype of its own.
        array = array.call_method1("astype", ("int64",))?.cast_into::<PyUntypedArray>()?;
    }
    if !matches!(array.dtype().kind(), b'i' | b'u' | b'b') {
        return Err(PyIndexError::new_err(format!(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are \
             valid indices, got an array of {}",
            array.dtype()
        )));
    }
    Ok(IndexItem::Host(HostIndexArray { array }))
}

/// The core's form of an index with arrays in it.
fn parse_fancy_index(ctx: &Arc<ArrayContext>, index: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<FancyIndex>> {
    let items: Vec<IndexItem<'_>> = match index.cast::<PyTuple>() {
        Ok(items) => items.iter().map(|item| parse_index_item(&item)).collect::<PyResult<_>>()?,
        Err(_) => vec![parse_index_item(index)?],
    };
    let axes = |item: &IndexItem<'_>| match item {
        IndexItem::Basic(Index::NewAxis | Index::Ellipsis) => 0,
        IndexItem::Host(host) if host.array.dtype().kind() == b'b' => host.array.ndim(),
        IndexItem::Device(array) if array.dtype() == rtcg::array::DType::Bool => array.ndim(),
        _ => 1,
    };
    let used: usize = items.iter().map(axes).sum();
    let mut nothing = false;
    for item in &items {
        nothing |= matches!(item, IndexItem::Host(host) if host.selects_nothing()?);
    }
    let mut axis = 0;
    let mut fancy = Vec::with_capacity(items.len());
    for item in items {
        let width = match item {
            IndexItem::Basic(Index::Ellipsis) => shape.len().saturating_sub(used),
            _ => axes(&item),
        };
        fancy.push(match item {
            IndexItem::Basic(index) => FancyIndex::Basic(index),
            IndexItem::Device(array) => FancyIndex::Array(array),
            IndexItem::Host(host) => {
                // Like NumPy, which looks at no index when the index arrays together select nothing.
                if !nothing {
                    host.check_bounds(axis, shape)?;
                }
                FancyIndex::Array(upload_host_array(ctx, &host.array)?)
            }
        });
        axis += width;
    }
    Ok(fancy)
}

impl HostIndexArray<'_> {
    /// Whether it has no indices: a mask without `True`, or an array without elements.
    fn selects_nothing(&self) -> PyResult<bool> {
        if self.array.len() == 0 {
            return Ok(true);
        }
        Ok(self.array.dtype().kind() == b'b' && !self.array.call_method0("any")?.is_truthy()?)
    }

    /// Refuses an index outside its axis; only integers, which a mask has none of.
    fn check_bounds(&self, axis: usize, shape: &[usize]) -> PyResult<()> {
        let Some(&length) = shape.get(axis) else { return Ok(()) };
        if self.array.dtype().kind() == b'b' || self.array.len() == 0 {
            return Ok(());
        }
        let (low, high): (i128, i128) =
            (self.array.call_method0("min")?.extract()?, self.array.call_method0("max")?.extract()?);
        let length = length as i128;
        let outside = if low < -length { low } else { high };
        if low < -length || high >= length {
            return Err(PyIndexError::new_err(format!(
                "index {outside} is out of bounds for axis {axis} with size {length}"
            )));
        }
        Ok(())
    }
}

pub(super) fn fancy_getitem<'py>(
    slf: &Bound<'py, PyGpuArray>,
    index: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    if let Some(names) = field_names(index)? {
        return select_fields(slf, &names);
    }
    let array = &slf.get().current_state().array;
    let items = parse_fancy_index(array.context(), index, array.shape())?;
    PyGpuArray::make_like(slf, || py.detach(|| array.take_fancy(&items)))
}

pub(super) fn fancy_setitem<'py>(
    slf: &Bound<'py, PyGpuArray>,
    index: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = slf.py();
    let array = &slf.get().current_state().array;
    let items = parse_fancy_index(array.context(), index, array.shape())?;
    let values = match element_bytes_from_value(slf.get(), value)? {
        Some(bytes) => {
            let one = to_py_result(py, GpuArray::empty(array.context(), &[], array.dtype(), rtcg::array::Order::C))?;
            to_py_result(py, one.write(&bytes, rtcg::array::Order::C))?;
            one
        }
        None => require_array(array.context(), value)?,
    };
    to_py_result(py, py.detach(|| array.put_fancy(&items, &values)))
}

/// The names in an index that is a list of fields.
fn field_names(index: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let Ok(list) = index.cast::<pyo3::types::PyList>() else { return Ok(None) };
    if list.is_empty() {
        return Ok(None);
    }
    Ok(list.extract::<Vec<String>>().ok())
}

/// Several fields of records, as records of the same size.
fn select_fields<'py>(slf: &Bound<'py, PyGpuArray>, names: &[String]) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let small = py.import("numpy")?.call_method1("empty", (0, slf.get().array_descr(py)?))?;
    let descr = small.get_item(names.to_vec())?.getattr("dtype")?;
    let descr = super::dtypes::parse_numpy_dtype(py, &descr)?;
    PyGpuArray::view_of(slf, slf.get().current_state().array.clone(), Some(descr))
}
