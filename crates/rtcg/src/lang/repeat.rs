//! Loops of the host whose rounds enqueue the same kernels: after the first rounds they are repeated as graphs.
//!
//! Kernels of such a loop get no number that changes from round to round, so that a round is known by the memory that it
//! begins with. For a few rounds, memory comes from the loop's own buffers; once a round begins with what an earlier one
//! began with, the launches between them are a cycle. From there on the host computes only whether the loop goes on.

use super::run::{Ran, Run, inner_reduction};
use super::value::Value;
use rtcg_array::{GpuArray, Layout, Order};
use rtcg_hal::{
    ArrayBuffer, ArrayContext, DType, Launch, LaunchableGraph, Result, check_interrupt, is_compiling_ahead,
    record_launches,
};
use rtcg_lang::ir::{Atom, Block, Exp, Program, Stmt, Var};
use rtcg_lang::passes::{Place as At, Places};
use rtcg_lang::simplify::all_operands;
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Rounds before the cycle is sought: by then kernels are compiled, and the program's own arrays are not the loop's.
pub(super) const FIRST_ROUNDS: usize = 2;

/// A cycle is sought in so many rounds.
const MOST_ROUNDS: usize = 8;

/// Launches of a graph.
const GRAPH_LAUNCHES: usize = 128;

/// What the host computes of a round, for a loop whose rounds differ in nothing else; `None` if they may.
pub(super) fn host_part(program: &Program, places: &Places, stmt: &Stmt) -> Option<Block> {
    let Exp::Loop { params, cond, body, .. } = &stmt.exp else { return None };
    let is_number = |var: Var| program.var_type(var).ndim == 0 && places.of(var.into()) == At::Host;
    let on_host = |stmt: &Stmt| match &stmt.exp {
        Exp::Prim { .. } | Exp::Cast { .. } => is_number(stmt.outs[0]),
        Exp::Length { .. } | Exp::Same { .. } => true,
        _ => false,
    };
    let uses_any = |exp: &Exp, vars: &HashSet<Var>| {
        let mut found = false;
        all_operands(exp, &mut |var| found |= vars.contains(&var));
        found
    };
    if !cond.stmts.iter().all(on_host) || cond.results.iter().any(|goes| places.of(*goes) == At::Device) {
        return None;
    }
    let changes = |(param, next): &(&Var, &Atom)| is_number(**param) && **next != Atom::Var(**param);
    let mut changing: HashSet<Var> =
        params.iter().zip(&body.results).filter(changes).map(|(param, _)| *param).collect();
    for stmt in &body.stmts {
        let is_same_for_all = !uses_any(&stmt.exp, &changing);
        match &stmt.exp {
            // Lengths that change may come to differ, which only the round itself would tell.
            Exp::Same { .. } if !is_same_for_all => return None,
            _ if on_host(stmt) => {
                if !is_same_for_all {
                    changing.insert(stmt.outs[0]);
                }
            }
            // Their memory is the loop's, and launches need nothing else.
            Exp::Gen { body, .. } if is_same_for_all && inner_reduction(body).is_none() => {}
            Exp::Reduce { space, .. } if is_same_for_all && space.len() == 1 => {}
            _ => return None,
        }
    }
    // A number on the device may become one that the host computes.
    let is_changed =
        |(param, next): (&Var, &Atom)| !is_number(*param) && next.as_var().is_some_and(|next| changing.contains(&next));
    if params.iter().zip(&body.results).any(is_changed) {
        return None;
    }
    let next = |(param, next): (&Var, &Atom)| if is_number(*param) { *next } else { Atom::Var(*param) };
    let results: Vec<Atom> = params.iter().zip(&body.results).map(next).collect();
    let mut needed: HashSet<Var> = results.iter().filter_map(|atom| atom.as_var()).collect();
    let mut stmts = Vec::new();
    for stmt in body.stmts.iter().rev().filter(|stmt| !stmt.exp.is_kernel()) {
        if needed.contains(&stmt.outs[0]) {
            all_operands(&stmt.exp, &mut |var| needed.extend([var]));
            stmts.push(stmt.clone());
        }
    }
    stmts.reverse();
    let makes_needed = |stmt: &Stmt| stmt.exp.is_kernel() && stmt.outs.iter().any(|out| needed.contains(out));
    (!body.stmts.iter().any(makes_needed)).then_some(Block { stmts, results })
}

/// Memory that stays with a loop: a buffer is taken again once no array has it.
#[derive(Default)]
pub(super) struct Buffers(RefCell<Vec<(usize, Arc<dyn ArrayBuffer>)>>);

impl Buffers {
    pub(super) fn empty(&self, ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> Result<GpuArray> {
        let layout = Layout::contiguous(shape, dtype.itemsize(), Order::C);
        let nbytes = layout.size() * dtype.itemsize();
        let mut all = self.0.borrow_mut();
        let free = all.iter().find(|(size, buffer)| *size == nbytes && Arc::strong_count(buffer) == 1);
        let buffer = match free {
            Some((_, buffer)) => buffer.clone(),
            None => {
                let buffer = ctx.device().alloc(nbytes)?;
                all.push((nbytes, buffer.clone()));
                buffer
            }
        };
        Ok(GpuArray::from_buffer(ctx, Some(buffer), layout, dtype))
    }
}

/// Where an array is, and its shape.
type Place = (u64, Vec<usize>);

/// Where the arrays are that a round begins with.
fn memory_of(values: &[Value]) -> Vec<Option<Place>> {
    let place = |value: &Value| value.array().map(|array| (array.first_element_address(), array.shape().to_vec()));
    values.iter().map(place).collect()
}

fn have_equal_shapes(one: &[Option<Place>], other: &[Option<Place>]) -> bool {
    let shape = |place: &Option<Place>| place.as_ref().map(|(_, shape)| shape.clone());
    one.iter().map(shape).eq(other.iter().map(shape))
}

impl Run<'_> {
    /// Runs rounds of a loop from `values` on, as long as it is known what they enqueue; returns the values after them.
    pub(super) fn repeat(
        &mut self,
        (params, cond, body): (&[Var], &Block, &Block),
        host_part: &Block,
        mut values: Vec<Value>,
    ) -> Ran<Vec<Value>> {
        let is_capturing = !matches!(self.ctx.queue().number(), Ok(Some(_)));
        if is_capturing || is_compiling_ahead() {
            return Ok(values);
        }
        let before = self.buffers.replace(Buffers::default());
        let cycle = self.find_cycle((params, cond, body), &mut values);
        let repeated = cycle.and_then(|cycle| match cycle {
            Some(cycle) => self.repeat_cycle(params, cond, host_part, &cycle, values),
            None => Ok(values),
        });
        // The buffers go once all that uses them is enqueued.
        self.buffers = before;
        repeated
    }

    /// The launches of each of some rounds after which the memory is that before them; `None` if there are none.
    fn find_cycle(
        &mut self,
        (params, cond, body): (&[Var], &Block, &Block),
        values: &mut Vec<Value>,
    ) -> Ran<Option<Vec<Vec<Launch>>>> {
        let (mut begins, mut rounds): (Vec<Vec<Option<Place>>>, _) = (Vec::new(), Vec::new());
        loop {
            let memory = memory_of(values);
            if let Some(begin) = begins.iter().position(|known| *known == memory) {
                // What the host computes of rounds sees the arrays of the first one.
                let are_alike = begins[begin..].iter().all(|known| have_equal_shapes(known, &memory));
                return Ok(are_alike.then(|| rounds.split_off(begin)));
            }
            if rounds.len() == MOST_ROUNDS || !self.goes_on(params, cond, values)? {
                return Ok(None);
            }
            begins.push(memory);
            values.clear();
            let (next, recording) = record_launches(|| self.block(body));
            *values = next?;
            match recording.filter(|recording| !recording.has_other_work) {
                Some(recording) => rounds.push(recording.launches),
                None => return Ok(None),
            }
        }
    }

    /// Enqueues rounds as long as the loop goes on, in whole cycles; returns the values after them.
    fn repeat_cycle(
        &mut self,
        params: &[Var],
        cond: &Block,
        host_part: &Block,
        cycle: &[Vec<Launch>],
        mut values: Vec<Value>,
    ) -> Ran<Vec<Value>> {
        let n_launches: usize = cycle.iter().map(Vec::len).sum();
        let n_cycles = GRAPH_LAUNCHES.div_ceil(n_launches.max(1));
        let enqueue = |n: usize| {
            (0..n).try_for_each(|_| cycle.iter().try_for_each(|round| Launch::enqueue_all(round, self.ctx.queue())))
        };
        let mut graph: Option<Box<dyn LaunchableGraph>> = None;
        // The values before the last rounds, of which there may be too few for a cycle.
        let (mut last, mut n_pending) = (VecDeque::new(), 0);
        while self.goes_on(params, cond, &values)? {
            last.push_back(values);
            if last.len() > cycle.len() {
                last.pop_front();
            }
            values = self.block(host_part)?;
            n_pending += 1;
            if n_pending == n_cycles * cycle.len() {
                n_pending = 0;
                check_interrupt()?;
                match (&graph, self.ctx.device().graphs()) {
                    (Some(graph), _) => graph.launch()?,
                    (None, Some(graphs)) => graph.insert(graphs.record(&mut || enqueue(n_cycles))?).launch()?,
                    (None, None) => enqueue(n_cycles)?,
                }
            }
        }
        enqueue(n_pending / cycle.len())?;
        // An index out of bounds may have been told, and forgotten, meanwhile.
        self.ctx.out_of_bounds_flag(true)?;
        let n_rest = n_pending % cycle.len();
        Ok(if n_rest == 0 { values } else { last.swap_remove_back(last.len() - n_rest).unwrap_or_default() })
    }
}
