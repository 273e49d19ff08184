//! Marks of commands: which commands have one, and when the last command of a stream gets one.
//!
//! In order, a command without profiling is put into the stream without a mark, for its end is the stream's. It gets one
//! when something is put behind it, or when somebody waits for it.

use super::{QueueBody, QueueState};
use crate::clock::TimeBase;
use crate::command::event::EventBody;
use crate::completion::in_flight::Group;
use crate::error::Result;
use crate::object::{Ref, WeakRef};
use crate::platform::mark::Mark;
use rtcg_driver::{Context, Stream};
use std::sync::Arc;

impl QueueBody {
    /// With profiling: the mark of a command's begin, in the current context.
    pub(super) fn start_mark(
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
    pub(super) fn demand_marks(&self, waits: &[Ref<EventBody>]) {
        waits.iter().filter(|event| !self.keeps_order_with(event)).for_each(|event| event.demand_mark(event));
    }

    /// Whether commands of this queue come after the event's command without being told.
    pub(super) fn keeps_order_with(&self, event: &EventBody) -> bool {
        self.is_in_order() && event.queue.as_ref().is_some_and(|queue| std::ptr::eq(&raw const **queue, self))
    }

    /// Gives the last command of the stream its mark, if there is an event of it: something is put behind it. The caller
    /// drops what is returned, without the lock.
    #[must_use]
    pub(super) fn mark_unmarked(&self, state: &mut QueueState, context: &Context) -> Vec<Group> {
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
}

fn is_unmarked(state: &QueueState, event: &Ref<EventBody>) -> bool {
    state.unmarked.as_ref().is_some_and(|last| last.is(&WeakRef::new(event)))
}
