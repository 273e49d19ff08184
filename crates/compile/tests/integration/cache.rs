//! The cache, from outside: hits and misses as a user sees them.
//!
//! Tests that need another environment or another process run this test binary again with
//! `RTCG_CACHE_TEST` set; the child does one step and prints what happened.

use crate::own_process::rerun;
use rtcg_compile::{
    Arch, Artifact, CachePolicy, CompileError, CompileRequest, Compiler, ErrorKind, Target, clear_memory_cache,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;

const PTX_TARGET: Target = Target::ptx_for_arch(Arch::new(8, 0));
const KERNEL_SOURCE: &str = "__global__ void k(float *a) { a[threadIdx.x] *= 2; }";

/// Tests that forget the memory level must not run beside tests that count on it.
static MEMORY_CACHE_LOCK: Mutex<()> = Mutex::new(());

struct TempCacheDir(PathBuf);

impl TempCacheDir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rtcg-cache-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn files_with_extension(&self, extension: &str) -> Vec<PathBuf> {
        fn collect_files(dir: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { collect_files(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        collect_files(&self.0, &mut found);
        found.retain(|f| f.extension().is_some_and(|e| e == extension));
        found
    }
}

impl Drop for TempCacheDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn build_request(source: &str, cache: &TempCacheDir) -> CompileRequest {
    CompileRequest {
        options: Vec::new(),
        cache: CachePolicy::Dir(cache.0.clone()),
        ..CompileRequest::new(source, PTX_TARGET)
    }
}

/// Compiles with an empty memory level, so that only the disk can answer.
fn compile_from_disk_cache(request: &CompileRequest) -> Result<Artifact, CompileError> {
    clear_memory_cache();
    Compiler.compile(request)
}

#[test]
fn a_repeated_compilation_hits_the_cache() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("second");
    let first = compile_from_disk_cache(&build_request(KERNEL_SOURCE, &dir)).unwrap();
    assert!(!first.from_cache);
    let memory = Compiler.compile(&build_request(KERNEL_SOURCE, &dir)).unwrap();
    let disk = compile_from_disk_cache(&build_request(KERNEL_SOURCE, &dir)).unwrap();
    for again in [memory, disk] {
        assert!(again.from_cache);
        assert_eq!(again.bytes, first.bytes);
        assert_eq!(again.kind, first.kind);
    }
    assert_eq!(
        (
            dir.files_with_extension("entry").len(),
            dir.files_with_extension("manifest").len(),
            dir.files_with_extension("tmp").len()
        ),
        (1, 1, 0)
    );
}

/// As the cache of machine code: what others could have written is not executed.
#[cfg(unix)]
#[test]
fn programs_that_others_could_have_written_are_compiled_again() {
    use std::os::unix::fs::PermissionsExt;
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("others");
    let request = build_request(KERNEL_SOURCE, &dir);
    compile_from_disk_cache(&request).unwrap();
    let entry = dir.files_with_extension("entry").remove(0);
    let manifest = dir.files_with_extension("manifest").remove(0);
    let folder = entry.parent().unwrap().parent().unwrap().to_owned();
    for path in [&folder, &entry, &manifest] {
        let rights = std::fs::metadata(path).unwrap().permissions();
        assert_eq!(rights.mode() & 0o077, 0, "{}", path.display());
        for open_to in [0o020, 0o002] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(rights.mode() | open_to)).unwrap();
            assert!(!compile_from_disk_cache(&request).unwrap().from_cache, "{}", path.display());
            std::fs::set_permissions(path, rights.clone()).unwrap();
            assert!(compile_from_disk_cache(&request).unwrap().from_cache, "{}", path.display());
        }
    }
}

#[test]
fn all_inputs_of_a_compilation_change_its_key() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("key");
    let base = build_request(KERNEL_SOURCE, &dir);
    compile_from_disk_cache(&base).unwrap();
    let strings = |s: &[&str]| s.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let variants = [
        CompileRequest { source: format!("{KERNEL_SOURCE}\n"), ..base.clone() },
        CompileRequest { options: strings(&["-lineinfo"]), ..base.clone() },
        CompileRequest { options: strings(&["-DX=1"]), ..base.clone() },
        CompileRequest { options: strings(&["-DX=2"]), ..base.clone() },
        CompileRequest { options: strings(&["-arch=sm_75"]), ..base.clone() },
        CompileRequest { target: Target::ptx_for_arch(Arch::new(9, 0)), ..base.clone() },
        CompileRequest { target: Target::cubin_for_arch(Arch::new(8, 0)), ..base.clone() },
        CompileRequest { no_extern_c: true, ..base.clone() },
        CompileRequest { name: "other.cu".to_owned(), ..base.clone() },
        CompileRequest { include_dirs: vec![dir.0.clone()], ..base.clone() },
        CompileRequest { no_extern_c: true, name_expressions: strings(&["k"]), ..base.clone() },
    ];
    for variant in &variants {
        assert!(!compile_from_disk_cache(variant).unwrap().from_cache, "{variant:?}");
        assert!(compile_from_disk_cache(variant).unwrap().from_cache, "{variant:?}");
    }
    // What cannot change the result does not.
    let same = CompileRequest { options: strings(&["-O3", "-Xcompiler", "-fPIC"]), ..base };
    assert!(compile_from_disk_cache(&same).unwrap().from_cache);
}

#[test]
fn logs_and_mangled_names_are_kept() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("names");
    let source = "template <class T> __global__ void fill(T *a) { int unused; a[0] = 1; }";
    let request = CompileRequest {
        no_extern_c: true,
        name_expressions: vec!["fill<float>".to_owned()],
        ..build_request(source, &dir)
    };
    let first = compile_from_disk_cache(&request).unwrap();
    assert!(first.log.contains("unused"), "{}", first.log);
    let again = compile_from_disk_cache(&request).unwrap();
    assert!(again.from_cache);
    assert_eq!((again.log, again.lowered_names), (first.log, first.lowered_names));
}

#[test]
fn a_changed_nested_header_is_a_cache_miss() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("headers");
    let include = dir.0.join("include");
    std::fs::create_dir_all(include.join("deep")).unwrap();
    std::fs::write(include.join("outer.h"), "#include \"deep/inner.h\"\n").unwrap();
    let inner = include.join("deep/inner.h");
    std::fs::write(&inner, "#define VALUE 1111\n").unwrap();
    let source = "#include <outer.h>\n__global__ void k(int *a) { *a = VALUE; }";
    let request = CompileRequest { include_dirs: vec![include.clone()], ..build_request(source, &dir) };
    let value = |artifact: &Artifact, n: &str| String::from_utf8_lossy(&artifact.bytes).contains(n);

    let first = compile_from_disk_cache(&request).unwrap();
    assert!(!first.from_cache && value(&first, "1111"));
    assert!(Compiler.compile(&request).unwrap().from_cache);

    // Same size, changed right after: times alone would not show it.
    std::fs::write(&inner, "#define VALUE 2222\n").unwrap();
    let changed = Compiler.compile(&request).unwrap();
    assert!(!changed.from_cache && value(&changed, "2222"));

    // The old contents again: both results are known, no compiler is needed.
    std::fs::write(&inner, "#define VALUE 1111\n").unwrap();
    let old = compile_from_disk_cache(&request).unwrap();
    assert!(old.from_cache && value(&old, "1111"));

    std::fs::remove_file(&inner).unwrap();
    assert!(compile_from_disk_cache(&request).is_err());
}

#[test]
fn a_header_added_in_an_earlier_directory_is_a_cache_miss() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("appears");
    let (early, late) = (dir.0.join("early"), dir.0.join("late"));
    std::fs::create_dir_all(&early).unwrap();
    std::fs::create_dir_all(&late).unwrap();
    std::fs::write(late.join("x.h"), "#define VALUE 1111\n").unwrap();
    let source = "#include <x.h>\n#include <math.h>\n__global__ void k(int *a) { *a = VALUE; }";
    let request = CompileRequest { include_dirs: vec![early.clone(), late], ..build_request(source, &dir) };
    compile_from_disk_cache(&request).unwrap();
    assert!(compile_from_disk_cache(&request).unwrap().from_cache);
    std::fs::write(early.join("x.h"), "#define VALUE 2222\n").unwrap();
    let changed = compile_from_disk_cache(&request).unwrap();
    assert!(!changed.from_cache);
    assert!(String::from_utf8_lossy(&changed.bytes).contains("2222"));
    // A header of the user's goes before one of ours, also when it comes later.
    std::fs::write(early.join("math.h"), "#undef VALUE\n#define VALUE 3333\n").unwrap();
    let shadowed = compile_from_disk_cache(&request).unwrap();
    assert!(!shadowed.from_cache);
    assert!(String::from_utf8_lossy(&shadowed.bytes).contains("3333"));
}

#[test]
fn changed_toolkit_headers_are_cache_misses() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("toolkit");
    let source = "#include <cuda_fp16.h>\n__global__ void k(__half *a) { *a = __hadd(*a, *a); }";
    compile_from_disk_cache(&build_request(source, &dir)).unwrap();
    assert!(compile_from_disk_cache(&build_request(source, &dir)).unwrap().from_cache);
    let manifest = std::fs::read(&dir.files_with_extension("manifest")[0]).unwrap();
    let listed = manifest.windows(11).any(|w| w == b"cuda_fp16.h");
    assert!(listed, "the manifest lists the toolkit's header");
}

#[test]
fn sources_with_unresolvable_includes_are_not_cached() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("uncacheable");
    std::fs::write(dir.0.join("x.h"), "").unwrap();
    let source = "#define CAT(a) <a.h>\n#include CAT(x)\n__global__ void k(int *a) { *a = 1; }";
    let request = CompileRequest { include_dirs: vec![dir.0.clone()], ..build_request(source, &dir) };
    for _ in 0..2 {
        assert!(!compile_from_disk_cache(&request).unwrap().from_cache);
    }
    assert!(dir.files_with_extension("entry").is_empty());
}

#[test]
fn errors_are_not_cached() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("errors");
    for _ in 0..2 {
        assert!(compile_from_disk_cache(&build_request("__global__ void k() { nothing; }", &dir)).is_err());
    }
    assert!(dir.files_with_extension("entry").is_empty());
}

#[test]
fn damaged_and_foreign_files_are_cache_misses() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("damage");
    let request = build_request(KERNEL_SOURCE, &dir);
    let good = compile_from_disk_cache(&request).unwrap();
    let other = CompileRequest { source: KERNEL_SOURCE.replace("*= 2", "*= 3"), ..request.clone() };
    compile_from_disk_cache(&other).unwrap();
    for extension in ["entry", "manifest"] {
        for file in dir.files_with_extension(extension) {
            let original = std::fs::read(&file).unwrap();
            let mut flipped = original.clone();
            flipped[original.len() / 2] ^= 1;
            let damages: [&[u8]; 4] = [&original[..original.len() / 2], b"", b"not one of our files", &flipped];
            for damage in damages {
                std::fs::write(&file, damage).unwrap();
                assert_eq!(compile_from_disk_cache(&request).unwrap().bytes, good.bytes);
                assert!(compile_from_disk_cache(&request).unwrap().from_cache);
            }
            std::fs::write(&file, &original).unwrap();
        }
    }
    // An entry under another's name must not be taken for it.
    let entries = dir.files_with_extension("entry");
    assert_eq!(entries.len(), 2);
    let (a, b) = (std::fs::read(&entries[0]).unwrap(), std::fs::read(&entries[1]).unwrap());
    std::fs::write(&entries[0], b).unwrap();
    std::fs::write(&entries[1], a).unwrap();
    assert_eq!(compile_from_disk_cache(&request).unwrap().bytes, good.bytes);
    // A directory where a file should be.
    let entry = &dir.files_with_extension("entry")[0];
    std::fs::remove_file(entry).unwrap();
    std::fs::create_dir(entry).unwrap();
    assert_eq!(compile_from_disk_cache(&request).unwrap().bytes, good.bytes);
}

#[test]
fn the_off_policy_caches_nothing() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let request = CompileRequest { cache: CachePolicy::Off, ..build_request(KERNEL_SOURCE, &TempCacheDir::new("off")) };
    for _ in 0..2 {
        assert!(!Compiler.compile(&request).unwrap().from_cache);
    }
}

// -- other processes ------------------------------------------------------------------------------

fn spawn_child(step: &str, dir: &TempCacheDir, environment: &[(&str, &str)]) -> Child {
    let mut command = rerun(module_path!(), "child_process");
    command.env("RTCG_CACHE_TEST", step).env("PYCUDA_CACHE_DIR", &dir.0);
    command.env_remove("PYCUDA_DISABLE_CACHE").env_remove("RTCG_CACHE_SIZE");
    command.envs(environment.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the child printed on both channels; it must have succeeded.
fn child_output(child: Child) -> (String, String) {
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "{out}\n{err}");
    (out, err)
}

fn run_child(step: &str, dir: &TempCacheDir, environment: &[(&str, &str)]) -> String {
    child_output(spawn_child(step, dir, environment)).0
}

/// Not a test by itself: the other side of the tests below.
#[test]
fn child_process() {
    let Ok(step) = std::env::var("RTCG_CACHE_TEST") else { return };
    let plain = |source: String| CompileRequest { options: Vec::new(), ..CompileRequest::new(source, PTX_TARGET) };
    match step.as_str() {
        "once" => {
            let start = std::time::Instant::now();
            match Compiler.compile(&plain(KERNEL_SOURCE.to_owned())) {
                Ok(artifact) => println!("from_cache={} us={}", artifact.from_cache, start.elapsed().as_micros()),
                Err(error) => println!("error: {error}"),
            }
        }
        "many" => {
            for round in 0..3 {
                for i in 0..12 {
                    let artifact = Compiler.compile(&plain(KERNEL_SOURCE.replace(" k(", &format!(" k{i}(")))).unwrap();
                    let text = String::from_utf8_lossy(&artifact.bytes);
                    assert!(text.contains(&format!(".entry k{i}(")), "round {round}, kernel {i}");
                    clear_memory_cache();
                }
            }
            println!("done");
        }
        "filling" => {
            for i in 0..40 {
                let body: String = (0..200).map(|j| format!("a[{j}] *= {i};\n")).collect();
                Compiler.compile(&plain(format!("__global__ void k(int *a) {{ {body} }}"))).unwrap();
            }
            println!("done");
        }
        other => panic!("unknown step {other}"),
    }
}

#[test]
fn a_hit_in_another_process_needs_no_compiler() {
    let dir = TempCacheDir::new("process");
    assert!(run_child("once", &dir, &[]).contains("from_cache=false"));
    assert!(run_child("once", &dir, &[]).contains("from_cache=true"));
    assert!(run_child("once", &dir, &[("PYCUDA_DISABLE_CACHE", "1")]).contains("from_cache=false"));
    // The variable that hides the compiler is part of the key, so the entry is made with NVRTC
    // named by it and then read with that file gone.
    let compiler = Compiler.compiler_info(None).unwrap().path;
    let link = dir.0.join("libnvrtc.so.13");
    std::os::unix::fs::symlink(&compiler, &link).unwrap();
    let named = link.display().to_string();
    let environment = [("RTCG_NVRTC", named.as_str())];
    let builtins = nvrtc_library_dir(&compiler);
    let with_builtins = [environment[0], ("LD_LIBRARY_PATH", builtins.as_str())];
    assert!(run_child("once", &dir, &with_builtins).contains("from_cache=false"));
    std::fs::remove_file(&link).unwrap();
    assert!(run_child("once", &dir, &environment).contains("from_cache=true"));
    let error = run_child("once", &TempCacheDir::new("process-empty"), &environment);
    assert!(error.contains("error:") && error.contains("NVRTC"), "{error}");
}

fn nvrtc_library_dir(compiler: &Path) -> String {
    compiler.parent().unwrap().display().to_string()
}

#[test]
fn concurrent_processes_share_the_cache() {
    let dir = TempCacheDir::new("many");
    let children: Vec<Child> = (0..6).map(|_| spawn_child("many", &dir, &[])).collect();
    for child in children {
        assert!(child_output(child).0.contains("done"));
    }
    assert_eq!(
        (
            dir.files_with_extension("entry").len(),
            dir.files_with_extension("manifest").len(),
            dir.files_with_extension("tmp").len()
        ),
        (12, 12, 0)
    );
    assert!(run_child("many", &dir, &[]).contains("done"));
}

#[test]
fn the_cache_size_is_bounded() {
    let dir = TempCacheDir::new("bounded");
    assert!(run_child("filling", &dir, &[("RTCG_CACHE_SIZE", "100k")]).contains("done"));
    let size: u64 = ["entry", "manifest"]
        .iter()
        .flat_map(|e| dir.files_with_extension(e))
        .map(|f| f.metadata().unwrap().len())
        .sum();
    assert!(size <= 120 << 10, "{size} bytes");
    assert!(size > 20 << 10, "{size} bytes");
}

#[test]
fn an_unwritable_directory_warns_once_and_compiles() {
    let dir = TempCacheDir::new("unwritable");
    // A file in the way stops root as well.
    let blocked = dir.0.join("file");
    std::fs::write(&blocked, "").unwrap();
    let blocked = blocked.display().to_string();
    let (out, err) = child_output(spawn_child("many", &dir, &[("PYCUDA_CACHE_DIR", &blocked)]));
    assert!(out.contains("done"), "{out}");
    assert_eq!(err.matches("cannot be cached").count(), 1, "{err}");
}

#[test]
fn equal_requests_of_several_threads_are_compiled_once() {
    let _guard = MEMORY_CACHE_LOCK.lock().unwrap_or_else(|e| e.into_inner());
    let dir = TempCacheDir::new("in-flight");
    let request = build_request(KERNEL_SOURCE, &dir);
    let barrier = std::sync::Barrier::new(4);
    let compile = || {
        barrier.wait();
        Compiler.compile(&request).unwrap().from_cache
    };
    let mut cached: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    cached.sort_unstable();
    assert_eq!(cached, [false, true, true, true]);
    // Errors are each thread's own.
    let refused = build_request("int x = ;", &dir);
    let compile = || Compiler.compile(&refused).unwrap_err().kind;
    let kinds = std::thread::scope(|scope| [scope.spawn(compile), scope.spawn(compile)].map(|t| t.join().unwrap()));
    assert_eq!(kinds, [ErrorKind::Source; 2]);
}
