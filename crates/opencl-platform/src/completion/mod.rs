//! What follows when the device has come so far: what commands used is given back, and threads of ours go on.

pub(crate) mod in_flight;
pub(crate) mod watcher;
