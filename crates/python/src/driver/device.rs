//! `Device`, and the functions that need none.

use crate::driver::context::PyContext;
use crate::driver::fastcall::{add_getters, raw_result};
use crate::errors::OrRaise;
use crate::integer::int;
use crate::resource_lifetime::{FilledByInit, LateInit, Ready, ReadyArgument, impl_new_for_init};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::driver::{self, Device, lock_ignoring_poison, sys};
use std::ffi::c_void;
use std::sync::Mutex;

/// A device, identified by ordinal or PCI bus id. Real devices come first, then virtual ones.
///
/// Every attribute of `rtcg.driver.device_attribute` is also a property with its lower-case name, such as
/// ``device.warp_size``.
#[pyclass(name = "Device", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyDevice(pub(crate) LateInit<Device>);

impl_new_for_init!(PyDevice, "(ordinal)");

impl From<Device> for PyDevice {
    fn from(device: Device) -> Self {
        Self(LateInit::new(device))
    }
}

impl PyDevice {
    /// The device's object, the same one at every call: making one would be most of the cost of asking for it.
    pub(crate) fn cached_py_device(py: Python<'_>, device: Device) -> PyResult<Py<Self>> {
        static PY_DEVICES: Mutex<Vec<(Device, Py<PyDevice>)>> = Mutex::new(Vec::new());
        let mut shared = lock_ignoring_poison(&PY_DEVICES);
        if let Some((_, object)) = shared.iter().find(|(known, _)| *known == device) {
            return Ok(object.clone_ref(py));
        }
        let object = Py::new(py, Self::from(device))?;
        shared.push((device, object.clone_ref(py)));
        Ok(object)
    }
}

/// In Python, as in PyCUDA, devices are there after `init()`.
fn check_initialized(call: &'static str) -> PyResult<()> {
    if rtcg::driver::is_initialized() {
        return Ok(());
    }
    let code = rtcg::driver::sys::CUresult::CUDA_ERROR_NOT_INITIALIZED;
    Err(rtcg::driver::Error::new(call, code, "call init() first")).or_raise()
}

#[pymethods]
impl PyDevice {
    fn __init__(&self, ordinal: &Bound<'_, PyAny>) -> PyResult<()> {
        check_initialized("cuDeviceGet")?;
        if let Ok(number) = ordinal.extract::<usize>() {
            return self.0.init_value(Device::new(number).or_raise()?);
        }
        if let Ok(bus_id) = ordinal.extract::<String>() {
            return self.0.init_value(Device::from_pci_bus_id(&bus_id).or_raise()?);
        }
        let given = crate::errors::shown(ordinal);
        Err(PyTypeError::new_err(format!("device is {given}; expected an ordinal (int >= 0) or a PCI bus id (str)")))
    }

    /// Number of devices, real and virtual.
    #[staticmethod]
    fn count() -> PyResult<usize> {
        check_initialized("cuDeviceGetCount")?;
        Device::count().or_raise()
    }

    /// The name of the device, such as ``NVIDIA H200``.
    fn name(slf: Ready<'_, Self>) -> PyResult<String> {
        slf.0.name().or_raise()
    }

    /// The PCI bus id, such as ``0000:01:00.0``, which `Device` also accepts.
    fn pci_bus_id(slf: Ready<'_, Self>) -> PyResult<String> {
        slf.0.pci_bus_id().or_raise()
    }

    /// ``(major, minor)``.
    fn compute_capability(slf: Ready<'_, Self>) -> PyResult<(u32, u32)> {
        slf.0.compute_capability().or_raise()
    }

    /// The memory of the device in bytes.
    fn total_memory(slf: Ready<'_, Self>) -> PyResult<usize> {
        slf.0.total_memory().or_raise()
    }

    /// The value of an attribute: an int, or a `compute_mode` for COMPUTE_MODE.
    fn get_attribute<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        #[pyo3(from_py_with = int)] attr: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let attribute = sys::CUdevice_attribute(attr);
        let value = slf.0.attribute(attribute).or_raise()?;
        if attribute == sys::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE {
            return py.import("rtcg.driver")?.getattr("compute_mode")?.call1((value,));
        }
        Ok(value.into_pyobject(py)?.into_any())
    }

    /// All attributes that the driver knows, as a dict by `device_attribute`.
    fn get_attributes<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let class = py.import("rtcg.driver")?.getattr("device_attribute")?;
        let all = PyDict::new(py);
        for member in class.getattr("names")?.call_method0("values")?.try_iter()? {
            let member = member?;
            if let Ok(value) = Self::get_attribute(slf, py, member.extract()?) {
                all.set_item(member, value)?;
            }
        }
        Ok(all)
    }

    /// Make a context and push it on the calling thread's stack, which makes it current.
    ///
    /// `flags` are from `ctx_flags`. The program must pop or detach it; `rtcg.autoinit` does so at exit.
    #[pyo3(signature = (flags = 0))]
    fn make_context(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] flags: u32,
    ) -> PyResult<PyContext> {
        py.detach(|| slf.0.make_context(flags)).or_raise().map(PyContext::from_pushed_context)
    }

    /// The `ctx_flags` of the primary context. Set them before anything retains it; a driver may refuse it later.
    #[getter]
    fn primary_context_flags(slf: Ready<'_, Self>) -> PyResult<u32> {
        slf.0.primary_context_state().or_raise().map(|(flags, _)| flags)
    }

    #[setter]
    fn set_primary_context_flags(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        slf.0.set_primary_context_flags(flags).or_raise()
    }

    /// Whether anything in this process has retained the primary context.
    #[getter]
    fn is_primary_context_active(slf: Ready<'_, Self>) -> PyResult<bool> {
        slf.0.primary_context_state().or_raise().map(|(_, is_active)| is_active)
    }

    /// Retain the primary context, which other CUDA libraries share, without pushing it.
    fn retain_primary_context(slf: Ready<'_, Self>, py: Python<'_>) -> PyResult<PyContext> {
        py.detach(|| slf.0.retain_primary_context()).or_raise().map(PyContext::new)
    }

    /// Whether kernels on this device can access memory of `other`, once `Context.enable_peer_access` has allowed
    /// it.
    fn can_access_peer(slf: Ready<'_, Self>, other: ReadyArgument<'_, PyDevice>) -> PyResult<bool> {
        slf.0.can_access_peer(&other.0).or_raise()
    }

    /// The value of a `p2p_attribute` between this device and `other` (an addition to PyCUDA).
    ///
    /// Raises `LogicError` if both are the same device or belong to different drivers.
    fn get_p2p_attribute(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = int)] attribute: u32,
        other: ReadyArgument<'_, PyDevice>,
    ) -> PyResult<i32> {
        slf.0.p2p_attribute(sys::CUdevice_P2PAttribute(attribute), &other.0).or_raise()
    }

    /// Whether this is a virtual GPU (an addition to PyCUDA).
    #[getter]
    fn is_virtual(slf: Ready<'_, Self>) -> bool {
        slf.0.is_virtual()
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        crate::driver::notebook_html("device_html", slf)
    }

    fn __eq__(slf: Ready<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyDevice>().is_ok_and(|other| other.get().is_filled() && *other.get().0 == *slf.0)
    }

    fn __hash__(slf: Ready<'_, Self>) -> u64 {
        slf.0.ordinal() as u64
    }

    fn __repr__(slf: Ready<'_, Self>) -> String {
        let name = slf.0.name().unwrap_or_default();
        format!("<rtcg.driver.Device {}: {name}>", slf.0.ordinal())
    }
}

/// Find the devices. Further calls do nothing; returns None.
#[pyfunction]
#[pyo3(signature = (flags = 0))]
fn init(py: Python<'_>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
    py.detach(|| driver::init(flags)).or_raise()
}

/// The CUDA version of the driver: an int such as 13000; works before `init`.
#[pyfunction]
fn get_driver_version() -> PyResult<u32> {
    driver::driver_version().or_raise()
}

/// Set the files that the driver's old profiler reads and writes; `output_mode` is from `profiler_output_mode`.
///
/// Current drivers refuse the call: `LogicError`, "not supported".
#[pyfunction]
fn initialize_profiler(
    config_file: &str,
    output_file: &str,
    #[pyo3(from_py_with = int)] output_mode: u32,
) -> PyResult<()> {
    driver::profiler::initialize(config_file, output_file, sys::CUoutput_mode(output_mode)).or_raise()
}

/// Start a profiler's recording (such as ``nsys profile --capture-range=cudaProfilerApi``); returns None.
///
/// Without a profiler the call does nothing.
#[pyfunction]
fn start_profiler() -> PyResult<()> {
    driver::profiler::start().or_raise()
}

/// Stop the recording that `start_profiler` started; returns None. Work launched before is recorded to its end.
#[pyfunction]
fn stop_profiler() -> PyResult<()> {
    driver::profiler::stop().or_raise()
}

/// Report notices of the driver as warnings. `rtcg.driver` calls this once.
#[pyfunction]
fn set_notice_handler(handler: Py<PyAny>) {
    driver::set_notice_hook(move |text| {
        Python::attach(|py| {
            if let Err(error) = handler.call1(py, (text,)) {
                error.write_unraisable(py, None);
            }
        });
    });
}

/// A property that is a device attribute.
unsafe extern "C" fn get_attribute_c(slf: *mut PyObject, number: *mut c_void) -> *mut PyObject {
    // SAFETY: called by the interpreter only, with an object of the class.
    let (py, slf) = unsafe { (Python::assume_attached(), Borrowed::from_ptr(Python::assume_attached(), slf)) };
    let device = slf.cast::<PyDevice>().map_err(PyErr::from);
    let device = device.as_deref().map_err(|error| error.clone_ref(py)).and_then(Ready::try_from);
    raw_result(py, device.and_then(|device| PyDevice::get_attribute(device, py, number.addr() as u32)))
}

/// Any device attribute by its lower-case name is a property: `device.warp_size`.
fn add_attribute_getters(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let names = sys::CUdevice_attribute::NAMED_CONSTANTS.iter().filter_map(|(name, attribute)| {
        let name = name.strip_prefix("CU_DEVICE_ATTRIBUTE_")?.to_lowercase();
        (name != "max").then_some((name, attribute.0))
    });
    add_getters(&m.py().get_type::<PyDevice>(), get_attribute_c, "device_attribute", names)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyDevice>()?;
    add_attribute_getters(m)?;
    add_contents! { m,
        functions init, get_driver_version, initialize_profiler, start_profiler, stop_profiler, set_notice_handler;
    }
}
