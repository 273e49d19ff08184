//! A process ends promptly, whatever its queues and kernels do.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use crate::api_common::*;
use crate::own_process::rerun;
use rtcg_cuda_sys::*;

/// Set in the child process to what it is to leave behind.
const CHILD_TASK_VAR: &str = "RTCG_TEST_LEAVES_BEHIND";

/// Never ends.
const ENDLESS_KERNEL_PTX: &std::ffi::CStr = c".version 7.0
.target sm_80
.address_size 64
.visible .entry endless(.param .u64 p)
{
    .reg .pred %q; .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %q, %r1, 0;
    @%q bra AGAIN;
    ret;
}
";

fn submit_endless_work(what: &str) {
    new_context();
    let s = new_stream(1);
    let p = alloc(1 << 20);
    ok!(cuMemsetD8(p, 0, 1 << 20));
    match what {
        "kernel" => {
            let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
            ok!(cuModuleLoadData(&raw mut module, ENDLESS_KERNEL_PTX.as_ptr().cast()));
            ok!(cuModuleGetFunction(&raw mut function, module, c"endless".as_ptr()));
            let mut arguments: [*mut c_void; 1] = [(&raw const p).cast_mut().cast()];
            let none = std::ptr::null_mut();
            ok!(cuLaunchKernel(function, 200, 1, 1, 64, 1, 1, 0, s, arguments.as_mut_ptr(), none));
            ok!(cuMemsetD8Async(p, 1, 1 << 20, s));
        }
        "host function" => {
            unsafe extern "C" fn sleep(_: *mut c_void) {
                std::thread::sleep(Duration::from_secs(600));
            }
            ok!(cuLaunchHostFunc(s, Some(sleep), std::ptr::null_mut()));
        }
        "wait" => ok!(cuStreamWaitValue32(s, p, 1, 0)),
        other => panic!("{other}"),
    }
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    std::thread::sleep(Duration::from_millis(20));
}

fn check_exit_is_prompt(what: &str) {
    if let Ok(mine) = std::env::var(CHILD_TASK_VAR) {
        submit_endless_work(&mine);
        std::process::exit(7);
    }
    let mut child = rerun(module_path!(), &format!("process_exits_with_pending_{}", what.replace(' ', "_")))
        .env(CHILD_TASK_VAR, what)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(7), "{what}: {status}");
            return;
        }
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("the process does not end with this left behind: {what}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn process_exits_with_pending_kernel() {
    check_exit_is_prompt("kernel");
}

#[test]
fn process_exits_with_pending_host_function() {
    check_exit_is_prompt("host function");
}

#[test]
fn process_exits_with_pending_wait() {
    check_exit_is_prompt("wait");
}
