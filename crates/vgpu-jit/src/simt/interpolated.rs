//! Which instructions the interpolator of approximate functions computes.

use rtcg_ptx::ast::{FpMods, Inst, Type, UnaryOp};

/// Whether the interpolator computes an operation.
pub(crate) fn is_interpolated(op: UnaryOp, mods: &FpMods) -> bool {
    use UnaryOp::{Cos, Ex2, Lg2, Rcp, Rsqrt, Sin, Sqrt, Tanh};
    match op {
        Sin | Cos | Lg2 | Ex2 | Tanh | Rsqrt => true,
        Rcp | Sqrt => mods.approx,
        _ => false,
    }
}

/// Whether converged code calls a function of all lanes for an instruction: one of single precision, where approximate
/// functions have a GPU's bits.
pub(crate) fn is_warp_function(inst: &Inst) -> bool {
    matches!(inst, Inst::Unary { op, ty: Type::F32, mods, .. } if is_interpolated(*op, mods))
        && crate::has_device_approximations()
}
