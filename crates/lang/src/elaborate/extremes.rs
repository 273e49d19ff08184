//! The least and the greatest of numbers, by comparisons as Python makes them.
//!
//! A comparison with NaN is false, so that Python's `max` skips NaN unless it comes first. As a function of two numbers
//! this is not associative: a part of a sequence that begins with NaN would hide its other numbers. NaN at other places
//! therefore counts as the number that no comparison chooses.

use super::Elaborator;
use super::value::{Element, Scalar, Seq, Value};
use crate::ir::{Atom, Bounds, Direction, Number};
use crate::span::Span;
use crate::surface::Comparison;
use rtcg_codegen::array::Op;
use rtcg_hal::{DType, DTypeKind};

/// Which element stays if it is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    First,
    Last,
    None,
}

impl Elaborator<'_> {
    /// What a reduction or scan by `min` or `max` combines; other functions combine the elements as they are.
    pub(super) fn elements_for(
        &mut self,
        function: &Value,
        seq: &Seq,
        begins: bool,
        direction: Direction,
        span: Span,
    ) -> Seq {
        let Value::Prelude(name) = function else { return seq.clone() };
        let keeps = match direction {
            _ if begins => Keeps::None,
            Direction::Forward => Keeps::First,
            Direction::Backward => Keeps::Last,
        };
        match &**name {
            "max" => self.without_later_nans(seq, true, keeps, span),
            "min" => self.without_later_nans(seq, false, keeps, span),
            _ => seq.clone(),
        }
    }

    fn without_later_nans(&mut self, seq: &Seq, is_max: bool, keeps: Keeps, span: Span) -> Seq {
        let Element::Array { var, weak } = seq.element else { return seq.clone() };
        let found = self.program.var_type(var).clone();
        if found.ndim != 1 || found.dtype.kind() != DTypeKind::Float {
            return seq.clone();
        }
        let far = if is_max { f64::NEG_INFINITY } else { f64::INFINITY };
        let far = Scalar { atom: Atom::Const(Number::Float(far), found.dtype), weak };
        let chosen = self.tabulate(seq.length, span, &mut |this, index| {
            let value = this.element_at(seq, index, Bounds::Inside, span);
            let Value::Scalar(number) = value else { return value };
            let stays = match keeps {
                Keeps::First => Some(Atom::index(0)),
                Keeps::Last => Some(this.index_difference(seq.length, Atom::index(1), span)),
                Keeps::None => None,
            };
            let mut is_skipped = this.prim(Op::NotEqual, &[number, number], span);
            if let Some(stays) = stays {
                let is_other = this.prim(Op::NotEqual, &[Scalar::strong(index), Scalar::strong(stays)], span);
                is_skipped = match (is_skipped, is_other) {
                    (Some(a), Some(b)) => this.prim(Op::LogicalAnd, &[a, b], span),
                    _ => None,
                };
            }
            match is_skipped {
                Some(is_skipped) => this.choose(is_skipped, span, |_| far.into(), |_| number.into()),
                None => Value::Poison,
            }
        });
        match chosen {
            Value::Seq(chosen) => chosen,
            _ => seq.clone(),
        }
    }

    /// `min` and `max`, of a sequence or of several numbers.
    pub(super) fn extreme(&mut self, name: &str, arguments: &[Value], spans: &[Span], span: Span) -> Value {
        if let [value] = arguments {
            let at = spans.first().copied().unwrap_or(span);
            let Some(seq) = self.seq_argument(name, "the argument", value, at) else { return Value::Poison };
            self.check_not_empty(name, &seq, at, span);
            let better = Value::Prelude(if name == "min" { "__first_min" } else { "__first_max" }.into());
            let seq = self.without_later_nans(&seq, name == "max", Keeps::First, span);
            return self.reduce(name, &better, &seq, None, false, span);
        }
        let comparison = if name == "min" { Comparison::Lt } else { Comparison::Gt };
        let mut best = arguments[0].clone();
        for other in &arguments[1..] {
            best = self.better(comparison, &best, other, span);
        }
        best
    }

    /// A reduction that begins with the first element needs one.
    fn check_not_empty(&mut self, name: &str, seq: &Seq, at: Span, span: Span) {
        let least = self.index_op(Op::Maximum, seq.length, Atom::index(1), span);
        let what = self.quoted(at).filter(|_| at != span).unwrap_or_else(|| "the sequence".into());
        let names = vec![format!("{what} is empty; `{name}` needs one element at least")];
        if !self.follows_condition() {
            self.emit(crate::ir::Exp::Same { lengths: vec![seq.length, least], names }, &[(DType::I64, 0)], span);
        }
    }

    /// The second value if it compares so to the first one.
    pub(super) fn better(&mut self, comparison: Comparison, a: &Value, b: &Value, span: Span) -> Value {
        match self.compare(comparison, b, a, span) {
            Value::Scalar(is_better) => self.choose(is_better, span, |_| b.clone(), |_| a.clone()),
            _ => Value::Poison,
        }
    }

    pub(super) fn extreme_with_index(&mut self, is_max: bool, seq: &Seq, at: Span, span: Span) -> Value {
        let seq = &self.without_later_nans(seq, is_max, Keeps::First, span);
        let counted = self.range(Atom::index(0), seq.length, span);
        let Value::Seq(counted) = counted else { return Value::Poison };
        let pairs = Seq { length: seq.length, element: Element::Tuple(vec![counted.element, seq.element.clone()]) };
        self.check_not_empty(if is_max { "argmax" } else { "argmin" }, &pairs, at, span);
        let name = if is_max { "__argmax" } else { "__argmin" };
        self.reduce(&name[2..], &Value::Prelude(name.into()), &pairs, None, true, span)
    }
}
