//! One instruction: its opcode and modifiers against the whitelist of the ISA.
//!
//! A rule takes the modifiers it knows out of [`Modifiers`] and then calls [`Modifiers::done`], which
//! refuses whatever is left. So a modifier that no rule has taken is an error, never ignored.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::lexer::{Kind, Token};
use crate::names::{rounding_of, special_of, type_of};

const MAX_MODS: usize = 24;

/// The dotted words after an opcode.
pub(super) struct Modifiers<'s> {
    /// Opcode with all modifiers, as written.
    pub(super) full: &'s str,
    pub(super) span: Span,
    /// The token of the opcode.
    pub(super) first: usize,
    words: [&'s str; MAX_MODS],
    n: usize,
    used: u32,
}

impl<'s> Modifiers<'s> {
    /// Takes `word` if it is there.
    pub(super) fn has(&mut self, word: &str) -> bool {
        for i in 0..self.n {
            if self.words[i] == word && self.used & 1 << i == 0 {
                self.used |= 1 << i;
                return true;
            }
        }
        false
    }

    /// Takes the first word that `of` knows.
    pub(super) fn pick<T>(&mut self, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        for i in 0..self.n {
            if self.used & 1 << i == 0
                && let Some(value) = of(self.words[i])
            {
                self.used |= 1 << i;
                return Some(value);
            }
        }
        None
    }

    /// Takes the first word that `of` knows; it is an error if there is none.
    pub(super) fn need<T>(&mut self, what: &str, of: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        self.pick(of).ok_or_else(|| self.unknown(format!("`{}` lacks {what}", self.full)))
    }

    /// Takes the next type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.need("a type", type_of)
    }

    /// Takes the next type, which must be one of `allowed`.
    pub(super) fn ty_in(&mut self, allowed: &[Type]) -> Parsed<Type> {
        let ty = self.ty()?;
        if allowed.contains(&ty) { Ok(ty) } else { Err(self.refuse()) }
    }

    /// Takes a rounding if there is one.
    pub(super) fn rounding(&mut self) -> Rounding {
        self.pick(rounding_of).unwrap_or(Rounding::Default)
    }

    /// The words, in order.
    pub(super) fn words(&self) -> &[&'s str] {
        &self.words[..self.n]
    }

    /// Whether a word is there, without taking it.
    pub(super) fn contains(&self, word: &str) -> bool {
        self.words().contains(&word)
    }

    /// Refuses modifiers that no rule took.
    pub(super) fn done_unordered(&self) -> Parsed<()> {
        for (i, word) in self.words().iter().enumerate() {
            if self.used & 1 << i == 0 {
                return Err(self.unknown(format!(
                    "`.{}` is not a modifier of `{}`",
                    super::shorten(word),
                    self.shown()
                )));
            }
        }
        Ok(())
    }

    /// Refuses modifiers that no rule took, and ones that stand after the types.
    pub(super) fn done(&self) -> Parsed<()> {
        self.done_unordered()?;
        let types = self.words().iter().position(|word| type_of(word).is_some()).unwrap_or(self.n);
        match self.words()[types..].iter().find(|word| type_of(word).is_none()) {
            // The headers of CUDA write `min.s16x2.relu`.
            Some(&"relu") if self.full.starts_with('m') => Ok(()),
            // Vector atomics may name the operation last.
            Some(&("add" | "min" | "max" | "noftz"))
                if self.full.starts_with("atom") || self.full.starts_with("red.") =>
            {
                Ok(())
            }
            // And `ex2.approx.f32.ftz`.
            Some(&"ftz") if self.full.ends_with(".approx.f32.ftz") => Ok(()),
            Some(word) if !self.full.starts_with("prmt") && !self.full.starts_with("su") => {
                Err(self.unknown(format!("`.{word}` must stand before the type in `{}`", self.shown())))
            }
            _ => Ok(()),
        }
    }

    fn shown(&self) -> String {
        super::shorten(self.full)
    }

    fn unknown(&self, message: String) -> Box<Diagnostic> {
        Diagnostic::new(DiagnosticKind::Unknown, self.span, message)
    }

    /// The diagnostic that these words cannot be combined.
    pub(super) fn refuse(&self) -> Box<Diagnostic> {
        self.unknown(format!("`{}` is not an instruction of PTX", self.shown()))
    }
}

impl<'s> Parser<'s> {
    fn mods(&mut self, first: usize) -> Parsed<Modifiers<'s>> {
        let mut mods = Modifiers { full: "", span: Span::default(), first, words: [""; MAX_MODS], n: 0, used: 0 };
        while let Some(word) = self.dot_word() {
            if mods.n == MAX_MODS {
                return Err(self.error(DiagnosticKind::Unknown, "too many modifiers"));
            }
            mods.words[mods.n] = word;
            mods.n += 1;
            self.advance();
        }
        mods.span = self.span_from(first);
        mods.full = self.text_of(Token { kind: Kind::Ident, start: mods.span.start, end: mods.span.end });
        Ok(mods)
    }

    /// An instruction without guard and `;`.
    pub(super) fn inst(&mut self) -> Parsed<Inst> {
        let first = self.at;
        let opcode = self.ident("an instruction")?;
        let mut mods = self.mods(first)?;
        let m = &mut mods;
        match opcode {
            "ld" | "ldu" => self.load(m, opcode == "ldu"),
            "st" => self.store(m),
            "mov" => self.mov(m),
            "add" => self.add_sub(m, BinaryOp::Add),
            "sub" => self.add_sub(m, BinaryOp::Sub),
            "mul" => self.mul(m),
            "fma" => self.fma(m),
            "mad" => self.mad(m),
            "setp" => self.setp(m),
            "bra" => self.bra(m),
            "and" => self.logic(m, BinaryOp::And),
            "or" => self.logic(m, BinaryOp::Or),
            "xor" => self.logic(m, BinaryOp::Xor),
            "not" => self.not(m),
            "shl" => self.shift(m, BinaryOp::Shl),
            "shr" => self.shift(m, BinaryOp::Shr),
            "cvt" => self.cvt(m),
            "cvta" => self.cvta(m),
            "selp" => self.selp(m),
            "div" => self.div(m),
            "rem" => self.int_binary(m, BinaryOp::Rem),
            "min" => self.min_max(m, BinaryOp::Min, TernaryOp::Min3),
            "max" => self.min_max(m, BinaryOp::Max, TernaryOp::Max3),
            "abs" => self.abs_neg(m, UnaryOp::Abs),
            "neg" => self.abs_neg(m, UnaryOp::Neg),
            "ret" => self.plain(m, Inst::Ret),
            "exit" => self.plain(m, Inst::Exit),
            "trap" => self.plain(m, Inst::Trap),
            "brkpt" => self.plain(m, Inst::Brkpt),
            "call" => self.call(m),
            "addc" => self.carry(m, CarryOp::Add, true),
            "subc" => self.carry(m, CarryOp::Sub, true),
            "madc" => self.mad_carry(m, true),
            "mul24" => self.mul24(m),
            "mad24" => self.mad24(m),
            "sad" => self.sad(m),
            "popc" => self.count(m, UnaryOp::Popc),
            "clz" => self.count(m, UnaryOp::Clz),
            "brev" => self.same(m, UnaryOp::Brev, &[Type::B32, Type::B64]),
            "cnot" => self.same(m, UnaryOp::Cnot, &[Type::B16, Type::B32, Type::B64]),
            "bfind" => self.bfind(m),
            "bfe" => self.bfe(m),
            "bfi" => self.bfi(m),
            "bmsk" => self.clamp_wrap(m, [BinaryOp::BmskClamp, BinaryOp::BmskWrap], &[Type::B32]),
            "szext" => self.clamp_wrap(m, [BinaryOp::SzextClamp, BinaryOp::SzextWrap], &[Type::U32, Type::S32]),
            "dp4a" | "dp2a" => self.dot_product(m, opcode == "dp2a"),
            "fns" => self.find_nth_set(m),
            "vabsdiff4" if m.words() == ["u32", "u32", "u32"] || m.words() == ["u32", "u32", "u32", "add"] => {
                self.abs_diff4(m)
            }
            "lop3" => self.lop3(m),
            "shf" => self.funnel(m),
            "prmt" => self.prmt(m),
            "slct" => self.slct(m),
            "set" => self.set(m),
            "testp" => self.testp(m),
            "copysign" => self.copysign(m),
            "rcp" => self.rcp_sqrt(m, UnaryOp::Rcp),
            "sqrt" => self.rcp_sqrt(m, UnaryOp::Sqrt),
            "rsqrt" => self.rsqrt(m),
            "sin" => self.approx(m, UnaryOp::Sin),
            "cos" => self.approx(m, UnaryOp::Cos),
            "lg2" => self.approx(m, UnaryOp::Lg2),
            "ex2" => self.approx(m, UnaryOp::Ex2),
            "tanh" => self.approx(m, UnaryOp::Tanh),
            "isspacep" => self.isspacep(m),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.prefetch(m, opcode),
            "createpolicy" => self.createpolicy(m),
            "atom" => self.atom(m, true),
            "red" => self.atom(m, false),
            "cp" => self.cp(m),
            "brx" => self.brx(m),
            "bar" | "barrier" => self.barrier(m, opcode == "bar"),
            "membar" | "fence" => self.fence(m, opcode == "membar"),
            "shfl" => self.shfl(m),
            "vote" => self.vote(m),
            "match" => self.match_sync(m),
            "redux" => self.redux(m),
            "activemask" => self.activemask(m),
            "mbarrier" => self.mbarrier(m),
            "mapa" => self.mapa(m),
            "getctarank" => self.getctarank(m),
            "elect" => self.elect(m),
            "nanosleep" => self.nanosleep(m),
            "pmevent" => self.pmevent(m),
            "griddepcontrol" => self.griddepcontrol(m),
            "alloca" => self.alloca(m),
            "stacksave" => self.stack_save(m),
            "stackrestore" => self.stack_restore(m),
            "tex" => self.tex(m),
            "tld4" => self.tld4(m),
            "txq" | "suq" => self.tex_query(m, opcode == "suq"),
            "istypep" => self.istypep(m),
            "suld" => self.surf_load(m),
            "sust" => self.surf_store(m),
            "sured" => self.surf_reduce(m),
            "mma" => self.mma(m),
            "wmma" => self.wmma(m),
            "ldmatrix" => self.ldmatrix(m),
            "stmatrix" => self.stmatrix(m),
            "movmatrix" => self.movmatrix(m),
            _ if VIDEO.contains(&opcode) => self.video(m, &opcode[1..]),
            _ if OTHERS.contains(&opcode) => self.other(m),
            _ => {
                let message = format!("unknown instruction `{}`", super::shorten(m.full));
                Err(Diagnostic::new(DiagnosticKind::Unknown, m.span, message))
            }
        }
    }

    /// An instruction without modifiers and operands (`.uni` aside).
    fn plain(&mut self, m: &mut Modifiers<'s>, inst: Inst) -> Parsed<Inst> {
        if inst == Inst::Ret {
            m.has("uni");
        }
        m.done()?;
        Ok(inst)
    }

    /// An instruction that is PTX but not supported: its text with names made unique.
    ///
    /// Only the brackets and the names are checked.
    pub(super) fn other(&mut self, m: &Modifiers<'s>) -> Parsed<Inst> {
        self.at = m.first + 1 + m.n;
        let opcode: Box<str> =
            [self.text_of(self.tokens[m.first])].iter().chain(m.words()).copied().collect::<Vec<_>>().join(".").into();
        let mut text = opcode.to_string();
        let mut open: Vec<u8> = Vec::new();
        let mut end = m.span.end;
        loop {
            let token = self.token();
            if token.start > end || self.at == m.first + 1 + m.n {
                text.push(' ');
            }
            end = token.end;
            match token.kind {
                Kind::Punct(b';') if open.is_empty() => break,
                Kind::Punct(b @ (b'[' | b'{' | b'(')) => open.push(b),
                Kind::Punct(b @ (b']' | b'}' | b')')) if open.last() == Some(&opening(b)) => _ = open.pop(),
                Kind::Punct(b',' | b'+' | b'-' | b'!' | b'|')
                | Kind::Int
                | Kind::Float
                | Kind::HexF32
                | Kind::HexF64 => {}
                Kind::Dot => {}
                Kind::Ident => {
                    let name = self.other_name(token)?;
                    text.push_str(&name);
                    self.advance();
                    continue;
                }
                _ => return Err(self.expected("`;`")),
            }
            text.push_str(self.text());
            self.advance();
        }
        let message = format!("`{}` is not supported", super::shorten(&opcode));
        self.report(Diagnostic::new(DiagnosticKind::Unsupported, m.span, message));
        Ok(Inst::Other { opcode, text: text.trim_end().into() })
    }

    /// The unique name behind a name in the text of an unsupported instruction.
    fn other_name(&self, token: Token) -> Parsed<String> {
        use super::scope::SymbolKind;
        let name = self.text_of(token);
        let special = ["x", "y"].into_iter().map(Some).chain([None]).any(|dim| special_of(name, dim).is_some());
        let function = &self.body.function;
        match self.body.find(name) {
            Some(SymbolKind::Reg(reg)) => Ok(function.regs[reg.index()].name.to_string()),
            Some(SymbolKind::Var(var)) => Ok(function.vars[var.index()].name.to_string()),
            Some(SymbolKind::Param(n)) => Ok(function.params.get(n as usize).map_or(name, |p| &p.name).to_owned()),
            None if name == "_" || special || self.globals.contains_key(name) => Ok(name.to_owned()),
            _ => Err(self.semantic(token, format!("`{name}` is not declared"))),
        }
    }
}

fn opening(closing: u8) -> u8 {
    match closing {
        b']' => b'[',
        b'}' => b'{',
        _ => b'(',
    }
}

/// Video instructions.
const VIDEO: &[&str] = &[
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vshl",
    "vshr",
    "vmad",
    "vset",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
];

/// Opcodes of PTX 9 that are read but not understood.
const OTHERS: &[&str] = &["wgmma", "tcgen05", "tensormap", "multimem", "clusterlaunchcontrol", "setmaxnreg"];
