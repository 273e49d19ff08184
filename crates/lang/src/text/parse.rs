//! Reads programs, and checks them.
//!
//! A name belongs to one variable at a time; it may be used again where the block that it stood for has ended. Statements
//! have the spans of their text.

use super::TextError;
use super::number::{looks_like_number, parse_constant, parse_dtype, parse_type};
use super::sexp::{Sexp, SexpKind, error_at, read};
use crate::check::check_with_names;
use crate::ir::{Atom, Axis, Block, Bounds, Direction, Exp, Lambda, Program, Stmt, Var};
use rtcg_codegen::array::Op;
use rtcg_hal::DType;

/// Words that are no names of variables.
const FLAGS: [&str; 3] = ["checked", "commutative", "backward"];

/// Reads one program.
///
/// # Errors
/// When the text is not a program in this form, or [`check`](crate::check::check) refuses it.
pub fn parse_program(text: &str) -> Result<Program, TextError> {
    let all = read(text, 1)?;
    match &all[..] {
        [program] => program_of(program),
        [] => Err(TextError { line: 1, column: 1, message: "found no text, expected `(program ...)`".into() }),
        [_, second, ..] => Err(second.expected("the end of the text after the program")),
    }
}

/// The program in an expression.
pub(super) fn program_of(sexp: &Sexp) -> Result<Program, TextError> {
    let mut parser = Parser { program: Program::default(), names: vec![], scope: vec![] };
    let mut items = Items::of(sexp, "program", "`(program ((NAME TYPE)...) STATEMENT... (results ATOM...))`")?;
    let params = items.next("the parameters, `((NAME TYPE)...)`")?;
    parser.program.params = parser.bindings(params)?;
    parser.program.body = parser.block(items)?;
    let name = |var: Var| parser.names[var.0 as usize].clone();
    check_with_names(&parser.program, &name).map_err(|wrong| {
        let place = if wrong.span.is_known() { wrong.span } else { sexp.span };
        error_at(place, wrong.message)
    })?;
    Ok(parser.program)
}

/// The elements of a list after its first word.
#[derive(Clone)]
struct Items<'a> {
    list: &'a Sexp,
    head: &'a str,
    rest: std::slice::Iter<'a, Sexp>,
}

impl<'a> Items<'a> {
    /// The elements of a list that begins with a word.
    fn of_any(list: &'a Sexp, what: &str) -> Result<Self, TextError> {
        let items = list.list().ok_or_else(|| list.expected(what))?;
        match items.first().map(|first| (first, first.word())) {
            Some((_, Some(head))) => Ok(Items { list, head, rest: items[1..].iter() }),
            Some((first, None)) => Err(first.expected(what)),
            None => Err(list.expected(what)),
        }
    }

    /// The elements of a list that begins with `head`.
    fn of(list: &'a Sexp, head: &str, what: &str) -> Result<Self, TextError> {
        let items = Self::of_any(list, what)?;
        if items.head == head { Ok(items) } else { Err(list.expected(what)) }
    }

    fn peek(&self) -> Option<&'a Sexp> {
        self.rest.as_slice().first()
    }

    fn next(&mut self, what: &str) -> Result<&'a Sexp, TextError> {
        let end = crate::span::Span {
            line: self.list.span.end_line,
            column: self.list.span.end_column - 1,
            ..self.list.span
        };
        let missing = || error_at(end, format!("found the end of `({} ...)`, expected {what}", self.head));
        self.rest.next().ok_or_else(missing)
    }

    fn end(mut self) -> Result<(), TextError> {
        match self.rest.next() {
            None => Ok(()),
            Some(more) => Err(more.expected(&format!("the end of `({} ...)`", self.head))),
        }
    }

    /// Takes a word that may stand here.
    fn flag(&mut self, word: &str) -> bool {
        let is_there = self.peek().and_then(Sexp::word) == Some(word);
        if is_there {
            self.rest.next();
        }
        is_there
    }

    fn bounds(&mut self) -> Bounds {
        if self.flag("checked") { Bounds::Checked } else { Bounds::Inside }
    }
}

fn list_of<'a>(sexp: &'a Sexp, what: &str) -> Result<&'a [Sexp], TextError> {
    sexp.list().ok_or_else(|| sexp.expected(what))
}

struct Parser {
    program: Program,
    /// Of every variable.
    names: Vec<String>,
    /// The variables that may be used, innermost last.
    scope: Vec<Var>,
}

impl Parser {
    /// Adds a variable to the program, which is not yet in scope.
    fn define(&mut self, name: &Sexp, ty: crate::ir::VarType) -> Result<Var, TextError> {
        let word = name.word().ok_or_else(|| name.expected("a name"))?;
        if looks_like_number(word) {
            return Err(name.expected("a name"));
        }
        if FLAGS.contains(&word) {
            return Err(name.expected("another name, since this word has a meaning of its own"));
        }
        if self.scope.iter().any(|var| self.names[var.0 as usize] == word) {
            return Err(error_at(
                name.span,
                format!("found `{word}`, which is a variable already; expected a new name"),
            ));
        }
        self.names.push(word.to_owned());
        Ok(self.program.new_var(ty.dtype, ty.ndim))
    }

    fn bind(&mut self, name: &Sexp, ty: crate::ir::VarType) -> Result<Var, TextError> {
        let var = self.define(name, ty)?;
        self.scope.push(var);
        Ok(var)
    }

    /// `((NAME TYPE)...)`, from here on in scope.
    fn bindings(&mut self, sexp: &Sexp) -> Result<Vec<Var>, TextError> {
        let pairs = list_of(sexp, "variables, `((NAME TYPE)...)`")?;
        pairs.iter().map(|pair| self.binding(pair)).collect()
    }

    fn binding(&mut self, pair: &Sexp) -> Result<Var, TextError> {
        match pair.list() {
            Some([name, ty]) => {
                let ty = parse_type(ty)?;
                self.bind(name, ty)
            }
            _ => Err(pair.expected("a variable and its type, `(NAME TYPE)`")),
        }
    }

    /// Calls `parse`; what it adds to the scope leaves it again.
    fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, TextError>) -> Result<T, TextError> {
        let outer = self.scope.len();
        let result = parse(self);
        self.scope.truncate(outer);
        result
    }

    fn var(&self, sexp: &Sexp) -> Result<Var, TextError> {
        let word = sexp.word().ok_or_else(|| sexp.expected("a variable"))?;
        let found = self.scope.iter().rev().find(|var| self.names[var.0 as usize] == word);
        found.copied().ok_or_else(|| sexp.expected("a variable that is defined before and in a block around this one"))
    }

    fn atom(&self, sexp: &Sexp) -> Result<Atom, TextError> {
        match sexp.word() {
            Some(word) if looks_like_number(word) => {
                parse_constant(sexp, word).map(|(number, dtype)| Atom::Const(number, dtype))
            }
            Some(_) => self.var(sexp).map(Atom::Var),
            None => Err(sexp.expected("a variable or a number")),
        }
    }

    fn next_atom(&self, items: &mut Items<'_>, what: &str) -> Result<Atom, TextError> {
        self.atom(items.next(what)?)
    }

    fn next_var(&self, items: &mut Items<'_>, what: &str) -> Result<Var, TextError> {
        self.var(items.next(what)?)
    }

    fn atoms(&self, items: Items<'_>) -> Result<Vec<Atom>, TextError> {
        items.rest.map(|item| self.atom(item)).collect()
    }

    fn vars(&self, sexp: &Sexp) -> Result<Vec<Var>, TextError> {
        list_of(sexp, "arrays, `(NAME...)`")?.iter().map(|item| self.var(item)).collect()
    }

    /// The statements and results that end a list.
    fn block(&mut self, mut items: Items<'_>) -> Result<Block, TextError> {
        self.scoped(|parser| {
            let mut stmts = vec![];
            loop {
                let next = items.next("`(results ATOM...)`")?;
                let form = Items::of_any(next, STATEMENT)?;
                match form.head {
                    "let" => stmts.push(parser.statement(next, form)?),
                    "results" => {
                        let results = parser.atoms(form)?;
                        items.end()?;
                        return Ok(Block { stmts, results });
                    }
                    _ => return Err(next.expected(STATEMENT)),
                }
            }
        })
    }

    /// `(HEAD BLOCK)`.
    fn clause(&mut self, items: &mut Items<'_>, head: &str) -> Result<Block, TextError> {
        let what = format!("`({head} STATEMENT... (results ATOM...))`");
        let form = Items::of(items.next(&what)?, head, &what)?;
        self.block(form)
    }

    /// `(HEAD ((NAME TYPE)...) BLOCK)`.
    fn lambda(&mut self, items: &mut Items<'_>, head: &str) -> Result<Lambda, TextError> {
        let what = format!("`({head} ((NAME TYPE)...) STATEMENT... (results ATOM...))`");
        let mut form = Items::of(items.next(&what)?, head, &what)?;
        self.scoped(|parser| {
            let params = parser.bindings(form.next("the parameters, `((NAME TYPE)...)`")?)?;
            Ok(Lambda { params, body: parser.block(form)? })
        })
    }

    fn statement(&mut self, sexp: &Sexp, form: Items<'_>) -> Result<Stmt, TextError> {
        let Some((exp, pairs)) = form.rest.as_slice().split_last() else {
            return Err(sexp.expected("`(let (NAME TYPE)... EXPRESSION)`"));
        };
        // The new variables enter the scope after the expression, which must not use them.
        let exp = self.expression(exp)?;
        let outs = pairs.iter().map(|pair| self.binding(pair)).collect::<Result<_, _>>()?;
        Ok(Stmt { outs, exp, span: sexp.span })
    }

    /// `((INDEX LENGTH)...)`; the indices are in scope from here on.
    fn space(&mut self, items: &mut Items<'_>) -> Result<Vec<Axis>, TextError> {
        let what = "the space, `((INDEX LENGTH)...)`";
        let mut lengths = vec![];
        for axis in list_of(items.next(what)?, what)? {
            match axis.list() {
                Some([index, length]) => lengths.push((index, self.atom(length)?)),
                _ => return Err(axis.expected("an index and a length, `(INDEX LENGTH)`")),
            }
        }
        let mut axis = |(index, length)| {
            let index = self.bind(index, crate::ir::VarType { dtype: DType::I64, ndim: 0 })?;
            Ok(Axis { index, length })
        };
        lengths.into_iter().map(&mut axis).collect()
    }

    fn expression(&mut self, sexp: &Sexp) -> Result<Exp, TextError> {
        let items = Items::of_any(sexp, EXPRESSION)?;
        match items.head {
            "if" | "loop" => self.control(items),
            "gen" | "filter" | "rows" | "scatter" | "reduce" | "scan" => self.scoped(|parser| parser.over_space(items)),
            "sort" => self.sort(items),
            _ => self.flat(sexp, items),
        }
    }

    /// Expressions without blocks.
    fn flat(&self, sexp: &Sexp, mut items: Items<'_>) -> Result<Exp, TextError> {
        let exp = match items.head {
            "cast" => Exp::Cast { to: next_dtype(&mut items)?, arg: self.next_atom(&mut items, "a value")? },
            "read" => {
                let (bounds, array) = (items.bounds(), self.next_var(&mut items, "an array")?);
                return Ok(Exp::Read { array, index: self.atoms(items)?, bounds });
            }
            "row" => {
                let (bounds, array) = (items.bounds(), self.next_var(&mut items, "an array")?);
                return Ok(Exp::Row { array, index: self.atoms(items)?, bounds });
            }
            "length" => {
                let array = self.next_var(&mut items, "an array")?;
                let axis = items.next("an axis")?;
                let number = axis.word().and_then(|word| word.parse().ok());
                Exp::Length { array, axis: number.ok_or_else(|| axis.expected("the number of an axis"))? }
            }
            "slice" => Exp::Slice {
                array: self.next_var(&mut items, "an array")?,
                start: self.next_atom(&mut items, "the first element")?,
                length: self.next_atom(&mut items, "the number of elements")?,
            },
            "segment" => Exp::Segment {
                offsets: self.next_var(&mut items, "the array of offsets")?,
                at: self.next_atom(&mut items, "the number of an element")?,
            },
            "clamp" => Exp::Clamp {
                index: self.next_atom(&mut items, "the index")?,
                length: self.next_atom(&mut items, "the length")?,
            },
            "same" => {
                let (lengths, names) = items.rest.map(|item| self.named_length(item)).collect::<Result<_, _>>()?;
                return Ok(Exp::Same { lengths, names });
            }
            name => {
                let op = Op::from_name(name).ok_or_else(|| sexp.expected(EXPRESSION))?;
                let compute = next_dtype(&mut items)?;
                return Ok(Exp::Prim { op, compute, args: self.atoms(items)? });
            }
        };
        items.end()?;
        Ok(exp)
    }

    /// `(ATOM "NAME")`.
    fn named_length(&self, sexp: &Sexp) -> Result<(Atom, String), TextError> {
        match sexp.list() {
            Some([length, Sexp { kind: SexpKind::Text(name), .. }]) => Ok((self.atom(length)?, name.clone())),
            _ => Err(sexp.expected("a length and what it is the length of, `(ATOM \"NAME\")`")),
        }
    }

    fn control(&mut self, mut items: Items<'_>) -> Result<Exp, TextError> {
        let exp = if items.head == "if" {
            let cond = self.next_atom(&mut items, "a truth value")?;
            Exp::If { cond, then: self.clause(&mut items, "then")?, other: self.clause(&mut items, "else")? }
        } else {
            self.scoped(|parser| parser.loop_of(&mut items))?
        };
        items.end()?;
        Ok(exp)
    }

    fn loop_of(&mut self, items: &mut Items<'_>) -> Result<Exp, TextError> {
        let what = "the variables, `((NAME TYPE INITIAL)...)`";
        let mut state = vec![];
        for one in list_of(items.next(what)?, what)? {
            match one.list() {
                Some([name, ty, value]) => state.push((name, parse_type(ty)?, self.atom(value)?)),
                _ => return Err(one.expected("a variable with its first value, `(NAME TYPE INITIAL)`")),
            }
        }
        let init = state.iter().map(|(.., value)| *value).collect();
        let params = state.into_iter().map(|(name, ty, _)| self.bind(name, ty)).collect::<Result<_, _>>()?;
        Ok(Exp::Loop { params, init, cond: self.clause(items, "while")?, body: self.clause(items, "do")? })
    }

    /// Expressions over a space, whose indices are in scope afterwards.
    fn over_space(&mut self, mut items: Items<'_>) -> Result<Exp, TextError> {
        match items.head {
            "gen" => Ok(Exp::Gen { space: self.space(&mut items)?, body: self.block(items)? }),
            "filter" => Ok(Exp::Filter { space: self.space(&mut items)?, body: self.block(items)? }),
            "rows" => Ok(Exp::Rows {
                space: self.space(&mut items)?,
                offsets: self.next_var(&mut items, "the array of offsets")?,
                body: self.block(items)?,
            }),
            "scatter" => {
                let bounds = items.bounds();
                let targets = self.vars(items.next("the arrays, `(NAME...)`")?)?;
                Ok(Exp::Scatter { targets, bounds, space: self.space(&mut items)?, body: self.block(items)? })
            }
            "reduce" => {
                let commutative = items.flag("commutative");
                let space = self.space(&mut items)?;
                let (body, op) = (self.clause(&mut items, "body")?, self.outside_of(&space, &mut items)?);
                let what = "`(init ATOM...)`";
                let init = self.atoms(Items::of(items.next(what)?, "init", what)?)?;
                items.end()?;
                Ok(Exp::Reduce { space, body, op, init, commutative })
            }
            _ => {
                let direction = if items.flag("backward") { Direction::Backward } else { Direction::Forward };
                let outside = self.scope.len();
                let space = self.space(&mut items)?;
                let indices = self.scope[outside..].to_vec();
                let (body, op) = (self.clause(&mut items, "body")?, self.outside_of(&space, &mut items)?);
                let (mut prefix, mut finish, mut targets) = (None, None, Vec::new());
                if items.rest.as_slice().first().is_some_and(|form| form.begins_with("prefix")) {
                    let what = "`(prefix ATOM...)`, `(finish ...)`, or nothing";
                    prefix = Some(self.atoms(Items::of(items.next(what)?, "prefix", what)?)?);
                }
                if items.rest.as_slice().first().is_some_and(|form| form.begins_with("finish")) {
                    self.scope.extend(indices.last().cloned());
                    finish = Some(self.lambda(&mut items, "finish")?);
                    self.scope.pop();
                    if let Some(form) = items.rest.next() {
                        let what = "`(targets NAME...)`, or nothing";
                        let mut names = Items::of(form, "targets", what)?;
                        for name in names.rest.by_ref() {
                            targets.push(self.var(name)?);
                        }
                    }
                }
                items.end()?;
                Ok(Exp::Scan { space, body, op, prefix, direction, finish, targets })
            }
        }
    }

    /// The operator of a reduction or scan; from here on its last index is out of scope.
    fn outside_of(&mut self, space: &[Axis], items: &mut Items<'_>) -> Result<Lambda, TextError> {
        if !space.is_empty() {
            self.scope.pop();
        }
        self.lambda(items, "op")
    }

    fn sort(&mut self, mut items: Items<'_>) -> Result<Exp, TextError> {
        let arrays = self.vars(items.next("the arrays, `(NAME...)`")?)?;
        let less = self.lambda(&mut items, "less")?;
        items.end()?;
        Ok(Exp::Sort { arrays, less })
    }
}

const STATEMENT: &str = "`(let (NAME TYPE)... EXPRESSION)` or `(results ATOM...)`";
const EXPRESSION: &str = "an expression, such as `(add float32 a b)`, `(gen ...)` or `(read ...)`";

fn next_dtype(items: &mut Items<'_>) -> Result<DType, TextError> {
    let sexp = items.next("a dtype")?;
    sexp.word().and_then(parse_dtype).ok_or_else(|| sexp.expected("a dtype, by NumPy's name"))
}
