//! Operands, initialisers and constant expressions beyond the plain ones: what ptxas 13.5 takes is taken, with its
//! meaning; what it refuses is refused.

use crate::common::forms::{FORM_HEADER, kernel, random_form};
use crate::common::mutate::check_input;
use rtcg_ptx::ast::VarInit;
use rtcg_ptx::{parse, print_module};

/// A text, and whether ptxas takes it.
const FORMS: &[(&str, bool)] = &[
    ("and.pred %p2, %p0, !%p1;", true),
    ("or.pred %p2, !%p0, !%p1;", true),
    ("xor.pred %p2, !1, %p0;", true),
    ("not.pred %p2, !%p0;", true),
    ("mov.pred %p2, !%p1;", true),
    ("mov.pred %p2, !1;", true),
    ("selp.u32 %r1, 1, 0, !%p1;", true),
    ("selp.u32 %r1, 1, 0, 1;", true),
    ("setp.eq.and.u32 %p2, %r1, %r2, !%p1;", true),
    ("setp.eq.and.u32 %p2, %r1, %r2, !1;", true),
    ("cnot.b32 %r1, !%r2;", false),
    ("and.b32 %r1, %r2, !%r3;", false),
    ("add.u32 %r1, %v.x, %v.y;", true),
    ("add.u32 %v.x, %v.w, 1;", true),
    ("mov.b32 %v.a, %v.b;", true),
    ("mov.b16 %vh2.r, %vh0.g;", true),
    ("mov.b32 %v.q, 1;", false),
    ("mov.b64 %vd.z, 1;", false),
    ("mov.b32 %r1, %v;", false),
    ("mov.b16 %h1, %vh3.x;", false),
    ("mov.v4.b32 %v, %v;", true),
    ("mov.v4.b32 %v, {%r1, %r2, %r3, %r4};", true),
    ("mov.v4.u32 {%r1, _, %r3, %r4}, %v;", true),
    ("mov.v2.f32 %vf, {0f00000000, 1.0};", true),
    ("mov.v2.b64 {%rd1, %rd2}, {%rd3, 0};", true),
    ("mov.v4.b16 %vh1, {1, 2, 3, 4};", true),
    ("mov.v4.b64 {%rd1, %rd2, %rd3, %rd4}, {0, 0, 0, 0};", false),
    ("mov.v8.b32 {%r1,%r2,%r3,%r4,%r1,%r2,%r3,%r4}, {0,7,0,0,0,0,0,0};", false),
    ("mov.v4.pred {%p1, %p2, %p3, %p4}, {%p0, %p0, %p1, %p1};", false),
    ("mov.v4.b32 %vf, {1, 2, 3, 4};", false),
    ("mov.b64 %vf, %rd1;", true),
    ("mov.b64 %rd1, %vf;", true),
    ("mov.b64 %rd1, {%v.x, %v.y};", true),
    ("mov.b128 %q1, %v;", true),
    ("ld.global.v4.u32 %v, [arr];", true),
    ("st.global.v2.f32 [arr], %vf;", true),
    ("ld.global.v2.u32 %v, [arr];", false),
    ("ld.global.u32 %r2, arr[1];", true),
    ("ld.global.u32 %r2, arr[%r6];", true),
    ("ld.global.u32 %r2, arr[%rd1];", true),
    ("ld.global.u32 %r2, arr[%h1];", true),
    ("ld.global.u32 %r2, arr[%r6+1];", true),
    ("ld.global.u32 %r2, arr[%f1];", false),
    ("ld.global.u32 %r2, arr[%r6-1];", false),
    ("ld.global.u32 %r2, arr[1]+4;", false),
    ("ld.global.u32 %r2, [arr[1]];", false),
    ("ld.global.u32 %r2, arr;", false),
    ("ld.global.u32 %r2, arr2[1][2];", false),
    ("ld.global.u32 %r2, %rd0[1];", false),
    ("ld.param.u32 %r1, q[1];", false),
    ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, arrv[1];", true),
    ("ld.u32 %r1, arr[1];", true),
    ("ld.shared.u32 %r2, arr[1];", false),
    ("st.shared.u32 sh[%r6+3], %r2;", true),
    ("st.local.b32 larr[%r5], %r5;", true),
    ("ld.const.u32 %r2, carr[3];", true),
    ("atom.global.add.u32 %r1, arr[1], 1;", false),
    ("red.global.add.u32 arr[%r1], 1;", false),
    ("mov.u64 %rd1, arr[1];", true),
    ("mov.u64 %rd1, arr[-1];", true),
    ("mov.u64 %rd1, arr[1+1];", true),
    ("mov.u64 %rd1, arr[%r1];", true),
    ("mov.u64 %rd1, arr[1]+4;", false),
    ("mov.u32 %r1, sh[2];", true),
    ("cvta.global.u64 %rd1, arr[1];", true),
    ("add.u64 %rd1, arr, 4;", false),
    ("lop3.or.b32 %r3|%p2, %r5, %r6, %r5, 0x3f, !%p0;", true),
    ("lop3.and.b32 _|%p2, %r5, %r6, %r5, 0x3f, 1;", true),
    ("lop3.b32 %r3|%p2, %r5, %r6, %r5, 0x3f, %p0;", false),
    ("lop3.or.b32 %r3, %r5, %r6, %r5, 0x3f, %p0;", false),
    ("lop3.xor.b32 %r3|%p2, %r5, %r6, %r5, 0x3f, %p0;", false),
    ("lop3.or.b32 %r3|_, %r5, %r6, %r5, 0x3f, %p1;", false),
    ("clmad.lo.u64 %rd1, %rd1, %rd2, %rd3;", true),
    ("clmad.hi.s64 %rd1, %rd1, 5, 0;", true),
    ("clmad.lo.b64 %rd1, %rd1, %rd2, %rd3;", false),
    ("clmad.lo.u32 %r1, %r1, %r2, %r3;", false),
    ("clmad.u64 %rd1, %rd1, %rd2, %rd3;", false),
    ("mov.v4.u32 %v, %tid;", true),
    ("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;", true),
    ("mov.u32 %r1, %tid;", false),
    ("mov.u32 %r1, %r2+4;", true),
    ("mov.f32 %f1, %f2+4;", false),
];

#[test]
fn forms_are_those_of_ptxas() {
    for (body, taken) in FORMS {
        let result = parse(kernel(body));
        assert_eq!(!result.has_errors(), *taken, "{body}: {}", result.render_diagnostics("k.ptx"));
        if *taken {
            let printed = print_module(&result.module);
            let again = parse(printed.as_str());
            assert!(!again.has_errors(), "{body}: {}\n{printed}", again.render_diagnostics("printed"));
            assert_eq!(print_module(&again.module), printed, "{body}");
        } else {
            assert_eq!(result.diagnostics.len(), 1, "{body}: {}", result.render_diagnostics("k.ptx"));
        }
    }
}

#[test]
fn vector_registers_are_declared_as_ptxas_has_them() {
    for (text, taken) in [
        (".reg .v4 .b32 %a, %b; .reg .v2 .b64 %c<2>;", true),
        (".reg .v4 .b64 %a;", false),
        (".reg .v4 .pred %a;", false),
        (".reg .v8 .b16 %a;", false),
        (".reg .v2 .b32 %v;", false),
        (".reg .v2 .b32 %w<100000000>;", false),
        (".reg .b32 %v_0; mov.b32 %v_0, %v.x;", true),
    ] {
        assert_eq!(!parse(kernel(text)).has_errors(), taken, "{text}");
    }
}

/// The bytes of a variable's initialiser.
fn initial_bytes(declaration: &str) -> Result<Vec<u8>, String> {
    let result = parse(format!("{FORM_HEADER}{declaration}"));
    if result.has_errors() {
        return Err(result.render_diagnostics("k.ptx"));
    }
    let printed = print_module(&result.module);
    assert_eq!(print_module(&parse(printed.as_str()).module), printed, "{declaration}");
    let init = &result.module.vars.last().expect("a variable").init;
    let bytes = init.iter().map(|init| match init {
        VarInit::Bytes(bytes) => bytes.clone(),
        VarInit::Address { size, shift, .. } => vec![0xa0 + *shift as u8 / 8; *size as usize],
    });
    Ok(bytes.collect::<Vec<_>>().concat())
}

/// Expressions and their values in 64 bits, as ptxas writes them to a cubin.
const EXPRESSIONS: &[(&str, u64)] = &[
    ("~0", u64::MAX),
    ("~0 % 10", 5),
    ("-1 % 10", 5),
    ("-7 % 3", 0),
    ("7 % -3", 7),
    ("(~0 % 10 - 6) / 2", u64::MAX / 2),
    ("~0 / 2", u64::MAX / 2),
    ("-1 / 2", 0),
    ("-7 / 2", -3_i64 as u64),
    ("-1 > 0", 0),
    ("~0 > 0", 1),
    ("-1 >> 1", u64::MAX),
    ("~0 >> 1", u64::MAX / 2),
    ("1 << 70", 0x40),
    ("1 << 64", 1),
    ("-8 >> 70", u64::MAX),
    ("0xffffffffffffffff >> 1", u64::MAX / 2),
    ("0x8000000000000000 > 0", 1),
    ("!5", 0),
    ("-(5)", -5_i64 as u64),
    ("(.u64)-1 / 2", u64::MAX / 2),
    ("(.s64)0xffffffffffffffff / 2", 0),
    ("-5 / 2U", 0x7fff_ffff_ffff_fffd),
    ("-5 * 2U / 3", 0x5555_5555_5555_5552),
    ("(1 ? -1 : 5U) / 2", 0),
    ("(0 ? 1 : 2U) - 3 > 0", 1),
    ("-1 == 0xffffffffffffffff", 1),
    ("-1 < 5U", 0),
    ("-1 < 5", 1),
    ("((5 > 3) - 2) / 2", 0),
    ("(~(-1) - 1) / 2", u64::MAX / 2),
    ("~-5 / 2", 2),
    ("(5 - 7) / 2", u64::MAX),
    ("(5U - 7) / 2", u64::MAX / 2),
    ("2 + 3 * 4", 14),
    ("1 << 2 + 1", 8),
    ("6 & 3 == 3", 0),
    ("1 | 2 ^ 3", 1),
    ("-9223372036854775808 / 2", 1 << 62),
    ("(WARP_SZ - 33) / 2", 0),
    ("(-1U >> 1)", u64::MAX / 2),
    ("(5U << 1) - 11 > 0", 1),
    ("(5 << 1U) - 11 > 0", 0),
    ("(-1 & -1U)/2", u64::MAX / 2),
    ("(5U == 5) - 2 > 0", 0),
    ("(-5 >> 1U) / 2", u64::MAX),
    ("1.5 > 1.0", 1),
    ("2.5 == 1.0", 0),
];

#[test]
fn constant_expressions_have_the_values_of_ptxas() {
    for (text, value) in EXPRESSIONS {
        assert_eq!(initial_bytes(&format!(".global .s64 v = {text};")), Ok(value.to_le_bytes().to_vec()), "{text}");
    }
    for text in ["1 / 0", "1 % 0", "1U / 0", "0 ? 1 / 0 : 2", "1.5 ? 2 : 3", "1.0 == 1", "1.5 + 2", "!1.5", "(.s64)1.5"]
    {
        assert!(initial_bytes(&format!(".global .s64 v = {text};")).is_err(), "{text}");
    }
}

#[test]
fn initialisers_are_cut_and_filled_up() {
    let cases: &[(&str, &[u8])] = &[
        (".global .u8 v[4] = {256, -1, -300, 511};", &[0, 0xff, 0xd4, 0xff]),
        (".global .u16 v = 70000;", &[0x70, 0x11]),
        (".global .u32 v = 0x1ffffffff;", &[0xff; 4]),
        (".global .u32 v = -5000000000;", &[0x00, 0x0e, 0xfa, 0xd5]),
        (".global .b32 v = 1.5;", &[0, 0, 0xc0, 0x3f]),
        (".global .b64 v = 1.5;", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f]),
        (".global .f64 v = 1.5 * 2.0 - 0.5;", &[0, 0, 0, 0, 0, 0, 4, 0x40]),
        (".global .f64 v = -(1.5);", &[0, 0, 0, 0, 0, 0, 0xf8, 0xbf]),
        (".global .f32 v = 1e40;", &[0, 0, 0x80, 0x7f]),
        (".global .u8 v[2] = {0xff(arr), 0xff00(arr+4)};", &[0xa0, 0xa1]),
        (".global .u32 v[3] = {0xff0000(arr), 7, 0xff(generic(arr))};", &[0xa2, 0, 0, 0, 7, 0, 0, 0, 0xa0, 0, 0, 0]),
        (".global .u64 v = 0xff00000000000000(arr);", &[0xa7, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (declaration, bytes) in cases {
        assert_eq!(initial_bytes(declaration).as_deref(), Ok(*bytes), "{declaration}");
    }
    for declaration in [
        ".global .u8 v = 0xf(arr);",
        ".global .u32 v = 0xff00ff(arr);",
        ".global .u8 v = 0x1fe(arr);",
        ".global .u8 v = 0xffff(arr);",
        ".global .u8 v = 0(arr);",
        ".global .u8 v = arr;",
        ".global .u32 v = 1.5;",
    ] {
        assert!(initial_bytes(declaration).is_err(), "{declaration}");
    }
}

/// Forms put together at random: never a panic; what is taken is printed as what is read again.
#[test]
fn random_forms_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut n_taken = 0;
    for _ in 0..20_000 {
        n_taken += u32::from(check_input(&random_form(&mut below)));
    }
    assert!(n_taken > 1000, "{n_taken}");
}
