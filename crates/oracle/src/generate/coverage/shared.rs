//! Shared memory that the instructions of cells use: a table that all threads read, counters that all update, and
//! the first contents of each thread's own; and what of them becomes part of the results.

use super::access::{BINS, COMMUTING};
use crate::generate::Node;
use crate::generate::body::{Gen, fixed};
use crate::generate::memory::{LOCAL, SHARED_SLOT, TABLE};

const COUNTERS: usize = COMMUTING.len() * BINS * 8;

/// Variables of module scope.
pub(crate) fn variables() -> Node {
    fixed(format!(".shared .align 16 .b8 stable[{TABLE}];\n.shared .align 16 .b8 scount[{COUNTERS}];"))
}

impl Gen {
    /// First contents of shared memory.
    pub(crate) fn fill_shared(&mut self) -> Node {
        let (end, pattern) = (self.label(), self.random.word() as i64);
        let fill = |name: &str, bytes: usize| -> String {
            let store = |at: usize| format!("add.u64 %v, %v, %w;\nst.shared.v2.u64 [{name}+{at}], {{%v, %w}};\n");
            (0..bytes).step_by(16).map(store).collect()
        };
        let (table, counters) = (fill("stable", TABLE), fill("scount", COUNTERS));
        fixed(format!(
            "{{ .reg .b32 %a; .reg .b64 %v, %w; .reg .pred %q;\nmov.u64 %w, {pattern};\ncvt.u64.u32 %v, %lin;\n\
             add.u64 %v, %v, %w;\nmov.u32 %a, sslots;\nmad.lo.u32 %a, %lin, {SHARED_SLOT}, %a;\n\
             st.shared.v2.u64 [%a], {{%v, %w}};\nst.shared.v2.u64 [%a+16], {{%w, %v}};\n\
             setp.ne.u32 %q, %lin, 0;\n@%q bra {end};\n{table}{counters}{end}:\nbar.sync 0; }}"
        ))
    }

    /// Makes the counters in shared memory, if there are updates of them, part of the results. All threads are here.
    pub(crate) fn read_counters(&mut self) -> Option<Node> {
        if !std::mem::take(&mut self.counts_in_shared) {
            return None;
        }
        let words = COUNTERS / 8;
        let read = format!(
            "rem.u32 %a, %b, {words};\nmov.u32 %c, scount;\nmad.lo.u32 %c, %a, 8, %c;\nld.shared.u64 %v, [%c];\n\
             mad.lo.u64 %d0, %d0, 31, %v;\nadd.u32 %b, %b, %threads;\n"
        );
        let reads = read.repeat(words.div_ceil(self.threads as usize).min(12));
        Some(Node::Group(vec![fixed(format!(
            "bar.sync 0;\n{{ .reg .b32 %a, %b, %c; .reg .b64 %v;\nmov.u32 %b, %lin;\n{reads}bar.sync 0; }}"
        ))]))
    }

    /// Makes the thread's own shared and local memory part of the results.
    pub(crate) fn read_own(&mut self) -> Node {
        let read = |name: &str, at: usize| format!("ld{name}+{at}];\nmad.lo.u64 %d1, %d1, 31, %v;\n");
        let shared: String = (0..SHARED_SLOT).step_by(8).map(|at| read(".shared.u64 %v, [%a", at)).collect();
        let local: String = (0..LOCAL).step_by(8).map(|at| read(".local.u64 %v, [lslot", at)).collect();
        Node::Group(vec![fixed(format!(
            "{{ .reg .b32 %a; .reg .b64 %v;\nmov.u32 %a, sslots;\nmad.lo.u32 %a, %lin, {SHARED_SLOT}, %a;\n{shared}{local} }}"
        ))])
    }
}
