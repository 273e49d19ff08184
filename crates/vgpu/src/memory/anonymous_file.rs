//! Files in memory that have no name, which other processes map through a descriptor.

use std::ffi::{CStr, c_uint};
use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// An empty file, which child processes do not inherit; `name` is what `/proc` shows. `None` where the system refuses.
pub(crate) fn create_memfd(name: &CStr, flags: c_uint) -> Option<File> {
    // By its number, since glibc has a function for this call only from 2.27 on.
    // SAFETY: the name is a C string, and the call makes a descriptor or fails.
    let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags | libc::MFD_CLOEXEC) };
    let fd = RawFd::try_from(fd).ok().filter(|&fd| fd >= 0)?;
    // SAFETY: the descriptor was just made.
    Some(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}
