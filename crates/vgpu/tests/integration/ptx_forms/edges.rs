//! Instructions at operands for which CUDA's documentation leaves the result open: a device's results.

use crate::jit_support::{buffer_arg, run_all_variants, to_u32s};

/// `inst` of 32 lanes: each reads two 64-bit words `%d1` and `%d2`, and stores `%d0`.
fn results_of(vars: &str, inst: &str, operands: &[[u64; 2]]) -> Vec<u64> {
    let text = format!(
        ".visible .entry k(.param .u64 out, .param .u64 in) {{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b64 %out, %in; {vars}
    ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %r8, %tid.x;
    mul.wide.u32 %d8, %r8, 16; add.s64 %d8, %in, %d8; ld.global.v2.b64 {{%d1, %d2}}, [%d8];
    cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2;
    {inst}
    mul.wide.u32 %d8, %r8, 8; add.s64 %d8, %out, %d8; st.global.b64 [%d8], %d0; ret; }}"
    );
    let mut words: Vec<u64> = operands.iter().flatten().copied().collect();
    words.resize(64, 0);
    let arguments = [buffer_arg(&vec![0u64; 32]), buffer_arg(&words)];
    let bytes = run_all_variants(&text, "k", 1, [32, 1, 1], &arguments).swap_remove(0);
    bytes.chunks(8).take(operands.len()).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect()
}

#[test]
fn fields_of_64_bits_take_their_place_and_length_whole() {
    let a = 0x89ab_cdef_0123_4567;
    let places = [[0, 256], [4, 256], [32, 300], [256, 1], [256, 64], [0xffff_ffff, 8]];
    let whole = |inst: &str| results_of("", &format!("mov.b64 %d3, {a:#x}; {inst}"), &places);
    assert_eq!(whole("bfe.u64 %d0, %d3, %r1, %r2;"), [a, a >> 4, a >> 32, 0, 0, 0]);
    let signed = [a, 0xf89a_bcde_f012_3456, 0xffff_ffff_89ab_cdef, u64::MAX, u64::MAX, u64::MAX];
    assert_eq!(whole("bfe.s64 %d0, %d3, %r1, %r2;"), signed);
    let inserted = [u64::MAX, !0xf | a & 0xf, !0xffff_ffff | a & 0xffff_ffff, a, a, a];
    assert_eq!(whole("bfi.b64 %d0, -1, %d3, %r1, %r2;"), inserted);
    // Those of 32 bits take the lowest byte.
    let narrow =
        results_of("", "bfe.u32 %r3, 0x89abcdef, %r1, %r2; cvt.u64.u32 %d0, %r3;", &[[256, 8], [4, 264], [0, 256]]);
    assert_eq!(narrow, [0xef, 0xde, 0]);
}

#[test]
fn no_bit_is_found_downwards_from_beyond_a_word() {
    let found = results_of(
        "",
        "fns.b32 %r3, -1, %r1, %r2; cvt.u64.u32 %d0, %r3;",
        &[[31, 0xffff_ffff], [32, 0xffff_ffff], [32, 0xffff_fffd], [33, 0], [40, 1]],
    );
    assert_eq!(found, [31, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff]);
}

#[test]
fn a_multiply_add_of_doubles_keeps_the_nan_of_a_factor() {
    let (one, nan, addend) = (0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0001, "0dFFF8000012345678");
    for rounding in ["rn", "rz", "rm", "rp"] {
        let inst = format!("fma.{rounding}.f64 %d0, %d1, %d2, {addend};");
        let found = results_of("", &inst, &[[one, nan], [nan, one], [one, one], [nan, nan | 2]]);
        let quiet = nan | 1 << 51;
        assert_eq!(found, [quiet, quiet, 0xfff8_0000_1234_5678, quiet | 2], "{rounding}");
    }
}

#[test]
fn minima_of_64_bits_in_shared_memory_are_served_in_rounds() {
    let prepare = "mov.b64 %d3, 0; st.shared.b64 [word], %d3; bar.warp.sync -1;";
    let inst = format!("{prepare} atom.shared.max.u64 %d0, [word], %d1;");
    let values: Vec<[u64; 2]> = (0..32).map(|lane| [lane * 3 % 32, 0]).collect();
    let found = results_of(".shared .align 8 .b64 word;", &inst, &values);
    // A lane whose value changes nothing is done in the first round in which that is so.
    let expected = [
        0, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 30, 3, 6, 9, 12, 15, 18, 21, 24,
        27, 30,
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_address_is_of_one_space() {
    let text = ".const .align 4 .u32 constants[4] = {1, 2, 3, 4};
    .visible .entry k(.param .u64 out) {
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 8 .b8 memory[64];
    ld.param.u64 %d0, [out]; mov.u64 %d1, constants; mov.u64 %d2, memory; cvta.shared.u64 %d2, %d2; mov.u32 %r8, 0;
    isspacep.const %p, %d1; selp.u32 %r1, 1, 0, %p; add.u32 %r8, %r8, %r1;
    isspacep.global %p, %d1; selp.u32 %r1, 10, 0, %p; add.u32 %r8, %r8, %r1;
    isspacep.const %p, %d0; selp.u32 %r1, 100, 0, %p; add.u32 %r8, %r8, %r1;
    isspacep.global %p, %d0; selp.u32 %r1, 1000, 0, %p; add.u32 %r8, %r8, %r1;
    isspacep.param %p, %d0; selp.u32 %r1, 10000, 0, %p; add.u32 %r8, %r8, %r1;
    add.s64 %d3, %d2, 0x1000000; isspacep.shared %p, %d3; selp.u32 %r1, 100000, 0, %p; add.u32 %r8, %r8, %r1;
    isspacep.shared %p, %d2; selp.u32 %r1, 1000000, 0, %p; add.u32 %r8, %r8, %r1;
    mov.u32 %r2, %tid.x; mul.wide.u32 %d4, %r2, 4; add.s64 %d4, %d0, %d4; st.global.u32 [%d4], %r8; ret; }";
    assert_eq!(to_u32s(&run_all_variants(text, "k", 1, [32, 1, 1], &[buffer_arg(&[0u32; 32])])[0]), [1_001_001; 32]);
}
