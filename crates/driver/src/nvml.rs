//! The sensors of a device through NVML: clock, power, energy and temperature.
//!
//! Establishes: a handle that exists came from an initialised NVML, for the device with the same PCI bus id.

use crate::context::Device;
use rtcg_cuda_sys::c_uint;
use rtcg_cuda_sys::nvml::{NVML_CLOCK_SM, NVML_TEMPERATURE_GPU, NvmlTable, nvmlDevice_t, nvmlReturn_t};
use std::ffi::CString;

/// A device as NVML knows it. Readings cover the whole GPU, even if only one of its instances (MIG) is used.
///
/// ```
/// use rtcg_driver::{Device, NvmlDevice};
///
/// rtcg_driver::init(0)?;
/// match NvmlDevice::of_device(&Device::new(0)?) {
///     Ok(nvml) => println!("{:?} MHz, {:?} W", nvml.sm_clock_mhz(), nvml.power_watts()),
///     Err(reason) => println!("no readings: {reason}"),
/// }
/// # Ok::<(), rtcg_driver::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NvmlDevice {
    table: &'static NvmlTable,
    handle: nvmlDevice_t,
}

// SAFETY: NVML's functions may be called from any thread, and its handles belong to the process.
unsafe impl Send for NvmlDevice {}
// SAFETY: NVML locks what its threads share, and a handle is never changed.
unsafe impl Sync for NvmlDevice {}

impl NvmlDevice {
    /// Finds the device with the PCI bus id of `device`.
    ///
    /// # Errors
    /// A message that says why there is none: NVML is missing, or does not know the device.
    pub fn of_device(device: &Device) -> Result<Self, String> {
        let table = NvmlTable::load().map_err(|error| error.to_string())?;
        let bus_id = device.pci_bus_id().map_err(|error| error.to_string())?;
        let name = CString::new(bus_id.clone()).unwrap_or_default();
        let mut handle = nvmlDevice_t::null();
        // SAFETY: the name is NUL-terminated, the handle is written.
        let code = unsafe { table.nvmlDeviceGetHandleByPciBusId_v2(name.as_ptr(), &raw mut handle) };
        if code.is_success() {
            return Ok(Self { table, handle });
        }
        Err(format!("NVML does not know the device {bus_id}: {}", table.error_string(code)))
    }

    /// The clock frequency of the multiprocessors.
    pub fn sm_clock_mhz(&self) -> Option<f64> {
        // SAFETY: the handle is NVML's, one number is written.
        self.read(|value: &mut c_uint| unsafe {
            self.table.nvmlDeviceGetClockInfo(self.handle, NVML_CLOCK_SM, &raw mut *value)
        })
        .map(f64::from)
    }

    /// The power draw; on most devices averaged over the last second.
    pub fn power_watts(&self) -> Option<f64> {
        // SAFETY: the handle is of this library, one value is written.
        self.read(|value: &mut c_uint| unsafe { self.table.nvmlDeviceGetPowerUsage(self.handle, &raw mut *value) })
            .map(|milliwatts| f64::from(milliwatts) * 1e-3)
    }

    /// The energy consumed since the device's driver was loaded. Devices before Volta do not report it.
    pub fn energy_joules(&self) -> Option<f64> {
        // SAFETY: the handle is of this library, one value is written.
        self.read(|value: &mut u64| unsafe {
            self.table.nvmlDeviceGetTotalEnergyConsumption(self.handle, &raw mut *value)
        })
        .map(|millijoules| millijoules as f64 * 1e-3)
    }

    /// The temperature of the die.
    pub fn temperature_celsius(&self) -> Option<f64> {
        // SAFETY: the handle is of this library, one value is written.
        self.read(|value: &mut c_uint| unsafe {
            self.table.nvmlDeviceGetTemperature(self.handle, NVML_TEMPERATURE_GPU, &raw mut *value)
        })
        .map(f64::from)
    }

    /// What a call writes; `None` where the device or NVML has no such reading.
    fn read<T: Default>(&self, call: impl FnOnce(&mut T) -> nvmlReturn_t) -> Option<T> {
        let mut value = T::default();
        call(&mut value).is_success().then_some(value)
    }
}
