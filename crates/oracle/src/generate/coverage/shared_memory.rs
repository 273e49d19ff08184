//! Shared memory that the instructions of cells use: a table that all threads read, counters that all update, and
//! the first contents of each thread's own; and what of them becomes part of the results.

use super::memory_access::{COMMUTING_UPDATES, COUNTERS_PER_UPDATE};
use crate::generate::ProgramNode;
use crate::generate::generator::{ProgramGenerator, fixed_line};
use crate::generate::memory::{LOCAL_BYTES, SHARED_SLOT_BYTES, TABLE_BYTES};

const COUNTER_BYTES: usize = COMMUTING_UPDATES.len() * COUNTERS_PER_UPDATE * 8;

/// Variables of module scope.
pub(crate) fn shared_variable_declarations() -> ProgramNode {
    fixed_line(format!(".shared .align 16 .b8 stable[{TABLE_BYTES}];\n.shared .align 16 .b8 scount[{COUNTER_BYTES}];"))
}

impl ProgramGenerator {
    /// First contents of shared memory.
    pub(crate) fn emit_shared_initialization(&mut self) -> ProgramNode {
        let (pattern, n) = (self.random.next_word() as i64, TABLE_BYTES.max(COUNTER_BYTES));
        let store = |name: &str, bytes: usize| {
            format!(
                "mov.u32 %a, {name};\nadd.u32 %a, %a, %b;\nsetp.lt.u32 %q, %b, {bytes};\n\
                 @%q st.shared.v2.u64 [%a], {{%v, %w}};\n"
            )
        };
        let stores = store("stable", TABLE_BYTES) + &store("scount", COUNTER_BYTES);
        let head = self.new_label();
        fixed_line(format!(
            "{{ .reg .b32 %a, %b; .reg .b64 %v, %w; .reg .pred %q;\nmov.u64 %w, {pattern};\ncvt.u64.u32 %v, %lin;\n\
             add.u64 %v, %v, %w;\nmov.u32 %a, sslots;\nmad.lo.u32 %a, %lin, {SHARED_SLOT_BYTES}, %a;\n\
             st.shared.v2.u64 [%a], {{%v, %w}};\nst.shared.v2.u64 [%a+16], {{%w, %v}};\n\
             mul.lo.u32 %b, %lin, 16;\n{head}:\nadd.u64 %v, %v, %w;\n{stores}mad.lo.u32 %b, %threads, 16, %b;\n\
             setp.lt.u32 %q, %b, {n};\n@%q bra {head};\nbar.sync 0; }}"
        ))
    }

    /// Makes the counters in shared memory, if there are updates of them, part of the results. All threads are here.
    pub(crate) fn emit_counter_readback(&mut self) -> Option<ProgramNode> {
        if !std::mem::take(&mut self.counts_in_shared) {
            return None;
        }
        let (head, end) = (self.new_label(), self.new_label());
        Some(ProgramNode::Group(vec![fixed_line(format!(
            "bar.sync 0;\n{{ .reg .b32 %a, %b; .reg .b64 %v; .reg .pred %q;\nmul.lo.u32 %b, %lin, 8;\n{head}:\n\
             setp.ge.u32 %q, %b, {COUNTER_BYTES};\n@%q bra {end};\nmov.u32 %a, scount;\nadd.u32 %a, %a, %b;\n\
             ld.shared.u64 %v, [%a];\nmad.lo.u64 %d0, %d0, 31, %v;\nmad.lo.u32 %b, %threads, 8, %b;\nbra {head};\n\
             {end}:\nbar.sync 0; }}"
        ))]))
    }

    /// Makes the thread's own shared and local memory part of the results.
    pub(crate) fn emit_thread_memory_readback(&mut self) -> ProgramNode {
        let read = |name: &str, at: usize| format!("ld{name}+{at}];\nmad.lo.u64 %d1, %d1, 31, %v;\n");
        let shared: String = (0..SHARED_SLOT_BYTES).step_by(8).map(|at| read(".shared.u64 %v, [%a", at)).collect();
        let local: String = (0..LOCAL_BYTES).step_by(8).map(|at| read(".local.u64 %v, [lslot", at)).collect();
        ProgramNode::Group(vec![fixed_line(format!(
            "{{ .reg .b32 %a; .reg .b64 %v;\nmov.u32 %a, sslots;\nmad.lo.u32 %a, %lin, {SHARED_SLOT_BYTES}, %a;\n{shared}{local} }}"
        ))])
    }
}
