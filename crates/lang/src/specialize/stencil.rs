//! Stencils in programs: each element is computed from elements at constant distances.
//!
//! Establishes of a [`StencilModel`]: its body is that of one element; a read has constants as indices, the offsets
//! from the element; all variables that it does not define are scalar parameters, lengths of axes or the element's
//! indices.

use crate::ir::{Atom, Block, Bounds, Exp, Number, Program, Stmt, Var};
use crate::rewrite::for_each_bound;
use crate::simplify::{all_operands, remove_dead};
use crate::span::Span;
use rtcg_codegen::array::Op;
use rtcg_hal::DType;
use std::collections::{HashMap, HashSet};

/// What lies beyond the borders of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// The nearest element: `a a a | a b c d | d d d`.
    #[default]
    Clamp,
    /// The field again: `b c d | a b c d | a b c`.
    Wrap,
    /// The field mirrored: `c b a | a b c d | d c b`.
    Reflect,
    /// A number.
    Constant,
    /// Nothing: elements that need what is beyond are not computed; see [`Halo`].
    Interior,
}

impl Boundary {
    /// All, by name.
    pub const ALL: [(&'static str, Boundary); 5] = [
        ("clamp", Boundary::Clamp),
        ("wrap", Boundary::Wrap),
        ("reflect", Boundary::Reflect),
        ("constant", Boundary::Constant),
        ("interior", Boundary::Interior),
    ];
}

/// What elements become that [`Boundary::Interior`] leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Halo {
    /// The element of the field: of the first one, or of that with the number of the output.
    #[default]
    Copy,
    /// 0.
    Zero,
}

/// An array that a stencil reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StencilField {
    /// The array in the program.
    pub array: Var,
    /// Its dtype.
    pub dtype: DType,
    /// The offsets at which it is read, ascending.
    pub offsets: Vec<Vec<i64>>,
}

/// A stencil.
#[derive(Debug, Clone, PartialEq)]
pub struct StencilModel {
    /// The number of axes.
    pub n_axes: usize,
    /// The arrays: all parameters of the program that are, in order, then others that are read.
    pub fields: Vec<StencilField>,
    /// Scalars that are given: parameters of the program, in order, then others.
    pub scalars: Vec<Var>,
    /// How far elements are read, for each axis: towards lower and towards higher indices.
    pub radius: Vec<(i64, i64)>,
    /// The dtypes of the results.
    pub outputs: Vec<DType>,
    /// The computation of an element.
    pub body: Block,
    /// The indices of the element.
    pub indices: Vec<Var>,
    /// Whether some index counts from the end where it is negative, as in Python.
    pub wraps_below: bool,
    /// For the types of variables.
    pub program: Program,
}

/// Why a statement is no stencil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What is in the way, if one place is.
    pub span: Span,
    /// Why.
    pub reason: String,
}

fn no<T>(span: Span, reason: impl Into<String>) -> Result<T, Mismatch> {
    Err(Mismatch { span, reason: reason.into() })
}

/// The statements of a program, outside of elements, that are stencils of radius 1 or more.
pub fn find_stencils(program: &Program) -> Vec<StencilModel> {
    fn visit(program: &Program, block: &Block, all: &mut Vec<StencilModel>) {
        for stmt in &block.stmts {
            match &stmt.exp {
                Exp::If { .. } | Exp::Loop { .. } => {
                    stmt.exp.blocks().into_iter().for_each(|block| visit(program, block, all));
                }
                _ => all.extend(
                    match_stencil(program, stmt).ok().filter(|model| model.radius.iter().any(|r| *r != (0, 0))),
                ),
            }
        }
    }
    let mut all = Vec::new();
    visit(program, &program.body, &mut all);
    all
}

/// The stencil that a statement of a program is.
///
/// Indices may be clamped and counted from the end, as compiled programs have them.
///
/// # Errors
/// Why it is none.
pub fn match_stencil(program: &Program, stmt: &Stmt) -> Result<StencilModel, Mismatch> {
    let Exp::Gen { space, body } = &stmt.exp else { return no(stmt.span, "it is no map over indices") };
    if space.is_empty() || space.len() > crate::elaborate::MAX_STENCIL_AXES {
        return no(stmt.span, format!("it has {} axes; a stencil has 1 to 4", space.len()));
    }
    let outputs: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    if stmt.outs.iter().any(|out| program.var_type(*out).ndim != space.len()) {
        return no(stmt.span, "its elements are arrays");
    }
    let indices: Vec<Var> = space.iter().map(|axis| axis.index).collect();
    let mut body = body.clone();
    bring_scalars_in(program, &mut body);
    let mut matcher = Matcher {
        program,
        places: indices.iter().enumerate().map(|(axis, index)| (*index, (axis, 0))).collect(),
        wrapped: HashMap::new(),
        negative: HashMap::new(),
        reads: Vec::new(),
        n_axes: indices.len(),
        wraps_below: false,
    };
    matcher.block(&mut body)?;
    let Matcher { reads, wraps_below, .. } = matcher;
    remove_dead(&mut body);
    let is_field = |var: &&Var| program.var_type(**var).ndim == indices.len();
    let mut arrays: Vec<Var> = program.params.iter().filter(is_field).copied().collect();
    arrays.extend(reads.iter().map(|(array, _)| *array));
    let mut seen = HashSet::new();
    arrays.retain(|array| seen.insert(*array));
    let fields = arrays
        .into_iter()
        .map(|array| {
            let mut offsets: Vec<Vec<i64>> =
                reads.iter().filter(|(read, _)| *read == array).map(|(_, offsets)| offsets.clone()).collect();
            offsets.sort();
            offsets.dedup();
            StencilField { array, dtype: program.var_type(array).dtype, offsets }
        })
        .filter(|field| !field.offsets.is_empty() || program.params.contains(&field.array))
        .collect::<Vec<_>>();
    if reads.is_empty() {
        return no(stmt.span, "it reads no array");
    }
    let along = |axis: usize| reads.iter().map(move |(_, offsets)| offsets[axis]);
    let radius = (0..indices.len())
        .map(|axis| (along(axis).map(|at| -at).max().unwrap_or(0).max(0), along(axis).max().unwrap_or(0).max(0)))
        .collect();
    let scalars = outer_scalars(program, &body, &indices);
    let n_axes = indices.len();
    Ok(StencilModel { n_axes, fields, scalars, radius, outputs, body, indices, wraps_below, program: program.clone() })
}

/// Copies statements before the one of the element that compute scalars from scalars into the element.
fn bring_scalars_in(program: &Program, body: &mut Block) {
    let by_out: HashMap<Var, &Stmt> =
        program.body.stmts.iter().flat_map(|stmt| stmt.outs.iter().map(move |out| (*out, stmt))).collect();
    let mut wanted: Vec<Var> = Vec::new();
    let note = |exp: &Exp, wanted: &mut Vec<Var>| all_operands(exp, &mut |var| wanted.push(var));
    body.stmts.iter().for_each(|stmt| note(&stmt.exp, &mut wanted));
    wanted.extend(body.results.iter().filter_map(|atom| atom.as_var()));
    let mut taken: HashSet<Var> = HashSet::new();
    while let Some(var) = wanted.pop() {
        let Some(stmt) = by_out.get(&var) else { continue };
        let is_scalar = matches!(stmt.exp, Exp::Prim { .. } | Exp::Cast { .. } | Exp::If { .. } | Exp::Length { .. })
            && stmt.outs.iter().all(|out| program.var_type(*out).ndim == 0);
        if is_scalar && taken.insert(var) {
            note(&stmt.exp, &mut wanted);
        }
    }
    let before = program.body.stmts.iter().filter(|stmt| stmt.outs.iter().any(|out| taken.contains(out)));
    let stmts: Vec<Stmt> = before.cloned().chain(std::mem::take(&mut body.stmts)).collect();
    body.stmts = stmts;
}

/// Scalars that a body uses and does not define, parameters of the program first.
fn outer_scalars(program: &Program, body: &Block, indices: &[Var]) -> Vec<Var> {
    let mut own: HashSet<Var> = indices.iter().copied().collect();
    let mut used: Vec<Var> = Vec::new();
    fn visit(block: &Block, own: &mut HashSet<Var>, used: &mut Vec<Var>) {
        for stmt in &block.stmts {
            for_each_bound(&mut stmt.exp.clone(), &mut |var| {
                own.insert(*var);
            });
            all_operands(&stmt.exp, &mut |var| used.push(var));
            own.extend(stmt.outs.iter().copied());
            stmt.exp.blocks().into_iter().for_each(|block| visit(block, own, used));
        }
        used.extend(block.results.iter().filter_map(|atom| atom.as_var()));
    }
    visit(body, &mut own, &mut used);
    let is_outer = |var: &Var| program.var_type(*var).ndim == 0 && !own.contains(var);
    let mut all: Vec<Var> = program.params.iter().copied().filter(|var| program.var_type(*var).ndim == 0).collect();
    let mut others: Vec<Var> = used.into_iter().filter(|var| is_outer(var) && !all.contains(var)).collect();
    others.sort_unstable();
    others.dedup();
    all.extend(others);
    all
}

/// Follows index arithmetic.
struct Matcher<'p> {
    program: &'p Program,
    /// Scalars that are an index plus a constant.
    places: HashMap<Var, (usize, i64)>,
    /// Those with the length of the axis added.
    wrapped: HashMap<Var, (usize, i64)>,
    /// Whether a place is negative.
    negative: HashMap<Var, (usize, i64)>,
    reads: Vec<(Var, Vec<i64>)>,
    n_axes: usize,
    wraps_below: bool,
}

impl Matcher<'_> {
    fn block(&mut self, block: &mut Block) -> Result<(), Mismatch> {
        for stmt in &mut block.stmts {
            let out = stmt.outs.first().copied();
            match &mut stmt.exp {
                Exp::Prim { op, args, .. } => {
                    if let Some(out) = out {
                        self.arithmetic(*op, args, out);
                    }
                }
                Exp::Cast { arg, to: DType::I64 } | Exp::Clamp { index: arg, .. } => {
                    if let (Some(out), Some(place)) = (out, self.place(*arg)) {
                        self.places.insert(out, place);
                    }
                }
                Exp::Read { array, index, bounds } => {
                    let offsets = self.offsets(*array, index, stmt.span)?;
                    *index = offsets.iter().map(|offset| Atom::index(*offset)).collect();
                    *bounds = Bounds::Inside;
                    self.reads.push((*array, offsets));
                }
                Exp::Length { .. } | Exp::Same { .. } | Exp::Cast { .. } => {}
                Exp::If { then, other, .. } => {
                    self.block(then)?;
                    self.block(other)?;
                }
                Exp::Loop { cond, body, .. } => {
                    self.block(cond)?;
                    self.block(body)?;
                }
                _ => return no(stmt.span, "an element is computed by an operation over a sequence"),
            }
        }
        Ok(())
    }

    fn place(&self, atom: Atom) -> Option<(usize, i64)> {
        self.places.get(&atom.as_var()?).copied()
    }

    fn is_length(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|var| self.program.var_type(var).ndim == 0 && !self.places.contains_key(&var))
    }

    fn arithmetic(&mut self, op: Op, args: &[Atom], out: Var) {
        let int = |atom: Atom| match atom {
            Atom::Const(Number::Int(value), _) => i64::try_from(value).ok(),
            _ => None,
        };
        match (op, args) {
            (Op::Add, [a, b]) => {
                for (a, b) in [(*a, *b), (*b, *a)] {
                    let Some((axis, at)) = self.place(a) else { continue };
                    if let Some(sum) = int(b).and_then(|by| at.checked_add(by)) {
                        self.places.insert(out, (axis, sum));
                    } else if self.is_length(b) {
                        self.wrapped.insert(out, (axis, at));
                    }
                }
            }
            (Op::Subtract, [a, b]) => {
                if let (Some((axis, at)), Some(by)) = (self.place(*a), int(*b))
                    && let Some(difference) = at.checked_sub(by)
                {
                    self.places.insert(out, (axis, difference));
                }
            }
            (Op::Less, [a, b]) if int(*b) == Some(0) => {
                if let Some(place) = self.place(*a) {
                    self.negative.insert(out, place);
                }
            }
            (Op::Where, [Atom::Var(cond), Atom::Var(wrapped), other]) => {
                if let (Some(a), Some(b), Some(place)) =
                    (self.negative.get(cond), self.wrapped.get(wrapped), self.place(*other))
                    && *a == place
                    && *b == place
                {
                    self.wraps_below = true;
                    self.places.insert(out, place);
                }
            }
            _ => {}
        }
    }

    fn offsets(&self, array: Var, index: &[Atom], span: Span) -> Result<Vec<i64>, Mismatch> {
        if index.len() != self.n_axes {
            return no(span, format!("an array of {} axes is read in a map of {}", index.len(), self.n_axes));
        }
        let mut offsets = Vec::with_capacity(index.len());
        for (axis, at) in index.iter().enumerate() {
            match self.place(*at) {
                Some((own, offset)) if own == axis => offsets.push(offset),
                Some(_) => return no(span, "the axes of an array are read in another order than those of the map"),
                None => {
                    let dtype = self.program.var_type(array).dtype;
                    let text = format!(
                        "an element of a {} array is read at an index that is not the element's own plus a constant",
                        dtype.name()
                    );
                    return no(span, text);
                }
            }
        }
        Ok(offsets)
    }
}
