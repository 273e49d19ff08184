//! The process in which a vendor's library is probed.
//!
//! A library's initialisers may crash, hang, exit, or start threads, so they run first where they can do no harm. A
//! plain `fork` would not do: in the child of a process with threads, the linker, the allocator and every library that
//! is loaded already (the vendor's among them, with threads that are gone) are in whatever state they had, and only
//! async-signal-safe calls are allowed; a probe that fails for such a reason would condemn a good library. To start the
//! running program again would run its `main`, which may be anybody's: Python, a program in C that is linked with
//! `libOpenCL.so.1`. So the crate holds a program of 6 KiB (`probe_program/main.rs`) as bytes, and starts it from a file in
//! memory. `posix_spawn` (which `Command` uses) is sound with threads, and the new process has nothing of this one but
//! its environment.

use super::search::INSIDE_PROBE;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The program, or nothing where there was no linker for it.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe"));

/// Runs the program for a library; its lines, and a last one with how it ended if it did not come to its end.
pub(super) fn run(library: &Path, limit: Duration) -> Result<String, String> {
    if PROGRAM.is_empty() {
        return Err("the crate rtcg-opencl-sys was built without a linker for its probe".to_owned());
    }
    let program = file_in_memory(PROGRAM).map_err(|error| format!("a file in memory: {error}"))?;
    let path = format!("/proc/self/fd/{}", program.as_raw_fd());
    let deadline = Instant::now() + limit;
    let mut child = Command::new(path)
        .arg(library)
        .env(INSIDE_PROBE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // So that processes which the library starts end with it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("starting a program from a file in memory: {error}"))?;
    let output = child.stdout.take().ok_or("the output is no pipe")?;
    let mut text = lines_until(output, deadline);
    if !is_complete(&text) {
        text.push_str(&ending(&mut child, deadline, limit));
    }
    if !matches!(child.try_wait(), Ok(Some(_))) {
        let group = -child.id().cast_signed();
        // SAFETY: a signal to the group of a child that was not waited for, so that its number is no other's.
        unsafe { libc::kill(group, libc::SIGKILL) };
    }
    // A program that ignores its children has none to wait for.
    let _ = child.wait();
    Ok(text)
}

fn is_complete(text: &str) -> bool {
    text.ends_with('\n') && (text.starts_with("refused ") || text.ends_with("done\n"))
}

fn file_in_memory(contents: &[u8]) -> std::io::Result<File> {
    let name = c"rtcg-opencl-probe".as_ptr();
    // SAFETY: the name is a text of C. Kernels before 6.3 do not know the flag that asks for a file that can be run,
    // and need none.
    let fd = match unsafe { libc::memfd_create(name, libc::MFD_CLOEXEC | libc::MFD_EXEC) } {
        // SAFETY: the name is a text of C.
        -1 => unsafe { libc::memfd_create(name, libc::MFD_CLOEXEC) },
        fd => fd,
    };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else's.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(contents)?;
    Ok(file)
}

/// What is written until the last line, the end, or the deadline.
fn lines_until(mut output: ChildStdout, deadline: Instant) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd { fd: output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis().min(1 << 30) as libc::c_int) };
        let count = if ready > 0 { output.read(&mut part).unwrap_or(0) } else { 0 };
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let was_interrupted = ready < 0 && !left.is_zero();
        if (count == 0 && !was_interrupted) || is_complete(&text) {
            return text.into_owned();
        }
    }
}

/// A line with how the program ended, for which it has time until the deadline.
fn ending(child: &mut Child, deadline: Instant, limit: Duration) -> String {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                return match (status.signal(), status.code()) {
                    (Some(signal), _) => format!("ended signal {signal}\n"),
                    (_, Some(code)) => format!("ended exit status {code}\n"),
                    _ => "ended\n".to_owned(),
                };
            }
            // Somebody else waited for it.
            Err(_) => return "ended exit status unknown\n".to_owned(),
            Ok(None) if Instant::now() >= deadline => return format!("hung {}\n", limit.as_millis()),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
