//! Makes statements over one space that do not need each other one statement, which reads what they share once.

use crate::ir::{Atom, Axis, Block, Exp, Lambda, Program, Stmt, Var};
use crate::rewrite::{Renaming, replace_in_block};
use crate::simplify::{all_operands, has_loop, is_commutative, remove_dead_of_host};
use rtcg_hal::DType;
use std::collections::HashSet;

/// The most values of one statement.
const MAX_VALUES: usize = 8;

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    in_block(program, &mut body);
    program.body = body;
}

/// Reductions inside of elements that run over one axis read what they share once, too.
fn in_elements(block: &mut Block) {
    for stmt in &mut block.stmts {
        stmt.exp.blocks_mut().into_iter().for_each(in_elements);
    }
    merge_all(block);
}

fn in_block(program: &mut Program, block: &mut Block) {
    for stmt in &mut block.stmts {
        let is_of_host = matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. });
        for inner in stmt.exp.blocks_mut() {
            if is_of_host { in_block(program, inner) } else { in_elements(inner) }
        }
    }
    open_scans(program, block);
    merge_all(block);
    finish_for_sole_users(program, block);
    close_scans(block);
}

/// What a scatter stores is stored by the scan whose values it alone needs, each at its index. So is what a map makes of
/// a scan with a prefix, which has another length if there are no elements.
fn finish_for_sole_users(program: &mut Program, block: &mut Block) {
    let mut at = 0;
    while at < block.stmts.len() {
        match sole_user(block, at) {
            Some(other) => {
                let mut scan = block.stmts.remove(at);
                open_scan(program, &mut scan);
                let user = block.stmts.remove(other - 1);
                join(&mut scan, user);
                block.stmts.insert(other - 1, scan);
            }
            None => at += 1,
        }
    }
}

/// The scatter, or the map, that alone reads the values of a scan, at their own index.
fn sole_user(block: &Block, at: usize) -> Option<usize> {
    let scan = &block.stmts[at];
    let Exp::Scan { space, prefix, targets, .. } = &scan.exp else { return None };
    let own: HashSet<Var> = scan.outs.iter().copied().collect();
    let users: Vec<usize> = (at + 1..block.stmts.len()).filter(|other| uses_any(&block.stmts[*other], &own)).collect();
    let is_result = block.results.iter().any(|result| result.as_var().is_some_and(|var| own.contains(&var)));
    let [other] = users.as_slice() else { return None };
    let user = &block.stmts[*other].exp;
    let (is_user, body) = match user {
        Exp::Scatter { targets: into, body, .. } => (!into.iter().any(|target| own.contains(target)), body),
        Exp::Gen { body, .. } => (prefix.is_some(), body),
        _ => return None,
    };
    let is_alike = matches!((space.as_slice(), user.space()), ([a], [b]) if a.length == b.length) && !has_loop(body);
    let fits = is_user && is_alike && reads_at_own_index(user, &own);
    (fits && targets.is_empty() && !is_result).then_some(*other)
}

/// Lets scans store something else than their values, such as what maps make of them.
fn open_scans(program: &mut Program, block: &mut Block) {
    block.stmts.iter_mut().for_each(|stmt| {
        if matches!(stmt.exp, Exp::Scan { prefix: None, .. }) {
            open_scan(program, stmt);
        }
    });
}

fn open_scan(program: &mut Program, stmt: &mut Stmt) {
    if let Exp::Scan { space, finish: finish @ None, .. } = &mut stmt.exp
        && space.len() == 1
    {
        let values: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
        let params: Vec<Var> = values.into_iter().map(|dtype| program.new_var(dtype, 0)).collect();
        let results = params.iter().map(|param| Atom::Var(*param)).collect();
        *finish = Some(Lambda { params, body: Block { stmts: Vec::new(), results } });
    }
}

/// What scans store that nothing needs is dropped; those that store their values alone need no function for it.
fn close_scans(block: &mut Block) {
    remove_dead_of_host(block);
    for stmt in &mut block.stmts {
        let Exp::Scan { finish, targets, .. } = &mut stmt.exp else { continue };
        let stores_itself = |finish: &mut Lambda| {
            let params = finish.params.iter().map(|param| Atom::Var(*param));
            targets.is_empty() && finish.body.stmts.is_empty() && params.eq(finish.body.results.iter().copied())
        };
        finish.take_if(stores_itself);
    }
}

fn merge_all(block: &mut Block) {
    let mut at = 0;
    while at < block.stmts.len() {
        while let Some(other) = partner(&block.stmts, at) {
            // Nothing that the second one needs depends on the first one, so it can come before both.
            let second = block.stmts.remove(other);
            at += hoist(&mut block.stmts, at, other, &second);
            join(&mut block.stmts[at], second);
        }
        at += 1;
    }
}

/// Moves what a statement needs of those in `at + 1..end` to `at`; returns their number.
fn hoist(stmts: &mut Vec<Stmt>, at: usize, end: usize, user: &Stmt) -> usize {
    let mut needed = HashSet::new();
    all_operands(&user.exp, &mut |var| _ = needed.insert(var));
    let mut moved = Vec::new();
    for place in (at + 1..end).rev() {
        if stmts[place].outs.iter().any(|out| needed.contains(out)) {
            let stmt = stmts.remove(place);
            all_operands(&stmt.exp, &mut |var| _ = needed.insert(var));
            moved.push(stmt);
        }
    }
    let n = moved.len();
    stmts.splice(at..at, moved.into_iter().rev());
    n
}

/// A later statement that can be merged with the one at `at`.
fn partner(stmts: &[Stmt], at: usize) -> Option<usize> {
    let first = &stmts[at];
    let mut dependent: HashSet<Var> = first.outs.iter().copied().collect();
    for (other, stmt) in stmts.iter().enumerate().skip(at + 1) {
        let own: HashSet<Var> = first.outs.iter().copied().collect();
        let follows = uses_any(stmt, &own) && reads_at_own_index(&stmt.exp, &own);
        let others: HashSet<Var> = dependent.difference(&own).copied().collect();
        let depends = uses_any(stmt, &dependent);
        let can_join = !depends || (follows && !uses_any(stmt, &others) && can_be_followed(&first.exp));
        if can_join && fits(&first.exp, &stmt.exp, follows) && first.outs.len() + stmt.outs.len() <= MAX_VALUES {
            return Some(other);
        }
        if depends {
            dependent.extend(stmt.outs.iter().copied());
        }
    }
    None
}

/// Whether a map can be computed together with what it reads at its own index.
fn can_be_followed(exp: &Exp) -> bool {
    match exp {
        Exp::Gen { space, .. } => !space.is_empty(),
        Exp::Scan { finish: Some(_), targets, .. } => targets.is_empty(),
        _ => false,
    }
}

/// Whether a map or a scatter uses arrays only as their elements at its own index, outside of loops.
fn reads_at_own_index(exp: &Exp, arrays: &HashSet<Var>) -> bool {
    let (Exp::Gen { space, body } | Exp::Scatter { space, body, .. }) = exp else { return false };
    body_reads_at_own_index(body, space, arrays)
}

fn body_reads_at_own_index(body: &Block, space: &[Axis], arrays: &HashSet<Var>) -> bool {
    let own: Vec<Atom> = space.iter().map(|axis| axis.index.into()).collect();
    body.stmts.iter().all(|stmt| match &stmt.exp {
        Exp::Read { array, index, .. } if arrays.contains(array) => *index == own,
        exp => {
            let mut uses = false;
            all_operands(exp, &mut |var| uses |= arrays.contains(&var));
            !uses
        }
    })
}

fn uses_any(stmt: &Stmt, vars: &HashSet<Var>) -> bool {
    let mut found = false;
    all_operands(&stmt.exp, &mut |var| found |= vars.contains(&var));
    found
}

fn fits(first: &Exp, second: &Exp, follows: bool) -> bool {
    let lengths = |exp: &Exp| exp.space().iter().map(|axis| axis.length).collect::<Vec<Atom>>();
    let can_join = |exp: &Exp| match exp {
        Exp::Gen { body, .. } => !has_loop(body),
        Exp::Reduce { body, op, init, commutative: true, .. } => {
            !has_loop(body) && is_commutative(op) && !init.is_empty()
        }
        _ => false,
    };
    let are_alike = std::mem::discriminant(first) == std::mem::discriminant(second) && can_join(first);
    let finishes = follows && matches!((first, second), (Exp::Scan { finish: Some(_), .. }, Exp::Gen { .. }));
    lengths(first) == lengths(second) && (are_alike || finishes) && can_join(second)
}

/// The maps of a block whose elements a later reduction reads at its own index, and nothing else that is not known before
/// the map: the places of both, and a reduction that computes both. Its body gives first what is reduced, then what is
/// stored: more values than its function has.
pub fn storing_reductions(block: &Block) -> Vec<(usize, usize, Stmt)> {
    let mut found: Vec<(usize, usize, Stmt)> = Vec::new();
    for (at, map) in block.stmts.iter().enumerate() {
        let own: HashSet<Var> = map.outs.iter().copied().collect();
        let Exp::Gen { space, body } = &map.exp else { continue };
        if space.len() != 1 || has_loop(body) || body.results.iter().any(|result| result.as_var().is_none()) {
            continue;
        }
        let mut unknown: HashSet<Var> = HashSet::new();
        for (other, stmt) in block.stmts.iter().enumerate().skip(at + 1) {
            let is_free = !found.iter().any(|(_, taken, _)| *taken == other);
            if is_free
                && uses_any(stmt, &own)
                && !uses_any(stmt, &unknown)
                && let Some(both) = storing_reduction(map, stmt, &own)
            {
                found.push((at, other, both));
                break;
            }
            unknown.extend(&stmt.outs);
        }
    }
    found
}

fn storing_reduction(map: &Stmt, reduction: &Stmt, own: &HashSet<Var>) -> Option<Stmt> {
    let (Exp::Gen { space, body }, Exp::Reduce { space: axes, body: more, op, init, commutative: true }) =
        (&map.exp, &reduction.exp)
    else {
        return None;
    };
    let is_alike = axes.len() == 1 && axes[0].length == space[0].length && !has_loop(more);
    if !is_alike || !is_commutative(op) || !body_reads_at_own_index(more, axes, own) {
        return None;
    }
    let mut renaming = Renaming::from([(axes[0].index, Atom::Var(space[0].index))]);
    let (mut both, mut more) = (body.clone(), more.clone());
    forget_reads(&mut more, &map.outs, &body.results, &mut renaming);
    let stored = std::mem::take(&mut both.results);
    append(&mut both, more, &renaming);
    both.results.extend(stored);
    let exp = Exp::Reduce { space: space.clone(), body: both, op: op.clone(), init: init.clone(), commutative: true };
    let outs = reduction.outs.iter().chain(&map.outs).copied().collect();
    Some(Stmt { outs, exp, span: reduction.span })
}

fn join(first: &mut Stmt, second: Stmt) {
    let mut renaming: Renaming = first
        .exp
        .space()
        .iter()
        .zip(second.exp.space())
        .map(|(kept, gone)| (gone.index, Atom::Var(kept.index)))
        .collect();
    let outs = first.outs.clone();
    match (&mut first.exp, second.exp) {
        (
            Exp::Gen { body, .. } | Exp::Scan { finish: Some(Lambda { body, .. }), .. },
            Exp::Gen { body: mut more, .. },
        ) => {
            forget_reads(&mut more, &outs, &body.results, &mut renaming);
            append(body, more, &renaming);
        }
        (
            Exp::Scan { finish: Some(Lambda { body, .. }), targets, .. },
            Exp::Scatter { body: mut more, targets: into, .. },
        ) => {
            // Only what the scatter stores is left.
            forget_reads(&mut more, &outs, &body.results, &mut renaming);
            body.results.clear();
            append(body, more, &renaming);
            *targets = into;
            first.outs = second.outs;
            return;
        }
        (Exp::Reduce { body, op, init, .. }, Exp::Reduce { body: more, op: more_op, init: more_init, .. }) => {
            append(body, more, &renaming);
            join_lambdas(op, more_op);
            init.extend(more_init);
        }
        _ => {}
    }
    first.outs.extend(second.outs);
}

/// Elements that the first one computes need not be read.
fn forget_reads(more: &mut Block, outs: &[Var], values: &[Atom], renaming: &mut Renaming) {
    more.stmts.retain(|stmt| {
        let Exp::Read { array, .. } = &stmt.exp else { return true };
        let value = outs.iter().position(|out| out == array).map(|at| values[at]);
        value.map(|value| renaming.insert(stmt.outs[0], value)).is_none()
    });
}

fn append(body: &mut Block, mut more: Block, renaming: &Renaming) {
    replace_in_block(&mut more, renaming);
    body.stmts.extend(more.stmts);
    body.results.extend(more.results);
}

/// The parameters are all values so far, then all values of the next element.
fn join_lambdas(op: &mut Lambda, mut more: Lambda) {
    let (n, m) = (op.params.len() / 2, more.params.len() / 2);
    let next: Vec<Var> = op.params.split_off(n);
    let more_next: Vec<Var> = more.params.split_off(m);
    op.params.extend(more.params);
    op.params.extend(next);
    op.params.extend(more_next);
    op.body.stmts.extend(more.body.stmts);
    op.body.results.extend(more.body.results);
}
