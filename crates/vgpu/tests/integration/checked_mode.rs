//! Checked mode: memory errors to the byte, uninitialised reads, and programs that are right.

use std::ffi::{CStr, CString, c_void};

use crate::api_common::*;
use rtcg_cuda_sys::*;
use rtcg_vgpu_exec::check::{self, CheckSet, Finding, FindingKind};

/// `copy` moves a word per thread, `gather` too but in another order of lanes, `guarded` only for
/// the threads below `n`; `by_one` a byte per thread and `pairs` a pair of words.
const KERNELS_PTX: &str = "
.visible .entry NAME_copy(.param .u64 out, .param .u64 in)
{
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry NAME_gather(.param .u64 out, .param .u64 in)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    xor.b32 %r3, %r1, 5;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry NAME_guarded(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r3, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, %r3;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    @%p bra DONE;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
DONE:
    ret;
}
.visible .entry NAME_by_one(.param .u64 out, .param .u64 in)
{
    .reg .b64 %rd<6>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd3, %r1;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    ld.global.u8 %r2, [%rd4];
    st.global.u8 [%rd5], %r2;
    ret;
}
.visible .entry NAME_pairs(.param .u64 out, .param .u64 in)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    ld.global.v2.u32 {%r2, %r3}, [%rd4];
    st.global.v2.u32 [%rd5], {%r2, %r3};
    ret;
}
.visible .entry NAME_add(.param .u64 out, .param .u64 in)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    red.global.add.u32 [%rd1], %r1;
    ret;
}
";

/// Shared memory of 128 bytes, a local array of 16 bytes, a variable and a constant.
const MEMORY_SPACES_PTX: &str = "
.visible .global .align 4 .b8 variable[12];
.visible .const .align 4 .b8 constant[12];
.visible .entry NAME_shared(.param .u64 out, .param .u32 at)
{
    .shared .align 4 .b8 tile[128];
    .reg .b64 %rd<4>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [at];
    mov.u32 %r2, %tid.x;
    shl.b32 %r2, %r2, 2;
    mov.u32 %r3, tile;
    add.u32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r2;
    bar.sync 0;
    add.u32 %r4, %r3, %r1;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;
    ret;
}
.visible .entry NAME_unwritten_shared(.param .u64 out, .param .u32 at)
{
    .shared .align 4 .b8 tile[128];
    .reg .b64 %rd<4>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r2, %tid.x;
    shl.b32 %r2, %r2, 2;
    mov.u32 %r3, tile;
    add.u32 %r4, %r3, %r2;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;
    ret;
}
.visible .entry NAME_local(.param .u64 out, .param .u32 at)
{
    .local .align 4 .b8 depot[16];
    .reg .b64 %rd<6>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [at];
    mov.u32 %r2, 7;
    st.local.u32 [depot], %r2;
    mov.u64 %rd2, depot;
    cvt.u64.u32 %rd3, %r1;
    add.s64 %rd4, %rd2, %rd3;
    ld.local.u32 %r3, [%rd4];
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry NAME_variable(.param .u64 out, .param .u32 at)
{
    .reg .b64 %rd<6>; .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [at];
    mov.u64 %rd2, variable;
    cvt.u64.u32 %rd3, %r1;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4];
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry NAME_write_constant(.param .u64 out, .param .u32 at)
{
    .reg .b64 %rd<6>; .reg .b32 %r<6>;
    ld.param.u32 %r1, [at];
    mov.u64 %rd2, constant;
    cvta.const.u64 %rd3, %rd2;
    st.u32 [%rd3], %r1;
    ret;
}
";

fn new_checked_context() -> CUcontext {
    check::configure_checks(CheckSet::ALL_CHECKS).unwrap();
    new_context()
}

/// The kernel `name` of a module in which all names begin with `test`, so that its findings are known.
fn load_kernel(text: &str, test: &str, name: &str) -> CUfunction {
    let text =
        CString::new(format!(".version 7.0\n.target sm_80\n.address_size 64\n{}", text.replace("NAME", test))).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    let name = CString::new(format!("{test}_{name}")).unwrap();
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut function, module, name.as_c_str().as_ptr()));
    let _: &CStr = &name;
    function
}

/// Runs one block and returns what the wait says.
fn launch_and_wait(f: CUfunction, threads: u32, args: &[u64]) -> Result<(), CUresult> {
    let mut pointers: Vec<*mut c_void> = args.iter().map(|a| (&raw const *a).cast_mut().cast()).collect();
    call!(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, CUstream::null(), pointers.as_mut_ptr(), std::ptr::null_mut()))?;
    call!(cuCtxSynchronize())
}

fn findings_of_test(test: &str) -> Vec<Finding> {
    check::findings().into_iter().filter(|f| f.kernel.starts_with(test)).collect()
}

fn alloc_filled(bytes: usize) -> CUdeviceptr {
    let p = alloc(bytes);
    ok!(cuMemsetD8(p, 1, bytes));
    p
}

/// One finding of this kind; its text.
fn expect_one_finding(test: &str, kind: FindingKind) -> Finding {
    let list: Vec<Finding> = findings_of_test(test).into_iter().filter(|f| f.kind != FindingKind::Race).collect();
    assert_eq!(list.len(), 1, "{list:#?}");
    assert_eq!(list[0].kind, kind, "{}", list[0]);
    list[0].clone()
}

#[test]
fn right_programs_have_no_findings() {
    own_process!();
    new_checked_context();
    for (name, bytes) in [("copy", 4), ("gather", 4), ("by_one", 1), ("pairs", 8), ("add", 4)] {
        for threads in [32, 64, 256, 40] {
            let n = threads as usize * bytes;
            let whole = if name == "gather" { n.next_multiple_of(32) } else { n };
            let (out, input) = (if name == "add" { alloc_filled(4) } else { alloc(whole) }, alloc_filled(whole));
            let f = load_kernel(KERNELS_PTX, "right", name);
            assert_eq!(launch_and_wait(f, threads, &[out, input]), Ok(()), "{name} {threads}");
            // What was written is as good as written by the host.
            assert_eq!(launch_and_wait(f, threads, &[input, out]), Ok(()), "{name} {threads}");
        }
    }
    let (out, input) = (alloc(4 * 50), alloc_filled(4 * 50));
    let f = load_kernel(KERNELS_PTX, "right", "guarded");
    assert_eq!(launch_and_wait(f, 64, &[out, input, 50]), Ok(()));
    assert_eq!(launch_and_wait(f, 64, &[input, out, 50]), Ok(()));
    assert_eq!(findings_of_test("right"), vec![]);
}

#[test]
fn reads_and_writes_past_the_end_are_found_to_the_byte() {
    own_process!();
    for (i, (name, bytes)) in
        [("copy", 4), ("gather", 4), ("by_one", 1), ("pairs", 8), ("guarded", 4)].iter().enumerate()
    {
        for write in [false, true] {
            let test = format!("past{i}{write}");
            let ctx = new_checked_context();
            let whole = 64 * bytes;
            let (small, large) = (alloc_filled(whole - 1), alloc_filled(whole));
            let f = load_kernel(KERNELS_PTX, &test, name);
            let args = if write { [small, large, 64] } else { [large, small, 64] };
            assert_eq!(launch_and_wait(f, 64, &args), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), "{test} {name}");
            let finding = expect_one_finding(&test, FindingKind::OutOfBounds);
            let access = if write { "write" } else { "read" };
            assert!(finding.message.contains(&format!("{access} of {bytes} bytes")), "{finding}");
            let last = small + whole as u64 - *bytes as u64;
            assert_eq!(finding.address, last, "{finding}");
            let text = finding.allocation.unwrap();
            let size = format!("a {}-byte allocation", whole - 1);
            assert!(text.contains(&size) && text.contains("past the end"), "{text}");
            assert_eq!(finding.thread[0], if *name == "gather" { 63 ^ 5 } else { 63 });
            let _ = call!(cuCtxDestroy(ctx));
        }
    }
}

#[test]
fn a_process_goes_on_after_an_error() {
    own_process!();
    let ctx = new_checked_context();
    let p = alloc_filled(60);
    let f = load_kernel(KERNELS_PTX, "goes_on", "copy");
    assert_eq!(launch_and_wait(f, 32, &[p, p]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert!(call!(cuCtxSynchronize()).is_err());
    let _ = call!(cuCtxDestroy(ctx));
    new_context();
    let p = alloc_filled(128);
    let f = load_kernel(KERNELS_PTX, "goes_on", "copy");
    assert_eq!(launch_and_wait(f, 32, &[p, p]), Ok(()));
}

#[test]
fn freed_memory_is_recognised() {
    own_process!();
    for (i, bytes) in [128_usize, 1 << 20].into_iter().enumerate() {
        let test = format!("freed{i}");
        let ctx = new_checked_context();
        let (p, q) = (alloc_filled(bytes), alloc_filled(128));
        ok!(cuMemFree(p));
        // Another allocation of the same size does not get the same place at once.
        let again = alloc(bytes);
        assert_ne!(p, again);
        let f = load_kernel(KERNELS_PTX, &test, "copy");
        assert_eq!(launch_and_wait(f, 32, &[q, p]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        let finding = expect_one_finding(&test, FindingKind::UseAfterFree);
        let text = finding.allocation.unwrap();
        assert!(text.contains(&format!("{bytes}-byte allocation")) && text.contains("has been freed"), "{text}");
        let _ = call!(cuCtxDestroy(ctx));
    }
}

#[test]
fn uninitialised_reads_are_found_and_execution_goes_on() {
    own_process!();
    new_checked_context();
    let (out, input) = (alloc(256), alloc(256));
    ok!(cuMemsetD8(input, 1, 255));
    let f = load_kernel(KERNELS_PTX, "unset", "copy");
    assert_eq!(launch_and_wait(f, 64, &[out, input]), Ok(()));
    let finding = expect_one_finding("unset", FindingKind::Uninitialised);
    assert_eq!((finding.address, finding.thread, finding.count), (input + 252, [63, 0, 0], 1), "{finding}");
    let again = alloc(4);
    let f = load_kernel(KERNELS_PTX, "unset_add", "add");
    assert_eq!(launch_and_wait(f, 32, &[again, again]), Ok(()));
    expect_one_finding("unset_add", FindingKind::Uninitialised);
}

#[test]
fn copies_keep_the_state_of_what_they_copy() {
    own_process!();
    new_checked_context();
    let (a, b, out) = (alloc(128), alloc(128), alloc(128));
    ok!(cuMemcpyDtoD(b, a, 128));
    assert_eq!(launch_and_wait(load_kernel(KERNELS_PTX, "copied", "copy"), 32, &[out, b]), Ok(()));
    expect_one_finding("copied", FindingKind::Uninitialised);
    let host = [1_u8; 128];
    ok!(cuMemcpyHtoD(a, host.as_ptr().cast(), 128));
    ok!(cuMemcpyDtoD(b, a, 128));
    assert_eq!(launch_and_wait(load_kernel(KERNELS_PTX, "copied_good", "copy"), 32, &[out, b]), Ok(()));
    assert_eq!(findings_of_test("copied_good"), vec![]);
}

#[test]
fn other_spaces_have_ends_too() {
    own_process!();
    let cases: [(&str, u64, &str, FindingKind); 5] = [
        ("shared", 128, "right past the end of the 128 bytes of shared memory", FindingKind::OutOfBounds),
        ("shared", 4096, "3968 bytes past the end of the 128 bytes of shared memory", FindingKind::OutOfBounds),
        ("local", 16, "in local memory, outside the variables of the thread", FindingKind::OutOfBounds),
        ("variable", 12, "right past the end of the device variable variable (12 bytes)", FindingKind::OutOfBounds),
        ("write_constant", 0, "0 bytes into the constant variable constant (12 bytes)", FindingKind::ReadOnly),
    ];
    for (i, (name, at, text, kind)) in cases.into_iter().enumerate() {
        let test = format!("spaces{i}");
        let ctx = new_checked_context();
        let out = alloc(4);
        let f = load_kernel(MEMORY_SPACES_PTX, &test, name);
        if name != "write_constant" && name != "local" {
            assert_eq!(launch_and_wait(f, 32, &[out, 8]), Ok(()), "{name}");
        }
        assert_eq!(findings_of_test(&test), vec![]);
        assert_eq!(launch_and_wait(f, 32, &[out, at]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), "{name}");
        let finding = expect_one_finding(&test, kind);
        let allocation = finding.allocation.clone().unwrap();
        assert!(allocation.contains(text), "{allocation}");
        assert_eq!(finding.address % 4, 0);
        let _ = call!(cuCtxDestroy(ctx));
    }
}

#[test]
fn shared_and_local_memory_begin_uninitialised() {
    own_process!();
    new_checked_context();
    let out = alloc(4);
    assert_eq!(
        launch_and_wait(load_kernel(MEMORY_SPACES_PTX, "fresh_shared", "unwritten_shared"), 32, &[out, 0]),
        Ok(())
    );
    expect_one_finding("fresh_shared", FindingKind::Uninitialised);
    assert_eq!(launch_and_wait(load_kernel(MEMORY_SPACES_PTX, "fresh_local", "local"), 32, &[out, 0]), Ok(()));
    assert_eq!(findings_of_test("fresh_local"), vec![]);
    assert_eq!(launch_and_wait(load_kernel(MEMORY_SPACES_PTX, "fresh_local", "local"), 32, &[out, 4]), Ok(()));
    expect_one_finding("fresh_local", FindingKind::Uninitialised);
}

#[test]
fn frees_of_what_is_not_allocated_are_found() {
    own_process!();
    new_checked_context();
    let p = alloc(1000);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 8));
    ok!(cuMemFree(p));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    let list: Vec<_> = check::findings().into_iter().filter(|f| f.kind == FindingKind::InvalidFree).collect();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert!(list[0].message.contains("8 bytes into a 1000-byte allocation"), "{}", list[0]);
    assert!(list[1].message.contains("1000-byte allocation") && list[1].message.contains("freed"), "{}", list[1]);
}

#[test]
fn what_a_context_leaves_behind_is_named() {
    own_process!();
    let ctx = new_checked_context();
    let before = check::findings().len();
    let (kept, freed) = (alloc(777), alloc(778));
    ok!(cuMemFree(freed));
    let _ = (new_stream(0), kept);
    ok!(cuCtxDestroy(ctx));
    let list = check::findings();
    let has = |text: &str| {
        list[before.min(list.len())..].iter().any(|f| f.kind == FindingKind::Leak && f.message.contains(text))
    };
    assert!(has("777 bytes of device memory"), "{list:#?}");
    assert!(!has("778 bytes"), "{list:#?}");
    assert!(has("1 stream was not destroyed"), "{list:#?}");
}

/// Made from `check_data/schedule.cu` by NVRTC 13.0 for compute_80.
const RACE_KERNELS_PTX: &str = include_str!("check_data/schedule.ptx");

/// Runs a kernel of [`RACE_KERNELS_PTX`] and returns its races.
fn find_races(name: &str, grid: u32, block: u32) -> Vec<Finding> {
    new_checked_context();
    let text = CString::new(RACE_KERNELS_PTX).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    let function_name = CString::new(name).unwrap();
    let mut f = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut f, module, function_name.as_ptr()));
    let args = [alloc(4096), alloc(4096)];
    for p in args {
        ok!(cuMemsetD8(p, 0, 4096));
    }
    let mut pointers: Vec<*mut c_void> = args.iter().map(|a| (&raw const *a).cast_mut().cast()).collect();
    let stream = CUstream::null();
    ok!(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, stream, pointers.as_mut_ptr(), std::ptr::null_mut()));
    ok!(cuCtxSynchronize());
    check::findings().into_iter().filter(|f| f.kernel == name && f.kind == FindingKind::Race).collect()
}

#[test]
fn races_are_found_with_both_parties() {
    own_process!();
    let list = find_races("missing_syncthreads", 1, 128);
    assert!(!list.is_empty());
    let other = list[0].other.clone().unwrap();
    assert!(
        list[0].message.contains("offset") && list[0].message.contains("after block (0, 0, 0), thread"),
        "{}",
        list[0]
    );
    assert!(other.instruction.contains("shared") && other.ptx_line > 0 && other.thread != list[0].thread, "{other:?}");
    let list = find_races("missing_syncwarp", 1, 32);
    assert!(
        list.iter().any(|f| f.message.contains("read after write") || f.message.contains("write after read")),
        "{list:#?}"
    );
    let list = find_races("block_order", 8, 32);
    assert!(list.iter().any(|f| f.message.contains("write after write") && f.block != f.other.as_ref().unwrap().block));
}

#[test]
fn right_programs_have_no_races() {
    own_process!();
    for (name, grid, block) in [
        ("right_syncthreads", 4, 128),
        ("right_syncwarp", 1, 32),
        ("locked", 8, 32),
        ("right_call", 4, 64),
        ("grid_barrier", 8, 32),
    ] {
        let list = find_races(name, grid, block);
        assert!(list.is_empty(), "{name}: {}", list[0]);
    }
}

/// Half of a warp waits at one barrier and half at another, which only `.aligned` forbids; or a part
/// of a warp has ended before.
const BARRIER_KERNELS_PTX: &str = "
.visible .entry NAME_two_places(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p bra EVEN;
    bar.sync 0;
    bra DONE;
EVEN:
    bar.sync 0;
DONE:
    ret;
}
.visible .entry NAME_two_unaligned(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 0;
    @%p bra EVEN;
    barrier.sync 0;
    bra DONE;
EVEN:
    barrier.sync 0;
DONE:
    ret;
}
.visible .entry NAME_ended(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, 40;
    @%p bra DONE;
    bar.sync 0;
DONE:
    ret;
}
.visible .entry NAME_ended_unaligned(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, 40;
    @%p bra DONE;
    barrier.sync 0;
DONE:
    ret;
}
.visible .entry NAME_whole_warp_ended(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, 32;
    @%p bra DONE;
    bar.sync 0;
DONE:
    ret;
}
.visible .entry NAME_together(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, 32;
    @%p bra NEXT;
    mov.u32 %r1, 5;
NEXT:
    bar.sync 0;
    ret;
}
";

#[test]
fn divergent_barriers_are_found() {
    own_process!();
    new_checked_context();
    let out = alloc(4);
    for (name, text) in [
        ("two_places", "others wait at another place"),
        ("ended", "without 24 of its threads"),
        ("ended_unaligned", "without 24 of its threads"),
    ] {
        let test = format!("barrier_{name}");
        assert_eq!(launch_and_wait(load_kernel(BARRIER_KERNELS_PTX, &test, name), 64, &[out]), Ok(()));
        let finding = expect_one_finding(&test, FindingKind::Divergence);
        assert!(finding.message.contains(text), "{finding}");
        assert!(finding.instruction.contains(".sync 0"), "{finding}");
        match name {
            "two_places" => {
                assert!(
                    finding.message.contains("16 threads of a warp arrive at barrier 0 while 16 others"),
                    "{finding}"
                );
                let other = finding.other.expect("the other barrier");
                assert_ne!((other.ptx_line, other.thread), (finding.ptx_line, finding.thread));
            }
            _ => assert_eq!(finding.thread, [32, 0, 0]),
        }
    }
    for name in ["together", "whole_warp_ended", "two_unaligned"] {
        let test = format!("barrier_{name}");
        assert_eq!(launch_and_wait(load_kernel(BARRIER_KERNELS_PTX, &test, name), 64, &[out]), Ok(()));
        assert_eq!(findings_of_test(&test), vec![]);
    }
}
