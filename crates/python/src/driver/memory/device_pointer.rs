//! Device pointers as Python passes them.

use crate::resource_lifetime::filled_object;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use rtcg::driver::Stream;

use crate::array_object::PyGpuArray;
use crate::driver::graph::capture::retain_in_captured_graph;
use crate::driver::memory::pool::{self, PyPooledDeviceAllocation};
use crate::driver::memory::virtual_memory::PyMapping;
use crate::driver::memory::{PyDeviceAllocation, PyIpcMemory, PyManagedAllocation};
use crate::errors::LogicError;

/// A device address: an integer, a device allocation, anything with `__index__`, or an object
/// with `get_pointer()` (subclasses of `PointerHolderBase`).
#[derive(Clone, Copy)]
pub(crate) struct DevicePtr(pub(crate) u64, ByteCapacity);

/// The number of bytes behind an address, where it is known.
type ByteCapacity = Option<usize>;

impl DevicePtr {
    /// An error if fewer than `nbytes` are known to be there. The driver itself sees only accesses
    /// outside all memory, not those that reach into a neighbour. `name` is that of the argument.
    pub(crate) fn check_argument_bytes(self, call: &str, name: &str, nbytes: usize) -> PyResult<()> {
        match self.1 {
            Some(room) if nbytes > room => Err(LogicError::new_err(format!(
                "{call} failed: invalid argument - {name}{nbytes} bytes do not fit into an allocation of {room} bytes"
            ))),
            _ => Ok(()),
        }
    }

    /// [`DevicePtr::check_argument_bytes`] of a call with one address.
    pub(crate) fn check_bytes(self, call: &str, nbytes: usize) -> PyResult<()> {
        self.check_argument_bytes(call, "", nbytes)
    }

    /// The number of bytes behind it, where that is known.
    pub(crate) fn byte_capacity(self) -> Option<usize> {
        self.1
    }
}

/// Address and size of memory of this package's own classes; `None` for other objects.
pub(crate) fn address_of_rtcg_memory(object: &Bound<'_, PyAny>) -> PyResult<Option<(u64, usize)>> {
    if let Ok(memory) = object.cast::<PyDeviceAllocation>() {
        let memory = memory.get();
        return Ok(Some((memory.ptr()?, memory.0.nbytes())));
    }
    if let Ok(memory) = object.cast::<PyPooledDeviceAllocation>() {
        let memory = memory.get();
        return Ok(Some((memory.ptr()?, memory.0.nbytes())));
    }
    if let Ok(memory) = object.cast::<PyManagedAllocation>() {
        let memory = filled_object(memory)?;
        return Ok(Some((memory.ptr()?, memory.0.allocation().nbytes())));
    }
    if let Ok(memory) = object.cast::<PyIpcMemory>() {
        let memory = filled_object(memory)?;
        return Ok(Some((memory.ptr()?, memory.0.allocation().nbytes())));
    }
    if let Ok(memory) = object.cast::<PyMapping>() {
        let memory = memory.get();
        return Ok(Some((memory.ptr()?, memory.0.nbytes())));
    }
    Ok(None)
}

impl<'a, 'py> FromPyObject<'a, 'py> for DevicePtr {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_exact_instance_of::<PyInt>()
            && let Ok(address) = object.extract::<u64>()
        {
            return Ok(DevicePtr(address, None));
        }
        if let Some((address, nbytes)) = address_of_rtcg_memory(&object)? {
            return Ok(DevicePtr(address, Some(nbytes)));
        }
        if let Ok(address) = object.extract::<u64>() {
            return Ok(DevicePtr(address, None));
        }
        if let Ok(method) = object.getattr("get_pointer") {
            return Ok(DevicePtr(method.call0()?.extract()?, None));
        }
        if let Ok(memory) = object.getattr("gpudata") {
            return memory.extract::<DevicePtr>();
        }
        let (shown, greatest) = (crate::errors::shown(&object), u64::MAX);
        Err(PyTypeError::new_err(format!(
            "{shown} is no device pointer; expected an allocation, or an integer from 0 to {greatest}"
        )))
    }
}

/// A device address with the object that stands for it.
pub(crate) struct DeviceMemory<'a, 'py> {
    pub(crate) ptr: DevicePtr,
    object: Borrowed<'a, 'py, PyAny>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for DeviceMemory<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self { ptr: object.extract()?, object })
    }
}

impl DeviceMemory<'_, '_> {
    /// The object.
    pub(crate) fn owner_object(&self) -> Py<PyAny> {
        self.object.to_owned().unbind()
    }

    /// Tells a pool which stream uses its memory.
    pub(crate) fn used_in(&self, stream: Option<&Stream>) {
        record_pointer_use(&self.object, stream);
    }
}

/// Tells graphs and pools that work in `stream` uses the memory of `object`.
pub(crate) fn record_pointer_use(object: &Bound<'_, PyAny>, stream: Option<&Stream>) {
    retain_in_captured_graph(stream, object);
    record_pool_use(object, stream);
}

fn record_pool_use(object: &Bound<'_, PyAny>, stream: Option<&Stream>) {
    if let Ok(memory) = object.cast::<PyPooledDeviceAllocation>() {
        memory.get().0.used_in(stream);
    } else if let Ok(array) = object.cast::<PyGpuArray>() {
        array.get().used_in(stream);
    }
}

/// Tells graphs and pools which objects a kernel in `stream` uses, where there are any.
pub(crate) fn record_argument_uses(args: &Bound<'_, PyTuple>, stream: Option<&Stream>) {
    retain_in_captured_graph(stream, args.as_any());
    if pool::is_pool_in_use() {
        args.iter_borrowed().for_each(|arg| record_pool_use(&arg, stream));
    }
}
