//! Host buffers of copies in flight: each is held until its stream has passed the copy.
//!
//! An event is recorded behind the copy. Later asynchronous copies, and every wait, query these events and
//! release the buffers of those that have completed.

use crate::driver::graph::capture::retain_in_captured_graph;
use pyo3::prelude::*;
use rtcg::driver::{Event, Stream, lock_ignoring_poison, sys, with_relaxed_capture_mode};
use std::sync::Mutex;

static IN_FLIGHT_BUFFERS: Mutex<Vec<(Event, Py<PyAny>)>> = Mutex::new(Vec::new());

/// Holds `owner` until the work that is now in `stream` is done.
/// Of a stream that is being captured the graph holds it.
pub(crate) fn hold_until_stream_done(stream: Option<&Stream>, owner: Py<PyAny>) -> rtcg::driver::Result<()> {
    if Python::attach(|py| retain_in_captured_graph(stream, owner.bind(py))) {
        return Ok(());
    }
    let event = Event::new(sys::CU_EVENT_DISABLE_TIMING.0)?;
    event.record(stream)?;
    lock_ignoring_poison(&IN_FLIGHT_BUFFERS).push((event, owner));
    release_completed();
    Ok(())
}

/// Lets go of the buffers whose copies are done. An event that cannot be asked any more belongs to
/// a context that was destroyed or has failed, whose copies have ended too.
pub(crate) fn release_completed() {
    let mut in_flight = lock_ignoring_poison(&IN_FLIGHT_BUFFERS);
    let has_passed = |event: &Event| with_relaxed_capture_mode(|| event.query().unwrap_or(true));
    let done: Vec<_> = in_flight.extract_if(.., |(event, _)| has_passed(event)).collect();
    // A buffer is dropped only after the lock is released: its finaliser may run any code.
    drop(in_flight);
    drop(done);
}
