//! The pass over clang's PTX: what OpenCL's launch has and CUDA's lacks.
//!
//! - Each kernel gets one more parameter, the launch record ([`RECORD_BYTES`]): global offset and size, dimensions. The
//!   library of builtins reads its words as `%envreg0`, `%envreg1`, ..., which become loads from it.
//! - A `__local` pointer argument holds an offset; the address of the dynamic shared memory is added to it.
//! - `__constant` arguments are buffers, which CUDA's constant memory cannot hold: the whole address space becomes global
//!   memory that is only read.
//! - Items beyond the global size return at once, so that global sizes need not be multiples of local ones.

use rtcg_ptx::ast::*;

/// Bytes of the launch record.
pub(crate) const RECORD_BYTES: u32 = 64;

/// Words of the launch record. The library of builtins has the same numbers.
pub(crate) mod word {
    /// Three words: the global offset.
    pub(crate) const OFFSET: usize = 0;
    /// Three words: the global size in items.
    pub(crate) const SIZE: usize = 3;
    /// Dimensions of the launch.
    pub(crate) const DIMENSIONS: usize = 6;
    /// Not 0 where some group has items beyond the global size.
    pub(crate) const IS_UNEVEN: usize = 7;
}

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
        let list: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| format!("{diagnostic:?}")).collect();
        return Err(list.join("\n"));
    }
    let mut module = parsed.module;
    make_constants_global(&mut module);
    let shared = GlobalVar(module.vars.len() as u32);
    let mut uses_shared = false;
    let mut entries = Vec::new();
    for function in &mut module.functions {
        if !function.entry {
            if function.body.iter().any(|statement| envreg_of(&statement.inst).is_some()) {
                return Err(format!(
                    "function {} asks for the launch, but was not inlined into a kernel",
                    function.name
                ));
            }
            continue;
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

fn envreg_of(inst: &Inst) -> Option<(Reg, u8)> {
    match inst {
        Inst::Mov { dst, src: Operand::Special(SpecialReg::Envreg(number)), .. } => Some((*dst, *number)),
        _ => None,
    }
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
        name: format!("{}_rtcg_launch", function.name).into(),
        ty: Type::B8,
        align: 8,
        size: RECORD_BYTES,
        ptr: false,
        offset: record_offset as u32,
        reg: None,
    });
    let mut maker = Maker { function, record, new: Vec::new() };
    maker.return_beyond_the_global_size();
    let (body, targets) = (std::mem::take(&mut maker.function.body), maker.function.label_targets.clone());
    // Where each statement is found afterwards.
    let mut places = Vec::with_capacity(body.len() + 1);
    for statement in body {
        places.push(maker.new.len() as u32);
        maker.put(statement, local, shared);
    }
    places.push(maker.new.len() as u32);
    let own_labels = maker.function.labels.len() - maker.added_labels();
    for (label, target) in targets.iter().take(own_labels).enumerate() {
        maker.function.label_targets[label] = places[*target as usize];
    }
    let new = std::mem::take(&mut maker.new);
    function.body = new;
    Entry { name: function.name.to_string(), slots, record_offset }
}

/// A kernel whose statements are being made anew.
struct Maker<'f> {
    function: &'f mut Function,
    record: Symbol,
    new: Vec<Statement>,
}

/// The label behind the check of the global size.
const INSIDE: &str = "$rtcg_inside";

impl Maker<'_> {
    fn added_labels(&self) -> usize {
        usize::from(self.function.labels.last().is_some_and(|label| &**label == INSIDE))
    }

    fn register(&mut self, name: &str, ty: Type) -> Reg {
        self.function.regs.push(RegDecl { name: name.into(), ty });
        Reg(self.function.regs.len() as u32 - 1)
    }

    fn push(&mut self, inst: Inst, guard: Option<Guard>) {
        self.new.push(Statement { guard, inst, span: Span::default(), line: None });
    }

    fn load_word(&mut self, dst: Reg, number: usize) {
        let addr = Addr { base: AddrBase::Symbol(self.record), offset: 4 * number as i64 };
        let inst = Inst::Ld {
            space: Space::Param,
            ty: Type::U32,
            sem: MemorySemantics::Weak,
            scope: None,
            nc: false,
            dsts: vec![Some(dst)],
            addr,
        };
        self.push(inst, None);
    }

    fn put(&mut self, statement: Statement, local: &[bool], shared: GlobalVar) {
        if let Some((dst, number)) = envreg_of(&statement.inst) {
            return self.load_word(dst, number.into());
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
            self.push(Inst::Mov { ty: Type::U64, dst: base, src: Operand::Address(Symbol::Global(shared), 0) }, None);
            let add = Inst::Binary {
                op: BinaryOp::Add,
                ty: Type::S64,
                mods: FpMods::default(),
                dst,
                a: Operand::Reg(dst),
                b: Operand::Reg(base),
            };
            self.push(add, None);
        }
    }

    /// `if (is_uneven && any id >= size) return;`
    fn return_beyond_the_global_size(&mut self) {
        let flag = self.register("%rtcg_uneven", Type::B32);
        let (even, beyond) = (self.register("%rtcg_even", Type::Pred), self.register("%rtcg_beyond", Type::Pred));
        let (id, group, extent) = (
            self.register("%rtcg_id", Type::B32),
            self.register("%rtcg_group", Type::B32),
            self.register("%rtcg_extent", Type::B32),
        );
        let inside = Label(self.function.labels.len() as u32);
        self.function.labels.push(INSIDE.into());
        self.load_word(flag, word::IS_UNEVEN);
        self.push(setp(CmpOp::Eq, even, flag, Operand::Int(0)), None);
        self.push(Inst::Bra { target: inside, uniform: true }, Some(Guard { reg: even, negated: false }));
        for (axis, component) in [Dim3Component::X, Dim3Component::Y, Dim3Component::Z].into_iter().enumerate() {
            let special = |register| Operand::Special(register);
            self.push(Inst::Mov { ty: Type::U32, dst: group, src: special(SpecialReg::Ctaid(component)) }, None);
            self.push(Inst::Mov { ty: Type::U32, dst: extent, src: special(SpecialReg::Ntid(component)) }, None);
            self.push(Inst::Mov { ty: Type::U32, dst: id, src: special(SpecialReg::Tid(component)) }, None);
            let multiply_add = Inst::Ternary {
                op: TernaryOp::MadLo,
                ty: Type::U32,
                mods: FpMods::default(),
                dst: id,
                a: Operand::Reg(group),
                b: Operand::Reg(extent),
                c: Operand::Reg(id),
            };
            self.push(multiply_add, None);
            self.load_word(extent, word::SIZE + axis);
            self.push(setp(CmpOp::Ge, beyond, id, Operand::Reg(extent)), None);
            self.push(Inst::Ret, Some(Guard { reg: beyond, negated: false }));
        }
        self.function.label_targets.push(self.new.len() as u32);
    }
}

fn setp(cmp: CmpOp, dst: Reg, a: Reg, b: Operand) -> Inst {
    let (dst, a) = (Some(dst), Operand::Reg(a));
    Inst::Setp { cmp, ty: Type::U32, ftz: false, combine: None, dst, dst2: None, a, b }
}
