//! Objects that graphs keep alive, and objects to release when launches have finished.

use super::params::KernelNode;
use crate::active_captures::with_relaxed_capture_mode;
use crate::stream::Event;
use crate::stream::Stream;
use rtcg_cuda_sys::{CU_EVENT_DISABLE_TIMING, CUgraphNode};
use rtcg_hal::lock_ignoring_poison;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Anything that shall live.
pub(super) type RetainedObject = Arc<dyn Any + Send + Sync>;

/// What belongs to one node.
#[derive(Clone, Default)]
pub(super) struct NodeRecord {
    /// How a kernel node was described, if it was described here.
    pub(super) kernel: Option<Arc<KernelNode>>,
    objects: Vec<RetainedObject>,
    /// The records of graphs inside the node.
    child_graphs: Vec<RetainedObjects>,
}

/// Records by node; cloning gives another reference to the same ones.
#[derive(Clone, Default)]
pub(super) struct RetainedObjects(Arc<Mutex<HashMap<usize, NodeRecord>>>);

impl RetainedObjects {
    fn locked_records(&self) -> MutexGuard<'_, HashMap<usize, NodeRecord>> {
        lock_ignoring_poison(&self.0)
    }

    /// Keeps an object for a node.
    pub(super) fn retain_for_node(&self, node: CUgraphNode, object: RetainedObject) {
        self.locked_records().entry(node.addr()).or_default().objects.push(object);
    }

    /// Starts a new record of a kernel; returns the former one, to be dropped by the caller.
    pub(super) fn record_kernel(&self, node: CUgraphNode, kernel: Arc<KernelNode>) -> Option<NodeRecord> {
        self.locked_records().insert(node.addr(), NodeRecord { kernel: Some(kernel), ..NodeRecord::default() })
    }

    /// Starts a new record of a node, with the records of graphs inside it.
    pub(super) fn set_child_graphs(&self, node: CUgraphNode, child_graphs: Vec<RetainedObjects>) -> Option<NodeRecord> {
        self.locked_records().insert(node.addr(), NodeRecord { child_graphs, ..NodeRecord::default() })
    }

    /// The records of the one graph inside a node.
    pub(super) fn child_graphs(&self, node: CUgraphNode) -> RetainedObjects {
        let mut records = self.locked_records();
        let child_graphs = &mut records.entry(node.addr()).or_default().child_graphs;
        if child_graphs.is_empty() {
            child_graphs.push(RetainedObjects::default());
        }
        child_graphs[0].clone()
    }

    /// Starts a new, empty record of a node.
    pub(super) fn replace_record(&self, node: CUgraphNode) -> Option<NodeRecord> {
        self.locked_records().remove(&node.addr())
    }

    /// How a kernel node was described.
    pub(super) fn kernel_of_node(&self, node: CUgraphNode) -> Option<Arc<KernelNode>> {
        self.locked_records().get(&node.addr()).and_then(|record| record.kernel.clone())
    }

    /// The same objects in a container of its own, which later changes of this one do not reach.
    pub(super) fn clone_records(&self) -> RetainedObjects {
        let mut records = self.locked_records().clone();
        for record in records.values_mut() {
            record.child_graphs.iter_mut().for_each(|child_graphs| *child_graphs = child_graphs.clone_records());
        }
        RetainedObjects(Arc::new(Mutex::new(records)))
    }

    /// Keeps all of `other` too, for no node in particular; gives what was there before.
    pub(super) fn replace_all_records(&self, other: RetainedObjects) -> HashMap<usize, NodeRecord> {
        let mut records = self.locked_records();
        let all = NodeRecord { child_graphs: vec![other], ..NodeRecord::default() };
        std::mem::replace(&mut *records, HashMap::from([(0, all)]))
    }

    /// Takes everything.
    pub(super) fn take_all_records(&self) -> HashMap<usize, NodeRecord> {
        std::mem::take(&mut *self.locked_records())
    }
}

/// What has to happen before retired objects may go.
enum StreamPoint {
    Event(Event),
    /// A stream that could not take an event because it was being captured.
    Stream(Option<Stream>),
}

impl StreamPoint {
    /// A stream point that cannot be queried any more belongs to a context that was destroyed or has failed.
    fn has_stream_passed(&self) -> bool {
        match self {
            StreamPoint::Event(event) => with_relaxed_capture_mode(|| event.query().unwrap_or(true)),
            StreamPoint::Stream(stream) => !is_stream_busy(stream.as_ref()),
        }
    }
}

/// What has to happen, and what may go then.
type RetiredObjects = (Vec<StreamPoint>, Box<dyn Any + Send>);

/// Objects of launches that may still run.
static RETIRED_OBJECTS: Mutex<Vec<RetiredObjects>> = Mutex::new(Vec::new());
static N_RETIRED: AtomicUsize = AtomicUsize::new(0);

fn is_stream_busy(stream: Option<&Stream>) -> bool {
    match stream {
        Some(stream) => {
            stream.is_capturing().unwrap_or(false) || !with_relaxed_capture_mode(|| stream.is_done().unwrap_or(true))
        }
        None => true,
    }
}

fn stream_point_of(stream: Option<&Stream>) -> Option<StreamPoint> {
    if stream.is_some() && !is_stream_busy(stream) {
        return None;
    }
    if stream.is_some_and(|s| s.is_capturing().unwrap_or(false)) {
        return Some(StreamPoint::Stream(stream.cloned()));
    }
    let event = Event::new(CU_EVENT_DISABLE_TIMING.0).ok()?;
    event.record(stream).ok()?;
    let fence = StreamPoint::Event(event);
    (!fence.has_stream_passed()).then_some(fence)
}

/// Drops `objects` when the work that is now in these streams is done.
pub(super) fn drop_after_streams(objects: impl Any + Send, streams: &[Option<Stream>]) {
    let points: Vec<StreamPoint> = streams.iter().filter_map(|stream| stream_point_of(stream.as_ref())).collect();
    if points.is_empty() {
        drop(objects);
    } else {
        let mut waiting = lock_ignoring_poison(&RETIRED_OBJECTS);
        waiting.push((points, Box::new(objects)));
        N_RETIRED.store(waiting.len(), Ordering::Relaxed);
    }
    drop_retired_objects();
}

/// Drops what nothing uses any more.
pub(super) fn drop_retired_objects() {
    if N_RETIRED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut waiting = lock_ignoring_poison(&RETIRED_OBJECTS);
    let done: Vec<_> =
        waiting.extract_if(.., |(points, _)| points.iter().all(StreamPoint::has_stream_passed)).collect();
    N_RETIRED.store(waiting.len(), Ordering::Relaxed);
    // Dropped without the lock: an object's own drop may run any code.
    drop(waiting);
    drop(done);
}
