//! Command queues: streams of CUDA, and a list of the commands that cannot be submitted yet.
//!
//! A command whose wait list is submitted goes into a stream at once, with the other commands' marks to wait for. One
//! that waits for a user event, or for a command that does, stays in the list; whoever completes the event submits it.
//! A queue in order has one stream, and nothing overtakes the head of its list. One out of order has several.
//! A command of the host runs in a watcher's thread; commands behind it wait as for a user event.

mod marks;
mod submission;

pub(crate) use submission::submit_ready_queues;

use crate::command::event::{EventBody, wait_list};
use crate::command::work::{Command, Work};
use crate::completion::in_flight::InFlight;
use crate::context::ContextBody;
use crate::error::{ClError, Result, refuse};
use crate::object::{Ref, WeakRef, body};
use crate::platform::device::DeviceBody;
use rtcg_driver::{Stream, StreamFlags, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use submission::are_submitted_or_tell;

pub(crate) struct QueueBody {
    pub(crate) context: Ref<ContextBody>,
    pub(crate) device: Ref<DeviceBody>,
    pub(crate) properties: cl_command_queue_properties,
    pub(crate) property_list: Vec<cl_queue_properties>,
    /// What its submitted commands use.
    pub(crate) in_flight: Arc<InFlight>,
    state: Mutex<QueueState>,
    submitted: Condvar,
}

body!(QueueBody: cl_command_queue, b"queu", CL_INVALID_COMMAND_QUEUE, "command_queue", on_last_release = forget_events);

/// Events refer to their queue, and a queue out of order to events.
fn forget_events(queue: &Ref<QueueBody>) {
    let mut state = queue.lock();
    let forgotten = (std::mem::take(&mut state.recent), state.barrier.take());
    drop(state);
    drop(forgotten);
    queue.in_flight.reclaim();
}

impl Drop for QueueBody {
    fn drop(&mut self) {
        self.in_flight.reclaim();
        self.context.forget_in_flight(&self.in_flight);
    }
}

struct QueueState {
    /// One in order, several out of order.
    streams: Vec<Stream>,
    next_stream: usize,
    pending: VecDeque<Pending>,
    /// Out of order: commands that later barriers and markers wait for; those that have ended are forgotten.
    recent: Vec<Ref<EventBody>>,
    /// What every later command waits for: out of order the last barrier, in order the last command of the host.
    barrier: Option<Ref<EventBody>>,
    /// Commands of the host that have not ended.
    n_host_commands: usize,
    /// In order: the command whose end is the end of the stream, if it has no mark yet and an event.
    unmarked: Option<WeakRef<EventBody>>,
}

/// A command that failed when it was submitted at once.
struct Failed {
    error: ClError,
    event: Option<Ref<EventBody>>,
}

/// What a command waits for: first the events that the program listed.
struct Waits {
    events: Vec<Ref<EventBody>>,
    listed: usize,
}

struct Pending {
    waits: Waits,
    event: Ref<EventBody>,
    work: Work,
}

/// Streams of a queue out of order.
const STREAMS_OUT_OF_ORDER: usize = 4;

/// Commands of a queue out of order that are looked at before those that have ended are forgotten.
const MAX_RECENT: usize = 64;

/// What every function that enqueues a command is given last.
pub(crate) struct Wanted {
    pub(crate) waits: Vec<Ref<EventBody>>,
    event_ret: *mut cl_event,
    is_blocking: bool,
}

impl Wanted {
    /// # Safety
    /// The list is null or has `count` handles, `event` is null or writable.
    pub(crate) unsafe fn new(
        queue: &Ref<QueueBody>,
        count: cl_uint,
        list: *const cl_event,
        event: *mut cl_event,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let waits = unsafe { wait_list(&queue.context, count, list) }?;
        Ok(Self { waits, event_ret: event, is_blocking: false })
    }

    /// The function returns when the command has ended.
    pub(crate) fn blocking(mut self, is_blocking: cl_bool) -> Self {
        self.is_blocking = is_blocking != CL_FALSE;
        self
    }
}

impl QueueBody {
    pub(crate) fn create(
        context: Ref<ContextBody>,
        device: Ref<DeviceBody>,
        properties: cl_command_queue_properties,
        property_list: Vec<cl_queue_properties>,
    ) -> Result<cl_command_queue> {
        context.check_device(&device)?;
        if properties & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT) != 0 {
            return refuse(
                CL_INVALID_QUEUE_PROPERTIES,
                "properties: devices of this platform have no queues of their own",
            );
        }
        let known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
        if properties & !known != 0 {
            return ClError::value(format!("properties: {properties:#x} has bits that are none of a queue"));
        }
        let is_in_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0;
        let count = if is_in_order { 1 } else { STREAMS_OUT_OF_ORDER };
        let streams = device.cuda_context()?.with_current(|| {
            (0..count).map(|_| Ok(Stream::new(StreamFlags::NON_BLOCKING)?)).collect::<Result<Vec<_>>>()
        })?;
        let in_flight = InFlight::new(device.clone(), is_in_order.then(|| streams[0].clone()));
        context.remember_in_flight(&in_flight);
        let state = QueueState {
            streams,
            next_stream: 0,
            pending: VecDeque::new(),
            recent: Vec::new(),
            barrier: None,
            n_host_commands: 0,
            unmarked: None,
        };
        let (state, submitted) = (Mutex::new(state), Condvar::new());
        Ok(Ref::new_for_user(Self { context, device, properties, property_list, in_flight, state, submitted }))
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }

    pub(crate) fn has_profiling(&self) -> bool {
        self.properties & CL_QUEUE_PROFILING_ENABLE != 0
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        lock_ignoring_poison(&self.state)
    }

    /// Enqueues a command of the device.
    ///
    /// # Errors
    /// Those of its work where it is submitted at once; later ones become the status of the event, as those of the
    /// commands that it waits for do, unless the call is a blocking one.
    ///
    /// # Safety
    /// The memory that the command names and does not hold lives until its work is done; the event of `wanted` is null
    /// or writable.
    pub(crate) unsafe fn enqueue(
        this: &Ref<Self>,
        kind: cl_command_type,
        wanted: Wanted,
        command: impl Command,
    ) -> Result<()> {
        let Wanted { waits, event_ret, is_blocking } = wanted;
        let needs_event = !event_ret.is_null() || !this.is_in_order();
        let outcome = this.enqueue_command(this, kind, waits, needs_event, command);
        let event = match outcome {
            Err(Failed { error, event })
                if error.code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && !is_blocking =>
            {
                event
            }
            Err(Failed { error, .. }) => return Err(error),
            Ok(event) => event,
        };
        let Some(event) = event else { return if is_blocking { this.wait_for_stream(this.lock()) } else { Ok(()) } };
        if !event_ret.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *event_ret = event.clone().into_user_handle() };
        }
        if is_blocking { event.wait(&event) } else { Ok(()) }
    }

    /// Enqueues a command of the host. It runs in a watcher's thread without a lock, so that it may call the program.
    ///
    /// # Safety
    /// The event of `wanted` is null or writable.
    pub(crate) unsafe fn enqueue_host(
        this: &Ref<Self>,
        kind: cl_command_type,
        wanted: Wanted,
        run: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        let Wanted { mut waits, event_ret, is_blocking } = wanted;
        this.demand_marks(&waits);
        let mut state = this.lock();
        let listed = waits.len();
        waits.extend(state.barrier.clone());
        let event = EventBody::of_command(this, kind);
        if this.is_in_order() {
            state.barrier = Some(event.clone());
        } else {
            remember(&mut state, &event, kind, false);
        }
        state.n_host_commands += 1;
        let (waits, work) = (Waits { events: waits, listed }, Work::Host(Box::new(run)));
        state.pending.push_back(Pending { waits, event: event.clone(), work });
        drop(state);
        if !event_ret.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *event_ret = event.clone().into_user_handle() };
        }
        submit_ready_queues(vec![this.clone()]);
        if is_blocking { event.wait(&event) } else { Ok(()) }
    }

    fn enqueue_command(
        &self,
        this: &Ref<Self>,
        kind: cl_command_type,
        mut waits: Vec<Ref<EventBody>>,
        needs_event: bool,
        mut command: impl Command,
    ) -> std::result::Result<Option<Ref<EventBody>>, Failed> {
        self.demand_marks(&waits);
        let mut state = self.lock();
        if waits.is_empty() && !needs_event && state.pending.is_empty() && state.barrier.is_none() {
            // The commonest case: a queue in order, and nobody asks.
            let mut before = Vec::new();
            let outcome = self.device.cuda_context().and_then(|context| {
                context.with_current(|| {
                    before = self.mark_unmarked(&mut state, context);
                    command.put(&state.streams[0])
                })
            });
            drop(state);
            let done = command.into_kept().map(|kept| self.in_flight.keep(kept));
            drop((before, done));
            return outcome.map(|()| None).map_err(|error| Failed { error, event: None });
        }
        // What the program listed; the order of the queue adds more, whose failures are not this command's.
        let listed = waits.len();
        let waits_for_all = is_barrier(kind) && listed == 0;
        waits.extend(state.barrier.clone());
        if !self.is_in_order() && waits_for_all {
            waits.extend(state.recent.iter().cloned());
        }
        let waits = Waits { events: waits, listed };
        let is_ready = are_submitted_or_tell(&waits.events, this);
        if is_ready && self.is_in_order() {
            // The command of the host, if there was one, has ended.
            state.barrier = None;
        }
        let is_first = state.pending.is_empty() || !self.is_in_order();
        let event = (needs_event || !(is_ready && is_first)).then(|| EventBody::of_command(this, kind));
        if let Some(event) = event.as_ref().filter(|_| !self.is_in_order()) {
            remember(&mut state, event, kind, waits_for_all);
        }
        if is_ready && is_first {
            let (after, outcome) = self.submit(&mut state, &waits, event.as_ref(), command);
            drop(state);
            after.finish();
            return match outcome {
                Ok(()) => Ok(event),
                Err(error) => Err(Failed { error, event }),
            };
        }
        if let Some(event) = &event {
            state.pending.push_back(Pending { waits, event: event.clone(), work: command.into_pending() });
            drop(state);
            // What it waits for may have been submitted meanwhile.
            submit_ready_queues(vec![this.clone()]);
        }
        Ok(event)
    }

    /// Waits for all commands.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        while !state.pending.is_empty() || state.n_host_commands != 0 {
            state = self.submitted.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let kept = self.in_flight.take();
        let first = state.streams[0].clone();
        let others: Vec<Stream> = state.streams[1..].to_vec();
        drop(state);
        // All are waited for, also where one has failed.
        let wait = || others.iter().fold(first.synchronize(), |outcome, stream| outcome.and(stream.synchronize()));
        let outcome = self.device.cuda_context()?.with_current(wait);
        drop(kept);
        Ok(outcome?)
    }

    /// Waits for what is in the stream of a queue in order.
    fn wait_for_stream(&self, state: MutexGuard<'_, QueueState>) -> Result<()> {
        let kept = self.in_flight.take();
        let stream = state.streams[0].clone();
        drop(state);
        let outcome = self.device.cuda_context()?.with_current(|| stream.synchronize());
        drop(kept);
        Ok(outcome?)
    }
}

fn is_barrier(command: cl_command_type) -> bool {
    matches!(command, CL_COMMAND_BARRIER | CL_COMMAND_MARKER)
}

fn remember(state: &mut QueueState, event: &Ref<EventBody>, command: cl_command_type, waits_for_all: bool) {
    if command == CL_COMMAND_BARRIER {
        state.barrier = Some(event.clone());
        // A barrier with a wait list says nothing of other commands that run.
        if waits_for_all {
            state.recent.clear();
        }
    }
    if state.recent.len() >= MAX_RECENT {
        state.recent.retain(|event| match event.mark_to_wait_for() {
            Ok(Some(mark)) => !mark.query().unwrap_or(false),
            _ => !event.is_submitted(),
        });
    }
    state.recent.push(event.clone());
}
