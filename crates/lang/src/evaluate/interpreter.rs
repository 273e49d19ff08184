//! The interpreter: a value for each variable, and a function for each kind of expression.
//!
//! Assumes that [`check`] has accepted the program: variables are assigned before they are used, and types fit.

use super::EvaluateError;
use super::cast::cast;
use super::operation::operate;
use super::value::{HostValue, zero};
use crate::check::check;
use crate::ir::{Atom, Axis, Block, Bounds, Direction, Exp, Lambda, Number, Program, Stmt, Var, VarType};
use crate::span::Span;
use rtcg_hal::{DType, DTypeKind};

type Outcome<T> = Result<T, EvaluateError>;

/// Runs a program.
pub(super) fn run(program: &Program, inputs: &[HostValue], step_limit: u64) -> Outcome<Vec<HostValue>> {
    check(program).map_err(EvaluateError::Inputs)?;
    if let Some(record) = program.vars.iter().find(|ty| ty.dtype.kind() == DTypeKind::Record) {
        let nbytes = record.dtype.itemsize();
        return Err(EvaluateError::Inputs(format!("a variable is a record of {nbytes} bytes, expected numbers")));
    }
    let found: Vec<_> = inputs.iter().map(HostValue::var_type).collect();
    let expected: Vec<_> = program.params.iter().map(|param| program.var_type(*param).clone()).collect();
    if found != expected {
        return Err(EvaluateError::Inputs(format!("inputs are {found:?}, expected {expected:?}")));
    }
    let mut interpreter = Interpreter {
        program,
        values: vec![None; program.vars.len()],
        steps: 0,
        step_limit,
        out_of_bounds: None,
        span: Span::default(),
    };
    interpreter.assign_all(&program.params, inputs.to_vec());
    let results = interpreter.block(&program.body)?;
    interpreter.out_of_bounds.map_or(Ok(results), Err)
}

struct Interpreter<'a> {
    program: &'a Program,
    values: Vec<Option<HostValue>>,
    steps: u64,
    step_limit: u64,
    /// The program's error flag: the first index that was clamped.
    out_of_bounds: Option<EvaluateError>,
    /// The statement that is run.
    span: Span,
}

impl Interpreter<'_> {
    fn refuse<T>(&self, message: String) -> Outcome<T> {
        Err(EvaluateError::Value { message, span: self.span })
    }

    fn step(&mut self) -> Outcome<()> {
        self.steps += 1;
        if self.steps > self.step_limit { Err(EvaluateError::StepLimit(self.step_limit)) } else { Ok(()) }
    }

    fn assign(&mut self, var: Var, value: HostValue) {
        self.values[var.0 as usize] = Some(value);
    }

    fn assign_all(&mut self, vars: &[Var], values: Vec<HostValue>) {
        vars.iter().zip(values).for_each(|(var, value)| self.assign(*var, value));
    }

    fn var(&self, var: Var) -> &HostValue {
        self.values[var.0 as usize].as_ref().expect("`check` finds variables that are used before they are assigned")
    }

    fn atom(&self, atom: Atom) -> HostValue {
        match atom {
            Atom::Var(var) => self.var(var).clone(),
            Atom::Const(number, dtype) => HostValue::scalar(number, dtype),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<HostValue> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    fn number(&self, atom: Atom) -> (Number, DType) {
        let value = self.atom(atom);
        (value.elements()[0], value.dtype())
    }

    fn index(&self, atom: Atom) -> i64 {
        match self.number(atom) {
            (Number::Int(index), _) => index as i64,
            _ => 0,
        }
    }

    fn truth(values: &[HostValue]) -> bool {
        values[0].elements() == [Number::Bool(true)]
    }

    fn block(&mut self, block: &Block) -> Outcome<Vec<HostValue>> {
        for stmt in &block.stmts {
            self.step()?;
            let around = std::mem::replace(&mut self.span, stmt.span);
            let values = self.statement(stmt)?;
            self.assign_all(&stmt.outs, values);
            self.span = around;
        }
        Ok(self.atoms(&block.results))
    }

    fn lambda(&mut self, lambda: &Lambda, mut first: Vec<HostValue>, second: &[HostValue]) -> Outcome<Vec<HostValue>> {
        first.extend_from_slice(second);
        self.assign_all(&lambda.params, first);
        self.block(&lambda.body)
    }

    fn statement(&mut self, stmt: &Stmt) -> Outcome<Vec<HostValue>> {
        let one = |value| Ok(vec![value]);
        match &stmt.exp {
            Exp::Prim { op, compute, args } => {
                let args: Vec<_> = args.iter().map(|arg| self.number(*arg)).collect();
                let dtype = self.program.var_type(stmt.outs[0]).dtype;
                one(HostValue::Scalar(operate(*op, *compute, &args), dtype))
            }
            Exp::Cast { arg, to } => {
                let (number, from) = self.number(*arg);
                one(HostValue::Scalar(cast(number, from, *to), *to))
            }
            Exp::Read { array, index, bounds } | Exp::Row { array, index, bounds } => {
                one(self.element(*array, index, *bounds)?)
            }
            Exp::Length { array, axis } => one(index_value(self.var(*array).shape()[*axis])),
            Exp::Clamp { index, length } => {
                let (index, length) = (self.index(*index), self.index(*length).max(0) as usize);
                let inside = self.clamp(index, 0, length, Bounds::Checked)?;
                one(index_value(inside.unwrap_or(0)))
            }
            Exp::Same { lengths, names } => {
                let lengths: Vec<_> = lengths.iter().map(|length| self.index(*length)).collect();
                let differs = lengths.iter().any(|length| *length != lengths[0]);
                if let ([text], true) = (names.as_slice(), differs) {
                    return self.refuse(text.clone());
                }
                match lengths.iter().zip(names).find(|(length, _)| **length != lengths[0]) {
                    None => one(self.atom(Atom::index(lengths[0]))),
                    Some((length, name)) => self.refuse(format!(
                        "{} has {} elements and {name} has {length}, expected equal lengths",
                        names[0], lengths[0]
                    )),
                }
            }
            Exp::If { cond, then, other } => {
                let branch = if Self::truth(&[self.atom(*cond)]) { then } else { other };
                self.block(branch)
            }
            Exp::Loop { params, init, cond, body } => {
                let mut values = self.atoms(init);
                loop {
                    self.step()?;
                    self.assign_all(params, values.clone());
                    if !Self::truth(&self.block(cond)?) {
                        return Ok(values);
                    }
                    values = self.block(body)?;
                }
            }
            Exp::Gen { space, body } => self.for_each_row(space, None, &stmt.outs, |this| this.block(body)),
            Exp::Reduce { space, body, op, init, .. } => {
                let [outer @ .., last] = &space[..] else { return self.refuse("a reduction without axes".into()) };
                self.for_each_row(outer, None, &stmt.outs, |this| {
                    let mut elements = this.elements(last, body)?.into_iter();
                    let mut values = match (init.is_empty(), this.atoms(init)) {
                        (false, values) => values,
                        (true, _) => match elements.next() {
                            Some(first) => first,
                            None => return this.refuse("a reduction of nothing has no first element".into()),
                        },
                    };
                    for element in elements {
                        values = this.lambda(op, values, &element)?;
                    }
                    Ok(values)
                })
            }
            Exp::Scan { space, body, op, prefix, direction, finish, targets } if targets.is_empty() => {
                let [outer @ .., last] = &space[..] else { return self.refuse("a scan without axes".into()) };
                let length = self.length(last)?;
                let prefix = prefix.as_deref();
                // The value before the first element is there without elements, too.
                let n_results = length.max(usize::from(prefix.is_some() && finish.is_none()));
                self.for_each_row(outer, Some(n_results), &stmt.outs, |this| {
                    let mut rows = this.scan(last.index, length, body, op, prefix, *direction)?;
                    rows.truncate(n_results);
                    this.finish(last.index, finish.as_ref(), &mut rows)?;
                    let row = |(at, out): (usize, &Var)| {
                        let values = rows.iter().map(|row| row[at].elements()[0]).collect();
                        HostValue::of_elements(this.program.var_type(*out).dtype, vec![n_results], values)
                    };
                    Ok(stmt.outs.iter().enumerate().map(row).collect())
                })
            }
            Exp::Scan { space, body, op, prefix, direction, finish, targets } => {
                let length = self.length(&space[0])?;
                let mut values = self.scan(space[0].index, length, body, op, prefix.as_deref(), *direction)?;
                values.truncate(length);
                self.finish(space[0].index, finish.as_ref(), &mut values)?;
                let rows = self.scattered(targets, values, Bounds::Checked)?;
                self.stack(rows, None, None, &stmt.outs)
            }
            Exp::Filter { space, body } => {
                let elements = self.elements(&space[0], body)?;
                let kept = elements.into_iter().filter(|element| Self::truth(element));
                self.stack(kept.map(|element| element[1..].to_vec()).collect(), None, None, &stmt.outs)
            }
            Exp::Rows { space, offsets, body } => {
                let rows = self.elements(&space[0], body)?;
                let total = self.var(*offsets).elements().len().checked_sub(1).map_or(0, |last| {
                    match self.var(*offsets).elements()[last] {
                        Number::Int(total) => total as usize,
                        _ => 0,
                    }
                });
                let mut all = Vec::new();
                for (at, out) in stmt.outs.iter().enumerate() {
                    let values: Vec<Number> = rows.iter().flat_map(|row| row[at].elements().to_vec()).collect();
                    if values.len() != total {
                        return self.refuse(format!("rows have {} elements, expected {total}", values.len()));
                    }
                    all.push(HostValue::of_elements(self.program.var_type(*out).dtype, vec![total], values));
                }
                Ok(all)
            }
            Exp::Scatter { targets, space, body, bounds } => {
                let rows = self.scatter(targets, &space[0], body, *bounds)?;
                self.stack(rows, None, None, &stmt.outs)
            }
            Exp::Sort { arrays, less } => {
                let length = self.common_length(arrays)?;
                let rows = (0..length).map(|at| self.values_at(arrays, at)).collect();
                let sorted = self.sort(rows, less)?;
                self.stack(sorted, Some(&[length]), None, &stmt.outs)
            }
            Exp::Slice { array, start, length } => one(self.slice(*array, self.index(*start), self.index(*length))?),
            Exp::Segment { offsets, at } => one(self.segment(*offsets, self.index(*at))?),
        }
    }

    /// An element, or the axes after the given indices.
    fn element(&mut self, array: Var, index: &[Atom], bounds: Bounds) -> Outcome<HostValue> {
        let array = self.var(array).clone();
        let (indexed, rest) = array.shape().split_at(index.len());
        let n_elements: usize = rest.iter().product();
        let mut at = Some(0);
        for (axis, (atom, length)) in index.iter().zip(indexed).enumerate() {
            let inside = self.clamp(self.index(*atom), axis, *length, bounds)?;
            at = at.zip(inside).map(|(at, inside)| at * length + inside);
        }
        let elements = match at {
            Some(at) => array.elements()[at * n_elements..][..n_elements].to_vec(),
            None => vec![zero(array.dtype()); n_elements],
        };
        Ok(HostValue::of_elements(array.dtype(), rest.to_vec(), elements))
    }

    /// The nearest index inside of an axis; none if it is empty.
    fn clamp(&mut self, index: i64, axis: usize, length: usize, bounds: Bounds) -> Outcome<Option<usize>> {
        if let Some(inside) = usize::try_from(index).ok().filter(|index| *index < length) {
            return Ok(Some(inside));
        }
        let claimed_inside = bounds == Bounds::Inside;
        let error = EvaluateError::OutOfBounds { index, axis, length, span: self.span, claimed_inside };
        if claimed_inside {
            return Err(error);
        }
        self.out_of_bounds.get_or_insert(error);
        Ok(length.checked_sub(1).map(|last| if index < 0 { 0 } else { last }))
    }

    fn length(&self, axis: &Axis) -> Outcome<usize> {
        let length = self.index(axis.length);
        match usize::try_from(length) {
            Ok(length) => Ok(length),
            Err(_) => self.refuse(format!("the length of an axis is {length}, expected 0 at least")),
        }
    }

    /// The values of a body along one axis.
    fn elements(&mut self, axis: &Axis, body: &Block) -> Outcome<Vec<Vec<HostValue>>> {
        let mut all = vec![];
        for at in 0..self.length(axis)? {
            self.step()?;
            self.assign(axis.index, index_value(at));
            all.push(self.block(body)?);
        }
        Ok(all)
    }

    /// The values for all indices of a space, as arrays.
    fn for_each_row(
        &mut self,
        space: &[Axis],
        inner_length: Option<usize>,
        outs: &[Var],
        mut values_of: impl FnMut(&mut Self) -> Outcome<Vec<HostValue>>,
    ) -> Outcome<Vec<HostValue>> {
        let shape = space.iter().map(|axis| self.length(axis)).collect::<Outcome<Vec<_>>>()?;
        let mut rows = vec![];
        let mut index = vec![0; shape.len()];
        let mut is_inside = !shape.contains(&0);
        while is_inside {
            self.step()?;
            for (axis, at) in space.iter().zip(&index) {
                self.assign(axis.index, index_value(*at));
            }
            rows.push(values_of(self)?);
            is_inside = advance(&mut index, &shape);
        }
        self.stack(rows, Some(&shape), inner_length, outs)
    }

    /// Arrays of the values of all elements; their first axes have the given lengths, or one axis as many as there are.
    ///
    /// Without elements the axes after these have the length `inner_length`; if that is not known either, it is 0.
    fn stack(
        &self,
        rows: Vec<Vec<HostValue>>,
        shape: Option<&[usize]>,
        inner_length: Option<usize>,
        outs: &[Var],
    ) -> Outcome<Vec<HostValue>> {
        let outer = shape.map_or_else(|| vec![rows.len()], <[usize]>::to_vec);
        let mut results = vec![];
        for (at, out) in outs.iter().enumerate() {
            let VarType { dtype, ndim } = *self.program.var_type(*out);
            let inner = match rows.first() {
                Some(first) => first[at].shape().to_vec(),
                None => vec![inner_length.unwrap_or(0); ndim.saturating_sub(outer.len())],
            };
            let mut elements = vec![];
            for row in &rows {
                if row[at].shape() != inner {
                    let found = row[at].shape();
                    return self
                        .refuse(format!("elements have the shapes {inner:?} and {found:?}, expected one shape"));
                }
                elements.extend_from_slice(row[at].elements());
            }
            results.push(HostValue::of_elements(dtype, [&outer[..], &inner].concat(), elements));
        }
        Ok(results)
    }

    /// The values of each element of one row.
    fn scan(
        &mut self,
        index: Var,
        length: usize,
        body: &Block,
        op: &Lambda,
        prefix: Option<&[Atom]>,
        direction: Direction,
    ) -> Outcome<Vec<Vec<HostValue>>> {
        let mut values = prefix.map(|prefix| self.atoms(prefix));
        let mut rows: Vec<_> = values.iter().cloned().collect();
        // With a value before the first element, the last element is not computed.
        for step in 0..length.saturating_sub(rows.len()) {
            self.step()?;
            let at = if direction == Direction::Forward { step } else { length - 1 - step };
            self.assign(index, index_value(at));
            let element = self.block(body)?;
            let next = match values {
                Some(values) => self.lambda(op, values, &element)?,
                None => element,
            };
            rows.push(next.clone());
            values = Some(next);
        }
        if direction == Direction::Backward {
            rows.reverse();
        }
        Ok(rows)
    }

    /// What a scan stores of its values at each index.
    fn finish(&mut self, index: Var, finish: Option<&Lambda>, rows: &mut [Vec<HostValue>]) -> Outcome<()> {
        let Some(finish) = finish else { return Ok(()) };
        for (at, row) in rows.iter_mut().enumerate() {
            self.assign(index, index_value(at));
            *row = self.lambda(finish, std::mem::take(row), &[])?;
        }
        Ok(())
    }

    fn common_length(&self, arrays: &[Var]) -> Outcome<usize> {
        let length = self.var(arrays[0]).shape()[0];
        match arrays.iter().map(|array| self.var(*array).shape()[0]).find(|other| *other != length) {
            Some(other) => self.refuse(format!("arrays have {length} and {other} elements, expected one length")),
            None => Ok(length),
        }
    }

    fn values_at(&self, arrays: &[Var], at: usize) -> Vec<HostValue> {
        let value = |array: &Var| HostValue::Scalar(self.var(*array).elements()[at], self.var(*array).dtype());
        arrays.iter().map(value).collect()
    }

    fn scatter(&mut self, targets: &[Var], axis: &Axis, body: &Block, bounds: Bounds) -> Outcome<Vec<Vec<HostValue>>> {
        let elements = self.elements(axis, body)?;
        self.scattered(targets, elements, bounds)
    }

    /// The elements of arrays, with those replaced at which there are others: each an index and the values there.
    fn scattered(
        &mut self,
        targets: &[Var],
        elements: Vec<Vec<HostValue>>,
        bounds: Bounds,
    ) -> Outcome<Vec<Vec<HostValue>>> {
        let length = self.common_length(targets)?;
        let mut rows: Vec<_> = (0..length).map(|at| self.values_at(targets, at)).collect();
        for element in elements {
            let index = match element[0].elements() {
                [Number::Int(index)] => *index as i64,
                _ => 0,
            };
            if let Some(at) = self.clamp(index, 0, length, bounds)? {
                rows[at] = element[1..].to_vec();
            }
        }
        Ok(rows)
    }

    /// Merges sorted halves; of two elements the second one comes first only if it is less.
    fn sort(&mut self, mut rows: Vec<Vec<HostValue>>, less: &Lambda) -> Outcome<Vec<Vec<HostValue>>> {
        if rows.len() < 2 {
            return Ok(rows);
        }
        let second = rows.split_off(rows.len() / 2);
        let mut first = self.sort(rows, less)?.into_iter().peekable();
        let mut second = self.sort(second, less)?.into_iter().peekable();
        let mut merged = vec![];
        loop {
            let is_second_less = match (first.peek(), second.peek()) {
                (Some(first), Some(second)) => {
                    self.step()?;
                    Self::truth(&self.lambda(less, second.clone(), first)?)
                }
                (first, _) => first.is_none(),
            };
            match if is_second_less { second.next() } else { first.next() } {
                Some(row) => merged.push(row),
                None => return Ok(merged),
            }
        }
    }

    fn slice(&self, array: Var, start: i64, length: i64) -> Outcome<HostValue> {
        let array = self.var(array);
        let n_rows = array.shape()[0];
        let row: usize = array.shape()[1..].iter().product();
        let range = usize::try_from(start).ok().zip(usize::try_from(length).ok());
        match range.filter(|(start, length)| start.checked_add(*length).is_some_and(|end| end <= n_rows)) {
            Some((start, length)) => {
                let elements = array.elements()[start * row..][..length * row].to_vec();
                let shape = [&[length], &array.shape()[1..]].concat();
                Ok(HostValue::of_elements(array.dtype(), shape, elements))
            }
            None => self.refuse(format!("a slice of {length} elements from {start} of an array with {n_rows}")),
        }
    }

    fn segment(&self, offsets: Var, at: i64) -> Outcome<HostValue> {
        let offsets = self.var(offsets).elements();
        let begins_by = |offset: &Number| matches!(offset, Number::Int(offset) if *offset <= at.into());
        match offsets.iter().rposition(begins_by) {
            Some(segment) if segment + 1 < offsets.len() => Ok(index_value(segment)),
            _ => self.refuse(format!("no segment holds element {at}; offsets are {offsets:?}")),
        }
    }
}

fn index_value(at: usize) -> HostValue {
    HostValue::Scalar(Number::Int(at as i128), DType::I64)
}

/// The next index in row-major order; false after the last one.
fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for (at, length) in index.iter_mut().zip(shape).rev() {
        *at += 1;
        if *at < *length {
            return true;
        }
        *at = 0;
    }
    false
}
