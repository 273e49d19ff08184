//! A forked child must get errors from the driver, not hang. A process of its own.

use crate::api_common::*;
use rtcg_cuda_sys::*;

#[test]
fn child_gets_errors() {
    own_process!();
    let ctx = new_context();
    let s = new_stream(0);
    let p = alloc(1 << 20);
    // Keep the driver busy while forking, so that its locks and threads are in use.
    let busy = std::thread::spawn(move || {
        ok!(cuCtxPushCurrent(ctx));
        for _ in 0..200 {
            ok!(cuMemsetD8Async(p, 1, 1 << 20, s));
        }
        ok!(cuStreamSynchronize(s));
    });
    for _ in 0..5 {
        // SAFETY: the child only calls driver functions, which must cope, and `_exit`.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0);
        if pid == 0 {
            let refused = [
                call!(cuStreamSynchronize(s)),
                call!(cuMemFree(p)),
                call!(cuCtxSynchronize()),
                call!(cuInit(0)),
                call!(cuMemsetD8(p, 0, 1)),
                call!(cuCtxDestroy(ctx)),
            ];
            let good = refused.iter().all(|r| *r == Err(CUresult::CUDA_ERROR_NOT_INITIALIZED));
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(if good { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0);
    }
    busy.join().unwrap();
    ok!(cuCtxDestroy(ctx));
}
