//! Shared memory that the instructions of cells use: a table that all threads read, counters that all update, and
//! the first contents of each thread's own; and what of them becomes part of the results.

use super::access::{BINS, COMMUTING};
use crate::generate::Node;
use crate::generate::body::{Generator, fixed};
use crate::generate::memory::{LOCAL, SHARED_SLOT, TABLE};

const COUNTERS: usize = COMMUTING.len() * BINS * 8;

/// Variables of module scope.
pub(crate) fn variables() -> Node {
    fixed(format!(".shared .align 16 .b8 stable[{TABLE}];\n.shared .align 16 .b8 scount[{COUNTERS}];"))
}

impl Generator {
    /// First contents of shared memory.
    pub(crate) fn fill_shared(&mut self) -> Node {
        let (pattern, n) = (self.random.word() as i64, TABLE.max(COUNTERS));
        let store = |name: &str, bytes: usize| {
            format!(
                "mov.u32 %a, {name};\nadd.u32 %a, %a, %b;\nsetp.lt.u32 %q, %b, {bytes};\n\
                 @%q st.shared.v2.u64 [%a], {{%v, %w}};\n"
            )
        };
        let stores = store("stable", TABLE) + &store("scount", COUNTERS);
        let head = self.label();
        fixed(format!(
            "{{ .reg .b32 %a, %b; .reg .b64 %v, %w; .reg .pred %q;\nmov.u64 %w, {pattern};\ncvt.u64.u32 %v, %lin;\n\
             add.u64 %v, %v, %w;\nmov.u32 %a, sslots;\nmad.lo.u32 %a, %lin, {SHARED_SLOT}, %a;\n\
             st.shared.v2.u64 [%a], {{%v, %w}};\nst.shared.v2.u64 [%a+16], {{%w, %v}};\n\
             mul.lo.u32 %b, %lin, 16;\n{head}:\nadd.u64 %v, %v, %w;\n{stores}mad.lo.u32 %b, %threads, 16, %b;\n\
             setp.lt.u32 %q, %b, {n};\n@%q bra {head};\nbar.sync 0; }}"
        ))
    }

    /// Makes the counters in shared memory, if there are updates of them, part of the results. All threads are here.
    pub(crate) fn read_counters(&mut self) -> Option<Node> {
        if !std::mem::take(&mut self.counts_in_shared) {
            return None;
        }
        let (head, end) = (self.label(), self.label());
        Some(Node::Group(vec![fixed(format!(
            "bar.sync 0;\n{{ .reg .b32 %a, %b; .reg .b64 %v; .reg .pred %q;\nmul.lo.u32 %b, %lin, 8;\n{head}:\n\
             setp.ge.u32 %q, %b, {COUNTERS};\n@%q bra {end};\nmov.u32 %a, scount;\nadd.u32 %a, %a, %b;\n\
             ld.shared.u64 %v, [%a];\nmad.lo.u64 %d0, %d0, 31, %v;\nmad.lo.u32 %b, %threads, 8, %b;\nbra {head};\n\
             {end}:\nbar.sync 0; }}"
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
