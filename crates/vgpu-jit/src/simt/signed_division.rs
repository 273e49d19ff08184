//! Signed quotients and remainders by powers of two, as compilers write them: `x / 32` becomes
//! `(x + ((x >> 31) >>> 27)) >> 5`, where the sum differs from `x` only if that is negative.
//!
//! Thread indices are never negative in practice, though nothing in the code says so. Converged code
//! checks that where the sum is made (see [`super::stride_checks`]) and then takes the sum's low bits for
//! those of `x`. So it must not be entered between the sum and what reads it.

use super::body::{Block, FunctionBody, stmt_defs};
use super::control_flow::BitSet;
use super::lane_classes::CHUNK_LANES_LOG2;
use super::low_bits::is_int_word_type;
use rtcg_ptx::ast::*;
use std::collections::HashMap;

/// The sums that are read in the block of their only definition alone, with their dividends.
pub(crate) fn biased_dividends(body: &FunctionBody<'_>, live: &[BitSet]) -> HashMap<Reg, Reg> {
    let mut found = HashMap::new();
    body.blocks.iter().for_each(|block| biased_dividends_in_block(block, body.carry_flag(), &mut found));
    if found.is_empty() {
        return found;
    }
    let mut definitions: HashMap<Reg, u32> = HashMap::new();
    for st in body.blocks.iter().flat_map(|b| &b.stmts) {
        stmt_defs(st, body.carry_flag(), &mut |r| *definitions.entry(r).or_default() += 1);
    }
    found.retain(|sum, _| definitions[sum] == 1 && !live.iter().any(|l| l.contains(sum.index())));
    found
}

fn biased_dividends_in_block(block: &Block<'_>, carry: Reg, found: &mut HashMap<Reg, Reg>) {
    // By register: the number whose sign it holds in all bits, or in the lowest ones.
    let (mut signs, mut biases): (HashMap<Reg, Reg>, HashMap<Reg, Reg>) = Default::default();
    for st in &block.stmts {
        let sign = match_sign_shift(&st.inst);
        let bias = match_bias_shift(&st.inst, &signs);
        if let (Some((sum, x)), None) = (match_biased_sum(&st.inst, &biases), st.guard) {
            found.insert(sum, x);
        }
        stmt_defs(st, carry, &mut |r| {
            for known in [&mut signs, &mut biases] {
                known.retain(|&holds, x| holds != r && *x != r);
            }
        });
        if st.guard.is_none() {
            signs.extend(sign.filter(|(r, x)| r != x));
            biases.extend(bias.filter(|(r, x)| r != x));
        }
    }
}

/// `sign = x >> 31`
fn match_sign_shift(inst: &Inst) -> Option<(Reg, Reg)> {
    match inst {
        Inst::Binary { op: BinaryOp::Shr, ty, dst, a: Operand::Reg(x), b: Operand::Int(n), .. } => {
            (is_int_word_type(*ty) && ty.is_signed() && *n == i64::from(ty.bits()) - 1).then_some((*dst, *x))
        }
        _ => None,
    }
}

/// `bias = sign >>> 27`; quotients by less than the lanes of a chunk gain nothing.
fn match_bias_shift(inst: &Inst, signs: &HashMap<Reg, Reg>) -> Option<(Reg, Reg)> {
    match inst {
        Inst::Binary { op: BinaryOp::Shr, ty, dst, a: Operand::Reg(sign), b: Operand::Int(n), .. } => {
            let log = i64::from(ty.bits()) - n;
            let fits =
                is_int_word_type(*ty) && !ty.is_signed() && (CHUNK_LANES_LOG2..i64::from(ty.bits())).contains(&log);
            signs.get(sign).filter(|_| fits).map(|x| (*dst, *x))
        }
        _ => None,
    }
}

/// `sum = x + bias`
fn match_biased_sum(inst: &Inst, biases: &HashMap<Reg, Reg>) -> Option<(Reg, Reg)> {
    let Inst::Binary { op: BinaryOp::Add, ty, mods, dst, a: Operand::Reg(a), b: Operand::Reg(b) } = inst else {
        return None;
    };
    let of = |x: &Reg, bias: &Reg| biases.get(bias) == Some(x);
    let x = if of(a, b) {
        a
    } else if of(b, a) {
        b
    } else {
        return None;
    };
    (is_int_word_type(*ty) && !mods.sat && dst != x).then_some((*dst, *x))
}
