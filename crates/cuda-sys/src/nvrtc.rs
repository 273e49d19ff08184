//! The table of NVRTC, NVIDIA's run-time compiler library: found, opened, resolved.
//!
//! NVRTC opens its companion `libnvrtc-builtins` by bare name, which a wheel's directory does not
//! satisfy; so the companion beside it is opened first, with its symbols global.
#![allow(non_camel_case_types, non_snake_case, missing_docs)]

use crate::load::{LoadError, OpenLibrary};
use crate::search;
use crate::types::*;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

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

macro_rules! define_nvrtc {
    ($($name:ident since $since:literal ($($arg:ident: $ty:ty),*);)*) => {
        /// NVRTC's functions. One table per process, found once; see [`NvrtcTable::load`].
        #[derive(Debug)]
        pub struct NvrtcTable {
            path: PathBuf,
            get_error_string: Option<unsafe extern "C" fn(nvrtcResult) -> *const c_char>,
            $($name: Option<unsafe extern "C" fn($($ty),*) -> nvrtcResult>,)*
        }

        impl NvrtcTable {
            /// Every function declared, with the CUDA version that introduced it.
            pub const FUNCTIONS: &'static [(&'static str, u32)] =
                &[("nvrtcGetErrorString", 7000), $((stringify!($name), $since),)*];

            fn resolve(library: OpenLibrary, path: PathBuf) -> Self {
                Self {
                    path,
                    get_error_string: library.symbol("nvrtcGetErrorString").map(|p| {
                        // SAFETY: NVRTC's documented signature for this symbol.
                        unsafe { std::mem::transmute(p) }
                    }),
                    $($name: library.symbol(stringify!($name)).map(|p| {
                        // SAFETY: the list states NVRTC's documented signature for this symbol.
                        unsafe { std::mem::transmute(p) }
                    }),)*
                }
            }

            /// Whether this NVRTC has the function (by its C name).
            pub fn has(&self, name: &str) -> bool {
                match name {
                    "nvrtcGetErrorString" => self.get_error_string.is_some(),
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }
        }

        /// The functions by their C names. The caller answers for pointers and handles, as in C.
        /// One that this NVRTC lacks returns `RTCG_NVRTC_FUNCTION_MISSING`.
        #[allow(clippy::missing_safety_doc)]
        impl NvrtcTable {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub unsafe fn $name(&self, $($arg: $ty),*) -> nvrtcResult {
                    match self.$name {
                        // SAFETY: the arguments are the caller's promise.
                        Some(function) => unsafe { function($($arg),*) },
                        None => nvrtcResult::RTCG_NVRTC_FUNCTION_MISSING,
                    }
                }
            )*
        }
    };
}

define_nvrtc! {
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

impl NvrtcTable {
    /// The NVRTC of this process, searched and opened at the first call that finds one.
    ///
    /// Searched are, in this order: the file that the environment variable `RTCG_NVRTC` names
    /// (nothing else is tried then; `none` means "no NVRTC"), NVIDIA's wheels beside the running
    /// Python, `CUDA_HOME`/`CUDA_PATH`, the loader's own path, `/usr/local/cuda`. A failure is
    /// not remembered, so that [`search::add_search_root`] can still help afterwards.
    pub fn load() -> Result<&'static NvrtcTable, LoadError> {
        static LOADED: Mutex<Option<&'static NvrtcTable>> = Mutex::new(None);
        let mut loaded = LOADED.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(table) = *loaded {
            return Ok(table);
        }
        let table: &'static NvrtcTable = Box::leak(Box::new(find()?));
        *loaded = Some(table);
        Ok(table)
    }

    /// The file this table was loaded from (a bare name when the loader found it).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `(major, minor)` of this NVRTC.
    pub fn version(&self) -> Option<(u32, u32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: writes two ints.
        let code = unsafe { self.nvrtcVersion(&raw mut major, &raw mut minor) };
        code.is_success().then_some((major as u32, minor as u32))
    }

    /// The compute capabilities this NVRTC can compile for, as `10 * major + minor`, ascending.
    /// Empty when it cannot tell (before CUDA 11.2).
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
        if let Some(function) = self.get_error_string {
            // SAFETY: takes any value and returns a static string.
            let text = unsafe { function(code) };
            if !text.is_null() {
                // SAFETY: NUL-terminated and static, see above.
                return unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            }
        }
        format!("{code:?}")
    }
}

const LOADER_NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

fn find() -> Result<NvrtcTable, LoadError> {
    let mut tried = Vec::new();
    match std::env::var("RTCG_NVRTC").ok().filter(|v| !v.is_empty()) {
        Some(value) if value == "none" => {
            tried.push(("RTCG_NVRTC=none".to_owned(), "NVRTC is switched off".to_owned()));
        }
        Some(file) => {
            if let Some(table) = open(Path::new(&file), "RTCG_NVRTC=", &mut tried) {
                return Ok(table);
            }
        }
        None => {
            if let Some(table) = find_installed(&mut tried) {
                return Ok(table);
            }
        }
    }
    Err(LoadError {
        what: "NVRTC, the compiler for CUDA C++",
        tried,
        hint: "install it with `pip install nvidia-cuda-nvrtc` (CUDA 13) or a CUDA toolkit, \
               or set RTCG_NVRTC to the library file"
            .to_owned(),
    })
}

/// Installations in `/usr` come after the loader's own path, all others before it.
fn find_installed(tried: &mut Vec<(String, String)>) -> Option<NvrtcTable> {
    let (system, named): (Vec<_>, Vec<_>) =
        search::installations().into_iter().partition(|i| i.origin.starts_with('/'));
    if named.is_empty() {
        let reason = "no NVIDIA wheel there, or not set".to_owned();
        tried.push(("wheels beside the running Python, CUDA_HOME, CUDA_PATH".to_owned(), reason));
    }
    if let Some(table) = named.iter().find_map(|i| open_in(i, tried)) {
        return Some(table);
    }
    for name in LOADER_NAMES {
        if let Some(table) = open(Path::new(name), "", tried) {
            return Some(table);
        }
    }
    system.iter().find_map(|i| open_in(i, tried))
}

fn open_in(installation: &search::Installation, tried: &mut Vec<(String, String)>) -> Option<NvrtcTable> {
    let files: Vec<PathBuf> = installation.lib_dirs.iter().flat_map(|d| nvrtc_files(d)).collect();
    if files.is_empty() {
        tried.push((installation.origin.clone(), "has no NVRTC library".to_owned()));
    }
    files.iter().find_map(|file| open(file, "", tried))
}

fn open(file: &Path, prefix: &str, tried: &mut Vec<(String, String)>) -> Option<NvrtcTable> {
    if let Some(dir) = file.parent().filter(|d| !d.as_os_str().is_empty()) {
        for companion in companions(dir) {
            // A failure here shows again, with its reason, when NVRTC first compiles.
            let _ = OpenLibrary::open(&companion.to_string_lossy(), true);
        }
    }
    let library = match OpenLibrary::open(&file.to_string_lossy(), false) {
        Ok(library) => library,
        Err(reason) => {
            tried.push((format!("{prefix}{}", file.display()), reason));
            return None;
        }
    };
    let table = NvrtcTable::resolve(library, file.to_owned());
    if table.version().is_some() {
        return Some(table);
    }
    tried.push((format!("{prefix}{}", file.display()), "is not an NVRTC library".to_owned()));
    None
}

/// NVRTC libraries in a directory, newest first; the `alt` build is another linking of the same.
fn nvrtc_files(dir: &Path) -> Vec<PathBuf> {
    let is_nvrtc = |name: &str| {
        name.starts_with("libnvrtc.so")
            || (name.starts_with("nvrtc64_") && name.ends_with(".dll") && !name.contains(".alt"))
    };
    files_by_version(dir, is_nvrtc)
}

fn companions(dir: &Path) -> Vec<PathBuf> {
    let is_builtins = |name: &str| {
        name.starts_with("libnvrtc-builtins.so") || (name.starts_with("nvrtc-builtins64_") && name.ends_with(".dll"))
    };
    files_by_version(dir, is_builtins)
}

fn files_by_version(dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<(Vec<u32>, PathBuf)> = entries
        .flatten()
        .filter(|e| wanted(&e.file_name().to_string_lossy()))
        .map(|e| (numbers_in(&e.file_name().to_string_lossy()), e.path()))
        .collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path).collect()
}

fn numbers_in(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}
