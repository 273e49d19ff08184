//! Part of `rtcg.tools`: figures of devices and occupancy.

use crate::driver::device::PyDevice;
use crate::driver::launch::function::PyFunction;
use crate::errors::OrRaise;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::driver::{Multiprocessor, OccupancyLimiter};

/// Limits of a multiprocessor.
#[pyclass(name = "Multiprocessor", module = "rtcg._native", frozen)]
struct PyMultiprocessor(Multiprocessor);

#[pymethods]
impl PyMultiprocessor {
    /// The limits of a device, as its driver reports them.
    #[staticmethod]
    fn from_device(device: &PyDevice) -> PyResult<Self> {
        Multiprocessor::from_device(&device.0).or_raise().map(Self)
    }

    /// The limits of a compute capability.
    #[staticmethod]
    fn from_compute_capability(major: u32, minor: u32) -> PyResult<Self> {
        Multiprocessor::from_compute_capability(major, minor).map(Self).ok_or_else(|| {
            PyValueError::new_err(format!("compute capability {major}.{minor} is not known; expected 5.0 or newer"))
        })
    }

    /// The known compute capabilities.
    #[staticmethod]
    fn known_compute_capabilities() -> Vec<(u32, u32)> {
        Multiprocessor::known_capabilities().collect()
    }

    /// All limits by name.
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let limits = PyDict::new(py);
        let this = &self.0;
        for (name, value) in [
            ("max_threads_per_block", this.max_threads_per_block),
            ("warp_size", this.warp_size),
            ("max_warps", this.max_warps),
            ("max_blocks", this.max_blocks),
            ("registers", this.registers),
            ("registers_per_block", this.registers_per_block),
            ("registers_per_thread", this.registers_per_thread),
            ("register_unit", this.register_unit),
            ("partitions", this.partitions),
            ("shared_bytes", this.shared_bytes),
            ("shared_per_block", this.shared_per_block),
            ("shared_per_block_optin", this.shared_per_block_optin),
            ("shared_reserved", this.shared_reserved),
            ("shared_unit", this.shared_unit),
        ] {
            limits.set_item(name, value)?;
        }
        Ok(limits)
    }

    /// `(blocks, warps, occupancy, limited_by)`, the last in PyCUDA's terms.
    fn occupancy(&self, threads: u32, registers: u32, shared_bytes: u32) -> PyResult<(u32, u32, f64, &'static str)> {
        let found = self.0.occupancy(threads, registers, shared_bytes);
        let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let limited_by = match found.limited_by {
            OccupancyLimiter::Blocks => "device",
            OccupancyLimiter::Warps => "warps",
            OccupancyLimiter::Registers => "regs",
            OccupancyLimiter::SharedMemory => "smem",
        };
        Ok((found.blocks, found.warps, found.occupancy, limited_by))
    }
}

/// The number of blocks of a kernel that fit on one multiprocessor, as the driver computes it.
#[pyfunction]
#[pyo3(signature = (function, threads, shared_bytes = 0))]
fn max_active_blocks(function: &PyFunction, threads: u32, shared_bytes: usize) -> PyResult<u32> {
    function.function.max_active_blocks(threads, shared_bytes).or_raise()
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyMultiprocessor>()?;
    m.add_function(wrap_pyfunction!(max_active_blocks, m)?)
}
