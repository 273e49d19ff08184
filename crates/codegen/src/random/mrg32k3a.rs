//! MRG32k3a after P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive
//! random number generators" (Operations Research 47, 1999), with seeds as cuRAND defines them.
//! Subsequences are 2^76 numbers apart, sequences 2^127.

/// The last three values of both components, oldest first.
pub type MrgState = [u32; 6];

type MrgMatrix = [[u64; 3]; 3];

/// Modulus of the first component.
pub const MODULUS_1: u64 = 4_294_967_087;
/// Modulus of the second component.
pub const MODULUS_2: u64 = 4_294_944_443;

const TRANSITION_1: MrgMatrix = [[0, 1, 0], [0, 0, 1], [MODULUS_1 - 810_728, 1_403_580, 0]];
const TRANSITION_2: MrgMatrix = [[0, 1, 0], [0, 0, 1], [MODULUS_2 - 1_370_589, 0, 527_612]];

/// Returns the next number, in 1..=M1, and advances the state.
pub fn next_output(state: &mut MrgState) -> u64 {
    let row = |a: &[u64; 3], s: &[u32], m: u64| (0..3).map(|k| a[k] * u64::from(s[k]) % m).sum::<u64>() % m;
    let (p1, p2) = (row(&TRANSITION_1[2], &state[..3], MODULUS_1), row(&TRANSITION_2[2], &state[3..], MODULUS_2));
    *state = [state[1], state[2], p1 as u32, state[4], state[5], p2 as u32];
    if p1 > p2 { p1 - p2 } else { p1 + MODULUS_1 - p2 }
}

/// The initial state for a seed; 0 means L'Ecuyer's own initial state, 12345 six times.
pub fn state_from_seed(seed: u64) -> MrgState {
    if seed == 0 {
        return [12345; 6];
    }
    let (x, y) = (u64::from(seed as u32 ^ 0x5555_5555), u64::from((seed >> 32) as u32 ^ 0xAAAA_AAAA));
    let times = |factor: u64, m: u64| (12345 * factor % m) as u32;
    [
        times(x, MODULUS_1),
        times(y, MODULUS_1),
        times(x, MODULUS_1),
        times(y, MODULUS_2),
        times(x, MODULUS_2),
        times(y, MODULUS_2),
    ]
}

fn multiply_matrices(a: &MrgMatrix, b: &MrgMatrix, m: u64) -> MrgMatrix {
    let entry = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j] % m).sum::<u64>() % m;
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// `a` to the power `count * 2^shift`.
fn matrix_power(a: &MrgMatrix, count: u64, shift: u32, m: u64) -> MrgMatrix {
    let mut base = *a;
    for _ in 0..shift {
        base = multiply_matrices(&base, &base, m);
    }
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut rest = count;
    while rest > 0 {
        if rest & 1 == 1 {
            result = multiply_matrices(&result, &base, m);
        }
        base = multiply_matrices(&base, &base, m);
        rest >>= 1;
    }
    result
}

fn apply_matrix(a: &MrgMatrix, s: &[u32], m: u64) -> [u32; 3] {
    std::array::from_fn(|i| ((0..3).map(|k| a[i][k] * u64::from(s[k]) % m).sum::<u64>() % m) as u32)
}

fn apply_transition_matrices(state: &mut MrgState, matrices: &(MrgMatrix, MrgMatrix)) {
    let (first, second) =
        (apply_matrix(&matrices.0, &state[..3], MODULUS_1), apply_matrix(&matrices.1, &state[3..], MODULUS_2));
    state[..3].copy_from_slice(&first);
    state[3..].copy_from_slice(&second);
}

/// Advances states by `count * 2^shift` numbers: shift 0, 76 (subsequences) or 127 (sequences).
pub fn skip_ahead_states<'a>(states: impl Iterator<Item = &'a mut MrgState>, count: u64, shift: u32) {
    let matrices =
        (matrix_power(&TRANSITION_1, count, shift, MODULUS_1), matrix_power(&TRANSITION_2, count, shift, MODULUS_2));
    states.for_each(|state| apply_transition_matrices(state, &matrices));
}

/// The states of subsequences 0, 1, 2, ... with these seeds, each advanced by `offset` numbers.
pub fn subsequence_states(seeds: &[u64], offset: u64) -> Vec<MrgState> {
    let mut all: Vec<MrgState> = seeds.iter().map(|&seed| state_from_seed(seed)).collect();
    for bit in 0..32 {
        if all.len() >> bit == 0 {
            break;
        }
        let with_bit = all.iter_mut().enumerate().filter(|(k, _)| k >> bit & 1 == 1).map(|(_, state)| state);
        skip_ahead_states(with_bit, 1 << bit, 76);
    }
    skip_ahead_states(all.iter_mut(), offset, 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of L'Ecuyer's RngStreams with its default seed.
    #[test]
    fn output_matches_lecuyer_reference() {
        let mut state = state_from_seed(0);
        for expected in
            [0.127_011_122_046_577_14, 0.318_527_565_396_794_5, 0.309_186_015_583_270_1, 0.825_846_862_927_113_6]
        {
            let u = next_output(&mut state) as f64 / (MODULUS_1 + 1) as f64;
            assert!((u - expected).abs() < 1e-15, "{u} {expected}");
        }
    }

    #[test]
    fn skipping_ahead_equals_single_steps() {
        let mut stepped = state_from_seed(99);
        for _ in 0..1234 {
            next_output(&mut stepped);
        }
        let mut skipped = [state_from_seed(99)];
        skip_ahead_states(skipped.iter_mut(), 1234, 0);
        assert_eq!(stepped, skipped[0]);
        let mut far = [state_from_seed(99)];
        skip_ahead_states(far.iter_mut(), 3, 76);
        assert_eq!(subsequence_states(&[99; 4], 0)[3], far[0]);
    }
}
