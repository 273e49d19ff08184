//! The approximate functions stay within the bounds of CUDA's documentation (PTX ISA), measured
//! against double precision.

use crate::support::{CompileMode, Random, compile_case, parse_case};
use rtcg_vgpu_jit::ops::EmitShape;

/// A function, the range of its operand and what is allowed there.
struct ErrorBound {
    text: &'static str,
    exact: fn(f64) -> f64,
    range: (f32, f32),
    relative: f64,
    absolute: f64,
}

const fn error_bound(
    text: &'static str,
    exact: fn(f64) -> f64,
    range: (f32, f32),
    relative: f64,
    absolute: f64,
) -> ErrorBound {
    ErrorBound { text, exact, range, relative, absolute }
}

const TWO_POW_MINUS_20_9: f64 = 5.1e-7; // 2^-20.9
const TWO_POW_MINUS_22: f64 = 2.384e-7; // 2^-22
const TWO_POW_MINUS_22_5: f64 = 1.685e-7; // 2^-22.5
const TWO_POW_MINUS_22_9: f64 = 1.277e-7; // 2^-22.9
const TWO_POW_MINUS_23: f64 = 1.193e-7; // 2^-23

const ERROR_BOUNDS: [ErrorBound; 17] = [
    error_bound("ex2.approx.f32", f64::exp2, (-125.9, 127.9), TWO_POW_MINUS_22_5, 0.0),
    error_bound("ex2.approx.ftz.f32", f64::exp2, (-1.0, 1.0), TWO_POW_MINUS_22_5, 0.0),
    error_bound("ex2.approx.f32", f64::exp2, (-149.0, -126.0), 0.0, 1.5e-45),
    error_bound("lg2.approx.f32", f64::log2, (0.5, 2.0), 0.0, TWO_POW_MINUS_22),
    error_bound("lg2.approx.f32", f64::log2, (2.0, 3e38), TWO_POW_MINUS_22, 0.0),
    error_bound("lg2.approx.f32", f64::log2, (1e-44, 0.5), TWO_POW_MINUS_22, 0.0),
    error_bound("lg2.approx.ftz.f32", f64::log2, (0.9, 1.1), 1e-6, TWO_POW_MINUS_22),
    error_bound("sin.approx.f32", f64::sin, (-std::f32::consts::PI, std::f32::consts::PI), 0.0, TWO_POW_MINUS_20_9),
    error_bound("sin.approx.ftz.f32", f64::sin, (-6.3, 6.3), 0.0, 6.75e-7),
    error_bound("sin.approx.f32", f64::sin, (-10000.0, 10000.0), 0.0, 1e-6),
    error_bound("cos.approx.f32", f64::cos, (-6.3, 6.3), 0.0, TWO_POW_MINUS_20_9),
    error_bound("cos.approx.f32", f64::cos, (-10000.0, 10000.0), 0.0, 1e-6),
    error_bound("tanh.approx.f32", f64::tanh, (-12.0, 12.0), 4.8e-4, 0.0),
    error_bound("rcp.approx.f32", f64::recip, (1e-37, 1e37), TWO_POW_MINUS_23, 0.0),
    error_bound("rsqrt.approx.f32", |x| 1.0 / x.sqrt(), (1e-40, 3e38), TWO_POW_MINUS_22_9, 0.0),
    error_bound("sqrt.approx.f32", f64::sqrt, (1e-40, 3e38), TWO_POW_MINUS_23, 0.0),
    error_bound("rcp.approx.ftz.f32", f64::recip, (-10.0, -0.1), TWO_POW_MINUS_23, 0.0),
];

/// Operands spread over the range, evenly in value or, for positive wide ranges, in exponent.
fn operands_in_range(range: (f32, f32), n: usize) -> Vec<Vec<u64>> {
    let mut random = Random(12345);
    let (low, high) = range;
    (0..n)
        .map(|_| {
            let x = if low > 0.0 && high / low > 100.0 {
                f32::from_bits(low.to_bits() + (random.next() % u64::from(high.to_bits() - low.to_bits())) as u32)
            } else {
                let unit = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
                (f64::from(low) + (f64::from(high) - f64::from(low)) * unit) as f32
            };
            vec![u64::from(x.to_bits())]
        })
        .collect()
}

#[test]
fn errors_are_within_bounds() {
    for b in &ERROR_BOUNDS {
        let case = parse_case(&format!("{} %r0, %r1;", b.text));
        let tuples = operands_in_range(b.range, 200_000);
        for shape in [EmitShape::Scalar, EmitShape::Chunk] {
            let results = compile_case(&case, shape, CompileMode::Direct, "none").run_tuples(&tuples);
            for (x, r) in tuples.iter().zip(&results) {
                let (x, got) = (f32::from_bits(x[0] as u32), f64::from(f32::from_bits(r[0] as u32)));
                let want = (b.exact)(f64::from(x));
                let allowed = b.absolute.max(b.relative * want.abs());
                assert!((got - want).abs() <= allowed, "{} of {x:e} is {got:e}, not {want:e}", b.text);
            }
        }
    }
}

/// Results that CUDA's documentation gives in tables.
#[test]
fn special_values() {
    let cases: [(&str, f32, f32); 32] = [
        ("ex2.approx.f32", f32::NEG_INFINITY, 0.0),
        ("ex2.approx.f32", f32::INFINITY, f32::INFINITY),
        ("ex2.approx.f32", 0.0, 1.0),
        ("ex2.approx.f32", -0.0, 1.0),
        ("ex2.approx.f32", 128.0, f32::INFINITY),
        ("ex2.approx.f32", -1000.0, 0.0),
        ("ex2.approx.f32", 10.0, 1024.0),
        ("ex2.approx.f32", f32::NAN, f32::NAN),
        ("lg2.approx.f32", 0.0, f32::NEG_INFINITY),
        ("lg2.approx.f32", -0.0, f32::NEG_INFINITY),
        ("lg2.approx.f32", -1.0, f32::NAN),
        ("lg2.approx.f32", f32::INFINITY, f32::INFINITY),
        ("lg2.approx.f32", 1.0, 0.0),
        ("lg2.approx.f32", 8.0, 3.0),
        ("lg2.approx.f32", f32::NAN, f32::NAN),
        ("lg2.approx.ftz.f32", 1e-40, f32::NEG_INFINITY),
        ("sin.approx.f32", 0.0, 0.0),
        ("sin.approx.f32", -0.0, -0.0),
        ("sin.approx.f32", f32::INFINITY, f32::NAN),
        ("cos.approx.f32", 0.0, 1.0),
        ("cos.approx.f32", f32::NEG_INFINITY, f32::NAN),
        ("cos.approx.f32", -0.0, 1.0),
        ("rcp.approx.f32", f32::INFINITY, 0.0),
        ("rcp.approx.f32", -0.0, f32::NEG_INFINITY),
        ("rcp.approx.ftz.f32", 1e-40, f32::INFINITY),
        ("sqrt.approx.f32", -1.0, f32::NAN),
        ("sqrt.approx.f32", -0.0, -0.0),
        ("rsqrt.approx.f32", 0.0, f32::INFINITY),
        ("rsqrt.approx.f32", -0.0, f32::NEG_INFINITY),
        ("rsqrt.approx.f32", f32::INFINITY, 0.0),
        ("tanh.approx.f32", f32::NEG_INFINITY, -1.0),
        ("tanh.approx.f32", -0.0, -0.0),
    ];
    for (text, x, want) in cases {
        let case = parse_case(&format!("{text} %r0, %r1;"));
        for shape in [EmitShape::Scalar, EmitShape::Chunk] {
            let got = compile_case(&case, shape, CompileMode::Direct, "none")
                .run_tuples(&[vec![u64::from(x.to_bits())]])[0][0] as u32;
            let want = if want.is_nan() { 0x7fff_ffff } else { want.to_bits() };
            assert_eq!(got, want, "{text} of {x} ({shape:?}) is {got:#x}");
        }
    }
}
