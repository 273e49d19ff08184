//! `cvt`: between any two numeric types.

use rtcg_ptx::ast::Type;

use super::arith::{apply_result_modifiers, flush_operand, min_normal_with_wide_exponent};
use super::float::{self, FloatFormat, UnpackedFloat, pack_rounded, round_and_pack, unpack_float};
use super::{FloatMode, RoundMode, int};

/// Set in [`FloatMode::extra`] when a float is to be rounded to an integral float.
pub const ROUND_TO_INTEGRAL_FLAG: u32 = 1;
/// Set in [`FloatMode::extra`] when overflow gives the largest finite number (`.satfinite`).
pub const SATFINITE_FLAG: u32 = 2;

/// The format of a floating type that has one value in a register.
#[inline]
pub fn float_format(ty: Type) -> Option<FloatFormat> {
    match ty {
        Type::F16 | Type::F16x2 => Some(FloatFormat::F16),
        Type::BF16 | Type::BF16x2 => Some(FloatFormat::BF16),
        Type::F32 => Some(FloatFormat::F32),
        Type::F64 => Some(FloatFormat::F64),
        Type::TF32 => Some(FloatFormat::TF32),
        _ => None,
    }
}

/// Float to integer: rounds, clamps to the type; PTX gives NaN as zero, but as the top bit for
/// 64-bit results and double sources.
#[inline]
pub fn float_to_int(f: FloatFormat, m: FloatMode, bits: u32, signed: bool, a: u64) -> u64 {
    match float::to_integer(m.rnd, unpack_float(f, flush_operand(f, m, a))) {
        None if f == FloatFormat::F64 || bits == 64 => 1 << (bits - 1),
        None => 0,
        Some((negative, magnitude)) => {
            let magnitude = magnitude.min(1 << 65) as i128;
            int::clamp_to_width(bits, signed, if negative { -magnitude } else { magnitude })
        }
    }
}

/// Integer to float.
#[inline]
pub fn int_to_float(f: FloatFormat, m: FloatMode, bits: u32, signed: bool, a: u64) -> u64 {
    let x = int::extend_bits(bits, signed, a);
    apply_result_modifiers(f, m, round_and_pack(f, m.rnd, x < 0, 0, x.unsigned_abs(), false))
}

/// Integer to integer, clamping when `.sat` is given.
#[inline]
pub fn int_to_int(m: FloatMode, to: (u32, bool), from: (u32, bool), a: u64) -> u64 {
    let x = int::extend_bits(from.0, from.1, a);
    if m.sat { int::clamp_to_width(to.0, to.1, x) } else { int::truncate_bits(to.0, x as u64) }
}

/// Float to float.
#[inline]
pub fn float_to_float(to: FloatFormat, from: FloatFormat, m: FloatMode, a: u64) -> u64 {
    // Conversions to half precision do not flush, whatever is written.
    let flushes = from == FloatFormat::F32 && to != FloatFormat::F16;
    let a = if flushes { flush_operand(from, m, a) } else { a };
    if from.is_nan(a) {
        let nan = converted_nan(to, from, m, a);
        return if m.sat { 0 } else { nan };
    }
    if from == to && m.extra & ROUND_TO_INTEGRAL_FLAG != 0 {
        return apply_result_modifiers(to, ftz_for_f32_only(to, m), round_to_integral(from, m.rnd, a));
    }
    let r = pack_rounded(to, m.rnd, unpack_float(from, a));
    let r = if from == FloatFormat::F64 && is_tiny(to, m, a) { r & to.sign_bit() } else { r };
    let r = apply_result_modifiers(to, ftz_for_f32_only(to, m), r);
    let infinite = r & !to.sign_bit() == to.infinity();
    let r = if m.extra & SATFINITE_FLAG != 0 && infinite { r - 1 } else { r };
    if to == FloatFormat::TF32 { r << 13 } else { r }
}

/// Whether `.ftz` flushes a double that is rounded to `to`: it looks at the result rounded with an
/// unlimited range of exponents.
fn is_tiny(to: FloatFormat, m: FloatMode, a: u64) -> bool {
    let wide = FloatFormat { exp_bits: 11, frac_bits: to.frac_bits };
    m.ftz
        && to == FloatFormat::F32
        && pack_rounded(wide, m.rnd, unpack_float(FloatFormat::F64, a)) & !wide.sign_bit()
            < min_normal_with_wide_exponent(to)
}

/// What a NaN becomes, as seen on hardware: conversions from or to double precision keep its sign
/// and the upper bits of its payload, others mostly give the one NaN of the format.
fn converted_nan(to: FloatFormat, from: FloatFormat, m: FloatMode, a: u64) -> u64 {
    match (from, to) {
        (FloatFormat::F32, FloatFormat::F32) | (FloatFormat::F64, FloatFormat::F64) if m == FloatMode::default() => a,
        (FloatFormat::BF16, FloatFormat::F32) if !m.ftz => a << 16,
        (FloatFormat::F32, FloatFormat::TF32) if m.rnd == RoundMode::Away => a & 0xffff_e000,
        (FloatFormat::F32, FloatFormat::TF32) => 0x7fff_e000,
        (FloatFormat::F32, FloatFormat::F64) if m.ftz => 0x7fff_ffff_e000_0000,
        (FloatFormat::F64, _) | (_, FloatFormat::F64) => rescaled_nan(to, from, a),
        _ => to.canonical_nan(),
    }
}

/// A NaN with its payload aligned at the top, made quiet.
fn rescaled_nan(to: FloatFormat, from: FloatFormat, a: u64) -> u64 {
    let payload = a & ((1 << from.frac_bits) - 1);
    let payload = if to.frac_bits >= from.frac_bits {
        payload << (to.frac_bits - from.frac_bits)
    } else {
        payload >> (from.frac_bits - to.frac_bits)
    };
    let sign = if a & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    to.quiet_nan(sign | to.infinity() | payload)
}

/// `.ftz` of a conversion concerns single precision only.
fn ftz_for_f32_only(f: FloatFormat, m: FloatMode) -> FloatMode {
    FloatMode { ftz: m.ftz && f == FloatFormat::F32, ..m }
}

/// The nearest integral float in direction `rnd`, keeping the sign of zero.
fn round_to_integral(f: FloatFormat, rnd: RoundMode, a: u64) -> u64 {
    let x = unpack_float(f, a);
    let UnpackedFloat::Finite { exp, .. } = x else { return pack_rounded(f, rnd, x) };
    if exp >= 0 {
        return a;
    }
    match float::to_integer(rnd, x) {
        Some((sign, magnitude)) => round_and_pack(f, rnd, sign, 0, magnitude, false),
        None => f.canonical_nan(),
    }
}

/// The value of an `.e4m3` magnitude below its NaN, in units of 2^-9.
fn e4m3_fixed_point(code: u32) -> u64 {
    let (exp, frac) = (code >> 3, u64::from(code & 7));
    if exp == 0 { frac } else { (8 + frac) << (exp - 1) }
}

/// Float to `.e4m3`, to nearest even, clamped to the largest finite number.
#[inline]
pub fn to_e4m3(f: FloatFormat, m: FloatMode, a: u64) -> u32 {
    let x = unpack_float(f, a);
    let sign = u32::from(float::is_negative(x)) << 7;
    let relu = m.relu && sign != 0;
    match x {
        UnpackedFloat::Nan => 0x7f,
        _ if relu => 0,
        UnpackedFloat::Zero(_) => sign,
        UnpackedFloat::Inf(_) => sign | 0x7e,
        UnpackedFloat::Finite { exp, sig, .. } => {
            let code = round_and_pack(E4M3_SCALED_FORMAT, RoundMode::Nearest, false, exp - 8, sig.into(), false) as u32;
            sign | code.min(0x7e)
        }
    }
}

/// `.e4m3` numbers times 2^-8, in a format with room above them: their codes are the same.
const E4M3_SCALED_FORMAT: FloatFormat = FloatFormat { exp_bits: 5, frac_bits: 3 };

/// Float to `.e5m2`, to nearest even, clamped to the largest finite number.
#[inline]
pub fn to_e5m2(f: FloatFormat, m: FloatMode, a: u64) -> u32 {
    let x = unpack_float(f, a);
    let bits = pack_rounded(FloatFormat::E5M2, RoundMode::Nearest, x) as u32;
    match x {
        UnpackedFloat::Nan => 0x7f,
        _ if m.relu && bits & 0x80 != 0 => 0,
        _ if bits & 0x7f >= 0x7c => bits & 0x80 | 0x7b,
        _ => bits,
    }
}

/// `.e4m3` to half precision (exact).
#[inline]
pub fn e4m3_to_f16(code: u32) -> u32 {
    let sign = (code & 0x80) << 8;
    if code & 0x7f == 0x7f {
        return 0x7fff;
    }
    let units = e4m3_fixed_point(code & 0x7f);
    sign | round_and_pack(FloatFormat::F16, RoundMode::Nearest, false, -9, u128::from(units), false) as u32
}

/// `.e5m2` to half precision: its upper byte (exact).
#[inline]
pub fn e5m2_to_f16(code: u32) -> u32 {
    if code & 0x7f > 0x7c { 0x7fff } else { code << 8 }
}

/// `cvt.pack.sat`: clamps both to `bits` bits, the second one lowest, and what fits of `c` above them.
#[inline]
pub fn pack_integers(bits: u32, signed: bool, a: u32, b: u32, c: u32) -> u32 {
    let clamped = |x: u32| int::clamp_to_width(bits, signed, i128::from(x as i32)) as u32 & (u32::MAX >> (32 - bits));
    let above = if bits == 16 { 0 } else { c << (2 * bits) };
    clamped(b) | clamped(a) << bits | above
}
