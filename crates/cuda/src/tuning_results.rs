//! Where tuning results are stored, and which device they belong to.

use rtcg_cuda_sys::NvrtcTable;
use rtcg_driver::Device;
use rtcg_driver::sys::{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT};
use rtcg_tune::store::{DeviceKey, Store};
use std::path::PathBuf;

/// The folder of the user's results: `RTCG_TUNING_DIR` from the environment, else `rtcg/tuning` in the user's data
/// folder; `None` if neither is known.
pub fn default_results_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named("RTCG_TUNING_DIR") {
        return Some(folder);
    }
    let base = if cfg!(windows) {
        named("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        named("HOME")?.join("Library/Application Support")
    } else {
        named("XDG_DATA_HOME").or_else(|| Some(named("HOME")?.join(".local/share")))?
    };
    Some(base.join("rtcg").join("tuning"))
}

/// The store in [`default_results_folder`].
pub fn results_store() -> Option<Store> {
    default_results_folder().map(|folder| Store::new(folder, Vec::new()))
}

/// The key by which results of a device are found. The virtual GPU is a back end of its own, whatever compute
/// capability it reports. The compiler's version is part of the key once NVRTC has been loaded.
///
/// # Errors
/// When a driver call fails.
pub fn device_key(device: &Device) -> rtcg_driver::Result<DeviceKey> {
    let (major, minor) = device.compute_capability()?;
    Ok(DeviceKey {
        backend: if device.is_virtual() { "virtual" } else { "cuda" }.to_owned(),
        name: device.name()?,
        compute_capability: 10 * major + minor,
        multiprocessors: device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(0) as u32,
        memory_clock_khz: device
            .attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
            .ok()
            .and_then(|khz| u32::try_from(khz).ok().filter(|&khz| khz > 0)),
        driver: rtcg_driver::driver_version().ok().map(|version| format!("{}.{}", version / 1000, version % 1000 / 10)),
        compiler: NvrtcTable::loaded()
            .and_then(NvrtcTable::version)
            .map(|(major, minor)| format!("NVRTC {major}.{minor}")),
    })
}
