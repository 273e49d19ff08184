//! What arithmetic instructions do: operations, roundings, comparisons.

/// Rounding modes of floating-point instructions and of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Nothing written: the instruction's default.
    Default,
    /// To the nearest, ties to even.
    Rn,
    /// Towards zero.
    Rz,
    /// Towards minus infinity.
    Rm,
    /// Towards plus infinity.
    Rp,
    /// To the nearest, ties away from zero.
    Rna,
    /// Round to an integral value.
    Rni,
    /// To an integral value, towards zero.
    Rzi,
    /// To an integral value, towards minus infinity.
    Rmi,
    /// To an integral value, towards plus infinity.
    Rpi,
}

/// Floating-point modifiers that many instructions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FpMods {
    /// Rounding mode.
    pub rnd: Rounding,
    /// `.ftz`: subnormal numbers are flushed to zero.
    pub ftz: bool,
    /// `.sat`: the result is clamped to [0, 1], or to the integer's range.
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
pub enum UnaryOp {
    /// Absolute value.
    Abs,
    /// Negation.
    Neg,
    /// All bits inverted; of predicates, not.
    Not,
    /// Logical not (`cnot`): 1 if the operand is 0, else 0.
    Cnot,
    /// Number of bits that are set.
    Popc,
    /// Number of leading zeros.
    Clz,
    /// Bits in reverse order.
    Brev,
    /// `bfind`; `shiftamt` selects the distance form.
    Bfind {
        /// Gives the shift that brings the bit to the top.
        shiftamt: bool,
    },
    /// Square root.
    Sqrt,
    /// 1 / square root.
    Rsqrt,
    /// 1 / x.
    Rcp,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Logarithm to base 2.
    Lg2,
    /// 2 to the power of x.
    Ex2,
    /// Hyperbolic tangent.
    Tanh,
    /// `mbarrier.pending_count`: the pending arrivals in a state.
    PendingCount,
    /// `testp` tests, giving a predicate.
    TestFinite,
    /// Infinite.
    TestInfinite,
    /// Not NaN.
    TestNumber,
    /// NaN.
    TestNotANumber,
    /// Neither zero, subnormal, infinite nor NaN.
    TestNormal,
    /// Subnormal.
    TestSubnormal,
}

/// Two-operand instructions whose operands and result share a type unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Quotient; of integers, rounded towards zero.
    Div,
    /// Remainder, with the dividend's sign.
    Rem,
    /// The smaller operand.
    Min,
    /// The larger operand.
    Max,
    /// Bits that both have.
    And,
    /// Bits that one or both have.
    Or,
    /// Bits that differ.
    Xor,
    /// Low half of the product (`mul.lo`, or the product of floats).
    Mul,
    /// High half of the product of integers.
    MulHi,
    /// `mul.wide`: the result has twice the bits of `ty`.
    MulWide,
    /// `mul24.lo` / `mul24.hi`
    Mul24Lo,
    /// High 32 bits of the 48-bit product.
    Mul24Hi,
    /// Shifts take a `u32` amount and clamp it to the width.
    Shl,
    /// Right shift, arithmetic for signed types.
    Shr,
    /// `b` with the sign of `a`.
    CopySign,
    /// `bmsk.clamp` / `bmsk.wrap`
    BmskClamp,
    /// As `BmskClamp`, with position and width modulo 32.
    BmskWrap,
    /// `szext.clamp` / `szext.wrap`
    SzextClamp,
    /// As `SzextClamp`, with the position modulo 32.
    SzextWrap,
}

/// Three-operand instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TernaryOp {
    /// `fma`, and `mad` of floats
    Fma,
    /// Low half of the product, plus `c`.
    MadLo,
    /// High half of the product, plus `c`.
    MadHi,
    /// The whole product, plus `c` of twice the width.
    MadWide,
    /// Low 32 bits of a product of 24-bit integers, plus `c`.
    Mad24Lo,
    /// High 32 bits of the 48-bit product, plus `c`.
    Mad24Hi,
    /// `c + |a - b|`.
    Sad,
    /// `bfe d, a, pos, len`
    Bfe,
    /// `lop3.b32` with its table
    Lop3(u8),
    /// `shf.l` / `shf.r`, clamped or wrapped: `d, lo, hi, amount`
    ShfLClamp,
    /// `shf.l.wrap`
    ShfLWrap,
    /// `shf.r.clamp`
    ShfRClamp,
    /// `shf.r.wrap`
    ShfRWrap,
    /// Bytes chosen from two words.
    Prmt(PrmtMode),
    /// `dp4a`: signedness of a and b
    Dp4a {
        /// Whether `a` is of signed elements.
        a_signed: bool,
        /// Whether `b` is of signed elements.
        b_signed: bool,
    },
    /// `dp2a`: products of two 16-bit elements of `a` with bytes of `b`.
    Dp2a {
        /// Whether `a` is of signed elements.
        a_signed: bool,
        /// Whether `b` is of signed elements.
        b_signed: bool,
        /// Takes the upper two bytes of `b`.
        hi: bool,
    },
    /// `fns d, mask, base, offset`: the place of the n-th set bit from `base`
    Fns,
    /// Low half of the carry-less product of polynomials over the field of two elements, plus (xor) `c`.
    ClmadLo,
    /// High half of the carry-less product, plus (xor) `c`.
    ClmadHi,
    /// `vabsdiff4.u32.u32.u32`: |a - b| byte by byte, or with `sum` c plus their sum
    AbsDiff4 {
        /// Adds the differences up.
        sum: bool,
    },
    /// three-input `min` / `max` (sm_100)
    Min3,
    /// Three-input `max` (sm_100).
    Max3,
}

/// Modes of `prmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrmtMode {
    /// The selector names a byte for each byte of the result.
    Index,
    /// `.f4e`: four bytes, forwards.
    F4e,
    /// `.b4e`: four bytes, backwards.
    B4e,
    /// `.rc8`: one byte, four times.
    Rc8,
    /// `.ecl`: clamped on the left.
    Ecl,
    /// `.ecr`: clamped on the right.
    Ecr,
    /// `.rc16`: one half, twice.
    Rc16,
}

/// Comparisons of `setp` and `set`; the `U` forms are true when an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CmpOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Unsigned `lo ls hi hs`: lt le gt ge of unsigned operands.
    Lo,
    /// Less or equal, unsigned.
    Ls,
    /// Greater, unsigned.
    Hi,
    /// Greater or equal, unsigned.
    Hs,
    /// Equal, or NaN.
    Equ,
    /// Not equal, or NaN.
    Neu,
    /// Less, or NaN.
    Ltu,
    /// Less or equal, or NaN.
    Leu,
    /// Greater, or NaN.
    Gtu,
    /// Greater or equal, or NaN.
    Geu,
    /// Both are numbers.
    Num,
    /// One at least is NaN.
    Nan,
}

/// The Boolean that `setp`/`set` combine a comparison with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoolOp {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Exclusive or.
    Xor,
}

/// Operations of `Inst::Carry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CarryOp {
    /// `add.cc`, `addc`.
    Add,
    /// `sub.cc`, `subc`.
    Sub,
    /// `mad.lo.cc`, `madc.lo`.
    MadLo,
    /// `mad.hi.cc`, `madc.hi`.
    MadHi,
}
