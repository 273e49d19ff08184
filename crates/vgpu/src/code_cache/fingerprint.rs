//! A hash of the sources that decide about machine code: those of the JIT, of the arithmetic and of what both name of
//! the rest of the crate, and the parser's. The build script takes it, so that every program that is built from the
//! same sources has the same one, and a change of any of them gives another.
//!
//! Shared with `build.rs`: uses nothing of the crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What of the crate is taken as a whole.
const CODE_GENERATOR_SOURCES: [&str; 4] = ["src/jit", "src/softmath", "src/exec/arch", "src/abi"];
/// The parser's sources beside the crate. Where they are elsewhere (a crate from a registry) its version stands for them.
const PTX_PARSER_SOURCES: &str = "../ptx/src";

/// Files and folders with the sources, none of them twice.
pub(super) fn source_files(package: &Path) -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = CODE_GENERATOR_SOURCES.iter().map(|path| package.join(path)).collect();
    let mut named = BTreeSet::new();
    for file in all.iter().flat_map(|path| rust_files_below(path)) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        named.extend(text.match_indices("crate::").flat_map(|(at, _)| module_files(package, &text[at + 7..])));
    }
    named.retain(|path| !all.iter().any(|own| path.starts_with(own)));
    all.extend(named);
    all.extend(Some(package.join(PTX_PARSER_SOURCES)).filter(|path| path.is_dir()));
    all
}

/// The file and the folder of the innermost module that a path of names leads to.
fn module_files(package: &Path, path: &str) -> Vec<PathBuf> {
    let mut folder = package.join("src");
    let mut found = Vec::new();
    for name in path.split("::") {
        let word = &name[..name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len())];
        let here = [folder.join(format!("{word}.rs")), folder.join(word)];
        if word.is_empty() || !here.iter().any(|path| path.exists()) {
            break;
        }
        found = here.iter().filter(|path| path.exists()).cloned().collect();
        folder.push(word);
        if word.len() < name.len() {
            break;
        }
    }
    found
}

/// The files below a path in an order that is always the same.
fn rust_files_below(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inside.sort();
    inside
        .iter()
        .flat_map(|path| rust_files_below(path))
        .filter(|file| file.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// The hash in hexadecimal digits: of names and contents, not of places.
pub(super) fn source_fingerprint(package: &Path) -> String {
    let mut state = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15];
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            state[0] = (state[0] ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            state[1] = (state[1].rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    };
    for source in source_files(package) {
        for file in rust_files_below(&source) {
            add(file.strip_prefix(package).unwrap_or(&file).as_os_str().as_encoded_bytes());
            add(&std::fs::read(&file).unwrap_or_default());
        }
    }
    format!("{:016x}{:016x}", state[0], state[1])
}
