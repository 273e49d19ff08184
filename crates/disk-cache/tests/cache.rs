//! Files that are put in place whole, go when they are old, and are not read when others could have written them.

use rtcg_disk_cache::{
    CachePermissions, DiskCache, FileKey, FolderState, SizeLimitScope, SweepTrigger, TemporaryFolder,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder that is removed when dropped.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rtcg-disk-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn disk_cache(&self) -> DiskCache {
        DiskCache {
            folder: self.0.join("own-1"),
            limit: 500,
            access: CachePermissions::Shared,
            size_scope: SizeLimitScope::OwnDirectory,
        }
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const KEY: FileKey = [7; 32];

fn write_file_with_age(path: PathBuf, bytes: usize, age_s: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, vec![0; bytes]).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
}

fn sorted_file_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn written_files_are_read_back_and_no_temporary_is_left() {
    let folder = TempFolder::new("written");
    let cache = folder.disk_cache();
    let path = cache.path_for_key(&KEY, "code");
    assert_eq!((cache.folder_state(), cache.read_file(&path)), (FolderState::Missing, None));
    cache.write_file(&path, &[b"one, ", b"two"]).unwrap();
    assert_eq!((cache.folder_state(), cache.read_file(&path).as_deref()), (FolderState::Good, Some(&b"one, two"[..])));
    cache.write_file(&path, &[b"three"]).unwrap();
    assert_eq!(cache.read_file(&path).as_deref(), Some(&b"three"[..]));
    assert_eq!(sorted_file_names(&cache.folder), ["07"]);
    assert_eq!(sorted_file_names(&cache.folder.join("07")), [format!("{}.code", "07".repeat(31))]);
    assert_eq!(cache.count_files_and_bytes("code"), (1, 5));
    assert_eq!(cache.count_files_and_bytes("other"), (0, 5));
}

#[test]
fn entries_that_are_damaged_or_of_another_kind_are_none() {
    let folder = TempFolder::new("entries");
    let cache = folder.disk_cache();
    let path = cache.path_for_key(&KEY, "code");
    let read = || cache.read_entry(&path, b"rtcgTEST", &KEY);
    let n_bytes = cache.write_entry(&path, b"rtcgTEST", &KEY, b"payload").unwrap();
    assert_eq!((read().as_deref(), n_bytes), (Some(&b"payload"[..]), 8 + 32 + 16 + 7));
    assert_eq!(cache.read_entry(&path, b"rtcgTES2", &KEY), None, "another kind");
    assert_eq!(cache.read_entry(&path, b"rtcgTEST", &[8; 32]), None, "another key");
    let good = std::fs::read(&path).unwrap();
    for length in 0..good.len() {
        std::fs::write(&path, &good[..length]).unwrap();
        assert_eq!(read(), None, "cut to {length}");
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        std::fs::write(&path, &bad).unwrap();
        assert_eq!(read(), None, "byte {at}");
    }
    std::fs::write(&path, [&good[..], b"\0"].concat()).unwrap();
    assert_eq!(read(), None, "a byte more");
    assert_eq!(cache.write_entry(&path, b"rtcgTEST", &KEY, &[0; 500]).unwrap(), 0, "larger than the cache");
    cache.write_entry(&path, b"rtcgTEST", &KEY, b"").unwrap();
    assert_eq!(read().as_deref(), Some(&b""[..]));
}

#[test]
fn failed_writes_leave_no_file() {
    let folder = TempFolder::new("fails");
    let cache = folder.disk_cache();
    let path = cache.path_for_key(&KEY, "code");
    std::fs::create_dir_all(path.join("in the way")).unwrap();
    cache.write_file(&path, &[b"bytes"]).unwrap_err();
    assert_eq!(sorted_file_names(path.parent().unwrap()).len(), 1);
}

#[test]
fn least_recently_used_files_are_evicted_first() {
    let folder = TempFolder::new("oldest");
    let cache = folder.disk_cache();
    let shard = cache.folder.join("ab");
    (0..10).for_each(|n| write_file_with_age(shard.join(format!("{n}.code")), 100, n * 60));
    write_file_with_age(shard.join(".old.tmp"), 100, 7200);
    write_file_with_age(shard.join(".new.tmp"), 100, 60);
    write_file_with_age(folder.0.join("other-1/ab/foreign.code"), 5000, 7200);
    cache.sweep_if_due(1, &SweepTrigger::new());
    assert_eq!(sorted_file_names(&shard), [".new.tmp", "0.code", "1.code", "2.code", "3.code"]);
    assert_eq!(sorted_file_names(&folder.0.join("other-1/ab")), ["foreign.code"]);
}

#[test]
fn size_limit_covers_other_versions_but_not_other_caches() {
    let folder = TempFolder::new("siblings");
    let cache = DiskCache { size_scope: SizeLimitScope::AllVersions("own-"), ..folder.disk_cache() };
    write_file_with_age(folder.0.join("own-0/ab/old.code"), 400, 600);
    write_file_with_age(folder.0.join("own-12/cd/new.code"), 400, 60);
    write_file_with_age(folder.0.join("own-code-1/cd/file"), 5000, 7200);
    write_file_with_age(folder.0.join("foreign/cd/file"), 5000, 7200);
    write_file_with_age(folder.0.join("own-file"), 5000, 7200);
    assert_eq!(cache.count_files_and_bytes("code"), (2, 800));
    let other = DiskCache { size_scope: SizeLimitScope::AllVersions("own-code-"), ..folder.disk_cache() };
    assert_eq!(other.count_files_and_bytes("code"), (0, 5000));
    cache.sweep_if_due(1, &SweepTrigger::new());
    assert_eq!(cache.count_files_and_bytes("code"), (1, 400));
    assert!(folder.0.join("own-12/cd/new.code").exists() && folder.0.join("own-code-1/cd/file").exists());
    assert!(folder.0.join("foreign/cd/file").exists() && folder.0.join("own-file").exists());
    assert!(folder.0.join("own-last-scan").exists());
}

#[test]
fn sweep_runs_after_enough_bytes_or_an_hour() {
    let folder = TempFolder::new("pace");
    let cache = folder.disk_cache();
    let (shard, pace) = (cache.folder.join("ab"), SweepTrigger::new());
    let fill = || (0..6).for_each(|n| write_file_with_age(shard.join(format!("{n}.code")), 100, n));
    let is_swept = || sorted_file_names(&shard).len() < 6;
    fill();
    cache.sweep_if_due(1, &pace);
    assert!(is_swept(), "nobody has counted yet");
    fill();
    cache.sweep_if_due(1, &pace);
    assert!(!is_swept(), "counted just now");
    cache.sweep_if_due(30, &pace);
    assert!(is_swept(), "a sixteenth of the limit was stored");
    fill();
    write_file_with_age(cache.folder.join("last-scan"), 0, 3700);
    cache.sweep_if_due(1, &pace);
    assert!(is_swept(), "counted an hour ago");
}

#[test]
fn recent_use_is_marked_once_an_hour() {
    let folder = TempFolder::new("marked");
    let cache = folder.disk_cache();
    let path = cache.path_for_key(&KEY, "code");
    for (age_s, is_marked) in [(3000, false), (4000, true)] {
        write_file_with_age(path.clone(), 10, age_s);
        cache.mark_recently_used(&path);
        let age = std::fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap_or_default();
        assert_eq!(age < Duration::from_secs(1000), is_marked, "{age_s} s old");
    }
    cache.mark_recently_used(&cache.path_for_key(&[8; 32], "code"));
}

#[cfg(unix)]
#[test]
fn files_of_a_private_cache_must_not_be_writable_by_others() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let folder = TempFolder::new("private");
    let user = std::fs::metadata(&folder.0).unwrap().uid();
    let cache = DiskCache { access: CachePermissions::Private { user }, ..folder.disk_cache() };
    let path = cache.path_for_key(&KEY, "code");
    let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let mode_of = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    cache.write_file(&path, &[b"code"]).unwrap();
    assert_eq!([mode_of(&cache.folder), mode_of(path.parent().unwrap()), mode_of(&path)], [0o700, 0o700, 0o600]);
    assert!(cache.read_file(&path).is_some());
    mode(&path, 0o620);
    assert_eq!(cache.read_file(&path), None, "a file that others can write");
    mode(&path, 0o600);
    mode(&cache.folder, 0o770);
    assert_eq!(
        (cache.folder_state(), cache.read_file(&path)),
        (FolderState::NotTrusted, None),
        "a folder that others can write"
    );
    cache.write_file(&path, &[b"code"]).unwrap_err();
    mode(&cache.folder, 0o700);
    // What the system's user made may be used by all; another user's may not.
    let others = DiskCache { access: CachePermissions::Private { user: user + 1 }, ..cache.clone() };
    let state = if user == 0 { FolderState::Good } else { FolderState::NotTrusted };
    assert_eq!((others.folder_state(), others.read_file(&path).is_some()), (state, user == 0));
    if user == 0 {
        std::os::unix::fs::chown(&cache.folder, Some(12_345), None).unwrap();
        assert_eq!((cache.folder_state(), cache.read_file(&path)), (FolderState::NotTrusted, None), "another user's");
        std::os::unix::fs::chown(&cache.folder, Some(0), None).unwrap();
    }
    std::fs::rename(&path, folder.0.join("aside")).unwrap();
    symlink(folder.0.join("aside"), &path).unwrap();
    assert_eq!(cache.read_file(&path), None, "a link");
    let linked = DiskCache { folder: folder.0.join("link"), ..cache.clone() };
    symlink(&cache.folder, &linked.folder).unwrap();
    assert_eq!(linked.folder_state(), FolderState::NotTrusted, "a link to a folder");
    assert_eq!(DiskCache { access: CachePermissions::Shared, ..linked }.folder_state(), FolderState::Good);
}

/// Somebody else who knows the name of the next folder makes it, or a link, before: it is not used.
#[cfg(unix)]
#[test]
fn temporary_folders_are_new_and_private() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let prefix = format!("rtcg-temporary-test-{}", std::process::id());
    let first = TemporaryFolder::new(&prefix).unwrap();
    let name = first.path().to_str().unwrap();
    let count: u64 = name.rsplit('-').next().unwrap().parse().unwrap();
    let next =
        |by: u64| PathBuf::from(format!("{}{}", name.trim_end_matches(|c: char| c.is_ascii_digit()), count + by));
    for by in 1..20 {
        if by % 2 == 0 {
            std::fs::create_dir(next(by)).unwrap()
        } else {
            symlink(std::env::temp_dir(), next(by)).unwrap()
        }
    }
    let second = TemporaryFolder::new(&prefix).unwrap();
    assert!((1..20).all(|by| second.path() != next(by)), "{}", second.path().display());
    assert_eq!(std::fs::metadata(second.path()).unwrap().permissions().mode() & 0o777, 0o700);
    std::fs::write(second.path().join("file"), "text").unwrap();
    let path = second.path().to_owned();
    drop(second);
    assert!(!path.exists() && std::env::temp_dir().is_dir());
    let kept = TemporaryFolder::new(&prefix).unwrap().keep();
    assert!(kept.is_dir());
    std::fs::remove_dir(kept).unwrap();
    for by in 1..20 {
        let _ = std::fs::remove_dir(next(by)).or_else(|_| std::fs::remove_file(next(by)));
    }
}
