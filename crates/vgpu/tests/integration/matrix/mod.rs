//! Matrix instructions in every shape and type, on small integers, whose products are exact in
//! every format: `mma` against the fragments as the PTX ISA draws them, `wmma` against memory.

mod accumulation;
mod elements;
mod fragments;
mod mma;
mod sparse;
mod wmma;

use crate::jit_support::*;
use fragments::{fragment_moves, kernel_text, register_list};
use rtcg_vgpu_exec::LaunchConfig;

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
                register_list("d", count),
                fragment_moves(false, "d", "p3", count, false)
            );
            let args =
                [buffer_arg(&input), buffer_arg(&[0_u32; 128]), buffer_arg(&[0_u16; 256]), buffer_arg(&[0_u32; 128])];
            let got = run_all_variants(&kernel_text(&body), "k", 1, [32, 1, 1], &args);
            for (register, lane) in (0..count).flat_map(|r| (0..32).map(move |l| (r, l))) {
                let element = |i: usize| {
                    let (row, col) = (lane / 4, lane % 4 * 2 + i);
                    let (row, col) = if trans { (col, row) } else { (row, col) };
                    (register * 64 + row * 8 + col) as u32
                };
                assert_eq!(to_u32s(&got[3])[register * 32 + lane], element(0) | element(1) << 16);
            }
            // Stored back the same way, in the order of rows.
            let stored: Vec<u16> = got[2].chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
            assert_eq!(stored[..count * 64], input[..count * 64], "x{count}{tr}");
        }
    }
    let body = "add.u64 %p0, %p0, %o0; add.u64 %p3, %p3, %o0; ld.global.u32 %r1, [%p0];
        movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.u32 [%p3], %r2;";
    let zero = buffer_arg(&[0_u32; 32]);
    let got = run_all_variants(
        &kernel_text(body),
        "k",
        1,
        [32, 1, 1],
        &[buffer_arg(&input), zero.clone(), zero.clone(), zero],
    );
    let want: Vec<u32> = (0..32).map(|l| (l % 4 * 2 * 8 + l / 4) | ((l % 4 * 2 + 1) * 8 + l / 4) << 16).collect();
    assert_eq!(to_u32s(&got[3]), want);
}

/// Warps that are not whole, and matrices that are not there.
#[test]
fn partial_warps_and_bad_addresses_fault() {
    let m = parse_module(&kernel_text(
        ".reg .b32 %d<8>; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}, [%p0];
         st.global.u32 [%p3], %d0;",
    ));
    let shape =
        |threads| LaunchConfig { grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared: 0, cooperative: false };
    for (threads, args, word) in [
        (40, [buffer_arg(&[0_u32; 256]), Arg::U64(0), Arg::U64(0), buffer_arg(&[0_u32])], "all 32 lanes"),
        (32, [Arg::U64(0), Arg::U64(0), Arg::U64(0), buffer_arg(&[0_u32])], "illegal memory access"),
    ] {
        for v in launch_variants([threads, 1, 1]) {
            let fault = launch(&m, "k", v, shape(threads), &args).unwrap_err();
            assert!(fault.report.contains(word), "{fault}");
        }
    }
}

/// Lanes that come along different ways meet at the instruction.
#[test]
fn lanes_reconverge_at_a_matrix_product() {
    let body = ".reg .b32 %d<2>; mov.u32 %r1, 0x01010101; and.b32 %r2, %r0, 1; setp.eq.u32 %q0, %r2, 0;
        @%q0 bra EVEN; mov.u32 %r3, 5; bra.uni JOIN; EVEN: mov.u32 %r3, 5; JOIN:
        mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%r1}, {%r1}, {%r3, %r3};
        add.u64 %p3, %p3, %o0; st.global.u32 [%p3], %d1;";
    let zero = buffer_arg(&[0_u32; 32]);
    let got =
        run_all_variants(&kernel_text(body), "k", 1, [32, 1, 1], &[zero.clone(), zero.clone(), zero.clone(), zero]);
    assert_eq!(to_u32s(&got[3]), [21; 32]);
}
