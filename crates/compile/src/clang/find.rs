//! Finds a clang: the one that `RTCG_CLANG` names, the one in the wheel `ziglang`, or the first on PATH that supports
//! NVPTX.

use crate::error::{CompileError, ErrorKind};
use crate::includes::FileStamp;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// A clang that can compile for NVPTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clang {
    /// The executable.
    pub program: PathBuf,
    /// Arguments before clang's own: `clang` for Zig's executable.
    pub first_arguments: Vec<String>,
    /// The major version; `None` for Zig's, whose version is not queried.
    pub version: Option<u32>,
}

/// The oldest version that the library of builtins and the calls of clang are made for.
const LEAST_VERSION: u32 = 14;

/// How to get one.
const REMEDY: &str = "install one with: pip install \"ziglang>=0.13,<0.18,!=0.16.*\"";

/// Names on PATH, newest first.
const NAMES_ON_PATH: &[&str] = &[
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14",
];

/// Finds a usable clang.
///
/// # Errors
/// [`ErrorKind::CompilerMissing`] with those that were found but cannot be used, and how to install one.
pub fn find_clang() -> Result<Clang, CompileError> {
    choose(named_by_user(), &candidates())
}

/// The program that the user names, else the first of the candidates that can be used.
fn choose(named: Option<PathBuf>, candidates: &[PathBuf]) -> Result<Clang, CompileError> {
    let missing = |message: String| CompileError::new(ErrorKind::CompilerMissing, message);
    if let Some(path) = named {
        let refused = |why| missing(format!("RTCG_CLANG={}: {why}; unset it, or {REMEDY}", path.display()));
        return Clang::at(&path).map_err(refused);
    }
    let (mut refused, mut seen) = (String::new(), HashSet::new());
    for path in candidates {
        match Clang::at(path) {
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

/// The version of a program that can be used, or why it cannot.
type Answer = Result<Option<u32>, String>;

impl Clang {
    /// The clang at `path`, or why it cannot be used. A file is asked once. Zig's has the back end, and is not asked.
    pub(super) fn at(path: &Path) -> Result<Self, String> {
        static ASKED: LazyLock<Mutex<HashMap<String, Answer>>> = LazyLock::new(Default::default);
        let identity = file_identity(path).ok_or("there is no such file")?;
        let is_zig = path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("zig"));
        let mut asked = ASKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let version = asked.entry(identity).or_insert_with(|| if is_zig { Ok(None) } else { ask(path).map(Some) });
        let first_arguments = if is_zig { vec!["clang".to_owned()] } else { Vec::new() };
        Ok(Self { program: path.to_owned(), first_arguments, version: version.clone()? })
    }

    /// The program and its version as a report names it.
    pub fn description(&self) -> String {
        let output = Command::new(&self.program).args(&self.first_arguments).arg("--version").output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        format!("{} ({})", self.program.display(), said.lines().next().unwrap_or("unknown version").trim())
    }

    /// `clang 20.1.2`, or `clang` where it cannot be asked. A program is asked once.
    pub(crate) fn version_text(&self) -> String {
        static ASKED: LazyLock<Mutex<HashMap<PathBuf, String>>> = LazyLock::new(Default::default);
        let mut asked = ASKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let ask = || {
            let output = Command::new(&self.program).args(&self.first_arguments).arg("--version").output().ok()?;
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let version = said.split_once("clang version ")?.1.split_whitespace().next()?.to_owned();
            Some(format!("clang {version}"))
        };
        asked.entry(self.program.clone()).or_insert_with(|| ask().unwrap_or_else(|| "clang".to_owned())).clone()
    }

    /// Identifies its version without running it.
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

#[cfg(test)]
mod tests {
    use super::super::{WorkFolder, tests::fake_clang};
    use super::*;

    #[test]
    fn the_first_clang_that_is_new_enough_is_chosen() {
        let folder = WorkFolder::new().unwrap();
        let fake = |name: &str, version: &str, targets: &str| fake_clang(&folder, name, version, targets, "exit 1");
        let old = fake("clang-a", "Debian clang version 13.0.1-6", "nvptx64");
        let without = fake("clang-b", "clang version 17.0.6", "x86-64");
        let usable = fake("clang-c", "Ubuntu clang version 14.0.0-1ubuntu1", "nvptx64");
        let broken = fake("clang-d", "gcc version 12.2.0", "nvptx64");
        let all = [&old, &without, &usable, &broken].map(Clone::clone);
        for candidates in [&all[..], &all[..]] {
            let chosen = choose(None, candidates).unwrap();
            assert_eq!((&chosen.program, chosen.version), (&usable, Some(14)));
        }
        let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
        assert_eq!(asked, "clang-a\nclang-b\nclang-c\n", "each is asked once, and none behind the chosen one");

        let error = choose(None, &[old.clone(), old.clone(), without.clone(), broken]).unwrap_err();
        let old_path = old.display();
        let expected = [
            format!("; {old_path}: it is clang 13.0.1-6, and 14 or newer is needed; "),
            format!("{}: it is clang 17.0.6 without the back end for nvptx64; ", without.display()),
            "it is no clang; install one with: pip install \"ziglang>=0.13,<0.18,!=0.16.*\"".to_owned(),
        ];
        for part in expected {
            assert!(error.message.contains(&part), "{}\n{part}", error.message);
        }
        assert_eq!((error.kind, error.message.matches("13.0.1").count()), (ErrorKind::CompilerMissing, 1));
        let nothing = choose(None, &[]).unwrap_err().message;
        assert!(nothing.starts_with("no clang for nvptx64 was found; install one"), "{nothing}");

        let named = choose(Some(old.clone()), &all).unwrap_err().message;
        assert!(named.starts_with(&format!("RTCG_CLANG={old_path}: it is clang 13.0.1-6, and 14")), "{named}");
        let nowhere = choose(Some("/nowhere/clang".into()), &all).unwrap_err().message;
        assert!(nowhere.starts_with("RTCG_CLANG=/nowhere/clang: there is no such file; "), "{nowhere}");
    }

    #[test]
    fn the_program_of_zig_is_not_asked() {
        let folder = WorkFolder::new().unwrap();
        let zig = fake_clang(&folder, "zig", "no version", "", "exit 1");
        let chosen = choose(None, std::slice::from_ref(&zig)).unwrap();
        assert_eq!((chosen.first_arguments.as_slice(), chosen.version), (["clang".to_owned()].as_slice(), None));
        assert!(!folder.path().join("asked").exists());
    }
}
