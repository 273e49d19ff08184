//! What streams and events know of a capture that they are part of.

use super::Stream;
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

/// Captures in progress; lets calls that a capture forbids find out cheaply that there is none.
pub(crate) static N_CAPTURES: AtomicUsize = AtomicUsize::new(0);

/// A capture in progress.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Unique in the process.
    pub(crate) id: u64,
    /// The graph that it fills.
    pub(crate) graph: Arc<dyn Any + Send + Sync>,
    pub(crate) origin: u64,
    pub(crate) ctx_id: u64,
    pub(crate) mode: u32,
    pub(crate) thread: ThreadId,
    pub(crate) invalid: AtomicBool,
    pub(crate) streams: Mutex<Vec<Weak<Stream>>>,
}

/// A stream's part in a capture.
#[derive(Debug, Clone)]
pub(crate) struct StreamCapture {
    /// The capture.
    pub(crate) capture: Arc<Capture>,
    /// What the stream's next node comes after.
    pub(crate) after: Vec<u64>,
}

impl Drop for Capture {
    fn drop(&mut self) {
        N_CAPTURES.fetch_sub(1, Ordering::AcqRel);
    }
}
