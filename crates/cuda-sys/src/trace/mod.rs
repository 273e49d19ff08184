//! Traces the driver API: every call through a [`DriverTable`](crate::DriverTable) with its arguments, result and times
//! on its thread, and the execution time of each kernel, as a file in the trace-event format that Perfetto and Chrome's
//! trace viewer open.
//!
//! `RTCG_TRACE=file.json` traces a process from its first driver call to its end; [`start`] and [`stop`] trace a part
//! of it. While tracing is off, a call costs one additional relaxed load. While it is on, arguments are formatted after
//! the call has returned, outside of its time.
//!
//! Kernels of the virtual GPU report themselves ([`emit_device_span`]); those of a real GPU are placed between two
//! events (`driver_table/timed_launch.rs`), so there a span also contains what the GPU did between them.

pub mod nvtx;
mod writer;

use crate::epoch;
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::Instant;

pub(crate) use writer::JsonObject;
use writer::TraceWriter;

static IS_TRACING: AtomicBool = AtomicBool::new(false);
static TRACE_WRITER: Mutex<Option<TraceWriter>> = Mutex::new(None);
static TRACE_SESSION_NUMBER: AtomicU64 = AtomicU64::new(0);
static VIRTUAL_GPU_TIMED_BY_EVENTS: AtomicBool = AtomicBool::new(false);
static BEFORE_STOP: OnceLock<fn()> = OnceLock::new();
static NEXT_LAUNCH_NUMBER: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The session in which this thread's name was written down.
    static THREAD_NAMED_IN_SESSION: Cell<u64> = const { Cell::new(0) };
    /// The launch that this thread is about to make.
    static CURRENT_LAUNCH_NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// A finished trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceSummary {
    /// The file.
    pub path: PathBuf,
    /// Number of events in it.
    pub n_events: u64,
}

/// Whether a trace is running.
#[inline(always)]
pub fn is_tracing() -> bool {
    IS_TRACING.load(Ordering::Relaxed)
}

fn locked_writer() -> std::sync::MutexGuard<'static, Option<TraceWriter>> {
    TRACE_WRITER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets whether kernels of virtual devices are timed by events too, instead of reporting themselves: for tests of this
/// module.
pub fn set_virtual_gpu_timed_by_events(on: bool) {
    VIRTUAL_GPU_TIMED_BY_EVENTS.store(on, Ordering::Relaxed);
}

/// Whether kernels of the virtual GPU report their own times.
pub fn virtual_gpu_reports_kernel_times() -> bool {
    !VIRTUAL_GPU_TIMED_BY_EVENTS.load(Ordering::Relaxed)
}

/// What is called while a trace ends, to write down what is not known yet.
pub(crate) fn call_before_stop(write: fn()) {
    let _ = BEFORE_STOP.set(write);
}

/// Nanoseconds since the first call in this process; the clock of all spans.
pub fn clock_ns() -> u64 {
    static CLOCK_START: OnceLock<Instant> = OnceLock::new();
    CLOCK_START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Starts a trace. `%p` in the file name becomes the process id. Finishes a running trace first.
pub fn start(path: &Path) -> io::Result<()> {
    clock_ns();
    stop()?;
    let name = path.to_string_lossy().replace("%p", &std::process::id().to_string());
    let mut writer = TraceWriter::create_file(Path::new(&name))?;
    writer.name_process(std::process::id().into(), "host");
    *locked_writer() = Some(writer);
    TRACE_SESSION_NUMBER.fetch_add(1, Ordering::Relaxed);
    register_atexit();
    IS_TRACING.store(true, Ordering::Relaxed);
    epoch::advance_epoch();
    Ok(())
}

/// Ends the trace and completes its file; `None` if no trace is running. Waits for kernels of a real GPU whose times
/// are not known yet.
pub fn stop() -> io::Result<Option<TraceSummary>> {
    if let Some(write) = BEFORE_STOP.get().filter(|_| is_tracing() && !is_in_forked_child()) {
        write();
    }
    IS_TRACING.store(false, Ordering::Relaxed);
    epoch::advance_epoch();
    let Some(writer) = locked_writer().take() else { return Ok(None) };
    if writer.process != std::process::id() {
        writer.discard_buffer();
        return Ok(None);
    }
    writer.finish_file().map(Some)
}

/// What `RTCG_TRACE` asks for, once a process; called when a table is made.
pub(crate) fn start_if_env_set() {
    static START_ONCE: Once = Once::new();
    START_ONCE.call_once(|| {
        let Some(path) = std::env::var_os("RTCG_TRACE").filter(|v| !v.is_empty()) else { return };
        if let Err(error) = start(Path::new(&path)) {
            eprintln!("rtcg: RTCG_TRACE={}: {error}", path.to_string_lossy());
        }
    });
}

/// A trace that is not stopped ends with the process.
fn register_atexit() {
    extern "C" fn stop_at_exit() {
        if let Err(error) = stop() {
            eprintln!("rtcg: the trace could not be completed: {error}");
        }
    }
    static REGISTER_ONCE: Once = Once::new();
    // SAFETY: registers a function that lives as long as the process and does not unwind: its
    // locks ignore poison and its errors are values.
    REGISTER_ONCE.call_once(|| unsafe {
        libc::atexit(stop_at_exit);
    });
}

/// A forked child must not write into its parent's file.
fn is_in_forked_child() -> bool {
    locked_writer().as_ref().is_some_and(|writer| writer.process != std::process::id())
}

/// Writes an event of the calling thread. `fill` adds what the kind of event asks for.
pub(crate) fn emit_thread_event(fill: impl FnOnce(&mut JsonObject)) {
    let (process, thread) = (u64::from(std::process::id()), thread_number());
    let mut object = JsonObject::new();
    object.push_number("pid", process).push_number("tid", thread);
    fill(&mut object);
    let text = object.close_object();
    with_writer(|writer| {
        name_thread(writer, process, thread);
        writer.append_event(&text);
    });
}

fn with_writer(write: impl FnOnce(&mut TraceWriter)) {
    let mut trace = locked_writer();
    let Some(writer) = trace.as_mut() else { return };
    if writer.process != std::process::id() {
        IS_TRACING.store(false, Ordering::Relaxed);
        return;
    }
    write(writer);
    if let Some(error) = writer.error.take() {
        IS_TRACING.store(false, Ordering::Relaxed);
        eprintln!("rtcg: the trace ends here, {} cannot be written: {error}", writer.path.display());
        if let Some(writer) = trace.take() {
            writer.discard_buffer();
        }
    }
}

fn name_thread(writer: &mut TraceWriter, process: u64, thread: u64) {
    let session = TRACE_SESSION_NUMBER.load(Ordering::Relaxed);
    if THREAD_NAMED_IN_SESSION.with(|named| named.replace(session)) != session {
        let name = std::thread::current().name().map_or_else(|| format!("thread {thread}"), str::to_owned);
        writer.name_thread(process, thread, &name);
    }
}

fn thread_number() -> u64 {
    #[cfg(target_os = "linux")]
    // SAFETY: asks the kernel for a number.
    return unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    #[cfg(not(target_os = "linux"))]
    {
        static NEXT_THREAD_NUMBER: AtomicU64 = AtomicU64::new(1);
        thread_local!(static NUMBER: u64 = NEXT_THREAD_NUMBER.fetch_add(1, Ordering::Relaxed));
        NUMBER.with(|n| *n)
    }
}

/// Writes a span of the calling thread from `start_ns` until now.
pub fn emit_span(category: &str, name: &str, start_ns: u64) {
    if !is_tracing() {
        return;
    }
    let end = clock_ns();
    emit_thread_event(|event| {
        event.push_text("ph", "X").push_text("cat", category).push_text("name", name);
        event.push_microseconds("ts", start_ns).push_microseconds("dur", end.saturating_sub(start_ns));
    });
}

/// A launch is about to be made: its number, for the arrow to its kernel.
pub(crate) fn next_launch_number() -> u64 {
    let number = NEXT_LAUNCH_NUMBER.fetch_add(1, Ordering::Relaxed);
    CURRENT_LAUNCH_NUMBER.with(|launch| launch.set(number));
    number
}

/// Writes the beginning of the arrow from a call, which began at `at_ns`, to the kernel that it launched.
pub(crate) fn emit_launch_arrow(at_ns: u64, launch: u64) {
    let text = flow_event("s", std::process::id().into(), thread_number(), at_ns, launch);
    with_writer(|writer| writer.append_event(&text));
}

/// The number of the launch that the calling thread is making; 0 if none is traced.
pub fn current_launch_number() -> u64 {
    if is_tracing() { CURRENT_LAUNCH_NUMBER.with(Cell::get) } else { 0 }
}

/// The place on a device where something ran.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DeviceTrack<'a> {
    /// The device or context, in words.
    pub device: &'a str,
    /// A unique number for each device and context.
    pub device_number: u64,
    /// The stream; 0 for the default stream.
    pub stream: u64,
}

/// Numbers of processes in the trace that stand for devices.
const FIRST_DEVICE_PID: u64 = 1 << 32;

/// Records that a kernel ran from `start_ns` to `end_ns`. `launch` is the value of [`current_launch_number`] at its
/// launch, or 0.
pub fn emit_device_span(
    track: DeviceTrack<'_>,
    name: &str,
    start_ns: u64,
    end_ns: u64,
    grid: [u32; 3],
    block: [u32; 3],
    launch: u64,
) {
    let (process, thread) = (FIRST_DEVICE_PID + track.device_number, track.stream);
    let mut event = JsonObject::new();
    event
        .push_number("pid", process)
        .push_number("tid", thread)
        .push_text("ph", "X")
        .push_text("cat", "kernel")
        .push_text("name", name);
    event.push_microseconds("ts", start_ns).push_microseconds("dur", end_ns.saturating_sub(start_ns));
    let mut args = JsonObject::new();
    args.push_text("grid", &format!("{grid:?}")).push_text("block", &format!("{block:?}"));
    event.push_object("args", args);
    let event = event.close_object();
    with_writer(|writer| {
        if writer.is_new_track(process, thread) {
            writer.name_process(process, track.device);
            writer.name_thread(process, thread, &stream_display_name(thread));
        }
        writer.append_event(&event);
        if launch != 0 {
            writer.append_event(&flow_event("f", process, thread, start_ns, launch));
        }
    });
}

fn stream_display_name(stream: u64) -> String {
    if stream == 0 { "default stream".to_owned() } else { format!("stream {stream:#x}") }
}

/// One end of the arrow from a launch to its kernel.
fn flow_event(phase: &str, process: u64, thread: u64, at_ns: u64, launch: u64) -> String {
    let mut event = JsonObject::new();
    event
        .push_number("pid", process)
        .push_number("tid", thread)
        .push_text("ph", phase)
        .push_text("cat", "launch")
        .push_text("name", "launch");
    event.push_number("id", launch).push_microseconds("ts", at_ns);
    if phase == "f" {
        event.push_text("bp", "e");
    }
    event.close_object()
}
