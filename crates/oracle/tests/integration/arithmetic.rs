//! The exact arithmetic against second methods: the processor's, and a search through all numbers
//! of small formats.

use rtcg_oracle::Random;
use rtcg_oracle::exact_rounding::{
    BF16, DecodedFloat, E4M3, E5M2, ExactMagnitude, F16, F32, F64, FloatFormat, RoundingMode, decode_float,
    round_to_format,
};
use rtcg_oracle::float::{ArithOp, execute_arithmetic};
use rtcg_ptx::ast::{FpMods, Rounding};

fn execute_with_rounding(op: ArithOp, f: FloatFormat, rnd: Rounding, x: [u64; 3]) -> u64 {
    execute_arithmetic(op, f, &FpMods { rnd, ..FpMods::default() }, x)
}

#[test]
fn nearest_rounding_matches_the_cpu() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let bits = [(); 3].map(|()| random.edge_case_bits(32));
        let [a, b, c] = bits.map(|x| f32::from_bits(x as u32));
        let want = [a + b, a - b, a * b, a / b, a.mul_add(b, c), 1.0 / a, a.sqrt()];
        check_all_operations(F32, bits, want.map(|x| if x.is_nan() { None } else { Some(x.to_bits().into()) }));
        let bits = [(); 3].map(|()| random.edge_case_bits(64));
        let [a, b, c] = bits.map(f64::from_bits);
        let want = [a + b, a - b, a * b, a / b, a.mul_add(b, c), 1.0 / a, a.sqrt()];
        check_all_operations(F64, bits, want.map(|x| if x.is_nan() { None } else { Some(x.to_bits()) }));
    }
}

fn check_all_operations(f: FloatFormat, x: [u64; 3], want: [Option<u64>; 7]) {
    let ops = [ArithOp::Add, ArithOp::Sub, ArithOp::Mul, ArithOp::Div, ArithOp::Fma, ArithOp::Rcp, ArithOp::Sqrt];
    for (op, want) in ops.into_iter().zip(want) {
        let got = execute_with_rounding(op, f, Rounding::Rn, x);
        assert_eq!((!f.is_nan(got)).then_some(got), want, "{op:?} {x:x?}");
    }
}

/// The value of a number of a small format, exactly.
fn exact_value(f: FloatFormat, bits: u64) -> Option<f64> {
    match decode_float(f, bits) {
        DecodedFloat::Finite { negative, n, exp } => {
            Some(if negative { -1.0 } else { 1.0 } * n as f64 * 2f64.powi(exp as i32))
        }
        _ => None,
    }
}

/// The neighbours of a number in a format by looking at all its numbers, which are given in order:
/// the next below or equal, and the next above or equal.
fn adjacent_values(all: &[(f64, u64)], x: f64) -> [Option<(f64, u64)>; 2] {
    let above = all.partition_point(|v| v.0 < x);
    let below = all.partition_point(|v| v.0 <= x).checked_sub(1);
    [below.map(|i| all[i]), all.get(above).copied()]
}

#[test]
fn small_formats_round_to_adjacent_numbers() {
    let mut random = Random::new(2);
    for f in [F16, BF16, E4M3, E5M2] {
        let mut all: Vec<(f64, u64)> = (0..f.sign_bit()).filter_map(|b| Some((exact_value(f, b)?, b))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        for _ in 0..20_000 {
            let x = f64::from(f32::from_bits(random.edge_case_bits(32) as u32)).abs();
            let DecodedFloat::Finite { n, exp, .. } = decode_float(F64, x.to_bits()) else { continue };
            let (exact, [below, above]) = (ExactMagnitude::from_dyadic(n.into(), exp), adjacent_values(&all, x));
            let Some(below) = below else { continue };
            assert_eq!(round_to_format(f, RoundingMode::Zero, false, &exact), below.1, "{x:e}");
            assert_eq!(round_to_format(f, RoundingMode::Up, true, &exact), below.1 | f.sign_bit(), "{x:e}");
            let Some(above) = above else { continue };
            assert_eq!(round_to_format(f, RoundingMode::Up, false, &exact), above.1, "{x:e}");
            assert_eq!(round_to_format(f, RoundingMode::Down, true, &exact), above.1 | f.sign_bit(), "{x:e}");
            // These differences are exact.
            let (down, up) = (x - below.0, above.0 - x);
            let (even, far) = (if below.1 % 2 == 0 { below } else { above }, above);
            let nearest = if down < up {
                below
            } else if up < down {
                above
            } else {
                even
            };
            assert_eq!(round_to_format(f, RoundingMode::Nearest, false, &exact), nearest.1, "{x:e}");
            let away = if down < up { below } else { far };
            assert_eq!(round_to_format(f, RoundingMode::Away, false, &exact), away.1, "{x:e}");
        }
    }
}

#[test]
fn directed_rounding_encloses_the_exact_result() {
    let mut random = Random::new(3);
    for _ in 0..20_000 {
        let x = [(); 3].map(|()| random.edge_case_bits(32));
        for op in [ArithOp::Add, ArithOp::Mul, ArithOp::Div, ArithOp::Fma, ArithOp::Sqrt] {
            let of = |rnd| f32::from_bits(execute_with_rounding(op, F32, rnd, x) as u32);
            let (down, near, up, zero) = (of(Rounding::Rm), of(Rounding::Rn), of(Rounding::Rp), of(Rounding::Rz));
            if near.is_nan() {
                continue;
            }
            assert!(down <= near && near <= up && (down == up || down.next_up() == up), "{op:?} {x:x?}");
            assert_eq!(zero.abs(), down.abs().min(up.abs()), "{op:?} {x:x?}");
        }
    }
}

#[test]
fn overflow_follows_the_rounding_direction() {
    let largest = u64::from(f32::MAX.to_bits());
    let infinity = F32.infinity();
    let sum = |rnd| execute_with_rounding(ArithOp::Add, F32, rnd, [largest, largest, 0]);
    assert_eq!(
        [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp].map(sum),
        [infinity, largest, largest, infinity]
    );
    let far = ExactMagnitude::from_dyadic(1, 100);
    assert_eq!(round_to_format(E4M3, RoundingMode::Nearest, false, &far), 0x7e);
    assert_eq!(round_to_format(F16, RoundingMode::Down, true, &far), 0xfc00);
}
