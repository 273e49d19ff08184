//! Arrays from and to vectors of the host, numbers that look random but are the same each time, and comparisons, for
//! tests of crates that have arrays.
#![allow(dead_code, unreachable_pub, reason = "each crate's tests use a part")]

use rtcg_array::{GpuArray, Order};
use rtcg_hal::{ArrayContext, DType};
use std::fmt::Debug;
use std::sync::Arc;

/// An element of arrays, as the host has it.
pub trait Element: Copy + PartialEq + Debug {
    /// Its dtype on the device.
    const DTYPE: DType;
    /// Appends its bytes.
    fn append_bytes(self, bytes: &mut Vec<u8>);
    /// Reads it from as many bytes as it has.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! impl_elements {
    ($($rust:ty = $dtype:ident),*) => {$(
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn append_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

impl_elements!(
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    f32 = F32,
    f64 = F64
);

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn append_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }
    fn from_bytes(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

/// Real and imaginary part.
impl Element for [f64; 2] {
    const DTYPE: DType = DType::C128;
    fn append_bytes(self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|part| part.append_bytes(bytes));
    }
    fn from_bytes(bytes: &[u8]) -> Self {
        [&bytes[..8], &bytes[8..]].map(f64::from_bytes)
    }
}

/// An array of a shape with these elements in C order.
pub fn array<T: Element>(ctx: &Arc<ArrayContext>, shape: &[usize], elements: &[T]) -> GpuArray {
    let array = GpuArray::empty(ctx, shape, T::DTYPE, Order::C).unwrap();
    let mut bytes = Vec::with_capacity(array.nbytes());
    elements.iter().for_each(|element| element.append_bytes(&mut bytes));
    array.write(&bytes, Order::C).unwrap();
    array
}

/// A vector of these elements.
pub fn vector<T: Element>(ctx: &Arc<ArrayContext>, elements: &[T]) -> GpuArray {
    array(ctx, &[elements.len()], elements)
}

/// The elements of an array in C order.
pub fn elements<T: Element>(array: &GpuArray) -> Vec<T> {
    assert_eq!(array.dtype(), T::DTYPE);
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).unwrap();
    bytes.chunks_exact(T::DTYPE.itemsize()).map(T::from_bytes).collect()
}

/// The message of an error.
pub fn message<T>(result: rtcg_hal::Result<T>) -> String {
    result.err().expect("an error").to_string()
}

/// Checks that numbers differ by at most `tolerance`, relative to those beyond 1; NaN and infinity have to be in the
/// same places.
#[track_caller]
pub fn assert_close(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (k, (&got, &wanted)) in got.iter().zip(wanted).enumerate() {
        let is_same = got == wanted || (got.is_nan() && wanted.is_nan());
        let is_close = is_same || (got - wanted).abs() <= tolerance * wanted.abs().max(1.0);
        assert!(is_close, "{what}: element {k} is {got}, expected {wanted}");
    }
}

/// Numbers that look random, the same ones for each seed (SplitMix64, Steele and others 2014).
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// An integer below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// An integer from `low` to `high`.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// A number from -1 to 1.
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// So many numbers from -1 to 1.
    pub fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    /// So many whole numbers from `low` to `high`, whose sums and products are exact.
    pub fn whole_numbers(&mut self, n: usize, low: i64, high: i64) -> Vec<f64> {
        (0..n).map(|_| self.integer(low, high) as f64).collect()
    }
}
