//! Caches builds of OpenCL programs together with compiled programs; hits need no compiler.
//!
//! The key has the source, the options and the caller's library. The headers that clang read are compared by content,
//! and the places before them in the search path must stay empty. A result is valid as long as the clang that made it
//! is unchanged, or if there is no usable clang.

use super::find::{candidates, file_identity, find_clang};
use crate::cache::{CompileCache, CompileDependencies, ManifestEntry};
use crate::error::CompileError;
use crate::hash::{KeyHasher, fnv1a};
use crate::includes::FileDependency;
use crate::request::{Artifact, BinaryKind, CachePolicy};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A build, as the caller serialised it.
#[derive(Clone, Debug)]
pub struct OpenClBuild {
    /// The build in the caller's format.
    pub bytes: Arc<[u8]>,
    /// Warnings.
    pub log: String,
}

/// The dependencies of a new build.
#[derive(Clone, Default, Debug)]
pub struct OpenClDependencies {
    /// The compiler executable.
    pub compiler: PathBuf,
    /// Headers that were read, by absolute paths.
    pub headers: Vec<PathBuf>,
    /// Folders that were searched for headers, in order.
    pub include_folders: Vec<PathBuf>,
}

/// How clang is called, and what becomes of its output.
const DRIVER: u64 = {
    let sources: [&[u8]; 5] = [
        include_bytes!("mod.rs"),
        include_bytes!("printf.rs"),
        include_bytes!("metadata.rs"),
        include_bytes!("library.rs"),
        include_bytes!("whole_program.rs"),
    ];
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < sources.len() {
        hash = fnv1a(sources[at], hash);
        at += 1;
    }
    hash
};

/// Returns the build for the key `fields` from the cache, or else makes and stores it. `fields` must contain everything
/// that determines the result except for the compiler and the headers.
///
/// # Errors
/// Those of `make`; a cache that cannot be written is not an error.
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
    let installed: Vec<String> = candidates().iter().filter_map(|path| file_identity(path)).collect();
    let is_same = |stored: &ManifestEntry| installed.contains(&stored.compiler);
    let of_any = || if find_clang().is_err() { cache.find_artifact(&key, &|_| true) } else { None };
    if let Some(found) = cache.find_artifact(&key, &is_same).or_else(of_any) {
        return Ok(OpenClBuild { bytes: found.bytes, log: found.log });
    }
    let (build, dependencies) = make()?;
    let files: Option<Vec<_>> = dependencies.headers.iter().map(|path| FileDependency::read(path)).collect();
    if let (Some(compiler), Some(files)) = (file_identity(&dependencies.compiler), files) {
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

/// Where headers would be found first, and are not: in folders that come before in the search path, and beside the
/// headers that may include them.
fn empty_places(dependencies: &OpenClDependencies) -> Vec<PathBuf> {
    let OpenClDependencies { headers, include_folders: folders, .. } = dependencies;
    let beside: BTreeSet<&Path> = headers.iter().filter_map(|header| header.parent()).collect();
    let mut places = BTreeSet::new();
    for header in headers {
        for (at, folder) in folders.iter().enumerate() {
            let Ok(name) = header.strip_prefix(folder) else { continue };
            let before = folders[..at].iter().map(PathBuf::as_path).chain(beside.iter().copied());
            places.extend(before.map(|place| place.join(name)));
        }
    }
    places.into_iter().filter(|place| !place.exists()).collect()
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
        let expected = ["/elsewhere/x/y.h", "/nowhere/one/x/y.h", "/nowhere/two/x/x/y.h"].map(PathBuf::from);
        assert_eq!(empty_places(&dependencies), expected);
    }
}
