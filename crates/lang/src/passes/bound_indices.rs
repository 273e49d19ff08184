//! Drops what keeps indices inside where they are inside anyway: wraps of negative ones, and clamps.
//!
//! The indices of a space run from 0 to its length; from there on sums, choices and conversions give each index of an
//! element a range whose ends are numbers, or a length and a number. An array has the length of the space that makes it,
//! and keeps it in loops.

use crate::ir::{Atom, Axis, Block, Exp, Number, Program, Stmt, Var};
use crate::rewrite::{Renaming, replace_in_exp, replace_results};
use rtcg_codegen::array::Op;
use rtcg_hal::{DType, DTypeKind};
use std::collections::HashMap;

pub(super) fn run(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    let mut bounds = Bounds { program, lengths: HashMap::new(), least: HashMap::new(), known: HashMap::new() };
    bounds.in_host_block(&mut body);
    program.body = body;
}

/// A number, or a length plus a number. Numbers are so small, and lengths are so far from the largest integer, that
/// sums of ends do not overflow.
#[derive(Debug, Clone, Copy, PartialEq)]
struct End {
    length: Option<Var>,
    more: i64,
}

/// Larger numbers are not followed.
const MAX_NUMBER: i64 = 1 << 40;

impl End {
    fn number(value: i64) -> Self {
        Self { length: None, more: value }
    }

    fn plus(self, more: i64) -> Option<Self> {
        Some(Self { more: self.more + more, ..self }).filter(|end| end.more.abs() <= MAX_NUMBER)
    }

    /// The sum, of which one is a number.
    fn and(self, other: Self) -> Option<Self> {
        match (self.length, other.length) {
            (_, None) => self.plus(other.more),
            (None, _) => other.plus(self.more),
            _ => None,
        }
    }
}

/// Both ends are part of it; `None` if nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Range {
    low: Option<End>,
    high: Option<End>,
}

impl Range {
    fn only(end: End) -> Self {
        Self { low: Some(end), high: Some(end) }
    }

    fn from(low: i64, high: Option<End>) -> Self {
        Self { low: Some(End::number(low)), high }
    }
}

/// What a scalar of an element is.
#[derive(Debug, Clone, Default)]
struct Known {
    range: Range,
    /// The operation that computes it, and its operands.
    made_by: Option<(Op, Vec<Atom>)>,
}

fn is_natural(atom: &Atom) -> bool {
    matches!(atom, Atom::Const(Number::Int(0..), _))
}

struct Bounds<'p> {
    program: &'p Program,
    /// The lengths of arrays along their axes.
    lengths: HashMap<(Var, usize), End>,
    /// What lengths are at least.
    least: HashMap<Var, i64>,
    known: HashMap<Var, Known>,
}

impl Bounds<'_> {
    fn in_host_block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            self.in_host_statement(stmt);
            self.note_lengths(stmt);
        }
    }

    fn in_host_statement(&mut self, stmt: &mut Stmt) {
        if let Exp::Loop { params, init, body, .. } = &stmt.exp {
            self.assume_lengths(params, init, body);
        }
        match &mut stmt.exp {
            exp @ (Exp::If { .. } | Exp::Loop { .. }) => {
                for block in exp.blocks_mut() {
                    // Lengths that are found to be equal there may differ where the block does not run.
                    let before = self.known.clone();
                    self.in_host_block(block);
                    self.known = before;
                }
            }
            exp if exp.is_kernel() => self.in_space(exp),
            // The elaborator makes lengths of numbers in this way.
            Exp::Prim { op: Op::Maximum, args, .. } if args.iter().any(is_natural) => {
                self.least.insert(stmt.outs[0], 0);
            }
            _ => {}
        }
    }

    fn in_space(&mut self, exp: &mut Exp) {
        let before = self.least.clone();
        for axis in exp.space().to_vec() {
            let length = self.end_of(axis.length);
            if let Some(End { length: Some(var), more: 0 }) = length {
                self.least.insert(var, 1);
            }
            let range = Range::from(0, length.and_then(|length| length.plus(-1)));
            self.known.insert(axis.index, Known { range, made_by: None });
        }
        exp.blocks_mut().into_iter().for_each(|block| self.in_element(block));
        self.least = before;
    }

    // -- lengths --------------------------------------------------------------------------------

    /// A length as an end.
    fn end_of(&self, atom: Atom) -> Option<End> {
        match atom {
            Atom::Const(Number::Int(value), _) => {
                i64::try_from(value).ok().filter(|value| value.abs() <= MAX_NUMBER).map(End::number)
            }
            Atom::Const(..) => None,
            Atom::Var(var) => match self.known.get(&var).map(|known| known.range) {
                Some(Range { low: Some(low), high: Some(high) }) if low == high => Some(low),
                _ => Some(End { length: Some(var), more: 0 }),
            },
        }
    }

    fn length_of(&self, array: Var, axis: usize) -> Option<End> {
        let found = *self.lengths.get(&(array, axis))?;
        // It may have been found to be another one since.
        match found.length.map(|length| self.end_of(length.into())) {
            Some(end) => end?.plus(found.more),
            None => Some(found),
        }
    }

    /// Notes the lengths of what a statement of the host makes, as far as they are known.
    fn note_lengths(&mut self, stmt: &Stmt) {
        match &stmt.exp {
            Exp::Length { array, axis } => {
                let out = stmt.outs[0];
                let end = *self.lengths.entry((*array, *axis)).or_insert(End { length: Some(out), more: 0 });
                self.least.insert(out, 0);
                self.known.insert(out, Known { range: Range::only(end), made_by: None });
            }
            Exp::Same { lengths, .. } => {
                if let Some(end) = self.end_of(lengths[0]) {
                    for var in stmt.outs.iter().copied().chain(lengths.iter().filter_map(|atom| atom.as_var())) {
                        self.known.insert(var, Known { range: Range::only(end), made_by: None });
                    }
                }
            }
            Exp::Scan { targets: arrays, .. } if !arrays.is_empty() => {
                let length = self.length_of(arrays[0], 0);
                self.set_lengths(&stmt.outs, 0, length);
            }
            Exp::Gen { space, .. }
            | Exp::Scan { space, prefix: None, .. }
            | Exp::Scan { space, finish: Some(_), .. } => {
                self.set_lengths_of_space(&stmt.outs, space);
            }
            Exp::Reduce { space, .. } => self.set_lengths_of_space(&stmt.outs, &space[..space.len() - 1]),
            Exp::Scatter { targets: arrays, .. } | Exp::Sort { arrays, .. } => {
                let length = self.length_of(arrays[0], 0);
                self.set_lengths(&stmt.outs, 0, length);
            }
            Exp::Row { array, index, .. } => {
                for axis in 0..self.program.var_type(stmt.outs[0]).ndim {
                    let length = self.length_of(*array, axis + index.len());
                    self.set_lengths(&stmt.outs, axis, length);
                }
            }
            Exp::If { then, other, .. } => self.note_if_equal(&stmt.outs, &then.results, &other.results),
            Exp::Loop { init, body, .. } => self.note_if_equal(&stmt.outs, init, &body.results),
            _ => {}
        }
    }

    fn set_lengths(&mut self, arrays: &[Var], axis: usize, length: Option<End>) {
        if let Some(length) = length {
            self.lengths.extend(arrays.iter().map(|array| ((*array, axis), length)));
        }
    }

    fn set_lengths_of_space(&mut self, arrays: &[Var], space: &[Axis]) {
        for (at, axis) in space.iter().enumerate() {
            let length = self.end_of(axis.length);
            self.set_lengths(arrays, at, length);
        }
    }

    /// Arrays have lengths that both sources have.
    fn note_if_equal(&mut self, outs: &[Var], first: &[Atom], second: &[Atom]) {
        for ((out, a), b) in outs.iter().zip(first).zip(second) {
            let (Some(a), Some(b)) = (a.as_var(), b.as_var()) else { continue };
            for axis in 0..self.program.var_type(*out).ndim {
                let length = self.length_of(a, axis).filter(|length| self.length_of(b, axis) == Some(*length));
                self.set_lengths(&[*out], axis, length);
            }
        }
    }

    /// Gives the variables of a loop the lengths of their first values, as far as they keep them.
    fn assume_lengths(&mut self, params: &[Var], init: &[Atom], body: &Block) {
        self.note_if_equal(params, init, init);
        loop {
            // A variable may have its length from another one, which does not keep it.
            let mut inside = Bounds {
                program: self.program,
                lengths: self.lengths.clone(),
                least: HashMap::new(),
                known: self.known.clone(),
            };
            inside.note_all_lengths(body);
            let changes = |(param, axis): &(Var, usize)| {
                let at = params.iter().position(|other| other == param);
                let next = at.and_then(|at| body.results[at].as_var());
                at.is_some() && next.and_then(|next| inside.length_of(next, *axis)) != self.length_of(*param, *axis)
            };
            let wrong: Vec<_> = self.lengths.keys().filter(|key| changes(key)).copied().collect();
            if wrong.is_empty() {
                return;
            }
            self.lengths.retain(|key, _| !wrong.contains(key));
        }
    }

    fn note_all_lengths(&mut self, block: &Block) {
        for stmt in &block.stmts {
            if let Exp::Loop { params, init, body, .. } = &stmt.exp {
                self.assume_lengths(params, init, body);
            }
            if matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. }) {
                for block in stmt.exp.blocks() {
                    let before = self.known.clone();
                    self.note_all_lengths(block);
                    self.known = before;
                }
            }
            self.note_lengths(stmt);
        }
    }

    // -- elements -------------------------------------------------------------------------------

    fn in_element(&mut self, block: &mut Block) {
        let mut renaming = Renaming::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            replace_in_exp(&mut stmt.exp, &renaming);
            match self.simplified(&stmt) {
                Some(simpler) => {
                    renaming.insert(stmt.outs[0], simpler);
                    continue;
                }
                None if stmt.exp.space().is_empty() => {
                    stmt.exp.blocks_mut().into_iter().for_each(|inner| self.in_element(inner));
                }
                None => self.in_space(&mut stmt.exp),
            }
            self.note_element(&stmt);
            block.stmts.push(stmt);
        }
        replace_results(block, &renaming);
    }

    /// What a scalar is without being computed.
    fn simplified(&self, stmt: &Stmt) -> Option<Atom> {
        match &stmt.exp {
            Exp::Clamp { index, length } => {
                let range = self.range(*index);
                let last = self.end_of(*length).and_then(|length| length.plus(-1));
                let is_inside = self.is_at_most(Some(End::number(0)), range.low) && self.is_at_most(range.high, last);
                is_inside.then_some(*index)
            }
            Exp::Prim { op: Op::Where, args, .. } => {
                let chosen = match args[0] {
                    Atom::Const(Number::Bool(truth), _) => args[if truth { 1 } else { 2 }],
                    _ => return None,
                };
                let out = self.program.var_type(stmt.outs[0]).dtype;
                (self.program.dtype(chosen) == out).then_some(chosen)
            }
            Exp::Prim { op: op @ (Op::LogicalAnd | Op::LogicalOr), compute: DType::Bool, args } => {
                let (known, other) = match args.as_slice() {
                    [Atom::Const(Number::Bool(known), _), other] | [other, Atom::Const(Number::Bool(known), _)] => {
                        (*known, *other)
                    }
                    _ => return None,
                };
                let decides = known == (*op == Op::LogicalOr);
                let found = if decides { Atom::Const(Number::Bool(known), DType::Bool) } else { other };
                (self.program.dtype(found) == DType::Bool).then_some(found)
            }
            Exp::Prim { op: op @ (Op::Maximum | Op::Minimum), compute: DType::I64, args } => {
                let (a, b) = (self.range(args[0]), self.range(args[1]));
                let (is_at_most, is_at_least) = (self.is_at_most(a.high, b.low), self.is_at_most(b.high, a.low));
                let (first, second) =
                    if *op == Op::Minimum { (is_at_most, is_at_least) } else { (is_at_least, is_at_most) };
                let chosen = if first { Some(args[0]) } else { Some(args[1]).filter(|_| second) };
                chosen.filter(|chosen| self.program.dtype(*chosen) == DType::I64)
            }
            Exp::Prim { op, compute: DType::I64, args } => {
                let truth = |truth: bool| Atom::Const(Number::Bool(truth), DType::Bool);
                self.comparison(*op, args).map(truth)
            }
            _ => None,
        }
    }

    /// Whether a comparison holds for all numbers of the ranges of its operands.
    fn comparison(&self, op: Op, args: &[Atom]) -> Option<bool> {
        let [a, b] = args else { return None };
        let (a, b) = match op {
            Op::Less | Op::GreaterEqual => (self.range(*a), self.range(*b)),
            Op::Greater | Op::LessEqual => (self.range(*b), self.range(*a)),
            _ => return None,
        };
        let is_turned = matches!(op, Op::GreaterEqual | Op::LessEqual);
        let is_less = self.is_at_most(a.high.and_then(|high| high.plus(1)), b.low);
        let is_not_less = self.is_at_most(b.high, a.low);
        (is_less || is_not_less).then_some(is_less != is_turned)
    }

    /// Whether one end is surely not above another.
    fn is_at_most(&self, a: Option<End>, b: Option<End>) -> bool {
        let (Some(a), Some(b)) = (a, b) else { return false };
        match (a.length, b.length) {
            (a_length, b_length) if a_length == b_length => a.more <= b.more,
            (None, Some(length)) => self.least.get(&length).is_some_and(|least| a.more <= least + b.more),
            _ => false,
        }
    }

    fn range(&self, atom: Atom) -> Range {
        match atom {
            Atom::Const(..) => self.end_of(atom).map_or(Range::default(), Range::only),
            Atom::Var(var) => self.known.get(&var).map_or(Range::default(), |known| known.range),
        }
    }

    fn note_element(&mut self, stmt: &Stmt) {
        let [out] = stmt.outs.as_slice() else { return };
        let (range, made_by) = match &stmt.exp {
            Exp::Prim { op, compute: DType::I64, args } => (self.range_of(*op, args), Some((*op, args.clone()))),
            Exp::Cast { arg, to: DType::I64 } => (self.range_of_cast(*arg), None),
            Exp::Length { array, axis } => match self.length_of(*array, *axis) {
                Some(end) => (Range::only(end), None),
                None => (Range::from(0, None), None),
            },
            _ => return,
        };
        self.known.insert(*out, Known { range, made_by });
    }

    fn range_of_cast(&self, arg: Atom) -> Range {
        let dtype = self.program.dtype(arg);
        let bits = 8 * dtype.itemsize() as u32;
        match dtype.kind() {
            DTypeKind::Bool => Range::from(0, Some(End::number(1))),
            DTypeKind::Unsigned if bits < 64 => Range::from(0, Some(End::number((1 << bits) - 1))),
            DTypeKind::Signed if bits < 64 => Range::from(-(1 << (bits - 1)), Some(End::number((1 << (bits - 1)) - 1))),
            DTypeKind::Signed => self.range(arg),
            _ => Range::default(),
        }
    }

    fn range_of(&self, op: Op, args: &[Atom]) -> Range {
        match (op, args) {
            (Op::Add, [a, b]) => self.sum(self.range(*a), self.range(*b)),
            (Op::Subtract, [a, b]) => self.difference(self.range(*a), self.range(*b)),
            (Op::Positive | Op::Copy, [a]) => self.range(*a),
            (Op::Maximum, [a, b]) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range { low: self.larger(a.low, b.low).or(a.low).or(b.low), high: self.larger(a.high, b.high) }
            }
            (Op::Minimum, [a, b]) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range { low: self.smaller(a.low, b.low), high: self.smaller(a.high, b.high).or(a.high).or(b.high) }
            }
            (Op::Remainder, [_, by]) => {
                let by = self.range(*by);
                if self.is_at_most(Some(End::number(1)), by.low) {
                    Range::from(0, by.high.and_then(|high| high.plus(-1)))
                } else {
                    Range::default()
                }
            }
            (Op::FloorDivide, [a, by]) => {
                let (a, by) = (self.range(*a), self.range(*by));
                let (zero, one) = (Some(End::number(0)), Some(End::number(1)));
                if self.is_at_most(zero, a.low) && self.is_at_most(one, by.low) {
                    Range::from(0, a.high)
                } else {
                    Range::default()
                }
            }
            (Op::BitAnd, [_, mask]) if is_natural(mask) => Range::from(0, self.end_of(*mask)),
            (Op::Where, [cond, a, b]) => {
                let (a, b) = (self.range_where(*a, *cond, true), self.range_where(*b, *cond, false));
                Range { low: self.smaller(a.low, b.low), high: self.larger(a.high, b.high) }
            }
            _ => Range::default(),
        }
    }

    /// Sums wrap: an end is known only where the sum cannot pass the end of its type on the other side.
    fn sum(&self, a: Range, b: Range) -> Range {
        let sum = |a: Option<End>, b: Option<End>| a?.and(b?);
        let (zero, are_known) = (Some(End::number(0)), |a: Option<End>, b: Option<End>| a.is_some() && b.is_some());
        let stays_low = are_known(a.high, b.high) || self.is_at_most(a.high, zero) || self.is_at_most(b.high, zero);
        let stays_high = are_known(a.low, b.low) || self.is_at_most(zero, a.low) || self.is_at_most(zero, b.low);
        Range { low: sum(a.low, b.low).filter(|_| stays_low), high: sum(a.high, b.high).filter(|_| stays_high) }
    }

    fn difference(&self, a: Range, b: Range) -> Range {
        let minus = |a: Option<End>, b: Option<End>| match (a?, b?) {
            (a, End { length: None, more }) => a.plus(-more),
            (a, b) if a.length == b.length => Some(End::number(a.more - b.more)),
            _ => None,
        };
        let zero = Some(End::number(0));
        let stays_low = (a.high.is_some() && b.low.is_some()) || self.is_at_most(zero, b.low);
        let stays_high = (a.low.is_some() && b.high.is_some()) || self.is_at_most(zero, a.low);
        Range { low: minus(a.low, b.high).filter(|_| stays_low), high: minus(a.high, b.low).filter(|_| stays_high) }
    }

    fn smaller(&self, a: Option<End>, b: Option<End>) -> Option<End> {
        if self.is_at_most(a, b) { a } else { b.filter(|_| self.is_at_most(b, a)) }
    }

    fn larger(&self, a: Option<End>, b: Option<End>) -> Option<End> {
        if self.is_at_most(a, b) { b } else { a.filter(|_| self.is_at_most(b, a)) }
    }

    /// The range of a choice where its condition, a comparison, is true or false: of what is compared, or a sum of it.
    fn range_where(&self, choice: Atom, cond: Atom, truth: bool) -> Range {
        let made_by = |atom: Atom| self.known.get(&atom.as_var()?)?.made_by.as_ref();
        let Some((op, compared)) = made_by(cond) else { return self.range(choice) };
        let [x, y] = compared.as_slice() else { return self.range(choice) };
        let (mut low, mut high) = (None, None);
        let y = self.range(*y);
        match (op, truth) {
            (Op::Less, true) | (Op::GreaterEqual, false) => high = y.high.and_then(|high| high.plus(-1)),
            (Op::Less, false) | (Op::GreaterEqual, true) => low = y.low,
            (Op::Greater, true) | (Op::LessEqual, false) => low = y.low.and_then(|low| low.plus(1)),
            (Op::Greater, false) | (Op::LessEqual, true) => high = y.high,
            _ => {}
        }
        let all = self.range(*x);
        let tighter = |own: Option<End>, other: Option<End>, found: Option<End>| found.or(own).or(other);
        let narrowed = Range {
            low: tighter(all.low, low, self.larger(all.low, low)),
            high: tighter(all.high, high, self.smaller(all.high, high)),
        };
        if choice == *x {
            return narrowed;
        }
        let of = |atom: &Atom| if atom == x { narrowed } else { self.range(*atom) };
        match made_by(choice) {
            Some((Op::Add, args)) if args.contains(x) => self.sum(of(&args[0]), of(&args[1])),
            Some((Op::Subtract, args)) if args.contains(x) => self.difference(of(&args[0]), of(&args[1])),
            _ => self.range(choice),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::passes::check_indices;
    use crate::simplify::remove_dead_statements;
    use crate::text::{parse_program, print_program};

    /// The program after indices are checked, and those that are inside are not.
    fn bounded(text: &str) -> String {
        let mut program = parse_program(text).unwrap();
        check_indices::run(&mut program);
        super::run(&mut program);
        remove_dead_statements(&mut program);
        assert_eq!(crate::check::check(&program), Ok(()));
        print_program(&program)
    }

    /// An element of `x` at an index that is computed from `i`, which runs over the length `n` of `y`.
    fn element(before: &str, index: &str) -> String {
        let text = format!(
            "(program ((x [float32]) (y [float32]) (k int64))
               (let (n int64) (length y 0))
               {before}
               (let (all [float32])
                 (gen ((i n))
                   (let (zero int64) (subtract int64 i i))
                   {index}
                   (let (v float32) (read checked x at))
                   (results v)))
               (results all))"
        );
        bounded(&text)
    }

    const SAME: &str = "(let (m int64) (length x 0)) (let (s int64) (same (n \"y\") (m \"x\")))";
    const WRAPPED: &str = "(let (low bool) (less int64 to 0)) (let (more int64) (add int64 to n))
                           (let (at int64) (where int64 low more to))";

    #[test]
    fn indices_of_the_space_are_inside_of_arrays_of_its_length() {
        let own = "(let (to int64) (positive int64 i))";
        let found = element(SAME, &format!("{own} {WRAPPED}"));
        assert!(!found.contains("clamp") && !found.contains("where"), "{found}");
        let found = element("", &format!("{own} {WRAPPED}"));
        assert!(found.contains("clamp") && !found.contains("where"), "another length: {found}");
    }

    #[test]
    fn indices_beside_are_inside_once_they_are_wrapped() {
        let before = element(SAME, &format!("(let (to int64) (subtract int64 i 1)) {WRAPPED}"));
        assert!(!before.contains("clamp") && before.contains("where"), "{before}");
        let after = element(SAME, &format!("(let (to int64) (add int64 i 1)) {WRAPPED}"));
        assert!(after.contains("clamp") && !after.contains("where"), "{after}");
        let far = element(SAME, &format!("(let (to int64) (add int64 i k)) {WRAPPED}"));
        assert!(far.contains("clamp") && far.contains("where"), "{far}");
        let second = element(SAME, &format!("(let (to int64) (subtract int64 i 2)) {WRAPPED}"));
        assert!(second.contains("clamp"), "of one element there is none two before: {second}");
    }

    #[test]
    fn remainders_and_limits_have_ranges() {
        for index in [
            "(let (at int64) (remainder int64 k n))",
            "(let (at int64) (floor_divide int64 i 3))",
            "(let (low int64) (maximum int64 k 0)) (let (at int64) (minimum int64 low i))",
            "(let (half int64) (floor_divide int64 i 2)) (let (at int64) (subtract int64 i half))",
        ] {
            let found = element(SAME, index);
            assert_eq!(found.contains("clamp"), index.contains("half"), "{found}");
        }
        for index in [
            "(let (at int64) (remainder int64 i k))",
            "(let (at int64) (floor_divide int64 i -1))",
            "(let (at int64) (minimum int64 k i))",
            "(let (at int64) (multiply int64 i 2))",
        ] {
            assert!(element(SAME, index).contains("clamp"), "{index}");
        }
    }

    #[test]
    fn loops_keep_lengths_if_all_rounds_do() {
        let looping = |next: &str| {
            bounded(&format!(
                "(program ((x [float32]) (y [float32]) (k int64))
                   (let (n int64) (length x 0))
                   (let (last [float32]) (rest int64)
                     (loop ((now [float32] x) (left int64 k))
                       (while (let (goes bool) (greater int64 left 0)) (results goes))
                       (do
                         (let (made [float32]) (gen ((i n)) (let (v float32) (read checked now i)) (results v)))
                         (let (less int64) (subtract int64 left 1))
                         (results {next} less))))
                   (let (end [float32]) (gen ((j n)) (let (w float32) (read checked last j)) (results w)))
                   (results end))"
            ))
        };
        assert!(!looping("made").contains("clamp"), "{}", looping("made"));
        assert!(looping("y").contains("clamp"), "{}", looping("y"));
    }

    #[test]
    fn what_a_branch_finds_holds_there() {
        let branch = "(let (p bool) (greater int64 k 0)) (let (m int64) (length x 0))
          (let (t int64) (if p (then (let (s int64) (same (n \"y\") (m \"x\"))) (results s)) (else (results n))))";
        assert!(element(branch, "(let (at int64) (positive int64 i))").contains("clamp"));
    }
}
