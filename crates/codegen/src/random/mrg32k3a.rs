//! MRG32k3a after P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive
//! random number generators" (Operations Research 47, 1999), with seeds as cuRAND defines them.
//! Subsequences lie 2^76 numbers apart, sequences 2^127.

/// The last three values of either component, oldest first.
pub type State = [u32; 6];

type Matrix = [[u64; 3]; 3];

/// Modulus of the first component.
pub const M1: u64 = 4_294_967_087;
/// Modulus of the second component.
pub const M2: u64 = 4_294_944_443;

const A1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
const A2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];

/// The next number, in 1..=M1; moves the state on.
pub fn next(state: &mut State) -> u64 {
    let row = |a: &[u64; 3], s: &[u32], m: u64| (0..3).map(|k| a[k] * u64::from(s[k]) % m).sum::<u64>() % m;
    let (p1, p2) = (row(&A1[2], &state[..3], M1), row(&A2[2], &state[3..], M2));
    *state = [state[1], state[2], p1 as u32, state[4], state[5], p2 as u32];
    if p1 > p2 { p1 - p2 } else { p1 + M1 - p2 }
}

/// The state that a seed stands for; 0 means L'Ecuyer's own start, 12345 six times.
pub fn seeded(seed: u64) -> State {
    if seed == 0 {
        return [12345; 6];
    }
    let (x, y) = (u64::from(seed as u32 ^ 0x5555_5555), u64::from((seed >> 32) as u32 ^ 0xAAAA_AAAA));
    let times = |factor: u64, m: u64| (12345 * factor % m) as u32;
    [times(x, M1), times(y, M1), times(x, M1), times(y, M2), times(x, M2), times(y, M2)]
}

fn multiply(a: &Matrix, b: &Matrix, m: u64) -> Matrix {
    let entry = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j] % m).sum::<u64>() % m;
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// `a` to the power `count * 2^shift`.
fn power(a: &Matrix, count: u64, shift: u32, m: u64) -> Matrix {
    let mut base = *a;
    for _ in 0..shift {
        base = multiply(&base, &base, m);
    }
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let mut rest = count;
    while rest > 0 {
        if rest & 1 == 1 {
            result = multiply(&result, &base, m);
        }
        base = multiply(&base, &base, m);
        rest >>= 1;
    }
    result
}

fn apply(a: &Matrix, s: &[u32], m: u64) -> [u32; 3] {
    std::array::from_fn(|i| ((0..3).map(|k| a[i][k] * u64::from(s[k]) % m).sum::<u64>() % m) as u32)
}

fn jump(state: &mut State, matrices: &(Matrix, Matrix)) {
    let (first, second) = (apply(&matrices.0, &state[..3], M1), apply(&matrices.1, &state[3..], M2));
    state[..3].copy_from_slice(&first);
    state[3..].copy_from_slice(&second);
}

/// Moves states by `count * 2^shift` numbers: shift 0, 76 (subsequences) or 127 (sequences).
pub fn skip_all<'a>(states: impl Iterator<Item = &'a mut State>, count: u64, shift: u32) {
    let matrices = (power(&A1, count, shift, M1), power(&A2, count, shift, M2));
    states.for_each(|state| jump(state, &matrices));
}

/// The states of subsequences 0, 1, 2, ... with these seeds, each moved by `offset` numbers.
pub fn states(seeds: &[u64], offset: u64) -> Vec<State> {
    let mut all: Vec<State> = seeds.iter().map(|&seed| seeded(seed)).collect();
    for bit in 0..32 {
        if all.len() >> bit == 0 {
            break;
        }
        let with_bit = all.iter_mut().enumerate().filter(|(k, _)| k >> bit & 1 == 1).map(|(_, state)| state);
        skip_all(with_bit, 1 << bit, 76);
    }
    skip_all(all.iter_mut(), offset, 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of L'Ecuyer's RngStreams with its default seed.
    #[test]
    fn numbers_are_lecuyers() {
        let mut state = seeded(0);
        for expected in
            [0.127_011_122_046_577_14, 0.318_527_565_396_794_5, 0.309_186_015_583_270_1, 0.825_846_862_927_113_6]
        {
            let u = next(&mut state) as f64 / (M1 + 1) as f64;
            assert!((u - expected).abs() < 1e-15, "{u} {expected}");
        }
    }

    #[test]
    fn skipping_is_stepping() {
        let mut stepped = seeded(99);
        for _ in 0..1234 {
            next(&mut stepped);
        }
        let mut skipped = [seeded(99)];
        skip_all(skipped.iter_mut(), 1234, 0);
        assert_eq!(stepped, skipped[0]);
        let mut far = [seeded(99)];
        skip_all(far.iter_mut(), 3, 76);
        assert_eq!(states(&[99; 4], 0)[3], far[0]);
    }
}
