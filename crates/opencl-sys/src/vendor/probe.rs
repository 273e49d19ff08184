//! Probes a vendor's library in a process of its own, once, and caches the outcome.
//!
//! **The process.** A library's initialisers may crash, hang, exit, or start threads, so they run first where they can do
//! no harm. A plain `fork` would not do: in the child of a process with threads, the linker, the allocator and every
//! library that is loaded already (the vendor's among them, with threads that are gone) are in whatever state they had,
//! and only async-signal-safe calls are allowed; a probe that fails for such a reason would condemn a good library. To
//! start the running program again would run its `main`, which may be anybody's: Python, a program in C that is linked
//! with `libOpenCL.so.1`. So the crate holds a program of 6 KiB (`probe/main.rs`) as bytes, and starts it from a file in
//! memory. `posix_spawn` (which `Command` uses) is sound with threads, and the new process has nothing of this one but
//! its environment.
//!
//! **The outcome** is a text: the lines that the program wrote, and how it ended. It is cached by the library's path,
//! size and time of modification. What the dynamic linker refuses is probed again each time, which costs little: what it
//! misses may come.

use super::{Vendor, VendorError, VendorErrorKind, load, search};
use crate::Platform;
use rtcg_disk_cache::{CachePermissions, DiskCache, SizeLimitScope, user_cache_folder};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The program, or nothing where there was no linker for it.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe"));
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
    let entry = settings.folder.as_deref().and_then(|folder| Entry::of(&vendor.library, folder));
    if let Some(text) = entry.as_ref().and_then(Entry::read) {
        return judge(vendor, &text).map_err(|kind| failed(kind, entry.map(|entry| entry.file)));
    }
    let text =
        run(&vendor.library, settings.limit).map_err(|reason| failed(VendorErrorKind::NotProbed(reason), None))?;
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
    fn of(library: &Path, folder: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(library).ok()?;
        let time = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
        let head = format!("{FORMAT}\n{}\n{} {time}\n", library.display(), metadata.len());
        let cache = DiskCache {
            folder: folder.to_owned(),
            // The files are too few and too small to be counted.
            limit: u64::MAX,
            access: permissions(),
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

/// Nobody else may say that a library is harmless.
#[cfg(unix)]
fn permissions() -> CachePermissions {
    // SAFETY: asks for a number.
    CachePermissions::Private { user: unsafe { libc::geteuid() } }
}

#[cfg(not(unix))]
fn permissions() -> CachePermissions {
    CachePermissions::Shared
}

#[cfg(not(target_os = "linux"))]
fn run(_library: &Path, _limit: Duration) -> Result<String, String> {
    Err("this is done on Linux only".to_owned())
}

/// Runs the program for a library; its lines, and a last one with how it ended if it did not come to its end.
#[cfg(target_os = "linux")]
fn run(library: &Path, limit: Duration) -> Result<String, String> {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    if PROGRAM.is_empty() {
        return Err("the crate rtcg-opencl-sys was built without a linker for its probe".to_owned());
    }
    let program = file_in_memory(PROGRAM).map_err(|error| format!("a file in memory: {error}"))?;
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&program));
    let deadline = std::time::Instant::now() + limit;
    let mut child = Command::new(path)
        .arg(library)
        .env(search::INSIDE_PROBE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // So that processes which the library starts end with it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("starting a program from a file in memory: {error}"))?;
    let output = child.stdout.take().ok_or("the output is no pipe")?;
    let mut text = lines_until(output, deadline);
    if !is_complete(&text) {
        text.push_str(&ending(&mut child, deadline, limit));
    }
    if !matches!(child.try_wait(), Ok(Some(_))) {
        let group = -child.id().cast_signed();
        // SAFETY: a signal to the group of a child that was not waited for, so that its number is no other's.
        unsafe { libc::kill(group, libc::SIGKILL) };
    }
    // A program that ignores its children has none to wait for.
    let _ = child.wait();
    Ok(text)
}

#[cfg(target_os = "linux")]
fn is_complete(text: &str) -> bool {
    text.ends_with('\n') && (text.starts_with("refused ") || text.ends_with("done\n"))
}

#[cfg(target_os = "linux")]
fn file_in_memory(contents: &[u8]) -> std::io::Result<std::fs::File> {
    use std::io::Write;
    use std::os::fd::FromRawFd;
    let name = c"rtcg-opencl-probe".as_ptr();
    // SAFETY: the name is a text of C. Kernels before 6.3 do not know the flag that asks for a file that can be run, and
    // need none.
    let fd = match unsafe { libc::memfd_create(name, libc::MFD_CLOEXEC | libc::MFD_EXEC) } {
        // SAFETY: as above.
        -1 => unsafe { libc::memfd_create(name, libc::MFD_CLOEXEC) },
        fd => fd,
    };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else's.
    let mut file = unsafe { std::fs::File::from_raw_fd(fd) };
    file.write_all(contents)?;
    Ok(file)
}

/// What is written until the last line, the end, or the deadline.
#[cfg(target_os = "linux")]
fn lines_until(mut output: std::process::ChildStdout, deadline: std::time::Instant) -> String {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(std::time::Instant::now());
        let mut poll = libc::pollfd { fd: output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which outlives the call.
        let ready = unsafe { libc::poll(&raw mut poll, 1, left.as_millis().min(1 << 30) as libc::c_int) };
        let count = if ready > 0 { output.read(&mut part).unwrap_or(0) } else { 0 };
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let was_interrupted = ready < 0 && !left.is_zero();
        if (count == 0 && !was_interrupted) || is_complete(&text) {
            return text.into_owned();
        }
    }
}

/// A line with how the program ended, for which it has time until the deadline.
#[cfg(target_os = "linux")]
fn ending(child: &mut std::process::Child, deadline: std::time::Instant, limit: Duration) -> String {
    use std::os::unix::process::ExitStatusExt;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                return match (status.signal(), status.code()) {
                    (Some(signal), _) => format!("ended signal {signal}\n"),
                    (_, Some(code)) => format!("ended exit status {code}\n"),
                    _ => "ended\n".to_owned(),
                };
            }
            // Somebody else waited for it.
            Err(_) => return "ended exit status unknown\n".to_owned(),
            Ok(None) if std::time::Instant::now() >= deadline => return format!("hung {}\n", limit.as_millis()),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
