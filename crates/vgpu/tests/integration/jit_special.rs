//! Every special register, in blocks of one to three dimensions.

use crate::jit_support::*;

/// Registers of 32 bits whose value a thread can tell, and that value for block `ctaid` of `grid`.
fn expected_register(name: &str, tid: [u32; 3], block: [u32; 3], ctaid: u32, grid: u32) -> u32 {
    let number = tid[0] + block[0] * (tid[1] + block[1] * tid[2]);
    let (lane, eq) = (number % 32, 1_u32 << (number % 32));
    let axis = |v: [u32; 3]| v["xyz".find(&name[name.len() - 1..]).unwrap_or(0)];
    match name {
        "%laneid" => lane,
        "%warpid" => number / 32,
        "%nwarpid" => 64,
        "%lanemask_eq" => eq,
        "%lanemask_lt" => eq - 1,
        "%lanemask_le" => eq | (eq - 1),
        "%lanemask_ge" => !(eq - 1),
        "%lanemask_gt" => !(eq - 1) & !eq,
        "%dynamic_smem_size" => 4096,
        "%total_smem_size" => 4096 + 128,
        "%aggr_smem_size" => 4096 + 64 + 1024,
        "%envreg3" | "%pm0" | "%is_explicit_cluster" | "%cluster_ctarank" => 0,
        "%cluster_nctarank" => 1,
        name if name.starts_with("%tid") => axis(tid),
        name if name.starts_with("%ntid") => axis(block),
        name if name.starts_with("%ctaid") || name.starts_with("%clusterid") => axis([ctaid, 0, 0]),
        name if name.starts_with("%nctaid") || name.starts_with("%nclusterid") => axis([grid, 1, 1]),
        name if name.starts_with("%cluster_ctaid") => 0,
        name if name.starts_with("%cluster_nctaid") => 1,
        other => panic!("{other}"),
    }
}

const SCALAR_REGISTERS: [&str; 18] = [
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%lanemask_eq",
    "%lanemask_lt",
    "%lanemask_le",
    "%lanemask_ge",
    "%lanemask_gt",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%envreg3",
    "%pm0",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%tid.x",
    "%tid.y",
    "%tid.z",
];
const VECTOR_REGISTERS: [&str; 7] =
    ["%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

#[test]
fn special_registers_have_the_expected_values() {
    let mut names: Vec<String> = SCALAR_REGISTERS.iter().map(|&n| n.into()).collect();
    names.extend(VECTOR_REGISTERS.iter().flat_map(|v| ["x", "y", "z"].map(|d| format!("{v}.{d}"))));
    for (block, grid) in [([64, 1, 1], 2), ([8, 4, 3], 3), ([5, 3, 2], 1), ([16, 2, 1], 2)] {
        let threads: u32 = block.iter().product();
        let stores: String = (names.iter().enumerate())
            .map(|(i, n)| format!("mov.u32 %r9, {n}; st.global.u32 [%rd2+{}], %r9;\n", 4 * i))
            .collect();
        let ptx = format!(
            ".version 8.3\n.target sm_90\n.address_size 64
            .visible .entry k(.param .u64 out) {{
                .reg .b32 %r<10>; .reg .b64 %rd<5>; .shared .align 16 .b8 tile[64];
                ld.param.u64 %rd1, [out];
                mov.u32 %r1, %tid.z; mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
                mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
                mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, {threads}, %r1; mul.wide.u32 %rd2, %r1, {};
                add.s64 %rd2, %rd1, %rd2; st.shared.u32 [tile], %r1;
                {stores} ret; }}",
            4 * names.len()
        );
        let out = vec![0_u32; (threads * grid) as usize * names.len()];
        let got = to_u32s(&run_all_variants(&ptx, "k", grid, block, &[buffer_arg(&out)])[0]);
        for (i, value) in got.iter().enumerate() {
            let (thread, name) = ((i / names.len()) as u32, &names[i % names.len()]);
            let t = thread % threads;
            let tid = [t % block[0], t / block[0] % block[1], t / block[0] / block[1]];
            assert_eq!(
                *value,
                expected_register(name, tid, block, thread / threads, grid),
                "{name} of {tid:?} in {block:?}"
            );
        }
    }
}

/// Clocks go on and their halves agree, multiprocessors are numbered, and a grid has one number.
#[test]
fn clocks_and_numbers() {
    let ptx = ".visible .entry k(.param .u64 out, .param .u64 numbers) {
        .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<12>;
        ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [numbers];
        mov.u64 %rd3, %clock64; mov.u32 %r1, %clock; mov.u64 %rd4, %clock64; setp.le.u64 %p1, %rd3, %rd4;
        cvt.u32.u64 %r2, %rd3; cvt.u32.u64 %r3, %rd4; sub.u32 %r4, %r1, %r2; sub.u32 %r5, %r3, %r2; setp.le.and.u32 %p1, %r4, %r5, %p1;
        shr.u64 %rd5, %rd3, 32; cvt.u32.u64 %r2, %rd5; mov.u32 %r3, %clock_hi; sub.u32 %r3, %r3, %r2; setp.le.and.u32 %p1, %r3, 1, %p1;
        mov.u64 %rd3, %globaltimer; mov.u32 %r1, %globaltimer_lo; mov.u64 %rd4, %globaltimer; setp.le.and.u64 %p1, %rd3, %rd4, %p1;
        cvt.u32.u64 %r2, %rd3; cvt.u32.u64 %r3, %rd4; sub.u32 %r4, %r1, %r2; sub.u32 %r5, %r3, %r2; setp.le.and.u32 %p1, %r4, %r5, %p1;
        shr.u64 %rd5, %rd3, 32; cvt.u32.u64 %r2, %rd5; mov.u32 %r3, %globaltimer_hi; sub.u32 %r3, %r3, %r2; setp.le.and.u32 %p1, %r3, 1, %p1;
        mov.u32 %r6, %smid; mov.u32 %r7, %nsmid; setp.lt.and.u32 %p1, %r6, %r7, %p1;
        mov.u64 %rd6, %gridid; atom.global.exch.b64 %rd7, [%rd2], %rd6;
        setp.eq.u64 %p2, %rd7, 0; setp.eq.or.u64 %p2, %rd7, %rd6, %p2; and.pred %p1, %p1, %p2;
        selp.u32 %r8, 1, 0, %p1; red.global.add.u32 [%rd1], %r8; ret; }";
    let m = parse_module(ptx);
    for v in launch_variants([64, 1, 1]) {
        let shape =
            rtcg_vgpu_exec::LaunchConfig { grid: [5, 1, 1], block: [64, 1, 1], dynamic_shared: 0, cooperative: false };
        let got =
            launch(&m, "k", v, shape, &[buffer_arg(&[0_u32]), buffer_arg(&[0_u64])]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(to_u32s(&got[0]), [5 * 64], "{v:?}");
        assert_ne!(got[1], [0; 8], "{v:?}");
    }
}
