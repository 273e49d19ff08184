//! The cache of compiled programs: a level in memory above a level on disk.
//!
//! A lookup has two steps, so that it needs no compiler. The *request key* covers everything known
//! before compiling: source, options, target, search path, the texts this crate adds. Under it a
//! *manifest* lists the results known, each with the headers that were read (path and checksum),
//! the places where headers must not appear, and the compiler that was used. The first result
//! whose headers are unchanged and whose compiler is still the one installed is the answer; its
//! binary lies in an *entry* of its own.
//!
//! Files are written under a temporary name and renamed, carry a checksum and the key they belong
//! to, and are misses when anything about them is odd. No lock is needed: processes that store the
//! same result write the same bytes, and a manifest update lost to a race costs one compilation.

mod evict;
mod format;
mod status;

use crate::hash::{Key, KeyHasher};
use crate::includes::Dependency;
use crate::request::{Artifact, CachePolicy};
pub(crate) use format::Stored;
use format::{decode_artifact, decode_manifest, encode_artifact, encode_manifest};
pub use status::{CacheStatus, cache_status};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

/// Results remembered per request; more means that a header keeps changing.
const VARIANTS: usize = 8;
/// Programs kept in memory.
const MEMORY_ENTRIES: usize = 512;

/// A cache directory in use, or none.
pub(crate) struct Cache {
    dir: Option<PathBuf>,
}

struct InMemory {
    stored: Stored,
    artifact: Artifact,
}

type Memory = HashMap<(Option<PathBuf>, Key), Arc<InMemory>>;

static MEMORY: Mutex<Option<Memory>> = Mutex::new(None);

fn memory() -> MutexGuard<'static, Option<Memory>> {
    MEMORY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Forgets the programs kept in memory; those on disk stay.
pub fn clear_memory_cache() {
    *memory() = None;
}

/// The folder in which compiled programs are kept; `None` when nothing is kept on disk.
pub fn cache_directory() -> Option<PathBuf> {
    Cache::open(&CachePolicy::Default)?.dir
}

impl Cache {
    /// The cache that a policy and the environment ask for; `None` means no caching at all.
    pub(crate) fn open(policy: &CachePolicy) -> Option<Self> {
        if std::env::var_os("PYCUDA_DISABLE_CACHE").is_some() {
            return None;
        }
        match policy {
            CachePolicy::Off => None,
            CachePolicy::Dir(dir) => Some(Self { dir: Some(dir.clone()) }),
            CachePolicy::Default => Some(Self { dir: default_dir() }),
        }
    }

    /// The program stored for a request, if its headers and its compiler are still the same.
    /// `same_compiler` is asked with the recorded compiler.
    pub(crate) fn find(&self, key: &Key, same_compiler: &dyn Fn(&Stored) -> bool) -> Option<Artifact> {
        let memory_key = (self.dir.clone(), *key);
        let known = memory().as_ref().and_then(|m| m.get(&memory_key)).cloned();
        if let Some(known) = known
            && known.stored.is_current()
            && same_compiler(&known.stored)
        {
            return Some(known.artifact.clone());
        }
        let (stored, mut artifact) = self.find_on_disk(key, same_compiler)?;
        artifact.from_cache = true;
        remember(memory_key, stored, &artifact);
        Some(artifact)
    }

    fn find_on_disk(&self, key: &Key, same_compiler: &dyn Fn(&Stored) -> bool) -> Option<(Stored, Artifact)> {
        let dir = self.dir.as_deref()?;
        let manifest = decode_manifest(&std::fs::read(manifest_path(dir, key)).ok()?, key)?;
        for stored in manifest {
            if !stored.is_current() || !same_compiler(&stored) {
                continue;
            }
            let path = entry_path(dir, &stored.entry);
            let artifact = std::fs::read(&path).ok().and_then(|bytes| decode_artifact(&bytes, &stored.entry));
            if let Some(artifact) = artifact {
                touch(&path);
                return Some((stored, artifact));
            }
        }
        None
    }

    /// Stores a program. Failure is no error: the user is told once that there is no cache.
    pub(crate) fn store(
        &self,
        key: &Key,
        compiler: String,
        compiler_file: Option<Dependency>,
        found: Found,
        artifact: &Artifact,
    ) {
        let mut hasher = KeyHasher::default();
        hasher.field(key);
        hasher.field(compiler.as_bytes());
        hasher.list(found.files.iter().map(|f| f.checksum));
        hasher.list(found.files.iter().map(|f| f.path.as_os_str().as_encoded_bytes()));
        let stored =
            Stored { entry: hasher.finish(), compiler, compiler_file, files: found.files, missing: found.missing };
        // A header that changed while the compiler read it may have been read in either state.
        if !stored.is_current() {
            return;
        }
        let kept = Artifact { from_cache: true, ..artifact.clone() };
        remember((self.dir.clone(), *key), stored.clone(), &kept);
        if let Some(dir) = &self.dir
            && let Err(error) = write_both(dir, key, stored, artifact)
        {
            warn_once(dir, &error);
        }
    }
}

/// What a compilation depended on.
pub(crate) struct Found {
    pub(crate) files: Vec<Dependency>,
    pub(crate) missing: Vec<PathBuf>,
}

fn remember(key: (Option<PathBuf>, Key), stored: Stored, artifact: &Artifact) {
    let mut guard = memory();
    let memory = guard.get_or_insert_with(HashMap::new);
    if memory.len() >= MEMORY_ENTRIES {
        // Programs of one process that come to this number are rarely asked for again.
        memory.clear();
    }
    memory.insert(key, Arc::new(InMemory { stored, artifact: artifact.clone() }));
}

fn write_both(dir: &Path, key: &Key, stored: Stored, artifact: &Artifact) -> std::io::Result<()> {
    let entry = encode_artifact(artifact, &stored.entry);
    write_file(&entry_path(dir, &stored.entry), &entry)?;
    let path = manifest_path(dir, key);
    let mut all = std::fs::read(&path).ok().and_then(|b| decode_manifest(&b, key)).unwrap_or_default();
    all.retain(|other| other.entry != stored.entry);
    all.insert(0, stored);
    all.truncate(VARIANTS);
    let manifest = encode_manifest(&all, key);
    write_file(&path, &manifest)?;
    evict::after_store(dir, (entry.len() + manifest.len()) as u64);
    Ok(())
}

/// Puts a file in place whole or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_nanos();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = dir.join(format!(".{}-{count}-{now}.tmp", std::process::id()));
    let result = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

/// Marks an entry as used; its modification time is the clock of the eviction. Only once an hour,
/// because a write on each hit would cost more than the hit.
fn touch(path: &Path) {
    let old = Duration::from_secs(3600);
    let Ok(modified) = std::fs::metadata(path).and_then(|m| m.modified()) else { return };
    if modified.elapsed().is_ok_and(|age| age > old)
        && let Ok(file) = std::fs::File::options().write(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn warn_once(dir: &Path, error: &std::io::Error) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        eprintln!("rtcg: compiled programs cannot be cached in {}: {error}", dir.display());
    }
}

fn sharded(dir: &Path, key: &Key, extension: &str) -> PathBuf {
    let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
    dir.join(format!("rtcg-{}", format::VERSION)).join(&hex[..2]).join(format!("{}.{extension}", &hex[2..]))
}

fn manifest_path(dir: &Path, key: &Key) -> PathBuf {
    sharded(dir, key, "manifest")
}

fn entry_path(dir: &Path, key: &Key) -> PathBuf {
    sharded(dir, key, "entry")
}

/// `PYCUDA_CACHE_DIR`, else the user's cache directory; `None` when neither is known.
fn default_dir() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(dir) = variable("PYCUDA_CACHE_DIR") {
        return Some(dir);
    }
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").or_else(home)
    } else if cfg!(target_os = "macos") {
        home().map(|h| h.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| home().map(|h| h.join(".cache")))
    };
    base.map(|b| b.join("pycuda"))
}
