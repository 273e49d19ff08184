//! The cache of compiled programs: a level in memory above a level on disk.
//!
//! A lookup has two steps, so that it needs no compiler. The *request key* covers everything known before compiling:
//! source, options, target, search path, and the texts that this crate adds. Under it a *manifest* lists the known
//! results, each with the headers that were read (path and checksum), the places where headers must not appear, and the
//! compiler that was used. The first result whose headers are unchanged and whose compiler is still the installed one
//! is the answer; its binary is in an *entry* of its own.
//!
//! Cached programs are executed, so the cache is private, like that of machine code.
//!
//! Files carry a checksum and the key they belong to, and anything odd makes them misses; [`rtcg_disk_cache`] writes
//! and evicts them. No lock is needed: processes that store the same result write the same bytes, and a manifest update
//! lost to a race costs one compilation.

mod format;
mod limit;
mod status;

use crate::hash::{CacheKey, KeyHasher};
use crate::includes::FileDependency;
use crate::request::{Artifact, CachePolicy};
pub(crate) use format::ManifestEntry;
use format::{ENTRY_MAGIC, MANIFEST_MAGIC, decode_artifact, decode_manifest, encode_artifact, encode_manifest};
use rtcg_disk_cache::{CachePermissions, DiskCache, SizeLimitScope, SweepTrigger, user_cache_folder};
pub use status::{CacheStatus, cache_status};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Results remembered per request; more means that a header keeps changing.
const MAX_MANIFEST_ENTRIES: usize = 8;
/// Programs kept in memory.
const MAX_MEMORY_ENTRIES: usize = 512;

/// A cache directory in use, or none.
pub(crate) struct CompileCache {
    dir: Option<PathBuf>,
}

struct MemoryEntry {
    stored: ManifestEntry,
    artifact: Artifact,
}

type MemoryCache = HashMap<(Option<PathBuf>, CacheKey), Arc<MemoryEntry>>;

static MEMORY_CACHE: Mutex<Option<MemoryCache>> = Mutex::new(None);

fn lock_memory_cache() -> MutexGuard<'static, Option<MemoryCache>> {
    MEMORY_CACHE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Drops the programs cached in memory; those on disk stay.
pub fn clear_memory_cache() {
    *lock_memory_cache() = None;
}

/// The folder of the disk cache; `None` if the disk cache is off.
pub fn cache_directory() -> Option<PathBuf> {
    CompileCache::open_cache(&CachePolicy::Default)?.dir
}

impl CompileCache {
    /// The cache that a policy and the environment ask for; `None` means no caching at all.
    pub(crate) fn open_cache(policy: &CachePolicy) -> Option<Self> {
        if std::env::var_os("PYCUDA_DISABLE_CACHE").is_some() {
            return None;
        }
        match policy {
            CachePolicy::Off => None,
            CachePolicy::Dir(dir) => Some(Self { dir: Some(dir.clone()) }),
            CachePolicy::Default => Some(Self { dir: default_cache_dir() }),
        }
    }

    /// The program stored for a request, if its headers and its compiler are still the same.
    /// `same_compiler` is asked with the recorded compiler.
    pub(crate) fn find_artifact(
        &self,
        key: &CacheKey,
        same_compiler: &dyn Fn(&ManifestEntry) -> bool,
    ) -> Option<Artifact> {
        let memory_key = (self.dir.clone(), *key);
        let known = lock_memory_cache().as_ref().and_then(|m| m.get(&memory_key)).cloned();
        if let Some(known) = known
            && known.stored.is_up_to_date()
            && same_compiler(&known.stored)
        {
            return Some(known.artifact.clone());
        }
        let (stored, mut artifact) = self.find_on_disk(key, same_compiler)?;
        artifact.from_cache = true;
        put_in_memory(memory_key, stored, &artifact);
        Some(artifact)
    }

    fn find_on_disk(
        &self,
        key: &CacheKey,
        same_compiler: &dyn Fn(&ManifestEntry) -> bool,
    ) -> Option<(ManifestEntry, Artifact)> {
        let disk = open_disk_cache(self.dir.as_deref()?);
        let manifest = disk.path_for_key(key, MANIFEST_EXTENSION);
        let manifest = decode_manifest(&disk.read_entry(&manifest, MANIFEST_MAGIC, key)?)?;
        for stored in manifest {
            if !stored.is_up_to_date() || !same_compiler(&stored) {
                continue;
            }
            let path = disk.path_for_key(&stored.entry, ENTRY_EXTENSION);
            let artifact = disk.read_entry(&path, ENTRY_MAGIC, &stored.entry).and_then(|bytes| decode_artifact(&bytes));
            if let Some(artifact) = artifact {
                disk.mark_recently_used(&path);
                return Some((stored, artifact));
            }
        }
        None
    }

    /// Stores a program. Failure is no error: a notice says once that there is no cache.
    pub(crate) fn store_artifact(
        &self,
        key: &CacheKey,
        compiler: String,
        compiler_file: Option<FileDependency>,
        found: CompileDependencies,
        artifact: &Artifact,
    ) {
        let mut hasher = KeyHasher::default();
        hasher.hash_field(key);
        hasher.hash_field(compiler.as_bytes());
        hasher.hash_list(found.files.iter().map(|f| f.checksum));
        hasher.hash_list(found.files.iter().map(|f| f.path.as_os_str().as_encoded_bytes()));
        let stored = ManifestEntry {
            entry: hasher.finish_key(),
            compiler,
            compiler_file,
            files: found.files,
            missing: found.missing,
        };
        // A header that changed while the compiler read it may have been read in either state.
        if !stored.is_up_to_date() {
            return;
        }
        let kept = Artifact { from_cache: true, ..artifact.clone() };
        put_in_memory((self.dir.clone(), *key), stored.clone(), &kept);
        if let Some(dir) = &self.dir
            && let Err(error) = write_manifest_and_artifact(dir, key, stored, artifact)
        {
            warn_cache_failure_once(dir, &error);
        }
    }
}

/// What a compilation depended on.
pub(crate) struct CompileDependencies {
    pub(crate) files: Vec<FileDependency>,
    pub(crate) missing: Vec<PathBuf>,
}

fn put_in_memory(key: (Option<PathBuf>, CacheKey), stored: ManifestEntry, artifact: &Artifact) {
    let mut guard = lock_memory_cache();
    let memory = guard.get_or_insert_with(HashMap::new);
    if memory.len() >= MAX_MEMORY_ENTRIES {
        // Programs of one process that come to this number are rarely asked for again.
        memory.clear();
    }
    memory.insert(key, Arc::new(MemoryEntry { stored, artifact: artifact.clone() }));
}

fn write_manifest_and_artifact(
    dir: &Path,
    key: &CacheKey,
    stored: ManifestEntry,
    artifact: &Artifact,
) -> std::io::Result<()> {
    static SWEEP_TRIGGER: SweepTrigger = SweepTrigger::new();
    let disk = open_disk_cache(dir);
    let path = disk.path_for_key(&stored.entry, ENTRY_EXTENSION);
    let entry_bytes = disk.write_entry(&path, ENTRY_MAGIC, &stored.entry, &encode_artifact(artifact))?;
    let path = disk.path_for_key(key, MANIFEST_EXTENSION);
    let mut all = disk.read_entry(&path, MANIFEST_MAGIC, key).and_then(|b| decode_manifest(&b)).unwrap_or_default();
    all.retain(|other| other.entry != stored.entry);
    all.insert(0, stored);
    all.truncate(MAX_MANIFEST_ENTRIES);
    let manifest_bytes = disk.write_entry(&path, MANIFEST_MAGIC, key, &encode_manifest(&all))?;
    disk.sweep_if_due(entry_bytes + manifest_bytes, &SWEEP_TRIGGER);
    Ok(())
}

fn warn_cache_failure_once(dir: &Path, error: &std::io::Error) {
    static HAS_WARNED_OF_CACHE_FAILURE: AtomicBool = AtomicBool::new(false);
    if !HAS_WARNED_OF_CACHE_FAILURE.swap(true, Ordering::Relaxed) {
        eprintln!("rtcg: compiled programs cannot be cached in {}: {error}", dir.display());
    }
}

/// The files in `dir`, in a folder of their version; other versions count against the limit, other caches do not.
fn open_disk_cache(dir: &Path) -> DiskCache {
    DiskCache {
        folder: dir.join(format!("rtcg-{}", format::FORMAT_VERSION)),
        limit: limit::cache_limit_bytes(),
        access: CachePermissions::of_this_user(),
        size_scope: SizeLimitScope::AllVersions("rtcg-"),
    }
}

const MANIFEST_EXTENSION: &str = "manifest";
const ENTRY_EXTENSION: &str = "entry";

/// `PYCUDA_CACHE_DIR`, else the user's cache directory; `None` when neither is known.
fn default_cache_dir() -> Option<PathBuf> {
    let named = std::env::var_os("PYCUDA_CACHE_DIR").filter(|v| !v.is_empty());
    named.map(PathBuf::from).or_else(|| user_cache_folder("rtcg"))
}
