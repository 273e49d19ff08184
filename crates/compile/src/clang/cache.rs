//! Builds of OpenCL programs in the cache of compiled programs: found again without a compiler.
//!
//! The key has the source, the options and the caller's library; the headers that clang read are compared by content,
//! and places before them in the search path must stay empty. A result is good as long as the file of the clang that
//! made it is there unchanged, or no clang at all is there.

use super::find::candidates;
use crate::cache::{CompileCache, CompileDependencies, ManifestEntry};
use crate::error::CompileError;
use crate::hash::{KeyHasher, fnv1a};
use crate::includes::{FileDependency, FileStamp};
use crate::request::{Artifact, BinaryKind, CachePolicy};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A build as the caller wrote it into bytes.
#[derive(Clone, Debug)]
pub struct OpenClBuild {
    /// In the caller's form.
    pub bytes: Arc<[u8]>,
    /// Warnings.
    pub log: String,
}

/// What a new build depended on.
#[derive(Clone, Default, Debug)]
pub struct OpenClDependencies {
    /// The program of the compiler.
    pub compiler: PathBuf,
    /// Headers that were read, by absolute paths.
    pub headers: Vec<PathBuf>,
    /// Folders in which headers were looked for, in order.
    pub include_folders: Vec<PathBuf>,
}

/// How clang is called, and what becomes of its output.
const DRIVER: u64 = fnv1a(include_bytes!("printf.rs"), fnv1a(include_bytes!("mod.rs"), 0xcbf2_9ce4_8422_2325));

/// The build that `fields` stand for: from the cache, else made and stored. `fields` must hold all that decides about
/// the result but the compiler and the headers.
///
/// # Errors
/// Those of `make`; a cache that cannot be written is none.
pub fn cached_opencl_build(
    fields: &[&[u8]],
    make: impl FnOnce() -> Result<(OpenClBuild, OpenClDependencies), CompileError>,
) -> Result<OpenClBuild, CompileError> {
    let Some(cache) = CompileCache::open_cache(&CachePolicy::Default) else { return Ok(make()?.0) };
    let mut hasher = KeyHasher::default();
    hasher.hash_field(b"OpenCL C");
    hasher.hash_field(&DRIVER.to_le_bytes());
    hasher.hash_list(fields.iter());
    let key = hasher.finish_key();
    let installed: Vec<String> = candidates().iter().filter_map(|path| identity(path)).collect();
    let is_same = |stored: &ManifestEntry| installed.is_empty() || installed.contains(&stored.compiler);
    if let Some(found) = cache.find_artifact(&key, &is_same) {
        return Ok(OpenClBuild { bytes: found.bytes, log: found.log });
    }
    let (build, dependencies) = make()?;
    let files: Option<Vec<_>> = dependencies.headers.iter().map(|path| FileDependency::read(path)).collect();
    if let (Some(compiler), Some(files)) = (identity(&dependencies.compiler), files) {
        let artifact = Artifact {
            bytes: build.bytes.clone(),
            kind: BinaryKind::Ptx,
            log: build.log.clone(),
            lowered_names: Vec::new(),
            from_cache: false,
        };
        let found = CompileDependencies { files, missing: empty_places(&dependencies) };
        cache.store_artifact(&key, compiler, None, found, &artifact);
    }
    Ok(build)
}

/// What a compiler's file is known by, without running it.
fn identity(program: &Path) -> Option<String> {
    let FileStamp { size, modified_ns, .. } = FileStamp::from_metadata(&std::fs::metadata(program).ok()?);
    Some(format!("{} {size} {modified_ns}", program.display()))
}

/// Where headers would be found first, and are not.
fn empty_places(dependencies: &OpenClDependencies) -> Vec<PathBuf> {
    let folders = &dependencies.include_folders;
    let before = |header: &PathBuf| {
        let found = folders.iter().enumerate().find_map(|(at, folder)| Some((at, header.strip_prefix(folder).ok()?)));
        let (at, name) = found.map_or((0, None), |(at, name)| (at, Some(name.to_owned())));
        folders[..at].iter().filter_map(move |folder| Some(folder.join(name.as_ref()?))).collect::<Vec<_>>()
    };
    dependencies.headers.iter().flat_map(before).filter(|path| !path.exists()).collect()
}

/// The prerequisites of a rule of `make`, as clang writes one.
pub(super) fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let list = rule.split_once(": ").map_or("", |(_, list)| list);
    let mut found = Vec::new();
    let mut word = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|next| " #\\".contains(*next)) => word.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => word.extend(chars.next()),
            '\\' if chars.peek().is_some_and(|next| "\r\n".contains(*next)) => {}
            c if c.is_whitespace() => {
                if !word.is_empty() {
                    found.push(PathBuf::from(std::mem::take(&mut word)));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        found.push(word.into());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rules_of_make() {
        let rule = "program.o: program.cl /a/b\\ c.h \\\n  /d/$$e.h\n";
        let expected = ["program.cl", "/a/b c.h", "/d/$e.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), expected);
    }

    #[test]
    fn names_the_places_before_a_header() {
        let dependencies = OpenClDependencies {
            compiler: PathBuf::new(),
            headers: vec!["/nowhere/two/x/y.h".into(), "/elsewhere/z.h".into()],
            include_folders: vec!["/nowhere/one".into(), "/nowhere/two".into()],
        };
        assert_eq!(empty_places(&dependencies), [PathBuf::from("/nowhere/one/x/y.h")]);
    }
}
