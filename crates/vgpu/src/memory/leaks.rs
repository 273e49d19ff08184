//! What the host does wrong with memory: leaks when a context ends, frees of what is not allocated.

use super::allocation_report;
use crate::memory::heap::{HeapBlock, MemoryKind};
use rtcg_vgpu_exec::check::{Finding, FindingKind, enabled_checks, print_new_findings, record_finding};

fn host_finding(kind: FindingKind, address: u64, size: u64, message: String) -> Finding {
    Finding {
        kind,
        kernel: String::new(),
        module_hash: 0,
        block: [0; 3],
        thread: [0; 3],
        address,
        size,
        allocation: None,
        instruction: String::new(),
        ptx_line: 0,
        source: None,
        other: None,
        count: 1,
        message,
    }
}

/// Reports what a context still owned when it ended: blocks, and numbers of other objects by name.
pub(crate) fn report_context_leaks(blocks: &[HeapBlock], others: &[(&str, usize)]) {
    if !enabled_checks().leak {
        return;
    }
    for b in blocks {
        let kind = match b.kind {
            MemoryKind::Device => "device memory",
            MemoryKind::Imported => "memory of another process",
            MemoryKind::Host => "page-locked host memory",
            MemoryKind::Managed => "managed memory",
        };
        let text = format!(
            "leak: {} bytes of {kind} (allocation number {}) at {:#x} were not freed before their context ended",
            b.size, b.id, b.start
        );
        record_finding(host_finding(FindingKind::Leak, b.start, b.size, text));
    }
    for &(name, n) in others.iter().filter(|o| o.1 > 0) {
        let (noun, verb) = if n == 1 { (name.to_owned(), "was") } else { (format!("{name}s"), "were") };
        let text = format!("leak: {n} {noun} {verb} not destroyed before the context ended");
        record_finding(host_finding(FindingKind::Leak, 0, n as u64, text));
    }
    print_new_findings();
}

/// Reports memory of device-side `malloc` that is in use when the last context ends.
pub(crate) fn report_malloc_leaks((bytes, n): (usize, usize)) {
    if enabled_checks().leak && n > 0 {
        let text = format!("leak: {n} allocations of device-side malloc ({bytes} bytes) were not freed");
        record_finding(host_finding(FindingKind::Leak, 0, bytes as u64, text));
        print_new_findings();
    }
}

/// Reports a free of an address at which no allocation of the right kind begins.
pub(crate) fn report_invalid_free(address: u64) {
    if !enabled_checks().memory {
        return;
    }
    let near = allocation_report::describe_access(address, 0);
    let mut text = format!("invalid free of {address:#x}, which is not the start of an allocation of this kind");
    if let Some(near) = &near {
        text.push_str("\n  ");
        text.push_str(near);
    }
    record_finding(Finding { allocation: near, ..host_finding(FindingKind::InvalidFree, address, 0, text) });
    print_new_findings();
}
