//! Fourier transforms of arrays with a static element type, against sums on the host.

use crate::test_depth::at_depth;
use num_complex::Complex;
use rtcg::array::{ArrayErrorKind, MAX_FFT_TABLE_BYTES, clear_fft_tables, fft_table_bytes};
use rtcg::prelude::*;
use rtcg::{Context, Error};
use std::f64::consts::PI;

fn array_factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

/// Numbers without a pattern, in -1 to 1.
fn random_complex(count: usize) -> Vec<Complex<f64>> {
    let mut state = 12345u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

/// The transform by its definition.
fn naive_dft(x: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let n = x.len();
    let root = |e: usize| Complex::from_polar(1.0, -2.0 * PI * (e % n) as f64 / n as f64);
    (0..n).map(|k| (0..n).map(|j| x[j] * root(j * k)).sum()).collect()
}

/// The error in the square mean, relative to the size of `expected`.
fn relative_rms_error(actual: &[Complex<f64>], expected: &[Complex<f64>]) -> f64 {
    assert_eq!(actual.len(), expected.len());
    let size = |z: &mut dyn Iterator<Item = Complex<f64>>| z.map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let error = size(&mut actual.iter().zip(expected).map(|(a, b)| a - b));
    error / size(&mut expected.iter().copied())
}

fn to_complex128(x: &[Complex<f32>]) -> Vec<Complex<f64>> {
    x.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect()
}

#[test]
fn ffts_match_naive_dfts() {
    let arrays = array_factory();
    // Butterflies alone, stages, guarded threads, convolutions.
    for &n in at_depth(&[1, 13, 210, 386][..], &[1, 2, 13, 64, 210, 17, 386, 1024]) {
        let x = random_complex(n);
        let device = arrays.from_slice(&x).unwrap();
        let there = device.fft(&[0]).unwrap();
        assert!(relative_rms_error(&there.to_vec().unwrap(), &naive_dft(&x)) < 1e-14, "{n}");
        assert!(relative_rms_error(&there.ifft(&[-1]).unwrap().to_vec().unwrap(), &x) < 1e-14, "{n}");
        let narrow: Vec<_> = x.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
        let exact = naive_dft(&to_complex128(&narrow));
        let single = arrays.from_slice(&narrow).unwrap().fft(&[0]).unwrap();
        assert!(relative_rms_error(&to_complex128(&single.to_vec().unwrap()), &exact) < 2e-6, "{n}");
    }
}

#[test]
fn real_ffts_have_half_the_coefficients() {
    let arrays = array_factory();
    for &n in at_depth(&[1, 16, 34, 1000][..], &[1, 2, 15, 16, 34, 1000]) {
        let real: Vec<f64> = random_complex(n).iter().map(|z| z.re).collect();
        let exact = naive_dft(&real.iter().map(|&re| Complex::new(re, 0.0)).collect::<Vec<_>>());
        let device = arrays.from_slice(&real).unwrap();
        let half = device.rfft(0).unwrap();
        assert!(relative_rms_error(&half.to_vec().unwrap(), &exact[..n / 2 + 1]) < 1e-14, "{n}");
        let back = half.irfft(0, n).unwrap().to_vec().unwrap();
        assert!(back.iter().zip(&real).all(|(a, b)| (a - b).abs() < 1e-14 * n as f64), "{n}");
    }
}

#[test]
fn long_and_multi_axis_ffts_round_trip() {
    let arrays = array_factory();
    let x = random_complex(3 * 8192);
    let device = arrays.from_shape_and_values(&[3, 64, 128], &x).unwrap();
    let over_two = device.fft(&[1, 2]).unwrap();
    // The coefficient of frequency 0 is the sum.
    let sum: Complex<f64> = x[..8192].iter().sum();
    assert!((over_two.to_vec().unwrap()[0] - sum).norm() < 1e-10);
    assert!(relative_rms_error(&over_two.ifft(&[2, 1]).unwrap().to_vec().unwrap(), &x) < 1e-14);
    let long = arrays.from_slice(&x).unwrap().fft(&[0]).unwrap();
    let one = dft_coefficient(&x, 777);
    assert!((long.to_vec().unwrap()[777] - one).norm() < 1e-10);
    assert!(relative_rms_error(&long.ifft(&[0]).unwrap().to_vec().unwrap(), &x) < 1e-14);
}

fn dft_coefficient(x: &[Complex<f64>], k: usize) -> Complex<f64> {
    let n = x.len();
    (0..n).map(|j| x[j] * Complex::from_polar(1.0, -2.0 * PI * (j * k % n) as f64 / n as f64)).sum()
}

#[test]
fn cached_fft_tables_stay_within_their_limit() {
    let arrays = array_factory();
    let ctx = arrays.array_context();
    let device = arrays.zeros::<Complex<f32>>(&[2 * 1009]).unwrap();
    assert_eq!(fft_table_bytes(ctx), 0);
    device.fft(&[0]).unwrap();
    let kept = fft_table_bytes(ctx);
    assert!((1..=MAX_FFT_TABLE_BYTES).contains(&kept));
    device.fft(&[0]).unwrap();
    assert_eq!(fft_table_bytes(ctx), kept);
    clear_fft_tables(ctx);
    assert_eq!(fft_table_bytes(ctx), 0);
    device.fft(&[0]).unwrap().to_vec().unwrap();
    assert_eq!(fft_table_bytes(ctx), kept);
}

#[test]
fn invalid_fft_arguments_are_reported() {
    let arrays = array_factory();
    let kind = |error: Error| match error {
        Error::Array(error) => error.kind(),
        other => panic!("{other}"),
    };
    let a = arrays.zeros::<Complex<f32>>(&[2, 4]).unwrap();
    assert_eq!(kind(a.fft(&[2]).unwrap_err()), ArrayErrorKind::Axis);
    assert_eq!(kind(a.irfft(1, 0).unwrap_err()), ArrayErrorKind::Value);
    let none = arrays.zeros::<f64>(&[2, 0]).unwrap();
    let message = none.rfft(1).unwrap_err().to_string();
    assert!(message.contains("Invalid number of FFT data points (0) specified"), "{message}");
}
