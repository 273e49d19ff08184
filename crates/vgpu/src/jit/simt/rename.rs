//! Gives the registers, symbols, labels and prototypes of an instruction other numbers, when it moves
//! into another function.

use rtcg_ptx::ast::*;

/// The names of the function that an instruction comes from, as the other function has them.
pub(crate) struct RenameMap<'a> {
    pub(crate) first_reg: u32,
    pub(crate) first_label: u32,
    pub(crate) first_prototype: u32,
    pub(crate) vars: &'a [LocalVar],
}

impl RenameMap<'_> {
    pub(crate) fn reg(&self, r: Reg) -> Reg {
        Reg(r.0 + self.first_reg)
    }
    pub(crate) fn guard(&self, guard: Guard) -> Guard {
        Guard { reg: self.reg(guard.reg), ..guard }
    }
    fn symbol(&self, s: Symbol) -> Symbol {
        match s {
            Symbol::Local(v) => Symbol::Local(self.vars[v.index()]),
            other => other,
        }
    }
    pub(crate) fn operand(&self, o: Operand) -> Operand {
        match o {
            Operand::Reg(r) => Operand::Reg(self.reg(r)),
            Operand::Address(s, offset) => Operand::Address(self.symbol(s), offset),
            other => other,
        }
    }

    fn regs<'r>(&self, list: impl IntoIterator<Item = &'r mut Reg>) {
        list.into_iter().for_each(|r| *r = self.reg(*r));
    }
    fn ops<'o>(&self, list: impl IntoIterator<Item = &'o mut Operand>) {
        list.into_iter().for_each(|o| *o = self.operand(*o));
    }
    fn addr(&self, a: &mut Addr) {
        a.base = match a.base {
            AddrBase::Reg(r) => AddrBase::Reg(self.reg(r)),
            AddrBase::Symbol(s) => AddrBase::Symbol(self.symbol(s)),
            AddrBase::Absolute => AddrBase::Absolute,
        };
    }
    fn pred(&self, p: &mut PredSrc) {
        if let PredSrc::Reg { reg, .. } = p {
            *reg = self.reg(*reg);
        }
    }
    fn label(&self, l: &mut Label) {
        l.0 += self.first_label;
    }

    /// Renames all that `inst` names.
    pub(crate) fn apply(&self, inst: &mut Inst) {
        use Inst::*;
        match inst {
            Unary { dst, a, .. } | Cvt { dst, a, .. } | Isspacep { dst, a, .. } => self.plain(&mut [dst], &mut [a]),
            Binary { dst, a, b, .. } | CvtPack { dst, a, b, .. } => self.plain(&mut [dst], &mut [a, b]),
            Ternary { dst, a, b, c, .. }
            | Slct { dst, a, b, c, .. }
            | CvtIntPack { dst, a, b, c, .. }
            | Video { dst, a, b, c, .. } => self.plain(&mut [dst], &mut [a, b, c]),
            Selp { dst, a, b, pred, .. } => self.plain(&mut [dst], &mut [a, b, pred]),
            Bfi { dst, a, b, pos, len, .. } => self.plain(&mut [dst], &mut [a, b, pos, len]),
            Carry { dst, a, b, c, .. } => {
                self.plain(&mut [dst], &mut [a, b]);
                self.ops(c);
            }
            Setp { combine, dst, dst2, a, b, .. } => {
                self.regs(dst.iter_mut().chain(dst2));
                self.plain(&mut [], &mut [a, b]);
                combine.iter_mut().for_each(|(_, p)| self.pred(p));
            }
            Set { combine, dst, a, b, .. } => {
                self.plain(&mut [dst], &mut [a, b]);
                combine.iter_mut().for_each(|(_, p)| self.pred(p));
            }
            Mov { dst, src, .. } | Cvta { dst, src, .. } => self.plain(&mut [dst], &mut [src]),
            MovUnpack { dsts, src, .. } => {
                self.regs(dsts.iter_mut().flatten());
                self.plain(&mut [], &mut [src]);
            }
            MovPack { dst, srcs, .. } => {
                self.plain(&mut [dst], &mut []);
                self.ops(srcs);
            }
            Brx { index, targets } => {
                self.regs([index]);
                targets.iter_mut().for_each(|l| self.label(l));
            }
            Bra { target, .. } => self.label(target),
            Call { callee, rets, args, .. } => self.call(callee, rets.iter_mut().chain(args)),
            Ld { .. } | St { .. } | Prefetch { .. } | Atom { .. } | AtomVector { .. } => self.memory(inst),
            CpAsync { .. } | BulkCopy { .. } | Mbarrier { .. } => self.copy(inst),
            Bar { .. } | BarWarpSync { .. } | Shfl { .. } | Vote { .. } | Match { .. } => self.sync(inst),
            Redux { dst, a, mask, .. } => self.plain(&mut [dst], &mut [a, mask]),
            Elect { dst, pred, mask } => {
                self.regs(dst.iter_mut().chain([pred]));
                self.ops([mask]);
            }
            Activemask { dst } | StackSave { dst, .. } => self.regs([dst]),
            Alloca { dst, size, .. } => self.plain(&mut [dst], &mut [size]),
            Nanosleep { a } | StackRestore { src: a, .. } => self.ops([a]),
            Texture(inst) => self.texture(inst),
            Matrix(inst) => self.matrix(inst),
            Ret
            | Exit
            | Trap
            | Brkpt
            | Fence(_)
            | CpAsyncCommit
            | CpAsyncWait { .. }
            | BulkCommit
            | BulkWait { .. }
            | Hint { .. }
            | Other { .. } => {}
        }
    }

    fn plain(&self, dsts: &mut [&mut Reg], srcs: &mut [&mut Operand]) {
        self.regs(dsts.iter_mut().map(|r| &mut **r));
        self.ops(srcs.iter_mut().map(|o| &mut **o));
    }

    fn call<'c>(&self, callee: &mut Callee, lists: impl Iterator<Item = &'c mut CallArg>) {
        if let Callee::Indirect { target, proto, .. } = callee {
            self.regs([target]);
            proto.iter_mut().for_each(|p| p.0 += self.first_prototype);
        }
        for arg in lists {
            match arg {
                CallArg::Param(v) => *v = self.vars[v.index()],
                CallArg::Reg(r) => *r = self.reg(*r),
                CallArg::Imm(o) => *o = self.operand(*o),
            }
        }
    }

    fn memory(&self, inst: &mut Inst) {
        match inst {
            Inst::Ld { dsts, addr, .. } => {
                self.regs(dsts.iter_mut().flatten());
                self.addr(addr);
            }
            Inst::St { addr, srcs, .. } => {
                self.addr(addr);
                self.ops(srcs);
            }
            Inst::Prefetch { addr, .. } => self.addr(addr),
            Inst::Atom { dst, addr, b, c, .. } => {
                self.regs(dst);
                self.addr(addr);
                self.ops([b].into_iter().chain(c));
            }
            Inst::AtomVector { dsts, addr, srcs, .. } => {
                self.regs(dsts.iter_mut().flatten().flatten());
                self.addr(addr);
                self.ops(srcs);
            }
            _ => {}
        }
    }

    fn copy(&self, inst: &mut Inst) {
        match inst {
            Inst::CpAsync { dst, src, src_size, ignore_src, .. } => {
                [dst, src].into_iter().for_each(|a| self.addr(a));
                self.ops(src_size);
                ignore_src.iter_mut().for_each(|p| self.pred(p));
            }
            Inst::BulkCopy { dst, src, size, barrier, .. } => {
                [dst, src].into_iter().chain(barrier).for_each(|a| self.addr(a));
                self.ops([size]);
            }
            Inst::Mbarrier { dst, addr, a, b, .. } => {
                self.regs(dst);
                self.addr(addr);
                self.ops(a.iter_mut().chain(b));
            }
            _ => {}
        }
    }

    fn sync(&self, inst: &mut Inst) {
        match inst {
            Inst::Bar { kind, id, count, .. } => {
                self.ops([id].into_iter().chain(count));
                match kind {
                    BarKind::RedPopc { dst, pred, .. } | BarKind::RedBool { dst, pred, .. } => self.regs([dst, pred]),
                    BarKind::Sync | BarKind::Arrive => {}
                }
            }
            Inst::BarWarpSync { mask } => self.ops([mask]),
            Inst::Shfl { dst, pred, a, b, c, mask, .. } => {
                self.regs([dst].into_iter().chain(pred));
                self.ops([a, b, c, mask]);
            }
            Inst::Vote { dst, pred, mask, .. } => {
                self.plain(&mut [dst], &mut [mask]);
                self.pred(pred);
            }
            Inst::Match { dst, pred, a, mask, .. } => {
                self.regs([dst].into_iter().chain(pred));
                self.ops([a, mask]);
            }
            _ => {}
        }
    }

    fn handle(&self, h: &mut Handle) {
        *h = match *h {
            Handle::Reg(r) => Handle::Reg(self.reg(r)),
            Handle::Symbol(s) => Handle::Symbol(self.symbol(s)),
        };
    }

    fn place(&self, place: &mut SurfPlace) {
        self.handle(&mut place.surface);
        self.ops(&mut place.coords);
    }

    fn texture(&self, inst: &mut TexInst) {
        match inst {
            TexInst::Sample(t) => {
                self.regs(t.dsts.iter_mut().flatten().chain(&mut t.pred));
                [&mut t.texture].into_iter().chain(&mut t.sampler).for_each(|h| self.handle(h));
                self.ops(t.coords.iter_mut().chain(&mut t.offsets));
                match &mut t.level {
                    TexLevel::Level(o) => self.ops([o]),
                    TexLevel::Grad(x, y) => self.ops(x.iter_mut().chain(y)),
                    TexLevel::Base | TexLevel::Gather(_) => {}
                }
            }
            TexInst::Query { dst, handle, level, .. } => {
                self.regs([dst]);
                self.handle(handle);
                self.ops(level);
            }
            TexInst::IsType { dst, handle, .. } => {
                self.regs([dst]);
                self.handle(handle);
            }
            TexInst::Load { place, dsts, .. } => {
                self.place(place);
                self.regs(dsts.iter_mut().flatten());
            }
            TexInst::Store { place, srcs, .. } => {
                self.place(place);
                self.ops(srcs);
            }
            TexInst::Reduce { place, src, .. } => {
                self.place(place);
                self.ops([src]);
            }
        }
    }

    fn matrix(&self, inst: &mut MatrixInst) {
        match inst {
            MatrixInst::WmmaLoad { dsts, addr, stride, .. } => {
                self.regs(dsts);
                self.addr(addr);
                self.ops(stride);
            }
            MatrixInst::WmmaStore { addr, srcs, stride, .. } => {
                self.addr(addr);
                self.ops(srcs.iter_mut().chain(stride));
            }
            MatrixInst::Product { d, a, b, c, metadata, .. } => {
                self.regs(d);
                self.ops(a.iter_mut().chain(b).chain(c).chain(metadata));
            }
            MatrixInst::LdMatrix { dsts, addr, .. } => {
                self.regs(dsts);
                self.addr(addr);
            }
            MatrixInst::StMatrix { addr, srcs, .. } => {
                self.addr(addr);
                self.ops(srcs);
            }
            MatrixInst::MovMatrix { dst, src } => self.plain(&mut [dst], &mut [src]),
        }
    }
}
