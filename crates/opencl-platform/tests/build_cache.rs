//! Programs in the cache: each thing that a result depends on gives another entry, and an entry needs no compiler.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;
#[macro_use]
#[path = "../../../tests/support/own_process.rs"]
mod own_process;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

/// A folder for a cache, with a copy of the usual one's library of builtins. It is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rtcg-opencl-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        // A link would not be trusted.
        if let Some(usual) = rtcg_compile::cache_directory().map(|folder| folder.join("opencl")) {
            let libraries = std::fs::read_dir(usual).into_iter().flatten().flatten().map(|entry| entry.path());
            for library in libraries.filter(|library| library.join("index").is_file()) {
                let copy = path.join("opencl").join(library.file_name().unwrap());
                std::fs::create_dir_all(&copy).unwrap();
                for file in std::fs::read_dir(library).unwrap().flatten() {
                    std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
                }
            }
        }
        Self(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The cache of this process's programs.
fn cache_folder() -> PathBuf {
    std::env::var_os("PYCUDA_CACHE_DIR").unwrap().into()
}

/// Compiled programs in the cache.
fn stored_results() -> usize {
    fn count(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).map(|list| list.flatten().collect::<Vec<_>>()).unwrap_or_default();
        let is_entry = |path: &Path| path.extension().is_some_and(|extension| extension == "entry");
        let of = |path: PathBuf| if path.is_dir() { count(&path) } else { usize::from(is_entry(&path)) };
        entries.iter().map(|entry| of(entry.path())).sum()
    }
    count(&cache_folder())
}

/// Builds a program with a kernel `value`, and returns what it writes.
fn value_of(setup: &Setup, source: &str, options: &str) -> i32 {
    let (program, code) = setup.build_with(source, options);
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    let (kernel, out) = (setup.kernel(program, "value"), setup.buffer(&[0i32]));
    set(kernel, 0, &out);
    assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
    let value = setup.read::<i32>(out, 1)[0];
    cl!(clReleaseMemObject(out));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
    value
}

/// As [`value_of`], and whether a result was stored.
fn value_and_news(setup: &Setup, source: &str, options: &str) -> (i32, bool) {
    let before = stored_results();
    let value = value_of(setup, source, options);
    (value, stored_results() > before)
}

const SOURCE: &str = "#include \"outer.h\"\nkernel void value(global int *out) { *out = OUTER; }";

#[test]
fn each_part_of_the_key_gives_another_entry() {
    let folder = Folder::new("key");
    own_process!("PYCUDA_CACHE_DIR" = folder.text());
    let (setup, headers) = (set_up(0), cache_folder().join("headers"));
    let [first, second, nested] = ["first", "second", "nested"].map(|name| headers.join(name));
    write(&second.join("outer.h"), "#include \"inner.h\"\n#define OUTER (INNER + 10)");
    write(&nested.join("inner.h"), "#define INNER 1");
    let include = |order: &[&PathBuf]| order.iter().map(|path| format!("-I {} ", path.display())).collect::<String>();
    let options = include(&[&first, &second, &nested]);
    let get = |source: &str, options: &str| {
        let found = value_and_news(&setup, source, options);
        assert_eq!(value_and_news(&setup, source, options), (found.0, false), "a second time");
        found
    };
    assert_eq!(get(SOURCE, &options), (11, true));
    assert_eq!(get(&format!("{SOURCE}//"), &options), (11, true), "the source");
    assert_eq!(get(SOURCE, &format!("{options} -D UNUSED")), (11, true), "an option");
    assert_eq!(get(SOURCE, &include(&[&nested, &first, &second])), (11, true), "the order of folders");
    write(&nested.join("inner.h"), "#define INNER 2");
    assert_eq!(get(SOURCE, &options), (12, true), "a header of a header");
    write(&second.join("outer.h"), "#include \"inner.h\"\n#define OUTER (INNER + 20)");
    assert_eq!(get(SOURCE, &options), (22, true), "a header");
    write(&first.join("inner.h"), "#define INNER 3");
    assert_eq!(get(SOURCE, &options), (23, true), "a header in a folder that comes before");
    write(&second.join("inner.h"), "#define INNER 4");
    assert_eq!(get(SOURCE, &options), (24, true), "a header beside the one that includes it");
    for path in [first.join("inner.h"), second.join("inner.h")] {
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(value_of(&setup, SOURCE, &options), 22, "they are gone again");
}

#[test]
fn another_compiler_gives_another_entry() {
    const EXPECTED: &str = "RTCG_TEST_IS_NEW";
    if own_process::is_child() {
        let (setup, source) = (set_up(0), "kernel void value(global int *out) { *out = 5; }");
        let is_new = std::env::var_os(EXPECTED).is_some_and(|text| text == "1");
        assert_eq!(value_and_news(&setup, source, ""), (5, is_new));
        assert_eq!(value_and_news(&setup, source, ""), (5, false));
        return;
    }
    struct Here;
    let folder = Folder::new("compiler");
    let found = rtcg_compile::clang::find_clang().unwrap().program;
    // The same program by another name.
    let other = folder.0.join(found.file_name().unwrap());
    std::os::unix::fs::symlink(&found, &other).unwrap();
    for (program, is_new) in [(&found, "1"), (&other, "1"), (&found, "0"), (&other, "0")] {
        let variables =
            [("PYCUDA_CACHE_DIR", folder.text()), ("RTCG_CLANG", program.to_str().unwrap()), (EXPECTED, is_new)];
        own_process::pass_alone(std::any::type_name::<Here>(), &variables);
    }
}

/// A cache that one process filled serves another that has no compiler, or none that can be used: built, compiled and linked programs.
#[test]
fn entries_are_found_without_a_compiler() {
    const REFUSED: &str = "RTCG_TEST_REFUSED";
    let folder = Folder::new("alone");
    if !own_process::is_child() {
        struct Here;
        let path = std::any::type_name::<Here>();
        own_process::pass_alone(path, &[("PYCUDA_CACHE_DIR", folder.text())]);
        let nowhere = [("PYCUDA_CACHE_DIR", folder.text()), ("PATH", ""), ("VIRTUAL_ENV", ""), ("HOME", folder.text())];
        own_process::pass_alone(path, &nowhere);
        let without = |clang: &str, why: &str| {
            let variables = [nowhere.as_slice(), &[("RTCG_CLANG", clang), (REFUSED, why)]].concat();
            own_process::pass_alone(path, &variables);
        };
        without("/nowhere/clang", "/nowhere/clang: there is no such file");
        #[cfg(unix)]
        {
            let old = folder.0.join("clang");
            write(&old, "#!/bin/sh\necho clang version 13.0.1 >&2\necho nvptx64\n");
            std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            without(old.to_str().unwrap(), "clang: it is clang 13.0.1, and 14 or newer is needed");
        }
        return;
    }
    let setup = set_up(0);
    let before = stored_results();
    assert_eq!(value_of(&setup, "kernel void value(global int *out) { *out = abs(-6); }", "-cl-mad-enable"), 6);
    assert_eq!(linked_value(&setup), 7);
    if let Ok(why) = std::env::var(REFUSED) {
        assert_eq!(stored_results(), before);
        let (program, code) = setup.build_with("kernel void f(void) {}", "");
        assert_eq!(code, CL_COMPILER_NOT_AVAILABLE);
        let log = setup.build_log(program);
        assert!(log.contains(&why) && log.contains("ziglang"), "{log}");
        cl!(clReleaseProgram(program));
    }
}

/// The value of a program of two objects, one with a header in memory.
fn linked_value(setup: &Setup) -> i32 {
    let program = |text: &str| {
        let text = CString::new(text).unwrap();
        let (mut pointer, mut code) = (text.as_ptr(), 1);
        let program = cl!(clCreateProgramWithSource(setup.context, 1, &raw mut pointer, null(), &raw mut code));
        assert_eq!(code, CL_SUCCESS);
        program
    };
    let header = program("int seven(void);");
    let name = c"seven.h";
    let kernel = program("#include \"seven.h\"\nkernel void value(global int *out) { *out = seven(); }");
    let helper = program("int seven(void) { return 7; }");
    let mut names = name.as_ptr();
    for (program, count) in [(kernel, 1), (helper, 0)] {
        let (headers, names) = if count == 1 { (&raw const header, &raw mut names) } else { (null(), null_mut()) };
        let code = cl!(clCompileProgram(program, 0, null(), null(), count, headers, names, None, null_mut()));
        assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    }
    let (objects, mut code) = ([kernel, helper], 1);
    let linked =
        cl!(clLinkProgram(setup.context, 0, null(), null(), 2, objects.as_ptr(), None, null_mut(), &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    let (kernel, out) = (setup.kernel(linked, "value"), setup.buffer(&[0i32]));
    set(kernel, 0, &out);
    assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
    setup.read::<i32>(out, 1)[0]
}
