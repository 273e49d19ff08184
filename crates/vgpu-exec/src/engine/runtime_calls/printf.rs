//! `printf` and `assert` in device code.
//!
//! Establishes: the output of one call is one piece, in a queue that [`flush_output`] writes to the
//! process's standard output; so calls of different threads never mix within a line. Formatting
//! follows C because the C library does it, one conversion at a time.

use super::super::fiber::Warp;
use super::{check_lane_access, ensure_stack, job_of_warp, lane_indices, warp_of_ctx, with_fault_site};
use crate::{fault_report, limits};
use rtcg_vgpu_abi::LaneValues;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::fault::FaultKind;
use rtcg_vgpu_abi::runtime::AssertArgs;
use std::ffi::{c_char, c_int};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

static PENDING_OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// The longest string argument that is printed.
const MAX_STRING_BYTES: usize = 64 << 10;

unsafe extern "C" {
    #[cfg_attr(target_os = "macos", link_name = "__stdoutp")]
    static mut stdout: *mut libc::FILE;
}

/// Writes everything that kernels have printed so far to standard output. Called wherever CUDA
/// does it: at synchronisation of a context, stream or event, and before a context goes.
pub fn flush_output() {
    let mut queue = PENDING_OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    if queue.is_empty() {
        return;
    }
    // SAFETY: the C library's stream; the lock keeps pieces in order.
    unsafe {
        libc::fwrite(queue.as_ptr().cast(), 1, queue.len(), stdout);
        libc::fflush(stdout);
    }
    queue.clear();
}

fn enqueue_output(piece: &[u8]) {
    let mut queue = PENDING_OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    queue.extend_from_slice(piece);
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

/// A conversion of a format string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FormatSpecifier {
    flags: [u8; 5],
    n_flags: usize,
    width: Option<i32>,
    width_arg: bool,
    precision: Option<i32>,
    precision_arg: bool,
    /// Size of an integer argument as its length modifier says.
    bytes: u64,
    /// The type in the end: `d`, `s`, ...
    kind: u8,
    /// Bytes of the format string it takes, with the `%`.
    len: usize,
}

/// Parses the conversion at the start of `s` (which begins with `%`).
fn parse_conversion(s: &[u8]) -> Option<FormatSpecifier> {
    let mut c = FormatSpecifier { bytes: 4, ..Default::default() };
    let mut i = 1;
    while let Some(&f) = s.get(i).filter(|f| b"-+ #0".contains(f)) {
        if !c.flags.contains(&f) {
            c.flags[c.n_flags] = f;
            c.n_flags += 1;
        }
        i += 1;
    }
    (c.width, c.width_arg) = parse_number(s, &mut i);
    if s.get(i) == Some(&b'.') {
        i += 1;
        (c.precision, c.precision_arg) = parse_number(s, &mut i);
        if !c.precision_arg {
            c.precision = Some(c.precision.unwrap_or(0));
        }
    }
    let start = i;
    while s.get(i).is_some_and(|f| b"hlLqjzt".contains(f)) {
        i += 1;
    }
    c.bytes = match &s[start..i] {
        b"hh" => 1,
        b"h" => 2,
        b"" => 4,
        _ => 8,
    };
    c.kind = *s.get(i)?;
    c.len = i + 1;
    Some(c)
}

fn parse_number(s: &[u8], i: &mut usize) -> (Option<i32>, bool) {
    if s.get(*i) == Some(&b'*') {
        *i += 1;
        return (None, true);
    }
    let mut n = None;
    while let Some(d) = s.get(*i).filter(|d| d.is_ascii_digit()) {
        n = Some(n.unwrap_or(0_i32).saturating_mul(10).saturating_add(i32::from(d - b'0')).min(1 << 20));
        *i += 1;
    }
    (n, false)
}

/// Walks a packed argument buffer: every argument at a multiple of its size.
struct ArgumentReader {
    next: u64,
    n: i32,
}

impl ArgumentReader {
    /// # Safety
    /// As [`DeviceMemoryReader::string_len`].
    unsafe fn next_argument(&mut self, reader: &DeviceMemoryReader, bytes: u64) -> u64 {
        self.next = self.next.wrapping_add(bytes - 1) & !(bytes - 1);
        // SAFETY: passed on.
        let value = unsafe { reader.read_argument_word(self.next, bytes) };
        self.next += bytes;
        self.n += 1;
        value
    }
}

/// A conversion with its width, precision and value filled in. For strings the value is the
/// address and `text` the length.
struct SpecifierWithArguments {
    conversion: FormatSpecifier,
    value: u64,
    text: usize,
}

/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn read_conversion_arguments(
    reader: &DeviceMemoryReader,
    mut c: FormatSpecifier,
    args: &mut ArgumentReader,
) -> SpecifierWithArguments {
    // SAFETY: passed on.
    unsafe {
        if c.width_arg {
            let w = args.next_argument(reader, 4) as i32;
            if w < 0 && !c.flags.contains(&b'-') && c.n_flags < 5 {
                c.flags[c.n_flags] = b'-';
                c.n_flags += 1;
            }
            c.width = Some(w.saturating_abs().min(1 << 20));
        }
        if c.precision_arg {
            c.precision = Some(args.next_argument(reader, 4) as i32).filter(|&p| p >= 0).map(|p| p.min(1 << 20));
        }
        let bytes = match c.kind {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' if c.bytes < 8 => 4,
            b'%' => return SpecifierWithArguments { conversion: c, value: 0, text: 0 },
            _ => 8,
        };
        let value = args.next_argument(reader, bytes);
        let text = if c.kind == b's' && value != 0 { reader.string_len(value) } else { 0 };
        SpecifierWithArguments { conversion: c, value, text }
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
    // SAFETY: the format was just found readable. Whatever can fault is read in a first pass,
    // before the output is begun, so that a fiber that ends here owns no memory.
    unsafe {
        let len = reader.string_len(format);
        let text = std::slice::from_raw_parts(format as *const u8, len);
        parse_format(reader, text, arguments, &mut |_| {}, &mut |_| {});
        let out = std::cell::RefCell::new(Vec::with_capacity(len + 32));
        let n = parse_format(
            reader,
            text,
            arguments,
            &mut |plain| out.borrow_mut().extend_from_slice(plain),
            &mut |filled| append_conversion(&mut out.borrow_mut(), filled),
        );
        enqueue_output(&out.into_inner());
        n
    }
}

/// Calls `plain` for literal text and `converted` for each conversion; the number of arguments.
///
/// # Safety
/// As [`DeviceMemoryReader::string_len`].
unsafe fn parse_format(
    reader: &DeviceMemoryReader,
    text: &[u8],
    arguments: u64,
    plain: &mut dyn FnMut(&[u8]),
    converted: &mut dyn FnMut(&SpecifierWithArguments),
) -> i32 {
    let mut args = ArgumentReader { next: arguments, n: 0 };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        plain(&rest[..at]);
        rest = &rest[at..];
        let Some(c) = parse_conversion(rest) else { break };
        let known = b"diuoxXcsfFeEgGaAp%n".contains(&c.kind);
        if known {
            // SAFETY: passed on.
            let filled = unsafe { read_conversion_arguments(reader, c, &mut args) };
            converted(&filled);
        } else {
            plain(&rest[..c.len]);
        }
        rest = &rest[c.len..];
    }
    plain(rest);
    args.n
}

/// Appends one conversion as C formats it.
fn append_conversion(out: &mut Vec<u8>, f: &SpecifierWithArguments) {
    let c = &f.conversion;
    match c.kind {
        b'%' => out.push(b'%'),
        b'n' => {}
        b's' => {
            let text: &[u8] = if f.value == 0 {
                b"(null)"
            } else {
                // SAFETY: `read_conversion_arguments` has read these bytes, and modules and buffers are not freed while
                // their kernel runs.
                unsafe { std::slice::from_raw_parts(f.value as *const u8, f.text) }
            };
            append_padded_text(out, c, text);
        }
        b'c' => append_padded_text(out, &FormatSpecifier { precision: None, ..*c }, &[f.value as u8]),
        b'd' | b'i' => append_with_c_snprintf(out, c, b"ll", ArgumentValue::Int(sign_extend(f.value, c.bytes))),
        b'u' | b'o' | b'x' | b'X' => {
            append_with_c_snprintf(out, c, b"ll", ArgumentValue::Int(truncate_to_bytes(f.value, c.bytes) as i64))
        }
        b'p' => append_with_c_snprintf(out, c, b"", ArgumentValue::Pointer(f.value as usize)),
        _ => append_with_c_snprintf(out, c, b"", ArgumentValue::Float(f64::from_bits(f.value))),
    }
}

fn sign_extend(value: u64, bytes: u64) -> i64 {
    let unused = 64 - 8 * bytes as u32;
    ((value << unused) as i64) >> unused
}

fn truncate_to_bytes(value: u64, bytes: u64) -> u64 {
    let unused = 64 - 8 * bytes as u32;
    value << unused >> unused
}

fn append_padded_text(out: &mut Vec<u8>, c: &FormatSpecifier, text: &[u8]) {
    let text = &text[..text.len().min(c.precision.map_or(usize::MAX, |p| p as usize))];
    let pad = (c.width.unwrap_or(0) as usize).saturating_sub(text.len());
    let left = c.flags.contains(&b'-');
    if !left {
        out.resize(out.len() + pad, b' ');
    }
    out.extend_from_slice(text);
    if left {
        out.resize(out.len() + pad, b' ');
    }
}

enum ArgumentValue {
    Int(i64),
    Float(f64),
    Pointer(usize),
}

/// Lets the C library format one value.
fn append_with_c_snprintf(out: &mut Vec<u8>, c: &FormatSpecifier, length: &[u8], value: ArgumentValue) {
    let mut spec = vec![b'%'];
    spec.extend_from_slice(&c.flags[..c.n_flags]);
    // Writing to a vector cannot fail.
    if let Some(w) = c.width {
        let _ = write!(spec, "{w}");
    }
    if let Some(p) = c.precision {
        let _ = write!(spec, ".{p}");
    }
    spec.extend_from_slice(length);
    spec.extend_from_slice(&[c.kind, 0]);
    let format = |buffer: &mut [u8]| -> c_int {
        let (to, n, spec) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len(), spec.as_ptr().cast::<c_char>());
        // SAFETY: `spec` is NUL-terminated and has one conversion of the type of the argument.
        unsafe {
            match value {
                ArgumentValue::Int(v) => libc::snprintf(to, n, spec, v),
                ArgumentValue::Float(v) => libc::snprintf(to, n, spec, v),
                ArgumentValue::Pointer(v) => libc::snprintf(to, n, spec, v as *const u8),
            }
        }
    };
    let mut buffer = vec![0_u8; 128];
    let mut need = format(&mut buffer);
    if need as usize >= buffer.len() && need > 0 {
        buffer.resize(need as usize + 1, 0);
        need = format(&mut buffer);
    }
    out.extend_from_slice(&buffer[..(need.max(0) as usize).min(buffer.len() - 1)]);
}

pub(super) unsafe extern "C" fn assertfail(ctx: *mut WarpCtx, site: u32, args: *const AssertArgs) -> ! {
    let warp = warp_of_ctx(ctx);
    // SAFETY: compiled code passes its own context and arguments. Everything that owns memory is
    // gone when `report_assert` returns.
    unsafe {
        ensure_stack(warp, site);
        let reader = DeviceMemoryReader { warp, site, lane: (*args).lane as usize % 32 };
        let texts = [(*args).message, (*args).file, (*args).function]
            .map(|a| (a, if a == 0 { 0 } else { reader.string_len(a) }));
        report_assert(&reader, texts, (*args).line);
        (*warp).terminate_fiber()
    }
}

/// # Safety
/// The texts are readable.
unsafe fn report_assert(reader: &DeviceMemoryReader, texts: [(u64, usize); 3], line: u32) {
    let [message, file, function] = texts.map(|(address, len)| {
        if address == 0 {
            return String::new();
        }
        // SAFETY: the caller's contract.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, len) };
        String::from_utf8_lossy(bytes).into_owned()
    });
    // SAFETY: the warp runs on this fiber.
    unsafe {
        let (warp, lane) = (&*reader.warp, reader.lane);
        let ([bx, by, bz], tid) = (warp.ctx.ctaid, &*warp.ctx.tid);
        let (x, y, z) = (tid.x[lane], tid.y[lane], tid.z[lane]);
        let text = format!(
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{x},{y},{z}] Assertion `{message}` failed."
        );
        flush_output();
        let line = format!("{text}\n");
        // SAFETY: writes a buffer to standard error; if that fails nothing can be done.
        let _ = libc::write(2, line.as_ptr().cast(), line.len());
        let job = job_of_warp(reader.warp);
        let what = format!("assertion failed: {text}");
        job.fail_with_fault(fault_report::trap_fault(job, warp, FaultKind::Assert, &what, lane as u32, reader.site, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_to_string(spec: &[u8], value: u64, text: usize) -> String {
        let mut out = Vec::new();
        append_conversion(
            &mut out,
            &SpecifierWithArguments { conversion: parse_conversion(spec).unwrap(), value, text },
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn conversions_format_as_c_does() {
        assert_eq!(format_to_string(b"%d", u64::from(u32::MAX), 0), "-1");
        assert_eq!(format_to_string(b"%5d|", 42, 0), "   42");
        assert_eq!(format_to_string(b"%-5d|", 42, 0), "42   ");
        assert_eq!(format_to_string(b"%+.3d", 7, 0), "+007");
        assert_eq!(format_to_string(b"%u", u64::from(u32::MAX), 0), "4294967295");
        assert_eq!(format_to_string(b"%hhd", 0x1ff, 0), "-1");
        assert_eq!(format_to_string(b"%hu", 0x1_2345, 0), "9029");
        assert_eq!(format_to_string(b"%lld", u64::MAX, 0), "-1");
        assert_eq!(format_to_string(b"%#lx", 0xdead_beef_1234, 0), "0xdeadbeef1234");
        assert_eq!(format_to_string(b"%08.3f", 2.71849_f64.to_bits(), 0), "0002.718");
        assert_eq!(format_to_string(b"%g", 1e-7_f64.to_bits(), 0), "1e-07");
        assert_eq!(format_to_string(b"%a", 1.0_f64.to_bits(), 0), "0x1p+0");
        assert_eq!(format_to_string(b"%c", 65, 0), "A");
        assert_eq!(format_to_string(b"%p", 0x1000, 0), "0x1000");
        assert_eq!(format_to_string(b"%.200f", 1.5_f64.to_bits(), 0).len(), 202);
        let text = b"hello\0";
        assert_eq!(format_to_string(b"%8.3s", text.as_ptr() as u64, 5), "     hel");
        assert_eq!(format_to_string(b"%s", 0, 0), "(null)");
    }

    #[test]
    fn conversion_specifiers_are_parsed() {
        let c = parse_conversion(b"%-+*.*lld rest").unwrap();
        assert!(c.width_arg && c.precision_arg && c.bytes == 8 && c.kind == b'd' && c.len == 9);
        assert_eq!(parse_conversion(b"%"), None);
        assert_eq!(parse_conversion(b"%ll"), None);
        assert_eq!(parse_conversion(b"%.f").unwrap().precision, Some(0));
    }
}
