//! Sobol sequences: direction vectors from Joe and Kuo's numbers (joe-kuo-6.txt), for 20000 dimensions.
//!
//! Bit `k` of the Gray code of an index selects vector `k`. Vectors of 64 bits continue the same
//! recurrence, so the upper half of a 64-bit vector is the 32-bit one.

use std::sync::OnceLock;

/// Maximum number of dimensions, limited by the direction numbers.
pub const MAX_SOBOL_DIMENSIONS: usize = 20_000;

const JOE_KUO_DATA: &[u8] = include_bytes!("joe-kuo-6.bin");

struct BitReader {
    at: usize,
}

impl BitReader {
    fn read_bits(&mut self, count: usize) -> u64 {
        let bit = |at: usize| u64::from(JOE_KUO_DATA[at / 8] >> (at % 8) & 1);
        let value = (0..count).map(|k| bit(self.at + k) << k).sum();
        self.at += count;
        value
    }
}

/// The 64 vectors of every dimension.
fn direction_vectors() -> &'static [[u64; 64]] {
    static DIRECTION_VECTORS: OnceLock<Vec<[u64; 64]>> = OnceLock::new();
    DIRECTION_VECTORS.get_or_init(|| {
        let mut bits = BitReader { at: 0 };
        let first = std::array::from_fn(|k| 1u64 << (63 - k));
        std::iter::once(first).chain((1..MAX_SOBOL_DIMENSIONS).map(|_| compute_direction_vectors(&mut bits))).collect()
    })
}

/// The recurrence of Bratley and Fox: v_k = v_(k-s) ^ v_(k-s) >> s ^ those that the polynomial selects.
fn compute_direction_vectors(bits: &mut BitReader) -> [u64; 64] {
    let degree = bits.read_bits(5) as usize;
    let inner = bits.read_bits(degree - 1);
    let mut v = [0u64; 64];
    for (k, slot) in v.iter_mut().enumerate().take(degree) {
        *slot = (bits.read_bits(k) << 1 | 1) << (63 - k);
    }
    for k in degree..64 {
        v[k] = v[k - degree] ^ (v[k - degree] >> degree);
        for j in 1..degree {
            if inner >> (degree - 1 - j) & 1 == 1 {
                v[k] ^= v[k - j];
            }
        }
    }
    v
}

/// The 32-bit direction vectors of `count` dimensions; beyond the last dimension they repeat.
pub fn direction_vectors_32(count: usize) -> Vec<u32> {
    (0..count)
        .flat_map(|d| direction_vectors()[d % MAX_SOBOL_DIMENSIONS].iter().take(32).map(|v| (v >> 32) as u32))
        .collect()
}

/// The 64-bit direction vectors of `count` dimensions; beyond the last dimension they repeat.
pub fn direction_vectors_64(count: usize) -> Vec<u64> {
    (0..count).flat_map(|d| direction_vectors()[d % MAX_SOBOL_DIMENSIONS]).collect()
}

/// Scramble constants for `count` dimensions: words of Philox, the same in every version.
pub fn scramble_constants(count: usize) -> Vec<u64> {
    let word = |d: usize| super::philox::philox4x32([d as u32, 0, 0, 0x0050_b01e], [0x5c4a_3b1e, 0]);
    (0..count)
        .map(|d| u64::from(word(d % MAX_SOBOL_DIMENSIONS)[0]) << 32 | u64::from(word(d % MAX_SOBOL_DIMENSIONS)[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points 0..8 of the first dimensions as in the tables of Joe and Kuo's paper, in Gray code order.
    #[test]
    fn first_points_match_joe_and_kuo() {
        let v = direction_vectors_32(3);
        let point = |d: usize, index: u32| {
            let gray = index ^ (index >> 1);
            let x = (0..32).filter(|k| gray >> k & 1 == 1).fold(0u32, |x, k| x ^ v[32 * d + k]);
            f64::from(x) / 2f64.powi(32)
        };
        let points = |d| (0..8).map(|i| point(d, i)).collect::<Vec<_>>();
        assert_eq!(points(0), [0.0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125]);
        assert_eq!(points(1), [0.0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625]);
        assert_eq!(points(2), [0.0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375]);
    }

    /// Every 2^k points of a dimension hit each interval of length 2^-k once: the matrix is triangular.
    #[test]
    fn direction_data_is_fully_used_and_matrices_are_triangular() {
        let used = direction_vectors().len();
        assert_eq!(used, MAX_SOBOL_DIMENSIONS);
        for v in direction_vectors() {
            assert!((0..64).all(|k| v[k] >> (63 - k) & 1 == 1 && v[k] << k << 1 == 0 || k == 63));
        }
        let mut bits = BitReader { at: 0 };
        for _ in 1..MAX_SOBOL_DIMENSIONS {
            compute_direction_vectors(&mut bits);
        }
        assert_eq!(bits.at.div_ceil(8), JOE_KUO_DATA.len());
    }
}
