//! `cuGetProcAddress`: the form of a function that a CUDA version means by its name; and
//! `cuGetExportTable`, which has nothing to offer.

use crate::symbol_version::{NullStreamKind, SymbolVersion, exported_symbols};
use crate::{current_versions, legacy_versions, per_thread_stream, unsupported};
use rtcg_cuda_sys::types::*;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::OnceLock;

const DRIVER_VERSION: c_int = 13_000;
const LEGACY_STREAM_FLAG: u64 = CU_GET_PROC_ADDRESS_LEGACY_STREAM.0 as u64;
const PER_THREAD_STREAM_FLAG: u64 = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.0 as u64;

/// The name without the version suffix.
fn without_version_suffix(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

fn all_symbols() -> impl Iterator<Item = &'static SymbolVersion> {
    [
        SYMBOLS,
        current_versions::SYMBOLS,
        legacy_versions::SYMBOLS,
        legacy_versions::PER_THREAD_SYMBOLS,
        per_thread_stream::SYMBOLS,
        unsupported::SYMBOLS,
    ]
    .into_iter()
    .flatten()
}

/// The forms of each name.
fn symbols_by_name() -> &'static HashMap<&'static str, Vec<&'static SymbolVersion>> {
    static SYMBOLS_BY_NAME: OnceLock<HashMap<&'static str, Vec<&'static SymbolVersion>>> = OnceLock::new();
    SYMBOLS_BY_NAME.get_or_init(|| {
        let mut forms: HashMap<_, Vec<_>> = HashMap::new();
        for form in all_symbols() {
            forms.entry(without_version_suffix(form.name)).or_default().push(form);
        }
        forms
    })
}

/// The newest form that the version knows, a thread's own where it is requested and exists. A name has no suffix.
fn find_symbol_version(
    name: &str,
    version: u32,
    null_stream: NullStreamKind,
) -> Result<&'static SymbolVersion, CUdriverProcAddressQueryResult> {
    let forms = symbols_by_name().get(name).ok_or(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)?;
    // A version from before a thread's own form does not get the legacy one instead.
    let kind = forms.iter().map(|form| form.null_stream).filter(|&kind| kind <= null_stream).max();
    let fitting = forms.iter().filter(|form| form.since <= version && Some(form.null_stream) == kind);
    let newest = fitting.max_by_key(|form| form.since);
    newest.copied().ok_or(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
}

/// `cuGetProcAddress` as CUDA 12 defines it. The call succeeds also where nothing is found, which the status says; a
/// CUDA version of a later major release is invalid.
///
/// # Safety
/// `symbol` is null or a NUL-terminated string; the other pointers are null or valid for writing.
pub(crate) unsafe extern "C" fn get_proc_address(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut CUdriverProcAddressQueryResult,
) -> CUresult {
    if symbol.is_null()
        || function.is_null()
        || flags & !(LEGACY_STREAM_FLAG | PER_THREAD_STREAM_FLAG) != 0
        || version / 1000 > DRIVER_VERSION / 1000
    {
        return CUresult::CUDA_ERROR_INVALID_VALUE;
    }
    let null_stream =
        if flags & PER_THREAD_STREAM_FLAG != 0 { NullStreamKind::PerThread } else { NullStreamKind::Legacy };
    // SAFETY: not null, so a string by this function's contract.
    let name = unsafe { CStr::from_ptr(symbol) }.to_str().unwrap_or("");
    let found = find_symbol_version(name, u32::try_from(version).unwrap_or(0), null_stream);
    // SAFETY: not null, so valid by this function's contract; C callers may pass unaligned places.
    unsafe { function.write_unaligned(found.map_or(std::ptr::null_mut(), |form| form.address.cast_mut())) };
    if !status.is_null() {
        // SAFETY: not null, so valid by this function's contract, and perhaps unaligned.
        unsafe { status.write_unaligned(found.err().unwrap_or(CU_GET_PROC_ADDRESS_SUCCESS)) };
    }
    CUresult::CUDA_SUCCESS
}

/// `cuGetExportTable`. The tables behind it are NVIDIA's own and undocumented; none exists here.
///
/// # Safety
/// `table` is null or valid for writing.
pub(crate) unsafe extern "C" fn get_export_table(table: *mut *const c_void, id: *const CUuuid) -> CUresult {
    if table.is_null() || id.is_null() {
        return CUresult::CUDA_ERROR_INVALID_VALUE;
    }
    // SAFETY: not null, so valid by this function's contract.
    unsafe { table.write_unaligned(std::ptr::null()) };
    CUresult::CUDA_ERROR_NOT_FOUND
}

exported_symbols! { Legacy:
    cuGetProcAddress = "cuGetProcAddress" since 11030 (symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: u64) {
        let mut status = CU_GET_PROC_ADDRESS_SUCCESS;
        match get_proc_address(symbol, pfn, cudaVersion, flags, &raw mut status) {
            CUresult::CUDA_SUCCESS if status != CU_GET_PROC_ADDRESS_SUCCESS => CUresult::CUDA_ERROR_NOT_FOUND,
            code => code,
        }
    }
}
