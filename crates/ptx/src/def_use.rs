//! Which registers an instruction reads and writes.
//!
//! The carry flag is no register: see the `cc_in` and `cc_out` of [`Inst::Carry`]. Nothing is
//! known of the operands of [`Inst::Other`].

use crate::ast::*;

/// Calls `f` for each register the instruction reads, its guard aside; one read twice comes twice.
pub fn for_each_use(inst: &Inst, mut f: impl FnMut(Reg)) {
    let mut operand = |o: &Operand| {
        if let Operand::Reg(reg) = o {
            f(*reg);
        }
    };
    match inst {
        Inst::Unary { a, .. }
        | Inst::Cvt { a, .. }
        | Inst::Isspacep { a, .. }
        | Inst::Nanosleep { a }
        | Inst::Mov { src: a, .. }
        | Inst::MovUnpack { src: a, .. }
        | Inst::Cvta { src: a, .. }
        | Inst::BarWarpSync { mask: a }
        | Inst::Alloca { size: a, .. }
        | Inst::StackRestore { src: a, .. }
        | Inst::Elect { mask: a, .. } => operand(a),
        Inst::Binary { a, b, .. } | Inst::CvtPack { a, b, .. } => [a, b].into_iter().for_each(operand),
        Inst::Match { a, mask, .. } | Inst::Redux { a, mask, .. } => [a, mask].into_iter().for_each(operand),
        Inst::Ternary { a, b, c, .. }
        | Inst::Video { a, b, c, .. }
        | Inst::CvtIntPack { a, b, c, .. }
        | Inst::Slct { a, b, c, .. } => [a, b, c].into_iter().for_each(operand),
        Inst::Selp { a, b, pred, .. } => [a, b, pred].into_iter().for_each(operand),
        Inst::Shfl { a, b, c, mask, .. } => [a, b, c, mask].into_iter().for_each(operand),
        Inst::Bfi { a, b, pos, len, .. } => [a, b, pos, len].into_iter().for_each(operand),
        Inst::Carry { a, b, c, .. } => [Some(a), Some(b), c.as_ref()].into_iter().flatten().for_each(operand),
        Inst::MovPack { srcs, .. } => srcs.iter().for_each(operand),
        Inst::Setp { combine, a, b, .. } | Inst::Set { combine, a, b, .. } => {
            [a, b].into_iter().for_each(operand);
            if let Some((_, pred)) = combine {
                for_each_pred_use(pred, f);
            }
        }
        Inst::Ld { addr, .. } | Inst::Prefetch { addr, .. } => for_each_addr_use(addr, f),
        Inst::St { addr, srcs, .. } => {
            srcs.iter().for_each(operand);
            for_each_addr_use(addr, f);
        }
        Inst::Atom { addr, b, c, .. } => {
            operand(b);
            c.iter().for_each(operand);
            for_each_addr_use(addr, f);
        }
        Inst::CpAsync { dst, src, src_size, ignore_src, .. } => {
            src_size.iter().for_each(operand);
            ignore_src.iter().for_each(|pred| for_each_pred_use(pred, &mut f));
            for_each_addr_use(dst, &mut f);
            for_each_addr_use(src, f);
        }
        Inst::Texture(inst) => inst.for_each_operand(|o| operand(&o)),
        Inst::BulkCopy { dst, src, size, barrier, .. } => {
            operand(size);
            [Some(dst), Some(src), barrier.as_ref()]
                .into_iter()
                .flatten()
                .for_each(|addr| for_each_addr_use(addr, &mut f));
        }
        Inst::Mbarrier { addr, a, b, .. } => {
            [a, b].into_iter().flatten().for_each(operand);
            for_each_addr_use(addr, f);
        }
        Inst::AtomVector { addr, srcs, .. } => {
            srcs.iter().for_each(operand);
            for_each_addr_use(addr, f);
        }
        Inst::Matrix(matrix) => {
            matrix.for_each_source(operand);
            if let Some(addr) = matrix.address() {
                for_each_addr_use(addr, f);
            }
        }
        Inst::Brx { index, .. } => f(*index),
        Inst::Call { callee, args, .. } => for_each_call_use(callee, args, f),
        Inst::Bar { kind, id, count, .. } => {
            operand(id);
            count.iter().for_each(operand);
            match kind {
                BarKind::RedPopc { pred, .. } | BarKind::RedBool { pred, .. } => f(*pred),
                BarKind::Sync | BarKind::Arrive => {}
            }
        }
        Inst::Vote { pred, mask, .. } => {
            operand(mask);
            for_each_pred_use(pred, f);
        }
        Inst::Bra { .. }
        | Inst::Ret
        | Inst::Exit
        | Inst::Trap
        | Inst::Brkpt
        | Inst::Fence(_)
        | Inst::Activemask { .. }
        | Inst::CpAsyncCommit
        | Inst::CpAsyncWait { .. }
        | Inst::BulkCommit
        | Inst::BulkWait { .. }
        | Inst::Hint { .. }
        | Inst::StackSave { .. }
        | Inst::Other { .. } => {}
    }
}

fn for_each_addr_use(addr: &Addr, mut f: impl FnMut(Reg)) {
    if let AddrBase::Reg(reg) = addr.base {
        f(reg);
    }
}

fn for_each_pred_use(pred: &PredSrc, mut f: impl FnMut(Reg)) {
    if let PredSrc::Reg { reg, .. } = pred {
        f(*reg);
    }
}

fn for_each_call_use(callee: &Callee, args: &[CallArg], mut f: impl FnMut(Reg)) {
    if let Callee::Indirect { target, .. } = callee {
        f(*target);
    }
    for arg in args {
        if let CallArg::Reg(reg) | CallArg::Imm(Operand::Reg(reg)) = arg {
            f(*reg);
        }
    }
}

/// Calls `f` for each register the instruction writes.
pub fn for_each_def(inst: &Inst, mut f: impl FnMut(Reg)) {
    match inst {
        Inst::Unary { dst, .. }
        | Inst::Binary { dst, .. }
        | Inst::Ternary { dst, .. }
        | Inst::Bfi { dst, .. }
        | Inst::Carry { dst, .. }
        | Inst::Slct { dst, .. }
        | Inst::Selp { dst, .. }
        | Inst::Set { dst, .. }
        | Inst::Mov { dst, .. }
        | Inst::MovPack { dst, .. }
        | Inst::Cvt { dst, .. }
        | Inst::CvtPack { dst, .. }
        | Inst::CvtIntPack { dst, .. }
        | Inst::Video { dst, .. }
        | Inst::Cvta { dst, .. }
        | Inst::Isspacep { dst, .. }
        | Inst::Vote { dst, .. }
        | Inst::Redux { dst, .. }
        | Inst::Activemask { dst }
        | Inst::Alloca { dst, .. }
        | Inst::StackSave { dst, .. } => f(*dst),
        Inst::Setp { dst, dst2, .. } => [dst, dst2].into_iter().flatten().copied().for_each(f),
        Inst::MovUnpack { dsts, .. } | Inst::Ld { dsts, .. } => dsts.iter().flatten().copied().for_each(f),
        Inst::Texture(inst) => inst.for_each_def(f),
        Inst::AtomVector { dsts, .. } => dsts.iter().flatten().flatten().copied().for_each(f),
        Inst::Atom { dst, .. } | Inst::Mbarrier { dst, .. } => dst.iter().copied().for_each(f),
        Inst::Shfl { dst, pred, .. } | Inst::Match { dst, pred, .. } => {
            f(*dst);
            pred.iter().copied().for_each(f);
        }
        Inst::Elect { dst, pred, .. } => {
            dst.iter().copied().for_each(&mut f);
            f(*pred);
        }
        Inst::Matrix(matrix) => matrix.destinations().iter().copied().for_each(f),
        Inst::Bar { kind: BarKind::RedPopc { dst, .. } | BarKind::RedBool { dst, .. }, .. } => f(*dst),
        Inst::Call { rets, .. } => {
            for ret in rets {
                if let CallArg::Reg(reg) = ret {
                    f(*reg);
                }
            }
        }
        Inst::Bar { .. }
        | Inst::St { .. }
        | Inst::Prefetch { .. }
        | Inst::Bra { .. }
        | Inst::Brx { .. }
        | Inst::Ret
        | Inst::Exit
        | Inst::Trap
        | Inst::Brkpt
        | Inst::BarWarpSync { .. }
        | Inst::Fence(_)
        | Inst::Nanosleep { .. }
        | Inst::CpAsync { .. }
        | Inst::CpAsyncCommit
        | Inst::CpAsyncWait { .. }
        | Inst::BulkCopy { .. }
        | Inst::BulkCommit
        | Inst::BulkWait { .. }
        | Inst::Hint { .. }
        | Inst::StackRestore { .. }
        | Inst::Other { .. } => {}
    }
}

impl Statement {
    /// Registers that must hold their value before the statement: operands, the guard, and, under
    /// a guard, what the statement writes, for it keeps its old value when the guard is false.
    pub fn for_each_use(&self, mut f: impl FnMut(Reg)) {
        for_each_use(&self.inst, &mut f);
        if let Some(guard) = self.guard {
            f(guard.reg);
            for_each_def(&self.inst, f);
        }
    }

    /// Registers that the statement writes, at least when its guard holds.
    pub fn for_each_def(&self, f: impl FnMut(Reg)) {
        for_each_def(&self.inst, f);
    }
}
