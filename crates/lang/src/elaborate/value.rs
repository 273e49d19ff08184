//! What a program computes with while it is elaborated: scalars and sequences of the core program, and values that exist
//! at compile time only.

use crate::ir::{Atom, Number, Var};
use crate::surface::{Function, Outside};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(Scalar),
    Tuple(Vec<Value>),
    Seq(Seq),
    /// An array that is indexed by offsets from the element that is computed.
    Field(Var),
    Closure(Rc<Closure>),
    Prelude(Arc<str>),
    Elementwise(Op),
    DType(DType),
    Module(Arc<str>, Vec<(Arc<str>, Outside)>),
    Unusable {
        what: Arc<str>,
        advice: Arc<str>,
    },
    /// What has a problem that was reported.
    Poison,
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scalar {
    pub(super) atom: Atom,
    /// Whether it adapts to the types around it, as numbers of Python do.
    pub(super) weak: bool,
}

/// A sequence.
#[derive(Debug, Clone)]
pub(super) struct Seq {
    /// Int64.
    pub(super) length: Atom,
    pub(super) element: Element,
}

/// The elements of a sequence.
#[derive(Debug, Clone)]
pub(super) enum Element {
    /// The first axis of an array; its rows are sequences if it has more axes.
    Array { var: Var, weak: bool },
    /// An array for each part of a tuple.
    Tuple(Vec<Element>),
    /// Segments of a sequence.
    Ragged { offsets: Var, values: Box<Element> },
}

/// A function with the names around it.
#[derive(Debug)]
pub(super) struct Closure {
    pub(super) function: Arc<Function>,
    pub(super) env: Env,
    /// Which function of the program it is, if it is one.
    pub(super) index: Option<usize>,
}

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) dtype: DType,
    pub(super) weak: bool,
}

/// Names and their values.
#[derive(Debug, Clone, Default)]
pub(super) struct Env(Rc<HashMap<Arc<str>, Value>>);

impl Env {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(super) fn set(&mut self, name: Arc<str>, value: Value) {
        Rc::make_mut(&mut self.0).insert(name, value);
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }
}

impl Scalar {
    pub(super) fn strong(atom: impl Into<Atom>) -> Self {
        Self { atom: atom.into(), weak: false }
    }

    pub(super) fn weak(atom: impl Into<Atom>) -> Self {
        Self { atom: atom.into(), weak: true }
    }

    /// A number of Python.
    pub(super) fn python(number: Number) -> Self {
        let dtype = match number {
            Number::Bool(_) => DType::Bool,
            Number::Int(value) if i64::try_from(value).is_ok() => DType::I64,
            Number::Int(value) if u64::try_from(value).is_ok() => DType::U64,
            // Only floats have it.
            Number::Int(_) => DType::F64,
            Number::Float(_) => DType::F64,
            Number::Complex(..) => DType::C128,
        };
        Self { atom: Atom::Const(number, dtype), weak: true }
    }

    /// Its value, if the program knows it.
    pub(super) fn constant(self) -> Option<Number> {
        if let Atom::Const(number, _) = self.atom { Some(number) } else { None }
    }

    pub(super) fn constant_int(self) -> Option<i128> {
        match self.constant()? {
            Number::Int(value) => Some(value),
            Number::Bool(value) => Some(value.into()),
            _ => None,
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        Value::Scalar(scalar)
    }
}

impl Element {
    /// The arrays, in order; offsets before what they divide.
    pub(super) fn arrays(&self, all: &mut Vec<Var>) {
        match self {
            Element::Array { var, .. } => all.push(*var),
            Element::Tuple(parts) => parts.iter().for_each(|part| part.arrays(all)),
            Element::Ragged { offsets, values } => {
                all.push(*offsets);
                values.arrays(all);
            }
        }
    }

    /// The same with other arrays, taken from the iterator in the order of [`Element::arrays`].
    pub(super) fn with_arrays(&self, vars: &mut dyn Iterator<Item = Var>) -> Element {
        let mut next = |old: Var| vars.next().unwrap_or(old);
        match self {
            Element::Array { var, weak } => Element::Array { var: next(*var), weak: *weak },
            Element::Tuple(parts) => Element::Tuple(parts.iter().map(|part| part.with_arrays(vars)).collect()),
            Element::Ragged { offsets, values } => {
                let offsets = next(*offsets);
                Element::Ragged { offsets, values: Box::new(values.with_arrays(vars)) }
            }
        }
    }
}

impl Value {
    /// Its scalars and arrays, in order. A sequence has its length first.
    pub(super) fn atoms(&self, all: &mut Vec<Atom>) {
        match self {
            Value::Scalar(scalar) => all.push(scalar.atom),
            Value::Tuple(parts) => parts.iter().for_each(|part| part.atoms(all)),
            Value::Seq(seq) => {
                let mut vars = Vec::new();
                seq.element.arrays(&mut vars);
                all.extend(vars.into_iter().map(Atom::Var));
            }
            _ => {}
        }
    }

    pub(super) fn is_poison(&self) -> bool {
        matches!(self, Value::Poison)
    }
}
