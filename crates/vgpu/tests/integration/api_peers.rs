//! Checked mode with several devices: whose memory a kernel may use.

use crate::api_common::*;
use rtcg_cuda_sys::*;
use rtcg_vgpu_exec::check::{self, CheckSet, FindingKind};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// `side` copies a word per thread side by side, `each` in another order of lanes, `one` a word that all
/// threads read.
const COPY_KERNELS_PTX: &CStr = c".version 7.0
.target sm_80
.address_size 64
.visible .entry side(.param .u64 to, .param .u64 from)
{
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry each(.param .u64 to, .param .u64 from)
{
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; mov.u32 %r1, %tid.x; xor.b32 %r1, %r1, 5;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry one(.param .u64 to, .param .u64 from)
{
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd5, %rd1, %rd3; ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd5], %r2;
    ret;
}
";

const COPY_KERNELS: [&CStr; 3] = [c"side", c"each", c"one"];
const BUFFER_BYTES: usize = 4 * 64;

/// Runs the kernel `name` in the current context; gives what the wait says.
fn run_copy_kernel(name: &CStr, to: CUdeviceptr, from: CUdeviceptr) -> Result<(), CUresult> {
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&raw mut module, COPY_KERNELS_PTX.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut function, module, name.as_ptr()));
    let mut arguments: [*mut c_void; 2] = [(&raw const to).cast_mut().cast(), (&raw const from).cast_mut().cast()];
    ok!(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, CUstream::null(), arguments.as_mut_ptr(), null_mut()));
    call!(cuCtxSynchronize())
}

fn alloc_filled() -> CUdeviceptr {
    let p = alloc(BUFFER_BYTES);
    ok!(cuMemsetD32(p, 7, BUFFER_BYTES / 4));
    ok!(cuCtxSynchronize());
    p
}

/// One test, because the number of devices is read once.
#[test]
fn kernels_use_the_memory_of_their_device_and_of_peers() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "3", "RTCG_VIRTUAL_MEMORY" = "64M");
    check::configure_checks(CheckSet { init: true, memory: true, ..CheckSet::NO_CHECKS }).unwrap();
    ok!(cuInit(0));
    let owner = new_context_on(1);
    let there = alloc_filled();
    foreign_memory_is_refused(owner, there);
    enabled_peers_may_access_memory(owner, there);
    memory_for_all_devices_stays_so(owner);
    memory_owner_survives_copies(owner, there);
    ok!(cuCtxDestroy(owner));
}

/// Reading and writing, in each way that compiled code checks; the error names both devices.
fn foreign_memory_is_refused(owner: CUcontext, there: CUdeviceptr) {
    for (i, name) in COPY_KERNELS.iter().enumerate() {
        for write in [false, true] {
            let ctx = new_context_on(if i == 1 { 2 } else { 0 });
            let here = alloc_filled();
            let (to, from) = if write { (there, here) } else { (here, there) };
            assert_eq!(run_copy_kernel(name, to, from), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), "{name:?} {write}");
            let detail = rtcg_vgpu::last_error_detail().unwrap_or_default();
            let devices = format!("device 1 by a kernel of device {}, without peer access", if i == 1 { 2 } else { 0 });
            assert!(detail.contains(&devices) && detail.contains("256-byte allocation"), "{detail}");
            ok!(cuCtxDestroy(ctx));
        }
    }
    make_current(owner);
    COPY_KERNELS.iter().for_each(|name| assert_eq!(run_copy_kernel(name, there, there), Ok(())));
}

fn enabled_peers_may_access_memory(owner: CUcontext, there: CUdeviceptr) {
    let ctx = new_context_on(0);
    ok!(cuCtxEnablePeerAccess(owner, 0));
    let here = alloc_filled();
    for name in COPY_KERNELS {
        assert_eq!(run_copy_kernel(name, there, here), Ok(()));
        assert_eq!(run_copy_kernel(name, here, there), Ok(()));
    }
    ok!(cuCtxDisablePeerAccess(owner));
    assert_eq!(run_copy_kernel(c"side", here, there), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    ok!(cuCtxDestroy(ctx));
}

/// Managed and page-locked memory, and that of a pool which other devices were let into.
fn memory_for_all_devices_stays_so(owner: CUcontext) {
    make_current(owner);
    let (mut managed, mut pooled, mut host) = (0, 0, null_mut());
    ok!(cuMemAllocManaged(&raw mut managed, BUFFER_BYTES, 1));
    ok!(cuMemAllocHost(&raw mut host, BUFFER_BYTES));
    ok!(cuMemAllocAsync(&raw mut pooled, BUFFER_BYTES, CUstream::null()));
    ok!(cuMemsetD32(pooled, 1, BUFFER_BYTES / 4));
    ok!(cuCtxSynchronize());
    let ctx = new_context_on(0);
    let here = alloc_filled();
    assert_eq!(run_copy_kernel(c"side", here, pooled), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    let rights = CUmemAccessDesc { location, flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    let mut pool = CUmemoryPool::null();
    ok!(cuDeviceGetDefaultMemPool(&raw mut pool, 1));
    ok!(cuMemPoolSetAccess(pool, &raw const rights, 1));
    ok!(cuCtxDestroy(ctx));
    let ctx = new_context_on(0);
    let here = alloc_filled();
    for there in [managed, host as CUdeviceptr, pooled] {
        for name in COPY_KERNELS {
            assert_eq!(run_copy_kernel(name, there, here), Ok(()));
            assert_eq!(run_copy_kernel(name, here, there), Ok(()));
        }
    }
    ok!(cuCtxDestroy(ctx));
}

/// Copies and fills of the host leave a byte with its device, and what is unwritten stays unwritten.
fn memory_owner_survives_copies(owner: CUcontext, there: CUdeviceptr) {
    let ctx = new_context_on(0);
    let here = alloc_filled();
    let unwritten = alloc(BUFFER_BYTES);
    ok!(cuMemcpyPeer(there, owner, here, ctx, BUFFER_BYTES));
    ok!(cuCtxSynchronize());
    COPY_KERNELS.iter().for_each(|name| assert_eq!(run_copy_kernel(name, here, here), Ok(())));
    assert!(!check::findings().iter().any(|f| f.kind == FindingKind::Uninitialised));
    ok!(cuMemcpyDtoD(here, unwritten, BUFFER_BYTES));
    assert_eq!(run_copy_kernel(c"side", unwritten, here), Ok(()));
    assert!(check::findings().iter().any(|f| f.kind == FindingKind::Uninitialised && f.kernel == "side"));
    make_current(owner);
    COPY_KERNELS.iter().for_each(|name| assert_eq!(run_copy_kernel(name, there, there), Ok(())));
    make_current(ctx);
    assert_eq!(run_copy_kernel(c"side", here, there), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    ok!(cuCtxDestroy(ctx));
}
