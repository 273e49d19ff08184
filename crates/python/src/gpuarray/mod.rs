//! `rtcg.numpy`: the array class. Everything it does is in `rtcg::array`; here NumPy's
//! dtypes, shapes and scalars are translated.

mod attributes;
pub(crate) mod context;
mod creation;
mod cuda_array_interface;
mod dlpack;
mod dtypes;
mod einsum;
mod export;
mod fancy_indexing;
mod functions;
mod indexing;
pub(crate) mod memory;
mod operands;
mod operators;
mod protocols;
mod reductions;
mod transfer;
mod views;

use crate::array_object::ArrayState;
pub(crate) use crate::array_object::PyGpuArray;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::errors::{array_error, shown};
use crate::owner::Owner;
use crate::resource_lifetime::{Ready, filled_object};
pub(crate) use context::array_context;
pub(crate) use dtypes::{dtype_of_descr, parse_dtype};
use dtypes::{numpy_descr, parse_numpy_dtype};
use memory::{ForeignBuffer, array_inside_memory};
use numpy::PyArrayDescr;
use operands::parse_shape;
pub(crate) use operands::{parse_optional_dtype, parse_scalar, require_array};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use rtcg::array::{DType, GpuArray, Layout, Order};
pub(crate) use transfer::run_in_stream;

/// The memory layout of an array.
#[pyclass(name = "ArrayFlags", module = "rtcg.numpy", frozen)]
pub(crate) struct PyArrayFlags {
    /// Whether the elements are in C order without gaps.
    #[pyo3(get)]
    c_contiguous: bool,
    /// Whether the elements are in Fortran order without gaps.
    #[pyo3(get)]
    f_contiguous: bool,
    /// Whether the elements are in C or Fortran order without gaps.
    #[pyo3(get)]
    forc: bool,
}

#[pymethods]
impl PyArrayFlags {
    /// A flag by NumPy's name or its abbreviation.
    fn __getitem__(&self, name: &str) -> PyResult<bool> {
        match name {
            "C_CONTIGUOUS" | "CONTIGUOUS" | "C" => Ok(self.c_contiguous),
            "F_CONTIGUOUS" | "FORTRAN" | "F" => Ok(self.f_contiguous),
            "FORC" => Ok(self.forc),
            _ => Err(PyKeyError::new_err(format!("flag '{name}'; an array has C_CONTIGUOUS, F_CONTIGUOUS and FORC"))),
        }
    }

    fn __repr__(&self) -> String {
        let shown = |flag| if flag { "True" } else { "False" };
        format!("  C_CONTIGUOUS : {}\n  F_CONTIGUOUS : {}", shown(self.c_contiguous), shown(self.f_contiguous))
    }
}

pub(crate) fn parse_order(order: &str) -> PyResult<Order> {
    match order {
        "C" => Ok(Order::C),
        "F" => Ok(Order::F),
        other => Err(PyValueError::new_err(format!("order is '{other}'; expected 'C' or 'F'"))),
    }
}

impl PyGpuArray {
    pub(crate) fn from_array(array: GpuArray) -> Self {
        Self::from(ArrayState::from_array(array))
    }

    fn new_object<'py>(py: Python<'py>, contents: ArrayState) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, Self::from(contents))?.into_any())
    }

    /// A result beside `slf`, with its allocator: a `GPUArray` also where `slf` is of a subclass, as upstream.
    pub(crate) fn new_like<'py>(slf: &Bound<'py, Self>, array: GpuArray) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.get().current_state());
        let record = own.record_descr_for(py, array.dtype());
        Self::new_object(py, ArrayState { array, record, base: None, allocator: own.clone_allocator(py), sizes: None })
    }

    /// The result of an elementwise operation on `slf`: where a subclass overrides `_new_like_me`, in what that returns,
    /// as upstream; else [`PyGpuArray::new_like`].
    pub(crate) fn elementwise_result<'py>(slf: &Bound<'py, Self>, array: GpuArray) -> PyResult<Bound<'py, PyAny>> {
        let is_own_shape = array.shape() == slf.get().current_state().array.shape();
        let target = if is_own_shape { Self::target_of_subclass(slf, array.dtype(), None)? } else { None };
        let Some(target) = target else { return Self::new_like(slf, array) };
        to_py_result(slf.py(), target.get().current_state().array.assign(&array))?;
        Ok(target.into_any())
    }

    /// What `_new_like_me` of a subclass that overrides it returns for elements of `dtype`, or `descr` if it is given.
    #[inline]
    fn target_of_subclass<'py>(
        slf: &Bound<'py, Self>,
        dtype: DType,
        descr: Option<Bound<'py, PyArrayDescr>>,
    ) -> PyResult<Option<Bound<'py, Self>>> {
        let class = slf.py().get_type::<Self>();
        if slf.get_type().is(&class) { Ok(None) } else { Self::call_new_like_me(slf, &class, dtype, descr) }
    }

    #[cold]
    fn call_new_like_me<'py>(
        slf: &Bound<'py, Self>,
        class: &Bound<'py, PyType>,
        dtype: DType,
        descr: Option<Bound<'py, PyArrayDescr>>,
    ) -> PyResult<Option<Bound<'py, Self>>> {
        let (py, method) = (slf.py(), intern!(slf.py(), "_new_like_me"));
        if slf.get_type().getattr(method)?.is(&class.getattr(method)?) {
            return Ok(None);
        }
        let record = slf.get().current_state().record_descr_for(py, dtype).map(|record| record.into_bound(py));
        let descr = descr.or(record).map_or_else(|| numpy_descr(py, dtype), Ok)?;
        let made = slf.call_method1(method, (descr,))?;
        made.cast_into::<Self>().map(Some).map_err(|error| {
            let made = shown(&error.into_inner());
            PyTypeError::new_err(format!("_new_like_me returned {made}; expected a GPUArray"))
        })
    }

    /// A view of `slf`; with another dtype if `descr` is given.
    pub(crate) fn view_of<'py>(
        slf: &Bound<'py, Self>,
        array: GpuArray,
        descr: Option<Bound<'py, PyArrayDescr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        filled_object(slf)?;
        let (py, own) = (slf.py(), slf.get().current_state());
        let record = match descr {
            Some(descr) => matches!(array.dtype(), DType::Void(_)).then(|| descr.unbind()),
            None => own.record_descr_for(py, array.dtype()),
        };
        let (base, allocator) = (Some(Owner::new(Self::view_owner(slf, &own))), own.clone_allocator(py));
        Self::new_object(py, ArrayState { array, record, base, allocator, sizes: None })
    }

    /// What a view of `slf` keeps: the array that `slf` itself is a view of, or else `slf`. So views of views of views
    /// keep one array, as NumPy's do, however many they are.
    fn view_owner<'py>(slf: &Bound<'py, Self>, own: &ArrayState) -> Bound<'py, PyAny> {
        let base = own.base.as_ref().map(|base| base.bind(slf.py())).filter(|base| base.is_instance_of::<Self>());
        base.unwrap_or(slf.as_any()).clone()
    }

    /// The only element as a Python object; waits.
    pub(crate) fn item_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_host(py)?.call_method0("item")
    }

    /// The memory that was given, or that of the allocator.
    fn given_or_allocated_memory<'py>(
        shape: &[usize],
        dtype: DType,
        allocator: Option<&Py<PyAny>>,
        gpudata: Option<Bound<'py, PyAny>>,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let nbytes = shape.iter().product::<usize>().saturating_mul(dtype.itemsize());
        match (gpudata, allocator) {
            (Some(memory), _) if !memory.is_none() => Ok(Some(memory)),
            (_, Some(allocator)) if nbytes > 0 => allocator.bind(py).call1((nbytes,)).map(Some),
            _ => Ok(None),
        }
    }
}

/// A layout with the strides that a caller made up.
fn strided_layout(shape: &[usize], strides: Vec<isize>, itemsize: usize, has_memory: bool) -> PyResult<Layout> {
    if strides.len() != shape.len() {
        return Err(PyValueError::new_err(format!(
            "strides {} do not fit shape {}",
            rtcg::array::PythonTuple(&strides),
            rtcg::array::PythonTuple(shape)
        )));
    }
    let layout = Layout { shape: shape.into(), strides: strides.into(), offset: 0 };
    if !has_memory && !layout.is_dense(itemsize) {
        return Err(PyValueError::new_err(format!(
            "strides {} of shape {} leave gaps or overlap; without gpudata they must be dense",
            rtcg::array::PythonTuple(&layout.strides),
            rtcg::array::PythonTuple(shape)
        )));
    }
    Ok(layout)
}

#[pymethods]
impl PyGpuArray {
    /// NumPy's scalars leave operators to this class.
    #[classattr]
    fn __array_priority__() -> u32 {
        100
    }

    #[new]
    #[pyo3(
        signature = (*_args, **_kwargs),
        text_signature = "(shape, dtype=None, allocator=None, base=None, gpudata=None, strides=None, order='C')"
    )]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    #[pyo3(signature = (shape, dtype = None, allocator = None, base = None, gpudata = None, strides = None, order = "C"))]
    #[allow(clippy::too_many_arguments, reason = "upstream's signature")]
    fn __init__(
        &self,
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        allocator: Option<Py<PyAny>>,
        base: Option<Py<PyAny>>,
        gpudata: Option<Bound<'_, PyAny>>,
        strides: Option<Vec<isize>>,
        order: &str,
    ) -> PyResult<()> {
        // NumPy's default, as `zeros` and `ones` have it; upstream has none.
        let descr = match dtype {
            Some(dtype) => parse_numpy_dtype(py, dtype)?,
            None => numpy_descr(py, DType::F64)?,
        };
        let (shape, dtype, order) = (parse_shape(shape)?, dtype_of_descr(&descr)?, parse_order(order)?);
        let record = matches!(dtype, DType::Void(_)).then(|| descr.unbind());
        let memory = Self::given_or_allocated_memory(&shape, dtype, allocator.as_ref(), gpudata, py)?;
        let base = base.map(|base| Owner::new(base.into_bound(py)));
        let done = |array| self.replace_state(ArrayState { array, record, base, allocator, sizes: None });
        // A whole array brings its memory and its layout along.
        if let Some(given) = memory.as_ref().and_then(|memory| memory.cast::<PyGpuArray>().ok()) {
            let given = &given.get().current_state().array;
            let layout = match strides {
                Some(strides) => strided_layout(&shape, strides, dtype.itemsize(), true)?,
                None if given.shape() == shape && given.dtype() == dtype => given.layout().clone(),
                None => Layout::contiguous(&shape, dtype.itemsize(), order),
            };
            let layout = Layout { offset: given.layout().offset, ..layout };
            done(array_inside_memory("gpudata", given.context(), given.buffer().cloned(), layout, dtype)?);
            return Ok(());
        }
        let ctx = array_context()?;
        let layout = match strides {
            Some(strides) => strided_layout(&shape, strides, dtype.itemsize(), memory.is_some())?,
            None => Layout::contiguous(&shape, dtype.itemsize(), order),
        };
        let array = match memory {
            Some(memory) => {
                let ptr = memory.extract::<DevicePtr>()?.0;
                let buffer = ForeignBuffer::from_address(ptr, memory);
                array_inside_memory("gpudata", &ctx, Some(buffer), layout, dtype)?
            }
            None => creation::retry_after_garbage_collection(py, || {
                GpuArray::empty_with_layout(&ctx, layout.clone(), dtype)
            })?,
        };
        done(array);
        Ok(())
    }

    /// The size of an element in bytes.
    #[getter]
    fn itemsize(slf: Ready<'_, Self>) -> usize {
        slf.current_state().array.itemsize()
    }

    /// The number of axes.
    #[getter]
    fn ndim(slf: Ready<'_, Self>) -> usize {
        slf.current_state().array.ndim()
    }

    /// The device address of the first element, an int.
    #[getter(ptr)]
    fn ptr_object(slf: Ready<'_, Self>) -> u64 {
        slf.ptr()
    }

    /// The memory layout: `ArrayFlags`, as `numpy.ndarray.flags`.
    #[getter]
    fn flags(slf: Ready<'_, Self>) -> PyArrayFlags {
        let (c, f) =
            (slf.current_state().array.is_contiguous(Order::C), slf.current_state().array.is_contiguous(Order::F));
        PyArrayFlags { c_contiguous: c, f_contiguous: f, forc: c || f }
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        classes PyGpuArray, PyArrayFlags;
        functions context::clear_array_contexts, context::release_array_memory, memory::call_with_allocator,
            operators::ufunc, reductions::reduce_array;
    }?;
    functions::add_to_module(m)?;
    einsum::add_to_module(m)?;
    dlpack::add_to_module(m)?;
    creation::add_to_module(m)
}

/// A core result as a Python one.
pub(crate) fn to_py_result<T>(py: Python<'_>, result: rtcg::array::Result<T>) -> PyResult<T> {
    result.map_err(|error| array_error(py, error))
}
