//! What is known about captures in progress: it ends with the capture, however that ends. Alone in its process, as the
//! count is the process's.

use crate::support::run_in_context;
use rtcg_driver::sys::CU_STREAM_CAPTURE_MODE_GLOBAL;
use rtcg_driver::{Context, Stream, is_any_capturing};

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
