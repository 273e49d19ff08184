//! Statements to text.

use super::{FunctionPrinter, TargetListNames};
use crate::ast::*;
use crate::keywords::*;
use std::fmt::Write;

pub(super) fn with_leading_dot(word: &str) -> String {
    if word.is_empty() { String::new() } else { format!(".{word}") }
}

pub(super) fn text_if(set: bool, word: &'static str) -> &'static str {
    if set { word } else { "" }
}

fn fp_mods_text(m: &FpMods) -> String {
    let rnd = if m.rnd == Rounding::Default { String::new() } else { with_leading_dot(rounding_name(m.rnd)) };
    rnd + text_if(m.approx, ".approx")
        + text_if(m.full, ".full")
        + text_if(m.ftz, ".ftz")
        + text_if(m.nan, ".NaN")
        + text_if(m.xorsign_abs, ".xorsign.abs")
        + text_if(m.satfinite, ".satfinite")
        + text_if(m.relu, ".relu")
        + text_if(m.sat, ".sat")
}

pub(super) fn space_suffix(space: Space) -> String {
    if space == Space::Generic { String::new() } else { with_leading_dot(space_name(space)) }
}

pub(super) fn semantics_suffix(sem: MemorySemantics) -> &'static str {
    match sem {
        MemorySemantics::Weak | MemorySemantics::SeqCst => "",
        MemorySemantics::Volatile => ".volatile",
        MemorySemantics::Relaxed => ".relaxed",
        MemorySemantics::Acquire => ".acquire",
        MemorySemantics::Release => ".release",
        MemorySemantics::AcqRel => ".acq_rel",
        MemorySemantics::Mmio => ".mmio.relaxed",
    }
}

fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Abs => "abs",
        UnaryOp::Neg => "neg",
        UnaryOp::Not => "not",
        UnaryOp::Cnot => "cnot",
        UnaryOp::Popc => "popc",
        UnaryOp::Clz => "clz",
        UnaryOp::Brev => "brev",
        UnaryOp::Bfind { shiftamt: false } => "bfind",
        UnaryOp::Bfind { shiftamt: true } => "bfind.shiftamt",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Rsqrt => "rsqrt",
        UnaryOp::Rcp => "rcp",
        UnaryOp::Sin => "sin",
        UnaryOp::Cos => "cos",
        UnaryOp::Lg2 => "lg2",
        UnaryOp::Ex2 => "ex2",
        UnaryOp::Tanh => "tanh",
        UnaryOp::PendingCount => "mbarrier.pending_count",
        UnaryOp::TestFinite => "testp.finite",
        UnaryOp::TestInfinite => "testp.infinite",
        UnaryOp::TestNumber => "testp.number",
        UnaryOp::TestNotANumber => "testp.notanumber",
        UnaryOp::TestNormal => "testp.normal",
        UnaryOp::TestSubnormal => "testp.subnormal",
    }
}

fn binary_name(op: BinaryOp, ty: Type) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Div => "div",
        BinaryOp::Rem => "rem",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::Mul if ty.is_float() => "mul",
        BinaryOp::Mul => "mul.lo",
        BinaryOp::MulHi => "mul.hi",
        BinaryOp::MulWide => "mul.wide",
        BinaryOp::Mul24Lo => "mul24.lo",
        BinaryOp::Mul24Hi => "mul24.hi",
        BinaryOp::Shl => "shl",
        BinaryOp::Shr => "shr",
        BinaryOp::CopySign => "copysign",
        BinaryOp::BmskClamp => "bmsk.clamp",
        BinaryOp::BmskWrap => "bmsk.wrap",
        BinaryOp::SzextClamp => "szext.clamp",
        BinaryOp::SzextWrap => "szext.wrap",
    }
}

fn ternary_name(op: TernaryOp, ty: Type, m: &FpMods) -> String {
    let int = |signed: bool| if signed { ".s32" } else { ".u32" };
    let plain = match op {
        TernaryOp::Fma => "fma",
        TernaryOp::MadLo => "mad.lo",
        TernaryOp::MadHi => "mad.hi",
        TernaryOp::MadWide => "mad.wide",
        TernaryOp::Mad24Lo => "mad24.lo",
        TernaryOp::Mad24Hi => "mad24.hi",
        TernaryOp::Sad => "sad",
        TernaryOp::Bfe => "bfe",
        TernaryOp::Lop3(_) => "lop3",
        TernaryOp::ShfLClamp => "shf.l.clamp",
        TernaryOp::ShfLWrap => "shf.l.wrap",
        TernaryOp::ShfRClamp => "shf.r.clamp",
        TernaryOp::ShfRWrap => "shf.r.wrap",
        TernaryOp::Fns => "fns",
        TernaryOp::ClmadLo => "clmad.lo",
        TernaryOp::ClmadHi => "clmad.hi",
        TernaryOp::AbsDiff4 { sum } => return format!("vabsdiff4.u32.u32.u32{}", if sum { ".add" } else { "" }),
        TernaryOp::Min3 => "min",
        TernaryOp::Max3 => "max",
        TernaryOp::Prmt(mode) => return format!("prmt.b32{}", with_leading_dot(prmt_mode_name(mode))),
        TernaryOp::Dp4a { a_signed, b_signed } => return format!("dp4a{}{}", int(a_signed), int(b_signed)),
        TernaryOp::Dp2a { a_signed, b_signed, hi } => {
            return format!("dp2a{}{}{}", if hi { ".hi" } else { ".lo" }, int(a_signed), int(b_signed));
        }
    };
    format!("{plain}{}.{}", fp_mods_text(m), type_name(ty))
}

impl FunctionPrinter<'_> {
    pub(super) fn reg_name(&self, reg: Reg) -> &str {
        self.function.regs.get(reg.index()).map_or("", |decl| &decl.name)
    }

    pub(super) fn reg_or_sink(&self, reg: Option<Reg>) -> &str {
        reg.map_or("_", |reg| self.reg_name(reg))
    }

    pub(super) fn operand_text(&self, operand: &Operand) -> String {
        match *operand {
            Operand::Reg(reg) => self.reg_name(reg).to_owned(),
            Operand::Int(value) => value.to_string(),
            Operand::F32(bits) => format!("0f{bits:08X}"),
            Operand::F64(bits) => format!("0d{bits:016X}"),
            Operand::Special(reg) => special_reg_name(reg),
            Operand::Address(symbol, 0) => self.symbol_name(symbol).to_owned(),
            Operand::Address(symbol, offset) => format!("{}+{offset}", self.symbol_name(symbol)),
        }
    }

    fn operand_list(&self, list: &[&Operand]) -> String {
        list.iter().map(|operand| format!(", {}", self.operand_text(operand))).collect()
    }

    pub(super) fn addr_text(&self, addr: &Addr) -> String {
        let base = match addr.base {
            AddrBase::Reg(reg) => self.reg_name(reg),
            AddrBase::Symbol(symbol) => self.symbol_name(symbol),
            AddrBase::Absolute => return format!("[{}]", addr.offset),
        };
        if addr.offset == 0 { format!("[{base}]") } else { format!("[{base}+{}]", addr.offset) }
    }

    fn pred_text(&self, pred: &PredSrc) -> String {
        match *pred {
            PredSrc::Reg { reg, negated } => format!("{}{}", text_if(negated, "!"), self.reg_name(reg)),
            PredSrc::Const(value) => u8::from(value).to_string(),
        }
    }

    fn combine_text(&self, combine: &Option<(BoolOp, PredSrc)>) -> (String, String) {
        match combine {
            Some((op, pred)) => (with_leading_dot(bool_op_name(*op)), format!(", {}", self.pred_text(pred))),
            None => Default::default(),
        }
    }

    fn braced_list(list: Vec<String>) -> String {
        if list.len() == 1 { list.concat() } else { format!("{{{}}}", list.join(", ")) }
    }

    pub(super) fn destination_list(&self, list: &[Option<Reg>]) -> String {
        Self::braced_list(list.iter().map(|&reg| self.reg_or_sink(reg).to_owned()).collect())
    }

    pub(super) fn source_list(&self, list: &[Operand]) -> String {
        Self::braced_list(list.iter().map(|operand| self.operand_text(operand)).collect())
    }

    fn label_name(&self, label: Label) -> &str {
        self.function.labels.get(label.index()).map_or("", |name| name)
    }

    /// The list that the next statement refers to, if it needs one.
    pub(super) fn put_target_list(&self, inst: &Inst, names: &mut TargetListNames, out: &mut String) {
        let (directive, items): (_, Vec<&str>) = match inst {
            Inst::Brx { targets, .. } => {
                ("branchtargets", targets.iter().map(|&target| self.label_name(target)).collect())
            }
            Inst::Call { callee: Callee::Indirect { proto: None, candidates, .. }, .. } => {
                ("calltargets", candidates.iter().map(|&id| self.symbol_name(Symbol::Func(id))).collect())
            }
            _ => return,
        };
        names.advance_to_unused_name();
        let _ = writeln!(out, "{}: .{directive} {};", names.current, items.join(", "));
    }

    pub(super) fn put_statement(&self, statement: &Statement, list: &str, out: &mut String) {
        if let Some(guard) = statement.guard {
            let _ = write!(out, "@{}{} ", text_if(guard.negated, "!"), self.reg_name(guard.reg));
        }
        let text = match &statement.inst {
            Inst::Bra { .. } | Inst::Brx { .. } | Inst::Call { .. } => self.branch_or_call_text(&statement.inst, list),
            Inst::Ld { .. } | Inst::St { .. } | Inst::Atom { .. } | Inst::CpAsync { .. } => {
                self.memory_text(&statement.inst)
            }
            Inst::Bar { .. } | Inst::Shfl { .. } | Inst::Vote { .. } | Inst::Match { .. } | Inst::Redux { .. } => {
                self.warp_text(&statement.inst)
            }
            Inst::Mbarrier { .. }
            | Inst::BulkCopy { .. }
            | Inst::BulkCommit
            | Inst::BulkWait { .. }
            | Inst::AtomVector { .. } => self.sync_text(&statement.inst),
            Inst::Matrix(matrix) => self.matrix_text(matrix),
            inst => self.other_inst_text(inst),
        };
        out.push_str(&text);
        out.push_str(";\n");
    }

    fn call_arg_text(&self, arg: &CallArg) -> String {
        match arg {
            CallArg::Param(var) => self.symbol_name(Symbol::Local(*var)).to_owned(),
            CallArg::Reg(reg) => self.reg_name(*reg).to_owned(),
            CallArg::Imm(operand) => self.operand_text(operand),
        }
    }

    fn branch_or_call_text(&self, inst: &Inst, list: &str) -> String {
        match inst {
            Inst::Bra { target, uniform } => {
                format!("bra{} {}", text_if(*uniform, ".uni"), self.label_name(*target))
            }
            Inst::Brx { index, .. } => format!("brx.idx {}, {list}", self.reg_name(*index)),
            Inst::Call { callee, rets, args, uniform } => {
                let join =
                    |list: &[CallArg]| list.iter().map(|arg| self.call_arg_text(arg)).collect::<Vec<_>>().join(", ");
                let rets = if rets.is_empty() { String::new() } else { format!("({}), ", join(rets)) };
                let args = if args.is_empty() { String::new() } else { format!(", ({})", join(args)) };
                let (callee, proto) = match callee {
                    Callee::Direct(id) => (self.symbol_name(Symbol::Func(*id)), String::new()),
                    Callee::Indirect { target, proto: Some(proto), .. } => {
                        (self.reg_name(*target), format!(", {}", self.function.prototypes[proto.index()].name))
                    }
                    Callee::Indirect { target, .. } => (self.reg_name(*target), format!(", {list}")),
                };
                format!("call{} {rets}{callee}{args}{proto}", text_if(*uniform, ".uni"))
            }
            _ => String::new(),
        }
    }

    fn memory_text(&self, inst: &Inst) -> String {
        let scope_word =
            |scope: &Option<MemoryScope>| scope.map_or(String::new(), |scope| with_leading_dot(scope_name(scope)));
        let vector = |n: usize| if n > 1 { format!(".v{n}") } else { String::new() };
        match inst {
            Inst::Ld { space: s, ty, sem: order, scope, nc, dsts, addr } => {
                let opcode = if *nc && *s == Space::Generic { "ldu" } else { "ld" };
                let nc = text_if(*nc && *s != Space::Generic, ".nc");
                let (order, scope, n) = (semantics_suffix(*order), scope_word(scope), vector(dsts.len()));
                let (dsts, addr) = (self.destination_list(dsts), self.addr_text(addr));
                format!("{opcode}{order}{scope}{}{nc}{n}.{} {dsts}, {addr}", space_suffix(*s), type_name(*ty))
            }
            Inst::St { space: s, ty, sem: order, scope, addr, srcs } => {
                let (order, scope, n) = (semantics_suffix(*order), scope_word(scope), vector(srcs.len()));
                let (srcs, addr) = (self.source_list(srcs), self.addr_text(addr));
                format!("st{order}{scope}{}{n}.{} {addr}, {srcs}", space_suffix(*s), type_name(*ty))
            }
            Inst::Atom { space: s, op, ty, sem: order, scope, dst, addr, b, c } => {
                let red = dst.is_none()
                    && matches!(order, MemorySemantics::Relaxed | MemorySemantics::Release)
                    && !matches!(op, AtomOp::Exch | AtomOp::Cas);
                let half = matches!(ty, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2);
                let words = format!(
                    "{}.{}{}.{}{}.{}",
                    semantics_suffix(*order),
                    scope_name(*scope),
                    space_suffix(*s),
                    atom_op_name(*op),
                    text_if(half, ".noftz"),
                    type_name(*ty)
                );
                let dst = if red { String::new() } else { format!("{}, ", self.reg_or_sink(*dst)) };
                let c = c.iter().map(|c| format!(", {}", self.operand_text(c))).collect::<String>();
                let (addr, b) = (self.addr_text(addr), self.operand_text(b));
                format!("{}{words} {dst}{addr}, {b}{c}", if red { "red" } else { "atom" })
            }
            Inst::CpAsync { dst, src, size, src_size, ignore_src } => {
                let size_or_flag =
                    src_size.iter().map(|n| self.operand_text(n)).chain(ignore_src.iter().map(|p| self.pred_text(p)));
                let tail = size_or_flag.map(|text| format!(", {text}")).collect::<String>();
                format!("cp.async.ca.shared.global {}, {}, {size}{tail}", self.addr_text(dst), self.addr_text(src))
            }
            _ => String::new(),
        }
    }

    fn warp_text(&self, inst: &Inst) -> String {
        let pair = |dst: Reg, pred: &Option<Reg>| match pred {
            Some(pred) => format!("{}|{}", self.reg_name(dst), self.reg_name(*pred)),
            None => self.reg_name(dst).to_owned(),
        };
        match inst {
            Inst::Shfl { mode, dst, pred, a, b, c, mask } => {
                format!(
                    "shfl.sync.{}.b32 {}{}",
                    shfl_mode_name(*mode),
                    pair(*dst, pred),
                    self.operand_list(&[a, b, c, mask])
                )
            }
            Inst::Vote { mode, dst, pred, mask } => {
                let ty = if *mode == VoteMode::Ballot { "b32" } else { "pred" };
                let (pred, mask) = (self.pred_text(pred), self.operand_text(mask));
                format!("vote.sync.{}.{ty} {}, {pred}, {mask}", vote_mode_name(*mode), self.reg_name(*dst))
            }
            Inst::Match { all, ty, dst, pred, a, mask } => {
                let mode = if *all { "all" } else { "any" };
                format!("match.{mode}.sync.{} {}{}", type_name(*ty), pair(*dst, pred), self.operand_list(&[a, mask]))
            }
            Inst::Redux { op, ty, mods: m, abs, dst, a, mask } => {
                let words = format!("{}{}{}", atom_op_name(*op), text_if(*abs, ".abs"), fp_mods_text(m));
                format!(
                    "redux.sync.{words}.{} {}{}",
                    type_name(*ty),
                    self.reg_name(*dst),
                    self.operand_list(&[a, mask])
                )
            }
            Inst::Bar { kind, id, count, aligned } => {
                let opcode = if *aligned { "bar" } else { "barrier" };
                let count = count.iter().map(|n| format!(", {}", self.operand_text(n))).collect::<String>();
                let id = self.operand_text(id);
                match kind {
                    BarKind::Sync => format!("{opcode}.sync {id}{count}"),
                    BarKind::Arrive => format!("{opcode}.arrive {id}{count}"),
                    BarKind::RedPopc { dst, pred, negated } => {
                        let pred = format!("{}{}", text_if(*negated, "!"), self.reg_name(*pred));
                        format!("{opcode}.red.popc.u32 {}, {id}{count}, {pred}", self.reg_name(*dst))
                    }
                    BarKind::RedBool { op, dst, pred, negated } => {
                        let pred = format!("{}{}", text_if(*negated, "!"), self.reg_name(*pred));
                        format!("{opcode}.red.{}.pred {}, {id}{count}, {pred}", bool_op_name(*op), self.reg_name(*dst))
                    }
                }
            }
            _ => String::new(),
        }
    }

    fn fence_text(&self, kind: FenceKind) -> String {
        match kind {
            FenceKind::Memory { sem: order, scope } => {
                let order = if order == MemorySemantics::SeqCst { ".sc" } else { semantics_suffix(order) };
                format!("fence{order}.{}", scope_name(scope))
            }
            FenceKind::Proxy => "fence.proxy.alias".into(),
            FenceKind::MbarrierInit => "fence.mbarrier_init.release.cluster".into(),
        }
    }

    fn cvt_text(&self, dty: Type, sty: Type, m: &FpMods) -> String {
        let fp8 = matches!(dty, Type::E4M3x2 | Type::E5M2x2);
        let rnd = if m.rnd == Rounding::Default { String::new() } else { with_leading_dot(rounding_name(m.rnd)) };
        let rest = fp_mods_text(&FpMods { rnd: Rounding::Default, ..*m });
        format!("cvt{rnd}{}{rest}.{}.{}", text_if(fp8, ".satfinite"), type_name(dty), type_name(sty))
    }

    fn other_inst_text(&self, inst: &Inst) -> String {
        let t = type_name;
        let r = |reg: &Reg| self.reg_name(*reg);
        match inst {
            Inst::Unary { op, ty, mods: m, dst, a } => {
                format!("{}{}.{} {}{}", unary_name(*op), fp_mods_text(m), t(*ty), r(dst), self.operand_list(&[a]))
            }
            Inst::Binary { op, ty, mods: m, dst, a, b } => {
                format!(
                    "{}{}.{} {}{}",
                    binary_name(*op, *ty),
                    fp_mods_text(m),
                    t(*ty),
                    r(dst),
                    self.operand_list(&[a, b])
                )
            }
            Inst::Ternary { op, ty, mods: m, dst, a, b, c } => {
                let table = if let TernaryOp::Lop3(table) = op { format!(", {table}") } else { String::new() };
                format!("{} {}{}{table}", ternary_name(*op, *ty, m), r(dst), self.operand_list(&[a, b, c]))
            }
            Inst::Bfi { ty, dst, a, b, pos, len } => {
                format!("bfi.{} {}{}", t(*ty), r(dst), self.operand_list(&[a, b, pos, len]))
            }
            Inst::Carry { op, ty, cc_in, cc_out, dst, a, b, c: third } => {
                let c = text_if(*cc_in, "c");
                let words = match op {
                    CarryOp::Add => format!("add{c}"),
                    CarryOp::Sub => format!("sub{c}"),
                    CarryOp::MadLo => format!("mad{c}.lo"),
                    CarryOp::MadHi => format!("mad{c}.hi"),
                };
                let operands: Vec<&Operand> = [Some(a), Some(b), third.as_ref()].into_iter().flatten().collect();
                format!("{words}{}.{} {}{}", text_if(*cc_out, ".cc"), t(*ty), r(dst), self.operand_list(&operands))
            }
            Inst::Slct { ty, cty, ftz, dst, a, b, c } => {
                format!(
                    "slct{}.{}.{} {}{}",
                    text_if(*ftz, ".ftz"),
                    t(*ty),
                    t(*cty),
                    r(dst),
                    self.operand_list(&[a, b, c])
                )
            }
            Inst::Selp { ty, dst, a, b, pred } => {
                format!("selp.{} {}{}", t(*ty), r(dst), self.operand_list(&[a, b, pred]))
            }
            Inst::Setp { cmp, ty, ftz, combine, dst, dst2, a, b } => {
                let (word, pred) = self.combine_text(combine);
                let second = dst2.map_or(String::new(), |reg| format!("|{}", self.reg_name(reg)));
                let words = format!("setp.{}{word}{}.{}", cmp_op_name(*cmp), text_if(*ftz, ".ftz"), t(*ty));
                format!("{words} {}{second}{}{pred}", self.reg_or_sink(*dst), self.operand_list(&[a, b]))
            }
            Inst::Set { cmp, dty, ty, ftz, combine, dst, a, b } => {
                let (word, pred) = self.combine_text(combine);
                let words = format!("set.{}{word}{}.{}.{}", cmp_op_name(*cmp), text_if(*ftz, ".ftz"), t(*dty), t(*ty));
                format!("{words} {}{}{pred}", r(dst), self.operand_list(&[a, b]))
            }
            Inst::Mov { ty, dst, src } => format!("mov.{} {}{}", t(*ty), r(dst), self.operand_list(&[src])),
            Inst::MovUnpack { ty, dsts, src } => {
                format!("mov.{} {}{}", t(*ty), self.destination_list(dsts), self.operand_list(&[src]))
            }
            Inst::MovPack { ty, dst, srcs } => format!("mov.{} {}, {}", t(*ty), r(dst), self.source_list(srcs)),
            Inst::Cvt { dty, sty, mods: m, dst, a } => {
                format!("{} {}{}", self.cvt_text(*dty, *sty, m), r(dst), self.operand_list(&[a]))
            }
            Inst::CvtPack { dty, sty, mods: m, dst, a, b } => {
                format!("{} {}{}", self.cvt_text(*dty, *sty, m), r(dst), self.operand_list(&[a, b]))
            }
            Inst::CvtIntPack { bits, signed, dst, a, b, c } => {
                let name = format!("cvt.pack.sat.{}{bits}.s32", if *signed { 's' } else { 'u' });
                if *bits == 16 {
                    return format!("{name} {}{}", r(dst), self.operand_list(&[a, b]));
                }
                format!("{name}.b32 {}{}", r(dst), self.operand_list(&[a, b, c]))
            }
            Inst::Video { video, dst, a, b, c } => self.video_text(video, *dst, [a, b, c]),
            Inst::Cvta { space: s, to, ty, dst, src } => {
                format!(
                    "cvta{}{}.{} {}{}",
                    text_if(*to, ".to"),
                    space_suffix(*s),
                    t(*ty),
                    r(dst),
                    self.operand_list(&[src])
                )
            }
            Inst::Isspacep { space: s, dst, a } => {
                format!("isspacep{} {}{}", space_suffix(*s), r(dst), self.operand_list(&[a]))
            }
            Inst::Prefetch { space: s, addr } => format!("prefetch{}.L2 {}", space_suffix(*s), self.addr_text(addr)),
            Inst::BarWarpSync { mask } => format!("bar.warp.sync {}", self.operand_text(mask)),
            Inst::Fence(kind) => self.fence_text(*kind),
            Inst::Activemask { dst } => format!("activemask.b32 {}", r(dst)),
            Inst::Elect { dst, pred, mask } => {
                format!("elect.sync {}|{}{}", self.reg_or_sink(*dst), r(pred), self.operand_list(&[mask]))
            }
            Inst::Nanosleep { a } => format!("nanosleep.u32 {}", self.operand_text(a)),
            Inst::CpAsyncCommit => "cp.async.commit_group".into(),
            Inst::CpAsyncWait { n: Some(n) } => format!("cp.async.wait_group {n}"),
            Inst::CpAsyncWait { n: None } => "cp.async.wait_all".into(),
            Inst::Hint { name } if *name == "pmevent" => "pmevent 0".into(),
            Inst::Hint { name } => (*name).into(),
            Inst::Alloca { ty, dst, size, align } => {
                format!("alloca.{} {}{}, {align}", t(*ty), r(dst), self.operand_list(&[size]))
            }
            Inst::StackSave { ty, dst } => format!("stacksave.{} {}", t(*ty), r(dst)),
            Inst::StackRestore { ty, src } => format!("stackrestore.{} {}", t(*ty), self.operand_text(src)),
            Inst::Ret => "ret".into(),
            Inst::Exit => "exit".into(),
            Inst::Trap => "trap".into(),
            Inst::Brkpt => "brkpt".into(),
            Inst::Texture(inst) => self.texture_text(inst),
            Inst::Other { text, .. } => text.to_string(),
            _ => String::new(),
        }
    }
}
