//! The core language: typed statements over scalars and arrays, each variable assigned once.
//!
//! Establishes: there are no tuples, no functions and no nested sequences left; a sequence of tuples is several arrays of
//! one length. Every operation over a sequence has a *space*, the index values that it runs over, and a *body* that
//! computes the value of one element from its index. A `map` is therefore an [`Exp::Gen`], and so are `gather`, `shift`
//! and `zip`; fusion puts one body into another.
//!
//! `text.rs` prints programs and reads them back, `evaluate.rs` runs them.

use crate::span::Span;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A variable: an index into [`Program::vars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// What a variable holds: a scalar (`ndim` 0) or an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VarType {
    /// The type of the elements.
    pub dtype: DType,
    /// The number of axes; 0 is a scalar.
    pub ndim: usize,
}

/// A number in a program. Numbers are equal if nothing tells them apart: zeros of different signs are not, and NaN is
/// equal to itself.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// An integer of any integer dtype.
    Int(i128),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Number::Bool(a), Number::Bool(b)) => a == b,
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (Number::Complex(re, im), Number::Complex(other_re, other_im)) => {
                re.to_bits() == other_re.to_bits() && im.to_bits() == other_im.to_bits()
            }
            _ => false,
        }
    }
}

impl Eq for Number {}

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A constant of a dtype, whose range holds it.
    Const(Number, DType),
}

/// Statements, and what they are for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// In order: each uses variables of earlier ones and of the blocks around this one.
    pub stmts: Vec<Stmt>,
    /// The values of the block.
    pub results: Vec<Atom>,
}

/// A block with parameters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lambda {
    /// Scalars.
    pub params: Vec<Var>,
    /// What is computed from them.
    pub body: Block,
}

/// Variables, and what they are assigned.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// One for each value of the expression.
    pub outs: Vec<Var>,
    /// The expression.
    pub exp: Exp,
    /// Where the user wrote it.
    pub span: Span,
}

/// One axis of a space: an index variable (int64) that takes the values `0..length`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// The index, a variable of the body.
    pub index: Var,
    /// An int64 scalar.
    pub length: Atom,
}

/// The direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first element.
    Forward,
    /// From the last element.
    Backward,
}

/// What happens at an index outside of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// The program has shown that there is none.
    Inside,
    /// It is clamped, and the program's error flag is set.
    Checked,
}

/// An expression. Index atoms are int64 scalars.
#[derive(Debug, Clone, PartialEq)]
pub enum Exp {
    /// An elementwise operation of scalars, with NumPy's types.
    Prim {
        /// The operation.
        op: Op,
        /// What it is computed in.
        compute: DType,
        /// Its operands; converted as the operation demands.
        args: Vec<Atom>,
    },
    /// A conversion as `astype` does it; of a value to its own dtype, a copy.
    Cast {
        /// The scalar.
        arg: Atom,
        /// The dtype.
        to: DType,
    },
    /// An element of an array, with an index for each axis.
    Read {
        /// The array.
        array: Var,
        /// As many as the array has axes.
        index: Vec<Atom>,
        /// What is known of the indices.
        bounds: Bounds,
    },
    /// The length of an array along an axis, as int64.
    Length {
        /// The array.
        array: Var,
        /// The axis.
        axis: usize,
    },
    /// One of two blocks.
    If {
        /// A truth value.
        cond: Atom,
        /// If it is true.
        then: Block,
        /// If it is false.
        other: Block,
    },
    /// Repeats a block while a condition holds. Values are scalars or arrays.
    Loop {
        /// The variables that change.
        params: Vec<Var>,
        /// Their first values.
        init: Vec<Atom>,
        /// One truth value, from the variables.
        cond: Block,
        /// The next values.
        body: Block,
    },
    /// An array with an element for each index of the space: one array for each value of the body. Values may themselves
    /// be arrays, all of one shape, whose axes come after those of the space.
    Gen {
        /// The space; without axes, a scalar that is computed on the device.
        space: Vec<Axis>,
        /// The values of an element.
        body: Block,
    },
    /// The last axis of the space reduced: `op(..op(op(init, x[0]), x[1]).., x[n - 1])` with an associative `op`.
    Reduce {
        /// The space; the last axis is reduced, the others are those of the results.
        space: Vec<Axis>,
        /// The values of an element.
        body: Block,
        /// From two elements to one: first the values so far, then those of the next element.
        op: Lambda,
        /// Values before the first one; they may use the indices of the axes that stay. None: it begins with the first
        /// element, of which there is one.
        init: Vec<Atom>,
        /// Whether elements may be combined in any order.
        commutative: bool,
    },
    /// All partial results of a reduction along the last axis.
    Scan {
        /// The space; the last axis is scanned.
        space: Vec<Axis>,
        /// The values of an element.
        body: Block,
        /// From the values so far and those of the next element to the next values.
        op: Lambda,
        /// `None`: the first result is the first element. Otherwise result 0 is this, also if there are no elements, and
        /// result `i` combines it with the `i` first elements.
        prefix: Option<Vec<Atom>>,
        /// Where it begins; indices are those of elements either way.
        direction: Direction,
        /// From the values at an index, which it may use, to those that are stored; `None`: the values themselves.
        /// Only of scans along one axis; results are then those at the indices of the space, also with a prefix.
        finish: Option<Lambda>,
        /// Where these are stored: in copies of these arrays, which have one axis and one length, at the index that
        /// `finish` gives first. None: at the index of the scan.
        targets: Vec<Var>,
    },
    /// The elements for which the first value of the body is true, in order: one array for each further value.
    Filter {
        /// One axis.
        space: Vec<Axis>,
        /// A truth value, then the values.
        body: Block,
    },
    /// Sequences of different lengths, one after the other: for each index of the space, the elements of the body's
    /// arrays, from the index's offset on. They are what the body's last statements make.
    Rows {
        /// One axis.
        space: Vec<Axis>,
        /// Where the elements of each index begin, and behind them their number: as many as the array has.
        offsets: Var,
        /// Arrays of one axis.
        body: Block,
    },
    /// Copies of arrays with elements replaced: the body gives an index and a value for each array. Of several values
    /// for one index, any one stays.
    Scatter {
        /// Arrays of one axis and one length.
        targets: Vec<Var>,
        /// One axis.
        space: Vec<Axis>,
        /// The index, then the values.
        body: Block,
        /// What is known of the indices.
        bounds: Bounds,
    },
    /// Arrays of one axis and one length, sorted together, stably.
    Sort {
        /// The arrays.
        arrays: Vec<Var>,
        /// Whether the first element comes before the second: parameters are the first's values, then the second's.
        less: Lambda,
    },
    /// A row, or a block, of an array: the axes after the given indices.
    Row {
        /// The array.
        array: Var,
        /// Fewer than the array has axes.
        index: Vec<Atom>,
        /// What is known of the indices.
        bounds: Bounds,
    },
    /// Elements `start..start + length` of an array along its first axis.
    Slice {
        /// The array.
        array: Var,
        /// The first element.
        start: Atom,
        /// How many.
        length: Atom,
    },
    /// An index that is inside; one outside is clamped, and sets the program's error flag.
    Clamp {
        /// The index.
        index: Atom,
        /// It becomes at least 0, and less than this.
        length: Atom,
    },
    /// One of several lengths that must be equal: the first.
    Same {
        /// Int64 scalars, two or more.
        lengths: Vec<Atom>,
        /// What each is the length of, for the message of an error at run time; or one text, the message itself.
        names: Vec<String>,
    },
    /// The segment that holds element `at`: the last `s` with `offsets[s] <= at`.
    Segment {
        /// Ascending int64 offsets, the first of which is 0 and the last the number of elements.
        offsets: Var,
        /// Less than the last offset.
        at: Atom,
    },
}

/// A program: a function from scalars and arrays to scalars and arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// The types of all variables.
    pub vars: Vec<VarType>,
    /// The inputs.
    pub params: Vec<Var>,
    /// The statements, and the outputs.
    pub body: Block,
    /// What the user calls arrays, where that is known.
    pub names: BTreeMap<Var, Arc<str>>,
    /// Conversions of Python's integers to integers of a type: where the host makes one, the number must fit.
    pub checked: BTreeSet<Var>,
    /// Whether a product and a sum may be rounded once, as compilers of C do it. Texts do not say it.
    pub contracts: bool,
}

impl Program {
    /// A new variable.
    pub fn new_var(&mut self, dtype: DType, ndim: usize) -> Var {
        self.vars.push(VarType { dtype, ndim });
        Var(self.vars.len() as u32 - 1)
    }

    /// The type of a variable.
    pub fn var_type(&self, var: Var) -> &VarType {
        &self.vars[var.0 as usize]
    }

    /// The dtype of an operand.
    pub fn dtype(&self, atom: Atom) -> DType {
        match atom {
            Atom::Var(var) => self.var_type(var).dtype,
            Atom::Const(_, dtype) => dtype,
        }
    }

    /// The number of axes of an operand.
    pub fn ndim(&self, atom: Atom) -> usize {
        match atom {
            Atom::Var(var) => self.var_type(var).ndim,
            Atom::Const(..) => 0,
        }
    }
}

impl Atom {
    /// An int64 constant.
    pub fn index(value: i64) -> Self {
        Atom::Const(Number::Int(value.into()), DType::I64)
    }

    /// The variable, if it is one.
    pub fn as_var(self) -> Option<Var> {
        if let Atom::Var(var) = self { Some(var) } else { None }
    }
}

impl From<Var> for Atom {
    fn from(var: Var) -> Self {
        Atom::Var(var)
    }
}

impl Exp {
    /// The axes that it runs over; none for scalars.
    pub fn space(&self) -> &[Axis] {
        match self {
            Exp::Gen { space, .. }
            | Exp::Reduce { space, .. }
            | Exp::Scan { space, .. }
            | Exp::Filter { space, .. }
            | Exp::Rows { space, .. }
            | Exp::Scatter { space, .. } => space,
            _ => &[],
        }
    }

    /// Whether it runs over a sequence, as a kernel does.
    pub fn is_kernel(&self) -> bool {
        matches!(
            self,
            Exp::Gen { .. }
                | Exp::Reduce { .. }
                | Exp::Scan { .. }
                | Exp::Filter { .. }
                | Exp::Rows { .. }
                | Exp::Scatter { .. }
                | Exp::Sort { .. }
        )
    }

    /// Calls `see` with each operand of the expression itself, not with those in its blocks.
    pub fn for_each_operand(&self, see: &mut dyn FnMut(Atom)) {
        for axis in self.space() {
            see(axis.length);
        }
        match self {
            Exp::Prim { args, .. } => args.iter().for_each(|arg| see(*arg)),
            Exp::Cast { arg, .. } => see(*arg),
            Exp::Read { array, index, .. } | Exp::Row { array, index, .. } => {
                see((*array).into());
                index.iter().for_each(|at| see(*at));
            }
            Exp::Length { array, .. } => see((*array).into()),
            Exp::If { cond, .. } => see(*cond),
            Exp::Loop { init, .. } | Exp::Reduce { init, .. } => init.iter().for_each(|value| see(*value)),
            Exp::Scan { prefix, targets, .. } => {
                prefix.iter().flatten().for_each(|value| see(*value));
                targets.iter().for_each(|target| see((*target).into()));
            }
            Exp::Gen { .. } | Exp::Filter { .. } => {}
            Exp::Rows { offsets, .. } => see((*offsets).into()),
            Exp::Scatter { targets, .. } => targets.iter().for_each(|target| see((*target).into())),
            Exp::Sort { arrays, .. } => arrays.iter().for_each(|array| see((*array).into())),
            Exp::Slice { array, start, length } => {
                [(*array).into(), *start, *length].into_iter().for_each(see);
            }
            Exp::Clamp { index, length } => [*index, *length].into_iter().for_each(see),
            Exp::Same { lengths, .. } => lengths.iter().for_each(|length| see(*length)),
            Exp::Segment { offsets, at } => [(*offsets).into(), *at].into_iter().for_each(see),
        }
    }

    /// The blocks in the expression.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Exp::If { then, other, .. } => vec![then, other],
            Exp::Loop { cond, body, .. } => vec![cond, body],
            Exp::Gen { body, .. } | Exp::Filter { body, .. } | Exp::Rows { body, .. } | Exp::Scatter { body, .. } => {
                vec![body]
            }
            Exp::Reduce { body, op, .. } => vec![body, &op.body],
            Exp::Scan { body, op, finish, .. } => {
                [body, &op.body].into_iter().chain(finish.as_ref().map(|finish| &finish.body)).collect()
            }
            Exp::Sort { less, .. } => vec![&less.body],
            _ => vec![],
        }
    }

    /// The blocks in the expression, to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Exp::If { then, other, .. } => vec![then, other],
            Exp::Loop { cond, body, .. } => vec![cond, body],
            Exp::Gen { body, .. } | Exp::Filter { body, .. } | Exp::Rows { body, .. } | Exp::Scatter { body, .. } => {
                vec![body]
            }
            Exp::Reduce { body, op, .. } => vec![body, &mut op.body],
            Exp::Scan { body, op, finish, .. } => {
                [body, &mut op.body].into_iter().chain(finish.as_mut().map(|finish| &mut finish.body)).collect()
            }
            Exp::Sort { less, .. } => vec![&mut less.body],
            _ => vec![],
        }
    }
}
