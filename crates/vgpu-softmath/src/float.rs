//! Binary floating point on integers: exact sums, products, quotients and roots, rounded once.
//!
//! A number is unpacked to a sign, a 64-bit significand whose top bit is set, and the exponent of
//! its lowest bit; an operation forms the exact result (or enough bits of it and whether anything
//! non-zero follows) and `round_and_pack` packs it into any [`FloatFormat`] in any rounding direction.

/// A binary interchange format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    /// Bits of the exponent field.
    pub exp_bits: u32,
    /// Stored bits of the significand.
    pub frac_bits: u32,
}

impl FloatFormat {
    /// `.f16`
    pub const F16: FloatFormat = FloatFormat { exp_bits: 5, frac_bits: 10 };
    /// `.bf16`
    pub const BF16: FloatFormat = FloatFormat { exp_bits: 8, frac_bits: 7 };
    /// `.tf32`, kept in the upper bits of 32.
    pub const TF32: FloatFormat = FloatFormat { exp_bits: 8, frac_bits: 10 };
    /// `.f32`
    pub const F32: FloatFormat = FloatFormat { exp_bits: 8, frac_bits: 23 };
    /// `.f64`
    pub const F64: FloatFormat = FloatFormat { exp_bits: 11, frac_bits: 52 };
    /// `.e5m2`
    pub const E5M2: FloatFormat = FloatFormat { exp_bits: 5, frac_bits: 2 };

    /// The exponent field of infinity and NaN.
    #[inline]
    fn special_exponent(self) -> u64 {
        (1 << self.exp_bits) - 1
    }
    #[inline]
    fn exponent_bias(self) -> i32 {
        (1 << (self.exp_bits - 1)) - 1
    }
    /// The sign bit.
    #[inline]
    pub fn sign_bit(self) -> u64 {
        1 << (self.exp_bits + self.frac_bits)
    }
    /// Positive infinity.
    #[inline]
    pub fn infinity(self) -> u64 {
        self.special_exponent() << self.frac_bits
    }
    /// The NaN of an invalid operation (below double precision the only one): all ones but the sign.
    #[inline]
    pub fn canonical_nan(self) -> u64 {
        if self == FloatFormat::F64 { 0xfff8_0000_0000_0000 } else { self.sign_bit() - 1 }
    }
    /// A NaN with its quiet bit set.
    #[inline]
    pub fn quiet_nan(self, nan: u64) -> u64 {
        nan | 1 << (self.frac_bits - 1)
    }
    /// The largest finite number.
    #[inline]
    pub fn largest_finite(self) -> u64 {
        self.infinity() - 1
    }
    /// Whether `bits` is a NaN.
    #[inline]
    pub fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign_bit() - 1) > self.infinity()
    }
    /// Whether `bits` is subnormal (zero is not).
    #[inline]
    pub(crate) fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign_bit() - 1);
        magnitude != 0 && magnitude >> self.frac_bits == 0
    }
    /// The number one.
    #[inline]
    pub(crate) fn encoded_one(self) -> u64 {
        (self.exponent_bias() as u64) << self.frac_bits
    }
    /// `bits` with subnormals replaced by a zero of their sign.
    #[inline]
    pub fn flush_subnormal(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign_bit() } else { bits }
    }
}

/// Rounding directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RoundMode {
    /// To nearest, ties to even.
    Nearest = 0,
    /// Towards zero.
    Zero = 1,
    /// Towards minus infinity.
    Down = 2,
    /// Towards plus infinity.
    Up = 3,
    /// To nearest, ties away from zero.
    Away = 4,
}

/// A number taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpackedFloat {
    /// Not a number.
    Nan,
    /// Infinity; true is negative.
    Inf(bool),
    /// Zero; true is negative.
    Zero(bool),
    /// `(-1)^sign * sig * 2^exp`, the top bit of `sig` set.
    Finite {
        /// Negative.
        sign: bool,
        /// Exponent of the lowest bit of `sig`.
        exp: i32,
        /// Significand.
        sig: u64,
    },
}

/// Takes `bits` apart.
#[inline]
pub(crate) fn unpack_float(f: FloatFormat, bits: u64) -> UnpackedFloat {
    let sign = bits & f.sign_bit() != 0;
    let frac = bits & ((1 << f.frac_bits) - 1);
    let exp = (bits & (f.sign_bit() - 1)) >> f.frac_bits;
    match (exp, frac) {
        (0, 0) => UnpackedFloat::Zero(sign),
        (e, 0) if e == f.special_exponent() => UnpackedFloat::Inf(sign),
        (e, _) if e == f.special_exponent() => UnpackedFloat::Nan,
        (0, _) => unpacked_finite(sign, 1 - f.exponent_bias() - f.frac_bits as i32, frac),
        _ => unpacked_finite(sign, exp as i32 - f.exponent_bias() - f.frac_bits as i32, frac | 1 << f.frac_bits),
    }
}

/// The number `sig * 2^exp`.
#[inline]
pub(crate) fn unpacked_finite(sign: bool, exp: i32, sig: u64) -> UnpackedFloat {
    if sig == 0 {
        return UnpackedFloat::Zero(sign);
    }
    let shift = sig.leading_zeros();
    UnpackedFloat::Finite { sign, exp: exp - shift as i32, sig: sig << shift }
}

/// Packs `sig * 2^exp`, to which an infinitesimal belongs when `sticky`, rounding once.
#[inline]
pub(crate) fn round_and_pack(f: FloatFormat, rnd: RoundMode, sign: bool, exp: i32, sig: u128, sticky: bool) -> u64 {
    let sign_bits = if sign { f.sign_bit() } else { 0 };
    if sig == 0 && !sticky {
        return sign_bits;
    }
    let top = 127 - sig.leading_zeros().min(127) as i32;
    let lowest_normal = 1 - f.exponent_bias();
    // The exponent of the last place kept: of the leading bit's binade, or of the subnormals.
    let last = (exp + top).max(lowest_normal) - f.frac_bits as i32;
    let (kept, rest) = split_shifted_out(sig, last - exp);
    let up = should_round_up(rnd, sign, kept & 1 != 0, rest, sticky);
    let kept = kept as u64 + u64::from(up);
    // Adding the significand with its hidden bit to the exponent field carries as it should.
    let field = (last + f.frac_bits as i32 - lowest_normal) as u64;
    let magnitude = (field << f.frac_bits).saturating_add(kept);
    if field >= f.special_exponent() || magnitude >= f.infinity() {
        return sign_bits | overflow_result(f, rnd, sign);
    }
    sign_bits | magnitude
}

/// `sig >> n` and what was shifted out, as (half bit, anything below); `n` may be negative.
#[inline]
fn split_shifted_out(sig: u128, n: i32) -> (u128, (bool, bool)) {
    match n {
        ..=0 => (sig << (-n).min(127), (false, false)),
        1..=127 => (sig >> n, (sig >> (n - 1) & 1 != 0, sig & ((1 << (n - 1)) - 1) != 0)),
        128 => (0, (sig >> 127 != 0, sig << 1 != 0)),
        _ => (0, (false, sig != 0)),
    }
}

#[inline]
fn should_round_up(rnd: RoundMode, sign: bool, odd: bool, (half, below): (bool, bool), sticky: bool) -> bool {
    let below = below || sticky;
    match rnd {
        RoundMode::Nearest => half && (below || odd),
        RoundMode::Away => half,
        RoundMode::Zero => false,
        RoundMode::Down => sign && (half || below),
        RoundMode::Up => !sign && (half || below),
    }
}

#[inline]
fn overflow_result(f: FloatFormat, rnd: RoundMode, sign: bool) -> u64 {
    let to_infinity = match rnd {
        RoundMode::Nearest | RoundMode::Away => true,
        RoundMode::Zero => false,
        RoundMode::Down => sign,
        RoundMode::Up => !sign,
    };
    if to_infinity { f.infinity() } else { f.largest_finite() }
}

/// Packs a number that needs no operation.
#[inline]
pub(crate) fn pack_rounded(f: FloatFormat, rnd: RoundMode, x: UnpackedFloat) -> u64 {
    match x {
        UnpackedFloat::Nan => f.canonical_nan(),
        UnpackedFloat::Inf(s) => apply_sign(f, s, f.infinity()),
        UnpackedFloat::Zero(s) => apply_sign(f, s, 0),
        UnpackedFloat::Finite { sign, exp, sig } => round_and_pack(f, rnd, sign, exp, u128::from(sig), false),
    }
}

#[inline]
fn apply_sign(f: FloatFormat, sign: bool, magnitude: u64) -> u64 {
    if sign { f.sign_bit() | magnitude } else { magnitude }
}

/// An unsigned number of 256 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct UInt256 {
    high: u128,
    low: u128,
}

impl UInt256 {
    #[inline]
    fn from_shifted(x: u128, n: u32) -> UInt256 {
        match n {
            0 => UInt256 { high: 0, low: x },
            1..=127 => UInt256 { high: x >> (128 - n), low: x << n },
            _ => UInt256 { high: x << (n - 128).min(127), low: 0 },
        }
    }
    #[inline]
    fn add(self, o: UInt256) -> UInt256 {
        let (low, carry) = self.low.overflowing_add(o.low);
        UInt256 { high: self.high + o.high + u128::from(carry), low }
    }
    #[inline]
    fn sub(self, o: UInt256) -> UInt256 {
        let (low, borrow) = self.low.overflowing_sub(o.low);
        UInt256 { high: self.high - o.high - u128::from(borrow), low }
    }
    /// The leading 128 bits, the shift that gave them, and whether bits were lost.
    #[inline]
    fn leading_128_bits(self) -> (u128, i32, bool) {
        if self.high == 0 {
            return (self.low, 0, false);
        }
        let n = self.high.leading_zeros();
        if n == 0 {
            return (self.high, 128, self.low != 0);
        }
        (self.high << n | self.low >> (128 - n), 128 - n as i32, self.low << n != 0)
    }
}

/// `x * 2^n` for any sign of `n`, and whether a non-zero part was cut off.
#[inline]
fn scale_to_u256(x: u128, n: i32) -> (UInt256, bool) {
    match n {
        0.. => (UInt256::from_shifted(x, n as u32), false),
        -127..=-1 => (UInt256::from_shifted(x >> -n, 0), x << (128 + n) != 0),
        _ => (UInt256::from_shifted(0, 0), x != 0),
    }
}

/// `a * b`, rounded to `f`.
#[inline]
pub(crate) fn mul_rounded(f: FloatFormat, rnd: RoundMode, a: UnpackedFloat, b: UnpackedFloat) -> u64 {
    use UnpackedFloat::*;
    match (a, b) {
        (Nan, _) | (_, Nan) | (Inf(_), Zero(_)) | (Zero(_), Inf(_)) => f.canonical_nan(),
        (Inf(s), o) | (o, Inf(s)) => apply_sign(f, s != is_negative(o), f.infinity()),
        (Zero(s), o) | (o, Zero(s)) => apply_sign(f, s != is_negative(o), 0),
        (Finite { sign: sa, exp: ea, sig: ma }, Finite { sign: sb, exp: eb, sig: mb }) => {
            round_and_pack(f, rnd, sa != sb, ea + eb, u128::from(ma) * u128::from(mb), false)
        }
    }
}

/// Whether the sign is negative.
#[inline]
pub(crate) fn is_negative(x: UnpackedFloat) -> bool {
    match x {
        UnpackedFloat::Nan => false,
        UnpackedFloat::Inf(s) | UnpackedFloat::Zero(s) | UnpackedFloat::Finite { sign: s, .. } => s,
    }
}

/// `-x`
#[inline]
pub(crate) fn negate_unpacked(x: UnpackedFloat) -> UnpackedFloat {
    match x {
        UnpackedFloat::Nan => x,
        UnpackedFloat::Inf(s) => UnpackedFloat::Inf(!s),
        UnpackedFloat::Zero(s) => UnpackedFloat::Zero(!s),
        UnpackedFloat::Finite { sign, exp, sig } => UnpackedFloat::Finite { sign: !sign, exp, sig },
    }
}

/// `a + b`, rounded to `f`.
#[inline]
pub(crate) fn add_rounded(f: FloatFormat, rnd: RoundMode, a: UnpackedFloat, b: UnpackedFloat) -> u64 {
    // Multiplying by one is exact and keeps the sign of zero.
    fma_rounded(f, rnd, a, UnpackedFloat::Finite { sign: false, exp: -63, sig: 1 << 63 }, b)
}

/// `a * b + c`, rounded once to `f`.
#[inline]
pub(crate) fn fma_rounded(f: FloatFormat, rnd: RoundMode, a: UnpackedFloat, b: UnpackedFloat, c: UnpackedFloat) -> u64 {
    use UnpackedFloat::*;
    let product_sign = is_negative(a) != is_negative(b);
    match (a, b, c) {
        (Nan, _, _) | (_, Nan, _) | (_, _, Nan) | (Inf(_), Zero(_), _) | (Zero(_), Inf(_), _) => f.canonical_nan(),
        (Inf(_), _, Inf(s)) | (_, Inf(_), Inf(s)) if s != product_sign => f.canonical_nan(),
        (Inf(_), _, _) | (_, Inf(_), _) => apply_sign(f, product_sign, f.infinity()),
        (_, _, Inf(s)) => apply_sign(f, s, f.infinity()),
        (Zero(_), _, Zero(s)) | (_, Zero(_), Zero(s)) => apply_sign(f, zero_sign(rnd, product_sign, s), 0),
        (Zero(_), _, c) | (_, Zero(_), c) => pack_rounded(f, rnd, c),
        (_, _, Zero(_)) => mul_rounded(f, rnd, a, b),
        (Finite { exp: ea, sig: ma, .. }, Finite { exp: eb, sig: mb, .. }, Finite { sign, exp, sig }) => {
            let product = (product_sign, ea + eb, u128::from(ma) * u128::from(mb));
            add_wide_rounded(f, rnd, product, (sign, exp, u128::from(sig)))
        }
    }
}

/// The sign of a zero that is the sum of two zeros or of opposite numbers.
#[inline]
fn zero_sign(rnd: RoundMode, a: bool, b: bool) -> bool {
    if rnd == RoundMode::Down { a || b } else { a && b }
}

/// The sum of a 127- or 128-bit number `p` and a 64-bit one `c`.
#[inline]
fn add_wide_rounded(f: FloatFormat, rnd: RoundMode, p: (bool, i32, u128), c: (bool, i32, u128)) -> u64 {
    // `p` stands at bit 64 of a frame of 256 bits and `c` where it belongs, unless that is too
    // high for the frame; then the frame moves up and the low bits of `p` fall off its end.
    let c_at = 64 + c.1 - p.1;
    let lift = (c_at - 190).max(0);
    let exp = p.1 - 64 + lift;
    let (pw, p_cut) = scale_to_u256(p.2, 64 - lift);
    let (cw, c_cut) = scale_to_u256(c.2, c_at - lift);
    if p.0 == c.0 {
        return round_and_pack_u256(f, rnd, p.0, exp, pw.add(cw), p_cut || c_cut);
    }
    if pw == cw && !p_cut && !c_cut {
        return apply_sign(f, zero_sign(rnd, p.0, c.0), 0);
    }
    let (sign, big, small) = if pw >= cw { (p.0, pw, cw) } else { (c.0, cw, pw) };
    // Only the much smaller number is ever cut; what it lost makes the difference a little less.
    let cut = p_cut || c_cut;
    let borrow = UInt256 { high: 0, low: u128::from(cut) };
    round_and_pack_u256(f, rnd, sign, exp, big.sub(small).sub(borrow), cut)
}

#[inline]
fn round_and_pack_u256(f: FloatFormat, rnd: RoundMode, sign: bool, exp: i32, x: UInt256, cut: bool) -> u64 {
    let (sig, shift, lost) = x.leading_128_bits();
    round_and_pack(f, rnd, sign, exp + shift, sig, cut || lost)
}

/// `a / b`, rounded to `f`.
#[inline]
pub(crate) fn div_rounded(f: FloatFormat, rnd: RoundMode, a: UnpackedFloat, b: UnpackedFloat) -> u64 {
    use UnpackedFloat::*;
    let sign = is_negative(a) != is_negative(b);
    match (a, b) {
        (Nan, _) | (_, Nan) | (Inf(_), Inf(_)) | (Zero(_), Zero(_)) => f.canonical_nan(),
        (Inf(_), _) | (_, Zero(_)) => apply_sign(f, sign, f.infinity()),
        (Zero(_), _) | (_, Inf(_)) => apply_sign(f, sign, 0),
        (Finite { exp: ea, sig: ma, .. }, Finite { exp: eb, sig: mb, .. }) => {
            let (n, d) = (u128::from(ma) << 64, u128::from(mb));
            round_and_pack(f, rnd, sign, ea - 64 - eb, n / d, n % d != 0)
        }
    }
}

/// The square root of `a`, rounded to `f`.
#[inline]
pub(crate) fn sqrt_rounded(f: FloatFormat, rnd: RoundMode, a: UnpackedFloat) -> u64 {
    match a {
        UnpackedFloat::Zero(s) => apply_sign(f, s, 0),
        UnpackedFloat::Inf(false) => f.infinity(),
        UnpackedFloat::Finite { sign: false, exp, sig } => {
            let odd = exp & 1;
            let n = u128::from(sig) << (62 + odd);
            let root = n.isqrt();
            round_and_pack(f, rnd, false, (exp - 62 - odd) / 2, root, root * root != n)
        }
        _ => f.canonical_nan(),
    }
}

/// `x` rounded to an integer, as (negative, magnitude); `None` for a NaN, and the largest
/// magnitude when it does not fit in 64 bits.
#[inline]
pub(crate) fn to_integer(rnd: RoundMode, x: UnpackedFloat) -> Option<(bool, u128)> {
    match x {
        UnpackedFloat::Nan => None,
        UnpackedFloat::Inf(s) => Some((s, u128::MAX)),
        UnpackedFloat::Zero(s) => Some((s, 0)),
        UnpackedFloat::Finite { sign, exp, .. } if exp > 2 => Some((sign, u128::MAX)),
        UnpackedFloat::Finite { sign, exp, sig } => {
            let (kept, rest) = split_shifted_out(u128::from(sig), -exp);
            Some((sign, kept + u128::from(should_round_up(rnd, sign, kept & 1 != 0, rest, false))))
        }
    }
}
