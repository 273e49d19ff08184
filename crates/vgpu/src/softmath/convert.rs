//! `cvt`: between any two numeric types.

use rtcg_ptx::ast::Type;

use super::arith::{input, output, wide_min_normal};
use super::float::{self, Format, Unpacked, pack, round, unpack};
use super::{Mode, Round, int};

/// Set in [`Mode::extra`] when a float is to be rounded to an integral float.
pub const INTEGRAL: u32 = 1;
/// Set in [`Mode::extra`] when overflow gives the largest finite number (`.satfinite`).
pub const SATFINITE: u32 = 2;

/// The format of a floating type that has one value in a register.
pub fn format(ty: Type) -> Option<Format> {
    match ty {
        Type::F16 | Type::F16x2 => Some(Format::F16),
        Type::BF16 | Type::BF16x2 => Some(Format::BF16),
        Type::F32 => Some(Format::F32),
        Type::F64 => Some(Format::F64),
        Type::TF32 => Some(Format::TF32),
        _ => None,
    }
}

/// Float to integer: rounds, clamps to the type; PTX gives NaN as zero, but as the top bit for
/// 64-bit results and double sources.
pub fn float_to_int(f: Format, m: Mode, bits: u32, signed: bool, a: u64) -> u64 {
    match float::to_integer(m.rnd, unpack(f, input(f, m, a))) {
        None if f == Format::F64 || bits == 64 => 1 << (bits - 1),
        None => 0,
        Some((negative, magnitude)) => {
            let magnitude = magnitude.min(1 << 65) as i128;
            int::clamp(bits, signed, if negative { -magnitude } else { magnitude })
        }
    }
}

/// Integer to float.
pub fn int_to_float(f: Format, m: Mode, bits: u32, signed: bool, a: u64) -> u64 {
    let x = int::read(bits, signed, a);
    output(f, m, round(f, m.rnd, x < 0, 0, x.unsigned_abs(), false))
}

/// Integer to integer, clamping when `.sat` is given.
pub fn int_to_int(m: Mode, to: (u32, bool), from: (u32, bool), a: u64) -> u64 {
    let x = int::read(from.0, from.1, a);
    if m.sat { int::clamp(to.0, to.1, x) } else { int::truncate_bits(to.0, x as u64) }
}

/// Float to float.
pub fn float_to_float(to: Format, from: Format, m: Mode, a: u64) -> u64 {
    // Conversions to half precision do not flush, whatever is written.
    let flushes = from == Format::F32 && to != Format::F16;
    let a = if flushes { input(from, m, a) } else { a };
    if from.is_nan(a) {
        let nan = converted_nan(to, from, m, a);
        return if m.sat { 0 } else { nan };
    }
    if from == to && m.extra & INTEGRAL != 0 {
        return output(to, flush_only(to, m), integral(from, m.rnd, a));
    }
    let r = pack(to, m.rnd, unpack(from, a));
    let r = if from == Format::F64 && is_tiny(to, m, a) { r & to.sign_bit() } else { r };
    let r = output(to, flush_only(to, m), r);
    let infinite = r & !to.sign_bit() == to.infinity();
    let r = if m.extra & SATFINITE != 0 && infinite { r - 1 } else { r };
    if to == Format::TF32 { r << 13 } else { r }
}

/// Whether `.ftz` flushes a double that is rounded to `to`: it looks at the result rounded with an
/// unlimited range of exponents.
fn is_tiny(to: Format, m: Mode, a: u64) -> bool {
    let wide = Format { exp_bits: 11, frac_bits: to.frac_bits };
    m.ftz && to == Format::F32 && pack(wide, m.rnd, unpack(Format::F64, a)) & !wide.sign_bit() < wide_min_normal(to)
}

/// What a NaN becomes, as seen on hardware: conversions from or to double precision keep its sign
/// and the upper bits of its payload, others mostly give the one NaN of the format.
fn converted_nan(to: Format, from: Format, m: Mode, a: u64) -> u64 {
    match (from, to) {
        (Format::F32, Format::F32) | (Format::F64, Format::F64) if m == Mode::default() => a,
        (Format::BF16, Format::F32) if !m.ftz => a << 16,
        (Format::F32, Format::TF32) if m.rnd == Round::Away => a & 0xffff_e000,
        (Format::F32, Format::TF32) => 0x7fff_e000,
        (Format::F32, Format::F64) if m.ftz => 0x7fff_ffff_e000_0000,
        (Format::F64, _) | (_, Format::F64) => rescaled_nan(to, from, a),
        _ => to.canonical_nan(),
    }
}

/// A NaN with its payload aligned at the top, made quiet.
fn rescaled_nan(to: Format, from: Format, a: u64) -> u64 {
    let payload = a & ((1 << from.frac_bits) - 1);
    let payload = if to.frac_bits >= from.frac_bits {
        payload << (to.frac_bits - from.frac_bits)
    } else {
        payload >> (from.frac_bits - to.frac_bits)
    };
    let sign = if a & from.sign_bit() != 0 { to.sign_bit() } else { 0 };
    to.quiet(sign | to.infinity() | payload)
}

/// `.ftz` of a conversion concerns single precision only.
fn flush_only(f: Format, m: Mode) -> Mode {
    Mode { ftz: m.ftz && f == Format::F32, ..m }
}

/// The nearest integral float in direction `rnd`, keeping the sign of zero.
fn integral(f: Format, rnd: Round, a: u64) -> u64 {
    let x = unpack(f, a);
    let Unpacked::Finite { exp, .. } = x else { return pack(f, rnd, x) };
    if exp >= 0 {
        return a;
    }
    match float::to_integer(rnd, x) {
        Some((sign, magnitude)) => round(f, rnd, sign, 0, magnitude, false),
        None => f.canonical_nan(),
    }
}

/// The value of an `.e4m3` magnitude below its NaN, in units of 2^-9.
fn e4m3_units(code: u32) -> u64 {
    let (exp, frac) = (code >> 3, u64::from(code & 7));
    if exp == 0 { frac } else { (8 + frac) << (exp - 1) }
}

/// Float to `.e4m3`, to nearest even, clamped to the largest finite number.
pub fn to_e4m3(f: Format, m: Mode, a: u64) -> u32 {
    let x = unpack(f, a);
    let sign = u32::from(float::is_negative(x)) << 7;
    let relu = m.relu && sign != 0;
    match x {
        Unpacked::Nan => 0x7f,
        _ if relu => 0,
        Unpacked::Zero(_) => sign,
        Unpacked::Inf(_) => sign | 0x7e,
        Unpacked::Finite { exp, sig, .. } => {
            let code = round(E5M3, Round::Nearest, false, exp - 8, sig.into(), false) as u32;
            sign | code.min(0x7e)
        }
    }
}

/// `.e4m3` numbers times 2^-8, in a format with room above them: their codes are the same.
const E5M3: Format = Format { exp_bits: 5, frac_bits: 3 };

/// Float to `.e5m2`, to nearest even, clamped to the largest finite number.
pub fn to_e5m2(f: Format, m: Mode, a: u64) -> u32 {
    let x = unpack(f, a);
    let bits = pack(Format::E5M2, Round::Nearest, x) as u32;
    match x {
        Unpacked::Nan => 0x7f,
        _ if m.relu && bits & 0x80 != 0 => 0,
        _ if bits & 0x7f >= 0x7c => bits & 0x80 | 0x7b,
        _ => bits,
    }
}

/// `.e4m3` to half precision (exact).
pub fn e4m3_to_f16(code: u32) -> u32 {
    let sign = (code & 0x80) << 8;
    if code & 0x7f == 0x7f {
        return 0x7fff;
    }
    let units = e4m3_units(code & 0x7f);
    sign | round(Format::F16, Round::Nearest, false, -9, u128::from(units), false) as u32
}

/// `.e5m2` to half precision: its upper byte (exact).
pub fn e5m2_to_f16(code: u32) -> u32 {
    if code & 0x7f > 0x7c { 0x7fff } else { code << 8 }
}

/// `cvt.pack.sat`: clamps both to `bits` bits, the second one lowest, and what fits of `c` above them.
pub fn pack_integers(bits: u32, signed: bool, a: u32, b: u32, c: u32) -> u32 {
    let clamped = |x: u32| int::clamp(bits, signed, i128::from(x as i32)) as u32 & (u32::MAX >> (32 - bits));
    let above = if bits == 16 { 0 } else { c << (2 * bits) };
    clamped(b) | clamped(a) << bits | above
}
