//! Checks what every pass may rely on: each variable is assigned once and used where it is in scope, and numbers of axes,
//! dtypes, parameters and results fit each other.
//!
//! The operator of a reduction or scan, and the values before its first element, may use the indices of the axes that
//! stay, but not that of the last one.

use crate::ir::{Atom, Axis, Block, Exp, Lambda, Number, Program, Stmt, Var, VarType};
use crate::span::Span;
use rtcg_codegen::array::{Op, OperandRole};
use rtcg_hal::{DType, DTypeKind};

/// What is wrong with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inconsistency {
    /// The innermost statement that it was found in.
    pub(crate) span: Span,
    /// What was found, and what is expected.
    pub(crate) message: String,
}

/// Checks a program.
///
/// # Errors
/// The first inconsistency, with the statement in which it was found; variables are named as
/// [`print_program`](crate::text::print_program) names those that are no indices.
pub fn check(program: &Program) -> Result<(), String> {
    check_with_names(program, &|var| format!("v{}", var.0)).map_err(|wrong| {
        let Span { line, column, .. } = wrong.span;
        if wrong.span.is_known() { format!("line {line}, column {column}: {}", wrong.message) } else { wrong.message }
    })
}

/// [`check`], for variables with names.
pub(crate) fn check_with_names(program: &Program, name: &dyn Fn(Var) -> String) -> Result<(), Inconsistency> {
    let n_vars = program.vars.len();
    let mut checker = Checker {
        program,
        name,
        is_assigned: vec![false; n_vars],
        in_scope: vec![false; n_vars],
        span: Span::default(),
    };
    let checked = checker.program();
    checked.map_err(|message| Inconsistency { span: checker.span, message })
}

type Checked<T = ()> = Result<T, String>;

struct Checker<'a> {
    program: &'a Program,
    name: &'a dyn Fn(Var) -> String,
    is_assigned: Vec<bool>,
    in_scope: Vec<bool>,
    /// The innermost statement so far; stays where an error was found.
    span: Span,
}

/// A type as it is printed, for messages.
fn describe(ty: &VarType) -> String {
    format!("{}{}{}", "[".repeat(ty.ndim), ty.dtype, "]".repeat(ty.ndim))
}

const INDEX: VarType = VarType { dtype: DType::I64, ndim: 0 };
const TRUTH: VarType = VarType { dtype: DType::Bool, ndim: 0 };

impl Checker<'_> {
    fn program(&mut self) -> Checked {
        self.assign_all(&self.program.params)?;
        self.block(&self.program.body).map(drop)
    }

    fn type_of(&self, var: Var) -> &VarType {
        self.program.var_type(var)
    }

    fn name(&self, var: Var) -> String {
        (self.name)(var)
    }

    /// Assigns a variable, which is in scope from here on.
    fn assign(&mut self, var: Var) -> Checked {
        let at = var.0 as usize;
        match self.is_assigned.get(at) {
            None => Err(format!("variable number {at} has no type; the program has {}", self.program.vars.len())),
            Some(true) => Err(format!("{} is assigned twice", self.name(var))),
            Some(false) => {
                (self.is_assigned[at], self.in_scope[at]) = (true, true);
                Ok(())
            }
        }
    }

    fn assign_all(&mut self, vars: &[Var]) -> Checked {
        vars.iter().try_for_each(|var| self.assign(*var))
    }

    fn leave(&mut self, vars: impl IntoIterator<Item = Var>) {
        vars.into_iter().for_each(|var| self.in_scope[var.0 as usize] = false);
    }

    fn used(&self, var: Var) -> Checked<VarType> {
        match self.in_scope.get(var.0 as usize) {
            Some(true) => Ok(self.type_of(var).clone()),
            Some(false) if self.is_assigned[var.0 as usize] => {
                Err(format!("{} is used outside of the block that assigns it", self.name(var)))
            }
            _ => Err(format!("variable {} is used before it is assigned", var.0)),
        }
    }

    fn array(&self, var: Var) -> Checked<VarType> {
        let ty = self.used(var)?;
        if ty.ndim == 0 { Err(format!("{} is a scalar, expected an array", self.name(var))) } else { Ok(ty) }
    }

    fn atom(&self, atom: Atom) -> Checked<VarType> {
        match atom {
            Atom::Var(var) => self.used(var),
            Atom::Const(number, dtype) if holds(dtype, number) => Ok(VarType { dtype, ndim: 0 }),
            Atom::Const(number, dtype) => Err(format!("{dtype} does not hold the constant {number:?}")),
        }
    }

    fn describe_atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.name(var),
            Atom::Const(number, _) => format!("the constant {number:?}"),
        }
    }

    /// An operand of a given type.
    fn expect(&self, atom: Atom, expected: &VarType, role: &str) -> Checked {
        let found = self.atom(atom)?;
        if found == *expected {
            return Ok(());
        }
        let (found, expected) = (describe(&found), describe(expected));
        Err(format!("{role} is {}, of type {found}; expected {expected}", self.describe_atom(atom)))
    }

    fn scalar(&self, atom: Atom, role: &str) -> Checked<DType> {
        let found = self.atom(atom)?;
        if found.ndim == 0 {
            return Ok(found.dtype);
        }
        Err(format!("{role} is {}, of type {}; expected a scalar", self.describe_atom(atom), describe(&found)))
    }

    /// Checks a block; what it assigns is out of scope afterwards.
    fn block(&mut self, block: &Block) -> Checked<Vec<VarType>> {
        for stmt in &block.stmts {
            self.statement(stmt)?;
        }
        let types = block.results.iter().map(|result| self.atom(*result)).collect();
        self.leave(block.stmts.iter().flat_map(|stmt| stmt.outs.iter().copied()));
        types
    }

    /// A block whose results have given types.
    fn block_of(&mut self, block: &Block, expected: &[VarType], what: &str) -> Checked {
        let found = self.block(block)?;
        expect_types(&found, expected, &format!("the results of {what}"))
    }

    fn lambda(&mut self, lambda: &Lambda, params: &[VarType], results: &[VarType], what: &str) -> Checked {
        self.parameters(lambda, params, what)?;
        self.block_of(&lambda.body, results, what)?;
        self.leave(lambda.params.iter().copied());
        Ok(())
    }

    fn parameters(&mut self, lambda: &Lambda, expected: &[VarType], what: &str) -> Checked {
        self.assign_all(&lambda.params)?;
        let found: Vec<_> = lambda.params.iter().map(|param| self.type_of(*param).clone()).collect();
        expect_types(&found, expected, &format!("the parameters of {what}"))
    }

    fn statement(&mut self, stmt: &Stmt) -> Checked {
        let around = self.span;
        if stmt.span.is_known() {
            self.span = stmt.span;
        }
        for out in &stmt.outs {
            if out.0 as usize >= self.program.vars.len() {
                return self.assign(*out);
            }
        }
        let values = self.expression(&stmt.exp, &stmt.outs)?;
        let outs: Vec<_> = stmt.outs.iter().map(|out| self.type_of(*out).clone()).collect();
        expect_types(&outs, &values, "the variables")?;
        self.assign_all(&stmt.outs)?;
        self.span = around;
        Ok(())
    }

    /// The types of an expression's values. For a conditional they are those of the variables that it is assigned to.
    fn expression(&mut self, exp: &Exp, outs: &[Var]) -> Checked<Vec<VarType>> {
        match exp {
            Exp::Prim { op, compute, args } => self.operation(*op, *compute, args),
            Exp::Cast { arg, to } => {
                let from = self.scalar(*arg, "the converted value")?;
                if from != *to && [from, *to].iter().any(|dtype| dtype.kind() == DTypeKind::Record) {
                    return Err(format!("{from} cannot be converted to {to}"));
                }
                Ok(vec![VarType { dtype: *to, ndim: 0 }])
            }
            Exp::Read { array, index, .. } => {
                let ty = self.indexed(*array, index)?;
                if index.len() < ty.ndim {
                    return Err(self.wrong_index_count(*array, &ty, index.len(), "as many"));
                }
                Ok(vec![VarType { ndim: 0, ..ty }])
            }
            Exp::Row { array, index, .. } => {
                let ty = self.indexed(*array, index)?;
                if index.len() >= ty.ndim {
                    return Err(self.wrong_index_count(*array, &ty, index.len(), "fewer"));
                }
                Ok(vec![VarType { ndim: ty.ndim - index.len(), ..ty }])
            }
            Exp::Length { array, axis } => match self.array(*array)? {
                ty if *axis < ty.ndim => Ok(vec![INDEX]),
                ty => Err(format!("{} has type {} and no axis {axis}", self.name(*array), describe(&ty))),
            },
            Exp::Slice { array, start, length } => {
                self.expect(*start, &INDEX, "the start")?;
                self.expect(*length, &INDEX, "the length")?;
                Ok(vec![self.array(*array)?])
            }
            Exp::Segment { offsets, at } => {
                self.expect((*offsets).into(), &VarType { ndim: 1, ..INDEX }, "the array of offsets")?;
                self.expect(*at, &INDEX, "the element")?;
                Ok(vec![INDEX])
            }
            Exp::Clamp { index, length } => {
                self.expect(*index, &INDEX, "the index")?;
                self.expect(*length, &INDEX, "the length")?;
                Ok(vec![INDEX])
            }
            Exp::Same { lengths, names } => {
                if lengths.len() < 2 || !(lengths.len() == names.len() || names.len() == 1) {
                    let (lengths, names) = (lengths.len(), names.len());
                    return Err(format!(
                        "{lengths} lengths with {names} names, expected 2 at least, and as many names"
                    ));
                }
                for length in lengths {
                    self.expect(*length, &INDEX, "a length")?;
                }
                Ok(vec![INDEX])
            }
            Exp::If { cond, then, other } => {
                self.expect(*cond, &TRUTH, "the condition")?;
                let types: Vec<_> = outs.iter().map(|out| self.type_of(*out).clone()).collect();
                self.block_of(then, &types, "`then`")?;
                self.block_of(other, &types, "`else`")?;
                Ok(types)
            }
            Exp::Loop { params, init, cond, body } => self.repetition(params, init, cond, body),
            Exp::Sort { arrays, less } => {
                let types = self.one_axis_each(arrays, "sorted")?;
                let values: Vec<_> = types.iter().map(element_of).collect();
                self.lambda(less, &twice(&values), &[TRUTH], "`less`")?;
                Ok(types)
            }
            Exp::Gen { space, body } => self.in_space(space, |checker| {
                let values = checker.block(body)?;
                Ok(values.into_iter().map(|ty| VarType { ndim: ty.ndim + space.len(), ..ty }).collect())
            }),
            Exp::Filter { space, body } => {
                expect_axes(space, 1, "a filter")?;
                self.in_space(space, |checker| {
                    let values = checker.scalars(body, "a filter")?;
                    match values.split_first() {
                        Some((&TRUTH, values)) => Ok(values.iter().map(sequence_of).collect()),
                        _ => Err("the first result of a filter is no truth value".into()),
                    }
                })
            }
            Exp::Rows { space, offsets, body } => {
                expect_axes(space, 1, "rows")?;
                self.expect((*offsets).into(), &VarType { ndim: 1, ..INDEX }, "the array of offsets")?;
                self.in_space(space, |checker| {
                    let values = checker.block(body)?;
                    match values.iter().find(|value| value.ndim != 1) {
                        None => Ok(values),
                        Some(other) => Err(format!("rows are of type {}, expected one axis", describe(other))),
                    }
                })
            }
            Exp::Scatter { targets, space, body, .. } => {
                expect_axes(space, 1, "a scatter")?;
                let types = self.one_axis_each(targets, "written to")?;
                let values: Vec<_> = std::iter::once(INDEX).chain(types.iter().map(element_of)).collect();
                self.in_space(space, |checker| checker.block_of(body, &values, "a scatter"))?;
                Ok(types)
            }
            Exp::Reduce { space, body, op, init, .. } => {
                let values = self.combination(
                    space,
                    body,
                    op,
                    Some(init).filter(|init| !init.is_empty()).map(Vec::as_slice),
                    "the reduction",
                )?;
                Ok(values.into_iter().map(|ty| VarType { ndim: space.len() - 1, ..ty }).collect())
            }
            Exp::Scan { space, body, op, prefix, finish, targets, .. } => {
                let mut values = self.combination(space, body, op, prefix.as_deref(), "the scan")?;
                if let Some(finish) = finish {
                    expect_axes(space, 1, "a scan whose values are not stored themselves")?;
                    self.in_scope[space[0].index.0 as usize] = true;
                    self.parameters(finish, &values, "what finishes the scan")?;
                    values = self.scalars(&finish.body, "what finishes the scan")?;
                    self.leave(finish.params.iter().copied().chain([space[0].index]));
                }
                if !targets.is_empty() {
                    let types = self.one_axis_each(targets, "written to")?;
                    let expected: Vec<_> = std::iter::once(INDEX).chain(types.iter().map(element_of)).collect();
                    expect_types(&values, &expected, "the values that a scan stores at an index")?;
                    return Ok(types);
                }
                Ok(values.into_iter().map(|ty| VarType { ndim: space.len(), ..ty }).collect())
            }
        }
    }

    fn operation(&self, op: Op, compute: DType, args: &[Atom]) -> Checked<Vec<VarType>> {
        let name = op.name();
        if op == Op::Index {
            return Err(format!("{name} needs the index of a kernel; expected a multiplication and an addition"));
        }
        if args.len() != op.arity() {
            return Err(format!("{name} has {} operands, expected {}", args.len(), op.arity()));
        }
        let types = op.resolve_types(compute).map_err(|refused| refused.to_string())?;
        if types.compute != compute {
            return Err(format!("{name} is computed in {compute}, expected {}", types.compute));
        }
        for (at, arg) in args.iter().enumerate() {
            let dtype = self.scalar(*arg, &format!("operand {at} of {name}"))?;
            let fits = match op.operand_role(at) {
                OperandRole::Compute => loses_no_kind(dtype, compute),
                OperandRole::Truth => dtype.kind() != DTypeKind::Record,
                OperandRole::NoCast if op == Op::Ldexp => dtype.is_integral(),
                OperandRole::NoCast => dtype.kind() < DTypeKind::Complex,
            };
            if !fits {
                return Err(format!("operand {at} of {name} is of dtype {dtype}, but it is computed in {compute}"));
            }
        }
        Ok(vec![VarType { dtype: types.out, ndim: 0 }])
    }

    fn indexed(&self, array: Var, index: &[Atom]) -> Checked<VarType> {
        let ty = self.array(array)?;
        for (axis, at) in index.iter().enumerate() {
            self.expect(*at, &INDEX, &format!("the index for axis {axis}"))?;
        }
        if index.len() > ty.ndim {
            Err(self.wrong_index_count(array, &ty, index.len(), "at most as many"))
        } else {
            Ok(ty)
        }
    }

    fn wrong_index_count(&self, array: Var, ty: &VarType, found: usize, expected: &str) -> String {
        let (name, ty, ndim) = (self.name(array), describe(ty), ty.ndim);
        format!("{name} has type {ty}, with {ndim} axes, and {found} indices; expected {expected}")
    }

    fn repetition(&mut self, params: &[Var], init: &[Atom], cond: &Block, body: &Block) -> Checked<Vec<VarType>> {
        let values = init.iter().map(|value| self.atom(*value)).collect::<Checked<Vec<_>>>()?;
        self.assign_all(params)?;
        let types: Vec<_> = params.iter().map(|param| self.type_of(*param).clone()).collect();
        expect_types(&values, &types, "the first values of the loop")?;
        self.block_of(cond, &[TRUTH], "`while`")?;
        self.block_of(body, &types, "`do`")?;
        self.leave(params.iter().copied());
        Ok(types)
    }

    /// Calls `check` with the indices of a space in scope.
    fn in_space<T>(&mut self, space: &[Axis], check: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        self.enter(space)?;
        let result = check(self)?;
        self.leave(space.iter().map(|axis| axis.index));
        Ok(result)
    }

    fn enter(&mut self, space: &[Axis]) -> Checked {
        for axis in space {
            self.expect(axis.length, &INDEX, "the length of an axis")?;
        }
        for axis in space {
            self.assign(axis.index)?;
            self.expect(axis.index.into(), &INDEX, "the index of an axis")?;
        }
        Ok(())
    }

    fn scalars(&mut self, body: &Block, what: &str) -> Checked<Vec<VarType>> {
        let values = self.block(body)?;
        match values.iter().find(|ty| ty.ndim > 0) {
            Some(ty) => Err(format!("a result of {what} is of type {}; expected a scalar", describe(ty))),
            None => Ok(values),
        }
    }

    /// What reductions and scans have in common. Gives the types of an element's values.
    fn combination(
        &mut self,
        space: &[Axis],
        body: &Block,
        op: &Lambda,
        first: Option<&[Atom]>,
        what: &str,
    ) -> Checked<Vec<VarType>> {
        if space.is_empty() {
            return Err(format!("{what} has no axes, expected 1 at least"));
        }
        self.enter(space)?;
        let values = self.scalars(body, what)?;
        self.leave([space[space.len() - 1].index]);
        self.lambda(op, &twice(&values), &values, &format!("the operator of {what}"))?;
        if let Some(first) = first {
            let found = first.iter().map(|value| self.atom(*value)).collect::<Checked<Vec<_>>>()?;
            expect_types(&found, &values, &format!("the values before {what}"))?;
        }
        self.leave(space.iter().map(|axis| axis.index));
        Ok(values)
    }

    fn one_axis_each(&self, arrays: &[Var], what: &str) -> Checked<Vec<VarType>> {
        let types = arrays.iter().map(|array| self.used(*array)).collect::<Checked<Vec<_>>>()?;
        match types.iter().zip(arrays).find(|(ty, _)| ty.ndim != 1) {
            Some((ty, array)) => {
                Err(format!("{}, which is {what}, has type {}; expected one axis", self.name(*array), describe(ty)))
            }
            None if types.is_empty() => Err(format!("no array is {what}")),
            None => Ok(types),
        }
    }
}

fn element_of(ty: &VarType) -> VarType {
    VarType { dtype: ty.dtype, ndim: 0 }
}

fn sequence_of(ty: &VarType) -> VarType {
    VarType { dtype: ty.dtype, ndim: 1 }
}

fn expect_axes(space: &[Axis], n: usize, what: &str) -> Checked {
    if space.len() == n { Ok(()) } else { Err(format!("{what} has {} axes, expected {n}", space.len())) }
}

fn expect_types(found: &[VarType], expected: &[VarType], what: &str) -> Checked {
    if found == expected {
        return Ok(());
    }
    let list = |types: &[VarType]| types.iter().map(describe).collect::<Vec<_>>().join(", ");
    Err(format!("{what} have types ({}), expected ({})", list(found), list(expected)))
}

/// Whether an operand may be converted: not from complex to real numbers, nor from real numbers to integers.
fn loses_no_kind(from: DType, to: DType) -> bool {
    match to.kind() {
        DTypeKind::Record => from == to,
        DTypeKind::Complex => from.kind() <= DTypeKind::Complex,
        DTypeKind::Float => from.kind() <= DTypeKind::Float,
        _ => from.is_integral(),
    }
}

/// Whether a constant may have a dtype.
pub fn holds(dtype: DType, number: Number) -> bool {
    match (dtype.kind(), number) {
        (DTypeKind::Record, _) => false,
        (_, Number::Bool(_)) | (DTypeKind::Complex, _) => true,
        (DTypeKind::Bool, _) | (_, Number::Complex(..)) => false,
        (DTypeKind::Float, _) => true,
        (_, Number::Float(_)) => false,
        (DTypeKind::Signed, Number::Int(value)) => {
            let half = 1i128 << (8 * dtype.itemsize() - 1);
            (-half..half).contains(&value)
        }
        (DTypeKind::Unsigned, Number::Int(value)) => (0..1i128 << (8 * dtype.itemsize())).contains(&value),
    }
}

/// The parameters of a function of two elements.
fn twice(values: &[VarType]) -> Vec<VarType> {
    [values, values].concat()
}
