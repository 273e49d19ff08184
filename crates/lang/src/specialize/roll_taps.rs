//! Rolls the taps of an element into loops: sums of many terms that are computed alike.
//!
//! Establishes of [`RolledTaps`]: the body's values, by the same operations in the same order. Terms are alike if they
//! differ in numbers and in the offsets of reads only, and if those of all reads are places in one nest of loops. Assumes
//! that no operation has effects, as in all elements of stencils.

use super::stencil::StencilModel;
use crate::ir::{Atom, Block, Exp, Number, Program, Stmt, Var};
use crate::simplify::{all_operands, remove_dead};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::{HashMap, HashSet};

/// The fewest terms of a sum that become loops.
const MIN_TAPS: usize = 16;

/// A read of the element of a tap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TapRead {
    /// What it defines.
    pub(super) var: Var,
    /// The field's position in the model.
    pub(super) field: usize,
    /// The offsets at the first tap.
    pub(super) first: Vec<i64>,
    /// What each loop adds to them with each step.
    pub(super) steps: Vec<Vec<i64>>,
}

/// Numbers that taps have, one each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TapNumbers {
    pub(super) var: Var,
    pub(super) dtype: DType,
    pub(super) numbers: Vec<Number>,
}

/// A sum over taps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TapSum {
    /// The sum so far, in the statements of a tap.
    pub(super) so_far: Var,
    /// What it begins with.
    pub(super) init: Atom,
    /// The whole sum, after the taps.
    pub(super) whole: Var,
}

/// An element as loops over taps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RolledTaps {
    /// The lengths of the loops, the innermost first.
    pub(super) loops: Vec<usize>,
    /// What comes before the loops; the results are those of its values that taps and what is after them need.
    pub(super) before: Block,
    /// A tap, without its reads; the results are the next sums.
    pub(super) tap: Block,
    pub(super) reads: Vec<TapRead>,
    pub(super) numbers: Vec<TapNumbers>,
    pub(super) sums: Vec<TapSum>,
    /// What comes after; the results are those of the element.
    pub(super) after: Block,
    /// For the types of variables.
    pub(super) program: Program,
}

/// Statements of a body that add one term each: positions, in order.
struct Chain {
    links: Vec<usize>,
    terms: Vec<Atom>,
}

/// Rolls the taps of a model; `None` where they are few or not alike.
pub(super) fn roll_taps(model: &StencilModel) -> Option<RolledTaps> {
    let body = Body::of(model)?;
    let chains = body.chains();
    let taps = chains.iter().map(|chain| chain.links.len()).max().filter(|taps| *taps >= MIN_TAPS)?;
    let chains: Vec<Chain> = chains.into_iter().filter(|chain| chain.links.len() == taps).collect();
    let owners = body.owners(&chains, taps)?;
    let mut alike = Alike { body: &body, owners: &owners, slots: HashMap::new(), order: Vec::new() };
    for tap in 0..taps {
        let mut same = HashMap::new();
        for chain in &chains {
            alike.compare(chain.links[0], 1, chain.terms[0], chain.terms[tap], tap, &mut same)?;
        }
    }
    build(&body, &chains, &alike, taps)
}

/// The statements of an element.
struct Body<'m> {
    model: &'m StencilModel,
    stmts: &'m [Stmt],
    definitions: HashMap<Var, usize>,
    uses: HashMap<Var, usize>,
}

impl<'m> Body<'m> {
    fn of(model: &'m StencilModel) -> Option<Self> {
        let stmts = &model.body.stmts[..];
        let is_plain = |stmt: &Stmt| stmt.outs.len() == 1 && stmt.exp.blocks().is_empty();
        let mut uses: HashMap<Var, usize> = HashMap::new();
        let mut note = |var: Var| *uses.entry(var).or_default() += 1;
        stmts.iter().for_each(|stmt| all_operands(&stmt.exp, &mut note));
        model.body.results.iter().filter_map(|atom| atom.as_var()).for_each(&mut note);
        let uses_indices = model.indices.iter().any(|index| uses.contains_key(index));
        if uses_indices || !stmts.iter().all(is_plain) {
            return None;
        }
        let definitions = stmts.iter().enumerate().map(|(at, stmt)| (stmt.outs[0], at)).collect();
        Some(Self { model, stmts, definitions, uses })
    }

    fn definition(&self, atom: Atom) -> Option<usize> {
        self.definitions.get(&atom.as_var()?).copied()
    }

    /// The operation and operands of a statement that has two.
    fn pair(&self, at: usize) -> Option<(Op, DType, DType, [Atom; 2])> {
        let Exp::Prim { op, compute, args } = &self.stmts[at].exp else { return None };
        let &[a, b] = &args[..] else { return None };
        Some((*op, *compute, self.model.program.var_type(self.stmts[at].outs[0]).dtype, [a, b]))
    }

    /// Sums whose parts nothing else uses.
    fn chains(&self) -> Vec<Chain> {
        let before = |at: usize| {
            let (op, compute, dtype, [so_far, _]) = self.pair(at)?;
            let previous = self.definition(so_far)?;
            let (other, other_compute, other_dtype, _) = self.pair(previous)?;
            let is_link = (op, compute, dtype) == (other, other_compute, other_dtype)
                && self.uses.get(&self.stmts[previous].outs[0]) == Some(&1);
            is_link.then_some(previous)
        };
        let is_sum = |at: &usize| matches!(self.pair(*at), Some((Op::Add, ..)));
        let links: HashMap<usize, usize> =
            (0..self.stmts.len()).filter(is_sum).filter_map(|at| Some((at, before(at)?))).collect();
        let inner: HashSet<usize> = links.values().copied().collect();
        let ends = (0..self.stmts.len()).filter(|at| links.contains_key(at) && !inner.contains(at));
        let chain = |end: usize| {
            let mut all: Vec<usize> = std::iter::successors(Some(end), |at| links.get(at).copied()).collect();
            all.reverse();
            let terms = all.iter().filter_map(|at| self.pair(*at)).map(|(.., [_, term])| term).collect();
            Chain { links: all, terms }
        };
        ends.map(chain).collect()
    }

    /// The number that an operand is.
    fn number(&self, atom: Atom) -> Option<(Number, DType)> {
        match atom {
            Atom::Const(number, dtype) => Some((number, dtype)),
            Atom::Var(var) => match (&self.stmts[self.definition(atom)?].exp, self.model.program.var_type(var).dtype) {
                (Exp::Cast { arg: Atom::Const(number, dtype), .. }, to) if *dtype == to => Some((*number, to)),
                (Exp::Prim { op: Op::Negative, args, .. }, to) => match args[..] {
                    [Atom::Const(Number::Float(number), dtype)] if dtype == to => Some((Number::Float(-number), to)),
                    _ => None,
                },
                _ => None,
            },
        }
    }

    fn operands(&self, at: usize) -> Vec<Atom> {
        match &self.stmts[at].exp {
            Exp::Prim { args, .. } => args.clone(),
            Exp::Cast { arg, .. } => vec![*arg],
            _ => Vec::new(),
        }
    }

    /// The tap of each statement that is needed by the terms of one only; `None` where other statements use one of those.
    fn owners(&self, chains: &[Chain], taps: usize) -> Option<HashMap<usize, usize>> {
        let links: HashSet<usize> = chains.iter().flat_map(|chain| chain.links.iter().copied()).collect();
        let mut owners: HashMap<usize, Option<usize>> = HashMap::new();
        for tap in 0..taps {
            let mut seen = HashSet::new();
            let mut open: Vec<Atom> = chains.iter().map(|chain| chain.terms[tap]).collect();
            while let Some(atom) = open.pop() {
                let Some(at) = self.definition(atom).filter(|_| self.number(atom).is_none()) else { continue };
                if links.contains(&at) {
                    return None;
                }
                if seen.insert(at) {
                    owners.entry(at).and_modify(|owner| *owner = None).or_insert(Some(tap));
                    open.extend(self.operands(at));
                }
            }
        }
        let owners: HashMap<usize, usize> = owners.into_iter().filter_map(|(at, owner)| Some((at, owner?))).collect();
        let owner = |atom: Atom| self.definition(atom).and_then(|at| owners.get(&at));
        let is_private = |at: usize| {
            let own = owners.get(&at);
            links.contains(&at) || self.operands(at).into_iter().all(|atom| owner(atom).is_none() || owner(atom) == own)
        };
        let is_closed =
            (0..self.stmts.len()).all(is_private) && self.model.body.results.iter().all(|atom| owner(*atom).is_none());
        is_closed.then_some(owners)
    }
}

/// An operand: a statement of the first tap, and its position there.
type Place = (usize, usize);

/// What differs between taps.
enum Slot {
    /// The numbers of an operand.
    Numbers(DType, Vec<Number>),
    /// The offsets of a read.
    Offsets(Vec<Vec<i64>>),
}

struct Alike<'b, 'm> {
    body: &'b Body<'m>,
    owners: &'b HashMap<usize, usize>,
    slots: HashMap<Place, Slot>,
    /// The statements of the first tap.
    order: Vec<usize>,
}

impl Alike<'_, '_> {
    /// Compares an operand of the first tap with that of another; `user` is the first tap's statement that has it.
    fn compare(
        &mut self,
        user: usize,
        operand: usize,
        first: Atom,
        other: Atom,
        tap: usize,
        same: &mut HashMap<usize, usize>,
    ) -> Option<()> {
        let body = self.body;
        if let (Some((_, dtype)), Some((number, other_dtype))) = (body.number(first), body.number(other)) {
            return (dtype == other_dtype).then(|| self.note_number(user, operand, dtype, number));
        }
        let own = |atom: Atom, tap: usize| body.definition(atom).filter(|at| self.owners.get(at) == Some(&tap));
        let (Some(at), Some(to)) = (own(first, 0), own(other, tap)) else { return (first == other).then_some(()) };
        if let Some(found) = same.get(&at) {
            return (*found == to).then_some(());
        }
        same.insert(at, to);
        if tap == 0 {
            self.order.push(at);
        }
        let dtype = |at: usize| body.model.program.var_type(body.stmts[at].outs[0]).dtype;
        if dtype(at) != dtype(to) {
            return None;
        }
        match (&body.stmts[at].exp, &body.stmts[to].exp) {
            (Exp::Prim { op, compute, args }, Exp::Prim { op: other_op, compute: other_compute, args: others }) => {
                if (op, compute, args.len()) != (other_op, other_compute, others.len()) {
                    return None;
                }
                args.iter()
                    .zip(others)
                    .enumerate()
                    .try_for_each(|(operand, (first, other))| self.compare(at, operand, *first, *other, tap, same))
            }
            (Exp::Cast { arg, to }, Exp::Cast { arg: other, to: other_to }) if to == other_to => {
                self.compare(at, 0, *arg, *other, tap, same)
            }
            (Exp::Read { array, index, .. }, Exp::Read { array: other, index: other_index, .. }) if array == other => {
                let offset = |atom: &Atom| match atom {
                    Atom::Const(Number::Int(value), _) => i64::try_from(*value).ok(),
                    _ => None,
                };
                debug_assert_eq!(index.len(), other_index.len());
                let offsets = other_index.iter().map(offset).collect::<Option<Vec<i64>>>()?;
                match self.slots.entry((at, 0)).or_insert_with(|| Slot::Offsets(Vec::new())) {
                    Slot::Offsets(all) => all.push(offsets),
                    Slot::Numbers(..) => return None,
                }
                Some(())
            }
            _ => None,
        }
    }

    fn note_number(&mut self, user: usize, operand: usize, dtype: DType, number: Number) {
        if let Slot::Numbers(_, all) =
            self.slots.entry((user, operand)).or_insert_with(|| Slot::Numbers(dtype, Vec::new()))
        {
            all.push(number);
        }
    }
}

/// Loops in which reads are made.
struct Nest {
    /// Their lengths, the innermost first.
    loops: Vec<usize>,
    /// For each read and loop, what a step adds to the offsets.
    steps: Vec<Vec<Vec<i64>>>,
}

/// The loops in which all these reads are made, if there are any; offsets of each read are given for each tap.
fn nest(reads: &[&Vec<Vec<i64>>], taps: usize) -> Option<Nest> {
    let difference = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<i64>>();
    let (mut found, mut unit) = (Nest { loops: Vec::new(), steps: vec![Vec::new(); reads.len()] }, 1);
    while unit < taps {
        let step: Vec<Vec<i64>> = reads.iter().map(|all| difference(&all[unit], &all[0])).collect();
        let goes_on = |n: &usize| {
            reads.iter().zip(&step).all(|(all, step)| {
                (0..unit).all(|k| {
                    let from = &all[(n - 1) * unit + k];
                    all.get(n * unit + k).is_some_and(|to| difference(to, from) == *step)
                })
            })
        };
        let length = (1..).find(|n| (n + 1) * unit > taps || !goes_on(n))?;
        if length == 1 || !taps.is_multiple_of(unit * length) {
            return None;
        }
        found.loops.push(length);
        found.steps.iter_mut().zip(step).for_each(|(all, step)| all.push(step));
        unit *= length;
    }
    Some(found)
}

/// The loops, and the reads of a tap.
fn tap_reads(body: &Body<'_>, alike: &Alike<'_, '_>, taps: usize) -> Option<(Vec<usize>, Vec<TapRead>)> {
    let mut reads = Vec::new();
    let mut all_offsets = Vec::new();
    for at in &alike.order {
        if let (Exp::Read { array, .. }, Some(Slot::Offsets(offsets))) =
            (&body.stmts[*at].exp, alike.slots.get(&(*at, 0)))
        {
            let field = body.model.fields.iter().position(|field| field.array == *array)?;
            reads.push(TapRead { var: body.stmts[*at].outs[0], field, first: offsets[0].clone(), steps: Vec::new() });
            all_offsets.push(offsets);
        }
    }
    if reads.is_empty() {
        return None;
    }
    let Nest { loops, steps } = nest(&all_offsets, taps)?;
    reads.iter_mut().zip(steps).for_each(|(read, steps)| read.steps = steps);
    Some((loops, reads))
}

fn is_in_tables(dtype: DType, numbers: &[Number]) -> bool {
    let is_simple = matches!(dtype, DType::F32 | DType::F64) || dtype.is_integral();
    is_simple && numbers.iter().all(|number| !matches!(number, Number::Float(value) if !value.is_finite()))
}

/// The numbers that differ between taps, and which operands of the first tap's statements they are.
fn tap_numbers(alike: &Alike<'_, '_>, program: &mut Program) -> Option<(Vec<TapNumbers>, HashMap<Place, Var>)> {
    let mut numbers: Vec<TapNumbers> = Vec::new();
    let mut replaced = HashMap::new();
    let mut slots: Vec<_> = alike.slots.iter().collect();
    slots.sort_by_key(|(place, _)| **place);
    for (place, slot) in slots {
        let Slot::Numbers(dtype, all) = slot else { continue };
        if all.iter().all(|number| *number == all[0]) {
            continue;
        }
        if !is_in_tables(*dtype, all) {
            return None;
        }
        let known = numbers.iter().find(|known| known.dtype == *dtype && known.numbers == *all).map(|known| known.var);
        let var = known.unwrap_or_else(|| program.new_var(*dtype, 0));
        if known.is_none() {
            numbers.push(TapNumbers { var, dtype: *dtype, numbers: all.clone() });
        }
        replaced.insert(*place, var);
    }
    Some((numbers, replaced))
}

/// A statement of the first tap with other operands.
fn with_operands(stmt: &Stmt, operand: &dyn Fn(usize, Atom) -> Atom) -> Stmt {
    let mut stmt = stmt.clone();
    match &mut stmt.exp {
        Exp::Prim { args, .. } => args.iter_mut().enumerate().for_each(|(k, arg)| *arg = operand(k, *arg)),
        Exp::Cast { arg, .. } => *arg = operand(0, *arg),
        _ => {}
    }
    stmt
}

fn build(body: &Body<'_>, chains: &[Chain], alike: &Alike<'_, '_>, taps: usize) -> Option<RolledTaps> {
    let mut program = body.model.program.clone();
    let (loops, reads) = tap_reads(body, alike, taps)?;
    let (numbers, replaced) = tap_numbers(alike, &mut program)?;
    let value = |at: usize, k: usize, atom: Atom| match (replaced.get(&(at, k)), body.number(atom)) {
        (Some(var), _) => Atom::Var(*var),
        (None, Some((number, dtype))) => Atom::Const(number, dtype),
        (None, None) => atom,
    };
    let is_read = |at: &usize| matches!(body.stmts[*at].exp, Exp::Read { .. });
    let mut order: Vec<usize> = alike.order.iter().copied().filter(|at| !is_read(at)).collect();
    order.sort_unstable();
    let mut tap = Block::default();
    tap.stmts.extend(order.iter().map(|at| with_operands(&body.stmts[*at], &|k, atom| value(*at, k, atom))));
    let mut sums = Vec::new();
    for chain in chains {
        let (first, last) = (chain.links[0], chain.links[taps - 1]);
        let (.., dtype, [init, _]) = body.pair(first)?;
        let so_far = program.new_var(dtype, 0);
        let operand = |k, atom| if k == 0 { so_far.into() } else { value(first, k, atom) };
        tap.stmts.push(with_operands(&body.stmts[first], &operand));
        tap.results.push(body.stmts[first].outs[0].into());
        sums.push(TapSum { so_far, init, whole: body.stmts[last].outs[0] });
    }
    let (before, after) = around(body, chains, alike, &tap);
    Some(RolledTaps { loops, before, tap, reads, numbers, sums, after, program })
}

/// The statements that are of no tap: those before, and those that need the sums.
fn around(body: &Body<'_>, chains: &[Chain], alike: &Alike<'_, '_>, tap: &Block) -> (Block, Block) {
    let links: HashSet<usize> = chains.iter().flat_map(|chain| chain.links.iter().copied()).collect();
    let mut late: HashSet<Var> = links.iter().map(|at| body.stmts[*at].outs[0]).collect();
    let (mut before, mut after) = (Block::default(), Block::default());
    for (at, stmt) in body.stmts.iter().enumerate() {
        if links.contains(&at) || alike.owners.contains_key(&at) {
            continue;
        }
        let mut is_late = false;
        all_operands(&stmt.exp, &mut |var| is_late |= late.contains(&var));
        if is_late {
            late.insert(stmt.outs[0]);
        }
        (if is_late { &mut after } else { &mut before }).stmts.push(stmt.clone());
    }
    after.results.clone_from(&body.model.body.results);
    let mut needed: HashSet<Var> = HashSet::new();
    for stmt in tap.stmts.iter().chain(&after.stmts) {
        all_operands(&stmt.exp, &mut |var| {
            needed.insert(var);
        });
    }
    needed.extend(after.results.iter().filter_map(|atom| atom.as_var()));
    needed.extend(chains.iter().filter_map(|chain| body.pair(chain.links[0])?.3[0].as_var()));
    before.results =
        before.stmts.iter().map(|stmt| stmt.outs[0]).filter(|var| needed.contains(var)).map(Atom::Var).collect();
    remove_dead(&mut before);
    (before, after)
}
