//! Command queues: streams of CUDA, and a list of the commands that cannot be submitted yet.
//!
//! A command whose wait list is submitted goes into a stream at once, with the other commands' marks to wait for. One
//! that waits for a user event, or for a command that does, stays in the list; whoever completes the event submits it.
//! A queue in order has one stream, and nothing overtakes the head of its list. One out of order has several.
//! A command of the host runs in a watcher's thread; commands behind it wait as for a user event.

use crate::clock::TimeBase;
use crate::clock::nanoseconds;
use crate::command::event::{EventBody, Marks, wait_list};
use crate::completion::in_flight::{Group, InFlight, Kept};
use crate::completion::watcher::HOST_COMMANDS;
use crate::context::ContextBody;
use crate::error::{ClError, Result, refuse};
use crate::object::{Ref, WeakRef, body};
use crate::platform::device::DeviceBody;
use crate::platform::mark::Mark;
use rtcg_driver::{Context, Stream, StreamFlags};
use rtcg_opencl_sys::*;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

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

/// The work of a command.
pub(crate) trait Command: Sized {
    /// Puts it into a stream.
    fn put(&mut self, stream: &Stream) -> Result<()>;
    /// What the device uses of it.
    fn into_kept(self) -> Option<Kept>;
    /// The same work, to be put into a stream later.
    fn into_pending(self) -> Work;
}

/// A command that a function puts into a stream. What the function has is kept until the command is done.
pub(crate) struct Transfer<F>(pub(crate) F);

impl<F: FnMut(&Stream) -> Result<()> + Send + 'static> Command for Transfer<F> {
    fn put(&mut self, stream: &Stream) -> Result<()> {
        (self.0)(stream)
    }

    fn into_kept(self) -> Option<Kept> {
        (size_of::<F>() != 0).then(|| Kept::Action(Box::new(self.0)))
    }

    fn into_pending(self) -> Work {
        Work::Device(Box::new(self.0))
    }
}

/// Puts the work of a command into a stream.
type Action = Box<dyn FnMut(&Stream) -> Result<()> + Send>;

/// The work of a command that waits.
pub(crate) enum Work {
    Device(Action),
    /// Runs in a watcher's thread when all before it is done, without a lock.
    Host(Box<dyn FnOnce() + Send>),
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
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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
        tell(vec![this.clone()]);
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
            after.go_on();
            return match outcome {
                Ok(()) => Ok(event),
                Err(error) => Err(Failed { error, event }),
            };
        }
        if let Some(event) = &event {
            state.pending.push_back(Pending { waits, event: event.clone(), work: command.into_pending() });
            drop(state);
            // What it waits for may have been submitted meanwhile.
            tell(vec![this.clone()]);
        }
        Ok(event)
    }

    /// Puts a command into a stream. Returns what is to be done without the lock of the queue.
    fn submit(
        &self,
        state: &mut QueueState,
        waits: &Waits,
        event: Option<&Ref<EventBody>>,
        mut command: impl Command,
    ) -> (After, Result<()>) {
        let index = state.next_stream;
        state.next_stream = (index + 1) % state.streams.len();
        let submitted_at = if event.is_some() && self.has_profiling() { nanoseconds() } else { 0 };
        let mut after = After::default();
        let made = |context: &Context| {
            context.with_current(|| {
                after._before = self.mark_unmarked(state, context);
                let stream = &state.streams[index];
                self.wait_in_stream(stream, waits)?;
                let start = self.start_mark(context, event, stream)?;
                let put = command.put(stream);
                if let Err(error) = put {
                    // A part of it may run.
                    let _ = stream.synchronize();
                    return Err(error);
                }
                let Some(event) = event else { return Ok(None) };
                if start.is_none()
                    && self.is_in_order()
                    && let Some(told) = event.set_submitted_without_mark(event)
                {
                    after.told = told;
                    state.unmarked = Some(WeakRef::new(event));
                    return Ok(None);
                }
                let end = self.device.marks.record(context, stream, start.is_some())?;
                Ok(Some(Marks { start, end }))
            })
        };
        let made = self.device.cuda_context().and_then(made);
        match (&made, command.into_kept()) {
            (Ok(Some(marks)), kept) => after._done = self.in_flight.keep_until(&marks.end, kept),
            (Ok(None), Some(kept)) => after._done = self.in_flight.keep(kept),
            (_, kept) => after._unused = kept,
        }
        let outcome = match (made, event) {
            (Ok(Some(marks)), Some(event)) => {
                after.told = event.set_submitted(event, marks, submitted_at);
                Ok(())
            }
            (Err(error), Some(event)) => {
                after.told = event.set_done(event, error.code, None);
                Err(error)
            }
            (made, _) => made.map(drop),
        };
        (after, outcome)
    }

    /// With profiling: the mark of a command's begin, in the current context.
    fn start_mark(
        &self,
        context: &Context,
        event: Option<&Ref<EventBody>>,
        stream: &Stream,
    ) -> Result<Option<(Mark, Arc<TimeBase>)>> {
        if event.is_none() || !self.has_profiling() {
            return Ok(None);
        }
        let base = self.device.time_base()?;
        let start = self.device.marks.record(context, stream, true)?;
        Ok(Some((start, base)))
    }

    /// Has others' commands marked, or marked when they are submitted. No lock of a queue is held.
    fn demand_marks(&self, waits: &[Ref<EventBody>]) {
        waits.iter().filter(|event| !self.keeps_order_with(event)).for_each(|event| event.demand_mark(event));
    }

    /// Whether commands of this queue come after the event's command without being told.
    fn keeps_order_with(&self, event: &EventBody) -> bool {
        self.is_in_order() && event.queue.as_ref().is_some_and(|queue| std::ptr::eq(&raw const **queue, self))
    }

    /// Gives the last command of the stream its mark, if there is an event of it: something is put behind it. The caller
    /// drops what is returned, without the lock.
    #[must_use]
    fn mark_unmarked(&self, state: &mut QueueState, context: &Context) -> Vec<Group> {
        let Some(event) = state.unmarked.take().and_then(|event| event.upgrade()) else { return Vec::new() };
        let record = || self.device.marks.record(context, &state.streams[0], false);
        // An error became the status of that event.
        match event.mark_with(&event, record) {
            Ok(Some(mark)) => self.in_flight.keep_until(&mark, None),
            _ => Vec::new(),
        }
    }

    /// Gives a command its mark if it is the last of the stream and has none.
    pub(crate) fn mark_last(&self, event: &Ref<EventBody>) {
        let mut state = self.lock();
        if !is_unmarked(&state, event) {
            return;
        }
        let marked = self
            .device
            .cuda_context()
            .and_then(|context| context.with_current(|| Ok(self.mark_unmarked(&mut state, context))));
        drop(state);
        drop(marked);
    }

    /// Waits for the end of the stream if a command is the last there and has no mark.
    pub(crate) fn wait_for_last(&self, event: &Ref<EventBody>) -> Option<Result<()>> {
        let state = self.lock();
        if !is_unmarked(&state, event) {
            return None;
        }
        Some(self.wait_for_stream(state))
    }

    /// Makes a stream of the current context wait for other commands.
    ///
    /// # Errors
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` where a command that the program listed has failed.
    fn wait_in_stream(&self, stream: &Stream, waits: &Waits) -> Result<()> {
        for (place, wait) in waits.events.iter().enumerate() {
            match wait.mark_to_wait_for() {
                Ok(None) => {}
                Ok(Some(_)) if self.keeps_order_with(wait) => {}
                Ok(Some(mark)) => stream.wait_for_event(&mark)?,
                Err(_) if place >= waits.listed => {}
                Err(code) => {
                    let why = format!("a command that it waits for ended with {code}");
                    return refuse(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, why);
                }
            }
        }
        Ok(())
    }

    /// Has a watcher run a command of the host when the stream has come so far. Returns the queues that must be told.
    fn submit_host(
        &self,
        this: &Ref<Self>,
        state: &mut QueueState,
        waits: &Waits,
        event: &Ref<EventBody>,
        run: Box<dyn FnOnce() + Send>,
    ) -> Vec<Ref<QueueBody>> {
        let stream = &state.streams[0];
        let marked = self.device.cuda_context().and_then(|context| {
            context.with_current(|| {
                self.wait_in_stream(stream, waits)?;
                let start = self.start_mark(context, Some(event), stream)?;
                let end = self.device.marks.record(context, stream, start.is_some())?;
                Ok(Marks { start, end })
            })
        });
        let marks = match marked {
            Ok(marks) => marks,
            Err(error) => {
                state.n_host_commands -= 1;
                return event.set_done(event, error.code, None);
            }
        };
        let (this, event, mut run) = (this.clone(), event.clone(), Some(run));
        HOST_COMMANDS.watch(move || {
            let code = match marks.end.query() {
                Ok(false) => return false,
                Ok(true) => CL_COMPLETE,
                Err(error) => ClError::from(error).code,
            };
            if let Some(run) = run.take() {
                run();
            }
            let told = event.set_done(&event, code, Some(marks.clone()));
            this.lock().n_host_commands -= 1;
            this.submitted.notify_all();
            tell(told);
            true
        });
        Vec::new()
    }

    /// Submits the commands of the list that no longer wait for anything. Queues whose commands wait for these are added to
    /// `told`.
    fn submit_ready(this: &Ref<Self>, told: &mut Vec<Ref<Self>>) {
        loop {
            let mut state = this.lock();
            let candidates = if this.is_in_order() { state.pending.len().min(1) } else { state.pending.len() };
            let is_ready = |pending: &Pending| are_submitted_or_tell(&pending.waits.events, this);
            let Some(found) = (0..candidates).find(|index| is_ready(&state.pending[*index])) else {
                drop(state);
                this.submitted.notify_all();
                return;
            };
            let Pending { waits, event, work } = state.pending.remove(found).expect("the index was found");
            let mut after = match work {
                // An error became the status of the event.
                Work::Device(action) => this.submit(&mut state, &waits, Some(&event), Deferred(action)).0,
                Work::Host(run) => {
                    let more = this.submit_host(this, &mut state, &waits, &event, run);
                    After { told: more, ..After::default() }
                }
            };
            drop(state);
            told.append(&mut after.told);
        }
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

/// What follows the submission of a command, without the lock of its queue: whoever is told locks its queue, which may be
/// this one, and what is dropped may call the program.
#[derive(Default)]
struct After {
    told: Vec<Ref<QueueBody>>,
    _before: Vec<Group>,
    _done: Vec<Group>,
    _unused: Option<Kept>,
}

impl After {
    fn go_on(self) {
        tell(self.told);
    }
}

/// The work of a command that has waited.
struct Deferred(Action);

impl Command for Deferred {
    fn put(&mut self, stream: &Stream) -> Result<()> {
        (self.0)(stream)
    }

    fn into_kept(self) -> Option<Kept> {
        Some(Kept::Action(Box::new(self.0)))
    }

    fn into_pending(self) -> Work {
        Work::Device(self.0)
    }
}

fn is_unmarked(state: &QueueState, event: &Ref<EventBody>) -> bool {
    state.unmarked.as_ref().is_some_and(|last| last.is(&WeakRef::new(event)))
}

/// Whether all are submitted. Each that is not tells this queue when it is.
fn are_submitted_or_tell(waits: &[Ref<EventBody>], queue: &Ref<QueueBody>) -> bool {
    waits.iter().filter(|event| !event.is_submitted_or_tells(queue)).count() == 0
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

/// Has queues submit what no longer waits, and those that are told by that.
pub(crate) fn tell(mut queues: Vec<Ref<QueueBody>>) {
    while let Some(queue) = queues.pop() {
        QueueBody::submit_ready(&queue, &mut queues);
    }
}
