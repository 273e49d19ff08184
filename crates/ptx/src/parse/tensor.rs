//! Matrix instructions: the combinations of shape, layout and type that the ISA has, no others.
//!
//! Their modifiers have a fixed order, so they are read one after the other. Forms that are PTX
//! but need hardware of sm_100 and later are left to [`Parser::parse_unsupported`].

use super::inst::Modifiers;
use super::operand::{ExtraOperands, WidthRule};
use super::{ParseRuleResult, Parser};
use crate::ast::*;
use crate::keywords::{matrix_type_from_keyword, rounding_from_keyword, space_from_keyword};
use MatrixType::*;

/// The modifiers that are still to be read.
struct ModifierList<'s> {
    list: Vec<&'s str>,
    at: usize,
}

impl<'s> ModifierList<'s> {
    fn from_modifiers(m: &Modifiers<'s>) -> ModifierList<'s> {
        ModifierList { list: m.all_words().to_vec(), at: 0 }
    }

    fn peek_word(&self) -> &'s str {
        self.list.get(self.at).copied().unwrap_or("")
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.take_modifier_if(|w| (w == word).then_some(())).is_some()
    }

    fn take_modifier_if<T>(&mut self, of: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let found = self.list.get(self.at).and_then(|w| of(w));
        self.at += usize::from(found.is_some());
        found
    }

    /// `.sync.aligned`
    fn take_sync_aligned(&mut self) -> Option<()> {
        (self.eat_word("sync") && self.eat_word("aligned")).then_some(())
    }

    fn take_layout(&mut self) -> Option<MatrixLayout> {
        self.take_modifier_if(layout_from_keyword)
    }

    fn take_type(&mut self) -> Option<MatrixType> {
        self.take_modifier_if(matrix_type_from_keyword)
    }

    /// A state space that matrices may lie in.
    fn take_space(&mut self) -> Option<Space> {
        self.take_modifier_if(|w| space_from_keyword(w).filter(|s| matches!(s, Space::Global | Space::Shared)))
    }

    fn expect_end(&self) -> Option<()> {
        (self.at == self.list.len()).then_some(())
    }
}

fn layout_from_keyword(word: &str) -> Option<MatrixLayout> {
    match word {
        "row" => Some(MatrixLayout::Row),
        "col" => Some(MatrixLayout::Col),
        _ => None,
    }
}

/// `m16n8k16`
fn shape_from_keyword(word: &str) -> Option<MatrixShape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let number = |s: &str| if s.starts_with('0') { None } else { s.parse::<u16>().ok().map(u32::from) };
    Some(MatrixShape { m: number(m)?, n: number(n)?, k: number(k)? })
}

/// Whether `parse_wmma` has fragments `a` and `b` of this shape and type.
fn is_valid_wmma_input(shape: MatrixShape, ty: MatrixType) -> bool {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => matches!(ty, F16 | BF16 | S8 | U8),
        (16, 16, 8) => ty == TF32,
        (8, 8, 4) => ty == F64,
        (8, 8, 32) => matches!(ty, S4 | U4),
        (8, 8, 128) => ty == B1,
        _ => false,
    }
}

/// Whether `parse_wmma` has accumulators of this shape and type.
fn is_valid_wmma_accumulator(shape: MatrixShape, ty: MatrixType) -> bool {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => matches!(ty, F16 | F32 | S32),
        (16, 16, 8) => ty == F32,
        (8, 8, 4) => ty == F64,
        (8, 8, 32) | (8, 8, 128) => ty == S32,
        _ => false,
    }
}

/// Whether there is a `parse_mma` with these sizes and types.
fn is_valid_mma(f: &MatrixProduct) -> bool {
    let size = (f.shape.m, f.shape.n, f.shape.k);
    let halves = f.c == f.d && matches!(f.d, F16 | F32);
    match (f.a, f.b) {
        (F16, F16) if size == (8, 8, 4) => {
            (f.d, f.c) != (F16, F32) && matches!(f.c, F16 | F32) && matches!(f.d, F16 | F32)
        }
        (F16, F16) => halves && matches!(size, (16, 8, 8 | 16)),
        (BF16, BF16) => f.c == F32 && f.d == F32 && matches!(size, (16, 8, 8 | 16)),
        (TF32, TF32) => f.c == F32 && f.d == F32 && matches!(size, (16, 8, 4 | 8)),
        (E4M3 | E5M2, E4M3 | E5M2) => halves && matches!(size, (16, 8, 16 | 32)),
        (F64, F64) => f.c == F64 && f.d == F64 && matches!(size, (8, 8, 4) | (16, 8, 4 | 8 | 16)),
        (S8 | U8, S8 | U8) => has_s32_accumulators(f) && matches!(size, (8, 8, 16) | (16, 8, 16 | 32)),
        (S4 | U4, S4 | U4) => has_s32_accumulators(f) && matches!(size, (8, 8, 32) | (16, 8, 32 | 64)),
        (B1, B1) => has_s32_accumulators(f) && matches!(size, (8, 8, 128) | (16, 8, 128 | 256)),
        _ => false,
    }
}

fn has_s32_accumulators(f: &MatrixProduct) -> bool {
    f.c == S32 && f.d == S32
}

/// Whether there is a `mma.sp` with these sizes and types, and how large its selector may be.
fn sparse_selector_limit(f: &MatrixProduct) -> Option<u8> {
    let size = (f.shape.m, f.shape.n, f.shape.k);
    let halves = f.c == f.d && matches!(f.d, F16 | F32);
    let singles = f.c == F32 && f.d == F32;
    match (f.a, f.b) {
        (F16, F16) if halves && size == (16, 8, 16) => Some(3),
        (F16, F16) if halves && size == (16, 8, 32) => Some(1),
        (BF16, BF16) if singles && size == (16, 8, 16) => Some(3),
        (BF16, BF16) if singles && size == (16, 8, 32) => Some(1),
        (TF32, TF32) if singles && size == (16, 8, 8) => Some(3),
        (TF32, TF32) if singles && size == (16, 8, 16) => Some(1),
        (E4M3 | E5M2, E4M3 | E5M2) if singles && size == (16, 8, 64) => Some(0),
        (S8 | U8, S8 | U8) if has_s32_accumulators(f) && size == (16, 8, 32) => Some(1),
        (S8 | U8, S8 | U8) if has_s32_accumulators(f) && size == (16, 8, 64) => Some(0),
        (S4 | U4, S4 | U4) if has_s32_accumulators(f) && size == (16, 8, 64) => Some(1),
        (S4 | U4, S4 | U4) if has_s32_accumulators(f) && size == (16, 8, 128) => Some(0),
        _ => None,
    }
}

/// The operation on bits that stands in the modifiers, the product when there is none.
fn take_combine_op(w: &mut ModifierList<'_>) -> Option<MmaCombineOp> {
    let op = match w.peek_word() {
        "xor" => MmaCombineOp::XorPopc,
        "and" => MmaCombineOp::AndPopc,
        _ => return Some(MmaCombineOp::Multiply),
    };
    w.at += 1;
    w.eat_word("popc").then_some(op)
}

/// The modifiers of `parse_mma`.
fn parse_mma_modifiers(w: &mut ModifierList<'_>) -> Option<MatrixProduct> {
    let sparse = match w.peek_word() {
        "sp" => Some(Sparsity { ordered: false, selector: 0 }),
        "sp::ordered_metadata" => Some(Sparsity { ordered: true, selector: 0 }),
        _ => None,
    };
    w.at += usize::from(sparse.is_some());
    w.take_sync_aligned()?;
    let shape = w.take_modifier_if(shape_from_keyword)?;
    let (a_layout, b_layout) = (w.take_layout()?, w.take_layout()?);
    let satfinite = w.eat_word("satfinite");
    let rnd = w.take_modifier_if(float_rounding_from_keyword).unwrap_or(Rounding::Default);
    let (d, a, b, c) = (w.take_type()?, w.take_type()?, w.take_type()?, w.take_type()?);
    let op = take_combine_op(w)?;
    w.expect_end()?;
    let form = MatrixProduct { wmma: false, shape, a_layout, b_layout, a, b, c, d, op, satfinite, rnd, sparse };
    let exists = if sparse.is_some() { sparse_selector_limit(&form).is_some() } else { is_valid_mma(&form) };
    let plain = (a_layout, b_layout) == (MatrixLayout::Row, MatrixLayout::Col) || form.is_quad_pair_mma();
    (exists && plain && are_modifiers_compatible(&form)).then_some(form)
}

/// Whether `.satfinite`, rounding and operation go with the types.
fn are_modifiers_compatible(f: &MatrixProduct) -> bool {
    (f.op == MmaCombineOp::Multiply) == (f.a != B1)
        && (!f.satfinite || (f.c == S32 && f.a != B1))
        && (f.rnd == Rounding::Default || f.a == F64)
}

fn float_rounding_from_keyword(word: &str) -> Option<Rounding> {
    rounding_from_keyword(word).filter(|r| matches!(r, Rounding::Rn | Rounding::Rz | Rounding::Rm | Rounding::Rp))
}

/// The modifiers of `wmma.mma`.
fn parse_wmma_mma_modifiers(w: &mut ModifierList<'_>) -> Option<MatrixProduct> {
    let op = take_combine_op(w)?;
    w.take_sync_aligned()?;
    let (a_layout, b_layout) = (w.take_layout()?, w.take_layout()?);
    let shape = w.take_modifier_if(shape_from_keyword)?;
    let rnd = w.take_modifier_if(float_rounding_from_keyword).unwrap_or(Rounding::Default);
    let (d, second) = (w.take_type()?, w.take_type()?);
    // Two types are those of the accumulators of a product of halves.
    let (short, a, b, c) = match w.take_type() {
        None => (true, F16, F16, second),
        Some(b) => (false, second, b, w.take_type()?),
    };
    // NVVM writes the rounding last, the ISA before the types.
    let rnd =
        if rnd == Rounding::Default { w.take_modifier_if(float_rounding_from_keyword).unwrap_or(rnd) } else { rnd };
    let satfinite = w.eat_word("satfinite");
    w.expect_end()?;
    let form = MatrixProduct { wmma: true, shape, a_layout, b_layout, a, b, c, d, op, satfinite, rnd, sparse: None };
    let sums = match a {
        F16 => short && matches!(c, F16 | F32) && matches!(d, F16 | F32),
        _ => {
            c == d
                && is_valid_wmma_accumulator(shape, c)
                && (c == S32) == matches!(a, S8 | U8 | S4 | U4 | B1)
                && c != F16
        }
    };
    let narrow = matches!(a, S4 | U4 | B1);
    let layouts = !narrow || (a_layout, b_layout) == (MatrixLayout::Row, MatrixLayout::Col);
    (a == b && is_valid_wmma_input(shape, a) && sums && layouts && are_modifiers_compatible(&form)).then_some(form)
}

/// The type that registers of a fragment must fit.
fn fragment_register_type(ty: MatrixType) -> Type {
    match ty {
        F64 => Type::F64,
        F32 => Type::F32,
        S32 => Type::S32,
        _ => Type::B32,
    }
}

impl<'s> Parser<'s> {
    pub(super) fn parse_mma(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        // The forms with block scales and of narrower floats belong to sm_100 and later.
        if m.all_words().iter().any(|w| w.starts_with("kind::")) {
            return self.parse_unsupported(m);
        }
        let Some(form) = parse_mma_modifiers(&mut ModifierList::from_modifiers(m)) else {
            return Err(m.invalid_combination());
        };
        self.parse_matrix_product(form)
    }

    pub(super) fn parse_wmma(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        let mut w = ModifierList::from_modifiers(m);
        if w.eat_word("mma") {
            let Some(form) = parse_wmma_mma_modifiers(&mut w) else { return Err(m.invalid_combination()) };
            return self.parse_matrix_product(form);
        }
        if w.eat_word("store") {
            return self.parse_wmma_store(m, &mut w);
        }
        if !w.eat_word("load") {
            return Err(m.invalid_combination());
        }
        self.parse_wmma_load(m, &mut w)
    }

    fn parse_wmma_load(&mut self, m: &Modifiers<'s>, w: &mut ModifierList<'s>) -> ParseRuleResult<Inst> {
        let role = w.take_modifier_if(|word| match word {
            "a" => Some(MatrixRole::A),
            "b" => Some(MatrixRole::B),
            "c" => Some(MatrixRole::C),
            _ => None,
        });
        let (Some(role), Some(form)) = (role, WmmaLoadStore::read_modifiers(w)) else {
            return Err(m.invalid_combination());
        };
        if !form.is_valid_fragment_type(role) {
            return Err(m.invalid_combination());
        }
        let WmmaLoadStore { layout, shape, space, ty } = form;
        let n = fragment_registers(true, role, shape, ty);
        let dsts = self.parse_fragment_dst(ty, n)?;
        self.expect_comma()?;
        let addr = self.parse_addr(space)?;
        let stride = self.parse_optional_stride()?;
        Ok(Inst::Matrix(Box::new(MatrixInst::WmmaLoad { role, layout, shape, ty, space, dsts, addr, stride })))
    }

    fn parse_wmma_store(&mut self, m: &Modifiers<'s>, w: &mut ModifierList<'s>) -> ParseRuleResult<Inst> {
        let form = if w.eat_word("d") { WmmaLoadStore::read_modifiers(w) } else { None };
        let Some(WmmaLoadStore { layout, shape, space, ty }) = form.filter(|f| f.is_valid_fragment_type(MatrixRole::D))
        else {
            return Err(m.invalid_combination());
        };
        let n = fragment_registers(true, MatrixRole::D, shape, ty);
        let addr = self.parse_addr(space)?;
        self.expect_comma()?;
        let srcs = self.parse_fragment_registers(ty, n)?;
        let stride = self.parse_optional_stride()?;
        Ok(Inst::Matrix(Box::new(MatrixInst::WmmaStore { layout, shape, ty, space, addr, srcs, stride })))
    }

    fn parse_optional_stride(&mut self) -> ParseRuleResult<Option<Operand>> {
        if self.eat_punct(b',') { Ok(Some(self.parse_src(Type::B32)?)) } else { Ok(None) }
    }

    /// Fragments are written in braces, also those of one register.
    fn expect_brace(&self) -> ParseRuleResult<()> {
        if self.is_punct(b'{') { Ok(()) } else { Err(self.expected_error("`{`")) }
    }

    fn parse_fragment_dst(&mut self, ty: MatrixType, n: usize) -> ParseRuleResult<Vec<Reg>> {
        self.expect_brace()?;
        self.parse_vector(n, |parser| parser.parse_reg_of_type(fragment_register_type(ty), WidthRule::Exact))
    }

    /// A fragment that only registers may hold.
    fn parse_fragment_registers(&mut self, ty: MatrixType, n: usize) -> ParseRuleResult<Vec<Operand>> {
        Ok(self.parse_fragment_dst(ty, n)?.into_iter().map(Operand::Reg).collect())
    }

    fn parse_fragment_src(&mut self, ty: MatrixType, n: usize) -> ParseRuleResult<Vec<Operand>> {
        self.expect_brace()?;
        self.parse_vector(n, |parser| {
            parser.parse_src_with_rules(fragment_register_type(ty), WidthRule::Exact, ExtraOperands::RegisterOrConstant)
        })
    }

    fn parse_matrix_product(&mut self, mut form: MatrixProduct) -> ParseRuleResult<Inst> {
        let d = self.parse_fragment_dst(form.d, form.registers_per_lane(MatrixRole::D))?;
        self.expect_comma()?;
        let a = self.parse_fragment_registers(form.a, form.registers_per_lane(MatrixRole::A))?;
        self.expect_comma()?;
        let b = self.parse_fragment_registers(form.b, form.registers_per_lane(MatrixRole::B))?;
        self.expect_comma()?;
        let c = self.parse_fragment_src(form.c, form.registers_per_lane(MatrixRole::C))?;
        let mut metadata = None;
        if let Some(sparse) = form.sparse {
            let limit = sparse_selector_limit(&form).unwrap_or(0);
            metadata = Some(self.parse_comma_src(Type::B32)?);
            self.expect_comma()?;
            let token = self.current_token();
            let selector = self.parse_unsigned()?;
            if selector > u32::from(limit) {
                return Err(self.semantic_error(token, format!("the sparsity selector is {selector}, {limit} at most")));
            }
            form.sparse = Some(Sparsity { selector: selector as u8, ..sparse });
        }
        Ok(Inst::Matrix(Box::new(MatrixInst::Product { form, d, a, b, c, metadata })))
    }

    pub(super) fn parse_ldmatrix(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.all_words().iter().any(|w| matches!(*w, "m16n16" | "m8n16")) {
            return self.parse_unsupported(m);
        }
        let Some((n, trans, space)) = parse_ldmatrix_modifiers(&mut ModifierList::from_modifiers(m)) else {
            return Err(m.invalid_combination());
        };
        let dsts = self.parse_fragment_dst(F16, n)?;
        self.expect_comma()?;
        let addr = self.parse_addr(space)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::LdMatrix { trans, space, dsts, addr })))
    }

    pub(super) fn parse_stmatrix(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.has_modifier("m16n8") {
            return self.parse_unsupported(m);
        }
        let Some((n, trans, space)) = parse_ldmatrix_modifiers(&mut ModifierList::from_modifiers(m)) else {
            return Err(m.invalid_combination());
        };
        let addr = self.parse_addr(space)?;
        self.expect_comma()?;
        let srcs = self.parse_fragment_registers(F16, n)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::StMatrix { trans, space, addr, srcs })))
    }

    pub(super) fn parse_movmatrix(&mut self, m: &mut Modifiers<'s>) -> ParseRuleResult<Inst> {
        if m.all_words() != ["sync", "aligned", "m8n8", "trans", "b16"] {
            return Err(m.invalid_combination());
        }
        let dst = self.parse_dst_comma(Type::B32)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::MovMatrix { dst, src: self.parse_src(Type::B32)? })))
    }
}

/// `.sync.aligned.m8n8.num{.trans}{.shared}.b16`: how many matrices, transposed, and where.
fn parse_ldmatrix_modifiers(w: &mut ModifierList<'_>) -> Option<(usize, bool, Space)> {
    w.take_sync_aligned()?;
    if !w.eat_word("m8n8") {
        return None;
    }
    let n = w.take_modifier_if(|word| match word {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    })?;
    let trans = w.eat_word("trans");
    let space = w.take_modifier_if(|w| space_from_keyword(w).filter(|s| *s == Space::Shared)).unwrap_or(Space::Generic);
    (w.eat_word("b16") && w.expect_end().is_some()).then_some((n, trans, space))
}

/// The modifiers that `wmma.load` and `wmma.store` share.
struct WmmaLoadStore {
    layout: MatrixLayout,
    shape: MatrixShape,
    space: Space,
    ty: MatrixType,
}

impl WmmaLoadStore {
    fn read_modifiers(w: &mut ModifierList<'_>) -> Option<WmmaLoadStore> {
        w.take_sync_aligned()?;
        let (layout, shape) = (w.take_layout()?, w.take_modifier_if(shape_from_keyword)?);
        let space = w.take_space().unwrap_or(Space::Generic);
        let ty = w.take_type()?;
        w.expect_end()?;
        Some(WmmaLoadStore { layout, shape, space, ty })
    }

    fn is_valid_fragment_type(&self, role: MatrixRole) -> bool {
        let own = match role {
            MatrixRole::A => MatrixLayout::Row,
            MatrixRole::B => MatrixLayout::Col,
            MatrixRole::C | MatrixRole::D => return is_valid_wmma_accumulator(self.shape, self.ty),
        };
        is_valid_wmma_input(self.shape, self.ty) && (self.ty.bits() >= 8 || self.layout == own)
    }
}
