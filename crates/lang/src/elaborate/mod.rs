//! From the syntax tree to the core program: every call is followed with the types of its arguments, so that functions,
//! closures and tuples are gone, and each problem is known with its place.
//!
//! Establishes: pure statements stand in the outermost block where their operands are known, so that what does not depend
//! on an element is computed once. What only one branch needs stays in it, unless it is a scalar.

mod calls;
mod captures;
mod comprehensions;
mod expressions;
mod extremes;
mod operators;
mod prelude;
mod recursion;
mod sequences;
mod statements;
mod stencil;
mod types;
mod value;

use crate::arguments::{ArgType, ResultType};
use crate::ir::{Atom, Block, Bounds, Exp, Number, Program, Stmt, Var};
use crate::problem::{Code, Problem, Problems};
use crate::span::Span;
use crate::surface::Source;
use rtcg_hal::DType;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
pub use stencil::{MAX_STENCIL_AXES, elaborate_stencil};
use value::{Closure, Element, Env, Scalar, Seq, Value};

/// A core program with what its inputs and outputs are made of.
#[derive(Debug, Clone)]
pub struct Elaborated {
    /// The program.
    pub program: Program,
    /// What the outputs make up, in order.
    pub result: ResultType,
}

/// Elaborates a call of the first function of a source.
///
/// # Errors
/// All problems that were found.
pub fn elaborate(source: &Source, arguments: &[ArgType]) -> Result<Elaborated, Problems> {
    let mut elaborator = Elaborator::new(source);
    let done = elaborator.run(arguments);
    match done {
        Some(done) if elaborator.problems.is_empty() => Ok(done),
        _ => Err(elaborator.problems),
    }
}

/// What an open block belongs to, which decides what may leave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmitAt {
    /// The program.
    Top,
    /// Runs for each element.
    Element,
    /// Runs again and again.
    Repeat,
    /// Runs if a condition holds.
    Branch,
    /// As a branch, of a condition that is known before any element.
    Guard,
}

#[derive(Debug)]
struct OpenBlock {
    stmts: Vec<Stmt>,
    at: EmitAt,
}

/// An operation with its operands, by which it is found again.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OperationKey(u8, DType, Vec<(u32, [u64; 2])>);

impl OperationKey {
    fn of(exp: &Exp) -> Option<Self> {
        let operand = |atom: &Atom| match atom {
            Atom::Var(var) => (var.0, [0, 0]),
            Atom::Const(number, dtype) => {
                let bits = match *number {
                    Number::Bool(value) => [value.into(), 1],
                    Number::Int(value) => [value as u64, (value >> 64) as u64],
                    Number::Float(value) => [value.to_bits(), 2],
                    Number::Complex(re, im) => [re.to_bits(), im.to_bits()],
                };
                (u32::MAX - dtype.table_index(), bits)
            }
        };
        match exp {
            Exp::Prim { op, compute, args } => Some(Self(*op as u8, *compute, args.iter().map(operand).collect())),
            Exp::Cast { arg, to } => Some(Self(u8::MAX, *to, vec![operand(arg)])),
            _ => None,
        }
    }
}

/// A call that is being followed.
#[derive(Debug)]
struct Call {
    function: *const crate::surface::Function,
    name: Arc<str>,
    span: Span,
}

/// The most calls in calls, and statements of a program.
const MAX_CALL_DEPTH: usize = 200;
const MAX_STATEMENTS: usize = 200_000;

struct Elaborator<'a> {
    source: &'a Source,
    program: Program,
    /// The depth of the block of each variable.
    depths: Vec<u32>,
    blocks: Vec<OpenBlock>,
    /// Known lengths of arrays.
    lengths: HashMap<(Var, usize), Atom>,
    /// Lengths that were found to be equal to earlier ones, with the depth of the block in which that holds.
    equal: Vec<(Atom, Atom, u32)>,
    /// Operations that were computed already.
    computed: HashMap<OperationKey, Var>,
    problems: Problems,
    calls: Vec<Call>,
    /// Recursive functions whose bodies are followed.
    tails: Vec<recursion::TailFrame>,
    /// Whether a function calls itself.
    recursive: HashMap<*const crate::surface::Function, bool>,
    n_stmts: usize,
    /// Variables that are indices of spaces.
    indices: HashSet<Var>,
    /// Where the value is that each function returns, of those whose `return` is followed.
    returned: Vec<Span>,
    /// Whether a condition chooses between tuples of what names are assigned.
    is_merging: bool,
    /// Whether calls of calls were given up.
    is_too_deep: bool,
    /// The indices of the element, if the program is a stencil.
    stencil: Option<Vec<Var>>,
}

impl<'a> Elaborator<'a> {
    /// For a program, of which the functions are checked before any is called.
    fn new(source: &'a Source) -> Self {
        let mut elaborator = Self {
            source,
            program: Program::default(),
            depths: Vec::new(),
            blocks: Vec::new(),
            lengths: HashMap::new(),
            equal: Vec::new(),
            computed: HashMap::new(),
            problems: Problems::default(),
            calls: Vec::new(),
            tails: Vec::new(),
            recursive: HashMap::new(),
            n_stmts: 0,
            indices: HashSet::new(),
            returned: Vec::new(),
            is_too_deep: false,
            is_merging: false,
            stencil: None,
        };
        source.functions.iter().for_each(|function| elaborator.check_captures(function));
        elaborator
    }
}

impl Elaborator<'_> {
    fn run(&mut self, arguments: &[ArgType]) -> Option<Elaborated> {
        let function = self.source.functions.first()?.clone();
        let span = function.span;
        self.open_block(EmitAt::Top);
        let values: Vec<Value> = arguments.iter().map(|argument| self.parameter(argument, span)).collect();
        let closure = Rc::new(Closure { function: function.clone(), env: Env::default(), index: Some(0) });
        let name = function.name.clone();
        let result = self.apply_closure(&closure, values, span);
        let ty = self.type_of(&result);
        let body = self.close_with(&result);
        self.program.body = body;
        let result = match ty {
            Some(_) if !self.problems.is_empty() => return None,
            Some(found) if !found.has_unknown() => arguments_of_type(&found),
            _ => {
                let what = self.describe(&result);
                let text = format!("`{name}` returns {what}; expected numbers, sequences or tuples of them");
                let at = self.returned.first().copied().filter(|at| at.file == span.file).unwrap_or(span);
                self.plain_problem(Code::Result, at, text);
                return None;
            }
        };
        Some(Elaborated { program: std::mem::take(&mut self.program), result })
    }

    /// Variables for an argument.
    fn parameter(&mut self, argument: &ArgType, span: Span) -> Value {
        match argument {
            ArgType::Scalar { dtype, weak } => {
                let var = self.new_param(*dtype, 0);
                Scalar { atom: var.into(), weak: *weak }.into()
            }
            ArgType::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.parameter(part, span)).collect()),
            ArgType::Function(index) => match self.source.arguments.get(*index) {
                Some(function) => self.outside(&function.clone()),
                None => Value::Poison,
            },
            sequence => {
                let element = self.parameter_element(sequence);
                self.seq_of(element, span).into()
            }
        }
    }

    fn parameter_element(&mut self, argument: &ArgType) -> Element {
        match argument {
            ArgType::Array { dtype, ndim, weak } => Element::Array { var: self.new_param(*dtype, *ndim), weak: *weak },
            ArgType::Zip(parts) => Element::Tuple(parts.iter().map(|part| self.parameter_element(part)).collect()),
            ArgType::Ragged(values) => {
                let offsets = self.new_param(DType::I64, 1);
                Element::Ragged { offsets, values: Box::new(self.parameter_element(values)) }
            }
            // A sequence of numbers that is none is refused by whoever made the types.
            ArgType::Scalar { dtype, weak } => Element::Array { var: self.new_param(*dtype, 1), weak: *weak },
            ArgType::Tuple(parts) => Element::Tuple(parts.iter().map(|part| self.parameter_element(part)).collect()),
            ArgType::Function(_) => Element::Tuple(Vec::new()),
        }
    }

    fn new_param(&mut self, dtype: DType, ndim: usize) -> Var {
        let var = self.new_var(dtype, ndim);
        self.program.params.push(var);
        var
    }

    /// Makes a problem known.
    fn problem(&mut self, code: Code, span: Span, message: impl Into<String>, advice: impl Into<String>) -> Value {
        self.problem_with(code, span, message, Vec::new(), advice)
    }

    /// As [`Elaborator::problem`], with other places that have to do with it.
    fn problem_with(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        mut related: Vec<(Span, String)>,
        advice: impl Into<String>,
    ) -> Value {
        if let Some(call) = self.calls.last().filter(|call| call.span.is_known() && call.span.file != span.file) {
            related.push((call.span, "called here".to_owned()));
        }
        let (mut message, mut advice): (String, String) = (message.into(), advice.into());
        if self.stencil.is_some() {
            message = message.replace("a @cu function", "a @stencil function");
            advice = advice.replace("a @cu function", "a @stencil function");
        }
        self.problems.add(Problem { code, span, message, advice, related });
        Value::Poison
    }

    /// What the user wrote at a place, if it is short.
    fn text_of(&self, span: Span) -> Option<String> {
        self.source.files.text(span).filter(|text| !text.is_empty() && text.chars().count() <= 40)
    }

    /// What the user wrote at a place, shortened, as a name for it.
    fn quoted(&self, span: Span) -> Option<String> {
        let text = self.source.files.text(span).filter(|text| !text.is_empty())?;
        let is_long = text.chars().count() > 40;
        let shown: String = text.chars().take(if is_long { 37 } else { 40 }).collect();
        Some(format!("`{shown}{}`", if is_long { "..." } else { "" }))
    }

    /// What the user wrote, as an operand of any operator.
    fn operand_text(&self, span: Span) -> Option<String> {
        let is_part = |c: char| c.is_alphanumeric() || "_.()[],".contains(c);
        self.text_of(span).filter(|text| text.chars().all(is_part))
    }

    /// What a sequence is called at a place, and what its elements may be called.
    fn names_of(&self, span: Span) -> (String, String) {
        let text = self.operand_text(span).unwrap_or_else(|| "x".into());
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let element = if is_name { format!("{text}i") } else { "xi".into() };
        (text, element)
    }

    /// As [`Elaborator::problem`], without advice.
    fn plain_problem(&mut self, code: Code, span: Span, message: impl Into<String>) -> Value {
        self.problem(code, span, message, "")
    }

    // -- blocks and statements ------------------------------------------------------------------

    fn depth(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    fn open_block(&mut self, at: EmitAt) {
        self.blocks.push(OpenBlock { stmts: Vec::new(), at });
    }

    fn close_block(&mut self, results: Vec<Atom>) -> Block {
        let depth = self.depth();
        self.forget(depth);
        let Some(block) = self.blocks.pop() else { return Block::default() };
        Block { stmts: block.stmts, results }
    }

    /// Forgets what holds in blocks of this depth only.
    fn forget(&mut self, depth: u32) {
        let depths = &self.depths;
        let outlives = |atom: &Atom| atom.as_var().is_none_or(|var| depths[var.0 as usize] < depth);
        self.lengths.retain(|(array, _), length| depths[array.0 as usize] < depth && outlives(length));
        self.equal.retain(|(_, _, known)| *known < depth);
        self.computed.retain(|_, var| depths[var.0 as usize] < depth);
    }

    /// The first of lengths that are known to be equal.
    fn earliest(&self, length: Atom) -> Atom {
        let mut found = length;
        while let Some((_, before, _)) = self.equal.iter().find(|(later, ..)| *later == found) {
            found = *before;
        }
        found
    }

    /// A new variable of the open block.
    fn new_var(&mut self, dtype: DType, ndim: usize) -> Var {
        self.new_var_at(dtype, ndim, self.depth())
    }

    fn new_var_at(&mut self, dtype: DType, ndim: usize, depth: u32) -> Var {
        self.depths.push(depth);
        self.program.new_var(dtype, ndim)
    }

    fn new_index(&mut self) -> Var {
        let index = self.new_var(DType::I64, 0);
        self.indices.insert(index);
        index
    }

    fn depth_of(&self, atom: Atom) -> u32 {
        atom.as_var().map_or(0, |var| self.depths[var.0 as usize])
    }

    /// The outermost block that knows all that the expression uses.
    fn home_of(&self, exp: &Exp) -> u32 {
        fn visit(this: &Elaborator<'_>, exp: &Exp, depth: u32, home: &mut u32) {
            let mut see = |atom: Atom| {
                let found = this.depth_of(atom);
                if found <= depth {
                    *home = (*home).max(found);
                }
            };
            exp.for_each_operand(&mut see);
            for block in exp.blocks() {
                block.results.iter().for_each(|atom| see(*atom));
            }
            for block in exp.blocks() {
                block.stmts.iter().for_each(|stmt| visit(this, &stmt.exp, depth, home));
            }
        }
        let mut home = 0;
        visit(self, exp, self.depth(), &mut home);
        let is_cheap = matches!(exp, Exp::Prim { .. } | Exp::Cast { .. } | Exp::Length { .. });
        let is_same = matches!(exp, Exp::Same { .. });
        fn may_fail(exp: &Exp) -> bool {
            let is_checked = |exp: &Exp| matches!(exp, Exp::Read { bounds: Bounds::Checked, .. } | Exp::Clamp { .. });
            exp.blocks().iter().any(|block| block.stmts.iter().any(|stmt| is_checked(&stmt.exp) || may_fail(&stmt.exp)))
        }
        let reads_unchecked = matches!(
            exp,
            Exp::Read { bounds: Bounds::Checked, .. } | Exp::Row { bounds: Bounds::Checked, .. } | Exp::Scatter { .. }
        );
        let stays = |at: EmitAt| match at {
            // Kernels check no lengths, which for them is done outside, whether or not the branch is taken.
            EmitAt::Branch | EmitAt::Guard => {
                let is_moved = is_same && self.blocks.iter().any(|block| block.at == EmitAt::Element);
                !(is_cheap || is_moved)
            }
            EmitAt::Element => reads_unchecked,
            // A loop may have no round.
            EmitAt::Repeat => reads_unchecked || is_same || (exp.is_kernel() && may_fail(exp)),
            EmitAt::Top => true,
        };
        let barrier = self.blocks.iter().rposition(|block| stays(block.at)).unwrap_or(0) as u32;
        home.max(barrier)
    }

    /// Adds a statement where it belongs.
    fn emit(&mut self, exp: Exp, outs: &[(DType, usize)], span: Span) -> Vec<Var> {
        let home = self.home_of(&exp);
        let outs: Vec<Var> = outs.iter().map(|(dtype, ndim)| self.new_var_at(*dtype, *ndim, home)).collect();
        self.n_stmts += 1;
        if self.n_stmts == MAX_STATEMENTS {
            let text = format!("the program becomes more than {MAX_STATEMENTS} statements");
            self.problem(Code::Size, span, text, "write repeated work as a map, a scan or a tail recursion");
        }
        if self.n_stmts < MAX_STATEMENTS {
            self.blocks[home as usize].stmts.push(Stmt { outs: outs.clone(), exp, span });
        }
        outs
    }

    fn emit_scalar(&mut self, exp: Exp, dtype: DType, span: Span) -> Var {
        let key = OperationKey::of(&exp);
        if let Some(known) = key.as_ref().and_then(|key| self.computed.get(key)) {
            return *known;
        }
        let out = self.emit(exp, &[(dtype, 0)], span)[0];
        if let Some(key) = key {
            self.computed.insert(key, out);
        }
        out
    }

    /// Adds a statement that makes arrays, whose lengths along the axes of its space are known.
    fn emit_arrays(&mut self, exp: Exp, outs: &[(DType, usize)], span: Span) -> Vec<Var> {
        let lengths: Vec<Atom> = match &exp {
            Exp::Gen { space, .. } => space.iter().map(|axis| axis.length).collect(),
            Exp::Scan { space, prefix: None, .. } => space.iter().map(|axis| axis.length).collect(),
            _ => Vec::new(),
        };
        let vars = self.emit(exp, outs, span);
        for var in &vars {
            for (axis, length) in lengths.iter().enumerate() {
                self.lengths.insert((*var, axis), *length);
            }
        }
        vars
    }

    /// The length of an array along an axis.
    fn length(&mut self, array: Var, axis: usize, span: Span) -> Atom {
        if let Some(known) = self.lengths.get(&(array, axis)) {
            return self.earliest(*known);
        }
        let length: Atom = self.emit_scalar(Exp::Length { array, axis }, DType::I64, span).into();
        self.lengths.insert((array, axis), length);
        length
    }

    /// An element whose indices are right.
    fn read(&mut self, array: Var, index: Vec<Atom>, span: Span) -> Atom {
        let dtype = self.program.var_type(array).dtype;
        self.emit_scalar(Exp::Read { array, index, bounds: Bounds::Inside }, dtype, span).into()
    }

    /// The element of a sequence at an index.
    fn element_at(&mut self, seq: &Seq, index: Atom, bounds: Bounds, span: Span) -> Value {
        self.element_value(&seq.element, index, bounds, span)
    }

    fn element_value(&mut self, element: &Element, index: Atom, bounds: Bounds, span: Span) -> Value {
        match element {
            Element::Array { var, weak } => {
                let found = self.program.var_type(*var).clone();
                if found.ndim == 1 {
                    let exp = Exp::Read { array: *var, index: vec![index], bounds };
                    return Scalar { atom: self.emit_scalar(exp, found.dtype, span).into(), weak: *weak }.into();
                }
                let lengths: Vec<Atom> = (1..found.ndim).map(|axis| self.length(*var, axis, span)).collect();
                let exp = Exp::Row { array: *var, index: vec![index], bounds };
                let row = self.emit(exp, &[(found.dtype, found.ndim - 1)], span)[0];
                for (axis, length) in lengths.iter().enumerate() {
                    self.lengths.insert((row, axis), *length);
                }
                Seq { length: lengths[0], element: Element::Array { var: row, weak: *weak } }.into()
            }
            Element::Tuple(parts) => {
                let parts = parts.clone();
                Value::Tuple(parts.iter().map(|part| self.element_value(part, index, bounds, span)).collect())
            }
            Element::Ragged { offsets, values } => {
                let start = Exp::Read { array: *offsets, index: vec![index], bounds };
                let start: Atom = self.emit_scalar(start, DType::I64, span).into();
                let next = self.index_sum(index, Atom::index(1), span);
                let end = Exp::Read { array: *offsets, index: vec![next], bounds };
                let end: Atom = self.emit_scalar(end, DType::I64, span).into();
                let length = self.index_difference(end, start, span);
                let element = self.slice_element(&values.clone(), start, length, span);
                Seq { length, element }.into()
            }
        }
    }

    /// Part of each array of a sequence.
    fn slice_element(&mut self, element: &Element, start: Atom, length: Atom, span: Span) -> Element {
        let mut arrays = Vec::new();
        match element {
            Element::Ragged { offsets, values } => {
                // The offsets of a part are those of the whole; values stay where they are.
                let more = self.index_sum(length, Atom::index(1), span);
                let part = Exp::Slice { array: *offsets, start, length: more };
                let part = self.emit(part, &[(DType::I64, 1)], span)[0];
                self.lengths.insert((part, 0), more);
                return Element::Ragged { offsets: part, values: values.clone() };
            }
            Element::Tuple(parts) => {
                let parts = parts.clone();
                return Element::Tuple(
                    parts.iter().map(|part| self.slice_element(part, start, length, span)).collect(),
                );
            }
            Element::Array { .. } => element.arrays(&mut arrays),
        }
        let slices: Vec<Var> = arrays
            .into_iter()
            .map(|array| {
                let found = self.program.var_type(array).clone();
                let slice = self.emit(Exp::Slice { array, start, length }, &[(found.dtype, found.ndim)], span)[0];
                self.lengths.insert((slice, 0), length);
                for axis in 1..found.ndim {
                    let known = self.length(array, axis, span);
                    self.lengths.insert((slice, axis), known);
                }
                slice
            })
            .collect();
        element.with_arrays(&mut slices.into_iter())
    }
}

fn arguments_of_type(found: &types::Type) -> ResultType {
    match found {
        types::Type::Scalar(leaf) => ResultType::Scalar { dtype: leaf.dtype, weak: leaf.weak },
        types::Type::Tuple(parts) => ResultType::Tuple(parts.iter().map(arguments_of_type).collect()),
        types::Type::Seq(element) => arguments_of_element(element),
        types::Type::Any => ResultType::Tuple(Vec::new()),
    }
}

fn arguments_of_element(element: &types::ElementType) -> ResultType {
    match element {
        types::ElementType::Array { leaf, ndim } => {
            ResultType::Array { dtype: leaf.dtype, ndim: *ndim, weak: leaf.weak }
        }
        types::ElementType::Tuple(parts) => ResultType::Zip(parts.iter().map(arguments_of_element).collect()),
        types::ElementType::Ragged(values) => ResultType::Ragged(Box::new(arguments_of_element(values))),
    }
}
