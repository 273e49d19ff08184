//! Elements as bits of each type, matrices of small integers, and their product in whole numbers.

/// Bits of an element, and how a small integer is written in it.
pub(crate) fn element_bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

pub(crate) fn encode_element(ty: &str, v: i64) -> u64 {
    let float = v as f32;
    match ty {
        "f16" => u64::from(half::f16::from_f32(float).to_bits()),
        "bf16" => u64::from(half::bf16::from_f32(float).to_bits()),
        "f32" | "tf32" => u64::from(float.to_bits()),
        "f64" => f64::from(float).to_bits(),
        _ => (v as u64) & (u64::MAX >> (64 - element_bits(ty))),
    }
}

pub(crate) fn decode_element(ty: &str, raw: u64) -> i64 {
    match ty {
        "f16" => half::f16::from_bits(raw as u16).to_f32() as i64,
        "f32" => f32::from_bits(raw as u32) as i64,
        "f64" => f64::from_bits(raw) as i64,
        _ => i64::from(raw as i32),
    }
}

/// Small values that the type has.
fn small_value(ty: &str, seed: usize) -> i64 {
    let r = (seed.wrapping_mul(2_654_435_761) >> 7) as i64;
    match ty {
        "b1" => r & 1,
        "u4" => r & 15,
        "s4" => (r & 15) - 8,
        "u8" => r & 255,
        "s8" => (r & 255) - 128,
        "s32" => r % 100_000,
        _ => (r & 15) - 8,
    }
}

/// A matrix of `rows` by `cols` with pseudo-random entries.
#[derive(Clone)]
pub(crate) struct Matrix {
    pub(crate) cols: usize,
    pub(crate) v: Vec<i64>,
}

impl Matrix {
    pub(crate) fn random(ty: &str, rows: usize, cols: usize, seed: usize) -> Matrix {
        Matrix { cols, v: (0..rows * cols).map(|i| small_value(ty, i * 7 + seed * 1_000_003 + 1)).collect() }
    }
    pub(crate) fn element(&self, row: usize, col: usize) -> i64 {
        self.v[row * self.cols + col]
    }
}

pub(crate) struct MmaCase {
    pub(crate) op: String,
    pub(crate) size: [usize; 3],
    pub(crate) types: [&'static str; 4],
}

/// `d` of `a * b + c` in whole numbers; bits are counted.
pub(crate) fn expected_product(c: &MmaCase, a: &Matrix, b: &Matrix, sum: &Matrix) -> Vec<i64> {
    let [m, n, k] = c.size;
    let mut out = vec![];
    for i in 0..m {
        for j in 0..n {
            let term = |l: usize| {
                let (x, y) = (a.element(i, l), b.element(l, j));
                if c.op.contains("xor") { x ^ y } else { x * y }
            };
            let total = sum.element(i, j) + (0..k).map(term).sum::<i64>();
            let sat = c.op.contains("satfinite");
            out.push(if sat { total.clamp(i32::MIN.into(), i32::MAX.into()) } else { total });
        }
    }
    out
}
