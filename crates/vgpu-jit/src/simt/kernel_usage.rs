//! What a kernel needs of the machine: native stack, local memory, suspension; and the table of
//! its statements.

use super::function_plan::{FunctionPlan, LOCAL_ALIGN};
use crate::InstructionSite;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::LaneSet;
use std::collections::HashMap;

/// Needs of a kernel with all it calls.
pub(crate) struct KernelUsage {
    pub(crate) local_bytes: u64,
    pub(crate) stack_bytes: u32,
    pub(crate) recursive: bool,
}

/// Functions that `p` calls; with an indirect call all that have a body and are no kernel.
pub(crate) fn callees(p: &FunctionPlan<'_>, plans: &[FunctionPlan<'_>]) -> Vec<FuncId> {
    let mut out = vec![];
    for st in p.body.blocks.iter().flat_map(|b| &b.stmts) {
        if let Inst::Call { callee, .. } = &*st.inst {
            match callee {
                Callee::Direct(f) => out.push(*f),
                Callee::Indirect { .. } => out.extend(plans.iter().filter(|q| !q.f.entry).map(|q| q.id)),
            }
        }
    }
    out.retain(|f| plans.iter().any(|p| p.id == *f));
    out.sort_unstable();
    out.dedup();
    out
}

/// The deepest chain of calls from `kernel`; a recursion counts once.
pub(crate) fn measure_usage(plans: &[FunctionPlan<'_>], kernel: FuncId, frames: &HashMap<FuncId, u32>) -> KernelUsage {
    let mut usage = KernelUsage { local_bytes: 0, stack_bytes: 0, recursive: false };
    let mut path = vec![];
    // What they need is known when they run only.
    let unbounded = plans
        .iter()
        .flat_map(|p| &p.f.body)
        .any(|s| matches!(s.inst, Inst::Call { callee: Callee::Indirect { .. }, .. } | Inst::Alloca { .. }));
    let mut memo = HashMap::new();
    let (local, stack) = call_depth(plans, kernel, frames, &mut path, &mut memo, &mut usage.recursive);
    usage.recursive |= unbounded;
    usage.local_bytes = local;
    usage.stack_bytes = stack.min(u64::from(u32::MAX)) as u32;
    usage
}

fn call_depth(
    plans: &[FunctionPlan<'_>],
    id: FuncId,
    frames: &HashMap<FuncId, u32>,
    path: &mut Vec<FuncId>,
    memo: &mut HashMap<FuncId, (u64, u64)>,
    recursive: &mut bool,
) -> (u64, u64) {
    if path.contains(&id) {
        *recursive = true;
        return (0, 0);
    }
    if let Some(&d) = memo.get(&id) {
        return d;
    }
    let Some(p) = plans.iter().find(|p| p.id == id) else { return (0, 0) };
    path.push(id);
    let mut below = (0, 0);
    for c in callees(p, plans) {
        let d = call_depth(plans, c, frames, path, memo, recursive);
        below = (below.0.max(d.0), below.1.max(d.1));
    }
    path.pop();
    // The start of the local memory may have to be moved to the alignment of its variables.
    let align = if p.local_align > LOCAL_ALIGN { u64::from(p.local_align) } else { 0 };
    let own = (u64::from(p.local_pitch) * 32 + align, u64::from(frames.get(&id).copied().unwrap_or(0)));
    let total = (own.0 + below.0, own.1 + below.1);
    memo.insert(id, total);
    total
}

/// Whether a warp may have to wait.
pub(crate) fn may_suspend(plans: &[FunctionPlan<'_>]) -> bool {
    plans.iter().any(|p| {
        let waits = |i: &Inst| matches!(i, Inst::Bar { .. } | Inst::Nanosleep { .. } | Inst::Mbarrier { .. });
        !p.spins.is_empty() || p.body.blocks.iter().flat_map(|b| &b.stmts).any(|s| waits(&s.inst))
    })
}

/// A statement: where its text begins and ends; file, line and column in the CUDA source, if known
/// (else [`NO_FILE`]); twice the bytes of an access, plus 1 if it stores.
pub(crate) type SiteRow = [u32; 6];

/// The file of statements of unknown origin.
const NO_FILE: u32 = u32::MAX;

/// The statements of all functions, in the order of their site numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SiteTable {
    /// The number of each function's first statement, and its name.
    pub(crate) functions: Vec<(u32, String)>,
    pub(crate) rows: Vec<SiteRow>,
}

impl SiteTable {
    fn push_instruction_site(&mut self, span: Span, line: Option<SourceLine>, is_store: bool, access_bytes: u32) {
        let l = line.unwrap_or(SourceLine { file: NO_FILE, line: 0, column: 0 });
        self.rows.push([span.start, span.end, l.file, l.line, l.column, access_bytes << 1 | u32::from(is_store)]);
    }

    /// The site of a statement, for the whole warp.
    pub(crate) fn get_instruction_site(&self, statement: u32) -> Option<InstructionSite> {
        let &[start, end, file, line, column, access] = self.rows.get(statement as usize)?;
        let function = self.functions.partition_point(|f| f.0 <= statement).checked_sub(1)?;
        Some(InstructionSite {
            function: self.functions[function].1.clone(),
            span: Span { start, end },
            line: (file != NO_FILE).then_some(SourceLine { file, line, column }),
            lanes: LaneSet::Warp,
            is_store: access & 1 != 0,
            access_bytes: access >> 1,
        })
    }
}

/// The table of a kernel.
pub(crate) fn site_table(plans: &[FunctionPlan<'_>]) -> SiteTable {
    let mut out = SiteTable::default();
    for p in plans {
        out.functions.push((out.rows.len() as u32, p.f.name.to_string()));
        for st in &p.f.body {
            let (is_store, access_bytes) = match &st.inst {
                Inst::Ld { ty, dsts, .. } => (false, ty.bytes() * dsts.len() as u32),
                Inst::St { ty, srcs, .. } => (true, ty.bytes() * srcs.len() as u32),
                Inst::Atom { ty, .. } => (true, ty.bytes()),
                Inst::AtomVector { ty, srcs, .. } => (true, ty.bytes() * srcs.len() as u32),
                Inst::Mbarrier { .. } => (true, 8),
                Inst::BulkCopy { .. } => (true, 16),
                Inst::CpAsync { size, .. } => (true, *size),
                Inst::Matrix(matrix) => (matrix.is_store(), 16 * u32::from(matrix.address().is_some())),
                _ => (false, 0),
            };
            out.push_instruction_site(st.span, st.line, is_store, access_bytes);
        }
        out.push_instruction_site(p.f.span, None, false, 0);
    }
    out
}
