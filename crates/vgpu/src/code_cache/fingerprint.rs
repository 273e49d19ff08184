//! A hash of the sources that decide about machine code: the parser's, those of what compiler and engine share, of the
//! arithmetic and of the JIT, and how the engine is entered. The build script takes it, so that every program that is
//! built from the same sources has the same one, and a change of any of them gives another.
//!
//! Shared with `build.rs`: uses nothing of the crate.

use std::path::{Path, PathBuf};

/// Folders and files, seen from the folder of this crate. Where they are elsewhere (crates from a registry) its version, which theirs
/// equal, stands for them.
const CODE_GENERATOR_SOURCES: [&str; 6] = [
    "../ptx/src",
    "../vgpu-abi/src",
    "../vgpu-softmath/src",
    "../vgpu-jit/src",
    "../vgpu-exec/src/engine/arch",
    // By what NVRTC's output says, products and sums are contracted.
    "../cuda-sys/src/nvrtc.rs",
];

/// Those that are there.
pub(super) fn source_folders(package: &Path) -> impl Iterator<Item = PathBuf> {
    CODE_GENERATOR_SOURCES.iter().map(|folder| package.join(folder)).filter(|folder| folder.exists())
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
    for source in source_folders(package) {
        for file in rust_files_below(&source) {
            add(file.strip_prefix(package).unwrap_or(&file).as_os_str().as_encoded_bytes());
            add(&std::fs::read(&file).unwrap_or_default());
        }
    }
    format!("{:016x}{:016x}", state[0], state[1])
}
