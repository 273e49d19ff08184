//! Types, state spaces, registers that the machine provides, and what operands are made of.

use super::{FuncId, GlobalVar, LocalVar, Reg};

/// A fundamental type of the PTX ISA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    /// `.tf32`, `.e4m3`, ... appear only as formats of `cvt` and `mma`.
    TF32,
    E4M3x2,
    E5M2x2,
    E4M3,
    E5M2,
    U16x2,
    S16x2,
    Pred,
}

impl Type {
    /// Size in bits; 1 for `.pred`.
    pub fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 | E4M3 | E5M2 => 8,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 => 16,
            B32 | U32 | S32 | F32 | F16x2 | BF16x2 | TF32 | U16x2 | S16x2 => 32,
            B64 | U64 | S64 | F64 => 64,
            B128 => 128,
        }
    }
    /// Size in bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2)
    }
    /// Whether arithmetic on this type is floating point.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | BF16 | BF16x2 | F32 | F64 | TF32 | E4M3 | E5M2 | E4M3x2 | E5M2x2)
    }
}

/// A state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    /// Kernel parameters when read in an entry, call parameters elsewhere.
    Param,
}

/// A special register (`%tid.x`, ...). Vector ones are read through their component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SpecialReg {
    Tid(Dim3Component),
    Ntid(Dim3Component),
    Ctaid(Dim3Component),
    Nctaid(Dim3Component),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    ClusterId(Dim3Component),
    NClusterId(Dim3Component),
    ClusterCtaid(Dim3Component),
    ClusterNctaid(Dim3Component),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    Envreg(u8),
    Pm(u8),
    CurrentGraphExec,
    ReservedSmemBegin,
    ReservedSmemEnd,
    ReservedSmemCap,
    ReservedSmemOffset(u8),
}

/// A component of a three-dimensional special register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Dim3Component {
    X,
    Y,
    Z,
    W,
}

/// What an address or a `mov` source can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Symbol {
    Global(GlobalVar),
    Local(LocalVar),
    Func(FuncId),
    /// Parameter number of the enclosing function (`Function::params`).
    Param(u32),
    /// Return parameter number of the enclosing function (`Function::returns`).
    Return(u32),
}

/// A scalar source operand. Immediates are already the bits of the instruction's type.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Operand {
    Reg(Reg),
    /// Integer immediate, sign-extended to 64 bits as written.
    Int(i64),
    /// The bit pattern of a `0f` literal or of a decimal one read at f32.
    F32(u32),
    /// The bit pattern of a `0d` literal or of a decimal one.
    F64(u64),
    Special(SpecialReg),
    /// The address of a symbol plus a byte offset.
    Address(Symbol, i64),
}

/// The base of a memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum AddrBase {
    Reg(Reg),
    Symbol(Symbol),
    Absolute,
}

/// A memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Addr {
    pub base: AddrBase,
    pub offset: i64,
}

/// An element of a vector operand in a store or a `mov`; `None` in destinations means `_`.
pub type VectorElements<T> = Vec<T>;

/// `@p` or `@!p` before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Guard {
    pub reg: Reg,
    pub negated: bool,
}

/// A predicate source, possibly negated (`p`, `!p`) or constant (`1`, `0`, `%pt`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PredSrc {
    Reg { reg: Reg, negated: bool },
    Const(bool),
}
