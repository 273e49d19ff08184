//! Programs that are ready to run.

use super::kernels::{KernelKey, NarrowSets, ReadyKernel};
use super::repeat::host_part;
use rtcg_hal::DType;
use rtcg_lang::arguments::{ArgType, ResultType};
use rtcg_lang::elaborate::elaborate;
use rtcg_lang::emit::{Facts, emit, row_widths};
use rtcg_lang::ir::{Atom, Block, Exp, Program, Stmt, Var};
use rtcg_lang::passes::{Place, Places, distribute, places, schedule, storing_reductions};
use rtcg_lang::problem::Problems;
use rtcg_lang::simplify::{all_operands, collect_bound, has_loop};
use rtcg_lang::span::Files;
use rtcg_lang::surface::Source;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// A program for arguments of certain types.
#[derive(Debug)]
pub struct Compiled {
    pub(super) program: Program,
    result: ResultType,
    pub(super) places: Places,
    /// What statements use from outside, by their addresses, which do not change.
    pub(super) uses: HashMap<usize, Uses>,
    /// For maps with reductions of one length: the reductions as statements of their own, then the map.
    pub(super) distributed: HashMap<usize, Vec<Stmt>>,
    /// For maps that a reduction follows: the reduction, by its address, and one that computes both.
    pub(super) storing: HashMap<usize, (usize, Vec<Stmt>)>,
    /// For loops whose rounds enqueue the same kernels: what the host computes of a round.
    pub(super) repeated: HashMap<usize, Block>,
    pub(super) kernels: Mutex<HashMap<KernelKey, Arc<ReadyKernel>>>,
    pub(super) narrow: Mutex<NarrowSets>,
    /// Whether it has run.
    pub(super) has_run: AtomicBool,
}

/// What a statement uses, and what nothing uses after it.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) arrays: Vec<Var>,
    pub(super) scalars: Vec<Var>,
    /// What may be the width of rows.
    pub(super) widths: Vec<Var>,
    /// Whether it computes integers of 64 bits, apart from the indices of its space.
    pub(super) has_integers: bool,
    /// Whether its elements have loops.
    pub(super) has_loops: bool,
    pub(super) dead_after: Vec<Var>,
}

/// The address of a statement, by which it is known.
pub(super) fn address(stmt: &Stmt) -> usize {
    std::ptr::from_ref(stmt).addr()
}

impl Compiled {
    /// Compiles the first function of a source, up to the source of kernels; `contracts`: [`Program::contracts`].
    ///
    /// # Errors
    /// All problems of the program.
    pub fn new(source: &Source, arguments: &[ArgType], contracts: bool) -> Result<Self, Problems> {
        let elaborated = elaborate(source, arguments)?;
        Self::of_program(Program { contracts, ..elaborated.program }, elaborated.result)
    }

    /// Schedules a core program.
    ///
    /// # Errors
    /// What kernels cannot compute.
    pub fn of_program(mut program: Program, result: ResultType) -> Result<Self, Problems> {
        schedule(&mut program)?;
        let places = places(&program);
        let mut compiled = Self {
            program,
            result,
            places,
            uses: HashMap::new(),
            distributed: HashMap::new(),
            storing: HashMap::new(),
            repeated: HashMap::new(),
            kernels: Mutex::default(),
            narrow: Mutex::default(),
            has_run: AtomicBool::new(false),
        };
        compiled.check_kernels()?;
        let mut uses = HashMap::new();
        let params: Vec<Var> = compiled.program.params.clone();
        note_uses(&compiled.program, &compiled.program.body, &params, &HashSet::new(), &mut uses);
        let maps: Vec<(usize, Stmt)> =
            compiled.kernel_statements().into_iter().map(|stmt| (address(stmt), stmt.clone())).collect();
        for (place, stmt) in maps {
            if let Some(stmts) = distribute(&mut compiled.program, &stmt) {
                // Statements stay where they are when their vector moves.
                let results = stmt.outs.iter().map(|out| Atom::Var(*out)).collect();
                let block = Block { stmts, results };
                note_uses(&compiled.program, &block, &[], &HashSet::new(), &mut uses);
                compiled.distributed.insert(place, block.stmts);
            }
        }
        let mut pairs = Vec::new();
        collect_storing(&compiled.program.body, &mut pairs);
        for (map, reduction, both) in pairs {
            let block = Block { results: both.outs.iter().map(|out| Atom::Var(*out)).collect(), stmts: vec![both] };
            note_uses(&compiled.program, &block, &[], &HashSet::new(), &mut uses);
            compiled.storing.insert(map, (reduction, block.stmts));
        }
        compiled.uses = uses;
        compiled.repeated = repeated_loops(&compiled.program, &compiled.places);
        Ok(compiled)
    }

    /// What the results make up.
    pub fn result_type(&self) -> &ResultType {
        &self.result
    }

    /// The program after all passes.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The statements that are kernels, in order.
    pub fn kernel_statements(&self) -> Vec<&Stmt> {
        fn collect<'p>(block: &'p Block, all: &mut Vec<&'p Stmt>) {
            for stmt in &block.stmts {
                match &stmt.exp {
                    Exp::If { .. } | Exp::Loop { .. } => {
                        stmt.exp.blocks().into_iter().for_each(|block| collect(block, all));
                    }
                    exp if exp.is_kernel() => all.push(stmt),
                    _ => {}
                }
            }
        }
        let mut all = Vec::new();
        collect(&self.program.body, &mut all);
        all
    }

    /// What the program will do, as text, with lines of its files.
    pub fn plan(&self, files: &Files) -> String {
        rtcg_lang::plan::plan(&self.program, files)
    }

    /// Whether there are maps with reductions in them, which run in several forms.
    pub fn has_nested_reductions(&self) -> bool {
        let has = |stmt: &&Stmt| stmt.exp.blocks().iter().any(|block| super::run::inner_reduction(block).is_some());
        self.kernel_statements().iter().any(|stmt| stmt.exp.space().len() > 1 || has(stmt))
    }

    /// The sources of the kernels: of those that have run, in all forms; of statements that have not, as for arrays of
    /// the lengths of what reads them, of any size.
    pub fn sources(&self) -> Vec<String> {
        let kernels = self.kernels.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut found = Vec::new();
        for stmt in self.kernel_statements() {
            let parts = self.distributed.get(&address(stmt)).map_or(&[][..], Vec::as_slice);
            let both = self.storing.get(&address(stmt)).map_or(&[][..], |(_, both)| both);
            let places: Vec<usize> = std::iter::once(stmt).chain(parts).chain(both).map(address).collect();
            let mut ran: Vec<_> = kernels.iter().filter(|(key, _)| places.contains(&key.stmt)).collect();
            ran.sort_by_key(|(key, _)| (places.iter().position(|place| *place == key.stmt), key.narrow));
            // A reduction runs with the map before it.
            let has_run_with_map = self.storing.values().any(|(reduction, both)| {
                *reduction == address(stmt) && kernels.keys().any(|key| key.stmt == address(&both[0]))
            });
            match (ran.is_empty() && !has_run_with_map, emit(&self.program, stmt, &Unknown(&self.places))) {
                (true, Ok(emitted)) => found.push(super::kernels::source(&emitted.kernel)),
                _ => found.extend(ran.into_iter().map(|(_, ready)| super::kernels::source(&ready.made_of))),
            }
        }
        found
    }

    /// Finds what cannot be a kernel before anything runs.
    fn check_kernels(&self) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for stmt in self.kernel_statements() {
            if matches!(stmt.exp, Exp::Sort { .. }) {
                continue;
            }
            if let Err(problem) = emit(&self.program, stmt, &Unknown(&self.places)) {
                problems.add(*problem);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// The loops of the host whose rounds enqueue the same kernels, and what the host computes of a round.
fn repeated_loops(program: &Program, places: &Places) -> HashMap<usize, Block> {
    fn collect(program: &Program, places: &Places, block: &Block, found: &mut HashMap<usize, Block>) {
        for stmt in &block.stmts {
            found.extend(host_part(program, places, stmt).map(|part| (address(stmt), part)));
            if matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. }) {
                stmt.exp.blocks().into_iter().for_each(|inner| collect(program, places, inner, found));
            }
        }
    }
    let mut found = HashMap::new();
    collect(program, places, &program.body, &mut found);
    found
}

/// What is known of a program that does not run: arrays have the lengths of what reads them, of any size.
struct Unknown<'p>(&'p Places);

impl Facts for Unknown<'_> {
    fn has_lengths(&self, _array: Var, _lengths: &[Atom]) -> bool {
        true
    }
    fn is_on_device(&self, scalar: Var) -> bool {
        self.0.of(scalar.into()) == Place::Device
    }
    fn is_small(&self, _lengths: &[Atom]) -> bool {
        false
    }
}

/// Notes what each statement outside of elements uses, and what nothing uses after it in its block.
fn note_uses(program: &Program, block: &Block, own: &[Var], kept: &HashSet<Var>, all: &mut HashMap<usize, Uses>) {
    let mut live: HashSet<Var> = block.results.iter().filter_map(|atom| atom.as_var()).collect();
    let mut local: HashSet<Var> = own.iter().copied().collect();
    block.stmts.iter().for_each(|stmt| local.extend(stmt.outs.iter().copied()));
    for stmt in block.stmts.iter().rev() {
        let mut bound = HashSet::new();
        collect_bound(&stmt.exp, &mut bound);
        let space: Vec<Var> = stmt.exp.space().iter().map(|axis| axis.index).collect();
        let is_integer = |var: &Var| program.var_type(*var).dtype == DType::I64 && !space.contains(var);
        let has_integers = bound.iter().any(is_integer) || matches!(stmt.exp, Exp::Reduce { .. } | Exp::Scan { .. });
        let mut uses = Uses {
            widths: row_widths(program, stmt),
            has_integers,
            has_loops: stmt.exp.blocks().into_iter().any(has_loop),
            ..Uses::default()
        };
        let mut found = HashSet::new();
        all_operands(&stmt.exp, &mut |var| {
            if !bound.contains(&var) && found.insert(var) {
                if program.var_type(var).ndim > 0 { &mut uses.arrays } else { &mut uses.scalars }.push(var);
            }
        });
        uses.arrays.sort_unstable();
        uses.scalars.sort_unstable();
        let mentioned = found.iter().chain(&stmt.outs);
        let dead = mentioned.filter(|var| !live.contains(var) && local.contains(var) && !kept.contains(var));
        uses.dead_after = dead.copied().collect();
        live.extend(found);
        match &stmt.exp {
            Exp::If { then, other, .. } => {
                note_uses(program, then, &[], kept, all);
                note_uses(program, other, &[], kept, all);
            }
            Exp::Loop { params, cond, body, .. } => {
                // The condition's variables are needed by the body, and again in the next round.
                let kept: HashSet<Var> = kept.iter().chain(params).copied().collect();
                note_uses(program, cond, &[], &kept, all);
                note_uses(program, body, &[], &kept, all);
            }
            _ => {}
        }
        all.insert(address(stmt), uses);
    }
}

fn collect_storing(block: &Block, found: &mut Vec<(usize, usize, Stmt)>) {
    let own = storing_reductions(block).into_iter();
    found.extend(own.map(|(map, at, both)| (address(&block.stmts[map]), address(&block.stmts[at]), both)));
    for stmt in &block.stmts {
        if matches!(stmt.exp, Exp::If { .. } | Exp::Loop { .. }) {
            stmt.exp.blocks().into_iter().for_each(|inner| collect_storing(inner, found));
        }
    }
}
