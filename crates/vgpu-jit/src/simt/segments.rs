//! Where a block's statements must not be interleaved between chunks of lanes.
//!
//! Establishes that a warp runs in lock step as far as memory can show it: of two accesses that lanes of different chunks may
//! make to one place, one of them a store, the first is made by all lanes before the second by any. All versions of a
//! function have these boundaries, so they agree on programs that race within a warp too.
//!
//! Between such accesses the boundary lies where the fewest vectors would wait in registers. In an unrolled loop that is
//! behind a store, not before the next one: each round loads and stores for all lanes before the next begins.

use super::body::{BlockBoundaryKind, Stmt, block_boundary_kind, stmt_defs, stmt_uses};
use super::lane_accesses::LaneAccesses;
use super::lane_classes::{ExecMode, LaneClass, LaneClasses};
use rtcg_ptx::ast::*;
use std::collections::HashSet;

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

/// Whether converged code calls a function once for all lanes: a statement by itself, though no lane waits there.
fn is_call_for_warp(classes: &LaneClasses, st: &Stmt<'_>) -> bool {
    classes.exec_mode(st) == ExecMode::Lanes && super::interpolated::is_warp_function(&st.inst)
}

/// A load whose memory does not change while the kernel runs.
fn is_invariant_load(space: Space, nc: bool) -> bool {
    nc || matches!(space, Space::Const | Space::Param)
}

/// Segments as (begin, end, whether it is one ordering point or a call for the whole warp).
pub(crate) fn split_into_segments(
    classes: &LaneClasses,
    carry: Reg,
    stmts: &[Stmt<'_>],
    masked: bool,
) -> Vec<(usize, usize, bool)> {
    let mut out = vec![];
    let mut begin = 0;
    let mut stored = false;
    let mut accesses = LaneAccesses::new(classes, carry);
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
    let waiting = waiting_registers(classes, carry, stmts);
    let mut next = 0;
    while let Some(st) = stmts.get(next) {
        let i = next;
        next += 1;
        // The lanes that are active are those of all chunks.
        let of_warp = !masked && is_call_for_warp(classes, st);
        if of_warp || is_ordering_point(&st.inst) || (masked && matches!(&*st.inst, Inst::Activemask { .. })) {
            close(&mut begin, i, &mut stored);
            let at = close(&mut begin, i + 1, &mut stored);
            points.push(at - 1);
            accesses.add(i, st);
            continue;
        }
        if i > begin
            && (uniform_guard(st) != uniform_guard(&stmts[i - 1])
                || is_guard_overwritten(classes, carry, stmts, begin, i, masked))
        {
            close(&mut begin, i, &mut stored);
        }
        if let Some(earlier) = accesses.conflicts_with(begin, i, st) {
            let cut = (earlier + 1..=i).min_by_key(|&at| waiting[at]).unwrap_or(i);
            close(&mut begin, cut, &mut stored);
            accesses.clear(begin);
            if cut < i {
                next = cut;
                continue;
            }
        }
        accesses.add(i, st);
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

/// Before each statement, how many registers that differ between lanes are read from there on in the block.
fn waiting_registers(classes: &LaneClasses, carry: Reg, stmts: &[Stmt<'_>]) -> Vec<usize> {
    let mut waiting = HashSet::new();
    let mut counts: Vec<usize> = stmts
        .iter()
        .rev()
        .map(|st| {
            stmt_defs(st, carry, &mut |r| {
                waiting.remove(&r);
            });
            stmt_uses(st, carry, &mut |r| {
                if !classes.lane_class_of(r).is_scalar() {
                    waiting.insert(r);
                }
            });
            waiting.len()
        })
        .collect();
    counts.reverse();
    counts
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
        stmt_defs(st, carry, &mut |r| hit |= r == g.reg);
    }
    hit
}
