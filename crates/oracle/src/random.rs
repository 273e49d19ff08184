//! Random numbers that are the same for the same seed everywhere (SplitMix64).

/// A generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d);
        random.next_word();
        random
    }

    /// 64 random bits.
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when there is none.
    pub fn next_below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next_word() % n as u64) as usize }
    }

    /// True in one of `n` cases.
    pub fn chance_one_in(&mut self, n: usize) -> bool {
        self.next_below(n) == 0
    }

    /// An index of `weights`, in proportion to them.
    pub fn weighted_index(&mut self, weights: &[u32]) -> usize {
        let mut at = self.next_below(weights.iter().sum::<u32>() as usize) as u32;
        weights
            .iter()
            .position(|&w| {
                at < w || {
                    at -= w;
                    false
                }
            })
            .unwrap_or(0)
    }

    /// Bits that programs stumble over: small numbers, powers of two, edges of formats, noise.
    pub fn edge_case_bits(&mut self, bits: u32) -> u64 {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let word = self.next_word();
        let value = match self.next_below(10) {
            0 => word % 5,
            1 => (word % 5).wrapping_neg(),
            2 => 1 << (word % u64::from(bits)),
            3 => (1u64 << (word % u64::from(bits))).wrapping_sub(1),
            4 => word % 256,
            5 => self.edge_case_float(bits),
            6 => self.edge_case_float(16) << 16 | self.edge_case_float(16),
            7 => self.edge_case_float(32) << 32 | self.edge_case_float(32),
            _ => word,
        };
        value & mask
    }

    /// Bits of a float: special values and ones near each other.
    fn edge_case_float(&mut self, bits: u32) -> u64 {
        const F16_EDGE_CASES: &[u64] =
            &[0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7bff, 1, 0x8001, 0x3ff, 0x400, 0x3f80, 0x4000];
        const F32_EDGE_CASES: &[u64] = &[
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0001,
            0x7f7f_ffff,
            1,
            0x8000_0001,
            0x7f_ffff,
            0x80_0000,
            0x8080_0000,
            0x4f00_0000,
            0xcf00_0000,
            0x4f80_0000,
            0x3f7f_ffff,
            0x3f80_0001,
            0x4b80_0000,
            0x3f00_0000,
            0x4000_0000,
        ];
        const F64_EDGE_CASES: &[u64] = &[
            0,
            1 << 63,
            0x3ff0 << 48,
            0xbff0 << 48,
            0x7ff0 << 48,
            0xfff0 << 48,
            0x7ff8_0000_0000_0001,
            0x7fef_ffff_ffff_ffff,
            1,
            0x0010 << 48,
            0x000f_ffff_ffff_ffff,
            0x41e0 << 48,
            0xc1e0 << 48,
            0x43f0 << 48,
            0x3fe0 << 48,
            0x4340 << 48,
            0x47ef_ffff_f000_0000,
        ];
        let word = self.next_word();
        let (list, one, frac) = match bits {
            16 => (F16_EDGE_CASES, 0x3c00, 10),
            32 => (F32_EDGE_CASES, 0x3f80_0000, 23),
            _ => (F64_EDGE_CASES, 0x3ff0 << 48, 52),
        };
        match self.next_below(3) {
            0 => list[self.next_below(list.len())],
            // A number of moderate size with few or many digits.
            1 => {
                let exponent = (word >> 8) % 12;
                let digits = word >> 20 & ((1 << frac) - 1);
                let digits = if word & 1 == 0 { digits } else { digits >> (frac - 3) << (frac - 3) };
                let sign = (word >> 1 & 1) << (bits - 1);
                (one + (exponent << frac) - (6 << frac) + digits) | sign
            }
            _ => word,
        }
    }
}
