//! The approximate single-precision functions as polynomials, closer than CUDA's bounds.
//!
//! Minimax coefficients were fitted by Lawson's iteration in double precision; the errors named are
//! those of the polynomial, rounding adds about one unit in the last place.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::{FpMods, Type, UnaryOp};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type_like, fcmp_const, float_as_bits, float_greater, float_lesser,
    icmp_const, map_parts, select_lanes, select_or_zero, shl_const, sshr_const,
};
use super::{LaneParts, OpCtx, float as fp, half};

/// 1.5 * 2^23: adding it to a small number leaves the nearest integer at the end of the bits.
const ROUND_TO_INT_MAGIC: u64 = 0x4b40_0000;

/// `sin cos lg2 ex2 tanh`; `None` when a helper has to do it.
pub(super) fn lower_approx(
    cx: &mut OpCtx<'_, '_>,
    op: UnaryOp,
    ty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    if !matches!(op, UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Lg2 | UnaryOp::Ex2 | UnaryOp::Tanh) {
        return None;
    }
    match ty {
        Type::F32 => Some(map_parts(cx, a, |cx, x| lower_approx_f32(cx, op, mods, x))),
        Type::F16x2 | Type::BF16x2 => {
            let element = fp::element_of_half_pair(ty)?;
            fp::emit_per_half(cx, std::slice::from_ref(a), |cx, srcs| lower_approx(cx, op, element, mods, &srcs[0]))
        }
        // The subnormals of bfloat16 are subnormal in single precision too.
        Type::F16 | Type::BF16 if !mods.ftz || ty == Type::BF16 => {
            let wide = half::widen_halves(cx, ty, a);
            let r = map_parts(cx, &wide, |cx, x| lower_approx_f32(cx, op, mods, x));
            Some(half::narrow_to_half(cx, ty, &r))
        }
        _ => None,
    }
}

fn lower_approx_f32(cx: &mut OpCtx<'_, '_>, op: UnaryOp, mods: &FpMods, x: Value) -> Value {
    if op == UnaryOp::Ex2 && mods.ftz && !mods.sat {
        return exp2_ftz(cx, x);
    }
    let x = if mods.ftz { fp::flush_subnormals(cx, x) } else { x };
    let x = bits_as_float(cx, x);
    let r = match op {
        UnaryOp::Sin => emit_sine(cx, x, false),
        UnaryOp::Cos => emit_sine(cx, x, true),
        UnaryOp::Lg2 => emit_log2(cx, x),
        UnaryOp::Ex2 => emit_exp2(cx, x),
        _ => emit_tanh(cx, x),
    };
    let r = float_as_bits(cx, r);
    fp::apply_result_modifiers(cx, mods, r)
}

/// `c0 + x * (c1 + x * ...)`
fn polynomial(cx: &mut OpCtx<'_, '_>, x: Value, coefficients: &[u64]) -> Value {
    let (&last, rest) = coefficients.split_last().unwrap_or((&0, &[]));
    let mut r = const_of_type_like(cx, x, last);
    for &c in rest.iter().rev() {
        let c = const_of_type_like(cx, x, c);
        r = cx.b.ins().fma(r, x, c);
    }
    r
}

/// Clamps to `[-limit, limit]`, keeping NaN.
fn clamp_magnitude(cx: &mut OpCtx<'_, '_>, x: Value, limit: u64) -> Value {
    let (low, high) = (const_of_type_like(cx, x, limit | 0x8000_0000), const_of_type_like(cx, x, limit));
    let x = float_greater(cx, low, x);
    float_lesser(cx, high, x)
}

/// `(2^f - 1) / f` for |f| <= 1/2, relative error of the power 2^-28.9.
const EXP2_COEFFICIENTS: [u64; 6] = [0x3f31_7218, 0x3e75_fdf0, 0x3d63_5768, 0x3c1d_94d7, 0x3aaf_a3e4, 0x3922_46cc];

fn emit_exp2(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let x = clamp_magnitude(cx, x, 0x4320_0000);
    let magic = const_of_type_like(cx, x, ROUND_TO_INT_MAGIC);
    let t = cx.b.ins().fadd(x, magic);
    let n = cx.b.ins().fsub(t, magic);
    let f = cx.b.ins().fsub(x, n);
    let q = polynomial(cx, f, &EXP2_COEFFICIENTS);
    let one = const_of_type_like(cx, x, 0x3f80_0000);
    let p = cx.b.ins().fma(f, q, one);
    // Two factors, since 2^n itself need not be a normal number; only the second product rounds.
    let (t, magic) = (float_as_bits(cx, t), float_as_bits(cx, magic));
    let n = cx.b.ins().isub(t, magic);
    let half = sshr_const(cx, n, 1);
    let rest = cx.b.ins().isub(n, half);
    let (s, t) = (power_of_two(cx, half), power_of_two(cx, rest));
    let r = cx.b.ins().fmul(p, s);
    cx.b.ins().fmul(r, t)
}

/// [`emit_exp2`] with `.ftz`, the one that `expf` uses: results below 2^-126 are zero, so that 2^n can be
/// added to the exponent field. Subnormal operands give 1, flushed or not.
fn exp2_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let x = bits_as_float(cx, x);
    let high = const_of_type_like(cx, x, 0x4300_0000);
    let y = float_lesser(cx, high, x);
    let magic = const_of_type_like(cx, x, ROUND_TO_INT_MAGIC);
    let t = cx.b.ins().fadd(y, magic);
    let n = cx.b.ins().fsub(t, magic);
    let f = cx.b.ins().fsub(y, n);
    let q = polynomial(cx, f, &EXP2_COEFFICIENTS);
    let one = const_of_type_like(cx, x, 0x3f80_0000);
    let p = cx.b.ins().fma(f, q, one);
    let (p, t) = (float_as_bits(cx, p), float_as_bits(cx, t));
    let field = shl_const(cx, t, 23);
    let r = cx.b.ins().iadd(p, field);
    let normal = fcmp_const(cx, FloatCC::GreaterThanOrEqual, x, 0xc2fc_0000);
    let r = select_or_zero(cx, normal, r);
    let nan = cx.b.ins().fcmp(FloatCC::Unordered, x, x);
    let canonical = const_of_type_like(cx, r, 0x7fff_ffff);
    select_lanes(cx, nan, canonical, r)
}

/// `2^n` of a small integer.
fn power_of_two(cx: &mut OpCtx<'_, '_>, n: Value) -> Value {
    let bias = const_of_type_like(cx, n, 127);
    let field = cx.b.ins().iadd(n, bias);
    let field = shl_const(cx, field, 23);
    bits_as_float(cx, field)
}

/// `(log2(1 + f) - f / ln 2) / f^2` for f from sqrt(1/2) - 1 to sqrt(2) - 1, absolute error of the
/// logarithm 2^-26.6.
const LOG2_COEFFICIENTS: [u64; 8] =
    [0xbf38_aa37, 0x3ef6_39ff, 0xbeb8_aef1, 0x3e93_63ab, 0xbe74_87ef, 0x3e5d_4acc, 0xbe55_5a2a, 0x3e01_05bf];
const SQRT_HALF: u64 = 0x3f35_04f3;
const LOG2_E: u64 = 0x3fb8_aa3b;

fn emit_log2(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    // Subnormals are scaled up by 2^24.
    let small = fcmp_const(cx, FloatCC::LessThan, x, 0x0080_0000);
    let scale = const_of_type_like(cx, x, 0x4b80_0000);
    let scaled = cx.b.ins().fmul(x, scale);
    let y = select_lanes(cx, small, scaled, x);
    let y = float_as_bits(cx, y);
    let root = const_of_type_like(cx, y, SQRT_HALF);
    let above = cx.b.ins().isub(y, root);
    let exponent = sshr_const(cx, above, 23);
    let field = shl_const(cx, exponent, 23);
    let m = cx.b.ins().isub(y, field);
    let m = bits_as_float(cx, m);
    let one = const_of_type_like(cx, x, 0x3f80_0000);
    let f = cx.b.ins().fsub(m, one);
    let q = polynomial(cx, f, &LOG2_COEFFICIENTS);
    let square = cx.b.ins().fmul(f, f);
    let tail = cx.b.ins().fmul(square, q);
    let slope = const_of_type_like(cx, x, LOG2_E);
    let log = cx.b.ins().fma(f, slope, tail);
    let shift = const_of_type_like(cx, y, 24);
    let lower = cx.b.ins().isub(exponent, shift);
    let exponent = select_lanes(cx, small, lower, exponent);
    let ty = clif_type_of(cx, x);
    let exponent = cx.b.ins().fcvt_from_sint(ty, exponent);
    let r = cx.b.ins().fadd(exponent, log);
    log2_of_special_values(cx, x, r)
}

/// The logarithms of zero, infinity, negative numbers and NaN.
fn log2_of_special_values(cx: &mut OpCtx<'_, '_>, x: Value, r: Value) -> Value {
    let infinity = const_of_type_like(cx, x, 0x7f80_0000);
    let infinite = cx.b.ins().fcmp(FloatCC::Equal, x, infinity);
    let r = select_lanes(cx, infinite, infinity, r);
    let zero = fcmp_const(cx, FloatCC::Equal, x, 0);
    let minus_infinity = const_of_type_like(cx, x, 0xff80_0000);
    let r = select_lanes(cx, zero, minus_infinity, r);
    let invalid = fcmp_const(cx, FloatCC::UnorderedOrLessThan, x, 0);
    let nan = const_of_type_like(cx, x, 0x7fff_ffff);
    select_lanes(cx, invalid, nan, r)
}

/// `(sin(r) / r - 1) / r^2` as a polynomial in r^2 for |r| <= pi/2, absolute error of the sine 2^-27.6.
const SINE_COEFFICIENTS: [u64; 4] = [0xbe2a_aaa4, 0x3c08_8734, 0xb94f_afcb, 0x362e_79fd];
/// Pi in three parts of one sign (so that the reduction keeps -0), and its inverse.
const PI_PARTS: [u64; 3] = [0x4049_0fda, 0x3422_2168, 0x2842_34c4];
const INVERSE_PI: u64 = 0x3ea2_f983;

/// Sine or cosine. Good to about 2^22 half turns; beyond, as on a GPU, only in [-1, 1].
fn emit_sine(cx: &mut OpCtx<'_, '_>, x: Value, cosine: bool) -> Value {
    let inverse = const_of_type_like(cx, x, INVERSE_PI);
    let offset = const_of_type_like(cx, x, if cosine { 0xbf00_0000 } else { 0 });
    let turns = if cosine { cx.b.ins().fma(x, inverse, offset) } else { cx.b.ins().fmul(x, inverse) };
    let magic = const_of_type_like(cx, x, ROUND_TO_INT_MAGIC);
    let t = cx.b.ins().fadd(turns, magic);
    let n = cx.b.ins().fsub(t, magic);
    let n = if cosine { cx.b.ins().fsub(n, offset) } else { n };
    let minus_n = cx.b.ins().fneg(n);
    let mut r = x;
    for part in PI_PARTS {
        let part = const_of_type_like(cx, x, part);
        r = cx.b.ins().fma(minus_n, part, r);
    }
    let r = clamp_magnitude(cx, r, 0x3fc9_0fdb);
    let square = cx.b.ins().fmul(r, r);
    let p = polynomial(cx, square, &SINE_COEFFICIENTS);
    let cube = cx.b.ins().fmul(r, square);
    let s = cx.b.ins().fma(cube, p, r);
    // Odd half turns change the sign; for the cosine the even ones do.
    let t = float_as_bits(cx, t);
    let sign = shl_const(cx, t, 31);
    let s = float_as_bits(cx, s);
    // The sum above makes +0 of -0; the sine has the sign of its reduced argument.
    let r = float_as_bits(cx, r);
    let negative = and_const(cx, r, 0x8000_0000);
    let s = cx.b.ins().bor(s, negative);
    let s = cx.b.ins().bxor(s, sign);
    let s = if cosine {
        let flip = const_of_type_like(cx, s, 0x8000_0000);
        cx.b.ins().bxor(s, flip)
    } else {
        s
    };
    bits_as_float(cx, s)
}

/// `(tanh(x) / x - 1) / x^2` as a polynomial in x^2 for |x| <= 0.6, relative error 2^-23.5.
const TANH_COEFFICIENTS: [u64; 4] = [0xbeaa_a9bc, 0x3e08_5498, 0xbd55_f045, 0x3c80_206d];

fn emit_tanh(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let x_bits = float_as_bits(cx, x);
    let magnitude = and_const(cx, x_bits, 0x7fff_ffff);
    let sign = and_const(cx, x_bits, 0x8000_0000);
    let small = icmp_const(cx, IntCC::SignedLessThan, magnitude, 0x3f19_999a);
    let square = cx.b.ins().fmul(x, x);
    let p = polynomial(cx, square, &TANH_COEFFICIENTS);
    let cube = cx.b.ins().fmul(x, square);
    let near = cx.b.ins().fma(cube, p, x);
    // tanh(x) = 1 - 2 / (e^2x + 1)
    let magnitude = bits_as_float(cx, magnitude);
    let factor = const_of_type_like(cx, x, 0x4038_aa3b);
    let exponent = cx.b.ins().fmul(magnitude, factor);
    let e = emit_exp2(cx, exponent);
    let (one, two) = (const_of_type_like(cx, x, 0x3f80_0000), const_of_type_like(cx, x, 0x4000_0000));
    let sum = cx.b.ins().fadd(e, one);
    let quotient = cx.b.ins().fdiv(two, sum);
    let far = cx.b.ins().fsub(one, quotient);
    let (near, far) = (float_as_bits(cx, near), float_as_bits(cx, far));
    let r = select_lanes(cx, small, near, far);
    let r = cx.b.ins().bor(r, sign);
    bits_as_float(cx, r)
}
