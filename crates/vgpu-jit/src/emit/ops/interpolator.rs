//! The approximate functions with a GPU's bits: the interpolator of `rtcg_vgpu_softmath` as vector code.
//!
//! Each function finds the piece and the position of 17 bits in it, evaluates the polynomial in doubles, where all
//! terms and their sum are exact, and truncates that. What the helpers of `soft_helpers` give is the definition.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use rtcg_ptx::ast::{FpMods, Type, UnaryOp};

use super::clif_helpers::{
    and_const, bits_as_float, clif_type_of, const_of_type, const_of_type_like, fcmp_const, float_as_bits, float_lesser,
    icmp_const, map_parts, select_lanes, select_or_zero, shl_const, sshr_const, ushr_const,
};
use super::lane_parts::shuffle_words;
use super::rounding::{join_demoted_halves, promote_to_double};
use super::{EmitShape, LaneParts, OpCtx, float as fp, half};
use crate::emit::interpolator_tables::Table;
use crate::emit::relocations::{self, RelocTarget};

/// 1.5 * 2^52: adding it to a double that is a small integer leaves the integer at the end of the bits.
const INTEGER_AT_END: u64 = 0x4338_0000_0000_0000;
const UPPER_WORD: u64 = 0xffff_ffff_0000_0000;

/// `sin cos lg2 ex2 tanh rcp rsqrt sqrt` with `.approx`; `None` when a helper has to do it.
pub(super) fn lower_interpolated(
    cx: &mut OpCtx<'_, '_>,
    op: UnaryOp,
    ty: Type,
    mods: &FpMods,
    a: &LaneParts,
) -> Option<LaneParts> {
    use UnaryOp::{Cos, Ex2, Lg2, Rcp, Rsqrt, Sin, Sqrt, Tanh};
    let known = match op {
        Sin | Cos | Lg2 | Ex2 | Tanh | Rsqrt => true,
        Rcp | Sqrt => mods.approx,
        _ => false,
    };
    match ty {
        _ if !known => None,
        Type::F32 => Some(map_parts(cx, a, |cx, x| {
            let r = lower_approx_f32(cx, op, mods.ftz, x);
            fp::apply_result_modifiers(cx, &FpMods { ftz: false, ..*mods }, r)
        })),
        Type::F16x2 | Type::BF16x2 => {
            let element = fp::element_of_half_pair(ty)?;
            fp::emit_per_half(cx, std::slice::from_ref(a), |cx, srcs| {
                lower_interpolated(cx, op, element, mods, &srcs[0])
            })
        }
        // The subnormals of bfloat16 are subnormal in single precision too.
        Type::F16 | Type::BF16 if !mods.ftz || ty == Type::BF16 => {
            let wide = half::widen_halves(cx, ty, a);
            let r = map_parts(cx, &wide, |cx, x| lower_approx_f32(cx, op, mods.ftz, x));
            Some(half::truncate_to_half(cx, ty, &r))
        }
        _ => None,
    }
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`, of upper words, and `rsqrt.approx.f64`.
pub(super) fn lower_approx_f64(cx: &mut OpCtx<'_, '_>, op: UnaryOp, ftz: bool, x: Value) -> Value {
    let upper = and_const(cx, x, UPPER_WORD);
    match op {
        UnaryOp::Rcp => rcp_ftz(cx, upper),
        _ if ftz => rsqrt_ftz(cx, upper),
        _ => rsqrt_f64(cx, x),
    }
}

/// The step of third order from the seed of the upper word. Numbers that are subnormal, or whose results have
/// subnormal squares, are scaled by a power of four.
fn rsqrt_f64(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let number = bits_as_float(cx, x);
    let tiny = fcmp_const(cx, FloatCC::LessThan, number, 0x0010_0000_0000_0000);
    let huge = fcmp_const(cx, FloatCC::GreaterThan, number, 0x7e70_0000_0000_0000);
    let choose = |cx: &mut OpCtx<'_, '_>, of_tiny: u64, of_huge: u64| {
        let [one, of_tiny, of_huge] =
            [0x3ff0_0000_0000_0000, of_tiny, of_huge].map(|k| const_of_type_like(cx, number, k));
        let scale = select_lanes(cx, huge, of_huge, one);
        select_lanes(cx, tiny, of_tiny, scale)
    };
    // 2^108 and 2^-108
    let scale = choose(cx, 0x46b0_0000_0000_0000, 0x3930_0000_0000_0000);
    let scaled = cx.b.ins().fmul(number, scale);
    let bits = float_as_bits(cx, scaled);
    let upper = and_const(cx, bits, UPPER_WORD);
    let seed = rsqrt_ftz(cx, upper);
    let seed = bits_as_float(cx, seed);
    let square = cx.b.ins().fmul(seed, seed);
    let square = cx.b.ins().fneg(square);
    let [one, half, three_eighths] = [0x3ff0_0000_0000_0000, 0x3fe0_0000_0000_0000, 0x3fd8_0000_0000_0000]
        .map(|k| const_of_type_like(cx, number, k));
    let error = cx.b.ins().fma(scaled, square, one);
    let factor = cx.b.ins().fma(error, three_eighths, half);
    let step = cx.b.ins().fmul(error, seed);
    let r = cx.b.ins().fma(factor, step, seed);
    let back = choose(cx, 0x4350_0000_0000_0000, 0x3c90_0000_0000_0000);
    let r = cx.b.ins().fmul(r, back);
    let r = float_as_bits(cx, r);
    // Zeros, infinity and negative numbers have the seed.
    let zero = fcmp_const(cx, FloatCC::Equal, number, 0);
    let infinite = fcmp_const(cx, FloatCC::Equal, number, 0x7ff0_0000_0000_0000);
    let negative = fcmp_const(cx, FloatCC::LessThan, number, 0);
    let special = cx.b.ins().bor(zero, infinite);
    let seed = float_as_bits(cx, seed);
    let r = select_lanes(cx, special, seed, r);
    let nan = const_of_type_like(cx, r, 0xfff8_0000_0000_0000);
    let r = select_lanes(cx, negative, nan, r);
    fp::quiet_nan_or(cx, number, r)
}

fn lower_approx_f32(cx: &mut OpCtx<'_, '_>, op: UnaryOp, ftz: bool, x: Value) -> Value {
    match op {
        UnaryOp::Sin => sine_or_cosine(cx, x, false),
        UnaryOp::Cos => sine_or_cosine(cx, x, true),
        UnaryOp::Tanh => tanh(cx, x),
        UnaryOp::Ex2 if ftz => ex2_ftz(cx, x),
        UnaryOp::Ex2 => ex2(cx, x),
        UnaryOp::Lg2 if ftz => lg2_ftz(cx, x),
        // log2(x) = log2(2^24 x) - 24
        UnaryOp::Lg2 => of_scaled_subnormals(cx, x, lg2_ftz, |cx, r| {
            let shift = const_of_type_like(cx, r, 0x41c0_0000);
            cx.b.ins().fsub(r, shift)
        }),
        UnaryOp::Rcp if ftz => rcp_ftz(cx, x),
        UnaryOp::Rcp => rcp(cx, x),
        UnaryOp::Rsqrt if ftz => rsqrt_ftz(cx, x),
        UnaryOp::Rsqrt => of_scaled_subnormals(cx, x, rsqrt_ftz, |cx, r| times(cx, r, 0x4580_0000)),
        _ if ftz => sqrt_ftz(cx, x),
        _ => of_scaled_subnormals(cx, x, sqrt_ftz, |cx, r| times(cx, r, 0x3980_0000)),
    }
}

/// `x` times the number with these bits.
fn times(cx: &mut OpCtx<'_, '_>, x: Value, factor: u64) -> Value {
    let factor = const_of_type_like(cx, x, factor);
    cx.b.ins().fmul(x, factor)
}

/// A function of single precision that flushes subnormal numbers, of those by that of 2^24 times them.
fn of_scaled_subnormals(
    cx: &mut OpCtx<'_, '_>,
    x: Value,
    function: impl FnOnce(&mut OpCtx<'_, '_>, Value) -> Value,
    corrected: impl FnOnce(&mut OpCtx<'_, '_>, Value) -> Value,
) -> Value {
    let exponent = and_const(cx, x, 0x7f80_0000);
    let tiny = icmp_const(cx, IntCC::Equal, exponent, 0);
    let number = bits_as_float(cx, x);
    let scaled = times(cx, number, 0x4b80_0000);
    let scaled = float_as_bits(cx, scaled);
    let operand = select_lanes(cx, tiny, scaled, x);
    let r = function(cx, operand);
    let number = bits_as_float(cx, r);
    let of_tiny = corrected(cx, number);
    let of_tiny = float_as_bits(cx, of_tiny);
    select_lanes(cx, tiny, of_tiny, r)
}

/// What differs between single precision and the upper words of double precision.
#[derive(Clone, Copy)]
struct Layout {
    /// Where the exponent field begins.
    exponent_at: u32,
    exponent_mask: u64,
    sign: u64,
    one: u64,
    nan: u64,
    /// What follows a result whose last bit counts.
    last_bit: u64,
}

impl Layout {
    fn of(cx: &OpCtx<'_, '_>, x: Value) -> Layout {
        if clif_type_of(cx, x).lane_bits() == 64 {
            Layout {
                exponent_at: 52,
                exponent_mask: 0x7ff0_0000_0000_0000,
                sign: 1 << 63,
                one: 0x3ff0_0000_0000_0000,
                nan: 0x7fff_ffff_0000_0000,
                last_bit: 1 << 32,
            }
        } else {
            Layout {
                exponent_at: 23,
                exponent_mask: 0x7f80_0000,
                sign: 0x8000_0000,
                one: 0x3f80_0000,
                nan: 0x7fff_ffff,
                last_bit: 1,
            }
        }
    }

    /// The first 23 bits of the fraction.
    fn fraction(self, cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
        let x = ushr_const(cx, x, self.exponent_at - 23);
        and_const(cx, x, 0x7f_ffff)
    }
}

/// The canonical NaN where `x` is one, else `r`.
fn keep_nan(cx: &mut OpCtx<'_, '_>, layout: Layout, x: Value, r: Value) -> Value {
    let number = bits_as_float(cx, x);
    let nan = cx.b.ins().fcmp(FloatCC::Unordered, number, number);
    let canonical = const_of_type_like(cx, r, layout.nan);
    select_lanes(cx, nan, canonical, r)
}

/// The square of a 17-bit number without the partial products below bit 19, in units of 2^19.
///
/// Bit `b` of the upper 8 bits is multiplied with those of the lower 9 bits that reach bit 19. Vectors multiply two
/// bits at a time, as pairs of 16-bit numbers.
fn truncated_square(cx: &mut OpCtx<'_, '_>, position: Value) -> Value {
    let high = ushr_const(cx, position, 9);
    let low = and_const(cx, position, 0x1ff);
    let kept = |bit: u64| 0x1ff & !((1 << (9 - bit)) - 1);
    if clif_type_of(cx, position) != types::I32X4 {
        let square = cx.b.ins().imul(high, high);
        let mut sum = shl_const(cx, square, 8);
        for bit in 1..8 {
            let (x, y) = (and_const(cx, low, kept(bit)), and_const(cx, high, 1 << bit));
            let product = cx.b.ins().imul(x, y);
            sum = cx.b.ins().iadd(sum, product);
        }
        return ushr_const(cx, sum, 9);
    }
    let twice = |cx: &mut OpCtx<'_, '_>, x: Value| {
        let upper = shl_const(cx, x, 16);
        cx.b.ins().bor(x, upper)
    };
    let (lows, highs) = (twice(cx, low), twice(cx, high));
    let products = [(7, 6), (5, 4), (3, 2)].map(|(b, c): (u64, u64)| {
        let x = and_const(cx, lows, kept(b) | kept(c) << 16);
        let y = and_const(cx, highs, 1 << b | 1 << (c + 16));
        sum_of_word_products(cx, x, y)
    });
    // The last bit, beside 2^8 times the square of the upper bits.
    let scaled = shl_const(cx, high, 20);
    let (x, y) = (and_const(cx, low, kept(1)), and_const(cx, high, 2));
    let (x, y) = (cx.b.ins().bor(x, scaled), cx.b.ins().bor(y, scaled));
    let last = sum_of_word_products(cx, x, y);
    let (a, b) = (cx.b.ins().iadd(products[0], products[1]), cx.b.ins().iadd(products[2], last));
    let sum = cx.b.ins().iadd(a, b);
    ushr_const(cx, sum, 9)
}

/// The products of the halves of words, as signed numbers, added: one instruction.
fn sum_of_word_products(cx: &mut OpCtx<'_, '_>, x: Value, y: Value) -> Value {
    let [x, y] = [x, y].map(|v| super::lane_parts::bitcast_to(cx, v, types::I16X8));
    let (x_low, y_low) = (cx.b.ins().swiden_low(x), cx.b.ins().swiden_low(y));
    let (x_high, y_high) = (cx.b.ins().swiden_high(x), cx.b.ins().swiden_high(y));
    let (low, high) = (cx.b.ins().imul(x_low, y_low), cx.b.ins().imul(x_high, y_high));
    cx.b.ins().iadd_pairwise(low, high)
}

/// Small integers as doubles (twice the parts of a vector of words).
fn integers_to_double(cx: &mut OpCtx<'_, '_>, x: Value) -> LaneParts {
    let ty = clif_type_of(cx, x);
    if ty == types::I32X4 {
        let upper = shuffle_words(cx, x, x, [2, 3, 2, 3]);
        return [x, upper]
            .into_iter()
            .map(|half| {
                let wide = cx.b.ins().swiden_low(half);
                cx.b.ins().fcvt_from_sint(types::F64X2, wide)
            })
            .collect();
    }
    if ty == types::I32 {
        return LaneParts::from_elem(cx.b.ins().fcvt_from_sint(types::F64, x), 1);
    }
    // 2^52 + x
    let two_to_52 = const_of_type(cx, ty, 0x4330_0000_0000_0000);
    let sum = cx.b.ins().bor(x, two_to_52);
    let (sum, two_to_52) = (bits_as_float(cx, sum), bits_as_float(cx, two_to_52));
    LaneParts::from_elem(cx.b.ins().fsub(sum, two_to_52), 1)
}

/// Doubles that are integers as words.
fn doubles_to_words(cx: &mut OpCtx<'_, '_>, doubles: &[Value]) -> Value {
    let at_end = map_parts(cx, doubles, |cx, x| {
        let magic = const_of_type_like(cx, x, INTEGER_AT_END);
        let sum = cx.b.ins().fadd(x, magic);
        float_as_bits(cx, sum)
    });
    match *at_end {
        [low, high] => shuffle_words(cx, low, high, [0, 2, 4, 6]),
        _ => cx.b.ins().ireduce(types::I32, at_end[0]),
    }
}

/// Column after column of the rows of a table, as doubles (twice the parts of a vector of words).
fn table_columns<const N: usize>(cx: &mut OpCtx<'_, '_>, table: Table, rows: Value) -> [LaneParts; N] {
    let base = relocations::target_address(cx.b, RelocTarget::InterpolatorTable(table as u32));
    let offsets = shl_const(cx, rows, 5);
    let ty = clif_type_of(cx, rows);
    let flags = MemFlagsData::trusted().with_readonly();
    let address_of = |cx: &mut OpCtx<'_, '_>, lane: u32| {
        let offset = if ty.is_vector() { cx.b.ins().extractlane(offsets, lane as u8) } else { offsets };
        let offset = if ty.lane_bits() == 32 { cx.b.ins().uextend(types::I64, offset) } else { offset };
        cx.b.ins().iadd(base, offset)
    };
    let mut columns: [LaneParts; N] = std::array::from_fn(|_| LaneParts::new());
    if !ty.is_vector() {
        let address = address_of(cx, 0);
        for (i, column) in columns.iter_mut().enumerate() {
            column.push(cx.b.ins().load(types::F64, flags, address, 8 * i as i32));
        }
        return columns;
    }
    for lane in (0..ty.lane_count()).step_by(2) {
        let addresses = [address_of(cx, lane), address_of(cx, lane + 1)];
        for pair in 0..N.div_ceil(2) {
            let [a, b] = addresses.map(|address| cx.b.ins().load(types::I32X4, flags, address, 16 * pair as i32));
            for (half, words) in [[0, 1, 4, 5], [2, 3, 6, 7]].into_iter().enumerate() {
                if let Some(column) = columns.get_mut(2 * pair + half) {
                    let both = shuffle_words(cx, a, b, words);
                    let both = super::lane_parts::bitcast_to(cx, both, types::F64X2);
                    column.push(both);
                }
            }
        }
    }
    columns
}

/// The polynomial of a piece at a position, as doubles (twice the parts of a vector of words).
fn polynomial(cx: &mut OpCtx<'_, '_>, table: Table, piece: Value, position: Value) -> LaneParts {
    let [constants, slopes, curvatures] = table_columns::<3>(cx, table, piece);
    let square = truncated_square(cx, position);
    let (positions, squares) = (integers_to_double(cx, position), integers_to_double(cx, square));
    (0..constants.len())
        .map(|i| {
            let linear = cx.b.ins().fmul(slopes[i], positions[i]);
            let quadratic = cx.b.ins().fmul(curvatures[i], squares[i]);
            let sum = cx.b.ins().fadd(constants[i], linear);
            cx.b.ins().fadd(sum, quadratic)
        })
        .collect()
}

/// Doubles truncated to the bits of single precision, normal numbers.
fn truncate_to_single(cx: &mut OpCtx<'_, '_>, doubles: &[Value]) -> Value {
    let exact = map_parts(cx, doubles, |cx, x| {
        let bits = float_as_bits(cx, x);
        let bits = and_const(cx, bits, !0x1fff_ffff);
        let x = bits_as_float(cx, bits);
        super::rounding::demote_to_single(cx, x)
    });
    let shape = if doubles.len() == 2 { EmitShape::Chunk } else { EmitShape::Scalar };
    join_demoted_halves(cx, shape, &exact)[0]
}

/// The polynomial truncated to the format of `position`: single precision, or the upper word of a double.
fn interpolate(cx: &mut OpCtx<'_, '_>, table: Table, piece: Value, position: Value) -> Value {
    let sum = polynomial(cx, table, piece, position);
    if clif_type_of(cx, position).lane_bits() == 64 {
        let bits = float_as_bits(cx, sum[0]);
        return and_const(cx, bits, UPPER_WORD);
    }
    truncate_to_single(cx, &sum)
}

/// `rcp.approx.ftz` of single precision, or of the upper word of a double.
pub(super) fn rcp_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let layout = Layout::of(cx, x);
    let fraction = layout.fraction(cx, x);
    let piece = ushr_const(cx, fraction, 16);
    let position = and_const(cx, fraction, 0xffff);
    let position = shl_const(cx, position, 1);
    let mantissa = interpolate(cx, Table::Rcp, piece, position);
    let exponent = and_const(cx, x, layout.exponent_mask);
    let one = const_of_type_like(cx, x, layout.one);
    let field = cx.b.ins().isub(one, exponent);
    let r = cx.b.ins().iadd(mantissa, field);
    // Also false for infinity, whose field is below zero.
    let normal = icmp_const(cx, IntCC::SignedGreaterThan, r, (1 << layout.exponent_at) - 1);
    let r = select_or_zero(cx, normal, r);
    let zero = icmp_const(cx, IntCC::Equal, exponent, 0);
    let infinity = const_of_type_like(cx, x, layout.exponent_mask);
    let r = select_lanes(cx, zero, infinity, r);
    let sign = and_const(cx, x, layout.sign);
    let r = cx.b.ins().bor(r, sign);
    keep_nan(cx, layout, x, r)
}

/// `rcp.approx`: subnormal numbers, and those whose reciprocals are, scaled by a power of two.
fn rcp(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let exponent = and_const(cx, x, 0x7f80_0000);
    let tiny = icmp_const(cx, IntCC::Equal, exponent, 0);
    let huge = icmp_const(cx, IntCC::SignedGreaterThan, exponent, 0x7e00_0000);
    let [one, up, down] = [0x3f80_0000, 0x4b80_0000, 0x3e80_0000].map(|bits| const_of_type_like(cx, x, bits));
    let scale = select_lanes(cx, huge, down, one);
    let scale = select_lanes(cx, tiny, up, scale);
    let (number, scale) = (bits_as_float(cx, x), bits_as_float(cx, scale));
    let scaled = cx.b.ins().fmul(number, scale);
    let scaled = float_as_bits(cx, scaled);
    let r = rcp_ftz(cx, scaled);
    let r = bits_as_float(cx, r);
    let r = cx.b.ins().fmul(r, scale);
    let r = float_as_bits(cx, r);
    keep_nan(cx, Layout::of(cx, x), r, r)
}

/// The mantissa of a root, and the half of the exponent where the field is.
fn root_parts(cx: &mut OpCtx<'_, '_>, table: Table, x: Value) -> [Value; 2] {
    let layout = Layout::of(cx, x);
    let at = layout.exponent_at;
    let fraction = layout.fraction(cx, x);
    let odd = ushr_const(cx, x, at - 6);
    let odd = and_const(cx, odd, 64);
    let flip = const_of_type_like(cx, odd, 64);
    let odd = cx.b.ins().bxor(odd, flip);
    let piece = ushr_const(cx, fraction, 17);
    let piece = cx.b.ins().iadd(piece, odd);
    let position = and_const(cx, fraction, 0x1_ffff);
    let mantissa = interpolate(cx, table, piece, position);
    let one = const_of_type_like(cx, x, layout.one);
    let exponent = cx.b.ins().isub(x, one);
    let half = sshr_const(cx, exponent, at + 1);
    let half = shl_const(cx, half, at);
    [mantissa, half]
}

/// What roots and logarithms have in common: infinity and zero (with its sign) have a result each, negative numbers none.
fn finish_positive(cx: &mut OpCtx<'_, '_>, x: Value, r: Value, of_infinity: u64, of_zero: u64) -> Value {
    let layout = Layout::of(cx, x);
    let infinite = icmp_const(cx, IntCC::Equal, x, layout.exponent_mask);
    let at_infinity = const_of_type_like(cx, x, of_infinity);
    let r = select_lanes(cx, infinite, at_infinity, r);
    let negative = icmp_const(cx, IntCC::SignedLessThan, x, 0);
    let nan = const_of_type_like(cx, x, layout.nan);
    let r = select_lanes(cx, negative, nan, r);
    let exponent = and_const(cx, x, layout.exponent_mask);
    let zero = icmp_const(cx, IntCC::Equal, exponent, 0);
    let sign = and_const(cx, x, layout.sign);
    let at_zero = const_of_type_like(cx, x, of_zero);
    let at_zero = cx.b.ins().bor(at_zero, sign);
    let r = select_lanes(cx, zero, at_zero, r);
    keep_nan(cx, layout, x, r)
}

/// `rsqrt.approx.ftz` of single precision, or of the upper word of a double.
fn rsqrt_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let layout = Layout::of(cx, x);
    let [mantissa, half] = root_parts(cx, Table::Rsqrt, x);
    let r = cx.b.ins().isub(mantissa, half);
    // Of 4^n the root is exact, one unit above the sum.
    let ending = and_const(cx, x, (2 << layout.exponent_at) - 1);
    let exact = icmp_const(cx, IntCC::Equal, ending, 1 << layout.exponent_at);
    let unit = const_of_type_like(cx, x, layout.last_bit);
    let unit = select_or_zero(cx, exact, unit);
    let r = cx.b.ins().iadd(r, unit);
    finish_positive(cx, x, r, 0, layout.exponent_mask)
}

fn sqrt_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let [mantissa, half] = root_parts(cx, Table::Sqrt, x);
    let r = cx.b.ins().iadd(mantissa, half);
    let infinity = Layout::of(cx, x).exponent_mask;
    finish_positive(cx, x, r, infinity, 0)
}

/// `ex2.approx.ftz`: 23 bits behind the point, negative numbers as the complement of one, integers exact.
fn ex2_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let layout = Layout::of(cx, x);
    let magnitude = and_const(cx, x, 0x7fff_ffff);
    let magnitude = bits_as_float(cx, magnitude);
    // Powers of numbers beyond are infinite or zero, as those of the limit are.
    let limit = const_of_type_like(cx, magnitude, 0x4300_0000);
    let magnitude = float_lesser(cx, magnitude, limit);
    let scaled = times(cx, magnitude, 0x4b00_0000);
    let ty = clif_type_of(cx, x);
    let fixed = cx.b.ins().fcvt_to_sint_sat(ty, scaled);
    let negative = sshr_const(cx, x, 31);
    let complement = cx.b.ins().bxor(fixed, negative);
    let fraction = and_const(cx, fixed, 0x7f_ffff);
    let whole = icmp_const(cx, IntCC::Equal, fraction, 0);
    let unit = select_or_zero(cx, whole, negative);
    let fixed = cx.b.ins().isub(complement, unit);
    let fraction = and_const(cx, fixed, 0x7f_ffff);
    let piece = ushr_const(cx, fraction, 17);
    let position = and_const(cx, fraction, 0x1_ffff);
    let mantissa = interpolate(cx, Table::Ex2, piece, position);
    let field = and_const(cx, fixed, 0xff80_0000);
    let r = cx.b.ins().iadd(mantissa, field);
    let normal = icmp_const(cx, IntCC::SignedGreaterThan, r, 0x7f_ffff);
    let r = select_or_zero(cx, normal, r);
    keep_nan(cx, layout, x, r)
}

/// `ex2.approx`: powers that are subnormal are squares.
fn ex2(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let number = bits_as_float(cx, x);
    let small = fcmp_const(cx, FloatCC::LessThan, number, 0xc2fc_0000);
    let half = times(cx, number, 0x3f00_0000);
    let half = float_as_bits(cx, half);
    let operand = select_lanes(cx, small, half, x);
    let r = ex2_ftz(cx, operand);
    let root = bits_as_float(cx, r);
    let square = cx.b.ins().fmul(root, root);
    let square = float_as_bits(cx, square);
    select_lanes(cx, small, square, r)
}

/// `lg2.approx.ftz`: 36 bits behind the point, negative logarithms as the complement of one.
fn lg2_ftz(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let layout = Layout::of(cx, x);
    let fraction = layout.fraction(cx, x);
    let piece = ushr_const(cx, fraction, 17);
    let position = and_const(cx, fraction, 0x1_ffff);
    let mantissas = polynomial(cx, Table::Lg2, piece, position);
    let exponent = ushr_const(cx, x, 23);
    let exponents = integers_to_double(cx, exponent);
    let logarithms: LaneParts = (0..mantissas.len())
        .map(|i| {
            let bias = const_of_type_like(cx, exponents[i], 0x4060_0000_0000_0000);
            let exponent = cx.b.ins().fsub(exponents[i], bias);
            let sum = cx.b.ins().fadd(mantissas[i], exponent);
            let fixed = times(cx, sum, 0x4230_0000_0000_0000);
            let fixed = cx.b.ins().floor(fixed);
            // n of numbers from 0 on, and -n - 1 of those below
            let half = const_of_type_like(cx, fixed, 0x3fe0_0000_0000_0000);
            let middle = cx.b.ins().fadd(fixed, half);
            let distance = cx.b.ins().fabs(middle);
            let magnitude = cx.b.ins().fsub(distance, half);
            let magnitude = times(cx, magnitude, 0x3db0_0000_0000_0000);
            let (magnitude, fixed) = (float_as_bits(cx, magnitude), float_as_bits(cx, fixed));
            let sign = and_const(cx, fixed, 1 << 63);
            let r = cx.b.ins().bor(magnitude, sign);
            bits_as_float(cx, r)
        })
        .collect();
    let r = truncate_to_single(cx, &logarithms);
    let one = icmp_const(cx, IntCC::Equal, x, 0x3f80_0000);
    let plus_zero = const_of_type_like(cx, x, 0);
    let r = select_lanes(cx, one, plus_zero, r);
    finish_positive(cx, x, r, 0x7f80_0000, 0xff80_0000)
}

/// `sin.approx` and `cos.approx`: 25 bits behind the point of the turns, which are truncated to single precision.
fn sine_or_cosine(cx: &mut OpCtx<'_, '_>, x: Value, cosine: bool) -> Value {
    let magnitude = and_const(cx, x, 0x7fff_ffff);
    let magnitude = bits_as_float(cx, magnitude);
    let shape = if clif_type_of(cx, x).is_vector() { EmitShape::Chunk } else { EmitShape::Scalar };
    let wide = promote_to_double(cx, shape, &[magnitude]);
    let phases = map_parts(cx, &wide, |cx, x| {
        // 1 / (2 pi) in single precision: the product is exact.
        let turns = times(cx, x, 0x3fc4_5f30_6000_0000);
        let turns = float_as_bits(cx, turns);
        let turns = and_const(cx, turns, !0x1fff_ffff);
        let turns = bits_as_float(cx, turns);
        let whole = cx.b.ins().floor(turns);
        let part = cx.b.ins().fsub(turns, whole);
        let fixed = times(cx, part, 0x4180_0000_0000_0000);
        cx.b.ins().floor(fixed)
    });
    let phase = doubles_to_words(cx, &phases);
    let quarter = const_of_type_like(cx, x, 1 << 23);
    let phase = if cosine { cx.b.ins().iadd(phase, quarter) } else { phase };
    let odd = shl_const(cx, phase, 8);
    let odd = sshr_const(cx, odd, 31);
    let place = cx.b.ins().bxor(phase, odd);
    let place = and_const(cx, place, 0x7f_ffff);
    let piece = ushr_const(cx, place, 17);
    let position = and_const(cx, place, 0x1_ffff);
    let r = interpolate(cx, Table::Sin, piece, position);
    let half_turn = and_const(cx, phase, 1 << 24);
    let half_turn = shl_const(cx, half_turn, 7);
    let r = cx.b.ins().bxor(r, half_turn);
    let r = if cosine {
        r
    } else {
        let sign = and_const(cx, x, 0x8000_0000);
        cx.b.ins().bxor(r, sign)
    };
    let field = and_const(cx, x, 0x7f80_0000);
    let unlimited = icmp_const(cx, IntCC::Equal, field, 0x7f80_0000);
    let nan = const_of_type_like(cx, x, 0x7fff_ffff);
    select_lanes(cx, unlimited, nan, r)
}

/// `tanh.approx`: pieces of octaves from 2^-8 to 8; x below, 1 above.
fn tanh(cx: &mut OpCtx<'_, '_>, x: Value) -> Value {
    let layout = Layout::of(cx, x);
    let magnitude = and_const(cx, x, 0x7fff_ffff);
    let low = const_of_type_like(cx, x, 0x3b80_0000);
    let high = const_of_type_like(cx, x, 0x40ff_ffff);
    let limited = cx.b.ins().smax(magnitude, low);
    let limited = cx.b.ins().smin(limited, high);
    let octave = ushr_const(cx, limited, 23);
    let first = const_of_type_like(cx, x, 119);
    let octave = cx.b.ins().isub(octave, first);
    let [scales, offsets] = table_columns::<2>(cx, Table::TanhOctaves, octave);
    let shape = if clif_type_of(cx, x).is_vector() { EmitShape::Chunk } else { EmitShape::Scalar };
    let number = bits_as_float(cx, limited);
    let wide = promote_to_double(cx, shape, &[number]);
    let places: LaneParts = (0..wide.len())
        .map(|i| {
            let place = cx.b.ins().fmul(wide[i], scales[i]);
            cx.b.ins().floor(place)
        })
        .collect();
    let place = doubles_to_words(cx, &places);
    let offset = doubles_to_words(cx, &offsets);
    let piece = ushr_const(cx, place, 17);
    let piece = cx.b.ins().iadd(piece, offset);
    let position = and_const(cx, place, 0x1_ffff);
    let r = interpolate(cx, Table::Tanh, piece, position);
    let small = icmp_const(cx, IntCC::SignedLessThan, magnitude, 0x3b80_0000);
    let r = select_lanes(cx, small, magnitude, r);
    let large = icmp_const(cx, IntCC::SignedGreaterThan, magnitude, 0x40ff_ffff);
    let one = const_of_type_like(cx, x, 0x3f80_0000);
    let r = select_lanes(cx, large, one, r);
    let sign = and_const(cx, x, 0x8000_0000);
    let r = cx.b.ins().bor(r, sign);
    keep_nan(cx, layout, x, r)
}
