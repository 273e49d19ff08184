//! Matrix instructions in every shape and type, on small integers, whose products are exact in
//! every format: `mma` against the fragments as the PTX ISA draws them, `wmma` against memory.
mod jit_support;

use jit_support::*;
use rtcg_vgpu::exec::Shape;

/// Bits of an element, and how a small integer is written in it.
fn bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

fn encode(ty: &str, v: i64) -> u64 {
    let float = v as f32;
    match ty {
        "f16" => u64::from(half::f16::from_f32(float).to_bits()),
        "bf16" => u64::from(half::bf16::from_f32(float).to_bits()),
        "f32" | "tf32" => u64::from(float.to_bits()),
        "f64" => f64::from(float).to_bits(),
        // Halves cut in two, and their neighbour with one bit of the exponent less.
        "e5m2" => u64::from(half::f16::from_f32(float).to_bits() >> 8),
        "e4m3" => {
            let h = half::f16::from_f32(float / 256.0).to_bits();
            u64::from(h >> 8 & 0x80 | h >> 7 & 0x7f)
        }
        _ => (v as u64) & (u64::MAX >> (64 - bits(ty))),
    }
}

fn decode(ty: &str, raw: u64) -> i64 {
    match ty {
        "f16" => half::f16::from_bits(raw as u16).to_f32() as i64,
        "f32" => f32::from_bits(raw as u32) as i64,
        "f64" => f64::from_bits(raw) as i64,
        _ => i64::from(raw as i32),
    }
}

/// Small values that the type has.
fn value(ty: &str, seed: usize) -> i64 {
    let r = (seed.wrapping_mul(2_654_435_761) >> 7) as i64;
    match ty {
        "b1" => r & 1,
        "u4" => r & 15,
        "s4" => (r & 15) - 8,
        "u8" => r & 255,
        "s8" => (r & 255) - 128,
        "e5m2" => (r & 7) - 4,
        "s32" => r % 100_000,
        _ => (r & 15) - 8,
    }
}

/// A matrix of `rows` by `cols` with pseudo-random entries.
#[derive(Clone)]
struct Matrix {
    cols: usize,
    v: Vec<i64>,
}

impl Matrix {
    fn random(ty: &str, rows: usize, cols: usize, seed: usize) -> Matrix {
        Matrix { cols, v: (0..rows * cols).map(|i| value(ty, i * 7 + seed * 1_000_003 + 1)).collect() }
    }
    fn at(&self, row: usize, col: usize) -> i64 {
        self.v[row * self.cols + col]
    }
}

struct Case {
    op: String,
    size: [usize; 3],
    types: [&'static str; 4],
}

/// `d` of `a * b + c` in whole numbers; bits are counted.
fn expected(c: &Case, a: &Matrix, b: &Matrix, sum: &Matrix) -> Vec<i64> {
    let [m, n, k] = c.size;
    let mut out = vec![];
    for i in 0..m {
        for j in 0..n {
            let term = |l: usize| {
                let (x, y) = (a.at(i, l), b.at(l, j));
                if c.op.contains("xor") { x ^ y } else { x * y }
            };
            let total = sum.at(i, j) + (0..k).map(term).sum::<i64>();
            let sat = c.op.contains("satfinite");
            out.push(if sat { total.clamp(i32::MIN.into(), i32::MAX.into()) } else { total });
        }
    }
    out
}

/// Row and column of element `i` of lane `lane`, as the ISA gives them for `mma`.
fn isa_place(role: char, size: [usize; 3], ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let halves = size[0] / 8;
    match role {
        'a' => {
            let per = (32 / bits(ty)).max(1);
            let register = i / per;
            (group + 8 * (register % halves), thread * per + i % per + register / halves * 4 * per)
        }
        'b' => {
            let per = (32 / bits(ty)).max(1);
            (thread * per + i % per + i / per * 4 * per, group)
        }
        _ => (group + 8 * (i / 2), thread * 2 + i % 2),
    }
}

/// The planes of a fragment: words, register after register, lane after lane.
fn planes(role: char, size: [usize; 3], ty: &str, m: &Matrix) -> Vec<u32> {
    let elements = m.v.len() / 32;
    let (w, register_bits) = (bits(ty), bits(ty).max(32));
    let registers = elements * w / register_bits;
    let mut out = vec![0_u64; registers * 32];
    for lane in 0..32 {
        for i in 0..elements {
            let (row, col) = isa_place(role, size, ty, lane, i);
            let at = i * w;
            out[at / register_bits * 32 + lane] |= encode(ty, m.at(row, col)) << (at % register_bits);
        }
    }
    if w == 64 {
        out.iter().flat_map(|v| [*v as u32, (v >> 32) as u32]).collect()
    } else {
        out.iter().map(|v| *v as u32).collect()
    }
}

fn list(prefix: &str, n: usize) -> String {
    format!("{{{}}}", (0..n).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", "))
}

/// Loads or stores the registers of a fragment, plane after plane.
fn moves(load: bool, prefix: &str, pointer: &str, n: usize, wide: bool) -> String {
    let (ty, step) = if wide { ("b64", 256) } else { ("b32", 128) };
    (0..n)
        .map(|i| {
            let at = format!("[%{pointer}+{}]", i * step);
            if load {
                format!("ld.global.{ty} %{prefix}{i}, {at};\n")
            } else {
                format!("st.global.{ty} {at}, %{prefix}{i};\n")
            }
        })
        .collect()
}

const PROLOGUE: &str = "
    .reg .b64 %p<8>; .reg .b32 %r<8>; .reg .b64 %o<8>; .reg .pred %q<4>;
    ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
    mov.u32 %r0, %tid.x; mul.wide.u32 %o0, %r0, 4; mul.wide.u32 %o1, %r0, 8;
";

fn kernel(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{ {PROLOGUE} {body} ret; }}"
    )
}

fn check_mma(c: &Case) {
    let [m, n, k] = c.size;
    let [td, ta, tb, tc] = c.types;
    let (a, b, sum) = (Matrix::random(ta, m, k, 1), Matrix::random(tb, k, n, 2), Matrix::random(tc, m, n, 3));
    let (pa, pb, pc) = (planes('a', c.size, ta, &a), planes('b', c.size, tb, &b), planes('c', c.size, tc, &sum));
    let wide = |ty: &str| bits(ty) == 64;
    let count = |p: &[u32], ty: &str| p.len() / if wide(ty) { 64 } else { 32 };
    let nd = m * n * bits(td) / 32 / bits(td).max(32);
    let reg = |ty: &str, name: &str, n: usize| format!(".reg .b{} %{name}<{n}>;\n", bits(ty).max(32));
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
        moves(true, "a", "p0", na, wide(ta)),
        moves(true, "b", "p1", nb, wide(tb)),
        moves(true, "c", "p2", nc, wide(tc)),
        format!("{} {}, {}, {}, {};\n", c.op, list("d", nd), list("a", na), list("b", nb), list("c", nc)),
        moves(false, "d", "p3", nd, wide(td)),
    ]
    .concat();
    let out = vec![0_u32; nd * 32 * bits(td).max(32) / 32];
    let got = run(&kernel(&body), "k", 1, [32, 1, 1], &[buffer(&pa), buffer(&pb), buffer(&pc), buffer(&out)]);
    let want = Matrix { cols: n, v: expected(c, &a, &b, &sum) };
    let got = u32s(&got[3]);
    for (lane, i) in (0..32).flat_map(|l| (0..m * n / 32).map(move |i| (l, i))) {
        let (row, col) = isa_place('d', c.size, td, lane, i);
        let w = bits(td);
        let raw = match w {
            64 => u64::from(got[(i * 32 + lane) * 2]) | u64::from(got[(i * 32 + lane) * 2 + 1]) << 32,
            16 => u64::from(got[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff),
            _ => got[i * 32 + lane].into(),
        };
        assert_eq!(decode(td, raw), want.at(row, col), "{} row {row} column {col}", c.op);
    }
}

fn mma(size: [usize; 3], d: &'static str, a: &'static str, b: &'static str, modifier: &str, tail: &str) -> Case {
    let [m, n, k] = size;
    Case {
        op: format!("mma.sync.aligned.m{m}n{n}k{k}.row.col{modifier}.{d}.{a}.{b}.{d}{tail}"),
        size,
        types: [d, a, b, d],
    }
}

#[test]
fn mma_of_floats() {
    for ty in ["f16", "bf16"] {
        for k in [8, 16] {
            check_mma(&mma([16, 8, k], "f32", ty, ty, "", ""));
        }
    }
    for k in [8, 16] {
        check_mma(&mma([16, 8, k], "f16", "f16", "f16", "", ""));
    }
    for k in [4, 8] {
        check_mma(&mma([16, 8, k], "f32", "tf32", "tf32", "", ""));
    }
    for (a, b) in [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")] {
        for k in [16, 32] {
            check_mma(&mma([16, 8, k], "f32", a, b, "", ""));
            check_mma(&mma([16, 8, k], "f16", a, b, "", ""));
        }
    }
}

#[test]
fn mma_of_doubles() {
    check_mma(&mma([8, 8, 4], "f64", "f64", "f64", "", ""));
    for k in [4, 8, 16] {
        check_mma(&mma([16, 8, k], "f64", "f64", "f64", ".rz", ""));
    }
}

#[test]
fn mma_of_integers_and_bits() {
    for (a, b) in [("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")] {
        for (m, k) in [(8, 16), (16, 16), (16, 32)] {
            check_mma(&mma([m, 8, k], "s32", a, b, if m == 8 { ".satfinite" } else { "" }, ""));
        }
    }
    for (a, b) in [("s4", "s4"), ("u4", "s4"), ("s4", "u4"), ("u4", "u4")] {
        for (m, k) in [(8, 32), (16, 32), (16, 64)] {
            check_mma(&mma([m, 8, k], "s32", a, b, "", ""));
        }
    }
    for (m, k) in [(8, 128), (16, 128), (16, 256)] {
        for op in [".xor.popc", ".and.popc"] {
            check_mma(&mma([m, 8, k], "s32", "b1", "b1", "", op));
        }
    }
}

/// The bytes of a matrix in memory, `stride` elements from row to row (column to column).
fn in_memory(ty: &str, m: &Matrix, col: bool, stride: usize) -> Vec<u8> {
    let (rows, cols) = (m.v.len() / m.cols, m.cols);
    let (lines, length) = if col { (cols, rows) } else { (rows, cols) };
    let mut out = vec![0_u8; (lines * stride * bits(ty)).div_ceil(8)];
    for line in 0..lines {
        for i in 0..length {
            let v = encode(ty, if col { m.at(i, line) } else { m.at(line, i) });
            let bit = (line * stride + i) * bits(ty);
            for b in 0..bits(ty) {
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
    if role != 'c' && ty == "f16" { 8 } else { elements * bits(ty) / 32 / bits(ty).max(32) }
}

/// `wmma` with both operands in the given layouts and gaps between their lines.
fn check_wmma(c: &Case, a_col: bool, b_col: bool, c_col: bool, shared: bool) {
    let [m, n, k] = c.size;
    let [td, ta, tb, tc] = c.types;
    let (a, b, sum) = (Matrix::random(ta, m, k, 4), Matrix::random(tb, k, n, 5), Matrix::random(tc, m, n, 6));
    let word = |col: bool| if col { "col" } else { "row" };
    let stride = |rows: usize, cols: usize, col: bool, ty: &str| (if col { rows } else { cols }) + 128 / bits(ty);
    let (sa, sb) = (stride(m, k, a_col, ta), stride(k, n, b_col, tb));
    let (sc, sd) = (stride(m, n, c_col, tc), stride(m, n, !c_col, td));
    let shape = format!("m{m}n{n}k{k}");
    let (na, nb) = (wmma_registers('a', c.size, ta), wmma_registers('b', c.size, tb));
    let (nc, nd) = (wmma_registers('c', c.size, tc), wmma_registers('c', c.size, td));
    let reg = |ty: &str, name: &str, n: usize| format!(".reg .b{} %{name}<{n}>;\n", bits(ty).max(32));
    let bytes_a = in_memory(ta, &a, a_col, sa);
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
        format!("wmma.load.a.sync.aligned.{}.{shape}{space}.{ta} {}, [{from}], %r3;\n", word(a_col), list("a", na)),
        format!("wmma.load.b.sync.aligned.{}.{shape}.{tb} {}, [%p1], {sb};\n", word(b_col), list("b", nb)),
        format!("wmma.load.c.sync.aligned.{}.{shape}.global.{tc} {}, [%p2], {sc};\n", word(c_col), list("c", nc)),
        format!(
            "{} {}, {}, {}, {};\n",
            c.op.replace("LAYOUTS", &format!("{}.{}", word(a_col), word(b_col))),
            list("d", nd),
            list("a", na),
            list("b", nb),
            list("c", nc)
        ),
        format!("wmma.store.d.sync.aligned.{}.{shape}.global.{td} [%p3], {}, {sd};\n", word(!c_col), list("d", nd)),
    ]
    .concat();
    let want = Matrix { cols: n, v: expected(c, &a, &b, &sum) };
    let want = in_memory(td, &want, !c_col, sd);
    let args = [
        buffer(&bytes_a),
        buffer(&in_memory(tb, &b, b_col, sb)),
        buffer(&in_memory(tc, &sum, c_col, sc)),
        buffer(&vec![0_u8; want.len()]),
    ];
    let got = run(&kernel(&body), "k", 1, [32, 1, 1], &args);
    assert_eq!(got[3], want, "{} {a_col} {b_col} {c_col}", c.op);
}

/// Layouts of `a`, `b` and sums, and whether `a` comes through shared memory: all of them where a
/// matrix has several units both ways, else two, each layout once.
fn layouts(size: [usize; 3], all: bool) -> Vec<(bool, bool, bool, bool)> {
    let few = vec![(false, true, false, false), (true, false, true, true)];
    if all && size[0] == size[1] {
        return [few, vec![(false, false, true, false), (true, true, false, false)]].concat();
    }
    few
}

const LARGE: [[usize; 3]; 3] = [[16, 16, 16], [8, 32, 16], [32, 8, 16]];

#[test]
fn wmma_of_halves() {
    for size in LARGE {
        let [m, n, k] = size;
        for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")] {
            let case = Case {
                op: format!("wmma.mma.sync.aligned.LAYOUTS.m{m}n{n}k{k}.{d}.{c}"),
                size,
                types: [d, "f16", "f16", c],
            };
            for (a_col, b_col, c_col, shared) in layouts(size, d == c) {
                check_wmma(&case, a_col, b_col, c_col, shared);
            }
        }
    }
}

#[test]
fn wmma_of_other_types() {
    let sized = |size: [usize; 3], d, a, sat: &str| {
        let [m, n, k] = size;
        Case {
            op: format!("wmma.mma.sync.aligned.LAYOUTS.m{m}n{n}k{k}.{d}.{a}.{a}.{d}{sat}"),
            size,
            types: [d, a, a, d],
        }
    };
    let mut cases: Vec<Case> = vec![];
    for size in LARGE {
        cases.extend([
            sized(size, "f32", "bf16", ""),
            sized(size, "s32", "s8", ""),
            sized(size, "s32", "u8", ".satfinite"),
        ]);
    }
    cases.extend([sized([16, 16, 8], "f32", "tf32", ""), sized([8, 8, 4], "f64", "f64", "")]);
    for case in &cases {
        for (a_col, b_col, c_col, shared) in layouts(case.size, case.size == LARGE[0]) {
            check_wmma(case, a_col, b_col, c_col, shared);
        }
    }
    for ty in ["s4", "u4"] {
        check_wmma(&sized([8, 8, 32], "s32", ty, ""), false, true, false, true);
    }
    for op in ["xor", "and"] {
        let op = format!("wmma.mma.{op}.popc.sync.aligned.LAYOUTS.m8n8k128.s32.b1.b1.s32");
        check_wmma(&Case { op, size: [8, 8, 128], types: ["s32", "b1", "b1", "s32"] }, false, true, true, false);
    }
}

#[test]
fn sums_of_integers_are_clamped_or_wrap() {
    for (sat, want) in [("", i32::MAX.wrapping_add(16 * 127 * 127)), (".satfinite", i32::MAX)] {
        let body = format!(
            ".reg .b32 %d<2>; mov.u32 %r1, 0x7f7f7f7f; mov.u32 %r2, 0x7fffffff; add.u64 %p3, %p3, %o0;
             mma.sync.aligned.m8n8k16.row.col{sat}.s32.s8.s8.s32 {{%d0, %d1}}, {{%r1}}, {{%r1}}, {{%r2, %r2}};
             st.global.u32 [%p3], %d0;"
        );
        let zero = buffer(&[0_u32; 32]);
        let got = run(&kernel(&body), "k", 1, [32, 1, 1], &[zero.clone(), zero.clone(), zero.clone(), zero]);
        assert_eq!(u32s(&got[3]), [want as u32; 32]);
    }
}

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
            dense.v[row * k + at * chunk + place] = stored.at(row, at * chunk / 2 + i);
        }
        let (lane, bit) = match (bits(ty) >= 16, k * bits(ty) == 512) {
            (true, false) => (selector, row / 8 * 16 + at * 4),
            (true, true) => (selector * 2 + at / 4, row / 8 * 16 + at % 4 * 4),
            (false, _) => (selector * 2 + row / 8 + at / 8 * 2, at % 8 * 4),
        };
        words[row % 8 * 4 + lane] |= (nibble as u32) << bit;
    }
    let op = format!("mma.sp.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{ty}.{ty}.{d}");
    let case = Case { op, size, types: [d, ty, ty, d] };
    let sums = planes('c', size, d, &c);
    let (pa, pb) = (planes('a', [m, n, k / 2], ty, &stored), planes('b', size, ty, &b));
    let [na, nb, nc] = [&pa, &pb, &sums].map(|p| p.len() / 32);
    let body = [
        format!(".reg .b32 %a<{na}>; .reg .b32 %b<{nb}>; .reg .b32 %c<{nc}>; .reg .b32 %d<{nc}>; .reg .b32 %e<1>;\n"),
        (0..4).map(|i| format!("add.u64 %p{i}, %p{i}, %o0;\n")).collect(),
        moves(true, "a", "p0", na, false),
        moves(true, "b", "p1", nb, false),
        moves(true, "c", "p2", nc, false),
        format!("ld.global.b32 %e0, [%p2+{}];\n", nc * 128),
        format!(
            "{} {}, {}, {}, {}, %e0, {selector};\n",
            case.op,
            list("d", nc),
            list("a", na),
            list("b", nb),
            list("c", nc)
        ),
        moves(false, "d", "p3", nc, false),
    ]
    .concat();
    let third = [sums, words].concat();
    let got = run(
        &kernel(&body),
        "k",
        1,
        [32, 1, 1],
        &[buffer(&pa), buffer(&pb), buffer(&third), buffer(&vec![0_u32; nc * 32])],
    );
    let want = Matrix { cols: n, v: expected(&case, &dense, &b, &c) };
    assert_eq!(u32s(&got[3]), planes('d', size, d, &want), "{} selector {selector}", case.op);
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
    check_sparse([16, 8, 64], "f32", "e4m3", 0);
}

/// The vectors give the bits that the definition gives, whatever the exponents.
#[test]
fn quick_sums_are_the_defined_ones() {
    use rtcg_ptx::ast::{MatrixLayout, MatrixOp, MatrixProduct, MatrixShape, MatrixType, Rounding};
    use rtcg_vgpu::softmath::matrix::{Planes, frame_words, product, product_by_definition};
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let form = |wmma, m, n, k, ty, d| MatrixProduct {
        wmma,
        shape: MatrixShape { m, n, k },
        a_layout: MatrixLayout::Row,
        b_layout: MatrixLayout::Col,
        a: ty,
        b: ty,
        c: d,
        d,
        op: MatrixOp::Multiply,
        satfinite: false,
        rnd: Rounding::Default,
        sparse: None,
    };
    let (f16, f32) = (MatrixType::F16, MatrixType::F32);
    let forms = [
        form(true, 16, 16, 16, f16, f32),
        form(true, 8, 32, 16, f16, f16),
        form(false, 16, 8, 16, f16, f16),
        form(false, 16, 8, 8, f16, f32),
        form(true, 32, 8, 16, MatrixType::BF16, f32),
        form(false, 16, 8, 8, MatrixType::TF32, f32),
        form(false, 16, 8, 4, MatrixType::TF32, f32),
        form(false, 16, 8, 32, MatrixType::E4M3, f16),
        form(false, 16, 8, 32, MatrixType::E5M2, f32),
    ];
    for (round, form) in (0..120).flat_map(|round| forms.iter().map(move |form| (round, form))) {
        let mut frame: Vec<u32> = (0..frame_words(form)).map(|_| next()).collect();
        // Exponents near each other in early rounds, anything at last; some zeros.
        let spread = 1 + round % 60;
        for word in &mut frame {
            *word = match (form.a, next() % 7) {
                (_, 0) => 0,
                _ if round > 100 => *word,
                (MatrixType::F16, _) if round % 2 == 0 => *word & 0xbfff_bfff,
                (MatrixType::F16 | MatrixType::E4M3 | MatrixType::E5M2, _) => *word,
                (MatrixType::BF16, _) => {
                    *word & 0x807f_807f | (100 + (next() % spread)) << 23 | (100 + (next() % spread)) << 7
                }
                _ => *word & 0x807f_ffff | (100 + (next() % spread)) << 23,
            };
        }
        let mut defined = frame.clone();
        product(form, &mut Planes::split(form, &mut frame));
        product_by_definition(form, &mut Planes::split(form, &mut defined));
        assert_eq!(frame, defined, "{form:?}");
    }
}

/// A sum as the tensor core cuts it: what is below 2^-25 of the largest term is lost, with its sign.
#[test]
fn sums_are_cut_not_rounded() {
    use rtcg_ptx::ast::MatrixType::{F16, F32};
    use rtcg_vgpu::softmath::matrix::exact::{Number, dot};
    let number = |v: f32| Number::of(F16, half::f16::from_f32(v).to_bits().into());
    let sum = |terms: &[(f32, f32)], c: f32| {
        let terms: Vec<_> = terms.iter().map(|&(x, y)| (number(x), number(y))).collect();
        f32::from_bits(dot(terms.iter().copied(), Number::of(F32, c.to_bits().into()), F32) as u32)
    };
    let tiny = 2.0_f32.powi(-13);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, tiny)], 0.0), 1.0);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, -tiny)], 0.0), 1.0);
    assert_eq!(sum(&[(1.0, 1.0), (tiny, -2.0 * tiny)], 0.0), 1.0 - 2.0_f32.powi(-24));
    // Two halves of the last place make one, since sums keep two bits more; one is cut off.
    let half = 2.0_f32.powi(-12);
    assert_eq!(sum(&[(1.0, 1.0), (half, half), (half, half)], 0.0), 1.0 + f32::EPSILON);
    assert_eq!(sum(&[(1.0, 1.0), (half, half)], 0.0), 1.0);
    assert_eq!(sum(&[(1.5, 1.5)], f32::MAX), f32::MAX);
    assert_eq!(sum(&[(-60000.0, 60000.0)], f32::NEG_INFINITY), f32::NEG_INFINITY);
    assert!(sum(&[(f32::INFINITY, 0.0)], 1.0).is_nan() && sum(&[(f32::INFINITY, 1.0)], f32::NEG_INFINITY).is_nan());
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
        let case = Case { op, size: [8, 8, 4], types: [td, "f16", "f16", tc] };
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
                let av = if a_col { a.at(i + upper(lane), lane % 4) } else { a.at(lane % 4 + upper(lane), i) };
                let bv = if b_col { b.at(i, lane % 4 + upper(lane)) } else { b.at(lane % 4, i + upper(lane)) };
                pa[i / 2 * 32 + lane] |= (encode("f16", av) as u32) << (i % 2 * 16);
                pb[i / 2 * 32 + lane] |= (encode("f16", bv) as u32) << (i % 2 * 16);
            }
            for i in 0..8 {
                let (row, col) = sum_place(tc, lane, i);
                let v = encode(tc, c.at(row, col)) as u32;
                if tc == "f16" { pc[i / 2 * 32 + lane] |= v << (i % 2 * 16) } else { pc[i * 32 + lane] = v }
            }
        }
        let count = |ty: &str| if ty == "f16" { 4 } else { 8 };
        let body = [
            ".reg .b32 %a<2>; .reg .b32 %b<2>; .reg .b32 %c<8>; .reg .b32 %d<8>;".to_string(),
            (0..4).map(|i| format!("add.u64 %p{i}, %p{i}, %o0;\n")).collect(),
            moves(true, "a", "p0", 2, false),
            moves(true, "b", "p1", 2, false),
            moves(true, "c", "p2", count(tc), false),
            format!(
                "{} {}, {}, {}, {};\n",
                case.op,
                list("d", count(td)),
                list("a", 2),
                list("b", 2),
                list("c", count(tc))
            ),
            moves(false, "d", "p3", count(td), false),
        ]
        .concat();
        let got =
            run(&kernel(&body), "k", 1, [32, 1, 1], &[buffer(&pa), buffer(&pb), buffer(&pc), buffer(&[0_u32; 256])]);
        let got = u32s(&got[3]);
        for (lane, i) in (0..32).flat_map(|l| (0..8).map(move |i| (l, i))) {
            let [a, b, c] = &quads[quad(lane)];
            let (row, col) = sum_place(td, lane, i);
            let raw = if td == "f16" { got[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff } else { got[i * 32 + lane] };
            assert_eq!(
                decode(td, raw.into()),
                expected(&case, a, b, c)[row * 8 + col],
                "{} lane {lane} element {i}",
                case.op
            );
        }
    }
}

/// Rows of eight halves come from the addresses of eight lanes each.
#[test]
fn ldmatrix_stmatrix_and_movmatrix() {
    let input: Vec<u16> = (0..4 * 64).collect();
    for count in [1, 2, 4] {
        for trans in [false, true] {
            let tr = if trans { ".trans" } else { "" };
            // Lane i gives row i, from the end so that addresses are no plain sequence.
            let body = format!(
                ".shared .align 16 .b8 s[512]; .reg .b32 %d<4>;
                 shl.b32 %r1, %r0, 4; mov.u32 %r2, s; add.u32 %r2, %r2, %r1; cvt.u64.u32 %o2, %r1; add.u64 %o2, %p0, %o2;
                 ld.global.v4.u32 {{%d0, %d1, %d2, %d3}}, [%o2]; xor.b32 %r3, %r1, 48; mov.u32 %r4, s; add.u32 %r3, %r4, %r3;
                 st.shared.v4.u32 [%r3], {{%d0, %d1, %d2, %d3}}; bar.sync 0;
                 ldmatrix.sync.aligned.m8n8.x{count}{tr}.shared.b16 {0}, [%r3];
                 add.u64 %p3, %p3, %o0; {1}
                 bar.sync 0;
                 stmatrix.sync.aligned.m8n8.x{count}{tr}.shared.b16 [%r2], {0}; bar.sync 0;
                 ld.shared.v4.u32 {{%d0, %d1, %d2, %d3}}, [%r2]; add.u64 %o2, %p2, %o1; add.u64 %o2, %o2, %o1;
                 st.global.v4.u32 [%o2], {{%d0, %d1, %d2, %d3}};",
                list("d", count),
                moves(false, "d", "p3", count, false)
            );
            let args = [buffer(&input), buffer(&[0_u32; 128]), buffer(&[0_u16; 256]), buffer(&[0_u32; 128])];
            let got = run(&kernel(&body), "k", 1, [32, 1, 1], &args);
            for (register, lane) in (0..count).flat_map(|r| (0..32).map(move |l| (r, l))) {
                let element = |i: usize| {
                    let (row, col) = (lane / 4, lane % 4 * 2 + i);
                    let (row, col) = if trans { (col, row) } else { (row, col) };
                    (register * 64 + row * 8 + col) as u32
                };
                assert_eq!(u32s(&got[3])[register * 32 + lane], element(0) | element(1) << 16);
            }
            // Stored back the same way, in the order of rows.
            let stored: Vec<u16> = got[2].chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
            assert_eq!(stored[..count * 64], input[..count * 64], "x{count}{tr}");
        }
    }
    let body = "add.u64 %p0, %p0, %o0; add.u64 %p3, %p3, %o0; ld.global.u32 %r1, [%p0];
        movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.u32 [%p3], %r2;";
    let zero = buffer(&[0_u32; 32]);
    let got = run(&kernel(body), "k", 1, [32, 1, 1], &[buffer(&input), zero.clone(), zero.clone(), zero]);
    let want: Vec<u32> = (0..32).map(|l| (l % 4 * 2 * 8 + l / 4) | ((l % 4 * 2 + 1) * 8 + l / 4) << 16).collect();
    assert_eq!(u32s(&got[3]), want);
}

/// Warps that are not whole, and matrices that are not there.
#[test]
fn partial_warps_and_bad_addresses_fault() {
    let m = parse(&kernel(
        ".reg .b32 %d<8>; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}, [%p0];
         st.global.u32 [%p3], %d0;",
    ));
    let shape = |threads| Shape { grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared: 0, cooperative: false };
    for (threads, args, word) in [
        (40, [buffer(&[0_u32; 256]), Arg::U64(0), Arg::U64(0), buffer(&[0_u32])], "all 32 lanes"),
        (32, [Arg::U64(0), Arg::U64(0), Arg::U64(0), buffer(&[0_u32])], "illegal memory access"),
    ] {
        for v in variants([threads, 1, 1]) {
            let fault = launch(&m, "k", v, shape(threads), &args).unwrap_err();
            assert!(fault.report.contains(word), "{fault}");
        }
    }
}

/// Lanes that come along different ways meet at the instruction.
#[test]
fn lanes_gather_at_a_product() {
    let body = ".reg .b32 %d<2>; mov.u32 %r1, 0x01010101; and.b32 %r2, %r0, 1; setp.eq.u32 %q0, %r2, 0;
        @%q0 bra EVEN; mov.u32 %r3, 5; bra.uni JOIN; EVEN: mov.u32 %r3, 5; JOIN:
        mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%r1}, {%r1}, {%r3, %r3};
        add.u64 %p3, %p3, %o0; st.global.u32 [%p3], %d1;";
    let zero = buffer(&[0_u32; 32]);
    let got = run(&kernel(body), "k", 1, [32, 1, 1], &[zero.clone(), zero.clone(), zero.clone(), zero]);
    assert_eq!(u32s(&got[3]), [21; 32]);
}
