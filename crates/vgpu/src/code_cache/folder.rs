//! Where the cache lies, how much it may hold, and the user whose it is.

use rtcg_disk_cache::{CachePermissions, DiskCache, FolderState, SizeLimitScope, user_cache_folder};
use rtcg_vgpu_abi::env;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the names of the cache's folders in the user's begin with; a version follows.
const FOLDER_PREFIX: &str = "rtcg-code-";
/// The cache's own folder.
pub(super) const FOLDER_NAME: &str = "rtcg-code-3";
/// What NVIDIA's driver keeps.
const DEFAULT_LIMIT: u64 = 1 << 30;

/// The cache that the environment asks for, which is read once: in `CUDA_CACHE_PATH`, else in the folder of the
/// compiler's cache, up to `CUDA_CACHE_MAXSIZE` bytes.
pub(super) fn cache_from_environment() -> Option<&'static DiskCache> {
    static DISK_CACHE: OnceLock<Option<DiskCache>> = OnceLock::new();
    DISK_CACHE.get_or_init(|| Some(private_disk_cache(cache_folder()?, cache_limit_bytes()))).as_ref()
}

fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    let disabled = variable("CUDA_CACHE_DISABLE").is_some_and(|v| v != "0");
    // Who looks at the compiler wants it to run.
    let watched =
        ["RTCG_DUMP_CLIF", "RTCG_DUMP_ASM", "RTCG_VERIFY_JIT"].iter().any(|name| std::env::var_os(name).is_some());
    if disabled || watched || std::env::var_os("PYCUDA_DISABLE_CACHE").is_some() {
        return None;
    }
    let named = variable("CUDA_CACHE_PATH").or_else(|| variable("PYCUDA_CACHE_DIR"));
    Some(named.map(PathBuf::from).or_else(|| user_cache_folder("rtcg"))?.join(FOLDER_NAME))
}

fn cache_limit_bytes() -> u64 {
    env::env_setting("CUDA_CACHE_MAXSIZE", "a number of bytes", |text| text.parse().ok()).unwrap_or(DEFAULT_LIMIT)
}

/// A cache of code that this user alone may write, since it is executed.
pub(super) fn private_disk_cache(folder: PathBuf, limit: u64) -> DiskCache {
    DiskCache {
        folder,
        limit,
        access: CachePermissions::of_this_user(),
        size_scope: SizeLimitScope::AllVersions(FOLDER_PREFIX),
    }
}

/// Whether the folder is there and may be used; of one that may not the user is told once.
pub(super) fn is_usable(cache: &DiskCache) -> bool {
    static HAS_WARNED_UNTRUSTED: AtomicBool = AtomicBool::new(false);
    let state = cache.folder_state();
    if state == FolderState::NotTrusted && !HAS_WARNED_UNTRUSTED.swap(true, Ordering::Relaxed) {
        let folder = cache.folder.display();
        eprintln!(
            "rtcg: machine code is not kept in {folder}: it is not a folder, others may write there, or it is another user's"
        );
    }
    state == FolderState::Good
}
