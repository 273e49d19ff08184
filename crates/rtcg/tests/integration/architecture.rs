//! ARCHITECTURE.md and the code must not drift apart: the crate table names every crate, and what
//! the invariants say is absent is absent.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn crate_folders() -> BTreeSet<String> {
    let entries = fs::read_dir(repository_root().join("crates")).expect("crates/ exists");
    let entries = entries.map(|entry| entry.expect("readable")).filter(|entry| entry.path().is_dir());
    entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect()
}

fn crate_manifest(folder: &str) -> String {
    fs::read_to_string(repository_root().join("crates").join(folder).join("Cargo.toml")).expect("a manifest")
}

/// Names on the left of `=` in `[dependencies]`.
fn crate_dependencies(folder: &str) -> BTreeSet<String> {
    crate_manifest(folder)
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['=', '.']).next())
        .map(|name| name.trim().to_string())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

fn folders_that_depend_on(prefix: &str) -> Vec<String> {
    crate_folders().into_iter().filter(|f| crate_dependencies(f).iter().any(|d| d.starts_with(prefix))).collect()
}

#[test]
fn the_crate_table_lists_every_crate() {
    let text = fs::read_to_string(repository_root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let listed: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|rest| rest.split('`').next())
        .map(|name| name.strip_prefix("rtcg-").unwrap_or(name).to_string())
        .collect();
    assert_eq!(listed, crate_folders());
}

#[test]
fn only_permitted_crates_have_a_dependency() {
    assert_eq!(folders_that_depend_on("pyo3"), ["python"]);
    assert_eq!(folders_that_depend_on("cranelift"), ["vgpu-jit"]);
    // Of CUDA's driver and of OpenCL vendors.
    assert_eq!(folders_that_depend_on("libloading"), ["cuda-sys", "opencl-sys"]);
    let mut on_virtual_gpu = folders_that_depend_on("rtcg-vgpu");
    on_virtual_gpu.retain(|folder| !folder.starts_with("vgpu"));
    // The virtual NCCL knows the types of the virtual GPU, and reaches its streams through functions that it is given.
    assert_eq!(on_virtual_gpu, ["driver", "libcuda", "vnccl"]);
    assert_eq!(dependencies_of_ours("vnccl"), ["cuda-sys", "vgpu-abi", "vgpu-softmath"]);
    for folder in ["ptx", "disk-cache", "c-lex", "hal"] {
        assert_eq!(dependencies_of_ours(folder), [""; 0], "{folder}");
    }
    assert_eq!(dependencies_of_ours("codegen"), ["c-lex", "hal"]);
    assert_eq!(dependencies_of_ours("lang"), ["codegen", "hal"]);
}

#[test]
fn only_the_front_end_and_the_back_end_know_cuda() {
    let of_cuda = ["driver", "compile", "cuda", "cuda-sys", "vgpu"].map(str::to_string);
    for folder in ["codegen", "array", "tune", "sparse", "ndimage", "neighbors", "lang"] {
        let known = dependencies_of_ours(folder);
        assert!(!known.iter().any(|name| of_cuda.contains(name)), "{folder}: {known:?}");
    }
}

/// The crates of this workspace in `[dependencies]`, without the prefix.
fn dependencies_of_ours(folder: &str) -> Vec<String> {
    crate_dependencies(folder).iter().filter_map(|d| Some(d.strip_prefix("rtcg-")?.to_string())).collect()
}

#[test]
fn compiler_and_engine_of_the_virtual_gpu_do_not_know_each_other() {
    for folder in ["vgpu-abi", "vgpu-softmath"] {
        assert_eq!(dependencies_of_ours(folder), ["ptx"], "{folder}");
    }
    assert_eq!(dependencies_of_ours("vgpu-exec"), ["ptx", "vgpu-abi", "vgpu-softmath"]);
    assert_eq!(dependencies_of_ours("vgpu-jit"), ["ptx", "vgpu-abi", "vgpu-softmath"]);
}

/// Whether a Rust file below `folder` has `word` outside of comments.
fn code_mentions(folder: &Path, word: &str) -> bool {
    fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            return code_mentions(&path, word);
        }
        let text = fs::read_to_string(&path).expect("UTF-8");
        text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| line.contains(word))
    })
}

#[test]
fn simt_modules_do_not_mention_cranelift() {
    let jit = repository_root().join("crates/vgpu-jit/src");
    assert!(code_mentions(&jit.join("emit"), "cranelift"));
    assert!(!code_mentions(&jit.join("simt"), "cranelift"));
    assert!(!code_mentions(&jit.join("simt"), "emit::"));
}

/// Rust files below `folder` that have one of the words outside of comments.
fn files_that_mention(folder: &Path, words: &[&str], found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files_that_mention(&path, words, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
            if code().any(|line| words.iter().any(|word| line.contains(word))) {
                let name = path.strip_prefix(repository_root().join("crates")).expect("below crates");
                found.insert(name.to_string_lossy().into_owned());
            }
        }
    }
}

#[test]
fn only_arch_modules_depend_on_the_cpu() {
    let words = ["target_arch", "target_feature", "x86_", "aarch64", "std::arch", "core::arch"];
    let mut found = BTreeSet::new();
    for folder in crate_folders() {
        files_that_mention(&repository_root().join("crates").join(folder).join("src"), &words, &mut found);
    }
    // Faster versions of portable code; the others are the only place for what differs.
    let (faster, interpolator) = ("vgpu-softmath/src/matrix/", "vgpu-softmath/src/interpolator/");
    let (arch, isa) = ("vgpu-exec/src/engine/arch/", "vgpu-jit/src/emit/isa/");
    // Macros that host compilers define.
    let macros = "compile/src/implicit_includes.rs";
    // The triple that gives CUDA C++ the sizes of its types, the same on every host.
    let sizes = "compile/src/clang/cuda.rs";
    let other: Vec<&String> = found
        .iter()
        .filter(|file| {
            ![arch, isa, faster, interpolator, macros, sizes].iter().any(|allowed| file.starts_with(allowed))
        })
        .collect();
    assert!(other.is_empty(), "{other:?}");
    assert!([arch, isa].iter().all(|folder| found.iter().any(|file| file.starts_with(folder))));
}

/// Files with an extension below a folder, put together.
fn append_files(folder: &Path, extension: &str, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            append_files(&path, extension, text);
        } else if path.extension().is_some_and(|found| found == extension) {
            text.push_str(&fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

#[test]
fn every_environment_variable_is_documented() {
    let (mut code, mut documents) = (String::new(), String::new());
    for folder in crate_folders() {
        append_files(&repository_root().join("crates").join(folder).join("src"), "rs", &mut code);
    }
    append_files(&repository_root().join("docs"), "md", &mut documents);
    documents.push_str(&fs::read_to_string(repository_root().join("README.md")).expect("UTF-8"));
    // Whole strings such as "RTCG_CHECK".
    let quoted = code.split('"').filter(|text| text.starts_with("RTCG_") && text.len() > 5);
    let names = quoted.filter(|text| text.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
    let missing: BTreeSet<_> = names.filter(|name| !documents.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");
}
