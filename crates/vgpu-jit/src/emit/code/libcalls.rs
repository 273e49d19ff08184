//! What compiled code calls where the processor has no instruction for it: fused multiply-add,
//! rounding to integral numbers, byte shuffles (x86-64 without FMA, SSE4.1 or SSSE3).
//!
//! Establishes that such code computes the same bits as the instructions would: the functions of
//! Rust's standard library are exact.

use cranelift_codegen::ir::LibCall;

extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    // Among NaNs the addend's goes first, then that of the second factor.
    match [c, b, a].into_iter().find(|x| x.is_nan()) {
        Some(nan) => quiet_nan(nan),
        None => a.mul_add(b, c),
    }
}
// Emitted code makes all NaNs of single precision one.
extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// Instructions make a signalling NaN quiet, functions need not.
fn quiet_nan(x: f64) -> f64 {
    if x.is_nan() { f64::from_bits(x.to_bits() | 1 << 51) } else { x }
}

extern "C" fn ceil(x: f64) -> f64 {
    quiet_nan(x.ceil())
}
extern "C" fn ceilf(x: f32) -> f32 {
    x.ceil()
}
extern "C" fn floor(x: f64) -> f64 {
    quiet_nan(x.floor())
}
extern "C" fn floorf(x: f32) -> f32 {
    x.floor()
}
extern "C" fn trunc(x: f64) -> f64 {
    quiet_nan(x.trunc())
}
extern "C" fn truncf(x: f32) -> f32 {
    x.trunc()
}
extern "C" fn nearbyint(x: f64) -> f64 {
    quiet_nan(x.round_ties_even())
}
extern "C" fn nearbyintf(x: f32) -> f32 {
    x.round_ties_even()
}

/// The address of the function for what Cranelift calls so: always the same one.
#[inline(never)]
pub(super) fn libcall_address(call: LibCall) -> Option<usize> {
    let function = match call {
        LibCall::FmaF64 => fma as *const (),
        LibCall::FmaF32 => fmaf as *const (),
        LibCall::CeilF64 => ceil as *const (),
        LibCall::CeilF32 => ceilf as *const (),
        LibCall::FloorF64 => floor as *const (),
        LibCall::FloorF32 => floorf as *const (),
        LibCall::TruncF64 => trunc as *const (),
        LibCall::TruncF32 => truncf as *const (),
        LibCall::NearestF64 => nearbyint as *const (),
        LibCall::NearestF32 => nearbyintf as *const (),
        call => return crate::isa::arch_libcall_address(call),
    };
    Some(function as usize)
}
