//! Modules, launches and faults through the driver table, with kernels in PTX.

use std::ffi::{CStr, CString, c_void};
use std::time::{Duration, Instant};

use crate::api_common::*;
use rtcg_cuda_sys::*;

const PTX_HEADER: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// `p[i] = p[i] * a + b` for `i < n`.
const AXPB_PTX: &str = "
.visible .entry axpb(.param .u64 p, .param .u32 n, .param .f32 a, .param .f32 b)
{
    .reg .pred %q; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [a];
    ld.param.f32 %f2, [b];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %q, %r5, %r1;
    @%q bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f3, [%rd4];
    fma.rn.f32 %f4, %f3, %f1, %f2;
    st.global.f32 [%rd4], %f4;
DONE:
    ret;
}
";

/// Stores one value at an address, wherever that is.
const STORE_AND_TRAP_PTX: &str = "
.visible .entry poke(.param .u64 p)
{
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 77;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry give_up() { trap; ret; }
.visible .entry nothing() { ret; }
";

/// Waits until another thread writes to `p[0]`, then writes `p[1]`.
const SPIN_WAIT_PTX: &str = "
.visible .entry spin(.param .u64 p)
{
    .reg .pred %q; .reg .b64 %rd<2>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %q, %r1, 0;
    @%q bra AGAIN;
    mov.u32 %r2, 5;
    st.volatile.global.u32 [%rd1+4], %r2;
    ret;
}
";

const GLOBAL_VARIABLES_PTX: &str = "
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.visible .entry bump()
{
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [counter];
    add.u32 %r2, %r1, 1;
    st.global.u32 [counter], %r2;
    ret;
}
";

fn load_module(body: &str) -> CUmodule {
    let text = CString::new(format!("{PTX_HEADER}{body}")).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    module
}

fn get_function(module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut function, module, name.as_ptr()));
    function
}

/// Launches with an array of pointers to arguments.
macro_rules! launch {
    ($f:expr, $grid:expr, $block:expr, $stream:expr $(, $arg:expr)*) => {{
        let mut arguments: Vec<*mut c_void> = vec![$((&raw const $arg).cast_mut().cast()),*];
        let arguments = if arguments.is_empty() { std::ptr::null_mut() } else { arguments.as_mut_ptr() };
        call!(cuLaunchKernel($f, $grid, 1, 1, $block, 1, 1, 0, $stream, arguments, std::ptr::null_mut()))
    }};
}

fn read_f32s(p: CUdeviceptr, n: usize) -> Vec<f32> {
    let mut host = vec![0.0; n];
    ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), p, 4 * n));
    host
}

#[test]
fn all_ways_to_pass_arguments() {
    let ctx = new_context();
    let f = get_function(load_module(AXPB_PTX), c"axpb");
    let n = 1000_u32;
    let p = alloc(4 * n as usize);
    ok!(cuMemsetD32(p, 1.0_f32.to_bits(), n as usize));
    let (a, b) = (2.0_f32, 1.0_f32);
    assert_eq!(launch!(f, 4, 256, CUstream::null(), p, n, a, b), Ok(()));
    assert!(read_f32s(p, 1000).iter().all(|&x| x == 3.0));

    #[repr(C)]
    struct PackedArguments(u64, u32, f32, f32);
    let packed = PackedArguments(p, n, 3.0, 0.5);
    // Without what a compiler adds behind the last.
    let mut size = 20_usize;
    let mut extra = [
        CU_LAUNCH_PARAM_BUFFER_POINTER,
        (&raw const packed).cast_mut().cast(),
        CU_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut size).cast(),
        CU_LAUNCH_PARAM_END,
    ];
    ok!(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut(), extra.as_mut_ptr()));
    assert!(read_f32s(p, 1000).iter().all(|&x| x == 9.5));
    // What the buffer lacks is zero; an empty one is refused.
    size = 12;
    std::hint::black_box(&size);
    ok!(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut(), extra.as_mut_ptr()));
    assert!(read_f32s(p, 1000).iter().all(|&x| x == 0.0));
    ok!(cuMemsetD32(p, 9.5_f32.to_bits(), n as usize));
    size = 0;
    std::hint::black_box(&size);
    fails!(
        CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut(), extra.as_mut_ptr())
    );

    // More than the parameters is refused otherwise than less.
    size = 24;
    std::hint::black_box(&size);
    fails!(
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut(), extra.as_mut_ptr())
    );

    fails!(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(f, 1025, 1, 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(f, 64, 17, 1));
    ok!(cuFuncSetBlockShape(f, 250, 1, 1));
    ok!(cuParamSetSize(f, 20));
    ok!(cuParamSetv(f, 0, (&raw const p).cast_mut().cast(), 8));
    ok!(cuParamSeti(f, 8, n));
    ok!(cuParamSetf(f, 12, 2.0));
    ok!(cuParamSetf(f, 16, 1.0));
    ok!(cuLaunchGrid(f, 4, 1));
    assert!(read_f32s(p, 1000).iter().all(|&x| x == 20.0));

    let s = new_stream(0);
    let config = CUlaunchConfig {
        gridDimX: 4,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 256,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: s,
        ..Default::default()
    };
    let mut arguments: [*mut c_void; 4] = [
        (&raw const p).cast_mut().cast(),
        (&raw const n).cast_mut().cast(),
        (&raw const a).cast_mut().cast(),
        (&raw const b).cast_mut().cast(),
    ];
    ok!(cuLaunchKernelEx(&raw const config, f, arguments.as_mut_ptr(), std::ptr::null_mut()));
    assert!(read_f32s(p, 1000).iter().all(|&x| x == 41.0));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn attributes_of_launches_are_checked() {
    use CUlaunchAttributeID as Id;
    let ctx = new_context();
    let f = get_function(load_module(STORE_AND_TRAP_PTX), c"nothing");
    let launch = |id: Id, set: &dyn Fn(&mut CUlaunchAttributeValue)| {
        let mut attribute = CUlaunchAttribute { id, ..Default::default() };
        set(&mut attribute.value);
        let mut config = CUlaunchConfig { attrs: &raw mut attribute, numAttrs: 1, ..Default::default() };
        (config.gridDimX, config.gridDimY, config.gridDimZ) = (1, 1, 1);
        (config.blockDimX, config.blockDimY, config.blockDimZ) = (1, 1, 1);
        call!(cuLaunchKernelEx(&raw const config, f, std::ptr::null_mut(), std::ptr::null_mut()))
    };
    let (good, bad) = (Ok(()), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    let carveout =
        |percent| launch(Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &|v| v.sharedMemCarveout = percent);
    assert_eq!([0, 50, 100, 101, u32::MAX].map(carveout), [good, good, good, bad, bad]);
    let domain =
        |number| launch(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &|v| v.memSyncDomain = CUlaunchMemSyncDomain(number));
    assert_eq!([0, 1, 2].map(domain), [good, good, bad]);
    let window = |ratio| {
        let window = CUaccessPolicyWindow { hitRatio: ratio, ..Default::default() };
        launch(Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &|v| v.accessPolicyWindow = window)
    };
    assert_eq!([0.0, 1.0, 2.0, -1.0].map(window), [good, good, bad, bad]);
    // What only streams have, and numbers that are no attribute.
    let others = [Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, Id(15), Id(17), Id(1 << 31)];
    assert_eq!(others.map(|id| launch(id, &|_| {})), [bad; 4]);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn wrong_launches_are_refused_and_harmless() {
    let ctx = new_context();
    let f = get_function(load_module(STORE_AND_TRAP_PTX), c"nothing");
    let null = CUstream::null();
    assert_eq!(launch!(f, 0, 1, null), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(launch!(f, 1, 0, null), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(launch!(f, 1, 1025, null), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    assert_eq!(launch!(f, u32::MAX, 1, null), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    fails!(
        CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49 << 10, null, std::ptr::null_mut(), std::ptr::null_mut())
    );
    ok!(cuFuncSetAttribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
    ok!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49 << 10, null, std::ptr::null_mut(), std::ptr::null_mut()));
    fails!(
        CUDA_ERROR_INVALID_VALUE,
        cuFuncSetAttribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 164 << 10)
    );
    let poke = get_function(load_module(STORE_AND_TRAP_PTX), c"poke");
    assert_eq!(launch!(poke, 1, 1, null), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    ok!(cuCtxSynchronize());
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn faults_poison_the_context_until_it_is_destroyed() {
    let ctx = new_context();
    let p = alloc(100 << 10);
    let module = load_module(STORE_AND_TRAP_PTX);
    let f = get_function(module, c"poke");
    ok!(cuMemFree(p));
    // A freed block of its own pages: the launch succeeds, what follows does not.
    assert_eq!(launch!(f, 1, 1, CUstream::null(), p), Ok(()));
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    let mut q = 0;
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&raw mut q, 4));
    fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(CUstream::null()));
    assert_eq!(launch!(f, 1, 1, CUstream::null(), p), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    let report = rtcg_vgpu::last_fault_report(CUcontext::null()).unwrap();
    assert!(report.contains("poke"), "{report}");
    assert_eq!(rtcg_vgpu::last_fault_report(ctx), Some(report));
    ok!(cuCtxDestroy(ctx));

    let ctx = new_context();
    assert_eq!(rtcg_vgpu::last_fault_report(ctx), None);
    for wild in [0_u64, 8, 0xdead_beef_0000, 1 << 63] {
        let inner = new_context();
        let f = get_function(load_module(STORE_AND_TRAP_PTX), c"poke");
        // Big grids go through a stream's thread, small ones run in the call.
        assert_eq!(launch!(f, 1 + wild as u32 % 64 * 100, 128, CUstream::null(), wild), Ok(()));
        fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
        ok!(cuCtxDestroy(inner));
    }
    let f = get_function(load_module(STORE_AND_TRAP_PTX), c"give_up");
    assert_eq!(launch!(f, 1000, 32, new_stream(0)), Ok(()));
    let code = call!(cuCtxSynchronize()).unwrap_err();
    assert!([CUresult::CUDA_ERROR_LAUNCH_FAILED, CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION].contains(&code));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_waiting_kernel_does_not_block_its_launch() {
    let ctx = new_context();
    let f = get_function(load_module(SPIN_WAIT_PTX), c"spin");
    let (mut host, s) = (std::ptr::null_mut(), new_stream(1));
    ok!(cuMemHostAlloc(&raw mut host, 8, 0));
    let p = host.addr() as u64;
    // SAFETY: page-locked memory of eight bytes.
    let words = unsafe {
        [
            std::sync::atomic::AtomicU32::from_ptr(host.cast()),
            std::sync::atomic::AtomicU32::from_ptr(host.cast::<u32>().add(1)),
        ]
    };
    words.iter().for_each(|w| w.store(0, std::sync::atomic::Ordering::SeqCst));
    assert_eq!(launch!(f, 1, 1, s, p), Ok(()));
    std::thread::sleep(Duration::from_millis(5));
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    words[0].store(1, std::sync::atomic::Ordering::SeqCst);
    ok!(cuStreamSynchronize(s));
    assert_eq!(words[1].load(std::sync::atomic::Ordering::SeqCst), 5);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn big_grids_run_behind_the_launch_and_in_order() {
    let ctx = new_context();
    let f = get_function(load_module(AXPB_PTX), c"axpb");
    let n = 4_u32 << 20;
    let p = alloc(4 * n as usize);
    let s = new_stream(1);
    let (start, end) = (new_event(0), new_event(0));
    ok!(cuMemsetD32Async(p, 0, n as usize, s));
    ok!(cuEventRecord(start, s));
    let begun = Instant::now();
    let (a, b) = (0.5_f32, 1.0_f32);
    for _ in 0..20 {
        assert_eq!(launch!(f, n / 256, 256, s, p, n, a, b), Ok(()));
    }
    let launching = begun.elapsed();
    ok!(cuEventRecord(end, s));
    ok!(cuStreamSynchronize(s));
    let all = begun.elapsed();
    let mut ms = 0.0;
    ok!(cuEventElapsedTime(&raw mut ms, start, end));
    assert!(ms > 0.0);
    let expected = (0..20).fold(0.0_f32, |x, _| x * a + b);
    let mut last = 0.0_f32;
    ok!(cuMemcpyDtoH((&raw mut last).cast(), p + 4 * u64::from(n - 1), 4));
    assert_eq!(last, expected);
    println!("20 launches took {launching:?} of {all:?}; on the device {ms} ms");
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn globals_are_device_memory() {
    let ctx = new_context();
    let module = load_module(GLOBAL_VARIABLES_PTX);
    let f = get_function(module, c"bump");
    let (mut p, mut size) = (0, 0);
    ok!(cuModuleGetGlobal(&raw mut p, &raw mut size, module, c"counter".as_ptr()));
    assert_eq!(size, 4);
    assert_eq!(launch!(f, 1, 1, CUstream::null()), Ok(()));
    let mut value = 0_u32;
    ok!(cuMemcpyDtoH((&raw mut value).cast(), p, 4));
    assert_eq!(value, 42);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH((&raw mut value).cast(), p, 8));
    ok!(cuModuleGetGlobal(&raw mut p, &raw mut size, module, c"table".as_ptr()));
    assert_eq!(read_f32s(p, 4), [1.0, 2.0, 3.0, 4.0]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuModuleGetGlobal(&raw mut p, &raw mut size, module, c"bump".as_ptr()));
    fails!(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&raw mut p, &raw mut size, module, c"nothing".as_ptr()));
    ok!(cuModuleUnload(module));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH((&raw mut value).cast(), p, 4));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    assert_eq!(launch!(f, 1, 1, CUstream::null()), Err(CUresult::CUDA_ERROR_INVALID_HANDLE));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn functions_describe_themselves() {
    let ctx = new_context();
    let module = load_module(AXPB_PTX);
    let f = get_function(module, c"axpb");
    assert_eq!(get_function(module, c"axpb"), f);
    let mut missing = CUfunction::null();
    fails!(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&raw mut missing, module, c"nobody".as_ptr()));
    let mut value = 0;
    ok!(cuFuncGetAttribute(&raw mut value, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    assert_eq!(value, 1024);
    ok!(cuFuncGetAttribute(&raw mut value, CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    assert_eq!(value, 80);
    let mut name = std::ptr::null();
    ok!(cuFuncGetName(&raw mut name, f));
    // SAFETY: lives as long as the module.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"axpb");
    let places: Vec<(usize, usize)> = (0..4)
        .map(|i| {
            let (mut offset, mut size) = (99, 99);
            ok!(cuFuncGetParamInfo(f, i, &raw mut offset, &raw mut size));
            (offset, size)
        })
        .collect();
    assert_eq!(places, [(0, 8), (8, 4), (12, 4), (16, 4)]);
    let mut offset = 0;
    fails!(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 4, &raw mut offset, std::ptr::null_mut()));
    let mut count = 0;
    ok!(cuModuleGetFunctionCount(&raw mut count, module));
    assert_eq!(count, 1);
    let mut blocks = 0;
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, f, 256, 0));
    assert!((1..=8).contains(&blocks));
    let (mut grid, mut block) = (0, 0);
    ok!(cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, f, None, 0, 0));
    assert!(grid >= 1 && block >= 32);
    // As many blocks as occupancy says can wait for each other.
    let mut processors = 0;
    ok!(cuDeviceGetAttribute(&raw mut processors, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    let nothing = get_function(load_module(STORE_AND_TRAP_PTX), c"nothing");
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, nothing, 256, 0));
    let most = (blocks * processors) as u32;
    ok!(cuLaunchCooperativeKernel(nothing, most, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut()));
    fails!(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchCooperativeKernel(nothing, 1 << 20, 1, 1, 256, 1, 1, 0, CUstream::null(), std::ptr::null_mut())
    );
    ok!(cuCtxSynchronize());
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn load_errors_come_with_a_log() {
    let ctx = new_context();
    let mut module = CUmodule::null();
    let text =
        CString::new(format!("{PTX_HEADER}.visible .entry k() {{\n  frobnicate.u32 %r1;\n  ret;\n}}\n")).unwrap();
    let mut log = [1_u8; 300];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
    let code =
        call!(cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()));
    assert_eq!(code, Err(CUresult::CUDA_ERROR_INVALID_PTX));
    let log = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(log.contains("frobnicate"), "{log}");
    assert_eq!(values[1].addr() as u32 as usize, log.len());
    assert_eq!(rtcg_vgpu::last_error_detail().unwrap(), log);

    let mut elf = [0x7f_u8, b'E', b'L', b'F', 2, 1, 1, 0].repeat(8);
    fails!(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&raw mut module, elf.as_ptr().cast()));
    elf[18..20].copy_from_slice(&190_u16.to_le_bytes());
    fails!(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&raw mut module, elf.as_ptr().cast()));
    fails!(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&raw mut module, c"/no/such/file.ptx".as_ptr()));
    fails!(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&raw mut module, std::ptr::null()));
    assert!(call!(cuModuleLoadData(&raw mut module, c"".as_ptr().cast())).is_err());
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn linked_texts_become_one_module() {
    let ctx = new_context();
    let caller = format!(
        "{PTX_HEADER}.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    {{
    .param .b32 x; .param .b32 r;
    st.param.b32 [x], %r1;
    call (r), twice, (x);
    ld.param.b32 %r2, [r];
    }}
    st.global.u32 [%rd1], %r2;
    ret;
}}\n"
    );
    let callee = format!(
        "{PTX_HEADER}.visible .func (.param .b32 r) twice(.param .b32 x)
{{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}}\n"
    );
    let mut link = CUlinkState::null();
    ok!(cuLinkCreate(0, std::ptr::null_mut(), std::ptr::null_mut(), &raw mut link));
    for text in [&caller, &callee] {
        let none = std::ptr::null_mut();
        let data = text.as_ptr().cast_mut().cast();
        ok!(cuLinkAddData(
            link,
            CUjitInputType::CU_JIT_INPUT_PTX,
            data,
            text.len(),
            c"part".as_ptr(),
            0,
            none,
            none.cast()
        ));
    }
    let (mut image, mut size) = (std::ptr::null_mut(), 0);
    ok!(cuLinkComplete(link, &raw mut image, &raw mut size));
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, image));
    ok!(cuLinkDestroy(link));
    let f = get_function(module, c"k");
    let p = alloc(4);
    ok!(cuMemsetD32(p, 21, 1));
    assert_eq!(launch!(f, 1, 1, CUstream::null(), p), Ok(()));
    let mut value = 0_u32;
    ok!(cuMemcpyDtoH((&raw mut value).cast(), p, 4));
    assert_eq!(value, 42);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn libraries_serve_every_context() {
    let outer = new_context();
    let text = CString::new(format!("{PTX_HEADER}{AXPB_PTX}{STORE_AND_TRAP_PTX}")).unwrap();
    let mut library = CUlibrary::null();
    let none = std::ptr::null_mut();
    ok!(cuLibraryLoadData(&raw mut library, text.as_ptr().cast(), none, none.cast(), 0, none.cast(), none.cast(), 0));
    let mut count = 0;
    ok!(cuLibraryGetKernelCount(&raw mut count, library));
    assert_eq!(count, 4);
    let mut kernel = CUkernel::null();
    ok!(cuLibraryGetKernel(&raw mut kernel, library, c"poke".as_ptr()));
    for _ in 0..2 {
        let inner = new_context();
        let p = alloc(4);
        // A kernel may stand where a function is expected.
        assert_eq!(launch!(CUfunction(kernel.0), 1, 1, CUstream::null(), p), Ok(()));
        let mut value = 0_u32;
        ok!(cuMemcpyDtoH((&raw mut value).cast(), p, 4));
        assert_eq!(value, 77);
        ok!(cuCtxDestroy(inner));
    }
    // But not in the calls about functions.
    let (stand_in, mut value, mut module) = (CUfunction(kernel.0), 0, CUmodule::null());
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    fails!(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&raw mut value, attribute, stand_in));
    let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    fails!(CUDA_ERROR_INVALID_HANDLE, cuFuncSetAttribute(stand_in, dynamic, 50_000));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuFuncSetCacheConfig(stand_in, CUfunc_cache(1)));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuFuncGetModule(&raw mut module, stand_in));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuFuncLoad(stand_in));
    ok!(cuKernelGetAttribute(&raw mut value, attribute, kernel, 0));
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut value, stand_in, 128, 0));
    // Its modules go with the library, and kernels are no variables.
    ok!(cuLibraryGetModule(&raw mut module, library));
    fails!(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
    let (mut p, mut n) = (0, 0);
    for (name, code) in [
        (c"poke", CUresult::CUDA_ERROR_INVALID_VALUE),
        (c"", CUresult::CUDA_ERROR_INVALID_VALUE),
        (c"none", CUresult::CUDA_ERROR_NOT_FOUND),
    ] {
        assert_eq!(call!(cuLibraryGetGlobal(&raw mut p, &raw mut n, library, name.as_ptr())), Err(code));
    }
    // For which device it is made shows when a context gets it.
    let (mut other, mut option, mut target) =
        (CUlibrary::null(), CUjit_option::CU_JIT_TARGET, std::ptr::without_provenance_mut::<c_void>(120));
    let (options, values) = (&raw mut option, &raw mut target);
    ok!(cuLibraryLoadData(&raw mut other, text.as_ptr().cast(), options, values, 1, none.cast(), none.cast(), 0));
    let (mut foreign, mut f) = (CUkernel::null(), CUfunction::null());
    ok!(cuLibraryGetKernel(&raw mut foreign, other, c"poke".as_ptr()));
    fails!(CUDA_ERROR_INVALID_SOURCE, cuKernelGetFunction(&raw mut f, foreign));
    fails!(CUDA_ERROR_INVALID_SOURCE, cuLibraryGetModule(&raw mut module, other));
    ok!(cuLibraryUnload(other));
    ok!(cuKernelGetFunction(&raw mut f, kernel));
    ok!(cuLibraryUnload(library));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&raw mut f, kernel));
    assert_eq!(launch!(f, 1, 1, CUstream::null()), Err(CUresult::CUDA_ERROR_INVALID_HANDLE));
    ok!(cuCtxDestroy(outer));
}

/// The same numbers through several streams, ordered by events alone.
#[test]
fn kernels_in_several_streams_keep_the_order_of_events() {
    let ctx = new_context();
    let f = get_function(load_module(AXPB_PTX), c"axpb");
    let n = 50_000_u32;
    let p = alloc(4 * n as usize);
    ok!(cuMemsetD32(p, 0, n as usize));
    ok!(cuCtxSynchronize());
    let streams = [new_stream(1), new_stream(1), new_stream(0)];
    let e = new_event(2);
    let mut expected = 0.0_f32;
    for i in 0..60_u32 {
        let s = streams[i as usize % 3];
        let (a, b) = (0.75_f32, i as f32);
        if i > 0 {
            ok!(cuStreamWaitEvent(s, e, 0));
        }
        // Grids on both sides of what runs inside the call.
        let threads = if i % 5 == 0 { 32 } else { 256 };
        assert_eq!(launch!(f, n.div_ceil(threads), threads, s, p, n, a, b), Ok(()));
        ok!(cuEventRecord(e, s));
        expected = expected.mul_add(a, b);
    }
    ok!(cuEventSynchronize(e));
    assert!(read_f32s(p, n as usize).iter().all(|&x| x == expected));
    ok!(cuCtxDestroy(ctx));
}

/// A context that faults again and again beside others that compute, in many threads.
#[test]
fn contexts_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..30_u64 {
                let ctx = new_context();
                let f = get_function(load_module(STORE_AND_TRAP_PTX), c"poke");
                let wild = 0x1000 * i;
                assert_eq!(launch!(f, 1 + i as u32 * 10, 64, new_stream(i as u32 % 2), wild), Ok(()));
                fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
                ok!(cuCtxDestroy(ctx));
            }
        });
        for t in 0..3_u32 {
            scope.spawn(move || {
                let ctx = new_context();
                let f = get_function(load_module(AXPB_PTX), c"axpb");
                for i in 0..60_u32 {
                    let n = 1 + (i * 7919 + t * 104_729) % 60_000;
                    let p = alloc(4 * n as usize);
                    let (a, b) = (2.0_f32, t as f32);
                    ok!(cuMemsetD32(p, (i as f32).to_bits(), n as usize));
                    assert_eq!(launch!(f, n.div_ceil(128), 128, CUstream::null(), p, n, a, b), Ok(()));
                    assert!(read_f32s(p, n as usize).iter().all(|&x| x == 2.0 * i as f32 + b));
                    ok!(cuMemFree(p));
                }
                ok!(cuCtxDestroy(ctx));
            });
        }
    });
}

/// What a linker says to the inputs, and to the end of the link.
fn link_outcomes(inputs: &[(CUjitInputType, &str)]) -> (Vec<Result<(), CUresult>>, Result<(), CUresult>) {
    link_outcomes_with(&[], inputs)
}

/// The same with options of the linker.
fn link_outcomes_with(
    options: &[(CUjit_option, usize)],
    inputs: &[(CUjitInputType, &str)],
) -> (Vec<Result<(), CUresult>>, Result<(), CUresult>) {
    let (mut link, none) = (CUlinkState::null(), std::ptr::null_mut::<c_void>());
    let mut keys: Vec<CUjit_option> = options.iter().map(|o| o.0).collect();
    let mut values: Vec<*mut c_void> = options.iter().map(|o| std::ptr::without_provenance_mut(o.1)).collect();
    ok!(cuLinkCreate(options.len() as u32, keys.as_mut_ptr(), values.as_mut_ptr(), &raw mut link));
    let add = |&(kind, bytes): &(CUjitInputType, &str)| {
        let data = bytes.as_ptr().cast_mut().cast();
        call!(cuLinkAddData(link, kind, data, bytes.len(), c"part".as_ptr(), 0, none.cast(), none.cast()))
    };
    let added = inputs.iter().map(add).collect();
    let (mut image, mut size) = (std::ptr::null_mut(), 0);
    let complete = call!(cuLinkComplete(link, &raw mut image, &raw mut size));
    ok!(cuLinkDestroy(link));
    (added, complete)
}

#[test]
fn inputs_of_a_link_are_checked_when_they_are_added() {
    use CUjitInputType as T;
    use CUresult as R;
    let ctx = new_context();
    let good = format!("{PTX_HEADER}.visible .entry k() {{ ret; }}\n");
    let user = format!("{PTX_HEADER}.extern .func f();\n.visible .entry u() {{ call f; ret; }}\n");
    let bad = format!("{PTX_HEADER}.visible .entry k() {{ foo; }}\n");
    let unknown = Err(R::CUDA_ERROR_UNKNOWN);
    for (kind, bytes, wanted, end) in [
        (T::CU_JIT_INPUT_PTX, good.as_str(), Ok(()), Ok(())),
        (T::CU_JIT_INPUT_FATBINARY, &good, Ok(()), Ok(())),
        (T::CU_JIT_INPUT_PTX, &bad, Err(R::CUDA_ERROR_INVALID_PTX), Ok(())),
        (T::CU_JIT_INPUT_PTX, "no program", Err(R::CUDA_ERROR_INVALID_IMAGE), Ok(())),
        (T::CU_JIT_INPUT_PTX, &user, Ok(()), unknown),
        (T::CU_JIT_INPUT_CUBIN, "\x7fELF", Err(R::CUDA_ERROR_NO_BINARY_FOR_GPU), Ok(())),
        (T::CU_JIT_INPUT_CUBIN, &good, Err(R::CUDA_ERROR_INVALID_IMAGE), Err(R::CUDA_ERROR_INVALID_IMAGE)),
        (T::CU_JIT_INPUT_OBJECT, &good, unknown, Ok(())),
        (T::CU_JIT_INPUT_LIBRARY, &good, unknown, Ok(())),
        (
            T::CU_JIT_INPUT_NVVM,
            &good,
            Err(R::CUDA_ERROR_JIT_COMPILER_NOT_FOUND),
            Err(R::CUDA_ERROR_JIT_COMPILER_NOT_FOUND),
        ),
        (CUjitInputType(99), &good, Err(R::CUDA_ERROR_INVALID_VALUE), Ok(())),
    ] {
        assert_eq!(link_outcomes(&[(kind, bytes)]), (vec![wanted], end), "{kind:?} {bytes}");
    }
    let twice = (T::CU_JIT_INPUT_PTX, good.as_str());
    assert_eq!(link_outcomes(&[twice, twice]), (vec![Ok(()), unknown], unknown));
    ok!(cuCtxDestroy(ctx));
}

/// The code of what does not fit depends on whether the program wants to read the reason.
#[test]
fn inputs_that_do_not_fit_end_a_link() {
    use CUresult as R;
    let ctx = new_context();
    let text = |body: &str| format!("{PTX_HEADER}{body}\n");
    let caller = text(".extern .func f();\n.visible .entry k() { call f; ret; }");
    let user = text(".extern .global .u32 g;\n.visible .entry k() { .reg .b32 %r1; ld.global.u32 %r1, [g]; ret; }");
    let good = text(".visible .entry j() { ret; }");
    let mut log = [0_u8; 256];
    let buffer = [
        (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, log.as_mut_ptr().expose_provenance()),
        (CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log.len()),
    ];
    for (options, code) in [(&buffer[..], R::CUDA_ERROR_INVALID_SOURCE), (&[], R::CUDA_ERROR_UNKNOWN)] {
        let failed = Err(code);
        for (first, second, added) in [
            (&caller, text(".func f() { ret; }"), Ok(())),
            (&caller, text(".visible .func (.param .b32 r) f() { ret; }"), failed),
            (&user, text(".global .u32 g;"), Ok(())),
            (&user, text(".visible .global .u64 g;"), failed),
            (&user, text(".visible .const .u32 g;"), failed),
            (&user, text(".visible .entry k() { ret; }"), failed),
        ] {
            let inputs = [first, &second, &good].map(|text| (CUjitInputType::CU_JIT_INPUT_PTX, text.as_str()));
            // After a misfit the linker takes nothing more.
            assert_eq!(link_outcomes_with(options, &inputs), (vec![Ok(()), added, added], failed), "{second}");
        }
        for alone in [&caller, &user] {
            let inputs = [(CUjitInputType::CU_JIT_INPUT_PTX, alone.as_str())];
            assert_eq!(link_outcomes_with(options, &inputs), (vec![Ok(())], failed), "{alone}");
        }
    }
    assert!(log.starts_with(b"ptx:") || log.starts_with(b"no input"), "{}", String::from_utf8_lossy(&log));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_link_is_for_its_target() {
    use CUjit_option as O;
    let ctx = new_context();
    let text = format!("{PTX_HEADER}.visible .entry k() {{ ret; }}\n");
    for (target, added, loaded) in [
        (80, Ok(()), Ok(())),
        (70, Err(CUresult::CUDA_ERROR_INVALID_PTX), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU)),
        (90, Ok(()), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU)),
    ] {
        let (mut link, none) = (CUlinkState::null(), std::ptr::null_mut::<c_void>());
        let (mut option, mut value) = (O::CU_JIT_TARGET, std::ptr::without_provenance_mut(target));
        ok!(cuLinkCreate(1, &raw mut option, &raw mut value, &raw mut link));
        let data = text.as_ptr().cast_mut().cast();
        let kind = CUjitInputType::CU_JIT_INPUT_PTX;
        assert_eq!(
            call!(cuLinkAddData(link, kind, data, text.len(), c"a".as_ptr(), 0, none.cast(), none.cast())),
            added
        );
        // An option that there is not keeps an input out.
        let (mut unknown, mut one) = (O(99), std::ptr::without_provenance_mut(1));
        fails!(
            CUDA_ERROR_INVALID_VALUE,
            cuLinkAddData(link, kind, data, text.len(), c"b".as_ptr(), 1, &raw mut unknown, &raw mut one)
        );
        let (mut image, mut size, mut module) = (none, 0, CUmodule::null());
        ok!(cuLinkComplete(link, &raw mut image, &raw mut size));
        assert_eq!(call!(cuModuleLoadData(&raw mut module, image)), loaded, "{target}");
        ok!(cuLinkDestroy(link));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn logs_that_are_cut_off_tell_their_buffer() {
    let ctx = new_context();
    let text = CString::new(format!("{PTX_HEADER}.visible .entry k() {{ frob; }}\n")).unwrap();
    for size in [1_usize, 2, 20, 4096] {
        let mut log = [1_u8; 4096];
        let mut keys = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(size)];
        let mut module = CUmodule::null();
        let image = text.as_ptr().cast();
        fails!(
            CUDA_ERROR_INVALID_PTX,
            cuModuleLoadDataEx(&raw mut module, image, 2, keys.as_mut_ptr(), values.as_mut_ptr())
        );
        let len = CStr::from_bytes_until_nul(&log).unwrap().count_bytes();
        let told = match size {
            1 => 0,
            4096 => len,
            cut => cut,
        };
        assert_eq!((values[1].addr() as u32 as usize, len < size), (told, true), "{size}");
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn options_of_the_compiler_are_checked() {
    use CUjit_option as O;
    let ctx = new_context();
    let text = CString::new(format!("{PTX_HEADER}.visible .entry k() {{ ret; }}\n")).unwrap();
    let load = |given: &[(CUjit_option, usize)]| {
        let mut keys: Vec<CUjit_option> = given.iter().map(|g| g.0).collect();
        let mut values: Vec<*mut c_void> = given.iter().map(|g| std::ptr::without_provenance_mut(g.1)).collect();
        let (mut module, n) = (CUmodule::null(), given.len() as u32);
        let (keys, values) = (keys.as_mut_ptr(), values.as_mut_ptr());
        call!(cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), n, keys, values))
            .map_or_else(|code| code.0, |()| 0)
    };
    for (option, value, code) in [
        (O::CU_JIT_MAX_REGISTERS, 0, 1),
        (O::CU_JIT_MAX_REGISTERS, 1000, 0),
        (O::CU_JIT_OPTIMIZATION_LEVEL, 5, 0),
        (O::CU_JIT_OPTIMIZATION_LEVEL, u32::MAX as usize, 218),
        (O::CU_JIT_TARGET, 80, 0),
        (O::CU_JIT_TARGET, 120, 300),
        (O::CU_JIT_TARGET, 999, 1),
        (O::CU_JIT_CACHE_MODE, 2, 0),
        (O::CU_JIT_CACHE_MODE, 3, 1),
        (O::CU_JIT_NEW_SM3X_OPT, 1, 218),
        (O::CU_JIT_GLOBAL_SYMBOL_NAMES, 1, 1),
        (O::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 100, 1),
        (O(99), 1, 1),
    ] {
        assert_eq!(load(&[(option, value)]), code, "{option:?} {value}");
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn variables_and_names_are_as_on_a_device() {
    let ctx = new_context();
    let text = CString::new(format!(
        "{PTX_HEADER}.visible .const .u32 c0;\n.visible .const .u32 c1;\n.visible .global .u8 g0;\n\
         .visible .global .u32 g1;\n.extern .global .u32 e;\n.visible .entry k() {{ ret; }}\n"
    ))
    .unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    let address = |name: &CStr| {
        let (mut p, mut n) = (0, 0);
        call!(cuModuleGetGlobal(&raw mut p, &raw mut n, module, name.as_ptr())).map(|()| p)
    };
    assert_eq!(address(c"c1").unwrap(), address(c"c0").unwrap() + 4);
    assert!([c"c0", c"g0", c"g1"].into_iter().all(|name| address(name).unwrap().is_multiple_of(256)));
    for (name, code) in [
        (c"", CUresult::CUDA_ERROR_INVALID_VALUE),
        (c"k", CUresult::CUDA_ERROR_INVALID_VALUE),
        (c"none", CUresult::CUDA_ERROR_NOT_FOUND),
    ] {
        assert_eq!(address(name), Err(code), "{name:?}");
    }
    let mut f = CUfunction::null();
    fails!(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&raw mut f, module, c"".as_ptr()));
    ok!(cuCtxDestroy(ctx));
}
