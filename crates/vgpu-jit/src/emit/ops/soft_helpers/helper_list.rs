//! The list of all helpers, for their numbers in cached machine code.
//!
//! Establishes that the list follows from the sources alone. It is made by asking for the helpers of instructions of
//! every kind; of what operations hold, and of types that are treated alike, one of each suffices.

use super::{
    SoftHelper, bfi_helper, binary_helper, compare_helper, cvt_helper, cvt_pack_helper, pack_integers_helper,
    ternary_helper, unary_helper, video_helper,
};
use rtcg_ptx::ast::{BinaryOp, CmpOp, FpMods, PrmtMode, TernaryOp, Type, UnaryOp};

/// All helpers, most of them several times. The order is that of numbers in cached machine code, so it depends
/// on nothing but the sources: not on addresses either, since compilers make one function of two that are alike.
pub(in crate::emit::ops) fn all_helpers() -> Vec<SoftHelper> {
    let exact = FpMods::default();
    let all_mods = [exact, FpMods { approx: true, ..exact }, FpMods { full: true, ..exact }];
    let mut all = vec![bfi_helper(Type::U32), pack_integers_helper(8, false), video_helper()];
    for (ty, mods) in ALL_TYPES.into_iter().flat_map(|ty| all_mods.map(|mods| (ty, mods))) {
        all.extend(ALL_UNARY_OPS.into_iter().filter_map(|op| unary_helper(op, ty, &mods)));
        all.extend(ALL_BINARY_OPS.into_iter().filter_map(|op| binary_helper(op, ty, &mods)));
        all.extend(ALL_TERNARY_OPS.into_iter().filter_map(|op| ternary_helper(op, ty, &mods)));
        all.extend(ALL_TYPES.into_iter().filter_map(|from| cvt_helper(ty, from, &mods)));
        all.extend(cvt_pack_helper(ty, Type::F32, &mods));
        all.extend(compare_helper(CmpOp::Eq, ty, false));
    }
    all
}

const ALL_TYPES: [Type; 13] = {
    use Type::*;
    [U16, U32, U64, S16, S32, S64, F32, F64, F16x2, BF16x2, U16x2, E4M3x2, E5M2x2]
};
const ALL_UNARY_OPS: [UnaryOp; 24] = {
    use UnaryOp::*;
    let (bfind, shiftamt) = (Bfind { shiftamt: false }, Bfind { shiftamt: true });
    [
        Abs,
        Neg,
        Not,
        Cnot,
        Popc,
        Clz,
        Brev,
        bfind,
        shiftamt,
        Sqrt,
        Rsqrt,
        Rcp,
        Sin,
        Cos,
        Lg2,
        Ex2,
        Tanh,
        PendingCount,
        TestFinite,
        TestInfinite,
        TestNumber,
        TestNotANumber,
        TestNormal,
        TestSubnormal,
    ]
};
const ALL_BINARY_OPS: [BinaryOp; 21] = {
    use BinaryOp::*;
    [
        Add, Sub, Div, Rem, Min, Max, And, Or, Xor, Mul, MulHi, MulWide, Mul24Lo, Mul24Hi, Shl, Shr, CopySign,
        BmskClamp, BmskWrap, SzextClamp, SzextWrap,
    ]
};
const ALL_TERNARY_OPS: [TernaryOp; 22] = {
    use TernaryOp::*;
    let (dp4a, dp2a) =
        (Dp4a { a_signed: false, b_signed: false }, Dp2a { a_signed: false, b_signed: false, hi: false });
    [
        Fma,
        MadLo,
        MadHi,
        MadWide,
        Mad24Lo,
        Mad24Hi,
        Sad,
        Bfe,
        Lop3(0),
        ShfLClamp,
        ShfLWrap,
        ShfRClamp,
        ShfRWrap,
        Prmt(PrmtMode::Index),
        dp4a,
        dp2a,
        Fns,
        ClmadLo,
        ClmadHi,
        AbsDiff4 { sum: false },
        Min3,
        Max3,
    ]
};

#[cfg(test)]
mod tests {
    /// One that is missing among them would only be found in a kernel that cannot be kept.
    #[test]
    fn every_helper_is_listed() {
        let text = include_str!("../soft_helpers.rs");
        let made =
            ["new", "from_binary_fn", "from_ternary_fn"].map(|kind| text.matches(&format!("Helper::{kind}(")).count());
        // `packed_helper` makes one for each closure that it is given.
        let packed = text.matches("=> packed_helper(m, ").count();
        let listed: std::collections::HashSet<_> =
            super::all_helpers().iter().map(|helper| helper.fn_address()).collect();
        assert_eq!(listed.len(), made.iter().sum::<usize>() + packed - 1);
    }
}
