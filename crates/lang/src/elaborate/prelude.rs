//! The functions of the prelude.

use super::Elaborator;
use super::calls::n_arguments;
use super::types::{Type, integer_range};
use super::value::{Element, Leaf, Scalar, Seq, Value};
use crate::ir::{Atom, Bounds, Direction, Number};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::Comparison;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::sync::Arc;

/// Functions that take sequences or functions, with their numbers of arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("map", 2, usize::MAX),
    ("zip", 1, usize::MAX),
    ("unzip", 1, 1),
    ("enumerate", 1, 1),
    ("range", 1, 2),
    ("bounded_range", 2, 2),
    ("indices", 1, 1),
    ("replicate", 2, 2),
    ("len", 1, 1),
    ("reduce", 3, 3),
    ("sum", 1, 1),
    ("any", 1, 1),
    ("all", 1, 1),
    ("count", 1, 1),
    ("min", 1, usize::MAX),
    ("max", 1, usize::MAX),
    ("argmax", 1, 1),
    ("argmin", 1, 1),
    ("scan", 2, 2),
    ("rscan", 2, 2),
    ("exclusive_scan", 3, 3),
    ("exclusive_rscan", 3, 3),
    ("filter", 2, 2),
    ("gather", 2, 2),
    ("scatter", 3, 3),
    ("permute", 2, 2),
    ("update", 2, 2),
    ("shift", 3, 3),
    ("rotate", 2, 2),
    ("split_at", 2, 2),
    ("join", 1, 1),
    ("sort", 2, 2),
    ("transpose", 1, 1),
    ("cast_to", 2, 2),
    ("cast_to_el", 2, 2),
    ("min_bound", 1, 1),
    ("max_bound", 1, 1),
    ("min_bound_el", 1, 1),
    ("max_bound_el", 1, 1),
    ("op_not", 1, 1),
    ("op_band", 2, 2),
    ("op_bor", 2, 2),
    ("frexp", 1, 1),
    ("modf", 1, 1),
    ("collect", 2, 2),
];

/// How functions are called whose arguments are easily forgotten.
const USES: &[(&str, &str)] = &[
    ("reduce", "write `reduce(f, x, start)`, as in `reduce(op_add, x, 0)`"),
    ("scan", "write `scan(f, x)`, or `exclusive_scan(f, start, x)` for one that starts with a value"),
    ("rscan", "write `rscan(f, x)`, or `exclusive_rscan(f, start, x)` for one that starts with a value"),
    ("exclusive_scan", "write `exclusive_scan(f, start, x)`"),
    ("exclusive_rscan", "write `exclusive_rscan(f, start, x)`"),
    ("filter", "write `filter(condition, x)`"),
    ("replicate", "write `replicate(value, n)`"),
    ("shift", "write `shift(x, n, default)`"),
    ("rotate", "write `rotate(x, n)`"),
    ("scatter", "write `scatter(values, indices, target)`"),
    ("gather", "write `gather(x, indices)`"),
    ("permute", "write `permute(x, indices)`"),
    ("update", "write `update(x, [(i, v)])`"),
    ("sort", "write `sort(op, x)`, as in `sort(cmp_lt, x)`"),
    ("bounded_range", "write `bounded_range(start, stop)`"),
];

/// Other names of elementwise operations.
const ELEMENTWISE_NAMES: &[(&str, Op)] = &[
    ("abs", Op::Absolute),
    ("asin", Op::Arcsin),
    ("acos", Op::Arccos),
    ("atan", Op::Arctan),
    ("atan2", Op::Arctan2),
    ("pow", Op::Power),
    ("op_add", Op::Add),
    ("op_sub", Op::Subtract),
    ("op_mul", Op::Multiply),
    ("op_div", Op::TrueDivide),
    ("op_floordiv", Op::FloorDivide),
    ("op_mod", Op::Remainder),
    ("op_pow", Op::Power),
    ("op_lshift", Op::LeftShift),
    ("op_rshift", Op::RightShift),
    ("op_and", Op::BitAnd),
    ("op_or", Op::BitOr),
    ("op_xor", Op::BitXor),
    ("op_pos", Op::Positive),
    ("op_neg", Op::Negative),
    ("op_invert", Op::Invert),
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("cmp_eq", Comparison::Eq),
    ("cmp_ne", Comparison::NotEq),
    ("cmp_lt", Comparison::Lt),
    ("cmp_le", Comparison::LtE),
    ("cmp_gt", Comparison::Gt),
    ("cmp_ge", Comparison::GtE),
];

/// Elementwise operations that the prelude has under NumPy's name; `numpy` has others.
#[rustfmt::skip]
const NAMES_OF_NUMPY: &[&str] = &[
    "sqrt", "cbrt", "square", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "deg2rad",
    "rad2deg", "floor", "ceil", "trunc", "rint", "fabs", "sign", "signbit", "isnan", "isinf", "isfinite", "conjugate",
    "ldexp", "arctan2", "hypot", "copysign", "nextafter", "fmod", "minimum", "maximum", "fmin", "fmax", "logaddexp",
    "gcd", "lcm", "real", "imag", "where",
];

/// Whether `rtcg.copperhead` exports a function of this name.
pub(super) fn is_exported(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| *known == name)
        || ELEMENTWISE_NAMES.iter().any(|(known, _)| *known == name)
        || COMPARISONS.iter().any(|(known, _)| *known == name)
        || NAMES_OF_NUMPY.contains(&name)
        || name == "bool_"
        || DType::from_name(name).is_some_and(|dtype| dtype.name() == name && dtype != DType::Bool)
}

/// What an elementwise name means.
fn elementwise(name: &str) -> Option<Op> {
    ELEMENTWISE_NAMES.iter().find(|(known, _)| *known == name).map(|(_, op)| *op).or_else(|| Op::from_name(name))
}

/// Whether the prelude has a function of this name.
pub(super) fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| *known == name) || elementwise(name).is_some()
}

/// The known name that is most like another one.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let of_prelude =
        FUNCTIONS.iter().map(|(known, ..)| *known).chain(ELEMENTWISE_NAMES.iter().map(|(known, _)| *known));
    let all = known
        .map(str::to_owned)
        .chain(of_prelude.map(str::to_owned))
        .chain(Op::all_ops().map(|op| op.name().to_owned()));
    let limit = match name.chars().count() {
        0..=2 => return None,
        3 | 4 => 1,
        _ => 2,
    };
    all.filter(|other| other != name)
        .map(|other| (edit_distance(name, &other), other))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, other)| other)
}

/// Levenshtein's distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

impl Elaborator<'_> {
    /// How users may write the name of an operation.
    pub(super) fn spelling(&self, name: &str) -> String {
        let op = Op::from_name(name);
        let known = ELEMENTWISE_NAMES.iter().rev().find(|(_, other)| Some(*other) == op && name != "absolute");
        match known {
            Some((known, _)) => (*known).to_owned(),
            None if name == "absolute" => "abs".to_owned(),
            None => name.to_owned(),
        }
    }

    pub(super) fn apply_prelude(
        &mut self,
        name: &Arc<str>,
        arguments: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Value {
        if let Some(found) = self.apply_hidden(name, &arguments, span) {
            return found;
        }
        if let Some(found) = self.unrolled_call(name, &arguments, span) {
            return found;
        }
        if arguments.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        if let Some((_, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == &**name) {
            if arguments.len() < *least || arguments.len() > *most {
                let expected = match *most {
                    usize::MAX if *least == 1 => "1 argument or more".to_owned(),
                    usize::MAX => format!("{least} arguments or more"),
                    most if most == *least => n_arguments(most),
                    most => format!("{least} to {most} arguments"),
                };
                let text = format!("`{name}` takes {expected}; {} given", arguments.len());
                let advice = USES.iter().find(|(known, _)| *known == &**name).map_or("", |(_, usage)| usage);
                return self.problem(Code::Arity, span, text, advice);
            }
            return self.apply_function(name, &arguments, spans, span);
        }
        if let Some((_, comparison)) = COMPARISONS.iter().find(|(known, _)| *known == &**name) {
            return match arguments.as_slice() {
                [a, b] => self.compare(*comparison, a, b, span),
                other => {
                    let text = format!("`{name}` takes 2 arguments; {} given", other.len());
                    self.plain_problem(Code::Arity, span, text)
                }
            };
        }
        if let Some(op) = elementwise(name) {
            return self.apply_elementwise(op, &arguments, spans, span);
        }
        if let Some(dtype) = DType::from_name(name.trim_end_matches('_')) {
            return self.apply_cast(dtype, &arguments, spans, span);
        }
        let argument = match spans {
            [one] => self.text_of(*one).unwrap_or_else(|| "x".into()),
            _ => "x".into(),
        };
        let (text, advice) = match &**name {
            "float" | "int" => (
                format!("`{name}` makes a number of Python, but the program is compiled"),
                format!("write `{name}64({argument})`"),
            ),
            "bool" => ("`bool` is not known to programs".to_owned(), format!("write `{argument} != 0`")),
            _ => (format!("`{name}` is not known to programs"), String::new()),
        };
        self.problem(Code::Foreign, span, text, advice)
    }

    fn apply_function(&mut self, name: &str, arguments: &[Value], spans: &[Span], span: Span) -> Value {
        let first = &arguments[0];
        let at = |argument: usize| spans.get(argument).copied().unwrap_or(span);
        match name {
            "map" => {
                let mut seqs = Vec::new();
                for (k, argument) in arguments.iter().enumerate().skip(1) {
                    match self.seq_argument(name, &format!("argument {}", k + 1), argument, at(k)) {
                        Some(seq) => seqs.push(seq),
                        None => return Value::Poison,
                    }
                }
                self.map(first, &seqs, spans.get(1..).unwrap_or_default(), span)
            }
            "zip" => self.zip(arguments, spans, span),
            "unzip" => self.with_seq(name, first, at(0), |this, seq| match &seq.element {
                Element::Tuple(parts) => Value::Tuple(
                    parts.iter().map(|part| Seq { length: seq.length, element: part.clone() }.into()).collect(),
                ),
                _ => {
                    let text =
                        format!("`unzip` takes a sequence of tuples; found {}", this.describe(&seq.clone().into()));
                    this.plain_problem(Code::Argument, span, text)
                }
            }),
            "enumerate" => self.with_seq(name, first, at(0), |this, seq| {
                let counted = this.range(Atom::index(0), seq.length, span);
                let Value::Seq(counted) = counted else { return Value::Poison };
                Seq { length: seq.length, element: Element::Tuple(vec![counted.element, seq.element]) }.into()
            }),
            "indices" => self.with_seq(name, first, at(0), |this, seq| this.range(Atom::index(0), seq.length, span)),
            "len" => match first {
                Value::Tuple(parts) => {
                    let text =
                        format!("the argument of `len` is a tuple of {}; expected a sequence", n_parts(parts.len()));
                    let advice = "the program knows how many parts a tuple has: write the number";
                    self.problem(Code::Argument, at(0), text, advice)
                }
                value => self.with_seq(name, value, at(0), |_, seq| Scalar::strong(seq.length).into()),
            },
            "range" | "bounded_range" => {
                let ends: Option<Vec<Atom>> = arguments
                    .iter()
                    .enumerate()
                    .map(|(k, end)| self.integer_argument(name, "bound", end, at(k)))
                    .collect();
                match ends.as_deref() {
                    Some([end]) => {
                        let length = self.index_op(Op::Maximum, *end, Atom::index(0), span);
                        self.range(Atom::index(0), length, span)
                    }
                    Some([start, end]) => {
                        let difference = self.index_difference(*end, *start, span);
                        let length = self.index_op(Op::Maximum, difference, Atom::index(0), span);
                        self.range(*start, length, span)
                    }
                    _ => Value::Poison,
                }
            }
            "replicate" => {
                let Some(n) = self.integer_argument(name, "length", &arguments[1], at(1)) else { return Value::Poison };
                let n = self.index_op(Op::Maximum, n, Atom::index(0), span);
                let value = first.clone();
                self.tabulate(n, span, &mut |_, _| value.clone())
            }
            "reduce" => {
                let Some(seq) = self.seq_argument(name, "argument 2", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                self.reduce(name, first, &seq, Some(&arguments[2]), false, span)
            }
            "sum" => self.with_seq(name, first, at(0), |this, seq| {
                let zero = Scalar::python(Number::Int(0)).into();
                this.reduce("sum", &Value::Elementwise(Op::Add), &seq, Some(&zero), true, span)
            }),
            "any" | "all" | "count" => {
                let kind = name.to_owned();
                self.with_seq(name, first, at(0), |this, seq| this.reduce_truth(&kind, &seq, span))
            }
            "min" | "max" => self.extreme(name, arguments, spans, span),
            "argmax" | "argmin" => {
                let is_max = name == "argmax";
                self.with_seq(name, first, at(0), |this, seq| this.extreme_with_index(is_max, &seq, at(0), span))
            }
            "scan" | "rscan" => {
                let direction = if name == "scan" { Direction::Forward } else { Direction::Backward };
                let Some(seq) = self.seq_argument(name, "argument 2", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                self.scan(name, first, &seq, None, direction, span)
            }
            "exclusive_scan" | "exclusive_rscan" => {
                let direction = if name == "exclusive_scan" { Direction::Forward } else { Direction::Backward };
                let Some(seq) = self.seq_argument(name, "argument 3", &arguments[2], at(2)) else {
                    return Value::Poison;
                };
                self.scan(name, first, &seq, Some(&arguments[1]), direction, span)
            }
            "filter" => {
                let Some(seq) = self.seq_argument(name, "argument 2", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                self.filter_with(seq.length, span, &mut |this, index| {
                    let value = this.element_at(&seq, index, Bounds::Inside, span);
                    let keep = this.apply(first, vec![value.clone()], span);
                    Some((this.truth(&keep, span)?, value))
                })
            }
            "gather" => {
                let (Some(seq), Some(places)) = (
                    self.seq_argument(name, "argument 1", first, at(0)),
                    self.seq_argument(name, "argument 2", &arguments[1], at(1)),
                ) else {
                    return Value::Poison;
                };
                if let Type::Scalar(leaf) = super::sequences::type_of_element(&self.element_type(&places.element))
                    && !leaf.dtype.is_integer()
                {
                    let text = format!("the indices of `gather` are {leaf}; expected integers");
                    let indices = self.names_of(at(1)).0;
                    return self.problem(Code::Index, at(1), text, format!("write `map(int64, {indices})`"));
                }
                self.tabulate(places.length, span, &mut |this, index| {
                    let place = this.element_at(&places, index, Bounds::Inside, span);
                    this.subscript(&seq.clone().into(), &place, at(1), span)
                })
            }
            "scatter" => {
                let (Some(source), Some(places), Some(target)) = (
                    self.seq_argument(name, "argument 1", first, at(0)),
                    self.seq_argument(name, "argument 2", &arguments[1], at(1)),
                    self.seq_argument(name, "argument 3", &arguments[2], at(2)),
                ) else {
                    return Value::Poison;
                };
                self.scatter_seqs(name, &source, &places, &target, (at(0), at(1)), span)
            }
            "permute" => {
                let (Some(source), Some(places)) = (
                    self.seq_argument(name, "argument 1", first, at(0)),
                    self.seq_argument(name, "argument 2", &arguments[1], at(1)),
                ) else {
                    return Value::Poison;
                };
                self.scatter_seqs(name, &source, &places, &source, (at(0), at(1)), span)
            }
            "update" => {
                let Some(target) = self.seq_argument(name, "argument 1", first, at(0)) else { return Value::Poison };
                let pairs = match &arguments[1] {
                    Value::Tuple(parts) if parts.is_empty() => return first.clone(),
                    Value::Tuple(parts) => self.tuples_as_seq(parts, span),
                    other => other.clone(),
                };
                let Some(pairs) = self.seq_argument(name, "argument 2", &pairs, at(1)) else { return Value::Poison };
                self.scatter(name, &target, pairs.length, span, &mut |this, index| match this.element_at(
                    &pairs,
                    index,
                    Bounds::Inside,
                    span,
                ) {
                    Value::Tuple(parts) if parts.len() == 2 => (parts[0].clone(), parts[1].clone()),
                    other => {
                        let text = format!(
                            "an element of argument 2 of `update` is {}; expected a pair of an index and a value",
                            this.describe(&other)
                        );
                        let advice = "write `update(x, zip(indices, values))`";
                        (this.problem(Code::Argument, at(1), text, advice), Value::Poison)
                    }
                })
            }
            "shift" | "rotate" => {
                let Some(seq) = self.seq_argument(name, "argument 1", first, at(0)) else { return Value::Poison };
                let Some(by) = self.integer_argument(name, "offset", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                match arguments.get(2) {
                    Some(default) => self.shift(&seq, by, default, span),
                    None => self.rotate(&seq, by, span),
                }
            }
            "split_at" => {
                let Some(seq) = self.seq_argument(name, "argument 1", first, at(0)) else { return Value::Poison };
                let Some(k) = self.integer_argument(name, "place", &arguments[1], at(1)) else { return Value::Poison };
                self.split_at(&seq, k, span)
            }
            "join" => self.join(first, span),
            "sort" => {
                let Some(seq) = self.seq_argument(name, "argument 2", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                self.sort(first, &seq, span)
            }
            "collect" => {
                let Some(seq) = self.seq_argument(name, "argument 2", &arguments[1], at(1)) else {
                    return Value::Poison;
                };
                self.collect(first, &seq, span)
            }
            "transpose" => self.with_seq(name, first, at(0), |this, seq| this.transpose(&seq, span)),
            "cast_to" => match (first, &arguments[1]) {
                (Value::Scalar(x), Value::Scalar(like)) => {
                    let to = self.leaf(*like);
                    self.convert_scalar(*x, to, span).into()
                }
                (a, b) => {
                    let text =
                        format!("`cast_to` takes two numbers; found {} and {}", self.describe(a), self.describe(b));
                    self.plain_problem(Code::Argument, span, text)
                }
            },
            "cast_to_el" => {
                let Some(x) = self.scalar_argument(name, "argument 1", first, at(0)) else { return Value::Poison };
                let Some(leaf) = self.element_leaf(name, &arguments[1], at(1)) else { return Value::Poison };
                self.convert_scalar(x, leaf, span).into()
            }
            "min_bound" | "max_bound" => {
                let Some(x) = self.scalar_argument(name, "argument", first, at(0)) else { return Value::Poison };
                let leaf = self.leaf(x);
                self.bound(name, leaf, name == "max_bound", span)
            }
            "min_bound_el" | "max_bound_el" => match self.element_leaf(name, first, at(0)) {
                Some(leaf) => self.bound(name, leaf, name == "max_bound_el", span),
                None => Value::Poison,
            },
            "op_not" | "op_band" | "op_bor" => {
                let truths: Option<Vec<Scalar>> = arguments.iter().map(|value| self.truth(value, span)).collect();
                let op = match name {
                    "op_not" => Op::LogicalNot,
                    "op_band" => Op::LogicalAnd,
                    _ => Op::LogicalOr,
                };
                truths.and_then(|truths| self.prim(op, &truths, span)).map_or(Value::Poison, Value::from)
            }
            _ => {
                let text = format!("`{name}` is not compiled");
                self.problem(Code::Foreign, span, text, "run the program at `places.here`")
            }
        }
    }

    fn with_seq(&mut self, name: &str, value: &Value, span: Span, then: impl FnOnce(&mut Self, Seq) -> Value) -> Value {
        match self.seq_argument(name, "the argument", value, span) {
            Some(seq) => then(self, seq),
            None => Value::Poison,
        }
    }

    /// An int64 argument.
    fn integer_argument(&mut self, function: &str, what: &str, value: &Value, span: Span) -> Option<Atom> {
        let scalar = self.scalar_argument(function, what, value, span)?;
        if !self.program.dtype(scalar.atom).is_integer() {
            let text = format!("the {what} of `{function}` is {}; expected an integer", self.leaf(scalar));
            let advice = self.conversion_advice(span);
            self.problem(Code::Argument, span, text, advice);
            return None;
        }
        Some(self.convert_scalar(scalar, Leaf { dtype: DType::I64, weak: true }, span).atom)
    }

    fn element_leaf(&mut self, function: &str, value: &Value, span: Span) -> Option<Leaf> {
        let seq = self.seq_argument(function, "the argument", value, span)?;
        match super::sequences::type_of_element(&self.element_type(&seq.element)) {
            Type::Scalar(leaf) => Some(leaf),
            other => {
                self.plain_problem(
                    Code::Argument,
                    span,
                    format!("the elements of the argument of `{function}` are {other}; expected numbers"),
                );
                None
            }
        }
    }

    /// `start..start + length`.
    pub(super) fn range(&mut self, start: Atom, length: Atom, span: Span) -> Value {
        self.tabulate(length, span, &mut |this, index| Scalar::strong(this.index_sum(start, index, span)).into())
    }

    fn zip(&mut self, arguments: &[Value], spans: &[Span], span: Span) -> Value {
        let mut seqs = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let own = spans.get(at).copied().unwrap_or(span);
            match self.seq_argument("zip", &format!("argument {}", at + 1), argument, own) {
                Some(seq) => seqs.push(seq),
                None => return Value::Poison,
            }
        }
        let length = self.shortest(&seqs, span);
        if seqs.iter().any(|seq| seq.length != length) {
            seqs = seqs
                .iter()
                .map(|seq| match seq.length == length {
                    true => seq.clone(),
                    false => Seq { length, element: self.slice_element(&seq.element, Atom::index(0), length, span) },
                })
                .collect();
        }
        Seq { length, element: Element::Tuple(seqs.into_iter().map(|seq| seq.element).collect()) }.into()
    }

    /// Tuples of one type as a sequence of them.
    pub(super) fn tuples_as_seq(&mut self, parts: &[Value], span: Span) -> Value {
        let rows: Option<Vec<&Vec<Value>>> =
            parts.iter().map(|part| if let Value::Tuple(row) = part { Some(row) } else { None }).collect();
        let Some(rows) = rows.filter(|rows| rows.windows(2).all(|pair| pair[0].len() == pair[1].len())) else {
            return Value::Tuple(parts.to_vec());
        };
        let Some(first) = rows.first() else { return Value::Tuple(Vec::new()) };
        let columns: Vec<Value> =
            (0..first.len()).map(|at| self.list(rows.iter().map(|row| row[at].clone()).collect(), span)).collect();
        self.zip(&columns, &[], span)
    }

    fn reduce_truth(&mut self, name: &str, seq: &Seq, span: Span) -> Value {
        let truths = self.tabulate(seq.length, span, &mut |this, index| {
            let value = this.element_at(seq, index, Bounds::Inside, span);
            let Some(truth) = this.truth(&value, span) else { return Value::Poison };
            if name == "count" {
                return this.convert_scalar(truth, Leaf { dtype: DType::I64, weak: false }, span).into();
            }
            truth.into()
        });
        let Value::Seq(truths) = truths else { return Value::Poison };
        let (op, first) = match name {
            "any" => (Op::LogicalOr, Number::Bool(false)),
            "all" => (Op::LogicalAnd, Number::Bool(true)),
            _ => (Op::Add, Number::Int(0)),
        };
        self.reduce(name, &Value::Elementwise(op), &truths, Some(&Scalar::python(first).into()), true, span)
    }

    fn scatter_seqs(
        &mut self,
        name: &str,
        source: &Seq,
        places: &Seq,
        target: &Seq,
        spans: (Span, Span),
        span: Span,
    ) -> Value {
        let of = |this: &Self, span, otherwise: &str| this.quoted(span).unwrap_or_else(|| otherwise.into());
        let (values, indices) = (of(self, spans.0, "the sequence of values"), of(self, spans.1, "that of indices"));
        let length = self.same_length(&[(source, values), (places, indices)], span);
        self.scatter(name, target, length, span, &mut |this, index| {
            (this.element_at(places, index, Bounds::Inside, span), this.element_at(source, index, Bounds::Inside, span))
        })
    }

    /// `shift(x, by, default)`: towards lower indices.
    fn shift(&mut self, seq: &Seq, by: Atom, default: &Value, span: Span) -> Value {
        let far = self.prim(Op::Absolute, &[Scalar::weak(by)], span).map_or(by, |far| far.atom);
        let known = Scalar::weak(by).constant_int();
        let length = match known {
            Some(0) => seq.length,
            _ => self.index_op(Op::Maximum, seq.length, far, span),
        };
        self.tabulate(length, span, &mut |this, index| {
            let place = this.index_sum(index, by, span);
            let Some(is_inside) = this.is_inside(place, seq.length, span) else { return Value::Poison };
            this.choose(is_inside, span, |this| this.element_at(seq, place, Bounds::Inside, span), |_| default.clone())
        })
    }

    fn is_inside(&mut self, place: Atom, length: Atom, span: Span) -> Option<Scalar> {
        let low = self.prim(Op::GreaterEqual, &[Scalar::weak(place), Scalar::weak(Atom::index(0))], span)?;
        let high = self.prim(Op::Less, &[Scalar::weak(place), Scalar::weak(length)], span)?;
        self.prim(Op::LogicalAnd, &[low, high], span)
    }

    /// `rotate(x, by)`, which leaves the sequence as it is for rotations by its length or more.
    fn rotate(&mut self, seq: &Seq, by: Atom, span: Span) -> Value {
        let far = self.prim(Op::Absolute, &[Scalar::weak(by)], span).map_or(by, |far| far.atom);
        let is_far = self.prim(Op::GreaterEqual, &[Scalar::weak(far), Scalar::weak(seq.length)], span);
        let Some(is_far) = is_far else { return Value::Poison };
        let by = self.choose(is_far, span, |_| Scalar::weak(Atom::index(0)).into(), |_| Scalar::weak(by).into());
        let Value::Scalar(by) = by else { return Value::Poison };
        self.tabulate(seq.length, span, &mut |this, index| {
            let place = this.index_sum(index, by.atom, span);
            let wrapped = this.wrapped(place, seq.length, span);
            this.element_at(seq, wrapped, Bounds::Inside, span)
        })
    }

    /// An index that is less than one length outside.
    fn wrapped(&mut self, place: Atom, length: Atom, span: Span) -> Atom {
        let zero = Scalar::weak(Atom::index(0));
        let more = self.index_sum(place, length, span);
        let less = self.index_difference(place, length, span);
        let is_low = self.prim(Op::Less, &[Scalar::weak(place), zero], span);
        let is_high = self.prim(Op::GreaterEqual, &[Scalar::weak(place), Scalar::weak(length)], span);
        let (Some(is_low), Some(is_high)) = (is_low, is_high) else { return place };
        let high = self.prim(Op::Where, &[is_high, Scalar::weak(less), Scalar::weak(place)], span);
        high.and_then(|high| self.prim(Op::Where, &[is_low, Scalar::weak(more), high], span))
            .map_or(place, |found| found.atom)
    }

    fn split_at(&mut self, seq: &Seq, k: Atom, span: Span) -> Value {
        let zero = Scalar::weak(Atom::index(0));
        let from_end = self.index_sum(k, seq.length, span);
        let is_low = self.prim(Op::Less, &[Scalar::weak(k), zero], span);
        let Some(is_low) = is_low else { return Value::Poison };
        let at = match is_low.constant() {
            Some(Number::Bool(true)) => from_end,
            Some(_) => k,
            None => self
                .prim(Op::Where, &[is_low, Scalar::weak(from_end), Scalar::weak(k)], span)
                .map_or(k, |found| found.atom),
        };
        let at = self.index_op(Op::Maximum, at, Atom::index(0), span);
        let at = self.index_op(Op::Minimum, at, seq.length, span);
        let rest = self.index_difference(seq.length, at, span);
        let first = self.slice_element(&seq.element, Atom::index(0), at, span);
        let second = self.slice_element(&seq.element, at, rest, span);
        Value::Tuple(vec![Seq { length: at, element: first }.into(), Seq { length: rest, element: second }.into()])
    }

    /// Pairs of a key and the elements that have it: sorted by key, then divided where the key changes.
    fn collect(&mut self, key: &Value, seq: &Seq, span: Span) -> Value {
        let keyed = self.tabulate(seq.length, span, &mut |this, index| {
            let value = this.element_at(seq, index, Bounds::Inside, span);
            Value::Tuple(vec![this.apply(key, vec![value.clone()], span), value])
        });
        let Value::Seq(keyed) = keyed else { return Value::Poison };
        let sorted = self.sort(&Value::Prelude("__by_key".into()), &keyed, span);
        let Value::Seq(sorted) = sorted else { return Value::Poison };
        let Element::Tuple(parts) = &sorted.element else { return Value::Poison };
        let (keys, values) = (parts[0].clone(), parts[1].clone());
        let keys = Seq { length: sorted.length, element: keys };
        let starts = self.filter_with(sorted.length, span, &mut |this, index| {
            let is_first = this.prim(Op::Equal, &[Scalar::weak(index), Scalar::weak(Atom::index(0))], span)?;
            let changes = this.choose(
                is_first,
                span,
                |_| Scalar::python(Number::Bool(true)).into(),
                |this| {
                    let before = this.index_difference(index, Atom::index(1), span);
                    let before = this.element_at(&keys, before, Bounds::Inside, span);
                    let own = this.element_at(&keys, index, Bounds::Inside, span);
                    this.compare(Comparison::NotEq, &before, &own, span)
                },
            );
            let Value::Scalar(changes) = changes else { return None };
            let own = this.element_at(&keys, index, Bounds::Inside, span);
            Some((changes, Value::Tuple(vec![own, Scalar::strong(index).into()])))
        });
        let Value::Seq(starts) = starts else { return Value::Poison };
        let Element::Tuple(parts) = &starts.element else { return Value::Poison };
        let (keys, places) = (parts[0].clone(), Seq { length: starts.length, element: parts[1].clone() });
        let more = self.index_sum(starts.length, Atom::index(1), span);
        let offsets = self.tabulate(more, span, &mut |this, index| {
            let is_inside = this.prim(Op::Less, &[Scalar::weak(index), Scalar::weak(starts.length)], span);
            let Some(is_inside) = is_inside else { return Value::Poison };
            this.choose(
                is_inside,
                span,
                |this| this.element_at(&places, index, Bounds::Inside, span),
                |_| Scalar::strong(seq.length).into(),
            )
        });
        let Value::Seq(Seq { element: Element::Array { var: offsets, .. }, .. }) = offsets else {
            return Value::Poison;
        };
        let groups = Element::Ragged { offsets, values: Box::new(values) };
        Seq { length: starts.length, element: Element::Tuple(vec![keys, groups]) }.into()
    }

    /// The sequences of a sequence, or of a list, one after the other.
    pub(super) fn join(&mut self, value: &Value, span: Span) -> Value {
        let Value::Tuple(parts) = value else { return self.flattened(value, span) };
        let mut seqs = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            match self.seq_argument("join", &format!("part {}", at + 1), part, span) {
                Some(seq) => seqs.push(seq),
                None => return Value::Poison,
            }
        }
        let Some(last) = seqs.last().cloned() else {
            return self.plain_problem(Code::Element, span, "`join` of an empty list has no type");
        };
        let mut ends = Vec::new();
        let mut total = Atom::index(0);
        for seq in &seqs {
            total = self.index_sum(total, seq.length, span);
            ends.push(total);
        }
        self.tabulate(total, span, &mut |this, index| {
            let n = seqs.len();
            this.joined_element(&seqs[..n], &ends, &last, index, 0, span)
        })
    }

    fn joined_element(&mut self, seqs: &[Seq], ends: &[Atom], last: &Seq, index: Atom, at: usize, span: Span) -> Value {
        let start = if at == 0 { Atom::index(0) } else { ends[at - 1] };
        let place = self.index_difference(index, start, span);
        if at + 1 == seqs.len() {
            return self.element_at(last, place, Bounds::Inside, span);
        }
        let is_here = self.prim(Op::Less, &[Scalar::weak(index), Scalar::weak(ends[at])], span);
        let Some(is_here) = is_here else { return Value::Poison };
        self.choose(
            is_here,
            span,
            |this| this.element_at(&seqs[at], place, Bounds::Inside, span),
            |this| this.joined_element(seqs, ends, last, index, at + 1, span),
        )
    }

    fn transpose(&mut self, seq: &Seq, span: Span) -> Value {
        let found = self.describe(&seq.clone().into());
        let (Element::Array { var, weak }, Some(true)) = (
            &seq.element,
            match &seq.element {
                Element::Array { var, .. } => Some(self.program.var_type(*var).ndim == 2),
                _ => None,
            },
        ) else {
            return self.plain_problem(
                Code::Argument,
                span,
                format!("`transpose` takes a sequence of sequences of one length; found {found}"),
            );
        };
        let (var, weak) = (*var, *weak);
        let inner = self.length(var, 1, span);
        let dtype = self.program.var_type(var).dtype;
        let array = self.generate(&[inner, seq.length], dtype, span, |this, index| {
            this.read(var, vec![index[1].into(), index[0].into()], span)
        });
        Seq { length: inner, element: Element::Array { var: array, weak } }.into()
    }

    /// The least or the greatest number of a type.
    fn bound(&mut self, name: &str, leaf: Leaf, is_max: bool, span: Span) -> Value {
        let pick = |low: f64, high: f64| Number::Float(if is_max { high } else { low });
        let number = match leaf.dtype {
            dtype if dtype.is_integer() => {
                let (low, high) = integer_range(dtype);
                Number::Int(if is_max { high } else { low })
            }
            DType::F16 => pick(-65504.0, 65504.0),
            DType::BF16 => pick(-3.389_531_389_251_535_5e38, 3.389_531_389_251_535_5e38),
            DType::F32 => pick(f64::from(f32::MIN), f64::from(f32::MAX)),
            DType::F64 => pick(f64::MIN, f64::MAX),
            other => {
                let text = format!("the argument of `{name}` is {}; expected an integer or a float", other.name());
                return self.plain_problem(Code::Argument, span, text);
            }
        };
        Scalar { atom: Atom::Const(number, leaf.dtype), weak: false }.into()
    }

    /// Whether an index is never negative, as far as its definition tells.
    pub(super) fn is_known_positive(&self, atom: Atom) -> bool {
        let Some(var) = atom.as_var() else { return false };
        for block in self.blocks.iter().rev() {
            if let Some(stmt) = block.stmts.iter().rev().find(|stmt| stmt.outs.contains(&var)) {
                return matches!(stmt.exp, crate::ir::Exp::Length { .. } | crate::ir::Exp::Segment { .. });
            }
        }
        self.indices.contains(&var)
    }

    /// Functions that only the prelude's own reductions use.
    pub(super) fn apply_hidden(&mut self, name: &str, arguments: &[Value], span: Span) -> Option<Value> {
        if let ("__by_key", [Value::Tuple(a), Value::Tuple(b)]) = (name, arguments) {
            return Some(self.compare(Comparison::Lt, &a[0], &b[0], span));
        }
        let comparison = match name {
            "__first_min" | "__argmin" => Comparison::Lt,
            "__first_max" | "__argmax" => Comparison::Gt,
            _ => return None,
        };
        let [a, b] = arguments else { return None };
        if name.starts_with("__first") {
            return Some(self.better(comparison, a, b, span));
        }
        let (Value::Tuple(first), Value::Tuple(second)) = (a, b) else { return Some(Value::Poison) };
        let ([first_index, first_value], [second_index, second_value]) = (first.as_slice(), second.as_slice()) else {
            return Some(Value::Poison);
        };
        // The first of equal elements, in whatever order they are combined.
        let is_better = self.compare(comparison, second_value, first_value, span);
        let is_equal = self.compare(Comparison::Eq, second_value, first_value, span);
        let is_earlier = self.compare(Comparison::Lt, second_index, first_index, span);
        let (Value::Scalar(is_better), Value::Scalar(is_equal), Value::Scalar(is_earlier)) =
            (is_better, is_equal, is_earlier)
        else {
            return Some(Value::Poison);
        };
        let is_first = self.prim(Op::LogicalAnd, &[is_equal, is_earlier], span);
        let takes = is_first.and_then(|is_first| self.prim(Op::LogicalOr, &[is_better, is_first], span));
        let Some(takes) = takes else { return Some(Value::Poison) };
        Some(self.choose(takes, span, |_| b.clone(), |_| a.clone()))
    }
}

/// A number of parts, in words.
fn n_parts(n: usize) -> String {
    if n == 1 { "1 part".into() } else { format!("{n} parts") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_near_others_are_found() {
        assert_eq!(nearest("redcue", std::iter::empty()), Some("reduce".to_owned()));
        assert_eq!(nearest("alpah", ["alpha"].into_iter()), Some("alpha".to_owned()));
        assert_eq!(nearest("entirely_else", std::iter::empty()), None);
    }
}
