//! Which clang: the one that `RTCG_CLANG` names, the one inside the wheel `ziglang`, the first on PATH that knows NVPTX.

use crate::error::{CompileError, ErrorKind};
use crate::includes::FileStamp;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A clang that compiles for NVPTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clang {
    /// The program.
    pub program: PathBuf,
    /// What comes before clang's own arguments: `clang` for Zig's program.
    pub first_arguments: Vec<String>,
}

/// Names on PATH, newest first.
const NAMES_ON_PATH: &[&str] = &[
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];

/// The clang to use.
///
/// # Errors
/// [`ErrorKind::CompilerMissing`] with how to install one.
pub fn find_clang() -> Result<Clang, CompileError> {
    if let Some(path) = named_by_user() {
        return Clang::at(&path).ok_or_else(|| {
            let message = format!("RTCG_CLANG={}: it is no clang that compiles for nvptx64", path.display());
            CompileError::new(ErrorKind::CompilerMissing, message)
        });
    }
    candidates().iter().find_map(|path| Clang::at(path)).ok_or_else(|| {
        let message = "no clang for nvptx64 was found; install one with: pip install \"ziglang>=0.15,<0.16\"";
        CompileError::new(ErrorKind::CompilerMissing, message)
    })
}

fn named_by_user() -> Option<PathBuf> {
    std::env::var_os("RTCG_CLANG").filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// The files that may be one, in the order in which they are tried.
pub(super) fn candidates() -> Vec<PathBuf> {
    if let Some(path) = named_by_user() {
        return if path.is_file() { vec![path] } else { Vec::new() };
    }
    let wheels = rtcg_cuda_sys::installations::python_packages("ziglang").into_iter().map(|folder| folder.join("zig"));
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let on_path = NAMES_ON_PATH.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    wheels.chain(on_path).filter(|path| path.is_file()).collect()
}

impl Clang {
    /// The clang at `path`, if it is one and has the back end. Zig's always has, and is not asked.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let is_zig = path.file_stem()?.to_str()?.starts_with("zig");
        if is_zig && path.is_file() {
            return Some(Self { program: path.to_owned(), first_arguments: vec!["clang".to_owned()] });
        }
        let output = Command::new(path).arg("-print-targets").output().ok()?;
        let has_target = output.status.success() && String::from_utf8_lossy(&output.stdout).contains("nvptx64");
        has_target.then(|| Self { program: path.to_owned(), first_arguments: Vec::new() })
    }

    /// What tells its version from others, without running it.
    pub fn version_identity(&self) -> String {
        let stamp = std::fs::metadata(&self.program).map(|metadata| FileStamp::from_metadata(&metadata));
        let FileStamp { size, modified_ns, .. } = stamp.unwrap_or_default();
        format!("{size} {modified_ns}")
    }
}

/// What a program's file is known by, without running it.
pub(super) fn file_identity(program: &Path) -> Option<String> {
    let FileStamp { size, modified_ns, .. } = FileStamp::from_metadata(&std::fs::metadata(program).ok()?);
    Some(format!("{} {size} {modified_ns}", program.display()))
}
