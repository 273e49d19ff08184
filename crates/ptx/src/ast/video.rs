//! Video instructions: scalar ones on selected parts of words, SIMD ones on halves or bytes.

use super::{CmpOp, Type};

/// Operations of video instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VideoOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Absolute difference.
    AbsDiff,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// SIMD only: the average, rounded up when it is not negative.
    Avg,
    /// Scalar only, as the rest: shifts clamp the amount to 32 or take it modulo 32.
    Shl {
        /// The amount is taken modulo 32.
        wrap: bool,
    },
    /// Right shift, arithmetic for signed types.
    Shr {
        /// The amount is taken modulo 32.
        wrap: bool,
    },
    /// 1 when the comparison holds, else 0.
    Set(CmpOp),
    /// `vmad`: shifted right by `shift` (0, 7 or 15); `plus_one` is `.po`.
    Mad {
        /// The product is subtracted.
        negate_product: bool,
        /// `c` is subtracted.
        negate_c: bool,
        /// One is added.
        plus_one: bool,
        /// Places that the result is shifted right by.
        shift: u8,
    },
}

/// What happens to a scalar video instruction's result, or to those of SIMD lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VideoMerge {
    /// It is the result.
    None,
    /// Scalar: combined with `c` (`.add`); SIMD: the results of the lanes of the mask are added to `c`.
    Add,
    /// Scalar: the smaller one of it and `c`.
    Min,
    /// Scalar: the larger one.
    Max,
    /// Scalar: replaces a part of `c`; SIMD: lanes outside of the mask are taken from `c`.
    Insert,
}

/// A video instruction but for its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Video {
    /// The operation.
    pub op: VideoOp,
    /// 1, 2 (halves) or 4 (bytes).
    pub lanes: u8,
    /// Type of the result, `S32` or `U32`.
    pub dty: Type,
    /// Type of the first operand.
    pub aty: Type,
    /// Type of the second operand.
    pub bty: Type,
    /// Clamps the result to its part's range.
    pub sat: bool,
    /// What is done with the result.
    pub merge: VideoMerge,
    /// Scalar: the part of `d` (0 is all, 1-4 are bytes, 5 and 6 halves); SIMD: a mask of lanes.
    pub d: u8,
    /// Scalar: the part of `a`. SIMD: for each lane, four bits name one of the elements of `a` (from
    /// 0) and `b` (after those of `a`).
    pub a: u16,
    /// The same for the second operand.
    pub b: u16,
}

impl Video {
    /// Elements that a SIMD operand reads when none are written; all of the word of a scalar one.
    pub fn default_elements(lanes: u8, second: bool) -> u16 {
        match (lanes, second) {
            (2, false) => 0x10,
            (2, true) => 0x32,
            (4, false) => 0x3210,
            (4, true) => 0x7654,
            _ => 0,
        }
    }
}
