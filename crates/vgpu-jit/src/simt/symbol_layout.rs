//! Where symbols live: the layout of shared memory of a kernel, and the numbers that stand for
//! functions when their address is taken.

use super::operands::for_each_operand;
use rtcg_ptx::ast::{CallArg, Callee, FuncId, Inst, Module, Operand, Space, SpecialReg, Statement, Symbol, VarInit};
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;
use std::collections::{BTreeSet, HashMap};

/// What `mov.u64 %rd, function` gives: never an address in the device window, never null.
pub fn function_token(f: FuncId) -> u64 {
    FUNCTION_TOKEN_BASE + (u64::from(f.0) << 4)
}

/// Above every user-space address, so that a token used as a data pointer is illegal.
pub(crate) const FUNCTION_TOKEN_BASE: u64 = 0xf1c0_0000_0000_0000;

/// Absolute addresses of the module's variables, as the loader placed them.
#[derive(Debug, Clone, Default)]
pub struct SymbolLayout {
    /// Indexed by [`rtcg_ptx::ast::GlobalVar`]; the entries of shared variables are not read.
    pub globals: Vec<u64>,
}

/// A variable in shared memory: of the module, or of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SharedVar {
    /// Module scope.
    Module(u32),
    /// Variable number within a function.
    Function(FuncId, u32),
}

/// Offsets of the shared variables that a kernel and the functions it can call use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedLayout {
    /// Addresses in shared memory, the first of which is [`RESERVED_SHARED_BYTES`].
    pub offsets: HashMap<SharedVar, u32>,
    /// Bytes of static shared memory, up to the dynamic part if the kernel names it.
    pub static_size: u32,
    /// The address where dynamic shared memory begins: the end of the static part rounded up to its alignment.
    pub dynamic_offset: u32,
    /// Whether the kernel names dynamic shared memory.
    pub(crate) uses_dynamic: bool,
    /// Whether the kernel asks where the reserved bytes lie, in which groups of several warps of a block meet.
    pub uses_reserved: bool,
}

/// Functions that `kernel` may execute, itself first. With an indirect call every function whose
/// address is taken anywhere in the module counts.
pub fn reachable_functions(module: &Module, kernel: FuncId) -> Vec<FuncId> {
    let mut seen = BTreeSet::from([kernel]);
    let mut order = vec![kernel];
    let mut i = 0;
    while i < order.len() {
        let body = &module.functions[order[i].index()].body;
        for st in body {
            let Inst::Call { callee, args, .. } = &st.inst else { continue };
            let targets = match callee {
                Callee::Direct(f) => vec![*f],
                Callee::Indirect { candidates, .. } if !candidates.is_empty() => candidates.clone(),
                Callee::Indirect { .. } => address_taken_functions(module),
            };
            let _: &Vec<CallArg> = args;
            for f in targets {
                if seen.insert(f) {
                    order.push(f);
                }
            }
        }
        i += 1;
    }
    order
}

/// Defined device functions whose address the module takes, in a `mov` or an initialiser.
pub(crate) fn address_taken_functions(module: &Module) -> Vec<FuncId> {
    let mut set = BTreeSet::new();
    for var in &module.vars {
        for init in &var.init {
            if let VarInit::Address { symbol: Symbol::Func(f), .. } = init {
                set.insert(*f);
            }
        }
    }
    for f in &module.functions {
        for st in &f.body {
            let operands: &[Operand] = match &st.inst {
                Inst::Mov { src, .. } | Inst::Cvta { src, .. } => std::slice::from_ref(src),
                Inst::St { srcs, .. } => srcs,
                _ => &[],
            };
            for o in operands {
                if let Operand::Address(Symbol::Func(f), _) = o {
                    set.insert(*f);
                }
            }
        }
    }
    set.into_iter().filter(|f| module.functions[f.index()].defined && !module.functions[f.index()].entry).collect()
}

/// Whether a statement reads where the reserved bytes of shared memory lie.
fn reads_reserved_offset(body: &[Statement]) -> bool {
    use SpecialReg::{ReservedSmemBegin, ReservedSmemCap, ReservedSmemEnd, ReservedSmemOffset};
    body.iter().any(|statement| {
        let mut found = false;
        for_each_operand(&statement.inst, &mut |operand| {
            found |= matches!(
                operand,
                Operand::Special(ReservedSmemBegin | ReservedSmemEnd | ReservedSmemCap | ReservedSmemOffset(_))
            );
        });
        found
    })
}

impl SharedLayout {
    /// Lays out the shared memory of `kernel`: module variables that are used by it or a function
    /// it can call, then the variables of those functions, then dynamic shared memory.
    pub fn lay_out_shared_memory(module: &Module, kernel: FuncId) -> SharedLayout {
        let mut layout = SharedLayout::default();
        let mut dynamic = vec![];
        let mut dynamic_align = 16;
        let mut next = u64::from(RESERVED_SHARED_BYTES);
        let mut place = |layout: &mut SharedLayout, key: SharedVar, var: &rtcg_ptx::ast::Var| {
            if var.unsized_array || var.size == 0 {
                dynamic.push(key);
                dynamic_align = dynamic_align.max(var.align);
                return;
            }
            next = next.next_multiple_of(u64::from(var.align.max(1)));
            layout.offsets.insert(key, next as u32);
            next += var.size;
        };
        let functions = reachable_functions(module, kernel);
        let used = used_module_vars(module, &functions);
        for (i, var) in module.vars.iter().enumerate() {
            if var.space == Space::Shared && used.contains(&(i as u32)) {
                place(&mut layout, SharedVar::Module(i as u32), var);
            }
        }
        for &f in &functions {
            for (i, var) in module.functions[f.index()].vars.iter().enumerate() {
                if var.space == Space::Shared {
                    place(&mut layout, SharedVar::Function(f, i as u32), var);
                }
            }
        }
        layout.static_size = (next - u64::from(RESERVED_SHARED_BYTES)).min(u64::from(u32::MAX)) as u32;
        layout.dynamic_offset = next.next_multiple_of(u64::from(dynamic_align)).min(u64::from(u32::MAX)) as u32;
        layout.uses_dynamic = !dynamic.is_empty();
        if layout.uses_dynamic {
            // What lies before the dynamic part counts as static.
            layout.static_size = layout.dynamic_offset - RESERVED_SHARED_BYTES;
        }
        layout.uses_reserved = functions.iter().any(|f| reads_reserved_offset(&module.functions[f.index()].body));
        for key in dynamic {
            layout.offsets.insert(key, layout.dynamic_offset);
        }
        layout
    }
}

fn used_module_vars(module: &Module, functions: &[FuncId]) -> BTreeSet<u32> {
    let mut used = BTreeSet::new();
    for f in functions {
        for st in &module.functions[f.index()].body {
            super::operands::for_each_symbol(&st.inst, &mut |s| {
                if let Symbol::Global(g) = s {
                    used.insert(g.0);
                }
            });
        }
    }
    // A shared variable whose address is stored in another variable's initialiser is used too.
    for var in &module.vars {
        for init in &var.init {
            if let VarInit::Address { symbol: Symbol::Global(g), .. } = init {
                used.insert(g.0);
            }
        }
    }
    used
}
