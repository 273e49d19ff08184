//! Several virtual devices in one process.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::api_common::*;
use rtcg_cuda_sys::*;

const STORE_PTX: &std::ffi::CStr = c".version 7.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 p, .param .u32 v)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
    st.global.u32 [%rd1], %r1;
    ret;
}
";

fn launch_store(p: CUdeviceptr, v: u32, s: CUstream) -> CUfunction {
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&raw mut module, STORE_PTX.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut function, module, c"store".as_ptr()));
    let mut arguments: [*mut c_void; 2] = [(&raw const p).cast_mut().cast(), (&raw const v).cast_mut().cast()];
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, arguments.as_mut_ptr(), null_mut()));
    function
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo(&raw mut free, &raw mut total));
    assert_eq!(total, 64 << 20);
    free
}

fn read_u32(p: CUdeviceptr) -> u32 {
    let mut seen = 0_u32;
    ok!(cuMemcpyDtoH((&raw mut seen).cast(), p, 4));
    seen
}

/// One test, because the number of devices is read once.
#[test]
fn three_devices() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "3", "RTCG_VIRTUAL_MEMORY" = "64M");
    ok!(cuInit(0));
    let mut n = 0;
    ok!(cuDeviceGetCount(&raw mut n));
    assert_eq!(n, 3);
    fails!(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&raw mut n, 3));
    let can = |a, b| {
        let mut can = 7;
        ok!(cuDeviceCanAccessPeer(&raw mut can, a, b));
        can
    };
    assert_eq!((can(0, 1), can(2, 0), can(1, 1)), (1, 1, 0));
    let [a, b, c] = [0, 1, 2].map(new_context_on);
    memory_is_counted_for_each_device(a, b);
    peers_are_enabled_one_by_one(a, b, c);
    copies_cross_devices(a, b);
    attributes_tell_who_reaches_memory(a, b);
    streams_and_events_cross_devices(a, b);
    a_fault_poisons_one_device(a, b, c);
    [a, b, c].into_iter().for_each(|ctx| ok!(cuCtxDestroy(ctx)));
}

fn memory_is_counted_for_each_device(a: CUcontext, b: CUcontext) {
    make_current(a);
    let before = free_bytes();
    let p = alloc(40 << 20);
    let mut q = 0;
    fails!(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&raw mut q, 40 << 20));
    make_current(b);
    assert_eq!(free_bytes(), 64 << 20);
    let q = alloc(40 << 20);
    let mut device = 9;
    let place = (&raw mut device).cast();
    ok!(cuPointerGetAttribute(place, CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    assert_eq!(device, 1);
    ok!(cuPointerGetAttribute(place, CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    assert_eq!(device, 0);
    // A block goes back to the device it came from, whoever frees it.
    ok!(cuMemFree(p));
    ok!(cuMemFree(q));
    assert_eq!(free_bytes(), 64 << 20);
    make_current(a);
    assert_eq!(free_bytes(), before);
}

/// What `cuPointerGetAttribute` says in `ctx` about kernels and the memory at `p`: whether there is an address for
/// them, and their rights.
fn pointer_access(ctx: CUcontext, p: CUdeviceptr) -> (bool, u64) {
    use CUpointer_attribute as A;
    make_current(ctx);
    let (mut address, mut rights) = (0_u64, 9_u64);
    let found = call!(cuPointerGetAttribute((&raw mut address).cast(), A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p));
    assert!(address == p || found == Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    ok!(cuPointerGetAttribute((&raw mut rights).cast(), A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p));
    (found.is_ok(), rights)
}

fn attributes_tell_who_reaches_memory(a: CUcontext, b: CUcontext) {
    make_current(a);
    let p = alloc(4096);
    let mut managed = 0;
    ok!(cuMemAllocManaged(&raw mut managed, 4096, 1));
    assert_eq!(
        [pointer_access(a, p), pointer_access(b, p), pointer_access(b, managed)],
        [(true, 3), (false, 0), (true, 3)]
    );
    ok!(cuCtxEnablePeerAccess(a, 0));
    assert_eq!(pointer_access(b, p + 100), (true, 3));
    ok!(cuCtxDisablePeerAccess(a));
    assert_eq!(pointer_access(b, p), (false, 0));
    make_current(a);
    ok!(cuMemFree(p));
    ok!(cuMemFree(managed));
}

fn peers_are_enabled_one_by_one(a: CUcontext, b: CUcontext, c: CUcontext) {
    make_current(a);
    fails!(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(b));
    ok!(cuCtxEnablePeerAccess(b, 0));
    fails!(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(b, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(c, 1));
    fails!(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(a, 0));
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(CUcontext::null(), 0));
    let other = new_context_on(0);
    make_current(a);
    fails!(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(other, 0));
    ok!(cuCtxDestroy(other));
    // Access has a direction.
    make_current(b);
    fails!(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(a));
    make_current(a);
    ok!(cuCtxDisablePeerAccess(b));
    ok!(cuCtxEnablePeerAccess(b, 0));
    // A kernel of one device writes memory of another.
    make_current(b);
    let q = alloc(4);
    make_current(a);
    launch_store(q, 11, CUstream::null());
    ok!(cuCtxSynchronize());
    assert_eq!(read_u32(q), 11);
    make_current(b);
    ok!(cuMemFree(q));
}

fn copies_cross_devices(a: CUcontext, b: CUcontext) {
    make_current(b);
    let q = alloc(1 << 20);
    make_current(a);
    let p = alloc(1 << 20);
    ok!(cuMemsetD32(p, 5, 1 << 18));
    ok!(cuMemcpyPeer(q, b, p, a, 1 << 20));
    ok!(cuCtxSynchronize());
    assert_eq!(read_u32(q + (1 << 20) - 4), 5);
    let s = new_stream(1);
    ok!(cuMemsetD32Async(p, 6, 1 << 18, s));
    ok!(cuMemcpyPeerAsync(q, b, p, a, 1 << 20, s));
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_u32(q + (1 << 20) - 4), 6);
    let copy = CUDA_MEMCPY3D_PEER {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        srcPitch: 1024,
        srcHeight: 16,
        srcContext: a,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: q,
        dstPitch: 512,
        dstHeight: 8,
        dstContext: b,
        WidthInBytes: 256,
        Height: 4,
        Depth: 2,
        ..Default::default()
    };
    ok!(cuMemsetD32(p + 16 * 1024 + 3 * 1024, 77, 1));
    ok!(cuMemcpy3DPeer(&raw const copy));
    ok!(cuCtxSynchronize());
    assert_eq!((read_u32(q + 8 * 512 + 3 * 512), read_u32(q)), (77, 6));
    // Null is the current context.
    ok!(cuMemsetD32(p, 78, 1));
    ok!(cuMemcpyPeer(q, CUcontext::null(), p, a, 4));
    assert_eq!(read_u32(q), 78);
    fails!(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(q, CUcontext(std::ptr::dangling_mut()), p, a, 4));
    ok!(cuMemFree(p));
    ok!(cuMemFree(q));
}

fn streams_and_events_cross_devices(a: CUcontext, b: CUcontext) {
    make_current(b);
    let (s, flag) = (new_stream(1), alloc(8));
    ok!(cuMemsetD32(flag, 0, 2));
    ok!(cuCtxSynchronize());
    let e = new_event(2);
    ok!(cuStreamWaitValue32(s, flag, 1, 1));
    launch_store(flag + 4, 3, s);
    ok!(cuEventRecord(e, s));
    make_current(a);
    // An event belongs to its context; any stream may wait for it.
    let t = new_stream(1);
    fails!(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(e, t));
    ok!(cuStreamWaitEvent(t, e, 0));
    let p = alloc(4);
    ok!(cuMemcpyPeerAsync(p, a, flag + 4, b, 4, t));
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(t));
    ok!(cuMemsetD32(flag, 1, 1));
    ok!(cuStreamSynchronize(t));
    assert_eq!(read_u32(p), 3);
    // A stream works in its own context, whichever is current.
    let mut device = 9;
    ok!(cuStreamGetDevice(s, &raw mut device));
    assert_eq!(device, 1);
    ok!(cuStreamSynchronize(s));
}

fn a_fault_poisons_one_device(a: CUcontext, b: CUcontext, c: CUcontext) {
    make_current(c);
    launch_store(16, 1, CUstream::null());
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    for ctx in [a, b] {
        make_current(ctx);
        let p = alloc(4);
        launch_store(p, 8, CUstream::null());
        assert_eq!(read_u32(p), 8);
    }
}
