//! Device-side printf, assert, malloc, and signals that are not ours. Output is checked in a child
//! process, because it goes to the process's standard output and error.
#![allow(clippy::undocumented_unsafe_blocks, reason = "kernels get the buffers and sizes that they are written for")]

use crate::own_process::{is_child, rerun};
use crate::support::{kernel_param, launch_config, run_with_data, serial_program};
use crate::window_memory;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_abi::runtime::AssertArgs;
use rtcg_vgpu_exec::{FaultKind, RUNTIME_CALLS, limits, runtime_calls};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Device memory with `bytes` in it.
fn device_memory_with(bytes: &[u8]) -> u64 {
    let start = window_memory::commit_guarded(bytes.len());
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start as *mut u8, bytes.len()) };
    start as u64
}

/// Runs test `name` of this file in a child process with `RTCG_TEST_CHILD` set.
fn rerun_in_child(name: &str) -> Output {
    rerun(module_path!(), name).output().unwrap()
}

struct PrintCase {
    format: u64,
    arguments: [u64; 32],
    returned: AtomicU32,
}

unsafe extern "C" fn vprintf_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let p = kernel_param::<PrintCase>(ctx);
        let mut result = [0; 32];
        (RUNTIME_CALLS.vprintf)(ctx, (*ctx).live & 0b101, 4, &[p.format; 32], &p.arguments, &mut result);
        p.returned.store(result[2] as u32, SeqCst);
    }
}

#[test]
fn printf_formats_its_packed_arguments() {
    if !is_child() {
        let out = rerun_in_child("printf_formats_its_packed_arguments");
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(
            text.contains("i=-7 s=dev [  3.25] 100% u=5000000000 <  c>\ni=8 s=dev [ -1.00] 100% u=1 <  d>\n"),
            "{text}"
        );
        return;
    }
    let string = device_memory_with(b"dev\0");
    let format = device_memory_with(b"i=%d s=%s [%*.2f] 100%% u=%llu <%3c>\n\0");
    let pack = |i: i32, f: f64, u: u64, c: i32| {
        let mut b = Vec::new();
        b.extend_from_slice(&i.to_le_bytes());
        b.extend_from_slice(&[0; 4]);
        b.extend_from_slice(&string.to_le_bytes());
        b.extend_from_slice(&6_i32.to_le_bytes());
        b.extend_from_slice(&[0; 4]);
        b.extend_from_slice(&f.to_le_bytes());
        b.extend_from_slice(&u.to_le_bytes());
        b.extend_from_slice(&c.to_le_bytes());
        b
    };
    let mut arguments = [0; 32];
    arguments[0] = device_memory_with(&pack(-7, 3.25, 5_000_000_000, i32::from(b'c')));
    arguments[2] = device_memory_with(&pack(8, -1.0, 1, i32::from(b'd')));
    let p = PrintCase { format, arguments, returned: AtomicU32::new(0) };
    run_with_data(&serial_program(vprintf_kernel), launch_config(1, 32), &p).unwrap();
    assert_eq!(p.returned.load(SeqCst), 6);
    // The text was written when the grid ended.
    unsafe { libc::_exit(0) }
}

#[test]
fn a_bad_string_is_an_illegal_address() {
    let format = device_memory_with(b"%s\0");
    for bad in [16_u64, device_memory_with(b"x") + 8192] {
        let mut arguments = [0; 32];
        arguments[0] = device_memory_with(&bad.to_le_bytes());
        arguments[2] = arguments[0];
        let p = PrintCase { format, arguments, returned: AtomicU32::new(0) };
        let fault = run_with_data(&serial_program(vprintf_kernel), launch_config(1, 32), &p).unwrap_err();
        assert_eq!((fault.kind, fault.access.unwrap().address), (FaultKind::IllegalAddress, bad));
    }
}

unsafe extern "C" fn assert_in_threads_5_and_9(ctx: *mut WarpCtx) {
    unsafe {
        let texts = kernel_param::<[u64; 3]>(ctx);
        let [messages, files, functions] = texts.map(|text| [text; 32]);
        let (messages, files, functions, lines) =
            (&raw const messages, &raw const files, &raw const functions, &[42; 32]);
        let args = AssertArgs { messages, files, functions, lines, mask: 1 << 5 | 1 << 9 };
        (RUNTIME_CALLS.assertfail)(ctx, 5, &args)
    }
}

#[test]
fn each_failed_assertion_says_where() {
    const ASSERT_MESSAGE: &str = "k.cu:42: void f(int): block: [0,0,0], thread: [5,0,0] Assertion `a > 3` failed.";
    if !is_child() {
        let out = rerun_in_child("each_failed_assertion_says_where");
        let text = String::from_utf8(out.stderr).unwrap();
        let both = format!("{ASSERT_MESSAGE}\n{}\n", ASSERT_MESSAGE.replace("thread: [5", "thread: [9"));
        assert!(out.status.success() && text.contains(&both), "{text}");
        return;
    }
    let texts = [device_memory_with(b"a > 3\0"), device_memory_with(b"k.cu\0"), device_memory_with(b"void f(int)\0")];
    let fault = run_with_data(&serial_program(assert_in_threads_5_and_9), launch_config(1, 32), &texts).unwrap_err();
    assert_eq!((fault.kind, fault.code, fault.thread), (FaultKind::Assert, ResultCode::ASSERT, [5, 0, 0]));
    assert!(fault.report.contains(ASSERT_MESSAGE));
}

unsafe extern "C" fn malloc_and_free_per_lane(ctx: *mut WarpCtx) {
    unsafe {
        let keep = kernel_param::<[AtomicU32; 2]>(ctx);
        let mut got = [0; 32];
        (RUNTIME_CALLS.malloc)(ctx, (*ctx).live, 6, &[1000; 32], &mut got);
        for (l, &p) in got.iter().enumerate() {
            let fill = (*ctx).first_thread + l as u32;
            (p as *mut u32).add(249).write_volatile(fill);
            (p as *mut u32).write_volatile(fill);
        }
        let good =
            got.iter().enumerate().all(|(l, &p)| (p as *const u32).read_volatile() == (*ctx).first_thread + l as u32);
        keep[0].fetch_add(u32::from(good), SeqCst);
        (RUNTIME_CALLS.free)(ctx, (*ctx).live, 6, &got);
        let mut huge = [1; 32];
        (RUNTIME_CALLS.malloc)(ctx, 1, 6, &[1 << 40; 32], &mut huge);
        keep[1].fetch_add(huge[0] as u32, SeqCst);
        if (*ctx).warp_id == 1 && (*ctx).ctaid[0] == 99 {
            (RUNTIME_CALLS.free)(ctx, 1 << 4, 6, &got);
        }
    }
}

#[test]
fn malloc_gives_memory_and_free_checks_it() {
    assert_eq!(limits::malloc_heap_bytes(), 8 << 20);
    let keep = [AtomicU32::new(0), AtomicU32::new(0)];
    run_with_data(&serial_program(malloc_and_free_per_lane), launch_config(50, 64), &keep).unwrap();
    assert_eq!((keep[0].load(SeqCst), keep[1].load(SeqCst)), (100, 0));
    let fault = run_with_data(&serial_program(malloc_and_free_per_lane), launch_config(100, 64), &keep).unwrap_err();
    assert!(fault.report.contains("free of a pointer"), "{}", fault.report);
    assert_eq!(fault.thread, [36, 0, 0]);
    runtime_calls::reset_device_malloc();
    run_with_data(&serial_program(malloc_and_free_per_lane), launch_config(50, 64), &keep).unwrap();
}

unsafe extern "C" fn empty_kernel(_: *mut WarpCtx) {}

#[test]
fn signals_outside_kernels_keep_their_meaning() {
    use std::os::unix::process::ExitStatusExt;
    if !is_child() {
        let out = rerun_in_child("signals_outside_kernels_keep_their_meaning");
        assert_eq!(out.status.signal(), Some(libc::SIGSEGV), "{out:?}");
        return;
    }
    run_with_data(&serial_program(empty_kernel), launch_config(1, 32), &0).unwrap();
    unsafe { std::hint::black_box(16 as *const u32).read_volatile() };
}

unsafe extern "C" fn read_null(_: *mut WarpCtx) {
    unsafe { std::hint::black_box(24 as *const u32).read_volatile() };
}

static PREVIOUS_HANDLER: std::sync::Mutex<Option<libc::sigaction>> = std::sync::Mutex::new(None);

/// As Python's faulthandler: puts the previous handler back and raises the signal again.
extern "C" fn raise_again(signal: i32) {
    let previous = PREVIOUS_HANDLER.lock().unwrap().take().unwrap();
    unsafe {
        libc::sigaction(signal, &previous, std::ptr::null_mut());
        libc::raise(signal);
    }
}

#[test]
fn a_later_handler_that_raises_again_does_no_harm() {
    if !is_child() {
        let out = rerun_in_child("a_later_handler_that_raises_again_does_no_harm");
        assert!(out.status.success(), "{out:?}");
        return;
    }
    let fault = run_with_data(&serial_program(read_null), launch_config(1, 32), &0).unwrap_err();
    assert_eq!(fault.access.unwrap().address, 24);
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut previous: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = raise_again as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSEGV, &action, &mut previous);
        *PREVIOUS_HANDLER.lock().unwrap() = Some(previous);
    }
    for _ in 0..3 {
        let fault = run_with_data(&serial_program(read_null), launch_config(1, 32), &0).unwrap_err();
        assert_eq!((fault.kind, fault.access.unwrap().address), (FaultKind::IllegalAddress, 24));
    }
}
