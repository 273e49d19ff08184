//! XORWOW after G. Marsaglia, "Xorshift RNGs" (2003), with seeds, subsequences and skips as cuRAND defines them:
//! subsequences are 2^67 numbers apart.

use std::sync::OnceLock;

/// Five words of shift register, then the Weyl counter.
pub type XorwowState = [u32; 6];

type ShiftRegister = [u32; 5];
/// Row k is where bit k of the register goes.
type BitMatrix = Vec<ShiftRegister>;

const WEYL_INCREMENT: u32 = 362_437;
/// Powers of two of the step that are prepared: skips of 64 bits, and 2^32 subsequences.
const N_STEP_MATRIX_POWERS: usize = 67 + 32;

fn step_shift_register(v: ShiftRegister) -> ShiftRegister {
    let t = v[0] ^ (v[0] >> 2);
    [v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)]
}

/// Returns the next number and advances the state.
pub fn next_output(state: &mut XorwowState) -> u32 {
    let [a, b, c, d, e, weyl] = *state;
    let v = step_shift_register([a, b, c, d, e]);
    *state = [v[0], v[1], v[2], v[3], v[4], weyl.wrapping_add(WEYL_INCREMENT)];
    v[4].wrapping_add(state[5])
}

/// The initial state for a seed.
pub fn state_from_seed(seed: u64) -> XorwowState {
    let t0 = (seed as u32 ^ 0xaad2_6b49).wrapping_mul(1_099_087_573);
    let t1 = ((seed >> 32) as u32 ^ 0xf7dc_efdd).wrapping_mul(2_591_861_531);
    [
        123_456_789u32.wrapping_add(t0),
        362_436_069 ^ t0,
        521_288_629u32.wrapping_add(t1),
        88_675_123 ^ t1,
        5_783_321u32.wrapping_add(t0),
        6_615_241u32.wrapping_add(t1).wrapping_add(t0),
    ]
}

fn apply_matrix(matrix: &BitMatrix, v: ShiftRegister) -> ShiftRegister {
    let mut out = [0; 5];
    for (w, word) in v.iter().enumerate() {
        let mut bits = *word;
        while bits != 0 {
            let row = &matrix[32 * w + bits.trailing_zeros() as usize];
            for k in 0..5 {
                out[k] ^= row[k];
            }
            bits &= bits - 1;
        }
    }
    out
}

/// The step taken 2^k times, for each k.
fn step_matrix_powers() -> &'static [BitMatrix] {
    static STEP_MATRIX_POWERS: OnceLock<Vec<BitMatrix>> = OnceLock::new();
    STEP_MATRIX_POWERS.get_or_init(|| {
        let unit = |bit: usize| std::array::from_fn(|w| if w == bit / 32 { 1u32 << (bit % 32) } else { 0 });
        let mut all: Vec<BitMatrix> = vec![(0..160).map(|bit| step_shift_register(unit(bit))).collect()];
        for k in 1..N_STEP_MATRIX_POWERS {
            let last = &all[k - 1];
            let square = last.iter().map(|row| apply_matrix(last, *row)).collect();
            all.push(square);
        }
        all
    })
}

/// Moves a state by `count * 2^shift` steps.
fn advance_state(state: &mut XorwowState, count: u64, shift: usize) {
    let mut v = [state[0], state[1], state[2], state[3], state[4]];
    for bit in (0..64).filter(|bit| count >> bit & 1 == 1) {
        if let Some(matrix) = step_matrix_powers().get(shift + bit) {
            v = apply_matrix(matrix, v);
        }
    }
    state[..5].copy_from_slice(&v);
}

/// Skips `count` numbers.
pub fn skip_outputs(state: &mut XorwowState, count: u64) {
    advance_state(state, count, 0);
    state[5] = state[5].wrapping_add(WEYL_INCREMENT.wrapping_mul(count as u32));
}

/// Skips `count` subsequences of 2^67 numbers; `count` must fit in 32 bits.
pub fn skip_subsequences(state: &mut XorwowState, count: u64) {
    advance_state(state, count & 0xffff_ffff, 67);
}

/// The states of subsequences 0, 1, 2, ... with these seeds, each advanced by `offset` numbers.
pub fn subsequence_states(seeds: &[u64], offset: u64) -> Vec<XorwowState> {
    let mut all: Vec<XorwowState> = Vec::with_capacity(seeds.len());
    for (k, &seed) in seeds.iter().enumerate() {
        let mut state = match all.last() {
            // The next subsequence of the same seed is one jump away; offsets are added at the end.
            Some(last) if seeds[k - 1] == seed => {
                let mut state = *last;
                skip_subsequences(&mut state, 1);
                state
            }
            _ => {
                let mut state = state_from_seed(seed);
                skip_subsequences(&mut state, k as u64);
                state
            }
        };
        state[5] = state_from_seed(seed)[5];
        all.push(state);
    }
    if offset != 0 {
        all.iter_mut().for_each(|state| skip_outputs(state, offset));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start values of Marsaglia's paper, and its generator written as there.
    #[test]
    fn output_matches_marsaglia_reference() {
        let mut state = [123_456_789, 362_436_069, 521_288_629, 88_675_123, 5_783_321, 6_615_241];
        let (mut x, mut y, mut z, mut w, mut v, mut d) =
            (123_456_789u32, 362_436_069u32, 521_288_629u32, 88_675_123u32, 5_783_321u32, 6_615_241u32);
        for _ in 0..1000 {
            let t = x ^ (x >> 2);
            (x, y, z, w) = (y, z, w, v);
            v = (v ^ (v << 4)) ^ (t ^ (t << 1));
            d = d.wrapping_add(362_437);
            assert_eq!(next_output(&mut state), d.wrapping_add(v));
        }
    }

    #[test]
    fn skipping_ahead_equals_single_steps() {
        for count in [0u64, 1, 2, 63, 1000, 4097] {
            let (mut stepped, mut skipped) = (state_from_seed(42), state_from_seed(42));
            for _ in 0..count {
                next_output(&mut stepped);
            }
            skip_outputs(&mut skipped, count);
            assert_eq!(stepped, skipped, "{count}");
        }
        let (mut a, mut b) = (state_from_seed(7), state_from_seed(7));
        skip_subsequences(&mut a, 5);
        // Sixteen times 2^63 is one subsequence.
        (0..5 * 16).for_each(|_| skip_outputs(&mut b, 1 << 63));
        b[5] = a[5];
        assert_eq!(a, b);
        let both = subsequence_states(&[9, 9, 3], 11);
        let mut second = state_from_seed(9);
        skip_subsequences(&mut second, 1);
        skip_outputs(&mut second, 11);
        assert_eq!(both[1], second);
    }
}
