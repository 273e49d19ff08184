//! The checked mode of the virtual GPU for OpenCL kernels: what it reports names the line of the program or of a header.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;
#[path = "../../../tests/support/own_process.rs"]
mod own_process;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};

const SOURCE: &str = "#include \"helper.h\"
kernel void beyond(global int *a, global int *b) {
    int i = get_global_id(0);
    a[i + 40] = i;
}
kernel void race(global int *a, global int *b) {
    local int shared_[64];
    int i = get_local_id(0);
    shared_[i / 2] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = shared_[i / 2];
}
kernel void unwritten(global int *a, global int *b) {
    int i = get_global_id(0);
    a[i] = helper(b, i);
}
kernel void in_builtin(global int *a, global int *b) {
    int4 v = (int4)(get_global_id(0));

    vstore4(v, get_global_id(0), a);
}
kernel void argument(global int *a, local int *s) {
    int i = get_local_id(0);
    s[i] = i;
    a[i] = s[i];
}
";

const HELPER: &str = "// A header.\nint helper(global const int *b, int i) {\n    return b[i] > 3 ? 1 : 2;\n}\n";

/// Launches one kernel of 64 items in a process that checks; returns what that wrote.
fn reports_of(kernel: &str) -> String {
    let folder = std::env::temp_dir();
    let output = own_process::rerun(module_path!(), "runs_a_kernel")
        .envs([("RTCG_CHECK", "1"), ("RTCG_TEST_KERNEL", kernel), ("RTCG_TEST_FOLDER", folder.to_str().unwrap())])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What [`reports_of`] runs.
#[test]
fn runs_a_kernel() {
    let Ok(name) = std::env::var("RTCG_TEST_KERNEL") else { return };
    let folder = std::path::PathBuf::from(std::env::var_os("RTCG_TEST_FOLDER").unwrap())
        .join(format!("rtcg-checked-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("helper.h"), HELPER).unwrap();
    let setup = set_up(0);
    let (program, code) = setup.build_with(SOURCE, &format!("-I {}", folder.display()));
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    let kernel = setup.kernel(program, &name);
    let [a, b] = [0, 1].map(|_| unwritten(&setup, 64 * 4));
    assert_eq!(set(kernel, 0, &a), CL_SUCCESS);
    if name == "argument" {
        // Room for half of the items.
        assert_eq!(cl!(clSetKernelArg(kernel, 1, 32 * 4, std::ptr::null())), CL_SUCCESS);
    } else {
        assert_eq!(set(kernel, 1, &b), CL_SUCCESS);
    }
    setup.launch(kernel, &[64], Some(&[64]));
    cl!(clFinish(setup.queue));
    let _ = std::fs::remove_dir_all(folder);
}

/// A buffer that nobody wrote.
fn unwritten(setup: &Setup, size: usize) -> cl_mem {
    let mut code = 1;
    let buffer = cl!(clCreateBuffer(setup.context, CL_MEM_READ_WRITE, size, std::ptr::null_mut(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    buffer
}

#[test]
fn reports_name_lines_of_the_source() {
    let cases = [
        ("beyond", "illegal memory access, write of 4 bytes", "source program.cl:4"),
        ("beyond", "illegal memory access, write of 4 bytes", "work-group (0), work-item (24), global id (24)"),
        ("beyond", "illegal memory access, write of 4 bytes", "right past the end of a 256-byte __global buffer"),
        ("race", "race: write after write", "source program.cl:9"),
        ("race", "race: write after write", "after work-group (0), work-item (24), global id (24)"),
        ("unwritten", "read of uninitialised memory", "helper.h:3"),
        ("in_builtin", "illegal memory access, write of", "source program.cl:20"),
        ("argument", "illegal memory access, write of 4 bytes", "source program.cl:24"),
        ("argument", "illegal memory access, write of 4 bytes", "bytes of __local memory"),
    ];
    for (kernel, what, place) in cases {
        let reports = reports_of(kernel);
        assert!(reports.contains(&format!("kernel {kernel}: {what}")), "{kernel}:\n{reports}");
        assert!(reports.contains(place), "{kernel}: no {place} in\n{reports}");
    }
}

#[test]
fn build_logs_name_lines_and_options_without_effect() {
    let setup = set_up(0);
    let folder = std::env::temp_dir().join(format!("rtcg-logs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("broken.h"), "int f(int x) {\n    return x + y;\n}\n").unwrap();
    let options = format!("-cl-nv-verbose -cl-nv-maxrregcount 32 -I {}", folder.display());
    let (program, code) = setup.build_with("#include \"broken.h\"\nkernel void g(void) {}", &options);
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    let log = setup.build_log(program);
    assert!(log.contains("broken.h:2:16: error") && log.contains("from program.cl:1"), "{log}");
    let (program, code) = setup.build_with("kernel void g(void) { int x = 1.5; }", &options);
    assert_eq!(code, CL_SUCCESS);
    let log = setup.build_log(program);
    assert!(log.contains("note: -cl-nv-verbose has no effect") && log.contains("program.cl:1:31: warning"), "{log}");
    for option in ["-cl-nonsense", "-foo", "-cl-std=CL9", "-fno-such-thing=3"] {
        let (program, code) = setup.build_with("kernel void g(void) {}", option);
        let log = setup.build_log(program);
        assert_eq!(code, CL_INVALID_BUILD_OPTIONS, "{option}: {log}");
        assert!(log.starts_with("error: ") && log.contains(option), "{log}");
    }
    std::fs::write(folder.join("calls.h"), "int h(int);\n\nstatic int f(int x) { return h(x); }\n").unwrap();
    let source =
        "#include \"calls.h\"\nint k(float);\nkernel void g(global int *x) {\n    *x = f(3)\n        + k(2);\n}";
    let (program, code) = setup.build_with(source, &options);
    let log = setup.build_log(program);
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE, "{log}");
    assert!(log.contains("calls.h:3:30: error: the function h is not defined"), "{log}");
    assert!(log.contains("program.cl:5:11: error: the function k is not defined"), "{log}");
    let _ = std::fs::remove_dir_all(folder);
}

/// A fault is written once, with no variable set, and the calls behind it say no more of it.
#[test]
fn faults_are_written_once_in_words_of_opencl() {
    let run = own_process::rerun(module_path!(), "runs_into_a_fault")
        .env("RTCG_TEST_KERNEL", "")
        .env_remove("RTCG_CHECK")
        .output();
    let written = String::from_utf8_lossy(&run.unwrap().stderr).into_owned();
    assert_eq!(
        written.matches("rtcg OpenCL: kernel wild: illegal memory access, write of 4 bytes").count(),
        1,
        "{written}"
    );
    assert!(written.contains("work-group (3, 2), work-item (24, 0), global id (131, 4)"), "{written}");
    assert!(written.contains("RTCG_CHECK=1 tells the line of the source"), "{written}");
}

/// What the test above runs.
#[test]
fn runs_into_a_fault() {
    if std::env::var_os("RTCG_TEST_KERNEL").is_none_or(|name| !name.is_empty()) {
        return;
    }
    let setup = set_up(0);
    let program =
        setup.build("kernel void wild(global int *a) { if (get_group_id(0) == 3 && get_group_id(1) == 2) *a = 1; }");
    let kernel = setup.kernel(program, "wild");
    assert_eq!(set(kernel, 0, &cl_mem::NULL), CL_SUCCESS);
    let codes = [(); 3].map(|()| setup.launch_from(kernel, Some(&[11, 0]), &[128, 6], Some(&[32, 2])));
    assert_ne!(codes[1], CL_SUCCESS);
    assert_ne!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    std::process::exit(0);
}
