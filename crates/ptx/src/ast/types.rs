//! Types, state spaces, registers that the machine provides, and what operands are made of.

use super::{FuncId, GlobalVar, LocalVar, Reg};

/// A fundamental type of the PTX ISA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `.b8`
    B8,
    /// `.b16`
    B16,
    /// `.b32`
    B32,
    /// `.b64`
    B64,
    /// `.b128`
    B128,
    /// `.u8`
    U8,
    /// `.u16`
    U16,
    /// `.u32`
    U32,
    /// `.u64`
    U64,
    /// `.s8`
    S8,
    /// `.s16`
    S16,
    /// `.s32`
    S32,
    /// `.s64`
    S64,
    /// `.f16`
    F16,
    /// `.f16x2`: two halves in a word.
    F16x2,
    /// `.bf16`
    BF16,
    /// `.bf16x2`: two in a word.
    BF16x2,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// `.tf32`, `.e4m3`, ... appear only as formats of `cvt` and `mma`.
    TF32,
    /// Two of `E4M3`.
    E4M3x2,
    /// Two of `E5M2`.
    E5M2x2,
    /// 8-bit float with 4 bits of exponent.
    E4M3,
    /// 8-bit float with 5 bits of exponent.
    E5M2,
    /// `.u16x2`: two in a word.
    U16x2,
    /// `.s16x2`: two in a word.
    S16x2,
    /// `.pred`
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
pub enum Space {
    /// Generic addresses, which may be of any space.
    Generic,
    /// Memory of the device.
    Global,
    /// Memory of a block, or of its cluster.
    Shared,
    /// Memory of a thread.
    Local,
    /// Constant memory.
    Const,
    /// Kernel parameters when read in an entry, call parameters elsewhere.
    Param,
}

/// A special register (`%tid.x`, ...). Vector ones are read through their component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpecialReg {
    /// Index of the thread in its block.
    Tid(Dim3Component),
    /// Threads of the block.
    Ntid(Dim3Component),
    /// Index of the block in the grid.
    Ctaid(Dim3Component),
    /// Blocks of the grid.
    Nctaid(Dim3Component),
    /// Position in the warp.
    LaneId,
    /// Number of the warp in its block.
    WarpId,
    /// Most warps of a multiprocessor.
    NWarpId,
    /// Number of the multiprocessor.
    SmId,
    /// Most multiprocessors.
    NSmId,
    /// Number of the launch.
    GridId,
    /// The bit of this lane.
    LaneMaskEq,
    /// The bits of this and lower lanes.
    LaneMaskLe,
    /// The bits of lower lanes.
    LaneMaskLt,
    /// The bits of this and higher lanes.
    LaneMaskGe,
    /// The bits of higher lanes.
    LaneMaskGt,
    /// Low half of the cycle counter.
    Clock,
    /// High half of the cycle counter.
    ClockHi,
    /// The cycle counter.
    Clock64,
    /// Time in nanoseconds.
    GlobalTimer,
    /// Its low half.
    GlobalTimerLo,
    /// Its high half.
    GlobalTimerHi,
    /// Bytes of dynamic shared memory.
    DynamicSmemSize,
    /// Bytes of shared memory, without what is reserved.
    TotalSmemSize,
    /// All bytes of shared memory.
    AggrSmemSize,
    /// Index of the cluster in the grid.
    ClusterId(Dim3Component),
    /// Clusters of the grid.
    NClusterId(Dim3Component),
    /// Index of the block in its cluster.
    ClusterCtaid(Dim3Component),
    /// Blocks of the cluster.
    ClusterNctaid(Dim3Component),
    /// Rank of the block in its cluster.
    ClusterCtarank,
    /// Number of blocks of the cluster.
    ClusterNctarank,
    /// Whether the launch named clusters.
    IsExplicitCluster,
    /// A register that the driver sets, 0 to 31.
    Envreg(u8),
    /// A performance counter, 0 to 7.
    Pm(u8),
    /// The graph that the launch belongs to.
    CurrentGraphExec,
    /// Where reserved shared memory begins.
    ReservedSmemBegin,
    /// Where it ends.
    ReservedSmemEnd,
    /// Its bytes.
    ReservedSmemCap,
    /// Offsets in it.
    ReservedSmemOffset(u8),
}

/// A component of a three-dimensional special register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dim3Component {
    /// `.x`
    X,
    /// `.y`
    Y,
    /// `.z`
    Z,
    /// `.w`, which is 0.
    W,
}

/// What an address or a `mov` source can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of the module.
    Global(GlobalVar),
    /// A variable of the function.
    Local(LocalVar),
    /// A function.
    Func(FuncId),
    /// Parameter number of the enclosing function (`Function::params`).
    Param(u32),
    /// Return parameter number of the enclosing function (`Function::returns`).
    Return(u32),
}

/// A scalar source operand. Immediates are already the bits of the instruction's type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// Integer immediate, sign-extended to 64 bits as written.
    Int(i64),
    /// The bit pattern of a `0f` literal or of a decimal one read at f32.
    F32(u32),
    /// The bit pattern of a `0d` literal or of a decimal one.
    F64(u64),
    /// A special register.
    Special(SpecialReg),
    /// The address of a symbol plus a byte offset.
    Address(Symbol, i64),
}

/// The base of a memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddrBase {
    /// A register.
    Reg(Reg),
    /// A symbol.
    Symbol(Symbol),
    /// None: the offset is the address.
    Absolute,
}

/// A memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Addr {
    /// What it is relative to.
    pub base: AddrBase,
    /// Bytes from there.
    pub offset: i64,
}

/// An element of a vector operand in a store or a `mov`; `None` in destinations means `_`.
pub type VectorElements<T> = Vec<T>;

/// `@p` or `@!p` before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub reg: Reg,
    /// Whether it is negated (`!`).
    pub negated: bool,
}

/// A predicate source, possibly negated (`p`, `!p`) or constant (`1`, `0`, `%pt`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredSrc {
    /// A register.
    Reg {
        /// The predicate.
        reg: Reg,
        /// Whether it is negated (`!`).
        negated: bool,
    },
    /// A constant.
    Const(bool),
}
