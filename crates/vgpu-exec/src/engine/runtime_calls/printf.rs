//! `printf` and `assert` in device code.
//!
//! Establishes: the output of one call is one piece, in a queue that [`flush_output`] writes to the
//! process's standard output; so calls of different threads never mix within a line. What a grid has
//! printed is written when it ends, before anything that comes after it in its stream: no call has to
//! ask for it, and the end of the process finds the queue empty.

use super::super::fiber::Warp;
use super::printf_format::{Argument, ArgumentKind, Arguments};
use super::{check_lane_access, ensure_stack, job_of_warp, lane_indices, warp_of_ctx, with_fault_site};
use crate::{fault_report, limits};
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::AssertArgs;
use rtcg_vgpu_abi::{IgnorePoison, LaneValues};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static PENDING_OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Whether the queue may have output, so that a grid that prints nothing takes no lock.
static HAS_OUTPUT: AtomicBool = AtomicBool::new(false);
/// The longest string argument that is printed.
const MAX_STRING_BYTES: usize = 64 << 10;

unsafe extern "C" {
    #[cfg_attr(target_os = "macos", link_name = "__stdoutp")]
    static mut stdout: *mut libc::FILE;
}

/// Writes everything that kernels have printed so far to standard output. Every grid does it at its end; calls
/// that wait for a grid that still runs do it for what has been printed by then.
pub fn flush_output() {
    if !HAS_OUTPUT.load(Ordering::Acquire) {
        return;
    }
    let mut queue = PENDING_OUTPUT.lock().ignore_poison();
    if queue.is_empty() {
        return;
    }
    // SAFETY: the C library's stream; the lock keeps pieces in order.
    unsafe {
        libc::fwrite(queue.as_ptr().cast(), 1, queue.len(), stdout);
        libc::fflush(stdout);
    }
    queue.clear();
    HAS_OUTPUT.store(false, Ordering::Release);
}

fn enqueue_output(piece: &[u8]) {
    let mut queue = PENDING_OUTPUT.lock().ignore_poison();
    queue.extend_from_slice(piece);
    HAS_OUTPUT.store(true, Ordering::Release);
    let full = queue.len() > limits::printf_fifo_bytes();
    drop(queue);
    if full {
        flush_output();
    }
}

pub(super) unsafe extern "C" fn vprintf(
    ctx: *mut WarpCtx,
    mask: u32,
    site: u32,
    format: *const LaneValues,
    arguments: *const LaneValues,
    result: *mut LaneValues,
) {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and arrays of 32 lanes.
    unsafe {
        ensure_stack(warp, site);
        for lane in lane_indices(mask) {
            let reader = DeviceMemoryReader { warp, site, lane };
            let n = format_printf_call(&reader, (*format)[lane], (*arguments)[lane]);
            (*result)[lane] = u64::from(n as u32);
        }
    }
}

/// Reads device memory on behalf of one lane.
struct DeviceMemoryReader {
    warp: *mut Warp,
    site: u32,
    lane: usize,
}

impl DeviceMemoryReader {
    /// Bytes of the C string at `address`, without the NUL. The fiber ends here if it is not readable.
    ///
    /// # Safety
    /// On the warp's fiber, with frames that own nothing.
    unsafe fn string_len(&self, address: u64) -> usize {
        let mut n = 0;
        // SAFETY: every byte is checked against the window; the read is volatile, so it happens
        // inside `in_access`.
        unsafe {
            (*self.warp).access_lane = self.lane as u32;
            while n < MAX_STRING_BYTES {
                let at = address.wrapping_add(n as u64);
                if n == 0 || at.is_multiple_of(4096) {
                    check_lane_access(self.warp, self.lane, self.site, at, 1);
                }
                let byte = with_fault_site(self.warp, self.site, || (at as *const u8).read_volatile());
                if byte == 0 {
                    break;
                }
                n += 1;
            }
        }
        n
    }

    /// An integer of `bytes` bytes in the argument buffer.
    ///
    /// # Safety
    /// As [`DeviceMemoryReader::string_len`].
    unsafe fn read_argument_word(&self, address: u64, bytes: u64) -> u64 {
        // SAFETY: checked; the buffer is aligned by the compiler, and a read of bytes needs none.
        unsafe {
            (*self.warp).access_lane = self.lane as u32;
            check_lane_access(self.warp, self.lane, self.site, address, bytes as usize);
            with_fault_site(self.warp, self.site, || match bytes {
                4 => u64::from((address as *const u32).read_unaligned()),
                _ => (address as *const u64).read_unaligned(),
            })
        }
    }
}

/// Walks a packed argument buffer: every argument at a multiple of its size.
struct ArgumentReader<'a> {
    memory: &'a DeviceMemoryReader,
    next: u64,
}

impl ArgumentReader<'_> {
    /// # Safety
    /// As [`DeviceMemoryReader::string_len`].
    unsafe fn next_argument(&mut self, kind: ArgumentKind) -> Argument {
        let bytes = if kind == ArgumentKind::Word { 4 } else { 8 };
        let address = self.next.wrapping_add(bytes - 1) & !(bytes - 1);
        self.next = address.wrapping_add(bytes);
        // SAFETY: passed on.
        unsafe {
            let word = self.memory.read_argument_word(address, bytes);
            let is_text = kind == ArgumentKind::Text && word != 0;
            Argument { word, text_len: is_text.then(|| self.memory.string_len(word)) }
        }
    }
}

/// Formats one call and queues its output; what `printf` returns.
///
/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn format_printf_call(reader: &DeviceMemoryReader, format: u64, arguments: u64) -> i32 {
    if format == 0 {
        return -1;
    }
    // SAFETY: the format was just found readable. Whatever can fault is read before the output is begun, so that
    // a fiber that ends here owns no memory; the strings are of modules and buffers that stay while their kernel runs.
    unsafe {
        let len = reader.string_len(format);
        let text = std::slice::from_raw_parts(format as *const u8, len);
        let mut buffer = ArgumentReader { memory: reader, next: arguments };
        let arguments = Arguments::read(text, |kind| buffer.next_argument(kind));
        enqueue_output(&arguments.format_text(text));
        arguments.count() as i32
    }
}

pub(super) unsafe extern "C" fn assertfail(ctx: *mut WarpCtx, site: u32, args: *const AssertArgs) -> ! {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and arguments. Everything that owns memory is
    // gone when `report_assert` returns.
    unsafe {
        ensure_stack(warp, site);
        let args = &*args;
        for lane in lane_indices(args.mask) {
            print_failed_assertion(&DeviceMemoryReader { warp, site, lane }, args);
        }
        let lane = args.mask.trailing_zeros() as usize % 32;
        fail_by_assertion(&DeviceMemoryReader { warp, site, lane }, args);
        (*warp).terminate_fiber()
    }
}

/// Where the assertion of the reader's lane failed, in the words of a card.
///
/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn failed_assertion_text(reader: &DeviceMemoryReader, args: &AssertArgs) -> String {
    let lane = reader.lane;
    // SAFETY: compiled code passes arrays with a value for each lane. Whatever can fault is read before anything is
    // owned, because a fiber that ends here drops nothing.
    unsafe {
        let texts = [args.messages, args.files, args.functions].map(|values| (*values)[lane]);
        let texts = texts.map(|address| (address, if address == 0 { 0 } else { reader.string_len(address) }));
        let [message, file, function] = texts.map(|(address, len)| match address {
            0 => String::new(),
            _ => String::from_utf8_lossy(std::slice::from_raw_parts(address as *const u8, len)).into_owned(),
        });
        let (line, warp) = ((*args.lines)[lane] as u32, &*reader.warp);
        let ([bx, by, bz], tid) = (warp.ctx.ctaid, &*warp.ctx.tid);
        let (x, y, z) = (tid.x[lane], tid.y[lane], tid.z[lane]);
        format!(
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{x},{y},{z}] Assertion `{message}` failed."
        )
    }
}

/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn print_failed_assertion(reader: &DeviceMemoryReader, args: &AssertArgs) {
    // SAFETY: this function's contract.
    let mut line = unsafe { failed_assertion_text(reader, args) };
    line.push('\n');
    flush_output();
    // SAFETY: writes a buffer to standard error; if that fails nothing can be done.
    let _ = unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}

/// Makes the failed assertion of the reader's lane the fault of the launch.
///
/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn fail_by_assertion(reader: &DeviceMemoryReader, args: &AssertArgs) {
    // SAFETY: this function's contract; the warp runs on this fiber.
    unsafe {
        let what = format!("assertion failed: {}", failed_assertion_text(reader, args));
        let (job, lane) = (job_of_warp(reader.warp), reader.lane as u32);
        let fault = fault_report::trap_fault(job, &*reader.warp, FaultKind::Assert, &what, lane, reader.site, 0);
        job.fail_with_fault(fault);
    }
}
