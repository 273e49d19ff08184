//! What submitted commands use: memory objects, functions, staging memory. It is kept until the device is done with it,
//! whatever the program releases meanwhile, and dropped outside of all locks: a destructor may call the program.
//!
//! Commands without an event have no mark of their own. They share one, which is recorded when there are many, or when
//! the program releases something that they may use.

use crate::completion::watcher::HOST_COMMANDS;
use crate::object::Ref;
use crate::platform::device::DeviceBody;
use crate::platform::mark::Mark;
use rtcg_driver::{Stream, lock_ignoring_poison};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// What one command uses.
pub(crate) enum RetainedObjects {
    Action(#[expect(dead_code, reason = "held until it is dropped")] Box<dyn Send>),
    /// What several commands use alike.
    Shared(Arc<dyn Send + Sync>),
}

/// What the commands of a queue use.
pub(crate) struct InFlight {
    device: Ref<DeviceBody>,
    /// The stream of a queue in order, whose marks are reached one after the other. None: each command has its mark.
    stream: Option<Stream>,
    lists: Mutex<Lists>,
}

struct Lists {
    /// Of commands since the last mark.
    open: Vec<RetainedObjects>,
    closed: VecDeque<Group>,
    /// Marks that there may be before all are looked at.
    sweep_at: usize,
    is_watched: bool,
}

/// Commands with their mark: one with an event, and those before it that have none.
pub(crate) struct Group {
    mark: Mark,
    _last: Option<RetainedObjects>,
    _others: Vec<RetainedObjects>,
}

impl Group {
    fn is_done(&self) -> bool {
        // A device that failed uses nothing any more.
        self.mark.query().unwrap_or(true)
    }
}

/// Commands that share a mark at most, and marks that wait at least.
const MANY: usize = 64;

impl InFlight {
    pub(crate) fn new(device: Ref<DeviceBody>, stream: Option<Stream>) -> Arc<Self> {
        let lists = Lists { open: Vec::new(), closed: VecDeque::new(), sweep_at: MANY, is_watched: false };
        Arc::new(Self { device, stream, lists: Mutex::new(lists) })
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        lock_ignoring_poison(&self.lists)
    }

    /// Keeps what a command without an event uses, in a queue in order. The caller drops what is returned, without a lock.
    #[must_use]
    pub(crate) fn keep(&self, kept: RetainedObjects) -> Vec<Group> {
        let mut lists = self.lock();
        if let (RetainedObjects::Shared(new), Some(RetainedObjects::Shared(last))) = (&kept, lists.open.last())
            && std::ptr::addr_eq(Arc::as_ptr(new), Arc::as_ptr(last))
        {
            // The last mark that is recorded covers both; the reference that goes is not the last.
            return Vec::new();
        }
        lists.open.push(kept);
        if lists.open.len() < MANY {
            return Vec::new();
        }
        self.close(&mut lists);
        self.sweep_if_many(&mut lists)
    }

    /// Keeps what a command uses until its mark is reached. The caller drops what is returned, without a lock.
    #[must_use]
    pub(crate) fn keep_until(&self, mark: &Mark, kept: Option<RetainedObjects>) -> Vec<Group> {
        let mut lists = self.lock();
        let others = std::mem::take(&mut lists.open);
        if others.is_empty() && kept.is_none() {
            return Vec::new();
        }
        lists.closed.push_back(Group { mark: mark.clone(), _last: kept, _others: others });
        self.sweep_if_many(&mut lists)
    }

    /// Marks the present end of the stream for all commands without a mark. Where that fails they stay without one.
    fn close(&self, lists: &mut Lists) {
        let Some(stream) = self.stream.as_ref().filter(|_| !lists.open.is_empty()) else { return };
        let mark = self
            .device
            .cuda_context()
            .and_then(|context| context.with_current(|| self.device.marks.record(context, stream, false)));
        if let Ok(mark) = mark {
            let others = std::mem::take(&mut lists.open);
            lists.closed.push_back(Group { mark, _last: None, _others: others });
        }
    }

    /// Takes out what is done; the caller drops it without the lock.
    fn sweep(&self, lists: &mut Lists) -> Vec<Group> {
        let mut done = Vec::new();
        while let Some(group) = lists.closed.pop_front_if(|group| group.is_done()) {
            done.push(group);
        }
        if self.stream.is_none() {
            let (reached, waiting): (Vec<_>, Vec<_>) = lists.closed.drain(..).partition(Group::is_done);
            done.extend(reached);
            lists.closed = waiting.into();
        }
        done
    }

    fn sweep_if_many(&self, lists: &mut Lists) -> Vec<Group> {
        if lists.closed.len() < lists.sweep_at {
            return Vec::new();
        }
        let done = self.sweep(lists);
        lists.sweep_at = MANY.max(2 * lists.closed.len());
        done
    }

    /// Drops what was done first, as far as that is known quickly.
    pub(crate) fn drop_first(&self) {
        let mut done = Vec::new();
        let mut lists = self.lock();
        while let Some(group) = lists.closed.pop_front_if(|group| group.is_done()) {
            done.push(group);
        }
        drop(lists);
        drop(done);
    }

    /// Waits for all that was submitted, and drops what it used.
    pub(crate) fn drain(&self) {
        let (open, closed) = self.take();
        // A device that failed uses nothing any more.
        let _ = self.device.cuda_context().and_then(|context| {
            context.with_current(|| {
                if let Some(stream) = self.stream.as_ref().filter(|_| !open.is_empty()) {
                    let _ = stream.synchronize();
                }
                closed.iter().for_each(|group| drop(group.mark.synchronize()));
                Ok(())
            })
        });
    }

    /// All that is kept now. The caller drops it when the device has done all that was submitted before.
    pub(crate) fn take(&self) -> (Vec<RetainedObjects>, VecDeque<Group>) {
        let mut lists = self.lock();
        (std::mem::take(&mut lists.open), std::mem::take(&mut lists.closed))
    }

    /// The program released something: drops what is done now, and the rest when it is.
    pub(crate) fn reclaim(self: &Arc<Self>) {
        let mut lists = self.lock();
        let is_idle = self.stream.as_ref().is_some_and(|stream| stream.is_done().unwrap_or(true));
        let open = if is_idle { std::mem::take(&mut lists.open) } else { Vec::new() };
        self.close(&mut lists);
        let done = self.sweep(&mut lists);
        let must_watch = !lists.closed.is_empty() && !lists.is_watched;
        lists.is_watched |= must_watch;
        drop(lists);
        drop((open, done));
        if must_watch {
            let this = self.clone();
            HOST_COMMANDS.watch(move || this.is_reclaimed());
        }
    }

    /// Drops what is done; whether nothing is left.
    fn is_reclaimed(&self) -> bool {
        let mut lists = self.lock();
        let done = self.sweep(&mut lists);
        let is_empty = lists.closed.is_empty();
        lists.is_watched = !is_empty;
        drop(lists);
        drop(done);
        is_empty
    }
}
