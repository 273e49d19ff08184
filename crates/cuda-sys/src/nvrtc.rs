//! The function table of NVRTC, NVIDIA's run-time compiler library.
#![allow(
    non_camel_case_types,
    non_snake_case,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use crate::compiler_libraries::{LazyFunctionTable, LibrarySearch, library_table};
use crate::driver_table::DriverTable;
use crate::load::LoadError;
use crate::types::*;
use std::ffi::CStr;

use crate::types::{cuda_enum, cuda_handle};

cuda_handle!(nvrtcProgram);

cuda_enum! {
    /// The result of an NVRTC call.
    nvrtcResult {
        NVRTC_SUCCESS = 0,
        NVRTC_ERROR_OUT_OF_MEMORY = 1,
        NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
        NVRTC_ERROR_INVALID_INPUT = 3,
        NVRTC_ERROR_INVALID_PROGRAM = 4,
        NVRTC_ERROR_INVALID_OPTION = 5,
        NVRTC_ERROR_COMPILATION = 6,
        NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
        NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
        NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
        NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
        NVRTC_ERROR_INTERNAL_ERROR = 11,
        NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12,
        NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
        NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14,
        NVRTC_ERROR_PCH_CREATE = 15,
        NVRTC_ERROR_CANCELLED = 16,
        NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17,
        RTCG_NVRTC_FUNCTION_MISSING = 0x7fff_0001,
    }
}

impl nvrtcResult {
    /// True when the call succeeded.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
}

library_table! {
    /// NVRTC's functions. One table per process, found once; see [`NvrtcTable::load`].
    NvrtcTable of nvrtcResult else RTCG_NVRTC_FUNCTION_MISSING {
        [text] nvrtcGetErrorString since 7000 (code: nvrtcResult);
        nvrtcVersion since 7000 (major: *mut c_int, minor: *mut c_int);
        nvrtcGetNumSupportedArchs since 11020 (numArchs: *mut c_int);
        nvrtcGetSupportedArchs since 11020 (supportedArchs: *mut c_int);
        nvrtcCreateProgram since 7000 (prog: *mut nvrtcProgram, src: *const c_char, name: *const c_char, numHeaders: c_int, headers: *const *const c_char, includeNames: *const *const c_char);
        nvrtcDestroyProgram since 7000 (prog: *mut nvrtcProgram);
        nvrtcCompileProgram since 7000 (prog: nvrtcProgram, numOptions: c_int, options: *const *const c_char);
        nvrtcGetPTXSize since 7000 (prog: nvrtcProgram, ptxSizeRet: *mut usize);
        nvrtcGetPTX since 7000 (prog: nvrtcProgram, ptx: *mut c_char);
        nvrtcGetCUBINSize since 11010 (prog: nvrtcProgram, cubinSizeRet: *mut usize);
        nvrtcGetCUBIN since 11010 (prog: nvrtcProgram, cubin: *mut c_char);
        nvrtcGetLTOIRSize since 12000 (prog: nvrtcProgram, LTOIRSizeRet: *mut usize);
        nvrtcGetLTOIR since 12000 (prog: nvrtcProgram, LTOIR: *mut c_char);
        nvrtcGetOptiXIRSize since 12000 (prog: nvrtcProgram, optixirSizeRet: *mut usize);
        nvrtcGetOptiXIR since 12000 (prog: nvrtcProgram, optixir: *mut c_char);
        nvrtcGetProgramLogSize since 7000 (prog: nvrtcProgram, logSizeRet: *mut usize);
        nvrtcGetProgramLog since 7000 (prog: nvrtcProgram, log: *mut c_char);
        nvrtcAddNameExpression since 8000 (prog: nvrtcProgram, name_expression: *const c_char);
        nvrtcGetLoweredName since 8000 (prog: nvrtcProgram, name_expression: *const c_char, lowered_name: *mut *const c_char);
        nvrtcGetPCHHeapSize since 12080 (ret: *mut usize);
        nvrtcSetPCHHeapSize since 12080 (size: usize);
        nvrtcGetPCHCreateStatus since 12080 (prog: nvrtcProgram);
        nvrtcGetPCHHeapSizeRequired since 12080 (prog: nvrtcProgram, size: *mut usize);
        nvrtcSetFlowCallback since 12080 (prog: nvrtcProgram, callback: Option<unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int>, payload: *mut c_void);
    }
}

static LOADED_TABLE: LazyFunctionTable<NvrtcTable> = LazyFunctionTable::new();

impl NvrtcTable {
    /// The NVRTC of this process, found and opened by the first call that succeeds.
    ///
    /// Searches, in this order, the file named by the environment variable `RTCG_NVRTC` (then nothing else is tried;
    /// `none` means "no NVRTC"), NVIDIA's wheels beside the running Python and in the active virtual environment,
    /// `CUDA_HOME`/`CUDA_PATH`, wheels in the user's and the system's `site-packages`, the loader's own path, and
    /// `/usr/local/cuda`. A failure is not remembered, so that [`add_search_root`](crate::add_search_root) can still
    /// help afterwards.
    pub fn load() -> Result<&'static NvrtcTable, LoadError> {
        LOADED_TABLE.get_or_load(find_nvrtc)
    }

    /// The NVRTC of this process, if it has been opened.
    pub fn loaded() -> Option<&'static NvrtcTable> {
        LOADED_TABLE.loaded()
    }

    /// The version `(major, minor)` of this NVRTC.
    pub fn version(&self) -> Option<(u32, u32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: writes two ints.
        let code = unsafe { self.nvrtcVersion(&raw mut major, &raw mut minor) };
        code.is_success().then_some((major as u32, minor as u32))
    }

    /// The compute capabilities for which this NVRTC can compile, as `10 * major + minor`, ascending. Empty if it
    /// cannot report them (before CUDA 11.2).
    pub fn supported_archs(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: writes one int.
        let code = unsafe { self.nvrtcGetNumSupportedArchs(&raw mut count) };
        if !code.is_success() || count <= 0 {
            return Vec::new();
        }
        let mut archs = vec![0 as c_int; count as usize];
        // SAFETY: writes as many ints as the call above promised.
        let code = unsafe { self.nvrtcGetSupportedArchs(archs.as_mut_ptr()) };
        if !code.is_success() {
            return Vec::new();
        }
        archs.into_iter().map(|a| a as u32).collect()
    }

    /// NVRTC's text for a code.
    pub fn error_string(&self, code: nvrtcResult) -> String {
        if code == nvrtcResult::RTCG_NVRTC_FUNCTION_MISSING {
            let path = self.path.display();
            return format!("the NVRTC in use ({path}) does not have this function");
        }
        // SAFETY: takes any value and returns a static string.
        let text = unsafe { self.nvrtcGetErrorString(code) };
        if text.is_null() {
            return format!("{code:?}");
        }
        // SAFETY: NUL-terminated and static, see above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// The last line of PTX that was compiled with `-fmad=false`. In half precision NVRTC's PTX shows no trace of that
/// option, so without this line the virtual GPU would fuse products and sums, as ptxas does by default.
pub const FMAD_DISABLED_COMMENT: &str = "// compiled with -fmad=false";

const NVRTC_LIBRARY_NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "NVRTC, the compiler for CUDA C++",
    name: "NVRTC",
    variable: "RTCG_NVRTC",
    dlopen_names: NVRTC_LIBRARY_NAMES,
    is_file: is_nvrtc_library_file,
    is_preloaded_dependency: is_nvrtc_builtins_file,
    hint: missing_nvrtc_hint,
};

/// The exact command for the driver that is here.
fn missing_nvrtc_hint() -> String {
    let driver = DriverTable::real_driver().ok().and_then(DriverTable::driver_version).map(|version| version / 1000);
    let why = driver.map_or_else(String::new, |major| format!(", for the NVIDIA driver here, which has CUDA {major}"));
    let major = driver.unwrap_or(13);
    let suffix = wheel_suffix_for_cuda_version(major);
    format!(
        "`pip install nvidia-cuda-nvrtc{suffix}` installs it{why}, in the virtual environment that is active; so does \
         `python3 -m venv .venv && .venv/bin/pip install nvidia-cuda-nvrtc{suffix}`, for programs in this folder or \
         below it. CUDA's headers are in nvidia-cuda-runtime{suffix}. A CUDA toolkit has both; RTCG_NVRTC names the \
         library file"
    )
}

/// What ends the names of NVIDIA's wheels for a major CUDA version.
pub fn wheel_suffix_for_cuda_version(cuda_major: u32) -> &'static str {
    if cuda_major < 13 { "-cu12" } else { "" }
}

fn find_nvrtc() -> Result<NvrtcTable, LoadError> {
    LIBRARY_SEARCH.find_library(|library, path| {
        Some(NvrtcTable::resolve_functions(library, path)).filter(|table| table.version().is_some())
    })
}

/// The `alt` build is another linking of the same.
fn is_nvrtc_library_file(name: &str) -> bool {
    name.starts_with("libnvrtc.so")
        || (name.starts_with("nvrtc64_") && name.ends_with(".dll") && !name.contains(".alt"))
}

fn is_nvrtc_builtins_file(name: &str) -> bool {
    name.starts_with("libnvrtc-builtins.so") || (name.starts_with("nvrtc-builtins64_") && name.ends_with(".dll"))
}
