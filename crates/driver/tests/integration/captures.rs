//! What is known about captures in progress: it ends with the capture, however that ends. Alone in its process, as the
//! count is the process's.

use crate::support::run_in_context;
use rtcg_driver::sys::{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING};
use rtcg_driver::{Context, HiddenCapture, Stream, is_any_capturing};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn no_capture_is_in_progress_after_its_end() {
    // A capture in global mode forbids calls of other threads.
    own_process!();
    run_in_context(|_| {
        let begun = || {
            let stream = Stream::new(0).unwrap();
            stream.begin_capture(CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
            assert!(is_any_capturing());
            stream
        };
        begun().end_capture().unwrap();
        assert!(!is_any_capturing(), "after its end");

        let invalid = begun();
        Context::synchronize().unwrap_err();
        invalid.end_capture().unwrap_err();
        assert!(!is_any_capturing(), "after a capture that became invalid");

        begun().close().unwrap();
        assert!(!is_any_capturing(), "after its stream was closed");
        drop(begun());
        assert!(!is_any_capturing(), "after its stream was dropped");
    });
}

#[test]
fn waits_of_other_threads_and_hidden_captures_do_not_meet() {
    own_process!();
    run_in_context(|_| {
        let ctx = Context::current().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let wait = || {
                ctx.push().unwrap();
                let mut n_waits = 0;
                while !is_over.load(Ordering::Relaxed) || n_waits == 0 {
                    Context::synchronize().unwrap();
                    n_waits += 1;
                }
                Context::pop().unwrap();
            };
            threads.spawn(wait);
            threads.spawn(wait);
            let stream = Stream::new(CU_STREAM_NON_BLOCKING.0).unwrap();
            let _over = set_on_drop(&is_over);
            for _ in 0..200 {
                let _hidden = HiddenCapture::new();
                stream.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
                std::thread::yield_now();
                stream.end_capture().unwrap();
            }
        });
    });
}

/// Sets a flag when it is dropped, also by a panic, which would otherwise leave threads that wait for the flag.
fn set_on_drop(flag: &AtomicBool) -> impl Drop {
    struct SetOnDrop<'a>(&'a AtomicBool);
    impl Drop for SetOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    SetOnDrop(flag)
}
