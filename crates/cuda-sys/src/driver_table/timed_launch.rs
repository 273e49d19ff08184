//! Times kernels on a real GPU: each launch is put between two events, whose times are queried when the program has
//! waited for something, and at the latest when their context is destroyed.
//!
//! The times are relative to an event that each context records first, whose position on the host clock is known to the
//! accuracy of one query. The driver reports them as 32-bit floats in milliseconds, so a later event replaces the first
//! one every few seconds. Launches that are captured into a graph are not timed.

use super::traced_call::TracedArguments;
use super::{DriverFn, DriverKind, DriverTable};
use crate::trace::{DeviceTrack, clock_ns, emit_device_span, virtual_gpu_reports_kernel_times};
use crate::types::*;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Beyond this many launches whose times are not known, the oldest is waited for.
const MAX_PENDING_LAUNCHES: usize = 4096;

static KERNEL_TRACE: Mutex<Option<KernelTraceState>> = Mutex::new(None);

#[derive(Default)]
struct KernelTraceState {
    bases: HashMap<usize, ReferenceEvent>,
    pending: Vec<PendingLaunch>,
    names: HashMap<usize, String>,
}

/// An event of a context whose time is known.
#[derive(Clone, Copy)]
struct ReferenceEvent {
    event: CUevent,
    at_ns: i64,
    number: u64,
}

/// Up to this distance in milliseconds a 32-bit float tells half a microsecond.
const MAX_REFERENCE_EVENT_AGE_MS: f32 = 4096.0;

struct PendingLaunch {
    table: &'static DriverTable,
    ctx: CUcontext,
    stream: CUstream,
    begin: CUevent,
    end: CUevent,
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
    launch: u64,
}

fn kernel_trace_state() -> MutexGuard<'static, Option<KernelTraceState>> {
    KERNEL_TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the driver directly, without tracing the call.
macro_rules! call_untraced {
    ($table:expr, $name:ident($($arg:expr),*)) => {
        match $table.function_pointer(DriverFn::$name) {
            Some(pointer) => {
                // SAFETY: the slot holds a function of the type that the list states for its name.
                let function: super::fn_type::$name = unsafe { std::mem::transmute(pointer) };
                // SAFETY: every pointer among the arguments is to a local of the right type.
                unsafe { function($($arg),*) }
            }
            None => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        }
    };
}

/// A launch in progress.
pub(super) struct TimedLaunch {
    number: u64,
    name: String,
    stream: CUstream,
    grid: [u32; 3],
    block: [u32; 3],
    begin: Option<(CUcontext, CUevent)>,
}

impl TimedLaunch {
    pub(super) fn new(
        table: &'static DriverTable,
        function: DriverFn,
        number: u64,
        arguments: TracedArguments<'_>,
    ) -> Self {
        let mut launched = Self {
            number,
            name: "graph".to_owned(),
            stream: CUstream::null(),
            grid: [0; 3],
            block: [0; 3],
            begin: None,
        };
        launched.read_launch_arguments(table, function, arguments);
        if table.driver_kind() == DriverKind::Real || !virtual_gpu_reports_kernel_times() {
            launched.begin = with_relaxed_capture_mode(table, || record_begin_event(table, launched.stream));
        }
        launched
    }

    fn read_launch_arguments(
        &mut self,
        table: &'static DriverTable,
        function: DriverFn,
        arguments: TracedArguments<'_>,
    ) {
        let numbers: Vec<c_uint> =
            arguments.iter().filter_map(|(_, value)| value.as_any().downcast_ref().copied()).collect();
        if function != DriverFn::cuGraphLaunch && numbers.len() >= 6 {
            self.grid.copy_from_slice(&numbers[..3]);
            self.block.copy_from_slice(&numbers[3..6]);
        }
        for (_, value) in arguments {
            let any = value.as_any();
            if let Some(stream) = any.downcast_ref::<CUstream>() {
                self.stream = *stream;
            } else if let Some(f) = any.downcast_ref::<CUfunction>() {
                self.name = query_kernel_name(table, *f);
            } else if let Some(config) = any.downcast_ref::<*const CUlaunchConfig>()
                // SAFETY: the caller passes null or a valid configuration.
                && let Some(config) = unsafe { config.as_ref() }
            {
                self.stream = config.hStream;
                self.grid = [config.gridDimX, config.gridDimY, config.gridDimZ];
                self.block = [config.blockDimX, config.blockDimY, config.blockDimZ];
            }
        }
    }

    pub(super) fn kernel_name(&self) -> &str {
        &self.name
    }

    pub(super) fn launch_number(&self) -> u64 {
        self.number
    }

    /// After the call: the second event.
    pub(super) fn record_end_event(self, table: &'static DriverTable, code: CUresult) {
        let Some((ctx, begin)) = self.begin else { return };
        let end = create_event(table);
        let recorded =
            end.filter(|end| code.is_success() && call_untraced!(table, cuEventRecord(*end, self.stream)).is_success());
        let Some(end) = recorded else {
            [Some(begin), end].into_iter().flatten().for_each(|event| {
                call_untraced!(table, cuEventDestroy(event));
            });
            return;
        };
        let Self { number, name, stream, grid, block, .. } = self;
        let pending = PendingLaunch { table, ctx, stream, begin, end, name, grid, block, launch: number };
        let n_pending = {
            let mut state = kernel_trace_state();
            let list = &mut state.get_or_insert_default().pending;
            list.push(pending);
            list.len()
        };
        if n_pending > MAX_PENDING_LAUNCHES {
            write_finished_launches(LaunchWait::Oldest);
        }
    }
}

fn query_kernel_name(table: &'static DriverTable, f: CUfunction) -> String {
    let mut state = kernel_trace_state();
    let names = &mut state.get_or_insert_default().names;
    if let Some(name) = names.get(&f.addr()) {
        return name.clone();
    }
    let mut text: *const c_char = std::ptr::null();
    if !call_untraced!(table, cuFuncGetName(&raw mut text, f)).is_success() || text.is_null() {
        return format!("kernel {:#x}", f.addr());
    }
    // SAFETY: the driver gave a NUL-terminated string that lives as long as the function.
    let name = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    names.insert(f.addr(), name.clone());
    name
}

fn create_event(table: &DriverTable) -> Option<CUevent> {
    let mut event = CUevent::null();
    call_untraced!(table, cuEventCreate(&raw mut event, 0)).is_success().then_some(event)
}

/// Asking for an event invalidates the captures of other streams, unless the thread says that it knows
/// what it does.
fn with_relaxed_capture_mode<T>(table: &DriverTable, body: impl FnOnce() -> T) -> T {
    let mut mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    let exchanged = call_untraced!(table, cuThreadExchangeStreamCaptureMode(&raw mut mode)).is_success();
    let result = body();
    if exchanged {
        call_untraced!(table, cuThreadExchangeStreamCaptureMode(&raw mut mode));
    }
    result
}

/// The first event of a launch, unless the stream is being captured.
fn record_begin_event(table: &'static DriverTable, stream: CUstream) -> Option<(CUcontext, CUevent)> {
    let mut status = CUstreamCaptureStatus::default();
    let asked = call_untraced!(table, cuStreamIsCapturing(stream, &raw mut status));
    if !asked.is_success() || status != CU_STREAM_CAPTURE_STATUS_NONE {
        return None;
    }
    let mut ctx = CUcontext::null();
    if !call_untraced!(table, cuCtxGetCurrent(&raw mut ctx)).is_success() || ctx.is_null() {
        return None;
    }
    reference_event_of_context(table, ctx, stream)?;
    let event = create_event(table)?;
    if call_untraced!(table, cuEventRecord(event, stream)).is_success() {
        return Some((ctx, event));
    }
    call_untraced!(table, cuEventDestroy(event));
    None
}

fn reference_event_of_context(table: &'static DriverTable, ctx: CUcontext, stream: CUstream) -> Option<ReferenceEvent> {
    let mut state = kernel_trace_state();
    let bases = &mut state.get_or_insert_default().bases;
    if let Some(base) = bases.get(&ctx.addr()) {
        return Some(*base);
    }
    let event = create_event(table)?;
    // The first recording waits for what the stream has to do; the second one meets it idle.
    record_event_and_wait(table, event, stream)?;
    let at_ns = record_event_and_wait(table, event, stream)?;
    let base = ReferenceEvent { event, at_ns, number: bases.len() as u64 };
    bases.insert(ctx.addr(), base);
    Some(base)
}

/// When the event was seen to be reached.
fn record_event_and_wait(table: &DriverTable, event: CUevent, stream: CUstream) -> Option<i64> {
    if !call_untraced!(table, cuEventRecord(event, stream)).is_success() {
        return None;
    }
    loop {
        match call_untraced!(table, cuEventQuery(event)) {
            CUresult::CUDA_SUCCESS => return Some(clock_ns() as i64),
            CUresult::CUDA_ERROR_NOT_READY => std::hint::spin_loop(),
            _ => return None,
        }
    }
}

/// How long [`write_finished_launches`] may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LaunchWait {
    /// Only what has finished.
    Nothing,
    /// The oldest launch, and what has finished.
    Oldest,
    /// All; contexts may go then.
    All,
}

/// Writes down the launches whose times are known.
pub(super) fn write_finished_launches(wait: LaunchWait) {
    let mut state = kernel_trace_state();
    let Some(state) = state.as_mut().filter(|state| !state.pending.is_empty() || wait == LaunchWait::All) else {
        return;
    };
    let pending = std::mem::take(&mut state.pending);
    for (position, launch) in pending.into_iter().enumerate() {
        let waits = wait == LaunchWait::All || (wait == LaunchWait::Oldest && position == 0);
        let Some(base) = state.bases.get_mut(&launch.ctx.addr()) else { continue };
        if let Some(launch) = launch.write_span(base, waits) {
            state.pending.push(launch);
        }
    }
    if wait == LaunchWait::All {
        // A context that comes later may get the address of one that goes now.
        state.bases.clear();
        state.names.clear();
    }
}

impl PendingLaunch {
    /// Writes the span and frees the events; gives itself back when the kernel has not finished.
    fn write_span(self, base: &mut ReferenceEvent, waits: bool) -> Option<Self> {
        let table = self.table;
        if !call_untraced!(table, cuCtxPushCurrent(self.ctx)).is_success() {
            return None;
        }
        let ready = with_relaxed_capture_mode(table, || {
            if waits {
                call_untraced!(table, cuEventSynchronize(self.end))
            } else {
                call_untraced!(table, cuEventQuery(self.end))
            }
        });
        let span = if ready.is_success() { self.kernel_span_ns(*base) } else { None };
        let again = ready == CUresult::CUDA_ERROR_NOT_READY;
        if !again {
            let mut end = self.end;
            if let Some((_, end_ns, true)) = span {
                std::mem::swap(&mut end, &mut base.event);
                base.at_ns = end_ns;
            }
            call_untraced!(table, cuEventDestroy(self.begin));
            call_untraced!(table, cuEventDestroy(end));
        }
        let mut popped = CUcontext::null();
        call_untraced!(table, cuCtxPopCurrent(&raw mut popped));
        if let Some((start, end, _)) = span {
            let (start, end) = (start.max(0) as u64, end.max(0) as u64);
            let device = format!("GPU, context {:#x}", self.ctx.addr());
            let track = DeviceTrack { device: &device, device_number: base.number, stream: self.stream.addr() as u64 };
            emit_device_span(track, &self.name, start, end, self.grid, self.block, self.launch);
        }
        again.then_some(self)
    }

    /// Begin and end, and whether the base is far away.
    fn kernel_span_ns(&self, base: ReferenceEvent) -> Option<(i64, i64, bool)> {
        let (mut before, mut length) = (0.0_f32, 0.0_f32);
        let table = self.table;
        let code = call_untraced!(table, cuEventElapsedTime(&raw mut before, base.event, self.begin));
        let code_2 = call_untraced!(table, cuEventElapsedTime(&raw mut length, self.begin, self.end));
        let start = base.at_ns + (f64::from(before) * 1e6) as i64;
        let end = start + (f64::from(length) * 1e6) as i64;
        (code.is_success() && code_2.is_success()).then_some((start, end, before.abs() > MAX_REFERENCE_EVENT_AGE_MS))
    }
}
