//! What crates need to be published, and that their packages have it. `make package` builds the packages themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that are not published: programs, tests, and what is no use as a dependency.
const UNPUBLISHED: [&str; 8] =
    ["conformance", "documentation", "libcuda", "libnccl", "libopencl", "oracle", "python", "xtask"];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("crates/ exists")
}

fn manifests() -> Vec<(String, String)> {
    let entries = fs::read_dir(crates_folder()).expect("crates/").map(|entry| entry.expect("readable").path());
    let named = entries.filter(|path| path.is_dir()).map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path.join("Cargo.toml")).expect("a manifest"))
    });
    named.collect()
}

fn published() -> impl Iterator<Item = (String, String)> {
    manifests().into_iter().filter(|(name, _)| !UNPUBLISHED.contains(&name.as_str()))
}

#[test]
fn crates_are_published_or_say_that_they_are_not() {
    for (name, manifest) in manifests() {
        assert_eq!(manifest.contains("\npublish = false\n"), UNPUBLISHED.contains(&name.as_str()), "crates/{name}");
    }
}

#[test]
fn published_crates_have_complete_metadata() {
    for (name, manifest) in published() {
        for key in ["description =", "license.", "readme", "keywords =", "categories =", "rust-version.", "version."] {
            assert!(manifest.lines().any(|line| line.starts_with(key)), "crates/{name} has no line '{key}'");
        }
        assert!(manifest.contains("[package.metadata.docs.rs]"), "crates/{name} has nothing for docs.rs");
        assert!(manifest.contains("[lints]\nworkspace = true"), "crates/{name} does not take the workspace's lints");
        let keywords = manifest.lines().find(|line| line.starts_with("keywords =")).expect("found above");
        let keywords: Vec<&str> = keywords.split('"').skip(1).step_by(2).collect();
        assert!(keywords.len() <= 5 && keywords.iter().all(|word| word.len() <= 20), "crates/{name}: {keywords:?}");
    }
}

/// A published crate requires its siblings by version as well as by path; crates of one version belong together.
#[test]
fn published_crates_require_each_other_by_version() {
    let workspace = fs::read_to_string(crates_folder().join("../Cargo.toml")).expect("the workspace's manifest");
    let version =
        workspace.lines().find_map(|line| line.strip_prefix("version = ")).expect("a version").trim_matches('"');
    for (name, _) in published() {
        let path = format!("path = \"crates/{name}\", version = \"={version}\"");
        assert!(workspace.contains(&path), "Cargo.toml lacks {path}");
    }
}

/// Files that the sources of a crate include, relative to its folder.
fn included_files(folder: &Path, source: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(source).expect("a folder").map(|entry| entry.expect("readable").path()) {
        if entry.is_dir() {
            included_files(folder, &entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).expect("UTF-8");
            for macro_call in ["include_str!(\"", "include_bytes!(\""] {
                for part in text.split(macro_call).skip(1) {
                    let file = part.split('"').next().expect("a name");
                    let file = entry.parent().expect("a folder").join(file).canonicalize().expect("an included file");
                    found.insert(file.strip_prefix(folder).unwrap_or(&file).to_owned());
                }
            }
        }
    }
}

#[test]
fn packages_have_licence_readme_and_all_that_is_included() {
    for (name, _) in published() {
        let folder = crates_folder().join(&name);
        let cargo = Command::new(env!("CARGO"))
            .args(["package", "--list", "--allow-dirty", "--offline", "--quiet"])
            .current_dir(&folder)
            .output()
            .expect("cargo runs");
        assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
        let listed: BTreeSet<PathBuf> = String::from_utf8_lossy(&cargo.stdout).lines().map(PathBuf::from).collect();
        let mut needed = BTreeSet::from(["LICENSE", "README.md", "src/lib.rs"].map(PathBuf::from));
        if name == "rtcg" {
            let examples = ["demo", "arrays", "backprojection", "filterbank"];
            needed.extend(examples.map(|name| PathBuf::from(format!("examples/{name}.rs"))));
        }
        included_files(&folder, &folder.join("src"), &mut needed);
        let missing: Vec<_> = needed.difference(&listed).collect();
        assert!(missing.is_empty(), "the package of crates/{name} lacks {missing:?}");
    }
}
