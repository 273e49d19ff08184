//! Which clang: the one that `RTCG_CLANG` names, the one inside the wheel `ziglang`, the first on PATH that knows NVPTX.

use crate::error::{CompileError, ErrorKind};
use crate::includes::FileStamp;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// A clang that compiles for NVPTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clang {
    /// The program.
    pub program: PathBuf,
    /// What comes before clang's own arguments: `clang` for Zig's program.
    pub first_arguments: Vec<String>,
    /// The first number of its version; none for Zig's, which is not asked.
    pub version: Option<u32>,
}

/// The oldest version that the library of builtins and the calls of clang are made for.
const LEAST_VERSION: u32 = 14;

/// How to get one.
const REMEDY: &str = "install one with: pip install \"ziglang>=0.15,<0.16\"";

/// Names on PATH, newest first.
const NAMES_ON_PATH: &[&str] = &[
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];

/// The clang to use.
///
/// # Errors
/// [`ErrorKind::CompilerMissing`] with those that were found and cannot be used, and how to install one.
pub fn find_clang() -> Result<Clang, CompileError> {
    let missing = |message: String| CompileError::new(ErrorKind::CompilerMissing, message);
    if let Some(path) = named_by_user() {
        let refused = |why| missing(format!("RTCG_CLANG={}: {why}; unset it, or {REMEDY}", path.display()));
        return Clang::at(&path).map_err(refused);
    }
    let (mut refused, mut seen) = (String::new(), HashSet::new());
    for path in candidates() {
        match Clang::at(&path) {
            Ok(clang) => return Ok(clang),
            Err(why) if seen.insert(path.canonicalize().ok()) => refused += &format!("; {}: {why}", path.display()),
            Err(_) => {}
        }
    }
    Err(missing(format!("no clang for nvptx64 was found{refused}; {REMEDY}")))
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
    /// The clang at `path`, or why it cannot be used. A file is asked once. Zig's has the back end, and is not asked.
    pub(super) fn at(path: &Path) -> Result<Self, String> {
        static ASKED: LazyLock<Mutex<HashMap<String, Result<Option<u32>, String>>>> = LazyLock::new(Default::default);
        let identity = file_identity(path).ok_or("there is no such file")?;
        let is_zig = path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("zig"));
        let mut asked = ASKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let version = asked.entry(identity).or_insert_with(|| if is_zig { Ok(None) } else { ask(path).map(Some) });
        let first_arguments = if is_zig { vec!["clang".to_owned()] } else { Vec::new() };
        Ok(Self { program: path.to_owned(), first_arguments, version: version.clone()? })
    }

    /// The program and its version as a report names it.
    pub(super) fn description(&self) -> String {
        let output = Command::new(&self.program).args(&self.first_arguments).arg("--version").output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        format!("{} ({})", self.program.display(), said.lines().next().unwrap_or("unknown version").trim())
    }

    /// What tells its version from others, without running it.
    pub fn version_identity(&self) -> String {
        let stamp = std::fs::metadata(&self.program).map(|metadata| FileStamp::from_metadata(&metadata));
        let FileStamp { size, modified_ns, .. } = stamp.unwrap_or_default();
        format!("{size} {modified_ns}")
    }
}

/// The version of a program that is a clang with the back end, and new enough.
fn ask(path: &Path) -> Result<u32, String> {
    let output = Command::new(path).args(["-v", "-print-targets"]).output().map_err(|error| error.to_string())?;
    let (version, targets) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let version = version.split_once("clang version ").map(|(_, rest)| rest.split_whitespace().next().unwrap_or(""));
    let Some(version) = version.filter(|_| output.status.success()) else { return Err("it is no clang".to_owned()) };
    let major = version.split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    if major < LEAST_VERSION {
        return Err(format!("it is clang {version}, and {LEAST_VERSION} or newer is needed"));
    }
    if !targets.contains("nvptx64") {
        return Err(format!("it is clang {version} without the back end for nvptx64"));
    }
    Ok(major)
}

/// What a program's file is known by, without running it.
pub(super) fn file_identity(program: &Path) -> Option<String> {
    let FileStamp { size, modified_ns, .. } = FileStamp::from_metadata(&std::fs::metadata(program).ok()?);
    Some(format!("{} {size} {modified_ns}", program.display()))
}
