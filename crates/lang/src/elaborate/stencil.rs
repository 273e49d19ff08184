//! Stencils: functions of fields that are indexed by constant offsets from the element that is computed.
//!
//! Establishes: the program is one statement over the space of the fields. Loops over offsets are comprehensions over
//! tuples and ranges whose values the program knows; they are unrolled, so that every offset is a constant.

use super::value::{Closure, Env, Scalar, Value};
use super::{Elaborated, Elaborator, EmitAt, arguments_of_type};
use crate::arguments::{ArgType, ResultType};
use crate::ir::{Atom, Axis, Bounds, Exp, Number, Var};
use crate::problem::{Code, Problems};
use crate::span::Span;
use crate::surface::{Expr, Generator, Pattern, Source};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::rc::Rc;

/// The most axes of a field.
pub const MAX_STENCIL_AXES: usize = 4;

/// The most values of a range that is unrolled.
const MAX_RANGE: i128 = 4096;

/// Elaborates the first function of a source as a stencil: arrays among the arguments are fields of one shape, which the
/// function indexes by offsets. Results are numbers, or tuples of them: an array each, of the shape of the fields.
///
/// # Errors
/// All problems that were found; no fields, and fields of different numbers of axes or more than
/// [`MAX_STENCIL_AXES`], are among them.
pub fn elaborate_stencil(source: &Source, arguments: &[ArgType]) -> Result<Elaborated, Problems> {
    let mut elaborator = Elaborator::new(source);
    match elaborator.run_stencil(arguments) {
        Some(done) if elaborator.problems.is_empty() => Ok(done),
        _ => Err(elaborator.problems),
    }
}

impl Elaborator<'_> {
    fn run_stencil(&mut self, arguments: &[ArgType]) -> Option<Elaborated> {
        let function = self.source.functions.first()?.clone();
        let span = function.span;
        self.open_block(EmitAt::Top);
        let values: Vec<Value> = arguments.iter().map(|argument| self.stencil_parameter(argument, span)).collect();
        let fields: Vec<(usize, Var)> = values
            .iter()
            .enumerate()
            .filter_map(|(at, value)| if let Value::Field(var) = value { Some((at, *var)) } else { None })
            .collect();
        let Some((_, first)) = fields.first().copied() else {
            let text = format!("'{}' is given no field; expected at least one array", function.name);
            self.problem(Code::Arity, span, text, "");
            return None;
        };
        let n_axes = self.program.var_type(first).ndim;
        for (at, field) in &fields {
            let ndim = self.program.var_type(*field).ndim;
            if ndim != n_axes || ndim > MAX_STENCIL_AXES {
                let name = match function.params.get(*at) {
                    Some(Pattern::Name(name, _)) => format!("'{name}'"),
                    _ => format!("argument {}", at + 1),
                };
                let expected = if ndim > MAX_STENCIL_AXES {
                    format!("1 to {MAX_STENCIL_AXES}")
                } else {
                    format!("{n_axes}, as those of the first field")
                };
                self.problem(Code::Axes, span, format!("{name} has {ndim} axes; expected {expected}"), "");
                return None;
            }
        }
        let lengths: Vec<Atom> = (0..n_axes).map(|axis| self.length(first, axis, span)).collect();
        self.open_block(EmitAt::Element);
        let space: Vec<Axis> = lengths.iter().map(|length| Axis { index: self.new_index(), length: *length }).collect();
        self.stencil = Some(space.iter().map(|axis| axis.index).collect());
        let closure = Rc::new(Closure { function: function.clone(), env: Env::default(), index: Some(0) });
        let result = self.apply_closure(&closure, values, span);
        let parts = match &result {
            Value::Tuple(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        if let Some(wrong) = parts.iter().find(|part| !matches!(part, Value::Scalar(_) | Value::Poison)) {
            let what = self.describe(wrong);
            let advice = if matches!(wrong, Value::Field(_)) { "Write u[0, 0] for the element itself." } else { "" };
            let text = format!("'{}' returns {what}; expected a number, or a tuple of numbers", function.name);
            self.problem(Code::Result, span, text, advice);
        }
        let of = self.type_of(&result);
        let body = self.close_with(&result);
        let (Some(of), true) = (of, self.problems.is_empty()) else { return None };
        let leaves: Vec<(DType, usize)> =
            arguments_of_type(&of).leaves().into_iter().map(|(dtype, _)| (dtype, n_axes)).collect();
        let outs = self.emit_arrays(Exp::Gen { space, body }, &leaves, span);
        self.program.body = self.close_block(outs.into_iter().map(Atom::Var).collect());
        let arrays = |leaves: &[(DType, usize)]| -> Vec<ResultType> {
            leaves.iter().map(|(dtype, ndim)| ResultType::Array { dtype: *dtype, ndim: *ndim, weak: false }).collect()
        };
        let result = match (&result, arrays(&leaves)) {
            (Value::Tuple(_), all) => ResultType::Tuple(all),
            (_, mut all) => all.pop()?,
        };
        Some(Elaborated { program: std::mem::take(&mut self.program), result })
    }

    fn stencil_parameter(&mut self, argument: &ArgType, span: Span) -> Value {
        match argument {
            ArgType::Array { dtype, ndim, .. } => Value::Field(self.new_param(*dtype, *ndim)),
            ArgType::Scalar { .. } | ArgType::Function(_) => self.parameter(argument, span),
            ArgType::Tuple(parts) => {
                Value::Tuple(parts.iter().map(|part| self.stencil_parameter(part, span)).collect())
            }
            ArgType::Zip(_) | ArgType::Ragged(_) => {
                let text =
                    "a field is a sequence of tuples or of rows of different lengths; expected an array of numbers";
                self.problem(Code::Argument, span, text, "Pass an array for each part.")
            }
        }
    }

    /// `field[offsets]`.
    pub(super) fn field_element(&mut self, field: Var, index: &Value, span: Span) -> Value {
        let Some(own) = self.stencil.clone() else { return Value::Poison };
        let offsets = match index {
            Value::Poison => return Value::Poison,
            Value::Tuple(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        if offsets.iter().any(Value::is_poison) {
            return Value::Poison;
        }
        if offsets.len() != own.len() {
            let text =
                format!("a field of {} axes is indexed with {} offset(s); expected {0}", own.len(), offsets.len())
                    .replace("{0}", &own.len().to_string());
            let zeros = vec!["0"; own.len()].join(", ");
            return self.problem(Code::Index, span, text, format!("The element itself is u[{zeros}]."));
        }
        let mut place = Vec::with_capacity(own.len());
        for (axis, (offset, index)) in offsets.iter().zip(own).enumerate() {
            let known = match offset {
                Value::Scalar(scalar) if self.program.dtype(scalar.atom).is_integral() => scalar.constant_int(),
                _ => None,
            };
            let Some(known) = known.and_then(|known| i32::try_from(known).ok()) else {
                let what = match offset {
                    Value::Scalar(scalar) if scalar.constant().is_some() => "is no integer of 32 bits".to_owned(),
                    Value::Scalar(_) => "is computed from fields or arguments".to_owned(),
                    other => format!("is {}", self.describe(other)),
                };
                let text =
                    format!("the offset along axis {axis} {what}; expected an integer that is known before the call");
                let advice = "Offsets are written as numbers, names of numbers or tuples outside of the function, or \
                              come from comprehensions over `range` and tuples. What depends on data is written with @cu \
                              as `u[i]`.";
                return self.problem(Code::Static, span, text, advice);
            };
            let index = Atom::Var(index);
            place.push(if known == 0 { index } else { self.index_sum(index, Atom::index(known.into()), span) });
        }
        let dtype = self.program.var_type(field).dtype;
        let exp = Exp::Read { array: field, index: place, bounds: Bounds::Checked };
        Scalar::strong(self.emit_scalar(exp, dtype, span)).into()
    }

    /// A comprehension over a tuple, unrolled.
    pub(super) fn unrolled_comprehension(
        &mut self,
        parts: &[Value],
        element: &Expr,
        generators: &[Generator],
        env: &Env,
        span: Span,
    ) -> Value {
        let (first, rest) = (&generators[0], &generators[1..]);
        let mut all = Vec::with_capacity(parts.len());
        'parts: for part in parts {
            let mut inner = env.clone();
            self.bind(&first.pattern, part.clone(), &mut inner, span);
            for condition in &first.conditions {
                let value = self.expression(condition, &inner);
                let Some(truth) = self.truth(&value, condition.span) else { return Value::Poison };
                match truth.constant() {
                    Some(Number::Bool(true)) => {}
                    Some(_) => continue 'parts,
                    None => {
                        let text = "the condition of a comprehension depends on fields or arguments";
                        let advice = "Write a conditional expression, `value if condition else 0`.";
                        return self.problem(Code::Static, condition.span, text, advice);
                    }
                }
            }
            if rest.is_empty() {
                all.push(self.expression(element, &inner));
                continue;
            }
            let sequence = self.expression(&rest[0].sequence, &inner);
            match self.unrollable(&sequence) {
                Some(parts) => match self.unrolled_comprehension(&parts, element, rest, &inner, span) {
                    Value::Tuple(parts) => all.extend(parts),
                    _ => return Value::Poison,
                },
                None => return self.not_unrollable(&sequence, rest[0].sequence.span),
            }
        }
        Value::Tuple(all)
    }

    pub(super) fn unrollable(&self, sequence: &Value) -> Option<Vec<Value>> {
        match sequence {
            Value::Tuple(parts) if self.stencil.is_some() => Some(parts.clone()),
            _ => None,
        }
    }

    pub(super) fn not_unrollable(&mut self, sequence: &Value, span: Span) -> Value {
        if sequence.is_poison() {
            return Value::Poison;
        }
        let text = format!(
            "a comprehension runs over {}; expected a tuple or a range of known numbers",
            self.describe(sequence)
        );
        self.problem(Code::Static, span, text, "")
    }

    /// A function of tuples whose parts are known to the program; `None` for what is no such call.
    pub(super) fn unrolled_call(&mut self, name: &str, arguments: &[Value], span: Span) -> Option<Value> {
        self.stencil.as_ref()?;
        if arguments.iter().any(Value::is_poison) {
            return Some(Value::Poison);
        }
        if name == "range" || name == "bounded_range" {
            return Some(self.known_range(arguments, span));
        }
        let Some(Value::Tuple(first)) = arguments.last() else { return None };
        Some(match (name, arguments) {
            ("len", [_]) => Scalar::python(Number::Int(first.len() as i128)).into(),
            ("enumerate", [_]) => Value::Tuple(
                (0..)
                    .zip(first)
                    .map(|(at, part)| Value::Tuple(vec![Scalar::python(Number::Int(at)).into(), part.clone()]))
                    .collect(),
            ),
            ("sum", [_]) => {
                let zero = Scalar::python(Number::Int(0)).into();
                first.clone().iter().fold(zero, |sum, part| {
                    self.binary(crate::surface::BinaryOperator::Add, (&sum, part), (span, span), span)
                })
            }
            ("min" | "max", [_]) if !first.is_empty() => {
                let op = if name == "min" { Op::Minimum } else { Op::Maximum };
                let first = first.clone();
                first[1..].iter().fold(first[0].clone(), |best, part| {
                    self.apply_elementwise(op, &[best, part.clone()], &[span, span], span)
                })
            }
            ("zip", all) => {
                let tuples: Option<Vec<&Vec<Value>>> =
                    all.iter().map(|part| if let Value::Tuple(parts) = part { Some(parts) } else { None }).collect();
                let tuples = tuples?;
                let n = tuples.iter().map(|parts| parts.len()).min().unwrap_or(0);
                Value::Tuple(
                    (0..n).map(|at| Value::Tuple(tuples.iter().map(|parts| parts[at].clone()).collect())).collect(),
                )
            }
            ("map", [function, rest @ ..]) => {
                let Some(Value::Tuple(rows)) = self.unrolled_call("zip", rest, span) else { return None };
                Value::Tuple(
                    rows.into_iter()
                        .map(|row| if let Value::Tuple(row) = row { self.apply(function, row, span) } else { row })
                        .collect(),
                )
            }
            _ => return None,
        })
    }

    fn known_range(&mut self, arguments: &[Value], span: Span) -> Value {
        let known: Option<Vec<i128>> = arguments
            .iter()
            .map(|end| if let Value::Scalar(scalar) = end { scalar.constant_int() } else { None })
            .collect();
        let (start, stop, step) = match known.as_deref() {
            Some([stop]) => (0, *stop, 1),
            Some([start, stop]) => (*start, *stop, 1),
            Some([start, stop, step]) if *step != 0 => (*start, *stop, *step),
            _ => {
                let text = "the bounds of `range` are not known before the call; expected one to three integers";
                return self.problem(Code::Static, span, text, "");
            }
        };
        let n = (stop.saturating_sub(start) + step - step.signum()).div_euclid(step).max(0);
        if n > MAX_RANGE {
            let text = format!("a range of {n} values is unrolled; expected at most {MAX_RANGE}");
            return self.problem(Code::Size, span, text, "");
        }
        Value::Tuple((0..n).map(|at| Scalar::python(Number::Int(start + at * step)).into()).collect())
    }
}
