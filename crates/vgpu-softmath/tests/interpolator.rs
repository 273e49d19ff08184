//! The interpolator gives an H200's answers (driver 580.159.04): hashes of what the device gave, of all arguments of an
//! octave and of every 4,096th of all 2^32. The device was asked for all 2^32 arguments of each function but `tanh`,
//! and of that for all from 2^-8 to 8 and every 4,096th.
#![allow(unsafe_code, reason = "calls functions of lanes by address, as compiled code does")]

use rtcg_vgpu_softmath::interpolator as unit;
use unit::lanes::{LANES, LaneFunction, WARP_LANES};

type Function = fn(u32) -> u32;

const SIN: Function = |a| unit::sin_or_cos(a, false);
const COS: Function = |a| unit::sin_or_cos(a, true);

/// FNV-1a of words.
fn hash(words: impl Iterator<Item = u32>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |h, word| (h ^ u64::from(word)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn every_4096th_argument() {
    let functions: [(&str, Function, u64); 15] = [
        ("rcp.approx.ftz.f32", unit::rcp_ftz, 0x67d3_7467_0631_b265),
        ("rcp.approx.f32", unit::rcp, 0xc3b5_24b6_e657_c615),
        ("rsqrt.approx.ftz.f32", unit::rsqrt_ftz, 0x8c34_9d37_ca08_d71b),
        ("rsqrt.approx.f32", unit::rsqrt, 0xff69_df34_7036_ea17),
        ("sqrt.approx.ftz.f32", unit::sqrt_ftz, 0xdba5_9735_c752_d31e),
        ("sqrt.approx.f32", unit::sqrt, 0xb0c6_88d1_985b_272d),
        ("lg2.approx.ftz.f32", unit::lg2_ftz, 0x73fa_e129_0707_4a37),
        ("lg2.approx.f32", unit::lg2, 0x4a0c_83b0_51a7_0d82),
        ("ex2.approx.ftz.f32", unit::ex2_ftz, 0x43bb_9b00_1475_4a18),
        ("ex2.approx.f32", unit::ex2, 0x1c20_5f7d_1790_d5b6),
        ("sin.approx.f32", SIN, 0x089d_7407_c609_37bd),
        ("cos.approx.f32", COS, 0xa108_5f5a_0915_2b91),
        ("tanh.approx.f32", unit::tanh, 0x3809_a6bc_2de7_cc95),
        ("rcp.approx.ftz.f64", unit::rcp_upper_word, 0xe2a5_22c1_dac1_7c15),
        ("rsqrt.approx.ftz.f64", unit::rsqrt_upper_word, 0x4c74_5b20_8214_b1c6),
    ];
    for (name, function, of_device) in functions {
        assert_eq!(hash((0..1 << 20).map(|i| function(i << 12))), of_device, "{name}");
    }
}

#[test]
fn all_arguments_of_an_octave() {
    let octaves: [(&str, Function, u32, u64); 16] = [
        ("rcp.approx.ftz.f32", unit::rcp_ftz, 0x3f80_0000, 0xfa72_a6c6_9827_4964),
        ("rcp.approx.f32", unit::rcp, 0x7e80_0000, 0x1637_1773_4ad6_be74),
        ("rsqrt.approx.ftz.f32", unit::rsqrt_ftz, 0x3f80_0000, 0x0c40_b0bd_f554_807c),
        ("rsqrt.approx.ftz.f32", unit::rsqrt_ftz, 0x4000_0000, 0xac1e_22b0_ce75_548b),
        ("sqrt.approx.ftz.f32", unit::sqrt_ftz, 0x3f80_0000, 0xec16_2b03_dcc3_9119),
        ("sqrt.approx.ftz.f32", unit::sqrt_ftz, 0x4000_0000, 0x30da_7c2c_e019_6274),
        ("lg2.approx.ftz.f32", unit::lg2_ftz, 0x3f00_0000, 0xf888_4f09_7b12_e53d),
        ("lg2.approx.ftz.f32", unit::lg2_ftz, 0x3f80_0000, 0x5ca4_3d6b_0d17_6848),
        ("ex2.approx.ftz.f32", unit::ex2_ftz, 0x3f80_0000, 0x3f0f_3852_f2fa_7edb),
        ("ex2.approx.ftz.f32", unit::ex2_ftz, 0xbf00_0000, 0x86cb_d167_bc4d_aa17),
        ("ex2.approx.f32", unit::ex2, 0xc280_0000, 0x028e_2fca_fb77_0210),
        ("sin.approx.f32", SIN, 0x3f80_0000, 0xffc8_9f2c_26d5_96ea),
        ("sin.approx.f32", SIN, 0x4080_0000, 0xdb56_c449_555a_1951),
        ("cos.approx.f32", COS, 0x3f80_0000, 0x0f10_a7e3_0f1e_42ad),
        ("tanh.approx.f32", unit::tanh, 0x3c00_0000, 0xecb3_29ce_085b_f0e5),
        ("tanh.approx.f32", unit::tanh, 0x3f00_0000, 0xecb8_e846_da55_4505),
    ];
    for (name, function, first, of_device) in octaves {
        let found = hash((0..1 << 23).map(|i| function(first + i)));
        assert_eq!(found, of_device, "{name} from {first:#x}");
    }
}

/// Formats of 16 bits truncate, powers above float16 are infinite, and `rsqrt` of doubles is the seed and one step.
#[test]
fn other_formats() {
    use rtcg_vgpu_softmath::approx::{ApproxFunction, execute_approx, rsqrt_approx_f64};
    use rtcg_vgpu_softmath::{FloatFormat, FloatMode};

    let plain = FloatMode::default();
    let flushing = FloatMode { ftz: true, ..plain };
    let half = |function, a| execute_approx(function, FloatFormat::F16, plain, a);
    assert_eq!(half(ApproxFunction::Ex2, 0x11c5), 0x3c00);
    assert_eq!(half(ApproxFunction::Ex2, 0x4c00), 0x7c00);
    assert_eq!(half(ApproxFunction::Tanh, 0x1c08), 0x1c07);
    assert_eq!(execute_approx(ApproxFunction::Ex2, FloatFormat::BF16, flushing, 0x3bb9), 0x3f80);
    assert_eq!(execute_approx(ApproxFunction::Tanh, FloatFormat::BF16, plain, 0x3b81), 0x3b80);
    let seen = [(0x3fed_54fe_80f3_37b6, 0x3ff0_b63a_a5cd_25b8), (0x414c_dace_a753_0bb7, 0x3f40_d977_b24f_3371)];
    for (x, of_device) in seen {
        assert_eq!(rsqrt_approx_f64(x), of_device, "{x:#x}");
    }
    assert_eq!(rsqrt_approx_f64(4f64.powi(-530).to_bits()), 2f64.powi(530).to_bits());
}

/// The function of one lane that `function` is to agree with, on words.
fn of_one_lane(function: LaneFunction) -> Function {
    match function {
        LaneFunction::Rcp => unit::rcp,
        LaneFunction::RcpFtz => unit::rcp_ftz,
        LaneFunction::Rsqrt => unit::rsqrt,
        LaneFunction::RsqrtFtz => unit::rsqrt_ftz,
        LaneFunction::Sqrt => unit::sqrt,
        LaneFunction::SqrtFtz => unit::sqrt_ftz,
        LaneFunction::Ex2 => unit::ex2,
        LaneFunction::Ex2Ftz => unit::ex2_ftz,
        LaneFunction::Lg2 => unit::lg2,
        LaneFunction::Lg2Ftz => unit::lg2_ftz,
        LaneFunction::Sin => SIN,
        LaneFunction::Cos => COS,
        LaneFunction::Tanh => unit::tanh,
        LaneFunction::RcpF64 => unit::rcp_upper_word,
        LaneFunction::RsqrtF64 => unit::rsqrt_upper_word,
    }
}

/// Aligned as compiled code aligns lanes.
#[repr(align(16))]
struct Aligned<T>(T);

/// Calls a function of eight lanes, or of the upper words of eight doubles.
///
/// # Safety
/// `address` is that of such a function, which this processor runs.
unsafe fn call(address: usize, is_double: bool, words: [u32; LANES]) -> [u32; LANES] {
    // SAFETY: the caller's promise.
    unsafe {
        if is_double {
            let mut lanes = Aligned(words.map(|word| u64::from(word) << 32));
            std::mem::transmute::<usize, extern "C" fn(&mut [u64; LANES])>(address)(&mut lanes.0);
            return lanes.0.map(|lane| (lane >> 32) as u32);
        }
        let mut lanes = Aligned(words);
        std::mem::transmute::<usize, extern "C" fn(&mut [u32; LANES])>(address)(&mut lanes.0);
        lanes.0
    }
}

/// The eight words of a call, in every version that this processor can run.
#[test]
fn eight_lanes_agree_with_one() {
    for &function in LaneFunction::ALL {
        let of_one = of_one_lane(function);
        let is_double = matches!(function, LaneFunction::RcpF64 | LaneFunction::RsqrtF64);
        for version in function.vector_address().into_iter().chain([function.scalar_address()]) {
            // Every 1,021st argument, and those around the ends of octaves.
            let arguments = (0..u32::MAX / 1021).map(|i| i * 1021);
            let ends =
                (0..512_u32).flat_map(|field| (0..16).map(move |i| (field << 23).wrapping_add(i).wrapping_sub(8)));
            let arguments: Vec<u32> = arguments.chain(ends).collect();
            for chunk in arguments.as_chunks::<LANES>().0 {
                // SAFETY: the address is that of a function of these lanes, which this processor runs.
                let got = unsafe { call(version, is_double, *chunk) };
                assert_eq!(got, chunk.map(of_one), "{function:?} of {chunk:x?}");
            }
        }
    }
}

/// The words of a call for a warp, in every version that this processor can run.
#[test]
fn thirty_two_lanes_agree_with_one() {
    #[repr(align(16))]
    struct Aligned([u32; WARP_LANES]);
    for &function in LaneFunction::ALL {
        if matches!(function, LaneFunction::RcpF64 | LaneFunction::RsqrtF64) {
            assert_eq!(function.vector_warp_address(), None);
            continue;
        }
        let of_one = of_one_lane(function);
        for version in function.vector_warp_address().into_iter().chain([function.scalar_warp_address()]) {
            let arguments: Vec<u32> = (0..u32::MAX / 4099).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
            for warp in arguments.as_chunks::<WARP_LANES>().0 {
                let mut lanes = Aligned(*warp);
                // SAFETY: the address is that of a function of these lanes, which this processor runs.
                unsafe { std::mem::transmute::<usize, extern "C" fn(&mut [u32; WARP_LANES])>(version)(&mut lanes.0) };
                assert_eq!(lanes.0, warp.map(of_one), "{function:?} of {warp:x?}");
            }
        }
    }
}

/// The same for all arguments, in all versions: some minutes.
#[test]
#[ignore = "computes each function 2^33 times"]
fn thirty_two_lanes_agree_with_one_for_all_arguments() {
    #[repr(align(16))]
    struct Aligned([u32; WARP_LANES]);
    let functions: Vec<LaneFunction> =
        LaneFunction::ALL.iter().copied().filter(|function| function.vector_warp_address().is_some()).collect();
    std::thread::scope(|threads| {
        for half in 0..2_u32 {
            let functions = &functions;
            threads.spawn(move || {
                for &function in functions {
                    let of_one = of_one_lane(function);
                    let version = function.vector_warp_address().unwrap();
                    for first in (half << 31..=half << 31 | 0x7fff_ffe0).step_by(WARP_LANES) {
                        let arguments: [u32; WARP_LANES] = std::array::from_fn(|lane| first + lane as u32);
                        let mut lanes = Aligned(arguments);
                        // SAFETY: the address is that of a function of these lanes, which this processor runs.
                        let call =
                            unsafe { std::mem::transmute::<usize, extern "C" fn(&mut [u32; WARP_LANES])>(version) };
                        call(&mut lanes.0);
                        assert_eq!(lanes.0, arguments.map(&of_one), "{function:?} from {first:x}");
                    }
                }
            });
        }
    });
}
