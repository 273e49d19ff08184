//! Integer and bit instructions on the bits of one lane.
//!
//! Operands come zero-extended from `bits` bits in a `u64`; results are cut to them by the caller's
//! lane type or here by [`truncate_bits`].

use rtcg_ptx::ast::{CmpOp, PrmtMode};

/// `value` at `bits` bits, read as signed or not.
#[inline]
pub fn extend_bits(bits: u32, signed: bool, value: u64) -> i128 {
    let value = truncate_bits(bits, value);
    let negative = signed && value >> (bits - 1) != 0;
    i128::from(value) - if negative { 1 << bits } else { 0 }
}

/// The low `bits` bits.
#[inline]
pub fn truncate_bits(bits: u32, value: u64) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The nearest number of `bits` bits, as its bits.
#[inline]
pub fn clamp_to_width(bits: u32, signed: bool, value: i128) -> u64 {
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    truncate_bits(bits, value.clamp(low, high) as u64)
}

/// What the hardware's division routine gives: all ones for a zero divisor, wrap-around for the
/// one overflow.
#[inline]
pub fn div_bits(bits: u32, signed: bool, a: u64, b: u64) -> u64 {
    let (x, y) = (extend_bits(bits, signed, a), extend_bits(bits, signed, b));
    if y == 0 { truncate_bits(bits, u64::MAX) } else { truncate_bits(bits, (x / y) as u64) }
}

/// The remainder; by zero all ones, which is what the hardware's routine gives.
#[inline]
pub fn rem_bits(bits: u32, signed: bool, a: u64, b: u64) -> u64 {
    let (x, y) = (extend_bits(bits, signed, a), extend_bits(bits, signed, b));
    if y == 0 { truncate_bits(bits, u64::MAX) } else { truncate_bits(bits, (x % y) as u64) }
}

/// Comparison of integers; `lo ls hi hs` compare unsigned whatever the type.
#[inline]
pub fn compare_ints(bits: u32, signed: bool, op: CmpOp, a: u64, b: u64) -> bool {
    let signed = signed && !matches!(op, CmpOp::Lo | CmpOp::Ls | CmpOp::Hi | CmpOp::Hs);
    super::arith::ordering_satisfies(op, extend_bits(bits, signed, a).cmp(&extend_bits(bits, signed, b)))
}

/// `shl_clamped` and `shr_clamped`: amounts above the width act as the width.
#[inline]
pub fn shl_clamped(bits: u32, a: u64, n: u32) -> u64 {
    if n >= bits { 0 } else { truncate_bits(bits, a << n) }
}

/// See [`shl_clamped`].
#[inline]
pub fn shr_clamped(bits: u32, signed: bool, a: u64, n: u32) -> u64 {
    truncate_bits(bits, (extend_bits(bits, signed, a) >> n.min(bits)) as u64)
}

/// `bfind`: the highest bit that is not a copy of the sign; all ones when there is none.
#[inline]
pub fn bfind(bits: u32, signed: bool, shiftamt: bool, a: u64) -> u32 {
    let x = extend_bits(bits, signed, a);
    let x = truncate_bits(bits, if x < 0 { !x } else { x } as u64);
    match x {
        0 => u32::MAX,
        _ if shiftamt => bits - 1 - x.ilog2(),
        _ => x.ilog2(),
    }
}

/// `n` ones, for `n` up to 64.
fn low_bits_mask(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// A position or length of a bit field: instructions of 32 bits take its lowest byte, those of 64 bits, which a device
/// does by shifts, all of it (question 34 of `tests/fidelity`); beyond 255 all numbers are alike.
#[inline]
pub fn field_amount(bits: u32, amount: u32) -> u32 {
    if bits == 64 { amount.min(255) } else { amount & 0xff }
}

/// `bfe`: the field, filled with its top bit (or that of the operand when it reaches beyond).
#[inline]
pub fn bfe(bits: u32, signed: bool, a: u64, pos: u32, len: u32) -> u64 {
    let (pos, len) = (field_amount(bits, pos), field_amount(bits, len));
    if len == 0 {
        return 0;
    }
    let inside = len.min(bits.saturating_sub(pos));
    let field = if inside == 0 { 0 } else { a >> pos & low_bits_mask(inside) };
    let top = (pos + len - 1).min(bits - 1);
    let fill = if signed && a >> top & 1 != 0 { !low_bits_mask(inside) } else { 0 };
    truncate_bits(bits, field | fill)
}

/// `bfi`: `b` with `len` bits of `a` put at `pos`.
#[inline]
pub fn bfi(bits: u32, a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let (pos, len) = (field_amount(bits, pos), field_amount(bits, len));
    if pos >= bits {
        return b;
    }
    let field = low_bits_mask(len) << pos;
    truncate_bits(bits, a << pos & field | b & !field)
}

/// `bmsk`: `width` ones from bit `pos`.
#[inline]
pub fn bmsk(wrap: bool, pos: u32, width: u32) -> u32 {
    let limit = |x: u32| if wrap { x & 31 } else { x.min(32) };
    let ones = (1u64 << limit(width)) - 1;
    (ones << limit(pos)) as u32
}

/// `szext`: the low `n` bits, sign- or zero-extended.
#[inline]
pub fn szext(wrap: bool, signed: bool, a: u32, n: u32) -> u32 {
    let n = if wrap { n & 31 } else { n.min(32) };
    if n == 0 { 0 } else { extend_bits(n, signed, u64::from(a)) as u32 }
}

/// `shf`: a funnel shift of `hi:lo`.
#[inline]
pub fn shf(left: bool, wrap: bool, lo: u32, hi: u32, n: u32) -> u32 {
    let n = if wrap { n & 31 } else { n.min(32) };
    let both = u64::from(hi) << 32 | u64::from(lo);
    if left { (both << n >> 32) as u32 } else { (both >> n) as u32 }
}

/// `lop3`: bit `4a + 2b + c` of the table.
#[inline]
pub fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8u8).filter(|i| table >> i & 1 != 0).fold(0, |d, i| {
        let term = |x: u32, bit: u8| if i & bit != 0 { x } else { !x };
        d | term(a, 4) & term(b, 2) & term(c, 1)
    })
}

/// The byte choice (two 4-bit fields per byte, low byte first) of a `prmt` mode.
#[inline]
pub fn prmt_selector(mode: PrmtMode, c: u32) -> u32 {
    let n = (c & 3) as usize;
    match mode {
        PrmtMode::Index => c & 0xffff,
        PrmtMode::F4e => [0x3210, 0x4321, 0x5432, 0x6543][n],
        PrmtMode::B4e => [0x5670, 0x6701, 0x7012, 0x0123][n],
        PrmtMode::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333][n],
        PrmtMode::Ecl => [0x3210, 0x3211, 0x3222, 0x3333][n],
        PrmtMode::Ecr => [0x0000, 0x1110, 0x2210, 0x3210][n],
        PrmtMode::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232][n],
    }
}

/// `prmt`: four bytes chosen from `b:a`; bit 3 of a choice replicates the byte's sign.
#[inline]
pub fn prmt(mode: PrmtMode, a: u32, b: u32, c: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let selector = prmt_selector(mode, c);
    u32::from_le_bytes(std::array::from_fn(|i| {
        let choice = selector >> (4 * i) & 15;
        let byte = bytes[(choice & 7) as usize];
        if choice & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte }
    }))
}

/// `dp4a`: `c` plus the products of the four bytes.
#[inline]
pub fn dp4a(a_signed: bool, b_signed: bool, a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, i| {
        let x = extend_bits(8, a_signed, u64::from(a >> (8 * i)));
        let y = extend_bits(8, b_signed, u64::from(b >> (8 * i)));
        sum.wrapping_add((x * y) as u32)
    })
}

/// `vabsdiff4`: |a - b| of each byte; with `sum`, `c` plus the four of them.
#[inline]
pub fn abs_diff4(sum: bool, a: u32, b: u32, c: u32) -> u32 {
    let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(x, y)| x.abs_diff(y));
    if sum {
        return bytes.fold(c, |total, d| total.wrapping_add(d.into()));
    }
    bytes.rev().fold(0, |word, d| word << 8 | u32::from(d))
}

/// `fns`: the place of the n-th set bit of `mask`, counted from `base` upwards, or downwards for a
/// negative `n`; all ones if there is none. With n = 0 bit `base` itself is tested.
#[inline]
pub fn find_nth_set(mask: u32, base: u32, n: i32) -> u32 {
    // What a GPU gives for this number, which has no magnitude.
    if n == i32::MIN {
        return 0;
    }
    let set = |i: u32| i < 32 && mask >> i & 1 != 0;
    if n == 0 {
        return if set(base) { base } else { u32::MAX };
    }
    let skipped = n.unsigned_abs() as usize - 1;
    let found = if n > 0 {
        (base..32).filter(|&i| set(i)).nth(skipped)
    } else if base < 32 {
        (0..=base).rev().filter(|&i| set(i)).nth(skipped)
    } else {
        // Counted downwards from a position that does not exist there is none.
        None
    };
    found.unwrap_or(u32::MAX)
}

/// `dp2a`: `c` plus the products of two 16-bit halves and two bytes.
#[inline]
pub fn dp2a(a_signed: bool, b_signed: bool, hi: bool, a: u32, b: u32, c: u32) -> u32 {
    (0..2).fold(c, |sum, i| {
        let x = extend_bits(16, a_signed, u64::from(a >> (16 * i)));
        let y = extend_bits(8, b_signed, u64::from(b >> (8 * i + if hi { 16 } else { 0 })));
        sum.wrapping_add((x * y) as u32)
    })
}

/// The product of the low 24 bits of both: its low word, or bits 16 to 47.
#[inline]
pub fn mul24(signed: bool, hi: bool, a: u64, b: u64) -> i128 {
    let product = extend_bits(24, signed, a) * extend_bits(24, signed, b);
    if hi { product >> 16 } else { product }
}

/// The upper half of the product.
#[inline]
pub fn mul_hi(bits: u32, signed: bool, a: u64, b: u64) -> i128 {
    // The product of two unsigned 64-bit numbers needs all 128 bits, without a sign.
    if !signed {
        return ((u128::from(truncate_bits(bits, a)) * u128::from(truncate_bits(bits, b))) >> bits) as i128;
    }
    (extend_bits(bits, signed, a) * extend_bits(bits, signed, b)) >> bits
}

/// `c + |a - b|`
#[inline]
pub fn sad(bits: u32, signed: bool, a: u64, b: u64, c: u64) -> u64 {
    let d = (extend_bits(bits, signed, a) - extend_bits(bits, signed, b)).unsigned_abs() as u64;
    truncate_bits(bits, c.wrapping_add(d))
}
/// A half of the carry-less product of two polynomials over the field of two elements, plus (xor) `c`.
pub fn clmad(high: bool, a: u64, b: u64, c: u64) -> u64 {
    let product = (0..64).filter(|i| b >> i & 1 != 0).fold(0, |sum, i| sum ^ u128::from(a) << i);
    (product >> if high { 64 } else { 0 }) as u64 ^ c
}
