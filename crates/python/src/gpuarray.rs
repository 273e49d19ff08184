//! `pycuda.gpuarray`: the array class. Everything it does is in `rtcg::array`; here NumPy's
//! dtypes, shapes and scalars are translated.

use crate::driver::memory::PyDeviceAllocation;
use crate::driver::pool::PyPooledDeviceAllocation;
use crate::errors::{OrRaise, array_error};
use crate::host_buffer::HostBuffer;
use crate::pointer::DevicePtr;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyTuple, PyType};
use rtcg::array::{ArrayContext, BinaryOp, Buffer, DType, GpuArray, Order, Scalar, WeakScalar};
use rtcg::{CudaRuntime, DeviceBuffer};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The arrays' side of each driver context.
static CONTEXTS: Mutex<Option<HashMap<rtcg::driver::Context, Arc<ArrayContext>>>> = Mutex::new(None);

/// The arrays of the calling thread's current context.
#[allow(clippy::mutable_key_type, reason = "a context hashes by its handle and table, which never change")]
fn array_context() -> PyResult<Arc<ArrayContext>> {
    let ctx = rtcg::driver::Context::require().or_raise()?;
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let contexts = contexts.get_or_insert_default();
    if let Some(found) = contexts.get(&ctx) {
        return Ok(found.clone());
    }
    contexts.retain(|ctx, _| ctx.is_alive());
    let arrays = CudaRuntime::arrays(&rtcg::Context::from(ctx.clone())).map_err(rtcg_error)?;
    contexts.insert(ctx, arrays.clone());
    Ok(arrays)
}

fn rtcg_error(error: rtcg::Error) -> PyErr {
    match error {
        rtcg::Error::Driver(error) => crate::errors::driver_error(error),
        other => crate::errors::RuntimeError::new_err(other.to_string()),
    }
}

/// Forgets the kernels that arrays have compiled, and the contexts they hold.
#[pyfunction]
fn clear_array_contexts() {
    let old = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(old);
}

/// Device memory that a Python object owns.
struct ForeignBuffer {
    ptr: u64,
    owner: Py<PyAny>,
}

impl Buffer for ForeignBuffer {
    fn device_ptr(&self) -> u64 {
        self.ptr
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// An array on the device.
#[pyclass(name = "GPUArray", module = "pycuda.gpuarray", frozen, subclass, weakref)]
pub(crate) struct PyGpuArray {
    pub(crate) array: GpuArray,
    #[pyo3(get)]
    base: Option<Py<PyAny>>,
    #[pyo3(get)]
    allocator: Option<Py<PyAny>>,
}

fn dtype_of(py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<DType> {
    let descr = PyArrayDescr::new(py, dtype)?;
    DType::from_numpy(descr.kind() as char, descr.itemsize())
        .map_err(|error| PyTypeError::new_err(format!("dtype {descr}: {error}")))
}

fn order_of(order: &str) -> PyResult<Order> {
    match order {
        "C" => Ok(Order::C),
        "F" => Ok(Order::F),
        other => Err(PyValueError::new_err(format!("order is '{other}'; expected 'C' or 'F'"))),
    }
}

fn shape_of(shape: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let bad = || {
        let shown = shape.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
        PyTypeError::new_err(format!("shape is {shown}; expected an integer or a sequence of integers >= 0"))
    };
    shape.extract::<usize>().map(|n| vec![n]).or_else(|_| {
        let axes = shape.try_iter().map_err(|_| bad())?;
        axes.map(|axis| axis?.extract().map_err(|_| bad())).collect()
    })
}

impl PyGpuArray {
    fn wrap(array: GpuArray) -> Self {
        Self { array, base: None, allocator: None }
    }

    fn result(py: Python<'_>, result: rtcg::array::Result<GpuArray>) -> PyResult<Self> {
        result.map(Self::wrap).map_err(|error| array_error(py, error))
    }

    /// The memory of the array, where it came from a pool.
    pub(crate) fn pooled_memory<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyPooledDeviceAllocation>> {
        let foreign = self.array.buffer()?.clone().as_any().downcast::<ForeignBuffer>().ok()?;
        foreign.owner.bind(py).clone().cast_into().ok()
    }

    fn order(&self) -> &'static str {
        match self.array.layout().order(self.array.dtype().itemsize()) {
            Some(Order::F) => "F",
            _ => "C",
        }
    }

    /// `self op other`, or `other op self`; `None` when `other` is nothing arrays combine with.
    fn binary(
        &self,
        py: Python<'_>,
        op: BinaryOp,
        other: &Bound<'_, PyAny>,
        reflected: bool,
    ) -> PyResult<Option<Self>> {
        if let Ok(other) = other.cast::<PyGpuArray>() {
            let other = &other.get().array;
            let result = py.detach(|| self.array.binary(op, other));
            return Self::result(py, result).map(Some);
        }
        let Some(scalar) = scalar_of(other)? else { return Ok(None) };
        let result = py.detach(|| self.array.binary_scalar(op, scalar, reflected));
        Self::result(py, result).map(Some)
    }

    fn in_place(&self, py: Python<'_>, op: BinaryOp, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let result = if let Ok(other) = other.cast::<PyGpuArray>() {
            let other = &other.get().array;
            py.detach(|| self.array.binary_in_place(op, other))
        } else if let Some(scalar) = scalar_of(other)? {
            py.detach(|| self.array.binary_scalar_in_place(op, scalar))
        } else {
            let kind = other.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{} of a GPUArray in place with a {kind}", op.name())));
        };
        result.map_err(|error| array_error(py, error))
    }
}

/// A Python or NumPy scalar; `None` for anything else.
fn scalar_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    if object.is_instance(GENERIC.import(py, "numpy", "generic")?)? {
        let dtype = dtype_of(py, &object.getattr("dtype")?)?;
        return Ok(weak_scalar(&object.call_method0("item")?)?.map(|value| Scalar::Strong(dtype, value)));
    }
    Ok(weak_scalar(object)?.map(Scalar::Weak))
}

fn weak_scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<WeakScalar>> {
    Ok(Some(if let Ok(value) = object.cast::<PyBool>() {
        WeakScalar::Bool(value.is_true())
    } else if object.cast::<PyInt>().is_ok() {
        WeakScalar::Int(match object.extract::<i64>() {
            Ok(value) => value.into(),
            Err(_) => object.extract::<u64>()?.into(),
        })
    } else if object.cast::<PyFloat>().is_ok() {
        WeakScalar::Float(object.extract()?)
    } else if let Ok(value) = object.cast::<PyComplex>() {
        WeakScalar::Complex(value.getattr("real")?.extract()?, value.getattr("imag")?.extract()?)
    } else {
        return Ok(None);
    }))
}

/// A silent wrong answer would be worse than none.
fn not_available(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is not available in this version; use the host copy that .get() returns"))
}

fn or_not_implemented(py: Python<'_>, result: Option<PyGpuArray>) -> PyResult<Bound<'_, PyAny>> {
    match result {
        Some(array) => Ok(Bound::new(py, array)?.into_any()),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

#[pymethods]
impl PyGpuArray {
    /// NumPy's scalars leave operators to this class,
    #[classattr]
    fn __array_priority__() -> u32 {
        100
    }

    /// and so do its arrays.
    #[classattr]
    fn __array_ufunc__(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<bool> {
        let _ = (other, op);
        Err(not_available("comparison of GPUArrays"))
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(not_available("the truth value of a GPUArray"))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __array__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let _ = (args, kwargs);
        Err(not_available("implicit conversion of a GPUArray to a NumPy array"))
    }

    fn __hash__(&self) -> PyResult<u64> {
        Err(PyTypeError::new_err("unhashable type: 'GPUArray'"))
    }

    fn __add__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Add, other, false)?)
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Add, other, true)?)
    }

    fn __iadd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        self.in_place(py, BinaryOp::Add, other)
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Subtract, other, false)?)
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Subtract, other, true)?)
    }

    fn __isub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        self.in_place(py, BinaryOp::Subtract, other)
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Multiply, other, false)?)
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::Multiply, other, true)?)
    }

    fn __imul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        self.in_place(py, BinaryOp::Multiply, other)
    }

    fn __truediv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::TrueDivide, other, false)?)
    }

    fn __rtruediv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        or_not_implemented(py, self.binary(py, BinaryOp::TrueDivide, other, true)?)
    }

    fn __itruediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        self.in_place(py, BinaryOp::TrueDivide, other)
    }

    #[new]
    #[pyo3(signature = (shape, dtype, allocator = None, base = None, gpudata = None, strides = None, order = "C"))]
    #[allow(clippy::too_many_arguments, reason = "upstream's signature")]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        allocator: Option<Py<PyAny>>,
        base: Option<Py<PyAny>>,
        gpudata: Option<Bound<'_, PyAny>>,
        strides: Option<Vec<isize>>,
        order: &str,
    ) -> PyResult<Self> {
        let (shape, dtype, order) = (shape_of(shape)?, dtype_of(py, dtype)?, order_of(order)?);
        let ctx = array_context()?;
        let nbytes = shape.iter().product::<usize>() * dtype.itemsize();
        let memory = match (gpudata, &allocator) {
            (Some(memory), _) => Some(memory),
            (None, Some(allocator)) if nbytes > 0 => Some(allocator.bind(py).call1((nbytes,))?),
            (None, _) => None,
        };
        let array = match memory {
            Some(memory) => {
                let ptr = memory.extract::<DevicePtr>()?.0;
                let buffer: Arc<dyn Buffer> = Arc::new(ForeignBuffer { ptr, owner: memory.unbind() });
                GpuArray::from_buffer(&ctx, Some(buffer), &shape, dtype, order)
            }
            None => py.detach(|| GpuArray::empty(&ctx, &shape, dtype, order)).map_err(|e| array_error(py, e))?,
        };
        if strides.is_some_and(|strides| strides != array.layout().strides) {
            return Err(PyValueError::new_err("strides: only contiguous arrays are supported so far"));
        }
        Ok(Self { array, base, allocator })
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.array.layout().strides)
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        PyArrayDescr::new(py, self.array.dtype().name())
    }

    #[getter]
    fn size(&self) -> usize {
        self.array.size()
    }

    #[getter]
    fn mem_size(&self) -> usize {
        self.array.size()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.array.nbytes()
    }

    #[getter]
    fn itemsize(&self) -> usize {
        self.array.dtype().itemsize()
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.array.shape().len()
    }

    #[getter]
    fn ptr(&self) -> u64 {
        self.array.device_ptr().unwrap_or(0)
    }

    /// The memory: a `DeviceAllocation`, what the allocator gave, or None without elements.
    #[getter]
    fn gpudata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(buffer) = self.array.buffer() else { return Ok(None) };
        let any = buffer.clone().as_any();
        let any = match any.downcast::<DeviceBuffer>() {
            Ok(own) => return Ok(Some(Bound::new(py, PyDeviceAllocation(own.0.clone()))?.into_any())),
            Err(other) => other,
        };
        Ok(any.downcast::<ForeignBuffer>().ok().map(|foreign| foreign.owner.bind(py).clone()))
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("strides", self.strides(py)?)?;
        interface.set_item("data", (self.ptr(), false))?;
        interface.set_item("typestr", self.array.dtype().typestr())?;
        interface.set_item("stream", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// Overwrites all elements with those of a host array; waits.
    fn set(&self, py: Python<'_>, ary: &Bound<'_, PyAny>) -> PyResult<()> {
        let host = self.host_in_own_order(py, ary)?;
        let buffer = HostBuffer::of(&host, "ary")?;
        // SAFETY: the buffer outlives the copy.
        let bytes = unsafe { buffer.bytes() };
        py.detach(|| self.array.write(bytes)).map_err(|error| array_error(py, error))
    }

    /// A copy on the host: in `ary`, or in a new array of the same memory order; waits.
    #[pyo3(signature = (ary = None))]
    fn get<'py>(&self, py: Python<'py>, ary: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(given) = &ary {
            self.check_target(py, given)?;
        }
        let empty = || py.import("numpy")?.getattr("empty")?.call1((self.shape(py)?, self.dtype(py)?, self.order()));
        let same_order = |given: &Bound<'py, PyAny>| self.strides(py)?.eq(given.getattr("strides")?);
        let direct = match &ary {
            Some(given) if same_order(given)? => given.clone(),
            _ => empty()?,
        };
        let buffer = HostBuffer::writable(&direct, "ary")?;
        // SAFETY: the buffer is writable and outlives the copy.
        let bytes = unsafe { buffer.bytes_mut() };
        py.detach(|| self.array.read(bytes)).map_err(|error| array_error(py, error))?;
        match ary {
            Some(given) if !given.is(&direct) => {
                given.set_item(py.Ellipsis(), direct)?;
                Ok(given)
            }
            _ => Ok(direct),
        }
    }

    /// Binds to a texture reference of its dtype; the offset in elements.
    #[pyo3(signature = (texref, allow_offset = false))]
    fn bind_to_texref<'py>(
        slf: &Bound<'py, Self>,
        texref: &Bound<'py, PyAny>,
        allow_offset: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pycuda._arrays")?.getattr("bind_to_texref")?.call1((slf, texref, allow_offset))
    }

    /// Binds to a texture reference and sets its format; the offset in elements.
    #[pyo3(signature = (texref, channels = 1, allow_double_hack = false, allow_complex_hack = false, allow_offset = false))]
    fn bind_to_texref_ext<'py>(
        slf: &Bound<'py, Self>,
        texref: &Bound<'py, PyAny>,
        channels: i32,
        allow_double_hack: bool,
        allow_complex_hack: bool,
        allow_offset: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (slf, texref, channels, allow_double_hack, allow_complex_hack, allow_offset);
        slf.py().import("pycuda._arrays")?.getattr("bind_to_texref_ext")?.call1(arguments)
    }

    /// Sets every element to `value`; does not wait.
    fn fill<'py>(slf: Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let Some(scalar) = scalar_of(value)? else {
            return Err(PyTypeError::new_err(format!("value is {}; expected a scalar", value.repr()?)));
        };
        slf.get().array.fill(scalar).map_err(|error| array_error(py, error))?;
        Ok(slf)
    }

    /// A copy in new device memory; does not wait.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Self::result(py, py.detach(|| self.array.copy()))
    }

    /// A copy converted to `dtype`; does not wait.
    fn astype(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let dtype = dtype_of(py, dtype)?;
        Self::result(py, py.detach(|| self.array.astype(dtype)))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.array.shape().first().copied().ok_or_else(|| PyTypeError::new_err("len() of an array without axes"))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.get(py, None)?.str()?.to_string())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.get(py, None)?.repr()?.to_string())
    }

    /// Marks the memory as zeros; used by `pycuda.gpuarray.zeros`.
    fn _clear(&self, py: Python<'_>) -> PyResult<()> {
        let Some(ptr) = self.array.device_ptr() else { return Ok(()) };
        self.array.context().runtime().clear(ptr, self.array.nbytes()).map_err(|error| array_error(py, error))
    }
}

impl PyGpuArray {
    /// `ary` checked against size and dtype, laid out like this array.
    fn host_in_own_order<'py>(&self, py: Python<'py>, ary: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let host = py.import("numpy")?.getattr("asarray")?.call1((ary,))?.cast_into::<PyUntypedArray>()?;
        if host.len() != self.array.size() {
            return Err(PyValueError::new_err(format!(
                "ary has shape {:?} and size {}; expected shape {:?} and size {}",
                host.shape(),
                host.len(),
                self.array.shape(),
                self.array.size()
            )));
        }
        let own = self.dtype(py)?;
        if !host.dtype().is_equiv_to(&own) {
            return Err(PyValueError::new_err(format!("ary has dtype {}; expected {own}", host.dtype())));
        }
        let shaped = if host.shape() == self.array.shape() {
            host.into_any()
        } else {
            host.call_method1("reshape", (self.shape(py)?,))?
        };
        let numpy = py.import("numpy")?;
        let kwargs = PyDict::new(py);
        kwargs.set_item("order", self.order())?;
        numpy.getattr("asarray")?.call((shaped,), Some(&kwargs))
    }

    fn check_target(&self, py: Python<'_>, ary: &Bound<'_, PyAny>) -> PyResult<()> {
        let target = ary.cast::<PyUntypedArray>()?;
        if target.shape() != self.array.shape() {
            return Err(PyValueError::new_err(format!(
                "ary has shape {:?}; expected {:?}",
                target.shape(),
                self.array.shape()
            )));
        }
        let own = self.dtype(py)?;
        if !target.dtype().is_equiv_to(&own) {
            return Err(PyTypeError::new_err(format!("ary has dtype {}; expected {own}", target.dtype())));
        }
        Ok(())
    }
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyGpuArray>()?;
    m.add_function(wrap_pyfunction!(clear_array_contexts, m)?)
}
