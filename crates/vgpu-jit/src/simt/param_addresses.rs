//! Parameters of device functions whose address is taken: they are moved to local memory, as the PTX
//! ISA says.
//!
//! The last parameter of a function with any number of arguments (`%VAParam[]`) becomes a pointer to a
//! local variable of its caller; any other is copied to a local variable where the function begins.
//!
//! Establishes: no address of a parameter is left in device functions, arguments have the sizes of
//! their parameters, and no element of an access to a record is larger than the record's units.

use rtcg_ptx::ast::*;
use std::sync::Arc;

/// The module without such parameters.
pub(crate) fn lower_param_addresses(module: &Arc<Module>) -> Arc<Module> {
    let needed = |f: &Function| !f.entry && (is_variadic(&f.params) || !address_taken_params(f).is_empty());
    let wide = |f: &Function| f.body.iter().any(|st| is_wide_record_access(f, &st.inst));
    if !module.functions.iter().any(|f| needed(f) || wide(f)) {
        return Arc::clone(module);
    }
    let mut changed = Module::clone(module);
    for f in &mut changed.functions {
        split_wide_record_accesses(f);
        pass_variadic_pointers(f, module);
    }
    for f in changed.functions.iter_mut().filter(|f| !f.entry) {
        if is_variadic(&f.params) {
            replace_variadic_param_with_pointer(f);
        }
        copy_params_to_local(f);
    }
    Arc::new(changed)
}

fn is_variadic(params: &[Param]) -> bool {
    params.last().is_some_and(|p| p.size == 0)
}

/// Whether an instruction loads from or stores to a record 16 bytes at once.
fn is_wide_record_access(f: &Function, inst: &Inst) -> bool {
    let record = |s: Option<Symbol>| s.is_some_and(|s| !f.entry || !matches!(s, Symbol::Param(_)));
    matches!(inst, Inst::Ld { ty: Type::B128, .. } | Inst::St { ty: Type::B128, .. }) && record(accessed_param(inst))
}

/// Such accesses become those of two halves.
fn split_wide_record_accesses(f: &mut Function) {
    rewrite_statements(f, |f, st| {
        if !is_wide_record_access(f, &st.inst) {
            return vec![st];
        }
        let mut half = || {
            let reg = Reg(f.regs.len() as u32);
            f.regs.push(RegDecl { name: format!("%half_{}", reg.0).into(), ty: Type::B64 });
            reg
        };
        let halves = [half(), half()];
        let pair = |r: Reg| Operand::Reg(r);
        let insts = match st.inst.clone() {
            Inst::Ld { space, sem, scope, nc, dsts, addr, .. } => {
                let parts = halves.map(Some).to_vec();
                let load = Inst::Ld { space, ty: Type::B64, sem, scope, nc, dsts: parts, addr };
                let join = dsts.iter().flatten().map(|&dst| Inst::MovPack {
                    ty: Type::B128,
                    dst,
                    srcs: halves.map(pair).to_vec(),
                });
                [load].into_iter().chain(join).collect()
            }
            Inst::St { space, sem, scope, addr, srcs, .. } => {
                let split = Inst::MovUnpack { ty: Type::B128, dsts: halves.map(Some).to_vec(), src: srcs[0] };
                let srcs = halves.map(pair).to_vec();
                vec![split, Inst::St { space, ty: Type::B64, sem, scope, addr, srcs }]
            }
            other => vec![other],
        };
        insts.into_iter().map(|inst| Statement { inst, ..st.clone() }).collect()
    });
}

/// The parameters whose address is taken, each once.
fn address_taken_params(f: &Function) -> Vec<u32> {
    let mut list = vec![];
    for st in &f.body {
        let accessed = accessed_param(&st.inst);
        super::operands::for_each_symbol(&st.inst, &mut |s| {
            if let Symbol::Param(n) = s
                && accessed != Some(s)
                && !list.contains(&n)
            {
                list.push(n);
            }
        });
    }
    list
}

/// The parameter that an instruction loads from or stores to.
fn accessed_param(inst: &Inst) -> Option<Symbol> {
    match inst {
        Inst::Ld { space: Space::Param, addr, .. } | Inst::St { space: Space::Param, addr, .. } => match addr.base {
            AddrBase::Symbol(s) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces the body; labels stay before the statements that they stood before, or before what `make`
/// puts there.
fn rewrite_statements(f: &mut Function, mut make: impl FnMut(&mut Function, Statement) -> Vec<Statement>) {
    let old = std::mem::take(&mut f.body);
    let (mut body, mut starts) = (vec![], vec![]);
    for st in old {
        starts.push(body.len() as u32);
        body.extend(make(f, st));
    }
    starts.push(body.len() as u32);
    f.label_targets.iter_mut().for_each(|t| *t = starts[*t as usize]);
    f.body = body;
}

/// Calls of functions with any number of arguments pass the address of a local variable.
fn pass_variadic_pointers(f: &mut Function, module: &Module) {
    let mut moved = vec![];
    rewrite_statements(f, |f, mut st| {
        let before = pass_variadic_pointer(f, module, &mut st, &mut moved);
        let (span, line) = (st.span, st.line);
        let before = before.into_iter().map(|inst| Statement { guard: None, inst, span, line });
        before.chain([st]).collect()
    });
    for v in &moved {
        f.vars[v.index()].space = Space::Local;
    }
    for st in &mut f.body {
        if let Inst::St { space, addr: Addr { base: AddrBase::Symbol(Symbol::Local(v)), .. }, .. }
        | Inst::Ld { space, addr: Addr { base: AddrBase::Symbol(Symbol::Local(v)), .. }, .. } = &mut st.inst
            && moved.contains(v)
        {
            *space = Space::Local;
        }
    }
}

/// Changes the last argument of a call, if it is one of any number, to a pointer, which the
/// instructions that it returns make; the variable pointed to is added to `moved`.
fn pass_variadic_pointer(
    f: &mut Function,
    module: &Module,
    st: &mut Statement,
    moved: &mut Vec<LocalVar>,
) -> Vec<Inst> {
    let Inst::Call { callee, args, .. } = &mut st.inst else { return vec![] };
    let params = match callee {
        Callee::Direct(g) => &module.functions[g.index()].params,
        Callee::Indirect { proto: Some(p), .. } => &f.prototypes[p.index()].params,
        Callee::Indirect { candidates, .. } => match candidates.first() {
            Some(g) => &module.functions[g.index()].params,
            None => return vec![],
        },
    };
    if !is_variadic(params) {
        return vec![];
    }
    let rest = if args.len() == params.len() { args.pop() } else { None };
    let src = match rest {
        Some(CallArg::Param(v)) => {
            moved.push(v);
            Operand::Address(Symbol::Local(v), 0)
        }
        _ => Operand::Int(0),
    };
    let pointer = Reg(f.regs.len() as u32);
    f.regs.push(RegDecl { name: format!("%arguments_{}", pointer.0).into(), ty: Type::U64 });
    let record = LocalVar(f.vars.len() as u32);
    f.vars.push(new_local_variable(format!("arguments_{}", record.0), Space::Param, 8, 8, f.span));
    args.push(CallArg::Param(record));
    let addr = Addr { base: AddrBase::Symbol(Symbol::Local(record)), offset: 0 };
    let (space, ty, sem, srcs) = (Space::Param, Type::U64, MemorySemantics::Weak, vec![Operand::Reg(pointer)]);
    vec![Inst::Mov { ty, dst: pointer, src }, Inst::St { space, ty, sem, scope: None, addr, srcs }]
}

fn new_local_variable(name: String, space: Space, size: u64, align: u32, span: Span) -> Var {
    Var {
        name: name.into(),
        space,
        ty: Type::B8,
        vector: 1,
        align,
        size,
        unsized_array: false,
        init: vec![],
        linkage: Linkage::Internal,
        managed: false,
        opaque: None,
        span,
    }
}

/// The last parameter becomes a pointer, which stands where its address was taken.
fn replace_variadic_param_with_pointer(f: &mut Function) {
    let last = f.params.len() as u32 - 1;
    let param = &mut f.params[last as usize];
    (param.ty, param.size, param.align) = (Type::U64, 8, 8);
    for st in &mut f.body {
        let Inst::Mov { dst, src: Operand::Address(Symbol::Param(n), 0), .. } = st.inst else { continue };
        if n == last {
            let addr = Addr { base: AddrBase::Symbol(Symbol::Param(n)), offset: 0 };
            let (space, ty, dsts) = (Space::Param, Type::U64, vec![Some(dst)]);
            st.inst = Inst::Ld { space, ty, sem: MemorySemantics::Weak, scope: None, nc: false, dsts, addr };
        }
    }
}

/// Copies parameters whose address is taken to local variables; all accesses go there.
fn copy_params_to_local(f: &mut Function) {
    let list: Vec<(u32, LocalVar)> = address_taken_params(f)
        .into_iter()
        .map(|n| {
            let Param { size, align, .. } = f.params[n as usize];
            let v = LocalVar(f.vars.len() as u32);
            f.vars.push(new_local_variable(format!("parameter_{n}"), Space::Local, size.into(), align.max(8), f.span));
            (n, v)
        })
        .collect();
    if list.is_empty() {
        return;
    }
    for st in &mut f.body {
        redirect_to_copies(&mut st.inst, &list);
    }
    let mut before = vec![];
    for &(n, v) in &list {
        let bytes = i64::from(f.params[n as usize].size);
        let mut at = 0;
        while at < bytes {
            let (ty, step) = if bytes - at >= 8 { (Type::U64, 8) } else { (Type::U8, 1) };
            let reg = Reg(f.regs.len() as u32);
            f.regs.push(RegDecl { name: format!("%copied_{}", reg.0).into(), ty: Type::U64 });
            let place = |s| Addr { base: AddrBase::Symbol(s), offset: at };
            let (sem, scope) = (MemorySemantics::Weak, None);
            let (from, to) = (place(Symbol::Param(n)), place(Symbol::Local(v)));
            let (dsts, srcs) = (vec![Some(reg)], vec![Operand::Reg(reg)]);
            before.push(Inst::Ld { space: Space::Param, ty, sem, scope, nc: false, dsts, addr: from });
            before.push(Inst::St { space: Space::Local, ty, sem, scope, addr: to, srcs });
            at += step;
        }
    }
    let n = before.len() as u32;
    let span = f.span;
    f.body.splice(0..0, before.into_iter().map(|inst| Statement { guard: None, inst, span, line: None }));
    f.label_targets.iter_mut().for_each(|t| *t += n);
}

/// Makes an instruction use the copies of parameters.
fn redirect_to_copies(inst: &mut Inst, list: &[(u32, LocalVar)]) {
    let copy = |s: Symbol| match s {
        Symbol::Param(n) => list.iter().find(|(p, _)| *p == n).map(|(_, v)| Symbol::Local(*v)),
        _ => None,
    };
    match inst {
        Inst::Mov { src: Operand::Address(s, _), .. } | Inst::Cvta { src: Operand::Address(s, _), .. } => {
            *s = copy(*s).unwrap_or(*s);
        }
        Inst::Ld { space, addr: Addr { base: AddrBase::Symbol(s), .. }, .. }
        | Inst::St { space, addr: Addr { base: AddrBase::Symbol(s), .. }, .. } => {
            if let Some(to) = copy(*s) {
                (*s, *space) = (to, Space::Local);
            }
        }
        _ => {}
    }
    if let Inst::Cvta { space, src: Operand::Address(Symbol::Local(v), _), .. } = inst
        && list.iter().any(|(_, copy)| copy == v)
    {
        *space = Space::Local;
    }
}
