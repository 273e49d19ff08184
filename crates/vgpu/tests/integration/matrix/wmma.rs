//! `wmma` against matrices in memory, in each layout.

use super::elements::*;
use super::fragments::*;
use crate::jit_support::*;

/// The bytes of a matrix in memory, `stride` elements from row to row (column to column).
fn matrix_bytes(ty: &str, m: &Matrix, col: bool, stride: usize) -> Vec<u8> {
    let (rows, cols) = (m.v.len() / m.cols, m.cols);
    let (lines, length) = if col { (cols, rows) } else { (rows, cols) };
    let mut out = vec![0_u8; (lines * stride * element_bits(ty)).div_ceil(8)];
    for line in 0..lines {
        for i in 0..length {
            let v = encode_element(ty, if col { m.element(i, line) } else { m.element(line, i) });
            let bit = (line * stride + i) * element_bits(ty);
            for b in 0..element_bits(ty) {
                out[(bit + b) / 8] |= ((v >> b & 1) as u8) << ((bit + b) % 8);
            }
        }
    }
    out
}

fn wmma_registers(role: char, size: [usize; 3], ty: &str) -> usize {
    let [m, n, k] = size;
    let elements = match role {
        'a' => m * k,
        'b' => k * n,
        _ => m * n,
    };
    if role != 'c' && ty == "f16" { 8 } else { elements * element_bits(ty) / 32 / element_bits(ty).max(32) }
}

/// `wmma` with both operands in the given layouts and gaps between their lines.
fn check_wmma(c: &MmaCase, a_col: bool, b_col: bool, c_col: bool, shared: bool) {
    let [m, n, k] = c.size;
    let [td, ta, tb, tc] = c.types;
    let (a, b, sum) = (Matrix::random(ta, m, k, 4), Matrix::random(tb, k, n, 5), Matrix::random(tc, m, n, 6));
    let word = |col: bool| if col { "col" } else { "row" };
    let stride =
        |rows: usize, cols: usize, col: bool, ty: &str| (if col { rows } else { cols }) + 128 / element_bits(ty);
    let (sa, sb) = (stride(m, k, a_col, ta), stride(k, n, b_col, tb));
    let (sc, sd) = (stride(m, n, c_col, tc), stride(m, n, !c_col, td));
    let shape = format!("m{m}n{n}k{k}");
    let (na, nb) = (wmma_registers('a', c.size, ta), wmma_registers('b', c.size, tb));
    let (nc, nd) = (wmma_registers('c', c.size, tc), wmma_registers('c', c.size, td));
    let reg = |ty: &str, name: &str, n: usize| format!(".reg .b{} %{name}<{n}>;\n", element_bits(ty).max(32));
    let bytes_a = matrix_bytes(ta, &a, a_col, sa);
    let copy = format!(
        "mov.u32 %r4, 0; COPY: mul.wide.u32 %o2, %r4, 4; add.u64 %o2, %o2, %p0; ld.global.u32 %r1, [%o2];
         shl.b32 %r5, %r4, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;
         add.u32 %r4, %r4, 1; setp.lt.u32 %q0, %r4, {}; @%q0 bra COPY; bar.sync 0;\n",
        bytes_a.len() / 4
    );
    let (copy, from) = if shared { (copy, "%r2") } else { (String::new(), "%p0") };
    let space = if shared { ".shared" } else { ".global" };
    let body = [
        format!(".shared .align 32 .b8 s[{}];\n mov.u32 %r2, s;\n", bytes_a.len()),
        reg(ta, "a", na),
        reg(tb, "b", nb),
        reg(tc, "c", nc),
        reg(td, "d", nd),
        copy,
        format!("mov.u32 %r3, {sa};\n"),
        format!(
            "wmma.load.a.sync.aligned.{}.{shape}{space}.{ta} {}, [{from}], %r3;\n",
            word(a_col),
            register_list("a", na)
        ),
        format!("wmma.load.b.sync.aligned.{}.{shape}.{tb} {}, [%p1], {sb};\n", word(b_col), register_list("b", nb)),
        format!(
            "wmma.load.c.sync.aligned.{}.{shape}.global.{tc} {}, [%p2], {sc};\n",
            word(c_col),
            register_list("c", nc)
        ),
        format!(
            "{} {}, {}, {}, {};\n",
            c.op.replace("LAYOUTS", &format!("{}.{}", word(a_col), word(b_col))),
            register_list("d", nd),
            register_list("a", na),
            register_list("b", nb),
            register_list("c", nc)
        ),
        format!(
            "wmma.store.d.sync.aligned.{}.{shape}.global.{td} [%p3], {}, {sd};\n",
            word(!c_col),
            register_list("d", nd)
        ),
    ]
    .concat();
    let want = Matrix { cols: n, v: expected_product(c, &a, &b, &sum) };
    let want = matrix_bytes(td, &want, !c_col, sd);
    let args = [
        buffer_arg(&bytes_a),
        buffer_arg(&matrix_bytes(tb, &b, b_col, sb)),
        buffer_arg(&matrix_bytes(tc, &sum, c_col, sc)),
        buffer_arg(&vec![0_u8; want.len()]),
    ];
    let got = run_all_variants(&kernel_text(&body), "k", 1, [32, 1, 1], &args);
    assert_eq!(got[3], want, "{} {a_col} {b_col} {c_col}", c.op);
}

/// Layouts of `a`, `b` and sums, and whether `a` comes through shared memory: all of them where a
/// matrix has several units both ways, else two, each layout once.
fn layout_combinations(size: [usize; 3], all: bool) -> Vec<(bool, bool, bool, bool)> {
    let few = vec![(false, true, false, false), (true, false, true, true)];
    if all && size[0] == size[1] {
        return [few, vec![(false, false, true, false), (true, true, false, false)]].concat();
    }
    few
}

const LARGE_SHAPES: [[usize; 3]; 3] = [[16, 16, 16], [8, 32, 16], [32, 8, 16]];

#[test]
fn wmma_of_halves() {
    for size in LARGE_SHAPES {
        let [m, n, k] = size;
        for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")] {
            let case = MmaCase {
                op: format!("wmma.mma.sync.aligned.LAYOUTS.m{m}n{n}k{k}.{d}.{c}"),
                size,
                types: [d, "f16", "f16", c],
            };
            for (a_col, b_col, c_col, shared) in layout_combinations(size, d == c) {
                check_wmma(&case, a_col, b_col, c_col, shared);
            }
        }
    }
}

#[test]
fn wmma_of_other_types() {
    let sized = |size: [usize; 3], d, a, sat: &str| {
        let [m, n, k] = size;
        MmaCase {
            op: format!("wmma.mma.sync.aligned.LAYOUTS.m{m}n{n}k{k}.{d}.{a}.{a}.{d}{sat}"),
            size,
            types: [d, a, a, d],
        }
    };
    let mut cases: Vec<MmaCase> = vec![];
    for size in LARGE_SHAPES {
        cases.extend([
            sized(size, "f32", "bf16", ""),
            sized(size, "s32", "s8", ""),
            sized(size, "s32", "u8", ".satfinite"),
        ]);
    }
    cases.extend([sized([16, 16, 8], "f32", "tf32", ""), sized([8, 8, 4], "f64", "f64", "")]);
    for case in &cases {
        for (a_col, b_col, c_col, shared) in layout_combinations(case.size, case.size == LARGE_SHAPES[0]) {
            check_wmma(case, a_col, b_col, c_col, shared);
        }
    }
    for ty in ["s4", "u4"] {
        check_wmma(&sized([8, 8, 32], "s32", ty, ""), false, true, false, true);
    }
    for op in ["xor", "and"] {
        let op = format!("wmma.mma.{op}.popc.sync.aligned.LAYOUTS.m8n8k128.s32.b1.b1.s32");
        check_wmma(&MmaCase { op, size: [8, 8, 128], types: ["s32", "b1", "b1", "s32"] }, false, true, true, false);
    }
}
