//! The built libraries as programs see them that know OpenCL only: their symbols, the way of a loader, a C program
//! which finds its kernels again where no compiler is, and C programs linked with `libOpenCL.so.1`.
//!
//! `make opencl` must have built the libraries, as `make test` does: a test does not depend on a library that is none
//! of Rust's.
#![allow(unsafe_code, reason = "calls the library's C functions")]

#[path = "programs/c_header.rs"]
mod c_header;
#[path = "programs/linked_with_loader.rs"]
mod linked_with_loader;

use rtcg_opencl_sys::*;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The library that was built with these tests.
fn library_file() -> PathBuf {
    let tests = std::env::current_exe().expect("the test knows its file");
    let file = tests.with_file_name("librtcg_libopencl.so");
    assert!(file.exists(), "{} is missing: make opencl makes it", file.display());
    file
}

fn load_library() -> libloading::Library {
    // SAFETY: the library has no initialisers beyond those of Rust's standard library.
    unsafe { libloading::Library::new(library_file()) }.expect("the library opens")
}

#[test]
fn exports_every_function() {
    let library = load_library();
    macro_rules! names {
        ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => { [$(stringify!($name)),*] };
    }
    for name in rtcg_opencl_sys::for_each_opencl_function!(names) {
        // SAFETY: only the address is taken.
        assert!(unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_ok(), "{name}");
    }
}

#[test]
fn gives_a_loader_its_platform() {
    type FindFunction = unsafe extern "C" fn(*const c_char) -> *mut c_void;
    type ListPlatforms = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    let library = load_library();
    let mut platform = cl_platform_id::NULL;
    let mut count = 0;
    // SAFETY: the functions have these signatures; the pointers are valid.
    let code = unsafe {
        let find = library.get::<FindFunction>(b"clGetExtensionFunctionAddress").expect("a loader asks it first");
        let list = find(c"clIcdGetPlatformIDsKHR".as_ptr());
        assert!(!list.is_null());
        std::mem::transmute::<*mut c_void, ListPlatforms>(list)(1, &raw mut platform, &raw mut count)
    };
    assert_eq!((code, count), (CL_SUCCESS, 1));
    let object: *mut ObjectHead = platform.into();
    // SAFETY: a platform begins with the address of its table.
    let table = unsafe { &*(*object).dispatch };
    let mut suffix = [0u8; 16];
    let get = table.clGetPlatformInfo.expect("the table is full");
    // SAFETY: the memory is as large as said.
    let code = unsafe {
        get(platform, CL_PLATFORM_ICD_SUFFIX_KHR, suffix.len(), suffix.as_mut_ptr().cast(), std::ptr::null_mut())
    };
    assert_eq!(code, CL_SUCCESS);
    assert!(suffix[0].is_ascii_alphabetic());
}

/// Compiles the C program and links it with the library.
fn linked_program(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/linked.c");
    let program = folder.join("linked");
    let status = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c99", "-Wall", "-Werror", "-o"])
        .args([&program, &source, &library_file()])
        .status()
        .expect("a C compiler runs");
    assert!(status.success());
    // The name that the library has.
    std::os::unix::fs::symlink(library_file(), folder.join("librtcg_opencl.so")).expect("the folder is new");
    program
}

fn run(program: &Path, factor: &str, setting: Option<(&str, &str)>) -> Output {
    let folder = program.parent().expect("it lies in a folder");
    let mut command = Command::new(program);
    command.arg(factor).env("LD_LIBRARY_PATH", folder).env("PYCUDA_CACHE_DIR", folder.join("cache"));
    command.envs(setting);
    command.output().expect("the program runs")
}

#[test]
fn runs_a_linked_program_and_finds_its_kernel_again_without_a_compiler() {
    let folder = std::env::temp_dir().join(format!("rtcg-libopencl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let program = linked_program(&folder);
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let first = run(&program, "3", None);
    let shows_all = |text: &str| text.contains("rtcg: 3 297\n") && text.contains("1,-2 of a kernel\n");
    assert!(shows_all(&text(&first)), "{} {}", text(&first), String::from_utf8_lossy(&first.stderr));
    let again = run(&program, "3", Some(("RTCG_CLANG", "/nowhere/clang")));
    assert!(shows_all(&text(&again)), "{}", text(&again));
    // Another program needs one.
    let refused = run(&program, "4", Some(("RTCG_CLANG", "/nowhere/clang")));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).starts_with("build: code -3\n"), "{}", text(&refused));
    assert!(text(&refused).contains("RTCG_CLANG=/nowhere/clang"), "{}", text(&refused));
    // In checked mode a fault has its line.
    let faults = run(&program, "1;x[200]=0", Some(("RTCG_CHECK", "1")));
    let report = String::from_utf8_lossy(&faults.stderr).into_owned();
    assert_eq!(faults.status.code(), Some(1));
    assert!(report.contains("kernel scale: illegal memory access") && report.contains("program.cl:1"), "{report}");
    let _ = std::fs::remove_dir_all(&folder);
}
