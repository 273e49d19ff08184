//! x86-64.

use cranelift_codegen::ir::{InstBuilder, LibCall, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use rtcg_vgpu_abi::WarpCtx;
use std::arch::x86_64::__m128i;

/// Loads stay in order, and so do stores; only a store and a later load change places.
pub(crate) const KEEPS_ACCESSES_IN_ORDER: bool = true;

/// Of two NaNs, double-precision arithmetic gives the first, made quiet, and the NaN of an invalid
/// operation is negative with no payload.
pub(crate) const F64_NAN_FROM_FIRST_OPERAND: bool = true;

/// Vectors can be compared with "less or unordered" and the like.
pub(crate) const HAS_UNORDERED_VECTOR_COMPARES: bool = true;

/// The convention by which compiled code calls `barrier_all`: RBP is kept, all other registers are not. Most of them
/// hold nothing at a barrier.
pub(crate) fn barrier_calling_convention(_: CallConv) -> CallConv {
    CallConv::Winch
}

/// `pshufb` for processors without SSSE3.
#[expect(improper_ctypes_definitions, reason = "a vector is passed in a register, as in C and as Cranelift expects")]
extern "C" fn shuffle_bytes(source: __m128i, mask: __m128i) -> __m128i {
    // SAFETY: both types are 16 bytes without invalid values.
    let [source, mask] = [source, mask].map(|v| unsafe { std::mem::transmute::<__m128i, [u8; 16]>(v) });
    let bytes = mask.map(|m| if m & 0x80 != 0 { 0 } else { source[usize::from(m & 15)] });
    // SAFETY: 16 bytes again, all of which are values.
    unsafe { std::mem::transmute::<[u8; 16], __m128i>(bytes) }
}

/// Powers of two from 2^0 to 2^31 as unsigned integers; the last comes from the conversion's overflow.
pub(crate) fn float_power_of_two_to_u32(b: &mut FunctionBuilder<'_>, power: Value) -> Value {
    b.ins().x86_cvtt2dq(types::I32X4, power)
}

/// The function for something that compiled code for x86-64 alone calls.
pub(crate) fn arch_libcall_address(call: LibCall) -> Option<usize> {
    (call == LibCall::X86Pshufb).then_some(shuffle_bytes as *const () as usize)
}

/// Leads from an out-of-line stub of compiled code to the function that serves it, and keeps all registers.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn save_registers_and_call(_: *mut WarpCtx, _: *mut u8, _: u32) {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "sub rsp, 264",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "movaps [rsp + 16 * \\i], xmm\\i",
        ".endr",
        "call {serve}",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "movaps xmm\\i, [rsp + 16 * \\i]",
        ".endr",
        "add rsp, 264",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop rbp",
        "ret",
        serve = sym crate::run_slow_path,
    )
}
