//! The drivers that this process uses, and the list of their devices: real ones first.
//!
//! `RTCG_VIRTUAL_DEVICES=n` adds n virtual devices to the real ones. Without it there is one virtual device if there is
//! no real one, and a notice tells the user so once. Without the feature `vgpu` there are real devices or an error.

use super::Device;
use crate::error::{Error, Result, is_kernel_fault};
use crate::{process_state, virtual_gpu};
use rtcg_cuda_sys::{CUresult, DriverTable};
use rtcg_hal::lock_ignoring_poison;
use std::sync::{Arc, Mutex, Once, OnceLock};

/// The drivers in use and their devices.
#[derive(Debug)]
pub(crate) struct LoadedDrivers {
    pub(crate) tables: Vec<&'static DriverTable>,
    pub(crate) devices: Vec<Device>,
}

static LOADED_DRIVERS: OnceLock<LoadedDrivers> = OnceLock::new();

/// Receives a text meant for the user.
type NoticeHook = Arc<dyn Fn(&str) + Send + Sync>;
/// Receives an error that a drop met and could not return.
type CleanupErrorHook = Box<dyn Fn(&Error) + Send + Sync>;

static NOTICE_HOOK: Mutex<Option<NoticeHook>> = Mutex::new(None);
static CLEANUP_ERROR_HOOK: OnceLock<CleanupErrorHook> = OnceLock::new();

/// Sets the hook that shows the texts of [`show_notice`] to the user, such as the notice that the virtual GPU is used
/// because there is no real one. Without a hook they are printed to standard error.
pub fn set_notice_hook(hook: impl Fn(&str) + Send + Sync + 'static) {
    *lock_ignoring_poison(&NOTICE_HOOK) = Some(Arc::new(hook));
}

/// Sets the hook that receives errors from drops (except for a context lost to a fault). Only the first hook counts.
/// Without one the errors are not reported.
pub fn set_cleanup_error_hook(hook: impl Fn(&Error) + Send + Sync + 'static) {
    let _ = CLEANUP_ERROR_HOOK.set(Box::new(hook));
}

/// Reports a failed clean-up, unless all it says is that there is nothing left to clean up.
pub(crate) fn report_cleanup_error(error: &Error) {
    let nothing_left = matches!(
        error.code,
        CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_INVALID_CONTEXT
    );
    let expected = nothing_left || is_kernel_fault(error.code);
    if let (false, Some(hook)) = (expected, CLEANUP_ERROR_HOOK.get()) {
        hook(error);
    }
}

/// Initialises the drivers and lists their devices; further calls do nothing. `flags` must be 0, as `cuInit` requires.
/// [`Device::count`], [`Device::all`] and [`Device::new`] call this themselves.
///
/// Fails if there is no device at all; the error then says why no real one was found.
pub fn init(flags: u32) -> Result<()> {
    if LOADED_DRIVERS.get().is_some() {
        return Ok(());
    }
    static INIT_LOCK: Mutex<()> = Mutex::new(());
    let _guard = lock_ignoring_poison(&INIT_LOCK);
    if LOADED_DRIVERS.get().is_some() {
        return Ok(());
    }
    let drivers = find_drivers(flags)?;
    process_state::install_fork_and_exit_handlers();
    let _ = LOADED_DRIVERS.set(drivers);
    Ok(())
}

/// Whether [`init`] has succeeded.
pub fn is_initialized() -> bool {
    LOADED_DRIVERS.get().is_some()
}

/// The drivers; an error in the name of `call` before [`init`].
pub(crate) fn initialized_drivers(call: &'static str) -> Result<&'static LoadedDrivers> {
    LOADED_DRIVERS.get().ok_or_else(|| Error::new(call, CUresult::CUDA_ERROR_NOT_INITIALIZED, "call init() first"))
}

/// The drivers, if initialised.
pub(crate) fn drivers_if_initialized() -> Option<&'static LoadedDrivers> {
    LOADED_DRIVERS.get()
}

/// The CUDA version of the driver, `1000 * major + 10 * minor`; of the real driver if there is one. Works before
/// [`init`].
pub fn driver_version() -> Result<u32> {
    let table = DriverTable::real_driver()
        .or_else(|reason| virtual_gpu::virtual_gpu_table().ok_or_else(|| no_device_error(&reason.to_string())))?;
    let mut version = 0;
    // SAFETY: writes one int; allowed before cuInit.
    unsafe { call_driver!(table, cuDriverGetVersion(&raw mut version)) }?;
    Ok(version as u32)
}

/// The number that `RTCG_VIRTUAL_DEVICES` asks for, if it is set to one.
fn requested_virtual_device_count() -> Result<Option<usize>> {
    let Some(value) = std::env::var_os("RTCG_VIRTUAL_DEVICES").filter(|v| !v.is_empty()) else {
        return Ok(None);
    };
    match value.to_string_lossy().trim().parse() {
        Ok(n) => Ok(Some(n)),
        Err(_) => Err(Error::new(
            "cuInit",
            CUresult::CUDA_ERROR_INVALID_VALUE,
            format!("RTCG_VIRTUAL_DEVICES={} is not a number", value.to_string_lossy()),
        )),
    }
}

fn find_drivers(flags: u32) -> Result<LoadedDrivers> {
    let requested = requested_virtual_device_count()?;
    virtual_gpu::validate_settings()
        .map_err(|detail| Error::new("cuInit", CUresult::CUDA_ERROR_INVALID_VALUE, detail))?;
    let mut drivers = LoadedDrivers { tables: Vec::new(), devices: Vec::new() };
    let why_not_real = match DriverTable::real_driver() {
        Err(error) => Some(error.to_string()),
        Ok(table) => match init_driver(table, flags) {
            Err(error) => Some(error.to_string()),
            Ok(0) => Some("cuDeviceGetCount found none".to_owned()),
            Ok(count) => {
                drivers.add_driver(table, count);
                None
            }
        },
    };
    // Our own library in place of NVIDIA's has as many already.
    let has_own_library = drivers.devices.first().is_some_and(Device::is_virtual);
    let wanted = if has_own_library { 0 } else { requested.unwrap_or(usize::from(why_not_real.is_some())) };
    if let (1.., Some(table)) = (wanted, virtual_gpu::virtual_gpu_table()) {
        let count = init_driver(table, flags)?;
        drivers.add_driver(table, count.min(wanted));
        if let Some(text) = virtual_gpu::memory_limit_notice() {
            show_notice(&text);
        }
    }
    if requested > Some(0) && virtual_gpu::virtual_gpu_table().is_none() {
        let detail = format!("RTCG_VIRTUAL_DEVICES={wanted}, but {}", virtual_gpu::BUILT_WITHOUT);
        return Err(Error::new("cuInit", CUresult::CUDA_ERROR_NOT_SUPPORTED, detail));
    }
    match why_not_real {
        Some(reason) if drivers.devices.is_empty() => Err(no_device_error(&reason)),
        Some(reason) if requested.is_none() => {
            show_virtual_gpu_notice(&reason);
            Ok(drivers)
        }
        _ => Ok(drivers),
    }
}

/// No device is left: why there is no real one, and whether a virtual one could be.
fn no_device_error(why_not_real: &str) -> Error {
    let detail = match virtual_gpu::virtual_gpu_table() {
        Some(_) => why_not_real.to_owned(),
        None => format!("{}\n{}", why_not_real, virtual_gpu::BUILT_WITHOUT),
    };
    Error::new("cuInit", CUresult::CUDA_ERROR_NO_DEVICE, detail)
}

/// `cuInit`, then the number of devices.
fn init_driver(table: &'static DriverTable, flags: u32) -> Result<usize> {
    let mut count = 0;
    // SAFETY: cuInit takes no pointers, cuDeviceGetCount writes one int.
    unsafe {
        call_driver!(table, cuInit(flags))?;
        call_driver!(table, cuDeviceGetCount(&raw mut count))?;
    }
    Ok(count.max(0) as usize)
}

impl LoadedDrivers {
    fn add_driver(&mut self, table: &'static DriverTable, count: usize) {
        self.tables.push(table);
        for index in 0..count {
            let mut handle = 0;
            // SAFETY: writes one device handle.
            let code = unsafe { table.cuDeviceGet(&raw mut handle, index as i32) };
            if code.is_success() {
                let ordinal = self.devices.len() as u32;
                self.devices.push(Device::from_parts(table, handle, ordinal));
            }
        }
    }
}

fn show_virtual_gpu_notice(reason: &str) {
    let first_line = reason.lines().next().unwrap_or_default().trim_end_matches("; tried:");
    let text = format!(
        "no NVIDIA GPU is usable here ({first_line}); using the virtual GPU, which runs kernels on this machine's \
         processor cores. RTCG_VIRTUAL_DEVICES=1 asks for it and silences this notice."
    );
    show_notice(&text);
}

/// Tells the user, once, that a context on a GPU runs no checks although some were asked for.
pub(crate) fn show_notice_if_unchecked(device: Device) {
    static SHOWN: Once = Once::new();
    if !device.is_virtual() && virtual_gpu::are_checks_requested() {
        SHOWN.call_once(|| {
            show_notice(&format!(
                "checks (RTCG_CHECK) run on the virtual GPU only; kernels run unchecked on {}. RTCG_LIBCUDA=none \
                 RTCG_VIRTUAL_DEVICES=1 selects the virtual GPU.",
                device.describe()
            ));
        });
    }
}

/// Shows the user a notice that is not an error; see [`set_notice_hook`].
pub fn show_notice(text: &str) {
    // The hook may wait for an interpreter whose holder is about to tell something, too.
    let hook = lock_ignoring_poison(&NOTICE_HOOK).clone();
    match hook {
        Some(hook) => hook(text),
        None => eprintln!("rtcg: {text}"),
    }
}

/// `cargo test -p rtcg-driver --no-default-features --lib virtual_gpu`
#[cfg(all(test, not(feature = "vgpu")))]
mod tests {
    use super::{Device, init, virtual_gpu};

    #[test]
    fn devices_are_real_or_the_error_says_that_there_is_no_virtual_gpu() {
        match init(0) {
            Ok(()) => assert!(Device::all().unwrap().iter().all(|device| !device.is_virtual())),
            Err(error) => assert!(error.to_string().contains(virtual_gpu::BUILT_WITHOUT), "{error}"),
        }
    }
}
