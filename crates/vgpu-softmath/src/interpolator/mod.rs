//! The unit of a GPU that interpolates approximate functions, bit for bit.
//!
//! A multiprocessor computes `rcp`, `rsqrt`, `sqrt`, `ex2`, `lg2`, `sin`, `cos` and `tanh` by one unit. It divides an
//! octave (or a quarter turn) into pieces and evaluates a quadratic polynomial in fixed point: a constant, a product
//! of the slope and the 17 low bits of the argument, and a product of the curvature and their square, whose partial
//! products below bit 19 are left out (Oberman and Siu, "A High-Performance Area-Efficient Multifunction
//! Interpolator", ARITH 2005, has the structure). The coefficients and the widths are of an H200.

#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod lanes;
mod tables;

#[cfg(target_arch = "x86_64")]
use lanes::LANES;

/// A piece of a function: the constant in eighths of a unit, the slope in units, the curvature in halves of a unit.
/// A unit is that of the table; slope and curvature count over the whole piece.
#[derive(Debug, Clone, Copy)]
pub struct Piece(pub u32, pub i32, pub i32);

/// Bits of the position in a piece.
const POSITION_BITS: u32 = 17;

/// The square of a 17-bit number without the partial products below bit 19, in units of 2^19.
///
/// Of `x = 512 h + l` the square of `h` is whole; of twice the product of `h` and `l` each bit of `h` has the bits of
/// `l` that reach bit 19.
#[inline]
fn truncated_square(x: u32) -> u32 {
    let (h, l) = (x >> 9, x & 0x1ff);
    (1..8).fold((h * h) >> 1, |sum, bit| sum + (l >> (9 - bit)) * (h >> bit & 1))
}

/// A function's pieces, for code that evaluates them itself.
#[derive(Debug, Clone, Copy)]
pub struct Pieces {
    pieces: &'static [Piece],
    rounding: i64,
}

impl Pieces {
    /// `1/x`: 128 pieces of an octave; mantissas in units of 2^-24.
    pub const RCP: Pieces = Pieces { pieces: &tables::RCP, rounding: RCP_ROUNDING };
    /// `1/sqrt(x)`: 64 pieces of an even octave and 64 of an odd one; mantissas in units of 2^-24.
    pub const RSQRT: Pieces = Pieces { pieces: &tables::RSQRT, rounding: ROOT_ROUNDING };
    /// `sqrt(x)`, as [`Pieces::RSQRT`]; mantissas in units of 2^-23.
    pub const SQRT: Pieces = Pieces { pieces: &tables::SQRT, rounding: ROOT_ROUNDING };
    /// `2^x`: 64 pieces; mantissas in units of 2^-23.
    pub const EX2: Pieces = Pieces { pieces: &tables::EX2, rounding: EX2_ROUNDING };
    /// `1 + log2(x)`: 64 pieces, in units of 2^-23.
    pub const LG2: Pieces = Pieces { pieces: &tables::LG2, rounding: LG2_ROUNDING };
    /// The sine of a quarter turn: 64 pieces, in units of 2^-24.
    pub const SIN: Pieces = Pieces { pieces: &tables::SIN, rounding: 0 };
    /// The hyperbolic tangent, in units of 2^-24; [`TANH_OCTAVES`] says which piece.
    pub const TANH: Pieces = Pieces { pieces: &tables::TANH, rounding: 0 };

    /// Constant, slope of a position of 17 bits and factor of its truncated square, in units: exact doubles.
    pub fn coefficients(self) -> impl Iterator<Item = [f64; 3]> {
        let scale = 2f64.powi(-17);
        self.pieces.iter().map(move |p| {
            let constant = (i64::from(p.0) << 14) + self.rounding;
            [constant as f64 * scale, f64::from(p.1) * scale, f64::from(p.2) * 2.0 * scale]
        })
    }
}

impl Piece {
    /// The polynomial at a position of 17 bits, in 2^-17 units, plus `rounding` of the same units.
    #[inline]
    fn at(self, position: u32, rounding: i64) -> i64 {
        let square = i64::from(truncated_square(position));
        (i64::from(self.0) << 14) + i64::from(self.1) * i64::from(position) + i64::from(self.2) * square * 2 + rounding
    }
}

/// What the unit adds before it drops the bits behind a unit, in 2^-17 units: half a unit less the mean of what the
/// square leaves out, in some functions as a part of the constants.
const RCP_ROUNDING: i64 = 8092;
const EX2_ROUNDING: i64 = 24456;
const LG2_ROUNDING: i64 = 3348;
/// Just below the sum: results that are exact become the number below.
const ROOT_ROUNDING: i64 = -1;

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fff_ffff;
const ONE: u32 = 0x3f80_0000;

/// Exponent field and fraction of the magnitude of `a`.
#[inline]
fn parts(a: u32) -> (i32, u32) {
    ((a >> 23 & 0xff) as i32, a & 0x7f_ffff)
}

/// The index of the piece among 64 and the position in it.
#[inline]
fn of_64(fraction: u32) -> (usize, u32) {
    ((fraction >> POSITION_BITS) as usize, fraction & 0x1_ffff)
}

/// A positive number of `value * 2^scale`, truncated to single precision.
#[inline]
fn truncated_float(value: u64, scale: i32) -> u32 {
    if value == 0 {
        return 0;
    }
    let top = 63 - value.leading_zeros() as i32;
    let mantissa = if top >= 23 { value >> (top - 23) } else { value << (23 - top) } as u32;
    (((top + scale + 127) as u32) << 23) + (mantissa - 0x80_0000)
}

/// The mantissa, from 2^23 to 2^24, of `1/x` for a fraction of x; 2^24 for x = 1.
#[inline]
fn rcp_mantissa(fraction: u32) -> u32 {
    let piece = tables::RCP[(fraction >> 16) as usize];
    (piece.at((fraction & 0xffff) << 1, RCP_ROUNDING) >> POSITION_BITS) as u32
}

/// The mantissa of `1/sqrt(x)` for x in [1, 4), the exponent being odd or not.
#[inline]
fn rsqrt_mantissa(odd: bool, fraction: u32) -> u32 {
    let (piece, position) = of_64(fraction);
    match tables::RSQRT[piece + 64 * usize::from(odd)].at(position, ROOT_ROUNDING) >> POSITION_BITS {
        // The one argument whose result is exact.
        _ if !odd && fraction == 0 => 0x100_0000,
        mantissa => mantissa as u32,
    }
}

/// `rcp.approx.ftz.f32`
#[inline]
pub fn rcp_ftz(a: u32) -> u32 {
    let (sign, (exponent, fraction)) = (a & SIGN, parts(a));
    match exponent {
        255 if fraction != 0 => NAN,
        255 => sign,
        0 => sign | INFINITY,
        _ => match 253 - exponent + (rcp_mantissa(fraction) >> 24) as i32 {
            exponent if exponent > 0 => sign | (exponent as u32) << 23 | rcp_mantissa(fraction) & 0x7f_ffff,
            _ => sign,
        },
    }
}

/// `rsqrt.approx.ftz.f32`
#[inline]
pub fn rsqrt_ftz(a: u32) -> u32 {
    let (exponent, fraction) = parts(a);
    match exponent {
        255 if fraction != 0 => NAN,
        0 => a & SIGN | INFINITY,
        _ if a & SIGN != 0 => NAN,
        255 => 0,
        _ => {
            let odd = (exponent - 127) & 1 != 0;
            let mantissa = rsqrt_mantissa(odd, fraction);
            (((126 - ((exponent - 127) >> 1)) as u32) << 23) + (mantissa - 0x80_0000)
        }
    }
}

/// `sqrt.approx.ftz.f32`
#[inline]
pub fn sqrt_ftz(a: u32) -> u32 {
    let (exponent, fraction) = parts(a);
    match exponent {
        255 if fraction != 0 => NAN,
        0 => a & SIGN,
        _ if a & SIGN != 0 => NAN,
        255 => INFINITY,
        _ => {
            let odd = (exponent - 127) & 1 != 0;
            let (piece, position) = of_64(fraction);
            let mantissa = tables::SQRT[piece + 64 * usize::from(odd)].at(position, ROOT_ROUNDING) >> POSITION_BITS;
            (((127 + ((exponent - 127) >> 1)) as u32) << 23) + (mantissa as u32 - 0x80_0000)
        }
    }
}

/// `ex2.approx.ftz.f32`: the argument has 23 bits behind the point, negative ones as the complement of one.
#[inline]
pub fn ex2_ftz(a: u32) -> u32 {
    let (exponent, fraction) = parts(a);
    if exponent == 255 {
        return if fraction != 0 {
            NAN
        } else if a & SIGN != 0 {
            0
        } else {
            INFINITY
        };
    }
    let mantissa = i64::from(fraction | 0x80_0000);
    let magnitude = match exponent - 127 {
        0..=8 => mantissa << (exponent - 127),
        below if below < 0 && exponent > 0 => mantissa >> (127 - exponent).min(63),
        below if below < 0 => 0,
        _ => 256 << 23,
    };
    let x = if a & SIGN == 0 {
        magnitude
    } else if magnitude & 0x7f_ffff == 0 {
        -magnitude
    } else {
        !magnitude
    };
    let (piece, position) = of_64((x & 0x7f_ffff) as u32);
    let mantissa = (tables::EX2[piece].at(position, EX2_ROUNDING) >> POSITION_BITS) as u32;
    match (x >> 23) + 127 {
        255.. => INFINITY,
        exponent @ 1.. => ((exponent as u32) << 23) + (mantissa - 0x80_0000),
        _ => 0,
    }
}

/// `lg2.approx.ftz.f32`: the logarithm has 36 bits behind the point, and negative ones are complements of one.
#[inline]
pub fn lg2_ftz(a: u32) -> u32 {
    let (exponent, fraction) = parts(a);
    match exponent {
        255 if fraction != 0 => return NAN,
        0 => return SIGN | INFINITY,
        _ if a & SIGN != 0 => return NAN,
        255 => return INFINITY,
        127 if fraction == 0 => return 0,
        _ => {}
    }
    let (piece, position) = of_64(fraction);
    let sum = (tables::LG2[piece].at(position, LG2_ROUNDING) >> 4) + (i64::from(exponent - 128) << 36);
    let (sign, magnitude) = if sum < 0 { (SIGN, !sum) } else { (0, sum) };
    sign | truncated_float(magnitude as u64, -36)
}

/// 1 / (2 pi)
const INVERSE_TURN: u32 = 0x3e22_f983;

/// `sin.approx.ftz.f32` or, a quarter turn later, `cos.approx.ftz.f32`; the same without `.ftz`.
///
/// The argument is multiplied by 1 / (2 pi), truncated to single precision, and 25 bits behind the point count.
#[inline]
pub fn sin_or_cos(a: u32, cosine: bool) -> u32 {
    let (exponent, fraction) = parts(a);
    if exponent == 255 {
        return NAN;
    }
    let turns = if exponent == 0 {
        0
    } else {
        let product = u64::from(fraction | 0x80_0000) * u64::from(INVERSE_TURN & 0x7f_ffff | 0x80_0000);
        let extra = u32::from(product >> 47 != 0) + 23;
        // Now product * 2^(exponent - 176) with 24 bits of mantissa.
        let (mantissa, scale) = ((product >> extra), exponent - 127 - 23 - 26 + extra as i32);
        match scale + 25 {
            left @ 0..=38 => mantissa << left,
            left if left > 38 => 0,
            right => mantissa >> (-right).min(63),
        }
    };
    let quarter = (turns >> 23) as u32 + u32::from(cosine);
    let phase = (turns & 0x7f_ffff) as u32;
    let phase = if quarter & 1 == 0 { phase } else { !phase & 0x7f_ffff };
    let (piece, position) = of_64(phase);
    let value = truncated_float(tables::SIN[piece].at(position, 0) as u64, -41);
    let sign = if cosine { 0 } else { a & SIGN };
    sign ^ (quarter & 2) << 30 ^ value
}

/// `tanh.approx.f32`
#[inline]
pub fn tanh(a: u32) -> u32 {
    let (sign, (exponent, fraction)) = (a & SIGN, parts(a));
    match exponent {
        255 if fraction != 0 => NAN,
        130.. => sign | ONE,
        ..119 => a,
        _ => {
            let (first, bits) = TANH_OCTAVES[(exponent - 119) as usize];
            let place = fraction >> (23 - bits);
            let (piece, position) = of_64(place);
            sign | truncated_float(tables::TANH[first + piece].at(position, 0) as u64, -41)
        }
    }
}

/// For the octaves from 2^-8 to 4: the first piece, and the bits of the fraction that count. Below, tanh(x) is x.
pub const TANH_OCTAVES: [(usize, u32); 11] =
    [(0, 17), (1, 17), (2, 17), (3, 18), (5, 18), (7, 19), (11, 19), (15, 19), (19, 20), (27, 21), (43, 20)];

/// Multiplies by a power of two, rounding to nearest.
#[inline]
fn scaled(a: u32, by: f32) -> u32 {
    let r = f32::from_bits(a) * by;
    if r.is_nan() { NAN } else { r.to_bits() }
}

/// `rcp.approx.f32`: subnormal numbers, and reciprocals that are, by a power of two.
#[inline]
pub fn rcp(a: u32) -> u32 {
    match parts(a) {
        (0, 1..) => scaled(rcp_ftz(scaled(a, 16_777_216.0)), 16_777_216.0),
        (253 | 254, _) => scaled(rcp_ftz(scaled(a, 0.25)), 0.25),
        _ => rcp_ftz(a),
    }
}

/// `rsqrt.approx.f32`
#[inline]
pub fn rsqrt(a: u32) -> u32 {
    match parts(a) {
        (0, 1..) => scaled(rsqrt_ftz(scaled(a, 16_777_216.0)), 4096.0),
        _ => rsqrt_ftz(a),
    }
}

/// `sqrt.approx.f32`
#[inline]
pub fn sqrt(a: u32) -> u32 {
    match parts(a) {
        (0, 1..) => scaled(sqrt_ftz(scaled(a, 16_777_216.0)), 1.0 / 4096.0),
        _ => sqrt_ftz(a),
    }
}

/// `lg2.approx.f32`
#[inline]
pub fn lg2(a: u32) -> u32 {
    match parts(a) {
        (0, 1..) if a & SIGN != 0 => NAN,
        (0, 1..) => (f32::from_bits(lg2_ftz(scaled(a, 16_777_216.0))) - 24.0).to_bits(),
        _ => lg2_ftz(a),
    }
}

/// `ex2.approx.f32`: powers that are subnormal are squares.
#[inline]
pub fn ex2(a: u32) -> u32 {
    if f32::from_bits(a) < -126.0 {
        let root = f32::from_bits(ex2_ftz(scaled(a, 0.5)));
        return (root * root).to_bits();
    }
    ex2_ftz(a)
}

/// `rcp.approx.ftz.f64`, of the upper words of argument and result; the lower words are nothing and zero.
#[inline]
pub fn rcp_upper_word(a: u32) -> u32 {
    let (sign, exponent, fraction) = (a & SIGN, (a >> 20 & 0x7ff) as i32, a & 0xf_ffff);
    match exponent {
        0x7ff if fraction != 0 => NAN,
        0x7ff => sign,
        0 => sign | 0x7ff0_0000,
        _ => {
            let mantissa = rcp_mantissa(fraction << 3);
            match 2045 - exponent + (mantissa >> 24) as i32 {
                exponent if exponent > 0 => sign | (exponent as u32) << 20 | (mantissa & 0x7f_ffff) >> 3,
                _ => sign,
            }
        }
    }
}

/// `rsqrt.approx.ftz.f64`, of the upper words.
#[inline]
pub fn rsqrt_upper_word(a: u32) -> u32 {
    let (exponent, fraction) = ((a >> 20 & 0x7ff) as i32, a & 0xf_ffff);
    match exponent {
        0x7ff if fraction != 0 => NAN,
        0 => a & SIGN | 0x7ff0_0000,
        _ if a & SIGN != 0 => NAN,
        0x7ff => 0,
        _ => {
            let odd = (exponent - 1023) & 1 != 0;
            let mantissa = rsqrt_mantissa(odd, fraction << 3);
            (((1022 - ((exponent - 1023) >> 1)) as u32) << 20) + ((mantissa - 0x80_0000) >> 3)
        }
    }
}
