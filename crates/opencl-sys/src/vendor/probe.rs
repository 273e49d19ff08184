//! Probes a vendor's library in a process of its own, once, and caches the outcome.
//!
//! The outcome is a text: the lines that the program in that process (`process.rs`) wrote, and how it ended. It is
//! cached by the library's path, size and time of modification. What the dynamic linker refuses is probed again each
//! time, which costs little: what it misses may come.

use super::{Vendor, VendorError, VendorErrorKind, load, process};
use crate::Platform;
use rtcg_disk_cache::{CachePermissions, DiskCache, SizeLimitScope, user_cache_folder};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMAT: &str = "rtcg-opencl-vendors-1";

/// How libraries are probed.
#[derive(Clone, Debug)]
pub struct ProbeSettings {
    /// When a probe is given up.
    pub limit: Duration,
    /// The folder of outcomes; none are kept without one.
    pub folder: Option<PathBuf>,
}

impl Default for ProbeSettings {
    /// 10 s, for slow disks, and the folder of the compiler's cache (`PYCUDA_CACHE_DIR`, else the user's caches; none
    /// with `PYCUDA_DISABLE_CACHE`).
    fn default() -> Self {
        let named = std::env::var_os("PYCUDA_CACHE_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match std::env::var_os("PYCUDA_DISABLE_CACHE") {
            Some(_) => None,
            None => named.or_else(|| user_cache_folder("rtcg")),
        };
        Self { limit: Duration::from_secs(10), folder: folder.map(|folder| folder.join(FORMAT)) }
    }
}

/// A library that was opened, and listed its platforms, without harm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    vendor: Vendor,
    suffixes: Vec<String>,
}

impl Probe {
    /// `CL_PLATFORM_ICD_SUFFIX_KHR` of each platform, by which a library is known before it is opened here.
    pub fn suffixes(&self) -> &[String] {
        &self.suffixes
    }

    /// Opens the library in this process, where it stays; its platforms.
    ///
    /// # Errors
    /// When it is another library by now, or one that does other things here.
    pub fn open(&self) -> Result<Vec<Platform>, VendorError> {
        load::platforms(&self.vendor)
    }
}

pub(super) fn probe(vendor: &Vendor, settings: &ProbeSettings) -> Result<Probe, VendorError> {
    let failed = |kind, cached_in| VendorError { vendor: vendor.clone(), kind, cached_in };
    let entry = settings.folder.as_deref().and_then(|folder| Entry::from_library(&vendor.library, folder));
    if let Some(text) = entry.as_ref().and_then(Entry::read) {
        return judge(vendor, &text).map_err(|kind| failed(kind, entry.map(|entry| entry.file)));
    }
    let text = process::run(&vendor.library, settings.limit)
        .map_err(|reason| failed(VendorErrorKind::NotProbed(reason), None))?;
    let judged = judge(vendor, &text);
    let is_kept = !matches!(judged, Err(VendorErrorKind::NotLoaded(_)));
    let file = entry.filter(|entry| is_kept && entry.write(&text)).map(|entry| entry.file);
    judged.map_err(|kind| failed(kind, file))
}

/// What the text of an outcome means.
fn judge(vendor: &Vendor, text: &str) -> Result<Probe, VendorErrorKind> {
    if let Some(reason) = text.strip_prefix("refused ") {
        return Err(VendorErrorKind::NotLoaded(reason.trim_end().to_owned()));
    }
    let has = |wanted: &str| text.lines().any(|line| line == wanted);
    if !has("done") {
        let step = match (has("opened"), has("protocol")) {
            (false, _) => "being loaded",
            (_, false) => "being asked for its list of platforms",
            _ => "listing its platforms",
        };
        let (step, last) = (step.to_owned(), text.lines().last().unwrap_or_default());
        return Err(match last.strip_prefix("hung ") {
            Some(ms) => VendorErrorKind::Hung { limit: Duration::from_millis(ms.parse().unwrap_or_default()), step },
            None => VendorErrorKind::Crashed { how: last.trim_start_matches("ended ").to_owned(), step },
        });
    }
    if !has("protocol") {
        return Err(VendorErrorKind::NoProtocol);
    }
    let suffixes = text.lines().filter_map(|line| line.strip_prefix("platform ")).map(str::to_owned).collect();
    Ok(Probe { vendor: vendor.clone(), suffixes })
}

/// Where the outcome for a library, as it is now, is kept.
struct Entry {
    cache: DiskCache,
    file: PathBuf,
    /// The first lines of the file, which say what the rest is about.
    head: String,
}

impl Entry {
    fn from_library(library: &Path, folder: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(library).ok()?;
        let time = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        let head = format!("{FORMAT}\n{}\n{} {time}\n", library.display(), metadata.len());
        let cache = DiskCache {
            folder: folder.to_owned(),
            // The files are too few and too small to be counted.
            limit: u64::MAX,
            // Nobody else may say that a library is harmless.
            access: CachePermissions::of_this_user(),
            size_scope: SizeLimitScope::OwnDirectory,
        };
        let file = cache.path_for_key(&Sha256::digest(&head).into(), "txt");
        Some(Self { cache, file, head })
    }

    fn read(&self) -> Option<String> {
        let text = String::from_utf8(self.cache.read_file(&self.file)?).ok()?;
        Some(text.strip_prefix(&self.head)?.strip_suffix("end\n")?.to_owned())
    }

    fn write(&self, text: &str) -> bool {
        self.cache.write_file(&self.file, &[self.head.as_bytes(), text.as_bytes(), b"end\n"]).is_ok()
    }
}
