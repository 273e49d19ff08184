//! One instruction: its opcode and modifiers against the whitelist of the ISA.
//!
//! A rule takes the modifiers it knows out of [`Modifiers`] and then calls [`Modifiers::check_all_taken`], which
//! refuses whatever is left. So a modifier that no rule has taken is an error, never ignored.

use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::keywords::{rounding_from_keyword, special_reg_from_name, type_from_keyword};
use crate::lexer::{Token, TokenKind};

const MAX_MODIFIERS: usize = 24;

/// The dotted words after an opcode.
pub(super) struct Modifiers<'s> {
    /// Opcode with all modifiers, as written.
    pub(super) full: &'s str,
    pub(super) span: Span,
    /// The token of the opcode.
    pub(super) first: usize,
    words: [&'s str; MAX_MODIFIERS],
    n: usize,
    used: u32,
}

impl<'s> Modifiers<'s> {
    /// Takes `word` if it is there.
    pub(super) fn take_modifier(&mut self, word: &str) -> bool {
        for i in 0..self.n {
            if self.words[i] == word && self.used & 1 << i == 0 {
                self.used |= 1 << i;
                return true;
            }
        }
        false
    }

    /// Takes the first word that `of` knows.
    pub(super) fn take_first_matching<T>(&mut self, of: impl Fn(&str) -> Option<T>) -> Option<T> {
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
    pub(super) fn take_required_modifier<T>(
        &mut self,
        what: &str,
        of: impl Fn(&str) -> Option<T>,
    ) -> ParseRuleResult<T> {
        self.take_first_matching(of).ok_or_else(|| self.unknown_modifier(format!("`{}` lacks {what}", self.full)))
    }

    /// Takes the next type.
    pub(super) fn take_type(&mut self) -> ParseRuleResult<Type> {
        self.take_required_modifier("a type", type_from_keyword)
    }

    /// Takes the next type, which must be one of `allowed`.
    pub(super) fn take_type_in(&mut self, allowed: &[Type]) -> ParseRuleResult<Type> {
        let ty = self.take_type()?;
        if allowed.contains(&ty) { Ok(ty) } else { Err(self.invalid_combination()) }
    }

    /// Takes a rounding if there is one.
    pub(super) fn take_rounding(&mut self) -> Rounding {
        self.take_first_matching(rounding_from_keyword).unwrap_or(Rounding::Default)
    }

    /// The words, in order.
    pub(super) fn all_words(&self) -> &[&'s str] {
        &self.words[..self.n]
    }

    /// Whether a word is there, without taking it.
    pub(super) fn has_modifier(&self, word: &str) -> bool {
        self.all_words().contains(&word)
    }

    /// Refuses modifiers that no rule took.
    pub(super) fn check_all_taken_unordered(&self) -> ParseRuleResult<()> {
        for (i, word) in self.all_words().iter().enumerate() {
            if self.used & 1 << i == 0 {
                return Err(self.unknown_modifier(format!(
                    "`.{}` is not a modifier of `{}`",
                    super::shorten_token_text(word),
                    self.opcode_text()
                )));
            }
        }
        Ok(())
    }

    /// Refuses modifiers that no rule took, and ones that stand after the types.
    pub(super) fn check_all_taken(&self) -> ParseRuleResult<()> {
        self.check_all_taken_unordered()?;
        let types = self.all_words().iter().position(|word| type_from_keyword(word).is_some()).unwrap_or(self.n);
        match self.all_words()[types..].iter().find(|word| type_from_keyword(word).is_none()) {
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
                Err(self.unknown_modifier(format!("`.{word}` must stand before the type in `{}`", self.opcode_text())))
            }
            _ => Ok(()),
        }
    }

    fn opcode_text(&self) -> String {
        super::shorten_token_text(self.full)
    }

    fn unknown_modifier(&self, message: String) -> Box<Diagnostic> {
        Diagnostic::new(DiagnosticKind::Unknown, self.span, message)
    }

    /// The diagnostic that these words cannot be combined.
    pub(super) fn invalid_combination(&self) -> Box<Diagnostic> {
        self.unknown_modifier(format!("`{}` is not an instruction of PTX", self.opcode_text()))
    }
}

impl<'s> Parser<'s> {
    fn parse_modifiers(&mut self, first: usize) -> ParseRuleResult<Modifiers<'s>> {
        let mut mods = Modifiers { full: "", span: Span::default(), first, words: [""; MAX_MODIFIERS], n: 0, used: 0 };
        while let Some(word) = self.peek_dot_word() {
            if mods.n == MAX_MODIFIERS {
                return Err(self.error_here(DiagnosticKind::Unknown, "too many modifiers"));
            }
            mods.words[mods.n] = word;
            mods.n += 1;
            self.advance();
        }
        mods.span = self.span_from(first);
        mods.full = self.token_text(Token { kind: TokenKind::Ident, start: mods.span.start, end: mods.span.end });
        Ok(mods)
    }

    /// An instruction without guard and `;`.
    pub(super) fn parse_inst(&mut self) -> ParseRuleResult<Inst> {
        let first = self.at;
        let opcode = self.expect_ident("an instruction")?;
        let mut mods = self.parse_modifiers(first)?;
        let inst = self.parse_inst_of_opcode(opcode, &mut mods)?;
        self.check_target_of_inst(opcode, &mods, &inst)?;
        Ok(inst)
    }

    fn parse_inst_of_opcode(&mut self, opcode: &str, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        match opcode {
            "ld" | "ldu" => self.parse_load(m, opcode == "ldu"),
            "st" => self.parse_store(m),
            "mov" => self.parse_mov(m),
            "add" => self.parse_add_sub(m, BinaryOp::Add),
            "sub" => self.parse_add_sub(m, BinaryOp::Sub),
            "mul" => self.parse_mul(m),
            "fma" => self.parse_fma(m),
            "mad" => self.parse_mad(m),
            "setp" => self.parse_setp(m),
            "bra" => self.parse_bra(m),
            "and" => self.parse_logic(m, BinaryOp::And),
            "or" => self.parse_logic(m, BinaryOp::Or),
            "xor" => self.parse_logic(m, BinaryOp::Xor),
            "not" => self.parse_not(m),
            "shl" => self.parse_shift(m, BinaryOp::Shl),
            "shr" => self.parse_shift(m, BinaryOp::Shr),
            "cvt" => self.parse_cvt(m),
            "cvta" => self.parse_cvta(m),
            "selp" => self.parse_selp(m),
            "div" => self.parse_div(m),
            "rem" => self.parse_int_binary(m, BinaryOp::Rem),
            "min" => self.parse_min_max(m, BinaryOp::Min, TernaryOp::Min3),
            "max" => self.parse_min_max(m, BinaryOp::Max, TernaryOp::Max3),
            "abs" => self.parse_abs_neg(m, UnaryOp::Abs),
            "neg" => self.parse_abs_neg(m, UnaryOp::Neg),
            "ret" => self.parse_inst_without_operands(m, Inst::Ret),
            "exit" => self.parse_inst_without_operands(m, Inst::Exit),
            "trap" => self.parse_inst_without_operands(m, Inst::Trap),
            "brkpt" => self.parse_inst_without_operands(m, Inst::Brkpt),
            "call" => self.parse_call(m),
            "addc" => self.parse_carry_inst(m, CarryOp::Add, true),
            "subc" => self.parse_carry_inst(m, CarryOp::Sub, true),
            "madc" => self.parse_mad_carry(m, true),
            "mul24" => self.parse_mul24(m),
            "mad24" => self.parse_mad24(m),
            "sad" => self.parse_sad(m),
            "popc" => self.parse_bit_count(m, UnaryOp::Popc),
            "clz" => self.parse_bit_count(m, UnaryOp::Clz),
            "brev" => self.parse_same_type_unary(m, UnaryOp::Brev, &[Type::B32, Type::B64]),
            "cnot" => self.parse_same_type_unary(m, UnaryOp::Cnot, &[Type::B16, Type::B32, Type::B64]),
            "bfind" => self.parse_bfind(m),
            "bfe" => self.parse_bfe(m),
            "bfi" => self.parse_bfi(m),
            "bmsk" => self.parse_bmsk_szext(m, [BinaryOp::BmskClamp, BinaryOp::BmskWrap], &[Type::B32]),
            "szext" => self.parse_bmsk_szext(m, [BinaryOp::SzextClamp, BinaryOp::SzextWrap], &[Type::U32, Type::S32]),
            "dp4a" | "dp2a" => self.parse_dot_product(m, opcode == "dp2a"),
            "fns" => self.parse_fns(m),
            "clmad" => self.parse_clmad(m),
            "vabsdiff4" if m.all_words() == ["u32", "u32", "u32"] || m.all_words() == ["u32", "u32", "u32", "add"] => {
                self.parse_vabsdiff4(m)
            }
            "lop3" => self.parse_lop3(m),
            "shf" => self.parse_funnel_shift(m),
            "prmt" => self.parse_prmt(m),
            "slct" => self.parse_slct(m),
            "set" => self.parse_set(m),
            "testp" => self.parse_testp(m),
            "copysign" => self.parse_copysign(m),
            "rcp" => self.parse_rcp_sqrt(m, UnaryOp::Rcp),
            "sqrt" => self.parse_rcp_sqrt(m, UnaryOp::Sqrt),
            "rsqrt" => self.parse_rsqrt(m),
            "sin" => self.parse_approx_unary(m, UnaryOp::Sin),
            "cos" => self.parse_approx_unary(m, UnaryOp::Cos),
            "lg2" => self.parse_approx_unary(m, UnaryOp::Lg2),
            "ex2" => self.parse_approx_unary(m, UnaryOp::Ex2),
            "tanh" => self.parse_approx_unary(m, UnaryOp::Tanh),
            "isspacep" => self.parse_isspacep(m),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.parse_prefetch(m, opcode),
            "createpolicy" => self.parse_createpolicy(m),
            "atom" => self.parse_atom(m, true),
            "red" => self.parse_atom(m, false),
            "cp" => self.parse_cp(m),
            "brx" => self.parse_brx(m),
            "bar" | "barrier" => self.parse_barrier(m, opcode == "bar"),
            "membar" | "fence" => self.parse_fence(m, opcode == "membar"),
            "shfl" => self.parse_shfl(m),
            "vote" => self.parse_vote(m),
            "match" => self.parse_match_sync(m),
            "redux" => self.parse_redux(m),
            "activemask" => self.parse_activemask(m),
            "mbarrier" => self.parse_mbarrier(m),
            "mapa" => self.parse_mapa(m),
            "getctarank" => self.parse_getctarank(m),
            "elect" => self.parse_elect(m),
            "nanosleep" => self.parse_nanosleep(m),
            "pmevent" => self.parse_pmevent(m),
            "griddepcontrol" => self.parse_griddepcontrol(m),
            "alloca" => self.parse_alloca(m),
            "stacksave" => self.parse_stack_save(m),
            "stackrestore" => self.parse_stack_restore(m),
            "tex" => self.parse_tex(m),
            "tld4" => self.parse_tld4(m),
            "txq" | "suq" => self.parse_tex_query(m, opcode == "suq"),
            "istypep" => self.parse_istypep(m),
            "suld" => self.parse_surf_load(m),
            "sust" => self.parse_surf_store(m),
            "sured" => self.parse_surf_reduce(m),
            "mma" => self.parse_mma(m),
            "wmma" => self.parse_wmma(m),
            "ldmatrix" => self.parse_ldmatrix(m),
            "stmatrix" => self.parse_stmatrix(m),
            "movmatrix" => self.parse_movmatrix(m),
            _ if VIDEO_OPCODES.contains(&opcode) => self.parse_video(m, &opcode[1..]),
            _ if UNSUPPORTED_OPCODES.contains(&opcode) => self.parse_unsupported(m),
            _ => {
                let message = format!("unknown instruction `{}`", super::shorten_token_text(m.full));
                Err(Diagnostic::new(DiagnosticKind::Unknown, m.span, message))
            }
        }
    }

    /// An instruction without modifiers and operands (`.uni` aside).
    fn parse_inst_without_operands(&mut self, m: &mut Modifiers<'s>, inst: Inst) -> ParseRuleResult<Inst> {
        if inst == Inst::Ret {
            m.take_modifier("uni");
        }
        m.check_all_taken()?;
        Ok(inst)
    }

    /// An instruction that is PTX but not supported: its text with names made unique.
    ///
    /// Only the brackets and the names are checked.
    pub(super) fn parse_unsupported(&mut self, m: &Modifiers<'s>) -> ParseRuleResult<Inst> {
        self.at = m.first + 1 + m.n;
        let opcode: Box<str> = [self.token_text(self.tokens[m.first])]
            .iter()
            .chain(m.all_words())
            .copied()
            .collect::<Vec<_>>()
            .join(".")
            .into();
        let mut text = opcode.to_string();
        let mut open: Vec<u8> = Vec::new();
        let mut end = m.span.end;
        loop {
            let token = self.current_token();
            if token.start > end || self.at == m.first + 1 + m.n {
                text.push(' ');
            }
            end = token.end;
            match token.kind {
                TokenKind::Punct(b';') if open.is_empty() => break,
                TokenKind::Punct(b @ (b'[' | b'{' | b'(')) => open.push(b),
                TokenKind::Punct(b @ (b']' | b'}' | b')')) if open.last() == Some(&opening_bracket(b)) => {
                    _ = open.pop()
                }
                TokenKind::Punct(b',' | b'+' | b'-' | b'!' | b'|')
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::HexF32
                | TokenKind::HexF64 => {}
                TokenKind::Dot => {}
                TokenKind::Ident => {
                    let name = self.resolve_operand_name(token)?;
                    text.push_str(&name);
                    self.advance();
                    continue;
                }
                _ => return Err(self.expected_error("`;`")),
            }
            text.push_str(self.current_text());
            self.advance();
        }
        let message = format!("`{}` is not supported", super::shorten_token_text(&opcode));
        self.report_diagnostic(Diagnostic::new(DiagnosticKind::Unsupported, m.span, message));
        Ok(Inst::Other { opcode, text: text.trim_end().into() })
    }

    /// The unique name behind a name in the text of an unsupported instruction.
    fn resolve_operand_name(&self, token: Token) -> ParseRuleResult<String> {
        use super::scope::SymbolKind;
        let name = self.token_text(token);
        let special =
            ["x", "y"].into_iter().map(Some).chain([None]).any(|dim| special_reg_from_name(name, dim).is_some());
        let function = &self.body.function;
        match self.body.find_in_function(name) {
            Some(SymbolKind::Reg(reg)) => Ok(function.regs[reg.index()].name.to_string()),
            Some(SymbolKind::Vector(first, _)) => Ok(function.regs[first.index()].name.to_string()),
            Some(SymbolKind::Var(var)) => Ok(function.vars[var.index()].name.to_string()),
            Some(SymbolKind::Param(n)) => Ok(function.params.get(n as usize).map_or(name, |p| &p.name).to_owned()),
            None if name == "_" || special || self.globals.contains_key(name) => Ok(name.to_owned()),
            _ => Err(self.semantic_error(token, format!("`{name}` is not declared"))),
        }
    }
}

fn opening_bracket(closing: u8) -> u8 {
    match closing {
        b']' => b'[',
        b'}' => b'{',
        _ => b'(',
    }
}

/// Video instructions.
const VIDEO_OPCODES: &[&str] = &[
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
const UNSUPPORTED_OPCODES: &[&str] =
    &["wgmma", "tcgen05", "tensormap", "multimem", "clusterlaunchcontrol", "setmaxnreg"];
