//! The sensors of a device, for use in searches.

use rtcg_driver::{Device, NvmlDevice};
use rtcg_tune::{Sensor, Sensors};
use std::sync::Arc;

struct DeviceSensors(NvmlDevice);

impl Sensors for DeviceSensors {
    fn read(&self, sensor: Sensor) -> Option<f64> {
        match sensor {
            Sensor::Clock => self.0.sm_clock_mhz(),
            Sensor::Power => self.0.power_watts(),
            Sensor::Energy => self.0.energy_joules(),
            Sensor::Temperature => self.0.temperature_celsius(),
            _ => None,
        }
    }
}

/// Opens the sensors of a device through NVML, for [`rtcg_tune::TunerOptions::sensors`].
///
/// ```
/// use rtcg::tune::{Objective, Sensor, TunerOptions, device_sensors};
///
/// let ctx = rtcg::Context::new()?;
/// let sensors = device_sensors(&ctx.device()).ok();
/// let objective = if sensors.is_some() { Objective::Energy } else { Objective::Time };
/// let options = TunerOptions { sensors, objective, observers: vec![Sensor::Clock], ..TunerOptions::default() };
/// # let _ = options;
/// # Ok::<(), rtcg::Error>(())
/// ```
///
/// # Errors
/// A message that says why there are none.
pub fn device_sensors(device: &Device) -> Result<Arc<dyn Sensors>, String> {
    Ok(Arc::new(DeviceSensors(NvmlDevice::of_device(device)?)))
}
