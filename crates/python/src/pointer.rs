//! Device pointers as Python passes them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::driver::memory::PyDeviceAllocation;
use crate::errors::LogicError;

/// A device address: an integer, a device allocation, anything with `__index__`, or an object
/// with `get_pointer()` (subclasses of `PointerHolderBase`).
#[derive(Clone, Copy)]
pub(crate) struct DevicePtr(pub(crate) u64, Room);

/// The number of bytes behind an address, where it is known.
type Room = Option<usize>;

impl DevicePtr {
    /// An error if fewer than `nbytes` are known to be there. The driver itself sees only accesses
    /// outside all memory, not those that reach into a neighbour.
    pub(crate) fn check(self, call: &str, nbytes: usize) -> PyResult<()> {
        match self.1 {
            Some(room) if nbytes > room => Err(LogicError::new_err(format!(
                "{call} failed: invalid argument - {nbytes} bytes do not fit into an allocation of {room} bytes"
            ))),
            _ => Ok(()),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for DevicePtr {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(allocation) = object.cast::<PyDeviceAllocation>() {
            let memory = allocation.get();
            return Ok(DevicePtr(memory.ptr()?, Some(memory.0.nbytes())));
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
        let kind = object.get_type().name()?;
        Err(PyTypeError::new_err(format!("expected a device pointer (an allocation or an integer), got {kind}")))
    }
}
