//! Values of integer functions, conversions and vector functions, beside a model with wide integers on the host.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};

/// Functions of three integers of one type; the results are stored as `long`.
const FUNCTIONS: usize = 22;

fn source() -> String {
    // The last ones are computed on vectors, of which one element is taken.
    let kernel = |kind: &str| {
        format!(
            "kernel void of_{kind}(global long *out, global const {kind} *x, global const {kind} *y, global const {kind} *z) {{
                int i = get_global_id(0);
                {kind} a = x[i], b = y[i], c = z[i];
                long r[] = {{abs(a), abs_diff(a, b), add_sat(a, b), sub_sat(a, b), hadd(a, b), rhadd(a, b), clz(a), ctz(a),
                    mul_hi(a, b), mad_hi(a, b, c), mad_sat(a, b, c), rotate(a, b), popcount(a), max(a, b), min(a, b),
                    clamp(a, min(b, c), max(b, c)), bitselect(a, b, c),
                    convert_uchar_sat(a), convert_short_sat(b), convert_int_sat(c), convert_uint_sat(a), 0}};
                {kind}16 v = vload16(0, x + (i & ~15));
                {kind}3 w = add_sat(({kind}3)(a, b, c), ({kind}3)(b, c, a));
                r[21] = shuffle(v, ({mask}16)(i)).s7 ^ (w.y + mad_sat(v, ({kind}16)(b), ({kind}16)(c)).sf);
                for (int k = 0; k < {FUNCTIONS}; k++) out[{FUNCTIONS} * i + k] = r[k];
            }}\n",
            mask = if kind.starts_with('u') { kind.to_owned() } else { format!("u{kind}") },
        )
    };
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"].map(kernel).concat()
}

/// A type: how many bits, and whether it has a sign.
#[derive(Clone, Copy)]
struct Kind {
    bits: u32,
    is_signed: bool,
}

impl Kind {
    fn least(self) -> i128 {
        if self.is_signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    fn most(self) -> i128 {
        self.least() + (1 << self.bits) - 1
    }

    fn wrap(self, value: i128) -> i128 {
        (value - self.least()).rem_euclid(1 << self.bits) + self.least()
    }

    fn saturate(self, value: i128) -> i128 {
        value.clamp(self.least(), self.most())
    }

    /// The product of two numbers and the sum with a third, also where they have more than 127 bits.
    fn mad_sat(self, a: i128, b: i128, c: i128) -> i128 {
        let sum = a.checked_mul(b).and_then(|product| product.checked_add(c));
        self.saturate(sum.unwrap_or(if (a < 0) == (b < 0) { i128::MAX } else { i128::MIN }))
    }

    fn mul_hi(self, a: i128, b: i128) -> i128 {
        let product = a.checked_mul(b).map(|product| product >> self.bits);
        product.unwrap_or_else(|| ((a as u128).wrapping_mul(b as u128) >> self.bits) as i128)
    }

    fn model(self, x: &[i128], y: &[i128], z: &[i128], i: usize) -> [i64; FUNCTIONS] {
        let (a, b, c) = (x[i], y[i], z[i]);
        let unsigned = |value: i128| value.rem_euclid(1 << self.bits) as u128;
        let (ua, ub, uc, mask) = (unsigned(a), unsigned(b), unsigned(c), (1u128 << self.bits) - 1);
        let turn = (ub % u128::from(self.bits)) as u32;
        let to = |bits, is_signed, value| Kind { bits, is_signed }.saturate(value);
        let group = &x[i & !15..(i & !15) + 16];
        let element = self.mad_sat(group[15], b, c);
        // In the arithmetic of the type, with the promotion of C.
        let promoted = Kind { bits: self.bits.max(32), is_signed: self.is_signed || self.bits < 32 };
        let last = promoted.wrap(self.saturate(b + c) + element);
        let shuffled = group[i & 15];
        [
            a.abs(),
            (a - b).abs(),
            self.saturate(a + b),
            self.saturate(a - b),
            (a + b) >> 1,
            (a + b + 1) >> 1,
            (ua.leading_zeros() + self.bits - 128).into(),
            ua.trailing_zeros().min(self.bits).into(),
            self.mul_hi(a, b),
            self.wrap(self.mul_hi(a, b) + c),
            self.mad_sat(a, b, c),
            self.wrap((((ua << turn) | (ua >> ((self.bits - turn) % 128))) & mask) as i128),
            ua.count_ones().into(),
            a.max(b),
            a.min(b),
            a.clamp(b.min(c), b.max(c)),
            self.wrap(((ua & !uc) | (ub & uc)) as i128),
            to(8, false, a),
            to(16, true, b),
            to(32, true, c),
            to(32, false, a),
            shuffled ^ last,
        ]
        .map(|value| value as i64)
    }
}

fn numbers(kind: Kind, seed: u64, count: usize) -> Vec<i128> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state >> 16 ^ state << 31
    };
    let ends = [kind.least(), kind.most(), 0, 1, kind.most() - 1, kind.least() + 1];
    (0..count)
        .map(|i| if next() % 4 == 0 { ends[i % 6] } else { kind.wrap(i128::from(next() >> (next() % 60))) })
        .collect()
}

/// Numbers as the buffer of a type.
fn buffer(setup: &Setup, kind: Kind, values: &[i128]) -> cl_mem {
    let bytes: Vec<u8> =
        values.iter().flat_map(|value| value.to_le_bytes()[..kind.bits as usize / 8].to_vec()).collect();
    setup.buffer(&bytes)
}

#[test]
fn integer_functions_agree_with_wide_integers() {
    const COUNT: usize = 512;
    let setup = set_up(0);
    let (program, code) = setup.build_with(&source(), "-cl-std=CL3.0");
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    for (bits, signed, unsigned) in
        [(8, "char", "uchar"), (16, "short", "ushort"), (32, "int", "uint"), (64, "long", "ulong")]
    {
        for (name, is_signed) in [(signed, true), (unsigned, false)] {
            let kind = Kind { bits, is_signed };
            let [x, y, z] = [1, 2, 3].map(|seed| numbers(kind, seed + u64::from(bits), COUNT));
            let out = setup.buffer(&vec![0i64; FUNCTIONS * COUNT]);
            let buffers = [out, buffer(&setup, kind, &x), buffer(&setup, kind, &y), buffer(&setup, kind, &z)];
            let kernel = setup.kernel(program, &format!("of_{name}"));
            for (index, buffer) in buffers.iter().enumerate() {
                set(kernel, index as cl_uint, buffer);
            }
            assert_eq!(setup.launch(kernel, &[COUNT], None), CL_SUCCESS);
            let found: Vec<i64> = setup.read(out, FUNCTIONS * COUNT);
            for (i, found) in found.chunks(FUNCTIONS).enumerate() {
                let expected = kind.model(&x, &y, &z, i);
                assert_eq!(found, expected, "{name}: {} {} {}", x[i], y[i], z[i]);
            }
            for buffer in buffers {
                cl!(clReleaseMemObject(buffer));
            }
        }
    }
}

/// Conversions of floats: rounding modes, saturation, and vectors.
#[test]
fn floats_are_converted_in_every_rounding_mode() {
    let setup = set_up(0);
    let source = "kernel void f(global long *out, global const float *x) {
            int i = get_global_id(0);
            float a = x[i];
            float4 v = (float4)(a, -a, a + 1, 0);
            global long *p = out + 10 * i;
            p[0] = convert_int_sat(a); p[1] = convert_int_sat_rte(a); p[2] = convert_int_sat_rtp(a);
            p[3] = convert_int_sat_rtn(a); p[4] = convert_uchar_sat_rte(a); p[5] = convert_short4_sat_rte(v).y;
            p[6] = convert_ulong_sat(a); p[7] = convert_char4_sat_rtp(v).z;
            p[8] = as_int(convert_float_rtz(convert_long_sat(a) * 3 + 1)); p[9] = as_int(convert_float_rtp(1.0 / a));
        }";
    let (program, code) = setup.build_with(source, "");
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    let x = [
        0.0f32,
        -0.5,
        0.5,
        1.5,
        2.5,
        -2.5,
        126.7,
        254.5,
        255.5,
        -129.5,
        1e5,
        3e9,
        -3e9,
        1e20,
        -1e20,
        3.0,
        f32::INFINITY,
    ];
    let (out, input, kernel) = (setup.buffer(&vec![0i64; 10 * x.len()]), setup.buffer(&x), setup.kernel(program, "f"));
    set(kernel, 0, &out);
    set(kernel, 1, &input);
    assert_eq!(setup.launch(kernel, &[x.len()], None), CL_SUCCESS);
    for (a, found) in x.iter().zip(setup.read::<i64>(out, 10 * x.len()).chunks(10)) {
        let wide = f64::from(*a);
        let toward_zero = |value: i128| {
            let rounded = value as f32;
            if (rounded as i128).abs() > value.abs() { f32::from_bits(rounded.to_bits() - 1) } else { rounded }
        };
        let up = |value: f64| {
            let rounded = value as f32;
            if f64::from(rounded) >= value { rounded } else { rounded.next_up() }
        };
        let sum = i128::from((*a as i64).wrapping_mul(3).wrapping_add(1));
        let expected = [
            i64::from(*a as i32),
            i64::from(wide.round_ties_even() as i32),
            i64::from(wide.ceil() as i32),
            i64::from(wide.floor() as i32),
            i64::from(wide.round_ties_even() as u8),
            i64::from((-wide).round_ties_even() as i16),
            *a as u64 as i64,
            i64::from(f64::from(a + 1.0).ceil() as i8),
            i64::from(toward_zero(sum).to_bits() as i32),
            i64::from(up(1.0 / wide).to_bits() as i32),
        ];
        assert_eq!(found, expected, "{a}");
    }
    for buffer in [out, input] {
        cl!(clReleaseMemObject(buffer));
    }
}

#[test]
fn a_function_that_is_nowhere_defined_is_named() {
    let setup = set_up(0);
    let (program, code) = setup.build_with("int other(int x);\nkernel void f(global int *x) { *x = other(*x); }", "");
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    assert!(
        setup.build_log(program).contains("program.cl:2:37: error: the function other is not defined"),
        "{}",
        setup.build_log(program)
    );
}
