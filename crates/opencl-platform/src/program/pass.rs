//! The pass over clang's PTX: what OpenCL's launch has and CUDA's lacks.
//!
//! - Each kernel gets one more parameter, the launch record ([`RECORD_BYTES`]): global offset and size, the place of the
//!   launch among the groups. The library of builtins reads its words as `%envreg0`, `%envreg1`, ..., which become loads
//!   from it; where it widens one, that and the next are loaded. Functions are handed what they read ([`launch_words`](super::launch_words)).
//! - A `__local` pointer argument holds an offset; the address of the dynamic shared memory is added to it.
//! - `__constant` arguments are buffers, which CUDA's constant memory cannot hold: the whole address space becomes global
//!   memory that is only read.
//! - A required group size is the largest one only: the last groups may be smaller.

use super::launch_words::{Source, Words, add_parameters, number_of, read_of, resolved, words_of_functions};
use rtcg_ptx::ast::*;
use rtcg_ptx::opencl_launch::{RECORD_BYTES, record_name};
use std::collections::BTreeMap;

const _: () = assert!(RECORD_BYTES <= crate::platform::device::MAX_RECORD_BYTES);

/// A parameter of a kernel in the packed arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) offset: usize,
    pub(crate) nbytes: usize,
}

/// A kernel after the pass.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// The program's own parameters.
    pub(crate) slots: Vec<Slot>,
    /// Where the launch record begins.
    pub(crate) record_offset: usize,
}

/// Where the launch record is, behind the program's own parameters.
pub(crate) fn record_offset(slots: &[Slot]) -> usize {
    slots.last().map_or(0, |slot| slot.offset + slot.nbytes).next_multiple_of(8)
}

/// What the pass makes of a module.
pub(crate) struct Transformed {
    pub(crate) ptx: String,
    pub(crate) entries: Vec<Entry>,
}

/// The dynamic shared memory that `__local` arguments share.
const LOCAL_ARGUMENTS: &str = "rtcg_local_arguments";

/// Runs the pass. `is_local(kernel, argument)` says which arguments are `__local` pointers.
///
/// # Errors
/// The diagnostics of PTX that the parser does not know, and those of [`words_of_functions`].
pub(crate) fn transform(ptx: &str, is_local: impl Fn(&str, usize) -> bool) -> std::result::Result<Transformed, String> {
    let parsed = rtcg_ptx::parse(ptx);
    if parsed.has_errors() {
        return Err(parsed.render_diagnostics("program.ptx"));
    }
    let mut module = parsed.module;
    make_constants_global(&mut module);
    for file in &mut module.files {
        // clang ran in the folder of the program, which is no part of its name.
        *file = file.trim_start_matches("./").into();
    }
    let shared = GlobalVar(module.vars.len() as u32);
    let mut uses_shared = false;
    let mut entries = Vec::new();
    let words = words_of_functions(&module)?;
    let calls = Calls { words: &words, aliases: &module.aliases };
    for (function, words) in module.functions.iter_mut().zip(&words) {
        if function.entry {
            let local: Vec<bool> = (0..function.params.len()).map(|index| is_local(&function.name, index)).collect();
            uses_shared |= local.contains(&true);
            entries.push(transform_entry(function, &local, shared, &calls));
        } else if !words.is_empty() {
            let source = add_parameters(function, words);
            rewrite_body(function, source, &calls, &[], shared);
        }
    }
    if uses_shared {
        module.vars.push(Var {
            name: LOCAL_ARGUMENTS.into(),
            space: Space::Shared,
            ty: Type::B8,
            vector: 1,
            align: 128,
            size: 0,
            unsized_array: true,
            init: Vec::new(),
            linkage: Linkage::Extern,
            managed: false,
            opaque: None,
            span: Span::default(),
        });
    }
    Ok(Transformed { ptx: rtcg_ptx::print_module(&module), entries })
}

/// Puts constants into global memory.
fn make_constants_global(module: &mut Module) {
    let variables = module.vars.iter_mut().filter(|variable| variable.space == Space::Const);
    variables.for_each(|variable| variable.space = Space::Global);
    for statement in module.functions.iter_mut().flat_map(|function| &mut function.body) {
        match &mut statement.inst {
            Inst::Ld { space: space @ Space::Const, nc, .. } => {
                *space = Space::Global;
                *nc = true;
            }
            Inst::Cvta { space: space @ Space::Const, .. } | Inst::Isspacep { space: space @ Space::Const, .. } => {
                *space = Space::Global;
            }
            _ => {}
        }
    }
}

/// What functions are handed by those that call them.
struct Calls<'m> {
    words: &'m [Words],
    aliases: &'m [(FuncId, FuncId)],
}

fn transform_entry(function: &mut Function, local: &[bool], shared: GlobalVar, calls: &Calls<'_>) -> Entry {
    let slots: Vec<Slot> = function
        .params
        .iter()
        .map(|param| Slot { offset: param.offset as usize, nbytes: param.size as usize })
        .collect();
    let record_offset = record_offset(&slots);
    let record = Symbol::Param(function.params.len() as u32);
    function.params.push(Param {
        name: record_name(&function.name).into(),
        ty: Type::B8,
        align: 8,
        size: RECORD_BYTES,
        ptr: false,
        offset: record_offset as u32,
        reg: None,
    });
    let bounds = &mut function.bounds;
    bounds.max_ntid = bounds.req_ntid.take().or(bounds.max_ntid);
    rewrite_body(function, Source::Record(record), calls, local, shared);
    Entry { name: function.name.to_string(), slots, record_offset }
}

/// Replaces reads of the record, hands it down in calls, and makes addresses of `__local` arguments.
fn rewrite_body(function: &mut Function, source: Source, calls: &Calls<'_>, local: &[bool], shared: GlobalVar) {
    let handed = words_of_calls(function, calls);
    let mut maker = Maker { function, source, calls, handed: BTreeMap::new(), new: Vec::new() };
    maker.load_what_is_handed_down(handed);
    let body = std::mem::take(&mut maker.function.body);
    // Where each statement is found afterwards.
    let mut places = Vec::with_capacity(body.len() + 1);
    for statement in body {
        places.push(maker.new.len() as u32);
        maker.put(statement, local, shared);
    }
    places.push(maker.new.len() as u32);
    for target in &mut maker.function.label_targets {
        *target = places[*target as usize];
    }
    maker.function.body = maker.new;
}

/// What a function hands to all that it calls.
fn words_of_calls(function: &Function, calls: &Calls<'_>) -> Words {
    let called = function.body.iter().filter_map(|statement| match &statement.inst {
        Inst::Call { callee: Callee::Direct(callee), .. } => calls.words.get(resolved(calls.aliases, *callee)),
        _ => None,
    });
    called.flatten().copied().collect()
}

struct Maker<'f> {
    function: &'f mut Function,
    source: Source,
    calls: &'f Calls<'f>,
    /// Registers of numbers of the launch record.
    handed: BTreeMap<(u8, u32), Reg>,
    new: Vec<Statement>,
}

impl Maker<'_> {
    fn register(&mut self, name: &str, ty: Type) -> Reg {
        self.function.regs.push(RegDecl { name: name.into(), ty });
        Reg(self.function.regs.len() as u32 - 1)
    }

    fn push(&mut self, inst: Inst) {
        self.new.push(Statement { guard: None, inst, span: Span::default(), line: None });
    }

    /// A load of a number of the launch record.
    fn load(&self, ty: Type, dst: Reg, number: (u8, u32)) -> Inst {
        let (space, sem, addr) = (Space::Param, MemorySemantics::Weak, self.source.address(number));
        Inst::Ld { space, ty, sem, scope: None, nc: false, dsts: vec![Some(dst)], addr }
    }

    /// Loads what calls need, once at the beginning: nothing may stand between a call and the stores of its arguments.
    fn load_what_is_handed_down(&mut self, words: Words) {
        for number in words {
            let ty = if number.1 == 8 { Type::B64 } else { Type::B32 };
            let register = self.register(&format!("%rtcg_word{}", self.function.regs.len()), ty);
            self.push(self.load(ty, register, number));
            self.handed.insert(number, register);
        }
    }

    /// Adds what a function is handed to the arguments of its call.
    fn hand_down(&self, statement: &mut Statement) {
        let Inst::Call { callee: Callee::Direct(callee), args, .. } = &mut statement.inst else { return };
        let words = self.calls.words.get(resolved(self.calls.aliases, *callee)).into_iter().flatten();
        args.extend(words.map(|number| CallArg::Reg(self.handed[number])));
    }

    fn put(&mut self, mut statement: Statement, local: &[bool], shared: GlobalVar) {
        if let Some(read) = read_of(&statement.inst) {
            let inst = self.load(read.0, read.1, number_of(read));
            self.new.push(Statement { inst, ..statement });
            return;
        }
        self.hand_down(&mut statement);
        let of_local = match &statement.inst {
            Inst::Ld {
                space: Space::Param,
                addr: Addr { base: AddrBase::Symbol(Symbol::Param(index)), .. },
                dsts,
                ..
            } if local.get(*index as usize) == Some(&true) => dsts.first().copied().flatten(),
            _ => None,
        };
        self.new.push(statement);
        if let Some(dst) = of_local {
            let base = self.register(&format!("%rtcg_local{}", self.function.regs.len()), Type::B64);
            self.push(Inst::Mov { ty: Type::U64, dst: base, src: Operand::Address(Symbol::Global(shared), 0) });
            let add = Inst::Binary {
                op: BinaryOp::Add,
                ty: Type::S64,
                mods: FpMods::default(),
                dst,
                a: Operand::Reg(dst),
                b: Operand::Reg(base),
            };
            self.push(add);
        }
    }
}
