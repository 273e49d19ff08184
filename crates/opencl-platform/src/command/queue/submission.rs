//! How commands of a queue get into streams: at once, or from the list when what they wait for is submitted.

use super::{Pending, QueueBody, QueueState, Waits};
use crate::clock::nanoseconds;
use crate::command::event::{EventBody, Marks};
use crate::command::work::{Command, StreamCommand, Work};
use crate::completion::in_flight::{Group, RetainedObjects};
use crate::completion::watcher::HOST_COMMANDS;
use crate::error::{ClError, Result, refuse};
use crate::object::{Ref, WeakRef};
use rtcg_driver::{Context, Stream};
use rtcg_opencl_sys::*;

impl QueueBody {
    /// Puts a command into a stream. Returns what is to be done without the lock of the queue.
    pub(super) fn submit(
        &self,
        state: &mut QueueState,
        waits: &Waits,
        event: Option<&Ref<EventBody>>,
        mut command: impl Command,
    ) -> (PostSubmit, Result<()>) {
        let index = state.next_stream;
        state.next_stream = (index + 1) % state.streams.len();
        let submitted_at = if event.is_some() && self.has_profiling() { nanoseconds() } else { 0 };
        let mut after = PostSubmit::default();
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
                    && let Some(woken) = event.set_submitted_without_mark(event)
                {
                    after.woken = woken;
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
                after.woken = event.set_submitted(event, marks, submitted_at);
                Ok(())
            }
            (Err(error), Some(event)) => {
                after.woken = event.set_done(event, error.code, None);
                Err(error)
            }
            (made, _) => made.map(drop),
        };
        (after, outcome)
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

    /// Has a watcher run a command of the host when the stream has come so far. Returns the queues that must be woken.
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
            let woken = event.set_done(&event, code, Some(marks.clone()));
            this.lock().n_host_commands -= 1;
            this.submitted.notify_all();
            submit_ready_queues(woken);
            true
        });
        Vec::new()
    }

    /// Submits the commands of the list that no longer wait for anything. Queues whose commands wait for these are added to
    /// `woken`.
    fn submit_ready(this: &Ref<Self>, woken: &mut Vec<Ref<Self>>) {
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
                Work::Device(action) => this.submit(&mut state, &waits, Some(&event), StreamCommand(action)).0,
                Work::Host(run) => {
                    let more = this.submit_host(this, &mut state, &waits, &event, run);
                    PostSubmit { woken: more, ..PostSubmit::default() }
                }
            };
            drop(state);
            woken.append(&mut after.woken);
        }
    }
}

/// What follows the submission of a command, without the lock of its queue: whoever is woken locks its queue, which may be
/// this one, and what is dropped may call the program.
#[derive(Default)]
pub(super) struct PostSubmit {
    woken: Vec<Ref<QueueBody>>,
    _before: Vec<Group>,
    _done: Vec<Group>,
    _unused: Option<RetainedObjects>,
}

impl PostSubmit {
    pub(super) fn finish(self) {
        submit_ready_queues(self.woken);
    }
}

/// Whether all are submitted. Each that is not tells this queue when it is.
pub(super) fn are_submitted_or_tell(waits: &[Ref<EventBody>], queue: &Ref<QueueBody>) -> bool {
    waits.iter().filter(|event| !event.is_submitted_or_tells(queue)).count() == 0
}

/// Has queues submit what no longer waits, and those that are woken by that.
pub(crate) fn submit_ready_queues(mut queues: Vec<Ref<QueueBody>>) {
    while let Some(queue) = queues.pop() {
        QueueBody::submit_ready(&queue, &mut queues);
    }
}
