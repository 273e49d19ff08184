//! `mma.sp` against the dense product of what is stored.

use super::elements::*;
use super::fragments::*;
use crate::jit_support::*;

/// `mma.sp`: the dense rows come from stored elements and four bits of metadata per chunk.
fn check_sparse(size: [usize; 3], d: &'static str, ty: &'static str, selector: usize) {
    let [m, n, k] = size;
    let chunk = match ty {
        "tf32" => 2,
        "s4" | "u4" => 8,
        _ => 4,
    };
    let (stored, b, c) = (Matrix::random(ty, m, k / 2, 41), Matrix::random(ty, k, n, 42), Matrix::random(d, m, n, 43));
    let mut dense = Matrix { cols: k, v: vec![0; m * k] };
    let mut words = vec![0_u32; 32];
    for (row, at) in (0..m).flat_map(|row| (0..k / chunk).map(move |at| (row, at))) {
        let legal: &[usize] = if chunk == 2 { &[4, 14] } else { &[4, 8, 12, 9, 13, 14] };
        let nibble = legal[(row * 31 + at * 17 + 3) % 97 % legal.len()];
        for i in 0..chunk / 2 {
            let place = match chunk {
                2 => usize::from(nibble == 14),
                4 => nibble >> (2 * i) & 3,
                _ => (nibble >> (i / 2 * 2) & 3) * 2 + i % 2,
            };
            dense.v[row * k + at * chunk + place] = stored.element(row, at * chunk / 2 + i);
        }
        let (lane, bit) = match (element_bits(ty) >= 16, k * element_bits(ty) == 512) {
            (true, false) => (selector, row / 8 * 16 + at * 4),
            (true, true) => (selector * 2 + at / 4, row / 8 * 16 + at % 4 * 4),
            (false, _) => (selector * 2 + row / 8 + at / 8 * 2, at % 8 * 4),
        };
        words[row % 8 * 4 + lane] |= (nibble as u32) << bit;
    }
    let op = format!("mma.sp.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{ty}.{ty}.{d}");
    let case = MmaCase { op, size, types: [d, ty, ty, d] };
    let sums = fragment_words('c', size, d, &c);
    let (pa, pb) = (fragment_words('a', [m, n, k / 2], ty, &stored), fragment_words('b', size, ty, &b));
    let [na, nb, nc] = [&pa, &pb, &sums].map(|p| p.len() / 32);
    let body = [
        format!(".reg .b32 %a<{na}>; .reg .b32 %b<{nb}>; .reg .b32 %c<{nc}>; .reg .b32 %d<{nc}>; .reg .b32 %e<1>;\n"),
        (0..4).map(|i| format!("add.u64 %p{i}, %p{i}, %o0;\n")).collect(),
        fragment_moves(true, "a", "p0", na, false),
        fragment_moves(true, "b", "p1", nb, false),
        fragment_moves(true, "c", "p2", nc, false),
        format!("ld.global.b32 %e0, [%p2+{}];\n", nc * 128),
        format!(
            "{} {}, {}, {}, {}, %e0, {selector};\n",
            case.op,
            register_list("d", nc),
            register_list("a", na),
            register_list("b", nb),
            register_list("c", nc)
        ),
        fragment_moves(false, "d", "p3", nc, false),
    ]
    .concat();
    let third = [sums, words].concat();
    let got = run_all_variants(
        &kernel_text(&body),
        "k",
        1,
        [32, 1, 1],
        &[buffer_arg(&pa), buffer_arg(&pb), buffer_arg(&third), buffer_arg(&vec![0_u32; nc * 32])],
    );
    let want = Matrix { cols: n, v: expected_product(&case, &dense, &b, &c) };
    assert_eq!(to_u32s(&got[3]), fragment_words('d', size, d, &want), "{} selector {selector}", case.op);
}

#[test]
fn sparse_mma() {
    for (ty, k) in [("f16", 16), ("bf16", 16), ("tf32", 8)] {
        (0..4).for_each(|selector| check_sparse([16, 8, k], "f32", ty, selector));
        (0..2).for_each(|selector| check_sparse([16, 8, 2 * k], "f32", ty, selector));
    }
    for (ty, k) in [("s8", 32), ("u4", 64)] {
        (0..2).for_each(|selector| check_sparse([16, 8, k], "s32", ty, selector));
        check_sparse([16, 8, 2 * k], "s32", ty, 0);
    }
    check_sparse([16, 8, 16], "f16", "f16", 2);
}
