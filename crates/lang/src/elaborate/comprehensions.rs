//! Comprehensions: maps, with filters for conditions and a flat result for several generators.

use super::Elaborator;
use super::value::{Element, Env, Scalar, Seq, Value};
use crate::ir::{Atom, Bounds};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{Expr, Generator};
use rtcg_codegen::array::Op;

impl Elaborator<'_> {
    pub(super) fn comprehension(&mut self, element: &Expr, generators: &[Generator], env: &Env, span: Span) -> Value {
        let Some((first, rest)) = generators.split_first() else { return Value::Poison };
        let sequence = self.expression(&first.sequence, env);
        if let Some(parts) = self.unrollable(&sequence) {
            return self.unrolled_comprehension(&parts, element, generators, env, span);
        }
        if self.stencil.is_some() {
            return self.not_unrollable(&sequence, first.sequence.span);
        }
        let Some(seq) = self.seq_argument("a comprehension", "the sequence", &sequence, first.sequence.span) else {
            return Value::Poison;
        };
        let bound = |this: &mut Self, index: Atom| {
            let value = this.element_at(&seq, index, Bounds::Inside, span);
            let mut inner = env.clone();
            this.bind(&first.pattern, value, &mut inner, span);
            inner
        };
        let value_of = |this: &mut Self, inner: &Env| match rest {
            [] => this.expression(element, inner),
            rest => this.comprehension(element, rest, inner, span),
        };
        if first.conditions.is_empty() {
            let nested = self.tabulate(seq.length, span, &mut |this, index| {
                let inner = bound(this, index);
                value_of(this, &inner)
            });
            return if rest.is_empty() { nested } else { self.flattened(&nested, span) };
        }
        if !rest.is_empty() {
            // The elements that pass come first; each then has its inner elements.
            let kept = self.filter_elements(&seq, first, env, span);
            let Value::Seq(kept) = kept else { return Value::Poison };
            let nested = self.tabulate(kept.length, span, &mut |this, index| {
                let value = this.element_at(&kept, index, Bounds::Inside, span);
                let mut inner = env.clone();
                this.bind(&first.pattern, value, &mut inner, span);
                value_of(this, &inner)
            });
            return self.flattened(&nested, span);
        }
        self.filter_with(seq.length, span, &mut |this, index| {
            let inner = bound(this, index);
            let keep = this.conditions(&first.conditions, &inner)?;
            let of = this.tentatively(super::EmitAt::Branch, |this| {
                let value = this.expression(element, &inner);
                this.type_of(&value)
            })?;
            let value =
                this.choose(keep, span, |this| this.expression(element, &inner), |this| this.placeholder(&of, span));
            Some((keep, value))
        })
    }

    fn filter_elements(&mut self, seq: &Seq, generator: &Generator, env: &Env, span: Span) -> Value {
        self.filter_with(seq.length, span, &mut |this, index| {
            let value = this.element_at(seq, index, Bounds::Inside, span);
            let mut inner = env.clone();
            this.bind(&generator.pattern, value.clone(), &mut inner, span);
            Some((this.conditions(&generator.conditions, &inner)?, value))
        })
    }

    fn conditions(&mut self, conditions: &[Expr], env: &Env) -> Option<Scalar> {
        let mut all: Option<Scalar> = None;
        for condition in conditions {
            let value = self.expression(condition, env);
            let truth = self.truth(&value, condition.span)?;
            all = Some(match all {
                None => truth,
                Some(before) => self.prim(Op::LogicalAnd, &[before, truth], condition.span)?,
            });
        }
        all
    }

    /// The elements of all sequences in a sequence, one after the other.
    pub(super) fn flattened(&mut self, nested: &Value, span: Span) -> Value {
        let Value::Seq(seq) = nested else { return Value::Poison };
        match &seq.element {
            Element::Ragged { offsets, values } => {
                let total = self.read(*offsets, vec![seq.length], span);
                let start = self.read(*offsets, vec![Atom::index(0)], span);
                let length = self.index_difference(total, start, span);
                Seq { length, element: (**values).clone() }.into()
            }
            element => {
                let mut arrays = Vec::new();
                element.arrays(&mut arrays);
                let Some(first) = arrays.first().copied() else { return Value::Poison };
                if self.program.var_type(first).ndim < 2 {
                    let text = format!("{} is joined; expected a sequence of sequences", self.describe(nested));
                    return self.plain_problem(Code::Element, span, text);
                }
                let inner = self.length(first, 1, span);
                let total = self.index_op(Op::Multiply, seq.length, inner, span);
                let seq = seq.clone();
                self.tabulate(total, span, &mut |this, index| {
                    let row = this.index_op(Op::FloorDivide, index, inner, span);
                    let column = this.index_op(Op::Remainder, index, inner, span);
                    match this.element_at(&seq, row, Bounds::Inside, span) {
                        Value::Seq(row) => this.element_at(&row, column, Bounds::Inside, span),
                        Value::Tuple(rows) => Value::Tuple(
                            rows.iter()
                                .map(|row| match row {
                                    Value::Seq(row) => this.element_at(row, column, Bounds::Inside, span),
                                    other => other.clone(),
                                })
                                .collect(),
                        ),
                        other => other,
                    }
                })
            }
        }
    }
}
