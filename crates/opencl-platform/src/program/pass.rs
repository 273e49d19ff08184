//! The pass over clang's PTX: what OpenCL's launch has and CUDA's lacks.
//!
//! - Each kernel gets one more parameter, the launch record ([`RECORD_BYTES`]): global offset and size, the place of the
//!   launch among the groups. The library of builtins reads its words as `%envreg0`, `%envreg1`, ..., which become loads
//!   from it; where it widens one, that and the next are loaded.
//! - A `__local` pointer argument holds an offset; the address of the dynamic shared memory is added to it.
//! - `__constant` arguments are buffers, which CUDA's constant memory cannot hold: the whole address space becomes global
//!   memory that is only read.
//! - A required group size is the largest one only: the last groups may be smaller.

use rtcg_ptx::ast::*;
use rtcg_ptx::opencl_launch::{RECORD_BYTES, record_name, word};

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
/// The diagnostics of PTX that the parser does not know, and a function outside of kernels that asks for the launch.
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
    for function in &mut module.functions {
        match last_envreg(function) {
            Some(_) if !function.entry => {
                return Err(format!(
                    "function {} asks for the launch, but was not inlined into a kernel",
                    function.name
                ));
            }
            Some(number) if number >= word::END => {
                return Err(format!(
                    "kernel {} reads %envreg{number}, which is no word of the launch record",
                    function.name
                ));
            }
            _ if !function.entry => continue,
            _ => {}
        }
        let local: Vec<bool> = (0..function.params.len()).map(|index| is_local(&function.name, index)).collect();
        uses_shared |= local.contains(&true);
        entries.push(transform_entry(function, &local, shared));
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

fn envreg_of(inst: &Inst) -> Option<(Type, Reg, u8)> {
    match inst {
        Inst::Mov { ty, dst, src: Operand::Special(SpecialReg::Envreg(number)) }
        | Inst::Cvt { dty: ty, dst, a: Operand::Special(SpecialReg::Envreg(number)), .. } => Some((*ty, *dst, *number)),
        _ => None,
    }
}

/// The last word of the launch record that a function reads.
fn last_envreg(function: &Function) -> Option<usize> {
    let last = |(ty, _, number): (Type, Reg, u8)| usize::from(number) + usize::from(ty.bits() == 64);
    function.body.iter().filter_map(|statement| envreg_of(&statement.inst)).map(last).max()
}

fn transform_entry(function: &mut Function, local: &[bool], shared: GlobalVar) -> Entry {
    let slots: Vec<Slot> = function
        .params
        .iter()
        .map(|param| Slot { offset: param.offset as usize, nbytes: param.size as usize })
        .collect();
    let end = slots.last().map_or(0, |slot| slot.offset + slot.nbytes);
    let record_offset = end.next_multiple_of(8);
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
    let mut maker = Maker { function, record, new: Vec::new() };
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
    let new = std::mem::take(&mut maker.new);
    function.body = new;
    Entry { name: function.name.to_string(), slots, record_offset }
}

struct Maker<'f> {
    function: &'f mut Function,
    record: Symbol,
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

    fn put(&mut self, statement: Statement, local: &[bool], shared: GlobalVar) {
        if let Some((ty, dst, number)) = envreg_of(&statement.inst) {
            let addr = Addr { base: AddrBase::Symbol(self.record), offset: 4 * i64::from(number) };
            let (space, sem) = (Space::Param, MemorySemantics::Weak);
            let inst = Inst::Ld { space, ty, sem, scope: None, nc: false, dsts: vec![Some(dst)], addr };
            self.new.push(Statement { inst, ..statement });
            return;
        }
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
