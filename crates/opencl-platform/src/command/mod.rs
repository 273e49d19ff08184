//! Commands: the queues that they are in, the events that say how far they are, and what is called then.

pub(crate) mod callbacks;
pub(crate) mod event;
pub(crate) mod queue;
pub(crate) mod queue_functions;
pub(crate) mod work;
