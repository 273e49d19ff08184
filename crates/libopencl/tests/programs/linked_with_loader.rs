//! Programs in C, linked with `libOpenCL.so.1` as `make opencl` builds it, by a header that is written from our own
//! declarations: what they print, and which platforms they see.

use crate::c_header;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

fn built_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/opencl");
    assert!(folder.join("libOpenCL.so.1").exists(), "{} has no libOpenCL.so.1: make opencl makes it", folder.display());
    folder.canonicalize().expect("the folder is there")
}

/// A folder with the header; it goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("rtcg-opencl-programs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("CL")).expect("a folder can be made");
        std::fs::write(folder.join("CL/cl.h"), c_header::text()).expect("the folder can be written");
        Self(folder)
    }

    fn compile(&self, output: &str, source: &Path, options: &[&str]) -> PathBuf {
        let file = self.0.join(output);
        let status = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o"])
            .args([&file, source])
            .args(options)
            .status()
            .expect("a C compiler runs");
        assert!(status.success(), "{}", source.display());
        file
    }

    /// What the program `name` prints, with these variables; no other platform is looked for unless they name it.
    fn run(&self, name: &str, variables: &[(&str, &str)]) -> Output {
        let library = built_folder().join("libOpenCL.so.1");
        let include = format!("-I{}", self.0.display());
        let source = Path::new(HERE).join(name).with_extension("c");
        let program = self.compile(name, &source, &[&include, library.to_str().expect("a path in UTF-8")]);
        Command::new(program)
            .env("LD_LIBRARY_PATH", built_folder())
            .env("OCL_ICD_VENDORS", "/nowhere")
            .env("RTCG_OPENCL_VENDORS", "none")
            .env("RTCG_VIRTUAL_DEVICES", "1")
            // One for all, so that the builtins are compiled once.
            .env("PYCUDA_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("opencl-cache"))
            .envs(variables.iter().copied())
            .output()
            .expect("the program runs")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Demands that the program ends well, says nothing on the error stream, and prints these lines.
fn prints(output: &Output, wanted: &[&str]) {
    let [text, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success() && errors.is_empty(), "{}\n{text}\n{errors}", output.status);
    let lines: Vec<_> = text.lines().collect();
    wanted.iter().for_each(|line| assert!(lines.contains(line), "{line:?} is not in\n{text}"));
}

/// The dynamic linker asks for these versions on behalf of programs that were linked with other loaders.
#[test]
fn symbols_have_versions() {
    let file = built_folder().join("libOpenCL.so.1");
    let name = CString::new(file.to_str().expect("a path in UTF-8")).expect("no zero in it");
    // SAFETY: the library has no initialisers beyond those of Rust's standard library.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    let symbols = [
        (c"clFinish", c"OPENCL_1.0"),
        (c"clSetEventCallback", c"OPENCL_1.1"),
        (c"clCreateImage", c"OPENCL_1.2"),
        (c"clSVMAlloc", c"OPENCL_2.0"),
        (c"clCloneKernel", c"OPENCL_2.1"),
        (c"clSetProgramSpecializationConstant", c"OPENCL_2.2"),
        (c"clCreateBufferWithProperties", c"OPENCL_3.0"),
    ];
    for (name, version) in symbols {
        // SAFETY: only the address is looked at.
        assert!(!unsafe { libc::dlvsym(library, name.as_ptr(), version.as_ptr()) }.is_null(), "{name:?} {version:?}");
    }
}

#[test]
fn saxpy_with_the_log_of_a_mistake() {
    let output = Folder::new("saxpy").run("saxpy", &[]);
    prints(&output, &["build: code -11", "saxpy: 100000 of 100000"]);
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(log.contains(":2:12: error: use of undeclared identifier 'missing'"), "{log}");
}

#[test]
fn a_queue_out_of_order_with_events() {
    let output = Folder::new("events").run("events", &[]);
    let lines = ["before: status 1", "values: 10000 of 10000", "times: in order", "callbacks: 1"];
    prints(&output, &lines);
    prints(&output, &["a queue is no event: code -58"]);
}

#[test]
fn images_with_a_sampler() {
    let output = Folder::new("image").run("image", &[]);
    // All but the pixel that was filled.
    prints(&output, &["grey: 511 of 512", "first: 255 0 0 255"]);
}

#[test]
fn vendors_are_listed_behind_our_platform() {
    let folder = Folder::new("platforms");
    let source = Path::new(HERE).join("../../../opencl-sys/tests/vendors/vendor.c");
    let vendor = |name: &str, option: &str| {
        let library = folder.compile(name, &source, &["-shared", "-fPIC", option]);
        library.to_str().expect("a path in UTF-8").to_owned()
    };
    let ours = built_folder().join("librtcg_opencl.so");
    let (good, crashes) = (vendor("libgood.so", "-DGOOD"), vendor("libcrashes.so", "-DCRASHES"));
    let named = format!("{}:{good}:{good}", ours.display());
    let output = folder.run("platforms", &[("OCL_ICD_FILENAMES", &named), ("RTCG_OPENCL_VENDORS", "")]);
    // What the vendor's table lacks is refused as a wrong handle.
    let [first, second] = ["rtcg: code 0, devices; context: code 0", "Small: code -32, none; context: code -32"];
    prints(&output, &[first, second, "functions: known"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(["rtcg: ", "Small: "].map(|name| text.matches(name).count()), [1, 1], "{text}");
    // Not looked for, there is ours.
    let output = folder.run("platforms", &[("OCL_ICD_FILENAMES", &named)]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), [first, "functions: known"]);
    // One that crashes costs a message.
    let output = folder.run("platforms", &[("OCL_ICD_FILENAMES", &crashes), ("RTCG_OPENCL_VENDORS", "")]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains(first), "{errors}");
    assert!(errors.contains("libcrashes.so (named by OCL_ICD_FILENAMES) is skipped: it crashed"), "{errors}");
}
