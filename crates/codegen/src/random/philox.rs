//! Philox 4x32-10 and Threefry 4x32-20 on the host, after J. Salmon, M. Moraes, R. Dror and D. Shaw,
//! "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011). The kernels contain the same functions.

/// Ten rounds of Philox.
pub fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (a, b) = (0xD251_1F53 * u64::from(counter[0]), 0xCD9E_8D57 * u64::from(counter[2]));
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

/// Twenty rounds of Threefry.
pub fn threefry4x32(counter: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    const ROTATIONS: [[u32; 2]; 8] = [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]];
    let ks = [key[0], key[1], key[2], key[3], 0x1BD1_1BDA ^ key[0] ^ key[1] ^ key[2] ^ key[3]];
    let mut x: [u32; 4] = std::array::from_fn(|k| counter[k].wrapping_add(ks[k]));
    for round in 0..20 {
        let [r0, r1] = ROTATIONS[round % 8];
        let (first, second) = if round % 2 == 0 { (1, 3) } else { (3, 1) };
        x[0] = x[0].wrapping_add(x[first]);
        x[first] = x[first].rotate_left(r0) ^ x[0];
        x[2] = x[2].wrapping_add(x[second]);
        x[second] = x[second].rotate_left(r1) ^ x[2];
        if round % 4 == 3 {
            let s = round / 4 + 1;
            for (k, word) in x.iter_mut().enumerate() {
                *word = word.wrapping_add(ks[(k + s) % 5]);
            }
            x[3] = x[3].wrapping_add(s as u32);
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    const PI_DIGITS: [u32; 8] =
        [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89];

    /// From the file `kat_vectors` of the Random123 distribution.
    #[test]
    fn output_matches_known_answers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox4x32([!0; 4], [!0; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        let counter = [PI_DIGITS[0], PI_DIGITS[1], PI_DIGITS[2], PI_DIGITS[3]];
        assert_eq!(philox4x32(counter, [PI_DIGITS[4], PI_DIGITS[5]]), [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]);
        assert_eq!(threefry4x32([0; 4], [0; 4]), [0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8]);
        assert_eq!(threefry4x32([!0; 4], [!0; 4]), [0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732]);
        assert_eq!(
            threefry4x32(counter, [PI_DIGITS[4], PI_DIGITS[5], PI_DIGITS[6], PI_DIGITS[7]]),
            [0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84]
        );
    }
}
