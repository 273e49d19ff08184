//! What a fault leaves of its context and its device.

use crate::api_common::*;
use rtcg_cuda_sys::*;
use std::ptr::null_mut;

const TRAP_PTX: &std::ffi::CStr = c".version 7.0
.target sm_80
.address_size 64
.visible .entry trap() { trap; }
";

const FAULT: Result<(), CUresult> = Err(CUresult::CUDA_ERROR_LAUNCH_FAILED);

/// A function whose kernel has trapped in the current context.
fn trapped_function() -> CUfunction {
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&raw mut module, TRAP_PTX.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut function, module, c"trap".as_ptr()));
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), null_mut(), null_mut()));
    assert_eq!(call!(cuCtxSynchronize()), FAULT);
    function
}

/// What calls about a context say in which a kernel has trapped.
fn check_faulted_context(function: CUfunction, p: CUdeviceptr, event: CUevent) {
    let (mut size, mut number, mut config) = (0, 0, CUfunc_cache(0));
    let mut ms = 0.0;
    assert_eq!(call!(cuCtxGetLimit(&raw mut size, CUlimit::CU_LIMIT_STACK_SIZE)), FAULT);
    assert_eq!(call!(cuCtxGetCacheConfig(&raw mut config)), FAULT);
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    assert_eq!(call!(cuFuncGetAttribute(&raw mut number, attribute, function)), FAULT);
    assert_eq!(call!(cuEventQuery(event)), FAULT);
    assert_eq!(call!(cuEventElapsedTime(&raw mut ms, event, event)), FAULT);
    let (mut current, mut address) = (CUcontext::null(), 0_u64);
    ok!(cuCtxGetCurrent(&raw mut current));
    ok!(cuCtxGetDevice(&raw mut number));
    ok!(cuDeviceGetAttribute(&raw mut number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    ok!(cuPointerGetAttribute((&raw mut address).cast(), attribute, p));
    assert_eq!(call!(cuMemFree(p)), FAULT);
}

#[test]
fn a_fault_ends_its_context_only() {
    let ctx = new_context();
    let (p, event) = (alloc(64), new_event(0));
    let function = trapped_function();
    check_faulted_context(function, p, event);
    assert_eq!(call!(cuEventDestroy(event)), FAULT);
    let other = new_context();
    assert_ne!(alloc(64), 0);
    ok!(cuCtxDestroy(other));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_sticky_fault_ends_its_device() {
    own_process!("RTCG_FAULTS" = "sticky", "RTCG_VIRTUAL_DEVICES" = "2");
    ok!(cuInit(0));
    let mut ctx = CUcontext::null();
    ok!(cuDevicePrimaryCtxRetain(&raw mut ctx, 0));
    make_current(ctx);
    let (p, event, stream) = (alloc(64), new_event(0), new_stream(0));
    let function = trapped_function();
    check_faulted_context(function, p, event);
    assert_eq!(call!(cuEventDestroy(event)), FAULT);
    assert_eq!(call!(cuStreamDestroy(stream)), FAULT);
    let (mut made, mut q) = (CUcontext::null(), 0);
    assert_eq!(call!(cuCtxCreate(&raw mut made, null_mut(), 0, 0)), FAULT);
    fails!(CUDA_ERROR_INVALID_VALUE, cuCtxDestroy(CUcontext::null()));
    let (mut flags, mut active) = (0, 0);
    ok!(cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active));
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(call!(cuDevicePrimaryCtxRetain(&raw mut made, 0)), FAULT);
    make_current(CUcontext::null());
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&raw mut q, 64));
    // Another device works.
    let other = new_context_on(1);
    assert_ne!(alloc(64), 0);
    ok!(cuCtxDestroy(other));
}

#[test]
fn a_setting_of_faults_that_cannot_be_read_is_an_error() {
    own_process!("RTCG_FAULTS" = "often");
    fails!(CUDA_ERROR_INVALID_VALUE, cuInit(0));
}
