//! The end of a worker whose parent has ended.

use pyo3::prelude::*;
use std::time::Duration;

/// How long a worker that notices the end itself may take.
const GRACE: Duration = Duration::from_secs(1);

/// End this process, whatever it is doing, when the peer of the socket `descriptor` closes its end or exits.
#[pyfunction]
pub(super) fn exit_with_peer(descriptor: i32) -> PyResult<()> {
    let thread = std::thread::Builder::new().name("rtcg-peer".to_owned());
    thread.spawn(move || end_process_after_hang_up(descriptor))?;
    Ok(())
}

#[cfg(unix)]
fn end_process_after_hang_up(descriptor: i32) {
    // No event is asked for: the end of the peer is reported all the same.
    let mut socket = libc::pollfd { fd: descriptor, events: 0, revents: 0 };
    // SAFETY: one structure, which lives as long as the call.
    while unsafe { libc::poll(&raw mut socket, 1, -1) } <= 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return;
        }
    }
    std::thread::sleep(GRACE);
    // SAFETY: ends the process without running anything of it, of which another thread may be in the middle.
    unsafe { libc::_exit(1) }
}

#[cfg(not(unix))]
fn end_process_after_hang_up(_descriptor: i32) {}
