//! Loading PTX, launching with arguments of eight bytes, reading memory.

use rtcg_cuda_sys::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

const PTX_HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module from PTX without its header.
pub(crate) fn load_module(body: &str) -> CUmodule {
    let text = CString::new(format!("{PTX_HEADER}{body}")).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    module
}

pub(crate) fn get_function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut function, module, name.as_ptr()));
    function
}

/// Launches and waits.
pub(crate) fn launch_and_wait(f: CUfunction, grid: u32, block: u32, arguments: &[u64]) -> Result<(), CUresult> {
    let mut places: Vec<*mut c_void> = arguments.iter().map(|a| std::ptr::from_ref(a).cast_mut().cast()).collect();
    let none = null_mut();
    call!(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, CUstream::null(), places.as_mut_ptr(), none))?;
    call!(cuCtxSynchronize())
}

pub(crate) fn read_u32s(at: CUdeviceptr, n: usize) -> Vec<u32> {
    let mut values = vec![0_u32; n];
    ok!(cuMemcpyDtoH(values.as_mut_ptr().cast(), at, n * 4));
    values
}
