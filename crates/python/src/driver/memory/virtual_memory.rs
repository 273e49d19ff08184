//! Virtual memory management: `AddressRange`, `PhysicalMemory`, `Mapping`.

use crate::driver::device::PyDevice;
use crate::driver::memory::device_or_current;
use crate::enums::enum_member;
use crate::errors::{LogicError, OrRaise};
use crate::integer::int;
use crate::resource_lifetime::{
    DropDetached, FilledByInit, Ready, ReadyArgument, filled_object, impl_from_core, impl_new_for_init,
    resource_methods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::driver::memory::{AccessRights, AddressRange, Mapping, PhysicalMemory, mem_granularity};
use std::os::fd::{BorrowedFd, IntoRawFd};

/// A descriptor of the caller's.
pub(crate) fn borrow_fd<'a>(fd: i32) -> PyResult<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(PyValueError::new_err(format!("fd is {fd}; expected a file descriptor")));
    }
    // SAFETY: it is used for one call only, and the driver refuses a number that is no open file.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Rights by the numbers of `mem_access_flags`.
pub(crate) fn access_rights_from_flags(flags: u32) -> PyResult<AccessRights> {
    AccessRights::from_flags(flags)
        .ok_or_else(|| PyValueError::new_err(format!("flags is {flags}; expected a member of mem_access_flags")))
}

/// The granularity in bytes of sizes and offsets of physical memory on a device: an int.
#[pyfunction]
#[pyo3(signature = (device = None))]
fn mem_get_granularity(device: Option<&Bound<'_, PyDevice>>) -> PyResult<usize> {
    mem_granularity(&device_or_current(device)?).or_raise()
}

/// Physical memory of a device without an address, released with the last reference.
///
/// Parameters
/// ----------
/// size : int
///     Bytes; rounded up to `mem_get_granularity`.
/// device : Device, optional
///     Default: the device of the current context.
/// exportable : bool
///     Whether it can be exported to another process.
#[pyclass(name = "PhysicalMemory", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyPhysicalMemory(DropDetached<PhysicalMemory>);

impl_from_core!(PyPhysicalMemory over PhysicalMemory);
impl_new_for_init!(PyPhysicalMemory, "(size, device=None, exportable=False)");

#[pymethods]
impl PyPhysicalMemory {
    #[pyo3(signature = (size, device = None, exportable = false))]
    fn __init__(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] size: usize,
        device: Option<&Bound<'_, PyDevice>>,
        exportable: bool,
    ) -> PyResult<()> {
        let device = device_or_current(device)?;
        self.0.init_value(py.detach(|| PhysicalMemory::new(device, size, exportable)).or_raise()?)
    }

    /// Memory of `size` bytes that another process exported as a file descriptor; the caller keeps and closes it.
    #[staticmethod]
    #[pyo3(signature = (fd, size, device = None))]
    fn from_fd(
        #[pyo3(from_py_with = int)] fd: i32,
        #[pyo3(from_py_with = int)] size: usize,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<Self> {
        PhysicalMemory::import(device_or_current(device)?, borrow_fd(fd)?, size).or_raise().map(Self::from)
    }

    /// The memory as a file descriptor for another process; the caller closes it.
    fn export_fd(slf: Ready<'_, Self>) -> PyResult<i32> {
        slf.0.export().or_raise().map(IntoRawFd::into_raw_fd)
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(slf: Ready<'_, Self>) -> usize {
        slf.0.nbytes()
    }

    /// The device that owns the memory.
    #[getter]
    fn device(slf: Ready<'_, Self>) -> PyDevice {
        PyDevice::from(slf.0.device())
    }
}

/// A reserved range of addresses, freed with the last reference to it and to its mappings.
///
/// Parameters
/// ----------
/// size : int
///     Bytes; rounded up to `mem_get_granularity`.
/// alignment : int
///     A power of two; 0: the driver's choice.
/// device : Device, optional
///     The device whose driver reserves them; default: that of the current context.
#[pyclass(name = "AddressRange", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyAddressRange(DropDetached<AddressRange>);

impl_from_core!(PyAddressRange over AddressRange);
impl_new_for_init!(PyAddressRange, "(size, alignment=0, device=None)");

#[pymethods]
impl PyAddressRange {
    #[pyo3(signature = (size, alignment = 0, device = None))]
    fn __init__(
        &self,
        #[pyo3(from_py_with = int)] size: usize,
        #[pyo3(from_py_with = int)] alignment: usize,
        device: Option<&Bound<'_, PyDevice>>,
    ) -> PyResult<()> {
        self.0.init_value(AddressRange::new(&device_or_current(device)?, size, alignment).or_raise()?)
    }

    /// Map memory at `offset` bytes into the range, and give its device, or `devices`, access to it.
    #[pyo3(signature = (memory, offset = 0, devices = None))]
    fn map(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        memory: ReadyArgument<'_, PyPhysicalMemory>,
        #[pyo3(from_py_with = int)] offset: usize,
        devices: Option<Vec<Bound<'_, PyDevice>>>,
    ) -> PyResult<PyMapping> {
        let devices = match devices {
            Some(devices) => devices.iter().map(|device| Ok(*filled_object(device)?.0)).collect::<PyResult<_>>()?,
            None => vec![memory.0.device()],
        };
        let memory = &memory.0;
        let mapping = py.detach(|| {
            let mapping = slf.0.map(offset, memory)?;
            devices.iter().try_for_each(|device| mapping.set_access(device, AccessRights::ReadWrite))?;
            Ok(mapping)
        });
        mapping.or_raise().map(PyMapping::from)
    }

    /// The first address.
    #[getter]
    fn ptr(slf: Ready<'_, Self>) -> u64 {
        slf.0.ptr()
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(slf: Ready<'_, Self>) -> usize {
        slf.0.nbytes()
    }
}

/// Memory mapped to addresses: a device pointer. Made by `AddressRange.map`.
#[pyclass(name = "Mapping", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyMapping(pub(crate) DropDetached<Mapping>);

impl_from_core!(PyMapping over Mapping);

impl PyMapping {
    pub(crate) fn ptr(&self) -> PyResult<u64> {
        if self.0.is_unmapped() {
            return Err(LogicError::new_err("mapping used after unmap()"));
        }
        Ok(self.0.ptr())
    }
}

impl FilledByInit for PyMapping {}

resource_methods! {
    PyMapping, free = unmap, is_freed = |mapping| mapping.is_unmapped(), release = |mapping| mapping.unmap();

    /// Set the access of a device to the mapped memory, by `mem_access_flags`.
    fn set_access(&self, device: &Bound<'_, PyDevice>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        self.0.set_access(&filled_object(device)?.0, access_rights_from_flags(flags)?).or_raise()
    }

    /// The access of a device to the mapped memory, from `mem_access_flags`.
    fn get_access<'py>(&self, py: Python<'py>, device: &Bound<'py, PyDevice>) -> PyResult<Bound<'py, PyAny>> {
        let rights = self.0.access(&filled_object(device)?.0).or_raise()?;
        enum_member(py, "mem_access_flags", rights.to_driver_flags().0)
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    fn __int__(&self) -> PyResult<u64> {
        self.ptr()
    }

    fn __index__(&self) -> PyResult<u64> {
        self.ptr()
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes PyPhysicalMemory, PyAddressRange, PyMapping; functions mem_get_granularity; }
}
