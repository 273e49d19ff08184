//! Endless kernels end: with their context, when the user interrupts a wait, at the time limit;
//! and what went wrong unseen is told at the end.

use std::collections::HashSet;
use std::ffi::{CString, c_void};
use std::sync::{LazyLock, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::api_common::*;
use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::*;

/// Loops of every kind that never end: the body of a kernel with `%rd1` the address of zeros.
const ENDLESS_LOOPS: &[(&str, &str)] = &[
    ("empty", "L: bra L;"),
    ("uniform", "L: add.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; or.b32 %r2, %r1, 1; setp.ne.u32 %p, %r2, 0; @%p bra L;"),
    (
        "divergent",
        "mov.u32 %r3, %tid.x; L: add.u32 %r3, %r3, 32; and.b32 %r2, %r3, 31; mul.lo.u32 %r2, %r2, %r2;
         setp.lt.u32 %p, %r2, 900; @%p bra L; M: add.u32 %r3, %r3, 1; or.b32 %r2, %r3, 1; setp.ne.u32 %p, %r2, 0; @%p bra M;",
    ),
    ("volatile", "L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L;"),
    ("weak", "L: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L;"),
    ("atomic", "L: atom.global.cas.b32 %r1, [%rd1], 1, 1; setp.eq.u32 %p, %r1, 0; @%p bra L;"),
    ("barrier", "L: bar.sync 0; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L;"),
    ("sleep", "L: nanosleep.u32 1000; ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L;"),
    (
        "some lanes",
        "mov.u32 %r3, %tid.x; and.b32 %r2, %r3, 1; setp.eq.u32 %p, %r2, 0; @%p bra E;
         L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L; E: bar.warp.sync -1;",
    ),
    ("nested", "L: mov.u32 %r1, 0; M: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 100; @%p bra M; bra L;"),
];

fn kernel_ptx(body: &str) -> CString {
    CString::new(format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 q)\n{{\n.reg .pred %p; .reg .b64 %rd<4>; \
         .reg .b32 %r<8>;\nld.param.u64 %rd1, [q]; mov.u32 %r1, 0;\n{body}\nret;\n}}\n"
    ))
    .unwrap()
}

fn load_kernel(body: &str) -> CUfunction {
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    let text = kernel_ptx(body);
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut function, module, c"k".as_ptr()));
    function
}

fn launch(function: CUfunction, blocks: u32, threads: u32, p: CUdeviceptr, s: CUstream) -> Result<(), CUresult> {
    let mut arguments: [*mut c_void; 1] = [(&raw const p).cast_mut().cast()];
    call!(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, s, arguments.as_mut_ptr(), std::ptr::null_mut()))
}

fn alloc_zeroed() -> CUdeviceptr {
    let p = alloc(4096);
    ok!(cuMemsetD8(p, 0, 4096));
    p
}

/// Threads whose waits are to be given up.
static THREADS_TO_INTERRUPT: LazyLock<Mutex<HashSet<ThreadId>>> = LazyLock::new(Mutex::default);

/// Interrupts the calling thread's next wait after a while.
fn interrupt_soon() {
    rtcg_vgpu::set_interrupt_check(|| THREADS_TO_INTERRUPT.lock().unwrap().remove(&std::thread::current().id()));
    let me = std::thread::current().id();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        THREADS_TO_INTERRUPT.lock().unwrap().insert(me);
    });
}

#[test]
fn an_interrupted_context_goes_on() {
    let ctx = new_context();
    let p = alloc_zeroed();
    let fine = load_kernel("st.global.u32 [%rd1], 7;");
    for (name, body) in ENDLESS_LOOPS {
        let k = load_kernel(body);
        for (blocks, threads) in [(1, 64), (300, 40)] {
            let s = new_stream(1);
            interrupt_soon();
            let begun = Instant::now();
            let launched = launch(k, blocks, threads, p, s);
            let dropped = load_kernel("st.global.u32 [%rd1], 9;");
            let waited = launched.and_then(|()| {
                launch(dropped, 1, 1, p, s)?;
                call!(cuStreamSynchronize(s))
            });
            assert_eq!(waited, Err(CUresult::CUDA_ERROR_LAUNCH_TIMEOUT), "{name} {blocks}");
            assert!(rtcg_vgpu::last_error_detail().unwrap().contains("interrupted"));
            assert!(begun.elapsed() < Duration::from_secs(2), "{name}: {:?}", begun.elapsed());
            // The context works, and nothing of what was queued has happened or is told again.
            ok!(cuStreamSynchronize(s));
            let mut seen = 1_u32;
            ok!(cuMemcpyDtoH((&raw mut seen).cast(), p, 4));
            assert_eq!(seen, 0, "{name}");
            launch(fine, 1, 32, p, s).unwrap();
            ok!(cuCtxSynchronize());
            ok!(cuMemcpyDtoH((&raw mut seen).cast(), p, 4));
            assert_eq!(seen, 7, "{name}");
            ok!(cuMemsetD32(p, 0, 1));
            ok!(cuStreamDestroy(s));
        }
    }
    ok!(cuCtxDestroy(ctx));
}

/// A kernel that is expected to be brief runs inside the launch call, on the program's thread.
#[test]
fn a_kernel_in_the_launch_call_can_be_interrupted() {
    let ctx = new_context();
    let p = alloc_zeroed();
    // Its first launch is brief, and so the second one runs in the call; unless the first was held up by the
    // kernels of the tests beside this one.
    let k = load_kernel("L: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra L;");
    let runs_in_the_call = (0..20).any(|_| {
        ok!(cuMemsetD32(p, 1, 1));
        launch(k, 1, 32, p, CUstream::null()).unwrap();
        ok!(cuCtxSynchronize());
        ok!(cuMemsetD32(p, 0, 1));
        interrupt_soon();
        let outcome = launch(k, 1, 32, p, CUstream::null());
        let waited = call!(cuCtxSynchronize());
        let stopped = Err(CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        assert!(
            (outcome, waited) == (stopped, Ok(())) || (outcome, waited) == (Ok(()), stopped),
            "{outcome:?} {waited:?}"
        );
        outcome == stopped
    });
    assert!(runs_in_the_call, "the kernel did not run in the call");
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn copies_events_and_values_can_be_interrupted() {
    let ctx = new_context();
    let p = alloc_zeroed();
    let k = load_kernel(ENDLESS_LOOPS[3].1);
    let e = new_event(0);
    type BlockingCall<'a> = &'a dyn Fn() -> Result<(), CUresult>;
    let s = new_stream(0);
    let mut word = 3_u32;
    let place = (&raw mut word).cast();
    let waits: [(&str, BlockingCall<'_>); 5] = [
        ("copy", &|| call!(cuMemcpyDtoH(place, p, 4))),
        ("event", &|| call!(cuEventSynchronize(e))),
        ("context", &|| call!(cuCtxSynchronize())),
        ("free", &|| {
            let q = alloc(256);
            call!(cuMemFree(q))
        }),
        ("value", &|| {
            ok!(cuStreamWaitValue32(CUstream::null(), p, 77, 1));
            call!(cuCtxSynchronize())
        }),
    ];
    for (name, wait) in waits {
        launch(k, 4, 64, p, s).unwrap();
        ok!(cuEventRecord(e, s));
        interrupt_soon();
        let begun = Instant::now();
        assert_eq!(wait(), Err(CUresult::CUDA_ERROR_LAUNCH_TIMEOUT), "{name}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{name}: {:?}", begun.elapsed());
        ok!(cuCtxSynchronize());
    }
    assert_eq!(word, 3, "a dropped copy has happened");
    ok!(cuCtxDestroy(ctx));
}

/// A wait that nobody interrupts is not disturbed by being asked.
#[test]
fn interrupt_checks_change_no_result() {
    let ctx = new_context();
    let p = alloc_zeroed();
    rtcg_vgpu::set_interrupt_check(|| THREADS_TO_INTERRUPT.lock().unwrap().remove(&std::thread::current().id()));
    for body in [
        "L: add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; setp.lt.u32 %p, %r1, 20000000; @%p bra L;",
        "L: add.u32 %r1, %r1, 1; bar.sync 0; st.volatile.global.u32 [%rd1], %r1; setp.lt.u32 %p, %r1, 1500000; @%p bra L;",
    ] {
        let k = load_kernel(body);
        let begun = Instant::now();
        launch(k, 1, 64, p, CUstream::null()).unwrap();
        ok!(cuCtxSynchronize());
        let mut last = 0_u32;
        ok!(cuMemcpyDtoH((&raw mut last).cast(), p, 4));
        assert!(last == 20_000_000 || last == 1_500_000, "{last}");
        assert!(begun.elapsed() > Duration::from_millis(60), "too short to be asked: {:?}", begun.elapsed());
    }
    ok!(cuCtxDestroy(ctx));
}

/// Runs `name` of this file in a process of its own; its standard error.
fn run_in_child(name: &str, settings: &[(&str, &str)]) -> (bool, String) {
    let output = rerun(module_path!(), name).envs(settings.iter().copied()).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_end_of_a_context_stops_its_kernels() {
    if is_child() {
        let ctx = new_context();
        let p = alloc_zeroed();
        // Streams of another context that wait for the endless kernel are not stuck with it.
        launch(load_kernel(ENDLESS_LOOPS[3].1), 50, 64, p, new_stream(1)).unwrap();
        ok!(cuStreamWaitValue32(new_stream(1), p, 1, 0));
        let begun = Instant::now();
        ok!(cuCtxDestroy(ctx));
        assert!(begun.elapsed() < Duration::from_secs(8));
        fails!(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
        let next = new_context();
        let q = alloc_zeroed();
        launch(load_kernel("st.global.u32 [%rd1], 7;"), 1, 1, q, CUstream::null()).unwrap();
        ok!(cuCtxDestroy(next));
        return;
    }
    let (good, stderr) = run_in_child("the_end_of_a_context_stops_its_kernels", &[]);
    assert!(good, "{stderr}");
    assert!(stderr.contains("its context was destroyed") && stderr.contains("kernel k"), "{stderr}");
}

#[test]
fn a_time_limit_ends_kernels() {
    if is_child() {
        new_context();
        let p = alloc_zeroed();
        let begun = Instant::now();
        launch(load_kernel(ENDLESS_LOOPS[1].1), 5, 64, p, new_stream(1)).unwrap();
        fails!(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
        assert!(begun.elapsed() < Duration::from_secs(3) && begun.elapsed() > Duration::from_millis(300));
        let report = rtcg_vgpu::last_fault_report(CUcontext::null()).unwrap();
        assert!(report.contains("RTCG_VIRTUAL_TIMEOUT") && report.contains("block ("), "{report}");
        // As on a GPU, the context is lost.
        fails!(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
        return;
    }
    let (good, stderr) = run_in_child("a_time_limit_ends_kernels", &[("RTCG_VIRTUAL_TIMEOUT", "0.4")]);
    assert!(good, "{stderr}");
    assert!(!stderr.contains("no call has reported"), "{stderr}");
}

#[test]
fn an_unreported_fault_is_reported_at_exit() {
    if let Some(how) = std::env::var_os("RTCG_TEST_END") {
        let ctx = new_context();
        let p = alloc_zeroed();
        let s = new_stream(1);
        launch(load_kernel("st.global.u32 [16], 7;"), 1, 1, p, s).unwrap();
        if how == "seen" {
            fails!(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
        }
        if how == "destroyed" {
            ok!(cuCtxDestroy(ctx));
        } else {
            std::thread::sleep(Duration::from_millis(200));
        }
        return;
    }
    for (how, times) in [("unseen", 1), ("destroyed", 1), ("seen", 0)] {
        let (good, stderr) = run_in_child("an_unreported_fault_is_reported_at_exit", &[("RTCG_TEST_END", how)]);
        assert!(good, "{how}: {stderr}");
        assert_eq!(
            stderr.matches("CUDA_ERROR_ILLEGAL_ADDRESS, which no call has reported").count(),
            times,
            "{how}: {stderr}"
        );
    }
}

/// Code that is made late and cannot be is an error of the launch; the context goes on.
#[test]
fn failed_compilation_is_the_launchs_error() {
    if is_child() {
        new_context();
        let p = alloc_zeroed();
        let k = load_kernel(ENDLESS_LOOPS[8].1);
        launch(k, 1, 64, p, new_stream(1)).unwrap();
        fails!(CUDA_ERROR_INVALID_PTX, cuCtxSynchronize());
        let why = rtcg_vgpu::last_error_detail().unwrap();
        assert!(why.contains("kernel k") && why.contains("RTCG_JIT_NO_MASKED"), "{why}");
        launch(load_kernel("st.global.u32 [%rd1], 7;"), 1, 32, p, CUstream::null()).unwrap();
        ok!(cuCtxSynchronize());
        return;
    }
    let (good, stderr) = run_in_child("failed_compilation_is_the_launchs_error", &[("RTCG_JIT_NO_MASKED", "1")]);
    assert!(good, "{stderr}");
}
