//! Inlines device functions in which lanes may wait for each other: those with a barrier, a warp
//! operation, or a loop that waits for another thread, themselves or in what they call.
//!
//! Lanes that enter a function under a mask leave it together, so groups of lanes that wait in two
//! calls, or one in a call for another outside, would never get on. Within one function every lane
//! has its own program counter, and they do. Recursive functions, those that `alloca`, and calls
//! through pointers stay calls.
//!
//! Assumes that no address of a parameter is taken ([`super::param_addresses`]).
//!
//! Establishes that the inlined text behaves as the call: parameters are copied to registers first,
//! results are stored to the caller's record last, local variables become the caller's, and shared
//! ones stay where they were.

use super::inline_renaming::RenameMap;
use super::symbol_layout::{SharedLayout, SharedVar, address_taken_functions, reachable_functions};
use super::{body, spin_loops};
use rtcg_ptx::ast::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Statements above which a function takes no more calls in.
const MAX_INLINED_STATEMENTS: usize = 1 << 14;

/// The module as it is compiled, and where the shared variables of its functions lie.
pub(crate) struct InlinedModule {
    pub(crate) module: Arc<Module>,
    pub(crate) shared: SharedLayout,
}

/// Inlines what `kernel` can reach by direct calls.
pub(crate) fn inline_calls(module: &Arc<Module>, kernel: FuncId) -> InlinedModule {
    let mut shared = SharedLayout::lay_out_shared_memory(module, kernel);
    let reachable = reachable_functions(module, kernel);
    let chosen = if reachable.len() > 1 { functions_to_inline(module, &reachable) } else { HashSet::new() };
    if chosen.is_empty() {
        return InlinedModule { module: Arc::clone(module), shared };
    }
    let mut work = CallInliner { module, chosen, done: HashMap::new(), shared: vec![] };
    reachable.iter().for_each(|&f| work.inline_calls_in(f));
    for (copy, original) in &work.shared {
        if let Some(&at) = shared.offsets.get(original) {
            shared.offsets.insert(*copy, at);
        }
    }
    let done = work.done;
    let mut changed = Module::clone(module);
    for (f, function) in done {
        changed.functions[f.index()] = function;
    }
    InlinedModule { module: Arc::new(changed), shared }
}

/// Functions that direct calls of `f` name.
fn direct_callees(module: &Module, f: FuncId) -> impl Iterator<Item = FuncId> + '_ {
    module.functions[f.index()].body.iter().filter_map(|st| match &st.inst {
        Inst::Call { callee: Callee::Direct(g), .. } => Some(*g),
        _ => None,
    })
}

/// Those of `functions` to be inlined.
fn functions_to_inline(module: &Module, functions: &[FuncId]) -> HashSet<FuncId> {
    let watching = spin_loops::polling_functions(module, functions);
    let is_defined = |f: &&FuncId| module.functions[f.index()].defined;
    let mut waits: HashSet<FuncId> = functions
        .iter()
        .filter(is_defined)
        .filter(|f| may_wait_for_threads(&module.functions[f.index()], &watching))
        .copied()
        .collect();
    loop {
        let more: Vec<FuncId> = (functions.iter().copied())
            .filter(|f| !waits.contains(f) && direct_callees(module, *f).any(|g| waits.contains(&g)))
            .collect();
        if more.is_empty() {
            break;
        }
        waits.extend(more);
    }
    waits.retain(|&f| !module.functions[f.index()].entry && is_inlinable(&module.functions[f.index()]));
    waits.retain(|&f| !is_recursive(module, f));
    waits
}

fn may_wait_for_threads(f: &Function, watching: &HashSet<FuncId>) -> bool {
    let at_once =
        |i: &Inst| matches!(i, Inst::Bar { .. }) || body::block_boundary_kind(i) == body::BlockBoundaryKind::WarpOp;
    f.body.iter().any(|st| at_once(&st.inst))
        || !spin_loops::spin_back_edges(&body::FunctionBody::from_function(f), watching).is_empty()
}

fn is_recursive(module: &Module, f: FuncId) -> bool {
    let pointers = || address_taken_functions(module).into_iter();
    let below = |g: FuncId| {
        let indirect = module.functions[g.index()]
            .body
            .iter()
            .any(|st| matches!(&st.inst, Inst::Call { callee: Callee::Indirect { .. }, .. }));
        direct_callees(module, g).chain(indirect.then(pointers).into_iter().flatten()).collect::<Vec<_>>()
    };
    let (mut seen, mut work) = (HashSet::new(), below(f));
    while let Some(g) = work.pop() {
        if g == f {
            return true;
        }
        if seen.insert(g) {
            work.extend(below(g));
        }
    }
    false
}

/// A load of a parameter: its number, offset and type, and the types of the registers.
type ParamLoadKey = (u32, i64, Type, Vec<Option<Type>>);
/// An element of a result: its number and offset.
type ResultStoreKey = (u32, i64);

/// Whether the function uses its parameters and variables in ways that can be inlined.
fn is_inlinable(f: &Function) -> bool {
    let records = f.params.iter().chain(&f.returns).all(|p| p.reg.is_none_or(|r| f.regs[r.index()].ty != Type::Pred));
    let spaces = f.vars.iter().all(|v| matches!(v.space, Space::Local | Space::Shared | Space::Param));
    records && spaces && f.body.iter().all(|st| is_inlinable_statement(&st.inst)) && stored_results(f).is_some()
}

fn is_inlinable_statement(inst: &Inst) -> bool {
    match inst {
        Inst::Alloca { .. } | Inst::StackSave { .. } | Inst::StackRestore { .. } => false,
        Inst::Ld { .. } if loaded_param(inst).is_some() => true,
        Inst::St { .. } if stored_result(inst).is_some() => true,
        _ => {
            let mut plain = true;
            super::operands::for_each_symbol(inst, &mut |s| {
                plain &= !matches!(s, Symbol::Param(_) | Symbol::Return(_));
            });
            plain
        }
    }
}

/// The parameter that a load reads.
fn loaded_param(inst: &Inst) -> Option<(u32, i64)> {
    match inst {
        Inst::Ld { space: Space::Param, addr: Addr { base: AddrBase::Symbol(Symbol::Param(n)), offset }, .. } => {
            Some((*n, *offset))
        }
        _ => None,
    }
}

/// The result that a store writes.
fn stored_result(inst: &Inst) -> Option<(u32, i64)> {
    match inst {
        Inst::St {
            space: Space::Param,
            addr: Addr { base: AddrBase::Symbol(Symbol::Return(n)), offset },
            srcs,
            ..
        } if srcs.iter().all(|o| !matches!(o, Operand::Address(Symbol::Param(_) | Symbol::Return(_), _))) => {
            Some((*n, *offset))
        }
        _ => None,
    }
}

/// The elements of the results that `f` stores and their types; `None` where they overlap.
fn stored_results(f: &Function) -> Option<Vec<(ResultStoreKey, Type)>> {
    let mut out: Vec<(ResultStoreKey, Type)> = vec![];
    for st in &f.body {
        let (Inst::St { ty, srcs, .. }, Some((n, offset))) = (&st.inst, stored_result(&st.inst)) else { continue };
        for i in 0..srcs.len() {
            let key = (n, offset + i as i64 * i64::from(ty.bytes()));
            match out.iter().find(|(k, _)| *k == key) {
                Some((_, other)) if other.bits() != ty.bits() => return None,
                Some(_) => {}
                None => out.push((key, *ty)),
            }
        }
    }
    out.sort_unstable_by_key(|(k, _)| *k);
    let apart = |w: &[(ResultStoreKey, Type)]| w[0].0.0 != w[1].0.0 || w[0].0.1 + i64::from(w[0].1.bytes()) <= w[1].0.1;
    (out.windows(2).all(apart) && out.iter().all(|(_, ty)| ty.bits() <= 64)).then_some(out)
}

/// The type that a register of `ty` moves as.
fn move_type(ty: Type) -> Type {
    match ty.bits() {
        1 => Type::Pred,
        8 | 16 => Type::B16,
        32 => Type::B32,
        64 => Type::B64,
        _ => Type::B128,
    }
}

struct CallInliner<'m> {
    module: &'m Module,
    chosen: HashSet<FuncId>,
    done: HashMap<FuncId, Function>,
    /// Copies of shared variables and what they are copies of.
    shared: Vec<(SharedVar, SharedVar)>,
}

impl CallInliner<'_> {
    /// Makes `done[f]`, if `f` calls a chosen function.
    fn inline_calls_in(&mut self, f: FuncId) {
        if self.done.contains_key(&f) {
            return;
        }
        let callees: Vec<FuncId> = direct_callees(self.module, f).filter(|g| self.chosen.contains(g)).collect();
        if callees.is_empty() {
            return;
        }
        callees.iter().for_each(|&g| self.inline_calls_in(g));
        let original = &self.module.functions[f.index()];
        let mut out = Function { body: vec![], label_targets: vec![0; original.labels.len()], ..original.clone() };
        let mut starts = vec![];
        for st in &original.body {
            starts.push(out.body.len() as u32);
            match self.inlinable_callee(&out, original, st) {
                Some((g, callee)) => {
                    let vars = self.copy_callee_variables(f, &mut out, g, &callee);
                    InlinedCall { out: &mut out, callee: &callee, call: st, vars }.splice_call();
                }
                None => out.body.push(st.clone()),
            }
        }
        starts.push(out.body.len() as u32);
        for (target, old) in out.label_targets.iter_mut().zip(&original.label_targets) {
            *target = starts[*old as usize];
        }
        self.done.insert(f, out);
    }

    /// The function to inline in place of `st`.
    fn inlinable_callee(&self, out: &Function, original: &Function, st: &Statement) -> Option<(FuncId, Function)> {
        let Inst::Call { callee: Callee::Direct(g), rets, args, .. } = &st.inst else { return None };
        if !self.chosen.contains(g) {
            return None;
        }
        let callee = self.done.get(g).unwrap_or(&self.module.functions[g.index()]);
        let fits = |list: &[CallArg], params: &[Param]| {
            let agree = |(a, p): (&CallArg, &Param)| match a {
                CallArg::Param(v) => p.reg.is_none() && original.vars[v.index()].size >= u64::from(p.size),
                CallArg::Reg(_) => p.reg.is_some(),
                CallArg::Imm(o) => p.reg.is_some() && !matches!(o, Operand::Address(..)),
            };
            list.len() == params.len() && list.iter().zip(params).all(agree)
        };
        let small = out.body.len() + callee.body.len() <= MAX_INLINED_STATEMENTS;
        (small && fits(args, &callee.params) && fits(rets, &callee.returns)).then(|| (*g, callee.clone()))
    }

    /// Gives the caller copies of the variables of the callee.
    fn copy_callee_variables(&mut self, f: FuncId, out: &mut Function, g: FuncId, callee: &Function) -> Vec<LocalVar> {
        let mut copies = vec![];
        for (i, var) in callee.vars.iter().enumerate() {
            let copy = LocalVar(out.vars.len() as u32);
            out.vars.push(var.clone());
            copies.push(copy);
            if var.space == Space::Shared {
                let from = SharedVar::Function(g, i as u32);
                // A copy that the callee got when it was expanded stands for another one.
                let original = self.shared.iter().find(|(c, _)| *c == from).map_or(from, |(_, o)| *o);
                self.shared.push((SharedVar::Function(f, copy.0), original));
            }
        }
        copies
    }
}

/// One call that is replaced by the body of what it calls.
struct InlinedCall<'a> {
    out: &'a mut Function,
    callee: &'a Function,
    call: &'a Statement,
    vars: Vec<LocalVar>,
}

impl InlinedCall<'_> {
    fn splice_call(mut self) {
        let Inst::Call { rets, args, .. } = &self.call.inst else { return };
        let end = self.new_label();
        if let Some(guard) = self.call.guard {
            let guard = Guard { negated: !guard.negated, ..guard };
            self.push_guarded_inst(Some(guard), Inst::Bra { target: end, uniform: false });
        }
        let vars = std::mem::take(&mut self.vars);
        let names = self.rename_callee(&vars);
        let loads = self.load_parameters(&names, args);
        let stores = self.result_registers();
        let leave = self.new_label();
        self.splice_body(&names, leave, &loads, &stores);
        self.emit_label(leave);
        self.store_results(&names, rets, &stores);
        self.emit_label(end);
    }

    /// Gives the caller the registers, labels and prototypes of the callee.
    fn rename_callee<'v>(&mut self, vars: &'v [LocalVar]) -> RenameMap<'v> {
        let names = RenameMap {
            first_reg: self.out.regs.len() as u32,
            first_label: self.out.labels.len() as u32,
            first_prototype: self.out.prototypes.len() as u32,
            vars,
        };
        self.out.regs.extend_from_slice(&self.callee.regs);
        self.out.labels.extend_from_slice(&self.callee.labels);
        self.out.label_targets.resize(self.out.labels.len(), 0);
        self.out.prototypes.extend_from_slice(&self.callee.prototypes);
        names
    }

    fn splice_body(
        &mut self,
        names: &RenameMap<'_>,
        leave: Label,
        loads: &HashMap<ParamLoadKey, Vec<Option<Reg>>>,
        stores: &HashMap<ResultStoreKey, (Reg, Type)>,
    ) {
        let mut starts = vec![];
        for st in &self.callee.body {
            starts.push(self.out.body.len() as u32);
            self.copy_statement(st, names, leave, loads, stores);
        }
        starts.push(self.out.body.len() as u32);
        for (i, old) in self.callee.label_targets.iter().enumerate() {
            self.out.label_targets[names.first_label as usize + i] = starts[*old as usize];
        }
    }

    fn new_label(&mut self) -> Label {
        let label = Label(self.out.labels.len() as u32);
        self.out.labels.push(format!("$inlined_{}", label.0).into());
        self.out.label_targets.push(0);
        label
    }

    fn emit_label(&mut self, label: Label) {
        self.out.label_targets[label.index()] = self.out.body.len() as u32;
    }

    fn new_register(&mut self, ty: Type) -> Reg {
        let reg = Reg(self.out.regs.len() as u32);
        self.out.regs.push(RegDecl { name: format!("%inlined_{}", reg.0).into(), ty });
        reg
    }

    fn push_inst(&mut self, inst: Inst) {
        self.push_guarded_inst(None, inst);
    }

    fn push_guarded_inst(&mut self, guard: Option<Guard>, inst: Inst) {
        self.out.body.push(Statement { guard, inst, span: self.call.span, line: self.call.line });
    }

    /// Loads all that the callee will read of its parameters.
    fn load_parameters(&mut self, names: &RenameMap<'_>, args: &[CallArg]) -> HashMap<ParamLoadKey, Vec<Option<Reg>>> {
        let callee = self.callee;
        for (param, arg) in callee.params.iter().zip(args) {
            let src = match arg {
                CallArg::Reg(r) => Operand::Reg(*r),
                CallArg::Imm(o) => *o,
                CallArg::Param(_) => continue,
            };
            if let Some(reg) = param.reg {
                let ty = move_type(callee.regs[reg.index()].ty);
                self.push_inst(Inst::Mov { ty, dst: names.rename_reg(reg), src });
            }
        }
        let mut loads = HashMap::new();
        for st in &callee.body {
            let (Some(key), Inst::Ld { sem, scope, nc, .. }) = (self.param_load_key(&st.inst), &st.inst) else {
                continue;
            };
            let Some(CallArg::Param(v)) = args.get(key.0 as usize) else { continue };
            if loads.contains_key(&key) {
                continue;
            }
            let dsts: Vec<Option<Reg>> = key.3.iter().map(|ty| ty.map(|ty| self.new_register(ty))).collect();
            let addr = Addr { base: AddrBase::Symbol(Symbol::Local(*v)), offset: key.1 };
            let (sem, scope, nc) = (*sem, *scope, *nc);
            self.push_inst(Inst::Ld { space: Space::Param, ty: key.2, sem, scope, nc, dsts: dsts.clone(), addr });
            loads.insert(key, dsts);
        }
        loads
    }

    fn param_load_key(&self, inst: &Inst) -> Option<ParamLoadKey> {
        let (Inst::Ld { ty, dsts, .. }, Some((n, offset))) = (inst, loaded_param(inst)) else { return None };
        let types = dsts.iter().map(|d| d.map(|r| self.callee.regs[r.index()].ty)).collect();
        Some((n, offset, *ty, types))
    }

    /// Registers for the elements of the results.
    fn result_registers(&mut self) -> HashMap<ResultStoreKey, (Reg, Type)> {
        let mut stores = HashMap::new();
        for (key, ty) in stored_results(self.callee).unwrap_or_default() {
            let dst = self.new_register(move_type(ty));
            self.push_inst(Inst::Mov { ty: move_type(ty), dst, src: Operand::Int(0) });
            stores.insert(key, (dst, ty));
        }
        stores
    }

    fn copy_statement(
        &mut self,
        st: &Statement,
        names: &RenameMap<'_>,
        leave: Label,
        loads: &HashMap<ParamLoadKey, Vec<Option<Reg>>>,
        stores: &HashMap<ResultStoreKey, (Reg, Type)>,
    ) {
        let guard = st.guard.map(|g| names.rename_guard(g));
        let mut add = |inst| self.out.body.push(Statement { guard, inst, span: st.span, line: st.line });
        if let Inst::Ret = st.inst {
            return add(Inst::Bra { target: leave, uniform: false });
        }
        if let (Inst::St { ty, srcs, .. }, Some((n, offset))) = (&st.inst, stored_result(&st.inst)) {
            for (i, &src) in srcs.iter().enumerate() {
                let (dst, ty) = stores[&(n, offset + i as i64 * i64::from(ty.bytes()))];
                add(Inst::Mov { ty: move_type(ty), dst, src: names.rename_operand(src) });
            }
            return;
        }
        let key =
            if let Inst::Ld { dsts, .. } = &st.inst { self.param_load_key(&st.inst).map(|k| (k, dsts)) } else { None };
        let mut add = |inst| self.out.body.push(Statement { guard, inst, span: st.span, line: st.line });
        if let Some((key, dsts)) = key {
            for (from, to) in loads[&key].iter().zip(dsts) {
                if let (Some(from), Some(to)) = (from, to) {
                    let ty = move_type(self.callee.regs[to.index()].ty);
                    add(Inst::Mov { ty, dst: names.rename_reg(*to), src: Operand::Reg(*from) });
                }
            }
            return;
        }
        let mut inst = st.inst.clone();
        names.rename_inst(&mut inst);
        add(inst);
    }

    /// Stores the results to the records of the caller, or moves them to its registers.
    fn store_results(
        &mut self,
        names: &RenameMap<'_>,
        rets: &[CallArg],
        stores: &HashMap<ResultStoreKey, (Reg, Type)>,
    ) {
        let callee = self.callee;
        for (i, (ret, param)) in rets.iter().zip(&callee.returns).enumerate() {
            if let (CallArg::Reg(dst), Some(reg)) = (ret, param.reg) {
                let ty = move_type(callee.regs[reg.index()].ty);
                self.push_inst(Inst::Mov { ty, dst: *dst, src: Operand::Reg(names.rename_reg(reg)) });
            }
            let CallArg::Param(v) = ret else { continue };
            let mut elements: Vec<_> = stores.iter().filter(|(k, _)| k.0 as usize == i).collect();
            elements.sort_unstable_by_key(|(k, _)| **k);
            for (key, (reg, ty)) in elements {
                let addr = Addr { base: AddrBase::Symbol(Symbol::Local(*v)), offset: key.1 };
                let (space, sem, srcs) = (Space::Param, MemorySemantics::Weak, vec![Operand::Reg(*reg)]);
                self.push_inst(Inst::St { space, ty: *ty, sem, scope: None, addr, srcs });
            }
        }
    }
}
