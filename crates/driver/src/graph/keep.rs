//! What graphs keep alive, and what waits for launches to end before it may go.

use super::capture::in_relaxed_mode;
use super::params::KernelNode;
use crate::event::Event;
use crate::stream::Stream;
use rtcg_cuda_sys::{CU_EVENT_DISABLE_TIMING, CUgraphNode};
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Anything that shall live.
pub(super) type Object = Arc<dyn Any + Send + Sync>;

/// What belongs to one node.
#[derive(Clone, Default)]
pub(super) struct Record {
    /// How a kernel node was described, if it was described here.
    pub(super) kernel: Option<Arc<KernelNode>>,
    objects: Vec<Object>,
    /// The records of graphs inside the node.
    inside: Vec<Kept>,
}

/// Records by node; cloning gives another reference to the same ones.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<HashMap<usize, Record>>>);

impl Kept {
    fn records(&self) -> MutexGuard<'_, HashMap<usize, Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an object for a node.
    pub(super) fn add(&self, node: CUgraphNode, object: Object) {
        self.records().entry(node.addr()).or_default().objects.push(object);
    }

    /// Starts the record of a kernel anew; returns the former one, to be dropped by the caller.
    pub(super) fn set_kernel(&self, node: CUgraphNode, kernel: Arc<KernelNode>) -> Option<Record> {
        self.records().insert(node.addr(), Record { kernel: Some(kernel), ..Record::default() })
    }

    /// Starts the record of a node anew, with the records of graphs inside it.
    pub(super) fn set_inside(&self, node: CUgraphNode, inside: Vec<Kept>) -> Option<Record> {
        self.records().insert(node.addr(), Record { inside, ..Record::default() })
    }

    /// The records of the one graph inside a node.
    pub(super) fn inside(&self, node: CUgraphNode) -> Kept {
        let mut records = self.records();
        let inside = &mut records.entry(node.addr()).or_default().inside;
        if inside.is_empty() {
            inside.push(Kept::default());
        }
        inside[0].clone()
    }

    /// Starts the record of a node anew, without anything in it.
    pub(super) fn take(&self, node: CUgraphNode) -> Option<Record> {
        self.records().remove(&node.addr())
    }

    /// How a kernel node was described.
    pub(super) fn kernel(&self, node: CUgraphNode) -> Option<Arc<KernelNode>> {
        self.records().get(&node.addr()).and_then(|record| record.kernel.clone())
    }

    /// The same objects in a container of its own, which later changes of this one do not reach.
    pub(super) fn snapshot(&self) -> Kept {
        let mut records = self.records().clone();
        for record in records.values_mut() {
            record.inside.iter_mut().for_each(|inside| *inside = inside.snapshot());
        }
        Kept(Arc::new(Mutex::new(records)))
    }

    /// Keeps all of `other` too, for no node in particular; gives what was there before.
    pub(super) fn replace_all(&self, other: Kept) -> HashMap<usize, Record> {
        let mut records = self.records();
        let all = Record { inside: vec![other], ..Record::default() };
        std::mem::replace(&mut *records, HashMap::from([(0, all)]))
    }

    /// Takes everything.
    pub(super) fn take_all(&self) -> HashMap<usize, Record> {
        std::mem::take(&mut *self.records())
    }
}

/// What has to happen before retired objects may go.
enum Fence {
    Event(Event),
    /// A stream that could not take an event because it was being captured.
    Stream(Option<Stream>),
}

impl Fence {
    /// A fence that cannot be asked any more belongs to a context that is gone or spoilt.
    fn is_passed(&self) -> bool {
        match self {
            Fence::Event(event) => in_relaxed_mode(|| event.query().unwrap_or(true)),
            Fence::Stream(stream) => !is_busy(stream.as_ref()),
        }
    }
}

/// What has to happen, and what may go then.
type Retired = (Vec<Fence>, Box<dyn Any + Send>);

/// Objects of launches that may still run.
static WAITING: Mutex<Vec<Retired>> = Mutex::new(Vec::new());
static N_WAITING: AtomicUsize = AtomicUsize::new(0);

fn is_busy(stream: Option<&Stream>) -> bool {
    match stream {
        Some(stream) => stream.is_capturing().unwrap_or(false) || !in_relaxed_mode(|| stream.is_done().unwrap_or(true)),
        None => true,
    }
}

fn fence_of(stream: Option<&Stream>) -> Option<Fence> {
    if stream.is_some() && !is_busy(stream) {
        return None;
    }
    if stream.is_some_and(|s| s.is_capturing().unwrap_or(false)) {
        return Some(Fence::Stream(stream.cloned()));
    }
    let event = Event::new(CU_EVENT_DISABLE_TIMING.0).ok()?;
    event.record(stream).ok()?;
    let fence = Fence::Event(event);
    (!fence.is_passed()).then_some(fence)
}

/// Drops `objects` when the work that is now in these streams is done.
pub(super) fn retire(objects: impl Any + Send, streams: &[Option<Stream>]) {
    let fences: Vec<Fence> = streams.iter().filter_map(|stream| fence_of(stream.as_ref())).collect();
    if fences.is_empty() {
        drop(objects);
    } else {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((fences, Box::new(objects)));
        N_WAITING.store(waiting.len(), Ordering::Relaxed);
    }
    release_passed();
}

/// Drops what nothing uses any more.
pub(super) fn release_passed() {
    if N_WAITING.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let done: Vec<_> = waiting.extract_if(.., |(fences, _)| fences.iter().all(Fence::is_passed)).collect();
    N_WAITING.store(waiting.len(), Ordering::Relaxed);
    // Dropped without the lock: an object's own drop may run any code.
    drop(waiting);
    drop(done);
}
