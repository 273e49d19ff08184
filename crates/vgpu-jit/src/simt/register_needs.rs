//! How many registers a function needs at least, whoever allocates them.
//!
//! An assembler reorders loads and sums, so that what is live at once in the text says little. What a loop keeps from one
//! round to the next says more: those values need registers however the loop is arranged, unless they are recomputed from
//! others for little, as addresses and constants are. Nor can values be avoided that volatile loads give and volatile
//! stores take later, because such accesses keep their order.

use super::body::{FunctionBody, stmt_defs, stmt_uses};
use super::control_flow::{self, BitSet};
use super::register_width::RegWidth;
use rtcg_ptx::ast::{Function, Inst, MemorySemantics, Space, Type};
use std::collections::HashMap;

/// Bodies for which sets of registers would take more bits than this are not analysed.
const MAX_SET_BITS: usize = 1 << 28;

/// Words of 32 bits that are live at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterNeeds {
    /// At the beginning of some block.
    pub live: u32,
    /// At the head of a loop, of values that cost more to recompute than an address does.
    pub loop_carried: u32,
    /// Between volatile or atomic accesses of one block, of values that an earlier one loaded and a later one stores.
    pub ordered: u32,
}

/// What a function needs; `None` where it is too long to find out.
pub fn register_needs(f: &Function) -> Option<RegisterNeeds> {
    let body = FunctionBody::from_function(f);
    if body.blocks.len().saturating_mul(body.widths.len()) > MAX_SET_BITS {
        return None;
    }
    let cheap = cheap_registers(&body);
    let live = control_flow::live_in(&body);
    let words = |set: &BitSet, counts: &dyn Fn(usize) -> bool| -> u32 {
        set.iter_bits().filter(|&r| counts(r)).map(|r| words_of(body.widths[r])).sum()
    };
    let heads = loop_heads(&body);
    let mut needs = RegisterNeeds::default();
    for (b, set) in live.iter().enumerate() {
        needs.live = needs.live.max(words(set, &|_| true));
        if heads.contains(b) {
            needs.loop_carried = needs.loop_carried.max(words(set, &|r| !cheap.contains(r)));
        }
    }
    needs.ordered = (0..body.blocks.len()).map(|b| ordered_words(&body, b)).max().unwrap_or(0);
    Some(needs)
}

/// Words that ordered loads of a block have given and its later ordered stores need, where they are most.
fn ordered_words(body: &FunctionBody<'_>, block: usize) -> u32 {
    let stmts = &body.blocks[block].stmts;
    // By register: where it was loaded, and where it was last stored.
    let mut loaded: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut changes = vec![0_i64; stmts.len() + 1];
    let mut close = |r: usize, (from, to): (usize, usize)| {
        let words = i64::from(words_of(body.widths[r]));
        changes[from] += words;
        changes[to] -= words;
    };
    for (at, st) in stmts.iter().enumerate() {
        if matches!(&*st.inst, Inst::St { sem, .. } if *sem != MemorySemantics::Weak) {
            stmt_uses(st, body.carry_flag(), &mut |r| {
                if let Some(place) = loaded.get_mut(&r.index()) {
                    place.1 = at;
                }
            });
        }
        let is_load = matches!(&*st.inst, Inst::Ld { sem, .. } if *sem != MemorySemantics::Weak);
        stmt_defs(st, body.carry_flag(), &mut |r| {
            if let Some(place) = loaded.remove(&r.index()) {
                close(r.index(), place);
            }
            if is_load {
                loaded.insert(r.index(), (at, at));
            }
        });
    }
    loaded.into_iter().for_each(|(r, place)| close(r, place));
    let mut held = 0;
    let most = changes.iter().map(|change| {
        held += change;
        held
    });
    most.max().unwrap_or(0) as u32
}

/// Blocks that a later block, or they themselves, lead back to.
fn loop_heads(body: &FunctionBody<'_>) -> BitSet {
    let mut heads = BitSet::default();
    for (b, block) in body.blocks.iter().enumerate() {
        for head in block.term.successors().into_iter().filter(|&s| s <= b) {
            heads.insert_bit(head);
        }
    }
    heads
}

/// Words of a register; predicates have a file of their own.
fn words_of(width: RegWidth) -> u32 {
    match width {
        RegWidth::Pred => 0,
        RegWidth::W16 | RegWidth::W32 => 1,
        RegWidth::W64 => 2,
        RegWidth::W128 => 4,
    }
}

/// Registers that only moves, parameters and arithmetic of integers write.
fn cheap_registers(body: &FunctionBody<'_>) -> BitSet {
    let (mut cheap, mut others) = (BitSet::default(), BitSet::default());
    for st in body.blocks.iter().flat_map(|block| &block.stmts) {
        let set = if is_cheap(&st.inst) { &mut cheap } else { &mut others };
        stmt_defs(st, body.carry_flag(), &mut |r| {
            set.insert_bit(r.index());
        });
    }
    others.iter_bits().for_each(|r| cheap.remove_bit(r));
    cheap
}

fn is_cheap(inst: &Inst) -> bool {
    let is_integer = |ty: &Type| !ty.is_float();
    match inst {
        Inst::Mov { .. } | Inst::Cvta { .. } | Inst::Selp { .. } | Inst::Setp { .. } | Inst::Cvt { .. } => true,
        Inst::Ld { space, .. } => matches!(space, Space::Param | Space::Const),
        Inst::Unary { ty, .. } | Inst::Binary { ty, .. } | Inst::Ternary { ty, .. } => is_integer(ty),
        _ => false,
    }
}
