//! 64-bit Arm.

use cranelift_codegen::ir::{InstBuilder, LibCall, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use rtcg_vgpu_abi::WarpCtx;

/// Loads and stores change places for other processors unless a barrier keeps them.
pub(crate) const KEEPS_ACCESSES_IN_ORDER: bool = false;

/// A signalling NaN goes before a quiet one, and the NaN of an invalid operation is positive: code
/// for double precision has to choose the NaN itself.
pub(crate) const F64_NAN_FROM_FIRST_OPERAND: bool = false;

/// Vectors cannot be compared with "less or unordered" and the like.
pub(crate) const HAS_UNORDERED_VECTOR_COMPARES: bool = false;

/// The convention by which compiled code calls `barrier_all`: its own.
pub(crate) fn barrier_calling_convention(own: CallConv) -> CallConv {
    own
}

/// Powers of two from 2^0 to 2^31 as unsigned integers.
pub(crate) fn float_power_of_two_to_u32(b: &mut FunctionBuilder<'_>, power: Value) -> Value {
    b.ins().fcvt_to_uint_sat(types::I32X4, power)
}

/// The function for something that compiled code for this processor alone calls: none.
pub(crate) fn arch_libcall_address(_: LibCall) -> Option<usize> {
    None
}

/// Leads from an out-of-line stub of compiled code to the function that serves it, and keeps all registers
/// (X18 belongs to the system).
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn save_registers_and_call(_: *mut WarpCtx, _: *mut u8, _: u32) {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "stp x8, x9, [sp, #80]",
        "stp x10, x11, [sp, #96]",
        "stp x12, x13, [sp, #112]",
        "stp x14, x15, [sp, #128]",
        "stp x16, x17, [sp, #144]",
        "sub sp, sp, #512",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        "str q\\i, [sp, #16 * \\i]",
        ".endr",
        "bl {serve}",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        "ldr q\\i, [sp, #16 * \\i]",
        ".endr",
        "add sp, sp, #512",
        "ldp x16, x17, [sp, #144]",
        "ldp x14, x15, [sp, #128]",
        "ldp x12, x13, [sp, #112]",
        "ldp x10, x11, [sp, #96]",
        "ldp x8, x9, [sp, #80]",
        "ldp x6, x7, [sp, #64]",
        "ldp x4, x5, [sp, #48]",
        "ldp x2, x3, [sp, #32]",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #160",
        "ret",
        serve = sym crate::run_slow_path,
    )
}
