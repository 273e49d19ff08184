//! Runs nvcc as a process, for users who name it or use an option that only it supports.

use crate::error::{CompileError, ErrorKind};
use crate::header_shims;
use crate::includes::{FileDependency, FileStamp};
use crate::request::{Artifact, CompileRequest};
use rtcg_disk_cache::TemporaryFolder;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// nvcc's path.
pub(crate) fn find_nvcc(name: &str) -> Result<PathBuf, CompileError> {
    rtcg_cuda_sys::find_nvcc(name).map_err(|e| CompileError::new(ErrorKind::CompilerMissing, e.to_string()))
}

/// The output of `nvcc --version`.
pub(crate) fn nvcc_version(nvcc: &Path) -> Result<String, CompileError> {
    let output = Command::new(nvcc).arg("--version").output();
    let output = output.map_err(|e| {
        CompileError::new(ErrorKind::CompilerMissing, format!("{} could not be started: {e}", nvcc.display()))
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What identifies the compiler in the cache besides its version: the file of the program. Its
/// contents are not read, only its stamp.
pub(crate) fn compiler_identity(program: &Path) -> Option<FileDependency> {
    let stamp = FileStamp::from_metadata(&std::fs::metadata(program).ok()?);
    Some(FileDependency { path: program.to_owned(), checksum: [0; 16], stamp })
}

/// What nvcc gave, with the files it read.
pub(crate) struct NvccOutput {
    pub(crate) artifact: Artifact,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) dir: PathBuf,
}

/// Compiles `text` (the request's source, wrapped) in a directory of its own, which the caller
/// removes.
pub(crate) fn run_nvcc(
    nvcc: &Path,
    request: &CompileRequest,
    text: &str,
    include_dirs: &[PathBuf],
) -> Result<NvccOutput, CompileError> {
    let dir =
        working_dir().map_err(|e| CompileError::new(ErrorKind::Io, format!("no directory to compile in: {e}")))?;
    let result = run_nvcc_in(&dir, nvcc, request, text, include_dirs);
    if result.is_err() && !request.keep {
        let _ = std::fs::remove_dir_all(&dir);
    }
    result.map(|(artifact, files)| NvccOutput { artifact, files, dir })
}

fn run_nvcc_in(
    dir: &Path,
    nvcc: &Path,
    request: &CompileRequest,
    text: &str,
    include_dirs: &[PathBuf],
) -> Result<(Artifact, Vec<PathBuf>), CompileError> {
    let io = |e: std::io::Error| CompileError::new(ErrorKind::Io, format!("{}: {e}", dir.display()));
    let own = dir.join("include");
    std::fs::create_dir_all(&own).map_err(io)?;
    for name in ["pycuda-complex.hpp", "pycuda-complex-impl.hpp", "pycuda-helpers.hpp"] {
        std::fs::write(own.join(name), header_shims::find_shim(name).unwrap_or_default()).map_err(io)?;
    }
    std::fs::write(dir.join(&request.name), text).map_err(io)?;
    let kind = request.target.kind.extension();
    let mut arguments = vec![format!("--{kind}")];
    arguments.extend(request.options.iter().filter(|o| !o.trim().is_empty()).cloned());
    let names_arch =
        |o: &String| ["-arch", "--gpu-architecture", "-gencode", "--generate-code"].iter().any(|a| o.starts_with(a));
    if let Some(arch) = request.target.arch.filter(|_| !request.options.iter().any(names_arch)) {
        arguments.push(format!("-arch={}", arch.real_name()));
    }
    arguments.extend(include_dirs.iter().chain([&own]).map(|d| format!("-I{}", d.display())));
    arguments.extend(["-MD", "-MF", "dependencies"].map(str::to_owned));
    arguments.extend(["-o".to_owned(), format!("output.{kind}"), request.name.clone()]);
    let command: Vec<String> = std::iter::once(nvcc.display().to_string()).chain(arguments.iter().cloned()).collect();
    let output = Command::new(nvcc).args(&arguments).current_dir(dir).output().map_err(|e| {
        CompileError::new(ErrorKind::CompilerMissing, format!("{} could not be started: {e}", nvcc.display()))
    })?;
    let log = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat();
    if !output.status.success() {
        let message = format!("nvcc failed ({})", output.status);
        return Err(CompileError::new(ErrorKind::Source, message).with_compiler_log(
            command,
            log,
            &request.name,
            &request.source,
        ));
    }
    let bytes = std::fs::read(dir.join(format!("output.{kind}"))).map_err(io)?;
    let rule = std::fs::read_to_string(dir.join("dependencies")).unwrap_or_default();
    let files = parse_make_rule(&rule).into_iter().map(|f| dir.join(f)).filter(|f| !f.starts_with(dir)).collect();
    let artifact = Artifact {
        bytes: Arc::from(bytes),
        kind: request.target.kind,
        log,
        lowered_names: Vec::new(),
        from_cache: false,
    };
    Ok((artifact, files))
}

/// The prerequisites of a make rule.
fn parse_make_rule(rule: &str) -> Vec<String> {
    let rule = rule.replace("\\\r\n", " ").replace("\\\n", " ");
    let Some((_, list)) = rule.split_once(": ") else { return Vec::new() };
    let mut files = vec![String::new()];
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&' ') => files.last_mut().into_iter().for_each(|f| f.push(' ')),
            c if c.is_whitespace() => files.push(String::new()),
            c => files.last_mut().into_iter().for_each(|f| f.push(c)),
        }
        if c == '\\' && chars.peek() == Some(&' ') {
            chars.next();
        }
    }
    files.retain(|f| !f.is_empty());
    files
}

/// A new empty directory, which the caller removes.
pub(crate) fn working_dir() -> std::io::Result<PathBuf> {
    TemporaryFolder::new("rtcg").map(TemporaryFolder::keep)
}

#[cfg(test)]
mod tests {
    use super::parse_make_rule;

    #[test]
    fn make_rules_are_read() {
        let rule = "output.cubin : kernel.cu \\\n    /usr/include/a.h \\\n    /with\\ blank/b.h\n";
        assert_eq!(parse_make_rule(rule), ["kernel.cu", "/usr/include/a.h", "/with blank/b.h"]);
        assert!(parse_make_rule("").is_empty());
    }
}
