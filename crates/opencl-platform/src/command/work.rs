//! The work of commands: put into a stream at once, or kept until it can be.

use crate::completion::in_flight::RetainedObjects;
use crate::error::Result;
use rtcg_driver::Stream;

/// The work of a command.
pub(crate) trait Command: Sized {
    /// Puts it into a stream.
    fn put(&mut self, stream: &Stream) -> Result<()>;
    /// What the device uses of it.
    fn into_kept(self) -> Option<RetainedObjects>;
    /// The same work, to be put into a stream later.
    fn into_pending(self) -> Work;
}

/// A command that a function puts into a stream. What the function has is kept until the command is done.
pub(crate) struct StreamCommand<F>(pub(crate) F);

impl<F: FnMut(&Stream) -> Result<()> + Send + 'static> Command for StreamCommand<F> {
    fn put(&mut self, stream: &Stream) -> Result<()> {
        (self.0)(stream)
    }

    fn into_kept(self) -> Option<RetainedObjects> {
        (size_of::<F>() != 0).then(|| RetainedObjects::Action(Box::new(self.0)))
    }

    fn into_pending(self) -> Work {
        Work::Device(Box::new(self.0))
    }
}

/// Puts the work of a command into a stream.
pub(crate) type Action = Box<dyn FnMut(&Stream) -> Result<()> + Send>;

/// The work of a command that waits.
pub(crate) enum Work {
    Device(Action),
    /// Runs in a watcher's thread when all before it is done, without a lock.
    Host(Box<dyn FnOnce() + Send>),
}
