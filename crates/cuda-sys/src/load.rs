//! Opening the real driver library, and the error that says what was tried.

use crate::driver_table::{DriverKind, FunctionInfo, SymbolResolver};
use crate::types::*;
use std::ffi::CString;

/// A library that could not be loaded: everything that was tried, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// What was looked for, in words.
    pub what: &'static str,
    /// Each place tried and why it did not do.
    pub tried: Vec<(String, String)>,
    /// What the user can do about it.
    pub hint: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "could not load {}", self.what)?;
        if !self.tried.is_empty() {
            f.write_str("; tried:")?;
            for (place, reason) in &self.tried {
                write!(f, "\n  {place}: {reason}")?;
            }
        }
        if !self.hint.is_empty() {
            write!(f, "\n{}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

/// An open library. Never closed: function pointers into it live in static tables.
#[derive(Clone, Copy)]
pub(crate) struct OpenLibrary(&'static libloading::Library);

impl OpenLibrary {
    /// Opens a library by file name or path. `global` makes its symbols visible to libraries
    /// opened later.
    pub(crate) fn dlopen(name: &str, global: bool) -> Result<Self, String> {
        #[cfg(unix)]
        let result = {
            use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
            let scope = if global { RTLD_GLOBAL } else { RTLD_LOCAL };
            // SAFETY: runs the initialisers of a library that the user's machine names as CUDA's.
            unsafe { Library::open(Some(name), RTLD_NOW | scope) }.map(libloading::Library::from)
        };
        #[cfg(not(unix))]
        let result = {
            let _ = global;
            // SAFETY: runs the initialisers of a library that the user's machine names as CUDA's.
            unsafe { libloading::Library::new(name) }
        };
        match result {
            Ok(library) => Ok(Self(Box::leak(Box::new(library)))),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A library that the process has loaded already.
    pub(crate) fn open_if_already_loaded(name: &str) -> Option<Self> {
        #[cfg(unix)]
        {
            use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
            let flags = RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD;
            // SAFETY: runs no initialisers, since nothing is loaded.
            let library = unsafe { Library::open(Some(name), flags) }.ok()?;
            Some(Self(Box::leak(Box::new(libloading::Library::from(library)))))
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            None
        }
    }

    /// The address of a symbol.
    pub(crate) fn dlsym(self, name: &str) -> Option<*const c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the symbol is only taken as an address here.
        let symbol = unsafe { self.0.get::<*const c_void>(name.as_bytes_with_nul()) }.ok()?;
        let address: *const c_void = *symbol;
        (!address.is_null()).then_some(address)
    }
}

const LIBCUDA_NAMES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else if cfg!(target_os = "macos") {
    &["libcuda.dylib"]
} else {
    &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"]
};

/// Exported by our own library of that name, whose devices are virtual.
const VIRTUAL_GPU_SYMBOL: &str = "rtcg_virtual_gpu";

/// Opens the driver library and returns how to find functions in it, where it was found, and what
/// its devices are.
pub(crate) fn open_libcuda() -> Result<(SymbolResolver, String, DriverKind), LoadError> {
    let mut error = LoadError {
        what: "the CUDA driver (libcuda)",
        tried: Vec::new(),
        hint: "an NVIDIA driver must be installed, or RTCG_LIBCUDA must name the library file".to_owned(),
    };
    let from_env = std::env::var("RTCG_LIBCUDA").ok().filter(|v| !v.is_empty());
    let (names, prefix) = match &from_env {
        Some(value) if value == "none" => {
            let place = "RTCG_LIBCUDA=none".to_owned();
            error.tried.push((place, "the real driver is switched off".to_owned()));
            return Err(error);
        }
        Some(path) => (vec![path.as_str()], "RTCG_LIBCUDA="),
        None => (LIBCUDA_NAMES.to_vec(), ""),
    };
    for name in names {
        match OpenLibrary::dlopen(name, false) {
            Ok(library) => {
                let marked = library.dlsym(VIRTUAL_GPU_SYMBOL).is_some();
                let kind = if marked { DriverKind::Virtual } else { DriverKind::Real };
                return Ok((libcuda_resolver(library), name.to_owned(), kind));
            }
            Err(reason) => error.tried.push((format!("{prefix}{name}"), reason)),
        }
    }
    Err(error)
}

/// `cuGetProcAddress` as CUDA 12 defines it (`cuGetProcAddress_v2`).
type GetProcAddress = crate::driver_table::fn_type::cuGetProcAddress;

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM`: the null stream means the legacy default stream.
const LEGACY_STREAM_FLAG: u64 = CU_GET_PROC_ADDRESS_LEGACY_STREAM.0 as u64;

/// Asks the driver's own `cuGetProcAddress` first, the dynamic loader second.
fn libcuda_resolver(library: OpenLibrary) -> SymbolResolver {
    let get_proc_address: Option<GetProcAddress> = library.dlsym("cuGetProcAddress_v2").map(|pointer| {
        // SAFETY: the exported symbol of this name has had this signature since CUDA 12.0.
        unsafe { std::mem::transmute::<*const c_void, GetProcAddress>(pointer) }
    });
    Box::new(move |info| {
        get_proc_address.and_then(|ask| query_proc_address(ask, info)).or_else(|| library.dlsym(info.symbol))
    })
}

/// The driver wants the name without version suffix and the CUDA version whose meaning of the
/// name is wanted; the version that introduced the symbol names exactly that meaning.
fn query_proc_address(ask: GetProcAddress, info: &FunctionInfo) -> Option<*const c_void> {
    let name = CString::new(without_version_suffix(info.name)).ok()?;
    let mut pointer: *mut c_void = std::ptr::null_mut();
    let mut status = CUdriverProcAddressQueryResult::default();
    // SAFETY: all pointers are valid for the call; allowed before cuInit.
    let code =
        unsafe { ask(name.as_ptr(), &raw mut pointer, info.since as c_int, LEGACY_STREAM_FLAG, &raw mut status) };
    (code.is_success() && !pointer.is_null()).then_some(pointer.cast_const())
}

fn without_version_suffix(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}
