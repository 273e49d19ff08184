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
    pub(crate) fn rename_reg(&self, r: Reg) -> Reg {
        Reg(r.0 + self.first_reg)
    }
    pub(crate) fn rename_guard(&self, guard: Guard) -> Guard {
        Guard { reg: self.rename_reg(guard.reg), ..guard }
    }
    fn rename_symbol(&self, s: Symbol) -> Symbol {
        match s {
            Symbol::Local(v) => Symbol::Local(self.vars[v.index()]),
            other => other,
        }
    }
    pub(crate) fn rename_operand(&self, o: Operand) -> Operand {
        match o {
            Operand::Reg(r) => Operand::Reg(self.rename_reg(r)),
            Operand::Address(s, offset) => Operand::Address(self.rename_symbol(s), offset),
            other => other,
        }
    }

    fn rename_regs<'r>(&self, list: impl IntoIterator<Item = &'r mut Reg>) {
        list.into_iter().for_each(|r| *r = self.rename_reg(*r));
    }
    fn rename_operands<'o>(&self, list: impl IntoIterator<Item = &'o mut Operand>) {
        list.into_iter().for_each(|o| *o = self.rename_operand(*o));
    }
    fn rename_addr(&self, a: &mut Addr) {
        a.base = match a.base {
            AddrBase::Reg(r) => AddrBase::Reg(self.rename_reg(r)),
            AddrBase::Symbol(s) => AddrBase::Symbol(self.rename_symbol(s)),
            AddrBase::Absolute => AddrBase::Absolute,
        };
    }
    fn rename_pred(&self, p: &mut PredSrc) {
        if let PredSrc::Reg { reg, .. } = p {
            *reg = self.rename_reg(*reg);
        }
    }
    fn rename_label(&self, l: &mut Label) {
        l.0 += self.first_label;
    }

    /// Renames all that `inst` names.
    pub(crate) fn rename_inst(&self, inst: &mut Inst) {
        use Inst::*;
        match inst {
            Unary { dst, a, .. } | Cvt { dst, a, .. } | Isspacep { dst, a, .. } => {
                self.rename_dsts_and_srcs(&mut [dst], &mut [a])
            }
            Binary { dst, a, b, .. } | CvtPack { dst, a, b, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [a, b]),
            Ternary { dst, a, b, c, .. }
            | Slct { dst, a, b, c, .. }
            | CvtIntPack { dst, a, b, c, .. }
            | Video { dst, a, b, c, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [a, b, c]),
            Selp { dst, a, b, pred, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [a, b, pred]),
            Bfi { dst, a, b, pos, len, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [a, b, pos, len]),
            Carry { dst, a, b, c, .. } => {
                self.rename_dsts_and_srcs(&mut [dst], &mut [a, b]);
                self.rename_operands(c);
            }
            Setp { combine, dst, dst2, a, b, .. } => {
                self.rename_regs(dst.iter_mut().chain(dst2));
                self.rename_dsts_and_srcs(&mut [], &mut [a, b]);
                combine.iter_mut().for_each(|(_, p)| self.rename_pred(p));
            }
            Set { combine, dst, a, b, .. } => {
                self.rename_dsts_and_srcs(&mut [dst], &mut [a, b]);
                combine.iter_mut().for_each(|(_, p)| self.rename_pred(p));
            }
            Mov { dst, src, .. } | Cvta { dst, src, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [src]),
            MovUnpack { dsts, src, .. } => {
                self.rename_regs(dsts.iter_mut().flatten());
                self.rename_dsts_and_srcs(&mut [], &mut [src]);
            }
            MovPack { dst, srcs, .. } => {
                self.rename_dsts_and_srcs(&mut [dst], &mut []);
                self.rename_operands(srcs);
            }
            Brx { index, targets } => {
                self.rename_regs([index]);
                targets.iter_mut().for_each(|l| self.rename_label(l));
            }
            Bra { target, .. } => self.rename_label(target),
            Call { callee, rets, args, .. } => self.rename_call(callee, rets.iter_mut().chain(args)),
            Ld { .. } | St { .. } | Prefetch { .. } | Atom { .. } | AtomVector { .. } => self.rename_memory(inst),
            CpAsync { .. } | BulkCopy { .. } | Mbarrier { .. } => self.rename_async_copy(inst),
            Bar { .. } | BarWarpSync { .. } | Shfl { .. } | Vote { .. } | Match { .. } => self.rename_sync(inst),
            Redux { dst, a, mask, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [a, mask]),
            Elect { dst, pred, mask } => {
                self.rename_regs(dst.iter_mut().chain([pred]));
                self.rename_operands([mask]);
            }
            Activemask { dst } | StackSave { dst, .. } => self.rename_regs([dst]),
            Alloca { dst, size, .. } => self.rename_dsts_and_srcs(&mut [dst], &mut [size]),
            Nanosleep { a } | StackRestore { src: a, .. } => self.rename_operands([a]),
            Texture(inst) => self.rename_texture(inst),
            Matrix(inst) => self.rename_matrix(inst),
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

    fn rename_dsts_and_srcs(&self, dsts: &mut [&mut Reg], srcs: &mut [&mut Operand]) {
        self.rename_regs(dsts.iter_mut().map(|r| &mut **r));
        self.rename_operands(srcs.iter_mut().map(|o| &mut **o));
    }

    fn rename_call<'c>(&self, callee: &mut Callee, lists: impl Iterator<Item = &'c mut CallArg>) {
        if let Callee::Indirect { target, proto, .. } = callee {
            self.rename_regs([target]);
            proto.iter_mut().for_each(|p| p.0 += self.first_prototype);
        }
        for arg in lists {
            match arg {
                CallArg::Param(v) => *v = self.vars[v.index()],
                CallArg::Reg(r) => *r = self.rename_reg(*r),
                CallArg::Imm(o) => *o = self.rename_operand(*o),
            }
        }
    }

    fn rename_memory(&self, inst: &mut Inst) {
        match inst {
            Inst::Ld { dsts, addr, .. } => {
                self.rename_regs(dsts.iter_mut().flatten());
                self.rename_addr(addr);
            }
            Inst::St { addr, srcs, .. } => {
                self.rename_addr(addr);
                self.rename_operands(srcs);
            }
            Inst::Prefetch { addr, .. } => self.rename_addr(addr),
            Inst::Atom { dst, addr, b, c, .. } => {
                self.rename_regs(dst);
                self.rename_addr(addr);
                self.rename_operands([b].into_iter().chain(c));
            }
            Inst::AtomVector { dsts, addr, srcs, .. } => {
                self.rename_regs(dsts.iter_mut().flatten().flatten());
                self.rename_addr(addr);
                self.rename_operands(srcs);
            }
            _ => {}
        }
    }

    fn rename_async_copy(&self, inst: &mut Inst) {
        match inst {
            Inst::CpAsync { dst, src, src_size, ignore_src, .. } => {
                [dst, src].into_iter().for_each(|a| self.rename_addr(a));
                self.rename_operands(src_size);
                ignore_src.iter_mut().for_each(|p| self.rename_pred(p));
            }
            Inst::BulkCopy { dst, src, size, barrier, .. } => {
                [dst, src].into_iter().chain(barrier).for_each(|a| self.rename_addr(a));
                self.rename_operands([size]);
            }
            Inst::Mbarrier { dst, addr, a, b, .. } => {
                self.rename_regs(dst);
                self.rename_addr(addr);
                self.rename_operands(a.iter_mut().chain(b));
            }
            _ => {}
        }
    }

    fn rename_sync(&self, inst: &mut Inst) {
        match inst {
            Inst::Bar { kind, id, count, .. } => {
                self.rename_operands([id].into_iter().chain(count));
                match kind {
                    BarKind::RedPopc { dst, pred, .. } | BarKind::RedBool { dst, pred, .. } => {
                        self.rename_regs([dst, pred])
                    }
                    BarKind::Sync | BarKind::Arrive => {}
                }
            }
            Inst::BarWarpSync { mask } => self.rename_operands([mask]),
            Inst::Shfl { dst, pred, a, b, c, mask, .. } => {
                self.rename_regs([dst].into_iter().chain(pred));
                self.rename_operands([a, b, c, mask]);
            }
            Inst::Vote { dst, pred, mask, .. } => {
                self.rename_dsts_and_srcs(&mut [dst], &mut [mask]);
                self.rename_pred(pred);
            }
            Inst::Match { dst, pred, a, mask, .. } => {
                self.rename_regs([dst].into_iter().chain(pred));
                self.rename_operands([a, mask]);
            }
            _ => {}
        }
    }

    fn rename_handle(&self, h: &mut TextureHandle) {
        *h = match *h {
            TextureHandle::Reg(r) => TextureHandle::Reg(self.rename_reg(r)),
            TextureHandle::Symbol(s) => TextureHandle::Symbol(self.rename_symbol(s)),
        };
    }

    fn rename_surface_place(&self, place: &mut SurfAddress) {
        self.rename_handle(&mut place.surface);
        self.rename_operands(&mut place.coords);
    }

    fn rename_texture(&self, inst: &mut TexInst) {
        match inst {
            TexInst::Sample(t) => {
                self.rename_regs(t.dsts.iter_mut().flatten().chain(&mut t.pred));
                [&mut t.texture].into_iter().chain(&mut t.sampler).for_each(|h| self.rename_handle(h));
                self.rename_operands(t.coords.iter_mut().chain(&mut t.offsets));
                match &mut t.level {
                    TexLevel::Level(o) => self.rename_operands([o]),
                    TexLevel::Grad(x, y) => self.rename_operands(x.iter_mut().chain(y)),
                    TexLevel::Base | TexLevel::Gather(_) => {}
                }
            }
            TexInst::Query { dst, handle, level, .. } => {
                self.rename_regs([dst]);
                self.rename_handle(handle);
                self.rename_operands(level);
            }
            TexInst::IsType { dst, handle, .. } => {
                self.rename_regs([dst]);
                self.rename_handle(handle);
            }
            TexInst::Load { place, dsts, .. } => {
                self.rename_surface_place(place);
                self.rename_regs(dsts.iter_mut().flatten());
            }
            TexInst::Store { place, srcs, .. } => {
                self.rename_surface_place(place);
                self.rename_operands(srcs);
            }
            TexInst::Reduce { place, src, .. } => {
                self.rename_surface_place(place);
                self.rename_operands([src]);
            }
        }
    }

    fn rename_matrix(&self, inst: &mut MatrixInst) {
        match inst {
            MatrixInst::WmmaLoad { dsts, addr, stride, .. } => {
                self.rename_regs(dsts);
                self.rename_addr(addr);
                self.rename_operands(stride);
            }
            MatrixInst::WmmaStore { addr, srcs, stride, .. } => {
                self.rename_addr(addr);
                self.rename_operands(srcs.iter_mut().chain(stride));
            }
            MatrixInst::Product { d, a, b, c, metadata, .. } => {
                self.rename_regs(d);
                self.rename_operands(a.iter_mut().chain(b).chain(c).chain(metadata));
            }
            MatrixInst::LdMatrix { dsts, addr, .. } => {
                self.rename_regs(dsts);
                self.rename_addr(addr);
            }
            MatrixInst::StMatrix { addr, srcs, .. } => {
                self.rename_addr(addr);
                self.rename_operands(srcs);
            }
            MatrixInst::MovMatrix { dst, src } => self.rename_dsts_and_srcs(&mut [dst], &mut [src]),
        }
    }
}
