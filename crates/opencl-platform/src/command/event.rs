//! Events: what became of a command, and user events, which commands wait for until the program completes them.
//!
//! A command is queued (it waits for commands that were not submitted yet), submitted (marks in a stream are its begin
//! and end) or done. Whoever submits or ends one tells the queues that wait for it, and the thread of callbacks.
//!
//! The last command of a queue in order has no mark until somebody needs one: the end of the stream is its end. It gets
//! one before the next command if its event is still there. Locks are taken in the order queue, event.

use crate::clock::TimeBase;
use crate::clock::nanoseconds;
use crate::command::callbacks::{self, EventCallback};
use crate::command::queue::{QueueBody, submit_ready_queues};
use crate::context::{ContextBody, UserData};
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::{Answer, info_function};
use crate::object::{Ref, body, release, resolve, retain};
use crate::platform::mark::Mark;
use rtcg_driver::lock_ignoring_poison;
use rtcg_opencl_sys::*;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

pub(crate) struct EventBody {
    pub(crate) context: Ref<ContextBody>,
    /// None for a user event.
    pub(crate) queue: Option<Ref<QueueBody>>,
    pub(crate) command: cl_command_type,
    state: Mutex<EventState>,
    changed: Condvar,
}

body!(EventBody: cl_event, b"even", CL_INVALID_EVENT, "event");

struct EventState {
    progress: Progress,
    queued_at: cl_ulong,
    submitted_at: cl_ulong,
    /// Queues with commands that wait for this one.
    waiting_queues: Vec<Ref<QueueBody>>,
    callbacks: Vec<EventCallback>,
    /// The thread of callbacks looks after the list.
    is_watched: bool,
    /// Others than the host's calls wait for the command: it gets its mark when it is submitted.
    needs_mark: bool,
    /// Threads that wait for the submission: to wake none costs a call of the system too.
    n_waiting: usize,
}

enum Progress {
    Queued,
    /// Without marks it is the last of its queue.
    Submitted(Option<Marks>),
    /// `CL_COMPLETE` or an error, and the marks where there were any.
    Done(cl_int, Option<Marks>),
}

/// Marks around a command.
#[derive(Clone)]
pub(crate) struct Marks {
    /// With profiling only: when it began, and what its time counts from.
    pub(crate) start: Option<(Mark, Arc<TimeBase>)>,
    pub(crate) end: Mark,
}

impl EventBody {
    /// The event of a command that is being enqueued.
    pub(crate) fn of_command(queue: &Ref<QueueBody>, command: cl_command_type) -> Ref<Self> {
        Self::new(queue.context.clone(), Some(queue.clone()), command)
    }

    fn new(context: Ref<ContextBody>, queue: Option<Ref<QueueBody>>, command: cl_command_type) -> Ref<Self> {
        let state = EventState {
            progress: Progress::Queued,
            queued_at: if is_profiled(queue.as_ref()) { nanoseconds() } else { 0 },
            submitted_at: 0,
            waiting_queues: Vec::new(),
            callbacks: Vec::new(),
            is_watched: false,
            needs_mark: false,
            n_waiting: 0,
        };
        Ref::new(Self { context, queue, command, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn is_profiled(&self) -> bool {
        is_profiled(self.queue.as_ref())
    }

    fn lock(&self) -> MutexGuard<'_, EventState> {
        lock_ignoring_poison(&self.state)
    }

    /// Whether commands that wait for this one can be submitted. If not, `queue` is woken when they can.
    pub(crate) fn is_submitted_or_tells(&self, queue: &Ref<QueueBody>) -> bool {
        let mut state = self.lock();
        let is_submitted = !matches!(state.progress, Progress::Queued);
        if !is_submitted && !state.waiting_queues.iter().any(|waiting| waiting.is(queue)) {
            state.waiting_queues.push(queue.clone());
        }
        is_submitted
    }

    /// Whether commands that wait for this one can be submitted.
    pub(crate) fn is_submitted(&self) -> bool {
        !matches!(self.lock().progress, Progress::Queued)
    }

    /// The mark that a stream must wait for before a command that waits for this one, if there is any.
    ///
    /// # Errors
    /// The code with which the command failed.
    pub(crate) fn mark_to_wait_for(&self) -> std::result::Result<Option<Mark>, cl_int> {
        match &self.lock().progress {
            Progress::Queued => Ok(None),
            Progress::Submitted(marks) => Ok(marks.as_ref().map(|marks| marks.end.clone())),
            Progress::Done(CL_COMPLETE, _) => Ok(None),
            Progress::Done(code, _) => Err(*code),
        }
    }

    /// The event has a mark, or gets one when its command is submitted. No lock of a queue is held.
    pub(crate) fn demand_mark(self: &EventBody, this: &Ref<EventBody>) {
        let mut state = self.lock();
        state.needs_mark = true;
        let has_none = matches!(state.progress, Progress::Submitted(None));
        drop(state);
        if let Some(queue) = self.queue.as_ref().filter(|_| has_none) {
            queue.mark_last(this);
        }
    }

    /// The command is the last of its queue, and in its stream, unless it needs a mark. The queues must be woken.
    pub(crate) fn set_submitted_without_mark(self: &EventBody, this: &Ref<EventBody>) -> Option<Vec<Ref<QueueBody>>> {
        let mut state = self.lock();
        if state.needs_mark {
            return None;
        }
        state.progress = Progress::Submitted(None);
        Some(self.finish(state, this))
    }

    /// Gives a submitted command without a mark the one that is made, and says whether it did.
    ///
    /// # Errors
    /// Those of making it, which also become the status.
    pub(crate) fn mark_with(
        self: &EventBody,
        this: &Ref<EventBody>,
        make: impl FnOnce() -> Result<Mark>,
    ) -> Result<Option<Mark>> {
        let mut state = self.lock();
        if !matches!(state.progress, Progress::Submitted(None)) {
            return Ok(None);
        }
        match make() {
            Ok(end) => {
                state.progress = Progress::Submitted(Some(Marks { start: None, end: end.clone() }));
                Ok(Some(end))
            }
            Err(error) => {
                // Nobody waits in this process: who does demands a mark before.
                self.end(state, this, error.code, None);
                Err(error)
            }
        }
    }

    /// The command is in a stream since `submitted_at`. The queues that are returned must be woken.
    pub(crate) fn set_submitted(
        self: &EventBody,
        this: &Ref<EventBody>,
        marks: Marks,
        submitted_at: cl_ulong,
    ) -> Vec<Ref<QueueBody>> {
        let mut state = self.lock();
        state.submitted_at = submitted_at;
        state.progress = Progress::Submitted(Some(marks));
        self.finish(state, this)
    }

    /// The command ended: it failed, it is the host's, or it is a user event. The queues that are returned must be woken.
    pub(crate) fn set_done(
        self: &EventBody,
        this: &Ref<EventBody>,
        code: cl_int,
        marks: Option<Marks>,
    ) -> Vec<Ref<QueueBody>> {
        self.end(self.lock(), this, code, marks)
    }

    fn end(
        &self,
        mut state: MutexGuard<'_, EventState>,
        this: &Ref<EventBody>,
        code: cl_int,
        marks: Option<Marks>,
    ) -> Vec<Ref<QueueBody>> {
        if state.submitted_at == 0 && self.is_profiled() {
            state.submitted_at = nanoseconds();
        }
        state.progress = Progress::Done(code, marks);
        self.finish(state, this)
    }

    /// Tells those who wait in this process of a new state.
    fn finish(&self, mut state: MutexGuard<'_, EventState>, this: &Ref<EventBody>) -> Vec<Ref<QueueBody>> {
        let must_watch = !state.callbacks.is_empty() && !state.is_watched;
        state.is_watched |= must_watch;
        let woken = std::mem::take(&mut state.waiting_queues);
        let has_waiting = state.n_waiting != 0;
        drop(state);
        if has_waiting {
            self.changed.notify_all();
        }
        if must_watch {
            callbacks::watch(this);
        }
        woken
    }

    /// The callbacks for what has become of the command, and whether there is nothing more to look for.
    pub(crate) fn take_due_callbacks(&self, status: cl_int) -> (Vec<EventCallback>, bool) {
        let mut state = self.lock();
        let all = std::mem::take(&mut state.callbacks);
        let (mut due, later): (Vec<_>, _) = all.into_iter().partition(|callback| callback.status >= status);
        due.sort_by_key(|callback| std::cmp::Reverse(callback.status));
        state.callbacks = later;
        // Of an event that waits for the program nothing is seen by looking.
        let goes_on = !state.callbacks.is_empty() && !matches!(state.progress, Progress::Queued);
        state.is_watched = !due.is_empty() || goes_on;
        (due, !state.is_watched)
    }

    /// Completes a user event or the last command of a queue, unless somebody has. The queues must be woken.
    fn complete(self: &EventBody, this: &Ref<EventBody>, code: cl_int) -> Option<Vec<Ref<QueueBody>>> {
        let state = self.lock();
        let is_open = !matches!(state.progress, Progress::Done(..));
        is_open.then(|| self.end(state, this, code, None))
    }

    /// Waits for the end of the command.
    ///
    /// # Errors
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` where it failed.
    pub(crate) fn wait(self: &EventBody, this: &Ref<EventBody>) -> Result<()> {
        let failed = |code| {
            refuse(
                CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                format!("a command that was waited for ended with {code}"),
            )
        };
        let mut state = self.lock();
        loop {
            match &state.progress {
                Progress::Done(CL_COMPLETE, _) => return Ok(()),
                Progress::Done(code, _) => return failed(*code),
                Progress::Submitted(marks) => {
                    let end = marks.as_ref().map(|marks| marks.end.clone());
                    drop(state);
                    // Only a command of a queue is submitted.
                    let Some(queue) = &self.queue else { return Ok(()) };
                    let Some(end) = end else {
                        match queue.wait_for_last(this) {
                            // Another command came after it, and so it was marked.
                            None => state = self.lock(),
                            Some(Err(error)) => return failed(error.code),
                            Some(Ok(())) => {
                                submit_ready_queues(self.complete(this, CL_COMPLETE).unwrap_or_default());
                                return Ok(());
                            }
                        }
                        continue;
                    };
                    let wait =
                        queue.device.cuda_context().and_then(|context| context.with_current(|| Ok(end.synchronize()?)));
                    if let Err(error) = wait {
                        return failed(error.code);
                    }
                    queue.in_flight.drop_first();
                    return Ok(());
                }
                Progress::Queued => {
                    state.n_waiting += 1;
                    state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                    state.n_waiting -= 1;
                }
            }
        }
    }

    /// What `CL_EVENT_COMMAND_EXECUTION_STATUS` says.
    pub(crate) fn status(self: &EventBody, this: &Ref<EventBody>) -> cl_int {
        self.demand_mark(this);
        let state = self.lock();
        let submitted = match &state.progress {
            // A user event begins as submitted.
            Progress::Queued if self.queue.is_none() => return CL_SUBMITTED,
            Progress::Queued => return CL_QUEUED,
            Progress::Done(code, _) => return *code,
            Progress::Submitted(None) => return CL_SUBMITTED,
            Progress::Submitted(Some(marks)) => marks.clone(),
        };
        drop(state);
        match submitted.end.query() {
            Ok(true) => CL_COMPLETE,
            Ok(false) => {
                let has_begun = submitted.start.is_some_and(|(start, _)| start.query().unwrap_or(false));
                if has_begun { CL_RUNNING } else { CL_SUBMITTED }
            }
            Err(error) => ClError::from(error).code,
        }
    }

    /// A time of the command in nanoseconds of the platform's clock.
    fn time(&self, which: cl_profiling_info) -> Result<cl_ulong> {
        let unavailable = |why: &str| refuse(CL_PROFILING_INFO_NOT_AVAILABLE, why);
        let state = self.lock();
        let marks = match &state.progress {
            Progress::Submitted(Some(marks)) | Progress::Done(_, Some(marks)) => marks.clone(),
            _ if self.queue.is_some() && !self.is_profiled() => {
                return unavailable("the queue was made without CL_QUEUE_PROFILING_ENABLE");
            }
            _ => return unavailable("the command has not ended, or it is a user event"),
        };
        let (queued, submitted) = (state.queued_at, state.submitted_at);
        drop(state);
        let Some((start, base)) = marks.start else {
            return unavailable("the queue was made without CL_QUEUE_PROFILING_ENABLE");
        };
        if !marks.end.query()? {
            return unavailable("the command has not ended");
        }
        let Some(queue) = &self.queue else { return unavailable("it is a user event") };
        let (began, milliseconds) = queue
            .device
            .cuda_context()?
            .with_current(|| Ok::<_, ClError>((base.time_of(&start)?, marks.end.time_since(&start)?)))?;
        let begun = began.max(submitted);
        let duration = (f64::from(milliseconds).max(0.0) * 1e6) as cl_ulong;
        Ok(match which {
            CL_PROFILING_COMMAND_QUEUED => queued,
            CL_PROFILING_COMMAND_SUBMIT => submitted,
            CL_PROFILING_COMMAND_START => begun,
            CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => begun + duration,
            _ => return ClError::value(format!("param_name: {which:#x} is no time of an event")),
        })
    }

    fn add_callback(self: &EventBody, this: &Ref<EventBody>, callback: EventCallback) {
        // The thread of callbacks must not wait for a queue.
        self.demand_mark(this);
        let mut state = self.lock();
        state.callbacks.push(callback);
        // A user event begins as submitted.
        let is_due = !matches!(state.progress, Progress::Queued) || self.queue.is_none();
        let must_watch = is_due && !state.is_watched;
        state.is_watched |= must_watch;
        drop(state);
        if must_watch {
            callbacks::watch(this);
        }
    }
}

fn is_profiled(queue: Option<&Ref<QueueBody>>) -> bool {
    queue.is_some_and(|queue| queue.has_profiling())
}

/// The events of a wait list.
///
/// # Safety
/// `list` is null or has `count` handles.
pub(crate) unsafe fn wait_list(
    context: &Ref<ContextBody>,
    count: cl_uint,
    list: *const cl_event,
) -> Result<Vec<Ref<EventBody>>> {
    if list.is_null() != (count == 0) {
        return refuse(
            CL_INVALID_EVENT_WAIT_LIST,
            format!("event_wait_list: {count} events, and the list says another"),
        );
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's promise.
    let handles = unsafe { std::slice::from_raw_parts(list, count as usize) };
    let resolved = handles.iter().map(|handle| {
        // SAFETY: the caller's promise.
        let event = unsafe { resolve::<EventBody>(*handle) }
            .map_err(|error| ClError::new(CL_INVALID_EVENT_WAIT_LIST, error.detail))?;
        if !event.context.is(context) {
            return refuse(CL_INVALID_CONTEXT, "event_wait_list: an event is of another context");
        }
        Ok(event)
    });
    resolved.collect()
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clWaitForEvents(num_events: cl_uint, event_list: *const cl_event) -> cl_int {
    code_of(|| {
        if num_events == 0 || event_list.is_null() {
            return ClError::value("num_events: there is no event in the list");
        }
        // SAFETY: the caller's promise.
        let handles = unsafe { std::slice::from_raw_parts(event_list, num_events as usize) };
        // SAFETY: the caller's promise.
        let events: Vec<_> =
            handles.iter().map(|handle| unsafe { resolve::<EventBody>(*handle) }).collect::<Result<_>>()?;
        if events.iter().any(|event| !event.context.is(&events[0].context)) {
            return refuse(CL_INVALID_CONTEXT, "event_list: the events are of several contexts");
        }
        let mut outcome = Ok(());
        for event in events {
            outcome = outcome.and(event.wait(&event));
        }
        outcome
    })
}

info_function!(clGetEventInfo(cl_event, cl_event_info) of EventBody = event_info);

fn event_info(event: &Ref<EventBody>, param_name: cl_event_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_EVENT_COMMAND_QUEUE => {
            answer.plain(event.queue.as_ref().map_or(cl_command_queue::NULL, |queue| queue.handle()))
        }
        CL_EVENT_CONTEXT => answer.plain(event.context.handle()),
        CL_EVENT_COMMAND_TYPE => answer.plain(event.command),
        CL_EVENT_COMMAND_EXECUTION_STATUS => answer.plain(event.status(event)),
        CL_EVENT_REFERENCE_COUNT => answer.plain(event.user_count()),
        _ => answer.unknown("event", param_name),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainEvent(event: cl_event) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<EventBody>(event) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseEvent(event: cl_event) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<EventBody>(event) })
}

info_function!(clGetEventProfilingInfo(cl_event, cl_profiling_info) of EventBody = event_profiling_info);

fn event_profiling_info(event: &Ref<EventBody>, param_name: cl_profiling_info, answer: Answer) -> Result<()> {
    answer.plain(event.time(param_name)?)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateUserEvent(context: cl_context, errcode_ret: *mut cl_int) -> cl_event {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_event::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            Ok(EventBody::new(context, None, CL_COMMAND_USER).into_user_handle())
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetUserEventStatus(event: cl_event, execution_status: cl_int) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let event = unsafe { resolve::<EventBody>(event) }?;
        if event.queue.is_some() {
            return refuse(CL_INVALID_EVENT, "event: it is a command's; only user events are completed by the program");
        }
        if execution_status > CL_COMPLETE {
            return ClError::value(format!(
                "execution_status: {execution_status}, expected CL_COMPLETE or an error below 0"
            ));
        }
        let Some(woken) = event.complete(&event, execution_status) else {
            return refuse(CL_INVALID_OPERATION, "event: it was completed before");
        };
        submit_ready_queues(woken);
        Ok(())
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetEventCallback(
    event: cl_event,
    command_exec_callback_type: cl_int,
    pfn_notify: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let event = unsafe { resolve::<EventBody>(event) }?;
        let Some(function) = pfn_notify else { return ClError::value("pfn_notify is null") };
        if ![CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&command_exec_callback_type) {
            return ClError::value(format!("command_exec_callback_type: {command_exec_callback_type}"));
        }
        let callback = EventCallback { status: command_exec_callback_type, function, user_data: UserData(user_data) };
        event.add_callback(&event, callback);
        Ok(())
    })
}
