//! Finds the files that a program includes, by scanning `#include` lines regardless of conditions.
//!
//! NVRTC does not report which headers it read, and the cache must know. So every include in any preprocessor branch is
//! followed: the result is a superset of what the compiler reads, which may make a cache entry stale too early, but
//! never too late. Places where a header was searched for and not found are part of the result too, because a file that
//! appears there later would change the meaning of the program.
//!
//! The scan also determines which virtual headers NVRTC gets: the shims that are used, and a wrapper around each
//! toolkit header that user text includes, because user text is inside `extern "C"` and templates must not be.

use crate::header_shims;
use rtcg_disk_cache::{Checksum, checksum};
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that was read, and what it looked like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileDependency {
    pub(crate) path: PathBuf,
    pub(crate) checksum: Checksum,
    pub(crate) stamp: FileStamp,
}

/// What `stat` says of a file. Equal stamps mean equal contents; unequal ones mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FileStamp {
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
    pub(crate) inode: u64,
}

impl FileStamp {
    #[cfg(unix)]
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let ns = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        Self {
            size: metadata.size(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self { size: metadata.len(), modified_ns: modified.map_or(0, |d| d.as_nanos() as i64), ..Self::default() }
    }

    /// A file changed within the clock's granularity of being read may change again without its
    /// stamp changing; such a stamp is not kept.
    fn cleared_if_recent(self) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let newest = self.modified_ns.max(self.changed_ns);
        if newest + 2_000_000_000 > now.as_nanos() as i64 { Self::default() } else { self }
    }
}

impl FileDependency {
    /// A file as it is now.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let stamp = FileStamp::from_metadata(&std::fs::metadata(path).ok()?).cleared_if_recent();
        Some(Self { path: path.to_owned(), checksum: checksum(&std::fs::read(path).ok()?), stamp })
    }

    /// Whether the file still has the contents that it had.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Ok(metadata) = std::fs::metadata(&self.path) else { return false };
        if self.stamp != FileStamp::default() && FileStamp::from_metadata(&metadata) == self.stamp {
            return true;
        }
        std::fs::read(&self.path).is_ok_and(|bytes| checksum(&bytes) == self.checksum)
    }
}

/// The result of a scan.
#[derive(Default, Debug)]
pub(crate) struct IncludeScan {
    /// Every file that may be read.
    pub(crate) files: Vec<FileDependency>,
    /// Paths that do not exist and must stay so.
    pub(crate) missing: Vec<PathBuf>,
    /// Headers to hand to NVRTC: name and text.
    pub(crate) virtual_headers: Vec<(String, String)>,
    /// The user's headers with their texts, for [`crate::implicit_includes`] and [`crate::layout_attributes`].
    pub(crate) user_texts: Vec<(PathBuf, String)>,
    /// Whether a toolkit header is involved.
    pub(crate) uses_toolkit: bool,
    /// Whether a header that the user's texts include is nowhere.
    pub(crate) lacks_a_header: bool,
    /// The names of such headers.
    pub(crate) missing_headers: Vec<String>,
    /// Why the result must not be cached, when the scan could not follow everything.
    pub(crate) uncacheable: Option<&'static str>,
}

/// Where headers are searched.
pub(crate) struct SearchPath<'a> {
    /// The user's directories, in order.
    pub(crate) user: &'a [PathBuf],
    /// The toolkit's.
    pub(crate) toolkit: &'a [PathBuf],
    /// Whether user text stands inside `extern "C"`.
    pub(crate) wrap: bool,
    /// Whether shims are offered (they are for NVRTC only).
    pub(crate) shims: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum IncludeDirective {
    Quoted(String),
    Angled(String),
    /// `#include NAME`
    Computed(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum IncluderOrigin {
    User,
    Shim,
    Toolkit,
}

struct IncludeScanner<'a> {
    path: &'a SearchPath<'a>,
    scan: IncludeScan,
    seen_files: HashMap<PathBuf, bool>,
    seen_missing: HashSet<PathBuf>,
    seen_virtual: HashSet<String>,
    /// Directives still to follow: what, from which directory, from whose text.
    pending: Vec<(IncludeDirective, Option<PathBuf>, IncluderOrigin)>,
    /// Macros whose body is a header name.
    header_macros: HashMap<String, Vec<IncludeDirective>>,
    computed: Vec<(String, Option<PathBuf>)>,
}

/// Follows all includes of `source`. `forced` are the headers of `-include` options, `macros` the
/// `NAME=VALUE` of `-D` options.
pub(crate) fn scan_includes(source: &str, forced: &[String], macros: &[String], path: &SearchPath) -> IncludeScan {
    let mut scanner = IncludeScanner::new(path, IncludeScan::default());
    for text in macros {
        if let Some((name, value)) = text.split_once('=') {
            scanner.record_macro(name, value);
        }
    }
    for header in forced {
        scanner.pending.push((IncludeDirective::Quoted(header.clone()), None, IncluderOrigin::User));
    }
    scanner.scan_text(source, None, IncluderOrigin::User);
    scanner.scan_pending_includes();
    scanner.scan
}

/// Adds headers that text put before the source includes.
pub(crate) fn add_headers(scan: &mut IncludeScan, headers: &[&str], path: &SearchPath) {
    let mut scanner = IncludeScanner::new(path, std::mem::take(scan));
    let known = scanner.scan.virtual_headers.iter().map(|(name, _)| name.clone()).collect();
    scanner.seen_virtual = known;
    scanner
        .pending
        .extend(headers.iter().map(|name| (IncludeDirective::Angled((*name).to_owned()), None, IncluderOrigin::Shim)));
    scanner.scan_pending_includes();
    *scan = scanner.scan;
}

impl<'a> IncludeScanner<'a> {
    fn new(path: &'a SearchPath<'a>, scan: IncludeScan) -> Self {
        IncludeScanner {
            path,
            scan,
            seen_files: HashMap::new(),
            seen_missing: HashSet::new(),
            seen_virtual: HashSet::new(),
            pending: Vec::new(),
            header_macros: HashMap::new(),
            computed: Vec::new(),
        }
    }

    fn scan_pending_includes(&mut self) {
        loop {
            while let Some((include, dir, origin)) = self.pending.pop() {
                self.follow_include(&include, dir.as_deref(), origin);
            }
            // Macros may be defined after their use was met, so these come last; what they lead
            // to may bring more of both.
            let computed = std::mem::take(&mut self.computed);
            if computed.is_empty() {
                return;
            }
            for (name, dir) in computed {
                match self.header_macros.get(&name) {
                    Some(targets) => {
                        let targets: Vec<_> =
                            targets.iter().map(|t| (t.clone(), dir.clone(), IncluderOrigin::User)).collect();
                        self.pending.extend(targets);
                    }
                    None => self.scan.uncacheable = Some("an #include names its header through a macro"),
                }
            }
        }
    }

    fn scan_text(&mut self, text: &str, dir: Option<&Path>, origin: IncluderOrigin) {
        let joined;
        let text = if text.contains("\\\n") || text.contains("\\\r\n") {
            joined = text.replace("\\\r\n", "").replace("\\\n", "");
            joined.as_str()
        } else {
            text
        };
        for line in text.lines() {
            self.scan_line(line, dir, origin);
        }
        if origin == IncluderOrigin::User && ["__DATE__", "__TIME__", "__TIMESTAMP__"].iter().any(|m| text.contains(m))
        {
            self.scan.uncacheable = Some("the source asks for the time of compilation");
        }
    }

    fn scan_line(&mut self, line: &str, dir: Option<&Path>, origin: IncluderOrigin) {
        let line = skip_blanks(line);
        let Some(directive) = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")) else { return };
        let directive = skip_blanks(directive);
        let word = directive.len() - directive.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let (word, rest) = directive.split_at(word);
        match word {
            "include" | "include_next" | "import" => self.record_include(rest, dir, origin),
            "define" if origin == IncluderOrigin::User => {
                let rest = rest.trim_start();
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                self.record_macro(&rest[..end], &rest[end..]);
            }
            "embed" if origin == IncluderOrigin::User => self.scan.uncacheable = Some("the source uses #embed"),
            "if" | "elif" => {
                for (at, found) in directive.match_indices("__has_include") {
                    let argument = directive[at + found.len()..].trim_start_matches("_next").trim_start();
                    self.record_include(argument.strip_prefix('(').unwrap_or(argument), dir, origin);
                }
            }
            _ => {}
        }
    }

    fn record_include(&mut self, text: &str, dir: Option<&Path>, origin: IncluderOrigin) {
        match parse_include(text) {
            Some(IncludeDirective::Computed(_)) if origin != IncluderOrigin::User => {}
            Some(IncludeDirective::Computed(name)) => self.computed.push((name, dir.map(Path::to_owned))),
            Some(include) => self.pending.push((include, dir.map(Path::to_owned), origin)),
            None => {}
        }
    }

    fn record_macro(&mut self, name: &str, value: &str) {
        if let Some(include @ (IncludeDirective::Quoted(_) | IncludeDirective::Angled(_))) = parse_include(value) {
            self.header_macros.entry(name.to_owned()).or_default().push(include);
        }
    }

    fn follow_include(&mut self, include: &IncludeDirective, dir: Option<&Path>, origin: IncluderOrigin) {
        let (name, quoted) = match include {
            IncludeDirective::Quoted(name) => (name, true),
            IncludeDirective::Angled(name) => (name, false),
            IncludeDirective::Computed(_) => return,
        };
        if Path::new(name).is_absolute() {
            self.visit_file(Path::new(name), IncluderOrigin::User);
            return;
        }
        let beside = dir.filter(|_| quoted).map(|d| d.join(name));
        let beside_origin =
            if origin == IncluderOrigin::Toolkit { IncluderOrigin::Toolkit } else { IncluderOrigin::User };
        if beside.is_some_and(|file| self.visit_file(&file, beside_origin)) {
            return;
        }
        let path = self.path;
        if path.user.iter().any(|d| self.visit_file(&d.join(name), IncluderOrigin::User)) {
            return;
        }
        if let Some(text) = header_shims::find_shim(name).filter(|_| path.shims) {
            self.add_shim_header(name, text);
            return;
        }
        let toolkit_file =
            path.toolkit.iter().map(|d| d.join(name)).find(|f| self.visit_file(f, IncluderOrigin::Toolkit));
        match toolkit_file {
            Some(file) if path.wrap && origin == IncluderOrigin::User => self.wrap_toolkit_header(name, &file),
            None => match header_shims::find_fallback(name) {
                Some(text) if path.shims => self.add_shim_header(name, text),
                _ if origin == IncluderOrigin::User => {
                    self.scan.lacks_a_header = true;
                    if !self.scan.missing_headers.contains(name) {
                        self.scan.missing_headers.push(name.clone());
                    }
                }
                _ => {}
            },
            Some(_) => {}
        }
    }

    /// Puts a header between user text and a toolkit header, to give C++ its own linkage back.
    fn wrap_toolkit_header(&mut self, name: &str, file: &Path) {
        if self.seen_virtual.insert(name.to_owned()) {
            let text = format!("extern \"C++\" {{\n#include \"{}\"\n}}\n", file.display());
            self.scan.virtual_headers.push((name.to_owned(), text));
        }
    }

    fn add_shim_header(&mut self, name: &str, text: &'static str) {
        if self.seen_virtual.insert(name.to_owned()) {
            self.scan.virtual_headers.push((name.to_owned(), text.to_owned()));
            self.scan_text(text, None, IncluderOrigin::Shim);
        }
    }

    /// Reads a file once; false when there is none.
    fn visit_file(&mut self, file: &Path, origin: IncluderOrigin) -> bool {
        if let Some(&exists) = self.seen_files.get(file) {
            return exists;
        }
        let stamp = std::fs::metadata(file).ok().filter(Metadata::is_file).map(|m| FileStamp::from_metadata(&m));
        let contents = stamp.and_then(|stamp| Some((stamp, std::fs::read(file).ok()?)));
        self.seen_files.insert(file.to_owned(), contents.is_some());
        let Some((stamp, bytes)) = contents else {
            // What the toolkit lacks it will lack until it is changed as a whole.
            if origin == IncluderOrigin::User && self.seen_missing.insert(file.to_owned()) {
                self.scan.missing.push(file.to_owned());
            }
            return false;
        };
        self.scan.uses_toolkit |= origin == IncluderOrigin::Toolkit;
        let checksum = checksum(&bytes);
        self.scan.files.push(FileDependency { path: file.to_owned(), checksum, stamp: stamp.cleared_if_recent() });
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.scan_text(&text, file.parent(), origin);
        if origin == IncluderOrigin::User {
            self.scan.user_texts.push((file.to_owned(), text));
        }
        true
    }
}

/// Skips blanks and comments that end on the same line.
fn skip_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(rest) = text.strip_prefix("/*") else { return text };
        match rest.find("*/") {
            Some(end) => text = &rest[end + 2..],
            None => return "",
        }
    }
}

fn parse_include(text: &str) -> Option<IncludeDirective> {
    let text = skip_blanks(text);
    let until = |text: &str, end: char| text.find(end).map(|at| text[..at].to_owned());
    if let Some(rest) = text.strip_prefix('"') {
        return until(rest, '"').map(IncludeDirective::Quoted);
    }
    if let Some(rest) = text.strip_prefix('<') {
        return until(rest, '>').map(IncludeDirective::Angled);
    }
    let word = text.len() - text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    (word > 0).then(|| IncludeDirective::Computed(text[..word].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_search_path(user: &[PathBuf]) -> SearchPath<'_> {
        SearchPath { user, toolkit: &[], wrap: true, shims: true }
    }

    fn temporary_dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("rtcg-includes-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn scan_follows_every_branch_and_records_missing_headers() {
        let dir = temporary_dir("branches");
        std::fs::write(dir.join("a.h"), "#if 0\n#  include \"b.h\"\n#endif\n").unwrap();
        std::fs::write(dir.join("b.h"), "%:include <absent.h>\n").unwrap();
        std::fs::write(dir.join("c.h"), "").unwrap();
        let source = "# /* odd */ include \"a.h\"\n#if __has_include(<c.h>)\n#endif\n#inc\\\nlude <math.h>\n";
        let found = scan_includes(source, &[], &[], &test_search_path(std::slice::from_ref(&dir)));
        let mut names: Vec<_> = found.files.iter().map(|f| f.path.file_name().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["a.h", "b.h", "c.h"]);
        assert!(found.missing.contains(&dir.join("absent.h")));
        assert!(found.missing.contains(&dir.join("math.h")));
        assert_eq!(found.virtual_headers.len(), 1);
        assert_eq!(found.uncacheable, None);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn user_headers_take_precedence_over_shims() {
        let dir = temporary_dir("shadow");
        std::fs::write(dir.join("math.h"), "").unwrap();
        let found = scan_includes("#include <math.h>", &[], &[], &test_search_path(std::slice::from_ref(&dir)));
        assert!(found.virtual_headers.is_empty());
        assert_eq!(found.files.len(), 1);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn computed_includes_are_followed_or_forbid_caching() {
        let dir = temporary_dir("computed");
        std::fs::write(dir.join("x.h"), "").unwrap();
        let dirs = [dir.clone()];
        let path = test_search_path(&dirs);
        let found = scan_includes("#define H \"x.h\"\n#include H\n", &[], &[], &path);
        assert_eq!((found.files.len(), found.uncacheable), (1, None));
        let found = scan_includes("#include H\n", &[], &["H=<x.h>".to_owned()], &path);
        assert_eq!((found.files.len(), found.uncacheable), (1, None));
        assert!(scan_includes("#include H(x)\n", &[], &[], &path).uncacheable.is_some());
        assert!(scan_includes("char *when = __TIME__;", &[], &[], &path).uncacheable.is_some());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_changed_file_is_seen_even_with_an_old_stamp() {
        let dir = temporary_dir("changed");
        let file = dir.join("x.h");
        std::fs::write(&file, "1").unwrap();
        let found = scan_includes("#include \"x.h\"", &[], &[], &test_search_path(std::slice::from_ref(&dir)));
        assert!(found.files[0].is_unchanged());
        std::fs::write(&file, "2").unwrap();
        assert!(!found.files[0].is_unchanged());
        std::fs::write(&file, "1").unwrap();
        assert!(found.files[0].is_unchanged());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
