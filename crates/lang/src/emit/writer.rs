//! Writes the statements of an element.

use super::numbers::{Functions, c_name, c_type, literal};
use super::{Facts, Input, Place};
use crate::ir::{Atom, Axis, Block, Direction, Exp, Lambda, Number, Program, Stmt, Var};
use crate::problem::{Code, Problem};
use crate::span::Span;
use rtcg_codegen::array::{Op, scalar_helpers};
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::snippet::mentions_name;
use rtcg_hal::DType;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Text that is being written, and what it uses.
pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    facts: &'a dyn Facts,
    /// What variables are in C; those that are missing come from outside.
    names: HashMap<Var, String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) functions: Functions,
    dtypes: BTreeSet<DType>,
    uses_clamp: bool,
    uses_segment: bool,
    /// The lengths and the indices of the kernel's own space, for elements that are read at its index.
    pub(super) flat: Option<(Vec<Atom>, Vec<Var>)>,
    /// Sequences of the element, which exist only while something loops over them.
    locals: HashMap<Var, (usize, &'a Stmt)>,
    /// The indices of the space, if the kernel walks over arrays of any strides.
    pub(super) walked: Option<Vec<Var>>,
    /// Lengths that are known by their arrays and axes, and indices of the host that are inside of such a length.
    lengths: HashMap<Var, (Var, usize)>,
    inside: HashMap<Var, Var>,
    /// How many lanes share a reduction; 0 if each thread has its own.
    pub(super) lanes: usize,
    /// Longer reductions are left to another kernel.
    pub(super) longest: Option<usize>,
    /// Whether the text is a device function's, where such an element is a parameter.
    pub(crate) is_function: bool,
    pub(super) indent: usize,
    /// The index and the width of rows whose columns and rows are known.
    pub(super) rows: Option<(Var, Var)>,
    /// What stands for a read at constant offsets, in stencils.
    pub(crate) relative: Option<RelativeReads>,
}

/// Lanes of a warp.
const WARP: usize = 32;

/// The C of an array's elements at offsets from the one that is computed.
pub(crate) type RelativeReads = HashMap<(Var, Vec<i64>), String>;

pub(crate) type Written<T = ()> = Result<T, Box<Problem>>;

impl<'a> Writer<'a> {
    pub(crate) fn new(program: &'a Program, facts: &'a dyn Facts) -> Self {
        Self {
            program,
            facts,
            names: HashMap::new(),
            inputs: Vec::new(),
            functions: Functions::new(program.contracts),
            dtypes: BTreeSet::new(),
            uses_clamp: false,
            uses_segment: false,
            flat: None,
            locals: HashMap::new(),
            walked: None,
            lengths: HashMap::new(),
            inside: HashMap::new(),
            lanes: 0,
            longest: None,
            is_function: false,
            indent: 1,
            rows: None,
            relative: None,
        }
    }

    /// Elements of arrays that have the lengths of this space are read at the kernel's index.
    pub(crate) fn set_flat(&mut self, space: &[Axis]) {
        let lengths = space.iter().map(|axis| axis.length).collect();
        self.flat = Some((lengths, space.iter().map(|axis| axis.index).collect()));
    }

    /// What stands before kernels.
    pub(crate) fn preamble(&self) -> String {
        let mut text = scalar_helpers(self.dtypes.iter().copied());
        if self.uses_clamp {
            text.push_str(CLAMP_SOURCE);
        }
        if self.lanes > 0 {
            text.push_str(&super::lane_source("rtcg_exchanged", "__shfl_xor_sync", self.lanes.min(WARP)));
        }
        if self.uses_segment {
            text.push_str(SEGMENT_SOURCE);
        }
        if self.functions.divides {
            text.push_str(super::numbers::DIVISION_SOURCE);
        }
        if self.functions.keeps_apart {
            text.push_str(&super::numbers::opaque_source(&self.dtypes));
        }
        text.push_str(&self.functions.text);
        text
    }

    /// Makes sure that text can use values of a dtype.
    pub(crate) fn mention(&mut self, dtype: DType) {
        self.dtypes.insert(dtype);
    }

    /// Statements that declare the indices of a space from `i`.
    pub(crate) fn declare_indices(&mut self, out: &mut String, space: &[Axis]) {
        let lengths: Vec<Atom> = space.iter().map(|axis| axis.length).collect();
        let is_small = self.facts.is_small(&lengths);
        let word = if is_small { "unsigned" } else { "unsigned long long" };
        match space {
            [] => {}
            [axis] => {
                let name = self.declare(axis.index);
                // Compilers see then that it is not negative, and compute with 32 bits where that is enough.
                let index = if is_small { "(unsigned)i" } else { "i" };
                let ctype = self.type_of(axis.index);
                self.line(out, &format!("const {ctype} {name} = ({ctype}){index};"));
            }
            _ => {
                self.line(out, &format!("{word} rtcg_rest = ({word})i;"));
                for (at, axis) in space.iter().enumerate().rev() {
                    let (name, ctype) = (self.declare(axis.index), self.type_of(axis.index));
                    if at == 0 {
                        self.line(out, &format!("const {ctype} {name} = rtcg_rest;"));
                    } else {
                        let length = self.length_text(axis.length);
                        self.line(
                            out,
                            &format!(
                                "const {ctype} {name} = rtcg_rest % ({word}){length}; rtcg_rest /= ({word}){length};"
                            ),
                        );
                    }
                }
            }
        }
    }

    /// The C type of a variable of the element.
    pub(crate) fn type_of(&self, var: Var) -> String {
        if self.is_narrow(var.into()) { c_name(DType::I32) } else { c_name(self.program.var_type(var).dtype) }
    }

    /// Whether a number of int64 is one of int32 in C.
    pub(super) fn is_narrow(&self, atom: Atom) -> bool {
        match atom {
            Atom::Var(var) => self.program.var_type(var).dtype == DType::I64 && self.facts.is_narrow(var),
            Atom::Const(Number::Int(value), DType::I64) => i32::try_from(value).is_ok(),
            Atom::Const(..) => false,
        }
    }

    /// Whether there are integers of 64 bits among operands, and all operands fit in int32.
    fn are_narrow(&self, atoms: &[Atom]) -> bool {
        let fits = |atom: &Atom| match self.program.dtype(*atom) {
            DType::I64 => self.is_narrow(*atom),
            DType::I32 | DType::Bool => true,
            dtype => dtype.is_integer() && dtype.itemsize() < 4,
        };
        atoms.iter().any(|atom| self.program.dtype(*atom) == DType::I64) && atoms.iter().all(fits)
    }

    /// An operand of 32 bits.
    fn narrow_atom(&mut self, atom: Atom) -> String {
        match atom {
            Atom::Const(number, _) => literal(number, DType::I32),
            // What comes from outside of the element has 64 bits.
            Atom::Var(var) if !self.names.contains_key(&var) => format!("(int){}", self.atom(atom)),
            Atom::Var(_) => self.atom(atom),
        }
    }

    /// A name for a variable of the element.
    pub(crate) fn declare(&mut self, var: Var) -> String {
        let name = format!("v{}", var.0);
        self.names.insert(var, name.clone());
        self.dtypes.insert(self.program.var_type(var).dtype);
        name
    }

    /// Whether a variable of the element occurs in text.
    pub(crate) fn is_mentioned(&self, var: Var, text: &str, values: &[String]) -> bool {
        self.names.get(&var).is_some_and(|name| mentions_name(text, name) || values.contains(name))
    }

    pub(crate) fn name(&mut self, var: Var, text: impl Into<String>) {
        self.names.insert(var, text.into());
        self.dtypes.insert(self.program.var_type(var).dtype);
    }

    pub(crate) fn line(&self, out: &mut String, text: &str) {
        let _ = writeln!(out, "{}{text}", "  ".repeat(self.indent));
    }

    pub(crate) fn indented<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.indent += 1;
        let found = inner(self);
        self.indent -= 1;
        found
    }

    pub(crate) fn input(&mut self, input: Input) {
        if !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
    }

    /// A length of a space, which the host knows.
    fn length_text(&mut self, length: Atom) -> String {
        match length {
            Atom::Const(..) => self.atom(length),
            Atom::Var(var) if self.names.contains_key(&var) => self.atom(length),
            Atom::Var(_) => {
                self.input(Input::Length(length));
                input_name(&Input::Length(length))
            }
        }
    }

    /// An operand as C.
    pub(crate) fn atom(&mut self, atom: Atom) -> String {
        match atom {
            Atom::Const(number, dtype) => {
                self.dtypes.insert(dtype);
                literal(number, dtype)
            }
            Atom::Var(var) => {
                if let Some(name) = self.names.get(&var) {
                    return name.clone();
                }
                self.dtypes.insert(self.program.var_type(var).dtype);
                let is_on_device = self.facts.is_on_device(var);
                let input = if is_on_device { Input::Device(var) } else { Input::Host(var) };
                let name = input_name(&input);
                self.input(input);
                if is_on_device { format!("{name}[0]") } else { name }
            }
        }
    }

    /// The statements of a block; returns its results as C.
    pub(crate) fn block(&mut self, out: &mut String, block: &'a Block) -> Written<Vec<String>> {
        self.statements(out, block)?;
        Ok(block.results.iter().map(|atom| self.atom(*atom)).collect())
    }

    /// The statements alone.
    pub(super) fn statements(&mut self, out: &mut String, block: &'a Block) -> Written {
        block.stmts.iter().try_for_each(|stmt| self.statement(out, stmt))
    }

    fn define(&mut self, out: &mut String, var: Var, value: &str) {
        let (name, ctype) = (self.declare(var), self.type_of(var));
        self.line(out, &format!("const {ctype} {name} = {value};"));
    }

    fn statement(&mut self, out: &mut String, stmt: &'a Stmt) -> Written {
        match &stmt.exp {
            Exp::Length { array, axis: 0 } if self.locals.contains_key(array) => {
                let length = self.local_length(out, *array)?;
                self.define(out, stmt.outs[0], &length);
            }
            Exp::Read { array, .. } if self.locals.contains_key(array) => return Err(unsupported(stmt)),
            Exp::Gen { space, .. } | Exp::Scan { space, prefix: None, .. } | Exp::Filter { space, .. }
                if space.len() == 1 =>
            {
                stmt.outs.iter().enumerate().for_each(|(which, var)| {
                    self.locals.insert(*var, (which, stmt));
                });
            }
            Exp::Prim { op: op @ (Op::Remainder | Op::FloorDivide), args, .. }
                if self.rows.is_some_and(|(index, width)| args.as_slice() == [index.into(), width.into()]) =>
            {
                self.define(out, stmt.outs[0], if *op == Op::Remainder { "rtcg_column" } else { "rtcg_row" });
            }
            Exp::Prim { op, compute, args } => {
                let out_dtype = self.program.var_type(stmt.outs[0]).dtype;
                let fits = out_dtype != DType::I64 || self.is_narrow(stmt.outs[0].into());
                let is_narrow = *compute == DType::I64 && fits && self.are_narrow(args);
                let of = |dtype: DType| if is_narrow && dtype == DType::I64 { DType::I32 } else { dtype };
                self.dtypes.insert(of(*compute));
                let operand = |arg: &Atom| {
                    let dtype = self.program.dtype(*arg);
                    let is_cut = is_narrow && dtype == DType::I64;
                    (if is_cut { self.narrow_atom(*arg) } else { self.atom(*arg) }, of(dtype))
                };
                let operands: Vec<(String, DType)> = args.iter().map(operand).collect();
                let value = self.functions.expression(*op, of(*compute), of(out_dtype), &operands);
                self.define(out, stmt.outs[0], &value);
            }
            Exp::Cast { arg, to } => {
                let from = self.program.dtype(*arg);
                let value = self.atom(*arg);
                let value = if from == *to { value } else { format!("rt_cast<{}>(rt_load({value}))", c_name(*to)) };
                self.define(out, stmt.outs[0], &value);
            }
            Exp::Read { array, index, .. } => {
                let value = self.element(*array, index);
                self.define(out, stmt.outs[0], &value);
            }
            Exp::Length { array, axis } => {
                self.lengths.insert(stmt.outs[0], (*array, *axis));
                let input = Input::Dim(*array, *axis);
                let value = input_name(&input);
                self.input(input);
                self.define(out, stmt.outs[0], &value);
            }
            // Elements of rows have no branches: the index of each is needed by all.
            Exp::Clamp { index: Atom::Var(index), length: Atom::Var(length) }
                if self.walked.is_some()
                    && !self.names.contains_key(index)
                    && !self.facts.is_on_device(*index)
                    && self.lengths.contains_key(length) =>
            {
                let (array, axis) = self.lengths[length];
                let input = Input::Index(*index, array, axis);
                self.name(stmt.outs[0], input_name(&input));
                self.inside.insert(stmt.outs[0], *index);
                self.input(input);
            }
            Exp::Clamp { index, length } => {
                self.uses_clamp = true;
                self.input(Input::Flag);
                let is_narrow = self.are_narrow(&[*index, *length]);
                let mut operand = |atom: Atom| if is_narrow { self.narrow_atom(atom) } else { self.atom(atom) };
                let (index, length) = (operand(*index), operand(*length));
                let ctype = c_name(if is_narrow { DType::I32 } else { DType::I64 });
                let value = format!("rtcg_clamp<{ctype}>({index}, {length}, {})", input_name(&Input::Flag));
                self.define(out, stmt.outs[0], &value);
            }
            Exp::Same { lengths, .. } => {
                let value = self.atom(lengths[0]);
                self.define(out, stmt.outs[0], &value);
            }
            Exp::Segment { offsets, at } => {
                self.uses_segment = true;
                let (array, dim) = (Input::Array(*offsets), Input::Dim(*offsets, 0));
                let at = self.atom(*at);
                let value = format!("rtcg_segment({}, {}, {at})", input_name(&array), input_name(&dim));
                self.input(array);
                self.input(dim);
                self.dtypes.insert(DType::I64);
                self.define(out, stmt.outs[0], &value);
            }
            Exp::If { cond, then, other } => self.conditional(out, stmt, *cond, then, other)?,
            Exp::Loop { params, init, cond, body } => self.repetition(out, stmt, params, init, cond, body)?,
            Exp::Reduce { space, body, op, init, .. } if space.len() == 1 => {
                self.reduction(out, &stmt.outs, space[0], body, op, init)?;
            }
            Exp::Row { .. } | Exp::Slice { .. } => {}
            _ => return Err(unsupported(stmt)),
        }
        Ok(())
    }

    /// The length of a sequence of the element; that of a filter is counted.
    fn local_length(&mut self, out: &mut String, array: Var) -> Written<String> {
        let Some((_, stmt)) = self.locals.get(&array).copied() else { return Ok("0".into()) };
        let Exp::Filter { space, body } = &stmt.exp else { return Ok(self.length_text(stmt.exp.space()[0].length)) };
        let count = format!("count_{}", array.0);
        self.line(out, &format!("long long {count} = 0;"));
        self.for_each_index(out, space[0], |this, out| {
            let values = this.block(out, body)?;
            this.line(out, &format!("if ({}) ++{count};", values[0]));
            Ok(())
        })?;
        Ok(count)
    }

    /// A loop over a space of one axis.
    fn for_each_index(
        &mut self,
        out: &mut String,
        axis: Axis,
        inner: impl FnOnce(&mut Self, &mut String) -> Written,
    ) -> Written {
        let length = self.length_text(axis.length);
        let (index, ctype) = (self.declare(axis.index), self.type_of(axis.index));
        self.line(out, &format!("for ({ctype} {index} = 0; {index} < {length}; ++{index}) {{"));
        self.indented(|this| inner(this, out))?;
        self.line(out, "}");
        Ok(())
    }

    /// Stores the elements of sequences of the element from a place on; `results` are all that one statement makes, or
    /// maps.
    pub(super) fn store_local(&mut self, out: &mut String, array: Var, target: &str, base: &str) -> Written {
        let Some((which, stmt)) = self.locals.get(&array).copied() else {
            let text = "a map gives a sequence that kernels cannot store yet";
            return Err(Box::new(Problem::new(Code::Nested, Span::default(), text)));
        };
        match &stmt.exp {
            Exp::Gen { space, body } => self.for_each_index(out, space[0], |this, out| {
                let values = this.block(out, body)?;
                let index = this.names[&space[0].index].clone();
                this.line(out, &format!("{target}[{base} + {index}] = {};", values[which]));
                Ok(())
            }),
            Exp::Filter { space, body } => {
                let at = format!("at_{}", array.0);
                self.line(out, &format!("long long {at} = {base};"));
                self.for_each_index(out, space[0], |this, out| {
                    let values = this.block(out, body)?;
                    this.line(out, &format!("if ({}) {target}[{at}++] = {};", values[0], values[which + 1]));
                    Ok(())
                })
            }
            Exp::Scan { space, body, op, direction, .. } => {
                self.running_results(out, space[0], body, op, *direction, &stmt.outs, |this, out, index, sums| {
                    this.line(out, &format!("{target}[{base} + {index}] = {};", sums[which]));
                })
            }
            _ => Err(unsupported(stmt)),
        }
    }

    /// A scan by one thread; `store` is given the index and the results there.
    #[expect(clippy::too_many_arguments, reason = "what a scan is made of")]
    pub(super) fn running_results(
        &mut self,
        out: &mut String,
        axis: Axis,
        body: &'a Block,
        op: &'a Lambda,
        direction: Direction,
        outs: &[Var],
        store: impl FnOnce(&mut Self, &mut String, &str, &[String]),
    ) -> Written {
        let length = self.length_text(axis.length);
        let index = self.declare(axis.index);
        let sums: Vec<String> = outs.iter().map(|var| format!("sum_{}", var.0)).collect();
        for (var, sum) in outs.iter().zip(&sums) {
            self.line(out, &format!("{} {sum};", c_name(self.program.var_type(*var).dtype)));
        }
        let step = format!("step_{}", axis.index.0);
        self.line(out, &format!("for (long long {step} = 0; {step} < {length}; ++{step}) {{"));
        let place = if direction == Direction::Forward { step.clone() } else { format!("{length} - 1 - {step}") };
        self.indented(|this| {
            this.line(out, &format!("const long long {index} = {place};"));
            let values = this.block(out, body)?;
            this.line(out, &format!("if ({step} == 0) {{"));
            sums.iter().zip(&values).for_each(|(sum, value)| this.line(out, &format!("  {sum} = {value};")));
            this.line(out, "} else {");
            this.indented(|this| {
                let next = this.combine(out, op, &sums, &values)?;
                this.assign_all(out, outs, &sums, &next);
                Written::Ok(())
            })?;
            this.line(out, "}");
            store(this, out, &index, &sums);
            Written::Ok(())
        })?;
        self.line(out, "}");
        Ok(())
    }

    /// An element of an array as C.
    pub(super) fn element(&mut self, array: Var, index: &[Atom]) -> String {
        self.dtypes.insert(self.program.var_type(array).dtype);
        if let Some(relative) = &self.relative {
            let offset = |at: &Atom| match at {
                Atom::Const(Number::Int(value), _) => i64::try_from(*value).unwrap_or(0),
                _ => 0,
            };
            return relative.get(&(array, index.iter().map(offset).collect())).cloned().unwrap_or_default();
        }
        if let Some((lengths, indices)) = &self.flat
            && !index.is_empty()
            && index.len() == indices.len()
            && index.iter().zip(indices).all(|(at, own)| *at == Atom::Var(*own))
            && self.facts.has_lengths(array, lengths)
        {
            self.input(Input::Element(array));
            let at = if self.is_function { "_i" } else { "[i]" };
            return format!("{}{at}", input_name(&Input::Element(array)));
        }
        if let Some(input) = self.strided(array, index) {
            let at = if self.is_function { "_i" } else { "[i]" };
            let text = format!("{}{at}", input_name(&input));
            self.input(input);
            return text;
        }
        self.input(Input::Array(array));
        let mut name = input_name(&Input::Array(array));
        let row = self.facts.exact_row(array).filter(|_| index.len() > 1);
        if row.is_some() {
            // Compilers read several elements at once then.
            let ctype = c_name(self.program.var_type(array).dtype);
            name = format!("((const {ctype} *)__builtin_assume_aligned({name}, 16))");
        }
        let is_narrow = self.facts.is_narrow(array) && self.are_narrow(index);
        let operand = |this: &mut Self, at: Atom| if is_narrow { this.narrow_atom(at) } else { this.atom(at) };
        let mut place = match index.first() {
            Some(first) => operand(self, *first),
            None => "0".into(),
        };
        for (axis, at) in index.iter().enumerate().skip(1) {
            let dim = Input::Dim(array, axis);
            let length = match row.filter(|_| axis + 1 == index.len()) {
                Some(row) => row.to_string(),
                None if is_narrow => format!("(int){}", input_name(&dim)),
                None => input_name(&dim),
            };
            self.input(dim);
            place = format!("({place}) * {length} + {}", operand(self, *at));
        }
        format!("{name}[{place}]")
    }

    /// An array that is read at indices of the space, where kernels walk over arrays.
    fn strided(&self, array: Var, index: &[Atom]) -> Option<Input> {
        let own = self.walked.as_ref()?;
        let place = |at: &Atom| {
            let axis = own.iter().position(|axis| Atom::Var(*axis) == *at).map(Place::Axis);
            axis.or_else(|| at.as_var().and_then(|var| self.inside.get(&var)).map(|index| Place::At(*index)))
        };
        let places = index.iter().map(place).collect::<Option<Vec<_>>>()?;
        let axes: Vec<&Place> = places.iter().filter(|place| matches!(place, Place::Axis(_))).collect();
        let is_each_once = axes.iter().enumerate().all(|(at, axis)| !axes[..at].contains(axis));
        (is_each_once && !axes.is_empty()).then_some(Input::Strided(array, places))
    }

    fn declare_mutable(&mut self, out: &mut String, var: Var, value: Option<&str>) -> String {
        let (name, ctype) = (self.declare(var), self.type_of(var));
        let start = value.map_or_else(String::new, |value| format!(" = {value}"));
        self.line(out, &format!("{ctype} {name}{start};"));
        name
    }

    fn conditional(&mut self, out: &mut String, stmt: &Stmt, cond: Atom, then: &'a Block, other: &'a Block) -> Written {
        let cond = self.atom(cond);
        let names: Vec<String> = stmt.outs.iter().map(|var| self.declare_mutable(out, *var, None)).collect();
        for (head, block) in [(format!("if ({cond}) {{"), then), ("} else {".to_owned(), other)] {
            self.line(out, &head);
            self.indented(|this| {
                let values = this.block(out, block)?;
                names.iter().zip(values).for_each(|(name, value)| this.line(out, &format!("{name} = {value};")));
                Written::Ok(())
            })?;
        }
        self.line(out, "}");
        Ok(())
    }

    fn repetition(
        &mut self,
        out: &mut String,
        stmt: &Stmt,
        params: &[Var],
        init: &[Atom],
        cond: &'a Block,
        body: &'a Block,
    ) -> Written {
        let starts: Vec<String> = init.iter().map(|value| self.atom(*value)).collect();
        let names: Vec<String> =
            params.iter().zip(&starts).map(|(var, start)| self.declare_mutable(out, *var, Some(start))).collect();
        self.line(out, "for (;;) {");
        self.indented(|this| {
            let value = this.block(out, cond)?;
            this.line(out, &format!("if (!({})) break;", value[0]));
            let next = this.block(out, body)?;
            this.assign_all(out, params, &names, &next);
            Written::Ok(())
        })?;
        self.line(out, "}");
        stmt.outs.iter().zip(names).for_each(|(var, name)| self.name(*var, name));
        Ok(())
    }

    /// Assigns values that may be made of the names themselves.
    fn assign_all(&self, out: &mut String, vars: &[Var], names: &[String], values: &[String]) {
        let is_simple = values.iter().all(|value| !names.contains(value));
        if is_simple {
            names.iter().zip(values).for_each(|(name, value)| self.line(out, &format!("{name} = {value};")));
            return;
        }
        for ((var, name), value) in vars.iter().zip(names).zip(values) {
            let ctype = self.type_of(*var);
            self.line(out, &format!("const {ctype} next_{name} = {value};"));
        }
        names.iter().for_each(|name| self.line(out, &format!("{name} = next_{name};")));
    }

    /// A reduction by one thread.
    pub(crate) fn reduction(
        &mut self,
        out: &mut String,
        outs: &[Var],
        axis: Axis,
        body: &'a Block,
        op: &'a Lambda,
        init: &[Atom],
    ) -> Written {
        let starts: Vec<String> = init.iter().map(|value| self.atom(*value)).collect();
        let begins_with_first = init.is_empty();
        let names: Vec<String> = outs
            .iter()
            .enumerate()
            .map(|(at, var)| self.declare_mutable(out, *var, starts.get(at).map(String::as_str)))
            .collect();
        let exact = self.facts.exact_length(axis.length).filter(|_| self.lanes == 0);
        if exact.is_some() {
            self.line(out, "#pragma unroll");
        }
        let length = if let Some(exact) = exact {
            exact.to_string()
        } else if self.is_narrow(axis.index.into()) && self.is_narrow(axis.length) {
            format!("(int)({})", self.length_text(axis.length))
        } else {
            self.length_text(axis.length)
        };
        let length = match self.longest {
            Some(longest) => {
                self.line(out, &format!("rtcg_is_long = rtcg_is_long || {length} > {longest};"));
                format!("(rtcg_is_long ? 0 : {length})")
            }
            None => length,
        };
        let (index, ctype) = (self.declare(axis.index), self.type_of(axis.index));
        let (first, step) = match self.lanes {
            0 => ("0".to_owned(), format!("++{index}")),
            lanes => ("rtcg_lane".to_owned(), format!("{index} += {lanes}")),
        };
        self.line(out, &format!("for ({ctype} {index} = {first}; {index} < {length}; {step}) {{"));
        self.indented(|this| {
            let values = this.block(out, body)?;
            if begins_with_first {
                this.line(out, &format!("if ({index} == 0) {{"));
                names.iter().zip(&values).for_each(|(name, value)| this.line(out, &format!("  {name} = {value};")));
                this.line(out, "} else {");
            }
            let next = this.combine(out, op, &names, &values)?;
            this.assign_all(out, outs, &names, &next);
            if begins_with_first {
                this.line(out, "}");
            }
            Written::Ok(())
        })?;
        self.line(out, "}");
        if self.lanes > 0 {
            self.combine_lanes(out, op, outs, &names)?;
        }
        Ok(())
    }

    /// The values of all lanes, which begin with a neutral one, in each of them.
    fn combine_lanes(&mut self, out: &mut String, op: &'a Lambda, outs: &[Var], names: &[String]) -> Written {
        let distance = format!("distance_{}", outs[0].0);
        let most = self.lanes.min(WARP) / 2;
        self.line(out, &format!("for (int {distance} = {most}; {distance} > 0; {distance} /= 2) {{"));
        self.indented(|this| {
            let others: Vec<String> = outs
                .iter()
                .zip(names)
                .map(|(var, name)| {
                    let other = format!("other_{name}");
                    let ctype = this.type_of(*var);
                    this.line(out, &format!("const {ctype} {other} = rtcg_exchanged({name}, {distance});"));
                    other
                })
                .collect();
            let next = this.combine(out, op, names, &others)?;
            this.assign_all(out, outs, names, &next);
            Written::Ok(())
        })?;
        self.line(out, "}");
        if self.lanes > WARP { self.combine_warps(out, op, outs, names) } else { Ok(()) }
    }

    /// The values of a block's warps in each of its threads, in the order of warps.
    fn combine_warps(&mut self, out: &mut String, op: &'a Lambda, outs: &[Var], names: &[String]) -> Written {
        let n_warps = self.lanes / WARP;
        let types: Vec<String> = outs.iter().map(|var| self.type_of(*var)).collect();
        for (name, ctype) in names.iter().zip(&types) {
            self.line(out, &format!("__shared__ __align__(16) char memory_{name}[{n_warps} * sizeof({ctype})];"));
            self.line(out, &format!("{ctype} *const all_{name} = ({ctype} *)memory_{name};"));
        }
        self.line(out, "__syncthreads();");
        for name in names {
            self.line(out, &format!("if (rtcg_lane % {WARP} == 0) all_{name}[rtcg_lane / {WARP}] = {name};"));
        }
        self.line(out, "__syncthreads();");
        names.iter().for_each(|name| self.line(out, &format!("{name} = all_{name}[0];")));
        let warp = format!("warp_{}", outs[0].0);
        self.line(out, &format!("for (int {warp} = 1; {warp} < {n_warps}; ++{warp}) {{"));
        self.indented(|this| {
            let others: Vec<String> = names.iter().map(|name| format!("all_{name}[{warp}]")).collect();
            let next = this.combine(out, op, names, &others)?;
            this.assign_all(out, outs, names, &next);
            Written::Ok(())
        })?;
        self.line(out, "}");
        Ok(())
    }

    /// The results of a function of two values.
    pub(crate) fn combine(
        &mut self,
        out: &mut String,
        op: &'a Lambda,
        first: &[String],
        second: &[String],
    ) -> Written<Vec<String>> {
        for (param, value) in op.params.iter().zip(first.iter().chain(second)) {
            self.name(*param, value.clone());
        }
        self.block(out, &op.body)
    }

    /// The parameters of the inputs, as a kernel declares them.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        self.inputs.iter().map(|input| self.argument(input)).collect()
    }

    /// The arrays of which the element at the kernel's index is read.
    pub(super) fn elements(&self) -> impl Iterator<Item = (String, DType)> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Element(var) => Some((input_name(input), self.program.var_type(*var).dtype)),
            _ => None,
        })
    }

    pub(super) fn argument(&self, input: &Input) -> Argument {
        let dtype = |var: Var| self.program.var_type(var).dtype;
        let name = input_name(input);
        match input {
            Input::Element(var) | Input::Array(var) | Input::Device(var) | Input::Strided(var, _) => {
                Argument::const_vector_arg(c_type(dtype(*var)), &name)
            }
            Input::Host(var) => Argument::scalar_arg(c_type(dtype(*var)), &name),
            Input::Dim(..) | Input::Length(_) | Input::Index(..) => Argument::scalar_arg(c_type(DType::I64), &name),
            Input::Flag => Argument::vector_arg(c_type(DType::U32), &name),
        }
    }

    /// The parameters of a device function that gets the inputs, and the arguments of its call, from a kernel and from
    /// another such function.
    pub(crate) fn parameters(&self, with_elements: bool) -> Parameters {
        let mut all = Parameters::default();
        for input in &self.inputs {
            let name = input_name(input);
            match input {
                Input::Element(var) | Input::Strided(var, _) if with_elements => {
                    let _ = write!(all.declared, ", const {} {name}_i", c_name(self.program.var_type(*var).dtype));
                    let _ = write!(all.passed, ", {name}[i]");
                    let _ = write!(all.handed_on, ", {name}_i");
                }
                Input::Element(_) | Input::Strided(..) => {}
                other => {
                    let _ = write!(all.declared, ", {}", self.argument(other).declarator());
                    let _ = write!(all.passed, ", {name}");
                    let _ = write!(all.handed_on, ", {name}");
                }
            }
        }
        all
    }
}

/// The text of parameters, each with a comma before it.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) declared: String,
    pub(crate) passed: String,
    pub(crate) handed_on: String,
}

/// The name of an input in kernels.
pub(crate) fn input_name(input: &Input) -> String {
    match input {
        Input::Element(var) => format!("x{}", var.0),
        Input::Strided(var, places) => {
            let place = |place: &Place| match place {
                Place::Axis(axis) => axis.to_string(),
                Place::At(index) => format!("at{}", index.0),
            };
            format!("y{}_{}", var.0, places.iter().map(place).collect::<Vec<_>>().join("_"))
        }
        Input::Index(index, array, axis) => format!("i{}_{}_{axis}", index.0, array.0),
        Input::Array(var) => format!("a{}", var.0),
        Input::Host(var) => format!("s{}", var.0),
        Input::Device(var) => format!("p{}", var.0),
        Input::Dim(var, axis) => format!("d{}_{axis}", var.0),
        Input::Length(Atom::Var(var)) => format!("n{}", var.0),
        Input::Length(Atom::Const(..)) => "n0".into(),
        Input::Flag => "rtcg_flag".into(),
    }
}

fn unsupported(stmt: &Stmt) -> Box<Problem> {
    Box::new(Problem::sequence_of_element(stmt.span))
}

const CLAMP_SOURCE: &str = "\
template <class T> __device__ __forceinline__ T rtcg_clamp(T index, T length, unsigned *flag)
{
  if (index >= 0 && index < length) return index;
  *flag = 1u;
  return index < 0 || length == 0 ? 0 : length - 1;
}
";

const SEGMENT_SOURCE: &str = "\
__device__ __forceinline__ long long rtcg_segment(const long long *offsets, long long n, long long at)
{
  long long low = 0, high = n - 1;
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (offsets[middle] <= at) low = middle; else high = middle;
  }
  return low;
}
";
