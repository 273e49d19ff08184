//! Natural numbers of any size, with the few operations that exact floating point needs.
//!
//! The limbs are 32 bits, lowest first, and the highest is not zero.

use std::cmp::Ordering;

/// A natural number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BigUint(Vec<u32>);

impl BigUint {
    /// The number `x`.
    pub fn new(x: u128) -> BigUint {
        BigUint((0..4).map(|i| (x >> (32 * i)) as u32).collect()).without_leading_zeros()
    }

    fn without_leading_zeros(mut self) -> BigUint {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn limb_or_zero(&self, i: usize) -> u64 {
        self.0.get(i).copied().unwrap_or(0).into()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bits up to the highest that is set.
    pub fn bit_length(&self) -> i64 {
        match self.0.last() {
            Some(top) => self.0.len() as i64 * 32 - i64::from(top.leading_zeros()),
            None => 0,
        }
    }

    /// Bit `i`.
    pub fn test_bit(&self, i: i64) -> bool {
        self.limb_or_zero((i / 32) as usize) >> (i % 32) & 1 != 0
    }

    /// The number, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        (self.bit_length() <= 128).then(|| (0..4).fold(0, |x, i| x | u128::from(self.limb_or_zero(i)) << (32 * i)))
    }

    /// `self * 2^n`
    pub fn shift_left(&self, n: i64) -> BigUint {
        let (limbs, bits) = ((n / 32) as usize, n % 32);
        let mut out = vec![0; limbs];
        let mut carry = 0;
        for i in 0..=self.0.len() {
            let wide = self.limb_or_zero(i) << bits;
            out.push((wide | carry) as u32);
            carry = wide >> 32;
        }
        BigUint(out).without_leading_zeros()
    }

    /// `self / 2^n`, rounded down.
    pub fn shift_right(&self, n: i64) -> BigUint {
        let (limbs, bits) = ((n / 32) as usize, n % 32);
        let part = |i: usize| (self.limb_or_zero(i) | self.limb_or_zero(i + 1) << 32) >> bits;
        BigUint((limbs..self.0.len().max(limbs)).map(|i| part(i) as u32).collect()).without_leading_zeros()
    }

    /// `self + other`
    pub fn add(&self, other: &BigUint) -> BigUint {
        let mut carry = 0;
        let mut out = Vec::new();
        for i in 0..=self.0.len().max(other.0.len()) {
            let sum = self.limb_or_zero(i) + other.limb_or_zero(i) + carry;
            out.push(sum as u32);
            carry = sum >> 32;
        }
        BigUint(out).without_leading_zeros()
    }

    /// `self - other`, which must not be negative.
    pub fn sub(&self, other: &BigUint) -> BigUint {
        let mut borrow = 0;
        let mut out = Vec::new();
        for i in 0..self.0.len() {
            let difference = self.limb_or_zero(i) as i64 - other.limb_or_zero(i) as i64 - borrow;
            out.push(difference as u32);
            borrow = i64::from(difference < 0);
        }
        assert!(borrow == 0 && self.0.len() >= other.0.len(), "a natural number became negative");
        BigUint(out).without_leading_zeros()
    }

    /// `self / other` and the remainder, by long division in base 2.
    pub fn div_rem(&self, other: &BigUint) -> (BigUint, BigUint) {
        let (mut quotient, mut rest) = (BigUint::default(), BigUint::default());
        for i in (0..self.bit_length()).rev() {
            rest = rest.shift_left(1).add(&BigUint::new(self.test_bit(i).into()));
            quotient = quotient.shift_left(1);
            if rest >= *other {
                rest = rest.sub(other);
                quotient = quotient.add(&BigUint::new(1));
            }
        }
        (quotient, rest)
    }
}

impl Ord for BigUint {
    fn cmp(&self, other: &BigUint) -> Ordering {
        let longer = self.0.len().cmp(&other.0.len());
        longer.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for BigUint {
    fn partial_cmp(&self, other: &BigUint) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
