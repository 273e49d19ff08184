//! Lane and warp indices made of thread indices, in blocks of all shapes: remainders and quotients
//! by powers of two, signed and not, their use as addresses, and branches on the number of the warp.

use crate::jit_support::*;

const BLOCK_SHAPES: [[u32; 3]; 15] = [
    [1, 1, 1],
    [17, 1, 1],
    [31, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [48, 1, 1],
    [64, 1, 1],
    [96, 1, 1],
    [8, 4, 1],
    [16, 2, 1],
    [16, 16, 1],
    [48, 2, 1],
    [32, 3, 1],
    [64, 2, 2],
    [4, 8, 2],
];

const GRID_BLOCKS: u32 = 3;

/// `x` is a thread's index in its row, in its block (all rows, without the third dimension), or in the
/// grid of blocks in one row, plus `first`. Results go to the thread's own place.
fn kernel_text(number: &str, body: &str) -> String {
    let number = match number {
        "row" => "mov.u32 %x, %tid.x;",
        "block" => "mad.lo.s32 %x, %ty, %nx, %tx;",
        _ => "mad.lo.s32 %x, %bx, %nx, %tx;",
    };
    format!(
        ".visible .entry k(.param .u64 out, .param .u64 in, .param .s32 first) {{
        .reg .b32 %tx, %ty, %tz, %nx, %ny, %nz, %bx, %x, %y, %z, %own, %r<9>; .reg .b64 %out, %in, %d<5>; .reg .pred %p<3>;
        ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.s32 %r0, [first];
        mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %tz, %tid.z; mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y; mov.u32 %nz, %ntid.z;
        mov.u32 %bx, %ctaid.x; mad.lo.s32 %r1, %tz, %ny, %ty; mad.lo.s32 %r2, %r1, %nx, %tx; mul.lo.s32 %r3, %nx, %ny; mul.lo.s32 %r4, %r3, %nz;
        mad.lo.s32 %own, %bx, %r4, %r2; {number} mad.lo.s32 %y, %r0, 32, %x; {body}
        mul.wide.s32 %d3, %own, 4; add.s64 %d4, %out, %d3; st.global.u32 [%d4], %z; ret; }}"
    )
}

/// The `x` of each thread, in the order of their places.
fn thread_indices(number: &str, [nx, ny, nz]: [u32; 3]) -> Vec<i32> {
    let threads = (0..GRID_BLOCKS * nz * ny * nx).map(|t| (t / (nx * ny * nz), t / nx % ny, t % nx));
    let of = |(block, y, x)| match number {
        "row" => x,
        "block" => y * nx + x,
        _ => block * nx + x,
    };
    threads.map(|t| of(t) as i32).collect()
}

/// Runs a kernel on all shapes and compares with `expected` of a thread's `x + 32 * first`.
fn check_all_shapes(body: &str, expected: &dyn Fn(i32, &[u32]) -> u32) {
    let input: Vec<u32> = (0..1024).map(|i: u32| i.wrapping_mul(2654435761)).collect();
    for block in BLOCK_SHAPES {
        for (number, first) in [("row", 3), ("block", 0), ("block", -1), ("grid", -1)] {
            let numbers = thread_indices(number, block);
            let out = buffer_arg(&vec![0_u32; numbers.len()]);
            let args = [out, buffer_arg(&input), Arg::U32(first as u32)];
            let out = to_u32s(&run_all_variants(&kernel_text(number, body), "k", GRID_BLOCKS, block, &args)[0]);
            let wanted: Vec<u32> = numbers.iter().map(|x| expected(x + 32 * first, &input)).collect();
            assert_eq!(out, wanted, "{block:?} {number} {first}");
        }
    }
}

/// What the code leaves in `%z` is an index of the input.
fn load_code(code: &str) -> String {
    format!("{code} mul.wide.u32 %d0, %z, 4; add.s64 %d1, %in, %d0; ld.global.u32 %z, [%d1];")
}

/// `%y / 2^log` in `%r6`, `%y % 2^log` in `%r8`.
fn signed_div_rem_code(log: u32) -> String {
    let (bias, mask) = (32 - log, -(1 << log));
    format!(
        "shr.s32 %r3, %y, 31; shr.u32 %r4, %r3, {bias}; add.s32 %r5, %y, %r4; shr.s32 %r6, %r5, {log};
        and.b32 %r7, %r5, {mask}; sub.s32 %r8, %y, %r7;"
    )
}

#[test]
fn masks_and_shifts_address_memory() {
    for log in [2_u32, 4, 5] {
        let n = 1_u32 << log;
        let code = format!(
            "and.b32 %r3, %y, {}; shr.u32 %r4, %y, {log}; and.b32 %r5, %r4, 3; mad.lo.u32 %z, %r5, {n}, %r3;",
            n - 1
        );
        check_all_shapes(&load_code(&code), &|y, input| {
            input[(y as u32 >> log & 3) as usize * n as usize + (y as u32 & (n - 1)) as usize]
        });
    }
}

#[test]
fn fields_and_combined_bits_address_memory() {
    let code = "bfe.u32 %r3, %y, 0, 5; bfe.u32 %r4, %y, 5, 2; bfi.b32 %z, %r4, %r3, 6, 2;";
    check_all_shapes(&load_code(code), &|y, input| input[(y as u32 & 31 | (y as u32 >> 5 & 3) << 6) as usize]);
    let code = "and.b32 %r5, %y, 31; or.b32 %r6, %r5, 256; xor.b32 %z, %r6, 31;";
    check_all_shapes(&load_code(code), &|y, input| input[((y as u32 & 31 | 256) ^ 31) as usize]);
}

#[test]
fn quotients_and_remainders_of_negative_numbers_are_right() {
    for log in [3_u32, 5] {
        let n = 1_i32 << log;
        let code = signed_div_rem_code(log)
            + "add.s32 %z, %r6, 200; add.s32 %r8, %r8, 200; mad.lo.s32 %z, %r8, 2, %z; and.b32 %z, %z, 1023;";
        check_all_shapes(&load_code(&code), &|y, input| input[((y / n + 200) + 2 * (y % n + 200)) as usize & 1023]);
    }
}

/// Sums are read where masked code may have made them, from negative numbers.
#[test]
fn quotients_behind_a_branch_are_right() {
    let code = "shr.s32 %r3, %y, 31; shr.u32 %r4, %r3, 27; add.s32 %r5, %y, %r4; setp.lt.s32 %p0, %tx, 7; @%p0 bra $on;
        mul.lo.s32 %y, %y, 3; membar.gl; $on: shr.s32 %z, %r5, 5;";
    check_all_shapes(code, &|y, _| (y / 32) as u32);
}

#[test]
fn warps_diverge() {
    let code = "shr.u32 %r3, %y, 5; and.b32 %r4, %y, 31; mov.u32 %z, 1; setp.eq.u32 %p0, %r3, 0; @%p0 bra $first;
        setp.eq.u32 %p1, %r3, 1; @%p1 bra $second; mad.lo.u32 %z, %r3, 5, %r4; bra $end;
        $first: mul.lo.u32 %z, %r4, 3; membar.gl; bra $end; $second: add.u32 %z, %r4, 1000; membar.gl; $end:";
    check_all_shapes(code, &|y, _| match (y as u32) >> 5 {
        0 => (y as u32 & 31) * 3,
        1 => (y as u32 & 31) + 1000,
        w => w.wrapping_mul(5).wrapping_add(y as u32 & 31),
    });
}

/// A kernel of uniform registers, in which each access sees those before it: all code for a block of one thread does.
#[test]
fn a_block_of_one_thread_sees_its_own_stores() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {
        .shared .align 4 .b8 own[64]; .reg .pred %p, %q; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %d<5>;
        ld.param.u64 %d0, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
        mad.lo.s32 %r3, %r1, 3, %r2; mul.wide.u32 %d1, %r3, 4; add.s64 %d2, %d0, %d1;
        mov.f32 %f0, 0f3F800000; mov.u32 %r4, 0; st.shared.u32 [own], %r1;
        $loop: ld.global.u32 %r5, [%d2]; add.u32 %r5, %r5, 1; st.global.u32 [%d2], %r5;
        ld.shared.u32 %r6, [own]; add.u32 %r6, %r6, %r5; st.shared.u32 [own], %r6;
        fma.rn.f32 %f0, %f0, 0f3F000000, %f0; and.b32 %r7, %r4, 1; setp.eq.u32 %q, %r7, %r2; @%q st.global.f32 [%d2+4], %f0;
        add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %r0; @%p bra $loop;
        setp.eq.u32 %q, %r2, 0; @%q bra $first; mov.u32 %r6, 77; $first: st.global.u32 [%d2+8], %r6; ret; }";
    let out = run_all_variants(ptx, "k", 3, [1, 1, 1], &[Arg::Buffer(vec![0; 36]), Arg::U32(6)]);
    let expected: Vec<u32> = (0..3).flat_map(|block| [6, 1.5_f32.powi(5).to_bits(), block + 21]).collect();
    assert_eq!(to_u32s(&out[0]), expected);
}

/// What nobody wrote is 0 in every version, also where another kernel has used the stack before.
#[test]
fn registers_that_nobody_wrote_are_zero() {
    let values: String = (0..40).map(|i| format!("add.u64 %d{i}, %a, {i}; not.b64 %d{i}, %d{i};")).collect();
    let uses: String = (0..40).map(|i| format!("xor.b64 %d{i}, %d{i}, %a; add.u64 %a, %a, %d{i};")).collect();
    let dirty = format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %t; .reg .pred %p; .reg .b64 %o, %a, %d<40>; ld.param.u64 %o, [out];
         mov.u32 %t, %tid.x; cvt.u64.u32 %a, %t; {values} and.b32 %t, %t, 1; setp.eq.u32 %p, %t, 0; @%p bra $on; add.u64 %a, %a, 5; bra $on2;
         $on: add.u64 %a, %a, 9; $on2: {uses} st.global.u64 [%o], %a; ret; }}"
    );
    let branches: String = (0..60).map(|i| format!("@%p{i} bra $L{i}; add.u32 %r2, %r2, {i}; $L{i}:\n")).collect();
    let text = format!(
        ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<60>, %q<9>;
         ld.param.u64 %d1, [out]; mov.u32 %r2, %tid.x; and.b32 %r3, %r2, 3; setp.eq.u32 %q1, %r3, 1; mul.wide.u32 %d2, %r2, 8; add.u64 %d1, %d1, %d2;
         @%q1 bra $odd; mov.u64 %d3, 77; bra $on; $odd: mov.u32 %r5, 3; setp.ne.u32 %q2, %r5, 3; $on:
         {branches} @%q2 add.u32 %r2, %r2, 5000; @!%q3 add.u32 %r2, %r2, 100; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6;
         cvt.u32.u64 %r7, %d3; st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r7; ret; }}"
    );
    for threads in [1_u32, 31, 32, 40] {
        let out = buffer_arg(&vec![0_u64; threads as usize]);
        run_all_variants(&dirty, "k", 1, [threads, 1, 1], std::slice::from_ref(&buffer_arg(&[0_u64])));
        let got = to_u32s(&run_all_variants(&text, "k", 1, [threads, 1, 1], &[out])[0]);
        let wanted = (0..threads).flat_map(|t| {
            let odd = t % 4 == 1;
            [t + (0..60).sum::<u32>() + 100 + if odd { 3 } else { 0 }, if odd { 0 } else { 77 }]
        });
        assert_eq!(got, wanted.collect::<Vec<u32>>(), "{threads} threads");
    }
}
