//! The function table of NVML, the driver library that reads a device's sensors.
#![allow(
    non_camel_case_types,
    non_snake_case,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use crate::compiler_libraries::{LibrarySearch, library_table};
use crate::load::LoadError;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};
use std::ffi::CStr;
use std::sync::OnceLock;

cuda_handle!(nvmlDevice_t);

cuda_enum! {
    /// The result of an NVML call.
    nvmlReturn_t {
        NVML_SUCCESS = 0,
        NVML_ERROR_UNINITIALIZED = 1,
        NVML_ERROR_INVALID_ARGUMENT = 2,
        NVML_ERROR_NOT_SUPPORTED = 3,
        NVML_ERROR_NO_PERMISSION = 4,
        NVML_ERROR_NOT_FOUND = 6,
        NVML_ERROR_DRIVER_NOT_LOADED = 9,
        NVML_ERROR_FUNCTION_NOT_FOUND = 13,
        NVML_ERROR_GPU_IS_LOST = 15,
        NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
        NVML_ERROR_UNKNOWN = 999,
    }
}

impl nvmlReturn_t {
    /// True when the call succeeded.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

/// Makes `nvmlDeviceGetClockInfo` read the multiprocessor clock.
pub const NVML_CLOCK_SM: c_int = 1;
/// Makes `nvmlDeviceGetTemperature` read the temperature of the die.
pub const NVML_TEMPERATURE_GPU: c_int = 0;

library_table! {
    /// NVML's functions. One table per process, found once; see [`NvmlTable::load`].
    NvmlTable of nvmlReturn_t else NVML_ERROR_FUNCTION_NOT_FOUND {
        [text] nvmlErrorString since 7000 (code: nvmlReturn_t);
        nvmlInit_v2 since 7000 ();
        nvmlDeviceGetHandleByPciBusId_v2 since 7000 (pciBusId: *const c_char, device: *mut nvmlDevice_t);
        nvmlDeviceGetClockInfo since 7000 (device: nvmlDevice_t, which: c_int, clock: *mut c_uint);
        nvmlDeviceGetPowerUsage since 7000 (device: nvmlDevice_t, power: *mut c_uint);
        nvmlDeviceGetTotalEnergyConsumption since 9020 (device: nvmlDevice_t, energy: *mut u64);
        nvmlDeviceGetTemperature since 7000 (device: nvmlDevice_t, sensor: c_int, temperature: *mut c_uint);
    }
}

impl NvmlTable {
    /// The NVML of this process, found, opened and initialised by the first call, whose outcome is remembered.
    ///
    /// Opens the file named by the environment variable `RTCG_NVML` (`none` means "no NVML"), or the one on the
    /// loader's path.
    pub fn load() -> Result<&'static NvmlTable, LoadError> {
        static LOADED_TABLE: OnceLock<Result<NvmlTable, LoadError>> = OnceLock::new();
        LOADED_TABLE.get_or_init(open_and_initialize).as_ref().map_err(LoadError::clone)
    }

    /// NVML's text for a code.
    pub fn error_string(&self, code: nvmlReturn_t) -> String {
        // SAFETY: takes any value and returns a static string.
        let text = unsafe { self.nvmlErrorString(code) };
        if text.is_null() {
            return format!("{code:?}");
        }
        // SAFETY: NUL-terminated and static, see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "NVML, which reads a device's sensors",
    name: "NVML",
    variable: "RTCG_NVML",
    dlopen_names: if cfg!(windows) { &["nvml.dll"] } else { &["libnvidia-ml.so.1"] },
    // It belongs to the driver. What toolkits have is a stub for linking.
    is_file: |_| false,
    is_preloaded_dependency: |_| false,
    hint: || "NVIDIA's driver has it; RTCG_NVML names the library file".to_owned(),
};

fn open_and_initialize() -> Result<NvmlTable, LoadError> {
    let table = LIBRARY_SEARCH.find_library(|library, path| {
        Some(NvmlTable::resolve_functions(library, path)).filter(|table| table.has_function("nvmlInit_v2"))
    })?;
    // SAFETY: takes nothing; NVML counts initialisations.
    let code = unsafe { table.nvmlInit_v2() };
    if code.is_success() {
        return Ok(table);
    }
    let place = table.library_path().display().to_string();
    let tried = vec![(place, format!("nvmlInit_v2: {}", table.error_string(code)))];
    Err(LoadError { what: LIBRARY_SEARCH.what, tried, hint: (LIBRARY_SEARCH.hint)() })
}
