//! The cache of machine code on disk, shared by processes, like the compute cache of NVIDIA's driver.
//!
//! Establishes: a file that is invalid in any way (truncated, damaged, of another user, writable by others) is a
//! miss, and is replaced; a folder that cannot be written counts as none. [`rtcg_disk_cache`] writes and evicts
//! files. Every program that was built from the same sources shares entries; processes that cache the same code
//! write the same bytes. Other users must not write code that is executed here, so the cache is private.
//!
//! Only programs that enable the cache have it ([`enable_code_cache`]): the drivers do.

#[cfg(test)]
mod fingerprint;
mod folder;
mod generator_version;

use rtcg_disk_cache::{DiskCache, FileMagic, SweepTrigger};
use rtcg_vgpu_jit::cache_key::{CodeKey, CodeStore, ModuleCodeCache};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// How files begin: what they are, in which form. Changes with the form of what is kept, as does
/// [`folder::FOLDER_NAME`]; the version of the code generator is part of every key anyway.
const FILE_MAGIC: &FileMagic = b"rtcgJIT3";

static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// Lets this process keep machine code on disk and take it from there, if the environment does not forbid it.
pub fn enable_code_cache() {
    if !IS_ENABLED.load(Ordering::Relaxed) {
        IS_ENABLED.store(true, Ordering::Relaxed);
    }
}

/// The folder of the cache; `None` when the environment wants none, or no folder is known. The environment is read once.
pub fn directory() -> Option<PathBuf> {
    folder::cache_from_environment().map(|cache| cache.folder.clone())
}

/// How code of a module whose text has this key is kept, if at all.
pub(crate) fn module_cache(text: impl FnOnce() -> CodeKey) -> Option<ModuleCodeCache> {
    static GENERATOR_KEY: OnceLock<CodeKey> = OnceLock::new();
    if !IS_ENABLED.load(Ordering::Relaxed) {
        return None;
    }
    let cache = folder::cache_from_environment()?;
    let generator = *GENERATOR_KEY.get_or_init(generator_version::generator_key);
    Some(ModuleCodeCache { store: Arc::new(DiskCodeStore(cache.clone())), text: text(), generator })
}

/// A file for each piece of machine code.
#[derive(Debug)]
struct DiskCodeStore(DiskCache);

impl DiskCodeStore {
    fn code_file_path(&self, key: &CodeKey) -> PathBuf {
        self.0.path_for_key(key, "code")
    }
}

impl CodeStore for DiskCodeStore {
    fn get_code(&self, key: &CodeKey) -> Option<Vec<u8>> {
        if !folder::is_usable(&self.0) {
            return None;
        }
        let path = self.code_file_path(key);
        let bytes = self.0.read_entry(&path, FILE_MAGIC, key)?;
        self.0.mark_recently_used(&path);
        Some(bytes)
    }

    fn put_code(&self, key: &CodeKey, bytes: &[u8]) {
        static SWEEP_TRIGGER: SweepTrigger = SweepTrigger::new();
        if let Ok(size) = self.0.write_entry(&self.code_file_path(key), FILE_MAGIC, key, bytes) {
            self.0.sweep_if_due(size, &SWEEP_TRIGGER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    /// A folder that is removed when dropped.
    struct TempFolder(PathBuf);

    impl TempFolder {
        fn new(name: &str) -> TempFolder {
            let path = std::env::temp_dir().join(format!("rtcg-code-test-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).unwrap();
            TempFolder(path)
        }
        fn code_store(&self) -> DiskCodeStore {
            DiskCodeStore(folder::private_disk_cache(self.0.join(folder::FOLDER_NAME), 1 << 20))
        }
    }

    impl Drop for TempFolder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const TEST_CODE_KEY: CodeKey = [7; 32];

    #[test]
    fn stored_code_is_found() {
        let f = TempFolder::new("found");
        let disk = f.code_store();
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None);
        disk.put_code(&TEST_CODE_KEY, b"code");
        assert_eq!(disk.get_code(&TEST_CODE_KEY).as_deref(), Some(&b"code"[..]));
        assert_eq!(disk.get_code(&[8; 32]), None);
        disk.put_code(&TEST_CODE_KEY, b"other code");
        assert_eq!(disk.get_code(&TEST_CODE_KEY).as_deref(), Some(&b"other code"[..]));
        let mode = std::fs::metadata(disk.code_file_path(&TEST_CODE_KEY)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::metadata(&disk.0.folder).unwrap().permissions().mode() & 0o777, 0o700);
        let left = std::fs::read_dir(disk.code_file_path(&TEST_CODE_KEY).parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "temporary files are left");
    }

    #[test]
    fn corruption_is_a_miss_and_is_repaired() {
        let f = TempFolder::new("damage");
        let disk = f.code_store();
        disk.put_code(&TEST_CODE_KEY, b"some machine code");
        let good = std::fs::read(disk.code_file_path(&TEST_CODE_KEY)).unwrap();
        for len in 0..good.len() {
            std::fs::write(disk.code_file_path(&TEST_CODE_KEY), &good[..len]).unwrap();
            assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "cut to {len}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(disk.code_file_path(&TEST_CODE_KEY), &bad).unwrap();
            assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "byte {at}");
        }
        std::fs::write(disk.code_file_path(&TEST_CODE_KEY), [&good[..], b"\0"].concat()).unwrap();
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "a byte more");
        disk.put_code(&TEST_CODE_KEY, b"some machine code");
        assert_eq!(disk.get_code(&TEST_CODE_KEY).as_deref(), Some(&b"some machine code"[..]));
        let other = [9; 32];
        std::fs::create_dir_all(disk.code_file_path(&other).parent().unwrap()).unwrap();
        std::fs::copy(disk.code_file_path(&TEST_CODE_KEY), disk.code_file_path(&other)).unwrap();
        assert_eq!(disk.get_code(&other), None, "code of another key");
    }

    #[test]
    fn code_that_others_can_write_is_not_read() {
        let f = TempFolder::new("others");
        let disk = f.code_store();
        disk.put_code(&TEST_CODE_KEY, b"code");
        let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        mode(&disk.code_file_path(&TEST_CODE_KEY), 0o666);
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "a file that others can write");
        mode(&disk.code_file_path(&TEST_CODE_KEY), 0o600);
        assert!(disk.get_code(&TEST_CODE_KEY).is_some());
        mode(&disk.0.folder, 0o777);
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "a folder that others can write");
        disk.put_code(&[9; 32], b"code");
        assert!(!disk.code_file_path(&[9; 32]).exists(), "code is kept in a folder that others can write");
        mode(&disk.0.folder, 0o700);
        assert!(disk.get_code(&TEST_CODE_KEY).is_some());
        let aside = f.0.join("aside");
        std::fs::rename(disk.code_file_path(&TEST_CODE_KEY), &aside).unwrap();
        std::os::unix::fs::symlink(&aside, disk.code_file_path(&TEST_CODE_KEY)).unwrap();
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None, "a link");
    }

    #[test]
    fn a_folder_that_cannot_be_created_disables_the_cache() {
        let f = TempFolder::new("none");
        std::fs::write(f.0.join(folder::FOLDER_NAME), b"a file").unwrap();
        let disk = f.code_store();
        disk.put_code(&TEST_CODE_KEY, b"code");
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None);
    }

    #[test]
    fn code_larger_than_the_cache_is_not_cached() {
        let f = TempFolder::new("large");
        let disk = DiskCodeStore(DiskCache { limit: 100, ..f.code_store().0 });
        disk.put_code(&TEST_CODE_KEY, &[0; 100]);
        assert_eq!(disk.get_code(&TEST_CODE_KEY), None);
    }
}
