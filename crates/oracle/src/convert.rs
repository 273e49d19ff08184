//! `cvt`: between integers and floats of all sizes.
//!
//! NaNs are as on hardware: conversions from or to double precision keep the sign and the upper
//! part of the payload, conversions that only widen `.bf16` or copy keep all of it, others give the
//! one NaN of the format.

use crate::exact_rounding::{
    self, BF16, DecodedFloat, E4M3, E5M2, ExactMagnitude, F16, F32, F64, FloatFormat, RoundingMode, TF32, decode_float,
    round_to_format,
};
use crate::float::{apply_sat_or_relu, default_nan, rounding_mode};
use crate::int;
use rtcg_ptx::ast::{FpMods, Rounding, Type};

/// The format of a floating-point type, or of one half of a pair.
pub(crate) fn float_format_of_type(ty: Type) -> Option<FloatFormat> {
    Some(match ty {
        Type::F16 | Type::F16x2 => F16,
        Type::BF16 | Type::BF16x2 => BF16,
        Type::F32 => F32,
        Type::F64 => F64,
        Type::TF32 => TF32,
        Type::E4M3 | Type::E4M3x2 => E4M3,
        Type::E5M2 | Type::E5M2x2 => E5M2,
        _ => return None,
    })
}

/// Scalar `cvt`; the result has the bits of `dty`.
pub(crate) fn scalar_cvt(dty: Type, sty: Type, mods: &FpMods, a: u128) -> u128 {
    let a = int::truncate_bits(sty.bits(), a);
    match (float_format_of_type(dty), float_format_of_type(sty)) {
        (None, None) => int_to_int(dty, sty, mods, a),
        (Some(f), None) => int_to_float(f, sty, mods, a).into(),
        (None, Some(f)) => float_to_int(dty, f, mods, a as u64),
        (Some(to), Some(from)) => float_to_float(to, from, mods, a as u64).into(),
    }
}

fn int_to_int(dty: Type, sty: Type, mods: &FpMods, a: u128) -> u128 {
    let x = int::interpret_bits(sty.bits(), sty.is_signed(), a);
    if mods.sat {
        int::clamp_to_type(dty.bits(), dty.is_signed(), x)
    } else {
        int::truncate_bits(dty.bits(), x as u128)
    }
}

fn int_to_float(f: FloatFormat, sty: Type, mods: &FpMods, a: u128) -> u64 {
    let x = int::interpret_bits(sty.bits(), sty.is_signed(), a);
    apply_sat_or_relu(
        f,
        mods,
        round_to_format(f, rounding_mode(mods.rnd), x < 0, &ExactMagnitude::from_dyadic(x.unsigned_abs(), 0)),
    )
}

fn float_to_int(dty: Type, f: FloatFormat, mods: &FpMods, a: u64) -> u128 {
    let a = if mods.ftz { f.flush_subnormal(a) } else { a };
    let bits = dty.bits();
    let most = i128::from(u64::MAX) * 2;
    let x = match decode_float(f, a) {
        // All of zero, but the top bit for 64-bit results and double-precision operands.
        DecodedFloat::Nan if bits == 64 || f == F64 => return 1 << (bits - 1),
        DecodedFloat::Nan => return 0,
        DecodedFloat::Infinity(negative) => {
            if negative {
                -most
            } else {
                most
            }
        }
        DecodedFloat::Finite { negative, n, exp } => {
            let whole = exact_rounding::round_to_integer(
                rounding_mode(mods.rnd),
                negative,
                &ExactMagnitude::from_dyadic(n.into(), exp),
            );
            let whole = whole.to_u128().map_or(most, |x| x.min(most as u128) as i128);
            if negative { -whole } else { whole }
        }
    };
    int::clamp_to_type(bits, dty.is_signed(), x)
}

fn float_to_float(to: FloatFormat, from: FloatFormat, mods: &FpMods, a: u64) -> u64 {
    // `.ftz` flushes single precision, but not on the way to half precision.
    let a = if mods.ftz && from == F32 && to != F16 { from.flush_subnormal(a) } else { a };
    let integral = matches!(mods.rnd, Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi);
    let r = match decode_float(from, a) {
        DecodedFloat::Nan if mods.sat => 0,
        DecodedFloat::Nan => return align_tf32_bits(to, convert_nan(to, from, mods, a)),
        DecodedFloat::Infinity(negative) => to.infinity() | if negative { to.sign_bit() } else { 0 },
        DecodedFloat::Finite { negative, n, exp } if integral => {
            let whole = exact_rounding::round_to_integer(
                rounding_mode(mods.rnd),
                negative,
                &ExactMagnitude::from_dyadic(n.into(), exp),
            );
            round_to_format(to, RoundingMode::Zero, negative, &ExactMagnitude::Dyadic { n: whole, exp: 0 })
        }
        DecodedFloat::Finite { negative, n, exp } => {
            let x = ExactMagnitude::from_dyadic(n.into(), exp);
            match mods.ftz
                && to == F32
                && exact_rounding::is_tiny_after_rounding(to, rounding_mode(mods.rnd), negative, &x)
            {
                true => {
                    if negative {
                        to.sign_bit()
                    } else {
                        0
                    }
                }
                false => round_to_format(to, rounding_mode(mods.rnd), negative, &x),
            }
        }
    };
    let r = if mods.satfinite && r & !to.sign_bit() == to.infinity() { r - 1 } else { r };
    align_tf32_bits(to, apply_sat_or_relu(to, mods, r))
}

/// `.tf32` numbers stand in the upper part of 32 bits.
fn align_tf32_bits(f: FloatFormat, bits: u64) -> u64 {
    if f == TF32 { bits << 13 } else { bits }
}

fn convert_nan(to: FloatFormat, from: FloatFormat, mods: &FpMods, a: u64) -> u64 {
    let plain = mods.rnd == Rounding::Default && !mods.ftz && !mods.sat;
    let moved = |payload: u64| {
        let sign = if from.is_negative(a) { to.sign_bit() } else { 0 };
        sign | to.infinity() | 1 << (to.frac_bits - 1) | payload
    };
    let payload = a & ((1 << from.frac_bits) - 1);
    match (from, to) {
        _ if from == to && plain && from.total_bits() >= 32 => a,
        (BF16, F32) if !mods.ftz => a << 16,
        (F32, TF32) if mods.rnd == Rounding::Rna => a >> 13,
        (F32, F64) if mods.ftz => 0x7fff_ffff_e000_0000,
        (F64, _) if to == F64 => moved(payload),
        (F64, _) => moved(payload >> (F64.frac_bits - to.frac_bits)),
        (_, F64) => moved(payload << (F64.frac_bits - from.frac_bits)),
        _ => default_nan(to),
    }
}

/// Towards an 8-bit format: to nearest, clamped to the largest finite number.
pub(crate) fn to_fp8(to: FloatFormat, from: FloatFormat, relu: bool, a: u64) -> u64 {
    let sign = if from.is_negative(a) { to.sign_bit() } else { 0 };
    match decode_float(from, a) {
        DecodedFloat::Nan => 0x7f,
        _ if relu && sign != 0 => 0,
        DecodedFloat::Infinity(_) => sign | to.largest_finite(),
        DecodedFloat::Finite { negative, n, exp } => {
            let r = round_to_format(to, RoundingMode::Nearest, negative, &ExactMagnitude::from_dyadic(n.into(), exp));
            sign | to.magnitude_bits(r).min(to.largest_finite())
        }
    }
}

/// An 8-bit float as half precision, which is exact.
pub(crate) fn from_fp8(from: FloatFormat, a: u64) -> u64 {
    let sign = if from.is_negative(a) { F16.sign_bit() } else { 0 };
    match decode_float(from, a) {
        DecodedFloat::Nan => default_nan(F16),
        DecodedFloat::Infinity(_) => sign | F16.infinity(),
        DecodedFloat::Finite { negative, n, exp } => {
            round_to_format(F16, RoundingMode::Nearest, negative, &ExactMagnitude::from_dyadic(n.into(), exp))
        }
    }
}
