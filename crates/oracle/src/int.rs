//! Integer and bit instructions on the bits of one lane, in 128 bits or bit by bit.

use rtcg_ptx::ast::{CmpOp, PrmtMode};

/// The low `bits` bits.
pub(crate) fn truncate_bits(bits: u32, x: u128) -> u128 {
    if bits >= 128 { x } else { x & ((1 << bits) - 1) }
}

/// `x` read as a signed or unsigned number of `bits` bits (64 at most).
pub(crate) fn interpret_bits(bits: u32, signed: bool, x: u128) -> i128 {
    let x = truncate_bits(bits, x) as i128;
    if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
}

/// The nearest number that the type has.
pub(crate) fn clamp_to_type(bits: u32, signed: bool, x: i128) -> u128 {
    let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    truncate_bits(bits, x.clamp(low, high) as u128)
}

/// All bits of the product of two numbers of `bits` bits, in 128 bits of two's complement.
pub(crate) fn wide_product(bits: u32, signed: bool, a: u128, b: u128) -> u128 {
    interpret_bits(bits, signed, a).wrapping_mul(interpret_bits(bits, signed, b)) as u128
}

/// The upper half of the product.
pub(crate) fn product_high(bits: u32, signed: bool, a: u128, b: u128) -> u128 {
    truncate_bits(bits, wide_product(bits, signed, a, b) >> bits)
}

/// Quotient or remainder. PTX leaves division by zero open; hardware gives all ones for both.
pub(crate) fn div_or_rem(bits: u32, signed: bool, remainder: bool, a: u128, b: u128) -> u128 {
    let (x, y) = (interpret_bits(bits, signed, a), interpret_bits(bits, signed, b));
    match y {
        0 => truncate_bits(bits, u128::MAX),
        _ if remainder => truncate_bits(bits, (x % y) as u128),
        _ => truncate_bits(bits, (x / y) as u128),
    }
}

/// Comparison; `lo ls hi hs` are unsigned.
pub(crate) fn compare_ints(bits: u32, signed: bool, op: CmpOp, a: u128, b: u128) -> Option<bool> {
    let unsigned = matches!(op, CmpOp::Lo | CmpOp::Ls | CmpOp::Hi | CmpOp::Hs);
    let (x, y) = (interpret_bits(bits, signed && !unsigned, a), interpret_bits(bits, signed && !unsigned, b));
    Some(match op {
        CmpOp::Eq => x == y,
        CmpOp::Ne => x != y,
        CmpOp::Lt | CmpOp::Lo => x < y,
        CmpOp::Le | CmpOp::Ls => x <= y,
        CmpOp::Gt | CmpOp::Hi => x > y,
        CmpOp::Ge | CmpOp::Hs => x >= y,
        _ => return None,
    })
}

/// Builds a number of `bits` bits from a function that gives each of them.
pub(crate) fn build_from_bits(bits: u32, bit: impl Fn(u32) -> bool) -> u128 {
    (0..bits).fold(0, |d, i| d | u128::from(bit(i)) << i)
}

/// Bit `i`.
pub(crate) fn test_bit(x: u128, i: u32) -> bool {
    i < 128 && x >> i & 1 != 0
}

/// `shl`
pub(crate) fn shl(bits: u32, a: u128, n: u32) -> u128 {
    build_from_bits(bits, |i| i >= n && test_bit(a, i - n))
}

/// `shr`, which copies the sign of a signed number.
pub(crate) fn shr(bits: u32, signed: bool, a: u128, n: u32) -> u128 {
    let from = |i: u64| if i < bits.into() { test_bit(a, i as u32) } else { signed && test_bit(a, bits - 1) };
    build_from_bits(bits, |i| from(u64::from(i) + u64::from(n)))
}

/// Only instructions of 32 bits reduce the position and the length of a field to a byte.
fn reduce_field(bits: u32, pos: u32, len: u32) -> (u32, u32) {
    if bits == 32 { (pos % 256, len % 256) } else { (pos.min(1000), len.min(1000)) }
}

/// `bfe`
pub(crate) fn bfe(bits: u32, signed: bool, a: u128, pos: u32, len: u32) -> u128 {
    let ((pos, len), msb) = (reduce_field(bits, pos, len), bits - 1);
    let fill = signed && len > 0 && test_bit(a, (pos + len - 1).min(msb));
    build_from_bits(bits, |i| if i < len && pos + i <= msb { test_bit(a, pos + i) } else { fill })
}

/// `bfi`
pub(crate) fn bfi(bits: u32, a: u128, b: u128, pos: u32, len: u32) -> u128 {
    let (pos, len) = reduce_field(bits, pos, len);
    build_from_bits(bits, |i| if i >= pos && i < pos + len { test_bit(a, i - pos) } else { test_bit(b, i) })
}

/// `bfind`: the highest bit that differs from the sign; all ones when there is none.
pub(crate) fn bfind(bits: u32, signed: bool, shiftamt: bool, a: u128) -> u128 {
    let sign = signed && test_bit(a, bits - 1);
    match (0..bits).rev().find(|&i| test_bit(a, i) != sign) {
        Some(i) => u128::from(if shiftamt { bits - 1 - i } else { i }),
        None => 0xffff_ffff,
    }
}

/// `bmsk`: `len` ones from bit `pos`.
pub(crate) fn bmsk(wrap: bool, pos: u32, len: u32) -> u128 {
    let limit = |x: u32| if wrap { x % 32 } else { x.min(32) };
    build_from_bits(32, |i| i >= limit(pos) && i < limit(pos) + limit(len))
}

/// `szext`: the low `n` bits, extended.
pub(crate) fn szext(wrap: bool, signed: bool, a: u128, n: u32) -> u128 {
    let n = if wrap { n % 32 } else { n.min(32) };
    build_from_bits(32, |i| if i < n { test_bit(a, i) } else { signed && n > 0 && test_bit(a, n - 1) })
}

/// `shf`: a funnel shift of `hi:lo`.
pub(crate) fn funnel_shift(left: bool, wrap: bool, lo: u128, hi: u128, n: u32) -> u128 {
    let n = if wrap { n % 32 } else { n.min(32) };
    let both = truncate_bits(32, hi) << 32 | truncate_bits(32, lo);
    if left {
        build_from_bits(32, |i| test_bit(both, 32 + i - n))
    } else {
        build_from_bits(32, |i| test_bit(both, i + n))
    }
}

/// `lop3`
pub(crate) fn lop3(table: u8, a: u128, b: u128, c: u128) -> u128 {
    let row = |i| u32::from(test_bit(a, i)) << 2 | u32::from(test_bit(b, i)) << 1 | u32::from(test_bit(c, i));
    build_from_bits(32, |i| test_bit(table.into(), row(i)))
}

/// Byte `i`.
fn byte_at(x: u128, i: u32) -> u128 {
    x >> (8 * i) & 0xff
}

/// `prmt`, after the tables of the ISA.
pub(crate) fn prmt(mode: PrmtMode, a: u128, b: u128, c: u128) -> u128 {
    let n = (c & 3) as u32;
    let choice = |i: u32| -> u32 {
        match mode {
            PrmtMode::Index => (c >> (4 * i)) as u32 & 15,
            PrmtMode::F4e => n + i,
            PrmtMode::B4e => (n + 8 - i) % 8,
            PrmtMode::Rc8 => n,
            PrmtMode::Ecl => i.max(n),
            PrmtMode::Ecr => i.min(n),
            PrmtMode::Rc16 => (n & 1) * 2 + i % 2,
        }
    };
    let both = truncate_bits(32, b) << 32 | truncate_bits(32, a);
    (0..4).fold(0, |d, i| {
        let chosen = byte_at(both, choice(i) & 7);
        let copies_sign = mode == PrmtMode::Index && choice(i) & 8 != 0;
        d | if copies_sign { if chosen & 0x80 != 0 { 0xff } else { 0 } } else { chosen } << (8 * i)
    })
}

/// `dp4a`, and `dp2a` when `halves` tells which bytes of `b` meet the two halves of `a`.
pub(crate) fn dot_product(a_signed: bool, b_signed: bool, halves: Option<bool>, a: u128, b: u128, c: u128) -> u128 {
    let (n, width, first) = match halves {
        None => (4, 8, 0),
        Some(upper) => (2, 16, if upper { 16 } else { 0 }),
    };
    let term =
        |i: u32| interpret_bits(width, a_signed, a >> (width * i)) * interpret_bits(8, b_signed, b >> (first + 8 * i));
    truncate_bits(32, (0..n).fold(c as i128, |sum, i| sum + term(i)) as u128)
}

/// `vabsdiff4`
pub(crate) fn abs_diff4(sum: bool, a: u128, b: u128, c: u128) -> u128 {
    let difference = |i| byte_at(a, i).abs_diff(byte_at(b, i));
    if sum {
        truncate_bits(32, c + (0..4).map(difference).sum::<u128>())
    } else {
        (0..4).fold(0, |d, i| d | difference(i) << (8 * i))
    }
}

/// `fns`, after the pseudocode of the ISA; the least number, which has no magnitude, gives 0 on a GPU.
pub(crate) fn find_nth_set(mask: u128, base: u32, n: i32) -> u128 {
    if n == i32::MIN {
        return 0;
    }
    let all: Vec<u32> = match base {
        32.. => Vec::new(),
        _ if n < 0 => (0..=base).rev().collect(),
        _ => (base..32).collect(),
    };
    let set: Vec<u32> = all.into_iter().filter(|&i| test_bit(mask, i)).collect();
    let found = match n {
        0 => set.first().filter(|&&i| i == base),
        _ => set.get(n.unsigned_abs() as usize - 1),
    };
    found.map_or(0xffff_ffff, |&i| i.into())
}

/// The product of two polynomials whose coefficients are bits: bit `n` is the parity of the pairs of bits that
/// meet there.
pub(crate) fn carryless_product(a: u128, b: u128) -> u128 {
    let coefficient =
        |n: u32| (0..=n).filter(|&i| i < 64 && n - i < 64 && a >> i & b >> (n - i) & 1 != 0).count() as u128 & 1;
    (0..127).map(|n| coefficient(n) << n).sum()
}
