//! Command queues: streams of CUDA, and a list of the commands that cannot be submitted yet.
//!
//! A command whose wait list is submitted goes into a stream at once, with the other commands' marks to wait for. One
//! that waits for a user event, or for a command that does, stays in the list; whoever completes the event submits it.
//! A queue in order has one stream, and nothing overtakes the head of its list. One out of order has several.

use crate::command::event::{EventBody, Marks, wait_list};
use crate::context::{ContextBody, property_list};
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::Answer;
use crate::object::{Ref, body, release, resolve, retain};
use crate::platform::device::DeviceBody;
use rtcg_driver::{Event, EventFlags, Stream, StreamFlags};
use rtcg_opencl_sys::*;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

pub(crate) struct QueueBody {
    pub(crate) context: Ref<ContextBody>,
    pub(crate) device: Ref<DeviceBody>,
    properties: cl_command_queue_properties,
    property_list: Vec<cl_queue_properties>,
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
}

struct QueueState {
    /// One in order, several out of order.
    streams: Vec<Stream>,
    next_stream: usize,
    pending: VecDeque<Pending>,
    /// Out of order: commands that later barriers and markers wait for; those that have ended are forgotten.
    recent: Vec<Ref<EventBody>>,
    /// Out of order: the last barrier, which every later command waits for.
    barrier: Option<Ref<EventBody>>,
    time_base: Option<Arc<TimeBase>>,
}

/// Puts the work of a command into a stream.
type Action = Box<dyn FnOnce(&Stream) -> Result<()> + Send>;

/// What a command waits for: first the events that the program listed.
struct Waits {
    events: Vec<Ref<EventBody>>,
    listed: usize,
}

struct Pending {
    waits: Waits,
    event: Ref<EventBody>,
    action: Action,
}

/// Streams of a queue out of order.
const STREAMS_OUT_OF_ORDER: usize = 4;

/// Commands of a queue out of order that are looked at before those that have ended are forgotten.
const MAX_RECENT: usize = 64;

/// An event whose time on the platform's clock is known, for the profiling of commands near it.
pub(crate) struct TimeBase {
    event: Event,
    recorded_at: cl_ulong,
    previous: Option<Arc<TimeBase>>,
    nanoseconds: OnceLock<cl_ulong>,
}

/// Nanoseconds after which times count from a new event: milliseconds are single precision in CUDA.
const TIME_BASE_LIFE: cl_ulong = 500_000_000;

impl TimeBase {
    fn new(stream: &Stream, previous: Option<Arc<TimeBase>>) -> Result<Arc<Self>> {
        let event = Event::new(EventFlags::DEFAULT)?;
        event.record(Some(stream))?;
        let base =
            Self { event, recorded_at: crate::platform::device::nanoseconds(), previous, nanoseconds: OnceLock::new() };
        if base.previous.is_none() {
            base.event.synchronize()?;
            let _ = base.nanoseconds.set(crate::platform::device::nanoseconds());
        }
        Ok(Arc::new(base))
    }

    /// Nanoseconds of an event that was recorded after this one and has happened.
    pub(crate) fn time_of(&self, event: &Event) -> Result<cl_ulong> {
        Ok(self.nanoseconds()? + (f64::from(event.time_since(&self.event)?).max(0.0) * 1e6) as cl_ulong)
    }

    fn nanoseconds(&self) -> Result<cl_ulong> {
        if let Some(known) = self.nanoseconds.get() {
            return Ok(*known);
        }
        let previous = self.previous.as_ref().expect("the first base knows its time");
        let found = previous.time_of(&self.event)?;
        Ok(*self.nanoseconds.get_or_init(|| found))
    }
}

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
    fn create(
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
        let state = QueueState {
            streams,
            next_stream: 0,
            pending: VecDeque::new(),
            recent: Vec::new(),
            barrier: None,
            time_base: None,
        };
        let state = Mutex::new(state);
        Ok(Ref::new_for_user(Self { context, device, properties, property_list, state, submitted: Condvar::new() }))
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0
    }

    fn has_profiling(&self) -> bool {
        self.properties & CL_QUEUE_PROFILING_ENABLE != 0
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Enqueues a command: `action` puts its work into the stream that it is given.
    ///
    /// # Errors
    /// Those of `action` where it runs at once; later ones become the status of the event.
    ///
    /// # Safety
    /// The memory that `action` names lives until its work is done; the event of `wanted` is null or writable.
    pub(crate) unsafe fn enqueue(
        this: &Ref<Self>,
        command: cl_command_type,
        wanted: Wanted,
        action: impl FnOnce(&Stream) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let Wanted { waits, event_ret, is_blocking } = wanted;
        let needs_event = !event_ret.is_null() || is_blocking || !this.is_in_order();
        let event = this.enqueue_command(this, command, waits, needs_event, action)?;
        let Some(event) = event else { return Ok(()) };
        if !event_ret.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *event_ret = event.clone().into_user_handle() };
        }
        if is_blocking { event.wait() } else { Ok(()) }
    }

    fn enqueue_command(
        &self,
        this: &Ref<Self>,
        command: cl_command_type,
        mut waits: Vec<Ref<EventBody>>,
        needs_event: bool,
        action: impl FnOnce(&Stream) -> Result<()> + Send + 'static,
    ) -> Result<Option<Ref<EventBody>>> {
        let mut state = self.lock();
        // What the program listed; the order of the queue adds more, whose failures are not this command's.
        let listed = waits.len();
        let waits_for_all = is_barrier(command) && listed == 0;
        if !self.is_in_order() {
            waits.extend(state.barrier.clone());
            if waits_for_all {
                waits.extend(state.recent.iter().cloned());
            }
        }
        let waits = Waits { events: waits, listed };
        let is_ready = are_submitted_or_tell(&waits.events, this);
        let is_first = state.pending.is_empty() || !self.is_in_order();
        let event = (needs_event || !(is_ready && is_first)).then(|| EventBody::of_command(this, command));
        if let Some(event) = event.as_ref().filter(|_| !self.is_in_order()) {
            remember(&mut state, event, command, waits_for_all);
        }
        if is_ready && is_first {
            let (told, outcome) = self.submit(&mut state, &waits, event.as_ref(), action);
            drop(state);
            tell(told);
            outcome?;
        } else if let Some(event) = &event {
            state.pending.push_back(Pending { waits, event: event.clone(), action: Box::new(action) });
            drop(state);
            // What it waits for may have been submitted meanwhile.
            tell(vec![this.clone()]);
        }
        Ok(event)
    }

    /// Puts a command into a stream. Returns the queues that must be told.
    fn submit(
        &self,
        state: &mut QueueState,
        waits: &Waits,
        event: Option<&Ref<EventBody>>,
        action: impl FnOnce(&Stream) -> Result<()>,
    ) -> (Vec<Ref<QueueBody>>, Result<()>) {
        let index = state.next_stream;
        state.next_stream = (index + 1) % state.streams.len();
        let made = |context: &rtcg_driver::Context| {
            context.with_current(|| {
                let stream = &state.streams[index];
                for (place, wait) in waits.events.iter().enumerate() {
                    match wait.mark_to_wait_for() {
                        Ok(None) => {}
                        Ok(Some(mark)) => stream.wait_for_event(&mark)?,
                        Err(_) if place >= waits.listed => {}
                        Err(code) => {
                            let why = format!("a command that it waits for ended with {code}");
                            return refuse(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, why);
                        }
                    }
                }
                let start = match event {
                    Some(_) if self.has_profiling() => {
                        let base = current_time_base(&mut state.time_base, stream)?;
                        let start = Event::new(EventFlags::DEFAULT)?;
                        start.record(Some(stream))?;
                        Some((start, base))
                    }
                    _ => None,
                };
                action(stream)?;
                let Some(_) = event else { return Ok(None) };
                let flags = if start.is_some() { EventFlags::DEFAULT } else { EventFlags::DISABLE_TIMING };
                let end = Event::new(flags)?;
                end.record(Some(stream))?;
                Ok(Some(Marks { start, end }))
            })
        };
        // Whoever is told locks its queue, which may be this one: the caller tells when it has unlocked it.
        match (self.device.cuda_context().and_then(made), event) {
            (Ok(Some(marks)), Some(event)) => (event.set_submitted(event, marks), Ok(())),
            (Ok(_), _) => (Vec::new(), Ok(())),
            (Err(error), Some(event)) => (event.set_done(event, error.code), Err(error)),
            (Err(error), None) => (Vec::new(), Err(error)),
        }
    }

    /// Submits the commands of the list that no longer wait for anything. Queues whose commands wait for these are added to
    /// `told`.
    fn submit_ready(this: &Ref<Self>, told: &mut Vec<Ref<Self>>) {
        loop {
            let mut state = this.lock();
            let candidates = if this.is_in_order() { state.pending.len().min(1) } else { state.pending.len() };
            let is_ready = |pending: &Pending| are_submitted_or_tell(&pending.waits.events, this);
            let Some(found) = (0..candidates).find(|index| is_ready(&state.pending[*index])) else {
                this.submitted.notify_all();
                return;
            };
            let Pending { waits, event, action } = state.pending.remove(found).expect("the index was found");
            // An error became the status of the event.
            let (more, _) = this.submit(&mut state, &waits, Some(&event), action);
            drop(state);
            told.extend(more);
        }
    }

    /// Waits for all commands.
    fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        while !state.pending.is_empty() {
            state = self.submitted.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let streams = state.streams.clone();
        drop(state);
        for stream in streams {
            stream.synchronize()?;
        }
        Ok(())
    }
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

fn current_time_base(base: &mut Option<Arc<TimeBase>>, stream: &Stream) -> Result<Arc<TimeBase>> {
    match base {
        Some(base) if crate::platform::device::nanoseconds() - base.recorded_at < TIME_BASE_LIFE => Ok(base.clone()),
        _ => {
            let new = TimeBase::new(stream, base.take())?;
            *base = Some(new.clone());
            Ok(new)
        }
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_command_queue::NULL, || {
            let (context, device) = (resolve::<ContextBody>(context)?, resolve::<DeviceBody>(device)?);
            let list = property_list(properties);
            let mut flags = 0;
            for pair in list.chunks_exact(2) {
                match pair[0] {
                    name if name == cl_queue_properties::from(CL_QUEUE_PROPERTIES) => flags = pair[1],
                    other => return ClError::value(format!("properties: {other:#x} is none of a queue")),
                }
            }
            QueueBody::create(context, device, flags, list)
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateCommandQueue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    errcode_ret: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_command_queue::NULL, || {
            QueueBody::create(resolve(context)?, resolve(device)?, properties, Vec::new())
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainCommandQueue(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<QueueBody>(command_queue) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseCommandQueue(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<QueueBody>(command_queue) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetCommandQueueInfo(
    command_queue: cl_command_queue,
    param_name: cl_command_queue_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (queue, answer) = unsafe {
            (resolve::<QueueBody>(command_queue)?, Answer::new(param_value_size, param_value, param_value_size_ret))
        };
        match param_name {
            CL_QUEUE_CONTEXT => answer.plain(queue.context.handle()),
            CL_QUEUE_DEVICE => answer.plain(queue.device.handle()),
            CL_QUEUE_REFERENCE_COUNT => answer.plain(queue.user_count()),
            CL_QUEUE_PROPERTIES => answer.plain(queue.properties),
            CL_QUEUE_PROPERTIES_ARRAY => answer.slice(&queue.property_list),
            CL_QUEUE_DEVICE_DEFAULT => answer.plain(cl_command_queue::NULL),
            CL_QUEUE_SIZE => refuse(CL_INVALID_COMMAND_QUEUE, "param_name: only queues on a device have a size"),
            _ => answer.unknown("command queue", param_name),
        }
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetCommandQueueProperty(
    command_queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old_properties: *mut cl_command_queue_properties,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<QueueBody>(command_queue) }?;
        refuse(CL_INVALID_OPERATION, "properties of a queue are given when it is made, since OpenCL 1.1")
    })
}

/// Commands are submitted when they can be; nothing is held back.
///
/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clFlush(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<QueueBody>(command_queue) }.map(drop))
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clFinish(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<QueueBody>(command_queue) }?.finish())
}

/// # Safety
/// As the specification of OpenCL says.
unsafe fn enqueue_nothing(
    command_queue: cl_command_queue,
    command: cl_command_type,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        QueueBody::enqueue(&queue, command, wanted, |_| Ok(()))
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_MARKER, num_events_in_wait_list, event_wait_list, event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, num_events_in_wait_list, event_wait_list, event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueMarker(command_queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    if event.is_null() {
        return code_of(|| ClError::value("event is null"));
    }
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_MARKER, 0, std::ptr::null(), event) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueBarrier(command_queue: cl_command_queue) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, 0, std::ptr::null(), std::ptr::null_mut()) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueWaitForEvents(
    command_queue: cl_command_queue,
    num_events: cl_uint,
    event_list: *const cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { enqueue_nothing(command_queue, CL_COMMAND_BARRIER, num_events, event_list, std::ptr::null_mut()) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: cl_context,
    device: cl_device_id,
    command_queue: cl_command_queue,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe {
            resolve::<ContextBody>(context)?;
            resolve::<DeviceBody>(device)?;
            resolve::<QueueBody>(command_queue)?;
        }
        refuse(CL_INVALID_OPERATION, "devices of this platform have no queues of their own")
    })
}
