//! Matrix instructions: the combinations of shape, layout and type that the ISA has, no others.
//!
//! Their modifiers have a fixed order, so they are read one after the other. Forms that are PTX
//! but need hardware of sm_100 and later are left to [`Parser::other`].

use super::inst::Modifiers;
use super::operand::{ExtraOperands, WidthRule};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::names::{matrix_type_of, rounding_of, space_of};
use MatrixType::*;

/// The modifiers that are still to be read.
struct ModifierList<'s> {
    list: Vec<&'s str>,
    at: usize,
}

impl<'s> ModifierList<'s> {
    fn of(m: &Modifiers<'s>) -> ModifierList<'s> {
        ModifierList { list: m.words().to_vec(), at: 0 }
    }

    fn peek(&self) -> &'s str {
        self.list.get(self.at).copied().unwrap_or("")
    }

    fn eat(&mut self, word: &str) -> bool {
        self.take(|w| (w == word).then_some(())).is_some()
    }

    fn take<T>(&mut self, of: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let found = self.list.get(self.at).and_then(|w| of(w));
        self.at += usize::from(found.is_some());
        found
    }

    /// `.sync.aligned`
    fn sync(&mut self) -> Option<()> {
        (self.eat("sync") && self.eat("aligned")).then_some(())
    }

    fn layout(&mut self) -> Option<MatrixLayout> {
        self.take(layout_of)
    }

    fn ty(&mut self) -> Option<MatrixType> {
        self.take(matrix_type_of)
    }

    /// A state space that matrices may lie in.
    fn space(&mut self) -> Option<Space> {
        self.take(|w| space_of(w).filter(|s| matches!(s, Space::Global | Space::Shared)))
    }

    fn end(&self) -> Option<()> {
        (self.at == self.list.len()).then_some(())
    }
}

fn layout_of(word: &str) -> Option<MatrixLayout> {
    match word {
        "row" => Some(MatrixLayout::Row),
        "col" => Some(MatrixLayout::Col),
        _ => None,
    }
}

/// `m16n8k16`
fn shape_of(word: &str) -> Option<MatrixShape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let number = |s: &str| if s.starts_with('0') { None } else { s.parse::<u16>().ok().map(u32::from) };
    Some(MatrixShape { m: number(m)?, n: number(n)?, k: number(k)? })
}

/// Whether `wmma` has fragments `a` and `b` of this shape and type.
fn wmma_has(shape: MatrixShape, ty: MatrixType) -> bool {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => matches!(ty, F16 | BF16 | S8 | U8),
        (16, 16, 8) => ty == TF32,
        (8, 8, 4) => ty == F64,
        (8, 8, 32) => matches!(ty, S4 | U4),
        (8, 8, 128) => ty == B1,
        _ => false,
    }
}

/// Whether `wmma` has accumulators of this shape and type.
fn wmma_has_sum(shape: MatrixShape, ty: MatrixType) -> bool {
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => matches!(ty, F16 | F32 | S32),
        (16, 16, 8) => ty == F32,
        (8, 8, 4) => ty == F64,
        (8, 8, 32) | (8, 8, 128) => ty == S32,
        _ => false,
    }
}

/// Whether there is a `mma` with these sizes and types.
fn mma_has(f: &MatrixProduct) -> bool {
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
        (S8 | U8, S8 | U8) => integers(f) && matches!(size, (8, 8, 16) | (16, 8, 16 | 32)),
        (S4 | U4, S4 | U4) => integers(f) && matches!(size, (8, 8, 32) | (16, 8, 32 | 64)),
        (B1, B1) => integers(f) && matches!(size, (8, 8, 128) | (16, 8, 128 | 256)),
        _ => false,
    }
}

fn integers(f: &MatrixProduct) -> bool {
    f.c == S32 && f.d == S32
}

/// Whether there is a `mma.sp` with these sizes and types, and how large its selector may be.
fn sparse_limit(f: &MatrixProduct) -> Option<u8> {
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
        (S8 | U8, S8 | U8) if integers(f) && size == (16, 8, 32) => Some(1),
        (S8 | U8, S8 | U8) if integers(f) && size == (16, 8, 64) => Some(0),
        (S4 | U4, S4 | U4) if integers(f) && size == (16, 8, 64) => Some(1),
        (S4 | U4, S4 | U4) if integers(f) && size == (16, 8, 128) => Some(0),
        _ => None,
    }
}

/// The operation on bits that stands in the modifiers, the product when there is none.
fn op_of(w: &mut ModifierList<'_>) -> Option<MatrixOp> {
    let op = match w.peek() {
        "xor" => MatrixOp::XorPopc,
        "and" => MatrixOp::AndPopc,
        _ => return Some(MatrixOp::Multiply),
    };
    w.at += 1;
    w.eat("popc").then_some(op)
}

/// The modifiers of `mma`.
fn mma_form(w: &mut ModifierList<'_>) -> Option<MatrixProduct> {
    let sparse = match w.peek() {
        "sp" => Some(Sparsity { ordered: false, selector: 0 }),
        "sp::ordered_metadata" => Some(Sparsity { ordered: true, selector: 0 }),
        _ => None,
    };
    w.at += usize::from(sparse.is_some());
    w.sync()?;
    let shape = w.take(shape_of)?;
    let (a_layout, b_layout) = (w.layout()?, w.layout()?);
    let satfinite = w.eat("satfinite");
    let rnd = w.take(float_rounding).unwrap_or(Rounding::Default);
    let (d, a, b, c) = (w.ty()?, w.ty()?, w.ty()?, w.ty()?);
    let op = op_of(w)?;
    w.end()?;
    let form = MatrixProduct { wmma: false, shape, a_layout, b_layout, a, b, c, d, op, satfinite, rnd, sparse };
    let exists = if sparse.is_some() { sparse_limit(&form).is_some() } else { mma_has(&form) };
    let plain = (a_layout, b_layout) == (MatrixLayout::Row, MatrixLayout::Col) || form.is_by_quad_pairs();
    (exists && plain && modifiers_fit(&form)).then_some(form)
}

/// Whether `.satfinite`, rounding and operation go with the types.
fn modifiers_fit(f: &MatrixProduct) -> bool {
    (f.op == MatrixOp::Multiply) == (f.a != B1)
        && (!f.satfinite || (f.c == S32 && f.a != B1))
        && (f.rnd == Rounding::Default || f.a == F64)
}

fn float_rounding(word: &str) -> Option<Rounding> {
    rounding_of(word).filter(|r| matches!(r, Rounding::Rn | Rounding::Rz | Rounding::Rm | Rounding::Rp))
}

/// The modifiers of `wmma.mma`.
fn wmma_form(w: &mut ModifierList<'_>) -> Option<MatrixProduct> {
    let op = op_of(w)?;
    w.sync()?;
    let (a_layout, b_layout) = (w.layout()?, w.layout()?);
    let shape = w.take(shape_of)?;
    let rnd = w.take(float_rounding).unwrap_or(Rounding::Default);
    let (d, second) = (w.ty()?, w.ty()?);
    // Two types are those of the accumulators of a product of halves.
    let (short, a, b, c) = match w.ty() {
        None => (true, F16, F16, second),
        Some(b) => (false, second, b, w.ty()?),
    };
    // NVVM writes the rounding last, the ISA before the types.
    let rnd = if rnd == Rounding::Default { w.take(float_rounding).unwrap_or(rnd) } else { rnd };
    let satfinite = w.eat("satfinite");
    w.end()?;
    let form = MatrixProduct { wmma: true, shape, a_layout, b_layout, a, b, c, d, op, satfinite, rnd, sparse: None };
    let sums = match a {
        F16 => short && matches!(c, F16 | F32) && matches!(d, F16 | F32),
        _ => c == d && wmma_has_sum(shape, c) && (c == S32) == matches!(a, S8 | U8 | S4 | U4 | B1) && c != F16,
    };
    let narrow = matches!(a, S4 | U4 | B1);
    let layouts = !narrow || (a_layout, b_layout) == (MatrixLayout::Row, MatrixLayout::Col);
    (a == b && wmma_has(shape, a) && sums && layouts && modifiers_fit(&form)).then_some(form)
}

/// The type that registers of a fragment must fit.
fn register_type(ty: MatrixType) -> Type {
    match ty {
        F64 => Type::F64,
        F32 => Type::F32,
        S32 => Type::S32,
        _ => Type::B32,
    }
}

impl<'s> Parser<'s> {
    pub(super) fn mma(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        // The forms with block scales and of narrower floats belong to sm_100 and later.
        if m.words().iter().any(|w| w.starts_with("kind::")) {
            return self.other(m);
        }
        let Some(form) = mma_form(&mut ModifierList::of(m)) else { return Err(m.refuse()) };
        self.product(form)
    }

    pub(super) fn wmma(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        let mut w = ModifierList::of(m);
        if w.eat("mma") {
            let Some(form) = wmma_form(&mut w) else { return Err(m.refuse()) };
            return self.product(form);
        }
        if w.eat("store") {
            return self.wmma_store(m, &mut w);
        }
        if !w.eat("load") {
            return Err(m.refuse());
        }
        self.wmma_load(m, &mut w)
    }

    fn wmma_load(&mut self, m: &Modifiers<'s>, w: &mut ModifierList<'s>) -> Parsed<Inst> {
        let role = w.take(|word| match word {
            "a" => Some(MatrixRole::A),
            "b" => Some(MatrixRole::B),
            "c" => Some(MatrixRole::C),
            _ => None,
        });
        let (Some(role), Some(form)) = (role, Transfer::read(w)) else { return Err(m.refuse()) };
        if !form.exists(role) {
            return Err(m.refuse());
        }
        let Transfer { layout, shape, space, ty } = form;
        let n = fragment_registers(true, role, shape, ty);
        let dsts = self.fragment_dst(ty, n)?;
        self.comma()?;
        let addr = self.addr(space)?;
        let stride = self.stride()?;
        Ok(Inst::Matrix(Box::new(MatrixInst::WmmaLoad { role, layout, shape, ty, space, dsts, addr, stride })))
    }

    fn wmma_store(&mut self, m: &Modifiers<'s>, w: &mut ModifierList<'s>) -> Parsed<Inst> {
        let form = if w.eat("d") { Transfer::read(w) } else { None };
        let Some(Transfer { layout, shape, space, ty }) = form.filter(|f| f.exists(MatrixRole::D)) else {
            return Err(m.refuse());
        };
        let n = fragment_registers(true, MatrixRole::D, shape, ty);
        let addr = self.addr(space)?;
        self.comma()?;
        let srcs = self.fragment_reg(ty, n)?;
        let stride = self.stride()?;
        Ok(Inst::Matrix(Box::new(MatrixInst::WmmaStore { layout, shape, ty, space, addr, srcs, stride })))
    }

    fn stride(&mut self) -> Parsed<Option<Operand>> {
        if self.eat(b',') { Ok(Some(self.src(Type::B32)?)) } else { Ok(None) }
    }

    /// Fragments are written in braces, also those of one register.
    fn brace(&self) -> Parsed<()> {
        if self.is(b'{') { Ok(()) } else { Err(self.expected("`{`")) }
    }

    fn fragment_dst(&mut self, ty: MatrixType, n: usize) -> Parsed<Vec<Reg>> {
        self.brace()?;
        self.vector(n, |parser| parser.reg_of(register_type(ty), WidthRule::Exact))
    }

    /// A fragment that only registers may hold.
    fn fragment_reg(&mut self, ty: MatrixType, n: usize) -> Parsed<Vec<Operand>> {
        Ok(self.fragment_dst(ty, n)?.into_iter().map(Operand::Reg).collect())
    }

    fn fragment_src(&mut self, ty: MatrixType, n: usize) -> Parsed<Vec<Operand>> {
        self.brace()?;
        self.vector(n, |parser| parser.source(register_type(ty), WidthRule::Exact, ExtraOperands::RegisterOrConstant))
    }

    fn product(&mut self, mut form: MatrixProduct) -> Parsed<Inst> {
        let d = self.fragment_dst(form.d, form.registers(MatrixRole::D))?;
        self.comma()?;
        let a = self.fragment_reg(form.a, form.registers(MatrixRole::A))?;
        self.comma()?;
        let b = self.fragment_reg(form.b, form.registers(MatrixRole::B))?;
        self.comma()?;
        let c = self.fragment_src(form.c, form.registers(MatrixRole::C))?;
        let mut metadata = None;
        if let Some(sparse) = form.sparse {
            let limit = sparse_limit(&form).unwrap_or(0);
            metadata = Some(self.comma_src(Type::B32)?);
            self.comma()?;
            let token = self.token();
            let selector = self.unsigned()?;
            if selector > u32::from(limit) {
                return Err(self.semantic(token, format!("the sparsity selector is {selector}, {limit} at most")));
            }
            form.sparse = Some(Sparsity { selector: selector as u8, ..sparse });
        }
        Ok(Inst::Matrix(Box::new(MatrixInst::Product { form, d, a, b, c, metadata })))
    }

    pub(super) fn ldmatrix(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.words().iter().any(|w| matches!(*w, "m16n16" | "m8n16")) {
            return self.other(m);
        }
        let Some((n, trans, space)) = tiles(&mut ModifierList::of(m)) else { return Err(m.refuse()) };
        let dsts = self.fragment_dst(F16, n)?;
        self.comma()?;
        let addr = self.addr(space)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::LdMatrix { trans, space, dsts, addr })))
    }

    pub(super) fn stmatrix(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.contains("m16n8") {
            return self.other(m);
        }
        let Some((n, trans, space)) = tiles(&mut ModifierList::of(m)) else { return Err(m.refuse()) };
        let addr = self.addr(space)?;
        self.comma()?;
        let srcs = self.fragment_reg(F16, n)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::StMatrix { trans, space, addr, srcs })))
    }

    pub(super) fn movmatrix(&mut self, m: &mut Modifiers<'s>) -> Parsed<Inst> {
        if m.words() != ["sync", "aligned", "m8n8", "trans", "b16"] {
            return Err(m.refuse());
        }
        let dst = self.dst_comma(Type::B32)?;
        Ok(Inst::Matrix(Box::new(MatrixInst::MovMatrix { dst, src: self.src(Type::B32)? })))
    }
}

/// `.sync.aligned.m8n8.num{.trans}{.shared}.b16`: how many matrices, transposed, and where.
fn tiles(w: &mut ModifierList<'_>) -> Option<(usize, bool, Space)> {
    w.sync()?;
    if !w.eat("m8n8") {
        return None;
    }
    let n = w.take(|word| match word {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    })?;
    let trans = w.eat("trans");
    let space = w.take(|w| space_of(w).filter(|s| *s == Space::Shared)).unwrap_or(Space::Generic);
    (w.eat("b16") && w.end().is_some()).then_some((n, trans, space))
}

/// The modifiers that `wmma.load` and `wmma.store` share.
struct Transfer {
    layout: MatrixLayout,
    shape: MatrixShape,
    space: Space,
    ty: MatrixType,
}

impl Transfer {
    fn read(w: &mut ModifierList<'_>) -> Option<Transfer> {
        w.sync()?;
        let (layout, shape) = (w.layout()?, w.take(shape_of)?);
        let space = w.space().unwrap_or(Space::Generic);
        let ty = w.ty()?;
        w.end()?;
        Some(Transfer { layout, shape, space, ty })
    }

    fn exists(&self, role: MatrixRole) -> bool {
        let own = match role {
            MatrixRole::A => MatrixLayout::Row,
            MatrixRole::B => MatrixLayout::Col,
            MatrixRole::C | MatrixRole::D => return wmma_has_sum(self.shape, self.ty),
        };
        wmma_has(self.shape, self.ty) && (self.ty.bits() >= 8 || self.layout == own)
    }
}
