//! Walks over the operands of instructions: which symbols and registers they read and write.

use rtcg_ptx::ast::*;

/// Calls `f` with every source operand of `inst` (address bases included, as operands).
pub(crate) fn for_each_operand(inst: &Inst, f: &mut dyn FnMut(Operand)) {
    use Inst::*;
    let addr = |a: &Addr, f: &mut dyn FnMut(Operand)| match a.base {
        AddrBase::Reg(r) => f(Operand::Reg(r)),
        AddrBase::Symbol(s) => f(Operand::Address(s, a.offset)),
        AddrBase::Absolute => {}
    };
    let pred = |p: &PredSrc, f: &mut dyn FnMut(Operand)| {
        if let PredSrc::Reg { reg, .. } = p {
            f(Operand::Reg(*reg));
        }
    };
    match inst {
        Unary { a, .. } | Cvt { a, .. } | Isspacep { a, .. } | Nanosleep { a } => f(*a),
        Binary { a, b, .. } | CvtPack { a, b, .. } => [a, b].into_iter().for_each(|o| f(*o)),
        Ternary { a, b, c, .. } | Video { a, b, c, .. } | CvtIntPack { a, b, c, .. } | Slct { a, b, c, .. } => {
            [a, b, c].into_iter().for_each(|o| f(*o))
        }
        Selp { a, b, pred, .. } => [a, b, pred].into_iter().for_each(|o| f(*o)),
        Bfi { a, b, pos, len, .. } => [a, b, pos, len].into_iter().for_each(|o| f(*o)),
        Carry { a, b, c, .. } => [Some(a), Some(b), c.as_ref()].into_iter().flatten().for_each(|o| f(*o)),
        Setp { combine, a, b, .. } | Set { combine, a, b, .. } => {
            f(*a);
            f(*b);
            if let Some((_, p)) = combine {
                pred(p, f);
            }
        }
        Mov { src, .. } | MovUnpack { src, .. } | Cvta { src, .. } | StackRestore { src, .. } => f(*src),
        MovPack { srcs, .. } => srcs.iter().for_each(|o| f(*o)),
        Ld { addr: a, .. } | Prefetch { addr: a, .. } => addr(a, f),
        St { addr: a, srcs, .. } => {
            addr(a, f);
            srcs.iter().for_each(|o| f(*o));
        }
        Atom { addr: a, b, c, .. } => {
            addr(a, f);
            f(*b);
            c.iter().for_each(|o| f(*o));
        }
        Brx { index, .. } => f(Operand::Reg(*index)),
        Call { callee, args, .. } => {
            if let Callee::Indirect { target, .. } = callee {
                f(Operand::Reg(*target));
            }
            for a in args {
                match a {
                    CallArg::Reg(r) => f(Operand::Reg(*r)),
                    CallArg::Imm(o) => f(*o),
                    CallArg::Param(_) => {}
                }
            }
        }
        Bar { kind, id, count, .. } => {
            f(*id);
            count.iter().for_each(|o| f(*o));
            match kind {
                BarKind::RedPopc { pred, .. } | BarKind::RedBool { pred, .. } => f(Operand::Reg(*pred)),
                _ => {}
            }
        }
        BarWarpSync { mask } | Elect { mask, .. } => f(*mask),
        Shfl { a, b, c, mask, .. } => [a, b, c, mask].into_iter().for_each(|o| f(*o)),
        Vote { pred: p, mask, .. } => {
            pred(p, f);
            f(*mask);
        }
        Match { a, mask, .. } | Redux { a, mask, .. } => [a, mask].into_iter().for_each(|o| f(*o)),
        CpAsync { dst, src, src_size, ignore_src, .. } => {
            addr(dst, f);
            addr(src, f);
            src_size.iter().for_each(|o| f(*o));
            ignore_src.iter().for_each(|p| pred(p, f));
        }
        BulkCopy { dst, src, size, barrier, .. } => {
            [Some(dst), Some(src), barrier.as_ref()].into_iter().flatten().for_each(|a| addr(a, f));
            f(*size);
        }
        Mbarrier { addr: at, a, b, .. } => {
            addr(at, f);
            [a, b].into_iter().flatten().for_each(|o| f(*o));
        }
        AtomVector { addr: a, srcs, .. } => {
            addr(a, f);
            srcs.iter().for_each(|o| f(*o));
        }
        Texture(inst) => inst.for_each_operand(f),
        Matrix(matrix) => {
            matrix.for_each_source(|o| f(*o));
            if let Some(a) = matrix.address() {
                addr(a, f);
            }
        }
        Alloca { size, .. } => f(*size),
        Bra { .. }
        | Ret
        | Exit
        | Trap
        | Brkpt
        | Fence(_)
        | Activemask { .. }
        | CpAsyncCommit
        | CpAsyncWait { .. }
        | BulkCommit
        | BulkWait { .. }
        | Hint { .. }
        | StackSave { .. }
        | Other { .. } => {}
    }
}

/// Calls `f` with every symbol `inst` names.
pub(crate) fn for_each_symbol(inst: &Inst, f: &mut dyn FnMut(Symbol)) {
    for_each_operand(inst, &mut |o| {
        if let Operand::Address(s, _) = o {
            f(s);
        }
    });
}

/// Calls `f` with every register `inst` reads, its guard excepted.
pub fn for_each_use(inst: &Inst, f: &mut dyn FnMut(Reg)) {
    for_each_operand(inst, &mut |o| {
        if let Operand::Reg(r) = o {
            f(r);
        }
    });
}

/// Calls `f` with every register `inst` writes. The result of `bar.red` is written by a
/// statement of its own, see `barrier_results`.
pub fn for_each_def(inst: &Inst, f: &mut dyn FnMut(Reg)) {
    use Inst::*;
    match inst {
        Unary { dst, .. }
        | Binary { dst, .. }
        | Ternary { dst, .. }
        | Bfi { dst, .. }
        | Carry { dst, .. }
        | Slct { dst, .. }
        | Selp { dst, .. }
        | Set { dst, .. }
        | Mov { dst, .. }
        | MovPack { dst, .. }
        | Cvt { dst, .. }
        | CvtPack { dst, .. }
        | CvtIntPack { dst, .. }
        | Video { dst, .. }
        | Cvta { dst, .. }
        | Isspacep { dst, .. }
        | Vote { dst, .. }
        | Redux { dst, .. }
        | Activemask { dst }
        | Alloca { dst, .. }
        | StackSave { dst, .. } => f(*dst),
        Setp { dst, dst2, .. } => [dst, dst2].into_iter().flatten().for_each(|r| f(*r)),
        MovUnpack { dsts, .. } | Ld { dsts, .. } => dsts.iter().flatten().for_each(|r| f(*r)),
        Texture(inst) => inst.for_each_def(f),
        AtomVector { dsts, .. } => dsts.iter().flatten().flatten().for_each(|r| f(*r)),
        Atom { dst, .. } | Mbarrier { dst, .. } => dst.iter().for_each(|r| f(*r)),
        Shfl { dst, pred, .. } | Match { dst, pred, .. } => {
            f(*dst);
            pred.iter().for_each(|r| f(*r));
        }
        Matrix(matrix) => matrix.destinations().iter().for_each(|r| f(*r)),
        Elect { dst, pred, .. } => {
            dst.iter().for_each(|r| f(*r));
            f(*pred);
        }
        Call { rets, .. } => {
            for r in rets {
                if let CallArg::Reg(r) = r {
                    f(*r);
                }
            }
        }
        _ => {}
    }
}
