//! Fission of segments: where a segment is split into pieces, each of which is emitted for all chunks of lanes
//! before the next begins.
//!
//! A segment is otherwise emitted chunk after chunk. A sum over many terms is then one long chain of
//! dependent additions in each chunk, and the processor waits for each of them. Where nothing but
//! the sum is live between two terms, the chunks' chains are interleaved, and a uniform factor of a term is
//! loaded and broadcast once.
//! Assumes that the statements of a segment may be interleaved between lanes in any way.

use super::body::{FunctionBody, Stmt, stmt_defs, stmt_uses};
use super::control_flow::BitSet;
use super::lane_classes::{ExecMode, LaneClass, LaneClasses};
use super::pure_instructions::is_pure;
use super::register_width::{CHUNKS_PER_WARP, EmitShape};
use rtcg_ptx::ast::{AddrBase, Inst, Reg};
use std::collections::HashMap;

/// Vectors that may be alive at a cut, of all chunks together, so that what a piece computes still
/// has room in 16 registers.
const MAX_LIVE_VECTORS_AT_CUT: usize = 11;

/// A segment with fewer cuts is emitted as one piece.
const MIN_CUTS: usize = 2;

/// The ends of the pieces of each of a block's segments (as [`super::segments::split_into_segments`] gives them),
/// counted from the segment's begin. `live` are the registers that are read after the block.
pub(crate) fn fission_points(
    body: &FunctionBody<'_>,
    classes: &LaneClasses,
    stmts: &[Stmt<'_>],
    segments: &[(usize, usize, bool)],
    mut live: BitSet,
) -> Vec<Vec<usize>> {
    let mut result: Vec<Vec<usize>> = segments
        .iter()
        .rev()
        .map(|&(from, to, _)| Segment::new(body, classes, &stmts[from..to]).fission_piece_ends(&mut live))
        .collect();
    result.reverse();
    result
}

struct Segment<'x, 'm> {
    body: &'x FunctionBody<'m>,
    classes: &'x LaneClasses,
    stmts: &'x [Stmt<'m>],
}

impl<'x, 'm> Segment<'x, 'm> {
    fn new(body: &'x FunctionBody<'m>, classes: &'x LaneClasses, stmts: &'x [Stmt<'m>]) -> Self {
        Segment { body, classes, stmts }
    }

    /// The ends of the pieces. Brings `live` from the segment's end to its begin.
    fn fission_piece_ends(&self, live: &mut BitSet) -> Vec<usize> {
        let n = self.stmts.len();
        let links = self.single_live_values(live);
        let copies = self.live_scalar_copies();
        let mut ends = vec![];
        let mut computed: HashMap<Reg, bool> = HashMap::new();
        for (k, st) in self.stmts.iter().enumerate() {
            stmt_defs(st, self.body.carry_flag(), &mut |r| {
                computed.insert(r, is_pure(&st.inst));
            });
            if let Some(r) = links[k + 1]
                && computed.get(&r) == Some(&true)
                && self.vector_count_of_register(r) + copies[k + 1] <= MAX_LIVE_VECTORS_AT_CUT
            {
                ends.push(k + 1);
            }
        }
        if ends.len() < MIN_CUTS {
            ends.clear();
        }
        ends.push(n);
        ends
    }

    fn vector_count_of_register(&self, r: Reg) -> usize {
        self.body.widths[r.index()].part_count(EmitShape::Chunk) * CHUNKS_PER_WARP
    }

    /// Before each statement (and after the last) the only varying register of the segment that is
    /// alive, if it is an operand of arithmetic next.
    fn single_live_values(&self, live: &mut BitSet) -> Vec<Option<Reg>> {
        let carry = self.body.carry_flag();
        let varying = |r: Reg| !self.classes.lane_class_of(r).is_scalar();
        let mut alive: HashMap<Reg, bool> = HashMap::new();
        let mut note = |r: Reg| {
            if varying(r) && live.contains(r.index()) {
                alive.insert(r, false);
            }
        };
        for st in self.stmts {
            stmt_uses(st, carry, &mut note);
            stmt_defs(st, carry, &mut note);
        }
        let mut links = vec![None; self.stmts.len() + 1];
        for (k, st) in self.stmts.iter().enumerate().rev() {
            stmt_defs(st, carry, &mut |r| {
                alive.remove(&r);
                live.remove_bit(r.index());
            });
            stmt_uses(st, carry, &mut |r| {
                live.insert_bit(r.index());
                if varying(r) {
                    alive.insert(r, is_pure(&st.inst));
                }
            });
            links[k] = match (alive.len(), alive.iter().next()) {
                (1, Some((&r, true))) => Some(r),
                _ => None,
            };
        }
        links
    }

    /// Before each statement (and after the last) how many vectors hold copies of scalars that are
    /// operands of the lanes both before and after it.
    fn live_scalar_copies(&self) -> Vec<usize> {
        let mut spans: HashMap<Reg, (usize, usize)> = HashMap::new();
        for (k, st) in self.stmts.iter().enumerate().filter(|(_, st)| self.classes.exec_mode(st) == ExecMode::Lanes) {
            let base = scalar_address_base(&st.inst, self.classes);
            stmt_uses(st, self.body.carry_flag(), &mut |r| {
                if self.classes.lane_class_of(r).is_scalar() && Some(r) != base {
                    spans.entry(r).or_insert((k, k)).1 = k;
                }
            });
        }
        let mut change = vec![0_isize; self.stmts.len() + 1];
        for (&r, &(first, last)) in &spans {
            let vectors = if self.classes.lane_class_of(r) == LaneClass::Uniform {
                1
            } else {
                self.vector_count_of_register(r) as isize
            };
            change[first + 1] += vectors;
            change[last + 1] -= vectors;
        }
        change
            .into_iter()
            .scan(0, |sum, c| {
                *sum += c;
                usize::try_from(*sum).ok()
            })
            .collect()
    }
}

/// The register that an access counts its address from, if the lanes' addresses are made of one scalar.
fn scalar_address_base(inst: &Inst, classes: &LaneClasses) -> Option<Reg> {
    match inst {
        Inst::Ld { addr, .. } | Inst::St { addr, .. } => match addr.base {
            AddrBase::Reg(r) if classes.lane_class_of(r).is_scalar() => Some(r),
            _ => None,
        },
        _ => None,
    }
}
