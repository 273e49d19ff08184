//! Narrowing conversions against a reference of another kind: the nearest of all values that the
//! format has, found by search among exact doubles. Every half and every 8-bit float is tried.

use crate::jit_support::{buffer_arg, run_all_variants};

/// The value of a small float with `e` bits of exponent and `f` of fraction; `None` for NaN.
/// `.e4m3` has no infinities and one NaN per sign.
fn small_float_value(e: u32, f: u32, finite: bool, code: u32) -> Option<f64> {
    let sign = if code >> (e + f) & 1 != 0 { -1.0 } else { 1.0 };
    let (field, fraction) = (code >> f & ((1 << e) - 1), code & ((1 << f) - 1));
    let bias = (1 << (e - 1)) - 1;
    let scale = |n: u32, exp: i32| sign * f64::from(n) * 2f64.powi(exp);
    let top = field == (1 << e) - 1;
    match (top, finite) {
        (true, true) if fraction == (1 << f) - 1 => None,
        (true, false) if fraction == 0 => Some(sign * f64::INFINITY),
        (true, false) => None,
        _ if field == 0 => Some(scale(fraction, 1 - bias - f as i32)),
        _ => Some(scale((1 << f) + fraction, field as i32 - bias - f as i32)),
    }
}

fn half_value(code: u16) -> Option<f64> {
    small_float_value(5, 10, false, code.into())
}

/// A format, the NaN that conversions give, and its finite values from zero up with their codes.
struct SmallFloat {
    e: u32,
    f: u32,
    nan: u32,
    finite: Vec<f64>,
}

impl SmallFloat {
    fn new(e: u32, f: u32, all_finite: bool, nan: u32) -> SmallFloat {
        let codes = 0..1 << (e + f);
        let finite = codes.filter_map(|c| small_float_value(e, f, all_finite, c)).filter(|v| v.is_finite()).collect();
        SmallFloat { e, f, nan, finite }
    }

    /// The code nearest to `x`, of two the even one, towards zero with `truncate`; never infinity.
    fn nearest_code(&self, x: Option<f64>, relu: bool, truncate: bool) -> u32 {
        let Some(x) = x else { return self.nan };
        if relu && x.is_sign_negative() {
            return 0;
        }
        let sign = u32::from(x.is_sign_negative()) << (self.e + self.f);
        let magnitude = x.abs();
        let above = self.finite.partition_point(|&v| v < magnitude);
        let Some(&upper) = self.finite.get(above) else { return sign | (self.finite.len() as u32 - 1) };
        if upper == magnitude || above == 0 {
            return sign | above as u32;
        }
        let (down, up) = (magnitude - self.finite[above - 1], upper - magnitude);
        let nearer_below = truncate || down < up || (down == up && above % 2 == 1);
        sign | (above as u32 - u32::from(nearer_below))
    }
}

/// Runs `text` on words of `input`: reads `%r1` (and the next word, `%r2`), writes `%r0`.
fn run_conversion(text: &str, input: &[u32]) -> Vec<u32> {
    run_conversion_in_module(text, input, "")
}

/// As [`run_conversion`], with a last line of the module.
fn run_conversion_in_module(text: &str, input: &[u32], last: &str) -> Vec<u32> {
    let ptx = format!(
        ".visible .entry k(.param .u64 out, .param .u64 in) {{
    .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r3, %r3, 128, %r4; mul.wide.u32 %d3, %r3, 4;
    add.s64 %d4, %d2, %d3; add.s64 %d5, %d1, %d3; ld.global.u32 %r1, [%d4]; ld.global.u32 %r2, [%d4+4];
    cvt.u16.u32 %h1, %r1; {text} st.global.u32 [%d5], %r0; ret;
}}
{last}"
    );
    let n = input.len();
    let padded: Vec<u32> = input.iter().copied().chain([0]).collect();
    let out = run_all_variants(
        &ptx,
        "k",
        n.div_ceil(128) as u32,
        [128, 1, 1],
        &[buffer_arg(&vec![0u32; n]), buffer_arg(&padded)],
    );
    crate::jit_support::to_u32s(&out[0])
}

fn fp8_formats() -> [(&'static str, SmallFloat); 2] {
    [("e4m3x2", SmallFloat::new(4, 3, true, 0x7f)), ("e5m2x2", SmallFloat::new(5, 2, false, 0x7f))]
}

#[test]
fn every_half_becomes_the_nearest_8_bit_float() {
    // Pairs of different halves, each once low and once high.
    let input: Vec<u32> = (0..1u32 << 16).map(|i| i | (i.wrapping_mul(40_503) & 0xffff) << 16).collect();
    for (name, small) in fp8_formats() {
        for relu in [false, true] {
            let word = if relu { ".relu" } else { "" };
            let text = format!("cvt.rn.satfinite{word}.{name}.f16x2 %h0, %r1; cvt.u32.u16 %r0, %h0;");
            let got = run_conversion(&text, &input);
            for (&x, &y) in input.iter().zip(&got) {
                let want = small.nearest_code(half_value(x as u16), relu, false)
                    | small.nearest_code(half_value((x >> 16) as u16), relu, false) << 8;
                assert_eq!(y, want, "{name}{word} {x:08x}");
            }
        }
    }
}

#[test]
fn every_8_bit_float_becomes_its_half() {
    let input: Vec<u32> = (0..1u32 << 16).collect();
    for (name, e, f, finite) in [("e4m3x2", 4, 3, true), ("e5m2x2", 5, 2, false)] {
        let got = run_conversion(&format!("cvt.rn.f16x2.{name} %r0, %h1;"), &input);
        for (&x, &y) in input.iter().zip(&got) {
            for (code, result) in [(x & 0xff, y as u16), (x >> 8, (y >> 16) as u16)] {
                match small_float_value(e, f, finite, code) {
                    None => assert_eq!(result, 0x7fff, "{name} {code:02x}"),
                    Some(v) => {
                        assert_eq!(half_value(result), Some(v), "{name} {code:02x}");
                        assert_eq!(result >> 15, code as u16 >> 7, "{name} {code:02x}");
                    }
                }
            }
        }
    }
}

/// Singles around every 8-bit float, half-way points between them, and all sizes.
fn f32_inputs() -> Vec<u32> {
    let mut list = vec![];
    for (_, small) in fp8_formats() {
        for pair in small.finite.windows(2) {
            for v in [pair[0], (pair[0] + pair[1]) / 2.0, pair[1]] {
                let bits = (v as f32).to_bits();
                list.extend([bits, bits.wrapping_sub(1), bits + 1, bits | 1 << 31, (bits + 1) | 1 << 31]);
            }
        }
    }
    list.extend((0..1u32 << 15).map(|i| i << 17 | (i.wrapping_mul(2_654_435_761) >> 15)));
    list
}

#[test]
fn singles_become_the_nearest_narrow_float() {
    let input = f32_inputs();
    let next = |i: usize| input.get(i + 1).copied().unwrap_or(0);
    let real = |bits: u32| Some(f64::from(f32::from_bits(bits))).filter(|v| !v.is_nan());
    let check = |text: &str, want: &dyn Fn(u32, u32) -> u32| {
        let got = run_conversion(text, &input);
        for (i, (&x, &y)) in input.iter().zip(&got).enumerate() {
            assert_eq!(y, want(x, next(i)), "{text} of {x:08x}, {:08x}", next(i));
        }
    };
    for (name, small) in fp8_formats() {
        check(&format!("cvt.rn.satfinite.{name}.f32 %h0, %r1, %r2; cvt.u32.u16 %r0, %h0;"), &|x, y| {
            small.nearest_code(real(y), false, false) | small.nearest_code(real(x), false, false) << 8
        });
    }
    for (name, e, f) in [("f16", 5, 10), ("bf16", 8, 7)] {
        let wide = SmallFloat::new(e, f, false, 0x7fff);
        for (rnd, truncate) in [("rn", false), ("rz", true)] {
            for relu in [false, true] {
                let mods = format!("{rnd}.satfinite{}", if relu { ".relu" } else { "" });
                check(&format!("cvt.{mods}.{name}.f32 %h0, %r1; cvt.u32.u16 %r0, %h0;"), &|x, _| {
                    wide.nearest_code(real(x), relu, truncate)
                });
                check(&format!("cvt.{mods}.{name}x2.f32 %r0, %r1, %r2;"), &|x, y| {
                    wide.nearest_code(real(y), relu, truncate) | wide.nearest_code(real(x), relu, truncate) << 16
                });
            }
        }
    }
}

#[test]
fn integers_are_clamped_and_packed() {
    let input: Vec<u32> = [
        0i32,
        1,
        -1,
        2,
        -2,
        3,
        7,
        8,
        -8,
        -9,
        127,
        128,
        -128,
        -129,
        255,
        256,
        32767,
        32768,
        -32769,
        65535,
        65536,
        i32::MAX,
        i32::MIN,
    ]
    .iter()
    .map(|&v| v as u32)
    .collect();
    for bits in [16u32, 8, 4, 2] {
        for signed in [false, true] {
            let (low, high) =
                if signed { (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
            let name = format!("{}{bits}", if signed { 's' } else { 'u' });
            let (form, c) = if bits == 16 { (String::new(), "") } else { (".b32".into(), ", 0x89abcdef") };
            let got = run_conversion(&format!("cvt.pack.sat.{name}.s32{form} %r0, %r1, %r2{c};"), &input);
            for (i, &y) in got.iter().enumerate() {
                let part = |x: u32| (i64::from(x as i32).clamp(low, high) as u64 & ((1 << bits) - 1)) as u32;
                let above = if bits == 16 { 0 } else { 0x89ab_cdef_u32 << (2 * bits) };
                let second = input.get(i + 1).copied().unwrap_or(0);
                assert_eq!(y, part(second) | part(input[i]) << bits | above, "{name} {:08x}", input[i]);
            }
        }
    }
}

/// A product and a sum of halves are one operation, unless the compiler was told otherwise.
#[test]
fn halves_are_fused_as_the_compiler_was_told() {
    let text = "mov.b16 %h2, 0x3c02; mul.f16 %h3, %h1, %h1; sub.f16 %h0, %h3, %h2; cvt.u32.u16 %r0, %h0;";
    assert_eq!(run_conversion(text, &[0x3c01; 40]), [0x0010; 40]);
    assert_eq!(run_conversion_in_module(text, &[0x3c01; 40], "\n// compiled with -fmad=false\n"), [0; 40]);
}
