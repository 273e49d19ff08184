//! Natural numbers of any size, with the few operations that exact floating point needs.
//!
//! The limbs are 32 bits, lowest first, and the highest is not zero.

use std::cmp::Ordering;

/// A natural number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Big(Vec<u32>);

impl Big {
    /// The number `x`.
    pub fn new(x: u128) -> Big {
        Big((0..4).map(|i| (x >> (32 * i)) as u32).collect()).trimmed()
    }

    fn trimmed(mut self) -> Big {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn limb(&self, i: usize) -> u64 {
        self.0.get(i).copied().unwrap_or(0).into()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bits up to the highest that is set.
    pub fn bits(&self) -> i64 {
        match self.0.last() {
            Some(top) => self.0.len() as i64 * 32 - i64::from(top.leading_zeros()),
            None => 0,
        }
    }

    /// Bit `i`.
    pub fn bit(&self, i: i64) -> bool {
        self.limb((i / 32) as usize) >> (i % 32) & 1 != 0
    }

    /// The number, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        (self.bits() <= 128).then(|| (0..4).fold(0, |x, i| x | u128::from(self.limb(i)) << (32 * i)))
    }

    /// `self * 2^n`
    pub fn shl(&self, n: i64) -> Big {
        let (limbs, bits) = ((n / 32) as usize, n % 32);
        let mut out = vec![0; limbs];
        let mut carry = 0;
        for i in 0..=self.0.len() {
            let wide = self.limb(i) << bits;
            out.push((wide | carry) as u32);
            carry = wide >> 32;
        }
        Big(out).trimmed()
    }

    /// `self / 2^n`, rounded down.
    pub fn shr(&self, n: i64) -> Big {
        let (limbs, bits) = ((n / 32) as usize, n % 32);
        let part = |i: usize| (self.limb(i) | self.limb(i + 1) << 32) >> bits;
        Big((limbs..self.0.len().max(limbs)).map(|i| part(i) as u32).collect()).trimmed()
    }

    /// `self + other`
    pub fn add(&self, other: &Big) -> Big {
        let mut carry = 0;
        let mut out = Vec::new();
        for i in 0..=self.0.len().max(other.0.len()) {
            let sum = self.limb(i) + other.limb(i) + carry;
            out.push(sum as u32);
            carry = sum >> 32;
        }
        Big(out).trimmed()
    }

    /// `self - other`, which must not be negative.
    pub fn sub(&self, other: &Big) -> Big {
        let mut borrow = 0;
        let mut out = Vec::new();
        for i in 0..self.0.len() {
            let difference = self.limb(i) as i64 - other.limb(i) as i64 - borrow;
            out.push(difference as u32);
            borrow = i64::from(difference < 0);
        }
        assert!(borrow == 0 && self.0.len() >= other.0.len(), "a natural number became negative");
        Big(out).trimmed()
    }

    /// `self / other` and the remainder, by long division in base 2.
    pub fn div_rem(&self, other: &Big) -> (Big, Big) {
        let (mut quotient, mut rest) = (Big::default(), Big::default());
        for i in (0..self.bits()).rev() {
            rest = rest.shl(1).add(&Big::new(self.bit(i).into()));
            quotient = quotient.shl(1);
            if rest >= *other {
                rest = rest.sub(other);
                quotient = quotient.add(&Big::new(1));
            }
        }
        (quotient, rest)
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        let longer = self.0.len().cmp(&other.0.len());
        longer.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
