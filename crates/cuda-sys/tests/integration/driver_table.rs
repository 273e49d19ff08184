//! The driver table: coverage, calls through it, and what happens when something is missing.

use rtcg_cuda_sys::types::*;
use rtcg_cuda_sys::{DriverFn, DriverKind, DriverTable};
use std::collections::HashSet;

unsafe extern "C" fn fake_driver_get_version(version: *mut c_int) -> CUresult {
    // SAFETY: the test below passes a valid pointer.
    unsafe { *version = 13000 };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn fake_mem_alloc(dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult {
    // SAFETY: the test below passes a valid pointer.
    unsafe { *dptr = bytesize as u64 * 2 };
    CUresult::CUDA_SUCCESS
}

fn fake_resolver(name: &str) -> Option<*const c_void> {
    match name {
        "cuDriverGetVersion" => {
            let f: rtcg_cuda_sys::fn_type::cuDriverGetVersion = fake_driver_get_version;
            Some(f as *const c_void)
        }
        "cuMemAlloc" => {
            let f: rtcg_cuda_sys::fn_type::cuMemAlloc = fake_mem_alloc;
            Some(f as *const c_void)
        }
        _ => None,
    }
}

#[test]
fn driver_functions_are_declared_once_each() {
    let names: HashSet<_> = DriverFn::ALL_FUNCTIONS.iter().map(|f| f.function_info().name).collect();
    assert_eq!(names.len(), DriverFn::FUNCTION_COUNT);
    let symbols: HashSet<_> = DriverFn::ALL_FUNCTIONS.iter().map(|f| f.function_info().symbol).collect();
    assert_eq!(symbols.len(), DriverFn::FUNCTION_COUNT);
    assert!(names.len() >= 470, "{}", names.len());
    for f in DriverFn::ALL_FUNCTIONS {
        let since = f.function_info().since;
        assert!((2000..=13000).contains(&since), "{:?} {since}", f.function_info());
    }
    assert_eq!(DriverFn::cuMemAlloc.function_info().symbol, "cuMemAlloc_v2");
    assert_eq!(DriverFn::from_name("cuMemAlloc"), Some(DriverFn::cuMemAlloc));
}

#[test]
fn calls_reach_the_functions_that_the_resolver_gave() {
    let table = DriverTable::from_resolver(DriverKind::Virtual, fake_resolver);
    let mut ptr = 0;
    // SAFETY: `fake_mem_alloc` above writes one pointer.
    let code = unsafe { table.cuMemAlloc(&raw mut ptr, 21) };
    assert_eq!((code, ptr), (CUresult::CUDA_SUCCESS, 42));
    assert_eq!(table.driver_version(), Some(13000));
    assert!(table.missing_symbol("cuMemAlloc").is_none());
    assert_eq!(table.function_coverage().filter(|c| c.resolved).count(), 2);
}

#[test]
fn a_missing_symbol_is_an_error_code_with_an_explanation() {
    let table = DriverTable::from_resolver(DriverKind::Real, fake_resolver);
    // SAFETY: there is no such function behind this table.
    let code = unsafe { table.cuInit(0) };
    assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let missing = table.missing_symbol("cuInit").expect("cuInit is missing");
    assert_eq!((missing.since, missing.driver_version), (2000, Some(13000)));
    let text = table.missing_symbol("cuCtxCreate_v3").map(|m| m.to_string());
    let expected = "cuCtxCreate_v3 is not in the installed driver (CUDA 13.0)";
    assert_eq!(text.as_deref(), Some(expected));
    assert_eq!(table.error_string(code), "operation not supported");
}

#[test]
fn error_codes_have_names_and_descriptions() {
    assert_eq!(CUresult::CUDA_ERROR_INVALID_VALUE.name(), Some("CUDA_ERROR_INVALID_VALUE"));
    assert_eq!(CUresult(700).description(), Some("an illegal memory access was encountered"));
    assert_eq!(format!("{:?}", CUresult(12345)), "CUresult(12345)");
    for (name, code) in CUresult::NAMED_CONSTANTS {
        assert!(code.description().is_some(), "{name}");
    }
    assert_eq!(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE.0, 10);
    assert_eq!(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED.0, 115);
}

/// Checks the declaration list against NVIDIA's own header when `RTCG_CUDA_H` names it.
#[test]
fn every_symbol_is_declared_in_cudas_header() {
    let Ok(path) = std::env::var("RTCG_CUDA_H") else {
        return;
    };
    let header = std::fs::read_to_string(path).expect("RTCG_CUDA_H is readable");
    let words: HashSet<&str> = header.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let elsewhere = ["cuGL", "cuGraphicsGL", "cuProfiler"];
    let missing: Vec<_> = DriverFn::ALL_FUNCTIONS
        .iter()
        .map(|f| f.function_info().symbol)
        .filter(|s| !elsewhere.iter().any(|p| s.starts_with(p)))
        .filter(|s| !words.contains(s))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// On a machine with a real driver: it has every function that its version should have.
#[test]
fn a_real_driver_has_all_functions_of_its_version() {
    let Ok(table) = DriverTable::real_driver() else { return };
    let version = table.driver_version().expect("a driver tells its version");
    let missing: Vec<_> = table.function_coverage().filter(|c| !c.resolved && c.since <= version).collect();
    let resolved = table.function_coverage().filter(|c| c.resolved).count();
    println!("{resolved} of {} functions in {} (CUDA {version})", DriverFn::FUNCTION_COUNT, table.library_name());
    assert!(missing.is_empty(), "{missing:?}");
}
