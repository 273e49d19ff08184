//! What operands beyond the plain ones compute, in every way the compiler has: negated predicates, vector registers,
//! elements of arrays, `lop3` with a predicate, carry-less products.

use crate::jit_support::*;

/// Runs `body`, which computes `%r2` for thread `%r0` (`%p0`: it is even, `%p1`: it is odd), in 40 threads.
fn run(body: &str) -> Vec<u32> {
    let ptx = format!(
        ".global .align 16 .u32 arr[64] = {{{}}}; .const .align 4 .u32 carr[4] = {{20, 21, 22, 23}};
.global .align 8 .u64 words[4] = {{100, 101, 102, 103}}; .global .u16 table[2][3] = {{{{1, 2, 3}}, {{4, 5, 6}}}};
.visible .entry k(.param .u64 out) {{
    .reg .pred %p<9>; .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .v4 .b32 %v; .reg .v2 .b32 %w; .reg .v4 .b32 %u<2>;
    .local .align 4 .b32 larr[8]; .shared .align 4 .b32 sarr[64];
    mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 0;
    mov.u32 %r5, 2; mov.u32 %r6, 4; cvt.u16.u32 %h1, %r0; cvt.u64.u32 %d3, %r0;
    {body}
    ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret;
}}",
        (0..64).map(|i| (3 * i).to_string()).collect::<Vec<_>>().join(", ")
    );
    to_u32s(&run_all_variants(&ptx, "k", 1, [40, 1, 1], &[buffer_arg(&[0_u32; 40])])[0])
}

const TO_WORD: &str = " selp.u32 %r2, 1, 0, %p2;";

#[test]
fn negated_predicates() {
    for (text, of) in [
        ("and.pred %p2, %p0, !%p1;", (|odd| !odd) as fn(bool) -> bool),
        ("and.pred %p2, !%p1, %p1;", |_| false),
        ("or.pred %p2, %p1, !%p0;", |odd| odd),
        ("or.pred %p2, !0, %p1;", |_| true),
        ("xor.pred %p2, %p0, !%p1;", |_| false),
        ("xor.pred %p2, !%p0, !%p1;", |_| true),
        ("not.pred %p2, !%p0;", |odd| !odd),
        ("mov.pred %p2, !%p1;", |odd| !odd),
        ("mov.pred %p2, %p0; @%p1 and.pred %p2, !%p0, !%p2;", |_| true),
        ("setp.eq.and.u32 %p2, %r0, %r0, !%p1;", |odd| !odd),
        ("setp.eq.or.u32 %p2, %r0, 100, !1;", |_| false),
    ] {
        let expected: Vec<u32> = (0..40).map(|t| u32::from(of(t % 2 == 1))).collect();
        assert_eq!(run(&format!("{text}{TO_WORD}")), expected, "{text}");
    }
}

#[test]
fn elements_of_arrays() {
    for (text, of) in [
        ("ld.global.u32 %r2, arr[1];", (|_| 3) as fn(u32) -> u32),
        ("ld.global.u32 %r2, arr[%r0];", |t| 3 * t),
        ("ld.global.u32 %r2, arr[%r0+2];", |t| 3 * (t + 2)),
        ("ld.global.u32 %r2, arr[%h1];", |t| 3 * t),
        ("ld.global.u32 %r2, arr[%d3];", |t| 3 * t),
        ("ld.u32 %r2, arr[%r6];", |_| 12),
        ("ld.const.u32 %r2, carr[%r1];", |t| 20 + t % 2),
        ("ld.global.u64 %d4, words[%r1+1]; cvt.u32.u64 %r2, %d4;", |t| 101 + t % 2),
        ("ld.global.u16 %r2, table[4];", |_| 5),
        (
            "st.local.b32 larr[%r1], %r0; st.local.b32 larr[2], 7; ld.local.b32 %r2, larr[%r1]; ld.local.b32 %r3, larr[2]; add.u32 %r2, %r2, %r3;",
            |t| t + 7,
        ),
        ("st.shared.b32 sarr[%r0+1], %r0; ld.shared.b32 %r2, sarr[%r0+1];", |t| t),
        ("st.shared.b32 sarr[%r0], %r0; ld.b32 %r2, sarr[%r0];", |t| t),
        ("st.shared.b32 [sarr+12], 9; bar.sync 0; ld.b32 %r2, [sarr+12];", |_| 9),
        ("mov.u64 %d4, arr[2]; ld.global.u32 %r2, [%d4+4];", |_| 9),
        ("mov.u64 %d4, arr[%r0]; ld.global.u32 %r2, [%d4];", |t| 3 * t),
        ("mov.u32 %r3, sarr[%r0]; st.shared.b32 [%r3], 5; ld.shared.b32 %r2, sarr[%r0];", |_| 5),
        (
            "mov.u64 %d4, arr; @%p1 mov.u64 %d4, arr[%r0]; ld.global.u32 %r2, [%d4];",
            |t| if t % 2 == 1 { 3 * t } else { 0 },
        ),
        ("mov.u32 %r2, %r0+5;", |t| t + 5),
    ] {
        assert_eq!(run(text), (0..40).map(of).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn vector_registers() {
    for (text, of) in [
        ("mov.v4.b32 {%r1, %r2, %r3, %r4}, {0, 7, 0, 0};", (|_| 7) as fn(u32) -> u32),
        ("mov.v2.b32 {%r5, %r6}, {%r6, %r5}; mad.lo.u32 %r2, %r5, 10, %r6;", |_| 42),
        ("mov.v4.b32 %v, {1, 2, 3, 4}; add.u32 %v.w, %v.y, %r0; mov.b32 %r2, %v.a;", |t| 2 + t),
        (
            "mov.v4.b32 %v, {1, 2, 3, %r0}; mov.v4.b32 %u1, %v; mov.v4.b32 %v, {%u1.w, %u1.x, %v.y, 0}; mov.b32 %r2, %v.r;",
            |t| t,
        ),
        ("ld.global.v4.u32 %v, [arr+16]; mov.b32 %r2, %v.w;", |_| 21),
        ("mov.b64 %w, %d3; mov.b32 %r2, %w.x;", |t| t),
        ("mov.v2.b32 %w, {%r0, 1}; mov.b64 %d4, %w; shr.u64 %d4, %d4, 31; cvt.u32.u64 %r2, %d4;", |_| 2),
        ("mov.v4.u32 %v, %ntid; mad.lo.u32 %r2, %v.x, 100, %v.w;", |_| 4000),
        ("mov.v4.b32 %v, {1, 2, 3, 4}; @%p1 mov.v4.b32 %v, {%v.w, %v.z, %v.y, %v.x}; mov.b32 %r2, %v.x;", |t| {
            [1, 4][t as usize % 2]
        }),
    ] {
        assert_eq!(run(text), (0..40).map(of).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn lop3_with_a_predicate() {
    // 0x3f is (a & b) | c for these operands of which c is 0: whether t and 2 have a bit in common.
    for (op, of) in [("or", (|hit, odd| hit || odd) as fn(bool, bool) -> bool), ("and", |hit, odd| hit && odd)] {
        for (pred, flip) in [("%p1", false), ("!%p1", true)] {
            for dst in ["%r3", "_"] {
                let text = format!("lop3.{op}.b32 {dst}|%p2, %r0, %r5, 0, 0xc0, {pred};{TO_WORD}");
                let expected: Vec<u32> = (0..40).map(|t| u32::from(of(t & 2 != 0, (t % 2 == 1) != flip))).collect();
                assert_eq!(run(&text), expected, "{text}");
            }
        }
    }
    assert_eq!(run("lop3.or.b32 %r2|%p2, %r0, %r5, 0, 0xc0, 1;"), (0..40).map(|t| t & 2).collect::<Vec<_>>());
}

#[test]
fn carry_less_products() {
    let product = |a: u64, b: u64| (0..64).filter(|i| b >> i & 1 != 0).fold(0_u128, |sum, i| sum ^ u128::from(a) << i);
    for (a, b, c) in
        [(7, 7, 3), (u64::MAX, u64::MAX, 0), (0x1234_5678_9abc_def1, 0xfedc_ba98_7654_3211, 5), (1 << 63, 1 << 63, 1)]
    {
        let text = |half: &str, shift: u32| {
            format!(
                "mov.u64 %d5, {a}; xor.b64 %d5, %d5, %d3; clmad.{half}.u64 %d4, %d5, {}, {c}; shr.u64 %d4, %d4, {shift}; cvt.u32.u64 %r2, %d4;",
                b as i64
            )
        };
        for (half, shift) in [("lo", 0), ("lo", 32), ("hi", 0), ("hi", 32)] {
            let of = |t: u64| {
                let full = product(a ^ t, b);
                let word = if half == "hi" { (full >> 64) as u64 } else { full as u64 } ^ c;
                (word >> shift) as u32
            };
            assert_eq!(run(&text(half, shift)), (0..40).map(of).collect::<Vec<_>>(), "{half} {shift} {a:x}");
        }
    }
}
