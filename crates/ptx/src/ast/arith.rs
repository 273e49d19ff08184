//! What arithmetic instructions do: operations, roundings, comparisons.

/// Rounding modes of floating-point instructions and of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    /// Nothing written: the instruction's default.
    Default,
    Rn,
    Rz,
    Rm,
    Rp,
    Rna,
    /// Round to an integral value.
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// Floating-point modifiers that many instructions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct FpMods {
    pub rnd: Rounding,
    pub ftz: bool,
    pub sat: bool,
    /// `.approx`
    pub approx: bool,
    /// `.full` (div only)
    pub full: bool,
    /// `.NaN` (min, max, fma.relu ...): NaN in, NaN out
    pub nan: bool,
    /// `.xorsign.abs` (min, max)
    pub xorsign_abs: bool,
    /// `.relu` (fma, cvt)
    pub relu: bool,
    /// `.satfinite` (cvt to 16-bit floats and tf32): finite results, as large as need be.
    pub satfinite: bool,
}

impl Default for FpMods {
    fn default() -> Self {
        FpMods {
            rnd: Rounding::Default,
            ftz: false,
            sat: false,
            approx: false,
            full: false,
            nan: false,
            xorsign_abs: false,
            relu: false,
            satfinite: false,
        }
    }
}

/// One-operand arithmetic and bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Abs,
    Neg,
    Not,
    /// Logical not (`cnot`): 1 if the operand is 0, else 0.
    Cnot,
    Popc,
    Clz,
    Brev,
    /// `bfind`; `shiftamt` selects the distance form.
    Bfind {
        shiftamt: bool,
    },
    Sqrt,
    Rsqrt,
    Rcp,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    /// `mbarrier.pending_count`: the pending arrivals in a state.
    PendingCount,
    /// `testp` tests, giving a predicate.
    TestFinite,
    TestInfinite,
    TestNumber,
    TestNotANumber,
    TestNormal,
    TestSubnormal,
}

/// Two-operand instructions whose operands and result share a type unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Low half of the product (`mul.lo`, or the product of floats).
    Mul,
    MulHi,
    /// `mul.wide`: the result has twice the bits of `ty`.
    MulWide,
    /// `mul24.lo` / `mul24.hi`
    Mul24Lo,
    Mul24Hi,
    /// Shifts take a `u32` amount and clamp it to the width.
    Shl,
    Shr,
    CopySign,
    /// `bmsk.clamp` / `bmsk.wrap`
    BmskClamp,
    BmskWrap,
    /// `szext.clamp` / `szext.wrap`
    SzextClamp,
    SzextWrap,
}

/// Three-operand instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TernaryOp {
    /// `fma`, and `mad` of floats
    Fma,
    MadLo,
    MadHi,
    MadWide,
    Mad24Lo,
    Mad24Hi,
    Sad,
    /// `bfe d, a, pos, len`
    Bfe,
    /// `lop3.b32` with its table
    Lop3(u8),
    /// `shf.l` / `shf.r`, clamped or wrapped: `d, lo, hi, amount`
    ShfLClamp,
    ShfLWrap,
    ShfRClamp,
    ShfRWrap,
    Prmt(PrmtMode),
    /// `dp4a`: signedness of a and b
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        hi: bool,
    },
    /// `fns d, mask, base, offset`: the place of the n-th set bit from `base`
    Fns,
    /// `vabsdiff4.u32.u32.u32`: |a - b| byte by byte, or with `sum` c plus their sum
    AbsDiff4 {
        #[allow(missing_docs)]
        sum: bool,
    },
    /// three-input `min` / `max` (sm_100)
    Min3,
    Max3,
}

/// Modes of `prmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PrmtMode {
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Comparisons of `setp` and `set`; the `U` forms are true when an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned `lo ls hi hs`: lt le gt ge of unsigned operands.
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// The Boolean that `setp`/`set` combine a comparison with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Operations of `Inst::Carry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CarryOp {
    Add,
    Sub,
    MadLo,
    MadHi,
}
