//! Device pointers as Python passes them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::driver::memory::PyDeviceAllocation;

/// A device address: an integer, a device allocation, anything with `__index__`, or an object
/// with `get_pointer()` (subclasses of `PointerHolderBase`).
#[derive(Clone, Copy)]
pub(crate) struct DevicePtr(pub(crate) u64);

impl<'a, 'py> FromPyObject<'a, 'py> for DevicePtr {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(allocation) = object.cast::<PyDeviceAllocation>() {
            return Ok(DevicePtr(allocation.get().ptr()?));
        }
        if let Ok(address) = object.extract::<u64>() {
            return Ok(DevicePtr(address));
        }
        if let Ok(method) = object.getattr("get_pointer") {
            return method.call0()?.extract().map(DevicePtr);
        }
        if let Ok(memory) = object.getattr("gpudata") {
            return Ok(DevicePtr(memory.extract::<DevicePtr>()?.0));
        }
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("expected a device pointer (an allocation or an integer), got {kind}")))
    }
}
