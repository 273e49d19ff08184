//! The built library as a program that knows only NVIDIA's driver sees it: its symbols, what
//! `cuGetProcAddress` answers, and kernels run by a C program and through rtcg's own loader.
//!
//! `cargo build --release -p rtcg-libcuda` must have built the library, as `make test` does: a test
//! does not depend on a library that is none of Rust's.
#![allow(unsafe_code, reason = "calls the library's C functions")]

use rtcg_cuda_sys::types::*;
use rtcg_cuda_sys::{DriverFn, DriverKind, DriverTable, fn_type};
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library that was built with these tests.
fn library_file() -> PathBuf {
    let tests = std::env::current_exe().expect("the test knows its file");
    let file = tests.with_file_name("librtcg_libcuda.so");
    assert!(file.exists(), "{} is missing: cargo build --release -p rtcg-libcuda makes it", file.display());
    file
}

fn loaded_library() -> &'static libloading::Library {
    static LIBRARY: OnceLock<libloading::Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // SAFETY: the library has no initialisers beyond those of Rust's standard library.
        unsafe { libloading::Library::new(library_file()) }.expect("the library opens")
    })
}

/// The address of an exported symbol.
fn exported_symbol(name: &str) -> Option<*const c_void> {
    // SAFETY: only the address is taken.
    unsafe { loaded_library().get::<*const c_void>(name.as_bytes()) }.ok().map(|s| *s)
}

/// `cuGetProcAddress_v2`: the code, the address and the status.
fn query_proc_address(
    name: &str,
    version: c_int,
    flags: u64,
) -> (CUresult, *const c_void, CUdriverProcAddressQueryResult) {
    let name = CString::new(name).expect("no NUL");
    let get = exported_symbol("cuGetProcAddress_v2").expect("exported");
    // SAFETY: the exported symbol has this signature.
    let get = unsafe { std::mem::transmute::<*const c_void, fn_type::cuGetProcAddress>(get) };
    let mut address = std::ptr::dangling_mut::<c_void>();
    let mut status = CUdriverProcAddressQueryResult(77);
    // SAFETY: all pointers are valid.
    let code = unsafe { get(name.as_ptr(), &raw mut address, version, flags, &raw mut status) };
    (code, address, status)
}

const LEGACY_STREAM_FLAG: u64 = 1;
const PER_THREAD_STREAM_FLAG: u64 = 2;

#[test]
fn every_declared_symbol_is_exported() {
    let missing: Vec<_> =
        DriverFn::ALL_FUNCTIONS.iter().filter(|f| exported_symbol(f.function_info().symbol).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_declared_function_is_found_by_its_name_and_version() {
    for function in DriverFn::ALL_FUNCTIONS {
        let info = function.function_info();
        let base = match info.name.rsplit_once("_v") {
            Some((base, digits)) if digits.parse::<u32>().is_ok() => base,
            _ => info.name,
        };
        let (code, address, status) = query_proc_address(base, info.since as c_int, LEGACY_STREAM_FLAG);
        assert_eq!((code, status), (CUresult::CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS), "{}", info.name);
        assert_eq!(Some(address), exported_symbol(info.symbol), "{}", info.name);
    }
}

#[test]
fn requested_version_selects_the_symbol_version() {
    let expect = |name: &str, version, flags, exported: &str| {
        let (code, address, status) = query_proc_address(name, version, flags);
        assert_eq!((code, status), (CUresult::CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS), "{name} {version}");
        assert_eq!(Some(address), exported_symbol(exported), "{name} {version} is {exported}");
    };
    expect("cuCtxCreate", 2000, LEGACY_STREAM_FLAG, "cuCtxCreate");
    expect("cuCtxCreate", 11_030, LEGACY_STREAM_FLAG, "cuCtxCreate_v2");
    expect("cuCtxCreate", 12_000, LEGACY_STREAM_FLAG, "cuCtxCreate_v3");
    expect("cuCtxCreate", 13_990, LEGACY_STREAM_FLAG, "cuCtxCreate_v4");
    expect("cuCtxGetDevice", 12_090, LEGACY_STREAM_FLAG, "cuCtxGetDevice");
    expect("cuCtxGetDevice", 13_000, LEGACY_STREAM_FLAG, "cuCtxGetDevice_v2");
    expect("cuGetProcAddress", 11_030, LEGACY_STREAM_FLAG, "cuGetProcAddress");
    expect("cuGetProcAddress", 12_000, LEGACY_STREAM_FLAG, "cuGetProcAddress_v2");
    expect("cuMemcpyHtoD", 13_000, 0, "cuMemcpyHtoD_v2");
    expect("cuMemcpyHtoD", 13_000, PER_THREAD_STREAM_FLAG, "cuMemcpyHtoD_v2_ptds");
    expect("cuLaunchKernel", 13_000, LEGACY_STREAM_FLAG, "cuLaunchKernel");
    expect("cuLaunchKernel", 13_000, PER_THREAD_STREAM_FLAG, "cuLaunchKernel_ptsz");
    // Without a form for the thread's own stream, it is the plain one.
    expect("cuMemAlloc", 13_000, PER_THREAD_STREAM_FLAG, "cuMemAlloc_v2");
    expect("cuStreamGetCaptureInfo", 11_030, PER_THREAD_STREAM_FLAG, "cuStreamGetCaptureInfo_v2_ptsz");
}

#[test]
fn unknown_and_too_new_functions_have_different_statuses() {
    let none = (CUresult::CUDA_SUCCESS, std::ptr::null());
    let (code, address, status) = query_proc_address("cuNoSuchFunction", 13_000, 0);
    assert_eq!(((code, address), status), (none, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
    let (code, address, status) = query_proc_address("cuGraphCreate", 9_020, 0);
    assert_eq!(((code, address), status), (none, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
    // A version from before the thread's own form has none, and a suffix is no part of a name.
    let (code, address, status) = query_proc_address("cuLaunchKernel", 6_050, PER_THREAD_STREAM_FLAG);
    assert_eq!(((code, address), status), (none, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
    for name in ["cuMemAlloc_v2", "cuStreamSynchronize_ptsz"] {
        let (code, address, status) = query_proc_address(name, 13_000, 0);
        assert_eq!(((code, address), status), (none, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), "{name}");
    }
    assert_eq!(query_proc_address("cuInit", 13_000, 3).0, CUresult::CUDA_SUCCESS);
    assert_eq!(query_proc_address("cuInit", 99_000, 0).0, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(query_proc_address("cuInit", 13_000, 4).0, CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn export_tables_are_not_found() {
    let get = exported_symbol("cuGetExportTable").expect("exported");
    // SAFETY: the exported symbol has this signature.
    let get = unsafe { std::mem::transmute::<*const c_void, fn_type::cuGetExportTable>(get) };
    let mut table = std::ptr::dangling();
    let id = CUuuid::default();
    // SAFETY: the pointers are valid, or null, which the function answers for.
    unsafe {
        assert_eq!(get(&raw mut table, &raw const id), CUresult::CUDA_ERROR_NOT_FOUND);
        assert!(table.is_null());
        assert_eq!(get(std::ptr::null_mut(), &raw const id), CUresult::CUDA_ERROR_INVALID_VALUE);
    }
}

/// A folder with the library under the name that the loader is asked for.
fn library_folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libcuda-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the library");
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = folder.join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(library_file(), link).expect("a link to the library");
        }
    }
    folder
}

#[test]
fn a_c_program_linked_with_lcuda_runs() {
    let folder = library_folder("c");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linked.c");
    let program = folder.join("linked");
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Werror", "-o"]).arg(&program).arg(&source).arg("-L").arg(&folder);
    let status = compiler.args(["-lcuda", "-lpthread"]).status().expect("a C compiler");
    assert!(status.success());
    // Neither the user's settings nor the number of devices may decide: this library has one by default.
    let ran = Command::new(&program).env("LD_LIBRARY_PATH", &folder).env_remove("RTCG_VIRTUAL_DEVICES").output();
    let ran = ran.expect("the program starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(said.trim(), "all right");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn a_python_program_loads_the_library_through_ctypes() {
    let folder = library_folder("ctypes");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat/programs/ctypes_driver.py");
    let python = std::env::var_os("VIRTUAL_ENV").map_or("python3".into(), |venv| Path::new(&venv).join("bin/python"));
    let mut run = Command::new(python);
    run.arg(&program).env("LD_LIBRARY_PATH", &folder).env_remove("RTCG_VIRTUAL_DEVICES");
    let ran = run.output().expect("Python starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn rtcg_loads_the_library_as_a_driver() {
    // In a process of its own, because the setting is read from the environment.
    if std::env::var_os("RTCG_LIBCUDA").as_deref() != Some(library_file().as_os_str()) {
        let mut again = Command::new(std::env::current_exe().expect("the test knows its file"));
        again.args(["--exact", "rtcg_loads_the_library_as_a_driver"]).env("RTCG_LIBCUDA", library_file());
        let ran = again.output().expect("the test starts again");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        assert!(String::from_utf8_lossy(&ran.stdout).contains("1 passed"));
        return;
    }
    let table = DriverTable::real_driver().expect("the library serves as libcuda");
    let mut count = 0;
    // SAFETY: no pointers but to the count.
    unsafe {
        assert_eq!(table.cuInit(0), CUresult::CUDA_SUCCESS);
        assert_eq!(table.cuDeviceGetCount(&raw mut count), CUresult::CUDA_SUCCESS);
    }
    assert!(count >= 1);
    // A virtual device takes no machine code, so rtcg must know that this is one.
    assert_eq!(table.driver_kind(), DriverKind::Virtual);
    assert_eq!(table.driver_version(), Some(13_000));
    assert!(DriverFn::ALL_FUNCTIONS.iter().all(|f| table.has_function(*f)));
    // Declared, exported, not implemented.
    // SAFETY: takes no pointer.
    assert_eq!(unsafe { table.cuMulticastAddDevice(0, 0) }, CUresult::CUDA_ERROR_NOT_SUPPORTED);
}

/// `fns` calls a function of the virtual GPU, lanes that are missing need masked code.
const PTX: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    fns.b32 %r2, 0x55, 0, %r1;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r2;
    ret;
}
";
const THREAD_COUNT: u32 = 20;

/// Runs the kernel on a driver's first device.
fn run_ptx_kernel(table: &DriverTable) -> Vec<u32> {
    let (mut context, mut module, mut f, mut out) = (CUcontext::null(), CUmodule::null(), CUfunction::null(), 0);
    let mut got = vec![0_u32; THREAD_COUNT as usize];
    // SAFETY: all pointers are valid, and the kernel writes as many words as there are threads.
    unsafe {
        let codes = [
            table.cuInit(0),
            table.cuDevicePrimaryCtxRetain(&raw mut context, 0),
            table.cuCtxSetCurrent(context),
            table.cuModuleLoadData(&raw mut module, PTX.as_ptr().cast()),
            table.cuModuleGetFunction(&raw mut f, module, c"work".as_ptr()),
            table.cuMemAlloc(&raw mut out, 4 * got.len()),
        ];
        assert_eq!(codes, [CUresult::CUDA_SUCCESS; 6]);
        let mut parameters = [(&raw mut out).cast::<c_void>()];
        let (stream, none) = (CUstream::null(), std::ptr::null_mut());
        let launched = table.cuLaunchKernel(f, 1, 1, 1, THREAD_COUNT, 1, 1, 0, stream, parameters.as_mut_ptr(), none);
        assert_eq!(launched, CUresult::CUDA_SUCCESS);
        assert_eq!(table.cuMemcpyDtoH(got.as_mut_ptr().cast(), out, 4 * got.len()), CUresult::CUDA_SUCCESS);
    }
    got
}

/// The files of a cache of machine code: names, and what tells a file from another that took its place.
fn cached_code_files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().map(|e| e.expect("an entry").path());
    let shards = entries(folder).flat_map(|path| entries(&path).collect::<Vec<_>>());
    let mut files: Vec<PathBuf> = shards.flat_map(|path| entries(&path).collect::<Vec<_>>()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "code"));
    files.sort();
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).expect("a file"));
    files.into_iter().map(|path| (path.clone(), inode(&path))).collect()
}

/// The library and this test have the same virtual GPU, linked into different files.
#[test]
fn programs_of_the_same_sources_share_machine_code() {
    const TEST_NAME: &str = "programs_of_the_same_sources_share_machine_code";
    if let Ok(which) = std::env::var("RTCG_SHARED_CODE_TEST") {
        rtcg_vgpu::code_cache::enable_code_cache();
        let table = if which == "linked" {
            rtcg_vgpu::virtual_driver_table()
        } else {
            DriverTable::real_driver().expect("a driver")
        };
        let expected: Vec<u32> =
            (0..THREAD_COUNT).map(|i| if (1..5).contains(&i) { 2 * (i - 1) } else { u32::MAX }).collect();
        assert_eq!(run_ptx_kernel(table)[1..], expected[1..]);
        let counts = rtcg_vgpu_jit::cache_key::compile_counts();
        println!("{which}: compiled={} loaded={}", counts.compiled, counts.loaded);
        return;
    }
    let folder = std::env::temp_dir().join(format!("rtcg-shared-code-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let run = |which: &str| {
        let mut again = Command::new(std::env::current_exe().expect("the test knows its file"));
        again.args(["--exact", TEST_NAME, "--nocapture"]).env("RTCG_SHARED_CODE_TEST", which);
        // Else code that is optimised in the background is kept as well, where the process lives long enough.
        again.env("RTCG_LIBCUDA", library_file()).env("CUDA_CACHE_PATH", &folder).env("RTCG_JIT_TIER", "first");
        for variable in ["CUDA_CACHE_DISABLE", "PYCUDA_DISABLE_CACHE", "CUDA_CACHE_MAXSIZE", "RTCG_CHECK"] {
            again.env_remove(variable);
        }
        let ran = again.output().expect("the test starts again");
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{out}\n{err}");
        out.into_owned()
    };
    run("library");
    let files = cached_code_files(&folder);
    assert_eq!(files.len(), 2, "the kernel and its masked part");
    let out = run("linked");
    assert!(out.contains("linked: compiled=0 loaded=2"), "{out}");
    run("library");
    assert_eq!(cached_code_files(&folder), files, "code was made again");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
