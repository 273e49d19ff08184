//! Matrix instructions of a warp: `wmma`, `mma`, `ldmatrix`, `stmatrix`, `movmatrix`.
//!
//! A *fragment* is a matrix spread over the registers of the 32 lanes. [`fragment_registers`] says
//! how many registers of each lane one takes; where its elements lie is for consumers to know.

use super::{Addr, Operand, Reg, Rounding, Space};

/// Element types of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixType {
    /// `.f16`
    F16,
    /// `.bf16`
    BF16,
    /// `.tf32`: float32 with a mantissa of 10 bits.
    TF32,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// `.s8`
    S8,
    /// `.u8`
    U8,
    /// `.s4`
    S4,
    /// `.u4`
    U4,
    /// `.b1`
    B1,
    /// `.s32`
    S32,
    /// `.e4m3`
    E4M3,
    /// `.e5m2`
    E5M2,
}

impl MatrixType {
    /// Bits of an element in a register and in memory.
    #[inline]
    pub fn bits(self) -> u32 {
        use MatrixType::*;
        match self {
            B1 => 1,
            S4 | U4 => 4,
            S8 | U8 | E4M3 | E5M2 => 8,
            F16 | BF16 => 16,
            TF32 | F32 | S32 => 32,
            F64 => 64,
        }
    }

    /// Bits of the registers that hold a fragment.
    #[inline]
    pub fn register_bits(self) -> u32 {
        if self == MatrixType::F64 { 64 } else { 32 }
    }
}

/// Sizes of a product: `m` x `k` times `k` x `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    /// Rows of `a` and of the product.
    pub m: u32,
    /// Columns of `b` and of the product.
    pub n: u32,
    /// Columns of `a`, rows of `b`.
    pub k: u32,
}

/// Order of a matrix in memory, or for `mma` the way its lanes hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixLayout {
    /// Rows are contiguous.
    Row,
    /// Columns are contiguous.
    Col,
}

/// Which matrix of `d = a * b + c` a fragment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixRole {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The addend.
    C,
    /// The result.
    D,
}

/// How elements of a row and a column combine before they are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MmaCombineOp {
    /// The product.
    Multiply,
    /// The number of ones in the exclusive or.
    XorPopc,
    /// The number of ones in the conjunction.
    AndPopc,
}

/// The sparsity of `a` in `mma.sp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sparsity {
    /// `.sp::ordered_metadata`
    pub ordered: bool,
    /// Which lanes of each four hold the metadata.
    pub selector: u8,
}

/// Everything of a product but its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixProduct {
    /// `wmma.mma` rather than `mma`.
    pub wmma: bool,
    /// Sizes; with sparsity `k` counts the elements of `a` that are not stored too.
    pub shape: MatrixShape,
    /// The layout the instruction names for `a`.
    pub a_layout: MatrixLayout,
    /// The layout the instruction names for `b`.
    pub b_layout: MatrixLayout,
    /// Element type of `a`.
    pub a: MatrixType,
    /// Element type of `b`.
    pub b: MatrixType,
    /// Element type of `c`.
    pub c: MatrixType,
    /// Element type of `d`.
    pub d: MatrixType,
    /// How elements combine.
    pub op: MmaCombineOp,
    /// Integer sums are clamped.
    pub satfinite: bool,
    /// Rounding of products in double precision.
    pub rnd: Rounding,
    /// `mma.sp`
    pub sparse: Option<Sparsity>,
}

impl MatrixProduct {
    /// Whether four products are computed, by eight lanes each: `mma.m8n8k4` of `.f16`.
    #[inline]
    pub fn is_quad_pair_mma(&self) -> bool {
        !self.wmma && self.a == MatrixType::F16 && self.shape.k == 4
    }

    /// The element type of a fragment.
    #[inline]
    pub fn element_type(&self, role: MatrixRole) -> MatrixType {
        match role {
            MatrixRole::A => self.a,
            MatrixRole::B => self.b,
            MatrixRole::C => self.c,
            MatrixRole::D => self.d,
        }
    }

    /// Registers per lane of a fragment.
    #[inline]
    pub fn registers_per_lane(&self, role: MatrixRole) -> usize {
        let ty = self.element_type(role);
        if self.is_quad_pair_mma() {
            return match (role, ty) {
                (MatrixRole::A | MatrixRole::B, _) => 2,
                (_, MatrixType::F16) => 4,
                _ => 8,
            };
        }
        let stored = if self.sparse.is_some() && role == MatrixRole::A { 2 } else { 1 };
        fragment_registers(self.wmma, role, self.shape, ty) / stored
    }
}

/// Registers per lane of a fragment, that of `mma.m8n8k4.f16` aside. The `a` and `b` of `wmma` in
/// `.f16` always take eight, which hold small matrices more than once.
pub fn fragment_registers(wmma: bool, role: MatrixRole, shape: MatrixShape, ty: MatrixType) -> usize {
    let elements = match role {
        MatrixRole::A => shape.m * shape.k,
        MatrixRole::B => shape.k * shape.n,
        MatrixRole::C | MatrixRole::D => shape.m * shape.n,
    };
    if wmma && ty == MatrixType::F16 && matches!(role, MatrixRole::A | MatrixRole::B) {
        return 8;
    }
    (elements * ty.bits() / (32 * ty.register_bits())) as usize
}

/// A matrix instruction. All 32 lanes of the warp take part, with the same modifiers and, where
/// there is one address, the same address.
#[derive(Debug, Clone, PartialEq)]
pub enum MatrixInst {
    /// `wmma.load.{a,b,c}.sync.aligned...`; without a stride the rows (columns) follow each other.
    WmmaLoad {
        /// Which matrix of the product it is.
        role: MatrixRole,
        /// Order of the elements in memory.
        layout: MatrixLayout,
        /// Sizes of the matrices.
        shape: MatrixShape,
        /// Type of the elements.
        ty: MatrixType,
        /// The state space.
        space: Space,
        /// The registers of the fragment.
        dsts: Vec<Reg>,
        /// Where the matrix begins.
        addr: Addr,
        /// Elements from one row (column) to the next.
        stride: Option<Operand>,
    },
    /// `wmma.store.d.sync.aligned...`
    WmmaStore {
        /// Order of the elements in memory.
        layout: MatrixLayout,
        /// Sizes of the matrices.
        shape: MatrixShape,
        /// Type of the elements.
        ty: MatrixType,
        /// The state space.
        space: Space,
        /// Where the matrix begins.
        addr: Addr,
        /// The registers of the fragment.
        srcs: Vec<Operand>,
        /// Elements from one row (column) to the next.
        stride: Option<Operand>,
    },
    /// `wmma.mma`, `mma` and `mma.sp`, the last with a register of metadata.
    Product {
        /// Types, sizes and layouts.
        form: MatrixProduct,
        /// The result's registers.
        d: Vec<Reg>,
        /// The registers of `a`.
        a: Vec<Operand>,
        /// The registers of `b`.
        b: Vec<Operand>,
        /// The registers of `c`.
        c: Vec<Operand>,
        /// Which elements of `a` are stored.
        metadata: Option<Operand>,
    },
    /// `ldmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.b16`
    LdMatrix {
        /// Whether the matrices are transposed.
        trans: bool,
        /// The state space.
        space: Space,
        /// A register for each matrix.
        dsts: Vec<Reg>,
        /// The lane's row.
        addr: Addr,
    },
    /// `stmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.b16`
    StMatrix {
        /// Whether the matrices are transposed.
        trans: bool,
        /// The state space.
        space: Space,
        /// The lane's row.
        addr: Addr,
        /// A register for each matrix.
        srcs: Vec<Operand>,
    },
    /// `movmatrix.sync.aligned.m8n8.trans.b16`
    MovMatrix {
        /// The register that is written.
        dst: Reg,
        /// The register that is transposed.
        src: Operand,
    },
}

impl MatrixInst {
    /// The registers it writes.
    pub fn destinations(&self) -> &[Reg] {
        match self {
            MatrixInst::WmmaLoad { dsts, .. } | MatrixInst::LdMatrix { dsts, .. } => dsts,
            MatrixInst::Product { d, .. } => d,
            MatrixInst::MovMatrix { dst, .. } => std::slice::from_ref(dst),
            MatrixInst::WmmaStore { .. } | MatrixInst::StMatrix { .. } => &[],
        }
    }

    /// Calls `f` with each source operand, addresses aside.
    pub fn for_each_source(&self, mut f: impl FnMut(&Operand)) {
        match self {
            MatrixInst::WmmaLoad { stride, .. } => stride.iter().for_each(f),
            MatrixInst::WmmaStore { srcs, stride, .. } => srcs.iter().chain(stride).for_each(f),
            MatrixInst::Product { a, b, c, metadata, .. } => a.iter().chain(b).chain(c).chain(metadata).for_each(f),
            MatrixInst::StMatrix { srcs, .. } => srcs.iter().for_each(f),
            MatrixInst::MovMatrix { src, .. } => f(src),
            MatrixInst::LdMatrix { .. } => {}
        }
    }

    /// The memory it accesses.
    pub fn address(&self) -> Option<&Addr> {
        match self {
            MatrixInst::WmmaLoad { addr, .. }
            | MatrixInst::WmmaStore { addr, .. }
            | MatrixInst::LdMatrix { addr, .. }
            | MatrixInst::StMatrix { addr, .. } => Some(addr),
            MatrixInst::Product { .. } | MatrixInst::MovMatrix { .. } => None,
        }
    }

    /// Whether it writes memory.
    pub fn is_store(&self) -> bool {
        matches!(self, MatrixInst::WmmaStore { .. } | MatrixInst::StMatrix { .. })
    }
}
