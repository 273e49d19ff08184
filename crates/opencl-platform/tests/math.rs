//! Errors of the math functions beside the limits of the OpenCL specification (7.4): double precision against values
//! that mpmath computed, single precision against double precision, and special arguments of both.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;
#[path = "../../../tests/support/depth.rs"]
#[allow(dead_code, reason = "each test uses some")]
mod depth;

use rtcg_opencl_sys::*;
use setup::{Setup, binary_of, set, set_up};
use std::collections::BTreeMap;

/// A function: its name, its limit in units in the last place, and how arguments of single precision are drawn.
struct Function {
    name: &'static str,
    limit: f64,
    arguments: Arguments,
}

#[derive(Clone, Copy, PartialEq)]
enum Arguments {
    One,
    Two,
    /// A float and an integer.
    Whole,
}

const fn of(name: &'static str, limit: f64, arguments: Arguments) -> Function {
    Function { name, limit, arguments }
}

use Arguments::{One, Two, Whole};

/// The limits are the same for both precisions.
const FUNCTIONS: &[Function] = &[
    of("exp", 3.0, One),
    of("exp2", 3.0, One),
    of("exp10", 3.0, One),
    of("expm1", 3.0, One),
    of("log", 3.0, One),
    of("log2", 3.0, One),
    of("log10", 3.0, One),
    of("log1p", 2.0, One),
    of("sin", 4.0, One),
    of("cos", 4.0, One),
    of("tan", 5.0, One),
    of("sinpi", 4.0, One),
    of("cospi", 4.0, One),
    of("tanpi", 6.0, One),
    of("asin", 4.0, One),
    of("acos", 4.0, One),
    of("atan", 5.0, One),
    of("asinpi", 5.0, One),
    of("acospi", 5.0, One),
    of("atanpi", 5.0, One),
    of("sinh", 4.0, One),
    of("cosh", 4.0, One),
    of("tanh", 5.0, One),
    of("asinh", 4.0, One),
    of("acosh", 4.0, One),
    of("atanh", 5.0, One),
    of("cbrt", 2.0, One),
    of("erf", 16.0, One),
    of("erfc", 16.0, One),
    of("tgamma", 16.0, One),
    of("rsqrt", 2.0, One),
    of("pow", 16.0, Two),
    of("powr", 16.0, Two),
    of("atan2", 6.0, Two),
    of("atan2pi", 6.0, Two),
    of("hypot", 4.0, Two),
    of("pown", 16.0, Whole),
    of("rootn", 16.0, Whole),
];

/// Kernels that apply each function: `<name>_double`, and `<name>_both`, of which the host gets the result of single
/// precision and that of double precision for the same arguments.
fn source() -> String {
    let kernel = |function: &Function| {
        let name = function.name;
        let (second, f, d) = match function.arguments {
            One => ("", String::new(), String::new()),
            Two => ("float", ", y[i]".to_owned(), ", (double)y[i]".to_owned()),
            Whole => ("int", ", y[i]".to_owned(), ", y[i]".to_owned()),
        };
        let (float, double) = match second {
            "" => (String::new(), String::new()),
            "int" => (", global const int *y".to_owned(), ", global const int *y".to_owned()),
            _ => (", global const float *y".to_owned(), ", global const double *y".to_owned()),
        };
        format!(
            "kernel void {name}_double(global double *out, global const double *x{double}) {{
                int i = get_global_id(0); out[i] = {name}(x[i]{f}); }}
            kernel void {name}_both(global float *out, global double *wide, global const float *x{float}) {{
                int i = get_global_id(0); out[i] = {name}(x[i]{f}); wide[i] = {name}((double)x[i]{d}); }}\n"
        )
    };
    FUNCTIONS.iter().map(kernel).collect()
}

struct Program<'s> {
    setup: &'s Setup,
    program: cl_program,
}

impl<'s> Program<'s> {
    fn new(setup: &'s Setup, source: &str, options: &str) -> Self {
        let (program, code) = setup.build_with(source, options);
        assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
        Self { setup, program }
    }

    fn ptx(&self) -> String {
        String::from_utf8_lossy(&binary_of(self.program)).into_owned()
    }

    /// Runs a kernel of these buffers, the first of which are results of `count` numbers.
    fn run(&self, name: &str, buffers: &[cl_mem], count: usize) {
        let kernel = self.setup.kernel(self.program, name);
        for (index, buffer) in buffers.iter().enumerate() {
            assert_eq!(set(kernel, index as cl_uint, buffer), CL_SUCCESS);
        }
        assert_eq!(self.setup.launch(kernel, &[count], None), CL_SUCCESS, "{name}");
        cl!(clReleaseKernel(kernel));
    }
}

fn release(buffers: &[cl_mem]) {
    for buffer in buffers {
        cl!(clReleaseMemObject(*buffer));
    }
}

/// The distance between a result and the sum of two numbers in units in the last place of a format with `digits` bits
/// whose smallest exponent is `least`.
fn error_in_ulp(found: f64, high: f64, low: f64, digits: i32, least: i32) -> f64 {
    if found.is_nan() || high.is_nan() {
        return if found.is_nan() == high.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // Beyond the largest number infinity is as good as what would follow.
    let limit = if digits == 24 { 2f64.powi(128) } else { f64::INFINITY };
    let high = high.clamp(-limit, limit);
    let found = if digits == 24 { found.clamp(-limit, limit) } else { found };
    if found == high && low == 0.0 {
        return 0.0;
    }
    let exponent = if high == 0.0 { least } else { (high.abs().log2().floor() as i32).max(least) };
    let step = exponent - digits + 1;
    let (half, rest) = (step / 2, step - step / 2);
    ((found - high - low) / 2f64.powi(half) / 2f64.powi(rest)).abs()
}

#[test]
fn functions_of_double_precision_keep_their_limits() {
    let setup = set_up(0);
    let program = Program::new(&setup, &source(), "");
    let mut tables: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for line in include_str!("math/reference.txt").lines() {
        let (name, numbers) = line.split_once(' ').unwrap();
        let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).unwrap());
        tables.entry(name).or_default().push(numbers.split(' ').map(number).collect());
    }
    let mut worst = Vec::new();
    for function in FUNCTIONS {
        let rows = &tables[function.name];
        let x: Vec<f64> = rows.iter().map(|row| row[0]).collect();
        let mut buffers = vec![setup.buffer(&vec![0f64; x.len()]), setup.buffer(&x)];
        match function.arguments {
            One => {}
            Two => buffers.push(setup.buffer(&rows.iter().map(|row| row[1]).collect::<Vec<_>>())),
            Whole => buffers.push(setup.buffer(&rows.iter().map(|row| row[1] as i32).collect::<Vec<_>>())),
        }
        program.run(&format!("{}_double", function.name), &buffers, x.len());
        for (row, found) in rows.iter().zip(setup.read::<f64>(buffers[0], x.len())) {
            let error = error_in_ulp(found, row[row.len() - 2], row[row.len() - 1], 53, -1022);
            worst.push((error / function.limit, error, function.name, row[..row.len() - 2].to_vec(), found));
        }
        release(&buffers);
    }
    report(&mut worst);
}

/// Fails with the worst of each function that is beyond its limit.
fn report(found: &mut Vec<(f64, f64, &'static str, Vec<f64>, f64)>) {
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen = Vec::new();
    let first = |item: &&(f64, f64, &'static str, Vec<f64>, f64)| {
        let is_new = !seen.contains(&item.2);
        seen.push(item.2);
        is_new
    };
    let lines: Vec<String> = found
        .iter()
        .filter(first)
        .map(|(of_limit, error, name, arguments, result)| {
            format!("{name}{arguments:?} = {result:e}: {error:.2} ulp, {of_limit:.2} of the limit")
        })
        .collect();
    if std::env::var_os("RTCG_TEST_REPORT").is_some() {
        eprintln!("{}", lines.join("\n"));
    }
    assert!(found.first().is_none_or(|worst| worst.0 <= 1.0), "\n{}", lines.join("\n"));
}

/// Arguments by function: where something happens, and bits drawn at random.
fn floats(count: usize, name: &str) -> Vec<f32> {
    let mut state = name.bytes().fold(0x9e37_79b9_7f4a_7c15u64, |state, byte| state.rotate_left(9) ^ u64::from(byte));
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 32) as u32
    };
    let special = [
        0.0,
        1.0,
        0.5,
        2.0,
        0.25,
        1.5,
        3.0,
        1e-45,
        1.1754944e-38,
        1.1754942e-38,
        3.4028235e38,
        16777216.0,
        88.72283,
        88.72284,
        89.0,
        103.97,
        104.0,
        127.99999,
        128.0,
        149.0,
        150.0,
        0.70710677,
        std::f32::consts::SQRT_2,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
        105615.0,
        1e5,
        2147483648.0,
        12.0,
        34.0,
        35.04,
        171.0,
        0.99999994,
        1.0000001,
        10.05,
        10.06,
        f32::INFINITY,
        f32::NAN,
    ];
    let specials = special.into_iter().flat_map(|x: f32| [x, -x]);
    let drawn = (0..count).map(|index| {
        let bits = next();
        match index % 4 {
            0 => f32::from_bits(bits),
            1 => (bits as i32 as f32) * 2f32.powi(-31),
            2 => (bits as i32 as f32) * 2f32.powi(-24),
            _ => 1.0 + (bits as i32 as f32) * 2f32.powi(-33 - (bits & 15) as i32),
        }
    });
    specials.chain(drawn).collect()
}

#[test]
fn functions_of_single_precision_keep_their_limits() {
    let setup = set_up(0);
    let program = Program::new(&setup, &source(), "");
    let mut worst = Vec::new();
    for function in FUNCTIONS {
        let x = floats(depth::at_depth(6000, 1 << 22), function.name);
        let count = x.len();
        let mut buffers = vec![setup.buffer(&vec![0f32; count]), setup.buffer(&vec![0f64; count]), setup.buffer(&x)];
        let y: Vec<f32> = floats(count, "second").into_iter().rev().take(count).collect();
        let whole: Vec<i32> = y.iter().map(|y| if y.abs() < 1.0 { (y * 40.0) as i32 } else { *y as i32 }).collect();
        match function.arguments {
            One => {}
            Two => buffers.push(setup.buffer(&y)),
            Whole => buffers.push(setup.buffer(&whole)),
        }
        program.run(&format!("{}_both", function.name), &buffers, count);
        let (single, double) = (setup.read::<f32>(buffers[0], count), setup.read::<f64>(buffers[1], count));
        for index in 0..count {
            let error = error_in_ulp(single[index].into(), double[index], 0.0, 24, -126);
            let second = if function.arguments == Whole { whole[index].into() } else { y[index].into() };
            let of_limit = error / function.limit;
            if worst.last().is_none_or(|last: &(f64, f64, &str, Vec<f64>, f64)| last.2 != function.name) {
                worst.push((of_limit, error, function.name, vec![x[index].into(), second], single[index].into()));
            } else if worst.last().is_some_and(|last| of_limit > last.0) {
                *worst.last_mut().unwrap() =
                    (of_limit, error, function.name, vec![x[index].into(), second], single[index].into());
            }
        }
        release(&buffers);
    }
    report(&mut worst);
}

/// Results that the specification fixes (7.5), for both precisions: `i` is infinity, `n` is no number.
const SPECIAL: &str = "
    exp(-i)=0 exp(i)=i exp(n)=n exp2(-i)=0 exp10(i)=i expm1(-0)=-0 expm1(-i)=-1 expm1(i)=i
    log(0)=-i log(-0)=-i log(1)=0 log(-1)=n log(i)=i log2(8)=3 log2(0)=-i log10(-1)=n log1p(-1)=-i log1p(-0)=-0 log1p(-2)=n
    sin(-0)=-0 sin(i)=n cos(0)=1 cos(-i)=n tan(-0)=-0 tan(i)=n sinpi(-0)=-0 sinpi(-3)=-0 sinpi(2)=0 sinpi(i)=n
    cospi(0.5)=0 cospi(-1.5)=0 cospi(3)=-1 tanpi(-0)=-0 tanpi(1)=-0 tanpi(2)=0 tanpi(-1)=0 tanpi(0.5)=i tanpi(1.5)=-i
    tanpi(-0.5)=i tanpi(-1.5)=-i
    asin(-0)=-0 asin(2)=n acos(1)=0 acos(-2)=n acospi(1)=0 acospi(-1)=1 asinpi(-0)=-0 atan(-0)=-0 atanpi(-0)=-0
    atanpi(i)=0.5 atanpi(-i)=-0.5 sinh(-0)=-0 sinh(-i)=-i cosh(-i)=i cosh(0)=1 tanh(-0)=-0 tanh(-i)=-1 tanh(i)=1
    asinh(-0)=-0 asinh(-i)=-i acosh(1)=0 acosh(0.5)=n acosh(i)=i atanh(1)=i atanh(-1)=-i atanh(-0)=-0 atanh(2)=n
    cbrt(-0)=-0 cbrt(-i)=-i erf(-0)=-0 erf(i)=1 erf(-i)=-1 erfc(-i)=2 erfc(i)=0 tgamma(0)=i tgamma(-0)=-i tgamma(-1)=n
    tgamma(-i)=n tgamma(i)=i tgamma(5)=24 rsqrt(0)=i rsqrt(i)=0 rsqrt(-1)=n
    pow(-0,-3)=-i pow(0,-2)=i pow(-0,3)=-0 pow(-0,2)=0 pow(-1,i)=1 pow(1,n)=1 pow(n,0)=1 pow(-2,0.5)=n pow(0.5,-i)=i
    pow(2,-i)=0 pow(-i,3)=-i pow(-i,-3)=-0 pow(i,-1)=0 pow(-2,3)=-8 pow(-i,0.5)=i pow(n,1)=n
    powr(0,-1)=i powr(0,0)=n powr(i,0)=n powr(1,i)=n powr(-1,1)=n powr(2,n)=n powr(0,2)=0 powr(n,0)=n
    atan2(-0,1)=-0 atan2(0,-0)=3.141592653589793 atan2(-0,-1)=-3.141592653589793 atan2(1,0)=1.5707963267948966
    atan2(i,i)=0.7853981633974483 atan2(1,i)=0 atan2(-1,-i)=-3.141592653589793 atan2(n,1)=n
    atan2pi(0,-0)=1 atan2pi(-1,0)=-0.5 atan2pi(i,i)=0.25 atan2pi(i,-i)=0.75 atan2pi(-0,-1)=-1
    hypot(i,n)=i hypot(3,-4)=5 hypot(n,0)=n pown(-0,-3)=-i pown(0,-2)=i pown(n,0)=1 pown(-i,3)=-i pown(-2,3)=-8 pown(-3,2147483647)=-i pown(-3,2147483646)=i pown(-1,-2147483648)=1
    rootn(-0,3)=-0 rootn(0,-2)=i rootn(-0,-3)=-i rootn(-8,2)=n rootn(1,0)=n rootn(-i,3)=-i rootn(-1,3)=-1
";

#[test]
fn special_arguments_have_the_results_of_the_specification() {
    let setup = set_up(0);
    let program = Program::new(&setup, &source(), "");
    let number = |text: &str| match text {
        "i" => f64::INFINITY,
        "-i" => f64::NEG_INFINITY,
        "n" => f64::NAN,
        other => other.parse().unwrap(),
    };
    let mut wrong = String::new();
    for case in SPECIAL.split_whitespace() {
        let (call, expected) = case.split_once('=').unwrap();
        let (name, arguments) = call.trim_end_matches(')').split_once('(').unwrap();
        let arguments: Vec<f64> = arguments.split(',').map(number).collect();
        let expected = number(expected);
        let function = FUNCTIONS.iter().find(|function| function.name == name).unwrap();
        let x = arguments[0];
        let second = |is_double: bool| match function.arguments {
            One => None,
            Two if is_double => Some(setup.buffer(&[arguments[1]])),
            Two => Some(setup.buffer(&[arguments[1] as f32])),
            Whole => Some(setup.buffer(&[arguments[1] as i32])),
        };
        let (single, wide) = (setup.buffer(&[0f32]), setup.buffer(&[0f64]));
        let mut both = vec![single, wide, setup.buffer(&[x as f32])];
        both.extend(second(false));
        program.run(&format!("{name}_both"), &both, 1);
        let mut double = vec![wide, setup.buffer(&[x])];
        double.extend(second(true));
        program.run(&format!("{name}_double"), &double, 1);
        let (single, double_) = (setup.read::<f32>(single, 1)[0], setup.read::<f64>(wide, 1)[0]);
        let is_same =
            |found: f64, expected: f64| (found.is_nan() && expected.is_nan()) || found.to_bits() == expected.to_bits();
        if !is_same(single.into(), (expected as f32).into()) || !is_same(double_, expected) {
            wrong += &format!("{case}: {single} in single precision, {double_} in double precision\n");
        }
        release(&both);
        release(&double[1..]);
    }
    assert_eq!(wrong, "");
}

/// Programs that allow larger errors get what the hardware approximates, within the limits for them; the options that
/// say something about numbers are all taken.
#[test]
fn relaxed_programs_call_approximations() {
    let setup = set_up(0);
    let source = "kernel void f(global float *out, global const float *x) {
            int i = get_global_id(0);
            out[4 * i] = sin(x[i]); out[4 * i + 1] = cos(x[i]); out[4 * i + 2] = exp(x[i]);
            out[4 * i + 3] = log(fabs(x[i]));
        }
        kernel void h(global float *out, global const float *x) {
            int i = get_global_id(0);
            global const volatile float *v = x;
            out[4 * i] = sin(x[i]); out[4 * i + 1] = v[i] / v[i] * cos(x[i]); out[4 * i + 2] = exp(x[i]);
            out[4 * i + 3] = 2 * log(sqrt(fabs(x[i])));
        }
        kernel void g(global float4 *out, global const float *x) {
            int i = get_global_id(0);
            float4 v = (float4)(x[i], x[i] / 2, 1, 2);
            out[i] = (float4)(native_sin(v).x, half_cos(v.x), native_exp(v.x), half_log(fabs(v.x)));
        }";
    let x: Vec<f32> = (1..=512).map(|i| (i - 256) as f32 / 82.0 + 1e-3).collect();
    let options = [
        ("", true),
        ("-cl-fast-relaxed-math", false),
        ("-cl-unsafe-math-optimizations", false),
        ("-cl-finite-math-only", true),
        ("-cl-denorms-are-zero", true),
        ("-cl-fp32-correctly-rounded-divide-sqrt", true),
        ("-cl-no-signed-zeros -cl-mad-enable", true),
        ("-cl-single-precision-constant", true),
        ("-cl-opt-disable", true),
    ];
    let relaxed = Program::new(&setup, source, options[1].0);
    for (word, is_there) in [("div.full.f32", true), ("sqrt.approx", true), ("div.rn.f32", false), ("sqrt.rn", false)] {
        assert_eq!(relaxed.ptx().contains(word), is_there, "{word}");
    }
    let mut precise = Vec::new();
    for (options, is_precise) in options {
        let program = Program::new(&setup, source, options);
        for kernel in ["f", "g", "h"] {
            let buffers = [setup.buffer(&vec![0f32; 4 * x.len()]), setup.buffer(&x)];
            program.run(kernel, &buffers, x.len());
            let found: Vec<f32> = setup.read(buffers[0], 4 * x.len());
            for (x, found) in x.iter().map(|x| f64::from(*x)).zip(found.chunks(4)) {
                let error = |index: usize, exact: f64| (f64::from(found[index]) - exact).abs();
                let limits =
                    [2f64.powi(-11), 2f64.powi(-11), x.exp() * (3.0 + (2.0 * x.abs()).floor()) * 2f64.powi(-23)];
                assert!(error(0, x.sin()) <= limits[0] && error(1, x.cos()) <= limits[1], "{options} {kernel} {x}");
                assert!(error(2, x.exp()) <= limits[2], "{options} {kernel} exp({x}) = {}", found[2]);
                assert!(error(3, x.abs().ln()) <= 2f64.powi(-20) * x.abs().ln().abs().max(1.0), "{options} log({x})");
            }
            if kernel == "f" && options.is_empty() {
                precise.clone_from(&found);
            } else if kernel == "f" {
                assert_eq!(found == precise, is_precise, "{options}");
            }
            release(&buffers);
        }
    }
}

/// With `-cl-denorms-are-zero` single precision has no subnormal numbers, in operators and in functions; doubles have.
#[test]
fn subnormal_numbers_are_zero_where_the_program_allows_it() {
    let setup = set_up(0);
    let source = "kernel void f(global float *out, global const float *x) {
            float a = x[0];
            out[0] = a * 0.25f; out[1] = a + 1e-45f - a; out[2] = fma(a, 0.25f, 0.0f); out[3] = mad(a, 0.25f, 0.0f);
            out[4] = fabs(x[1]); out[5] = ldexp(a, -2); out[6] = x[1] * 0x1p30f;
            out[7] = (float)((double)a * 0.25 * 0x1p30);
        }";
    let x = [f32::MIN_POSITIVE, 1e-40];
    let subnormal = f32::MIN_POSITIVE / 4.0;
    let kept =
        [subnormal, 1e-45, subnormal, subnormal, 1e-40, subnormal, 1e-40 * 2f32.powi(30), subnormal * 2f32.powi(30)];
    for (options, is_kept) in [("", true), ("-cl-denorms-are-zero", false)] {
        let program = Program::new(&setup, source, options);
        let buffers = [setup.buffer(&[1f32; 8]), setup.buffer(&x)];
        program.run("f", &buffers, 1);
        let found: Vec<f32> = setup.read(buffers[0], 8);
        if is_kept {
            assert_eq!(found, kept);
        } else {
            // The specification lets results of functions be either.
            let [product, sum, fused, multiplied, .., scaled, by_double] = found[..] else { unreachable!() };
            assert_eq!([product, sum, fused, multiplied, scaled], [0.0; 5], "{found:?}");
            assert_eq!(by_double, kept[7], "doubles keep theirs");
            assert!([0.0, kept[4]].contains(&found[4]) && [0.0, kept[5]].contains(&found[5]), "{found:?}");
        }
        release(&buffers);
    }
}
