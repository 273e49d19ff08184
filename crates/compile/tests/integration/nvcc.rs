//! nvcc as a process, played by a shell script that writes down how it was called.
#![cfg(unix)]

use rtcg_compile::{
    Arch, Artifact, BinaryKind, CachePolicy, CompileError, CompileRequest, Compiler, ErrorKind, Target,
    clear_memory_cache,
};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// One test at a time: a program being written cannot be started, and a process that another test
/// starts meanwhile inherits the open file for a moment.
static FAKE_NVCC_LOCK: Mutex<()> = Mutex::new(());

struct FakeNvcc {
    _turn: MutexGuard<'static, ()>,
    dir: PathBuf,
    include: PathBuf,
}

impl FakeNvcc {
    /// A program that copies its input to its output, lists a header as a dependency and logs its
    /// arguments; a source with the word `wrong` fails.
    fn new(name: &str) -> Self {
        let turn = FAKE_NVCC_LOCK.lock().unwrap_or_else(|e| e.into_inner());
        let dir = std::env::temp_dir().join(format!("rtcg-nvcc-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let include = dir.join("include");
        std::fs::create_dir_all(&include).unwrap();
        std::fs::write(include.join("used.h"), "1").unwrap();
        let script = format!(
            "#!/bin/sh\n\
             if [ \"$1\" = --version ]; then echo 'fake, release 1.0'; exit 0; fi\n\
             echo \"$@\" >> {dir}/calls\n\
             if grep -q wrong kernel.cu; then echo 'kernel.cu(3): error: wrong' >&2; exit 2; fi\n\
             while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n\
             cat kernel.cu {dir}/include/used.h > \"$out\"\n\
             printf 'o : kernel.cu \\\\\\n  {dir}/include/used.h \\\\\\n  include/pycuda-complex.hpp\\n' > dependencies\n\
             echo 'a warning'\n",
            dir = dir.display()
        );
        let program = dir.join("my-nvcc");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { _turn: turn, dir, include }
    }

    fn build_request(&self, source: &str) -> CompileRequest {
        CompileRequest {
            options: vec!["-O3".to_owned(), "--frobnicate".to_owned()],
            cache: CachePolicy::Dir(self.dir.join("cache")),
            nvcc: Some(self.dir.join("my-nvcc").display().to_string()),
            include_dirs: vec![self.include.clone()],
            ..CompileRequest::new(source, Target::cubin_for_arch(Arch::new(9, 0)))
        }
    }

    fn recorded_calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for FakeNvcc {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn compile_from_disk_cache(request: &CompileRequest) -> Result<Artifact, CompileError> {
    clear_memory_cache();
    Compiler.compile(request)
}

#[test]
fn options_go_to_nvcc_unchanged() {
    let fake = FakeNvcc::new("options");
    let artifact = compile_from_disk_cache(&fake.build_request("source\n")).unwrap();
    assert_eq!((artifact.kind, artifact.log.as_str()), (BinaryKind::Cubin, "a warning\n"));
    let text = String::from_utf8(artifact.bytes.to_vec()).unwrap();
    assert!(text.contains("extern \"C\" {\n#line 1 \"kernel.cu\"\nsource\n"), "{text}");
    let calls = fake.recorded_calls();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].starts_with("--cubin -O3 --frobnicate -arch=sm_90 "), "{calls:?}");
    assert!(calls[0].contains(&format!("-I{}", fake.include.display())), "{calls:?}");
}

#[test]
fn texture_references_are_declared_for_nvcc_too() {
    let fake = FakeNvcc::new("texture");
    let artifact = compile_from_disk_cache(&fake.build_request("static texture<float, 2> image;\n")).unwrap();
    let text = String::from_utf8(artifact.bytes.to_vec()).unwrap();
    let at = text.find("struct texture {").expect("references are declared");
    assert!(text[at..].contains("#line 1 \"kernel.cu\"\n       __device__ texture<float, 2> image;"), "{text}");
}

#[test]
fn results_are_cached_by_what_nvcc_read() {
    let fake = FakeNvcc::new("cache");
    let request = fake.build_request("source");
    assert!(!compile_from_disk_cache(&request).unwrap().from_cache);
    assert!(compile_from_disk_cache(&request).unwrap().from_cache);
    std::fs::write(fake.include.join("used.h"), "2").unwrap();
    assert!(!compile_from_disk_cache(&request).unwrap().from_cache);
    assert_eq!(fake.recorded_calls().len(), 2);
    // A hit needs no nvcc, another nvcc is a miss.
    std::fs::remove_file(fake.dir.join("my-nvcc")).unwrap();
    assert!(compile_from_disk_cache(&request).unwrap().from_cache);
}

#[test]
fn nvcc_failures_show_command_log_and_source_lines() {
    let fake = FakeNvcc::new("failure");
    let error = compile_from_disk_cache(&fake.build_request("one\ntwo\nwrong\nfour")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Source);
    assert!(error.command_line[0].ends_with("my-nvcc"), "{error}");
    assert!(error.command_line.iter().any(|a| a == "--frobnicate"), "{error}");
    assert!(error.log.contains("kernel.cu(3): error"), "{error}");
    assert!(error.excerpt.contains("> 3 | wrong"), "{error}");
}

#[test]
fn a_missing_nvcc_is_reported() {
    let fake = FakeNvcc::new("missing");
    let request = CompileRequest { nvcc: Some("/no/such/nvcc".to_owned()), ..fake.build_request("source") };
    let error = compile_from_disk_cache(&request).unwrap_err();
    assert_eq!(error.kind, ErrorKind::CompilerMissing);
    assert!(error.message.contains("/no/such/nvcc"), "{error}");
}

#[test]
fn compiler_info_gives_path_and_version() {
    let fake = FakeNvcc::new("info");
    let program = fake.dir.join("my-nvcc").display().to_string();
    let info = Compiler.compiler_info(Some(&program)).unwrap();
    assert!(info.version.contains("release 1.0"));
    assert_eq!(info.path, fake.dir.join("my-nvcc"));
}
