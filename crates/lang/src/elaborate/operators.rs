//! Operations on scalars, with NumPy's types and, where the program knows the numbers, their results.

use super::types::{Type, number_as};
use super::value::{Leaf, Scalar, Value};
use super::{Elaborator, EmitAt};
use crate::ir::{Atom, Block, Exp, Number};
use crate::problem::Code;
use crate::span::Span;
use crate::surface::{BinaryOperator, Comparison, UnaryOperator};
use rtcg_codegen::array::{Op, OperandRole};
use rtcg_hal::{DType, OperandType};

impl BinaryOperator {
    pub(super) fn op(self) -> Op {
        match self {
            BinaryOperator::Add => Op::Add,
            BinaryOperator::Sub => Op::Subtract,
            BinaryOperator::Mult => Op::Multiply,
            BinaryOperator::Div => Op::TrueDivide,
            BinaryOperator::FloorDiv => Op::FloorDivide,
            BinaryOperator::Mod => Op::Remainder,
            BinaryOperator::Pow => Op::Power,
            BinaryOperator::LShift => Op::LeftShift,
            BinaryOperator::RShift => Op::RightShift,
            BinaryOperator::BitAnd => Op::BitAnd,
            BinaryOperator::BitOr => Op::BitOr,
            BinaryOperator::BitXor => Op::BitXor,
        }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::Sub => "-",
            BinaryOperator::Mult => "*",
            BinaryOperator::Div => "/",
            BinaryOperator::FloorDiv => "//",
            BinaryOperator::Mod => "%",
            BinaryOperator::Pow => "**",
            BinaryOperator::LShift => "<<",
            BinaryOperator::RShift => ">>",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitXor => "^",
        }
    }

    /// The prelude's function for it.
    pub(super) fn prelude_name(self) -> &'static str {
        match self {
            BinaryOperator::Add => "op_add",
            BinaryOperator::Sub => "op_sub",
            BinaryOperator::Mult => "op_mul",
            BinaryOperator::Div => "op_div",
            BinaryOperator::FloorDiv => "op_floordiv",
            BinaryOperator::Mod => "op_mod",
            BinaryOperator::Pow => "op_pow",
            BinaryOperator::LShift => "op_lshift",
            BinaryOperator::RShift => "op_rshift",
            BinaryOperator::BitAnd => "op_and",
            BinaryOperator::BitOr => "op_or",
            BinaryOperator::BitXor => "op_xor",
        }
    }
}

impl Comparison {
    pub(super) fn op(self) -> Op {
        match self {
            Comparison::Eq => Op::Equal,
            Comparison::NotEq => Op::NotEqual,
            Comparison::Lt => Op::Less,
            Comparison::LtE => Op::LessEqual,
            Comparison::Gt => Op::Greater,
            Comparison::GtE => Op::GreaterEqual,
        }
    }
}

impl Comparison {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Comparison::Eq => "==",
            Comparison::NotEq => "!=",
            Comparison::Lt => "<",
            Comparison::LtE => "<=",
            Comparison::Gt => ">",
            Comparison::GtE => ">=",
        }
    }
}

impl UnaryOperator {
    pub(super) fn op(self) -> Op {
        match self {
            UnaryOperator::UAdd => Op::Positive,
            UnaryOperator::USub => Op::Negative,
            UnaryOperator::Invert => Op::Invert,
            UnaryOperator::Not => Op::LogicalNot,
        }
    }
}

impl Elaborator<'_> {
    /// An operation of scalars; `None` after a problem.
    pub(super) fn prim(&mut self, op: Op, args: &[Scalar], span: Span) -> Option<Scalar> {
        if let Some(args) = self.python_integers(op, args, span) {
            return self.prim(op, &args, span);
        }
        if let Some(known) = self.fold(op, args) {
            return Some(known);
        }
        if op.is_comparison()
            && let [x, y] = args
        {
            for (known, other, is_turned) in [(y, x, false), (x, y, true)] {
                if let Some(number) = known.constant_int().filter(|_| known.weak && other.constant().is_none()) {
                    match self.comparison_with(op, *other, number, is_turned, span) {
                        Compared::Known(found) => return Some(found),
                        Compared::As(other) if is_turned => return self.prim(op, &[*known, other], span),
                        Compared::As(other) => return self.prim(op, &[other, *known], span),
                        Compared::Plain => {}
                    }
                }
            }
        }
        if let (Op::Power, [x, exponent]) = (op, args)
            && exponent.weak
            && exponent.constant_int() == Some(2)
            && self.program.dtype(x.atom) != DType::Bool
        {
            return self.prim(Op::Multiply, &[*x, *x], span);
        }
        let leaves: Vec<Leaf> = args.iter().map(|arg| self.leaf(*arg)).collect();
        let is_computed = |at: usize| op.operand_role(at) == OperandRole::Compute;
        let is_weak = leaves.iter().enumerate().all(|(at, leaf)| leaf.weak || !is_computed(at));
        // Integers are compared as they are, also Python's.
        let are_compared = op.is_comparison() && leaves.iter().all(|leaf| leaf.dtype.is_integral());
        let is_known = |at: usize| args[at].constant().is_some();
        let operand = |(at, leaf): (usize, &Leaf)| {
            if is_weak || (are_compared && !is_known(at)) { OperandType::Strong(leaf.dtype) } else { leaf.operand() }
        };
        let operands: Vec<OperandType> = leaves.iter().enumerate().map(operand).collect();
        let types = match op.resolve_operand_types(&operands, None) {
            Ok((_, types)) => types,
            Err(refused) => {
                let types = leaves.iter().map(Leaf::to_string).collect::<Vec<_>>().join(" and ");
                let (text, advice) = match op {
                    Op::LeftShift | Op::RightShift | Op::BitAnd | Op::BitOr | Op::BitXor | Op::Invert => {
                        let sign = match op {
                            Op::LeftShift => "<<",
                            Op::RightShift => ">>",
                            Op::BitAnd => "&",
                            Op::BitOr => "|",
                            Op::BitXor => "^",
                            _ => "~",
                        };
                        let noun = if args.len() == 1 { "operand" } else { "operands" };
                        let verb = if args.len() == 1 { "is" } else { "are" };
                        let text = format!("the {noun} of `{sign}` {verb} {types}; expected integers");
                        (text, "convert with `int64(x)` first")
                    }
                    _ => (format!("{refused} (found {types})"), ""),
                };
                self.problem(Code::Operand, span, text, advice);
                return None;
            }
        };
        let is_of_integers = |(at, leaf): (usize, &Leaf)| leaf.dtype.is_integral() || large_integer(args[at]).is_some();
        if op != Op::TrueDivide
            && leaves.iter().enumerate().all(is_of_integers)
            && let Some(value) = args.iter().find_map(|arg| large_integer(*arg))
        {
            self.too_large(value, span);
            return None;
        }
        let mut atoms = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            atoms.push(self.operand(op, at, *arg, types.compute, span)?);
        }
        let out = self.emit_scalar(Exp::Prim { op, compute: types.compute, args: atoms }, types.out, span);
        Some(Scalar { atom: out.into(), weak: is_weak })
    }

    /// Truth values of Python are integers where it computes with them.
    fn python_integers(&mut self, op: Op, args: &[Scalar], span: Span) -> Option<Vec<Scalar>> {
        let is_truth = |this: &Self, arg: &Scalar| this.program.dtype(arg.atom) == DType::Bool;
        let keeps = matches!(op, Op::LogicalNot | Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::Where)
            || matches!(op, Op::BitAnd | Op::BitOr | Op::BitXor | Op::Maximum | Op::Minimum)
            || op.is_comparison();
        if keeps || !args.iter().all(|arg| arg.weak) || !args.iter().any(|arg| is_truth(self, arg)) {
            return None;
        }
        let to = Leaf { dtype: DType::I64, weak: true };
        Some(
            args.iter()
                .map(|arg| if is_truth(self, arg) { self.convert_scalar(*arg, to, span) } else { *arg })
                .collect(),
        )
    }

    /// An operand: a constant has the type of the computation.
    fn operand(&mut self, op: Op, at: usize, arg: Scalar, compute: DType, span: Span) -> Option<Atom> {
        if op.operand_role(at) != OperandRole::Compute {
            return Some(arg.atom);
        }
        let Atom::Const(number, dtype) = arg.atom else {
            // A number of Python is converted once, where it is known.
            if arg.weak && self.program.dtype(arg.atom) != compute && !op.is_comparison() {
                let to = Leaf { dtype: compute, weak: true };
                return Some(self.convert_scalar(arg, to, span).atom);
            }
            return Some(arg.atom);
        };
        if dtype == compute {
            return Some(Atom::Const(number_as(number, compute).unwrap_or(number), dtype));
        }
        // A mixed comparison sees both operands in their own types.
        if op.is_comparison() && dtype.is_integral() && compute == DType::F64 {
            return Some(arg.atom);
        }
        if let Some(number) = number_as(number, compute) {
            return Some(Atom::Const(number, compute));
        }
        if let (Number::Int(value), true, true) = (number, arg.weak, compute.is_integer()) {
            if op.is_comparison() {
                return Some(arg.atom);
            }
            let text = format!("the number {value} is out of bounds for {}", compute.name());
            self.problem(
                Code::Number,
                span,
                text,
                format!("convert the other operand first, as in `{}(x)`", wider(value, compute)),
            );
            return None;
        }
        Some(arg.atom)
    }

    /// The result for numbers that are known, as Python computes it.
    fn fold(&self, op: Op, args: &[Scalar]) -> Option<Scalar> {
        if let (Op::LogicalNot, [arg]) = (op, args)
            && let Some(Number::Bool(value)) = arg.constant()
        {
            return Some(Scalar::python(Number::Bool(!value)));
        }
        if let (Op::LogicalAnd | Op::LogicalOr, [x, y]) = (op, args)
            && let (Some(Number::Bool(x)), Some(Number::Bool(y))) = (x.constant(), y.constant())
        {
            return Some(Scalar::python(Number::Bool(if op == Op::LogicalAnd { x && y } else { x || y })));
        }
        if let (Op::Where, [cond, then, other]) = (op, args)
            && let Some(Number::Bool(value)) = cond.constant()
            && self.leaf(*then) == self.leaf(*other)
        {
            return Some(if value { *then } else { *other });
        }
        if let Some(known) = self.fold_index(op, args) {
            return Some(known);
        }
        if !args.iter().all(|arg| arg.weak && arg.constant().is_some()) {
            return None;
        }
        let numbers: Vec<Number> = args.iter().filter_map(|arg| arg.constant()).collect();
        let result = match (op, numbers.as_slice()) {
            (Op::Negative, [Number::Int(x)]) => Number::Int(-x),
            (Op::Negative, [Number::Float(x)]) => Number::Float(-x),
            (Op::Positive, [x]) => *x,
            (op, [Number::Int(x), Number::Int(y)]) => fold_ints(op, *x, *y)?,
            (op, [x, y]) => fold_floats(op, real(*x)?, real(*y)?)?,
            _ => return None,
        };
        Some(Scalar::python(result))
    }

    fn too_large(&mut self, value: i128, span: Span) {
        let advice = "write it as a float, or convert the other value with `float64(x)`";
        self.problem(Code::Number, span, format!("the number {value} is out of bounds for int64"), advice);
    }

    /// A comparison of a value of a type with an integer of Python, which the type may not have.
    fn comparison_with(&mut self, op: Op, other: Scalar, number: i128, is_turned: bool, span: Span) -> Compared {
        let dtype = self.program.dtype(other.atom);
        let (low, high) = super::types::integer_range(dtype);
        if !dtype.is_integral() || (dtype != DType::Bool && (low..=high).contains(&number)) {
            return Compared::Plain;
        }
        if dtype == DType::Bool {
            let to = Leaf { dtype: DType::I64, weak: other.weak };
            return Compared::As(self.convert_scalar(other, to, span));
        }
        // Whether the value is below the number, on the left.
        let is_below = (number > high) != is_turned;
        let truth = match op {
            Op::Less | Op::LessEqual => is_below,
            Op::Greater | Op::GreaterEqual => !is_below,
            Op::NotEqual => true,
            _ => false,
        };
        Compared::Known(Scalar { atom: Atom::Const(Number::Bool(truth), DType::Bool), weak: other.weak })
    }

    /// Sums and products of indices with 0 and 1.
    fn fold_index(&self, op: Op, args: &[Scalar]) -> Option<Scalar> {
        let [x, y] = args else { return None };
        let is_index = |arg: &Scalar| self.program.dtype(arg.atom) == DType::I64;
        if !(is_index(x) && is_index(y)) {
            return None;
        }
        let weak = x.weak && y.weak;
        let same = |kept: &Scalar| Some(Scalar { atom: kept.atom, weak });
        match (op, x.constant_int(), y.constant_int()) {
            (Op::Add | Op::Subtract, _, Some(0)) | (Op::Multiply, _, Some(1)) => same(x),
            (Op::Add, Some(0), _) | (Op::Multiply, Some(1), _) => same(y),
            (Op::Subtract, None, None) if x.atom == y.atom => Some(Scalar { atom: Atom::index(0), weak }),
            _ => None,
        }
    }

    pub(super) fn index_sum(&mut self, x: Atom, y: Atom, span: Span) -> Atom {
        self.index_op(Op::Add, x, y, span)
    }

    pub(super) fn index_difference(&mut self, x: Atom, y: Atom, span: Span) -> Atom {
        self.index_op(Op::Subtract, x, y, span)
    }

    /// An operation of int64 scalars.
    pub(super) fn index_op(&mut self, op: Op, x: Atom, y: Atom, span: Span) -> Atom {
        self.prim(op, &[Scalar::weak(x), Scalar::weak(y)], span).map_or(x, |found| found.atom)
    }

    /// The value of a condition: a truth value.
    pub(super) fn truth(&mut self, value: &Value, span: Span) -> Option<Scalar> {
        match value {
            Value::Scalar(scalar) => match (scalar.constant(), self.program.dtype(scalar.atom)) {
                (_, DType::Bool) => Some(*scalar),
                (Some(Number::Int(value)), _) => Some(Scalar::python(Number::Bool(value != 0))),
                (Some(Number::Float(value)), _) => Some(Scalar::python(Number::Bool(value != 0.0))),
                (_, dtype) => {
                    let zero = Scalar { atom: Atom::Const(super::types::zero_of(dtype), dtype), weak: true };
                    self.prim(Op::NotEqual, &[*scalar, zero], span)
                }
            },
            Value::Poison => None,
            Value::Seq(_) => {
                let found = self.describe(value);
                let text = format!("a condition is {found}; expected a truth value or a number");
                let x = self.names_of(span).0;
                self.problem(Code::Condition, span, text, format!("write `any({x})`, `all({x})` or `len({x}) > 0`"));
                None
            }
            other => {
                let text = format!("a condition is {}; expected a truth value or a number", self.describe(other));
                self.plain_problem(Code::Condition, span, text);
                None
            }
        }
    }

    /// `then` if the condition holds, else `other`: each computes a value in a block of its own.
    pub(super) fn choose(
        &mut self,
        cond: Scalar,
        span: Span,
        then: impl FnOnce(&mut Self) -> Value,
        other: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        self.choose_between(cond, (span, span), span, then, other)
    }

    /// As [`Elaborator::choose`], of values that stand at these places.
    pub(super) fn choose_between(
        &mut self,
        cond: Scalar,
        spans: (Span, Span),
        span: Span,
        then: impl FnOnce(&mut Self) -> Value,
        other: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        if let Some(Number::Bool(value)) = cond.constant() {
            return if value { then(self) } else { other(self) };
        }
        let at = if self.depth_of(cond.atom) == 0 { EmitAt::Guard } else { EmitAt::Branch };
        self.open_block(at);
        let first = then(self);
        let first_stmts = self.suspend_block();
        self.open_block(at);
        let second = other(self);
        let second_stmts = self.suspend_block();
        let (Some(a), Some(b)) = (self.type_of(&first), self.type_of(&second)) else {
            let (a, b) = (self.describe(&first), self.describe(&second));
            let text = format!("a condition chooses between {a} and {b}; expected numbers, tuples and sequences");
            let advice = "functions are known when the program is compiled: choose between their results";
            return self.problem(Code::Branches, span, text, advice);
        };
        let Some(joined) = a.join(&b) else {
            // Of several values that branches assign, those that differ.
            let (a, b) = match (&a, &b) {
                (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() && self.is_merging => {
                    x.iter().zip(y).find(|(x, y)| x.join(y).is_none()).unwrap_or((&a, &b))
                }
                _ => (&a, &b),
            };
            let text = format!("the branches of a condition have different types: {a} and {b}");
            let related = if spans.0 == spans.1 { Vec::new() } else { vec![(spans.1, format!("this is {b}"))] };
            let advice = "give values of one type in both branches";
            return self.problem_with(Code::Branches, spans.0, text, related, advice);
        };
        if first.is_poison() || second.is_poison() {
            return Value::Poison;
        }
        for (known, other) in [(&first, &second), (&second, &first)] {
            if let (Value::Scalar(known), Value::Scalar(other)) = (known, other)
                && let Some(value) = large_integer(*known)
                && self.program.dtype(other.atom).is_integral()
            {
                self.too_large(value, span);
                return Value::Poison;
            }
        }
        self.resume_block(first_stmts);
        let first = self.convert(&first, &joined, span);
        let then = self.close_with(&first);
        self.resume_block(second_stmts);
        let second = self.convert(&second, &joined, span);
        let other = self.close_with(&second);
        self.emit_choice(cond, then, other, &joined, span)
    }

    fn emit_choice(
        &mut self,
        cond: Scalar,
        then: Block,
        other: Block,
        joined: &super::types::Type,
        span: Span,
    ) -> Value {
        let leaves = super::arguments_of_type(joined).leaves();
        let depth = self.depth();
        let pairs: Vec<(Atom, Atom)> = then.results.iter().copied().zip(other.results.iter().copied()).collect();
        let is_same = |this: &Self, (a, b): (Atom, Atom)| a == b && this.depth_of(a) <= depth;
        let are_ready = then.stmts.is_empty() && other.stmts.is_empty() && leaves.iter().all(|leaf| leaf.1 == 0);
        let mut vars: Vec<Atom> = Vec::with_capacity(pairs.len());
        if are_ready {
            for ((a, b), (dtype, _)) in pairs.into_iter().zip(&leaves) {
                vars.push(self.select(cond, a, b, *dtype, span));
            }
        } else {
            let differs: Vec<bool> = pairs.iter().map(|pair| !is_same(self, *pair)).collect();
            let only = |block: Block| {
                let results = block.results.into_iter().zip(&differs).filter(|(_, differs)| **differs);
                Block { stmts: block.stmts, results: results.map(|(atom, _)| atom).collect() }
            };
            let (then, other) = (only(then), only(other));
            let outs: Vec<(DType, usize)> =
                leaves.iter().zip(&differs).filter(|(_, differs)| **differs).map(|(leaf, _)| *leaf).collect();
            let mut made = self.emit(Exp::If { cond: cond.atom, then, other }, &outs, span).into_iter();
            for ((a, _), differs) in pairs.into_iter().zip(&differs) {
                vars.push(if *differs { made.next().map_or(a, Atom::Var) } else { a });
            }
        }
        self.value_of(joined, &mut vars.into_iter(), span)
    }

    /// `a` if a condition holds, else `b`, which are both computed.
    fn select(&mut self, cond: Scalar, a: Atom, b: Atom, dtype: DType, span: Span) -> Atom {
        let known = |atom| match atom {
            Atom::Const(Number::Bool(value), DType::Bool) => Some(value),
            _ => None,
        };
        match (known(a), known(b)) {
            _ if a == b => return a,
            (Some(true), Some(false)) => return cond.atom,
            (Some(false), Some(true)) => {
                return self.prim(Op::LogicalNot, &[cond], span).map_or(a, |found| found.atom);
            }
            _ => {}
        }
        let exp = Exp::Prim { op: Op::Where, compute: dtype, args: vec![cond.atom, a, b] };
        self.emit_scalar(exp, dtype, span).into()
    }

    /// A value of a type made of atoms in the order of [`Value::atoms`].
    pub(super) fn value_of(
        &mut self,
        of: &super::types::Type,
        atoms: &mut dyn Iterator<Item = Atom>,
        span: Span,
    ) -> Value {
        use super::types::Type;
        match of {
            Type::Scalar(leaf) => match atoms.next() {
                Some(atom) => Scalar { atom, weak: leaf.weak }.into(),
                None => Value::Poison,
            },
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.value_of(part, atoms, span)).collect()),
            Type::Seq(element) => {
                let shape = self.fresh_element(element, 0);
                let mut vars = atoms.filter_map(Atom::as_var);
                let element = shape.with_arrays(&mut vars);
                self.seq_of(element, span).into()
            }
            Type::Any => Value::Poison,
        }
    }

    /// Takes the open block away, to go on with it later.
    pub(super) fn suspend_block(&mut self) -> super::OpenBlock {
        self.forget(self.depth());
        self.blocks.pop().unwrap_or(super::OpenBlock { stmts: Vec::new(), at: EmitAt::Branch })
    }

    pub(super) fn resume_block(&mut self, block: super::OpenBlock) {
        self.blocks.push(block);
    }
}

/// How a value is compared with an integer.
enum Compared {
    /// Every value of its type gives this.
    Known(Scalar),
    /// As this value.
    As(Scalar),
    /// As it is.
    Plain,
}

/// An integer of Python that no integer type has.
fn large_integer(scalar: Scalar) -> Option<i128> {
    let has_type = |value: &i128| i64::try_from(*value).is_ok() || u64::try_from(*value).is_ok();
    scalar.constant_int().filter(|value| scalar.weak && !has_type(value))
}

/// The first type wider than another one that has a number.
pub(super) fn wider(value: i128, than: DType) -> &'static str {
    let types = [DType::I16, DType::I32, DType::I64, DType::U64];
    let fits = |dtype: &&DType| {
        let (low, high) = super::types::integer_range(**dtype);
        dtype.itemsize() >= than.itemsize() && (low..=high).contains(&value)
    };
    types.iter().find(fits).map_or("float64", |dtype| dtype.name())
}

fn real(number: Number) -> Option<f64> {
    match number {
        Number::Int(value) => Some(value as f64),
        Number::Float(value) => Some(value),
        _ => None,
    }
}

/// Integers of Python have any length; what has more than 127 bits is a float here.
fn fold_ints(op: Op, x: i128, y: i128) -> Option<Number> {
    let or_float = |found: Option<i128>, float: f64| found.map_or(Number::Float(float), Number::Int);
    Some(match op {
        Op::Add => or_float(x.checked_add(y), x as f64 + y as f64),
        Op::Subtract => or_float(x.checked_sub(y), x as f64 - y as f64),
        Op::Multiply => or_float(x.checked_mul(y), x as f64 * y as f64),
        Op::FloorDivide if y != 0 => Number::Int(x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)),
        Op::Remainder if y != 0 => {
            let rest = x % y;
            Number::Int(if rest != 0 && ((rest < 0) != (y < 0)) { rest + y } else { rest })
        }
        Op::TrueDivide if y != 0 => Number::Float(x as f64 / y as f64),
        Op::Power if y < 0 && x != 0 => Number::Float((x as f64).powf(y as f64)),
        Op::Power if y >= 0 => {
            let exact = u32::try_from(y).ok().and_then(|y| x.checked_pow(y));
            or_float(exact, (x as f64).powf(y as f64))
        }
        Op::LeftShift if (0..1024).contains(&y) => {
            let factor = 1_i128.checked_shl(y as u32).filter(|factor| *factor > 0);
            or_float(factor.and_then(|factor| x.checked_mul(factor)), x as f64 * (y as f64).exp2())
        }
        Op::RightShift if (0..127).contains(&y) => Number::Int(x >> y),
        Op::BitAnd => Number::Int(x & y),
        Op::BitOr => Number::Int(x | y),
        Op::BitXor => Number::Int(x ^ y),
        Op::Maximum => Number::Int(x.max(y)),
        Op::Minimum => Number::Int(x.min(y)),
        Op::Equal => Number::Bool(x == y),
        Op::NotEqual => Number::Bool(x != y),
        Op::Less => Number::Bool(x < y),
        Op::LessEqual => Number::Bool(x <= y),
        Op::Greater => Number::Bool(x > y),
        Op::GreaterEqual => Number::Bool(x >= y),
        _ => return None,
    })
}

fn fold_floats(op: Op, x: f64, y: f64) -> Option<Number> {
    Some(match op {
        Op::Add => Number::Float(x + y),
        Op::Subtract => Number::Float(x - y),
        Op::Multiply => Number::Float(x * y),
        Op::TrueDivide if y != 0.0 => Number::Float(x / y),
        Op::Less => Number::Bool(x < y),
        Op::LessEqual => Number::Bool(x <= y),
        Op::Greater => Number::Bool(x > y),
        Op::GreaterEqual => Number::Bool(x >= y),
        Op::Equal => Number::Bool(x == y),
        Op::NotEqual => Number::Bool(x != y),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_integers_divide_as_in_python() {
        for (x, y, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -2, -3, 0)] {
            assert_eq!(fold_ints(Op::FloorDivide, x, y), Some(Number::Int(quotient)), "{x} // {y}");
            assert_eq!(fold_ints(Op::Remainder, x, y), Some(Number::Int(rest)), "{x} % {y}");
        }
    }

    #[test]
    fn known_integers_are_as_long_as_in_python() {
        let two_to = |n: u32| Some(Number::Int(1_i128 << n));
        assert_eq!(fold_ints(Op::Power, 2, 64), two_to(64));
        assert_eq!(fold_ints(Op::Multiply, 1 << 62, 4), two_to(64));
        assert_eq!(fold_ints(Op::LeftShift, 1, 64), two_to(64));
        assert_eq!(fold_ints(Op::Power, 2, 200), Some(Number::Float(200_f64.exp2())));
        assert_eq!(fold_ints(Op::LeftShift, -3, 200), Some(Number::Float(-3.0 * 200_f64.exp2())));
    }
}
