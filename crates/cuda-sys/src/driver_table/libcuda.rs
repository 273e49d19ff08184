//! Opens the real driver library and finds functions in it.

use super::{DriverKind, FunctionInfo, SymbolResolver};
use crate::external_work::ExternalWork;
use crate::load::{LoadError, OpenLibrary};
use crate::types::*;
use std::ffi::CString;

const LIBCUDA_NAMES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else if cfg!(target_os = "macos") {
    &["libcuda.dylib"]
} else {
    &["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"]
};

/// Exported by our own library of that name, whose devices are virtual.
const VIRTUAL_GPU_SYMBOL: &str = "rtcg_virtual_gpu";

/// What our own library of that name lets a library of collectives do; `None` where another `libcuda` is installed, or
/// none.
pub fn external_work_of_libcuda() -> Option<&'static ExternalWork> {
    let from_env = std::env::var("RTCG_LIBCUDA").ok().filter(|v| !v.is_empty());
    let names = from_env.as_ref().map_or(LIBCUDA_NAMES.to_vec(), |path| vec![path.as_str()]);
    let library = names.iter().find_map(|name| OpenLibrary::dlopen(name, false).ok())?;
    let function = library.dlsym("rtcg_external_work")?;
    // SAFETY: only our library exports this name, as a function of this type that returns what lives for ever.
    unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn() -> *const ExternalWork>(function)().as_ref() }
}

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
type GetProcAddress = super::fn_type::cuGetProcAddress;

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
