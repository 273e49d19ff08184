//! Types of values: how two of them are joined, and values converted, made and taken apart by their types.

use super::value::{Element, Leaf, Scalar, Seq, Value};
use super::{Elaborator, EmitAt};
use crate::ir::{Atom, Axis, Block, Exp, Number, Var};
use crate::problem::Code;
use crate::span::Span;
use rtcg_hal::{DType, OperandType, WeakScalar, promote_operands};
use std::fmt;

/// The type of a value that exists at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(Leaf),
    Tuple(Vec<Type>),
    Seq(ElementType),
    /// That of a value with a problem, or of none yet: fits anything.
    Any,
}

/// The type of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ElementType {
    Array { leaf: Leaf, ndim: usize },
    Tuple(Vec<ElementType>),
    Ragged(Box<ElementType>),
}

impl Leaf {
    /// As promotion sees it.
    pub(super) fn operand(self) -> OperandType {
        match (self.weak, self.dtype) {
            (false, dtype) => OperandType::Strong(dtype),
            (true, DType::F64) => OperandType::Weak(WeakScalar::Float(0.0)),
            (true, DType::C128) => OperandType::Weak(WeakScalar::Complex(0.0, 0.0)),
            (true, DType::Bool) => OperandType::Weak(WeakScalar::Bool(false)),
            (true, _) => OperandType::Weak(WeakScalar::Int(0)),
        }
    }

    /// The common type, as NumPy promotes.
    pub(super) fn join(self, other: Leaf) -> Leaf {
        if self == other {
            return self;
        }
        let dtype = promote_operands([self.operand(), other.operand()].into_iter());
        Leaf { dtype, weak: self.weak && other.weak }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.weak, self.dtype) {
            (true, DType::F64) => f.write_str("float"),
            (true, DType::C128) => f.write_str("complex"),
            (true, DType::Bool) => f.write_str("bool"),
            (true, _) => f.write_str("int"),
            (false, dtype) => f.write_str(dtype.name()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(leaf) => leaf.fmt(f),
            Type::Tuple(parts) => write_tuple(f, parts),
            Type::Seq(element) => write!(f, "[{element}]"),
            Type::Any => f.write_str("?"),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Array { leaf, ndim } => {
                write!(f, "{}{leaf}{}", "[".repeat(ndim - 1), "]".repeat(ndim - 1))
            }
            ElementType::Tuple(parts) => write_tuple(f, parts),
            ElementType::Ragged(values) => write!(f, "[{values}]"),
        }
    }
}

fn write_tuple<T: fmt::Display>(f: &mut fmt::Formatter<'_>, parts: &[T]) -> fmt::Result {
    f.write_str("(")?;
    for (at, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if at > 0 { ", " } else { "" })?;
    }
    f.write_str(if parts.len() == 1 { ",)" } else { ")" })
}

impl Type {
    /// Whether nothing is known of a part.
    pub(super) fn has_unknown(&self) -> bool {
        match self {
            Type::Any => true,
            Type::Tuple(parts) => parts.iter().any(Type::has_unknown),
            _ => false,
        }
    }

    /// The common type; `None` if there is none.
    pub(super) fn join(&self, other: &Type) -> Option<Type> {
        Some(match (self, other) {
            (Type::Any, other) => other.clone(),
            (one, Type::Any) => one.clone(),
            (Type::Scalar(a), Type::Scalar(b)) => Type::Scalar(a.join(*b)),
            (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
                Type::Tuple(a.iter().zip(b).map(|(a, b)| a.join(b)).collect::<Option<_>>()?)
            }
            (Type::Seq(a), Type::Seq(b)) => Type::Seq(a.join(b)?),
            _ => return None,
        })
    }
}

impl ElementType {
    fn join(&self, other: &ElementType) -> Option<ElementType> {
        Some(match (self, other) {
            (ElementType::Array { leaf: a, ndim: n }, ElementType::Array { leaf: b, ndim: m }) if n == m => {
                ElementType::Array { leaf: a.join(*b), ndim: *n }
            }
            (ElementType::Tuple(a), ElementType::Tuple(b)) if a.len() == b.len() => {
                ElementType::Tuple(a.iter().zip(b).map(|(a, b)| a.join(b)).collect::<Option<_>>()?)
            }
            (ElementType::Ragged(a), ElementType::Ragged(b)) => ElementType::Ragged(Box::new(a.join(b)?)),
            _ => return None,
        })
    }
}

impl Elaborator<'_> {
    pub(super) fn leaf(&self, scalar: Scalar) -> Leaf {
        Leaf { dtype: self.program.dtype(scalar.atom), weak: scalar.weak }
    }

    /// The type of a value at run time; `None` for functions and the like.
    pub(super) fn type_of(&self, value: &Value) -> Option<Type> {
        Some(match value {
            Value::Scalar(scalar) => Type::Scalar(self.leaf(*scalar)),
            Value::Tuple(parts) => Type::Tuple(parts.iter().map(|part| self.type_of(part)).collect::<Option<_>>()?),
            Value::Seq(seq) => Type::Seq(self.element_type(&seq.element)),
            Value::Poison => Type::Any,
            _ => return None,
        })
    }

    pub(super) fn element_type(&self, element: &Element) -> ElementType {
        match element {
            Element::Array { var, weak } => {
                let found = self.program.var_type(*var);
                ElementType::Array { leaf: Leaf { dtype: found.dtype, weak: *weak }, ndim: found.ndim }
            }
            Element::Tuple(parts) => ElementType::Tuple(parts.iter().map(|part| self.element_type(part)).collect()),
            Element::Ragged { values, .. } => ElementType::Ragged(Box::new(self.element_type(values))),
        }
    }

    /// What a value is, for messages.
    pub(super) fn describe(&self, value: &Value) -> String {
        match value {
            Value::Closure(closure) if &*closure.function.name == "<lambda>" => "a lambda".into(),
            Value::Closure(closure) => format!("the function `{}`", closure.function.name),
            Value::Prelude(name) => format!("the function `{name}`"),
            Value::Elementwise(op) => format!("the function `{}`", op.name()),
            Value::DType(dtype) => format!("the type {}", dtype.name()),
            Value::Module(name, _) => format!("the module `{name}`"),
            Value::Field(var) => {
                let found = self.program.var_type(*var);
                format!("a field of {} with {} axes", found.dtype.name(), found.ndim)
            }
            Value::Unusable { what, .. } => what.to_string(),
            Value::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.describe(part)).collect();
                format!("({}{})", parts.join(", "), if parts.len() == 1 { "," } else { "" })
            }
            other => self.type_of(other).map_or_else(|| "?".into(), |found| found.to_string()),
        }
    }

    /// The value as one of the type, which its own type joins to.
    pub(super) fn convert(&mut self, value: &Value, to: &Type, span: Span) -> Value {
        match (value, to) {
            (Value::Scalar(scalar), Type::Scalar(leaf)) => self.convert_scalar(*scalar, *leaf, span).into(),
            (Value::Tuple(parts), Type::Tuple(types)) => {
                Value::Tuple(parts.iter().zip(types).map(|(part, to)| self.convert(part, to, span)).collect())
            }
            (Value::Seq(seq), Type::Seq(element)) => {
                let element = self.convert_element(&seq.element, element, span);
                Value::Seq(Seq { length: seq.length, element })
            }
            _ => value.clone(),
        }
    }

    pub(super) fn convert_scalar(&mut self, scalar: Scalar, to: Leaf, span: Span) -> Scalar {
        if let Some(number) = scalar.constant().and_then(|number| number_as(number, to.dtype)) {
            return Scalar { atom: Atom::Const(number, to.dtype), weak: to.weak };
        }
        let from = self.program.dtype(scalar.atom);
        if from == to.dtype {
            return Scalar { weak: to.weak, ..scalar };
        }
        let becomes_integer = scalar.weak && from.is_integer() && to.dtype.is_integer();
        if let Some(value) = scalar.constant_int().filter(|_| scalar.weak && to.dtype.is_integer()) {
            let text = format!("the number {value} is out of bounds for {}", to.dtype.name());
            let wider = super::operators::wider(value, to.dtype);
            self.problem(Code::Number, span, text, format!("convert the other value first, as in `{wider}(x)`"));
            return Scalar { atom: Atom::Const(zero_of(to.dtype), to.dtype), weak: to.weak };
        }
        let out = self.emit_scalar(Exp::Cast { arg: scalar.atom, to: to.dtype }, to.dtype, span);
        // What a condition guards need not fit where it does not hold.
        let is_guarded = self.blocks.iter().any(|block| matches!(block.at, EmitAt::Guard | EmitAt::Repeat));
        if becomes_integer && !is_guarded {
            self.program.checked.insert(out);
        }
        Scalar { atom: out.into(), weak: to.weak }
    }

    fn convert_element(&mut self, element: &Element, to: &ElementType, span: Span) -> Element {
        match (element, to) {
            (Element::Array { var, .. }, ElementType::Array { leaf, .. }) => {
                let array = self.convert_array(*var, leaf.dtype, span);
                Element::Array { var: array, weak: leaf.weak }
            }
            (Element::Tuple(parts), ElementType::Tuple(types)) => {
                Element::Tuple(parts.iter().zip(types).map(|(part, to)| self.convert_element(part, to, span)).collect())
            }
            (Element::Ragged { offsets, values }, ElementType::Ragged(to)) => {
                Element::Ragged { offsets: *offsets, values: Box::new(self.convert_element(values, to, span)) }
            }
            _ => element.clone(),
        }
    }

    fn convert_array(&mut self, array: Var, to: DType, span: Span) -> Var {
        let found = self.program.var_type(array).clone();
        if found.dtype == to {
            return array;
        }
        let lengths: Vec<Atom> = (0..found.ndim).map(|axis| self.length(array, axis, span)).collect();
        self.generate(&lengths, to, span, |this, index| {
            let value = this.read(array, index.iter().copied().map(Atom::Var).collect(), span);
            this.convert_scalar(Scalar::strong(value), Leaf { dtype: to, weak: false }, span).atom
        })
    }

    /// An array with these lengths, whose elements `body` computes from the indices.
    pub(super) fn generate(
        &mut self,
        lengths: &[Atom],
        dtype: DType,
        span: Span,
        body: impl FnOnce(&mut Self, &[Var]) -> Atom,
    ) -> Var {
        self.open_block(EmitAt::Element);
        let space: Vec<Axis> = lengths.iter().map(|length| Axis { index: self.new_index(), length: *length }).collect();
        let index: Vec<Var> = space.iter().map(|axis| axis.index).collect();
        let result = body(self, &index);
        let block = self.close_block(vec![result]);
        self.emit_arrays(Exp::Gen { space, body: block }, &[(dtype, lengths.len())], span)[0]
    }

    /// New variables of a type in the open block; their atoms in order are [`Value::atoms`].
    pub(super) fn fresh(&mut self, of: &Type, span: Span) -> Value {
        match of {
            Type::Scalar(leaf) => Scalar { atom: self.new_var(leaf.dtype, 0).into(), weak: leaf.weak }.into(),
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.fresh(part, span)).collect()),
            Type::Seq(element) => {
                let element = self.fresh_element(element, 0);
                self.seq_of(element, span).into()
            }
            Type::Any => Value::Poison,
        }
    }

    /// New arrays; with `outer` axes before those of the type.
    pub(super) fn fresh_element(&mut self, of: &ElementType, outer: usize) -> Element {
        match of {
            ElementType::Array { leaf, ndim } => {
                Element::Array { var: self.new_var(leaf.dtype, ndim + outer), weak: leaf.weak }
            }
            ElementType::Tuple(parts) => {
                Element::Tuple(parts.iter().map(|part| self.fresh_element(part, outer)).collect())
            }
            ElementType::Ragged(values) => Element::Ragged {
                offsets: self.new_var(DType::I64, 1),
                values: Box::new(self.fresh_element(values, outer)),
            },
        }
    }

    /// A sequence of these elements.
    pub(super) fn seq_of(&mut self, element: Element, span: Span) -> Seq {
        let length = self.length_of_element(&element, span);
        Seq { length, element }
    }

    pub(super) fn length_of_element(&mut self, element: &Element, span: Span) -> Atom {
        match element {
            Element::Array { var, .. } => self.length(*var, 0, span),
            Element::Tuple(parts) => match parts.first() {
                Some(part) => self.length_of_element(&part.clone(), span),
                None => Atom::index(0),
            },
            Element::Ragged { offsets, .. } => {
                let n = self.length(*offsets, 0, span);
                self.index_difference(n, Atom::index(1), span)
            }
        }
    }

    /// A value of the type that nothing depends on.
    pub(super) fn placeholder(&mut self, of: &Type, span: Span) -> Value {
        match of {
            Type::Scalar(leaf) => Scalar { atom: Atom::Const(zero_of(leaf.dtype), leaf.dtype), weak: leaf.weak }.into(),
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.placeholder(part, span)).collect()),
            Type::Seq(element) => {
                let element = self.placeholder_element(element, span);
                self.seq_of(element, span).into()
            }
            Type::Any => Value::Poison,
        }
    }

    fn placeholder_element(&mut self, of: &ElementType, span: Span) -> Element {
        match of {
            ElementType::Array { leaf, ndim } => {
                let zero = Atom::Const(zero_of(leaf.dtype), leaf.dtype);
                let lengths = vec![Atom::index(0); *ndim];
                Element::Array { var: self.generate(&lengths, leaf.dtype, span, |_, _| zero), weak: leaf.weak }
            }
            ElementType::Tuple(parts) => {
                Element::Tuple(parts.iter().map(|part| self.placeholder_element(part, span)).collect())
            }
            ElementType::Ragged(values) => {
                let zero = Atom::index(0);
                let offsets = self.generate(&[Atom::index(1)], DType::I64, span, |_, _| zero);
                Element::Ragged { offsets, values: Box::new(self.placeholder_element(values, span)) }
            }
        }
    }

    /// Elements as one block with results, in the order of [`Value::atoms`].
    pub(super) fn close_with(&mut self, value: &Value) -> Block {
        let mut atoms = Vec::new();
        value.atoms(&mut atoms);
        self.close_block(atoms)
    }
}

impl From<Seq> for Value {
    fn from(seq: Seq) -> Self {
        Value::Seq(seq)
    }
}

/// The number 0 of a dtype.
pub(super) fn zero_of(dtype: DType) -> Number {
    match dtype {
        DType::Bool => Number::Bool(false),
        _ if dtype.is_integral() => Number::Int(0),
        _ if dtype.is_complex() => Number::Complex(0.0, 0.0),
        _ => Number::Float(0.0),
    }
}

/// A constant as one of a dtype, where that is exact or a rounding that the dtype's own arithmetic does.
pub(super) fn number_as(number: Number, to: DType) -> Option<Number> {
    Some(match (number, to) {
        (Number::Bool(_), DType::Bool) => number,
        (Number::Bool(value), _) => return number_as(Number::Int(value.into()), to),
        (Number::Int(value), _) if to.is_integer() => {
            let (low, high) = integer_range(to);
            return (low..=high).contains(&value).then_some(number);
        }
        (Number::Int(value), DType::F64) => Number::Float(value as f64),
        // Through float64, as NumPy converts.
        (Number::Int(value), DType::F32) => Number::Float(f64::from(value as f64 as f32)),
        (Number::Int(value), DType::F16 | DType::BF16) => return number_as(Number::Float(value as f64), to),
        (Number::Float(_), DType::F16 | DType::BF16) => crate::evaluate::cast(number, DType::F64, to),
        (Number::Float(value), DType::F64) => Number::Float(value),
        (Number::Float(value), DType::F32) => Number::Float(f64::from(value as f32)),
        (Number::Float(value), DType::C128) => Number::Complex(value, 0.0),
        (Number::Float(value), DType::C64) => Number::Complex(f64::from(value as f32), 0.0),
        (Number::Complex(..), DType::C128) => number,
        (Number::Complex(re, im), DType::C64) => Number::Complex(f64::from(re as f32), f64::from(im as f32)),
        (Number::Int(value), DType::C64) => Number::Complex(f64::from(value as f64 as f32), 0.0),
        (Number::Int(value), DType::C128) => Number::Complex(value as f64, 0.0),
        _ => return None,
    })
}

/// The least and the greatest integer of a dtype.
pub(super) fn integer_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.itemsize() as u32;
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, (1 << bits) - 1),
        _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}
