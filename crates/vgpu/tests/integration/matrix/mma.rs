//! `mma` in every shape and type.

use super::elements::*;
use super::fragments::*;
use crate::jit_support::*;

fn check_mma(c: &MmaCase) {
    let [m, n, k] = c.size;
    let [td, ta, tb, tc] = c.types;
    let (a, b, sum) = (Matrix::random(ta, m, k, 1), Matrix::random(tb, k, n, 2), Matrix::random(tc, m, n, 3));
    let (pa, pb, pc) = (
        fragment_words('a', c.size, ta, &a),
        fragment_words('b', c.size, tb, &b),
        fragment_words('c', c.size, tc, &sum),
    );
    let wide = |ty: &str| element_bits(ty) == 64;
    let count = |p: &[u32], ty: &str| p.len() / if wide(ty) { 64 } else { 32 };
    let nd = m * n * element_bits(td) / 32 / element_bits(td).max(32);
    let reg = |ty: &str, name: &str, n: usize| format!(".reg .b{} %{name}<{n}>;\n", element_bits(ty).max(32));
    let offset = |ty: &str, p: &str| format!("add.u64 %{p}, %{p}, %o{};\n", usize::from(wide(ty)));
    let (na, nb, nc) = (count(&pa, ta), count(&pb, tb), count(&pc, tc));
    let body = [
        reg(ta, "a", na),
        reg(tb, "b", nb),
        reg(tc, "c", nc),
        reg(td, "d", nd),
        offset(ta, "p0"),
        offset(tb, "p1"),
        offset(tc, "p2"),
        offset(td, "p3"),
        fragment_moves(true, "a", "p0", na, wide(ta)),
        fragment_moves(true, "b", "p1", nb, wide(tb)),
        fragment_moves(true, "c", "p2", nc, wide(tc)),
        format!(
            "{} {}, {}, {}, {};\n",
            c.op,
            register_list("d", nd),
            register_list("a", na),
            register_list("b", nb),
            register_list("c", nc)
        ),
        fragment_moves(false, "d", "p3", nd, wide(td)),
    ]
    .concat();
    let out = vec![0_u32; nd * 32 * element_bits(td).max(32) / 32];
    let got = run_all_variants(
        &kernel_text(&body),
        "k",
        1,
        [32, 1, 1],
        &[buffer_arg(&pa), buffer_arg(&pb), buffer_arg(&pc), buffer_arg(&out)],
    );
    let want = Matrix { cols: n, v: expected_product(c, &a, &b, &sum) };
    let got = to_u32s(&got[3]);
    for (lane, i) in (0..32).flat_map(|l| (0..m * n / 32).map(move |i| (l, i))) {
        let (row, col) = isa_fragment_position('d', c.size, td, lane, i);
        let w = element_bits(td);
        let raw = match w {
            64 => u64::from(got[(i * 32 + lane) * 2]) | u64::from(got[(i * 32 + lane) * 2 + 1]) << 32,
            16 => u64::from(got[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff),
            _ => got[i * 32 + lane].into(),
        };
        assert_eq!(decode_element(td, raw), want.element(row, col), "{} row {row} column {col}", c.op);
    }
}

fn mma_case(
    size: [usize; 3],
    d: &'static str,
    a: &'static str,
    b: &'static str,
    modifier: &str,
    tail: &str,
) -> MmaCase {
    let [m, n, k] = size;
    MmaCase {
        op: format!("mma.sync.aligned.m{m}n{n}k{k}.row.col{modifier}.{d}.{a}.{b}.{d}{tail}"),
        size,
        types: [d, a, b, d],
    }
}

#[test]
fn mma_of_floats() {
    for ty in ["f16", "bf16"] {
        for k in [8, 16] {
            check_mma(&mma_case([16, 8, k], "f32", ty, ty, "", ""));
        }
    }
    for k in [8, 16] {
        check_mma(&mma_case([16, 8, k], "f16", "f16", "f16", "", ""));
    }
    for k in [4, 8] {
        check_mma(&mma_case([16, 8, k], "f32", "tf32", "tf32", "", ""));
    }
}

#[test]
fn mma_of_doubles() {
    check_mma(&mma_case([8, 8, 4], "f64", "f64", "f64", "", ""));
    for k in [4, 8, 16] {
        check_mma(&mma_case([16, 8, k], "f64", "f64", "f64", ".rz", ""));
    }
}

#[test]
fn mma_of_integers_and_bits() {
    for (a, b) in [("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")] {
        for (m, k) in [(8, 16), (16, 16), (16, 32)] {
            check_mma(&mma_case([m, 8, k], "s32", a, b, if m == 8 { ".satfinite" } else { "" }, ""));
        }
    }
    for (a, b) in [("s4", "s4"), ("u4", "s4"), ("s4", "u4"), ("u4", "u4")] {
        for (m, k) in [(8, 32), (16, 32), (16, 64)] {
            check_mma(&mma_case([m, 8, k], "s32", a, b, "", ""));
        }
    }
    for (m, k) in [(8, 128), (16, 128), (16, 256)] {
        for op in [".xor.popc", ".and.popc"] {
            check_mma(&mma_case([m, 8, k], "s32", "b1", "b1", "", op));
        }
    }
}

/// `mma.m8n8k4` of halves: quad pairs hold rows as the ISA says.
#[test]
fn mma_by_quad_pairs() {
    for (a_col, b_col, td, tc) in [
        (false, true, "f32", "f32"),
        (true, false, "f32", "f16"),
        (false, false, "f16", "f16"),
        (true, true, "f32", "f32"),
    ] {
        let word = |col: bool| if col { "col" } else { "row" };
        let op = format!("mma.sync.aligned.m8n8k4.{}.{}.{td}.f16.f16.{tc}", word(a_col), word(b_col));
        let case = MmaCase { op, size: [8, 8, 4], types: [td, "f16", "f16", tc] };
        let quads: Vec<[Matrix; 3]> = (0..4)
            .map(|q| {
                [
                    Matrix::random("f16", 8, 4, 10 + q),
                    Matrix::random("f16", 4, 8, 20 + q),
                    Matrix::random(tc, 8, 8, 30 + q),
                ]
            })
            .collect();
        let quad = |lane: usize| lane % 16 / 4;
        let upper = |lane: usize| if lane < 16 { 0 } else { 4 };
        let sum_place = |ty: &str, lane: usize, i: usize| match ty {
            "f16" => (lane % 4 + upper(lane), i),
            _ => ((lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)),
        };
        let (mut pa, mut pb, mut pc) = (vec![0_u32; 64], vec![0_u32; 64], vec![0_u32; 256]);
        for lane in 0..32 {
            let [a, b, c] = &quads[quad(lane)];
            for i in 0..4 {
                let av =
                    if a_col { a.element(i + upper(lane), lane % 4) } else { a.element(lane % 4 + upper(lane), i) };
                let bv =
                    if b_col { b.element(i, lane % 4 + upper(lane)) } else { b.element(lane % 4, i + upper(lane)) };
                pa[i / 2 * 32 + lane] |= (encode_element("f16", av) as u32) << (i % 2 * 16);
                pb[i / 2 * 32 + lane] |= (encode_element("f16", bv) as u32) << (i % 2 * 16);
            }
            for i in 0..8 {
                let (row, col) = sum_place(tc, lane, i);
                let v = encode_element(tc, c.element(row, col)) as u32;
                if tc == "f16" { pc[i / 2 * 32 + lane] |= v << (i % 2 * 16) } else { pc[i * 32 + lane] = v }
            }
        }
        let count = |ty: &str| if ty == "f16" { 4 } else { 8 };
        let body = [
            ".reg .b32 %a<2>; .reg .b32 %b<2>; .reg .b32 %c<8>; .reg .b32 %d<8>;".to_string(),
            (0..4).map(|i| format!("add.u64 %p{i}, %p{i}, %o0;\n")).collect(),
            fragment_moves(true, "a", "p0", 2, false),
            fragment_moves(true, "b", "p1", 2, false),
            fragment_moves(true, "c", "p2", count(tc), false),
            format!(
                "{} {}, {}, {}, {};\n",
                case.op,
                register_list("d", count(td)),
                register_list("a", 2),
                register_list("b", 2),
                register_list("c", count(tc))
            ),
            fragment_moves(false, "d", "p3", count(td), false),
        ]
        .concat();
        let got = run_all_variants(
            &kernel_text(&body),
            "k",
            1,
            [32, 1, 1],
            &[buffer_arg(&pa), buffer_arg(&pb), buffer_arg(&pc), buffer_arg(&[0_u32; 256])],
        );
        let got = to_u32s(&got[3]);
        for (lane, i) in (0..32).flat_map(|l| (0..8).map(move |i| (l, i))) {
            let [a, b, c] = &quads[quad(lane)];
            let (row, col) = sum_place(td, lane, i);
            let raw = if td == "f16" { got[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff } else { got[i * 32 + lane] };
            assert_eq!(
                decode_element(td, raw.into()),
                expected_product(&case, a, b, c)[row * 8 + col],
                "{} lane {lane} element {i}",
                case.op
            );
        }
    }
}
