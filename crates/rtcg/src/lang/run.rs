//! Runs programs: scalars on the host, kernels for everything else. Only what the host has to know is waited for.

#![expect(unsafe_code, reason = "launches kernels whose snippets the compiler made: they stay inside of their arrays")]

use super::compiled::{Compiled, address};
use super::kernels::{
    AnyKernel, Form, KernelKey, Narrow, ReadyKernel, RunFacts, WrittenKernel, numbers_of_size, size_of_number,
};
use super::nest::{NestForm, NestProblem, RowsForm, RowsProblem, StoringForm, StoringProblem};
use super::repeat::{Buffers, FIRST_ROUNDS};
use super::value::{Value, bytes_of, integer};
use rtcg_array::generators::{ArrayView, GeneratedKernelArg, IndexRange, ReductionKernel};
use rtcg_array::{GpuArray, Index, Layout, Order};
use rtcg_hal::{
    ArrayContext, ArrayError, DType, LaunchArgs, Result, blocking_region, check_interrupt, compile_ahead,
    is_compiling_ahead,
};
use rtcg_lang::check::holds;
use rtcg_lang::emit::{
    Input, LONG_THREADS, LaunchNumbers, ORDERED_PACKS, ORDERED_THREADS, Place, ROW_THREADS, emit, emit_long,
    emit_row_reduction, emit_rows, emit_shared, emit_storing, narrow_variables,
};
use rtcg_lang::evaluate::{cast, operate};
use rtcg_lang::ir::{Atom, Axis, Block, Exp, Number, Stmt, Var};
use rtcg_lang::problem::{Code, Problem};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Why a run failed.
#[derive(Debug)]
pub enum RunError {
    /// The device, or the values, such as an index out of bounds.
    Array(ArrayError),
    /// Something that kernels cannot compute.
    Problem(Box<Problem>),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Array(error) => error.fmt(f),
            RunError::Problem(problem) => f.write_str(&problem.message),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ArrayError> for RunError {
    fn from(error: ArrayError) -> Self {
        RunError::Array(error)
    }
}

pub(super) type Ran<T = ()> = std::result::Result<T, RunError>;

impl Compiled {
    /// Runs the program in the current queue. The values are those of the arguments' leaves, in order; arrays without
    /// gaps in C order. Does not wait, unless the program needs a number on the host: a length or a condition.
    ///
    /// # Errors
    /// When lengths differ that have to be equal, an allocation or a launch fails.
    pub fn run(&self, ctx: &Arc<ArrayContext>, inputs: Vec<Value>) -> Ran<Vec<Value>> {
        if !self.has_run.swap(true, Ordering::Relaxed) {
            self.compile_kernels(ctx, &inputs);
        }
        Run::new(self, ctx, inputs, None).block(&self.program.body)
    }

    /// Compiles the kernels that a run will need, on all processor cores: each thread goes through the program, and
    /// compiles its share. What cannot be known before, and what fails, is left to the run.
    fn compile_kernels(&self, ctx: &Arc<ArrayContext>, inputs: &[Value]) {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(self.kernel_statements().len());
        let is_capturing = !matches!(ctx.queue().number(), Ok(Some(_)));
        if n_threads < 2 || is_compiling_ahead() || is_capturing {
            return;
        }
        let choices = ctx.current_choices();
        let compile = |thread: usize| {
            let share = Share { thread, n_threads, n_launches: Cell::new(0) };
            let mut run = Run::new(self, ctx, inputs.iter().cloned(), Some(share));
            // A panic, too, is left to the run.
            let whole = AssertUnwindSafe(|| compile_ahead(choices.clone(), || run.block(&self.program.body)));
            let _ = std::panic::catch_unwind(whole);
        };
        blocking_region(|| {
            std::thread::scope(|scope| {
                for thread in 0..n_threads {
                    // Compilers expect the stack of a program's first thread. Without a thread, the run compiles.
                    let builder = std::thread::Builder::new().stack_size(8 << 20);
                    drop(builder.spawn_scoped(scope, move || compile(thread)));
                }
            });
        });
    }
}

/// A run of a program.
pub(super) struct Run<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) ctx: &'a Arc<ArrayContext>,
    values: Vec<Option<Value>>,
    /// Of a run that only compiles kernels, those that it compiles.
    share: Option<Share>,
    /// Where memory comes from, if not from the device.
    pub(super) buffers: Option<Buffers>,
    /// The reductions that were computed with the maps before them, by their addresses.
    done: HashSet<usize>,
}

/// The kernels that one of several threads compiles, while it goes through a program whose arrays have no memory.
struct Share {
    thread: usize,
    n_threads: usize,
    n_launches: Cell<usize>,
}

impl Share {
    /// Whether the next launch is one of the thread's.
    fn takes_next(&self) -> bool {
        let number = self.n_launches.get();
        self.n_launches.set(number + 1);
        number % self.n_threads == self.thread
    }
}

impl<'a> Run<'a> {
    fn new(
        compiled: &'a Compiled,
        ctx: &'a Arc<ArrayContext>,
        inputs: impl IntoIterator<Item = Value>,
        share: Option<Share>,
    ) -> Self {
        let mut values = vec![None; compiled.program.vars.len()];
        for (param, value) in compiled.program.params.iter().zip(inputs) {
            values[param.0 as usize] = Some(value);
        }
        Run { compiled, ctx, values, share, buffers: None, done: HashSet::new() }
    }

    /// Whether kernels are only compiled, and numbers that they would compute are unknown.
    pub(super) fn only_compiles(&self) -> bool {
        self.share.is_some()
    }

    /// Whether the next launch happens: all of a run's, and a share of those that are only compiled.
    fn takes_launch(&self) -> bool {
        self.share.as_ref().is_none_or(Share::takes_next)
    }

    pub(super) fn block(&mut self, block: &Block) -> Ran<Vec<Value>> {
        for stmt in &block.stmts {
            self.statement(stmt)?;
            if let Some(uses) = self.compiled.uses.get(&address(stmt)) {
                uses.dead_after.iter().for_each(|var| self.values[var.0 as usize] = None);
            }
        }
        block.results.iter().map(|atom| self.value(*atom)).collect()
    }

    pub(super) fn set(&mut self, var: Var, value: Value) {
        self.values[var.0 as usize] = Some(value);
    }

    pub(super) fn value(&self, atom: Atom) -> Ran<Value> {
        match atom {
            Atom::Const(number, dtype) => Ok(Value::Host(number, dtype)),
            Atom::Var(var) => self.values[var.0 as usize].clone().ok_or_else(|| {
                RunError::Array(ArrayError::value_error(format!("variable {} of the program has no value", var.0)))
            }),
        }
    }

    pub(super) fn array(&self, var: Var) -> Ran<GpuArray> {
        match self.value(var.into())? {
            Value::Array(array) => Ok(array),
            Value::Host(..) => Err(ArrayError::type_error("a number is used as an array").into()),
        }
    }

    /// A number that the host needs; waits for it.
    fn number(&self, atom: Atom) -> Ran<(Number, DType)> {
        self.known(&self.value(atom)?)
    }

    /// The number of a value; while kernels are only compiled, one for what they compute.
    fn known(&self, value: &Value) -> Ran<(Number, DType)> {
        match value {
            Value::Array(array) if self.only_compiles() => Ok((one(array.dtype()), array.dtype())),
            value => Ok(value.number()?),
        }
    }

    pub(super) fn length(&self, atom: Atom) -> Ran<usize> {
        Ok(usize::try_from(integer(self.number(atom)?.0)).unwrap_or(0))
    }

    /// Gives the variables of a loop their values; whether it goes on.
    pub(super) fn goes_on(&mut self, params: &[Var], cond: &Block, values: &[Value]) -> Ran<bool> {
        params.iter().zip(values).for_each(|(param, value)| self.set(*param, value.clone()));
        let goes = self.block(cond)?;
        Ok(self.truth(&goes[0])? || self.only_compiles())
    }

    fn truth(&self, value: &Value) -> Ran<bool> {
        Ok(matches!(self.known(value)?.0, Number::Bool(true)))
    }

    fn statement(&mut self, stmt: &Stmt) -> Ran {
        match &stmt.exp {
            Exp::Prim { op, compute, args } => {
                let args = args.iter().map(|arg| self.number(*arg)).collect::<Ran<Vec<_>>>()?;
                let dtype = self.compiled.program.var_type(stmt.outs[0]).dtype;
                self.set(stmt.outs[0], Value::Host(operate(*op, *compute, &args), dtype));
            }
            Exp::Cast { arg, to } => {
                let (number, from) = self.number(*arg)?;
                if let Number::Int(value) = number
                    && self.compiled.program.checked.contains(&stmt.outs[0])
                    && !holds(*to, number)
                    && !self.only_compiles()
                {
                    let text = format!("the number {value} is out of bounds for {}", to.name());
                    return Err(RunError::Problem(Box::new(Problem::new(Code::Overflow, stmt.span, text))));
                }
                self.set(stmt.outs[0], Value::Host(cast(number, from, *to), *to));
            }
            Exp::Length { array, axis } => {
                let length = self.array(*array)?.shape()[*axis];
                self.set(stmt.outs[0], index_value(length as i64));
            }
            Exp::Clamp { index, length } => self.clamp(stmt.outs[0], *index, *length)?,
            Exp::Same { lengths, names } => {
                let all = lengths.iter().map(|length| self.length(*length)).collect::<Ran<Vec<_>>>()?;
                if let Some(at) = all.iter().position(|length| *length != all[0]) {
                    let message = match names.as_slice() {
                        [text] => text.clone(),
                        names => format!(
                            "{} has {} elements and {} has {}; expected one length",
                            names[0], all[0], names[at], all[at]
                        ),
                    };
                    let problem = Problem::new(Code::Length, stmt.span, message);
                    return Err(RunError::Problem(Box::new(problem)));
                }
                self.set(stmt.outs[0], index_value(all[0] as i64));
            }
            Exp::Row { array, index, .. } => {
                let at = index.iter().map(|at| Ok(Index::At(self.length(*at)? as isize))).collect::<Ran<Vec<_>>>()?;
                let row = self.array(*array)?.index(&at)?;
                self.set(stmt.outs[0], Value::Array(row));
            }
            Exp::Slice { array, start, length } => {
                let (start, length) = (self.length(*start)? as isize, self.length(*length)? as isize);
                let part = self.array(*array)?.index(&[Index::Slice(Some(start), Some(start + length), None)])?;
                self.set(stmt.outs[0], Value::Array(part));
            }
            Exp::If { cond, then, other } => {
                let cond = self.value(*cond)?;
                if self.only_compiles() && matches!(cond, Value::Array(_)) {
                    self.block(other)?;
                }
                let values = if self.truth(&cond)? { self.block(then) } else { self.block(other) }?;
                stmt.outs.iter().zip(values).for_each(|(out, value)| self.set(*out, value));
            }
            Exp::Loop { params, init, cond, body } => {
                let mut values = init.iter().map(|value| self.value(*value)).collect::<Ran<Vec<_>>>()?;
                let host_part = self.compiled.repeated.get(&address(stmt));
                let (mut n_rounds, mut checked) = (0, Instant::now());
                while self.goes_on(params, cond, &values)? {
                    if checked.elapsed() >= INTERRUPT_CHECKS {
                        check_interrupt()?;
                        checked = Instant::now();
                    }
                    // The values are the variables' alone, so that the memory of those that are replaced is free.
                    values.clear();
                    values = self.block(body)?;
                    n_rounds += 1;
                    match host_part {
                        _ if self.only_compiles() => break,
                        Some(host_part) if n_rounds == FIRST_ROUNDS => {
                            values = self.repeat((params, cond, body), host_part, values)?;
                        }
                        _ => {}
                    }
                }
                params.iter().for_each(|param| self.values[param.0 as usize] = None);
                stmt.outs.iter().zip(values).for_each(|(out, value)| self.set(*out, value));
            }
            Exp::Sort { arrays, less } => self.sort(stmt, arrays, less)?,
            Exp::Gen { .. } if self.generate_and_reduce(stmt)? => {}
            Exp::Gen { space, .. } => self.generate(stmt, space)?,
            Exp::Reduce { .. } if self.done.remove(&address(stmt)) => {}
            Exp::Reduce { space, init, .. } => match space.as_slice() {
                [axis] => self.reduce(stmt, axis, init)?,
                [rows @ .., _] => {
                    if !self.reduce_rows(stmt, space)? {
                        self.generate(stmt, rows)?;
                    }
                }
                [] => {}
            },
            Exp::Scan { space, targets, .. } if !targets.is_empty() => self.scatter(stmt, targets, &space[0])?,
            Exp::Scan { space, prefix, finish, .. } => match space.as_slice() {
                [axis] => self.scan(stmt, axis, prefix.as_deref().filter(|_| finish.is_none()))?,
                space => self.scan_rows(stmt, space)?,
            },
            Exp::Filter { space, .. } => self.filter(stmt, &space[0])?,
            Exp::Rows { space, offsets, .. } => self.rows(stmt, &space[0], *offsets)?,
            Exp::Scatter { targets, space, .. } => self.scatter(stmt, targets, &space[0])?,
            Exp::Read { .. } | Exp::Segment { .. } => {
                return Err(ArrayError::value_error("an element is read outside of a kernel").into());
            }
        }
        Ok(())
    }

    fn clamp(&mut self, out: Var, index: Atom, length: Atom) -> Ran {
        let (index, length) = (integer(self.number(index)?.0), integer(self.number(length)?.0));
        if (index < 0 || index >= length) && !self.only_compiles() {
            let text = format!("index {index} is out of bounds for a sequence of {length} elements");
            return Err(ArrayError::index_error(text).into());
        }
        self.set(out, index_value(index));
        Ok(())
    }

    // -- kernels --------------------------------------------------------------------------------

    pub(super) fn lengths(&self, space: &[Axis]) -> Ran<Vec<usize>> {
        space.iter().map(|axis| self.length(axis.length)).collect()
    }

    /// The kernel of a statement for what is known now.
    fn ready(&self, stmt: &Stmt, lengths: &[usize]) -> Ran<Arc<ReadyKernel>> {
        self.ready_in(stmt, lengths, Form::Plain)
    }

    /// The kernel of a statement in a form that it has.
    fn ready_in(&self, stmt: &Stmt, lengths: &[usize], form: Form) -> Ran<Arc<ReadyKernel>> {
        let missing = || ArrayError::value_error("a statement is no kernel");
        self.ready_as(stmt, lengths, form)?.ok_or_else(|| missing().into())
    }

    /// The kernel of a statement in a form; `None` if it has none.
    fn ready_as(&self, stmt: &Stmt, lengths: &[usize], form: Form) -> Ran<Option<Arc<ReadyKernel>>> {
        let (place, n) = (address(stmt), lengths.iter().product::<usize>());
        let is_small = u32::try_from(n).is_ok_and(|n| n < u32::MAX / 2);
        let mut bits: SmallVec<[u64; 2]> = SmallVec::new();
        let mut n_bits = 0;
        let mut push = |bit: bool| {
            if n_bits % 64 == 0 {
                bits.push(0);
            }
            bits[n_bits / 64] |= u64::from(bit) << (n_bits % 64);
            n_bits += 1;
        };
        push(is_small);
        let uses = self.compiled.uses.get(&place);
        let arrays = uses.map_or(&[][..], |uses| &uses.arrays);
        let scalars = uses.map_or(&[][..], |uses| &uses.scalars);
        // What a body binds has no value here.
        let is_flat = |var: &Var| matches!(&self.values[var.0 as usize], Some(Value::Array(array)) if has_lengths(array, lengths));
        let is_on_device = |var: &Var| matches!(self.values[var.0 as usize], Some(Value::Array(_)));
        arrays.iter().for_each(|var| push(is_flat(var)));
        scalars.iter().for_each(|var| push(is_on_device(var)));
        let has_exact_rows = |var: &Var| match (form, &self.values[var.0 as usize]) {
            (Form::Unrolled(n), Some(Value::Array(array))) => {
                let nbytes = usize::from(n) * array.itemsize();
                let is_aligned = nbytes.is_multiple_of(16) && array.first_element_address().is_multiple_of(16);
                is_aligned && array.ndim() > 1 && array.shape().last() == Some(&usize::from(n))
            }
            _ => false,
        };
        if matches!(form, Form::Unrolled(_)) {
            arrays.iter().for_each(|var| push(has_exact_rows(var)));
        }
        let narrow = match uses {
            Some(uses) if !uses.has_integers => Narrow::default(),
            _ => self.narrow(stmt, arrays, scalars),
        };
        let key = KernelKey { stmt: place, form, facts: bits, narrow: narrow.number };
        let mut kernels = self.compiled.kernels.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = kernels.get(&key) {
            return Ok(Some(known.clone()));
        }
        let facts = RunFacts {
            flat: arrays.iter().copied().filter(is_flat).collect(),
            on_device: scalars.iter().copied().filter(is_on_device).collect(),
            is_small,
            narrow: narrow.variables,
            exact_rows: arrays.iter().copied().filter(has_exact_rows).collect(),
            exact: match (form, &stmt.exp) {
                (Form::Unrolled(n), Exp::Gen { body, .. }) => inner_reduction(body).map(|axis| (axis.length, n.into())),
                _ => None,
            },
        };
        let program = &self.compiled.program;
        let emitted = match form {
            Form::Plain | Form::Unrolled(_) => emit(program, stmt, &facts).map(Some),
            Form::Shared(lanes) => emit_shared(program, stmt, &facts, (lanes.into(), None)),
            Form::SharedShort(lanes) => {
                emit_shared(program, stmt, &facts, (lanes.into(), Some(LONGEST_OF_LANE * usize::from(lanes))))
            }
            Form::Long => emit_long(program, stmt, &facts),
            Form::Storing => emit_storing(program, stmt, &facts),
            Form::RowsOf(width) => emit_rows(program, stmt, &facts, width),
            Form::Rows => emit_row_reduction(program, stmt, &facts),
        };
        let Some(emitted) = emitted.map_err(RunError::Problem)? else { return Ok(None) };
        let ready = Arc::new(ReadyKernel::new(emitted)?);
        kernels.insert(key, ready.clone());
        Ok(Some(ready))
    }

    /// The integers of a statement that fit in 32 bits: those of its next launch, and of all with numbers of their sizes.
    fn narrow(&self, stmt: &Stmt, arrays: &[Var], scalars: &[Var]) -> Narrow {
        let mut sizes = SmallVec::new();
        for var in scalars {
            sizes.push(
                self.scalar(*var).map_or(u8::MAX, |(low, high)| size_of_number(if low < 0 { low } else { high })),
            );
        }
        for var in arrays {
            let Some(Value::Array(array)) = &self.values[var.0 as usize] else { continue };
            sizes.push(size_of_number(array.size() as i128));
            sizes.extend(array.shape().iter().map(|length| size_of_number(*length as i128)));
        }
        let mut sets = self.compiled.narrow.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let inner = || stmt.exp.blocks().into_iter().find_map(inner_reduction).map(|axis| axis.length);
        sets.get(address(stmt), sizes, || narrow_variables(&self.compiled.program, stmt, self, inner()))
    }

    /// What kernels get for inputs. Arrays that are read at the index have the shape of the space.
    pub(super) fn inputs(&self, inputs: &[Input]) -> Ran<Vec<OwnedArg>> {
        let one = |input: &Input| {
            Ok(match input {
                Input::Element(var) | Input::Array(var) => OwnedArg::Array(self.readable(self.array(*var)?)?),
                Input::Strided(var, places) => {
                    let array = self.array(*var)?;
                    let place = |(axis, place): (usize, &Place)| {
                        Ok(match place {
                            Place::Axis(_) => Index::Slice(None, None, None),
                            Place::At(index) => Index::At(self.index(*index, &array, axis)? as isize),
                        })
                    };
                    let places: Vec<Index> = places.iter().enumerate().map(place).collect::<Ran<_>>()?;
                    let is_part = places.iter().any(|place| matches!(place, Index::At(_)));
                    OwnedArg::Array(self.readable(if is_part { array.index(&places)? } else { array })?)
                }
                Input::Index(index, array, axis) => {
                    let index = self.index(*index, &self.array(*array)?, *axis)?;
                    OwnedArg::Bytes(index.to_le_bytes().into())
                }
                Input::Device(var) => OwnedArg::Array(self.array(*var)?),
                Input::Host(var) => {
                    let (number, dtype) = self.number((*var).into())?;
                    OwnedArg::Bytes(bytes_of(number, dtype))
                }
                Input::Dim(var, axis) => {
                    OwnedArg::Bytes((self.array(*var)?.shape()[*axis] as i64).to_le_bytes().into())
                }
                Input::Length(atom) => OwnedArg::Bytes((self.length(*atom)? as i64).to_le_bytes().into()),
                Input::Flag => OwnedArg::Flag(self.ctx.out_of_bounds_flag(true)?),
            })
        };
        inputs.iter().map(one).collect()
    }

    /// A number that has to be an index.
    fn index(&self, index: Var, array: &GpuArray, axis: usize) -> Ran<i64> {
        let (index, length) = (integer(self.number(index.into())?.0), array.shape()[axis] as i64);
        if (0..length).contains(&index) || self.only_compiles() {
            return Ok(index.clamp(0, (length - 1).max(0)));
        }
        let text = format!("index {index} is out of bounds for a sequence of {length} elements");
        Err(ArrayError::index_error(text).into())
    }

    /// The array; for one without elements another one, of which an index out of bounds, which is flagged, reads the
    /// first element.
    fn readable(&self, array: GpuArray) -> Result<GpuArray> {
        if array.size() > 0 {
            return Ok(array);
        }
        let shape: Vec<usize> = array.shape().iter().map(|length| (*length).max(1)).collect();
        GpuArray::zeros(self.ctx, &shape, array.dtype(), Order::C)
    }

    pub(super) fn empty(&self, shape: &[usize], dtype: DType) -> Result<GpuArray> {
        if self.only_compiles() {
            let layout = Layout::contiguous(shape, dtype.itemsize(), Order::C);
            return Ok(GpuArray::from_buffer(self.ctx, None, layout, dtype));
        }
        match &self.buffers {
            Some(buffers) => buffers.empty(self.ctx, shape, dtype),
            None => GpuArray::empty(self.ctx, shape, dtype, Order::C),
        }
    }

    fn outputs(&self, stmt: &Stmt, shape: &[usize]) -> Ran<Vec<GpuArray>> {
        let dtypes = stmt.outs.iter().map(|out| self.compiled.program.var_type(*out).dtype);
        Ok(dtypes.map(|dtype| self.empty(shape, dtype)).collect::<Result<_>>()?)
    }

    fn set_arrays(&mut self, stmt: &Stmt, arrays: Vec<GpuArray>) {
        stmt.outs.iter().zip(arrays).for_each(|(out, array)| self.set(*out, Value::Array(array)));
    }

    /// An output for each index of a space.
    fn generate(&mut self, stmt: &Stmt, space: &[Axis]) -> Ran {
        let shape = self.lengths(space)?;
        let n = shape.iter().product::<usize>();
        let form = if n > 0 { self.nest_form(stmt, n)? } else { Form::Plain };
        if let (Form::Rows, Some(stmts)) = (form, self.compiled.distributed.get(&address(stmt))) {
            stmts.iter().try_for_each(|stmt| self.statement(stmt))?;
            return Ok(());
        }
        let outs = self.outputs(stmt, &shape)?;
        if n > 0 {
            let shared = match form {
                Form::Shared(lanes) | Form::SharedShort(lanes) => {
                    self.ready_as(stmt, &shape, form)?.map(|ready| (ready, usize::from(lanes)))
                }
                _ => None,
            };
            match shared {
                Some((ready, lanes)) if matches!(form, Form::SharedShort(_)) => {
                    self.generate_long(stmt, &ready, &outs, &shape, lanes)?;
                }
                Some((ready, lanes)) => self.launch(&ready, &outs, &[], n * lanes)?,
                None if form == Form::Plain && self.generate_rows(stmt, &outs, n)? => {}
                None => {
                    let form = if matches!(form, Form::Unrolled(_)) { form } else { Form::Plain };
                    let ready = self.ready_in(stmt, &shape, form)?;
                    self.launch(&ready, &outs, &[], n)?;
                }
            }
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }

    /// A map by a kernel for rows, if its elements are those of rows that blocks had better share.
    fn generate_rows(&self, stmt: &Stmt, outs: &[GpuArray], n: usize) -> Ran<bool> {
        let widths = self.compiled.uses.get(&address(stmt)).map_or(&[][..], |uses| &uses.widths);
        let form = |var: &Var| {
            let Some(Value::Host(Number::Int(number), _)) = &self.values[var.0 as usize] else { return None };
            // By a negative number, quotients and remainders are not those of rows.
            let width = usize::try_from(*number).ok().filter(|width| (1..=n).contains(width))?;
            let form = self.ctx.choose::<RowsForm>(&RowsProblem { n: n as i64, width: width as i64 });
            (form.times > 0).then_some((*var, width, form.times as usize))
        };
        // Indices fit in 32 bits.
        let found = if n < 1 << 31 { widths.iter().find_map(form) } else { None };
        let Some((var, width, times)) = found else { return Ok(false) };
        let Some(ready) = self.ready_as(stmt, &[n], Form::RowsOf(var))? else { return Ok(false) };
        let AnyKernel::Written(kernel) = &ready.kernel else { return Ok(false) };
        let threads = ROW_THREADS as usize;
        // Loops of elements that are close to each other are of about one length.
        let has_loops = self.compiled.uses.get(&address(stmt)).is_some_and(|uses| uses.has_loops);
        let across = if has_loops { PATCH } else { width.next_power_of_two().min(threads) };
        let blocks = width.div_ceil(across) * n.div_ceil(width).div_ceil(threads / across * times);
        let mut args = addresses_of(outs)?;
        [n, width, across, times].iter().for_each(|size| args.push_u64(*size as u64));
        self.launch_written(kernel, args, &ready, [blocks as u32, ROW_THREADS])?;
        Ok(true)
    }

    /// A map by a kernel that leaves elements with long reductions to another one.
    fn generate_long(&self, stmt: &Stmt, short: &ReadyKernel, outs: &[GpuArray], shape: &[usize], lanes: usize) -> Ran {
        let n = shape.iter().product::<usize>();
        let (long, n_long) = (self.empty(&[n], DType::I64)?, self.empty(&[1], DType::U32)?);
        let outs: Vec<GpuArray> = outs.iter().chain([&long, &n_long]).cloned().collect();
        let ready = self.ready_in(stmt, shape, Form::Long)?;
        let AnyKernel::Written(kernel) = &ready.kernel else {
            return Err(ArrayError::value_error("long reductions have another kernel").into());
        };
        if !self.only_compiles() {
            self.ctx.queue().fill_zero(used_address(&n_long)?, DType::U32.itemsize())?;
        }
        self.launch(short, &outs, &[], n * lanes)?;
        let blocks = self.ctx.device_info().resident_blocks_of(LONG_THREADS).clamp(1, n);
        self.launch_written(kernel, addresses_of(&outs)?, &ready, [blocks as u32, LONG_THREADS])
    }

    /// How a map with reductions in it runs.
    fn nest_form(&self, stmt: &Stmt, n: usize) -> Ran<Form> {
        let Exp::Gen { body, .. } = &stmt.exp else { return Ok(Form::Plain) };
        let Some(axis) = inner_reduction(body) else { return Ok(Form::Plain) };
        let is_distributed = self.compiled.distributed.contains_key(&address(stmt));
        let is_known = |var: Var| matches!(self.values[var.0 as usize], Some(Value::Host(..)));
        let uses = self.compiled.uses.get(&address(stmt));
        let (arrays, scalars) = uses.map_or((&[][..], &[][..]), |uses| (&uses.arrays[..], &uses.scalars[..]));
        let has_length = is_distributed || axis.length.as_var().is_none_or(is_known);
        let longest = if has_length { None } else { self.narrow(stmt, arrays, scalars).longest };
        let is_ragged = !has_length && longest.is_none();
        let m = if let Some(longest) = longest {
            // Such as the number of elements before each one.
            longest as usize / 2
        } else if is_ragged {
            // What the rows have together is at most as long as the longest array.
            let sizes = arrays.iter().filter_map(|var| self.array(*var).ok().map(|array| array.size()));
            sizes.max().unwrap_or(0) / n.max(1)
        } else {
            self.length(axis.length)?
        };
        let problem = NestProblem { n: n as i64, m: m as i64, ragged: is_ragged };
        Ok(match self.ctx.choose::<NestForm>(&problem).form {
            "rows" if is_distributed => Form::Rows,
            "rows" | "warp" => Form::Shared(32),
            "lanes16" => Form::Shared(16),
            "lanes8" => Form::Shared(8),
            "split" => Form::SharedShort(16),
            _ if has_length && (1..=MAX_UNROLLED).contains(&m) => Form::Unrolled(m as u8),
            _ => Form::Plain,
        })
    }

    /// Reduces rows as those of arrays are; `false` if that is not possible.
    fn reduce_rows(&mut self, stmt: &Stmt, space: &[Axis]) -> Ran<bool> {
        let shape = self.lengths(space)?;
        if shape.contains(&0) {
            return Ok(false);
        }
        let Some(ready) = self.ready_as(stmt, &shape, Form::Rows)? else { return Ok(false) };
        let AnyKernel::RowReduction(kernel) = &ready.kernel else { return Ok(false) };
        if !ready.inputs.iter().any(|input| matches!(input, Input::Strided(..))) {
            return Ok(false);
        }
        let out = self.empty(&shape[..shape.len() - 1], ready.out_dtype())?;
        let inputs = self.inputs(&ready.inputs)?;
        let mut all_strides: Vec<Vec<isize>> = Vec::with_capacity(inputs.len());
        for (input, arg) in ready.inputs.iter().zip(&inputs) {
            let mut strides = vec![0; shape.len()];
            if let (Input::Strided(_, places), OwnedArg::Array(array)) = (input, arg) {
                let axes =
                    places.iter().filter_map(|place| if let Place::Axis(axis) = place { Some(*axis) } else { None });
                axes.zip(array.strides()).for_each(|(axis, stride)| strides[axis] = *stride);
            }
            all_strides.push(strides);
        }
        let args = ready.inputs.iter().zip(&inputs).zip(&all_strides);
        let args: Vec<GeneratedKernelArg<'_>> = args
            .map(|((input, arg), strides)| match (input, arg.as_argument()) {
                (Input::Strided(..), GeneratedKernelArg::Array(view)) => {
                    GeneratedKernelArg::Array(ArrayView { shape: &shape, strides, ..view })
                }
                (_, arg) => arg,
            })
            .collect();
        if self.takes_launch() {
            // SAFETY: as in `launch`.
            unsafe { kernel.launch_axis(self.ctx, &args, &[-1], &ArrayView::from(&out))? };
        }
        let parts = ready.parts_of(out)?;
        self.set_arrays(stmt, parts);
        Ok(true)
    }

    /// Launches a kernel with its outputs, what comes behind them, and its inputs.
    pub(super) fn launch(&self, ready: &ReadyKernel, outs: &[GpuArray], more: &[OwnedArg], n: usize) -> Ran {
        if !self.takes_launch() {
            return Ok(());
        }
        let inputs = self.inputs(&ready.inputs)?;
        let flat = [n];
        let is_elementwise = matches!(ready.kernel, AnyKernel::Elementwise(_));
        let given = ready.inputs.iter().zip(&inputs).map(|(input, arg)| match input {
            Input::Element(_) if is_elementwise => flattened(arg.as_argument(), &flat),
            _ => arg.as_argument(),
        });
        let args: Vec<GeneratedKernelArg<'_>> = outs
            .iter()
            .map(|out| flattened(GeneratedKernelArg::Array(out.into()), &flat))
            .chain(more.iter().map(OwnedArg::as_argument))
            .chain(given)
            .collect();
        match &ready.kernel {
            AnyKernel::Elementwise(kernel) => {
                // SAFETY: the compiler's snippet stays inside of its arrays, which outlive the launch in the queue's
                // order.
                unsafe { kernel.launch(self.ctx, &args, IndexRange::All)? };
            }
            AnyKernel::Ranged(kernel) => {
                let range = IndexRange::Range { start: 0, stop: n as i64, step: 1 };
                // SAFETY: as above.
                unsafe { kernel.launch(self.ctx, &args, range)? };
            }
            AnyKernel::Scan(kernel) => {
                // SAFETY: as above.
                unsafe { kernel.launch(self.ctx, &args, Some(n))? };
            }
            AnyKernel::Reduction(_) | AnyKernel::RowReduction(_) | AnyKernel::Ordered(..) | AnyKernel::Written(_) => {}
        }
        Ok(())
    }

    fn reduce(&mut self, stmt: &Stmt, axis: &Axis, init: &[Atom]) -> Ran {
        let n = self.length(axis.length)?;
        if n == 0 {
            for (out, value) in stmt.outs.iter().zip(init) {
                let value = self.value(*value)?;
                self.set(*out, value);
            }
            return Ok(());
        }
        let ready = self.ready(stmt, &[n])?;
        let out = match &ready.kernel {
            AnyKernel::Ordered(kernels, step) => self.reduce_in_order(&ready, kernels, *step, n)?,
            AnyKernel::Reduction(kernel) => self.reduce_by(&ready, kernel, n, &[])?,
            _ => return Err(ArrayError::value_error("a reduction is another kernel").into()),
        };
        let parts = ready.parts_of(out)?;
        self.set_arrays(stmt, parts);
        Ok(())
    }

    /// A map together with the reduction that follows it, if there is one.
    fn generate_and_reduce(&mut self, stmt: &Stmt) -> Ran<bool> {
        let compiled = self.compiled;
        let Some((reduction, both)) = compiled.storing.get(&address(stmt)) else { return Ok(false) };
        let both = &both[0];
        let n = self.length(both.exp.space()[0].length)?;
        if n == 0 || !self.ctx.choose::<StoringForm>(&StoringProblem { n: n as i64 }).together {
            return Ok(false);
        }
        let Some(ready) = self.ready_as(both, &[n], Form::Storing)? else { return Ok(false) };
        let AnyKernel::Reduction(kernel) = &ready.kernel else { return Ok(false) };
        let outs = self.outputs(stmt, &[n])?;
        let found = self.reduce_by(&ready, kernel, n, &outs)?;
        let parts = ready.parts_of(found)?;
        both.outs.iter().zip(parts.into_iter().chain(outs)).for_each(|(out, array)| self.set(*out, array.into()));
        self.done.insert(*reduction);
        Ok(true)
    }

    fn reduce_by(&self, ready: &ReadyKernel, kernel: &ReductionKernel, n: usize, stored: &[GpuArray]) -> Ran<GpuArray> {
        let out = self.empty(&[], ready.out_dtype())?;
        if !self.takes_launch() {
            return Ok(out);
        }
        let inputs = self.inputs(&ready.inputs)?;
        let (shape, strides) = ([n], [1_isize]);
        let space = ArrayView { shape: &shape, strides: &strides, itemsize: 1, ..ArrayView::default() };
        let mut args = vec![GeneratedKernelArg::Array(space)];
        args.extend(stored.iter().map(|array| GeneratedKernelArg::Array(array.into())));
        for (input, arg) in ready.inputs.iter().zip(&inputs) {
            let arg = arg.as_argument();
            args.push(if matches!(input, Input::Element(_)) { flattened(arg, &shape) } else { arg });
        }
        // SAFETY: as in `launch`.
        unsafe { kernel.launch(self.ctx, &args, &ArrayView::from(&out))? };
        Ok(out)
    }

    /// Folds elements in their order.
    fn reduce_in_order(
        &self,
        ready: &ReadyKernel,
        kernels: &[WrittenKernel; 2],
        step: usize,
        n: usize,
    ) -> Ran<GpuArray> {
        let per_block = ORDERED_THREADS as usize / WARP;
        let resident = self.ctx.device_info().resident_blocks_of(ORDERED_THREADS).clamp(1, 1024);
        // Loops of elements differ in length: the more blocks there are, the better they fill the device.
        let resident = if step > WARP { resident } else { 8 * resident };
        // Where there is enough for all warps; loops of elements need not take as long in adjacent ones.
        let many = ORDERED_PACKS as usize;
        let is_long = step > WARP && n >= many * step * resident * per_block;
        let (kernel, packs) = if is_long { (&kernels[1], many) } else { (&kernels[0], 1) };
        let tile = step * packs * per_block;
        let share = n.div_ceil(tile).div_ceil(resident) * tile;
        let n_blocks = n.div_ceil(share);
        let out = self.empty(&[], ready.out_dtype())?;
        let (ticket, partial) = match n_blocks > 1 && !self.only_compiles() {
            true => self.ctx.queue().reduction_workspace(n_blocks * ready.out_dtype().itemsize())?,
            false => (0, 0),
        };
        let mut args = addresses_of([&out])?;
        [n, share].iter().for_each(|size| args.push_u64(*size as u64));
        [ticket, partial].iter().for_each(|address| args.push_address(*address, 0));
        self.launch_written(kernel, args, ready, [n_blocks as u32, ORDERED_THREADS])?;
        Ok(out)
    }

    /// Launches a kernel that is a text, with arguments and its inputs behind them.
    fn launch_written(
        &self,
        kernel: &WrittenKernel,
        mut args: LaunchArgs,
        ready: &ReadyKernel,
        [blocks, threads]: [u32; 2],
    ) -> Ran {
        if !self.takes_launch() {
            return Ok(());
        }
        for (arg, input) in self.inputs(&ready.inputs)?.iter().zip(&ready.inputs) {
            match arg {
                OwnedArg::Array(array) => args.push_address(used_address(array)?, 0),
                OwnedArg::Flag(address) => args.push_address(*address, 0),
                OwnedArg::Bytes(bytes) => {
                    let dtype = |var: &Var| self.compiled.program.var_type(*var).dtype;
                    let is_complex = matches!(input, Input::Host(var) if dtype(var).is_complex());
                    args.push(bytes, if is_complex { bytes.len() / 2 } else { bytes.len() });
                }
            }
        }
        let kernel = self.ctx.compiled_kernel(kernel)?;
        self.ctx.queue().launch(&kernel, [blocks, 1, 1], [threads, 1, 1], 0, args.view())?;
        Ok(())
    }

    fn scan(&mut self, stmt: &Stmt, axis: &Axis, prefix: Option<&[Atom]>) -> Ran {
        let n = self.length(axis.length)?;
        let n_results = n.max(usize::from(prefix.is_some()));
        let outs = self.outputs(stmt, &[n_results])?;
        if n > 0 {
            let ready = self.ready(stmt, &[n])?;
            self.launch(&ready, &outs, &[], n)?;
        } else if let Some(prefix) = prefix {
            for (out, value) in outs.iter().zip(prefix).filter(|_| !self.only_compiles()) {
                match self.value(*value)? {
                    Value::Host(number, dtype) => out.write(&bytes_of(number, dtype), Order::C)?,
                    Value::Array(value) => out.assign(&value)?,
                }
            }
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }

    fn scan_rows(&mut self, stmt: &Stmt, space: &[Axis]) -> Ran {
        let shape = self.lengths(space)?;
        let outs = self.outputs(stmt, &shape)?;
        if !shape.contains(&0) {
            let ready = self.ready(stmt, &shape)?;
            let rows = shape[..shape.len() - 1].iter().product();
            self.launch(&ready, &outs, &[], rows)?;
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }

    fn filter(&mut self, stmt: &Stmt, axis: &Axis) -> Ran {
        let n = self.length(axis.length)?;
        let mut outs = self.outputs(stmt, &[n])?;
        if n > 0 {
            let ready = self.ready(stmt, &[n])?;
            let count = self.empty(&[], DType::I64)?;
            outs.push(count.clone());
            self.launch(&ready, &outs, &[], n)?;
            outs.pop();
            let kept = if self.only_compiles() { n as isize } else { integer(self.known(&count.into())?.0) as isize };
            let part = [Index::Slice(Some(0), Some(kept), None)];
            outs = outs.iter().map(|out| out.index(&part)).collect::<Result<_>>()?;
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }

    fn rows(&mut self, stmt: &Stmt, axis: &Axis, offsets: Var) -> Ran {
        let n = self.length(axis.length)?;
        let total = self.known(&self.array(offsets)?.index(&[Index::At(n as isize)])?.into())?;
        let outs = self.outputs(stmt, &[usize::try_from(integer(total.0)).unwrap_or(0)])?;
        if n > 0 && outs.iter().any(|out| out.size() > 0) {
            let ready = self.ready(stmt, &[n])?;
            self.launch(&ready, &outs, &[], n)?;
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }

    fn scatter(&mut self, stmt: &Stmt, targets: &[Var], axis: &Axis) -> Ran {
        let n = self.length(axis.length)?;
        let copy = |target: &Var| {
            let target = self.array(*target)?;
            let is_copied = !self.only_compiles();
            Ok(if is_copied { target.copy(Some(Order::C)) } else { self.empty(target.shape(), target.dtype()) }?)
        };
        let outs: Vec<GpuArray> = targets.iter().map(copy).collect::<Ran<_>>()?;
        if n > 0 {
            let ready = self.ready(stmt, &[n])?;
            let length = outs.first().map_or(0, GpuArray::size) as i64;
            self.launch(&ready, &outs, &[OwnedArg::Bytes(length.to_le_bytes().into())], n)?;
        }
        self.set_arrays(stmt, outs);
        Ok(())
    }
}

impl LaunchNumbers for Run<'_> {
    fn scalar(&self, var: Var) -> Option<(i128, i128)> {
        match &self.values[var.0 as usize] {
            Some(Value::Host(Number::Int(value), _)) => Some(numbers_of_size(size_of_number(*value))),
            Some(Value::Host(Number::Bool(value), _)) => Some(((*value).into(), (*value).into())),
            _ => None,
        }
    }

    fn length(&self, array: Var, axis: usize) -> Option<i128> {
        let Some(Value::Array(array)) = &self.values[array.0 as usize] else { return None };
        Some(numbers_of_size(size_of_number(*array.shape().get(axis)? as i128)).1)
    }

    fn size(&self, array: Var) -> Option<i128> {
        let Some(Value::Array(array)) = &self.values[array.0 as usize] else { return None };
        Some(numbers_of_size(size_of_number(array.size() as i128)).1)
    }
}

/// How often a loop of the host asks whether it is interrupted.
const INTERRUPT_CHECKS: Duration = Duration::from_millis(20);

/// Threads of a warp.
const WARP: usize = 32;

/// Columns of a block whose elements have loops; a warp has two rows of them.
const PATCH: usize = 16;

/// The most elements of a reduction for which a kernel of its own is made.
const MAX_UNROLLED: usize = 16;

/// Values of a reduction for each lane that shares it, beyond which a block has it.
const LONGEST_OF_LANE: usize = 32;

/// The address of an array that work in the current queue is about to use.
fn used_address(array: &GpuArray) -> Result<u64> {
    array.buffer().map_or(Ok(0), |buffer| buffer.address_recording_use())?;
    Ok(array.first_element_address())
}

/// Arrays as the first arguments of a kernel.
fn addresses_of<'a>(arrays: impl IntoIterator<Item = &'a GpuArray>) -> Result<LaunchArgs> {
    let mut args = LaunchArgs::new();
    for array in arrays {
        args.push_address(used_address(array)?, 0);
    }
    Ok(args)
}

/// The axis of the first reduction in a body.
pub(super) fn inner_reduction(block: &Block) -> Option<Axis> {
    block.stmts.iter().find_map(|stmt| match &stmt.exp {
        Exp::Reduce { space, .. } => space.last().copied(),
        Exp::If { then, other, .. } => inner_reduction(then).or_else(|| inner_reduction(other)),
        _ => None,
    })
}

/// What an argument of a kernel is made of.
pub(super) enum OwnedArg {
    Array(GpuArray),
    Bytes(Vec<u8>),
    Flag(u64),
}

impl OwnedArg {
    pub(super) fn as_argument(&self) -> GeneratedKernelArg<'_> {
        match self {
            OwnedArg::Array(array) => GeneratedKernelArg::Array(array.into()),
            OwnedArg::Bytes(bytes) => GeneratedKernelArg::Bytes(bytes),
            OwnedArg::Flag(ptr) => GeneratedKernelArg::Array(ArrayView {
                ptr: *ptr,
                shape: &[1],
                strides: &[4],
                itemsize: 4,
                ..ArrayView::default()
            }),
        }
    }
}

/// An array without gaps as one axis.
pub(super) fn flattened<'v>(arg: GeneratedKernelArg<'v>, shape: &'v [usize; 1]) -> GeneratedKernelArg<'v> {
    match arg {
        GeneratedKernelArg::Array(view) => {
            GeneratedKernelArg::Array(ArrayView { shape, strides: strides_of(view.itemsize), ..view })
        }
        other => other,
    }
}

/// A one.
fn one(dtype: DType) -> Number {
    match dtype {
        DType::Bool => Number::Bool(true),
        dtype if dtype.is_integer() => Number::Int(1),
        dtype if dtype.is_complex() => Number::Complex(1.0, 0.0),
        _ => Number::Float(1.0),
    }
}

/// The stride of elements of one axis.
fn strides_of(itemsize: usize) -> &'static [isize] {
    match itemsize {
        1 => &[1],
        2 => &[2],
        4 => &[4],
        8 => &[8],
        _ => &[16],
    }
}

fn has_lengths(array: &GpuArray, lengths: &[usize]) -> bool {
    // Of a sequence with more elements the first ones are read.
    match (array.shape(), lengths) {
        ([_], [_]) => true,
        (shape, lengths) => shape == lengths,
    }
}

pub(super) fn index_value(value: i64) -> Value {
    Value::Host(Number::Int(value.into()), DType::I64)
}
