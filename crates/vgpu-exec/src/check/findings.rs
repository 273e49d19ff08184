//! What was found, once per place in the program.

use super::CheckSet;
use rtcg_vgpu_abi::IgnorePoison;
use rtcg_vgpu_abi::fault::{Fault, FaultKind};
use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once};

/// Different findings that are kept; further ones are only counted.
const MAX_FINDINGS: usize = 200;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// An access outside every allocation, or beyond the one it was meant for.
    OutOfBounds,
    /// An access to memory that has been freed.
    UseAfterFree,
    /// A write to constant memory.
    ReadOnly,
    /// An access that is not aligned to its size.
    Misaligned,
    /// A free of what was not allocated, or is free already.
    InvalidFree,
    /// Another fault: trap, stack overflow and so on.
    Fault,
    /// A read of uninitialised memory.
    Uninitialised,
    /// Two accesses without an order between them.
    Race,
    /// A barrier or warp operation that not all threads reach.
    Divergence,
    /// Memory that was handed to a consumer that waits for nothing, while work with it was pending.
    PendingExport,
    /// Something that a context still owned when it was destroyed.
    Leak,
}

impl FindingKind {
    /// One word, as in reports and in Python.
    pub fn kind_name(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::UseAfterFree => "use-after-free",
            FindingKind::ReadOnly => "read-only",
            FindingKind::Misaligned => "misaligned",
            FindingKind::InvalidFree => "invalid-free",
            FindingKind::Fault => "fault",
            FindingKind::Uninitialised => "uninitialised",
            FindingKind::Race => "race",
            FindingKind::Divergence => "divergence",
            FindingKind::PendingExport => "pending-export",
            FindingKind::Leak => "leak",
        }
    }
}

/// The other access of a race, or the other barrier of a warp whose threads wait at two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceAccess {
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// PTX text of the instruction.
    pub instruction: String,
    /// Its line in the PTX, from 1; 0 when unknown.
    pub ptx_line: u32,
    /// File and line of the source, with `-lineinfo`.
    pub source: Option<(String, u32)>,
}

/// Something that is wrong with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// The kernel's name as in the PTX; empty for leaks.
    pub kernel: String,
    /// A hash of the text of the kernel's module; 0 for leaks.
    pub module_hash: u64,
    /// `%ctaid` of the first case.
    pub block: [u32; 3],
    /// `%tid` of the first case.
    pub thread: [u32; 3],
    /// The address; 0 when there is none.
    pub address: u64,
    /// Bytes of the access, or of what leaks; 0 when unknown.
    pub size: u64,
    /// The memory that the address belongs to or lies nearest to, in words.
    pub allocation: Option<String>,
    /// PTX text of the instruction.
    pub instruction: String,
    /// Its line in the PTX, from 1; 0 when unknown.
    pub ptx_line: u32,
    /// File and line of the source, with `-lineinfo`.
    pub source: Option<(String, u32)>,
    /// The other access of a race, or the other barrier of a warp.
    pub other: Option<RaceAccess>,
    /// How often it was seen.
    pub count: u64,
    /// All of this in words, one fact per line.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A place in the program: a line of its source, else of its PTX.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Source(String, u32),
    Ptx(u32),
}

impl Place {
    fn new(source: Option<&(String, u32)>, ptx_line: u32) -> Place {
        source.map_or(Place::Ptx(ptx_line), |(file, line)| Place::Source(file.clone(), *line))
    }
}

/// What makes two findings the same: kind, module and kernel, both places in either order, and the words of those without a
/// kernel. A loop that the compiler unrolls has one finding, as its line has. Sources that a program generates often
/// have equal file and kernel names, so that only the module's text tells them apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FindingKey(FindingKind, u64, String, Vec<Place>, String);

impl FindingKey {
    fn new(finding: &Finding) -> FindingKey {
        let mut places = vec![Place::new(finding.source.as_ref(), finding.ptx_line)];
        places.extend(finding.other.as_ref().map(|other| Place::new(other.source.as_ref(), other.ptx_line)));
        places.sort();
        let detail = if finding.kernel.is_empty() { finding.message.clone() } else { String::new() };
        FindingKey(finding.kind, finding.module_hash, finding.kernel.clone(), places, detail)
    }
}

#[derive(Debug, Default)]
struct FindingLog {
    list: Vec<Finding>,
    by_place: HashMap<FindingKey, usize>,
    /// Findings before this one have been printed.
    printed: usize,
    /// Beyond [`MAX_FINDINGS`].
    dropped: u64,
    dropped_reported: u64,
}

static FINDING_LOG: Mutex<Option<FindingLog>> = Mutex::new(None);

fn finding_log() -> MutexGuard<'static, Option<FindingLog>> {
    FINDING_LOG.lock().ignore_poison()
}

/// All findings so far, in the order they were made. Does not wait: kernels that still run may add some.
pub fn findings() -> Vec<Finding> {
    finding_log().as_ref().map(|l| l.list.clone()).unwrap_or_default()
}

/// Forgets all findings.
pub fn clear_findings() {
    *finding_log() = None;
}

/// Keeps a finding, or counts it if its place is known. Whether it is a new one.
pub fn record_finding(finding: Finding) -> bool {
    static TOTALS_AT_EXIT: Once = Once::new();
    TOTALS_AT_EXIT.call_once(|| {
        // SAFETY: the function is one of this program's, which neither panics nor unwinds.
        let _ = unsafe { libc::atexit(print_totals) };
    });
    let place = FindingKey::new(&finding);
    let mut guard = finding_log();
    let log = guard.get_or_insert_default();
    if let Some(&i) = log.by_place.get(&place) {
        log.list[i].count += finding.count;
        return false;
    }
    if log.list.len() >= MAX_FINDINGS {
        log.dropped += 1;
        return false;
    }
    log.by_place.insert(place, log.list.len());
    log.list.push(finding);
    true
}

/// Keeps, and prints, that memory was handed out while work with it was pending in a stream. `kernel` is the last one that
/// was launched in its context, `source` where the program handed it out.
pub fn record_pending_export(kernel: Option<String>, address: u64, size: u64, source: Option<(String, u32)>) {
    let place = source.as_ref().map_or_else(String::new, |(file, line)| format!("\n  handed out in {file}:{line}"));
    let launch = kernel.as_ref().map_or_else(String::new, |kernel| format!("\n  the last launch was that of {kernel}"));
    let message = format!(
        "pending export: {size} bytes at {address:#x} were handed to a consumer that waits for no stream, while work with \
         them was pending{launch}{place}\n  synchronize the stream first, or use `with rtcg.exports_wait():`"
    );
    let (block, thread) = ([0; 3], [0; 3]);
    let (module_hash, ptx_line, instruction) = (0, 0, String::new());
    let kernel = kernel.unwrap_or_default();
    let kind = FindingKind::PendingExport;
    let (allocation, other, count) = (None, None, 1);
    record_finding(Finding {
        kind,
        kernel,
        module_hash,
        block,
        thread,
        address,
        size,
        allocation,
        instruction,
        ptx_line,
        source,
        other,
        count,
        message,
    });
    print_new_findings();
}

/// Prints what has not been printed yet.
pub fn print_new_findings() {
    let mut guard = finding_log();
    let Some(log) = guard.as_mut() else { return };
    let mut text = String::new();
    for f in &log.list[log.printed..] {
        text.push_str("rtcg check: ");
        text.push_str(&f.message);
        if f.count > 1 {
            text.push_str(&format!("\n  seen {}", times(f.count)));
        }
        text.push('\n');
    }
    log.printed = log.list.len();
    if log.dropped > log.dropped_reported {
        text.push_str(&format!("rtcg check: {} further findings are not shown\n", log.dropped - log.dropped_reported));
        log.dropped_reported = log.dropped;
    }
    drop(guard);
    if !text.is_empty() {
        eprint!("{text}");
    }
}

/// The last line of a program with findings: how many there are of each kind.
extern "C" fn print_totals() {
    let text = finding_log().as_ref().map(totals).unwrap_or_default();
    if !text.is_empty() {
        // Nobody hears of an error stream that is closed.
        let _ = writeln!(std::io::stderr(), "rtcg check: {text}");
    }
}

fn totals(log: &FindingLog) -> String {
    let mut kinds: Vec<(&str, u64)> = vec![];
    for finding in &log.list {
        match kinds.iter_mut().find(|(name, _)| *name == finding.kind.kind_name()) {
            Some((_, count)) => *count += 1,
            None => kinds.push((finding.kind.kind_name(), 1)),
        }
    }
    let found = log.list.len() as u64 + log.dropped;
    let seen = log.dropped + log.list.iter().map(|finding| finding.count).sum::<u64>();
    match (found, kinds.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")) {
        (0, _) => String::new(),
        (1, _) => format!("1 finding in all ({}), seen {}", kinds[0].0, times(seen)),
        (_, kinds) => format!("{found} findings in all ({kinds}), seen {}", times(seen)),
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Keeps a fault among the findings.
pub(crate) fn record_fault_finding(checks: CheckSet, fault: &Fault, module_hash: impl FnOnce() -> u64) {
    if checks == CheckSet::NO_CHECKS
        || matches!(fault.kind, FaultKind::Cancelled | FaultKind::OutOfMemory | FaultKind::Compile)
    {
        return;
    }
    let text = fault.allocation.as_deref().unwrap_or("");
    let kind = match fault.kind {
        FaultKind::IllegalAddress if fault.report.contains("free of a pointer") => FindingKind::InvalidFree,
        FaultKind::IllegalAddress if text.contains("freed") => FindingKind::UseAfterFree,
        FaultKind::IllegalAddress if text.contains("constant") && text.contains("bytes into") => FindingKind::ReadOnly,
        FaultKind::IllegalAddress => FindingKind::OutOfBounds,
        FaultKind::MisalignedAddress => FindingKind::Misaligned,
        FaultKind::Deadlock => FindingKind::Divergence,
        _ => FindingKind::Fault,
    };
    record_finding(Finding {
        kind,
        kernel: fault.kernel.clone(),
        module_hash: module_hash(),
        block: fault.block,
        thread: fault.thread,
        address: fault.access.map_or(0, |a| a.address),
        size: fault.access.map_or(0, |a| u64::from(a.size)),
        allocation: fault.allocation.clone(),
        instruction: fault.instruction.clone(),
        ptx_line: fault.ptx_line,
        source: fault.source.clone(),
        other: None,
        count: 1,
        message: fault.report.clone(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(ptx_line: u32, source: Option<u32>, other: Option<u32>) -> Finding {
        let place = |line: u32| ("kernel.cu".to_owned(), line);
        Finding {
            kind: if other.is_some() { FindingKind::Race } else { FindingKind::Uninitialised },
            kernel: "k".to_owned(),
            module_hash: 1,
            block: [0; 3],
            thread: [0; 3],
            address: 0,
            size: 4,
            allocation: None,
            instruction: String::new(),
            ptx_line,
            source: source.map(place),
            other: other.map(|line| RaceAccess {
                block: [0; 3],
                thread: [0; 3],
                instruction: String::new(),
                ptx_line: ptx_line + 1,
                source: Some(place(line)),
            }),
            count: 2,
            message: String::new(),
        }
    }

    #[test]
    fn a_pair_of_source_lines_is_one_finding() {
        let key = |ptx_line, source, other| FindingKey::new(&finding(ptx_line, source, other));
        assert_eq!(key(10, Some(3), Some(5)), key(20, Some(3), Some(5)));
        assert_eq!(key(10, Some(3), Some(5)), key(20, Some(5), Some(3)));
        assert_ne!(key(10, Some(3), Some(5)), key(10, Some(3), Some(6)));
        assert_ne!(key(10, Some(3), None), key(10, Some(4), None));
        let other_module = Finding { module_hash: 2, ..finding(10, Some(3), None) };
        assert_ne!(key(10, Some(3), None), FindingKey::new(&other_module));
        // Without line information the PTX decides.
        assert_ne!(key(10, None, None), key(20, None, None));
    }

    #[test]
    fn totals_count_places_and_cases() {
        let mut log = FindingLog::default();
        assert_eq!(totals(&log), "");
        log.list.push(finding(1, Some(1), Some(2)));
        assert_eq!(totals(&log), "1 finding in all (race), seen 2 times");
        log.list.push(finding(1, Some(1), None));
        assert_eq!(totals(&log), "2 findings in all (race 1, uninitialised 1), seen 4 times");
    }
}
