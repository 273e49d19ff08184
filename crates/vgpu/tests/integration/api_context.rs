//! Devices, contexts and handles through the driver table.

use std::ffi::CStr;

use crate::api_common::*;
use rtcg_cuda_sys::*;

#[test]
fn device_describes_itself() {
    ok!(cuInit(0));
    let mut count = 0;
    ok!(cuDeviceGetCount(&raw mut count));
    assert!(count >= 1);
    let mut dev = -1;
    ok!(cuDeviceGet(&raw mut dev, 0));
    fails!(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&raw mut dev, count));
    fails!(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&raw mut dev, -1));

    let mut name = [0; 200];
    ok!(cuDeviceGetName(name.as_mut_ptr(), 200, dev));
    // SAFETY: the driver terminates the name.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap();
    assert!(name.starts_with("rtcg virtual GPU ("), "{name}");
    let mut short = [1; 5];
    ok!(cuDeviceGetName(short.as_mut_ptr(), 5, dev));
    assert_eq!(short.map(|c| c as u8), *b"rtcg\0");

    for (_, attribute) in
        CUdevice_attribute::NAMED_CONSTANTS.iter().filter(|(_, a)| *a != CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX)
    {
        let mut value = i32::MIN;
        ok!(cuDeviceGetAttribute(&raw mut value, *attribute, dev));
        assert_ne!(value, i32::MIN);
    }
    let mut value = 0;
    fails!(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&raw mut value, CUdevice_attribute(99_999), dev));
    let mut total = 0;
    ok!(cuDeviceTotalMem(&raw mut total, dev));
    assert!(total >= 64 << 20);
}

#[test]
fn bus_id_leads_back_to_the_device() {
    ok!(cuInit(0));
    let mut id = [0; 32];
    ok!(cuDeviceGetPCIBusId(id.as_mut_ptr(), 32, 0));
    let mut dev = -1;
    ok!(cuDeviceGetByPCIBusId(&raw mut dev, id.as_ptr()));
    assert_eq!(dev, 0);
    fails!(CUDA_ERROR_INVALID_VALUE, cuDeviceGetPCIBusId(id.as_mut_ptr(), 3, 0));
    fails!(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&raw mut dev, c"0000:ff:00.0".as_ptr()));
}

#[test]
fn context_stack_is_per_thread() {
    let a = new_context();
    let b = new_context();
    let mut current = CUcontext::null();
    ok!(cuCtxGetCurrent(&raw mut current));
    assert_eq!(current, b);
    std::thread::spawn(move || {
        let mut other = a;
        ok!(cuCtxGetCurrent(&raw mut other));
        assert!(other.is_null());
        fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
        ok!(cuCtxPushCurrent(a));
        ok!(cuCtxSynchronize());
    })
    .join()
    .unwrap();
    ok!(cuCtxPopCurrent(&raw mut current));
    assert_eq!(current, b);
    ok!(cuCtxGetCurrent(&raw mut current));
    assert_eq!(current, a);
    ok!(cuCtxDestroy(a));
    ok!(cuCtxDestroy(b));
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&raw mut current));
}

#[test]
fn handles_of_a_dead_context_are_refused() {
    let ctx = new_context();
    let (s, e, p) = (new_stream(0), new_event(0), alloc(1000));
    ok!(cuEventRecord(e, s));
    // Current here, destroyed elsewhere.
    std::thread::spawn(move || ok!(cuCtxDestroy(ctx))).join().unwrap();
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize(s));
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventQuery(e));
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemFree(p));
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamDestroy(s));
    fails!(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(ctx));
    let mut current = CUcontext::null();
    ok!(cuCtxPopCurrent(&raw mut current));
    // A live context does not know the dead one's objects either.
    let other = new_context();
    assert!(call!(cuStreamSynchronize(s)).is_err());
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    ok!(cuCtxDestroy(other));
}

#[test]
fn forged_handles_are_refused() {
    let ctx = new_context();
    for number in [3_usize, 0xdead, 0x1200_0000_0000_0010, usize::MAX, 1 << 47] {
        let forged = std::ptr::without_provenance_mut(number);
        fails!(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(CUstream(forged)));
        fails!(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(CUevent(forged)));
        fails!(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(CUmodule(forged)));
        fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(CUcontext(forged)));
        fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(CUmemoryPool(forged)));
        fails!(
            CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(
                CUfunction(forged),
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                CUstream::null(),
                std::ptr::null_mut(),
                std::ptr::null_mut()
            )
        );
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn attach_and_detach_count() {
    let ctx = new_context();
    let mut again = CUcontext::null();
    ok!(cuCtxAttach(&raw mut again, 0));
    assert_eq!(again, ctx);
    ok!(cuCtxDetach(ctx));
    ok!(cuCtxSynchronize());
    ok!(cuCtxDetach(ctx));
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    assert!(call!(cuCtxDetach(ctx)).is_err());
}

#[test]
fn limits_and_preferences_are_kept() {
    let ctx = new_context();
    let mut value = 0;
    ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 4096));
    ok!(cuCtxGetLimit(&raw mut value, CUlimit::CU_LIMIT_STACK_SIZE));
    assert_eq!(value, 4096);
    fails!(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(&raw mut value, CUlimit(99)));
    ok!(cuCtxSetCacheConfig(CUfunc_cache::CU_FUNC_CACHE_PREFER_L1));
    let mut config = CUfunc_cache(0);
    ok!(cuCtxGetCacheConfig(&raw mut config));
    assert_eq!(config, CUfunc_cache::CU_FUNC_CACHE_PREFER_L1);
    let (mut least, mut greatest) = (9, 9);
    ok!(cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest));
    assert!(least > greatest);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn error_texts_are_cudas() {
    let text = |code| {
        let mut p = std::ptr::null();
        ok!(cuGetErrorString(code, &raw mut p));
        // SAFETY: the driver gave a string of static lifetime.
        unsafe { CStr::from_ptr(p) }.to_str().unwrap()
    };
    assert_eq!(text(CUresult::CUDA_ERROR_INVALID_VALUE), "invalid argument");
    assert_eq!(text(CUresult::CUDA_ERROR_LAUNCH_FAILED), "unspecified launch failure");
    for (name, code) in CUresult::NAMED_CONSTANTS {
        let mut p = std::ptr::null();
        ok!(cuGetErrorName(*code, &raw mut p));
        // SAFETY: the driver gave a string of static lifetime.
        assert_eq!(unsafe { CStr::from_ptr(p) }.to_str().unwrap(), *name);
    }
    let mut p = std::ptr::null();
    fails!(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUresult(4242), &raw mut p));
    assert!(p.is_null());
}

#[test]
fn coverage_tells_what_is_missing() {
    let coverage: Vec<_> = driver_table().function_coverage().collect();
    let has = |name: &str| coverage.iter().find(|c| c.name == name).is_some_and(|c| c.resolved);
    assert!(
        ["cuInit", "cuLaunchKernel", "cuMemcpy3DPeerAsync", "cuLinkComplete", "cuOccupancyMaxPotentialBlockSize"]
            .iter()
            .all(|n| has(n))
    );
    assert!(!has("cuTensorMapEncodeTiled"));
    assert!(driver_table().missing_symbol("cuTensorMapEncodeTiled").is_some());
}

#[test]
fn functions_are_found_by_name() {
    ok!(cuInit(0));
    let mut p = std::ptr::null_mut();
    let mut status = CUdriverProcAddressQueryResult(7);
    ok!(cuGetProcAddress(c"cuMemAlloc".as_ptr(), &raw mut p, 12_000, 0, &raw mut status));
    assert!(!p.is_null() && status.0 == 0);
    assert_eq!(rtcg_vgpu::resolve_symbol("cuMemAlloc_v2"), Some(p.cast_const()));
    // The same symbol and name for two forms: the symbol is the older one's.
    let (older, newer) = (rtcg_vgpu::resolve_function("cuMemAdvise_v1"), rtcg_vgpu::resolve_function("cuMemAdvise"));
    assert_ne!(older, newer);
    assert_eq!((rtcg_vgpu::resolve_symbol("cuMemAdvise"), rtcg_vgpu::resolve_symbol("cuMemAdvise_v2")), (older, newer));
    ok!(cuGetProcAddress(c"cuMemAdvise".as_ptr(), &raw mut p, 12_000, 0, &raw mut status));
    assert_eq!(Some(p.cast_const()), older);
    ok!(cuGetProcAddress(c"cuNoSuchFunction".as_ptr(), &raw mut p, 12_000, 0, &raw mut status));
    assert!(p.is_null() && status.0 == 1);
}
