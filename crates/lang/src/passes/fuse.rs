//! Puts the body of a map where its elements are read, so that the sequence is not stored.
//!
//! A sequence is stored if it is a result, if something other than an element of it is used, or if computing its elements
//! again where they are read costs more than storing them.

use crate::ir::{Atom, Block, Exp, Number, Program, Var};
use crate::rewrite::{Renaming, copy_block, replace_in_block, replace_in_exp, replace_results};
use crate::simplify::{all_operands, remove_dead, remove_dead_of_host};
use rtcg_codegen::array::Op;

/// What an element may cost to be computed wherever it is read.
const MAX_REPEATED_COST: usize = 12;
/// What an element may cost to be computed again and again in a loop.
const MAX_LOOPED_COST: usize = 4;
/// What is never computed twice: loops and reductions.
const LOOP_COST: usize = 1000;

/// Fuses the statements of the program.
pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body, false);
    program.body = body;
}

/// Fuses the statements inside of elements, where no sequence can be stored.
pub(super) fn run_in_elements(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_elements(program, &mut body);
    program.body = body;
}

fn in_elements(program: &mut Program, block: &mut Block) {
    for stmt in &mut block.stmts {
        match &mut stmt.exp {
            Exp::If { then, other, .. } => {
                in_elements(program, then);
                in_elements(program, other);
            }
            Exp::Loop { cond, body, .. } => {
                in_elements(program, cond);
                in_elements(program, body);
            }
            exp => exp.blocks_mut().into_iter().for_each(|inner| in_block(program, inner, true)),
        }
    }
}

fn in_block(program: &mut Program, block: &mut Block, is_element: bool) {
    for stmt in &mut block.stmts {
        let is_structure = matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. });
        if is_element || is_structure {
            stmt.exp.blocks_mut().into_iter().for_each(|inner| in_block(program, inner, is_element));
        }
    }
    let mut at = 0;
    while at < block.stmts.len() {
        if matches!(block.stmts[at].exp, Exp::Gen { .. }) {
            fuse_one(program, block, at, is_element);
        }
        at += 1;
    }
    if is_element { remove_dead(block) } else { remove_dead_of_host(block) }
}

/// Where the elements of a sequence are read.
#[derive(Debug, Default)]
struct Uses {
    n_reads: usize,
    n_looped: usize,
    /// Something else needs it.
    is_stored: bool,
}

fn fuse_one(program: &mut Program, block: &mut Block, at: usize, is_element: bool) {
    let producer = block.stmts[at].clone();
    let Exp::Gen { space, body } = &producer.exp else { return };
    if body.results.iter().any(|result| program.ndim(*result) > 0) {
        return;
    }
    for (which, out) in producer.outs.iter().enumerate() {
        let mut uses = Uses { is_stored: block.results.contains(&Atom::Var(*out)), ..Uses::default() };
        for stmt in &block.stmts[at + 1..] {
            count_uses(&stmt.exp, *out, space.is_empty(), 0, &mut uses);
        }
        if uses.n_reads == 0 {
            continue;
        }
        let mut own = body.clone();
        own.results = vec![body.results[which]];
        remove_dead(&mut own);
        let cost = cost_of(&own);
        let is_trivial = cost <= 3 && !reads_arrays(&own);
        let is_cheap = is_trivial
            || (uses.n_looped == 0 && (uses.n_reads == 1 || cost * (uses.n_reads - 1) <= MAX_REPEATED_COST))
            || (uses.n_looped > 0 && cost <= MAX_LOOPED_COST);
        // Reductions of a map may be shared by lanes, those of other statements are each of one thread.
        let is_nest = !is_element && has_long_reduction(&own);
        let keeps_nest = is_nest && block.stmts[at + 1..].iter().any(|stmt| is_other_than_map(&stmt.exp, *out));
        let fuses = is_element
            || (is_cheap && !keeps_nest && (is_trivial || !uses.is_stored) && (cost < LOOP_COST || uses.n_looped == 0));
        if fuses {
            let from = Inlined { array: *out, index: space.iter().map(|axis| axis.index).collect(), body: own };
            let mut rest = Block { stmts: block.stmts.split_off(at + 1), results: std::mem::take(&mut block.results) };
            if is_element {
                inline_in_block(program, &mut rest, &from, false);
            } else {
                rest.stmts.iter_mut().for_each(|stmt| inline_in_exp(program, &mut stmt.exp, &from, true));
            }
            block.stmts.extend(rest.stmts);
            block.results = rest.results;
        }
    }
}

/// What is put where elements are read.
struct Inlined {
    array: Var,
    index: Vec<Var>,
    body: Block,
}

/// Counts the uses of an array, or of a scalar that is computed on the device, in an expression.
fn count_uses(exp: &Exp, of: Var, is_scalar: bool, depth: usize, uses: &mut Uses) {
    let is_it = |atom: &Atom| *atom == Atom::Var(of);
    let mut n_operands = 0;
    exp.for_each_operand(&mut |atom| n_operands += usize::from(is_it(&atom)));
    match exp {
        Exp::Read { array, index, .. } if !is_scalar => {
            if *array == of {
                // Outside of elements nothing can be computed in place.
                if depth == 0 {
                    uses.is_stored = true;
                }
                uses.n_reads += 1;
                uses.n_looped += usize::from(depth > 1);
            }
            debug_assert!(!index.iter().any(is_it), "an index is a scalar");
        }
        Exp::Length { .. } if !is_scalar => uses.is_stored |= n_operands > 0,
        // Scalars that a kernel computes are operands of the statements in elements.
        _ if is_scalar && depth > 0 => {
            uses.n_reads += n_operands;
            uses.n_looped += if depth > 1 { n_operands } else { 0 };
        }
        _ => uses.is_stored |= n_operands > 0,
    }
    for block in exp.blocks() {
        let inner = match exp {
            // Blocks of the host.
            Exp::If { .. } if depth == 0 => 0,
            Exp::Loop { .. } if depth == 0 => {
                let mut found = Vec::new();
                all_operands_of_block(block, &mut found);
                uses.is_stored |= found.contains(&of);
                0
            }
            Exp::If { .. } => depth,
            _ => depth + 1,
        };
        let results = block.results.iter().filter(|atom| is_it(atom)).count();
        if inner == 0 || !is_scalar {
            uses.is_stored |= results > 0;
        } else {
            uses.n_reads += results;
        }
        block.stmts.iter().for_each(|stmt| count_uses(&stmt.exp, of, is_scalar, inner, uses));
        // The function of a reduction runs for each pair of elements.
        if let Exp::Reduce { op, .. } | Exp::Scan { op, .. } = exp
            && std::ptr::eq(block, &raw const op.body)
        {
            let mut found = Vec::new();
            all_operands_of_block(block, &mut found);
            uses.n_looped += found.iter().filter(|var| **var == of).count();
        }
    }
}

fn all_operands_of_block(block: &Block, found: &mut Vec<Var>) {
    found.extend(block.results.iter().filter_map(|atom| atom.as_var()));
    block.stmts.iter().for_each(|stmt| all_operands(&stmt.exp, &mut |var| found.push(var)));
}

/// Reductions of more elements are worth an array for their results.
const MAX_SHORT_REDUCTION: i128 = 16;

fn has_long_reduction(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.exp {
        Exp::Reduce { space, .. } => space
            .iter()
            .any(|axis| !matches!(axis.length, Atom::Const(Number::Int(length), _) if length <= MAX_SHORT_REDUCTION)),
        exp => exp.blocks().into_iter().any(has_long_reduction),
    })
}

fn is_other_than_map(exp: &Exp, of: Var) -> bool {
    let mut uses = false;
    all_operands(exp, &mut |var| uses |= var == of);
    uses && !matches!(exp, Exp::Gen { .. })
}

fn reads_arrays(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.exp, Exp::Read { .. } | Exp::Segment { .. }) || stmt.exp.blocks().into_iter().any(reads_arrays)
    })
}

/// What a body costs, where an addition costs 1.
fn cost_of(block: &Block) -> usize {
    block
        .stmts
        .iter()
        .map(|stmt| match &stmt.exp {
            Exp::Prim { op, compute, .. } => cost_of_op(*op) * if compute.itemsize() > 8 { 2 } else { 1 },
            Exp::Cast { .. } | Exp::Length { .. } | Exp::Row { .. } | Exp::Slice { .. } | Exp::Same { .. } => 0,
            Exp::Read { .. } => 2,
            Exp::Clamp { .. } => 1,
            Exp::If { then, other, .. } => 1 + cost_of(then).max(cost_of(other)),
            Exp::Segment { .. } => 20,
            _ => LOOP_COST,
        })
        .sum()
}

fn cost_of_op(op: Op) -> usize {
    match op {
        Op::TrueDivide | Op::Sqrt | Op::Reciprocal => 4,
        Op::FloorDivide | Op::Remainder | Op::Fmod => 4,
        Op::Add
        | Op::Subtract
        | Op::Multiply
        | Op::Negative
        | Op::Positive
        | Op::Copy
        | Op::Where
        | Op::Minimum
        | Op::Maximum
        | Op::Absolute
        | Op::BitAnd
        | Op::BitOr
        | Op::BitXor
        | Op::LeftShift
        | Op::RightShift
        | Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalNot
        | Op::Invert => 1,
        op if op.is_comparison() => 1,
        _ => 8,
    }
}

/// Replaces reads by the body. A scalar without axes is computed first in each body that uses it.
fn inline_in_exp(program: &mut Program, exp: &mut Exp, what: &Inlined, is_outside: bool) {
    let is_structure = matches!(exp, Exp::If { .. } | Exp::Loop { .. });
    for block in exp.blocks_mut() {
        inline_in_block(program, block, what, is_outside && is_structure);
    }
}

fn inline_in_block(program: &mut Program, block: &mut Block, what: &Inlined, is_outside: bool) {
    if what.index.is_empty() && !is_outside {
        let mut found = Vec::new();
        all_operands_of_block(block, &mut found);
        if found.contains(&what.array) {
            let copied = copy_block(program, &what.body, &mut Renaming::new());
            let renaming = Renaming::from([(what.array, copied.results[0])]);
            replace_in_block(block, &renaming);
            block.stmts.splice(0..0, copied.stmts);
        }
        return;
    }
    let stmts = std::mem::take(&mut block.stmts);
    let mut renaming = Renaming::new();
    for mut stmt in stmts {
        replace_in_exp(&mut stmt.exp, &renaming);
        inline_in_exp(program, &mut stmt.exp, what, is_outside);
        if let Exp::Read { array, index, .. } = &stmt.exp
            && *array == what.array
            && !is_outside
        {
            let mut own: Renaming = what.index.iter().copied().zip(index.iter().copied()).collect();
            let copied = copy_block(program, &what.body, &mut own);
            block.stmts.extend(copied.stmts);
            renaming.insert(stmt.outs[0], copied.results[0]);
            continue;
        }
        block.stmts.push(stmt);
    }
    replace_results(block, &renaming);
}
