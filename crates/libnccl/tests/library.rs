//! The built library as a C program sees it: its symbols, and ranks on two devices of the built `libcuda`.
//!
//! `cargo build --release -p rtcg-libcuda -p rtcg-libnccl` must have built the libraries, as `make test` does.
#![allow(unsafe_code, reason = "calls the library's C functions")]

use rtcg_cuda_sys::DriverTable;
use rtcg_cuda_sys::nccl::*;
use rtcg_cuda_sys::types::*;
use std::ffi::CStr;
use std::path::PathBuf;

/// A library that was built with these tests.
fn library_file(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("the test knows its file");
    let file = tests.with_file_name(name);
    assert!(file.exists(), "{} is missing: make build-tests makes it", file.display());
    file
}

fn open_library() -> libloading::Library {
    // SAFETY: the library has no initialisers beyond those of Rust's standard library.
    unsafe { libloading::Library::new(library_file("librtcg_libnccl.so")) }.expect("the library opens")
}

#[test]
fn every_function_is_exported_twice() {
    let library = open_library();
    let is_missing = |name: &str| {
        // SAFETY: only the address is taken.
        unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_err()
    };
    let missing: Vec<_> = NcclTable::FUNCTIONS
        .iter()
        .flat_map(|(name, _)| [(*name).to_owned(), format!("p{name}")])
        .filter(|name| is_missing(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn devices_of_the_built_driver_add_what_they_have() {
    // SAFETY: the other test of this process reads no environment variables.
    unsafe {
        std::env::set_var("RTCG_LIBCUDA", library_file("librtcg_libcuda.so"));
        std::env::set_var("RTCG_NCCL", library_file("librtcg_libnccl.so"));
        std::env::set_var("RTCG_VIRTUAL_DEVICES", "2");
    }
    let nccl = NcclTable::load().expect("the library is found");
    let driver = DriverTable::real_driver().expect("the driver is found");
    let mut ranks = [ncclComm_t::null(); 2];
    let checked = |code: ncclResult_t| {
        // SAFETY: the thread's own text, until the next call.
        let text =
            || unsafe { CStr::from_ptr(nccl.ncclGetLastError(ncclComm_t::null())) }.to_string_lossy().into_owned();
        assert!(code.is_success(), "{code:?}: {}", text());
    };
    // SAFETY: all pointers are valid; the memory lives until the waits are over.
    unsafe {
        checked(nccl.ncclCommInitAll(ranks.as_mut_ptr(), 2, std::ptr::null()));
        let mut memory = [0; 2];
        for (device, address) in memory.iter_mut().enumerate() {
            let mut context = CUcontext::null();
            assert!(driver.cuDevicePrimaryCtxRetain(&raw mut context, device as CUdevice).is_success());
            assert!(driver.cuCtxSetCurrent(context).is_success());
            assert!(driver.cuMemAlloc(address, 8).is_success());
            let values = [1.0_f32 + device as f32, 10.0];
            assert!(driver.cuMemcpyHtoD(*address, values.as_ptr().cast(), 8).is_success());
        }
        checked(nccl.ncclGroupStart());
        for (rank, address) in ranks.iter().zip(memory) {
            let place = std::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
            checked(nccl.ncclAllReduce(place, place, 2, ncclFloat32, ncclSum, *rank, CUstream::null()));
        }
        checked(nccl.ncclGroupEnd());
        for rank in ranks {
            let mut failure = ncclSuccess;
            checked(nccl.ncclCommGetAsyncError(rank, &raw mut failure));
            checked(failure);
            // Waits for what was enqueued.
            checked(nccl.ncclCommDestroy(rank));
        }
        for address in memory {
            let mut values = [0.0_f32; 2];
            assert!(driver.cuMemcpyDtoH(values.as_mut_ptr().cast(), address, 8).is_success());
            assert_eq!(values, [3.0, 20.0]);
        }
    }
}
