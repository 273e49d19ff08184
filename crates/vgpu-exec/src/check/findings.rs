//! What was found, once per place in the program.

use super::CheckSet;
use rtcg_vgpu_abi::fault::{Fault, FaultKind};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
            FindingKind::Leak => "leak",
        }
    }
}

/// The other access of a race.
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
    /// The other access of a race.
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

/// What makes two findings the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FindingKey(FindingKind, String, u32, u32, String);

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
    FINDING_LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All findings so far, in the order they were made.
pub fn findings() -> Vec<Finding> {
    finding_log().as_ref().map(|l| l.list.clone()).unwrap_or_default()
}

/// Forgets all findings.
pub fn clear_findings() {
    *finding_log() = None;
}

/// Keeps a finding, or counts it if its place is known. Whether it is a new one.
pub fn record_finding(finding: Finding) -> bool {
    let other = finding.other.as_ref().map_or(0, |o| o.ptx_line);
    let detail = if finding.kernel.is_empty() { finding.message.clone() } else { String::new() };
    let place = FindingKey(finding.kind, finding.kernel.clone(), finding.ptx_line, other, detail);
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

/// Prints what has not been printed yet.
pub fn print_new_findings() {
    let mut guard = finding_log();
    let Some(log) = guard.as_mut() else { return };
    let mut text = String::new();
    for f in &log.list[log.printed..] {
        text.push_str("rtcg check: ");
        text.push_str(&f.message);
        if f.count > 1 {
            text.push_str(&format!("\n  seen {} times", f.count));
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

/// Keeps a fault among the findings.
pub(crate) fn record_fault_finding(checks: CheckSet, fault: &Fault) {
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
