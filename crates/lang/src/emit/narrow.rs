//! Which integers of 64 bits fit in 32, for the numbers that a launch has.
//!
//! Programs compute indices and counters in int64, for which GPUs take two instructions and more. Ranges that begin with
//! the lengths and the numbers of a launch show that most of them, and all sums and products on the way, fit in int32.
//! A conclusion holds whatever elements arrays have.

use crate::ir::{Atom, Axis, Block, Exp, Lambda, Number, Program, Stmt, Var};
use crate::simplify::is_commutative;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::{BTreeSet, HashMap};

/// What a launch knows.
pub trait LaunchNumbers {
    /// The least and the largest value that a scalar of the host may have.
    fn scalar(&self, var: Var) -> Option<(i128, i128)>;
    /// The largest length of an array along an axis.
    fn length(&self, array: Var, axis: usize) -> Option<i128>;
    /// The largest number of an array's elements.
    fn size(&self, array: Var) -> Option<i128>;
}

type Range = (i128, i128);

const INT32: Range = (i32::MIN as i128, i32::MAX as i128);

/// The variables of int64 in a statement whose values fit in int32, scalars of the host among them, and the arrays whose
/// places do. With them the largest value of `of`, if that is known.
pub fn narrow_variables(
    program: &Program,
    stmt: &Stmt,
    numbers: &dyn LaunchNumbers,
    of: Option<Atom>,
) -> (BTreeSet<Var>, Option<i128>) {
    let mut ranges = Ranges { program, numbers, known: HashMap::new(), made_by: HashMap::new() };
    let space = stmt.exp.space();
    space.iter().for_each(|axis| ranges.index(axis));
    let body = match &stmt.exp {
        Exp::Gen { body, .. }
        | Exp::Scatter { body, .. }
        | Exp::Reduce { body, .. }
        | Exp::Scan { body, .. }
        | Exp::Filter { body, .. } => Some(body),
        _ => None,
    };
    let is_small = |range: Range| INT32.0 <= range.0 && range.1 <= INT32.1;
    // A reduction of rows loops over its last axis.
    if space.iter().any(|axis| !is_small(ranges.of(axis.length))) {
        return (BTreeSet::new(), None);
    }
    body.into_iter().for_each(|block| ranges.block(block));
    match &stmt.exp {
        Exp::Scan { space, body, op, prefix, finish, .. } if space.len() == 1 => {
            let totals = ranges.combine(space, body, op, prefix.as_deref().unwrap_or_default());
            if let Some(last) = finish {
                last.params.iter().zip(totals).for_each(|(param, total)| ranges.set(*param, total));
                ranges.block(&last.body);
            }
        }
        // What others combine begins with a neutral element, which may be the largest integer.
        Exp::Reduce { space, body, op, init, .. } if space.len() == 1 && !is_commutative(op) => {
            ranges.combine(space, body, op, init);
        }
        _ => {}
    }
    let mut found: BTreeSet<Var> = BTreeSet::new();
    for (var, range) in &ranges.known {
        let ty = program.var_type(*var);
        if (ty.ndim > 0 || ty.dtype == DType::I64) && is_small(*range) {
            found.insert(*var);
        }
    }
    let largest = of.map(|atom| ranges.of(atom)).filter(|range| is_small(*range)).map(|range| range.1);
    (found, largest)
}

struct Ranges<'a> {
    program: &'a Program,
    numbers: &'a dyn LaunchNumbers,
    /// Of scalars their values, of arrays their places.
    known: HashMap<Var, Range>,
    made_by: HashMap<Var, (Op, &'a [Atom])>,
}

fn range_of_dtype(dtype: DType) -> Range {
    let bits = 8 * dtype.itemsize() as u32;
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, (1 << bits) - 1),
        _ => (-(1 << (bits.min(64) - 1)), (1 << (bits.min(64) - 1)) - 1),
    }
}

fn is_inside(range: Range, of: Range) -> bool {
    of.0 <= range.0 && range.1 <= of.1
}

fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

impl<'a> Ranges<'a> {
    fn dtype(&self, var: Var) -> DType {
        self.program.var_type(var).dtype
    }

    fn of(&mut self, atom: Atom) -> Range {
        match atom {
            Atom::Const(Number::Int(value), _) => (value, value),
            Atom::Const(Number::Bool(value), _) => (value.into(), value.into()),
            Atom::Const(_, dtype) => range_of_dtype(dtype),
            Atom::Var(var) => {
                if let Some(range) = self.known.get(&var) {
                    return *range;
                }
                let dtype = self.dtype(var);
                // What is not from inside of the element is from the host, if it is known.
                match self.numbers.scalar(var).filter(|_| dtype.is_integral()) {
                    Some(range) => {
                        self.known.insert(var, range);
                        range
                    }
                    None => range_of_dtype(dtype),
                }
            }
        }
    }

    fn set(&mut self, var: Var, range: Range) {
        let all = range_of_dtype(self.dtype(var));
        self.known.insert(var, if is_inside(range, all) { range } else { all });
    }

    fn index(&mut self, axis: &Axis) {
        let length = self.of(axis.length);
        self.set(axis.index, (0, (length.1 - 1).max(0)));
    }

    fn block(&mut self, block: &'a Block) {
        block.stmts.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        let out = stmt.outs.first().copied();
        match (&stmt.exp, out) {
            (Exp::Prim { op, compute, args }, Some(out)) => {
                self.made_by.insert(out, (*op, args));
                let range = self.operation(*op, *compute, args).unwrap_or(range_of_dtype(self.dtype(out)));
                self.set(out, range);
            }
            (Exp::Cast { arg, to }, Some(out)) => {
                let from = self.program.dtype(*arg);
                let range = if from.is_integral() { self.of(*arg) } else { range_of_dtype(*to) };
                self.set(out, range);
            }
            (Exp::Read { array, index, .. }, Some(out)) => {
                index.iter().for_each(|at| _ = self.of(*at));
                if let Some(size) = self.numbers.size(*array) {
                    self.known.insert(*array, (0, size));
                }
                self.set(out, range_of_dtype(self.dtype(out)));
            }
            (Exp::Length { array, axis }, Some(out)) => {
                let length = self.numbers.length(*array, *axis).unwrap_or(i64::MAX.into());
                self.set(out, (0, length));
            }
            (Exp::Clamp { length, index }, Some(out)) => {
                self.of(*index);
                let length = self.of(*length);
                self.set(out, (0, (length.1 - 1).max(0)));
            }
            (Exp::Same { lengths, .. }, Some(out)) => {
                let range = self.of(lengths[0]);
                self.set(out, range);
            }
            (Exp::If { then, other, .. }, _) => {
                self.block(then);
                self.block(other);
                for (at, out) in stmt.outs.iter().enumerate() {
                    let range = hull(self.of(then.results[at]), self.of(other.results[at]));
                    self.set(*out, range);
                }
            }
            (Exp::Loop { params, init, cond, body }, _) => {
                self.repeat(params, init, cond, body);
                for (param, out) in params.iter().zip(&stmt.outs) {
                    let range = self.of((*param).into());
                    self.set(*out, range);
                }
            }
            (Exp::Reduce { space, body, op, init, .. }, _) => {
                space.iter().for_each(|axis| self.index(axis));
                self.block(body);
                let totals = self.combine(space, body, op, init);
                stmt.outs.iter().zip(totals).for_each(|(out, total)| self.set(*out, total));
            }
            _ => {
                // What else makes integers gives any.
                let numbers = stmt.outs.iter().filter(|out| self.program.var_type(**out).ndim == 0);
                numbers.for_each(|out| self.set(*out, range_of_dtype(self.dtype(*out))));
            }
        }
    }

    /// The values of a reduction, and what its function computes.
    fn combine(&mut self, space: &[Axis], body: &'a Block, op: &'a Lambda, init: &[Atom]) -> Vec<Range> {
        let n = space.last().map_or((0, 0), |axis| self.of(axis.length)).1;
        let made_by = |result: &Atom| {
            let stmt = op.body.stmts.iter().find(|stmt| Some(stmt.outs[0]) == result.as_var())?;
            if let Exp::Prim { op, .. } = &stmt.exp { Some(*op) } else { None }
        };
        let n_values = body.results.len();
        let is_plain = is_commutative(op);
        let mut totals: Vec<Range> = Vec::with_capacity(n_values);
        let mut sums = Vec::new();
        for (at, result) in op.body.results.iter().enumerate() {
            let element = self.of(body.results[at]);
            let first = init.get(at).map(|first| self.of(*first));
            if is_plain && made_by(result) == Some(Op::Add) {
                // Those of any elements, perhaps behind the first value.
                let first = first.unwrap_or((0, 0));
                sums.push(at);
                totals.push((
                    n.saturating_mul(element.0).min(0) + first.0.min(0),
                    n.saturating_mul(element.1).max(0) + first.1.max(0),
                ));
            } else {
                // As functions that choose have it; the others follow.
                totals.push(first.map_or(element, |first| hull(first, element)));
            }
        }
        loop {
            for (at, total) in totals.iter().enumerate() {
                self.set(op.params[at], *total);
                self.set(op.params[n_values + at], *total);
            }
            self.block(&op.body);
            let mut is_done = true;
            for (at, result) in op.body.results.iter().enumerate().filter(|(at, _)| !sums.contains(at)) {
                let all = range_of_dtype(self.dtype(op.params[at]));
                if totals[at] != all && !is_inside(self.of(*result), totals[at]) {
                    totals[at] = all;
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        // The sum of two parts is one of all elements at most.
        for at in sums {
            if let Some(var) = op.body.results[at].as_var() {
                self.set(var, totals[at]);
            }
        }
        totals
    }

    /// A loop: parameters have the values of the first round, and those that a round gives while the condition holds.
    fn repeat(&mut self, params: &[Var], init: &[Atom], cond: &'a Block, body: &'a Block) {
        let first: Vec<Range> = init.iter().map(|value| self.of(*value)).collect();
        let all: Vec<Range> = params.iter().map(|param| range_of_dtype(self.dtype(*param))).collect();
        let mut now = first.clone();
        for round in 0..4 {
            params.iter().zip(&now).for_each(|(param, range)| self.set(*param, *range));
            self.block(cond);
            let mut changed = Vec::new();
            self.assume(cond.results[0], true, &mut changed);
            self.block(body);
            let next: Vec<Range> = body.results.iter().map(|value| self.of(*value)).collect();
            changed.into_iter().rev().for_each(|(var, range)| _ = self.known.insert(var, range));
            let joined: Vec<Range> = first.iter().zip(&next).map(|(first, next)| hull(*first, *next)).collect();
            let holds = joined.iter().zip(&now).all(|(joined, now)| is_inside(*joined, *now));
            if holds && round != 1 {
                return;
            }
            // First an end that moves may be anywhere; what a round makes of that is tried next.
            let widened = |at: usize| {
                let (now, joined, all) = (now[at], joined[at], all[at]);
                (if joined.0 < now.0 { all.0 } else { now.0 }, if joined.1 > now.1 { all.1 } else { now.1 })
            };
            now = match round {
                0 => (0..now.len()).map(widened).collect(),
                1 if holds => joined,
                _ => all.clone(),
            };
        }
    }

    /// Notes what a truth value says of integers; `changed` gets what was known before.
    fn assume(&mut self, atom: Atom, is_true: bool, changed: &mut Vec<(Var, Range)>) {
        let Some((op, args)) = atom.as_var().and_then(|var| self.made_by.get(&var).copied()) else { return };
        let is = |atom: Atom, value: bool| matches!(atom, Atom::Const(Number::Bool(found), _) if found == value);
        match op {
            Op::LogicalNot => self.assume(args[0], !is_true, changed),
            Op::LogicalAnd | Op::LogicalOr if is_true == (op == Op::LogicalAnd) => {
                args.iter().for_each(|arg| self.assume(*arg, is_true, changed));
            }
            Op::Where if is_true && is(args[2], false) => {
                args[..2].iter().for_each(|arg| self.assume(*arg, true, changed));
            }
            Op::Where if !is_true && is(args[1], true) => {
                [args[0], args[2]].iter().for_each(|arg| self.assume(*arg, false, changed));
            }
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual
                if args.iter().all(|arg| self.program.dtype(*arg).is_integral()) =>
            {
                // As the first one is below the second one, perhaps by 1 at least.
                let (a, b, least) = match (op, is_true) {
                    (Op::Less, true) => (args[0], args[1], 1),
                    (Op::LessEqual, true) => (args[0], args[1], 0),
                    (Op::Greater, true) => (args[1], args[0], 1),
                    (Op::GreaterEqual, true) => (args[1], args[0], 0),
                    (Op::Less, false) => (args[1], args[0], 0),
                    (Op::LessEqual, false) => (args[1], args[0], 1),
                    (Op::Greater, false) => (args[0], args[1], 0),
                    _ => (args[0], args[1], 1),
                };
                let (low, high) = (self.of(a), self.of(b));
                for (atom, range) in [(a, (low.0, low.1.min(high.1 - least))), (b, (high.0.max(low.0 + least), high.1))]
                {
                    if let Some(var) = atom.as_var()
                        && range.0 <= range.1
                    {
                        changed.push((var, self.of(atom)));
                        self.known.insert(var, range);
                    }
                }
            }
            _ => {}
        }
    }

    fn operation(&mut self, op: Op, compute: DType, args: &[Atom]) -> Option<Range> {
        let ranges: Vec<Range> = args.iter().map(|arg| self.of(*arg)).collect();
        if op == Op::Where {
            return Some(hull(ranges[1], ranges[2]));
        }
        let fits = |(arg, range): (&Atom, &Range)| {
            self.program.dtype(*arg).is_integral() && is_inside(*range, range_of_dtype(compute))
        };
        if op.is_comparison() || !compute.is_integral() || !args.iter().zip(&ranges).all(fits) {
            return None;
        }
        let a = ranges[0];
        let corners = |combine: fn(i128, i128) -> i128| {
            let b = ranges[1];
            let all = [combine(a.0, b.0), combine(a.0, b.1), combine(a.1, b.0), combine(a.1, b.1)];
            (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
        };
        let found = match op {
            Op::Add => corners(|a, b| a + b),
            Op::Subtract => corners(|a, b| a - b),
            Op::Multiply => corners(i128::saturating_mul),
            Op::Negative => (-a.1, -a.0),
            Op::Positive | Op::Copy => a,
            Op::Minimum => (a.0.min(ranges[1].0), a.1.min(ranges[1].1)),
            Op::Maximum => (a.0.max(ranges[1].0), a.1.max(ranges[1].1)),
            // A quotient is no farther from 0 than what is divided, but for rounding down.
            Op::FloorDivide if ranges[1].0 >= 0 => (a.0.min(0), a.1.max(0)),
            Op::Remainder if ranges[1].0 >= 0 => {
                let high = (ranges[1].1 - 1).max(0);
                (0, if a.0 >= 0 { high.min(a.1) } else { high })
            }
            Op::BitAnd if a.0 >= 0 || ranges[1].0 >= 0 => {
                let most = |range: Range| if range.0 >= 0 { range.1 } else { i128::MAX };
                (0, most(a).min(most(ranges[1])))
            }
            Op::RightShift if a.0 >= 0 => (0, a.1),
            _ => return None,
        };
        // What wraps may be anything.
        is_inside(found, range_of_dtype(compute)).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VarType;
    use crate::text::parse_program;

    struct Given(i128);

    impl LaunchNumbers for Given {
        fn scalar(&self, _: Var) -> Option<(i128, i128)> {
            Some((0, self.0))
        }
        fn length(&self, _: Var, _: usize) -> Option<i128> {
            Some(self.0)
        }
        fn size(&self, _: Var) -> Option<i128> {
            Some(self.0)
        }
    }

    /// The number of narrow scalars, and that of wide ones of int64.
    fn counts(text: &str, largest: i128) -> (usize, usize) {
        let program = parse_program(text).unwrap();
        let found = narrow_variables(&program, program.body.stmts.last().unwrap(), &Given(largest), None).0;
        let is_number = |at: &u32| program.vars[*at as usize] == VarType { dtype: DType::I64, ndim: 0 };
        let n = (0..program.vars.len() as u32).filter(is_number).count();
        let n_narrow = found.iter().filter(|var| is_number(&var.0)).count();
        (n_narrow, n - n_narrow)
    }

    const COUNTED: &str = "\
(program ((v0 int64))
  (let (v9 [int64])
    (gen ((i1 v0))
      (let (v2 int64) (multiply int64 i1 i1))
      (let (v8 int64)
        (loop ((v3 int64 0))
          (while (let (v4 bool) (less int64 v3 v0)) (results v4))
          (do (let (v5 int64) (add int64 v3 1)) (results v5))))
      (let (v6 int64) (add int64 v8 v2))
      (results v6)))
  (results v9))";

    #[test]
    fn counters_are_as_large_as_their_limits() {
        assert_eq!(counts(COUNTED, 1000), (7, 0));
        // The square of an index and the sum with it are too large.
        assert_eq!(counts(COUNTED, 100_000), (5, 2));
        assert_eq!(counts(COUNTED, 1 << 31), (0, 7));
    }

    #[test]
    fn what_wraps_may_be_anything() {
        let text = "\
(program ((v0 int64) (v7 [int32]))
  (let (v9 [int64])
    (gen ((i1 v0))
      (let (v2 int32) (read v7 i1))
      (let (v3 int32) (multiply int32 v2 v2))
      (let (v4 int64) (multiply int64 v2 v2))
      (let (v5 int64) (remainder int64 v4 v0))
      (let (v6 int64) (subtract int64 v5 v0))
      (results v6)))
  (results v9))";
        // The square of an int32 needs 64 bits; its remainder does not.
        assert_eq!(counts(text, 1 << 20), (4, 1));
    }

    #[test]
    fn loops_that_only_grow_are_wide() {
        let text = "\
(program ((v0 int64))
  (let (v9 [int64])
    (gen ((i1 v0))
      (let (v8 int64)
        (loop ((v3 int64 i1))
          (while (let (v4 bool) (not_equal int64 v3 1)) (results v4))
          (do (let (v5 int64) (multiply int64 v3 3)) (results v5))))
      (results v8)))
  (results v9))";
        assert_eq!(counts(text, 1000), (2, 3));
    }
}
