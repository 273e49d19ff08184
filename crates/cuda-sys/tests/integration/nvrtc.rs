//! Finding NVRTC, nvJitLink and NVML and calling them; the errors when libraries are missing.
//!
//! Tests that change the environment run in a process of their own: this file starts itself
//! again with `RTCG_TEST_CHILD` set.

use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::nvjitlink::nvJitLinkResult;
use rtcg_cuda_sys::{DriverTable, NvJitLinkTable, NvmlTable, NvrtcTable, installations, nvrtcProgram};

fn run_test_in_child(test: &str, env: &[(&str, &str)]) -> String {
    let output = rerun(module_path!(), test).envs(env.iter().copied()).output().expect("the test can start itself");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_missing_driver_is_an_error_that_lists_what_was_tried() {
    if is_child() {
        let error = DriverTable::real_driver().expect_err("there is no such file");
        println!("{error}");
        return;
    }
    let text = run_test_in_child(
        "a_missing_driver_is_an_error_that_lists_what_was_tried",
        &[("RTCG_LIBCUDA", "/nowhere/libcuda.so")],
    );
    assert!(text.contains("could not load the CUDA driver (libcuda); tried:"), "{text}");
    assert!(text.contains("RTCG_LIBCUDA=/nowhere/libcuda.so: "), "{text}");
}

#[test]
fn a_missing_nvrtc_is_an_error_that_lists_what_was_tried() {
    if is_child() {
        println!("{}", NvrtcTable::load().expect_err("there is no such file"));
        return;
    }
    let name = "a_missing_nvrtc_is_an_error_that_lists_what_was_tried";
    let text = run_test_in_child(name, &[("RTCG_NVRTC", "/nowhere/libnvrtc.so.13")]);
    assert!(text.contains("RTCG_NVRTC=/nowhere/libnvrtc.so.13: "), "{text}");
    assert!(text.contains("`pip install nvidia-cuda-nvrtc` installs it"), "{text}");
    assert!(text.contains("`python3 -m venv .venv && .venv/bin/pip install nvidia-cuda-nvrtc`"), "{text}");
    let not_nvrtc = "libm.so.6";
    let text = run_test_in_child(name, &[("RTCG_NVRTC", not_nvrtc)]);
    assert!(text.contains("RTCG_NVRTC=libm.so.6: is not an NVRTC library"), "{text}");
}

#[test]
fn a_broken_wheel_directory_is_reported_and_skipped() {
    if is_child() {
        match NvrtcTable::load() {
            Ok(table) => println!("found {}", table.library_path().display()),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let root = std::env::temp_dir().join(format!("rtcg-broken-wheel-{}", std::process::id()));
    let lib = root.join("nvidia/cu13/lib");
    std::fs::create_dir_all(&lib).expect("the temporary directory is writable");
    std::fs::write(lib.join("libnvrtc.so.13"), b"not a library").expect("as above");
    let text = run_test_in_child(
        "a_broken_wheel_directory_is_reported_and_skipped",
        &[("VIRTUAL_ENV", &root.to_string_lossy()), ("PATH", "/usr/bin")],
    );
    std::fs::remove_dir_all(&root).ok();
    let skipped = text.contains("found ") && !text.contains("rtcg-broken-wheel");
    assert!(skipped || text.contains("nvidia/cu13/lib/libnvrtc.so.13: "), "{text}");
}

#[test]
fn wheels_of_the_user_are_found_and_all_places_are_listed() {
    let test = "wheels_of_the_user_are_found_and_all_places_are_listed";
    if is_child() {
        match NvrtcTable::load() {
            Ok(table) => println!("found {}", table.library_path().display()),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let home = std::env::temp_dir().join(format!("rtcg-user-site-{}", std::process::id()));
    let site = home.join(".local/lib/python3.12/site-packages");
    std::fs::create_dir_all(&site).expect("the temporary directory is writable");
    let name = home.to_string_lossy();
    let alone =
        [("HOME", &*name), ("VIRTUAL_ENV", ""), ("CONDA_PREFIX", ""), ("CUDA_HOME", "/nowhere"), ("CUDA_PATH", "")];
    let text = run_test_in_child(test, &alone);
    if !text.contains("found ") {
        for place in ["VIRTUAL_ENV: not set", "CUDA_HOME: /nowhere is no directory", "/usr/local: ", ".local: no wheel"]
        {
            assert!(text.contains(place), "{place} is not in\n{text}");
        }
        assert!(text.contains("in the virtual environment that is active"), "{text}");
    }
    let lib = site.join("nvidia/cu13/lib");
    std::fs::create_dir_all(&lib).expect("as above");
    std::fs::write(lib.join("libnvrtc.so.13"), b"not a library").expect("as above");
    let text = run_test_in_child(test, &alone);
    std::fs::remove_dir_all(&home).ok();
    assert!(
        text.contains("found ") || text.contains("python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13: "),
        "{text}"
    );
}

/// Compiles a kernel when an NVRTC is installed. Without one there is nothing to call, which is
/// a failure where `RTCG_REQUIRE_NVRTC` is set.
#[test]
fn the_nvrtc_library_found_compiles() {
    let table = match NvrtcTable::load() {
        Ok(table) => table,
        Err(error) if std::env::var_os("RTCG_REQUIRE_NVRTC").is_some() => panic!("{error}"),
        Err(_) => return,
    };
    let (major, _) = table.version().expect("an opened NVRTC tells its version");
    assert!(major >= 11, "{major}");
    let source = c"__global__ void k(float *x) { x[threadIdx.x] *= 2.0f; }";
    let mut program = nvrtcProgram::null();
    let mut size = 0;
    // SAFETY: strings are NUL-terminated, pointers valid, and the program is destroyed once.
    unsafe {
        let none = std::ptr::null();
        let code = table.nvrtcCreateProgram(&raw mut program, source.as_ptr(), none, 0, none.cast(), none.cast());
        assert!(code.is_success(), "{}", table.error_string(code));
        let code = table.nvrtcCompileProgram(program, 0, none.cast());
        assert!(code.is_success(), "{}", table.error_string(code));
        assert!(table.nvrtcGetPTXSize(program, &raw mut size).is_success());
        assert!(table.nvrtcDestroyProgram(&raw mut program).is_success());
    }
    assert!(size > 100, "{size}");
    assert!(!table.supported_archs().is_empty());
}

#[test]
fn found_installation_directories_exist() {
    for installation in installations::find_installations() {
        for dir in installation.lib_dirs.iter().chain(&installation.include_dirs) {
            assert!(dir.is_dir(), "{}: {}", installation.origin, dir.display());
        }
    }
    assert!(installations::find_nvcc("/nowhere/nvcc").is_err());
    let text = installations::find_nvcc("no-such-nvcc").expect_err("no such program").to_string();
    assert!(text.contains("PATH"), "{text}");
}

/// Errors of nvJitLink are values with its log; it is there where the wheel is.
#[test]
fn nvjitlink_errors_carry_its_log() {
    let table = match NvJitLinkTable::load() {
        Ok(table) => table,
        Err(error) if std::env::var_os("RTCG_REQUIRE_NVRTC").is_some() => panic!("{error}"),
        Err(error) => return assert!(error.to_string().contains("pip install nvidia-nvjitlink"), "{error}"),
    };
    for (name, since) in NvJitLinkTable::FUNCTIONS {
        assert!(table.has_function(name) || *since > 12000, "{name}");
    }
    let options = |more: &[&str]| more.iter().map(|o| o.to_string()).collect::<Vec<_>>();
    let error = table.link_inputs(&[], &options(&["-lto"])).expect_err("an architecture is needed");
    assert_eq!((error.call, error.code), ("nvJitLinkCreate", nvJitLinkResult::NVJITLINK_ERROR_MISSING_ARCH));
    let error = table.link_inputs(&[], &options(&["-arch=sm_80", "-bogus"])).expect_err("no such option");
    assert!(error.log.contains("unrecognized option: -bogus"), "{error}");
    let error = table.link_inputs(&[], &options(&["-arch=sm_80", "-l\0to"])).expect_err("no C string");
    assert!(error.log.contains("NUL"), "{error}");
}

#[test]
fn a_missing_nvml_is_an_error_that_lists_what_was_tried() {
    if is_child() {
        println!("{}", NvmlTable::load().expect_err("there is no such file"));
        return;
    }
    let name = "a_missing_nvml_is_an_error_that_lists_what_was_tried";
    let text = run_test_in_child(name, &[("RTCG_NVML", "/nowhere/libnvidia-ml.so.1")]);
    assert!(text.contains("could not load NVML, which reads a device's sensors; tried:"), "{text}");
    assert!(text.contains("RTCG_NVML=/nowhere/libnvidia-ml.so.1: "), "{text}");
    let text = run_test_in_child(name, &[("RTCG_NVML", "libm.so.6")]);
    assert!(text.contains("RTCG_NVML=libm.so.6: is not an NVML library"), "{text}");
    assert!(run_test_in_child(name, &[("RTCG_NVML", "none")]).contains("NVML is switched off"));
}
