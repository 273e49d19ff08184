//! The program that probes a vendor's library: opens it, asks it for its platforms, and writes what it found.
//!
//! A line on the output for each step that was survived: `opened`, `protocol`, a line `platform SUFFIX` for each
//! platform, `done`; or `refused` and the linker's words. Whoever started it sees from the last line what became of the
//! library. `build.rs` compiles it without Rust's standard library, so that it is a few KiB in the crate that holds it.
#![no_std]
#![no_main]

use core::ffi::{CStr, c_char, c_int, c_long, c_ulong, c_void};

#[link(name = "c")]
#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dup(fd: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn write(fd: c_int, bytes: *const u8, count: usize) -> isize;
    fn prctl(option: c_int, ...) -> c_int;
    fn setrlimit(resource: c_int, limit: *const [c_ulong; 2]) -> c_int;
    fn _exit(status: c_int) -> !;
}

const RTLD_NOW: c_int = 2;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_long = 1;
const PR_SET_PDEATHSIG: c_int = 1;
const SIGKILL: c_ulong = 9;
const RLIMIT_CORE: c_int = 4;
const CL_PLATFORM_ICD_SUFFIX_KHR: u32 = 0x0920;

type Platform = *mut *const *const c_void;
type FindFunction = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type ListPlatforms = unsafe extern "C" fn(u32, *mut Platform, *mut u32) -> i32;
type PlatformInfo = unsafe extern "C" fn(Platform, u32, usize, *mut c_char, *mut usize) -> i32;

/// Where lines go: the output that the program was started with. What the library prints goes to the error stream.
struct Lines(c_int);

impl Lines {
    fn text(&self, text: &[u8]) {
        // SAFETY: the bytes are a slice. Nobody is left to tell of a failure.
        unsafe { write(self.0, text.as_ptr(), text.len()) };
    }

    fn end(&self, line: &[u8]) -> ! {
        self.text(line);
        // SAFETY: without the library's destructors, which are no part of loading it.
        unsafe { _exit(0) }
    }
}

#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    // SAFETY: C's entry: `arguments` has `count` texts. The other calls take numbers and constants.
    let (lines, library) = unsafe {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setrlimit(RLIMIT_CORE, &[0, 0]);
        let output = dup(1);
        fcntl(output, F_SETFD, FD_CLOEXEC);
        dup2(2, 1);
        if count != 2 {
            return 2;
        }
        (Lines(output), dlopen(*arguments.add(1), RTLD_NOW))
    };
    if library.is_null() {
        lines.text(b"refused ");
        // SAFETY: after a failure there is a text.
        lines.text(unsafe { CStr::from_ptr(dlerror()) }.to_bytes());
        lines.end(b"\n");
    }
    lines.text(b"opened\n");
    // SAFETY: functions of an OpenCL library of these names have these types.
    if let Some(list) = unsafe { list_function(library) } {
        lines.text(b"protocol\n");
        // SAFETY: the function is of this type in every OpenCL library.
        unsafe { write_platforms(&lines, list) };
    }
    lines.end(b"done\n")
}

/// # Safety
/// `library` is open, and has functions of OpenCL only under their names.
unsafe fn list_function(library: *mut c_void) -> Option<ListPlatforms> {
    const LIST: &CStr = c"clIcdGetPlatformIDsKHR";
    // SAFETY: the caller's promise.
    unsafe {
        let find = dlsym(library, c"clGetExtensionFunctionAddress".as_ptr());
        let find = core::mem::transmute::<*mut c_void, Option<FindFunction>>(find);
        let found = find.map_or(core::ptr::null_mut(), |find| find(LIST.as_ptr()));
        let found = if found.is_null() { dlsym(library, LIST.as_ptr()) } else { found };
        core::mem::transmute::<*mut c_void, Option<ListPlatforms>>(found)
    }
}

/// # Safety
/// `list` follows the ICD protocol.
unsafe fn write_platforms(lines: &Lines, list: ListPlatforms) {
    let mut platforms = [core::ptr::null_mut(); 64];
    let mut count = 0;
    // SAFETY: the list is as long as said.
    if unsafe { list(platforms.len() as u32, platforms.as_mut_ptr(), &mut count) } != 0 {
        return;
    }
    for &platform in platforms.iter().take(count as usize) {
        let mut suffix: [c_char; 64] = [0; 64];
        // SAFETY: a platform's first word points to its table, whose second function is `clGetPlatformInfo`; the text
        // is as long as said, and its last byte stays zero.
        let suffix = unsafe {
            let info = core::mem::transmute::<*const c_void, PlatformInfo>(*(*platform).add(1));
            info(platform, CL_PLATFORM_ICD_SUFFIX_KHR, 63, suffix.as_mut_ptr(), core::ptr::null_mut());
            CStr::from_ptr(suffix.as_ptr())
        };
        lines.text(b"platform ");
        lines.text(suffix.to_bytes());
        lines.text(b"\n");
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the process.
    unsafe { _exit(3) }
}
