//! Where a block's statements must not be interleaved between chunks of lanes.

use super::body::{BlockBoundaryKind, Stmt, block_boundary_kind};
use super::lane_classes::{ExecMode, LaneClass, LaneClasses};
use rtcg_ptx::ast::*;

/// Whether all lanes must have come up to a statement before any goes beyond it.
pub(crate) fn is_ordering_point(inst: &Inst) -> bool {
    use Inst::*;
    match inst {
        Ld { sem, .. } | St { sem, .. } => *sem != MemorySemantics::Weak,
        Mov { src: Operand::Special(s), .. } => matches!(
            s,
            SpecialReg::Clock
                | SpecialReg::ClockHi
                | SpecialReg::Clock64
                | SpecialReg::GlobalTimer
                | SpecialReg::GlobalTimerLo
                | SpecialReg::GlobalTimerHi
        ),
        Atom { .. }
        | Fence(_)
        | Nanosleep { .. }
        | CpAsync { .. }
        | Texture(_)
        | BulkCopy { .. }
        | Mbarrier { .. }
        | AtomVector { .. }
        | Alloca { .. }
        | StackSave { .. }
        | StackRestore { .. }
        | Brkpt
        | Trap => true,
        _ => block_boundary_kind(inst) != BlockBoundaryKind::Simple,
    }
}

/// A load whose memory does not change while the kernel runs.
fn is_invariant_load(space: Space, nc: bool) -> bool {
    nc || matches!(space, Space::Const | Space::Param)
}

/// Segments as (begin, end, whether it is one ordering point).
pub(crate) fn split_into_segments(
    classes: &LaneClasses,
    carry: Reg,
    stmts: &[Stmt<'_>],
    masked: bool,
) -> Vec<(usize, usize, bool)> {
    let mut out = vec![];
    let mut begin = 0;
    let mut stored = false;
    let mut close = |begin: &mut usize, end: usize, stored: &mut bool| {
        if *begin < end {
            out.push((*begin, end, false));
        }
        *begin = end;
        *stored = false;
        out.len()
    };
    let mut points = vec![];
    let uniform_guard =
        |st: &Stmt<'_>| st.guard.filter(|g| !masked && classes.lane_class_of(g.reg) == LaneClass::Uniform);
    for (i, st) in stmts.iter().enumerate() {
        // The lanes that are active are those of all chunks.
        if is_ordering_point(&st.inst) || (masked && matches!(&*st.inst, Inst::Activemask { .. })) {
            close(&mut begin, i, &mut stored);
            let at = close(&mut begin, i + 1, &mut stored);
            points.push(at - 1);
            continue;
        }
        if i > begin
            && (uniform_guard(st) != uniform_guard(&stmts[i - 1])
                || is_guard_overwritten(classes, carry, stmts, begin, i, masked))
        {
            close(&mut begin, i, &mut stored);
        }
        match &*st.inst {
            Inst::Ld { space, nc, .. }
                if !is_invariant_load(*space, *nc)
                    && !masked
                    && stored
                    && classes.exec_mode(st) == ExecMode::Uniform =>
            {
                close(&mut begin, i, &mut stored);
            }
            Inst::St { addr, space, .. } if *space != Space::Param => {
                if !masked && classes.address_class(addr) == LaneClass::Uniform {
                    close(&mut begin, i + 1, &mut stored);
                } else {
                    stored = true;
                }
            }
            _ => {}
        }
    }
    close(&mut begin, stmts.len(), &mut stored);
    for p in points {
        out[p].2 = true;
    }
    out
}

/// A uniform guard is evaluated once per segment, so its register must not change inside.
fn is_guard_overwritten(
    classes: &LaneClasses,
    carry: Reg,
    stmts: &[Stmt<'_>],
    begin: usize,
    i: usize,
    masked: bool,
) -> bool {
    let Some(g) = stmts[i].guard else { return false };
    if masked || !classes.lane_class_of(g.reg).is_scalar() {
        return false;
    }
    let mut hit = false;
    for st in &stmts[begin..i] {
        super::body::stmt_defs(st, carry, &mut |r| hit |= r == g.reg);
    }
    hit
}
