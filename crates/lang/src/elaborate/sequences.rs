//! Sequences: `map` and what becomes a map, and the operations that combine elements.

use super::types::{ElementType, Type};
use super::value::{Element, Leaf, Scalar, Seq, Value};
use super::{Elaborator, EmitAt};
use crate::ir::{Atom, Axis, Bounds, Direction, Exp, Lambda, Var};
use crate::problem::Code;
use crate::span::Span;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;

/// Computes from an index whether an element is kept, and the element.
pub(super) type KeptElement<'b, E> = &'b mut dyn FnMut(&mut E, Atom) -> Option<(Scalar, Value)>;

/// The most rounds in which the types of an accumulator settle.
const MAX_TYPE_STEPS: usize = 6;

impl Elaborator<'_> {
    /// A sequence argument of a function.
    pub(super) fn seq_argument(&mut self, function: &str, what: &str, value: &Value, span: Span) -> Option<Seq> {
        match value {
            Value::Seq(seq) => Some(seq.clone()),
            Value::Poison => None,
            other => {
                let text = format!("{what} of {function} is {}; expected a sequence", self.describe(other));
                let of = if function.contains(' ') { function.to_owned() } else { format!("`{function}`") };
                let text = text.replacen(function, &of, 1);
                let advice = match (other, self.text_of(span)) {
                    (Value::Scalar(scalar), Some(n)) if self.program.dtype(scalar.atom).is_integer() => {
                        format!("write `range({n})` for the numbers from 0 to `{n}` - 1")
                    }
                    _ => String::new(),
                };
                self.problem(Code::Argument, span, text, advice);
                None
            }
        }
    }

    /// The length that sequences must have in common.
    pub(super) fn same_length(&mut self, seqs: &[(&Seq, String)], span: Span) -> Atom {
        let mut lengths: Vec<Atom> = Vec::new();
        let mut names = Vec::new();
        for (seq, name) in seqs {
            let length = self.earliest(seq.length);
            if !lengths.contains(&length) {
                lengths.push(length);
                names.push(name.clone());
            }
        }
        let known = lengths.iter().zip(&names);
        let known: Vec<_> =
            known.filter_map(|(length, name)| Some((Scalar::weak(*length).constant_int()?, name))).collect();
        if let [(n, first), rest @ ..] = known.as_slice()
            && let Some((other_n, other)) = rest.iter().find(|(length, _)| length != n)
        {
            let text = format!("{first} has {n} elements and {other} has {other_n}; expected one length");
            let advice = "their lengths must be equal; a comprehension over `zip(x, y)` takes the shortest";
            self.problem(Code::Length, span, text, advice);
        }
        match lengths.as_slice() {
            [] => Atom::index(0),
            [one] => *one,
            // The next arguments are followed with all checks.
            [first, ..] if self.follows_condition() => *first,
            _ => {
                let first = lengths[0];
                let exp = Exp::Same { lengths: lengths.clone(), names };
                let checked = self.emit(exp, &[(DType::I64, 0)], span)[0];
                let depth = self.depths[checked.0 as usize];
                self.equal.extend(lengths[1..].iter().map(|length| (*length, first, depth)));
                first
            }
        }
    }

    /// The length of the shortest.
    pub(super) fn shortest(&mut self, seqs: &[Seq], span: Span) -> Atom {
        let mut length: Option<Atom> = None;
        for seq in seqs {
            let own = self.earliest(seq.length);
            length = Some(match length {
                Some(before) if before != own => self.index_op(Op::Minimum, before, own, span),
                _ => own,
            });
        }
        length.unwrap_or(Atom::index(0))
    }

    /// `map(f, ...)`: the sequence of what `body` computes from an index.
    pub(super) fn tabulate(
        &mut self,
        length: Atom,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Atom) -> Value,
    ) -> Value {
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let result = body(self, index.into());
        let Some(of) = self.type_of(&result) else {
            self.close_block(Vec::new());
            let what = self.describe(&result);
            return self.plain_problem(
                Code::Element,
                span,
                format!("each element becomes {what}; expected a number, a tuple or a sequence"),
            );
        };
        if result.is_poison() || of == Type::Any {
            self.close_block(Vec::new());
            return Value::Poison;
        }
        match self.inner_lengths(&result, span) {
            InnerLengths::Fixed(inner) => {
                let block = self.close_with(&result);
                let leaves = super::arguments_of_type(&of).leaves();
                let outs: Vec<(DType, usize)> = leaves.iter().map(|(dtype, ndim)| (*dtype, ndim + 1)).collect();
                let exp = Exp::Gen { space: vec![Axis { index, length }], body: block };
                let vars = self.emit_arrays(exp, &outs, span);
                for (var, lengths) in vars.iter().zip(&inner) {
                    for (axis, length) in lengths.iter().enumerate() {
                        self.lengths.insert((*var, axis + 1), *length);
                    }
                }
                let element = element_of(&of, &mut vars.into_iter());
                Seq { length, element }.into()
            }
            InnerLengths::Varying => {
                self.close_block(Vec::new());
                self.tabulate_ragged(length, &of, span, body)
            }
            InnerLengths::Unsupported => {
                self.close_block(Vec::new());
                let text = format!("a map gives {of} for each element, with lengths that differ");
                self.problem(
                    Code::Nested,
                    span,
                    text,
                    "compute the sequences of different lengths by a map of their own",
                )
            }
        }
    }

    /// The lengths of the sequences in a value, if they are the same for each element.
    fn inner_lengths(&mut self, value: &Value, span: Span) -> InnerLengths {
        match value {
            Value::Scalar(_) => InnerLengths::Fixed(vec![Vec::new()]),
            Value::Tuple(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    match self.inner_lengths(part, span) {
                        InnerLengths::Fixed(inner) => all.extend(inner),
                        _ => return InnerLengths::Unsupported,
                    }
                }
                InnerLengths::Fixed(all)
            }
            Value::Seq(seq) => {
                let depth = self.depth();
                if self.depth_of(seq.length) == depth && seq.length.as_var().is_some() {
                    return if is_flat(&seq.element, &self.program) {
                        InnerLengths::Varying
                    } else {
                        InnerLengths::Unsupported
                    };
                }
                let mut arrays = Vec::new();
                seq.element.arrays(&mut arrays);
                if has_ragged(&seq.element) {
                    return InnerLengths::Unsupported;
                }
                let mut all = Vec::new();
                for array in arrays {
                    let mut lengths = vec![seq.length];
                    for axis in 1..self.program.var_type(array).ndim {
                        let length = self.length(array, axis, span);
                        if self.depth_of(length) == depth && length.as_var().is_some() {
                            return InnerLengths::Unsupported;
                        }
                        lengths.push(length);
                    }
                    all.push(lengths);
                }
                InnerLengths::Fixed(all)
            }
            _ => InnerLengths::Unsupported,
        }
    }

    /// A map whose elements are sequences of different lengths: lengths, offsets, then the values of all.
    fn tabulate_ragged(
        &mut self,
        length: Atom,
        of: &Type,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Atom) -> Value,
    ) -> Value {
        let Type::Seq(element_type) = of else { return Value::Poison };
        let lengths = self.generate(&[length], DType::I64, span, |this, index| match body(this, index[0].into()) {
            Value::Seq(seq) => seq.length,
            _ => Atom::index(0),
        });
        let offsets = self.offsets_of(lengths, length, span);
        let total = self.read(offsets, vec![length], span);
        if let Some(values) = self.tabulate_rows(length, offsets, total, span, body) {
            return Seq { length, element: Element::Ragged { offsets, values: Box::new(values) } }.into();
        }
        let values = self.tabulate(total, span, &mut |this, at| {
            let segment: Atom = this.emit_scalar(Exp::Segment { offsets, at }, DType::I64, span).into();
            let start = this.read(offsets, vec![segment], span);
            let inner = this.index_difference(at, start, span);
            match body(this, segment) {
                Value::Seq(seq) => this.element_at(&seq, inner, Bounds::Inside, span),
                _ => Value::Poison,
            }
        });
        let _ = element_type;
        match values {
            Value::Seq(values) => {
                Seq { length, element: Element::Ragged { offsets, values: Box::new(values.element) } }.into()
            }
            other => other,
        }
    }

    /// The values of sequences that only a loop over each of them can make: those of scans and filters.
    fn tabulate_rows(
        &mut self,
        length: Atom,
        offsets: Var,
        total: Atom,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Atom) -> Value,
    ) -> Option<Element> {
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let value = body(self, index.into());
        let mut atoms = Vec::new();
        value.atoms(&mut atoms);
        let made_by_loop = |var: Var| {
            let stmts = &self.blocks.last()?.stmts;
            let stmt = stmts.iter().find(|stmt| stmt.outs.contains(&var))?;
            Some(matches!(stmt.exp, Exp::Scan { .. } | Exp::Filter { .. }))
        };
        let is_by_loop = atoms.iter().any(|atom| atom.as_var().and_then(made_by_loop) == Some(true));
        let Value::Seq(seq) = &value else {
            self.close_block(Vec::new());
            return None;
        };
        let block = self.close_block(atoms);
        if !is_by_loop {
            return None;
        }
        let mut arrays = Vec::new();
        seq.element.arrays(&mut arrays);
        let outs: Vec<(DType, usize)> = arrays.iter().map(|array| (self.program.var_type(*array).dtype, 1)).collect();
        let exp = Exp::Rows { space: vec![Axis { index, length }], offsets, body: block };
        let vars = self.emit(exp, &outs, span);
        for var in &vars {
            self.lengths.insert((*var, 0), total);
        }
        Some(seq.element.with_arrays(&mut vars.into_iter()))
    }

    /// Offsets from lengths: one more than there are.
    pub(super) fn offsets_of(&mut self, lengths: Var, n: Atom, span: Span) -> Var {
        let more = self.index_sum(n, Atom::index(1), span);
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let inside = self.prim(Op::Less, &[Scalar::weak(index), Scalar::weak(n)], span);
        let zero = Scalar::weak(Atom::index(0));
        let value = inside.map_or(Value::Poison, |inside| {
            self.choose(
                inside,
                span,
                |this| Scalar::weak(this.read(lengths, vec![index.into()], span)).into(),
                |_| zero.into(),
            )
        });
        let body = self.close_with(&value);
        self.open_block(EmitAt::Element);
        let (a, b) = (self.new_index(), self.new_index());
        let sum = self.index_sum(a.into(), b.into(), span);
        let op = Lambda { params: vec![a, b], body: self.close_block(vec![sum]) };
        let exp = Exp::Scan {
            space: vec![Axis { index, length: more }],
            body,
            op,
            prefix: Some(vec![Atom::index(0)]),
            direction: Direction::Forward,
            finish: None,
            targets: Vec::new(),
        };
        let offsets = self.emit(exp, &[(DType::I64, 1)], span)[0];
        self.lengths.insert((offsets, 0), more);
        offsets
    }

    /// `map(f, x, ...)`.
    pub(super) fn map(&mut self, function: &Value, seqs: &[Seq], spans: &[Span], span: Span) -> Value {
        let name = |at: usize| {
            let quoted = spans.get(at).and_then(|span| self.quoted(*span));
            quoted.unwrap_or_else(|| format!("sequence {}", at + 1))
        };
        let named: Vec<_> = seqs.iter().enumerate().map(|(at, seq)| (seq, name(at))).collect();
        let length = self.same_length(&named, span);
        self.tabulate(length, span, &mut |this, index| {
            let arguments = seqs.iter().map(|seq| this.element_at(seq, index, Bounds::Inside, span)).collect();
            this.apply(function, arguments, span)
        })
    }

    /// A sequence of the values that are given.
    pub(super) fn list(&mut self, parts: Vec<Value>, span: Span) -> Value {
        if parts.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        let n = parts.len();
        let mut joined = Type::Any;
        for part in &parts {
            let ty = self.type_of(part);
            match ty.as_ref().and_then(|ty| joined.join(ty)) {
                Some(more) => joined = more,
                None => {
                    let found = self.describe(part);
                    let text = match ty {
                        Some(_) => format!("the elements of a list are {joined} and {found}; expected one type"),
                        None => format!("an element of a list is {found}; expected numbers, tuples or sequences"),
                    };
                    return self.problem(Code::Element, span, text, "write a tuple for values of different types");
                }
            }
        }
        match joined {
            // As at `places.here`, where nothing is known of the elements.
            Type::Any => joined = Type::Scalar(Leaf { dtype: DType::F64, weak: false }),
            Type::Tuple(_) => return self.tuples_as_seq(&parts, span),
            Type::Seq(_) => return self.list_of_seqs(parts, span),
            Type::Scalar(_) => {}
        }
        if n == 0 {
            let none = self.placeholder(&joined, span);
            return self.tabulate(Atom::index(0), span, &mut |_, _| none.clone());
        }
        self.tabulate(Atom::index(n as i64), span, &mut |this, index| {
            let values: Vec<Value> = parts.iter().map(|part| this.convert(part, &joined, span)).collect();
            this.chosen(&values, index, span)
        })
    }

    /// A sequence of these sequences: of one length if the program knows that it is one.
    fn list_of_seqs(&mut self, parts: Vec<Value>, span: Span) -> Value {
        let seqs: Vec<Seq> =
            parts.iter().filter_map(|part| if let Value::Seq(seq) = part { Some(seq.clone()) } else { None }).collect();
        let first = seqs[0].length;
        let n = Atom::index(seqs.len() as i64);
        if seqs.iter().all(|seq| seq.length == first && is_flat(&seq.element, &self.program)) {
            return self.tabulate(n, span, &mut |this, row| {
                this.tabulate(first, span, &mut |this, column| {
                    let values: Vec<Value> =
                        seqs.iter().map(|seq| this.element_at(seq, column, Bounds::Inside, span)).collect();
                    this.chosen(&values, row, span)
                })
            });
        }
        let Value::Seq(values) = self.join(&Value::Tuple(parts), span) else { return Value::Poison };
        let mut ends = vec![Value::from(Scalar::strong(Atom::index(0)))];
        let mut total = Atom::index(0);
        for seq in &seqs {
            total = self.index_sum(total, seq.length, span);
            ends.push(Scalar::strong(total).into());
        }
        let more = Atom::index(ends.len() as i64);
        match self.tabulate(more, span, &mut |this, index| this.chosen(&ends, index, span)) {
            Value::Seq(Seq { element: Element::Array { var: offsets, .. }, .. }) => {
                Seq { length: n, element: Element::Ragged { offsets, values: Box::new(values.element) } }.into()
            }
            _ => Value::Poison,
        }
    }

    /// The value at an index.
    fn chosen(&mut self, values: &[Value], index: Atom, span: Span) -> Value {
        let Some((last, others)) = values.split_last() else { return Value::Poison };
        let mut chosen = last.clone();
        for (at, value) in others.iter().enumerate().rev() {
            let is_it = self.prim(Op::Equal, &[Scalar::weak(index), Scalar::weak(Atom::index(at as i64))], span);
            let Some(is_it) = is_it else { return Value::Poison };
            chosen = self.choose(is_it, span, |_| value.clone(), |_| chosen);
        }
        chosen
    }

    /// The type to which elements and results of an associative function settle.
    fn accumulator_type(
        &mut self,
        what: &str,
        function: &Value,
        seq: &Seq,
        first: Option<&Value>,
        span: Span,
    ) -> Option<Type> {
        let element = self.tentatively(EmitAt::Element, |this| {
            let index = this.new_index();
            let value = this.element_at(seq, index.into(), Bounds::Inside, span);
            this.type_of(&value)
        })?;
        let mut settled = match first {
            Some(first) => {
                let given = self.type_of(first)?;
                let Some(joined) = given.join(&element) else {
                    let text = format!("`{what}` starts with {given}, but the elements are {element}");
                    self.problem(Code::Combine, span, text, "start with a value of the elements' type");
                    return None;
                };
                joined
            }
            None => element,
        };
        for _ in 0..MAX_TYPE_STEPS {
            let found = self.tentatively(EmitAt::Element, |this| {
                let (a, b) = (this.fresh(&settled, span), this.fresh(&settled, span));
                let value = this.apply(function, vec![a, b], span);
                (this.type_of(&value), this.describe(&value))
            });
            let (Some(found), _) = found else {
                let text = format!("the function of `{what}` gives {}; expected {settled}", found.1);
                self.problem_of(function, span, text, "");
                return None;
            };
            if found == Type::Any {
                return None;
            }
            let Some(joined) = settled.join(&found) else {
                let text = format!("the function of `{what}` makes {found} from two values of type {settled}");
                self.problem_of(function, span, text, "it must give a value of the type of its arguments");
                return None;
            };
            if joined == settled {
                if matches!(settled, Type::Seq(_)) || contains_seq(&settled) {
                    let text = format!("`{what}` combines sequences, {settled}; expected numbers or tuples of them");
                    self.problem(
                        Code::Nested,
                        span,
                        text,
                        "combine the elements of each column, as in `map(sum, transpose(x))`",
                    );
                    return None;
                }
                return Some(settled);
            }
            settled = joined;
        }
        self.plain_problem(
            Code::Combine,
            span,
            format!("the types of the values that `{what}` combines grow without an end"),
        );
        None
    }

    /// A problem of types with a function, which is shown.
    fn problem_of(&mut self, function: &Value, span: Span, text: String, advice: &str) {
        let related = match function {
            Value::Closure(closure) => vec![(closure.function.span, "this function".to_owned())],
            _ => Vec::new(),
        };
        self.problem_with(Code::Combine, span, text, related, advice);
    }

    /// The function of two accumulators as a lambda of scalars.
    fn combining_lambda(&mut self, function: &Value, of: &Type, span: Span) -> Lambda {
        self.open_block(EmitAt::Element);
        let (a, b) = (self.fresh(of, span), self.fresh(of, span));
        let mut params = Vec::new();
        a.atoms(&mut params);
        b.atoms(&mut params);
        let value = self.apply(function, vec![a, b], span);
        let value = self.convert(&value, of, span);
        Lambda { params: params.into_iter().filter_map(Atom::as_var).collect(), body: self.close_with(&value) }
    }

    /// The elements of a sequence, converted, as a body.
    fn elements_body(&mut self, seq: &Seq, of: &Type, span: Span) -> (Axis, crate::ir::Block) {
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let value = self.element_at(seq, index.into(), Bounds::Inside, span);
        let value = self.convert(&value, of, span);
        (Axis { index, length: seq.length }, self.close_with(&value))
    }

    /// `reduce(f, x, first)`.
    pub(super) fn reduce(
        &mut self,
        what: &str,
        function: &Value,
        seq: &Seq,
        first: Option<&Value>,
        is_commutative: bool,
        span: Span,
    ) -> Value {
        let seq = &self.elements_for(function, seq, first.is_some(), Direction::Forward, span);
        let Some(of) = self.accumulator_type(what, function, seq, first, span) else { return Value::Poison };
        let (axis, body) = self.elements_body(seq, &of, span);
        let op = self.combining_lambda(function, &of, span);
        let mut init = Vec::new();
        if let Some(first) = first {
            self.convert(first, &of, span).atoms(&mut init);
        }
        let commutative = is_commutative || crate::simplify::is_commutative(&op);
        let leaves = super::arguments_of_type(&of).leaves();
        let outs = self.emit(Exp::Reduce { space: vec![axis], body, op, init, commutative }, &leaves, span);
        self.value_of(&of, &mut outs.into_iter().map(Atom::Var), span)
    }

    /// Scans of all kinds.
    pub(super) fn scan(
        &mut self,
        what: &str,
        function: &Value,
        seq: &Seq,
        prefix: Option<&Value>,
        direction: Direction,
        span: Span,
    ) -> Value {
        let seq = &self.elements_for(function, seq, prefix.is_some(), direction, span);
        let Some(of) = self.accumulator_type(what, function, seq, prefix, span) else { return Value::Poison };
        let (axis, body) = self.elements_body(seq, &of, span);
        let op = self.combining_lambda(function, &of, span);
        let prefix = prefix.map(|prefix| {
            let mut atoms = Vec::new();
            self.convert(prefix, &of, span).atoms(&mut atoms);
            atoms
        });
        let length = match prefix {
            Some(_) => self.index_op(Op::Maximum, seq.length, Atom::index(1), span),
            None => seq.length,
        };
        let leaves = super::arguments_of_type(&of).leaves();
        let outs: Vec<(DType, usize)> = leaves.iter().map(|(dtype, _)| (*dtype, 1)).collect();
        let vars = self.emit(
            Exp::Scan { space: vec![axis], body, op, prefix, direction, finish: None, targets: Vec::new() },
            &outs,
            span,
        );
        for var in &vars {
            self.lengths.insert((*var, 0), length);
        }
        let element = element_of(&of, &mut vars.into_iter());
        Seq { length, element }.into()
    }

    /// The elements for which `keep` holds; `body` gives both.
    pub(super) fn filter_with(&mut self, length: Atom, span: Span, body: KeptElement<'_, Self>) -> Value {
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let found = body(self, index.into());
        let Some((keep, value)) = found else {
            self.close_block(Vec::new());
            return Value::Poison;
        };
        let of = match self.type_of(&value) {
            Some(of) if of != Type::Any && !contains_seq(&of) => of,
            _ => {
                self.close_block(Vec::new());
                if !value.is_poison() {
                    let text = format!(
                        "the elements of a filter are {}; expected numbers or tuples of them",
                        self.describe(&value)
                    );
                    self.plain_problem(Code::Element, span, text);
                }
                return Value::Poison;
            }
        };
        let mut results = vec![keep.atom];
        value.atoms(&mut results);
        let block = self.close_block(results);
        let leaves = super::arguments_of_type(&of).leaves();
        let outs: Vec<(DType, usize)> = leaves.iter().map(|(dtype, _)| (*dtype, 1)).collect();
        let exp = Exp::Filter { space: vec![Axis { index, length }], body: block };
        let vars = self.emit(exp, &outs, span);
        let length = self.length(vars[0], 0, span);
        for var in &vars {
            self.lengths.insert((*var, 0), length);
        }
        let element = element_of(&of, &mut vars.into_iter());
        Seq { length, element }.into()
    }

    /// Replaces elements of a sequence.
    pub(super) fn scatter(
        &mut self,
        what: &str,
        target: &Seq,
        length: Atom,
        span: Span,
        body: &mut dyn FnMut(&mut Self, Atom) -> (Value, Value),
    ) -> Value {
        let target_type = Type::Seq(self.element_type(&target.element));
        let value_type = self.tentatively(EmitAt::Element, |this| {
            let index = this.new_index();
            let (_, value) = body(this, index.into());
            this.type_of(&value)
        });
        let Some(value_type) = value_type.filter(|found| *found != Type::Any) else { return Value::Poison };
        let joined = element_type_of(&value_type).and_then(|element| target_type.join(&Type::Seq(element)));
        let Some(Type::Seq(joined)) = joined else {
            let text = format!("`{what}` puts {value_type} into {target_type}");
            return self.problem(
                Code::Element,
                span,
                text,
                "values must have the type of the elements that they replace",
            );
        };
        let Value::Seq(target) = self.convert(&target.clone().into(), &Type::Seq(joined.clone()), span) else {
            return Value::Poison;
        };
        let mut targets = Vec::new();
        target.element.arrays(&mut targets);
        if targets.iter().any(|var| self.program.var_type(*var).ndim != 1) || has_ragged(&target.element) {
            let text = format!("`{what}` replaces sequences in {target_type}; expected numbers or tuples of them");
            return self.problem(Code::Nested, span, text, "");
        }
        let of = type_of_element(&joined);
        self.open_block(EmitAt::Element);
        let index = self.new_index();
        let (at, value) = body(self, index.into());
        let at = match &at {
            Value::Scalar(scalar) => self.position(&target, *scalar, span),
            Value::Poison => None,
            other => {
                let text = format!("an index of `{what}` is {}; expected an integer", self.describe(other));
                self.plain_problem(Code::Index, span, text);
                None
            }
        };
        let value = self.convert(&value, &of, span);
        let mut results = vec![at.unwrap_or(Atom::index(0))];
        value.atoms(&mut results);
        let block = self.close_block(results);
        let outs: Vec<(DType, usize)> = targets.iter().map(|var| (self.program.var_type(*var).dtype, 1)).collect();
        let exp = Exp::Scatter { targets, space: vec![Axis { index, length }], body: block, bounds: Bounds::Checked };
        let vars = self.emit(exp, &outs, span);
        for var in &vars {
            self.lengths.insert((*var, 0), target.length);
        }
        let element = target.element.with_arrays(&mut vars.into_iter());
        Seq { length: target.length, element }.into()
    }

    /// `sort(less, x)`.
    pub(super) fn sort(&mut self, less: &Value, seq: &Seq, span: Span) -> Value {
        let of = type_of_element(&self.element_type(&seq.element));
        if contains_seq(&of) {
            return self.plain_problem(
                Code::Argument,
                span,
                format!("`sort` orders elements of type {of}; expected numbers or tuples of them"),
            );
        }
        let mut arrays = Vec::new();
        seq.element.arrays(&mut arrays);
        self.open_block(EmitAt::Element);
        let (a, b) = (self.fresh(&of, span), self.fresh(&of, span));
        let mut params = Vec::new();
        a.atoms(&mut params);
        b.atoms(&mut params);
        let value = self.apply(less, vec![a, b], span);
        let truth = self.truth(&value, span);
        let body = self.close_block(truth.map(|truth| truth.atom).into_iter().collect());
        if truth.is_none() {
            return Value::Poison;
        }
        let less = Lambda { params: params.into_iter().filter_map(Atom::as_var).collect(), body };
        let outs: Vec<(DType, usize)> = arrays.iter().map(|var| (self.program.var_type(*var).dtype, 1)).collect();
        let vars = self.emit(Exp::Sort { arrays, less }, &outs, span);
        for var in &vars {
            self.lengths.insert((*var, 0), seq.length);
        }
        let element = seq.element.with_arrays(&mut vars.into_iter());
        Seq { length: seq.length, element }.into()
    }
}

enum InnerLengths {
    /// For each array: the lengths of its axes.
    Fixed(Vec<Vec<Atom>>),
    Varying,
    Unsupported,
}

fn has_ragged(element: &Element) -> bool {
    match element {
        Element::Array { .. } => false,
        Element::Tuple(parts) => parts.iter().any(has_ragged),
        Element::Ragged { .. } => true,
    }
}

fn is_flat(element: &Element, program: &crate::ir::Program) -> bool {
    match element {
        Element::Array { var, .. } => program.var_type(*var).ndim == 1,
        Element::Tuple(parts) => parts.iter().all(|part| is_flat(part, program)),
        Element::Ragged { .. } => false,
    }
}

pub(super) fn contains_seq(of: &Type) -> bool {
    match of {
        Type::Seq(_) => true,
        Type::Tuple(parts) => parts.iter().any(contains_seq),
        _ => false,
    }
}

/// The elements of a sequence whose values are of a type, in new arrays.
pub(super) fn element_of(of: &Type, vars: &mut dyn Iterator<Item = Var>) -> Element {
    match of {
        Type::Scalar(leaf) => Element::Array { var: vars.next().unwrap_or(Var(0)), weak: leaf.weak },
        Type::Tuple(parts) => Element::Tuple(parts.iter().map(|part| element_of(part, vars)).collect()),
        Type::Seq(element) => element_of_inner(element, vars),
        Type::Any => Element::Tuple(Vec::new()),
    }
}

fn element_of_inner(of: &ElementType, vars: &mut dyn Iterator<Item = Var>) -> Element {
    match of {
        ElementType::Array { leaf, .. } => Element::Array { var: vars.next().unwrap_or(Var(0)), weak: leaf.weak },
        ElementType::Tuple(parts) => Element::Tuple(parts.iter().map(|part| element_of_inner(part, vars)).collect()),
        ElementType::Ragged(values) => {
            let offsets = vars.next().unwrap_or(Var(0));
            Element::Ragged { offsets, values: Box::new(element_of_inner(values, vars)) }
        }
    }
}

/// The type of the elements of a sequence of such values.
pub(super) fn element_type_of(value: &Type) -> Option<ElementType> {
    Some(match value {
        Type::Scalar(leaf) => ElementType::Array { leaf: *leaf, ndim: 1 },
        Type::Tuple(parts) => ElementType::Tuple(parts.iter().map(element_type_of).collect::<Option<_>>()?),
        Type::Seq(_) | Type::Any => return None,
    })
}

/// The type of one element.
pub(super) fn type_of_element(element: &ElementType) -> Type {
    match element {
        ElementType::Array { leaf, ndim: 1 } => Type::Scalar(*leaf),
        ElementType::Array { leaf, ndim } => Type::Seq(ElementType::Array { leaf: *leaf, ndim: ndim - 1 }),
        ElementType::Tuple(parts) => Type::Tuple(parts.iter().map(type_of_element).collect()),
        ElementType::Ragged(values) => Type::Seq((**values).clone()),
    }
}
